//! One job of its entries.
//!
//! **Which entries are one job.** Entries with one id and one submission are one job. An entry of which only the time is known, and not the
//! submission, belongs to the submission that is within [`NEAR`] of it, or before it. A later submission under the same id is the next try
//! if the one before was given back to the queue. Otherwise it is another job, because numbers begin again: it gets the id `12~2`.
//!
//! **Which entries are one try.** Entries with one start. One that has ended beats one that has not, and of two that have ended, the one
//! with the later end counts. A try that had not ended when the next one began was given back then. An end without a start ends the job:
//! it was deleted while it waited.

use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::Outcome;
use resched_tables::sink::{Room, Sink};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::entry::Stage;
use super::job::{Details, Job, System, Try};
use super::machines::OnHosts;
use crate::formats::tables::{Fact, Key};
use crate::packed::encoding;
use crate::sorted::{Sorter, in_order};

/// The most entries of one id, which are in memory together.
pub(crate) const MOST_RECORDS: usize = 100_000;
/// The most jobs that other jobs wait for.
pub(crate) const MOST_ASKED: usize = 1_000_000;
/// A record may be written so long after the submission that it is about, ms.
const NEAR: i64 = 60_000;

/// An entry that is held.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Held<'a> {
    pub(super) id: &'a str,
    pub(super) submit: Option<i64>,
    pub(super) is_exact: bool,
    pub(super) details: Details<'a>,
    pub(super) one: Try<'a>,
}

/// The jobs that others wait for: of each id, the submission and the outcome of the last job, if there is one.
#[derive(Debug, Default)]
pub(super) struct Asked(BTreeMap<String, Option<(Option<i64>, Outcome)>>);

impl Asked {
    /// Notes that a job waits for this one.
    pub(super) fn ask(&mut self, id: &str) {
        if self.0.len() < MOST_ASKED && !self.0.contains_key(id) {
            self.0.insert(id.to_owned(), None);
        }
    }

    /// Notes how a job stands that another one may wait for.
    fn see(&mut self, job: &Job<'_>) {
        if let Some(known) = self.0.get_mut(job.id) {
            *known = Some((job.submit, job.outcome));
        }
    }

    /// The submission and the outcome of a job that another one waits for.
    pub(super) fn find(&self, id: &str) -> Option<(Option<i64>, Outcome)> {
        self.0.get(id).copied().flatten()
    }
}

/// All jobs of the logs.
pub(super) struct Joined {
    /// By submission and id.
    pub(super) jobs: Sorter,
    /// The tries on known hosts, by their start.
    pub(super) tries: Sorter,
    pub(super) asked: Asked,
}

/// Joins the entries of all jobs.
///
/// # Errors
/// [`Error::Io`]; [`Error::Source`] if there are too many entries of one job.
pub(super) fn join(by_id: Sorter, asked: Asked, system: &System, sink: &mut dyn Sink) -> Result<Joined, Error> {
    let mut join = Join::new(sink.room(), asked);
    by_id.visit(|fact| join.take(fact, system, sink))?;
    join.end_id(sink)?;
    Ok(join.joined)
}

