//! Lists as JSON: `sacct --json`, slurmrestd's `slurmdb/…/jobs`, or the jobs of either alone (`jq -c '.jobs[]'`, `jq .jobs`). Of the data
//! parsers from 0.0.37 on; they differ in how they write numbers and that there is none.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::NO_LIMIT;
use resched_tables::named::as_text;
use resched_tables::sink::{Damage, Sink};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::format::ReadAs;
use super::super::json::{Objects, Piece, first_byte, next_byte, top_level_keys};
use super::super::lines::text_of;
use super::super::swf;
use super::id::{Id, Part};
use super::jobs::Jobs;
use super::row::{Row, Times, one_qos};
use super::state::Standing;
use super::submit_line::array_limit;
use super::times::Time;
use super::tres::{Tres, sort};
use super::values::{MEBIBYTE, Memory};

/// The most bytes of a job with its steps. Each step takes some 10 kB.
pub(crate) const MAX_OBJECT: usize = 64 << 20;

/// True if a file that starts so is a list of jobs that `sacct` or slurmrestd's accounting wrote. `squeue --json` lists `jobs`, too.
pub(super) fn sniff(head: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    let head = head.trim_ascii_start();
    if let Some(jobs) = head.strip_prefix(b"[") {
        return is_job(&top_level_keys(jobs));
    }
    let keys = top_level_keys(head);
    keys.contains(&"jobs") && has(b"\"allocation_nodes\"") || is_job(&keys)
}

/// True if these are keys of a job of the accounting, and not of one that waits or runs.
fn is_job(keys: &[&str]) -> bool {
    keys.contains(&"job_id") && keys.contains(&"allocation_nodes")
}

/// What the columns of the tables are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["job_id", "array", "het"]),
    ("jobs.name", &["name"]),
    ("jobs.user", &["user", "association"]),
    ("jobs.queue", &["partition"]),
    ("jobs.group", &["account", "association"]),
    ("jobs.qos", &["qos", "qosreq"]),
    ("jobs.reservation", &["reservation"]),
    ("jobs.features", &["constraints"]),
    ("jobs.priority_number", &["priority"]),
    ("jobs.submit", &["time.submission"]),
    ("jobs.eligible", &["time.eligible"]),
    ("jobs.launch", &["time.start"]),
    ("jobs.finish", &["time.end"]),
    ("jobs.outcome", &["state.current"]),
    ("jobs.wait_reason", &["state.reason"]),
    ("jobs.requested_time", &["time.limit"]),
    ("jobs.requested_containers", &["required.CPUs", "tres.requested"]),
    ("jobs.requested_cpu", &["required.CPUs", "tres.requested"]),
    ("jobs.requested_memory", &["tres.requested", "required.memory_per_cpu", "required.memory_per_node"]),
    ("jobs.licenses", &["tres.requested", "tres.allocated"]),
    ("jobs.depends_on", &["submit_line"]),
    ("jobs.nice", &["submit_line"]),
    ("jobs.array", &["array"]),
    ("jobs.array_limit", &["array"]),
    ("jobs.together", &["het"]),
    ("tasks.start", &["time.start"]),
    ("tasks.finish", &["time.end"]),
    ("tasks.outcome", &["state.current"]),
    ("tasks.instances", &["required.CPUs", "tres.requested", "allocation_nodes", "nodes", "submit_line"]),
    ("tasks.cpu_request", &["required.CPUs", "tres.requested"]),
    ("tasks.memory_request", &["tres.requested", "required.memory_per_cpu", "required.memory_per_node"]),
    ("tasks.resources", &["tres.requested", "tres.allocated", "submit_line"]),
    ("tasks.machines", &["allocation_nodes", "nodes", "submit_line"]),
    ("tasks.exclusive", &["nodes", "submit_line"]),
    ("attempts.queued", &["time.submission", "time.eligible"]),
    ("attempts.start", &["time.start"]),
    ("attempts.finish", &["time.end", "time.elapsed"]),
    ("attempts.run_time", &["time.elapsed"]),
    ("attempts.outcome", &["state.current"]),
    ("attempts.host", &["nodes"]),
    ("attempts.hosts", &["nodes"]),
    ("nodes.host", &["nodes"]),
    ("nodes.cpu", &["nodes", "tres.allocated"]),
];

