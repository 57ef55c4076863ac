//! Random small worlds in which much happens at the same instant, and what a replay makes of them.

pub(crate) mod by_hand;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, FileFailurePersistence};
use resched_policies::queues::QueueTree;
use resched_policies::queues::{Allocations, CapacityQueue, FairQueue, PoolConfig, PoolMode, SharePolicy, YarnQueue};
use resched_policies::{POLICIES, PolicySpec, Site};
use resched_sim::Reports;
use resched_sim::cluster_file::{Calculator, Containers, Contention, Interval, Outage, Phase, ReduceModel, Size, Slow};
use resched_sim::hadoop::{
    Checked, Cluster, Edges, Ended, Job, Kind, Launched, LoggedMap, LoggedReduce, Lulls, Observer, Offer, Options,
    Policy, Resources, TaskSpec, View, Workload, Wrapper, replay,
};
use resched_sim::{ClusterConfig, Error, JobEnded, Ms, NodeId, TaskId, Violation};
use resched_tables::model::{Locality, Outcome, Priority};

/// A machine: the number of its rack and its slots.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) rack: usize,
    pub(crate) slots: [u32; 2],
}

/// A map: the nodes with its input and its logged tries.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    pub(crate) replicas: Vec<usize>,
    pub(crate) tries: Vec<LoggedMap>,
}

/// A job; its number in the world is its [`resched_sim::JobId`].
#[derive(Debug, Clone)]
pub(crate) struct Submitted {
    pub(crate) submit: Ms,
    pub(crate) user: usize,
    pub(crate) queue: usize,
    pub(crate) priority: Priority,
    pub(crate) maps: Vec<Map>,
    /// The logged tries of each reduce.
    pub(crate) reduces: Vec<Vec<LoggedReduce>>,
    pub(crate) first_shuffle: Option<Ms>,
    pub(crate) typical_shuffle: Option<Ms>,
    pub(crate) shuffle_bytes: i64,
    pub(crate) edges: Edges,
}

/// A cluster, its rules and its jobs.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// All times are multiples of it, ms.
    pub(crate) unit: Ms,
    pub(crate) seed: u64,
    pub(crate) machines: Vec<Machine>,
    pub(crate) config: ClusterConfig,
    pub(crate) jobs: Vec<Submitted>,
    /// When a lull begins.
    pub(crate) lulls: Lulls,
}

/// The name of a node.
pub(crate) fn host(node: usize) -> String {
    format!("n{node:03}")
}

/// What a kind of test asks of its worlds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// R2 besides R0 and R1, jitter, nodes that fail, slow nodes and attempts, and set-up and clean-up of jobs.
    pub(crate) every_rule: bool,
    /// Leave out what keeps a replay from its end: slots that a failed job holds for ever, as in Mumak, and a task that
    /// has failed on every node with slots but not on those without.
    pub(crate) finishes: bool,
}

/// The configuration of a test with so many cases. A failure is kept beside the source of the test.
pub(crate) fn cases(usual: u32) -> Config {
    let config = crate::cases::cases(usual);
    let persistence = FileFailurePersistence::WithSource("regressions");
    Config { max_global_rejects: config.cases, failure_persistence: Some(Box::new(persistence)), ..config }
}

/// A world.
pub(crate) fn world(wanted: Wanted) -> impl Strategy<Value = World> {
    // With a unit of 1 ms the heartbeats of nodes with phases of their own meet each other's ends and submissions, too.
    (select(vec![1, 500]), 1..=8_usize, 1..=3_usize).prop_flat_map(move |(unit, nodes, racks)| {
        (
            (any::<u64>(), any::<bool>()),
            vec((0..racks, 0..=3_u32, 0..=3_u32), nodes),
            rules(unit, wanted.every_rule),
            mishaps(unit, nodes),
            vec(job(unit, nodes), 1..=6),
        )
            .prop_map(move |((seed, ranked), machines, mut config, mishaps, mut jobs)| {
                if !wanted.every_rule {
                    jobs.iter_mut().for_each(|job| job.edges = Edges::default());
                }
                if wanted.every_rule {
                    mishaps.befall(&mut config, unit, nodes);
                }
                if !ranked {
                    jobs.iter_mut().for_each(|job| job.priority = Priority::Normal);
                }
                assemble(wanted, unit, seed, machines, config, jobs)
            })
    })
}

