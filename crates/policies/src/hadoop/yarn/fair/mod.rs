//! YARN's Fair Scheduler: a hierarchy of queues that share memory fairly (`docs/model/yarn-policies.md`).
//!
//! **What it does.** At a node's heartbeat, the queue that is farthest below its guarantee may take one container; if
//! no queue is below it, the queue that uses the least for its weight. The same rule applies down the tree to a job. If
//! the job's request does not fit, the node is reserved for it. A job may decline a share of the nodes while it waits
//! for its data. Demands and shares are computed every half second. With preemption, if a queue was below its share for
//! too long, containers of queues above their shares are warned, and later killed.
//!
//! **Source.** Hadoop YARN, August 2014: `FairScheduler`, `FSLeafQueue`, `FSAppAttempt`, `ComputeFairShares`, `FairSharePolicy`,
//! `DominantResourceFairnessPolicy`. It reproduces schedules of Hadoop's own classes row by row; `docs/yarn.md` lists the rules
//! and their sources. It always counts memory and virtual cores, whatever the calculator of the cluster file.
//!
//! **Decisions.** Masters get their headroom as in later versions: the free memory within the fair share of their queue. (In 2014
//! it was always 0.) Application masters are never preempted. A queue of weight 0 is served last.
//!
//! **Not modelled.** Continuous scheduling, node labels, blacklists.

mod opportunities;

mod preemption;
mod shares;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resched_sim::cluster_file::Calculator;
use resched_sim::hadoop::{
    Ask, AttemptView, Container, ContainerState, Kind, Offer, Orders, Policy, Reach, Reservation, System, View,
};
use resched_sim::{JobId, Ms, NodeId, Resources, Violation};
use resched_tables::model::Reason;

use super::report_kept;
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::ByJob;
use crate::parts::yarn_order::{Standing, Usage, drf_order, fair_order};
use crate::queues::file as queues;
use crate::queues::tree::{QueueTree, names_on};
use crate::queues::yarn_fair::{FairQueue, SharePolicy};
use crate::settings::{File, choices, settings};
use crate::site::Site;
use opportunities::{Opportunities, Thresholds};
use preemption::{Preemption, Starvation, Warned};
use shares::{Claim, fair_shares};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "yarn-fair",
    title: "YARN Fair Scheduler (hierarchical queues)",
    source: "Hadoop YARN (August 2014)",
    family: Family::Yarn,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::YarnFairQueues],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Containers, |values, site| {
        Ok(Box::new(YarnFair::new(&Settings::read(values)?, site)?))
    }),
};

choices! {
    /// Which queue a job goes to.
    enum Placement {
        /// The one that it names, or its user's if it names none.
        Queue = "queue",
        /// Its user's.
        User = "user",
    }
}

choices! {
    /// How the demand of a job is counted.
    enum DemandCount {
        /// Each request for a map once for every place that it names.
        Places = "places",
        /// Each request once.
        Maps = "maps",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// TOML file with guarantees, limits, weights and timeouts of queues
        queues: File = "queues" {},
        /// queue of a job; queue: the one that it names, or its user's if it names none; user: always its user's
        placement: Placement = "placement" {
            choice: Placement::Queue, hadoop: ["yarn.scheduler.fair.user-as-default-queue"],
        },
        /// how queues share their resources, if they do not say
        share: SharePolicy = "share" { choice: SharePolicy::Fair, },
        /// multiply a job's weight by log2(1 + its demand in MB)
        size_weight: bool = "size_weight" { default: false, hadoop: ["yarn.scheduler.fair.sizebasedweight"] },
        /// fill a node at one heartbeat; false: one container
        assign_multiple: bool = "assign_multiple" { default: false, hadoop: ["yarn.scheduler.fair.assignmultiple"] },
        /// most containers at one heartbeat; auto: no limit
        max_assign: Option<u32> = "max_assign" {
            auto: NotPositive, range: 1..=100_000, unit: "containers", hadoop: ["yarn.scheduler.fair.max.assign"],
        },
        /// share of the nodes that a job declines while it waits for a node with its data; auto: it does not wait
        locality_node: Option<f64> = "locality_node" {
            auto: Negative, range: 0..=1, hadoop: ["yarn.scheduler.fair.locality.threshold.node"],
        },
        /// further share of the nodes that a job declines while it waits for a rack with its data; auto: it does not wait
        locality_rack: Option<f64> = "locality_rack" {
            auto: Negative, range: 0..=1, hadoop: ["yarn.scheduler.fair.locality.threshold.rack"],
        },
        /// share of a queue's fair share that masters may take, if the queue does not say; auto: all
        max_am_share: Option<f64> = "max_am_share" { auto: Nothing, range: 0.000001..=1 },
        /// how often a request for a map counts in a job's demand; places: once for every place that it names; maps: once
        demand: DemandCount = "demand" { choice: DemandCount::Places, },
        /// time between two computations of demands and shares
        update: Ms = "update" {
            default: 500, range: 1..=3_600_000, unit: "ms", hadoop: ["yarn.scheduler.fair.update-interval-ms"],
        },
        /// kill containers of other queues for queues that are kept below their share
        preemption: bool = "preemption" { default: false, hadoop: ["yarn.scheduler.fair.preemption"] },
        /// time between two checks for preemption
        preemption_interval: Ms = "preemption_interval" {
            default: 5000, range: 1..=86_400_000, unit: "ms", hadoop: ["yarn.scheduler.fair.preemptionInterval"],
        },
        /// time from the warning of a container to its kill
        preemption_wait: Ms = "preemption_wait" {
            default: 15000, range: 0..=86_400_000, unit: "ms", hadoop: ["yarn.scheduler.fair.waitTimeBeforeKill"],
        },
        /// share of the cluster that must be in use before any container is killed
        preemption_threshold: f64 = "preemption_threshold" {
            default: 0.8, range: 0..=1, hadoop: ["yarn.scheduler.fair.preemption.cluster-utilization-threshold"],
        },
    }
}

