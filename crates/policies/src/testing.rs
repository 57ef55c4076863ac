//! Small worlds for the tests of policies.

pub(crate) mod cases;
#[allow(clippy::unwrap_used)]
pub(crate) mod slurm_truth;

use resched_sim::Reports;
use resched_sim::cluster_file::{Interval, Phase, ReduceModel};
use resched_sim::hadoop::{
    Cluster, Edges, Launched, LoggedMap, LoggedReduce, Observer, Options, Policy, Resources, TaskSpec, Workload, replay,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, Ms, NodeId, PassedOver};
use resched_tables::model::{Locality, Outcome, Priority, Reason};

use crate::spec::PolicySpec;

/// A map with this run time on a node with its data.
pub(crate) fn map(run: Ms) -> MapSpec {
    MapSpec { run, on: Vec::new(), bytes: None }
}

/// A job that arrives at 0.
pub(crate) fn job(id: &str) -> JobSpec {
    JobSpec {
        id: id.to_owned(),
        user: "user".to_owned(),
        queue: String::new(),
        submit: 0,
        priority: Priority::Normal,
        maps: Vec::new(),
        reduces: (0, 0),
    }
}

/// The id of some job.
pub(crate) fn some_job() -> JobId {
    some_jobs(1).into_iter().next().unwrap_or_else(|| unreachable!("the job was just added"))
}

/// The ids of this many jobs, in the order of their submission.
pub(crate) fn some_jobs(jobs: usize) -> Vec<JobId> {
    let add = |world: Scenario, job_number| world.job(job(&format!("job_1_{job_number:04}")).maps(1, map(1)));
    let (_, workload) = (1..=jobs).fold(Scenario::nodes(1, 1, 1), add).build();
    let of_number = |number| workload.find(&format!("job_1_{number:04}"));
    (1..=jobs).flat_map(of_number).collect()
}

/// The ids of this many nodes.
pub(crate) fn some_nodes(nodes: usize) -> Vec<NodeId> {
    let (cluster, _) = Scenario::nodes(nodes, 1, 1).build();
    cluster.node_ids().collect()
}

#[derive(Debug, Clone)]
pub(crate) struct MapSpec {
    run: Ms,
    on: Vec<usize>,
    bytes: Option<(u64, u64)>,
}

impl MapSpec {
    /// On which nodes its input lies.
    pub(crate) fn on(mut self, nodes: &[usize]) -> Self {
        self.on = nodes.to_vec();
        self
    }

    /// What it reads and writes.
    pub(crate) fn bytes(mut self, input: u64, output: u64) -> Self {
        self.bytes = Some((input, output));
        self
    }
}

#[derive(Debug, Clone)]
pub(crate) struct JobSpec {
    id: String,
    user: String,
    queue: String,
    submit: Ms,
    priority: Priority,
    maps: Vec<MapSpec>,
    reduces: (u32, Ms),
}

impl JobSpec {
    pub(crate) fn at(mut self, submit: Ms) -> Self {
        self.submit = submit;
        self
    }

    pub(crate) fn user(mut self, user: &str) -> Self {
        self.user = user.to_owned();
        self
    }

    pub(crate) fn queue(mut self, queue: &str) -> Self {
        self.queue = queue.to_owned();
        self
    }

    pub(crate) fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    pub(crate) fn maps(mut self, count: usize, map: MapSpec) -> Self {
        self.maps = vec![map; count];
        self
    }

    pub(crate) fn each_map(mut self, maps: Vec<MapSpec>) -> Self {
        self.maps = maps;
        self
    }

    pub(crate) fn reduces(mut self, count: u32, run: Ms) -> Self {
        self.reduces = (count, run);
        self
    }
}

/// A launch, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) at: Ms,
    pub(crate) job: String,
    pub(crate) task: String,
    pub(crate) attempt: u32,
    pub(crate) node: usize,
    pub(crate) level: Option<Locality>,
}

/// A cluster and the jobs on it.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    nodes: usize,
    racks: usize,
    slots: [u32; 2],
    config: ClusterConfig,
    jobs: Vec<JobSpec>,
}

