//! The units that run, and when a job will find room by their limits.
//!
//! **Source.** `_will_run_test` of `select/cons_tres` in 22.05 (`docs/slurm.md`, backfill): running jobs are taken away in the order of their
//! ends, in bundles. All bundles are counted from one instant, the next whole half minute of the clock after the first end. The first reaches
//! 30 s beyond it, and each next one twice as far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use resched_sim::batch::AttemptId;
use resched_sim::{Ms, TaskId};

use super::cluster::{Cluster, Held, Request};
use super::place::Places;
use super::priority::Standing;
use super::rank::Rank;
use super::waiting::Taken;
use crate::parts::by_id::ByRun;

/// How far the first bundle of ends reaches, ms; and the grain of the instant that all bundles are counted from.
const BUNDLE: Ms = 30_000;

/// A unit that runs.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) run: AttemptId,
    pub(super) task: TaskId,
    pub(super) request: Rc<Request>,
    pub(super) held: Held,
    pub(super) start: Ms,
    /// When it ends by its limit, ms.
    pub(super) end: Ms,
    pub(super) taken: Rc<Taken>,
    pub(super) standing: Standing,
    pub(super) rank: Rank,
    /// True if it has ended, which the controller may not have noticed yet.
    pub(super) is_over: bool,
    /// True if it has lost its place, and runs on until its end only.
    pub(super) leaves: bool,
}

/// The units that run.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// When each ends by its limit, in that order; of equals, those of earlier jobs first, as in Slurm's list of jobs.
    by_end: Vec<(Ms, TaskId, UnitId)>,
    /// On how many machines those up to each of them run, machines of several counted for each.
    machines: Vec<usize>,
    units: Vec<Option<Unit>>,
    /// Places among the units that are empty.
    empty: Vec<UnitId>,
    of_run: ByRun<UnitId>,
    /// Units that have ended, and when the controller notices it.
    ended: BinaryHeap<Reverse<(Ms, UnitId)>>,
    /// Units that have lost their place, and until when they run on.
    leaving: BinaryHeap<Reverse<(Ms, UnitId, AttemptId)>>,
}

/// The place of a unit.
pub(super) type UnitId = u32;

/// When a job starts, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) at: Ms,
    pub(super) places: Places,
}

/// How far a start is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    pub(super) now: Ms,
    /// The time of the trace at 0 of the simulated clock, ms.
    pub(super) zero: Ms,
    /// All that ends before is taken away at once; `now` for nothing.
    pub(super) from: Ms,
    /// Up to then; `now` for nothing but a start now.
    pub(super) until: Ms,
    /// True if a bundle of ends ends there, too. Otherwise, one that reaches farther gives no start.
    pub(super) cuts: bool,
    /// How much farther each bundle of ends reaches than the one before; none: twice as far.
    pub(super) widen: Option<Ms>,
}

impl Running {
    pub(super) fn add(&mut self, unit: Unit) {
        let run = unit.run;
        let id = self.empty.pop().unwrap_or_else(|| {
            self.units.push(None);
            self.units.len() as UnitId - 1
        });
        let key = (unit.end, unit.task, id);
        let place = self.by_end.partition_point(|&end| end < key);
        self.by_end.insert(place, key);
        let before = place.checked_sub(1).map_or(0, |before| self.machines[before]);
        self.machines.insert(place, before);
        self.machines[place..].iter_mut().for_each(|sum| *sum += unit.held.places.len());
        self.units[id as usize] = Some(unit);
        self.of_run[run] = id;
    }

    /// A run has ended, which the controller notices at that instant.
    pub(super) fn end(&mut self, run: AttemptId, noticed: Ms) {
        let id = self.of_run[run];
        if let Some(Some(unit)) = self.units.get_mut(id as usize) {
            unit.is_over = true;
        }
        self.ended.push(Reverse((noticed, id)));
    }

    /// The next unit whose end is noticed until now.
    pub(super) fn next_ended(&mut self, now: Ms) -> Option<Unit> {
        let &Reverse((_, id)) = self.ended.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.ended.pop();
        self.take(id)
    }

    /// The units that run, or have ended without notice, by their places.
    pub(super) fn units(&self) -> impl Iterator<Item = (UnitId, &Unit)> {
        (0..).zip(&self.units).filter_map(|(id, unit)| Some((id, unit.as_ref()?)))
    }

    /// A unit loses its place at an instant. Until then it runs on, and that is when it ends by its limit.
    pub(super) fn leave(&mut self, id: UnitId, at: Ms) {
        let Some(mut unit) = self.take(id) else { return };
        (unit.leaves, unit.end) = (true, unit.end.min(at));
        let (end, run) = (unit.end, unit.run);
        self.add(unit);
        self.leaving.push(Reverse((end, self.of_run[run], run)));
    }

    /// The next unit that must leave by now.
    pub(super) fn next_leaving(&mut self, now: Ms) -> Option<Unit> {
        while let Some(&Reverse((_, id, run))) = self.leaving.peek().filter(|Reverse((at, ..))| *at <= now) {
            self.leaving.pop();
            let is_there = |unit: &Unit| unit.run == run && unit.leaves && !unit.is_over;
            if self.units.get(id as usize).and_then(Option::as_ref).is_some_and(is_there) {
                return self.take(id);
            }
        }
        None
    }

    pub(super) fn get(&self, id: UnitId) -> Option<&Unit> {
        self.units.get(id as usize)?.as_ref()
    }

