//! The machines of a production cluster, and how they come, go and change.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::engine::RunEngine;
use resched_tables::model::{NodeChange, NodeRow};
use resched_tables::names::host_name;
use resched_tables::run::RunCluster;
use resched_tables::store::Amounts;

use super::log::Log;
use crate::clones::{Clone, clones};
use crate::cluster_file::{MOST_MEMORY, Placement};
use crate::ids::{Ms, NodeId};
use crate::loading::{LONGEST, Skipped};
use crate::resources::Resources;
use crate::{ClusterConfig, Error};

/// The size of a machine that the trace does not give, if its amounts are shares of the largest machine: the whole of
/// the largest one. Processor is then in millionths, memory in millionths of a millionth (formats §7).
const NORMALISED: Resources = Resources { cpu: Amounts::CORES * 1_000, memory: Amounts::MEMORY };

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Its host name.
    pub name: String,
    /// Its rack, if it is known.
    pub rack: Option<String>,
    /// The resources it offers at the start; nothing if it comes later.
    pub capacity: Resources,
}

/// A change of the resources that a machine offers. They are nothing if it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The time of the change, ms.
    pub at: Ms,
    /// The machine.
    pub node: NodeId,
    /// The resources it offers from then on.
    pub capacity: Resources,
}

/// The fewest executors from which it is known how long one needs to start.
const ENOUGH_STARTS: usize = 3;

/// What an application had of a machine in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executor {
    /// The machine.
    pub node: NodeId,
    /// The application, as the jobs name it in their group.
    pub group: String,
    /// What it has: the most that it had at any time.
    pub capacity: Resources,
    /// From when on it was there, ms; `None`: from the start.
    pub added: Option<Ms>,
    /// When the application that had the machine before left it, ms.
    pub freed: Option<Ms>,
}

/// The machines of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machines {
    nodes: Vec<Machine>,
    executors: Vec<Executor>,
    /// How long an executor needs to start on a machine that another application left, ms.
    executor_start: Option<Ms>,
    changes: Vec<Change>,
    placement: Placement,
    /// How many of them have a size that the trace does not give, and where it is from.
    unknown: u64,
    rule: SizeRule,
    /// What amounts of processor and memory are.
    amounts: Amounts,
}

/// Where the size of a machine is from that the trace does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeRule {
    /// The cluster file.
    Given,
    /// The median of the machines whose size the trace gives.
    Median,
    /// The slots that the trace or the cluster file gives: one core each.
    Slots,
    /// Nowhere: a core for each of [`crate::cluster_file::Nodes::ASSUMED_SLOTS`] map and reduce slots, or, where amounts are shares of the
    /// largest machine, the whole of it.
    Assumed,
}

impl Machines {
    /// More than any machine offers. A larger number is damage.
    pub const MOST: Resources = Resources { cpu: 1 << 40, memory: MOST_MEMORY };

    /// `count` machines that all offer the same and never change.
    pub fn alike(count: u32, capacity: Resources, placement: Placement) -> Self {
        let machine = |number| Machine { name: host_name(number), rack: None, capacity };
        Self {
            nodes: (0..count).map(machine).collect(),
            executors: Vec::new(),
            executor_start: None,
            changes: Vec::new(),
            placement,
            unknown: 0,
            rule: SizeRule::Given,
            amounts: Amounts::Absolute,
        }
    }

    /// These machines, in the order in which first fit takes them. Each change is `(at, place of the machine,
    /// capacity)`. This function sorts the changes by time.
    ///
    /// # Errors
    /// [`Error::Config`] if a change names a machine that does not exist.
    pub fn new(nodes: Vec<Machine>, changes: &[(Ms, usize, Resources)], placement: Placement) -> Result<Self, Error> {
        if let Some((_, node, _)) = changes.iter().find(|(_, node, _)| *node >= nodes.len()) {
            return Err(Error::Config(format!("a change names machine {node}, but only {} exist", nodes.len())));
        }
        let change = |&(at, node, capacity): &(Ms, usize, Resources)| Change { at, node: NodeId::at(node), capacity };
        let mut changes: Vec<Change> = changes.iter().map(change).collect();
        changes.sort_by_key(|change| change.at);
        let rest = Self::alike(0, Resources::NONE, placement);
        Ok(Self { nodes, changes, ..rest })
    }

