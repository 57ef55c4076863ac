//! A run in a few numbers.

use std::collections::BTreeMap;

use resched_tables::measures;
use resched_tables::model::TaskKind;
use resched_tables::standing::Standing;
use serde::Serialize;

use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::statistics::distribution::{Distribution, mean};
use crate::time::timeline;

measures! {
    /// Map launches by distance from the input. Every launch counts, also one that later failed.
    pub struct LocalityCounts: Copy + Eq + Default + Serialize {
        /// Launches on a node that holds the input.
        node: u64, unit "maps";
        /// Launches in the rack of such a node.
        rack: u64, unit "maps";
        /// Launches elsewhere.
        off: u64, unit "maps";
    }
}

measures! {
    /// What `replay --json` prints of a run; the wall time is added there. All but `jobs_finished` and `events` is over the jobs
    /// that count.
    pub struct Summary: Serialize {
        /// The name of the policy; `observed` for a trace.
        policy: String;
        /// The parameters of the policy.
        params: BTreeMap<String, String>;
        /// How many jobs ended well.
        jobs_finished: u64, unit "jobs";
        /// How many jobs count: those that were submitted in the window and ended well, in every run that is compared.
        jobs_counted: u64, unit "jobs";
        /// From the first submission to the last end of a job.
        makespan_ms: Option<i64>, unit "ms", null "no job counts";
        /// The mean of `completion`.
        mean_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The median of `completion`.
        median_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The 95th percentile of `completion`.
        p95_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The mean of `waiting`.
        mean_waiting_ms: Option<f64>, unit "ms", null "no job that counts has a waiting time";
        /// The 95th percentile of `waiting`.
        p95_waiting_ms: Option<f64>, unit "ms", null "no job that counts has a waiting time";
        /// The mean of `starvation`.
        mean_starvation_ms: Option<f64>, unit "ms", null "no job that counts has a starvation time", source "Coupling §III-C";
        /// Map launches by distance from the input: `node`, `rack` and `off`.
        locality: Option<LocalityCounts>, unit "maps", null "no map with a known place of its input was launched";
        /// How many tasks were done.
        tasks: u64, unit "tasks";
        /// How many events the engine processed.
        events: Option<u64>, unit "events", null "it is a trace";
    }
}

impl Summary {
    /// The summary of `run`.
    pub fn of(run: &Run) -> Self {
        let completion = Distribution::new(finished(run, |job| job.completion.map(|ms| ms as f64)));
        let waiting = Distribution::new(finished(run, |job| job.waiting.map(|ms| ms as f64)));
        let launches =
            |level: usize| -> u64 { run.finished_jobs().filter_map(|job| job.map_launches.get(level)).sum() };
        let locality = LocalityCounts { node: launches(0), rack: launches(1), off: launches(2) };
        Self {
            policy: run.replay().map_or_else(|| run.label.clone(), |info| info.policy.clone()),
            params: run.replay().map(|info| info.params.clone()).unwrap_or_default(),
            jobs_finished: run.jobs.iter().filter(|job| ended_well(job)).count() as u64,
            jobs_counted: run.finished_jobs().count() as u64,
            makespan_ms: timeline::makespan(&run.jobs),
            mean_completion_ms: completion.mean(),
            median_completion_ms: completion.median(),
            p95_completion_ms: completion.quantile(0.95),
            mean_waiting_ms: waiting.mean(),
            p95_waiting_ms: waiting.quantile(0.95),
            mean_starvation_ms: mean(&finished(run, |job| job.starvation)),
            locality: (locality != LocalityCounts::default()).then_some(locality),
            tasks: run.finished_jobs().map(|job| job.tasks_done).sum(),
            events: run.replay().map(|info| info.events),
        }
    }
}

