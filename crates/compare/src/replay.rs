//! Replays policies and compares them on the jobs that count under all of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use resched_analysis::answer::{Basis, Tested};
use resched_analysis::runs::beside::{VariedRun, fingerprint};
use resched_analysis::runs::identity;
use resched_analysis::statistics::sign::{Level, Sign, Variants};
use resched_analysis::validation::doubts;
use resched_analysis::validation::log::{self, BesideLog};
use resched_analysis::{Compared, Gathered, Outline, Population, Run, Traced};
use resched_replay::{Files, PolicySpec, ReadyPolicy, RunFolders, RunInfo, Threads, World, Written};
use resched_tables::run::RowSink;
use resched_tables::store::Out;
use resched_tables::validity::Validity;

use crate::log::beside_log;
use crate::watch::{Watch, in_steps};
use crate::{Asked, Error, Plan};

/// What is kept of a replay: all metrics of its jobs ([`Run`]), or an outline ([`Outline`]), which is enough for a summary.
pub trait Kept: Compared + Send + Sync + Sized {
    /// Takes the rows of a replay.
    type Gathered: RowSink + Default;

    /// Opens the run in a folder.
    ///
    /// # Errors
    /// [`Error::Analysis`] if it is damaged.
    fn open(dir: &Path) -> Result<Self, Error>;

    /// What is kept of a new run.
    fn of_gathered(info: RunInfo, gathered: Self::Gathered) -> Self;
}

impl Kept for Run {
    type Gathered = Gathered;

    fn open(dir: &Path) -> Result<Self, Error> {
        Ok(Self::open(dir)?.without_decisions())
    }

    fn of_gathered(info: RunInfo, gathered: Gathered) -> Self {
        Self::of_gathered(info, gathered).without_decisions()
    }
}

impl Kept for Outline {
    type Gathered = Traced;

    fn open(dir: &Path) -> Result<Self, Error> {
        Ok(Self::open(dir)?)
    }

    fn of_gathered(info: RunInfo, traced: Traced) -> Self {
        Self::of_traced(info, traced)
    }
}

/// How policies are replayed and compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// True to write what policies decided and why they passed over jobs.
    pub decisions: bool,
    /// True to keep earlier runs of the same policies in the same world.
    pub resume: bool,
    /// The threads on which replays run.
    pub threads: Threads,
    /// The place of the policy that the others are compared with.
    pub baseline: usize,
    /// How thoroughly the sign is tested. [`Level::Off`] also leaves out the comparison with the log.
    pub sign: Level,
    /// With how many seeds policies are replayed to show how far draws move the difference ([`Asked::seeds`]). The runs have the first of them.
    pub seeds: Option<u64>,
}

/// Where a run of a comparison is, new or kept.
#[derive(Debug)]
pub struct Replayed {
    /// Its folder.
    pub dir: PathBuf,
    /// The number of jobs that were replayed, whether they succeeded or not.
    pub jobs: u64,
    /// The time that the replay took, ms; `None` for a run that was kept.
    pub wall_ms: Option<u64>,
}

/// Runs of several policies in one world, and how sure their comparison is.
#[derive(Debug)]
pub struct Comparison<R> {
    /// The runs, in the order of the policies. Only the jobs count in them that count in all.
    pub runs: Vec<R>,
    /// Where each of them is, and what it took.
    pub replays: Vec<Replayed>,
    /// The jobs that count.
    pub population: Population,
    /// The comparison in variants of the world; `None` if there is nothing to compare.
    pub variants: Option<Variants>,
    /// Whether each policy stays sooner or later than the baseline in them.
    pub signs: Vec<Sign>,
    /// The replay of what may have run, beside the log; `None` if there is no log.
    pub beside_log: Option<BesideLog>,
    /// What the comparison rests on.
    pub validity: Validity,
}

