//! The machine: what callers tell it and ask it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::error::Error;
use super::fair::Shares;
use super::fit;
use super::links::Links;
use super::model::{FlavorId, Model, QueueId, ResourceId};
use super::queue::{Part, QueueState, SetShape, Shape, Store};
use super::quota::{LARGEST, Quotas};
use super::state::{Cache, Memory, State, Workload};
use super::workload::{Assigned, PendingReason, Place, PodSet, Submission, WorkloadId};

/// A cohort tree, or a queue without cohort.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: usize,
    /// Grows with each change to what is admitted.
    pub(crate) version: u64,
    /// True if the next cycle would change nothing here.
    pub(crate) quiet: bool,
    /// The sum over the entries of its last cycle.
    pub(crate) outcome: u64,
    wake: Option<i64>,
}

/// What makes two workloads of a queue equivalent.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ShapeKey {
    queue: u32,
    priority: i64,
    namespace_matches: bool,
    pod_sets: Vec<PodSet>,
}

/// Kueue: queues, quotas and what is admitted. See the [module](super) for who calls what when.
#[derive(Debug)]
pub struct Kueue {
    pub(crate) model: Model,
    pub(crate) links: Arc<Links>,
    pub(crate) store: Store,
    pub(crate) quotas: Quotas,
    pub(crate) shares: Arc<Shares>,
    pub(crate) trees: Vec<Tree>,
    tree_of_queue: Vec<u32>,
    /// The trees that are not quiet.
    pub(crate) restless: Vec<u32>,
    wakes: BTreeSet<(i64, u32)>,
    shape_of: HashMap<ShapeKey, u32>,
    pub(crate) cycles: u64,
    /// Evictions of this instant, by victim and preemptor.
    pub(crate) evictions: BTreeMap<(u32, u32), u32>,
    pub(crate) evictions_at: i64,
}

impl Kueue {
    /// A machine in which nothing is submitted.
    ///
    /// # Errors
    ///
    /// If the quotas cannot be counted: too large, too many, or in a circle.
    pub fn new(model: Model) -> Result<Self, Error> {
        let quotas = Quotas::new(&model)?;
        let shares = Shares::new(&model, &quotas);
        let links = Links::new(&model, &quotas);
        let queues = model.queues.iter().map(|queue| QueueState::new(queue.strict)).collect();
        let mut trees: Vec<Tree> = Vec::new();
        let mut tree_of_queue = vec![0; model.queues.len()];
        for root in (0..links.trees.len()).filter(|&root| !links.trees[root].is_empty()) {
            for &queue in &links.trees[root] {
                tree_of_queue[queue as usize] = trees.len() as u32;
            }
            trees.push(Tree { root, version: 1, quiet: true, outcome: 0, wake: None });
        }
        Ok(Self {
            model,
            links: Arc::new(links),
            store: Store { queues, ..Store::default() },
            quotas,
            shares: Arc::new(shares),
            trees,
            tree_of_queue,
            restless: Vec::new(),
            wakes: BTreeSet::new(),
            shape_of: HashMap::new(),
            cycles: 0,
            evictions: BTreeMap::new(),
            evictions_at: i64::MIN,
        })
    }

    /// A workload is created. It waits in its queue until the next [`Self::settle`].
    ///
    /// # Errors
    ///
    /// If a pod set asks for more than can be counted.
    pub fn submit(&mut self, submission: Submission) -> Result<WorkloadId, Error> {
        let Submission { queue: QueueId(queue), priority, created, uid, namespace_matches, pod_sets } = submission;
        let shape = self.shape(ShapeKey { queue, priority, namespace_matches, pod_sets })?;
        let id = self.store.workloads.len() as u32;
        self.store.workloads.push(Workload {
            shape,
            queue,
            priority,
            created: created.div_euclid(1_000),
            uid,
            state: State::Pending,
            reason: None,
            memory: Memory::default(),
            cache: Cache::default(),
            admitted: 0,
            usage: Vec::new(),
            assigned: Vec::new(),
            slot: 0,
        });
        self.store.enter(id);
        self.touch(queue);
        Ok(WorkloadId(id))
    }

