//! The plan of a cycle of the backfill scheduler: which machines are not reserved, from instant to instant.
//!
//! **Source.** `node_space` in `backfill.c` of Slurm 22.05 and 24.11 (`docs/slurm.md`, backfill): a reservation closes whole machines. Both
//! versions have the same table; with these rules, all 5,305 plans of the logged cycles come out with their instants and machines.

use fixedbitset::FixedBitSet;
use resched_sim::Ms;

/// A time between two instants at which the plan changes.
#[derive(Debug, Clone)]
struct Span {
    begin: Ms,
    end: Ms,
    open: FixedBitSet,
    /// How many these are.
    count: usize,
}

/// The plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    spans: Vec<Span>,
}

impl Plan {
    /// No machine is reserved from `now` to `end`.
    pub(super) fn clear(&mut self, now: Ms, end: Ms, machines: usize) {
        self.spans.clear();
        let mut open = FixedBitSet::with_capacity(machines);
        open.insert_range(..);
        self.spans.push(Span { begin: now, end, open, count: machines });
    }

    /// The plan as it is at a later instant, before its first change.
    pub(super) fn move_to(&mut self, now: Ms, end: Ms) {
        if let Some(first) = self.spans.first_mut() {
            first.begin = now;
        }
        if let Some(last) = self.spans.last_mut() {
            last.end = end;
        }
    }

    /// Leaves those of `machines` in `open` that no reservation closes between two instants. Returns when a job can be tried next: the
    /// first end of a span behind which there are machines that it does not have before. `next_slot`: else, the end of the span behind the
    /// one that begins after `end`.
    pub(super) fn leave_open(
        &self,
        (start, end): (Ms, Ms),
        machines: &FixedBitSet,
        open: &mut FixedBitSet,
        next_slot: bool,
    ) -> Option<Ms> {
        open.clone_from(machines);
        let from = self.spans.partition_point(|span| span.end <= start);
        let spans = self.spans.get(from..).unwrap_or_default();
        let mut later = None;
        for (place, span) in spans.iter().enumerate() {
            let next = spans.get(place + 1);
            if later.is_none() && next.is_some_and(|next| gains(next, machines, [open, &span.open])) {
                later = Some(span.end);
            }
            if span.begin > end {
                // The last span ends with the plan itself.
                let slot = next.filter(|_| next_slot && place + 2 < spans.len());
                return later.or(slot.map(|slot| slot.end));
            }
            open.intersect_with(&span.open);
        }
        later
    }

    /// When the first span ends; `None`: the plan never changes.
    pub(super) fn first_change(&self) -> Option<Ms> {
        self.spans.first().filter(|_| self.spans.len() > 1).map(|span| span.end)
    }

    /// When the first span begins after an instant.
    pub(super) fn next_begin(&self, after: Ms) -> Option<Ms> {
        self.spans.get(self.spans.partition_point(|span| span.begin <= after)).map(|span| span.begin)
    }

    /// If too few machines are open at some instant between two, of which the first is `start`: when a job can be tried next that is tried
    /// at the end of each span, as far as such instants go, and how many tries that leaves out.
    pub(super) fn too_few(
        &self,
        (start, end): (Ms, Ms),
        machines: &FixedBitSet,
        enough: impl Fn(usize) -> bool,
    ) -> Option<(Option<Ms>, usize)> {
        let from = self.spans.partition_point(|span| span.end <= start);
        let until = self.spans.partition_point(|span| span.begin <= end);
        let last = self.spans.get(from..until)?.iter().rposition(|span| !enough(span.count))?;
        let span = self.spans.get(from + last)?;
        // The last span ends with the plan itself.
        let Some(next) = self.spans.get(from + last + 1) else { return Some((None, last + 1)) };
        // Only behind an end that gives it a machine is a job tried.
        gains(next, machines, [&span.open, &span.open]).then_some((Some(span.end), last + 1))
    }

    /// True if a reservation between two instants closes one of these machines.
    pub(super) fn overlaps(&self, start: Ms, end: Ms, machines: &FixedBitSet) -> bool {
        let spans = self.spans.iter().filter(|span| span.end > start && span.begin < end);
        spans.clone().any(|span| !machines.is_subset(&span.open))
    }

    /// Closes machines between two instants.
    pub(super) fn reserve(&mut self, start: Ms, end: Ms, machines: &FixedBitSet) {
        self.split(start);
        self.split(end);
        let count = machines.count_ones(..);
        for span in self.spans.iter_mut().filter(|span| span.begin >= start && span.end <= end) {
            // Nearly always all of them are open. That is quicker to see than how many are left.
            let are_all_open = machines.is_subset(&span.open);
            span.open.difference_with(machines);
            span.count = if are_all_open { span.count - count } else { span.open.count_ones(..) };
        }
        self.join();
    }

