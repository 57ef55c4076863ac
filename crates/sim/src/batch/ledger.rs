//! What is free and held of every dimension, by machine and together, and which machine could take a task now.

use smallvec::SmallVec;

use super::amounts::Amounts;
use super::dim::Dim;
use super::dimensions::{Asked, Dimensions};
use super::index::Index;
use super::machines::Machines;
use super::scarcity::Scarcity;
use super::stock::Stock;
use super::workload::{Task, Workload};
use crate::ids::NodeId;
use crate::resources::Resources;

/// The most demands without room that are remembered.
const MOST_HOPELESS: usize = 32;

/// What an instance asks of a machine: processor and memory, and the kind of its other needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) main: Resources,
    pub(super) kind: u32,
}

/// Processor and memory of a machine in its present state.
#[derive(Debug, Clone, Copy, Default)]
struct Machine {
    capacity: Resources,
    used: Resources,
}

impl Machine {
    /// What is free; nothing if the machine has shrunk below what runs on it.
    fn free(self) -> Resources {
        self.capacity.minus(self.used)
    }

    fn is_there(self) -> bool {
        self.capacity != Resources::NONE
    }
}

/// The one account of the resources of a world.
#[derive(Debug)]
pub(super) struct Ledger {
    dimensions: Dimensions,
    /// What each kind of needs takes beside processor and memory. Empty if no task needs anything.
    asked: Vec<Asked>,
    machines: Vec<Machine>,
    stock: Stock,
    /// What each machine has beside processor and memory.
    all: Stock,
    total: Amounts,
    free: Amounts,
    index: Index,
    /// Demands for which no machine has room, none of them larger than another. Until a machine has more free, an equal or larger demand
    /// needs no search.
    hopeless: Vec<Demand>,
    scarcity: Scarcity,
}

impl Ledger {
    /// All is free.
    pub(super) fn new(workload: &Workload, machines: &Machines) -> Self {
        let dimensions = Dimensions::of(machines);
        let asked: Vec<Asked> = workload.needs.kinds().iter().map(|needs| dimensions.asked(needs)).collect();
        let capacities: Vec<Resources> = machines.nodes().iter().map(|node| node.capacity).collect();
        // What nobody asks for is free forever, and need not be looked at.
        let is_counted = asked.iter().any(|asked| !asked.is_none());
        let stock = if is_counted { Stock::of(&dimensions, machines) } else { Stock::default() };
        let mut total = Amounts::of(machines.total());
        stock.licenses().for_each(|(dim, amount)| total.set(dim, amount));
        let there = (0..capacities.len()).filter(|&node| capacities[node] != Resources::NONE);
        for (dim, amount) in there.flat_map(|node| stock.on(node)) {
            total.set(*dim, total.get(*dim).saturating_add(*amount));
        }
        let mut made = Self {
            index: Index::new(machines.placement(), &capacities, machines.largest()),
            machines: capacities.iter().map(|&capacity| Machine { capacity, used: Resources::NONE }).collect(),
            all: stock.clone(),
            free: total.clone(),
            total,
            hopeless: Vec::new(),
            scarcity: Scarcity::default(),
            stock,
            asked,
            dimensions,
        };
        made.index_names();
        let free = made.machines.iter().filter(|machine| machine.is_there()).map(|machine| machine.free());
        let mut scarcity = Scarcity::new(workload, (made.dimensions.len(), &made.asked), free);
        made.each_free(|dim, free| scarcity.machine_changed(dim, free, true));
        made.scarcity = scarcity;
        made
    }

    /// Lets the index find machines by the named resources that tasks ask for.
    fn index_names(&mut self) {
        let mut dims: Vec<Dim> = self.asked.iter().flat_map(|asked| &asked.of_machine).map(|&(dim, _)| dim).collect();
        dims.sort_unstable();
        dims.dedup();
        let Self { index, stock, machines, .. } = self;
        let is_there = |node: usize| machines.get(node).is_some_and(|machine| machine.is_there());
        index.add_dimensions(&dims, |node, dim| if is_there(node) { stock.free(node, dim) } else { 0 });
    }

    /// The names of the dimensions.
    pub(super) fn dimensions(&self) -> &Dimensions {
        &self.dimensions
    }

    /// What tasks of a kind take beside processor and memory.
    #[inline]
    pub(super) fn asked(&self, kind: u32) -> &Asked {
        static NOTHING: Asked = Asked { of_machine: Vec::new(), of_cluster: Vec::new() };
        self.asked.get(kind as usize).unwrap_or(&NOTHING)
    }

