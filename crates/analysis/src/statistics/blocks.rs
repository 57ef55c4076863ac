//! How sure the ratios of two runs of one trace are: a bootstrap over blocks of jobs.
//!
//! Jobs of one run are not independent. A job that waits makes the next one wait, and the hours of a day differ. So whole blocks of
//! neighbours are drawn with replacement, not single jobs (Künsch 1989; Carlstein 1986): days if the trace has enough of them, or else
//! blocks of consecutive arrivals. A job keeps its values in both runs, and a block keeps its jobs. The number of blocks is that of
//! batch means (Schmeiser 1982).
//!
//! The estimate is on the scale of logarithms. Its standard error is that over the resamples times `√(B/(B − 1))`, as a bootstrap of
//! `B` blocks is too narrow by that factor, and the interval is Student's with `B − 1` degrees of freedom.

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};

use crate::statistics::practical::Ratio;

/// A day, ms.
const DAY: i64 = 86_400_000;
/// With fewer days, blocks are consecutive arrivals.
const LEAST_DAYS: i64 = 12;
/// More blocks would be too short to be independent.
const MOST_BLOCKS: i64 = 30;
/// With fewer blocks no test could reach 5 %, so there are no intervals either.
const LEAST_BLOCKS: usize = 6;
/// Jobs of a block of arrivals.
const LEAST_JOBS: usize = 2;
/// A quantile needs this many jobs beyond it for an interval. With fewer, it rests on single jobs.
const LEAST_BEYOND: f64 = 10.0;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 500;
/// The most values that a bootstrap looks at. With many jobs there are fewer resamples, so that the time stays bounded.
const MOST_VALUES: usize = 200_000_000;
/// The fewest resamples. The standard error is then known to 5 %.
const LEAST_RESAMPLES: usize = 200;

/// The quantiles that are compared.
pub const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// A job in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// When it was submitted in the first run, ms.
    pub submit: i64,
    /// The metric in the first run.
    pub first: f64,
    /// The metric in the second run.
    pub second: f64,
}

/// How jobs were cut into blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Each block is one day or several.
    Days,
    /// Each block is as many consecutive arrivals.
    Arrivals,
}

/// Jobs in blocks, in order of submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// How they were cut.
    pub cut: Cut,
    /// The jobs of each block.
    pub jobs: Vec<Vec<Pair>>,
}

impl Blocks {
    /// Cuts jobs into blocks; `None` if there are too few for any interval.
    pub fn new(mut pairs: Vec<Pair>) -> Option<Self> {
        // Stable, so that jobs of one instant keep their order.
        pairs.sort_by_key(|pair| pair.submit);
        let (first, last) = (pairs.first()?.submit, pairs.last()?.submit);
        let days = last.saturating_sub(first) / DAY + 1;
        if days >= LEAST_DAYS {
            // Whole days together, so that there are not too many blocks.
            let length = (days + MOST_BLOCKS - 1) / MOST_BLOCKS * DAY;
            let of = |pair: &Pair| pair.submit.saturating_sub(first) / length;
            let jobs: Vec<Vec<Pair>> = pairs.chunk_by(|a, b| of(a) == of(b)).map(<[Pair]>::to_vec).collect();
            if jobs.len() >= LEAST_BLOCKS {
                return Some(Self { cut: Cut::Days, jobs });
            }
        }
        let blocks = (pairs.len() / LEAST_JOBS).min(MOST_BLOCKS as usize);
        if blocks < LEAST_BLOCKS {
            return None;
        }
        // As even as whole jobs allow.
        let start = |block: usize| block * pairs.len() / blocks;
        let jobs = (0..blocks).filter_map(|block| pairs.get(start(block)..start(block + 1)).map(<[Pair]>::to_vec));
        Some(Self { cut: Cut::Arrivals, jobs: jobs.collect() })
    }

    /// For each block: the mean of the second run − the mean of the first.
    pub fn differences(&self) -> Vec<f64> {
        let difference =
            |jobs: &Vec<Pair>| jobs.iter().map(|pair| pair.second - pair.first).sum::<f64>() / jobs.len() as f64;
        self.jobs.iter().map(difference).collect()
    }

