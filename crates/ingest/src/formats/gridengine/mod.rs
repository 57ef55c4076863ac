//! The accounting of Grid Engine: Sun's, Son of Grid Engine, Univa's and Altair's (UGE, AGE), and Gridware's (OCS).
//!
//! **Lines** have fields between colons: 43 in version 6.1, 45 since 6.2, and more in UGE, behind the others.
//! `docs/formats/gridengine.md` has them. Lines that begin with `#` are comments. Times are seconds, or milliseconds in UGE since
//! version 8.2: a time that is later than the year 5138 in seconds is one in milliseconds.
//!
//! **JSON**: OCS since version 9 writes an object in each line, with times in microseconds.
//!
//! A job of an array has the id `12.3`. Jobs that were given back to the queue have a line for each run. Lines of the tasks of a
//! parallel job (`pe_taskid`) are no jobs, and counted as `step-of-a-job`; their hosts are not kept.

mod json;
mod request;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Outcome;
use resched_tables::sink::{Damage, Sink};

use super::accounting::{self, Entry, Jobs, Stage, System, duration};
use super::format::{Format, ReadAs};
use super::lines::{Line, Lines, head_lines};

/// The accounting of Grid Engine.
pub const FORMAT: Format = Format {
    name: "gridengine",
    title: "accounting of Grid Engine",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "gridengine",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "gridengine";
static SYSTEM: System = System { framework: FRAMEWORK, logs: "accounting files" };

/// The longest line.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// The number of lines at the start of a file that decide whether it has this format.
const SNIFFED_LINES: usize = 10;

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["job_number", "task_number"]),
    ("jobs.name", &["job_name"]),
    ("jobs.user", &["owner"]),
    ("jobs.queue", &["qname"]),
    ("jobs.group", &["project", "department", "group"]),
    ("jobs.reservation", &["arid"]),
    ("jobs.priority_number", &["priority"]),
    ("jobs.submit", &["submission_time"]),
    ("jobs.launch", &["start_time"]),
    ("jobs.finish", &["end_time"]),
    ("jobs.outcome", &["failed", "exit_status"]),
    ("jobs.requested_containers", &["slots", "granted_pe"]),
    ("jobs.requested_cpu", &["slots", "granted_pe"]),
    ("jobs.requested_memory", &["category"]),
    ("jobs.requested_time", &["category"]),
    ("tasks.start", &["start_time"]),
    ("tasks.finish", &["end_time"]),
    ("tasks.outcome", &["failed", "exit_status"]),
    ("tasks.instances", &["slots", "granted_pe"]),
    ("tasks.cpu_request", &["slots", "granted_pe"]),
    ("tasks.memory_request", &["category"]),
    ("tasks.resources", &["category"]),
    ("tasks.machines", &["slots", "granted_pe"]),
    ("tasks.exclusive", &["category"]),
    ("attempts.queued", &["submission_time"]),
    ("attempts.start", &["start_time"]),
    ("attempts.finish", &["end_time"]),
    ("attempts.outcome", &["failed", "exit_status"]),
    ("attempts.host", &["hostname"]),
    ("attempts.cpu_ms", &["cpu", "usage"]),
    ("nodes.host", &["hostname"]),
    ("nodes.cpu", &["hostname", "slots"]),
];

fn sniff(head: &[u8]) -> bool {
    let lines = head_lines(head);
    let lines: Vec<&&str> = lines.iter().filter(|line| !is_comment(line)).take(SNIFFED_LINES).collect();
    let records = lines.iter().filter(|line| text::parse(line).is_ok() || json::is_one(line)).count();
    records * 2 > lines.len()
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
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
        let line = match line {
            Line::TooLong => {
                sink.skip(cause::OVERSIZED_LINE, 1);
                continue;
            }
            Line::Text(line) if is_comment(&line) => continue,
            Line::Text(line) => line,
        };
        let is_json = line.starts_with('{');
        let record = if is_json { json::parse(&line) } else { text::parse(&line) };
        match record {
            Ok(record) if record.is_step => sink.skip(cause::STEP_OF_A_JOB, 1),
            Ok(record) => {
                let entry = entry(&record, sink);
                jobs.take(&entry, sink)?;
            }
            Err(field) => {
                sink.skip(cause::DAMAGED_LINE, 1);
                sink.damage(&|| damage(number, field));
            }
        }
    }
    Ok(())
}

