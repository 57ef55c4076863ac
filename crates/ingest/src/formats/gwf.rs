//! Workflows as comma-separated lines, in the manner of the Grid Workloads Archive: one line per job, with its
//! dependencies.
//!
//! The first line names the columns: `WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies`, padded
//! with blanks. Dependencies are job ids of the same workflow with blanks between them. Times are seconds, negative for
//! unknown. `docs/formats/gwf.md` has the columns. The format does not hold when a job started or how it ended. So the attempt
//! has a run time only, and the outcome stays unknown. A job is a gang of its processors, as in
//! [`super::swf`]. It belongs to the group of its workflow.

use std::io::BufRead;
use std::path::Path;

use super::format::{Format, ReadAs};
use super::lines::{Line, Lines, head_lines};
use super::lists::{self as list, Jobs, Lists};
use super::swf::{milliseconds, whole};
use super::tables::Key;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::{Damage, Sink};

/// The format `gwf`.
pub const FORMAT: Format = Format {
    name: "gwf",
    title: "grid workflows (comma-separated jobs with their dependencies)",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "gwf",
    is_whole: true,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The longest line (bytes): room for some thousand dependencies.
pub(crate) const MAX_LINE: usize = 64 << 10;
/// The columns, in their order.
const COLUMNS: [&str; 7] = ["WorkflowID", "JobID", "SubmitTime", "RunTime", "NProcs", "ReqNProcs", "Dependencies"];
/// The framework of such a job in the jobs table.
const FRAMEWORK: &str = "gwf";
/// A processor, in thousandths.
const PROCESSOR: i64 = 1_000;

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["WorkflowID", "JobID"]),
    ("jobs.group", &["WorkflowID"]),
    ("jobs.submit", &["SubmitTime"]),
    ("jobs.requested_containers", &["ReqNProcs"]),
    ("jobs.requested_cpu", &["ReqNProcs"]),
    ("jobs.depends_on", &["Dependencies"]),
    ("tasks.instances", &["NProcs", "ReqNProcs"]),
    ("attempts.queued", &["SubmitTime"]),
    ("attempts.run_time", &["RunTime"]),
];

fn sniff(head: &[u8]) -> bool {
    head_lines(head).first().is_some_and(|line| is_header(line))
}

fn is_header(line: &str) -> bool {
    line.split(',').map(str::trim).eq(COLUMNS)
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut jobs = Jobs::<Workflows>::begin(sink);
    let before = jobs.taken();
    let result = read_lines(input, path, &mut jobs, sink);
    // The columns have no place for machines.
    sink.skip(cause::FILE_WITHOUT_MACHINES, 1);
    jobs.end(before, sink)?;
    result
}

fn read_lines(
    input: &mut dyn BufRead,
    path: &str,
    jobs: &mut Jobs<Workflows>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0_u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let found = match line {
            Line::Text(line) if line.trim().is_empty() || is_header(&line) => continue,
            Line::Text(line) => match Row::parse(&line) {
                Some(row) => {
                    let (mut id, submit) = (String::new(), row.submit);
                    jobs.take(row.keys(&mut id), submit, (0, line.trim()), sink)?;
                    continue;
                }
                None => what_is_wrong(&line),
            },
            Line::TooLong => format!("a line of more than {MAX_LINE} bytes"),
        };
        sink.skip(cause::DAMAGED_LINE, 1);
        let remedy = "write a number in each of them, with -1 for unknown";
        sink.damage(&|| Damage::new(&format!("line {number}: "), "the 7 columns of a workflow's job", &found, remedy));
    }
    Ok(())
}

/// The number that a part of an id is, if it is written as this number is.
fn number(part: &str) -> Option<u64> {
    let is_plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
    part.parse().ok().filter(|_| is_plain)
}

/// Nothing but their lines is known of these lists.
#[derive(Debug, Default)]
struct Workflows;

impl Lists for Workflows {
    fn moved(&self) -> Result<Vec<i64>, Error> {
        Ok(Vec::new())
    }

    fn write_over(&mut self, line: &list::Line<'_>, record: &mut JobRecord, _: &mut dyn Sink) -> bool {
        let Some(row) = Row::parse(line.text) else { return false };
        *record = row.record();
        true
    }

    fn report(&self, _: &mut dyn Sink) {}
}

/// What is wrong with a line that is no job.
fn what_is_wrong(line: &str) -> String {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_wrong = |(name, text): &(&str, &str)| match *name {
        "WorkflowID" | "JobID" => !is_part_of_id(text),
        "Dependencies" => false,
        _ => known(text).is_none(),
    };
    let wrong = COLUMNS.into_iter().zip(columns.iter().copied()).find(is_wrong);
    match wrong.filter(|_| columns.len() == COLUMNS.len()) {
        Some((name, text)) => format!("`{text}` as {name}"),
        None => format!("{} columns", columns.len()),
    }
}

/// True if it may be a part of an id. `~` marks ids that are given here, to jobs whose id another one has.
fn is_part_of_id(text: &str) -> bool {
    !text.is_empty() && !text.contains('~')
}

/// The columns of a job.
struct Row<'l> {
    workflow: &'l str,
    job: &'l str,
    /// ms.
    submit: Option<i64>,
    run: Option<i64>,
    processors: Option<i64>,
    requested: Option<i64>,
    dependencies: &'l str,
}

