//! The state of a replay: jobs, tasks, nodes and running attempts as dense arrays, and how they change.
//!
//! This module does not know policies or observers. The engine changes the world and calls them.

mod attempts;
mod changes;
mod chores;
mod compute_gate;
mod containers;
mod contention;
mod jobs;
mod map_index;
mod nodes;
mod picking;
mod reports;
mod state;
mod taking_over;

use std::collections::VecDeque;

use resched_tables::model::Outcome;

use crate::bottlenecks::Short;
use crate::error::Violation;
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::Attempt;
use crate::hadoop::beats::Beats;
use crate::hadoop::bits::Bits;
use crate::hadoop::cluster::{Cluster, Node};
use crate::hadoop::containers::Yarn;
use crate::hadoop::contention::Workbench;
use crate::hadoop::cost::{Fluid, slowstart_threshold};
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;
use crate::hadoop::system::System;
use crate::hadoop::workload::Workload;
use crate::ids::{AttemptId, JobId, Ms, NodeId};
use crate::reasons::Reasons;
use changes::Changes;
pub(crate) use chores::Stage;
use chores::Waiting;
pub(crate) use map_index::Found;
pub use map_index::Reach;
use reports::Report;
pub(crate) use state::{Health, JobPhase, JobState, NodeState, TaskPhase, TaskState};

/// The world of a replay.
pub(crate) struct World<'w> {
    pub(crate) workload: &'w Workload,
    pub(crate) cluster: &'w Cluster,
    pub(crate) beats: Beats,
    pub(crate) reasons: Reasons,
    /// Keys all random draws.
    pub(crate) seed: u64,
    pub(crate) now: Ms,
    pub(crate) jobs: Vec<JobState>,
    pub(crate) tasks: Vec<TaskState>,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) runs: Vec<Attempt>,
    free_runs: Vec<AttemptId>,
    launches: u64,
    reports: VecDeque<Report>,
    /// The set-up and clean-up tasks that wait for a slot.
    chores: Waiting,
    /// In the order of their submission.
    pub(crate) active: Vec<JobId>,
    /// The active jobs with such tasks on slots, by kind.
    pub(crate) ready_jobs: [Bits; 2],
    /// Maps that wait, reduces that wait and may start.
    pub(crate) ready: [u64; 2],
    /// Unfinished maps, unfinished reduces of jobs past slow-start.
    pub(crate) remaining: [u64; 2],
    /// Running attempts of active jobs.
    pub(crate) running: [u64; 2],
    /// Of these, the backups.
    pub(crate) backups: [u64; 2],
    /// Slots of the nodes that the master has not given up.
    pub(crate) slots: [u32; 2],
    /// What these nodes offer.
    pub(crate) total: Resources,
    /// How many they are.
    pub(crate) live_nodes: usize,
    /// Tasks of active jobs that have reduces.
    pub(crate) desired_with_reduces: [u64; 2],
    /// Attempts in the latest heartbeat of every node.
    pub(crate) reported: [u64; 2],
    /// Nodes with room for a task of each kind.
    pub(crate) roomy: [u32; 2],
    /// For each kind, the nodes that lack a part of what a task takes.
    pub(crate) short: [Short; 2],
    /// Grows with every change that a policy could see.
    pub(crate) version: u64,
    pub(crate) changes: Changes,
    /// Applications and containers, under YARN.
    pub(crate) yarn: Option<Box<Yarn>>,
    /// True if the policy may ask how long tasks will take.
    pub(crate) oracle: bool,
    /// True if anybody asks where the output of maps lies.
    pub(crate) follows_output: bool,
    /// The work of attempts, under the model `contention`.
    pub(crate) bench: Option<Box<Workbench>>,
}

impl<'w> World<'w> {
    /// What the container for such a request of a job takes, or a task of it on slots.
    #[inline]
    pub(crate) fn demand_of(&self, job: JobId, ask: Ask) -> Resources {
        self.cluster.demand_of_job(self.workload.job(job), ask)
    }

