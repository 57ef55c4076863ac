//! How sure the ratios of two runs of one trace are: a bootstrap over blocks of jobs.
//!
//! Jobs of one run are not independent. A job that waits makes the next one wait, and a queue may remember for days. So whole blocks of
//! neighbours are drawn with replacement, not single jobs (Künsch 1989; Carlstein 1986). Blocks follow the queue: they are cut only where
//! no job waits in either run, as the regenerative method cuts a simulation (Crane and Iglehart 1975), and none is shorter than jobs
//! typically run. A job keeps its values in both runs, and a block keeps its jobs. The number of blocks is that of batch means
//! (Schmeiser 1982). With fewer than [`LEAST_BLOCKS`], or with blocks that still resemble their neighbours, the log does not show what
//! other days would bring, and there is no interval.
//!
//! The estimate is on the scale of logarithms. Its standard error is that over the resamples times `√(B/(B − 1))`, as a bootstrap of
//! `B` blocks is too narrow by that factor. In a queue, a few busy periods make most of the waiting, and a log may lack the one that
//! decides. Two rules make up for that. The degrees of freedom of Student's interval are those of the blocks that decide:
//! `(Σz²)²/Σz⁴ − 1` for the influences `z` of the blocks, which is `B − 1` if all have the same and 0 if a single block decides. And the
//! interval leans to the side on which the rare blocks are, by the skewness of the influences (Hall 1992).

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};

use crate::statistics::practical::{Ratio, Spread};

/// More blocks would be too short to be independent.
const MOST_BLOCKS: usize = 30;
/// With fewer blocks, intervals hold the truth too rarely.
pub const LEAST_BLOCKS: usize = 15;
/// Jobs of a block.
const LEAST_JOBS: usize = 2;
/// Blocks whose influences resemble those of their neighbours more than this are not independent. Of 30 independent blocks, one set in
/// twenty does.
const MOST_ALIKE: f64 = 0.3;
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
    /// Until when it waits for its first task, in the run in which it waits longer, ms.
    pub waits_until: i64,
    /// How long it takes from then on, in the run in which that is shorter, ms.
    pub runs: i64,
    /// The metric in the first run.
    pub first: f64,
    /// The metric in the second run.
    pub second: f64,
}

/// Jobs in blocks, in order of submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// The jobs of each block.
    pub jobs: Vec<Vec<Pair>>,
}

/// The blocks of a log are too few, or too much alike, to show what other days would bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFew {
    /// The number of blocks.
    pub blocks: usize,
}

impl Blocks {
    /// Cuts jobs into blocks.
    ///
    /// # Errors
    /// [`TooFew`] if there are too few for an interval, or they depend on each other.
    pub fn new(mut pairs: Vec<Pair>) -> Result<Self, TooFew> {
        // Stable, so that jobs of one instant keep their order.
        pairs.sort_by_key(|pair| pair.submit);
        let blocks = Self { jobs: cut(&pairs) };
        let found = blocks.jobs.len();
        if found < LEAST_BLOCKS || blocks.resemble_neighbours() {
            return Err(TooFew { blocks: found });
        }
        Ok(blocks)
    }

    /// True if the influence of a block on the ratio of means resembles that of the next one.
    fn resemble_neighbours(&self) -> bool {
        let sums: Vec<(f64, f64)> = self.jobs.iter().map(|jobs| sums(jobs)).collect();
        let total = sums.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        let influence: Vec<f64> = sums.iter().map(|sum| sum.1 / total.1 - sum.0 / total.0).collect();
        let squares: f64 = influence.iter().map(|z| z * z).sum();
        let beside: f64 = influence.iter().zip(influence.iter().skip(1)).map(|(one, next)| one * next).sum();
        // Not true where there is nothing to divide.
        beside > MOST_ALIKE * squares
    }

    /// For each block: the mean of the second run − the mean of the first.
    pub fn differences(&self) -> Vec<f64> {
        let difference =
            |jobs: &Vec<Pair>| jobs.iter().map(|pair| pair.second - pair.first).sum::<f64>() / jobs.len() as f64;
        self.jobs.iter().map(difference).collect()
    }

