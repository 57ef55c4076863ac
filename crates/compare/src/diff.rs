//! Pairs of runs: who gains and who loses from one to the other, and how sure the change is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_analysis::answer::{Basis, Tested};
use resched_analysis::runs::identity::{self, Difference};
use resched_analysis::runs::window;
use resched_analysis::statistics::compare::{self, Comparison, JOB_METRICS};
use resched_analysis::statistics::headline::of_completion;
use resched_analysis::statistics::practical::Matters;
use resched_analysis::statistics::sign::{Sign, Variants, untested};
use resched_analysis::validation::log::{self, BesideLog};
use resched_analysis::validation::{ModelError, doubts, model_error};
use resched_analysis::why::{Diff, Side, Why};
use resched_analysis::{JobList, JobMetrics, Origin, Population, Run};
use resched_replay::runs_in;
use resched_tables::clock::{Covered, Period, Span, Zone};
use resched_tables::store::System;
use resched_tables::validity::{Fact, Grade, Validity};

use crate::Error;

/// How runs are compared.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The relative change above which a job counts as slower or faster.
    pub matters: Matters,
    /// The part of the time of the trace whose jobs are compared.
    pub period: Period,
    /// The zone of its times that name none.
    pub zone: Zone,
}

/// A comparison of runs, how sure it is, and what else differs.
#[derive(Debug)]
pub struct Diffed {
    /// Who gains and who loses, and through which phase.
    pub diff: Diff,
    /// The mean completion time in a sentence, by the rule of reports.
    pub headline: String,
    /// In what the runs differ beside their policies.
    pub differences: Vec<Difference>,
    /// What really ran beside its replay, if the first is a trace.
    pub model_error: Option<ModelError>,
    /// The completion times of both; `None` if the first is a trace, as what ran is not a policy.
    pub comparison: Option<Comparison>,
    /// Whether the run stays on its side of the first, for each pair whose sign was tested.
    pub signs: Vec<Sign>,
    /// What the comparison rests on.
    pub validity: Validity,
    /// The part of the time that was asked for, and what the first run covers; `None` for all of the time.
    pub window: Option<(Span, Covered)>,
}

/// Compares a run, a trace, or a folder with a run for each seed, with another run or such a folder.
///
/// # Errors
/// [`Error::Request`] if there is nothing to compare: other traces, other seeds, or no job in both. Errors of reading the runs.
pub fn diff(baseline: &Path, run: &Path, how: &How) -> Result<Diffed, Error> {
    let pairs = pairs(&by_seed(baseline)?, &by_seed(run)?, [baseline, run])?;
    let mut sides = [const { (String::new(), true, System::MapReduce1) }; 2];
    let mut times = Vec::with_capacity(pairs.len());
    let mut summed = Pairs::default();
    let mut window: Option<(Span, Covered)> = None;
    for (before, after) in pairs {
        let mut read = |dir: &Path, (label, has_reasons, system): &mut (String, bool, System)| {
            let mut why = Why::open(dir)?;
            // The window of the first run is that of all: it is on the clock of the trace.
            if window.is_none() && !how.period.is_whole() {
                let covered = why.covered();
                window = Some((window::span(&how.period, &covered, how.zone)?, covered));
            }
            if let Some((span, _)) = window {
                why.narrow(span, how.zone)?;
            }
            label.clone_from(&why.label);
            *system = why.system;
            *has_reasons &= why.has_reasons;
            Ok::<_, Error>(why.times())
        };
        let [first, second] = &mut sides;
        times.push((read(&before, first)?, read(&after, second)?));
        summed.add(&before, &after, window.map(|(span, _)| (span, how.zone)))?;
    }
    // Two clusters may have been replayed under one policy.
    let same = sides[0].0 == sides[1].0;
    let names = [baseline, run].map(|path| path.display().to_string());
    let is_observed = summed.is_model_error();
    if same {
        for ((label, ..), name) in sides.iter_mut().zip(&names) {
            *label = format!("{label} ({name})");
        }
    }
    let sides = sides.each_ref().map(|(label, has_reasons, system)| Side {
        label,
        has_reasons: *has_reasons,
        is_observed: false,
        system: *system,
    });
    let [first, second] = sides;
    let diff = Diff::of([Side { is_observed, ..first }, second], &times, how.matters);
    if diff.jobs == 0 {
        return Err(Error::Request(format!(
            "{} and {}: no job counts in both, so there is nothing to compare; name runs in which the same jobs end well",
            names[0], names[1]
        )));
    }
    let [before, after] = if same { names } else { [diff.baseline.clone(), diff.run.clone()] };
    let SummedUp { comparison, signs, validity, differences, model_error } =
        summed.sum_up(&before, &after, how.matters);
    let headline = match &model_error {
        Some(_) => format!(
            "Model error of {after}: the observed run beside its replay. There is no test, because the observed run is not a policy."
        ),
        None => format!("{after}: mean completion time {}.", of_completion(&comparison, &before, how.matters)),
    };
    let comparison = model_error.is_none().then_some(comparison);
    Ok(Diffed { diff, headline, differences, model_error, comparison, signs, validity, window })
}