    fn shape(&mut self, key: ShapeKey) -> Result<u32, Error> {
        if let Some(&shape) = self.shape_of.get(&key) {
            return Ok(shape);
        }
        let sets = key.pod_sets.iter().map(|set| set_shape(&self.model, key.queue, set)).collect::<Result<_, _>>()?;
        let shape = self.store.shapes.len() as u32;
        self.store.shapes.push(Shape::new(key.queue, key.priority, key.namespace_matches, sets));
        self.shape_of.insert(key, shape);
        Ok(shape)
    }

    /// An admitted workload finished at `now`, milliseconds; one that is being evicted may finish, too.
    ///
    /// # Errors
    ///
    /// If the workload holds no quota.
    pub fn ended(&mut self, now: i64, id: WorkloadId) -> Result<(), Error> {
        self.expect(id, "ended", "admitted", &[State::Admitted, State::Evicted])?;
        self.release(id.0);
        self.store.workloads[id.0 as usize].state = State::Done;
        self.freed(now, id.0);
        Ok(())
    }

    /// The pods of an evicted workload are gone at `now`, milliseconds: it frees its quota and queues again.
    ///
    /// # Errors
    ///
    /// If the workload is not evicted.
    pub fn gone(&mut self, now: i64, id: WorkloadId) -> Result<(), Error> {
        self.expect(id, "gone", "evicted", &[State::Evicted])?;
        self.release(id.0);
        self.store.enter(id.0);
        self.freed(now, id.0);
        Ok(())
    }

    /// A pending workload is deleted at `now`, milliseconds.
    ///
    /// # Errors
    ///
    /// If the workload is not pending.
    pub fn withdrawn(&mut self, now: i64, id: WorkloadId) -> Result<(), Error> {
        self.expect(id, "withdrawn", "pending", &[State::Pending, State::Mismatched])?;
        self.store.leave(id.0);
        self.store.workloads[id.0 as usize].state = State::Done;
        self.freed(now, id.0);
        Ok(())
    }

    fn expect(
        &self,
        id: WorkloadId,
        deed: &'static str,
        expected: &'static str,
        states: &[State],
    ) -> Result<(), Error> {
        let state = self.store.workloads.get(id.0 as usize).map(|workload| workload.state);
        if state.is_some_and(|state| states.contains(&state)) {
            return Ok(());
        }
        Err(Error::State { workload: id.0, deed, expected, state: state.map_or("unknown", State::name) })
    }

    /// Takes an admitted workload off the quotas.
    fn release(&mut self, id: u32) {
        let workload = &mut self.store.workloads[id as usize];
        let usage = std::mem::take(&mut workload.usage);
        workload.assigned.clear();
        workload.memory = Memory::default();
        let (queue, slot, priority) = (workload.queue, workload.slot, workload.priority);
        self.quotas.remove(queue as usize, &usage);
        if let Some(moved) = self.store.queues[queue as usize].release(slot, priority) {
            self.store.workloads[moved as usize].slot = slot;
        }
        self.trees[self.tree_of_queue[queue as usize] as usize].version += 1;
    }

    /// The first call sets the time of the wake-up.
    fn freed(&mut self, now: i64, id: u32) {
        let queue = self.store.workloads[id as usize].queue;
        self.touch(queue);
        let at = self.tree_of_queue[queue as usize];
        let tree = &mut self.trees[at as usize];
        if tree.wake.is_none() {
            let due = now.saturating_add(self.model.settings.requeue_ms);
            tree.wake = Some(due);
            self.wakes.insert((due, at));
        }
    }

    /// Has the next cycle look at the tree of a queue.
    fn touch(&mut self, queue: u32) {
        let at = self.tree_of_queue[queue as usize];
        let tree = &mut self.trees[at as usize];
        if tree.quiet {
            tree.quiet = false;
            self.restless.push(at);
        }
    }

    /// When the next wake-up is due, milliseconds.
    pub fn next_wake(&self) -> Option<i64> {
        self.wakes.first().map(|&(due, _)| due)
    }

    /// Wakes the parked workloads of the trees whose time has come.
    pub fn wake(&mut self, now: i64) {
        while let Some((_, at)) = self.wakes.pop_first_if_due(now) {
            self.trees[at as usize].wake = None;
            let root = self.trees[at as usize].root;
            for at in 0..self.links.trees[root].len() {
                let queue = self.links.trees[root][at];
                self.store.wake(queue);
                self.touch(queue);
            }
        }
    }

