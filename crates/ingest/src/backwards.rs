//! Ends before their beginnings. They are damage, or clocks that differ by more than a run took: no length of time follows from them.
//!
//! The end becomes null and is counted, of a job, a task, an attempt and each of its phases. The beginning stays, because a job needs a
//! submission to be replayed. A phase that ends after its attempt is as wrong as one that ends before the phase before it.

use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskRow};

/// Sets the ends of a job and its rows that are before their beginnings to null. Returns how many there were.
pub(super) fn mend(record: &mut JobRecord) -> u64 {
    let mut found = mend_job(&mut record.job);
    for task in &mut record.tasks {
        found += mend_task(&mut task.task) + task.attempts.iter_mut().map(mend_attempt).sum::<u64>();
    }
    found
}

/// As [`mend`], for the row of a job.
pub(super) fn mend_job(row: &mut JobRow) -> u64 {
    before(row.submit, &mut row.launch) + before(row.submit.max(row.launch), &mut row.finish)
}

/// As [`mend`], for the row of a task.
pub(super) fn mend_task(row: &mut TaskRow) -> u64 {
    before(row.start, &mut row.finish)
}

/// As [`mend`], for an attempt and its phases.
pub(super) fn mend_attempt(row: &mut AttemptRow) -> u64 {
    let mut found = before(row.start, &mut row.finish);
    for end in [&mut row.shuffle_finish, &mut row.sort_finish] {
        found += before(row.start, end) + after(row.finish, end);
    }
    found + before(row.shuffle_finish, &mut row.sort_finish)
}

/// Sets `end` to null if it is before `first`.
fn before(first: Option<i64>, end: &mut Option<i64>) -> u64 {
    let is_before = first.zip(*end).is_some_and(|(first, end)| end < first);
    take_if(end, is_before)
}

/// Sets `end` to null if it is after `last`.
fn after(last: Option<i64>, end: &mut Option<i64>) -> u64 {
    let is_after = last.zip(*end).is_some_and(|(last, end)| end > last);
    take_if(end, is_after)
}

fn take_if(time: &mut Option<i64>, is_wrong: bool) -> u64 {
    if is_wrong {
        *time = None;
    }
    u64::from(is_wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::model::TaskRecord;

    fn attempt(times: [Option<i64>; 4]) -> AttemptRow {
        let [start, shuffle_finish, sort_finish, finish] = times;
        AttemptRow { start, shuffle_finish, sort_finish, finish, ..AttemptRow::default() }
    }

    #[test]
    fn an_end_before_its_beginning_is_null_and_counted() {
        for (given, mended, count) in [
            ([Some(1), Some(2), Some(3), Some(4)], [Some(1), Some(2), Some(3), Some(4)], 0),
            ([Some(1), Some(1), Some(1), Some(1)], [Some(1), Some(1), Some(1), Some(1)], 0),
            ([None, Some(2), None, Some(4)], [None, Some(2), None, Some(4)], 0),
            ([Some(5), None, None, Some(4)], [Some(5), None, None, None], 1),
            ([Some(5), Some(4), Some(6), Some(9)], [Some(5), None, Some(6), Some(9)], 1),
            ([Some(5), Some(8), Some(7), Some(9)], [Some(5), Some(8), None, Some(9)], 1),
            ([Some(5), Some(10), Some(i64::MAX), Some(9)], [Some(5), None, None, Some(9)], 2),
            ([Some(5), Some(i64::MIN), Some(4), Some(3)], [Some(5), None, None, None], 3),
        ] {
            let mut row = attempt(given);
            assert_eq!(mend_attempt(&mut row), count, "{given:?}");
            assert_eq!(row, attempt(mended), "{given:?}");
        }
    }

    #[test]
    fn a_job_keeps_its_submission() {
        let task = TaskRow { start: Some(7), finish: Some(6), ..TaskRow::default() };
        let tasks =
            vec![TaskRecord { task, attempts: vec![attempt([Some(2), None, None, Some(1)])], ..TaskRecord::default() }];
        let job = JobRow { submit: Some(9), launch: Some(8), finish: Some(5), ..JobRow::default() };
        let mut record = JobRecord { job, tasks, counters: Vec::new() };
        assert_eq!(mend(&mut record), 4);
        let JobRow { submit, launch, finish, .. } = record.job;
        assert_eq!((submit, launch, finish), (Some(9), None, None));
        assert_eq!((record.tasks[0].task.start, record.tasks[0].task.finish), (Some(7), None));
        assert_eq!(mend(&mut record), 0);
    }
}
