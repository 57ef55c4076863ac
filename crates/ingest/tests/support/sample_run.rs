//! A crude run of a workload, so that a bundled sample history looks like what a cluster logged.
//!
//! This is not a simulator. Jobs are served strictly in order of submission. Each task takes the free slot whose
//! heartbeat comes first. Of a job's tasks, the one nearest to its input is taken. Nothing contends and no machine is
//! lost. Use the engine for a replay.

use rand::RngExt;

use resched_tables::Error;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{AttemptRow, JobRecord, Locality, Outcome, TaskKind, TaskRecord};
use resched_tables::names::{host_name, rack_name, rack_of};
use resched_tables::sink::Collected;
use resched_workload::{Cluster, History, Workload, generate};

/// From submission to launch, while the JobTracker reads the job's splits, ms.
const INITIALISATION_MS: i64 = 1_000;
/// Reduces start when one map of this many is over (`docs/model/phases.md`: 5 %).
const SLOW_START: usize = 20;
/// From this attempt on all succeed, so that no task fails for good (Hadoop gives up after 4 failures).
const LAST_ATTEMPT: i64 = 2;
/// The error of a failed attempt.
const ERROR: &str = "java.io.IOException: Task process exit with nonzero status of 1.\n\
                     \tat org.apache.hadoop.mapred.TaskRunner.run(TaskRunner.java:418)\n";

/// The jobs of `workload` as a cluster of its size might have logged them, in order of submission; times are ms since
/// the epoch. All chance comes from the seed in the workload's `[history]`.
///
/// # Errors
/// [`Error::Request`] if the workload has no `[history]` or its cluster no slots for its tasks.
pub(crate) fn sample_run(workload: &Workload) -> Result<Vec<JobRecord>, Error> {
    let history = workload.history.as_ref().ok_or_else(|| {
        Error::Request(format!("workload {}: expected a table [history], found none; add it", workload.name))
    })?;
    let mut collected = Collected::default();
    generate(workload, history.seed, &mut collected)?;
    let cluster = workload.cluster();
    let machines: Vec<Machine> = (0..cluster.nodes).map(|node| Machine::new(node, cluster, history)).collect();
    let mut map_slots = slots(&machines, cluster.map_slots);
    let mut reduce_slots = slots(&machines, cluster.reduce_slots);
    for (ordinal, record) in (0..).zip(&mut collected.jobs) {
        run_job(record, history, ordinal, &mut map_slots, &mut reduce_slots)?;
    }
    Ok(collected.jobs)
}

/// A machine and its heartbeats.
struct Machine {
    host: String,
    rack: String,
    /// The time between two heartbeats, ms.
    period: i64,
    /// When it beats within its period, ms.
    phase: i64,
}

impl Machine {
    fn new(node: u32, cluster: &Cluster, history: &History) -> Self {
        let period = i64::from(history.heartbeat_ms.get());
        Self {
            host: host_name(node),
            rack: rack_name(rack_of(node, cluster.nodes, cluster.racks)),
            period,
            phase: stream(history.seed, Purpose::HeartbeatPhase, &[node.into()]).random_range(0..period),
        }
    }

    /// Its first heartbeat at `time` or after it.
    fn heartbeat(&self, time: i64) -> i64 {
        let since = time.saturating_sub(self.phase).rem_euclid(self.period);
        if since == 0 { time } else { time.saturating_add(self.period - since) }
    }

    /// How near it is to the input of `task`; `None` if the place of the input is unknown.
    fn locality(&self, task: &TaskRecord) -> Option<Locality> {
        let is = |place: &Option<String>, here: &str| place.as_deref() == Some(here);
        if task.splits.is_empty() {
            None
        } else if task.splits.iter().any(|split| is(&split.host, &self.host)) {
            Some(Locality::Node)
        } else if task.splits.iter().any(|split| is(&split.rack, &self.rack)) {
            Some(Locality::Rack)
        } else {
            Some(Locality::Off)
        }
    }
}

