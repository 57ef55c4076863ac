//! Attempts whose own times the source has lost.
//!
//! A damaged event may take the start or the end of an attempt with it. The master's record of the task may still have them: the first
//! attempt at a task starts with the task, and the task ends with the attempt that succeeded. These times are by the master's clock,
//! and an attempt with one of them is counted. An attempt that had not ended keeps what it has.
//!
//! This holds for the histories that Hadoop itself writes. Rumen's traces were made from such histories, and lack times on purpose: Hadoop's
//! simulators make them from the other attempts of the job, and so does a replay.

use crate::formats::Format;
use resched_tables::model::{JobRecord, Outcome};

/// The rule that fills the times, for the manifest.
pub(super) const RULE: &str = "times-of-task";

/// How many attempts got a start, and how many an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Filled {
    pub(super) starts: u64,
    pub(super) finishes: u64,
}

/// Fills in what the tasks know about their attempts, in a job of that format.
pub(super) fn from_tasks(record: &mut JobRecord, format: &Format) -> Filled {
    let mut filled = Filled::default();
    if !format.has_times_of_tasks {
        return filled;
    }
    for task in &mut record.tasks {
        let row = &task.task;
        for attempt in &mut task.attempts {
            let ended = attempt.outcome != Outcome::Incomplete && attempt.run_time.is_none();
            if ended && attempt.start.is_none() && attempt.attempt == 0 {
                let finish = attempt.finish.or(row.finish);
                attempt.start = row.start.filter(|start| finish.is_none_or(|finish| *start <= finish));
                filled.starts += u64::from(attempt.start.is_some());
            }
            if ended && attempt.finish.is_none() && attempt.outcome == Outcome::Success {
                attempt.finish = row.finish.filter(|finish| attempt.start.is_none_or(|start| start <= *finish));
                filled.finishes += u64::from(attempt.finish.is_some());
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::jhist;
    use resched_tables::model::{AttemptRow, TaskRecord, TaskRow};

    #[test]
    fn what_an_attempt_lacks_comes_from_its_task_or_stays_unknown() {
        use Outcome::{Failed, Incomplete, Success};
        let attempt =
            |attempt, start, finish, outcome| AttemptRow { attempt, start, finish, outcome, ..AttemptRow::default() };
        let task = |start, finish, attempts| TaskRecord {
            task: TaskRow { start, finish, ..TaskRow::default() },
            splits: Vec::new(),
            attempts,
        };
        let mut record = JobRecord {
            tasks: vec![
                task(Some(10), Some(50), vec![attempt(0, None, Some(45), Success)]),
                task(Some(10), Some(50), vec![attempt(0, Some(12), None, Success)]),
                task(None, None, vec![attempt(0, None, Some(45), Success)]),
                task(Some(10), Some(50), vec![attempt(0, None, Some(20), Failed), attempt(1, None, Some(45), Success)]),
                task(Some(10), Some(50), vec![attempt(0, Some(11), None, Failed), attempt(1, Some(30), None, Success)]),
                task(Some(10), None, vec![attempt(0, None, None, Incomplete)]),
                task(Some(90), Some(50), vec![attempt(0, None, None, Success)]),
            ],
            ..JobRecord::default()
        };
        let before = record.clone();
        assert_eq!(from_tasks(&mut record, &crate::formats::rumen::FORMAT), Filled::default());
        assert_eq!(record, before);
        assert_eq!(from_tasks(&mut record, &jhist::FORMAT), Filled { starts: 2, finishes: 3 });
        let times: Vec<_> =
            record.tasks.iter().flat_map(|task| &task.attempts).map(|row| (row.start, row.finish)).collect();
        let some = |start, finish| (Some(start), Some(finish));
        let expected = [
            some(10, 45),
            some(12, 50),
            (None, Some(45)),
            some(10, 20),
            (None, Some(45)),
            (Some(11), None),
            some(30, 50),
            (None, None),
            (None, Some(50)),
        ];
        assert_eq!(times, expected);
    }
}
