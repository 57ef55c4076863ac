//! The reports of the nodes: which attempts each said to run at its latest heartbeat.

use super::World;
use crate::ids::{AttemptId, Ms, NodeId};

/// The first heartbeat that reports an attempt as running, if it still is.
pub(super) struct Report {
    at: Ms,
    node: NodeId,
    run: AttemptId,
    launch: u64,
}

impl World<'_> {
    /// Notes that the node's next heartbeat will report this attempt, so that a parked node need not wake for it.
    pub(super) fn expect_report(&mut self, at: Ms, node: NodeId, run: AttemptId) {
        let report = Report { at, node, run, launch: self.launches };
        let later = |other: &Report| (other.at, other.node) > (at, node);
        let back = self.reports.iter().rev().take_while(|&other| later(other)).count();
        self.reports.insert(self.reports.len() - back, report);
    }

    /// The next heartbeat that reports an attempt for the first time.
    pub(crate) fn first_report(&self) -> Option<(Ms, NodeId)> {
        self.reports.front().map(|report| (report.at, report.node))
    }

    /// Takes note of all reports up to this heartbeat.
    pub(crate) fn settle_reports(&mut self, at: Ms, node: NodeId) {
        while self.reports.front().is_some_and(|report| (report.at, report.node) <= (at, node)) {
            let Some(report) = self.reports.pop_front() else { return };
            let run = &self.runs[report.run.index()];
            if run.launch == report.launch && run.end.is_none_or(|end| end > report.at) {
                self.mark_reported(report.run);
            }
        }
    }

    /// A heartbeat of its node has reported that an attempt runs.
    pub(crate) fn mark_reported(&mut self, id: AttemptId) {
        let run = &mut self.runs[id.index()];
        if !run.reported {
            run.reported = true;
            self.reported[run.kind.index()] += 1;
        }
    }
}
