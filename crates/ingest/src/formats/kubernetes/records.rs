//! From the lives of Workloads and pods to the rows of the tables, as `docs/formats/kueue-workloads.md` has them.

use std::collections::BTreeMap;

use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Ms, Outcome, TaskRecord, TaskRow};
use resched_tables::named;
use resched_tables::placed;
use resched_tables::sink::Sink;

use super::join::{Done, Places, Pods};
use super::pod::PodLife;
use super::seen::{PodSet, Shape};
use super::workload::{Life, Run};

/// What runs a Workload without an owner, in the jobs table.
const KUEUE: &str = "kueue";
/// Resources that have columns.
const CPU: &str = "cpu";
const MEMORY: &str = "memory";

/// The rows of a job. What is assumed or lost is counted.
pub(super) fn of(done: &Done, sink: &mut dyn Sink) -> JobRecord {
    match done {
        Done::Workload(life, places) => of_workload(life, places, sink),
        Done::Pods(pods) => of_pods(pods, sink),
    }
}

/// An id that several objects had: each later one has its number behind it.
fn numbered(id: String, again: u32) -> String {
    if again == 0 { id } else { format!("{id}~{}", again + 1) }
}

fn of_workload(life: &Life, places: &[Places], sink: &mut dyn Sink) -> JobRecord {
    count(life, sink);
    let id = numbered(format!("{}/{}", life.namespace, life.name), life.again);
    let launch = life.runs.first().and_then(|run| run.start).filter(|_| life.lost == 0);
    let owner = life.owner.as_ref();
    let job = JobRow {
        job_id: id.clone(),
        name: Some(owner.map_or(&life.name, |owner| &owner.name).clone()),
        user: life.user.clone(),
        queue: life.queue.as_ref().map(|queue| format!("{}/{queue}", life.namespace)),
        priority_number: life.priority,
        qos: life.class.clone(),
        framework: Some(owner.map_or_else(|| KUEUE.to_owned(), |owner| owner.kind.to_ascii_lowercase())),
        submit: life.created,
        launch,
        finish: life.end,
        outcome: life.outcome,
        wait_reason: life.waits.clone().filter(|why| !why.is_empty()),
        ..JobRow::default()
    };
    let unknown = PodSet::default();
    let sets = if life.sets.is_empty() { std::slice::from_ref(&unknown) } else { &life.sets };
    let tasks = sets.iter().map(|set| task_of_set((&id, life), set, places)).collect();
    JobRecord { job, tasks, counters: Vec::new() }
}

/// Counts what had to be assumed of a Workload, and what is lost.
fn count(life: &Life, sink: &mut dyn Sink) {
    let oddities = life.oddities;
    sink.skip(cause::EARLIER_ADMISSION_LOST, life.lost);
    sink.skip(cause::ADMISSION_FROM_RUN_TIME, oddities.starts_from_run);
    sink.skip(cause::EVICTION_AT_REQUEUE, oddities.ends_by_requeue);
    sink.skip(cause::IMPOSSIBLE_REQUEUE, oddities.impossible_requeue);
    sink.skip(cause::WORKLOAD_WITHOUT_POD_SETS, u64::from(life.sets.is_empty()));
    let unread = life.sets.iter().any(|set| set.shape.has_unread);
    sink.skip(cause::PLACEMENT_REQUEST_NOT_READ, u64::from(unread));
    let is_early = life.runs.iter().any(|run| run.start.is_some() && run.start < life.created);
    sink.skip(cause::START_BEFORE_SUBMISSION, u64::from(is_early));
}

