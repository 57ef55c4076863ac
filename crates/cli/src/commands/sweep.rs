//! `resched sweep`: replays policies × parameters × worlds × seeds and reports which differences are real.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Subcommand, ValueEnum};
use resched_analysis::statistics::sign::Level;
use resched_replay::Threads;
use resched_sweep::{
    CELLS, Cell, CellStore, Location, MARKER, MOST_SEEDS, Merged, Plan, Progress, Replaying, SweepFile, carry_out, size,
};
use resched_tables::store::{FolderLock, Out, OwnFiles, Scratch, is_hidden};
use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use super::engine;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::out::{ForceArg, report_replaced};
use crate::output::{Text, TimeUnit, count, duration, print, print_message, table};
use crate::progress::SweepProgress;
use crate::threads::ThreadsArg;
use crate::world_args::SiteArg;

/// Replay policies × parameters × worlds × seeds, and report which differences are real.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched sweep traces/sweeps/delay-D.toml --out S\n  resched sweep traces/sweeps/coupling.toml --out S --dry-run"
)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    all: All,
}

/// Arguments of a whole sweep.
#[derive(Debug, clap::Args)]
struct All {
    /// The sweep file (TOML).
    #[arg(value_name = "SWEEP.toml", required = true)]
    file: Option<PathBuf>,
    /// The folder of the sweep. Cells that are done there are not replayed again.
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    site: SiteArg,
    #[command(flatten)]
    cells: CellsArg,
    #[command(flatten)]
    kept: Kept,
    /// Where to replay the cells.
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    engine: Engine,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    check: CheckArg,
    /// Only print the cells and an estimate of the time.
    #[arg(long)]
    dry_run: bool,
    /// Add seeds until the 95 % interval of each setting's mean extends at most this share from the mean, for example 2%.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    precision: Option<f64>,
    /// How to test whether each setting stays better or worse than the baseline if unknown values vary [default: the key `robust` of the
    /// sweep file, or off].
    #[arg(long, value_name = "full|quick|off")]
    robust: Option<Level>,
    /// The largest number of seeds that --precision may use.
    #[arg(long, default_value_t = 200, requires = "precision", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    most_seeds: u64,
    #[command(flatten)]
    dask: engine::DaskArgs,
    #[command(flatten)]
    array: engine::ArrayArgs,
    #[command(flatten)]
    program: engine::ProgramArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// Where the results of cells go.
#[derive(Debug, clap::Args)]
struct Kept {
    /// The place for the results of cells, instead of the sweep's folder. It is a folder that all workers see, or an object
    /// store (s3://bucket/prefix). Credentials come from the environment.
    #[arg(long, value_name = "PLACE", value_parser = PathBufValueParser::new().try_map(Location::new))]
    results: Option<Location>,
}

/// Whether replays are checked.
#[derive(Debug, Clone, Copy, clap::Args)]
struct CheckArg {
    /// Check each replay against rules that always hold, such as that no node is overfull. A broken rule ends the command with status 1.
    /// Cells that are done are not replayed, so they are not checked.
    #[arg(long)]
    check: bool,
}

/// How many cells a sweep may have.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct CellsArg {
    /// The largest number of cells that the sweep may have [default: 1000000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    most_cells: Option<u64>,
}

impl CellsArg {
    /// The sweep file with this limit.
    pub(super) fn limit(self, file: SweepFile) -> SweepFile {
        file.up_to_cells(self.most_cells)
    }
}

