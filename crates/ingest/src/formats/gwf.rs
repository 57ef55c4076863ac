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
use super::swf::{milliseconds, whole};
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
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0_u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let found = match line {
            Line::Text(line) if line.trim().is_empty() || is_header(&line) => continue,
            Line::Text(line) => match record(&line) {
                Some(record) => {
                    sink.job(record)?;
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
    // The columns have no place for machines.
    sink.skip(cause::FILE_WITHOUT_MACHINES, 1);
    Ok(())
}

/// What is wrong with a line that is no job.
fn what_is_wrong(line: &str) -> String {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_wrong = |(name, text): &(&str, &str)| match *name {
        "WorkflowID" | "JobID" => text.is_empty(),
        "Dependencies" => false,
        _ => known(text).is_none(),
    };
    let wrong = COLUMNS.into_iter().zip(columns.iter().copied()).find(is_wrong);
    match wrong.filter(|_| columns.len() == COLUMNS.len()) {
        Some((name, text)) => format!("`{text}` as {name}"),
        None => format!("{} columns", columns.len()),
    }
}

/// The job of a line.
fn record(line: &str) -> Option<JobRecord> {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let [workflow, job, submit, run, processors, requested, dependencies] = columns.as_slice() else { return None };
    if workflow.is_empty() || job.is_empty() {
        return None;
    }
    let id = |job: &str| format!("{workflow}/{job}");
    let count = |text: &str| Some(known(text)?.and_then(whole).filter(|&count| count > 0));
    let (submit, run) = (known(submit)?, known(run)?);
    let (processors, requested) = (count(processors)?, count(requested)?);
    let job_id = id(job);
    let submit = submit.and_then(milliseconds);
    let job = JobRow {
        job_id: job_id.clone(),
        group: Some((*workflow).to_owned()),
        framework: Some(FRAMEWORK.to_owned()),
        submit,
        outcome: Outcome::Unknown,
        requested_containers: requested,
        requested_cpu: requested.map(|_| PROCESSOR),
        depends_on: dependencies.split_ascii_whitespace().map(id).collect(),
        ..JobRow::default()
    };
    let task = TaskRow {
        job_id: job_id.clone(),
        task_id: job_id.clone(),
        cpu_request: Some(PROCESSOR),
        instances: processors.or(requested),
        gang: Some(true),
        ..TaskRow::default()
    };
    let attempt = run.and_then(milliseconds).map(|run| AttemptRow {
        job_id: job_id.clone(),
        task_id: job_id,
        queued: submit,
        run_time: Some(run),
        ..AttemptRow::default()
    });
    let task = TaskRecord { task, splits: Vec::new(), attempts: attempt.into_iter().collect() };
    Some(JobRecord { job, tasks: vec![task], counters: Vec::new() })
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
