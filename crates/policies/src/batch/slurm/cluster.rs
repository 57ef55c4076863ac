//! The machines as Slurm's scheduler sees them: what is free on each, now and after some jobs have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use resched_sim::batch::{Machine, Needs, View};
use resched_sim::{NodeId, Resources};
use smallvec::SmallVec;

use super::kinds::{BLOCK, Kinds, ones, stretches};
use super::place::{Asked, Gain, Part, Places, Rooms, Stretch, add, choose};
use crate::queues::slurm::SlurmConf;

/// What a job asks for. Many jobs ask for the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) asked: Asked,
    /// What an instance takes of processor and memory.
    pub(super) demand: Resources,
    /// What it takes of other resources, by their places.
    others: SmallVec<[(u32, u64); 1]>,
    /// What the job takes of licences, by their places.
    licenses: SmallVec<[(u32, u64); 1]>,
    /// True if its machines run nothing else.
    pub(super) exclusive: bool,
}

impl Request {
    /// True if the room for it on an empty machine depends on the kind of the machine alone. A job that asks for no processor finds room
    /// also on full machines.
    fn counts(&self) -> bool {
        self.others.is_empty() && self.demand.cpu > 0
    }

    /// The processor of all its instances.
    pub(super) fn cpu(&self) -> f64 {
        self.demand.cpu as f64 * f64::from(self.asked.instances)
    }
}

/// What is free on a machine.
#[derive(Debug, Clone, Copy, Default)]
struct Free {
    /// What is taken of its processor and memory.
    used: Resources,
    /// How many units run there.
    units: u32,
    /// How many of them have it for themselves.
    closed: u32,
}

/// The machines. Their state can be looked at ahead: [`Cluster::look_ahead`] begins with the present, [`Cluster::end_ahead`] lets a unit end.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    nodes: Vec<NodeId>,
    capacity: Vec<Resources>,
    now: Vec<Free>,
    /// The machines on which nothing runs now.
    empty: FixedBitSet,
    /// The other machines that have any processor free now.
    partly: FixedBitSet,
    /// How many machines are in one of these.
    open: usize,
    /// The blocks of these sets in which any machine is. In a full cluster, they are few.
    open_blocks: FixedBitSet,
    /// The machines on which one unit runs now, beside which nothing that asks for processor has room.
    filled: FixedBitSet,
    kinds: Kinds,
    /// A number that grows with each change.
    state: u64,
    /// The most processor of a machine.
    largest_cpu: u64,
    /// What is free of other resources, machine by machine.
    others: Vec<u64>,
    /// What the machines have of them.
    all_others: Vec<u64>,
    other_names: Vec<Arc<str>>,
    licenses: Vec<u64>,
    license_names: Vec<Arc<str>>,
    /// The state of the machines that differ ahead, marked by the number of the look.
    ahead: Vec<Free>,
    others_ahead: Vec<u64>,
    looks: Vec<u32>,
    /// The machines that are empty ahead. The state of those that one unit had filled is not kept.
    empty_ahead: FixedBitSet,
    /// The other machines that may have any processor free ahead.
    partly_ahead: FixedBitSet,
    /// The blocks in which any machine may have room ahead.
    open_blocks_ahead: FixedBitSet,
    look: u32,
    rooms: Rooms,
    weights: Weights,
}

/// How light the machines are: the lightest that do are taken.
#[derive(Debug, Default)]
struct Weights {
    /// The weight of each machine; empty if all weigh the same.
    of: Vec<u32>,
    /// The weights that there are, from the lightest.
    all: Vec<u32>,
}

impl Weights {
    fn new(conf: &SlurmConf, view: View<'_>) -> Self {
        let known: BTreeMap<&str, u32> =
            conf.nodes.iter().flat_map(|group| group.hosts.iter().map(|host| (host.as_str(), group.weight))).collect();
        let weight = |machine: &Machine| known.get(machine.original()).copied().unwrap_or(1);
        let of: Vec<u32> = view.nodes().map(|(_, machine)| weight(machine)).collect();
        let all: BTreeSet<u32> = of.iter().copied().collect();
        if all.len() > 1 { Self { of, all: all.into_iter().collect() } } else { Self::default() }
    }

