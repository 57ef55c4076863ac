//! Named resources of machines and of the whole cluster: how much of them is free.
//!
//! A resource that no machine lists is not counted, and neither is a licence of which nobody says how many there are: nobody knows then
//! how many of them there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::machines::Machines;
use super::needs::Needs;
use crate::ids::NodeId;

/// What is free of them. Empty if no task asks for what some machine lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    /// How many resources of machines are counted.
    count: usize,
    /// What is free of each, machine by machine.
    free: Vec<u64>,
    /// What is free of each licence.
    licenses: Vec<u64>,
    /// What each kind of needs takes.
    needed: Vec<Needed>,
}

/// What an instance takes of a machine, and a task of the cluster, by the places of the resources.
#[derive(Debug, Clone, Default)]
struct Needed {
    of_machine: Vec<(usize, u64)>,
    of_cluster: Vec<(usize, u64)>,
}

impl Named {
    /// All that these machines have is free.
    pub(super) fn of(kinds: &[Needs], machines: &Machines) -> Self {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in machines.nodes().iter().flat_map(|node| &node.resources) {
            let next = names.len();
            names.entry(name).or_insert(next);
        }
        let asked = kinds.iter().any(|kind| !kind.resources.is_empty() || !kind.licenses.is_empty());
        if !asked || (names.is_empty() && machines.licenses().is_empty()) {
            return Self::default();
        }
        let count = names.len();
        let mut free = vec![0; count * machines.nodes().len()];
        for (node, machine) in machines.nodes().iter().enumerate() {
            for (name, amount) in &machine.resources {
                free[node * count + names[&**name]] += amount;
            }
        }
        let license = |name: &Arc<str>| machines.licenses().iter().position(|(own, _)| own == name);
        let needed = |kind: &Needs| Needed {
            of_machine: kind.resources.iter().filter_map(|(name, n)| Some((*names.get(&**name)?, *n))).collect(),
            of_cluster: kind.licenses.iter().filter_map(|(name, n)| Some((license(name)?, *n))).collect(),
        };
        let licenses = machines.licenses().iter().map(|(_, amount)| *amount).collect();
        Self { count, free, licenses, needed: kinds.iter().map(needed).collect() }
    }

    /// Whether tasks of this kind take anything that is counted.
    #[inline]
    pub(super) fn counts(&self, kind: u32) -> bool {
        self.needed.get(kind as usize).is_some_and(|own| !own.of_machine.is_empty() || !own.of_cluster.is_empty())
    }

    /// For how many instances of this kind a machine has what they need.
    pub(super) fn fits(&self, kind: u32, node: usize) -> u64 {
        let Some(own) = self.needed.get(kind as usize) else { return u64::MAX };
        own.of_machine.iter().map(|&(place, n)| self.free[node * self.count + place] / n).min().unwrap_or(u64::MAX)
    }

    /// Whether the licences for this many units of this kind are free.
    pub(super) fn has_licenses(&self, kind: u32) -> bool {
        let own = self.needed.get(kind as usize);
        own.is_none_or(|own| own.of_cluster.iter().all(|&(place, n)| self.licenses[place] >= n))
    }

    /// Takes what instances need of a machine.
    pub(super) fn take(&mut self, kind: u32, node: NodeId, instances: u64) {
        self.change(kind, node, |free, n| free.saturating_sub(n.saturating_mul(instances)));
    }

    /// Gives it back.
    pub(super) fn give(&mut self, kind: u32, node: NodeId, instances: u64) {
        self.change(kind, node, |free, n| free.saturating_add(n.saturating_mul(instances)));
    }

    fn change(&mut self, kind: u32, node: NodeId, change: impl Fn(u64, u64) -> u64) {
        let Some(own) = self.needed.get(kind as usize) else { return };
        for &(place, n) in &own.of_machine {
            let free = &mut self.free[node.index() * self.count + place];
            *free = change(*free, n);
        }
    }

    /// Takes the licences of a unit.
    pub(super) fn take_licenses(&mut self, kind: u32) {
        let Some(own) = self.needed.get(kind as usize) else { return };
        own.of_cluster.iter().for_each(|&(place, n)| self.licenses[place] = self.licenses[place].saturating_sub(n));
    }

    /// Gives them back.
    pub(super) fn give_licenses(&mut self, kind: u32) {
        let Some(own) = self.needed.get(kind as usize) else { return };
        own.of_cluster.iter().for_each(|&(place, n)| self.licenses[place] += n);
    }
}
