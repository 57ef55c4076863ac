//! The queues of YARN's Capacity Scheduler and their settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::queues::file::{DEFAULT_QUEUE, QueueSettings};
use crate::queues::tree::{Queue, QueueTree};

/// The settings of a queue of YARN's Capacity Scheduler. The policy's parameters replace the keys that you leave out.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct YarnQueue {
    /// Share of its parent that it is guaranteed, percent. If you leave it out: an equal part of what its siblings
    /// leave.
    pub capacity: Option<f64>,
    /// Its weight among its siblings, in place of `capacity`: it is guaranteed its part of what siblings with a `capacity` leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Memory that it is guaranteed, MB, in place of `capacity`: its share of the cluster's. If queues are guaranteed more than their
    /// parent has, each gets less in proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// Virtual cores that it is guaranteed beside `memory_mb`; they count if the calculator is `dominant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcores: Option<u64>,
    /// Other resources that it is guaranteed beside `memory_mb`, by name; they count if the calculator is `dominant`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
    /// Share of its parent that it may use at most, percent. If you leave it out: all.
    pub maximum_capacity: Option<f64>,
    /// Memory that it may use at most, MB, in place of `maximum_capacity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_memory_mb: Option<u64>,
    /// Virtual cores that it may use at most beside `maximum_memory_mb`; they count if the calculator is `dominant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_vcores: Option<u64>,
    /// Other resources that it may use at most beside `maximum_memory_mb`, by name; they count if the calculator is `dominant`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub maximum_resources: BTreeMap<String, u64>,
    /// Share of the queue that each of its users gets at least while others compete, percent.
    pub minimum_user_limit: Option<u32>,
    /// How many times the queue's guarantee one user may use.
    pub user_limit_factor: Option<f64>,
    /// Share of the queue's limit that application masters may take, which limits how many applications are active.
    pub maximum_am_share: Option<f64>,
    /// Which of its queues, or of its applications, is served first, by the rules of 3.4. If you leave it out: the one that uses the
    /// smallest part of its guarantee; the one that was submitted first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Its priority among its siblings, if their parent's order is `priority-utilization`. If you leave it out: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Whether applications that ask for more get more, if its order is `fair`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_based_weight: Option<bool>,
    /// How many of its applications may run at the same time; the others wait without asking for anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_parallel_applications: Option<u32>,
    /// How much more than others these users may have, here and in the queues below that say nothing else, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub user_weights: BTreeMap<String, f64>,
    /// Of the root: how many applications of each user may run at the same time, in all queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_applications_of_user: Option<u32>,
    /// The same for single users, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parallel_applications_of: BTreeMap<String, u32>,
    /// Of the root: whether guarantees are vectors, of which amounts, percentages and weights may be siblings (Hadoop's
    /// `legacy-queue-mode.enabled` is `false`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<bool>,
    /// Share of its parent's virtual cores that it is guaranteed, percent, if that is another share than that of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcores_capacity: Option<f64>,
    /// Its weight among its siblings for virtual cores, if that is another weight than that for the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcores_weight: Option<f64>,
    /// The node labels whose nodes it may ask for; `*` stands for all. If you leave it out: those of its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accessible_labels: Option<Vec<String>>,
    /// The node label that its applications ask for. If you leave it out: they ask for nodes without a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_label: Option<String>,
    /// Its shares of the nodes of each label.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, LabelShare>,
    /// Whether nothing is taken from it for other queues. If you leave it out: as its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_preemption: Option<bool>,
    /// Whether nothing is taken from its applications for others of it. If you leave it out: as its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_preemption_inside: Option<bool>,
}

/// The shares of a queue of the nodes of a label.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelShare {
    /// Share of its parent that it is guaranteed, percent. If you leave it out: none, but for the root all.
    pub capacity: Option<f64>,
    /// Share of its parent that it may use at most, percent. If you leave it out: all.
    pub maximum_capacity: Option<f64>,
}

/// Which of several queues or applications is served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Of queues: the one that uses the smallest part of its guarantee.
    Utilization,
    /// Of queues: one below its guarantee, and of those the one of the highest priority.
    PriorityUtilization,
    /// Of applications: the one of the highest priority, and of those the one that was submitted first.
    Fifo,
    /// Of applications: the one that uses the least memory.
    Fair,
}

