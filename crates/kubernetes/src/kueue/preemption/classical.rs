//! Preemption without fair sharing.

use super::candidates::{Candidate, Right, collect};
use super::{Request, Search};
use crate::kueue::nomination::Target;

/// The victims of the first attempt that makes room.
pub(super) fn find(search: &mut Search<'_>, request: &Request<'_>) -> Vec<Target> {
    let candidates = collect(search, request);
    if candidates.is_empty() {
        return Vec::new();
    }
    for &borrowing in attempts(search, request, &candidates) {
        if let Some(targets) = attempt(search, request, &candidates, borrowing) {
            return targets;
        }
    }
    Vec::new()
}

/// Whether the preemptor may borrow, for each attempt.
fn attempts(search: &Search<'_>, request: &Request<'_>, candidates: &[Candidate]) -> &'static [bool] {
    let no_borrowing = search.model.queues[request.queue].preemption.borrow.is_none();
    let others = candidates.iter().any(|candidate| candidate.right != Right::Own);
    let hierarchy = candidates.iter().any(|candidate| candidate.right == Right::Hierarchy);
    let under = |&cell: &u32| search.quotas.usage(request.queue, cell) < search.quotas.quota(request.queue, cell);
    if !others || (no_borrowing && !request.short.iter().all(under)) {
        &[true]
    } else if no_borrowing && !hierarchy {
        &[false, true]
    } else {
        &[true, false]
    }
}

fn attempt(
    search: &mut Search<'_>,
    request: &Request<'_>,
    candidates: &[Candidate],
    borrowing: bool,
) -> Option<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    let mut made_room = false;
    for candidate in candidates {
        if !takeable(search, request, candidate, borrowing) {
            continue;
        }
        search.take_away([candidate.id]);
        targets.push(Target { workload: candidate.id, reason: candidate.reason() });
        if search.fits(request, borrowing) {
            made_room = true;
            break;
        }
    }
    if made_room {
        search.fill_back(&mut targets, |search| search.fits(request, borrowing));
    }
    search.put_back(targets.iter().map(|target| target.workload));
    made_room.then_some(targets)
}

/// A queue that is back in its quota, or under a cohort that is, gives nothing more.
fn takeable(search: &Search<'_>, request: &Request<'_>, candidate: &Candidate, borrowing: bool) -> bool {
    if candidate.right == Right::Own {
        return true;
    }
    if borrowing && !candidate.while_borrowing {
        return false;
    }
    let queue = search.workload(candidate.id).queue as usize;
    let mut below = search.quotas.path(queue).take_while(|&node| node != candidate.common);
    below.all(|node| !search.within(node, request.short))
}
