//! Quotas in a tree: what is used, what is free, and who borrows how far up.
//!
//! Queues are the nodes `0..queues`, cohorts follow. A *cell* is a pair of flavour and resource.

use super::error::Error;
use super::model::{FlavorId, Model, Quota, ResourceId};

/// No node, no cell.
pub(crate) const NONE: u32 = u32::MAX;
/// The largest sum of quotas, and the largest request: far from overflowing when both are added.
pub(crate) const LARGEST: i64 = 1 << 61;
/// Entries of the tables.
const MOST_ENTRIES: usize = 1 << 26;
/// Cohorts above a node.
const DEEPEST: usize = 64;

/// The arithmetic of quotas over all trees.
#[derive(Debug)]
pub(crate) struct Quotas {
    cells: usize,
    resources: usize,
    /// The cell of each pair of flavour and resource.
    cell_of: Vec<u32>,
    /// The resource of each cell.
    pub(crate) resource_of: Vec<u32>,
    pub(crate) parent: Vec<u32>,
    height: Vec<u32>,
    /// `borrowingLimit`, `i64::MAX` without.
    limit: Vec<i64>,
    /// What a node and those below it bring; for a queue its nominal quota.
    subtree: Vec<i64>,
    /// What a node never lends.
    kept: Vec<i64>,
    potential: Vec<i64>,
    usage: Vec<i64>,
}

impl Quotas {
    pub(crate) fn new(model: &Model) -> Result<Self, Error> {
        let (cell_of, resource_of) = cells(model);
        let (cells, nodes) = (resource_of.len(), model.queues.len() + model.cohorts.len());
        if cells.checked_mul(nodes).is_none_or(|entries| entries > MOST_ENTRIES) {
            return Err(Error::TooManyQuotas { nodes, cells });
        }
        let entries = cells * nodes;
        let mut quotas = Self {
            cells,
            resources: model.resources.len(),
            cell_of,
            resource_of,
            parent: parents(model),
            height: vec![0; nodes],
            limit: vec![i64::MAX; entries],
            subtree: vec![0; entries],
            kept: vec![0; entries],
            potential: vec![0; entries],
            usage: vec![0; entries],
        };
        quotas.fill(model)?;
        Ok(quotas)
    }

    /// Computes all that depends on quotas alone, children before their parents.
    fn fill(&mut self, model: &Model) -> Result<(), Error> {
        let order = self.leaves_first(model)?;
        let mut lending = vec![None; self.subtree.len()];
        for node in 0..self.parent.len() {
            for quota in quotas_of(model, node) {
                let at = self.at(node, self.cell(quota.flavor, quota.resource));
                self.subtree[at] = self.subtree[at].saturating_add(quota.nominal);
                self.limit[at] = quota.borrowing.unwrap_or(i64::MAX);
                lending[at] = quota.lending;
            }
        }
        for &node in &order {
            for cell in 0..self.cells {
                let at = node * self.cells + cell;
                if self.subtree[at] > LARGEST {
                    return Err(self.too_much(model, node, cell));
                }
                self.kept[at] = lending[at].map_or(0, |limit: i64| (self.subtree[at] - limit).max(0));
                if self.parent[node] != NONE {
                    let above = self.at(self.parent[node] as usize, cell as u32);
                    self.subtree[above] = self.subtree[above].saturating_add(self.subtree[at] - self.kept[at]);
                }
            }
            if self.parent[node] != NONE {
                let above = self.parent[node] as usize;
                let rise = if node < model.queues.len() { 1 } else { self.height[node] + 1 };
                self.height[above] = self.height[above].max(rise);
            }
        }
        for &node in order.iter().rev() {
            for cell in 0..self.cells as u32 {
                let at = self.at(node, cell);
                self.potential[at] = self.potential_of(node, cell);
            }
        }
        Ok(())
    }

