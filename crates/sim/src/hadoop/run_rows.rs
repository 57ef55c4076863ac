//! The rows of a run on a Hadoop cluster.

use std::collections::BTreeMap;

use resched_tables::model::{AttemptRow, JobRow, MAPREDUCE, Outcome, ResourceRow, TaskKind};
use resched_tables::run::RowSink;

use crate::Error;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::{Ended, MasterLaunched, Observer, Used};
use crate::hadoop::system::System;
use crate::hadoop::workload::Workload;
use crate::ids::{JobId, Ms};
use crate::observer::JobEnded;
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

    /// The row of the master of a job that runs until then; `None` if none runs.
    fn master_row(&mut self, job: JobId, finish: Option<Ms>, outcome: Outcome) -> Option<AttemptRow> {
        let master = self.masters.get_mut(job.index())?.take()?;
        let node = self.cluster.node(master.node);
        let number = self.launched.get_mut(job.index())?;
        *number += 1;
        let id = &self.workload.job(job).id;
        Some(AttemptRow {
            job_id: id.clone(),
            task_id: format!("{id}_master"),
            kind: TaskKind::Master,
            attempt: i64::from(*number - 1),
            start: Some(master.at),
            finish,
            outcome,
            host: Some(node.name.clone()),
            rack: Some(self.cluster.racks()[node.rack.index()].clone()),
            ..AttemptRow::default()
        })
    }
}

/// Gives the rows of a replay to a sink.
pub type RunRows<'w, S> = Recorder<HadoopRows<'w>, S>;

impl<'w, S: RowSink> Recorder<HadoopRows<'w>, S> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, cluster: &'w Cluster, sink: S) -> Self {
        Self::of(HadoopRows::new(workload, cluster), sink)
    }

    /// Ends the rows with what still runs, and with the jobs. Returns the number of rows of each table.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn finish(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.close()
    }
}

impl<S: RowSink> Observer for Recorder<HadoopRows<'_>, S> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.take_attempt(ended)
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

    fn master_lost(&mut self, at: Ms, job: JobId) -> Result<(), Error> {
        match self.source.master_row(job, Some(at), Outcome::Lost) {
            Some(row) => self.take_row(job, &row),
            None => Ok(()),
        }
    }
}

impl RowSource for HadoopRows<'_> {
    type Ended = Ended;

    fn job_ended(&mut self, ended: &JobEnded) -> Option<AttemptRow> {
        self.master_row(ended.job, Some(ended.finish), ended.outcome)
    }

    fn running(&mut self) -> Vec<(JobId, AttemptRow)> {
        let jobs = 0..self.masters.len();
        jobs.map(JobId::at).filter_map(|job| Some((job, self.master_row(job, None, Outcome::Incomplete)?))).collect()
    }

    fn jobs(&self) -> usize {
        self.workload.jobs().len()
    }

    #[inline]
    fn job_of(&self, ended: &Ended) -> JobId {
        self.workload.job_of(ended.task)
    }

    fn job_id(&self, job: JobId) -> &str {
        &self.workload.job(job).id
    }

    fn is_incomplete(&self, job: JobId) -> bool {
        self.workload.job(job).incomplete
    }

    fn job_row(&self, job: JobId) -> JobRow {
        let job = self.workload.job(job);
        JobRow {
            job_id: job.id.clone(),
            name: job.name.clone(),
            user: known(&job.user),
            queue: known(&job.queue),
            priority: Some(job.priority),
            framework: Some(MAPREDUCE.to_owned()),
            submit: Some(job.submit),
            declared_maps: Some(i64::from(job.count(Kind::Map))),
            declared_reduces: Some(i64::from(job.count(Kind::Reduce))),
            shuffle_bytes: job.shuffle_bytes,
            ..JobRow::default()
        }
    }

    fn fill_attempt(&self, row: &mut AttemptRow, ended: &Ended) {
        let (workload, cluster) = (self.workload, self.cluster);
        let job = workload.job(workload.job_of(ended.task));
        let node = cluster.node(ended.node);
        row.job_id.clone_from(&job.id);
        row.task_id.clear();
        workload.write_task_name(ended.task, &mut row.task_id);
        row.kind = match job.place(ended.task).0 {
            Kind::Map => TaskKind::Map,
            Kind::Reduce => TaskKind::Reduce,
        };
        row.attempt = i64::from(ended.attempt);
        row.start = Some(ended.start);
        row.shuffle_finish = ended.shuffle_finish;
        row.sort_finish = ended.sort_finish;
        row.finish = ended.finish;
        // What the master threw away counts as killed, whatever the node says.
        row.outcome = if ended.discarded { Outcome::Killed } else { ended.outcome };
        row.host.get_or_insert_default().clone_from(&node.name);
        row.rack.get_or_insert_default().clone_from(&cluster.racks()[node.rack.index()]);
        row.locality = ended.level;
        row.speculative = Some(ended.backup);
        row.error = ended.discarded.then(|| "ended well, but the master did not count it".to_owned());
    }
}
