//! Shared by the two experiments of the DRESS paper on 20 jobs, six of them small.

use super::dress::{
    Demands, Distance, LENGTH, LENGTHS, LENGTHS_TRIED, TICK, TICKS, lengths, mean_change, tick_label, ticks,
    with_length,
};
use crate::case::{Bundled, Case};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published};

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
        Ok([lengths("", &workload, &demands)?, ticks(&workload, &demands)?].concat())
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

    /// That claim over the times that the paper leaves open.
    pub(super) fn bands(&self, replays: &Replays<'_>) -> Vec<Band> {
        let ticks = TICKS.map(|tick| (f64::from(tick), self.gains(replays, "capacity", &tick_label(tick))));
        let lengths = LENGTHS_TRIED.map(|length| {
            let [capacity, dress] = ["capacity", "dress"].map(|label| with_length("", length) + label);
            (length, self.gains(replays, &capacity, &dress))
        });
        vec![
            Band::new(format!("{}-tick", self.name), TICK, || self.small_gain(), ticks),
            Band::new(format!("{}-length", self.name), LENGTH, || self.small_gain(), lengths),
        ]
    }
}
