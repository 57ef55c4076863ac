//! The accounting of LSF: `lsb.acct`, a line for each job that ended.
//!
//! ```text
//! "JOB_FINISH" "10.1" 1527327585 7610 1000 33554438 1 1527326745 0 0 1527326746 "ann" "normal" "span[hosts=1]" …
//! ```
//!
//! Fields stand between blanks. Texts are between quotation marks, and such a mark in a text is written twice. The order of the fields has
//! been the same since version 5, and newer versions add fields behind the others; `fields.rs` has it. Numbers of hosts stand before the
//! lists of hosts, so a field is found by counting.
//!
//! A job of an array has the id `12[3]`. A job that was given back to the queue has a line for each run, with one submission.

mod fields;
mod request;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Outcome;
use resched_tables::sink::{Damage, Sink};

use self::fields::{Fields, Finished};
use self::words::Words;
use super::accounting::{self, Entry, Jobs, Stage, System, Wait};
use super::format::{Format, ReadAs};
use super::lines::{Line, Lines, head_lines};

/// The accounting of LSF.
pub const FORMAT: Format = Format {
    name: "lsf",
    title: "accounting of LSF (lsb.acct)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "lsf",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "lsf";
static SYSTEM: System = System { framework: FRAMEWORK, logs: "lsb.acct files" };

/// The longest line. Commands and lists of hosts are long.
pub(crate) const MAX_LINE: usize = 4 << 20;
/// How the line of a job that ended begins.
const FINISH: &str = "\"JOB_FINISH\"";
/// The events in `lsb.acct`, all that are no job.
const OTHERS: [&str; 4] = ["\"JOB_RESIZE\"", "\"EVENT_ADRSV_FINISH\"", "\"JOB_STARTLIMIT\"", "\"JOB_SWITCH\""];

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["jobId", "idx"]),
    ("jobs.name", &["jobName"]),
    ("jobs.user", &["userName"]),
    ("jobs.queue", &["queue"]),
    ("jobs.group", &["projectName"]),
    ("jobs.qos", &["sla"]),
    ("jobs.reservation", &["rsvId"]),
    ("jobs.submit", &["submitTime"]),
    ("jobs.eligible", &["beginTime", "ineligiblePendingTime"]),
    ("jobs.launch", &["startTime"]),
    ("jobs.finish", &["event time"]),
    ("jobs.outcome", &["jStatus", "exitInfo"]),
    ("jobs.requested_containers", &["numProcessors", "resReq"]),
    ("jobs.requested_cpu", &["resReq"]),
    ("jobs.requested_memory", &["resReq"]),
    ("jobs.requested_time", &["runLimit"]),
    ("jobs.depends_on", &["dependCond"]),
    ("tasks.start", &["startTime"]),
    ("tasks.finish", &["event time"]),
    ("tasks.outcome", &["jStatus", "exitInfo"]),
    ("tasks.instances", &["numProcessors", "resReq", "numExHosts"]),
    ("tasks.cpu_request", &["resReq", "numExHosts"]),
    ("tasks.memory_request", &["resReq"]),
    ("tasks.resources", &["resReq"]),
    ("tasks.machines", &["resReq", "numExHosts"]),
    ("tasks.exclusive", &["options"]),
    ("attempts.queued", &["submitTime", "beginTime", "ineligiblePendingTime"]),
    ("attempts.start", &["startTime"]),
    ("attempts.finish", &["event time"]),
    ("attempts.outcome", &["jStatus", "exitInfo"]),
    ("attempts.host", &["execHosts"]),
    ("attempts.hosts", &["execHosts"]),
    ("attempts.cpu_ms", &["ru_utime", "ru_stime"]),
    ("attempts.physical_memory", &["maxRMem"]),
    ("nodes.host", &["execHosts"]),
    ("nodes.cpu", &["execHosts"]),
];

fn sniff(head: &[u8]) -> bool {
    let lines = head_lines(head);
    let first = lines.iter().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let is_event = |line: &str| line.starts_with(FINISH) || OTHERS.iter().any(|event| line.starts_with(event));
    first.is_some_and(|line| is_event(line)) && lines.iter().any(|line| line.starts_with(FINISH))
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut jobs = accounting::begin(sink, &SYSTEM);
    let before = jobs.entries();
    let result = read_lines(&mut jobs, input, path, sink);
    accounting::end(jobs, before, sink)?;
    result
}

fn read_lines(jobs: &mut Jobs, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0_u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        match line {
            Line::TooLong => sink.skip(cause::OVERSIZED_LINE, 1),
            Line::Text(line) if line.trim().is_empty() || line.starts_with('#') => {}
            Line::Text(line) if !line.starts_with(FINISH) => sink.skip(cause::OTHER_RECORD, 1),
            Line::Text(line) => {
                let words = Words::of(&line);
                match Fields::of(&words) {
                    Ok(fields) => {
                        let entry = entry(&fields, sink);
                        jobs.take(&entry, sink)?;
                    }
                    Err(field) => {
                        sink.skip(cause::DAMAGED_LINE, 1);
                        sink.damage(&|| damage(number, field));
                    }
                }
            }
        }
    }
    Ok(())
}

