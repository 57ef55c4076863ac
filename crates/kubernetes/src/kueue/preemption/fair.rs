//! Preemption with fair sharing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Request, Search, order};
use crate::kueue::draw;
use crate::kueue::fair::Share;
use crate::kueue::model::{FairSharing, Policy, Strategy};
use crate::kueue::nomination::{Reason, Target};

/// The victims for a request, none if no set of them helps.
pub(super) fn find(search: &mut Search<'_>, request: &Request<'_>, strategies: &FairSharing) -> Vec<Target> {
    let candidates = candidates(search, request);
    if candidates.is_empty() {
        return Vec::new();
    }
    // Shares count the request.
    search.quotas.add(request.queue, request.usage);
    let mut attempt = Attempt { targets: Vec::new(), left: Vec::new() };
    let mut made_room = attempt.first(search, request, &candidates, strategies.first);
    if !made_room && strategies.then_initial {
        made_room = attempt.second(search, request);
    }
    let mut targets = attempt.targets;
    if made_room {
        search.fill_back(&mut targets, |search| fits(search, request));
    }
    search.put_back(targets.iter().map(|target| target.workload));
    search.quotas.remove(request.queue, request.usage);
    if made_room { targets } else { Vec::new() }
}

/// Candidates of the own queue and of all that borrow.
fn candidates(search: &Search<'_>, request: &Request<'_>) -> Vec<u32> {
    let policies = search.model.queues[request.queue].preemption;
    let mut found = Vec::new();
    let mut add = |queue: usize, policy: Policy| {
        let admitted = &search.store.queues[queue].admitted;
        let asked = if search.may_give(queue, request, policy) { &admitted[..] } else { &[] };
        for &id in asked {
            if search.candidate(id, request, policy) {
                found.push(id);
            }
        }
    };
    if policies.within != Policy::Never {
        add(request.queue, policies.within);
    }
    if policies.reclaim != Policy::Never && search.quotas.above(request.queue).is_some() {
        for &queue in search.links.tree_of(search.quotas.root(request.queue)) {
            if queue as usize != request.queue && !search.within(queue as usize, request.short) {
                add(queue as usize, policies.reclaim);
            }
        }
    }
    found.sort_by_cached_key(|&id| order(search.workload(id), request.queue));
    found
}

/// True if the request fits; it is booked while shares are compared.
fn fits(search: &mut Search<'_>, request: &Request<'_>) -> bool {
    search.quotas.remove(request.queue, request.usage);
    let fits = search.fits(request, true);
    search.quotas.add(request.queue, request.usage);
    fits
}

struct Attempt {
    targets: Vec<Target>,
    /// Those that the first strategy spared.
    left: Vec<u32>,
}

impl Attempt {
    /// Takes a victim; true if there is room now.
    fn take(&mut self, search: &mut Search<'_>, request: &Request<'_>, workload: u32, reason: Reason) -> bool {
        search.take_away([workload]);
        self.targets.push(Target { workload, reason });
        fits(search, request)
    }

    fn first(
        &mut self,
        search: &mut Search<'_>,
        request: &Request<'_>,
        candidates: &[u32],
        strategy: Strategy,
    ) -> bool {
        let mut queue = Victims::new(search, request, candidates);
        // Decided before any victim is taken: those of the own queue do not make room to reclaim more.
        let reclaims = search.within(request.queue, request.short);
        while let Some(target) = queue.next(search) {
            if target == request.queue || reclaims {
                let in_queue = target == request.queue;
                let reason = if in_queue { Reason::InClusterQueue } else { Reason::InCohortReclamation };
                let Some(id) = queue.pop(target) else { continue };
                if self.take(search, request, id, reason) {
                    return true;
                }
                continue;
            }
            if self.first_of(search, request, &mut queue, target, strategy) {
                return true;
            }
        }
        false
    }

    /// Takes the first workload of a queue that the strategy gives up; true if there is room now.
    fn first_of(
        &mut self,
        search: &mut Search<'_>,
        request: &Request<'_>,
        queue: &mut Victims,
        target: usize,
        strategy: Strategy,
    ) -> bool {
        let (mine, theirs) = below_common(search, request.queue, target);
        let (share, before) = (search.share(mine), search.share(theirs));
        while let Some(id) = queue.pop(target) {
            let given_up = match strategy {
                Strategy::FinalShare => {
                    search.take_away([id]);
                    let after = search.share(theirs);
                    search.put_back([id]);
                    share.cmp(&after).is_le()
                }
                Strategy::InitialShare => share.cmp(&before).is_lt(),
            };
            if given_up {
                return self.take(search, request, id, Reason::InCohortFairSharing);
            }
            self.left.push(id);
        }
        false
    }

    /// Takes at most one workload of each queue.
    fn second(&mut self, search: &mut Search<'_>, request: &Request<'_>) -> bool {
        let left = std::mem::take(&mut self.left);
        let mut queue = Victims::new(search, request, &left);
        while let Some(target) = queue.next(search) {
            let (mine, theirs) = below_common(search, request.queue, target);
            if search.share(mine).cmp(&search.share(theirs)).is_lt()
                && let Some(id) = queue.pop(target)
                && self.take(search, request, id, Reason::InCohortFairSharing)
            {
                return true;
            }
            queue.drop_queue(target);
        }
        false
    }
}

