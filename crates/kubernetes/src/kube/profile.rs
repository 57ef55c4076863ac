//! How a profile of the scheduler scores nodes.

/// A point of the line of `RequestedToCapacityRatio`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Utilisation in %.
    pub utilization: i64,
    /// The score there, 0 to 10.
    pub score: i64,
}

/// Which nodes `NodeResourcesFit` likes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Those with the most left.
    LeastAllocated,
    /// Those with the least left.
    MostAllocated,
    /// By a broken line over the utilisation; the points are in order of utilisation.
    RequestedToCapacityRatio(Vec<Point>),
}

/// The score of `NodeResourcesFit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Which nodes it likes.
    pub strategy: Strategy,
    /// The resources that count, with their weights.
    pub resources: Vec<(String, i64)>,
}

/// The weight of each plugin's score, 0 if it is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// `NodeResourcesFit`.
    pub fit: i64,
    /// `NodeResourcesBalancedAllocation`.
    pub balanced: i64,
    /// `TaintToleration`.
    pub taints: i64,
    /// `NodeAffinity`.
    pub affinity: i64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { fit: 1, balanced: 1, taints: 3, affinity: 2 }
    }
}

/// A profile of kube-scheduler as far as it decides about places. The default is that of 1.34.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The score of `NodeResourcesFit`.
    pub fit: Fit,
    /// The resources that `NodeResourcesBalancedAllocation` compares.
    pub balanced: Vec<String>,
    /// The weights of the scores.
    pub weights: Weights,
    /// `percentageOfNodesToScore`; 0 stands for the rule that depends on the number of nodes.
    pub percentage: u32,
    /// How long a pod backs off after its first failure, in ms.
    pub first_back_off: i64,
    /// How long a pod backs off at most, in ms.
    pub longest_back_off: i64,
    /// True if pods preempt others.
    pub preemption: bool,
    /// True if a pod looks for victims again at each attempt, while earlier ones are in their grace period on the node that is
    /// promised to it. The recorded decisions of 1.34.1 do; its documentation says that it waits.
    pub preempts_again: bool,
}

impl Default for Profile {
    fn default() -> Self {
        let resources = ["cpu", "memory"];
        Self {
            fit: Fit {
                strategy: Strategy::LeastAllocated,
                resources: resources.iter().map(|&name| (name.to_owned(), 1)).collect(),
            },
            balanced: resources.iter().map(|&name| name.to_owned()).collect(),
            weights: Weights::default(),
            percentage: 0,
            first_back_off: 1000,
            longest_back_off: 10_000,
            preemption: true,
            preempts_again: true,
        }
    }
}
