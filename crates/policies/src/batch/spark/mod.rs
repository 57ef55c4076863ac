//! Spark's own scheduler: how an application hands its tasks to its executors, and how the standalone master hands executors to
//! applications.
//!
//! **What it does.** The tasks of a stage form a task set. Executors are offered to task sets: all of them when a stage is
//! submitted and once a second, and one when a task on it ends. Task sets are asked in the order of FIFO or of fair pools, and the first
//! takes all that it can. A task set takes an executor that is not on a preferred machine of its tasks only after it has
//! waited (`spark.locality.wait`). Tasks that read what one stage wrote prefer the machines that hold a fifth of it.
//!
//! **Source.** `TaskSchedulerImpl`, `TaskSetManager`, `Pool`, `SchedulingAlgorithm`, `CoarseGrainedSchedulerBackend` and `Master` of
//! Spark 3.3 to 4.0, which agree; `legacy_reset` follows the versions before 3.1.
//!
//! **Decisions.** Spark shuffles the executors of each offer; so does this policy, with draws of the seed. The logs do not say at which
//! part of a second a driver makes its offers of everything; that is drawn, too (`phase`). With several applications, they come at
//! the shortest interval, for all at once. Nothing is cached, so no executor is preferred, only machines. The pools stand in
//! `fairscheduler.xml` (`--site-conf`). One application has the executors of its log, from when they registered; without a log of
//! them, each machine is one. Several applications get executors from the master, in the order of their first jobs. How long an executor
//! needs to start is read from the log, where one took the place of another. The memory of executors does not count, but that of the
//! tasks on a machine does. An application ends with its last job. On traces of other systems, tasks of a stage may ask for
//! different amounts: the next one of each stack must fit. A gang starts when the executors of an offer have room for it.

mod allocation;
mod conf;
mod executors;
mod level;
mod manager;
mod master;
mod pools;
mod rounds;
mod task_set;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand::RngExt;
use resched_sim::batch::{Ended, Offer, Orders, Policy, View};
use resched_sim::{JobId, Ms, NodeId, Resources, TaskId, Violation};
use resched_tables::draws::{Purpose, stream};
use smallvec::SmallVec;

use self::allocation::Allocation;
use self::conf::Conf;
use self::executors::{Alive, Executors};
use self::manager::{Kind, Manager, Member};
use self::master::{Asked, Worker};
use self::pools::Pools;
use self::rounds::Which;
use self::task_set::{Sets, TaskSet};
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::{ByJob, ByRun};
use crate::queues::file::DEFAULT_QUEUE;
use crate::queues::spark_pools::{Mode, SparkPools};

use crate::settings::{File, Values, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "spark",
    title: "Spark's own scheduler: FIFO or fair pools, with waits for preferred machines",
    source: "Spark 3.5 (TaskSchedulerImpl, TaskSetManager, Pool, Master)",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::Spark, Input::SparkPools, Input::YarnQueues, Input::YarnFairQueues, Input::Offers],
    idle: ALL_ACT,
    build: Build::Batch(|values, site| {
        let settings = Settings::read(values)?;
        let manager = Manager::new(settings.manager, site)?;
        let pools = match settings.pools.path() {
            Some(path) => SparkPools::read(path).map_err(Error::File)?,
            None => site.spark_pools.clone().unwrap_or_default(),
        };
        Ok(Box::new(Spark::new(settings, manager, pools)))
    }),
};

/// The framework of jobs that Spark ran.
pub(crate) const FRAMEWORK: &str = "spark";

