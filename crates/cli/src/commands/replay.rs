//! `resched replay`: replays a trace under one or more policies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use resched_analysis::metrics::bound;
use resched_analysis::metrics::named::{Measured, Metric};
use resched_analysis::statistics::sign::{Level, Sign};
use resched_analysis::validation::log::LOG;
use resched_analysis::{Compared, LocalityCounts, Outline, Run, Summary};
use resched_compare::replay::{self as compare, How};
use resched_compare::{Comparison, Replayed};
use resched_policies::PolicySpec;
use resched_replay::{Engine, RunFolders, Setup, World};
use resched_tables::clock::Zone;
use resched_tables::run::{self, RunBound, RunClock, RunWindow, Unfinished};
use resched_tables::store::{Out, System, changed_files};
use resched_tables::validity::{Fact, Grade, Validity};
use serde::Serialize;

use super::groups::{Grouped, Grouping, grouped, groups_reported};
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::out::{ForceArg, report_replaced};
use crate::output::{Text, TimeUnit, UNKNOWN, count, duration, shown, table, value};
use crate::policy_value::PolicyValue;
use crate::progress::ReplayBars;
use crate::threads::ThreadsArg;
use crate::window_args::EndArgs;
use crate::world_args::{WorldArgs, warn_of_rules};
use crate::written::left_out;

/// Replay a trace under one or more policies.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched replay T --policy fifo --policy fair --out R\n  resched replay T --policy 'delay:D=0|8|24' --cluster C.toml --out R\n  resched replay traces/delay-locality.toml --policy fair+late --out R --csv"
)]
pub(crate) struct Args {
    /// A trace, or a workload file (TOML).
    #[arg(value_name = "TRACE|WORKLOAD.toml")]
    trace: PathBuf,
    /// A policy: `name` or `name:key=value,…`. Repeat the option to compare policies. `key=1|2|3` stands for three policies.
    /// `name+speculator` adds backups of slow tasks. On a production trace, `fifo` means `batch-fifo`, and so on.
    #[arg(long = "policy", required = true, value_name = "POLICY", value_parser = PolicyValue, hide_possible_values = true)]
    policies: Vec<String>,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    ends: EndArgs,
    /// The folder to write the runs to. Each policy gets a folder in it.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Also write the decisions of policies over time (only some report them, such as `dress` its δ), and why they passed over jobs.
    /// `explain` reads these reasons.
    #[arg(long)]
    decisions: bool,
    /// The label of the policy that the others are compared with [default: the first --policy].
    #[arg(long, value_name = "LABEL")]
    baseline: Option<String>,
    /// Keep earlier runs of the same trace, cluster, site, policy and seed.
    #[arg(long)]
    resume: bool,
    /// Check each replay against rules that always hold, such as that no node is overfull. A broken rule ends the command with status 1.
    #[arg(long)]
    check: bool,
    /// A further metric: a name or an expression such as `p95(completion) where queue = 'adhoc'`. Repeat the option for more.
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    /// Also show percentiles by user, account, queue, width, limit, hour and so on, the change of each group against the baseline, and
    /// the jobs that were slowed most. Repeat the option for more.
    #[arg(long, value_name = "GROUP")]
    by: Vec<Grouping>,
    /// How to test whether a policy stays faster or slower if unknown values vary, such as the cost of distance. `full` replays all
    /// jobs in every variant; `quick` uses a part of a large trace; `off` skips the test.
    #[arg(long, value_name = "full|quick|off", default_value = "quick")]
    robust: Level,
    /// With how many seeds to replay the comparison, to show how far draws move it: the terminal has the interval over them. The runs
    /// that are kept have the first seed [default: 5 where a replay is short, and else 3].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: Option<u64>,
    #[command(flatten)]
    format: FormatArgs,
}

/// A limit on `--seeds`; a sweep makes more replays than this better.
const MOST_SEEDS: u64 = 1_000;

