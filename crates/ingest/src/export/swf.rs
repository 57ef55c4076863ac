//! The Standard Workload Format, one line per job: the inverse of [`crate::formats::swf`].
//!
//! Names of users, groups, programs and queues that are not numbers are numbered by their first appearance, and so are
//! such job ids. The header lists the names. Times since the epoch become seconds since the first submission, which the
//! header holds as `UnixStartTime`. A wait that the trace does not give is −1. A job of several tasks becomes one job. From its launch to its end, it holds as
//! many processors as its attempts held at once at most. It is counted as `job-of-several-tasks`. An attempt of a replay holds the
//! processors that the replay held for it, rounded up; any other holds one for each instance of its task, or under Slurm the CPUs of each. The tables do not
//! hold think times. A log that had fields after the 18th gets them again: see [`Further`].

use std::collections::{BTreeMap, BTreeSet};

use super::held::{Held, PROCESSOR, asked, decimal, is_own, is_work, whole_processors};
use super::{Output, Target, Write};
use crate::formats::swf::{FRAMEWORK, FURTHER_FIELDS, GPU, Meaning, UNIX_START_TIME};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, CounterRow, JobRecord, JobRow, NodeChange, Outcome, TaskKind, TaskRecord};
use resched_tables::named;
use resched_tables::records::Source;
use resched_tables::store::TimeZero;

/// The workload.
pub(super) const TARGET: Target = Target { name: "swf", title: "Standard Workload Format", write: Write::File(write) };

fn write(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let names = Names::of(source)?;
    header(source, &names, output)?;
    for record in source.records()? {
        let mut record = record?;
        output.counted(cause::APPLICATION_MASTER, !record.tasks.iter().all(is_work));
        record.tasks.retain(is_work);
        let line = names.line(&record, output);
        output.bytes(line.as_bytes())?;
        output.exported.written += 1;
    }
    Ok(())
}

fn header(source: &Source, names: &Names, output: &mut Output<'_>) -> Result<(), Error> {
    let mut text = format!("; Version: 2.2\n; Conversion: resched {}\n", env!("CARGO_PKG_VERSION"));
    text += &format!("; MaxJobs: {0}\n; MaxRecords: {0}\n", names.jobs);
    if let Some(seconds) = names.unix_start {
        text += &format!("; UnixStartTime: {seconds}\n");
    }
    if let Some((nodes, processors)) = machines(source, output)? {
        text += &format!("; MaxNodes: {nodes}\n; MaxProcs: {processors}\n");
    }
    if let Some(queues) = &names.queues.numbers {
        text += &listed(queues, "Queue:");
    }
    text += &names.further.header();
    for (numbering, what) in
        [(&names.users, "user"), (&names.groups, "group"), (&names.programs, "executable"), (&names.ids, "job")]
    {
        if let Some(numbers) = &numbering.numbers {
            text += &listed(numbers, &format!("Note: {what}"));
        }
    }
    output.bytes(text.as_bytes())
}

/// The number of machines, and the most processors that they had. `None` if a size is unknown: a machine of unknown
/// size would be read as one with one processor.
fn machines(source: &Source, output: &mut Output<'_>) -> Result<Option<(u64, i64)>, Error> {
    if let Some(machines) = source.machines_of_run() {
        return Ok(Some(machines));
    }
    let mut hosts: BTreeMap<String, Option<i64>> = BTreeMap::new();
    for row in source.nodes()? {
        output.lost("nodes.event", row.event != NodeChange::Add);
        output.lost("nodes.memory", row.memory.is_some());
        output.lost("nodes.slots", row.map_slots.or(row.reduce_slots).is_some());
        let most = hosts.entry(row.host).or_default();
        *most = (*most).max(row.cpu);
    }
    let unknown = hosts.values().filter(|cpu| cpu.is_none()).count();
    for _ in 0..unknown {
        output.lost("nodes.cpu", true);
    }
    let cpu = hosts.values().copied().flatten().fold(0, i64::saturating_add);
    Ok((unknown == 0 && !hosts.is_empty()).then_some((hosts.len() as u64, cpu / PROCESSOR)))
}