    /// The ratios with their intervals. `seed` is that of the resamples.
    pub fn ratios(&self, least: Option<f64>, seed: u64) -> Ratios {
        let sample = Sample::new(&self.jobs, least);
        let blocks = self.jobs.len();
        let plain = sample.logs(&vec![1; blocks], true);
        let jobs = self.jobs.iter().map(Vec::len).sum::<usize>();
        let resamples = RESAMPLES.min(MOST_VALUES / (2 * jobs).max(1)).max(LEAST_RESAMPLES);
        let quantiles = QUANTILES.iter().any(|&p| beyond(p, jobs));
        let mut rng = stream(seed, Purpose::Bootstrap, &[]);
        let mut moments = [Moments::default(); STATISTICS];
        let mut weights = vec![0u32; blocks];
        for _ in 0..resamples {
            weights.fill(0);
            for _ in 0..blocks {
                if let Some(weight) = weights.get_mut(rng.random_range(0..blocks)) {
                    *weight += 1;
                }
            }
            for (moments, log) in moments.iter_mut().zip(sample.logs(&weights, quantiles)) {
                moments.add(log);
            }
        }
        let correction = (blocks as f64 / (blocks as f64 - 1.0)).sqrt();
        let mut found = plain.into_iter().zip(moments).map(|(log, moments)| {
            log.is_finite().then(|| Ratio::of_log(log, moments.deviation() * correction, blocks))
        });
        let mut next = || found.next().flatten();
        let (means, mean_of_ratios) = (next(), next());
        let mut quantile = |p: f64| {
            let ratio = next()?;
            Some(if beyond(p, jobs) { ratio } else { Ratio::bare(ratio.value) })
        };
        let quantiles = QUANTILES.map(&mut quantile);
        Ratios { means, quantiles, mean_of_ratios: mean_of_ratios.filter(|_| least.is_some()) }
    }
}

/// Whether enough of `jobs` lie beyond a quantile.
pub(crate) fn beyond(p: f64, jobs: usize) -> bool {
    jobs as f64 * (1.0 - p) >= LEAST_BEYOND - 1e-9
}

/// The ratios of a metric: second / first. `None` if one of the two is 0 or there are no jobs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ratios {
    /// The mean of the second / the mean of the first.
    pub means: Option<Ratio>,
    /// The same of [`QUANTILES`].
    pub quantiles: [Option<Ratio>; 3],
    /// The mean over jobs of their ratios; only where values have a lower bound.
    pub mean_of_ratios: Option<Ratio>,
}

/// The logarithms of the ratios of all jobs, in the order of [`Ratios`], without intervals.
pub(crate) fn logs_of(pairs: &[Pair], least: Option<f64>) -> [f64; STATISTICS] {
    Sample::new(std::slice::from_ref(&pairs.to_vec()), least).logs(&[1], true)
}

/// The number of ratios: of means, mean of ratios, and of the quantiles.
pub(crate) const STATISTICS: usize = 2 + QUANTILES.len();

/// The jobs of all blocks, ready to be drawn again and again.
struct Sample {
    /// For each block: jobs, sums of the first and the second, sum of the ratios.
    sums: Vec<(f64, f64, f64, f64)>,
    /// The values of the first and of the second run.
    sorted: [Sorted; 2],
}

/// So many values stand in a stretch, whose weight is found at once.
const STRETCH: usize = 1_024;

/// Values, ascending, with their blocks.
struct Sorted {
    values: Vec<(f64, u32)>,
    /// For each stretch of values, how many are of each block.
    stretches: Vec<Vec<u32>>,
}

impl Sample {
    /// `least` is the lower bound of values in the mean of ratios.
    fn new(blocks: &[Vec<Pair>], least: Option<f64>) -> Self {
        let least = least.unwrap_or(f64::NAN);
        let sums = blocks.iter().map(|jobs| {
            jobs.iter().fold((0.0, 0.0, 0.0, 0.0), |(n, first, second, ratio), pair| {
                let own = pair.second.max(least) / pair.first.max(least);
                (n + 1.0, first + pair.first, second + pair.second, ratio + own)
            })
        });
        let sorted = [(|pair| pair.first) as fn(&Pair) -> f64, |pair| pair.second].map(|value| {
            let of_block =
                |(block, jobs): (u32, &Vec<Pair>)| jobs.iter().map(|pair| (value(pair), block)).collect::<Vec<_>>();
            let mut values: Vec<(f64, u32)> = (0..).zip(blocks).flat_map(of_block).collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            Sorted::new(values, blocks.len())
        });
        Self { sums: sums.collect(), sorted }
    }

