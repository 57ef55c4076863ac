//! The machines of a Hadoop cluster, for one replay.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::{NodeChange, NodeRow};
use resched_tables::named::amounts;
use resched_tables::names::{host_name, rack_name, rack_of};
use resched_tables::run::RunCluster;
use resched_tables::store::Trace;

use crate::Error;
use crate::clones::clones;
use crate::cluster_file::{Calculator, ClusterConfig, Containers, Nodes, Outage};
use crate::hadoop::ask::{Ask, Sizes as _};
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::{FURTHER, Resources};
use crate::hadoop::system::System;
use crate::hadoop::workload::{Edges, Job};
use crate::ids::{Ms, NodeId, RackId};
use crate::loading::IN_MEMORY;

/// An outage of a node of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Down {
    pub(crate) node: NodeId,
    pub(crate) from: Ms,
    pub(crate) to: Option<Ms>,
}

/// A machine of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its host name.
    pub name: String,
    /// Its rack.
    pub rack: RackId,
    /// The resources it offers.
    pub capacity: Resources,
    /// The resources it offers under each system.
    offers: [Resources; 2],
    /// The machine that it is a clone of.
    original: Option<String>,
}

impl Node {
    /// The name of the machine of the trace or of the cluster file that it is, or that it is a clone of.
    pub fn original(&self) -> &str {
        self.original.as_ref().unwrap_or(&self.name)
    }
}

/// A machine of a trace or a cluster file.
struct Machine {
    name: String,
    rack: String,
    /// The resources it offers under each system.
    offers: [Resources; 2],
    /// Whether its map slots, its reduce slots, its memory and its vcores are assumed, because neither the trace nor the cluster file gives
    /// them.
    assumed: [bool; 4],
    /// Its resources beside memory and vcores, by name.
    further: BTreeMap<String, u64>,
    /// The machine that it is a clone of.
    original: Option<String>,
}

impl Machine {
    /// The machine that `row` adds. `config` fills in what the row leaves out.
    fn of_row(row: NodeRow, config: &ClusterConfig) -> Self {
        let reported = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        // Alike nodes have what the file gives, and what the trace gives where the file is silent.
        let of_node = |slots: Option<i64>, of_file: Option<u32>| {
            reported(slots).filter(|_| !config.nodes.alike || of_file.is_none())
        };
        let offered = |amount: Option<i64>, of_file: Option<u32>| {
            reported(amount).filter(|_| !config.containers.alike || of_file.is_none())
        };
        let [maps, reduces] = config.nodes.slots();
        let [own_maps, own_reduces] =
            [of_node(row.map_slots, config.nodes.map_slots), of_node(row.reduce_slots, config.nodes.reduce_slots)];
        let usual = config.containers.node();
        let vcores = offered(row.cpu.map(|cpu| cpu / 1000), config.containers.vcores);
        let memory = offered(row.memory.map(|bytes| bytes >> 20), config.containers.memory_mb);
        let rules = (&config.nodes, &config.containers);
        let assumed = [
            own_maps.or(rules.0.map_slots).is_none(),
            own_reduces.or(rules.0.reduce_slots).is_none(),
            memory.or(rules.1.memory_mb).is_none(),
            vcores.or(rules.1.vcores).is_none(),
        ];
        let slots = Resources::slots(own_maps.unwrap_or(maps), own_reduces.unwrap_or(reduces));
        let containers = Resources::of(vcores.map_or(usual.cpu, u64::from), memory.map_or(usual.memory, u64::from));
        let reported = row.resources.as_deref().filter(|_| !config.containers.alike);
        let further = match reported {
            Some(text) => amounts(text).map(|(name, amount)| (name.to_owned(), amount)).collect(),
            None => usual_further(config),
        };
        Self {
            name: row.host,
            further,
            rack: row.rack.unwrap_or_else(|| "/default-rack".to_owned()),
            offers: [slots, containers],
            assumed,
            original: None,
        }
    }
}

/// The resources beside memory and vcores of a node of which nobody says what it has.
fn usual_further(config: &ClusterConfig) -> BTreeMap<String, u64> {
    config.containers.resources.iter().map(|(name, &amount)| (name.clone(), amount.into())).collect()
}