/// Names in the order of their numbers, one line each.
fn listed(numbers: &BTreeMap<String, u64>, what: &str) -> String {
    let mut names: Vec<(&u64, &String)> = numbers.iter().map(|(name, number)| (number, name)).collect();
    names.sort_unstable();
    names.iter().map(|(number, name)| format!("; {what} {number} {}\n", name.replace(['\n', '\r'], " "))).collect()
}

/// The numbers for names: the names themselves if all are numbers.
#[derive(Default)]
struct Numbering {
    numbers: Option<BTreeMap<String, u64>>,
}

impl Numbering {
    fn of(names: &[String]) -> Self {
        if names.iter().all(|name| is_number(name)) {
            return Self::default();
        }
        let mut numbers = BTreeMap::new();
        for name in names {
            let next = numbers.len() as u64 + 1;
            numbers.entry(name.clone()).or_insert(next);
        }
        Self { numbers: Some(numbers) }
    }

    /// The number for a name; −1 for none.
    fn number(&self, name: Option<&String>) -> String {
        let number = name.and_then(|name| match &self.numbers {
            None => Some(name.clone()).filter(|name| is_number(name)),
            Some(numbers) => numbers.get(name).map(u64::to_string),
        });
        number.unwrap_or_else(|| "-1".to_owned())
    }
}

/// True if a name stands for itself: a number as the format reads and writes it.
fn is_number(name: &str) -> bool {
    name.parse().is_ok_and(|number: u32| number.to_string() == name)
}

/// Facts about all jobs that are needed before the first is written.
struct Names {
    ids: Numbering,
    users: Numbering,
    groups: Numbering,
    programs: Numbering,
    queues: Numbering,
    jobs: u64,
    /// The zero of the times, seconds since the epoch.
    unix_start: Option<i64>,
    /// What is subtracted from times, ms.
    zero: i64,
    /// True if the waits took place: those of a trace whose times a rule made did not.
    has_waits: bool,
    further: Further,
}

impl Names {
    fn of(source: &Source) -> Result<Self, Error> {
        let mut found: [Seen; 5] = Default::default();
        let (mut jobs, mut first) = (0, None);
        for row in source.jobs()? {
            let row = row?;
            jobs += 1;
            first = [first, row.submit].into_iter().flatten().min();
            let [ids, users, groups, programs, queues] = &mut found;
            ids.see(Some(&row.job_id));
            users.see(row.user.as_ref());
            groups.see(row.group.as_ref());
            programs.see(row.name.as_ref());
            queues.see(row.queue.as_ref());
        }
        let reported = source.manifest().and_then(|manifest| manifest.parameters.get(UNIX_START_TIME)?.as_i64());
        let (unix_start, zero) = match source.time_zero() {
            TimeZero::Epoch => {
                let start = first.map(|ms| ms.div_euclid(1_000));
                (start, start.unwrap_or(0).saturating_mul(1_000))
            }
            TimeZero::Relative => (reported, 0),
        };
        let [ids, users, groups, programs, queues] = found.map(|seen| Numbering::of(&seen.names));
        let has_waits = source.manifest().is_none_or(|manifest| manifest.made_whole("attempts.start").is_none());
        let further = Further::of(source);
        Ok(Self { ids, users, groups, programs, queues, jobs, unix_start, zero, has_waits, further })
    }

