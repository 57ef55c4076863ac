//! YARN's Fair Scheduler (`docs/model/yarn-policies.md`, and F1 to F7 of `docs/yarn.md`).

use std::cmp::Ordering;

use resched_policies::queues::{FairQueue, SharePolicy};
use resched_sim::Ms;
use resched_tables::model::Locality;

use super::{AM, Amount, Cluster, Container, MAP, PRIORITIES, Reservation};

/// The settings. Queues lie below the root.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) root: FairQueue,
    pub(crate) queues: Vec<(String, FairQueue)>,
    /// A job's queue is its user's.
    pub(crate) by_user: bool,
    pub(crate) share: SharePolicy,
    pub(crate) size_weight: bool,
    pub(crate) assign_multiple: bool,
    pub(crate) max_assign: Option<usize>,
    pub(crate) thresholds: Option<[f64; 2]>,
    pub(crate) max_am_share: Option<f64>,
    pub(crate) update: Ms,
    pub(crate) preemption: Option<Preemption>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Preemption {
    pub(crate) interval: Ms,
    pub(crate) wait: Ms,
    pub(crate) threshold: f64,
}

/// Nobody reaches this.
const NO_LIMIT: i64 = i32::MAX as i64;

#[derive(Debug, Clone)]
struct Queue {
    name: String,
    settings: FairQueue,
    /// Its running jobs, in the order of the last sort (F3), and those that wait for their turn.
    running: Vec<usize>,
    waiting: Vec<usize>,
    demand: Amount,
    share: Amount,
    last_at_minimum: Ms,
    last_at_half_share: Ms,
}

#[derive(Debug, Clone, Default)]
struct App {
    queue: usize,
    demand: Amount,
    opportunities: [i64; 3],
    level: [Option<Locality>; 3],
    /// Its master has been started.
    master: bool,
}

/// The scheduler.
pub(crate) struct Fair {
    settings: Settings,
    /// In the order in which they were made, and the order of the last sort.
    queues: Vec<Queue>,
    order: Vec<usize>,
    apps: Vec<App>,
    total: Amount,
    last_check: Option<Ms>,
    /// Containers that were warned, in that order; and all that were ever chosen, with the time of the warning.
    warned: Vec<usize>,
    chosen: Vec<(usize, Ms)>,
    /// True if what was chosen counts as gone (F5).
    in_preemption: bool,
    start: Ms,
}

/// What is compared: a queue or a job.
#[derive(Debug, Clone)]
struct Schedulable {
    used: Amount,
    demand: Amount,
    minimum: Amount,
    weight: f32,
    start: Ms,
    name: String,
}

impl Fair {
    pub(crate) fn new(settings: &Settings, cluster: &Cluster<'_>, start: Ms) -> Self {
        let mut fair = Self {
            settings: settings.clone(),
            queues: Vec::new(),
            order: Vec::new(),
            apps: vec![App::default(); cluster.world.jobs.len()],
            total: cluster.total(),
            last_check: None,
            warned: Vec::new(),
            chosen: Vec::new(),
            in_preemption: false,
            start,
        };
        for (name, queue) in settings.queues.clone() {
            fair.add_queue(name, queue, start);
        }
        fair
    }

    fn add_queue(&mut self, name: String, settings: FairQueue, now: Ms) {
        self.order.push(self.queues.len());
        self.queues.push(Queue {
            name,
            settings,
            running: Vec::new(),
            waiting: Vec::new(),
            demand: Amount::default(),
            share: Amount::default(),
            last_at_minimum: now,
            last_at_half_share: now,
        });
    }

    pub(crate) fn update_interval(&self) -> Ms {
        self.settings.update
    }

    // Applications come and go.

    pub(crate) fn arrive(&mut self, cluster: &Cluster<'_>, app: usize) {
        let job = &cluster.world.jobs[app];
        let name = if self.settings.by_user { format!("user{}", job.user) } else { format!("queue{}", job.queue) };
        if !self.queues.iter().any(|queue| queue.name == name) {
            self.add_queue(name.clone(), FairQueue::default(), cluster.now.max(self.start));
        }
        let queue = self.queues.iter().position(|queue| queue.name == name).expect("it was made");
        self.apps[app] = App { queue, ..App::default() };
        if self.may_run(queue) {
            self.queues[queue].running.push(app);
        } else {
            self.queues[queue].waiting.push(app);
        }
    }

