//! The machines, as far as the jobs show them: `sacct` lists none.
//!
//! Nodes whose names differ only in the number at their end are alike: of one kind, unless their use shows another size. A node was full
//! again and again if its most CPUs in use were reached [`OFTEN`] times, by different numbers of jobs; if others of its kind had a third
//! more in use, it is of a size of its own. The CPUs of each are the fewest that all jobs of the
//! list had room on: those in use at once by jobs on one node; those of a job on several nodes and of the jobs beside it, on average over its
//! nodes; and those in use at once on all nodes of a kind, on average. How a job on several nodes was spread is not in a list, so nodes
//! may have more CPUs than this, but not fewer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::NodeRow;
use resched_tables::sink::Sink;
use smallvec::{SmallVec, smallvec};

use super::hosts::hosts;
use super::job::Try;
use crate::codec::{Front, put, put_signed};
use crate::formats::tables::{Fact, Key};
use crate::sorted::{Sorter, in_order};
use crate::texts::{TextId, Texts};

/// The most nodes that are looked at in all, each as often as a job ran on it.
const MOST_LOOKS: usize = 1_000_000_000;
/// The most nodes that are known; no cluster has as many.
const MOST_NODES: usize = 1 << 20;
/// So often the most CPUs of a node must have been in use, so that it was full then.
const OFTEN: u32 = 5;
/// A processor, in thousandths.
pub(super) const PROCESSOR: i64 = 1_000;

/// The nodes of a list of jobs, with the CPUs of each.
#[derive(Debug, Default)]
pub(super) struct Machines {
    names: Texts,
    /// The CPUs by the number of the name.
    cpus: Vec<u32>,
}

/// A try on known nodes.
#[derive(Debug)]
pub(super) struct OnNodes<'a> {
    cpus: u32,
    /// `None`: it runs on.
    end: Option<i64>,
    /// As the list writes them.
    hosts: &'a str,
}

impl<'a> OnNodes<'a> {
    /// Adds a try of a job that was submitted then, if it is known when it started. `bytes` is memory for that.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn push(one: &Try<'a>, submit: i64, bytes: &mut Vec<u8>, tries: &mut Sorter) -> Result<(), Error> {
        let Some(start) = one.start() else { return Ok(()) };
        bytes.clear();
        put(u64::from(one.cpus), bytes);
        let end = one.finish().0;
        put(u64::from(end.is_some()), bytes);
        end.into_iter().for_each(|end| put_signed(end.wrapping_sub(start), bytes));
        bytes.extend_from_slice(one.hosts.as_bytes());
        let (job, task) = (Key::Number(in_order(start)), Key::Number(in_order(submit)));
        tries.push(&Fact { job, task, time: start, value: bytes })
    }

    /// The try that was added so, which started then.
    fn read(bytes: &'a [u8], start: i64) -> Option<Self> {
        let mut front = Front(bytes);
        let (cpus, has_ended) = (front.count()?, front.number()? > 0);
        let end = if has_ended { Some(start.wrapping_add(front.signed()?)) } else { None };
        Some(Self { cpus, end, hosts: std::str::from_utf8(front.0).ok()? })
    }
}

impl Machines {
    /// The nodes of the tries, which come by their starts.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn of(tries: Sorter, sink: &mut dyn Sink) -> Result<Self, Error> {
        let mut sweep = Sweep::default();
        tries.visit(|fact| {
            let is_known = OnNodes::read(fact.value, fact.time).is_some_and(|one| sweep.take(&one, fact.time));
            sink.skip(cause::DAMAGED_NODE_LIST, u64::from(!is_known));
            Ok(())
        })?;
        Ok(Self { cpus: sweep.cpus(), names: sweep.names })
    }

    /// The CPUs of the largest node; `None` if no node is known.
    pub(super) fn largest(&self) -> Option<u32> {
        self.cpus.iter().copied().max().filter(|&cpus| cpus > 0)
    }

    /// True if so many CPUs are all that these nodes have.
    pub(super) fn are_whole(&self, list: &str, cpus: u32) -> bool {
        let Some(hosts) = hosts(list) else { return false };
        let of_host = |host: &String| self.names.find(host).and_then(|id| self.cpus.get(id.number())).copied();
        let sum: u64 = hosts.iter().filter_map(of_host).map(u64::from).sum();
        sum > 0 && u64::from(cpus) >= sum
    }

    /// Hands over the nodes, in the order of their names.
    pub(super) fn report(&self, sink: &mut dyn Sink) {
        let mut hosts: Vec<(&str, u32)> = self
            .cpus
            .iter()
            .enumerate()
            .skip(1)
            .map(|(place, &cpus)| (self.names.text(TextId::of(place)), cpus))
            .collect();
        if hosts.is_empty() {
            return sink.skip(cause::FILE_WITHOUT_MACHINES, 1);
        }
        hosts.sort_by_key(|&(host, _)| kind_and_number(host));
        sink.skip(cause::MACHINE_SIZED_BY_ITS_USE, hosts.len() as u64);
        for (host, cpus) in hosts {
            let cpu = Some(i64::from(cpus) * PROCESSOR);
            sink.used_node(NodeRow { host: host.to_owned(), cpu, ..NodeRow::default() });
        }
    }
}

