//! Times that are far outside of their job. They are damage: one wrong digit moves the end of a task by days or decades, and a replay
//! that believed it would have such a task.
//!
//! | a time | is far if it is |
//! |---|---|
//! | the end of an attempt, a task or a job | more than [`LONGEST_RUN`] after its start (of a job: after its submission) |
//! | any time of an attempt or a task | more than [`SLACK`] before its job is submitted, or after its job ends |
//!
//! If the source does not say when the job ended, the end of the task takes the place of the job's for its attempts. If most
//! attempts, and more than one, are outside of the job, the job's own time is the one that is far. Its end is then unknown. Its
//! submission stays, because a job needs one to be replayed; `inspect` shows it if it is far outside of the trace.
//!
//! An event of a machine is far if it is more than [`LONGEST_RUN`] before or after all jobs ([`Times`]).
//!
//! A far time becomes null, and the run time of its attempt is then unknown, as that of any attempt without an end. Tables of events
//! are longer than memory, so of their rows only the first rule can be asked.

use serde::{Deserialize, Serialize};

use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskRecord, TaskRow};
use resched_tables::sink::Tasks;

const DAY: i64 = 86_400_000;
/// The longest run of an attempt, a task or a job (ms): a year.
pub(crate) const LONGEST_RUN: i64 = 366 * DAY;
/// How far outside of its job a time may be (ms): clocks differ, and what is killed may be reported late.
pub(crate) const SLACK: i64 = DAY;

/// Sets the far times of a job and its rows to null. Returns how many there were.
pub(super) fn mend(record: &mut JobRecord) -> u64 {
    let mut far = mend_job(&mut record.job);
    let inside = Inside { first: record.job.submit.or(record.job.launch), last: ended(&record.job) };
    let attempts = || record.tasks.iter().flat_map(|task| &task.attempts);
    // The job's own times are doubted if most attempts contradict them.
    let doubted = |is_outside: &dyn Fn(&AttemptRow) -> Option<bool>| {
        let count = |(outside, known): (usize, usize), is_outside| (outside + usize::from(is_outside), known + 1);
        let (outside, known) = attempts().filter_map(is_outside).fold((0, 0), count);
        outside > 1 && outside * 2 > known
    };
    let ends_too_soon = doubted(&|row| row.finish.map(|time| inside.is_after(time)));
    let begins_too_late = doubted(&|row| row.start.map(|time| inside.is_before(time)));
    let job = &mut record.job;
    far += u64::from(ends_too_soon);
    if ends_too_soon {
        job.finish = None;
    }
    // A job without a submission could not be replayed, so a submission that is doubted stays, and only does not count here.
    let inside = Inside { first: inside.first.filter(|_| !begins_too_late), last: ended(job) };
    for task in &mut record.tasks {
        let row = &mut task.task;
        far += inside.mend(&mut [&mut row.start, &mut row.finish]) + mend_task(row);
        let inside = Inside { last: inside.last.or(row.finish), ..inside };
        for attempt in &mut task.attempts {
            let AttemptRow { start, shuffle_finish, sort_finish, finish, .. } = attempt;
            far += inside.mend(&mut [start, shuffle_finish, sort_finish, finish]);
            far += mend_attempt(attempt);
        }
    }
    far
}

/// Sets the end of a job to null if it is far. Returns how many there were.
pub(super) fn mend_job(row: &mut JobRow) -> u64 {
    let first = row.submit.or(row.launch);
    far_after(first, &mut row.launch) + far_after(first, &mut row.finish)
}

/// Sets the end of a task to null if it is far. Returns how many there were.
pub(super) fn mend_task(row: &mut TaskRow) -> u64 {
    far_after(row.start, &mut row.finish)
}

/// Sets the ends of an attempt and its phases to null if they are far. Returns how many there were.
pub(super) fn mend_attempt(row: &mut AttemptRow) -> u64 {
    let first = row.start.or(row.queued);
    [&mut row.shuffle_finish, &mut row.sort_finish, &mut row.finish].into_iter().map(|end| far_after(first, end)).sum()
}

/// The first and the last time of the jobs of a trace, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Times(Option<(i64, i64)>);