    /// True if the limits of a queue and of the root let another job run.
    fn may_run(&self, queue: usize) -> bool {
        let below = |most: Option<u32>, running: usize| most.is_none_or(|most| running < most as usize);
        let all = self.queues.iter().map(|queue| queue.running.len()).sum();
        below(self.queues[queue].settings.max_apps, self.queues[queue].running.len())
            && below(self.settings.root.max_apps, all)
    }

    pub(crate) fn leave(&mut self, cluster: &Cluster<'_>, app: usize) {
        let queue = self.apps[app].queue;
        self.queues[queue].running.retain(|&other| other != app);
        // Others may run now, by submission.
        let mut waiting: Vec<usize> = self.queues.iter().flat_map(|queue| queue.waiting.clone()).collect();
        waiting.sort_by_key(|&app| (cluster.world.jobs[app].submit, app));
        for next in waiting {
            let queue = self.apps[next].queue;
            if self.may_run(queue) {
                self.queues[queue].waiting.retain(|&other| other != next);
                self.queues[queue].running.push(next);
            }
        }
    }

    /// The headroom of later versions.
    pub(crate) fn headroom(&self, cluster: &Cluster<'_>, app: usize) -> i64 {
        let queue = self.apps[app].queue;
        let free = self.total.memory - cluster.held(|_| true).memory;
        let left = self.queues[queue].share.memory - self.used_in(cluster, queue).memory;
        free.min(left).max(0)
    }

    // A node's heartbeat.

    pub(crate) fn node_update(&mut self, cluster: &mut Cluster<'_>, node: usize) {
        if let Some(Reservation { app, priority, .. }) = cluster.reserved[node] {
            if cluster.asked(app, priority) > 0 {
                if cluster.fits(priority, node) {
                    self.assign_to_app(cluster, app, node, Some(priority));
                }
                return;
            }
            cluster.reserved[node] = None;
        }
        // F1: nothing asks whether the node has room.
        let mut assigned = 0;
        while cluster.reserved[node].is_none() && self.assign(cluster, node) {
            assigned += 1;
            if !self.settings.assign_multiple || self.settings.max_assign == Some(assigned) {
                break;
            }
        }
    }

    fn assign(&mut self, cluster: &mut Cluster<'_>, node: usize) -> bool {
        if !cluster.held(|_| true).fits_in(most(&self.settings.root)) {
            return false;
        }
        self.sort_queues(cluster);
        for queue in self.order.clone() {
            if !self.used_in(cluster, queue).fits_in(most(&self.queues[queue].settings)) {
                continue;
            }
            self.sort_apps(cluster, queue);
            for app in self.queues[queue].running.clone() {
                if self.assign_to_app(cluster, app, node, None) {
                    return true;
                }
            }
        }
        false
    }

    /// Gives a job a container or keeps the node for it; `kept` is the priority that the node is kept for.
    fn assign_to_app(&mut self, cluster: &mut Cluster<'_>, app: usize, node: usize, kept: Option<usize>) -> bool {
        for priority in PRIORITIES {
            if kept.is_some_and(|kept| kept != priority) || cluster.asked(app, priority) == 0 {
                continue;
            }
            self.apps[app].opportunities[priority] += 1;
            let lives = cluster.containers.iter().any(|container| container.app == app && !container.freed);
            if !lives && !self.master_may_run(cluster, app) {
                return false;
            }
            let allowed = self.allowed_level(cluster, app, priority);
            let in_rack = cluster.asked_in_rack(app, priority, node) > 0;
            let near = if in_rack && cluster.asked_on(app, priority, node) > 0 {
                Locality::Node
            } else if in_rack && allowed >= Locality::Rack {
                Locality::Rack
            } else if allowed == Locality::Off {
                Locality::Off
            } else {
                continue;
            };
            if cluster.fits(priority, node) {
                if self.apps[app].level[priority].is_some_and(|level| near < level) {
                    self.apps[app].level[priority] = Some(near);
                }
                self.apps[app].master |= priority == AM;
                cluster.grant(app, priority, node);
            } else {
                cluster.reserve(app, priority, node);
            }
            return true;
        }
        false
    }