/// The name of a node without the number at its end, and that number: its length and its digits.
fn kind_and_number(host: &str) -> (&str, (usize, &str)) {
    let kind = host.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = host.strip_prefix(kind).unwrap_or_default();
    (kind, (number.len(), number))
}

/// A look at the tries in the order of their starts.
#[derive(Debug, Default)]
struct Sweep {
    names: Texts,
    /// By the number of the name.
    nodes: Vec<Node>,
    kinds: Texts,
    /// By the number of the kind.
    of_kind: Vec<Use>,
    running: BinaryHeap<Reverse<Running>>,
    tries: usize,
    looks: usize,
}

/// CPUs in use.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    now: u64,
    most: u64,
    /// On so many nodes.
    nodes: u64,
}

impl Use {
    fn add(&mut self, cpus: u32) {
        self.now = self.now.saturating_add(u64::from(cpus));
        self.most = self.most.max(self.now);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    kind: TextId,
    /// By jobs on this node alone.
    alone: Use,
    /// On average over the nodes of a job.
    shared: u64,
    /// How often the most were in use, and the fewest and the most jobs that they were of.
    times: u32,
    jobs: (u32, u32),
    /// How many jobs run on this node alone.
    running: u32,
}

impl Node {
    /// Adds a job that runs on this node alone.
    fn add(&mut self, cpus: u32) {
        let before = self.alone.most;
        self.alone.add(cpus);
        self.running = self.running.saturating_add(1);
        if self.alone.most > before {
            (self.times, self.jobs) = (0, (self.running, self.running));
        }
        if self.alone.now == self.alone.most {
            self.times = self.times.saturating_add(1);
            self.jobs = (self.jobs.0.min(self.running), self.jobs.1.max(self.running));
        }
    }

    /// The most that was in use.
    fn most(&self) -> u64 {
        self.alone.most.max(self.shared)
    }

    /// True if it has a size of its own, if others of its kind have so many CPUs.
    fn is_smaller_than(&self, others: u64) -> bool {
        let was_full = self.times >= OFTEN && self.jobs.0 < self.jobs.1 && self.alone.most >= self.shared;
        was_full && self.most().saturating_mul(4) <= others.saturating_mul(3)
    }
}

/// A try that runs: when it ends, its number, its CPUs, its node if it has one alone, its kind of nodes if that is one.
type Running = (i64, usize, u32, Option<TextId>, Option<TextId>);

impl Sweep {
    /// Takes the next try; `false` if its nodes are not known.
    fn take(&mut self, one: &OnNodes<'_>, start: i64) -> bool {
        let Some(places) = self.places(one.hosts) else { return false };
        self.end_before(start);
        let alone = if let [place] = places[..] { Some(place) } else { None };
        match alone.and_then(|place| self.nodes.get_mut(place.number())) {
            Some(node) => node.add(one.cpus),
            None => self.share(&places, one.cpus),
        }
        let kind = self.kind_of(&places);
        if let Some(of_kind) = kind.and_then(|kind| self.of_kind.get_mut(kind.number())) {
            of_kind.add(one.cpus);
        }
        // What runs on need not be looked for.
        if let Some(end) = one.end {
            self.running.push(Reverse((end, self.tries, one.cpus, alone, kind)));
        }
        self.tries += 1;
        true
    }

