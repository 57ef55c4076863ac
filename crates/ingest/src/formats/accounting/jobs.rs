//! The entries of all logs of a cluster, held until the last one ends.
//!
//! **Which entries are one job.** Entries with one id and one submission are one job. An entry of which only the time is known, and not the
//! submission, belongs to the submission that is within [`NEAR`] of it, or before it. A later submission under the same id is the next try
//! if the one before was given back to the queue. Otherwise it is another job, because numbers begin again.
//!
//! **Which entries are one try.** Entries with one start. One that has ended beats one that has not, and of two that have ended, the one
//! with the later end counts. A try that had not ended when the next one began was given back then. An end without a start ends the job:
//! it was deleted while it waited.
//!
//! So the order of the entries does not matter. An entry takes some 300 bytes, and texts are kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Outcome;
use resched_tables::placed;
use resched_tables::sink::Sink;
use smallvec::SmallVec;

use super::entry::{Entry, Stage};
use super::job::{Details, Job, System, Try};
use super::machines::{self, Machines};
use super::records::Records;
use crate::texts::{TextId, Texts};

/// The most entries of the logs of a cluster.
pub(crate) const MOST_ENTRIES: usize = 10_000_000;
/// The most bytes of their different texts.
pub(crate) const MOST_TEXT: usize = 2 << 30;
/// A record may be written so long after the submission that it is about, ms.
const NEAR: i64 = 60_000;

/// The entries of the logs of a cluster.
#[derive(Debug)]
pub(crate) struct Jobs {
    pub(super) system: &'static System,
    pub(super) all: Vec<Held>,
    pub(super) texts: Texts,
    /// Where the last entry of each job stands, behind the hash of its id and submission.
    places: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    entries: u64,
    most: usize,
    most_text: usize,
}

/// An entry that is held.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) id: TextId,
    pub(super) submit: Option<i64>,
    is_exact: bool,
    pub(super) details: Details,
    pub(super) one: Try,
}

impl Jobs {
    /// No entries yet.
    pub(crate) fn of(system: &'static System) -> Self {
        Self {
            system,
            all: Vec::new(),
            texts: Texts::default(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            entries: 0,
            most: MOST_ENTRIES,
            most_text: MOST_TEXT,
        }
    }

    /// As [`Jobs::of`], with other bounds.
    #[cfg(test)]
    pub(super) fn up_to(system: &'static System, most: usize, most_text: usize) -> Self {
        Self { most, most_text, ..Self::of(system) }
    }

    /// How many entries were taken.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// [`Error::Source`] if there are too many to be held.
    pub(crate) fn take(&mut self, entry: &Entry<'_>, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.entries += 1;
        let held = self.held(entry, sink);
        let hash = self.hasher.hash_one((held.id, held.submit));
        let is_it = |&(known, place): &(u64, u32)| {
            let is_same = |other: &Held| other.id == held.id && other.submit == held.submit;
            known == hash && self.all.get(place as usize).is_some_and(is_same)
        };
        let before = self.places.find(hash, is_it).map(|&(_, place)| place as usize);
        match before.and_then(|place| self.all.get_mut(place)) {
            // What the later record says as well need not be held twice.
            Some(known) if known.is_within(&held) => *known = held,
            Some(known) if held.is_within(known) => {}
            _ => self.add(held, hash),
        }
        if self.all.len() > self.most || self.texts.bytes() > self.most_text {
            return Err(self.too_long(path));
        }
        Ok(())
    }

    fn add(&mut self, held: Held, hash: u64) {
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let is_it = |&(known, _): &(u64, u32)| known == hash;
        match self.places.find_mut(hash, is_it) {
            Some(known) => known.1 = place,
            None => _ = self.places.insert_unique(hash, (hash, place), |&(hash, _)| hash),
        }
        self.all.push(held);
    }

    fn held(&mut self, entry: &Entry<'_>, sink: &mut dyn Sink) -> Held {
        let hosts = self.hosts(entry, sink);
        let texts = &mut self.texts;
        let waits: Vec<String> =
            entry.waits_for.iter().map(|wait| [if wait.must_succeed { "+" } else { "" }, wait.id].concat()).collect();
        Held {
            id: texts.keep(&entry.id),
            submit: entry.submit,
            is_exact: entry.is_exact,
            details: Details {
                name: texts.keep(entry.name),
                user: texts.keep(entry.user),
                queue: texts.keep(entry.queue),
                account: texts.keep(entry.account),
                qos: texts.keep(entry.qos),
                features: texts.keep(entry.features),
                reservation: texts.keep(entry.reservation),
                priority: entry.priority,
                limit: entry.limit,
                shape: entry.shape.clone().map(Box::new),
                waits_for: texts.keep(&waits.join(" ")),
            },
            one: Try {
                eligible: entry.eligible,
                start: entry.start,
                end: entry.end,
                run: entry.run,
                stage: entry.stage,
                hosts,
                cpu_ms: entry.cpu_ms,
                used_memory: entry.used_memory,
            },
        }
    }

    /// The hosts of an entry as one text. Names that are none, or too many, are counted and unknown.
    fn hosts(&mut self, entry: &Entry<'_>, sink: &mut dyn Sink) -> TextId {
        if entry.hosts.is_empty() {
            return TextId::default();
        }
        if entry.hosts.len() > machines::MOST_HOSTS || entry.hosts.iter().any(|(host, _)| !machines::is_name(host)) {
            sink.skip(cause::DAMAGED_NODE_LIST, 1);
            return TextId::default();
        }
        let hosts = entry.hosts.iter().map(|(host, cpus)| (host.as_ref(), *cpus));
        self.texts.keep(&placed::as_text(hosts))
    }

    /// Hands over the jobs and machines of all logs.
    pub(crate) fn hand_over(mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        let jobs = self.join(sink);
        let machines = Machines::of(&jobs, &self.texts, sink);
        Records { texts: &self.texts, system: self.system }.write(&jobs, sink)?;
        if !jobs.is_empty() {
            machines.report(sink);
        }
        Ok(())
    }

    /// Hands over the jobs so far, and keeps their texts. Entries of the same job that come later are then another job.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        let jobs = self.join(sink);
        Records { texts: &self.texts, system: self.system }.write(&jobs, sink)?;
        self.texts = Texts::default();
        Ok(())
    }

