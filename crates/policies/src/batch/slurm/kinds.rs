//! Machines that are equal, so that they can be counted instead of listed.
//!
//! A machine is of one kind with another if both offer the same and weigh the same. Nothing is known of a kind but the room for a job on
//! such a machine on which nothing runs.

use std::collections::BTreeMap;

use resched_sim::Resources;

use super::place::Gain;

/// The number of bits of a block of a set of machines.
pub(super) const BLOCK: usize = usize::BITS as usize;

/// The kinds of the machines.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The kind of each machine.
    of: Vec<u32>,
    /// What a machine of each offers.
    all: Vec<Resources>,
    /// The demand and the least number of instances for which `rooms` holds.
    asked: Option<(Resources, u64)>,
    /// The room on an empty machine of each kind.
    rooms: Vec<u64>,
}

impl Kinds {
    /// The kinds of machines with these capacities and weights (none: all weigh the same).
    pub(super) fn new(capacity: &[Resources], weights: &[u32]) -> Self {
        let mut known = BTreeMap::new();
        let mut made = Self::default();
        for (machine, &size) in capacity.iter().enumerate() {
            let weight = weights.get(machine).copied().unwrap_or(0);
            let next = made.all.len() as u32;
            let kind = *known.entry((size.cpu, size.memory, weight)).or_insert(next);
            if kind == next {
                made.all.push(size);
            }
            made.of.push(kind);
        }
        made
    }

    /// From now on, the room is that for instances of this demand, of which a machine must hold so many to be any good.
    pub(super) fn ask(&mut self, demand: Resources, least: u64) {
        if self.asked.replace((demand, least)) != Some((demand, least)) {
            let room = |resources: &Resources| if *resources == Resources::NONE { 0 } else { resources.fits(demand) };
            self.rooms.clear();
            self.rooms.extend(self.all.iter().map(room).map(|room| if room < least { 0 } else { room }));
        }
    }

    /// The room on an empty machine.
    pub(super) fn room(&self, machine: usize) -> u64 {
        self.rooms[self.of[machine] as usize]
    }

    /// The room on each empty machine, if it is the same on all.
    pub(super) fn same(&self) -> Option<u64> {
        self.rooms.first().copied().filter(|_| self.rooms.len() == 1)
    }

    /// True if two machines are of one kind.
    pub(super) fn are_alike(&self, one: usize, other: usize) -> bool {
        self.of[one] == self.of[other]
    }

    /// Adds the room on the empty machines that are the members of a block of a set.
    #[inline]
    pub(super) fn add_up(&self, place: usize, block: usize, gain: &mut Gain) {
        if block == 0 {
            return;
        }
        if let Some(room) = self.same() {
            gain.add(room, block.count_ones() as usize);
        } else {
            ones(place, block).for_each(|machine| gain.add(self.room(machine), 1));
        }
    }
}

/// The members of a block of a set of machines.
pub(super) fn ones(place: usize, mut block: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (block != 0).then(|| block.trailing_zeros())?;
        block &= block - 1;
        Some(place * BLOCK + lowest as usize)
    })
}

/// The consecutive members of a block: the first of them, and how many they are.
pub(super) fn stretches(place: usize, mut block: usize) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let from = (block != 0).then(|| block.trailing_zeros() as usize)?;
        let count = (block >> from).trailing_ones() as usize;
        block &= usize::MAX.checked_shl((from + count) as u32).unwrap_or(0);
        Some((place * BLOCK + from, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_members_are_found() {
        let found = |block: usize| stretches(1, block).collect::<Vec<_>>();
        assert_eq!(found(0b1011_0110), [(65, 2), (68, 2), (71, 1)]);
        assert_eq!(found(usize::MAX), [(64, 64)]);
        assert_eq!(found(usize::MAX << 63), [(127, 1)]);
        assert_eq!(found(0), []);
    }
}
