//! One row of metrics per job.

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
