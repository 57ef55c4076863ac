//! The charts: one file each, and the list of them.

mod against_size;
mod answer;
mod categories;
mod cdf_jobs;
mod cdf_maps;
mod cdf_starvation;
mod chart;
pub(crate) mod delta;
mod difference;
mod empty;
mod fairness;
mod gantt;
mod job_times;
mod locality;
mod locality_by_size;
mod locality_over_time;
mod only;
mod over_time;
mod overview;
pub(crate) mod own_colours;
mod pp;
mod queue_length;
mod ratio;
pub(crate) mod resources;
pub(crate) mod running_tasks;
mod seeds;
mod slowdown_by_size;
mod starvation;
mod starvation_over_time;
#[cfg(test)]
mod tests;
mod utilisation;
mod variants;
mod waiting;

pub use self::chart::Chart;
pub(crate) use self::empty::why_empty;
pub use self::only::Only;

/// All charts, in the order of a report.
pub const CHARTS: &[Chart] = &[
    answer::CHART,
    overview::CHART,
    variants::CHART,
    running_tasks::CHART,
    gantt::CHART,
    queue_length::CHART,
    utilisation::CHART,
    fairness::CHART,
    job_times::CHART,
    waiting::CHART,
    cdf_jobs::CHART,
    ratio::CHART,
    pp::CHART,
    difference::CHART,
    slowdown_by_size::CHART,
    categories::CHART,
    seeds::CHART,
    starvation::CHART,
    cdf_starvation::CHART,
    starvation_over_time::CHART,
    locality::CHART,
    locality_over_time::CHART,
    locality_by_size::CHART,
    cdf_maps::CHART,
    delta::CHART,
    resources::CHART,
];
