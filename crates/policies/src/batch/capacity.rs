//! Queues with guaranteed shares.
//!
//! **What it does.** Each queue is guaranteed a share of the machines. The queue that has the least for what it is guaranteed is
//! served next, first come, first served within it. An elastic queue takes what others leave, up to its largest share.
//!
//! **Source.** The Capacity Scheduler of Hadoop YARN, with its DominantResourceCalculator, as far as it applies: queues of one level,
//! no user limits, no preemption.
//!
//! **Decisions.** Queues are those of the trace, or its priorities, scheduling classes or users. What is guaranteed is a queue's weight
//! of all weights of queues that the file names or that have come; without a file, all the same. A queue may always run one task,
//! however little it is guaranteed. The first of a queue that finds no room blocks those behind it (`depth=1`), as in Hadoop, where
//! an application reserves for it; the other queues go on.

use super::claims::By;
use super::fifo::PRIORITY;
use super::shares::{self, Measure, Rules, Shares, WEIGHTS, shares_as_policy};
use crate::error::Error;
use crate::info::{Build, Engine, Family, PolicyInfo};
use crate::settings::{Declared, File, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-capacity",
    title: "Queues with guaranteed shares",
    source: "Hadoop YARN, CapacityScheduler",
    family: Family::Batch,
    engine: Engine::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    build: Build::Batch(|values, _| Ok(Box::new(BatchCapacity::new(&Settings::read(values)?)?))),
};

/// Here the first task that finds no room blocks those behind it.
const DEPTH: Declared<u32> = shares::DEPTH.default("1");

settings! {
    /// What you can set.
    struct Settings {
        /// what jobs of one queue have in common
        by: By = "by" { choice: By::Queue, of: [By::Queue, By::Priority, By::Class, By::User, By::Group] },
        weights: File = WEIGHTS,
        /// queues take what others leave, up to their max; false: they get no more than their share
        elastic: bool = "elastic" { default: true },
        depth: u32 = DEPTH,
        priority: bool = PRIORITY,
    }
}

/// The policy.
#[derive(Debug)]
struct BatchCapacity(Shares);

impl BatchCapacity {
    fn new(settings: &Settings) -> Result<Self, Error> {
        let rules = Rules::new(Measure::Dominant, settings.by, &settings.weights, settings.priority, settings.depth)?;
        Ok(Self(Shares::new(Rules { elastic: settings.elastic, ..rules })))
    }
}

shares_as_policy!(BatchCapacity);
