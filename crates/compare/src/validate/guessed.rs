//! Which scheduler ran a trace, if nobody names it: the guess, and how clear it is.

use resched_analysis::validation::Guess;
use serde::Serialize;

/// A guess, with the names of its candidates.
#[derive(Debug, Clone, Serialize)]
pub struct Guessed {
    /// The candidates and their probabilities.
    pub candidates: Vec<(String, f64)>,
    /// The queues of the trace, also a hint.
    pub queues: usize,
    /// The guess itself.
    #[serde(skip)]
    pub guess: Guess,
    /// The jobs that end at another time under one candidate than under another.
    pub distinguishing_jobs: u64,
    /// The effective number of independent observations among them.
    pub observations: f64,
}

impl Guessed {
    /// The guess among candidates with these labels.
    pub(crate) fn of(guess: Guess, labels: Vec<String>, queues: usize) -> Self {
        let candidates = labels.into_iter().zip(guess.probabilities.iter().copied()).collect();
        let Guess { distinguishing_jobs, observations, .. } = guess;
        Self { candidates, queues, guess, distinguishing_jobs, observations }
    }
}