/// Where cells are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// On the cores of this machine.
    Local,
    /// On a Dask cluster. Needs Python with the package `distributed`.
    Dask,
    /// In a Slurm array. Writes a batch script; --submit also submits it.
    Slurm,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check the sweep and write its cells to DIR/sweep.json.
    Plan {
        /// The sweep file (TOML).
        #[arg(value_name = "SWEEP.toml")]
        file: PathBuf,
        /// The folder of the sweep.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        site: SiteArg,
        #[command(flatten)]
        cells: CellsArg,
        #[command(flatten)]
        kept: Kept,
    },
    /// Replay one or more cells of a plan. Cells that are done are skipped.
    Cell {
        /// The plan (sweep.json), or the folder or address that holds it.
        #[arg(long, value_name = "PLACE", value_parser = PathBufValueParser::new().try_map(manifest))]
        manifest: Location,
        /// The number of the first cell, counted from 0.
        #[arg(long)]
        index: usize,
        /// The number of cells to replay.
        #[arg(long, default_value_t = 1)]
        count: usize,
        #[command(flatten)]
        threads: ThreadsArg,
        #[command(flatten)]
        check: CheckArg,
    },
    /// Make the tables and figures of a sweep. All its cells must be done.
    Merge {
        /// The folder of the sweep.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        format: FormatArgs,
        #[command(flatten)]
        force: ForceArg,
    },
}

/// Reads `2%` or `0.02`.
fn share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let found = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    found
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "expected a share between 0 and 1, for example 2% or 0.02".to_owned())
}

/// The folder or address of the plan. `path` is that, or the path of the plan itself.
fn manifest(path: PathBuf) -> Result<Location, String> {
    let named = path.file_name().is_some_and(|name| name == MARKER);
    Location::new(path.parent().filter(|_| named).unwrap_or(&path).to_path_buf())
}

/// The folder of a sweep as a location.
fn folder(dir: &Path) -> Location {
    Location::Folder(std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf()))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.verb {
        Some(Verb::Plan { file, out, site, cells, kept }) => {
            let plan = planned(file, site, *cells, kept)?;
            let _lock = claim(&out.into(), MARKER, &[])?;
            plan.write(out)?;
            print(format!("{}: {}\n", out.join(MARKER).display(), of_cells(&plan)))
        }
        Some(Verb::Cell { manifest, index, count, threads, check }) => {
            cells(manifest, *index, *count, Replaying { threads: threads.get(), check: check.check })
        }
        Some(Verb::Merge { dir, format, force }) => {
            let plan = Plan::read(&folder(dir))?;
            let _lock = FolderLock::inside(dir)?;
            merge(plan, &force.plain(dir), *format, Threads::default())
        }
        None => all(&args.all),
    }
}

/// The plan of a sweep file.
fn planned(path: &Path, site: &SiteArg, cells: CellsArg, kept: &Kept) -> Result<Plan, Failure> {
    let mut plan = Plan::new(&cells.limit(site.read(path)?))?;
    plan.results.clone_from(&kept.results);
    Ok(plan)
}

/// Locks a folder for a result. The folder must be empty or hold an earlier result, which has the file `marker`. An interrupted
/// result has only its cells. `files` are those that will be written; none of them may be somebody else's.
pub(super) fn claim(out: &Out, marker: &str, files: &[&str]) -> Result<FolderLock, Failure> {
    let Out { path, force } = out;
    let is_other = |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|entry| !is_hidden(&entry.file_name()));
    let unreadable = |error: std::io::Error| {
        Failure::request(format!("{}: cannot read this folder ({error}); name another --out", path.display()))
    };
    let is_empty = !path.exists() || path.is_dir() && !fs::read_dir(path).map_err(unreadable)?.any(is_other);
    // The cells of a sweep or a search may stay when its plan is gone; the probes of a size are never beside them.
    let has_cells = marker != size::MARKER && path.join(CELLS).is_dir();
    if !is_empty && !path.join(marker).is_file() && !has_cells {
        let problem =
            "expected a new folder or the folder of an earlier sweep, found something else; name another --out";
        return Err(Failure::request(format!("{}: {problem}", path.display())));
    }
    let lock = FolderLock::inside(path)?;
    let own = OwnFiles::open(out, files)?;
    if *force {
        report_replaced(path, &own.in_the_way(files.iter().copied()));
    }
    Ok(lock)
}

