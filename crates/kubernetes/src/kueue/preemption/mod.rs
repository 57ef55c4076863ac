//! Who is preempted for a workload.

mod candidates;
mod classical;
mod fair;

use super::links::Links;
use super::model::{Model, Policy};
use super::nomination::Target;
use super::queue::Store;
use super::quota::Quotas;
use super::state::{State, Workload};
use crate::kueue::fair::Shares;

/// What room is to be made for.
pub(crate) struct Request<'a> {
    pub(crate) queue: usize,
    pub(crate) priority: i64,
    pub(crate) created: i64,
    pub(crate) usage: &'a [(u32, i64)],
    /// The cells of which too little is free.
    pub(crate) short: &'a [u32],
}

/// A trial on the quotas; whatever it takes away it puts back.
pub(crate) struct Search<'a> {
    pub(crate) model: &'a Model,
    pub(crate) links: &'a Links,
    pub(crate) store: &'a Store,
    pub(crate) shares: &'a Shares,
    pub(crate) quotas: &'a mut Quotas,
    /// Victims of this cycle, which are gone in this trial.
    pub(crate) without: &'a [u32],
}

impl Search<'_> {
    /// The victims for a request; none if no set of them helps.
    pub(crate) fn find(&mut self, request: &Request<'_>) -> Vec<Target> {
        match &self.model.settings.fair_sharing {
            Some(strategies) => fair::find(self, request, strategies),
            None => classical::find(self, request),
        }
    }

    /// True if a queue may have admitted anyone whom the policy gives up.
    fn may_give(&self, queue: usize, request: &Request<'_>, policy: Policy) -> bool {
        self.store.queues[queue].lowest().is_some_and(|lowest| match policy {
            Policy::Never => false,
            Policy::LowerPriority => lowest < request.priority,
            Policy::LowerOrNewerEqualPriority => lowest <= request.priority,
            Policy::Any => true,
        })
    }

    /// True if a workload may be a candidate: it holds something of what is short, and the policy gives it up.
    fn candidate(&self, id: u32, request: &Request<'_>, policy: Policy) -> bool {
        let workload = self.workload(id);
        uses(workload, request.short) && allows(policy, request, workload) && !self.without.contains(&id)
    }

    pub(crate) fn workload(&self, id: u32) -> &Workload {
        &self.store.workloads[id as usize]
    }

    /// Takes workloads off the quotas for a trial.
    pub(crate) fn take_away(&mut self, ids: impl IntoIterator<Item = u32>) {
        for id in ids {
            let workload = &self.store.workloads[id as usize];
            self.quotas.remove(workload.queue as usize, &workload.usage);
        }
    }

    /// The opposite of [`Self::take_away`].
    pub(crate) fn put_back(&mut self, ids: impl IntoIterator<Item = u32>) {
        for id in ids {
            let workload = &self.store.workloads[id as usize];
            self.quotas.add(workload.queue as usize, &workload.usage);
        }
    }

    fn fits(&self, request: &Request<'_>, borrowing: bool) -> bool {
        request.usage.iter().all(|&(cell, value)| {
            (borrowing || self.quotas.within(request.queue, cell, value))
                && value <= self.quotas.available(request.queue, cell)
        })
    }

    /// True if a node stays within its quota in all of the cells.
    fn within(&self, node: usize, cells: &[u32]) -> bool {
        cells.iter().all(|&cell| self.quotas.within(node, cell, 0))
    }

    /// From the last but one backwards, each victim that is not needed is put back; the last of the list takes its slot.
    fn fill_back(&mut self, targets: &mut Vec<Target>, fits: impl Fn(&mut Self) -> bool) {
        for at in (0..targets.len().saturating_sub(1)).rev() {
            self.put_back([targets[at].workload]);
            if fits(self) {
                targets.swap_remove(at);
            } else {
                self.take_away([targets[at].workload]);
            }
        }
    }
}

/// True if a policy gives up `victim` for the request.
fn allows(policy: Policy, request: &Request<'_>, victim: &Workload) -> bool {
    match policy {
        Policy::Never => false,
        Policy::LowerPriority => victim.priority < request.priority,
        Policy::LowerOrNewerEqualPriority => {
            victim.priority < request.priority
                || (victim.priority == request.priority && request.created < victim.created)
        }
        Policy::Any => true,
    }
}

/// True if a workload holds something of one of the cells.
fn uses(workload: &Workload, cells: &[u32]) -> bool {
    workload.usage.iter().any(|(cell, _)| cells.contains(cell))
}

/// Evicted ones first, then other queues, lower priority, later admission, UID.
fn order(workload: &Workload, queue: usize) -> (bool, bool, i64, std::cmp::Reverse<i64>, u64) {
    let in_queue = workload.queue as usize == queue;
    (workload.state != State::Evicted, in_queue, workload.priority, std::cmp::Reverse(workload.admitted), workload.uid)
}
