//! The registry's entry of a policy.

use std::sync::Arc;

use resched_sim::batch;
use resched_sim::hadoop::{self, System};
use resched_tables::run::RunEngine as Engine;

use crate::error::Error;
use crate::foreign::Foreign;
use crate::input::Input;
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
    /// True if it is an oracle by default: a reference that knows run times, which no real scheduler can.
    pub oracle: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What of a site and of a trace it looks at, beside processor, memory, run times and what its engine itself keeps.
    pub inputs: &'static [Input],
    /// Which of its parameters, and of what its site says for them, do nothing.
    pub(crate) idle: FindIdle,
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
            Build::Foreign(foreign) => foreign.system(),
        }
    }

    /// True if it is for production traces, not for Hadoop.
    pub fn is_batch(&self) -> bool {
        self.engine() == Engine::Batch
    }

    /// The name that stands for it on a production trace.
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.strip_prefix("batch-").unwrap_or(self.name)
    }
}

impl Input {
    /// True if a policy looks at it.
    pub fn is_understood_by(self, info: &PolicyInfo) -> bool {
        match self {
            Self::Hadoop => info.system().is_some(),
            // A speculator beside any policy starts them.
            Self::Speculation => info.system().is_some() || info.inputs.contains(&self),
            _ => info.inputs.contains(&self),
        }
    }
}

/// A parameter that does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Idle {
    /// What has no effect, and why, as a clause.
    pub(crate) says: String,
    /// What to do about it, as a sentence with its full stop.
    pub(crate) remedy: String,
}

/// Finds the parameters that do nothing, from the values and the site.
pub(crate) type FindIdle = fn(&Values, &Site) -> Result<Vec<Idle>, Error>;

/// Every parameter always acts.
pub(crate) const ALL_ACT: FindIdle = |_, _| Ok(Vec::new());

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
