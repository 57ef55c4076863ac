//! `[machines]`: the machines of a production cluster.

use crate::{choices, keys};

use super::MOST_NODES;

/// The most memory of a machine or a request, bytes. More is damage.
pub const MOST_MEMORY: u64 = 1 << 46;

keys! {
    /// The machines of a production cluster, for the policies that know neither slots nor heartbeats. These policies read
    /// nothing else of a cluster file but `jobs.first_submit`.
    pub struct Machines: Default {
        /// How many machines there are, all alike. If you leave it out, the machines are those of the trace, which come, go and
        /// change. It needs `cores` beside it.
        count: Option<u32> = None, unit "machines", range 1..=MOST_NODES;
        /// How many machines of the trace there are: as `nodes.clones`, for these policies. Not beside `count`.
        clones: Option<u32> = None, unit "machines", range 1..=MOST_NODES, serde(skip_serializing_if = "Option::is_none");
        /// The cores of each machine. Without `count` it counts where the trace does not say.
        cores: Option<f64> = None, unit "cores", range 1e-3..=1e6;
        /// The memory of each machine. If you leave it out and the trace gives it for no machine, memory is unlimited.
        memory: Option<u64> = None, unit "bytes", range 1..=MOST_MEMORY;
        /// Which of the machines with enough room a task gets.
        placement: Placement = Placement::FirstFit;
    }
}

impl Machines {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with keys that depend on each other, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        match (self.count, self.cores) {
            (Some(_), None) => Err("machines.count: expected machines.cores as well".to_owned()),
            (Some(_), _) if self.clones.is_some() => {
                Err("machines.clones: expected no machines.count as well".to_owned())
            }
            _ => Ok(()),
        }
    }
}

choices! {
    /// Which of the machines with enough room a task gets.
    pub enum Placement {
        /// The first by name.
        FirstFit = "first-fit",
        /// The one that the task leaves fullest, judged by the resource of which most is left over, as a share of the largest
        /// machine. Of equal ones it is the one with less processor free, then with less memory free, then the first by name.
        BestFit = "best-fit",
    }
}
