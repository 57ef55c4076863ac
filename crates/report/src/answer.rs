//! What a report says, before it is written: runs on one population, policies against the baseline, and how far to trust it. The page,
//! `report.json`, the tables and the notebook all show this.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use resched_analysis::answer::{Basis, Tested};
use resched_analysis::metrics::groups::SlowedJob;
use resched_analysis::metrics::named::{Measured, Metric, listed};
use resched_analysis::runs::identity::{self, Difference, Side};
use resched_analysis::runs::who::Who;
use resched_analysis::statistics::compare::{How, JOB_METRICS, JobMetric, compare};
use resched_analysis::statistics::distribution::mean;
use resched_analysis::statistics::practical::Matters;
use resched_analysis::statistics::sign::Variants;
use resched_analysis::validation::log::{self, BesideLog, Candidate};
use resched_analysis::{Details, JobMetrics, Origin, Population, Run, Summary};
use resched_tables::standing::Standing;
use resched_tables::store::System;
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use crate::compared::{Compared, Policy};
use crate::page::groups::{Grouped, grouped, slowed};
use crate::page::model_error::{Beside, doubts, rows_of};
use crate::plot::style::OBSERVED_LABEL;
use crate::scene::Chosen;
use crate::{Error, Options};

/// The seed of the resamples if no replay names one.
const SEED: u64 = 1;

/// In what a policy's runs differ from the baseline's, beside the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Differs {
    /// The policy.
    pub(crate) policy: String,
    #[serde(flatten)]
    pub(crate) difference: Difference,
}

/// The content of a report.
pub(crate) struct Answer {
    /// The runs, and then what really ran; only the jobs of the population count in them.
    pub(crate) runs: Vec<Run>,
    /// The policies. What really ran is one only if there is no replay.
    pub(crate) policies: Vec<Policy>,
    /// What really ran, as charts show it, if there are replays, too, and all of their jobs ended well in it.
    pub(crate) observed: Option<Policy>,
    /// What really ran beside replays of it, if both are there.
    pub(crate) beside: Option<Beside>,
    /// In what policies differ from the baseline beside the policy.
    pub(crate) differences: Vec<Differs>,
    /// The place of the baseline among the policies.
    pub(crate) baseline: usize,
    pub(crate) population: Population,
    /// The facts about the comparison.
    pub(crate) validity: Validity,
    pub(crate) summaries: Vec<(Summary, Details)>,
    /// All numbers of the list of metrics, of each run, by their names in `report.json`.
    pub(crate) numbers: Vec<BTreeMap<&'static str, Option<f64>>>,
    pub(crate) compared: Vec<Compared>,
    pub(crate) matters: Matters,
    /// Further metrics, with their values by run.
    pub(crate) metrics: Vec<(Metric, Vec<Option<f64>>)>,
    /// The jobs of each policy in groups.
    pub(crate) groups: Vec<Grouped>,
    /// The jobs that a policy slowed most.
    pub(crate) slowed: Vec<SlowedJob>,
    /// The comparison in variants of its world, if it was tested in them.
    pub(crate) variants: Option<Variants>,
}

impl Answer {
    /// What ran the jobs: texts are in the words of this system.
    pub(crate) fn system(&self) -> System {
        System::of_all(self.runs.iter().filter_map(Run::replay).map(|info| info.system))
    }