impl YarnQueue {
    /// What is wrong with it by itself, if anything.
    fn check_values(&self) -> Result<(), String> {
        let inside = |name: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(0.0..=most).contains(&value) => {
                Err(format!("{name}: expected a number from 0 to {most}, found {value}"))
            }
            _ => Ok(()),
        };
        inside("capacity", self.capacity, 100.0)?;
        inside("maximum_capacity", self.maximum_capacity, 100.0)?;
        inside("weight", self.weight, 1e9)?;
        inside("vcores_capacity", self.vcores_capacity, 100.0)?;
        inside("vcores_weight", self.vcores_weight, 1e9)?;
        inside("user_limit_factor", self.user_limit_factor.filter(|&factor| factor != -1.0), 1e6)?;
        for (label, share) in &self.labels {
            inside(&format!("labels.{label}.capacity"), share.capacity, 100.0)?;
            inside(&format!("labels.{label}.maximum_capacity"), share.maximum_capacity, 100.0)?;
        }
        for (user, &weight) in &self.user_weights {
            inside(&format!("user_weights.{user}"), Some(weight), 1e6)?;
        }
        let ways = [self.capacity.is_some(), self.weight.is_some(), self.is_absolute()];
        if ways.into_iter().filter(|is_set| *is_set).count() > 1 {
            return Err("expected one of `capacity`, `weight` and `memory_mb` with `vcores`, found more".to_owned());
        }
        if self.maximum_capacity.is_some() && self.has_absolute_limit() {
            return Err("expected one of `maximum_capacity` and `maximum_memory_mb` with `maximum_vcores`, found more"
                .to_owned());
        }
        inside("maximum_am_share", self.maximum_am_share, 1.0)?;
        match self.minimum_user_limit {
            Some(percent) if !(1..=100).contains(&percent) => {
                Err(format!("minimum_user_limit: expected a percentage from 1 to 100, found {percent}"))
            }
            _ => Ok(()),
        }
    }
}

impl YarnQueue {
    /// True if its guarantee is an amount, whose share depends on the cluster.
    pub(crate) fn is_absolute(&self) -> bool {
        self.memory_mb.is_some() || self.vcores.is_some()
    }

    pub(crate) fn has_absolute_limit(&self) -> bool {
        self.maximum_memory_mb.is_some() || self.maximum_vcores.is_some()
    }
}

impl QueueTree<YarnQueue> {
    /// True if the shares of its queues depend on the size of the cluster.
    pub(crate) fn depends_on_cluster(&self) -> bool {
        self.queues().iter().any(|queue| queue.settings.is_absolute() || queue.settings.has_absolute_limit())
    }

    /// The queue below which percentages of virtual cores do not add up to 100, so that those of memory count for both.
    pub(crate) fn without_shares_of_vcores(&self) -> Option<&str> {
        if self.get(Self::ROOT).settings.vectors == Some(true) {
            return None;
        }
        let has_own = |&child: &usize| self.get(child).settings.vcores_capacity.is_some();
        let is_odd = |queue: &&Queue<YarnQueue>| {
            let guarantees: Vec<Guarantee> = queue.children.iter().map(|&child| guarantee(self, child, None)).collect();
            queue.children.iter().any(has_own) && of_vcores(self, &queue.children, &guarantees).is_none()
        };
        self.queues().iter().find(is_odd).map(|queue| queue.path.as_str())
    }

    /// The queue that takes the jobs that name it; `None` if there is none of this name, or it has queues below it.
    pub(crate) fn leaf_named(&self, name: &str) -> Option<usize> {
        self.find(name).filter(|&place| self.is_leaf(place))
    }

    /// The queue of the jobs that name none of the queues: the leaf `default`, or the first leaf.
    pub(crate) fn fallback(&self) -> usize {
        self.leaf_named(DEFAULT_QUEUE).or_else(|| self.leaves().next()).unwrap_or_default()
    }
}

impl QueueSettings for YarnQueue {
    const HAS_ROOT: bool = true;

    fn check(tree: &QueueTree<Self>) -> Result<(), String> {
        shares(tree, None).map(drop)
    }
}

