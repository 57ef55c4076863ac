//! The walk from the root to a request, and the checks on its way (rules K6 and K10).

use resched_sim::hadoop::{Ask, Kind, Offer, Reach, Resources, View};
use resched_sim::{JobId, NodeId, Violation};
use resched_tables::model::Reason;

use super::YarnCapacity;
use super::amounts::Amounts;
use super::calculator::Calculator;
use super::partitions::PARTITIONS;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;

/// How a node's offer to a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    /// A container, or the node itself, was given for a request near its data.
    Near,
    /// One was given for a request that may run anywhere.
    Far,
    /// The first application that may run has no room in its queue; what is left of it is withheld from the siblings.
    QueueFull,
    /// A request was served, but a queue above had no room of one resource for it after all. Hadoop tries the same again and again.
    Rejected,
    Nothing,
}

/// What a queue may have at a node's offer (`ResourceLimits`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// What it may use in all.
    pub(super) limit: Amounts,
    /// What of that it does not use.
    pub(super) headroom: Amounts,
    /// What the application must give up, because its user is over his limit.
    pub(super) to_give_up: Amounts,
    /// What is withheld for queues that were asked before.
    withheld: Amounts,
}

impl Limits {
    pub(super) fn new(limit: Amounts) -> Self {
        Self { limit, headroom: limit, to_give_up: Amounts::NONE, withheld: Amounts::NONE }
    }
}

/// What is known of a leaf while its applications are looked at.
#[derive(Debug, Default)]
struct Look {
    /// True if the queue has room for any application.
    has_room: bool,
    /// What it may use now, to be taken down.
    limit: Amounts,
    /// What a user of weight 1 may have, once it is known.
    of_user: Option<Amounts>,
    /// The partitions that are full.
    full: [bool; PARTITIONS],
}

/// How an application, or a request of it, was dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tried {
    NextRequest,
    NextJob,
    Ends(Served),
}

impl YarnCapacity {
    /// True if a node has room for the smallest container: in every resource, or before 3.x in the resource of which it has the larger
    /// share free (`CapacityScheduler.allocateContainersToNode`).
    pub(super) fn has_room(&self, node: NodeId, view: View<'_>) -> bool {
        let by = Calculator::of(view);
        if self.rules.room_in_every_resource {
            view.free(node).holds(by.smallest)
        } else {
            by.order(view.free(node), by.smallest).is_ge()
        }
    }

    /// Gives one container of the node to a queue.
    pub(super) fn serve(
        &mut self,
        offer: &mut Offer<'_, '_>,
        place: usize,
        limits: &mut Limits,
    ) -> Result<Served, Violation> {
        if self.tree.is_leaf(place) {
            return self.serve_leaf(offer, place, limits);
        }
        let view = offer.view();
        let by = self.by(self.walk.part, view);
        if !self.has_room(offer.node(), view) || !self.sees(place) {
            return Ok(Served::Nothing);
        }
        if !self.may_use_more(place, limits, by) {
            self.report_limit(place, self.queues[place].at_limit(), view);
            return Ok(Served::Nothing);
        }
        let mut order = std::mem::take(&mut self.queues[place].order);
        order.clear();
        order.extend_from_slice(&self.tree.get(place).children);
        self.sort_children(place, &mut order, by);
        let mut served = Ok(Served::Nothing);
        for &child in &order {
            let mut below = self.limits_of(child, limits, by);
            match self.serve(offer, child, &mut below) {
                Ok(Served::Nothing) => {}
                Ok(Served::QueueFull) => {
                    served = Ok(Served::QueueFull);
                    let left = if self.tree.is_leaf(child) { below.headroom } else { below.withheld };
                    limits.withheld += by.most(left, Amounts::NONE);
                }
                other => {
                    served = other;
                    break;
                }
            }
        }
        self.queues[place].order = order;
        served
    }

