//! Words for states of jobs, and the outcomes that they stand for.

use serde::Deserialize;

use super::pattern::Pattern;
use resched_tables::model::Outcome;

/// The words of a map for each outcome. Without any, the words of [`USUAL`] count.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct States {
    #[serde(default)]
    success: Vec<Pattern>,
    #[serde(default)]
    failed: Vec<Pattern>,
    #[serde(default)]
    killed: Vec<Pattern>,
    #[serde(default)]
    lost: Vec<Pattern>,
    #[serde(default)]
    evicted: Vec<Pattern>,
    /// It waits or runs.
    #[serde(default)]
    incomplete: Vec<Pattern>,
    /// For all others, and for tables without a state.
    otherwise: Option<Otherwise>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Otherwise {
    Success,
    Failed,
    Killed,
    Unknown,
}

/// What a state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) outcome: Outcome,
    /// True if the map, or the usual words, have it.
    pub(super) is_known: bool,
}

/// The usual words of schedulers and data sets.
const USUAL: [(Outcome, &[&str]); 6] = [
    (Outcome::Success, &["completed", "complete", "success", "succeeded", "done", "pass", "finished", "ok", "cd"]),
    (Outcome::Failed, &["failed", "fail", "error", "exit", "out_of_memory", "boot_fail", "oom", "f", "nf"]),
    (Outcome::Killed, &["cancelled*", "canceled*", "killed", "timeout", "deadline", "revoked", "deleted", "ca", "to"]),
    (Outcome::Lost, &["node_fail", "lost"]),
    (Outcome::Evicted, &["preempted", "requeued", "evicted"]),
    (Outcome::Incomplete, &["running", "pending", "suspended", "queued", "waiting", "completing", "requeue_hold"]),
];

impl States {
    /// How many words it has.
    pub(super) fn len(&self) -> usize {
        self.lists().iter().map(|(_, words)| words.len()).sum()
    }

    fn lists(&self) -> [(Outcome, &[Pattern]); 6] {
        [
            (Outcome::Success, &self.success),
            (Outcome::Failed, &self.failed),
            (Outcome::Killed, &self.killed),
            (Outcome::Lost, &self.lost),
            (Outcome::Evicted, &self.evicted),
            (Outcome::Incomplete, &self.incomplete),
        ]
    }

    /// What a state says.
    pub(super) fn of(&self, state: &str) -> Word {
        let known = if self.len() > 0 {
            let has = |(_, words): &(Outcome, &[Pattern])| words.iter().any(|word| word.matches(state));
            self.lists().into_iter().find(has).map(|(outcome, _)| outcome)
        } else {
            let is = |word: &&str| Pattern::of(word).is_some_and(|word| word.matches(state));
            USUAL.into_iter().find(|(_, words)| words.iter().any(is)).map(|(outcome, _)| outcome)
        };
        Word {
            outcome: known.unwrap_or_else(|| self.otherwise()),
            is_known: known.is_some() || self.otherwise.is_some(),
        }
    }

    /// The outcome of a job without a state.
    pub(super) fn otherwise(&self) -> Outcome {
        match self.otherwise {
            Some(Otherwise::Success) => Outcome::Success,
            Some(Otherwise::Failed) => Outcome::Failed,
            Some(Otherwise::Killed) => Outcome::Killed,
            Some(Otherwise::Unknown) | None => Outcome::Unknown,
        }
    }
}