    /// The machines of a cluster file, or else of a log. If a log reports a machine at several times, each report is a
    /// change.
    ///
    /// If the log does not give the processor of a machine, the first of these that is known counts:
    /// `machines.cores`; the median of the log's other machines; one core per slot, where on a log of Hadoop the number
    /// of slots may come from the cluster file; and, if amounts are shares of the largest machine, the whole of that
    /// machine. For memory, the order is `machines.memory`, then the median. If the log gives the memory of no machine,
    /// memory is unlimited.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no machine or no size is known; [`Error::Trace`] if the trace cannot be read.
    pub(super) fn of_log(config: &ClusterConfig, log: &Log<'_>, skipped: &mut Skipped) -> Result<Self, Error> {
        let own = &config.machines;
        let cpu = own.cores.map(|cores| (cores * 1000.0).round() as u64);
        if let (Some(count), Some(cpu)) = (own.count, cpu) {
            let capacity = Resources { cpu, memory: own.memory.unwrap_or(0) };
            return Ok(Self { amounts: log.amounts(), ..Self::alike(count, capacity, own.placement) });
        }
        let (rows, executors) = by_application(log.nodes()?, log.executors_come_on_demand());
        let reported = Reported { rows };
        if reported.rows.is_empty() {
            return Err(Error::Config(format!(
                "{}: the trace names no machine; say how many there are, with `--nodes <N> --cores <of each>` or with \
                 `--cluster C.toml` that holds `[machines]`, `count = <N>` and `cores = <of each>`{}",
                log.name(),
                unit_of(log.amounts())
            )));
        }
        // On a log of Hadoop, a slot counts as a core. The cluster file gives the number of slots.
        let slots: u64 = config.nodes.slots().map(u64::from).iter().sum();
        let slots_known = config.nodes.map_slots.is_some() && config.nodes.reduce_slots.is_some();
        let hadoop = (slots > 0 && log.engine() == RunEngine::Hadoop).then_some(slots * 1000);
        let amounts = log.amounts();
        let normalised = amounts == Amounts::OfLargest;
        let (usual, rule) = reported.usual(cpu, own.memory, normalised, hadoop.map(|cpu| (cpu, slots_known))).ok_or_else(|| {
            Error::Config(format!(
                "{}: the trace gives the size of none of its machines; say it with `--cores <of each>` or with `--cluster C.toml` \
                 that holds `[machines]` and `cores = <of each>`",
                log.name()
            ))
        })?;
        let mut machines = Self { rule, amounts, ..reported.followed(usual, own.placement, skipped)? };
        machines.add_executors(executors, usual);
        Ok(match own.clones {
            Some(count) => machines.resized(count),
            None => machines,
        })
    }

    /// These machines, cut or grown to `count` as `machines.clones` says. A clone changes with its original.
    fn resized(&self, count: u32) -> Self {
        let named = self.nodes.iter().map(|node| (node.name.as_str(), node.rack.as_deref().unwrap_or_default()));
        let mut all = clones(named, count);
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let mut homes: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for (place, clone) in all.iter().enumerate() {
            homes[clone.of].push(NodeId::at(place));
        }
        let node = |clone: Clone| Machine { name: clone.name, ..self.nodes[clone.of].clone() };
        let of = |change: &Change| {
            let change = *change;
            homes[change.node.index()].iter().map(move |&node| Change { node, ..change }).collect::<Vec<_>>()
        };
        let executors = self.executors.iter().flat_map(|executor| {
            homes[executor.node.index()].iter().map(|&node| Executor { node, ..executor.clone() })
        });
        Self {
            executors: executors.collect(),
            executor_start: self.executor_start,
            changes: self.changes.iter().flat_map(of).collect(),
            nodes: all.into_iter().map(node).collect(),
            placement: self.placement,
            unknown: self.unknown,
            rule: self.rule,
            amounts: self.amounts,
        }
    }

    /// Moves the clock by `shift`. Changes up to `start` take effect before the replay.
    pub(super) fn start_at(&mut self, shift: Ms, start: Ms) {
        for change in &mut self.changes {
            change.at = change.at.saturating_add(shift);
        }
        for executor in &mut self.executors {
            executor.added = executor.added.map(|at| at.saturating_add(shift)).filter(|&at| at > start);
            executor.freed = executor.freed.map(|at| at.saturating_add(shift));
        }
        let before = self.changes.partition_point(|change| change.at <= start);
        for change in self.changes.drain(..before) {
            self.nodes[change.node.index()].capacity = change.capacity;
        }
    }

