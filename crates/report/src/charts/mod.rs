//! The charts: one file each, and the list of them.

mod cdf_jobs;
mod cdf_maps;
mod delta;
mod job_times;
mod locality;
mod resources;
mod running_tasks;
mod starvation;
mod waiting;

use resched_analysis::Run;

use crate::Error;

/// A chart of some runs.
pub struct Chart {
    /// Its name, and its files' without extension.
    pub name: &'static str,
    /// Its title in a report.
    pub title: &'static str,
    /// What it shows and how to read it.
    pub caption: &'static str,
    /// Draws it as SVG; `None` if the runs hold nothing that it could show.
    ///
    /// # Errors
    /// [`Error::Draw`] if the drawing library fails.
    pub draw: fn(&[Run]) -> Result<Option<String>, Error>,
}

/// All charts, in the order of a report.
pub const CHARTS: &[Chart] = &[
    running_tasks::CHART,
    job_times::CHART,
    waiting::CHART,
    cdf_jobs::CHART,
    starvation::CHART,
    locality::CHART,
    cdf_maps::CHART,
    delta::CHART,
    resources::CHART,
];
