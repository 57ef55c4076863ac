//! The answer in sentences: which policy serves jobs sooner, by how much, who loses, and how certain that is. The rule is that of the
//! tables ([`resched_analysis::statistics::headline`]).

use resched_analysis::statistics::compare::{Basis, Comparison};
use resched_analysis::statistics::headline::{Kind, of_completion, of_waiting};
use resched_analysis::statistics::outlier;
use resched_analysis::statistics::practical::Verdict;
use resched_tables::words::count;

use crate::answer::Answer;
use crate::compared::{Compared, Policy};
use crate::page::units::times;

/// The class of a sentence on the page, for its colour.
pub(crate) fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Better => "better",
        Kind::Worse => "worse",
        Kind::Alike => "alike",
    }
}

/// A sentence about a policy, whose label stands before it.
#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) class: &'static str,
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
    let sentence = |row: &&Compared| Sentence {
        class: class(Kind::of(row.found.ratio_of_means)),
        label: row.policy.clone(),
        says: about(answer, row),
    };
    let first = std::iter::once(first(answer, &of_completion)).chain(outliers(answer)).collect::<Vec<_>>().join(" ");
    Sentences { first, others: of_completion.iter().map(sentence).collect() }
}

/// The jobs that move the mean of a policy by a tenth or more, a sentence each.
fn outliers(answer: &Answer) -> Vec<String> {
    let run = |policy: &Policy| answer.runs.get(*policy.runs.first()?);
    let runs = answer.policies.iter().filter_map(|policy| Some((policy.label.as_str(), &*run(policy)?.jobs as &[_])));
    outlier::hints(runs.collect::<Vec<_>>())
}

/// The answer in lines, for a terminal: the headline, a line for each policy, what the runs differ in, and the model error.
pub(crate) fn in_lines(answer: &Answer) -> Vec<String> {
    let Sentences { first, others } = sentences(answer);
    let shown = others.into_iter().filter(|_| answer.is_answerable());
    let mut lines = vec![first];
    lines.extend(shown.map(|policy| format!("  {}: {}", policy.label, policy.says)));
    lines.extend(differences(answer).into_iter().map(|line| format!("  {line}")));
    if let Some(beside) = &answer.beside {
        lines.push(format!("Model error: {}", beside.says));
        lines.extend(
            beside.tables(answer.system()).iter().flat_map(|table| table.lines()).map(|line| format!("  {line}")),
        );
    }
    lines
}

/// In what policies differ from the baseline beside the policy, a line each.
pub(crate) fn differences(answer: &Answer) -> Vec<String> {
    let baseline = answer.baseline_label();
    let line = |differs: &crate::answer::Differs| {
        format!("{} and {baseline} also differ in {}.", differs.policy, differs.difference.in_words())
    };
    answer.differences.iter().map(line).collect()
}

fn compared<'a>(answer: &'a Answer, metric: &str) -> Vec<&'a Compared> {
    answer.compared.iter().filter(|row| row.metric == metric).collect()
}

/// The ratio of means, for the order.
fn value(found: &Comparison) -> f64 {
    found.ratio_of_means.map_or(f64::INFINITY, |ratio| ratio.value)
}

