//! Nodes with devices, and where a pod goes.

use super::demand::{Demand, MOST_DEVICES, MOST_MODELS, Shape, WHOLE};
use super::fragments::Typical;
use super::policy::{self, Pair, Policy};
use super::states::{self, Asked, State, States};

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuNode {
    /// Its name.
    pub name: String,
    /// Thousandths of cores.
    pub cpu: i64,
    /// Memory in MiB.
    pub memory: i64,
    /// How many devices it has.
    pub devices: usize,
    /// Their model; empty if it has none.
    pub model: String,
}

/// What is wrong with a node or a pod.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A node has too many devices.
    #[error("expected at most {MOST_DEVICES} devices on node `{0}`; split it into several nodes")]
    Devices(String),
    /// There are too many models.
    #[error("expected at most {MOST_MODELS} models of devices, found `{0}` beyond them; name similar ones alike")]
    Models(String),
    /// An amount is negative, or the ranks are not one for each node.
    #[error("expected {0}")]
    Amount(String),
    /// A pod asks for parts of several devices, or for more than a device.
    #[error("expected 1 to 999 thousandths of one device, or 1000 of each, found {milli} of {devices}")]
    Parts {
        /// The thousandths of each.
        milli: u16,
        /// The devices.
        devices: usize,
    },
}

/// Where a pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node, in the order in which they were given.
    pub node: usize,
    /// Its devices, as bits.
    pub devices: u16,
}

/// A cluster of nodes with devices, and what is left of it.
#[derive(Clone, Debug)]
pub struct Cluster {
    cpu: Vec<i64>,
    memory: Vec<i64>,
    left: Vec<[u16; MOST_DEVICES]>,
    devices: Vec<u8>,
    model: Vec<Option<u64>>,
    /// Per node: all that is left of devices, the most that is left of one, and how many are whole.
    total: Vec<i64>,
    most: Vec<u16>,
    whole: Vec<u8>,
    /// Per node, its pods by size.
    sizes: Vec<Vec<(u16, u32)>>,
    /// Equal scores: the lower rank wins.
    rank: Vec<u32>,
    models: Vec<String>,
    typical: Typical,
    states: States,
    state: Vec<u32>,
    fitting: Vec<u32>,
}

const STALE: u32 = u32::MAX;

impl Cluster {
    /// A cluster without pods. Of nodes with equal scores, the one of the lowest `ranks` is taken.
    ///
    /// # Errors
    /// A node has too many devices, there are too many models, an amount is negative, or there is not one rank per node.
    pub fn new(nodes: &[GpuNode], ranks: Vec<u32>) -> Result<Self, Wrong> {
        if ranks.len() != nodes.len() {
            return Err(Wrong::Amount(format!("one rank for each of {} nodes, found {}", nodes.len(), ranks.len())));
        }
        let mut cluster = Self {
            cpu: nodes.iter().map(|node| node.cpu).collect(),
            memory: nodes.iter().map(|node| node.memory).collect(),
            left: vec![[0; MOST_DEVICES]; nodes.len()],
            devices: Vec::new(),
            model: Vec::new(),
            total: Vec::new(),
            most: vec![0; nodes.len()],
            whole: vec![0; nodes.len()],
            sizes: vec![Vec::new(); nodes.len()],
            rank: ranks,
            models: Vec::new(),
            typical: Typical::default(),
            states: States::default(),
            state: vec![STALE; nodes.len()],
            fitting: Vec::new(),
        };
        for (place, node) in nodes.iter().enumerate() {
            if node.cpu < 0 || node.memory < 0 {
                return Err(Wrong::Amount(format!("amounts of at least 0 on node `{}`", node.name)));
            }
            if node.devices > MOST_DEVICES {
                return Err(Wrong::Devices(node.name.clone()));
            }
            let model = if node.devices == 0 || node.model.is_empty() { None } else { Some(cluster.bit(&node.model)?) };
            cluster.model.push(model);
            cluster.devices.push(u8::try_from(node.devices).unwrap_or(u8::MAX));
            cluster.left[place][..node.devices].fill(WHOLE);
            cluster.total.push(0);
            cluster.sum_up(place);
        }
        Ok(cluster)
    }