/// The rules of a cluster; all times are multiples of `unit`.
fn rules(unit: Ms, every_rule: bool) -> impl Strategy<Value = ClusterConfig> {
    let models = if every_rule {
        vec![ReduceModel::R0, ReduceModel::R1, ReduceModel::R2]
    } else {
        vec![ReduceModel::R0, ReduceModel::R1]
    };
    let heartbeat = (select(vec![1, 2, 3, 6]), 0..=3_i64, any::<bool>(), 0..=2_i64, any::<bool>());
    let master = (0..=8_i64, select(vec![0.0, 0.05, 0.5, 1.0]), 1..=4_u32, select(vec![0, 0, 1, 7]));
    (heartbeat, master, select(models), containers(unit)).prop_map(move |(heartbeat, master, model, containers)| {
        let mut config = ClusterConfig { containers, ..ClusterConfig::default() };
        let (interval, first, together, jitter, out_of_band) = heartbeat;
        config.heartbeat.interval = Interval::Fixed(interval * unit);
        config.heartbeat.first = first * unit;
        config.heartbeat.phase = if together { Phase::Together } else { Phase::Spread };
        config.heartbeat.out_of_band = out_of_band;
        if every_rule {
            config.heartbeat.jitter = jitter.min((interval * unit - 1) / 2);
            // What nodes share is scarce in some of the worlds that follow bytes.
            let scarce = model == ReduceModel::R2 && jitter > 0;
            config.cost.contention = scarce.then(|| Contention {
                cores: Some(jitter as f64 / 2.0),
                disk: Some(3e6 / unit as f64),
                network: Some(5e5 / unit as f64),
                stream: Some(2e6 / unit as f64),
                seek: jitter as f64 / 4.0,
                fetch_cores: 0.5,
                reduce_disk: 3.0,
                sample: 100 * unit,
            });
        }
        let (first_submit, slowstart, max_attempts, overhead) = master;
        config.jobs.first_submit = first_submit * unit;
        config.jobs.slowstart = slowstart;
        config.jobs.max_attempts = max_attempts;
        config.jobs.kill_failed = false;
        config.jobs.launch_overhead = overhead * unit;
        config.cost.reduce = model;
        config.cost.shuffle_rate = 1e6 / unit as f64;
        config
    })
}

/// The rules of containers. A node has room for the masters of all jobs and a task, so that they cannot stand in each other's way
/// for ever.
fn containers(unit: Ms) -> impl Strategy<Value = Containers> {
    let beats = select(vec![1, 2, 3, 6]);
    let task = (1..=3_u32, 1..=2_u32);
    (9..=14_u32, 8..=12_u32, any::<bool>(), (task.clone(), task), (beats.clone(), beats)).prop_map(
        move |(memory_mb, vcores, dominant, (map, reduce), (node, am))| {
            let size = |(memory_mb, vcores)| Size { memory_mb, vcores };
            Containers {
                memory_mb: Some(memory_mb),
                vcores: Some(vcores),
                am: size((1, 1)),
                map: size(map),
                reduce: size(reduce),
                minimum: size((1, 1)),
                hanging_maps: 20 * unit,
                calculator: if dominant { Calculator::Dominant } else { Calculator::Memory },
                node_heartbeat: node * unit,
                am_heartbeat: am * unit,
                ..Containers::default()
            }
        },
    )
}

/// What goes wrong with nodes and attempts.
#[derive(Debug, Clone)]
struct Mishaps {
    /// When a node fails and for how many units; one may stay away.
    outages: Vec<(usize, Ms, Ms)>,
    for_good: bool,
    expiry: Ms,
    slow: bool,
    copying: u32,
}

fn mishaps(unit: Ms, nodes: usize) -> impl Strategy<Value = Mishaps> {
    let outages = prop_oneof![1 => Just(Vec::new()), 1 => vec((0..nodes, 0..=40_i64, 1..=15_i64), 0..=4)];
    let world = (any::<bool>(), 1..=12_i64, any::<bool>(), select(vec![0, 0, 1, 3]));
    (outages, world).prop_map(move |(outages, (for_good, expiry, slow, copying))| Mishaps {
        copying,
        outages,
        for_good,
        expiry: expiry * unit,
        slow,
    })
}

impl Mishaps {
    fn befall(mut self, config: &mut ClusterConfig, unit: Ms, nodes: usize) {
        self.outages.sort_unstable();
        self.outages.dedup_by_key(|outage| outage.0);
        let last = if self.for_good && nodes > 1 { self.outages.len().checked_sub(1) } else { None };
        let outage = |(place, &(node, from, length)): (usize, &(usize, Ms, Ms))| Outage {
            host: host(node),
            from: from * unit,
            to: (Some(place) != last).then_some((from + length) * unit),
        };
        config.outages = self.outages.iter().enumerate().map(outage).collect();
        config.heartbeat.expiry = self.expiry;
        config.nodes.copying_reduces = if config.cost.contention.is_some() { 0 } else { self.copying };
        if self.slow {
            config.cost.slow_nodes = Slow { share: 0.3, factor: 2.0 };
            config.cost.stragglers = Slow { share: 0.2, factor: 3.5 };
        }
    }
}

fn outcome_before_success() -> impl Strategy<Value = Outcome> {
    prop_oneof![4 => Just(Outcome::Failed), 1 => Just(Outcome::Killed)]
}

