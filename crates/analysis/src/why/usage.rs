//! Who held most of what a job waited for, found without a look at all attempts.
//!
//! For each holder (a job, a user or a queue), the integral of what it held is a list of points. Those who held some of it in a wait
//! are those who held some at its beginning (they are listed for some instants) and those who began during it. Most of them can be
//! left out at once: they held too little in all their time.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hashbrown::HashMap;

use super::apportion::share;
use super::blame::{Curve, Divided, Holder, Ledger};
use super::by::By;
use super::held::Why;
use super::timeline::Scope;

/// The most holders that are named for a job.
pub(super) const MOST_NAMED: usize = 3;

/// How many holders stand in a block, which is left out as a whole if none of them can have held much.
const BLOCK: usize = 64;

/// The most instants for which the holders of something are listed.
const MOST_CELLS: i64 = 4_096;

/// Who is to blame for the waits of a job. The times add up to those of the waits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shares {
    /// The rows of jobs (of a user or queue: of its first job) that held most of what was waited for, with the time that they are to blame for,
    /// ms, the most first. A job that is among the first three of no wait by itself is not named.
    pub named: Vec<(usize, i64)>,
    /// What all others are to blame for, ms.
    pub others: i64,
    /// What nobody is to blame for, ms: what was waited for was free, or its machine was lost.
    pub idle: i64,
    /// What a rule of the policy or of Hadoop is to blame for, ms.
    pub rule: i64,
}

/// What was held in a run. It is found when it is first asked for.
pub(super) struct Usage<'a> {
    why: &'a Why,
    of: BTreeMap<(Scope, By), Areas>,
}

impl<'a> Usage<'a> {
    pub(super) fn new(why: &'a Why) -> Self {
        Self { why, of: BTreeMap::new() }
    }

    /// Who is to blame for the waits of one job.
    pub(super) fn shares(&mut self, ledger: &Ledger<'_>, by: By) -> Shares {
        let mut shares = Shares::default();
        let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
        let mut total = 0;
        for (_, holder, ms) in ledger.whole() {
            total += ms;
            match holder {
                Holder::Job(row) => *sums.entry(self.why.holder(row, by)).or_default() += ms,
                Holder::Others => shares.others += ms,
                Holder::Idle => shares.idle += ms,
                Holder::Rule => shares.rule += ms,
            }
        }
        let mut holders: BTreeSet<u32> = sums.keys().copied().collect();
        let mut waits = Vec::new();
        for (Divided { total: waited, resource, .. }, (scope, curve)) in ledger.divided().zip(ledger.waits()) {
            total += waited;
            let held = self.areas(scope, By::Run).during(0, curve);
            // Nobody holds the limit of a user who holds nothing: the rule itself does.
            let Some(whole) = Some(ledger.all_of(resource, waited).unwrap_or(0).max(held)).filter(|all| *all > 0)
            else {
                shares.rule += waited;
                continue;
            };
            shares.idle += share(waited, whole - held, whole);
            holders.extend(self.areas(scope, by).most(curve));
            waits.push((scope, curve, waited, whole));
        }
        for &holder in &holders {
            for &(scope, curve, waited, whole) in &waits {
                let held = self.areas(scope, by).during(holder, curve);
                *sums.entry(holder).or_default() += share(waited, held, whole);
            }
        }
        let mut named: Vec<(usize, i64)> = sums.into_iter().map(|(holder, ms)| (holder as usize, ms)).collect();
        named.retain(|&(_, ms)| ms > 0);
        named.sort_by_key(|&(_, ms)| std::cmp::Reverse(ms));
        named.truncate(MOST_NAMED);
        shares.others = total - shares.idle - shares.rule - named.iter().map(|named| named.1).sum::<i64>();
        // Each part was rounded down. What that leaves is nobody's, so the first one gets it.
        if shares.others < ((named.len() + 1) * waits.len()) as i64 {
            let first = named.first_mut().map_or(&mut shares.idle, |first| &mut first.1);
            *first += std::mem::take(&mut shares.others);
        }
        shares.named = named;
        shares
    }