    /// How far from its data a job may go, by the opportunities that it has had; F2: for all its requests.
    fn allowed_level(&mut self, cluster: &Cluster<'_>, app: usize, priority: usize) -> Locality {
        let Some([node, rack]) = self.settings.thresholds else { return Locality::Off };
        let nodes = cluster.world.machines.len() as f64;
        let state = &mut self.apps[app];
        let passed = |threshold: f64| state.opportunities[priority] as f64 > nodes * f64::from(threshold as f32);
        let next = match state.level[priority] {
            None => Locality::Node,
            Some(Locality::Node) if passed(node) => Locality::Rack,
            Some(Locality::Rack) if passed(rack) => Locality::Off,
            Some(same) => same,
        };
        if state.level[priority].is_some_and(|level| level != next) {
            state.opportunities[priority] = 0;
        }
        state.level[priority] = Some(next);
        next
    }

    /// The share of masters in a queue is limited.
    fn master_may_run(&self, cluster: &Cluster<'_>, app: usize) -> bool {
        let queue = self.apps[app].queue;
        let state = &self.queues[queue];
        let Some(share) = state.settings.max_am_share.or(self.settings.max_am_share).filter(|&share| share != -1.0)
        else {
            return true;
        };
        let most = state.share.each(|value| (value as f64 * f64::from(share as f32)) as i64);
        let masters = state.running.iter().filter(|&&other| self.apps[other].master).count() as i64;
        let used = cluster.size(AM).times(masters + 1);
        match self.policy(queue) {
            SharePolicy::Drf => used.fits_in(most),
            _ => used.memory <= most.memory,
        }
    }

    // The order.

    fn policy(&self, queue: usize) -> SharePolicy {
        self.queues[queue].settings.policy.unwrap_or(self.settings.share)
    }

    /// The order of jobs only is by submission, so that queues share by memory then.
    fn root_policy(&self) -> SharePolicy {
        match self.settings.root.policy.unwrap_or(self.settings.share) {
            SharePolicy::Fifo => SharePolicy::Fair,
            policy => policy,
        }
    }

    fn used_by(&self, cluster: &Cluster<'_>, app: usize) -> Amount {
        let gone = |chosen: &&(usize, Ms)| {
            let container = &cluster.containers[chosen.0];
            self.in_preemption && container.app == app && !container.freed
        };
        let gone = self.chosen.iter().filter(gone).map(|chosen| cluster.size(cluster.containers[chosen.0].priority));
        cluster.used_by(app).minus(Amount::sum(gone))
    }

    fn used_in(&self, cluster: &Cluster<'_>, queue: usize) -> Amount {
        Amount::sum(self.queues[queue].running.iter().map(|&app| self.used_by(cluster, app)))
    }

    fn of_queue(&self, cluster: &Cluster<'_>, queue: usize) -> Schedulable {
        let state = &self.queues[queue];
        Schedulable {
            used: self.used_in(cluster, queue),
            demand: state.demand,
            minimum: least(&state.settings),
            weight: state.settings.weight as f32,
            start: 0,
            name: state.name.clone(),
        }
    }

    fn of_app(&self, cluster: &Cluster<'_>, app: usize) -> Schedulable {
        let demand = self.apps[app].demand;
        // F4: no weight before the first update.
        let by_size = (demand.memory as f64).ln_1p() / 2.0_f64.ln();
        Schedulable {
            used: self.used_by(cluster, app),
            demand,
            minimum: Amount::default(),
            weight: if self.settings.size_weight { by_size as f32 } else { 1.0 },
            start: cluster.world.jobs[app].submit,
            name: format!("{app:04}"),
        }
    }

    fn compare(&self, policy: SharePolicy, one: &Schedulable, other: &Schedulable) -> Ordering {
        match policy {
            SharePolicy::Fair => by_memory(one, other),
            SharePolicy::Drf => self.by_dominant_share(one, other),
            SharePolicy::Fifo => one.start.cmp(&other.start).then_with(|| one.name.cmp(&other.name)),
        }
    }

    /// F3: by the dominant share, without a tie-break by name.
    fn by_dominant_share(&self, one: &Schedulable, other: &Schedulable) -> Ordering {
        let of = |used: Amount, pool: Amount, weight: f32| {
            let share = |used: i64, pool: i64| used as f32 / (pool as f32 * weight);
            [share(used.memory, pool.memory), share(used.vcores, pool.vcores)]
        };
        let pair = [one, other];
        let of_cluster = pair.map(|side| of(side.used, self.total, side.weight));
        let of_minimum = pair.map(|side| of(side.used, side.minimum, 1.0));
        let order = of_cluster.map(|[memory, vcores]| if memory > vcores { [0, 1] } else { [1, 0] });
        let needy = [0, 1].map(|side| of_minimum[side][order[side][0]] < 1.0);
        let shares = match needy {
            [true, false] => return Ordering::Less,
            [false, true] => return Ordering::Greater,
            [true, true] => of_minimum,
            [false, false] => of_cluster,
        };
        let at = |place: usize| sign(f64::from(shares[0][order[0][place]] - shares[1][order[1][place]]));
        at(0).then(at(1)).then(one.start.cmp(&other.start))
    }

