//! What can stop a replay.

use crate::ids::Ms;

/// Why a replay did not start or did not end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] resched_tables::Error),
    /// The cluster or the request is wrong (exit status 2).
    #[error("{0}")]
    Config(String),
    /// A policy made a launch or gave an order that is not allowed.
    #[error("policy `{policy}` at {at} ms: {what}; this is a defect of the policy, not of the trace")]
    PolicyViolation {
        /// The policy.
        policy: String,
        /// When, on the simulated clock.
        at: Ms,
        /// What it asked for, and why that is not allowed.
        what: String,
    },
    /// Tasks wait, and nothing will ever start them.
    #[error(
        "policy `{policy}` at {at} ms: nothing has started or ended since {since} ms, although {waiting} tasks wait; \
             check that the cluster has slots for every kind of task and that the policy's waits are finite, and under YARN that \
             application masters leave room for tasks (am_share of yarn-capacity, max_am_share of yarn-fair)"
    )]
    Stalled {
        /// The policy.
        policy: String,
        /// When the replay was given up.
        at: Ms,
        /// When something last happened.
        since: Ms,
        /// Tasks that wait.
        waiting: u64,
    },
    /// The replay did something that cannot be. Only a check looks for this ([`crate::hadoop::Checked`], [`crate::batch::Checked`]).
    #[error(
        "policy `{policy}` at {at} ms: expected that {rule}, found {found}; \
             this is a defect of resched, please report it with the command"
    )]
    RuleBroken {
        /// The policy.
        policy: String,
        /// When, on the simulated clock.
        at: Ms,
        /// The rule.
        rule: &'static str,
        /// What broke it, with the job and the node.
        found: String,
    },
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Error::Trace(error) => error.is_request(),
            Error::Config(_) => true,
            Error::PolicyViolation { .. } | Error::Stalled { .. } | Error::RuleBroken { .. } => false,
        }
    }
}

/// A policy made a launch or gave an order that is not allowed. It holds what the policy did and why that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation(pub(crate) String);

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Violation {
    /// The violation of a policy of yours: what it did, and why that is wrong.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}