/// Reads a list into `jobs`.
pub(super) fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink, jobs: &mut Jobs) -> Result<(), Error> {
    let failed = |error| Error::io(Path::new(path), "read")(error);
    let is_array = first_byte(input).map_err(failed)? == Some(b'[');
    match if is_array { Start::Jobs(Vec::new()) } else { find_jobs(input).map_err(failed)? } {
        Start::Nothing => Ok(()),
        Start::List(before) => {
            release(&before).into_iter().for_each(|release| jobs.note_version(&release));
            read_jobs(input, (path, true), sink, jobs)
        }
        Start::Jobs(before) => read_jobs(&mut before.as_slice().chain(input), (path, false), sink, jobs),
    }
}

/// Reads jobs one after the other, from the list of a document or without one.
fn read_jobs(
    input: &mut dyn BufRead,
    (path, in_list): (&str, bool),
    sink: &mut dyn Sink,
    jobs: &mut Jobs,
) -> Result<(), Error> {
    let mut objects = Objects::new(input, MAX_OBJECT);
    let (mut damaged, mut number) = (0, 0_u64);
    while let Some(piece) = objects.next().map_err(Error::io(Path::new(path), "read"))? {
        let Piece::Object { line, text } = piece else {
            damaged += 1;
            continue;
        };
        let text = text_of(text);
        number += 1;
        let job = serde_json::from_str::<Job<'_>>(&text);
        let row = job.as_ref().map_err(|error| ("", error.to_string())).and_then(|job| job.row());
        match (&job, row) {
            (Ok(job), Ok(row)) => {
                sink.skip(cause::STEP_OF_A_JOB, job.steps.len() as u64);
                sink.skip(cause::AMBIGUOUS_LIMIT, u64::from(job.has_ambiguous_limit(&row)));
                jobs.take(&row, sink)?;
            }
            (_, row) => {
                sink.skip(cause::DAMAGED_JOB, 1);
                let (key, found) = row.err().unwrap_or_default();
                let comma = if key.is_empty() { "" } else { ", " };
                let at =
                    if in_list { format!("job {number} of `jobs`") } else { format!("job {number} (line {line})") };
                let place = format!("{at}{comma}{key}: ");
                sink.damage(&|| Damage::new(&place, "a job as `sacct --json` writes it", &found, LIST_AGAIN));
            }
        }
    }
    if in_list {
        release(objects.skipped()).into_iter().for_each(|release| jobs.note_version(&release));
    }
    for (column, names) in READS {
        names.iter().for_each(|name| sink.filled_from(column, name));
    }
    if number == 0 {
        sink.damage(&|| Damage::new("`jobs`: ", "jobs of `sacct --json`", "an empty list", OTHER_PERIOD));
    }
    // What follows the list of a document is no job.
    sink.skip(cause::DAMAGED_JOB, u64::saturating_sub(damaged, in_list.into()));
    Ok(())
}

/// What to do about jobs that are damaged.
const LIST_AGAIN: &str = "list again with `sacct -a -D --json`";
/// What to do about a list without jobs.
const OTHER_PERIOD: &str =
    "`sacct` lists the jobs of its user since midnight; list again with -a, and a period by -S and -E";

/// What a document says of itself, before its list of jobs or behind it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow, alias = "Slurm")]
    slurm: Option<About<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct About<'a> {
    #[serde(borrow)]
    release: Leaf<'a>,
}

/// The version of Slurm that a part of a document names in `meta`.
fn release(part: &[u8]) -> Option<String> {
    const META: &[u8] = b"\"meta\"";
    let from = memchr::memmem::find(part, META)? + META.len();
    let text = String::from_utf8_lossy(part.get(from..)?);
    let mut values = serde_json::Deserializer::from_str(text.trim_start().strip_prefix(':')?).into_iter::<Meta<'_>>();
    let release = values.next()?.ok()?.slurm?.release.text().to_owned();
    Some(release).filter(|release| !release.is_empty())
}

/// Where the jobs of a document begin.
enum Start {
    /// In its list `jobs`, which comes next, behind these bytes.
    List(Vec<u8>),
    /// At once: each is a document. These bytes of the first were read.
    Jobs(Vec<u8>),
    /// There are none.
    Nothing,
}

/// The most bytes of a job before its id.
const MOST_BEFORE_ID: usize = 1 << 20;

/// Skips what stands before the list `"jobs": […]` of the document, or finds that the document is a job itself.
fn find_jobs(input: &mut dyn BufRead) -> io::Result<Start> {
    const LIST: &[u8] = b"jobs";
    const ID: &[u8] = b"job_id";
    let (mut depth, mut key, mut before): (u64, Vec<u8>, Vec<u8>) = (0, Vec::new(), Vec::new());
    let (mut in_text, mut is_escaped) = (false, false);
    while let Some(byte) = next_byte(input)? {
        if before.len() <= MOST_BEFORE_ID {
            before.push(byte);
        }
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                // No other key that begins so may be taken for it.
                _ if key.len() <= ID.len() => key.push(byte),
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => {
                key.clear();
                in_text = true;
            }
            b'[' if depth == 1 && key == LIST => return Ok(Start::List(before)),
            b':' if depth == 1 && key == ID && before.len() <= MOST_BEFORE_ID => return Ok(Start::Jobs(before)),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' | b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => {}
        }
        if byte != b'"' {
            key.clear();
        }
    }
    Ok(Start::Nothing)
}