/// The names of the resources beside memory and vcores that machines have.
///
/// # Errors
/// [`Error::Config`] if there are too many of them.
fn names_of_further(machines: &[Machine]) -> Result<Vec<String>, Error> {
    let names: BTreeSet<&String> = machines.iter().flat_map(|machine| machine.further.keys()).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    if names.len() > FURTHER {
        let listed = names.iter().take(2 * FURTHER).map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(Error::Config(format!(
            "the nodes have {} resources beside memory and vcores ({listed}); expected at most {FURTHER}: leave out those that no job waits for",
            names.len()
        )));
    }
    Ok(names)
}

/// The amounts of the resources of these names, in their order.
fn in_order(names: &[String], amount: impl Fn(&str) -> u64) -> [u64; FURTHER] {
    let mut all = [0; FURTHER];
    all.iter_mut().zip(names).for_each(|(of_node, name)| *of_node = amount(name));
    all
}

/// The machines of a replay and the rules by which it runs.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The rules.
    pub config: ClusterConfig,
    nodes: Vec<Node>,
    racks: Vec<String>,
    system: System,
    /// The names of the resources beside memory and vcores that its nodes have.
    further: Vec<String>,
    /// What the container of each [`Ask`] takes, or the slot of a task.
    demands: [Resources; 4],
    /// The largest container.
    largest: Resources,
    /// The resources of all nodes together.
    total: Resources,
    /// How many tasks of each kind fit on the nodes.
    slots: [u32; 2],
    interval: Ms,
    outages: Vec<Down>,
    /// The nodes with assumed map slots, with assumed reduce slots, with assumed memory, and with assumed memory or vcores.
    assumed: [u64; 4],
    /// The nodes that stand for each machine of before, if the cluster was resized: none for one that was dropped.
    homes: Option<BTreeMap<String, Vec<NodeId>>>,
}

impl Cluster {
    /// The cluster that `config` describes. If it names no nodes, they are the trace's own.
    ///
    /// The first row that adds a machine describes it. `config` fills in what the row leaves out.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot; [`Error::Trace`] if the trace cannot be read.
    pub fn for_trace(config: ClusterConfig, trace: &Trace) -> Result<Self, Error> {
        if config.nodes.count.is_some() {
            return Self::generated(config);
        }
        let rows = trace.rows::<NodeRow>()?.map(|row| Ok(row?));
        Self::of_added(config, rows, &trace.dir().display().to_string())
    }

    /// As [`Cluster::for_trace`], with the nodes of these rows instead of the trace's.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot.
    pub fn of_rows(config: ClusterConfig, nodes: &[NodeRow]) -> Result<Self, Error> {
        if config.nodes.count.is_some() {
            return Self::generated(config);
        }
        Self::of_added(config, nodes.iter().map(|row| Ok(row.clone())), IN_MEMORY)
    }

    /// A cluster of the machines that `rows` add; `log` is what errors call where they come from.
    fn of_added(
        config: ClusterConfig,
        rows: impl Iterator<Item = Result<NodeRow, Error>>,
        log: &str,
    ) -> Result<Self, Error> {
        let mut machines = BTreeMap::new();
        for row in rows {
            let row = row?;
            if row.event == NodeChange::Add && !machines.contains_key(&row.host) {
                machines.insert(row.host.clone(), Machine::of_row(row, &config));
            }
        }
        if machines.is_empty() {
            if let Some(count) = config.nodes.clones {
                let nodes = Nodes { count: Some(count), clones: None, ..config.nodes };
                return Self::generated(ClusterConfig { nodes, ..config });
            }
            return Err(Error::Config(format!(
                "{log}: the trace names no machine; give their number with `--nodes <N> --slots <maps>+<reduces>` or with \
                 `--cluster C.toml` that holds `[nodes]` and `count = <N>`"
            )));
        }
        Self::of_machines(config, machines.into_values().collect())
    }

