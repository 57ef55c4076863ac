//! YARN's Capacity Scheduler: guaranteed shares of queues, limits of users, a little delay for data (`docs/model/yarn-policies.md`).
//!
//! **What it does.** At a heartbeat, the node's containers are allocated one by one. From the root down, the queue that
//! uses the smallest part of its guarantee is served first. In a queue, applications are served by submission, and the
//! requests of each by priority. A request gets a container on a node with its data at once. It gets one in the rack,
//! or anywhere, only after the application has been passed over often enough. If a request does not fit, the node is
//! reserved for it. One container far from its data ends the heartbeat. So does any request that names no place: for a
//! master, a reduce, or a map that failed. The number of active applications of a queue is limited; the others wait for
//! their masters.
//!
//! **Source.** YARN, August 2014 (`CapacityScheduler`, `ParentQueue`, `LeafQueue`, `CSQueueUtils`, `FiCaSchedulerApp`). It
//! reproduces schedules of Hadoop's own classes row by row; `docs/yarn.md` lists the rules and their sources.
//!
//! **Decisions.** A job of an unknown queue goes to `default`, or else to the first leaf (YARN rejects it). With
//! `whole=true`, which is no rule of Hadoop's, a job gets its master and its first tasks all at once or not at all
//! ([`whole`]); this is how the DRESS paper describes its baseline.
//!
//! **Not modelled.** Node labels, blacklists, asynchronous scheduling, and preemption between queues.

mod calculator;
mod limits;
mod partitions;
mod whole;

use calculator::{Calculator, part};
use std::collections::BTreeMap;

use resched_sim::hadoop::{
    Ask, AttemptView, Container, ContainerState, Kind, Offer, Policy, Reach, Reservation, System, View,
};
use resched_sim::{JobId, NodeId, Resources, Violation};
use resched_tables::model::Reason;

use super::report_kept;
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::ByJob;
use crate::parts::whole_requests::{Next, WholeRequests};
use crate::queues::file as queues;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::{Shares, Total, YarnQueue, shares};
use crate::settings::{File, parameter, settings};
use crate::site::Site;
use limits::{UserLimit, extra_reservations, may_go_far, most_active};
pub(crate) use partitions::{PARTITIONS, Partitions, all_containers};
pub(crate) use whole::first_tasks;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "yarn-capacity",
    title: "YARN Capacity Scheduler",
    source: "Hadoop YARN (2014)",
    family: Family::Yarn,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::YarnQueues],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Containers, |values, site| {
        Ok(Box::new(YarnCapacity::new(&Settings::read(values)?, site)?))
    }),
};

parameter! {
    /// how many nodes an application passes over before it runs a map in the rack of its data
    pub(crate) NODE_LOCALITY_DELAY: u64 = "node_locality_delay" {
        default: 40, range: 0..=1_000_000, unit: "nodes", hadoop: ["yarn.scheduler.capacity.node-locality-delay"],
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// TOML file with the queues: capacities, limits of users and masters; without it: one queue
        queues: File = "queues" {},
        node_locality_delay: u64 = NODE_LOCALITY_DELAY,
        /// share of a queue's limit that masters may take, which limits the active applications
        am_share: f64 = "am_share" {
            default: 0.1, range: 0..=1, hadoop: ["yarn.scheduler.capacity.maximum-am-resource-percent"],
        },
        /// least share of a queue for each of its users
        user_limit: u32 = "user_limit" { default: 100, range: 1..=100, unit: "percent" },
        /// multiple of a queue's guarantee that one user may have
        user_limit_factor: f64 = "user_limit_factor" { default: 1, range: 0.000001..=1e6 },
        /// a job starts with all of its first containers or not at all (not a rule of Hadoop)
        whole: bool = "whole" { default: false },
    }
}

/// The policy.
#[derive(Debug)]
pub(crate) struct YarnCapacity {
    tree: QueueTree<YarnQueue>,
    defaults: YarnQueue,
    node_locality_delay: u64,
    /// By the queues' places in the tree.
    queues: Vec<Queue>,
    jobs: ByJob<Job>,
    partitions: Option<Partitions>,
    /// The jobs that wait for whole requests; `None`: containers are granted one by one.
    whole: Option<WholeRequests>,
    /// Which of these jobs is next; without whole requests, which is served first.
    next: Next,
    /// Whether the shares of queues still depend on the size of the cluster.
    is_unsettled: bool,
}

