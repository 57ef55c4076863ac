//! The rows of a run on a Hadoop cluster.

use std::collections::BTreeMap;
use std::ops::Range;

use resched_tables::model::{MAPREDUCE, Outcome, ResourceRow, TaskKind};
use resched_tables::names::write_master_task;
use resched_tables::run::{Names, RowSink, RunAttempt};
use resched_tables::store::Batch;

use crate::Error;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::{Ended, MasterEnded, MasterLaunched, Observer, Used};
use crate::hadoop::system::System;
use crate::hadoop::workload::Workload;
use crate::ids::{JobId, NodeId, TaskId};
use crate::run_tables::{Recorder, RowSource, known};

/// The source of the rows. Attempts stand in the order in which the master learned of their ends.
pub struct HadoopRows<'w> {
    workload: &'w Workload,
    cluster: &'w Cluster,
    /// The application masters that run, by job; empty under MapReduce 1.
    masters: Vec<Option<MasterLaunched>>,
    /// How many masters each job has had.
    launched: Vec<u32>,
}

impl<'w> HadoopRows<'w> {
    fn new(workload: &'w Workload, cluster: &'w Cluster) -> Self {
        let jobs = if cluster.system() == System::Containers { workload.jobs().len() } else { 0 };
        Self { workload, cluster, masters: vec![None; jobs], launched: vec![0; jobs] }
    }

    /// The master whose container is free again.
    fn master(&mut self, ended: &MasterEnded) -> Option<RunAttempt> {
        let master = self.masters.get_mut(ended.job.index())?.take()?;
        let number = self.launched.get_mut(ended.job.index())?;
        *number += 1;
        Some(RunAttempt {
            job: ended.job.0,
            task: None,
            kind: TaskKind::Master,
            attempt: *number - 1,
            queued: None,
            start: Some(master.at),
            shuffle_finish: None,
            sort_finish: None,
            finish: Some(ended.at),
            outcome: ended.outcome,
            node: Some(master.node.0),
            locality: None,
            speculative: None,
            error: None,
            cpu_request: None,
            memory_request: None,
            resources: None,
            flavors: None,
        })
    }
}

/// Gives the rows of a replay to a sink.
pub type RunRows<'w> = Recorder<'w, HadoopRows<'w>>;

impl<'w> Recorder<'w, HadoopRows<'w>> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, cluster: &'w Cluster, sink: &'w mut dyn RowSink) -> Self {
        Self::of(HadoopRows::new(workload, cluster), sink)
    }

    /// Ends the rows with the jobs. Returns the number of rows of each table.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn finish(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.close()
    }
}

impl Observer for Recorder<'_, HadoopRows<'_>> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.take_ended(ended)
    }

    fn used(&mut self, used: &Used) -> Result<(), Error> {
        let Used { at, node, cpu, io_wait, disk, net_in, net_out } = *used;
        self.take_resource(|source| {
            let host = source.cluster.node(node).name.clone();
            ResourceRow { time: at, host, cpu, io_wait, disk, net_in, net_out }
        })
    }

    fn master_launched(&mut self, launched: &MasterLaunched) -> Result<(), Error> {
        if let Some(master) = self.source.masters.get_mut(launched.job.index()) {
            *master = Some(*launched);
        }
        Ok(())
    }

    fn master_ended(&mut self, ended: &MasterEnded) -> Result<(), Error> {
        match self.source.master(ended) {
            Some(attempt) => self.take_attempt(attempt),
            None => Ok(()),
        }
    }
}

impl Names for HadoopRows<'_> {
    fn job_id(&self, job: u32) -> &str {
        &self.workload.job(JobId(job)).id
    }

    fn write_task_id(&self, job: u32, task: Option<u32>, id: &mut String) {
        match task {
            Some(task) => self.workload.write_task_name(TaskId(task), id),
            None => write_master_task(self.job_id(job), id),
        }
    }

    fn node(&self, node: u32) -> (&str, Option<&str>) {
        let node = self.cluster.node(NodeId(node));
        (&node.name, self.cluster.racks().get(node.rack.index()).map(String::as_str))
    }
}

impl RowSource for HadoopRows<'_> {
    type Ended = Ended;

    fn jobs(&self) -> usize {
        self.workload.jobs().len()
    }

    fn is_incomplete(&self, job: JobId) -> bool {
        self.workload.job(job).incomplete
    }

    fn add_jobs(&self, jobs: Range<usize>, batch: &mut Batch<'_>) {
        let jobs = || self.workload.jobs().get(jobs.clone()).unwrap_or_default().iter();
        batch.set_texts("job_id", jobs().map(|job| job.id.as_str()));
        batch.set_known_texts("name", jobs().map(|job| job.name.as_deref()));
        batch.set_known_texts("user", jobs().map(|job| known(&job.user)));
        batch.set_known_texts("queue", jobs().map(|job| known(&job.queue)));
        batch.set_texts("priority", jobs().map(|job| job.priority.as_str()));
        batch.set_texts("framework", jobs().map(|_| MAPREDUCE));
        batch.set_numbers("submit", &jobs().map(|job| Some(job.submit)).collect());
        batch.set_numbers("declared_maps", &jobs().map(|job| Some(i64::from(job.count(Kind::Map)))).collect());
        batch.set_numbers("declared_reduces", &jobs().map(|job| Some(i64::from(job.count(Kind::Reduce)))).collect());
        batch.set_numbers("shuffle_bytes", &jobs().map(|job| job.shuffle_bytes).collect());
    }

    #[inline]
    fn attempt(&self, ended: &Ended) -> RunAttempt {
        let id = self.workload.job_of(ended.task);
        RunAttempt {
            job: id.0,
            task: Some(ended.task.0),
            kind: match self.workload.job(id).place(ended.task).0 {
                Kind::Map => TaskKind::Map,
                Kind::Reduce => TaskKind::Reduce,
            },
            attempt: ended.attempt,
            queued: None,
            start: Some(ended.start),
            shuffle_finish: ended.shuffle_finish,
            sort_finish: ended.sort_finish,
            finish: ended.finish,
            // What the master threw away counts as killed, whatever the node says.
            outcome: if ended.discarded { Outcome::Killed } else { ended.outcome },
            node: Some(ended.node.0),
            locality: ended.level,
            speculative: Some(ended.backup),
            error: ended.discarded.then_some("ended well, but the master did not count it"),
            cpu_request: None,
            memory_request: None,
            resources: None,
            flavors: None,
        }
    }
}