fn task_of_set((id, life): (&str, &Life), set: &PodSet, places: &[Places]) -> TaskRecord {
    let is_known = !life.sets.is_empty();
    let task_id = if is_known { format!("{id}/{}", set.name) } else { id.to_owned() };
    let attempt = |(number, run): (usize, &Run)| {
        let hosts = places.get(number).and_then(|places| places.get(&set.name));
        let (host, hosts) = hosts.map_or((None, None), |hosts| hosts_of(hosts));
        AttemptRow {
            job_id: id.to_owned(),
            task_id: task_id.clone(),
            attempt: number as i64,
            queued: run.queued,
            start: run.start,
            finish: run.end.filter(|_| run.start.is_some()),
            run_time: run.ran.filter(|_| run.start.is_none()),
            outcome: run.outcome,
            host,
            error: run.why.clone(),
            flavors: run.flavors.get(&set.name).cloned().filter(|flavors| !flavors.is_empty()),
            hosts,
            ..AttemptRow::default()
        }
    };
    let attempts: Vec<AttemptRow> = life.runs.iter().enumerate().map(attempt).collect();
    let task = TaskRow {
        job_id: id.to_owned(),
        task_id: task_id.clone(),
        stage: is_known.then(|| set.name.clone()),
        start: attempts.first().and_then(|attempt| attempt.start),
        finish: life.end.and(attempts.last().and_then(|attempt| attempt.finish)),
        outcome: life.outcome,
        instances: is_known.then_some(set.count),
        gang: Some(true),
        ..TaskRow::default()
    };
    let task = if is_known { with_shape(task, &set.shape) } else { task };
    TaskRecord { task, splits: Vec::new(), attempts }
}

/// A task with what each of its pods asks for.
fn with_shape(task: TaskRow, shape: &Shape) -> TaskRow {
    let amount = |name: &str| Some(shape.asked.get(name).copied().unwrap_or(0));
    let others = shape.asked.iter().filter(|(name, _)| *name != CPU && *name != MEMORY);
    TaskRow {
        cpu_request: amount(CPU),
        memory_request: amount(MEMORY),
        resources: named::as_text(others.map(|(name, n)| (name.as_str(), n.unsigned_abs()))),
        node_selector: shape.node_selector.clone(),
        tolerations: shape.tolerations.clone(),
        affinity: shape.affinity.clone(),
        ..task
    }
}

/// The host of a run, or its hosts as one text. Too many are none.
fn hosts_of(hosts: &[(String, u32)]) -> (Option<String>, Option<String>) {
    match hosts {
        [(host, _)] => (Some(host.clone()), None),
        hosts if hosts.len() > placed::MOST => (None, None),
        hosts => (None, Some(placed::as_text(hosts.iter().map(|(host, pods)| (host.as_str(), *pods))))),
    }
}

