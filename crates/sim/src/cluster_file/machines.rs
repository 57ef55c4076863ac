//! `[machines]`: the machines of a production cluster.

use serde::{Deserialize, Serialize};

use super::MOST_NODES;

/// The machines of a production cluster, for the policies that know neither slots nor heartbeats. Of the rest of a cluster file
/// only `jobs.first_submit` counts for these.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machines {
    /// How many, all alike; absent: the trace's own, as they come, go and change.
    pub count: Option<u32>,
    /// Cores of each; of the trace's own, where the trace does not say.
    pub cores: Option<f64>,
    /// Memory of each, bytes; absent, and not in the trace for any machine: it is not limited.
    pub memory: Option<u64>,
    /// Which of the machines with enough room a task gets.
    pub placement: Placement,
}

impl Machines {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Self { count, cores, memory, .. } = *self;
        if count.is_some_and(|count| !(1..=MOST_NODES).contains(&count)) {
            return Err(format!(
                "machines.count: expected a number from 1 to {MOST_NODES}, found {}",
                count.unwrap_or(0)
            ));
        }
        if count.is_some() && cores.is_none() {
            return Err("machines.count: expected machines.cores beside it".to_owned());
        }
        if let Some(cores) = cores.filter(|cores| !(1e-3..=1e6).contains(cores)) {
            return Err(format!("machines.cores: expected a number from 0.001 to 1000000, found {cores}"));
        }
        let most = crate::batch::Machines::MOST.memory;
        match memory.filter(|memory| !(1..=most).contains(memory)) {
            Some(memory) => Err(format!("machines.memory: expected bytes, from 1 to {most}, found {memory}")),
            None => Ok(()),
        }
    }
}

/// Which of the machines with enough room a task gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The first, by name.
    #[default]
    FirstFit,
    /// The one on which least is left over of the resource of which most is left over, each as a share of the largest machine;
    /// of equal ones the one with less processor free, then with less memory free, then the first by name.
    BestFit,
}
