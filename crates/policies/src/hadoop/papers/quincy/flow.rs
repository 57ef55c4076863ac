//! The cheapest flow through a network: one shortest way after the other.
//!
//! Dijkstra's algorithm finds each way by reduced costs, which are never negative. Of equally near nodes it visits the one with the
//! highest number first, and of equally short ways to a node it keeps the first one found, so the flow is always the same.
//!
//! Most ways of a scheduler's network cost nothing more than the one before. So the nodes at the present distance are kept
//! in a set of numbers ([`Numbers`]) beside the heap of the farther ones, and a search ends as soon as the sink is known to be no
//! farther than the node that is being visited: what it would visit after that changes neither the way nor the next search.
//!
//! A way that costs nothing more than the one before changes no reduced cost, but fills an arc of its own. So the next search would visit
//! the same nodes as this one up to the first that was reached through such an arc: it goes on from there (`Search::resume`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Further than every node.
const NOWHERE: i64 = i64::MAX;

/// A network, as it is put together.
#[derive(Debug)]
pub(super) struct Network {
    nodes: usize,
    arcs: Vec<Planned>,
}

/// An arc of a network that is put together.
#[derive(Debug, Clone, Copy)]
struct Planned {
    from: usize,
    to: usize,
    capacity: i64,
    cost: i64,
}

/// How much flows through each arc, by its number.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flow(Vec<i64>);

impl Network {
    /// A network of so many nodes, with room for so many arcs.
    pub(super) fn new(nodes: usize, arcs: usize) -> Self {
        Self { nodes, arcs: Vec::with_capacity(arcs) }
    }

    /// Adds an arc, whose cost must not be negative, and returns its number.
    pub(super) fn add(&mut self, from: usize, to: usize, capacity: i64, cost: i64) -> usize {
        self.arcs.push(Planned { from, to, capacity, cost });
        self.arcs.len() - 1
    }

    /// The cheapest flow of so many units, or of as many as there is room for.
    pub(super) fn flow(&self, source: usize, sink: usize, units: i64) -> Flow {
        let mut residual = Residual::of(self);
        let mut search = Search::new(self.nodes, source, sink);
        let mut left = units;
        search.begin();
        while left > 0 && search.finds_way(&residual) {
            search.reduce_costs();
            left -= search.send(&mut residual, left);
            search.resume(&residual);
        }
        Flow(residual.places.iter().map(|&place| residual.arcs[residual.arcs[place].back].room).collect())
    }
}

impl Flow {
    /// How much flows through an arc.
    pub(super) fn through(&self, arc: usize) -> u32 {
        self.0[arc] as u32
    }
}

/// What may still flow: each arc, and the way back through what flows already.
struct Residual {
    /// The arcs that leave a node stand side by side, in the order in which they were added.
    arcs: Vec<Open>,
    /// Where those of each node begin.
    starts: Vec<usize>,
    /// The place of each arc of the network.
    places: Vec<usize>,
}

/// An arc of the residual network.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    to: usize,
    /// The place of the arc in the other direction.
    back: usize,
    room: i64,
    cost: i64,
}

impl Residual {
    fn of(network: &Network) -> Self {
        let mut starts = vec![0; network.nodes + 1];
        for arc in &network.arcs {
            starts[arc.from + 1] += 1;
            starts[arc.to + 1] += 1;
        }
        for node in 0..network.nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut take = |node: usize| {
            next[node] += 1;
            next[node] - 1
        };
        let mut arcs = vec![Open::default(); 2 * network.arcs.len()];
        let mut places = Vec::with_capacity(network.arcs.len());
        for &Planned { from, to, capacity, cost } in &network.arcs {
            let (there, back) = (take(from), take(to));
            arcs[there] = Open { to, back, room: capacity, cost };
            arcs[back] = Open { to: from, back: there, room: 0, cost: -cost };
            places.push(there);
        }
        Self { arcs, starts, places }
    }