    /// Takes a unit out.
    pub(super) fn take(&mut self, id: UnitId) -> Option<Unit> {
        let unit = self.units.get_mut(id as usize)?.take()?;
        self.empty.push(id);
        if let Ok(place) = self.by_end.binary_search(&(unit.end, unit.task, id)) {
            self.by_end.remove(place);
            self.machines.remove(place);
            self.machines[place..].iter_mut().for_each(|sum| *sum -= unit.held.places.len());
        }
        Some(unit)
    }

    /// The most machines on which there is more room once all have ended that end by their limits until an instant.
    fn machines_until(&self, until: Ms) -> usize {
        let ends = self.by_end.partition_point(|&(end, ..)| end <= until);
        ends.checked_sub(1).map_or(0, |last| self.machines[last])
    }

    /// The first end by a limit after an instant.
    pub(super) fn next_end(&self, after: Ms) -> Option<Ms> {
        self.by_end.get(self.by_end.partition_point(|&(end, ..)| end <= after)).map(|&(end, ..)| end)
    }

    /// When a job starts on these machines if no other does before, and where; `None` if that is later than is looked for.
    pub(super) fn start_of(
        &self,
        request: &Request,
        machines: &FixedBitSet,
        Search { now, zero, from, until, cuts, widen }: Search,
        cluster: &mut Cluster,
    ) -> Option<Start> {
        // Half of all searches find nothing, and most of them have too few ends.
        let ends = self.machines_until(until);
        if !cluster.may_start(request, ends) || !cluster.may_hold(request, machines) {
            return None;
        }
        cluster.look_ahead(request);
        let mut gain = cluster.gain(request, machines);
        if !cluster.may_fit_with(request, gain, ends) {
            return None;
        }
        let mut rest = self.by_end.iter().peekable();
        while let Some(&(.., id)) = rest.next_if(|&&(end, ..)| from > now && end < from) {
            let Some(unit) = &self.units[id as usize] else { continue };
            let more = cluster.end_ahead((&unit.request, &unit.held), (request, machines));
            gain = gain.plus(more.unwrap_or_default());
        }
        if request.asked.may_fit(gain)
            && let Some(places) = cluster.place(request, machines)
        {
            return Some(Start { at: from, places });
        }
        let (mut reach, mut barrier) = (BUNDLE, None);
        while rest.peek().is_some() {
            let mut last = None;
            while let Some(&&(end, _, id)) = rest.peek() {
                if end > until && (cuts || last.is_none()) {
                    break;
                }
                rest.next();
                let Some(unit) = &self.units[id as usize] else { continue };
                // A start is never before the last end that it needs.
                if end > until && unit.held.is_on(machines) {
                    return None;
                }
                // Slurm looks at the next end only behind one that gives room.
                let Some(more) = cluster.end_ahead((&unit.request, &unit.held), (request, machines)) else { continue };
                let first = *barrier.get_or_insert_with(|| next_half_minute(end, zero));
                last = Some(end);
                gain = gain.plus(more);
                if rest.peek().is_some_and(|&&(next, ..)| next > first.saturating_add(reach)) {
                    break;
                }
            }
            let (last, first) = (last?, barrier?);
            let next = rest.peek().map_or(first, |&&(next, ..)| next);
            reach = farther(reach, widen, next.saturating_sub(first));
            if request.asked.may_fit(gain)
                && let Some(places) = cluster.place(request, machines)
            {
                // What runs beyond its limit is about to end.
                return Some(Start { at: last.max(now.saturating_add(1_000)), places });
            }
        }
        None
    }
}

/// The first whole half minute of the clock of the trace after an instant.
fn next_half_minute(at: Ms, zero: Ms) -> Ms {
    at.saturating_add(BUNDLE - at.saturating_add(zero).rem_euclid(BUNDLE))
}

/// How far the next bundle reaches, which has the next end at least.
fn farther(reach: Ms, widen: Option<Ms>, next: Ms) -> Ms {
    let Some(more) = widen else {
        let mut reach = reach.saturating_mul(2);
        while reach < next {
            reach = reach.saturating_mul(2);
        }
        return reach;
    };
    let steps = (next.saturating_sub(reach).max(1).saturating_add(more - 1)) / more;
    reach.saturating_add(more.saturating_mul(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the source: the first bundle ends 30 s after the next whole half minute, never in the half minute of its first end.
    #[test]
    fn bundles_are_counted_from_a_half_minute_of_the_clock() {
        assert_eq!(next_half_minute(29_999, 0), 30_000);
        assert_eq!(next_half_minute(30_000, 0), 60_000, "a whole half minute is followed by another");
        assert_eq!(next_half_minute(31_000, 0), 60_000);
        assert_eq!(next_half_minute(31_000, 1_795_320_017_000), 43_000, "the clock is that of the trace");
    }

    #[test]
    fn the_next_bundle_has_the_next_end() {
        assert_eq!(farther(30_000, None, 40_000), 60_000);
        assert_eq!(farther(30_000, None, 60_001), 120_000);
        assert_eq!(farther(30_000, None, 31_536_000_000), 31_457_280_000 * 2, "a job without a limit ends in a year");
        assert_eq!(farther(30_000, Some(1_000), 10_000), 31_000);
        assert_eq!(farther(30_000, Some(1_000), 35_000), 35_000);
        assert_eq!(farther(30_000, Some(1_000), 35_001), 36_000);
        assert_eq!(farther(30_000, None, 0), 60_000);
    }
}
