//! YARN's Fair Scheduler of Hadoop 3.4 without preemption (rules F1 to F11 of `docs/yarn-fair-3.md`).

use std::cmp::Ordering;

use resched_policies::queues::{FairQueue, SharePolicy};
use resched_sim::Ms;
use resched_tables::model::Locality;

use super::fair::{Claim, Settings as Common, fair_shares};
use super::{AM, Amount, Cluster, MAP, PRIORITIES, Reservation};

/// The settings: those of 2014, without preemption, and those that 3.4 has beside them.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) common: Common,
    /// A node that is filled gives half of what it has free.
    pub(crate) dynamic: bool,
    pub(crate) reservable_nodes: f64,
    pub(crate) reservation_multiple: f64,
}

const NO_LIMIT: i64 = i32::MAX as i64;

#[derive(Debug, Clone)]
struct Queue {
    name: String,
    settings: FairQueue,
    running: Vec<usize>,
    waiting: Vec<usize>,
    demand: Amount,
    share: Amount,
}

#[derive(Debug, Clone, Default)]
struct App {
    queue: usize,
    demand: Amount,
    share: Amount,
    opportunities: [i64; 3],
    level: [Option<Locality>; 3],
    master: bool,
}

/// The scheduler.
pub(crate) struct Fair {
    settings: Settings,
    queues: Vec<Queue>,
    apps: Vec<App>,
    total: Amount,
}

/// What is compared: a queue or a job.
struct Schedulable {
    used: Amount,
    demand: i64,
    minimum: Amount,
    weight: f32,
    start: Ms,
    name: String,
}

impl Fair {
    pub(crate) fn new(settings: &Settings, cluster: &Cluster<'_>) -> Self {
        let mut fair = Self {
            settings: settings.clone(),
            queues: Vec::new(),
            apps: vec![App::default(); cluster.world.jobs.len()],
            total: cluster.total(),
        };
        for (name, queue) in settings.common.queues.clone() {
            fair.add_queue(name, queue);
        }
        fair
    }

    fn add_queue(&mut self, name: String, settings: FairQueue) {
        let (demand, share) = (Amount::default(), Amount::default());
        self.queues.push(Queue { name, settings, running: Vec::new(), waiting: Vec::new(), demand, share });
    }

    pub(crate) fn update_interval(&self) -> Ms {
        self.settings.common.update
    }

    // Applications come and go.

    pub(crate) fn arrive(&mut self, cluster: &Cluster<'_>, app: usize) {
        let job = &cluster.world.jobs[app];
        let by_user = self.settings.common.by_user;
        let name = if by_user { format!("user{}", job.user) } else { format!("queue{}", job.queue) };
        if !self.queues.iter().any(|queue| queue.name == name) {
            self.add_queue(name.clone(), FairQueue::default());
        }
        let queue = self.queues.iter().position(|queue| queue.name == name).expect("it was made");
        self.apps[app] = App { queue, ..App::default() };
        let list = self.may_run(queue);
        let state = &mut self.queues[queue];
        if list { state.running.push(app) } else { state.waiting.push(app) }
    }

    fn may_run(&self, queue: usize) -> bool {
        let below = |most: Option<u32>, running: usize| most.is_none_or(|most| running < most as usize);
        let all = self.queues.iter().map(|queue| queue.running.len()).sum();
        below(self.queues[queue].settings.max_apps, self.queues[queue].running.len())
            && below(self.settings.common.root.max_apps, all)
    }

