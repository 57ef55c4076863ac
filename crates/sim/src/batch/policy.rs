//! What a scheduling policy for production traces is.

use super::observer::Ended;
use super::runs::RunId;
use super::view::View;
use super::world::World;
use crate::error::Violation;
use crate::ids::{JobId, Ms, TaskId};
use crate::observer::Decided;

/// A policy. The state of the world is the engine's; a policy keeps what the engine does not know, such as its queues, and
/// starts tasks through [`Offer`].
pub trait Policy {
    /// A job was submitted; its tasks are told once they may start.
    fn job_submitted(&mut self, _job: JobId, _view: View<'_>) {}

    /// All tasks of a job have ended.
    fn job_ended(&mut self, _job: JobId, _view: View<'_>) {}

    /// Units of a task wait: its stage has started, it failed and is to be tried again, or its machine left. It may wait already.
    fn queued(&mut self, task: TaskId, view: View<'_>);

    /// An instance or a gang has ended. If its task is to be tried again, [`Policy::queued`] follows.
    fn ended(&mut self, _ended: &Ended, _view: View<'_>) {}

    /// What the machines offer has changed.
    fn machines_changed(&mut self, _view: View<'_>) {}

    /// How often it wants a tick while jobs are there, ms; `None`: never.
    fn period(&self) -> Option<Ms> {
        None
    }

    /// A period has passed.
    fn tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// Something has changed, and tasks wait: starts what it will.
    ///
    /// # Errors
    /// The [`Violation`] of a start that cannot be, which ends the replay.
    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
}

/// What a policy tells of its decisions.
#[derive(Debug, Default)]
pub struct Orders {
    pub(super) told: Vec<Decided>,
    pub(super) now: Ms,
}

impl Orders {
    /// Tells of a decision: of a job, or of all.
    pub fn tell(&mut self, name: &'static str, job: Option<JobId>, value: f64) {
        self.told.push(Decided { at: self.now, name, job, value });
    }
}

/// The machines, for starts. They take effect at once, so the view through the offer is always current.
pub struct Offer<'a, 'w> {
    pub(super) world: &'a mut World<'w>,
    /// What was started in this pass: run, serial number and end.
    pub(super) started: &'a mut Vec<(RunId, u64, Ms)>,
    /// How many of these stood there before the latest start.
    pub(super) before: usize,
}

impl Offer<'_, '_> {
    /// The world as it is now, with all that this pass has started so far.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { world: self.world }
    }

    /// Starts up to `most` units of a task, as many as find room: instances one by one, a gang as a whole. Returns how many.
    ///
    /// # Errors
    /// [`Violation`] if it does not wait.
    pub fn start(&mut self, task: TaskId, most: u32) -> Result<u32, Violation> {
        if self.world.tasks[task.index()].waiting == 0 {
            let name = self.world.workload.task_name(task);
            return Err(Violation(format!("starts {name}, which does not wait")));
        }
        self.before = self.started.len();
        Ok(self.world.start(task, most, self.started))
    }

    /// What the latest [`Offer::start`] started.
    pub fn latest(&self) -> impl Iterator<Item = RunId> + '_ {
        self.started.get(self.before..).unwrap_or_default().iter().map(|&(run, ..)| run)
    }
}
