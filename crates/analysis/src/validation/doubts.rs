//! Where the model error is as large as the difference between two policies.

use resched_tables::validity::{Fact, Grade};
use resched_tables::words::change_in_percent;

use super::log::BesideLog;
use crate::runs::compared::{Compared, row_pairs};
use crate::statistics::distribution::{mean, quantile};
use crate::statistics::sign::{ALIKE, OF_DIFFERENCE};

/// The quantity by which answers are graded. If its error is a larger share of the difference than [`OF_DIFFERENCE`], the size of the
/// difference is not certain: a replay of one policy may be right where that of the other is wrong.
const GRADED: &str = "mean_completion";

/// The fact that the model error of a quantity is as large as the difference of a policy from the baseline in it, if so, or decides how large
/// the difference in mean completion is. `differences` are relative, by the name of the quantity; `error` has its relative error. A
/// difference of nothing is none that an error could hide.
pub fn doubt<'a>(
    (policy, baseline): (&str, &str),
    differences: impl Iterator<Item = (&'a str, f64)>,
    error: &dyn Fn(&str) -> Option<f64>,
) -> Option<Fact> {
    let percent = change_in_percent;
    let (mut hidden, mut moved) = (Vec::new(), None);
    for (quantity, difference) in differences {
        let Some(error) = error(quantity) else { continue };
        let sizes = format!("(difference {}, error {})", percent(difference), percent(error));
        if difference != 0.0 && error.abs() >= difference.abs() {
            hidden.push(format!("{} {sizes}", quantity.replace('_', " ")));
        } else if quantity == GRADED && difference.abs() >= ALIKE && error.abs() > OF_DIFFERENCE * difference.abs() {
            moved = Some(sizes);
        }
    }
    let says = match (hidden.as_slice(), moved) {
        ([], None) => return None,
        ([], Some(sizes)) => format!(
            "The model error is more than a quarter of the difference between {policy} and {baseline} in mean completion {sizes}, so the \
             size of the difference is not certain."
        ),
        _ => format!(
            "The model error is at least as large as the difference between {policy} and {baseline} in {}.",
            hidden.join(", ")
        ),
    };
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
        assert_eq!(doubt(("a", "b"), [("mean_completion", 0.6)].into_iter(), &error), None);
    }

    /// The truth may be the other policy beside the log: 0.964 × 1.106 is 1.066, not 1.106.
    #[test]
    fn an_error_that_is_more_than_a_quarter_of_the_difference_in_means_is_named() {
        let found = |quantity: &'static str, error: f64| {
            doubt(("fifo", "fair"), [(quantity, 0.106)].into_iter(), &|_| Some(error)).map(|fact| fact.says)
        };
        let says = "more than a quarter of the difference between fifo and fair in mean completion (difference +10.6 %, error −3.6 %)";
        assert!(found("mean_completion", -0.036).is_some_and(|text| text.contains(says)));
        let alike = doubt(("fifo", "fair"), [("mean_completion", 0.0005)].into_iter(), &|_| Some(0.0002));
        assert_eq!(alike, None, "what is no difference has no size");
        assert_eq!([found("mean_completion", 0.026), found("mean_waiting", -0.036)], [None, None]);
    }
}
