//! Bags of maps, with or without reduces: jobs that arrive evenly, each map with three places of input, on nodes that call every
//! 3 s. A map takes as long wherever it runs, so that all policies have the same work to do.

use rand::RngExt;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::Interval;
use resched_sim::hadoop::{Cluster, Edges, Job, LoggedMap, LoggedReduce, Options, Tally, TaskSpec, Workload, replay};
use resched_sim::{ClusterConfig, Ms, NodeId};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{Locality, Outcome, Priority};

const SEED: u64 = 1;
const REPLICAS: usize = 3;
const NODES_PER_RACK: u32 = 50;
/// Run times of maps are uniform between these, ms.
const RUN: (Ms, Ms) = (10_000, 50_000);

/// A cluster, and the jobs on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bag {
    pub(crate) nodes: u32,
    /// Map slots of each node.
    pub(crate) slots: u32,
    pub(crate) jobs: u32,
    /// Of each job.
    pub(crate) maps: u32,
    /// Of each job.
    pub(crate) reduces: u32,
    /// Which share of the map slots is busy.
    pub(crate) load: f64,
}

impl Bag {
    /// Makes its cluster and its jobs.
    pub(crate) fn make(&self) -> (Cluster, Workload) {
        let cluster = self.cluster();
        let nodes: Vec<NodeId> = cluster.node_ids().collect();
        let work = f64::from(self.maps) * (RUN.0 + RUN.1) as f64 / 2.0;
        let gap = work / (self.load * f64::from(self.map_slots()));
        let mut workload = Workload::default();
        for number in 0..self.jobs {
            let maps: Vec<TaskSpec> = (0..self.maps).map(|map| map_task(number, map, &nodes)).collect();
            let reduces = vec![reduce_task(); self.reduces as usize];
            workload.push(job(number, (f64::from(number) * gap) as Ms), &maps, &reduces).unwrap();
        }
        workload.arrange(0);
        (cluster, workload)
    }

    fn cluster(&self) -> Cluster {
        let mut config = ClusterConfig::default();
        config.nodes.count = Some(self.nodes);
        config.nodes.racks = self.nodes.div_ceil(NODES_PER_RACK);
        config.nodes.map_slots = Some(self.slots);
        config.heartbeat.interval = Interval::Fixed(3_000);
        config.cost.locality = [1.0; 3];
        Cluster::generated(config).unwrap()
    }

    /// The map slots of all nodes.
    pub(crate) fn map_slots(&self) -> u32 {
        self.nodes * self.slots
    }
}

/// How long a map runs, drawn before its places.
pub(crate) fn map_run(job: u32, map: u32) -> Ms {
    stream(SEED, Purpose::BlockPlacement, &[u64::from(job), u64::from(map)]).random_range(RUN.0..=RUN.1)
}

fn map_task(job: u32, map: u32, nodes: &[NodeId]) -> TaskSpec {
    let mut draws = stream(SEED, Purpose::BlockPlacement, &[u64::from(job), u64::from(map)]);
    let run = draws.random_range(RUN.0..=RUN.1);
    let replicas = (0..REPLICAS).map(|_| nodes[draws.random_range(0..nodes.len())]).collect();
    let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run };
    TaskSpec { replicas, map_tries: vec![logged], ..TaskSpec::default() }
}

fn reduce_task() -> TaskSpec {
    let logged = LoggedReduce { outcome: Outcome::Success, shuffle: 5_000, sort: 0, reduce: Some(5_000) };
    TaskSpec { reduce_tries: vec![logged], ..TaskSpec::default() }
}

fn job(number: u32, submit: Ms) -> Job {
    Job {
        id: format!("job_1_{number:04}"),
        name: None,
        user: format!("user{}", number % 10),
        queue: String::new(),
        priority: Priority::Normal,
        submit,
        shuffle_bytes: None,
        first_shuffle: None,
        typical_shuffle: None,
        edges: Edges::default(),
        incomplete: false,
        succeeded: false,
        maps: 0..0,
        reduces: 0..0,
        further: Default::default(),
    }
}

/// Replays all jobs. Backups of a speculator are launches, too.
pub(crate) fn run(policy: &PolicySpec, (cluster, workload): &(Cluster, Workload), options: &Options) -> Tally {
    let mut made = policy.build().unwrap();
    let name = policy.info.name;
    let tally = replay(workload, cluster, (name, &mut *made), options, &mut (), &mut |_| {}).unwrap();
    let tasks = workload.task_count() as u64;
    assert!(tally.launches == tasks || policy.speculator.is_some() && tally.launches > tasks, "{name}: {tally:?}");
    tally
}
