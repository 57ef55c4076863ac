//! Who may be preempted without fair sharing, and by which right.

use super::{Request, Search, order};
use crate::kueue::model::{Policy, Preemption};
use crate::kueue::nomination::Reason;
use crate::kueue::state::{State, Workload};

/// By which right a candidate may be taken, in the order of trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Right {
    /// A node below the common ancestor stays within its quota with the request.
    Hierarchy,
    /// Its priority is lower.
    Priority,
    /// It is in the same queue.
    Own,
}

pub(super) struct Candidate {
    pub(super) id: u32,
    pub(super) right: Right,
    /// True if it may be taken while the preemptor borrows.
    pub(super) while_borrowing: bool,
    /// The common ancestor with the preemptor.
    pub(super) common: usize,
}

impl Candidate {
    pub(super) fn reason(&self) -> Reason {
        match self.right {
            Right::Own => Reason::InClusterQueue,
            Right::Priority if self.while_borrowing => Reason::InCohortReclaimWhileBorrowing,
            Right::Hierarchy | Right::Priority => Reason::InCohortReclamation,
        }
    }
}

/// All candidates, in the order of trial.
pub(super) fn collect(search: &Search<'_>, request: &Request<'_>) -> Vec<Candidate> {
    let policies = search.model.queues[request.queue].preemption;
    let mut found = Vec::new();
    if search.may_give(request.queue, request, policies.within) {
        for &id in &search.store.queues[request.queue].admitted {
            if search.candidate(id, request, policies.within) {
                found.push(Candidate { id, right: Right::Own, while_borrowing: true, common: request.queue });
            }
        }
    }
    if policies.reclaim != Policy::Never {
        collect_from_others(search, request, policies, &mut found);
    }
    found.sort_by_cached_key(|candidate| {
        let workload = search.workload(candidate.id);
        (workload.state != State::Evicted, candidate.right, order(workload, request.queue))
    });
    found
}

/// Goes up from the queue; once a node on the way stays within its quota, all further ones are reclaimed by hierarchy.
fn collect_from_others(search: &Search<'_>, request: &Request<'_>, policies: Preemption, found: &mut Vec<Candidate>) {
    let mut rest = request.usage.to_vec();
    let mut node = request.queue;
    let mut right = Right::Priority;
    let mut steps = Vec::new();
    while let Some(above) = search.quotas.above(node) {
        if rest.iter().all(|&(cell, value)| search.quotas.within(node, cell, value)) {
            right = Right::Hierarchy;
        }
        for (cell, value) in &mut rest {
            *value = (*value - search.quotas.kept_free(node, *cell)).max(0);
        }
        steps.push((above, node, right));
        node = above;
    }
    // Others can help by priority alone only if the queue does not borrow at the end, for which it must lose some of its own, or if it may
    // preempt while it borrows.
    if right == Right::Priority && found.is_empty() && policies.borrow.is_none() {
        return;
    }
    for (common, without, right) in steps {
        Walk { search, request, policies, right, common }.cohort(common, without, found);
    }
}

/// The walk through the subtree of a common ancestor.
struct Walk<'a, 'b> {
    search: &'a Search<'b>,
    request: &'a Request<'a>,
    policies: Preemption,
    right: Right,
    common: usize,
}

impl Walk<'_, '_> {
    /// Visits what is below a cohort, without the node from which the walk came.
    fn cohort(&self, cohort: usize, without: usize, found: &mut Vec<Candidate>) {
        let borrows = |node: usize| node != without && !self.search.within(node, self.request.short);
        for &child in &self.search.links.cohorts[cohort] {
            if borrows(child as usize) {
                self.cohort(child as usize, without, found);
            }
        }
        for &child in &self.search.links.queues[cohort] {
            if borrows(child as usize) {
                self.queue(child as usize, found);
            }
        }
    }

    fn queue(&self, queue: usize, found: &mut Vec<Candidate>) {
        if !self.search.may_give(queue, self.request, self.policies.reclaim) {
            return;
        }
        for &id in &self.search.store.queues[queue].admitted {
            if self.search.candidate(id, self.request, self.policies.reclaim) {
                let while_borrowing = self.right == Right::Hierarchy || self.lower(self.search.workload(id));
                found.push(Candidate { id, right: self.right, while_borrowing, common: self.common });
            }
        }
    }

    /// True if it may be preempted by a queue that borrows.
    fn lower(&self, workload: &Workload) -> bool {
        self.policies.borrow.is_some_and(|borrow| {
            workload.priority < self.request.priority && borrow.threshold.is_none_or(|most| workload.priority <= most)
        })
    }
}