/// The numbers that Slurm has for no limit, and for none given.
const INFINITE: i64 = 0xffff_ffff;
const NO_VALUE: i64 = 0xffff_fffe;

/// A job, as far as the tables have a place for it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Job<'a> {
    #[serde(borrow)]
    job_id: Leaf<'a>,
    #[serde(borrow)]
    array: Option<Array<'a>>,
    #[serde(borrow)]
    het: Option<Het<'a>>,
    #[serde(borrow)]
    name: Leaf<'a>,
    #[serde(borrow)]
    user: Leaf<'a>,
    #[serde(borrow)]
    account: Leaf<'a>,
    #[serde(borrow)]
    association: Option<Association<'a>>,
    #[serde(borrow)]
    partition: Leaf<'a>,
    #[serde(borrow)]
    qos: Leaf<'a>,
    #[serde(borrow)]
    qosreq: Leaf<'a>,
    #[serde(borrow)]
    reservation: Option<Reservation<'a>>,
    #[serde(borrow)]
    constraints: Leaf<'a>,
    #[serde(borrow)]
    priority: Leaf<'a>,
    flags: serde_json::Value,
    #[serde(borrow)]
    time: Option<JobTimes<'a>>,
    #[serde(borrow)]
    state: Option<JobState<'a>>,
    #[serde(borrow)]
    required: Option<Required<'a>>,
    #[serde(borrow)]
    allocation_nodes: Leaf<'a>,
    #[serde(borrow)]
    nodes: Leaf<'a>,
    #[serde(borrow)]
    tres: Option<AllTres<'a>>,
    #[serde(borrow)]
    submit_line: Leaf<'a>,
    #[serde(borrow)]
    cluster: Leaf<'a>,
    #[serde(borrow)]
    restart_cnt: Leaf<'a>,
    steps: Vec<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Array<'a> {
    #[serde(borrow)]
    job_id: Leaf<'a>,
    #[serde(borrow)]
    task_id: Leaf<'a>,
    #[serde(borrow)]
    task: Leaf<'a>,
    #[serde(borrow)]
    limits: Option<Limits<'a>>,
}

/// `{"max": {"running": {"tasks": 3}}}`; 0 for none.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Limits<'a> {
    #[serde(borrow)]
    max: Option<Most<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Most<'a> {
    #[serde(borrow)]
    running: Option<MostRunning<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MostRunning<'a> {
    #[serde(borrow)]
    tasks: Leaf<'a>,
}

impl Array<'_> {
    /// How many tasks may run at once.
    fn limit(&self) -> Option<u32> {
        self.limits.as_ref()?.max.as_ref()?.running.as_ref()?.tasks.count()
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Het<'a> {
    #[serde(borrow)]
    job_id: Leaf<'a>,
    #[serde(borrow)]
    job_offset: Leaf<'a>,
}

/// Some versions write a number in place of the name.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Reservation<'a> {
    #[serde(borrow)]
    name: Leaf<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Association<'a> {
    #[serde(borrow)]
    account: Leaf<'a>,
    #[serde(borrow)]
    user: Leaf<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct JobTimes<'a> {
    #[serde(borrow)]
    submission: Leaf<'a>,
    #[serde(borrow)]
    eligible: Leaf<'a>,
    #[serde(borrow)]
    start: Leaf<'a>,
    #[serde(borrow)]
    end: Leaf<'a>,
    #[serde(borrow)]
    elapsed: Leaf<'a>,
    #[serde(borrow)]
    limit: Leaf<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct JobState<'a> {
    /// A word, or a list of words.
    current: Words,
    #[serde(borrow)]
    reason: Leaf<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Required<'a> {
    #[serde(borrow, rename = "CPUs")]
    cpus: Leaf<'a>,
    #[serde(borrow)]
    memory_per_cpu: Leaf<'a>,
    #[serde(borrow)]
    memory_per_node: Leaf<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AllTres<'a> {
    #[serde(borrow)]
    allocated: Vec<Entry<'a>>,
    #[serde(borrow)]
    requested: Vec<Entry<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Leaf<'a>,
    #[serde(borrow)]
    name: Leaf<'a>,
    #[serde(borrow)]
    count: Leaf<'a>,
}