    /// The most that a node can ever have; the potential of its parent is known.
    fn potential_of(&self, node: usize, cell: u32) -> i64 {
        let at = self.at(node, cell);
        if self.parent[node] == NONE {
            return self.subtree[at];
        }
        let all = self.kept[at] + self.potential[self.at(self.parent[node] as usize, cell)];
        all.min(self.subtree[at].saturating_add(self.limit[at]))
    }

    fn leaves_first(&self, model: &Model) -> Result<Vec<usize>, Error> {
        let mut depths = Vec::with_capacity(self.parent.len());
        for node in 0..self.parent.len() {
            let mut depth = 0;
            let mut above = self.parent[node];
            while above != NONE {
                depth += 1;
                if depth > DEEPEST {
                    return Err(Error::TooDeep(name(model, node).to_owned()));
                }
                above = self.parent[above as usize];
            }
            depths.push((std::cmp::Reverse(depth), node));
        }
        depths.sort_unstable();
        Ok(depths.into_iter().map(|(_, node)| node).collect())
    }

    fn too_much(&self, model: &Model, node: usize, cell: usize) -> Error {
        let pair = self.cell_of.iter().position(|&of| of == cell as u32).unwrap_or(0);
        let (flavor, resource) = (pair / self.resources.max(1), pair % self.resources.max(1));
        Error::TooMuchQuota {
            node: name(model, node).to_owned(),
            flavor: model.flavors.get(flavor).map_or_else(String::new, |flavor| flavor.name.clone()),
            resource: model.resources.get(resource).cloned().unwrap_or_default(),
        }
    }

    fn at(&self, node: usize, cell: u32) -> usize {
        node * self.cells + cell as usize
    }

    /// The cell of a pair, [`NONE`] if no quota names it.
    pub(crate) fn cell(&self, flavor: FlavorId, resource: ResourceId) -> u32 {
        self.cell_of[flavor.0 as usize * self.resources + resource.0 as usize]
    }

    /// The node at the top of the tree of `node`.
    pub(crate) fn root(&self, node: usize) -> usize {
        self.path(node).last().unwrap_or(node)
    }

