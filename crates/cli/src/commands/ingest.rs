//! `resched ingest`: turns source logs into a trace.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::ValueEnum;
use resched_ingest::formats::mapped::Map;
use resched_ingest::tables::unfinished;
use resched_ingest::{Options, Part, TaskMaker, ingest, split, suggest_map};
use resched_replay::Threads;
use resched_tables::clock::Zone;
use resched_tables::store::MANIFEST;
use resched_tables::toml_file::explain_toml;
use resched_tables::whole;
use resched_workload::synthesise::Rules;
use serde::Serialize;

use super::engine::{DaskArgs, ProgramArgs};
use super::ingest_steps;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::out::ForceArg;
use crate::output::{print_as_it_is, print_message};
use crate::progress::IngestProgress;
use crate::written::{Written, print_explained};

/// Turn job histories, event logs, job lists or the Google and Alibaba cluster traces into a trace.
///
/// The Google and Alibaba tables may be larger than memory. If you interrupt their ingest, finished work stays in a hidden folder
/// beside the trace. Run the same command again to resume.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched ingest /var/log/hadoop/history/done --out T\n  resched ingest sacct.csv events.json.gz --out T --force\n  resched ingest clusterdata-2011-2 --out G\n  resched ingest s3://logs/spark-history --out S\n  resched ingest --suggest jobs.csv > map.toml\n  resched ingest jobs.csv --map map.toml --out M"
)]
pub(crate) struct Args {
    /// Files or folders to read, `s3://bucket/prefix` in an object store, or `-` for standard input with --format. Folders are searched
    /// recursively; gzip and zstd are unpacked.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The folder to write the trace to. An earlier trace there is replaced.
    #[arg(long, value_name = "TRACE", required_unless_present = "suggest")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Write one trace for each cluster, in separate folders inside TRACE. Histories are read twice to distinguish clusters.
    #[arg(long, conflicts_with_all = ["format", "engine"])]
    split: bool,
    /// Treat all jobs as jobs of one cluster, even if they share no machine or ran under two masters at once.
    #[arg(long, conflicts_with = "split")]
    merge: bool,
    /// The format of all files. `auto` detects it from each file's content.
    #[arg(long, default_value = "auto")]
    format: String,
    /// The map of a table (TOML): which column of a CSV, JSON or Parquet file is which field of a job. All files are such tables.
    #[arg(long, value_name = "MAP.toml", conflicts_with_all = ["format", "split", "engine"])]
    map: Option<PathBuf>,
    /// Print a first map of the table PATH, from the names of its columns and its first rows, and ingest nothing.
    #[arg(long, conflicts_with_all = ["map", "out", "split"])]
    suggest: bool,
    /// The time zone of times without one, such as those of `sacct`: `UTC`, an offset such as `+02:00`, or a place such as
    /// `Europe/Berlin`. By default UTC, which then counts as assumed.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    timezone: Option<Zone>,
    /// The cluster whose jobs to take, if a list by `sacct` has those of several in its column `Cluster`.
    #[arg(long, value_name = "NAME")]
    cluster_name: Option<String>,
    /// The columns of a list by `sacct` without a header, in their order, as `sacct --format` takes them: `JobID,Submit,Start,…`. Those
    /// that Open XDMoD asks for are known.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["split", "engine"])]
    fields: Option<String>,
    /// Print what each column was read from, what was made up, and what each count means. `--json` has this anyway.
    #[arg(long)]
    explain: bool,
    /// Keep all job and task counters, in the table `counters`.
    #[arg(long)]
    counters: bool,
    /// The rules for making tasks if the source has none (TOML). The trace's manifest lists all keys under `synthesiser`.
    #[arg(long, value_name = "RULES.toml")]
    tasks: Option<PathBuf>,
    /// The random seed for making tasks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads that read tables. Each needs about 100 MB of memory [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<Threads>,
    /// Where to read the Google and Alibaba tables.
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    engine: Engine,
    #[command(flatten)]
    dask: DaskArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// The size of a part of a table. A table that needs more than twice this size is written in parts.
    #[arg(long, value_name = "BYTES", hide = true)]
    partition_bytes: Option<NonZeroU64>,
    #[command(flatten)]
    format_args: FormatArgs,
}