    /// What their amounts of processor and memory are, and the requests of the tasks.
    pub fn amounts(&self) -> Amounts {
        self.amounts
    }

    /// How many machines have a size that the trace does not give, and where it is from.
    pub fn unknown_sizes(&self) -> (u64, SizeRule) {
        (self.unknown, self.rule)
    }

    /// Whether any machine offers a known amount of memory. If none does, memory is unlimited, and no task may request
    /// any.
    pub(super) fn memory_is_limited(&self) -> bool {
        self.largest().memory > 0
    }

    /// The machines, by [`NodeId`].
    pub fn nodes(&self) -> &[Machine] {
        &self.nodes
    }

    /// What applications had of the machines, by machine, then by application; empty if the log does not say it.
    pub fn executors(&self) -> &[Executor] {
        &self.executors
    }

    /// How long an executor needs to start on a machine that another application left, ms: the median of the log. `None`: the log
    /// has fewer than three.
    pub fn executor_start(&self) -> Option<Ms> {
        self.executor_start
    }

    /// Looks in the log how long executors need to start, given when the first job of each application was submitted: an application
    /// without jobs did not wait for them.
    pub(super) fn fit_executor_start(&mut self, first_jobs: &BTreeMap<&str, Ms>) {
        let start = |executor: &Executor| {
            let (freed, added) = (executor.freed?, executor.added?);
            let waited = first_jobs.get(executor.group.as_str()).is_some_and(|&first| first <= freed);
            Some(added.saturating_sub(freed)).filter(|&start| waited && start >= 0)
        };
        let mut starts: Vec<Ms> = self.executors.iter().filter_map(start).collect();
        starts.sort_unstable();
        self.executor_start = (starts.len() >= ENOUGH_STARTS).then(|| starts[starts.len() / 2]);
    }

    /// Takes what applications had. What the log does not say is as usual.
    fn add_executors(&mut self, executors: BTreeMap<(String, String), Offered>, usual: Resources) {
        let number = |host: &String| self.nodes.binary_search_by(|node| node.name.cmp(host)).ok();
        let executor = |((host, group), own): ((String, String), Offered)| {
            let known = |amount: u64, usual: u64| if amount > 0 { amount } else { usual };
            let capacity = own.most.zip(usual, known);
            Some(Executor { node: NodeId::at(number(&host)?), group, capacity, added: own.since, freed: own.freed })
        };
        self.executors = executors.into_iter().filter_map(executor).collect();
    }

    /// The rack of each machine as a number, if it is known.
    pub(super) fn racks(&self) -> Vec<Option<u32>> {
        let racks: BTreeSet<&str> = self.nodes.iter().filter_map(|node| node.rack.as_deref()).collect();
        let number = |rack: &str| racks.iter().position(|&own| own == rack).map(|place| place as u32);
        self.nodes.iter().map(|node| node.rack.as_deref().and_then(number)).collect()
    }

    /// The changes of the machines, by time.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The rule that chooses among the machines with enough room.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The entry about them in `run.json`.
    pub fn in_short(&self) -> RunCluster {
        let racks: BTreeSet<&str> = self.nodes().iter().filter_map(|node| node.rack.as_deref()).collect();
        let total = self.total();
        let absolute = self.amounts != Amounts::OfLargest;
        RunCluster {
            nodes: self.nodes().len() as u64,
            racks: racks.len() as u64,
            memory_mb: (absolute && total.memory > 0).then_some(total.memory >> 20),
            vcores: absolute.then_some(total.cpu / 1000),
            of_largest: (!absolute)
                .then_some([total.cpu / (NORMALISED.cpu / 1_000), total.memory / (NORMALISED.memory / 1_000)]),
            ..RunCluster::default()
        }
    }

    /// The resources of all machines together at the start.
    pub fn total(&self) -> Resources {
        self.nodes.iter().fold(Resources::NONE, |sum, node| sum.plus(node.capacity))
    }

    /// The most of each resource that any machine offers at any time.
    pub fn largest(&self) -> Resources {
        self.most().into_iter().fold(Resources::NONE, Resources::max)
    }