impl Scenario {
    /// Five jobs of nine maps each, whose inputs crowd on some of six nodes.
    pub(crate) fn crowded() -> Self {
        let mut world = Self::nodes(6, 2, 1).racks(2).heartbeat(700);
        for number in 1..6 {
            let id = format!("job_1_{number:04}");
            let maps = (0..9).map(|task| map(2_000 + 170 * task as i64).on(&[(task * number) % 6])).collect();
            world = world.job(job(&id).at(300 * number as i64).each_map(maps).reduces(2, 900));
        }
        world
    }

    /// This many nodes in one rack, all with their first heartbeat at 0, then every 3 s.
    pub(crate) fn nodes(nodes: usize, map_slots: u32, reduce_slots: u32) -> Self {
        let mut config = ClusterConfig::default();
        config.heartbeat.interval = Interval::Fixed(3_000);
        config.heartbeat.phase = Phase::Together;
        config.cost.reduce = ReduceModel::R0;
        Self { nodes, racks: 1, slots: [map_slots, reduce_slots], config, jobs: Vec::new() }
    }

    /// This many nodes in one rack under YARN, each with room for this many containers. A master takes as much as a
    /// task. Nodes and masters call once a second.
    pub(crate) fn containers(nodes: usize, room: u32) -> Self {
        let mut scenario = Self::nodes(nodes, 1, 1);
        let rules = &mut scenario.config.containers;
        rules.memory_mb = Some(room * rules.minimum.memory_mb);
        rules.am = rules.minimum;
        scenario
    }

    /// A reduce takes as much as this many smallest containers, under YARN.
    pub(crate) fn large_reduces(mut self, containers: u32) -> Self {
        let rules = &mut self.config.containers;
        rules.reduce.memory_mb = containers * rules.minimum.memory_mb;
        self
    }

    pub(crate) fn racks(mut self, racks: usize) -> Self {
        self.racks = racks;
        self
    }

    pub(crate) fn heartbeat(mut self, interval: Ms) -> Self {
        self.config.heartbeat.interval = Interval::Fixed(interval);
        self
    }

    pub(crate) fn out_of_band(mut self) -> Self {
        self.config.heartbeat.out_of_band = true;
        self
    }

    pub(crate) fn first_heartbeat(mut self, at: Ms) -> Self {
        self.config.heartbeat.first = at;
        self
    }

    pub(crate) fn slowstart(mut self, share: f64) -> Self {
        self.config.jobs.slowstart = share;
        self
    }

    pub(crate) fn job(mut self, job: JobSpec) -> Self {
        self.jobs.push(job);
        self
    }

    /// The cluster and the jobs, for the engine.
    pub(crate) fn build(&self) -> (Cluster, Workload) {
        let [maps, reduces] = self.slots;
        let machine = |node: usize| {
            let rack = node * self.racks / self.nodes;
            (format!("n{node:03}"), format!("/r{rack}"), Resources::slots(maps, reduces))
        };
        let cluster = Cluster::new(self.config.clone(), (0..self.nodes).map(machine))
            .unwrap_or_else(|error| unreachable!("{error}"));
        let nodes: Vec<NodeId> = cluster.node_ids().collect();
        let mut workload = Workload::default();
        for spec in &self.jobs {
            let maps: Vec<TaskSpec> = spec.maps.iter().map(|map| map.task(&nodes)).collect();
            let reduce = LoggedReduce { outcome: Outcome::Success, shuffle: 0, sort: 0, reduce: Some(spec.reduces.1) };
            let reduces = TaskSpec { reduce_tries: vec![reduce], ..TaskSpec::default() };
            workload.push(spec.job(), &maps, &vec![reduces; spec.reduces.0 as usize]);
        }
        workload.arrange(self.jobs.iter().map(|job| job.submit).min().unwrap_or(0));
        (cluster, workload)
    }

    /// Every launch of a replay under a policy, in order; with parking and without, which must agree.
    pub(crate) fn launches(&self, policy: &str) -> Vec<Launch> {
        let spec = PolicySpec::parse(policy).unwrap_or_else(|error| unreachable!("{error}"));
        self.launches_under(policy, || spec.build().unwrap_or_else(|error| unreachable!("{error}")))
    }

    /// As [`Scenario::launches`], under the policy that this function makes.
    pub(crate) fn launches_under(&self, name: &str, policy: impl Fn() -> Box<dyn Policy>) -> Vec<Launch> {
        self.checked(name, policy).0
    }