impl<'l> Row<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let columns: Vec<&str> = line.split(',').map(str::trim).collect();
        let [workflow, job, submit, run, processors, requested, dependencies] = columns[..] else { return None };
        let count = |text: &str| Some(known(text)?.and_then(whole).filter(|&count| count > 0));
        let time = |text: &str| Some(known(text)?.and_then(milliseconds));
        let (submit, run) = (time(submit)?, time(run)?);
        let (processors, requested) = (count(processors)?, count(requested)?);
        let row = Self { workflow, job, submit, run, processors, requested, dependencies };
        Some(row).filter(|row| is_part_of_id(row.workflow) && is_part_of_id(row.job))
    }

    /// What its id is sorted by; `text` takes it if it is not of numbers.
    fn keys<'k>(&self, text: &'k mut String) -> (Key<'k>, Key<'k>) {
        match (number(self.workflow), number(self.job)) {
            (Some(workflow), Some(job)) => (Key::Number(workflow), Key::Number(job)),
            _ => {
                *text = format!("{}/{}", self.workflow, self.job);
                (Key::Text(text), Key::None)
            }
        }
    }

    fn record(&self) -> JobRecord {
        let id = |job: &str| format!("{}/{job}", self.workflow);
        let job_id = id(self.job);
        let job = JobRow {
            job_id: job_id.clone(),
            group: Some(self.workflow.to_owned()),
            framework: Some(FRAMEWORK.to_owned()),
            submit: self.submit,
            outcome: Outcome::Unknown,
            requested_containers: self.requested,
            requested_cpu: self.requested.map(|_| PROCESSOR),
            depends_on: self.dependencies.split_ascii_whitespace().map(id).collect(),
            ..JobRow::default()
        };
        let task = TaskRow {
            job_id: job_id.clone(),
            task_id: job_id.clone(),
            cpu_request: Some(PROCESSOR),
            instances: self.processors.or(self.requested),
            gang: Some(true),
            ..TaskRow::default()
        };
        let attempt = self.run.map(|run| AttemptRow {
            job_id: job_id.clone(),
            task_id: job_id,
            queued: self.submit,
            run_time: Some(run),
            ..AttemptRow::default()
        });
        let task = TaskRecord { task, splits: Vec::new(), attempts: attempt.into_iter().collect() };
        JobRecord { job, tasks: vec![task], counters: Vec::new() }
    }
}

/// A number. The inner `None` is a negative number, which stands for unknown.
fn known(text: &str) -> Option<Option<f64>> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Some(number).filter(|&number| number >= 0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage};
    use super::*;

    const TEXT: &str = "WorkflowID, JobID     , SubmitTime, RunTime , NProcs, ReqNProcs , Dependencies\n\
                        0         , 1         , 16        , 11.5    , 2     , 4         ,           \n\
                        0         , 2         , 40        , 0       , -1    , 1         , 1 3       \n\
                        1         , 2         , -1        , 11      , -1    , -1        ,           \r\n";

    #[test]
    fn rows_are_jobs_with_their_dependencies() {
        assert!(sniff(TEXT.as_bytes()));
        let found = Collected::read(&FORMAT, TEXT.as_bytes()).unwrap();
        assert_eq!(found.skipped, [("file-without-machines".to_owned(), 1)].into());
        let reported: Vec<_> = found
            .jobs
            .iter()
            .map(|record| {
                (record.job.job_id.as_str(), record.job.submit, record.job.finish, record.job.depends_on.clone())
            })
            .collect();
        assert_eq!(
            reported,
            [
                ("0/1", Some(16_000), None, vec![]),
                ("0/2", Some(40_000), None, vec!["0/1".to_owned(), "0/3".to_owned()]),
                ("1/2", None, None, vec![]),
            ]
        );
        let tasks: Vec<_> =
            found.jobs.iter().map(|record| (record.tasks[0].task.instances, record.tasks[0].attempts.len())).collect();
        assert_eq!(tasks, [(Some(2), 1), (Some(1), 1), (None, 1)]);
        let attempts = found.jobs.iter().flat_map(|record| &record.tasks[0].attempts);
        let times: Vec<_> = attempts.map(|attempt| (attempt.start, attempt.finish, attempt.run_time)).collect();
        assert_eq!(times, [11_500, 0, 11_000].map(|run| (None, None, Some(run))), "the format gives no start");
        assert_eq!(found.jobs[0].job.requested_containers, Some(4));
        assert_eq!(found.jobs[1].job.group.as_deref(), Some("0"));
    }

    #[test]
    fn damaged_lines_are_skipped_and_counted() {
        let mut text = TEXT.to_owned();
        for damaged in ["0, 3, 1, 1, 1, 1\n", "0, , 1, 1, 1, 1, \n", "0, 4, x, 1, 1, 1, \n", "0, 5, nan, 1, 1, 1, \n"] {
            text += damaged;
        }
        text += &format!("0, 6, 1, 1, 1, 1, {}\n", "1 ".repeat(MAX_LINE));
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        assert_eq!((found.jobs.len(), found.skipped["damaged-line"]), (3, 5));
        each_damage(text.as_bytes(), 300, |damaged| {
            sniff(damaged);
            Collected::read(&FORMAT, damaged).unwrap();
        });
    }
}
