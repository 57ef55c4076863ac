//! The queues of MapReduce 1's Capacity Scheduler and their settings.

use serde::{Deserialize, Serialize};

use crate::queues::file::{DEFAULT_QUEUE, QueueSettings};
use crate::queues::tree::QueueTree;

/// The settings of a queue of MapReduce 1's Capacity Scheduler. The policy's parameters replace the keys that you leave
/// out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapacityQueue {
    /// Share of its parent's slots that it is guaranteed, percent. If you leave it out: an equal part of what its
    /// siblings leave.
    pub capacity: Option<f32>,
    /// Share of its parent's slots that it may use at most, percent. If it is 0 or you leave it out: its parent's
    /// limit.
    pub maximum_capacity: Option<f32>,
    /// Share of the queue that each of its users gets at least while others compete, percent.
    pub minimum_user_limit: Option<u32>,
    /// Whether its jobs go by priority before submission.
    pub priorities: Option<bool>,
    /// How many of a user's jobs are initialised before one of their tasks has been launched.
    pub jobs_per_user: Option<u32>,
}

impl CapacityQueue {
    /// What is wrong with it by itself, if anything.
    fn check_values(&self) -> Result<(), String> {
        let percentages = [("capacity", self.capacity), ("maximum_capacity", self.maximum_capacity)];
        for (name, percent) in percentages {
            if let Some(percent) = percent.filter(|percent| !(0.0..=100.0).contains(percent)) {
                return Err(format!("{name}: expected a percentage from 0 to 100, found {percent}"));
            }
        }
        if let Some(percent) = self.minimum_user_limit.filter(|percent| !(1..=100).contains(percent)) {
            return Err(format!("minimum_user_limit: expected a percentage from 1 to 100, found {percent}"));
        }
        if self.jobs_per_user == Some(0) {
            return Err("jobs_per_user: expected a number above 0, found 0".to_owned());
        }
        Ok(())
    }

    /// The limit that it sets itself, percent.
    pub(crate) fn own_limit(&self) -> Option<f32> {
        self.maximum_capacity.filter(|&percent| percent > 0.0)
    }
}

impl QueueTree<CapacityQueue> {
    /// The queue that takes the jobs that name it; `None` if there is none of this name, or it has queues below it.
    pub(crate) fn leaf_named(&self, name: &str) -> Option<usize> {
        let named = self.find(name).or_else(|| self.find(&name.replace(':', ".")));
        named.filter(|&place| self.is_leaf(place))
    }

    /// The queue of the jobs that name none of the queues: the leaf `default`, or the first leaf by name.
    pub(crate) fn fallback(&self) -> usize {
        let mut leaves: Vec<usize> = self.leaves().collect();
        leaves.sort_by(|&a, &b| self.get(a).name.cmp(&self.get(b).name));
        let default = leaves.iter().copied().find(|&leaf| self.get(leaf).name == DEFAULT_QUEUE);
        default.or(leaves.first().copied()).unwrap_or(Self::ROOT)
    }
}

impl QueueSettings for CapacityQueue {
    fn check(tree: &QueueTree<Self>) -> Result<(), String> {
        percentages(tree).map(drop)
    }
}

/// What each queue is guaranteed of its parent's slots, percent, by place; queues without a capacity share equally what
/// their siblings leave.
///
/// # Errors
/// A sentence that says what is wrong with the queues.
pub(crate) fn percentages(tree: &QueueTree<CapacityQueue>) -> Result<Vec<f32>, String> {
    if tree.queues().len() < 2 {
        return Err("expected at least one queue".to_owned());
    }
    let mut percentages = vec![100.0; tree.queues().len()];
    for parent in tree.queues().iter().filter(|queue| !queue.children.is_empty()) {
        let set: f32 = parent.children.iter().filter_map(|&child| tree.get(child).settings.capacity).sum();
        if set > 100.0 {
            return Err(format!("the capacities of the queues below `{}` add up to {set} %, above 100 %", parent.path));
        }
        let unset = parent.children.iter().filter(|&&child| tree.get(child).settings.capacity.is_none()).count();
        for &child in &parent.children {
            let queue = tree.get(child);
            let named = |problem: String| format!("queue `{}`: {problem}", queue.path);
            queue.settings.check_values().map_err(named)?;
            let percent = queue.settings.capacity.unwrap_or((100.0 - set) / unset as f32);
            if let Some(limit) = queue.settings.own_limit().filter(|&limit| limit < percent) {
                return Err(named(format!("its maximum_capacity of {limit} % is below its capacity of {percent} %")));
            }
            percentages[child] = percent;
        }
    }
    Ok(percentages)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queues::file::parse;

    #[test]
    fn queues_without_a_capacity_share_what_is_left() {
        let tree =
            parse::<CapacityQueue>("[queues.a]\ncapacity = 40\n[queues.b]\n[queues.c]\n[queues.\"a.x\"]\n").unwrap();
        let percentages = percentages(&tree).unwrap();
        let of = |name: &str| percentages[tree.find(name).unwrap()];
        assert_eq!(["a", "b", "c", "a.x"].map(of), [40.0, 30.0, 30.0, 100.0]);
    }

    #[test]
    fn a_file_of_queues_is_checked() {
        let error = |text: &str| parse::<CapacityQueue>(text).unwrap_err();
        assert!(error("[queues.a]\ncapacity = 60\n[queues.b]\ncapacity = 50\n").contains("add up to 110 %"));
        assert!(error("[queues.a]\ncapacity = 120\n").contains("120"));
        assert!(error("[queues.a]\ncapacity = nan\n").contains("from 0 to 100"));
        assert!(error("[queues.a]\ncapacity = 60\nmaximum_capacity = 50\n").contains("below its capacity of 60 %"));
        assert!(error("[queues.a]\nmaximum_capacity = 50\n[queues.b]\ncapacity = 10\n").contains("of 90 %"));
        assert!(error("[queues.a]\nminimum_user_limit = 0\n").contains("from 1 to 100"));
        assert!(error("[queues.a]\njobs_per_user = 0\n").contains("above 0"));
        assert!(error("[queues]\n").contains("at least one queue"));
    }
}