    /// The places of the arcs that leave a node.
    fn leaving(&self, node: usize) -> std::ops::Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }
}

/// How a node was reached.
#[derive(Debug, Clone, Copy)]
struct Label {
    node: usize,
    /// The turn of the node from which it was reached.
    turn: usize,
    distance: i64,
    /// By which arc.
    arc: usize,
    /// The place of the label that it replaced; [`NONE`] if it was the first.
    before: usize,
}

/// The turn of a node that is not visited, and the place of a label that there is not.
const NONE: usize = usize::MAX;

/// The search for the next shortest way.
struct Search {
    source: usize,
    sink: usize,
    /// By how much less than its cost an arc counts: the difference between its ends.
    discounts: Vec<i64>,
    distances: Vec<i64>,
    /// The place of each node's label, which says how it was reached.
    by: Vec<usize>,
    /// All labels, also those that were replaced.
    labels: Vec<Label>,
    visited: Vec<usize>,
    /// The turn of each node among the visited ones.
    turns: Vec<usize>,
    /// The labels that were given at each turn.
    given: Vec<Range<usize>>,
    /// The nodes that were reached otherwise when their label was taken away, by the turn from which.
    reached_after_all: BinaryHeap<(usize, usize)>,
    /// The present distance.
    distance: i64,
    /// The nodes to visit at the present distance.
    near: Numbers,
    /// Those farther away; an entry whose distance is no longer the node's is stale.
    farther: BinaryHeap<(Reverse<i64>, usize)>,
}

impl Search {
    fn new(nodes: usize, source: usize, sink: usize) -> Self {
        Self {
            source,
            sink,
            discounts: vec![0; nodes],
            distances: vec![NOWHERE; nodes],
            by: vec![NONE; nodes],
            labels: Vec::new(),
            visited: Vec::new(),
            turns: vec![NONE; nodes],
            given: Vec::new(),
            reached_after_all: BinaryHeap::new(),
            distance: 0,
            near: Numbers::below(nodes),
            farther: BinaryHeap::new(),
        }
    }

    /// Begins at the source.
    fn begin(&mut self) {
        for label in self.labels.drain(..) {
            (self.distances[label.node], self.by[label.node]) = (NOWHERE, NONE);
        }
        for node in self.visited.drain(..) {
            self.turns[node] = NONE;
        }
        self.given.clear();
        self.reached_after_all.clear();
        self.near.clear();
        self.farther.clear();
        self.distance = 0;
        self.distances[self.source] = 0;
        self.near.insert(self.source);
    }

    /// Goes on to a shortest way to the sink. Returns whether there is one.
    fn finds_way(&mut self, residual: &Residual) -> bool {
        while self.distances[self.sink] > self.distance {
            if let Some(node) = self.near.take_last() {
                self.visit(node, residual);
            } else if let Some(next) = self.go_on() {
                self.distance = next;
            } else {
                return false;
            }
        }
        true
    }

    fn visit(&mut self, node: usize, residual: &Residual) {
        self.turns[node] = self.visited.len();
        self.visited.push(node);
        let first = self.labels.len();
        for place in residual.leaving(node) {
            self.follow(node, place, residual);
        }
        self.given.push(first..self.labels.len());
    }

    /// Follows an arc that leaves a visited node. Returns whether it makes a way to its end shorter.
    #[inline]
    fn follow(&mut self, node: usize, place: usize, residual: &Residual) -> bool {
        let arc = &residual.arcs[place];
        // Half of all arcs, at least, are full: of an arc and the one in the other direction only one is open at first.
        if arc.room == 0 {
            return false;
        }
        let distance = self.distance + self.discounts[node] + arc.cost - self.discounts[arc.to];
        if distance >= self.distances[arc.to] {
            return false;
        }
        self.distances[arc.to] = distance;
        let before = std::mem::replace(&mut self.by[arc.to], self.labels.len());
        self.labels.push(Label { node: arc.to, turn: self.turns[node], distance, arc: place, before });
        if distance == self.distance {
            self.near.insert(arc.to);
        } else {
            self.farther.push((Reverse(distance), arc.to));
        }
        true
    }