/// The queue of jobs whose user is unknown, and of those that name a queue with others below it.
const DEFAULT_QUEUE: &str = "default";
const ROOT: usize = QueueTree::<FairQueue>::ROOT;

/// The policy.
#[derive(Debug)]
struct YarnFair {
    by_user: bool,
    share: SharePolicy,
    size_weight: bool,
    assign_multiple: bool,
    max_assign: Option<u32>,
    /// `None`: no job holds out for its data.
    thresholds: Option<Thresholds>,
    /// `None`: all.
    max_am_share: Option<f64>,
    /// Whether a request for a map counts once for every place.
    counts_places: bool,
    update_period: Ms,
    preemption: Option<Preemption>,
    tree: QueueTree<FairQueue>,
    /// By place in the tree.
    queues: Vec<Queue>,
    /// By job.
    apps: ByJob<App>,
    /// Jobs that their queues do not let run yet, in the order of submission.
    held_back: Vec<JobId>,
    /// Queues whose place in line may have changed. One may be named several times.
    moved: Vec<usize>,
    /// Queues below the root that have a fair share.
    shared: Vec<usize>,
    /// What was asked for when a node with room for a master got none, as no queue may start one. Until the policy hears of a change, no other
    /// node gets one.
    barren: Option<Asked>,
    /// What was asked for at the last update. Until the policy hears of a change, another one would find the same.
    updated: Option<Asked>,
    /// Whether limits of queues still depend on the size of the cluster.
    is_unsettled: bool,
}

/// The version of the world, and how many requests there are of each kind.
type Asked = (u64, [u64; 4]);

/// What a queue's place in line goes by, where its parent shares fairly: its standing, then its path.
type Rank = ((bool, u64), Arc<str>);

#[derive(Debug, Default)]
struct Queue {
    /// The queues below it, in the order in which they were served last.
    children: Vec<usize>,
    /// Of those, the ones that may have jobs or demand. There may be many others, for users who come only once.
    busy: BTreeSet<usize>,
    /// Of those, the ones in which jobs may run, by rank, if it serves by rank ([`YarnFair::serves_by_rank`]).
    line: BTreeSet<(Rank, usize)>,
    /// Its rank in the line of its parent; `None` if it is not in it.
    rank: Option<Rank>,
    /// Its jobs that may run, in the order in which they were served last.
    jobs: Vec<JobId>,
    /// How many jobs may run in it and below it.
    running_apps: u32,
    /// What containers of it and below it hold.
    used: Resources,
    /// What its application masters hold.
    masters: Resources,
    /// What it and those below it could use.
    demand: Resources,
    /// Its share of memory; of virtual cores, too, where DRF divides what is above it, and else none.
    fair_share: Resources,
    starvation: Starvation,
}

/// A job.
#[derive(Debug, Clone, Default)]
struct App {
    queue: usize,
    /// Memory that it could use at the last update, MB.
    demand: u64,
    /// By [`Ask`].
    opportunities: [Opportunities; 4],
    /// What its application master holds.
    master: Resources,
    /// Its containers that were warned and still run.
    warned: Vec<Warned>,
    /// What they hold; nothing but in a round of preemption.
    preempted: Resources,
}