    fn areas(&mut self, scope: Scope, by: By) -> &Areas {
        self.of.entry((scope, by)).or_insert_with(|| Areas::of(self.why, scope, by))
    }
}

/// What holders held of one thing.
struct Areas {
    /// Instants, holder by holder, and the integral of what it held up to each.
    times: Vec<i64>,
    areas: Vec<u128>,
    /// In the order in which they first held some.
    holders: Vec<HolderOf>,
    /// The most of each block of them: at once, and over all its time.
    blocks: Vec<(u128, u128)>,
    /// The most that any of them held at once.
    peak: u128,
    /// The place of each holder in `holders`.
    places: HashMap<u32, u32>,
    /// When the first cell of time begins, and how long each is, ms.
    origin: i64,
    width: i64,
    /// The places in `holders` of those that began before a cell and ended in or after it.
    cells: Vec<Vec<u32>>,
}

/// What a holder held.
struct HolderOf {
    /// The first and the last instant of its points.
    first: i64,
    last: i64,
    holder: u32,
    /// The places of its points.
    points: (usize, usize),
    /// The most that it held at once, and the integral over all its time.
    peak: u128,
    area: u128,
    /// The place of the point at which the last look ended. Jobs are looked at in the order of their submission, so the next look ends near.
    near: Cell<usize>,
}

impl Areas {
    fn of(why: &Why, scope: Scope, by: By) -> Self {
        let mut usage = Self {
            times: Vec::new(),
            areas: Vec::new(),
            holders: Vec::new(),
            blocks: Vec::new(),
            peak: 0,
            places: HashMap::new(),
            origin: 0,
            width: 1,
            cells: Vec::new(),
        };
        let counts = |job: &usize| match scope {
            Scope::Pool(_) => true,
            Scope::User(user) => why.user(*job) == user,
            Scope::Queue(queue) => why.queue(*job) == queue,
            Scope::Job(_) | Scope::Rule => false,
        };
        let mut jobs: Vec<(u32, usize)> =
            (0..why.jobs.len()).filter(counts).map(|job| (why.holder(job, by), job)).collect();
        jobs.sort_unstable();
        let of_holders = || jobs.chunk_by(|one, other| one.0 == other.0);
        let points = 2 * jobs.iter().map(|&(_, job)| why.attempts_of(job).len()).sum::<usize>();
        usage.times.reserve(points);
        usage.areas.reserve(points);
        usage.holders.reserve(of_holders().count());
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for of_holder in of_holders() {
            changes.clear();
            for attempt in of_holder.iter().flat_map(|&(_, job)| why.attempts_of(job)) {
                let amount = match scope {
                    // Amounts are read as signed numbers.
                    Scope::Pool(resource) => why.held(attempt, resource) as i64,
                    _ => 1,
                };
                if amount > 0 && attempt.start < attempt.finish {
                    changes.extend([(attempt.start, amount), (attempt.finish, -amount)]);
                }
            }
            // Of one instant, they come in any order.
            changes.sort_unstable_by_key(|change| change.0);
            usage.add(of_holder.first().map_or(0, |usage| usage.0), &changes);
        }
        usage.holders.sort_unstable_by_key(|of| (of.first, of.holder));
        usage.places = usage.holders.iter().zip(0..).map(|(of, place)| (of.holder, place)).collect();
        let most = |of: fn(&HolderOf) -> u128, block: &[HolderOf]| block.iter().map(of).max().unwrap_or(0);
        let blocks = usage.holders.chunks(BLOCK).map(|block| (most(|of| of.peak, block), most(|of| of.area, block)));
        usage.blocks = blocks.collect();
        usage.peak = usage.blocks.iter().map(|block| block.0).max().unwrap_or(0);
        usage.list_by_cell();
        usage
    }