    /// Prepares the next search, once the way that was found has been used.
    fn resume(&mut self, residual: &Residual) {
        // If the way was longer, the reduced costs have changed.
        let full = if self.distance > 0 { None } else { self.first_full(residual) };
        match full {
            Some(place) => self.do_without(place, residual),
            None => self.begin(),
        }
    }

    /// The first arc of the way without any room left.
    fn first_full(&self, residual: &Residual) -> Option<usize> {
        self.way(residual).filter(|&place| residual.arcs[place].room == 0).last()
    }

    /// Takes back what followed from an arc of the way. All visited nodes are at distance 0.
    fn do_without(&mut self, place: usize, residual: &Residual) {
        let Open { to: node, back, .. } = residual.arcs[place];
        let from = residual.arcs[back].to;
        self.take_back(self.turns[node]);
        self.take_label(node);
        // Arcs that were no better than this one may be now; they are followed in the order of the search.
        let turn = self.turns[from];
        let mut others: Vec<(usize, usize)> = if turn + 1 == self.visited.len() {
            let after = place + 1..residual.leaving(from).end;
            after.filter(|&other| residual.arcs[other].to == node).map(|other| (turn, other)).collect()
        } else {
            let into = residual.leaving(node).map(|leaving| residual.arcs[leaving].back);
            let into = into.map(|other| (self.turns[residual.arcs[residual.arcs[other].back].to], other));
            into.filter(|&(from, other)| from != NONE && (from, other) > (turn, place)).collect()
        };
        others.sort_unstable();
        for (turn, other) in others {
            if self.follow(self.visited[turn], other, residual) {
                self.reached_after_all.push((turn, node));
            }
        }
    }

    /// Takes back the visits from a turn on, if there were so many.
    fn take_back(&mut self, turn: usize) {
        while self.visited.len() > turn
            && let (Some(node), Some(given)) = (self.visited.pop(), self.given.pop())
        {
            self.turns[node] = NONE;
            self.near.insert(node);
            for label in given.clone() {
                self.forget(self.labels[label].node, turn);
            }
            if self.reached_after_all.is_empty() {
                self.labels.truncate(given.start);
            }
        }
        while let Some(&(from, node)) = self.reached_after_all.peek()
            && from >= turn
        {
            self.reached_after_all.pop();
            self.forget(node, turn);
        }
    }

    /// Forgets how a node was reached from nodes that were visited from a turn on.
    fn forget(&mut self, node: usize, turn: usize) {
        while self.by[node] != NONE && self.labels[self.by[node]].turn >= turn {
            self.take_label(node);
        }
    }

    /// Takes the label of a node away; it waits no longer for its visit at the present distance.
    fn take_label(&mut self, node: usize) {
        self.by[node] = self.labels[self.by[node]].before;
        self.distances[node] = self.labels.get(self.by[node]).map_or(NOWHERE, |label| label.distance);
        self.near.remove(node);
    }

    /// Goes on to the next distance at which there is a node.
    fn go_on(&mut self) -> Option<i64> {
        let mut next = None;
        while let Some(&(Reverse(distance), node)) = self.farther.peek() {
            let stale = self.distances[node] != distance;
            if !stale && *next.get_or_insert(distance) != distance {
                break;
            }
            if !stale {
                self.near.insert(node);
            }
            self.farther.pop();
        }
        next
    }

    /// Reduces the costs, so that the way that was found costs nothing.
    fn reduce_costs(&mut self) {
        let length = self.distances[self.sink];
        if length == 0 {
            return;
        }
        for &node in &self.visited {
            self.discounts[node] -= length - self.distances[node];
        }
    }