    /// A cluster of `nodes.count` nodes with generated names.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot.
    pub fn generated(config: ClusterConfig) -> Result<Self, Error> {
        let count = config.nodes.count.unwrap_or(0);
        let racks = config.nodes.racks.clamp(1, count.max(1));
        let [maps, reduces] = config.nodes.slots();
        let capacity = Resources::slots(maps, reduces);
        let nodes: Vec<_> =
            (0..count).map(|node| (host_name(node), rack_name(rack_of(node, count, racks)), capacity)).collect();
        let Nodes { map_slots, reduce_slots, .. } = config.nodes;
        let mut cluster = Self::new(config, nodes)?;
        for (assumed, known) in cluster.assumed.iter_mut().zip([map_slots, reduce_slots]) {
            *assumed = if known.is_none() { count.into() } else { 0 };
        }
        Ok(cluster)
    }

    /// A cluster of these machines (name, rack, slots). Under YARN, the rules say what each offers.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot.
    pub fn new(
        config: ClusterConfig,
        machines: impl IntoIterator<Item = (String, String, Resources)>,
    ) -> Result<Self, Error> {
        let offers = config.containers.node();
        let Containers { memory_mb, vcores, .. } = &config.containers;
        let assumed = [false, false, memory_mb.is_none(), vcores.is_none()];
        let further = usual_further(&config);
        let machine = |(name, rack, slots)| Machine {
            name,
            rack,
            offers: [slots, offers],
            assumed,
            further: further.clone(),
            original: None,
        };
        let machines = machines.into_iter().map(machine).collect();
        Self::of_machines(config, machines)
    }

    /// The entry about it in `run.json`.
    pub fn in_short(&self) -> RunCluster {
        let in_containers = (self.system == System::Containers).then_some(self.total);
        RunCluster {
            nodes: self.nodes.len() as u64,
            racks: self.racks.len() as u64,
            map_slots: self.slots(Kind::Map).into(),
            reduce_slots: self.slots(Kind::Reduce).into(),
            memory_mb: in_containers.map(|total| total.memory),
            vcores: in_containers.map(|total| total.cpu),
            gpus: in_containers.and_then(|total| self.gpus(total)),
            ..RunCluster::default()
        }
    }

    /// The GPUs among such resources, if its nodes have any.
    fn gpus(&self, total: Resources) -> Option<u64> {
        let is_gpu = |name: &str| name.rsplit('/').next() == Some("gpu");
        let place = self.further.iter().position(|name| is_gpu(name))?;
        total.further.get(place).copied().filter(|&gpus| gpus > 0)
    }

    fn of_machines(config: ClusterConfig, mut machines: Vec<Machine>) -> Result<Self, Error> {
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        machines.dedup_by(|a, b| a.name == b.name);
        let before: Option<Vec<String>> =
            config.nodes.clones.map(|_| machines.iter().map(|machine| machine.name.clone()).collect());
        if let Some(count) = config.nodes.clones {
            machines = resized(&machines, count);
        }
        let further = names_of_further(&machines)?;
        let mut racks: Vec<String> = Vec::new();
        let mut known: BTreeMap<String, RackId> = BTreeMap::new();
        let mut nodes = Vec::with_capacity(machines.len());
        let mut assumed = [0; 4];
        for Machine { name, rack, mut offers, assumed: own, further: own_further, original } in machines {
            let [maps, reduces, memory, vcores] = own;
            for (count, map) in assumed.iter_mut().zip([maps, reduces, memory, memory || vcores]) {
                *count += u64::from(map);
            }
            let next = RackId::at(racks.len());
            let rack = *known.entry(rack).or_insert_with_key(|rack| {
                racks.push(rack.clone());
                next
            });
            let [slots, containers] = &mut offers;
            containers.further = in_order(&further, |name| own_further.get(name).copied().unwrap_or(0));
            if slots.reduce_slots() > 0 {
                *slots = slots.plus(Resources::slots(0, config.nodes.copying_reduces));
            }
            nodes.push(Node { name, rack, capacity: Resources::default(), offers, original });
        }
        let mut cluster = Self {
            largest: config.containers.largest(),
            config,
            nodes,
            racks,
            system: System::Slots,
            further,
            demands: [Resources::default(); 4],
            total: Resources::default(),
            slots: [0; 2],
            interval: 1,
            outages: Vec::new(),
            assumed,
            homes: None,
        };
        cluster.homes = before.map(|before| cluster.homes_of(before));
        cluster.outages = cluster.find_outages()?;
        cluster.under(System::Slots)
    }

