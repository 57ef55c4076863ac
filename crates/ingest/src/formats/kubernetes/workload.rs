//! The life of a Workload, from all that is said of it: each admission with its end.
//!
//! An object of the API has its last state alone. So one look shows the last admission, and of one before it what is left:
//!
//! ```text
//! created ──▶ admitted ──▶ evicted ──▶ requeued ──▶ admitted ──▶ finished
//!    │           │            │           │            │            │
//!    │           │            │           │       Admitted=True  Finished=True
//!    │           │            │      Requeued=True (its time stays)
//!    │           │     Evicted=True, later False with the time of the next admission
//!    │      requeued − accumulatedPastExecutionTimeSeconds, if it was evicted once
//! creationTimestamp
//! ```
//!
//! Several looks show more: what each says is kept, whatever their order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use resched_tables::model::{Ms, Outcome};
use serde::{Deserialize, Serialize};

use super::seen::{Condition, Kind, Owner, PodSet, Seen, What, Workload};

/// Times of the API are whole seconds, and two clocks took them: so far apart, two times may be one, ms.
const NEAR: Ms = 2_000;

/// A Workload from its creation on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Life {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// Which of the objects with this name it is, from 0.
    pub(super) again: u32,
    pub(super) owner: Option<Owner>,
    pub(super) is_group: bool,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) class: Option<String>,
    pub(super) cluster_queue: Option<String>,
    pub(super) sets: Vec<PodSet>,
    pub(super) created: Option<Ms>,
    pub(super) end: Option<Ms>,
    pub(super) outcome: Outcome,
    pub(super) runs: Vec<Run>,
    pub(super) waits: Option<String>,
    /// How many admissions are not among its runs.
    pub(super) lost: u64,
    /// True if a source saw its creation.
    pub(super) is_birth: bool,
    pub(super) oddities: Oddities,
}

/// What had to be assumed of a life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Oddities {
    /// Admissions whose time follows from the time that it ran.
    pub(super) starts_from_run: u64,
    /// Evictions whose time is that of the requeue.
    pub(super) ends_by_requeue: u64,
    /// Whether the time of a requeue contradicts the other times.
    pub(super) impossible_requeue: u64,
}

/// An admission, until its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    /// From when on it waited for this admission.
    pub(super) queued: Option<Ms>,
    pub(super) start: Option<Ms>,
    pub(super) end: Option<Ms>,
    /// How long it ran, if that alone is known.
    pub(super) ran: Option<Ms>,
    pub(super) outcome: Outcome,
    /// Why it was evicted.
    pub(super) why: Option<String>,
    /// The flavours of each pod set.
    pub(super) flavors: BTreeMap<String, String>,
}

/// The life of a Workload from what is said of it, the latest state last.
pub(super) fn life(again: u32, all: &[Seen]) -> Life {
    let looks: Vec<(&Seen, &Workload)> = all.iter().filter_map(workload_of).collect();
    let mut life = Life { again, ..described(all, &looks) };
    let facts = Facts::of(&looks);
    facts.write(&mut life);
    life
}

fn workload_of(seen: &Seen) -> Option<(&Seen, &Workload)> {
    match &seen.what {
        What::Workload(workload) => Some((seen, workload)),
        _ => None,
    }
}

/// What is said of it apart from its times, by the latest state that has it.
fn described(all: &[Seen], looks: &[(&Seen, &Workload)]) -> Life {
    fn last<'w, V>(looks: &[(&'w Seen, &'w Workload)], of: impl Fn(&'w Workload) -> Option<V>) -> Option<V> {
        looks.iter().rev().find_map(|(_, workload)| of(workload))
    }
    let first = all.first();
    let sets = last(looks, |workload| Some(&workload.sets).filter(|sets| !sets.is_empty()));
    Life {
        namespace: first.map_or_else(String::new, |seen| seen.namespace.clone()),
        name: first.map_or_else(String::new, |seen| seen.name.clone()),
        uid: all.iter().map(|seen| &seen.uid).find(|uid| !uid.is_empty()).cloned().unwrap_or_default(),
        owner: all.iter().rev().find_map(|seen| seen.owner.clone()),
        is_group: looks.iter().any(|(_, workload)| workload.is_group),
        queue: last(looks, |workload| workload.queue.clone()),
        priority: last(looks, |workload| workload.priority),
        class: last(looks, |workload| workload.class.clone()),
        cluster_queue: last(looks, |workload| workload.cluster_queue.clone()),
        sets: sets.cloned().unwrap_or_default(),
        created: created(all),
        is_birth: all.iter().any(|seen| seen.is_birth),
        ..Life::default()
    }
}