/// The tries before the one that succeeded: in so many tasks of a hundred a few, in the others none.
fn lost_tries(percent: u32) -> impl Strategy<Value = Vec<Outcome>> {
    prop_oneof![100 - percent => Just(Vec::new()), percent => vec(outcome_before_success(), 1..=4)]
}

/// How long a try ran: a few units, and now and then a time that cannot be.
fn run_time(unit: Ms) -> impl Strategy<Value = Ms> {
    prop_oneof![30 => (0..=12_i64).prop_map(move |units| units * unit), 1 => Just(-1)]
}

fn map(unit: Ms, nodes: usize, failing: u32) -> impl Strategy<Value = Map> {
    let level = select(vec![Locality::Node, Locality::Rack, Locality::Off]);
    let logged = (run_time(unit), level);
    (vec(0..nodes, 0..=3), lost_tries(failing), vec(logged, 5)).prop_map(|(mut replicas, lost, logged)| {
        replicas.sort_unstable();
        replicas.dedup();
        let outcomes = lost.into_iter().chain([Outcome::Success]);
        let tries = outcomes.zip(logged).map(|(outcome, (run, level))| LoggedMap { outcome, level, run });
        Map { replicas, tries: tries.collect() }
    })
}

fn reduce(unit: Ms, failing: u32) -> impl Strategy<Value = Vec<LoggedReduce>> {
    let logged = (0..=4_i64, 0..=2_i64, run_time(unit));
    (lost_tries(failing), vec(logged, 5)).prop_map(move |(lost, logged)| {
        let outcomes = lost.into_iter().chain([Outcome::Success]);
        let tries = outcomes.zip(logged).map(|(outcome, (shuffle, sort, run))| LoggedReduce {
            outcome,
            shuffle: shuffle * unit,
            sort: sort * unit,
            reduce: Some(run),
        });
        tries.collect()
    })
}

/// A job; its `submit` is the gap to the job before it.
fn job(unit: Ms, nodes: usize) -> impl Strategy<Value = Submitted> {
    let priorities = vec![Priority::VeryHigh, Priority::High, Priority::Normal, Priority::Low, Priority::VeryLow];
    let tasks = select(vec![0, 0, 10, 70])
        .prop_flat_map(move |failing| (vec(map(unit, nodes, failing), 0..=12), vec(reduce(unit, failing), 0..=4)));
    let shuffles = (prop::option::of(0..=4_i64), prop::option::of(0..=4_i64), 0..=40_i64);
    let who = (0..3_usize, 0..2_usize, select(priorities));
    // A gap of one heartbeat interval decides the order against heartbeats, so the intervals' lengths are frequent.
    let gap = select(vec![0, 0, 1, 2, 3, 6, 6, 7, 12]);
    let time = || prop::option::of((0..=4_i64).prop_map(move |units| units * unit));
    // Jobs are initialised from their submission on: preemption of YARN's Fair Scheduler may go on for ever in a world whose masters come
    // first, and worlds must end. Schedules with masters are compared with golden ones.
    let edges = (time(), time(), time(), 0..=2_i64).prop_map(move |(init, setup, cleanup, tail)| Edges {
        init,
        from_master: false,
        setup,
        cleanup,
        tail: 10 * tail * unit,
    });
    (gap, who, tasks, shuffles, edges).prop_map(
        move |(gap, (user, queue, priority), (maps, reduces), shuffles, edges)| {
            let (first, typical, megabytes) = shuffles;
            Submitted {
                submit: gap * unit,
                user,
                queue,
                priority,
                maps,
                reduces,
                first_shuffle: first.map(|units| units * unit),
                typical_shuffle: typical.map(|units| units * unit),
                shuffle_bytes: megabytes * 1_000,
                edges,
            }
        },
    )
}

fn assemble(
    wanted: Wanted,
    unit: Ms,
    seed: u64,
    machines: Vec<(usize, u32, u32)>,
    config: ClusterConfig,
    mut jobs: Vec<Submitted>,
) -> World {
    let mut machines: Vec<Machine> =
        machines.into_iter().map(|(rack, maps, reduces)| Machine { rack, slots: [maps, reduces] }).collect();
    for kind in 0..2 {
        if machines.iter().all(|machine| machine.slots[kind] == 0) {
            machines.iter_mut().for_each(|machine| machine.slots[kind] = 1);
        }
    }
    let mut clock = config.jobs.first_submit;
    for (number, job) in jobs.iter_mut().enumerate() {
        clock += if number == 0 { 0 } else { job.submit };
        job.submit = clock;
        if job.maps.is_empty() && job.reduces.is_empty() {
            let success = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run: 1_000 };
            job.maps.push(Map { replicas: Vec::new(), tries: vec![success] });
        }
    }
    let mut world = World { unit, seed, machines, config, jobs, lulls: Lulls::default() };
    if wanted.finishes {
        world.mend();
    }
    world
}

