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
//! **Not modelled.** Blacklists, asynchronous scheduling, and queues that are made while jobs run.

mod amounts;
mod calculator;
mod effective;
mod labels;
mod limits;
mod locality;
mod masters;
mod order;
mod parallel;
mod partitions;
mod preemption;
mod reservations;
mod rules;
mod serve;
mod state;
mod users;
mod version;
mod whole;

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
use crate::parts::whole_requests::{Next, WholeRequests};
use crate::queues::file as queues;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::{YarnQueue, shares};
use crate::settings::{File, parameter, settings};
use crate::site::Site;
use labels::{Labels, Walk};
use locality::Delays;
use parallel::Parallel;
pub(crate) use partitions::{Partitions, all_containers};
use preemption::Preemption;
use preemption::inside::Inside;
use reservations::KeptNode;
use rules::Rules;
use serve::Served;
use state::{Job, Queue, User};
pub(crate) use whole::first_tasks;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "yarn-capacity",
    title: "YARN Capacity Scheduler",
    source: "Hadoop YARN (August 2014, 3.4.1)",
    family: Family::Yarn,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::YarnQueues],
    idle: version::find_idle,
    build: Build::Hadoop(System::Containers, |values, site| {
        Ok(Box::new(YarnCapacity::new(&Settings::read(values)?, site)?))
    }),
};