    /// The node and all above it.
    pub(crate) fn path(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&node| self.above(node))
    }

    /// The parent of a node.
    pub(crate) fn above(&self, node: usize) -> Option<usize> {
        (self.parent[node] != NONE).then_some(self.parent[node] as usize)
    }

    pub(crate) fn usage(&self, node: usize, cell: u32) -> i64 {
        self.usage[self.at(node, cell)]
    }

    /// The nominal quota of a queue, the subtree quota of a cohort.
    pub(crate) fn quota(&self, node: usize, cell: u32) -> i64 {
        self.subtree[self.at(node, cell)]
    }

    /// The borrowing limit, `i64::MAX` without one.
    pub(crate) fn limit(&self, node: usize, cell: u32) -> i64 {
        self.limit[self.at(node, cell)]
    }

    /// The most that a node could have if nothing were used.
    pub(crate) fn potential(&self, node: usize, cell: u32) -> i64 {
        self.potential[self.at(node, cell)]
    }

    /// What a node keeps back and does not use.
    pub(crate) fn kept_free(&self, node: usize, cell: u32) -> i64 {
        let at = self.at(node, cell);
        (self.kept[at] - self.usage[at]).max(0)
    }

    /// True if a node stays within its quota with `more` on top.
    pub(crate) fn within(&self, node: usize, cell: u32, more: i64) -> bool {
        let at = self.at(node, cell);
        self.usage[at] + more <= self.subtree[at]
    }

    /// What a queue can still take.
    pub(crate) fn available(&self, queue: usize, cell: u32) -> i64 {
        self.available_at(queue, cell).max(0)
    }

    fn available_at(&self, node: usize, cell: u32) -> i64 {
        let at = self.at(node, cell);
        if self.parent[node] == NONE {
            return self.subtree[at] - self.usage[at];
        }
        let mut from_above = self.available_at(self.parent[node] as usize, cell);
        if self.limit[at] != i64::MAX {
            let lent = self.subtree[at] - self.kept[at];
            let used = (self.usage[at] - self.kept[at]).max(0);
            from_above = from_above.min((lent - used).saturating_add(self.limit[at]));
        }
        self.kept_free(node, cell) + from_above
    }

    /// How far up a request of a queue borrows, and whether the node that serves it has a parent.
    pub(crate) fn level(&self, queue: usize, cell: u32, value: i64) -> (u32, bool) {
        let Some(mut node) = self.above(queue) else { return (0, false) };
        if self.within(queue, cell, value) {
            return (0, true);
        }
        let mut rest = value - self.kept_free(queue, cell);
        loop {
            if self.within(node, cell, rest) {
                return (self.height[node], self.parent[node] != NONE);
            }
            rest -= self.kept_free(node, cell);
            let Some(above) = self.above(node) else { return (self.height[node], false) };
            node = above;
        }
    }

    /// Books use at a queue; what it does not keep back is use of its parents.
    pub(crate) fn add(&mut self, queue: usize, usage: &[(u32, i64)]) {
        for &(cell, value) in usage {
            let (mut node, mut rest) = (queue, value);
            loop {
                let at = self.at(node, cell);
                let free = (self.kept[at] - self.usage[at]).max(0);
                self.usage[at] += rest;
                if self.parent[node] == NONE || rest <= free {
                    break;
                }
                rest -= free;
                node = self.parent[node] as usize;
            }
        }
    }

    /// The opposite of [`Self::add`].
    pub(crate) fn remove(&mut self, queue: usize, usage: &[(u32, i64)]) {
        for &(cell, value) in usage {
            let (mut node, mut rest) = (queue, value);
            loop {
                let at = self.at(node, cell);
                let lent = self.usage[at] - self.kept[at];
                self.usage[at] -= rest;
                if lent <= 0 || self.parent[node] == NONE {
                    break;
                }
                rest = rest.min(lent);
                node = self.parent[node] as usize;
            }
        }
    }
}

/// Numbers the pairs of flavour and resource that any quota names, in the order of flavours and resources.
fn cells(model: &Model) -> (Vec<u32>, Vec<u32>) {
    let mut named = vec![false; model.flavors.len() * model.resources.len()];
    for node in 0..model.queues.len() + model.cohorts.len() {
        for quota in quotas_of(model, node) {
            named[quota.flavor.0 as usize * model.resources.len() + quota.resource.0 as usize] = true;
        }
    }
    let mut cell_of = vec![NONE; named.len()];
    let mut resource_of = Vec::new();
    for pair in (0..named.len()).filter(|&pair| named[pair]) {
        cell_of[pair] = resource_of.len() as u32;
        resource_of.push((pair % model.resources.len()) as u32);
    }
    (cell_of, resource_of)
}

fn parents(model: &Model) -> Vec<u32> {
    let queues = model.queues.len() as u32;
    let above = |cohort: Option<u32>| cohort.map_or(NONE, |cohort| queues + cohort);
    let of_queues = model.queues.iter().map(|queue| above(queue.cohort));
    of_queues.chain(model.cohorts.iter().map(|cohort| above(cohort.parent))).collect()
}

fn quotas_of(model: &Model, node: usize) -> &[Quota] {
    match node.checked_sub(model.queues.len()) {
        None => &model.queues[node].quotas,
        Some(cohort) => &model.cohorts[cohort].quotas,
    }
}

