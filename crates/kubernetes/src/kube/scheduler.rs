//! The scheduler itself: events in, decisions out.

use std::collections::{BTreeMap, HashMap};

use super::filter::{self, Change};
use super::kinds::Kind;
use super::nodes::{Amounts, Nodes};
use super::numbers::{KindId, NodeId, PodId};
use super::pods::{Pod, State};
use super::preempt::Search;
use super::profile::Profile;
use super::queue::{Causes, LONGEST_WAIT, Queue};
use super::resources::{Resource, Resources, TooManyResources};
use super::sample;
use super::score::{Parts, Scoring};
use super::spec::{NodeSpec, PodSpec};

/// What one attempt to place a pod came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is bound.
    Bound {
        /// The pod.
        pod: PodId,
        /// Its node.
        node: NodeId,
        /// How many nodes were feasible.
        feasible: usize,
        /// The best score; none if one node alone was feasible, as nothing is scored then.
        score: Option<i64>,
    },
    /// No node was feasible; it waits.
    Failed {
        /// The pod.
        pod: PodId,
        /// The node that is promised to it once its victims are gone.
        nominated: Option<NodeId>,
    },
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// Among the nodes of the best score.
    Score,
    /// Among nodes that are equally good for preemption.
    Preemption,
}

const SCORED_MILLIS: i64 = 100;
const SCORED_BYTES: i64 = 200 << 20;

/// kube-scheduler with one profile.
#[derive(Clone, Debug)]
pub struct Scheduler {
    profile: Profile,
    scoring: Scoring,
    resources: Resources,
    pub(super) nodes: Nodes,
    pub(super) kinds: Vec<Kind>,
    known: HashMap<PodSpec, KindId>,
    pub(super) pods: Vec<Pod>,
    queue: Queue,
    causes: Vec<Causes>,
    order: Vec<NodeId>,
    next_start: usize,
    /// How many pods run by priority.
    running: BTreeMap<i32, usize>,
    /// Counts the events that free something.
    freed: u64,
    /// How many promises stand.
    promises: usize,
    change: Change,
    feasible: Vec<NodeId>,
    parts: Vec<Parts>,
    best: Vec<NodeId>,
    victims: Vec<PodId>,
    evicted: Vec<PodId>,
}

impl Scheduler {
    /// A scheduler without nodes.
    ///
    /// # Errors
    /// The profile names too many resources.
    pub fn new(profile: Profile) -> Result<Self, TooManyResources> {
        let mut resources = Resources::default();
        let scoring = Scoring::new(&profile, &mut resources)?;
        let mut nodes = Nodes::default();
        nodes.widen(resources.count());
        Ok(Self {
            queue: Queue::new(profile.first_back_off, profile.longest_back_off),
            profile,
            scoring,
            resources,
            nodes,
            kinds: Vec::new(),
            known: HashMap::new(),
            pods: Vec::new(),
            causes: Vec::new(),
            order: Vec::new(),
            next_start: 0,
            running: BTreeMap::new(),
            freed: 0,
            promises: 0,
            change: Change::default(),
            feasible: Vec::new(),
            parts: Vec::new(),
            best: Vec::new(),
            victims: Vec::new(),
            evicted: Vec::new(),
        })
    }

    /// Adds a node at `now` (ms). Waiting pods that could use it are tried again.
    ///
    /// # Errors
    /// It names too many resources.
    pub fn add_node(&mut self, spec: NodeSpec, now: i64) -> Result<NodeId, TooManyResources> {
        let capacity = self.numbered(&spec.allocatable)?;
        for kind in &mut self.kinds {
            kind.meet(&spec);
        }
        let node = self.nodes.add(spec, &capacity);
        self.order = sample::order(&self.nodes);
        self.wake(now, |scheduler, pod| scheduler.node_helps(pod, node));
        Ok(node)
    }

    /// Takes a node away. Its pods are gone with it; the caller submits those that come again. Unknown nodes are passed over.
    pub fn remove_node(&mut self, node: NodeId) -> Vec<PodId> {
        if !self.nodes.live.contains(node.place()) {
            return Vec::new();
        }
        let lost = self.nodes.pods[node.place()].clone();
        for &pod in &lost {
            self.unbind(pod, node);
        }
        for pod in std::mem::take(&mut self.nodes.nominated[node.place()]) {
            self.pods[pod.place()].nominated = None;
            self.promises -= 1;
        }
        for kind in &mut self.kinds {
            kind.part(node);
        }
        self.nodes.live.set(node.place(), false);
        self.order = sample::order(&self.nodes);
        self.freed += 1;
        lost
    }

