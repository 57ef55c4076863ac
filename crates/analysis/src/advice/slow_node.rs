//! A node on which maps take longer than elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::{Locality, TaskKind};
use resched_tables::words::{count, name};

use super::{Advice, LEAST_WAIT, Seen, run_times, time};
use crate::runs::spans::{Interval, NodeNumber};
use crate::statistics::distribution::Distribution;

/// The fewest maps that are compared on a node, and the fewest jobs that they are of.
const LEAST_MAPS: usize = 20;
const LEAST_JOBS: usize = 3;
/// The fewest maps of a job as near to their input that have a median.
const LEAST_ALIKE: usize = 5;
/// How many times as long as elsewhere maps take on a slow node.
const SLOWER: f64 = 1.5;

/// Nodes on which the median map takes at least 1.5 times as long as the median map of the same job that is as near to its input, over at
/// least twenty maps of three jobs.
pub(super) fn advise(seen: &Seen<'_>) -> Vec<Advice> {
    let mut of_nodes: BTreeMap<NodeNumber, (Vec<f64>, BTreeSet<usize>, f64)> = BTreeMap::new();
    for (job, maps) in seen.attempts(TaskKind::Map).iter().enumerate() {
        let mut alike: BTreeMap<Option<Locality>, Vec<&Interval>> = BTreeMap::new();
        for &map in maps.iter().filter(|map| map.succeeded) {
            alike.entry(map.locality).or_default().push(map);
        }
        for maps in alike.values().filter(|maps| maps.len() >= LEAST_ALIKE) {
            let Some(median) = run_times(maps).median().filter(|median| *median > 0.0) else { continue };
            for map in maps {
                let Some(node) = map.node else { continue };
                let ran = (map.finish - map.start) as f64;
                let (ratios, jobs, lost) = of_nodes.entry(node).or_default();
                ratios.push(ran / median);
                jobs.insert(job);
                *lost += (ran - median).max(0.0);
            }
        }
    }
    let slow = |(node, (ratios, jobs, lost)): (NodeNumber, (Vec<f64>, BTreeSet<usize>, f64))| {
        let (maps, ratio) = (ratios.len(), Distribution::new(ratios).median()?);
        if maps < LEAST_MAPS || jobs.len() < LEAST_JOBS || ratio < SLOWER || lost < LEAST_WAIT as f64 {
            return None;
        }
        let node = seen.run.nodes.get(node.place())?.clone();
        Some(Advice {
            rule: "slow-node",
            job_id: None,
            user: None,
            queue: None,
            time_ms: lost as i64,
            says: format!(
                "On {}, the median map takes {ratio:.1} times as long as other maps of its job ({} maps of {} jobs, {} of task time).",
                name(&node),
                count(maps as u64),
                count(jobs.len() as u64),
                time(lost as i64)
            ),
            change:
                "Check its disks and its network, or remove it; `resched calibrate` fits how many times as long its tasks take."
                    .to_owned(),
            node: Some(node),
        })
    };
    of_nodes.into_iter().filter_map(slow).collect()
}
