//! From a job of a list to the rows of the tables.

use std::borrow::Cow;

use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskRecord, TaskRow};
use resched_tables::sink::Sink;
use resched_tables::{host_list, placed};
use smallvec::{SmallVec, smallvec};

use super::super::over::{over, over_known};
use super::hosts::{hosts, is_one};
use super::id::{Id, Part};
use super::job::{Job, Try};
use super::join::Place;
use super::machines::{Machines, PROCESSOR};
use super::shape::{self, Shape, World};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "slurm";

/// Makes the rows of jobs.
pub(super) struct Records<'a> {
    pub(super) machines: &'a Machines,
    pub(super) world: World,
    /// The jobs that each job waits for, by its number among those that wait.
    pub(super) ends: Vec<Box<[Id]>>,
}

impl Records<'_> {
    /// Writes the rows of a job under this id over others; `place` is how it stands among all. What is mended or assumed is counted.
    pub(super) fn write_over(
        &self,
        record: &mut JobRecord,
        (job, id): (&Job<'_>, Id),
        place: &Place,
        sink: &mut dyn Sink,
    ) {
        let ran: SmallVec<[&Try<'_>; 1]> = job.tries.iter().filter(|one| one.ran).collect();
        let shape = self.shape(job, ran.last().copied(), sink);
        // Its memory is used again.
        let mut job_id = std::mem::take(&mut record.job.job_id);
        job_id.clear();
        id.show(&mut job_id);
        record.counters.clear();
        record.tasks.resize_with(1, TaskRecord::default);
        let JobRecord { job: row, tasks, .. } = record;
        let Some(TaskRecord { task, splits, attempts }) = tasks.first_mut() else { return };
        splits.clear();
        self.write_job(row, job, place, &ran, sink);
        write_attempts(attempts, &job_id, &ran, sink);
        *task = TaskRow {
            job_id: over(&mut task.job_id, &job_id),
            task_id: over(&mut task.task_id, &job_id),
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
        row.job_id = job_id;
    }

    fn shape(&self, job: &Job<'_>, last: Option<&Try<'_>>, sink: &mut dyn Sink) -> Shape {
        let is_more = |one: &&Try<'_>| one.cpus > job.demand.cpus && !one.hosts.is_empty();
        let is_whole = last.filter(is_more).is_some_and(|one| self.machines.are_whole(one.hosts, one.cpus));
        let shape = shape::of(job, last, &self.world, is_whole);
        sink.skip(cause::UNEVEN_JOB_ROUNDED_UP, u64::from(shape.is_uneven));
        if let Some(rule) = shape.assumed {
            sink.made("tasks.instances", rule, 1);
        }
        shape
    }

    /// Writes the row of a job over another, but for its id.
    fn write_job(&self, row: &mut JobRow, job: &Job<'_>, place: &Place, ran: &[&Try<'_>], sink: &mut dyn Sink) {
        let demand = &job.demand;
        let (submit, last) = (job.submit(), job.tries.last());
        let array_limit = place.array_limit;
        let ends = place.asks.and_then(|asks| self.ends.get(asks as usize)).map_or(&[][..], Box::as_ref);
        let eligible = job.tries.first().and_then(|one| one.times.eligible).filter(|&eligible| Some(eligible) > submit);
        let counts = self.world.allocates_memory;
        sink.skip(cause::MEMORY_NOT_ALLOCATED, u64::from(demand.memory.is_some() && !counts));
        let each = demand.memory.filter(|_| counts).map(|bytes| bytes / i64::from(demand.cpus.max(1)));
        *row = JobRow {
            name: over_known(&mut row.name, known(job.name)),
            user: over_known(&mut row.user, known(job.user)),
            queue: over_known(&mut row.queue, known(job.partition)),
            priority_number: job.priority,
            group: over_known(&mut row.group, known(job.account)),
            framework: over_known(&mut row.framework, FRAMEWORK),
            submit,
            launch: ran.first().and_then(|one| one.start()),
            finish: last.filter(|one| one.state.has_ended()).and_then(|one| one.times.end.or(one.finish().0)),
            outcome: last.map(|one| one.state.outcome()).unwrap_or_default(),
            requested_containers: Some(i64::from(demand.cpus)),
            requested_cpu: Some(PROCESSOR),
            requested_memory: each,
            requested_time: job.limit,
            depends_on: ends.iter().map(Id::to_string).collect(),
            eligible,
            array: array_limit.map(|_| job.id.of_whole()),
            array_limit: array_limit.map(i64::from),
            together: matches!(job.id.part, Part::Component(_)).then(|| job.id.of_whole()),
            nice: job.nice,
            qos: over_known(&mut row.qos, known(job.qos)),
            reservation: over_known(&mut row.reservation, known(job.reservation)),
            features: over_known(&mut row.features, known(job.constraints)),
            licenses: over_known(&mut row.licenses, known(demand.licenses)),
            wait_reason: over_known(&mut row.wait_reason, known(job.reason)),
            ..JobRow::default()
        };
    }
}

/// A text; `None` for the empty one.
fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Writes the rows of the tries that ran over others.
fn write_attempts(attempts: &mut Vec<AttemptRow>, job_id: &str, ran: &[&Try<'_>], sink: &mut dyn Sink) {
    attempts.resize_with(ran.len(), AttemptRow::default);
    for (number, (attempt, one)) in attempts.iter_mut().zip(ran).enumerate() {
        let (finish, was_suspended) = one.finish();
        sink.skip(cause::SUSPENDED_TIME_LEFT_OUT, u64::from(was_suspended));
        let start = one.start();
        *attempt = AttemptRow {
            job_id: over(&mut attempt.job_id, job_id),
            task_id: over(&mut attempt.task_id, job_id),
            attempt: number as i64,
            queued: Some(one.queued()),
            start,
            finish: finish.filter(|_| start.is_some()),
            run_time: one.times.elapsed.filter(|_| start.is_none()),
            outcome: one.state.outcome(),
            host: over_known(&mut attempt.host, host(one).as_deref()),
            hosts: several(one),
            ..AttemptRow::default()
        };
    }
}

/// The nodes of a try that ran on several, as the source lists them. It does not say how many CPUs it had on each.
fn several(one: &Try<'_>) -> Option<String> {
    if one.nodes < 2 || one.hosts.is_empty() {
        return None;
    }
    let hosts = hosts(one.hosts).filter(|hosts| (2..=placed::MOST).contains(&hosts.len()))?;
    Some(host_list::fold(hosts.iter().map(String::as_str)))
}

/// The node of a try that ran on one.
fn host<'t>(one: &Try<'t>) -> Option<Cow<'t, str>> {
    if one.nodes > 1 || one.hosts.is_empty() {
        return None;
    }
    if is_one(one.hosts) {
        return Some(Cow::Borrowed(one.hosts));
    }
    let [host] = <[String; 1]>::try_from(hosts(one.hosts)?).ok()?;
    Some(Cow::Owned(host))
}

/// The ids under which a job stands in the tables: its own, or those of the tasks that it folds.
pub(super) fn ids(job: &Job<'_>, place: &Place) -> SmallVec<[Id; 1]> {
    if job.id.part != Part::Pending {
        return smallvec![job.id];
    }
    place.tasks.iter().map(|&(task, again)| Id { part: Part::Task(task), again, ..job.id }).collect()
}