/// The shares of a queue, in single precision as in Hadoop: the schedule depends on it where two queues are equally full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shares {
    /// The share of the cluster that it is guaranteed.
    pub(crate) capacity: f32,
    /// The share of the cluster's virtual cores that it is guaranteed.
    pub(crate) vcores: f32,
    /// The share of the cluster that it may use at most.
    pub(crate) limit: f32,
    /// The share of its parent that it may use at most.
    pub(crate) limit_of_parent: f32,
}

/// What a cluster has, for guarantees that are amounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    /// Memory, MB.
    pub(crate) memory_mb: u64,
    /// Virtual cores, if they count.
    pub(crate) vcores: Option<u64>,
}

impl Total {
    /// The share of it that amounts are, by the larger share of those that count; `None`: nothing that counts is given.
    fn share(self, memory_mb: Option<u64>, vcores: Option<u64>) -> Option<f64> {
        let part = |value: u64, all: u64| value as f64 / all.max(1) as f64;
        let memory = memory_mb.map(|value| part(value, self.memory_mb));
        let cores = vcores.zip(self.vcores).map(|(vcore, all)| part(vcore, all));
        memory.into_iter().chain(cores).reduce(f64::max)
    }
}

/// What a queue is guaranteed among its siblings.
#[derive(Debug, Clone, Copy)]
enum Guarantee {
    /// Percent of its parent.
    Percent(f64),
    /// A part of what the others leave.
    Weight(f64),
    /// A share of the cluster.
    OfCluster(f64),
    /// An equal part of what the others leave.
    Unset,
}

/// The shares of all queues, by place. Without the size of the cluster, amounts count by their proportions.
///
/// # Errors
/// A sentence that says what is wrong with the queues.
pub(crate) fn shares(tree: &QueueTree<YarnQueue>, total: Option<Total>) -> Result<Vec<Shares>, String> {
    if tree.queues().len() < 2 {
        return Err("expected at least one queue".to_owned());
    }
    let mut shares = vec![Shares { capacity: 1.0, vcores: 1.0, limit: 1.0, limit_of_parent: 1.0 }; tree.queues().len()];
    for (place, parent) in tree.queues().iter().enumerate().filter(|(_, queue)| !queue.children.is_empty()) {
        let above = shares[place];
        for queue in parent.children.iter().map(|&child| tree.get(child)) {
            queue.settings.check_values().map_err(|problem| format!("queue `{}`: {problem}", queue.path))?;
        }
        let guarantees: Vec<Guarantee> = parent.children.iter().map(|&child| guarantee(tree, child, total)).collect();
        let is_strict =
            guarantees.iter().all(|guarantee| matches!(guarantee, Guarantee::Percent(_) | Guarantee::Unset));
        let capacities = in_percent(&guarantees, above.capacity).map_err(|set| {
            let problem = format!("the capacities of the queues below `{}` add up to {set} %", parent.path);
            format!("{problem}; expected 100 %, or less with a queue that takes the rest")
        })?;
        let of_vcores = of_vcores(tree, &parent.children, &guarantees);
        for (at, (&child, capacity)) in parent.children.iter().zip(capacities).enumerate() {
            let queue = tree.get(child);
            let named = |problem: String| format!("queue `{}`: {problem}", queue.path);
            let limit = match (queue.settings.maximum_capacity, total) {
                (Some(limit), _) => limit,
                (None, Some(total)) => {
                    let most = total.share(queue.settings.maximum_memory_mb, queue.settings.maximum_vcores);
                    most.map_or(100.0, |most| (100.0 * most / f64::from(above.limit).max(1e-9)).min(100.0))
                }
                (None, None) => 100.0,
            };
            if limit < capacity && is_strict && !queue.settings.has_absolute_limit() {
                return Err(named(format!("its maximum_capacity of {limit} % is below its capacity of {capacity} %")));
            }
            // A share that follows from a weight or an amount may be more than the limit says; the limit then follows.
            let limit_of_parent = limit.max(capacity) as f32 / 100.0;
            let share = of_weights(&guarantees, at).unwrap_or(capacity as f32 / 100.0);
            shares[child] = Shares {
                capacity: above.capacity * share,
                vcores: above.vcores * of_vcores.as_ref().map_or(share, |all| all[at]),
                limit: above.limit * limit_of_parent,
                limit_of_parent,
            };
        }
    }
    Ok(shares)
}

