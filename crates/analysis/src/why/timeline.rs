//! The time of a job in stretches, each in one phase.
//!
//! The rules, of which the first that holds decides:
//!
//! 1. A task of the job runs and does work: it *runs*. If another of its tasks waits meanwhile, the stretch is in the phase of that
//!    wait, and `partly` says that some of the job ran. Maps wait before reduces; reduces only count as waiting once no map is to come.
//!    A reduce that fetches its input does no work while a map of the job is still to come.
//! 2. Only its set-up task runs: *starting*.
//! 3. Only attempts run whose machine is lost later: *lost*.
//! 4. A task of it waits: the phase of the reason that the policy gave last, else waiting for a slot, a container or resources.
//! 5. Its reduces fetch their input: *shuffling*.
//! 6. More tasks come, and none of them waits yet: *dependency*.
//! 7. No more tasks come: *ending*; if the log does not say when one of its tasks ran, that time is *unknown*.

use resched_tables::model::{Reason, TaskKind};

use super::held::{Held, Resource, Why};
use super::phase::Phase;

/// Who holds what a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Whoever holds this resource.
    Pool(Resource),
    /// The jobs of the user of that number, who may have no more.
    User(u32),
    /// The jobs of the queue of that number, which may have no more.
    Queue(u32),
    /// The job in that row.
    Job(u32),
    /// Nobody: a rule.
    Rule,
}

/// A time in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) phase: Phase,
    /// True if some of the job ran meanwhile.
    pub(super) partly: bool,
    pub(super) reason: Reason,
    pub(super) scope: Scope,
}

/// What is counted of a job.
#[derive(Clone, Copy)]
pub(super) enum Count {
    RunningMaps,
    /// Tasks that do work and are no maps.
    RunningOthers,
    Shuffling,
    Lost,
    SettingUp,
    MapsToCome,
    ReducesToCome,
    OthersToCome,
    /// Maps that have not been tried.
    NewMaps,
    NewReduces,
    /// Tasks that say since when they wait, and wait.
    Queued,
}

const COUNTS: usize = 11;

/// A change of a count at an instant.
pub(super) type Change = (i64, Count, i32);

/// The stretches of a job from its submission to its end, in order and without gaps; none if its completion time is not known.
pub(super) fn stretches(why: &Why, job: usize, changes: &mut Vec<Change>, each: &mut dyn FnMut(Stretch)) {
    let span = why.jobs.get(job).and_then(|job| job.submit.zip(job.finish));
    let Some((submit, finish)) = span.filter(|(submit, finish)| submit < finish) else { return };
    changes.clear();
    why.attempts_of(job).iter().for_each(|attempt| note(attempt, changes));
    changes.sort_unstable_by_key(|change| change.0);
    let mut walk = Walk { why, job, counts: [0; COUNTS], reasons: [(Reason::None, None); 3], open: None };
    let mut reasons = why.passed_over(job).iter().peekable();
    let mut at = submit;
    let mut next = 0;
    while at < finish {
        while let Some(&(_, count, by)) = changes.get(next).filter(|change| change.0 <= at) {
            walk.counts[count as usize] += by;
            next += 1;
        }
        while let Some(reason) = reasons.next_if(|reason| reason.at <= at) {
            walk.reasons[place(reason.kind)] = (reason.reason, reason.other);
        }
        let until = changes.get(next).map(|change| change.0).into_iter().chain(reasons.peek().map(|reason| reason.at));
        let until = until.min().unwrap_or(finish).min(finish);
        walk.add(at, until, each);
        at = until;
    }
    walk.open.into_iter().for_each(each);
}

/// Where the reason for a kind of task is kept.
fn place(kind: TaskKind) -> usize {
    match kind {
        TaskKind::Map => 0,
        TaskKind::Reduce => 1,
        _ => 2,
    }
}

/// Adds what an attempt changes. What was there from the beginning changes at the least time.
fn note(attempt: &Held, changes: &mut Vec<Change>) {
    let &Held { kind, since, start, shuffled, finish, .. } = attempt;
    let mut between = |count, from: i64, to: i64| {
        if from < to {
            changes.extend([(from, count, 1), (to, count, -1)]);
        }
    };
    match kind {
        // What is cleaned up is no longer part of the work.
        TaskKind::Cleanup | TaskKind::Master => return,
        TaskKind::Setup => return between(Count::SettingUp, start, finish),
        TaskKind::Map => between(Count::MapsToCome, i64::MIN, start),
        TaskKind::Reduce => between(Count::ReducesToCome, i64::MIN, start),
        TaskKind::Other => {
            between(Count::OthersToCome, i64::MIN, start);
            between(Count::Queued, since, start);
        }
    }
    if !attempt.again && kind != TaskKind::Other {
        between(if kind == TaskKind::Map { Count::NewMaps } else { Count::NewReduces }, i64::MIN, start);
    }
    if attempt.lost {
        between(Count::Lost, start, finish);
    } else if kind == TaskKind::Map {
        between(Count::RunningMaps, start, finish);
    } else {
        between(Count::Shuffling, start, shuffled);
        between(Count::RunningOthers, shuffled, finish);
    }
}