    fn line(&self, record: &JobRecord, output: &mut Output<'_>) -> String {
        let row = &record.job;
        note_losses(record, &self.further, output);
        let seconds = |ms: Option<i64>| ms.map_or_else(|| "-1".to_owned(), |ms| decimal(ms, 1_000.0));
        let between =
            |from: Option<i64>, to: Option<i64>| seconds(from.zip(to).and_then(|(from, to)| to.checked_sub(from)));
        let held = Held::of(record);
        output
            .counted(cause::NEGATIVE_TIME, row.submit.zip(row.launch).is_some_and(|(submit, launch)| launch < submit));
        let submit = row.submit.and_then(|submit| submit.checked_sub(self.zero));
        // A job that never ran left the queue when it ended.
        let left_queue = row.launch.or(row.finish);
        let depends_on = row.depends_on.first();
        let known = depends_on.filter(|id| self.ids.numbers.as_ref().is_none_or(|ids| ids.contains_key(*id)));
        output.lost("jobs.depends_on", row.depends_on.len() > 1 || known.is_none() && depends_on.is_some());
        let count = |count: Option<i64>| count.map_or_else(|| "-1".to_owned(), |count| count.to_string());
        let kilobytes = |bytes: Option<i64>| bytes.map_or_else(|| "-1".to_owned(), |bytes| decimal(bytes, 1_024.0));
        [
            self.ids.number(Some(&row.job_id)),
            seconds(submit),
            left_queue
                .filter(|_| self.has_waits)
                .map_or_else(|| "-1".to_owned(), |left| between(row.submit, Some(left))),
            row.launch.and(row.finish).map_or_else(|| seconds(held.run_time), |_| between(row.launch, row.finish)),
            count(held.processors),
            seconds(held.cpu_ms),
            kilobytes(held.memory),
            count(asked(row)),
            seconds(row.requested_time),
            kilobytes(row.requested_memory),
            status(row.outcome).to_owned(),
            self.users.number(row.user.as_ref()),
            self.groups.number(row.group.as_ref()),
            self.programs.number(row.name.as_ref()),
            self.queues.number(row.queue.as_ref()),
            "-1".to_owned(),
            self.ids.number(known),
            "-1".to_owned(),
        ]
        .join(" ")
            + &self.further.line(record)
            + "\n"
    }
}

/// The fields after the 18th, for a log that had some: those that it named, and its counters under the names of others.
#[derive(Default)]
struct Further {
    /// The names of the fields from the 19th on, with what each holds.
    fields: Vec<(String, Meaning)>,
}

impl Further {
    fn of(source: &Source) -> Self {
        let names = source.manifest().and_then(|manifest| manifest.parameters.get(FURTHER_FIELDS)?.as_array());
        let names = names.into_iter().flatten().filter_map(|name| name.as_str());
        Self { fields: names.map(|name| (name.replace(['\n', '\r'], " "), Meaning::of(name))).collect() }
    }

    /// True if a field holds this.
    fn has(&self, meaning: Meaning) -> bool {
        self.fields.iter().any(|(_, known)| *known == meaning)
    }

    /// A comment for each field.
    fn header(&self) -> String {
        let numbered = (19..).zip(&self.fields);
        numbered.map(|(number, (name, _))| format!("; Field {number}: {name}\n")).collect()
    }

    /// What a job has in these fields, each behind a blank.
    fn line(&self, record: &JobRecord) -> String {
        let value = |(name, meaning): &(String, Meaning)| match meaning {
            Meaning::Gpus => gpus(record).to_string(),
            Meaning::Properties => properties(record),
            Meaning::SoftTime | Meaning::Other => {
                let is_it = |counter: &&CounterRow| counter.group == FRAMEWORK && counter.name == *name;
                record.counters.iter().find(is_it).map_or_else(|| "-1".to_owned(), |counter| counter.value.to_string())
            }
        };
        self.fields.iter().map(|field| format!(" {}", value(field))).collect()
    }
}

/// The GPUs of all instances of a job.
fn gpus(record: &JobRecord) -> u64 {
    let of_task = |task: &TaskRecord| {
        let each = named::amounts(task.task.resources.as_deref().unwrap_or_default()).find(|(name, _)| *name == GPU);
        let instances = task.task.instances.and_then(|instances| u64::try_from(instances).ok()).unwrap_or(1);
        each.map_or(0, |(_, each)| each.saturating_mul(instances))
    };
    record.tasks.iter().map(of_task).fold(0, u64::saturating_add)
}

/// What the machines of a job must be: `all:excl:2x4`.
fn properties(record: &JobRecord) -> String {
    let mut text = record.job.features.clone().unwrap_or_else(|| "all".to_owned());
    let Some(TaskRecord { task, .. }) = record.tasks.first() else { return text };
    if task.exclusive == Some(true) {
        text += ":excl";
    }
    if let (Some(machines), Some(cpu)) = (task.machines, task.cpu_request) {
        text += &format!(":{machines}x{}", cpu / PROCESSOR);
    }
    text
}

