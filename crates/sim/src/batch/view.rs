//! The world as a policy sees it.

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_tables::model::Reason;

use super::amounts::Amounts;
use super::dimensions::Dimensions;
use super::jobs::JobView;
use super::machines::{Executor, Machine};
use super::needs::Needs;
use super::workload::Task;
use super::world::World;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use crate::resources::Resources;

/// The world as it is now, without run times, outcomes and future jobs. A policy knows only the jobs and tasks that the
/// engine has reported to it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) world: &'a World<'a>,
}

impl<'a> View<'a> {
    /// Reports why the job of this task is passed over, and the job that the reason is about. This changes nothing but what a run
    /// explains. The reason holds until the job starts a task, or another reason is given. If what is free would not do for a unit of the
    /// task, the job waits for that anyway, and this is what counts.
    #[inline]
    pub fn pass_over(self, task: TaskId, reason: Reason, other: Option<JobId>) {
        if self.world.reasons.are_wanted() {
            let entry = self.task(task);
            if self.may_hold(task) {
                self.world.reasons.give(entry.job, 0, reason, other);
            } else {
                self.world.reasons.end(entry.job, 0);
            }
        }
    }

    /// True if anybody wants to know why jobs are passed over. Ask before you look for jobs only to report them.
    #[inline]
    pub fn wants_reasons(self) -> bool {
        self.world.reasons.are_wanted()
    }

    /// The simulated clock, ms.
    #[inline]
    pub fn now(self) -> Ms {
        self.world.now
    }

