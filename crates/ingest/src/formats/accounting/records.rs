//! From the jobs of a log to the rows of the tables.

use resched_tables::cause;
use resched_tables::host_list::fold;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Outcome, TaskRecord, TaskRow};
use resched_tables::named::as_text;
use resched_tables::placed;
use resched_tables::sink::Sink;

use super::job::{Job, System, Try};
use super::join::Asked;
use super::machines::hosts_of;
use super::shape::Shape;

/// The resource that stands for GPUs.
const GPU: &str = "gres/gpu";

/// Makes the rows of jobs.
pub(crate) struct Records<'a> {
    /// The jobs that others wait for.
    pub(super) asked: &'a Asked,
    pub(super) system: &'a System,
}

impl Records<'_> {
    /// The jobs whose ends a job waits for, if all are known and can come. Otherwise they are counted and left out.
    fn depends_on(&self, job: &Job<'_>, sink: &mut dyn Sink) -> Vec<String> {
        let mut ids = Vec::new();
        for wait in job.details.waits_for.split(' ').filter(|wait| !wait.is_empty()) {
            let (id, must_succeed) = wait.strip_prefix('+').map_or((wait, false), |id| (id, true));
            let is_before = |(submit, _): &(Option<i64>, Outcome)| id != job.id && *submit <= job.submit;
            let Some((_, outcome)) = self.asked.find(id).filter(is_before) else {
                sink.skip(cause::DEPENDENCY_ON_UNKNOWN_JOB, 1);
                return Vec::new();
            };
            if must_succeed && !matches!(outcome, Outcome::Success | Outcome::Incomplete) {
                sink.skip(cause::DEPENDENCY_NEVER_SATISFIED, 1);
                return Vec::new();
            }
            ids.push(id.to_owned());
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The rows of a job. What is assumed or left out is counted.
    pub(super) fn of(&self, job: &Job<'_>, sink: &mut dyn Sink) -> JobRecord {
        let shape = job.details.shape.as_ref();
        sink.skip(cause::UNEVEN_JOB_ROUNDED_UP, u64::from(shape.is_some_and(|shape| shape.is_uneven)));
        if let Some(rule) = shape.and_then(|shape| shape.assumed) {
            sink.made("tasks.instances", rule.rule(), 1);
        }
        let row = self.job(job, self.depends_on(job, sink));
        let attempts = attempts(&row, job, shape);
        let gpus = shape.filter(|shape| shape.gpus > 0).map(|shape| (GPU, shape.gpus));
        let task = TaskRow {
            job_id: row.job_id.clone(),
            task_id: row.job_id.clone(),
            start: attempts.first().and_then(|attempt| attempt.start),
            finish: attempts.last().and_then(|attempt| attempt.finish),
            outcome: row.outcome,
            cpu_request: shape.and_then(|shape| shape.cpu),
            memory_request: shape.and_then(|shape| shape.memory),
            instances: shape.map(|shape| shape.instances),
            gang: Some(true),
            resources: as_text(gpus),
            machines: shape.and_then(|shape| shape.machines),
            exclusive: shape.filter(|shape| shape.exclusive).map(|_| true),
            ..TaskRow::default()
        };
        JobRecord { job: row, tasks: vec![TaskRecord { task, splits: Vec::new(), attempts }], counters: Vec::new() }
    }

    fn job(&self, job: &Job<'_>, depends_on: Vec<String>) -> JobRow {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let details = &job.details;
        let shape = details.shape.as_ref();
        let launch = job.tries.iter().find_map(|one| one.start);
        JobRow {
            job_id: if job.again > 0 { format!("{}~{}", job.id, job.again) } else { job.id.to_owned() },
            name: text(details.name),
            user: text(details.user),
            queue: text(details.queue),
            priority_number: details.priority,
            group: text(details.account),
            framework: Some(self.system.framework.to_owned()),
            submit: job.submit,
            launch,
            finish: job.end,
            outcome: job.outcome,
            requested_containers: shape.map(|shape| shape.instances),
            requested_cpu: shape.and_then(|shape| shape.cpu),
            requested_memory: shape.and_then(|shape| shape.memory),
            requested_time: details.limit.filter(|&limit| limit > 0),
            depends_on,
            eligible: job.eligible.filter(|&at| job.submit.is_some_and(|submit| submit < at)),
            qos: text(details.qos),
            reservation: text(details.reservation),
            features: text(details.features),
            ..JobRow::default()
        }
    }
}

fn attempts(row: &JobRow, job: &Job<'_>, shape: Option<&Shape>) -> Vec<AttemptRow> {
    let mut before = None;
    let mut attempts = Vec::new();
    for (number, one) in job.tries.iter().enumerate() {
        let (host, hosts) = hosts(one, shape);
        let end = one.end.or_else(|| one.start?.checked_add(one.run?));
        attempts.push(AttemptRow {
            job_id: row.job_id.clone(),
            task_id: row.job_id.clone(),
            attempt: number as i64,
            queued: one.eligible.or(job.submit).max(job.submit).max(before),
            start: one.start,
            finish: end.filter(|_| one.start.is_some()),
            run_time: one.run.filter(|_| one.start.is_none()),
            outcome: one.stage.outcome(),
            host,
            hosts,
            cpu_ms: one.cpu_ms,
            physical_memory: one.used_memory,
            ..AttemptRow::default()
        });
        before = end;
    }
    attempts
}

/// The host of a try, or its hosts as one text, each with its instances if the processors on each are so many of them.
fn hosts(one: &Try<'_>, shape: Option<&Shape>) -> (Option<String>, Option<String>) {
    let hosts = hosts_of(one.hosts).unwrap_or_default();
    if let [(host, _)] = hosts.as_slice() {
        return (Some(host.clone()), None);
    }
    if hosts.is_empty() || hosts.len() > placed::MOST {
        return (None, None);
    }
    let each = shape.and_then(|shape| u32::try_from(shape.cpu? / 1_000).ok()).filter(|&each| each > 0);
    let instances = |cpus: u32| each.filter(|each| cpus > 0 && cpus.is_multiple_of(*each)).map(|each| cpus / each);
    let placed: Option<Vec<(&str, u32)>> =
        hosts.iter().map(|(host, cpus)| Some((host.as_str(), instances(*cpus)?))).collect();
    let text = match placed {
        Some(placed) => placed::as_text(placed),
        None => fold(hosts.iter().map(|(host, _)| host.as_str())),
    };
    (None, Some(text))
}
