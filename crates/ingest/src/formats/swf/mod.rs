//! The Standard Workload Format of the Parallel Workloads Archive, version 2.2: one line per job of a parallel machine.
//!
//! A line has eighteen numbers between blanks, with −1 for unknown. Lines that start with `;` (in some logs `#`) are the header, as
//! `; Key: Value`, or comments. Fields after the eighteenth are what the header names them, see `further.rs`; others are counters, or else
//! left out and counted (`line-with-further-fields`). A line that lacks the last has −1 there (`line-without-last-field`).
//! `docs/formats/swf.md` has the fields. Times are seconds from the log's zero, possibly with fractions. `UnixStartTime` of the header
//! goes to the manifest's parameters.
//!
//! A job is one task, and its processors are that task's instances: a gang. The request of an instance is one processor
//! and the memory that was asked for per processor; `shape.rs` says where further fields change that. Processor time and resident memory
//! of the attempt are those of all processors. Where the log does not give the wait, nobody knows when the job started or ended: the
//! attempt then has a run time only. A job that was cancelled before it ran (status 5 without a run time) has no attempt. If a job was
//! suspended for a while, the lines of its parts (status 2 to 4) are left out, because another line of the job sums them up.
//!
//! The jobs of all logs that are named together come in the order of their submission, each once, see `lists.rs`. Logs that begin at
//! different times (`UnixStartTime`) count from the first of them.
//!
//! `MaxNodes` and `MaxProcs` of the header give the machines, on which the processors are spread evenly. A file without
//! them has no machines and is counted as `file-without-machines`. To replay it, you need a cluster file.

mod further;
mod header;
mod row;
mod shape;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::JobRecord;
use resched_tables::sink::{Damage, Sink};

pub(crate) use self::further::Meaning;
pub(crate) use self::shape::GPU;

use self::further::Further;
use self::header::{Header, Headers};
use self::row::Row;
use self::shape::Shape;
use super::format::{Format, ReadAs};
use super::lines::{Line, Lines, head_lines};
use super::lists::{self as list, Jobs, Lists};
use super::tables::Key;

/// The format `swf`.
pub const FORMAT: Format = Format {
    name: "swf",
    title: "Standard Workload Format of parallel machines",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "swf",
    is_whole: true,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "swf";
/// The manifest's parameter with the zero of the times, seconds since the epoch.
pub const UNIX_START_TIME: &str = "unix_start_time";
/// The manifest's parameter with the names of the fields after the 18th.
pub(crate) const FURTHER_FIELDS: &str = "swf_further_fields";

/// Lines of real files have less than 200 bytes. A longer line is damaged and is not kept in memory.
pub(crate) const MAX_LINE: usize = 4_096;
/// The fields of the standard, all of them numbers.
const STANDARD: usize = 18;
/// The fields of a line. Logs exist with more than the standard has, and with its last one left out.
const FIELDS: std::ops::RangeInclusive<usize> = 17..=24;
/// The number of job lines at the start of a file that decide whether it has this format.
const SNIFFED_LINES: usize = 10;
/// The most machines that are passed on; the largest machine of the archive has 163,840 processors.
pub(crate) const MAX_NODES: u64 = 1_000_000;
/// The most names of queues that are kept, and of partitions.
pub(crate) const MAX_NAMES: usize = 10_000;
/// A processor, in thousandths.
const PROCESSOR: i64 = 1_000;

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["field 1 (job number)"]),
    ("jobs.submit", &["field 2 (submit time)"]),
    ("jobs.launch", &["field 3 (wait time)"]),
    ("jobs.finish", &["field 4 (run time)"]),
    ("tasks.start", &["field 3 (wait time)"]),
    ("tasks.finish", &["field 4 (run time)"]),
    ("attempts.queued", &["field 2 (submit time)"]),
    ("attempts.start", &["field 3 (wait time)"]),
    ("attempts.finish", &["field 4 (run time)"]),
    ("attempts.run_time", &["field 4 (run time)"]),
    ("tasks.instances", &["field 5 (allocated processors)", "field 8 (requested processors)"]),
    ("attempts.cpu_ms", &["field 6 (average CPU time)"]),
    ("attempts.physical_memory", &["field 7 (used memory)"]),
    ("jobs.requested_containers", &["field 8 (requested processors)"]),
    ("jobs.requested_cpu", &["field 8 (requested processors)"]),
    ("jobs.requested_time", &["field 9 (requested time)"]),
    ("jobs.requested_memory", &["field 10 (requested memory)"]),
    ("tasks.memory_request", &["field 10 (requested memory)"]),
    ("jobs.outcome", &["field 11 (status)"]),
    ("tasks.outcome", &["field 11 (status)"]),
    ("attempts.outcome", &["field 11 (status)"]),
    ("jobs.user", &["field 12 (user)"]),
    ("jobs.group", &["field 13 (group)"]),
    ("jobs.name", &["field 14 (executable)"]),
    ("jobs.queue", &["field 15 (queue)", "field 16 (partition)"]),
    ("jobs.depends_on", &["field 17 (preceding job)"]),
    ("nodes.host", &["MaxNodes"]),
    ("nodes.cpu", &["MaxNodes", "MaxProcs"]),
];

/// Most of the first lines that are no comments are jobs: a damaged one among them does not hide the rest.
fn sniff(head: &[u8]) -> bool {
    let lines = head_lines(head);
    let rows: Vec<&&str> = lines.iter().filter(|line| !is_comment(line)).take(SNIFFED_LINES).collect();
    let jobs = rows.iter().filter(|line| Row::parse(line).is_some()).count();
    jobs * 2 > rows.len()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with([';', '#'])
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut jobs = Jobs::<Headers>::begin(sink);
    let before = jobs.taken();
    let log = jobs.lists.begin();
    let result = read_lines(input, (path, log), &mut jobs, sink);
    if jobs.taken() == before {
        jobs.lists.without_last().report(sink);
    }
    jobs.end(before, sink)?;
    result
}