parameter! {
    /// nodes that a job passes over before it runs a map in the rack of its data
    pub(crate) NODE_LOCALITY_DELAY: u64 = "node_locality_delay" {
        default: 40, range: 0..=1_000_000, unit: "nodes", hadoop: ["yarn.scheduler.capacity.node-locality-delay"],
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// TOML file with the queues: capacities, limits of users and masters; else: one
        queues: File = "queues" {},
        node_locality_delay: u64 = NODE_LOCALITY_DELAY,
        /// share of a queue's limit that masters may take; it limits the applications
        am_share: f64 = "am_share" {
            default: 0.1, range: 0..=1, hadoop: ["yarn.scheduler.capacity.maximum-am-resource-percent"],
        },
        /// least share of a queue for each of its users
        user_limit: u32 = "user_limit" { default: 100, range: 1..=100, unit: "percent" },
        /// multiple of a queue's guarantee that one user may have
        user_limit_factor: f64 = "user_limit_factor" { default: 1, range: 0.000001..=1e6 },
        rules: Option<Version> = RULES,
        /// a job with a reservation also takes a container elsewhere; auto: since 3.4
        reservations_look_on: Option<bool> = "reservations_look_on" {
            auto: Nothing, hadoop: ["yarn.scheduler.capacity.reservations-continue-look-all-nodes"],
        },
        /// a node that was kept serves its request alone at a heartbeat; auto: since 3.4
        heartbeat_ends_with_reservation: Option<bool> = "heartbeat_ends_with_reservation" { auto: Nothing },
        /// a map waits for at most as many offers as there are nodes; auto: since 3.4
        far_wait_capped: Option<bool> = "far_wait_capped" { auto: Nothing },
        /// masters are limited by their memory, not by their number; auto: since 3.4
        masters_by_memory: Option<bool> = "masters_by_memory" { auto: Nothing },
        /// the limit of a user goes by what active users use; auto: since 3.4
        user_limit_by_use: Option<bool> = "user_limit_by_use" { auto: Nothing },
        /// a container or a reservation needs room in all queues above it; auto: since 3.4
        room_above: Option<bool> = "room_above" { auto: Nothing },
        /// guarantees are not rounded up to whole containers; auto: since 3.4
        guarantee_unrounded: Option<bool> = "guarantee_unrounded" { auto: Nothing },
        /// of queues that are equally full, the larger one is first; auto: since 3.4
        larger_queue_first: Option<bool> = "larger_queue_first" { auto: Nothing },
        /// the headroom is computed when a master asks; auto: since 3.4
        headroom_when_asked: Option<bool> = "headroom_when_asked" { auto: Nothing },
        /// a node has room only if it has some of every resource; auto: since 3.4
        room_in_every_resource: Option<bool> = "room_in_every_resource" { auto: Nothing },
        /// places are forgotten once a job asks for no map any more; auto: since 3.4
        places_forgotten: Option<bool> = "places_forgotten" { auto: Nothing },
        /// the offer of a node that is kept counts as one that was missed; auto: since 3.4
        kept_offers_count: Option<bool> = "kept_offers_count" { auto: Nothing },
        /// TOML file with the nodes of each node label; without it: no node has one
        labels: File = "labels" {},
        /// whether a node gives more than one container at a heartbeat
        several_per_heartbeat: bool = "several_per_heartbeat" {
            default: true, hadoop: ["yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled"],
        },
        /// most containers that a node gives at a heartbeat; auto: 100 since 3.4, else all
        most_per_heartbeat: Option<u32> = "most_per_heartbeat" {
            auto: Nothing, range: 1..=1_000_000, unit: "containers",
            hadoop: ["yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments"],
        },
        /// most containers far from their data that a node gives at a heartbeat
        most_far_per_heartbeat: u32 = "most_far_per_heartbeat" {
            default: 1, range: 1..=1_000_000, unit: "containers",
            hadoop: ["yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments"],
        },
        /// nodes passed over after `node_locality_delay` for any place; auto: by requests
        rack_locality_delay: Option<u64> = "rack_locality_delay" {
            auto: Negative, range: 0..=1_000_000, unit: "nodes",
            hadoop: ["yarn.scheduler.capacity.rack-locality-additional-delay"],
        },
        /// a container in the rack of its data starts the wait for the next one anew
        rack_resets_delay: bool = "rack_resets_delay" {
            default: true, hadoop: ["yarn.scheduler.capacity.rack-locality-full-reset"],
        },
        /// queues that use more than they should give containers back to others
        preemption: bool = "preemption" {
            default: false, hadoop: ["yarn.resourcemanager.scheduler.monitor.enable"],
        },
        /// how often preemption looks at the queues
        preemption_interval: Ms = "preemption_interval" {
            default: 3000, range: 1..=86_400_000, unit: "ms",
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval"],
        },
        /// from the choice of a container to its end
        preemption_wait: Ms = "preemption_wait" {
            default: 15000, range: 0..=86_400_000, unit: "ms",
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill"],
        },
        /// share of the cluster that is taken back at one look at most
        preemption_per_round: f64 = "preemption_per_round" {
            default: 0.1, range: 0..=1,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round"],
        },
        /// share of its guarantee that a queue may use beyond it and keep
        preemption_ignored: f64 = "preemption_ignored" {
            default: 0.1, range: 0..=1_000,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.max_ignored_over_capacity"],
        },
        /// share that is taken back at one look, because the rest may end by itself
        preemption_factor: f64 = "preemption_factor" {
            default: 0.2, range: 0..=1,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor"],
        },
        /// whether requests for which nodes are kept count as lacking in preemption
        preemption_counts_reserved: bool = "preemption_counts_reserved" {
            default: false,
            hadoop: [
                "yarn.resourcemanager.monitor.capacity.preemption.additional_res_balance_based_on_reserved_containers",
            ],
        },
        /// whether preemption first clears nodes that are kept for requests
        preemption_clears_kept_nodes: bool = "preemption_clears_kept_nodes" {
            default: false,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.select_based_on_reserved_containers"],
        },
        /// whether preemption balances queues above their guarantees, too
        preemption_balances: bool = "preemption_balances" {
            default: false,
            hadoop: [
                "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.enabled",
            ],
        },
        /// from the choice of a container to its end, if that is to balance queues
        preemption_balance_wait: Ms = "preemption_balance_wait" {
            default: 300000, range: 0..=86_400_000, unit: "ms",
            hadoop: [
                "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.max-wait-before-kill",
            ],
        },
        /// whether applications of one queue give containers back to others of it
        preemption_inside: bool = "preemption_inside" {
            default: false,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.enabled"],
        },
        /// who gives to whom in a queue
        preemption_inside_order: Inside = "preemption_inside_order" {
            choice: Inside::UserLimits,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.preemption-order-policy"],
        },
        /// part of its guarantee from which on a queue preempts inside
        preemption_inside_threshold: f64 = "preemption_inside_threshold" {
            default: 0.5, range: 0..=1,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.minimum-threshold"],
        },
        /// part of its guarantee that a queue preempts inside at one look at most
        preemption_inside_most: f64 = "preemption_inside_most" {
            default: 0.2, range: 0..=1,
            hadoop: ["yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.max-allowable-limit"],
        },
        /// highest priority that an application can have; 0: they have none
        most_priority: u32 = "most_priority" {
            default: 0, range: 0..=1_000_000, hadoop: ["yarn.cluster.max-application-priority"],
        },
        /// a job starts with all of its first containers or not at all (not a rule of Hadoop)
        whole: bool = "whole" { default: false },
    }
}

