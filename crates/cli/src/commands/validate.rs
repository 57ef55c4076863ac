//! `resched validate`: replays a trace under the scheduler that ran it, and reports the error of the replay.

mod against;
mod answer;
mod by_size;
mod guessed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::validation_file::rules_sha256;
use resched_analysis::metrics::validity;
use resched_analysis::validation::{Validation, guess, validate};
use resched_analysis::{Gathered, Population, Run};
use resched_policies::PolicySpec;
use resched_replay::{ReadBy, Setup, World, usual_schedulers};
use resched_sim::Skipped;
use resched_tables::model::JobRow;
use resched_tables::store::{BACKFILL_START, System, Trace};
use resched_tables::validity::Validity;

use self::against::{Against, AgainstArgs};
use self::answer::{OfPolicy, ROWS, Replay};
use self::guessed::Guessed;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::output::{Text, count, table};
use crate::policy_value::PolicyValue;
use crate::progress::ReplayProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, warn_of_rules};
use crate::written::left_out;

/// A limit on `--seeds`; more replays of one trace do not show more about its draws.
const MOST_SEEDS: u64 = 1_000;

/// Replay a trace under the scheduler that ran it, and report the error.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched validate T --policy fifo --cluster C.toml --seeds 5\n  resched validate T --csv\n  resched validate T \
                  --policy spark --against OTHER --skip warm-up --seeds 20"
)]
pub(crate) struct Args {
    /// A trace with observed attempts.
    trace: PathBuf,
    /// The policy that ran it, written as for `replay`. Repeat the option to see which policy explains the trace best
    /// [default: the most probable of the usual schedulers].
    #[arg(long = "policy", value_name = "POLICY", value_parser = PolicyValue, hide_possible_values = true)]
    policies: Vec<String>,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// The number of replays of each policy, each with the next seed. Errors are means over the replays.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let assumed = args.policies.is_empty();
    let against = Against::open(&args.against, observed(&args.trace)?)?;
    let (observed, skip) = (&against.truth, &against.skip);
    let (source, mut setup) = args.world.open(&args.trace)?;
    let backfill_ran_at = run_backfill_as_logged(&args.trace, &mut setup)?;
    let mut policies = if assumed { usual_schedulers(&source)? } else { Vec::new() };
    policies.extend(super::replay::policies(&args.policies, source.engine())?);
    let world = World::open(&source, setup)?;
    let ready = policies.iter().map(|policy| world.check(policy)).collect::<Result<Vec<_>, _>>()?;
    warn_of_rules(&ready);
    let seeds: Vec<u64> = (0..args.seeds).map(|step| args.world.seed.wrapping_add(step)).collect();
    let all: Vec<_> = ready.iter().flat_map(|policy| seeds.iter().map(move |&seed| (policy, seed))).collect();
    let progress = ReplayProgress::new();
    let replays = args.threads.get().in_order(&all, |&(policy, seed)| {
        let bar = progress.add(&policy.spec().label(), world.jobs(policy.spec()));
        let mut gathered = Gathered::default();
        let sink = ReadBy(&mut gathered);
        let info = world.with_seed(seed).replay_with(policy, sink, &mut |jobs| bar.set_position(jobs));
        bar.finish_and_clear();
        let run = Run::of_gathered(info?, gathered);
        let validation = validate(observed, &run, skip);
        let population = Population::of(&[observed, &run]);
        let validity = validity::of_runs(std::slice::from_ref(&run), &population);
        let info = run.replay().cloned().unwrap_or_default();
        Ok::<_, Failure>(Replay { seed, validation, validity, info })
    })?;
    let mut replays = replays.into_iter();
    let mut of_policy = |policy: &PolicySpec| OfPolicy {
        label: policy.label(),
        policy: policy.name(),
        params: policy.parameters(),
        assumed,
        backfill_ran_at: backfill_ran_at.filter(|_| draws_backfill(policy)),
        against: against.found.clone(),
        noise: against.noise.clone(),
        replays: replays.by_ref().take(seeds.len()).collect(),
        ..OfPolicy::default()
    };
    let mut reported: Vec<OfPolicy> = policies.iter().map(&mut of_policy).collect();
    for own in &mut reported {
        own.errors = mean_errors(&own.replays);
        own.compare_over_seeds();
        own.system = own.replays.first().map(|replay| replay.info.system).unwrap_or_default();
        own.validity = own.replays.first().map(|replay| replay.validity.clone()).unwrap_or_default();
        own.grade = own.validity.grade();
        if let Some(Replay { info, .. }) = own.replays.first() {
            (own.trace, own.cluster, own.engine) = (info.trace.clone(), info.cluster, info.engine);
            own.rules_sha256 = rules_sha256(&info.rules);
            own.written_by.clone_from(&info.written_by);
        }
    }
    if assumed {
        reported = most_probable(reported, queues(&args.trace)?);
    }
    args.format.print_lines(&reported, || in_words(&reported, observed.jobs.len(), &world.skipped()))
}

/// What a job that is not compared counts for.
const OF_ALL: &str =
    "map run times, places of maps and running tasks cover all jobs in both runs, because failed jobs also held slots";

