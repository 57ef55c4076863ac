//! `resched tune`: searches for the parameters that minimise an objective.

use std::path::{Path, PathBuf};

use resched_sweep::{Candidate, MeanInterval, Progress, TUNED, Tuned, tune};
use resched_tables::words;

use super::sweep::CellsArg;
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::out::ForceArg;
use crate::output::{Text, table};
use crate::progress::SweepProgress;
use crate::threads::ThreadsArg;
use crate::world_args::SiteArg;

/// The number of settings to print.
const SHOWN: usize = 15;

/// Search for the parameters that minimise an objective, by successive halving over seeds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched tune traces/sweeps/coupling-tune.toml --out S")]
pub(crate) struct Args {
    /// A sweep file (TOML) with a table [tune]: objective, bounds, candidates.
    #[arg(value_name = "SWEEP.toml")]
    file: PathBuf,
    /// The folder of the search. Cells that are done there are not replayed again.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    site: SiteArg,
    #[command(flatten)]
    cells: CellsArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let file = args.cells.limit(args.site.read(&args.file)?);
    let out = args.force.plain(&args.out);
    let _lock = super::sweep::claim(&out, TUNED, &[TUNED])?;
    let progress = SweepProgress::new(args.out.display().to_string());
    let tuned = tune(&file, &out, args.threads.get(), &|reported| match reported {
        Progress::Begin { cells, done } => progress.begin(cells, done),
        Progress::Done(cell) => progress.done(&cell.policy),
    })?;
    drop(progress);
    args.format.print(&tuned, &tuned.candidates, || in_words(&tuned, &args.out))
}

/// The best settings, and where the rest is.
fn in_words(tuned: &Tuned, out: &Path) -> Text {
    let mut metrics: Vec<&str> = Vec::new();
    if let Some(best) = tuned.candidates.first() {
        metrics.extend(best.relative.keys().map(String::as_str));
    }
    let row = |(number, found): (usize, &Candidate)| {
        let percent = |found: &MeanInterval| {
            let change = |ratio: f64| 100.0 * (ratio - 1.0);
            let ends = found
                .ends()
                .map(|(low, high)| format!(" ({} to {})", words::signed(change(low)), words::signed(change(high))));
            format!("{} %{}", words::signed(change(found.mean)), ends.unwrap_or_default())
        };
        let cells = [
            (number + 1).to_string(),
            found.policy.clone(),
            found.seeds.to_string(),
            format!("{:.4}", found.objective.mean),
            found.objective.ends().map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}")),
            if found.within_bounds { "" } else { "broken" }.to_owned(),
            if found.on_front { "front" } else { "" }.to_owned(),
        ];
        let relative = metrics.iter().map(|metric| found.relative.get(*metric).map_or_else(String::new, percent));
        cells.into_iter().chain(relative).collect()
    };
    let heading = ["rank", "policy", "seeds", "objective", "95 % interval", "bounds", ""];
    let heading: Vec<&str> = heading.into_iter().chain(metrics.iter().copied()).collect();
    let rows = tuned.candidates.iter().take(SHOWN).enumerate().map(row).collect();
    let end = heading.len();
    let about = format!(
        "{} settings, {} replays. Values are relative to {}. See {} for the rest.\n",
        tuned.candidates.len(),
        tuned.replays,
        tuned.baseline,
        out.join("candidates.csv").display(),
    );
    let intervals = tuned.intervals.map_or_else(String::new, |sentence| format!("{sentence}\n"));
    table(&heading, rows, 2..end) + &intervals + &caveats(&tuned.validity) + &about
}
