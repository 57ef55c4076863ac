//! `resched validate`: replays a trace under the scheduler that ran it, and reports the error of the replay.

mod by_size;
mod candidates;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use resched_analysis::metrics::validity;
use resched_analysis::validation::{LocalityError, QuantityError, Validation, validate};
use resched_analysis::{Gathered, Population, Run};
use resched_policies::PolicySpec;
use resched_replay::{ReadBy, World};
use resched_sim::Skipped;
use resched_tables::model::JobRow;
use resched_tables::run::{RunCluster, RunEngine, RunInfo, RunTrace};
use resched_tables::store::{Trace, sha256};
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use self::candidates::{Guessed, candidates, most_probable};
use super::ingest::left_out;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::output::{TimeUnit, UNKNOWN, count, table};
use crate::policy_value::PolicyValue;
use crate::progress::ReplayProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, warn_of_rules};

/// A limit on `--seeds`; more replays of one trace do not show more about its draws.
const MOST_SEEDS: u64 = 1_000;

/// Replay a trace under the scheduler that ran it, and report the error.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched validate T --policy fifo --cluster C.toml --seeds 5\n  resched validate T --csv"
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
    /// The number of replays of each policy, each with the next seed. Errors are means over the replays.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

/// The errors of the replays of one policy.
#[derive(Debug, Serialize)]
struct Told {
    /// The policy with its parameters, as runs are labelled.
    label: String,
    policy: String,
    params: BTreeMap<String, String>,
    /// Whether the user named no policy, so that this one is assumed.
    assumed: bool,
    /// The trace, which `--validation` checks.
    trace: RunTrace,
    /// The machines of its replay.
    cluster: RunCluster,
    /// The SHA-256 of the rules of its cluster, hexadecimal.
    rules_sha256: String,
    engine: Option<RunEngine>,
    written_by: String,
    /// Why this policy, if it is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    guess: Option<Guessed>,
    /// The means of the errors over seeds.
    errors: BTreeMap<&'static str, Option<f64>>,
    /// The replays, one for each seed.
    replays: Vec<Replay>,
    /// How far the errors can be trusted: the worst grade of `validity`.
    grade: Grade,
    /// What decides the errors, and whether it was observed.
    validity: Validity,
}

#[derive(Debug, Serialize)]
struct Replay {
    seed: u64,
    #[serde(flatten)]
    validation: Validation,
    #[serde(skip)]
    validity: Validity,
    #[serde(skip)]
    info: RunInfo,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let assumed = args.policies.is_empty();
    let observed = observed(&args.trace)?;
    let (source, setup) = args.world.open(&args.trace)?;
    let mut policies = if assumed { candidates(&source, &observed)? } else { Vec::new() };
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
        let validation = validate(&observed, &run);
        let population = Population::of(&[&observed, &run]);
        let validity = validity::of_runs(std::slice::from_ref(&run), &population);
        let info = run.replay().cloned().unwrap_or_default();
        Ok::<_, Failure>(Replay { seed, validation, validity, info })
    })?;
    let mut replays = replays.into_iter();
    let mut of_policy = |policy: &PolicySpec| Told {
        label: policy.label(),
        policy: policy.name(),
        params: policy.parameters(),
        assumed,
        trace: RunTrace::default(),
        cluster: RunCluster::default(),
        rules_sha256: String::new(),
        engine: None,
        written_by: String::new(),
        guess: None,
        errors: BTreeMap::new(),
        replays: replays.by_ref().take(seeds.len()).collect(),
        grade: Grade::default(),
        validity: Validity::default(),
    };
    let mut told: Vec<Told> = policies.iter().map(&mut of_policy).collect();
    for own in &mut told {
        own.errors = mean_errors(&own.replays);
        own.validity = own.replays.first().map(|replay| replay.validity.clone()).unwrap_or_default();
        own.grade = own.validity.grade();
        if let Some(Replay { info, .. }) = own.replays.first() {
            (own.trace, own.cluster, own.engine) = (info.trace.clone(), info.cluster, info.engine);
            own.rules_sha256 = sha256(info.rules.to_string().as_bytes());
            own.written_by.clone_from(&info.written_by);
        }
    }
    if assumed {
        told = most_probable(told, queues(&args.trace)?);
    }
    args.format.print_lines(&told, || in_words(&told, observed.jobs.len(), &world.skipped()))
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

