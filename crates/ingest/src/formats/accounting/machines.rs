//! The machines, as far as the jobs show them: accounting lists none.
//!
//! The log says on which hosts a job had how many processors. So a machine has at least as many as were in use on it at once. Machines
//! whose names differ only in the number at their end are alike, and each has the most of its kind, unless its use shows another size:
//! it was full again and again, with different numbers of jobs, while others of its kind had a third more in use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_tables::cause;
use resched_tables::host_list::expand;
use resched_tables::model::NodeRow;
use resched_tables::sink::Sink;

use super::job::{Job, Try};
use crate::texts::{TextId, Texts};

/// The most hosts of a job.
pub(crate) const MOST_HOSTS: usize = 65_536;
/// The longest name of a host, bytes.
const LONGEST_NAME: usize = 128;
/// The most hosts that are looked at in all, each as often as a job ran on it.
const MOST_LOOKS: usize = 100_000_000;
/// So often the most processors of a machine must have been in use, so that it was full then.
const OFTEN: u32 = 5;
/// A processor, in thousandths.
const PROCESSOR: i64 = 1_000;

/// Whether a text may be the name of a host.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@/".contains(&byte) || byte >= 0x80;
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(is_part)
}

/// The hosts in a text that [`resched_tables::placed`] wrote, with the processors on each; 0: unknown.
pub(super) fn hosts_of(text: &str) -> Option<Vec<(String, u32)>> {
    let mut all = Vec::new();
    for group in text.split(';') {
        let (hosts, cpus) = group.rsplit_once('*')?;
        let cpus = cpus.parse().ok()?;
        let left = MOST_HOSTS.checked_sub(all.len())?;
        all.extend(expand(hosts, left)?.into_iter().map(|host| (host, cpus)));
    }
    Some(all)
}

/// The machines of a log, with the processors of each.
#[derive(Debug, Default)]
pub(super) struct Machines {
    names: Texts,
    /// By the number of the name.
    nodes: Vec<Node>,
    kinds: Texts,
    looks: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    kind: TextId,
    /// Processors in use, and the most at once.
    now: u64,
    most: u64,
    /// How often the most were in use, and the fewest and the most jobs that they were of.
    times: u32,
    jobs: (u32, u32),
    running: u32,
}

impl Node {
    fn add(&mut self, cpus: u32) {
        let before = self.most;
        self.now = self.now.saturating_add(u64::from(cpus));
        self.most = self.most.max(self.now);
        self.running = self.running.saturating_add(1);
        if self.most > before {
            (self.times, self.jobs) = (0, (self.running, self.running));
        }
        if self.now == self.most {
            self.times = self.times.saturating_add(1);
            self.jobs = (self.jobs.0.min(self.running), self.jobs.1.max(self.running));
        }
    }

    fn remove(&mut self, cpus: u32) {
        self.now = self.now.saturating_sub(u64::from(cpus));
        self.running = self.running.saturating_sub(1);
    }

    /// Whether it has a size of its own, if others of its kind have so many processors.
    fn is_smaller_than(&self, others: u64) -> bool {
        let was_full = self.times >= OFTEN && self.jobs.0 < self.jobs.1;
        was_full && self.most.saturating_mul(4) <= others.saturating_mul(3)
    }
}

/// The machines of a try that runs, behind its end and its number.
type Running = Reverse<(i64, usize, Vec<(TextId, u32)>)>;

impl Machines {
    /// The machines that the jobs show.
    pub(super) fn of(jobs: &[Job], texts: &Texts, sink: &mut dyn Sink) -> Self {
        let mut machines = Self::default();
        let mut running: BinaryHeap<Running> = BinaryHeap::new();
        let has_place = |one: &&Try| one.start.is_some() && !one.hosts.is_none();
        let mut tries: Vec<&Try> = jobs.iter().flat_map(|job| &job.tries).filter(has_place).collect();
        tries.sort_by_key(|one| one.start);
        for (number, one) in tries.into_iter().enumerate() {
            let start = one.start.unwrap_or_default();
            // Logs have whole seconds: what ends in the second in which another try starts ends first.
            while running.peek().is_some_and(|Reverse((end, ..))| *end <= start) {
                let Some(Reverse((.., places))) = running.pop() else { break };
                places.into_iter().for_each(|(place, cpus)| machines.at(place, |node| node.remove(cpus)));
            }
            let Some(hosts) = hosts_of(texts.text(one.hosts)).filter(|_| machines.looks < MOST_LOOKS) else {
                sink.skip(cause::DAMAGED_NODE_LIST, 1);
                continue;
            };
            machines.looks += hosts.len();
            let places: Vec<(TextId, u32)> = hosts.iter().map(|(host, cpus)| (machines.place(host), *cpus)).collect();
            places.iter().for_each(|&(place, cpus)| machines.at(place, |node| node.add(cpus)));
            let ran = || start.checked_add(one.run?);
            running.push(Reverse((one.end.or_else(ran).unwrap_or(i64::MAX), number, places)));
        }
        machines
    }

    fn at(&mut self, place: TextId, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(place.number()) {
            change(node);
        }
    }

    /// The place of a machine, which is new or not.
    fn place(&mut self, host: &str) -> TextId {
        let place = self.names.keep(host);
        if place.number() >= self.nodes.len() {
            let kind = self.kinds.keep(kind_and_number(host).0);
            self.nodes.resize(self.names.len(), Node { kind, ..Node::default() });
        }
        place
    }

    /// Hands over the machines, in the order of their names.
    pub(super) fn report(&self, sink: &mut dyn Sink) {
        let mut largest = vec![0_u64; self.kinds.len().max(1)];
        for node in &self.nodes {
            if let Some(most) = largest.get_mut(node.kind.number()) {
                *most = (*most).max(node.most);
            }
        }
        let of_kind = |node: &Node| largest.get(node.kind.number()).copied().unwrap_or(0);
        let size = |node: &Node| if node.is_smaller_than(of_kind(node)) { node.most } else { of_kind(node) };
        let named = self.nodes.iter().enumerate().skip(1);
        let mut hosts: Vec<(&str, u64)> =
            named.map(|(place, node)| (self.names.text(TextId::of(place)), size(node))).collect();
        if hosts.is_empty() {
            return sink.skip(cause::FILE_WITHOUT_MACHINES, 1);
        }
        hosts.sort_by_key(|&(host, _)| kind_and_number(host));
        sink.skip(cause::MACHINE_SIZED_BY_ITS_USE, hosts.iter().filter(|(_, cpus)| *cpus > 0).count() as u64);
        for (host, cpus) in hosts {
            let cpu = i64::try_from(cpus).ok().filter(|&cpus| cpus > 0).and_then(|cpus| cpus.checked_mul(PROCESSOR));
            sink.used_node(NodeRow { host: host.to_owned(), cpu, ..NodeRow::default() });
        }
    }
}

/// The name of a machine without the number at its end, and that number: its length and its digits. A domain does not count.
fn kind_and_number(host: &str) -> (&str, (usize, &str)) {
    let name = host.split_once('.').map_or(host, |(name, _)| name);
    let kind = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = name.strip_prefix(kind).unwrap_or_default();
    (kind, (number.len(), number))
}