    /// What a queue may have of what its parent has: what the siblings do not use and is not withheld from it, up to the parent's own
    /// maximum (`AbstractParentQueue.getResourceLimitsOfChild`).
    pub(super) fn limits_of(&self, child: usize, above: &mut Limits, by: Calculator) -> Limits {
        if !self.rules.follow_limits() {
            return Limits::new(above.limit);
        }
        let parent = self.tree.get(child).parent.unwrap_or(QueueTree::<YarnQueue>::ROOT);
        let part = self.walk.part;
        above.limit = by.least(above.limit, self.most(parent, part));
        let left = above.limit - above.withheld - self.used(parent, part);
        Limits::new(by.down(left + self.used(child, part)))
    }

    /// True if a parent may use any more, perhaps once a reservation is given up (`canAssignToThisQueue`).
    fn may_use_more(&self, place: usize, limits: &mut Limits, by: Calculator) -> bool {
        let queue = &self.queues[place];
        let looks_on = self.rules.reservations_look_on;
        if self.rules.room_above {
            let releasable = if looks_on && self.walk.part == 0 { queue.reserved } else { Amounts::NONE };
            return self.has_room_within(place, limits, releasable, by);
        }
        limits.headroom = queue.most - queue.used.into();
        let is_full = by.divide(queue.used, by.cluster) >= queue.shares.limit;
        !is_full || looks_on && by.is_any(limits.headroom + queue.reserved)
    }

    /// True if a queue uses less than it may, or would without what could be released.
    fn has_room_within(&self, place: usize, limits: &mut Limits, releasable: Amounts, by: Calculator) -> bool {
        let most = self.most_now(place, by);
        let limit = if self.walk.is_lent { most } else { by.least(most, limits.limit) };
        let used = self.used(place, self.walk.part);
        limits.headroom = limit - used;
        by.compare(used, limit).is_lt()
            || by.compare(releasable, Amounts::NONE).is_gt() && by.compare(used - releasable, limit).is_lt()
    }

    /// Reports that the jobs of the queues below one may have no more.
    fn report_limit(&self, place: usize, reason: Reason, view: View<'_>) {
        if !view.wants_reasons() {
            return;
        }
        for kind in Kind::BOTH {
            let queue = &self.queues[place];
            queue.active.iter().for_each(|&job| view.pass_over(job, kind, reason));
        }
        self.tree.get(place).children.iter().for_each(|&child| self.report_limit(child, reason, view));
    }

    fn serve_leaf(&mut self, offer: &mut Offer<'_, '_>, leaf: usize, limits: &mut Limits) -> Result<Served, Violation> {
        if self.rules.room_above && (!self.sees(leaf) || !self.any_asks(leaf, offer.view())) {
            return Ok(Served::Nothing);
        }
        self.sort_applications(leaf, offer.view());
        let by = self.by(self.walk.part, offer.view());
        let mut look = Look { limit: by.least(by.down(self.queues[leaf].most), limits.limit), ..Look::default() };
        for place in 0..self.queues[leaf].active.len() {
            let job = self.served_at(leaf, place);
            if self.partitions.as_ref().is_some_and(|partitions| look.full[partitions.of(job)]) {
                continue;
            }
            let view = offer.view();
            if self.rules.room_above {
                match self.look_at(job, limits, &mut look, view) {
                    Tried::Ends(served) => return Ok(served),
                    Tried::NextJob => continue,
                    Tried::NextRequest => {}
                }
            }
            for ask in Ask::ALL {
                match self.try_request(offer, (job, ask), limits, &mut look)? {
                    Tried::NextRequest => {}
                    Tried::NextJob => break,
                    Tried::Ends(served) => return Ok(served),
                }
            }
        }
        Ok(Served::Nothing)
    }