    /// The jobs of the entries, in the order of their submission and their ids.
    pub(super) fn join(&mut self, sink: &mut dyn Sink) -> Vec<Job> {
        self.places = HashTable::new();
        let mut all = std::mem::take(&mut self.all);
        all.sort_by_key(Held::order);
        let mut jobs: Vec<Job> = Vec::new();
        let mut group: Vec<Held> = Vec::new();
        for held in all {
            if !group.is_empty() && !belongs(&group, &held) {
                jobs.extend(one_job(std::mem::take(&mut group), sink));
            }
            group.push(held);
        }
        jobs.extend(one_job(group, sink));
        jobs.sort_by_cached_key(|job| {
            let id = self.texts.text(job.id);
            (job.submit, numbers(id), id.to_owned())
        });
        jobs
    }

    fn too_long(&self, path: &str) -> Error {
        Error::Source {
            path: path.to_owned(),
            place: String::new(),
            expected: format!(
                "at most {} records of jobs, with at most {} GiB of different texts",
                self.most,
                MOST_TEXT >> 30
            ),
            found: "more".to_owned(),
            remedy: format!("ingest the {} of a shorter time into a trace", self.system.logs),
        }
    }
}

/// The order in which entries are put together: by job, then by time.
type Place = (TextId, Option<i64>, u8, Option<i64>, Option<i64>);

impl Held {
    fn order(&self) -> Place {
        let Self { id, submit, one, .. } = self;
        // An end without a start comes last: it ends the job.
        let rank = match one.stage {
            Stage::Waiting => 0,
            _ if one.ran() => 1,
            Stage::Running => 1,
            Stage::Ended(_) | Stage::GivenBack => 2,
        };
        (*id, *submit, rank, one.start, one.end)
    }

    /// Whether another entry of the same job says all that this one says.
    fn is_within(&self, other: &Self) -> bool {
        let is_start = other.one.stage.has_ended() && self.one.start == other.one.start && other.one.ran();
        let is_poorer = self.details.shape.is_none() || other.details.shape.is_some();
        let waits = self.details.waits_for.is_none() || !other.details.waits_for.is_none();
        is_poorer
            && waits
            && match self.one.stage {
                Stage::Waiting => self.one.eligible.is_none() || other.one.eligible.is_some(),
                Stage::Running => is_start,
                Stage::Ended(_) | Stage::GivenBack => false,
            }
    }
}

