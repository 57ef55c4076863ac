//! Where tasks would rather run, in few bytes: most traces do not say it.

use std::ops::Range;

use resched_tables::contrast::{Contrast, Logs};
use resched_tables::model::Locality;

use crate::ids::{Ms, NodeId};

/// The preferred machines of tasks, and at which level each logged try ran. Empty if no task prefers any.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// For each task, where its machines end in `nodes`. Tasks behind the last entry have none.
    ends: Vec<u32>,
    nodes: Vec<NodeId>,
    /// The level of each logged try; none behind the last entry.
    levels: Vec<Option<Locality>>,
}

impl Places {
    /// True if no task prefers a machine.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a task with its machines, after all tasks that were added before. `tries` is the number of its first try, with the level
    /// of each of its tries.
    pub(super) fn add(&mut self, task: usize, nodes: &[NodeId], (first, levels): (usize, &[Option<Locality>])) {
        if nodes.is_empty() {
            return;
        }
        self.ends.resize(task, self.nodes.len() as u32);
        self.nodes.extend_from_slice(nodes);
        self.ends.push(self.nodes.len() as u32);
        if levels.iter().any(Option::is_some) {
            self.levels.resize(self.levels.len().max(first), None);
            self.levels.truncate(first);
            self.levels.extend_from_slice(levels);
        }
    }

    /// The machines that a task prefers, by number.
    #[inline]
    pub(super) fn of(&self, task: usize) -> &[NodeId] {
        let Some(&end) = self.ends.get(task) else { return &[] };
        let start = task.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.nodes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The levels of consecutive tries; none if none is known.
    fn levels(&self, tries: Range<usize>) -> &[Option<Locality>] {
        let end = tries.end.min(self.levels.len());
        self.levels.get(tries.start.min(end)..end).unwrap_or_default()
    }

    /// At which level a logged try ran, if that is known.
    #[inline]
    pub(super) fn level(&self, logged: usize) -> Option<Locality> {
        self.levels.get(logged).copied().flatten()
    }

    /// Takes the levels of others, whose tries keep their numbers.
    pub(super) fn take_levels(&mut self, from: &mut Self) {
        self.levels = std::mem::take(&mut from.levels);
    }

    /// Adds a task of others, as `task` of this one, whose tries begin at `to` here and were `tries` there.
    pub(super) fn copy(&mut self, task: usize, to: usize, from: &Self, (old, tries): (usize, Range<usize>)) {
        self.add(task, from.of(old), (to, from.levels(tries)));
    }
}

/// How many times as long a task takes on a preferred machine, in the rack of one, and elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LocalityCost {
    /// The cluster file says it.
    Given([f64; 3]),
    /// Fitted to the log.
    Fitted(Fitted),
    /// The log has too few tasks away from their places: the place is assumed to cost nothing.
    Assumed,
}

/// Factors that were fitted to a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// The three factors.
    pub factors: [f64; 3],
    /// The standard errors of the logarithms of the second and the third.
    pub errors: [f64; 2],
    /// For how many stages of the log there were enough tasks in the rack and elsewhere.
    pub stages: [u64; 2],
}

impl Fitted {
    /// The factors that are so many standard errors away. No place is taken to be better than a preferred one.
    pub fn at(&self, errors: f64) -> [f64; 3] {
        let [node, rack, off] = self.factors;
        let moved = |factor: f64, error: f64| (factor * (errors * error).exp()).max(node);
        [node, moved(rack, self.errors[0]), moved(off, self.errors[1])]
    }
}

impl LocalityCost {
    /// The three factors.
    pub fn factors(self) -> [f64; 3] {
        match self {
            Self::Given(factors) | Self::Fitted(Fitted { factors, .. }) => factors,
            Self::Assumed => [1.0; 3],
        }
    }
}

/// How long a run takes at a level that took so long at another.
pub(super) fn scaled(run: Ms, [logged, now]: [Locality; 2], factors: [f64; 3]) -> Ms {
    let factor = |level| factors[place(level)];
    if logged == now {
        return run;
    }
    (run as f64 * factor(now) / factor(logged)).round() as Ms
}

fn place(level: Locality) -> usize {
    match level {
        Locality::Node => 0,
        Locality::Rack => 1,
        Locality::Off => 2,
    }
}

/// The fewest stages from which a factor is known.
const LEAST_STAGES: u64 = 3;

/// Fits how many times as long tasks take away from their places, with each stage as its own control ([`Contrast`]).
#[derive(Debug, Default)]
pub(super) struct Fit {
    /// In the rack, and elsewhere.
    contrasts: [Contrast; 2],
    /// The run times of the current stage, by level.
    runs: [Logs; 3],
}