impl Told {
    /// The cells of the column of this policy.
    fn cells(&self, jobs: usize) -> Vec<String> {
        let first = self.replays.first().map(|replay| &replay.validation);
        let number = |name: &str, unit: Unit| self.error(name, unit);
        let mean_of = |pick: &dyn Fn(&Validation) -> Option<f64>| {
            let values: Vec<f64> = self.replays.iter().filter_map(|replay| pick(&replay.validation)).collect();
            resched_analysis::statistics::distribution::mean(&values)
        };
        let level = |level: usize, name: &str| {
            let shares = |pick: fn(&LocalityError) -> [f64; 3]| {
                let locality = first.and_then(|own| own.locality)?;
                pick(&locality).get(level).copied()
            };
            let observed = shares(|locality| locality.observed);
            let observed = observed.map_or_else(String::new, |share| format!(" of {:.1} %", share * 100.0));
            number(name, Unit::Points) + &observed
        };
        // The error of what is compared, and the means over seeds that it is of.
        let quantity = |name: &str| {
            let of = |pick: fn(&QuantityError) -> f64| mean_of(&|own| own.quantities.get(name).map(pick));
            let Some((observed, replayed)) = of(|own| own.observed_ms).zip(of(|own| own.replayed_ms)) else {
                return UNKNOWN.to_owned();
            };
            let unit = TimeUnit::of([observed, replayed]);
            format!("{} ({} → {})", number(name, Unit::Signed), unit.show(observed), unit.show(replayed))
        };
        vec![
            first.map_or_else(String::new, |own| format!("{} of {}", count(own.jobs_compared), count(jobs as u64))),
            quantity("mean_completion"),
            quantity("median_completion"),
            quantity("p95_completion"),
            quantity("mean_waiting"),
            quantity("median_waiting"),
            quantity("p95_waiting"),
            quantity("makespan"),
            number("completion_median", Unit::Share),
            number("completion_p90", Unit::Share),
            number("completion_mean", Unit::Share),
            number("completion_mean_signed", Unit::Signed),
            number("completion_ks", Unit::Plain),
            number("map_time_ks", Unit::Plain),
            level(0, "locality_node_points"),
            level(1, "locality_rack_points"),
            level(2, "locality_off_points"),
            number("map_utilisation", Unit::Share),
            number("reduce_utilisation", Unit::Share),
        ]
    }

    /// The mean of an error over seeds, and its range.
    fn error(&self, name: &str, unit: Unit) -> String {
        let Some(mean) = self.errors.get(name).copied().flatten() else { return "-".to_owned() };
        let all = || self.replays.iter().flat_map(|replay| replay.validation.errors());
        let values = || all().filter(|error| error.0 == name).filter_map(|error| error.1);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let text = unit.tell(mean);
        if self.replays.len() > 1 { format!("{text} ({} to {})", unit.tell(low), unit.tell(high)) } else { text }
    }
}

/// How an error is printed.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Share,
    Signed,
    Points,
    Plain,
}

impl Unit {
    fn tell(self, value: f64) -> String {
        match self {
            Unit::Share => format!("{:.1} %", value * 100.0),
            Unit::Signed => format!("{:+.1} %", value * 100.0),
            Unit::Points => format!("{value:+.1} points"),
            Unit::Plain => format!("{value:.3}"),
        }
    }
}

/// The rows of the table; [`Told::cells`] has a cell for each.
const ROWS: [&str; 19] = [
    "jobs compared",
    "completion time: mean (observed → replayed)",
    "  median",
    "  p95",
    "waiting time: mean",
    "  median",
    "  p95",
    "makespan",
    "completion time of a job: median error",
    "  90 % of the jobs within",
    "  mean error",
    "  mean error with its sign",
    "KS distance: completion times",
    "  map run times",
    "maps launched on a node with the input",
    "  in its rack",
    "  elsewhere",
    "running maps: mean difference / slots",
    "running reduces: mean difference / slots",
];

/// The means over seeds; null for an error that no replay has.
fn mean_errors(replays: &[Replay]) -> BTreeMap<&'static str, Option<f64>> {
    let mut values: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for (name, error) in replays.iter().flat_map(|replay| replay.validation.errors()) {
        values.entry(name).or_default().extend(error);
    }
    values.into_iter().map(|(name, values)| (name, resched_analysis::statistics::distribution::mean(&values))).collect()
}

/// The table that compares the policies, and what was left out.
fn in_words(told: &[Told], jobs: usize, skipped: &Skipped) -> String {
    let columns: Vec<Vec<String>> = told.iter().map(|own| own.cells(jobs)).collect();
    let row = |(place, name): (usize, &&str)| {
        let cells = columns.iter().map(|column| column.get(place).cloned().unwrap_or_default());
        std::iter::once((*name).to_owned()).chain(cells).collect()
    };
    let heading: Vec<&str> =
        std::iter::once("error of the replay").chain(told.iter().map(|own| own.label.as_str())).collect();
    let mut text = table(&heading, ROWS.iter().enumerate().map(row).collect(), 1..heading.len());
    for own in told {
        let by_size = by_size::in_words(own);
        text += &if told.len() > 1 { format!("\n{}{by_size}", own.label) } else { by_size };
    }
    for own in told {
        if let Some(causes) =
            own.replays.first().map(|replay| &replay.validation.not_compared).filter(|own| !own.is_empty())
        {
            let causes: Vec<String> = causes.iter().map(|(cause, &n)| format!("{} × {cause}", count(n))).collect();
            text += &format!("{}: not compared: {}\n", own.label, causes.join(", "));
        }
    }
    if told.iter().flat_map(|own| &own.replays).any(|replay| !replay.validation.not_compared.is_empty()) {
        text += "Completion times and makespans are those of the jobs compared; map run times, places of maps and running tasks are \
                 those of all jobs in both runs, because a job that failed held slots, too.\n";
    }
    for own in told {
        if let Some(guess) = &own.guess {
            let compared = own.replays.first().map_or(0, |replay| replay.validation.jobs_compared);
            text += &guess.in_words(&own.label, compared);
        }
    }
    let all = told.iter().fold(Validity::default(), |all, own| all.and(&own.validity));
    text + &caveats(&all) + &left_out(skipped)
}
