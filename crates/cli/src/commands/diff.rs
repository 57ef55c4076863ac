//! `resched diff`: shows who gains and who loses from one run to another, and through which phase.

use std::path::PathBuf;

use resched_analysis::metrics::groups::ranked;
use resched_analysis::runs::identity::Difference;
use resched_analysis::statistics::practical::Matters;
use resched_analysis::validation::{ModelError, QUANTITIES, phases_of};
use resched_analysis::why::{Change, Changed, Diff, DiffGroup, Moved, Phase};
use resched_compare::diff::{self as compare, Diffed, How};
use resched_tables::store::System;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::{self, Graded};
use crate::output::{Text, TimeUnit, UNKNOWN, count, of_jobs, of_unit, shortened, table};
use crate::progress::spinner;
use crate::window_args::{Looked, WindowArgs, Within};

/// Show which jobs, users, queues and sizes gain or lose from one run to another, and in which phase.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  resched diff R/fifo R/fair                 two runs of one trace
  resched diff T R/fair                      the model error: the observed run and its replay
  resched diff S/fifo S/fair                 two folders with a run for each seed: changes have intervals
  resched diff R/fifo R/fair --window 22:00..06:00
                                             the jobs of last night, if the trace has dates
  resched diff R/fifo R/fair --json
  resched diff R/fifo R/fair --csv           the jobs that get slower or faster")]
pub(crate) struct Args {
    /// The run to compare with: a run, a trace (what really ran), or a folder with a run for each seed.
    baseline: PathBuf,
    /// The run, or a folder with a run for each seed.
    run: PathBuf,
    /// The relative change above which a job counts as slower or faster. The change must also be longer than a second.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    matters: Matters,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The comparison, how sure it is, and what else differs.
#[derive(Serialize)]
struct Answer<'a> {
    /// The mean completion time in a sentence, by the rule of `report`.
    headline: String,
    /// In what the runs differ beside their policies.
    differences: Vec<Difference>,
    /// What really ran beside its replay, if the first is a trace.
    model_error: Option<&'a ModelError>,
    #[serde(flatten)]
    diff: &'a Diff,
    /// The window of the submissions; null if it is all of the time.
    window: Option<Within>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let spinner = spinner("diff");
    let zone = args.window.zone();
    let how = How { matters: args.matters, period: args.window.period(), zone };
    let Diffed { diff, headline, differences, model_error, validity, window, .. } =
        compare::diff(&args.baseline, &args.run, &how)?;
    spinner.finish_and_clear();
    let looked = window.map(|(span, covered)| Looked { span, covered, zone });
    let window = looked.map(Looked::within);
    let reported = Answer { headline, differences, model_error: model_error.as_ref(), diff: &diff, window };
    let rows = &diff.changed;
    args.format
        .print(&Graded::of(&reported, &validity), rows, || in_words(&reported, looked) + &grade::graded(&validity))
}

/// The comparison as sentences and tables.
fn in_words(reported: &Answer<'_>, looked: Option<Looked>) -> Text {
    let diff = reported.diff;
    let within = looked.map_or_else(String::new, |looked| format!(" {}", looked.in_words()));
    let seeds = if diff.seeds > 1 { format!(", {} seeds", count(diff.seeds)) } else { String::new() };
    if let Some(error) = reported.model_error {
        let mut text = Text::from(format!("{}\n{}{within}{seeds}\n", reported.headline, of_jobs(diff.jobs)));
        text += &diff.sentences.iter().map(|sentence| format!("  {sentence}\n")).collect::<String>();
        return text + quantities(error) + by_phase(error, diff.system);
    }
    let compared = format!("{} compared with {}, {}{within}{seeds}\n", diff.run, diff.baseline, of_jobs(diff.jobs));
    let mut text = Text::from(compared);
    text += &format!("  {}\n", reported.headline);
    text += &reported
        .differences
        .iter()
        .map(|difference| format!("  They also differ in {}.\n", difference.in_words()))
        .collect::<String>();
    text += &diff.sentences.iter().map(|sentence| format!("  {sentence}\n")).collect::<String>();
    let system = diff.system;
    text += phases(&diff.phases, system);
    for (what, rows) in &diff.groups {
        text += groups(system.says(what), rows, &diff.all, system);
    }
    let (slower, faster): (Vec<&Changed>, Vec<&Changed>) =
        diff.changed.iter().partition(|job| job.after_ms > job.before_ms);
    text + changed("slower most", &slower, system) + changed("faster most", &faster, system)
}

