//! Which dimensions keep tasks waiting: some machine lacks what the largest instance takes of them.

use std::collections::BTreeSet;

use super::dim::Dim;
use super::dimensions::Asked;
use super::workload::Workload;
use crate::bottlenecks::{Short, thousandths};
use crate::resources::Resources;

/// The first dimension beside processor and memory.
const FIRST: usize = 2;

/// The state of all dimensions.
#[derive(Debug, Default)]
pub(super) struct Scarcity {
    /// The most of processor and memory that an instance takes.
    largest: Resources,
    /// How many machines lack them.
    short: Short,
    /// The most that was taken of the present total.
    taken: Resources,
    /// The largest parts of all that were taken, in thousandths.
    most: [u32; 2],
    others: Vec<Other>,
    /// The numbers of the others of which something is short.
    short_others: BTreeSet<usize>,
    /// True while tasks are placed only to see whether they would fit: what they take then was never taken.
    pub(super) on_trial: bool,
}

/// The state of a dimension beside processor and memory.
#[derive(Debug, Clone, Copy, Default)]
struct Other {
    /// The most that an instance takes of it, or a unit of a licence; 0 if nobody asks for it.
    largest: u64,
    /// How many machines that list it lack that; for a licence, 1 if the cluster does.
    short: u32,
    /// The most of all that was taken, in thousandths.
    most: u32,
}

impl Scarcity {
    /// Nothing is known of the named dimensions yet ([`Scarcity::machine_changed`]). There are so many dimensions, tasks of each kind take
    /// what `asked` says, and the machines have so much processor and memory free.
    pub(super) fn new(
        workload: &Workload,
        (dimensions, asked): (usize, &[Asked]),
        free: impl Iterator<Item = Resources>,
    ) -> Self {
        let largest = workload.tasks().iter().fold(Resources::NONE, |most, task| most.max(task.demand));
        let mut others = Vec::new();
        if !workload.needs.kinds().is_empty() {
            others = vec![Other::default(); dimensions - FIRST];
            let in_use = workload.needs.in_use().into_iter().filter_map(|kind| asked.get(kind as usize));
            for asked in in_use {
                for &(dim, n) in asked.of_machine.iter().chain(&asked.of_cluster) {
                    let most = &mut others[dim.index() - FIRST].largest;
                    *most = n.max(*most);
                }
            }
        }
        Self { largest, short: Short::of(free, largest), others, ..Self::default() }
    }

    /// A machine with so much free of a dimension comes or leaves.
    pub(super) fn machine_changed(&mut self, dim: Dim, free: u64, comes: bool) {
        let Some(other) = self.others.get_mut(dim.index().wrapping_sub(FIRST)) else { return };
        let lacks = u32::from(free < other.largest);
        other.short = if comes { other.short + lacks } else { other.short.saturating_sub(lacks) };
        self.note(dim);
    }

    /// What is free of a dimension on a machine, or of a licence, has changed, with what is free of all and the total.
    #[inline]
    pub(super) fn changed(&mut self, dim: Dim, [before, after]: [u64; 2], free: u64, total: u64) {
        let Some(other) = self.others.get_mut(dim.index().wrapping_sub(FIRST)) else { return };
        let lacks = |free: u64| u32::from(free < other.largest);
        let was_short = other.short > 0;
        other.short = (other.short + lacks(after)).saturating_sub(lacks(before));
        if !self.on_trial {
            other.most = other.most.max(thousandths(total.saturating_sub(free) as f64, total as f64));
        }
        if was_short != (other.short > 0) {
            self.note(dim);
        }
    }

    /// Notes whether a dimension is short.
    fn note(&mut self, dim: Dim) {
        let place = dim.index() - FIRST;
        if self.others[place].short > 0 {
            self.short_others.insert(dim.index());
        } else {
            self.short_others.remove(&dim.index());
        }
    }

    /// What is free of processor and memory on a machine has changed; `None` while it is not there. A machine that is not there lacks
    /// nothing.
    #[inline]
    pub(super) fn main_changed(
        &mut self,
        rooms: [Option<Resources>; 2],
        of_capacity: bool,
        total: Resources,
        free: Resources,
    ) {
        let [before, after] = rooms.map(|room| room.unwrap_or(self.largest));
        self.short.change(before, after, self.largest);
        if of_capacity {
            self.taken = Resources::NONE;
        }
        let taken = total.minus(free);
        if !self.on_trial && !self.taken.holds(taken) {
            self.taken = self.taken.max(taken);
            self.most[0] = self.most[0].max(thousandths(taken.cpu as f64, total.cpu as f64));
            self.most[1] = self.most[1].max(thousandths(taken.memory as f64, total.memory as f64));
        }
    }

    /// The numbers of the dimensions that keep tasks waiting, if any wait.
    pub(super) fn short(&self) -> impl Iterator<Item = usize> + '_ {
        let main = self.short.any();
        (0..FIRST).filter(move |&place| main[place]).chain(self.short_others.iter().copied())
    }

    /// The largest part of a dimension that was taken of all machines together, in thousandths; `None` if nobody asks for it.
    pub(super) fn most(&self, dim: Dim) -> Option<u32> {
        match self.most.get(dim.index()) {
            Some(&most) => Some(most),
            None => self.others.get(dim.index() - FIRST).filter(|other| other.largest > 0).map(|other| other.most),
        }
    }
}