impl Times {
    /// Takes times of a job or its attempts, of which some may be unknown.
    pub(super) fn see(&mut self, times: impl IntoIterator<Item = Option<i64>>) {
        for time in times.into_iter().flatten() {
            let (first, last) = self.0.unwrap_or((time, time));
            self.0 = Some((first.min(time), last.max(time)));
        }
    }

    /// Takes the times of other jobs of the trace.
    pub(super) fn add(&mut self, Self(others): Self) {
        if let Some((first, last)) = others {
            self.see([Some(first), Some(last)]);
        }
    }

    /// True if the time of a machine's event is far. Without jobs, nothing is known.
    pub(super) fn is_far(&self, time: Option<i64>) -> bool {
        self.0.zip(time).is_some_and(|((first, last), time)| {
            !(first.saturating_sub(LONGEST_RUN)..=last.saturating_add(LONGEST_RUN)).contains(&time)
        })
    }
}

/// Tasks that are made, without their far times. They begin with their job, so only their ends can be far.
pub(super) struct Mended<T> {
    tasks: T,
    far: u64,
}

impl<T> Mended<T> {
    pub(super) fn new(tasks: T) -> Self {
        Self { tasks, far: 0 }
    }

    /// How many times were far.
    pub(super) fn far(&self) -> u64 {
        self.far
    }
}

impl Tasks for Mended<Box<dyn Tasks + '_>> {
    fn next(&mut self, task: &mut TaskRecord) -> bool {
        let is_there = self.tasks.next(task);
        if is_there {
            self.far += mend_task(&mut task.task) + task.attempts.iter_mut().map(mend_attempt).sum::<u64>();
        }
        is_there
    }
}

/// Sets `end` to null if it is longer after `first` than anything runs.
fn far_after(first: Option<i64>, end: &mut Option<i64>) -> u64 {
    let is_far = first.zip(*end).is_some_and(|(first, end)| end.saturating_sub(first) > LONGEST_RUN);
    take_if(end, is_far)
}

fn take_if(time: &mut Option<i64>, is_far: bool) -> u64 {
    if is_far {
        *time = None;
    }
    u64::from(is_far)
}

/// When the job ended, unless that is before it began.
fn ended(job: &JobRow) -> Option<i64> {
    job.finish.filter(|finish| job.submit.is_none_or(|submit| *finish >= submit))
}

/// The times of a job.
#[derive(Debug, Clone, Copy)]
struct Inside {
    first: Option<i64>,
    last: Option<i64>,
}

impl Inside {
    fn is_before(&self, time: i64) -> bool {
        self.first.is_some_and(|first| first.saturating_sub(time) > SLACK)
    }

    fn is_after(&self, time: i64) -> bool {
        self.last.is_some_and(|last| time.saturating_sub(last) > SLACK)
    }