/// The quantities that are compared, as they were and as they are in the replay.
fn quantities(error: &ModelError) -> Text {
    let row = |(name, title): &(&str, &str)| {
        let error = error.quantities.get(name)?;
        let unit = TimeUnit::of([error.observed_ms, error.replayed_ms]);
        let relative = error.relative.map_or_else(|| UNKNOWN.to_owned(), |error| format!("{:+.1} %", 100.0 * error));
        Some(vec![(*title).to_owned(), unit.show(error.observed_ms), unit.show(error.replayed_ms), relative])
    };
    shortened(&["quantity", "observed", "replayed", "error"], QUANTITIES.iter().filter_map(row).collect(), 1..4)
}

/// The phases that a log knows: their mean times, and their errors.
fn by_phase(error: &ModelError, system: System) -> Text {
    let Some(all) = error.by_size.first() else { return Text::default() };
    let row = |(name, title): &(&str, &str)| {
        let phase = all.phases.get(*name).filter(|phase| phase.observed_ms.max(phase.replayed_ms) > 0.0)?;
        let unit = TimeUnit::of([phase.observed_ms, phase.replayed_ms]);
        let share = format!("{:+.1} %", 100.0 * phase.mean_signed);
        Some(vec![(*title).to_owned(), unit.show(phase.observed_ms), unit.show(phase.replayed_ms), share])
    };
    let heading = ["phase", "observed", "replayed", "error, % of completion"];
    shortened(&heading, phases_of(system, &error.by_size).iter().filter_map(row).collect(), 1..4)
}

/// The headings of the times of a group or a job, each with its unit.
const HEADINGS: [&str; 4] = ["before", "after", "change", "largest part"];

/// The unit of a table: that of its times before and after, with which changes are compared.
fn unit_of(times: impl Iterator<Item = [f64; 2]>) -> TimeUnit {
    TimeUnit::of(times.flatten())
}

fn signed(unit: TimeUnit, ms: f64) -> String {
    let sign = if ms > 0.0 { "+" } else { "" };
    format!("{sign}{}", unit.number(ms))
}

/// A change, with its interval if there are several seeds.
fn change(unit: TimeUnit, change: Change) -> String {
    let interval = change.low.zip(change.high);
    let interval = interval.map(|(low, high)| format!(" ({} to {})", signed(unit, low), signed(unit, high)));
    signed(unit, change.value) + &interval.unwrap_or_default()
}

fn phases(phases: &[Moved], system: System) -> Text {
    let unit = unit_of(phases.iter().map(|row| [row.before_ms, row.after_ms]));
    let row = |moved: &Moved| {
        let phase = moved.phase.in_words(system).to_owned();
        vec![phase, unit.number(moved.before_ms), unit.number(moved.after_ms), change(unit, moved.change_ms)]
    };
    let [before, after, change] = ["before", "after", "change"].map(|heading| of_unit(heading, unit));
    let heading = ["mean time of a job", &before, &after, &change];
    shortened(&heading, phases.iter().map(row).collect(), 1..4)
}

fn phase(phase: Option<Phase>, system: System) -> String {
    phase.map_or(UNKNOWN, |phase| phase.in_words(system)).to_owned()
}