settings! {
    /// What you can set.
    pub(super) struct Settings {
        /// order: the earlier job first, or the pool with the least for its weight; auto: as the log says, else fifo
        mode: Option<Mode> = "mode" { auto: Nothing, hadoop: ["spark.scheduler.mode"] },
        /// file of pools (TOML): `[pools.NAME]` with `mode`, `weight`, `min_share`; default: those of the site
        pools: File = "pools" {},
        /// how long a stage waits for a nearer executor; auto: as the log says, else 3000
        wait: Option<Ms> = "wait" { auto: Nothing, range: 0..=3_600_000, unit: "ms", hadoop: ["spark.locality.wait"] },
        /// how long a stage waits for a preferred machine; auto: as `wait`, or as the log says
        wait_node: Option<Ms> = "wait_node" {
            auto: Nothing, range: 0..=3_600_000, unit: "ms", hadoop: ["spark.locality.wait.node"]
        },
        /// how long a stage waits for the rack of a preferred machine; auto: as `wait`, or as the log says
        wait_rack: Option<Ms> = "wait_rack" {
            auto: Nothing, range: 0..=3_600_000, unit: "ms", hadoop: ["spark.locality.wait.rack"]
        },
        /// whether a stage waits again after each launch, as before Spark 3.1; auto: as the log says, else by its version
        legacy_reset: Option<bool> = "legacy_reset" {
            auto: Nothing, hadoop: ["spark.locality.wait.legacyResetOnTaskLaunch"]
        },
        /// time between two offers of all executors; auto: as the log says, else 1000
        revive: Option<Ms> = "revive" {
            auto: Nothing, range: 1..=3_600_000, unit: "ms", hadoop: ["spark.scheduler.revive.interval"]
        },
        /// when in that interval all executors are offered; auto: drawn with the seed
        phase: Option<Ms> = "phase" { auto: Nothing, range: 0..=3_600_000, unit: "ms" },
        /// cores that a task takes, at least what it requests; auto: as the log says, else its request
        task_cpus: Option<u32> = "task_cpus" {
            auto: Nothing, range: 1..=1_024, unit: "cores", hadoop: ["spark.task.cpus"]
        },
        /// what gives executors to several applications: Spark's master, or YARN by the queues of one of its schedulers
        manager: Kind = "manager" { choice: Kind::Standalone, of: [Kind::Standalone, Kind::Capacity, Kind::Fair] },
        /// executors of an application; auto: as many as there are, or under YARN as the log says, else 2
        executors: Option<u32> = "executors" {
            auto: Nothing, range: 1..=1_048_576, hadoop: ["spark.executor.instances"]
        },
        /// cores of an executor that the master gives out; auto: as the log says, else all free cores of a worker
        executor_cores: Option<u32> = "executor_cores" {
            auto: Nothing, range: 1..=1_048_576, unit: "cores", hadoop: ["spark.executor.cores"]
        },
        /// most cores of an application, if the master gives out executors; auto: as the log says
        cores_max: Option<u32> = "cores_max" {
            auto: Nothing, range: 1..=1_073_741_824, unit: "cores", hadoop: ["spark.cores.max"]
        },
        /// how long an executor needs to start on a machine that is already there; auto: as the log shows it, else 0
        executor_start: Option<Ms> = "executor_start" { auto: Nothing, range: 0..=3_600_000, unit: "ms" },
        /// applications ask for executors while they run, and let idle ones go; auto: as the log says, else false
        dynamic: Option<bool> = "dynamic" { auto: Nothing, hadoop: ["spark.dynamicAllocation.enabled"] },
        /// fewest executors of an application, if `dynamic`; auto: as the log says, else 0
        min_executors: Option<u32> = "min_executors" {
            auto: Nothing, range: 0..=1_048_576, hadoop: ["spark.dynamicAllocation.minExecutors"]
        },
        /// most executors of an application, if `dynamic`; auto: as the log says, else any number
        max_executors: Option<u32> = "max_executors" {
            auto: Nothing, range: 1..=1_048_576, hadoop: ["spark.dynamicAllocation.maxExecutors"]
        },
        /// executors of an application at its start, if `dynamic`; auto: as the log says, else the fewest
        initial_executors: Option<u32> = "initial_executors" {
            auto: Nothing, range: 0..=1_048_576, hadoop: ["spark.dynamicAllocation.initialExecutors"]
        },
        /// how long tasks wait before their application asks for executors, if `dynamic`; auto: as the log says, else 1000
        backlog: Option<Ms> = "backlog" {
            auto: Nothing, range: 0..=3_600_000, unit: "ms", hadoop: ["spark.dynamicAllocation.schedulerBacklogTimeout"]
        },
        /// how long tasks wait before it asks for more, if `dynamic`; auto: as the log says, else as `backlog`
        sustained_backlog: Option<Ms> = "sustained_backlog" {
            auto: Nothing, range: 1..=3_600_000, unit: "ms",
            hadoop: ["spark.dynamicAllocation.sustainedSchedulerBacklogTimeout"]
        },
        /// how long an executor may be idle, if `dynamic`; auto: as the log says, else 60000
        idle: Option<Ms> = "idle" {
            auto: Nothing, range: 0..=3_600_000, unit: "ms", hadoop: ["spark.dynamicAllocation.executorIdleTimeout"]
        },
        /// the master deals executors out over workers; false: it fills one after another; auto: by the log, else true
        spread_out: Option<bool> = "spread_out" { auto: Nothing, hadoop: ["spark.deploy.spreadOut"] },
    }
}

