//! How a cluster grows and shrinks: by machines that it has already.
//!
//! The machines are taken in turn from each rack, by name within a rack. A smaller cluster keeps the first of them, so it keeps its
//! racks as long as it can, and each size has all machines of every smaller size. In a larger one, machine `i` is a clone of machine
//! `i mod M` of the `M` machines: it has its rack, its resources and its speed.

use std::collections::{BTreeMap, BTreeSet};

/// A machine of a resized cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clone {
    /// The place of its original among the machines.
    pub(crate) of: usize,
    /// Its name: that of its original, or one made from it.
    pub(crate) name: String,
}

/// The `count` machines of a cluster that now has `machines` (name and rack), without an order.
pub(crate) fn clones<'a>(machines: impl IntoIterator<Item = (&'a str, &'a str)>, count: u32) -> Vec<Clone> {
    let machines: Vec<(&str, &str)> = machines.into_iter().collect();
    let names: BTreeSet<&str> = machines.iter().map(|&(name, _)| name).collect();
    let order = in_turn(&machines);
    let clone = |(number, of): (usize, usize)| {
        let own = machines.get(of).map_or("", |machine| machine.0);
        Clone { of, name: name(own, number / machines.len(), &names) }
    };
    order.iter().copied().cycle().take(count as usize).enumerate().map(clone).collect()
}

/// The places of the machines: the first of each rack, then the second of each, and so on.
fn in_turn(machines: &[(&str, &str)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..machines.len()).collect();
    order.sort_by_key(|&place| machines[place].0);
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, &str, usize)> = Vec::with_capacity(machines.len());
    for place in order {
        let rack = machines[place].1;
        let rank = met.entry(rack).or_default();
        ranked.push((*rank, rack, place));
        *rank += 1;
    }
    // Stable: machines of one rank and rack do not exist twice.
    ranked.sort_by_key(|&(rank, rack, _)| (rank, rack));
    ranked.into_iter().map(|(.., place)| place).collect()
}

/// The name of a machine's clone of that round; the machine itself is round 0.
fn name(own: &str, round: usize, names: &BTreeSet<&str>) -> String {
    if round == 0 {
        return own.to_owned();
    }
    let mut name = format!("{own}~{}", round + 1);
    while names.contains(name.as_str()) {
        name.push('~');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(machines: &[(&str, &str)], count: u32) -> Vec<String> {
        clones(machines.iter().copied(), count).into_iter().map(|clone| clone.name).collect()
    }

    #[test]
    fn machines_are_taken_in_turn_from_each_rack_and_then_cloned() {
        let machines = [("a2", "/a"), ("a1", "/a"), ("b1", "/b"), ("a3", "/a")];
        assert_eq!(names(&machines, 2), ["a1", "b1"], "each rack keeps one");
        assert_eq!(names(&machines, 4), ["a1", "b1", "a2", "a3"]);
        assert_eq!(names(&machines, 9), ["a1", "b1", "a2", "a3", "a1~2", "b1~2", "a2~2", "a3~2", "a1~3"]);
        assert_eq!(clones(machines, 6).last().map(|clone| clone.of), Some(2), "b1~2 is a clone of b1");
        assert!(names(&[], 3).is_empty());
    }

    #[test]
    fn a_clone_never_takes_the_name_of_another_machine() {
        assert_eq!(names(&[("a", "/r"), ("a~2", "/r")], 3), ["a", "a~2", "a~2~"]);
    }
}
