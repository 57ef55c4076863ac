//! A queue of the Capacity Scheduler while jobs run: its guarantee, and the slots that its jobs and users hold.

use std::collections::BTreeMap;

use resched_sim::JobId;
use resched_sim::hadoop::{Kind, View};
use resched_tables::model::Priority;

use crate::parts::job_queue::JobQueue;

/// A queue while jobs run; the pairs hold a value for each kind of slot.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) minimum_user_limit: u32,
    pub(super) priorities: bool,
    pub(super) jobs_per_user: u32,
    /// Guaranteed slots.
    pub(super) capacity: [u32; 2],
    /// How many slots which queue may hold, itself or one above it, for this one to get another.
    pub(super) limit: [Option<(usize, u32)>; 2],
    /// Slots that its jobs hold.
    pub(super) occupied: [u32; 2],
    /// Its children, as they were last ranked.
    pub(super) ranked: Vec<usize>,
    /// Jobs of which no task has been launched, as far as the last poll saw.
    pub(super) waiting: JobQueue,
    /// Jobs that have been initialised.
    pub(super) running: JobQueue,
    pub(super) users: Vec<User>,
    pub(super) user_names: BTreeMap<String, usize>,
    /// How many users have jobs here.
    pub(super) active_users: u32,
}

/// A user of a queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct User {
    /// Jobs that have arrived and not ended.
    pub(super) jobs: u32,
    /// Slots that they hold, of each kind.
    pub(super) occupied: [u32; 2],
    /// Jobs that the poll has counted.
    pub(super) counted: u32,
}

impl Queue {
    /// True if jobs may be submitted to it.
    pub(super) fn is_leaf(&self) -> bool {
        self.ranked.is_empty()
    }

    /// The priority that counts for the order of its jobs.
    pub(super) fn priority(&self, view: View<'_>, job: JobId) -> Priority {
        if self.priorities { view.job(job).priority() } else { Priority::Normal }
    }

    /// The place of a user, new or not.
    pub(super) fn user(&mut self, name: &str) -> usize {
        if let Some(&user) = self.user_names.get(name) {
            return user;
        }
        self.users.push(User::default());
        self.user_names.insert(name.to_owned(), self.users.len() - 1);
        self.users.len() - 1
    }

    /// What part of its guarantee it uses; a queue without any counts as full.
    pub(super) fn used(&self, kind: Kind) -> f64 {
        match self.capacity[kind.index()] {
            0 => 1.0,
            capacity => f64::from(self.occupied[kind.index()]) / f64::from(capacity),
        }
    }

    /// True if a user holds all the slots that he may while others compete.
    pub(super) fn is_over_limit(&self, user: usize, kind: Kind) -> bool {
        let (capacity, occupied) = (self.capacity[kind.index()], self.occupied[kind.index()]);
        let limit = user_limit(capacity, occupied, self.active_users, self.minimum_user_limit);
        u64::from(self.users[user].occupied[kind.index()]) >= limit
    }
}

/// From how many slots on a user gets no more while others compete: his equal share of the queue, or the guaranteed minimum
/// if that is more. The queue counts with what it is guaranteed, or with what it would hold after the next launch.
fn user_limit(capacity: u32, occupied: u32, users: u32, minimum_percent: u32) -> u64 {
    let slots = if occupied < capacity { u64::from(capacity) } else { u64::from(occupied) + 1 };
    let minimum = u64::from(minimum_percent) * slots;
    slots.div_ceil(u64::from(users.max(1))).max(minimum.div_ceil(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_share_the_capacity_or_what_is_occupied() {
        assert_eq!(user_limit(50, 40, 3, 25), 17);
        assert_eq!(user_limit(50, 60, 3, 25), 21);
        assert_eq!(user_limit(50, 50, 1, 100), 51, "a full queue counts with one slot more");
        assert_eq!(user_limit(u32::MAX, u32::MAX, 1, 100), 1 << 32);
    }
}