/// The groups that lose most and those that gain most, then small ones together, then all jobs.
fn groups(what: &str, groups: &[DiffGroup], all: &DiffGroup, system: System) -> Text {
    let ranked = ranked(&groups.iter().map(|group| (group.jobs, Some(group.change_ms.value))).collect::<Vec<_>>());
    let at = |places: &[usize]| places.iter().filter_map(|&place| groups.get(place)).collect::<Vec<_>>();
    let (shown, small) = (at(&ranked.shown), together(&at(&ranked.small), ranked.floor));
    let rows = || shown.iter().copied().chain(&small).chain([all]);
    let unit = unit_of(rows().map(|row| [row.before_ms, row.after_ms]));
    let row = |group: &DiffGroup| {
        vec![
            group.group.clone(),
            count(group.jobs),
            count(group.slower),
            count(group.faster),
            unit.number(group.before_ms),
            unit.number(group.after_ms),
            change(unit, group.change_ms),
            signed(unit, group.through_ms),
            phase(group.through, system),
        ]
    };
    let [before, after, change, through] = HEADINGS.map(|heading| of_unit(heading, unit));
    let heading = [what, "jobs", "slower", "faster", &before, &after, &change, &through, "in phase"];
    let more = match ranked.between {
        0 => String::new(),
        1 => "1 group between these is left out; `--json` prints it\n".to_owned(),
        between => format!("{} groups between these are left out; `--json` prints them\n", count(between as u64)),
    };
    Text::from("\n") + table(&heading, rows().map(row).collect(), 1..8) + more
}

/// Small groups as one; `None` if there are none.
fn together(groups: &[&DiffGroup], floor: u64) -> Option<DiffGroup> {
    let jobs: u64 = groups.iter().map(|group| group.jobs).sum();
    let mean = |of: fn(&DiffGroup) -> f64| {
        groups.iter().map(|group| of(group) * group.jobs as f64).sum::<f64>() / jobs.max(1) as f64
    };
    let name = match groups {
        [] => return None,
        [_] => format!("1 with fewer than {floor} jobs"),
        groups => format!("{} with fewer than {floor} jobs", count(groups.len() as u64)),
    };
    Some(DiffGroup {
        group: name,
        jobs,
        slower: groups.iter().map(|group| group.slower).sum(),
        faster: groups.iter().map(|group| group.faster).sum(),
        before_ms: mean(|group| group.before_ms),
        after_ms: mean(|group| group.after_ms),
        change_ms: Change { value: mean(|group| group.change_ms.value), low: None, high: None },
        through: None,
        through_ms: 0.0,
    })
}

/// The most jobs that get slower, and the most that get faster, in a table.
const MOST_CHANGED: usize = 10;

fn changed(heading: &str, changed: &[&Changed], system: System) -> Text {
    if changed.is_empty() {
        return Text::default();
    }
    let text = |text: &Option<String>| text.as_deref().unwrap_or(UNKNOWN).to_owned();
    let unit = unit_of(changed.iter().map(|row| [row.before_ms, row.after_ms]));
    let row = |job: &&Changed| {
        vec![
            job.job_id.clone(),
            text(&job.user),
            text(&job.queue),
            job.size.to_owned(),
            unit.number(job.before_ms),
            unit.number(job.after_ms),
            signed(unit, job.after_ms - job.before_ms),
            signed(unit, job.through_ms),
            phase(job.through, system),
        ]
    };
    let [before, after, change, through] = HEADINGS.map(|heading| of_unit(heading, unit));
    let heading = [heading, "user", system.says("queue"), "size", &before, &after, &change, &through, "in phase"];
    let more = match changed.len().saturating_sub(MOST_CHANGED) {
        0 => String::new(),
        more => format!("{} more; `--json` and `--csv` print all\n", of_jobs(more as u64)),
    };
    Text::from("\n") + table(&heading, changed.iter().take(MOST_CHANGED).map(row).collect(), 4..8) + more
}