    /// The same machines under another system.
    ///
    /// # Errors
    /// [`Error::Config`] if a container that every job needs fits on none of them, or no map slot is left.
    pub fn for_system(&self, system: System) -> Result<Self, Error> {
        self.clone().under(system)
    }

    pub(super) fn under(mut self, system: System) -> Result<Self, Error> {
        self.system = system;
        let counts_further = self.counts_further();
        for node in &mut self.nodes {
            node.capacity = node.offers[system.index()];
            if !counts_further {
                node.capacity.further = [0; FURTHER];
            }
        }
        self.total = self.nodes.iter().fold(Resources::NONE, |sum, node| sum.plus(node.capacity));
        // Slots, and containers of the smallest size, are counted in 32 bits.
        let most = u32::MAX;
        if self.total.cpu.max(self.total.memory) > most.into() {
            let Resources { cpu, memory, .. } = self.total;
            let found = match system {
                System::Slots => format!("{cpu} map slots and {memory} reduce slots"),
                System::Containers => format!("{memory} MB and {cpu} vcores"),
            };
            return Err(Error::Config(format!("the cluster has {found}; expected at most {most} of each")));
        }
        match system {
            System::Slots => self.share_slots()?,
            System::Containers => self.share_containers()?,
        }
        Ok(self)
    }

    fn share_slots(&mut self) -> Result<(), Error> {
        if self.total.map_slots() == 0 {
            return Err(Error::Config(
                "the cluster has no map slot; expected at least one node with `map_slots` above 0".to_owned(),
            ));
        }
        self.interval = self.config.heartbeat.interval_of(self.nodes.len());
        let (map, reduce) = (Resources::slots(1, 0), Resources::slots(0, 1));
        self.demands = Ask::ALL.map(|ask| match ask {
            Ask::Am => Resources::NONE,
            Ask::FailedMap | Ask::Map => map,
            Ask::Reduce => reduce,
        });
        self.slots = [self.total.map_slots() as u32, self.total.reduce_slots() as u32];
        Ok(())
    }

    fn share_containers(&mut self) -> Result<(), Error> {
        let rules = &self.config.containers;
        self.interval = rules.node_heartbeat;
        let most = |name: &str| rules.maximum_resources.get(name).map_or(u64::MAX, |&most| most.into());
        self.largest = Resources { further: in_order(&self.further, most), ..rules.largest() };
        self.demands = Ask::ALL.map(|ask| rules.demand(ask));
        let fitting = |ask: Ask| {
            let fits = |node: &Node| node.capacity.fits(self.demands[ask.index()]);
            self.nodes.iter().map(fits).sum::<u64>() as u32
        };
        for (name, ask) in [("am", Ask::Am), ("map", Ask::Map), ("reduce", Ask::Reduce)] {
            if fitting(ask) == 0 {
                let Resources { cpu: vcores, memory, .. } = self.demands[ask.index()];
                return Err(Error::Config(format!(
                    "the container of `containers.{name}` takes {memory} MB and {vcores} vcores, but no node has as much; \
                     expected a node that has (`containers.memory_mb` and `containers.vcores`)"
                )));
            }
        }
        self.slots = [fitting(Ask::Map), fitting(Ask::Reduce)];
        Ok(())
    }

    /// The nodes that stand for the machines of before it was resized.
    fn homes_of(&self, before: Vec<String>) -> BTreeMap<String, Vec<NodeId>> {
        let mut homes: BTreeMap<String, Vec<NodeId>> = before.into_iter().map(|name| (name, Vec::new())).collect();
        for (node, id) in self.nodes.iter().zip(self.node_ids()) {
            if let Some(homes) = homes.get_mut(node.original()) {
                homes.push(id);
            }
        }
        homes
    }