/// The entries of the id that is read, one behind the other, and where each ends.
struct Join {
    joined: Joined,
    entries: Vec<u8>,
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Join {
    fn new(room: Room, asked: Asked) -> Self {
        let (jobs, tries) = (Sorter::new(room.clone()), Sorter::new(room));
        let joined = Joined { jobs, tries, asked };
        Self { joined, entries: Vec::new(), ends: Vec::new(), bytes: Vec::new() }
    }

    fn take(&mut self, fact: &Fact<'_>, system: &System, sink: &mut dyn Sink) -> Result<(), Error> {
        let id = id_of(fact.value);
        if !self.ends.is_empty() && id_of(&self.entries) != id {
            self.end_id(sink)?;
        }
        if self.ends.len() >= MOST_RECORDS {
            return Err(too_many(id, system));
        }
        self.entries.extend_from_slice(fact.value);
        self.ends.push(self.entries.len());
        Ok(())
    }

    /// Passes on the jobs of the entries of an id.
    fn end_id(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        let (mut entries, mut ends) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.ends));
        let mut group: Vec<Held<'_>> = Vec::with_capacity(ends.len());
        let mut others = Others::default();
        for held in different(&entries, &ends) {
            if !group.is_empty() && !belongs(&group, &held) {
                self.pass(std::mem::take(&mut group), &mut others, sink)?;
            }
            group.push(held);
        }
        self.pass(group, &mut others, sink)?;
        // Their memory is used again.
        entries.clear();
        ends.clear();
        (self.entries, self.ends) = (entries, ends);
        Ok(())
    }

    /// Passes on the job of these entries, if there are any. `others` are those that had its id before.
    fn pass(&mut self, group: Vec<Held<'_>>, others: &mut Others, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some(mut job) = one_job(group, sink) else { return Ok(()) };
        self.joined.asked.see(&job);
        match others.claim(&job) {
            Ok(again) => job.again = again,
            Err(cause) => {
                sink.skip(cause, 1);
                return Ok(());
            }
        }
        sink.skip(cause::REUSED_JOB_ID, u64::from(job.again > 0));
        for one in job.tries.iter().filter(|one| one.start.is_some() && !one.hosts.is_empty()) {
            OnHosts::push(one, job.submit, &mut self.joined.tries)?;
        }
        job.write(&mut self.bytes).map_err(encoding(Path::new("a job")))?;
        let (first, second) = numbers(job.id);
        let text = format!("{first:020}{second:020}{}", job.id);
        let submit = job.submit.map_or(Key::None, |submit| Key::Number(in_order(submit)));
        self.joined.jobs.push(&Fact { job: submit, task: Key::Text(&text), time: 0, value: &self.bytes })
    }
}

/// The id of an entry that was written.
fn id_of(entry: &[u8]) -> &str {
    postcard::take_from_bytes(entry).map_or("", |(id, _)| id)
}

/// The jobs so far of an id, by the rules of [`crate::copies`].
#[derive(Default)]
struct Others {
    /// The submissions, and whether each has ended.
    all: BTreeMap<Option<i64>, bool>,
    again: u32,
}

impl Others {
    /// Which of the jobs that had its id a job is; or the cause under which it is left out, because it may be a copy.
    fn claim(&mut self, job: &Job<'_>) -> Result<u32, Cause> {
        let has_ended = job.outcome != Outcome::Incomplete;
        let known = self.all.get(&job.submit).or_else(|| self.all.get(&None)).copied();
        match known {
            Some(true) => Err(cause::DUPLICATE_JOB),
            Some(false) => Err(if has_ended { cause::FINISHED_COPY_LEFT_OUT } else { cause::DUPLICATE_JOB }),
            None => {
                self.all.insert(job.submit, has_ended);
                self.again += 1;
                Ok(if self.again == 1 { 0 } else { self.again })
            }
        }
    }
}

/// The order in which entries are put together: by submission, then by time.
type Place = (Option<i64>, u8, Option<i64>, Option<i64>);

impl Held<'_> {
    fn order(&self) -> Place {
        let Self { submit, one, .. } = self;
        // An end without a start comes last: it ends the job.
        let rank = match one.stage {
            Stage::Waiting => 0,
            _ if one.ran() => 1,
            Stage::Running => 1,
            Stage::Ended(_) | Stage::GivenBack => 2,
        };
        (*submit, rank, one.start, one.end)
    }

    /// True if another entry of the same job says all that this one says.
    fn is_within(&self, other: &Self) -> bool {
        let is_start = other.one.stage.has_ended() && self.one.start == other.one.start && other.one.ran();
        let is_poorer = self.details.shape.is_none() || other.details.shape.is_some();
        let waits = self.details.waits_for.is_empty() || !other.details.waits_for.is_empty();
        is_poorer
            && waits
            && match self.one.stage {
                Stage::Waiting => self.one.eligible.is_none() || other.one.eligible.is_some(),
                Stage::Running => is_start,
                Stage::Ended(_) | Stage::GivenBack => false,
            }
    }
}

/// The entries of an id in their order, without those of which another one of the same submission says as much.
fn different<'e>(entries: &'e [u8], ends: &[usize]) -> Vec<Held<'e>> {
    let mut from = 0;
    let mut all: Vec<(Held<'e>, &'e [u8])> = Vec::with_capacity(ends.len());
    for &end in ends {
        let bytes = entries.get(from..end).unwrap_or_default();
        from = end;
        all.extend(postcard::from_bytes(bytes).ok().map(|held| (held, bytes)));
    }
    all.sort_by(|(one, bytes), (other, others)| (one.order(), bytes).cmp(&(other.order(), others)));
    let mut found: Vec<Held<'e>> = Vec::with_capacity(all.len());
    for (held, _) in all {
        match found.last_mut().filter(|known| known.submit == held.submit) {
            Some(known) if known.is_within(&held) => *known = held,
            Some(known) if held.is_within(known) => {}
            _ => found.push(held),
        }
    }
    found
}

