//! What the scheduler knows of queues, users and applications, and what they use.

use std::cell::Cell;
use std::collections::BTreeMap;

use resched_sim::hadoop::{Ask, Offer, Reach, Resources, View};
use resched_sim::{JobId, NodeId, Violation};
use resched_tables::model::Reason;

use super::YarnCapacity;
use super::amounts::Amounts;
use crate::queues::yarn_capacity::Shares;

/// What a queue has of the nodes of a label.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// True if it may ask for them.
    pub(super) is_seen: bool,
    /// The shares of these nodes that it is guaranteed and may use.
    pub(super) capacity: f32,
    pub(super) limit: f32,
    pub(super) guarantee: Amounts,
    pub(super) most: Amounts,
    pub(super) used: Amounts,
    pub(super) masters: Amounts,
    pub(super) ratio: f32,
    pub(super) shared: Cell<Shared>,
}

/// What a user has of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UserPart {
    pub(super) used: Amounts,
    pub(super) masters: Amounts,
    pub(super) ratio: f32,
}

/// A queue and what its applications use.
#[derive(Debug)]
pub(super) struct Queue {
    /// The shares of the cluster, and of its parent, that it is guaranteed and that it may use.
    pub(super) shares: Shares,
    /// The same in whole amounts: what it is guaranteed, and what it may use at most.
    pub(super) guarantee: Amounts,
    pub(super) most: Amounts,
    pub(super) used: Resources,
    /// What of that are reservations.
    pub(super) reserved: Amounts,
    /// What it could have when it last looked at an application, beside what its siblings use.
    pub(super) limit: Amounts,
    /// Of a leaf: its users, its active applications by submission, and those that wait, in order.
    pub(super) users: Vec<User>,
    pub(super) user_names: BTreeMap<String, usize>,
    pub(super) active: Vec<JobId>,
    pub(super) pending: Vec<JobId>,
    /// The active applications by what they ask for first; of equals the one that was submitted first is first. Only kept with
    /// partitions.
    pub(super) by_size: Vec<(u32, JobId)>,
    /// The active applications by what they use; only where this decides.
    pub(super) by_use: Vec<(f64, JobId)>,
    /// Of a leaf: how many of its users have applications that wait.
    pub(super) waiting_users: u32,
    /// What the masters of its active applications take.
    pub(super) masters: Amounts,
    /// The parts of the cluster that its users use, added up change by change in single precision as in Hadoop.
    pub(super) ratio: f32,
    /// Of its applications and those of the queues below it, how many may run now, and of a leaf those that may not.
    pub(super) runnable: u32,
    pub(super) held: Vec<JobId>,
    /// What its users are limited by, as of the last change.
    pub(super) shared: Cell<Shared>,
    /// Grows with all that is given and taken back.
    pub(super) changes: u64,
    /// What it has of the nodes of each label, if there are any.
    pub(super) parts: Vec<Part>,
    /// Marks the users that one look has counted.
    pub(super) stamp: Cell<u64>,
    /// Of a parent: room for the order of its children.
    pub(super) order: Vec<usize>,
}

/// What the users of a leaf are limited by, and the state that it follows from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shared {
    /// The changes of the queue when it was computed.
    pub(super) changes: u64,
    /// The users that asked then, by their weights, and what they used.
    pub(super) asking: Asking,
    /// How many users had only applications that waited.
    pub(super) waiting: u32,
    /// The limit of a user of weight 1.
    pub(super) limit: Amounts,
}

/// The users of a leaf with applications that ask for containers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Asking {
    pub(super) users: u32,
    pub(super) weights: f32,
    pub(super) used: Amounts,
}

#[derive(Debug)]
pub(super) struct User {
    pub(super) used: Resources,
    /// Its active applications, and those that wait.
    pub(super) active: u32,
    pub(super) pending: u32,
    /// Its applications that wait and count as asking.
    pub(super) asking: u32,
    /// What the masters of its active applications take.
    pub(super) masters: Amounts,
    pub(super) weight: f32,
    /// The part of the cluster that it uses.
    pub(super) ratio: f32,
    /// What it has of the nodes of each label, if there are any.
    pub(super) parts: Vec<UserPart>,
    /// The look that counted it last.
    pub(super) stamp: Cell<u64>,
}

impl User {
    pub(super) fn new(weight: f32, parts: usize) -> Self {
        Self {
            used: Resources::NONE,
            active: 0,
            pending: 0,
            asking: 0,
            masters: Amounts::NONE,
            weight,
            ratio: 0.0,
            parts: vec![UserPart::default(); parts],
            stamp: Cell::new(0),
        }
    }
}

/// An application.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Job {
    pub(super) queue: usize,
    pub(super) user: usize,
    /// How many tasks it asks for first.
    pub(super) size: u32,
    /// Where it stands among others of its queue, before the order of submission.
    pub(super) rank: i32,
    /// True if its user counts as asking because of it while its master waits.
    pub(super) counts: bool,
    /// The part of the cluster for which it asks.
    pub(super) part: usize,
    /// Nodes that could have served it since a node without a label did, by [`Ask`].
    pub(super) missed_unlabelled: [u64; 4],
    /// Nodes that passed it over since it was last served, by [`Ask`].
    pub(super) missed: [u64; 4],
    /// Nodes that are kept for it, by [`Ask`].
    pub(super) reserved: [u32; 4],
    /// The most that were, since there was none.
    pub(super) most_reserved: [u32; 4],
    /// How often a kept node has had no room since that number changed last, by [`Ask`].
    pub(super) again: [u32; 4],
    /// Memory that it could still get when its queue last looked at it, less what it was given since, MB.
    pub(super) headroom: i64,
    /// True if it may not run yet, because too many others do.
    pub(super) is_held: bool,
}