/// The state of a job while its time is walked through.
struct Walk<'a> {
    why: &'a Why,
    job: usize,
    counts: [i32; COUNTS],
    /// The reason that was given last for maps, reduces and other tasks, with the job that it is about.
    reasons: [(Reason, Option<u32>); 3],
    /// The stretch that may still grow.
    open: Option<Stretch>,
}

impl Walk<'_> {
    fn has(&self, count: Count) -> bool {
        self.counts[count as usize] > 0
    }

    /// Adds the time from `from` to `to`, in which nothing changes.
    fn add(&mut self, from: i64, to: i64, each: &mut dyn FnMut(Stretch)) {
        let next = Stretch { from, to, ..self.stretch() };
        match &mut self.open {
            Some(open) if (Stretch { from: open.from, to, ..next }) == (Stretch { to, ..*open }) => open.to = to,
            open => {
                if let Some(done) = open.replace(next) {
                    each(done);
                }
            }
        }
    }

    fn stretch(&self) -> Stretch {
        let works = self.has(Count::RunningMaps) || self.has(Count::RunningOthers);
        let waits = self.waiting();
        // Maps that are to come still have to make the input of the reduces.
        let fetches = self.has(Count::Shuffling) && waits != Some(TaskKind::Map);
        let ran = |phase| Stretch { from: 0, to: 0, phase, partly: false, reason: Reason::None, scope: Scope::Rule };
        match waits {
            Some(kind) if works || fetches => self.wait(kind, true),
            _ if works => ran(Phase::Running),
            _ if self.has(Count::SettingUp) => ran(Phase::Starting),
            _ if self.has(Count::Lost) => ran(Phase::Lost),
            Some(kind) => self.wait(kind, false),
            None if fetches => ran(Phase::Shuffling),
            None if self.has(Count::OthersToCome) => ran(Phase::Dependency),
            None if self.why.is_untimed(self.job) => ran(Phase::Unknown),
            None => ran(Phase::Ending),
        }
    }

    /// The kind of the tasks that wait. While others of the job run, it is not known whether a task that will be tried again has
    /// failed already, so only new ones count.
    fn waiting(&self) -> Option<TaskKind> {
        let runs = self.has(Count::RunningMaps) || self.has(Count::RunningOthers) || self.has(Count::Shuffling);
        let waits = |new, to_come| self.has(if runs { new } else { to_come });
        if self.has(Count::Queued) {
            Some(TaskKind::Other)
        } else if waits(Count::NewMaps, Count::MapsToCome) {
            Some(TaskKind::Map)
        } else if !self.has(Count::RunningMaps) && waits(Count::NewReduces, Count::ReducesToCome) {
            Some(TaskKind::Reduce)
        } else {
            None
        }
    }

    fn wait(&self, kind: TaskKind, partly: bool) -> Stretch {
        let (reason, other) = self.reasons[place(kind)];
        let phase = Phase::of_reason(reason, kind, self.why.in_containers);
        let (user, queue) = (self.why.user(self.job), self.why.queue(self.job));
        let scope = match reason {
            Reason::None | Reason::NodeLost | Reason::Master | Reason::Fit => {
                Scope::Pool(self.why.wanted(self.job, kind))
            }
            Reason::UserLimit => Scope::User(user),
            Reason::QueueLimit
            | Reason::JobLimit
            | Reason::NoFit
            | Reason::NoCandidates
            | Reason::Skipped
            | Reason::Equivalent => Scope::Queue(queue),
            Reason::Backfill | Reason::Reserve | Reason::Priority | Reason::PendingPreemption => {
                other.map_or(Scope::Rule, Scope::Job)
            }
            Reason::Starting
            | Reason::Locality
            | Reason::Mismatch
            | Reason::NotNearest
            | Reason::Ramp
            | Reason::NoQueue => Scope::Rule,
        };
        Stretch { from: 0, to: 0, phase, partly, reason, scope }
    }
}