    /// Chooses machines, none of them heavier than needed.
    fn choose(&self, asked: Asked, rooms: &Rooms) -> Option<Places> {
        if self.of.is_empty() {
            return choose(asked, rooms);
        }
        self.all.iter().find_map(|&most| {
            // Those that are counted together weigh the same.
            let light: Rooms = rooms.iter().copied().filter(|room| self.of[room.from] <= most).collect();
            choose(asked, &light)
        })
    }
}

impl Cluster {
    pub(super) fn new(conf: &SlurmConf, view: View<'_>) -> Self {
        let mut names: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for (name, _) in view.nodes().flat_map(|(_, machine)| &machine.resources) {
            names.entry(Arc::clone(name)).or_default();
        }
        for (place, (_, name)) in names.iter_mut().enumerate() {
            *name = place;
        }
        let count = view.nodes().len();
        let mut others = vec![0_u64; count * names.len()];
        for (node, machine) in view.nodes() {
            for (name, amount) in &machine.resources {
                let sum = &mut others[node.index() * names.len() + names[name]];
                *sum = sum.saturating_add(*amount);
            }
        }
        let mut made = Self {
            nodes: view.nodes().map(|(node, _)| node).collect(),
            capacity: vec![Resources::NONE; count],
            now: vec![Free::default(); count],
            empty: FixedBitSet::with_capacity(count),
            partly: FixedBitSet::with_capacity(count),
            filled: FixedBitSet::with_capacity(count),
            open_blocks: FixedBitSet::with_capacity(count.div_ceil(BLOCK)),
            open_blocks_ahead: FixedBitSet::with_capacity(count.div_ceil(BLOCK)),
            empty_ahead: FixedBitSet::with_capacity(count),
            partly_ahead: FixedBitSet::with_capacity(count),
            others_ahead: others.clone(),
            all_others: others.clone(),
            others,
            other_names: names.into_keys().collect(),
            licenses: view.licenses().iter().map(|(_, amount)| *amount).collect(),
            license_names: view.licenses().iter().map(|(name, _)| Arc::clone(name)).collect(),
            ahead: vec![Free::default(); count],
            looks: vec![0; count],
            weights: Weights::new(conf, view),
            ..Self::default()
        };
        made.refresh(view);
        made
    }

    /// Machines by their numbers as the engine knows them.
    pub(super) fn as_nodes(&self, places: &Places) -> Vec<(NodeId, u32)> {
        let nodes = |part: &Part| self.nodes.get(part.range()).unwrap_or_default();
        let mut all = Vec::with_capacity(places.iter().map(|part| part.machines).sum());
        places.iter().for_each(|part| all.extend(nodes(part).iter().map(|&node| (node, part.each))));
        all
    }

    /// A number that differs whenever what is free differs.
    pub(super) fn state(&self) -> u64 {
        self.state
    }

    /// How many machines there are.
    pub(super) fn len(&self) -> usize {
        self.now.len()
    }

    /// The processor of all machines.
    pub(super) fn total_cpu(&self) -> u64 {
        self.capacity.iter().map(|machine| machine.cpu).sum()
    }

    /// Takes over what the machines offer now.
    pub(super) fn refresh(&mut self, view: View<'_>) {
        for (node, _) in view.nodes() {
            self.capacity[node.index()] = view.offers(node).0;
            self.note_room(node.index());
        }
        self.state += 1;
        self.largest_cpu = self.capacity.iter().map(|machine| machine.cpu).max().unwrap_or(0);
        self.kinds = Kinds::new(&self.capacity, &self.weights.of);
    }

    /// Notes whether a machine has any processor free, and whether none or one unit has it.
    fn note_room(&mut self, node: usize) {
        let free = self.now[node];
        let has_room = self.capacity[node].cpu > free.used.cpu;
        self.open -= usize::from(self.empty[node] || self.partly[node]);
        self.open += usize::from(free.units == 0 || has_room);
        self.empty.set(node, free.units == 0);
        self.partly.set(node, free.units > 0 && has_room);
        let place = node / BLOCK;
        self.open_blocks.set(place, (self.empty.as_slice()[place] | self.partly.as_slice()[place]) != 0);
        self.filled.set(node, free.units == 1 && (free.closed > 0 || !has_room));
    }