    /// The places of the nodes of a list; `None` if they are not known.
    fn places(&mut self, list: &str) -> Option<SmallVec<[TextId; 1]>> {
        // Most tries ran on one node, which ran others before.
        if let Some(place) = self.names.find(list) {
            return Some(smallvec![place]);
        }
        let hosts = hosts(list).filter(|_| self.looks < MOST_LOOKS)?;
        self.looks += hosts.len();
        let is_new = |host: &&String| self.names.find(host).is_none();
        if self.names.len() + hosts.len() > MOST_NODES
            && self.names.len() + hosts.iter().filter(is_new).count() > MOST_NODES
        {
            return None;
        }
        Some(hosts.iter().map(|host| self.node(host)).collect())
    }

    /// The place of a node, which is new or not.
    fn node(&mut self, host: &str) -> TextId {
        let place = self.names.keep(host);
        if place.number() >= self.nodes.len() {
            let kind = self.kinds.keep(kind_and_number(host).0);
            self.nodes.resize(self.names.len(), Node { kind, ..Node::default() });
            self.of_kind.resize(self.kinds.len(), Use::default());
            if let Some(of_kind) = self.of_kind.get_mut(kind.number()) {
                of_kind.nodes += 1;
            }
        }
        place
    }

    /// Notes the CPUs of a job on several nodes, with those of the jobs on one of them.
    fn share(&mut self, places: &[TextId], cpus: u32) {
        let beside = places.iter().filter_map(|place| self.nodes.get(place.number())).map(|node| node.alone.now);
        let average = beside.fold(u64::from(cpus), u64::saturating_add).div_ceil(places.len().max(1) as u64);
        for place in places {
            if let Some(node) = self.nodes.get_mut(place.number()) {
                node.shared = node.shared.max(average);
            }
        }
    }

    /// The kind of all these nodes, if it is one.
    fn kind_of(&self, places: &[TextId]) -> Option<TextId> {
        let mut kinds = places.iter().filter_map(|place| self.nodes.get(place.number())).map(|node| node.kind);
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }

    /// Gives back what tries held that ended at `time` or before. The list has whole seconds: one that ends in the second in which another
    /// starts ends first.
    fn end_before(&mut self, time: i64) {
        while self.running.peek().is_some_and(|Reverse((end, ..))| *end <= time) {
            let Some(Reverse((_, _, cpus, alone, kind))) = self.running.pop() else { return };
            let node = alone.and_then(|place| self.nodes.get_mut(place.number())).map(|node| {
                node.running = node.running.saturating_sub(1);
                &mut node.alone
            });
            let kind = kind.and_then(|kind| self.of_kind.get_mut(kind.number()));
            for used in [node, kind].into_iter().flatten() {
                used.now = used.now.saturating_sub(u64::from(cpus));
            }
        }
    }

    /// The CPUs of each node, by the number of its name.
    fn cpus(&self) -> Vec<u32> {
        let mut largest: Vec<u64> = vec![0; self.of_kind.len()];
        let raise = |largest: &mut Vec<u64>, kind: TextId, to: u64| {
            if let Some(most) = largest.get_mut(kind.number()) {
                *most = (*most).max(to);
            }
        };
        self.nodes.iter().for_each(|node| raise(&mut largest, node.kind, node.most()));
        let own_size: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| largest.get(node.kind.number()).is_some_and(|&others| node.is_smaller_than(others)))
            .collect();
        // What all nodes of a kind had in use at once says nothing about each if they are not alike.
        let mut alike = vec![true; largest.len()];
        for (node, _) in self.nodes.iter().zip(&own_size).filter(|(_, node)| **node) {
            if let Some(alike) = alike.get_mut(node.kind.number()) {
                *alike = false;
            }
        }
        for ((most, used), alike) in largest.iter_mut().zip(&self.of_kind).zip(alike) {
            if alike {
                *most = (*most).max(used.most.div_ceil(used.nodes.max(1)));
            }
        }
        let of_kind = |node: &Node| largest.get(node.kind.number()).copied().unwrap_or(0);
        let of = |(node, by_itself): (&Node, &bool)| if *by_itself { node.most() } else { of_kind(node) };
        self.nodes.iter().zip(&own_size).map(|node| u32::try_from(of(node)).unwrap_or(u32::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_alike_if_their_names_are() {
        assert_eq!(kind_and_number("gpu-12"), ("gpu-", (2, "12")));
        assert!(kind_and_number("n9") < kind_and_number("n10") && kind_and_number("m10") < kind_and_number("n9"));
    }
}
