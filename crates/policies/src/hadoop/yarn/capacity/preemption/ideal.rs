//! What each queue should have, from the root down: what it uses, up to its guarantee; then what is left goes to the queues that lack
//! most.
//!
//! **Source.** `AbstractPreemptableResourceCalculator`, `PreemptableResourceCalculator` and `TempQueuePerPartition` of Hadoop 3.4.1.

use std::cmp::Ordering;

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, View};

use crate::hadoop::yarn::capacity::YarnCapacity;
use crate::hadoop::yarn::capacity::amounts::{Amounts, PARTS};
use crate::hadoop::yarn::capacity::calculator::Calculator;
use crate::hadoop::yarn::capacity::labels::Walk;

/// What counts as lacking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// True if requests for which nodes are kept do.
    pub(super) counts_reserved: bool,
    /// True if queues may grow beyond both their guarantee and what they use.
    pub(super) balances: bool,
}

/// A queue.
#[derive(Debug, Clone, Default)]
struct Share {
    children: Vec<usize>,
    used: Amounts,
    guarantee: Amounts,
    most: Amounts,
    /// What its applications ask for, as far as their users may have it; and without that for which nodes are kept.
    pending: Amounts,
    pending_unreserved: Amounts,
    is_spared: bool,
    priority: i32,
    /// What it uses beyond its guarantee that may be taken back, and that may not.
    extra: Amounts,
    untouchable: Amounts,
    ideal: Amounts,
    to_preempt: Amounts,
    /// Its part of what is left, by resource.
    normalized: [f64; PARTS],
}

/// All queues, by their places in the tree.
#[derive(Debug)]
pub(super) struct Ideal {
    shares: Vec<Share>,
    /// The queues that wanted more, in the order in which they were served.
    underserved: Vec<usize>,
    needs: Needs,
    by: Calculator,
}

impl Ideal {
    /// The shares of all queues, if so much may be taken back in all.
    pub(super) fn of(policy: &YarnCapacity, needs: Needs, allowed: Amounts, view: View<'_>) -> Self {
        let mut ideal = Self { shares: Vec::new(), underserved: Vec::new(), needs, by: policy.by(0, view) };
        for (place, queue) in policy.queues.iter().enumerate() {
            let is_leaf = policy.tree.is_leaf(place);
            let pending = |less: bool| if is_leaf { pending(policy, place, less, view) } else { Amounts::NONE };
            ideal.shares.push(Share {
                children: policy.tree.get(place).children.clone(),
                used: queue.used.into(),
                guarantee: queue.guarantee,
                most: queue.most,
                pending: pending(false),
                pending_unreserved: pending(true),
                is_spared: policy.is_spared(place),
                priority: policy.tree.get(place).settings.priority.unwrap_or(0),
                ..Share::default()
            });
        }
        // Parents come before their children.
        for place in (0..ideal.shares.len()).rev() {
            let children = ideal.shares[place].children.clone();
            for child in children {
                let (pending, unreserved) = (ideal.shares[child].pending, ideal.shares[child].pending_unreserved);
                ideal.shares[place].pending += pending;
                ideal.shares[place].pending_unreserved += unreserved;
            }
            ideal.find_extra(place);
        }
        ideal.shares[0].ideal = ideal.shares[0].guarantee;
        for place in 0..ideal.shares.len() {
            if !ideal.shares[place].children.is_empty() {
                ideal.distribute(place, allowed);
            }
        }
        ideal
    }

    /// The queues that wanted more than they have, the most underserved first.
    pub(super) fn underserved(&self) -> Vec<usize> {
        let mut once = Vec::new();
        for &place in &self.underserved {
            if !once.contains(&place) {
                once.push(place);
            }
        }
        once
    }

    pub(super) fn leaves(&self) -> Vec<usize> {
        (0..self.shares.len()).filter(|&place| self.shares[place].children.is_empty()).collect()
    }

