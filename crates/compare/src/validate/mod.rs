//! Replays of what ran, beside what was observed.

mod against;
mod guessed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use resched_analysis::answer::{Basis, Tested};
use resched_analysis::statistics::distribution::mean;
use resched_analysis::validation::{RelativeError, Validation, completion_over, guess, validate as errors_of};
use resched_analysis::{Gathered, Population, Run};
use resched_replay::{PolicySpec, ReadBy, ReadyPolicy, RunInfo, Setup, Threads, World};
use resched_sim::ClusterConfig;
use resched_tables::model::JobRow;
use resched_tables::run::{RunCluster, RunEngine, RunTrace};
use resched_tables::store::{BACKFILL_START, System, Trace, sha256};
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

pub use self::against::{Against, Found, Noise};
pub use self::guessed::Guessed;
use crate::Error;
use crate::watch::{Watch, in_steps};

/// The errors of the replays of one policy.
#[derive(Debug, Default, Serialize)]
pub struct Validated {
    /// The policy with its parameters, as runs are labelled.
    pub label: String,
    /// Its name.
    pub policy: String,
    /// Its parameters, with those that the site sets.
    pub params: BTreeMap<String, String>,
    /// True if the user named no policy, so that this one is assumed.
    pub assumed: bool,
    /// The trace, which `--validation` checks.
    pub trace: RunTrace,
    /// The machines of its replay.
    pub cluster: RunCluster,
    /// The SHA-256 of the rules of its cluster, hexadecimal.
    pub rules_sha256: String,
    /// The engine of its replays.
    pub engine: RunEngine,
    /// What ran the jobs; the table is in its words.
    #[serde(skip)]
    pub system: System,
    /// The program that replayed it.
    pub written_by: String,
    /// A time at which Slurm's backfill ran in the log and so in these replays, ms since the epoch. Other replays draw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill_ran_at: Option<i64>,
    /// Why this policy, if it is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guessed>,
    /// What it is compared with, if that is not the trace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Found>,
    /// How far a second run is from the first: of two real runs, what no replay can be better than.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// The error of the completion times of jobs, with the mean over the seeds as the time of a job in the replay.
    pub over_seeds: Option<RelativeError>,
    /// The means of the errors over seeds.
    pub errors: BTreeMap<&'static str, Option<f64>>,
    /// The replays, one for each seed.
    pub replays: Vec<Replay>,
    /// How far the errors can be trusted: the worst grade of `validity`.
    pub grade: Grade,
    /// What decides the errors, and whether it was observed.
    pub validity: Validity,
}

/// One replay beside the truth.
#[derive(Debug, Serialize)]
pub struct Replay {
    /// Its seed.
    pub seed: u64,
    /// Its error.
    #[serde(flatten)]
    pub validation: Validation,
    /// What its error rests on.
    #[serde(skip)]
    pub validity: Validity,
    /// Its description.
    #[serde(skip)]
    pub info: RunInfo,
}

impl Validated {
    /// Sets the errors from the replays.
    fn sum_up(&mut self) {
        let all: Vec<&Validation> = self.replays.iter().map(|replay| &replay.validation).collect();
        self.over_seeds = completion_over(&all);
        self.errors = mean_errors(&self.replays);
        let Some(Replay { info, validity, .. }) = self.replays.first() else { return };
        self.system = info.system;
        self.validity = validity.clone();
        self.grade = validity.grade();
        (self.trace, self.cluster, self.engine) = (info.trace.clone(), info.cluster, info.engine);
        self.rules_sha256 = rules_sha256(&info.rules);
        self.written_by.clone_from(&info.written_by);
    }

    /// The second run beside the first, as if it were a replay; `None` if none was named.
    pub fn noise(&self) -> Option<Self> {
        let Noise { validation, is_real } = self.noise.clone()?;
        let replay = Replay { seed: 0, validation, validity: Validity::default(), info: RunInfo::default() };
        let errors = replay.validation.errors().into_iter().collect();
        let over_seeds = completion_over(&[&replay.validation]);
        Some(Self {
            label: if is_real { "a second real run" } else { "a second run" }.to_owned(),
            against: self.against.clone(),
            errors,
            over_seeds,
            replays: vec![replay],
            ..Self::default()
        })
    }
}

/// How a trace is validated.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// The seeds of the replays of each policy.
    pub seeds: Vec<u64>,
    /// The threads on which replays run.
    pub threads: Threads,
    /// True if nobody named a policy: then the most probable one is kept.
    pub assumed: bool,
    /// When Slurm's backfill ran in the log, ms since the epoch.
    pub backfill_ran_at: Option<i64>,
}