/// Keeps the most probable candidate, and says how probable all are.
fn most_probable(mut reported: Vec<OfPolicy>, queues: usize) -> Vec<OfPolicy> {
    let of_candidates: Vec<Vec<&Validation>> =
        reported.iter().map(|own| own.replays.iter().map(|replay| &replay.validation).collect()).collect();
    let found = guess(&of_candidates);
    let labels = reported.iter().map(|own| own.label.clone()).collect();
    let mut best = reported.swap_remove(found.best().min(reported.len() - 1));
    best.guess = Some(Guessed::of(found, labels, queues));
    vec![best]
}

/// How many queues the jobs of a trace name.
fn queues(trace: &Path) -> Result<usize, Failure> {
    let rows = Trace::open(trace)?.rows::<JobRow>()?;
    let queues: Result<BTreeSet<Option<String>>, _> = rows.map(|row| row.map(|row| row.queue)).collect();
    Ok(queues?.into_iter().flatten().count())
}

/// The trace as a run, with its observed attempts.
fn observed(path: &Path) -> Result<Run, Failure> {
    if path.is_file() {
        let problem =
            "expected the folder of a trace, found a file; a workload file has no observed attempts. Make a trace of";
        return Err(Failure::request(format!(
            "{}: {problem} job histories with `resched ingest <PATH>… --out <TRACE>`",
            path.display()
        )));
    }
    Trace::open(path)?;
    let observed = Run::open(path)?;
    observed.check_observed(path)?;
    Ok(observed)
}

/// Lets Slurm's backfill run when it ran in the log, as far as that says it. When it began there has nothing to do with how well its rules are
/// replayed, and no rule says it. Returns that time, ms since the epoch.
fn run_backfill_as_logged(trace: &Path, setup: &mut Setup) -> Result<Option<i64>, Failure> {
    let trace = Trace::open(trace)?;
    let found = trace.manifest().parameters.get(BACKFILL_START).and_then(serde_json::Value::as_i64);
    if let Some(at) = found {
        let parameters = &mut Arc::make_mut(&mut setup.site).parameters;
        parameters.entry(("slurm", "bf_ran_at")).or_insert_with(|| at.to_string());
    }
    Ok(found)
}

/// Whether a replay under this policy draws when Slurm's backfill first runs, unless it is known.
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
    values.into_iter().map(|(name, values)| (name, resched_analysis::statistics::distribution::mean(&values))).collect()
}

/// The table that compares the policies, and what was left out.
fn in_words(reported: &[OfPolicy], jobs: usize, skipped: &Skipped) -> Text {
    let noise = reported.first().and_then(OfPolicy::noise);
    let columns: Vec<Vec<String>> = reported.iter().chain(&noise).map(|own| own.cells(jobs)).collect();
    let compares = reported.iter().any(|own| own.against.is_some());
    let system = System::of_all(reported.iter().map(|own| own.system));
    let is_shown = |(_, (_, of_others)): &(usize, &(&str, bool))| compares || !of_others;
    // A row about maps, which Spark and Slurm have not, says nothing.
    let is_known = |(place, _): &(usize, &(&str, bool))| {
        !matches!(system, System::Spark | System::Slurm)
            || columns.iter().any(|column| column.get(*place).is_some_and(|cell| cell != "-"))
    };
    let row = |(place, (name, _)): (usize, &(&str, bool))| {
        let cells = columns.iter().map(|column| column.get(place).cloned().unwrap_or_default());
        std::iter::once(system.says(name).to_owned()).chain(cells).collect()
    };
    let heading: Vec<&str> = std::iter::once("error of the replay")
        .chain(reported.iter().chain(&noise).map(|own| own.label.as_str()))
        .collect();
    let mut text =
        table(&heading, ROWS.iter().enumerate().filter(is_shown).filter(is_known).map(row).collect(), 1..heading.len());
    if let Some(own) = reported.first() {
        text += &against::in_words(own.against.as_ref());
    }
    for (own, at) in reported.iter().filter_map(|own| Some((own, own.backfill_ran_at?))) {
        text += &format!(
            "{}: backfill ran when it ran in the log (bf_ran_at={at}); a replay draws that time, so its error may be larger.\n",
            own.label
        );
    }
    for own in reported {
        let by_size = by_size::in_words(own);
        text += if reported.len() > 1 { Text::from(format!("\n{}", own.label)) + by_size } else { by_size };
    }
    for own in reported {
        if let Some(causes) =
            own.replays.first().map(|replay| &replay.validation.not_compared).filter(|own| !own.is_empty())
        {
            let causes: Vec<String> = causes.iter().map(|(cause, &n)| format!("{} × {cause}", count(n))).collect();
            text += &format!("{}: not compared: {}\n", own.label, causes.join(", "));
        }
    }
    if reported.iter().flat_map(|own| &own.replays).any(|replay| !replay.validation.not_compared.is_empty()) {
        text += &format!("Completion times and makespans cover the jobs compared; {}.\n", system.says(OF_ALL));
    }
    for own in reported {
        if let Some(guess) = &own.guess {
            let compared = own.replays.first().map_or(0, |replay| replay.validation.jobs_compared);
            text += &guess.in_words(&own.label, compared);
        }
    }
    let all = reported.iter().fold(Validity::default(), |all, own| all.and(&own.validity));
    text + &caveats(&all) + &left_out(skipped)
}
