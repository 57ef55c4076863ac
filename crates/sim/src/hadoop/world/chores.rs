//! Set-up and clean-up tasks: a job's first and last, which the master hands out itself (`docs/model/heartbeats.md`).
//!
//! As in Hadoop, any node with a free slot of either kind may get one, before the scheduler is asked: clean-ups first, then
//! set-ups, each in the order of the jobs.

use std::collections::BTreeSet;

use super::World;
use crate::hadoop::kind::Kind;
use crate::ids::{JobId, Ms, NodeId};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    CleanUp,
    SetUp,
}

/// Those that wait for a slot.
pub(super) type Waiting = BTreeSet<(Stage, JobId)>;

/// One that runs on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chore {
    pub(crate) stage: Stage,
    pub(crate) job: JobId,
    /// The kind of its slot.
    pub(crate) kind: Kind,
    pub(crate) end: Ms,
}

impl World<'_> {
    /// How long this task of a job holds a slot; `None` if the job has none.
    pub(crate) fn chore_time(&self, job: JobId, stage: Stage) -> Option<Ms> {
        let (edges, rules) = (&self.workload.job(job).edges, &self.cluster.config.jobs);
        let (logged, usual) = match stage {
            Stage::SetUp => (edges.setup, rules.setup_time),
            Stage::CleanUp => (edges.cleanup, rules.cleanup_time),
        };
        logged.or((usual > 0).then_some(usual))
    }

    /// When a job is initialised. Under YARN its master does that once it has started, and the job must have one. A log without the start
    /// of the master says only how long both took together, from the submission on.
    pub(crate) fn initialised(&self, job: JobId) -> Ms {
        let spec = self.workload.job(job);
        let usual = self.cluster.config.jobs.init_delay;
        let master = self.yarn.as_ref().map(|yarn| yarn.apps[job.index()].am_start);
        match (spec.edges.init, master) {
            (Some(init), Some(master)) if spec.edges.from_master => master + init,
            (None, Some(master)) => master + usual,
            (init, _) => spec.submit + init.unwrap_or(usual),
        }
    }

    pub(crate) fn ask_for_chore(&mut self, stage: Stage, job: JobId) {
        self.chores.insert((stage, job));
        self.version += 1;
    }

    pub(crate) fn chores_wait(&self) -> bool {
        !self.chores.is_empty()
    }

    /// Starts the first task that waits on a node. Returns whether there is one and the node has a slot for it.
    pub(crate) fn start_chore(&mut self, node: NodeId) -> bool {
        let free = self.nodes[node.index()].free;
        let Some(kind) = Kind::BOTH.into_iter().find(|&kind| free.holds(self.cluster.demand(kind))) else {
            return false;
        };
        let Some((stage, job)) = self.chores.pop_first() else { return false };
        let end = self.now + self.chore_time(job, stage).unwrap_or(0);
        self.nodes[node.index()].chores.push(Chore { stage, job, kind, end });
        self.set_free(node, free.minus(self.cluster.demand(kind)));
        self.version += 1;
        true
    }

    /// Takes a task that has ended by now off a node.
    pub(crate) fn take_ended_chore(&mut self, node: NodeId) -> Option<Chore> {
        let place = self.nodes[node.index()].chores.iter().position(|chore| chore.end <= self.now)?;
        Some(self.take_chore(node, place))
    }

    /// The master gives a node up: its set-up and clean-up tasks wait again.
    pub(crate) fn return_chores(&mut self, node: NodeId) {
        while !self.nodes[node.index()].chores.is_empty() {
            let Chore { stage, job, .. } = self.take_chore(node, 0);
            self.ask_for_chore(stage, job);
        }
    }

    fn take_chore(&mut self, node: NodeId, place: usize) -> Chore {
        let chore = self.nodes[node.index()].chores.remove(place);
        self.set_free(node, self.nodes[node.index()].free.plus(self.cluster.demand(chore.kind)));
        self.version += 1;
        chore
    }
}
