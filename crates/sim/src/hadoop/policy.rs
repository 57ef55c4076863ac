//! The boundary between the engine and a scheduling policy.

use crate::Error;
use crate::cluster_file::Calculator;
use crate::error::Violation;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::containers::Container;
use crate::hadoop::offer::Offer;
use crate::hadoop::system::System;
use crate::hadoop::view::{AttemptEnd, AttemptView, View};
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};

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
/// **Lulls.** Once nothing has started, ended or arrived for a day, the engine leaves out most heartbeats and ticks, too: the next
/// one comes after at most a 512th of that time. So a tick can come several periods after the one before.
///
/// **YARN.** [`Policy::container_changed`] and [`Policy::headroom`] are called under YARN only; a policy for slots can
/// ignore them.
pub trait Policy {
    /// What the policy schedules: the slots of MapReduce 1 or the containers of YARN.
    fn system(&self) -> System {
        System::Slots
    }

    /// True if the policy is an oracle. An oracle is a reference that may ask [`View::oracle`] how long tasks will
    /// take. No real scheduler can do that.
    fn is_oracle(&self) -> bool {
        false
    }

    /// True if the policy decides by itself when the reduces of a job may start. Then the slow-start of the cluster file does not
    /// hold. It is asked once, before the replay begins.
    fn ramps_reduces(&self) -> bool {
        false
    }

    /// True if the policy ever asks where the output of maps lies ([`crate::hadoop::JobView::map_output`]). If not, it is not followed. It is
    /// asked once, before the replay begins.
    fn follows_output(&self) -> bool {
        true
    }

    // What happens.

