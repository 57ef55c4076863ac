//! Which jobs count. The rule is written here once, and all tables, figures, files and commands follow it.
//!
//! A job counts in a run if it was submitted in the window of the run and ended well ([`crate::runs::standing`]). Several runs are compared on the
//! jobs that count in all of them ([`Population::share`]). [`crate::JobMetrics::standing`] keeps the verdict.
//!
//! The time of a job that failed says nothing about the service it got, and a job that had not ended has no time. To leave such jobs
//! out of one run alone would compare different work.
//!
//! A job that started has waited, whatever became of it: waits and use are over the jobs that started in all runs
//! ([`Who::Started`]).

use std::collections::BTreeMap;

use hashbrown::HashMap;

use resched_tables::standing::Standing;
use resched_tables::words::count;
use serde::Serialize;

use crate::runs::compared::{Compared, counting_rows, have_same_jobs};
use crate::runs::jobs::JobMetrics;
use crate::runs::standing::job_id;
use crate::runs::who::Who;

/// The jobs that several runs are compared on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Population {
    /// The number of jobs that count in every run.
    pub jobs: u64,
    /// The number of jobs that any run has, and of those of the trace that none replayed.
    pub of: u64,
    /// The number of jobs of the trace that no run replayed, as far as the runs know the trace. They are among `of` and `left_out`.
    pub not_replayed: u64,
    /// The number of jobs that started in every run, whatever became of them: waiting, queueing and use are over these.
    pub started: u64,
    /// The number of the others by cause. A job that several runs leave out has the cause of the first of them that has it.
    pub left_out: BTreeMap<&'static str, u64>,
    /// The same for each run by itself, in order.
    pub runs: Vec<RunPopulation>,
    /// For each run, the rows of the jobs that count, in order of submission.
    #[serde(skip)]
    pub rows: Vec<Vec<usize>>,
    #[serde(skip)]
    causes: BTreeMap<Standing, u64>,
    /// True if the number of jobs of the trace is known.
    #[serde(skip)]
    of_trace: bool,
}

/// How many jobs count in one run by itself, whatever the others do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RunPopulation {
    /// The label of the run.
    pub run: String,
    /// The number of jobs that count in it.
    pub jobs: u64,
    /// The number of its other jobs by cause. `absent` are jobs that only other runs have.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// What is known about a job across the runs.
#[derive(Clone, Default)]
struct Seen {
    counts_in: u32,
    cause: Option<Standing>,
    /// Submission in the first run that has it, for the order.
    submit: Option<i64>,
}

/// The cause by which jobs of the trace are left out that no run has.
const NOT_REPLAYED: &str = "not-replayed";

/// That a run does not have a job.
const ABSENT: u32 = u32::MAX;

/// The jobs of several runs by number: each id has one, in the order in which the ids first appear.
struct Numbered {
    /// For each run, the number of the job in each row.
    of_rows: Vec<Vec<u32>>,
    /// How many ids there are.
    ids: usize,
}

