//! Kueue a second time, from its rules alone: slow, plain, and without a line of the crate but its model of a site.
//!
//! Nothing is kept that can be computed: use is added up from those who hold it whenever it is asked for, every trial is a copy of the
//! snapshot, and every cycle is run. Draws are left out: the worlds that are compared have none.

use std::collections::{BTreeMap, BTreeSet};

use resched_kubernetes::kueue::{Model, PodSet, Policy, Strategy, Submission};

use crate::driver::{Decider, Event, flavors};

/// Flavour and resource.
type Pair = (u32, u32);
/// How much of each.
type Amounts = BTreeMap<Pair, i64>;
/// Per pod set and group, a position among the flavours.
type Positions = BTreeMap<(usize, usize), usize>;
/// Kind of workload: priority, namespace, pods.
type Kind = (i64, bool, Vec<PodSet>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Queued,
    Parked,
    Refused,
    Running,
    Ending,
    Over,
}

struct Job {
    asked: Submission,
    stage: Stage,
    reason: Option<&'static str>,
    /// Per pod set and group: the next flavour; the cycle and the queue's changes when it was written.
    memory: Option<(Positions, u64, u64)>,
    holds: Amounts,
    given: Vec<(u32, u32, u32)>,
    admitted: i64,
}

/// A holder in a snapshot; one that is only booked in the cycle has no number.
#[derive(Clone)]
struct Holder {
    id: Option<usize>,
    queue: usize,
    amounts: Amounts,
}

#[derive(Clone)]
struct Snapshot<'a> {
    model: &'a Model,
    holders: Vec<Holder>,
}

/// A queue or a cohort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Node {
    Queue(usize),
    Cohort(usize),
}

impl<'a> Snapshot<'a> {
    fn parent(&self, node: Node) -> Option<Node> {
        let above = match node {
            Node::Queue(at) => self.model.queues[at].cohort,
            Node::Cohort(at) => self.model.cohorts[at].parent,
        };
        above.map(|at| Node::Cohort(at as usize))
    }

    fn children(&self, node: Node) -> Vec<Node> {
        let queues = (0..self.model.queues.len()).map(Node::Queue);
        let all = queues.chain((0..self.model.cohorts.len()).map(Node::Cohort));
        all.filter(|&child| self.parent(child) == Some(node)).collect()
    }

    fn path(&self, node: Node) -> Vec<Node> {
        let mut path = vec![node];
        while let Some(above) = self.parent(path[path.len() - 1]) {
            path.push(above);
        }
        path
    }

    fn root(&self, node: Node) -> Node {
        *self.path(node).last().unwrap()
    }

    /// Nominal quota, borrowing limit, lending limit.
    fn quota(&self, node: Node, pair: Pair) -> (i64, Option<i64>, Option<i64>) {
        let quotas = match node {
            Node::Queue(at) => &self.model.queues[at].quotas,
            Node::Cohort(at) => &self.model.cohorts[at].quotas,
        };
        let found = quotas.iter().find(|quota| (quota.flavor.0, quota.resource.0) == pair);
        found.map_or((0, None, None), |quota| (quota.nominal, quota.borrowing, quota.lending))
    }

    fn subtree(&self, node: Node, pair: Pair) -> i64 {
        let below = self.children(node).into_iter().map(|child| self.subtree(child, pair) - self.kept(child, pair));
        self.quota(node, pair).0 + below.sum::<i64>()
    }

    fn kept(&self, node: Node, pair: Pair) -> i64 {
        self.quota(node, pair).2.map_or(0, |lending| (self.subtree(node, pair) - lending).max(0))
    }

    fn used(&self, node: Node, pair: Pair) -> i64 {
        if let Node::Queue(queue) = node {
            let of_queue = self.holders.iter().filter(|holder| holder.queue == queue);
            return of_queue.map(|holder| holder.amounts.get(&pair).copied().unwrap_or(0)).sum();
        }
        let over = |child| (self.used(child, pair) - self.kept(child, pair)).max(0);
        self.children(node).into_iter().map(over).sum()
    }

    fn kept_unused(&self, node: Node, pair: Pair) -> i64 {
        (self.kept(node, pair) - self.used(node, pair)).max(0)
    }

    fn free(&self, node: Node, pair: Pair) -> i64 {
        let Some(above) = self.parent(node) else { return self.subtree(node, pair) - self.used(node, pair) };
        let mut from_above = self.free(above, pair);
        if let Some(limit) = self.quota(node, pair).1 {
            let stored = (self.used(node, pair) - self.kept(node, pair)).max(0);
            from_above = from_above.min(self.subtree(node, pair) - self.kept(node, pair) - stored + limit);
        }
        self.kept_unused(node, pair) + from_above
    }

    fn potential(&self, node: Node, pair: Pair) -> i64 {
        Snapshot { model: self.model, holders: Vec::new() }.free(node, pair)
    }

    /// True if use and request stay within the quota.
    fn stays(&self, node: Node, pair: Pair, request: i64) -> bool {
        self.used(node, pair) + request <= self.subtree(node, pair)
    }

    fn height(&self, node: Node) -> u32 {
        let cohorts = self.children(node).into_iter().filter(|child| matches!(child, Node::Cohort(_)));
        cohorts.map(|child| 1 + self.height(child)).max().unwrap_or(1)
    }