/// The share of its parent that a queue has among siblings that all have weights, in single precision as in Hadoop.
fn of_weights(all: &[Guarantee], at: usize) -> Option<f32> {
    let weights: Option<Vec<f32>> = all
        .iter()
        .map(|guarantee| if let Guarantee::Weight(weight) = guarantee { Some(*weight as f32) } else { None })
        .collect();
    let weights = weights?;
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    Some(if sum > 0.0 { weights[at] / sum } else { 0.0 })
}

/// The shares of the parent's virtual cores, if any of the siblings has another one than of the memory.
fn of_vcores(tree: &QueueTree<YarnQueue>, children: &[usize], of_memory: &[Guarantee]) -> Option<Vec<f32>> {
    let of_child = |(&child, &of_memory): (&usize, &Guarantee)| {
        let settings = &tree.get(child).settings;
        match (settings.vcores_capacity, settings.vcores_weight) {
            (Some(percent), _) => Guarantee::Percent(percent),
            (None, Some(weight)) => Guarantee::Weight(weight),
            (None, None) => of_memory,
        }
    };
    let is_other = |&child: &usize| {
        tree.get(child).settings.vcores_capacity.is_some() || tree.get(child).settings.vcores_weight.is_some()
    };
    let all: Vec<Guarantee> = children.iter().zip(of_memory).map(of_child).collect();
    let percent = children.iter().any(is_other).then(|| in_percent(&all, 1.0).ok())??;
    Some(percent.into_iter().map(|percent| percent as f32 / 100.0).collect())
}

/// What a queue is guaranteed. Amounts without a cluster are weights.
fn guarantee(tree: &QueueTree<YarnQueue>, place: usize, total: Option<Total>) -> Guarantee {
    let &YarnQueue { capacity, weight, memory_mb, vcores, .. } = &tree.get(place).settings;
    match (capacity, weight) {
        (Some(percent), _) => Guarantee::Percent(percent),
        (None, Some(weight)) => Guarantee::Weight(weight),
        (None, None) => match total {
            Some(total) => total.share(memory_mb, vcores).map_or(Guarantee::Unset, Guarantee::OfCluster),
            None => memory_mb.or(vcores).map_or(Guarantee::Unset, |amount| Guarantee::Weight(amount as f64)),
        },
    }
}

