//! The jobs of several runs, numbered alike in all charts.

use std::collections::BTreeMap;

use resched_analysis::{JobMetrics, Run};

/// The jobs of some runs in order of submission; a job's number is its place here, from 1.
pub(crate) struct Roster<'a> {
    /// The jobs' ids.
    pub(crate) ids: Vec<&'a str>,
    /// By run, the metrics of each job; `None` where the run does not have it.
    pub(crate) runs: Vec<Vec<Option<&'a JobMetrics>>>,
}

impl<'a> Roster<'a> {
    /// The jobs of `runs`. Of jobs submitted at once, the one that comes first in a run's table is first.
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

    /// By run, a metric of each job.
    pub(crate) fn values(&self, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
        let of_run = |jobs: &Vec<Option<&JobMetrics>>| jobs.iter().map(|job| job.and_then(&metric)).collect();
        self.runs.iter().map(of_run).collect()
    }
}

/// The largest of some values, 0 for none.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a Option<f64>>) -> f64 {
    values.into_iter().flatten().fold(0.0, |max, value| max.max(*value))
}
