//! A compact record of why policies pass over jobs: it stores changes only.
//!
//! A reason holds until another is given, until a task of the job and kind starts, or until no place for this kind of task is free any
//! more for a while: then every job waits for a place, whatever held it back before.

use std::cell::{Cell, RefCell};

use resched_tables::model::{Reason, TaskKind};

use crate::ids::{JobId, Ms};
use crate::observer::PassedOver;

/// A reason, and the job that it is about.
pub(crate) type Why = (Reason, Option<JobId>);

/// The reasons that hold now. Only changes are reported, once an event is over, so a reason that lasts takes one row however often it
/// is given.
///
/// A reason changes no schedule, so a policy may give it wherever it sees the world.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    wanted: bool,
    kinds: [TaskKind; 2],
    /// By job and kind. Most calls change nothing, and look no further.
    jobs: Vec<[Cell<Held>; 2]>,
    /// By kind.
    full: [Cell<Full>; 2],
    /// The places that may have changed since the last report.
    touched: RefCell<Vec<(JobId, usize)>>,
}

/// What holds for a job and kind.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    now: Why,
    reported: Why,
    /// The number of times that all was full before it was given.
    spell: u32,
}

impl Held {
    /// What is left of it after so many times that all was full: what was given before the last of them is over.
    #[inline]
    fn at(self, spell: u32) -> Self {
        let is_over = self.spell != spell && self.now.0.needs_free_places();
        Self { spell, ..if is_over { Self::default() } else { self } }
    }
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
        Self { wanted: true, kinds, jobs: vec![Default::default(); jobs], ..Self::default() }
    }

    /// True if anybody wants to know.
    #[inline]
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// A job is passed over with its tasks of the kind at this place.
    #[inline]
    pub(crate) fn give(&self, job: JobId, kind: usize, reason: Reason, other: Option<JobId>) {
        if self.wanted {
            self.note(job, kind, (reason, other));
        }
    }

    /// Nothing holds a job back any more.
    #[inline]
    pub(crate) fn end(&self, job: JobId, kind: usize) {
        if self.now(job, kind).0 != Reason::None {
            self.note(job, kind, (Reason::None, None));
        }
    }

    /// A job was passed over from an earlier instant on. Returns the report of that, if anybody wants to know.
    pub(crate) fn give_since(&self, job: JobId, kind: usize, reason: Reason, since: Ms) -> Option<PassedOver> {
        let why = (reason, None);
        let held = self.held(job, kind)?;
        held.set(Held { now: why, reported: why, ..held.get() });
        Some(PassedOver { at: since, job: Some(job), kind: self.kind(kind), reason, other: None })
    }

    /// Ends one reason, if it is the one that holds.
    pub(crate) fn end_if(&self, job: JobId, kind: usize, reason: Reason) {
        if self.now(job, kind).0 == reason {
            self.end(job, kind);
        }
    }

    #[inline]
    fn held(&self, job: JobId, kind: usize) -> Option<&Cell<Held>> {
        self.jobs.get(job.index()).and_then(|kinds| kinds.get(kind))
    }

    /// The reason that holds, and the job that it is about; none if nobody wants to know.
    #[inline]
    pub(crate) fn now(&self, job: JobId, kind: usize) -> Why {
        let (Some(held), Some(full)) = (self.held(job, kind), self.full.get(kind)) else { return Why::default() };
        held.get().at(full.get().spells).now
    }

    fn kind(&self, kind: usize) -> TaskKind {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    #[inline]
    fn note(&self, job: JobId, kind: usize, why: Why) {
        let (Some(held), Some(full)) = (self.held(job, kind), self.full.get(kind)) else { return };
        let spells = held.get().at(full.get().spells);
        if spells.now != why {
            self.touched.borrow_mut().push((job, kind));
        }
        held.set(Held { now: why, ..spells });
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
        let Some(full) = self.full.get(kind) else { return Ok(()) };
        let Full { since, spells } = full.get();
        match (since, is_full) {
            (None, true) => full.set(Full { since: Some(at), spells }),
            (Some(since), false) => {
                let lasted = at - since >= long;
                full.set(Full { since: None, spells: spells + u32::from(lasted) });
                if lasted {
                    report(&PassedOver {
                        at: since,
                        job: None,
                        kind: self.kind(kind),
                        reason: Reason::None,
                        other: None,
                    })?;
                }
            }
            (None, false) | (Some(_), true) => {}
        }
        Ok(())
    }

    /// Reports what has changed since the last report, in the order in which it was given.
    ///
    /// # Errors
    /// Those of `report`.
    #[inline]
    pub(crate) fn report<E>(&self, at: Ms, mut report: impl FnMut(&PassedOver) -> Result<(), E>) -> Result<(), E> {
        for (job, kind) in self.touched.borrow_mut().drain(..) {
            let Some(held) = self.held(job, kind) else { continue };
            let spells = held.get();
            if spells.now != spells.reported {
                held.set(Held { reported: spells.now, ..spells });
                let (reason, other) = spells.now;
                report(&PassedOver { at, job: Some(job), kind: self.kind(kind), reason, other })?;
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
        let report = |passed_over: &PassedOver| {
            all.push((passed_over.at, passed_over.job.map_or(9, JobId::index), passed_over.reason));
            Ok::<(), ()>(())
        };
        assert_eq!(reasons.report(at, report), Ok(()));
        all
    }

    #[test]
    fn only_changes_are_reported_and_what_ends_at_once_is_none() {
        let reasons = Reasons::wanted(2, [TaskKind::Map, TaskKind::Reduce]);
        let [one, two] = [0, 1].map(JobId::at);
        reasons.give(one, 0, Reason::Locality, None);
        reasons.give(two, 0, Reason::UserLimit, None);
        reasons.end(two, 0);
        assert_eq!(reported(&reasons, 5), [(5, 0, Reason::Locality)]);
        reasons.give(one, 0, Reason::Locality, None);
        assert_eq!(reported(&reasons, 6), []);
        reasons.end_if(one, 0, Reason::Fit);
        reasons.end_if(one, 0, Reason::Locality);
        assert_eq!(reported(&reasons, 7), [(7, 0, Reason::None)]);
    }

    #[test]
    fn what_was_given_before_all_was_full_is_given_again() {
        let reasons = Reasons::wanted(1, [TaskKind::Map, TaskKind::Reduce]);
        let job = JobId::at(0);
        let locality = |at| {
            reasons.give(job, 0, Reason::Locality, None);
            reported(&reasons, at)
        };
        let room = |at, is_full| {
            let mut since = Vec::new();
            let report = |passed_over: &PassedOver| {
                since.push(passed_over.at);
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
        reasons.give(JobId::at(0), 0, Reason::Locality, None);
        assert_eq!(reported(&reasons, 1), []);
    }
}