impl Numbered {
    fn of<R: Compared>(runs: &[&R]) -> Self {
        if let Some(first) = runs.first().filter(|_| have_same_jobs(runs)) {
            let ids = first.count();
            return Self { of_rows: vec![(0..).take(ids).collect(); runs.len()], ids };
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut next = 0;
        let mut number = |job| {
            *numbers.entry(job).or_insert_with(|| {
                next += 1;
                next - 1
            })
        };
        let of_rows = runs.iter().map(|run| (0..run.count()).map(|row| number(run.job_id(row))).collect()).collect();
        Self { of_rows, ids: next as usize }
    }
}

impl Population {
    /// The jobs that count in all of `runs`.
    pub fn of<R: Compared>(runs: &[&R]) -> Self {
        let numbered = Numbered::of(runs);
        let mut seen = vec![Seen::default(); numbered.ids];
        // The row of each job in each run.
        let mut rows = vec![vec![ABSENT; numbered.ids]; runs.len()];
        let mut of_runs = Vec::new();
        for ((run, numbers), rows) in runs.iter().zip(&numbered.of_rows).zip(&mut rows) {
            let mut left_out: BTreeMap<Standing, u64> = BTreeMap::new();
            let submits = run.numbers("submit");
            for (row, &number) in (0..).zip(numbers) {
                let standing = run.standing(row as usize);
                let (Some(about), Some(own_row)) = (seen.get_mut(number as usize), rows.get_mut(number as usize))
                else {
                    continue;
                };
                // A run that an earlier comparison narrowed keeps the verdict.
                if standing == Standing::Counts {
                    about.counts_in += 1;
                } else {
                    *left_out.entry(standing).or_default() += 1;
                    about.cause = about.cause.or(Some(standing));
                }
                about.submit = about.submit.or(submits.get(row as usize).map(|submit| submit as i64));
                if *own_row == ABSENT {
                    *own_row = row;
                }
            }
            left_out.insert(Standing::Absent, rows.iter().filter(|row| **row == ABSENT).count() as u64);
            let jobs = counting_rows(*run).count() as u64;
            of_runs.push(RunPopulation { run: run.label().to_owned(), jobs, left_out: named(&left_out) });
        }
        let in_trace = runs.iter().filter_map(|run| run.replay()?.trace.jobs).max();
        Self::settled(&seen, &rows, of_runs, in_trace)
    }

    fn settled(seen: &[Seen], rows: &[Vec<u32>], runs: Vec<RunPopulation>, in_trace: Option<u64>) -> Self {
        let counts = |job: &Seen| job.counts_in as usize == runs.len() && !runs.is_empty();
        let mut causes: BTreeMap<Standing, u64> = BTreeMap::new();
        for job in seen.iter().filter(|job| !counts(job)) {
            *causes.entry(job.cause.unwrap_or(Standing::Absent)).or_default() += 1;
        }
        let mut counting: Vec<(u32, &Seen)> = (0..).zip(seen).filter(|(_, job)| counts(job)).collect();
        // Jobs submitted at one instant keep the order of the first table that has them. Mostly the table is in order.
        counting.sort_by_key(|(_, job)| job.submit);
        let row = |rows: &[u32], number: u32| {
            rows.get(number as usize).filter(|row| **row != ABSENT).map(|row| *row as usize)
        };
        let in_run = |rows: &Vec<u32>| counting.iter().filter_map(|&(number, _)| row(rows, number)).collect();
        let not_replayed = in_trace.map_or(0, |jobs| jobs.saturating_sub(seen.len() as u64));
        let mut left_out = named(&causes);
        if not_replayed > 0 {
            left_out.insert(NOT_REPLAYED, not_replayed);
        }
        Self {
            jobs: counting.len() as u64,
            of: seen.len() as u64 + not_replayed,
            started: 0,
            not_replayed,
            of_trace: in_trace.is_some(),
            left_out,
            rows: rows.iter().map(in_run).collect(),
            runs,
            causes,
        }
    }

    /// Compares `runs` on the jobs that count in all of them: the other jobs count in none of them any more.
    pub fn share<R: Compared>(runs: &mut [R]) -> Self {
        let population = Self::of(&runs.iter().collect::<Vec<_>>());
        let started = Self::share_starts(runs);
        let population = Self { started, ..population };
        for (run, rows) in runs.iter_mut().zip(&population.rows) {
            let mut shared = vec![false; run.count()];
            for &row in rows {
                if let Some(shared) = shared.get_mut(row) {
                    *shared = true;
                }
            }
            for (row, _) in shared.iter().enumerate().filter(|(_, shared)| !**shared) {
                if run.standing(row) == Standing::Counts {
                    run.leave_out(row, Who::Ended);
                }
            }
        }
        population
    }

