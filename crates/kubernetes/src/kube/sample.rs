//! How many nodes of a large cluster are looked at.

use std::collections::BTreeMap;

use super::nodes::Nodes;
use super::numbers::NodeId;

const FEWEST: usize = 100;
const LEAST_PERCENTAGE: usize = 5;

/// How many feasible nodes end the search among `count` nodes.
pub(super) fn enough(count: usize, percentage: u32) -> usize {
    let set = usize::try_from(percentage).unwrap_or(100);
    if count < FEWEST || set >= 100 {
        return count;
    }
    let percentage = if set > 0 { set } else { 50_usize.saturating_sub(count / 125).max(LEAST_PERCENTAGE) };
    (count * percentage / 100).max(FEWEST)
}

/// The order in which nodes are looked at: one of each zone in turn, in the order in which they came.
pub(super) fn order(nodes: &Nodes) -> Vec<NodeId> {
    let mut names: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut zones: Vec<Vec<NodeId>> = Vec::new();
    for place in nodes.live.ones() {
        let labels = &nodes.specs[place].labels;
        let label = |key: &str| labels.get(key).map_or("", String::as_str);
        let region = label("topology.kubernetes.io/region");
        let zone = label("topology.kubernetes.io/zone");
        let number = *names.entry((region, zone)).or_insert(zones.len());
        if number == zones.len() {
            zones.push(Vec::new());
        }
        zones[number].push(NodeId::at(place));
    }
    let longest = zones.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|turn| zones.iter().filter_map(move |zone| zone.get(turn).copied())).collect()
}

#[cfg(test)]
mod tests {
    use super::enough;

    #[test]
    fn the_share_of_nodes_falls_with_their_number() {
        // By hand: 220 · (50 − 220 ÷ 125) % = 220 · 49 % = 107.8; 6,250 nodes and more have the least share.
        let counts = [(99, 99), (100, 100), (220, 107), (1000, 420), (5000, 500), (6250, 312), (10_000, 500)];
        for (count, expected) in counts {
            assert_eq!(enough(count, 0), expected, "{count}");
        }
        assert_eq!(enough(1000, 100), 1000);
        assert_eq!(enough(1000, 30), 300);
    }
}
