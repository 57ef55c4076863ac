//! Which jobs of a list each job waits for, once the whole list is known.
//!
//! While rows are read, the numbers and names that some job waits for are noted. While they are joined, the jobs of these are.

use std::collections::BTreeMap;

use resched_tables::cause::{self, Cause};
use resched_tables::model::Outcome;
use resched_tables::sink::Sink;

use super::dependency::{Dependency, End, Must};
use super::id::{Id, Part};
use super::job::Job;
use super::state::State;

/// The most ends of jobs that all jobs of a list wait for, and the most jobs that are noted for that. A job may name an array with
/// millions of tasks in a few bytes.
pub(crate) const MOST_ENDS: usize = 10_000_000;
/// For each of them, so many jobs may be looked at: a job may name a large array and wait for none of its tasks.
const LOOKS: usize = 100;

/// Why a dependency is not taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// It names a job that is not in the list, or no earlier one.
    Unknown,
    /// A job that it names ended in another way than it asks for.
    NeverSatisfied,
    /// There are too many.
    TooMany,
}

impl Problem {
    /// The cause under which it is counted.
    fn cause(self) -> Cause {
        match self {
            Self::Unknown => cause::DEPENDENCY_ON_UNKNOWN_JOB,
            Self::NeverSatisfied => cause::DEPENDENCY_NEVER_SATISFIED,
            Self::TooMany => cause::DEPENDENCY_ON_TOO_MANY_JOBS,
        }
    }
}

/// How a job stands that another one may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    Well,
    Badly,
}

/// A job of a number that another one waits for.
#[derive(Debug, Clone, Copy)]
struct One {
    id: Id,
    submit: i64,
    ended: Ended,
}

/// A job that waits for others.
#[derive(Debug)]
struct Asking {
    own: One,
    ends: Box<[End]>,
    /// The user and the name of all of whose earlier jobs it waits for the end.
    alike: Option<(String, String)>,
}

/// The jobs of a number: a job, the tasks of an array, or the components of a heterogeneous job.
#[derive(Debug, Default)]
struct Number {
    /// In the order of their ids, once all are known.
    all: Vec<One>,
    /// True if an id was given again, so that not all are of one submission.
    is_reused: bool,
}

/// What jobs wait for.
#[derive(Debug)]
pub(super) struct Waits {
    /// The jobs of each number that a job waits for.
    numbers: BTreeMap<u64, Number>,
    /// The jobs of each user and name of which one is a singleton, in the order of their ids, and whether each is one.
    alike: BTreeMap<String, BTreeMap<String, Vec<(Id, bool)>>>,
    asking: Vec<Asking>,
    most: usize,
    /// How many jobs may still be noted.
    left: usize,
}

impl Default for Waits {
    fn default() -> Self {
        Self::up_to(MOST_ENDS)
    }
}

impl Waits {
    /// Nothing yet, and at most so many ends.
    pub(super) fn up_to(most: usize) -> Self {
        let left = most.max(1_000);
        Self { numbers: BTreeMap::new(), alike: BTreeMap::new(), asking: Vec::new(), most, left }
    }