    pub(crate) fn leave(&mut self, cluster: &Cluster<'_>, app: usize) {
        let queue = self.apps[app].queue;
        self.queues[queue].running.retain(|&other| other != app);
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

    /// F11.
    pub(crate) fn headroom(&self, cluster: &Cluster<'_>, app: usize) -> i64 {
        let queue = self.apps[app].queue;
        let used = self.used_in(cluster, queue).memory;
        let free = self.total.minus(cluster.held(|_| true)).memory;
        let within = self.most(queue).memory - used;
        free.min(within).min(self.queues[queue].share.memory - used).max(0)
    }

    // A node's heartbeat.

    pub(crate) fn node_update(&mut self, cluster: &mut Cluster<'_>, node: usize) {
        if let Some(Reservation { app, priority, .. }) = cluster.reserved[node] {
            let may_start = priority != AM || self.master_may_run(cluster, app);
            if may_start && self.may_be_served(cluster, app, priority) {
                if cluster.fits(priority, node) {
                    self.serve(cluster, app, priority, node);
                }
                return;
            }
            cluster.reserved[node] = None;
        }
        let before = cluster.free(node);
        for given in 1.. {
            if !self.assign(cluster, node)
                || cluster.reserved[node].is_some()
                || !self.goes_on(given, before, cluster, node)
            {
                break;
            }
        }
    }

    /// F4.
    fn goes_on(&self, given: usize, before: Amount, cluster: &Cluster<'_>, node: usize) -> bool {
        let common = &self.settings.common;
        if !common.assign_multiple {
            return false;
        }
        if !self.settings.dynamic {
            return common.max_assign.is_none_or(|most| given < most);
        }
        before.minus(cluster.free(node)).fits_in(before.each(|value| (value as f64 * 0.5) as i64))
    }

    fn assign(&mut self, cluster: &mut Cluster<'_>, node: usize) -> bool {
        let mut queues: Vec<usize> = (0..self.queues.len()).collect();
        queues
            .sort_by(|&a, &b| self.compare(self.root_policy(), &self.of_queue(cluster, a), &self.of_queue(cluster, b)));
        for queue in queues {
            let mut apps = self.queues[queue].running.clone();
            let policy = self.policy(queue);
            apps.sort_by(|&a, &b| self.compare(policy, &self.of_app(cluster, a), &self.of_app(cluster, b)));
            for app in apps {
                // F3.
                if self.apps[app].demand != cluster.used_by(app) && self.serve_app(cluster, app, node) {
                    return true;
                }
            }
        }
        false
    }

    fn serve_app(&mut self, cluster: &mut Cluster<'_>, app: usize, node: usize) -> bool {
        for priority in PRIORITIES {
            if self.may_be_served(cluster, app, priority) {
                match self.serve(cluster, app, priority, node) {
                    Some(served) => return served,
                    None if priority == AM => return false,
                    None => {}
                }
            }
        }
        false
    }

    /// F7.
    fn may_be_served(&self, cluster: &Cluster<'_>, app: usize, priority: usize) -> bool {
        let (queue, size) = (self.apps[app].queue, cluster.size(priority));
        cluster.asked(app, priority) > 0
            && size.fits_in(cluster.node_total())
            && self.used_in(cluster, queue).plus(size).fits_in(self.most(queue))
    }

    /// Whether a request got a container or the node; `None`: the next request is tried.
    fn serve(&mut self, cluster: &mut Cluster<'_>, app: usize, priority: usize, node: usize) -> Option<bool> {
        self.apps[app].opportunities[priority] += 1;
        if priority == AM && !self.master_may_run(cluster, app) {
            return None;
        }
        let allowed = self.allowed_level(cluster, app, priority);
        let in_rack = cluster.asked_in_rack(app, priority, node) > 0;
        let near = if in_rack && cluster.asked_on(app, priority, node) > 0 {
            Locality::Node
        } else if in_rack {
            Locality::Rack
        } else {
            Locality::Off
        };
        if near > allowed {
            return None;
        }
        if cluster.fits(priority, node) {
            if self.apps[app].level[priority].is_some_and(|level| near < level) {
                self.apps[app].level[priority] = Some(near);
            }
            self.apps[app].master |= priority == AM;
            cluster.grant(app, priority, node);
            return Some(true);
        }
        let keeps = self.may_keep(cluster, app, priority, (node, near));
        if keeps {
            cluster.reserve(app, priority, node);
        }
        Some(keeps)
    }

    /// F2 beside the thresholds of 2014.
    fn allowed_level(&mut self, cluster: &Cluster<'_>, app: usize, priority: usize) -> Locality {
        let Some([node, rack]) = self.settings.common.thresholds else { return Locality::Off };
        let nodes = cluster.world.machines.len() as f64;
        let state = &mut self.apps[app];
        let passed = |threshold: f64| state.opportunities[priority] as f64 > nodes * threshold;
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
        let names_places = priority == MAP && !cluster.places(app).0.is_empty();
        if names_places { next } else { Locality::Off }
    }

    /// F5.
    fn master_may_run(&self, cluster: &Cluster<'_>, app: usize) -> bool {
        let queue = self.apps[app].queue;
        let state = &self.queues[queue];
        let share = state.settings.max_am_share.or(self.settings.common.max_am_share).unwrap_or(0.5);
        if share < 0.0 {
            return true;
        }
        let (free, most) = (self.total.minus(cluster.held(|_| true)), self.most(queue));
        let of = |fair: i64, free: i64, most: i64| {
            let all = if fair == 0 { free.min(most) } else { fair };
            (all as f64 * f64::from(share as f32)).ceil() as i64
        };
        let limit = Amount {
            memory: of(state.share.memory, free.memory, most.memory),
            vcores: of(state.share.vcores, free.vcores, most.vcores),
        };
        let masters = state.running.iter().filter(|&&other| self.apps[other].master).count() as i64;
        cluster.size(AM).times(masters + 1).fits_in(limit)
    }

    /// F1.
    fn may_keep(&self, cluster: &Cluster<'_>, app: usize, priority: usize, (node, near): (usize, Locality)) -> bool {
        let step = |value: i64| (value as f64 * self.settings.reservation_multiple) as i64;
        let least = Amount { memory: step(1_024), vcores: step(1) };
        let (size, used, share) = (cluster.size(priority), cluster.used_by(app), self.apps[app].share);
        let (is_large, is_starved) = match self.policy(self.apps[app].queue) {
            SharePolicy::Drf => (self.shares(size) >= self.shares(least), self.shares(used)[0] < self.shares(share)[0]),
            _ => (size.memory >= least.memory, used.memory < share.memory),
        };
        if near == Locality::Node {
            return is_large && is_starved;
        }
        let nodes =
            |wanted: &dyn Fn(usize) -> bool| (0..cluster.world.machines.len()).filter(|&node| wanted(node)).count();
        let counts = |other: usize| near == Locality::Off || cluster.rack(other) == cluster.rack(node);
        let kept = nodes(&|other| counts(other) && cluster.reserved[other].is_some_and(|kept| kept.app == app));
        let most = (nodes(&counts) as f32 * self.settings.reservable_nodes as f32).ceil() as usize;
        is_large && is_starved && kept < most
    }

    // The order (F8 and F9).

    fn policy(&self, queue: usize) -> SharePolicy {
        self.queues[queue].settings.policy.unwrap_or(self.settings.common.share)
    }

    fn root_policy(&self) -> SharePolicy {
        match self.settings.common.share {
            SharePolicy::Fifo => SharePolicy::Fair,
            policy => policy,
        }
    }

    fn used_in(&self, cluster: &Cluster<'_>, queue: usize) -> Amount {
        Amount::sum(self.queues[queue].running.iter().map(|&app| cluster.used_by(app)))
    }

    fn most(&self, queue: usize) -> Amount {
        let settings = &self.queues[queue].settings;
        let limit = |most: Option<u32>, min: u32| most.map_or(NO_LIMIT, |most| most.max(min).into());
        Amount {
            memory: limit(settings.max_memory_mb, settings.min_memory_mb),
            vcores: limit(settings.max_vcores, settings.min_vcores),
        }
    }

    fn of_queue(&self, cluster: &Cluster<'_>, queue: usize) -> Schedulable {
        let state = &self.queues[queue];
        let (memory, vcores) = (state.settings.min_memory_mb.into(), state.settings.min_vcores.into());
        Schedulable {
            used: self.used_in(cluster, queue),
            demand: state.demand.memory,
            minimum: Amount { memory, vcores },
            weight: state.settings.weight as f32,
            start: 0,
            name: state.name.clone(),
        }
    }

    fn of_app(&self, cluster: &Cluster<'_>, app: usize) -> Schedulable {
        Schedulable {
            used: cluster.used_by(app),
            demand: self.apps[app].demand.memory,
            minimum: Amount::default(),
            weight: self.weight(app),
            start: cluster.world.jobs[app].submit,
            name: format!("{app:04}"),
        }
    }

    /// F10.
    fn weight(&self, app: usize) -> f32 {
        let by_size = (self.apps[app].demand.memory as f64).ln_1p() / 2.0_f64.ln();
        if self.settings.common.size_weight { by_size as f32 } else { 1.0 }
    }

    fn compare(&self, policy: SharePolicy, a: &Schedulable, b: &Schedulable) -> Ordering {
        let order = match policy {
            SharePolicy::Fair => by_memory(a, b),
            SharePolicy::Drf => self.by_dominant_share(a, b),
            SharePolicy::Fifo => Ordering::Equal,
        };
        order.then(a.start.cmp(&b.start)).then_with(|| a.name.cmp(&b.name))
    }

    fn by_dominant_share(&self, a: &Schedulable, b: &Schedulable) -> Ordering {
        let of =
            |used: Amount, of: Amount| [used.memory as f64 / of.memory as f64, used.vcores as f64 / of.vcores as f64];
        // Whether it is needy; and what it is compared by, its dominant resource first.
        let stand = |schedulable: &Schedulable| {
            let of_cluster = of(schedulable.used, self.total);
            let [first, second] = if of_cluster[1] > of_cluster[0] { [1, 0] } else { [0, 1] };
            let pairs = [
                (schedulable.used.memory, schedulable.minimum.memory),
                (schedulable.used.vcores, schedulable.minimum.vcores),
            ];
            let is_needy = pairs[first].0 < pairs[first].1;
            let by = if is_needy {
                of(schedulable.used, schedulable.minimum)
            } else {
                of_cluster.map(|share| share / f64::from(schedulable.weight))
            };
            (!is_needy, [by[first], by[second]])
        };
        let (a, b) = (stand(a), stand(b));
        let number = |share: f64| if share.is_nan() { f64::INFINITY } else { share };
        a.0.cmp(&b.0).then(number(a.1[0]).total_cmp(&number(b.1[0]))).then(number(a.1[1]).total_cmp(&number(b.1[1])))
    }

    /// The shares of the cluster, the larger one first.
    fn shares(&self, amount: Amount) -> [f64; 2] {
        let memory = amount.memory as f64 / self.total.memory as f64;
        let vcores = amount.vcores as f64 / self.total.vcores as f64;
        [memory.max(vcores), memory.min(vcores)]
    }

    // The update.

    pub(crate) fn tick(&mut self, cluster: &Cluster<'_>) {
        // F6.
        for queue in 0..self.queues.len() {
            let mut demand = Amount::default();
            for app in [self.queues[queue].running.clone(), self.queues[queue].waiting.clone()].concat() {
                let asked =
                    PRIORITIES.iter().map(|&priority| cluster.size(priority).times(cluster.asked(app, priority)));
                self.apps[app].demand = cluster.used_by(app).plus(Amount::sum(asked));
                demand = demand.plus(self.apps[app].demand);
            }
            let most = self.most(queue);
            self.queues[queue].demand =
                Amount { memory: demand.memory.min(most.memory), vcores: demand.vcores.min(most.vcores) };
        }
        self.share_among_queues();
        for queue in (0..self.queues.len()).filter(|&queue| !self.queues[queue].running.is_empty()).collect::<Vec<_>>()
        {
            self.share_among_apps(cluster, queue);
        }
    }

    fn share_among_queues(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.share = Amount::default());
        let active: Vec<usize> =
            (0..self.queues.len()).filter(|&queue| !self.queues[queue].running.is_empty()).collect();
        let claims = |of: &dyn Fn(&FairQueue) -> u32, most: &dyn Fn(Amount) -> i64| -> Vec<Claim> {
            let claim = |&place: &usize| {
                let settings = &self.queues[place].settings;
                Claim { weight: settings.weight as f32, least: of(settings).into(), most: most(self.most(place)) }
            };
            active.iter().map(claim).collect()
        };
        let memory = fair_shares(&claims(&|queue| queue.min_memory_mb, &|most| most.memory), self.total.memory);
        let vcores = match self.root_policy() {
            SharePolicy::Drf => fair_shares(&claims(&|queue| queue.min_vcores, &|most| most.vcores), self.total.vcores),
            _ => vec![0; active.len()],
        };
        for (place, &queue) in active.iter().enumerate() {
            self.queues[queue].share = Amount { memory: memory[place], vcores: vcores[place] };
        }
    }

