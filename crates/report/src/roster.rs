//! The jobs of several runs, numbered alike in all charts.

use std::collections::BTreeMap;

use resched_analysis::{JobMetrics, Run};

/// The jobs of some runs in order of submission. The number of a job is its position here, counted from 1.
pub(crate) struct Roster<'a> {
    /// The jobs' ids.
    pub(crate) ids: Vec<&'a str>,
    /// The metrics of each job, by run; `None` if the run does not have the job.
    pub(crate) runs: Vec<Vec<Option<&'a JobMetrics>>>,
}

impl<'a> Roster<'a> {
    /// The jobs of `runs`. Jobs submitted at the same instant keep the order of the first table that has them.
    pub(crate) fn new(runs: &'a [Run]) -> Self {
        let mut first_seen: BTreeMap<&str, (Option<i64>, usize)> = BTreeMap::new();
        for run in runs {
            for (row, job) in run.jobs.iter().enumerate() {
                first_seen.entry(&job.job_id).or_insert((job.submit, row));
            }
        }
        let mut ids: Vec<&str> = first_seen.keys().copied().collect();
        ids.sort_by_key(|id| first_seen.get(id).map(|&(submit, row)| (submit.is_none(), submit, row)));
        let of_run = |run: &'a Run| {
            let mut by_id: BTreeMap<&str, &JobMetrics> = BTreeMap::new();
            for job in &run.jobs {
                by_id.entry(&job.job_id).or_insert(job);
            }
            ids.iter().map(|id| by_id.get(id).copied()).collect()
        };
        Self { runs: runs.iter().map(of_run).collect(), ids }
    }

    /// A metric of each job, by run.
    pub(crate) fn values(&self, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
        let of_run = |jobs: &Vec<Option<&JobMetrics>>| jobs.iter().map(|job| job.and_then(&metric)).collect();
        self.runs.iter().map(of_run).collect()
    }
}

/// The largest of some values, 0 for none.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a Option<f64>>) -> f64 {
    values.into_iter().flatten().fold(0.0, |max, value| max.max(*value))
}