/// Where the shards of tables are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// On the cores of this machine.
    Local,
    /// On a Dask cluster. Its workers must see the same files under the same paths. Needs Python with the package `distributed`.
    Dask,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(target) = args.out.as_deref().filter(|_| !args.suggest) else { return print_suggested(&args.paths) };
    let options = Options {
        format: (args.format != "auto").then(|| args.format.clone()),
        counters: args.counters,
        merge: args.merge,
        tasks: Some(TaskMaker::synthesiser(&rules(args)?, args.seed)?),
        threads: args.threads.map(Threads::count),
        partition_bytes: args.partition_bytes,
        timezone: args.timezone,
        cluster_name: args.cluster_name.clone(),
        fields: args.fields.clone(),
        map: args.map.as_deref().map(Map::read).transpose()?,
    };
    let out = if args.split { args.force.plain(target) } else { args.force.out(target, MANIFEST) };
    if args.engine == Engine::Dask {
        return ingest_steps::on_dask(
            &args.paths,
            &out,
            &options,
            (&args.dask, &args.program),
            (args.explain, args.format_args),
        );
    }
    if args.split {
        let parts = split(&args.paths, &out, &options, &mut IngestProgress::new())?;
        return print_parts(&parts, target, args.explain, args.format_args);
    }
    let manifest = ingest(&args.paths, &out, &options, &mut IngestProgress::new());
    if manifest.is_err() {
        report_kept();
    }
    print_explained(&manifest?, target, args.explain, args.format_args)
}

/// Prints a first map of a table.
fn print_suggested(paths: &[PathBuf]) -> Result<(), Failure> {
    let [path] = paths else {
        return Err(Failure::request(format!("--suggest: expected one table, found {} paths; name one", paths.len())));
    };
    print_as_it_is(&suggest_map(path)?)
}

/// If an ingest ended early, prints where its finished work is kept.
pub(crate) fn report_kept() {
    for folder in unfinished() {
        let path = folder.display();
        print_message(&format!(
            "finished work is kept in {path}; run the same command again to resume, or remove this folder"
        ));
    }
}

fn rules(args: &Args) -> Result<Rules, Failure> {
    let Some(path) = &args.tasks else { return Ok(Rules::default()) };
    let text = whole::text(path)
        .map_err(|error| Failure::request(format!("{}: cannot read the rules: {error}", path.display())))?;
    let explained = |error| explain_toml(&error, &text, &path.display().to_string(), "correct it");
    Ok(toml::from_str(&text).map_err(explained)?)
}

/// A part that could not be written, or the trace that was.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum PartAnswer<'a> {
    Written(Written<'a>),
    LeftOut { trace: String, error: String },
}

/// Prints what became of each cluster. An error if there is no trace.
fn print_parts(parts: &[Part], out: &std::path::Path, explain: bool, format: FormatArgs) -> Result<(), Failure> {
    let reported = |Part { name, manifest }: &'_ Part| match manifest {
        Ok(manifest) => Written::of(manifest, &out.join(name)).in_words(explain),
        Err(error) => format!("  left out: {name}: {error}\n"),
    };
    let words: String = parts.iter().filter(|part| part.manifest.is_ok()).map(reported).collect();
    let lost: String = parts.iter().filter(|part| part.manifest.is_err()).map(reported).collect();
    if words.is_empty() {
        return Err(Failure::work(format!("no trace could be written:\n{lost}")));
    }
    let rows: Vec<PartAnswer<'_>> = parts
        .iter()
        .map(|Part { name, manifest }| match manifest {
            Ok(manifest) => PartAnswer::Written(Written::of(manifest, &out.join(name))),
            Err(error) => PartAnswer::LeftOut { trace: out.join(name).display().to_string(), error: error.to_string() },
        })
        .collect();
    format.print_lines(&rows, || words + &lost)
}