    /// The kind of pods that look like this, new or known.
    ///
    /// # Errors
    /// It names too many resources.
    pub fn kind(&mut self, spec: PodSpec) -> Result<KindId, TooManyResources> {
        if let Some(&known) = self.known.get(&spec) {
            return Ok(known);
        }
        let mut requests = self.numbered(&spec.requests)?;
        requests.retain(|&(_, amount)| amount > 0);
        let asked =
            |name: &str| spec.requests.iter().filter(|(of, _)| of == name).map(|(_, amount)| amount).sum::<i64>();
        let scored = [
            asked("cpu") + SCORED_MILLIS * i64::from(spec.without_cpu),
            asked("memory") + SCORED_BYTES * i64::from(spec.without_memory),
        ];
        let mut kind = Kind::new(spec.clone(), Amounts { requests, scored });
        for node in &self.nodes.specs {
            kind.meet(node);
        }
        for place in 0..self.nodes.len() {
            if !self.nodes.live.contains(place) {
                kind.part(NodeId::at(place));
            }
        }
        let id = KindId(u32::try_from(self.kinds.len()).unwrap_or(u32::MAX));
        self.kinds.push(kind);
        self.known.insert(spec, id);
        Ok(id)
    }

    /// Submits a pod at `now` (ms).
    pub fn submit(&mut self, kind: KindId, now: i64) -> PodId {
        let id = PodId(u32::try_from(self.pods.len()).unwrap_or(u32::MAX));
        let mut pod = Pod {
            kind,
            priority: self.kinds[kind.place()].spec.priority,
            state: State::Queued,
            since: now,
            entry: self.queue.enter(),
            attempts: 0,
            started: 0,
            nominated: None,
            terminating: false,
            waits_at: 0,
        };
        self.queue.make_ready(id, &mut pod);
        self.pods.push(pod);
        self.causes.push(Causes::default());
        id
    }

    /// A pod is gone at `now` (ms): it ended, its grace period is over, or it was deleted while it waited.
    pub fn end(&mut self, pod: PodId, now: i64) {
        let promised = self.forget_promise(pod);
        let priority = self.pods[pod.place()].priority;
        match self.pods[pod.place()].state {
            State::Bound(node) => {
                self.unbind(pod, node);
                self.wake(now, |scheduler, waiting| scheduler.causes[waiting.place()].room);
            }
            state => {
                if state == State::Waiting {
                    self.queue.leave(pod, &mut self.pods);
                }
                self.pods[pod.place()].state = State::Gone;
                if promised {
                    self.wake_up_to(priority, now);
                }
            }
        }
    }

    /// When the pod that has waited longest is tried anyway, in ms.
    pub fn next_retry(&self) -> Option<i64> {
        self.queue.waiting.iter().map(|pod| self.pods[pod.place()].since + LONGEST_WAIT).min()
    }

    /// Tries pods again that have waited for five minutes.
    pub fn retry(&mut self, now: i64) {
        self.wake(now, |scheduler, pod| now - scheduler.pods[pod.place()].since > LONGEST_WAIT);
    }

    /// Tries the next pod of the queue. `draw` gets the nodes that are equally good, and says the place of the one it takes; a place
    /// beyond them stands for the last. None if nothing is to be tried before the next event.
    pub fn decide(&mut self, now: i64, draw: &mut dyn FnMut(Tie, &[NodeId]) -> usize) -> Option<Decision> {
        let pod = self.queue.next(&self.pods, now)?;
        self.victims.clear();
        self.evicted.clear();
        self.best.clear();
        self.parts.clear();
        self.feasible.clear();
        self.find(pod);
        Some(if self.feasible.is_empty() { self.fail(pod, now, draw) } else { self.choose(pod, now, draw) })
    }

    /// The nodes with the best score of the last decision.
    pub fn best(&self) -> &[NodeId] {
        &self.best
    }

    /// The nodes that were scored in the last decision, with the parts of their scores.
    pub fn scores(&self) -> impl Iterator<Item = (NodeId, Parts)> {
        self.feasible.iter().copied().zip(self.parts.iter().copied())
    }

    /// The pods that leave for the last decision, the most important first.
    pub fn victims(&self) -> &[PodId] {
        &self.victims
    }

    /// Those of the victims whose grace period starts now. The caller ends them after it.
    pub fn evicted(&self) -> &[PodId] {
        &self.evicted
    }

    /// Where a pod runs.
    pub fn node_of(&self, pod: PodId) -> Option<NodeId> {
        match self.pods.get(pod.place())?.state {
            State::Bound(node) => Some(node),
            _ => None,
        }
    }

    /// What was said of a node.
    pub fn node(&self, node: NodeId) -> Option<&NodeSpec> {
        self.nodes.specs.get(node.place())
    }

    /// The names of resources.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// How much of a resource pods have requested on a node.
    pub fn used(&self, node: NodeId, resource: Resource) -> i64 {
        self.nodes.used(node, resource)
    }

