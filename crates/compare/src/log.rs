//! Replays what may have run, and holds it against the log.
//!
//! The policies that are compared are looked at first: if the replay of the baseline is near the log, the world of the replay explains what
//! really happened, and nothing more is replayed. Otherwise the usual schedulers are tried, in the world as the log has it: without another
//! number of machines or an outage, which can only be a question. Of a large log, the jobs at its start are replayed, since only there a
//! replay begins as the log does.

use resched_analysis::validation::log::{BesideLog, Candidate, NoJudge, Start, may_have_run};
use resched_analysis::{Compared, Outline, Run, Traced};
use resched_replay::{Engine, Log, PolicySpec, ReadBy, Threads, World};

use crate::Error;

/// A log with up to so many tasks of Hadoop is replayed whole for each candidate.
const FREE: u64 = 20_000;
/// The same for requests, whose replay has no heartbeats.
const FREE_BATCH: u64 = 100_000;
/// Of a larger log, one in so many of its tasks are replayed for each candidate.
const SHARE: u64 = 12;
/// Jobs in the last part of a start are not compared: those that came after them are missing.
const COMPARED: f64 = 0.8;
/// Draws of a small log that are replayed with each candidate: its error is the mean over them.
const DRAWS: u64 = 3;
/// A log is small if its tasks times the draws are no more than this share of what is free.
const OF_FREE: u64 = 2;

/// Holds the replays of policies in a world against its log. `runs` are the replays that are there already, on their jobs; there may be none.
/// `baseline` is the label of the policy that others are compared with.
/// `None` if the world replays no log, or a rule made its starts.
///
/// # Errors
/// Errors of the trace and the world. A candidate that cannot be replayed is left out.
pub fn beside_log<R: Compared>(
    world: &World,
    policies: &[PolicySpec],
    runs: &[R],
    baseline: &str,
    threads: Threads,
) -> Result<Option<BesideLog>, Error> {
    let Some(log) = world.log() else { return Ok(None) };
    if log.is_scaled() {
        return Ok(Some(BesideLog::without(NoJudge::Scaled)));
    }
    if !log.is_observed() {
        return Ok(None);
    }
    let observed = Run::open(log.dir)?;
    let ran = runs.iter().filter(|run| run.replay().is_some_and(may_have_run));
    let mut candidates: Vec<Candidate> = ran.map(|run| Candidate::of(&observed, run, None)).collect();
    if !candidates.iter().any(|candidate| candidate.policy == baseline && candidate.agrees()) {
        let logged = world.as_logged()?;
        let unchanged = logged.is_some();
        // What was replayed in this world already is not replayed again.
        let known: Vec<&str> = if unchanged { Vec::new() } else { runs.iter().map(Compared::label).collect() };
        let world = logged.as_ref().unwrap_or(world);
        let mut tried = policies.to_vec();
        for usual in world.usual_schedulers()? {
            if !tried.iter().any(|policy| policy.label() == usual.label()) {
                tried.push(usual);
            }
        }
        let first = tried.first().map_or(Engine::Hadoop, |policy| policy.info.engine());
        tried.retain(|policy| policy.info.engine() == first && !policy.info.oracle);
        let more = replayed(world, &observed, &tried, &known, threads);
        candidates.extend(more.into_iter().map(|candidate| Candidate { unchanged, ..candidate }));
    }
    Ok(Some(BesideLog::new(candidates, hints(log)).with_baseline(baseline)))
}

/// The candidates of these policies, which are for one engine. One that cannot be replayed here is left out, and so are those with these
/// `known` labels, unless they are replayed with several draws.
fn replayed(
    world: &World,
    observed: &Run,
    policies: &[PolicySpec],
    known: &[&str],
    threads: Threads,
) -> Vec<Candidate> {
    let Some(first) = policies.first() else { return Vec::new() };
    let engine = first.info.engine();
    let Ok(tasks) = world.tasks_of_jobs(first) else { return Vec::new() };
    let all: u64 = tasks.iter().sum();
    let free = if engine == Engine::Batch { FREE_BATCH } else { FREE };
    let start = (all > free).then(|| start_of(&tasks, free.max(all / SHARE)));
    let part = start.and_then(|start| {
        let jobs = usize::try_from(start.jobs).unwrap_or(usize::MAX);
        world.part(engine, 0..jobs).ok()
    });
    let draws = if all.saturating_mul(DRAWS) <= free / OF_FREE { DRAWS } else { 1 };
    let world = part.as_ref().unwrap_or(world);
    let is_new = |policy: &&PolicySpec| draws > 1 || !known.contains(&policy.label().as_str());
    let policies: Vec<&PolicySpec> = policies.iter().filter(is_new).collect();
    let of_policy = |policy: &&PolicySpec| {
        let seeds = (0..draws).map(|step| world.seed().wrapping_add(step));
        let all: Option<Vec<Candidate>> =
            seeds.map(|seed| candidate(&world.with_seed(seed), policy, observed, start)).collect();
        Ok::<_, std::convert::Infallible>(all.and_then(|all| Candidate::mean_of(&all)))
    };
    threads.in_order(&policies, of_policy).unwrap_or_default().into_iter().flatten().collect()
}

fn candidate(world: &World, policy: &PolicySpec, observed: &Run, start: Option<Start>) -> Option<Candidate> {
    let mut traced = Traced::default();
    let info = world.replay(policy, ReadBy(&mut traced)).ok().filter(may_have_run)?;
    let run = Outline::of_traced(info, traced);
    let until = start.and_then(|_| submission_at(&run, COMPARED));
    Some(Candidate { start, ..Candidate::of(observed, &run, until) })
}

/// The jobs at the start of a log with at most `most` tasks, and at least one.
fn start_of(tasks: &[u64], most: u64) -> Start {
    let mut sum = 0;
    let jobs = tasks.iter().take_while(|&&tasks| {
        sum += tasks;
        sum <= most
    });
    Start { jobs: (jobs.count() as u64).max(1), of_jobs: tasks.len() as u64 }
}

/// When the job at this share of a run's jobs was submitted, ms of the run.
fn submission_at(run: &Outline, share: f64) -> Option<f64> {
    let numbers = run.numbers("submit");
    let mut submissions: Vec<f64> = (0..run.count()).filter_map(|row| numbers.get(row)).collect();
    submissions.sort_by(f64::total_cmp);
    submissions.get((submissions.len() as f64 * share) as usize).copied()
}

/// What the log itself shows that may explain a large error.
fn hints(log: Log<'_>) -> Vec<String> {
    let running = log.running_at_start();
    let cut = (running > 0).then(|| {
        let jobs = resched_tables::words::counted(running, "job");
        format!("{jobs} were running when the log began and are missing from it, so the replay begins too empty.")
    });
    cut.into_iter().collect()
}