/// What is wrong with a line of which a field cannot be read.
fn damage(number: u64, field: &str) -> Damage {
    let place = format!("line {number}, {field}: ");
    let expected = "the fields of a job that ended (JOB_FINISH)";
    Damage::new(&place, expected, "another value, or none", "copy lsb.acct from the cluster again")
}

/// The states of LSF that a job ends in.
const DONE: i64 = 64;
const EXIT: i64 = 32;
/// The bit in the options of a job that wants its hosts alone (`bsub -x`).
const EXCLUSIVE: i64 = 0x40;

fn entry<'a>(fields: &Fields<'a>, sink: &mut dyn Sink) -> Entry<'a> {
    let Finished { job, index, submit, begin, start, end, .. } = fields.finished;
    let id = if index > 0 { format!("{job}[{index}]") } else { job.to_string() };
    let hosts = hosts(fields.hosts());
    let slots = hosts.iter().map(|(_, slots)| i64::from(*slots)).sum::<i64>();
    let (request, is_read) = request::parse(fields.resources());
    sink.skip(cause::REQUEST_NOT_READ, u64::from(!is_read));
    let asked = fields.finished.processors.max(1);
    let shape = request.shape(asked, slots, &hosts, fields.finished.options & EXCLUSIVE > 0);
    let ineligible = fields.later.ineligible.filter(|&ms| ms > 0).and_then(|ms| submit.checked_add(ms));
    Entry {
        id: Cow::Owned(id),
        name: fields.finished.name,
        user: fields.finished.user,
        queue: fields.finished.queue,
        account: fields.finished.project,
        qos: fields.finished.service_class,
        reservation: fields.finished.reservation,
        submit: Some(submit),
        is_exact: true,
        eligible: begin.or(ineligible),
        start,
        end: Some(end),
        stage: stage(fields.finished.status, fields.finished.reason, start.is_some()),
        limit: fields.later.limit,
        shape: Some(shape),
        waits_for: waits(fields.finished.depends, sink),
        cpu_ms: fields.finished.cpu_ms,
        used_memory: fields.finished.used_memory,
        hosts: hosts.into_iter().map(|(host, slots)| (Cow::Borrowed(host), slots)).collect(),
        ..Entry::default()
    }
}

/// The hosts with their slots: `hostA hostA hostB`, or `2*hostA hostB` (`SHORT_EVENTFILE`).
fn hosts<'a>(names: &[&'a str]) -> Vec<(&'a str, u32)> {
    let mut all: Vec<(&str, u32)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        let short = name.split_once('*').and_then(|(slots, host)| Some((slots.parse::<u32>().ok()?, host)));
        let (slots, host) = short.unwrap_or((1, name));
        let place = *places.entry(host).or_insert(all.len());
        match all.get_mut(place) {
            Some((_, known)) => *known = known.saturating_add(slots),
            None => all.push((host, slots)),
        }
    }
    all
}

/// How a job ended: its state, the reason of its termination, and whether it had started.
fn stage(status: i64, reason: i64, ran: bool) -> Stage {
    // The numbers of the reasons that bacct shows as TERM_…
    const PREEMPTED: i64 = 1;
    const REQUEUED: [i64; 2] = [10, 11];
    const BY_SOMEBODY: [i64; 12] = [2, 3, 5, 6, 8, 9, 12, 13, 14, 15, 17, 23];
    match (status, reason) {
        (DONE, _) => Stage::Ended(Outcome::Success),
        (EXIT, PREEMPTED) if ran => Stage::GivenBack,
        (EXIT, reason) if ran && REQUEUED.contains(&reason) => Stage::GivenBack,
        (EXIT, reason) if BY_SOMEBODY.contains(&reason) || !ran => Stage::Ended(Outcome::Killed),
        (EXIT, _) => Stage::Ended(Outcome::Failed),
        _ => Stage::Ended(Outcome::Unknown),
    }
}

/// The jobs that a job waits for, if the condition is a conjunction of ends of jobs by number: `done(12) && ended(13)`.
fn waits<'a>(condition: &'a str, sink: &mut dyn Sink) -> Vec<Wait<'a>> {
    let part = |part: &'a str| {
        let part = part.trim();
        let (word, rest) = part.split_once('(').unwrap_or(("done", part));
        let id = rest.strip_suffix(')').unwrap_or(rest).trim();
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit() || b"[]".contains(&byte));
        let must_succeed = match word.trim() {
            "done" => true,
            "ended" => false,
            _ => return None,
        };
        is_id.then_some(Wait { id, must_succeed })
    };
    if condition.trim().is_empty() {
        return Vec::new();
    }
    let all: Option<Vec<Wait<'a>>> = condition.split("&&").map(part).collect();
    sink.skip(cause::DEPENDENCY_NOT_READ, u64::from(all.is_none()));
    all.unwrap_or_default()
}