/// The policy.
#[derive(Debug)]
pub(crate) struct YarnCapacity {
    rules: Rules,
    tree: QueueTree<YarnQueue>,
    defaults: YarnQueue,
    delays: Delays,
    per_heartbeat: PerHeartbeat,
    /// By the queues' places in the tree.
    queues: Vec<Queue>,
    jobs: ByJob<Job>,
    /// The nodes that are kept, in the order in which they were.
    kept: Vec<KeptNode>,
    /// Where the nodes stand in Hadoop's tables; empty until it matters.
    places: Vec<u32>,
    partitions: Option<Partitions>,
    /// The jobs that wait for whole requests; `None`: containers are granted one by one.
    whole: Option<WholeRequests>,
    /// Which of these jobs is next; without whole requests, which is served first.
    next: Next,
    /// True if the shares of queues still depend on the size of the cluster.
    is_unsettled: bool,
    /// The size of the cluster that the amounts of the queues follow from.
    cluster: Resources,
    /// The names of the resources beside memory and vcores that count.
    further: Vec<String>,
    /// The highest priority that an application can have; higher ones count as this.
    most_priority: i32,
    parallel: Parallel,
    preemption: Option<Preemption>,
    /// Which nodes have which label; `None`: no node has one.
    labels: Option<Labels>,
    /// The part of the cluster that is being served.
    walk: Walk,
}

/// How much a node gives at a heartbeat (rule K12).
#[derive(Debug, Clone, Copy)]
struct PerHeartbeat {
    most: u32,
    most_far: u32,
}

impl PerHeartbeat {
    const OF_2014: Self = Self { most: u32::MAX, most_far: 1 };

    fn of(settings: &Settings, version: Version) -> Self {
        let of_version = if version.has(None) { 100 } else { u32::MAX };
        let most = if settings.several_per_heartbeat { settings.most_per_heartbeat.unwrap_or(of_version) } else { 1 };
        Self { most, most_far: settings.most_far_per_heartbeat }
    }
}

impl Settings {
    /// The queues: those of the file, or else of the site.
    fn tree(&self, site: &Site) -> Result<QueueTree<YarnQueue>, Error> {
        match self.queues.path() {
            None => Ok(site.yarn_queues.clone().unwrap_or_else(queues::one_queue)),
            Some(path) => queues::read(path).map_err(Error::File),
        }
    }
}

