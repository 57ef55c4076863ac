//! Attempts that are killed: the order, and its arrival at the node.

use resched_tables::model::Outcome;

use super::Engine;
use super::events::Position;
use crate::Error;
use crate::hadoop::attempt::Kill;
use crate::ids::{AttemptId, JobId, NodeId};

impl Engine<'_, '_> {
    /// An attempt is to be killed at the next heartbeat of its node.
    pub(super) fn will_kill(&mut self, id: AttemptId, at: Position) {
        let run = &mut self.world.runs[id.index()];
        if run.kill == Kill::No {
            run.kill = Kill::Ordered;
            let node = run.node;
            self.world.version += 1;
            self.schedule(node, self.beat_after(node, at.0, at));
        }
    }

    /// Kills the running attempts of a failed job. (Under YARN, its master does that.)
    pub(super) fn kill_rest(&mut self, job: JobId, at: Position) {
        if self.world.yarn.is_some() || !self.world.cluster.config.jobs.kill_failed {
            return;
        }
        for kind in 0..2 {
            for place in 0..self.world.jobs[job.index()].runs[kind].len() {
                self.will_kill(self.world.jobs[job.index()].runs[kind][place], at);
            }
        }
    }

    /// Kills what was ordered to be killed and still runs; the next heartbeat reports it.
    pub(super) fn carry_out_kills(&mut self, node: NodeId) -> Result<(), Error> {
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            if self.world.runs[id.index()].kill == Kill::Ordered {
                self.kill_now(id)?;
            }
        }
        self.world.plan_computing(node);
        Ok(())
    }

    /// An attempt dies now; the next heartbeat of its node reports it.
    pub(super) fn kill_now(&mut self, id: AttemptId) -> Result<(), Error> {
        self.report_launch(id)?;
        self.world.changes.note_attempt();
        let now = self.world.now;
        let run = &mut self.world.runs[id.index()];
        // One that was still being launched never ran.
        run.start = run.start.min(now);
        run.end = Some(now);
        self.world.leave_bench(id);
        self.report_end(id, Outcome::Killed, true)?;
        self.world.runs[id.index()].kill = Kill::Done;
        Ok(())
    }
}
