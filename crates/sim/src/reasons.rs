//! Why jobs are passed over, as policies tell it, in the few bytes that changes take.
//!
//! A reason holds until another is told, until a task of the job and kind starts, or until no place for this kind of task is free any
//! more for a while: then every job waits for a place, whatever it was told before.

use std::cell::{Cell, RefCell};

use resched_trace::model::{Reason, TaskKind};

use crate::ids::{JobId, Ms};
use crate::observer::PassedOver;

/// A reason, and the job that it is about.
type Why = (Reason, Option<JobId>);

/// The reasons that hold now. Only changes are reported, once an event is over, so a reason that lasts takes one row however often it
/// is told.
///
/// Telling a reason changes no schedule, so a policy may do it wherever it sees the world.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    wanted: bool,
    kinds: [TaskKind; 2],
    /// By job and kind, whether a reason holds. Most calls find none, and look no further.
    held: Vec<[Cell<bool>; 2]>,
    state: RefCell<State>,
    changed: Cell<bool>,
}

#[derive(Debug, Default)]
struct State {
    /// By job and kind.
    jobs: Vec<[Held; 2]>,
    /// By kind.
    full: [Full; 2],
    /// The places that may have changed since the last report.
    touched: Vec<(JobId, usize)>,
}

/// What holds for a job and kind.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    now: Why,
    reported: Why,
    /// The number of times that all was full before it was told.
    spell: u32,
}

/// The times at which no place for a kind of task was free.
#[derive(Debug, Clone, Copy, Default)]
struct Full {
    since: Option<Ms>,
    /// How many of these times were long.
    spells: u32,
}

impl Reasons {
    /// Reasons about tasks of these kinds, for somebody who wants to know.
    pub(crate) fn wanted(jobs: usize, kinds: [TaskKind; 2]) -> Self {
        let state = State { jobs: vec![Default::default(); jobs], ..State::default() };
        let held = vec![Default::default(); jobs];
        Self { wanted: true, kinds, held, state: RefCell::new(state), changed: Cell::new(false) }
    }

    /// Whether anybody wants to know.
    #[inline]
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// A job is passed over with its tasks of the kind at this place.
    #[inline]
    pub(crate) fn tell(&self, job: JobId, kind: usize, reason: Reason, other: Option<JobId>) {
        if self.wanted {
            self.note(job, kind, (reason, other));
        }
    }

    /// Nothing holds a job back any more.
    #[inline]
    pub(crate) fn end(&self, job: JobId, kind: usize) {
        if self.held(job, kind).is_some_and(Cell::get) {
            self.note(job, kind, (Reason::None, None));
        }
    }

    #[inline]
    fn held(&self, job: JobId, kind: usize) -> Option<&Cell<bool>> {
        self.held.get(job.index()).and_then(|kinds| kinds.get(kind))
    }

    /// A job was passed over from an earlier instant on. Returns the report of that, if anybody wants to know.
    pub(crate) fn tell_since(&self, job: JobId, kind: usize, reason: Reason, since: Ms) -> Option<PassedOver> {
        let mut state = self.state.borrow_mut();
        let own = state.jobs.get_mut(job.index()).and_then(|kinds| kinds.get_mut(kind))?;
        (own.now, own.reported) = ((reason, None), (reason, None));
        self.held(job, kind)?.set(true);
        let kind = self.kinds.get(kind).copied().unwrap_or_default();
        Some(PassedOver { at: since, job: Some(job), kind, reason, other: None })
    }

    /// Ends one reason, if it is the one that holds.
    pub(crate) fn end_if(&self, job: JobId, kind: usize, reason: Reason) {
        if self.wanted && self.now(job, kind).is_some_and(|why| why.0 == reason) {
            self.note(job, kind, (Reason::None, None));
        }
    }

    fn now(&self, job: JobId, kind: usize) -> Option<Why> {
        self.state.borrow().jobs.get(job.index()).and_then(|kinds| kinds.get(kind)).map(|own| own.now)
    }

    fn note(&self, job: JobId, kind: usize, why: Why) {
        let State { jobs, full, touched } = &mut *self.state.borrow_mut();
        let Some(own) = jobs.get_mut(job.index()).and_then(|kinds| kinds.get_mut(kind)) else { return };
        let spells = full.get(kind).map_or(0, |full| full.spells);
        if std::mem::replace(&mut own.spell, spells) != spells && own.now.0.needs_free_places() {
            // What was told before is over.
            *own = Held { spell: spells, ..Held::default() };
        }
        if own.now != why {
            own.now = why;
            if let Some(held) = self.held(job, kind) {
                held.set(why.0 != Reason::None);
            }
            touched.push((job, kind));
            self.changed.set(true);
        }
    }