/// Replays policies, several at once, each into its folder, and compares them.
///
/// # Errors
/// Errors of replays, of writing the runs, and of a test of the sign that is kept and damaged.
pub fn replay<R: Kept>(
    world: &World,
    policies: &[ReadyPolicy],
    folders: &RunFolders,
    how: How,
    watch: &dyn Watch,
) -> Result<Comparison<R>, Error> {
    let labels = policies.iter().map(|policy| (policy.spec().label(), world.jobs(policy.spec())));
    watch.begin(&labels.collect::<Vec<_>>());
    let all: Vec<(usize, (&ReadyPolicy, &Out))> = policies.iter().zip(folders.dirs()).enumerate().collect();
    // A policy that fails does not keep the others from their runs.
    let ended = how.threads.in_order(&all, |&(place, (policy, dir))| {
        let replayed = replay_one::<R>(world, (policy, dir), how, (watch, place));
        watch.ended(place);
        Ok::<_, Error>(replayed)
    })?;
    let mut runs = Vec::with_capacity(ended.len());
    let mut replays = Vec::with_capacity(ended.len());
    for replayed in ended {
        let (run, replay) = replayed?;
        runs.push(run);
        replays.push(replay);
    }
    folders.note_order()?;
    // The policies are compared on the jobs that count under all of them.
    let population = Population::share(&mut runs);
    let specs: Vec<PolicySpec> = policies.iter().map(|policy| policy.asked().clone()).collect();
    let asked = Asked { world, policies: &specs, runs: &runs, level: how.sign, seeds: how.seeds };
    let dirs: Vec<&Path> = replays.iter().map(|replay| replay.dir.as_path()).collect();
    let varied = varied_runs(&runs, &dirs)?;
    let beside_log = judged(&asked, folders.out(), &varied, how)?;
    let variants = test_of_sign(asked, folders.out(), varied, how, watch)?;
    let baseline = runs.get(how.baseline).map_or("", Compared::label);
    let validity = Basis {
        runs: &runs,
        population: &population,
        differences: identity::of_replays(&runs),
        model_errors: doubts(&runs, how.baseline, beside_log.as_ref()),
        log: log::fact(beside_log.as_ref(), &runs),
        tested: variants.as_ref().map_or(Tested::NothingToTest, |variants| Tested::In(variants, baseline)),
    }
    .validity();
    let signs = variants.as_ref().map(|variants| variants.signs(baseline)).unwrap_or_default();
    Ok(Comparison { runs, replays, population, variants, signs, beside_log, validity })
}

fn replay_one<R: Kept>(
    world: &World,
    (policy, dir): (&ReadyPolicy, &Out),
    how: How,
    (watch, place): (&dyn Watch, usize),
) -> Result<(R, Replayed), Error> {
    let mut gathered = R::Gathered::default();
    let files = Files::to(dir).with_decisions(how.decisions).resume(how.resume).read_by(&mut gathered);
    let started = Instant::now();
    let jobs = world.jobs(policy.spec());
    let Written { info, kept } = world.replay_with(policy, files, &mut in_steps(watch, place, jobs))?;
    let wall_ms = if kept { None } else { u64::try_from(started.elapsed().as_millis()).ok() };
    let run = if kept { R::open(&dir.path)? } else { R::of_gathered(info, gathered) };
    Ok((run, Replayed { dir: dir.path.clone(), jobs, wall_ms }))
}

/// What identifies the runs in these folders.
fn varied_runs<R: Compared>(runs: &[R], dirs: &[&Path]) -> Result<Vec<VariedRun>, Error> {
    let run = |(run, dir): (&R, &&Path)| Ok(VariedRun { label: run.label().to_owned(), sha256: fingerprint(dir)? });
    runs.iter().zip(dirs).map(run).collect()
}

/// Holds the runs against the log, and keeps the result in the folder of the runs, `out`.
fn judged<R: Compared>(
    asked: &Asked<'_, R>,
    out: &Path,
    runs: &[VariedRun],
    how: How,
) -> Result<Option<BesideLog>, Error> {
    if how.sign == Level::Off {
        return Ok(None);
    }
    if how.resume
        && let Ok(Some(found)) = BesideLog::read(out)
        && found.runs == runs
    {
        return Ok(Some(found));
    }
    let baseline = asked.runs.get(how.baseline).map_or("", Compared::label);
    let Some(found) = beside_log(asked.world, asked.policies, asked.runs, baseline, how.threads)? else {
        return Ok(None);
    };
    let found = found.about(runs.to_vec());
    found.write(out)?;
    Ok(Some(found))
}

/// Tests the sign of a comparison, and keeps the test in the folder of its runs, `out`. A single policy is compared with nothing, nor are
/// policies of both engines.
fn test_of_sign<R: Compared + Sync>(
    asked: Asked<'_, R>,
    out: &Path,
    runs: Vec<VariedRun>,
    how: How,
    watch: &dyn Watch,
) -> Result<Option<Variants>, Error> {
    let mut engines = asked.policies.iter().map(|policy| policy.info.engine());
    let first = engines.next();
    if asked.policies.len() < 2 || engines.any(|engine| Some(engine) != first) {
        return Ok(None);
    }
    if how.resume
        && let Ok(Some(found)) = Variants::read(out)
        && (found.level, &found.runs) == (asked.level, &runs)
    {
        return Ok(Some(found));
    }
    let plan = Plan::of(asked)?;
    watch.begin_variants(plan.replays());
    let found = plan.run(runs, how.threads, &|| watch.tried());
    watch.end_variants();
    let found = found?;
    found.write(out)?;
    Ok(Some(found))
}
