//! How attempts, tasks and the replay end.

use resched_tables::model::{Locality, Outcome};

use super::Engine;
use super::events::Position;
use crate::Error;
use crate::hadoop::attempt::{Attempt, Kill};
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::{Ended, Launched};
use crate::hadoop::view::{AttemptEnd, View};
use crate::hadoop::world::{JobPhase, TaskPhase};
use crate::ids::{AttemptId, JobId};

impl Engine<'_, '_> {
    pub(super) fn attempt_ended(&mut self, id: AttemptId, at: Position) -> Result<(), Error> {
        self.take_off(id)?;
        let run = self.world.runs[id.index()].clone();
        if self.world.jobs[run.job.index()].phase == JobPhase::Active { self.learn_end(&run, at) } else { Ok(()) }
    }

    /// Frees what an attempt that has ended held. How it stands can still be read until the next one is launched.
    pub(super) fn take_off(&mut self, id: AttemptId) -> Result<(), Error> {
        self.report_launch(id)?;
        self.world.release(id);
        let run = &mut self.world.runs[id.index()];
        let task = &mut self.world.tasks[run.task.index()];
        let counts = run.kill == Kill::No && !run.lost && task.phase == TaskPhase::Running && !task.won;
        task.won |= counts && run.course.outcome == Outcome::Success;
        run.unwanted = !counts;
        let (outcome, was_reported) = (run.course.outcome, run.kill == Kill::Done || run.lost);
        if was_reported { Ok(()) } else { self.report_end(id, outcome, !counts) }
    }

    /// The master of an active job learns how an attempt ended.
    pub(super) fn learn_end(&mut self, run: &Attempt, at: Position) -> Result<(), Error> {
        let outcome = if run.unwanted { Outcome::Killed } else { run.course.outcome };
        match outcome {
            Outcome::Success => self.task_done(run, at),
            Outcome::Failed => self.world.attempt_failed(run),
            _ => {}
        }
        let task = &self.world.tasks[run.task.index()];
        if outcome == Outcome::Failed && task.failures >= self.world.cluster.config.jobs.max_attempts {
            self.policy.task_finished(&AttemptEnd::of(run, outcome), View { world: &self.world });
            self.end_job(run.job, Outcome::Failed)?;
            self.kill_rest(run.job, at);
            return Ok(());
        }
        if task.phase == TaskPhase::Running && task.live == 0 && !task.won {
            self.world.task_waits(run.task);
            self.policy.task_waits(run.task, View { world: &self.world });
        }
        self.policy.task_finished(&AttemptEnd::of(run, outcome), View { world: &self.world });
        if self.world.is_done(run.job) { self.end_job(run.job, Outcome::Success) } else { Ok(()) }
    }

    /// The first attempt to succeed wins; the others at its task are killed.
    fn task_done(&mut self, run: &Attempt, at: Position) {
        let last_map = self.world.task_done(run);
        if self.world.tasks[run.task.index()].live > 0 {
            for place in 0..self.world.jobs[run.job.index()].runs[run.kind.index()].len() {
                let id = self.world.jobs[run.job.index()].runs[run.kind.index()][place];
                if self.world.runs[id.index()].task == run.task {
                    self.will_kill(id, at);
                }
            }
        }
        if last_map {
            self.maps_done(run.job, at);
        }
    }

    /// The last map of a job is done: its reduces can end now.
    fn maps_done(&mut self, job: JobId, at: Position) {
        for place in 0..self.world.jobs[job.index()].runs[Kind::Reduce.index()].len() {
            let id = self.world.jobs[job.index()].runs[Kind::Reduce.index()][place];
            let node = self.world.runs[id.index()].node;
            if self.fix_reduce_end(id) {
                let end = self.world.runs[id.index()].end.unwrap_or(at.0);
                self.schedule(node, self.beat_for_end(node, end, at));
            } else {
                self.schedule(node, self.beat_after(node, at.0, at));
            }
        }
    }

    /// Fixes the end of a reduce if it is known now. Returns whether it is known.
    pub(super) fn fix_reduce_end(&mut self, id: AttemptId) -> bool {
        let run = &self.world.runs[id.index()];
        if run.kind == Kind::Map {
            return true;
        }
        let job = &self.world.jobs[run.job.index()];
        let end = self.cost.reduce_end(run.job, run.start, job.maps_done, &run.course, &job.fluid);
        if let (None, Some((shuffled, end))) = (run.end, end) {
            let run = &mut self.world.runs[id.index()];
            (run.shuffle_finish, run.end) = (Some(shuffled), Some(end));
            let (node, is_new) = (run.node, run.assigned == self.world.now);
            if is_new {
                self.world.changes.note_launched();
            } else {
                self.world.changes.note_attempt();
            }
            self.world.plan_computing(node);
        }
        self.world.runs[id.index()].end.is_some()
    }

    /// Reports an attempt once.
    pub(super) fn report_launch(&mut self, id: AttemptId) -> Result<(), Error> {
        let run = &mut self.world.runs[id.index()];
        if std::mem::replace(&mut run.announced, true) {
            return Ok(());
        }
        let run = &self.world.runs[id.index()];
        let (task, attempt, node, backup) = (run.task, run.attempt, run.node, run.backup);
        let launched = Launched { at: self.world.now, task, attempt, node, level: self.level_of(run), backup };
        self.observer.launched(&launched)
    }

    /// Reports how an attempt ended on its node; `unwanted` if the master does not count it, however it ended.
    pub(super) fn report_end(&mut self, id: AttemptId, outcome: Outcome, unwanted: bool) -> Result<(), Error> {
        let run = &self.world.runs[id.index()];
        let level = self.level_of(run);
        let (shuffle_finish, sort_finish) = run.phases(outcome);
        self.observer.ended(&Ended {
            task: run.task,
            attempt: run.attempt,
            node: run.node,
            level,
            start: run.start,
            shuffle_finish,
            sort_finish,
            finish: run.end,
            outcome,
            discarded: unwanted && outcome == Outcome::Success,
            backup: run.backup,
        })
    }

    pub(super) fn level_of(&self, run: &Attempt) -> Option<Locality> {
        let placed = run.kind == Kind::Map && !self.world.workload.replicas(run.task).is_empty();
        placed.then_some(run.level)
    }

    /// Reports the attempts that never end.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        for node in self.world.cluster.node_ids() {
            for place in 0..self.world.nodes[node.index()].runs.len() {
                let id = self.world.nodes[node.index()].runs[place];
                self.report_launch(id)?;
                let run = &mut self.world.runs[id.index()];
                if run.kill == Kill::Done || run.lost {
                    continue;
                }
                // One that was still being launched never ran.
                run.start = run.start.min(self.tally.end);
                self.report_end(id, Outcome::Incomplete, false)?;
            }
        }
        Ok(())
    }
}
