//! Finds the machine on which a task is placed, among thousands, without looking at each.

use std::collections::BTreeSet;

use crate::cluster_file::Placement;
use crate::resources::Resources;

/// The free resources of the machines, arranged so that the place of a task is found.
#[derive(Debug, Clone)]
pub(super) enum Index {
    First(Tree),
    Best(Sorted),
}

impl Index {
    /// Machines with these free resources; `largest` is the most that any machine ever offers.
    pub(super) fn new(placement: Placement, free: &[Resources], largest: Resources) -> Self {
        match placement {
            Placement::FirstFit => Self::First(Tree::new(free)),
            Placement::BestFit => Self::Best(Sorted::new(free, largest)),
        }
    }

    /// The machine for a demand.
    pub(super) fn find(&self, demand: Resources) -> Option<usize> {
        match self {
            Self::First(tree) => tree.first(demand),
            Self::Best(sorted) => sorted.best(demand),
        }
    }

    /// Sets the free resources of a machine.
    pub(super) fn set(&mut self, node: usize, free: Resources) {
        match self {
            Self::First(tree) => tree.set(node, free),
            Self::Best(sorted) => sorted.set(node, free),
        }
    }

    /// The free resources of a machine.
    pub(super) fn free(&self, node: usize) -> Resources {
        match self {
            Self::First(tree) => tree.nodes[tree.leaves + node],
            Self::Best(sorted) => sorted.free[node],
        }
    }
}

/// First fit: a tree over the machines in their order, in which each knot holds the most that is free below it, part by
/// part.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// The root at 1; the children of `n` at `2n` and `2n + 1`; the machines from `leaves` on.
    nodes: Vec<Resources>,
    leaves: usize,
}

impl Tree {
    pub(super) fn new(free: &[Resources]) -> Self {
        let leaves = free.len().next_power_of_two();
        let mut nodes = vec![Resources::NONE; 2 * leaves];
        nodes[leaves..leaves + free.len()].copy_from_slice(free);
        for at in (1..leaves).rev() {
            nodes[at] = nodes[2 * at].max(nodes[2 * at + 1]);
        }
        Self { nodes, leaves }
    }

    /// The first machine with enough free. A knot may promise more than any machine below it has: one may have the
    /// processor and another the memory. Then the search goes on to its right.
    pub(super) fn first(&self, demand: Resources) -> Option<usize> {
        let mut at = 1;
        loop {
            while !self.nodes[at].holds(demand) {
                // On to the next knot on the right that is not below this one.
                while at & 1 == 1 {
                    at >>= 1;
                }
                if at == 0 {
                    return None;
                }
                at += 1;
            }
            if at >= self.leaves {
                return Some(at - self.leaves);
            }
            at *= 2;
        }
    }

    fn set(&mut self, node: usize, free: Resources) {
        let mut at = self.leaves + node;
        self.nodes[at] = free;
        while at > 1 {
            at >>= 1;
            let most = self.nodes[2 * at].max(self.nodes[2 * at + 1]);
            if self.nodes[at] == most {
                return;
            }
            self.nodes[at] = most;
        }
    }
}

/// Best fit: for each machine, takes the resource of which the largest share is left over, as a share of the largest
/// machine, and chooses the machine where that share is smallest. Among equal machines it takes the one with less
/// processor free, then with less memory free, then the first. Machines stand in that order, so the search may stop as
/// soon as the processor alone leaves no less over than the best so far.
#[derive(Debug, Clone)]
pub(super) struct Sorted {
    by_free: BTreeSet<(u64, u64, usize)>,
    free: Vec<Resources>,
    largest: Resources,
}

impl Sorted {
    fn new(free: &[Resources], largest: Resources) -> Self {
        let by_free = free.iter().enumerate().map(|(node, free)| (free.cpu, free.memory, node)).collect();
        Self { by_free, free: free.to_vec(), largest }
    }

    /// The resources left over, scaled to whole numbers.
    fn left_over(&self, cpu: u64, memory: u64) -> u128 {
        let scaled = |left: u64, other: u64| u128::from(left) * u128::from(other.max(1));
        // Where memory is not limited, none is left over.
        scaled(cpu, self.largest.memory).max(scaled(memory, self.largest.cpu))
    }

    fn best(&self, demand: Resources) -> Option<usize> {
        let mut best: Option<(u128, usize)> = None;
        let mut from = demand.cpu;
        // Of the machines with one amount of processor free, the first with enough memory is the best.
        while let Some(&(cpu, memory, node)) = self.by_free.range((from, demand.memory, 0)..).next() {
            if best.is_some_and(|(least, _)| self.left_over(cpu - demand.cpu, 0) >= least) {
                break;
            }
            if memory < demand.memory {
                from = cpu;
                continue;
            }
            let left_over = self.left_over(cpu - demand.cpu, memory - demand.memory);
            if best.is_none_or(|(least, _)| left_over < least) {
                best = Some((left_over, node));
            }
            match cpu.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        best.map(|(_, node)| node)
    }

    fn set(&mut self, node: usize, free: Resources) {
        let before = self.free[node];
        if before != free {
            self.by_free.remove(&(before.cpu, before.memory, node));
            self.by_free.insert((free.cpu, free.memory, node));
            self.free[node] = free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use resched_tables::draws::{Purpose, stream};

    fn amount(cpu: u64, memory: u64) -> Resources {
        Resources { cpu, memory }
    }

    const LARGEST: Resources = Resources { cpu: 12, memory: 8 };

    /// The result that both searches must find, by looking at every machine.
    fn by_scan(free: &[Resources], demand: Resources) -> [Option<usize>; 2] {
        let fitting = || free.iter().enumerate().filter(|(_, free)| free.holds(demand));
        let left = |free: &Resources| {
            ((free.cpu - demand.cpu) * LARGEST.memory).max((free.memory - demand.memory) * LARGEST.cpu)
        };
        let best = fitting().min_by_key(|&(node, free)| (left(free), *free, node));
        [fitting().next().map(|(node, _)| node), best.map(|(node, _)| node)]
    }

    #[test]
    fn both_searches_find_what_a_look_at_every_machine_finds() {
        let mut draws = stream(1, Purpose::BlockPlacement, &[]);
        let mut some = |most: u64| draws.random_range(0..=most);
        for count in [1_usize, 2, 3, 7, 8, 33] {
            let mut free: Vec<Resources> = (0..count).map(|_| amount(some(12), some(8))).collect();
            let mut indices =
                [Placement::FirstFit, Placement::BestFit].map(|placement| Index::new(placement, &free, LARGEST));
            for _ in 0..500 {
                let demand = amount(some(12), some(8));
                assert_eq!(
                    [indices[0].find(demand), indices[1].find(demand)],
                    by_scan(&free, demand),
                    "{free:?} {demand:?}"
                );
                let (node, now) = (some(count as u64 - 1) as usize, amount(some(12), some(8)));
                free[node] = now;
                for index in &mut indices {
                    index.set(node, now);
                    assert_eq!(index.free(node), now);
                }
            }
        }
    }

    #[test]
    fn a_search_ends_where_nothing_fits_and_where_there_is_no_machine() {
        assert_eq!(Tree::new(&[]).first(amount(1, 0)), None);
        assert_eq!(Tree::new(&[amount(1, 0), amount(0, 1)]).first(amount(1, 1)), None);
        assert_eq!(Sorted::new(&[amount(u64::MAX, 0)], LARGEST).best(amount(1, 1)), None);
    }
}