    /// The level, and whether the node that gives it is below the root.
    fn level(&self, queue: usize, pair: Pair, request: i64) -> (u32, bool) {
        let path = self.path(Node::Queue(queue));
        if path.len() == 1 {
            return (0, false);
        }
        let mut rest = request;
        for (at, &node) in path.iter().enumerate() {
            if self.stays(node, pair, rest) {
                return (if at == 0 { 0 } else { self.height(node) }, at + 1 < path.len());
            }
            rest -= self.kept_unused(node, pair);
        }
        (self.height(path[path.len() - 1]), false)
    }

    fn fits(&self, queue: usize, amounts: &Amounts) -> bool {
        amounts.iter().all(|(&pair, &amount)| amount <= self.free(Node::Queue(queue), pair).max(0))
    }

    fn without(&self, ids: &[usize]) -> Snapshot<'a> {
        let kept = self.holders.iter().filter(|holder| holder.id.is_none_or(|id| !ids.contains(&id)));
        Snapshot { model: self.model, holders: kept.cloned().collect() }
    }

    fn with(&self, queue: usize, amounts: &Amounts) -> Snapshot<'a> {
        let mut more = self.clone();
        more.holders.push(Holder { id: None, queue, amounts: amounts.clone() });
        more
    }

    fn pairs(&self) -> BTreeSet<Pair> {
        let queues = self.model.queues.iter().flat_map(|queue| &queue.quotas);
        let all = queues.chain(self.model.cohorts.iter().flat_map(|cohort| &cohort.quotas));
        all.map(|quota| (quota.flavor.0, quota.resource.0)).collect()
    }

    /// Whether a node borrows, its share without weight, and its weight.
    fn share(&self, node: Node) -> (bool, f64, f64) {
        let weight = match node {
            Node::Queue(at) => self.model.queues[at].weight,
            Node::Cohort(at) => self.model.cohorts[at].weight,
        };
        let Some(above) = self.parent(node) else { return (false, 0.0, weight) };
        let (mut borrows, mut share) = (false, 0.0_f64);
        for resource in 0..self.model.resources.len() as u32 {
            let pairs: Vec<Pair> = self.pairs().into_iter().filter(|pair| pair.1 == resource).collect();
            let over: i64 = pairs.iter().map(|&pair| (self.used(node, pair) - self.subtree(node, pair)).max(0)).sum();
            let of: i64 = pairs.iter().map(|&pair| self.potential(above, pair)).sum();
            borrows |= over > 0;
            if over > 0 && of > 0 {
                share = share.max(over as f64 * 1000.0 / of as f64);
            }
        }
        (borrows, share, weight)
    }

    /// The share as pairs that compare: endless or not, number.
    fn weighted(&self, node: Node) -> (bool, f64) {
        let (_, share, weight) = self.share(node);
        if share == 0.0 {
            (false, 0.0)
        } else if weight == 0.0 {
            (true, share)
        } else {
            (false, share / weight)
        }
    }
}

fn less(a: (bool, f64), b: (bool, f64)) -> bool {
    (!a.0 && b.0) || (a.0 == b.0 && a.1 < b.1)
}

/// From worst to best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Way {
    NoFit,
    NoCandidates,
    Preempt,
    Reclaim,
    Fit,
}

/// What an entry would get.
#[derive(Clone, Debug)]
struct Plan {
    /// `NoFit`, `Preempt` or `Fit`.
    way: Way,
    level: u32,
    amounts: Amounts,
    short: BTreeSet<Pair>,
    given: Vec<(u32, u32, u32)>,
    /// Per pod set and group: the flavour's position, and the next to try.
    chosen: Positions,
    next: Positions,
    victims: Vec<(usize, &'static str)>,
}

pub(crate) struct Naive {
    model: Model,
    jobs: Vec<Job>,
    cycle: u64,
    wakes: BTreeMap<Node, i64>,
    sticky: Vec<Option<usize>>,
    changes: Vec<u64>,
    /// The kinds of which a head was parked since the last wake-up.
    hopeless: Vec<Vec<Kind>>,
}

impl Naive {
    pub(crate) fn new(model: Model) -> Self {
        let queues = model.queues.len();
        Self {
            model,
            jobs: Vec::new(),
            cycle: 0,
            wakes: BTreeMap::new(),
            sticky: vec![None; queues],
            changes: vec![0; queues],
            hopeless: vec![Vec::new(); queues],
        }
    }

    fn queue(&self, id: usize) -> usize {
        self.jobs[id].asked.queue.0 as usize
    }

    fn kind(&self, id: usize) -> Kind {
        let asked = &self.jobs[id].asked;
        (asked.priority, asked.namespace_matches, asked.pod_sets.clone())
    }

    fn created(&self, id: usize) -> i64 {
        self.jobs[id].asked.created / 1_000
    }

    fn priority(&self, id: usize) -> i64 {
        self.jobs[id].asked.priority
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let holding = |job: &Job| matches!(job.stage, Stage::Running | Stage::Ending);
        let holders = self.jobs.iter().enumerate().filter(|(_, job)| holding(job)).map(|(id, job)| Holder {
            id: Some(id),
            queue: job.asked.queue.0 as usize,
            amounts: job.holds.clone(),
        });
        Snapshot { model: &self.model, holders: holders.collect() }
    }