    /// Why a job is passed over under a policy, when, and for the sake of which other job. Who asks for that changes no schedule.
    pub(crate) fn reasons(&self, policy: &str, job: &str) -> Vec<(Ms, Reason, Option<String>)> {
        let spec = PolicySpec::parse(policy).unwrap_or_else(|error| unreachable!("{error}"));
        let build = || spec.build().unwrap_or_else(|error| unreachable!("{error}"));
        let seen = self.run(policy, build(), true, true);
        assert_eq!(
            seen.launches,
            self.run(policy, build(), true, false).launches,
            "reasons change the schedule of {policy}"
        );
        let of_job = seen.reasons.into_iter().filter(|(name, ..)| name == job);
        of_job.map(|(_, at, reason, other)| (at, reason, other)).collect()
    }

    /// Every job with the heartbeat that reported its last task, in the order of these heartbeats; with parking and
    /// without, which must agree.
    pub(crate) fn finishes(&self, policy: &str) -> Vec<(String, Ms)> {
        let spec = PolicySpec::parse(policy).unwrap_or_else(|error| unreachable!("{error}"));
        self.checked(policy, || spec.build().unwrap_or_else(|error| unreachable!("{error}"))).1
    }

    fn checked(&self, name: &str, policy: impl Fn() -> Box<dyn Policy>) -> (Vec<Launch>, Vec<(String, Ms)>) {
        let parked = self.run(name, policy(), true, false);
        assert_eq!(parked, self.run(name, policy(), false, false), "parking changes the schedule of {name}");
        (parked.launches, parked.finishes)
    }

    fn run(&self, name: &str, mut policy: Box<dyn Policy>, parking: bool, wants_reasons: bool) -> Replayed {
        let (cluster, workload) = self.build();
        let cluster = cluster.for_policy(&*policy).unwrap_or_else(|error| unreachable!("{error}"));
        let options = Options { parking, ..Options::default() };
        let mut seen = Seen { workload: &workload, wants_reasons, replayed: Replayed::default() };
        replay(&workload, &cluster, (name, &mut *policy), &options, &mut seen, &mut |_| {})
            .unwrap_or_else(|error| unreachable!("{error}"));
        seen.replayed
    }
}

impl MapSpec {
    fn task(&self, nodes: &[NodeId]) -> TaskSpec {
        let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run: self.run };
        let replicas = self.on.iter().map(|&node| nodes[node]).collect();
        let (input_bytes, output_bytes) = self.bytes.unzip();
        TaskSpec { replicas, map_tries: vec![logged], input_bytes, output_bytes, ..TaskSpec::default() }
    }
}

impl JobSpec {
    fn job(&self) -> resched_sim::hadoop::Job {
        resched_sim::hadoop::Job {
            id: self.id.clone(),
            name: None,
            user: self.user.clone(),
            queue: self.queue.clone(),
            priority: self.priority,
            submit: self.submit,
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
}

/// What is seen of a replay, in order.
#[derive(Debug, PartialEq, Default)]
struct Replayed {
    launches: Vec<Launch>,
    finishes: Vec<(String, Ms)>,
    reasons: Vec<(String, Ms, Reason, Option<String>)>,
}

struct Seen<'a> {
    workload: &'a Workload,
    wants_reasons: bool,
    replayed: Replayed,
}

impl Reports for Seen<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.replayed.finishes.push((self.workload.job(ended.job).id.clone(), ended.finish));
        Ok(())
    }

    fn wants_reasons(&self) -> bool {
        self.wants_reasons
    }

    fn passed_over(&mut self, passed: &PassedOver) -> Result<(), Error> {
        let id = |job: JobId| self.workload.job(job).id.clone();
        let job = passed.job.map(id).unwrap_or_default();
        self.replayed.reasons.push((job, passed.at, passed.reason, passed.other.map(id)));
        Ok(())
    }
}

impl Observer for Seen<'_> {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        let job = self.workload.job(self.workload.job_of(launched.task));
        self.replayed.launches.push(Launch {
            at: launched.at,
            job: job.id.clone(),
            task: self.workload.task_name(launched.task),
            attempt: launched.attempt,
            node: launched.node.index(),
            level: launched.level,
        });
        Ok(())
    }
}
