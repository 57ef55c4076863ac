//! The accounting logs of PBS Professional, OpenPBS and Torque: one file for each day, one line for each record.
//!
//! ```text
//! 11/28/2026 04:05:06;E;1234.server;user=ann group=lab queue=batch ctime=1795838000 … Exit_status=0 …
//! ```
//!
//! | record | what it is here |
//! |---|---|
//! | `Q`, `S`, `E` | the job was queued, started, ended |
//! | `R`, `T` | the job was given back to the queue; it starts again from a checkpoint |
//! | `D`, `A` | the job was deleted, or the server aborted it: its end, if it does not run |
//! | others | counted as `other-record`: licences, reservations, provisioning, moves |
//!
//! `docs/formats/pbs.md` has the fields. The time of a line is that of a clock on the wall, and is used only where no field has the time.
//!
//! The record of a whole array (`12[].server`) is no job: each of its tasks has records. It is counted as `parent-of-an-array`.

mod fields;
mod hosts;
mod request;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Outcome;
use resched_tables::sink::{Damage, Sink};

use self::fields::{Fields, Seen};
pub(super) use self::hosts::of as hosts_of;
use super::accounting::{self, Clock, Entry, Jobs, Order, Stage, System, Units, Wait};
use super::format::Format;
use super::lines::{Line, Lines, head_lines};

/// The accounting of PBS and Torque.
pub const FORMAT: Format = Format {
    name: "pbs",
    title: "accounting log of PBS or Torque",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "pbs",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: &[],
    sniff,
    read,
};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "pbs";
static SYSTEM: System = System { framework: FRAMEWORK, logs: "accounting logs" };

/// The longest line. The lists of hosts of large jobs are long.
pub(crate) const MAX_LINE: usize = 4 << 20;
/// The number of lines at the start of a file that decide whether it has this format.
const SNIFFED_LINES: usize = 10;
/// The manifest's parameter with the zone of the times.
const TIMEZONE: &str = "timezone";

fn sniff(head: &[u8]) -> bool {
    let lines = head_lines(head);
    let lines: Vec<&&str> = lines.iter().filter(|line| !line.trim().is_empty()).take(SNIFFED_LINES).collect();
    let records = lines.iter().filter(|line| Record::parse(line).is_some()).count();
    records * 2 > lines.len()
}

/// The parts of a line.
struct Record<'a> {
    time: &'a str,
    kind: u8,
    id: &'a str,
    text: &'a str,
}

impl<'a> Record<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.trim_end().splitn(4, ';');
        let (time, kind, id) = (parts.next()?, parts.next()?, parts.next()?);
        let is_time = |byte: (usize, u8)| match byte {
            (2 | 5, mark) => mark == b'/',
            (10, mark) => mark == b' ',
            (13 | 16, mark) => mark == b':',
            (_, digit) => digit.is_ascii_digit(),
        };
        let has_time = time.len() == 19 && time.bytes().enumerate().all(is_time);
        let &[kind] = kind.as_bytes() else { return None };
        (has_time && kind.is_ascii_alphabetic()).then(|| Self {
            time,
            kind,
            id,
            text: parts.next().unwrap_or_default(),
        })
    }
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let jobs = accounting::begin(sink, &SYSTEM);
    let before = jobs.entries();
    let given = sink.zone();
    let clock = Clock::of(given.unwrap_or_default());
    let mut log = Log { jobs, clock, is_local: false, is_submitted_at_end: false, seen: Seen::default() };
    let result = log.read(input, path, sink);
    if log.is_local {
        TIMES.iter().for_each(|column| sink.filled_from(column, "time of the record"));
        sink.parameter(TIMEZONE, log.clock.days.zone().to_string().into());
        sink.skip(cause::TIME_ZONE_ASSUMED, u64::from(given.is_none()));
        sink.skip(cause::AMBIGUOUS_LOCAL_TIME, log.clock.ambiguous);
    }
    if log.is_submitted_at_end {
        sink.filled_from("jobs.submit", "end");
    }
    log.seen.reads().for_each(|(column, name)| sink.filled_from(column, name));
    accounting::end(log.jobs, before, sink)?;
    result
}

/// The columns that the time of a record fills, where no field has it.
const TIMES: [&str; 8] = [
    "jobs.submit",
    "attempts.queued",
    "jobs.launch",
    "tasks.start",
    "attempts.start",
    "jobs.finish",
    "tasks.finish",
    "attempts.finish",
];

struct Log {
    jobs: Jobs,
    clock: Clock,
    /// True if a time by a clock on the wall was needed.
    is_local: bool,
    /// True if the end of a job stood in for its submission.
    is_submitted_at_end: bool,
    /// The fields that had a value.
    seen: Seen,
}

