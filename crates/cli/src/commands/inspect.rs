//! `resched inspect`: shows what a trace holds.

use std::path::PathBuf;

use resched_analysis::runs::inspect::{Inspection, Powers, inspect};
use resched_tables::store::{Source, Trace};
use resched_tables::words::counted;

use crate::failure::Failure;
use crate::format::{FormatArgs, values_of};
use crate::output::{Text, bars, count, duration, table};

/// Show the content of a trace: counts, time span, records that ingest left out, and oddities.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched inspect T\n  resched inspect T --all-sources\n  resched inspect T --csv")]
pub(crate) struct Args {
    /// The trace folder.
    trace: PathBuf,
    /// List all source files, not only the first ones.
    #[arg(long)]
    all_sources: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// The most source files that are named unless all are asked for.
const MOST_SOURCES: usize = 5;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let inspection = inspect(&Trace::open(&args.trace)?)?;
    args.format.print(&inspection, &values_of(&inspection)?, || as_text(&inspection, args.all_sources))
}

fn as_text(found: &Inspection, all_sources: bool) -> Text {
    let system = found.system.unwrap_or_default();
    let [node, rack, off] = system.levels();
    let mut rows = vec![
        row("jobs", &count(found.jobs)),
        row("time span", &duration(found.span_ms.map(|ms| ms as f64))),
        row(system.says("machines"), &count(found.nodes)),
    ];
    // Slurm and batch systems have no maps: rows about them would be zeros that say nothing. Other systems say that they have none.
    let asks_for_cpus = system.asks_for_cpus();
    let has_maps = found.tasks.map + found.tasks.reduce > 0;
    let is_about_maps = has_maps || !asks_for_cpus;
    if is_about_maps || found.splits > 0 {
        rows.push(row("splits", &count(found.splits)));
    }
    if is_about_maps || found.map_input_bytes > 0 {
        rows.push(row("map input", &format!("{} bytes", count(found.map_input_bytes))));
    }
    let asks = &found.asks;
    let shares =
        [("CPUs", asks.cpus), ("GPUs", asks.gpus), ("several nodes", asks.several_nodes), ("a time limit", asks.limit)];
    let asking = shares.into_iter().filter(|(_, jobs)| *jobs > 0);
    rows.extend(asking.map(|(what, jobs)| row(&format!("jobs that ask for {what}"), &count(jobs))));
    let tasks = &found.tasks;
    for (kind, n) in [
        ("map", tasks.map),
        ("reduce", tasks.reduce),
        ("setup", tasks.setup),
        ("cleanup", tasks.cleanup),
        ("master", tasks.master),
        ("other", tasks.other),
    ] {
        if is_about_maps || n > 0 {
            rows.push(row(&if is_about_maps { format!("tasks, {kind}") } else { "tasks".to_owned() }, &count(n)));
        }
    }
    let locality = &found.locality;
    for (level, n) in [(node, locality.node), (rack, locality.rack), (off, locality.off), ("unknown", locality.unknown)]
    {
        if is_about_maps {
            rows.push(row(&format!("{}, {level}", system.says("successful maps")), &count(n)));
        }
    }
    let by_name = [
        ("job", &found.job_outcome),
        ("attempts", &found.attempts),
        ("left out or mended", &found.skipped),
        ("odd", &found.oddities),
    ];
    for (what, counts) in by_name {
        rows.extend(counts.iter().map(|(name, &n)| row(&format!("{what}: {name}"), &count(n))));
    }
    let mut text = table(&["what", "how many"], rows, 1..2) + &shapes(found);
    if !found.made.is_empty() {
        let made: Vec<&str> = found.made.keys().map(String::as_str).collect();
        text += &format!("\nmade, not observed: {}\n", made.join(", "));
        for (column, &rows) in &found.made_rows {
            text += &format!("made in part: {column}: {}\n", counted(rows, "row"));
        }
    }
    if let Some(system) = found.system {
        text += &format!("system: {}\n", system.in_words());
    }
    if let Some(words) = found.amounts.in_words() {
        text += &format!("unit: {words}\n");
    }
    for path in &found.unrecognised {
        text += &format!("not recognised: {path}\n");
    }
    for (table, rule) in &found.absent {
        text += &format!("absent: {table}: {rule}\n");
    }
    text + &sources(found, if all_sources { usize::MAX } else { MOST_SOURCES })
}

/// The source files, at most so many of them, and how many there are more.
fn sources(found: &Inspection, most: usize) -> String {
    let line =
        |source: &Source| format!("source: {} ({}, {} bytes)\n", source.path, source.format, count(source.bytes));
    let shown: String = found.sources.iter().take(most).map(line).collect();
    match found.sources.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}{} more sources; `--all-sources` and `--json` print all\n", count(more as u64)),
    }
}

/// The arrivals of the jobs, their sizes and the run times of their tasks as lines of bars.
fn shapes(found: &Inspection) -> String {
    let arrivals = &found.arrivals;
    let most = arrivals.counts.iter().max().copied().unwrap_or(0);
    let of_arrivals = format!("{} per bar, at most {}", duration(Some(arrivals.step_ms as f64)), counted(most, "job"));
    let power = |exponent: u32| 2_f64.powi(exponent.cast_signed());
    let lines = [
        ("arrivals", bars(&arrivals.counts), of_arrivals),
        powers("tasks of a job", &found.job_tasks, |exponent| format!("{:.0}", power(exponent))),
        powers("CPUs of a job", &found.job_cpus, |exponent| format!("{:.0}", power(exponent))),
        powers("run times of tasks", &found.task_runs, |exponent| duration(Some(power(exponent)))),
    ];
    let shown = lines.iter().filter(|(_, bars, _)| !bars.trim().is_empty());
    let shown: String = shown.map(|(what, bars, scale)| format!(" {what:18} {bars}  {scale}\n")).collect();
    if shown.is_empty() { shown } else { format!("\n{shown}") }
}

/// A line of bars for numbers by powers of two.
fn powers(what: &'static str, of: &Powers, number: impl Fn(u32) -> String) -> (&'static str, String, String) {
    let (Some((&first, _)), Some((&last, _))) = (of.0.first_key_value(), of.0.last_key_value()) else {
        return (what, String::new(), String::new());
    };
    let counts: Vec<u64> = (first..=last).map(|exponent| of.0.get(&exponent).copied().unwrap_or(0)).collect();
    (
        what,
        bars(&counts),
        format!("from {} to {}; each bar is twice as wide as the one before", number(first), number(last + 1)),
    )
}

fn row(what: &str, how_many: &str) -> Vec<String> {
    vec![what.to_owned(), how_many.to_owned()]
}
