//! What a report says, before it is written: runs on one population, policies against the baseline, and how far to trust it. The page,
//! `report.json`, the tables and the notebook all show this.

use std::collections::BTreeSet;

use resched_analysis::compare::{Comparison, How, JOB_METRICS, JobMetric, compare};
use resched_analysis::distribution::mean;
use resched_analysis::groups::SlowedJob;
use resched_analysis::measure::{Measured, Metric};
use resched_analysis::practical::Matters;
use resched_analysis::{Details, JobMetrics, Population, Run, Summary, validity};
use resched_trace::validity::{Grade, Validity};
use serde::Serialize;

use crate::groups::{Grouped, grouped, slowed};
use crate::scene::Chosen;
use crate::{Error, Options};

/// The seed of the resamples if no replay names one.
const SEED: u64 = 1;

/// The runs of one policy, which differ only in their seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Policy {
    /// Its label.
    pub(crate) label: String,
    /// The places of its runs, in order.
    pub(crate) runs: Vec<usize>,
}

/// A policy against the baseline in one metric.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Compared {
    /// The metric.
    pub(crate) metric: &'static str,
    #[serde(skip)]
    pub(crate) title: &'static str,
    /// The label of the policy.
    pub(crate) policy: String,
    #[serde(flatten)]
    pub(crate) found: Comparison,
}

/// The content of a report.
pub(crate) struct Answer {
    /// The runs; only the jobs of the population count in them.
    pub(crate) runs: Vec<Run>,
    pub(crate) policies: Vec<Policy>,
    /// The place of the baseline among the policies.
    pub(crate) baseline: usize,
    pub(crate) population: Population,
    /// The facts about the comparison.
    pub(crate) validity: Validity,
    pub(crate) summaries: Vec<(Summary, Details)>,
    pub(crate) compared: Vec<Compared>,
    pub(crate) matters: Matters,
    /// Further metrics, with their values by run.
    pub(crate) metrics: Vec<(Metric, Vec<Option<f64>>)>,
    /// The jobs of each policy in groups.
    pub(crate) groups: Vec<Grouped>,
    /// The jobs that a policy slowed most.
    pub(crate) slowed: Vec<SlowedJob>,
}

impl Answer {
    /// Compares `runs` with the baseline of the options, or else with the first policy.
    ///
    /// # Errors
    /// [`Error::Request`] if no policy has the label of the baseline.
    pub(crate) fn new(mut runs: Vec<Run>, options: &Options) -> Result<Self, Error> {
        let matters = options.matters;
        let policies = policies(&mut runs);
        let baseline = place_of(options.baseline.as_deref(), &policies)?;
        let population = Population::share(&mut runs);
        let validity = validity::of_runs(&runs, &population);
        let seed = runs.iter().find_map(Run::replay).map_or(SEED, |info| info.seed);
        let how = How { matters, seed, answerable: validity.grade() < Grade::NotAnswerable };
        let compared = compare_all(&runs, &policies, baseline, &how);
        let summaries = runs.iter().map(|run| (Summary::of(run), Details::of(run))).collect();
        let metrics = {
            let measured: Vec<Measured<'_>> = runs.iter().map(Measured::new).collect();
            let values = |metric: &Metric| measured.iter().map(|run| metric.of(run)).collect();
            options.metrics.iter().map(|metric| (metric.clone(), values(metric))).collect()
        };
        let firsts: Vec<&Run> =
            policies.iter().filter_map(|policy| policy.runs.first().and_then(|&run| runs.get(run))).collect();
        let (groups, slowed) = (grouped(&firsts, baseline, options.zone), slowed(&firsts, baseline));
        Ok(Self {
            policies,
            baseline,
            population,
            validity,
            summaries,
            compared,
            matters,
            metrics,
            groups,
            slowed,
            runs,
        })
    }

    /// The baseline.
    pub(crate) fn baseline_label(&self) -> &str {
        self.policies.get(self.baseline).map_or("", |policy| policy.label.as_str())
    }

    /// The mean completion time of the policy at `place` over its runs, ms.
    pub(crate) fn mean_completion(&self, place: usize) -> Option<f64> {
        let runs = self.policies.get(place)?.runs.iter();
        mean(&runs.filter_map(|run| self.summaries.get(*run)?.0.mean_completion_ms).collect::<Vec<_>>())
    }

    /// Whether the data can answer which policy is better. If not, there are no tests.
    pub(crate) fn is_answerable(&self) -> bool {
        self.validity.grade() < Grade::NotAnswerable
    }

