//! YARN's Capacity Scheduler of Hadoop 3.4 without labels and preemption (rules K1 to K15 of `docs/yarn-capacity-3.md`, and C1 and C2).

use std::cmp::Ordering;

use resched_sim::cluster_file::Calculator;
use resched_tables::model::Locality;

use super::capacity::{Queue, Settings};
use super::{AM, Amount, Cluster, MAP, PRIORITIES, Reservation, round_up};

const ROOT: usize = 0;
const NONE: Amount = Amount { memory: 0, vcores: 0 };

#[derive(Debug, Clone, Default)]
struct App {
    leaf: usize,
    here: bool,
    active: bool,
    /// True if its user counts as asking because of it while its master waits.
    counts: bool,
    missed: [i64; 3],
    again: [i64; 3],
    most_reserved: [usize; 3],
}

#[derive(Debug, Clone, Default)]
struct Leaf {
    used: Amount,
    /// What its users use of the cluster, added up change by change.
    ratio: f32,
    /// What each user uses, and the part of the cluster that it is.
    users: Vec<(Amount, f32)>,
    changes: u64,
    /// What it could have at its last turn.
    limit: Amount,
    /// When the limit of its users was computed last: the changes, who asked and what they used, and how many users only waited.
    known: Option<(u64, u32, Amount)>,
    waiting: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    Near,
    Far,
    Full,
    Rejected,
    Nothing,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    limit: Amount,
    headroom: Amount,
    to_give_up: Amount,
    withheld: Amount,
}

impl Limits {
    fn new(limit: Amount) -> Self {
        Self { limit, headroom: limit, to_give_up: NONE, withheld: NONE }
    }
}

/// The scheduler.
pub(crate) struct Capacity {
    settings: Settings,
    calculator: Calculator,
    total: Amount,
    step: Amount,
    apps: Vec<App>,
    /// By place among the queues; only those of leaves are used.
    leaves: Vec<Leaf>,
    guarantee: Vec<Amount>,
    most: Vec<Amount>,
    share: Vec<f32>,
    /// The containers that are charged for, by their place among all.
    charged: Vec<bool>,
    /// The nodes that are kept, in the order in which they were, and that are charged for.
    kept: Vec<(usize, usize, usize)>,
}

impl Capacity {
    pub(crate) fn new(settings: &Settings, cluster: &Cluster<'_>) -> Self {
        let calculator = cluster.calculator;
        let counted = |amount: Amount| match calculator {
            Calculator::Memory => Amount { vcores: 0, ..amount },
            Calculator::Dominant => amount,
        };
        let (total, step) = (counted(cluster.total()), counted(cluster.minimum()));
        let (mut share, mut limit): (Vec<f32>, Vec<f32>) = (vec![1.0], vec![1.0]);
        for queue in &settings.queues[1..] {
            share.push(share[queue.parent] * (queue.capacity as f32 / 100.0));
            limit.push(limit[queue.parent] * (queue.maximum as f32 / 100.0));
        }
        let of = |share: &f32| total.each(|value| (value as f64 * f64::from(*share)) as i64);
        let users = cluster.world.jobs.iter().map(|job| job.user).max().unwrap_or(0) + 1;
        let leaf = Leaf { users: vec![(NONE, 0.0); users], changes: 1, ..Leaf::default() };
        let mut made = Self {
            settings: settings.clone(),
            calculator,
            total,
            step,
            apps: vec![App::default(); cluster.world.jobs.len()],
            leaves: vec![leaf; settings.queues.len()],
            guarantee: share.iter().map(of).collect(),
            most: limit.iter().map(of).collect(),
            share,
            charged: Vec::new(),
            kept: Vec::new(),
        };
        made.first_limits(ROOT, Limits::new(total));
        made
    }

    fn first_limits(&mut self, place: usize, mut limits: Limits) {
        self.leaves[place].limit = self.smaller(self.down(self.most[place]), limits.limit);
        for child in self.children(place) {
            let below = self.limits_of(child, &mut limits);
            self.first_limits(child, below);
        }
    }

    // Applications come and go.