/// When it was created: as the object has it, or else when a log saw it.
fn created(all: &[Seen]) -> Option<Ms> {
    let of =
        |exactly: bool| all.iter().filter(move |seen| seen.uid.is_empty() != exactly).filter_map(|seen| seen.created);
    of(true).min().or_else(|| of(false).min())
}

/// The times of all looks, each once.
#[derive(Debug, Default)]
struct Facts {
    /// The admissions, by their whole second, with the flavours that they got.
    admitted: BTreeMap<Ms, (Ms, BTreeMap<String, String>)>,
    /// The evictions, by their whole second, with why.
    evicted: BTreeMap<Ms, (Ms, String)>,
    /// Why it was evicted before an admission, by the whole second of that.
    evicted_before: BTreeMap<Ms, String>,
    /// The requeues after evictions.
    requeued: BTreeSet<Ms>,
    /// All times from which on it waited again.
    waited: BTreeSet<Ms>,
    /// The time of the requeue after the so many-th eviction, and how long it had run until then.
    sums: BTreeMap<u64, (Ms, Ms)>,
    /// How often it was evicted, as far as it is known.
    evictions: u64,
    has_run: Option<Ms>,
    finished: Option<(Ms, Outcome)>,
    deleted: Option<Ms>,
    /// When somebody stopped it.
    stopped: Option<Ms>,
    waits: Option<String>,
    impossible: u64,
}

/// The times that may be this one.
fn around(time: Ms) -> RangeInclusive<Ms> {
    time.saturating_sub(NEAR)..=time.saturating_add(NEAR)
}

/// The whole second of a time.
fn second(time: Ms) -> Ms {
    time - time.rem_euclid(1_000)
}

/// The whole second in which a run began.
fn second_of(run: &Run) -> Option<Ms> {
    run.start.map(second)
}

/// The time of a condition: to the millisecond if it is known.
fn time_of(condition: &Condition) -> Ms {
    condition.exact.unwrap_or(condition.time)
}

fn is_hint(workload: &Workload) -> bool {
    workload.conditions.iter().any(|condition| condition.is_hint)
}

fn is(workload: &Workload, kind: Kind, is: bool) -> Option<&Condition> {
    workload.conditions.iter().find(|condition| condition.kind == kind && condition.is == is)
}

impl Facts {
    fn of(looks: &[(&Seen, &Workload)]) -> Self {
        let mut facts = Self::default();
        // Objects first: an event counts where no object has what it says.
        looks.iter().filter(|(_, workload)| !is_hint(workload)).for_each(|(_, workload)| facts.see(workload));
        looks.iter().filter(|(_, workload)| is_hint(workload)).for_each(|(_, workload)| facts.see_event(workload));
        for (seen, _) in looks {
            facts.deleted = [facts.deleted, seen.deleted].into_iter().flatten().min();
        }
        if let Some((_, last)) = looks.iter().rfind(|(_, workload)| !workload.sets.is_empty()) {
            facts.waits = is(last, Kind::QuotaReserved, false).map(|condition| condition.message.clone());
            let deactivated = is(last, Kind::Evicted, true).filter(|_| last.is_active == Some(false));
            facts.stopped = deactivated.map(time_of);
        }
        facts
    }

    fn see(&mut self, workload: &Workload) {
        if let Some(condition) = is(workload, Kind::Admitted, true) {
            self.admit(condition, workload);
        }
        if let Some(condition) = is(workload, Kind::Evicted, true) {
            let why = why(condition, is(workload, Kind::Preempted, true));
            let (time, known) = self.evicted.entry(condition.time).or_insert((condition.time, String::new()));
            *time = (*time).max(time_of(condition));
            if known.len() < why.len() {
                *known = why;
            }
        }
        if let Some(condition) = is(workload, Kind::Evicted, false) {
            let before = condition.message.strip_prefix("Previously: ").unwrap_or_default();
            self.evicted_before.entry(condition.time).or_insert_with(|| before.to_owned());
        }
        if let Some(condition) = is(workload, Kind::Finished, true) {
            let finished = (time_of(condition), outcome(condition));
            self.finished = Some(self.finished.map_or(finished, |known| known.min(finished)));
        }
        self.see_requeue(workload);
    }

    /// Takes what an event says, unless it is known.
    fn see_event(&mut self, workload: &Workload) {
        let Some(condition) = workload.conditions.first() else { return };
        let near = around(condition.time);
        let is_known = match condition.kind {
            Kind::Admitted => self.admitted.range(near).next().is_some(),
            _ => self.evicted.range(near).next().is_some(),
        };
        if !is_known {
            self.see(workload);
        }
    }

