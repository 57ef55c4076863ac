//! The cost model `contention`: what runs beside a task decides its speed.
//!
//! **What it does.** A node has cores, a disk and a network of limited rates. A piece of work is a map, the fetching of
//! a reduce, or its sorting and reducing. Alone on its node, it takes as long as in the model `logged` and uses each
//! resource at a fixed rate. If attempts want more of a resource than it has, all get fair parts ([`sharing`]). A piece
//! of work proceeds at the pace that its scarcest resource allows. A map without local input reads it through the
//! network, from the disk of a node that holds it. A reduce fetches from the disks of the nodes on which maps left
//! output for it, in proportion. Once it has fetched everything, it fetches the output of each further map from that
//! map's node.
//!
//! **What costs time.** A change affects only the nodes that the piece of work uses. Only their resources are divided
//! anew, and only work whose pace changes gets a new end. Ends that no longer hold stay in the heap as stale entries.
//!
//! **More terms**, which are off by default:
//! - `stream`: alone, a task reads and writes so fast at most. So the disk explains more of its time, and less is processor time.
//! - `seek`: a disk seeks when the next request is another task's, which it is with the probability 1 − Σ p², where p are the shares
//!   of the tasks in what they want of the disk. For k equal tasks, that is 1 − 1/k. So the disk moves 1/(1 + seek × (1 − Σ p²)) of
//!   what it moves for one.
//! - `fetch_cores`: a reduce that fetches uses so much of a core.
//!
//! **Decisions.** The part of a map's or reduce's time that the disk does not explain is processor time: alone, a task
//! computes and reads in turn. Sorting and reducing reads the fetched bytes and writes as many, or as `reduce_disk` says. A lost node serves no
//! new readers, but current readers go on. No task wants more of a resource than a node has. A failing attempt of a
//! reduce uses nothing.

mod meter;
mod sharing;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_tables::run::RunBound;

use crate::bottlenecks::thousandths;
use crate::cluster_file::Contention;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::cost::whole;
use crate::ids::{AttemptId, Ms, NodeId};
use meter::Meter;

/// The things of a node that tasks share: cores, disk, network in, network out.
pub(crate) const SHARED: usize = 4;
pub(crate) const CPU: usize = 0;
pub(crate) const DISK: usize = 1;
pub(crate) const NET_IN: usize = 2;
pub(crate) const NET_OUT: usize = 3;

const NEVER: Ms = Ms::MAX;

/// What a piece of work uses of a node while it runs at full speed: cores, and bytes per ms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    pub(crate) node: NodeId,
    pub(crate) rates: [f64; SHARED],
}

/// The stage of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is being launched.
    Launch,
    /// A map maps.
    Map,
    /// A reduce fetches what maps have made, or waits for more.
    Fetch,
    /// A reduce sorts and reduces.
    Compute,
}

/// How to set the uses of an attempt whose work has grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replan {
    /// What it uses; its work has not grown much.
    Keep,
    /// It had nothing left to do: what the new work needs.
    Resume,
    /// What all that is left needs: that is more than twice what it was when its uses were set.
    All,
}

/// The work of an attempt.
#[derive(Debug, Clone)]
struct Flow {
    stage: Stage,
    /// When its present stage, or its launch, began.
    since: Ms,
    /// What it uses at full speed; empty while it waits.
    uses: Vec<Use>,
    /// From 0 to 1, as a share of full speed.
    speed: f64,
    /// The work left of its stage at `settled`, ms at full speed.
    left: f64,
    /// The whole of that work.
    total: f64,
    /// The work that was left when `uses` was set.
    planned: f64,
    settled: Ms,
    /// When it ends at this speed.
    due: Ms,
    /// The thing that limits its speed; `None` at full speed.
    limit: Option<usize>,
    /// Up to when its time is counted for that thing.
    counted: Ms,
}

/// The average use of a node by its tasks over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Share of the cores that worked; 0 if these are unlimited.
    pub(crate) cpu: f64,
    /// Share of the cores that stood idle while a task waited for the disk.
    pub(crate) io_wait: f64,
    /// Bytes per second: disk, network in, network out.
    pub(crate) bytes: [f64; 3],
}

