//! Jobs that a program gives, under the rules of an ingest.

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::store::{Manifest, Out, Source, System, TimeZero, TraceWriter};

use super::TraceSink;
use super::far::LONGEST_RUN;
use super::inputs::Inputs;
use super::options::Options;
use super::session::Session;
use crate::formats::Format;

/// What is known of jobs that a program gives, beside the jobs.
#[derive(Debug, Clone)]
pub struct Given {
    /// Where they come from, for the manifest.
    pub source: Source,
    /// What ran them; `None` if that is not known.
    pub system: Option<System>,
    /// The zero of their times.
    pub time_zero: TimeZero,
    /// Columns (`table.column`) that were filled by a rule, with the rule and the number of rows.
    pub made: Vec<(&'static str, &'static str, u64)>,
}

/// The format of such jobs. No file has it.
const FORMAT: Format = Format {
    name: "frames",
    title: "tables of a program",
    time_zero: None,
    system: None,
    has_tasks: true,
    group: "frames",
    is_whole: true,
    has_times_of_tasks: true,
    folded: false,
    reads: &[],
    sniff: |_| false,
    read: |_, _, _| Ok(()),
};

/// A trace of jobs that a program gave.
#[derive(Debug)]
pub struct Made {
    /// Its manifest.
    pub manifest: Manifest,
    /// What looks like a mistake in the tables, as sentences: units, above all.
    pub doubts: Vec<String>,
    /// From the first to the last time, ms; `None` if no row has a time.
    pub span: Option<i64>,
}

/// Writes the trace of jobs and machines that a program gives, as [`crate::ingest`] does that of files.
///
/// # Errors
/// An error of `jobs`; [`Error::Request`] if there are none, if most of their tries start before their jobs or far from them, or if `out` is
/// something other than a trace; [`Error::Io`] and [`Error::Table`] if it cannot be written. Then `out` stays as it was.
pub fn ingest_given(
    jobs: impl IntoIterator<Item = Result<JobRecord, Error>>,
    nodes: impl IntoIterator<Item = NodeRow>,
    given: Given,
    out: impl Into<Out>,
) -> Result<Made, Error> {
    let (inputs, options) = (Inputs::default(), Options::default());
    let mut sink = TraceSink { writer: TraceWriter::create(out)?, nodes: Vec::new() };
    let mut session = Session::new(&inputs, &mut sink, &options, true);
    let mut seen = Seen::default();
    for job in jobs {
        let job = job?;
        seen.job(&job);
        session.give_job(job, &FORMAT)?;
    }
    for node in nodes {
        seen.node(&node);
        session.give_node(node);
    }
    seen.check()?;
    let Given { source, system, time_zero, made } = given;
    let doubts = seen.doubts(time_zero);
    let early = (seen.early > 0).then_some((cause::START_BEFORE_SUBMISSION, seen.early));
    let manifest = session.finish_given((source, system), time_zero, made, early)?;
    let TraceSink { mut writer, nodes } = sink;
    for node in &nodes {
        writer.node(node)?;
    }
    Ok(Made { manifest: writer.finish(manifest)?, doubts, span: seen.span() })
}

/// A task that runs for less is rare, ms: times in seconds look so.
const SHORT_RUN: i64 = 1_000;
/// A time that counts from 1970 and is earlier is in seconds, ms (3 March 1973).
const EARLIEST: i64 = 100_000_000_000;
/// The most that a machine or a task is taken to have in whole cores: more are thousandths of a core.
const MOST_CORES: i64 = 256;

/// What the tables of a program hold, to find columns in another unit.
#[derive(Debug, Default)]
struct Seen {
    tries: u64,
    /// Those that start before their job is submitted, and those that start far from it.
    early: u64,
    far: u64,
    /// The run times: how many, and their sum, ms.
    runs: u64,
    run: i64,
    first: Option<i64>,
    last: Option<i64>,
    /// The most processor that a task asks for and that a machine has.
    most_asked: Option<i64>,
    most_offered: Option<i64>,
}

impl Seen {
    fn job(&mut self, record: &JobRecord) {
        let job = &record.job;
        self.times([job.submit, job.launch, job.finish]);
        for task in &record.tasks {
            self.most_asked = self.most_asked.max(task.task.cpu_request);
            for attempt in &task.attempts {
                self.tries += 1;
                self.times([attempt.start, attempt.finish, None]);
                if let Some((start, submit)) = attempt.start.zip(job.submit) {
                    self.early += u64::from(start < submit);
                    self.far += u64::from(start.saturating_sub(submit) > LONGEST_RUN);
                }
                let run = attempt.start.zip(attempt.finish).and_then(|(start, finish)| finish.checked_sub(start));
                if let Some(run) = run.filter(|run| *run >= 0) {
                    self.runs += 1;
                    self.run = self.run.saturating_add(run);
                }
            }
        }
    }