    /// C5: later arrivals of a hopeless kind are parked on arrival.
    fn enter(&mut self, id: usize) {
        let hopeless = self.hopeless[self.queue(id)].contains(&self.kind(id));
        let job = &mut self.jobs[id];
        job.stage = if hopeless { Stage::Parked } else { Stage::Queued };
        job.reason = hopeless.then_some("Equivalent");
        job.memory = None;
    }

    /// C7: the first call sets the time.
    fn freed(&mut self, now: i64, id: usize) {
        let queue = self.queue(id);
        self.changes[queue] += 1;
        let root = self.snapshot().root(Node::Queue(queue));
        let due = now + self.model.settings.requeue_ms;
        self.wakes.entry(root).or_insert(due);
    }

    /// C1, C6.
    fn head(&self, queue: usize) -> Option<usize> {
        let queued = (0..self.jobs.len()).filter(|&id| self.queue(id) == queue && self.jobs[id].stage == Stage::Queued);
        queued.min_by_key(|&id| {
            let sticky = self.sticky[queue] == Some(id);
            (!sticky, -self.priority(id), self.created(id), self.jobs[id].asked.uid)
        })
    }

    // --- flavours ---

    fn plan(&self, snapshot: &Snapshot<'_>, id: usize, gone: &[usize], only: Option<&Plan>) -> Plan {
        let start = if only.is_none() { self.start(id) } else { BTreeMap::new() };
        let mut plan = Plan {
            way: Way::Fit,
            level: 0,
            amounts: Amounts::new(),
            short: BTreeSet::new(),
            given: Vec::new(),
            chosen: BTreeMap::new(),
            next: BTreeMap::new(),
            victims: Vec::new(),
        };
        for set in 0..self.jobs[id].asked.pod_sets.len() {
            if !self.plan_set(snapshot, id, set, gone, &start, only, &mut plan) {
                plan.way = Way::NoFit;
                return plan;
            }
        }
        if plan.way == Way::Preempt {
            plan.victims = self.victims(snapshot, id, &plan.amounts, &plan.short, gone);
        }
        plan
    }

    /// F6: where the search goes on.
    fn start(&self, id: usize) -> Positions {
        let Some((next, cycle, changes)) = &self.jobs[id].memory else { return BTreeMap::new() };
        let old = self.cycle - cycle > 1;
        if old && *changes != self.changes[self.queue(id)] { BTreeMap::new() } else { next.clone() }
    }

    #[allow(clippy::too_many_arguments, reason = "plain")]
    fn plan_set(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        set: usize,
        gone: &[usize],
        start: &Positions,
        only: Option<&Plan>,
        plan: &mut Plan,
    ) -> bool {
        let queue = &self.model.queues[self.queue(id)];
        let pods = &self.jobs[id].asked.pod_sets[set];
        let mut wanted: BTreeMap<u32, i64> = BTreeMap::new();
        for &(resource, amount) in &pods.requests {
            *wanted.entry(resource.0).or_insert(0) += amount * i64::from(pods.count);
        }
        wanted.retain(|_, amount| *amount > 0);
        let covered =
            |resource: u32| queue.groups.iter().any(|group| group.resources.iter().any(|other| other.0 == resource));
        if wanted.keys().any(|&resource| !covered(resource)) {
            return false;
        }
        let before = plan.clone();
        for (at, group) in queue.groups.iter().enumerate() {
            let here: BTreeMap<u32, i64> = wanted
                .iter()
                .filter(|(resource, _)| group.resources.iter().any(|r| r.0 == **resource))
                .map(|(r, a)| (*r, *a))
                .collect();
            if here.is_empty() {
                continue;
            }
            let tried: Vec<usize> = match only {
                Some(first) => vec![first.chosen[&(set, at)]],
                None => (start.get(&(set, at)).copied().unwrap_or(0)..group.flavors.len()).collect(),
            };
            let Some((position, last, judged)) =
                self.search(snapshot, id, pods, at, &here, &tried, gone, &before.amounts)
            else {
                *plan = before;
                return false;
            };
            let flavor = group.flavors[position].0;
            let ended = only.is_some() || last + 1 == group.flavors.len();
            plan.next.insert((set, at), if ended { 0 } else { last + 1 });
            plan.chosen.insert((set, at), position);
            for (resource, (way, level)) in judged {
                *plan.amounts.entry((flavor, resource)).or_insert(0) += here[&resource];
                plan.given.push((set as u32, resource, flavor));
                plan.level = plan.level.max(level);
                if way != Way::Fit {
                    plan.way = Way::Preempt;
                    plan.short.insert((flavor, resource));
                }
            }
        }
        true
    }

