//! The boundary between the engine and a scheduling policy.

use crate::error::Violation;
use crate::hadoop::containers::{Container, System};
use crate::hadoop::offer::Offer;
use crate::hadoop::view::{AttemptEnd, RunId, RunView, View};
use crate::ids::{JobId, Ms, NodeId, TaskId};
use crate::resources::Resources;

/// A scheduling policy for a Hadoop cluster.
///
/// The engine owns the world. A policy keeps what the engine does not know, such as its queues. It reads a [`View`] of the world
/// that hides the future, and answers each heartbeat of a node with launches through an [`Offer`], which checks them. You must
/// write [`Policy::heartbeat`]; everything else has a default that does nothing.
///
/// **Parking.** The engine leaves out a heartbeat of a node if no task waits that its free slots could run. If the state of
/// your policy changes at such heartbeats too, say so in [`Policy::restless`] or [`Policy::counts_heartbeats`]: the schedule
/// must be the same with and without parking.
///
/// **YARN.** [`Policy::container_changed`] and [`Policy::headroom`] are called under YARN only; a policy for slots can forget
/// about them.
pub trait Policy {
    /// What it schedules: the slots of MapReduce 1 or the containers of YARN.
    fn system(&self) -> System {
        System::Slots
    }

    /// Whether it is an oracle: a reference that may ask [`View::oracle`] how long tasks will take, as no real scheduler can.
    fn is_oracle(&self) -> bool {
        false
    }

    // What happens.

    /// A job has arrived.
    fn job_submitted(&mut self, _job: JobId, _view: View<'_>) {}

    /// A job has ended, well or not; it is no longer among `view.jobs()`.
    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {}

    /// A task waits again: its last attempt failed or was killed, or the output of a map was lost with its node. The first
    /// time that a task waits is not reported: it follows from its job.
    fn task_waits(&mut self, _task: TaskId, _view: View<'_>) {}

    /// An attempt is on its way to a node: one that this policy launched, or a backup.
    fn task_started(&mut self, _started: &RunView, _view: View<'_>) {}

    /// The master (under YARN that of the job) has learned how an attempt ended. If the task is to be tried again,
    /// [`Policy::task_waits`] came before.
    fn task_finished(&mut self, _ended: &AttemptEnd, _view: View<'_>) {}

    /// The master has given a node up: the attempts on it were reported as killed, and maps that were done there wait again.
    fn node_lost(&mut self, _node: NodeId, _view: View<'_>) {}

    // Ticks.

    /// How often [`Policy::tick`] is called, ms; `None`: never.
    fn period(&self) -> Option<Ms> {
        None
    }

    /// Called every [`Policy::period`] of the simulated clock, first one period after its start.
    fn tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// Whether a tick may be left out while nothing happens: nothing changed between the last two, the next one would do
    /// what they did, and only the last of a row of such ticks leaves anything behind (such as the time it came).
    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        false
    }

    // Parking.

    /// Whether every heartbeat of a node with a free slot matters now, even if no waiting task fits there.
    fn restless(&self, _view: View<'_>) -> bool {
        false
    }

    /// Whether every heartbeat of every node matters now, even of a node without any free slot. Such nodes then call, too.
    fn counts_heartbeats(&self, _view: View<'_>) -> bool {
        false
    }

    // Under YARN only.

    /// The resource manager has learned that a container runs, or that it is over; this includes the containers of application
    /// masters. Allocations are not reported: the policy made them itself.
    fn container_changed(&mut self, _container: &Container, _view: View<'_>) {}

    /// What the application master of a job is told that it could still get (policies A.9).
    fn headroom(&self, _job: JobId, view: View<'_>) -> Resources {
        view.free_in_all()
    }

    // The decision.

    /// A node with at least one free slot calls, or any node while [`Policy::counts_heartbeats`]: launch what it should run.
    ///
    /// # Errors
    /// The [`Violation`] that [`Offer::launch`] returned, passed on with `?`; the replay ends with it.
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
}

/// What a policy may order at a tick.
#[derive(Debug, Default)]
pub struct Orders {
    pub(crate) kills: Vec<RunId>,
    pub(crate) decisions: Vec<(&'static str, Option<JobId>, f64)>,
}

impl Orders {
    /// Kills a running attempt at its node's next heartbeat. Its task waits again after the heartbeat that follows; it
    /// does not count as failed (policies B.5a, oracle F11). A container is free from that heartbeat on, and its task waits again
    /// once the job's master has learned of it; one that has ended by itself before has ended as it did.
    pub fn kill(&mut self, run: RunId) {
        self.kills.push(run);
    }

    /// Reports a decision, about one job or all, to whoever follows the replay; it changes nothing. Report changes only: then a
    /// tick that changes nothing can be left out.
    pub fn report(&mut self, name: &'static str, job: Option<JobId>, value: f64) {
        self.decisions.push((name, job, value));
    }
}
