//! Which jobs of a list each job waits for, once the whole list is known.

use std::collections::BTreeMap;

use resched_tables::cause::{self, Cause};
use resched_tables::model::Outcome;
use resched_tables::sink::Sink;

use super::dependency::{Dependency, End, Must};
use super::id::{Id, Part};
use super::jobs::{Job, Jobs};
use super::state::State;
use crate::texts::TextId;

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

/// The jobs that each job waits for, by its place among `jobs`. What is left out is counted.
pub(super) fn resolve(jobs: &Jobs, sink: &mut dyn Sink) -> BTreeMap<usize, Vec<Id>> {
    let asking: Vec<(usize, &Dependency)> =
        jobs.all.iter().enumerate().filter_map(|(place, job)| Some((place, job.waits_for.as_deref()?))).collect();
    if asking.is_empty() {
        return BTreeMap::new();
    }
    let family = Family::of(jobs, &asking);
    let mut all = BTreeMap::new();
    let mut left = jobs.most_ends;
    for (place, asked) in asking {
        match family.ends(place, asked, left) {
            Ok(ids) => {
                left -= ids.len();
                all.insert(place, ids);
            }
            Err(problem) => sink.skip(problem.cause(), 1),
        }
    }
    all
}

/// The jobs of one number: a job, or the tasks of an array, or the components of a heterogeneous job.
#[derive(Debug, Default)]
struct Parts {
    places: Vec<usize>,
    /// How many of them can never succeed.
    failed: usize,
    /// How many have succeeded.
    succeeded: usize,
    /// Whether the number was given again, so that they are not all of one submission.
    is_reused: bool,
}

impl Parts {
    fn add(&mut self, place: usize, job: &Job) {
        let state = job.tries.last().map(|last| last.state);
        let has_succeeded = state == Some(State::Ended(Outcome::Success));
        self.places.push(place);
        self.is_reused |= job.id.again > 0;
        self.succeeded += usize::from(has_succeeded);
        self.failed += usize::from(!has_succeeded && state.is_some_and(State::has_ended));
    }

    /// Whether they will never have ended so: an array fails if one of its tasks does.
    fn are_hopeless(&self, must: Must) -> bool {
        match must {
            Must::Any => false,
            Must::Succeed => self.failed > 0,
            Must::Fail => self.succeeded == self.places.len(),
        }
    }
}

/// Which jobs belong together.
struct Family<'a> {
    jobs: &'a Jobs,
    /// The tasks or components of each number that a job waits for.
    parts: BTreeMap<u64, Parts>,
    /// The places of the jobs of each name and user of which one is a singleton, in the order of their ids.
    alike: BTreeMap<(TextId, TextId), Vec<usize>>,
}

impl<'a> Family<'a> {
    fn of(jobs: &'a Jobs, asking: &[(usize, &Dependency)]) -> Self {
        let (mut parts, mut alike) = (BTreeMap::new(), BTreeMap::new());
        for (place, asked) in asking {
            let wholes = asked.ends.iter().filter(|end| end.of.part == Part::Whole);
            parts.extend(wholes.map(|end| (end.of.number, Parts::default())));
            if let Some(job) = jobs.all.get(*place).filter(|_| asked.singleton) {
                alike.insert((job.name, job.user), Vec::new());
            }
        }
        for (place, job) in jobs.all.iter().enumerate() {
            parts.entry(job.id.number).and_modify(|parts: &mut Parts| parts.add(place, job));
            alike.entry((job.name, job.user)).and_modify(|places: &mut Vec<usize>| places.push(place));
        }
        alike.values_mut().for_each(|places| places.sort_by_key(|&place| jobs.all.get(place).map(|job| job.id)));
        Self { jobs, parts, alike }
    }

    /// The ids of the jobs that the job at a place waits for, at most so many.
    fn ends(&self, place: usize, asked: &Dependency, most: usize) -> Result<Vec<Id>, Problem> {
        let own = self.jobs.all.get(place).ok_or(Problem::Unknown)?;
        let mut places = Vec::new();
        for end in &asked.ends {
            self.add(own, *end, most, &mut places)?;
        }
        if asked.singleton {
            places.extend(self.earlier(own));
        }
        // Tasks of an array without an id yet are one entry that stands for many jobs.
        let jobs = places.iter().filter_map(|&place| self.jobs.all.get(place));
        let mut ids: Vec<Id> = jobs.filter(|job| job.id.part != Part::Pending).map(|job| job.id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() > most { Err(Problem::TooMany) } else { Ok(ids) }
    }

    /// Those of all jobs of a number that were submitted together, last before a time.
    fn of_time(&self, all: &Parts, time: i64) -> Parts {
        let submit = |place: &usize| self.jobs.submit(*place);
        let last = all.places.iter().filter_map(submit).filter(|&at| at <= time).max();
        let mut found = Parts::default();
        for &place in all.places.iter().filter(|place| submit(place) == last) {
            if let Some(job) = self.jobs.all.get(place) {
                found.add(place, job);
            }
        }
        found
    }

    /// Adds the jobs whose end is meant, unless there are more than `most` then.
    fn add(&self, own: &Job, End { of, must }: End, most: usize, places: &mut Vec<usize>) -> Result<(), Problem> {
        let mut one = Parts::default();
        let submit = own.tries.first().map_or(i64::MAX, |one| one.times.submit);
        let meant = match of.part {
            Part::Whole => match self.parts.get(&of.number) {
                Some(all) if all.is_reused => {
                    one = self.of_time(all, submit);
                    Some(&one)
                }
                all => all,
            },
            _ => self.jobs.place_at(of, submit).and_then(|place| {
                one.add(place, self.jobs.all.get(place)?);
                Some(&one)
            }),
        };
        // A job waits for earlier ones only.
        let meant =
            meant.filter(|meant| !meant.places.is_empty() && of.number < own.id.number).ok_or(Problem::Unknown)?;
        if meant.are_hopeless(must) {
            return Err(Problem::NeverSatisfied);
        }
        if places.len() + meant.places.len() > most {
            return Err(Problem::TooMany);
        }
        places.extend(&meant.places);
        Ok(())
    }

    /// The earlier jobs of the same name and user, from the last one on that waits for all before it.
    fn earlier(&self, own: &Job) -> Vec<usize> {
        let alike = self.alike.get(&(own.name, own.user)).map_or(&[][..], Vec::as_slice);
        let until = alike.partition_point(|&other| self.jobs.all.get(other).is_some_and(|other| other.id < own.id));
        let before = alike.get(..until).unwrap_or_default();
        let is_singleton = |place: &usize| {
            let waits_for = self.jobs.all.get(*place).and_then(|job| job.waits_for.as_deref());
            waits_for.is_some_and(|waits_for| waits_for.singleton)
        };
        let from = before.iter().rposition(is_singleton).unwrap_or(0);
        before.get(from..).unwrap_or_default().to_vec()
    }
}