    /// The most that each machine offers at any time.
    pub(super) fn most(&self) -> Vec<Resources> {
        let mut most: Vec<Resources> = self.nodes.iter().map(|node| node.capacity).collect();
        for change in &self.changes {
            most[change.node.index()] = most[change.node.index()].max(change.capacity);
        }
        most
    }
}

/// What a size means in a trace whose amounts are shares, as the end of a message; empty for other traces.
pub fn unit_of(amounts: Amounts) -> String {
    amounts.in_words().map_or_else(String::new, |words| format!(". Mind the unit of this trace: {words}"))
}

/// The rows of a log about machines.
struct Reported {
    rows: Vec<NodeRow>,
}

/// A possible number that is not 0: Alibaba writes 0 for an unknown number.
fn amount(number: Option<i64>, most: u64) -> Option<u64> {
    number.and_then(|number| u64::try_from(number).ok()).filter(|number| (1..=most).contains(number))
}

fn cpu(row: &NodeRow) -> Option<u64> {
    amount(row.cpu, Machines::MOST.cpu)
}

fn memory(row: &NodeRow) -> Option<u64> {
    amount(row.memory, Machines::MOST.memory)
}

/// What was offered by some rows.
#[derive(Debug, Clone, Copy, Default)]
struct Offered {
    now: Resources,
    most: Resources,
    since: Option<Ms>,
    /// When another application left the machine last before that.
    freed: Option<Ms>,
}

/// Joins the rows of each machine that offers executors of applications: the machine offers what they had together at most, from the
/// first on. That an executor goes does not make the machine smaller, as it mostly goes because its application ends. Also
/// returns what each application had of each machine. If executors came `on_demand`, when the first came does not say since when there
/// was a machine: it was there before.
fn by_application(rows: Vec<NodeRow>, on_demand: bool) -> (Vec<NodeRow>, BTreeMap<(String, String), Offered>) {
    let (mut own, mut rest): (Vec<NodeRow>, Vec<NodeRow>) = rows.into_iter().partition(|row| row.group.is_some());
    // Of what happens at one instant, what goes makes room for what comes.
    own.sort_by_key(|row| (row.time, row.event != NodeChange::Remove));
    let mut executors: BTreeMap<(String, String), Offered> = BTreeMap::new();
    let mut hosts: BTreeMap<String, (Offered, Option<String>)> = BTreeMap::new();
    for row in own {
        let amounts = Resources { cpu: cpu(&row).unwrap_or(0), memory: memory(&row).unwrap_or(0) };
        let after = if row.event == NodeChange::Remove { Resources::NONE } else { amounts };
        let first = Offered { since: row.time, ..Offered::default() };
        let (host, rack) = hosts.entry(row.host.clone()).or_insert((first, None));
        let freed = host.freed;
        let executor = executors.entry((row.host, row.group.unwrap_or_default())).or_insert(Offered { freed, ..first });
        if row.event == NodeChange::Remove {
            host.freed = row.time;
        }
        host.now = host.now.minus(executor.now).plus(after);
        executor.now = after;
        for offered in [executor, host] {
            offered.most = offered.most.max(offered.now);
        }
        *rack = rack.take().or(row.rack);
    }
    hosts.retain(|host, _| rest.iter().all(|row| row.host != *host));
    rest.extend(hosts.into_iter().map(|(host, (Offered { most, since, .. }, rack))| NodeRow {
        host,
        rack,
        time: since.filter(|_| !on_demand),
        event: NodeChange::Add,
        cpu: i64::try_from(most.cpu).ok().filter(|&cpu| cpu > 0),
        memory: i64::try_from(most.memory).ok().filter(|&memory| memory > 0),
        ..NodeRow::default()
    }));
    (rest, executors)
}

impl Reported {
    /// The median of a number over the rows that give it.
    fn median(&self, number: impl Fn(&NodeRow) -> Option<u64>) -> Option<u64> {
        let mut all: Vec<u64> = self.rows.iter().filter_map(number).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    }

