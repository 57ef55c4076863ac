//! The rows of a run, and a replay kept in memory as such rows.

use resched_trace::model::{AttemptRow, DecisionRow, JobRow, Locality, Outcome, ResourceRow, TaskKind};
use resched_trace::run::RunTables;

use crate::Error;
use crate::cluster::Cluster;
use crate::ids::{Kind, Level};
use crate::observer::{Decided, Ended, JobEnded, Observer, Used};
use crate::workload::{Job, Workload};

/// Takes a replay down in memory, in the rows that [`crate::RunWriter`] writes to disk. Its size grows with the attempts, so
/// it is for many small replays of which no folder is wanted.
pub struct RunRows<'w> {
    workload: &'w Workload,
    cluster: &'w Cluster,
    tables: RunTables,
    ends: Vec<Option<JobEnded>>,
}

impl<'w> RunRows<'w> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, cluster: &'w Cluster) -> Self {
        let ends = vec![None; workload.jobs().len()];
        Self { workload, cluster, tables: RunTables::default(), ends }
    }

    /// The jobs in order of submission, the attempts in the order in which the master learned of their ends, and what was
    /// told beside them.
    pub fn finish(self) -> RunTables {
        let jobs = self.workload.jobs().iter().zip(&self.ends).map(|(job, end)| job_row(job, *end)).collect();
        RunTables { jobs, ..self.tables }
    }
}

impl Observer for RunRows<'_> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let mut row = AttemptRow::default();
        fill_attempt(&mut row, self.workload, self.cluster, ended);
        self.tables.attempts.push(row);
        Ok(())
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        self.tables.decisions.push(decision_row(self.workload, decided));
        Ok(())
    }

    fn used(&mut self, used: &Used) -> Result<(), Error> {
        self.tables.resources.push(resource_row(self.cluster, used));
        Ok(())
    }

    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends[ended.job.index()] = Some(*ended);
        Ok(())
    }
}

/// The row of a job and its end.
pub(crate) fn job_row(job: &Job, end: Option<JobEnded>) -> JobRow {
    JobRow {
        job_id: job.id.clone(),
        name: job.name.clone(),
        user: some(&job.user),
        queue: some(&job.queue),
        priority: Some(job.priority),
        framework: Some("mapreduce".to_owned()),
        submit: Some(job.submit),
        launch: end.and_then(|end| end.launch),
        finish: end.map(|end| end.finish),
        outcome: end.map_or(Outcome::Incomplete, |end| end.outcome),
        declared_maps: Some(i64::from(job.count(Kind::Map))),
        declared_reduces: Some(i64::from(job.count(Kind::Reduce))),
        shuffle_bytes: job.shuffle_bytes,
        ..JobRow::default()
    }
}

/// Makes `row` that of an attempt; its texts are written over, not made anew.
pub(crate) fn fill_attempt(row: &mut AttemptRow, workload: &Workload, cluster: &Cluster, ended: &Ended) {
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
    row.locality = ended.level.map(|level| match level {
        Level::Node => Locality::Node,
        Level::Rack => Locality::Rack,
        Level::Off => Locality::Off,
    });
    row.speculative = Some(ended.backup);
    row.error = ended.discarded.then(|| "ended well, but the master did not count it".to_owned());
}

/// The row of a decision.
pub(crate) fn decision_row(workload: &Workload, decided: &Decided) -> DecisionRow {
    let job_id = decided.job.map(|job| workload.job(job).id.clone());
    DecisionRow { time: decided.at, name: decided.name.to_owned(), job_id, value: decided.value }
}

/// The row of what a node used.
pub(crate) fn resource_row(cluster: &Cluster, used: &Used) -> ResourceRow {
    let Used { at, node, cpu, io_wait, disk, net_in, net_out } = *used;
    ResourceRow { time: at, host: cluster.node(node).name.clone(), cpu, io_wait, disk, net_in, net_out }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