fn name(model: &Model, node: usize) -> &str {
    match node.checked_sub(model.queues.len()) {
        None => &model.queues[node].name,
        Some(cohort) => &model.cohorts[cohort].name,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may end where it fails")]
mod tests {
    use super::super::model::{Cohort, Flavor, Queue};
    use super::*;

    fn quota(nominal: i64, borrowing: Option<i64>, lending: Option<i64>) -> Quota {
        Quota { flavor: FlavorId(0), resource: ResourceId(0), nominal, borrowing, lending }
    }

    /// A root with quota 2; below it `left` (quota 4, lends 3) with the queues a (10, lends 6) and b (0, borrows up to 5), and `right` with the
    /// queue c (8). The queue d stands alone.
    fn tree() -> Quotas {
        let mut model =
            Model { resources: vec!["cpu".to_owned()], flavors: vec![Flavor::default()], ..Model::default() };
        for (name, parent, quotas) in [("root", None, quota(2, None, None)), ("left", Some(0), quota(4, None, Some(3)))]
        {
            model.cohorts.push(Cohort { parent, quotas: vec![quotas], ..Cohort::new(name) });
        }
        model.cohorts.push(Cohort { parent: Some(0), ..Cohort::new("right") });
        let queues = [
            ("a", Some(1), quota(10, None, Some(6))),
            ("b", Some(1), quota(0, Some(5), None)),
            ("c", Some(2), quota(8, None, None)),
            ("d", None, quota(3, None, None)),
        ];
        for (name, cohort, queue) in queues {
            model.queues.push(Queue { cohort, quotas: vec![queue], ..Queue::new(name) });
        }
        Quotas::new(&model).unwrap()
    }

    const A: usize = 0;
    const B: usize = 1;
    const C: usize = 2;
    const D: usize = 3;
    const ROOT: usize = 4;
    const LEFT: usize = 5;
    const RIGHT: usize = 6;

    #[test]
    fn quotas_climb_without_what_is_kept_back() {
        let tree = tree();
        // left: 4 + (10 - 4 kept by a) + 0 = 10, of which it lends 3; root: 2 + 3 + 8.
        assert_eq!([LEFT, RIGHT, ROOT].map(|node| tree.quota(node, 0)), [10, 8, 13]);
        // a: 4 kept + left's 7 kept + 13; b: at most its limit; c: all of the root.
        assert_eq!([A, B, C, D].map(|queue| tree.potential(queue, 0)), [24, 5, 13, 3]);
        assert_eq!([A, B, C, D].map(|queue| tree.available(queue, 0)), [24, 5, 13, 3]);
    }

    #[test]
    fn use_climbs_and_comes_down_again() {
        let mut tree = tree();
        tree.add(A, &[(0, 15)]);
        // a keeps 4, so 11 reach left, which keeps 7, so 4 reach the root.
        assert_eq!([A, LEFT, ROOT].map(|node| tree.usage(node, 0)), [15, 11, 4]);
        assert_eq!([A, B, C].map(|queue| tree.available(queue, 0)), [9, 5, 9]);
        tree.add(C, &[(0, 9)]);
        assert_eq!([A, B, C].map(|queue| tree.available(queue, 0)), [0, 0, 0]);
        tree.remove(A, &[(0, 12)]);
        assert_eq!([A, LEFT, ROOT].map(|node| tree.usage(node, 0)), [3, 0, 9]);
        tree.remove(A, &[(0, 3)]);
        tree.remove(C, &[(0, 9)]);
        assert_eq!([A, B, C, LEFT, RIGHT, ROOT].map(|node| tree.usage(node, 0)), [0; 6]);
    }

    #[test]
    fn levels_are_the_heights_of_those_who_lend() {
        let mut tree = tree();
        assert_eq!(tree.level(A, 0, 10), (0, true));
        // 12 - 4 kept = 8 fit left's 10.
        assert_eq!(tree.level(A, 0, 12), (1, true));
        // 15 - 4 = 11 do not; 11 - 7 kept = 4 fit the root's 13.
        assert_eq!(tree.level(A, 0, 15), (2, false));
        assert_eq!(tree.level(A, 0, 99), (2, false));
        assert_eq!(tree.level(D, 0, 99), (0, false));
        tree.add(C, &[(0, 8)]);
        assert_eq!(tree.level(C, 0, 1), (2, false));
    }
}