    /// A job has arrived.
    fn job_submitted(&mut self, _job: JobId, _view: View<'_>) {}

    /// A job has succeeded or failed. It is no longer among `view.jobs()`. Under YARN, the resource manager learns of it after the
    /// heartbeat that reports the end of its application master.
    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {}

    /// A task waits again: its last attempt failed or was killed, or the output of a map was lost with its node. It is
    /// not called when a task waits for the first time: that follows from the arrival of its job.
    fn task_waits(&mut self, _task: TaskId, _view: View<'_>) {}

    /// An attempt was launched on a node, by this policy or as a backup.
    fn task_started(&mut self, _started: &AttemptView, _view: View<'_>) {}

    /// The master has learned how an attempt ended. Under YARN, this is the application master of the job. If the task
    /// is tried again, [`Policy::task_waits`] was called before.
    fn task_finished(&mut self, _ended: &AttemptEnd, _view: View<'_>) {}

    /// The master has given up a node. It has reported the attempts there as killed, and maps that had finished there
    /// wait again.
    fn node_lost(&mut self, _node: NodeId, _view: View<'_>) {}

    // Ticks.

    /// How often [`Policy::tick`] is called, ms; `None`: never.
    fn period(&self) -> Option<Ms> {
        None
    }

    /// The first multiple of [`Policy::period`], at `due` or later, at which a tick does anything, ms after the clock starts. The ticks
    /// before it are left out.
    fn tick_from(&self, due: Ms) -> Ms {
        due
    }

    /// Called before each [`Policy::tick`]. What it orders is carried out before that.
    fn before_tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// Called every [`Policy::period`] of the simulated clock, but less often in a lull. The first call comes one period after
    /// the clock starts.
    fn tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// True if ticks may be left out while nothing happens. Return `true` only if nothing changed between the last two
    /// ticks, the next one would do the same, and only the last of a row of such ticks has a lasting effect, such as
    /// its time.
    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        false
    }

    // Parking.

    /// True if the policy now needs every heartbeat of a node with a free slot, even if no waiting task fits there.
    fn restless(&self, _view: View<'_>) -> bool {
        false
    }

    /// True if the policy now needs every heartbeat of every node. Then [`Policy::heartbeat`] is also called for nodes
    /// without a free slot.
    fn counts_heartbeats(&self, _view: View<'_>) -> bool {
        false
    }

    /// True if all heartbeats would now come to nothing: the policy would launch no task on any node, change nothing that it keeps,
    /// and have no reason to report. The engine then only counts them, until the world changes or time passes, when it asks again. By
    /// default, a policy declines where all its heartbeats could be left out: nothing waits to be placed, and the policy is not restless.
    fn declines(&self, view: View<'_>) -> bool {
        !view.anything_to_place() && !view.wants_reasons() && !self.restless(view) && !self.counts_heartbeats(view)
    }

    /// True if heartbeats of nodes on which no waiting task fits would now come to nothing, in the sense of [`Policy::declines`]. It is
    /// asked on slots, if the policy does not decline all. A policy that is not restless need not say so, because such nodes sleep.
    fn declines_where_nothing_fits(&self, _view: View<'_>) -> bool {
        false
    }

    // Under YARN only.

    /// The resource manager has learned that a container runs or has ended. This includes the containers of application
    /// masters. Allocations are not reported: the policy made them itself.
    fn container_changed(&mut self, _container: &Container, _view: View<'_>) {}

    /// The headroom of a job: the memory that it could still get, MB, as reported to its application master (`docs/model/containers.md`).
    fn headroom(&self, _job: JobId, view: View<'_>) -> u64 {
        view.yarn().free_in_all().memory
    }

    /// Which resources it counts, if the cluster file says this.
    fn calculator(&self, of_cluster: Calculator) -> Calculator {
        of_cluster
    }

    /// True if a heartbeat of this node could change anything while containers are asked for. The engine leaves out the others.
    fn may_use(&self, node: NodeId, view: View<'_>) -> bool {
        view.yarn().reservation(node).is_some() || view.yarn().has_room(node)
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

    /// A node with a free slot sends its heartbeat: launch the tasks that it should run. While
    /// [`Policy::counts_heartbeats`] holds, this is called for every node.
    ///
    /// # Errors
    /// The [`Violation`] that [`Offer::launch`] returned, passed on with `?`; the replay ends with it.
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
}

/// The orders of a policy at a tick.
#[derive(Debug, Default)]
pub struct Orders {
    pub(crate) kills: Vec<AttemptId>,
    pub(crate) preempted: Vec<AttemptId>,
    pub(crate) freed: Vec<NodeId>,
    pub(crate) masters: Vec<JobId>,
    pub(crate) decisions: Vec<(&'static str, Option<JobId>, f64)>,
}

impl Orders {
    /// Kills a running attempt at its node's next heartbeat. Its task waits again after the heartbeat that follows. The attempt does not
    /// count as failed (`docs/model/fair.md`). Under YARN, the resource manager takes the container back at once, and the task waits again
    /// once the job's master has learned of the kill. If the attempt ends by itself before its node is reported, that end counts.
    pub fn kill(&mut self, run: AttemptId) {
        self.kills.push(run);
    }

    /// As [`Orders::kill`] under YARN, but what the container holds on its node is free only when the node has reported the end, if it has
    /// reported the start (`SchedulerNode.releaseContainer` of Hadoop 3.x).
    pub fn preempt(&mut self, run: AttemptId) {
        self.preempted.push(run);
    }

    /// As [`Orders::preempt`], the application master of a job. All its containers are preempted with it, and another master is asked for,
    /// which knows what tasks were done. Only for [`Policy::before_tick`].
    pub fn preempt_master(&mut self, job: JobId) {
        self.masters.push(job);
    }

    /// Ends the reservation of a node.
    pub fn unreserve(&mut self, node: NodeId) {
        self.freed.push(node);
    }

    /// Reports a decision about one job or about all to the observer of the replay. The report changes nothing. Report
    /// only changes: then a tick that changes nothing can be left out.
    pub fn report(&mut self, name: &'static str, job: Option<JobId>, value: f64) {
        self.decisions.push((name, job, value));
    }
}

impl Cluster {
    /// The same machines as a policy sees them: its system, and the resources that it counts.
    ///
    /// # Errors
    /// As [`Cluster::for_system`].
    pub fn for_policy(&self, policy: &dyn Policy) -> Result<Self, Error> {
        let mut cluster = self.clone();
        let calculator = &mut cluster.config.containers.calculator;
        *calculator = policy.calculator(*calculator);
        cluster.under(policy.system())
    }
}
