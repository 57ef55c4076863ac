//! The replays at one size.

use resched_analysis::measure::Measured;
use resched_analysis::repeats::t_interval;
use resched_analysis::{Gathered, Run};
use resched_policies::Engine as PolicyEngine;
use resched_replay::{ClusterConfig, Engine, ReadBy, Setup, Source, Threads, World};
use resched_sim::hadoop::System;

use super::{Interval, Probe, Sizing, Step, Vary};
use crate::Error;

/// Checks what the replays would not.
pub(super) fn check(asked: &Sizing) -> Result<(), Error> {
    let wrong = |problem: &str| Err(Error::Request(problem.to_owned()));
    if asked.from == 0 || asked.from > asked.to {
        return wrong("expected sizes from 1, and no smaller largest size; correct --from and --to");
    }
    if asked.seeds == 0 {
        return wrong("expected at least one seed; correct --seeds");
    }
    if asked.vary == Vary::Slots && (asked.source.engine() == Engine::Batch || asked.policy.info.is_batch()) {
        return wrong("a machine has no slots under the policies for production traces; vary nodes");
    }
    Ok(())
}

/// Replays the source at this size, once for each seed.
pub(super) fn probe(asked: &Sizing, size: u32, threads: Threads, told: &(dyn Fn(Step) + Sync)) -> Result<Probe, Error> {
    let world = match at(asked, size) {
        Ok(world) => world,
        // A container may not fit on the smallest machines, or a job on the smallest cluster.
        Err(error) if error.is_request() && size < asked.to => {
            return Ok(Probe { size, values: Vec::new(), mean: None, holds: false, problem: Some(error.to_string()) });
        }
        Err(error) => return Err(error.into()),
    };
    let first = asked.setup.seed;
    let seeds: Vec<u64> = (0..asked.seeds).map(|step| first.wrapping_add(step)).collect();
    let values = threads.in_order(&seeds, |&seed| {
        let mut gathered = Gathered::default();
        let info = world.with_seed(seed).replay(&asked.policy, ReadBy(&mut gathered))?;
        told(Step::Replayed);
        asked.metric.of(&Measured::new(&Run::of_gathered(info, gathered))).ok_or_else(|| {
            let name = &asked.metric.name;
            Error::Request(format!(
                "with {size} {}, {name} is unknown; choose another metric",
                if asked.vary == Vary::Nodes { "nodes" } else { "slots" }
            ))
        })
    })?;
    let mean = t_interval(&values).map(|found| Interval::of(found, values.len()));
    let holds = mean.is_some_and(|found| asked.bound.holds(found.mean));
    Ok(Probe { size, values, mean, holds, problem: None })
}

/// The world at this size, checked for the policy.
fn at(asked: &Sizing, size: u32) -> Result<World, resched_replay::Error> {
    let Sizing { source, setup, policy, vary, .. } = asked;
    let mut cluster = setup.cluster.clone();
    let source: Source = match vary {
        Vary::Nodes => source.clone().resized(&mut cluster, size)?,
        Vary::Slots => {
            with_slots(&mut cluster, policy.info.engine, size);
            source.clone()
        }
    };
    let world = World::open(&source, Setup { cluster, ..setup.clone() })?;
    world.check(policy)?;
    Ok(world)
}

/// Gives every machine `size` map slots, or the resources of as many containers.
fn with_slots(cluster: &mut ClusterConfig, engine: PolicyEngine, size: u32) {
    if engine == PolicyEngine::Hadoop(System::Containers) {
        cluster.containers.set_room(size);
        return;
    }
    let [maps, reduces] = cluster.nodes.slots().map(u64::from);
    let reduces = (u64::from(size) * reduces).div_ceil(maps.max(1));
    cluster.nodes.map_slots = Some(size);
    cluster.nodes.reduce_slots = Some(u32::try_from(reduces).unwrap_or(u32::MAX));
    cluster.nodes.alike = true;
}
