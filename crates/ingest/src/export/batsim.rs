//! The jobs of a schedule as Batsim writes them (`out_jobs.csv`), which evalys reads: a line for each job that ran.
//!
//! A resource is a processor. Resources have numbers, and the tables have names of hosts at most. So each job gets the lowest numbers that are
//! free while it runs: as many are in use at once as processors were, and which they are says nothing.
//!
//! Times are seconds since the first submission, or since the zero of a trace that has its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::held::{Held, asked, decimal, is_work};
use super::losses::Losses;
use super::{Output, Target, Write};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{JobRecord, JobRow, Outcome};
use resched_tables::records::Source;
use resched_tables::store::TimeZero;
use resched_tables::words::csv_cell;

/// The jobs of a schedule.
pub(super) const TARGET: Target =
    Target { name: "batsim-jobs", title: "jobs of a schedule as Batsim writes them (CSV)", write: Write::File(write) };

/// The columns, in Batsim's order.
const HEADER: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,\
                      starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources\n";
/// The name of the workload, which Batsim puts before the ids of jobs.
const WORKLOAD: &str = "resched";
/// The columns of the tables that the file has a place for, or whose values follow from others in it.
const KEPT: &[&str] = &[
    "jobs.name",
    "jobs.submit",
    "jobs.launch",
    "jobs.finish",
    "jobs.requested_containers",
    "jobs.requested_cpu",
    "jobs.requested_time",
    "jobs.demand_cpu",
    "tasks.start",
    "tasks.finish",
    "tasks.instances",
    "tasks.cpu_request",
    "tasks.gang",
    "attempts.queued",
    "attempts.start",
    "attempts.finish",
    "attempts.cpu_request",
];

fn write(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let mut losses = Losses::default();
    let (mut runs, mut first) = (Vec::new(), None);
    for record in source.records()? {
        let mut record = record?;
        losses.add(&record);
        first = [first, record.job.submit].into_iter().flatten().min();
        output.counted(cause::APPLICATION_MASTER, !record.tasks.iter().all(is_work));
        record.tasks.retain(is_work);
        output.counted(cause::JOB_OF_SEVERAL_TASKS, record.tasks.len() > 1);
        let run = Run::of(&record);
        output.counted(cause::JOB_WITHOUT_RUN_TIME, run.is_none());
        runs.push(run);
    }
    losses.report(KEPT, output);
    let is_made = source.manifest().is_some_and(|manifest| !manifest.has_observed_starts());
    output.counted(cause::TIMES_NOT_OBSERVED, is_made);
    let zero = if source.time_zero() == TimeZero::Epoch { first.unwrap_or(0) } else { 0 };
    let places = places(&runs);
    output.bytes(HEADER.as_bytes())?;
    for ((job, run), place) in source.jobs()?.zip(runs).zip(places) {
        let Some(run) = run else { continue };
        output.bytes(line(&job?, &run, &place, zero).as_bytes())?;
        output.exported.written += 1;
    }
    Ok(())
}

/// When a job ran, and on how many processors.
struct Run {
    submit: i64,
    start: i64,
    finish: i64,
    processors: u64,
}

impl Run {
    /// `None` if it did not run, or nobody knows when.
    fn of(record: &JobRecord) -> Option<Self> {
        let attempts = || record.tasks.iter().flat_map(|task| &task.attempts);
        let start = record.job.launch.or_else(|| attempts().filter_map(|attempt| attempt.start).min())?;
        let finish = record.job.finish.or_else(|| attempts().filter_map(|attempt| attempt.finish).max());
        let processors = Held::of(record).processors.and_then(|held| u64::try_from(held).ok());
        let finish = finish.filter(|&finish| start <= finish)?;
        Some(Self { submit: record.job.submit?, start, finish, processors: processors.unwrap_or(1).max(1) })
    }
}

/// Ranges of numbers, each from the first to the last.
type Ranges = Vec<(u64, u64)>;

/// The processors of each job, in the order of the jobs.
fn places(runs: &[Option<Run>]) -> Vec<Ranges> {
    let mut order: Vec<(usize, &Run)> =
        runs.iter().enumerate().filter_map(|(number, run)| Some((number, run.as_ref()?))).collect();
    order.sort_by_key(|(number, run)| (run.start, *number));
    let mut places = vec![Ranges::new(); runs.len()];
    let (mut free, mut running) = (Free::default(), BinaryHeap::new());
    for (number, run) in order {
        // At one instant those that end make room first.
        while running.peek().is_some_and(|Reverse((finish, _))| *finish <= run.start) {
            let Some(Reverse((_, ended))) = running.pop() else { break };
            places.get(ended).into_iter().flatten().for_each(|&range| free.give(range));
        }
        if let Some(place) = places.get_mut(number) {
            *place = free.take(run.processors);
            running.push(Reverse((run.finish, number)));
        }
    }
    places
}

/// The numbers that are free.
#[derive(Default)]
struct Free {
    /// Ranges below `rest`, by their first number; no two touch.
    ranges: BTreeMap<u64, u64>,
    /// From here on all are free.
    rest: u64,
}