    /// Takes down whether no place is free for tasks of a kind. A time that lasted for `long` ends all reasons, from its beginning on.
    ///
    /// # Errors
    /// Those of `report`.
    pub(crate) fn take_room<E>(
        &self,
        kind: usize,
        is_full: bool,
        (at, long): (Ms, Ms),
        mut report: impl FnMut(&PassedOver) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = &mut *self.state.borrow_mut();
        let Some(full) = state.full.get_mut(kind) else { return Ok(()) };
        match (full.since, is_full) {
            (None, true) => full.since = Some(at),
            (Some(since), false) => {
                full.since = None;
                if at - since >= long {
                    full.spells += 1;
                    let kind = self.kinds.get(kind).copied().unwrap_or_default();
                    report(&PassedOver { at: since, job: None, kind, reason: Reason::None, other: None })?;
                }
            }
            (None, false) | (Some(_), true) => {}
        }
        Ok(())
    }

    /// Reports what has changed since the last report, in the order in which it was told.
    ///
    /// # Errors
    /// Those of `report`.
    #[inline]
    pub(crate) fn report<E>(&self, at: Ms, report: impl FnMut(&PassedOver) -> Result<(), E>) -> Result<(), E> {
        if self.changed.get() { self.report_changes(at, report) } else { Ok(()) }
    }

    fn report_changes<E>(&self, at: Ms, mut report: impl FnMut(&PassedOver) -> Result<(), E>) -> Result<(), E> {
        self.changed.set(false);
        let State { jobs, touched, .. } = &mut *self.state.borrow_mut();
        for (job, kind) in touched.drain(..) {
            let Some(own) = jobs.get_mut(job.index()).and_then(|kinds| kinds.get_mut(kind)) else { continue };
            if own.now != own.reported {
                own.reported = own.now;
                let (reason, other) = own.now;
                let kind = self.kinds.get(kind).copied().unwrap_or_default();
                report(&PassedOver { at, job: Some(job), kind, reason, other })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(reasons: &Reasons, at: Ms) -> Vec<(Ms, usize, Reason)> {
        let mut all = Vec::new();
        let report = |own: &PassedOver| {
            all.push((own.at, own.job.map_or(9, JobId::index), own.reason));
            Ok::<(), ()>(())
        };
        assert_eq!(reasons.report(at, report), Ok(()));
        all
    }

    #[test]
    fn only_changes_are_reported_and_what_ends_at_once_is_none() {
        let reasons = Reasons::wanted(2, [TaskKind::Map, TaskKind::Reduce]);
        let [one, two] = [0, 1].map(JobId::at);
        reasons.tell(one, 0, Reason::Locality, None);
        reasons.tell(two, 0, Reason::UserLimit, None);
        reasons.end(two, 0);
        assert_eq!(reported(&reasons, 5), [(5, 0, Reason::Locality)]);
        reasons.tell(one, 0, Reason::Locality, None);
        assert_eq!(reported(&reasons, 6), []);
        reasons.end_if(one, 0, Reason::Fit);
        reasons.end_if(one, 0, Reason::Locality);
        assert_eq!(reported(&reasons, 7), [(7, 0, Reason::None)]);
    }

    #[test]
    fn what_was_told_before_all_was_full_is_told_again() {
        let reasons = Reasons::wanted(1, [TaskKind::Map, TaskKind::Reduce]);
        let job = JobId::at(0);
        let locality = |at| {
            reasons.tell(job, 0, Reason::Locality, None);
            reported(&reasons, at)
        };
        let room = |at, is_full| {
            let mut since = Vec::new();
            let report = |own: &PassedOver| {
                since.push(own.at);
                Ok::<(), ()>(())
            };
            assert_eq!(reasons.take_room(0, is_full, (at, 3), report), Ok(()));
            since
        };
        assert_eq!(locality(1), [(1, 0, Reason::Locality)]);
        assert_eq!((room(2, true), room(4, false)), (vec![], vec![]), "that was short");
        assert_eq!(locality(4), []);
        assert_eq!((room(5, true), room(6, true), room(8, false)), (vec![], vec![], vec![5]));
        assert_eq!(locality(9), [(9, 0, Reason::Locality)]);
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let reasons = Reasons::default();
        reasons.tell(JobId::at(0), 0, Reason::Locality, None);
        assert_eq!(reported(&reasons, 1), []);
    }
}