/// A queue and what its applications use.
#[derive(Debug)]
struct Queue {
    /// The shares of the cluster, and of its parent, that it is guaranteed and that it may use.
    shares: Shares,
    used: Resources,
    /// Of a leaf: its users, its active applications by submission, and those that wait, in order.
    users: Vec<User>,
    user_names: BTreeMap<String, usize>,
    active: Vec<JobId>,
    pending: Vec<JobId>,
    /// The active applications by what they ask for first; of equals the one that was submitted first is first. Only kept with
    /// partitions.
    by_size: Vec<(u32, JobId)>,
    /// Of a leaf: how many of its users have applications that wait.
    waiting_users: u32,
    /// Of a parent: room for the order of its children.
    order: Vec<usize>,
}

#[derive(Debug)]
struct User {
    used: Resources,
    /// Its active applications, and those that wait.
    active: u32,
    pending: u32,
}

/// An application.
#[derive(Debug, Clone, Copy, Default)]
struct Job {
    queue: usize,
    user: usize,
    /// How many tasks it asks for first.
    size: u32,
    /// Nodes that passed it over since it was last served, by [`Ask`].
    missed: [u64; 4],
    /// Nodes that are kept for it, by [`Ask`].
    reserved: [u32; 4],
    /// How often a kept node has had no room since that number changed last, by [`Ask`].
    again: [u32; 4],
    /// Memory that it could still get when its queue last looked at it, less what it was given since, MB.
    headroom: i64,
}

/// How a node's offer to a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    /// A container, or the node itself, was given for a request near its data.
    Near,
    /// One was given for a request that may run anywhere.
    Far,
    Nothing,
}

impl Queue {
    /// An application waits from now on.
    fn wait(&mut self, job: JobId, user: usize) {
        self.pending.push(job);
        self.users[user].pending += 1;
        self.waiting_users += u32::from(self.users[user].pending == 1);
    }

    /// An application does not wait any more.
    fn end_wait(&mut self, job: JobId, user: usize) {
        // Jobs are numbered by submission, so those that wait are in the order of their numbers.
        if let Ok(place) = self.pending.binary_search(&job) {
            self.pending.remove(place);
            self.users[user].pending -= 1;
            self.waiting_users -= u32::from(self.users[user].pending == 0);
        }
    }

    /// Why its jobs are passed over when it may have no more. A queue that may have the whole cluster waits for what others hold.
    fn at_limit(&self) -> Reason {
        if self.shares.limit < 1.0 { Reason::QueueLimit } else { Reason::None }
    }
}

