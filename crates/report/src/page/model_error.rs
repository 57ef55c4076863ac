//! The model error: what really ran beside the replay of the scheduler that likely ran it. What ran is no policy, so it has no interval,
//! no test and no rank.

use resched_analysis::statistics::compare::Comparison;
use resched_analysis::validation::{ModelError, QUANTITIES, doubt, model_error, phases_of};
use resched_analysis::{Population, Run};
use resched_tables::run::RunValidation;
use resched_tables::store::System;
use resched_tables::validity::Fact;
use resched_tables::words::count;
use serde::Serialize;

use crate::compared::{Compared, Policy};
use crate::page::frame::UNKNOWN;
use crate::page::units::{percent_change, times};

/// What really ran, beside replays of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Beside {
    /// Which replays are shown, and why, as a sentence.
    pub(crate) says: String,
    /// The label of the policy that likely ran; null if it is not known.
    pub(crate) likely: Option<String>,
    /// The errors of the replays of these policies, means over their seeds.
    pub(crate) policies: Vec<OfPolicy>,
    /// True if charts show what ran.
    pub(crate) drawn: bool,
}

/// The errors of the replay of a policy.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OfPolicy {
    pub(crate) policy: String,
    #[serde(flatten)]
    pub(crate) error: ModelError,
}

impl Beside {
    /// The errors of the policy that likely ran, or else of all.
    pub(crate) fn new(observed: &Run, runs: &[Run], policies: &[Policy], validated: Option<&RunValidation>) -> Self {
        let known = validated.map(|found| found.policy.as_str());
        let replayed = |label: &str| policies.iter().find(|policy| policy.label == label);
        let without_site = |policy: &Policy| {
            let mut infos = policy.runs.iter().filter_map(|&run| runs.get(run)?.replay());
            infos.all(|info| info.site.is_none())
        };
        let (likely, says) = match (known, policies) {
            (Some(label), _) if replayed(label).is_some() => {
                (Some(label), format!("According to the validation, {label} most likely ran the trace."))
            }
            (_, [only]) => (
                Some(only.label.as_str()),
                format!(
                    "{} is assumed to have run the trace, because it is the only replay; `resched validate` finds the likely scheduler.",
                    only.label
                ),
            ),
            (Some(label), _) => (
                None,
                format!(
                    "According to the validation, {label} most likely ran the trace, but it is not among these replays. So each replay is \
                     compared with the observed run, and part of its error is that it is another scheduler."
                ),
            ),
            // The log holds Spark's settings. `spark` without parameters follows them, unless those of a site were given.
            (None, _) if observed.origin.system() == Some(System::Spark) && replayed("spark").is_some_and(without_site) => (
                Some("spark"),
                "spark is assumed to have run the trace, because it follows the settings in the log; `resched validate` tests that."
                    .to_owned(),
            ),
            (None, _) => (
                None,
                "The scheduler that ran the trace is not known here, so each replay is compared with the observed run. Part of its error \
                 may be that it is another scheduler. `resched validate` finds the likely one; give its output to `replay` or `report` \
                 with --validation."
                    .to_owned(),
            ),
        };
        let shown = policies.iter().filter(|policy| likely.is_none_or(|label| label == policy.label));
        let errors = shown.map(|policy| {
            let seeds = policy.runs.iter().filter_map(|&run| runs.get(run));
            let seeds: Vec<ModelError> = seeds.map(|run| model_error(observed, run)).collect();
            OfPolicy { policy: policy.label.clone(), error: ModelError::mean_of(&seeds) }
        });
        Self { says, likely: likely.map(str::to_owned), policies: errors.collect(), drawn: false }
    }

    /// The least error of a quantity, without its sign: that of the likely scheduler, if it is known.
    fn error(&self, quantity: &str) -> Option<f64> {
        let errors = self.policies.iter().filter_map(|policy| policy.error.of(quantity));
        errors.min_by(|one, other| one.abs().total_cmp(&other.abs()))
    }

    /// The tables of the page.
    pub(crate) fn tables(&self, system: System) -> Vec<Table> {
        self.policies.iter().map(|policy| Table::of(policy, system)).collect()
    }
}