/// All work that is being done.
#[derive(Debug)]
pub(crate) struct Workbench {
    /// Of every node: cores, and bytes per ms.
    capacity: [f64; SHARED],
    /// What one task alone reads and writes, bytes per ms.
    stream: f64,
    /// The time of a seek, in units of the time that a request takes without.
    seek: f64,
    /// By attempt.
    flows: Vec<Option<Flow>>,
    /// By node: who uses it, and the place of that use among its uses.
    users: Vec<Vec<(AttemptId, u32)>>,
    /// By node: how much of each thing anyone may use.
    levels: Vec<[f64; SHARED]>,
    meters: Vec<Meter>,
    touched: Vec<NodeId>,
    is_touched: Vec<bool>,
    heap: BinaryHeap<Reverse<(Ms, AttemptId)>>,
    wanted: Vec<f64>,
    /// The time of all tasks that use what they share, ms.
    worked: u64,
    /// Of it, the time in which each thing limited a task, ms.
    limited: [u64; SHARED],
    /// The most that tasks of a node have wanted of each thing at once, as a share of it.
    most: [f64; SHARED],
}

impl Workbench {
    pub(crate) fn new(config: &Contention, cluster: &Cluster) -> Self {
        let nodes = cluster.nodes().len();
        let per_ms = |rate: Option<f64>| rate.map_or(f64::INFINITY, |rate| rate / 1000.0);
        let (disk, network) = (per_ms(config.disk), per_ms(config.network));
        Self {
            capacity: [config.cores.unwrap_or(f64::INFINITY), disk, network, network],
            stream: per_ms(config.stream).min(disk),
            seek: config.seek,
            flows: Vec::new(),
            users: vec![Vec::new(); nodes],
            levels: vec![[f64::INFINITY; SHARED]; nodes],
            meters: vec![Meter::default(); nodes],
            touched: Vec::new(),
            is_touched: vec![false; nodes],
            heap: BinaryHeap::new(),
            wanted: Vec::new(),
            worked: 0,
            limited: [0; SHARED],
            most: [0.0; SHARED],
        }
    }

    /// How long a task alone waits for the disk for so many bytes, ms.
    pub(crate) fn disk_time(&self, bytes: f64) -> f64 {
        bytes / self.stream
    }

    /// An attempt starts at this instant.
    pub(crate) fn launch(&mut self, id: AttemptId, start: Ms) {
        self.flows.resize(self.flows.len().max(id.index() + 1), None);
        self.flows[id.index()] = Some(Flow {
            stage: Stage::Launch,
            since: start,
            uses: Vec::new(),
            speed: 0.0,
            left: 0.0,
            total: 0.0,
            planned: 0.0,
            settled: start,
            due: start,
            limit: None,
            counted: start,
        });
        self.heap.push(Reverse((start, id)));
    }

    /// An attempt begins a stage of so much work, ms at full speed.
    pub(crate) fn begin(&mut self, id: AttemptId, stage: Stage, work: f64, now: Ms) {
        self.leave(id, now);
        if let Some(flow) = &mut self.flows[id.index()] {
            (flow.stage, flow.since, flow.settled) = (stage, now, now);
            (flow.left, flow.total, flow.speed, flow.due) = (work, work, 0.0, NEVER);
        }
    }

    /// An attempt has so much more to do, ms at full speed. Returns whether what it uses should be set anew.
    pub(crate) fn add(&mut self, id: AttemptId, work: f64, now: Ms) -> Replan {
        self.settle(id, now);
        let Some(flow) = &mut self.flows[id.index()] else { return Replan::Keep };
        flow.left += work;
        flow.total += work;
        if flow.speed > 0.0 {
            flow.due = now + whole(flow.left / flow.speed);
            self.heap.push(Reverse((flow.due, id)));
        }
        match flow {
            flow if flow.uses.is_empty() => Replan::Resume,
            flow if flow.left > 2.0 * flow.planned => Replan::All,
            _ => Replan::Keep,
        }
    }

