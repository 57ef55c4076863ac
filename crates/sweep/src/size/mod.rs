//! `resched size`: the smallest cluster that keeps a metric within a bound.
//!
//! | file | content |
//! |---|---|
//! | `bound` | the bound of a metric, as a user writes it |
//! | `search` | the sizes to try: doubling, then bisection |
//! | `probe` | the replays at one size |

mod bound;
mod probe;
mod search;

use resched_analysis::compare::Estimate;
use resched_analysis::measure::Metric;
use resched_policies::PolicySpec;
use resched_replay::{Setup, Source, Threads};
use serde::Serialize;

use crate::Error;

pub use self::bound::Bound;
pub use self::search::Verdict;

/// What varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vary {
    /// The number of machines. Those of a trace, and those that a cluster file names, are cut or cloned.
    Nodes,
    /// The number of maps that a machine runs at once. Its reduce slots grow in proportion. Under YARN, its memory and its virtual
    /// cores are those of as many containers for maps.
    Slots,
}

/// A question.
#[derive(Debug)]
pub struct Sizing {
    /// The jobs.
    pub source: Source,
    /// The world, before its size varies. Its seed is the first.
    pub setup: Setup,
    /// The policy.
    pub policy: PolicySpec,
    /// The metric to keep within its bound.
    pub metric: Metric,
    /// The bound.
    pub bound: Bound,
    /// What varies.
    pub vary: Vary,
    /// The smallest size to try.
    pub from: u32,
    /// The largest size to try.
    pub to: u32,
    /// The number of seeds: replays at each size.
    pub seeds: u64,
}

/// The replays at one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probe {
    /// The size.
    pub size: u32,
    /// The metric by seed; empty if the source cannot be replayed at this size.
    pub values: Vec<f64>,
    /// The mean over the seeds, with its 95 % interval by Student's t.
    #[serde(flatten)]
    pub mean: Option<Interval>,
    /// Whether the mean is within the bound.
    pub holds: bool,
    /// Why the source cannot be replayed at this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A mean with its interval. A single seed does not show the spread, so its interval has no ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Interval {
    fn of(Estimate { value, low, high }: Estimate, seeds: usize) -> Self {
        let end = |end| (seeds > 1).then_some(end);
        Self { mean: value, low: end(low), high: end(high) }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    /// Whether there is such a size.
    pub verdict: Verdict,
    /// The smallest size within the bound.
    pub size: Option<u32>,
    /// All sizes that were tried, the smallest first.
    pub probes: Vec<Probe>,
    /// Two sizes of which the larger one is worse, beyond both intervals: the metric is not monotone there, so another size below
    /// the answer may be within the bound.
    pub not_monotone: Option<(u32, u32)>,
}

impl Sized {
    /// The replays at the answer, and at the next smaller size that was tried.
    pub fn at_answer(&self) -> Option<(&Probe, Option<&Probe>)> {
        let place = self.probes.iter().position(|probe| Some(probe.size) == self.size)?;
        let (smaller, rest) = self.probes.split_at(place);
        Some((rest.first()?, smaller.last()))
    }
}

/// The progress that a search reports.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// The replays at a size begin.
    Size(u32),
    /// A replay is done.
    Replayed,
}

/// Finds the smallest size from `from` to `to` at which the mean of the metric over the seeds is within the bound. The sizes double
/// until one is, and bisection goes on from there.
///
/// # Errors
/// [`Error::Request`] if the question is wrong, or the source cannot be replayed at the largest size; errors of the replays.
pub fn size(asked: &Sizing, threads: Threads, told: &(dyn Fn(Step) + Sync)) -> Result<Sized, Error> {
    probe::check(asked)?;
    let found = search::search(asked.from, asked.to, |size| {
        told(Step::Size(size));
        probe::probe(asked, size, threads, told)
    })?;
    let (verdict, size, probes) = found;
    let not_monotone = worse(&probes, &asked.metric);
    Ok(Sized { verdict, size, probes, not_monotone })
}

/// The first pair of neighbours of which the larger size is worse beyond both intervals.
fn worse(probes: &[Probe], metric: &Metric) -> Option<(u32, u32)> {
    // The ends of an interval as costs: the least comes first.
    let ends = |probe: &Probe| {
        let Interval { mean, low, high } = probe.mean?;
        let (one, other) = (metric.cost(low.unwrap_or(mean)), metric.cost(high.unwrap_or(mean)));
        Some((one.min(other), one.max(other)))
    };
    let worse = |smaller: &Probe, larger: &Probe| Some(ends(smaller)?.1 < ends(larger)?.0);
    probes.windows(2).find_map(|pair| match pair {
        [smaller, larger] if worse(smaller, larger) == Some(true) => Some((smaller.size, larger.size)),
        _ => None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