    /// Leaves the jobs that did not start in every run out of waits and use. Returns how many started in all.
    fn share_starts<R: Compared>(runs: &mut [R]) -> u64 {
        let numbered = Numbered::of(&runs.iter().collect::<Vec<_>>());
        let mut starts = vec![0_usize; numbered.ids];
        for (run, numbers) in runs.iter().zip(&numbered.of_rows) {
            for (row, &number) in numbers.iter().enumerate() {
                if run.is_among(row, Who::Started)
                    && let Some(starts) = starts.get_mut(number as usize)
                {
                    *starts += 1;
                }
            }
        }
        let all = runs.len();
        let in_all = |number: u32| starts.get(number as usize).is_some_and(|&starts| starts >= all);
        for (run, numbers) in runs.iter_mut().zip(&numbered.of_rows) {
            for (row, &number) in numbers.iter().enumerate() {
                if !in_all(number) && run.is_among(row, Who::Started) {
                    run.leave_out(row, Who::Started);
                }
            }
        }
        starts.iter().filter(|&&starts| starts >= all && all > 0).count() as u64
    }

    /// Which jobs waits are over, if they are not those that count: "Waiting and use cover the 4,270 jobs that started".
    pub fn starts_in_words(&self) -> Option<String> {
        let jobs = if self.started == 1 { "job" } else { "jobs" };
        (self.started > self.jobs).then(|| {
            format!("Waiting and use cover the {} {jobs} that started, whatever became of them", count(self.started))
        })
    }

    /// The population in words: "2,269 of 4,445 jobs of the trace count; left out: 2,001 unfinished, 175 failed".
    pub fn in_words(&self) -> String {
        let of_trace = if self.of_trace { " of the trace" } else { "" };
        let (jobs, of, noun) = (count(self.jobs), count(self.of), if self.of == 1 { "job" } else { "jobs" });
        if self.jobs == self.of {
            let verb = if self.of == 1 { "counts" } else { "count" };
            return format!("all {of} {noun}{of_trace} {verb}");
        }
        let mut causes: Vec<(Standing, u64)> = self.causes.iter().map(|(&cause, &jobs)| (cause, jobs)).collect();
        causes.sort_by_key(|&(cause, jobs)| (std::cmp::Reverse(jobs), cause));
        let not_replayed = (self.not_replayed > 0).then(|| format!("{} not replayed", count(self.not_replayed)));
        let causes = causes.into_iter().map(|(cause, jobs)| format!("{} {}", count(jobs), cause.in_words()));
        let causes: Vec<String> = not_replayed.into_iter().chain(causes).collect();
        let started = match self.started > self.jobs {
            true => format!("; waiting and use cover the {} that started", count(self.started)),
            false => String::new(),
        };
        format!("{jobs} of {of} {noun}{of_trace} count; left out: {}{started}", causes.join(", "))
    }

