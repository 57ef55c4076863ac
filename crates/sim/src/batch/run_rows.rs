//! The rows of a run of a production trace.
//!
//! Each start of an instance, or of a gang as a whole, is a row of `attempts`; a gang on several machines has no host.

use std::collections::BTreeMap;

use resched_tables::model::{AttemptRow, JobRow, TaskKind};
use resched_tables::run::RowSink;

use super::machines::Machines;
use super::observer::{Ended, Observer};
use super::workload::Workload;
use crate::Error;
use crate::ids::JobId;
use crate::run_tables::{Recorder, RowSource, known};

/// The source of the rows. Attempts stand in the order of their ends.
pub struct BatchRows<'w> {
    workload: &'w Workload,
    machines: &'w Machines,
    /// Whether tasks compete for memory.
    memory_is_limited: bool,
}

/// Gives the rows of a replay to a sink.
pub type RunRows<'w, S> = Recorder<BatchRows<'w>, S>;

impl<'w> BatchRows<'w> {
    fn new(workload: &'w Workload, machines: &'w Machines) -> Self {
        Self { workload, machines, memory_is_limited: machines.memory_is_limited() }
    }
}

impl<'w, S: RowSink> Recorder<BatchRows<'w>, S> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, machines: &'w Machines, sink: S) -> Self {
        Self::of(BatchRows::new(workload, machines), sink)
    }

    /// Ends the rows with the jobs. Returns the number of rows of each table.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn finish(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.close()
    }
}

impl<S: RowSink> Observer for Recorder<BatchRows<'_>, S> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.take_attempt(ended)
    }
}

impl RowSource for BatchRows<'_> {
    type Ended = Ended;

    fn jobs(&self) -> usize {
        self.workload.jobs().len()
    }

    #[inline]
    fn job_of(&self, ended: &Ended) -> JobId {
        self.workload.task(ended.task).job
    }

    fn job_id(&self, job: JobId) -> &str {
        self.workload.job(job).id
    }

    fn is_incomplete(&self, job: JobId) -> bool {
        self.workload.is_incomplete(job)
    }

    fn job_row(&self, job: JobId) -> JobRow {
        let job = self.workload.job(job);
        JobRow {
            job_id: job.id.to_owned(),
            name: job.name.map(str::to_owned),
            user: known(job.user),
            queue: known(job.queue),
            group: known(job.group),
            framework: job.framework.map(str::to_owned),
            priority_number: Some(job.priority),
            scheduling_class: job.scheduling_class,
            submit: (!job.before).then_some(job.submit),
            requested_time: job.requested_time,
            ..JobRow::default()
        }
    }

    fn fill_attempt(&self, row: &mut AttemptRow, ended: &Ended) {
        let workload = self.workload;
        row.job_id.clear();
        row.job_id.push_str(workload.job(workload.task(ended.task).job).id);
        row.task_id.clear();
        row.task_id.push_str(workload.task_name(ended.task));
        row.kind = TaskKind::Other;
        row.attempt = i64::from(ended.attempt);
        row.queued = Some(ended.queued);
        row.start = Some(ended.start);
        row.finish = Some(ended.finish);
        row.outcome = ended.outcome;
        let held = workload.task(ended.task).demand.times(u64::from(ended.instances));
        row.cpu_request = i64::try_from(held.cpu).ok();
        row.memory_request = i64::try_from(held.memory).ok().filter(|_| self.memory_is_limited);
        let node = ended.node.and_then(|node| self.machines.nodes().get(node.index()));
        write_over(&mut row.host, node.map(|node| node.name.as_str()));
        write_over(&mut row.rack, node.and_then(|node| node.rack.as_deref()));
    }
}

/// Replaces a text by another, in the same memory if possible.
fn write_over(text: &mut Option<String>, by: Option<&str>) {
    match by {
        Some(by) => {
            let text = text.get_or_insert_default();
            text.clear();
            text.push_str(by);
        }
        None => *text = None,
    }
}
