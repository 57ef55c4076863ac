//! The choice of flavours for a workload, against the present state of its tree.

use super::model::{FlavorId, Fungibility, Policy};
use super::nomination::{Mode, Nomination, Target};
use super::preemption::{Request, Search};
use super::queue::{Part, SetShape};
use super::quota::NONE;
use super::workload::Assigned;

/// How well a flavour serves, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    NoFit,
    NoCandidates,
    Preempt,
    Reclaim,
    Fit,
}

/// A grade with the level of borrowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Judgement {
    grade: Grade,
    level: u32,
}

impl Judgement {
    const WORST: Self = Self { grade: Grade::NoFit, level: u32::MAX };
    const BEST: Self = Self { grade: Grade::Fit, level: 0 };

    /// True if it is to be preferred to `other`. No candidates is below all that can work.
    fn better(self, other: Self, fungibility: Fungibility) -> bool {
        if self.grade == Grade::NoFit || other.grade == Grade::NoFit {
            return self.grade != Grade::NoFit;
        }
        let hopeless = |judgement: Self| judgement.grade == Grade::NoCandidates;
        if hopeless(self) != hopeless(other) {
            return hopeless(other);
        }
        if fungibility.preempt_first && self.level != other.level {
            return self.level < other.level;
        }
        if self.grade != other.grade {
            return self.grade > other.grade;
        }
        self.level < other.level
    }

    /// True if the search ends here.
    fn stops(self, fungibility: Fungibility) -> bool {
        let preempting = matches!(self.grade, Grade::Preempt | Grade::Reclaim);
        (self.grade == Grade::Fit || preempting)
            && (!preempting || fungibility.stop_to_preempt)
            && (self.level == 0 || fungibility.stop_to_borrow)
    }
}

