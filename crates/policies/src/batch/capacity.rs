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

use super::fifo::PRIORITY;
use super::shares::{By, Measure, Rules, Shares, WEIGHTS, read_claims, shares_as_policy};
use crate::error::Error;
use crate::info::{Build, Engine, Family, PolicyInfo};
use crate::parameter::{Parameter, Values};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-capacity",
    title: "Queues with guaranteed shares",
    source: "Hadoop YARN, CapacityScheduler",
    family: Family::Production,
    engine: Engine::Batch,
    oracle: false,
    parameters: &[
        Parameter::choice("by", "queue", &["queue", "priority", "class", "user", "group"], "what makes a queue"),
        WEIGHTS,
        Parameter::boolean(
            "elastic",
            "true",
            "queues take what others leave, up to their max; false: no more than their share",
        ),
        Parameter { default: "1", ..super::shares::DEPTH },
        PRIORITY,
    ],
    build: Build::Batch(|values, _| Ok(Box::new(BatchCapacity::new(values)?))),
};

/// The policy.
#[derive(Debug)]
pub struct BatchCapacity(Shares);

impl BatchCapacity {
    fn new(values: &Values) -> Result<Self, Error> {
        Ok(Self(Shares::new(Rules {
            by: By::named(values.text("by")),
            measure: Measure::Dominant,
            claims: read_claims(values.text("weights")).map_err(Error::File)?,
            elastic: values.boolean("elastic"),
            by_priority: values.boolean("priority"),
            depth: values.integer("depth") as u32,
        })))
    }
}

shares_as_policy!(BatchCapacity);