    fn admit(&mut self, condition: &Condition, workload: &Workload) {
        let (time, flavors) = self.admitted.entry(condition.time).or_insert((condition.time, BTreeMap::new()));
        *time = (*time).max(time_of(condition));
        if flavors.is_empty() {
            flavors.clone_from(&workload.flavors);
        }
    }

    /// Notes what the last requeue says. Its time stays, so it must be before the admission that followed.
    fn see_requeue(&mut self, workload: &Workload) {
        let evictions = workload.evictions.unwrap_or(0);
        let was_evicted = is(workload, Kind::Evicted, false).is_some() || is(workload, Kind::Requeued, true).is_some();
        self.evictions = self.evictions.max(evictions).max(u64::from(was_evicted));
        self.has_run = self.has_run.max(workload.ran);
        let Some(requeued) = is(workload, Kind::Requeued, true) else { return };
        let admitted = is(workload, Kind::Admitted, true);
        let next = admitted.or(is(workload, Kind::Finished, true));
        if next.is_some_and(|next| next.time < requeued.time) {
            self.impossible = 1;
            return;
        }
        self.waited.insert(requeued.time);
        // A back-off that ends is no end of an eviction.
        if requeued.reason == "BackoffFinished" {
            return;
        }
        self.requeued.insert(requeued.time);
        // While it is being evicted, the sum and the requeue are those of the eviction before.
        let is_going = admitted.is_some() && is(workload, Kind::Evicted, true).is_some();
        let complete = evictions.saturating_sub(u64::from(is_going));
        if let Some(ran) = workload.ran.filter(|_| complete > 0) {
            self.sums.insert(complete, (requeued.time, ran));
        }
    }

    /// Writes the runs and the end of a life.
    fn write(mut self, life: &mut Life) {
        let starts_from_run = self.earlier(life.created);
        let mut runs: Vec<Run> = Vec::new();
        for (start, flavors) in self.admitted.values() {
            runs.push(Run { start: Some(*start), flavors: flavors.clone(), ..Run::default() });
        }
        self.evict(&mut runs);
        life.oddities.ends_by_requeue = self.end_by_requeue(&mut runs);
        let known = runs.iter().filter(|run| run.outcome == Outcome::Evicted).count() as u64;
        life.lost = self.evictions.saturating_sub(known);
        self.finish(&mut runs, life);
        if let Some(ran) = self.has_run.filter(|&ran| ran > 0 && self.evictions == 1 && life.lost == 1) {
            let why = self.evicted_before.values().next().filter(|why| !why.is_empty()).cloned();
            let first = Run { ran: Some(ran), outcome: Outcome::Evicted, why, ..Run::default() };
            runs.insert(0, first);
        }
        queue(&mut runs, life.created, &self.waited);
        life.waits = self.waits.take().filter(|_| life.outcome == Outcome::Incomplete);
        life.oddities.starts_from_run = starts_from_run;
        life.oddities.impossible_requeue = self.impossible;
        life.runs = runs;
    }

    /// Adds the admissions that follow from how long it had run at a requeue. Returns how many.
    fn earlier(&mut self, created: Option<Ms>) -> u64 {
        let mut added = 0;
        for (number, (requeued, ran)) in self.sums.clone() {
            let before = if number == 1 { Some(0) } else { self.sums.get(&(number - 1)).map(|(_, ran)| *ran) };
            let Some(start) = before.and_then(|before| requeued.checked_sub(ran.checked_sub(before)?)) else {
                continue;
            };
            if created.is_some_and(|created| start < created - NEAR) {
                self.impossible = 1;
            } else if start <= requeued && !self.is_admitted(start, requeued) {
                // The sum is in whole seconds, so it may seem to have started before it was there.
                let start = created.map_or(start, |created| start.max(created));
                self.admitted.insert(start, (start, BTreeMap::new()));
                added += 1;
            }
        }
        added
    }

    /// True if an admission is known that began at this time, or in the run until that requeue.
    fn is_admitted(&self, start: Ms, requeued: Ms) -> bool {
        let is_near = self.admitted.range(around(start)).next().is_some();
        is_near || self.admitted.range(start..requeued).next().is_some()
    }

