//! Where HDFS would put the replicas of a block on generated machines.

use std::ops::Range;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use resched_tables::Error;
use resched_tables::draws::Draws;
use resched_tables::model::SplitRow;
use resched_tables::names::{host_name, rack_name, rack_of};

/// The most machines of a generated cluster.
pub const MAX_NODES: u32 = 1_000_000;

/// The reason why a cluster is impossible.
#[derive(Debug)]
pub(crate) struct Impossible {
    /// The number that was expected, with its name.
    pub(crate) expected: String,
    /// The number that was given.
    pub(crate) found: u32,
}

impl From<Impossible> for Error {
    fn from(Impossible { expected, found }: Impossible) -> Self {
        Self::Request(format!("expected {expected}, found {found}; correct the number"))
    }
}

/// Places the replicas of input blocks as HDFS does by default if the writer is not a data node. The first is on any
/// machine, the second in another rack, the third in the second's rack, and further ones anywhere. Two are never on one
/// machine.
///
/// If a rule cannot be met (one rack, no machine left in it), any machine is taken, as in HDFS. The number of replicas
/// is the one asked for, or the number of machines if that is smaller. The default places nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placement {
    /// The machines that hold data, rack by rack.
    holders: Vec<Holder>,
    replication: usize,
}

#[derive(Debug, Clone)]
struct Holder {
    host: String,
    rack: Option<String>,
    /// Those of `holders` that stand in the same rack.
    neighbours: Range<usize>,
}

impl Placement {
    /// Places on the machines `holders` of a cluster of `nodes` machines in `racks` racks.
    ///
    /// # Errors
    /// [`Impossible`] if the cluster is empty, too large, has more racks than machines or lacks a holder.
    pub(crate) fn new(nodes: u32, racks: u32, holders: &[u32], replication: u32) -> Result<Self, Impossible> {
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(Impossible { expected: format!("nodes from 1 to {MAX_NODES}"), found: nodes });
        }
        if !(1..=nodes).contains(&racks) {
            return Err(Impossible { expected: format!("racks from 1 to {nodes}, the number of nodes"), found: racks });
        }
        let mut numbers = holders.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        if let Some(&found) = numbers.last().filter(|last| **last >= nodes) {
            return Err(Impossible { expected: format!("data_nodes from 0 to {}", nodes - 1), found });
        }
        let racked: Vec<(u32, u32)> = numbers.iter().map(|&node| (rack_of(node, nodes, racks), node)).collect();
        let mut holders = Vec::with_capacity(racked.len());
        for group in racked.chunk_by(|one, other| one.0 == other.0) {
            let neighbours = holders.len()..holders.len() + group.len();
            let holder = |&(rack, node)| Holder {
                host: host_name(node),
                rack: Some(rack_name(rack)),
                neighbours: neighbours.clone(),
            };
            holders.extend(group.iter().map(holder));
        }
        let replication = usize::try_from(replication).unwrap_or(usize::MAX).min(holders.len());
        Ok(Self { holders, replication })
    }

    /// Writes the replicas of an input block over `splits`, as rows of the splits table. `draws` are those of its map.
    pub(crate) fn place(
        &self,
        splits: &mut Vec<SplitRow>,
        (task_id, bytes): (&str, i64),
        draws: Draws,
        places: &mut Places,
    ) {
        self.draw(&mut draws.generator(), places);
        let holders = places.taken.iter().filter_map(|&place| self.holders.get(place));
        splits.resize_with(places.taken.len(), SplitRow::default);
        for ((row, ordinal), holder) in splits.iter_mut().zip(0..).zip(holders) {
            write_over(&mut row.task_id, task_id);
            row.ordinal = ordinal;
            write_over(row.host.get_or_insert_default(), &holder.host);
            row.rack.clone_from(&holder.rack);
            row.bytes = Some(bytes);
        }
    }

    /// Draws positions in `holders`, in the order of replicas.
    fn draw(&self, rng: &mut Pcg64Mcg, Places { taken, passed }: &mut Places) {
        let all = self.holders.len();
        taken.clear();
        while taken.len() < self.replication {
            let wanted = match taken.as_slice() {
                [first] => self.holders.get(*first).map(|holder| outside(&holder.neighbours, all)),
                [_, second] => {
                    self.holders.get(*second).map(|holder| (holder.neighbours.start, holder.neighbours.len()))
                }
                _ => None,
            };
            let place = wanted.and_then(|(start, length)| draw(rng, start, length, all, taken, passed));
            match place.or_else(|| draw(rng, 0, all, all, taken, passed)) {
                Some(place) => taken.push(place),
                None => break,
            }
        }
    }
}

/// Room for the draws of one block after the other.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Positions of the replicas, in order.
    taken: Vec<usize>,
    /// Those of them that lie in the stretch from which is drawn, as offsets in it.
    passed: Vec<usize>,
}

/// Replaces a text and keeps its memory.
fn write_over(text: &mut String, other: &str) {
    text.clear();
    text.push_str(other);
}

