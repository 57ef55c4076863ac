//! The errors of the replays of one policy, and their column of the table.

use std::collections::BTreeMap;

use resched_analysis::statistics::distribution::mean;
use resched_analysis::validation::{LocalityError, QuantityError, RelativeError, Validation, completion_over};
use resched_tables::run::{RunCluster, RunEngine, RunInfo, RunTrace};
use resched_tables::store::System;
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use super::against::{Found, Noise};
use super::guessed::Guessed;
use crate::output::{TimeUnit, UNKNOWN, count};

/// The errors of the replays of one policy.
#[derive(Debug, Default, Serialize)]
pub(super) struct OfPolicy {
    /// The policy with its parameters, as runs are labelled.
    pub(super) label: String,
    pub(super) policy: String,
    pub(super) params: BTreeMap<String, String>,
    /// Whether the user named no policy, so that this one is assumed.
    pub(super) assumed: bool,
    /// The trace, which `--validation` checks.
    pub(super) trace: RunTrace,
    /// The machines of its replay.
    pub(super) cluster: RunCluster,
    /// The SHA-256 of the rules of its cluster, hexadecimal.
    pub(super) rules_sha256: String,
    pub(super) engine: RunEngine,
    /// What ran the jobs; the table is in its words.
    #[serde(skip)]
    pub(super) system: System,
    pub(super) written_by: String,
    /// A time at which Slurm's backfill ran in the log and so in these replays, ms since the epoch. Other replays draw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backfill_ran_at: Option<i64>,
    /// Why this policy, if it is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) guess: Option<Guessed>,
    /// What it is compared with, if that is not the trace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) against: Option<Found>,
    /// How far a second run is from the first: of two real runs, what no replay can be better than.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) noise: Option<Noise>,
    /// The error of the completion times of jobs, with the mean over the seeds as the time of a job in the replay.
    pub(super) over_seeds: Option<RelativeError>,
    /// The means of the errors over seeds.
    pub(super) errors: BTreeMap<&'static str, Option<f64>>,
    /// The replays, one for each seed.
    pub(super) replays: Vec<Replay>,
    /// How far the errors can be trusted: the worst grade of `validity`.
    pub(super) grade: Grade,
    /// What decides the errors, and whether it was observed.
    pub(super) validity: Validity,
}

#[derive(Debug, Serialize)]
pub(super) struct Replay {
    pub(super) seed: u64,
    #[serde(flatten)]
    pub(super) validation: Validation,
    #[serde(skip)]
    pub(super) validity: Validity,
    #[serde(skip)]
    pub(super) info: RunInfo,
}

impl OfPolicy {
    /// Sets the error of the mean over the seeds.
    pub(super) fn compare_over_seeds(&mut self) {
        let all: Vec<&Validation> = self.replays.iter().map(|replay| &replay.validation).collect();
        self.over_seeds = completion_over(&all);
    }

    /// The column of the second run beside the first.
    pub(super) fn noise(&self) -> Option<Self> {
        let Noise { validation, is_real } = self.noise.clone()?;
        let replay = Replay { seed: 0, validation, validity: Validity::default(), info: RunInfo::default() };
        let errors = replay.validation.errors().into_iter().collect();
        let mut column = Self {
            label: if is_real { "a second real run" } else { "a second run" }.to_owned(),
            against: self.against.clone(),
            errors,
            replays: vec![replay],
            ..Self::default()
        };
        column.compare_over_seeds();
        Some(column)
    }