    fn sort_queues(&mut self, cluster: &Cluster<'_>) {
        let all: Vec<Schedulable> = (0..self.queues.len()).map(|queue| self.of_queue(cluster, queue)).collect();
        let mut order = self.order.clone();
        sort_as_java(&mut order, &|one, other| self.compare(self.root_policy(), &all[one], &all[other]));
        self.order = order;
    }

    fn sort_apps(&mut self, cluster: &Cluster<'_>, queue: usize) {
        let all: Vec<Schedulable> = (0..self.apps.len()).map(|app| self.of_app(cluster, app)).collect();
        let mut running = self.queues[queue].running.clone();
        sort_as_java(&mut running, &|one, other| self.compare(self.policy(queue), &all[one], &all[other]));
        self.queues[queue].running = running;
    }

    // The tick: update, then the check for preemption.

    pub(crate) fn tick(&mut self, cluster: &mut Cluster<'_>) {
        self.note_starvation(cluster);
        self.update_demands(cluster);
        self.update_shares();
        if let Some(preemption) = self.settings.preemption {
            self.check(cluster, preemption);
        }
    }

    fn note_starvation(&mut self, cluster: &Cluster<'_>) {
        for queue in 0..self.queues.len() {
            let used = self.used_in(cluster, queue).memory;
            let state = &mut self.queues[queue];
            let starves = |share: i64| used < share.min(state.demand.memory);
            let (minimum, half) = (i64::from(state.settings.min_memory_mb), (state.share.memory as f64 * 0.5) as i64);
            let (for_minimum, for_half) = (starves(minimum), starves(half));
            if !for_minimum {
                state.last_at_minimum = cluster.now;
            }
            if !for_half {
                state.last_at_half_share = cluster.now;
            }
        }
    }

    /// F6. At the job with which a queue wants all that it may have, of both resources, Hadoop stops, and the others keep their old
    /// demands (F7).
    fn update_demands(&mut self, cluster: &Cluster<'_>) {
        for queue in self.order.clone() {
            let limit = most(&self.queues[queue].settings);
            let mut demand = Amount::default();
            for list in [self.queues[queue].running.clone(), self.queues[queue].waiting.clone()] {
                for app in list {
                    if demand == limit {
                        break;
                    }
                    self.apps[app].demand = demand_of(cluster, app);
                    demand = componentwise_min(demand.plus(self.apps[app].demand), limit);
                }
            }
            self.queues[queue].demand = demand;
        }
    }

    /// Shares of the queues in which jobs run.
    fn update_shares(&mut self) {
        for queue in &mut self.queues {
            if queue.running.is_empty() {
                queue.share = Amount::default();
            }
        }
        let active: Vec<usize> =
            (0..self.queues.len()).filter(|&queue| !self.queues[queue].running.is_empty()).collect();
        let claims = |resource: fn(Amount) -> i64| -> Vec<Claim> {
            let claim = |&place: &usize| {
                let settings = &self.queues[place].settings;
                Claim {
                    weight: settings.weight as f32,
                    least: resource(least(settings)),
                    most: resource(most(settings)),
                }
            };
            active.iter().map(claim).collect()
        };
        let memory = fair_shares(&claims(|amount| amount.memory), self.total.memory);
        let vcores = match self.root_policy() {
            SharePolicy::Drf => fair_shares(&claims(|amount| amount.vcores), self.total.vcores),
            _ => vec![0; active.len()],
        };
        for (place, &queue) in active.iter().enumerate() {
            self.queues[queue].share = Amount { memory: memory[place], vcores: vcores[place] };
        }
    }

