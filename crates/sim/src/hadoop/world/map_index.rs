//! The places of the input of a job's waiting maps: the lists of Hadoop's `JobInProgress` (`docs/model/task-picking.md`).
//!
//! A map is in the list of every node and every rack that holds its split, in split order. Maps without places are in a
//! separate list. A launched map is passed over for good: each list has a head that only moves forward, so all look-ups
//! of a job together cost no more than the length of its lists. A map that comes back after a failure or a kill goes to
//! the *front* of its lists. Such maps are in one short list, which is searched first, the latest first.

use std::cell::Cell;

use crate::hadoop::bits::Bits;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::system::System;
use crate::hadoop::workload::Workload;
use crate::ids::{NodeId, RackId, TaskId};
use resched_tables::model::Locality;

/// How far from its input a policy lets a map run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Only on a node that holds its split.
    Node,
    /// Also in the rack of such a node.
    Rack,
    /// Anywhere.
    Any,
    /// Anywhere, without a look at the node's and the rack's own lists.
    OffRack,
}

/// A map that was found for a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) task: TaskId,
    /// How near to its input it would run, if the list where it stood says so.
    pub(crate) level: Option<Locality>,
}

/// A map that waits again.
#[derive(Debug, Clone)]
struct Returned {
    task: TaskId,
    failed_on: Vec<NodeId>,
}

impl Returned {
    fn has_failed(&self) -> bool {
        !self.failed_on.is_empty()
    }

    /// Not on a node where it failed, unless it failed on all of them.
    fn may_run_on(&self, node: NodeId, nodes: usize) -> bool {
        !self.failed_on.contains(&node) || self.failed_on.len() >= nodes
    }
}

/// The waiting maps of one job.
#[derive(Debug)]
pub(crate) struct MapIndex {
    /// The first map of the job.
    begin: u32,
    /// The maps that were ever launched, by number.
    launched: Bits,
    nodes: Lists,
    racks: Lists,
    unplaced: Lists,
    returned: Vec<Returned>,
    /// Maps that failed and run again: they must remember where.
    failures: Vec<Returned>,
    waiting_unplaced: u32,
    /// Maps that failed are asked for by themselves (YARN).
    failed_apart: bool,
}

impl MapIndex {
    /// Lists the maps of a job.
    pub(crate) fn build(workload: &Workload, cluster: &Cluster, maps: std::ops::Range<u32>) -> Self {
        let (begin, launched) = (maps.start, Bits::below(maps.len()));
        // Mostly, a split has three replicas in two racks.
        let (mut nodes, mut racks) = (Vec::with_capacity(3 * maps.len()), Vec::with_capacity(2 * maps.len()));
        let mut unplaced = Vec::new();
        for task in maps.map(TaskId) {
            let replicas = workload.replicas(task);
            if replicas.is_empty() {
                unplaced.push((0, task));
            }
            let first_in_rack = racks.len();
            for &node in replicas {
                nodes.push((node.0, task));
                let rack = cluster.node(node).rack.0;
                if racks[first_in_rack..].iter().all(|&(known, _)| known != rack) {
                    racks.push((rack, task));
                }
            }
        }
        let waiting_unplaced = unplaced.len() as u32;
        Self {
            begin,
            launched,
            nodes: Lists::new(nodes, cluster.nodes().len()),
            racks: Lists::new(racks, cluster.racks().len()),
            unplaced: Lists::new(unplaced, 1),
            returned: Vec::new(),
            failures: Vec::new(),
            waiting_unplaced,
            failed_apart: cluster.system() == System::Containers,
        }
    }

    /// True if a map without any known place of input waits.
    pub(crate) fn has_unplaced(&self) -> bool {
        self.waiting_unplaced > 0
    }

    /// The map that this node should run, no farther than `reach`; `everywhere` is how many nodes there are.
    pub(crate) fn find(
        &self,
        workload: &Workload,
        cluster: &Cluster,
        (node, everywhere): (NodeId, usize),
        reach: Reach,
    ) -> Option<Found> {
        let look = Look { index: self, workload, cluster, node, everywhere };
        let rack = cluster.node(node).rack;
        let here = || look.on_node().map(|task| Found { task, level: Some(Locality::Node) });
        let elsewhere = |task| Found { task, level: None };
        let in_rack = || if reach >= Reach::Rack { look.in_rack(rack).map(elsewhere) } else { None };
        let near = || here().or_else(in_rack);
        let far = || look.off_rack(rack).or_else(|| look.unplaced()).map(elsewhere);
        match reach {
            Reach::Node | Reach::Rack => near(),
            Reach::Any => near().or_else(far),
            Reach::OffRack => far(),
        }
    }

