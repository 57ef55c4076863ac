//! What a node offers at a heartbeat, and the only way to launch a task.

use crate::error::Violation;
use crate::hadoop::ask::Ask;
use crate::hadoop::containers::{AmState, Reservation, YarnOffer, YarnOfferMut};
use crate::hadoop::cost::CostModel;
use crate::hadoop::given::Given;
use crate::hadoop::kind::Kind;
use crate::hadoop::view::View;
use crate::hadoop::world::{Found, JobPhase, Reach, TaskPhase, World};
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use resched_tables::model::{Locality, Reason};

/// A node's free slots at its heartbeat. Launches take effect at once, so the view through the offer is always current.
pub struct Offer<'a, 'w> {
    pub(crate) world: &'a mut World<'w>,
    pub(crate) cost: &'a mut CostModel<'w>,
    pub(crate) node: NodeId,
    pub(crate) next_beat: Ms,
    pub(crate) given: &'a mut Vec<Given>,
}

impl<'w> Offer<'_, 'w> {
    /// The world as it is now, including the launches of this heartbeat so far.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { world: self.world }
    }

    /// The node that sent the heartbeat.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How many more tasks of a kind it has room for.
    #[inline]
    pub fn free(&self, kind: Kind) -> u32 {
        self.view().room(self.node, kind)
    }

    /// How many attempts of a kind the node reported as running in this heartbeat. Launches do not change the number.
    #[inline]
    pub fn reported(&self, kind: Kind) -> u32 {
        self.world.nodes[self.node.index()].reported[kind.index()]
    }

    /// The map of a job that this node should run, no farther from its input than `reach` (`docs/model/task-picking.md`).
    pub fn find_map(&self, job: JobId, reach: Reach) -> Option<TaskId> {
        self.world.find_map(job, self.node, reach).map(|found| found.task)
    }

    /// The reduce of a job that this node should run (`docs/model/task-picking.md`).
    pub fn find_reduce(&self, job: JobId) -> Option<TaskId> {
        self.world.find_reduce(job, self.node)
    }

    /// The part of the offer that only a policy for YARN reads.
    #[inline]
    pub fn yarn(&self) -> YarnOffer<'_> {
        YarnOffer { world: self.world, node: self.node }
    }

    /// The calls that only a policy for YARN may make.
    #[inline]
    pub fn yarn_mut(&mut self) -> YarnOfferMut<'_, 'w> {
        YarnOfferMut { world: self.world, node: self.node, given: self.given }
    }

    /// How near to its input a map would run here.
    pub fn level(&self, task: TaskId) -> Locality {
        self.world.level(task, self.node)
    }

    /// Launches a task on this node.
    ///
    /// # Errors
    /// [`Violation`] if the task does not wait, may not start yet, or does not fit.
    pub fn launch(&mut self, task: TaskId) -> Result<(), Violation> {
        self.launch_at(task, Reach::Any, None)
    }

    /// Launches a task, of which it may be known how near to its input it would run.
    fn launch_at(&mut self, task: TaskId, near: Reach, level: Option<Locality>) -> Result<(), Violation> {
        let job = self.world.workload.job_of(task);
        let kind = self.world.workload.job(job).place(task).0;
        self.check(task, job, kind)?;
        let level = level.unwrap_or_else(|| self.world.level_as(kind, task, self.node));
        let attempt = self.world.tasks[task.index()].tries;
        let course = self.cost.course(task, attempt, level, self.node, false);
        let run = self.world.launch(task, self.node, (course, level), (near, self.next_beat));
        self.world.reasons.end(job, kind.index());
        self.given.push(Given::Attempt(run));
        Ok(())
    }

    /// Serves a request of a job with a container on this node, under YARN. `near` is what the resource manager takes it for, no
    /// nearer than [`YarnOffer::nearest`] says. If the node was kept for this request, it is no longer.
    ///
    /// # Errors
    /// [`Violation`] if the job has no such request, or the node has no room.
    pub fn grant(&mut self, job: JobId, ask: Ask, near: Reach) -> Result<(), Violation> {
        let task = match ask {
            Ask::Am => None,
            Ask::FailedMap => self.world.find_failed_map(job, self.node),
            Ask::Reduce => self.world.find_reduce(job, self.node),
            Ask::Map => self.find_map(job, Reach::Any),
        };
        match task {
            Some(task) => self.launch_at(task, near, None)?,
            None if ask == Ask::Am => self.launch_master(job)?,
            None => {
                let what = format!("grants {ask:?} to {}", self.world.workload.job(job).id);
                return Err(self.world.violation(&what, self.node, "the job does not ask for it"));
            }
        }
        let kept = |kept: &Reservation| (kept.job, kept.ask) == (job, ask);
        if let Some(kept) = self.yarn().reservation().filter(kept) {
            if let Some(Given::Attempt(run)) = self.given.last() {
                self.world.runs[run.index()].container = kept.container;
            }
            self.yarn_mut().unreserve();
        }
        Ok(())
    }

    fn launch_master(&mut self, job: JobId) -> Result<(), Violation> {
        let app = self.view().yarn().app(job);
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if app.am() != AmState::Waiting || app.asked(Ask::Am) == 0 {
            "it does not wait"
        } else if !self.yarn().fits(Ask::Am) {
            "the node has no room for it"
        } else {
            self.world.launch_am(job, self.node);
            self.given.push(Given::Master(job));
            return Ok(());
        };
        let what = format!("launches the master of {}", self.world.workload.job(job).id);
        Err(self.world.violation(&what, self.node, problem))
    }

    /// Launches another attempt at a task that runs elsewhere. The first attempt to succeed wins; the others are killed at
    /// their nodes' next heartbeats, and do not count as failed (`docs/model/speculation.md`).
    ///
    /// # Errors
    /// [`Violation`] if the task does not run, runs on this node already, or does not fit.
    pub fn launch_backup(&mut self, task: TaskId) -> Result<(), Violation> {
        let job = self.world.workload.job_of(task);
        let kind = self.world.workload.job(job).place(task).0;
        self.check_backup(task, job, kind)?;
        let level = self.world.level_as(kind, task, self.node);
        let attempt = self.world.tasks[task.index()].tries;
        let course = self.cost.course(task, attempt, level, self.node, true);
        let run = self.world.launch_backup(task, self.node, (course, level), self.next_beat);
        self.given.push(Given::Attempt(run));
        Ok(())
    }

    /// Finds a map as [`Offer::find_map`] does and launches it. Returns its level, or `None` if no map was found.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub fn launch_map(&mut self, job: JobId, reach: Reach) -> Result<Option<Locality>, Violation> {
        let Some(Found { task, level }) = self.world.find_map(job, self.node, reach) else {
            if reach < Reach::Any {
                self.view().pass_over(job, Kind::Map, Reason::Locality);
            }
            return Ok(None);
        };
        let level = level.unwrap_or_else(|| self.level(task));
        self.launch_at(task, Reach::Any, Some(level))?;
        Ok(Some(level))
    }

    /// Finds a reduce as [`Offer::find_reduce`] does and launches it. Returns whether a reduce was found.
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
        } else if kind == Kind::Reduce && self.world.holds_reduces_back(job) {
            "too few maps of its job are done"
        } else if kind == Kind::Reduce && self.world.fetches_enough(job, self.node) {
            "the node runs as many reduces of its job as it may"
        } else if self.world.ready_of(job, kind) == 0 {
            "its job does not ask for it"
        } else if !self.has_room_for(job, kind) {
            "the node has no room for it"
        } else {
            return Ok(());
        };
        Err(self.refusal(task, problem))
    }

    fn has_room_for(&self, job: JobId, kind: Kind) -> bool {
        self.free(kind) > 0 && self.yarn().fits_for(job, Ask::of(kind))
    }

    fn check_backup(&self, task: TaskId, job: JobId, kind: Kind) -> Result<(), Violation> {
        let here = |id: &AttemptId| self.world.runs[id.index()].task == task;
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if self.world.tasks[task.index()].phase != TaskPhase::Running {
            "it does not run"
        } else if self.world.tasks[task.index()].live == u16::MAX {
            "so many attempts at it run that no more can be counted"
        } else if !self.world.has_master(job) {
            "no master of its job runs"
        } else if self.world.nodes[self.node.index()].runs.iter().any(here) {
            "the node runs it already"
        } else if !self.has_room_for(job, kind) {
            "the node has no room for it"
        } else {
            return Ok(());
        };
        Err(self.refusal(task, problem))
    }

    fn refusal(&self, task: TaskId, problem: &str) -> Violation {
        self.world.violation(&format!("launches {}", self.world.workload.task_name(task)), self.node, problem)
    }
}