    /// What a task asks for. What no machine lists is not counted.
    pub(super) fn request(&self, instances: u32, demand: Resources, needs: &Needs, exclusive: bool) -> Request {
        let places = |other: &[(Arc<str>, u64)], names: &[Arc<str>]| {
            let place = |name: &Arc<str>| names.iter().position(|known| known == name);
            let asked = other.iter().filter(|(_, amount)| *amount > 0);
            // A name may come twice.
            let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
            for (name, amount) in asked.filter_map(|(name, amount)| Some((place(name)? as u32, *amount))) {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(amount);
            }
            sums.into_iter().collect()
        };
        Request {
            asked: Asked { instances, machines: needs.machines.filter(|&machines| machines <= instances) },
            demand,
            others: places(&needs.resources, &self.other_names),
            licenses: places(&needs.licenses, &self.license_names),
            exclusive: needs.exclusive || exclusive,
        }
    }

    /// True if the licences are free that a job asks for.
    pub(super) fn has_licenses(&self, request: &Request) -> bool {
        request.licenses.iter().all(|&(place, amount)| self.licenses[place as usize] >= amount)
    }

    /// A unit of a job starts.
    pub(super) fn start(&mut self, request: &Request, places: &[(NodeId, u32)]) {
        self.state += 1;
        for &(node, count) in places {
            let free = &mut self.now[node.index()];
            free.used = free.used.plus(request.demand.times(count.into()));
            free.units += 1;
            free.closed += u32::from(request.exclusive);
            self.note_room(node.index());
            for &(place, amount) in &request.others {
                let held = &mut self.others[node.index() * self.other_names.len() + place as usize];
                *held = held.saturating_sub(amount * u64::from(count));
            }
        }
        self.take_licenses(request);
    }

    /// A job takes its licences.
    pub(super) fn take_licenses(&mut self, request: &Request) {
        for &(place, amount) in &request.licenses {
            self.licenses[place as usize] = self.licenses[place as usize].saturating_sub(amount);
        }
    }

    /// A job gives its licences back.
    pub(super) fn give_licenses(&mut self, request: &Request) {
        for &(place, amount) in &request.licenses {
            self.licenses[place as usize] += amount;
        }
    }

    /// A unit of a job ends.
    pub(super) fn end(&mut self, request: &Request, places: &[(NodeId, u32)]) {
        self.state += 1;
        for &(node, count) in places {
            let free = &mut self.now[node.index()];
            free.used = free.used.minus(request.demand.times(count.into()));
            free.units -= 1;
            free.closed -= u32::from(request.exclusive);
            self.note_room(node.index());
            for &(place, amount) in &request.others {
                self.others[node.index() * self.other_names.len() + place as usize] += amount * u64::from(count);
            }
        }
        self.give_licenses(request);
    }

    /// Looks at the machines as they are now, for a job.
    pub(super) fn look_ahead(&mut self, request: &Request) {
        self.kinds.ask(request.demand, request.asked.least());
        self.empty_ahead.as_mut_slice().copy_from_slice(self.empty.as_slice());
        self.partly_ahead.as_mut_slice().copy_from_slice(self.partly.as_slice());
        self.open_blocks_ahead.as_mut_slice().copy_from_slice(self.open_blocks.as_slice());
        if request.demand.cpu == 0 {
            // It finds room also on full machines.
            self.open_blocks_ahead.insert_range(..);
        }
        self.look = self.look.wrapping_add(1);
        if self.look == 0 {
            self.looks.fill(0);
            self.look = 1;
        }
    }

    /// Lets a unit end ahead on these machines. Returns how much more room there is then for the job that is looked for; `None` if it is on
    /// none of them.
    pub(super) fn end_ahead(
        &mut self,
        (ended, held): (&Request, &Held),
        (request, machines): (&Request, &FixedBitSet),
    ) -> Option<Gain> {
        let mut gain = None;
        for &(place, block) in &held.blocks {
            let common = block & machines.as_slice()[place];
            if common == 0 {
                continue;
            }
            let gain = gain.get_or_insert_with(Gain::default);
            let emptied = if request.counts() { common & self.filled.as_slice()[place] } else { 0 };
            self.empty_ahead.as_mut_slice()[place] |= emptied;
            self.partly_ahead.as_mut_slice()[place] &= !emptied;
            self.open_blocks_ahead.insert(place);
            self.kinds.add_up(place, emptied, gain);
            for node in ones(place, common & !emptied) {
                self.end_on(node, held.on(node), ended, request, gain);
            }
        }
        gain
    }