impl JobTimes<'_> {
    /// The limit, ms; `None`: it names none. A job gets a limit when it starts, so that `null` is no limit then.
    fn limit(&self, ran: bool) -> Option<i64> {
        let is_unlimited = match &self.limit {
            Leaf::Infinite | Leaf::Number(INFINITE) => true,
            Leaf::Text(text) => text == "Infinity",
            Leaf::Null => ran,
            Leaf::Nothing | Leaf::Number(_) => false,
        };
        if is_unlimited {
            return Some(NO_LIMIT);
        }
        let minutes = self.limit.number().filter(|&minutes| minutes > 0 && minutes != NO_VALUE)?;
        minutes.checked_mul(60_000)
    }
}

impl Job<'_> {
    /// True if a list of flags has one. A job that both schedulers took has both flags, and text shows that of the main loop.
    fn has_flag(&self, name: &str) -> bool {
        self.flags.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == name))
    }

    /// True if it may have no limit, or name none: up to data parser 0.0.39, `null` stands for both.
    fn has_ambiguous_limit(&self, row: &Row<'_>) -> bool {
        let limit = self.time.as_ref().map(|time| &time.limit);
        limit == Some(&Leaf::Null) && !row.ran()
    }

    /// The row, or the key of what it lacks and what stands there.
    fn row(&self) -> Result<Row<'_>, (&'static str, String)> {
        let lacks = |key, found: &str| (key, found.to_owned());
        let time = self.time.as_ref().ok_or_else(|| lacks("time", "none"))?;
        let seconds = |leaf: &Leaf<'_>| leaf.number().and_then(Time::epoch);
        let elapsed = time.elapsed.number().and_then(|seconds| seconds.checked_mul(1_000));
        let rest = [&time.eligible, &time.start, &time.end].map(seconds);
        let (id, pending) = self.id().ok_or_else(|| lacks("job_id", "none"))?;
        let submit = seconds(&time.submission).ok_or_else(|| lacks("time.submission", "no time"))?;
        let times = Times::in_order(submit, rest, elapsed);
        let state = self.state.as_ref().map(|state| state.current.0.as_str()).filter(|state| !state.is_empty());
        let state = state.ok_or_else(|| lacks("state.current", "none"))?;
        let association = self.association.as_ref();
        let has_text = |leaf: &'_ Leaf<'_>| !leaf.text().is_empty();
        let user =
            if has_text(&self.user) { Some(&self.user) } else { association.map(|association| &association.user) };
        let account = if has_text(&self.account) {
            Some(&self.account)
        } else {
            association.map(|association| &association.account)
        };
        let required = self.required.as_ref();
        let tres = self.tres.as_ref();
        let mut row = Row {
            id,
            pending,
            array_limit: self.array.as_ref().and_then(|array| array.limit()).or_else(|| array_limit(pending)),
            name: self.name.text(),
            user: user.map(Leaf::text).unwrap_or_default(),
            account: account.map(Leaf::text).unwrap_or_default(),
            partition: self.partition.text(),
            qos: one_qos(self.qos.text(), self.qosreq.text()),
            reservation: self.reservation.as_ref().map(|reservation| reservation.name.text()).unwrap_or_default(),
            constraints: self.constraints.text(),
            priority: self.priority.number(),
            by_backfill: self.has_flag("STARTED_ON_BACKFILL") && !self.has_flag("STARTED_ON_SCHEDULE"),
            limit: None,
            times,
            standing: Standing::of(state, Row::has_run(&times)),
            req_cpus: required.and_then(|required| required.cpus.count()),
            alloc_cpus: None,
            req_nodes: None,
            alloc_nodes: self.allocation_nodes.count(),
            req: tres.map(|tres| in_all(&tres.requested)).unwrap_or_default(),
            alloc: tres.map(|tres| in_all(&tres.allocated)).unwrap_or_default(),
            req_mem: required.and_then(Required::memory),
            node_list: Some(self.nodes.text()),
            any_nodes: None,
            submit_line: self.submit_line.text(),
            old_gres: ["", ""],
            reason: self
                .state
                .as_ref()
                .map(|state| state.reason.text())
                .filter(|reason| *reason != "None")
                .unwrap_or_default(),
            restarts: self.restart_cnt.count().unwrap_or(0),
            cluster: self.cluster.text(),
        };
        row.limit = time.limit(row.ran());
        if row.cpus().is_some() { Ok(row) } else { Err(lacks("required.CPUs", "0, and no CPUs in `tres`")) }
    }

    /// The id as text prints it, and the ranges of tasks that have none yet.
    fn id(&self) -> Option<(Id, &str)> {
        let number = u64::try_from(self.job_id.number()?).ok()?;
        let positive = |leaf: &Leaf<'_>| leaf.number().and_then(|number| u64::try_from(number).ok()).filter(|&n| n > 0);
        if let Some(array) = &self.array
            && let Some(number) = positive(&array.job_id)
        {
            return Some(match array.task_id.number().and_then(|task| u64::try_from(task).ok()) {
                Some(task) => (Id { number, part: Part::Task(task), again: 0 }, ""),
                None if !array.task.text().is_empty() => {
                    let ranges = array.task.text();
                    (Id { number, part: Part::Pending, again: 0 }, ranges.trim_matches(['[', ']']))
                }
                None => (Id::whole(number), ""),
            });
        }
        if let Some(het) = &self.het
            && let Some(number) = positive(&het.job_id)
        {
            let component = het.job_offset.number().and_then(|offset| u64::try_from(offset).ok()).unwrap_or(0);
            return Some((Id { number, part: Part::Component(component), again: 0 }, ""));
        }
        Some((Id::whole(number), ""))
    }
}

