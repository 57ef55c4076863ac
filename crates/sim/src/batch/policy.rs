//! The trait of a scheduling policy for production traces.

use std::sync::Arc;

use resched_tables::model::Reason;

use super::evictions::{Evicted, Eviction};
use super::observer::Ended;
use super::view::View;
use super::world::{Placed, World};
use crate::error::Violation;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use crate::resources::Resources;

/// A scheduling policy for production traces.
///
/// The engine owns the world. A policy keeps what the engine does not know, such as its queues. It reads a [`View`] of the world
/// that hides the future, and starts tasks through an [`Offer`], which checks them. You must write [`Policy::task_waits`] and
/// [`Policy::schedule`]; everything else has a default that does nothing.
pub trait Policy {
    // What happens.

    /// A job has arrived. Its tasks are reported by [`Policy::task_waits`] once they may start.
    fn job_submitted(&mut self, _job: JobId, _view: View<'_>) {}

    /// All tasks of a job have ended, by success or failure.
    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {}

    /// Units of a task wait: its stage has started, a unit failed and is tried again, or its machine left. Other units
    /// of the task may be waiting already.
    fn task_waits(&mut self, task: TaskId, view: View<'_>);

    /// An instance or a gang has ended. If it is tried again, a call of [`Policy::task_waits`] follows.
    fn task_finished(&mut self, _ended: &Ended, _view: View<'_>) {}

    /// A task that was evicted some time ago has left its machines ([`Offer::evict`]).
    fn task_left(&mut self, _task: TaskId, _view: View<'_>) {}

    /// The resources that the machines offer have changed.
    fn nodes_changed(&mut self, _view: View<'_>) {}

    // Ticks.

    /// How often [`Policy::tick`] is called while there are jobs, ms; `None`: never.
    fn period(&self) -> Option<Ms> {
        None
    }

    /// How long after each multiple of [`Policy::period`] the tick comes, ms.
    fn phase(&self) -> Ms {
        0
    }

    /// Called at every multiple of [`Policy::period`] of the simulated clock, or after it ([`Policy::phase`]).
    fn tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// True if ticks may be left out until something happens. Return `true` only if the last tick changed nothing, nothing has happened and
    /// nothing was decided since, and the next ticks, and the decisions after them, would do the same whenever they come.
    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        false
    }

    /// When it wants to decide although nothing happens, ms: [`Policy::schedule`] is called then, if tasks wait. `None`: never. Times
    /// that are over do not count.
    fn alarm(&self) -> Option<Ms> {
        None
    }

    /// Asked now and then, and once more when the replay is `over`: whether the policy can go on. A policy that works in another language
    /// says here what went wrong in a call that cannot return an error.
    ///
    /// # Errors
    /// What went wrong; the replay ends with it.
    fn check(&mut self, _view: View<'_>, _over: bool) -> Result<(), Violation> {
        Ok(())
    }

    // The decision.

    /// True if other seeds ([`View::seed`]) lead to other decisions.
    fn draws(&self) -> bool {
        false
    }

    /// True if it has limits on what users, accounts or qualities of service may have at once, as a site enforces them.
    fn has_limits(&self) -> bool {
        false
    }

    /// Something has changed, and tasks wait: start the tasks that should run.
    ///
    /// # Errors
    /// The [`Violation`] that [`Offer::start`] returned, passed on with `?`; the replay ends with it.
    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
}

/// The orders of a policy at a tick.
#[derive(Debug, Default)]
pub struct Orders {
    pub(super) decisions: Vec<(&'static str, Option<JobId>, f64)>,
}

impl Orders {
    /// Reports a decision about one job or about all to the observer of the replay. The report changes nothing.
    pub fn report(&mut self, name: &'static str, job: Option<JobId>, value: f64) {
        self.decisions.push((name, job, value));
    }
}

/// What a policy says of its decisions in a pass.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Decisions: their names, the jobs that they are about, their values, and the jobs for which they were made.
    pub(super) decisions: Vec<(&'static str, JobId, f64, Option<JobId>)>,
    /// The flavours of runs.
    pub(super) flavors: Vec<(AttemptId, Arc<str>)>,
    /// True if it wants to be asked once more at this instant.
    pub(super) again: bool,
}

/// The machines, on which a policy starts tasks. Starts take effect at once, so the view through the offer is always
/// current.
pub struct Offer<'a, 'w> {
    pub(super) world: &'a mut World<'w>,
    /// What was started in this pass: run, serial number and end.
    pub(super) started: &'a mut Vec<(AttemptId, u64, Ms)>,
    /// The number of entries before the latest start.
    pub(super) before: usize,
    /// What was evicted in this pass.
    pub(super) evicted: &'a mut Vec<Evicted>,
    pub(super) notes: &'a mut Notes,
}

impl Offer<'_, '_> {
    /// The world as it is now, including all that this pass has started so far.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { world: self.world }
    }

    /// Starts up to `most` units of a task, as far as there is room: instances one by one, a gang as a whole. Returns
    /// how many it started.
    ///
    /// # Errors
    /// [`Violation`] if the task does not wait.
    pub fn start(&mut self, task: TaskId, most: u32) -> Result<u32, Violation> {
        if self.world.tasks[task.index()].waiting == 0 {
            let name = self.world.workload.task_name(task);
            return Err(Violation(format!("starts {name}, which does not wait")));
        }
        self.before = self.started.len();
        let started = self.world.start(task, most, self.started);
        let entry = self.world.workload.task(task);
        if started > 0 {
            self.world.reasons.end(entry.job, 0);
        } else if self.view().may_hold(task) {
            self.world.reasons.give(entry.job, 0, Reason::Fit, None);
        }
        Ok(started)
    }

    /// Starts a unit of a task on these machines: an instance on one, or a gang with so many instances on each.
    ///
    /// # Errors
    /// [`Violation`] if the task does not wait, the number of instances is wrong, or a machine has no room.
    pub fn start_on(&mut self, task: TaskId, places: &[(NodeId, u32)]) -> Result<AttemptId, Violation> {
        let world = &mut *self.world;
        let entry = *world.workload.task(task);
        let wrong = |what: &str| Err(Violation(format!("starts {}, {what}", world.workload.task_name(task))));
        if world.tasks[task.index()].waiting == 0 {
            return wrong("which does not wait");
        }
        let instances: u64 = places.iter().map(|&(_, count)| u64::from(count)).sum();
        if instances != u64::from(if entry.gang { entry.instances } else { 1 })
            || places.iter().any(|place| place.1 == 0)
        {
            return wrong("with another number of instances than it has");
        }
        let demand = world.demand(task);
        let has_room = |&(node, count): &(NodeId, u32)| world.ledger.holds(demand, node, count.into());
        if !are_distinct(places) || !places.iter().all(has_room) {
            return wrong("for which a machine has no room");
        }
        if !world.ledger.has_licenses(demand.kind) {
            return wrong("for which a licence is not free");
        }
        self.before = self.started.len();
        let start = world.start_on(task, places);
        self.started.push(start);
        world.reasons.end(entry.job, 0);
        Ok(start.0)
    }

    /// The places that so many units of each of these tasks would take together, by the rule of placement; `None` if they do not all find
    /// room. Nothing changes: start them with [`Offer::commit`], or drop them. Several tasks that start together or not at all are placed
    /// so.
    pub fn try_place(&mut self, units: &[(TaskId, u32)]) -> Option<Vec<Placed>> {
        self.world.try_place(units)
    }

    /// Starts units where [`Offer::try_place`] has placed them. Returns their runs, in the same order.
    ///
    /// # Errors
    /// That of [`Offer::start_on`], if something else has been started there in between.
    pub fn commit(&mut self, placed: &[Placed]) -> Result<Vec<AttemptId>, Violation> {
        placed.iter().map(|Placed { task, places }| self.start_on(*task, places)).collect()
    }

    /// Ends a run so that others get its machines, at once or some time later ([`Eviction`]). [`Policy::task_finished`] does not follow, as
    /// the policy knows. The policy is asked once more at this instant. When the run has left its machines, its task is gone, or waits
    /// again ([`Policy::task_waits`]).
    ///
    /// # Errors
    /// [`Violation`] if nothing runs under this id, it was evicted before, or it was started in this pass. What an earlier pass of the same
    /// instant has started may be evicted.
    pub fn evict(&mut self, run: AttemptId, eviction: impl Into<Eviction>) -> Result<(), Violation> {
        let eviction = eviction.into();
        let is_of_this_pass =
            |run: AttemptId, serial: u64| self.started.iter().any(|&(id, which, _)| (id, which) == (run, serial));
        let may_end =
            self.world.runs.at(run).is_some_and(|ran| ran.start < self.world.now || !is_of_this_pass(run, ran.serial));
        let Some(ended) = self.world.evict(run, eviction).filter(|_| may_end) else {
            return Err(Violation("evicts what does not run, or was started in this pass".to_owned()));
        };
        self.evicted.push(Evicted { ended, then: (eviction.holds <= 0).then_some(eviction.then) });
        Ok(())
    }

    /// Has the policy asked once more at this instant, although nothing is evicted: what this pass has started can be evicted then.
    pub fn ask_again(&mut self) {
        self.notes.again = true;
    }

    /// Reports a decision about a job to the observer of the replay, and the job for which it was made. The report changes nothing.
    pub fn report(&mut self, name: &'static str, job: JobId, value: f64, other: Option<JobId>) {
        self.notes.decisions.push((name, job, value, other));
    }

    /// Says from which flavours a run that this pass has started takes its resources (`cpu=spot,nvidia.com/gpu=a100`).
    pub fn give_flavors(&mut self, run: AttemptId, flavors: &Arc<str>) {
        self.notes.flavors.push((run, Arc::clone(flavors)));
    }

    /// What is free of processor and memory on a machine.
    pub fn free_of(&self, node: NodeId) -> Resources {
        self.world.ledger.main_of(node).1
    }

    /// What the latest [`Offer::start`] started.
    pub fn latest(&self) -> impl Iterator<Item = AttemptId> + '_ {
        self.started.get(self.before..).unwrap_or_default().iter().map(|&(run, ..)| run)
    }
}

/// True if no machine comes twice.
fn are_distinct(places: &[(NodeId, u32)]) -> bool {
    // Most policies name them in order.
    if places.is_sorted_by(|one, next| one.0 < next.0) {
        return true;
    }
    let mut nodes: Vec<NodeId> = places.iter().map(|place| place.0).collect();
    nodes.sort_unstable();
    nodes.is_sorted_by(|one, next| one < next)
}
