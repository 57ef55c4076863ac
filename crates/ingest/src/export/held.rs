//! What a job asked for and held, for formats that have a line for each job.

use crate::formats::sacct;
use crate::formats::swf::FRAMEWORK;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskKind, TaskRecord};

/// A processor, in thousandths.
pub(super) const PROCESSOR: i64 = 1_000;

/// True if a task is work of its job, and not its application master.
pub(super) fn is_work(task: &TaskRecord) -> bool {
    task.task.kind != TaskKind::Master
}

/// The processors that a job asked for.
pub(super) fn asked(job: &JobRow) -> Option<i64> {
    let each = whole_processors(job, job.requested_cpu).filter(|_| is_own(job)).unwrap_or(1);
    job.requested_containers?.checked_mul(each)
}

/// True if a job was in such a log.
pub(super) fn is_own(job: &JobRow) -> bool {
    job.framework.as_deref() == Some(FRAMEWORK)
}

/// The resources that a job held while it ran.
pub(super) struct Held {
    pub(super) processors: Option<i64>,
    /// How long it ran, ms, if that is known but not when.
    pub(super) run_time: Option<i64>,
    /// Processor time per processor, ms.
    pub(super) cpu_ms: Option<i64>,
    /// Resident memory per processor, bytes.
    pub(super) memory: Option<i64>,
}

impl Held {
    pub(super) fn of(record: &JobRecord) -> Self {
        let attempts = || record.tasks.iter().flat_map(|task| &task.attempts);
        let of_replay = attempts().any(|attempt| attempt.cpu_request.is_some());
        match record.tasks.as_slice() {
            [task] if !of_replay => {
                // A job of a parallel machine may lack the number. Any other task has one processor.
                let instances = task.task.instances.or((!is_own(&record.job)).then_some(1));
                let each = whole_processors(&record.job, task.task.cpu_request).unwrap_or(1);
                let processors = instances.and_then(|instances| instances.checked_mul(each));
                // The memory of a job of so many machines is that of a machine.
                let is_of_machines = is_own(&record.job) && task.task.machines.is_some();
                let memories = if is_of_machines { instances } else { processors };
                let attempt = task.attempts.first();
                let run_time = task.attempts.last().and_then(|attempt| attempt.run_time);
                Self {
                    processors,
                    run_time,
                    cpu_ms: attempt.and_then(|attempt| attempt.cpu_ms?.checked_div(processors.unwrap_or(1))),
                    memory: attempt.and_then(|attempt| attempt.physical_memory?.checked_div(memories.unwrap_or(1))),
                }
            }
            _ => {
                let processors = peak(record);
                let sum = attempts().filter_map(|attempt| attempt.cpu_ms).reduce(i64::saturating_add);
                let cpu_ms = sum.zip(processors).and_then(|(sum, processors)| sum.checked_div(processors));
                Self { processors, run_time: None, cpu_ms, memory: None }
            }
        }
    }
}

/// The processors of an instance, in a log whose instances have several.
pub(super) fn whole_processors(job: &JobRow, cpu_request: Option<i64>) -> Option<i64> {
    let has_several = [Some(sacct::FRAMEWORK), Some(FRAMEWORK)].contains(&job.framework.as_deref());
    cpu_request.filter(|cpu| has_several && *cpu > 0 && cpu % PROCESSOR == 0).map(|cpu| cpu / PROCESSOR)
}

/// The most processors that the attempts of a job held at the same time.
fn peak(record: &JobRecord) -> Option<i64> {
    let attempts = record.tasks.iter().flat_map(|task| &task.attempts);
    let mut changes: Vec<(i64, i64)> = attempts
        .filter_map(|attempt| Some((attempt.start?, attempt.finish?, processors(attempt))))
        .flat_map(|(start, finish, held)| [(start, held), (finish.max(start.saturating_add(1)), -held)])
        .collect();
    // At one instant those that end make room first.
    changes.sort_unstable();
    let mut running: i64 = 0;
    let peaks = changes.into_iter().map(|(_, change)| {
        running = running.saturating_add(change);
        running
    });
    peaks.max().filter(|&peak| peak > 0)
}

/// The processors that an attempt holds: those that a replay held for it, rounded up, or one.
fn processors(attempt: &AttemptRow) -> i64 {
    attempt.cpu_request.map_or(1, |cpu| cpu.max(1).saturating_add(PROCESSOR - 1) / PROCESSOR)
}

/// A whole number of thousandths or the like, in units, with as few digits as identify it.
pub(super) fn decimal(number: i64, per_unit: f64) -> String {
    // Exact up to 2⁵³; the reader takes no more.
    (number as f64 / per_unit).to_string()
}
