//! The machines of a production cluster, and how they come, go and change.

mod mishaps;
mod reported;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resched_tables::demand::gpus;
use resched_tables::engine::RunEngine;
use resched_tables::named::amounts;
use resched_tables::names::host_name;
use resched_tables::run::RunCluster;
use resched_tables::store::{Amounts, System};

use super::log::Log;
use crate::clones::{Clone, clones};
use crate::cluster_file::{self, MOST_MEMORY, NamedMachines, Placement, Slow};
use crate::ids::{Ms, NodeId};
use crate::loading::Skipped;
use crate::resources::Resources;
use crate::{ClusterConfig, Error};
use mishaps::Down;
use reported::{Offered, Reported, by_application};

/// The size of a machine that the trace does not give, if its amounts are shares of the largest machine: the whole of
/// the largest one. Processor is then in millionths, memory in millionths of a millionth (`docs/formats/google2011.md`).
const NORMALISED: Resources = Resources { cpu: Amounts::CORES * 1_000, memory: Amounts::MEMORY };

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// Its host name.
    pub name: String,
    /// Its rack, if it is known.
    pub rack: Option<String>,
    /// The resources it offers at the start; nothing if it comes later.
    pub capacity: Resources,
    /// Other resources that it has, by name (`gres/gpu`), in the order of the source.
    pub resources: Vec<(Arc<str>, u64)>,
    /// Its features (Slurm), in the order of the source.
    pub features: Vec<Arc<str>>,
    /// The machine that it is a clone of, in a cluster that has grown. It is where its original is, such as in its partitions.
    pub original: Option<Arc<str>>,
}

impl Machine {
    /// The name of the machine of the source that it is, or is a clone of.
    pub fn original(&self) -> &str {
        self.original.as_deref().unwrap_or(&self.name)
    }
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
#[derive(Debug, Clone, PartialEq)]
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
    licenses: Vec<(Arc<str>, u64)>,
    /// True if their order is somebody's, not that of their names.
    ordered: bool,
    /// How many times as long everything takes on each that the cluster file names; empty if it names none.
    factors: Vec<Option<f64>>,
    /// Which of the others are slow, drawn from the seed.
    slow: Slow,
    /// When they are down by the cluster file, by machine and time.
    downs: Vec<Down>,
    /// True if there are none: tasks start wherever a policy lets them.
    boundless: bool,
}

