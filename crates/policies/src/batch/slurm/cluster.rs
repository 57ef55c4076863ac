//! The machines as Slurm's scheduler sees them: what is free on each, now and after some jobs have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use resched_sim::batch::{Machine, Needs, View};
use resched_sim::{NodeId, Resources};
use smallvec::SmallVec;

use super::place::{Asked, Places, Rooms, choose};
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
    /// Whether its machines run nothing else.
    exclusive: bool,
}

impl Request {
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
    /// The machines that have any processor free now.
    with_room: FixedBitSet,
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
    /// Those machines.
    touched: FixedBitSet,
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
            let light: Rooms = rooms.iter().copied().filter(|&(machine, _)| self.of[machine] <= most).collect();
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
        for (place, (_, own)) in names.iter_mut().enumerate() {
            *own = place;
        }
        let count = view.nodes().len();
        let mut others = vec![0; count * names.len()];
        for (node, machine) in view.nodes() {
            for (name, amount) in &machine.resources {
                others[node.index() * names.len() + names[name]] += amount;
            }
        }
        let mut made = Self {
            nodes: view.nodes().map(|(node, _)| node).collect(),
            capacity: vec![Resources::NONE; count],
            now: vec![Free::default(); count],
            with_room: FixedBitSet::with_capacity(count),
            others_ahead: others.clone(),
            all_others: others.clone(),
            others,
            other_names: names.into_keys().collect(),
            licenses: view.licenses().iter().map(|(_, amount)| *amount).collect(),
            license_names: view.licenses().iter().map(|(name, _)| Arc::clone(name)).collect(),
            ahead: vec![Free::default(); count],
            looks: vec![0; count],
            touched: FixedBitSet::with_capacity(count),
            weights: Weights::new(conf, view),
            ..Self::default()
        };
        made.refresh(view);
        made
    }

    /// Machines by their numbers as the engine knows them.
    pub(super) fn as_nodes(&self, places: &Places) -> Vec<(NodeId, u32)> {
        places.iter().filter_map(|&(machine, count)| Some((*self.nodes.get(machine)?, count))).collect()
    }

    /// How many machines there are.
    pub(super) fn len(&self) -> usize {
        self.now.len()
    }

    /// The processor of all machines.
    pub(super) fn total_cpu(&self) -> u64 {
        self.capacity.iter().map(|own| own.cpu).sum()
    }

    /// Takes over what the machines offer now.
    pub(super) fn refresh(&mut self, view: View<'_>) {
        for (node, _) in view.nodes() {
            self.capacity[node.index()] = view.offers(node).0;
            self.note_room(node.index());
        }
        self.largest_cpu = self.capacity.iter().map(|own| own.cpu).max().unwrap_or(0);
    }

    /// Notes whether a machine has any processor free.
    fn note_room(&mut self, node: usize) {
        self.with_room.set(node, self.capacity[node].cpu > self.now[node].used.cpu);
    }

    /// What a task asks for. What no machine lists is not counted.
    pub(super) fn request(&self, instances: u32, demand: Resources, needs: &Needs, exclusive: bool) -> Request {
        let places = |own: &[(Arc<str>, u64)], names: &[Arc<str>]| {
            let place = |name: &Arc<str>| names.iter().position(|known| known == name);
            own.iter().filter_map(|(name, amount)| Some((place(name)? as u32, *amount))).collect()
        };
        Request {
            asked: Asked { instances, machines: needs.machines.filter(|&machines| machines <= instances) },
            demand,
            others: places(&needs.resources, &self.other_names),
            licenses: places(&needs.licenses, &self.license_names),
            exclusive: needs.exclusive || exclusive,
        }
    }

    /// Whether the licences are free that a job asks for.
    pub(super) fn has_licenses(&self, request: &Request) -> bool {
        request.licenses.iter().all(|&(place, amount)| self.licenses[place as usize] >= amount)
    }

    /// A unit of a job starts.
    pub(super) fn start(&mut self, request: &Request, places: &[(NodeId, u32)]) {
        for &(node, count) in places {
            let free = &mut self.now[node.index()];
            free.used = free.used.plus(request.demand.times(count.into()));
            free.units += 1;
            free.closed += u32::from(request.exclusive);
            self.note_room(node.index());
            for &(place, amount) in &request.others {
                let own = &mut self.others[node.index() * self.other_names.len() + place as usize];
                *own = own.saturating_sub(amount * u64::from(count));
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

    /// Looks at the machines as they are now.
    pub(super) fn look_ahead(&mut self) {
        self.touched.clear();
        self.look = self.look.wrapping_add(1);
        if self.look == 0 {
            self.looks.fill(0);
            self.look = 1;
        }
    }

    /// Lets a unit end ahead on these machines. Returns how much more room there is then for a job on them; `None` if it is on none of them.
    pub(super) fn end_ahead(
        &mut self,
        ended: &Request,
        places: &[(NodeId, u32)],
        (request, machines): (&Request, &FixedBitSet),
    ) -> Option<Gain> {
        let mut gain = None;
        for &(node, count) in places {
            let node = node.index();
            if !machines.contains(node) {
                continue;
            }
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
            let own = gain.get_or_insert_with(Gain::default);
            own.room += after.saturating_sub(before);
            own.machines += usize::from(before == 0 && after > 0);
        }
        gain
    }

    /// Makes a machine differ from the present.
    fn open_ahead(&mut self, node: usize) {
        if self.looks[node] != self.look {
            self.looks[node] = self.look;
            self.touched.insert(node);
            self.ahead[node] = self.now[node];
            let own = node * self.other_names.len()..(node + 1) * self.other_names.len();
            self.others_ahead[own.clone()].copy_from_slice(&self.others[own]);
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

    /// Whether these machines could hold a job if nothing else ran.
    pub(super) fn could_hold(&self, request: &Request, machines: &FixedBitSet) -> bool {
        let least = request.asked.least();
        let rooms = machines.ones().map(|node| {
            let room = self.capacity[node].fits(request.demand);
            room.min(self.others_fit(&self.all_others, node, request))
        });
        let rooms: Rooms = machines.ones().zip(rooms).filter(|&(_, room)| room >= least).collect();
        choose(request.asked, &rooms).is_some()
    }

    /// Whether so many machines may be enough for a job, if nothing else ran on them. A cheap bound.
    pub(super) fn may_hold(&self, request: &Request, machines: &FixedBitSet) -> bool {
        let count = machines.count_ones(..);
        let each = self.largest_cpu.checked_div(request.demand.cpu).unwrap_or(u64::MAX);
        request.asked.may_fit(each.saturating_mul(count as u64), count)
    }

    /// Those of these machines that may have room at the instant that is looked at.
    fn candidates(&self, request: &Request, machines: &FixedBitSet) -> impl Iterator<Item = usize> {
        let all = request.demand.cpu == 0;
        let open = self.with_room.as_slice().iter().zip(self.touched.as_slice()).map(|(room, touched)| room | touched);
        let blocks = machines.as_slice().iter().zip(open).enumerate();
        blocks.flat_map(move |(place, (own, open))| ones(place, if all { *own } else { own & open }))
    }

    /// How much room there is for a job on these machines now.
    pub(super) fn gain(&self, request: &Request, machines: &FixedBitSet) -> Gain {
        let mut gain = Gain::default();
        for node in self.candidates(request, machines) {
            let room = self.room(node, request);
            gain.room += room;
            gain.machines += usize::from(room > 0);
        }
        gain
    }

    /// The machines on which a job starts at the instant that is looked at, if it finds room on these.
    pub(super) fn place(&mut self, request: &Request, machines: &FixedBitSet) -> Option<Places> {
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.clear();
        let with_room = self.candidates(request, machines).map(|node| (node, self.room(node, request)));
        rooms.extend(with_room.filter(|&(_, room)| room > 0));
        let places = self.weights.choose(request.asked, &rooms);
        self.rooms = rooms;
        places
    }
}

/// The members of a block of a set of machines.
fn ones(place: usize, mut block: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (block != 0).then(|| block.trailing_zeros())?;
        block &= block - 1;
        Some(place * usize::BITS as usize + lowest as usize)
    })
}

/// How much room there is for a job, and on how many machines.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gain {
    pub(super) room: u64,
    pub(super) machines: usize,
}

impl Gain {
    pub(super) fn plus(self, more: Gain) -> Gain {
        Gain { room: self.room.saturating_add(more.room), machines: self.machines + more.machines }
    }

    /// Whether that may do for a job.
    pub(super) fn may_do(self, request: &Request) -> bool {
        request.asked.may_fit(self.room, self.machines)
    }
}
