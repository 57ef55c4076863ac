//! From a job of a list to the rows of the tables.

use std::collections::BTreeSet;

use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskRecord, TaskRow};
use resched_tables::sink::Sink;
use resched_tables::{host_list, placed};
use smallvec::SmallVec;

use super::hosts::hosts;
use super::id::{Id, Part, pending_tasks};
use super::jobs::{Job, Jobs, Try};
use super::machines::{Machines, PROCESSOR};
use super::shape::{self, Shape, World};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "slurm";

/// Makes the rows of jobs.
pub(super) struct Records<'a> {
    pub(super) jobs: &'a Jobs,
    pub(super) machines: &'a Machines,
    pub(super) world: World,
}

impl Records<'_> {
    /// The rows of a job under this id. What is mended or assumed is counted.
    pub(super) fn of(&self, job: &Job, id: Id, sink: &mut dyn Sink) -> JobRecord {
        let ran: SmallVec<[&Try; 1]> = job.tries.iter().filter(|one| one.ran).collect();
        let shape = self.shape(job, ran.last().copied(), sink);
        let row = self.job(job, id, &ran, sink);
        let attempts = self.attempts(&row, &ran, sink);
        let task = TaskRow {
            job_id: row.job_id.clone(),
            task_id: row.job_id.clone(),
            start: attempts.first().and_then(|attempt| attempt.start),
            finish: attempts.last().and_then(|attempt| attempt.finish),
            outcome: row.outcome,
            cpu_request: Some(i64::from(shape.cpus) * PROCESSOR),
            memory_request: shape.memory,
            instances: Some(i64::from(shape.instances)),
            gang: Some(true),
            resources: shape.resources,
            machines: shape.machines.map(i64::from),
            exclusive: shape.exclusive.then_some(true),
            ..TaskRow::default()
        };
        JobRecord { job: row, tasks: vec![TaskRecord { task, splits: Vec::new(), attempts }], counters: Vec::new() }
    }

    fn shape(&self, job: &Job, last: Option<&Try>, sink: &mut dyn Sink) -> Shape {
        let is_more = |one: &&Try| one.cpus > job.demand.cpus && !one.hosts.is_none();
        let is_whole = last.filter(is_more).is_some_and(|one| {
            let list = self.jobs.texts.text(one.hosts);
            self.machines.are_whole(list, one.cpus)
        });
        let shape = shape::of(job, last, self.jobs, &self.world, is_whole);
        sink.skip(cause::UNEVEN_JOB_ROUNDED_UP, u64::from(shape.is_uneven));
        if let Some(rule) = shape.assumed {
            sink.made("tasks.instances", rule, 1);
        }
        shape
    }

    fn job(&self, job: &Job, id: Id, ran: &[&Try], sink: &mut dyn Sink) -> JobRow {
        let texts = &self.jobs.texts;
        let demand = &job.demand;
        let (first, last) = (job.tries.first(), job.tries.last());
        let submit = first.map(|one| one.times.submit);
        let array_limit = self.jobs.array_limit(job);
        let eligible = first.and_then(|one| one.times.eligible).filter(|&eligible| Some(eligible) > submit);
        let counts = self.world.allocates_memory;
        sink.skip(cause::MEMORY_NOT_ALLOCATED, u64::from(demand.memory.is_some() && !counts));
        let each = demand.memory.filter(|_| counts).map(|bytes| bytes / i64::from(demand.cpus.max(1)));
        JobRow {
            job_id: id.to_string(),
            name: texts.owned(job.name),
            user: texts.owned(job.user),
            queue: texts.owned(job.partition),
            priority_number: job.priority,
            group: texts.owned(job.account),
            framework: Some(FRAMEWORK.to_owned()),
            submit,
            launch: ran.first().and_then(|one| one.start()),
            finish: last.filter(|one| one.state.has_ended()).and_then(|one| one.times.end.or(one.finish().0)),
            outcome: last.map(|one| one.state.outcome()).unwrap_or_default(),
            requested_containers: Some(i64::from(demand.cpus)),
            requested_cpu: Some(PROCESSOR),
            requested_memory: each,
            requested_time: job.limit,
            depends_on: job.depends_on.iter().map(Id::to_string).collect(),
            eligible,
            array: array_limit.map(|_| job.id.of_whole()),
            array_limit: array_limit.map(i64::from),
            together: matches!(job.id.part, Part::Component(_)).then(|| job.id.of_whole()),
            nice: job.nice,
            qos: texts.owned(job.qos),
            reservation: texts.owned(job.reservation),
            features: texts.owned(job.constraints),
            licenses: texts.owned(demand.licenses),
            wait_reason: texts.owned(job.reason),
            ..JobRow::default()
        }
    }

    fn attempts(&self, row: &JobRow, ran: &[&Try], sink: &mut dyn Sink) -> Vec<AttemptRow> {
        let attempt = |(number, one): (usize, &&Try)| {
            let (finish, was_suspended) = one.finish();
            sink.skip(cause::SUSPENDED_TIME_LEFT_OUT, u64::from(was_suspended));
            let start = one.start();
            AttemptRow {
                job_id: row.job_id.clone(),
                task_id: row.job_id.clone(),
                attempt: number as i64,
                queued: Some(one.queued()),
                start,
                finish: finish.filter(|_| start.is_some()),
                run_time: one.times.elapsed.filter(|_| start.is_none()),
                outcome: one.state.outcome(),
                host: self.host(one),
                hosts: self.hosts(one),
                ..AttemptRow::default()
            }
        };
        ran.iter().enumerate().map(attempt).collect()
    }

    /// The nodes of a try that ran on several, as the source lists them. It does not say how many CPUs it had on each.
    fn hosts(&self, one: &Try) -> Option<String> {
        let list = self.jobs.texts.text(one.hosts);
        if one.nodes < 2 || one.hosts.is_none() {
            return None;
        }
        let hosts = hosts(list).filter(|hosts| (2..=placed::MOST).contains(&hosts.len()))?;
        Some(host_list::fold(hosts.iter().map(String::as_str)))
    }

    /// The node of a try that ran on one.
    fn host(&self, one: &Try) -> Option<String> {
        let list = self.jobs.texts.text(one.hosts);
        if one.nodes > 1 || one.hosts.is_none() {
            return None;
        }
        let [host] = <[String; 1]>::try_from(hosts(list)?).ok()?;
        Some(host)
    }
}

/// The ids under which a job stands in the tables: its own, or those of the tasks that it folds. A task that has a row of its own, or that
/// another row folds, too, stands there once; `given` are those so far.
pub(super) fn ids(job: &Job, jobs: &Jobs, given: &mut BTreeSet<Id>, sink: &mut dyn Sink) -> Vec<Id> {
    if job.id.part != Part::Pending {
        return vec![job.id];
    }
    let (tasks, is_cut) = pending_tasks(jobs.texts.text(job.pending));
    sink.skip(cause::PENDING_ARRAY_CUT, u64::from(is_cut));
    let submit = job.tries.first().map(|one| one.times.submit);
    let ids = tasks.into_iter().map(|task| Id { part: Part::Task(task), ..job.id });
    let (ids, again): (Vec<Id>, Vec<Id>) = ids.partition(|&id| !jobs.has(id, submit) && given.insert(id));
    sink.skip(cause::UNFINISHED_COPY_REPLACED, again.len() as u64);
    ids
}