impl Log {
    fn read(&mut self, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let mut lines = Lines::new(input, MAX_LINE);
        let mut number = 0_u64;
        while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
            number += 1;
            let Line::Text(line) = line else {
                sink.skip(cause::OVERSIZED_LINE, 1);
                continue;
            };
            if line.trim().is_empty() {
                continue;
            }
            let Some(record) = Record::parse(&line) else {
                sink.skip(cause::DAMAGED_LINE, 1);
                sink.damage(&|| damage(number, &line));
                continue;
            };
            self.take(&record, sink)?;
        }
        Ok(())
    }

    fn take(&mut self, record: &Record<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        if !matches!(record.kind, b'Q' | b'S' | b'E' | b'R' | b'T' | b'D' | b'A') {
            sink.skip(cause::OTHER_RECORD, 1);
            return Ok(());
        }
        if record.id.contains("[]") {
            sink.skip(cause::PARENT_OF_AN_ARRAY, 1);
            return Ok(());
        }
        if record.id.is_empty() {
            sink.skip(cause::RECORD_WITHOUT_ID, 1);
            return Ok(());
        }
        let fields = Fields::of(record.text);
        let entry = self.entry(record, &fields, sink);
        self.seen.add(fields.seen());
        self.jobs.take(&entry, sink)
    }

    /// The time of the line, ms.
    fn time(&mut self, record: &Record<'_>) -> Option<i64> {
        self.is_local = true;
        self.clock.time(record.time, Order::Month)
    }

    fn entry<'a>(&mut self, record: &Record<'a>, fields: &Fields<'a>, sink: &mut dyn Sink) -> Entry<'a> {
        let given = |key| fields.time(key);
        let submit = given(fields::CTIME).or_else(|| given(fields::QTIME));
        let start = given(fields::START).filter(|_| record.kind != b'Q');
        let stage = stage(record.kind, fields);
        let end = match stage {
            Stage::Ended(_) | Stage::GivenBack => given(fields::END).or_else(|| self.time(record)),
            _ => None,
        };
        let start = match record.kind {
            b'S' | b'T' => start.or_else(|| self.time(record)),
            _ => start,
        };
        self.is_submitted_at_end |= submit.is_none() && end.is_some();
        let hosts = hosts_of(fields.text(fields::EXEC_HOST));
        let shape = request::shape(fields, &hosts);
        sink.skip(cause::REQUEST_NOT_READ, u64::from(shape.is_none() && matches!(record.kind, b'S' | b'E')));
        Entry {
            id: Cow::Borrowed(record.id),
            name: fields.text(fields::JOBNAME),
            user: fields.text(fields::USER),
            queue: fields.text(fields::QUEUE),
            account: account(fields),
            qos: fields.text(fields::QOS),
            reservation: fields.text(fields::RESERVATION),
            submit: submit.or_else(|| end.is_none().then(|| self.time(record))?).or(end),
            is_exact: submit.is_some(),
            eligible: given(fields::ETIME),
            start,
            end,
            stage,
            limit: fields.duration(fields::WALLTIME),
            shape,
            waits_for: waits(fields.text(fields::DEPEND), sink),
            hosts,
            cpu_ms: fields.duration(fields::CPUT),
            used_memory: accounting::bytes(fields.text(fields::USED_MEM), Units::Pbs),
            ..Entry::default()
        }
    }
}

/// What is wrong with a line that is no record.
fn damage(number: u64, line: &str) -> Damage {
    let start = line.get(..line.floor_char_boundary(120)).unwrap_or_default();
    let expected = "a record of PBS, `MM/DD/YYYY HH:MM:SS;TYPE;ID;…`";
    Damage::new(&format!("line {number}: "), expected, &format!("`{start}`"), "copy the log from the server again")
}

/// The account, or else the project, or else the group of the user.
fn account<'a>(fields: &Fields<'a>) -> &'a str {
    let known = |key| Some(fields.text(key)).filter(|text| !text.is_empty() && *text != "_pbs_project_default");
    known(fields::ACCOUNT).or_else(|| known(fields::PROJECT)).or_else(|| known(fields::GROUP)).unwrap_or_default()
}

/// How far the job has come.
fn stage(kind: u8, fields: &Fields<'_>) -> Stage {
    match kind {
        b'Q' => Stage::Waiting,
        b'S' | b'T' => Stage::Running,
        b'R' => Stage::GivenBack,
        b'D' => Stage::Ended(Outcome::Killed),
        b'A' => Stage::Ended(Outcome::Failed),
        _ => Stage::Ended(outcome(fields.text(fields::EXIT_STATUS))),
    }
}

/// Signals by which a job is ended from outside: hang-up, interrupt, kill, termination, the limit of processor time. 256 is added to them.
const FROM_OUTSIDE: [i64; 5] = [256 + 1, 256 + 2, 256 + 9, 256 + 15, 256 + 24];
/// What PBS gives instead of a status if it ended a job at a limit: of processors, memory, processor time or run time (PBS), and of any
/// (Torque).
const AT_LIMITS: [i64; 8] = [-29, -28, -25, -24, -10, -11, -12, -13];

/// How a job with this exit status ended.
fn outcome(status: &str) -> Outcome {
    let Ok(status) = status.parse::<i64>() else { return Outcome::Unknown };
    match status {
        0 => Outcome::Success,
        _ if FROM_OUTSIDE.contains(&status) || AT_LIMITS.contains(&status) => Outcome::Killed,
        _ => Outcome::Failed,
    }
}

/// The jobs that a job waits for, if they are ends of jobs alone: `afterok:1.s:2.s,afterany:3.s`.
fn waits<'a>(depend: &'a str, sink: &mut dyn Sink) -> Vec<Wait<'a>> {
    let mut all = Vec::new();
    for part in depend.split(',').filter(|part| !part.is_empty()) {
        let mut words = part.split(':');
        let must_succeed = match words.next() {
            Some("afterok") => true,
            Some("afterany") => false,
            // These are the other side of a dependency.
            Some("beforestart" | "beforeok" | "beforenotok" | "beforeany") => continue,
            _ => {
                sink.skip(cause::DEPENDENCY_NOT_READ, 1);
                return Vec::new();
            }
        };
        // A job of another server is written as `1.server@host`.
        let id = |word: &'a str| word.split('@').next().unwrap_or_default();
        all.extend(words.map(id).filter(|id| !id.is_empty()).map(|id| Wait { id, must_succeed }));
    }
    all
}
