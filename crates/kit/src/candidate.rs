//! A policy that takes part in a comparison.

use std::fmt;

use resched_replay::{Engine, Error, Memory, PolicySpec, Replayed, Scheduler, World};
use resched_sim::{batch, hadoop};

/// A policy that takes part in a comparison: one of the registry, or your own. Each replay makes a new policy, so that no replay depends
/// on another one.
pub struct Candidate {
    label: String,
    make: Make,
}

/// How its policy is made.
enum Make {
    Listed,
    Hadoop(Box<dyn Fn() -> Box<dyn hadoop::Policy>>),
    Batch(Box<dyn Fn() -> Box<dyn batch::Policy>>),
}

impl Candidate {
    /// One of the registry, as `--policy` takes it: `fair`, or `delay:D=12`. If it does not exist, the comparison returns an error.
    pub fn listed(policy: impl Into<String>) -> Self {
        Self { label: policy.into(), make: Make::Listed }
    }

    /// Your own for Hadoop, with its name in the table and how to make it.
    pub fn hadoop<P: hadoop::Policy + 'static>(label: impl Into<String>, make: impl Fn() -> P + 'static) -> Self {
        Self { label: label.into(), make: Make::Hadoop(Box::new(move || Box::new(make()))) }
    }

    /// Your own for tasks that request processor and memory, with its name in the table and how to make it.
    pub fn batch<P: batch::Policy + 'static>(label: impl Into<String>, make: impl Fn() -> P + 'static) -> Self {
        Self { label: label.into(), make: Make::Batch(Box::new(move || Box::new(make()))) }
    }

    /// Its name in the table.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Replays it in a world and keeps the run in memory.
    ///
    /// # Errors
    /// Errors of the source, the policy or the engine.
    pub fn replay(&self, world: &World, engine: Engine) -> Result<Replayed, Error> {
        match &self.make {
            Make::Listed => world.replay(&PolicySpec::parse_for(&self.label, engine)?, Memory),
            Make::Hadoop(make) => world.replay(Scheduler::Hadoop(&self.label, &mut *make()), Memory),
            Make::Batch(make) => world.replay(Scheduler::Batch(&self.label, &mut *make()), Memory),
        }
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("label", &self.label).finish_non_exhaustive()
    }
}
