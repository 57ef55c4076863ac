//! States of jobs.

use resched_tables::model::Outcome;

/// How a job, or a try at it, ended or stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It waits, and has not run in this try.
    Pending,
    /// It still runs, or is suspended.
    Running,
    /// It ended so.
    Ended(Outcome),
}

impl State {
    /// The state of a word, of which `sacct` may add more, as in `CANCELLED by 1000`. `None` if Slurm has no such state.
    pub(super) fn known(text: &str) -> Option<Self> {
        let word = text.split([' ', '+', ',']).next().unwrap_or_default();
        Some(match word {
            "COMPLETED" => Self::Ended(Outcome::Success),
            "FAILED" | "OUT_OF_MEMORY" | "BOOT_FAIL" | "DEADLINE" | "LAUNCH_FAILED" => Self::Ended(Outcome::Failed),
            "CANCELLED" | "TIMEOUT" | "REVOKED" => Self::Ended(Outcome::Killed),
            "NODE_FAIL" => Self::Ended(Outcome::Lost),
            "PREEMPTED" | "REQUEUED" => Self::Ended(Outcome::Evicted),
            "PENDING" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => Self::Pending,
            "RUNNING" | "SUSPENDED" | "COMPLETING" | "CONFIGURING" | "RESIZING" | "SIGNALING" | "STAGE_OUT"
            | "STOPPED" => Self::Running,
            _ => return None,
        })
    }

    /// The state of a word.
    pub(super) fn of(text: &str) -> Self {
        Self::known(text).unwrap_or(Self::Ended(Outcome::Unknown))
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Pending | Self::Running => Outcome::Incomplete,
            Self::Ended(outcome) => outcome,
        }
    }

    /// Whether the row is final.
    pub(super) fn has_ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sacct(1), job state codes.
    #[test]
    fn every_state_of_a_job_has_an_outcome() {
        for (states, expected) in [
            ("COMPLETED", Outcome::Success),
            ("FAILED OUT_OF_MEMORY DEADLINE BOOT_FAIL", Outcome::Failed),
            ("CANCELLED TIMEOUT REVOKED", Outcome::Killed),
            ("NODE_FAIL", Outcome::Lost),
            ("PREEMPTED REQUEUED", Outcome::Evicted),
            ("PENDING RUNNING SUSPENDED RESIZING", Outcome::Incomplete),
        ] {
            for state in states.split(' ') {
                assert_eq!(State::known(state).map(State::outcome), Some(expected), "{state}");
            }
        }
    }

    #[test]
    fn what_follows_the_word_does_not_count() {
        assert_eq!(State::of("CANCELLED by 1000"), State::Ended(Outcome::Killed));
        assert_eq!(State::of("CANCELLED+"), State::Ended(Outcome::Killed));
        assert_eq!(State::of("SUSPENDED").outcome(), Outcome::Incomplete);
        assert_eq!(State::of("NEW_STATE").outcome(), Outcome::Unknown);
        assert_eq!(State::known("0:0"), None);
    }
}
