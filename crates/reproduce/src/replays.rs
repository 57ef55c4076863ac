//! The replays of an experiment, for its rows and figures.

use resched_analysis::Run;

use crate::case::Case;

/// The replays of an experiment, by case and seed.
pub(crate) struct Replays<'a> {
    pub(crate) cases: &'a [Case],
    /// The runs by case, one for each seed, in the order of the seeds.
    pub(crate) runs: &'a [Vec<Run>],
}

impl Replays<'_> {
    /// The runs of a case, one for each seed; none if there is no such case.
    pub(crate) fn of(&self, label: &str) -> &[Run] {
        let place = self.cases.iter().position(|case| case.label == label);
        place.and_then(|place| self.runs.get(place)).map_or(&[], Vec::as_slice)
    }

    /// A quantity of each run of a case. Runs without a known value are left out.
    pub(crate) fn each(&self, label: &str, of: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        self.of(label).iter().filter_map(of).collect()
    }

    /// A quantity of two cases, seed by seed.
    pub(crate) fn pairs(&self, first: &str, second: &str, of: impl Fn(&Run, &Run) -> Option<f64>) -> Vec<f64> {
        self.of(first).iter().zip(self.of(second)).filter_map(|(first, second)| of(first, second)).collect()
    }

    /// The runs of these cases with the first seed, for a figure.
    pub(crate) fn shown(&self, labels: &[&str]) -> Vec<Run> {
        labels.iter().filter_map(|label| self.of(label).first().cloned()).collect()
    }
}
