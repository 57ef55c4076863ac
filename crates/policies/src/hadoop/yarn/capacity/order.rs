//! Which queue, and which application of a queue, is served first (rules C3 and K8).

use std::cmp::Ordering;

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, Resources, View};
use resched_tables::model::Priority;

use super::YarnCapacity;
use super::calculator::{Calculator, part};
use super::state::Queue;
use crate::parts::whole_requests::Next;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::{Order, YarnQueue};

/// How much of its guarantee a queue uses (`CSQueueUtils.updateQueueStatistics`).
pub(super) fn fullness(queue: &Queue, by: Calculator) -> f32 {
    let guaranteed = part(by.cluster, queue.shares.capacity);
    // Nothing of one resource alone is still a guarantee.
    if guaranteed == Resources::NONE { 0.0 } else { by.divide(queue.used, guaranteed) }
}

impl YarnCapacity {
    /// Puts the queues below one into the order in which they are served.
    pub(super) fn sort_children(&self, parent: usize, order: &mut [usize], by: Calculator) {
        let by_priority = self.tree.get(parent).settings.order == Some(Order::PriorityUtilization);
        if self.rules.larger_queue_first || by_priority {
            order.sort_by(|&a, &b| self.compare_queues(a, b, by_priority, by));
        } else {
            order.sort_by(|&a, &b| {
                let fullness = |place: usize| fullness(&self.queues[place], by);
                fullness(a).total_cmp(&fullness(b)).then_with(|| self.tree.get(a).path.cmp(&self.tree.get(b).path))
            });
        }
    }

    /// The emptier one, or of equals the larger one, is first; those that are guaranteed nothing are last. By priority, the higher one of
    /// two that are both below their guarantees, or both not, is first (`PriorityUtilizationQueueOrderingPolicy`).
    fn compare_queues(&self, a: usize, b: usize, by_priority: bool, by: Calculator) -> Ordering {
        // With vectors, Hadoop 3.4.1 takes the shares of all queues for 0, so what they use of the cluster decides.
        let has_vectors = self.tree.get(QueueTree::<YarnQueue>::ROOT).settings.vectors == Some(true);
        let part = self.walk.part;
        let capacity = |place: usize| if has_vectors { 0.0 } else { self.capacity_of(place, part) };
        let (of_a, of_b) = (capacity(a), capacity(b));
        let is_blind = (!self.sees(a)).cmp(&!self.sees(b));
        let has_none = is_blind.then((of_a == 0.0).cmp(&(of_b == 0.0)));
        if has_none != Ordering::Equal {
            return has_none;
        }
        let used = |place: usize| {
            if of_a > 0.0 { self.used_share(place, part, by) } else { self.absolute_share(place, part, by) }
        };
        let priority = |place: usize| self.tree.get(place).settings.priority.unwrap_or(0);
        let (used_a, used_b) = (used(a), used(b));
        let is_alike = (used_a < 1.0) == (used_b < 1.0);
        if by_priority && priority(a) != priority(b) && is_alike {
            return priority(b).cmp(&priority(a));
        }
        used_a.total_cmp(&used_b).then_with(|| self.larger_first(a, b))
    }

    /// The larger of two queues, by their amounts if both have them (`Resource.compareTo`).
    fn larger_first(&self, a: usize, b: usize) -> Ordering {
        let amount = |place: usize| {
            let settings = &self.tree.get(place).settings;
            (settings.memory_mb.unwrap_or(0), settings.vcores.unwrap_or(0))
        };
        if amount(a) != (0, 0) && amount(b) != (0, 0) {
            return amount(b).cmp(&amount(a));
        }
        self.capacity_of(b, self.walk.part).total_cmp(&self.capacity_of(a, self.walk.part))
    }

    /// The part of its guarantee that a queue uses (`CSQueueUtils.updateUsedCapacity`).
    pub(super) fn used_share(&self, place: usize, part: usize, by: Calculator) -> f32 {
        by.share_of(self.used(place, part), by.most(self.guarantee_of(place, part), by.unit()))
    }

    fn absolute_share(&self, place: usize, part: usize, by: Calculator) -> f32 {
        by.share_of(self.used(place, part), by.all())
    }

    /// Puts the applications of a queue into an order by what they use, if it has one (`FairOrderingPolicy`).
    pub(super) fn sort_applications(&mut self, leaf: usize, view: View<'_>) {
        let settings = &self.tree.get(leaf).settings;
        if settings.order != Some(Order::Fair) {
            return;
        }
        let by_size = settings.size_based_weight == Some(true);
        let mut order = std::mem::take(&mut self.queues[leaf].by_use);
        order.clear();
        order.extend(self.queues[leaf].active.iter().map(|&job| (magnitude(job, by_size, view), job)));
        order.sort_by(|a, b| {
            let start = |job: JobId| view.job(job).submit();
            let demands_nothing = |job: JobId| demand(job, view) == 0;
            let is_equal = || start(a.1).cmp(&start(b.1)).then(demands_nothing(a.1).cmp(&demands_nothing(b.1)));
            a.0.total_cmp(&b.0).then_with(is_equal).then(a.1.cmp(&b.1))
        });
        self.queues[leaf].by_use = order;
    }

    /// The active application that is served at that place.
    pub(super) fn served_at(&self, leaf: usize, place: usize) -> JobId {
        match self.next {
            Next::Smallest if self.whole.is_none() => self.queues[leaf].by_size[place].1,
            _ if self.tree.get(leaf).settings.order == Some(Order::Fair) => self.queues[leaf].by_use[place].1,
            Next::Smallest | Next::Earliest => self.queues[leaf].active[place],
        }
    }

    /// Where an application stands before others that were submitted earlier: those of a higher priority, as far as the cluster has any.
    pub(super) fn rank(&self, job: JobId, view: View<'_>) -> i32 {
        let priority = match view.job(job).priority() {
            Priority::VeryLow => 1,
            Priority::Low => 2,
            Priority::Normal => 3,
            Priority::High => 4,
            Priority::VeryHigh => 5,
        };
        -priority.min(self.most_priority)
    }
}

/// What an application uses, MB, reservations left out; with weights by size, divided by the logarithm of what it uses and asks for.
fn magnitude(job: JobId, by_size: bool, view: View<'_>) -> f64 {
    let used = view.yarn().app(job).held().memory as f64;
    if by_size { used / ((demand(job, view) as f64).ln_1p() / 2.0_f64.ln()) } else { used }
}

/// What an application uses and asks for, MB.
fn demand(job: JobId, view: View<'_>) -> u64 {
    let app = view.yarn().app(job);
    let asked = |ask: Ask| view.yarn().demand(ask).memory * u64::from(app.asked(ask));
    app.held().memory + Ask::ALL.into_iter().map(asked).sum::<u64>()
}