    fn numbered(&mut self, amounts: &[(String, i64)]) -> Result<Vec<(Resource, i64)>, TooManyResources> {
        let mut numbered: Vec<(Resource, i64)> = Vec::with_capacity(amounts.len());
        for (name, amount) in amounts {
            let resource = self.resources.number(name)?;
            match numbered.iter_mut().find(|(known, _)| *known == resource) {
                Some((_, sum)) => *sum = sum.saturating_add(*amount),
                None => numbered.push((resource, *amount)),
            }
        }
        self.nodes.widen(self.resources.count());
        Ok(numbered)
    }

    /// Fills `feasible`: the promised node alone if the pod fits there, else those that fit, as many as it takes.
    fn find(&mut self, pod: PodId) {
        let kind = &self.kinds[self.pods[pod.place()].kind.place()];
        if kind.failed_in == Some(self.freed) {
            return;
        }
        if let Some(node) = self.pods[pod.place()].nominated
            && kind.eligible.contains(node.place())
            && fits(&self.nodes, &self.pods, &self.kinds, &mut self.change, pod, node)
        {
            self.feasible.push(node);
            return;
        }
        let enough = sample::enough(self.order.len(), self.profile.percentage);
        if enough == self.order.len() {
            for place in kind.eligible.ones() {
                let node = NodeId::at(place);
                if fits(&self.nodes, &self.pods, &self.kinds, &mut self.change, pod, node) {
                    self.feasible.push(node);
                }
            }
            return;
        }
        let mut looked = 0;
        while looked < self.order.len() {
            let node = self.order[(self.next_start + looked) % self.order.len()];
            if kind.eligible.contains(node.place())
                && fits(&self.nodes, &self.pods, &self.kinds, &mut self.change, pod, node)
            {
                if self.feasible.len() == enough {
                    break;
                }
                self.feasible.push(node);
            }
            looked += 1;
        }
        self.next_start = (self.next_start + looked) % self.order.len();
    }

    fn choose(&mut self, pod: PodId, now: i64, draw: &mut dyn FnMut(Tie, &[NodeId]) -> usize) -> Decision {
        let kind = &self.kinds[self.pods[pod.place()].kind.place()];
        let score = if self.feasible.len() == 1 {
            self.best.extend_from_slice(&self.feasible);
            None
        } else {
            self.scoring.score(&self.nodes, kind, &self.feasible, &mut self.parts);
            let most = self.parts.iter().map(Parts::total).max();
            let best = self.feasible.iter().zip(&self.parts).filter(|(_, parts)| Some(parts.total()) == most);
            self.best.extend(best.map(|(&node, _)| node));
            most
        };
        let place = if self.best.len() == 1 { 0 } else { draw(Tie::Score, &self.best).min(self.best.len() - 1) };
        let node = self.best[place];
        let promised = self.forget_promise(pod);
        self.bind(pod, node, now);
        if promised {
            self.wake_up_to(self.pods[pod.place()].priority, now);
        }
        Decision::Bound { pod, node, feasible: self.feasible.len(), score }
    }

    fn fail(&mut self, id: PodId, now: i64, draw: &mut dyn FnMut(Tie, &[NodeId]) -> usize) -> Decision {
        let kind = self.pods[id.place()].kind;
        let promised = self.pods[id.place()].nominated;
        let may_preempt = self.profile.preemption && !self.kinds[kind.place()].spec.never_preempts;
        if may_preempt && (self.profile.preempts_again || !self.victims_are_ending(id)) {
            self.preempt(id, now, draw);
        }
        let kind = &mut self.kinds[kind.place()];
        if self.promises == 0 {
            kind.failed_in = Some(self.freed);
        }
        let room = kind.eligible.count_ones(..) > 0;
        self.causes[id.place()] = Causes { room, labels: kind.mismatched > 0, taints: kind.tainted > 0 };
        let pod = &mut self.pods[id.place()];
        pod.attempts = pod.attempts.saturating_add(1);
        self.queue.park(id, pod, now);
        if promised.is_some() && promised != self.pods[id.place()].nominated {
            self.wake_up_to(self.pods[id.place()].priority, now);
        }
        Decision::Failed { pod: id, nominated: self.pods[id.place()].nominated }
    }

    /// True if less important pods are in their grace period on the node that is promised to this one.
    fn victims_are_ending(&self, id: PodId) -> bool {
        let pod = &self.pods[id.place()];
        let ending = |other: &PodId| {
            let other = &self.pods[other.place()];
            other.terminating && other.priority < pod.priority
        };
        pod.nominated.is_some_and(|node| self.nodes.pods[node.place()].iter().any(ending))
    }