    /// The outages of the cluster file, by node and time. Those of a machine that was dropped are dropped with it.
    fn find_outages(&self) -> Result<Vec<Down>, Error> {
        let named = |host: &str| {
            let unknown =
                || Error::Config(format!("the cluster file names `{host}`, but the cluster has no such node"));
            let node = self.find(host);
            if node.is_none() && self.homes(host).is_none() { Err(unknown()) } else { Ok(node) }
        };
        for host in self.config.cost.host_factors.keys() {
            named(host)?;
        }
        let down = |outage: &Outage| {
            let node = named(&outage.host)?;
            Ok(node.map(|node| Down { node, from: outage.from, to: outage.to }))
        };
        let outages = self.config.outages.iter().filter_map(|outage| down(outage).transpose());
        let mut outages = outages.collect::<Result<Vec<_>, Error>>()?;
        outages.sort_unstable();
        let overlap = |pair: &[Down]| pair[0].node == pair[1].node && pair[0].to.is_none_or(|to| to >= pair[1].from);
        match outages.windows(2).find(|pair| overlap(pair)) {
            Some(pair) => {
                let host = &self.node(pair[0].node).name;
                let problem =
                    format!("outages: `{host}` is down at {} already; expected an earlier `to`", pair[1].from);
                Err(Error::Config(problem))
            }
            None => Ok(outages),
        }
    }

    /// When nodes are down, by node and time.
    pub(crate) fn outages(&self) -> &[Down] {
        &self.outages
    }

    /// How many of its nodes offer slots for tasks of these kinds, or memory and vcores, that are assumed, because neither the trace nor
    /// the cluster file gives them ([`Nodes::ASSUMED_SLOTS`], [`Containers::ASSUMED_MEMORY_MB`]).
    pub fn assumed(&self, kinds: &[Kind]) -> u64 {
        let [.., memory, both] = self.assumed;
        match self.system {
            System::Slots => kinds.iter().map(|kind| self.assumed[kind.index()]).max().unwrap_or(0),
            System::Containers => match self.config.containers.calculator {
                Calculator::Memory => memory,
                Calculator::Dominant => both,
            },
        }
    }

    /// True if the cluster file or an option says what nodes offer, whatever the trace shows.
    pub fn gives_sizes(&self) -> bool {
        let (nodes, containers) = (&self.config.nodes, &self.config.containers);
        nodes.map_slots.or(nodes.reduce_slots).or(containers.memory_mb).or(containers.vcores).is_some()
    }

    /// The most tasks of each kind, and of both, that one of its nodes runs at once.
    pub fn most_at_once(&self) -> [u32; 3] {
        let most = |of: &dyn Fn(&Node) -> u64| {
            self.nodes.iter().map(of).max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
        };
        match self.system {
            System::Slots => [
                most(&|node| node.capacity.map_slots()),
                most(&|node| node.capacity.reduce_slots()),
                most(&|node| node.capacity.map_slots() + node.capacity.reduce_slots()),
            ],
            System::Containers => {
                let fitting = |ask: Ask| most(&|node| node.capacity.fits(self.demands[ask.index()]));
                let [maps, reduces] = [fitting(Ask::Map), fitting(Ask::Reduce)];
                [maps, reduces, maps.max(reduces)]
            }
        }
    }

    /// Its nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids of its nodes, in name order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// A node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// The racks' names, by [`RackId`].
    pub fn racks(&self) -> &[String] {
        &self.racks
    }

    /// The ids of the nodes of each rack, by [`RackId`].
    pub fn nodes_by_rack(&self) -> Vec<Vec<NodeId>> {
        let mut racks = vec![Vec::new(); self.racks.len()];
        for (node, id) in self.nodes.iter().zip(self.node_ids()) {
            racks[node.rack.index()].push(id);
        }
        racks
    }

    /// The node of that name.
    pub fn find(&self, host: &str) -> Option<NodeId> {
        self.nodes.binary_search_by(|node| node.name.as_str().cmp(host)).ok().map(NodeId::at)
    }

    /// The nodes that stand for a machine of the cluster before it was resized (`nodes.clones`): itself and its clones, or none if
    /// it was dropped. `None` if there was no such machine, or the cluster was not resized.
    pub(crate) fn homes(&self, host: &str) -> Option<&[NodeId]> {
        self.homes.as_ref()?.get(host).map(Vec::as_slice)
    }

