//! What comparisons need of a run, whether all of its jobs' metrics are kept or only an outline.

use std::borrow::Cow;

use hashbrown::HashMap;
use resched_tables::run::RunInfo;
use resched_tables::standing::Standing;

use crate::metrics::list::quantity;
use crate::runs::run::Run;
use crate::runs::standing::job_id;
use crate::runs::who::Who;

/// A run that is compared with others.
pub trait Compared {
    /// Its label: the policy with its parameters, or `observed`.
    fn label(&self) -> &str;

    /// The description of the replay; `None` for a trace.
    fn replay(&self) -> Option<&RunInfo>;

    /// How many jobs it has.
    fn count(&self) -> usize;

    /// The id of the job in that row.
    fn job_id(&self, row: usize) -> &str;

    /// Whether the job in that row counts, or why not.
    fn standing(&self, row: usize) -> Standing;

    /// True if numbers over these jobs cover the one in that row.
    fn is_among(&self, row: usize, who: Who) -> bool;

    /// Leaves the job in that row out of the numbers over these jobs, because it is not among them in another run.
    fn leave_out(&mut self, row: usize, who: Who);

    /// The quantity of that word ([`crate::metrics::named::QUANTITIES`]) of every job. An outline has only those of a summary.
    fn numbers(&self, word: &str) -> Numbers<'_>;

    /// True if so many maps, or so many reduces, ever ran at once.
    fn ever_ran(&self, least: [u64; 2]) -> bool;

    /// The run with all metrics of its jobs, if it is one.
    fn run(&self) -> Option<&Run>;
}

/// A quantity of the jobs of a run, row by row. What is unknown is no number.
#[derive(Debug, Clone)]
pub enum Numbers<'a> {
    /// All jobs have this one.
    Same(f64),
    /// Each has its own.
    Each(Cow<'a, [f64]>),
}

impl Numbers<'_> {
    /// The number in that row; `None` if it is unknown.
    #[inline]
    pub fn get(&self, row: usize) -> Option<f64> {
        let number = match self {
            Self::Same(number) => *number,
            Self::Each(numbers) => *numbers.get(row)?,
        };
        (!number.is_nan()).then_some(number)
    }
}

impl Compared for Run {
    fn label(&self) -> &str {
        &self.label
    }

    fn replay(&self) -> Option<&RunInfo> {
        self.replay()
    }

    fn count(&self) -> usize {
        self.jobs.len()
    }

    fn job_id(&self, row: usize) -> &str {
        self.jobs.get(row).map_or("", job_id)
    }

    fn standing(&self, row: usize) -> Standing {
        self.jobs.get(row).map_or(Standing::Absent, |job| job.standing)
    }

    fn is_among(&self, row: usize, who: Who) -> bool {
        self.jobs.get(row).is_some_and(|job| job.is_among(who))
    }

    fn leave_out(&mut self, row: usize, who: Who) {
        if let Some(job) = self.jobs.get_mut(row) {
            job.leave_out(who);
        }
    }

    fn numbers(&self, word: &str) -> Numbers<'_> {
        let Some(quantity) = quantity(word) else { return Numbers::Same(f64::NAN) };
        Numbers::Each(self.jobs.iter().map(|job| (quantity.of)(job).unwrap_or(f64::NAN)).collect())
    }

    fn ever_ran(&self, least: [u64; 2]) -> bool {
        self.peaks.iter().zip(least).any(|(&peak, least)| peak >= least as f64)
    }

    fn run(&self) -> Option<&Run> {
        Some(self)
    }
}

/// The rows of the jobs that count in a run.
pub fn counting_rows<R: Compared + ?Sized>(run: &R) -> impl Iterator<Item = usize> {
    rows_among(run, Who::Ended)
}

/// The rows of the jobs that are among these in a run.
pub fn rows_among<R: Compared + ?Sized>(run: &R, who: Who) -> impl Iterator<Item = usize> {
    (0..run.count()).filter(move |row| run.is_among(*row, who))
}

/// True if these runs have the same jobs, each once and in one order, as replays of one trace do.
pub(crate) fn have_same_jobs<R: Compared>(runs: &[&R]) -> bool {
    let Some((first, others)) = runs.split_first() else { return false };
    let same =
        |run: &&R| run.count() == first.count() && (0..run.count()).all(|row| run.job_id(row) == first.job_id(row));
    let repeated = (0..first.count()).any(|row| first.standing(row) == Standing::RepeatedId);
    !repeated && others.iter().all(same)
}

/// The rows of the jobs that count in both of two runs, in the order of the first: `(in the first, in the second)`.
pub(crate) fn row_pairs<R: Compared>(first: &R, second: &R) -> Vec<(usize, usize)> {
    if have_same_jobs(&[first, second]) {
        let in_second = |row: &usize| second.standing(*row) == Standing::Counts;
        return counting_rows(first).filter(in_second).map(|row| (row, row)).collect();
    }
    let by_id: HashMap<&str, usize> = counting_rows(second).map(|row| (second.job_id(row), row)).collect();
    counting_rows(first).filter_map(|row| Some((row, *by_id.get(first.job_id(row))?))).collect()
}