    /// The resources of a machine whose size the trace does not give, and where they are from. `hadoop` is the processor of a machine
    /// of Hadoop, and whether it is known.
    fn usual(
        &self,
        cpu_set: Option<u64>,
        memory_set: Option<u64>,
        normalised: bool,
        hadoop: Option<(u64, bool)>,
    ) -> Option<(Resources, SizeRule)> {
        let slots = |row: &NodeRow| amount(Some(row.map_slots?.saturating_add(row.reduce_slots.unwrap_or(0))), 1 << 20);
        let own = self.median(cpu);
        let by_slots = || self.median(slots).map(|slots| slots * 1000);
        let whole = (normalised && own.is_none()).then_some(NORMALISED);
        let memory = memory_set.or_else(|| self.median(memory)).or(whole.map(|whole| whole.memory)).unwrap_or(0);
        let (cpu, rule) = None
            .or(cpu_set.map(|cpu| (cpu, SizeRule::Given)))
            .or(own.map(|cpu| (cpu, SizeRule::Median)))
            .or_else(|| by_slots().map(|cpu| (cpu, SizeRule::Slots)))
            .or(whole.map(|whole| (whole.cpu, SizeRule::Assumed)))
            .or(hadoop.map(|(cpu, known)| (cpu, if known { SizeRule::Slots } else { SizeRule::Assumed })))?;
        Some((Resources { cpu, memory }, rule))
    }