    fn share_among_apps(&mut self, cluster: &Cluster<'_>, queue: usize) {
        let (apps, share) = (self.queues[queue].running.clone(), self.queues[queue].share);
        let policy = self.policy(queue);
        if policy == SharePolicy::Fifo {
            let first = apps.iter().min_by_key(|&&app| (cluster.world.jobs[app].submit, app));
            first.into_iter().for_each(|&app| self.apps[app].share = share);
            return;
        }
        let claims: Vec<Claim> =
            apps.iter().map(|&app| Claim { weight: self.weight(app), least: 0, most: NO_LIMIT }).collect();
        let memory = fair_shares(&claims, share.memory);
        let vcores = if policy == SharePolicy::Drf { fair_shares(&claims, share.vcores) } else { vec![0; apps.len()] };
        for (place, &app) in apps.iter().enumerate() {
            self.apps[app].share = Amount { memory: memory[place], vcores: vcores[place] };
        }
    }
}

/// F8: who wants something, then who lacks its minimum, then by use for the weight.
fn by_memory(a: &Schedulable, b: &Schedulable) -> Ordering {
    let minimum = |schedulable: &Schedulable| schedulable.minimum.memory.min(schedulable.demand);
    let is_needy = |schedulable: &Schedulable| schedulable.used.memory < minimum(schedulable);
    let share = |schedulable: &Schedulable| {
        if is_needy(schedulable) {
            schedulable.used.memory as f64 / minimum(schedulable).max(1) as f64
        } else {
            schedulable.used.memory as f64 / if schedulable.weight > 0.0 { f64::from(schedulable.weight) } else { 1.0 }
        }
    };
    let weightless = |schedulable: &Schedulable| !is_needy(schedulable) && schedulable.weight <= 0.0;
    (a.demand == 0)
        .cmp(&(b.demand == 0))
        .then(is_needy(b).cmp(&is_needy(a)))
        .then(weightless(a).cmp(&weightless(b)))
        .then(share(a).total_cmp(&share(b)))
}