/// Which flavours are tried.
enum Scope<'a> {
    /// All from these positions on.
    From(&'a [u16]),
    /// Those of an earlier nomination alone.
    Only(&'a Nomination),
}

/// The flavour chosen for a part.
struct Choice {
    position: u16,
    next: u16,
    judged: Judged,
}

/// How each request of a part is served by one flavour.
#[derive(Default)]
struct Judged {
    /// The highest level of the resources, whatever their grade.
    level: u32,
    /// The cell, and whether it needs preemption.
    cells: Vec<(u32, bool)>,
}

impl Search<'_> {
    /// Flavours and victims; the search begins where `start` says.
    pub(crate) fn nominate(&mut self, id: u32, start: &[u16]) -> Nomination {
        let nomination = self.assign(id, &Scope::From(start));
        self.with_targets(id, nomination)
    }

    /// The same on the flavours of `first` alone.
    pub(crate) fn nominate_again(&mut self, id: u32, first: &Nomination) -> Nomination {
        let mut nomination = self.assign(id, &Scope::Only(first));
        // With one flavour each, the search has come to its end.
        nomination.next.fill(0);
        self.with_targets(id, nomination)
    }

    fn with_targets(&mut self, id: u32, mut nomination: Nomination) -> Nomination {
        if nomination.mode == Mode::Preempt {
            nomination.targets = self.targets(id, &nomination.usage, &nomination.short);
        }
        nomination
    }

    fn assign(&mut self, id: u32, scope: &Scope<'_>) -> Nomination {
        let store = self.store;
        let sets = &store.shapes[store.workloads[id as usize].shape as usize].sets;
        let parts = sets.iter().map(|set| set.parts.len()).sum();
        let mut nomination = Nomination {
            mode: Mode::Fit,
            level: 0,
            usage: Vec::new(),
            short: Vec::new(),
            assigned: Vec::new(),
            chosen: vec![0; parts],
            next: vec![0; parts],
            targets: Vec::new(),
        };
        let mut first = 0;
        for (index, set) in sets.iter().enumerate() {
            if !self.assign_set(id, index as u32, set, first, scope, &mut nomination) {
                nomination.mode = Mode::NoFit;
                return nomination;
            }
            first += set.parts.len();
        }
        nomination
    }

    /// Chooses the flavours of one pod set; false, and nothing kept, if a part finds none.
    fn assign_set(
        &mut self,
        id: u32,
        index: u32,
        set: &SetShape,
        first: usize,
        scope: &Scope<'_>,
        nomination: &mut Nomination,
    ) -> bool {
        if set.undeclared {
            return false;
        }
        let mut choices = Vec::with_capacity(set.parts.len());
        for (at, part) in set.parts.iter().enumerate() {
            let Some(choice) = self.choose(id, part, first + at, scope, &nomination.usage) else { return false };
            choices.push(choice);
        }
        for (at, (part, choice)) in set.parts.iter().zip(choices).enumerate() {
            self.keep(index, part, first + at, choice, nomination);
        }
        true
    }

    fn keep(&self, set: u32, part: &Part, at: usize, choice: Choice, nomination: &mut Nomination) {
        let queue = &self.model.queues[part.queue as usize];
        let flavor = queue.groups[part.group as usize].flavors[choice.position as usize];
        nomination.level = nomination.level.max(choice.judged.level);
        nomination.chosen[at] = choice.position;
        nomination.next[at] = choice.next;
        for (&(resource, value), &(cell, preempts)) in part.requests.iter().zip(&choice.judged.cells) {
            add(&mut nomination.usage, cell, value);
            nomination.assigned.push(Assigned { pod_set: set, resource, flavor });
            if preempts {
                nomination.mode = Mode::Preempt;
                if !nomination.short.contains(&cell) {
                    nomination.short.push(cell);
                }
            }
        }
    }

    /// The best flavour of a group, or the first at which the search stops.
    fn choose(&mut self, id: u32, part: &Part, at: usize, scope: &Scope<'_>, taken: &[(u32, i64)]) -> Option<Choice> {
        let queue = &self.model.queues[part.queue as usize];
        let flavors = &queue.groups[part.group as usize].flavors;
        let tried = match scope {
            Scope::From(start) => usize::from(start.get(at).copied().unwrap_or(0))..flavors.len(),
            Scope::Only(first) => usize::from(first.chosen[at])..usize::from(first.chosen[at]) + 1,
        };
        let mut best: Option<(Judgement, usize, Judged)> = None;
        let mut last = tried.end.saturating_sub(1);
        for position in tried {
            if !part.possible[position] {
                continue;
            }
            let (judgement, judged) = self.judge_flavor(id, part, flavors[position], taken);
            let known = best.as_ref().map_or(Judgement::WORST, |(known, ..)| *known);
            if judgement.stops(queue.fungibility) {
                best = Some((judgement, position, judged));
                last = position;
                break;
            }
            if judgement.better(known, queue.fungibility) {
                best = Some((judgement, position, judged));
            }
        }
        let next = if last + 1 >= flavors.len() { 0 } else { last + 1 };
        best.map(|(_, position, judged)| Choice { position: position as u16, next: next as u16, judged })
    }

    /// The worst of the resources, judged one at a time.
    fn judge_flavor(&mut self, id: u32, part: &Part, flavor: FlavorId, taken: &[(u32, i64)]) -> (Judgement, Judged) {
        let fungibility = self.model.queues[part.queue as usize].fungibility;
        let mut worst = Judgement::BEST;
        let mut judged = Judged::default();
        for &(resource, value) in &part.requests {
            let cell = self.quotas.cell(flavor, resource);
            let before = taken.iter().find(|&&(other, _)| other == cell).map_or(0, |&(_, taken)| taken);
            let judgement = self.judge(id, part.queue as usize, cell, value + before);
            if worst.better(judgement, fungibility) {
                worst = judgement;
            }
            if judgement.grade == Grade::NoFit {
                break;
            }
            judged.level = judged.level.max(judgement.level);
            judged.cells.push((cell, judgement.grade != Grade::Fit));
        }
        (worst, judged)
    }

    fn judge(&mut self, id: u32, queue: usize, cell: u32, value: i64) -> Judgement {
        if cell == NONE || value > self.quotas.potential(queue, cell) {
            return Judgement { grade: Grade::NoFit, level: 0 };
        }
        let (level, below_root) = self.quotas.level(queue, cell, value);
        if value <= self.quotas.available(queue, cell) {
            return Judgement { grade: Grade::Fit, level };
        }
        let preemption = self.model.queues[queue].preemption;
        let fair = self.model.settings.fair_sharing.is_some() && preemption.reclaim != Policy::Never;
        if value <= self.quotas.quota(queue, cell) || below_root || preemption.borrow.is_some() || fair {
            return self.judge_preemption(id, queue, cell, value, level);
        }
        Judgement { grade: Grade::NoFit, level }
    }

    /// Tries whether victims can be found for one resource alone.
    fn judge_preemption(&mut self, id: u32, queue: usize, cell: u32, value: i64, level: u32) -> Judgement {
        let targets = self.targets(id, &[(cell, value)], &[cell]);
        if targets.is_empty() {
            return Judgement { grade: Grade::NoCandidates, level };
        }
        let in_queue =
            targets.iter().any(|target| self.store.workloads[target.workload as usize].queue as usize == queue);
        self.take_away(targets.iter().map(|target| target.workload));
        let (level, _) = self.quotas.level(queue, cell, value);
        self.put_back(targets.iter().map(|target| target.workload));
        Judgement { grade: if in_queue { Grade::Preempt } else { Grade::Reclaim }, level }
    }

    fn targets(&mut self, id: u32, usage: &[(u32, i64)], short: &[u32]) -> Vec<Target> {
        let workload = &self.store.workloads[id as usize];
        let (queue, priority, created) = (workload.queue as usize, workload.priority, workload.created);
        self.find(&Request { queue, priority, created, usage, short })
    }
}

/// Adds to the entry of a cell, which is made if there is none.
pub(crate) fn add(usage: &mut Vec<(u32, i64)>, cell: u32, value: i64) {
    match usage.iter_mut().find(|(other, _)| *other == cell) {
        Some((_, sum)) => *sum += value,
        None => usage.push((cell, value)),
    }
}
