//! What figures show: some runs with their styles, and the jobs that count, numbered alike in all of them.

use resched_analysis::{JobMetrics, Population, Run};

use crate::style::{Series, styles};

/// A run in figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// The run.
    pub(crate) run: &'a Run,
    /// Its label in legends.
    pub(crate) label: &'a str,
    /// Its style.
    pub(crate) series: Series,
}

/// Some runs, and the jobs that count in all of them.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The runs.
    pub(crate) runs: Vec<Shown<'a>>,
    /// The jobs of each run in order of submission. The number of a job is its position here, counted from 1.
    pub(crate) jobs: Vec<Vec<&'a JobMetrics>>,
}

impl<'a> Scene<'a> {
    /// The runs at `chosen` places of `runs`, each with its label. `population` is that of all runs.
    pub(crate) fn new(runs: &'a [Run], population: &Population, chosen: &[(usize, &'a str)]) -> Self {
        let styles = styles(&chosen.iter().map(|chosen| chosen.1).collect::<Vec<_>>());
        let shown = chosen
            .iter()
            .zip(styles)
            .filter_map(|(&(run, label), series)| Some(Shown { run: runs.get(run)?, label, series }));
        let jobs = chosen.iter().filter_map(|&(run, _)| {
            let (run, rows) = (runs.get(run)?, population.rows.get(run)?);
            Some(rows.iter().filter_map(|&row| run.jobs.get(row)).collect())
        });
        Self { runs: shown.collect(), jobs: jobs.collect() }
    }

    /// The labels of the runs.
    pub(crate) fn labels(&self) -> Vec<&'a str> {
        self.runs.iter().map(|shown| shown.label).collect()
    }

    /// The ids of the jobs.
    pub(crate) fn ids(&self) -> Vec<&'a str> {
        self.jobs.first().into_iter().flatten().map(|job| job.job_id.as_str()).collect()
    }

    /// A metric of each job, by run.
    pub(crate) fn values(&self, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
        self.jobs.iter().map(|jobs| jobs.iter().map(|job| metric(job)).collect()).collect()
    }
}

/// The largest of some values, 0 for none.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a Option<f64>>) -> f64 {
    values.into_iter().flatten().fold(0.0, |max, value| max.max(*value))
}
