//! `resched size`: the smallest cluster that keeps a metric within a bound.
//!
//! | file | content |
//! |---|---|
//! | `bound` | the bound of a metric, as a user writes it |
//! | `search` | the sizes to try: from the source's own size by doubling or halving, then bisection |
//! | `probe` | the replays at one size |
//! | `kept` | the replays that are done, in a folder, so that an interrupted search goes on |
//! | `knee` | the knee of the curve |
//! | `partition` | the nodes of one partition of Slurm |
//! | `variants` | whether the answer holds under what the data leave open |
//! | `output` | the answer in words, its curve, its page and its tables |

mod bound;
mod kept;
mod knee;
mod output;
mod partition;
mod probe;
mod search;
mod variants;

use std::collections::BTreeMap;

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::sign::Level;
use resched_policies::PolicySpec;
use resched_replay::{Setup, Source, Threads};
use resched_tables::run::RunBound;
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use self::probe::Search;
use crate::Error;
use crate::interval::MeanInterval;

pub use self::bound::Bound;
pub use self::kept::{Kept, MARKER};
pub use self::output::{FILES, in_words, note, sized, write};
pub use self::search::Verdict;
pub use self::variants::InVariant;

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
    /// The partition of Slurm whose nodes vary, if not those of the whole cluster.
    pub partition: Option<String>,
    /// The smallest size to try.
    pub from: u32,
    /// The largest size to try; `None`: four times the size that the source has, and at least 1000.
    pub to: Option<u32>,
    /// The number of seeds: replays at each size.
    pub seeds: u64,
    /// How thoroughly to test whether the answer holds under what the data leave open.
    pub robust: Level,
}

/// The replays at one size.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Probe {
    /// The size.
    pub size: u32,
    /// The metric by seed; empty if the source cannot be replayed at this size.
    pub values: Vec<f64>,
    /// The mean over the seeds, with its 95 % interval by Student's t.
    #[serde(flatten)]
    pub mean: Option<MeanInterval>,
    /// True if the mean is within the bound.
    pub holds: bool,
    /// Why the source cannot be replayed at this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What decides its numbers, and whether it was observed.
    #[serde(skip)]
    pub validity: Validity,
    /// For how long each resource was the bottleneck, over all seeds.
    #[serde(skip)]
    pub bound: BTreeMap<String, RunBound>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    /// Whether there is such a size.
    pub verdict: Verdict,
    /// The smallest size within the bound.
    pub size: Option<u32>,
    /// The size that the source has, at which the search began if it is in the range.
    pub own: u32,
    /// The size beyond which more gains little, if the curve has such a knee: the point farthest from the line between the first and
    /// the last one, with sizes on a logarithmic scale.
    pub knee: Option<u32>,
    /// All sizes that were tried, the smallest first.
    pub probes: Vec<Probe>,
    /// Two sizes of which the larger one is worse, beyond both intervals: the metric is not monotone there, so another size below
    /// the answer may be within the bound.
    pub not_monotone: Option<(u32, u32)>,
    /// The metric at the answer under what the data leave open.
    pub variants: Vec<InVariant>,
}

impl Sized {
    /// The replays at the answer, and at the next smaller size that was tried.
    pub fn at_answer(&self) -> Option<(&Probe, Option<&Probe>)> {
        let place = self.probes.iter().position(|probe| Some(probe.size) == self.size)?;
        let (smaller, rest) = self.probes.split_at(place);
        Some((rest.first()?, smaller.last()))
    }
}

impl Sized {
    /// The probe that decides the answer: that of the answer, or else the one that came nearest, the smallest or the largest.
    pub(crate) fn decisive(&self) -> Option<&Probe> {
        let at_answer = self.at_answer().map(|(probe, _)| probe);
        at_answer.or_else(|| self.probes.iter().rev().find(|probe| probe.mean.is_some()))
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The policy with its parameters.
    pub policy: String,
    /// The metric.
    pub metric: String,
    /// The bound, times in ms.
    pub bound: Bound,
    /// What varies.
    pub vary: Vary,
    /// The partition of Slurm whose nodes vary, if not those of the whole cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The smallest size to try.
    pub from: u32,
    /// The largest size to try.
    pub to: u32,
    /// The number of seeds: replays at each size.
    pub seeds: u64,
    /// How far the answer can be trusted: the worst grade of `validity`.
    pub grade: Grade,
    /// What decides the answer, and whether it was observed.
    pub validity: Validity,
    /// What the search found.
    #[serde(flatten)]
    pub found: Sized,
}

/// The progress that a search reports.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// The replays at a size begin.
    Size {
        /// The size.
        size: u32,
        /// How many jobs will end in all of its replays together.
        jobs: u64,
    },
    /// So many more jobs have ended.
    Jobs(u64),
    /// A replay is done, and kept.
    Replayed {
        /// The size.
        size: u32,
        /// The metric.
        value: f64,
    },
    /// All replays at a size are done.
    Probed(&'a Probe),
}

/// Finds the smallest size from `from` to `to` at which the mean of the metric over the seeds is within the bound. The search begins
/// at the size that the source has. Sizes double until one is within the bound, or halve until one is not, and bisection goes on from
/// there. Replays in `kept` are not made again.
///
/// # Errors
/// [`Error::Request`] if the question is wrong, or the source cannot be replayed at the largest size; errors of the replays.
pub fn size(
    asked: &Sizing,
    kept: &Kept,
    threads: Threads,
    reported: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Answer, Error> {
    probe::check(asked)?;
    let search = Search::new(asked, kept, threads, reported)?;
    let range = (asked.from, search.to);
    let (verdict, size, probes) = search::search(range, search.own, |size| search.probe(size))?;
    let not_monotone = worse(&probes, &asked.metric);
    let knee = knee::knee(&probes, &asked.metric);
    let found = Sized { verdict, size, own: search.own, knee, probes, not_monotone, variants: Vec::new() };
    let found = Sized { variants: variants::variants(&search, &found)?, ..found };
    let mut validity = graded(&found);
    search.judged()?.into_iter().for_each(|fact| validity.add(fact));
    variants::fact(asked, &found).into_iter().for_each(|fact| validity.add(fact));
    Ok(Answer {
        policy: asked.policy.label(),
        metric: asked.metric.name.clone(),
        bound: asked.bound,
        vary: asked.vary,
        partition: asked.partition.clone(),
        from: asked.from,
        to: search.to,
        seeds: asked.seeds,
        grade: validity.grade(),
        validity,
        found,
    })
}

/// How far an answer can be trusted: the facts about the probe that decides it.
fn graded(found: &Sized) -> Validity {
    found.decisive().map(|probe| probe.validity.clone()).unwrap_or_default()
}

/// The first pair of neighbours of which the larger size is worse beyond both intervals.
fn worse(probes: &[Probe], metric: &Metric) -> Option<(u32, u32)> {
    // The ends of an interval as costs: the least comes first.
    let ends = |probe: &Probe| {
        let MeanInterval { mean, low, high } = probe.mean?;
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