/// A few of [`policies`], drawn by the world's seed: in many worlds each has its turn.
pub(crate) fn some_policies(world: &World) -> Vec<(String, Box<dyn Policy>)> {
    let mut all = policies(world);
    let first = (world.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % all.len();
    all.rotate_left(first);
    all.truncate(3);
    all
}

/// Every policy of the registry with its defaults, and some with other parameters; waits and periods fit the world's times.
pub(crate) fn policies(world: &World) -> Vec<(String, Box<dyn Policy>)> {
    let unit = world.unit;
    let mut specs: Vec<String> =
        POLICIES.iter().filter(|info| !info.is_batch()).map(|info| info.name.to_owned()).collect();
    specs.extend(
        ["fifo:pad_fraction=0.3,min_cluster=1", "fifo:many_maps=false", "delay:D=3", "delay:lambda=0.9,replication=2"]
            .map(str::to_owned),
    );
    specs.push("delay-time:T1=0,T2=0".to_owned());
    specs.push(format!("delay-time:T1={},T2={}", 4 * unit, 9 * unit));
    let fair = |more: &str| format!("fair:update={unit},{more}");
    specs.push(fair("delay_node=0,delay_rack=0"));
    specs.push(fair(&format!("delay_node={},delay_rack={0}", 30 * unit)));
    specs.push(fair("pools=queue,size_weight=true"));
    specs.push(fair("boost=true,max_diff=0.3"));
    specs.push(fair("assign_multiple=false,delay_node=0"));
    specs.push(fair("map_cap=1,reduce_cap=1"));
    specs.push(fair(&format!("preemption=true,only_log=true,fair_share_timeout={}", 10 * unit)));
    let deficit = |more: &str| format!("fair-deficit:update={unit},{more}");
    specs.push(deficit("assign_multiple=true"));
    specs.push(deficit("pools=queue,size_weight=true"));
    specs.push(deficit("boost=true"));
    let capacity = |more: &str| format!("capacity:init_poll={},{more}", 3 * unit);
    specs.push(capacity("user_limit=30,extra_users=0,jobs_per_user=1"));
    specs.push(capacity("priorities=true,user_limit=50"));
    // A rate about which the maps of these worlds lie: jobs of all classes.
    let triple_queue = |more: &str| format!("triple-queue:dior_mb_s={},{more}", 2.0 / unit as f64);
    specs.push(triple_queue("sway_queue=io,min_samples=0.5"));
    specs.push(triple_queue("sway_queue=cpu,mtct_window=3,defect_threshold=1"));
    specs.push(triple_queue("sway_queue=dynamic,cpu_slots=1,io_reduce_slots=1,sample_per_tracker=2"));
    let capacity = |more: &str| format!("capacity:init_poll={},{more}", 3 * unit);
    specs.push(capacity("user_limit=30,extra_users=0,jobs_per_user=1"));
    specs.push(capacity("priorities=true,user_limit=50"));
    specs.extend(["cogrs:declines=0", "cogrs:declines=2"].map(str::to_owned));
    let coupling = |more: &str| format!("coupling:update={unit}{more}");
    for maps in ["peek", "delay", "greedy"] {
        for reduces in ["gradual", "greedy"] {
            specs.extend(["on", "off"].map(|wait| coupling(&format!(",maps={maps},reduces={reduces},wait={wait}"))));
        }
    }
    specs.push(coupling(",K=2,beta=0.5,refill=true,D=2,rounds=1"));
    specs.push(coupling(",map_cap=1,reduces=greedy,wait=off,reduce_cap=1"));
    specs.push(coupling(",K=3,exclude_self=false,D=4,rounds=2,threshold=0.5,list=free,slowstart=true"));
    specs.push("yarn-capacity:node_locality_delay=1,user_limit=40,am_share=1".to_owned());
    for more in
        ["assign_multiple=true,max_assign=2", "locality_node=0.5,locality_rack=0.3", "share=drf,size_weight=true"]
    {
        specs.push(format!("yarn-fair:update={unit},{more}"));
    }
    specs.push(format!("yarn-fair:update={unit},share=fifo,placement=user,max_am_share=0.5"));
    specs.push("yarn-capacity:rules=2014,node_locality_delay=1,user_limit=40,am_share=1".to_owned());
    specs.push(format!("yarn-fair:rules=2014,update={unit},assign_multiple=true"));
    let dress = |more: &str| format!("dress:tick={unit},pw={},ts=1,te=1,{more}", 3 * unit);
    specs.push(dress("theta=0.3,release=literal"));
    specs.push(dress("theta=0.3,whole=false,order=submission,delta_min=0"));
    specs.push(dress("theta=0.3,whole=false"));
    specs.push("yarn-capacity:whole=true,user_limit=40".to_owned());
    specs.push(dress("theta=0.5,release=incremental,delta=0.4,cap_transfer=true,counted=running"));
    specs.push(dress("theta=0.2,theta_base=free,delta_min=0.2,delta_max=0.8,am_share=1"));
    specs.push("srpt:order=total".to_owned());
    for allocation in ["max", "min"] {
        specs.push(format!("aria:allocation={allocation},bound=up,deadline_factor=3"));
    }
    specs.push("aria:allocation=min,profile=learnt,deadline_factor=1".to_owned());
    for metric in ["weighted", "stretch,profile=logged", "lateness", "tardy,min_slots=0", "makespan,max_slots=2"] {
        specs.push(format!("flex:metric={metric}"));
    }
    for more in ["fair=none,omega=3", "fair=most,preemption=true,psi=9,xi=30", "preemption=true,fair=none,omega=20"] {
        specs.push(format!("quincy:period={},split_mb={unit},{more}", 3 * unit));
    }
    specs.extend(with_speculators(unit));
    let build = |text: String| {
        let policy = PolicySpec::parse(&text).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"));
        (text, policy)
    };
    let mut policies: Vec<(String, Box<dyn Policy>)> = specs.into_iter().map(build).collect();
    for (pools, rest) in [("user", "delay_node=0"), ("queue", "size_weight=true")] {
        let text = fair(&format!("pools={pools},preemption=true,preemption_interval={},{rest}", 3 * unit));
        let site = Site { pools: Some(allocations(pools, world)), ..Site::default() };
        policies.push((format!("{text} with allocations"), at_site(&text, site)));
    }
    let text = "yarn-capacity:am_share=0.5";
    let site = Site { yarn_queues: Some(yarn_queues()), ..Site::default() };
    policies.push((format!("{text} with allocations of queues"), at_site(text, site)));
    let text = "yarn-capacity:whole=true";
    let site = Site { yarn_queues: Some(yarn_queues()), ..Site::default() };
    policies.push((format!("{text} with allocations of queues"), at_site(text, site)));
    policies.extend(yarn_fair(world));
    let text = deficit("assign_multiple=true");
    let site = Site { pools: Some(allocations("user", world)), ..Site::default() };
    policies.push((format!("{text} with allocations"), at_site(&text, site)));
    // A queue that gets no slot keeps its jobs for ever.
    if world.steady_slots().into_iter().all(|slots| slots > 1) {
        let text = capacity("user_limit=40");
        let site = Site { mapred_queues: Some(queues()), ..Site::default() };
        policies.push((format!("{text} with queues"), at_site(&text, site)));
    }
    policies
}

/// The policy with the queues or pools of a site.
pub(crate) fn at_site(policy: &str, site: Site) -> Box<dyn Policy> {
    let spec = PolicySpec::parse(policy).and_then(|spec| spec.at_site(&site.into()));
    spec.and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"))
}

/// Policies with each speculator, with thresholds that the world's times reach.
fn with_speculators(unit: Ms) -> Vec<String> {
    let judged = format!("min_run={}", 2 * unit);
    let mantri = format!("delta={},samples=2", 2 * unit);
    vec![
        format!("fifo+late:cap=0.5,{judged}"),
        format!("delay:D=3+late:cap=1,slow_task=60,slow_node=0,{judged}"),
        format!("fair:update={unit}+samr:STaC=0.1,BP=0.9,{judged}"),
        format!("fifo+esamr:k=2,records=3,STT=0.1,PFM=0,PFR=0,BP=0.9,{judged}"),
        format!("naive-fair+hadoop-naive:gap=0.05,{judged}"),
        format!("fair:update={},delay_node=0+hadoop-late:slow_task=0.2,{judged}", 2 * unit),
        format!("fair:update={}+yarn-default:retry={},pause=0", 2 * unit, 3 * unit),
        format!("naive-fair+mantri:{mantri}"),
        format!("yarn-fifo+late:cap=0.5,{judged}"),
        format!("yarn-fair:update={unit}+yarn-default:retry={unit},pause={}", 5 * unit),
        format!("yarn-capacity+mantri:keep=1,probability=0,{mantri}"),
    ]
}

/// Two queues, one of which has two below it and may not grow much.
fn yarn_queues() -> QueueTree<YarnQueue> {
    let share = |capacity, maximum| YarnQueue {
        capacity: Some(capacity),
        maximum_capacity: Some(maximum),
        minimum_user_limit: Some(50),
        user_limit_factor: Some(4.0),
        ..YarnQueue::default()
    };
    let mut tree = QueueTree::new(YarnQueue::default());
    let half = tree.add(QueueTree::<YarnQueue>::ROOT, "half", share(40.0, 90.0));
    tree.add(half, "queue0", share(30.0, 100.0));
    tree.add(half, "other", share(70.0, 100.0));
    tree.add(QueueTree::<YarnQueue>::ROOT, "queue1", share(60.0, 100.0));
    tree
}

/// YARN's Fair Scheduler with queues that have guarantees, limits, weights and timeouts, under each kind of sharing. What is
/// warned has time to end by itself: containers that are killed again and again would never end.
fn yarn_fair(world: &World) -> Vec<(String, Box<dyn Policy>)> {
    let unit = world.unit;
    let guaranteed = FairQueue {
        min_memory_mb: 6,
        weight: 2.0,
        min_share_timeout: Some(2 * unit),
        fair_share_timeout: Some(4 * unit),
        ..FairQueue::default()
    };
    let limited = FairQueue {
        max_memory_mb: Some(9),
        max_apps: Some(2),
        policy: Some(SharePolicy::Fifo),
        ..FairQueue::default()
    };
    let root = FairQueue { fair_share_timeout: Some(5 * unit), ..FairQueue::default() };
    let queues = |names: [&str; 2]| {
        let parent = ("both", FairQueue::default());
        let all = [parent, (names[0], guaranteed.clone()), (names[1], limited.clone())];
        QueueTree::from_paths(root.clone(), all.map(|(name, queue)| (name.to_owned(), queue)).into()).expect("a tree")
    };
    let with = |(names, rest): ([&str; 2], &str)| {
        let (period, wait) = (3 * unit, 12 * unit);
        let text = format!(
            "yarn-fair:rules=2014,update={unit},preemption=true,preemption_interval={period},preemption_wait={wait},\
             preemption_threshold=0.3,{rest}"
        );
        let policy = at_site(&text, Site { yarn_fair: Some(queues(names)), ..Site::default() });
        (format!("{text} with queues"), policy)
    };
    let nested = ["both.queue0", "both.queue1"];
    let mixed = ["queue0", "both.queue1"];
    [(nested, "placement=user"), (["queue0", "queue1"], "share=drf"), (mixed, "assign_multiple=true")].map(with).into()
}

/// Two queues, one of them below another, each with half of the slots.
fn queues() -> QueueTree<CapacityQueue> {
    let half = |maximum_capacity| CapacityQueue { capacity: Some(50.0), maximum_capacity, ..CapacityQueue::default() };
    let mut queues = QueueTree::new(CapacityQueue::default());
    queues.add(QueueTree::<CapacityQueue>::ROOT, "queue1", half(Some(70.0)));
    let above = queues.add(QueueTree::<CapacityQueue>::ROOT, "above", half(None));
    queues.add(above, "queue0", CapacityQueue { priorities: Some(true), ..CapacityQueue::default() });
    queues
}

/// Pools with guarantees, limits, weights and short timeouts.
fn allocations(pools: &str, world: &World) -> Allocations {
    let unit = world.unit;
    // Under such a limit a job of higher priority, or an earlier one whose setup ends later, takes the turn of one that runs, whose
    // reduces may then hold the slots that it needs and wait for maps that may not run: the Fair Scheduler stands still.
    let overtakes =
        |job: &Submitted| job.priority != Priority::Normal || job.edges.init.is_some() || job.edges.setup.is_some();
    let max_jobs = if world.jobs.iter().any(overtakes) { None } else { Some(1) };
    let guaranteed = PoolConfig {
        min_maps: 3,
        min_reduces: 1,
        weight: 2.0,
        min_share_timeout: Some(2 * unit),
        ..PoolConfig::default()
    };
    let limited = PoolConfig { max_maps: Some(2), max_jobs, mode: PoolMode::Fifo, ..PoolConfig::default() };
    Allocations {
        fair_share_timeout: Some(5 * unit),
        min_share_timeout: None,
        pools: [(format!("{pools}0"), guaranteed), (format!("{pools}1"), limited)].into(),
        ..Allocations::default()
    }
}

/// A policy that backs up whatever it can: wherever the policy below leaves a slot free, another attempt at a task that runs
/// elsewhere, no more than so many at once. Each task is backed up a few times only: a policy that stops tasks to make room
/// would stop backups without end.
pub(crate) struct Eager {
    below: Box<dyn Policy>,
    most: u32,
    /// How often each task was backed up.
    backups: BTreeMap<TaskId, u32>,
}

impl Eager {
    const BACKUPS: u32 = 4;

    pub(crate) fn new(below: Box<dyn Policy>, most: u32) -> Self {
        Self { below, most, backups: BTreeMap::new() }
    }
}

impl Wrapper for Eager {
    type Inner = dyn Policy;

    fn inner(&self) -> &Self::Inner {
        &*self.below
    }

    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.below
    }

    fn restless(&self, _view: View<'_>) -> bool {
        true
    }

    fn declines(&self, _view: View<'_>) -> bool {
        false
    }

    fn declines_where_nothing_fits(&self, _view: View<'_>) -> bool {
        false
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.below.heartbeat(offer)?;
        for kind in Kind::BOTH {
            let jobs = offer.view().jobs().iter();
            let running = jobs.flat_map(|&job| offer.view().runs(job, kind)).filter(|run| !run.dying);
            let mut tasks: Vec<_> = running.map(|run| run.task).collect();
            tasks.sort_unstable();
            for task in &tasks {
                let here = offer.view().runs_on(offer.node(), kind).any(|run| run.task == *task);
                let here = here || !offer.yarn().has_master(offer.view().job_of(*task));
                let backups = self.backups.entry(*task).or_insert(0);
                let wanted = *backups < Self::BACKUPS && offer.view().live_attempts(*task) < self.most;
                if !here && wanted && offer.free(kind) > 0 {
                    *backups += 1;
                    offer.launch_backup(*task)?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A wait of [`World::wait`] as the value of a parameter.
pub(crate) fn waiting(wait: Ms) -> String {
    if wait < 0 { "auto".to_owned() } else { wait.to_string() }
}

impl World {
    /// Changes what could keep a replay from its end.
    fn mend(&mut self) {
        self.config.jobs.kill_failed = true;
        for machine in &mut self.machines {
            machine.slots = machine.slots.map(|slots| slots.max(1));
        }
    }

    /// A wait of so many units, ms; −1, which [`waiting`] writes as `auto`, if there is no number.
    pub(crate) fn wait(&self, units: Option<Ms>) -> Ms {
        units.map_or(-1, |units| units * self.unit)
    }

    /// Slots of each kind on nodes that never fail.
    fn steady_slots(&self) -> [u32; 2] {
        let fails = |node: usize| self.config.outages.iter().any(|outage| outage.host == host(node));
        let steady = self.machines.iter().enumerate().filter(|&(node, _)| !fails(node));
        steady.fold([0; 2], |sum, (_, machine)| [0, 1].map(|kind| sum[kind] + machine.slots[kind]))
    }

    /// Time between two heartbeats of a node, ms.
    pub(crate) fn interval(&self) -> Ms {
        self.config.heartbeat.interval_of(self.machines.len())
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> Cluster {
        let machine = |(number, machine): (usize, &Machine)| {
            (host(number), format!("/r{}", machine.rack), Resources::slots(machine.slots[0], machine.slots[1]))
        };
        let machines: Vec<_> = self.machines.iter().enumerate().map(machine).collect();
        Cluster::new(self.config.clone(), machines).expect("a cluster with slots")
    }

    /// The jobs, for the engine.
    pub(crate) fn workload(&self, cluster: &Cluster) -> Workload {
        let nodes: Vec<NodeId> = cluster.node_ids().collect();
        let mut workload = Workload::default();
        for (number, job) in self.jobs.iter().enumerate() {
            // A map reads as much as it hands on; nobody knows how much where nothing is handed on.
            let size = u64::try_from(job.shuffle_bytes).ok().filter(|&bytes| bytes > 0);
            let map = |map: &Map| TaskSpec {
                replicas: map.replicas.iter().map(|&node| nodes[node]).collect(),
                map_tries: map.tries.clone(),
                input_bytes: size.map(|bytes| bytes / job.maps.len() as u64),
                ..TaskSpec::default()
            };
            let reduce = |tries: &Vec<LoggedReduce>| TaskSpec { reduce_tries: tries.clone(), ..TaskSpec::default() };
            let maps: Vec<TaskSpec> = job.maps.iter().map(map).collect();
            let reduces: Vec<TaskSpec> = job.reduces.iter().map(reduce).collect();
            workload.push(job.row(number), &maps, &reduces).expect("few tasks");
        }
        workload.arrange(self.config.jobs.first_submit);
        workload
    }

    /// Replays the world under a policy.
    pub(crate) fn replay(&self, name: &str, policy: &mut dyn Policy, parking: bool) -> Result<Schedule, Error> {
        let mut schedule = Schedule::default();
        let finished = self.observe(name, policy, parking, &mut schedule);
        match finished {
            Err(Error::Stalled { .. }) => schedule.stalled = true,
            other => other?,
        }
        schedule.ends.sort_unstable_by_key(|end| (end.task, end.attempt));
        Ok(schedule)
    }

    /// Replays the world under a policy, with each heartbeat by itself or not. Returns the number of events, too; none if the
    /// replay stands still.
    pub(crate) fn replay_by(
        &self,
        name: &str,
        policy: &mut dyn Policy,
        one_by_one: bool,
    ) -> Result<(Schedule, Option<u64>), Error> {
        let cluster = self.cluster().for_policy(policy).expect("a cluster with room");
        let options = Options { seed: self.seed, one_by_one, lulls: self.lulls, ..Options::default() };
        let mut schedule = Schedule::default();
        let workload = self.workload(&cluster);
        let events = match replay(&workload, &cluster, (name, policy), &options, &mut schedule, &mut |_| {}) {
            Ok(tally) => Some(tally.events),
            Err(Error::Stalled { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok((schedule, events))
    }

    /// Replays the world under a policy with an observer.
    pub(crate) fn observe(
        &self,
        name: &str,
        policy: &mut dyn Policy,
        parking: bool,
        observer: &mut impl Observer,
    ) -> Result<(), Error> {
        let cluster = self.cluster().for_policy(policy).expect("a cluster with room");
        let options = Options { seed: self.seed, parking, lulls: self.lulls, ..Options::default() };
        replay(&self.workload(&cluster), &cluster, (name, policy), &options, observer, &mut |_| {})?;
        Ok(())
    }

    /// Replays the world under a policy and checks the rules that hold in every replay.
    pub(crate) fn check(&self, name: &str, policy: &mut dyn Policy) -> Result<(), Error> {
        let cluster = self.cluster().for_policy(policy).expect("a cluster with room");
        let options = Options { seed: self.seed, ..Options::default() };
        let workload = self.workload(&cluster);
        let mut nobody = ();
        let mut checked = Checked::new(&workload, &cluster, name, &mut nobody);
        replay(&workload, &cluster, (name, policy), &options, &mut checked, &mut |_| {})?;
        checked.close()
    }
}

impl Submitted {
    fn row(&self, number: usize) -> Job {
        Job {
            id: format!("job_1_{number:04}"),
            name: None,
            user: format!("user{}", self.user),
            queue: format!("queue{}", self.queue),
            priority: self.priority,
            submit: self.submit,
            shuffle_bytes: Some(self.shuffle_bytes),
            first_shuffle: self.first_shuffle,
            typical_shuffle: self.typical_shuffle,
            edges: self.edges,
            incomplete: false,
            succeeded: false,
            maps: 0..0,
            reduces: 0..0,
            further: Default::default(),
        }
    }
}

/// An attempt was assigned; tasks and nodes by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) at: Ms,
    pub(crate) task: usize,
    pub(crate) attempt: u32,
    pub(crate) node: usize,
    pub(crate) level: Option<Locality>,
}

/// An attempt ended, or was on its node when the replay did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) task: usize,
    pub(crate) attempt: u32,
    pub(crate) node: usize,
    pub(crate) level: Option<Locality>,
    pub(crate) start: Ms,
    pub(crate) shuffle_finish: Option<Ms>,
    pub(crate) sort_finish: Option<Ms>,
    pub(crate) finish: Option<Ms>,
    pub(crate) outcome: Outcome,
    pub(crate) discarded: bool,
}

/// A job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobEnd {
    pub(crate) job: usize,
    pub(crate) launch: Option<Ms>,
    pub(crate) finish: Ms,
    pub(crate) outcome: Outcome,
}

/// All that a replay did: launches and ends of jobs in order, ends of attempts by task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Schedule {
    pub(crate) launches: Vec<Launch>,
    pub(crate) ends: Vec<End>,
    pub(crate) jobs: Vec<JobEnd>,
    /// Tasks were left that nothing would ever start.
    pub(crate) stalled: bool,
}

impl Reports for Schedule {
    fn job_ended(&mut self, job_ended: &JobEnded) -> Result<(), Error> {
        let (launch, finish) = (job_ended.launch, job_ended.finish);
        self.jobs.push(JobEnd { job: job_ended.job.index(), launch, finish, outcome: job_ended.outcome });
        Ok(())
    }
}

impl Observer for Schedule {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        let (task, node) = (launched.task.index(), launched.node.index());
        self.launches.push(Launch { at: launched.at, task, attempt: launched.attempt, node, level: launched.level });
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.ends.push(End {
            task: ended.task.index(),
            attempt: ended.attempt,
            node: ended.node.index(),
            level: ended.level,
            start: ended.start,
            shuffle_finish: ended.shuffle_finish,
            sort_finish: ended.sort_finish,
            finish: ended.finish,
            outcome: ended.outcome,
            discarded: ended.discarded,
        });
        Ok(())
    }
}

/// Where two schedules of one world part, with what came before; `None` if they are the same.
pub(crate) fn difference(names: [&str; 2], schedules: [&Schedule; 2]) -> Option<String> {
    let [a, b] = schedules;
    let facts = [
        first_difference("launch", names, &a.launches, &b.launches),
        first_difference("end of a job", names, &a.jobs, &b.jobs),
        first_difference("end of an attempt", names, &a.ends, &b.ends),
        (a.stalled != b.stalled).then(|| format!("stalled: {} {}, {} {}", names[0], a.stalled, names[1], b.stalled)),
    ];
    facts.into_iter().flatten().next()
}

fn first_difference<T: PartialEq + std::fmt::Debug>(what: &str, names: [&str; 2], a: &[T], b: &[T]) -> Option<String> {
    let place = (0..a.len().max(b.len())).find(|&place| a.get(place) != b.get(place))?;
    let around = |rows: &[T]| -> String {
        let rows = rows.iter().enumerate().skip(place.saturating_sub(9)).take(10);
        rows.map(|(number, row)| format!("\n  {number}: {row:?}")).collect()
    };
    Some(format!("{what} {place} differs\n{}:{}\n{}:{}", names[0], around(a), names[1], around(b)))
}
