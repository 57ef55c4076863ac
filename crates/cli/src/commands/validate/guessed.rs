//! Which scheduler ran a trace, if the user names none: the guess, and how clear it is.

use resched_analysis::validation::Guess;
use serde::Serialize;

/// A guess, with the names of its candidates.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Guessed {
    /// The candidates and their probabilities.
    candidates: Vec<(String, f64)>,
    /// The queues of the trace, also a hint.
    queues: usize,
    #[serde(skip)]
    guess: Guess,
    distinguishing_jobs: u64,
    observations: f64,
}

impl Guessed {
    /// The guess among candidates with these labels.
    pub(super) fn of(guess: Guess, labels: Vec<String>, queues: usize) -> Self {
        let candidates = labels.into_iter().zip(guess.probabilities.iter().copied()).collect();
        let Guess { distinguishing_jobs, observations, .. } = guess;
        Self { candidates, queues, guess, distinguishing_jobs, observations }
    }

    /// The guess in words; `chosen` is the candidate that was taken.
    pub(super) fn in_words(&self, chosen: &str, jobs: u64) -> String {
        if !self.guess.can_tell() {
            let names: Vec<&str> = self.candidates.iter().map(|(name, _)| name.as_str()).collect();
            return format!(
                "The trace does not show which scheduler ran it: every job completes at the same time under {}. `{chosen}`, the \
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
            self.distinguishing_jobs,
            jobs,
            self.observations,
            shares.join(", "),
            self.queues,
            if self.queues == 1 { "" } else { "s" }
        )
    }
}
