//! What a site or a trace says that bears on a schedule, and which policies look at it.
//!
//! ```text
//! site ──▶ present ──┐
//! trace ─────────────┴──▶ minus what the policy understands ──▶ facts of the answer
//! settings of the site that no policy reads ──▶ `Unread` ──────┘
//! ```
//!
//! Each setting ends as one of these: a policy applies it; it is what the daemon does without it; or it has no effect, and then every answer
//! that it bears on says so (`PolicySpec::without_effect`). Nothing is measured that drops a rule of the site.

use resched_sim::hadoop::System;

/// Something that a site or a trace says and that bears on a schedule.
///
/// To add one: add the variant, answer each `match` below, and name it in the entry of each policy that looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// Settings of Hadoop that are not about one scheduler.
    Hadoop,
    /// The pools of the Fair Scheduler of MapReduce 1.
    Pools,
    /// The queues of the Capacity Scheduler of MapReduce 1.
    MapredQueues,
    /// The queues of YARN's Capacity Scheduler.
    YarnQueues,
    /// The queues of YARN's Fair Scheduler.
    YarnFairQueues,
    /// Settings of Spark.
    Spark,
    /// The pools of Spark's fair scheduler.
    SparkPools,
    /// Settings of Slurm's scheduler that are no rule of the site by themselves.
    Slurm,
    /// The partitions of Slurm: their nodes, tiers and limits.
    Partitions,
    /// The weights of the factors of Slurm's priorities.
    PriorityWeights,
    /// The shares of accounts and users in Slurm's fair share.
    AccountShares,
    /// The limits of qualities of service and associations of Slurm.
    Limits,
    /// Preemption by partition or quality of service.
    Preemption,
    /// Reservations of nodes.
    Reservations,
    /// The order in which nodes are filled.
    NodeWeights,
    /// Features that jobs ask of their machines.
    Features,
    /// On how many machines a job must lie.
    MachineCounts,
    /// Jobs that have their machines to themselves.
    Exclusive,
    /// Backups of slow tasks, which a speculator starts.
    Speculation,
    /// The cycles in which Slurm starts jobs, where a textbook algorithm decides at each event.
    Cycles,
    /// The offers by which Spark starts tasks, and how long it waits for a place near the data.
    Offers,
    /// The ClusterQueues of Kueue, with their quotas.
    Kueue,
    /// Labels and taints of nodes that pods select and tolerate.
    NodeLabels,
}

impl Input {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::Hadoop,
        Self::Pools,
        Self::MapredQueues,
        Self::YarnQueues,
        Self::YarnFairQueues,
        Self::Spark,
        Self::SparkPools,
        Self::Slurm,
        Self::Partitions,
        Self::PriorityWeights,
        Self::AccountShares,
        Self::Limits,
        Self::Preemption,
        Self::Reservations,
        Self::NodeWeights,
        Self::Features,
        Self::MachineCounts,
        Self::Exclusive,
        Self::Speculation,
        Self::Cycles,
        Self::Offers,
        Self::Kueue,
        Self::NodeLabels,
    ];

    /// What it is, as a noun in the plural or without a number, for sentences such as "`easy` knows no …".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Hadoop => "settings of Hadoop",
            Self::Pools => "pools of MapReduce 1",
            Self::MapredQueues => "queues of MapReduce 1",
            Self::YarnQueues => "queues of the Capacity Scheduler",
            Self::YarnFairQueues => "queues of the Fair Scheduler",
            Self::Spark => "settings of Spark",
            Self::SparkPools => "pools of Spark",
            Self::Slurm => "settings of Slurm",
            Self::Partitions => "partitions",
            Self::PriorityWeights => "priorities (QOS, age, size, …)",
            Self::AccountShares => "shares of accounts",
            Self::Limits => "limits of QOS and associations",
            Self::Preemption => "preemption",
            Self::Reservations => "reservations",
            Self::NodeWeights => "weights of nodes",
            Self::Features => "features of machines",
            Self::MachineCounts => "numbers of machines that jobs ask for",
            Self::Exclusive => "jobs that have their machines to themselves",
            Self::Speculation => "backups of slow tasks",
            Self::Cycles => "cycles of Slurm's scheduler",
            Self::Offers => "offers of Spark's scheduler",
            Self::Kueue => "ClusterQueues of Kueue",
            Self::NodeLabels => "labels and taints of nodes",
        }
    }

    /// The system of Hadoop whose schedulers have it; `None`: it is not about one of them.
    pub(crate) fn system(self) -> Option<System> {
        match self {
            Self::Pools | Self::MapredQueues => Some(System::Slots),
            Self::YarnQueues | Self::YarnFairQueues => Some(System::Containers),
            Self::Hadoop
            | Self::Spark
            | Self::SparkPools
            | Self::Slurm
            | Self::Partitions
            | Self::PriorityWeights
            | Self::AccountShares
            | Self::Limits
            | Self::Preemption
            | Self::Reservations
            | Self::NodeWeights
            | Self::Features
            | Self::MachineCounts
            | Self::Exclusive
            | Self::Speculation
            | Self::Cycles
            | Self::Offers
            | Self::Kueue
            | Self::NodeLabels => None,
        }
    }

    /// True if it is queues or pools that a file describes.
    pub(crate) fn is_queues(self) -> bool {
        match self {
            Self::Pools | Self::MapredQueues | Self::YarnQueues | Self::YarnFairQueues | Self::SparkPools => true,
            Self::Hadoop
            | Self::Spark
            | Self::Slurm
            | Self::Partitions
            | Self::PriorityWeights
            | Self::AccountShares
            | Self::Limits
            | Self::Preemption
            | Self::Reservations
            | Self::NodeWeights
            | Self::Features
            | Self::MachineCounts
            | Self::Exclusive
            | Self::Speculation
            | Self::Cycles
            | Self::Offers
            | Self::Kueue
            | Self::NodeLabels => false,
        }
    }

    /// True if it is a rule that holds whatever scheduler runs the jobs. Settings of a daemon are not: another scheduler has its own. When
    /// a daemon decides at all is one, since whatever replaces a real daemon decides in steps, too.
    pub(crate) fn is_rule(self) -> bool {
        match self {
            Self::Hadoop | Self::Spark | Self::Slurm | Self::Speculation => false,
            Self::Pools
            | Self::MapredQueues
            | Self::YarnQueues
            | Self::YarnFairQueues
            | Self::SparkPools
            | Self::Partitions
            | Self::PriorityWeights
            | Self::AccountShares
            | Self::Limits
            | Self::Preemption
            | Self::Reservations
            | Self::NodeWeights
            | Self::Features
            | Self::MachineCounts
            | Self::Exclusive
            | Self::Cycles
            | Self::Offers
            | Self::Kueue
            | Self::NodeLabels => true,
        }
    }
}