    pub(crate) fn arrive(&mut self, cluster: &Cluster<'_>, app: usize) {
        let name = format!("queue{}", cluster.world.jobs[app].queue);
        let leaves: Vec<usize> =
            (1..self.settings.queues.len()).filter(|&queue| self.children(queue).is_empty()).collect();
        let named = leaves.iter().find(|&&queue| self.settings.queues[queue].name == name);
        let leaf = *named.unwrap_or(&leaves[0]);
        self.apps[app] = App { leaf, here: true, ..App::default() };
        self.activate(cluster, leaf);
        let user = cluster.world.jobs[app].user;
        self.apps[app].counts =
            (0..self.apps.len()).any(|other| self.is_of(cluster, other, leaf, user) && self.apps[other].active);
    }

    pub(crate) fn leave(&mut self, cluster: &Cluster<'_>, app: usize) {
        self.note_freed(cluster);
        let gone: Vec<(usize, usize, usize)> = self.kept.iter().copied().filter(|kept| kept.0 == app).collect();
        for (_, priority, node) in gone {
            self.unkeep(cluster, app, priority, node);
        }
        (self.apps[app].here, self.apps[app].active) = (false, false);
        self.activate(cluster, self.apps[app].leaf);
    }

    fn is_of(&self, cluster: &Cluster<'_>, app: usize, leaf: usize, user: usize) -> bool {
        self.apps[app].here && self.apps[app].leaf == leaf && cluster.world.jobs[app].user == user
    }

    /// K4.
    fn activate(&mut self, cluster: &Cluster<'_>, leaf: usize) {
        let Queue { user_limit, user_limit_factor, am_share, .. } = self.settings.queues[leaf];
        let (am_share, factor) = (am_share as f32, user_limit_factor as f32);
        let now = self.leaves[leaf].limit;
        let usable = if self.holds(now, self.guarantee[leaf]) { now } else { self.guarantee[leaf] };
        let limit = self.times_up(usable, am_share.into());
        let size = self.size(cluster, AM);
        let mut of_user = None;
        for app in 0..self.apps.len() {
            if !self.apps[app].here || self.apps[app].active || self.apps[app].leaf != leaf {
                continue;
            }
            let user = cluster.world.jobs[app].user;
            let active: Vec<usize> =
                (0..self.apps.len()).filter(|&app| self.apps[app].active && self.apps[app].leaf == leaf).collect();
            let mine = active.iter().filter(|&&own| cluster.world.jobs[own].user == user).count() as i64;
            let masters = size.times(active.len() as i64);
            let is_first = active.is_empty();
            if !is_first && !self.holds(limit, masters.plus(size)) {
                break;
            }
            let limit = *of_user.get_or_insert_with(|| {
                let users = (self.asking(cluster, leaf).0 + self.leaves[leaf].waiting).max(1);
                let part = (user_limit as f32 / 100.0).max(1.0 / users as f32).min(1.0);
                self.smaller(self.times_up(self.guarantee[leaf], (am_share * part * factor).into()), limit)
            });
            self.apps[app].active = is_first || self.holds(limit, size.times(mine).plus(size));
        }
    }

    /// K9.
    pub(crate) fn headroom(&mut self, cluster: &Cluster<'_>, app: usize) -> i64 {
        self.note_freed(cluster);
        let (leaf, user) = (self.apps[app].leaf, cluster.world.jobs[app].user);
        let limit = self.user_limit(cluster, leaf);
        let left = |most: Amount, used: Amount| most.minus(used).each(|value| value.max(0));
        let (of_user, of_queue) =
            (left(limit, self.leaves[leaf].users[user].0), left(self.leaves[leaf].limit, self.leaves[leaf].used));
        let both = Amount { memory: of_user.memory.min(of_queue.memory), vcores: of_user.vcores.min(of_queue.vcores) };
        self.smaller(self.total.minus(self.used(ROOT)), self.down(both)).memory.max(0)
    }

    // A node's heartbeat.