    /// Ends the runs that were evicted. An eviction in the second of an admission is of the run before, if that has no other.
    fn evict(&self, runs: &mut [Run]) {
        for (time, why) in self.evicted.values() {
            // Runs are in the order of their starts.
            let at_or_before = runs.partition_point(|run| second_of(run) <= Some(second(*time)));
            let before = runs.partition_point(|run| second_of(run) < Some(second(*time))).checked_sub(1);
            let free = before.filter(|&at| runs.get(at).is_some_and(|run| run.end.is_none()));
            let at = free.or_else(|| at_or_before.checked_sub(1).filter(|at| Some(*at) != before));
            if let Some(run) = at.and_then(|at| runs.get_mut(at)) {
                (run.end, run.outcome) = (run.start.max(Some(*time)), Outcome::Evicted);
                run.why = Some(why.clone()).filter(|why| !why.is_empty());
            }
        }
    }

    /// Ends the runs that have a next one by the requeue between, if there is one, and the last if it waits again. Returns how many.
    fn end_by_requeue(&self, runs: &mut [Run]) -> u64 {
        let starts: Vec<Ms> = runs.iter().filter_map(|run| run.start).collect();
        let mut ended = 0;
        for (number, run) in runs.iter_mut().enumerate().filter(|(_, run)| run.end.is_none()) {
            let Some(start) = run.start else { continue };
            let next = starts.get(number + 1).copied();
            // In the second in which the last one started, it may have been requeued before.
            let after = if next.is_some() { second(start) } else { start.saturating_add(1) };
            let until = next.unwrap_or(Ms::MAX);
            let requeued = Some(after..=until).filter(|range| !range.is_empty());
            let requeued = requeued.and_then(|range| self.requeued.range(range).next().copied());
            if requeued.is_none() && next.is_none() {
                continue;
            }
            (run.end, run.outcome) = (requeued.max(Some(start)).filter(|_| requeued.is_some()), Outcome::Evicted);
            ended += u64::from(run.end.is_some());
            // What is said of the eviction before the next admission.
            let before =
                next.filter(|next| start <= *next).and_then(|next| self.evicted_before.range(start..=next).next_back());
            run.why = before.map(|(_, why)| why.clone()).filter(|why| !why.is_empty());
        }
        ended
    }

    /// Ends the life, and with it the run that goes on.
    fn finish(&self, runs: &mut [Run], life: &mut Life) {
        let deleted = self.deleted.map(|deleted| (deleted, Outcome::Killed));
        let stopped = self.stopped.map(|stopped| (stopped, Outcome::Killed));
        let ended = self.finished.or(deleted).or(stopped);
        life.outcome = ended.map_or(Outcome::Incomplete, |(_, outcome)| outcome);
        life.end = ended.map(|(end, _)| end);
        if let Some(run) = runs.last_mut().filter(|run| run.end.is_none()) {
            run.outcome = life.outcome;
            run.end = life.end;
        }
    }
}

/// Since when each run waited: from its creation on, or from the last requeue after the run before, or else from the end of that.
fn queue(runs: &mut [Run], created: Option<Ms>, waited: &BTreeSet<Ms>) {
    let mut before: Option<Ms> = None;
    for (number, run) in runs.iter_mut().enumerate() {
        let range = before.unwrap_or(Ms::MIN)..=run.start.unwrap_or(Ms::MAX);
        let range = Some(range).filter(|range| !range.is_empty());
        let again = || waited.range(range?).next_back().copied();
        run.queued = if number == 0 { created } else { again().or(before) };
        before = run.end.or(before);
    }
}

/// Why it was evicted: the reason, and what is said of it. A preemption has a better reason of its own.
fn why(evicted: &Condition, preempted: Option<&Condition>) -> String {
    let said = preempted.filter(|condition| condition.time == evicted.time).unwrap_or(evicted);
    let reason = if said.reason == evicted.reason { String::new() } else { format!(" ({})", said.reason) };
    let message = if said.message.is_empty() { String::new() } else { format!(": {}", said.message) };
    format!("{}{reason}{message}", evicted.reason)
}

/// How a Workload ended, by the reason of its condition `Finished`. Older versions have `JobFinished` for both, and a message.
fn outcome(finished: &Condition) -> Outcome {
    match finished.reason.as_str() {
        "Succeeded" => Outcome::Success,
        "Failed" => Outcome::Failed,
        "JobFinished" if finished.message.to_ascii_lowercase().contains("success") => Outcome::Success,
        "JobFinished" => Outcome::Failed,
        "OutOfSync" | "WorkloadSliceReplaced" | "OwnerNotFound" | "AdmissionChecksRejected" => Outcome::Killed,
        _ => Outcome::Unknown,
    }
}