    /// The logarithms of the ratios if each block counts as often as its weight says; not finite where one cannot be taken.
    fn logs(&self, weights: &[u32], quantiles: bool) -> [f64; STATISTICS] {
        let (mut jobs, mut first, mut second, mut ratios) = (0.0, 0.0, 0.0, 0.0);
        for (&(n, one, two, ratio), &weight) in self.sums.iter().zip(weights) {
            let weight = f64::from(weight);
            (jobs, first, second, ratios) =
                (jobs + weight * n, first + weight * one, second + weight * two, ratios + weight * ratio);
        }
        let mut logs = [f64::NAN; STATISTICS];
        let of = if quantiles {
            self.sorted.each_ref().map(|values| weighted_quantiles(values, weights, jobs))
        } else {
            [[f64::NAN; 3]; 2]
        };
        let [ones, twos] = of;
        let found =
            [second / first, ratios / jobs].into_iter().chain(twos.into_iter().zip(ones).map(|(two, one)| two / one));
        logs.iter_mut().zip(found).for_each(|(log, ratio)| *log = ratio.ln());
        logs
    }
}

impl Sorted {
    fn new(values: Vec<(f64, u32)>, blocks: usize) -> Self {
        let count = |stretch: &[(f64, u32)]| {
            let mut counts = vec![0; blocks];
            for (_, block) in stretch {
                counts.get_mut(*block as usize).into_iter().for_each(|count| *count += 1);
            }
            counts
        };
        Self { stretches: values.chunks(STRETCH).map(count).collect(), values }
    }

    /// How often the values of the stretch that begins at this place count; `None` if none begins there.
    fn weight_from(&self, place: usize, weights: &[u32]) -> Option<u64> {
        let counts = self.stretches.get(place / STRETCH).filter(|_| place.is_multiple_of(STRETCH))?;
        Some(counts.iter().zip(weights).map(|(&n, &weight)| u64::from(n) * u64::from(weight)).sum())
    }
}

/// The quantiles (type 7, as [`crate::statistics::distribution::Distribution::quantile`]) of values that count as often as their block says;
/// `jobs` is the sum of all weights.
fn weighted_quantiles(sorted: &Sorted, weights: &[u32], jobs: f64) -> [f64; 3] {
    let positions = QUANTILES.map(|p| p * (jobs - 1.0).max(0.0));
    let [a, b, c] = positions.map(|position| (position.floor() as u64, position.ceil() as u64));
    // In ascending order, so that one pass finds all; neighbours may share ranks.
    let mut ranks = [a.0, a.1, b.0, b.1, c.0, c.1];
    ranks.sort_unstable();
    let (mut reached, mut value, mut place) = (0u64, f64::NAN, 0);
    let found = ranks.map(|rank| {
        while reached <= rank {
            if let Some(weight) = sorted.weight_from(place, weights).filter(|weight| reached + weight <= rank) {
                (reached, place) = (reached + weight, place + STRETCH);
                continue;
            }
            let Some(&(own, block)) = sorted.values.get(place) else { break };
            place += 1;
            let weight = u64::from(weights.get(block as usize).copied().unwrap_or(0));
            if weight > 0 {
                (reached, value) = (reached + weight, own);
            }
        }
        (rank, value)
    });
    let at = |rank: u64| found.iter().find(|found| found.0 == rank).map_or(f64::NAN, |found| found.1);
    positions.map(|position| {
        let (low, high) = (at(position.floor() as u64), at(position.ceil() as u64));
        low + (high - low) * position.fract()
    })
}