/// What is wrong with a line of which a field cannot be read.
fn damage(number: u64, field: &str) -> Damage {
    let place = format!("line {number}, {field}: ");
    let expected = "the 43 fields of Grid Engine's accounting, or more, between colons";
    Damage::new(&place, expected, "another value, or none", "copy $SGE_ROOT/$SGE_CELL/common/accounting again")
}

/// A record, whatever it was written as.
#[derive(Debug, Default)]
struct Record<'a> {
    job: u64,
    /// The place in an array; 0: no array.
    task: u64,
    /// True if it is of a task of a parallel job.
    is_step: bool,
    queue: Cow<'a, str>,
    host: Cow<'a, str>,
    group: Cow<'a, str>,
    owner: Cow<'a, str>,
    name: Cow<'a, str>,
    project: Cow<'a, str>,
    department: Cow<'a, str>,
    environment: Cow<'a, str>,
    category: Cow<'a, str>,
    priority: Option<i64>,
    /// Times, ms.
    submit: i64,
    start: Option<i64>,
    end: Option<i64>,
    failed: i64,
    status: i64,
    slots: i64,
    cpu_ms: Option<i64>,
    reservation: Cow<'a, str>,
}

/// `failed`: a job was migrated or given back to the queue, or it left its place for the next try by itself.
const GIVEN_BACK: [i64; 3] = [24, 25, 99];
/// `failed`: it was ended from outside, or at a limit: by the master or by the limit of its queue.
const ENDED: [i64; 2] = [37, 100];
/// Statuses of jobs that a signal ended from outside: 128 and the number of hang-up, interrupt, kill, termination, or a signal of a limit.
const FROM_OUTSIDE: [i64; 7] = [129, 130, 137, 138, 140, 143, 152];

fn entry<'a>(record: &'a Record<'a>, sink: &mut dyn Sink) -> Entry<'a> {
    let request = request::parse(&record.category);
    let ran = record.start.is_some();
    let shape = request.shape(record.slots, &record.environment);
    let known = |text: &'a str| if text == "NONE" || text == "defaultdepartment" { "" } else { text };
    let id = if record.task > 0 { format!("{}.{}", record.job, record.task) } else { record.job.to_string() };
    let account = [&record.project, &record.department, &record.group].map(|text| known(text));
    let hosts = match request.is_one_host(record.slots, &record.environment) {
        _ if !ran || record.host.is_empty() || record.host == "UNKNOWN" => Vec::new(),
        true => vec![(Cow::Borrowed(record.host.as_ref()), u32::try_from(record.slots).unwrap_or(u32::MAX))],
        // Of a job on several hosts, the record has the first alone.
        false => Vec::new(),
    };
    sink.skip(cause::HOSTS_NOT_IN_SOURCE, u64::from(ran && hosts.is_empty()));
    Entry {
        id: Cow::Owned(id),
        name: &record.name,
        user: &record.owner,
        queue: known(&record.queue),
        account: account.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
        reservation: Some(record.reservation.as_ref()).filter(|id| *id != "0" && *id != "NONE").unwrap_or_default(),
        priority: record.priority,
        submit: Some(record.submit),
        is_exact: true,
        start: record.start,
        end: record.end.or(record.start),
        stage: stage(record, ran),
        limit: request.limit,
        shape: Some(shape),
        hosts,
        cpu_ms: record.cpu_ms,
        ..Entry::default()
    }
}

fn stage(record: &Record<'_>, ran: bool) -> Stage {
    match (record.failed, record.status) {
        (failed, _) if GIVEN_BACK.contains(&failed) && ran => Stage::GivenBack,
        (_, 99) if ran => Stage::GivenBack,
        (failed, _) if ENDED.contains(&failed) || !ran => Stage::Ended(Outcome::Killed),
        (0, 0) => Stage::Ended(Outcome::Success),
        (0, status) if FROM_OUTSIDE.contains(&status) => Stage::Ended(Outcome::Killed),
        _ => Stage::Ended(Outcome::Failed),
    }
}

/// A time in seconds, milliseconds or microseconds since the epoch, as ms; 0 is none.
fn time(number: i64) -> Option<i64> {
    // Seconds reach this in the year 5138, milliseconds in 1973; microseconds reach the next one in 1973, too.
    const MS: i64 = 100_000_000_000;
    const MICROSECONDS: i64 = 100_000_000_000_000;
    match number {
        ..=0 => None,
        MICROSECONDS.. => Some(number / 1_000),
        MS.. => Some(number),
        _ => number.checked_mul(1_000),
    }
}

/// A number of seconds with a fraction, as ms.
fn seconds(text: &str) -> Option<i64> {
    duration(text)
}
