//! `resched inspect`: shows what a trace holds.

use std::path::PathBuf;

use resched_analysis::inspect::{Inspection, inspect};
use resched_trace::store::Trace;

use crate::failure::Failure;
use crate::output::{count, duration, print, print_json, table};

/// Show what a trace holds: counts, time span, what ingest left out, and oddities.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The trace folder.
    trace: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let inspection = inspect(&Trace::open(&args.trace)?)?;
    if args.json { print_json(&inspection) } else { print(&told(&inspection)) }
}

fn told(found: &Inspection) -> String {
    let mut rows = vec![
        row("jobs", &count(found.jobs)),
        row("time span", &duration(found.span_ms.map(|ms| ms as f64))),
        row("machines", &count(found.nodes)),
        row("splits", &count(found.splits)),
        row("map input", &format!("{} bytes", count(found.map_input_bytes))),
    ];
    let tasks = &found.tasks;
    for (kind, n) in [
        ("map", tasks.map),
        ("reduce", tasks.reduce),
        ("setup", tasks.setup),
        ("cleanup", tasks.cleanup),
        ("other", tasks.other),
    ] {
        rows.push(row(&format!("tasks, {kind}"), &count(n)));
    }
    let locality = &found.locality;
    for (level, n) in
        [("node", locality.node), ("rack", locality.rack), ("off", locality.off), ("unknown", locality.unknown)]
    {
        rows.push(row(&format!("successful maps, {level}"), &count(n)));
    }
    let counted = [
        ("job", &found.job_outcome),
        ("attempts", &found.attempts),
        ("left out or mended", &found.skipped),
        ("odd", &found.oddities),
    ];
    for (what, counts) in counted {
        rows.extend(counts.iter().map(|(name, &n)| row(&format!("{what}: {name}"), &count(n))));
    }
    let mut text = table(&["what", "how many"], rows, 1..2);
    if !found.made.is_empty() {
        let made: Vec<&str> = found.made.keys().map(String::as_str).collect();
        text += &format!("\nmade, not observed: {}\n", made.join(", "));
    }
    for (table, rule) in &found.absent {
        text += &format!("absent: {table}: {rule}\n");
    }
    for source in &found.sources {
        text += &format!("source: {} ({}, {} bytes)\n", source.path, source.format, count(source.bytes));
    }
    text
}

fn row(what: &str, how_many: &str) -> Vec<String> {
    vec![what.to_owned(), how_many.to_owned()]
}