/// Sums for a standard deviation (Welford 1962).
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let off = value - self.mean;
        self.mean += off / self.n;
        self.squares += off * (value - self.mean);
    }

    /// The standard deviation. It is not finite if any value was not, as a ratio that some resamples do not have rests on few blocks.
    fn deviation(self) -> f64 {
        (self.squares / (self.n - 1.0)).sqrt()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::statistics::distribution::Distribution;

    fn pairs(n: usize, gap: i64, ratio: f64) -> Vec<Pair> {
        (0..n)
            .map(|at| Pair {
                submit: at as i64 * gap,
                first: (at % 17 + 1) as f64,
                second: (at % 17 + 1) as f64 * ratio,
            })
            .collect()
    }

    #[test]
    fn days_are_blocks_if_there_are_enough() {
        let cut = |n, gap| Blocks::new(pairs(n, gap, 1.0)).map(|blocks| (blocks.cut, blocks.jobs.len()));
        assert_eq!(cut(1_000, 60_000), Some((Cut::Arrivals, 30)));
        assert_eq!(cut(15, 60_000), Some((Cut::Arrivals, 7)));
        assert_eq!(cut(11, 60_000), None);
        assert_eq!(cut(0, 60_000), None);
        // An hour apart: 480 jobs are 20 days; 2,400 are 100 days, four to a block.
        assert_eq!(cut(480, 3_600_000), Some((Cut::Days, 20)));
        assert_eq!(cut(2_400, 3_600_000), Some((Cut::Days, 25)));
    }

    #[test]
    fn blocks_hold_all_jobs_once_in_order() {
        let all = pairs(100, 1_000, 1.0);
        let mut shuffled = all.clone();
        shuffled.reverse();
        assert_eq!(Blocks::new(shuffled).unwrap().jobs.concat(), all);
    }

    #[test]
    fn weighted_quantiles_are_those_of_the_repeated_sample() {
        let sorted = Sorted::new(vec![(1.0, 0), (2.0, 1), (2.5, 0), (4.0, 2), (8.0, 3)], 4);
        for (weights, repeated) in [
            ([2, 0, 3, 0], vec![1.0, 1.0, 2.5, 2.5, 4.0, 4.0, 4.0]),
            ([1, 1, 1, 1], vec![1.0, 2.0, 2.5, 4.0, 8.0]),
            ([0, 0, 1, 0], vec![4.0]),
        ] {
            let repeated = Distribution::new(repeated);
            let expected = QUANTILES.map(|p| repeated.quantile(p).unwrap());
            assert_eq!(weighted_quantiles(&sorted, &weights, repeated.values().len() as f64), expected);
        }
    }

    /// More values than stand in a stretch.
    #[test]
    fn weighted_quantiles_of_many_values_are_those_of_the_repeated_sample() {
        let values: Vec<(f64, u32)> =
            (0..5_000).map(|n| (f64::from(n), u32::from(n > 900) + u32::from(n % 7 == 0))).collect();
        let sorted = Sorted::new(values.clone(), 3);
        for weights in [[1, 1, 1], [0, 2, 1], [3, 0, 0], [0, 0, 1]] {
            let repeated = values.iter().flat_map(|&(value, block)| vec![value; weights[block as usize] as usize]);
            let repeated = Distribution::new(repeated);
            let expected = QUANTILES.map(|p| repeated.quantile(p).unwrap());
            assert_eq!(weighted_quantiles(&sorted, &weights, repeated.values().len() as f64), expected);
        }
    }

    #[test]
    fn a_constant_ratio_has_no_width() {
        let blocks = Blocks::new(pairs(2_000, 1_000, 0.5)).unwrap();
        let found = blocks.ratios(Some(0.1), 1);
        for ratio in [found.means, found.mean_of_ratios, found.quantiles[0], found.quantiles[2]] {
            let ratio = ratio.unwrap();
            let [low, high] = ratio.interval.unwrap();
            assert!((ratio.value - 0.5).abs() < 1e-12 && (high - low).abs() < 1e-9, "{ratio:?}");
        }
        assert_eq!(blocks.ratios(Some(0.1), 1), found, "a seed gives one interval");
        assert_eq!(blocks.ratios(None, 1).mean_of_ratios, None);
    }

    #[test]
    fn a_quantile_of_few_jobs_has_no_interval() {
        let found = Blocks::new(pairs(200, 1_000, 0.5)).unwrap().ratios(None, 1);
        let [p50, p95, p99] = found.quantiles.map(|ratio| ratio.unwrap().interval.is_some());
        assert_eq!((p50, p95, p99), (true, true, false));
    }

    /// Only one block of 30 waited: most resamples lack it, so nothing is known about the spread.
    #[test]
    fn a_ratio_of_one_block_has_no_interval() {
        let mut jobs = pairs(300, 1_000, 0.5);
        jobs.iter_mut().skip(10).for_each(|pair| (pair.first, pair.second) = (0.0, 0.0));
        let found = Blocks::new(jobs).unwrap().ratios(None, 1);
        assert_eq!(found.means.unwrap().interval, None);
        assert_eq!(found.quantiles, [None, None, Some(Ratio::bare(0.5))], "3 % of the jobs waited");
    }
}