/// Names in the order of their first appearance.
#[derive(Default)]
struct Seen {
    known: BTreeSet<String>,
    names: Vec<String>,
}

impl Seen {
    fn see(&mut self, name: Option<&String>) {
        if let Some(name) = name.filter(|name| !self.known.contains(*name)) {
            self.known.insert(name.clone());
            self.names.push(name.clone());
        }
    }
}

fn note_losses(record: &JobRecord, further: &Further, output: &mut Output<'_>) {
    let row: &JobRow = &record.job;
    let [has_gpus, has_properties] = [Meaning::Gpus, Meaning::Properties].map(|meaning| further.has(meaning));
    output.counted(cause::JOB_OF_SEVERAL_TASKS, record.tasks.len() > 1);
    output.lost("jobs.framework", !is_own(row) && row.framework.is_some());
    output.lost("jobs.priority", row.priority.is_some() || row.priority_number.is_some());
    output.lost("jobs.scheduling_class", row.scheduling_class.is_some());
    output.lost("jobs.eligible", row.eligible.is_some());
    output.lost("jobs.array", row.array.is_some());
    output.lost("jobs.array_limit", row.array_limit.is_some());
    output.lost("jobs.together", row.together.is_some());
    output.lost("jobs.nice", row.nice.is_some());
    output.lost("jobs.qos", row.qos.is_some());
    output.lost("jobs.reservation", row.reservation.is_some());
    output.lost("jobs.features", row.features.is_some() && !has_properties);
    output.lost("jobs.licenses", row.licenses.is_some());
    output.lost("jobs.input_bytes", row.input_bytes.is_some());
    output.lost("jobs.shuffle_bytes", row.shuffle_bytes.is_some());
    output.lost("jobs.output_bytes", row.output_bytes.is_some());
    output.lost("jobs.outcome", matches!(row.outcome, Outcome::Incomplete | Outcome::Lost | Outcome::Evicted));
    for task in &record.tasks {
        output.lost("tasks.kind", task.task.kind != TaskKind::Other);
        output.lost("tasks.stage", task.task.stage.is_some());
        let is_held = |cpu| cpu == PROCESSOR || whole_processors(row, Some(cpu)).is_some();
        output.lost("tasks.cpu_request", task.task.cpu_request.is_some_and(|cpu| !is_held(cpu)));
        output.lost("tasks.resources", task.task.resources.is_some() && !has_gpus);
        output.lost("tasks.machines", task.task.machines.is_some() && !has_properties);
        output.lost("tasks.exclusive", task.task.exclusive.is_some() && !has_properties);
        output.lost("tasks.memory_request", task.task.memory_request != row.requested_memory && !is_own(row));
        output.lost("splits.host", !task.splits.is_empty());
        let in_parts = |attempt: &AttemptRow| attempt.cpu_request.is_some_and(|cpu| cpu % PROCESSOR != 0);
        output.lost("attempts.cpu_request", task.attempts.iter().any(in_parts));
        output.lost("attempts.memory_request", task.attempts.iter().any(|attempt| attempt.memory_request.is_some()));
        output.lost(
            "attempts.run_time",
            record.tasks.len() > 1 && task.attempts.iter().any(|attempt| attempt.run_time.is_some()),
        );
        output.lost("attempts.host", task.attempts.iter().any(|attempt| attempt.host.is_some()));
        output.lost("attempts.error", task.attempts.iter().any(|attempt| attempt.error.is_some()));
    }
    let is_written = |name: &String| further.fields.iter().any(|(field, _)| field == name);
    let lost = record.counters.iter().filter(|counter| counter.group != FRAMEWORK || !is_written(&counter.name));
    output.lost("counters.value", lost.count() > 0);
}

fn status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "1",
        Outcome::Failed | Outcome::Lost => "0",
        Outcome::Killed | Outcome::Evicted => "5",
        Outcome::Incomplete | Outcome::Unknown => "-1",
    }
}