/// A run, new or kept, with its summary.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    #[serde(skip)]
    pub(super) dir: PathBuf,
    #[serde(skip)]
    pub(super) label: String,
    /// What ran the jobs; the table is in its words.
    #[serde(skip)]
    system: System,
    /// The number of jobs that were replayed, whether they succeeded or not.
    #[serde(skip)]
    jobs: u64,
    #[serde(flatten)]
    summary: Summary,
    /// The metrics that were asked for, by their texts; null if unknown.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<String, Option<f64>>,
    /// The groups of its jobs, if they were asked for.
    #[serde(flatten)]
    pub(super) grouped: Option<Grouped>,
    /// The time in which jobs must be submitted to count, ms of the run's clock; null if any time will do.
    window: Option<RunWindow>,
    /// How that clock relates to that of the trace.
    #[serde(skip)]
    clock: Option<RunClock>,
    /// What became of work that had not ended when the trace ended.
    unfinished: Unfinished,
    /// Whether it stays sooner or later than the baseline under what the data leaves open; absent for the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<Sign>,
    /// For how long each resource was the bottleneck.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bound: BTreeMap<String, RunBound>,
    /// What the log says of the replay of what ran, if it agrees; otherwise, that is among the caveats.
    #[serde(skip)]
    log: Option<String>,
    /// Which jobs waits are over, if they are not those that count.
    #[serde(skip)]
    started: Option<String>,
    /// How far the answer can be trusted: the worst grade of `validity`.
    grade: Grade,
    /// What decides the answer, and whether it was observed.
    validity: Validity,
    /// The time that the replay took, ms; null for a run that was kept.
    wall_ms: Option<u64>,
}

