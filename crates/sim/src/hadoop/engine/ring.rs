//! The heartbeats of nodes that call at regular times.
//!
//! Every node calls once in each round of one interval, always in the same order: by its first heartbeat, then by id. So a plan
//! needs no heap, but a bit for each node: of the present round, and of the next. What is planned for later rounds is kept by round
//! and becomes bits when its time comes.

use std::collections::BTreeMap;

use super::events::NEVER;
use crate::hadoop::beats::Beats;
use crate::hadoop::bits::Bits;
use crate::ids::{Ms, NodeId};

/// The planned heartbeats of all nodes.
pub(super) struct Ring {
    interval: Ms,
    /// The nodes in the order in which they call.
    nodes: Vec<NodeId>,
    /// The first heartbeat of each node, in that order.
    starts: Vec<Ms>,
    /// The place of each node in that order, by [`NodeId`].
    places: Vec<u32>,
    /// When each node calls next, by its place; [`NEVER`] if that is not planned.
    beats: Vec<Ms>,
    /// The number of the present round, and when it began.
    round: Ms,
    begin: Ms,
    /// The places that call in this round, and in the next.
    now: Bits,
    next: Bits,
    /// Those that call later, by round. A place that has been planned for an earlier round since is still in its list.
    later: BTreeMap<Ms, Vec<u32>>,
    /// The first call of all, if it is known.
    head: Option<(Ms, u32)>,
}