    /// Adds what a holder held. `changes` are in the order of time.
    fn add(&mut self, holder: u32, changes: &[(i64, i64)]) {
        let (Some(&(first, _)), Some(&(last, _))) = (changes.first(), changes.last()) else { return };
        let from = self.times.len();
        let (mut area, mut level, mut peak, mut since) = (0u128, 0i128, 0i128, first);
        for instant in changes.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(at, _)) = instant.first() else { continue };
            let by: i128 = instant.iter().map(|change| i128::from(change.1)).sum();
            if by == 0 {
                continue;
            }
            area += level.unsigned_abs() * u128::from(at.abs_diff(since));
            (level, since) = (level + by, at);
            peak = peak.max(level);
            self.times.push(at);
            self.areas.push(area);
        }
        let (points, peak) = ((from, self.times.len()), peak.unsigned_abs());
        self.holders.push(HolderOf { first, last, holder, points, peak, area, near: Cell::new(0) });
    }

    /// Lists the holders at as many instants as keep the lists as short as a few times all holders.
    fn list_by_cell(&mut self) {
        let last = self.holders.iter().map(|of| of.last).max();
        let (Some(first), Some(last)) = (self.holders.first(), last) else { return };
        let span = last.saturating_sub(first.first).max(1);
        let open: i128 = self.holders.iter().map(|of| i128::from(of.last) - i128::from(of.first)).sum();
        let fitting = 8 * self.holders.len() as i128 * i128::from(span) / open.max(1);
        let cells = fitting.clamp(1, i128::from(MOST_CELLS)) as i64;
        (self.origin, self.width) = (first.first, span / cells + 1);
        self.cells = vec![Vec::new(); self.cell_of(last) + 1];
        for (place, of) in self.holders.iter().enumerate() {
            for cell in self.cell_of(of.first) + 1..=self.cell_of(of.last) {
                if let Some(list) = self.cells.get_mut(cell) {
                    list.push(place as u32);
                }
            }
        }
    }

    fn cell_of(&self, at: i64) -> usize {
        (at.saturating_sub(self.origin).max(0) / self.width) as usize
    }

    /// Those who may have held some from `from` to `to`: the places of those that began before the cell of `from`, and of those that
    /// began later.
    fn candidates(&self, from: i64, to: i64) -> (&[u32], Range<usize>) {
        let cell = self.cell_of(from);
        // After the last cell nothing is held.
        let begin = self.origin.saturating_add(self.width.saturating_mul(cell as i64));
        let began_before = |at: i64| self.holders.partition_point(|of| of.first < at);
        let listed = self.cells.get(cell).map_or(&[][..], Vec::as_slice);
        (listed, began_before(begin)..began_before(to))
    }

    /// Those who held most while jobs waited. Of equal ones, those that held some first.
    fn most(&self, curve: &Curve) -> Vec<u32> {
        let (Some((from, ..)), Some((_, to, _))) = (curve.spans().next(), curve.spans().last()) else {
            return Vec::new();
        };
        let mut most = Most::new(curve, (from, to));
        let (listed, began) = self.candidates(from, to);
        for of in listed.iter().filter_map(|&place| self.holders.get(place as usize)) {
            if most.is_settled(self.peak) {
                break;
            }
            most.look_at(self, of);
        }
        let mut place = began.start;
        while place < began.end && !most.is_settled(self.peak) {
            let block = place / BLOCK;
            let next = (BLOCK * (block + 1)).min(began.end);
            if self.blocks.get(block).is_some_and(|&(peak, area)| most.may_change(peak, area)) {
                self.holders.get(place..next).into_iter().flatten().for_each(|of| most.look_at(self, of));
            }
            place = next;
        }
        most.found.into_iter().map(|(_, holder)| holder).collect()
    }

    /// What a holder held while jobs waited.
    fn during(&self, holder: u32, curve: &Curve) -> u128 {
        let of = self.places.get(&holder).and_then(|&place| self.holders.get(place as usize));
        of.map_or(0, |of| self.held(of, curve))
    }

    fn held(&self, of: &HolderOf, curve: &Curve) -> u128 {
        let span = |(from, to, waiting)| waiting * (self.up_to(of, to) - self.up_to(of, from));
        curve.spans().filter(|&(from, to, _)| of.first < to && of.last > from).map(span).sum()
    }

    /// The integral of what a holder held up to `at`.
    fn up_to(&self, of: &HolderOf, at: i64) -> u128 {
        if at >= of.last {
            return of.area;
        }
        let (from, to) = of.points;
        // Most jobs of a batch system have one task: they hold the same all the time.
        if to - from == 2 {
            return of.peak * u128::from(at.max(of.first).abs_diff(of.first));
        }
        let (times, areas) = (self.times.get(from..to), self.areas.get(from..to));
        let (times, areas) = (times.unwrap_or_default(), areas.unwrap_or_default());
        let next = first_after(times, at, of.near.get());
        of.near.set(next);
        let point = |place: usize| times.get(place).zip(areas.get(place));
        let (Some((since, area)), Some((until, more))) = (next.checked_sub(1).and_then(point), point(next)) else {
            return 0;
        };
        // Between two points the holder holds the same all the time, so this leaves no remainder.
        area + quotient(more - area, until.abs_diff(*since)) * u128::from(at.abs_diff(*since))
    }
}

