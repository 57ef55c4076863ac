//! One row of metrics per job.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;
use resched_tables::standing::Standing;

use crate::metrics::list::Known;
use crate::runs::attempts::Sums;
use crate::runs::spans::Interval;
use crate::runs::tables::Jobs;

pub use crate::metrics::list::JobMetrics;

/// The metrics of every job, in the order of the jobs table, and the attempts over time. [`crate::runs::standing::set_standings`] gives the jobs
/// their standing.
pub(crate) fn job_metrics(jobs: Jobs, mut sums: Sums) -> (Vec<JobMetrics>, Vec<Interval>) {
    let Jobs { mut rows, launches, .. } = jobs;
    let intervals = sums.close();
    for ((job, row), launch) in (0..).zip(&mut rows).zip(launches) {
        row.compute(&Known { attempts: &sums.of_job(job), launch });
    }
    (rows, intervals)
}

/// The jobs of a run, in the order of the jobs table.
///
/// It is a slice of them that also knows which count and when they ran: charts ask for that again and again, and rows of jobs are large.
/// It forgets what it knows as soon as a job may change. A copy shares the rows until then.
#[derive(Debug, Clone, Default)]
pub struct JobList {
    rows: Arc<Vec<JobMetrics>>,
    known: OnceLock<Counting>,
}

/// Which jobs of a list count.
#[derive(Debug, Clone)]
struct Counting {
    /// The rows of those that do.
    rows: FixedBitSet,
    /// Their first submission and last finish, ms.
    span: Option<(i64, i64)>,
}

impl Counting {
    fn of(jobs: &[JobMetrics]) -> Self {
        let mut rows = FixedBitSet::with_capacity(jobs.len());
        let (mut first, mut last): (Option<i64>, Option<i64>) = (None, None);
        for (row, job) in jobs.iter().enumerate().filter(|(_, job)| job.standing == Standing::Counts) {
            rows.insert(row);
            first = first.into_iter().chain(job.submit).min();
            last = last.max(job.finish);
        }
        Self { rows, span: first.zip(last).filter(|(first, last)| first <= last) }
    }
}

impl JobList {
    fn known(&self) -> &Counting {
        self.known.get_or_init(|| Counting::of(&self.rows))
    }

    /// True if the job in that row counts.
    pub fn counts(&self, row: usize) -> bool {
        self.known().rows.contains(row)
    }

    /// The jobs that count.
    pub fn counting(&self) -> impl Iterator<Item = &JobMetrics> {
        self.known().rows.ones().filter_map(|row| self.rows.get(row))
    }

    /// The span of the run, ms: first submission and last finish of the jobs that count. `None` if there are none.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.known().span
    }

    /// Makespan, ms: last completion − first submission (DRESS).
    pub fn makespan(&self) -> Option<i64> {
        self.span().map(|(first, last)| last - first)
    }

    /// The attempts of the jobs that count. Their `job` is a row of this list.
    pub fn attempts_that_count<'a>(&'a self, attempts: &'a [Interval]) -> impl Iterator<Item = &'a Interval> {
        let counting = &self.known().rows;
        attempts.iter().filter(|attempt| counting.contains(attempt.job))
    }
}

impl From<Vec<JobMetrics>> for JobList {
    fn from(rows: Vec<JobMetrics>) -> Self {
        Self { rows: Arc::new(rows), known: OnceLock::new() }
    }
}

impl FromIterator<JobMetrics> for JobList {
    fn from_iter<I: IntoIterator<Item = JobMetrics>>(jobs: I) -> Self {
        Self::from(Vec::from_iter(jobs))
    }
}

impl Deref for JobList {
    type Target = [JobMetrics];

    fn deref(&self) -> &[JobMetrics] {
        &self.rows
    }
}

impl DerefMut for JobList {
    fn deref_mut(&mut self) -> &mut [JobMetrics] {
        self.known = OnceLock::new();
        Arc::make_mut(&mut self.rows).as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_knows_follows_its_jobs() {
        let job = |submit, finish| JobMetrics { submit: Some(submit), finish: Some(finish), ..JobMetrics::default() };
        let mut jobs = JobList::from(vec![job(0, 40), job(10, 100)]);
        let attempt = |job| Interval { job, start: 0, finish: 1, ..Interval::default() };
        let attempts = [attempt(1), attempt(0), attempt(2)];
        let of_counting =
            |jobs: &JobList| jobs.attempts_that_count(&attempts).map(|attempt| attempt.job).collect::<Vec<_>>();
        assert_eq!((jobs.span(), jobs.makespan(), of_counting(&jobs)), (Some((0, 100)), Some(100), vec![1, 0]));
        if let Some(job) = jobs.first_mut() {
            job.standing = Standing::NotInAll;
        }
        assert_eq!((jobs.span(), jobs.counts(0), of_counting(&jobs)), (Some((10, 100)), false, vec![1]));
        assert_eq!(jobs.counting().count(), 1);
        assert_eq!(JobList::default().span(), None);
    }
}
