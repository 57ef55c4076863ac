//! The events of a replay and their order.
//!
//! Events of one instant run in the order in which Hadoop's simulator would have put them into its queue: a heartbeat is
//! put one interval ahead, a tick one period, a submission when the one before it runs. That order follows from the times
//! alone ([`Classes`]), so it does not matter which heartbeats were left out. Under YARN one order holds at every instant:
//! submissions, the tick, nodes by id, masters by job.
//!
//! At each instant, ends of work come first, then failures of nodes, then all other events.

use super::Engine;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::system::System;
use crate::hadoop::view::View;
use crate::ids::{AttemptId, JobId, Ms, NodeId};

/// Where an event stands: by time, then class, then number.
pub(super) type Position = (Ms, u8, u32);

/// Later than every instant.
pub(super) const NEVER: Ms = Ms::MAX;

/// A change of a failing node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// It falls silent, and its attempts die.
    Silence,
    /// The master gives it up.
    Loss,
    /// It works again.
    Return,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// An attempt has finished its stage (model `contention`).
    Work(AttemptId),
    /// A failing node changes its state.
    Change(NodeId, Change),
    /// The policy has its tick.
    Tick,
    /// A job arrives.
    Submission(JobId),
    /// A node calls.
    NodeHeartbeat(NodeId),
    /// The application master of a job calls.
    MasterHeartbeat(JobId),
}

/// An event that is to come, and where it stands.
pub(super) type Due = (Position, Event);

/// The earlier of two events that may come; the first one if both stand at the same place.
#[inline]
fn earlier(one: Option<Due>, other: Option<Due>) -> Option<Due> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.0 < one.0 { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// The classes of the events of one instant.
///
/// Of heartbeats and ticks, the kind that is put longer ahead comes first. Where a submission stands depends on how
/// long before it its predecessor came; if that is exactly one interval, both were put at the same instant, and the order
/// is that of the predecessor.
pub(super) struct Classes {
    pub(super) heartbeat: u8,
    pub(super) tick: u8,
    /// Heartbeats of application masters.
    pub(super) master: u8,
    pub(super) submissions: Vec<u8>,
}

impl Classes {
    pub(super) fn new(arrivals: &[(Ms, JobId)], cluster: &Cluster, period: Option<Ms>) -> Self {
        match cluster.system() {
            System::Slots => Self::as_queued(arrivals, cluster.interval(), period),
            System::Containers => Self { submissions: vec![0; arrivals.len()], tick: 1, heartbeat: 2, master: 3 },
        }
    }

    /// As Hadoop's simulator would have queued them.
    fn as_queued(arrivals: &[(Ms, JobId)], interval: Ms, period: Option<Ms>) -> Self {
        let period = period.unwrap_or(interval);
        let (heartbeat, tick) = if interval >= period { (1, 3) } else { (3, 1) };
        let (longer, shorter) = (interval.max(period), interval.min(period));
        let (mut before_longer, mut before_shorter) = (true, true);
        let mut previous: Option<Ms> = None;
        let submissions = arrivals.iter().map(|&(at, _)| {
            if let Some(previous) = previous {
                let gap = at - previous;
                before_longer = gap > longer || gap == longer && before_longer;
                before_shorter = gap > shorter || gap == shorter && before_shorter;
            }
            previous = Some(at);
            match (before_longer, before_shorter) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 4,
            }
        });
        Self { submissions: submissions.collect(), heartbeat, tick, master: u8::MAX }
    }
}

impl Engine<'_, '_> {
    /// The next event, which stays where it is; `None` if nothing is to come.
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<Due> {
        let planned = earlier(self.planned.first(), self.next_submission());
        let sudden = earlier(self.next_work(), self.next_change());
        let tick = self.due_tick(earlier(planned, sudden));
        let planned = earlier(planned, tick);
        let comes_first = |&(at, _): &Due| planned.is_none_or(|(planned, _)| at.0 <= planned.0);
        sudden.filter(comes_first).or(planned)
    }

    #[inline]
    pub(super) fn next_submission(&self) -> Option<Due> {
        let &(at, id) = self.arrivals.get(self.next_job)?;
        Some(((at, self.classes.submissions[self.next_job], id.0), Event::Submission(id)))
    }

    /// The next piece of work to be done.
    #[inline]
    pub(super) fn next_work(&mut self) -> Option<Due> {
        let (at, run) = self.world.bench.as_mut()?.next()?;
        Some(((at, 0, 0), Event::Work(run)))
    }

    #[inline]
    pub(super) fn next_change(&self) -> Option<Due> {
        let &(at, change, node) = self.changes.get(self.next_change)?;
        Some(((at, 0, 0), Event::Change(node, change)))
    }

    /// The next tick if it comes before `next`.
    #[inline]
    fn due_tick(&mut self, next: Option<Due>) -> Option<Due> {
        let due = self.next_tick?;
        if next.is_some_and(|((at, ..), _)| at < due) { None } else { self.tick_before(next, due) }
    }

    /// The next tick, which is due before `next`; of a row of idle ticks only the last, or in a lull those that count.
    fn tick_before(&mut self, next: Option<Due>, mut due: Ms) -> Option<Due> {
        let period = self.policy.period()?;
        if self.ticked != (self.world.version, true) {
            return Some(((due, self.classes.tick, 0), Event::Tick));
        }
        if !self.policy.skips_idle_ticks(View { world: &self.world }) {
            due = self.tick_that_counts(due, period);
        } else if self.parking {
            let ((at, class, _), _) = next?;
            let last = if self.classes.tick < class { at } else { at - 1 };
            due += (last - due).max(0) / period * period;
            self.next_tick = Some(due);
        }
        Some(((due, self.classes.tick, 0), Event::Tick))
    }
}
