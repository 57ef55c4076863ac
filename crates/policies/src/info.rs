//! The registry's entry of a policy.

use resched_sim::{batch, hadoop};

use crate::error::Error;
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
    /// The kind of cluster that it schedules.
    pub engine: Engine,
    /// Whether it is an oracle by default: a reference that knows run times, which no real scheduler can.
    pub oracle: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the policy.
    pub(crate) build: Build,
}

impl PolicyInfo {
    /// Whether it is for production traces, not for Hadoop.
    pub fn is_batch(&self) -> bool {
        self.engine == Engine::Batch
    }
}

/// The kind of cluster that a policy schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A Hadoop cluster: slots of MapReduce 1 or containers of YARN.
    Hadoop(hadoop::System),
    /// A production cluster, whose tasks request processor and memory.
    Batch,
}

impl Engine {
    /// Its name in messages.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Hadoop(_) => "Hadoop",
            Self::Batch => "production traces",
        }
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
}

impl Family {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::MapReduce1, Self::Yarn, Self::Paper, Self::Reference, Self::Batch];

    /// The heading over its policies.
    pub fn title(self) -> &'static str {
        match self {
            Self::MapReduce1 => "Hadoop MapReduce 1",
            Self::Yarn => "Hadoop YARN",
            Self::Paper => "Published algorithms",
            Self::Reference => "References and bounds",
            Self::Batch => "Production clusters",
        }
    }
}

/// A function that makes a policy from the values of its parameters and what a site's configuration says.
pub(crate) type Builder<P> = fn(&Values, &Site) -> Result<Box<P>, Error>;

/// How a policy is made.
#[derive(Debug)]
pub(crate) enum Build {
    /// For a Hadoop cluster.
    Hadoop(Builder<dyn hadoop::Policy>),
    /// For a production cluster.
    Batch(Builder<dyn batch::Policy>),
}