impl YarnCapacity {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let tree = settings.tree(site)?;
        let delays = Delays {
            node: settings.node_locality_delay,
            rack: settings.rack_locality_delay,
            rack_resets: settings.rack_resets_delay,
        };
        let defaults = YarnQueue {
            minimum_user_limit: Some(settings.user_limit),
            user_limit_factor: Some(settings.user_limit_factor),
            maximum_am_share: Some(settings.am_share),
            ..YarnQueue::default()
        };
        let (version, _) = settings.version(site);
        Self {
            rules: Rules::of(settings, version),
            per_heartbeat: PerHeartbeat::of(settings, version),
            preemption: Preemption::of(settings),
            labels: settings.labels.path().map(Labels::read).transpose().map_err(Error::File)?,
            most_priority: settings.most_priority as i32,
            whole: settings.whole.then(WholeRequests::default),
            ..Self::empty(defaults, delays)
        }
        .with_queues(tree)
    }

    /// One queue whose jobs are kept apart in partitions, and get whole requests with `whole`, by the rules of 2014.
    ///
    /// # Errors
    /// What is wrong with the queues.
    pub(crate) fn partitioned(node_locality_delay: u64, am_share: f64, whole: bool) -> Result<Self, Error> {
        let defaults = YarnQueue { maximum_am_share: Some(am_share), ..YarnQueue::default() };
        let delays = Delays { node: node_locality_delay, rack: None, rack_resets: true };
        Self {
            partitions: Some(Partitions::default()),
            whole: whole.then(WholeRequests::default),
            ..Self::empty(defaults, delays)
        }
        .with_queues(queues::one_queue())
    }

    /// A scheduler by the rules of 2014 without queues.
    fn empty(defaults: YarnQueue, delays: Delays) -> Self {
        Self {
            rules: Rules::default(),
            tree: queues::one_queue(),
            defaults,
            delays,
            per_heartbeat: PerHeartbeat::OF_2014,
            queues: Vec::new(),
            jobs: ByJob::default(),
            kept: Vec::new(),
            places: Vec::new(),
            partitions: None,
            whole: None,
            next: Next::Earliest,
            is_unsettled: false,
            cluster: Resources::NONE,
            further: Vec::new(),
            most_priority: 0,
            parallel: Parallel::default(),
            preemption: None,
            labels: None,
            walk: Walk::default(),
        }
    }

    fn with_queues(mut self, tree: QueueTree<YarnQueue>) -> Result<Self, Error> {
        self.set_queues(tree)?;
        Ok(self)
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
        self.queues = shares(&tree, None).map_err(Error::File)?.into_iter().map(Queue::new).collect();
        self.is_unsettled = tree.depends_on_cluster();
        self.parallel = Parallel::of(&tree);
        self.tree = tree;
        self.set_parts();
        self.cluster = Resources::NONE;
        Ok(())
    }

    fn leaf_of(&self, name: &str) -> usize {
        self.tree.leaf_named(name).unwrap_or_else(|| self.tree.fallback())
    }

    fn user_of(&mut self, leaf: usize, name: &str) -> usize {
        if let Some(&user) = self.queues[leaf].user_names.get(name) {
            return user;
        }
        let weight = self.weight_of(leaf, name);
        let queue = &mut self.queues[leaf];
        queue.users.push(User::new(weight, queue.parts.len()));
        queue.user_names.insert(name.to_owned(), queue.users.len() - 1);
        queue.users.len() - 1
    }
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
        let part = self.part_of_jobs(queue);
        self.jobs[job] = Job { queue, user, size, part, rank: self.rank(job, view), ..Job::default() };
        if !self.hold(job, view) {
            self.admit(job, view);
        }
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        if self.jobs[job].is_held {
            return self.drop_held(job);
        }
        self.drop_reservations(job, view);
        self.end_activity(job, view);
        self.end_wait(job);
        if let Some(whole) = &mut self.whole {
            whole.remove(job);
        }
        self.activate(self.jobs[job].queue, view);
        self.release_held(job, view);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        // Backups are launched beside the policy.
        if started.backup {
            let job = view.job_of(started.task);
            self.charge(job, view.yarn().demand_of(job, Ask::of(started.kind)), started.node, view);
        }
    }

    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        if container.state == ContainerState::Completed {
            self.discharge(container.job, container.size, container.node, view);
        }
    }

    fn period(&self) -> Option<Ms> {
        self.preemption.as_ref().map(Preemption::interval)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.preempt(view, orders);
    }

    fn node_lost(&mut self, _node: NodeId, view: View<'_>) {
        // Neither the node is kept for anybody, nor others for the jobs whose masters were there.
        for &job in view.jobs() {
            self.drop_reservations(job, view);
        }
    }

    fn headroom(&self, job: JobId, view: View<'_>) -> u64 {
        if self.rules.headroom_when_asked {
            self.headroom_now(job, view)
        } else {
            self.jobs[job].headroom.max(0) as u64
        }
    }

    fn may_use(&self, node: NodeId, view: View<'_>) -> bool {
        view.yarn().reservation(node).is_some() || self.has_room(node, view)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.settle(offer.view());
        let kept = offer.yarn().reservation();
        self.walk = Walk { part: self.part_of(offer.node()), is_lent: false };
        if let Some(kept) = kept {
            self.serve_reservation(offer, kept)?;
        }
        if kept.is_none() || !self.rules.heartbeat_ends_with_reservation {
            self.admit_whole(offer);
            self.serve_all(offer)?;
        }
        report_kept(offer);
        Ok(())
    }
}