impl Queue {
    pub(super) fn new(shares: Shares) -> Self {
        Self {
            shares,
            guarantee: Amounts::NONE,
            most: Amounts::NONE,
            used: Resources::NONE,
            reserved: Amounts::NONE,
            limit: Amounts::NONE,
            users: Vec::new(),
            user_names: BTreeMap::new(),
            active: Vec::new(),
            pending: Vec::new(),
            by_size: Vec::new(),
            by_use: Vec::new(),
            waiting_users: 0,
            masters: Amounts::NONE,
            ratio: 0.0,
            runnable: 0,
            held: Vec::new(),
            shared: Cell::default(),
            changes: 1,
            parts: Vec::new(),
            stamp: Cell::new(0),
            order: Vec::new(),
        }
    }

    /// Why its jobs are passed over when it may have no more. A queue that may have the whole cluster waits for what others hold.
    pub(super) fn at_limit(&self) -> Reason {
        if self.shares.limit < 1.0 { Reason::QueueLimit } else { Reason::None }
    }
}

impl YarnCapacity {
    /// An application waits from now on.
    pub(super) fn wait(&mut self, job: JobId) {
        let Job { queue, user, rank, .. } = self.jobs[job];
        let place = self.queues[queue].pending.partition_point(|&other| (self.jobs[other].rank, other) < (rank, job));
        let queue = &mut self.queues[queue];
        queue.pending.insert(place, job);
        queue.users[user].pending += 1;
        queue.waiting_users += u32::from(queue.users[user].pending == 1);
    }

    /// An application does not wait any more.
    pub(super) fn end_wait(&mut self, job: JobId) {
        let Job { queue, user, rank, counts, .. } = self.jobs[job];
        let place = self.queues[queue].pending.partition_point(|&other| (self.jobs[other].rank, other) < (rank, job));
        let queue = &mut self.queues[queue];
        if queue.pending.get(place) == Some(&job) {
            queue.pending.remove(place);
            queue.users[user].pending -= 1;
            queue.users[user].asking -= u32::from(counts);
            queue.waiting_users -= u32::from(queue.users[user].pending == 0);
        }
    }

    /// An application that has arrived asks for its master, after others have been let in because of it.
    pub(super) fn ask_for_master(&mut self, job: JobId) {
        let Job { queue, user, .. } = self.jobs[job];
        let waits = !self.is_active(job);
        let user = &mut self.queues[queue].users[user];
        let counts = user.active > 0;
        user.asking += u32::from(counts && waits);
        self.jobs[job].counts = counts;
    }

    fn is_active(&self, job: JobId) -> bool {
        self.queues[self.jobs[job].queue].active.get(self.place_among_active(job)) == Some(&job)
    }

    /// The place of an application among the active ones of its queue, or where it would stand.
    pub(super) fn place_among_active(&self, job: JobId) -> usize {
        let Job { queue, rank, .. } = self.jobs[job];
        self.queues[queue].active.partition_point(|&other| (self.jobs[other].rank, other) < (rank, job))
    }

    /// A job uses this much more.
    pub(super) fn charge(&mut self, job: JobId, amount: Resources, node: NodeId, view: View<'_>) {
        match self.part_of(node) {
            0 => self.change_use(job, |used| used.plus(amount), view),
            part => self.change_part(job, part, |used| used + amount.into(), view),
        }
    }

    pub(super) fn discharge(&mut self, job: JobId, amount: Resources, node: NodeId, view: View<'_>) {
        match self.part_of(node) {
            0 => self.change_use(job, |used| used.minus(amount), view),
            part => self.change_part(job, part, |used| used - amount.into(), view),
        }
    }

    /// A job uses more or less of the nodes of a label.
    fn change_part(&mut self, job: JobId, part: usize, change: impl Fn(Amounts) -> Amounts, view: View<'_>) {
        let Job { queue: leaf, user, .. } = self.jobs[job];
        let by = self.by(part, view);
        let queue = &mut self.queues[leaf];
        queue.changes += 1;
        let user = &mut queue.users[user].parts[part - 1];
        user.used = change(user.used);
        let ratio = by.part_of(user.used, by.all());
        queue.parts[part - 1].ratio += ratio - user.ratio;
        user.ratio = ratio;
        for place in self.tree.with_ancestors(leaf) {
            let state = &mut self.queues[place].parts[part - 1];
            state.used = change(state.used);
        }
    }

    fn change_use(&mut self, job: JobId, change: impl Fn(Resources) -> Resources, view: View<'_>) {
        let Job { queue: leaf, user, .. } = self.jobs[job];
        let by = self.by(0, view);
        let queue = &mut self.queues[leaf];
        queue.changes += 1;
        let user = &mut queue.users[user];
        user.used = change(user.used);
        if self.rules.user_limit_by_use {
            let ratio = by.part_of(user.used.into(), by.all());
            queue.ratio += ratio - user.ratio;
            user.ratio = ratio;
        }
        for place in self.tree.with_ancestors(leaf) {
            self.queues[place].used = change(self.queues[place].used);
        }
        if let Some(partitions) = &mut self.partitions {
            partitions.change_use(job, change);
        }
    }

    /// Grants a container for a request, which is charged apart.
    pub(super) fn grant(
        &mut self,
        offer: &mut Offer<'_, '_>,
        job: JobId,
        ask: Ask,
        reach: Reach,
    ) -> Result<(), Violation> {
        offer.grant(job, ask, reach)?;
        if let Some(whole) = &mut self.whole {
            whole.grant(job, offer.view().yarn().demand_of(job, ask));
        }
        Ok(())
    }
}