    pub(crate) fn new(workload: &'w Workload, cluster: &'w Cluster, seed: u64) -> Self {
        let rules = &cluster.config;
        let jobs = workload
            .jobs()
            .iter()
            .map(|job| {
                let maps = job.count(Kind::Map);
                JobState {
                    phase: JobPhase::Future,
                    maps: None,
                    next_reduce: job.reduces.start,
                    returned_reduces: Vec::new(),
                    failed_reduces: Vec::new(),
                    waiting: [maps, job.count(Kind::Reduce)],
                    running: [0; 2],
                    backups: [0; 2],
                    finished: [0; 2],
                    slowstart: slowstart_threshold(rules.jobs.slowstart, maps),
                    launch: None,
                    maps_done: None,
                    runs: [Vec::new(), Vec::new()],
                    fluid: Fluid::new(rules.cost.shuffle_rate),
                    map_output: Vec::new(),
                    output_in_bytes: false,
                    node_failures: Vec::new(),
                    outcome: Outcome::Incomplete,
                }
            })
            .collect();
        let nodes = cluster
            .nodes()
            .iter()
            .map(|node| NodeState {
                runs: Vec::new(),
                free: node.capacity,
                health: Health::Up,
                reported: [0; 2],
                chores: Vec::new(),
            })
            .collect();
        let roomy = Kind::BOTH.map(|kind| {
            let has_room = |node: &&Node| node.capacity.holds(cluster.demand(kind));
            cluster.nodes().iter().filter(has_room).count() as u32
        });
        let short = Kind::BOTH.map(|kind| {
            Short::of(cluster.nodes().iter().map(|node| node.capacity.main()), cluster.demand(kind).main())
        });
        let on_slots = cluster.system() == System::Slots;
        Self {
            workload,
            cluster,
            beats: Beats::new(cluster, seed),
            reasons: Reasons::default(),
            seed,
            now: rules.heartbeat.first,
            jobs,
            tasks: vec![TaskState::NEW; workload.task_count()],
            nodes,
            runs: Vec::new(),
            free_runs: Vec::new(),
            launches: 0,
            reports: VecDeque::new(),
            chores: Waiting::default(),
            active: Vec::new(),
            ready_jobs: [0; 2].map(|_| Bits::below(if on_slots { workload.jobs().len() } else { 0 })),
            ready: [0; 2],
            remaining: [0; 2],
            running: [0; 2],
            backups: [0; 2],
            slots: Kind::BOTH.map(|kind| cluster.slots(kind)),
            total: cluster.total(),
            live_nodes: cluster.nodes().len(),
            desired_with_reduces: [0; 2],
            reported: [0; 2],
            roomy,
            short,
            version: 0,
            changes: Changes::default(),
            yarn: (!on_slots).then(|| Box::new(Yarn::new(workload.jobs().len(), cluster))),
            oracle: false,
            follows_output: true,
            bench: rules.cost.contention.as_ref().map(|config| Box::new(Workbench::new(config, cluster))),
        }
    }

    /// The numbers of the parts of [`Resources`] that keep tasks waiting that could run: no node has room for a task of their kind, and some lack the
    /// part.
    pub(crate) fn held(&self) -> impl Iterator<Item = usize> + use<> {
        let mut held = [false; 2];
        for kind in 0..2 {
            if self.ready[kind] > 0 && self.roomy[kind] == 0 {
                let [cpu, memory] = self.short[kind].any();
                held = [held[0] | cpu, held[1] | memory];
            }
        }
        (0..2).filter(move |&part| held[part])
    }

    /// The violation of a policy on a node.
    pub(crate) fn violation(&self, what: &str, node: NodeId, problem: &str) -> Violation {
        Violation(format!("{what} on {}, but {problem}", self.cluster.node(node).name))
    }
}