    /// F3, F4: the flavour kept, the last one tried, and each resource's way.
    #[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "plain")]
    fn search(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        pods: &PodSet,
        group: usize,
        wanted: &BTreeMap<u32, i64>,
        tried: &[usize],
        gone: &[usize],
        taken: &Amounts,
    ) -> Option<(usize, usize, Vec<(u32, (Way, u32))>)> {
        let queue = &self.model.queues[self.queue(id)];
        let rules = queue.fungibility;
        let better = |a: (Way, u32), b: (Way, u32)| {
            if a.0 == Way::NoFit || b.0 == Way::NoFit {
                return a.0 != Way::NoFit;
            }
            if (a.0 == Way::NoCandidates) != (b.0 == Way::NoCandidates) {
                return b.0 == Way::NoCandidates;
            }
            let by_level = a.1.cmp(&b.1);
            let by_way = b.0.cmp(&a.0);
            if rules.preempt_first { by_level.then(by_way) } else { by_way.then(by_level) }.is_lt()
        };
        let mut best: Option<((Way, u32), usize, Vec<(u32, (Way, u32))>)> = None;
        let mut last = tried.last().copied().unwrap_or(0);
        for &position in tried {
            let flavor = queue.groups[group].flavors[position];
            if !self.possible(pods, flavor.0 as usize) {
                continue;
            }
            let mut worst = (Way::Fit, 0);
            let mut judged = Vec::new();
            for (&resource, &amount) in wanted {
                let pair = (flavor.0, resource);
                let way = self.judge(snapshot, id, pair, amount + taken.get(&pair).copied().unwrap_or(0), gone);
                if better(worst, way) {
                    worst = way;
                }
                judged.push((resource, way));
            }
            if worst.0 == Way::NoFit {
                continue;
            }
            let preempting = matches!(worst.0, Way::Preempt | Way::Reclaim);
            let works = preempting || worst.0 == Way::Fit;
            let stops = works && (!preempting || rules.stop_to_preempt) && (worst.1 == 0 || rules.stop_to_borrow);
            if stops || best.as_ref().is_none_or(|(known, ..)| better(worst, *known)) {
                best = Some((worst, position, judged));
            }
            if stops {
                last = position;
                break;
            }
        }
        best.map(|(_, position, judged)| (position, last, judged))
    }

    /// F2, for the taints and selectors that random worlds have.
    fn possible(&self, pods: &PodSet, flavor: usize) -> bool {
        let flavor = &self.model.flavors[flavor];
        let tolerated = flavor.taints.iter().all(|taint| {
            pods.tolerations.iter().any(|toleration| toleration.key == taint.key && toleration.value == taint.value)
        });
        let selected = pods
            .node_selector
            .iter()
            .all(|(key, value)| flavor.labels.iter().all(|(label, found)| label != key || found == value));
        tolerated && selected
    }

    /// E1 and F3 for one resource.
    fn judge(&self, snapshot: &Snapshot<'_>, id: usize, pair: Pair, request: i64, gone: &[usize]) -> (Way, u32) {
        let queue = self.queue(id);
        let node = Node::Queue(queue);
        let (level, below_root) = snapshot.level(queue, pair, request);
        if request > snapshot.potential(node, pair) {
            return (Way::NoFit, level);
        }
        if request <= snapshot.free(node, pair).max(0) {
            return (Way::Fit, level);
        }
        let rules = self.model.queues[queue].preemption;
        let fair = self.model.settings.fair_sharing.is_some() && rules.reclaim != Policy::Never;
        if request > snapshot.quota(node, pair).0 && !below_root && rules.borrow.is_none() && !fair {
            return (Way::NoFit, level);
        }
        let victims = self.victims(snapshot, id, &Amounts::from([(pair, request)]), &BTreeSet::from([pair]), gone);
        if victims.is_empty() {
            return (Way::NoCandidates, level);
        }
        let ids: Vec<usize> = victims.iter().map(|(victim, _)| *victim).collect();
        let level = snapshot.without(&ids).level(queue, pair, request).0;
        let in_queue = ids.iter().any(|&victim| self.queue(victim) == queue);
        (if in_queue { Way::Preempt } else { Way::Reclaim }, level)
    }

    // --- preemption ---

    fn victims(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        amounts: &Amounts,
        short: &BTreeSet<Pair>,
        gone: &[usize],
    ) -> Vec<(usize, &'static str)> {
        if self.model.settings.fair_sharing.is_some() {
            self.fair_victims(snapshot, id, amounts, short, gone)
        } else {
            self.plain_victims(snapshot, id, amounts, short, gone)
        }
    }

    fn allowed(&self, policy: Policy, id: usize, victim: usize) -> bool {
        let (mine, other) = (self.priority(id), self.priority(victim));
        match policy {
            Policy::Never => false,
            Policy::Any => true,
            Policy::LowerPriority => other < mine,
            Policy::LowerOrNewerEqualPriority => {
                other < mine || (other == mine && self.created(victim) > self.created(id))
            }
        }
    }

    /// Those of a queue who hold something short, and whom the policy gives up.
    fn holders(&self, queue: usize, policy: Policy, id: usize, short: &BTreeSet<Pair>, gone: &[usize]) -> Vec<usize> {
        let holds = |job: &Job| {
            matches!(job.stage, Stage::Running | Stage::Ending) && job.holds.keys().any(|pair| short.contains(pair))
        };
        let of_queue = (0..self.jobs.len()).filter(|&other| self.queue(other) == queue && !gone.contains(&other));
        of_queue.filter(|&other| holds(&self.jobs[other]) && self.allowed(policy, id, other)).collect()
    }