impl Required<'_> {
    fn memory(&self) -> Option<Memory> {
        let bytes = |leaf: &Leaf<'_>| leaf.number().filter(|&amount| amount > 0)?.checked_mul(MEBIBYTE);
        bytes(&self.memory_per_cpu).map(Memory::PerCpu).or_else(|| bytes(&self.memory_per_node).map(Memory::PerNode))
    }
}

/// A list of resources.
fn in_all(entries: &[Entry<'_>]) -> Tres {
    let mut found = Tres::default();
    let names: Vec<String> =
        entries.iter().map(|entry| format!("{}/{}", entry.kind.text(), entry.name.text())).collect();
    let (mut gres, mut licenses) = (Vec::new(), Vec::new());
    for (entry, name) in entries.iter().zip(&names) {
        match entry.kind.text() {
            "cpu" => found.cpus = entry.count.count(),
            "node" => found.nodes = entry.count.count(),
            "mem" => found.memory = entry.count.number().and_then(|amount| amount.checked_mul(MEBIBYTE)),
            _ => sort(name, entry.count.number().and_then(|n| u64::try_from(n).ok()), &mut gres, &mut licenses),
        }
    }
    (found.gres, found.licenses) = (as_text(gres), as_text(licenses));
    found
}

/// A value that is a number or a text in one version, and in another an object `{"set": …, "infinite": …, "number": …}`, or a list.
#[derive(Debug, Default, PartialEq)]
enum Leaf<'a> {
    #[default]
    Nothing,
    /// `null`, which some versions write for a number without a bound, too.
    Null,
    /// A number without a bound.
    Infinite,
    Number(i64),
    Text(Cow<'a, str>),
}

impl Leaf<'_> {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Nothing | Self::Null | Self::Infinite => None,
        }
    }

    fn count(&self) -> Option<u32> {
        self.number().and_then(|count| u32::try_from(count).ok()).filter(|&count| count > 0)
    }

    fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }
}

/// A word, or the words of a list, joined by commas.
#[derive(Debug, Default)]
struct Words(String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            One(String),
            Many(Vec<serde_json::Value>),
            Other(IgnoredAny),
        }
        let text = match Form::deserialize(deserializer)? {
            Form::One(word) => word,
            Form::Many(words) => words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(","),
            Form::Other(_) => String::new(),
        };
        Ok(Self(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Leaf<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LeafVisitor)
    }
}

struct LeafVisitor;

impl<'de> Visitor<'de> for LeafVisitor {
    type Value = Leaf<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Null)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Leaf<'de>, E> {
        Ok(i64::try_from(number).map_or(Leaf::Nothing, Leaf::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Leaf<'de>, E> {
        Ok(swf::whole(number).map_or(Leaf::Nothing, Leaf::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Leaf<'de>, A::Error> {
        let first = list.next_element::<Leaf<'de>>()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first.unwrap_or_default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Leaf<'de>, A::Error> {
        let (mut number, mut is_set, mut is_infinite) = (Leaf::Nothing, true, false);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "number" => number = map.next_value()?,
                "set" => is_set &= map.next_value::<serde_json::Value>()? != false,
                "infinite" => is_infinite |= map.next_value::<serde_json::Value>()? == true,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // Most versions say of such a number that it is not set.
        Ok(if is_infinite {
            Leaf::Infinite
        } else if is_set {
            number
        } else {
            Leaf::Nothing
        })
    }
}
