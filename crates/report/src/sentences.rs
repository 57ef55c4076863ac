//! The answer in sentences: which policy serves jobs sooner, by how much, and how certain that is.

use resched_analysis::compare::{Basis, Comparison};
use resched_analysis::practical::{Ratio, Verdict};
use resched_trace::words::count;

use crate::answer::{Answer, Compared};
use crate::units::times;

/// What a sentence says of a policy, for its colour on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is better than the baseline.
    Better,
    /// It is worse than the baseline.
    Worse,
    /// It may be as good as the baseline.
    Alike,
}

impl Kind {
    /// The class of the sentence on the page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Alike => "alike",
        }
    }
}

/// A sentence about a policy, whose label is its first word.
#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) kind: Kind,
    pub(crate) label: String,
    pub(crate) says: String,
}

/// The answer in one sentence, and one sentence for each policy but the baseline, the soonest first.
pub(crate) struct Sentences {
    pub(crate) first: String,
    pub(crate) others: Vec<Sentence>,
}

/// The sentences of an answer.
pub(crate) fn sentences(answer: &Answer) -> Sentences {
    let mut of_completion = compared(answer, "completion");
    of_completion.sort_by(|one, other| value(&one.found).total_cmp(&value(&other.found)));
    let waiting = compared(answer, "waiting");
    let sentence = |row: &&Compared| {
        let waits = waiting.iter().find(|other| other.policy == row.policy);
        Sentence {
            kind: kind(row.found.ratio_of_means),
            label: row.policy.clone(),
            says: about(answer, row, waits.map(|row| row.found.ratio_of_means)),
        }
    };
    Sentences { first: first(answer, &of_completion), others: of_completion.iter().map(sentence).collect() }
}

fn compared<'a>(answer: &'a Answer, metric: &str) -> Vec<&'a Compared> {
    answer.compared.iter().filter(|row| row.metric == metric).collect()
}

/// The ratio of means, for the order.
fn value(found: &Comparison) -> f64 {
    found.ratio_of_means.map_or(f64::INFINITY, |ratio| ratio.value)
}

fn kind(ratio: Option<Ratio>) -> Kind {
    match ratio.and_then(|ratio| ratio.interval) {
        Some([_, high]) if high < 1.0 => Kind::Better,
        Some([low, _]) if low > 1.0 => Kind::Worse,
        _ => Kind::Alike,
    }
}

/// The answer in one sentence. `compared` is in the order of the means.
fn first(answer: &Answer, compared: &[&Compared]) -> String {
    let (baseline, jobs) = (answer.baseline_label(), count(answer.population.jobs));
    let Some(best) = compared.first() else { return alone(answer, &jobs) };
    let kinds = || compared.iter().map(|row| kind(row.found.ratio_of_means));
    let mean = |place: Option<usize>| place.and_then(|place| answer.mean_completion(place));
    let place = answer.policies.iter().position(|policy| policy.label == best.policy);
    let pair = times(&[mean(place), mean(Some(answer.baseline))]);
    let [own, base] = pair.as_slice() else { return String::new() };
    match best.found.basis {
        Basis::NotAnswerable => "The data cannot answer which of these policies is better.".to_owned(),
        _ if kinds().any(|kind| kind == Kind::Better) => format!(
            "Of {} policies, {} has the least mean completion time over {jobs} jobs: {own} against {base} under {baseline}.",
            answer.policies.len(),
            best.policy
        ),
        _ if kinds().all(|kind| kind == Kind::Worse) => format!(
            "{baseline} has the least mean completion time over {jobs} jobs, {base}: jobs complete later under every other policy."
        ),
        _ => format!(
            "Over {jobs} jobs, no policy is certain to complete jobs sooner on average than {baseline} ({base}).{}",
            of_shorter_waiting(answer)
        ),
    }
}

/// Which policies let jobs wait less, if any does for certain.
fn of_shorter_waiting(answer: &Answer) -> String {
    let shorter = compared(answer, "waiting").into_iter().filter(|row| kind(row.found.ratio_of_means) == Kind::Better);
    let labels: Vec<&str> = shorter.map(|row| row.policy.as_str()).collect();
    if labels.is_empty() {
        String::new()
    } else {
        format!(" Jobs wait less for their first task under {}.", labels.join(", "))
    }
}