/// The guarantees of siblings in percent of their parent, which has this share of the cluster: amounts first, then percentages of what
/// they leave, then weights, and the rest in equal parts.
///
/// # Errors
/// The sum of the percentages, if they do not add up to 100.
fn in_percent(all: &[Guarantee], parent: f32) -> Result<Vec<f64>, f64> {
    let sum = |of: fn(&Guarantee) -> Option<f64>| -> f64 { all.iter().filter_map(of).sum() };
    let percent = sum(|guarantee| if let Guarantee::Percent(percent) = guarantee { Some(*percent) } else { None });
    let weights = sum(|guarantee| if let Guarantee::Weight(weight) = guarantee { Some(*weight) } else { None });
    let amounts = sum(|guarantee| if let Guarantee::OfCluster(share) = guarantee { Some(*share) } else { None });
    let unset = all.iter().filter(|guarantee| matches!(guarantee, Guarantee::Unset)).count();
    let takes_rest = unset > 0 || weights > 0.0 || amounts > 0.0;
    if percent > 100.001 || percent < 99.999 && !takes_rest && !all.is_empty() {
        return Err(percent);
    }
    // Amounts beyond what the parent has are cut in proportion.
    let of_parent = 100.0 / f64::from(parent).max(1e-9);
    let cut = (100.0 / (amounts * of_parent).max(100.0)).min(1.0);
    let left = (100.0 - amounts * of_parent * cut).max(0.0);
    let of_percents = if amounts > 0.0 { left / 100.0 } else { 1.0 };
    let rest = (left - percent * of_percents).max(0.0);
    let capacity = |guarantee: &Guarantee| match guarantee {
        Guarantee::Percent(percent) => percent * of_percents,
        Guarantee::OfCluster(share) => share * of_parent * cut,
        Guarantee::Weight(weight) => rest * weight / weights.max(1e-9),
        Guarantee::Unset if weights > 0.0 => 0.0,
        Guarantee::Unset => rest / unset as f64,
    };
    Ok(all.iter().map(capacity).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queues::file::parse;

    #[test]
    fn shares_are_those_of_the_parent_multiplied() {
        let text = "[queues.a]\ncapacity = 40\nmaximum_capacity = 50\n[queues.b]\n[queues.\"a.x\"]\ncapacity = 25\n[queues.\"a.y\"]\nmaximum_capacity = 80\n";
        let tree = parse::<YarnQueue>(text).unwrap();
        let shares = shares(&tree, None).unwrap();
        let of = |name: &str| {
            let Shares { capacity, limit, .. } = shares[tree.find(name).unwrap()];
            (capacity, limit)
        };
        assert_eq!([of("a"), of("b")], [(0.4, 0.5), (0.6, 1.0)]);
        assert_eq!([of("a.x"), of("a.y")], [(0.1, 0.5), (0.3, 0.4)]);
    }

    /// The shares of queues `a` and `b`.
    fn of_two(text: &str, total: Option<Total>) -> [(f32, f32); 2] {
        let tree = parse::<YarnQueue>(text).unwrap();
        let shares = shares(&tree, total).unwrap();
        ["a", "b"].map(|name| {
            let Shares { capacity, limit, .. } = shares[tree.find(name).unwrap()];
            (capacity, limit)
        })
    }

    #[test]
    fn weights_are_parts_of_their_sum() {
        let percent = of_two("[queues.a]\ncapacity = 10\n[queues.b]\ncapacity = 90\n", None);
        assert_eq!(of_two("[queues.a]\nweight = 1\n[queues.b]\nweight = 9\n", None), percent);
        assert_eq!(of_two("[queues.a]\ncapacity = 10\n[queues.b]\nweight = 3\n", None), percent);
    }

    #[test]
    fn amounts_are_shares_of_the_cluster() {
        let text = "[queues.a]\nmemory_mb = 10240\nvcores = 12\nmaximum_memory_mb = 20480\n[queues.b]\nmemory_mb = 30720\nvcores = 8\n";
        let total = |memory_mb, vcores| Some(Total { memory_mb, vcores });
        assert_eq!(of_two(text, None), [(0.25, 1.0), (0.75, 1.0)]);
        assert_eq!(of_two(text, total(40_960, None)), [(0.25, 0.5), (0.75, 1.0)]);
        assert_eq!(
            of_two(text, total(81_920, None)),
            [(0.125, 0.25), (0.375, 1.0)],
            "a larger cluster has room beyond them"
        );
        assert_eq!(of_two(text, total(20_480, None))[0].0, 0.25, "a smaller one cuts them");
        assert_eq!(of_two(text, total(102_400, Some(48)))[0].0, 0.25, "the larger share counts");
    }

    #[test]
    fn a_guarantee_is_given_in_one_way() {
        let error = |text: &str| parse::<YarnQueue>(text).unwrap_err();
        assert!(error("[queues.a]\ncapacity = 100\nweight = 1\n").contains("expected one of `capacity`, `weight`"));
        assert!(error("[queues.a]\nweight = -1\n").contains("weight: expected a number from 0"));
    }

    #[test]
    fn a_file_of_queues_is_checked() {
        let error = |text: &str| parse::<YarnQueue>(text).unwrap_err();
        assert!(error("[queues.a]\ncapacity = 60\n[queues.b]\ncapacity = 50\n").contains("add up to 110 %"));
        assert!(error("[queues.a]\ncapacity = 60\n").contains("add up to 60 %"));
        assert!(error("[queues.a]\ncapacity = nan\n").contains("from 0 to 100"));
        assert!(error("[queues.a]\ncapacity = 100\nmaximum_capacity = 50\n").contains("below its capacity of 100 %"));
        assert!(error("[queues.a]\nminimum_user_limit = 0\n").contains("from 1 to 100"));
        assert!(error("[queues.a]\nmaximum_am_share = 2\n").contains("from 0 to 1"));
        assert!(error("[queues]\n").contains("at least one queue"));
    }
}
