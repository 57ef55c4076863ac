//! What the users of a queue may have (rules C7, K5 and K7), and what is left for an application (rules C4 and K9).

use resched_sim::JobId;
use resched_sim::hadoop::Resources;
use resched_sim::hadoop::{AmState, Ask, View};

use super::YarnCapacity;
use super::amounts::Amounts;
use super::calculator::{Calculator, part};
use super::labels::Walk;
use super::limits::UserLimit;
use super::state::{Asking, Job, Shared};
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;

/// A factor of the limit of users that stands for none.
pub(super) const UNLIMITED: f64 = -1.0;

impl YarnCapacity {
    pub(super) fn minimum_user_limit(&self, leaf: usize) -> u32 {
        self.tree.get(leaf).settings.minimum_user_limit.or(self.defaults.minimum_user_limit).unwrap_or(100)
    }

    pub(super) fn user_limit_factor(&self, leaf: usize) -> f32 {
        self.tree.get(leaf).settings.user_limit_factor.or(self.defaults.user_limit_factor).unwrap_or(1.0) as f32
    }

    /// What the user of a job may have before a container of this size.
    pub(super) fn user_limit(&self, job: JobId, required: Resources, walk: Walk, view: View<'_>) -> Amounts {
        let Job { queue: leaf, user, .. } = self.jobs[job];
        let by = self.by(walk.part, view);
        if self.rules.user_limit_by_use {
            return self.weighted(job, self.shared_limit(leaf, walk, view).limit, by);
        }
        let queue = &self.queues[leaf];
        let factor = self.user_limit_factor(leaf);
        UserLimit {
            calculator: by,
            capacity: queue.shares.capacity,
            used: queue.used,
            users: self.asking_users(leaf, view),
            minimum: self.minimum_user_limit(leaf),
            factor: if factor < 0.0 { 1e6 } else { factor },
        }
        .before(required)
        .scaled(queue.users[user].weight.into())
        .into()
    }

    /// What the user of a job may have, if one of weight 1 may have that.
    pub(super) fn weighted(&self, job: JobId, limit: Amounts, by: Calculator) -> Amounts {
        let Job { queue, user, .. } = self.jobs[job];
        by.down(limit.times(self.queues[queue].users[user].weight.into()))
    }

    /// The weight of a user in a queue: its own setting, or that of the nearest queue above it that has one.
    pub(super) fn weight_of(&self, leaf: usize, user: &str) -> f32 {
        let weight = |place: usize| self.tree.get(place).settings.user_weights.get(user);
        self.tree.with_ancestors(leaf).find_map(weight).map_or(1.0, |&weight| weight as f32)
    }

    /// How many users of a queue ask for containers. An application that waits asks for its master.
    fn asking_users(&self, leaf: usize, view: View<'_>) -> u64 {
        let queue = &self.queues[leaf];
        let asks = |&&job: &&JobId| Ask::ALL.into_iter().any(|ask| view.yarn().app(job).asked(ask) > 0);
        debug_assert!(queue.pending.iter().all(|job| asks(&job)));
        let users = queue.active.iter().filter(asks).map(|&job| self.jobs[job].user);
        let mut others: Vec<usize> = users.filter(|&user| queue.users[user].pending == 0).collect();
        others.sort_unstable();
        others.dedup();
        u64::from(queue.waiting_users) + others.len() as u64
    }

    /// Whether any application of a queue asks for containers, be it active or not.
    pub(super) fn any_asks(&self, leaf: usize, view: View<'_>) -> bool {
        let queue = &self.queues[leaf];
        // All jobs of a queue ask for the same part.
        if self.labels.is_some() && self.part_of_jobs(leaf) != self.part_asked() {
            return false;
        }
        let asks = |&job: &JobId| Ask::ALL.into_iter().any(|ask| view.yarn().app(job).asked(ask) > 0);
        !queue.pending.is_empty() || queue.active.iter().any(asks)
    }

    /// The users of a queue that count as asking (`UsersManager.activateApplication`): a request of an application counts if its user
    /// had an active one when it was made.
    pub(super) fn asking(&self, leaf: usize, part: usize, view: View<'_>) -> Asking {
        let queue = &self.queues[leaf];
        let stamp = queue.stamp.get() + 1;
        queue.stamp.set(stamp);
        let mut all = Asking::default();
        let mut count = |place: usize| {
            let user = &queue.users[place];
            if user.stamp.replace(stamp) != stamp {
                all.users += 1;
                all.weights += user.weight;
                all.used += self.used_by(leaf, place, part);
            }
        };
        queue.users.iter().enumerate().filter(|(_, user)| user.asking > 0).for_each(|(place, _)| count(place));
        for &job in &queue.active {
            let app = view.yarn().app(job);
            let asks = match app.am() {
                AmState::Waiting => self.jobs[job].counts && app.asked(Ask::Am) > 0,
                _ => Ask::ALL.into_iter().any(|ask| app.asked(ask) > 0),
            };
            if asks {
                count(self.jobs[job].user);
            }
        }
        all
    }