    /// What orders candidates after their kind: evicted, priority, later admission, UID.
    fn rank(&self, victim: usize) -> (i64, i64, u64) {
        (self.priority(victim), -self.jobs[victim].admitted, self.jobs[victim].asked.uid)
    }

    fn alive(&self, victim: usize) -> bool {
        self.jobs[victim].stage != Stage::Ending
    }

    fn plain_victims(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        amounts: &Amounts,
        short: &BTreeSet<Pair>,
        gone: &[usize],
    ) -> Vec<(usize, &'static str)> {
        let queue = self.queue(id);
        let rules = self.model.queues[queue].preemption;
        // Candidate, kind (0 hierarchical, 1 priority, 2 own), common ancestor.
        let mut candidates: Vec<(usize, u8, Node)> = Vec::new();
        for holder in self.holders(queue, rules.within, id, short, gone) {
            candidates.push((holder, 2, Node::Queue(queue)));
        }
        let path = snapshot.path(Node::Queue(queue));
        for other in (0..self.model.queues.len()).filter(|&other| other != queue) {
            let theirs = snapshot.path(Node::Queue(other));
            let Some(&common) = theirs.iter().find(|node| path.contains(node)) else { continue };
            let over = |node: &Node| short.iter().any(|&pair| !snapshot.stays(*node, pair, 0));
            if !theirs.iter().take_while(|node| **node != common).all(over) {
                continue;
            }
            let mut rest = amounts.clone();
            let mut hierarchical = false;
            for &node in path.iter().take_while(|node| **node != common) {
                hierarchical |= rest.iter().all(|(&pair, &amount)| snapshot.stays(node, pair, amount));
                for (&pair, amount) in &mut rest {
                    *amount = (*amount - snapshot.kept_unused(node, pair)).max(0);
                }
            }
            for victim in self.holders(other, rules.reclaim, id, short, gone) {
                candidates.push((victim, u8::from(!hierarchical), common));
            }
        }
        candidates.sort_by_key(|&(victim, kind, _)| (self.alive(victim), kind, self.rank(victim)));
        let others = candidates.iter().any(|candidate| candidate.1 != 2);
        let hierarchical = candidates.iter().any(|candidate| candidate.1 == 0);
        let under = short
            .iter()
            .all(|&pair| snapshot.used(Node::Queue(queue), pair) < snapshot.quota(Node::Queue(queue), pair).0);
        let off = rules.borrow.is_none();
        let attempts: &[bool] = if !others || (off && !under) {
            &[true]
        } else if off && !hierarchical {
            &[false, true]
        } else {
            &[true, false]
        };
        for &borrowing in attempts {
            let victims = self.attempt(snapshot, id, amounts, short, &candidates, borrowing);
            if !victims.is_empty() {
                return victims;
            }
        }
        Vec::new()
    }