/// Whether an entry belongs to the job of those before it, which are of the same id or another.
fn belongs(group: &[Held], held: &Held) -> bool {
    let Some(last) = group.last().filter(|last| last.id == held.id) else { return false };
    // The record of a deletion, or of a job that is given back, has the time of that alone.
    let is_end = !held.is_exact && held.one.stage.has_ended();
    let is_same = match (last.submit, held.submit) {
        (Some(one), Some(other)) if last.is_exact && held.is_exact => one == other,
        (Some(one), Some(other)) => other.saturating_sub(one) <= NEAR,
        _ => true,
    };
    is_same || is_end || last.one.stage == Stage::GivenBack
}

/// Entries that say when a try ended, but not which.
#[derive(Default)]
struct Ends {
    /// The job was deleted: how it ended, and when.
    deleted: Option<(Outcome, Option<i64>)>,
    /// It was given back to the queue.
    given_back: Vec<i64>,
}

/// The job of these entries; `None` if there are none.
fn one_job(group: Vec<Held>, sink: &mut dyn Sink) -> Option<Job> {
    let first = group.first()?;
    let (id, exact) = (first.id, group.iter().find(|held| held.is_exact).and_then(|held| held.submit));
    let submit = exact.or(first.submit);
    let details = details(&group);
    let eligible = group.iter().filter_map(|held| held.one.eligible).min();
    let mut tries: SmallVec<[Try; 1]> = SmallVec::new();
    let mut ends = Ends::default();
    for Held { one, .. } in group {
        match one.stage {
            Stage::Waiting => {}
            Stage::GivenBack if !one.ran() => ends.given_back.extend(one.end),
            Stage::Ended(outcome) if !one.ran() => ends.deleted = ends.deleted.or(Some((outcome, one.end))),
            _ => match tries.last_mut().filter(|last| last.start == one.start) {
                Some(last) => {
                    sink.skip(cause::DUPLICATE_ROW, u64::from(last.stage.has_ended() && one.stage.has_ended()));
                    if one.stage.has_ended() || !last.stage.has_ended() {
                        *last = one;
                    }
                }
                None => tries.push(one),
            },
        }
    }
    give_back(&mut tries, &ends.given_back);
    let (outcome, end) = standing(&mut tries, ends.deleted);
    Some(Job { id, submit, eligible, details, tries, outcome, end })
}

/// What the last entry says that says most.
fn details(group: &[Held]) -> Details {
    let last = |is: &dyn Fn(&Details) -> bool| group.iter().rev().find(|held| is(&held.details));
    let full = last(&|details| details.shape.is_some()).or(group.last());
    let mut found = full.map(|held| held.details.clone()).unwrap_or_default();
    let fill = |text: &mut TextId, of: fn(&Details) -> TextId| {
        if text.is_none() {
            *text = group.iter().map(|held| of(&held.details)).find(|text| !text.is_none()).unwrap_or_default();
        }
    };
    fill(&mut found.queue, |details| details.queue);
    fill(&mut found.user, |details| details.user);
    fill(&mut found.waits_for, |details| details.waits_for);
    found
}

/// Ends the tries that were given back at these times. A try before another one was given back, also if no record says when.
fn give_back(tries: &mut [Try], times: &[i64]) {
    let starts: Vec<Option<i64>> = tries.iter().skip(1).map(|one| one.start).chain([None]).collect();
    for (number, (one, next)) in tries.iter_mut().zip(&starts).enumerate() {
        if one.stage.has_ended() {
            continue;
        }
        let is_of_it =
            |time: &&i64| one.start.is_some_and(|start| start <= **time) && next.is_none_or(|next| **time <= next);
        let time = times.iter().filter(is_of_it).min().copied();
        if time.is_some() || number + 1 < starts.len() {
            (one.stage, one.end) = (Stage::GivenBack, time);
        }
    }
}

/// How a job stands after its tries, and when it ended. A deletion ends a try that runs.
fn standing(tries: &mut [Try], deleted: Option<(Outcome, Option<i64>)>) -> (Outcome, Option<i64>) {
    let Some(last) = tries.last_mut() else { return deleted.unwrap_or((Outcome::Incomplete, None)) };
    match (last.stage, deleted) {
        (Stage::Running, Some((outcome, end))) if end >= last.start => {
            (last.stage, last.end) = (Stage::Ended(outcome), end);
            (outcome, end)
        }
        (Stage::GivenBack, Some(deleted)) => deleted,
        (Stage::GivenBack, None) => (Outcome::Incomplete, None),
        (stage, _) => (stage.outcome(), last.end.or_else(|| last.start?.checked_add(last.run?))),
    }
}

/// The first two numbers in an id: `12[3].server` comes before `100.server`.
fn numbers(id: &str) -> (u64, u64) {
    let mut parts = id.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut next = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    (next(), next())
}
