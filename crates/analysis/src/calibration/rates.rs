//! Bytes per second: of maps, of the reduce phase and of the shuffle.

use std::collections::BTreeMap;

use super::fitted::{Fitted, LEAST, bootstrap_error};
use super::observed::{Observed, span};
use crate::statistics::distribution::Distribution;

/// The fewest bytes of an attempt. The run time of a smaller one shows its start-up and not its speed.
const LEAST_BYTES: u64 = 1 << 20;
/// The most early reduces of a job that are used. Each takes a pass over all maps of the job.
const MOST_EARLY: usize = 100;

/// The rate at which reduces fetch.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct ShuffleRate {
    /// Bytes per second.
    #[serde(flatten)]
    pub rate: Fitted,
    /// True if it is from reduces that started after the last map of their job, or from those that started before.
    pub from_late_reduces: bool,
}

/// Bytes per second that a map reads: the input of successful maps over their run times, all levels together.
pub fn map_rate(observed: &Observed) -> Fitted {
    let maps = observed.attempts.iter().filter(|attempt| attempt.is_good_map());
    rate(maps.filter_map(|map| Some((map.job, map.input_bytes?, map.run_time()?))))
}

/// Bytes per second of the reduce phase: what successful reduces fetched over the time from the end of the sort to the finish.
pub fn reduce_rate(observed: &Observed) -> Fitted {
    let reduces = observed.attempts.iter().filter(|attempt| attempt.is_good_reduce());
    rate(
        reduces
            .filter_map(|reduce| Some((reduce.job, reduce.shuffle_bytes?, span(reduce.sort_finish?, reduce.finish?)?))),
    )
}

/// Bytes per second that a reduce fetches (`cost.shuffle_rate`, `docs/model/reduces.md`, R2).
///
/// For a reduce that started after the last map of its job, this is its bytes over the time to the end of its shuffle. With fewer
/// than ten of these, the others are used. For each of them the fluid model is solved for the rate: with map ends `t_k` and `B` bytes of `M` equal maps,
/// the shuffle ends at `e = max_k (t_k + (M − k)/M · B/s)` and not before `start + B/s`, so `s` is the largest of
/// `B / (e − start)` and `(M − k)/M · B / (e − t_k)`, `k` maps done before `t_k`; the median over reduces is taken. Bytes are
/// those that the reduce counted, or an equal share of the job's.
pub fn shuffle_rate(observed: &Observed) -> ShuffleRate {
    let mut ends: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.is_good_map()) {
        ends.entry(map.job).or_default().extend(map.finish);
    }
    ends.values_mut().for_each(|ends| ends.sort_unstable());
    let mut late = Vec::new();
    let mut early: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for reduce in observed.attempts.iter().filter(|attempt| attempt.is_good_reduce()) {
        let job = observed.jobs.get(reduce.job).copied().unwrap_or_default();
        let share = || Some(job.shuffle_bytes? / job.reduces.filter(|&reduces| reduces > 0)?);
        let (Some(start), Some(end)) = (reduce.start, reduce.shuffle_finish) else { continue };
        let (Some(ends), Some(bytes)) = (ends.get(&reduce.job), reduce.shuffle_bytes.or_else(share)) else { continue };
        if ends.last().is_some_and(|&last| start >= last) {
            late.extend(span(start, end).map(|time| (reduce.job, bytes, time)));
        } else if bytes >= LEAST_BYTES {
            let of_job = early.entry(reduce.job).or_default();
            if of_job.len() < MOST_EARLY {
                of_job.extend(fluid_rate(ends, bytes as f64, start, end));
            }
        }
    }
    let from_late = rate(late.into_iter());
    if from_late.value.is_some() || early.is_empty() {
        return ShuffleRate { rate: from_late, from_late_reduces: true };
    }
    let rates = Distribution::new(early.into_values().flatten());
    let n = rates.values().len() as u64;
    let median = rates.median().filter(|_| n >= LEAST);
    let error = bootstrap_error(rates.values(), 1, |sample| Distribution::new(sample.iter().copied()).median());
    let rate = median.map_or(Fitted::unknown(n), |median| Fitted::of(median, error, n));
    ShuffleRate { rate, from_late_reduces: false }
}

/// The rate, in bytes per second, at which the fluid shuffle of a reduce ends at `end`; `None` if it ends before the last map.
fn fluid_rate(map_ends: &[i64], bytes: f64, start: i64, end: i64) -> Option<f64> {
    let maps = map_ends.len() as f64;
    let whole = bytes / span(start, end)?;
    let rest = |(before, &map_end): (usize, &i64)| Some((maps - before as f64) / maps * bytes / span(map_end, end)?);
    let rates: Option<Vec<f64>> = map_ends.iter().enumerate().map(rest).collect();
    Some(rates?.into_iter().fold(whole, f64::max) * 1_000.0)
}

