//! The queues of YARN's Capacity Scheduler and their settings.

use serde::{Deserialize, Serialize};

use crate::queues::file::{DEFAULT_QUEUE, QueueSettings};
use crate::queues::tree::QueueTree;

/// The settings of a queue of YARN's Capacity Scheduler. The policy's parameters replace the keys that you leave out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct YarnQueue {
    /// Share of its parent that it is guaranteed, percent. If you leave it out: an equal part of what its siblings
    /// leave.
    pub capacity: Option<f64>,
    /// Share of its parent that it may use at most, percent. If you leave it out: all.
    pub maximum_capacity: Option<f64>,
    /// Share of the queue that each of its users gets at least while others compete, percent.
    pub minimum_user_limit: Option<u32>,
    /// How many times the queue's guarantee one user may use.
    pub user_limit_factor: Option<f64>,
    /// Share of the queue's limit that application masters may take, which limits how many applications are active.
    pub maximum_am_share: Option<f64>,
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
        inside("user_limit_factor", self.user_limit_factor, 1e6)?;
        inside("maximum_am_share", self.maximum_am_share, 1.0)?;
        match self.minimum_user_limit {
            Some(percent) if !(1..=100).contains(&percent) => {
                Err(format!("minimum_user_limit: expected a percentage from 1 to 100, found {percent}"))
            }
            _ => Ok(()),
        }
    }
}

impl QueueTree<YarnQueue> {
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
    fn check(tree: &QueueTree<Self>) -> Result<(), String> {
        shares(tree).map(drop)
    }
}

/// The shares of a queue, in single precision as in Hadoop: the schedule depends on it where two queues are equally full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shares {
    /// The share of the cluster that it is guaranteed.
    pub(crate) capacity: f32,
    /// The share of the cluster that it may use at most.
    pub(crate) limit: f32,
    /// The share of its parent that it may use at most.
    pub(crate) limit_of_parent: f32,
}

/// The shares of all queues, by place.
///
/// # Errors
/// A sentence that says what is wrong with the queues.
pub(crate) fn shares(tree: &QueueTree<YarnQueue>) -> Result<Vec<Shares>, String> {
    if tree.queues().len() < 2 {
        return Err("expected at least one queue".to_owned());
    }
    let mut shares = vec![Shares { capacity: 1.0, limit: 1.0, limit_of_parent: 1.0 }; tree.queues().len()];
    for (place, parent) in tree.queues().iter().enumerate().filter(|(_, queue)| !queue.children.is_empty()) {
        let capacities = || parent.children.iter().map(|&child| tree.get(child).settings.capacity);
        let set: f64 = capacities().flatten().sum();
        let unset = capacities().filter(Option::is_none).count();
        if set > 100.001 || unset == 0 && set < 99.999 {
            let problem = format!("the capacities of the queues below `{}` add up to {set} %", parent.path);
            return Err(format!("{problem}; expected 100 %, or less with a queue that takes the rest"));
        }
        for &child in &parent.children {
            let queue = tree.get(child);
            let named = |problem: String| format!("queue `{}`: {problem}", queue.path);
            queue.settings.check_values().map_err(named)?;
            let capacity = queue.settings.capacity.unwrap_or_else(|| (100.0 - set).max(0.0) / unset as f64);
            let limit = queue.settings.maximum_capacity.unwrap_or(100.0);
            if limit < capacity {
                return Err(named(format!("its maximum_capacity of {limit} % is below its capacity of {capacity} %")));
            }
            let limit_of_parent = limit as f32 / 100.0;
            shares[child] = Shares {
                capacity: shares[place].capacity * (capacity as f32 / 100.0),
                limit: shares[place].limit * limit_of_parent,
                limit_of_parent,
            };
        }
    }
    Ok(shares)
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
        let shares = shares(&tree).unwrap();
        let of = |name: &str| {
            let Shares { capacity, limit, .. } = shares[tree.find(name).unwrap()];
            (capacity, limit)
        };
        assert_eq!([of("a"), of("b")], [(0.4, 0.5), (0.6, 1.0)]);
        assert_eq!([of("a.x"), of("a.y")], [(0.1, 0.5), (0.3, 0.4)]);
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
