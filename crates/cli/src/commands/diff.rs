//! `resched diff`: shows who gains and who loses from one run to another, and through which phase.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_analysis::Origin;
use resched_analysis::groups::ranked;
use resched_analysis::practical::Matters;
use resched_analysis::why::{Change, Changed, Diff, DiffGroup, Moved, Phase, Side, Why};
use resched_replay::runs_in;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::output::{TimeUnit, UNKNOWN, count, of_jobs, of_unit, shortened, table};
use crate::progress::spinner;
use crate::window_args::{Looked, WindowArgs, Within};

/// Show who gains and who loses from one run to another: jobs, users, queues and sizes, and through which phase.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  resched diff R/fifo R/fair                 two runs of one trace
  resched diff T R/fair                      what really ran, and a replay
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
    /// The relative change from which on a job counts as slower or faster. It must also be longer than a second.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    matters: Matters,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let spinner = spinner("diff");
    let pairs = pairs(&by_seed(&args.baseline)?, &by_seed(&args.run)?, args)?;
    let mut sides = [const { (String::new(), true) }; 2];
    let mut times = Vec::with_capacity(pairs.len());
    let mut looked: Option<Looked> = None;
    for (before, after) in pairs {
        let mut read = |dir: &Path, (label, has_reasons): &mut (String, bool)| {
            let mut why = Why::open(dir)?;
            // The window of the first run is that of all: it is on the clock of the trace.
            if looked.is_none() {
                let (covered, zone) = (why.covered(), args.window.zone());
                looked = args.window.span(covered)?.map(|span| Looked { span, covered, zone });
            }
            if let Some(Looked { span, zone, .. }) = looked {
                why.narrow(span, zone)?;
            }
            label.clone_from(&why.label);
            *has_reasons &= why.has_reasons;
            Ok::<_, Failure>(why.times())
        };
        let [first, second] = &mut sides;
        times.push((read(&before, first)?, read(&after, second)?));
    }
    // Two runs of one policy are told apart by their folders.
    if let [(first, _), (second, _)] = &mut sides
        && first == second
    {
        *first = format!("{first} ({})", args.baseline.display());
        *second = format!("{second} ({})", args.run.display());
    }
    let sides = sides.each_ref().map(|(label, has_reasons)| Side { label, has_reasons: *has_reasons });
    let diff = Diff::of(sides, &times, args.matters);
    spinner.finish_and_clear();
    let told = Told { diff: &diff, window: looked.map(Looked::within) };
    args.format.print(&told, &diff.changed, || in_words(&diff, looked))
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    diff: &'a Diff,
    /// The window of the submissions; null if it is all of the time.
    window: Option<Within>,
}