    /// What a unit of a task takes: an instance, or a gang.
    pub(super) fn unit(&self, task: &Task, kind: u32) -> Amounts {
        let mut unit = Amounts::of(task.unit());
        let asked = self.asked(kind);
        if !asked.is_none() {
            let instances = if task.gang { u64::from(task.instances) } else { 1 };
            asked.of_machine.iter().for_each(|&(dim, n)| unit.set(dim, n.saturating_mul(instances)));
            asked.of_cluster.iter().for_each(|&(dim, n)| unit.set(dim, n));
        }
        unit
    }

    /// True if all machines together have enough free for a unit of a task.
    #[inline]
    pub(super) fn may_hold(&self, task: &Task, kind: u32) -> bool {
        if !self.free.main.holds(task.unit()) {
            return false;
        }
        let asked = self.asked(kind);
        if asked.is_none() {
            return true;
        }
        let instances = if task.gang { u64::from(task.instances) } else { 1 };
        asked.of_machine.iter().all(|&(dim, n)| self.free.get(dim) >= n.saturating_mul(instances))
            && self.stock.has_licenses(asked)
    }

    /// What all machines have together now.
    #[inline]
    pub(super) fn total(&self) -> &Amounts {
        &self.total
    }

    /// What is free of all machines together.
    #[inline]
    pub(super) fn free(&self) -> &Amounts {
        &self.free
    }

    /// Processor and memory of a machine, and what is free of them.
    #[inline]
    pub(super) fn main_of(&self, node: NodeId) -> (Resources, Resources) {
        self.machines.get(node.index()).map_or_else(Default::default, |machine| (machine.capacity, machine.free()))
    }

    /// What a machine has now, and what is free of it.
    pub(super) fn of(&self, node: NodeId) -> (Amounts, Amounts) {
        let (capacity, free) = self.main_of(node);
        let with = |main: Resources, stock: &Stock| {
            let mut amounts = Amounts::of(main);
            if capacity != Resources::NONE {
                stock.on(node.index()).iter().for_each(|&(dim, amount)| amounts.set(dim, amount));
            }
            amounts
        };
        (with(capacity, &self.all), with(free, &self.stock))
    }

    /// For how many instances of a demand a machine has room.
    #[inline]
    pub(super) fn fits(&self, demand: Demand, node: usize) -> u64 {
        let Some(machine) = self.machines.get(node) else { return 0 };
        machine.free().fits(demand.main).min(self.stock.fits(self.asked(demand.kind), node))
    }

    /// True if a machine has room for so many instances. The answer for instances that ask for nothing of a machine is that they have.
    pub(super) fn holds(&self, demand: Demand, node: NodeId, instances: u64) -> bool {
        self.main_of(node).1.holds(demand.main.times(instances))
            && self.stock.fits(self.asked(demand.kind), node.index()) >= instances
    }

    /// True if the licences are free that a unit of this kind takes.
    #[inline]
    pub(super) fn has_licenses(&self, kind: u32) -> bool {
        self.stock.has_licenses(self.asked(kind))
    }

    /// The machine for an instance, by the rule of placement.
    pub(super) fn find(&mut self, demand: Demand) -> Option<usize> {
        if self.hopeless.iter().any(|&known| self.is_no_smaller(demand, known)) {
            return None;
        }
        let Self { index, stock, asked, .. } = self;
        let found = match asked.get(demand.kind as usize).filter(|asked| !asked.of_machine.is_empty()) {
            None => index.find(demand.main),
            Some(asked) => index.find_named(demand.main, &asked.of_machine, |node| stock.fits(asked, node) > 0),
        };
        if found.is_none() {
            let mut hopeless = std::mem::take(&mut self.hopeless);
            hopeless.retain(|&known| !self.is_no_smaller(known, demand));
            if hopeless.len() < MOST_HOPELESS {
                hopeless.push(demand);
            }
            self.hopeless = hopeless;
        }
        found
    }

    /// True if a demand asks for as much as another of each dimension.
    #[inline]
    fn is_no_smaller(&self, demand: Demand, other: Demand) -> bool {
        let asks = |&(dim, n): &(Dim, u64)| {
            self.asked(demand.kind).of_machine.iter().any(|&(asked, m)| asked == dim && m >= n)
        };
        demand.main.holds(other.main)
            && (demand.kind == other.kind || self.asked(other.kind).of_machine.iter().all(asks))
    }

    /// Takes what instances need of a machine.
    pub(super) fn take(&mut self, demand: Demand, node: NodeId, instances: u32) {
        let main = demand.main.times(instances.into());
        self.change(node, |machine| machine.used = machine.used.plus(main));
        self.change_names(demand.kind, node, instances.into(), Stock::take);
    }

    /// Gives it back.
    pub(super) fn give(&mut self, demand: Demand, node: NodeId, instances: u32) {
        let main = demand.main.times(instances.into());
        self.change(node, |machine| machine.used = machine.used.minus(main));
        self.change_names(demand.kind, node, instances.into(), Stock::give);
    }