    /// Each host that is known, with the nodes that stand for it: those of [`Cluster::homes`], or the node of that name.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = (&str, Vec<NodeId>)> {
        let nodes = self.nodes.iter().zip(self.node_ids()).map(|(node, id)| (node.name.as_str(), vec![id]));
        // The later of two entries is taken.
        nodes.chain(self.homes.iter().flatten().map(|(host, nodes)| (host.as_str(), nodes.clone())))
    }

    /// The system that hands out its machines.
    #[inline]
    pub fn system(&self) -> System {
        self.system
    }

    /// The resources of all nodes together.
    #[inline]
    pub fn total(&self) -> Resources {
        self.total
    }

    /// All slots of a kind, or how many containers for such tasks would fit.
    #[inline]
    pub fn slots(&self, kind: Kind) -> u32 {
        self.slots[kind.index()]
    }

    /// How many tasks of a kind fit side by side into resources of this cluster. (All of it has room for fewer than 2³².)
    #[inline]
    pub(crate) fn room(&self, free: Resources, kind: Kind) -> u32 {
        free.fits(self.demand(kind)) as u32
    }

    /// The resources that an attempt takes from its node.
    #[inline]
    pub fn demand(&self, kind: Kind) -> Resources {
        self.demand_of(Ask::of(kind))
    }

    /// The size of the container for a request.
    #[inline]
    pub fn demand_of(&self, ask: Ask) -> Resources {
        self.demands[ask.index()]
    }

    /// The size of the container for a request of a job.
    #[inline]
    pub fn demand_of_job(&self, job: &Job, ask: Ask) -> Resources {
        let usual = self.demand_of(ask);
        match ask.kind() {
            Some(kind) if self.counts_further() => Resources { further: job.further[kind.index()], ..usual },
            Some(_) | None => usual,
        }
    }

    /// The size of the smallest container.
    #[inline]
    pub fn smallest(&self) -> Resources {
        self.config.containers.smallest()
    }

    /// The size of the largest container.
    #[inline]
    pub fn largest(&self) -> Resources {
        self.largest
    }

    /// The names of the resources beside memory and vcores that its nodes have, in the order of [`Resources::further`].
    pub fn further(&self) -> &[String] {
        &self.further
    }

    /// True if any of them counts: only under YARN, and only if not memory alone decides.
    #[inline]
    pub fn counts_further(&self) -> bool {
        !self.further.is_empty()
            && self.system == System::Containers
            && self.config.containers.calculator == Calculator::Dominant
    }

    /// Amounts by name (`yarn.io/gpu=2,…`) as those resources. What no node has is left out: nobody could wait for it.
    pub(crate) fn further_of(&self, text: &str) -> [u64; FURTHER] {
        in_order(&self.further, |name| {
            amounts(text).filter(|(amount, _)| *amount == name).map(|(_, amount)| amount).sum()
        })
    }

    /// How many reduces of a node may sort and reduce at a time, if that is fewer than it admits.
    pub(crate) fn computing(&self, node: NodeId) -> Option<u32> {
        let copying = self.config.nodes.copying_reduces;
        let admitted = self.node(node).capacity.reduce_slots() as u32;
        (copying > 0 && self.system == System::Slots).then(|| admitted.saturating_sub(copying))
    }

    /// How long a job with these edges takes to end beyond the next heartbeat, ms. The log is one of slots, so the heartbeats are
    /// those of slots under any system.
    pub fn commit(&self, edges: &Edges) -> Ms {
        edges.commit(self.config.heartbeat.interval_of(self.nodes.len()))
    }

    /// Time between two heartbeats of a node, ms.
    #[inline]
    pub fn interval(&self) -> Ms {
        self.interval
    }
}

/// The machines of a cluster of `count` nodes, by name.
fn resized(machines: &[Machine], count: u32) -> Vec<Machine> {
    let named = machines.iter().map(|machine| (machine.name.as_str(), machine.rack.as_str()));
    let clone = |clone: crate::clones::Clone| {
        let Machine { name, rack, offers, assumed, further, .. } = machines.get(clone.of)?;
        let original = (*name != clone.name).then(|| name.clone());
        Some(Machine {
            name: clone.name,
            rack: rack.clone(),
            offers: *offers,
            assumed: *assumed,
            further: further.clone(),
            original,
        })
    };
    let mut all: Vec<Machine> = clones(named, count).into_iter().filter_map(clone).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