    /// What a leaf is to give back now (`calculateResToObtainByPartitionForLeafQueues`).
    pub(super) fn to_obtain(&self, leaf: usize, ignored: f64, unnatural: f64, by: Calculator) -> Amounts {
        let share = &self.shares[leaf];
        if by.compare(share.used, share.guarantee.times(1.0 + ignored)).is_le() {
            return Amounts::NONE;
        }
        if self.needs.counts_reserved || by.compare(share.to_preempt, Amounts::NONE).is_le() {
            return share.to_preempt;
        }
        by.times_up_to_units(share.to_preempt, [unnatural; PARTS])
    }

    fn find_extra(&mut self, place: usize) {
        let by = self.by;
        let share = &self.shares[place];
        let extra = share.used - share.guarantee;
        let extra = if by.compare(extra, Amounts::NONE).is_lt() { Amounts::NONE } else { extra };
        let of_children = share.children.iter().fold(Amounts::NONE, |sum, &child| sum + self.shares[child].extra);
        let (touchable, untouchable) = if share.children.is_empty() {
            if share.is_spared { (Amounts::NONE, extra) } else { (extra, Amounts::NONE) }
        } else if by.compare(of_children, extra).is_ge() {
            (by.least(of_children, extra), Amounts::NONE)
        } else {
            (by.least(of_children, extra), extra - of_children)
        };
        (self.shares[place].extra, self.shares[place].untouchable) = (touchable, untouchable);
    }

    /// What the queues below one should have (`computeIdealResourceDistribution`).
    fn distribute(&mut self, parent: usize, allowed: Amounts) {
        let by = self.by;
        let queues = self.shares[parent].children.clone();
        let mut unassigned = self.shares[parent].ideal;
        let (some, none): (Vec<usize>, Vec<usize>) =
            queues.iter().partition(|&&place| by.compare(self.shares[place].guarantee, Amounts::NONE).is_gt());
        self.assign(&some, &mut unassigned, false);
        if !none.is_empty() && by.compare(unassigned, Amounts::NONE).is_gt() {
            self.assign(&none, &mut unassigned, true);
        }
        let mut needed = Amounts::NONE;
        for share in queues.iter().map(|&place| &self.shares[place]) {
            if by.compare(share.used, share.ideal).is_gt() {
                needed += share.used - share.ideal;
            }
        }
        let factor = if by.compare(needed, allowed).is_gt() { by.share_of(allowed, needed) } else { 1.0 };
        for place in queues {
            let share = &mut self.shares[place];
            let least = by.most(by.least(share.used + share.pending, share.guarantee), share.ideal);
            share.to_preempt = if by.compare(share.used, least).is_gt() {
                (share.used - least).times(factor.into())
            } else {
                Amounts::NONE
            };
        }
    }

    /// Hands out what is left to queues that want more, the most underserved first (`computeFixpointAllocation`).
    fn assign(&mut self, queues: &[usize], unassigned: &mut Amounts, alike: bool) {
        let by = self.by;
        let mut wanting = Vec::new();
        for &place in queues {
            let share = &mut self.shares[place];
            let is_over = by.compare(share.used, share.guarantee).is_gt();
            share.ideal = if is_over { share.guarantee + share.untouchable } else { share.used };
            *unassigned -= share.ideal;
            if by.compare(share.ideal, share.used + share.pending).is_lt() {
                wanting.push(place);
            }
        }
        while !wanting.is_empty() && by.compare(*unassigned, Amounts::NONE).is_gt() {
            self.normalize(&wanting, alike);
            wanting.sort_by(|&a, &b| self.compare(a, b));
            let first = wanting[0];
            let alike = wanting.iter().take_while(|&&place| self.compare(first, place).is_eq()).count();
            let round = *unassigned;
            let underserved: Vec<usize> = wanting.drain(..alike).collect();
            self.underserved.extend(underserved.iter().chain(wanting.first()));
            for place in underserved {
                if by.lacks_any(*unassigned) {
                    // Those that are left are not asked again.
                    break;
                }
                let offered = by.parts_up_to_units(round, self.shares[place].normalized);
                let offered = offered.least_of_each(*unassigned);
                let accepted = self.offer(place, offered);
                if by.compare(accepted, Amounts::NONE).is_gt() {
                    wanting.push(place);
                }
                *unassigned = (*unassigned - accepted).at_least_none();
            }
        }
        wanting.sort_by(|&a, &b| self.compare(a, b));
        self.underserved.extend(wanting);
    }