    /// Lets instances of a job end ahead on one machine.
    fn end_on(&mut self, node: usize, count: u32, ended: &Request, request: &Request, gain: &mut Gain) {
        let before = self.room(node, request);
        self.open_ahead(node);
        let free = &mut self.ahead[node];
        free.used = free.used.minus(ended.demand.times(count.into()));
        free.units -= 1;
        free.closed -= u32::from(ended.exclusive);
        for &(place, amount) in &ended.others {
            self.others_ahead[node * self.other_names.len() + place as usize] += amount * u64::from(count);
        }
        let after = self.room(node, request);
        gain.room += after.saturating_sub(before);
        gain.machines += usize::from(before == 0 && after > 0);
    }

    /// Makes a machine differ from the present.
    fn open_ahead(&mut self, node: usize) {
        if self.looks[node] != self.look {
            self.looks[node] = self.look;
            self.partly_ahead.insert(node);
            self.ahead[node] = self.now[node];
            let of_node = node * self.other_names.len()..(node + 1) * self.other_names.len();
            self.others_ahead[of_node.clone()].copy_from_slice(&self.others[of_node]);
        }
    }

    /// For how many instances of a job a machine has the other resources, if it has these.
    fn others_fit(&self, others: &[u64], node: usize, request: &Request) -> u64 {
        let fits = |&(place, amount): &(u32, u64)| others[node * self.other_names.len() + place as usize] / amount;
        request.others.iter().map(fits).min().unwrap_or(u64::MAX)
    }

    /// For how many instances of a job a machine has room at the instant that is looked at.
    #[inline]
    fn room(&self, node: usize, request: &Request) -> u64 {
        let (free, others) = if self.looks[node] == self.look {
            (self.ahead[node], &self.others_ahead)
        } else {
            (self.now[node], &self.others)
        };
        if free.closed > 0 || (request.exclusive && free.units > 0) || self.capacity[node] == Resources::NONE {
            return 0;
        }
        let room =
            self.capacity[node].minus(free.used).fits(request.demand).min(self.others_fit(others, node, request));
        let least = request.asked.least();
        if room < least { 0 } else { room }
    }

    /// True if these machines could hold a job if nothing else ran.
    pub(super) fn could_hold(&mut self, request: &Request, machines: &FixedBitSet) -> bool {
        let least = request.asked.least();
        if request.counts() && request.asked.needs_only_sums() {
            self.kinds.ask(request.demand, least);
            let mut all = Gain::default();
            machines
                .as_slice()
                .iter()
                .enumerate()
                .for_each(|(place, &machine)| self.kinds.add_up(place, machine, &mut all));
            return request.asked.may_fit(all);
        }
        let rooms = machines.ones().map(|node| {
            let room = self.capacity[node].fits(request.demand);
            Stretch { from: node, machines: 1, room: room.min(self.others_fit(&self.all_others, node, request)) }
        });
        choose(request.asked, &rooms.filter(|room| room.room >= least).collect()).is_some()
    }

    /// True if so many machines may be enough for a job, if nothing else ran on them. A cheap bound.
    pub(super) fn may_hold(&self, request: &Request, machines: &FixedBitSet) -> bool {
        let mut count = 0;
        // Most jobs are small: the first blocks are enough.
        machines.as_slice().iter().any(|&machine| {
            count += machine.count_ones() as usize;
            machine != 0 && self.may_hold_on(request, count)
        })
    }

    /// True if so many machines may be enough for a job, whichever they are.
    pub(super) fn may_hold_on(&self, request: &Request, count: usize) -> bool {
        self.may_fit_with(request, Gain::default(), count)
    }

    /// True if the machines with any room now and so many more may be enough for a job. The cheapest bound.
    pub(super) fn may_start(&self, request: &Request, more: usize) -> bool {
        request.demand.cpu == 0 || self.may_hold_on(request, self.open + more)
    }

