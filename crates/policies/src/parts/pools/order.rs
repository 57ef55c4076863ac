//! The order in which pools and jobs are asked at a heartbeat, and how many tasks it gets.

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, Violation};
use resched_tables::model::Reason;

use super::{Answer, Line, Named, Pools, Stand};
use crate::parts::fair_share::{Standing, load_cap, priority_weight};

/// A job counts three times for so long, if boosted, ms.
pub(super) const BOOST_TIME: Ms = 300_000;

impl Pools {
    /// What a job counts for against others of its pool.
    pub fn weight(&self, view: View<'_>, job: JobId, kind: Kind) -> f64 {
        let mut weight = priority_weight(view.job(job).priority());
        if self.rules.size_weight {
            weight *= f64::from(self.jobs[job].demand[kind.index()]).ln_1p() / std::f64::consts::LN_2;
        }
        if self.rules.boost && view.now() - view.job(job).submit() < BOOST_TIME {
            weight *= 3.0;
        }
        weight
    }

    /// Puts the pools that have moved where they belong in the order in which pools are asked, by name among equals.
    fn keep_in_line(&mut self) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        moved.dedup();
        for &place in &moved {
            for kind in Kind::BOTH {
                let after = self.stand(place, kind);
                let pool = &mut self.pools[place];
                let before = std::mem::replace(&mut pool.standing[kind.index()], after);
                self.lines[kind.index()].put(&pool.named, [before, after]);
            }
        }
        moved.clear();
        self.moved = moved;
    }

    /// What the place in line of a pool that has jobs goes by.
    fn stand(&self, place: usize, kind: Kind) -> Option<Stand> {
        let pool = &self.pools[place];
        let standing = Standing {
            running: self.used(place, kind).into(),
            min_share: pool.min_share(kind).min(pool.demand(kind)).into(),
            weight: pool.config.weight,
        };
        (!pool.jobs.is_empty()).then(|| standing.key())
    }

    /// Tasks of a kind that a pool runs, and slots that it has left idle.
    fn used(&self, pool: usize, kind: Kind) -> u32 {
        self.pools[pool].running[kind.index()] + self.pools[pool].idle[kind.index()]
    }

    /// The first job in the order that passes the test, to be launched by the caller.
    pub fn first(&mut self, kind: Kind, view: View<'_>, passes: impl Fn(JobId) -> bool) -> Option<JobId> {
        self.follow(view);
        self.keep_in_line();
        let open = |&pool: &usize| self.used(pool, kind) < self.pools[pool].max_share(kind);
        let pools = self.lines[kind.index()].iter().map(|pool| pool.place).filter(open);
        pools.flat_map(|pool| self.pools[pool].rankings[kind.index()].iter().copied()).find(|&job| passes(job))
    }

    /// Reports that the jobs of a pool may run no more tasks of a kind.
    fn report_limit(&self, pool: usize, kind: Kind, view: View<'_>) {
        if view.wants_reasons() {
            self.pools[pool].jobs.iter().for_each(|&job| view.pass_over(job, kind, Reason::QueueLimit));
        }
    }

    /// Asks pools and jobs in order for one task of a kind. Returns whether a slot was used up.
    fn ask(
        &mut self,
        offer: &mut Offer<'_, '_>,
        kind: Kind,
        launch: &mut impl FnMut(&Self, &mut Offer<'_, '_>, JobId, Kind) -> Result<Answer, Violation>,
    ) -> Result<bool, Violation> {
        // No job remembers that it was asked for a reduce in vain.
        if kind == Kind::Reduce && offer.view().ready(kind) == 0 {
            return Ok(false);
        }
        self.follow(offer.view());
        self.keep_in_line();
        let line = std::mem::take(&mut self.lines[kind.index()]);
        let asked = self.ask_in_line(offer, kind, &line, launch);
        self.lines[kind.index()] = line;
        asked
    }

    /// Asks these pools, and the jobs of each, in order.
    fn ask_in_line(
        &mut self,
        offer: &mut Offer<'_, '_>,
        kind: Kind,
        line: &Line,
        launch: &mut impl FnMut(&Self, &mut Offer<'_, '_>, JobId, Kind) -> Result<Answer, Violation>,
    ) -> Result<bool, Violation> {
        for &Named { place: pool, .. } in line.iter() {
            if self.used(pool, kind) >= self.pools[pool].max_share(kind) {
                self.report_limit(pool, kind, offer.view());
                continue;
            }
            let mut place = 0;
            while let Some(&job) = self.pools[pool].rankings[kind.index()].get(place) {
                match launch(self, offer, job, kind)? {
                    Answer::Nothing => place += 1,
                    Answer::Launched => return Ok(true),
                    Answer::LeftIdle => {
                        self.leave_idle(job, kind, offer.view());
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// How many tasks of a kind one heartbeat may get.
    fn cap(&self, offer: &Offer<'_, '_>, kind: Kind) -> u32 {
        if !self.rules.assign_multiple {
            return 1;
        }
        let free = offer.free(kind);
        self.rules.caps[kind.index()].map_or(free, |cap| cap.min(free))
    }

    /// Asks for tasks of these kinds until the node gets no more of either; `launch` launches what the job has, if anything.
    ///
    /// # Errors
    /// Those of `launch`.
    pub fn assign(
        &mut self,
        offer: &mut Offer<'_, '_>,
        kinds: &[Kind],
        mut launch: impl FnMut(&Self, &mut Offer<'_, '_>, JobId, Kind) -> Result<Answer, Violation>,
    ) -> Result<(), Violation> {
        self.forget_idle(offer.view());
        self.follow(offer.view());
        let mut running = self.running;
        let mut assigned = [0; 2];
        let mut open = Kind::BOTH.map(|kind| kinds.contains(&kind));
        let caps = Kind::BOTH.map(|kind| self.cap(offer, kind));
        let full = Kind::BOTH.map(|kind| {
            let slots = offer.view().node_slots(offer.node(), kind);
            let cap = load_cap(slots, self.rules.max_diff, self.demand[kind.index()], offer.view().slots(kind));
            offer.reported(kind) >= cap
        });
        loop {
            for kind in [0, 1] {
                open[kind] &= !full[kind] && assigned[kind] < caps[kind] && running[kind] != self.demand[kind];
            }
            let some = assigned != [0, 0];
            let kind = match open {
                _ if some && !self.rules.assign_multiple => return Ok(()),
                [true, true] if offer.reported(Kind::Map) <= offer.reported(Kind::Reduce) => Kind::Map,
                [true, false] => Kind::Map,
                [_, true] => Kind::Reduce,
                [false, false] => return Ok(()),
            };
            if offer.free(kind) > 0 && self.ask(offer, kind, &mut launch)? {
                assigned[kind.index()] += 1;
                running[kind.index()] += 1;
            } else {
                open[kind.index()] = false;
            }
        }
    }
}