    /// Sends as much as it can along the way that was found, but no more than `most`. Returns how much.
    fn send(&self, residual: &mut Residual, most: i64) -> i64 {
        let sent = self.way(residual).map(|place| residual.arcs[place].room).fold(most, i64::min);
        let way: Vec<usize> = self.way(residual).collect();
        for place in way {
            residual.arcs[place].room -= sent;
            let back = residual.arcs[place].back;
            residual.arcs[back].room += sent;
        }
        sent
    }

    /// The arcs of the way that was found, from the sink on.
    fn way(&self, residual: &Residual) -> impl Iterator<Item = usize> {
        let arc_before = |node: usize| self.labels.get(self.by[node]).map(|label| label.arc);
        let start = |place: usize| residual.arcs[residual.arcs[place].back].to;
        std::iter::successors(arc_before(self.sink), move |&place| arc_before(start(place)))
    }
}

/// A set of small numbers that gives the highest first: one bit a number, and one for each word of bits that is not empty.
struct Numbers {
    words: Vec<u64>,
    filled: Vec<u64>,
}

impl Numbers {
    /// An empty set of numbers below `end`.
    fn below(end: usize) -> Self {
        let words = end.div_ceil(64);
        Self { words: vec![0; words], filled: vec![0; words.div_ceil(64)] }
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.filled.fill(0);
    }

    fn insert(&mut self, number: usize) {
        let word = number / 64;
        self.words[word] |= 1 << (number % 64);
        self.filled[word / 64] |= 1 << (word % 64);
    }

    fn remove(&mut self, number: usize) {
        let word = number / 64;
        self.words[word] &= !(1 << (number % 64));
        if self.words[word] == 0 {
            self.filled[word / 64] &= !(1 << (word % 64));
        }
    }

    fn take_last(&mut self) -> Option<usize> {
        let block = self.filled.iter().rposition(|&filled| filled != 0)?;
        let word = 64 * block + highest(self.filled[block]);
        let bit = highest(self.words[word]);
        self.remove(64 * word + bit);
        Some(64 * word + bit)
    }
}

/// The number of the highest bit that is set.
fn highest(bits: u64) -> usize {
    63 - bits.leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cases::cases;
    use ac_library::MinCostFlowGraph;
    use proptest::prelude::*;

    #[test]
    fn numbers_come_highest_first() {
        let mut numbers = Numbers::below(5_000);
        for number in [0, 63, 64, 4_999, 4_095, 4_096, 64] {
            numbers.insert(number);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| numbers.take_last()).collect();
        assert_eq!(taken, [4_999, 4_096, 4_095, 64, 63, 0]);
    }

    /// The flow that AtCoder's library finds, whose order of search is the same.
    fn reference(network: &Network, units: i64) -> Vec<i64> {
        let mut graph = MinCostFlowGraph::new(network.nodes);
        for arc in &network.arcs {
            graph.add_edge(arc.from, arc.to, arc.capacity, arc.cost);
        }
        graph.flow(0, 1, units);
        graph.edges().into_iter().map(|edge| edge.flow).collect()
    }

    fn network() -> impl Strategy<Value = Network> {
        let nodes = 12;
        let arc = (0..nodes, 0..nodes, 0..=3_i64, 0..=4_i64);
        prop::collection::vec(arc, 0..60).prop_map(move |arcs| {
            let arcs = arcs.into_iter().filter(|(from, to, ..)| from != to);
            let arcs = arcs.map(|(from, to, capacity, cost)| Planned { from, to, capacity, cost });
            Network { nodes, arcs: arcs.collect() }
        })
    }

    proptest! {
        #![proptest_config(cases(2_000))]

        #[test]
        fn each_arc_carries_as_much_as_in_the_reference(network in network(), units in 0..=12_i64) {
            prop_assert_eq!(network.flow(0, 1, units).0, reference(&network, units));
        }
    }
}