    /// Of the maps that failed the one that has waited longest and may run on this node.
    pub(crate) fn find_failed(&self, (node, everywhere): (NodeId, usize)) -> Option<TaskId> {
        let failed = self.returned.iter().filter(|returned| returned.has_failed());
        failed.into_iter().find(|returned| returned.may_run_on(node, everywhere)).map(|returned| returned.task)
    }

    /// How many maps that failed wait.
    pub(crate) fn failed_waiting(&self) -> u32 {
        self.returned.iter().filter(|returned| returned.has_failed()).count() as u32
    }

    /// Takes a map out that is launched now.
    pub(crate) fn launched(&mut self, task: TaskId, placed: bool) {
        self.launched.insert(task.0 - self.begin);
        if !placed {
            self.waiting_unplaced -= 1;
        }
        if let Some(place) = self.returned.iter().position(|returned| returned.task == task) {
            let returned = self.returned.remove(place);
            if !returned.failed_on.is_empty() {
                self.failures.push(returned);
            }
        }
    }

    /// A map that was launched for the first time has not been, after all.
    pub(crate) fn not_launched(&mut self, workload: &Workload, cluster: &Cluster, task: TaskId) {
        self.launched.remove(task.0 - self.begin);
        let replicas = workload.replicas(task);
        if replicas.is_empty() {
            self.waiting_unplaced += 1;
            self.unplaced.look_again(0, task);
        }
        for &node in replicas {
            self.nodes.look_again(node.0, task);
            self.racks.look_again(cluster.node(node).rack.0, task);
        }
    }

    /// A map failed on a node, and should not run there again. Under YARN it may wait already: its master learned of the end of
    /// another attempt first.
    pub(crate) fn failed(&mut self, task: TaskId, node: NodeId) {
        let mut known = self.returned.iter_mut().chain(&mut self.failures);
        match known.find(|failure| failure.task == task) {
            Some(failure) if failure.failed_on.contains(&node) => {}
            Some(failure) => failure.failed_on.push(node),
            None => self.failures.push(Returned { task, failed_on: vec![node] }),
        }
    }

    /// Puts a map back to the front.
    pub(crate) fn returned(&mut self, task: TaskId, placed: bool) {
        if !placed {
            self.waiting_unplaced += 1;
        }
        let known = self.failures.iter().position(|failure| failure.task == task);
        self.returned
            .push(known.map_or(Returned { task, failed_on: Vec::new() }, |place| self.failures.swap_remove(place)));
    }
}

/// The level at which a map would run on a node.
pub(crate) fn level(workload: &Workload, cluster: &Cluster, task: TaskId, node: NodeId) -> Locality {
    let rack = cluster.node(node).rack;
    let replicas = workload.replicas(task);
    if replicas.contains(&node) {
        Locality::Node
    } else if replicas.iter().any(|&replica| cluster.node(replica).rack == rack) {
        Locality::Rack
    } else {
        Locality::Off
    }
}

/// One look through the lists for one node.
struct Look<'a> {
    index: &'a MapIndex,
    workload: &'a Workload,
    cluster: &'a Cluster,
    node: NodeId,
    everywhere: usize,
}

impl Look<'_> {
    fn launched(&self, task: TaskId) -> bool {
        self.index.launched.contains(task.0 - self.index.begin)
    }

    fn on_node(&self) -> Option<TaskId> {
        self.returned(|replicas| replicas.contains(&self.node))
            .or_else(|| self.index.nodes.first(self.node.0, |task| self.launched(task)))
    }

    fn in_rack(&self, rack: RackId) -> Option<TaskId> {
        self.returned(|replicas| replicas.iter().any(|&replica| self.cluster.node(replica).rack == rack))
            .or_else(|| self.index.racks.first(rack.0, |task| self.launched(task)))
    }

    fn off_rack(&self, rack_id: RackId) -> Option<TaskId> {
        if self.index.returned.is_empty() {
            return self.index.racks.first_but(rack_id.0, |task| self.launched(task));
        }
        (0..self.cluster.racks().len() as u32)
            .map(RackId)
            .filter(|&rack| rack != rack_id)
            .find_map(|rack| self.in_rack(rack))
    }

    fn unplaced(&self) -> Option<TaskId> {
        self.returned(<[NodeId]>::is_empty).or_else(|| self.index.unplaced.first(0, |task| self.launched(task)))
    }

    /// The map that came back last among those whose replicas fit; not one that failed here, unless it failed everywhere.
    fn returned(&self, fits: impl Fn(&[NodeId]) -> bool) -> Option<TaskId> {
        self.index
            .returned
            .iter()
            .rev()
            .filter(|returned| !(self.index.failed_apart && returned.has_failed()))
            .find(|returned| {
                fits(self.workload.replicas(returned.task)) && returned.may_run_on(self.node, self.everywhere)
            })
            .map(|returned| returned.task)
    }
}

