//! What is free of the dimensions beside processor and memory, machine by machine.

use super::dim::Dim;
use super::dimensions::{Asked, Dimensions};
use super::machines::Machines;
use crate::ids::NodeId;

/// Only what a machine lists is kept: names may be many, and most machines have few of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Stock {
    /// Where the entries of each machine begin; one more than there are machines. Empty if no machine lists anything.
    starts: Vec<u32>,
    /// The dimensions of the machines, by machine, then by number, with what is free of each.
    free: Vec<(Dim, u64)>,
    /// What is free of each licence.
    licenses: Vec<u64>,
    first_license: usize,
}

impl Stock {
    /// All that these machines have is free.
    pub(super) fn of(dimensions: &Dimensions, machines: &Machines) -> Self {
        let mut made = Self {
            licenses: machines.licenses().iter().map(|(_, amount)| *amount).collect(),
            first_license: dimensions.licenses().next().map_or(dimensions.len(), Dim::index),
            ..Self::default()
        };
        if machines.nodes().iter().all(|machine| machine.resources.is_empty()) {
            return made;
        }
        made.starts.push(0);
        for machine in machines.nodes() {
            let from = made.free.len();
            let listed = machine.resources.iter().filter_map(|(name, n)| Some((dimensions.of_machine(name)?, *n)));
            made.free.extend(listed);
            made.free[from..].sort_unstable_by_key(|&(dim, _)| dim);
            // A machine may list a name twice.
            let mut kept = from;
            for place in from..made.free.len() {
                let (dim, n) = made.free[place];
                if kept > from && made.free[kept - 1].0 == dim {
                    made.free[kept - 1].1 = made.free[kept - 1].1.saturating_add(n);
                } else {
                    made.free[kept] = (dim, n);
                    kept += 1;
                }
            }
            made.free.truncate(kept);
            made.starts.push(kept as u32);
        }
        made
    }

    /// What is free on a machine, by dimension.
    #[inline]
    pub(super) fn on(&self, node: usize) -> &[(Dim, u64)] {
        match (self.starts.get(node), self.starts.get(node + 1)) {
            (Some(&from), Some(&to)) => &self.free[from as usize..to as usize],
            _ => &[],
        }
    }

    /// What is free of a dimension on a machine.
    pub(super) fn free(&self, node: usize, dim: Dim) -> u64 {
        self.on(node).iter().find(|&&(listed, _)| listed == dim).map_or(0, |&(_, free)| free)
    }

    /// For how many instances of a task a machine has what each takes.
    #[inline]
    pub(super) fn fits(&self, asked: &Asked, node: usize) -> u64 {
        asked.of_machine.iter().map(|&(dim, n)| self.free(node, dim) / n).min().unwrap_or(u64::MAX)
    }

    /// True if the licences are free that a task takes.
    #[inline]
    pub(super) fn has_licenses(&self, asked: &Asked) -> bool {
        asked.of_cluster.iter().all(|&(dim, n)| self.licenses[dim.index() - self.first_license] >= n)
    }

    /// Takes what instances need of a machine.
    pub(super) fn take(&mut self, asked: &Asked, node: NodeId, instances: u64) {
        self.change(asked, node, |free, n| free.saturating_sub(n.saturating_mul(instances)));
    }

    /// Gives it back.
    pub(super) fn give(&mut self, asked: &Asked, node: NodeId, instances: u64) {
        self.change(asked, node, |free, n| free.saturating_add(n.saturating_mul(instances)));
    }

    fn change(&mut self, asked: &Asked, node: NodeId, change: impl Fn(u64, u64) -> u64) {
        let (Some(&from), Some(&to)) = (self.starts.get(node.index()), self.starts.get(node.index() + 1)) else {
            return;
        };
        let listed = &mut self.free[from as usize..to as usize];
        for &(dim, n) in &asked.of_machine {
            if let Some((_, free)) = listed.iter_mut().find(|(listed, _)| *listed == dim) {
                *free = change(*free, n);
            }
        }
    }

    /// Takes the licences of a unit.
    pub(super) fn take_licenses(&mut self, asked: &Asked) {
        self.change_licenses(asked, u64::saturating_sub);
    }

    /// Gives them back.
    pub(super) fn give_licenses(&mut self, asked: &Asked) {
        self.change_licenses(asked, u64::saturating_add);
    }

    fn change_licenses(&mut self, asked: &Asked, change: fn(u64, u64) -> u64) {
        for &(dim, n) in &asked.of_cluster {
            let free = &mut self.licenses[dim.index() - self.first_license];
            *free = change(*free, n);
        }
    }

    /// What is free of each licence.
    pub(super) fn licenses(&self) -> impl Iterator<Item = (Dim, u64)> + '_ {
        self.licenses.iter().enumerate().map(|(place, &free)| (Dim::at(self.first_license + place), free))
    }
}