/// A slot of a machine; `free` is the heartbeat that reported it free, ms.
struct Slot<'a> {
    machine: &'a Machine,
    free: i64,
}

fn slots(machines: &[Machine], per_machine: u32) -> Vec<Slot<'_>> {
    let each = |machine| (0..per_machine).map(move |_| Slot { machine, free: 0 });
    machines.iter().flat_map(each).collect()
}

/// Runs the job of number `ordinal`: gives it and its attempts the times and places that were logged.
fn run_job(
    record: &mut JobRecord,
    history: &History,
    ordinal: u64,
    map_slots: &mut [Slot<'_>],
    reduce_slots: &mut [Slot<'_>],
) -> Result<(), Error> {
    let launch = record.job.submit.unwrap_or(0).saturating_add(INITIALISATION_MS);
    let tasks = std::mem::take(&mut record.tasks);
    let (mut maps, mut reduces): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| task.task.kind == TaskKind::Map);

    let map_ends = Stage { history, ordinal, ready: launch, input_whole: launch }.run(&mut maps, map_slots)?;
    let last_map = map_ends.last().copied().unwrap_or(launch);
    let slow_start = map_ends.len().div_ceil(SLOW_START).saturating_sub(1);
    let ready = map_ends.get(slow_start).copied().unwrap_or(launch);
    let reduce_ends = Stage { history, ordinal, ready, input_whole: last_map }.run(&mut reduces, reduce_slots)?;

    record.job.launch = Some(launch);
    record.job.finish = Some(reduce_ends.last().copied().unwrap_or(last_map).max(last_map));
    record.tasks = maps;
    record.tasks.append(&mut reduces);
    shift(record, history.start_ms);
    Ok(())
}

/// The maps or the reduces of a job.
struct Stage<'a> {
    history: &'a History,
    ordinal: u64,
    /// The earliest start of a task, ms.
    ready: i64,
    /// The earliest time at which a reduce has all its input, ms.
    input_whole: i64,
}

/// A task that waits for its next attempt.
struct Waiting<'a> {
    task: &'a mut TaskRecord,
    /// The attempt that the generator made for it, which runs through on a machine with its input.
    made: AttemptRow,
    /// The time since which it waits, ms.
    since: i64,
    index: u64,
}