/// True if an entry belongs to the job of those before it, which are of the same id.
fn belongs(group: &[Held<'_>], held: &Held<'_>) -> bool {
    let Some(last) = group.last() else { return false };
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
fn one_job<'e>(group: Vec<Held<'e>>, sink: &mut dyn Sink) -> Option<Job<'e>> {
    let first = group.first()?;
    let (id, exact) = (first.id, group.iter().find(|held| held.is_exact).and_then(|held| held.submit));
    let submit = exact.or(first.submit);
    let details = details(&group);
    let eligible = group.iter().filter_map(|held| held.one.eligible).min();
    let mut tries: SmallVec<[Try<'e>; 1]> = SmallVec::new();
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
    Some(Job { id, again: 0, submit, eligible, details, tries, outcome, end })
}

/// What the last entry says that says most.
fn details<'e>(group: &[Held<'e>]) -> Details<'e> {
    let last = |is: &dyn Fn(&Details<'_>) -> bool| group.iter().rev().find(|held| is(&held.details));
    let full = last(&|details| details.shape.is_some()).or(group.last());
    let mut found = full.map(|held| held.details.clone()).unwrap_or_default();
    let fill = |text: &mut &'e str, of: fn(&Details<'e>) -> &'e str| {
        if text.is_empty() {
            *text = group.iter().map(|held| of(&held.details)).find(|text| !text.is_empty()).unwrap_or_default();
        }
    };
    fill(&mut found.queue, |details| details.queue);
    fill(&mut found.user, |details| details.user);
    fill(&mut found.waits_for, |details| details.waits_for);
    found
}

/// Ends the tries that were given back at these times. A try before another one was given back, also if no record says when.
fn give_back(tries: &mut [Try<'_>], times: &[i64]) {
    let starts: Vec<Option<i64>> = tries.iter().skip(1).map(|one| one.start).chain([None]).collect();
    let mut times = times.to_vec();
    times.sort_unstable();
    for (number, (one, next)) in tries.iter_mut().zip(&starts).enumerate() {
        if one.stage.has_ended() {
            continue;
        }
        let after = one.start.and_then(|start| times.get(times.partition_point(|&time| time < start)));
        let time = after.copied().filter(|&time| next.is_none_or(|next| time <= next));
        if time.is_some() || number + 1 < starts.len() {
            (one.stage, one.end) = (Stage::GivenBack, time);
        }
    }
}

/// How a job stands after its tries, and when it ended. A deletion ends a try that runs.
fn standing(tries: &mut [Try<'_>], deleted: Option<(Outcome, Option<i64>)>) -> (Outcome, Option<i64>) {
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

fn too_many(id: &str, system: &System) -> Error {
    Error::Source {
        path: format!("the {}", system.logs),
        place: format!("job {id}: "),
        expected: format!("at most {MOST_RECORDS} records of one job"),
        found: "more".to_owned(),
        remedy: format!("ingest the {} of a shorter time into a trace", system.logs),
    }
}

/// The first two numbers in an id: `12[3].server` comes before `100.server`.
pub(super) fn numbers(id: &str) -> (u64, u64) {
    let mut parts = id.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut next = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    (next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_jobs_are_waited_for_as_the_limit_and_not_one_more() {
        let mut asked = Asked::default();
        (0..=MOST_ASKED).for_each(|id| asked.ask(&id.to_string()));
        let mut found = |id: usize| {
            let (id, one) = (id.to_string(), Try { start: Some(5), stage: Stage::Running, ..Try::default() });
            let held = Held { id: &id, submit: Some(1), is_exact: true, details: Details::default(), one };
            let job = one_job(vec![held], &mut resched_tables::sink::Collected::default());
            job.iter().for_each(|job| asked.see(job));
            asked.find(&id)
        };
        assert_eq!([found(MOST_ASKED - 1), found(MOST_ASKED)], [Some((Some(1), Outcome::Incomplete)), None]);
    }
}