    /// A job, as it was submitted.
    #[inline]
    pub fn job(self, job: JobId) -> JobView<'a> {
        self.world.workload.job(job)
    }

    /// A task, with its request.
    #[inline]
    pub fn task(self, task: TaskId) -> &'a Task {
        self.world.workload.task(task)
    }

    /// How many units of a task wait: instances, or 1 for a gang.
    #[inline]
    pub fn waiting(self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].waiting
    }

    /// How many units of all tasks wait.
    #[inline]
    pub fn all_waiting(self) -> u64 {
        self.world.waiting
    }

    /// How many units of a task run.
    #[inline]
    pub fn running(self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].running
    }

    /// The processor and memory of all machines together now.
    #[inline]
    pub fn total(self) -> Resources {
        self.world.ledger.total().main
    }

    /// The free processor and memory of all machines together.
    #[inline]
    pub fn free(self) -> Resources {
        self.world.ledger.free().main
    }

    /// The names of all dimensions: processor, memory, named resources of machines, and licences.
    pub fn dimensions(self) -> &'a Dimensions {
        self.world.ledger.dimensions()
    }

    /// What all machines have together now, and the licences, by dimension. What no task asks for may be left out.
    #[inline]
    pub fn all(self) -> &'a Amounts {
        self.world.ledger.total()
    }

    /// What is free of that.
    #[inline]
    pub fn all_free(self) -> &'a Amounts {
        self.world.ledger.free()
    }

    /// What a unit of a task takes: an instance, or a gang.
    #[inline]
    pub fn unit(self, task: TaskId) -> Amounts {
        self.world.ledger.unit(self.task(task), self.world.workload.needs.kind(task.index()))
    }

    /// True if all machines together have enough free for a unit of a task. It may still fit on none of them.
    #[inline]
    pub fn may_hold(self, task: TaskId) -> bool {
        self.world.ledger.may_hold(self.task(task), self.world.workload.needs.kind(task.index()))
    }

    /// What a machine has now and what is free of it, by dimension. What no task asks for may be left out.
    pub fn amounts_of(self, node: NodeId) -> (Amounts, Amounts) {
        self.world.ledger.of(node)
    }

    /// True if an instance of a task has room on a machine now, and its licences are free.
    #[inline]
    pub fn has_room(self, task: TaskId, node: NodeId) -> bool {
        let demand = self.world.demand(task);
        self.world.ledger.holds(demand, node, 1) && self.world.ledger.has_licenses(demand.kind)
    }

    /// For how many instances of a task a machine has room now, whatever the licences.
    pub fn fits_on(self, task: TaskId, node: NodeId) -> u64 {
        self.world.ledger.fits(self.world.demand(task), node.index())
    }

    /// The machines that a task prefers, each once; none if it does not matter where it runs.
    pub fn preferred(self, task: TaskId) -> &'a [NodeId] {
        self.world.preferred(task)
    }

    /// What a task needs beside processor and memory.
    pub fn needs(self, task: TaskId) -> &'a Needs {
        self.world.workload.needs(task)
    }

    /// What the whole cluster has beside its machines, by name.
    pub fn licenses(self) -> &'a [(Arc<str>, u64)] {
        self.world.machines.licenses()
    }

    /// Now on the clock of the trace, ms: many systems do things at full minutes.
    #[inline]
    pub fn trace_time(self) -> Ms {
        self.world.now.saturating_add(self.world.workload.zero)
    }

    /// The number of the stage of a task. Stages are numbered over all jobs, in their order.
    pub fn stage(self, task: TaskId) -> u32 {
        self.task(task).stage
    }

    /// True if there are machines; if not, only the policy holds tasks back.
    pub fn has_machines(self) -> bool {
        !self.world.machines.are_boundless()
    }

    /// The machines, by [`NodeId`], as they were at the start.
    pub fn nodes(self) -> impl ExactSizeIterator<Item = (NodeId, &'a Machine)> {
        self.world.machines.nodes().iter().enumerate().map(|(place, node)| (NodeId::at(place), node))
    }

    /// The processor and memory that a machine offers now, and how much of that is free.
    pub fn offers(self, node: NodeId) -> (Resources, Resources) {
        self.world.ledger.main_of(node)
    }

    /// What runs, with the task and the time of its start, ms, in the order of the starts. What was evicted and still holds its machines
    /// is not among it.
    pub fn runs(self) -> Vec<(AttemptId, TaskId, Ms)> {
        let mut runs = self.world.runs.all();
        runs.retain(|&(run, ..)| !self.world.leaving.has(run));
        runs
    }

    /// The machines of a run, and how many instances on each; none if nothing runs under this id.
    pub fn places(self, run: AttemptId) -> Vec<(NodeId, u32)> {
        let mut places = Vec::new();
        if let Some(ran) = self.world.runs.at(run) {
            self.world.runs.places(ran, &mut places);
        }
        places
    }

    /// The rack of a machine as a number, if it is known and tasks prefer machines.
    pub fn rack(self, node: NodeId) -> Option<u32> {
        self.world.rack(node)
    }

    /// What applications had of the machines in the log; empty if it does not say it.
    pub fn executors(self) -> &'a [Executor] {
        self.world.machines.executors()
    }

    /// How long an executor needs to start on a machine that another application left, ms; `None`: the log does not show it.
    pub fn executor_start(self) -> Option<Ms> {
        self.world.machines.executor_start()
    }

    /// The settings of scheduling of each application, by the group of its jobs; empty if the trace gives none.
    pub fn applications(self) -> &'a BTreeMap<String, BTreeMap<String, String>> {
        self.world.workload.applications()
    }

    /// True if an application has jobs that have not ended, now or later: its driver knows that.
    pub fn has_jobs(self, application: &str) -> bool {
        self.world.left.get(application).is_some_and(|&left| left > 0)
    }

    /// The seed of all draws.
    pub fn seed(self) -> u64 {
        self.world.seed
    }

    /// The limit of a task if its user knew better how long it runs: this share (0 to 1) of the way from `limit` to the logged run time of
    /// its next start, ms. A what-if, as no scheduler can know that.
    pub fn better_limit(self, task: TaskId, limit: Ms, share: f64) -> Ms {
        let run = self.world.next_run(task);
        if limit > run { limit - ((limit - run) as f64 * share.clamp(0.0, 1.0)) as Ms } else { limit }
    }

    /// The estimated longest run time of the next start of a task, ms. It is the time that the user requested for the
    /// job. If the trace does not give that, it is the logged run time, an exact estimate.
    pub fn estimate(self, task: TaskId) -> Ms {
        let requested = self.job(self.task(task).job).requested_time;
        requested.unwrap_or_else(|| self.world.next_run(task))
    }
}
