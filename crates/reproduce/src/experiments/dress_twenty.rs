//! Shared by the two experiments of the DRESS paper on 20 jobs, six of them small.

use resched_analysis::statistics::distribution::mean;

#[cfg(test)]
use super::dress::fitted_of_ten;
use super::dress::{
    Demands, Distance, LENGTH, LENGTHS, LENGTHS_TRIED, TICK, TICKS, VARIATION, VARIATIONS, compared, in_words, lengths,
    mean_change, tick_label, ticks, variations, with_length, with_variation,
};
use crate::case::{Bundled, Case};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published, Row};

/// The jobs of an experiment, and the paper's claim about the small ones.
pub(super) struct TwentyJobs {
    /// The name of the experiment.
    pub(super) name: &'static str,
    /// The workload.
    pub(super) workload: Bundled,
    /// The numbers of the small jobs.
    pub(super) small: [usize; 6],
    /// The first so many jobs fit into the cluster, but not the next.
    pub(super) fit: usize,
    /// How far the jobs' times under Capacity are from the paper's.
    pub(super) distance: Distance,
    /// The times of small jobs, as parts of a large one's, with which draws meet Capacity's numbers.
    pub(super) fitting: &'static [f64],
    /// Where the claim stands.
    pub(super) place: &'static str,
    /// The figure with the completion times.
    pub(super) figure: &'static str,
    /// By how much the small jobs complete sooner under DRESS, %.
    pub(super) gain: f64,
}

impl TwentyJobs {
    /// What is drawn of them.
    pub(super) fn demands(&self) -> Demands {
        Demands::new(&self.small, self.fit, Some(self.distance))
    }

    /// The workload under all policies, and with other times of small jobs and between two moves of δ.
    pub(super) fn cases(&self) -> Result<Vec<Case>, Error> {
        let (workload, demands) = (self.workload.workload()?, self.demands());
        Ok([lengths("", &workload, &demands)?, ticks(&workload, &demands)?, variations(&workload, &demands)?].concat())
    }

    /// The mean change of the small jobs' completion from one case to another, %, by seed.
    pub(super) fn gains(&self, replays: &Replays<'_>, from: &str, to: &str) -> Vec<f64> {
        replays.pairs(from, to, |a, b| mean_change(a, b, &self.small))
    }

    /// The claim about the small jobs.
    pub(super) fn small_gain(&self) -> Draft {
        let quantity = format!("Completion of the small jobs, mean change ({})", self.figure);
        row(self.place, quantity, "%", Published::Change(self.gain)).missing(LENGTHS)
    }

    /// The row of that claim. If it differs, it also says what the times between two moves of δ make of it.
    pub(super) fn small_gain_row(&self, claim: Draft, replays: &Replays<'_>) -> Row {
        let mut row = compared(claim, "", self.fitting, |from, to| self.gains(replays, from, to));
        if !row.verdict.agrees() {
            row.why.push_str(&self.ticks_in_words(replays));
        }
        row
    }

    /// What each time between two moves of δ gives in the mean, and whether the one of the rows is the nearest to the paper.
    fn ticks_in_words(&self, replays: &Replays<'_>) -> String {
        let of_tick = |tick| Some((tick, mean(&self.gains(replays, "capacity", &tick_label(tick)))?));
        let found: Vec<(u32, f64)> = TICKS.into_iter().filter_map(of_tick).collect();
        let all: Vec<String> = found.iter().map(|(tick, gain)| format!("{tick} s: {}", in_words(*gain))).collect();
        let far = |(_, gain): &&(u32, f64)| (gain - self.gain).abs();
        let nearest = found.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        let ours = nearest.is_some_and(|(tick, _)| f64::from(*tick) == TICK.chosen);
        let best = if ours { " The rows have the one that is nearest to the paper." } else { "" };
        format!(" By the time between two moves of δ, which is not given either: {}.{best}", all.join("; "))
    }

    /// That claim over the times that the paper leaves open.
    pub(super) fn bands(&self, replays: &Replays<'_>) -> Vec<Band> {
        let ticks = TICKS.map(|tick| (f64::from(tick), self.gains(replays, "capacity", &tick_label(tick))));
        let lengths = LENGTHS_TRIED.map(|length| {
            let [capacity, dress] = ["capacity", "dress"].map(|label| with_length("", length) + label);
            (length, self.gains(replays, &capacity, &dress))
        });
        let variations = VARIATIONS.map(|variation| {
            let [capacity, dress] = ["capacity", "dress"].map(|label| with_variation(variation) + label);
            (variation, self.gains(replays, &capacity, &dress))
        });
        vec![
            Band::new(format!("{}-variation", self.name), VARIATION, || self.small_gain(), variations),
            Band::new(format!("{}-tick", self.name), TICK, || self.small_gain(), ticks),
            Band::new(format!("{}-length", self.name), LENGTH, || self.small_gain(), lengths),
        ]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
impl TwentyJobs {
    /// Asserts that draws meet Capacity's numbers with each variation of the times, and with those times of small jobs that count as evidence, and
    /// no others.
    pub(super) fn check_fits(&self) {
        let near = |demands: &Demands| fitted_of_ten(&self.workload.workload().unwrap(), demands);
        for variation in VARIATIONS {
            let found = near(&self.demands().with_variation(variation));
            assert!(found >= 9, "{found} of 10 with a variation of {variation}");
        }
        for length in LENGTHS_TRIED {
            let found = near(&self.demands().with_length(length));
            assert_eq!(found >= 7, self.fitting.contains(&length), "{found} of 10 with small jobs × {length}");
        }
    }
}
