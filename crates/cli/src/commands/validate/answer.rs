//! The column of a validated policy in the table of `validate`.

use resched_analysis::statistics::distribution::mean;
use resched_analysis::validation::{LocalityError, QuantityError, Validation};
use resched_compare::validate::Validated;

use crate::output::{TimeUnit, UNKNOWN, count};

/// A validated policy, of which cells are printed.
pub(super) struct Column<'a>(pub(super) &'a Validated);

impl Column<'_> {
    /// The cells of the column of this policy.
    pub(super) fn cells(&self, jobs: usize) -> Vec<String> {
        let first = self.0.replays.first().map(|replay| &replay.validation);
        let number = |name: &str, unit: Unit| self.error(name, unit);
        let mean_of = |pick: &dyn Fn(&Validation) -> Option<f64>| {
            let values: Vec<f64> = self.0.replays.iter().filter_map(|replay| pick(&replay.validation)).collect();
            mean(&values)
        };
        let level = |level: usize, name: &str| {
            let shares = |pick: fn(&LocalityError) -> [f64; 3]| {
                let locality = first.and_then(|validation| validation.locality)?;
                pick(&locality).get(level).copied()
            };
            let Some((observed, error)) = shares(|locality| locality.observed).zip(self.range(name)) else {
                return "-".to_owned();
            };
            let replayed = error.map(|points| format!("{:.1}", 100.0 * observed + points));
            let [mean, low, high] = &replayed;
            let range = if self.0.replays.len() > 1 { format!(" ({low} to {high})") } else { String::new() };
            format!("{:.1} → {mean} %{range}", 100.0 * observed)
        };
        // The error of what is compared, and the means over seeds that it is of.
        let quantity = |name: &str| {
            let of = |pick: fn(&QuantityError) -> f64| mean_of(&|error| error.quantities.get(name).map(pick));
            let Some((observed, replayed)) = of(|error| error.observed_ms).zip(of(|error| error.replayed_ms)) else {
                return UNKNOWN.to_owned();
            };
            let unit = TimeUnit::of([observed, replayed]);
            format!("{} ({} → {})", number(name, Unit::Signed), unit.show(observed), unit.show(replayed))
        };
        vec![
            first.map_or_else(String::new, |validation| {
                format!("{} of {}", count(validation.jobs_compared), count(jobs as u64))
            }),
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
            self.0.over_seeds.map_or_else(|| UNKNOWN.to_owned(), |error| Unit::Share.in_words(error.median)),
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
        if self.0.against.is_none() {
            return String::new();
        }
        let distances = |validation: &Validation| {
            let distance = validation.errors().into_iter().find(|error| error.0 == name).and_then(|error| error.1);
            distance.zip(validation.critical_ks)
        };
        let known: Vec<(f64, f64)> = self.0.replays.iter().filter_map(|replay| distances(&replay.validation)).collect();
        let Some(&(_, critical)) = known.first() else { return String::new() };
        let apart = known.iter().filter(|(distance, critical)| distance > critical).count();
        match (apart, known.len()) {
            (0, _) => format!(", not distinguished (5 %: {critical:.3})"),
            (_, 1) => format!(", distinguished (5 %: {critical:.3})"),
            (apart, all) => format!(", distinguished in {apart} of {all} (5 %: {critical:.3})"),
        }
    }

    /// The mean of an error over seeds, the least and the largest.
    fn range(&self, name: &str) -> Option<[f64; 3]> {
        let mean = self.0.errors.get(name).copied().flatten()?;
        let all = || self.0.replays.iter().flat_map(|replay| replay.validation.errors());
        let values = || all().filter(|error| error.0 == name).filter_map(|error| error.1);
        Some([mean, values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)])
    }

    /// The mean of an error over seeds, and its range.
    fn error(&self, name: &str, unit: Unit) -> String {
        let Some(range) = self.range(name) else { return "-".to_owned() };
        let [text, low, high] = range.map(|value| unit.in_words(value));
        if self.0.replays.len() > 1 { format!("{text} ({low} to {high})") } else { text }
    }
}

/// How an error is printed.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Share,
    Signed,
    Plain,
}

impl Unit {
    fn in_words(self, value: f64) -> String {
        match self {
            Unit::Share => format!("{:.1} %", value * 100.0),
            Unit::Signed => format!("{:+.1} %", value * 100.0),
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