    /// Whether an application may have anything, whatever it asks for (`AbstractLeafQueue.assignContainers` of 3.x).
    fn look_at(&mut self, job: JobId, limits: &mut Limits, look: &mut Look, view: View<'_>) -> Tried {
        let by = self.by(self.walk.part, view);
        let leaf = self.jobs[job].queue;
        let releasable = self.releasable(job, view);
        if !look.has_room {
            if !self.has_room_within(leaf, limits, releasable, by) {
                self.report_limit(leaf, self.queues[leaf].at_limit(), view);
                return Tried::Ends(Served::Nothing);
            }
            look.has_room = !self.rules.reservations_look_on || releasable == Amounts::NONE;
        }
        let asks = |ask: &Ask| view.yarn().app(job).asked(*ask) > 0;
        let limit = if self.rules.user_limit_by_use {
            let shared = *look.of_user.get_or_insert_with(|| self.shared_limit(leaf, self.walk, view).limit);
            self.weighted(job, shared, by)
        } else {
            let required = Ask::ALL.into_iter().find(asks).map_or(by.smallest, |ask| view.yarn().demand_of(job, ask));
            self.user_limit(job, required, self.walk, view)
        };
        self.queues[leaf].limit = look.limit;
        self.note_headroom(job, limit, view);
        if self.is_user_over(job, limit, limits, view) {
            Ask::ALL.into_iter().filter(asks).for_each(|ask| view.pass_over_request(job, ask, Reason::UserLimit));
            return Tried::NextJob;
        }
        Tried::NextRequest
    }

    /// True if the user of a job uses more than he may, and the job has no reservation that it could give up for it
    /// (`AbstractLeafQueue.canAssignToUser`).
    fn is_user_over(&self, job: JobId, limit: Amounts, limits: &mut Limits, view: View<'_>) -> bool {
        let by = self.by(self.walk.part, view);
        let used = self.used_by(self.jobs[job].queue, self.jobs[job].user, self.walk.part);
        limits.to_give_up = Amounts::NONE;
        if by.compare(used, limit).is_le() {
            return false;
        }
        let may = self.rules.reservations_look_on && by.compare(used - self.reserved_by(job, view), limit).is_le();
        if may {
            limits.to_give_up = used - limit;
        }
        !may
    }

    /// Tries to serve a request of an application on this node.
    fn try_request(
        &mut self,
        offer: &mut Offer<'_, '_>,
        (job, ask): (JobId, Ask),
        limits: &mut Limits,
        look: &mut Look,
    ) -> Result<Tried, Violation> {
        let view = offer.view();
        let asked = view.yarn().app(job).asked(ask);
        let is_new = self.rules.room_above || self.rules.reservations_look_on;
        if is_new && asked == 0 || !self.rules.reservations_look_on && !self.needs(job, ask, view) {
            return Ok(Tried::NextRequest);
        }
        if let Some(tried) = self.check_label(job, view) {
            return Ok(tried);
        }
        let checked = if self.rules.room_above {
            self.check_room(job, ask, limits, view)
        } else {
            self.check_limits(job, ask, limits, look, view)
        };
        if checked != Tried::NextRequest {
            return Ok(checked);
        }
        if self.labels.is_some() && !self.may_borrow(job, ask, view) {
            return Ok(Tried::NextJob);
        }
        if asked > 0 && offer.yarn().nearest(job, ask).is_none() {
            // Too many of its tasks have failed on this node.
            return Ok(Tried::NextRequest);
        }
        self.jobs[job].missed[ask.index()] += 1;
        let Some(reach) = self.reach(offer, job, ask) else {
            offer.view().pass_over_request(job, ask, Reason::Locality);
            return Ok(Tried::NextJob);
        };
        let served = self.place(offer, (job, ask), reach, limits)?;
        if served == Served::Nothing {
            return Ok(Tried::NextJob);
        }
        self.end_wait_for_data(job, ask, reach);
        if self.walk.part == 0 {
            self.jobs[job].missed_unlabelled[ask.index()] = 0;
        }
        Ok(Tried::Ends(served))
    }

    /// Whether the container fits into what its queue has left, with what the application could give up
    /// (`RegularContainerAllocator.checkHeadroom`).
    fn check_room(&self, job: JobId, ask: Ask, limits: &Limits, view: View<'_>) -> Tried {
        let by = self.by(self.walk.part, view);
        let required = Amounts::from(view.yarn().demand_of(job, ask));
        if by.holds(limits.headroom + self.releasable(job, view), required) {
            return Tried::NextRequest;
        }
        view.pass_over_request(job, ask, self.queues[self.jobs[job].queue].at_limit());
        Tried::Ends(Served::QueueFull)
    }