    fn node(&mut self, node: &NodeRow) {
        self.most_offered = self.most_offered.max(node.cpu);
    }

    fn times(&mut self, times: [Option<i64>; 3]) {
        for time in times.into_iter().flatten() {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = self.last.max(Some(time));
        }
    }

    fn span(&self) -> Option<i64> {
        self.first.zip(self.last).map(|(first, last)| last.saturating_sub(first))
    }

    /// Refuses tables of which one is in another unit, or has another zero, than the other.
    fn check(&self) -> Result<(), Error> {
        let wrong = |count: u64, what: &str| {
            (self.tries > 0 && count.saturating_mul(2) > self.tries).then(|| {
                Error::Request(format!(
                    "attempts: column `start`: expected times after those of `submit` in `jobs`, found {count} of {} {what}; give both \
                     in milliseconds and from the same zero (a column of seconds times 1,000, one of nanoseconds divided by 1,000,000)",
                    self.tries
                ))
            })
        };
        let problem = wrong(self.early, "before the submission of their job");
        problem.or_else(|| wrong(self.far, "more than a year after it")).map_or(Ok(()), Err)
    }

    /// What looks like a mistake.
    fn doubts(&self, zero: TimeZero) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.early > 0 {
            doubts.push(format!("{} of {} tries start before their job is submitted.", self.early, self.tries));
        }
        let mean = self.run.checked_div(i64::try_from(self.runs).unwrap_or(i64::MAX));
        let is_short = mean.is_some_and(|mean| mean < SHORT_RUN);
        let is_early = self.tries > 0 && zero == TimeZero::Epoch && self.last.is_some_and(|last| last < EARLIEST);
        if is_short || is_early {
            doubts.push(format!(
                "All times are within {} and a task runs for {} on average. Times are milliseconds: multiply seconds by 1,000.",
                seconds(self.span().unwrap_or(0)),
                seconds(mean.unwrap_or(0))
            ));
        }
        let in_cores = |most: Option<i64>| most.is_some_and(|most| (1..=MOST_CORES).contains(&most));
        let (asked, offered) = (in_cores(self.most_asked), in_cores(self.most_offered));
        for (is, table, column) in [(asked, "tasks", "cpu_request"), (offered, "nodes", "cpu")] {
            if is {
                doubts.push(format!(
                    "{table}: column `{column}` has at most a quarter of a core: its unit is a thousandth of a core. Multiply cores by 1,000."
                ));
            }
        }
        doubts
    }
}

/// So many ms in seconds.
fn seconds(ms: i64) -> String {
    format!("{:.1} s", ms as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, TaskRecord, TaskRow};

    use super::*;

    /// Forty jobs of one try each, whose times are multiplied.
    fn seen(of_jobs: i64, of_tries: i64, cpu: i64) -> Seen {
        let mut seen = Seen::default();
        for number in 0..40 {
            let submit = 1_000_000 + number * 60_000;
            let job = JobRow { submit: Some(submit * of_jobs / 1_000), ..JobRow::default() };
            let at = |ms: i64| Some((submit + ms) * of_tries / 1_000);
            let attempt = AttemptRow { start: at(5_000), finish: at(90_000), ..AttemptRow::default() };
            let task = TaskRow { cpu_request: Some(cpu), ..TaskRow::default() };
            let task = TaskRecord { task, attempts: vec![attempt], ..TaskRecord::default() };
            seen.job(&JobRecord { job, tasks: vec![task], ..JobRecord::default() });
        }
        seen.node(&NodeRow { cpu: Some(16_000), ..NodeRow::default() });
        seen
    }

    #[test]
    fn tables_in_two_units_are_refused() {
        let problem =
            |jobs, tries| seen(jobs, tries, 1_000).check().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(problem(1_000, 1_000), "");
        assert!(problem(1_000, 1).contains("found 40 of 40 before the submission of their job"), "seconds");
        assert!(problem(1_000, 1_000_000_000).contains("found 40 of 40 more than a year after it"), "nanoseconds");
    }

    #[test]
    fn seconds_and_cores_are_doubts() {
        let doubts = |unit, cpu| seen(unit, unit, cpu).doubts(TimeZero::Relative);
        assert_eq!(doubts(1_000, 1_000), [""; 0]);
        let in_seconds = doubts(1, 1_000);
        assert_eq!(in_seconds.len(), 1);
        assert!(
            in_seconds[0].starts_with("All times are within 2.4 s and a task runs for 0.1 s on average."),
            "{in_seconds:?}"
        );
        let in_cores = doubts(1_000, 4);
        assert!(in_cores[0].starts_with("tasks: column `cpu_request` has at most a quarter of a core"), "{in_cores:?}");
    }
}
