//! YARN's Fair Scheduler: a hierarchy of queues that share memory fairly (`docs/model/yarn-policies.md`).
//!
//! **What it does.** At a node's heartbeat, the queue that is farthest below its guarantee may take one container; if
//! no queue is below it, the queue that uses the least for its weight. The same rule applies down the tree to a job. If
//! the job's request does not fit, the node may be reserved for it. A job may decline a share of the nodes while it waits
//! for its data. Demands and shares are computed every half second. With preemption, containers above their shares are
//! warned, and later killed, for those that were below their shares for too long.
//!
//! **Source.** Hadoop YARN of August 2014 and 3.4.1: `FairScheduler`, `FSLeafQueue`, `FSAppAttempt`, `ComputeFairShares`, `FairSharePolicy`,
//! `DominantResourceFairnessPolicy`, `FSPreemptionThread`. It reproduces schedules of Hadoop's own classes row by row; `docs/yarn.md` lists
//! the rules and their sources. It always counts memory and virtual cores, whatever the calculator of the cluster file.
//!
//! ```text
//! rules        which rules hold: those of 2014, of 3.4, or a mixture
//! queues       queue of a job, limits of running jobs        (job arrives or ends)
//! update       demands, shares of queues and of jobs         (each half second)
//! shares       a resource divided by weights
//! order        who is served first
//! assignment   what a node gets                              (heartbeat of a node)
//! locality     waiting for a node with the data
//! masters      how much of a queue masters may take
//! reservations nodes that are kept for a request
//! preemption   containers that are killed for others         (each half second)
//! ```
//!
//! **Decisions.** In 2014, masters get their headroom as in later versions: the free memory within the fair share of their queue. (It was
//! always 0.) There, application masters are never preempted, and a queue of weight 0 is served last.
//!
//! **Not modelled.** Continuous scheduling, node labels, blacklists.

mod assignment;
mod locality;
mod masters;
mod order;
mod preemption;
mod queues;
mod reservations;
mod rules;
mod shares;
#[cfg(test)]
mod tests;
mod update;
mod version;

use resched_sim::cluster_file::Calculator;
use resched_sim::hadoop::{
    Ask, AttemptView, Container, ContainerState, Offer, Orders, Policy, Resources, System, View,
};
use resched_sim::{JobId, Ms, NodeId, Violation};