    fn spend(&mut self, jobs: usize) -> bool {
        let left = self.left.checked_sub(jobs);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Notes what the job of a row waits for.
    pub(super) fn ask(&mut self, job: &Job<'_>) {
        let Some(waits_for) = job.dependency.and_then(|text| Dependency::parse(text, job.id)) else { return };
        if !self.spend(waits_for.ends.len() + 1) {
            return;
        }
        for End { of, .. } in waits_for.ends {
            self.numbers.entry(of.number).or_default();
        }
        if waits_for.singleton {
            let names = self.alike.entry(job.user.to_owned()).or_default();
            names.entry(job.name.to_owned()).or_default();
        }
    }

    /// Notes a job if one may wait for it, and what it waits for itself. Returns its number among those that wait.
    pub(super) fn see(&mut self, job: &Job<'_>, waits_for: Option<Dependency>, sink: &mut dyn Sink) -> Option<u32> {
        if self.numbers.is_empty() && self.alike.is_empty() && waits_for.is_none() {
            return None;
        }
        let state = job.tries.last().map(|last| last.state);
        let ended = match state {
            Some(State::Ended(Outcome::Success)) => Ended::Well,
            Some(state) if state.has_ended() => Ended::Badly,
            _ => Ended::No,
        };
        let waiting = One { id: job.id, submit: job.submit().unwrap_or(i64::MAX), ended };
        let is_singleton = waits_for.as_ref().is_some_and(|waits_for| waits_for.singleton);
        // A list that is cut here would be another one, so that what needs it is left out.
        if let Some(number) = self.numbers.get_mut(&job.id.number) {
            self.left = self.left.saturating_sub(1);
            number.is_reused |= job.id.again > 0;
            if self.left > 0 {
                number.all.push(waiting);
            }
        }
        if let Some(all) = self.alike.get_mut(job.user).and_then(|names| names.get_mut(job.name)) {
            self.left = self.left.saturating_sub(1);
            if self.left > 0 {
                all.push((job.id, is_singleton));
            }
        }
        let waits_for = waits_for?;
        let number = u32::try_from(self.asking.len()).ok().filter(|_| self.left > 0);
        if number.is_none() {
            sink.skip(Problem::TooMany.cause(), 1);
            return None;
        }
        let alike = is_singleton.then(|| (job.user.to_owned(), job.name.to_owned()));
        self.asking.push(Asking { own: waiting, ends: waits_for.ends.into_boxed_slice(), alike });
        number
    }

    /// The jobs that each job waits for, by its number among those that wait. What is left out is counted.
    pub(super) fn resolve(mut self, sink: &mut dyn Sink) -> Vec<Box<[Id]>> {
        // The tasks of an array without an id come before all others of a number.
        self.numbers.values_mut().for_each(|number| number.all.sort_by_key(|one| one.id));
        self.alike.values_mut().flat_map(BTreeMap::values_mut).for_each(|all| all.sort_by_key(|&(id, _)| id));
        let is_cut = self.left == 0;
        let (mut left, mut looks) = (self.most, self.most.saturating_mul(LOOKS));
        let mut all = Vec::with_capacity(self.asking.len());
        for asking in &self.asking {
            let ids = if is_cut { Err(Problem::TooMany) } else { self.ends(asking, left, &mut looks) };
            match ids {
                Ok(ids) => {
                    left -= ids.len();
                    all.push(ids.into_boxed_slice());
                }
                Err(problem) => {
                    sink.skip(problem.cause(), 1);
                    all.push(Box::default());
                }
            }
        }
        all
    }

    /// The ids of the jobs that a job waits for, at most so many. At most so many jobs are looked at for that.
    fn ends(&self, asking: &Asking, most: usize, looks: &mut usize) -> Result<Vec<Id>, Problem> {
        let mut ids = Vec::new();
        for end in &asking.ends {
            let meant = self.meant(&asking.own, *end, looks)?;
            if ids.len() + meant.len() > most {
                return Err(Problem::TooMany);
            }
            ids.extend(meant.iter().map(|one| one.id));
        }
        if let Some((user, name)) = &asking.alike {
            ids.extend(self.earlier(asking.own.id, user, name));
        }
        // Tasks of an array without an id yet are one entry that stands for many jobs.
        ids.retain(|id| id.part != Part::Pending);
        ids.sort_unstable();
        ids.dedup();
        if ids.len() > most { Err(Problem::TooMany) } else { Ok(ids) }
    }

    /// The jobs whose end is meant.
    fn meant(&self, waiting: &One, End { of, must }: End, looks: &mut usize) -> Result<Vec<One>, Problem> {
        let number = self.numbers.get(&of.number);
        let all = number.map_or(&[][..], |number| number.all.as_slice());
        let meant = match of.part {
            Part::Whole => {
                *looks = looks.checked_sub(all.len()).ok_or(Problem::TooMany)?;
                let last = all.iter().map(|one| one.submit).filter(|&at| at <= waiting.submit).max();
                let is_last = |one: &&One| number.is_none_or(|number| !number.is_reused) || Some(one.submit) == last;
                all.iter().filter(is_last).copied().collect()
            }
            // The last one that was submitted before, or else the first.
            _ => {
                let from = all.partition_point(|one| one.id.listed() < of);
                let to = all.partition_point(|one| one.id.listed() <= of);
                let of_id = all.get(from..to).unwrap_or_default();
                let later = of_id.partition_point(|one| one.submit <= waiting.submit);
                of_id.get(later.saturating_sub(1)).copied().into_iter().collect::<Vec<_>>()
            }
        };
        // A job waits for earlier ones only.
        if meant.is_empty() || of.number >= waiting.id.number {
            return Err(Problem::Unknown);
        }
        if are_hopeless(&meant, must) { Err(Problem::NeverSatisfied) } else { Ok(meant) }
    }

    /// The earlier jobs of the same name and user, from the last one on that waits for all before it.
    fn earlier(&self, waiting: Id, user: &str, name: &str) -> impl Iterator<Item = Id> {
        let alike = self.alike.get(user).and_then(|names| names.get(name)).map_or(&[][..], Vec::as_slice);
        let until = alike.partition_point(|&(other, _)| other < waiting);
        let before = alike.get(..until).unwrap_or_default();
        let from = before.iter().rposition(|&(_, is_singleton)| is_singleton).unwrap_or(0);
        before.get(from..).unwrap_or_default().iter().map(|&(id, _)| id)
    }
}

/// True if they will never have ended so: an array fails if one of its tasks does.
fn are_hopeless(jobs: &[One], must: Must) -> bool {
    match must {
        Must::Any => false,
        Must::Succeed => jobs.iter().any(|one| one.ended == Ended::Badly),
        Must::Fail => jobs.iter().all(|one| one.ended == Ended::Well),
    }
}