/// The answer in one sentence. `compared` is in the order of the means.
fn first(answer: &Answer, compared: &[&Compared]) -> String {
    let (baseline, jobs) = (answer.baseline_label(), jobs_in_words(answer.population.jobs));
    let Some(any) = compared.first() else { return alone(answer, &jobs) };
    let of_kind = |wanted| compared.iter().filter(move |row| Kind::of(row.found.ratio_of_means) == wanted);
    let better: Vec<&&Compared> = of_kind(Kind::Better).collect();
    let base = times(&[answer.mean_completion(answer.baseline)]).concat();
    match better.as_slice() {
        _ if any.found.basis == Basis::NotAnswerable => {
            "The data cannot answer which of these policies is better.".to_owned()
        }
        [] if of_kind(Kind::Worse).count() == compared.len() => format!(
            "Over {jobs}, {baseline} is significantly faster on average ({base}) than {}.",
            if compared.len() == 1 { any.policy.as_str() } else { "every other policy" }
        ),
        [] if compared.iter().any(|row| row.found.basis.is_these_jobs_only()) => {
            let is_shorter = any.found.ratio_of_means.is_some_and(|ratio| ratio.value < 1.0);
            match (is_shorter, any.found.means) {
                (true, Some(_)) => {
                    let completes = of_completion(&any.found, baseline, answer.matters);
                    format!("Over {jobs}, {} is the fastest on average: {completes}.", any.policy)
                }
                _ => format!("Over {jobs}, {baseline} is the fastest on average ({base}), for these jobs only."),
            }
        }
        [] => format!(
            "Over {jobs}, no policy is significantly faster than {baseline} ({base} on average).{}",
            of_shorter_waiting(answer)
        ),
        [best, others @ ..] => {
            let who = match others.len() {
                0 => format!("{} is significantly faster", best.policy),
                more => format!(
                    "{} of {} policies are significantly faster, {} by the most",
                    more + 1,
                    compared.len(),
                    best.policy
                ),
            };
            let completes = of_completion(&best.found, baseline, answer.matters);
            format!("Over {jobs}, {who}: {completes}.")
        }
    }
}

fn jobs_in_words(jobs: u64) -> String {
    format!("{} job{}", count(jobs), if jobs == 1 { "" } else { "s" })
}

/// Which policies let jobs wait less, if any does significantly.
fn of_shorter_waiting(answer: &Answer) -> String {
    let is_shorter =
        |row: &&Compared| Kind::of(row.found.ratio_of_means) == Kind::Better && row.found.verdict != Verdict::TooSmall;
    let labels: Vec<&str> =
        compared(answer, "waiting").into_iter().filter(is_shorter).map(|row| row.policy.as_str()).collect();
    if labels.is_empty() {
        String::new()
    } else {
        format!(" Jobs wait less for their first task under {}.", labels.join(", "))
    }
}

/// The answer about a single policy, or about what really ran alone.
fn alone(answer: &Answer, jobs: &str) -> String {
    let shown = answer.policies.get(answer.baseline).and_then(|policy| answer.summaries.get(*policy.runs.first()?));
    let Some((summary, _)) = shown else { return String::new() };
    if answer.population.jobs == 0 {
        return "No job counts, so there are no times to report.".to_owned();
    }
    let all = times(&[summary.mean_completion_ms, summary.median_completion_ms, summary.mean_waiting_ms]);
    let [mean, median, waiting] = all.as_slice() else { return String::new() };
    let is_one = answer.population.jobs == 1;
    let under = match (answer.has_replays(), is_one) {
        (true, true) => format!("Under {}, {jobs} completes", answer.baseline_label()),
        (true, false) => format!("Under {}, {jobs} complete", answer.baseline_label()),
        (false, _) => format!("In the observed run, {jobs} completed"),
    };
    let average = if is_one { String::new() } else { format!(" on average (median {median})") };
    let waits = if summary.mean_waiting_ms.is_some() {
        format!(", after a wait of {waiting} for {} first task", if is_one { "its" } else { "their" })
    } else {
        String::new()
    };
    format!("{under} in {mean}{average}{waits}.")
}

/// What a policy does to completion and waiting times, after its label, and whether its sign holds.
fn about(answer: &Answer, row: &Compared) -> String {
    let found = &row.found;
    let waiting = compared(answer, "waiting").into_iter().find(|other| other.policy == row.policy);
    let waits = waiting.map(|other| of_waiting(&other.found, found.means)).filter(|text| !text.is_empty());
    let sign = answer.policies.iter().find(|policy| policy.label == row.policy).and_then(|policy| policy.sign.clone());
    let completes = of_completion(found, answer.baseline_label(), answer.matters);
    let completes = match found.means {
        Some(_) => format!("mean completion time {completes}."),
        None => format!("{completes}."),
    };
    [Some(completes), sign, waits].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
