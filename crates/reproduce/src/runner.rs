//! Replays all cases of some experiments, several at once, and makes their rows and figures.

use resched_analysis::Run;
use resched_replay::Threads;
use resched_report::Figure;

use crate::case::Case;
use crate::claims_figure::claims_figures;
use crate::replays::Replays;
use crate::{Band, Error, Experiment, Row};

/// An experiment with its results.
pub struct Reproduced {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its bands.
    pub bands: Vec<Band>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// The number of seeds that was asked for. Points of bands may have fewer, and cases whose jobs are drawn have more.
    pub seeds: u64,
}

/// Replays `experiments` with the seeds 1 to `seeds`. `progress` first receives the number of replays, and then the end of each,
/// with the name of the experiment. Figures are made only with `drawn`.
///
/// # Errors
/// The first error in the order of experiments, cases and seeds.
pub fn reproduce(
    experiments: &[&'static Experiment],
    seeds: u64,
    threads: Threads,
    drawn: bool,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<Reproduced>, Error> {
    let cases = experiments.iter().map(|experiment| (experiment.cases)()).collect::<Result<Vec<Vec<Case>>, Error>>()?;
    let seeds = seeds.max(1);
    let work: Vec<Work<'_>> = experiments
        .iter()
        .zip(&cases)
        .flat_map(|(experiment, cases)| cases.iter().map(move |case| (*experiment, case)))
        .flat_map(|(experiment, case)| (1..=case.seeds(seeds)).map(move |seed| Work { experiment, case, seed }))
        .collect();
    progress(Progress::Begin(work.len() as u64));
    let replay = |Work { experiment, case, seed }: &Work<'_>| {
        let run = case.replay(experiment.name, *seed);
        progress(Progress::Done(experiment.name));
        run
    };
    let mut runs = threads.in_order(&work, replay)?.into_iter();
    let mut all = Vec::new();
    for (experiment, cases) in experiments.iter().zip(&cases) {
        let of_case = |case: &Case| runs.by_ref().take(case.seeds(seeds) as usize).collect();
        let runs: Vec<Vec<Run>> = cases.iter().map(of_case).collect();
        let replays = Replays { cases, runs: &runs };
        let mut rows = (experiment.rows)(&replays);
        rows.iter_mut().for_each(|row| row.experiment = experiment.name);
        let mut bands = (experiment.bands)(&replays);
        bands.iter_mut().flat_map(|band| &mut band.points).for_each(|(_, row)| row.experiment = experiment.name);
        let figures = if drawn { figures(experiment, &replays, &rows, &bands)? } else { Vec::new() };
        all.push(Reproduced { experiment, rows, bands, figures, seeds });
    }
    Ok(all)
}

/// The figures of an experiment: those that follow the paper's, its claims, and its bands.
fn figures(
    experiment: &'static Experiment,
    replays: &Replays<'_>,
    rows: &[Row],
    bands: &[Band],
) -> Result<Vec<Figure>, Error> {
    let mut figures = (experiment.figures)(replays)?;
    figures.extend(claims_figures(experiment.name, rows)?);
    for band in bands {
        figures.extend(band.figure()?);
    }
    Ok(figures)
}

/// The progress that [`reproduce`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The number of all replays.
    Begin(u64),
    /// A replay of that experiment is done.
    Done(&'a str),
}

/// One replay.
struct Work<'a> {
    experiment: &'static Experiment,
    case: &'a Case,
    seed: u64,
}