    /// The ratio of means with its interval alone, which takes little time. `seed` is that of the resamples.
    pub fn ratio_of_means(&self, seed: u64) -> Option<Ratio> {
        let sums: Vec<(f64, f64)> = self.jobs.iter().map(|jobs| sums(jobs)).collect();
        let of = |weights: &[u32]| {
            let weighted = sums.iter().zip(weights).fold((0.0, 0.0), |sum, (part, &weight)| {
                (sum.0 + part.0 * f64::from(weight), sum.1 + part.1 * f64::from(weight))
            });
            [(weighted.1 / weighted.0).ln()]
        };
        let [found] = self.estimates(RESAMPLES, seed, |weights, _| of(weights));
        found
    }

    /// The ratios with their intervals. `seed` is that of the resamples.
    pub fn ratios(&self, least: Option<f64>, seed: u64) -> Ratios {
        let sample = Sample::new(&self.jobs, least);
        let jobs = self.jobs.iter().map(Vec::len).sum::<usize>();
        let resamples = RESAMPLES.min(MOST_VALUES / (2 * jobs).max(1)).max(LEAST_RESAMPLES);
        let any_quantile = QUANTILES.iter().any(|&p| beyond(p, jobs));
        let found = self.estimates(resamples, seed, |weights, is_drawn| {
            // Without intervals, quantiles are needed once.
            sample.logs(weights, any_quantile || !is_drawn)
        });
        let mut found = found.into_iter();
        let mut next = || found.next().flatten();
        let (means, mean_of_ratios) = (next(), next());
        let mut quantile = |p: f64| {
            let ratio = next()?;
            Some(if beyond(p, jobs) { ratio } else { Ratio::bare(ratio.value) })
        };
        let quantiles = QUANTILES.map(&mut quantile);
        Ratios { means, quantiles, mean_of_ratios: mean_of_ratios.filter(|_| least.is_some()) }
    }

    /// Ratios with their intervals. `logs` has the logarithms for the weights of the blocks, which may be drawn.
    fn estimates<const N: usize>(
        &self,
        resamples: usize,
        seed: u64,
        logs: impl Fn(&[u32], bool) -> [f64; N],
    ) -> [Option<Ratio>; N] {
        let blocks = self.jobs.len();
        let plain = logs(&vec![1; blocks], false);
        let mut rng = stream(seed, Purpose::Bootstrap, &[]);
        let mut moments = [Moments::default(); N];
        let mut weights = vec![0u32; blocks];
        for _ in 0..resamples {
            weights.fill(0);
            for _ in 0..blocks {
                if let Some(weight) = weights.get_mut(rng.random_range(0..blocks)) {
                    *weight += 1;
                }
            }
            for (moments, log) in moments.iter_mut().zip(logs(&weights, true)) {
                moments.add(log);
            }
        }
        let mut influences: [Influences; N] = std::array::from_fn(|_| Influences::default());
        for left_out in 0..blocks {
            weights.fill(1);
            weights.get_mut(left_out).into_iter().for_each(|weight| *weight = 0);
            for ((influences, log), plain) in influences.iter_mut().zip(logs(&weights, true)).zip(plain) {
                influences.0.push(plain - log);
            }
        }
        let correction = (blocks as f64 / (blocks as f64 - 1.0)).sqrt();
        std::array::from_fn(|place| {
            let (log, moments, influences) = (plain.get(place)?, moments.get(place)?, influences.get(place)?);
            let spread = influences.spread(moments.deviation() * correction);
            log.is_finite().then(|| spread.map_or(Ratio::bare(log.exp()), |spread| Ratio::with_spread(*log, spread)))
        })
    }
}