    pub(crate) fn node_update(&mut self, cluster: &mut Cluster<'_>, node: usize) {
        self.note_freed(cluster);
        if let Some(Reservation { app, priority, .. }) = cluster.reserved[node] {
            if cluster.asked(app, priority) == 0 {
                cluster.reserved[node] = None;
                self.unkeep(cluster, app, priority, node);
                return;
            }
            // K15.
            self.apps[app].missed[priority] += 1;
            if cluster.fits(priority, node) {
                cluster.grant(app, priority, node);
                // It was charged for when the node was kept.
                self.charged.push(true);
                self.forget_kept(app, priority, node);
            } else {
                self.apps[app].again[priority] += 1;
            }
            // K2.
            return;
        }
        // K12.
        for _ in 0..100 {
            let mut limits = Limits::new(self.total);
            if self.serve(cluster, ROOT, node, &mut limits) != Served::Near || cluster.reserved[node].is_some() {
                break;
            }
        }
    }

    fn serve(&mut self, cluster: &mut Cluster<'_>, place: usize, node: usize, limits: &mut Limits) -> Served {
        let mut children = self.children(place);
        if children.is_empty() {
            return self.serve_leaf(cluster, place, node, limits);
        }
        // K10.
        let has_room = cluster.reserved[node].is_none() && self.holds(cluster.free(node), self.step);
        if !has_room || !self.has_room_within(place, limits, self.reserved_in(cluster, place)) {
            return Served::Nothing;
        }
        // K8.
        children.sort_by(|&a, &b| {
            let used = |queue: usize| self.share_of(self.used(queue), self.larger(self.guarantee[queue], self.step));
            used(a).total_cmp(&used(b)).then(self.share[b].total_cmp(&self.share[a]))
        });
        let mut served = Served::Nothing;
        for child in children {
            let mut below = self.limits_of(child, limits);
            match self.serve(cluster, child, node, &mut below) {
                Served::Nothing => {}
                Served::Full => {
                    served = Served::Full;
                    let left = if self.children(child).is_empty() { below.headroom } else { below.withheld };
                    limits.withheld = limits.withheld.plus(self.larger(left, NONE));
                }
                other => return other,
            }
        }
        served
    }

    /// K6.
    fn limits_of(&self, child: usize, above: &mut Limits) -> Limits {
        let parent = self.settings.queues[child].parent;
        above.limit = self.smaller(above.limit, self.most[parent]);
        let left = above.limit.minus(above.withheld).minus(self.used(parent));
        Limits::new(self.down(left.plus(self.used(child))))
    }

    fn has_room_within(&self, place: usize, limits: &mut Limits, releasable: Amount) -> bool {
        let (limit, used) = (self.smaller(self.most[place], limits.limit), self.used(place));
        limits.headroom = limit.minus(used);
        self.compare(used, limit).is_lt()
            || self.compare(releasable, NONE).is_gt() && self.compare(used.minus(releasable), limit).is_lt()
    }

    fn serve_leaf(&mut self, cluster: &mut Cluster<'_>, leaf: usize, node: usize, limits: &mut Limits) -> Served {
        let here: Vec<usize> =
            (0..self.apps.len()).filter(|&app| self.apps[app].here && self.apps[app].leaf == leaf).collect();
        if !here.iter().any(|&app| !self.apps[app].active || cluster.asks(app)) {
            return Served::Nothing;
        }
        let own_limit = self.smaller(self.down(self.most[leaf]), limits.limit);
        let (mut has_room, mut of_user) = (false, None);
        for app in here {
            if !self.apps[app].active {
                continue;
            }
            let releasable = self.reserved_by(cluster, app);
            if !has_room {
                if !self.has_room_within(leaf, limits, releasable) {
                    return Served::Nothing;
                }
                has_room = releasable == NONE;
            }
            if of_user.is_none() {
                of_user = Some(self.user_limit(cluster, leaf));
            }
            let limit = of_user.expect("it was computed");
            self.leaves[leaf].limit = own_limit;
            let used = self.leaves[leaf].users[cluster.world.jobs[app].user].0;
            limits.to_give_up = NONE;
            if self.compare(used, limit).is_gt() {
                if self.compare(used.minus(releasable), limit).is_gt() {
                    continue;
                }
                limits.to_give_up = used.minus(limit);
            }
            for priority in PRIORITIES {
                if cluster.asked(app, priority) == 0 {
                    continue;
                }
                if !self.holds(limits.headroom.plus(releasable), self.size(cluster, priority)) {
                    return Served::Full;
                }
                match self.assign(cluster, app, priority, node, limits) {
                    Served::Nothing => break,
                    served => return served,
                }
            }
        }
        Served::Nothing
    }

