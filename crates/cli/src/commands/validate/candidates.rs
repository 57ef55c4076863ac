//! The schedulers that may have run a trace, if the user names none.

use resched_analysis::Run;
use resched_analysis::runs::run::Origin;
use resched_analysis::validation::{Guess, Validation, guess};
use resched_policies::PolicySpec;
use resched_replay::{Engine, Source};
use resched_tables::model::TaskKind;
use serde::Serialize;

use super::Told;
use crate::failure::Failure;

/// The usual schedulers of MapReduce 1, the default first.
const MAPREDUCE_1: [&str; 4] = ["fifo", "fair", "fair-deficit", "capacity"];
/// The schedulers of YARN, the default first.
const YARN: [&str; 3] = ["yarn-capacity", "yarn-fair", "yarn-fifo"];
/// The usual schedulers of production traces.
const PRODUCTION: [&str; 4] = ["batch-fifo", "batch-fair", "batch-capacity", "easy"];
/// The format of the histories that application masters of YARN write. MapReduce 1 of 2011 wrote it, too, with set-up tasks.
const JHIST: &str = "jhist";

/// The candidates for a trace; the first one is the default of its system.
pub(super) fn candidates(source: &Source, observed: &Run) -> Result<Vec<PolicySpec>, Failure> {
    let names = match source.engine() {
        Engine::Batch => PRODUCTION.as_slice(),
        Engine::Hadoop if is_yarn(observed) => YARN.as_slice(),
        Engine::Hadoop => MAPREDUCE_1.as_slice(),
    };
    names.iter().map(|name| Ok(PolicySpec::parse(name)?)).collect()
}

fn is_yarn(observed: &Run) -> bool {
    let Origin::Observed(manifest) = &observed.origin else { return false };
    let by_masters = manifest.sources.iter().any(|source| source.format == JHIST);
    by_masters && !observed.intervals.iter().any(|own| matches!(own.kind, TaskKind::Setup | TaskKind::Cleanup))
}

/// A guess, with the names of its candidates.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Guessed {
    /// The candidates and their probabilities.
    candidates: Vec<(String, f64)>,
    /// The queues of the trace, also a hint.
    queues: usize,
    #[serde(skip)]
    guess: Guess,
    telling_jobs: u64,
    observations: f64,
}

/// Keeps the most probable candidate, and says how probable all are.
pub(super) fn most_probable(mut told: Vec<Told>, queues: usize) -> Vec<Told> {
    let of_candidates: Vec<Vec<&Validation>> =
        told.iter().map(|own| own.replays.iter().map(|replay| &replay.validation).collect()).collect();
    let found = guess(&of_candidates);
    let candidates = told.iter().map(|own| own.label.clone()).zip(found.probabilities.iter().copied()).collect();
    let mut best = told.swap_remove(found.best().min(told.len() - 1));
    let Guess { telling_jobs, observations, .. } = found;
    best.guess = Some(Guessed { candidates, queues, guess: found, telling_jobs, observations });
    vec![best]
}

impl Guessed {
    /// The guess in words; `chosen` is the candidate that was taken.
    pub(super) fn in_words(&self, chosen: &str, jobs: u64) -> String {
        if !self.guess.can_tell() {
            let names: Vec<&str> = self.candidates.iter().map(|(name, _)| name.as_str()).collect();
            return format!(
                "Which scheduler ran the trace cannot be told: no job's completion depends on it among {}. `{chosen}`, the \
                 default, was replayed; name another with --policy.\n",
                names.join(", ")
            );
        }
        let mut ranked: Vec<&(String, f64)> = self.candidates.iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let shares: Vec<String> =
            ranked.iter().map(|(name, probability)| format!("{name} {:.1} %", probability * 100.0)).collect();
        let evidence = if self.guess.is_clear() { "evidence" } else { "weak evidence" };
        format!(
            "Which scheduler ran the trace is guessed from the errors of its jobs ({evidence}: {} of {} jobs, effective sample size \
             {:.1}): {}. The trace has {} queue{}. `{chosen}` is shown; name another with --policy.\n",
            self.telling_jobs,
            jobs,
            self.observations,
            shares.join(", "),
            self.queues,
            if self.queues == 1 { "" } else { "s" }
        )
    }
}
