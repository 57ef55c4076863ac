//! A job before its first task and after its last: it arrives, is initialised and set up, and is cleaned up.
//!
//! ```text
//! submitted ──init──▶ initialised ──set-up task──▶ active ── its tasks ──▶ over ──clean-up task──▶ ended
//! ```
//!
//! A policy knows a job only while it is active, as Hadoop's schedulers look at running jobs only. Under YARN the master of a
//! job does all of this: it starts when the job is submitted, asks for tasks once the job is set up, and no slot is held.

use resched_tables::model::{Outcome, Reason};

use super::Engine;
use super::events::Position;
use crate::Error;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::observer::Kept;
use crate::hadoop::system::System;
use crate::hadoop::view::View;
use crate::hadoop::workload::Workload;
use crate::hadoop::world::{Stage, World};
use crate::ids::{JobId, Ms, NodeId};
use crate::observer::JobEnded;

/// When each job arrives at the master, in that order.
pub(super) fn arrivals(world: &World<'_>, workload: &Workload, cluster: &Cluster) -> Vec<(Ms, JobId)> {
    let jobs = workload.jobs().iter().zip((0..).map(JobId));
    let mut arrivals: Vec<(Ms, JobId)> = jobs
        .map(|(job, id)| match cluster.system() {
            System::Slots => (world.initialised(id), id),
            System::Containers => (job.submit, id),
        })
        .collect();
    arrivals.sort_unstable();
    arrivals
}

impl Engine<'_, '_> {
    /// A job arrives.
    pub(super) fn arrive(&mut self, job: JobId) -> Result<(), Error> {
        if self.world.yarn.is_some() {
            self.note_start(job, Reason::Master);
        } else {
            self.note_initialised(job)?;
        }
        if self.world.yarn.is_none() && self.world.chore_time(job, Stage::SetUp).is_some() {
            self.world.ask_for_chore(Stage::SetUp, job);
            return Ok(());
        }
        self.activate(job)
    }

    /// The tasks of a job may be launched from now on.
    fn activate(&mut self, job: JobId) -> Result<(), Error> {
        self.world.submit(job);
        self.note_set_up(job);
        self.policy.job_submitted(job, View { world: &self.world });
        if self.world.is_done(job) { self.end_job(job, Outcome::Success) } else { Ok(()) }
    }

    /// The tasks of a job are over.
    pub(super) fn end_job(&mut self, job: JobId, outcome: Outcome) -> Result<(), Error> {
        // Containers that wait for their maps, also those of a master that is lost, are reported while the job is there.
        for id in self.world.jobs[job.index()].runs.concat() {
            self.report_launch(id)?;
        }
        self.world.end_job(job);
        self.world.jobs[job.index()].outcome = outcome;
        // Under YARN, the resource manager learns of it once the job's master has ended.
        if !self.world.has_container_of_master(job) {
            self.leave(job)?;
        }
        if self.world.yarn.is_none() && self.world.chore_time(job, Stage::CleanUp).is_some() {
            self.world.ask_for_chore(Stage::CleanUp, job);
            return Ok(());
        }
        self.close_job(job)
    }

    /// A job leaves the scheduler.
    pub(super) fn leave(&mut self, job: JobId) -> Result<(), Error> {
        for node in self.world.unreserve_all(job) {
            self.observer.kept(&Kept { at: self.world.now, node, reservation: None })?;
        }
        self.policy.job_finished(job, View { world: &self.world });
        Ok(())
    }

    /// A job has ended. What its master still does takes no slot, so nobody else waits for it.
    fn close_job(&mut self, job: JobId) -> Result<(), Error> {
        self.tally.jobs += 1;
        let unlike_log =
            self.world.jobs[job.index()].outcome == Outcome::Failed && self.world.workload.job(job).succeeded;
        self.tally.failed_unlike_log += u64::from(unlike_log);
        let by_master = self.world.yarn.as_ref().and_then(|_| self.world.chore_time(job, Stage::CleanUp)).unwrap_or(0);
        let finish = self.world.now + by_master + self.world.cluster.commit(&self.world.workload.job(job).edges);
        let state = &self.world.jobs[job.index()];
        self.observer.job_ended(&JobEnded { job, eligible: None, launch: state.launch, finish, outcome: state.outcome })
    }

    /// Applies what a node reports of set-up and clean-up tasks.
    pub(super) fn take_chore_reports(&mut self, node: NodeId) -> Result<(), Error> {
        while let Some(chore) = self.world.take_ended_chore(node) {
            match chore.stage {
                Stage::SetUp => self.activate(chore.job)?,
                Stage::CleanUp => self.close_job(chore.job)?,
            }
        }
        let node = &mut self.world.nodes[node.index()];
        for chore in &node.chores {
            node.reported[chore.kind.index()] += 1;
        }
        Ok(())
    }

    /// Under YARN, whether the master of a job has set it up. If not, the master calls again when it has.
    pub(super) fn is_set_up(&mut self, job: JobId, at: Position) -> bool {
        let set_up = self.set_up_at(job);
        if at.0 < set_up {
            self.plan_master(job, set_up);
        }
        at.0 >= set_up
    }

    /// Under YARN, when a job is set up if its master runs by then.
    pub(super) fn set_up_at(&self, job: JobId) -> Ms {
        self.world.initialised(job) + self.world.chore_time(job, Stage::SetUp).unwrap_or(0)
    }
}
