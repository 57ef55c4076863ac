//! What is known of a trace or a run as a whole: the engine that replays it, the system that ran it, its amounts, the zero of its times.

use serde::{Deserialize, Serialize};

/// One of the two engines that replay jobs, and with it a kind of trace and of policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEngine {
    /// Maps and reduces of a Hadoop cluster, on slots or in containers, with heartbeats.
    #[default]
    Hadoop,
    /// Tasks of a production cluster that request processor and memory, without heartbeats.
    Batch,
}

impl RunEngine {
    /// Its name in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Hadoop => "the engine for Hadoop",
            Self::Batch => "the engine for production traces",
        }
    }
}

/// The zero of a trace's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeZero {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[default]
    Epoch,
    /// Milliseconds since the trace's own zero.
    Relative,
}

/// What ran the jobs of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Hadoop's MapReduce 1: map slots and reduce slots.
    #[default]
    #[serde(rename = "mapreduce-1")]
    MapReduce1,
    /// Hadoop's YARN: containers.
    Yarn,
    /// Spark: cores of executors.
    Spark,
    /// Slurm: partitions of nodes, on which jobs have processors and memory.
    Slurm,
    /// Kubernetes: pods request processor, memory and devices; their workloads wait for quota.
    Kubernetes,
    /// A batch system or a cluster manager: tasks request processor and memory.
    Batch,
}

impl System {
    /// True if it runs Hadoop's maps and reduces.
    pub fn is_hadoop(self) -> bool {
        matches!(self, Self::MapReduce1 | Self::Yarn)
    }

    /// True if its jobs ask for processors of machines, not for slots or executors of a framework.
    pub fn asks_for_cpus(self) -> bool {
        matches!(self, Self::Slurm | Self::Kubernetes | Self::Batch)
    }

    /// Its name for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::MapReduce1 => "MapReduce 1",
            Self::Yarn => "YARN",
            Self::Spark => "Spark",
            Self::Slurm => "Slurm",
            Self::Kubernetes => "Kubernetes",
            Self::Batch => "a batch system",
        }
    }
}

/// What the amounts of processor and memory in a trace are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amounts {
    /// Cores and bytes.
    #[default]
    Absolute,
    /// Shares of the largest machine, which counts as 1,000 cores and 10^12 bytes.
    OfLargest,
    /// Cores, but memory as a share of the largest machine's, which counts as 10^12 bytes.
    MemoryOfLargest,
}

impl Amounts {
    /// The cores of the largest machine, where amounts are shares of it.
    pub const CORES: u64 = 1_000;
    /// Its bytes of memory.
    pub const MEMORY: u64 = 1_000_000_000_000;

    /// What they are, for people; `None` if there is nothing to explain.
    pub fn in_words(self) -> Option<&'static str> {
        match self {
            Self::Absolute => None,
            Self::OfLargest => {
                Some("shares of the largest machine, which counts as 1,000 cores and 1,000,000,000,000 bytes of memory")
            }
            Self::MemoryOfLargest => Some(
                "memory is a share of the largest machine's, which counts as 1,000,000,000,000 bytes; cores are cores",
            ),
        }
    }
}