impl Ring {
    /// Of nodes that have no heartbeat planned.
    pub(super) fn new(beats: &Beats, interval: Ms) -> Self {
        let mut order: Vec<(Ms, NodeId)> = beats.starts().iter().copied().zip((0..).map(NodeId)).collect();
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, (_, node)) in order.iter().enumerate() {
            places[node.index()] = place as u32;
        }
        Self {
            interval,
            beats: vec![NEVER; order.len()],
            now: Bits::below(order.len()),
            next: Bits::below(order.len()),
            starts: order.iter().map(|&(start, _)| start).collect(),
            nodes: order.into_iter().map(|(_, node)| node).collect(),
            places,
            round: 0,
            begin: 0,
            later: BTreeMap::new(),
            head: None,
        }
    }

    /// When a node calls next; [`NEVER`] if that is not planned.
    #[inline]
    pub(super) fn beat(&self, node: NodeId) -> Ms {
        self.beats[self.places[node.index()] as usize]
    }

    /// A node calls at this heartbeat, which comes after all that were taken, and no earlier one.
    #[inline]
    pub(super) fn plan(&mut self, node: NodeId, beat: Ms) {
        self.cancel(node);
        let place = self.places[node.index()];
        self.beats[place as usize] = beat;
        let ahead = beat - self.begin - self.starts[place as usize];
        debug_assert!(ahead >= 0 && ahead % self.interval == 0, "it is one of the heartbeats to come");
        if ahead <= 0 {
            self.now.insert(place);
        } else if ahead <= self.interval {
            self.next.insert(place);
        } else {
            self.later.entry(self.round + ahead / self.interval).or_default().push(place);
        }
        self.head = self.head.map(|head| head.min((beat, place)));
    }

    /// A node does not call.
    #[inline]
    pub(super) fn cancel(&mut self, node: NodeId) {
        let place = self.places[node.index()];
        let beat = std::mem::replace(&mut self.beats[place as usize], NEVER);
        if beat == NEVER {
            return;
        }
        let ahead = beat - self.begin - self.starts[place as usize];
        if ahead <= 0 {
            self.now.remove(place);
        } else if ahead <= self.interval {
            self.next.remove(place);
        }
        self.head = self.head.filter(|&head| head != (beat, place));
    }

    /// The first heartbeat that is planned.
    #[inline]
    pub(super) fn first(&mut self) -> Option<(Ms, NodeId)> {
        if self.head.is_none() {
            self.head = self.find_first();
        }
        self.head.map(|(beat, place)| (beat, self.nodes[place as usize]))
    }

    fn find_first(&mut self) -> Option<(Ms, u32)> {
        if let Some(place) = self.now.first_from(0).or_else(|| self.next.first_from(0)) {
            return Some((self.beats[place as usize], place));
        }
        while let Some(entry) = self.later.first_entry() {
            let round = *entry.key();
            let begin = self.begin + (round - self.round) * self.interval;
            let beat = |place: u32| begin + self.starts[place as usize];
            let planned = entry.get().iter().copied().filter(|&place| self.beats[place as usize] == beat(place));
            if let Some(place) = planned.min() {
                return Some((beat(place), place));
            }
            entry.remove();
        }
        None
    }

    /// Takes the first heartbeat out: it comes now.
    #[inline]
    pub(super) fn take_first(&mut self) {
        if let Some((_, place)) = self.remove_first() {
            self.beats[place as usize] = NEVER;
        }
    }

    /// Puts the first heartbeat off by one interval.
    #[inline]
    pub(super) fn put_off_first(&mut self) {
        let Some((beat, place)) = self.remove_first() else { return };
        self.next.insert(place);
        self.beats[place as usize] = beat + self.interval;
        self.head = self.now.first_from(place).map(|place| (self.beats[place as usize], place));
    }

    /// Takes the bit of the first heartbeat out of its round, which is the present one from now on.
    #[inline]
    fn remove_first(&mut self) -> Option<(Ms, u32)> {
        let (beat, place) = self.head.take().or_else(|| self.find_first())?;
        let ahead = beat - self.begin - self.starts[place as usize];
        if ahead > 0 {
            self.turn(ahead / self.interval);
        }
        self.now.remove(place);
        Some((beat, place))
    }

    /// So many rounds pass in which nobody calls any more.
    fn turn(&mut self, rounds: Ms) {
        std::mem::swap(&mut self.now, &mut self.next);
        self.round += rounds;
        self.begin += rounds * self.interval;
        if rounds > 1 {
            Self::move_in(&mut self.later, self.round, &self.beats, (&self.starts, self.begin), &mut self.now);
        }
        let begin = self.begin + self.interval;
        Self::move_in(&mut self.later, self.round + 1, &self.beats, (&self.starts, begin), &mut self.next);
    }

    /// The places that still call in a round that began at `begin` become bits.
    fn move_in(
        later: &mut BTreeMap<Ms, Vec<u32>>,
        round: Ms,
        beats: &[Ms],
        (starts, begin): (&[Ms], Ms),
        bits: &mut Bits,
    ) {
        let places = later.remove(&round).unwrap_or_default();
        let planned = |&place: &u32| beats[place as usize] == begin + starts[place as usize];
        places.into_iter().filter(planned).for_each(|place| bits.insert(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes 0 to 2 call first at 7, 5 and 5, then every 10.
    fn ring() -> Ring {
        Ring::new(&Beats::regular(vec![7, 5, 5], 10), 10)
    }

    /// Takes all heartbeats up to an instant.
    fn taken(ring: &mut Ring, until: Ms) -> Vec<(Ms, u32)> {
        let mut all = Vec::new();
        while let Some((beat, node)) = ring.first().filter(|&(beat, _)| beat <= until) {
            ring.take_first();
            all.push((beat, node.0));
        }
        all
    }

    #[test]
    fn nodes_call_by_time_then_by_id() {
        let mut ring = ring();
        for (node, beat) in [(0, 7), (1, 25), (2, 5), (0, 27)] {
            ring.plan(NodeId(node), beat);
        }
        assert_eq!(ring.beat(NodeId(0)), 27, "the latest plan counts");
        assert_eq!(taken(&mut ring, 20), [(5, 2)]);
        ring.plan(NodeId(2), 25);
        assert_eq!(taken(&mut ring, 100), [(25, 1), (25, 2), (27, 0)]);
        assert_eq!(ring.first(), None);
    }

    #[test]
    fn the_first_heartbeat_may_be_put_off() {
        let mut ring = ring();
        for (node, beat) in [(0, 7), (1, 5), (2, 15)] {
            ring.plan(NodeId(node), beat);
        }
        ring.put_off_first();
        assert_eq!((ring.first(), ring.beat(NodeId(1))), (Some((7, NodeId(0))), 15));
        ring.put_off_first();
        assert_eq!(ring.first(), Some((15, NodeId(1))));
        ring.put_off_first();
        ring.cancel(NodeId(0));
        assert_eq!(taken(&mut ring, 100), [(15, 2), (25, 1)]);
    }

    #[test]
    fn what_is_planned_far_ahead_may_be_moved_and_cancelled() {
        let mut ring = ring();
        for (node, beat) in [(0, 1_007), (1, 505), (2, 505)] {
            ring.plan(NodeId(node), beat);
        }
        assert_eq!(ring.first(), Some((505, NodeId(1))));
        ring.plan(NodeId(0), 497);
        ring.cancel(NodeId(1));
        assert_eq!(taken(&mut ring, 600), [(497, 0), (505, 2)]);
        ring.plan(NodeId(0), 1_007);
        assert_eq!(ring.first(), Some((1_007, NodeId(0))));
        // An earlier heartbeat is planned though a later one was found.
        ring.plan(NodeId(1), 515);
        assert_eq!(taken(&mut ring, 2_000), [(515, 1), (1_007, 0)], "once, though it was planned for that round twice");
    }
}