/// The runs in a folder by their seed; a trace has none.
fn by_seed(path: &Path) -> Result<BTreeMap<Option<u64>, PathBuf>, Failure> {
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
        return Err(Failure::request(format!(
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
    args: &Args,
) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    if let (1, 1) = (first.len(), second.len()) {
        return Ok(first.values().cloned().zip(second.values().cloned()).collect());
    }
    let pairs: Vec<(PathBuf, PathBuf)> =
        first.iter().filter_map(|(seed, dir)| Some((dir.clone(), second.get(seed)?.clone()))).collect();
    if pairs.is_empty() {
        return Err(Failure::request(format!(
            "{} and {}: expected runs of the same seeds, found none that both have; replay with the same --seed",
            args.baseline.display(),
            args.run.display()
        )));
    }
    Ok(pairs)
}

/// The comparison as sentences and tables.
fn in_words(diff: &Diff, looked: Option<Looked>) -> String {
    let mut text = format!("{} compared with {}, {}", diff.run, diff.baseline, of_jobs(diff.jobs));
    text += &looked.map_or_else(String::new, |looked| format!(" {}", looked.in_words()));
    text += &if diff.seeds > 1 { format!(", {} seeds\n", count(diff.seeds)) } else { "\n".to_owned() };
    text += &diff.sentences.iter().map(|sentence| format!("  {sentence}\n")).collect::<String>();
    text += &phases(&diff.phases);
    for (what, rows) in &diff.groups {
        text += &groups(what, rows, &diff.all);
    }
    let (slower, faster): (Vec<&Changed>, Vec<&Changed>) =
        diff.changed.iter().partition(|own| own.after_ms > own.before_ms);
    text + &changed("slower most", &slower) + &changed("faster most", &faster)
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

fn phases(phases: &[Moved]) -> String {
    let unit = unit_of(phases.iter().map(|row| [row.before_ms, row.after_ms]));
    let row = |own: &Moved| {
        let phase = own.phase.in_words().to_owned();
        vec![phase, unit.number(own.before_ms), unit.number(own.after_ms), change(unit, own.change_ms)]
    };
    let [before, after, change] = ["before", "after", "change"].map(|heading| of_unit(heading, unit));
    let heading = ["mean time of a job", &before, &after, &change];
    shortened(&heading, phases.iter().map(row).collect(), 1..4)
}

fn phase(phase: Option<Phase>) -> String {
    phase.map_or(UNKNOWN, Phase::in_words).to_owned()
}

/// The groups that lose most and those that gain most, then small ones together, then all jobs.
fn groups(what: &str, groups: &[DiffGroup], all: &DiffGroup) -> String {
    let ranked = ranked(&groups.iter().map(|own| (own.jobs, Some(own.change_ms.value))).collect::<Vec<_>>());
    let at = |places: &[usize]| places.iter().filter_map(|&place| groups.get(place)).collect::<Vec<_>>();
    let (shown, small) = (at(&ranked.shown), together(&at(&ranked.small), ranked.floor));
    let rows = || shown.iter().copied().chain(&small).chain([all]);
    let unit = unit_of(rows().map(|row| [row.before_ms, row.after_ms]));
    let row = |own: &DiffGroup| {
        vec![
            own.group.clone(),
            count(own.jobs),
            count(own.slower),
            count(own.faster),
            unit.number(own.before_ms),
            unit.number(own.after_ms),
            change(unit, own.change_ms),
            signed(unit, own.through_ms),
            phase(own.through),
        ]
    };
    let [before, after, change, through] = HEADINGS.map(|heading| of_unit(heading, unit));
    let heading = [what, "jobs", "slower", "faster", &before, &after, &change, &through, "in phase"];
    let more = match ranked.between {
        0 => String::new(),
        1 => "1 group between these is left out; `--json` prints it\n".to_owned(),
        between => format!("{} groups between these are left out; `--json` prints them\n", count(between as u64)),
    };
    format!("\n{}{more}", table(&heading, rows().map(row).collect(), 1..8))
}

/// Small groups as one; `None` if there are none.
fn together(groups: &[&DiffGroup], floor: u64) -> Option<DiffGroup> {
    let jobs: u64 = groups.iter().map(|own| own.jobs).sum();
    let mean = |of: fn(&DiffGroup) -> f64| {
        groups.iter().map(|own| of(own) * own.jobs as f64).sum::<f64>() / jobs.max(1) as f64
    };
    let name = match groups {
        [] => return None,
        [_] => format!("1 with fewer than {floor} jobs"),
        groups => format!("{} with fewer than {floor} jobs", count(groups.len() as u64)),
    };
    Some(DiffGroup {
        group: name,
        jobs,
        slower: groups.iter().map(|own| own.slower).sum(),
        faster: groups.iter().map(|own| own.faster).sum(),
        before_ms: mean(|own| own.before_ms),
        after_ms: mean(|own| own.after_ms),
        change_ms: Change { value: mean(|own| own.change_ms.value), low: None, high: None },
        through: None,
        through_ms: 0.0,
    })
}

/// The most jobs that get slower, and the most that get faster, in a table.
const MOST_CHANGED: usize = 10;

fn changed(heading: &str, changed: &[&Changed]) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let text = |text: &Option<String>| text.as_deref().unwrap_or(UNKNOWN).to_owned();
    let unit = unit_of(changed.iter().map(|row| [row.before_ms, row.after_ms]));
    let row = |own: &&Changed| {
        vec![
            own.job_id.clone(),
            text(&own.user),
            text(&own.queue),
            own.size.to_owned(),
            unit.number(own.before_ms),
            unit.number(own.after_ms),
            signed(unit, own.after_ms - own.before_ms),
            signed(unit, own.through_ms),
            phase(own.through),
        ]
    };
    let [before, after, change, through] = HEADINGS.map(|heading| of_unit(heading, unit));
    let heading = [heading, "user", "queue", "size", &before, &after, &change, &through, "in phase"];
    let more = match changed.len().saturating_sub(MOST_CHANGED) {
        0 => String::new(),
        more => format!("{} more; `--json` and `--csv` print all\n", of_jobs(more as u64)),
    };
    format!("\n{}{more}", table(&heading, changed.iter().take(MOST_CHANGED).map(row).collect(), 4..8))
}