measures! {
    /// What a report adds to a [`Summary`].
    pub struct Details: Copy + Default + Serialize {
        /// The mean of `slowdown`.
        mean_slowdown: Option<f64>, null "no job that counts has a slowdown";
        /// The mean of `bounded_slowdown`.
        mean_bounded_slowdown: Option<f64>, null "no job that counts has one", source "Feitelson, Rudolph 1998";
        /// The share of the map slots that was used, over the makespan.
        map_utilisation: Option<f64>, null "the slots are unknown, or no map ran";
        /// The share of the reduce slots that was used, over the makespan.
        reduce_utilisation: Option<f64>, null "the slots are unknown, or no reduce ran";
        /// The share of the machines' processor that tasks held, over the makespan. The machines are those of the start.
        cpu_utilisation: Option<f64>, null "the job's `cpu_time` is unknown, or the machines are";
        /// The share of the machines' memory that tasks held, over the makespan.
        memory_utilisation: Option<f64>, null "the job's `memory_time` is unknown, or the machines are";
        /// The mean of Jain's index over time, with `x` the running tasks of each of the `n` jobs in the system:
        /// `(Σx)² / (n·Σx²)`. It is 1 if all jobs run equally many tasks and `1/n` if one runs all.
        mean_jain_index: Option<f64>, null "no task runs", source "Jain, Chiu, Hawe 1984";
        /// Jain's index of the users, with `x` the mean bounded slowdown of the jobs of each that count: 1 if all users are slowed
        /// alike.
        user_fairness: Option<f64>, null "fewer than two users are known", source "Jain, Chiu, Hawe 1984";
        /// The number of jobs that count, divided by the makespan.
        jobs_per_hour: Option<f64>, unit "1/h", null "the makespan is unknown or 0";
        /// The mean number of jobs that are submitted and have not started a task, over the makespan.
        mean_queue_length: Option<f64>, unit "jobs", null "the makespan is unknown or 0";
    }
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
            mean_bounded_slowdown: mean(&finished(run, |job| job.bounded_slowdown)),
            map_utilisation: used(TaskKind::Map, cluster.map_slots),
            reduce_utilisation: used(TaskKind::Reduce, cluster.reduce_slots),
            cpu_utilisation: held(run, |job| job.cpu_time, cluster.vcores.map(|cores| cores as f64)),
            memory_utilisation: held(run, |job| job.memory_time, cluster.memory_mb.map(|mb| mb as f64 / 1e3)),
            mean_jain_index: timeline::mean_jain_index(&timeline::jain_index(&run.jobs, &run.intervals)),
            user_fairness: user_fairness(run),
            jobs_per_hour: timeline::makespan(&run.jobs).and_then(|makespan| timeline::throughput(done, makespan)),
            mean_queue_length: timeline::span(&run.jobs)
                .filter(|(first, last)| first < last)
                .map(|(first, last)| queue.mean(first, last)),
        }
    }
}

/// Whether the job ended well in its run, whatever became of it in others.
fn ended_well(job: &JobMetrics) -> bool {
    matches!(job.standing, Standing::Counts | Standing::NotInAll)
}

fn finished(run: &Run, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<f64> {
    run.finished_jobs().filter_map(metric).collect()
}

/// The share of what the machines offer that the jobs held, over the makespan. `offered` is per ms.
fn held(run: &Run, of: impl Fn(&JobMetrics) -> Option<f64>, offered: Option<f64>) -> Option<f64> {
    let held = run.finished_jobs().filter_map(of).reduce(|a, b| a + b)?;
    let makespan = timeline::makespan(&run.jobs).filter(|&ms| ms > 0)?;
    offered.filter(|&offered| offered > 0.0).map(|offered| held / (offered * makespan as f64))
}

/// Jain's index of the mean bounded slowdowns of the users.
fn user_fairness(run: &Run) -> Option<f64> {
    let mut users: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for job in run.finished_jobs() {
        if let (Some(user), Some(slowdown)) = (&job.user, job.bounded_slowdown) {
            users.entry(user).or_default().push(slowdown);
        }
    }
    let means: Vec<f64> = users.into_values().filter_map(|slowdowns| mean(&slowdowns)).collect();
    let squares: f64 = means.iter().map(|x| x * x).sum();
    (means.len() > 1).then(|| means.iter().sum::<f64>().powi(2) / (means.len() as f64 * squares))
}
