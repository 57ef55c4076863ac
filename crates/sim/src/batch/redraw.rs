//! Other preferred machines for the tasks of a stage, where a log of Spark shows only some of them.

use std::ops::Range;

use rand::seq::SliceRandom;
use resched_tables::draws::{Purpose, stream};

use crate::ids::NodeId;

/// What a log shows of the machines that a task prefers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// How many it was seen to prefer, which stand before the others.
    pub(super) seen: usize,
    /// The machine on which it ran although it preferred others.
    pub(super) far: Option<NodeId>,
}

/// How many machines are looked at for one that a task may prefer.
const MOST_LOOKS: usize = 64;

/// Deals out the machines that the tasks of a stage were not seen to prefer among these tasks again. So each machine stays as popular, and
/// each task has as many. `prefers`: the part of `nodes` that belongs to each task.
pub(super) fn redraw(nodes: &mut [NodeId], prefers: Vec<(Range<usize>, Shown)>, seed: u64, stage: [u64; 2]) {
    let drawn = |(part, shown): &(Range<usize>, Shown)| part.start + shown.seen.min(part.len())..part.end;
    let mut pool: Vec<NodeId> = prefers.iter().flat_map(drawn).filter_map(|place| nodes.get(place).copied()).collect();
    pool.retain(|node| *node != NodeId::OUTSIDE);
    pool.shuffle(&mut stream(seed, Purpose::PreferredHost, &stage));
    for preferred in &prefers {
        for place in drawn(preferred) {
            if nodes.get(place) == Some(&NodeId::OUTSIDE) {
                continue;
            }
            let before = nodes.get(preferred.0.start..place).unwrap_or_default();
            let may = |node: &NodeId| !before.contains(node) && preferred.1.far != Some(*node);
            let found = pool.iter().rev().take(MOST_LOOKS).position(may);
            // If no machine of the rest will do, the task keeps its own.
            if let Some(found) = found.map(|back| pool.len() - 1 - back) {
                let node = pool.swap_remove(found);
                if let Some(at_place) = nodes.get_mut(place) {
                    *at_place = node;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_was_seen_stays_and_what_was_drawn_is_dealt_out_again() {
        let before: Vec<NodeId> = (0..200).flat_map(|task| [NodeId(task % 4), NodeId(4 + task % 5)]).collect();
        let shown = |task: usize| Shown { seen: 1, far: (task == 7).then_some(NodeId(5)) };
        let prefers = || (0..200).map(|task| (2 * task..2 * task + 2, shown(task))).collect::<Vec<_>>();
        let mut after = before.clone();
        redraw(&mut after, prefers(), 3, [1, 0]);
        let at = |nodes: &[NodeId], side: usize| nodes.iter().skip(side).step_by(2).copied().collect::<Vec<_>>();
        assert_eq!(at(&before, 0), at(&after, 0));
        assert_ne!(at(&before, 1), at(&after, 1));
        let counts = |nodes: Vec<NodeId>| {
            nodes.into_iter().fold(BTreeMap::new(), |mut counts, node| {
                *counts.entry(node).or_insert(0i64) += 1;
                counts
            })
        };
        let differ: i64 = counts(at(&before, 1))
            .iter()
            .map(|(node, n)| (n - counts(at(&after, 1)).get(node).unwrap_or(&0)).abs())
            .sum();
        assert!(differ <= 2, "each machine stays as popular, but for a task that kept its own: {differ}");
        assert_ne!(after[15], NodeId(5), "where it ran without preferring it");
        let mut again = before.clone();
        redraw(&mut again, prefers(), 3, [1, 0]);
        assert_eq!(after, again);
    }
}