    fn attempt(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        amounts: &Amounts,
        short: &BTreeSet<Pair>,
        candidates: &[(usize, u8, Node)],
        borrowing: bool,
    ) -> Vec<(usize, &'static str)> {
        let queue = self.queue(id);
        let rules = self.model.queues[queue].preemption;
        let low = |victim: usize| {
            rules.borrow.is_some_and(|borrow| {
                self.priority(victim) < self.priority(id)
                    && borrow.threshold.is_none_or(|most| self.priority(victim) <= most)
            })
        };
        let fits = |snapshot: &Snapshot<'_>| {
            let within = amounts.iter().all(|(&pair, &amount)| snapshot.stays(Node::Queue(queue), pair, amount));
            (borrowing || within) && snapshot.fits(queue, amounts)
        };
        let mut taken: Vec<(usize, &'static str)> = Vec::new();
        for &(victim, kind, common) in candidates {
            let now = snapshot.without(&taken.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            let over = |node: &Node| short.iter().any(|&pair| !now.stays(*node, pair, 0));
            let theirs = now.path(Node::Queue(self.queue(victim)));
            let usable = kind == 2
                || (theirs.iter().take_while(|node| **node != common).all(over)
                    && (!borrowing || kind == 0 || low(victim)));
            if !usable {
                continue;
            }
            let reason = match kind {
                2 => "InClusterQueue",
                1 if low(victim) => "InCohortReclaimWhileBorrowing",
                _ => "InCohortReclamation",
            };
            taken.push((victim, reason));
            if fits(&now.without(&[victim])) {
                return put_back(snapshot, taken, fits);
            }
        }
        Vec::new()
    }

    fn fair_victims(
        &self,
        snapshot: &Snapshot<'_>,
        id: usize,
        amounts: &Amounts,
        short: &BTreeSet<Pair>,
        gone: &[usize],
    ) -> Vec<(usize, &'static str)> {
        let queue = self.queue(id);
        let rules = self.model.queues[queue].preemption;
        let strategies = self.model.settings.fair_sharing.clone().unwrap();
        let mut left = self.holders(queue, rules.within, id, short, gone);
        let root = snapshot.root(Node::Queue(queue));
        for other in (0..self.model.queues.len()).filter(|&other| other != queue) {
            let node = Node::Queue(other);
            if snapshot.root(node) == root && short.iter().any(|&pair| !snapshot.stays(node, pair, 0)) {
                left.extend(self.holders(other, rules.reclaim, id, short, gone));
            }
        }
        left.sort_by_key(|&victim| (self.alive(victim), self.queue(victim) == queue, self.rank(victim)));
        let fits = |snapshot: &Snapshot<'_>| snapshot.fits(queue, amounts);
        // With the request booked.
        let booked = |taken: &[(usize, &'static str)]| {
            snapshot.without(&taken.iter().map(|(id, _)| *id).collect::<Vec<_>>()).with(queue, amounts)
        };
        let ids = |taken: &[(usize, &'static str)]| taken.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let reclaims = short.iter().all(|&pair| booked(&[]).stays(Node::Queue(queue), pair, 0));
        let mut taken: Vec<(usize, &'static str)> = Vec::new();
        let mut spared = Vec::new();
        let mut pruned = BTreeSet::new();
        while let Some(target) = self.next_target(&booked(&taken), root, queue, &left, &mut pruned) {
            let now = booked(&taken);
            let (mine, theirs) = almost_common(&now, queue, target);
            let first = |left: &[usize]| left.iter().position(|&id| self.queue(id) == target);
            if target == queue || reclaims {
                let victim = left.remove(first(&left).unwrap());
                taken.push((victim, if target == queue { "InClusterQueue" } else { "InCohortReclamation" }));
                if fits(&snapshot.without(&ids(&taken))) {
                    return put_back(snapshot, taken, fits);
                }
                continue;
            }
            while let Some(at) = first(&left) {
                let victim = left.remove(at);
                let good = match strategies.first {
                    Strategy::FinalShare => !less(now.without(&[victim]).weighted(theirs), now.weighted(mine)),
                    Strategy::InitialShare => less(now.weighted(mine), now.weighted(theirs)),
                };
                if !good {
                    spared.push(victim);
                    continue;
                }
                taken.push((victim, "InCohortFairSharing"));
                if fits(&snapshot.without(&ids(&taken))) {
                    return put_back(snapshot, taken, fits);
                }
                break;
            }
        }
        if !strategies.then_initial {
            return Vec::new();
        }
        let mut pruned = BTreeSet::new();
        while let Some(target) = self.next_target(&booked(&taken), root, queue, &spared, &mut pruned) {
            let now = booked(&taken);
            let (mine, theirs) = almost_common(&now, queue, target);
            let victim = spared.iter().copied().find(|&id| self.queue(id) == target).unwrap();
            if less(now.weighted(mine), now.weighted(theirs)) {
                taken.push((victim, "InCohortFairSharing"));
                if fits(&snapshot.without(&ids(&taken))) {
                    return put_back(snapshot, taken, fits);
                }
            }
            spared.retain(|&id| self.queue(id) != target);
        }
        Vec::new()
    }

    /// G4: from the root down, the child with the highest share.
    fn next_target(
        &self,
        now: &Snapshot<'_>,
        root: Node,
        preemptor: usize,
        left: &[usize],
        pruned: &mut BTreeSet<Node>,
    ) -> Option<usize> {
        if let Node::Queue(alone) = root {
            return left.iter().any(|&id| self.queue(id) == alone).then_some(alone);
        }
        let path = now.path(Node::Queue(preemptor));
        while !pruned.contains(&root) {
            let mut at = root;
            loop {
                let mut best: Option<Node> = None;
                for child in now.children(at) {
                    if pruned.contains(&child) {
                        continue;
                    }
                    let first = |node: Node| left.iter().position(|&id| Node::Queue(self.queue(id)) == node);
                    let empty = matches!(child, Node::Queue(_)) && first(child).is_none();
                    if empty || (!now.share(child).0 && !path.contains(&child)) {
                        pruned.insert(child);
                        continue;
                    }
                    let wins = best.is_none_or(|known| {
                        let (mine, theirs) = (now.weighted(child), now.weighted(known));
                        let tie = match (child, known) {
                            (Node::Cohort(_), Node::Queue(_)) => true,
                            (Node::Queue(_), Node::Queue(_)) => first(child) < first(known),
                            _ => false,
                        };
                        less(theirs, mine) || (mine == theirs && tie)
                    });
                    if wins {
                        best = Some(child);
                    }
                }
                match best {
                    None => {
                        pruned.insert(at);
                        break;
                    }
                    Some(Node::Queue(queue)) => return Some(queue),
                    Some(cohort) => at = cohort,
                }
            }
        }
        None
    }

    // --- a cycle ---

    /// The order of entries without fair sharing.
    fn next_plain(&self, left: &[(usize, Plan)]) -> usize {
        let key = |at: usize| {
            let (id, plan) = &left[at];
            (plan.level, -self.priority(*id), self.created(*id))
        };
        (0..left.len()).min_by_key(|&at| key(at)).unwrap()
    }

    /// G2: some tree's winner.
    fn next_fair(&self, now: &Snapshot<'_>, left: &[(usize, Plan)]) -> usize {
        let root = now.root(Node::Queue(self.queue(left[0].0)));
        self.winner(now, root, left).unwrap()
    }

    fn winner(&self, now: &Snapshot<'_>, node: Node, left: &[(usize, Plan)]) -> Option<usize> {
        if let Node::Queue(queue) = node {
            return left.iter().position(|(id, _)| self.queue(*id) == queue);
        }
        let mut best: Option<(Node, usize)> = None;
        for child in now.children(node) {
            let Some(at) = self.winner(now, child, left) else { continue };
            let standing = |child: Node, at: usize| {
                let (id, plan) = &left[at];
                let counted = now.with(self.queue(*id), &plan.amounts);
                let borrows = plan.amounts.keys().any(|&pair| !counted.stays(child, pair, 0));
                (borrows, counted.weighted(child), -self.priority(*id), self.created(*id))
            };
            let wins = best.is_none_or(|(known, other)| {
                let (a, b) = (standing(child, at), standing(known, other));
                if a.0 != b.0 {
                    return b.0;
                }
                if a.1 != b.1 {
                    return less(a.1, b.1);
                }
                (a.2, a.3) < (b.2, b.3)
            });
            if wins {
                best = Some((child, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// One cycle: what was decided, and its outcome.
    fn run_cycle(&mut self, now: i64) -> (Vec<Event>, BTreeSet<(usize, &'static str)>) {
        self.cycle += 1;
        let heads: Vec<usize> = (0..self.model.queues.len()).filter_map(|queue| self.head(queue)).collect();
        let (good, refused): (Vec<usize>, Vec<usize>) =
            heads.iter().partition(|&&id| self.jobs[id].asked.namespace_matches);
        let seen = self.changes.clone();
        let mut outcome = BTreeSet::new();
        let mut results: Vec<(usize, Plan, &'static str)> = Vec::new();
        let mut victims: Vec<(usize, &'static str, usize)> = Vec::new();
        {
            let mut snapshot = self.snapshot();
            let mut left: Vec<(usize, Plan)> =
                good.iter().map(|&id| (id, self.plan(&snapshot, id, &[], None))).collect();
            while !left.is_empty() {
                let fair = self.model.settings.fair_sharing.is_some();
                let at = if fair { self.next_fair(&snapshot, &left) } else { self.next_plain(&left) };
                let (id, plan) = left.remove(at);
                results.push(self.process(&mut snapshot, id, plan, &mut victims));
            }
        }
        let mut events = Vec::new();
        for (id, plan, result) in results {
            outcome.insert((id, result));
            self.conclude(now, id, plan, result, &seen, &mut events);
        }
        for (victim, reason, by) in victims {
            if self.jobs[victim].stage == Stage::Running {
                self.jobs[victim].stage = Stage::Ending;
                let queue = self.queue(victim);
                self.changes[queue] += 1;
                events.push(Event::Preempted { victim: victim as u32, by: by as u32, reason });
            }
        }
        for id in refused {
            outcome.insert((id, "NamespaceMismatch"));
            self.jobs[id].stage = Stage::Refused;
            self.jobs[id].reason = Some("NamespaceMismatch");
        }
        (events, outcome)
    }

    /// D3.
    fn process<'a>(
        &'a self,
        snapshot: &mut Snapshot<'a>,
        id: usize,
        mut plan: Plan,
        victims: &mut Vec<(usize, &'static str, usize)>,
    ) -> (usize, Plan, &'static str) {
        let queue = self.queue(id);
        let gone: Vec<usize> = victims.iter().map(|(victim, ..)| *victim).collect();
        let shared = |plan: &Plan| plan.victims.iter().any(|(victim, _)| gone.contains(victim));
        let mut deferred = false;
        if shared(&plan) {
            plan = self.plan(&snapshot.without(&gone), id, &gone, Some(&plan));
            deferred = plan.way == Way::Fit;
        }
        if plan.way == Way::NoFit {
            return (id, plan, "NoFit");
        }
        if plan.way == Way::Preempt && plan.victims.is_empty() {
            if self.model.queues[queue].preemption.reclaim != Policy::Any {
                let mut reserved = Amounts::new();
                for (&pair, &amount) in &plan.amounts {
                    let (nominal, borrowing, _) = snapshot.quota(Node::Queue(queue), pair);
                    let used = snapshot.used(Node::Queue(queue), pair);
                    let most = match (plan.level, borrowing) {
                        (0, _) => nominal - used,
                        (_, Some(limit)) => nominal + limit - used,
                        (_, None) => amount,
                    };
                    reserved.insert(pair, amount.min(most).max(0));
                }
                *snapshot = snapshot.with(queue, &reserved);
            }
            return (id, plan, "PreemptionNoCandidates");
        }
        let all: Vec<usize> = gone.iter().copied().chain(plan.victims.iter().map(|(victim, _)| *victim)).collect();
        if shared(&plan) || !snapshot.without(&all).fits(queue, &plan.amounts) {
            return (id, plan, "FailedAfterNomination");
        }
        *snapshot = snapshot.with(queue, &plan.amounts);
        if plan.way == Way::Fit && !deferred {
            return (id, plan, "admitted");
        }
        victims.extend(plan.victims.iter().map(|&(victim, reason)| (victim, reason, id)));
        (id, plan, "PendingPreemption")
    }

    fn conclude(
        &mut self,
        now: i64,
        id: usize,
        plan: Plan,
        result: &'static str,
        seen: &[u64],
        events: &mut Vec<Event>,
    ) {
        let queue = self.queue(id);
        let strict = self.model.queues[queue].strict;
        if result == "admitted" {
            let job = &mut self.jobs[id];
            job.stage = Stage::Running;
            job.memory = None;
            job.holds = plan.amounts;
            job.given = plan.given;
            job.admitted = now / 1_000;
            self.changes[queue] += 1;
            if self.sticky[queue] == Some(id) {
                self.sticky[queue] = None;
            }
            let flavors = flavors(&self.model, self.jobs[id].given.iter().copied());
            events.push(Event::Admitted { workload: id as u32, flavors });
            return;
        }
        self.jobs[id].reason = Some(result);
        let left = plan.next.values().any(|&next| next > 0);
        self.jobs[id].memory = (result != "PendingPreemption").then(|| (plan.next, self.cycle, seen[queue]));
        if result == "PendingPreemption" && !strict {
            self.sticky[queue] = Some(id);
        }
        if matches!(result, "NoFit" | "PreemptionNoCandidates") && !strict && !left {
            let kind = self.kind(id);
            for other in 0..self.jobs.len() {
                if self.queue(other) == queue && self.jobs[other].stage == Stage::Queued && self.kind(other) == kind {
                    self.jobs[other].stage = Stage::Parked;
                    self.jobs[other].reason.get_or_insert("Equivalent");
                }
            }
            self.hopeless[queue].push(kind);
        }
    }

    fn count(&self, stages: &[Stage]) -> usize {
        self.jobs.iter().filter(|job| stages.contains(&job.stage)).count()
    }
}

/// E6.
fn put_back(
    snapshot: &Snapshot<'_>,
    mut taken: Vec<(usize, &'static str)>,
    fits: impl Fn(&Snapshot<'_>) -> bool,
) -> Vec<(usize, &'static str)> {
    let mut at = taken.len() - 1;
    while at > 0 {
        at -= 1;
        let mut fewer = taken.clone();
        fewer.swap_remove(at);
        if fits(&snapshot.without(&fewer.iter().map(|(id, _)| *id).collect::<Vec<_>>())) {
            taken = fewer;
        }
    }
    taken
}

/// The two nodes just below the common ancestor.
fn almost_common(snapshot: &Snapshot<'_>, mine: usize, theirs: usize) -> (Node, Node) {
    let (mine, theirs) = (snapshot.path(Node::Queue(mine)), snapshot.path(Node::Queue(theirs)));
    let common = theirs.iter().find(|node| mine.contains(node)).copied();
    let below =
        |path: &[Node]| path.iter().take_while(|node| Some(**node) != common).last().copied().unwrap_or(path[0]);
    (below(&mine), below(&theirs))
}

impl Decider for Naive {
    fn submit(&mut self, submission: Submission) {
        self.jobs.push(Job {
            asked: submission,
            stage: Stage::Queued,
            reason: None,
            memory: None,
            holds: Amounts::new(),
            given: Vec::new(),
            admitted: 0,
        });
        self.enter(self.jobs.len() - 1);
    }

    fn ended(&mut self, now: i64, workload: u32) {
        self.jobs[workload as usize].stage = Stage::Over;
        self.freed(now, workload as usize);
    }

    fn gone(&mut self, now: i64, workload: u32) {
        self.enter(workload as usize);
        self.freed(now, workload as usize);
    }

    fn next_wake(&self) -> Option<i64> {
        self.wakes.values().min().copied()
    }

    fn wake(&mut self, now: i64) {
        let due: Vec<Node> = self.wakes.iter().filter(|(_, due)| **due <= now).map(|(root, _)| *root).collect();
        for root in due {
            self.wakes.remove(&root);
            let queues: Vec<usize> = (0..self.model.queues.len())
                .filter(|&queue| self.snapshot().root(Node::Queue(queue)) == root)
                .collect();
            for queue in queues {
                self.hopeless[queue].clear();
                for id in 0..self.jobs.len() {
                    if self.queue(id) == queue && self.jobs[id].stage == Stage::Parked {
                        self.jobs[id].stage = Stage::Queued;
                    }
                }
            }
        }
    }

    /// T4.
    fn settle(&mut self, now: i64) -> Result<Vec<Event>, String> {
        let mut all = Vec::new();
        let mut outcomes = BTreeMap::new();
        while self.count(&[Stage::Queued]) > 0 {
            let (events, outcome) = self.run_cycle(now);
            if !events.is_empty() {
                all.extend(events);
                outcomes.clear();
                continue;
            }
            let key = (outcome, self.count(&[Stage::Queued]), self.count(&[Stage::Parked, Stage::Refused]));
            let times = outcomes.entry(key).or_insert(0);
            *times += 1;
            if *times == 4 {
                break;
            }
        }
        Ok(all)
    }

    fn standing(&self, workload: u32) -> Option<(bool, &'static str)> {
        let job = &self.jobs[workload as usize];
        let pending = matches!(job.stage, Stage::Queued | Stage::Parked | Stage::Refused);
        if pending { Some((job.stage != Stage::Queued, job.reason?)) } else { None }
    }
}