    /// The parts that queues have in what is left, by their guarantees.
    fn normalize(&mut self, queues: &[usize], alike: bool) {
        let sum = queues.iter().fold(Amounts::NONE, |sum, &place| sum + self.shares[place].guarantee);
        // In single precision, which decides where a part is a whole number.
        let part = |value: i64, all: i64| if all == 0 { 0.0 } else { f64::from(value as f32 / all as f32) };
        for &place in queues {
            let guarantee = self.shares[place].guarantee;
            self.shares[place].normalized =
                if alike { [1.0 / queues.len() as f64; PARTS] } else { guarantee.each(sum, part) };
        }
    }

    /// The queue that should have the smaller part of its guarantee so far is first (`TQComparator`).
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let part = |place: usize| {
            let share = &self.shares[place];
            let has = self.by.compare(share.guarantee, Amounts::NONE).is_gt();
            if has { f64::from(self.by.share_of(share.ideal, share.guarantee)) } else { f64::from(i32::MAX) }
        };
        let (of_a, of_b) = (part(a), part(b));
        let priority = |place: usize| self.shares[place].priority;
        if priority(a) != priority(b) && (of_a < 1.0) == (of_b < 1.0) {
            return priority(b).cmp(&priority(a));
        }
        of_a.total_cmp(&of_b)
    }

    /// A queue takes what it can use of an offer. Returns how much it took (`TempQueuePerPartition.offer`).
    fn offer(&mut self, place: usize, offered: Amounts) -> Amounts {
        let (by, needs) = (self.by, self.needs);
        let share = &mut self.shares[place];
        let below_most = share.most.minus(share.ideal);
        let pending = if needs.counts_reserved { share.pending } else { share.pending_unreserved };
        let wanted = by.least(offered, share.used + pending - share.ideal);
        let mut accepted = below_most.least_of_each(wanted);
        if !needs.balances && share.children.is_empty() {
            let left = by.most(by.most(share.used, share.guarantee) - share.ideal, Amounts::NONE);
            accepted = by.least(accepted, left);
        }
        let accepted = accepted.at_least_none().least_of_each(offered);
        share.ideal += accepted;
        accepted
    }
}

/// What the active applications of a leaf ask for, as far as their users may have it
/// (`getTotalPendingResourcesConsideringUserLimit`).
fn pending(policy: &YarnCapacity, leaf: usize, without_reserved: bool, view: View<'_>) -> Amounts {
    let queue = &policy.queues[leaf];
    let mut left: Vec<Option<Amounts>> = vec![None; queue.users.len()];
    let mut sum = Amounts::NONE;
    for &job in &queue.active {
        let user = policy.jobs[job].user;
        let left = left[user].get_or_insert_with(|| {
            policy.user_limit(job, view.yarn().smallest(), Walk::default(), view).minus(queue.users[user].used.into())
        });
        let reserved = if without_reserved { policy.reserved_by(job, view) } else { Amounts::NONE };
        let pending = asked(job, view).minus(reserved).least_of_each(*left);
        sum += pending;
        *left -= pending;
    }
    sum
}

/// What an application asks for.
pub(super) fn asked(job: JobId, view: View<'_>) -> Amounts {
    let of = |ask: Ask| view.yarn().demand_of(job, ask).times(view.yarn().app(job).asked(ask).into());
    Ask::ALL.into_iter().fold(Amounts::NONE, |sum, ask| sum + of(ask).into())
}