    fn assign(
        &mut self,
        cluster: &mut Cluster<'_>,
        app: usize,
        priority: usize,
        node: usize,
        limits: &Limits,
    ) -> Served {
        self.apps[app].missed[priority] += 1;
        let Some(near) = self.reach(cluster, app, priority, node) else { return Served::Nothing };
        let size = self.size(cluster, priority);
        if !self.holds(cluster.node_total(), size) {
            return Served::Nothing;
        }
        // K1.
        let lacking = self.larger(size.minus(limits.headroom), limits.to_give_up);
        let must = lacking.memory > 0 || self.calculator == Calculator::Dominant && lacking.vcores > 0;
        let mut given_up = None;
        if must || !self.needs_containers(cluster, app, priority) {
            let needed = if must { lacking } else { size };
            given_up = self.kept_for(app, priority).first().copied().filter(|_| self.holds(size, needed));
            if given_up.is_none() {
                return Served::Nothing;
            }
        }
        let fits = cluster.fits(priority, node);
        if !fits && given_up.is_some() {
            return Served::Nothing;
        }
        let net = if given_up.is_some() { NONE } else { size };
        let mut place = self.apps[app].leaf;
        loop {
            if !self.holds(self.most[place], self.used(place).plus(net)) {
                return Served::Rejected;
            }
            if place == ROOT {
                break;
            }
            place = self.settings.queues[place].parent;
        }
        if fits {
            cluster.grant(app, priority, node);
            self.charged.push(true);
        } else {
            cluster.reserve(app, priority, node);
            let state = &mut self.apps[app];
            state.again[priority] = 0;
            self.kept.push((app, priority, node));
            let kept = self.kept.iter().filter(|kept| (kept.0, kept.1) == (app, priority)).count();
            state.most_reserved[priority] = state.most_reserved[priority].max(kept);
        }
        if let Some(other) = given_up {
            cluster.reserved[other] = None;
            self.unkeep(cluster, app, priority, other);
        }
        self.change(cluster, app, |used| used.plus(size));
        if near != Locality::Off {
            self.apps[app].missed[priority] = 0;
        }
        if near == Locality::Off { Served::Far } else { Served::Near }
    }

    /// K3 and C2.
    fn reach(&self, cluster: &Cluster<'_>, app: usize, priority: usize, node: usize) -> Option<Locality> {
        let missed = self.apps[app].missed[priority];
        let nodes = cluster.world.machines.len() as i64;
        let in_rack = cluster.asked_in_rack(app, priority, node) > 0;
        if in_rack && cluster.asked_on(app, priority, node) > 0 {
            return Some(Locality::Node);
        }
        if in_rack && nodes.min(self.settings.node_locality_delay) < missed {
            return Some(Locality::Rack);
        }
        let (hosts, racks) = if priority == MAP { cluster.places(app) } else { Default::default() };
        let named = hosts.len() + racks.len();
        let factor = (named as f32 / nodes as f32).min(1.0);
        let may = named == 0 || nodes < missed || cluster.asked(app, priority) as f32 * factor < missed as f32;
        may.then_some(Locality::Off)
    }

    /// C1.
    fn needs_containers(&self, cluster: &Cluster<'_>, app: usize, priority: usize) -> bool {
        let reserved = self.kept_for(app, priority).len() as i64;
        let mut wanted = cluster.asked(app, priority);
        if reserved > 0 {
            let largest = cluster.maximum();
            let size = self.ratio(self.size(cluster, priority), largest);
            let rest = self.ratio(largest.minus(self.step), largest);
            wanted += (self.apps[app].again[priority] as f32 / reserved as f32 * (1.0 - size.min(rest))) as i64;
        }
        wanted > reserved
    }

    /// H1: the nodes that are kept for a request, in the order of Hadoop's table.
    fn kept_for(&self, app: usize, priority: usize) -> Vec<usize> {
        let mut size = 16;
        while self.apps[app].most_reserved[priority] > size / 4 * 3 {
            size *= 2;
        }
        let of = |kept: &(usize, usize, usize)| ((kept.0, kept.1) == (app, priority)).then_some(kept.2);
        let mut nodes: Vec<usize> = self.kept.iter().filter_map(of).collect();
        nodes.sort_by_key(|&node| place(&crate::worlds::host(node), size));
        nodes
    }