impl YarnCapacity {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let tree = match settings.queues.path() {
            None => site.yarn_queues.clone().unwrap_or_else(queues::one_queue),
            Some(path) => queues::read(path).map_err(Error::File)?,
        };
        let mut policy = Self {
            tree: queues::one_queue(),
            defaults: YarnQueue {
                minimum_user_limit: Some(settings.user_limit),
                user_limit_factor: Some(settings.user_limit_factor),
                maximum_am_share: Some(settings.am_share),
                ..YarnQueue::default()
            },
            node_locality_delay: settings.node_locality_delay,
            queues: Vec::new(),
            jobs: ByJob::default(),
            partitions: None,
            whole: settings.whole.then(WholeRequests::default),
            next: Next::Earliest,
            is_unsettled: false,
        };
        policy.set_queues(tree)?;
        Ok(policy)
    }

    /// One queue whose jobs are kept apart in partitions, and get whole requests with `whole`.
    ///
    /// # Errors
    /// What is wrong with the queues.
    pub(crate) fn partitioned(node_locality_delay: u64, am_share: f64, whole: bool) -> Result<Self, Error> {
        let mut policy = Self {
            tree: queues::one_queue(),
            defaults: YarnQueue { maximum_am_share: Some(am_share), ..YarnQueue::default() },
            node_locality_delay,
            queues: Vec::new(),
            jobs: ByJob::default(),
            partitions: Some(Partitions::default()),
            whole: whole.then(WholeRequests::default),
            next: Next::Earliest,
            is_unsettled: false,
        };
        policy.set_queues(queues::one_queue())?;
        Ok(policy)
    }

    /// The partitions, if its jobs are kept apart.
    pub(crate) fn partitions(&self) -> Option<&Partitions> {
        self.partitions.as_ref()
    }

    /// The partitions, to change them.
    pub(crate) fn partitions_mut(&mut self) -> Option<&mut Partitions> {
        self.partitions.as_mut()
    }

    fn set_queues(&mut self, tree: QueueTree<YarnQueue>) -> Result<(), Error> {
        let queue = |shares| Queue {
            shares,
            used: Resources::NONE,
            users: Vec::new(),
            user_names: BTreeMap::new(),
            active: Vec::new(),
            pending: Vec::new(),
            by_size: Vec::new(),
            waiting_users: 0,
            order: Vec::new(),
        };
        self.queues = shares(&tree, None).map_err(Error::File)?.into_iter().map(queue).collect();
        self.is_unsettled = tree.depends_on_cluster();
        self.tree = tree;
        Ok(())
    }

    /// Gives the queues whose guarantees are amounts their shares of the cluster, once it is known.
    fn settle(&mut self, view: View<'_>) {
        if std::mem::take(&mut self.is_unsettled) {
            let (total, counts_cores) = (view.yarn().total(), view.yarn().smallest().cpu > 0);
            let total = Total { memory_mb: total.memory, vcores: counts_cores.then_some(total.cpu) };
            // The tree was checked before.
            let settled = shares(&self.tree, Some(total)).unwrap_or_default();
            self.queues.iter_mut().zip(settled).for_each(|(queue, shares)| queue.shares = shares);
        }
    }

    fn leaf_of(&self, name: &str) -> usize {
        self.tree.leaf_named(name).unwrap_or_else(|| self.tree.fallback())
    }

    fn user_of(&mut self, leaf: usize, name: &str) -> usize {
        let queue = &mut self.queues[leaf];
        if let Some(&user) = queue.user_names.get(name) {
            return user;
        }
        queue.users.push(User { used: Resources::NONE, active: 0, pending: 0 });
        queue.user_names.insert(name.to_owned(), queue.users.len() - 1);
        queue.users.len() - 1
    }

    fn minimum_user_limit(&self, leaf: usize) -> u32 {
        self.tree.get(leaf).settings.minimum_user_limit.or(self.defaults.minimum_user_limit).unwrap_or(100)
    }

    fn user_limit_factor(&self, leaf: usize) -> f32 {
        self.tree.get(leaf).settings.user_limit_factor.or(self.defaults.user_limit_factor).unwrap_or(1.0) as f32
    }

    // Applications.

    /// How many applications of a queue, and of one of its users, may be active.
    fn most_active(&self, leaf: usize, view: View<'_>) -> (u32, u32) {
        let own = self.tree.get(leaf).settings.maximum_am_share;
        let am_share = own.or(self.defaults.maximum_am_share).unwrap_or(0.1) as f32;
        let Shares { capacity, limit, .. } = self.queues[leaf].shares;
        let most = most_active(Calculator::of(view), am_share, limit);
        let guaranteed = most_active(Calculator::of(view), am_share, capacity) as f32;
        let share = self.minimum_user_limit(leaf) as f32 / 100.0;
        let most_of_user = (guaranteed * share * self.user_limit_factor(leaf)).ceil().max(1.0) as u32;
        (most, most_of_user)
    }

    /// Whether an application may become active if so many of its queue, and of its user, may be.
    fn may_become_active(&self, job: JobId, (most, most_of_user): (u32, u32)) -> bool {
        let Job { queue, user, .. } = self.jobs[job];
        let queue = &self.queues[queue];
        queue.active.len() < most as usize && queue.users[user].active < most_of_user
    }

    /// Makes an application active if it may be. Returns whether it did.
    fn make_active(&mut self, job: JobId, most: (u32, u32)) -> bool {
        let may = self.may_become_active(job, most);
        if may {
            let Job { queue, user, size, .. } = self.jobs[job];
            let queue = &mut self.queues[queue];
            queue.end_wait(job, user);
            queue.users[user].active += 1;
            let place = queue.active.partition_point(|&other| other < job);
            queue.active.insert(place, job);
            if self.partitions.is_some() {
                let place = queue.by_size.partition_point(|&other| other < (size, job));
                queue.by_size.insert(place, (size, job));
            }
        }
        may
    }

    /// Lets as many applications of a queue become active as its limits allow. Those that wait for whole requests become active when
    /// these are granted.
    fn activate(&mut self, leaf: usize, view: View<'_>) {
        if self.whole.is_some() {
            return;
        }
        let most = self.most_active(leaf, view);
        let mut place = 0;
        while let Some(&job) = self.queues[leaf].pending.get(place) {
            // Thousands may wait for a queue that is full. Only reasons are left to report.
            if self.queues[leaf].active.len() >= most.0 as usize && !view.wants_reasons() {
                break;
            }
            let is_active = self.make_active(job, most);
            view.pass_over_request(job, Ask::Am, if is_active { Reason::Master } else { Reason::JobLimit });
            place += usize::from(!is_active);
        }
    }

    /// A job uses this much more.
    fn charge(&mut self, job: JobId, amount: Resources) {
        self.change_use(job, |used| used.plus(amount));
    }

    fn discharge(&mut self, job: JobId, amount: Resources) {
        self.change_use(job, |used| used.minus(amount));
    }

    fn change_use(&mut self, job: JobId, change: impl Fn(Resources) -> Resources) {
        let Job { queue, user, .. } = self.jobs[job];
        let user = &mut self.queues[queue].users[user];
        user.used = change(user.used);
        for place in self.tree.with_ancestors(queue) {
            self.queues[place].used = change(self.queues[place].used);
        }
        if let Some(partitions) = &mut self.partitions {
            partitions.change_use(job, change);
        }
    }

    /// Grants a container for a request, which is charged apart.
    fn grant(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask, reach: Reach) -> Result<(), Violation> {
        offer.grant(job, ask, reach)?;
        if let Some(whole) = &mut self.whole {
            whole.grant(job, offer.view().yarn().demand(ask));
        }
        Ok(())
    }

    /// Gives back what was charged for nodes that are no longer kept for a job.
    fn drop_reservations(&mut self, job: JobId, view: View<'_>) {
        for ask in Ask::ALL {
            while self.jobs[job].reserved[ask.index()] > view.yarn().app(job).reserved(ask) {
                self.note_unreserved(job, ask);
                self.discharge(job, view.yarn().demand(ask));
            }
        }
    }

    /// A node is kept for a job from now on.
    fn note_reserved(&mut self, job: JobId, ask: Ask) {
        self.jobs[job].reserved[ask.index()] += 1;
        self.jobs[job].again[ask.index()] = 0;
    }

    /// A node is no longer kept for a job.
    fn note_unreserved(&mut self, job: JobId, ask: Ask) {
        self.jobs[job].reserved[ask.index()] -= 1;
        self.jobs[job].again[ask.index()] = 0;
    }

    // Limits.

    /// What the user of a job may have before a container of this size.
    fn user_limit(&self, job: JobId, required: Resources, view: View<'_>) -> Resources {
        let leaf = self.jobs[job].queue;
        let queue = &self.queues[leaf];
        UserLimit {
            calculator: Calculator::of(view),
            capacity: queue.shares.capacity,
            used: queue.used,
            users: self.asking_users(leaf, view),
            minimum: self.minimum_user_limit(leaf),
            factor: self.user_limit_factor(leaf),
        }
        .before(required)
    }

    /// Takes down what a job could still get, by the limit of its user and by what others leave of its queue
    /// (`LeafQueue.computeUserLimitAndSetHeadroom`).
    fn note_headroom(&mut self, job: JobId, user_limit: Resources, view: View<'_>) {
        let Job { queue, user, .. } = self.jobs[job];
        let by = Calculator::of(view);
        let available = by.part_rounded_down(by.cluster, self.most_available(queue, by));
        let limit = by.min(user_limit, available);
        let limit = self.partitions.as_ref().map_or(limit, |partitions| by.min(limit, partitions.limit_of(job, view)));
        self.jobs[job].headroom = limit.memory as i64 - self.queues[queue].users[user].used.memory as i64;
    }

    /// The share of the cluster that a queue could use, beside what its siblings use and those of the queues above it
    /// (`CSQueueUtils.getAbsoluteMaxAvailCapacity`).
    fn most_available(&self, place: usize, by: Calculator) -> f32 {
        let shares = self.queues[place].shares;
        let Some(parent) = self.tree.get(place).parent else { return shares.limit };
        let of_parent = self.most_available(parent, by);
        let all = part(by.cluster, of_parent);
        if by.is_no_divisor(all) {
            return 0.0;
        }
        let by_siblings = by.ratio(self.queues[parent].used.minus(self.queues[place].used), all);
        shares.limit_of_parent.min(1.0 - by_siblings) * of_parent
    }

    /// How many users of a queue ask for containers. An application that waits asks for its master.
    fn asking_users(&self, leaf: usize, view: View<'_>) -> u64 {
        let queue = &self.queues[leaf];
        let asks = |&&job: &&JobId| Ask::ALL.into_iter().any(|ask| view.yarn().app(job).asked(ask) > 0);
        debug_assert!(queue.pending.iter().all(|job| asks(&job)));
        let users = queue.active.iter().filter(asks).map(|&job| self.jobs[job].user);
        let mut others: Vec<usize> = users.filter(|&user| queue.users[user].pending == 0).collect();
        others.sort_unstable();
        others.dedup();
        u64::from(queue.waiting_users) + others.len() as u64
    }

    // Serving.

    /// Serves the request that the node is kept for, if there is room, or gives the node free if it is not asked for any more.
    fn serve_reservation(&mut self, offer: &mut Offer<'_, '_>, kept: Reservation) -> Result<(), Violation> {
        let Reservation { job, ask, .. } = kept;
        // The tasks that are left may have failed here.
        if offer.yarn().nearest(job, ask).is_none() {
            offer.yarn_mut().unreserve();
            self.note_unreserved(job, ask);
            self.discharge(job, offer.view().yarn().demand(ask));
        } else if offer.yarn().fits(ask) {
            // It was charged when the node was kept.
            let near = self.reach(offer, job, ask).unwrap_or(Reach::Any);
            self.grant(offer, job, ask, near)?;
            self.note_unreserved(job, ask);
        } else {
            self.jobs[job].again[ask.index()] += 1;
        }
        Ok(())
    }

    /// Gives one container of the node to a queue.
    fn serve(&mut self, offer: &mut Offer<'_, '_>, place: usize) -> Result<Served, Violation> {
        if self.tree.is_leaf(place) {
            return self.serve_leaf(offer, place);
        }
        let by = Calculator::of(offer.view());
        let queue = &self.queues[place];
        if !has_room(offer.node(), offer.view()) {
            return Ok(Served::Nothing);
        }
        if by.divide(queue.used, by.cluster) >= queue.shares.limit {
            self.report_limit(place, queue.at_limit(), offer.view());
            return Ok(Served::Nothing);
        }
        let mut order = std::mem::take(&mut self.queues[place].order);
        order.clear();
        order.extend_from_slice(&self.tree.get(place).children);
        order.sort_by(|&a, &b| {
            let fullness = |place: usize| fullness(&self.queues[place], by);
            fullness(a).total_cmp(&fullness(b)).then_with(|| self.tree.get(a).path.cmp(&self.tree.get(b).path))
        });
        let mut served = Ok(Served::Nothing);
        for &child in &order {
            served = self.serve(offer, child);
            if served != Ok(Served::Nothing) {
                break;
            }
        }
        self.queues[place].order = order;
        served
    }

    /// Reports that the jobs of the queues below one may have no more.
    fn report_limit(&self, place: usize, reason: Reason, view: View<'_>) {
        if !view.wants_reasons() {
            return;
        }
        for kind in Kind::BOTH {
            let queue = &self.queues[place];
            queue.active.iter().for_each(|&job| view.pass_over(job, kind, reason));
        }
        self.tree.get(place).children.iter().for_each(|&child| self.report_limit(child, reason, view));
    }

    fn serve_leaf(&mut self, offer: &mut Offer<'_, '_>, leaf: usize) -> Result<Served, Violation> {
        let by = Calculator::of(offer.view());
        let mut full = [false; PARTITIONS];
        for place in 0..self.queues[leaf].active.len() {
            let job = self.served_at(leaf, place);
            let partition = self.partitions.as_ref().map(|partitions| partitions.of(job));
            if partition.is_some_and(|partition| full[partition]) {
                continue;
            }
            for ask in Ask::ALL {
                let view = offer.view();
                if !self.needs(job, ask, view) {
                    continue;
                }
                let required = view.yarn().demand(ask);
                let limit = self.user_limit(job, required, view);
                self.note_headroom(job, limit, view);
                let queue = &self.queues[leaf];
                if by.divide(queue.used.plus(required), by.cluster) > queue.shares.limit {
                    view.pass_over_request(job, ask, queue.at_limit());
                    return Ok(Served::Nothing);
                }
                let is_due = self.whole.as_ref().is_some_and(|whole| whole.due(job).holds(required));
                if let (Some(partitions), Some(partition)) = (&self.partitions, partition)
                    && !is_due
                    && !partitions.admits(partition, ask, required, &queue.active, view)
                {
                    full[partition] = true;
                    view.pass_over_request(job, ask, Reason::Reserve);
                    break;
                }
                if by.order(queue.users[self.jobs[job].user].used, limit).is_gt() {
                    view.pass_over_request(job, ask, Reason::UserLimit);
                    break;
                }
                if view.yarn().app(job).asked(ask) > 0 && offer.yarn().nearest(job, ask).is_none() {
                    // Too many of its tasks have failed on this node.
                    continue;
                }
                self.jobs[job].missed[ask.index()] += 1;
                let Some(reach) = self.reach(offer, job, ask) else {
                    offer.view().pass_over_request(job, ask, Reason::Locality);
                    break;
                };
                if !self.place(offer, job, ask, reach)? {
                    break;
                }
                if reach == Reach::Any {
                    return Ok(Served::Far);
                }
                self.jobs[job].missed[ask.index()] = 0;
                return Ok(Served::Near);
            }
        }
        Ok(Served::Nothing)
    }

    /// The active application that is served at that place.
    fn served_at(&self, leaf: usize, place: usize) -> JobId {
        match self.next {
            Next::Smallest if self.whole.is_none() => self.queues[leaf].by_size[place].1,
            Next::Smallest | Next::Earliest => self.queues[leaf].active[place],
        }
    }

    /// Whether a job needs containers, or nodes to be kept for it (`LeafQueue.needContainers`).
    fn needs(&self, job: JobId, ask: Ask, view: View<'_>) -> bool {
        let (reserved, again) = (self.jobs[job].reserved[ask.index()], self.jobs[job].again[ask.index()]);
        let asked = view.yarn().app(job).asked(ask);
        if asked > reserved || reserved == 0 {
            return asked > reserved;
        }
        let by = Calculator::of(view);
        let largest = view.yarn().largest();
        let size = by.ratio(view.yarn().demand(ask), largest);
        let range = by.ratio(largest.minus(by.smallest), largest);
        extra_reservations(reserved, again, size, range) + asked > reserved
    }

    /// How far from its data a job may use this node; `None` if it waits for another (`LeafQueue.canAssign`).
    fn reach(&self, offer: &Offer<'_, '_>, job: JobId, ask: Ask) -> Option<Reach> {
        let (view, missed) = (offer.view(), self.jobs[job].missed[ask.index()]);
        let nodes = view.node_count();
        let app = view.yarn().app(job);
        let rack_open = self.node_locality_delay.min(nodes as u64) < missed;
        match offer.yarn().nearest(job, ask) {
            Some(Reach::Node) => Some(Reach::Node),
            Some(Reach::Rack) if rack_open => Some(Reach::Rack),
            _ => {
                let locations = if ask == Ask::Map { app.locations() } else { 0 };
                may_go_far(missed, app.asked(ask), locations, nodes).then_some(Reach::Any)
            }
        }
    }

    /// Launches for a request if the node has room, and else keeps the node for it. Returns whether it did either.
    fn place(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask, reach: Reach) -> Result<bool, Violation> {
        let size = offer.view().yarn().demand(ask);
        if !offer.view().capacity(offer.node()).holds(size) {
            return Ok(false);
        }
        if !offer.yarn().fits(ask) {
            offer.yarn_mut().reserve(job, ask)?;
            self.note_reserved(job, ask);
        } else if offer.yarn().nearest(job, ask).is_some() {
            self.grant(offer, job, ask, reach)?;
        } else {
            // It has asked for other nodes to be kept, and needs none any more.
            return Ok(false);
        }
        self.charge(job, size);
        // One that is over its limit starts from nothing (`SchedulerApplicationAttempt.getHeadroom`).
        let headroom = &mut self.jobs[job].headroom;
        *headroom = (*headroom).max(0) - size.memory as i64;
        Ok(true)
    }
}