    /// The labels of all runs.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.runs.iter().map(|run| run.label.as_str()).collect()
    }

    /// The policies, as figures show them.
    pub(crate) fn chosen(&self) -> Vec<Chosen<'_>> {
        self.policies.iter().map(|policy| Chosen { label: &policy.label, runs: &policy.runs }).collect()
    }

    /// Whether a policy has several runs.
    pub(crate) fn has_seeds(&self) -> bool {
        self.policies.iter().any(|policy| policy.runs.len() > 1)
    }
}

/// Groups runs that differ only in their seed, and makes all labels different: `fair, seed 2` within a policy, `fair (2)` for another
/// with the same label.
fn policies(runs: &mut [Run]) -> Vec<Policy> {
    let mut policies: Vec<(Policy, BTreeSet<u64>)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let joins = |(policy, seeds): &&mut (Policy, BTreeSet<u64>)| {
            let first = policy.runs.first().and_then(|first| runs.get(*first));
            first.is_some_and(|first| alike(first, run)) && run.replay().is_some_and(|info| !seeds.contains(&info.seed))
        };
        let seed = run.replay().map(|info| info.seed);
        match policies.iter_mut().find(joins) {
            Some((policy, seeds)) => {
                policy.runs.push(place);
                seeds.extend(seed);
            }
            None => {
                let policy = Policy { label: run.label.clone(), runs: vec![place] };
                policies.push((policy, seed.into_iter().collect()));
            }
        }
    }
    let mut policies: Vec<Policy> = policies.into_iter().map(|(policy, _)| policy).collect();
    let labels: Vec<String> = policies.iter().map(|policy| policy.label.clone()).collect();
    for (index, policy) in policies.iter_mut().enumerate() {
        let same = |label: &&String| **label == policy.label;
        if labels.iter().filter(same).count() > 1 {
            let number = labels.iter().take(index + 1).filter(same).count();
            policy.label = format!("{} ({number})", policy.label);
        }
        for &place in &policy.runs {
            let Some(run) = runs.get_mut(place) else { continue };
            run.label.clone_from(&policy.label);
            if let (Some(seed), true) = (run.replay().map(|info| info.seed), policy.runs.len() > 1) {
                run.label = format!("{}, seed {seed}", policy.label);
            }
        }
    }
    policies
}

/// Whether two runs replay the same source on the same cluster under the same policy.
fn alike(one: &Run, other: &Run) -> bool {
    let key = |run: &Run| {
        let info = run.replay()?;
        Some((info.label.clone(), info.trace.path.clone(), info.cluster, info.rules.clone()))
    };
    key(one).is_some_and(|own| Some(own) == key(other))
}

fn place_of(baseline: Option<&str>, policies: &[Policy]) -> Result<usize, Error> {
    let Some(label) = baseline else { return Ok(0) };
    policies.iter().position(|policy| policy.label == label).ok_or_else(|| {
        let labels: Vec<&str> = policies.iter().map(|policy| policy.label.as_str()).collect();
        Error::Request(format!("--baseline: no run is labelled `{label}`; the labels are {}", labels.join(", ")))
    })
}

/// Every policy but the baseline, against it.
fn compare_all(runs: &[Run], policies: &[Policy], baseline: usize, how: &How) -> Vec<Compared> {
    let Some(base) = policies.get(baseline) else { return Vec::new() };
    let others = || policies.iter().enumerate().filter(|&(place, _)| place != baseline).map(|(_, policy)| policy);
    let of_metric = |metric: &JobMetric| {
        let of_policy = |policy: &Policy| Compared {
            metric: metric.name,
            title: metric.title,
            policy: policy.label.clone(),
            found: compare(&by_seed(runs, base, policy), metric, how),
        };
        others().map(of_policy).collect::<Vec<_>>()
    };
    JOB_METRICS.iter().flat_map(of_metric).collect()
}

/// The jobs of two policies, run by run: those with one seed together, or, if one of the two has a single run, that with each of the
/// others.
fn by_seed<'a>(runs: &'a [Run], base: &Policy, policy: &Policy) -> Vec<(&'a [JobMetrics], &'a [JobMetrics])> {
    let seed = |run: &usize| runs.get(*run).and_then(Run::replay).map(|info| info.seed);
    let jobs = |run: &usize| runs.get(*run).map(|run| run.jobs.as_slice());
    let all = || base.runs.iter().flat_map(|one| policy.runs.iter().map(move |two| (one, two)));
    let paired: Vec<(&usize, &usize)> = match (base.runs.len(), policy.runs.len()) {
        (1, _) | (_, 1) => all().collect(),
        _ => all().filter(|(one, two)| seed(one) == seed(two)).collect(),
    };
    paired.into_iter().filter_map(|(one, two)| Some((jobs(one)?, jobs(two)?))).collect()
}
