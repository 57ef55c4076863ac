//! Capacity scheduling: queues with guaranteed shares.
//!
//! **What it does.** Each queue is guaranteed a share of the machines. The queue that uses the smallest part of its
//! guarantee is served next. Within a queue, tasks are served first come, first served. An elastic queue takes what
//! others leave, up to its largest share.
//!
//! **Source.** The Capacity Scheduler of Hadoop YARN, with its DominantResourceCalculator, as far as it applies: queues of one level,
//! no user limits, no preemption.
//!
//! **Decisions.** Queues are the queues of the trace, or its priorities, scheduling classes, users or groups. The
//! guarantee of a queue is its weight divided by the weights of all queues that the file names or that have appeared.
//! Without a file, all weights are equal. A queue may always run one task, however small its guarantee. The first task
//! of a queue without room blocks those behind it (`depth=1`), as in Hadoop, where an application reserves a node for
//! it. The other queues go on.

use super::claims::By;
use super::fifo::PRIORITY;
use super::shares::{self, Measure, Rules, Shares, WEIGHTS};
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::settings::{Declared, File, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-capacity",
    title: "Capacity scheduling: queues with guaranteed shares",
    source: "Hadoop YARN, CapacityScheduler",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(policy(&Settings::read(values)?)?))),
};

/// Here the first task that finds no room blocks those behind it.
const DEPTH: Declared<u32> = shares::DEPTH.default("1");

settings! {
    /// What you can set.
    struct Settings {
        /// what jobs of one queue have in common
        by: By = "by" { choice: By::Queue, of: [By::Queue, By::Priority, By::Class, By::User, By::Group] },
        weights: File = WEIGHTS,
        /// queues take unused shares of others, up to their max; false: they get no more than their share
        elastic: bool = "elastic" { default: true },
        depth: u32 = DEPTH,
        priority: bool = PRIORITY,
    }
}

fn policy(settings: &Settings) -> Result<Shares, Error> {
    let rules = Rules::new(Measure::Dominant, settings.by, &settings.weights, settings.priority, settings.depth)?;
    Ok(Shares::new(Rules { elastic: settings.elastic, ..rules }))
}