fn all(args: &All) -> Result<(), Failure> {
    let Some(file) = &args.file else { return Err(Failure::request("name a sweep file")) };
    let mut plan = planned(file, &args.site, args.cells, &args.kept)?;
    plan.robust = args.robust;
    let how = Replaying { threads: args.threads.get(), check: args.check.check };
    if args.dry_run {
        return dry_run(&plan, how);
    }
    let Some(out) = &args.out else { return Err(Failure::request("name a folder with --out")) };
    let target = args.force.plain(out);
    let _lock = claim(&target, MARKER, &Merged::FILES)?;
    let here = folder(out);
    loop {
        plan.write(out)?;
        match args.engine {
            Engine::Local => {
                let cells: Vec<&Cell> = plan.cells.iter().collect();
                work(&plan, &cells, &here, how)?;
            }
            Engine::Dask => engine::dask_cells(&plan, &here, how.check, &args.array, &args.dask, &args.program)?,
            Engine::Slurm => {
                return engine::slurm(&plan, out, (args.threads.asked(), how.check), &args.array, &args.program);
            }
        }
        match more_seeds(&plan, &here, args)? {
            Some(more) => plan = more,
            None => return merge(plan, &target, args.format, how.threads),
        }
    }
}

/// The plan with more seeds, if `--precision` needs them.
fn more_seeds(plan: &Plan, out: &Location, args: &All) -> Result<Option<Plan>, Failure> {
    let Some(share) = args.precision else { return Ok(None) };
    let merged = Merged::read(plan.clone(), &plan.store(out)?)?;
    let known = plan.seeds();
    let Some(needed) = merged.seeds_for(share) else { return Ok(None) };
    // At most four times as many at once: more seeds then give a better estimate of the spread.
    let seeds = needed.min(known.saturating_mul(4)).min(args.most_seeds as usize);
    if seeds <= known {
        print_message(&format!(
            "warning: after {known} seeds, at least one interval still extends more than {} % from its mean; raise --most-seeds",
            (share * 1e8).round() / 1e6
        ));
        return Ok(None);
    }
    Ok(Some(plan.with_seeds(seeds)?))
}

/// Replays cells on this machine behind a progress bar.
fn work(plan: &Plan, cells: &[&Cell], at: &Location, how: Replaying) -> Result<(), Failure> {
    let progress = SweepProgress::new(plan.results.as_ref().unwrap_or(at).to_string());
    Ok(carry_out(plan, cells, &plan.store(at)?, how, &|reported| match reported {
        Progress::Begin { cells, done } => progress.begin(cells, done),
        Progress::Done(cell) => progress.done(&cell.policy),
    })?)
}

fn cells(manifest: &Location, index: usize, count: usize, how: Replaying) -> Result<(), Failure> {
    let plan = Plan::read(manifest)?;
    let wanted: Vec<&Cell> = plan.cells.iter().skip(index).take(count).collect();
    if wanted.is_empty() {
        let found = plan.cells.len();
        return Err(Failure::request(format!(
            "--index {index}: the plan has {found} cells, counted from 0; name one of these"
        )));
    }
    work(&plan, &wanted, manifest, how)
}

/// A line of the ranking.
#[derive(Debug, Serialize)]
struct Ranked {
    /// Among the settings on the same source.
    rank: usize,
    /// The source and the cluster, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
    setting: String,
    policy: String,
    seeds: usize,
    metric: String,
    mean: f64,
    /// The ends of the 95 % interval over draws; null if no draw changes the mean, or there is one seed.
    low: Option<f64>,
    high: Option<f64>,
    /// How far these numbers can be trusted: the worst grade of `validity`.
    grade: Grade,
    /// What decides them, and whether it was observed.
    validity: Validity,
}