impl Stage<'_> {
    /// Runs the tasks. Returns the instants at which the JobTracker learnt of their success, in order.
    fn run(&self, tasks: &mut [TaskRecord], slots: &mut [Slot<'_>]) -> Result<Vec<i64>, Error> {
        let wait = |(index, task): (u64, _)| {
            let task: &mut TaskRecord = task;
            Waiting { made: task.attempts.pop().unwrap_or_default(), task, since: self.ready, index }
        };
        let mut waiting: Vec<Waiting<'_>> = (0..).zip(tasks).map(wait).collect();
        let mut ends = Vec::with_capacity(waiting.len());
        while let Some(since) = waiting.iter().map(|task| task.since).min() {
            let offers = slots.iter_mut().map(|slot| (slot.machine.heartbeat(slot.free.max(since)), slot));
            let (now, slot) = offers.min_by_key(|(heartbeat, _)| *heartbeat).ok_or_else(|| {
                Error::Request(
                    "cluster: expected slots for the tasks, found none; set map_slots and reduce_slots".to_owned(),
                )
            })?;
            let ready = (0..).zip(&waiting).filter(|(_, task)| task.since <= now);
            let Some((nearest, _)) = ready.min_by_key(|(_, waiting)| slot.machine.locality(waiting.task)) else {
                break;
            };
            let mut next = waiting.remove(nearest);
            let attempt = self.attempt(&next, slot.machine, now);
            slot.free = slot.machine.heartbeat(attempt.finish.unwrap_or(now));
            let succeeded = attempt.outcome == Outcome::Success;
            next.task.attempts.push(attempt);
            if succeeded {
                next.task.task.start = next.task.attempts.first().and_then(|first| first.start);
                next.task.task.finish = Some(slot.free);
                ends.push(slot.free);
            } else {
                next.since = slot.free;
                waiting.insert(0, next);
            }
        }
        ends.sort_unstable();
        Ok(ends)
    }

    /// The next attempt at a task, on that machine from `start` on.
    fn attempt(&self, waiting: &Waiting<'_>, machine: &Machine, start: i64) -> AttemptRow {
        let made = &waiting.made;
        let locality = machine.locality(waiting.task);
        let factor = match locality {
            None | Some(Locality::Node) => 1.0,
            Some(Locality::Rack) => self.history.rack_factor,
            Some(Locality::Off) => self.history.off_factor,
        };
        let fetched =
            made.shuffle_finish.map(|end| start.saturating_add(between(made.start, Some(end))).max(self.input_whole));
        let working = between(made.sort_finish.or(made.start), made.finish);
        let finish = fetched.unwrap_or(start).saturating_add((working as f64 * factor).round() as i64);
        let attempt = AttemptRow {
            attempt: i64::try_from(waiting.task.attempts.len()).unwrap_or(i64::MAX),
            start: Some(start),
            shuffle_finish: fetched,
            sort_finish: fetched,
            finish: Some(finish),
            host: Some(machine.host.clone()),
            rack: Some(machine.rack.clone()),
            locality,
            ..made.clone()
        };
        self.fate(attempt, waiting.index)
    }

    /// Lets the attempt fail or be killed by chance, somewhere on its way.
    fn fate(&self, attempt: AttemptRow, index: u64) -> AttemptRow {
        let number = attempt.attempt.unsigned_abs();
        let mut rng =
            stream(self.history.seed, Purpose::MadeUpAttempt, &[self.ordinal, attempt.kind as u64, index, number]);
        let chance: f64 = rng.random();
        let part: f64 = rng.random_range(0.1..0.9);
        let History { failed_share, killed_share, .. } = self.history;
        let outcome = if attempt.attempt >= LAST_ATTEMPT || chance >= failed_share + killed_share {
            Outcome::Success
        } else if chance < *failed_share {
            Outcome::Failed
        } else {
            Outcome::Killed
        };
        if outcome == Outcome::Success {
            return attempt;
        }
        let ran = (between(attempt.start, attempt.finish) as f64 * part).round() as i64;
        AttemptRow {
            job_id: attempt.job_id,
            task_id: attempt.task_id,
            kind: attempt.kind,
            attempt: attempt.attempt,
            start: attempt.start,
            finish: attempt.start.map(|start| start.saturating_add(ran)),
            outcome,
            host: attempt.host,
            rack: attempt.rack,
            locality: attempt.locality,
            error: (outcome == Outcome::Failed).then(|| ERROR.to_owned()),
            ..AttemptRow::default()
        }
    }
}

/// From `start` to `end`, ms; 0 if either is unknown.
fn between(start: Option<i64>, end: Option<i64>) -> i64 {
    start.zip(end).map_or(0, |(start, end)| end.saturating_sub(start))
}

/// Moves all times of a job from the workload's start to the epoch.
fn shift(record: &mut JobRecord, start_ms: i64) {
    let job = &mut record.job;
    let job_times = [&mut job.submit, &mut job.launch, &mut job.finish];
    let task_times = record.tasks.iter_mut().flat_map(|TaskRecord { task, attempts, .. }| {
        let attempt_times = attempts.iter_mut().flat_map(|attempt| {
            [&mut attempt.start, &mut attempt.shuffle_finish, &mut attempt.sort_finish, &mut attempt.finish]
        });
        [&mut task.start, &mut task.finish].into_iter().chain(attempt_times)
    });
    for time in job_times.into_iter().chain(task_times).flatten() {
        *time = time.saturating_add(start_ms);
    }
}