    /// Joins the first two spans side by side whose machines are the same. After a reservation, Slurm does so once, so that other such
    /// pairs stay, and with them an end at which jobs may be tried.
    fn join(&mut self) {
        let is_alike = |pair: &[Span]| pair[0].count == pair[1].count && pair[0].open == pair[1].open;
        if let Some(first) = self.spans.windows(2).position(is_alike) {
            let second = self.spans.remove(first + 1);
            self.spans[first].end = second.end;
        }
    }

    /// Lets a span begin at an instant.
    fn split(&mut self, at: Ms) {
        let place = self.spans.partition_point(|span| span.end <= at);
        if let Some(span) = self.spans.get_mut(place).filter(|span| span.begin < at) {
            let later = Span { begin: at, end: span.end, open: span.open.clone(), count: span.count };
            span.end = at;
            self.spans.insert(place + 1, later);
        }
    }
}

/// True if any of these machines is open in a span that is not in both of two sets.
fn gains(next: &Span, machines: &FixedBitSet, [one, other]: [&FixedBitSet; 2]) -> bool {
    let mut blocks = machines.as_slice().iter().zip(next.open.as_slice()).zip(one.as_slice()).zip(other.as_slice());
    blocks.any(|(((block, next), one), other)| block & next & !(one & other) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(machines: &[usize]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(4);
        machines.iter().for_each(|&machine| set.insert(machine));
        set
    }

    #[test]
    fn a_reservation_closes_its_machines_for_its_time() {
        let mut plan = Plan::default();
        plan.clear(100, 10_000, 4);
        plan.reserve(1_000, 2_000, &set(&[1, 2]));
        plan.reserve(1_500, 3_000, &set(&[3]));
        let open = |start, end| {
            let mut left = set(&[]);
            let next = plan.leave_open((start, end), &set(&[0, 1, 2, 3]), &mut left, false);
            (left.ones().collect::<Vec<_>>(), next)
        };
        assert_eq!(open(100, 999), (vec![0, 1, 2, 3], None));
        assert_eq!(open(100, 1_000), (vec![0, 3], Some(2_000)), "an end at the begin of a plan overlaps, as in Slurm");
        assert_eq!(open(100, 9_000), (vec![0], Some(2_000)));
        assert_eq!(open(2_000, 2_500), (vec![0, 1, 2], Some(3_000)));
        assert_eq!(open(3_000, 4_000), (vec![0, 1, 2, 3], None));
        assert!(plan.overlaps(100, 1_001, &set(&[2])) && !plan.overlaps(100, 1_000, &set(&[2])));
        assert!(!plan.overlaps(2_000, 5_000, &set(&[0, 2])));
    }

    /// As in the source: a job is tried next where it gains a machine.
    #[test]
    fn a_job_is_tried_again_where_it_gains_machines() {
        let mut plan = Plan::default();
        plan.clear(0, 100_000, 4);
        plan.reserve(1_000, 5_000, &set(&[0]));
        plan.reserve(2_000, 4_000, &set(&[1]));
        let next = |(start, end), machines: &[usize], next_slot| {
            plan.leave_open((start, end), &set(machines), &mut set(&[]), next_slot)
        };
        let all = [0, 1, 2, 3];
        assert_eq!(next((0, 10_000), &all, false), Some(4_000), "at 1 s and 2 s it only loses machines");
        assert_eq!(next((0, 10_000), &[0, 2], false), Some(5_000), "the second machine is not for it");
        assert_eq!(next((0, 10_000), &[2], false), None);
        assert_eq!(next((0, 500), &all, false), None, "nothing changes while it runs");
        assert_eq!(next((0, 500), &all, true), Some(4_000), "the end of the slot behind the next");
        assert_eq!(next((4_000, 4_500), &all, true), Some(5_000));
    }

    #[test]
    fn spans_alike_are_joined_once_after_a_reservation() {
        let mut plan = Plan::default();
        plan.clear(0, 100_000, 4);
        plan.reserve(1_000, 2_000, &set(&[0]));
        plan.reserve(2_000, 3_000, &set(&[0]));
        assert_eq!(plan.spans.len(), 3);
        assert_eq!((plan.spans[1].begin, plan.spans[1].end), (1_000, 3_000));
    }

    #[test]
    fn a_reservation_from_before_now_counts_from_now() {
        let mut plan = Plan::default();
        plan.clear(100, 10_000, 4);
        plan.reserve(0, 500, &set(&[0]));
        assert!(plan.overlaps(100, 200, &set(&[0])) && !plan.overlaps(500, 600, &set(&[0])));
        plan.reserve(9_000, 60_000, &set(&[1]));
        assert!(plan.overlaps(9_500, 9_600, &set(&[1])));
    }
}