/// The setting that names the file of the pools.
const POOLS_FILE: &str = "spark.scheduler.allocation.file";

/// How many applications of a log had fair pools that no file gives, with the first file that the log names. Only if pools count in the
/// replay.
///
/// # Errors
/// Parameters that the policy does not have.
pub(crate) fn without_pools(
    values: &Values,
    applications: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<Option<(Option<String>, u64)>, Error> {
    let settings = Settings::read(values)?;
    if settings.pools.path().is_some() || settings.mode == Some(Mode::Fifo) {
        return Ok(None);
    }
    let had_pools = |other: &&BTreeMap<String, String>| {
        let was_fair = conf::is_fair(other);
        was_fair || settings.mode == Some(Mode::Fair) && other.contains_key(POOLS_FILE)
    };
    let fair: Vec<_> = applications.values().filter(had_pools).collect();
    let file = fair.iter().find_map(|settings| settings.get(POOLS_FILE)).cloned();
    Ok((!fair.is_empty()).then_some((file, fair.len() as u64)))
}

/// The executors of an application under YARN, if nothing says how many: Spark's `spark.executor.instances`.
const UNDER_YARN: u64 = 2;
/// The setting that names the queue of an application.
const QUEUE: &str = "spark.yarn.queue";

/// What has happened, in order. Each is handled by itself.
#[derive(Debug)]
enum Event {
    /// A stage is submitted.
    Submitted(u32),
    /// A task has ended.
    Ended(Run),
    /// A unit of a task of a stage waits again.
    Again(u32, TaskId),
    /// The time for an offer of everything has come.
    Revive,
    /// Machines have changed, or an application has registered, at an instant.
    Changed(Ms),
    /// An executor registers, or an application asks for executors or lets some go, at an instant.
    Due(Ms),
    /// An application has ended.
    Gone(usize),
    /// A job has ended, with these stages.
    Over(JobId, Vec<u32>),
}

/// A unit that runs.
#[derive(Debug)]
struct Run {
    stage: u32,
    /// The executors, with what it takes of each.
    on: SmallVec<[(usize, Resources); 1]>,
}

/// An application.
#[derive(Debug)]
struct App {
    conf: Conf,
    pools: Pools,
    /// How often all its executors were offered while a task set waited. It names the draws of an offer.
    offers: u64,
    has_ended: bool,
    /// The place of its queue.
    queue: usize,
    /// The most memory that one of its tasks has asked for, bytes.
    memory: u64,
    /// How it asks for executors while it runs.
    allocation: Option<Allocation>,
}

impl App {
    /// So many tasks wait more.
    fn wait(&mut self, tasks: u64, now: Ms) {
        self.allocation.iter_mut().for_each(|allocation| allocation.wait(tasks, now));
    }
}

/// The policy.
#[derive(Debug)]
struct Spark {
    settings: Settings,
    manager: Manager,
    site: SparkPools,
    apps: Vec<App>,
    /// The numbers of the applications, by the group of their jobs.
    by_group: BTreeMap<String, usize>,
    /// True if the master gives out executors; else the one application has all.
    has_master: bool,
    executors: Executors,
    /// True if applications ask for executors while they run.
    is_dynamic: bool,
    /// True if each executor is all of its machine.
    whole: bool,
    /// Since when each machine has been there, ms.
    there: Vec<Option<Ms>>,
    /// When in each interval everything is offered, ms.
    phase: Ms,
    sets: Sets,
    stages: ByJob<Vec<u32>>,
    runs: ByRun<Option<Run>>,
    /// The executors that hold what each job wrote, where applications let executors go.
    holders: BTreeMap<JobId, BTreeSet<usize>>,
    events: VecDeque<Event>,
    /// Room for the executors of a round.
    offered: Vec<usize>,
}

impl Spark {
    fn new(settings: Settings, manager: Manager, site: SparkPools) -> Self {
        Self {
            settings,
            manager,
            site,
            apps: Vec::new(),
            by_group: BTreeMap::new(),
            has_master: false,
            executors: Executors::default(),
            is_dynamic: false,
            whole: false,
            there: Vec::new(),
            phase: 0,
            sets: Sets::default(),
            stages: ByJob::default(),
            runs: ByRun::default(),
            holders: BTreeMap::new(),
            events: VecDeque::new(),
            offered: Vec::new(),
        }
    }

    /// The application of a group, which registers with its first job.
    fn app(&mut self, group: &str, view: View<'_>) -> usize {
        let logged = view.applications();
        if self.apps.is_empty() {
            let is_dynamic = |logged| Conf::of(&self.settings, Some(logged)).dynamic.is_some();
            self.has_master = logged.len() > 1
                || self.settings.cores_max.is_some()
                || self.settings.executors.is_some()
                || self.manager != Manager::Standalone
                || self.settings.dynamic == Some(true)
                || logged.values().any(is_dynamic);
        }
        let group = if self.has_master { group } else { "" };
        if let Some(&known) = self.by_group.get(group) {
            return known;
        }
        let of_group = if self.has_master { logged.get(group) } else { logged.values().next() };
        let conf = Conf::of(&self.settings, of_group);
        self.is_dynamic |= conf.dynamic.is_some();
        let number = self.apps.len();
        if number == 0 {
            let drawn = || stream(view.seed(), Purpose::OfferPhase, &[]).random_range(0..conf.revive);
            self.phase = self.settings.phase.unwrap_or_else(drawn);
        }
        let pools = Pools::new(self.site.clone(), conf.mode);
        let queue = self
            .manager
            .queue(of_group.and_then(|settings| settings.get(QUEUE)).map_or(DEFAULT_QUEUE, |name| name.trim()));
        let allocation = conf.dynamic.map(Allocation::new);
        self.apps.push(App { conf, pools, queue, memory: 0, allocation, offers: 0, has_ended: false });
        self.by_group.insert(group.to_owned(), number);
        if !self.has_master {
            self.take_all(number, view);
        }
        self.events.push_back(Event::Changed(view.now()));
        number
    }

    /// The one application has the executors of the log, or else all machines.
    fn take_all(&mut self, app: usize, view: View<'_>) {
        self.whole = view.executors().is_empty();
        for (node, _) in view.nodes().filter(|_| self.whole) {
            self.executors.add(app, (node, view.rack(node)), Resources::NONE, Ms::MIN);
        }
        for executor in view.executors() {
            let place = (executor.node, view.rack(executor.node));
            self.executors.add(app, place, executor.capacity, executor.added.unwrap_or(Ms::MIN));
        }
    }

    /// Takes note of the machines that have come.
    fn meet(&mut self, view: View<'_>) {
        self.there.resize(view.nodes().len(), None);
        for (since, (node, _)) in self.there.iter_mut().zip(view.nodes()) {
            if since.is_none() && view.offers(node).0 != Resources::NONE {
                *since = Some(view.now());
            }
        }
    }

    /// When an executor registers that is given out now. A machine that has just come is one whose first executor has
    /// just registered in the log.
    fn registers(&self, at: Ms, node: NodeId, view: View<'_>) -> Ms {
        let start = self.settings.executor_start.or_else(|| view.executor_start()).unwrap_or(0);
        let has_just_come = self.there.get(node.index()).copied().flatten() == Some(at);
        if has_just_come { at } else { at.saturating_add(start).min(Ms::MAX - 1) }
    }

    /// What an application asks for. Under YARN, and while it runs, it asks for executors of one core if nothing says their size.
    fn asked(&self, app: usize) -> Asked {
        let App { conf, allocation, has_ended, .. } = &self.apps[app];
        let is_sized = allocation.is_some() || conf.executors.is_some() || self.manager != Manager::Standalone;
        let each = conf.executor_cores.or(is_sized.then_some(1));
        let count = match allocation {
            Some(allocation) => Some(allocation.target()),
            None => conf.executors.or((self.manager != Manager::Standalone).then_some(UNDER_YARN)),
        };
        let most = count.map_or(u64::MAX, |count| count.saturating_mul(each.unwrap_or(1)));
        let most = if *has_ended { 0 } else { most.min(conf.cores_max.unwrap_or(u64::MAX)) };
        Asked { cores: most.saturating_sub(self.executors.cores(app) / 1_000), each }
    }

    /// What is free for executors of an application, of the machines on which each of its tasks has room.
    fn workers(&self, app: usize, view: View<'_>) -> Vec<Worker> {
        let worker = |node| {
            let offered = view.offers(node).0;
            let free = offered.minus(self.executors.on(node));
            (offered.memory >= self.apps[app].memory).then_some(Worker { node, free: free.cpu / 1_000 })
        };
        view.nodes().filter_map(|(node, _)| worker(node)).filter(|worker| worker.free > 0).collect()
    }

    /// Executors are given out as far as there is room.
    fn give_out(&mut self, at: Ms, view: View<'_>) {
        if self.manager != Manager::Standalone {
            return self.give_out_by_queues(at, view);
        }
        for app in 0..self.apps.len() {
            let asked = self.asked(app);
            if asked.cores >= asked.each.unwrap_or(1) {
                self.give(app, asked, at, view);
            }
        }
    }

    /// YARN gives out executors one by one.
    fn give_out_by_queues(&mut self, at: Ms, view: View<'_>) {
        let cluster = view.total().cpu / 1_000;
        loop {
            let fits = |app: usize, each: u64| self.workers(app, view).iter().any(|worker| worker.free >= each);
            let member = |app: usize| {
                let asked = self.asked(app);
                let each = asked.each.unwrap_or(1);
                let asks = (asked.cores >= each && fits(app, each)).then_some(each);
                Member { app, queue: self.apps[app].queue, used: self.executors.cores(app) / 1_000, asks }
            };
            let members: Vec<Member> =
                (0..self.apps.len()).filter(|&app| !self.apps[app].has_ended).map(member).collect();
            let Some(app) = self.manager.next(&members, cluster) else { return };
            let each = self.asked(app).each;
            self.give(app, Asked { cores: each.unwrap_or(1), each }, at, view);
        }
    }

    /// An application gets what it asks for, as far as there is room. What its executors may run is limited by their cores: the memory of
    /// a machine is that of all on it.
    fn give(&mut self, app: usize, asked: Asked, at: Ms, view: View<'_>) {
        for (node, cores) in master::executors(asked, &self.workers(app, view), self.apps[app].conf.spread_out) {
            let capacity = Resources { cpu: cores * 1_000, memory: view.offers(node).0.memory };
            self.executors.add(app, (node, view.rack(node)), capacity, self.registers(at, node, view));
        }
    }

    /// Executors have come or gone: task sets look anew, and those that came are offered.
    fn look(&mut self, at: Ms, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let (came, lost) = self.executors.look(at, offer.view(), self.whole);
        let mut changed: Vec<usize> = came.iter().map(|&number| self.executors.get(number).app).chain(lost).collect();
        changed.sort_unstable();
        changed.dedup();
        if changed.is_empty() {
            return Ok(());
        }
        self.recompute(&changed);
        for &number in &came {
            self.executors.look_idle(number, at);
        }
        for number in came {
            self.round(self.executors.get(number).app, Which::One(number), offer)?;
        }
        Ok(())
    }

    /// The executors of applications have changed: their task sets look anew.
    fn recompute(&mut self, changed: &[usize]) {
        let executors = &self.executors;
        self.sets.each(|set| {
            if set.is_submitted && changed.binary_search(&set.app).is_ok() {
                set.recompute(Alive { app: set.app, executors });
            }
        });
    }

    /// When something is due next, ms.
    fn next_due(&self) -> Option<Ms> {
        let asks = |(app, state): (usize, &App)| {
            let allocation = state.allocation.as_ref().filter(|_| !state.has_ended)?;
            let idle = self.executors.longest_idle(app).filter(|_| allocation.lets_go(self.executors.count(app)));
            let goes = idle.map(|(_, since)| since.saturating_add(allocation.limits().idle));
            allocation.asks_at().into_iter().chain(goes).min()
        };
        let asked = if self.is_dynamic { self.apps.iter().enumerate().filter_map(asks).min() } else { None };
        asked.into_iter().chain(self.executors.next()).min()
    }

    /// Applications ask for executors, and let go those that were idle for long.
    fn allocate(&mut self, at: Ms, view: View<'_>) {
        let mut changed = false;
        for app in 0..self.apps.len() {
            let have = self.executors.count(app);
            let state = &mut self.apps[app];
            if let Some(allocation) = state.allocation.as_mut().filter(|_| !state.has_ended) {
                let before = allocation.target();
                allocation.ask(at, have);
                changed |= allocation.target() != before;
            }
            changed |= self.let_idle_go(app, at);
        }
        if changed {
            self.give_out(at, view);
        }
    }

    /// An application lets go those of its executors that were idle for long. Returns whether it did.
    fn let_idle_go(&mut self, app: usize, at: Ms) -> bool {
        let mut any = false;
        while let Some(allocation) = &self.apps[app].allocation
            && let Some((number, since)) = self.executors.longest_idle(app)
            && since.saturating_add(allocation.limits().idle) <= at
            && allocation.lets_go(self.executors.count(app))
        {
            self.executors.let_go(number);
            any = true;
        }
        if any {
            self.recompute(&[app]);
        }
        any
    }

    fn handle(&mut self, event: Event, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        match event {
            Event::Submitted(stage) => self.submit(stage, offer),
            Event::Ended(run) => self.end(&run, offer),
            Event::Again(stage, task) => {
                let Some(set) = self.sets.get_mut(stage) else { return Ok(()) };
                set.retry(task);
                let app = set.app;
                self.apps[app].pools.wait(set.pool, stage);
                self.apps[app].wait(1, offer.view().now());
                self.round(app, Which::All, offer)
            }
            Event::Revive => (0..self.apps.len()).try_for_each(|app| self.round(app, Which::All, offer)),
            Event::Changed(at) => {
                if self.has_master {
                    self.meet(offer.view());
                    self.executors.end_lost(offer.view());
                    self.give_out(at, offer.view());
                }
                self.look(at, offer)
            }
            Event::Due(at) => {
                if self.is_dynamic {
                    self.allocate(at, offer.view());
                }
                self.look(at, offer)
            }
            Event::Gone(app) => {
                self.apps[app].has_ended = true;
                self.executors.end(app);
                self.give_out(offer.view().now(), offer.view());
                self.look(offer.view().now(), offer)
            }
            Event::Over(job, stages) => {
                let now = offer.view().now();
                self.holders.remove(&job).into_iter().flatten().for_each(|number| self.executors.release(number, now));
                stages.into_iter().for_each(|stage| self.sets.end(stage));
                Ok(())
            }
        }
    }

    fn submit(&mut self, stage: u32, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let view = offer.view();
        let Some(set) = self.sets.get_mut(stage) else { return Ok(()) };
        let app = set.app;
        let executors = &self.executors;
        set.submit(view.now(), Alive { app, executors });
        let pools = &mut self.apps[app].pools;
        set.pool = pools.of(view.job(set.job).queue);
        pools.wait(set.pool, stage);
        let waiting = u64::from(set.waiting());
        self.apps[app].wait(waiting, view.now());
        self.round(app, Which::All, offer)
    }

    fn end(&mut self, run: &Run, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        for &(executor, cost) in &run.on {
            self.executors.give_back(executor, cost);
        }
        let now = offer.view().now();
        run.on.iter().for_each(|&(executor, _)| self.executors.look_idle(executor, now));
        if let Some(set) = self.sets.get_mut(run.stage) {
            set.running = set.running.saturating_sub(1);
            let state = &mut self.apps[set.app];
            state.pools.ended(set.pool);
            state.allocation.iter_mut().for_each(Allocation::end);
        }
        for &(executor, _) in &run.on {
            self.round(self.executors.get(executor).app, Which::One(executor), offer)?;
        }
        Ok(())
    }
}

impl Policy for Spark {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.app(view.job(job).group, view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        let stages = self.stages.take(job);
        self.events.push_back(Event::Over(job, stages));
        let group = view.job(job).group;
        if self.has_master
            && !view.has_jobs(group)
            && let Some(&app) = self.by_group.get(group)
        {
            self.events.push_back(Event::Gone(app));
        }
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        let stage = view.stage(task);
        let spec = *view.task(task);
        if self.sets.get(stage).is_none() {
            let app = self.app(view.job(spec.job).group, view);
            self.stages[spec.job].push(stage);
            self.events.push_back(Event::Submitted(stage));
            self.sets.add(stage, TaskSet::new(spec.job, app));
        }
        let Some(set) = self.sets.get_mut(stage) else { return };
        if set.is_submitted {
            debug_assert_eq!(set.job, spec.job);
            self.events.push_back(Event::Again(stage, task));
            return;
        }
        let app = set.app;
        let App { conf, memory, .. } = &mut self.apps[app];
        let cost = conf.cost(spec.demand);
        *memory = cost.memory.max(*memory);
        let gang = spec.gang.then_some(spec.instances);
        set.add(task, (cost, gang), view.waiting(task), view.preferred(task), |node| view.rack(node));
    }

    fn task_finished(&mut self, ended: &Ended, _: View<'_>) {
        if let Some(run) = self.runs.take(ended.run) {
            self.events.push_back(Event::Ended(run));
        }
    }

    fn nodes_changed(&mut self, view: View<'_>) {
        self.events.push_back(Event::Changed(view.now()));
    }

    fn period(&self) -> Option<Ms> {
        let shortest = self.apps.iter().filter(|app| !app.has_ended).map(|app| app.conf.revive).min();
        Some(shortest.unwrap_or(conf::LONGEST))
    }

    fn phase(&self) -> Ms {
        self.phase
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        // Offers matter to waiting tasks alone.
        view.all_waiting() == 0
    }

    fn tick(&mut self, view: View<'_>, _: &mut Orders) {
        if view.all_waiting() > 0 {
            self.events.push_back(Event::Revive);
        }
    }

    fn alarm(&self) -> Option<Ms> {
        self.next_due()
    }

    fn draws(&self) -> bool {
        true
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let now = offer.view().now();
        // While nothing waited, nobody asked.
        while let Some(at) = self.next_due().filter(|&at| at < now) {
            self.handle(Event::Due(at), offer)?;
        }
        self.events.extend(self.next_due().filter(|&at| at == now).map(Event::Due));
        while let Some(event) = self.events.pop_front() {
            self.handle(event, offer)?;
        }
        Ok(())
    }
}