impl Search<'_> {
    fn share(&self, node: usize) -> Share {
        self.shares.of(self.quotas, node)
    }
}

/// The two nodes just below the common ancestor of two queues.
fn below_common(search: &Search<'_>, mine: usize, theirs: usize) -> (usize, usize) {
    let path: Vec<usize> = search.quotas.path(mine).collect();
    let mut below = theirs;
    for node in search.quotas.path(theirs) {
        if let Some(at) = path.iter().position(|&other| other == node) {
            return (path[at.saturating_sub(1)], below);
        }
        below = node;
    }
    (mine, theirs)
}

/// The queue of victims: the queue to take from next is looked up from the root down, by the highest share.
struct Victims {
    preemptor: usize,
    root: usize,
    /// The nodes above the preemptor.
    path: Vec<usize>,
    left: BTreeMap<usize, VecDeque<u32>>,
    pruned: BTreeSet<usize>,
}

impl Victims {
    fn new(search: &Search<'_>, request: &Request<'_>, candidates: &[u32]) -> Self {
        let mut left: BTreeMap<usize, VecDeque<u32>> = BTreeMap::new();
        for &id in candidates {
            left.entry(search.workload(id).queue as usize).or_default().push_back(id);
        }
        let path: Vec<usize> = search.quotas.path(request.queue).skip(1).collect();
        let root = path.last().copied().unwrap_or(request.queue);
        Self { preemptor: request.queue, root, path, left, pruned: BTreeSet::new() }
    }

    fn has(&self, queue: usize) -> bool {
        self.left.get(&queue).is_some_and(|left| !left.is_empty())
    }

    fn pop(&mut self, queue: usize) -> Option<u32> {
        self.left.get_mut(&queue)?.pop_front()
    }

    fn drop_queue(&mut self, queue: usize) {
        self.left.remove(&queue);
    }

    fn next(&mut self, search: &Search<'_>) -> Option<usize> {
        if self.path.is_empty() {
            return self.has(self.root).then_some(self.root);
        }
        while !self.pruned.contains(&self.root) {
            if let Some(queue) = self.descend(search) {
                return Some(queue);
            }
        }
        None
    }

    /// Goes down once; none if a cohort without candidates was found and pruned on the way.
    fn descend(&mut self, search: &Search<'_>) -> Option<usize> {
        let mut cohort = self.root;
        loop {
            let queue = self.highest_queue(search, cohort);
            let below = self.highest_cohort(search, cohort);
            match (queue, below) {
                (None, None) => {
                    self.pruned.insert(cohort);
                    return None;
                }
                (Some((queue, share)), Some((below, of_cohort))) => {
                    if of_cohort.cmp(&share).is_lt() {
                        return Some(queue);
                    }
                    cohort = below;
                }
                (Some((queue, _)), None) => return Some(queue),
                (None, Some((below, _))) => cohort = below,
            }
        }
    }

    fn highest_queue(&mut self, search: &Search<'_>, cohort: usize) -> Option<(usize, Share)> {
        let mut highest: Option<(usize, Share)> = None;
        for &queue in &search.links.queues[cohort] {
            let queue = queue as usize;
            if self.pruned.contains(&queue) {
                continue;
            }
            let share = search.share(queue);
            if !self.has(queue) || (!share.borrows() && queue != self.preemptor) {
                self.pruned.insert(queue);
            } else if highest.as_ref().is_none_or(|(best, most)| {
                share.cmp(most).is_gt()
                    || (share.cmp(most).is_eq() && self.first(search, queue) < self.first(search, *best))
            }) {
                highest = Some((queue, share));
            }
        }
        highest
    }

    /// What compares two queues of equal share: their first candidates.
    fn first(&self, search: &Search<'_>, queue: usize) -> impl Ord + use<> {
        let first = self.left.get(&queue).and_then(VecDeque::front);
        first.map(|&id| order(search.workload(id), self.preemptor))
    }

    /// Of equal cohorts one is drawn.
    fn highest_cohort(&mut self, search: &Search<'_>, cohort: usize) -> Option<(usize, Share)> {
        let seed = search.model.settings.seed;
        let drawn = |node: usize| draw::key(seed, node as u64, 0);
        let mut highest: Option<(usize, Share)> = None;
        for &child in &search.links.cohorts[cohort] {
            let child = child as usize;
            if self.pruned.contains(&child) {
                continue;
            }
            let share = search.share(child);
            if !share.borrows() && !self.path.contains(&child) {
                self.pruned.insert(child);
            } else if highest.as_ref().is_none_or(|(best, most)| {
                share.cmp(most).is_gt() || (share.cmp(most).is_eq() && drawn(child) > drawn(*best))
            }) {
                highest = Some((child, share));
            }
        }
        highest
    }
}
