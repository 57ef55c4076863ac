//! The policy of a replay.

use resched_policies::{Engine, PolicySpec};
use resched_sim::{batch, hadoop};

use crate::ready::ReadyPolicy;

/// The policy of a replay: one of the registry, or one that you wrote.
pub enum Scheduler<'a> {
    /// One of the registry; `&PolicySpec` converts into it.
    Registry(&'a PolicySpec),
    /// One of the registry that [`crate::World::check`] returned; `&ReadyPolicy` converts into it.
    Ready(&'a ReadyPolicy),
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

impl<'a> From<&'a ReadyPolicy> for Scheduler<'a> {
    fn from(policy: &'a ReadyPolicy) -> Self {
        Self::Ready(policy)
    }
}

impl Scheduler<'_> {
    /// The engine that it is for.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Registry(policy) => policy.info.engine(),
            Self::Ready(policy) => policy.spec().info.engine(),
            Self::Hadoop(..) => Engine::Hadoop,
            Self::Batch(..) => Engine::Batch,
        }
    }
}
