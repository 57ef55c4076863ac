//! How many applications of a queue are active: its masters are limited by number (2014) or by what they take (rule K4).

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, View};
use resched_tables::model::Reason;

use super::YarnCapacity;
use super::amounts::Amounts;
use super::calculator::Calculator;
use super::limits::most_active;
use super::state::Job;
use super::users::UNLIMITED;
use crate::queues::yarn_capacity::Shares;

impl YarnCapacity {
    fn am_share(&self, leaf: usize) -> f32 {
        let share = self.tree.get(leaf).settings.maximum_am_share;
        share.or(self.defaults.maximum_am_share).unwrap_or(0.1) as f32
    }

    /// How many applications of a queue, and of one of its users, may be active.
    pub(super) fn most_active(&self, leaf: usize, view: View<'_>) -> (u32, u32) {
        let am_share = self.am_share(leaf);
        let Shares { capacity, limit, .. } = self.queues[leaf].shares;
        let most = most_active(Calculator::of(view), am_share, limit);
        let guaranteed = most_active(Calculator::of(view), am_share, capacity) as f32;
        let share = self.minimum_user_limit(leaf) as f32 / 100.0;
        let factor = self.user_limit_factor(leaf);
        let factor = if factor < 0.0 { 1e6 } else { factor };
        let most_of_user = (guaranteed * share * factor).ceil().max(1.0) as u32;
        (most, most_of_user)
    }

    /// True if an application may become active if so many of its queue, and of its user, may be.
    pub(super) fn may_become_active(&self, job: JobId, (most, most_of_user): (u32, u32)) -> bool {
        let Job { queue, user, .. } = self.jobs[job];
        let queue = &self.queues[queue];
        queue.active.len() < most as usize && queue.users[user].active < most_of_user
    }

    /// Makes an application active that waits.
    pub(super) fn make_active(&mut self, job: JobId, view: View<'_>) {
        let Job { queue, user, size, .. } = self.jobs[job];
        self.end_wait(job);
        let place = self.place_among_active(job);
        let master = Amounts::from(view.yarn().demand(Ask::Am));
        self.change_masters(job, |masters| masters + master);
        let queue = &mut self.queues[queue];
        queue.users[user].active += 1;
        queue.active.insert(place, job);
        if self.partitions.is_some() {
            let place = queue.by_size.partition_point(|&other| other < (size, job));
            queue.by_size.insert(place, (size, job));
        }
    }

    /// An application is not active any more, if it was.
    pub(super) fn end_activity(&mut self, job: JobId, view: View<'_>) {
        let Job { queue, user, size, .. } = self.jobs[job];
        let place = self.place_among_active(job);
        if self.queues[queue].active.get(place) == Some(&job) {
            let master = Amounts::from(view.yarn().demand(Ask::Am));
            self.change_masters(job, |masters| masters - master);
            self.queues[queue].active.remove(place);
            self.queues[queue].users[user].active -= 1;
        }
        let queue = &mut self.queues[queue];
        if let Ok(place) = queue.by_size.binary_search(&(size, job)) {
            queue.by_size.remove(place);
        }
    }

    fn change_masters(&mut self, job: JobId, change: impl Fn(Amounts) -> Amounts) {
        let Job { queue, user, part, .. } = self.jobs[job];
        let queue = &mut self.queues[queue];
        let user = &mut queue.users[user];
        let (of_queue, of_user) = match part {
            0 => (&mut queue.masters, &mut user.masters),
            part => (&mut queue.parts[part - 1].masters, &mut user.parts[part - 1].masters),
        };
        (*of_queue, *of_user) = (change(*of_queue), change(*of_user));
    }

    /// What the masters of a queue take, and of that those of a user.
    fn masters_of(&self, leaf: usize, user: usize, part: usize) -> (Amounts, Amounts) {
        let (queue, user) = (&self.queues[leaf], &self.queues[leaf].users[user]);
        match part {
            0 => (queue.masters, user.masters),
            part => (queue.parts[part - 1].masters, user.parts[part - 1].masters),
        }
    }

    /// Lets as many applications of a queue become active as its limits allow. Those that wait for whole requests become active when
    /// these are granted.
    pub(super) fn activate(&mut self, leaf: usize, view: View<'_>) {
        if self.whole.is_some() {
            return;
        }
        if self.rules.masters_by_memory {
            return self.activate_by_memory(leaf, view);
        }
        let most = self.most_active(leaf, view);
        let mut place = 0;
        while let Some(&job) = self.queues[leaf].pending.get(place) {
            // Thousands may wait for a queue that is full. Only reasons are left to report.
            if self.queues[leaf].active.len() >= most.0 as usize && !view.wants_reasons() {
                break;
            }
            let is_active = self.may_become_active(job, most);
            if is_active {
                self.make_active(job, view);
            }
            view.pass_over_request(job, Ask::Am, if is_active { Reason::Master } else { Reason::JobLimit });
            place += usize::from(!is_active);
        }
    }

    /// As many as the memory of their masters allows. One is let in whatever the limits say
    /// (`AbstractLeafQueue.activateApplications`).
    fn activate_by_memory(&mut self, leaf: usize, view: View<'_>) {
        let part = self.part_of_jobs(leaf);
        let by = self.by(part, view);
        let limit = self.limit_of_masters(leaf, part, by);
        let size = Amounts::from(view.yarn().demand(Ask::Am));
        // Hadoop takes the limit of the first user for all.
        let mut of_user: Option<Amounts> = None;
        let mut place = 0;
        while let Some(&job) = self.queues[leaf].pending.get(place) {
            let user = self.jobs[job].user;
            let (masters, of_this_user) = self.masters_of(leaf, user, part);
            let is_first = self.queues[leaf].active.is_empty() || by.compare(masters, Amounts::NONE).is_le();
            let fits = is_first || by.holds(limit, masters + size);
            if !fits && !view.wants_reasons() {
                break;
            }
            let is_active = fits && {
                let limit =
                    *of_user.get_or_insert_with(|| self.limit_of_users_masters((leaf, user, part), limit, by, view));
                is_first || by.holds(limit, of_this_user + size)
            };
            if is_active {
                self.make_active(job, view);
            }
            view.pass_over_request(job, Ask::Am, if is_active { Reason::Master } else { Reason::JobLimit });
            place += usize::from(!is_active);
        }
    }

    /// What the masters of a queue may take (`calculateAndGetAMResourceLimitPerPartition`).
    fn limit_of_masters(&self, leaf: usize, part: usize, by: Calculator) -> Amounts {
        let (now, guarantee) = (self.queues[leaf].limit, self.guarantee_of(leaf, part));
        let usable = if part == 0 && by.holds(now, guarantee) { now } else { guarantee };
        by.times_up(usable, self.am_share(leaf).into())
    }

    /// What the masters of one user may take (`getUserAMResourceLimitPerPartition`).
    fn limit_of_users_masters(
        &self,
        (leaf, user, part): (usize, usize, usize),
        of_queue: Amounts,
        by: Calculator,
        view: View<'_>,
    ) -> Amounts {
        let queue = &self.queues[leaf];
        let users = (self.asking(leaf, part, view).users + queue.shared.get().waiting).max(1);
        let of_user = (self.minimum_user_limit(leaf) as f32 / 100.0).max(1.0 / users as f32);
        let of_user = (of_user * queue.users[user].weight).min(1.0);
        let factor = self.user_limit_factor(leaf);
        let share =
            if f64::from(factor) == UNLIMITED { self.am_share(leaf) } else { self.am_share(leaf) * of_user * factor };
        by.least(by.times_up(self.guarantee_of(leaf, part), share.into()), of_queue)
    }
}
