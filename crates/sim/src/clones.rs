//! How a cluster grows and shrinks: by machines that it has already.
//!
//! The machines belong to groups: racks, or the partitions of Slurm. Each group keeps its machines in proportion, rounded up: a smaller
//! cluster has a machine of each group as long as it has one for each, and each size has all machines of every smaller size. Within a
//! group, the first ones stay, where numbers in names count as numbers (`n2` before `n10`). In a larger cluster, machine `i` is a clone
//! of machine `i mod M` of the `M` machines: it has its group, its resources and its speed.

use std::collections::{BTreeMap, BTreeSet};

/// A machine of a resized cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clone {
    /// The place of its original among the machines.
    pub(crate) of: usize,
    /// Its name: that of its original, or one made from it.
    pub(crate) name: String,
}

/// The `count` machines of a cluster that now has `machines` (name and group), without an order.
pub(crate) fn clones<'a>(machines: impl IntoIterator<Item = (&'a str, &'a str)>, count: u32) -> Vec<Clone> {
    let machines: Vec<(&str, &str)> = machines.into_iter().collect();
    let names: BTreeSet<&str> = machines.iter().map(|&(name, _)| name).collect();
    let order = in_proportion(&machines);
    let clone = |(number, of): (usize, usize)| {
        let original = machines.get(of).map_or("", |machine| machine.0);
        Clone { of, name: name(original, number / machines.len(), &names) }
    };
    order.iter().copied().cycle().take(count as usize).enumerate().map(clone).collect()
}

/// The places of the machines, so that the first ones of any number have each group in proportion.
fn in_proportion(machines: &[(&str, &str)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..machines.len()).collect();
    order.sort_by_cached_key(|&place| natural(machines[place].0));
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    machines.iter().for_each(|&(_, group)| *sizes.entry(group).or_default() += 1);
    let mut met: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ranked: Vec<(u64, &str, usize)> = Vec::with_capacity(machines.len());
    for place in order {
        let group = machines[place].1;
        let rank = met.entry(group).or_default();
        ranked.push((*rank, group, place));
        *rank += 1;
    }
    // The share of its group that a machine has before it, as a fraction. Stable: no group has two machines of one rank.
    ranked.sort_by(|(rank, group, _), (other_rank, other, _)| {
        let (ours, others) =
            (u128::from(*rank) * u128::from(sizes[other]), u128::from(*other_rank) * u128::from(sizes[group]));
        ours.cmp(&others).then(group.cmp(other))
    });
    ranked.into_iter().map(|(.., place)| place).collect()
}

/// The parts of a name, in the order that people give to names: numbers are compared as numbers.
fn natural(name: &str) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (text, after) = rest.split_at(rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len()));
        let (digits, after) =
            after.split_at(after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len()));
        // Of two numbers without leading zeros, the longer one is larger.
        let number = digits.trim_start_matches('0');
        parts.push((text.to_owned(), format!("{:020}{number}", number.len())));
        rest = after;
    }
    parts.push((String::new(), name.to_owned()));
    parts
}

/// The name of a machine's clone of that round; the machine itself is round 0.
fn name(original: &str, round: usize, names: &BTreeSet<&str>) -> String {
    if round == 0 {
        return original.to_owned();
    }
    let mut name = format!("{original}~{}", round + 1);
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
    fn machines_are_taken_from_each_rack_and_then_cloned() {
        let machines = [("a2", "/a"), ("a1", "/a"), ("b1", "/b"), ("a3", "/a")];
        assert_eq!(names(&machines, 2), ["a1", "b1"], "each rack keeps one");
        assert_eq!(names(&machines, 4), ["a1", "b1", "a2", "a3"]);
        assert_eq!(names(&machines, 9), ["a1", "b1", "a2", "a3", "a1~2", "b1~2", "a2~2", "a3~2", "a1~3"]);
        assert_eq!(clones(machines, 6).last().map(|clone| clone.of), Some(2), "b1~2 is a clone of b1");
        assert!(names(&[], 3).is_empty());
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let machines: Vec<String> = (0..16).map(|number| format!("n{number}")).collect();
        let named: Vec<(&str, &str)> = machines.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(names(&named, 8), ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"]);
        let odd = [("r2n10", ""), ("r2n9", ""), ("r10n1", ""), ("r2", ""), ("r02n9", ""), ("x", "")];
        assert_eq!(names(&odd, 6), ["r2", "r02n9", "r2n9", "r2n10", "r10n1", "x"]);
    }

    #[test]
    fn each_group_keeps_its_machines_in_proportion() {
        let machines: Vec<(String, &str)> =
            (0..12).map(|number| (format!("n{number}"), if number < 9 { "short" } else { "long" })).collect();
        let named: Vec<(&str, &str)> = machines.iter().map(|(name, group)| (name.as_str(), *group)).collect();
        for count in 2..=12_u32 {
            let long = names(&named, count).iter().filter(|name| ["n9", "n10", "n11"].contains(&name.as_str())).count();
            let due = f64::from(count) / 4.0;
            assert!((due.floor()..=due.ceil()).contains(&(long as f64)) && long > 0, "{long} of {count}");
        }
    }

    #[test]
    fn a_clone_never_takes_the_name_of_another_machine() {
        assert_eq!(names(&[("a", "/r"), ("a~2", "/r")], 3), ["a", "a~2", "a~2~"]);
    }
}
