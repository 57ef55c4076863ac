//! What a node offers at a heartbeat, and the only way to launch a task.

use crate::error::Violation;
use crate::hadoop::containers::{AmState, Ask, Reservation};
use crate::hadoop::cost::CostModel;
use crate::hadoop::index::Reach;
use crate::hadoop::kind::Kind;
use crate::hadoop::view::{RunId, View};
use crate::hadoop::world::{JobPhase, TaskPhase, World};
use crate::ids::{JobId, Ms, NodeId, TaskId};
use resched_trace::model::Locality;

/// A node's free slots at its heartbeat. Launches take effect at once, so the view through the offer is always current.
pub struct Offer<'a, 'w> {
    pub(crate) world: &'a mut World<'w>,
    pub(crate) cost: &'a mut CostModel<'w>,
    pub(crate) node: NodeId,
    pub(crate) next_beat: Ms,
    pub(crate) launched: &'a mut Vec<RunId>,
}

impl Offer<'_, '_> {
    /// The world as it is now, with all that this heartbeat has launched so far.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { world: self.world }
    }

    /// The node that calls.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How many more tasks of a kind it has room for.
    #[inline]
    pub fn free(&self, kind: Kind) -> u32 {
        self.view().room(self.node, kind)
    }

    /// How many attempts of a kind the node reported as running in this heartbeat; launches do not change it.
    #[inline]
    pub fn reported(&self, kind: Kind) -> u32 {
        self.world.nodes[self.node.index()].reported[kind.index()]
    }

    /// The map of a job that this node should run, no farther from its input than `reach` (policies A.2).
    pub fn find_map(&self, job: JobId, reach: Reach) -> Option<TaskId> {
        self.world.find_map(job, self.node, reach)
    }

    /// The reduce of a job that this node should run (policies A.2).
    pub fn find_reduce(&self, job: JobId) -> Option<TaskId> {
        self.world.find_reduce(job, self.node)
    }

    /// YARN: the task for which this node would serve such a request of a job: a map no farther from its input than `reach`,
    /// others wherever they may run. `None` for the application master.
    pub fn find(&self, job: JobId, ask: Ask, reach: Reach) -> Option<TaskId> {
        match ask {
            Ask::Am => None,
            Ask::FailedMap => self.world.find_failed_map(job, self.node),
            Ask::Reduce => self.find_reduce(job),
            Ask::Map => self.find_map(job, reach),
        }
    }

    /// YARN: whether the node has room for the container of such a request.
    #[inline]
    pub fn fits(&self, ask: Ask) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.demand_of(ask))
    }

    /// YARN: whether the node has room for the smallest container.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.smallest())
    }

    /// YARN: the request that the node is kept for.
    #[inline]
    pub fn reservation(&self) -> Option<Reservation> {
        self.view().reservation(self.node)
    }

    /// YARN: keeps the node for a request that does not fit now, until [`Offer::unreserve`] or the end of the job.
    ///
    /// # Errors
    /// [`Violation`] if the node is kept already, if it has room, or if the job does not ask for it.
    pub fn reserve(&mut self, job: JobId, ask: Ask) -> Result<(), Violation> {
        let problem = if self.reservation().is_some() {
            "the node is kept for another request"
        } else if self.view().job(job).asked(ask) == 0 {
            "the job does not ask for it"
        } else if self.fits(ask) {
            "the node has room for it"
        } else {
            self.set_reservation(Some(Reservation { job, ask }));
            return Ok(());
        };
        Err(self.violation(&format!("reserves for {ask:?} of {}", self.world.workload.job(job).id), problem))
    }

    /// YARN: keeps the node no longer.
    pub fn unreserve(&mut self) {
        if self.reservation().is_some() {
            self.set_reservation(None);
        }
    }

    fn set_reservation(&mut self, reservation: Option<Reservation>) {
        if let Some(yarn) = &mut self.world.yarn {
            yarn.reserve(self.node, reservation);
            self.world.version += 1;
        }
    }

    /// YARN: gives the application master of a job its container on this node.
    ///
    /// # Errors
    /// [`Violation`] if the job is not active, has a master, or the node has no room.
    pub fn launch_am(&mut self, job: JobId) -> Result<(), Violation> {
        let view = self.view().job(job);
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if view.am() != AmState::Waiting || view.asked(Ask::Am) == 0 {
            "it does not wait"
        } else if !self.fits(Ask::Am) {
            "the node has no room for it"
        } else {
            self.world.launch_am(job, self.node);
            return Ok(());
        };
        Err(self.violation(&format!("launches the master of {}", self.world.workload.job(job).id), problem))
    }

    /// How near to its input a map would run here.
    pub fn level(&self, task: TaskId) -> Locality {
        self.world.level(task, self.node)
    }

    /// Launches a task on this node.
    ///
    /// # Errors
    /// [`Violation`] if it does not wait, may not start yet, or does not fit.
    pub fn launch(&mut self, task: TaskId) -> Result<(), Violation> {
        let job = self.world.workload.job_of(task);
        let kind = self.world.workload.job(job).place(task).0;
        self.check(task, job, kind)?;
        let level = if kind == Kind::Map { self.level(task) } else { Locality::Off };
        let attempt = self.world.tasks[task.index()].tries;
        let course = self.cost.course(task, attempt, level, self.node, false);
        let run = self.world.launch(task, self.node, course, self.next_beat);
        self.launched.push(run);
        Ok(())
    }

    /// Launches another attempt at a task that runs elsewhere. The first attempt to succeed wins; the others are killed at
    /// their nodes' next heartbeats, and do not count as failed (policies A.7).
    ///
    /// # Errors
    /// [`Violation`] if the task does not run, runs on this node already, or does not fit.
    pub fn launch_backup(&mut self, task: TaskId) -> Result<(), Violation> {
        let job = self.world.workload.job_of(task);
        let kind = self.world.workload.job(job).place(task).0;
        self.check_backup(task, job, kind)?;
        let level = if kind == Kind::Map { self.level(task) } else { Locality::Off };
        let attempt = self.world.tasks[task.index()].tries;
        let course = self.cost.course(task, attempt, level, self.node, true);
        let run = self.world.launch_backup(task, self.node, course, self.next_beat);
        self.launched.push(run);
        Ok(())
    }

    /// Finds a map as [`Offer::find_map`] does and launches it. Returns its level, or `None` if there is none.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub fn launch_map(&mut self, job: JobId, reach: Reach) -> Result<Option<Locality>, Violation> {
        let Some(task) = self.find_map(job, reach) else { return Ok(None) };
        let level = self.level(task);
        self.launch(task)?;
        Ok(Some(level))
    }

    /// Finds a reduce as [`Offer::find_reduce`] does and launches it. Returns whether there was one.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub fn launch_reduce(&mut self, job: JobId) -> Result<bool, Violation> {
        match self.find_reduce(job) {
            Some(task) => self.launch(task).map(|()| true),
            None => Ok(false),
        }
    }

    fn check(&self, task: TaskId, job: JobId, kind: Kind) -> Result<(), Violation> {
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if !self.view().waits(task) {
            "it does not wait"
        } else if kind == Kind::Reduce && self.world.yarn.is_none() && !self.world.reduces_may_start(job) {
            "too few maps of its job are done"
        } else if kind == Kind::Reduce && self.world.fetches_enough(job, self.node) {
            "the node runs as many reduces of its job as it may"
        } else if self.world.ready_of(job, kind) == 0 {
            "its job does not ask for it"
        } else if self.free(kind) == 0 {
            "the node has no room for it"
        } else {
            return Ok(());
        };
        Err(self.refusal(task, problem))
    }

    /// YARN: whether the resource manager knows that a master of this job runs; on slots every job has one. A backup needs it.
    pub fn has_master(&self, job: JobId) -> bool {
        self.world.yarn.as_ref().is_none_or(|yarn| yarn.apps[job.index()].am == AmState::Running)
    }

    fn check_backup(&self, task: TaskId, job: JobId, kind: Kind) -> Result<(), Violation> {
        let here = |id: &RunId| self.world.runs[id.index()].task == task;
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if self.world.tasks[task.index()].phase != TaskPhase::Running {
            "it does not run"
        } else if !self.has_master(job) {
            "no master of its job runs"
        } else if self.world.nodes[self.node.index()].runs.iter().any(here) {
            "the node runs it already"
        } else if self.free(kind) == 0 {
            "the node has no room for it"
        } else {
            return Ok(());
        };
        Err(self.refusal(task, problem))
    }

    fn refusal(&self, task: TaskId, problem: &str) -> Violation {
        self.violation(&format!("launches {}", self.world.workload.task_name(task)), problem)
    }

    fn violation(&self, what: &str, problem: &str) -> Violation {
        Violation(format!("{what} on {}, but {problem}", self.world.cluster.node(self.node).name))
    }
}
