//! Where the model error is as large as the difference between two policies.

use resched_tables::validity::{Fact, Grade};
use resched_tables::words::change_in_percent;

use super::log::BesideLog;
use crate::runs::compared::{Compared, row_pairs};
use crate::statistics::distribution::{mean, quantile};

/// The fact that the model error of a quantity is as large as the difference of a policy from the baseline in it, if so. `differences` are
/// relative, by the name of the quantity; `error` has its relative error. A difference of nothing is none that an error could hide.
pub fn doubt<'a>(
    (policy, baseline): (&str, &str),
    differences: impl Iterator<Item = (&'a str, f64)>,
    error: &dyn Fn(&str) -> Option<f64>,
) -> Option<Fact> {
    let percent = change_in_percent;
    let hidden = |(quantity, difference): (&str, f64)| {
        let error = error(quantity)?;
        let says =
            format!("{} (difference {}, error {})", quantity.replace('_', " "), percent(difference), percent(error));
        (difference != 0.0 && error.abs() >= difference.abs()).then_some(says)
    };
    let found: Vec<String> = differences.filter_map(hidden).collect();
    if found.is_empty() {
        return None;
    }
    let says = format!(
        "The model error is at least as large as the difference between {policy} and {baseline} in {}.",
        found.join(", ")
    );
    let remedy = "Do not rely on these differences, or calibrate the replay further.";
    Some(Fact::new("model-error", Grade::Assumed, says).with_remedy(remedy))
}

/// The facts about replays of one trace whose validation is known, or whose log was compared with them: where the error is as large as a
/// difference from the baseline in mean or median completion or mean waiting. A validation that you gave has more replays behind it, so it
/// comes first.
pub fn doubts<R: Compared>(runs: &[R], baseline: usize, beside_log: Option<&BesideLog>) -> Vec<Fact> {
    let given = runs.iter().find_map(|run| run.replay()?.validation.clone());
    let Some(validation) = given.or_else(|| beside_log?.validation()) else { return Vec::new() };
    let Some(base) = runs.get(baseline) else { return Vec::new() };
    let others = runs.iter().enumerate().filter(|(place, _)| *place != baseline);
    let of_run = |(_, run): (usize, &R)| {
        let both = row_pairs(base, run);
        let change = |word: &str, statistic: fn(&[f64]) -> Option<f64>| {
            let (before, after) = (base.numbers(word), run.numbers(word));
            let times = both.iter().filter_map(|(one, two)| Some((before.get(*one)?, after.get(*two)?)));
            let (before, after): (Vec<f64>, Vec<f64>) = times.unzip();
            super::signed_error(statistic(&after)?, statistic(&before)?)
        };
        let median = |times: &[f64]| quantile(times, 0.5);
        let differences = [
            ("mean_completion", change("completion", mean)),
            ("median_completion", change("completion", median)),
            ("mean_waiting", change("waiting", mean)),
        ];
        let known = differences.into_iter().filter_map(|(name, difference)| Some((name, difference?)));
        doubt((run.label(), base.label()), known, &|quantity| validation.error(quantity))
    };
    others.filter_map(of_run).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_that_the_error_could_hide_are_named() {
        let error = |quantity: &str| (quantity != "makespan").then_some(-0.137);
        let differences =
            [("mean_completion", -0.017), ("mean_waiting", 0.5), ("median_completion", 0.0), ("makespan", 0.01)];
        let fact = doubt(("conservative", "easy"), differences.into_iter(), &error).unwrap();
        assert!(fact.says.contains("in mean completion (difference −1.7 %, error −13.7 %)."), "{fact:?}");
        assert_eq!(doubt(("a", "b"), [("mean_completion", 0.5)].into_iter(), &error), None);
    }
}
