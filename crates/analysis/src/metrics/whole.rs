//! Numbers of a whole run that follow from its timelines, its cluster or the standing of its jobs.

use resched_tables::model::TaskKind;
use resched_tables::standing::Standing;

use crate::runs::compared::Compared;
use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::runs::who::Who;
use crate::time::timeline;

/// The share of the slots for tasks of that kind that was used, over the makespan.
pub(crate) fn slots_used(run: &Run, kind: TaskKind) -> Option<f64> {
    let cluster = run.replay().map(|info| info.cluster).unwrap_or_default();
    let slots = if kind == TaskKind::Map { cluster.map_slots } else { cluster.reduce_slots };
    timeline::utilisation(&run.jobs, &run.intervals, kind, slots)
}

/// The share of the machines' processor that the jobs held, over the makespan.
pub(crate) fn processor_held(run: &Run) -> Option<f64> {
    held(run, |job| job.cpu_time, run.replay()?.cluster.vcores.map(|cores| cores as f64))
}

/// The share of the machines' memory that the jobs held, over the makespan.
pub(crate) fn memory_held(run: &Run) -> Option<f64> {
    held(run, |job| job.memory_time, run.replay()?.cluster.memory_mb.map(|mb| mb as f64 / 1e3))
}

/// The share of the machines' GPUs that the jobs held, over the makespan.
pub(crate) fn gpus_held(run: &Run) -> Option<f64> {
    held(run, |job| job.gpu_time, run.replay()?.cluster.gpus.map(|gpus| gpus as f64))
}

/// The mean of Jain's index over time.
pub(crate) fn mean_jain_index(run: &Run) -> Option<f64> {
    timeline::mean_jain_index(&timeline::jain_index(&run.jobs, &run.intervals))
}

/// How many jobs ended well in their run, whatever became of them in others.
pub(crate) fn ended_well(run: &dyn Compared) -> usize {
    (0..run.count()).filter(|row| matches!(run.standing(*row), Standing::Counts | Standing::NotInAll)).count()
}

/// The share of what the machines offer that the jobs held, over the makespan. `offered` is per ms.
fn held(run: &Run, of: impl Fn(&JobMetrics) -> Option<f64>, offered: Option<f64>) -> Option<f64> {
    let started = run.jobs.iter().filter(|job| job.is_among(Who::Started));
    let held = started.filter_map(of).reduce(|a, b| a + b)?;
    let makespan = run.jobs.makespan().filter(|&ms| ms > 0)?;
    offered.filter(|&offered| offered > 0.0).map(|offered| held / (offered * makespan as f64))
}
