//! Which of the logged attempts at a task a replay repeats, and for how long.
//!
//! A replay repeats attempts that ended
//! because of the task itself. A failed attempt runs for its logged time, and the task waits again. An attempt that
//! succeeded or was killed for good ends the task. A replay leaves out attempts that ended because of the old scheduler
//! or a machine: attempts that were evicted or lost, and attempts that were killed before the task was tried again. An
//! attempt that still ran at the end of the trace is incomplete, with the time until then; [`super::workload::Cut`] says what becomes
//! of it.

use resched_tables::model::{Locality, Outcome};

use super::workload::Try;
use crate::ids::Ms;
use crate::loading::LONGEST;

/// An attempt as the trace has it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Logged {
    pub(super) outcome: Outcome,
    pub(super) start: Option<Ms>,
    pub(super) finish: Option<Ms>,
    /// How long it ran, if that is known but not when it started.
    pub(super) run_time: Option<Ms>,
    /// How near to a place of its task it ran.
    pub(super) level: Option<Locality>,
    /// How many times as long everything takes where it ran, if that is known.
    pub(super) pace: Option<f64>,
}

impl Logged {
    /// How long it ran, ms, at most until the end of the trace. What a slow host logged holds its factor already, and a replay gives it
    /// that of the host where it runs: here, it is the time on a usual host.
    pub(super) fn run(self, horizon: Ms) -> Option<Ms> {
        let observed = self.observed(horizon)?;
        Some(self.pace.map_or(observed, |pace| ((observed as f64 / pace).round() as Ms).clamp(0, LONGEST)))
    }

    fn observed(self, horizon: Ms) -> Option<Ms> {
        if let (None, Some(run)) = (self.start, self.run_time) {
            return (0..=LONGEST).contains(&run).then_some(run);
        }
        let finish = self.finish.or((self.outcome == Outcome::Incomplete).then_some(horizon))?;
        let run = finish.checked_sub(self.start?)?;
        (0..=LONGEST).contains(&run).then_some(run)
    }
}

/// Adds the tries at a single instance or a gang, in the order of its log, and the level of each. `skip` counts what is left out.
pub(super) fn in_order(
    logged: &[Logged],
    horizon: Ms,
    skip: &mut impl FnMut(&str, u64),
    (tries, levels): (&mut Vec<Try>, &mut Vec<Option<Locality>>),
) {
    for (place, attempt) in logged.iter().enumerate() {
        let is_last = place + 1 == logged.len();
        let outcome = match attempt.outcome {
            Outcome::Evicted | Outcome::Lost => {
                skip("attempt-evicted-or-lost", 1);
                continue;
            }
            Outcome::Killed | Outcome::Incomplete if !is_last => {
                skip("attempt-killed-and-tried-again", 1);
                continue;
            }
            // It ran for its known time, and nothing shows that it did not do its work.
            Outcome::Success | Outcome::Unknown => Outcome::Success,
            other => other,
        };
        let Some(run) = attempt.run(horizon) else {
            skip("attempt-without-run-time", 1);
            continue;
        };
        tries.push(Try { outcome, run });
        levels.push(attempt.level);
        if outcome == Outcome::Success {
            skip("attempt-after-success", (logged.len() - place - 1) as u64);
            break;
        }
    }
}

/// How long the attempts of a single instance or a gang ran that [`in_order`] leaves out, ms: a machine or the old scheduler ended them.
pub(super) fn left_out(logged: &[Logged], horizon: Ms) -> u64 {
    let is_left_out = |(place, attempt): &(usize, &Logged)| match attempt.outcome {
        Outcome::Evicted | Outcome::Lost => true,
        Outcome::Killed | Outcome::Incomplete => place + 1 < logged.len(),
        _ => false,
    };
    let run = |(_, attempt): (usize, &Logged)| attempt.run(horizon).and_then(|run| u64::try_from(run).ok());
    logged.iter().enumerate().filter(is_left_out).filter_map(run).fold(0, u64::saturating_add)
}