/// The blocks of jobs in order of submission. A block begins where no earlier job waits in either run, once the one before has its share
/// of the jobs and is as long as jobs typically run.
fn cut(pairs: &[Pair]) -> Vec<Vec<Pair>> {
    let (jobs, length) = (pairs.len().div_ceil(MOST_BLOCKS).max(LEAST_JOBS), typical_run(pairs));
    let is_long =
        |block: &[Pair], until: i64| block.first().is_some_and(|job| until.saturating_sub(job.submit) as f64 >= length);
    let mut blocks: Vec<Vec<Pair>> = Vec::new();
    let mut waits_until = i64::MIN;
    for pair in pairs {
        let is_idle = waits_until <= pair.submit;
        match blocks.last_mut() {
            Some(block) if !is_idle || block.len() < jobs || !is_long(block, pair.submit) => block.push(*pair),
            _ => blocks.push(vec![*pair]),
        }
        waits_until = waits_until.max(pair.waits_until);
    }
    let ends = pairs.iter().map(|pair| pair.submit.max(pair.waits_until).saturating_add(pair.runs)).max();
    let is_rest = |block: &[Pair]| 2 * block.len() < jobs || !is_long(block, ends.unwrap_or_default());
    if blocks.len() > 1
        && let Some(rest) = blocks.pop_if(|block| is_rest(block))
        && let Some(block) = blocks.last_mut()
    {
        block.extend(rest);
    }
    blocks
}

/// How long the job takes that runs at a random moment of all running time, ms: `Σr²/Σr`. What happens in so much time depends on what runs
/// at its beginning.
fn typical_run(pairs: &[Pair]) -> f64 {
    let (sum, squares) = pairs.iter().fold((0.0, 0.0), |(sum, squares), pair| {
        let runs = pair.runs.max(0) as f64;
        (sum + runs, squares + runs * runs)
    });
    if sum > 0.0 { squares / sum } else { 0.0 }
}

/// The sums of the metric in both runs.
fn sums(jobs: &[Pair]) -> (f64, f64) {
    jobs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.first, sum.1 + pair.second))
}

/// By how much each block raises an estimate: the estimate of all − that without the block.
#[derive(Debug, Clone, Default)]
struct Influences(Vec<f64>);

impl Influences {
    /// The sum of a power of them.
    fn sum(&self, power: i32) -> f64 {
        self.0.iter().map(|z| z.powi(power)).sum()
    }

    /// The degrees of freedom: at least 1, and `blocks − 1` if no block has an influence.
    fn free(&self) -> f64 {
        let (most, squares, fourths) = (self.0.len() as f64 - 1.0, self.sum(2), self.sum(4));
        if fourths > 0.0 { (squares * squares / fourths - 1.0).clamp(1.0, most.max(1.0)) } else { most }
    }

    /// The skewness of an estimate from so many blocks: that of the influences / √blocks.
    fn skewness(&self) -> f64 {
        let blocks = self.0.len() as f64;
        let mean = self.sum(1) / blocks;
        let moment = |power: i32| self.0.iter().map(|z| (z - mean).powi(power)).sum::<f64>() / blocks;
        let variance = moment(2);
        if variance > 0.0 { moment(3) / variance.powf(1.5) / blocks.sqrt() } else { 0.0 }
    }

    /// How the estimate is spread; `None` if it does not exist without a block, as it rests on that alone.
    fn spread(&self, error: f64) -> Option<Spread> {
        let exists = self.0.iter().all(|z| z.is_finite());
        exists.then(|| Spread { error, free: self.free(), skewness: self.skewness() })
    }
}