    /// The cells of the column of this policy.
    pub(super) fn cells(&self, jobs: usize) -> Vec<String> {
        let first = self.replays.first().map(|replay| &replay.validation);
        let number = |name: &str, unit: Unit| self.error(name, unit);
        let mean_of = |pick: &dyn Fn(&Validation) -> Option<f64>| {
            let values: Vec<f64> = self.replays.iter().filter_map(|replay| pick(&replay.validation)).collect();
            mean(&values)
        };
        let level = |level: usize, name: &str| {
            let shares = |pick: fn(&LocalityError) -> [f64; 3]| {
                let locality = first.and_then(|own| own.locality)?;
                pick(&locality).get(level).copied()
            };
            let observed = shares(|locality| locality.observed);
            let observed = observed.map_or_else(String::new, |share| format!(" of {:.1} %", share * 100.0));
            number(name, Unit::Points) + &observed
        };
        // The error of what is compared, and the means over seeds that it is of.
        let quantity = |name: &str| {
            let of = |pick: fn(&QuantityError) -> f64| mean_of(&|own| own.quantities.get(name).map(pick));
            let Some((observed, replayed)) = of(|own| own.observed_ms).zip(of(|own| own.replayed_ms)) else {
                return UNKNOWN.to_owned();
            };
            let unit = TimeUnit::of([observed, replayed]);
            format!("{} ({} → {})", number(name, Unit::Signed), unit.show(observed), unit.show(replayed))
        };
        vec![
            first.map_or_else(String::new, |own| format!("{} of {}", count(own.jobs_compared), count(jobs as u64))),
            quantity("mean_completion"),
            quantity("median_completion"),
            quantity("p95_completion"),
            quantity("mean_waiting"),
            quantity("median_waiting"),
            quantity("p95_waiting"),
            quantity("makespan"),
            number("completion_median", Unit::Share),
            number("completion_p90", Unit::Share),
            number("completion_mean", Unit::Share),
            number("completion_mean_signed", Unit::Signed),
            self.over_seeds.map_or_else(|| UNKNOWN.to_owned(), |error| Unit::Share.in_words(error.median)),
            number("starts_within_1_s", Unit::Share),
            number("starts_within_2_s", Unit::Share),
            number("starts_within_10_s", Unit::Share),
            number("completion_ks", Unit::Plain) + &self.distinguished("completion_ks"),
            number("waiting_ks", Unit::Plain) + &self.distinguished("waiting_ks"),
            number("map_time_ks", Unit::Plain),
            level(0, "locality_node_points"),
            level(1, "locality_rack_points"),
            level(2, "locality_off_points"),
            number("map_utilisation", Unit::Share),
            number("reduce_utilisation", Unit::Share),
        ]
    }

    /// In how many replays two distributions are distinguished.
    fn distinguished(&self, name: &str) -> String {
        if self.against.is_none() {
            return String::new();
        }
        let distances = |own: &Validation| {
            let distance = own.errors().into_iter().find(|error| error.0 == name).and_then(|error| error.1);
            distance.zip(own.critical_ks)
        };
        let known: Vec<(f64, f64)> = self.replays.iter().filter_map(|replay| distances(&replay.validation)).collect();
        let Some(&(_, critical)) = known.first() else { return String::new() };
        let apart = known.iter().filter(|(distance, critical)| distance > critical).count();
        match (apart, known.len()) {
            (0, _) => format!(", not distinguished (5 %: {critical:.3})"),
            (_, 1) => format!(", distinguished (5 %: {critical:.3})"),
            (apart, all) => format!(", distinguished in {apart} of {all} (5 %: {critical:.3})"),
        }
    }

    /// The mean of an error over seeds, and its range.
    fn error(&self, name: &str, unit: Unit) -> String {
        let Some(mean) = self.errors.get(name).copied().flatten() else { return "-".to_owned() };
        let all = || self.replays.iter().flat_map(|replay| replay.validation.errors());
        let values = || all().filter(|error| error.0 == name).filter_map(|error| error.1);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let text = unit.in_words(mean);
        if self.replays.len() > 1 {
            format!("{text} ({} to {})", unit.in_words(low), unit.in_words(high))
        } else {
            text
        }
    }
}

/// How an error is printed.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Share,
    Signed,
    Points,
    Plain,
}

impl Unit {
    fn in_words(self, value: f64) -> String {
        match self {
            Unit::Share => format!("{:.1} %", value * 100.0),
            Unit::Signed => format!("{:+.1} %", value * 100.0),
            Unit::Points => format!("{value:+.1} points"),
            Unit::Plain => format!("{value:.3}"),
        }
    }
}

/// The rows of the table, and whether only a comparison with another run shows them; [`OfPolicy::cells`] has a cell for each.
pub(super) const ROWS: [(&str, bool); 24] = [
    ("jobs compared", false),
    ("completion time: mean (observed → replayed)", false),
    ("  median", false),
    ("  p95", false),
    ("waiting time: mean", false),
    ("  median", false),
    ("  p95", false),
    ("makespan", false),
    ("completion time of a job: median error", false),
    ("  90 % of the jobs within", false),
    ("  mean error", false),
    ("  mean error with its sign", false),
    ("  median error of the mean over seeds", true),
    ("jobs that start within 1 s of the truth", true),
    ("  within 2 s", true),
    ("  within 10 s", true),
    ("KS distance: completion times", false),
    ("  waiting times", true),
    ("  map run times", false),
    ("maps launched on a node with the input", false),
    ("  in its rack", false),
    ("  elsewhere", false),
    ("running maps: mean difference / slots", false),
    ("running reduces: mean difference / slots", false),
];
