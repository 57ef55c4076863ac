//! How many tasks of a kind a node runs at once.

use std::collections::BTreeMap;

use resched_trace::model::TaskKind;

use super::observed::Observed;

/// One node in a hundred may seem to have run more: clocks jump, and a node may receive a kill late.
const ODD_NODES: usize = 100;

/// If at least this share of the nodes reached the most, that is their size and not chance.
const FULL: f64 = 0.5;

/// The slots of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Slots {
    /// The most attempts at once on one node; null if no host is known.
    pub most: Option<u32>,
    /// Nodes on which this many ran at once.
    pub reached: u64,
    /// Nodes on which any ran.
    pub nodes: u64,
}

impl Slots {
    /// Whether the nodes were full: at least half of them reached the most, which random placement below their size does not do.
    /// Otherwise the most is only a lower bound.
    pub fn were_full(&self) -> bool {
        self.most.is_some() && self.reached as f64 >= FULL * self.nodes as f64
    }
}

/// The largest number of attempts of `kind` that at least 1 % of the nodes (with less than a hundred, one node) ran at once. All
/// outcomes count. It is a lower bound of the slots, as nodes that were never full do not show all theirs.
pub fn slots(observed: &Observed, kind: TaskKind) -> Slots {
    most_attempts(observed, |own| own == kind)
}

/// As [`slots()`], of maps and reduces together: how many containers a node of YARN ran at once, masters apart.
pub fn containers(observed: &Observed) -> Slots {
    most_attempts(observed, |own| matches!(own, TaskKind::Map | TaskKind::Reduce))
}

fn most_attempts(observed: &Observed, of_kind: impl Fn(TaskKind) -> bool) -> Slots {
    let mut changes: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
    for attempt in observed.attempts.iter().filter(|attempt| of_kind(attempt.kind) && attempt.run_time().is_some()) {
        if let (Some(host), Some(start), Some(finish)) = (attempt.host, attempt.start, attempt.finish) {
            changes.entry(host).or_default().extend([(start, 1), (finish, -1)]);
        }
    }
    let mut most: Vec<i64> = changes.into_values().map(most_at_once).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    let value = most.get((most.len() / ODD_NODES).saturating_sub(1)).copied();
    Slots {
        most: value.and_then(|value| u32::try_from(value).ok()),
        reached: most.iter().filter(|&&own| Some(own) >= value).count() as u64,
        nodes: most.len() as u64,
    }
}

/// The largest sum of these changes; at one instant ends come first.
fn most_at_once(mut changes: Vec<(i64, i64)>) -> i64 {
    changes.sort_unstable();
    changes.iter().fold((0, 0), |(now, most), change| (now + change.1, most.max(now + change.1))).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Attempt;

    fn map(host: usize, start: i64, finish: i64) -> Attempt {
        Attempt {
            host: Some(host),
            kind: TaskKind::Map,
            start: Some(start),
            finish: Some(finish),
            ..Attempt::default()
        }
    }

    #[test]
    fn a_slot_that_changes_hands_counts_once() {
        let attempts = vec![map(0, 0, 10), map(0, 5, 20), map(0, 10, 30), map(1, 0, 30)];
        let observed = Observed { attempts, ..Observed::default() };
        assert_eq!(slots(&observed, TaskKind::Map), Slots { most: Some(2), reached: 1, nodes: 2 });
        assert_eq!(slots(&observed, TaskKind::Reduce), Slots::default());
    }

    #[test]
    fn one_odd_node_of_many_does_not_count() {
        let mut attempts: Vec<Attempt> = (0..300).flat_map(|host| [map(host, 0, 10), map(host, 1, 11)]).collect();
        attempts.extend([map(7, 2, 12), map(7, 3, 13)]);
        let observed = Observed { attempts, ..Observed::default() };
        assert_eq!(slots(&observed, TaskKind::Map), Slots { most: Some(2), reached: 300, nodes: 300 });
    }
}