/// The answer about a single policy.
fn alone(answer: &Answer, jobs: &str) -> String {
    let label = answer.baseline_label();
    let shown = answer.policies.get(answer.baseline).and_then(|policy| answer.summaries.get(*policy.runs.first()?));
    let Some((summary, _)) = shown else { return String::new() };
    let all = times(&[summary.mean_completion_ms, summary.median_completion_ms, summary.mean_waiting_ms]);
    let [mean, median, waiting] = all.as_slice() else { return String::new() };
    format!(
        "Under {label}, {jobs} jobs complete in {mean} on average (median {median}), and wait {waiting} for their first task."
    )
}

/// What a policy does to completion and waiting times, after its label.
fn about(answer: &Answer, row: &Compared, waiting: Option<Option<Ratio>>) -> String {
    let baseline = answer.baseline_label();
    let found = &row.found;
    let Some(ratio) = found.ratio_of_means else {
        return format!("cannot be compared with {baseline}: no job has a time in both.");
    };
    let over = found.basis.in_words();
    let mut says = match (ratio.interval, kind(Some(ratio))) {
        (None, _) => format!("{} {baseline}; there is no interval ({over}).", completes(ratio.value)),
        (Some(interval), Kind::Alike) => format!(
            "shows no significant difference from {baseline} in mean completion time ({}).",
            with_interval(ratio.value, interval)
        ),
        (Some(interval), _) => {
            format!(
                "{} {baseline} ({}, over {over}).",
                completes(ratio.value),
                interval_in_words(ratio.value, interval)
            )
        }
    };
    let bound = answer.matters;
    match found.verdict {
        Verdict::Equivalent => says += &format!(" The two are equivalent within {bound}."),
        Verdict::TooSmall => says += &format!(" That is too small to matter (less than {bound})."),
        Verdict::CannotTell if kind(Some(ratio)) != Kind::Alike => {
            says += &format!(" Whether it is more than {bound} is open.");
        }
        _ => {}
    }
    if let Some(waits) = waiting.flatten() {
        says += &of_waiting(waits);
    }
    says
}

fn of_waiting(ratio: Ratio) -> String {
    match (ratio.interval, kind(Some(ratio))) {
        (Some(interval), Kind::Alike) => {
            format!(" No significant difference in mean waiting time ({}).", with_interval(ratio.value, interval))
        }
        (Some(interval), _) => format!(" {} ({}).", waits(ratio.value), interval_in_words(ratio.value, interval)),
        (None, _) => format!(" {}.", waits(ratio.value)),
    }
}

/// From this ratio on, a mean is so many times the other: a change in per cent would say nothing.
const TIMES: f64 = 3.0;

fn completes(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= TIMES => format!("takes {ratio:.1} times as long to complete jobs on average as"),
        ratio if ratio < 1.0 => format!("completes jobs {} sooner on average than", by(ratio)),
        ratio => format!("completes jobs {} later on average than", by(ratio)),
    }
}

fn waits(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= TIMES => format!("Its jobs wait {ratio:.1} times as long"),
        ratio if ratio < 1.0 => format!("Its jobs wait {} less", by(ratio)),
        ratio => format!("Its jobs wait {} longer", by(ratio)),
    }
}

/// A change without its sign. What hardly leaves anything is not all.
fn by(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0).abs();
    if ratio > 0.0 && ratio < 1.0 && percent > 99.9 { "over 99.9 %".to_owned() } else { format!("{percent:.1} %") }
}

fn signed(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0)).replace('-', "−")
}

fn with_interval(ratio: f64, interval: [f64; 2]) -> String {
    format!("{}, {}", signed(ratio), interval_in_words(ratio, interval))
}

/// The interval in the terms of its ratio: times or per cent.
fn interval_in_words(ratio: f64, [low, high]: [f64; 2]) -> String {
    match ratio >= TIMES {
        true => format!("95 % interval {low:.1} to {high:.1} times"),
        false => format!("95 % interval {} to {}", signed(low), signed(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_in_words() {
        assert_eq!(
            [0.69, 1.25, 0.0002].map(waits),
            ["Its jobs wait 31.0 % less", "Its jobs wait 25.0 % longer", "Its jobs wait over 99.9 % less"]
        );
        assert_eq!(completes(12.34), "takes 12.3 times as long to complete jobs on average as");
        let ratio = |low, high| Some(Ratio { interval: Some([low, high]), ..Ratio::bare(1.0) });
        assert_eq!(
            [ratio(0.5, 0.9), ratio(0.9, 1.1), ratio(1.1, 2.0), None].map(kind),
            [Kind::Better, Kind::Alike, Kind::Worse, Kind::Alike]
        );
        assert_eq!(with_interval(0.9, [0.8, 1.05]), "−10.0 %, 95 % interval −20.0 % to +5.0 %");
    }
}