    /// A node is no longer kept for an application, and what was charged for it is given back.
    fn unkeep(&mut self, cluster: &Cluster<'_>, app: usize, priority: usize, node: usize) {
        self.forget_kept(app, priority, node);
        let size = self.size(cluster, priority);
        self.change(cluster, app, |used| used.minus(size));
    }

    fn forget_kept(&mut self, app: usize, priority: usize, node: usize) {
        self.kept.retain(|&kept| kept != (app, priority, node));
        self.apps[app].again[priority] = 0;
        if !self.kept.iter().any(|kept| (kept.0, kept.1) == (app, priority)) {
            self.apps[app].most_reserved[priority] = 0;
        }
    }

    // What users may have (K5 and K7).

    /// How many users ask, and what they use.
    fn asking(&self, cluster: &Cluster<'_>, leaf: usize) -> (u32, Amount) {
        let asks = |app: usize| {
            let state = &self.apps[app];
            let waits = cluster.apps[app].am_start.is_none();
            state.here
                && state.leaf == leaf
                && if !state.active || waits { state.counts && cluster.asked(app, AM) > 0 } else { cluster.asks(app) }
        };
        let asks_of = |user: usize| (0..self.apps.len()).any(|app| cluster.world.jobs[app].user == user && asks(app));
        let users: Vec<usize> = (0..self.leaves[leaf].users.len()).filter(|&user| asks_of(user)).collect();
        (users.len() as u32, Amount::sum(users.iter().map(|&user| self.leaves[leaf].users[user].0)))
    }

    fn user_limit(&mut self, cluster: &Cluster<'_>, leaf: usize) -> Amount {
        let (users, used) = self.asking(cluster, leaf);
        let key = (self.leaves[leaf].changes, users, used);
        if self.leaves[leaf].known != Some(key) {
            let only_waits = |user: usize| {
                let apps = || (0..self.apps.len()).filter(|&app| self.is_of(cluster, app, leaf, user));
                apps().next().is_some() && apps().all(|app| !self.apps[app].active)
            };
            let waiting = (0..self.leaves[leaf].users.len()).filter(|&user| only_waits(user)).count() as u32;
            (self.leaves[leaf].known, self.leaves[leaf].waiting) = (Some(key), waiting);
        }
        let Queue { user_limit, user_limit_factor, .. } = self.settings.queues[leaf];
        let capacity = self.larger(self.guarantee[leaf], self.step);
        let consumed = self.times_up(self.total, self.leaves[leaf].ratio.into());
        let current = if self.compare(consumed, capacity).is_lt() { capacity } else { consumed.plus(self.step) };
        let minimum = current.each(|value| (value * i64::from(user_limit) + 99) / 100);
        let each =
            used.plus(self.step).each(|value| if users == 0 { 0 } else { (value as f32 / users as f32).ceil() as i64 });
        let most = capacity.each(|value| (value as f64 * f64::from(user_limit_factor as f32)) as i64);
        self.down(self.up(self.smaller(self.larger(each, minimum), most)))
    }

    // What is charged.

    /// Gives back what was charged for containers that are over, tasks before masters.
    fn note_freed(&mut self, cluster: &Cluster<'_>) {
        for masters in [false, true] {
            for number in 0..cluster.containers.len() {
                let container = &cluster.containers[number];
                if container.freed && self.charged[number] && (container.priority == AM) == masters {
                    self.charged[number] = false;
                    let size = self.size(cluster, container.priority);
                    self.change(cluster, container.app, |used| used.minus(size));
                }
            }
        }
    }

    fn change(&mut self, cluster: &Cluster<'_>, app: usize, change: impl Fn(Amount) -> Amount) {
        let (leaf, user) = (self.apps[app].leaf, cluster.world.jobs[app].user);
        let (used, before) = self.leaves[leaf].users[user];
        let used = change(used);
        let ratio = self.ratio(used, self.total);
        let state = &mut self.leaves[leaf];
        state.changes += 1;
        state.used = change(state.used);
        state.users[user] = (used, ratio);
        state.ratio += ratio - before;
    }

