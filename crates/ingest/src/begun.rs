//! Whether a list of Slurm's jobs begins in the middle, as one of `sacct -S` does.
//!
//! Such a list has the jobs that ran or waited at its beginning, with their submissions long before, but not those that had ended by then.
//! Slurm numbers its jobs in order. So among the jobs that were submitted before the first one ended, most numbers are missing, while
//! later they follow each other as closely as in any list of the same users and partitions.

use std::collections::BTreeSet;

use resched_tables::model::JobRow;

/// Fewer numbers than these are missing by chance.
const LEAST_MISSING: u64 = 10;
/// The fewest later jobs whose numbers are compared.
const LEAST_LATER: usize = 20;
/// Early numbers are sparse if they are at most so many times as dense as later ones.
const SPARSE: f64 = 0.5;
/// The most jobs that are looked at. Those at the beginning of a list are its first.
const MOST: usize = 1_000_000;

/// The jobs of a list: number, submission and end.
#[derive(Debug, Default)]
pub(super) struct Begun(Vec<(u64, i64, Option<i64>)>);

impl Begun {
    /// Takes note of a job.
    pub(super) fn see(&mut self, job: &JobRow) {
        if self.0.len() >= MOST {
            return;
        }
        let digits = job.job_id.split(|c: char| !c.is_ascii_digit()).next();
        let number = digits.and_then(|digits| digits.parse().ok());
        if let (Some(number), Some(submit)) = (number, job.submit) {
            self.0.push((number, submit, job.finish));
        }
    }

    /// When the list begins, ms, if that is in the middle: the first end of a job. `None` if it seems to be whole.
    pub(super) fn at(&self) -> Option<i64> {
        let begin = self.0.iter().filter_map(|&(_, _, finish)| finish).min()?;
        let (early, late): (Vec<_>, Vec<_>) = self.0.iter().partition(|&&(_, submit, _)| submit < begin);
        let (early, late) = (Numbers::of(early), Numbers::of(late));
        let is_sparse = early.density() <= SPARSE * late.density();
        (early.missing() >= LEAST_MISSING && late.distinct >= LEAST_LATER && is_sparse).then_some(begin)
    }
}

/// Numbers of jobs, and the range that they cover.
struct Numbers {
    distinct: usize,
    range: u64,
}

impl Numbers {
    fn of(jobs: Vec<&(u64, i64, Option<i64>)>) -> Self {
        let numbers: BTreeSet<u64> = jobs.into_iter().map(|&(number, ..)| number).collect();
        let range = numbers.first().zip(numbers.last()).map_or(0, |(first, last)| (last - first).saturating_add(1));
        Self { distinct: numbers.len(), range }
    }

    fn missing(&self) -> u64 {
        self.range.saturating_sub(self.distinct as u64)
    }

    fn density(&self) -> f64 {
        self.distinct as f64 / self.range.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job every minute that runs for ten minutes, but every fiftieth for two days.
    fn jobs() -> Vec<JobRow> {
        let job = |number: i64| JobRow {
            job_id: (1_000 + number).to_string(),
            submit: Some(number * 60_000),
            finish: Some(number * 60_000 + if number % 50 == 0 { 172_800_000 } else { 600_000 }),
            ..JobRow::default()
        };
        (0..3_000).map(job).collect()
    }

    fn found<'j>(jobs: impl Iterator<Item = &'j JobRow>) -> Option<i64> {
        let mut begun = Begun::default();
        jobs.for_each(|job| begun.see(job));
        begun.at()
    }

    #[test]
    fn a_list_from_a_day_on_begins_there_and_a_whole_one_does_not() {
        let all = jobs();
        assert_eq!(found(all.iter()), None);
        let from = 86_400_000;
        assert_eq!(found(all.iter().filter(|job| job.finish >= Some(from))), Some(from));
        // The jobs of one user are sparse everywhere.
        assert_eq!(found(all.iter().step_by(3)), None);
        // A list of the jobs that were submitted from a day on has no job from before.
        assert_eq!(found(all.iter().filter(|job| job.submit >= Some(from))), None);
    }
}
