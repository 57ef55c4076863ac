//! Replays all cases of some experiments, several at once, and makes their rows and figures.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use resched_analysis::Run;
use resched_report::Figure;

use crate::case::Case;
use crate::replays::Replays;
use crate::{Error, Experiment, Row};

/// An experiment with its results.
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

/// Replays `experiments` with the seeds 1 to `seeds` on so many threads. `progress` first gets how many replays there will be,
/// and then the end of each, with the experiment's name. With `drawn`, figures are made.
///
/// # Errors
/// The first error in the order of experiments, cases and seeds.
pub fn reproduce(
    experiments: &[&'static Experiment],
    seeds: u64,
    threads: usize,
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
    let mut runs = replay_all(&work, threads, progress)?.into_iter();
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

/// What [`reproduce`] reports while it works.
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

/// The runs, in the order of `work` whatever ends first.
fn replay_all(work: &[Work<'_>], threads: usize, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<Vec<Run>, Error> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let slots: Vec<Mutex<Option<Result<Run, Error>>>> = work.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, work.len().max(1)) {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(Work { experiment, case, seed }), Some(slot)) = (work.get(place), slots.get(place))
                    else {
                        return;
                    };
                    let run = case.replay(experiment.name, *seed);
                    failed.fetch_or(run.is_err(), Ordering::Relaxed);
                    progress(Progress::Done(experiment.name));
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(run);
                    }
                }
            });
        }
    });
    let mut runs = Vec::with_capacity(work.len());
    let mut missing = false;
    for slot in slots {
        match slot.into_inner().ok().flatten() {
            Some(run) => runs.push(run?),
            None => missing = true,
        }
    }
    if missing { Err(Error::Defect("a replay ended without a result".to_owned())) } else { Ok(runs) }
}
