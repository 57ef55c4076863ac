//! The phases of a job.

use resched_tables::model::{Reason, TaskKind};
use resched_tables::store::System;
use serde::Serialize;

/// What a job did, or waited for. At each instant it is in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It waited for other jobs or for its own earlier stages.
    Dependency,
    /// It was initialised and set up.
    Starting,
    /// It waited for its application master.
    Master,
    /// It waited for a map slot.
    MapSlot,
    /// It waited for a reduce slot.
    ReduceSlot,
    /// It waited for a container.
    Container,
    /// It waited for what machines and the cluster have by name: processors, memory, GPUs, licences.
    Resources,
    /// There was room, but not on one machine.
    Fit,
    /// It held out for a machine nearer to its input, or for a better one.
    Locality,
    /// Too few of its maps were done for its reduces.
    Ramp,
    /// Its user or its queue had as much as it may have.
    Limit,
    /// What was free was kept for others.
    Reserve,
    /// A job before it found no room, and stopped those behind it.
    Priority,
    /// What ran of it was on a machine that was lost, and is done again.
    Lost,
    /// It ran.
    Running,
    /// Its reduces fetched their input, and nothing else of it ran.
    Shuffling,
    /// Its tasks were done, and it was cleaned up and reported.
    Ending,
    /// The log does not say when some of its tasks ran.
    Unknown,
}

impl Phase {
    /// All phases, in the order in which they are shown.
    pub const ALL: [Self; 18] = [
        Self::Dependency,
        Self::Starting,
        Self::Master,
        Self::MapSlot,
        Self::ReduceSlot,
        Self::Container,
        Self::Resources,
        Self::Fit,
        Self::Locality,
        Self::Ramp,
        Self::Limit,
        Self::Reserve,
        Self::Priority,
        Self::Lost,
        Self::Running,
        Self::Shuffling,
        Self::Ending,
        Self::Unknown,
    ];

    /// Its name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dependency => "dependency",
            Self::Starting => "starting",
            Self::Master => "master",
            Self::MapSlot => "map-slot",
            Self::ReduceSlot => "reduce-slot",
            Self::Container => "container",
            Self::Resources => "resources",
            Self::Fit => "fit",
            Self::Locality => "locality",
            Self::Ramp => "ramp",
            Self::Limit => "limit",
            Self::Reserve => "reserve",
            Self::Priority => "priority",
            Self::Lost => "lost",
            Self::Running => "running",
            Self::Shuffling => "shuffling",
            Self::Ending => "ending",
            Self::Unknown => "unknown",
        }
    }

    /// As people of a system say it: "it … for 3 s" or "jobs got slower by …".
    pub fn in_words(self, system: System) -> &'static str {
        system.says(self.usual())
    }

    fn usual(self) -> &'static str {
        match self {
            Self::Dependency => "waiting for a dependency",
            Self::Starting => "being initialised and set up",
            Self::Master => "waiting for an application master",
            Self::MapSlot => "waiting for a map slot",
            Self::ReduceSlot => "waiting for a reduce slot",
            Self::Container => "waiting for a container",
            Self::Resources => "waiting for free resources",
            Self::Fit => "waiting for a machine that fits",
            Self::Locality => "holding out for locality",
            Self::Ramp => "being held back by slow-start or a ramp",
            Self::Limit => "being held back by a limit of its user or queue",
            Self::Reserve => "being held back by a reservation",
            Self::Priority => "waiting behind a job that found no room",
            Self::Lost => "running on a machine that was lost",
            Self::Running => "running",
            Self::Shuffling => "shuffling",
            Self::Ending => "being cleaned up and reported",
            Self::Unknown => "not in the log",
        }
    }

    /// True if the job did nothing that counts, and somebody or some rule is to blame.
    pub fn is_wait(self) -> bool {
        !matches!(self, Self::Lost | Self::Running | Self::Shuffling | Self::Unknown)
    }

    /// The phase of a job whose tasks of this kind wait for that reason.
    pub(super) fn of_reason(reason: Reason, kind: TaskKind, in_containers: bool) -> Self {
        match (reason, kind) {
            (Reason::None | Reason::NodeLost, TaskKind::Map | TaskKind::Reduce) if in_containers => Self::Container,
            (Reason::None | Reason::NodeLost, TaskKind::Map) => Self::MapSlot,
            (Reason::None | Reason::NodeLost, TaskKind::Reduce) => Self::ReduceSlot,
            (Reason::None | Reason::NodeLost, _) => Self::Resources,
            (Reason::Starting, _) => Self::Starting,
            (Reason::Master, _) => Self::Master,
            (Reason::Locality | Reason::Mismatch | Reason::NotNearest, _) => Self::Locality,
            (Reason::Ramp, _) => Self::Ramp,
            (Reason::UserLimit | Reason::QueueLimit | Reason::JobLimit | Reason::NoFit, _)
            | (Reason::NoCandidates | Reason::Skipped | Reason::NoQueue | Reason::Equivalent, _) => Self::Limit,
            (Reason::Reserve | Reason::Backfill | Reason::PendingPreemption, _) => Self::Reserve,
            (Reason::Fit, _) => Self::Fit,
            (Reason::Priority, _) => Self::Priority,
        }
    }
}