/// Adds the run times of several instances: those of the successful attempts, in order, then those of the attempts that still ran. If
/// there is neither, those of the attempts that were killed. Further instances use the same times again, from the first on.
pub(super) fn of_instances(
    logged: &[Logged],
    instances: u32,
    horizon: Ms,
    skip: &mut impl FnMut(&str, u64),
    (tries, levels): (&mut Vec<Try>, &mut Vec<Option<Locality>>),
) {
    let first = tries.len();
    let mut add = |wanted: fn(Outcome) -> Option<Outcome>| {
        let room = (instances as usize).saturating_sub(tries.len() - first);
        let found = logged.iter().filter_map(|attempt| {
            let tried = Try { outcome: wanted(attempt.outcome)?, run: attempt.run(horizon)? };
            Some((tried, attempt.level))
        });
        for (tried, level) in found.take(room) {
            tries.push(tried);
            levels.push(level);
        }
        tries.len() - first
    };
    add(|outcome| match outcome {
        Outcome::Success | Outcome::Unknown => Some(Outcome::Success),
        _ => None,
    });
    let mut found = add(|outcome| (outcome == Outcome::Incomplete).then_some(outcome));
    if found == 0 {
        found = add(|outcome| (outcome == Outcome::Killed).then_some(outcome));
    }
    skip("attempt-beside-those-of-instances", (logged.len() - found) as u64);
    if found > 0 {
        skip("instance-with-the-run-time-of-another", u64::from(instances) - found as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const HORIZON: Ms = 1_000;

    fn logged(outcome: Outcome, start: Ms, finish: Option<Ms>) -> Logged {
        Logged { outcome, start: Some(start), finish, ..Logged::default() }
    }

    fn reported(tries: &[Try]) -> Vec<(Outcome, Ms)> {
        tries.iter().map(|one| (one.outcome, one.run)).collect()
    }

    fn in_order_of(attempts: &[Logged]) -> (Vec<(Outcome, Ms)>, BTreeMap<String, u64>) {
        let mut skipped = BTreeMap::new();
        let mut tries = Vec::new();
        let mut skip = |cause: &str, n| {
            if n > 0 {
                *skipped.entry(cause.to_owned()).or_insert(0) += n;
            }
        };
        in_order(attempts, HORIZON, &mut skip, (&mut tries, &mut Vec::new()));
        (reported(&tries), skipped)
    }

    #[test]
    fn failures_are_tried_again_and_what_befell_a_task_is_not() {
        use Outcome::{Evicted, Failed, Killed, Lost, Success};
        let (tries, skipped) = in_order_of(&[
            logged(Evicted, 0, Some(9)),
            logged(Failed, 10, Some(13)),
            logged(Killed, 20, Some(29)),
            logged(Lost, 30, Some(39)),
            logged(Failed, 40, None),
            logged(Success, 50, Some(57)),
            logged(Killed, 51, Some(58)),
        ]);
        assert_eq!(tries, [(Failed, 3), (Success, 7)]);
        let expected = [
            ("attempt-after-success", 1),
            ("attempt-evicted-or-lost", 2),
            ("attempt-killed-and-tried-again", 1),
            ("attempt-without-run-time", 1),
        ];
        assert_eq!(skipped, BTreeMap::from(expected.map(|(cause, n)| (cause.to_owned(), n))));
    }

    #[test]
    fn the_last_attempt_ends_a_task_as_it_did() {
        use Outcome::{Failed, Incomplete, Killed, Success, Unknown};
        assert_eq!(in_order_of(&[logged(Killed, 5, Some(9))]).0, [(Killed, 4)]);
        assert_eq!(in_order_of(&[logged(Incomplete, 400, None)]).0, [(Incomplete, 600)]);
        assert_eq!(in_order_of(&[logged(Unknown, 5, Some(9))]).0, [(Success, 4)]);
        assert_eq!(in_order_of(&[logged(Failed, 5, Some(9))]).0, [(Failed, 4)]);
        assert_eq!(in_order_of(&[logged(Success, 9, Some(5))]).0, [], "it ends before it starts");
        let unknown = Logged { outcome: Success, run_time: Some(7), ..Logged::default() };
        assert_eq!(in_order_of(&[unknown]).0, [(Success, 7)], "when it ran is not known");
    }

    #[test]
    fn the_time_of_tries_that_are_left_out_is_known() {
        let all = [
            logged(Outcome::Lost, 0, Some(100)),
            logged(Outcome::Evicted, 100, Some(150)),
            logged(Outcome::Killed, 150, Some(157)),
            logged(Outcome::Failed, 200, Some(300)),
            logged(Outcome::Success, 300, Some(400)),
        ];
        assert_eq!(left_out(&all, HORIZON), 157);
        assert_eq!(left_out(&all[2..3], HORIZON), 0, "a job that was killed for good is replayed");
    }

    #[test]
    fn instances_take_the_run_times_of_those_that_succeeded() {
        use Outcome::{Failed, Killed, Success};
        let attempts = [logged(Success, 0, Some(3)), logged(Failed, 0, Some(9)), logged(Success, 0, Some(4))];
        let mut skipped = BTreeMap::new();
        let mut skip = |cause: &str, n| {
            skipped.insert(cause.to_owned(), n);
        };
        let mut tries = Vec::new();
        of_instances(&attempts, 5, HORIZON, &mut skip, (&mut tries, &mut Vec::new()));
        assert_eq!(reported(&tries), [(Success, 3), (Success, 4)]);
        assert_eq!(skipped["attempt-beside-those-of-instances"], 1);
        assert_eq!(skipped["instance-with-the-run-time-of-another"], 3);
        let killed = [logged(Killed, 0, Some(3)), logged(Failed, 0, Some(9))];
        tries.clear();
        of_instances(&killed, 2, HORIZON, &mut |_, _| (), (&mut tries, &mut Vec::new()));
        assert_eq!(reported(&tries), [(Killed, 3)]);
    }
}