    /// Compares `runs`, which lie in `folders`, with the baseline of the options, or else with the first policy. Traces come last.
    ///
    /// # Errors
    /// [`Error::Request`] if no policy has the label of the baseline, or the attempts of a trace did not take place.
    pub(crate) fn new(mut runs: Vec<Run>, folders: &[PathBuf], options: &Options) -> Result<Self, Error> {
        let matters = options.matters;
        let replays = runs.iter().filter(|run| run.replay().is_some()).count();
        let traces = if replays > 0 { runs.split_off(replays) } else { Vec::new() };
        let mut policies = policies(&mut runs);
        let baseline = place_of(options.baseline.as_deref(), &policies)?;
        let mut population = Population::share(&mut runs);
        if population.jobs == 0 && policies.len() > 1 && population.runs.iter().all(|run| run.jobs > 0) {
            return Err(Error::Request(
                "no job counts in all of these runs, so there is nothing to compare; name runs in which the same jobs end well, for \
                 example of one window"
                    .to_owned(),
            ));
        }
        let validated =
            options.validation.as_ref().or_else(|| runs.iter().find_map(|run| run.replay()?.validation.as_ref()));
        let validated = validated.cloned();
        let observed = traces.into_iter().next();
        let dirs: Vec<&Path> = folders.iter().take(runs.len()).map(PathBuf::as_path).collect();
        let kept = BesideLog::of_runs(&dirs)?;
        let today = policies.get(baseline).map_or("", |policy| policy.label.as_str());
        let beside_log = match &observed {
            Some(observed) => Some(judged(observed, &runs, &policies, kept).with_baseline(today)),
            None => kept.map(|kept| kept.with_baseline(today)),
        };
        let log = log::fact(beside_log.as_ref(), &runs);
        let mut beside = observed.as_ref().map(|observed| Beside::new(observed, &runs, &policies, validated.as_ref()));
        let differences = differences(&runs, folders, &policies, baseline)?;
        let label = policies.get(baseline).map_or_else(String::new, |policy| policy.label.clone());
        let named =
            differences.iter().map(|difference| (format!("{} and {label}", difference.policy), &difference.difference));
        let variants = test_of_sign(folders, &policies)?;
        if let Some(variants) = &variants {
            name_signs(variants, &label, &mut policies);
        }
        let tested = match &variants {
            Some(variants) => Tested::In(variants, &label),
            None if policies.len() > 1 => Tested::Not,
            None => Tested::NothingToTest,
        };
        let basis = Basis {
            runs: &runs,
            population: &population,
            differences: identity::facts(named),
            model_errors: Vec::new(),
            log,
            tested,
        };
        let mut validity = basis.validity();
        let seed = runs.iter().find_map(Run::replay).map_or(SEED, |info| info.seed);
        let how = How { matters, seed, answerable: validity.grade() < Grade::NotAnswerable };
        let compared = compare_all(&runs, &policies, baseline, &how);
        let firsts: Vec<&Run> =
            policies.iter().filter_map(|policy| policy.runs.first().and_then(|&run| runs.get(run))).collect();
        let (groups, slowed) = (grouped(&firsts, baseline, options.zone), slowed(&firsts, baseline));
        let validated = validated.or_else(|| beside_log.as_ref()?.validation());
        doubts(beside.as_ref(), validated.as_ref(), &compared, &policies, &label)
            .into_iter()
            .for_each(|fact| validity.add(fact));
        let mut of_charts = None;
        if let Some(observed) = observed {
            let rows = rows_of(&population, &runs, &observed);
            if let Some(beside) = &mut beside {
                beside.drawn = rows.is_some();
            }
            of_charts = rows.as_ref().map(|_| Policy::new(observed.label.clone(), vec![runs.len()]));
            let (observed, rows) = narrowed(observed, &runs, rows);
            population.rows.push(rows);
            runs.push(observed);
        }
        let measured: Vec<Measured<'_>> = runs.iter().map(Measured::new).collect();
        let summaries = measured.iter().map(|run| (Summary::measured(run), Details::measured(run))).collect();
        let of_run = |run: &Measured<'_>| listed().iter().map(|metric| (metric.0.field, run.number(metric))).collect();
        let numbers = measured.iter().map(of_run).collect();
        let values = |metric: &Metric| measured.iter().map(|run| metric.of(run)).collect();
        let metrics = options.metrics.iter().map(|metric| (metric.clone(), values(metric))).collect();
        drop(measured);
        Ok(Self {
            policies,
            observed: of_charts,
            beside,
            differences,
            baseline,
            population,
            validity,
            summaries,
            numbers,
            compared,
            matters,
            metrics,
            groups,
            slowed,
            variants,
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

    /// True if the data can answer which policy is better. If not, there are no tests.
    pub(crate) fn is_answerable(&self) -> bool {
        self.validity.grade() < Grade::NotAnswerable
    }

    /// The labels of all runs.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.runs.iter().map(|run| run.label.as_str()).collect()
    }

    /// The policies, as figures show them, and then what really ran.
    pub(crate) fn chosen(&self) -> Vec<Chosen<'_>> {
        let shown = self.policies.iter().chain(&self.observed);
        shown.map(|policy| Chosen { label: &policy.label, runs: &policy.runs }).collect()
    }

    /// True if there is a replay. Otherwise it is only about what really ran.
    pub(crate) fn has_replays(&self) -> bool {
        self.runs.iter().any(|run| run.replay().is_some())
    }

    /// True if a policy has several runs.
    pub(crate) fn has_seeds(&self) -> bool {
        self.policies.iter().any(|policy| policy.runs.len() > 1)
    }
}

impl Policy {
    fn new(label: String, runs: Vec<usize>) -> Self {
        Self { label, runs, sign: None }
    }
}

/// What ran beside the replays of these policies, and beside those that are kept with them.
fn judged(observed: &Run, runs: &[Run], policies: &[Policy], kept: Option<BesideLog>) -> BesideLog {
    let kept = kept.unwrap_or_default();
    if kept.no_judge.is_some() {
        return kept;
    }
    let of_policy = |policy: &Policy| {
        let seeds = policy.runs.iter().filter_map(|&run| runs.get(run));
        let seeds = seeds.filter(|run| run.replay().is_some_and(log::may_have_run));
        Candidate::mean_of(&seeds.map(|run| Candidate::of(observed, run, None)).collect::<Vec<_>>())
    };
    let mut candidates: Vec<Candidate> = policies.iter().filter_map(of_policy).collect();
    candidates.extend(kept.candidates);
    BesideLog::new(candidates, kept.hints)
}

/// The test of the sign of a comparison of these policies, if the folder of their first runs has it.
fn test_of_sign(folders: &[PathBuf], policies: &[Policy]) -> Result<Option<Variants>, Error> {
    let first = |policy: &Policy| Some(folders.get(*policy.runs.first()?)?.as_path());
    let dirs: Vec<&Path> = policies.iter().filter_map(first).collect();
    Ok(if dirs.len() > 1 { Variants::of_runs(&dirs)? } else { None })
}

/// Gives each policy the sentence about its sign.
fn name_signs(variants: &Variants, baseline: &str, policies: &mut [Policy]) {
    for sign in variants.signs(baseline) {
        if let Some(policy) = policies.iter_mut().find(|policy| policy.label == sign.policy) {
            policy.sign = Some(sign.says);
        }
    }
}

/// Refuses a trace whose attempts a rule made: they are nothing that ran.
pub(crate) fn check_took_place(observed: &Run, folder: &Path) -> Result<(), Error> {
    let Origin::Observed(manifest) = &observed.origin else { return Ok(()) };
    let Some(rule) = manifest.made_whole("attempts.start") else { return Ok(()) };
    let folder = folder.display();
    Err(Error::Request(format!(
        "{folder}: expected an observed trace, found attempts that the rule `{rule}` made, so there is no model error; leave the trace \
         out, and compare only its runs"
    )))
}

/// Of what really ran, only the jobs count that count in the replays. `rows` are theirs, if it has all. Returns their rows, too.
fn narrowed(mut observed: Run, runs: &[Run], rows: Option<Vec<usize>>) -> (Run, Vec<usize>) {
    let first = || runs.iter().take(1).flat_map(|run| run.jobs.iter());
    let among = |who: Who| first().filter(|job| job.is_among(who)).map(|job| job.job_id.clone()).collect();
    let [counting, started]: [BTreeSet<String>; 2] = [Who::Ended, Who::Started].map(among);
    for job in observed.jobs.iter_mut().filter(|job| !started.contains(&job.job_id)) {
        job.leave_out(Who::Started);
    }
    let mut read = Vec::new();
    for (row, job) in observed.jobs.iter_mut().enumerate().filter(|(_, job)| job.standing == Standing::Counts) {
        if counting.contains(&job.job_id) {
            read.push(row);
        } else {
            job.leave_out(Who::Ended);
        }
    }
    (observed, rows.unwrap_or(read))
}

/// In what the policies differ from the baseline, by their first runs.
fn differences(runs: &[Run], folders: &[PathBuf], policies: &[Policy], baseline: usize) -> Result<Vec<Differs>, Error> {
    let side = |place: usize| Some(Side { path: folders.get(place)?, origin: &runs.get(place)?.origin });
    let first = |policy: &Policy| policy.runs.first().copied();
    let base = policies.get(baseline);
    let Some(first_side) = base.and_then(first).and_then(side) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for policy in policies {
        let Some((place, other)) = first(policy).and_then(|place| Some((place, side(place)?))) else { continue };
        let mut differences = identity::compare(&first_side, &other)?;
        let single = |policy: &Policy| policy.runs.len() == 1;
        if let (Some(one), Some(two), true) = (
            base.and_then(first).and_then(|place| runs.get(place)?.replay()),
            runs.get(place).and_then(Run::replay),
            single(policy) && base.is_some_and(single),
        ) {
            differences.extend(identity::seeds(one, two));
        }
        found.extend(differences.into_iter().map(|difference| Differs { policy: policy.label.clone(), difference }));
    }
    Ok(found)
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
                let policy = Policy::new(run.label.clone(), vec![place]);
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

/// True if two runs replay the same source on the same cluster under the same policy.
fn alike(one: &Run, other: &Run) -> bool {
    let key = |run: &Run| {
        let info = run.replay()?;
        Some((info.label.clone(), info.trace.path.clone(), info.cluster, info.rules.clone()))
    };
    key(one).is_some_and(|key_of_one| Some(key_of_one) == key(other))
}

fn place_of(baseline: Option<&str>, policies: &[Policy]) -> Result<usize, Error> {
    let Some(label) = baseline else { return Ok(0) };
    if label == OBSERVED_LABEL {
        let labels: Vec<&str> =
            policies.iter().map(|policy| policy.label.as_str()).filter(|label| *label != OBSERVED_LABEL).collect();
        return Err(Error::Request(format!(
            "--baseline: the observed run is not a policy, so it cannot be the baseline of tests; name a replay ({}), and see its model \
             error in the report",
            if labels.is_empty() { "make one with `resched replay`".to_owned() } else { labels.join(", ") }
        )));
    }
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
            title: metric.title(),
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
    let jobs = |run: &usize| runs.get(*run).map(|run| &run.jobs[..]);
    let all = || base.runs.iter().flat_map(|one| policy.runs.iter().map(move |two| (one, two)));
    let paired: Vec<(&usize, &usize)> = match (base.runs.len(), policy.runs.len()) {
        (1, _) | (_, 1) => all().collect(),
        _ => all().filter(|(one, two)| seed(one) == seed(two)).collect(),
    };
    paired.into_iter().filter_map(|(one, two)| Some((jobs(one)?, jobs(two)?))).collect()
}
