//! `resched size`: the smallest cluster that keeps a metric within a bound.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::sign::Level;
use resched_replay::World;
use resched_report::alike;
use resched_sweep::MeanInterval;
use resched_sweep::size::{self, Answer, Bound, FILES, Kept, MARKER, Probe, Sizing, Step, note, sized};
use resched_tables::store::{FolderLock, OwnFiles};

use super::replay::one_policy;
use super::sweep::claim;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::out::ForceArg;
use crate::output::{Text, count, table};
use crate::progress::SizeProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, warn_of_rules};

/// A limit on `--seeds`; more replays do not narrow the interval much.
const MOST_SEEDS: u64 = 1_000;

/// Find the smallest cluster that keeps a metric within a bound.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched size T --policy fair --metric mean_waiting --below 30s --seeds 5\n  resched size T --policy fair --metric 'p95(completion) where tasks <= 10' --below 5min --to 200 --out S"
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
    /// The upper bound of the metric, for example 30s, 5min or 0.9.
    #[arg(long, group = "bound", value_name = "VALUE")]
    below: Option<String>,
    /// The lower bound of the metric, for example 90%.
    #[arg(long, group = "bound", value_name = "VALUE")]
    above: Option<String>,
    /// What to vary.
    #[arg(long, value_enum, default_value_t = Vary::Nodes)]
    vary: Vary,
    /// Vary the nodes of this partition alone, under the policy `slurm`. The other partitions keep their nodes. It needs --site-conf with
    /// the nodes and partitions of the cluster.
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// The smallest size to try.
    #[arg(long, default_value_t = 1, value_name = "N")]
    from: u32,
    /// The largest size to try [default: four times the size of the trace, and at least 1000].
    #[arg(long, value_name = "N")]
    to: Option<u32>,
    /// The number of replays at each size, each with the next seed. The metric is the mean over them.
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    /// The folder for the curve, the tables and the page. It also keeps finished replays, so that you can resume an interrupted search.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// How to test whether the answer holds if unknown values vary, such as the cost of distance. `full` tries every variant; `quick`
    /// tries at most as many as the search made replays; `off` skips the test.
    #[arg(long, value_name = "full|quick|off", default_value = "quick")]
    robust: Level,
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

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let metric = Metric::named(&args.metric).map_err(|problem| Failure::request(format!("--metric: {problem}")))?;
    let number = |text: &str| metric.number(text).map_err(Failure::request);
    let bound = match (&args.below, &args.above) {
        (Some(most), _) => Bound::Below(number(most)?),
        (None, Some(least)) => Bound::Above(number(least)?),
        (None, None) => return Err(Failure::request("name a bound with --below or --above")),
    };
    let (source, setup) = args.world.open(&args.trace)?;
    let policy = one_policy(&args.policy, source.engine(), "size each alone")?;
    warn_of_rules(&[World::open(&source, setup.clone())?.ready(&policy)?]);
    let vary = match args.vary {
        Vary::Nodes => size::Vary::Nodes,
        Vary::Slots => size::Vary::Slots,
    };
    let (from, to, seeds) = (args.from, args.to, args.seeds);
    let (partition, robust) = (args.partition.clone(), args.robust);
    let asked = Sizing { source, setup, policy, metric, bound, vary, partition, from, to, seeds, robust };
    let claimed = args.out.as_deref().map(|out| claimed(out, args)).transpose()?;
    let kept = match &args.out {
        Some(out) => Kept::inside(out, &asked)?,
        None => Kept::nowhere(),
    };
    let answer = search(&asked, &kept, args)?;
    let sentences = size::in_words(&asked, &answer);
    if let Some((files, _lock)) = claimed {
        size::write(&asked, &answer, &sentences, files)?;
    }
    args.format.print(&answer, &answer.found.probes, || in_words(&asked, &answer, &sentences, args.out.as_deref()))
}

/// The folder of a search, which must be new or that of an earlier one.
fn claimed(out: &Path, args: &Args) -> Result<(OwnFiles, FolderLock), Failure> {
    let target = args.force.plain(out);
    let lock = claim(&target, MARKER, &FILES)?;
    Ok((OwnFiles::open(&target, &FILES)?, lock))
}

/// Searches, and shows each probe as soon as it is known.
fn search(asked: &Sizing, kept: &Kept, args: &Args) -> Result<Answer, Failure> {
    let progress = SizeProgress::new(args.out.as_ref().map(|out| out.display().to_string()), kept.count());
    match kept.count() {
        0 => {}
        1 => progress.print_line("1 finished replay is kept and not repeated"),
        replays => {
            progress.print_line(&format!("{} finished replays are kept and not repeated", count(replays as u64)))
        }
    }
    let name = &asked.metric.name;
    let is_first = AtomicBool::new(true);
    let answer = size::size(asked, kept, args.threads.get(), &|step| match step {
        Step::Size { size, jobs } => progress.begin(sized(size, asked), jobs),
        Step::Jobs(more) => progress.jobs(more),
        Step::Replayed { size, value } => {
            progress.replayed();
            if is_first.swap(false, Ordering::Relaxed) && asked.seeds > 1 {
                let value = asked.metric.in_words(value);
                progress.print_line(&format!(
                    "{}: {name} {value} with the first of {} seeds",
                    sized(size, asked),
                    asked.seeds
                ));
            }
        }
        Step::Probed(probe) => progress.print_line(&probed(asked, probe)),
    })?;
    Ok(answer)
}

/// A probe in a line.
fn probed(asked: &Sizing, probe: &Probe) -> String {
    let (at, name) = (sized(probe.size, asked), &asked.metric.name);
    let words = |value: f64| asked.metric.in_words(value);
    match probe.mean {
        None => format!("{at}: {}", note(probe)),
        Some(MeanInterval { mean, low, high }) => {
            let spread = low.zip(high).map(|(low, high)| format!(" (95 % {} to {})", words(low), words(high)));
            let within = if probe.holds { "within the bound" } else { "not within the bound" };
            format!("{at}: {name} {}{}, {within}", words(mean), spread.unwrap_or_default())
        }
    }
}

/// The table of all sizes that were tried, and the answer in sentences.
fn in_words(asked: &Sizing, answer: &Answer, sentences: &[String], out: Option<&Path>) -> Text {
    let ends = |probe: &Probe| probe.mean.map_or([None; 3], |found| [Some(found.mean), found.low, found.high]);
    let cells = alike(&asked.metric, &answer.found.probes.iter().flat_map(ends).collect::<Vec<_>>());
    let row = |(probe, cells): (&Probe, &[String])| {
        [vec![sized(probe.size, asked)], cells.to_vec(), vec![note(probe)]].concat()
    };
    let rows = answer.found.probes.iter().zip(cells.chunks(3)).map(row).collect();
    let heading = ["size", &asked.metric.name, "95 % from", "to", "within the bound"];
    let sentences: String = sentences.iter().map(|sentence| format!("{sentence}\n")).collect();
    let open = out.map_or_else(String::new, |out| format!("Open {} in a browser.\n", out.join("index.html").display()));
    table(&heading, rows, 0..4) + &sentences + &caveats(&answer.validity) + &open
}
