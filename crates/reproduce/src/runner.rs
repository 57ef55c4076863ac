//! Replays all cases of some experiments, several at once, and makes their rows and figures.

use resched_analysis::Run;
use resched_replay::Threads;

use crate::case::Case;
use crate::{Error, Experiment, Row};

/// The replays of an experiment, by case and seed.
pub(crate) struct Replays<'a> {
    cases: &'a [Case],
    /// By case, a run for each seed, in the order of the seeds.
    runs: &'a [Vec<Run>],
}

impl Replays<'_> {
    /// The runs of a case, a seed each; none if there is no such case.
    pub(crate) fn of(&self, label: &str) -> &[Run] {
        let place = self.cases.iter().position(|case| case.label == label);
        place.and_then(|place| self.runs.get(place)).map_or(&[], Vec::as_slice)
    }

    /// A quantity of each run of a case; runs in which it is unknown are left out.
    pub(crate) fn each(&self, label: &str, of: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        self.of(label).iter().filter_map(of).collect()
    }

    /// A quantity of two cases, seed by seed.
    pub(crate) fn pairs(&self, first: &str, second: &str, of: impl Fn(&Run, &Run) -> Option<f64>) -> Vec<f64> {
        self.of(first).iter().zip(self.of(second)).filter_map(|(first, second)| of(first, second)).collect()
    }

    /// The runs of these cases with the first seed, for a figure.
    pub(crate) fn shown(&self, labels: &[&str]) -> Vec<Run> {
        labels.iter().filter_map(|label| self.of(label).first().cloned()).collect()
    }
}

/// A figure in the paper's own form.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name of its files, without extension.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

/// An experiment with what came of it.
pub struct Reproduced {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// What was compared.
    pub rows: Vec<Row>,
    /// What was drawn.
    pub figures: Vec<Figure>,
    /// How many seeds each case was replayed with.
    pub seeds: u64,
}

/// Replays `experiments` with the seeds 1 to `seeds`. `progress` is told once how many replays there will be
/// and then of the end of each, with the experiment's name. With `drawn`, figures are made.
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
        .flat_map(|(experiment, case)| (1..=seeds).map(move |seed| Work { experiment, case, seed }))
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
        let of_case = |_: &Case| runs.by_ref().take(seeds as usize).collect();
        let runs: Vec<Vec<Run>> = cases.iter().map(of_case).collect();
        let replays = Replays { cases, runs: &runs };
        let mut rows = (experiment.rows)(&replays);
        rows.iter_mut().for_each(|row| row.experiment = experiment.name);
        let figures = if drawn { (experiment.figures)(&replays)? } else { Vec::new() };
        all.push(Reproduced { experiment, rows, figures, seeds });
    }
    Ok(all)
}

/// What [`reproduce`] tells while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// So many replays will be made.
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
