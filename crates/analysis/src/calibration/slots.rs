//! How many tasks of a kind a node runs at once.

use std::collections::BTreeMap;

use resched_tables::model::TaskKind;

use super::fitted::bootstrap_error;
use super::observed::{Attempt, Observed};

/// One node in a hundred may seem to have run more: clocks jump, and a node may receive a kill late.
const ODD_NODES: usize = 100;

/// The memory of a task's container and of a master's, by default, rounded up to whole containers, MB.
const CONTAINER_MB: i64 = 1_024;
const MASTER_MB: i64 = 2_048;

/// If at least this share of the nodes reached the most, that is their size and not chance.
const FULL: f64 = 0.5;

/// The slots of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Slots {
    /// The most attempts at once on one node; null if no host is known.
    pub most: Option<u32>,
    /// Nodes on which this many ran at once.
    pub reached: u64,
    /// Nodes on which any ran.
    pub nodes: u64,
    /// The standard error of the most, from resamples of the nodes; null if the nodes were not full, as a lower bound has none, or if
    /// there is but one.
    pub standard_error: Option<f64>,
}

impl Slots {
    /// True if the nodes were full: at least half of them reached the most, which random placement below their size does not do.
    /// Otherwise the most is only a lower bound.
    pub fn were_full(&self) -> bool {
        self.most.is_some() && self.reached as f64 >= FULL * self.nodes as f64
    }
}

/// The largest number of attempts of `kind` that at least 1 % of the nodes (with less than a hundred, one node) ran at once. All
/// outcomes count. It is a lower bound of the slots, as nodes that were never full do not show all theirs.
pub fn slots(observed: &Observed, kind: TaskKind) -> Slots {
    most_attempts(observed, |other| other == kind)
}

/// What a node of YARN carried at once, if tasks and masters have containers of the default sizes.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Containers {
    /// The memory of the containers at once on one node, MB.
    pub memory_mb: Slots,
    /// The containers at once on one node; each takes one virtual core.
    pub vcores: Slots,
    /// True if the masters are among them. The log of an application master says when it started, and where; other sources know nothing
    /// of masters, and the numbers are then lower bounds.
    pub with_masters: bool,
}

impl Containers {
    /// True if the numbers are what a node offers, and not only lower bounds. One of the two resources is the short one.
    pub fn are_whole(&self) -> bool {
        self.with_masters && (self.memory_mb.were_full() || self.vcores.were_full())
    }
}

/// As [`slots()`], of the containers of maps, reduces and masters together.
pub fn containers(observed: &Observed) -> Containers {
    let memory = |kind: TaskKind| match kind {
        TaskKind::Map | TaskKind::Reduce => CONTAINER_MB,
        TaskKind::Master => MASTER_MB,
        _ => 0,
    };
    let is_master =
        |attempt: &Attempt| attempt.kind == TaskKind::Master && attempt.host.is_some() && attempt.run_time().is_some();
    Containers {
        memory_mb: most_held(observed, memory),
        vcores: most_held(observed, |kind| i64::from(memory(kind) > 0)),
        with_masters: observed.attempts.iter().any(is_master),
    }
}

fn most_attempts(observed: &Observed, of_kind: impl Fn(TaskKind) -> bool) -> Slots {
    most_held(observed, |kind| i64::from(of_kind(kind)))
}

/// The most that nearly all nodes held at once, if an attempt of each kind holds so much.
fn most_held(observed: &Observed, held: impl Fn(TaskKind) -> i64) -> Slots {
    let mut changes: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
    for attempt in observed.attempts.iter().filter(|attempt| held(attempt.kind) > 0 && attempt.run_time().is_some()) {
        if let (Some(host), Some(start), Some(finish)) = (attempt.host, attempt.start, attempt.finish) {
            let held = held(attempt.kind);
            changes.entry(host).or_default().extend([(start, held), (finish, -held)]);
        }
    }
    let most: Vec<f64> = changes.into_values().map(|changes| most_at_once(changes) as f64).collect();
    let value = most_of_nodes(&most);
    let mut slots = Slots {
        most: value.map(|value| value as u32),
        reached: most.iter().filter(|&&most| Some(most) >= value).count() as u64,
        nodes: most.len() as u64,
        standard_error: None,
    };
    // An odd node shows no more than the others have.
    let capped: Vec<f64> = most.iter().map(|&most| value.map_or(most, |value| most.min(value))).collect();
    slots.standard_error = slots.were_full().then(|| bootstrap_error(&capped, 8, most_of_nodes)).flatten();
    slots
}

/// What nearly all nodes reach at most.
fn most_of_nodes(most: &[f64]) -> Option<f64> {
    let mut most = most.to_vec();
    most.sort_unstable_by(|a, b| b.total_cmp(a));
    most.get((most.len() / ODD_NODES).saturating_sub(1)).copied()
}

/// The largest sum of these changes; at one instant ends come first.
fn most_at_once(mut changes: Vec<(i64, i64)>) -> i64 {
    changes.sort_unstable();
    changes.iter().fold((0, 0), |(now, most), change| (now + change.1, most.max(now + change.1))).1
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = slots(&observed, TaskKind::Map);
        assert_eq!((found.most, found.reached, found.nodes), (Some(2), 1, 2));
        // A quarter of the resamples have the node with one attempt alone: √(1/4 · 3/4).
        assert!(found.standard_error.is_some_and(|error| (error - 0.43).abs() < 0.05), "{found:?}");
        assert_eq!(slots(&observed, TaskKind::Reduce), Slots::default());
    }

    #[test]
    fn one_odd_node_of_many_does_not_count() {
        let mut attempts: Vec<Attempt> = (0..300).flat_map(|host| [map(host, 0, 10), map(host, 1, 11)]).collect();
        attempts.extend([map(7, 2, 12), map(7, 3, 13)]);
        let observed = Observed { attempts, ..Observed::default() };
        let expected = Slots { most: Some(2), reached: 300, nodes: 300, standard_error: Some(0.0) };
        assert_eq!(slots(&observed, TaskKind::Map), expected);
    }

    /// Two nodes of 4,096 MB: one runs four maps at once, and later a master and two maps; the other the same in reverse. The master and
    /// four maps never meet.
    #[test]
    fn masters_and_tasks_that_never_met_need_no_more_room() {
        let master = |host, start, finish| Attempt { kind: TaskKind::Master, ..map(host, start, finish) };
        let many = |host, start: i64, maps: i64| (0..maps).map(move |_| map(host, start, start + 10));
        let mut attempts: Vec<Attempt> =
            many(0, 0, 4).chain(many(0, 20, 2)).chain(many(1, 0, 2)).chain(many(1, 20, 4)).collect();
        let without = containers(&Observed { attempts: attempts.clone(), ..Observed::default() });
        assert_eq!((without.memory_mb.most, without.with_masters, without.are_whole()), (Some(4_096), false, false));
        attempts.extend([master(0, 20, 35), master(1, 0, 15)]);
        let found = containers(&Observed { attempts, ..Observed::default() });
        assert_eq!((found.memory_mb.most, found.vcores.most, found.are_whole()), (Some(4_096), Some(4), true));
    }

    #[test]
    fn a_lower_bound_has_no_error() {
        let mut attempts: Vec<Attempt> = (0..9).map(|host| map(host, 0, 10)).collect();
        attempts.push(map(0, 1, 11));
        let found = slots(&Observed { attempts, ..Observed::default() }, TaskKind::Map);
        assert_eq!(found, Slots { most: Some(2), reached: 1, nodes: 9, standard_error: None });
    }
}