fn of_pods(pods: &Pods, sink: &mut dyn Sink) -> JobRecord {
    let kind = pods.kind.to_ascii_lowercase();
    let id = numbered(format!("{}/{}/{}", pods.namespace, pods.kind, pods.name), pods.again);
    if let Some(life) = &pods.job {
        let is_queued = life.job.queue.is_some();
        sink.skip(cause::JOB_WITHOUT_WORKLOAD, u64::from(is_queued));
        sink.skip(cause::JOB_WITHOUT_QUEUE, u64::from(!is_queued && life.job.has_labels));
    }
    let unread = pods.pods.iter().any(|pod| pod.shape.has_unread);
    sink.skip(cause::PLACEMENT_REQUEST_NOT_READ, u64::from(unread));
    let tasks =
        if pods.pods.is_empty() { task_of_job(&id, pods).into_iter().collect() } else { tasks_of_pods(&id, pods) };
    let job = pods.job.as_ref();
    let queue = job.and_then(|job| job.job.queue.as_ref()).map(|queue| format!("{}/{queue}", pods.namespace));
    let row = JobRow {
        job_id: id.clone(),
        name: Some(pods.name.clone()),
        user: job.and_then(|job| job.user.clone()).or_else(|| pods.pods.iter().find_map(|pod| pod.user.clone())),
        queue,
        group: Some(pods.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        priority_number: pods.pods.iter().filter_map(|pod| pod.priority).max(),
        framework: Some(kind),
        submit: pods.submit(),
        launch: first_start(&tasks),
        finish: pods.end(),
        outcome: pods.outcome(),
        wait_reason: pods.pods.iter().find_map(|pod| pod.waits.clone()),
        ..JobRow::default()
    };
    JobRecord { job: row, tasks, counters: Vec::new() }
}

fn first_start(tasks: &[TaskRecord]) -> Option<Ms> {
    tasks.iter().flat_map(|task| &task.attempts).filter_map(|attempt| attempt.start).min()
}

/// A task for each pod. Pods with one place in their Job, or with one name, are tries at one task.
fn tasks_of_pods(id: &str, pods: &Pods) -> Vec<TaskRecord> {
    let mut tries: BTreeMap<(Option<u64>, &str), Vec<&PodLife>> = BTreeMap::new();
    for pod in &pods.pods {
        let key = match &pod.index {
            Some(index) => (index.parse().ok(), index.as_str()),
            None => (None, pod.name.as_str()),
        };
        tries.entry(key).or_default().push(pod);
    }
    let task =
        |((_, name), tries): ((Option<u64>, &str), Vec<&PodLife>)| task_of_pods((id, format!("{id}/{name}")), &tries);
    tries.into_iter().map(task).collect()
}

fn task_of_pods((id, task_id): (&str, String), pods: &[&PodLife]) -> TaskRecord {
    let attempt = |(number, pod): (usize, &&PodLife)| AttemptRow {
        job_id: id.to_owned(),
        task_id: task_id.clone(),
        attempt: number as i64,
        queued: pod.created,
        start: pod.scheduled,
        finish: pod.end.filter(|_| pod.scheduled.is_some()),
        outcome: pod.outcome,
        host: pod.node.clone(),
        error: pod.why.clone(),
        ..AttemptRow::default()
    };
    let ran = pods.iter().filter(|pod| pod.scheduled.is_some() || pod.end.is_some());
    let attempts: Vec<AttemptRow> = ran.enumerate().map(attempt).collect();
    let last = pods.last().copied();
    let task = TaskRow {
        job_id: id.to_owned(),
        task_id: task_id.clone(),
        start: attempts.first().and_then(|attempt| attempt.start),
        finish: attempts.last().and_then(|attempt| attempt.finish),
        outcome: last.map(|pod| pod.outcome).unwrap_or_default(),
        ..TaskRow::default()
    };
    let task = match last {
        Some(pod) => with_shape(task, &pod.shape),
        None => task,
    };
    TaskRecord { task, splits: Vec::new(), attempts }
}

/// The pods of a Job of which none is left, as one task.
fn task_of_job(id: &str, pods: &Pods) -> Option<TaskRecord> {
    let life = pods.job.as_ref()?;
    let (job, outcome) = (&life.job, pods.outcome());
    let task_id = format!("{id}/pods");
    let attempt = job.start.map(|start| AttemptRow {
        job_id: id.to_owned(),
        task_id: task_id.clone(),
        queued: life.created,
        start: Some(start),
        finish: pods.end(),
        outcome,
        ..AttemptRow::default()
    });
    let task = TaskRow {
        job_id: id.to_owned(),
        task_id,
        start: job.start,
        finish: pods.end(),
        outcome,
        instances: job.pods,
        gang: Some(false),
        ..TaskRow::default()
    };
    Some(TaskRecord { task: with_shape(task, &job.shape), splits: Vec::new(), attempts: attempt.into_iter().collect() })
}

/// Whether a run ended by an eviction and nobody saw its pods.
pub(super) fn evicted_unseen(life: &Life, places: &[Places]) -> u64 {
    let unseen = |(number, run): (usize, &Run)| {
        run.outcome == Outcome::Evicted && places.get(number).is_none_or(BTreeMap::is_empty)
    };
    life.runs.iter().enumerate().filter(|one| unseen(*one)).count() as u64
}
