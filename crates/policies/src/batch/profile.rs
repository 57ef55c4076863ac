//! The planned use of the machines from now on.

use std::collections::VecDeque;

use resched_sim::Ms;
use resched_sim::batch::Amounts;

/// What is used at each instant to come, in steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    /// From when on how much is used, by time; the first step is now, nothing is used in the last.
    steps: VecDeque<(Ms, Amounts)>,
}

impl Profile {
    /// What is used from `now` on by what runs, each given by its end.
    pub(super) fn new(now: Ms, running: impl Iterator<Item = (Ms, Amounts)> + Clone) -> Self {
        let mut used = Amounts::default();
        running.clone().for_each(|(_, amount)| used.add(&amount));
        let mut steps = VecDeque::from([(now, used.clone())]);
        for (end, amount) in running {
            used.take(&amount);
            match steps.back_mut() {
                Some(last) if last.0 == end => last.1.clone_from(&used),
                _ => steps.push_back((end, used.clone())),
            }
        }
        Self { steps }
    }

    /// Forgets what was before `now`.
    pub(super) fn advance(&mut self, now: Ms) {
        while self.steps.get(1).is_some_and(|next| next.0 <= now) {
            self.steps.pop_front();
        }
        if let Some(first) = self.steps.front_mut() {
            first.0 = now;
        }
    }

    /// So much more is used from one instant to another.
    pub(super) fn add(&mut self, from: Ms, to: Ms, amount: &Amounts) {
        self.change(from, to, |used| used.add(amount));
    }

    /// So much less.
    pub(super) fn remove(&mut self, from: Ms, to: Ms, amount: &Amounts) {
        self.change(from, to, |used| used.take(amount));
    }

    /// The earliest instant, not before `from`, from which on so much is free for so long; `None` if there is never as much.
    pub(super) fn earliest(&self, demand: &Amounts, length: Ms, total: &Amounts, from: Ms) -> Option<Ms> {
        let mut candidate = None;
        for (place, &(at, ref used)) in self.steps.iter().enumerate() {
            if !total.hold_both(used, demand) {
                candidate = None;
                continue;
            }
            let end = self.steps.get(place + 1).map_or(Ms::MAX, |next| next.0);
            if end <= from {
                continue;
            }
            let start = *candidate.get_or_insert(at.max(from));
            if start.saturating_add(length) <= end {
                return Some(start);
            }
        }
        None
    }

    /// The first instant after `now` at which so much is not free beside what is used then.
    pub(super) fn next_without(&self, demand: &Amounts, total: &Amounts, now: Ms) -> Option<Ms> {
        self.steps.iter().find(|&(at, used)| *at > now && !total.hold_both(used, demand)).map(|step| step.0)
    }

    /// Changes what is used from one instant to another. Steps that are no longer steps are taken out: there are many changes, and a
    /// search passes over all steps.
    fn change(&mut self, from: Ms, to: Ms, change: impl Fn(&mut Amounts)) {
        let (start, end) = (self.split(from), self.split(to));
        self.steps.range_mut(start..end.max(start)).for_each(|step| change(&mut step.1));
        self.join(end);
        self.join(start);
    }

    /// Takes the step at a place out if as much is used before it.
    fn join(&mut self, place: usize) {
        let used = |place: usize| self.steps.get(place).map(|step| &step.1);
        if place.checked_sub(1).is_some_and(|before| used(before) == used(place)) {
            self.steps.remove(place);
        }
    }

    /// The place of the step that begins at an instant, made if there is none.
    fn split(&mut self, at: Ms) -> usize {
        match self.steps.binary_search_by_key(&at, |step| step.0) {
            Ok(place) => place,
            Err(place) => {
                let before = place.checked_sub(1).and_then(|before| self.steps.get(before));
                let used = before.map_or_else(Amounts::default, |step| step.1.clone());
                self.steps.insert(place, (at, used));
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use resched_sim::Resources;

    use super::*;

    fn cpu(cpu: u64) -> Amounts {
        Amounts::of(Resources { cpu, memory: 0 })
    }

    #[test]
    fn the_earliest_hole_that_is_long_enough_is_found() {
        // Of 10: 8 until 5, 6 until 9, 9 from 20 to 30.
        let mut profile = Profile::new(0, [(5, cpu(2)), (9, cpu(6))].into_iter());
        profile.add(20, 30, &cpu(9));
        let earliest = |demand, length| profile.earliest(&cpu(demand), length, &cpu(10), 0);
        assert_eq!(profile.earliest(&cpu(2), 5, &cpu(10), 3), Some(3));
        assert_eq!(profile.earliest(&cpu(4), 5, &cpu(10), 17), Some(30));
        assert_eq!(earliest(2, 5), Some(0));
        assert_eq!(earliest(2, 100), Some(30));
        assert_eq!(earliest(4, 15), Some(5));
        assert_eq!(earliest(4, 16), Some(30));
        assert_eq!(earliest(10, 11), Some(9));
        assert_eq!(earliest(1, 100), Some(0));
        assert_eq!(earliest(11, 1), None);
        let next_without = |demand, now| profile.next_without(&cpu(demand), &cpu(10), now);
        assert_eq!([next_without(2, 0), next_without(2, 20), next_without(1, 0)], [Some(20), None, None]);
        assert_eq!(next_without(3, 0), Some(20), "what does not fit now is no matter");
        profile.remove(20, 30, &cpu(9));
        assert_eq!(profile.earliest(&cpu(10), 1_000, &cpu(10), 0), Some(9));
        profile.advance(7);
        assert_eq!(profile.earliest(&cpu(4), 1, &cpu(10), 0), Some(7));
        assert_eq!(profile.earliest(&cpu(5), 1, &cpu(10), 0), Some(9));
    }
}