/// Bytes over time, in bytes per second, of (job, bytes, ms): the ratio of the sums, with the linearised standard error of a
/// ratio estimator (Cochran 1977, ch. 6) over jobs, or over attempts where there is one job only. Attempts with less than 1 MiB
/// are left out.
fn rate(attempts: impl Iterator<Item = (usize, u64, f64)>) -> Fitted {
    let attempts: Vec<(usize, f64, f64)> = attempts
        .filter(|attempt| attempt.1 >= LEAST_BYTES)
        .map(|(job, bytes, ms)| (job, bytes as f64, ms / 1_000.0))
        .collect();
    let n = attempts.len() as u64;
    if n < LEAST {
        return Fitted::unknown(n);
    }
    let mut jobs: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for &(job, bytes, seconds) in &attempts {
        let sums = jobs.entry(job).or_default();
        *sums = (sums.0 + bytes, sums.1 + seconds);
    }
    let groups: Vec<(f64, f64)> = if jobs.len() > 1 {
        jobs.into_values().collect()
    } else {
        attempts.iter().map(|&(_, bytes, seconds)| (bytes, seconds)).collect()
    };
    let (bytes, seconds) = groups.iter().fold((0.0, 0.0), |sums, group| (sums.0 + group.0, sums.1 + group.1));
    let (ratio, count) = (bytes / seconds, groups.len() as f64);
    let squares: f64 = groups.iter().map(|group| (group.0 - ratio * group.1).powi(2)).sum();
    Fitted::of(ratio, Some((squares * count / (count - 1.0)).sqrt() / seconds), n)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::TaskKind;

    use super::*;
    use crate::calibration::{Attempt, Job};

    fn map(job: usize, finish: i64, input_bytes: u64) -> Attempt {
        let (kind, succeeded) = (TaskKind::Map, true);
        Attempt {
            job,
            kind,
            start: Some(0),
            finish: Some(finish),
            succeeded,
            input_bytes: Some(input_bytes),
            ..Attempt::default()
        }
    }

    fn reduce(job: usize, start: i64, shuffled: i64, finish: i64, bytes: Option<u64>) -> Attempt {
        Attempt {
            job,
            kind: TaskKind::Reduce,
            start: Some(start),
            shuffle_finish: Some(shuffled),
            sort_finish: Some(shuffled),
            finish: Some(finish),
            succeeded: true,
            shuffle_bytes: bytes,
            ..Attempt::default()
        }
    }

    fn close(found: Fitted, planted: f64) -> bool {
        found.value.is_some_and(|value| (value / planted - 1.0).abs() < 1e-6)
    }

    #[test]
    fn rates_are_bytes_over_time() {
        // 2 MB/s in the one job, 4 MB/s in the other, which takes as long: 3 MB/s.
        let maps = (0..10).map(|n| map(n % 2, 10_000, if n % 2 == 0 { 20_000_000 } else { 40_000_000 }));
        let reduces = (0..10).map(|_| reduce(0, 20_000, 25_000, 35_000, Some(50_000_000)));
        let observed = Observed { attempts: maps.chain(reduces).collect(), ..Observed::default() };
        let maps = map_rate(&observed);
        assert!(close(maps, 3e6) && maps.n == 10, "{maps:?}");
        // Two jobs, each 50 MB off in sums over 100 s: √(2 · 2 · 50²) / 100.
        assert!((maps.standard_error.unwrap() - 1e6).abs() < 1.0, "{maps:?}");
        assert!(close(reduce_rate(&observed), 5e6));
        let found = shuffle_rate(&observed);
        assert!(close(found.rate, 1e7) && found.from_late_reduces && found.rate.n == 10, "{found:?}");
    }

    /// The example of `docs/model/reduces.md`: map ends at 10, 20, 30 s with 10 MB each, 2 MB/s; a reduce of 12 s has all at 35 s, one of
    /// 0 s too.
    #[test]
    fn the_fluid_shuffle_is_solved_for_its_rate() {
        let ends = [10_000, 20_000, 30_000];
        for start in [0, 12_000] {
            assert!((fluid_rate(&ends, 30e6, start, 35_000).unwrap() - 2e6).abs() < 1.0);
        }
        assert!((fluid_rate(&ends, 30e6, 25_000, 40_000).unwrap() - 2e6).abs() < 1.0);
        assert_eq!(fluid_rate(&ends, 30e6, 0, 30_000), None);
        let maps = ends.map(|end| map(0, end, 0));
        let reduces = (0..10).map(|_| reduce(0, 12_000, 35_000, 40_000, None));
        let job = Job { reduces: Some(10), shuffle_bytes: Some(300_000_000), ..Job::default() };
        let attempts = maps.into_iter().chain(reduces).collect();
        let found = shuffle_rate(&Observed { jobs: vec![job], attempts, ..Observed::default() });
        assert!(close(found.rate, 2e6) && !found.from_late_reduces, "{found:?}");
    }

    #[test]
    fn too_few_give_no_rate() {
        let attempts: Vec<Attempt> =
            [LEAST_BYTES, 5].into_iter().flat_map(|bytes| vec![map(0, 1_000, bytes); 9]).collect();
        let observed = Observed { attempts, ..Observed::default() };
        assert_eq!(map_rate(&observed), Fitted::unknown(9));
        assert_eq!(shuffle_rate(&observed).rate, Fitted::unknown(0));
    }
}