    /// Says which pods to expect; `fgd` needs it before the first choice.
    pub fn expect(&mut self, typical: Typical) {
        self.typical = typical;
        self.states = States::default();
        self.state.fill(STALE);
    }

    /// A demand in the numbers of this cluster. It is lost with [`Cluster::expect`].
    ///
    /// # Errors
    /// An amount is negative, it asks for parts of several devices, or there are too many models.
    pub fn shape(&mut self, demand: &Demand) -> Result<Shape, Wrong> {
        if demand.cpu < 0 || demand.memory < 0 {
            return Err(Wrong::Amount("amounts of at least 0 of cpu and memory".to_owned()));
        }
        let (devices, milli) = (demand.devices, if demand.devices == 0 { 0 } else { demand.milli });
        let part = devices == 1 && (1..WHOLE).contains(&milli);
        if devices > 0 && milli != WHOLE && !part {
            return Err(Wrong::Parts { milli, devices });
        }
        let mut models = None;
        for name in demand.models.iter().filter(|_| devices > 0) {
            models = Some(models.unwrap_or(0) | self.bit(name)?);
        }
        let asked = self.states.asked(Asked { cpu: demand.cpu, count: devices, milli });
        let names = if models.is_some() { demand.models.join("|") } else { String::new() };
        Ok(Shape { cpu: demand.cpu, memory: demand.memory, count: devices, milli, models, names, asked })
    }

    /// Where a pod goes, or none if it fits nowhere. `draw` gets a number and returns one below it; only [`Policy::Random`] draws.
    pub fn choose(&mut self, policy: Policy, shape: &Shape, draw: &mut dyn FnMut(usize) -> usize) -> Option<Place> {
        self.find(shape);
        let node = match policy {
            Policy::Random => {
                let count = self.fitting.len();
                let place = if count > 1 { draw(count) } else { 0 };
                self.fitting.get(place).map(|&node| usize::try_from(node).unwrap_or(usize::MAX))?
            }
            _ => self.best(policy, shape)?,
        };
        Some(Place { node, devices: self.devices(policy, shape, node, draw) })
    }

    /// Books a pod at its place.
    pub fn book(&mut self, shape: &Shape, place: Place) {
        self.change(shape, place, 1);
        if shape.count > 0 {
            let sizes = &mut self.sizes[place.node];
            match sizes.iter_mut().find(|(size, _)| *size == shape.size()) {
                Some((_, count)) => *count += 1,
                None => sizes.push((shape.size(), 1)),
            }
        }
    }

    /// Frees what a pod has booked.
    pub fn free(&mut self, shape: &Shape, place: Place) {
        self.change(shape, place, -1);
        let sizes = &mut self.sizes[place.node];
        if let Some((_, count)) = sizes.iter_mut().find(|(size, _)| *size == shape.size()) {
            *count -= 1;
        }
        sizes.retain(|&(_, count)| count > 0);
    }

    /// Thousandths of devices that are free on all nodes.
    pub fn free_gpu(&self) -> i64 {
        self.total.iter().sum()
    }

    /// Thousandths of devices that are free and useless, in the mean over the expected pods.
    pub fn fragments(&self) -> f64 {
        (0..self.cpu.len()).map(|node| self.typical.fragments(self.cpu[node], self.left(node), self.model[node])).sum()
    }

    fn left(&self, node: usize) -> &[u16] {
        &self.left[node][..usize::from(self.devices[node])]
    }

    fn bit(&mut self, model: &str) -> Result<u64, Wrong> {
        let place = self.models.iter().position(|known| known == model).unwrap_or(self.models.len());
        if place == self.models.len() {
            if place == MOST_MODELS {
                return Err(Wrong::Models(model.to_owned()));
            }
            self.models.push(model.to_owned());
        }
        Ok(1 << place)
    }

    fn change(&mut self, shape: &Shape, place: Place, sign: i64) {
        let node = place.node;
        self.cpu[node] -= sign * shape.cpu;
        self.memory[node] -= sign * shape.memory;
        for device in 0..usize::from(self.devices[node]) {
            if place.devices & (1 << device) != 0 {
                let left = &mut self.left[node][device];
                *left = if sign > 0 { left.saturating_sub(shape.milli) } else { (*left + shape.milli).min(WHOLE) };
            }
        }
        self.sum_up(node);
    }

