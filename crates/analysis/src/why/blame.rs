//! Who held what jobs waited for.
//!
//! Let `w(t)` be the number of the explained jobs that wait for a resource at `t`, and `W(t)` its integral. An attempt that held `h` of
//! the resource from `s` to `f` then held `h·(W(f) − W(s))` of it while they waited. So one pass over the attempts finds the blame of
//! all holders for any set of jobs, in the order of attempts × log of the waits, and all sums are whole numbers.
//!
//! The waiting time is divided in proportion to these sums. Of a resource that has the capacity `c`, what nobody held is blamed on
//! [`Holder::Idle`]: it was free, and the job waited for the next heartbeat, or the machine was lost. A wait for a limit is divided
//! among the jobs of that user or queue.

use std::collections::BTreeMap;

use resched_tables::model::Reason;

use super::apportion::apportion;
use super::held::{Held, Resource, Why};
use super::phase::Phase;
use super::timeline::{Scope, Stretch};

/// Who is to blame for a wait. `J` names a job, or the jobs of a user or queue: by the row in the table of jobs, unless it says
/// otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder<J = usize> {
    /// That job, or those jobs.
    Job(J),
    /// All jobs that are not named.
    Others,
    /// Nobody: what the job waited for was free, or its machine was lost.
    Idle,
    /// A rule of the policy or of Hadoop, or the job itself.
    Rule,
}

impl<J> Holder<J> {
    /// Their names in JSON, CSV, tables and pages, in the order of [`Holder::place`].
    pub const NAMES: [&'static str; 4] = ["job", "others", "idle", "rule"];

    /// Its place in [`Holder::NAMES`].
    pub fn place(&self) -> usize {
        match self {
            Self::Job(_) => 0,
            Self::Others => 1,
            Self::Idle => 2,
            Self::Rule => 3,
        }
    }

    /// Its name in JSON, CSV, tables and pages.
    pub fn name(&self) -> &'static str {
        Self::NAMES[self.place()]
    }
}

/// What the time of a job is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) phase: Phase,
    pub(super) reason: Reason,
    /// True if some of the job ran meanwhile.
    pub(super) partly: bool,
}

/// A kind of wait, the resource that is waited for unless a rule limits the job, and who is to blame.
pub(super) type Part = (Kind, Option<Resource>, Holder);

/// A part of the blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Share {
    /// The waiting time, ms.
    pub(super) ms: i64,
    /// What the holder held meanwhile: slots × ms, 1/1000 core × ms or memory × ms.
    pub(super) held: u128,
}

/// Waits that are divided among those who held something.
pub(super) struct Divided {
    pub(super) kind: Kind,
    pub(super) scope: Scope,
    /// Their length, ms.
    pub(super) total: i64,
    /// What is waited for; `None` for a limit.
    pub(super) resource: Option<Resource>,
}

/// The number of jobs that wait, over time.
#[derive(Default)]
pub(super) struct Curve {
    changes: Vec<(i64, i64)>,
    /// Instants with the integral up to then and the number from then on.
    points: Vec<(i64, u128, u128)>,
    total: i64,
}

impl Curve {
    fn add(&mut self, from: i64, to: i64) {
        self.changes.extend([(from, 1), (to, -1)]);
        self.total += to - from;
    }

    fn settle(&mut self) {
        self.changes.sort_unstable();
        let (mut area, mut waiting, mut since) = (0u128, 0i64, 0i64);
        for instant in self.changes.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(at, _)) = instant.first() else { continue };
            area += u128::from(waiting.unsigned_abs()) * u128::from(at.abs_diff(since));
            waiting += instant.iter().map(|change| change.1).sum::<i64>();
            since = at;
            self.points.push((at, area, u128::from(waiting.unsigned_abs())));
        }
        self.changes = Vec::new();
    }

    /// The times in which some jobs wait, with their number.
    pub(super) fn spans(&self) -> impl Iterator<Item = (i64, i64, u128)> + '_ {
        let span = |pair: &[(i64, u128, u128)]| {
            let &[(from, _, waiting), (to, _, _)] = pair else { return None };
            (waiting > 0).then_some((from, to, waiting))
        };
        self.points.windows(2).filter_map(span)
    }

    /// The integral up to `at`.
    fn up_to(&self, at: i64) -> u128 {
        let after = self.points.partition_point(|point| point.0 <= at);
        let Some(&(since, area, waiting)) = after.checked_sub(1).and_then(|place| self.points.get(place)) else {
            return 0;
        };
        area + waiting * u128::from(at.abs_diff(since))
    }
}