    /// F5: whom the check for preemption warns and kills.
    fn check(&mut self, cluster: &mut Cluster<'_>, preemption: Preemption) {
        let used = cluster.held(|_| true);
        let share = |used: i64, total: i64| used as f32 / total as f32;
        let in_use = share(used.memory, self.total.memory).max(share(used.vcores, self.total.vcores));
        if preemption.threshold as f32 >= in_use
            || self.last_check.is_some_and(|last| cluster.now - last < preemption.interval)
        {
            return;
        }
        // The first check waits for none before it: by Hadoop's clock, the one before was in 1970.
        self.last_check = Some(cluster.now);
        let mut wanted: i64 = (0..self.queues.len()).map(|queue| self.wanted(cluster, queue)).sum();
        if wanted <= 0 {
            return;
        }
        for warned in std::mem::take(&mut self.warned) {
            let container = &cluster.containers[warned];
            // Running, or granted and not yet taken over.
            let alive = !container.freed && (container.running || container.taken_over >= cluster.now);
            if alive && wanted > 0 {
                self.warned.push(warned);
                wanted -= cluster.size(container.priority).memory;
                let since = self.chosen.iter().find(|chosen| chosen.0 == warned).expect("it was warned").1;
                if since + preemption.wait < cluster.now {
                    cluster.preempt(warned);
                }
            }
        }
        self.in_preemption = true;
        while wanted > 0 {
            let Some(victim) = self.next_victim(cluster) else { break };
            self.chosen.push((victim, cluster.now));
            self.warned.push(victim);
            wanted -= cluster.size(cluster.containers[victim].priority).memory;
        }
        self.in_preemption = false;
    }

    /// What a queue may take back from others.
    fn wanted(&self, cluster: &Cluster<'_>, queue: usize) -> i64 {
        let state = &self.queues[queue];
        let used = self.used_in(cluster, queue).memory;
        let missing = |share: i64| (share.min(state.demand.memory) - used).max(0);
        let timeout = |given: Option<Ms>, of_root: Option<Ms>| given.or(of_root);
        let after = |last: Ms, timeout: Option<Ms>| timeout.is_some_and(|timeout| cluster.now - last > timeout);
        let root = &self.settings.root;
        let mut wanted = 0;
        if after(state.last_at_minimum, timeout(state.settings.min_share_timeout, root.min_share_timeout)) {
            wanted = missing(state.settings.min_memory_mb.into());
        }
        if after(state.last_at_half_share, timeout(state.settings.fair_share_timeout, root.fair_share_timeout)) {
            wanted = wanted.max(missing(state.share.memory));
        }
        wanted
    }

    /// From the queue and there the job that is most over its share: maps before reduces, then the newest. (Masters are spared, a
    /// decision of the policy.)
    fn next_victim(&self, cluster: &Cluster<'_>) -> Option<usize> {
        let queues: Vec<Schedulable> = (0..self.queues.len()).map(|queue| self.of_queue(cluster, queue)).collect();
        let last = |list: &[usize], policy: SharePolicy, all: &[Schedulable]| {
            list.iter().copied().reduce(|most, next| {
                if self.compare(policy, &all[next], &all[most]) == Ordering::Greater { next } else { most }
            })
        };
        let queue = last(&self.order, self.root_policy(), &queues)?;
        let (used, share) = (queues[queue].used, self.queues[queue].share);
        let over = match self.root_policy() {
            SharePolicy::Drf => !used.fits_in(share),
            _ => used.memory > share.memory,
        };
        if !over {
            return None;
        }
        let apps: Vec<Schedulable> = (0..self.apps.len()).map(|app| self.of_app(cluster, app)).collect();
        let app = last(&self.queues[queue].running, self.policy(queue), &apps)?;
        let may = |other: &usize| {
            let container: &Container = &cluster.containers[*other];
            let chosen = self.chosen.iter().any(|chosen| chosen.0 == *other);
            container.app == app && container.priority != AM && !container.freed && !chosen
        };
        (0..cluster.containers.len())
            .filter(may)
            .max_by_key(|&container| (cluster.containers[container].priority, cluster.containers[container].id))
    }
}

fn least(settings: &FairQueue) -> Amount {
    Amount { memory: settings.min_memory_mb.into(), vcores: settings.min_vcores.into() }
}

fn most(settings: &FairQueue) -> Amount {
    let limit = |most: Option<u32>| most.map_or(NO_LIMIT, i64::from);
    Amount { memory: limit(settings.max_memory_mb), vcores: limit(settings.max_vcores) }
}

fn componentwise_min(one: Amount, other: Amount) -> Amount {
    Amount { memory: one.memory.min(other.memory), vcores: one.vcores.min(other.vcores) }
}