/// True if enough of `jobs` lie beyond a quantile.
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
                let of_pair = pair.second.max(least) / pair.first.max(least);
                (n + 1.0, first + pair.first, second + pair.second, ratio + of_pair)
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
            let Some(&(next, block)) = sorted.values.get(place) else { break };
            place += 1;
            let weight = u64::from(weights.get(block as usize).copied().unwrap_or(0));
            if weight > 0 {
                (reached, value) = (reached + weight, next);
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
                waits_until: at as i64 * gap,
                runs: (at % 17 + 1) as i64,
                first: (at % 17 + 1) as f64,
                second: (at % 17 + 1) as f64 * ratio,
            })
            .collect()
    }

    #[test]
    fn jobs_that_do_not_wait_make_some_thirty_blocks() {
        let cut = |n, gap| Blocks::new(pairs(n, gap, 1.0)).map(|blocks| blocks.jobs.len());
        assert_eq!((cut(1_000, 60_000), cut(2_000, 60_000)), (Ok(29), Ok(30)));
        assert_eq!(cut(30, 60_000), Ok(15));
        assert_eq!(cut(20, 60_000), Err(TooFew { blocks: 10 }));
        assert_eq!(cut(0, 60_000), Err(TooFew { blocks: 0 }));
    }

    #[test]
    fn no_block_ends_while_a_job_waits() {
        let mut jobs = pairs(3_000, 60_000, 1.0);
        // One busy period from the 100th to the 1,999th job is one block.
        jobs.iter_mut().skip(100).take(1_900).for_each(|pair| pair.waits_until = 2_000 * 60_000);
        let blocks = cut(&jobs);
        let longest = blocks.iter().map(Vec::len).max().unwrap();
        assert_eq!(longest, 1_900);
        assert_eq!(Blocks::new(jobs), Err(TooFew { blocks: 12 }));
    }

    /// Jobs of a day in a log of ten days: what one day brings depends on the day before.
    #[test]
    fn no_block_is_shorter_than_jobs_run() {
        let mut jobs = pairs(2_400, 360_000, 1.0);
        jobs.iter_mut().for_each(|pair| pair.runs = 86_400_000);
        assert_eq!(Blocks::new(jobs), Err(TooFew { blocks: 10 }));
    }

    /// The second run is longer in the first half of the log, and shorter in the second.
    #[test]
    fn blocks_that_resemble_their_neighbours_are_too_few() {
        let mut jobs = pairs(3_000, 60_000, 1.0);
        jobs.iter_mut().take(1_500).for_each(|pair| pair.second *= 2.0);
        assert_eq!(Blocks::new(jobs), Err(TooFew { blocks: 30 }));
    }

    /// All of 30 blocks have the same influence, or one has all of it.
    #[test]
    fn the_blocks_that_decide_are_the_degrees_of_freedom() {
        let free = |influences: &[f64]| Influences(influences.to_vec()).free();
        assert!((free(&[0.1; 30]) - 29.0).abs() < 1e-9);
        assert_eq!((free(&[0.0, 0.0, 0.5]), free(&[0.0; 30])), (1.0, 29.0));
    }

    /// Of four blocks, one raises the estimate by 3 and the others lower it by 1: the third moment is 6, and the variance 3.
    #[test]
    fn a_rare_block_makes_an_estimate_skewed() {
        let skewness = |influences: &[f64]| Influences(influences.to_vec()).skewness();
        let expected = 6.0 / 3.0_f64.powf(1.5) / 2.0;
        assert!((skewness(&[3.0, -1.0, -1.0, -1.0]) - expected).abs() < 1e-12);
        assert!((skewness(&[-3.0, 1.0, 1.0, 1.0]) + expected).abs() < 1e-12);
        assert_eq!([skewness(&[1.0, -1.0, 1.0, -1.0]), skewness(&[0.0; 30])], [0.0; 2]);
        assert_eq!(Influences(vec![0.1, f64::NAN]).spread(0.1), None);
    }

    #[test]
    fn the_ratio_of_means_alone_has_the_same_interval() {
        let mut jobs = pairs(1_000, 60_000, 0.5);
        jobs.iter_mut().step_by(7).for_each(|pair| pair.second *= 1.5);
        let blocks = Blocks::new(jobs).unwrap();
        let [alone, all] = [blocks.ratio_of_means(3), blocks.ratios(None, 3).means].map(Option::unwrap);
        assert!((alone.value - all.value).abs() < 1e-12);
        let ([low, high], [other_low, other_high]) = (alone.interval.unwrap(), all.interval.unwrap());
        assert!(low < high && (low - other_low).abs() < 1e-9 && (high - other_high).abs() < 1e-9);
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