impl Free {
    /// So many of the lowest numbers that are free, as ranges; they are taken from now on.
    fn take(&mut self, mut wanted: u64) -> Ranges {
        let mut taken = Ranges::new();
        while wanted > 0 {
            let Some((first, last)) = self.ranges.pop_first() else { break };
            let end = last.min(first.saturating_add(wanted - 1));
            if end < last {
                self.ranges.insert(end + 1, last);
            }
            taken.push((first, end));
            wanted -= end - first + 1;
        }
        if wanted > 0 {
            let first = self.rest;
            self.rest = first.saturating_add(wanted);
            match taken.last_mut().filter(|(_, last)| last + 1 == first) {
                Some((_, last)) => *last = self.rest - 1,
                None => taken.push((first, self.rest - 1)),
            }
        }
        taken
    }

    /// The numbers from the first to the last are free again.
    fn give(&mut self, (mut first, mut last): (u64, u64)) {
        if let Some((&before, &end)) = self.ranges.range(..first).next_back()
            && end + 1 == first
        {
            self.ranges.remove(&before);
            first = before;
        }
        if let Some(end) = self.ranges.remove(&(last + 1)) {
            last = end;
        }
        if last + 1 == self.rest {
            self.rest = first;
        } else {
            self.ranges.insert(first, last);
        }
    }
}

fn line(job: &JobRow, run: &Run, place: &[(u64, u64)], zero: i64) -> String {
    let seconds = |ms: i64| decimal(ms, 1_000.0);
    let since_zero = |ms: i64| seconds(ms.saturating_sub(zero));
    let ran = run.finish.saturating_sub(run.start);
    let turnaround = run.finish.saturating_sub(run.submit);
    let ranges = place.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let cells = [
        cell(&job.job_id),
        WORKLOAD.to_owned(),
        cell(job.name.as_deref().unwrap_or_default()),
        since_zero(run.submit),
        asked(job).map_or(run.processors, |asked| u64::try_from(asked).unwrap_or(run.processors)).to_string(),
        job.requested_time.map_or_else(|| "-1".to_owned(), seconds),
        u8::from(job.outcome == Outcome::Success).to_string(),
        state(job, ran).to_owned(),
        since_zero(run.start),
        seconds(ran),
        since_zero(run.finish),
        seconds(run.start.saturating_sub(run.submit)),
        seconds(turnaround),
        // A job that ran for no time has no stretch.
        if ran > 0 { (turnaround as f64 / ran as f64).to_string() } else { String::new() },
        ranges.collect::<Vec<_>>().join(" "),
    ];
    cells.join(",") + "\n"
}

/// A text as a cell: no spreadsheet takes it for a formula.
fn cell(text: &str) -> String {
    let text = csv_cell(text);
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

/// How a job ended, in Batsim's words. It has none for an unknown end.
fn state(job: &JobRow, ran: i64) -> &'static str {
    let reached_limit = job.requested_time.is_some_and(|limit| limit <= ran);
    match job.outcome {
        Outcome::Success => "COMPLETED_SUCCESSFULLY",
        Outcome::Killed if reached_limit => "COMPLETED_WALLTIME_REACHED",
        Outcome::Killed | Outcome::Evicted => "COMPLETED_KILLED",
        Outcome::Failed | Outcome::Lost | Outcome::Incomplete | Outcome::Unknown => "COMPLETED_FAILED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: i64, finish: i64, processors: u64) -> Option<Run> {
        Some(Run { submit: 0, start, finish, processors })
    }

    /// By hand: job 0 has 0–3 until 10, job 1 has 4–5 until 20; job 2 waits for room nowhere and takes 6; at 10, job 3 gets 0–3 and 7.
    #[test]
    fn each_job_gets_the_lowest_numbers_that_are_free() {
        let runs = [run(0, 10, 4), run(0, 20, 2), run(5, 30, 1), run(10, 12, 5), None, run(12, 13, 1)];
        let expected: [Ranges; 6] =
            [vec![(0, 3)], vec![(4, 5)], vec![(6, 6)], vec![(0, 3), (7, 7)], vec![], vec![(0, 0)]];
        assert_eq!(places(&runs), expected);
    }

    #[test]
    fn numbers_that_are_given_back_join_their_neighbours() {
        let mut free = Free::default();
        let (a, b, c) = (free.take(2), free.take(2), free.take(2));
        assert_eq!([&a, &b, &c], [&[(0, 1)], &[(2, 3)], &[(4, 5)]]);
        free.give((0, 1));
        free.give((2, 3));
        assert_eq!(free.ranges, BTreeMap::from([(0, 3)]));
        free.give((4, 5));
        assert_eq!((free.ranges.len(), free.rest), (0, 0));
        assert_eq!(free.take(u64::MAX), [(0, u64::MAX - 1)]);
    }

    #[test]
    fn texts_are_quoted_and_are_no_formulas() {
        assert_eq!(["a", "a,b", "a\"b", "=1+1", "x\ny"].map(cell), ["a", "\"a,b\"", "\"a\"\"b\"", "'=1+1", "\"x\ny\""]);
    }
}