/// Replays each policy with each seed, and compares it with the truth.
///
/// # Errors
/// Errors of replays and of the trace.
pub fn validate(
    world: &World,
    policies: &[ReadyPolicy],
    against: &Against,
    how: &How,
    watch: &dyn Watch,
) -> Result<Vec<Validated>, Error> {
    let all: Vec<(usize, (&ReadyPolicy, u64))> =
        policies.iter().flat_map(|policy| how.seeds.iter().map(move |&seed| (policy, seed))).enumerate().collect();
    let begun = all.iter().map(|(_, (policy, _))| (policy.spec().label(), world.jobs(policy.spec())));
    watch.begin(&begun.collect::<Vec<_>>());
    let replays = how.threads.in_order(&all, |&(place, (policy, seed))| {
        let mut gathered = Gathered::default();
        let mut shown = in_steps(watch, place, world.jobs(policy.spec()));
        let info = world.with_seed(seed).replay_with(policy, ReadBy(&mut gathered), &mut shown);
        watch.ended(place);
        Ok::<_, Error>(beside(seed, Run::of_gathered(info?, gathered), against))
    })?;
    let mut replays = replays.into_iter();
    let mut of_policy = |policy: &ReadyPolicy| {
        let spec = policy.asked();
        let mut validated = Validated {
            label: spec.label(),
            policy: spec.name(),
            params: policy.spec().parameters(),
            assumed: how.assumed,
            backfill_ran_at: how.backfill_ran_at.filter(|_| draws_backfill(spec)),
            against: against.found.clone(),
            noise: against.noise.clone(),
            replays: replays.by_ref().take(how.seeds.len()).collect(),
            ..Validated::default()
        };
        validated.sum_up();
        validated
    };
    Ok(policies.iter().map(&mut of_policy).collect())
}

/// A replay beside the truth.
fn beside(seed: u64, run: Run, against: &Against) -> Replay {
    let validation = errors_of(&against.truth, &run, &against.skip);
    let population = Population::of(&[&against.truth, &run]);
    let basis = Basis {
        runs: std::slice::from_ref(&run),
        population: &population,
        differences: Vec::new(),
        model_errors: Vec::new(),
        log: None,
        tested: Tested::NothingToTest,
    };
    let validity = basis.validity();
    let info = run.replay().cloned().unwrap_or_default();
    Replay { seed, validation, validity, info }
}

/// Keeps the most probable of several candidates, and says how probable all are. `trace` is the folder of the trace.
///
/// # Errors
/// [`Error::Trace`] if the queues of the trace cannot be read.
pub fn most_probable(mut candidates: Vec<Validated>, trace: &Path) -> Result<Option<Validated>, Error> {
    let of_candidates: Vec<Vec<&Validation>> = candidates
        .iter()
        .map(|candidate| candidate.replays.iter().map(|replay| &replay.validation).collect())
        .collect();
    let found = guess(&of_candidates);
    let labels = candidates.iter().map(|candidate| candidate.label.clone()).collect();
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut best = candidates.swap_remove(found.best().min(candidates.len() - 1));
    best.guess = Some(Guessed::of(found, labels, queues(trace)?));
    Ok(Some(best))
}

/// How many queues the jobs of a trace name.
fn queues(trace: &Path) -> Result<usize, Error> {
    let rows = Trace::open(trace)?.rows::<JobRow>()?;
    let queues: Result<BTreeSet<Option<String>>, _> = rows.map(|row| row.map(|row| row.queue)).collect();
    Ok(queues?.into_iter().flatten().count())
}

/// A trace as a run, with its observed attempts.
///
/// # Errors
/// [`Error::Request`] if it is a workload file; [`Error::Analysis`] if the trace has no observed attempts or is damaged.
pub fn observed(path: &Path) -> Result<Run, Error> {
    if path.is_file() {
        let problem =
            "expected the folder of a trace, found a file; a workload file has no observed attempts. Make a trace of";
        return Err(Error::Request(format!(
            "{}: {problem} job histories with `resched ingest <PATH>… --out <TRACE>`",
            path.display()
        )));
    }
    Trace::open(path)?;
    let observed = Run::open(path)?;
    observed.check_observed(path)?;
    Ok(observed)
}

/// Lets Slurm's backfill run when it ran in the log, as far as that says it. The log decides the start of backfill; the rules do not. Returns
/// that time, ms since the epoch.
///
/// # Errors
/// [`Error::Trace`] if the trace cannot be opened.
pub fn run_backfill_as_logged(trace: &Path, setup: &mut Setup) -> Result<Option<i64>, Error> {
    let trace = Trace::open(trace)?;
    let found = trace.manifest().parameters.get(BACKFILL_START).and_then(serde_json::Value::as_i64);
    if let Some(at) = found {
        let parameters = &mut Arc::make_mut(&mut setup.site).parameters;
        parameters.entry(("slurm", "bf_ran_at")).or_insert_with(|| at.to_string());
    }
    Ok(found)
}

/// True if a replay under this policy draws when Slurm's backfill first runs, unless it is known.
fn draws_backfill(policy: &PolicySpec) -> bool {
    let given = policy.parameters();
    let is_drawn = |name: &str| given.get(name).is_none_or(|value| value == "auto");
    policy.name() == "slurm" && is_drawn("bf_phase") && is_drawn("bf_ran_at")
}

/// The means over seeds; null for an error that no replay has.
fn mean_errors(replays: &[Replay]) -> BTreeMap<&'static str, Option<f64>> {
    let mut values: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for (name, error) in replays.iter().flat_map(|replay| replay.validation.errors()) {
        values.entry(name).or_default().extend(error);
    }
    values.into_iter().map(|(name, values)| (name, mean(&values))).collect()
}

/// The SHA-256 of the rules of a cluster, hexadecimal, by which a validation knows its own.
pub fn rules_sha256(rules: &ClusterConfig) -> String {
    sha256(serde_json::to_string(rules).unwrap_or_default().as_bytes())
}