/// Lists of maps by place, one after the other in one array.
#[derive(Debug)]
struct Lists {
    /// The place of each list; empty if every place has one.
    places: Vec<u32>,
    starts: Vec<u32>,
    heads: Vec<Cell<u32>>,
    maps: Vec<TaskId>,
    /// The first list that may still hold a waiting map.
    first: Cell<u32>,
}

impl Lists {
    /// Lists what lies at each of so many places; the maps come in ascending order.
    fn new(entries: Vec<(u32, TaskId)>, places: usize) -> Self {
        if entries.len() < places / 4 { Self::of_some(entries) } else { Self::of_all(&entries, places) }
    }

    /// A list for every place.
    fn of_all(entries: &[(u32, TaskId)], places: usize) -> Self {
        let mut starts = vec![0; places + 1];
        for &(place, _) in entries {
            starts[place as usize + 1] += 1;
        }
        for place in 0..places {
            starts[place + 1] += starts[place];
        }
        let mut heads = starts[..places].to_vec();
        let mut maps = vec![TaskId(0); entries.len()];
        for &(place, task) in entries {
            let end = &mut heads[place as usize];
            maps[*end as usize] = task;
            *end += 1;
        }
        let heads = starts[..places].iter().copied().map(Cell::new).collect();
        Self { places: Vec::new(), starts, heads, maps, first: Cell::new(0) }
    }

    /// A list for each place at which something lies.
    fn of_some(mut entries: Vec<(u32, TaskId)>) -> Self {
        entries.sort_unstable();
        let (mut places, mut starts) = (Vec::new(), Vec::new());
        for (position, &(place, _)) in entries.iter().enumerate() {
            if places.last() != Some(&place) {
                places.push(place);
                starts.push(position as u32);
            }
        }
        let heads = starts.iter().copied().map(Cell::new).collect();
        starts.push(entries.len() as u32);
        Self { places, starts, heads, maps: entries.into_iter().map(|(_, task)| task).collect(), first: Cell::new(0) }
    }

    /// The list of a place, if it has one.
    fn list(&self, place: u32) -> Option<usize> {
        if self.places.is_empty() {
            Some(place as usize).filter(|&list| list < self.heads.len())
        } else {
            self.places.binary_search(&place).ok()
        }
    }

    /// The first map at a place that was never launched.
    fn first(&self, place: u32, launched: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        self.head(self.list(place)?, &launched)
    }

    /// The first such map at the first other place that has one.
    fn first_but(&self, place: u32, launched: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let of_place = self.list(place);
        let mut all_before_empty = true;
        for list in self.first.get() as usize..self.heads.len() {
            if Some(list) == of_place {
                all_before_empty = false;
                continue;
            }
            if let Some(task) = self.head(list, &launched) {
                return Some(task);
            }
            if all_before_empty {
                self.first.set(list as u32 + 1);
            }
        }
        None
    }

    /// A map at a place waits again as if it had never been launched.
    fn look_again(&mut self, place: u32, task: TaskId) {
        let Some(list) = self.list(place) else { return };
        let (start, end) = (self.starts[list], self.starts[list + 1]);
        let maps = &self.maps[start as usize..end as usize];
        if let Ok(at) = maps.binary_search(&task) {
            let head = self.heads[list].get_mut();
            *head = (*head).min(start + at as u32);
            let first = self.first.get_mut();
            *first = (*first).min(list as u32);
        }
    }

    #[inline]
    fn head(&self, list: usize, launched: &impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let end = self.starts[list + 1];
        let mut head = self.heads[list].get();
        while head < end && launched(self.maps[head as usize]) {
            head += 1;
        }
        self.heads[list].set(head);
        (head < end).then(|| self.maps[head as usize])
    }
}
