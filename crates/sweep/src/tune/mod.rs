//! `resched tune`: searches for the parameters that minimise an objective, by successive halving over seeds.
//!
//! All settings and the baseline see the same seeds. For each seed, the objective is relative to the baseline, so easy and hard
//! seeds weigh the same.
//!
//! | file | content |
//! |---|---|
//! | `candidates` | the settings to try |
//! | `score`, `objective` | the score of a setting with a seed |
//! | `halving` | the rounds |
//! | `search` | the state of the search |
//! | `found`, `output`, `page` | the outcome, its files, and its page |

mod candidates;
mod found;
mod halving;
mod objective;
mod output;
mod page;
mod score;
mod search;

use resched_replay::Threads;
use resched_tables::store::{Out, OwnFiles};

use self::candidates::{baseline, candidates};
use self::halving::successive_halving;
use self::search::Search;
use crate::Error;
use crate::cell::Cell;
use crate::cell_store::CellStore;
use crate::file::SweepFile;
use crate::interval::over_draws;
use crate::local::{OnProgress, carry_out};
use crate::location::Location;
use crate::source::SourcePath;

/// The file with the outcome of a search.
pub const MARKER: &str = "tuned.json";

pub use self::found::{Candidate, Tuned};

/// Searches as `[tune]` of the file says, and writes `tuned.json`, `candidates.csv`, a figure and `index.html` to the folder
/// `out`. Cells are
/// kept there, so a second call resumes an interrupted one. `progress` receives the cells of each round.
///
/// # Errors
/// [`Error::Request`] if the file has no `[tune]`, more than one source or world, or a wrong value; the errors of
/// [`carry_out`].
pub fn tune(file: &SweepFile, out: &Out, threads: Threads, progress: OnProgress<'_>) -> Result<Tuned, Error> {
    let wrong = |problem: &str| Error::Request(format!("{}: {problem}", file.copy.path.display()));
    let Some(section) = &file.tune else {
        return Err(wrong("there is no [tune]; add one with an objective"));
    };
    if file.sources.len() * file.clusters.len() > 1 || file.world.iter().any(|axis| axis.values.varies()) {
        return Err(wrong(
            "expected one workload or trace, one cluster and one value per key of [world]; tune for one world at a time",
        ));
    }
    let tried = candidates(file, section).map_err(|problem| wrong(&problem))?;
    let variant = file.variants.get(file.baseline).ok_or_else(|| wrong("there is no baseline"))?;
    let mut search = Search::new(file, section, baseline(variant), tried);
    let own_files = OwnFiles::open(out, &[MARKER, "candidates.csv", output::PAGE])?;
    let store = CellStore::open(&Location::Folder(out.path.clone()))?;
    let rounds = successive_halving(
        search.tried.len(),
        section.keep_one_of as usize,
        section.first_seeds,
        file.seeds.len() as u64,
        |alive, seeds| {
            let seeds = file.seeds.get(seeds.start as usize..seeds.end as usize).unwrap_or_default();
            let plan = search.plan(alive, seeds)?;
            let cells: Vec<&Cell> = plan.cells.iter().collect();
            carry_out(&plan, &cells, &store, threads.into(), progress)?;
            if seeds.first() == file.seeds.first() {
                search.judge(&plan);
            }
            for (cell, result) in cells.iter().zip(store.get_all(&cells)?) {
                search.learn(cell, result.ok_or_else(|| Error::Work(format!("cell {} is missing", cell.id)))?);
            }
            Ok::<_, Error>(search.scores(alive, seeds))
        },
    )?;
    let candidates = search.candidates(&rounds);
    let has_fixed_jobs = file.sources.iter().all(|source| matches!(source, SourcePath::Trace(_)));
    let intervals = over_draws(candidates.iter().map(|candidate| candidate.objective), has_fixed_jobs);
    let tuned = Tuned {
        name: file.name.clone(),
        baseline: search.baseline.policy.label(),
        candidates,
        intervals,
        replays: search.replayed.len() as u64,
        grade: search.validity().grade(),
        validity: search.validity(),
    };
    output::write(&tuned, section, own_files)?;
    store.sweep_up()?;
    Ok(tuned)
}