/// The quantities in which two policies are compared, and where their difference is.
const COMPARED: [(&str, &str, Ratio); 6] = [
    ("mean_completion", "completion", |found| found.ratio_of_means.map(|ratio| ratio.value)),
    ("median_completion", "completion", |found| found.ratio_of_p50.map(|ratio| ratio.value)),
    ("p95_completion", "completion", |found| found.ratio_of_p95.map(|ratio| ratio.value)),
    ("mean_waiting", "waiting", |found| found.ratio_of_means.map(|ratio| ratio.value)),
    ("median_waiting", "waiting", |found| found.ratio_of_p50.map(|ratio| ratio.value)),
    ("p95_waiting", "waiting", |found| found.ratio_of_p95.map(|ratio| ratio.value)),
];

type Ratio = fn(&Comparison) -> Option<f64>;

/// The facts that the model error of a quantity is as large as the difference between two policies in it, one for each policy. A difference of
/// nothing is none that an error could hide.
pub(crate) fn doubts(
    beside: Option<&Beside>,
    validated: Option<&RunValidation>,
    compared: &[Compared],
    policies: &[Policy],
    baseline: &str,
) -> Vec<Fact> {
    let error = |quantity: &str| match beside {
        Some(beside) => beside.error(quantity),
        None => validated.and_then(|validated| validated.error(quantity)),
    };
    let of_policy = |policy: &Policy| {
        let difference = |(quantity, metric, ratio): &(&'static str, &str, Ratio)| {
            let row = compared.iter().find(|row| row.metric == *metric && row.policy == policy.label)?;
            Some((*quantity, ratio(&row.found)? - 1.0))
        };
        doubt((&policy.label, baseline), COMPARED.iter().filter_map(difference), &error)
    };
    let others = policies.iter().filter(|policy| policy.label != baseline);
    others.filter_map(of_policy).collect()
}

/// For the jobs that count in all replays: which of them what ran has, so that charts can show it.
pub(crate) fn rows_of(population: &Population, runs: &[Run], observed: &Run) -> Option<Vec<usize>> {
    population.rows_in(&observed.jobs, &runs.first()?.jobs)
}

/// The errors of a policy as a page shows them.
pub(crate) struct Table {
    pub(crate) policy: String,
    pub(crate) jobs: String,
    /// Quantity, observed, replayed, error.
    pub(crate) quantities: Vec<[String; 4]>,
    /// What the size of a job is.
    pub(crate) by: &'static str,
    /// The headings of the phases.
    pub(crate) phase_titles: Vec<&'static str>,
    /// Jobs by size, their number, and by phase the mean observed and replayed time and the error in shares of the completion time.
    pub(crate) phases: Vec<Vec<String>>,
}

impl Table {
    fn of(of_policy: &OfPolicy, system: System) -> Self {
        let error = &of_policy.error;
        let quantity = |(name, title): &(&str, &str)| {
            let found = error.quantities.get(name)?;
            let both = times(&[Some(found.observed_ms), Some(found.replayed_ms)]);
            let [observed, replayed] = both.try_into().unwrap_or_default();
            Some([(*title).to_owned(), observed, replayed, percent_change(found.relative)])
        };
        let size = |from: u64, to: Option<u64>| match (from, to) {
            (from, Some(to)) => format!("{} to {}", count(from), count(to)),
            (1, None) => "all".to_owned(),
            (from, None) => format!("{} and more", count(from)),
        };
        let shown = phases_of(system, &error.by_size);
        let phases = error.by_size.iter().map(|class| {
            let phase = |name: &str| {
                class.phases.get(name).map_or_else(
                    || UNKNOWN.to_owned(),
                    |phase| {
                        let both = times(&[Some(phase.observed_ms), Some(phase.replayed_ms)]);
                        format!("{} ({})", both.join(" → "), percent_change(Some(phase.mean_signed)))
                    },
                )
            };
            let head = [size(class.from, class.to), count(class.jobs)];
            head.into_iter().chain(shown.iter().map(|(name, _)| phase(name))).collect()
        });
        Self {
            policy: of_policy.policy.clone(),
            jobs: count(error.jobs),
            phase_titles: shown.iter().map(|(_, title)| *title).collect(),
            by: error.by_size.first().map_or("tasks", |class| class.size),
            quantities: QUANTITIES.iter().filter_map(quantity).collect(),
            phases: phases.collect(),
        }
    }

    /// The table in lines, for a terminal.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line =
            |[title, observed, replayed, error]: &[String; 4]| format!("{title}: {observed} → {replayed} ({error})");
        let quantities: Vec<String> = self.quantities.iter().map(line).collect();
        vec![format!("{}, {} jobs, observed → replayed (error): {}.", self.policy, self.jobs, quantities.join("; "))]
    }
}
