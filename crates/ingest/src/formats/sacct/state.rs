//! States of jobs.

use resched_tables::model::Outcome;
use smallvec::SmallVec;

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

/// Words that a job may have beside its state: it was given back to the queue, or something is still done for it.
const BESIDE: [&str; 19] = [
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "RESV_DEL_HOLD",
    "COMPLETING",
    "CONFIGURING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "REVOKED",
    "UPDATE_DB",
    "POWER_UP_NODE",
    "RECONFIG_FAIL",
    "LAUNCH_FAILED",
    "EXPEDITING",
    "PREEMPTED",
    "NODE_FAIL",
];

/// The words after which Slurm gives a job back to the queue. After a failed node or boot it does so unless the job forbids it.
const GIVEN_BACK: [&str; 5] = ["REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "PREEMPTED"];

/// The state of a row, and what its words say beside that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: State,
    /// True if a later row of the job may be its next try.
    pub(super) goes_on: bool,
    /// True if it had to make room for another job.
    pub(super) is_preempted: bool,
    /// True if it is a part of a run whose size was changed: the next row goes on with it.
    pub(super) is_resized: bool,
}

impl Standing {
    /// What the words of a row say; any of them may decide, such as `REQUEUED` behind `PENDING`. `ran`: whether the row has a start
    /// and an end.
    pub(super) fn of(text: &str, ran: bool) -> Self {
        // So most jobs end.
        if text == "COMPLETED" {
            let state = State::Ended(Outcome::Success);
            return Self { state, goes_on: false, is_preempted: false, is_resized: false };
        }
        let words: SmallVec<[&str; 4]> =
            text.split([' ', '+', ',']).filter(|word| State::of_word(word).is_some()).collect();
        let has = |word: &str| words.contains(&word);
        let is_given_back = GIVEN_BACK.iter().any(|word| has(word));
        let state = match words[..] {
            [] => State::Ended(Outcome::Unknown),
            [word] => State::of_word(word).unwrap_or(State::Pending),
            _ if ran && has("NODE_FAIL") => State::Ended(Outcome::Lost),
            _ if ran && is_given_back => State::Ended(Outcome::Evicted),
            _ => {
                let main = words.iter().find(|word| !BESIDE.contains(word)).or(words.first());
                main.and_then(|word| State::of_word(word)).unwrap_or(State::Pending)
            }
        };
        Self {
            state,
            goes_on: is_given_back || has("NODE_FAIL") || has("BOOT_FAIL"),
            is_preempted: has("PREEMPTED"),
            is_resized: has("RESIZING") && ran,
        }
    }
}

impl State {
    /// A number for it.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Pending => 0,
            Self::Running => 1,
            Self::Ended(outcome) => 2 + outcome.index() as u64,
        }
    }

    /// The state of this number.
    pub(super) fn of_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Pending),
            1 => Some(Self::Running),
            _ => Outcome::ALL.get(usize::try_from(number - 2).ok()?).copied().map(Self::Ended),
        }
    }

    /// The state of a text that begins with a word that Slurm knows.
    pub(super) fn known(text: &str) -> Option<Self> {
        Self::of_word(text.split([' ', '+', ',']).next().unwrap_or_default())
    }

    /// The state of a word; `None` if Slurm has no such state.
    fn of_word(word: &str) -> Option<Self> {
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

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Pending | Self::Running => Outcome::Incomplete,
            Self::Ended(outcome) => outcome,
        }
    }

    /// True if the row is final.
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
        let of = |text| Standing::of(text, true).state;
        assert_eq!(of("CANCELLED by 1000"), State::Ended(Outcome::Killed));
        assert_eq!(of("CANCELLED+"), State::Ended(Outcome::Killed));
        assert_eq!(of("SUSPENDED").outcome(), Outcome::Incomplete);
        assert_eq!(of("NEW_STATE").outcome(), Outcome::Unknown);
        assert_eq!(State::known("0:0"), None);
    }

    /// JSON has lists of states, and text of newer versions may have several words.
    #[test]
    fn any_of_several_words_decides() {
        for (words, ran, expected) in [
            ("PENDING,REQUEUED", true, Outcome::Evicted),
            ("REQUEUED,PENDING", true, Outcome::Evicted),
            ("PENDING,REQUEUED", false, Outcome::Incomplete),
            ("RUNNING,REQUEUED", false, Outcome::Incomplete),
            ("PENDING,REQUEUE_HOLD", true, Outcome::Evicted),
            ("NODE_FAIL,REQUEUED", true, Outcome::Lost),
            ("PENDING,NODE_FAIL", true, Outcome::Lost),
            ("PREEMPTED,REQUEUED", true, Outcome::Evicted),
            ("COMPLETED,COMPLETING", true, Outcome::Success),
            ("COMPLETING,FAILED", true, Outcome::Failed),
            ("RUNNING,COMPLETING", false, Outcome::Incomplete),
            ("CANCELLED by 5,COMPLETING", true, Outcome::Killed),
            ("NEW_STATE,TIMEOUT", true, Outcome::Killed),
        ] {
            assert_eq!(Standing::of(words, ran).state.outcome(), expected, "{words}");
        }
        assert!(Standing::of("RESIZING", true).is_resized && !Standing::of("RESIZING", false).is_resized);
    }
}