    /// What limits the users of a queue now. It is computed anew only when something has changed, so that users who only wait are
    /// counted then (`UsersManager.reComputeUserLimits`).
    pub(super) fn shared_limit(&self, leaf: usize, walk: Walk, view: View<'_>) -> Shared {
        let queue = &self.queues[leaf];
        let asking = self.asking(leaf, walk.part, view);
        let shared = if walk.part == 0 { &queue.shared } else { &queue.parts[walk.part - 1].shared };
        let known = if walk.is_lent { Shared::default() } else { shared.get() };
        if (known.changes, known.asking) == (queue.changes, asking) {
            return known;
        }
        let only_waits = |user: &&super::state::User| user.pending > 0 && user.active == 0;
        let waiting = queue.users.iter().filter(only_waits).count() as u32;
        let by = self.by(walk.part, view);
        let limit = self.limit_of_users(leaf, (asking.used + by.unit(), asking.weights), walk, by);
        let found = Shared { changes: queue.changes, asking, waiting, limit };
        if !walk.is_lent {
            shared.set(found);
        }
        found
    }

    /// What a queue is guaranteed, and what its users have to share: that, or what they use if it is more.
    fn to_share(&self, leaf: usize, part: usize, by: Calculator) -> (Amounts, Amounts) {
        let queue = &self.queues[leaf];
        let ratio = if part == 0 { queue.ratio } else { queue.parts[part - 1].ratio };
        let guarantee = if part == 0 { self.guarantee(leaf, by) } else { self.guarantee_of(leaf, part) };
        let capacity = by.most(guarantee, by.unit());
        let consumed = by.times_up(by.all(), ratio.into());
        (capacity, if by.compare(consumed, capacity).is_lt() { capacity } else { consumed + by.unit() })
    }

    /// What a user of weight 1 may have if all users count, whether they ask or not.
    pub(super) fn limit_of_all_users(&self, leaf: usize, by: Calculator) -> Amounts {
        let users = self.queues[leaf].users.iter().filter(|user| user.active + user.pending > 0);
        let weights = users.fold(0.0, |sum, user| sum + user.weight);
        self.limit_of_users(leaf, (self.to_share(leaf, 0, by).1, weights), Walk::default(), by)
    }

    /// What a user of weight 1 may have (`UsersManager.computeUserLimit`): an equal part of what these users share, but no less than the
    /// minimum, and no more than so many times the guarantee, or than a part that is lent has.
    fn limit_of_users(&self, leaf: usize, (used, weights): (Amounts, f32), walk: Walk, by: Calculator) -> Amounts {
        let (capacity, current) = self.to_share(leaf, walk.part, by);
        let minimum = current.times(self.minimum_user_limit(leaf).into()).divided_by(100);
        let shared = by.most(used.divided(weights), minimum);
        let factor = self.user_limit_factor(leaf);
        let most = if walk.is_lent {
            by.all()
        } else if f64::from(factor) == UNLIMITED {
            by.down(self.most(leaf, walk.part))
        } else {
            capacity.times(factor.into())
        };
        by.up(by.least(shared, most))
    }

    /// What a queue is guaranteed.
    pub(super) fn guarantee(&self, leaf: usize, by: Calculator) -> Amounts {
        let queue = &self.queues[leaf];
        if self.rules.guarantee_unrounded {
            queue.guarantee
        } else {
            by.part_rounded_up(by.cluster, queue.shares.capacity).into()
        }
    }

    // Headroom.

    /// Takes down what a job could still get, by the limit of its user and by what others leave of its queue
    /// (`LeafQueue.computeUserLimitAndSetHeadroom` of 2014).
    pub(super) fn note_headroom(&mut self, job: JobId, user_limit: Amounts, view: View<'_>) {
        if self.rules.headroom_when_asked {
            return;
        }
        let Job { queue, user, .. } = self.jobs[job];
        let by = Calculator::of(view);
        let available = by.part_rounded_down(by.cluster, self.most_available(queue, by));
        let limit = by.least(user_limit, available.into());
        let limit =
            self.partitions.as_ref().map_or(limit, |partition| by.least(limit, partition.limit_of(job, view).into()));
        self.jobs[job].headroom = limit.memory - self.queues[queue].users[user].used.memory as i64;
    }

    /// The share of the cluster that a queue could use, beside what its siblings use and those of the queues above it
    /// (`CSQueueUtils.getAbsoluteMaxAvailCapacity`).
    pub(super) fn most_available(&self, place: usize, by: Calculator) -> f32 {
        let shares = self.queues[place].shares;
        let Some(parent) = self.tree.get(place).parent else { return shares.limit };
        let of_parent = self.most_available(parent, by);
        let all = part(by.cluster, of_parent);
        if by.is_no_divisor(all) {
            return 0.0;
        }
        let by_siblings = by.ratio(self.queues[parent].used.minus(self.queues[place].used), all);
        shares.limit_of_parent.min(1.0 - by_siblings) * of_parent
    }

    /// What a job could still get, MB (`CapacityHeadroomProvider.getHeadroom`).
    pub(super) fn headroom_now(&self, job: JobId, view: View<'_>) -> u64 {
        let Job { queue: leaf, user, part, .. } = self.jobs[job];
        let by = self.by(part, view);
        let limit = self.user_limit(job, view.yarn().smallest(), Walk { part, is_lent: false }, view);
        let of_user = limit.minus(self.used_by(leaf, user, part));
        let most = if part == 0 { self.queues[leaf].limit } else { self.most(leaf, part) };
        let of_queue = most.minus(self.used(leaf, part));
        let free = by.all() - self.used(QueueTree::<YarnQueue>::ROOT, part);
        by.least(free, by.down(of_user.least_of_each(of_queue))).memory.max(0) as u64
    }
}