    fn sum_up(&mut self, node: usize) {
        let left = &self.left[node][..usize::from(self.devices[node])];
        let (total, most) = (left.iter().map(|&left| i64::from(left)).sum(), left.iter().copied().max().unwrap_or(0));
        let whole = left.iter().map(|&left| u8::from(left == WHOLE)).sum();
        (self.total[node], self.most[node], self.whole[node], self.state[node]) = (total, most, whole, STALE);
    }

    /// Fills `fitting` with the nodes on which a pod fits.
    fn find(&mut self, shape: &Shape) {
        self.fitting.clear();
        let whole = if shape.is_part() { 0 } else { u8::try_from(shape.count).unwrap_or(u8::MAX) };
        let most = if shape.is_part() { shape.milli } else { 0 };
        let models = shape.models;
        for node in 0..self.cpu.len() {
            let fits = self.cpu[node] >= shape.cpu
                && self.memory[node] >= shape.memory
                && self.most[node] >= most
                && self.whole[node] >= whole
                && models.is_none_or(|wanted| self.model[node].is_some_and(|model| wanted & model != 0));
            if fits {
                self.fitting.push(u32::try_from(node).unwrap_or(u32::MAX));
            }
        }
    }

    fn best(&mut self, policy: Policy, shape: &Shape) -> Option<usize> {
        let asked = Pair { cpu: shape.cpu, gpu: shape.gpu() };
        let mut best: Option<(i64, u32, usize)> = None;
        let fitting = std::mem::take(&mut self.fitting);
        for &node in &fitting {
            let node = usize::try_from(node).unwrap_or(usize::MAX);
            let free = Pair { cpu: self.cpu[node], gpu: self.total[node] };
            let score = match policy {
                Policy::Fgd => self.fragment_score(shape, node),
                Policy::BestFit => policy::best_fit(free, asked),
                Policy::DotProduct => policy::dot_product(free, asked),
                Policy::GpuClustering if shape.count > 0 => {
                    policy::clustering(free.gpu, &self.sizes[node], shape.size())
                }
                Policy::GpuPacking if shape.count > 0 => policy::packing(self.left(node), shape.count, shape.milli),
                Policy::GpuClustering | Policy::GpuPacking | Policy::Random => 0,
            };
            let rank = self.rank[node];
            if best.is_none_or(|(known, other, _)| score > known || score == known && rank < other) {
                best = Some((score, rank, node));
            }
        }
        self.fitting = fitting;
        best.map(|(_, _, node)| node)
    }

    fn fragment_score(&mut self, shape: &Shape, node: usize) -> i64 {
        if self.state[node] == STALE {
            if self.states.forget() {
                self.state.fill(STALE);
            }
            let mut left = self.left[node];
            left[..usize::from(self.devices[node])].sort_unstable();
            let state = State { cpu: self.cpu[node], model: self.model[node], devices: self.devices[node], left };
            self.state[node] = self.states.number(state, &self.typical);
        }
        self.states.score(shape.asked, self.state[node], &self.typical)
    }

    /// Which devices of the node a pod takes.
    fn devices(&self, policy: Policy, shape: &Shape, node: usize, draw: &mut dyn FnMut(usize) -> usize) -> u16 {
        let left = self.left(node);
        if !shape.is_part() {
            let whole = left.iter().enumerate().filter(|&(_, &left)| left == WHOLE);
            return whole.take(shape.count).fold(0, |bits, (device, _)| bits | 1 << device);
        }
        let mut fitting = left.iter().enumerate().filter(|&(_, &left)| left >= shape.milli);
        let device = match policy {
            Policy::Random => {
                let mut chosen = 0;
                for (count, (device, _)) in fitting.enumerate() {
                    if draw(count + 1) == 0 {
                        chosen = device;
                    }
                }
                chosen
            }
            Policy::Fgd => {
                let asked = Asked { cpu: shape.cpu, count: 1, milli: shape.milli };
                let before = self.typical.fragments(self.cpu[node], left, self.model[node]);
                states::best(self.cpu[node], self.model[node], left, asked, before, &self.typical).1
            }
            // The fullest device that takes it.
            _ => {
                let first = fitting.next().unwrap_or((0, &0));
                fitting.fold(first, |best, next| if next.1 < best.1 { next } else { best }).0
            }
        };
        1 << device
    }
}