impl YarnFair {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let tree = match settings.queues.path() {
            None => site.yarn_fair.clone().unwrap_or_else(|| QueueTree::new(FairQueue::default())),
            Some(path) => queues::read(path).map_err(Error::File)?,
        };
        let preemption = settings.preemption.then(|| {
            let &Settings { preemption_interval, preemption_wait, preemption_threshold, .. } = settings;
            Preemption::new(preemption_interval, preemption_wait, preemption_threshold)
        });
        let thresholds = settings.locality_node.zip(settings.locality_rack);
        let mut policy = Self {
            by_user: settings.placement == Placement::User,
            share: settings.share,
            size_weight: settings.size_weight,
            assign_multiple: settings.assign_multiple,
            max_assign: settings.max_assign,
            thresholds: thresholds.map(|(node, rack)| Thresholds { node, rack }),
            max_am_share: settings.max_am_share,
            counts_places: settings.demand == DemandCount::Places,
            update_period: settings.update,
            preemption,
            tree: QueueTree::new(FairQueue::default()),
            queues: Vec::new(),
            apps: ByJob::default(),
            held_back: Vec::new(),
            moved: Vec::new(),
            shared: Vec::new(),
            barren: None,
            updated: None,
            is_unsettled: false,
        };
        policy.set_queues(tree)?;
        Ok(policy)
    }

    fn set_queues(&mut self, tree: QueueTree<FairQueue>) -> Result<(), Error> {
        queues::check(&tree).map_err(Error::File)?;
        let state = |place: usize| Queue { children: tree.get(place).children.clone(), ..Queue::default() };
        self.queues = (0..tree.queues().len()).map(state).collect();
        self.is_unsettled = tree.queues().iter().any(|queue| queue.settings.depends_on_cluster());
        self.tree = tree;
        Ok(())
    }

    // Queues and jobs.

    /// Makes amounts of limits that are shares of the cluster, once it is known.
    fn settle(&mut self, view: View<'_>) {
        if std::mem::take(&mut self.is_unsettled) {
            let total = view.yarn().total();
            for place in 0..self.tree.queues().len() {
                let settings = &mut self.tree.get_mut(place).settings;
                *settings = settings.in_cluster(total.memory, total.cpu);
            }
        }
    }

    /// The queue of a job; a name without a queue makes one.
    fn place(&mut self, job: JobId, view: View<'_>) -> usize {
        let (named, user) = (view.job(job).queue(), view.job(job).user());
        if self.by_user || named.is_empty() || named == DEFAULT_QUEUE {
            self.leaf([user].into_iter(), view.now())
        } else {
            self.leaf(names_on(named), view.now())
        }
    }

    /// The queue at the end of these names, with all above it made if need be. A queue that may hold jobs gets no queues below
    /// it: it stands for them.
    fn leaf<'n>(&mut self, names: impl Iterator<Item = &'n str>, now: Ms) -> usize {
        let (mut place, known) = (ROOT, self.queues.len());
        for name in names {
            if let Some(child) = self.tree.child(place, name) {
                place = child;
            } else if place == ROOT || place >= known || !self.tree.is_leaf(place) {
                place = self.add(place, name, now);
            } else {
                break;
            }
        }
        match self.tree.child(place, DEFAULT_QUEUE) {
            _ if place != ROOT && self.tree.is_leaf(place) => place,
            Some(child) if self.tree.is_leaf(child) => child,
            _ => self.add(place, DEFAULT_QUEUE, now),
        }
    }

    fn add(&mut self, parent: usize, name: &str, now: Ms) -> usize {
        let place = self.tree.add(parent, name, FairQueue::default());
        self.queues[parent].children.push(place);
        self.queues.push(Queue { starvation: Starvation::since(now), ..Queue::default() });
        place
    }

    /// Whether the queue and all above it let one more job run.
    fn lets_run(&self, queue: usize) -> bool {
        let has_room = |place: usize| {
            let most = self.tree.get(place).settings.max_apps;
            most.is_none_or(|most| self.queues[place].running_apps < most)
        };
        self.tree.with_ancestors(queue).all(has_room)
    }

    fn let_run(&mut self, job: JobId) {
        let queue = self.apps[job].queue;
        self.queues[queue].jobs.push(job);
        for place in self.tree.with_ancestors(queue) {
            self.queues[place].running_apps += 1;
            self.moved.push(place);
        }
    }

    /// Changes what a queue and all above it use.
    fn change_used(&mut self, queue: usize, change: impl Fn(Resources) -> Resources) {
        for place in self.tree.with_ancestors(queue) {
            let used = &mut self.queues[place].used;
            *used = change(*used);
            self.moved.push(place);
        }
    }

    // Demands and shares.

    fn update(&mut self, view: View<'_>) {
        if self.preemption.is_some() {
            self.note_starvation(view.now());
        }
        let held_back = self.held_back_by_queue();
        let held_below = held_back.keys().flat_map(|&queue| self.tree.with_ancestors(queue)).collect();
        self.update_demand_of_queue(ROOT, (&held_back, &held_below), view);
        self.update_shares(view.yarn().total());
    }

    /// The jobs that may not run yet, by the place of their queue, in the order of submission.
    fn held_back_by_queue(&self) -> BTreeMap<usize, Vec<JobId>> {
        let mut held_back: BTreeMap<usize, Vec<JobId>> = BTreeMap::new();
        for &job in &self.held_back {
            held_back.entry(self.apps[job].queue).or_default().push(job);
        }
        held_back
    }

    /// What a queue could use, no more than it may (`FSLeafQueue.updateDemand`, `FSParentQueue.updateDemand`). Once that is all that it
    /// may use, of both resources, those after it in line keep the demand that they had.
    fn update_demand_of_queue(
        &mut self,
        place: usize,
        held: (&BTreeMap<usize, Vec<JobId>>, &BTreeSet<usize>),
        view: View<'_>,
    ) -> Resources {
        let (held_back, held_below) = held;
        let settings = &self.tree.get(place).settings;
        let most = |most: Option<u32>| most.map_or(u64::MAX, u64::from);
        let most = Resources { cpu: most(settings.max_vcores), memory: most(settings.max_memory_mb) };
        let children = std::mem::take(&mut self.queues[place].children);
        let jobs = std::mem::take(&mut self.queues[place].jobs);
        let by_rank = !children.is_empty() && self.serves_by_rank(place);
        let busy = if by_rank { std::mem::take(&mut self.queues[place].busy) } else { BTreeSet::new() };
        let all_jobs = || jobs.iter().chain(held_back.get(&place).into_iter().flatten()).copied();
        let mut demand = Resources::NONE;
        for &child in children.iter().filter(|_| !by_rank).chain(&busy) {
            if demand == most {
                break;
            }
            demand = demand.plus(self.update_demand_of_queue(child, held, view)).min(most);
        }
        let is_busy = |child: &usize| {
            let queue = &self.queues[*child];
            queue.running_apps > 0 || queue.demand != Resources::NONE || held_below.contains(child)
        };
        let busy: BTreeSet<usize> = busy.into_iter().filter(is_busy).collect();
        for job in all_jobs() {
            if demand == most {
                break;
            }
            demand = demand.plus(self.update_demand(job, view)).min(most);
        }
        let queue = &mut self.queues[place];
        let has_guarantee = self.tree.get(place).settings.min_memory_mb > 0;
        if has_guarantee && demand != queue.demand {
            self.moved.push(place);
        }
        (queue.children, queue.jobs, queue.demand) = (children, jobs, demand);
        if by_rank {
            queue.busy = busy;
        }
        demand
    }

    /// What a job holds and asks for (`FSAppAttempt.updateDemand`).
    fn update_demand(&mut self, job: JobId, view: View<'_>) -> Resources {
        let (yarn, app) = (view.yarn(), view.yarn().app(job));
        let asked = Ask::ALL.into_iter().map(|ask| yarn.demand(ask).times(app.asked(ask).into()));
        let at_places = if self.counts_places { app.placed_requests() } else { 0 };
        let demand = asked.fold(app.held(), Resources::plus).plus(yarn.demand(Ask::Map).times(at_places));
        self.apps[job].demand = demand.memory;
        demand
    }

    /// Divides what each queue has among those below it in which jobs may run.
    fn update_shares(&mut self, total: Resources) {
        for place in std::mem::take(&mut self.shared) {
            self.queues[place].fair_share = Resources::NONE;
        }
        self.queues[ROOT].fair_share = total;
        // Parents come before their children.
        let mut parents = BTreeSet::from([ROOT]);
        while let Some(parent) = parents.pop_first() {
            let is_active = |&child: &usize| self.queues[child].running_apps > 0;
            let active: Vec<usize> = self.queues[parent].busy.iter().copied().filter(is_active).collect();
            parents.extend(active.iter().copied().filter(|&child| !self.tree.is_leaf(child)));
            let claims = |claim: fn(&FairQueue) -> (u32, Option<u32>)| -> Vec<Claim> {
                let settings = active.iter().map(|&child| &self.tree.get(child).settings);
                let claim = |settings: &FairQueue| {
                    let (min, max) = claim(settings);
                    Claim { weight: f64::from(settings.weight as f32), min, max: max.unwrap_or(u32::MAX) }
                };
                settings.map(claim).collect()
            };
            let shared = self.queues[parent].fair_share;
            let memory = fair_shares(&claims(|queue| (queue.min_memory_mb, queue.max_memory_mb)), shared.memory);
            let cpu = match self.share_of(parent) {
                SharePolicy::Drf => fair_shares(&claims(|queue| (queue.min_vcores, queue.max_vcores)), shared.cpu),
                SharePolicy::Fair | SharePolicy::Fifo => vec![0; active.len()],
            };
            for (child, (memory, cpu)) in active.into_iter().zip(memory.into_iter().zip(cpu)) {
                self.queues[child].fair_share = Resources { cpu, memory };
                self.shared.push(child);
            }
        }
    }

    /// Whether more than an amount is used, as a way to share sees it: virtual cores count with DRF alone
    /// (`SchedulingPolicy.checkIfUsageOverFairShare`, `checkIfAMResourceUsageOverLimit`).
    fn is_more(share: SharePolicy, used: Resources, most: Resources) -> bool {
        used.memory > most.memory || share == SharePolicy::Drf && used.cpu > most.cpu
    }

    // Order.

    /// How a queue shares what it has.
    fn share_of(&self, queue: usize) -> SharePolicy {
        match self.tree.get(queue).settings.policy.unwrap_or(self.share) {
            SharePolicy::Fifo if !self.tree.is_leaf(queue) => SharePolicy::Fair,
            policy => policy,
        }
    }

    /// Which of two queues with one parent is served first; under DRF they may be equal.
    fn order_queues(&self, share: SharePolicy, total: Resources, a: usize, b: usize) -> Ordering {
        if share == SharePolicy::Drf {
            let usage = |place: usize| {
                let FairQueue { min_memory_mb, min_vcores, weight, .. } = self.tree.get(place).settings;
                let min = Resources { cpu: min_vcores.into(), memory: min_memory_mb.into() };
                Usage { used: self.queues[place].used, min, weight: weight as f32 }
            };
            return drf_order(&usage(a), &usage(b), total);
        }
        fair_order(&self.standing(a), &self.standing(b)).then_with(|| self.tree.get(a).path.cmp(&self.tree.get(b).path))
    }

    fn standing(&self, place: usize) -> Standing {
        let (queue, settings) = (&self.queues[place], &self.tree.get(place).settings);
        let min_share = u64::from(settings.min_memory_mb).min(queue.demand.memory);
        Standing { used: queue.used.memory, min_share, weight: settings.weight as f32 }
    }

    /// Whether the queues below one can be kept in line by rank: none of them are equal, and nothing else goes by their order. There may be
    /// one for each of many users, so that to sort them at each heartbeat would take long. Under DRF, queues may be equal. Where a
    /// limit ends the count of demands early, or is reported, that goes by the order of service.
    fn serves_by_rank(&self, place: usize) -> bool {
        let has_limit = |settings: &FairQueue| settings.max_memory_mb.is_some() || settings.max_vcores.is_some();
        let limited = self.tree.with_ancestors(place).any(|above| has_limit(&self.tree.get(above).settings));
        self.share_of(place) != SharePolicy::Drf && !limited
    }

    /// Puts the queues that have moved where they belong.
    fn keep_in_line(&mut self) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        moved.dedup();
        for &place in &moved {
            let queue = self.tree.get(place);
            let Some(parent) = queue.parent.filter(|&parent| self.serves_by_rank(parent)) else { continue };
            let is_active = self.queues[place].running_apps > 0;
            let rank: Option<Rank> = is_active.then(|| (self.standing(place).key(), Arc::from(queue.path.as_str())));
            let before = std::mem::replace(&mut self.queues[place].rank, rank.clone());
            let line = &mut self.queues[parent].line;
            if let Some(before) = before {
                line.remove(&(before, place));
            }
            if let Some(rank) = rank {
                line.insert((rank, place));
            }
        }
        moved.clear();
        self.moved = moved;
    }

    /// Which of two jobs of one queue is served first; under DRF, those that came at the same instant may be equal.
    fn order_jobs(&self, share: SharePolicy, view: View<'_>, a: JobId, b: JobId) -> Ordering {
        let used = |job: JobId| view.yarn().app(job).held().minus(self.apps[job].preempted);
        match share {
            SharePolicy::Fifo => a.cmp(&b),
            SharePolicy::Drf => {
                let usage = |job| Usage { used: used(job), min: Resources::NONE, weight: self.weight(job) };
                let start = |job: JobId| view.job(job).submit();
                drf_order(&usage(a), &usage(b), view.yarn().total()).then_with(|| start(a).cmp(&start(b)))
            }
            SharePolicy::Fair => {
                let standing = |job| Standing { used: used(job).memory, min_share: 0, weight: self.weight(job) };
                fair_order(&standing(a), &standing(b)).then(a.cmp(&b))
            }
        }
    }

    /// The weight of a job. If it goes by size, it is 0 until the first update after the job's arrival.
    fn weight(&self, job: JobId) -> f32 {
        if self.size_weight { ((self.apps[job].demand as f64).ln_1p() / std::f64::consts::LN_2) as f32 } else { 1.0 }
    }

    // Heartbeats.

    /// Serves the request that the node is kept for. Returns whether the node is spoken for.
    fn serve_reservation(&mut self, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let Some(Reservation { job, ask, .. }) = offer.yarn().reservation() else { return Ok(false) };
        // The tasks that are left may have failed here.
        if offer.yarn().nearest(job, ask).is_none() {
            offer.yarn_mut().unreserve();
            return Ok(false);
        }
        if offer.yarn().fits(ask) {
            self.serve(offer, job, ask)?;
        }
        Ok(true)
    }

    /// Serves the queue at a place, or one below it; returns whether the node was taken or kept for it.
    fn serve_queue(&mut self, offer: &mut Offer<'_, '_>, place: usize) -> Result<bool, Violation> {
        if self.is_over_limit(place) {
            self.report_limit(place, offer.view());
            return Ok(false);
        }
        let (share, total) = (self.share_of(place), offer.view().yarn().total());
        if self.tree.is_leaf(place) {
            return self.serve_jobs(offer, place, share);
        }
        if self.serves_by_rank(place) {
            return self.serve_line(offer, place);
        }
        let mut children = std::mem::take(&mut self.queues[place].children);
        children.sort_by(|&a, &b| self.order_queues(share, total, a, b));
        let mut served = Ok(false);
        for &child in &children {
            served = self.serve_queue(offer, child);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[place].children = children;
        served
    }

    /// Serves the first of the queues below one that can be served, by rank. Queues without jobs have nothing to serve.
    fn serve_line(&mut self, offer: &mut Offer<'_, '_>, place: usize) -> Result<bool, Violation> {
        let line = std::mem::take(&mut self.queues[place].line);
        let mut served = Ok(false);
        for (_, child) in &line {
            served = self.serve_queue(offer, *child);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[place].line = line;
        served
    }

    /// Whether a queue uses more than it may; the container that takes it there it still gets.
    fn is_over_limit(&self, place: usize) -> bool {
        let settings = &self.tree.get(place).settings;
        let Resources { cpu, memory } = self.queues[place].used;
        settings.max_memory_mb.is_some_and(|most| memory > most.into())
            || settings.max_vcores.is_some_and(|most| cpu > most.into())
    }

    /// Reports that the jobs of a queue, and of those below it, may have no more.
    fn report_limit(&self, place: usize, view: View<'_>) {
        if !view.wants_reasons() {
            return;
        }
        let queue = &self.queues[place];
        for kind in Kind::BOTH {
            queue.jobs.iter().for_each(|&job| view.pass_over(job, kind, Reason::QueueLimit));
        }
        queue.children.iter().for_each(|&child| self.report_limit(child, view));
    }

    fn serve_jobs(&mut self, offer: &mut Offer<'_, '_>, queue: usize, share: SharePolicy) -> Result<bool, Violation> {
        let mut jobs = std::mem::take(&mut self.queues[queue].jobs);
        jobs.sort_by(|&a, &b| self.order_jobs(share, offer.view(), a, b));
        let mut served = Ok(false);
        for &job in &jobs {
            served = self.serve_job(offer, job);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[queue].jobs = jobs;
        served
    }

    /// Serves the most urgent request of a job that this node can serve (`FSAppAttempt.assignContainer`).
    fn serve_job(&mut self, offer: &mut Offer<'_, '_>, job: JobId) -> Result<bool, Violation> {
        for ask in Ask::ALL {
            let view = offer.view();
            let possible = view.capacity(offer.node()).memory >= view.yarn().demand(ask).memory;
            if !possible || offer.yarn().nearest(job, ask).is_none() {
                continue;
            }
            if self.serve(offer, job, ask)? {
                return Ok(true);
            }
            if ask == Ask::Am {
                // Its tasks cannot be asked for before it has a master.
                break;
            }
        }
        Ok(false)
    }

    /// Serves a request of a job if the node is near enough to its data: with a container if there is room, else by keeping the
    /// node for it, though it be full.
    fn serve(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask) -> Result<bool, Violation> {
        let view = offer.view();
        let opportunities = &mut self.apps[job].opportunities[ask.index()];
        opportunities.offered();
        if ask == Ask::Am && !self.may_start_master(job, view) {
            view.pass_over_request(job, ask, Reason::JobLimit);
            return Ok(false);
        }
        let allowed = self.reach(view, job, ask);
        let Some(near) = offer.yarn().nearest(job, ask).filter(|&near| near <= allowed) else {
            offer.view().pass_over_request(job, ask, Reason::Locality);
            return Ok(false);
        };
        if !offer.yarn().fits(ask) {
            offer.yarn_mut().reserve(job, ask)?;
            return Ok(true);
        }
        let (queue, size) = (self.apps[job].queue, offer.view().yarn().demand(ask));
        offer.grant(job, ask, near)?;
        self.apps[job].opportunities[ask.index()].launched(near);
        if ask == Ask::Am {
            let masters = &mut self.queues[queue].masters;
            *masters = masters.plus(size);
            self.apps[job].master = size;
        }
        self.change_used(queue, |used| used.plus(size));
        Ok(true)
    }

    /// The master of a job, if it has one, no longer counts for the limit of its queue (`FSLeafQueue.removeApp`).
    fn master_is_gone(&mut self, job: JobId) {
        let App { queue, master, .. } = &mut self.apps[job];
        let masters = &mut self.queues[*queue].masters;
        *masters = masters.minus(std::mem::take(master));
    }

    /// How far from its data a job may use the node that is offered. Requests that name no place wait alike
    /// (`FSAppAttempt.getAllowedLocalityLevel`).
    fn reach(&mut self, view: View<'_>, job: JobId, ask: Ask) -> Reach {
        match self.thresholds {
            Some(thresholds) => self.apps[job].opportunities[ask.index()].allowed(view.node_count(), thresholds),
            None => Reach::Any,
        }
    }

    /// Whether the masters of a job's queue leave room for its own (`FSLeafQueue.canRunAppAM`).
    fn may_start_master(&self, job: JobId, view: View<'_>) -> bool {
        let place = self.apps[job].queue;
        // A queue says −1 for all.
        let share = self.tree.get(place).settings.max_am_share.or(self.max_am_share).filter(|&share| share >= 0.0);
        let queue = &self.queues[place];
        let with_it = queue.masters.plus(view.yarn().demand(Ask::Am));
        share.is_none_or(|share| {
            let most = queue.fair_share.scaled(f64::from(share as f32));
            !Self::is_more(self.share_of(place), with_it, most)
        })
    }
}

impl YarnFair {
    fn asked(view: View<'_>) -> Asked {
        (view.version(), Ask::ALL.map(|ask| view.yarn().asked(ask)))
    }

    /// Something has changed.
    fn hear(&mut self) {
        (self.barren, self.updated) = (None, None);
    }

    /// Whether no node would get anything now. There may be a queue for each of many users, none of which may start a master.
    fn is_barren(&self, view: View<'_>) -> bool {
        let only_masters = || Ask::ALL.into_iter().all(|ask| ask == Ask::Am || view.yarn().asked(ask) == 0);
        self.barren == Some(Self::asked(view)) && !view.wants_reasons() && only_masters()
    }
}

impl Policy for YarnFair {
    fn system(&self) -> System {
        System::Containers
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.settle(view);
        self.hear();
        let queue = self.place(job, view);
        self.apps[job].queue = queue;
        for place in self.tree.with_ancestors(queue) {
            if let Some(parent) = self.tree.get(place).parent {
                self.queues[parent].busy.insert(place);
            }
        }
        if self.lets_run(queue) {
            self.let_run(job);
        } else {
            self.held_back.push(job);
            view.pass_over_request(job, Ask::Am, Reason::JobLimit);
        }
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.hear();
        self.master_is_gone(job);
        let queue = self.apps[job].queue;
        let running = self.queues[queue].jobs.len();
        self.queues[queue].jobs.retain(|&other| other != job);
        if self.queues[queue].jobs.len() < running {
            for place in self.tree.with_ancestors(queue) {
                self.queues[place].running_apps -= 1;
                self.moved.push(place);
            }
        }
        for job in std::mem::take(&mut self.held_back).into_iter().filter(|&other| other != job) {
            if self.lets_run(self.apps[job].queue) {
                self.let_run(job);
                view.pass_over_request(job, Ask::Am, Reason::Master);
            } else {
                self.held_back.push(job);
            }
        }
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.hear();
        // Backups are launched beside the policy.
        if started.backup {
            let (queue, size) = (self.apps[view.job_of(started.task)].queue, view.yarn().demand(Ask::of(started.kind)));
            self.change_used(queue, |used| used.plus(size));
        }
    }

    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        self.hear();
        if container.state == ContainerState::Completed {
            let queue = self.apps[container.job].queue;
            self.change_used(queue, |used| used.minus(container.size));
            // A master whose job has ended counts until its application is removed.
            if container.task.is_none() && view.jobs().contains(&container.job) {
                self.master_is_gone(container.job);
            }
            self.apps[container.job].warned.retain(|warned| warned.container != container.id);
        }
    }

    fn headroom(&self, job: JobId, view: View<'_>) -> u64 {
        let queue = &self.queues[self.apps[job].queue];
        let left = queue.fair_share.memory.saturating_sub(queue.used.memory);
        view.yarn().free_in_all().memory.min(left)
    }

    fn calculator(&self, _of_cluster: Calculator) -> Calculator {
        Calculator::Dominant
    }

    /// A full node, too, is offered, and kept for the first in line.
    fn may_use(&self, _node: NodeId, _view: View<'_>) -> bool {
        true
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let asked = Self::asked(view);
        if self.preemption.is_some() || self.updated != Some(asked) {
            self.barren = None;
            self.update(view);
            self.updated = Some(asked);
        }
        self.preempt(view, orders);
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        self.preemption.is_none() || view.jobs().is_empty() && self.queues[ROOT].used == Resources::NONE
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        // A node that is kept for a job may have to be given up.
        if offer.yarn().reservation().is_none() && self.is_barren(offer.view()) {
            return Ok(());
        }
        if self.serve_reservation(offer)? {
            report_kept(offer);
            return Ok(());
        }
        let most = if self.assign_multiple { self.max_assign.unwrap_or(u32::MAX) } else { 1 };
        let (before, has_room) = (Self::asked(offer.view()), offer.yarn().fits(Ask::Am));
        for _ in 0..most {
            self.keep_in_line();
            if !self.serve_queue(offer, ROOT)? || offer.yarn().reservation().is_some() {
                break;
            }
        }
        report_kept(offer);
        // Where jobs wait longer for a near node, the offers count, too.
        let is_barren = has_room && Self::asked(offer.view()) == before && self.thresholds.is_none();
        self.barren = is_barren.then_some(before);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::spec::PolicySpec;
    use crate::testing::{Scenario, job, map};

    #[test]
    fn a_limit_in_percent_is_one_of_the_cluster() {
        // Four nodes of five containers are 20,480 MB.
        let finishes = |text: &str| {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("queues.toml");
            std::fs::write(&file, text).unwrap();
            let one = job("job_1_0001").queue("a").maps(20, map(20_000));
            Scenario::containers(4, 5).job(one).finishes(&format!("yarn-fair:queues={}", file.display()))
        };
        let of_share = finishes("[queues.a]\nmax_memory_share = 0.25\n");
        assert_eq!(of_share, finishes("[queues.a]\nmax_memory_mb = 5120\n"));
        assert_ne!(of_share, finishes("[queues.a]\n"));
    }

    fn with_queues(paths: &[&str]) -> YarnFair {
        let queues = paths.iter().map(|&path| (path.to_owned(), FairQueue::default())).collect();
        let tree = QueueTree::from_paths(FairQueue::default(), queues).unwrap();
        let site = Site { yarn_fair: Some(tree), ..Site::default() };
        let spec = PolicySpec::parse("yarn-fair").unwrap().at_site(&site.into()).unwrap();
        YarnFair::new(&Settings::read(spec.values()).unwrap(), spec.site()).unwrap()
    }

    #[test]
    fn a_node_that_is_kept_for_a_job_is_kept_from_others() {
        // Five containers on one node. The reduce of the first job needs two, so that the node is kept for it when one is free.
        let world = Scenario::containers(1, 5)
            .large_reduces(2)
            .job(job("job_1_0001").maps(1, map(3_000)).reduces(1, 5_000))
            .job(job("job_1_0002").each_map((0..20).map(|late| map(10_000 + 1_700 * late)).collect()));
        let reasons = world.reasons("yarn-fair", "job_1_0002");
        let kept = |&(_, reason, ref other): &(_, _, Option<String>)| {
            reason == Reason::Reserve && other.as_deref() == Some("job_1_0001")
        };
        assert!(reasons.iter().any(kept), "{reasons:?}");
    }

    #[test]
    fn active_queues_share_level_by_level() {
        let mut fair = with_queues(&["both", "both.a", "both.b", "other"]);
        let places = ["both", "both.a", "both.b", "other"].map(|path| fair.tree.find(path).unwrap());
        let [both, a, b, other] = places;
        fair.queues[ROOT].busy = BTreeSet::from([both, other]);
        fair.queues[both].busy = BTreeSet::from([a, b]);
        let mut shares = |active: [u32; 4]| {
            for (place, jobs) in places.into_iter().zip(active) {
                fair.queues[place].running_apps = jobs;
            }
            fair.update_shares(Resources { cpu: 8, memory: 12_288 });
            places.map(|place| fair.queues[place].fair_share.memory)
        };
        assert_eq!(shares([2, 1, 1, 1]), [6_144, 3_072, 3_072, 6_144]);
        assert_eq!(shares([1, 1, 0, 1]), [6_144, 6_144, 0, 6_144]);
        assert_eq!(shares([1, 0, 1, 0]), [12_288, 0, 12_288, 0]);
    }

    #[test]
    fn a_job_goes_to_the_queue_that_it_names() {
        let mut fair = with_queues(&["etl", "etl.daily", "adhoc"]);
        let mut path = |name: &str| {
            let place = fair.leaf(names_on(name), 0);
            fair.tree.get(place).path.clone()
        };
        assert_eq!(path("etl.daily"), "root.etl.daily");
        assert_eq!(path("etl.new"), "root.etl.new", "made, as its parent has queues below it");
        assert_eq!(path("adhoc.x"), "root.adhoc", "a queue of jobs gets none below it");
        assert_eq!(path("etl"), "root.etl.default", "a queue with others below it holds no jobs");
        assert_eq!(path("ann"), "root.ann");
        assert_eq!(path("."), "root.default");
        assert_eq!(path("root"), "root.default");
        assert_eq!(path("root.ml.train"), "root.ml.train", "made with the queue above it");
        assert_eq!(path("ml.serve.eu"), "root.ml.serve.eu");
        assert_eq!(path("ml.train.night"), "root.ml.train", "it may hold jobs");
        assert_eq!(path("ml"), "root.ml.default");
    }

    #[test]
    fn queues_that_jobs_name_are_queues_of_a_tree_though_no_file_names_them() {
        let one = |id: &str, queue: &str| job(id).queue(queue).maps(30, map(3_000));
        let daily = ["job_1_0001", "job_1_0002", "job_1_0003"].map(|id| one(id, "root.etl.daily"));
        let world = daily.into_iter().fold(Scenario::containers(1, 16), Scenario::job);
        let world = world.job(one("job_1_0004", "root.etl.hourly"));
        let declared = || -> Box<dyn Policy> { Box::new(with_queues(&["etl", "etl.daily", "etl.hourly"])) };
        let (made, declared) = (world.launches("yarn-fair"), world.launches_under("yarn-fair", declared));
        assert_eq!(made, declared);
        let last = |id: &str| made.iter().filter(|launch| launch.job == id).map(|launch| launch.at).max();
        assert!(last("job_1_0004") < last("job_1_0001"), "half of the cluster is the hourly job's");
    }
}