impl Fit {
    /// Takes a run of a task of the current stage, at a level.
    pub(super) fn run(&mut self, level: Locality, run: Ms) {
        self.runs[place(level)].add(run as f64);
    }

    /// Ends the current stage.
    pub(super) fn end_stage(&mut self) {
        let [node, rack, off] = std::mem::take(&mut self.runs);
        for (contrast, other) in self.contrasts.iter_mut().zip([rack, off]) {
            contrast.take(node, other);
        }
    }

    /// What was found. No place is taken to be better than a preferred one, and no rack to be worse than any machine.
    pub(super) fn cost(self) -> LocalityCost {
        let stages = self.contrasts.map(|contrast| contrast.groups());
        let factor = |contrast: Contrast| {
            let found = contrast.factor().filter(|_| contrast.groups() >= LEAST_STAGES)?;
            Some((found.value.max(1.0), found.error))
        };
        let (rack, off) = match self.contrasts.map(factor) {
            [None, None] => return LocalityCost::Assumed,
            [None, Some(off)] => (off, off),
            [Some(rack), off] => (rack, off.filter(|off| off.0 > rack.0).unwrap_or(rack)),
        };
        LocalityCost::Fitted(Fitted { factors: [1.0, rack.0, off.0], errors: [rack.1, off.1], stages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tasks_with_places_take_room() {
        let mut places = Places::default();
        places.add(0, &[], (0, &[None]));
        assert!(places.is_empty() && places.ends.is_empty() && places.levels.is_empty());
        places.add(2, &[NodeId(4), NodeId(7)], (3, &[Some(Locality::Off), None]));
        places.add(4, &[NodeId(1)], (9, &[None]));
        let of = |task| places.of(task).iter().map(|node| node.0).collect::<Vec<u32>>();
        assert_eq!([of(0), of(2), of(3), of(4), of(5)], [vec![], vec![4, 7], vec![], vec![1], vec![]]);
        assert_eq!([2, 3, 4, 9].map(|logged| places.level(logged)), [None, Some(Locality::Off), None, None]);
        let mut part = Places::default();
        part.copy(1, 5, &places, (2, 3..5));
        assert_eq!((part.of(0), part.of(1), part.level(5)), (&[][..], places.of(2), Some(Locality::Off)));
    }

    #[test]
    fn the_cost_of_a_place_needs_three_stages_with_both() {
        let fit = |stages: u32, off: Ms| {
            let mut fit = Fit::default();
            for _ in 0..stages {
                (0..4).for_each(|_| fit.run(Locality::Node, 100));
                (0..4).for_each(|_| fit.run(Locality::Off, off));
                fit.run(Locality::Rack, 99);
                fit.end_stage();
            }
            fit.cost()
        };
        let rounded = |cost: LocalityCost| cost.factors().map(|factor| (factor * 1e3).round());
        assert_eq!(rounded(fit(3, 250)), [1_000.0, 2_500.0, 2_500.0]);
        let LocalityCost::Fitted(fitted) = fit(3, 250) else { unreachable!() };
        assert_eq!(fitted.stages, [3, 3]);
        assert_eq!(fit(2, 250), LocalityCost::Assumed);
        assert_eq!(rounded(fit(3, 50)), [1_000.0; 3], "no place is better than a preferred one");
    }

    #[test]
    fn a_fitted_factor_goes_to_both_sides_by_its_error_and_never_below_1() {
        let fitted = Fitted { factors: [1.0, 1.1, 2.0], errors: [0.2, 0.1], stages: [3, 3] };
        let rounded = |errors: f64| fitted.at(errors).map(|factor| (factor * 1e3).round() / 1e3);
        assert_eq!(
            (rounded(-2.0), rounded(0.0), rounded(2.0)),
            ([1.0, 1.0, 1.637], [1.0, 1.1, 2.0], [1.0, 1.641, 2.443])
        );
    }

    #[test]
    fn a_run_is_scaled_by_the_quotient_of_the_factors() {
        assert_eq!(scaled(100, [Locality::Off, Locality::Node], [1.0, 3.0, 3.0]), 33);
        assert_eq!(scaled(100, [Locality::Node, Locality::Off], [1.0, 3.0, 3.0]), 300);
        assert_eq!(scaled(100, [Locality::Rack, Locality::Off], [1.0, 3.0, 3.0]), 100);
        assert_eq!(Fit::default().cost(), LocalityCost::Assumed);
    }
}
