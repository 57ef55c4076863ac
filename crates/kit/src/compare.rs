//! Replays policies on the same jobs and draws.

use resched_analysis::{Population, Run, Summary};
use resched_replay::{Error, Setup, Source, World};

use crate::candidate::Candidate;
use crate::table::{Row, Table};

/// Replays policies on the same jobs, once for each of `seeds` seeds, beginning with that of `setup`. In each seed, all policies see the same
/// run times and places, and the numbers are over the jobs that count under all of them. The table compares each policy with the first.
///
/// # Errors
/// Errors of the source, a policy or the engine; [`Error::Request`] without a policy or a seed.
pub fn compare(source: &Source, setup: &Setup, seeds: u64, candidates: &[Candidate]) -> Result<Table, Error> {
    if seeds == 0 || candidates.is_empty() {
        let problem = format!("expected at least 1 seed and 1 policy, found {seeds} and {}", candidates.len());
        return Err(Error::Request(problem));
    }
    let first = World::open(source, setup.clone())?;
    let mut found: Vec<Vec<Summary>> = candidates.iter().map(|_| Vec::new()).collect();
    for number in 0..seeds {
        let world = first.with_seed(setup.seed.saturating_add(number));
        let runs = candidates.iter().map(|candidate| {
            let run = candidate.replay(&world, source.engine())?;
            Ok(Run::of_rows(run.info, run.tables))
        });
        let mut runs = runs.collect::<Result<Vec<Run>, Error>>()?;
        Population::share(&mut runs);
        for (found, run) in found.iter_mut().zip(&runs) {
            found.push(Summary::of(run));
        }
    }
    let baseline = found.first().map_or(&[][..], Vec::as_slice);
    let rows = candidates.iter().zip(&found).map(|(candidate, found)| Row::of(candidate.label(), found, baseline));
    Ok(Table { rows: rows.collect() })
}