impl YarnCapacity {
    /// An application that may run waits to become active, and asks for its master.
    fn admit(&mut self, job: JobId, view: View<'_>) {
        self.wait(job);
        self.wait_for_whole(job, view);
        self.activate(self.jobs[job].queue, view);
        self.ask_for_master(job);
    }

    /// Gives the containers of a node one by one.
    fn serve_all(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let part = self.part_of(offer.node());
        let by = self.by(part, offer.view());
        let (mut given, mut far) = (0, 0);
        while offer.yarn().reservation().is_none() {
            self.walk = Walk { part, is_lent: false };
            let mut limits = self.limits_of_all(by);
            let mut served = self.serve(offer, QueueTree::<YarnQueue>::ROOT, &mut limits)?;
            if matches!(served, Served::Nothing | Served::QueueFull) && self.is_lendable(part) {
                self.walk.is_lent = true;
                let mut limits = self.limits_of_all(self.by(0, offer.view()));
                served = self.serve(offer, QueueTree::<YarnQueue>::ROOT, &mut limits)?;
            }
            match served {
                Served::Near => {}
                Served::Far => far += 1,
                Served::Nothing | Served::QueueFull | Served::Rejected => break,
            }
            given += 1;
            if given >= self.per_heartbeat.most || far >= self.per_heartbeat.most_far {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::calculator::Calculator;
    use super::*;
    use crate::queues::file::parse;
    use crate::testing::{Launch, Scenario, job, map};
    use resched_sim::Ms;
    use resched_tables::model::{Locality, Reason};

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
        Resources::of(0, mb)
    }

    #[test]
    fn a_node_that_is_kept_for_a_job_is_kept_from_others() {
        // Five containers on each node. The reduce of the first job needs two, so that a node is kept for it when each has one free.
        let world = Scenario::containers(2, 5)
            .large_reduces(2)
            .job(job("job_1_0001").maps(1, map(8_000)).reduces(1, 5_000))
            .job(job("job_1_0002").each_map((0..20).map(|late| map(9_000 + 900 * late)).collect()));
        let reasons = world.reasons("yarn-capacity:rules=2014,am_share=1", "job_1_0002");
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
            order::fullness(&policy.queues[place], by)
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
        let launches = world().launches("yarn-capacity:rules=2014");
        let first = |id: &str| times(&launches, id).first().copied();
        assert_eq!([first("job_1_0001"), first("job_1_0002")], [Some(2_000), Some(2_000)]);
        assert!(first("job_1_0003") > Some(22_000), "{launches:?}");
        let launches = world().launches("yarn-capacity:rules=2014,am_share=0.15");
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
            world().finishes(&format!("yarn-capacity:rules=2014,queues={},user_limit_factor=9", file.display()))
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
        assert_eq!(level("yarn-capacity:rules=2014,node_locality_delay=0"), Some((2_000, Some(Locality::Rack))));
        assert_eq!(level("yarn-fifo"), Some((2_000, Some(Locality::Rack))));
        // With ten maps it takes as many more nodes.
        let many = |policy: &str| {
            let maps = job("job_1_0001").maps(10, map(1_000).on(&[0]));
            Scenario::containers(4, 1).racks(2).job(maps).launches(policy).first().map(|launch| launch.at)
        };
        assert_eq!(many("yarn-capacity:rules=2014,node_locality_delay=0"), Some(2_000));
        assert_eq!(many("yarn-capacity:rules=2014"), Some(3_000));
        assert_eq!(many("yarn-fifo"), Some(2_000));
    }
}