/// The place of the first time after `at`. The search begins near a place.
fn first_after(times: &[i64], at: i64, near: usize) -> usize {
    let is_past = |place: usize| times.get(place).is_none_or(|time| *time > at);
    let (mut low, mut high, mut step) = (near.min(times.len()), near.min(times.len()), 1);
    while low > 0 && is_past(low - 1) {
        (low, high, step) = (low.saturating_sub(step), low, 2 * step);
    }
    if low == high {
        step = 1;
        while !is_past(high) {
            (low, high, step) = (high + 1, (high + 1 + step).min(times.len()), 2 * step);
        }
    }
    low + times.get(low..high).unwrap_or_default().partition_point(|time| *time <= at)
}

/// A division that is mostly of small numbers, which takes a tenth of the time of one of large numbers.
fn quotient(amount: u128, by: u64) -> u128 {
    match u64::try_from(amount) {
        Ok(amount) => u128::from(amount / by),
        Err(_) => amount / u128::from(by),
    }
}

/// Those who held most while a job waited, as far as they are known.
struct Most<'a> {
    curve: &'a Curve,
    /// The first and the last instant at which it waited.
    span: (i64, i64),
    /// How long the job waited.
    waited: u128,
    /// What they held, and who they are, the most first.
    found: Vec<(u128, u32)>,
}

impl<'a> Most<'a> {
    fn new(curve: &'a Curve, span: (i64, i64)) -> Self {
        let waited = curve.spans().map(|(from, to, waiting)| waiting * u128::from(to.abs_diff(from))).sum();
        Self { curve, span, waited, found: Vec::with_capacity(MOST_NAMED + 1) }
    }

    /// What somebody must have held to be among them, or more.
    fn least(&self) -> u128 {
        self.found.get(MOST_NAMED - 1).map_or(0, |least| least.0)
    }

    /// True if somebody who held so much at once, and over all its time, may be among them.
    fn may_change(&self, peak: u128, area: u128) -> bool {
        area.min(peak.saturating_mul(self.waited)) > self.least()
    }

    /// True if nobody can displace one of them who comes later and holds no more than this at once.
    fn is_settled(&self, peak: u128) -> bool {
        !self.may_change(peak, u128::MAX)
    }

    fn look_at(&mut self, areas: &Areas, of: &HolderOf) {
        let (from, to) = (of.first.max(self.span.0), of.last.min(self.span.1));
        let most = of.peak.saturating_mul(u128::from(to.saturating_sub(from).max(0).unsigned_abs()));
        if most <= self.least() || !self.may_change(of.peak, of.area) {
            return;
        }
        let held = areas.held(of, self.curve);
        if held > self.least() {
            let place = self.found.partition_point(|other| other.0 >= held);
            self.found.insert(place, (held, of.holder));
            self.found.truncate(MOST_NAMED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_same_from_everywhere() {
        let times = [1, 3, 3, 4, 8, 9, 9, 12, 20];
        for (at, near) in (0..22).flat_map(|at| (0..12).map(move |near| (at, near))) {
            assert_eq!(first_after(&times, at, near), times.partition_point(|time| *time <= at), "{at} from {near}");
        }
        assert_eq!(first_after(&[], 5, 3), 0);
    }
}