    fn preempt(&mut self, id: PodId, now: i64, draw: &mut dyn FnMut(Tie, &[NodeId]) -> usize) {
        let search = Search { nodes: &self.nodes, pods: &self.pods, kinds: &self.kinds };
        let lower_run =
            self.running.first_key_value().is_some_and(|(&lowest, _)| lowest < self.pods[id.place()].priority);
        let mut found = if lower_run { search.run(id) } else { Vec::new() };
        self.forget_promise(id);
        if found.is_empty() {
            return;
        }
        let nodes: Vec<NodeId> = found.iter().map(|&(node, _)| node).collect();
        let place = if nodes.len() == 1 { 0 } else { draw(Tie::Preemption, &nodes).min(nodes.len() - 1) };
        let (node, victims) = found.swap_remove(place);
        for &victim in &victims {
            let pod = &mut self.pods[victim.place()];
            if !pod.terminating {
                pod.terminating = true;
                self.evicted.push(victim);
            }
        }
        self.victims = victims;
        self.drop_lower_promises(id, node, now);
        self.pods[id.place()].nominated = Some(node);
        self.nodes.nominated[node.place()].push(id);
        self.promises += 1;
    }

    /// Promises of the node to less important pods end.
    fn drop_lower_promises(&mut self, id: PodId, node: NodeId, now: i64) {
        let priority = self.pods[id.place()].priority;
        let lower: Vec<PodId> = self.nodes.nominated[node.place()]
            .iter()
            .copied()
            .filter(|other| self.pods[other.place()].priority < priority)
            .collect();
        for other in lower {
            self.forget_promise(other);
            self.wake_up_to(self.pods[other.place()].priority, now);
        }
    }

    /// True if there was a promise.
    fn forget_promise(&mut self, pod: PodId) -> bool {
        let Some(node) = self.pods[pod.place()].nominated.take() else { return false };
        self.nodes.nominated[node.place()].retain(|other| *other != pod);
        self.promises -= 1;
        self.freed += 1;
        true
    }

    fn bind(&mut self, id: PodId, node: NodeId, now: i64) {
        let pod = &mut self.pods[id.place()];
        pod.state = State::Bound(node);
        pod.started = now;
        self.nodes.book(node, &self.kinds[pod.kind.place()].amounts, 1);
        self.nodes.pods[node.place()].push(id);
        *self.running.entry(pod.priority).or_insert(0) += 1;
    }

    fn unbind(&mut self, id: PodId, node: NodeId) {
        let pod = &mut self.pods[id.place()];
        pod.state = State::Gone;
        self.nodes.book(node, &self.kinds[pod.kind.place()].amounts, -1);
        let pods = &mut self.nodes.pods[node.place()];
        if let Some(place) = pods.iter().position(|other| *other == id) {
            pods.swap_remove(place);
        }
        let running = self.running.entry(pod.priority).or_insert(1);
        *running -= 1;
        if *running == 0 {
            self.running.remove(&pod.priority);
        }
        self.freed += 1;
    }

    /// Wakes the waiting pods that an event may help.
    fn wake(&mut self, now: i64, helps: impl Fn(&Self, PodId) -> bool) {
        let woken: Vec<PodId> = self.queue.waiting.iter().copied().filter(|&pod| helps(self, pod)).collect();
        for pod in woken {
            self.queue.wake(pod, &mut self.pods, now);
        }
    }

    /// A promise that ends gives room to pods that are at most as important.
    fn wake_up_to(&mut self, priority: i32, now: i64) {
        self.wake(now, |scheduler, pod| {
            scheduler.causes[pod.place()].room && scheduler.pods[pod.place()].priority <= priority
        });
    }

    /// True if a new node may help a waiting pod: any filter that refused it before would let it pass here.
    fn node_helps(&self, pod: PodId, node: NodeId) -> bool {
        let kind = &self.kinds[self.pods[pod.place()].kind.place()];
        let causes = self.causes[pod.place()];
        let suits = kind.eligible.contains(node.place());
        suits && (causes.labels || causes.taints || causes.room && filter::could_hold(&self.nodes, node, kind))
            || causes == Causes::default() && suits
    }
}

/// True if `pod` fits on `node` beside what is promised there.
fn fits(nodes: &Nodes, pods: &[Pod], kinds: &[Kind], change: &mut Change, pod: PodId, node: NodeId) -> bool {
    let kind = filter::kind_of(kinds, pods[pod.place()].kind);
    if !filter::has_room(nodes, node, kind) {
        return false;
    }
    if nodes.nominated[node.place()].is_empty() {
        return true;
    }
    change.clear();
    filter::add_promised(change, nodes, node, pod, pods, kinds);
    filter::has_room_after(nodes, node, kind, change)
}