/// Gathers what the sentences and the grade of a comparison need, pair by pair.
#[derive(Default)]
struct Pairs {
    /// The jobs of each pair.
    jobs: Vec<[JobList; 2]>,
    validity: Validity,
    differences: Vec<Difference>,
    model_errors: Vec<ModelError>,
    seed: Option<u64>,
    /// The tests of the signs of the pairs; absent for a pair without one.
    tests: Vec<Option<Variants>>,
}

struct SummedUp {
    comparison: Comparison,
    signs: Vec<Sign>,
    validity: Validity,
    differences: Vec<Difference>,
    model_error: Option<ModelError>,
}

impl Pairs {
    /// Adds a pair: the run, or the trace, that is compared with, and the run.
    fn add(&mut self, before: &Path, after: &Path, span: Option<(Span, Zone)>) -> Result<(), Error> {
        let [mut one, mut two] = [Run::open(before)?, Run::open(after)?];
        if let Some((span, zone)) = span {
            one.narrow(span, zone)?;
            two.narrow(span, zone)?;
        }
        let [first, second] =
            [(before, &one), (after, &two)].map(|(path, run)| identity::Side { path, origin: &run.origin });
        if two.replay().is_none() {
            return Err(Error::Request(format!(
                "{}: expected a run, found a trace; name the trace first: `resched diff TRACE RUN` prints the error of a replay",
                after.display()
            )));
        }
        let mut found = identity::compare(&first, &second)?;
        found.extend(one.replay().zip(two.replay()).and_then(|(one, two)| identity::seeds(one, two)));
        for difference in found {
            if !self.differences.contains(&difference) {
                self.differences.push(difference);
            }
        }
        self.seed = self.seed.or(two.replay().map(|info| info.seed));
        let is_model_error = one.replay().is_none();
        if is_model_error {
            one.origin.check_observed(before)?;
            self.model_errors.push(model_error(&one, &two));
        }
        let mut runs: Vec<Run> = [one, two].into();
        let population = Population::share(&mut runs);
        let kept = if is_model_error { None } else { BesideLog::of_runs(&[before, after])? };
        let beside_log = kept.map(|kept| kept.with_baseline(runs.first().map_or("", |run| run.label.as_str())));
        let basis = Basis {
            runs: &runs,
            population: &population,
            differences: Vec::new(),
            model_errors: doubts(&runs, 0, beside_log.as_ref()),
            log: if is_model_error { None } else { log::fact(beside_log.as_ref(), &runs) },
            tested: Tested::NothingToTest,
        };
        self.validity = std::mem::take(&mut self.validity).and(&basis.validity());
        let mut jobs = runs.into_iter().map(|run| run.jobs);
        self.jobs.push([jobs.next().unwrap_or_default(), jobs.next().unwrap_or_default()]);
        self.tests.push(Variants::of_runs(&[before, after])?);
        Ok(())
    }

