//! The charts: one file each, and the list of them.

mod cdf_jobs;
mod cdf_maps;
mod chart;
pub(crate) mod delta;
mod job_times;
mod locality;
pub(crate) mod resources;
pub(crate) mod running_tasks;
mod starvation;
mod waiting;

pub use self::chart::Chart;

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
