//! How far a task has come and how long it still takes, as LATE and its successors judge it
//! (`docs/model/phases.md`, `docs/model/speculators.md`).

use resched_sim::Ms;
use resched_sim::hadoop::{AttemptEnd, Kind, Part, Progress};

/// Which share of a task's time its stages take: of a map (M1, M2, 0), of a reduce (R1, R2, R3). They add up to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageWeights(pub [f64; 3]);

impl StageWeights {
    /// The weights that Hadoop and LATE assume: a map is one stage, and the three stages of a reduce take equally long.
    pub fn fixed(kind: Kind) -> Self {
        match kind {
            Kind::Map => Self([1.0, 0.0, 0.0]),
            Kind::Reduce => Self([1.0 / 3.0; 3]),
        }
    }

    /// The weights of a successful attempt. A map's log does not show when it began to sort its output, so all of it is
    /// M1. `None` for a reduce whose stages are not known, or that took no time.
    pub fn observed(ended: &AttemptEnd) -> Option<Self> {
        if ended.kind == Kind::Map {
            return Some(Self::fixed(Kind::Map));
        }
        let (copied, sorted) = (ended.shuffle_finish?, ended.sort_finish?);
        let stages = [copied - ended.start, sorted - copied, ended.finish - sorted].map(|time| time.max(0) as f64);
        let total: f64 = stages.iter().sum();
        (total > 0.0).then(|| Self(stages.map(|time| time / total)))
    }

    /// The progress score, from 0 to 1: the weights of the stages that are over, and the share of the present one.
    pub fn score(&self, stage: usize, fraction: f64) -> f64 {
        let over: f64 = self.0.iter().take(stage).sum();
        over + self.0.get(stage).copied().unwrap_or(0.0) * fraction
    }

    /// The progress score of an attempt.
    pub fn score_of(&self, progress: &Progress) -> f64 {
        let stage = match progress.part {
            Part::Map | Part::Copy => 0,
            Part::Sort => 1,
            Part::Reduce => 2,
        };
        self.score(stage, progress.fraction)
    }

    /// These as history, mixed with what was observed: `w ← HP·w + (1 − HP)·observed` (SAMR).
    pub fn mixed(&self, history: f64, observed: &Self) -> Self {
        Self([0, 1, 2].map(|stage| history * self.0[stage] + (1.0 - history) * observed.0[stage]))
    }
}

/// The sum of some weights, from which their mean follows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightSum {
    count: u32,
    sum: [f64; 3],
}

impl WeightSum {
    /// One more.
    pub fn add(&mut self, weights: &StageWeights) {
        self.count += 1;
        (0..3).for_each(|stage| self.sum[stage] += weights.0[stage]);
    }

    /// Their mean; `None` of nothing.
    pub fn mean(&self) -> Option<StageWeights> {
        (self.count > 0).then(|| StageWeights(self.sum.map(|part| part / f64::from(self.count))))
    }
}

impl<'a> FromIterator<&'a StageWeights> for WeightSum {
    fn from_iter<I: IntoIterator<Item = &'a StageWeights>>(all: I) -> Self {
        let mut sum = Self::default();
        all.into_iter().for_each(|weights| sum.add(weights));
        sum
    }
}

/// The progress rate of a task, 1/ms: the score it has made a millisecond.
pub fn progress_rate(score: f64, elapsed: Ms) -> f64 {
    score / elapsed.max(1) as f64
}

/// LATE's time to end, ms: `(1 − PS) / rate`; infinite as long as nothing is done.
pub fn time_to_end(score: f64, elapsed: Ms) -> f64 {
    let rate = progress_rate(score, elapsed);
    if rate > 0.0 { (1.0 - score).max(0.0) / rate } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn time_to_end_from_progress() {
        close(time_to_end(0.5, 100_000), 100_000.0);
        close(time_to_end(0.9, 60_000), 60_000.0 / 9.0);
        close(time_to_end(0.3, 90_000), 210_000.0);
        assert_eq!(time_to_end(0.0, 90_000), f64::INFINITY);
        assert_eq!(time_to_end(0.0, 0), f64::INFINITY);
    }

    #[test]
    fn a_reduce_halfway_through_its_sort() {
        let progress = Progress { part: Part::Sort, fraction: 0.5, at: 0 };
        close(StageWeights::fixed(Kind::Reduce).score_of(&progress), 0.5);
        let map = Progress { part: Part::Map, fraction: 0.3, at: 0 };
        close(StageWeights::fixed(Kind::Map).score_of(&map), 0.3);
    }

    #[test]
    fn learned_weights_change_score_and_time_to_end() {
        let score = StageWeights([0.6, 0.3, 0.1]).score(1, 0.5);
        close(score, 0.75);
        close(time_to_end(score, 90_000), 30_000.0);
        close(time_to_end(0.5, 90_000), 90_000.0);
    }

    #[test]
    fn weights_are_mixed_with_history() {
        let mixed = StageWeights([0.8, 0.2, 0.0]).mixed(0.2, &StageWeights([0.6, 0.4, 0.0]));
        close(mixed.0[0], 0.64);
        close(mixed.0.iter().sum(), 1.0);
    }
}