impl Done {
    /// What decides the answer.
    pub(super) fn validity(&self) -> &Validity {
        &self.validity
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (source, setup) = args.world.open_within(&args.trace, &args.ends)?;
    let setup = Setup { check: args.check, ..setup };
    let policies = policies(&args.policies, source.engine())?;
    let baseline = baseline_of(args.baseline.as_deref(), &policies)?;
    let world = World::open(&source, setup)?;
    let how = How {
        decisions: args.decisions,
        resume: args.resume,
        threads: args.threads.get(),
        baseline,
        sign: args.robust,
        seeds: args.seeds,
    };
    let options = Options { how, metrics: named(&args.metrics)?, by: args.by.clone(), zone: args.world.window.zone() };
    let done = replay_all(&world, &policies, &args.force.plain(&args.out), &options)?;
    args.format.print_lines(&done, || {
        summary(&done, &options.metrics, baseline)
            + &windowed(&done, args.world.window.zone())
            + &started_in_words(&done)
            + &signs_in_words(&done)
            + &log_in_words(&done)
            + groups_reported(&done.iter().filter_map(|done| done.grouped.as_ref()).collect::<Vec<_>>())
            + &never_bound(&done)
            + &done.first().map_or_else(String::new, |done| caveats(&done.validity))
            + &left_out(&world.skipped())
    })
}

/// The policies that the user names, for a source of this kind.
pub(super) fn policies(texts: &[String], engine: Engine) -> Result<Vec<PolicySpec>, Failure> {
    let grids = texts.iter().map(|text| PolicySpec::parse_grid(text, engine)).collect::<Result<Vec<_>, _>>()?;
    Ok(grids.into_iter().flatten().collect())
}

/// The only policy that the user names. `remedy` says what to do with several.
pub(super) fn one_policy(text: &str, engine: Engine, remedy: &str) -> Result<PolicySpec, Failure> {
    let [policy] = <[_; 1]>::try_from(policies(&[text.to_owned()], engine)?)
        .map_err(|_| Failure::request(format!("--policy: expected one policy, found a list of values; {remedy}")))?;
    Ok(policy)
}

/// The place of the policy of that label, or the first.
fn baseline_of(label: Option<&str>, policies: &[PolicySpec]) -> Result<usize, Failure> {
    let Some(label) = label else { return Ok(0) };
    let labels: Vec<String> = policies.iter().map(PolicySpec::label).collect();
    labels.iter().position(|other| other == label).ok_or_else(|| {
        Failure::request(format!("--baseline: no policy is labelled `{label}`; the labels are {}", labels.join(", ")))
    })
}

/// Options of [`replay_all`].
#[derive(Debug, Default)]
pub(super) struct Options {
    /// How policies are replayed and compared.
    how: How,
    metrics: Vec<Metric>,
    /// What jobs are grouped by.
    by: Vec<Grouping>,
    /// The zone of hours.
    zone: Zone,
}

/// The metrics with these names or expressions.
pub(super) fn named(texts: &[String]) -> Result<Vec<Metric>, Failure> {
    let named = |text: &String| Metric::named(text).map_err(|problem| Failure::request(format!("--metric: {problem}")));
    texts.iter().map(named).collect()
}

/// Replays every policy into a folder of `out`, several at once.
pub(super) fn replay_all(
    world: &World,
    policies: &[PolicySpec],
    out: &Out,
    options: &Options,
) -> Result<Vec<Done>, Failure> {
    let folders = RunFolders::open(out, policies, world)?;
    for dir in folders.dirs().iter().filter(|dir| dir.force) {
        report_replaced(&dir.path, &changed_files(&dir.path, run::MARKER));
    }
    // Reports errors of the source and the cluster before the first replay.
    let ready = policies.iter().map(|policy| world.check(policy)).collect::<Result<Vec<_>, _>>()?;
    warn_of_rules(&ready);
    let (how, watch) = (options.how, ReplayBars::default());
    // The summary needs an outline only. Metrics and groups that are asked for may need everything.
    if options.metrics.is_empty() && options.by.is_empty() {
        let compared = compare::replay::<Outline>(world, &ready, &folders, how, &watch)?;
        let groups = compared.runs.iter().map(|_| None).collect();
        return Ok(done_of(compared, groups, options));
    }
    let compared = compare::replay::<Run>(world, &ready, &folders, how, &watch)?;
    let groups = grouped(&compared.runs, how.baseline, &options.by, options.zone);
    Ok(done_of(compared, groups, options))
}

/// What is reported of each run of a comparison.
fn done_of<R: Compared>(compared: Comparison<R>, groups: Vec<Option<Grouped>>, options: &Options) -> Vec<Done> {
    let Comparison { runs, replays, population, signs, validity, .. } = compared;
    let started = population.starts_in_words();
    let agrees = |fact: &&Fact| fact.about == LOG && fact.grade == Grade::Measured;
    let log = validity.facts.iter().find(agrees).map(|fact| fact.says.clone());
    let of_run = |((run, Replayed { dir, jobs, wall_ms }), grouped): ((&R, Replayed), Option<Grouped>)| {
        let measured = Measured::of(run);
        let info = run.replay();
        Done {
            summary: Summary::measured(&measured),
            metrics: options.metrics.iter().map(|metric| (metric.name.clone(), metric.of(&measured))).collect(),
            grouped,
            window: info.and_then(|info| info.window),
            clock: info.and_then(|info| info.clock),
            unfinished: info.map(|info| info.unfinished).unwrap_or_default(),
            sign: signs.iter().find(|sign| sign.policy == run.label()).cloned(),
            bound: info.map(|info| info.bound.clone()).unwrap_or_default(),
            log: log.clone(),
            started: started.clone(),
            grade: validity.grade(),
            validity: validity.clone(),
            label: run.label().to_owned(),
            system: info.map(|info| info.system).unwrap_or_default(),
            dir,
            jobs,
            wall_ms,
        }
    };
    runs.iter().zip(replays).zip(groups).map(of_run).collect()
}

/// The signs that hold, as sentences. Those that do not are among the caveats.
pub(super) fn signs_in_words(done: &[Done]) -> String {
    let signs = done.iter().filter_map(|done| done.sign.as_ref());
    signs.filter(|sign| sign.grade == Grade::Measured).map(|sign| format!("{}\n", sign.says)).collect()
}

/// What the log says, if it agrees with the replay of what ran.
pub(super) fn log_in_words(done: &[Done]) -> String {
    done.first().and_then(|done| done.log.as_ref()).map_or_else(String::new, |says| format!("{says}\n"))
}

/// Which jobs waits are over, if they are not those that count.
pub(super) fn started_in_words(done: &[Done]) -> String {
    done.first().and_then(|done| done.started.as_ref()).map_or_else(String::new, |says| format!("{says}.\n"))
}

/// The window of the metrics, if not all jobs are in it.
fn windowed(done: &[Done], zone: Zone) -> String {
    let Some((RunWindow { from, to }, clock)) = done.first().and_then(|done| Some((done.window?, done.clock))) else {
        return String::new();
    };
    let date = |at: i64| clock.and_then(|clock| clock.date(at));
    if let Some((from, to)) = date(from).zip(date(to)) {
        return format!("Metrics cover the jobs that were submitted from {}.\n", zone.show_both(from, to));
    }
    let [from, to] = [from, to].map(|at| duration(Some(at as f64)));
    format!("Metrics cover the jobs that were submitted from {from} to {to} of the replay.\n")
}

/// The resources that were never the bottleneck under any of the policies.
fn never_bound(done: &[Done]) -> String {
    let sentences = bound::never_bound(&bound::together(done.iter().map(|done| &done.bound)));
    sentences.into_iter().map(|sentence| sentence + "\n").collect()
}

/// A column of the table: its heading, and its cell for a run.
type Column<'a> = (String, Box<dyn Fn(&Done) -> String + 'a>);

