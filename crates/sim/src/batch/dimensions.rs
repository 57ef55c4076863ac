//! The dimensions of a world: the resources that tasks compete for, each with a small number.
//!
//! Processor and memory are the first two. The others are named resources of machines (`gres/gpu`) and licences of the whole cluster. A
//! resource that no machine lists has no number, and neither has a licence of which nobody says how many there are: nobody knows then how
//! much of it there is, so nothing waits for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::amounts::Amounts;
use super::dim::Dim;
use super::machines::Machines;
use super::needs::Needs;

/// The names of the dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dimensions {
    /// The names beside processor and memory: those of machines in their order, then those of licences.
    names: Vec<Arc<str>>,
    /// How many of them machines have.
    of_machines: usize,
}

/// What a task takes of the dimensions beside processor and memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Asked {
    /// What each instance takes of its machine.
    pub(super) of_machine: Vec<(Dim, u64)>,
    /// What the task takes of the whole cluster.
    pub(super) of_cluster: Vec<(Dim, u64)>,
}

impl Asked {
    /// True if it takes none of them.
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.of_machine.is_empty() && self.of_cluster.is_empty()
    }
}

impl Dimensions {
    /// The names of processor and memory.
    const MAIN: [&str; 2] = ["cores", "memory"];

    /// Those of a world with these machines.
    pub(super) fn of(machines: &Machines) -> Self {
        let of_machines: BTreeSet<&Arc<str>> =
            machines.nodes().iter().flat_map(|node| &node.resources).map(|(name, _)| name).collect();
        let licenses = machines.licenses().iter().map(|(name, _)| name);
        let names = of_machines.iter().copied().chain(licenses).cloned().collect();
        Self { names, of_machines: of_machines.len() }
    }

    /// How many there are, processor and memory among them.
    pub fn len(&self) -> usize {
        Self::MAIN.len() + self.names.len()
    }

    /// Never true: there are processor and memory.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = (Dim, &str)> {
        let names = Self::MAIN.into_iter().chain(self.names.iter().map(|name| &**name));
        names.enumerate().map(|(place, name)| (Dim::at(place), name))
    }

    /// The name of a dimension, `cores` and `memory` among them.
    pub fn name(&self, dim: Dim) -> &str {
        let others = || dim.index().checked_sub(Self::MAIN.len()).and_then(|place| self.names.get(place));
        Self::MAIN.get(dim.index()).copied().or_else(|| others().map(|name| &**name)).unwrap_or_default()
    }

    /// The named resource of machines with this name.
    pub fn of_machine(&self, name: &str) -> Option<Dim> {
        let names = self.names.get(..self.of_machines)?;
        let place = names.binary_search_by(|known| (**known).cmp(name)).ok()?;
        Some(Dim::at(Self::MAIN.len() + place))
    }

    /// The licence with this name.
    pub fn license(&self, name: &str) -> Option<Dim> {
        let place = self.names.get(self.of_machines..)?.iter().position(|known| &**known == name)?;
        Some(Dim::at(Self::MAIN.len() + self.of_machines + place))
    }

    /// The licences, in the order of the cluster file.
    pub(super) fn licenses(&self) -> impl Iterator<Item = Dim> + use<> {
        (Self::MAIN.len() + self.of_machines..self.len()).map(Dim::at)
    }

    /// What tasks with these needs take. What has no number, and what they ask nothing of, is left out.
    pub(super) fn asked(&self, needs: &Needs) -> Asked {
        let listed = |amounts: &[(Arc<str>, u64)], dim: &dyn Fn(&str) -> Option<Dim>| {
            // A name may come twice.
            let mut asked = Amounts::default();
            for (dim, n) in amounts.iter().filter_map(|(name, n)| Some((dim(name)?, *n))) {
                asked.set(dim, asked.get(dim).saturating_add(n));
            }
            asked.others().collect()
        };
        Asked {
            of_machine: listed(&needs.resources, &|name| self.of_machine(name)),
            of_cluster: listed(&needs.licenses, &|name| self.license(name)),
        }
    }
}