/// Where the size of a machine is from that the trace does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeRule {
    /// The cluster file.
    Given,
    /// The use of the machines in the log, which is a lower bound: no source gives any size.
    Use,
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
        let machine = |number| Machine { name: host_name(number), capacity, ..Machine::default() };
        Self {
            nodes: (0..count).map(machine).collect(),
            executors: Vec::new(),
            executor_start: None,
            changes: Vec::new(),
            placement,
            unknown: 0,
            rule: SizeRule::Given,
            amounts: Amounts::Absolute,
            licenses: Vec::new(),
            ordered: false,
            factors: Vec::new(),
            slow: Slow::NONE,
            downs: Vec::new(),
            boundless: false,
        }
    }

    /// No machines, as of a cluster of which only quotas are known: one place that holds whatever a policy starts.
    pub fn boundless() -> Self {
        let place = Machine { capacity: Self::MOST, ..Machine::default() };
        Self { nodes: vec![place], boundless: true, ..Self::alike(0, Resources::NONE, Placement::FirstFit) }
    }

    /// True if there are no machines, so that only a policy holds tasks back.
    pub fn are_boundless(&self) -> bool {
        self.boundless
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

    /// The machines that a cluster file names, in its order.
    fn named(config: &cluster_file::Machines) -> Self {
        let alike = |one: &NamedMachines| {
            let memory = one.memory.or(config.memory).unwrap_or(0);
            let machine = Machine {
                capacity: Resources { cpu: (one.cores * 1000.0).round() as u64, memory },
                resources: one.resources.as_deref().map_or_else(Vec::new, named_amounts),
                features: one.features.as_deref().map_or_else(Vec::new, words),
                ..Machine::default()
            };
            one.names().into_iter().map(move |name| Machine { name, ..machine.clone() })
        };
        let nodes = config.named.iter().flat_map(alike).collect();
        Self { nodes, ordered: true, ..Self::alike(0, Resources::NONE, config.placement) }
    }

    /// The machines of a cluster file, or else of a log. If a log reports a machine at several times, each report is a
    /// change.
    ///
    /// If the log does not give the processor of a machine, or only by its use, the first of these that is known counts:
    /// `machines.cores`; the median of the log's other machines; one core per slot, where on a log of Hadoop the number
    /// of slots may come from the cluster file; and, if amounts are shares of the largest machine, the whole of that
    /// machine. For memory, the order is `machines.memory`, then the median. If the log gives the memory of no machine,
    /// memory is unlimited.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no machine, no size is known, or the cluster file names a machine that is not there;
    /// [`Error::Trace`] if the trace cannot be read.
    ///
    /// If machines are dropped, each of `groups`, such as the partitions of Slurm, by the names of their machines, keeps its share.
    pub(super) fn of_log(
        config: &ClusterConfig,
        log: &Log<'_>,
        groups: &BTreeMap<String, String>,
        skipped: &mut Skipped,
    ) -> Result<Self, Error> {
        let mut all = Self::described(config, log, skipped)?;
        all.licenses = config.machines.licenses.as_deref().map_or_else(Vec::new, named_amounts);
        all.take_factors(&config.cost)?;
        let mut machines = match config.machines.clones {
            Some(count) => all.resized(count, groups),
            None => all.clone(),
        };
        machines.take_outages(&config.outages, &all)?;
        machines.take_off_for_good(config.jobs.first_submit);
        Ok(machines)
    }

    /// The machines before any is dropped or cloned.
    fn described(config: &ClusterConfig, log: &Log<'_>, skipped: &mut Skipped) -> Result<Self, Error> {
        let described = &config.machines;
        if !described.named.is_empty() {
            return Ok(Self { amounts: log.amounts(), ..Self::named(described) });
        }
        let cpu = described.cores.map(|cores| (cores * 1000.0).round() as u64);
        if let (Some(count), Some(cpu)) = (described.count, cpu) {
            let capacity = Resources { cpu, memory: described.memory.unwrap_or(0) };
            return Ok(Self { amounts: log.amounts(), ..Self::alike(count, capacity, described.placement) });
        }
        let (mut rows, executors) = by_application(log.nodes()?, log.executors_come_on_demand());
        let by_use = log.is_sized_by_use();
        if let Some(cpu) = cpu.and_then(|cpu| i64::try_from(cpu).ok()).filter(|_| by_use) {
            // What you give is better than what the use shows.
            rows.iter_mut().for_each(|row| row.cpu = Some(cpu));
        }
        let reported = Reported { rows };
        if reported.rows.is_empty() && log.system() == Some(System::Kubernetes) {
            return Ok(Self::boundless());
        }
        if reported.rows.is_empty() {
            return Err(Error::Config(format!(
                "{}: the trace names no machine; give their number with `--nodes <N> --cores <of each>` or with \
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
        let (usual, rule) = reported.usual(cpu, described.memory, normalised, hadoop.map(|cpu| (cpu, slots_known))).ok_or_else(|| {
            Error::Config(format!(
                "{}: the trace gives no sizes of its machines; give them with `--cores <of each>` or with `--cluster C.toml` \
                 that holds `[machines]` and `cores = <of each>`",
                log.name()
            ))
        })?;
        let mut machines = Self { rule, amounts, ..reported.followed(usual, described.placement, skipped)? };
        if by_use {
            machines.unknown = machines.nodes.len() as u64;
            machines.rule = if cpu.is_some() { SizeRule::Given } else { SizeRule::Use };
        }
        machines.add_executors(executors, usual);
        Ok(machines)
    }

    /// These machines, cut or grown to `count` as `machines.clones` says. A clone changes with its original.
    fn resized(&self, count: u32, groups: &BTreeMap<String, String>) -> Self {
        let named = self.nodes.iter().map(|node| {
            let group = groups.get(&node.name).or(node.rack.as_ref());
            (node.name.as_str(), group.map_or("", String::as_str))
        });
        let mut all = clones(named, count);
        if self.ordered {
            // The clones of a round follow those of the round before; within a round they lie as their originals do.
            let before = self.nodes.len().max(1);
            let mut rounds: Vec<(usize, Clone)> = all.into_iter().enumerate().collect();
            rounds.sort_by_key(|(number, clone)| (number / before, clone.of));
            all = rounds.into_iter().map(|(_, clone)| clone).collect();
        } else {
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let mut homes: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for (place, clone) in all.iter().enumerate() {
            homes[clone.of].push(NodeId::at(place));
        }
        let factors = all.iter().filter_map(|clone| self.factors.get(clone.of).copied()).collect();
        let node = |clone: Clone| {
            let cloned = &self.nodes[clone.of];
            let original = (clone.name != cloned.name).then(|| Arc::from(cloned.name.as_str()));
            Machine { name: clone.name, original, ..cloned.clone() }
        };
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
            licenses: self.licenses.clone(),
            ordered: self.ordered,
            factors,
            slow: self.slow,
            downs: Vec::new(),
            boundless: self.boundless,
        }
    }

    /// Moves the clock by `shift`. Changes up to `start` take effect before the replay. From then on, machines are down as the cluster
    /// file says.
    pub(super) fn start_at(&mut self, shift: Ms, start: Ms) {
        for change in &mut self.changes {
            change.at = change.at.saturating_add(shift);
        }
        self.go_down();
        for executor in &mut self.executors {
            executor.added = executor.added.map(|at| at.saturating_add(shift)).filter(|&at| at > start);
            executor.freed = executor.freed.map(|at| at.saturating_add(shift));
        }
        let before = self.changes.partition_point(|change| change.at <= start);
        for change in self.changes.drain(..before) {
            self.nodes[change.node.index()].capacity = change.capacity;
        }
    }

    /// The machines as they were at an instant, ms of the simulated clock. They stay so: what happened to them later is not known then.
    #[must_use]
    pub fn as_of(&self, at: Ms) -> Self {
        let mut then = Self { changes: Vec::new(), ..self.clone() };
        for change in self.changes.iter().take_while(|change| change.at <= at) {
            then.nodes[change.node.index()].capacity = change.capacity;
        }
        then
    }

    /// What their amounts of processor and memory are, and the requests of the tasks.
    pub fn amounts(&self) -> Amounts {
        self.amounts
    }

    /// What the whole cluster has besides its machines, by name (`license/matlab`), in the order of the cluster file.
    pub fn licenses(&self) -> &[(Arc<str>, u64)] {
        &self.licenses
    }

    /// How many machines have a size that the trace does not give, and where it is from.
    pub fn unknown_sizes(&self) -> (u64, SizeRule) {
        (self.unknown, self.rule)
    }

    /// True if any machine offers a known amount of memory. If none does, memory is unlimited, and no task may request
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
        let executor = |((host, group), offered): ((String, String), Offered)| {
            let known = |amount: u64, usual: u64| if amount > 0 { amount } else { usual };
            let capacity = offered.most.zip(usual, known);
            Some(Executor {
                node: NodeId::at(number(&host)?),
                group,
                capacity,
                added: offered.since,
                freed: offered.freed,
            })
        };
        self.executors = executors.into_iter().filter_map(executor).collect();
    }

    /// The rack of each machine as a number, if it is known.
    pub(super) fn racks(&self) -> Vec<Option<u32>> {
        let racks: BTreeSet<&str> = self.nodes.iter().filter_map(|node| node.rack.as_deref()).collect();
        let number = |rack: &str| racks.iter().position(|&other| other == rack).map(|place| place as u32);
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

    /// The entry about them in `run.json`: those that come later count, each with the most that it ever offers.
    pub fn in_short(&self) -> RunCluster {
        if self.boundless {
            return RunCluster::default();
        }
        let racks: BTreeSet<&str> = self.nodes().iter().filter_map(|node| node.rack.as_deref()).collect();
        let total = self.most().into_iter().fold(Resources::NONE, Resources::plus);
        let absolute = self.amounts != Amounts::OfLargest;
        let named = self.nodes().iter().flat_map(|node| &node.resources).map(|(name, amount)| (&**name, *amount));
        let gpus = gpus(named);
        RunCluster {
            nodes: self.nodes().len() as u64,
            racks: racks.len() as u64,
            memory_mb: (absolute && total.memory > 0).then_some(total.memory >> 20),
            vcores: absolute.then_some(total.cpu / 1000),
            gpus: (gpus > 0).then_some(gpus),
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
    amounts.in_words().map_or_else(String::new, |words| format!(". The unit of this trace: {words}"))
}

fn named_amounts(text: &str) -> Vec<(Arc<str>, u64)> {
    amounts(text).map(|(name, count)| (Arc::from(name), count)).collect()
}

fn words(text: &str) -> Vec<Arc<str>> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Arc::from).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::NodeRow;
    use resched_tables::sink::Collected;

    use super::*;

    #[test]
    fn machines_with_names_keep_their_order_and_what_they_have() {
        let file = "[machines]\nlicenses = \"license/lic=2\"\n[[machines.named]]\nhosts = \"n[1-2]\"\ncores = 4.0\nmemory = 8\n\
                    resources = \"gres/gpu=2,gres/gpu:a100=2\"\nfeatures = \"fast, big\"\n\
                    [[machines.named]]\nhosts = \"a\"\ncores = 0.5\nmemory = 1\n";
        let config = ClusterConfig::parse(file).unwrap();
        let tables =
            Collected { nodes: vec![NodeRow { host: "z".to_owned(), ..NodeRow::default() }], ..Default::default() };
        let of = |config: &ClusterConfig| {
            Machines::of_log(config, &Log::Memory(&tables), &BTreeMap::new(), &mut Skipped::new()).unwrap()
        };
        let machines = of(&config);
        let names = |machines: &Machines| machines.nodes().iter().map(|node| node.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&machines), ["n1", "n2", "a"]);
        assert_eq!((machines.total(), machines.changes().len()), (Resources { cpu: 8_500, memory: 17 }, 0));
        let [first, .., last] = machines.nodes() else { panic!("three machines") };
        assert_eq!(first.resources, [(Arc::from("gres/gpu"), 2), (Arc::from("gres/gpu:a100"), 2)]);
        assert_eq!(first.features, [Arc::from("fast"), Arc::from("big")]);
        assert!(last.resources.is_empty() && last.features.is_empty());
        assert_eq!(machines.licenses(), [(Arc::from("license/lic"), 2)]);
        let mut more = config;
        more.machines.clones = Some(5);
        assert_eq!(names(&of(&more)), ["n1", "n2", "a", "n1~2", "a~2"]);
    }

    #[test]
    fn machines_that_come_later_count_in_short() {
        let machine = |name: &str, cores: u64| Machine {
            name: name.to_owned(),
            capacity: Resources { cpu: 1_000 * cores, memory: cores << 30 },
            ..Machine::default()
        };
        let size = |cores: u64| Resources { cpu: 1_000 * cores, memory: cores << 30 };
        let changes = [(5, 1, size(4)), (9, 1, Resources::NONE), (7, 0, size(1))];
        let machines = Machines::new(vec![machine("a", 2), machine("late", 0)], &changes, Placement::FirstFit).unwrap();
        let short = machines.in_short();
        assert_eq!((short.nodes, short.vcores, short.memory_mb), (2, Some(6), Some(6 << 10)));
    }
}