fn read_lines(
    input: &mut dyn BufRead,
    (path, log): (&str, usize),
    jobs: &mut Jobs<Headers>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0_u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let Line::Text(line) = line else {
            sink.skip(cause::DAMAGED_LINE, 1);
            let expected = format!("a line of at most {MAX_LINE} bytes");
            sink.damage(&|| Damage::new(&format!("line {number}: "), &expected, "a longer one", REMEDY));
            continue;
        };
        let Some(header) = jobs.lists.get_mut(log) else { continue };
        if is_comment(&line) {
            header.take(line.trim_start().trim_start_matches([';', '#']));
            continue;
        }
        match Row::parse(&line).and_then(|row| Some((row.id(1)?, row))) {
            Some((_, row)) if row.is_part() => sink.skip(cause::PARTIAL_EXECUTION, 1),
            Some((id, row)) => {
                let zero = header.begin();
                let submit = row.submit().map(|at| at.saturating_add(zero));
                jobs.take((key(&id), Key::None), submit, (log, line.trim()), sink)?;
            }
            None => {
                sink.skip(cause::DAMAGED_LINE, 1);
                sink.damage(&|| damage(number, &line));
            }
        }
    }
    Ok(())
}

/// What an id is sorted by.
fn key(id: &str) -> Key<'_> {
    id.parse().map_or(Key::Text(id), Key::Number)
}

impl Lists for Headers {
    fn moved(&self) -> Result<Vec<i64>, Error> {
        Headers::moved(self)
    }

    fn write_over(&mut self, line: &list::Line<'_>, record: &mut JobRecord, sink: &mut dyn Sink) -> bool {
        let (Some(row), Some(header)) = (Row::parse(line.text), self.get_mut(line.list)) else { return false };
        let row = row.moved_by(line.moved);
        header.further.use_of(row.further().len());
        let further = header.further.read(row.further());
        let shape = Shape::of(row.amounts(), &further, header);
        if row.write_over(record, header, (&further, &shape)).is_none() {
            return false;
        }
        count(&row, record, header, (&further, &shape), sink);
        true
    }

    fn report(&self, sink: &mut dyn Sink) {
        Headers::report(self, sink);
    }
}

/// Counts what the tables do not hold of a job, and keeps its further fields as counters if they are wanted.
fn count(
    row: &Row<'_>,
    record: &mut JobRecord,
    header: &Header,
    (further, shape): (&Further<'_>, &Shape),
    sink: &mut dyn Sink,
) {
    sink.skip(cause::LINE_WITHOUT_LAST_FIELD, u64::from(row.fields < STANDARD));
    if row.fields <= STANDARD {
        return;
    }
    let is_kept = sink.wants_counters();
    if is_kept {
        record.counters.extend(header.further.counters(&record.job.job_id, further));
    }
    for (cause, is_counted) in [
        (cause::LINE_WITH_FURTHER_FIELDS, further.has_texts || further.has_others && !is_kept),
        (cause::SOFT_WALLTIME_LEFT_OUT, further.has_soft_time && !is_kept),
        (cause::DAMAGED_FURTHER_FIELD, further.is_damaged),
        (cause::PROCESSORS_UNLIKE_PROPERTIES, shape.is_at_odds),
        (cause::PROCESSORS_BEYOND_MACHINE, shape.is_cut),
        (cause::UNEVEN_GPUS_ROUNDED_UP, shape.is_uneven),
    ] {
        sink.skip(cause, is_counted.into());
    }
}

/// What to do about a line that is no job.
const REMEDY: &str = "write the 18 fields of the Standard Workload Format, with -1 for unknown";

/// What the standard calls its fields.
const NAMES: [&str; STANDARD] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// What is wrong with a line that is no job.
fn damage(number: u64, line: &str) -> Damage {
    let mut fields = line.split_ascii_whitespace().zip(NAMES).enumerate();
    let is_wrong = |place: usize, field: &str| parse_number(field).is_none_or(|number| place == 0 && number < 0.0);
    let found = match fields.find(|&(place, (field, _))| is_wrong(place, field)) {
        Some((place, (field, name))) => format!("`{field}` as field {} ({name})", place + 1),
        None => format!("{} numbers", line.split_ascii_whitespace().count()),
    };
    Damage::new(&format!("line {number}: "), "the 18 numbers of a job", &found, REMEDY)
}

/// So many digits are exact as a float.
const EXACT_DIGITS: usize = 15;

/// A finite number. Nearly all are whole numbers of a few digits.
fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let short = Some(digits).filter(|digits| (1..=EXACT_DIGITS).contains(&digits.len()));
    let add = |number: u64, digit: u8| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'));
    match short.and_then(|digits| digits.bytes().try_fold(0, add)) {
        Some(number) if digits.len() < text.len() => Some(-(number as f64)),
        Some(number) => Some(number as f64),
        None => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// Seconds as whole milliseconds; `None` beyond what a table can hold.
pub(super) fn milliseconds(seconds: f64) -> Option<i64> {
    whole(seconds * 1_000.0)
}

/// The nearest whole number; `None` for one that is not exact as a float any more.
pub(super) fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = number.round();
    // Within these bounds the conversion is exact.
    (number.abs() <= EXACT).then_some(number as i64)
}