/// The waits of some jobs.
pub(super) struct Ledger<'a> {
    why: &'a Why,
    /// All time by phase, ms.
    pub(super) totals: BTreeMap<Kind, i64>,
    curves: BTreeMap<(Kind, Scope), Curve>,
    direct: BTreeMap<(Kind, Holder), i64>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(why: &'a Why) -> Self {
        Self { why, totals: BTreeMap::new(), curves: BTreeMap::new(), direct: BTreeMap::new() }
    }

    /// Adds a stretch of one of the jobs.
    pub(super) fn add(&mut self, stretch: &Stretch) {
        let &Stretch { from, to, phase, reason, partly, scope } = stretch;
        let kind = Kind { phase, reason, partly };
        *self.totals.entry(kind).or_default() += to - from;
        if !phase.is_wait() {
            return;
        }
        let mut blame = |holder| *self.direct.entry((kind, holder)).or_default() += to - from;
        match scope {
            Scope::Rule => blame(Holder::Rule),
            Scope::Job(job) => blame(Holder::Job(job as usize)),
            Scope::Pool(_) | Scope::User(_) | Scope::Queue(_) => {
                self.curves.entry((kind, scope)).or_default().add(from, to);
            }
        }
    }

    /// Ends the list of waits.
    pub(super) fn settle(&mut self) {
        self.curves.values_mut().for_each(Curve::settle);
    }

    /// What was held by `attempts` while the jobs waited, for each wait that is divided, by job. The attempts of a job stand together.
    pub(super) fn held_by(&self, attempts: &[Held]) -> Vec<Vec<(u32, u128)>> {
        let curves: Vec<(Scope, &Curve)> = self.waits().collect();
        let by_scope = ByScope::of(&curves);
        let mut held: Vec<Vec<(u32, u128)>> = vec![Vec::new(); curves.len()];
        for attempt in attempts {
            by_scope.each(self.why, attempt, |place, amount| {
                let (Some((_, curve)), Some(of_resource)) = (curves.get(place), held.get_mut(place)) else { return };
                let waited = curve.up_to(attempt.finish) - curve.up_to(attempt.start);
                match of_resource.last_mut().filter(|last| last.0 == attempt.job) {
                    _ if waited == 0 => {}
                    Some(last) => last.1 += waited * amount,
                    None => of_resource.push((attempt.job, waited * amount)),
                }
            });
        }
        held
    }

    /// The waits that are divided, in the order of [`Ledger::held_by`], each with who is to blame and when the jobs wait.
    pub(super) fn waits(&self) -> impl Iterator<Item = (Scope, &Curve)> {
        self.curves.iter().map(|((_, scope), curve)| (*scope, curve))
    }

    /// The waits that are divided, in the order of [`Ledger::held_by`].
    pub(super) fn divided(&self) -> impl Iterator<Item = Divided> + '_ {
        self.curves.iter().map(|(&(kind, scope), curve)| Divided {
            kind,
            scope,
            total: curve.total,
            resource: if let Scope::Pool(resource) = scope { Some(resource) } else { None },
        })
    }

    /// What all of a resource comes to in a wait of that length; `None` for a limit, of which nobody can hold less than all.
    pub(super) fn all_of(&self, resource: Option<Resource>, total: i64) -> Option<u128> {
        resource.map(|resource| self.why.capacity(resource).saturating_mul(u128::from(total.unsigned_abs())))
    }

    /// The waits that are blamed as a whole.
    pub(super) fn whole(&self) -> impl Iterator<Item = (Kind, Holder, i64)> + '_ {
        self.direct.iter().map(|(&(kind, holder), &ms)| (kind, holder, ms))
    }

    /// The blame by phase and holder. For each phase that is a wait, it adds up to the time in it.
    pub(super) fn blame(&self) -> BTreeMap<Part, Share> {
        let mut blame: BTreeMap<Part, Share> = BTreeMap::new();
        for (kind, holder, ms) in self.whole() {
            blame.entry((kind, None, holder)).or_default().ms += ms;
        }
        for (Divided { kind, total, resource, .. }, held) in self.divided().zip(self.held_by(&self.why.attempts)) {
            let sum = held.iter().fold(0u128, |sum, holder| sum.saturating_add(holder.1));
            // Nobody holds the limit of a user who holds nothing: the rule itself does.
            let (rest, rest_weight) = match self.all_of(resource, total) {
                Some(all) => (Holder::Idle, all.saturating_sub(sum)),
                None => (Holder::Rule, 0),
            };
            let weights: Vec<u128> = held.iter().map(|holder| holder.1).chain([rest_weight]).collect();
            let parts = apportion(total, &weights);
            let mut given = 0;
            for (&(job, amount), &ms) in held.iter().zip(&parts) {
                let share = blame.entry((kind, resource, Holder::Job(job as usize))).or_default();
                share.ms += ms;
                share.held = share.held.saturating_add(amount);
                given += ms;
            }
            blame.entry((kind, resource, rest)).or_default().ms += total - given;
        }
        blame.retain(|_, share| *share != Share::default());
        blame
    }
}

/// The places of curves by what attempts can be to blame for.
#[derive(Default)]
struct ByScope {
    pools: Vec<(usize, Resource)>,
    users: BTreeMap<u32, Vec<usize>>,
    queues: BTreeMap<u32, Vec<usize>>,
}

impl ByScope {
    fn of(curves: &[(Scope, &Curve)]) -> Self {
        let mut by_scope = Self::default();
        for (place, &(scope, _)) in curves.iter().enumerate() {
            match scope {
                Scope::Pool(resource) => by_scope.pools.push((place, resource)),
                Scope::User(user) => by_scope.users.entry(user).or_default().push(place),
                Scope::Queue(queue) => by_scope.queues.entry(queue).or_default().push(place),
                Scope::Job(_) | Scope::Rule => {}
            }
        }
        by_scope
    }

    /// The curves that an attempt matters for, with the amount that it holds. A limit counts what runs, one each.
    fn each(&self, why: &Why, attempt: &Held, mut matters: impl FnMut(usize, u128)) {
        for &(place, resource) in &self.pools {
            let amount = why.held(attempt, resource);
            if amount > 0 {
                matters(place, u128::from(amount));
            }
        }
        let job = attempt.job as usize;
        let limited = [self.users.get(&why.user(job)), self.queues.get(&why.queue(job))];
        limited.into_iter().flatten().flatten().for_each(|&place| matters(place, 1));
    }
}