/// The positions outside `range`, as the start and length of a stretch that wraps around `all`.
fn outside(range: &Range<usize>, all: usize) -> (usize, usize) {
    (range.end, all - range.len())
}

/// A free position of the stretch of `length` from `start`, which is at most `all` and wraps around there. All are equally likely.
fn draw(
    rng: &mut Pcg64Mcg,
    start: usize,
    length: usize,
    all: usize,
    taken: &[usize],
    passed: &mut Vec<usize>,
) -> Option<usize> {
    passed.clear();
    passed.extend(taken.iter().map(|&place| around(place + all - start, all)).filter(|&offset| offset < length));
    passed.sort_unstable();
    let free = length.checked_sub(passed.len()).filter(|free| *free > 0)?;
    let mut offset = rng.random_range(0..free);
    for &place in passed.iter() {
        if place <= offset {
            offset += 1;
        }
    }
    Some(around(start + offset, all))
}

/// Position `place` of `all`, or of a second round of them. A division would take most of the time of a draw.
fn around(place: usize, all: usize) -> usize {
    place.checked_sub(all).unwrap_or(place)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use resched_tables::draws::Purpose;

    fn hosts_and_racks(placement: &Placement, index: u64) -> Vec<(String, String)> {
        let mut splits = vec![SplitRow::default(); 5];
        let draws = Draws::new(7, Purpose::BlockPlacement).of(&[0, index]);
        placement.place(&mut splits, ("task_1_m_000000", 64), draws, &mut Places::default());
        splits.into_iter().map(|split| (split.host.unwrap(), split.rack.unwrap())).collect()
    }

    #[test]
    fn racks_are_contiguous_blocks() {
        let racks: Vec<u32> = (0..7).map(|node| rack_of(node, 7, 3)).collect();
        assert_eq!(racks, [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!((host_name(12), rack_name(3)), ("node-00012".to_owned(), "/rack-003".to_owned()));
    }

    #[test]
    fn the_second_replica_leaves_the_rack_and_the_third_stays_with_it() {
        let all: Vec<u32> = (0..20).collect();
        let placement = Placement::new(20, 4, &all, 4).unwrap();
        let mut firsts = BTreeSet::new();
        for index in 0..500 {
            let places = hosts_and_racks(&placement, index);
            let hosts: BTreeSet<&String> = places.iter().map(|(host, _)| host).collect();
            assert_eq!(hosts.len(), 4, "two replicas on one machine: {places:?}");
            assert_ne!(places[0].1, places[1].1, "{places:?}");
            assert_eq!(places[1].1, places[2].1, "{places:?}");
            firsts.insert(places[0].0.clone());
        }
        assert_eq!(firsts.len(), 20, "every machine gets first replicas");
    }

    #[test]
    fn each_machine_is_as_likely() {
        // 6 machines in 2 racks, two replicas: the first anywhere, the second on one of 3; 6,000 blocks give 1,000
        // each.
        let placement = Placement::new(6, 2, &[0, 1, 2, 3, 4, 5], 2).unwrap();
        let mut counts = [[0_u32; 6]; 2];
        for index in 0..6_000 {
            for (replica, (host, _)) in hosts_and_racks(&placement, index).iter().enumerate() {
                let node = (0..6).find(|node| host_name(*node) == *host).unwrap();
                counts[replica][node as usize] += 1;
            }
        }
        // Four standard deviations of a binomial count: 4·√(6,000·1/6·5/6) ≈ 115.
        assert!(counts.iter().flatten().all(|count| count.abs_diff(1_000) < 115), "{counts:?}");
    }

    #[test]
    fn few_machines_or_racks_still_get_what_fits() {
        let one_rack = Placement::new(5, 1, &[0, 1, 2, 3, 4], 3).unwrap();
        let pair = Placement::new(2, 2, &[0, 1], 3).unwrap();
        let lone_second = Placement::new(4, 2, &[0, 1, 2], 3).unwrap();
        for index in 0..100 {
            for (placement, replicas) in [(&one_rack, 3), (&pair, 2), (&lone_second, 3)] {
                let hosts: BTreeSet<String> =
                    hosts_and_racks(placement, index).into_iter().map(|(host, _)| host).collect();
                assert_eq!(hosts.len(), replicas);
            }
        }
    }

    #[test]
    fn only_machines_with_data_hold_replicas() {
        let holders = [0, 1, 2, 3, 4, 5, 6];
        let placement = Placement::new(15, 1, &holders, 1).unwrap();
        let hosts: BTreeSet<String> =
            (0..300).flat_map(|index| hosts_and_racks(&placement, index)).map(|p| p.0).collect();
        assert_eq!(hosts, holders.map(host_name).into());
    }

    #[test]
    fn impossible_clusters_are_refused() {
        for (nodes, racks, holders) in
            [(0, 1, vec![]), (MAX_NODES + 1, 1, vec![]), (3, 4, vec![]), (3, 0, vec![]), (3, 1, vec![3])]
        {
            assert!(Placement::new(nodes, racks, &holders, 3).is_err(), "{nodes} nodes, {racks} racks, {holders:?}");
        }
    }
}