use super::report_kept;
use super::rules::{RULES, Version};
use crate::error::Error;
use crate::info::{Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::ByJob;
use crate::queues::file;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_fair::{FairQueue, SharePolicy};
use crate::settings::{File, choices, settings};
use crate::site::Site;
use assignment::Most;
use locality::Thresholds;
use preemption::{Killing, Preemption};
use queues::{App, Queue, Users};
use reservations::Keeping;
use rules::Rules;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "yarn-fair",
    title: "YARN Fair Scheduler (hierarchical queues)",
    source: "Hadoop YARN (August 2014, 3.4.1)",
    family: Family::Yarn,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::YarnFairQueues],
    idle: version::find_idle,
    build: Build::Hadoop(System::Containers, |values, site| {
        let settings = Settings::read(values)?;
        // At a site, it holds all jobs, as it does there. Whoever sets it can only have meant something else.
        if values.is_set("max_am_share") && settings.max_am_share == Some(0.0) {
            return Err(Error::Parameter("max_am_share: expected auto|-1|0.000001..1, found `0`".to_owned()));
        }
        Ok(Box::new(YarnFair::new(&settings, site)?))
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
        rules: Option<Version> = RULES,
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
        /// a node that is filled gives half of what it has free at one heartbeat, whatever max_assign says; auto: since 3.4
        dynamic_max_assign: Option<bool> = "dynamic_max_assign" {
            auto: Nothing, hadoop: ["yarn.scheduler.fair.dynamic.max.assign"],
        },
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
        /// requests that name no place do not wait for one; auto: since 3.4
        placeless_go_anywhere: Option<bool> = "placeless_go_anywhere" { auto: Nothing },
        /// share of a queue's fair share that masters may take; -1: all; auto: all in 2014, 0.5 in 3.4
        max_am_share: Option<f64> = "max_am_share" { auto: Nothing, range: -1..=1 },
        /// the limit of masters is one of memory and cores, and of what is free; auto: since 3.4
        whole_master_limit: Option<bool> = "whole_master_limit" { auto: Nothing },
        /// how a request for a map counts in a demand: once a place, or once; auto: places in 2014, else maps
        demand: Option<DemandCount> = "demand" { auto: Nothing },
        /// the demand of a queue is that of all its jobs, though it may have less; auto: since 3.4
        whole_demand: Option<bool> = "whole_demand" { auto: Nothing },
        /// who wants nothing is served after all others; auto: since 3.4
        demand_first: Option<bool> = "demand_first" { auto: Nothing },
        /// under DRF, jobs and queues that are equal stand by submission and name; auto: since 3.4
        drf_breaks_ties: Option<bool> = "drf_breaks_ties" { auto: Nothing },
        /// a queue never has more than its maximum, not even by one container; auto: since 3.4
        never_above_limit: Option<bool> = "never_above_limit" { auto: Nothing },
        /// only jobs are served that lacked something at the last update; auto: since 3.4
        asks_after_update: Option<bool> = "asks_after_update" { auto: Nothing },
        /// a full node is kept only for large requests of jobs below their share, and few nodes for each; auto: since 3.4
        rare_reservations: Option<bool> = "rare_reservations" { auto: Nothing },
        /// share of the nodes that may be kept for one job, with rare_reservations
        reservable_nodes: f64 = "reservable_nodes" {
            default: 0.05, range: 0..=1, hadoop: ["yarn.scheduler.fair.reservable-nodes"],
        },
        /// smallest request for which a node is kept, in steps of 1,024 MB and a core; with rare_reservations
        reservation_multiple: f64 = "reservation_multiple" {
            default: 2, range: 0..=1_000_000, hadoop: ["yarn.scheduler.reservation-threshold.increment-multiple"],
        },
        /// the headroom of a job also ends at the maximum of its queue; auto: since 3.4
        headroom_within_limit: Option<bool> = "headroom_within_limit" { auto: Nothing },
        /// how many jobs run at once in a queue that does not say, the root included; auto: any number
        queue_max_apps: Option<u32> = "queue_max_apps" { auto: Nothing, range: 0..=2_147_483_647, unit: "jobs" },
        /// how many jobs of a user run at once; auto: any number
        user_max_apps: Option<u32> = "user_max_apps" { auto: Nothing, range: 0..=2_147_483_647, unit: "jobs" },
        /// time between two computations of demands and shares
        update: Ms = "update" {
            default: 500, range: 1..=3_600_000, unit: "ms", hadoop: ["yarn.scheduler.fair.update-interval-ms"],
        },
        /// kill containers of other queues for queues or jobs that are kept below their share
        preemption: bool = "preemption" { default: false, hadoop: ["yarn.scheduler.fair.preemption"] },
        /// preemption looks for containers at whose nodes a starved job has room then; auto: since 3.4
        starved_jobs_preempt: Option<bool> = "starved_jobs_preempt" { auto: Nothing },
        /// time between two checks for preemption; without starved_jobs_preempt
        preemption_interval: Ms = "preemption_interval" {
            default: 5000, range: 1..=86_400_000, unit: "ms", hadoop: ["yarn.scheduler.fair.preemptionInterval"],
        },
        /// time from the warning of a container to its kill
        preemption_wait: Ms = "preemption_wait" {
            default: 15000, range: 0..=86_400_000, unit: "ms", hadoop: ["yarn.scheduler.fair.waitTimeBeforeKill"],
        },
        /// time until a job for which containers were killed is looked at again; with starved_jobs_preempt
        starvation_check: Ms = "starvation_check" {
            default: 10000, range: 0..=86_400_000, unit: "ms",
            hadoop: ["yarn.scheduler.fair.waitTimeBeforeNextStarvationCheck"],
        },
        /// masters may be killed, too, if nothing else makes room and their queues do not say; with starved_jobs_preempt
        am_preemption: bool = "am_preemption" { default: true, hadoop: ["yarn.scheduler.fair.am.preemption"] },
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
    rules: Rules,
    by_user: bool,
    share: SharePolicy,
    size_weight: bool,
    most_at_once: Most,
    /// `None`: no job holds out for its data.
    thresholds: Option<Thresholds>,
    /// `None`: all.
    max_am_share: Option<f64>,
    /// `None`: a full node is kept for any request.
    keeping: Option<Keeping>,
    update_period: Ms,
    /// Preemption of 2014.
    preemption: Option<Preemption>,
    /// Preemption of 3.4.
    killing: Option<Killing>,
    tree: QueueTree<FairQueue>,
    /// By place in the tree.
    queues: Vec<Queue>,
    /// True if any queue has a maximum.
    has_limits: bool,
    /// By job.
    apps: ByJob<App>,
    /// How many jobs run at once in a queue that does not say.
    queue_max_apps: Option<u32>,
    users: Users,
    /// Jobs that their queues do not let run yet, in the order of submission.
    held_back: Vec<JobId>,
    /// Queues whose place in line may have changed. One may be named several times.
    moved: Vec<usize>,
    /// Queues below the root that have a fair share.
    shared: Vec<usize>,
    /// What was free in the cluster after the last update, end of a container or heartbeat of a node.
    seen_free: Resources,
    /// What was asked for when a node with room for a master got none, as no queue may start one. Until the policy hears of a change, no other
    /// node gets one.
    barren: Option<Asked>,
    /// What was asked for at the last update. Until the policy hears of a change, another one would find the same.
    updated: Option<Asked>,
    /// True if limits of queues still depend on the size of the cluster.
    is_unsettled: bool,
}

/// The version of the world, and how many requests there are of each kind.
type Asked = (u64, [u64; 4]);

impl YarnFair {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let tree = match settings.queues.path() {
            None => site.yarn_fair.clone().unwrap_or_else(|| QueueTree::new(FairQueue::default())),
            Some(path) => file::read(path).map_err(Error::File)?,
        };
        let (version, _) = settings.version(site);
        let rules = Rules::of(settings, version);
        let warns = settings.preemption && !rules.starved_jobs_preempt;
        let kills = settings.preemption && rules.starved_jobs_preempt;
        let thresholds = settings.locality_node.zip(settings.locality_rack);
        let keeping = || Keeping::new(settings.reservation_multiple, settings.reservable_nodes);
        let most_at_once = match settings.max_assign {
            _ if !settings.assign_multiple => Most::Count(1),
            _ if rules.dynamic_max_assign => Most::Half,
            most => Most::Count(most.unwrap_or(u32::MAX)),
        };
        let mut policy = Self {
            rules,
            by_user: settings.placement == Placement::User,
            share: settings.share,
            size_weight: settings.size_weight,
            most_at_once,
            thresholds: thresholds.map(|(node, rack)| Thresholds { node, rack }),
            max_am_share: rules::share_of_masters(settings, version),
            keeping: rules.rare_reservations.then(keeping),
            update_period: settings.update,
            preemption: warns.then(|| Preemption::new(settings)),
            killing: kills.then(|| Killing::new(settings)),
            tree: QueueTree::new(FairQueue::default()),
            queues: Vec::new(),
            has_limits: false,
            apps: ByJob::default(),
            queue_max_apps: settings.queue_max_apps,
            users: Users::new(settings.user_max_apps, &site.yarn_fair_users),
            held_back: Vec::new(),
            moved: Vec::new(),
            shared: Vec::new(),
            seen_free: Resources::NONE,
            barren: None,
            updated: None,
            is_unsettled: false,
        };
        policy.set_queues(tree)?;
        Ok(policy)
    }

    fn set_queues(&mut self, tree: QueueTree<FairQueue>) -> Result<(), Error> {
        file::check(&tree).map_err(Error::File)?;
        let state = |place: usize| {
            let queue = tree.get(place);
            Queue { children: queue.children.clone(), path: queue.path.as_str().into(), ..Queue::default() }
        };
        self.queues = (0..tree.queues().len()).map(state).collect();
        self.is_unsettled = tree.queues().iter().any(|queue| queue.settings.depends_on_cluster());
        self.has_limits = tree.queues().iter().any(|queue| queue.settings.has_maximum());
        self.tree = tree;
        Ok(())
    }

    fn asked(view: View<'_>) -> Asked {
        (view.version(), Ask::ALL.map(|ask| view.yarn().asked(ask)))
    }

    /// Something has changed.
    fn hear(&mut self) {
        (self.barren, self.updated) = (None, None);
    }

    /// True if containers are killed for others.
    fn preempts(&self) -> bool {
        self.preemption.is_some() || self.killing.is_some()
    }

    /// True if no node would get anything now. There may be a queue for each of many users, none of which may start a master.
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
        self.enter(job, queue, view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.hear();
        self.master_is_gone(job);
        self.leave(job, view);
        self.forget_claims(job);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.hear();
        // Backups are launched beside the policy.
        if started.backup {
            let job = view.job_of(started.task);
            let size = view.yarn().demand_of(job, Ask::of(started.kind));
            self.change_used(self.apps[job].queue, |used| used.plus(size));
        }
    }

    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        self.hear();
        if container.state == ContainerState::Completed {
            self.seen_free = view.yarn().free_in_all();
            let queue = self.apps[container.job].queue;
            self.change_used(queue, |used| used.minus(container.size));
            // A master whose job has ended counts until its application is removed.
            if container.task.is_none() && view.jobs().contains(&container.job) {
                self.master_is_gone(container.job);
            }
            self.apps[container.job].warned.retain(|warned| warned.container != container.id);
            if self.killing.is_some() {
                self.forget_victim(container.job, container.id, container.node, container.size);
                if container.task.is_none() && view.job(container.job).is_active() {
                    self.restart(container.job, view);
                }
            }
        }
    }

    fn headroom(&self, job: JobId, view: View<'_>) -> u64 {
        let place = self.apps[job].queue;
        let queue = &self.queues[place];
        let left = |most: u64| most.saturating_sub(queue.used.memory);
        let within = if self.rules.headroom_within_limit { left(self.most(place).memory) } else { u64::MAX };
        view.yarn().free_in_all().memory.min(within).min(left(queue.fair_share.memory))
    }

    fn calculator(&self, _of_cluster: Calculator) -> Calculator {
        Calculator::Dominant
    }

    /// A full node, too, is offered, and may be kept for the first in line.
    fn may_use(&self, _node: NodeId, _view: View<'_>) -> bool {
        true
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let asked = Self::asked(view);
        if self.preempts() || self.updated != Some(asked) {
            self.barren = None;
            self.update(view);
            self.updated = Some(asked);
        }
        self.preempt(view, orders);
        self.choose_victims(view);
    }

    fn before_tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.kill_due(view, orders);
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        !self.preempts() || view.jobs().is_empty() && self.queues[ROOT].used == Resources::NONE
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        // A node that is kept for a job may have to be given up.
        if self.killing.is_none() && offer.yarn().reservation().is_none() && self.is_barren(offer.view()) {
            return Ok(());
        }
        if self.killing.is_some() {
            self.serve_starved(offer)?;
        }
        if self.serve_reservation(offer)? {
            self.seen_free = offer.view().yarn().free_in_all();
            report_kept(offer);
            return Ok(());
        }
        let (before, has_room) = (Self::asked(offer.view()), offer.yarn().fits(Ask::Am));
        self.fill(offer)?;
        self.seen_free = offer.view().yarn().free_in_all();
        report_kept(offer);
        // Where jobs wait longer for a near node, the offers count, too.
        let is_barren = has_room && Self::asked(offer.view()) == before && self.thresholds.is_none();
        self.barren = is_barren.then_some(before);
        Ok(())
    }
}