    fn used(&self, place: usize) -> Amount {
        let children = self.children(place);
        if children.is_empty() {
            self.leaves[place].used
        } else {
            Amount::sum(children.iter().map(|&child| self.used(child)))
        }
    }

    fn children(&self, place: usize) -> Vec<usize> {
        (1..self.settings.queues.len()).filter(|&queue| self.settings.queues[queue].parent == place).collect()
    }

    fn reserved_by(&self, cluster: &Cluster<'_>, app: usize) -> Amount {
        Amount::sum(self.kept.iter().filter(|kept| kept.0 == app).map(|kept| self.size(cluster, kept.1)))
    }

    fn reserved_in(&self, cluster: &Cluster<'_>, place: usize) -> Amount {
        let is_below = |app: usize| {
            let mut at = self.apps[app].leaf;
            while at != place && at != ROOT {
                at = self.settings.queues[at].parent;
            }
            at == place
        };
        Amount::sum((0..self.apps.len()).filter(|&app| is_below(app)).map(|app| self.reserved_by(cluster, app)))
    }

    fn size(&self, cluster: &Cluster<'_>, priority: usize) -> Amount {
        let size = cluster.size(priority);
        if self.calculator == Calculator::Memory { Amount { vcores: 0, ..size } } else { size }
    }

    // The calculators.

    fn shares(&self, amount: Amount) -> [f32; 2] {
        let memory = amount.memory as f32 / self.total.memory as f32;
        let vcores = amount.vcores as f32 / self.total.vcores as f32;
        [memory.max(vcores), memory.min(vcores)]
    }

    fn compare(&self, a: Amount, b: Amount) -> Ordering {
        match self.calculator {
            Calculator::Memory => a.memory.cmp(&b.memory),
            Calculator::Dominant => self.shares(a).partial_cmp(&self.shares(b)).expect("numbers"),
        }
    }

    fn smaller(&self, a: Amount, b: Amount) -> Amount {
        if self.compare(a, b).is_le() { a } else { b }
    }

    fn larger(&self, a: Amount, b: Amount) -> Amount {
        if self.compare(a, b).is_ge() { a } else { b }
    }

    fn holds(&self, room: Amount, amount: Amount) -> bool {
        amount.memory <= room.memory && (self.calculator == Calculator::Memory || amount.vcores <= room.vcores)
    }

    fn ratio(&self, a: Amount, b: Amount) -> f32 {
        let memory = a.memory as f32 / b.memory as f32;
        match self.calculator {
            Calculator::Memory => memory,
            Calculator::Dominant => memory.max(a.vcores as f32 / b.vcores as f32),
        }
    }

    fn share_of(&self, a: Amount, b: Amount) -> f32 {
        match self.calculator {
            Calculator::Memory => a.memory as f32 / b.memory as f32,
            Calculator::Dominant => self.shares(a)[0] / self.shares(b)[0],
        }
    }

    fn up(&self, amount: Amount) -> Amount {
        let up = |value: i64, step: i64| if step == 0 { value } else { round_up(value, step) };
        Amount { memory: up(amount.memory, self.step.memory), vcores: up(amount.vcores, self.step.vcores) }
    }

    fn down(&self, amount: Amount) -> Amount {
        let down = |value: i64, step: i64| if step == 0 { value } else { value / step * step };
        Amount { memory: down(amount.memory, self.step.memory), vcores: down(amount.vcores, self.step.vcores) }
    }

    fn times_up(&self, amount: Amount, factor: f64) -> Amount {
        self.up(match self.calculator {
            Calculator::Memory => amount.each(|value| (value as f64 * factor + 0.5) as i64),
            Calculator::Dominant => amount.each(|value| ((value as f64 * factor) as f32).ceil() as i64),
        })
    }
}

/// The place of a node in a table of so many (`NodeId.hashCode`, port 1234).
fn place(name: &str, places: usize) -> usize {
    let text = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let hash = 493_217_u32.wrapping_mul(493_217_u32.wrapping_mul(8501).wrapping_add(text)).wrapping_add(1234);
    ((hash ^ hash >> 16) as usize) & (places - 1)
}
