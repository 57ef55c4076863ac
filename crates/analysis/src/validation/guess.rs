//! Which scheduler ran a trace: the one whose replay is most like it.

use serde::Serialize;

use super::{ComparedJob, Validation};

/// A job says schedulers apart if their replays of its completion time differ by this share of the observed one.
const TELLING: f64 = 0.05;
/// The least mean error of a candidate: a replay is not truer than its clock and its draws.
const LEAST_ERROR: f64 = 0.005;
/// A guess below this probability is hardly one.
const LIKELY: f64 = 0.9;

/// What a trace says about the scheduler that ran it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Guess {
    /// The probability of each candidate, in their order.
    pub probabilities: Vec<f64>,
    /// Jobs whose completion depends on the candidate.
    pub distinguishing_jobs: u64,
    /// The number of independent observations that they are worth: jobs that overlap in time share their errors, and each counts as
    /// one over the number of such jobs at its time.
    pub observations: f64,
}

impl Guess {
    /// The most probable candidate; the first one if the trace cannot say.
    pub fn best(&self) -> usize {
        let better = |best: usize, (place, probability): (usize, &f64)| {
            let known = self.probabilities.get(best).copied().unwrap_or(0.0);
            if *probability > known { place } else { best }
        };
        self.probabilities.iter().enumerate().fold(0, better)
    }

    /// True if the trace says the candidates apart at all.
    pub fn can_tell(&self) -> bool {
        self.distinguishing_jobs > 0
    }

    /// True if it points clearly at one.
    pub fn is_clear(&self) -> bool {
        self.can_tell() && self.probabilities.iter().any(|&probability| probability >= LIKELY)
    }
}

/// The probabilities of candidates, each of which was replayed with the same seeds.
///
/// Before, all are equally likely. The errors `|ln(replayed / observed)|` of the jobs that say are taken as exponential with a mean of
/// their own for each candidate (the absolute values of Laplace's law), so a candidate with the mean error `e` has the likelihood
/// `e^(−n)` for `n` observations. Only the likelihoods' ratios count.
pub fn guess(candidates: &[Vec<&Validation>]) -> Guess {
    let equal = 1.0 / candidates.len().max(1) as f64;
    let unknown = Guess { probabilities: vec![equal; candidates.len()], ..Guess::default() };
    let Some(first) = candidates.first().and_then(|seeds| seeds.first()) else { return unknown };
    let place = |job: &ComparedJob, replay: &Validation| {
        replay
            .jobs
            .binary_search_by_key(&job.row, |other| other.row)
            .ok()
            .and_then(|place| replay.jobs.get(place).copied())
    };
    let of_candidate = |job: &ComparedJob, seeds: &Vec<&Validation>| -> Option<f64> {
        let logs: Option<Vec<f64>> = seeds.iter().map(|replay| Some(place(job, replay)?.log_error())).collect();
        crate::statistics::distribution::mean(&logs?)
    };
    let reports = |job: &&ComparedJob| {
        let logs: Option<Vec<f64>> = candidates.iter().map(|seeds| of_candidate(job, seeds)).collect();
        logs.is_some_and(|logs| {
            let (low, high) = logs.iter().fold((f64::MAX, f64::MIN), |(low, high), &log| (low.min(log), high.max(log)));
            high - low > TELLING
        })
    };
    let telling: Vec<&ComparedJob> = first.jobs.iter().filter(reports).collect();
    if telling.is_empty() {
        return unknown;
    }
    let error = |seeds: &Vec<&Validation>| {
        let sizes = telling
            .iter()
            .flat_map(|job| seeds.iter().filter_map(|replay| Some(place(job, replay)?.log_error().abs())));
        crate::statistics::distribution::mean(&sizes.collect::<Vec<f64>>()).unwrap_or(0.0).max(LEAST_ERROR)
    };
    let observations = independent(&telling);
    let logs: Vec<f64> = candidates.iter().map(|seeds| -observations * error(seeds).ln()).collect();
    let highest = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - highest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    Guess {
        probabilities: weights.iter().map(|weight| weight / sum).collect(),
        distinguishing_jobs: telling.len() as u64,
        observations,
    }
}

/// The sum over jobs of one over the number of these jobs that overlap with it in time, itself included.
fn independent(jobs: &[&ComparedJob]) -> f64 {
    let mut starts: Vec<i64> = jobs.iter().map(|job| job.submit).collect();
    let mut ends: Vec<i64> = jobs.iter().map(|job| job.submit + job.observed).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let overlapping = |job: &&ComparedJob| {
        let begun = starts.partition_point(|&start| start < job.submit + job.observed);
        let over = ends.partition_point(|&end| end <= job.submit);
        1.0 / begun.saturating_sub(over).max(1) as f64
    };
    jobs.iter().map(overlapping).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(jobs: &[(i64, i64, i64)]) -> Validation {
        let job = |(row, &(submit, observed, replayed)): (usize, &(i64, i64, i64))| ComparedJob {
            row,
            submit,
            observed,
            replayed,
        };
        Validation { jobs: jobs.iter().enumerate().map(job).collect(), ..Validation::default() }
    }

    /// Two jobs of 100 s one after the other: the first candidate is off by 1 %, the second by a factor of e^0.2 in both. n = 2, so
    /// the odds are (0.2 / 0.00995)² = 404.
    #[test]
    fn the_candidate_with_the_smaller_error_is_likelier() {
        let good = replay(&[(0, 100_000, 101_000), (200_000, 100_000, 101_000)]);
        let far = (100_000.0 * 0.2_f64.exp()) as i64;
        let bad = replay(&[(0, 100_000, far), (200_000, 100_000, far)]);
        let found = guess(&[vec![&bad], vec![&good]]);
        let odds = (0.2 / 1.01_f64.ln()).powi(2);
        let probability = found.probabilities.get(1).copied().unwrap_or(0.0);
        assert!((probability - odds / (1.0 + odds)).abs() < 1e-4, "{found:?}");
        assert_eq!((found.best(), found.distinguishing_jobs, found.observations), (1, 2, 2.0));
        assert!(found.is_clear());
    }

    #[test]
    fn jobs_at_one_time_count_as_one() {
        let jobs = [(0, 100, 150), (10, 100, 150), (20, 100, 150), (200, 50, 75)];
        let found = guess(&[vec![&replay(&jobs)], vec![&replay(&jobs.map(|(at, o, _)| (at, o, o)))]]);
        assert!((found.observations - 2.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn replays_that_agree_report_nothing() {
        let same = replay(&[(0, 100_000, 120_000)]);
        let found = guess(&[vec![&same], vec![&same]]);
        assert_eq!((found.best(), found.can_tell(), found.probabilities), (0, false, vec![0.5, 0.5]));
    }
}