/// The table that compares the runs, with the change of the mean completion time against the baseline. Times and shares that no run
/// has are left out.
pub(super) fn summary(done: &[Done], metrics: &[Metric], baseline: usize) -> Text {
    let base = done.get(baseline);
    let base_mean = base.and_then(|base| base.summary.mean_completion_ms).filter(|mean| *mean > 0.0);
    let change = move |done: &Done| match done.summary.mean_completion_ms.zip(base_mean) {
        Some((mean, base)) => format!("{:+.1} %", 100.0 * (mean / base - 1.0)),
        None => UNKNOWN.to_owned(),
    };
    let counted = |done: &Done| format!("{} of {}", count(done.summary.jobs_counted), count(done.jobs));
    let times = |time: fn(&Done) -> Option<f64>| -> Box<dyn Fn(&Done) -> String> {
        let unit = TimeUnit::of(done.iter().filter_map(time));
        Box::new(move |done| shown(unit, time(done)))
    };
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut column = |heading: &str, cell: Box<dyn Fn(&Done) -> String>| columns.push((heading.to_owned(), cell));
    column("policy", Box::new(|done| done.label.clone()));
    column("jobs that count", Box::new(counted));
    column("makespan", times(|done| done.summary.makespan_ms.map(|ms| ms as f64)));
    column("mean completion", times(|done| done.summary.mean_completion_ms));
    if let Some(base) = base.filter(|_| done.len() > 1) {
        column(&format!("vs {}", base.label), Box::new(change));
    }
    column("median", times(|done| done.summary.median_completion_ms));
    column("p95", times(|done| done.summary.p95_completion_ms));
    column("mean waiting", times(|done| done.summary.mean_waiting_ms));
    column("p95 waiting", times(|done| done.summary.p95_waiting_ms));
    if done.iter().any(|done| done.summary.mean_starvation_ms.is_some()) {
        column("mean starvation", times(|done| done.summary.mean_starvation_ms));
    }
    if done.iter().any(|done| done.summary.locality.is_some()) {
        let [node, rack, off] = System::of_all(done.iter().map(|done| done.system)).levels();
        column(node, Box::new(|done| share(done, |counts| counts.node)));
        column(rack, Box::new(|done| share(done, |counts| counts.rack)));
        column(off, Box::new(|done| share(done, |counts| counts.off)));
    }
    for metric in metrics {
        let cell = |done: &Done| value(metric, done.metrics.get(&metric.name).copied().flatten());
        columns.push((metric.name.clone(), Box::new(cell)));
    }
    let unit = TimeUnit::of(done.iter().filter_map(|done| Some(done.wall_ms? as f64)));
    let time = move |done: &Done| done.wall_ms.map_or_else(|| "kept".to_owned(), |ms| unit.show(ms as f64));
    columns.push(("replayed in".to_owned(), Box::new(time)));
    let heading: Vec<&str> = columns.iter().map(|(heading, _)| heading.as_str()).collect();
    let rows = done.iter().map(|done| columns.iter().map(|(_, cell)| cell(done)).collect()).collect();
    table(&heading, rows, 1..heading.len())
}

/// The share of the maps at a distance from their input.
fn share(done: &Done, of: fn(&LocalityCounts) -> u64) -> String {
    done.summary.locality.map_or_else(
        || UNKNOWN.to_owned(),
        |counts| {
            let all = counts.node + counts.rack + counts.off;
            format!("{:.1} %", of(&counts) as f64 / all as f64 * 100.0)
        },
    )
}