    /// From now on an attempt uses this at full speed.
    pub(crate) fn set_uses(&mut self, id: AttemptId, uses: impl Iterator<Item = Use>, now: Ms) {
        self.leave(id, now);
        let capacity = self.capacity;
        let Some(flow) = &mut self.flows[id.index()] else { return };
        let within = |used: Use| {
            let mut rates = used.rates;
            rates.iter_mut().zip(capacity).for_each(|(rate, most)| *rate = rate.min(most));
            Use { rates, ..used }
        };
        flow.planned = flow.left;
        (flow.limit, flow.counted) = (None, now);
        flow.uses.extend(uses.map(within));
        let uses = std::mem::take(&mut flow.uses);
        for (place, used) in uses.iter().enumerate() {
            self.users[used.node.index()].push((id, place as u32));
            self.touch(used.node);
        }
        if let Some(flow) = &mut self.flows[id.index()] {
            flow.uses = uses;
        }
    }

    /// An attempt uses nothing until its uses are set again.
    pub(crate) fn leave(&mut self, id: AttemptId, now: Ms) {
        self.settle(id, now);
        self.count(id, now);
        let Some(flow) = self.flows.get_mut(id.index()).and_then(Option::as_mut) else { return };
        let (uses, speed) = (std::mem::take(&mut flow.uses), flow.speed);
        (flow.speed, flow.due) = (0.0, NEVER);
        for used in &uses {
            let (users, meter) = (&mut self.users[used.node.index()], &mut self.meters[used.node.index()]);
            users.retain(|&(user, _)| user != id);
            meter.change(now, self.capacity[CPU], used.rates.iter().map(|rate| -rate * speed));
            if users.is_empty() {
                meter.rest(now, self.capacity[CPU]);
            }
            self.touch(used.node);
        }
        if let Some(flow) = &mut self.flows[id.index()] {
            // Its room is kept for the next stage.
            flow.uses = uses;
            flow.uses.clear();
        }
    }

    /// An attempt is over.
    pub(crate) fn end(&mut self, id: AttemptId, now: Ms) {
        self.leave(id, now);
        if let Some(flow) = self.flows.get_mut(id.index()) {
            *flow = None;
        }
    }

    /// The stage of an attempt; `None` if it is over, or does not follow this model.
    pub(crate) fn stage(&self, id: AttemptId) -> Option<Stage> {
        Some(self.flows.get(id.index())?.as_ref()?.stage)
    }

    /// When an attempt's stage began and which share of it was done at an instant that is past: between two changes of its pace it is
    /// taken to have gone on evenly.
    pub(crate) fn progress(&self, id: AttemptId, at: Ms) -> Option<(Stage, f64)> {
        let flow = self.flows.get(id.index())?.as_ref()?;
        let done = |left: f64| if flow.total > 0.0 { 1.0 - left / flow.total } else { 1.0 };
        let share = if at >= flow.settled {
            done((flow.left - flow.speed * (at - flow.settled) as f64).max(0.0))
        } else {
            let time = (flow.settled - flow.since).max(1) as f64;
            done(flow.left) * (at - flow.since).max(0) as f64 / time
        };
        Some((flow.stage, share))
    }

    /// The next instant at which a stage ends, and whose.
    pub(crate) fn next(&mut self) -> Option<(Ms, AttemptId)> {
        while let Some(&Reverse((at, id))) = self.heap.peek() {
            if self.flows[id.index()].as_ref().is_some_and(|flow| flow.due == at) {
                return Some((at, id));
            }
            self.heap.pop();
        }
        None
    }

    /// Takes note that the stage that [`Workbench::next`] named has ended.
    pub(crate) fn finish_stage(&mut self, id: AttemptId, now: Ms) {
        self.heap.pop();
        self.leave(id, now);
        if let Some(flow) = &mut self.flows[id.index()] {
            flow.left = 0.0;
        }
    }

