//! The quantities of a job that metrics aggregate and filters compare.

use crate::JobMetrics;

/// A quantity of a job.
#[derive(Debug)]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as that of [`crate::metrics::named::Metric`].
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Whether less is better.
    pub less_is_better: bool,
    /// Its value; `None` if it is unknown.
    pub(super) of: fn(&JobMetrics) -> Option<f64>,
}

/// A time or a number of which less is better.
const fn cost(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    of: fn(&JobMetrics) -> Option<f64>,
) -> Quantity {
    Quantity { name, unit, meaning, less_is_better: true, of }
}

/// A number of which more is better, or neither.
const fn gain(name: &'static str, meaning: &'static str, of: fn(&JobMetrics) -> Option<f64>) -> Quantity {
    Quantity { name, unit: "", meaning, less_is_better: false, of }
}

/// All quantities.
pub const QUANTITIES: &[Quantity] = &[
    cost("completion", "ms", "completion time", |job| job.completion.map(|ms| ms as f64)),
    cost("waiting", "ms", "waiting time", |job| job.waiting.map(|ms| ms as f64)),
    cost("execution", "ms", "execution time", |job| job.execution.map(|ms| ms as f64)),
    cost("starvation", "ms", "starvation time of its reduces", |job| job.starvation),
    cost("queueing", "ms", "queueing time of its tasks, on average", |job| job.queueing),
    cost("slowdown", "", "slowdown", |job| job.slowdown),
    cost("bounded_slowdown", "", "bounded slowdown", |job| job.bounded_slowdown),
    cost("slot_time", "ms", "run times of all its attempts together", |job| Some(job.slot_time as f64)),
    cost("cpu_time", "ms", "processor that its attempts held, times their run times: ms of a core", |job| job.cpu_time),
    cost("memory_time", "MB·s", "memory that its attempts held, times their run times", |job| job.memory_time),
    cost("evictions", "", "attempts that had to make room for others", |job| Some(job.evictions as f64)),
    gain("tasks", "tasks that were done", |job| Some(job.tasks_done as f64)),
    gain("maps", "maps that were done", |job| Some(job.maps_done as f64)),
    gain("reduces", "reduces that were done", |job| Some(job.reduces_done as f64)),
    gain("node_locality", "share of its maps on a node with their input", |job| share_of_maps(job, 0)),
    gain("rack_locality", "share of its maps in the rack of such a node", |job| share_of_maps(job, 1)),
    cost("off_locality", "", "share of its maps elsewhere", |job| share_of_maps(job, 2)),
];

/// The share of the map launches of a job at a distance from their input.
fn share_of_maps(job: &JobMetrics, level: usize) -> Option<f64> {
    let all: u64 = job.map_launches.iter().sum();
    let own = *job.map_launches.get(level)?;
    (all > 0).then(|| own as f64 / all as f64)
}
