//! `fairscheduler.xml`: the pools of Spark's fair scheduler.
//!
//! **Source.** `FairSchedulableBuilder` of Spark 3.5: a value that cannot be read counts as its default, with a warning.

use super::xml::{Element, Notes};
use crate::error::Error;
use crate::queues::spark_pools::{Mode, PoolConf, SparkPools};

/// Reads `<allocations>`.
pub(super) fn read(root: Element<'_>, notes: &mut Notes<'_>) -> Result<SparkPools, Error> {
    let mut pools = SparkPools::default();
    for element in root.children() {
        match element.name() {
            "pool" => {
                let conf = pool(element, notes);
                let name = element.named(notes);
                if let Some(name) = notes.lenient(&element.place(), &element.tag(), name) {
                    pools.pools.insert(name, conf);
                }
            }
            _ => notes.unsupported(element.place(), &element.tag(), "only <pool> is read here"),
        }
    }
    Ok(pools)
}

fn pool(element: Element<'_>, notes: &mut Notes<'_>) -> PoolConf {
    let mut pool = PoolConf::default();
    for part in element.children() {
        let read = match part.name() {
            "schedulingMode" => mode(part, notes).map(|mode| pool.mode = mode),
            "weight" => part.number(notes, 1e-6, 1e9).map(|weight| pool.weight = weight),
            "minShare" => part.count(notes).map(|share| pool.min_share = share),
            _ => {
                notes.unsupported(part.place(), &part.tag(), "resched does not know it");
                Ok(())
            }
        };
        notes.lenient(&part.place(), &part.tag(), read);
    }
    pool
}

fn mode(element: Element<'_>, notes: &Notes<'_>) -> Result<Mode, Error> {
    let text = element.text();
    let mode = Mode::named(&text.to_lowercase());
    mode.ok_or_else(|| notes.wrong(element.place(), &element.tag(), "FAIR or FIFO", &text))
}
