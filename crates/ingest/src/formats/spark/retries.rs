//! Which tasks a later attempt at a stage repeats, in logs that do not say it (before Spark 3.3).
//!
//! `DAGScheduler` submits a stage again for the partitions that are missing, in ascending order, so that the tasks of the attempt are known by their
//! rank. Missing are the partitions that never succeeded. Of a stage of maps, these are also missing:
//!
//! 1. the map whose output could not be fetched;
//! 2. all maps that ran on the executor that this output was to be fetched from, or on one that left;
//! 3. all maps of its host, if an external shuffle service keeps the outputs.
//!
//! The number of tasks of the attempt says which of these rules Spark applied. Where it fits none, the likeliest partitions are taken, and the
//! tasks are counted.

use std::collections::BTreeMap;

/// What is known of a partition when a stage is submitted again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done<'a> {
    /// When its last success ended, ms.
    pub(super) at: i64,
    pub(super) executor: Option<&'a str>,
    pub(super) host: Option<&'a str>,
}

/// The loss of outputs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Loss {
    /// When it was noticed, ms.
    pub(super) at: i64,
    pub(super) executor: Option<String>,
    pub(super) host: Option<String>,
    /// The map whose output could not be fetched, with the stage that noticed it.
    pub(super) map: Option<(i64, i64)>,
}

/// The partitions that the tasks of an attempt are of, in the order of their indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Missing {
    pub(super) partitions: Vec<i64>,
    /// True if the log leaves open which they are.
    pub(super) is_guess: bool,
}

/// The losses of outputs that were noticed before a stage was submitted again: the last of each executor, host and map.
struct Losses<'a> {
    executors: BTreeMap<&'a str, i64>,
    hosts: BTreeMap<&'a str, i64>,
    maps: BTreeMap<i64, i64>,
}

impl<'a> Losses<'a> {
    fn of(losses: &'a [Loss], submit: i64, is_child: impl Fn(i64) -> bool) -> Self {
        let mut all = Self { executors: BTreeMap::new(), hosts: BTreeMap::new(), maps: BTreeMap::new() };
        for loss in losses.iter().filter(|loss| loss.at <= submit) {
            if let Some(executor) = loss.executor.as_deref() {
                note(&mut all.executors, executor, loss.at);
            }
            if let Some(host) = loss.host.as_deref() {
                note(&mut all.hosts, host, loss.at);
            }
            if let Some((_, map)) = loss.map.filter(|(child, _)| is_child(*child)) {
                note(&mut all.maps, map, loss.at);
            }
        }
        all
    }
}

fn note<K: Ord>(last: &mut BTreeMap<K, i64>, key: K, at: i64) {
    let last = last.entry(key).or_insert(at);
    *last = at.max(*last);
}

/// The `tasks` partitions of `all` that were missing at `submit`. `left_at` says when an executor left, and `is_child` whether a stage reads
/// this one.
pub(super) fn missing(
    (all, tasks): (usize, usize),
    done: &BTreeMap<i64, Done<'_>>,
    (submit, losses): (i64, &[Loss]),
    left_at: impl Fn(&str) -> Option<i64>,
    is_child: impl Fn(i64) -> bool,
) -> Missing {
    let lost = Losses::of(losses, submit, is_child);
    let doubt = |partition: i64| -> u8 {
        let Some(last) = done.get(&partition).filter(|done| done.at <= submit) else { return 0 };
        let since = |at: Option<i64>| at.is_some_and(|at| (last.at..=submit).contains(&at));
        let of_executor = |executor: &str| since(lost.executors.get(executor).copied()) || since(left_at(executor));
        if since(lost.maps.get(&partition).copied()) {
            1
        } else if last.executor.is_some_and(of_executor) {
            2
        } else if last.host.is_some_and(|host| since(lost.hosts.get(host).copied())) {
            3
        } else {
            4
        }
    };
    let all = i64::try_from(all.max(tasks)).unwrap_or(i64::MAX);
    let mut ranked: Vec<(u8, i64)> = (0..all).map(|partition| (doubt(partition), partition)).collect();
    ranked.sort_unstable();
    let kind = |place: usize| ranked.get(place).map(|(doubt, _)| *doubt);
    // The rule that Spark applied takes all partitions of one kind, or none.
    let is_guess = tasks > 0 && tasks < ranked.len() && kind(tasks - 1) == kind(tasks);
    let mut partitions: Vec<i64> = ranked.iter().take(tasks).map(|(_, partition)| *partition).collect();
    partitions.sort_unstable();
    Missing { partitions, is_guess }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four maps, on two executors of one host each, that ended at 10.
    fn maps<'a>() -> BTreeMap<i64, Done<'a>> {
        let done = |partition: i64| match partition % 2 {
            0 => Done { at: 10, executor: Some("0"), host: Some("a") },
            _ => Done { at: 10, executor: Some("1"), host: Some("b") },
        };
        (0..4).map(|partition| (partition, done(partition))).collect()
    }

    fn lost(at: i64, map: i64) -> Loss {
        Loss { at, executor: Some("1".to_owned()), host: Some("b".to_owned()), map: Some((7, map)) }
    }

    fn found(tasks: usize, done: &BTreeMap<i64, Done<'_>>, losses: &[Loss]) -> (Vec<i64>, bool) {
        let Missing { partitions, is_guess } = missing((4, tasks), done, (20, losses), |_| None, |stage| stage == 7);
        (partitions, is_guess)
    }

    #[test]
    fn partitions_that_never_succeeded_are_missing_in_ascending_order() {
        let mut done = maps();
        done.remove(&2);
        done.insert(0, Done { at: 21, ..Done::default() });
        assert_eq!(found(2, &done, &[]), (vec![0, 2], false), "the first ended after the stage was submitted again");
        assert_eq!(found(1, &done, &[]), (vec![0], true));
        assert_eq!(found(3, &done, &[]), (vec![0, 1, 2], true));
    }

    #[test]
    fn the_number_of_tasks_says_which_outputs_were_lost() {
        assert_eq!(found(1, &maps(), &[lost(15, 3)]), (vec![3], false), "the map alone");
        assert_eq!(found(2, &maps(), &[lost(15, 3)]), (vec![1, 3], false), "all of its executor");
        assert_eq!(found(4, &maps(), &[lost(15, 3)]), (vec![0, 1, 2, 3], false), "all");
        assert_eq!(found(3, &maps(), &[lost(15, 3)]), (vec![0, 1, 3], true));
    }

    #[test]
    fn maps_of_an_executor_that_left_are_missing() {
        let left = |executor: &str| (executor == "0").then_some(12);
        let found = missing((4, 2), &maps(), (20, &[]), left, |_| true);
        assert_eq!(found, Missing { partitions: vec![0, 2], is_guess: false });
    }

    #[test]
    fn a_loss_before_the_map_ran_or_after_the_submission_or_of_another_stage_is_none() {
        let of_another = Loss { map: Some((8, 3)), executor: None, host: None, ..lost(15, 3) };
        for loss in [lost(9, 3), lost(21, 3), of_another] {
            assert_eq!(found(1, &maps(), &[loss]), (vec![0], true));
        }
    }
}