/// F6: what it has, and its requests at every place.
fn demand_of(cluster: &Cluster<'_>, app: usize) -> Amount {
    let mut demand = cluster.used_by(app);
    for priority in PRIORITIES {
        let mut requests = cluster.asked(app, priority);
        if priority == MAP && cluster.has_asked_for_maps(app) {
            let (hosts, _) = cluster.places(app);
            requests += hosts.iter().map(|&host| cluster.asked_on(app, MAP, host)).sum::<i64>();
            // A host of each of its racks.
            let first =
                |&&host: &&usize| hosts.iter().find(|&&other| cluster.rack(other) == cluster.rack(host)) == Some(&host);
            requests += hosts.iter().filter(first).map(|&host| cluster.asked_in_rack(app, MAP, host)).sum::<i64>();
        }
        demand = demand.plus(cluster.size(priority).times(requests));
    }
    demand
}

/// The sign of a difference; of no number: none.
fn sign(difference: f64) -> Ordering {
    difference.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

/// By memory: those below their minimum first, then by use for the weight.
fn by_memory(one: &Schedulable, other: &Schedulable) -> Ordering {
    let minimum = [one, other].map(|side| side.minimum.memory.min(side.demand.memory));
    let needy = [one.used.memory < minimum[0], other.used.memory < minimum[1]];
    let of_minimum = |schedulable: &Schedulable, minimum: i64| schedulable.used.memory as f64 / minimum.max(1) as f64;
    let for_weight = |schedulable: &Schedulable| f64::from(schedulable.used.memory as f32 / schedulable.weight);
    let by_share = match needy {
        [true, false] => Ordering::Less,
        [false, true] => Ordering::Greater,
        [true, true] => sign(of_minimum(one, minimum[0]) - of_minimum(other, minimum[1])),
        // F4: 0 / 0 is no number and equal to all.
        [false, false] => sign(for_weight(one) - for_weight(other)),
    };
    by_share.then(one.start.cmp(&other.start)).then_with(|| one.name.cmp(&other.name))
}

/// What a queue or a job may claim of a resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub(super) weight: f32,
    pub(super) least: i64,
    pub(super) most: i64,
}

/// clamp(w·R; least, most), truncated, for the least R found by 25 halvings that shares out what there is.
pub(super) fn fair_shares(claims: &[Claim], there: i64) -> Vec<i64> {
    let at = |ratio: f64| -> Vec<i64> {
        let share =
            |claim: &Claim| (f64::from(claim.weight) * ratio).max(claim.least as f64).min(claim.most as f64) as i64;
        claims.iter().map(share).collect()
    };
    if claims.is_empty() {
        return Vec::new();
    }
    let most = claims.iter().map(|claim| claim.most).fold(0, |sum, most| (sum + most).min(NO_LIMIT));
    let there = there.min(most);
    let given = |ratio: f64| at(ratio).iter().sum::<i64>();
    let mut right = 1.0;
    while given(right) < there {
        right *= 2.0;
    }
    let mut left = 0.0;
    for _ in 0..25 {
        let middle = (left + right) / 2.0;
        match given(middle).cmp(&there) {
            Ordering::Equal => {
                right = middle;
                break;
            }
            Ordering::Less => left = middle,
            Ordering::Greater => right = middle,
        }
    }
    at(right)
}

/// Java's `Collections.sort` of a short list: an order that contradicts itself (F4) sorts as it does there.
fn sort_as_java(list: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    if list.len() < 2 {
        return;
    }
    // The longest run at the start: ascending, or descending strictly and then reversed.
    let mut run = 2;
    if compare(list[1], list[0]) == Ordering::Less {
        while run < list.len() && compare(list[run], list[run - 1]) == Ordering::Less {
            run += 1;
        }
        list[..run].reverse();
    } else {
        while run < list.len() && compare(list[run], list[run - 1]) != Ordering::Less {
            run += 1;
        }
    }
    // The others one by one, each behind its equals.
    for next in run..list.len() {
        let pivot = list[next];
        let (mut left, mut right) = (0, next);
        while left < right {
            let middle = (left + right) / 2;
            if compare(pivot, list[middle]) == Ordering::Less {
                right = middle;
            } else {
                left = middle + 1;
            }
        }
        list.copy_within(left..next, left + 1);
        list[left] = pivot;
    }
}