    /// Divides anew what the touched nodes have, and sets the pace of all work there.
    pub(crate) fn retune(&mut self, now: Ms) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        for &node in &touched {
            self.is_touched[node.index()] = false;
            self.divide(node, now);
        }
        for &node in &touched {
            for place in 0..self.users[node.index()].len() {
                let (id, _) = self.users[node.index()][place];
                self.set_pace(id, now);
            }
        }
        touched.clear();
        self.touched = touched;
    }

    fn divide(&mut self, node: NodeId, now: Ms) {
        for thing in 0..SHARED {
            self.wanted.clear();
            for &(id, place) in &self.users[node.index()] {
                let rate = self.flows[id.index()].as_ref().map_or(0.0, |flow| flow.uses[place as usize].rates[thing]);
                self.wanted.extend(Some(rate).filter(|&rate| rate > 0.0));
            }
            let capacity = match thing {
                DISK => self.capacity[DISK] * sharing::left_by_seeks(&self.wanted, self.seek),
                _ => self.capacity[thing],
            };
            // An empty sum is −0.
            let all = self.wanted.iter().sum::<f64>().max(0.0);
            self.most[thing] = self.most[thing].max(all / capacity);
            self.levels[node.index()][thing] = sharing::level(&mut self.wanted, capacity);
        }
        let is_full = self.levels[node.index()][DISK].is_finite();
        self.meters[node.index()].set_disk(now, self.capacity[CPU], is_full);
    }

    fn set_pace(&mut self, id: AttemptId, now: Ms) {
        let Some(flow) = &self.flows[id.index()] else { return };
        let things = flow.uses.iter().flat_map(|used| used.rates.into_iter().zip(self.levels[used.node.index()]));
        let limits = things.enumerate().filter(|&(_, (rate, level))| rate > level);
        let limits = limits.map(|(place, (rate, level))| (level / rate, Some(place % SHARED)));
        let (speed, limit) = limits.fold((1.0, None), |least, next| if next.0 < least.0 { next } else { least });
        if limit != flow.limit {
            self.count(id, now);
            if let Some(flow) = &mut self.flows[id.index()] {
                flow.limit = limit;
            }
        }
        let Some(flow) = &self.flows[id.index()] else { return };
        if speed == flow.speed {
            return;
        }
        self.settle(id, now);
        let Some(flow) = &mut self.flows[id.index()] else { return };
        let by = speed - flow.speed;
        flow.speed = speed;
        flow.due = now + whole(flow.left / speed);
        self.heap.push(Reverse((flow.due, id)));
        for used in &flow.uses {
            let change = used.rates.iter().map(|rate| rate * by);
            self.meters[used.node.index()].change(now, self.capacity[CPU], change);
        }
    }

    /// Counts what an attempt has done up to now.
    fn settle(&mut self, id: AttemptId, now: Ms) {
        if let Some(flow) = self.flows.get_mut(id.index()).and_then(Option::as_mut)
            && now > flow.settled
        {
            flow.left = (flow.left - flow.speed * (now - flow.settled) as f64).max(0.0);
            flow.settled = now;
        }
    }

    /// Counts the time of an attempt up to now for the thing that has limited it.
    fn count(&mut self, id: AttemptId, now: Ms) {
        let Some(flow) = self.flows.get_mut(id.index()).and_then(Option::as_mut) else { return };
        let passed = (now - flow.counted).max(0).unsigned_abs();
        flow.counted = now;
        if flow.uses.is_empty() {
            return;
        }
        self.worked += passed;
        if let Some(limited) = flow.limit.and_then(|thing| self.limited.get_mut(thing)) {
            *limited += passed;
        }
    }

    /// For how long each thing that is limited was the bottleneck of tasks.
    pub(crate) fn bottlenecks(&self) -> impl Iterator<Item = (String, RunBound)> + use<'_> {
        let bound = |things: &[usize]| RunBound {
            of_ms: self.worked,
            bound_ms: things.iter().map(|&thing| self.limited[thing]).sum(),
            most: Some(things.iter().map(|&thing| thousandths(self.most[thing], 1.0)).max().unwrap_or(0)),
        };
        let named: [(&str, &[usize]); 3] = [("cores", &[CPU]), ("disk", &[DISK]), ("network", &[NET_IN, NET_OUT])];
        let limited =
            named.into_iter().filter(|(_, things)| things.iter().all(|&thing| self.capacity[thing].is_finite()));
        limited.map(move |(name, things)| (name.to_owned(), bound(things)))
    }

    fn touch(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_touched[node.index()], true) {
            self.touched.push(node);
        }
    }

    /// The use of a node by its tasks in the last `time` ms.
    pub(crate) fn sample(&mut self, node: NodeId, now: Ms, time: Ms) -> Sample {
        let ([cpu, disk, net_in, net_out], waited) = self.meters[node.index()].sample(now, self.capacity[CPU]);
        let time = time.max(1) as f64;
        let share = |core_ms: f64| core_ms / time / self.capacity[CPU];
        Sample {
            cpu: share(cpu),
            io_wait: share(waited),
            bytes: [disk, net_in, net_out].map(|bytes| bytes / time * 1000.0),
        }
    }
}
