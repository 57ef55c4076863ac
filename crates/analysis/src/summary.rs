//! A run in a few numbers.

use std::collections::BTreeMap;

use resched_trace::model::TaskKind;
use serde::Serialize;

use crate::distribution::{Distribution, mean};
use crate::jobs::JobMetrics;
use crate::run::Run;
use crate::timeline;

/// Map launches by distance from the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LocalityCounts {
    /// On a node that holds it.
    pub node: u64,
    /// In a rack of such a node.
    pub rack: u64,
    /// Elsewhere.
    pub off: u64,
}

/// What `replay --json` prints of a run (the wall time is added there). Times in ms, means over the finished jobs
/// ([`crate::metrics::finished`]); null where there is no such job or the number is unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The policy's name, `observed` for a trace.
    pub policy: String,
    /// The policy's parameters.
    pub params: BTreeMap<String, String>,
    /// Jobs that ended well.
    pub jobs_finished: u64,
    /// [`timeline::makespan`].
    pub makespan_ms: Option<i64>,
    /// Mean completion time.
    pub mean_completion_ms: Option<f64>,
    /// Median completion time.
    pub median_completion_ms: Option<f64>,
    /// Mean waiting time.
    pub mean_waiting_ms: Option<f64>,
    /// Mean starvation time; jobs without late reduces count as 0.
    pub mean_starvation_ms: Option<f64>,
    /// Map launches by distance from the input ([`crate::metrics::map_launches`]).
    pub locality: LocalityCounts,
    /// Tasks that were done.
    pub tasks: u64,
    /// Events that the engine worked off; null for a trace.
    pub events: Option<u64>,
}

impl Summary {
    /// The summary of `run`.
    pub fn of(run: &Run) -> Self {
        let completion = Distribution::new(finished(run, |job| job.completion.map(|ms| ms as f64)));
        let launches = |level: usize| run.jobs.iter().filter_map(|job| job.map_launches.get(level)).sum();
        Self {
            policy: run.replay().map_or_else(|| run.label.clone(), |info| info.policy.clone()),
            params: run.replay().map(|info| info.params.clone()).unwrap_or_default(),
            jobs_finished: run.finished_jobs().count() as u64,
            makespan_ms: timeline::makespan(&run.jobs),
            mean_completion_ms: completion.mean(),
            median_completion_ms: completion.median(),
            mean_waiting_ms: mean(&finished(run, |job| job.waiting.map(|ms| ms as f64))),
            mean_starvation_ms: mean(&finished(run, |job| Some(job.starvation))),
            locality: LocalityCounts { node: launches(0), rack: launches(1), off: launches(2) },
            tasks: run.jobs.iter().map(|job| job.tasks_done).sum(),
            events: run.replay().map(|info| info.events),
        }
    }
}

/// What a report adds to a [`Summary`]; `None` where it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Details {
    /// Mean slowdown ([`crate::metrics::slowdown`]).
    pub mean_slowdown: Option<f64>,
    /// Utilisation of the map slots ([`timeline::utilisation`]).
    pub map_utilisation: Option<f64>,
    /// Utilisation of the reduce slots.
    pub reduce_utilisation: Option<f64>,
    /// [`timeline::mean_jain_index`].
    pub mean_jain_index: Option<f64>,
    /// Finished jobs per hour ([`timeline::throughput`]).
    pub jobs_per_hour: Option<f64>,
    /// Mean queue length over the makespan ([`timeline::queue_length`]).
    pub mean_queue_length: Option<f64>,
}

impl Details {
    /// The details of `run`.
    pub fn of(run: &Run) -> Self {
        let cluster = run.replay().map(|info| info.cluster).unwrap_or_default();
        let used = |kind, slots| timeline::utilisation(&run.jobs, &run.intervals, kind, slots);
        let done = run.finished_jobs().count() as u64;
        let queue = timeline::queue_length(&run.jobs);
        Self {
            mean_slowdown: mean(&finished(run, |job| job.slowdown)),
            map_utilisation: used(TaskKind::Map, cluster.map_slots),
            reduce_utilisation: used(TaskKind::Reduce, cluster.reduce_slots),
            mean_jain_index: timeline::mean_jain_index(&timeline::jain_index(&run.jobs, &run.intervals)),
            jobs_per_hour: timeline::makespan(&run.jobs).and_then(|makespan| timeline::throughput(done, makespan)),
            mean_queue_length: timeline::span(&run.jobs)
                .filter(|(first, last)| first < last)
                .map(|(first, last)| queue.mean(first, last)),
        }
    }
}

fn finished(run: &Run, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<f64> {
    run.finished_jobs().filter_map(metric).collect()
}