fn merge(plan: Plan, out: &Out, format: FormatArgs, threads: Threads) -> Result<(), Failure> {
    let dir = out.path.as_path();
    let files = OwnFiles::open(out, &Merged::FILES)?;
    let store = plan.store(&folder(dir))?;
    let merged = Merged::read(plan, &store)?.tested(threads)?;
    merged.write(files)?;
    store.sweep_up()?;
    let several = merged.places() > 1;
    let ranked: Vec<Ranked> = merged
        .ranking()
        .into_iter()
        .map(|(rank, group, found)| Ranked {
            rank,
            on: several.then(|| merged.place_name(group.place())),
            setting: group.label(),
            policy: group.policy.to_owned(),
            seeds: group.seeds(),
            metric: merged.file.metric().name.clone(),
            mean: found.value,
            low: group.shows_spread().then_some(found.low),
            high: group.shows_spread().then_some(found.high),
            grade: group.grade(),
            validity: group.validity(),
        })
        .collect();
    format.print(&ranked, &ranked, || ranking(&merged, &ranked, dir))
}

/// The settings, the best first, and where the page is.
fn ranking(merged: &Merged, ranked: &[Ranked], dir: &Path) -> Text {
    let metric = merged.file.metric();
    let unit = TimeUnit::of(ranked.iter().map(|row| row.mean));
    let shown = |value: f64| if metric.unit == "ms" { unit.show(value) } else { format!("{value:.4}") };
    let rows = ranked.iter().map(|row| {
        let numbers = [Some(row.mean), row.low, row.high].map(|value| value.map_or_else(|| "–".to_owned(), shown));
        let on = row.on.as_ref().map_or_else(String::new, |on| format!(" on {on}"));
        let names = [row.rank.to_string(), format!("{}{on}", row.setting), row.seeds.to_string()];
        names.into_iter().chain(numbers).collect()
    });
    let heading = ["rank", "setting", "seeds", &metric.name, "95 % over draws from", "to"];
    let sentences: Vec<String> = [merged.answer(), merged.without_effect()].concat();
    let sentences = sentences.iter().fold(String::from("\n"), |all, sentence| all + sentence + "\n");
    let page = dir.join("index.html");
    let open = format!("Open {} in a browser.\n", page.display());
    table(&heading, rows.collect(), 2..6) + &sentences + &caveats(&merged.validity()) + &open
}

/// The number of cells, in words.
fn of_cells(plan: &Plan) -> String {
    match plan.cells.len() {
        1 => "1 cell".to_owned(),
        cells => format!("{} cells", count(cells as u64)),
    }
}

/// Prints the cells and an estimate of their time. It replays one cell of each variant to measure it.
fn dry_run(plan: &Plan, how: Replaying) -> Result<(), Failure> {
    let threads = how.threads;
    let scratch = Scratch::new()?;
    let store = CellStore::open(&folder(scratch.path()))?;
    let mut rows = Vec::new();
    let mut total = 0.0;
    let mut seen: Vec<&str> = Vec::new();
    for cell in &plan.cells {
        if seen.contains(&cell.variant.as_str()) {
            continue;
        }
        seen.push(&cell.variant);
        let start = Instant::now();
        carry_out(plan, &[cell], &store, Replaying { threads: Threads::ONE, ..how }, &|_| {})?;
        let each = start.elapsed().as_secs_f64();
        let cells = plan.cells.iter().filter(|other| other.variant == cell.variant).count();
        total += each * cells as f64;
        rows.push(vec![cell.variant.clone(), count(cells as u64), duration(Some(each * 1e3))]);
    }
    let time = duration(Some(total * 1e3 / threads.count().get() as f64));
    let cells = of_cells(plan);
    let threads_in_words = if threads.count().get() == 1 { "thread" } else { "threads" };
    let about = format!("{cells}, about {time} on {threads} {threads_in_words}\n");
    print(table(&["variant", "cells", "one cell"], rows, 1..3) + about)
}
