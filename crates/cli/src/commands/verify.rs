//! `resched verify`: checks every file of a result against the hashes that were taken when it was written.

use std::path::{Path, PathBuf};

use resched_sweep::{CELLS, CellStore, Location, Plan};
use resched_tables::run;
use resched_tables::store::{MANIFEST, OwnFiles, Trace, Verified, verify};
use serde::Serialize;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::output::{Look, Text, count};

/// Check every file of traces, runs, sweeps and reports against the hashes that were taken when they were written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched verify T R reports/mine")]
pub(crate) struct Args {
    /// Folders of traces, runs, sweeps, searches, reports or reproductions, or folders of these.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

/// The markers of all kinds of results: the file, what it is, and how to make it again.
const KINDS: &[Kind] = &[
    (MANIFEST, "trace", "ingest the sources again"),
    (run::MARKER, "run", "replay the trace again"),
    (resched_sweep::MARKER, "plan of a sweep", "run the sweep again; undamaged cells are kept"),
    (OwnFiles::LIST, "files of a sweep or search", "run it again with --force; undamaged cells are kept"),
    (resched_report::MARKER, "report", "run `resched report` again with --force"),
    #[cfg(feature = "papers")]
    (resched_reproduce::MARKER, "reproduction", "run `resched reproduce` again with --force"),
];

/// A folder that was checked.
#[derive(Debug, Serialize)]
struct Checked {
    path: PathBuf,
    kind: &'static str,
    files: u64,
    bytes: u64,
    /// Whether another tool made it, so that it has no hashes.
    without_hashes: bool,
    damaged: Vec<Damage>,
    /// What to do about the damage; null if there is none.
    remedy: Option<String>,
}

#[derive(Debug, Serialize)]
struct Damage {
    file: String,
    problem: String,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut all = Vec::new();
    for path in &args.paths {
        let found = results_in(path)?;
        if found.is_empty() {
            let names: Vec<&str> = KINDS.iter().map(|(marker, ..)| *marker).collect();
            let expected = format!("expected the folder of a result (with {}), found none", names.join(", "));
            return Err(Failure::request(format!("{}: {expected}; name another", path.display())));
        }
        for (dir, kind) in found {
            all.push(check(&dir, kind)?);
        }
    }
    args.format.print_lines(&all, || all.iter().map(in_words).collect::<Text>())?;
    match all.iter().map(|checked| checked.damaged.len()).sum::<usize>() {
        0 => Ok(()),
        n => Err(Failure::work(format!(
            "{} damaged, changed or missing; the lines above say what to do",
            files(n as u64)
        ))),
    }
}

fn files(n: u64) -> String {
    format!("{} {}", count(n), if n == 1 { "file" } else { "files" })
}

type Kind = (&'static str, &'static str, &'static str);

/// The results in a folder, or in the folders directly inside it.
fn results_in(path: &Path) -> Result<Vec<(PathBuf, &'static Kind)>, Failure> {
    let of = |dir: &Path| -> Vec<(PathBuf, &'static Kind)> {
        KINDS.iter().filter(|(marker, ..)| dir.join(marker).is_file()).map(|kind| (dir.to_path_buf(), kind)).collect()
    };
    let mut found = of(path);
    let entries = std::fs::read_dir(path).map_err(|error| {
        Failure::request(format!("{}: cannot read the folder ({error}); name the folder of a result", path.display()))
    })?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    found.extend(folders.iter().flat_map(|dir| of(dir)));
    Ok(found)
}

fn check(dir: &Path, &(marker, kind, remedy): &Kind) -> Result<Checked, Failure> {
    let Verified { mut files, bytes, damaged, unlisted } = verify(dir, marker)?;
    let mut damaged: Vec<Damage> = damaged
        .into_iter()
        .map(|(file, problem)| Damage { file: dir.join(file).display().to_string(), problem })
        .collect();
    // Cells carry their hashes themselves. A search has no plan.
    let is_search = marker == OwnFiles::LIST && !dir.join(resched_sweep::MARKER).is_file();
    if damaged.is_empty() && (marker == resched_sweep::MARKER || is_search) {
        let (whole, broken) = cells(dir, !is_search)?;
        files += whole + broken.len() as u64;
        damaged.extend(broken);
    }
    let remedy = (!damaged.is_empty()).then(|| remedy.to_owned() + &sources(dir, marker));
    // The plan of a sweep has no files of its own.
    let without_hashes = unlisted && marker != resched_sweep::MARKER;
    Ok(Checked { path: dir.to_path_buf(), kind, files, bytes, without_hashes, damaged, remedy })
}

/// The whole cells of a sweep, which has a plan, or of a search, and the damaged ones.
fn cells(dir: &Path, has_plan: bool) -> Result<(u64, Vec<Damage>), Failure> {
    let here = Location::Folder(dir.to_path_buf());
    let (store, ids) = if has_plan {
        let plan = Plan::read(&here)?;
        (plan.store(&here)?, plan.cells.into_iter().map(|cell| cell.id).collect())
    } else {
        (CellStore::open(&here)?, names_of_cells(dir))
    };
    let (whole, damaged) = store.verify(&ids.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok((whole, damaged.into_iter().map(|(file, problem)| Damage { file, problem }).collect()))
}

/// The ids of the cells in a folder, in order.
fn names_of_cells(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir.join(CELLS)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut ids: Vec<String> = names.filter_map(|name| name.strip_suffix(".parquet").map(str::to_owned)).collect();
    ids.sort();
    ids
}

/// The files that a trace was made from.
fn sources(dir: &Path, marker: &str) -> String {
    match Trace::open(dir) {
        Ok(trace) if marker == MANIFEST => {
            let paths: Vec<&str> = trace.manifest().sources.iter().take(3).map(|source| source.path.as_str()).collect();
            let more = if trace.manifest().sources.len() > 3 { ", …" } else { "" };
            format!(": {}{more}", paths.join(", "))
        }
        _ => String::new(),
    }
}

fn in_words(checked: &Checked) -> Text {
    let Checked { path, kind, files: n, bytes, without_hashes, damaged, remedy } = checked;
    let state = match (damaged.len(), without_hashes) {
        (0, false) => Look::Good.on("whole"),
        (0, true) => Text::from("made by another tool, without hashes"),
        (n, _) => Look::Bad.on(&format!("{} damaged or changed", count(n as u64))),
    };
    let mut text =
        Text::from(format!("{}: {kind}, {}, {} bytes: ", path.display(), files(*n), count(*bytes))) + state + "\n";
    for Damage { file, problem } in damaged {
        text += &format!("  {file}: {problem}\n");
    }
    text + remedy.as_ref().map_or_else(String::new, |remedy| format!("  {remedy}\n"))
}
