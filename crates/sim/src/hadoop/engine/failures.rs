//! Nodes that fail (`docs/model/failures.md`).

use resched_tables::model::Outcome;

use super::Engine;
use super::events::{Change, Position};
use crate::Error;
use crate::hadoop::attempt::Kill;
use crate::hadoop::beats::Beats;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::view::View;
use crate::hadoop::world::Health;
use crate::ids::{Ms, NodeId};

/// What happens to the nodes of a cluster: each outage is a silence, the loss one expiry after the last heartbeat, and the
/// return. A node that returns before it expired is given up at that instant: it says itself that it has started anew.
pub(super) fn changes(cluster: &Cluster, beats: &Beats) -> Vec<(Ms, Change, NodeId)> {
    let mut changes = Vec::new();
    for outage in cluster.outages() {
        let (node, from) = (outage.node, outage.from);
        let expiry = beats.last_before(node, from) + cluster.config.heartbeat.expiry;
        let loss = outage.to.map_or(expiry, |to| to.min(expiry)).max(from);
        changes.push((from, Change::Silence, node));
        changes.push((loss, Change::Loss, node));
        changes.extend(outage.to.map(|to| (to, Change::Return, node)));
    }
    changes.sort_unstable();
    changes
}

impl Engine<'_, '_> {
    /// Something happens to a node.
    pub(super) fn change(&mut self, node: NodeId, change: Change, at: Position) -> Result<(), Error> {
        match change {
            Change::Silence => self.silence(node),
            Change::Loss => self.lose(node, at),
            Change::Return => {
                self.world.welcome(node);
                if self.needs_node(self.find_needs(), node) {
                    self.plan_call(node, self.beat_after(node, at.0, at));
                }
                Ok(())
            }
        }
    }

    /// A node falls silent: its attempts die, and the master does not know.
    fn silence(&mut self, node: NodeId) -> Result<(), Error> {
        self.planned.cancel_node(node);
        self.disturb(node);
        self.world.nodes[node.index()].health = Health::Silent(self.world.now);
        self.world.changes.note_attempt();
        self.world.orphan_containers(node);
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            self.report_launch(id)?;
            let run = &self.world.runs[id.index()];
            if run.kill != Kill::Done {
                let over = run.end.is_some_and(|end| end <= self.world.now);
                let outcome = if over { run.course.outcome } else { Outcome::Killed };
                self.world.lose(id);
                self.report_end(id, outcome, true)?;
            }
        }
        Ok(())
    }

    /// The master gives a node up: its attempts count as killed, and its maps that reduces may still need run again.
    fn lose(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        self.world.settle_reports(at.0 - 1, NodeId(u32::MAX));
        let jobs = self.jobs_on(node);
        for id in self.world.nodes[node.index()].runs.clone() {
            if self.world.yarn.is_some() {
                self.container_ended(id, at)?;
            } else {
                self.attempt_ended(id, at)?;
            }
        }
        self.world.return_chores(node);
        self.lose_masters(node, at)?;
        for task in self.world.give_up(node) {
            self.world.map_lost(task);
            self.policy.task_waits(task, View { world: &self.world });
            self.plan_master(self.world.workload.job_of(task), at.0);
        }
        // Reduces on any node may have to fetch again, so their ends are not known any more.
        self.rests.fill(Ms::MIN);
        self.note_lost(&jobs);
        if self.world.cluster.config.nodes.copying_reduces > 0 {
            // Reduces that must fetch again make room for others.
            let needs = self.find_needs();
            for node in self.world.cluster.node_ids() {
                self.world.plan_computing(node);
                self.plan(node, at, self.beat_after(node, at.0, at), needs);
            }
        }
        let before = self.kept_for(node);
        self.world.keep_no_longer(node);
        self.report_kept(node, before)?;
        self.policy.node_lost(node, View { world: &self.world });
        Ok(())
    }
}