    fn mend(&self, times: &mut [&mut Option<i64>]) -> u64 {
        let far = |time: &mut Option<i64>| {
            let is_far = time.is_some_and(|time| self.is_before(time) || self.is_after(time));
            take_if(time, is_far)
        };
        times.iter_mut().map(|time| far(time)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::model::TaskRecord;

    const HOUR: i64 = 3_600_000;

    /// A job of an hour with a task for each of these attempts.
    fn job(attempts: &[(i64, i64)]) -> JobRecord {
        let task = |&(start, finish): &(i64, i64)| TaskRecord {
            task: TaskRow { start: Some(0), finish: Some(HOUR), ..TaskRow::default() },
            attempts: vec![AttemptRow { start: Some(start), finish: Some(finish), ..AttemptRow::default() }],
            ..TaskRecord::default()
        };
        let job = JobRow { submit: Some(0), launch: Some(0), finish: Some(HOUR), ..JobRow::default() };
        JobRecord { job, tasks: attempts.iter().map(task).collect(), counters: Vec::new() }
    }

    fn times(record: &JobRecord) -> Vec<(Option<i64>, Option<i64>)> {
        record.tasks.iter().flat_map(|task| &task.attempts).map(|row| (row.start, row.finish)).collect()
    }

    #[test]
    fn a_time_far_outside_of_its_job_is_null_and_counted() {
        for far in [HOUR + DAY + 1, 12 * DAY, 1_000_000_000_000, i64::MAX] {
            let mut record = job(&[(0, HOUR), (5, far)]);
            assert_eq!(mend(&mut record), 1, "{far}");
            assert_eq!(times(&record), [(Some(0), Some(HOUR)), (Some(5), None)]);
        }
        for far in [-DAY - 1, i64::MIN] {
            let mut record = job(&[(0, HOUR), (far, HOUR)]);
            assert_eq!(mend(&mut record), 1, "{far}");
            assert_eq!(times(&record), [(Some(0), Some(HOUR)), (None, Some(HOUR))]);
        }
    }

    #[test]
    fn a_run_at_the_limit_stays_and_a_longer_one_has_no_end() {
        for (run, far) in [(LONGEST_RUN, 0), (LONGEST_RUN + 1, 1)] {
            let end = Some(run).filter(|_| far == 0);
            let mut row = JobRow { submit: Some(0), finish: Some(run), ..JobRow::default() };
            assert_eq!((mend_job(&mut row), row.finish), (far, end));
            let mut row = TaskRow { start: Some(0), finish: Some(run), ..TaskRow::default() };
            assert_eq!((mend_task(&mut row), row.finish), (far, end));
            let mut row = AttemptRow { start: Some(0), finish: Some(run), ..AttemptRow::default() };
            assert_eq!((mend_attempt(&mut row), row.finish), (far, end));
        }
    }

    #[test]
    fn a_time_a_day_outside_of_its_job_stays_and_a_further_one_does_not() {
        for (beyond, far) in [(0, 0), (1, 1)] {
            let times = [(-SLACK - beyond, HOUR), (0, HOUR + SLACK + beyond), (0, HOUR), (0, HOUR)];
            let mut record = job(&times);
            assert_eq!(mend(&mut record), 2 * far);
            let known = |time: i64| Some(time).filter(|_| far == 0);
            let found = self::times(&record);
            assert_eq!(found[..2], [(known(times[0].0), Some(HOUR)), (Some(0), known(times[1].1))]);
        }
    }

    #[test]
    fn a_time_near_its_job_stays_and_so_does_a_long_job() {
        let mut record = job(&[(-DAY, HOUR), (0, HOUR + DAY), (HOUR, 0)]);
        assert_eq!(mend(&mut record), 0);
        let mut long = job(&[(0, 300 * DAY)]);
        long.job.finish = Some(300 * DAY);
        assert_eq!(mend(&mut long), 0);
        assert_eq!(times(&long), [(Some(0), Some(300 * DAY))]);
    }

    /// The job's end is 12 days too early, or its submission 12 days too late.
    #[test]
    fn the_job_is_doubted_if_its_attempts_agree_against_it() {
        let attempts = [(20 * DAY, 20 * DAY + HOUR); 3];
        let at = |submit: i64, finish: i64| {
            let mut record = job(&attempts);
            record.tasks.iter_mut().for_each(|task| (task.task.start, task.task.finish) = (Some(20 * DAY), None));
            (record.job.submit, record.job.launch, record.job.finish) = (Some(submit), None, Some(finish));
            record
        };
        let mut early = at(DAY, 8 * DAY);
        assert_eq!(mend(&mut early), 1);
        assert_eq!((early.job.submit, early.job.finish), (Some(DAY), None));
        assert_eq!(times(&early), attempts.map(|(start, finish)| (Some(start), Some(finish))));
        let mut late = at(32 * DAY, 33 * DAY);
        assert_eq!(mend(&mut late), 0);
        assert_eq!((late.job.submit, late.job.finish), (Some(32 * DAY), Some(33 * DAY)));
        assert_eq!(times(&late), attempts.map(|(start, finish)| (Some(start), Some(finish))));
    }

    #[test]
    fn without_an_end_of_the_job_that_of_the_task_counts() {
        let mut record = job(&[(0, HOUR), (0, 12 * DAY)]);
        record.job.finish = None;
        assert_eq!(mend(&mut record), 1);
        assert_eq!(times(&record), [(Some(0), Some(HOUR)), (Some(0), None)]);
        let mut unknown = job(&[(0, 12 * DAY), (0, LONGEST_RUN + 1)]);
        unknown.job.finish = None;
        unknown.tasks.iter_mut().for_each(|task| task.task.finish = None);
        assert_eq!(mend(&mut unknown), 1);
        assert_eq!(times(&unknown), [(Some(0), Some(12 * DAY)), (Some(0), None)]);
    }
}
