//! The registry's entry of a policy.

use std::sync::Arc;

use resched_sim::batch;
use resched_sim::hadoop::{self, System};
use resched_tables::run::RunEngine as Engine;

use crate::error::Error;
use crate::foreign::Foreign;
use crate::parameter::Parameter;
use crate::settings::Values;
use crate::site::Site;

/// The registry's entry of a policy.
#[derive(Debug)]
pub struct PolicyInfo {
    /// The name by which you ask for it.
    pub name: &'static str,
    /// A short description.
    pub title: &'static str,
    /// The paper or the version of Hadoop that it follows.
    pub source: &'static str,
    /// The family under which it is listed.
    pub family: Family,
    /// Whether it is an oracle by default: a reference that knows run times, which no real scheduler can.
    pub oracle: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the policy.
    pub(crate) build: Build,
}

impl PolicyInfo {
    /// The engine that replays it.
    pub fn engine(&self) -> Engine {
        if self.system().is_some() { Engine::Hadoop } else { Engine::Batch }
    }

    /// The system of a Hadoop cluster that it schedules; `None` for a policy for production traces.
    pub fn system(&self) -> Option<System> {
        match &self.build {
            Build::Hadoop(system, _) => Some(*system),
            Build::Batch(_) => None,
            Build::Foreign(own) => own.system(),
        }
    }

    /// Whether it is for production traces, not for Hadoop.
    pub fn is_batch(&self) -> bool {
        self.engine() == Engine::Batch
    }

    /// The name that stands for it on a production trace.
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.strip_prefix("batch-").unwrap_or(self.name)
    }
}

/// The origin of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The schedulers of MapReduce 1.
    MapReduce1,
    /// The schedulers of YARN.
    Yarn,
    /// Algorithms that were published as papers.
    Paper,
    /// References for comparison: oracles and bounds.
    Reference,
    /// Policies for production traces.
    Batch,
    /// Policies that you wrote.
    Own,
}

impl Family {
    /// Those of the registry, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::MapReduce1, Self::Yarn, Self::Paper, Self::Reference, Self::Batch];

    /// The heading over its policies.
    pub fn title(self) -> &'static str {
        match self {
            Self::MapReduce1 => "Hadoop MapReduce 1",
            Self::Yarn => "Hadoop YARN",
            Self::Paper => "Published algorithms",
            Self::Reference => "References and bounds",
            Self::Batch => "Production clusters",
            Self::Own => "Your own",
        }
    }
}

/// A function that makes a policy from the values of its parameters and what a site's configuration says.
pub(crate) type Builder<P> = fn(&Values, &Site) -> Result<Box<P>, Error>;

/// How a policy is made.
#[derive(Debug)]
pub(crate) enum Build {
    /// For a Hadoop cluster under this system: slots of MapReduce 1 or containers of YARN.
    Hadoop(System, Builder<dyn hadoop::Policy>),
    /// For a production cluster.
    Batch(Builder<dyn batch::Policy>),
    /// By a program in another language.
    Foreign(Arc<dyn Foreign>),
}
