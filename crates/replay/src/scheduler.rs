//! The policy of a replay.

use resched_policies::PolicySpec;
use resched_sim::{batch, hadoop};

use crate::source::Engine;

/// The policy of a replay: one of the registry, or one that you wrote.
pub enum Scheduler<'a> {
    /// One of the registry; `&PolicySpec` converts into it.
    Registry(&'a PolicySpec),
    /// Your own for Hadoop, with its name.
    Hadoop(&'a str, &'a mut dyn hadoop::Policy),
    /// Your own for batch tasks, with its name.
    Batch(&'a str, &'a mut dyn batch::Policy),
}

impl<'a> From<&'a PolicySpec> for Scheduler<'a> {
    fn from(policy: &'a PolicySpec) -> Self {
        Self::Registry(policy)
    }
}

impl Scheduler<'_> {
    /// The engine that it is for.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Registry(policy) => engine_of(policy),
            Self::Hadoop(..) => Engine::Hadoop,
            Self::Batch(..) => Engine::Batch,
        }
    }
}

/// The engine that a policy of the registry is for.
pub(crate) fn engine_of(policy: &PolicySpec) -> Engine {
    if policy.info.is_batch() { Engine::Batch } else { Engine::Hadoop }
}
