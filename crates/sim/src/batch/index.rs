//! Finds the machine on which a task is placed, among thousands, without looking at each.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::dim::Dim;
use crate::cluster_file::Placement;
use crate::resources::Resources;

/// The most named resources by which machines are found. What machines have of further ones is looked at machine by machine.
const MOST_NAMED: usize = 8;

/// What is free on the machines, arranged so that the place of a task is found.
#[derive(Debug, Clone)]
pub(super) struct Index {
    /// For first fit, and under any rule for tasks that ask for named resources: those take the first machine that has them.
    tree: Option<Tree>,
    /// For best fit.
    sorted: Option<Sorted>,
}

impl Index {
    /// Machines with so much processor and memory free; `largest` is the most that any machine ever offers.
    pub(super) fn new(placement: Placement, free: &[Resources], largest: Resources) -> Self {
        match placement {
            Placement::FirstFit => Self { tree: Some(Tree::new(free)), sorted: None },
            Placement::BestFit => Self { tree: None, sorted: Some(Sorted::new(free, largest)) },
        }
    }

    /// Finds machines by these named resources, too, of which each machine has so much free.
    pub(super) fn add_dimensions(&mut self, dims: &[Dim], free: impl Fn(usize, Dim) -> u64) {
        if dims.is_empty() {
            return;
        }
        let main = || self.sorted.as_ref().map_or_else(Vec::new, |sorted| sorted.free.clone());
        let mut tree = self.tree.take().unwrap_or_else(|| Tree::new(&main()));
        tree.add_dimensions(dims, free);
        self.tree = Some(tree);
    }

    /// The machine for a demand of processor and memory alone.
    #[inline]
    pub(super) fn find(&self, demand: Resources) -> Option<usize> {
        match (&self.sorted, &self.tree) {
            (Some(sorted), _) => sorted.best(demand),
            (None, Some(tree)) => tree.first(demand),
            (None, None) => None,
        }
    }

    /// The first machine for a demand that asks for named resources, too. `fits` says of a machine whether it has them.
    pub(super) fn find_named(
        &self,
        demand: Resources,
        asked: &[(Dim, u64)],
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        self.tree.as_ref()?.first_named(demand, asked, fits)
    }

    /// Sets what is free of processor and memory on a machine.
    #[inline]
    pub(super) fn set(&mut self, node: usize, free: Resources) {
        if let Some(tree) = &mut self.tree {
            tree.set(node, free);
        }
        if let Some(sorted) = &mut self.sorted {
            sorted.set(node, free);
        }
    }

    /// Sets what is free of a named resource on a machine.
    pub(super) fn set_named(&mut self, node: usize, dim: Dim, free: u64) {
        if let Some(tree) = &mut self.tree {
            tree.set_named(node, dim, free);
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
    /// The named resources that count.
    dims: Vec<Dim>,
    /// The most of each of them below each knot, knot by knot.
    named: Vec<u64>,
}

impl Tree {
    pub(super) fn new(free: &[Resources]) -> Self {
        let leaves = free.len().next_power_of_two();
        let mut nodes = vec![Resources::NONE; 2 * leaves];
        nodes[leaves..leaves + free.len()].copy_from_slice(free);
        for at in (1..leaves).rev() {
            nodes[at] = nodes[2 * at].max(nodes[2 * at + 1]);
        }
        Self { nodes, leaves, dims: Vec::new(), named: Vec::new() }
    }

    fn add_dimensions(&mut self, dims: &[Dim], free: impl Fn(usize, Dim) -> u64) {
        self.dims = dims.iter().copied().take(MOST_NAMED).collect();
        let count = self.dims.len();
        self.named = vec![0; 2 * self.leaves * count];
        for node in 0..self.leaves {
            for (place, &dim) in self.dims.iter().enumerate() {
                self.named[(self.leaves + node) * count + place] = free(node, dim);
            }
        }
        for at in (count..self.leaves * count).rev() {
            let (knot, place) = (at / count, at % count);
            self.named[at] = self.named[2 * knot * count + place].max(self.named[(2 * knot + 1) * count + place]);
        }
    }

    /// The first machine with enough free.
    pub(super) fn first(&self, demand: Resources) -> Option<usize> {
        self.search(|at| self.nodes[at].holds(demand))
    }

    /// The first machine with enough free, also of named resources.
    fn first_named(&self, demand: Resources, asked: &[(Dim, u64)], fits: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.dims.len();
        let place = |dim: Dim| self.dims.iter().position(|&known| known == dim);
        let known: SmallVec<[(usize, u64); 2]> = asked.iter().filter_map(|&(dim, n)| Some((place(dim)?, n))).collect();
        self.search(|at| {
            self.nodes[at].holds(demand)
                && known.iter().all(|&(place, n)| self.named[at * count + place] >= n)
                && (at < self.leaves || fits(at - self.leaves))
        })
    }

    /// The first machine that does. A knot may promise more than any machine below it has: one may have the processor and another the
    /// memory. Then the search goes on to its right.
    #[inline]
    fn search(&self, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = 1;
        loop {
            while !holds(at) {
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

    fn set_named(&mut self, node: usize, dim: Dim, free: u64) {
        let Some(place) = self.dims.iter().position(|&known| known == dim) else { return };
        let count = self.dims.len();
        let mut at = self.leaves + node;
        self.named[at * count + place] = free;
        while at > 1 {
            at >>= 1;
            let most = self.named[2 * at * count + place].max(self.named[(2 * at + 1) * count + place]);
            if self.named[at * count + place] == most {
                return;
            }
            self.named[at * count + place] = most;
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
                }
            }
        }
    }

    #[test]
    fn machines_are_found_by_what_they_have_of_many_names() {
        let mut draws = stream(2, Purpose::BlockPlacement, &[]);
        let mut some = |most: u64| draws.random_range(0..=most);
        let dims: Vec<Dim> = (2..2 + MOST_NAMED + 2).map(Dim::at).collect();
        for placement in [Placement::FirstFit, Placement::BestFit] {
            let main: Vec<Resources> = (0..13).map(|_| amount(some(3), some(3))).collect();
            let mut named: Vec<Vec<u64>> = (0..13).map(|_| dims.iter().map(|_| some(3)).collect()).collect();
            let mut index = Index::new(placement, &main, LARGEST);
            let of = |named: &[Vec<u64>], node: usize, dim: Dim| {
                named.get(node).map_or(0, |amounts| amounts[dim.index() - 2])
            };
            index.add_dimensions(&dims, |node, dim| of(&named, node, dim));
            for _ in 0..500 {
                let demand = amount(some(2), some(2));
                let wanted: Vec<u64> = dims.iter().map(|_| some(8)).collect();
                // One of three is asked for.
                let asked = dims.iter().copied().zip(wanted).filter(|(_, n)| *n < 3).collect::<Vec<(Dim, u64)>>();
                let fits = |node: usize| asked.iter().all(|&(dim, n)| of(&named, node, dim) >= n);
                let found = index.find_named(demand, &asked, fits);
                assert_eq!(found, (0..13).find(|&node| main[node].holds(demand) && fits(node)));
                let (node, dim, now) = (some(12) as usize, dims[some(9) as usize], some(3));
                named[node][dim.index() - 2] = now;
                index.set_named(node, dim, now);
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