    /// What an admitted workload was given; empty for others.
    pub fn assigned(&self, id: WorkloadId) -> &[Assigned] {
        self.store.workloads.get(id.0 as usize).map_or(&[], |workload| &workload.assigned)
    }

    /// Where a pending workload stands, and why it was not admitted when it was last looked at; `None` if it is not pending.
    pub fn standing(&self, id: WorkloadId) -> Option<(Place, Option<PendingReason>)> {
        (id.0 as usize).lt(&self.store.workloads.len()).then(|| self.store.standing(id.0)).flatten()
    }

    /// The queue of a workload.
    pub fn queue_of(&self, id: WorkloadId) -> Option<QueueId> {
        self.store.workloads.get(id.0 as usize).map(|workload| QueueId(workload.queue))
    }

    /// How many workloads are queued and parked at a queue.
    pub fn pending(&self, queue: QueueId) -> (usize, usize) {
        self.store.queues.get(queue.0 as usize).map_or((0, 0), |queue| (queue.queued, queue.parked + queue.refused))
    }

    /// What the admitted workloads of a queue hold, those that are being evicted included.
    pub fn usage(&self, queue: QueueId, flavor: FlavorId, resource: ResourceId) -> i64 {
        let known =
            (flavor.0 as usize) < self.model.flavors.len() && (resource.0 as usize) < self.model.resources.len();
        let cell = if known { self.quotas.cell(flavor, resource) } else { super::quota::NONE };
        if cell == super::quota::NONE || queue.0 as usize >= self.model.queues.len() {
            return 0;
        }
        self.quotas.usage(queue.0 as usize, cell)
    }

    /// What the machine was made of.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How many cycles Kueue would have run until now, those included that repeat an earlier one and are not computed.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
}

/// The earliest entry of a set, if its time has come.
trait PopDue {
    fn pop_first_if_due(&mut self, now: i64) -> Option<(i64, u32)>;
}

impl PopDue for BTreeSet<(i64, u32)> {
    fn pop_first_if_due(&mut self, now: i64) -> Option<(i64, u32)> {
        let &(due, _) = self.first()?;
        if due > now { None } else { self.pop_first() }
    }
}

/// Divides the requests of a pod set among the groups of its queue.
fn set_shape(model: &Model, queue: u32, set: &PodSet) -> Result<SetShape, Error> {
    let totals = totals(model, set)?;
    let groups = &model.queues[queue as usize].groups;
    let covered = |resource: ResourceId| groups.iter().any(|group| group.resources.contains(&resource));
    let undeclared = totals.iter().any(|&(resource, _)| !covered(resource)) && !model.settings.ignore_undeclared;
    let mut parts = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut requests: Vec<_> =
            totals.iter().copied().filter(|(resource, _)| group.resources.contains(resource)).collect();
        let pods = |resource: &&ResourceId| model.resources[resource.0 as usize] == "pods";
        if let Some(&pods) = group.resources.iter().find(pods).filter(|_| set.count > 0) {
            requests.retain(|&(resource, _)| resource != pods);
            requests.push((pods, i64::from(set.count)));
        }
        if !requests.is_empty() {
            let possible = |flavor: &FlavorId| fit::possible(set, &model.flavors[flavor.0 as usize]);
            let possible = group.flavors.iter().map(possible).collect();
            parts.push(Part { queue, group: at as u16, requests, possible });
        }
    }
    Ok(SetShape { undeclared, parts })
}

/// What the whole set asks for, without zeros.
fn totals(model: &Model, set: &PodSet) -> Result<Vec<(ResourceId, i64)>, Error> {
    let mut sums = vec![0_i64; model.resources.len()];
    for &(resource, value) in &set.requests {
        let total = value.checked_mul(i64::from(set.count)).filter(|total| (0..=LARGEST).contains(total));
        let sum = &mut sums[resource.0 as usize];
        *sum = total.map_or(LARGEST + 1, |total| sum.saturating_add(total));
        if *sum > LARGEST {
            return Err(Error::TooMuch(set.name.clone()));
        }
    }
    let named = sums.into_iter().enumerate().filter(|&(_, sum)| sum > 0);
    Ok(named.map(|(resource, sum)| (ResourceId(resource as u32), sum)).collect())
}