    /// The checks of 2014: the queue's maximum, that of the partition, and then the user's.
    fn check_limits(&mut self, job: JobId, ask: Ask, limits: &mut Limits, look: &mut Look, view: View<'_>) -> Tried {
        let by = self.by(self.walk.part, view);
        let leaf = self.jobs[job].queue;
        let required = view.yarn().demand_of(job, ask);
        let limit = self.user_limit(job, required, self.walk, view);
        self.queues[leaf].limit = look.limit;
        self.note_headroom(job, limit, view);
        let queue = &self.queues[leaf];
        limits.headroom = queue.most - queue.used.into();
        let would_use = queue.used.plus(required);
        if by.divide(would_use, by.cluster) > queue.shares.limit
            && !(self.rules.reservations_look_on
                && by.holds(limits.headroom + self.reserved_by(job, view), required.into()))
        {
            view.pass_over_request(job, ask, queue.at_limit());
            return Tried::Ends(Served::Nothing);
        }
        if let Some(partitions) = &self.partitions {
            let partition = partitions.of(job);
            let is_due = self.whole.as_ref().is_some_and(|whole| whole.due(job).holds(required));
            if !is_due && !partitions.admits(partition, ask, required, &queue.active, view) {
                look.full[partition] = true;
                view.pass_over_request(job, ask, Reason::Reserve);
                return Tried::NextJob;
            }
        }
        if self.is_user_over(job, limit, limits, view) {
            view.pass_over_request(job, ask, Reason::UserLimit);
            return Tried::NextJob;
        }
        Tried::NextRequest
    }

    /// True if all queues above an application have room of each resource for more, once it has given up a reservation of the same size
    /// (`AbstractCSQueue.accept`).
    fn is_accepted(&self, job: JobId, size: Resources, gives_up: bool, by: Calculator) -> bool {
        let net = if gives_up { Amounts::NONE } else { size.into() };
        let has_room = |place: usize| by.holds(self.most_now(place, by), self.used(place, self.walk.part) + net);
        !self.rules.room_above || self.tree.with_ancestors(self.jobs[job].queue).all(has_room)
    }

    /// Launches for a request if the node has room, and else keeps the node for it.
    fn place(
        &mut self,
        offer: &mut Offer<'_, '_>,
        (job, ask): (JobId, Ask),
        reach: Reach,
        limits: &Limits,
    ) -> Result<Served, Violation> {
        let view = offer.view();
        let size = view.yarn().demand_of(job, ask);
        if !view.capacity(offer.node()).holds(size) {
            return Ok(Served::Nothing);
        }
        let fits = offer.yarn().fits_for(job, ask);
        let given_up = if self.rules.reservations_look_on {
            match self.what_to_give_up(job, ask, limits, view) {
                Ok(node) => node,
                Err(()) => return Ok(Served::Nothing),
            }
        } else {
            None
        };
        if !fits && given_up.is_some() {
            return Ok(Served::Nothing);
        }
        if !self.is_accepted(job, size, given_up.is_some(), self.by(self.walk.part, view)) {
            return Ok(Served::Rejected);
        }
        if !fits {
            offer.yarn_mut().reserve(job, ask)?;
            self.note_reserved(job, ask, offer.node(), offer.view());
        } else if offer.yarn().nearest(job, ask).is_some() {
            self.grant(offer, job, ask, reach)?;
        } else {
            // It has asked for other nodes to be kept, and needs none any more.
            return Ok(Served::Nothing);
        }
        if let Some(node) = given_up {
            self.give_up(offer, job, ask, node);
        }
        self.charge(job, size, offer.node(), offer.view());
        // One that is over its limit starts from nothing (`SchedulerApplicationAttempt.getHeadroom`).
        let headroom = &mut self.jobs[job].headroom;
        *headroom = (*headroom).max(0) - size.memory as i64;
        Ok(if reach == Reach::Any { Served::Far } else { Served::Near })
    }
}