/// Whether a node has room for the smallest container, by the resource of which it has the larger share free
/// (`CapacityScheduler.allocateContainersToNode`).
fn has_room(node: NodeId, view: View<'_>) -> bool {
    let by = Calculator::of(view);
    by.order(view.free(node), by.smallest).is_ge()
}

/// How much of its guarantee a queue uses (`CSQueueUtils.updateQueueStatistics`).
fn fullness(queue: &Queue, by: Calculator) -> f32 {
    let guaranteed = part(by.cluster, queue.shares.capacity);
    // Nothing of one resource alone is still a guarantee.
    if guaranteed == Resources::NONE { 0.0 } else { by.divide(queue.used, guaranteed) }
}

impl Policy for YarnCapacity {
    fn system(&self) -> System {
        System::Containers
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.settle(view);
        let queue = self.leaf_of(view.job(job).queue());
        let user = self.user_of(queue, view.job(job).user());
        let (_, size) = first_tasks(view.job(job));
        self.jobs[job] = Job { queue, user, size, ..Job::default() };
        self.queues[queue].wait(job, user);
        self.wait_for_whole(job, view);
        self.activate(queue, view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.drop_reservations(job, view);
        let Job { queue, user, size, .. } = self.jobs[job];
        let leaf = &mut self.queues[queue];
        if let Ok(place) = leaf.active.binary_search(&job) {
            leaf.active.remove(place);
            leaf.users[user].active -= 1;
        }
        if let Ok(place) = leaf.by_size.binary_search(&(size, job)) {
            leaf.by_size.remove(place);
        }
        leaf.end_wait(job, user);
        if let Some(whole) = &mut self.whole {
            whole.remove(job);
        }
        self.activate(queue, view);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        // Backups are launched beside the policy.
        if started.backup {
            let size = view.yarn().demand(Ask::of(started.kind));
            self.charge(view.job_of(started.task), size);
        }
    }

    fn container_changed(&mut self, container: &Container, _view: View<'_>) {
        if container.state == ContainerState::Completed {
            self.discharge(container.job, container.size);
        }
    }

    fn node_lost(&mut self, _node: NodeId, view: View<'_>) {
        // Neither the node is kept for anybody, nor others for the jobs whose masters were there.
        for &job in view.jobs() {
            self.drop_reservations(job, view);
        }
    }

    fn headroom(&self, job: JobId, _view: View<'_>) -> u64 {
        self.jobs[job].headroom.max(0) as u64
    }

    fn may_use(&self, node: NodeId, view: View<'_>) -> bool {
        view.yarn().reservation(node).is_some() || has_room(node, view)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if let Some(kept) = offer.yarn().reservation() {
            self.serve_reservation(offer, kept)?;
        }
        self.admit_whole(offer);
        while offer.yarn().reservation().is_none() {
            if self.serve(offer, QueueTree::<YarnQueue>::ROOT)? != Served::Near {
                break;
            }
        }
        report_kept(offer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::file::parse;
    use crate::testing::{Launch, Scenario, job, map};
    use resched_sim::Ms;
    use resched_tables::model::Locality;

    /// When the tasks of a job were allocated.
    fn times(launches: &[Launch], job: &str) -> Vec<Ms> {
        launches.iter().filter(|launch| launch.job == job).map(|launch| launch.at).collect()
    }

    fn with_queues(text: &str) -> YarnCapacity {
        let tree = parse::<YarnQueue>(text).unwrap_or_else(|error| unreachable!("{error}"));
        let mut policy = YarnCapacity::partitioned(40, 0.1, false).unwrap_or_else(|error| unreachable!("{error}"));
        policy.set_queues(tree).unwrap_or_else(|error| unreachable!("{error}"));
        policy
    }

    fn memory(mb: u64) -> Resources {
        Resources { cpu: 0, memory: mb }
    }

    #[test]
    fn a_node_that_is_kept_for_a_job_is_kept_from_others() {
        // Five containers on each node. The reduce of the first job needs two, so that a node is kept for it when each has one free.
        let world = Scenario::containers(2, 5)
            .large_reduces(2)
            .job(job("job_1_0001").maps(1, map(8_000)).reduces(1, 5_000))
            .job(job("job_1_0002").each_map((0..20).map(|late| map(9_000 + 900 * late)).collect()));
        let reasons = world.reasons("yarn-capacity:am_share=1", "job_1_0002");
        let kept = |&(_, reason, ref other): &(_, _, Option<String>)| {
            reason == Reason::Reserve && other.as_deref() == Some("job_1_0001")
        };
        assert!(reasons.iter().any(kept), "{reasons:?}");
    }

    #[test]
    fn c3_queues_are_compared_in_single_precision() {
        // Of 163,840 MB, a is guaranteed 50 % and c 20 %: 15,360 of 81,920 and 6,144 of 32,768 MB are the same share.
        let mut policy =
            with_queues("[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 30\n[queues.c]\ncapacity = 20\n");
        let by = Calculator::new(memory(163_840), memory(1024));
        let full = |policy: &mut YarnCapacity, name: &str, used: u64| {
            let place = policy.leaf_of(name);
            policy.queues[place].used = memory(used);
            fullness(&policy.queues[place], by)
        };
        assert_eq!(full(&mut policy, "a", 15_360), full(&mut policy, "c", 6_144));
    }

    #[test]
    fn c4_headroom_is_bounded_by_what_the_siblings_leave() {
        let text = "[queues.x]\ncapacity = 75\nmaximum_capacity = 87.5\n[queues.y]\ncapacity = 25\n[queues.\"x.a\"]\n[queues.\"x.b\"]\n";
        let mut policy = with_queues(text);
        let by = Calculator::new(memory(102_400), memory(1024));
        let place =
            |policy: &YarnCapacity, path: &str| policy.tree.find(path).unwrap_or_else(|| unreachable!("{path}"));
        let [x, y, a, b] = ["x", "y", "x.a", "x.b"].map(|path| place(&policy, path));
        let root = QueueTree::<YarnQueue>::ROOT;
        assert_eq!(policy.most_available(a, by), 0.875);
        // y uses half of the cluster, so x has the other half; of it b uses half.
        for (place, used) in [(root, 76_800), (y, 51_200), (x, 25_600), (b, 25_600)] {
            policy.queues[place].used = memory(used);
        }
        assert_eq!([policy.most_available(x, by), policy.most_available(a, by)], [0.5, 0.25]);
    }

    #[test]
    fn only_so_many_applications_are_active() {
        // Four nodes of five containers: 20 smallest ones, of which a tenth may be masters. The third job waits for the first to end.
        let one = |id: &str| job(id).maps(1, map(20_000));
        let world = || {
            let jobs = ["job_1_0001", "job_1_0002", "job_1_0003"];
            jobs.into_iter().fold(Scenario::containers(4, 5), |world, id| world.job(one(id)))
        };
        let launches = world().launches("yarn-capacity");
        let first = |id: &str| times(&launches, id).first().copied();
        assert_eq!([first("job_1_0001"), first("job_1_0002")], [Some(2_000), Some(2_000)]);
        assert!(first("job_1_0003") > Some(22_000), "{launches:?}");
        let launches = world().launches("yarn-capacity:am_share=0.15");
        assert_eq!(times(&launches, "job_1_0003"), [2_000]);
    }

    #[test]
    fn weights_and_amounts_give_the_schedule_of_their_shares() {
        // Four nodes of five containers are 20,480 MB. Queue a may have a quarter of them at most.
        let world = || {
            let job = |id: &str, queue: &str| job(id).queue(queue).maps(20, map(20_000));
            Scenario::containers(4, 5).job(job("job_1_0001", "a")).job(job("job_1_0002", "b"))
        };
        let finishes = |text: &str| {
            let dir = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
            let file = dir.path().join("queues.toml");
            std::fs::write(&file, text).unwrap_or_else(|error| unreachable!("{error}"));
            world().finishes(&format!("yarn-capacity:queues={},user_limit_factor=9", file.display()))
        };
        let percent = finishes("[queues.a]\ncapacity = 10\nmaximum_capacity = 25\n[queues.b]\ncapacity = 90\n");
        for text in [
            "[queues.a]\nweight = 1\nmaximum_capacity = 25\n[queues.b]\nweight = 9\n",
            "[queues.a]\nmemory_mb = 2048\nmaximum_memory_mb = 5120\n[queues.b]\nmemory_mb = 18432\n",
        ] {
            assert_eq!(finishes(text), percent, "{text}");
        }
        assert_ne!(finishes("[queues.a]\n[queues.b]\n"), percent);
    }

    #[test]
    fn a_map_waits_for_its_node_then_for_its_rack() {
        // All data is on node 0, which has room for the master alone; nodes 1 and 2 are in its rack, node 3 is not.
        let world = |policy: &str| {
            Scenario::containers(4, 1).racks(2).job(job("job_1_0001").maps(1, map(1_000).on(&[0]))).launches(policy)
        };
        let level = |policy: &str| world(policy).first().map(|launch| (launch.at, launch.level));
        // Passed over once by node 1 at 2,000, which opens the rack if there is no delay; 1 * min(2 / 4, 1) < 1 opens all others.
        assert_eq!(level("yarn-capacity:node_locality_delay=0"), Some((2_000, Some(Locality::Rack))));
        assert_eq!(level("yarn-fifo"), Some((2_000, Some(Locality::Rack))));
        // With ten maps it takes as many more nodes.
        let many = |policy: &str| {
            let maps = job("job_1_0001").maps(10, map(1_000).on(&[0]));
            Scenario::containers(4, 1).racks(2).job(maps).launches(policy).first().map(|launch| launch.at)
        };
        assert_eq!(many("yarn-capacity:node_locality_delay=0"), Some(2_000));
        assert_eq!(many("yarn-capacity"), Some(3_000));
        assert_eq!(many("yarn-fifo"), Some(2_000));
    }
}
