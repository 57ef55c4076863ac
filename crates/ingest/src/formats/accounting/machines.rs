//! The machines, as far as the jobs show them: accounting lists none.
//!
//! The log says on which hosts a job had how many processors. So a machine has at least as many as were in use on it at once. Machines
//! whose names differ only in the number at their end are alike, and each has the most of its kind, unless its use shows another size:
//! it was full again and again, with different numbers of jobs, while others of its kind had a third more in use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::host_list::expand;
use resched_tables::model::NodeRow;
use resched_tables::sink::Sink;
use serde::{Deserialize, Serialize};

use super::job::Try;
use crate::formats::tables::{Fact, Key};
use crate::packed::encoding;
use crate::sorted::{Sorter, in_order};
use crate::texts::{TextId, Texts};

/// The most hosts of a job.
pub(crate) const MOST_HOSTS: usize = 65_536;
/// The longest name of a host, bytes.
const LONGEST_NAME: usize = 128;
/// The most hosts that are looked at in all, each as often as a job ran on it.
const MOST_LOOKS: usize = 1_000_000_000;
/// The most hosts that are known; no cluster has as many.
const MOST_NODES: usize = 1 << 20;
/// So often the most processors of a machine must have been in use, so that it was full then.
const OFTEN: u32 = 5;
/// A processor, in thousandths.
const PROCESSOR: i64 = 1_000;

/// True if a text may be the name of a host.
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

    /// True if it has a size of its own, if others of its kind have so many processors.
    fn is_smaller_than(&self, others: u64) -> bool {
        let was_full = self.times >= OFTEN && self.jobs.0 < self.jobs.1;
        was_full && self.most.saturating_mul(4) <= others.saturating_mul(3)
    }
}

/// The machines of a try that runs, behind its end and its number.
type Running = Reverse<(i64, usize, Vec<(TextId, u32)>)>;

/// A try on known hosts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OnHosts<'a> {
    /// `None`: it runs on.
    end: Option<i64>,
    /// With the processors on each, as [`resched_tables::placed`] writes them.
    hosts: &'a str,
}

impl<'a> OnHosts<'a> {
    /// Adds a try of a job that was submitted then, if it is known when it started.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn push(one: &Try<'a>, submit: Option<i64>, tries: &mut Sorter) -> Result<(), Error> {
        let Some(start) = one.start else { return Ok(()) };
        let end = one.end.or_else(|| start.checked_add(one.run?));
        let seen = Self { end, hosts: one.hosts };
        let value = postcard::to_allocvec(&seen).map_err(encoding(Path::new("a try")))?;
        let task = submit.map_or(Key::None, |submit| Key::Number(in_order(submit)));
        tries.push(&Fact { job: Key::Number(in_order(start)), task, time: start, value: &value })
    }
}

impl Machines {
    /// The machines of the tries, which come by their starts.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn of(tries: Sorter, sink: &mut dyn Sink) -> Result<Self, Error> {
        let mut machines = Self::default();
        let mut running: BinaryHeap<Running> = BinaryHeap::new();
        let mut number = 0;
        tries.visit(|fact| {
            let (start, one) = (fact.time, postcard::from_bytes::<OnHosts<'_>>(fact.value).ok());
            // Logs have whole seconds: what ends in the second in which another try starts ends first.
            while running.peek().is_some_and(|Reverse((end, ..))| *end <= start) {
                let Some(Reverse((.., places))) = running.pop() else { break };
                places.into_iter().for_each(|(place, cpus)| machines.at(place, |node| node.remove(cpus)));
            }
            let Some((end, places)) = one.and_then(|one| Some((one.end, machines.places(one.hosts)?))) else {
                sink.skip(cause::DAMAGED_NODE_LIST, 1);
                return Ok(());
            };
            places.iter().for_each(|&(place, cpus)| machines.at(place, |node| node.add(cpus)));
            number += 1;
            // What runs on need not be looked for.
            running.extend(end.map(|end| Reverse((end, number, places))));
            Ok(())
        })?;
        Ok(machines)
    }

    /// The places of these hosts, with the processors on each; `None` if they are not known.
    fn places(&mut self, hosts: &str) -> Option<Vec<(TextId, u32)>> {
        let hosts = hosts_of(hosts).filter(|_| self.looks < MOST_LOOKS)?;
        let is_new = |(host, _): &&(String, u32)| self.names.find(host).is_none();
        let all = self.names.len() + hosts.len();
        if all > MOST_NODES && self.names.len() + hosts.iter().filter(is_new).count() > MOST_NODES {
            return None;
        }
        self.looks += hosts.len();
        Some(hosts.iter().map(|(host, cpus)| (self.place(host), *cpus)).collect())
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
