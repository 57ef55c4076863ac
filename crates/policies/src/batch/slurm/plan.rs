//! The plan of a cycle of the backfill scheduler: which machines are not reserved, from instant to instant.
//!
//! **Source.** `node_space` in `backfill.c` of Slurm 22.05 (`docs/slurm.md`, backfill): a reservation closes whole machines.

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
#[derive(Debug, Default)]
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

    /// Leaves those of `machines` that no reservation closes between two instants. Returns when the first plan ends after `start`.
    pub(super) fn leave_open(&self, start: Ms, end: Ms, machines: &mut FixedBitSet) -> Option<Ms> {
        let from = self.spans.partition_point(|span| span.end <= start);
        let spans = self.spans.get(from..).unwrap_or_default();
        for span in spans.iter().take_while(|span| span.begin <= end) {
            machines.intersect_with(&span.open);
        }
        // The last span ends with the plan itself.
        spans.first().filter(|_| spans.len() > 1).map(|span| span.end)
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
    pub(super) fn too_few(&self, start: Ms, end: Ms, enough: impl Fn(usize) -> bool) -> Option<(Option<Ms>, usize)> {
        let from = self.spans.partition_point(|span| span.end <= start);
        let until = self.spans.partition_point(|span| span.begin <= end);
        let last = self.spans.get(from..until)?.iter().rposition(|span| !enough(span.count))?;
        // The last span ends with the plan itself.
        let next = self.spans.get(from + last).filter(|_| from + last + 1 < self.spans.len());
        Some((next.map(|span| span.end), last + 1))
    }

    /// Whether a reservation between two instants closes one of these machines.
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
            let mut left = set(&[0, 1, 2, 3]);
            let next = plan.leave_open(start, end, &mut left);
            (left.ones().collect::<Vec<_>>(), next)
        };
        assert_eq!(open(100, 999), (vec![0, 1, 2, 3], Some(1_000)));
        assert_eq!(open(100, 1_000), (vec![0, 3], Some(1_000)), "an end at the begin of a plan overlaps, as in Slurm");
        assert_eq!(open(100, 9_000), (vec![0], Some(1_000)));
        assert_eq!(open(2_000, 2_500), (vec![0, 1, 2], Some(3_000)));
        assert_eq!(open(3_000, 4_000), (vec![0, 1, 2, 3], None));
        assert!(plan.overlaps(100, 1_001, &set(&[2])) && !plan.overlaps(100, 1_000, &set(&[2])));
        assert!(!plan.overlaps(2_000, 5_000, &set(&[0, 2])));
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
