//! How near to the truth jobs start, and whether two distributions differ.

use serde::Serialize;

use super::Compared;
use crate::runs::jobs::JobMetrics;

/// The distances within which starts are counted, ms.
pub const WITHIN_MS: [i64; 3] = [1_000, 2_000, 10_000];

/// How near to what was observed jobs start in the replay. The clock of each run starts at the first submission of the jobs compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StartError {
    /// The jobs whose start is known in both.
    pub jobs: u64,
    /// The mean of `|replayed − observed|`, ms.
    pub mean_ms: f64,
    /// The share (0 to 1) of the jobs that start within each of [`WITHIN_MS`].
    pub within: [f64; 3],
}

/// The error of the starts of these jobs; `None` if no start is known.
pub(super) fn start_error(compared: &[Compared]) -> Option<StartError> {
    let submits = |pick: fn(&Compared) -> Option<i64>| compared.iter().filter_map(pick).min();
    let (zero, other_zero) = (submits(|pair| pair.0.submit)?, submits(|pair| pair.1.submit)?);
    let start = |job: &JobMetrics| Some(job.begin()? + job.waiting?);
    let distances: Vec<i64> = compared
        .iter()
        .filter_map(|(one, other)| {
            let observed = start(one)? - zero;
            Some((start(other)? - other_zero - observed).abs())
        })
        .collect();
    let jobs = distances.len();
    let share = |within: i64| distances.iter().filter(|&&distance| distance <= within).count() as f64 / jobs as f64;
    (jobs > 0).then(|| StartError {
        jobs: jobs as u64,
        mean_ms: distances.iter().map(|&distance| distance as f64).sum::<f64>() / jobs as f64,
        within: WITHIN_MS.map(share),
    })
}

/// The distance of two distributions (Kolmogorov, Smirnov) from which on they differ at a level of 5 %, for samples of these
/// sizes: `1.358 · √((n + m) / (n · m))`, the limit for large samples.
pub fn critical_distance(n: usize, m: usize) -> Option<f64> {
    (n > 0 && m > 0).then(|| 1.358 * ((n + m) as f64 / (n as f64 * m as f64)).sqrt())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn job(submit: i64, waiting: Option<i64>) -> JobMetrics {
        JobMetrics { submit: Some(submit), waiting, ..JobMetrics::default() }
    }

    #[test]
    fn starts_are_counted_by_distance_on_clocks_of_their_own() {
        let observed = [job(1_000, Some(0)), job(2_000, Some(500)), job(3_000, Some(9_000)), job(4_000, None)];
        let replayed = [job(50, Some(1_000)), job(1_050, Some(2_500)), job(2_050, Some(0)), job(3_050, Some(1))];
        let pairs: Vec<Compared> = observed.iter().zip(&replayed).collect();
        let found = start_error(&pairs).unwrap();
        // Distances: 1,000, 2,000 and 9,000 ms.
        assert_eq!((found.jobs, found.mean_ms), (3, 4_000.0));
        assert_eq!(found.within, [1.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(start_error(&[]), None);
    }

    /// For n = m = 100, tables have 0.192.
    #[test]
    fn the_critical_distance_is_that_of_tables() {
        assert!((critical_distance(100, 100).unwrap() - 0.192).abs() < 1e-3);
        assert_eq!(critical_distance(0, 5), None);
    }
}