    /// Changes what is free of named resources on a machine.
    #[inline]
    fn change_names(&mut self, kind: u32, node: NodeId, instances: u64, change: fn(&mut Stock, &Asked, NodeId, u64)) {
        let Self { asked, stock, free, total, index, hopeless, scarcity, machines, .. } = self;
        let Some(asked) = asked.get(kind as usize).filter(|asked| !asked.of_machine.is_empty()) else { return };
        let mut before: SmallVec<[u64; 4]> = SmallVec::new();
        before.extend(asked.of_machine.iter().map(|&(dim, _)| stock.free(node.index(), dim)));
        change(stock, asked, node, instances);
        if !machines[node.index()].is_there() {
            return;
        }
        for (&(dim, _), before) in asked.of_machine.iter().zip(before) {
            let after = stock.free(node.index(), dim);
            if after > before {
                hopeless.clear();
            }
            free.set(dim, free.get(dim).saturating_sub(before).saturating_add(after));
            index.set_named(node.index(), dim, after);
            scarcity.changed(dim, [before, after], free.get(dim), total.get(dim));
        }
    }

    /// A unit of this kind takes its licences.
    pub(super) fn take_licenses(&mut self, kind: u32) {
        self.change_licenses(kind, Stock::take_licenses);
    }

    /// It gives them back.
    pub(super) fn give_licenses(&mut self, kind: u32) {
        self.change_licenses(kind, Stock::give_licenses);
    }

    #[inline]
    fn change_licenses(&mut self, kind: u32, change: fn(&mut Stock, &Asked)) {
        let Self { asked, stock, free, total, scarcity, .. } = self;
        let Some(asked) = asked.get(kind as usize).filter(|asked| !asked.of_cluster.is_empty()) else { return };
        change(stock, asked);
        for (dim, after) in stock.licenses() {
            let before = free.get(dim);
            if before != after {
                free.set(dim, after);
                scarcity.changed(dim, [before, after], after, total.get(dim));
            }
        }
    }

    /// A machine changes the processor and memory that it offers; it leaves if they are nothing. What it has beside them comes and goes
    /// with it.
    pub(super) fn set_capacity(&mut self, node: NodeId, capacity: Resources) {
        let was_there = self.machines[node.index()].is_there();
        self.change(node, |machine| machine.capacity = capacity);
        let is_there = capacity != Resources::NONE;
        if was_there == is_there {
            return;
        }
        self.hopeless.clear();
        let Self { stock, all, free, total, index, scarcity, .. } = self;
        for (&(dim, amount), &(_, all)) in stock.on(node.index()).iter().zip(all.on(node.index())) {
            let (more, less) = if is_there { ([amount, all], [0, 0]) } else { ([0, 0], [amount, all]) };
            free.set(dim, free.get(dim).saturating_add(more[0]).saturating_sub(less[0]));
            total.set(dim, total.get(dim).saturating_add(more[1]).saturating_sub(less[1]));
            index.set_named(node.index(), dim, if is_there { amount } else { 0 });
            scarcity.machine_changed(dim, amount, is_there);
        }
    }

    #[inline]
    fn change(&mut self, node: NodeId, change: impl FnOnce(&mut Machine)) {
        let machine = &mut self.machines[node.index()];
        let before = *machine;
        change(machine);
        let after = *machine;
        self.total.main = self.total.main.minus(before.capacity).plus(after.capacity);
        self.free.main = self.free.main.minus(before.free()).plus(after.free());
        if !before.free().holds(after.free()) {
            self.hopeless.clear();
        }
        let room = |machine: Machine| machine.is_there().then(|| machine.free());
        let capacity_changed = before.capacity != after.capacity;
        self.scarcity.main_changed([room(before), room(after)], capacity_changed, self.total.main, self.free.main);
        self.index.set(node.index(), after.free());
    }

    /// What is taken from now on is given back at once: it does not count as taken until the trial ends.
    pub(super) fn set_on_trial(&mut self, on_trial: bool) {
        self.scarcity.on_trial = on_trial;
    }

    /// The dimensions of which some machine lacks what the largest instance takes.
    pub(super) fn scarcity(&self) -> &Scarcity {
        &self.scarcity
    }

    /// Calls `each` with what is free of a dimension on each machine that is there and lists it, or with what is free of a licence.
    fn each_free(&self, mut each: impl FnMut(Dim, u64)) {
        let there = (0..self.machines.len()).filter(|&node| self.machines[node].is_there());
        there.flat_map(|node| self.stock.on(node)).for_each(|&(dim, free)| each(dim, free));
        self.stock.licenses().for_each(|(dim, free)| each(dim, free));
    }
}