    /// For each of these further jobs, which are no part of the comparison, such as those that really ran: the rows of the jobs that
    /// count, in their order. `None` if some of them do not count there. `first` is the first of the runs that the population is of.
    pub fn rows_in(&self, further: &[JobMetrics], first: &[JobMetrics]) -> Option<Vec<usize>> {
        let mut by_id: HashMap<&str, usize> = HashMap::with_capacity(further.len());
        for (row, job) in further.iter().enumerate().filter(|(_, job)| job.standing == Standing::Counts) {
            by_id.entry(job_id(job)).or_insert(row);
        }
        let rows = self.rows.first()?.iter().map(|&row| by_id.get(job_id(first.get(row)?)).copied());
        rows.collect()
    }
}

fn named(causes: &BTreeMap<Standing, u64>) -> BTreeMap<&'static str, u64> {
    causes.iter().filter(|(_, jobs)| **jobs > 0).map(|(cause, jobs)| (cause.as_str(), *jobs)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::JobRow;
    use resched_tables::run::{RunInfo, RunTables};

    use resched_tables::model::Outcome;
    use resched_tables::run::RunWindow;

    use super::*;
    use crate::Run;
    use crate::runs::standing::pairs;

    fn job(id: &str, submit: Option<i64>, finish: Option<i64>, outcome: Outcome) -> JobRow {
        JobRow { job_id: id.to_owned(), submit, finish, outcome, ..JobRow::default() }
    }

    fn run(label: &str, window: Option<RunWindow>, jobs: Vec<JobRow>) -> Run {
        let info = RunInfo { label: label.to_owned(), window, ..RunInfo::default() };
        Run::of_rows(info, RunTables { jobs, ..RunTables::default() })
    }

    #[test]
    fn each_way_to_be_left_out_has_its_name() {
        use Outcome::{Evicted, Failed, Incomplete, Killed, Lost, Success, Unknown};
        let jobs = vec![
            job("good", Some(10), Some(20), Success),
            job("brief", Some(10), Some(10), Unknown),
            job("failed", Some(10), Some(20), Failed),
            job("lost", Some(10), Some(20), Lost),
            job("killed", Some(10), Some(20), Killed),
            job("evicted", Some(10), Some(20), Evicted),
            job("running", Some(10), Some(20), Incomplete),
            job("endless", Some(10), None, Success),
            job("early", None, Some(20), Success),
            job("late", Some(50), None, Failed),
            job("backwards", Some(10), Some(9), Success),
            job("good", Some(11), Some(30), Success),
        ];
        let found: Vec<Standing> =
            run("fifo", Some(RunWindow { from: 0, to: 50 }), jobs).jobs.iter().map(|job| job.standing).collect();
        let expected = [
            Standing::Counts,
            Standing::Counts,
            Standing::Failed,
            Standing::Failed,
            Standing::Killed,
            Standing::Killed,
            Standing::Unfinished,
            Standing::Unfinished,
            Standing::BeforeTrace,
            Standing::OutsideWindow,
            Standing::ImpossibleTimes,
            Standing::RepeatedId,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn runs_are_compared_on_the_jobs_that_count_in_all() {
        use Outcome::{Failed, Incomplete, Success};
        let first = run(
            "fifo",
            None,
            vec![
                job("late", Some(5), Some(9), Success),
                job("a", Some(1), Some(9), Success),
                job("b", Some(2), Some(9), Failed),
                job("c", Some(3), Some(9), Success),
            ],
        );
        let second = run(
            "fair",
            None,
            vec![
                job("a", Some(1), Some(7), Success),
                job("b", Some(2), Some(9), Success),
                job("c", Some(3), None, Incomplete),
                job("late", Some(5), Some(8), Success),
                job("d", Some(6), Some(9), Success),
            ],
        );
        let mut runs = vec![first, second];
        let population = Population::share(&mut runs);
        assert_eq!((population.jobs, population.of), (2, 5));
        assert_eq!(population.rows, [vec![1, 0], vec![0, 3]], "in order of submission");
        assert_eq!(population.left_out, BTreeMap::from([("absent", 1), ("failed", 1), ("unfinished", 1)]));
        let [fifo, fair] = population.runs.as_slice() else { panic!("two runs") };
        assert_eq!((fifo.jobs, &fifo.left_out), (3, &BTreeMap::from([("failed", 1), ("absent", 1)])));
        assert_eq!((fair.jobs, &fair.left_out), (4, &BTreeMap::from([("unfinished", 1)])));
        let ids = |run: &Run| run.finished_jobs().map(|job| job.job_id.clone()).collect::<Vec<_>>();
        assert_eq!([ids(&runs[0]), ids(&runs[1])], [["late", "a"], ["a", "late"]]);
        assert_eq!(population.in_words(), "2 of 5 jobs count; left out: 1 failed, 1 unfinished, 1 not in the run");
        assert_eq!(pairs(&runs[0].jobs, &runs[1].jobs).len(), 2);
        assert_eq!(
            Population::share(&mut runs[..1]).in_words(),
            "2 of 4 jobs count; left out: 1 failed, 1 not counted in another run"
        );
    }

    #[test]
    fn without_runs_or_jobs_nothing_counts() {
        assert_eq!(Population::of::<Run>(&[]).jobs, 0);
        let population = Population::of(&[&run("fifo", None, Vec::new())]);
        assert_eq!((population.jobs, population.in_words()), (0, "all 0 jobs count".to_owned()));
    }
}