    /// The machines by name, and their changes.
    fn followed(mut self, usual: Resources, placement: Placement, skipped: &mut Skipped) -> Result<Machines, Error> {
        // A null time is the start. At one instant, the order of the trace counts.
        self.rows.sort_by_key(|row| row.time);
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for row in &self.rows {
            names.entry(row.host.clone()).or_default();
        }
        let mut nodes = Vec::with_capacity(names.len());
        for (name, place) in &mut names {
            *place = nodes.len();
            nodes.push(Machine { name: name.clone(), rack: None, capacity: Resources::NONE });
        }
        // The resources that each machine offers while it is there.
        let mut offers: Vec<Resources> = vec![Resources::NONE; nodes.len()];
        let mut changes = Vec::new();
        let mut unknown = 0;
        let mut note = |cause: &str| *skipped.entry(cause.to_owned()).or_insert(0) += 1;
        for row in &self.rows {
            let place = names[&row.host];
            if offers[place] == Resources::NONE && (cpu(row).is_none() || (usual.memory > 0 && memory(row).is_none())) {
                unknown += 1;
                note("machine-of-unknown-size");
            }
            let known = |before: u64, usual: u64| if before > 0 { before } else { usual };
            let offer = &mut offers[place];
            offer.cpu = cpu(row).unwrap_or_else(|| known(offer.cpu, usual.cpu));
            offer.memory = memory(row).unwrap_or_else(|| known(offer.memory, usual.memory));
            let capacity = if row.event == NodeChange::Remove { Resources::NONE } else { *offer };
            if nodes[place].rack.is_none() {
                nodes[place].rack.clone_from(&row.rack);
            }
            match row.time {
                None => nodes[place].capacity = capacity,
                Some(at) if (-LONGEST..=LONGEST).contains(&at) => changes.push((at, place, capacity)),
                Some(_) => note("machine-event-at-impossible-time"),
            }
        }
        Ok(Machines { unknown, ..Machines::new(nodes, &changes, placement)? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn row(host: &str, time: Option<i64>, event: NodeChange, cpu: Option<i64>, memory: Option<i64>) -> NodeRow {
        NodeRow { host: host.to_owned(), time, event, cpu, memory, ..NodeRow::default() }
    }

    fn amount(cpu: u64, memory: u64) -> Resources {
        Resources { cpu, memory }
    }

    fn followed(rows: Vec<NodeRow>, usual: Resources) -> (Machines, Skipped) {
        let mut skipped = Skipped::new();
        let reported = Reported { rows };
        (reported.followed(usual, Placement::FirstFit, &mut skipped).unwrap(), skipped)
    }

    #[test]
    fn machines_come_go_and_change_as_reported() {
        use NodeChange::{Add, Remove, Update};
        let rows = vec![
            row("b", Some(50), Update, Some(2_000), None),
            row("b", None, Add, Some(4_000), Some(8)),
            row("a", Some(20), Add, Some(1_000), Some(4)),
            row("b", Some(60), Remove, Some(0), Some(0)),
            row("b", Some(70), Add, None, None),
        ];
        let (mut machines, skipped) = followed(rows, amount(1, 1));
        assert!(skipped.is_empty());
        let capacity =
            |machines: &Machines| -> Vec<Resources> { machines.nodes().iter().map(|node| node.capacity).collect() };
        assert_eq!(capacity(&machines), [Resources::NONE, amount(4_000, 8)]);
        let reported: Vec<_> =
            machines.changes().iter().map(|change| (change.at, change.node.index(), change.capacity)).collect();
        let expected =
            [(20, 0, amount(1_000, 4)), (50, 1, amount(2_000, 8)), (60, 1, Resources::NONE), (70, 1, amount(2_000, 8))];
        assert_eq!(reported, expected);
        machines.start_at(-15, 5);
        assert_eq!(capacity(&machines), [amount(1_000, 4), amount(4_000, 8)]);
        assert_eq!(machines.changes().first().map(|change| change.at), Some(35));
        assert_eq!(machines.largest(), amount(4_000, 8));
    }

    /// Executors of `b` take the place of those of `a`: the machine never offered more than both had at once.
    #[test]
    fn a_machine_offers_what_its_executors_had_together_at_most() {
        use NodeChange::{Add, Remove, Update};
        let of = |group: &str, row: NodeRow| NodeRow { group: Some(group.to_owned()), ..row };
        let rows = vec![
            of("a", row("h", Some(10), Add, Some(2_000), Some(4))),
            of("a", row("i", Some(10), Add, Some(1_000), Some(2))),
            of("b", row("h", Some(20), Add, Some(1_000), Some(1))),
            of("b", row("h", Some(30), Update, Some(2_000), Some(2))),
            of("a", row("h", Some(30), Remove, None, None)),
            of("a", row("i", Some(30), Remove, None, None)),
            of("b", row("h", Some(90), Remove, None, None)),
            row("j", None, Add, Some(1_000), Some(2)),
        ];
        let (rows, executors) = by_application(rows, false);
        let machines: Vec<_> = rows.iter().map(|row| (row.host.as_str(), row.time, row.cpu, row.memory)).collect();
        let expected = [
            ("j", None, Some(1_000), Some(2)),
            ("h", Some(10), Some(3_000), Some(5)),
            ("i", Some(10), Some(1_000), Some(2)),
        ];
        assert_eq!(machines, expected);
        let most: Vec<_> =
            executors.iter().map(|((host, group), own)| (host.as_str(), group.as_str(), own.most.cpu)).collect();
        assert_eq!(most, [("h", "a", 2_000), ("h", "b", 2_000), ("i", "a", 1_000)]);
    }

    #[test]
    fn what_is_not_known_of_a_machine_is_usual() {
        let some = |cpu, memory| row("x", None, NodeChange::Add, cpu, memory);
        let reported = |rows| Reported { rows };
        let medians =
            reported(vec![some(Some(5), None), some(Some(1), Some(7)), some(Some(3), None), some(None, None)]);
        assert_eq!(medians.usual(None, None, true, None), Some((amount(3, 7), SizeRule::Median)));
        assert_eq!(medians.usual(Some(9), Some(8), true, None), Some((amount(9, 8), SizeRule::Given)));
        let unknown = reported(vec![some(None, None), some(Some(0), Some(-1))]);
        assert_eq!(unknown.usual(None, None, true, None), Some((NORMALISED, SizeRule::Assumed)));
        assert_eq!(unknown.usual(None, None, false, None), None);
        assert_eq!(
            unknown.usual(Some(9), None, false, None),
            Some((amount(9, 0), SizeRule::Given)),
            "memory is not limited"
        );
        let slots = NodeRow { map_slots: Some(2), reduce_slots: Some(1), ..some(None, None) };
        let four = |known| Some((4_000, known));
        assert_eq!(
            reported(vec![slots]).usual(None, None, false, four(false)),
            Some((amount(3_000, 0), SizeRule::Slots))
        );
        assert_eq!(unknown.usual(None, None, false, four(true)), Some((amount(4_000, 0), SizeRule::Slots)));
        assert_eq!(unknown.usual(None, None, false, four(false)), Some((amount(4_000, 0), SizeRule::Assumed)));
        let (machines, skipped) = followed(vec![some(None, None)], amount(3, 7));
        assert_eq!(machines.total(), amount(3, 7));
        assert_eq!(skipped.get("machine-of-unknown-size"), Some(&1));
    }
}