    /// For each pair, the sign of the comparison with the run labelled `before`, if it was tested, and the fact about it.
    fn signs(tests: &[Option<Variants>], before: &str, after: &str) -> Vec<(Option<Sign>, Fact)> {
        let of_pair = |test: &Option<Variants>| {
            let found = test.as_ref().and_then(|test| {
                let sign = test.signs(before).into_iter().find(|sign| sign.policy == after)?;
                let fact = sign.fact(test);
                Some((Some(sign), fact))
            });
            found.unwrap_or_else(|| (None, untested()))
        };
        tests.iter().map(of_pair).collect()
    }

    /// True if what really ran is compared with its replay.
    fn is_model_error(&self) -> bool {
        !self.model_errors.is_empty()
    }

    fn sum_up(self, before: &str, after: &str, matters: Matters) -> SummedUp {
        let is_model_error = self.is_model_error();
        let Self { jobs, mut validity, differences, model_errors, seed, tests } = self;
        let mut signs = Vec::new();
        if !is_model_error {
            for (sign, fact) in Self::signs(&tests, before, after) {
                signs.extend(sign);
                validity.add(fact);
            }
        }
        let named = differences.iter().map(|difference| (format!("{after} and {before}"), difference));
        identity::facts(named).into_iter().for_each(|fact| validity.add(fact));
        let answerable = validity.grade() < Grade::NotAnswerable && !is_model_error;
        let how = compare::How { matters, seed: seed.unwrap_or(1), answerable };
        let pairs: Vec<(&[JobMetrics], &[JobMetrics])> =
            jobs.iter().map(|[before, after]| (&before[..], &after[..])).collect();
        let [completion, _] = JOB_METRICS;
        let model_error = is_model_error.then(|| ModelError::mean_of(&model_errors));
        SummedUp { comparison: compare::compare(&pairs, &completion, &how), signs, validity, differences, model_error }
    }
}

/// The runs in a folder by their seed; a trace has none.
pub(crate) fn by_seed(path: &Path) -> Result<BTreeMap<Option<u64>, PathBuf>, Error> {
    let mut runs = BTreeMap::new();
    let mut policies = BTreeMap::new();
    for dir in runs_in(path)? {
        let (seed, label) = match Origin::of(&dir)? {
            Origin::Replay(info) => (Some(info.seed), info.label),
            Origin::Observed(_) => (None, "observed".to_owned()),
        };
        policies.insert(label, dir.clone());
        runs.insert(seed, dir);
    }
    if policies.len() > 1 {
        let dirs: Vec<String> = policies.values().map(|dir| dir.display().to_string()).collect();
        return Err(Error::Request(format!(
            "{}: expected a run, or runs of one policy with different seeds, found runs of {} policies; name one of {}",
            path.display(),
            policies.len(),
            dirs.join(", ")
        )));
    }
    Ok(runs)
}

/// The runs that belong together: those of equal seeds, or the only one of each.
fn pairs(
    first: &BTreeMap<Option<u64>, PathBuf>,
    second: &BTreeMap<Option<u64>, PathBuf>,
    names: [&Path; 2],
) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
    // What really ran stands beside each replay of it.
    if let Some(trace) = first.get(&None) {
        return Ok(second.values().map(|dir| (trace.clone(), dir.clone())).collect());
    }
    if let (1, 1) = (first.len(), second.len()) {
        return Ok(first.values().cloned().zip(second.values().cloned()).collect());
    }
    let pairs: Vec<(PathBuf, PathBuf)> =
        first.iter().filter_map(|(seed, dir)| Some((dir.clone(), second.get(seed)?.clone()))).collect();
    if pairs.is_empty() {
        return Err(Error::Request(format!(
            "{} and {}: expected runs of the same seeds, found no seed that both have; replay with the same --seed",
            names[0].display(),
            names[1].display()
        )));
    }
    Ok(pairs)
}
