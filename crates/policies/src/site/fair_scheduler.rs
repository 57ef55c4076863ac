//! `fair-scheduler.xml`: the allocations of the Fair Scheduler, here of MapReduce 1. A file with elements that only YARN knows is
//! for [`fair_queues`].
//!
//! **Source.** `PoolManager` of Hadoop MapReduce, June 2011. Times are seconds there. What a pool does not set it takes from
//! `poolMaxJobsDefault`, `defaultPoolSchedulingMode` and `defaultMinSharePreemptionTimeout`, and so does a pool that the file
//! does not name.

use super::xml::{Element, Notes};
use super::{Site, fair_queues};
use crate::error::Error;
use crate::input::Input;
use crate::queues::allocations::{Allocations, PoolConfig, PoolMode};
use crate::zeros::{MAX_JOBS, USER_MAX_JOBS, USERS};

/// The policy under which zeros are noted; others read the same pools.
const FAIR: &str = "fair";

/// Reads `<allocations>`.
pub(super) fn read(root: Element<'_>, site: &mut Site, notes: &mut Notes<'_>) -> Result<(), Error> {
    if fair_queues::is_yarn(root) {
        notes.about(Input::YarnFairQueues);
        return fair_queues::read(root, site, notes);
    }
    let mut allocations = Allocations::default();
    // Defaults may stand behind the pools that take them.
    for element in root.children() {
        default(element, &mut allocations, notes)?;
        match element.name() {
            "userMaxJobsDefault" => site.note_zero((FAIR, "", USER_MAX_JOBS), element),
            "poolMaxJobsDefault" => site.note_zero((FAIR, "", MAX_JOBS), element),
            _ => {}
        }
    }
    for element in root.children() {
        match element.name() {
            "pool" => {
                let pool = pool(element, allocations.unnamed.clone(), notes)?;
                let name = element.named(notes)?;
                for part in element.children() {
                    match part.name() {
                        "maxMaps" => site.note_zero((FAIR, &name, "max_maps"), part),
                        "maxReduces" => site.note_zero((FAIR, &name, "max_reduces"), part),
                        "maxRunningJobs" => site.note_zero((FAIR, &name, MAX_JOBS), part),
                        _ => {}
                    }
                }
                allocations.pools.insert(name, pool);
            }
            "user" => {
                user(element, &mut allocations, notes)?;
                let name = element.named(notes)?;
                let limits = element.children().filter(|part| part.name() == "maxRunningJobs");
                limits.for_each(|limit| site.note_zero((FAIR, &name, USERS), limit));
            }
            _ => {}
        }
    }
    site.pools = Some(allocations);
    Ok(())
}

/// Reads what holds for all pools or users.
fn default(element: Element<'_>, allocations: &mut Allocations, notes: &mut Notes<'_>) -> Result<(), Error> {
    match element.name() {
        "pool" | "user" => {}
        "userMaxJobsDefault" => allocations.user_max_jobs = Some(element.count(notes)?),
        "poolMaxJobsDefault" => allocations.unnamed.max_jobs = Some(element.count(notes)?),
        "defaultPoolSchedulingMode" => allocations.unnamed.mode = mode(element, notes)?,
        "fairSharePreemptionTimeout" => allocations.fair_share_timeout = Some(element.seconds(notes)?),
        "defaultMinSharePreemptionTimeout" => allocations.min_share_timeout = Some(element.seconds(notes)?),
        _ => unknown(element, notes),
    }
    Ok(())
}

fn pool(element: Element<'_>, unnamed: PoolConfig, notes: &mut Notes<'_>) -> Result<PoolConfig, Error> {
    let mut pool = unnamed;
    for part in element.children() {
        match part.name() {
            "minMaps" => pool.min_maps = part.count(notes)?,
            "minReduces" => pool.min_reduces = part.count(notes)?,
            "maxMaps" => pool.max_maps = Some(part.count(notes)?),
            "maxReduces" => pool.max_reduces = Some(part.count(notes)?),
            "maxRunningJobs" => pool.max_jobs = Some(part.count(notes)?),
            "weight" => pool.weight = part.number(notes, 1e-6, 1e9)?,
            "minSharePreemptionTimeout" => pool.min_share_timeout = Some(part.seconds(notes)?),
            "schedulingMode" => pool.mode = mode(part, notes)?,
            _ => unknown(part, notes),
        }
    }
    Ok(pool)
}

fn user(element: Element<'_>, allocations: &mut Allocations, notes: &mut Notes<'_>) -> Result<(), Error> {
    let name = element.named(notes)?;
    for part in element.children() {
        match part.name() {
            "maxRunningJobs" => {
                allocations.users.insert(name.clone(), part.count(notes)?);
            }
            _ => unknown(part, notes),
        }
    }
    Ok(())
}

fn mode(element: Element<'_>, notes: &Notes<'_>) -> Result<PoolMode, Error> {
    let text = element.text();
    match text.to_lowercase().as_str() {
        "fair" => Ok(PoolMode::Fair),
        "fifo" => Ok(PoolMode::Fifo),
        _ => Err(notes.wrong(element.place(), &element.tag(), "fair or fifo", &text)),
    }
}

fn unknown(element: Element<'_>, notes: &mut Notes<'_>) {
    notes.unsupported(element.place(), &element.tag(), "resched does not know it");
}
