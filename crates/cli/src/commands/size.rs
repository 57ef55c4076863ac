//! `resched size`: the smallest cluster that keeps a metric within a bound.

use std::path::PathBuf;

use clap::ValueEnum;
use resched_analysis::measure::Metric;
use resched_replay::World;
use resched_sweep::size::{self, Bound, Interval, Probe, Sized, Sizing, Step, Verdict};
use serde::Serialize;

use super::replay::policies;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::output::table;
use crate::progress::SizeProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, check_rules};

/// A limit on `--seeds`; more replays do not narrow the interval much.
const MOST_SEEDS: u64 = 1_000;

/// Find the smallest cluster that keeps a metric within a bound.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched size T --policy fair --metric mean_waiting --below 30s --seeds 5\n  resched size T --policy fair --metric 'p95(completion) where tasks <= 10' --below 5min --to 200"
)]
#[command(group = clap::ArgGroup::new("bound").required(true))]
pub(crate) struct Args {
    /// A trace, or a workload file (TOML).
    #[arg(value_name = "TRACE|WORKLOAD.toml")]
    trace: PathBuf,
    /// The policy, written as for `replay`.
    #[arg(long, value_name = "POLICY")]
    policy: String,
    /// The metric: a name such as mean_waiting, or an expression such as "p95(completion) where queue = 'adhoc'".
    #[arg(long)]
    metric: String,
    /// The most that the metric may be, for example 30s, 5min or 0.9.
    #[arg(long, group = "bound", value_name = "VALUE")]
    below: Option<String>,
    /// The least that the metric must be, for example 90%.
    #[arg(long, group = "bound", value_name = "VALUE")]
    above: Option<String>,
    /// What varies.
    #[arg(long, value_enum, default_value_t = Vary::Nodes)]
    vary: Vary,
    /// The smallest size to try.
    #[arg(long, default_value_t = 1, value_name = "N")]
    from: u32,
    /// The largest size to try.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    to: u32,
    /// The number of replays at each size, each with the next seed. The metric is the mean over them.
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

/// What varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Vary {
    /// The number of machines. Those of a trace are cut or cloned.
    Nodes,
    /// The map slots of every machine, and its reduce slots in proportion. Under YARN, room for as many containers of maps.
    Slots,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Told<'a> {
    policy: String,
    metric: &'a str,
    /// Times in ms.
    bound: Bound,
    vary: size::Vary,
    seeds: u64,
    #[serde(flatten)]
    found: &'a Sized,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let metric = Metric::named(&args.metric).map_err(|problem| Failure::request(format!("--metric: {problem}")))?;
    let number = |text: &str| Bound::number(text, &metric).map_err(Failure::request);
    let bound = match (&args.below, &args.above) {
        (Some(most), _) => Bound::Below(number(most)?),
        (None, Some(least)) => Bound::Above(number(least)?),
        (None, None) => return Err(Failure::request("name a bound with --below or --above")),
    };
    let (source, setup) = args.world.open(&args.trace)?;
    let policies = policies(std::slice::from_ref(&args.policy), source.engine())?;
    let [policy] = <[_; 1]>::try_from(policies)
        .map_err(|_| Failure::request("--policy: expected one policy, found a list of values; size each alone"))?;
    check_rules(&World::open(&source, setup.clone())?, std::slice::from_ref(&policy))?;
    let vary = match args.vary {
        Vary::Nodes => size::Vary::Nodes,
        Vary::Slots => size::Vary::Slots,
    };
    let (from, to, seeds) = (args.from, args.to, args.seeds);
    let asked = Sizing { source, setup, policy, metric, bound, vary, from, to, seeds };
    let progress = SizeProgress::new(seeds);
    let found = size::size(&asked, args.threads.get(), &|step| match step {
        Step::Size(size) => progress.begin(sized(size, vary)),
        Step::Replayed => progress.done(),
    })?;
    drop(progress);
    let policy = asked.policy.label();
    let value = Told { policy, metric: &asked.metric.name, bound, vary, seeds, found: &found };
    args.format.print(&value, &found.probes, || probes(&found, &asked.metric, vary) + &in_words(&asked, &found))
}

/// A size with its unit.
fn sized(size: u32, vary: size::Vary) -> String {
    match vary {
        size::Vary::Nodes if size == 1 => "1 node".to_owned(),
        size::Vary::Nodes => format!("{size} nodes"),
        size::Vary::Slots => format!("{size} to a node"),
    }
}

/// The table of all sizes that were tried.
fn probes(found: &Sized, metric: &Metric, vary: size::Vary) -> String {
    let end = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| metric.in_words(value));
    let row = |probe: &Probe| {
        let Interval { low, high, .. } = probe.mean.unwrap_or(Interval { mean: f64::NAN, low: None, high: None });
        let mean = probe.mean.map(|found| found.mean);
        let note = probe.problem.clone().unwrap_or_else(|| if probe.holds { "yes" } else { "no" }.to_owned());
        vec![sized(probe.size, vary), end(mean), end(low), end(high), note]
    };
    let heading = ["size", &metric.name, "95 % from", "to", "within the bound"];
    table(&heading, found.probes.iter().map(row).collect(), 0..4)
}

/// The answer in sentences.
fn in_words(asked: &Sizing, found: &Sized) -> String {
    let Sizing { metric, bound, vary, from, to, seeds, .. } = asked;
    let bound = match bound {
        Bound::Below(most) => format!("at most {}", metric.in_words(*most)),
        Bound::Above(least) => format!("at least {}", metric.in_words(*least)),
    };
    let name = &metric.name;
    let mut text = match (found.verdict, found.size) {
        (Verdict::Smallest, Some(size)) => {
            format!("{} is the smallest size that keeps {name} {bound}.\n", sized(size, *vary))
        }
        (Verdict::Always, _) => {
            format!("{name} is {bound} with {} already, the smallest size to try; lower --from.\n", sized(*from, *vary))
        }
        _ => format!(
            "{name} is not {bound} with {}, the largest size to try; raise --to or the bound.\n",
            sized(*to, *vary)
        ),
    };
    if let Some((smaller, larger)) = found.not_monotone {
        text += &format!(
            "{} is worse than {}: the metric does not improve with each machine, so a smaller size may do, too.\n",
            sized(larger, *vary),
            sized(smaller, *vary)
        );
    }
    if *seeds == 1 {
        text += "One seed does not show the spread; give more with --seeds.\n";
    }
    let straddles = |probe: &Probe| {
        let ends = probe.mean.and_then(|found| found.low.zip(found.high));
        ends.is_some_and(|(low, high)| asked.bound.holds(low) != asked.bound.holds(high))
    };
    if let Some((answer, smaller)) = found.at_answer()
        && (straddles(answer) || smaller.is_some_and(straddles))
    {
        text +=
            "The bound lies in the interval of the answer or of the next smaller size; more --seeds make it surer.\n";
    }
    text
}