    /// True if some room and so many more machines may be enough for a job, whichever they are.
    pub(super) fn may_fit_with(&self, request: &Request, gain: Gain, count: usize) -> bool {
        let each = self.largest_cpu.checked_div(request.demand.cpu).unwrap_or(u64::MAX);
        request.asked.may_fit(gain.plus(Gain { room: each.saturating_mul(count as u64), machines: count }))
    }

    /// The blocks of those of these machines that are empty at the instant that is looked at, and of the others that may have room.
    fn blocks(&self, request: &Request, machines: &FixedBitSet) -> impl Iterator<Item = (usize, [usize; 2])> {
        let [counts, all] = [request.counts(), request.demand.cpu == 0].map(|is| if is { usize::MAX } else { 0 });
        let (machines, empty, partly) =
            (machines.as_slice(), self.empty_ahead.as_slice(), self.partly_ahead.as_slice());
        self.open_blocks_ahead.ones().map(move |place| {
            let (has, empty) = (machines[place], empty[place]);
            (place, [has & empty & counts, has & (partly[place] | (empty & !counts) | all)])
        })
    }

    /// How much room there is for a job on these machines now.
    pub(super) fn gain(&self, request: &Request, machines: &FixedBitSet) -> Gain {
        let mut gain = Gain::default();
        for (place, [empty, others]) in self.blocks(request, machines) {
            self.kinds.add_up(place, empty, &mut gain);
            ones(place, others).for_each(|node| gain.add(self.room(node, request), 1));
        }
        gain
    }

    /// The machines on which a job starts at the instant that is looked at, if it finds room on these.
    pub(super) fn place(&mut self, request: &Request, machines: &FixedBitSet) -> Option<Places> {
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.clear();
        self.list(request, machines, &mut rooms);
        let places = self.weights.choose(request.asked, &rooms);
        self.rooms = rooms;
        places
    }

    /// Lists the room for a job on these machines.
    fn list(&self, request: &Request, machines: &FixedBitSet, rooms: &mut Rooms) {
        for (place, [empty, others]) in self.blocks(request, machines) {
            if let Some(room) = self.kinds.same().filter(|_| others == 0) {
                let more = stretches(place, empty).filter(|_| room > 0);
                more.for_each(|(from, machines)| add(rooms, Stretch { from, machines, room }));
                continue;
            }
            for node in ones(place, empty | others) {
                let is_empty = (empty >> (node % BLOCK)) & 1 == 1;
                let room = if is_empty { self.kinds.room(node) } else { self.room(node, request) };
                let stretch = Stretch { from: node, machines: 1, room };
                match rooms.last() {
                    _ if room == 0 => {}
                    // Machines that weigh differently are not counted together.
                    Some(last) if !self.kinds.are_alike(last.from, node) => rooms.push(stretch),
                    _ => add(rooms, stretch),
                }
            }
        }
    }
}

/// The machines that a unit has.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// How many instances run on each.
    pub(super) places: Vec<(NodeId, u32)>,
    /// The machines as blocks of a set, by the places of the blocks.
    blocks: Vec<(usize, usize)>,
}

impl From<Vec<(NodeId, u32)>> for Held {
    fn from(places: Vec<(NodeId, u32)>) -> Self {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for (node, _) in &places {
            let (place, member) = (node.index() / BLOCK, 1 << (node.index() % BLOCK));
            match blocks.last_mut().filter(|last| last.0 == place) {
                Some(last) => last.1 |= member,
                None => blocks.push((place, member)),
            }
        }
        Self { places, blocks }
    }
}

impl Held {
    /// True if any of these machines is among them.
    pub(super) fn is_on(&self, machines: &FixedBitSet) -> bool {
        let all = machines.as_slice();
        self.blocks.iter().any(|&(place, other)| all.get(place).is_some_and(|block| block & other != 0))
    }

    /// How many instances run on a machine.
    fn on(&self, node: usize) -> u32 {
        let place = self.places.partition_point(|(place, _)| place.index() < node);
        self.places.get(place).filter(|(place, _)| place.index() == node).map_or(0, |&(_, count)| count)
    }
}
