//! One cycle of one tree: every queue's head is nominated against the same state, then they are processed one by one.

use std::cmp::Reverse;
use std::sync::Arc;

use super::draw;
use super::fair::{Player, Tournament};
use super::machine::Kueue;
use super::model::Policy;
use super::nomination::{Mode, Nomination, Target};
use super::preemption::Search;
use super::workload::PendingReason;

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It waits; the reason says why.
    Waits(PendingReason),
    Admitted,
}

/// A head in its cycle.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: u32,
    pub(crate) queue: u32,
    pub(crate) nomination: Arc<Nomination>,
    /// True if the memory of flavours was out of date.
    pub(crate) outdated: bool,
    pub(crate) outcome: Outcome,
}

/// What the entries of a cycle have done so far.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) entries: Vec<Entry>,
    /// Heads whose namespace their queue does not take.
    pub(crate) refused: Vec<u32>,
    /// Victims and who takes them.
    pub(crate) victims: Vec<(Target, u32)>,
    /// Bookings that end with the cycle.
    booked: Vec<(u32, Vec<(u32, i64)>)>,
}

impl Kueue {
    /// Nominates and processes the heads of a tree. The quotas are left with what was admitted booked.
    pub(crate) fn round(&mut self, tree: u32, now: i64) -> Round {
        let mut round = Round::default();
        let root = self.trees[tree as usize].root;
        for at in 0..self.links.tree_of(root).len() {
            let queue = self.links.tree_of(root)[at];
            let Some(id) = self.store.head(queue) else { continue };
            if self.store.shapes[self.store.workloads[id as usize].shape as usize].namespace_matches {
                round.entries.push(self.nominate(tree, queue, id));
            } else {
                round.refused.push(id);
            }
        }
        if self.model.settings.fair_sharing.is_some() {
            self.process_fairly(root, &mut round, now);
        } else {
            self.process_in_order(&mut round, now);
        }
        for (queue, usage) in round.booked.drain(..) {
            self.quotas.remove(queue as usize, &usage);
        }
        round
    }

    /// The nomination of a head, known already if neither its tree nor its memory changed.
    fn nominate(&mut self, tree: u32, queue: u32, id: u32) -> Entry {
        let version = self.trees[tree as usize].version;
        let generation = self.store.queues[queue as usize].generation;
        let workload = &mut self.store.workloads[id as usize];
        let old = self.cycles.saturating_sub(workload.memory.cycle) > 1;
        let outdated = workload.memory.pending() && old && workload.memory.generation != generation;
        let start = if outdated || !workload.memory.pending() { Vec::new() } else { workload.memory.next.clone() };
        if workload.cache.version != version {
            workload.cache.version = version;
            workload.cache.found.clear();
        }
        let known = workload.cache.found.iter().find(|(known, _)| *known == start).map(|(_, found)| Arc::clone(found));
        let nomination = known.unwrap_or_else(|| {
            let found = Arc::new(self.search(&[]).nominate(id, &start));
            self.store.workloads[id as usize].cache.found.push((start, Arc::clone(&found)));
            found
        });
        Entry { id, queue, nomination, outdated, outcome: Outcome::Waits(PendingReason::NoFit) }
    }

    fn search<'a>(&'a mut self, without: &'a [u32]) -> Search<'a> {
        Search {
            model: &self.model,
            links: &self.links,
            store: &self.store,
            shares: &self.shares,
            quotas: &mut self.quotas,
            without,
        }
    }

    /// Lower level, higher priority, older; equal ones are drawn.
    fn process_in_order(&mut self, round: &mut Round, now: i64) {
        let mut order: Vec<usize> = (0..round.entries.len()).collect();
        order.sort_by_cached_key(|&at| {
            let entry = &round.entries[at];
            let workload = &self.store.workloads[entry.id as usize];
            let drawn = draw::key(self.model.settings.seed, workload.uid, now as u64);
            (entry.nomination.level, Reverse(workload.priority), workload.created, drawn)
        });
        for at in order {
            self.process(round, at);
        }
    }

    /// The winner of the tournament is processed, then the tournament runs again. One that can book nothing takes part, too: it keeps those
    /// behind it waiting.
    fn process_fairly(&mut self, root: usize, round: &mut Round, now: i64) {
        let players: Vec<Player> = round.entries.iter().map(|entry| self.player(entry)).collect();
        let (links, shares) = (Arc::clone(&self.links), Arc::clone(&self.shares));
        let mut tournament = Tournament::new(&links, &shares, self.model.settings.seed, now, players);
        tournament.refresh(&mut self.quotas);
        while let Some(winner) = tournament.take_winner(root) {
            if self.process(round, winner) {
                tournament.refresh(&mut self.quotas);
            }
        }
    }

    fn player(&self, entry: &Entry) -> Player {
        let workload = &self.store.workloads[entry.id as usize];
        Player {
            queue: entry.queue as usize,
            usage: entry.nomination.usage.clone(),
            priority: workload.priority,
            created: workload.created,
            uid: workload.uid,
        }
    }

    /// Processes one entry; true if it booked something.
    fn process(&mut self, round: &mut Round, at: usize) -> bool {
        let mut deferred = false;
        if overlaps(&round.entries[at].nomination, &round.victims) {
            let entry = &round.entries[at];
            let victims: Vec<u32> = round.victims.iter().map(|(target, _)| target.workload).collect();
            let mut search = self.search(&victims);
            search.take_away(victims.iter().copied());
            let again = search.nominate_again(entry.id, &entry.nomination);
            search.put_back(victims.iter().copied());
            deferred = again.mode == Mode::Fit;
            round.entries[at].nomination = Arc::new(again);
        }
        let entry = &round.entries[at];
        let nomination = Arc::clone(&entry.nomination);
        if nomination.mode == Mode::NoFit {
            return false;
        }
        if nomination.mode == Mode::Preempt && nomination.targets.is_empty() {
            round.entries[at].outcome = Outcome::Waits(PendingReason::NoCandidates);
            return self.reserve(round, at);
        }
        if overlaps(&nomination, &round.victims) || !self.still_fits(round, at) {
            round.entries[at].outcome = Outcome::Waits(PendingReason::FailedAfterNomination);
            return false;
        }
        self.quotas.add(entry.queue as usize, &nomination.usage);
        let (id, queue) = (entry.id, entry.queue);
        if nomination.mode == Mode::Fit && !deferred {
            round.entries[at].outcome = Outcome::Admitted;
            return true;
        }
        round.booked.push((queue, nomination.usage.clone()));
        round.victims.extend(nomination.targets.iter().map(|&target| (target, id)));
        round.entries[at].outcome = Outcome::Waits(PendingReason::PendingPreemption);
        true
    }

    /// True if an entry fits without its victims and those of the cycle.
    fn still_fits(&mut self, round: &Round, at: usize) -> bool {
        let entry = &round.entries[at];
        let targets = entry.nomination.targets.iter().map(|target| target.workload);
        let victims: Vec<u32> = round.victims.iter().map(|(target, _)| target.workload).chain(targets).collect();
        let mut search = self.search(&victims);
        search.take_away(victims.iter().copied());
        let queue = entry.queue as usize;
        let fits = entry.nomination.usage.iter().all(|&(cell, value)| value <= search.quotas.available(queue, cell));
        search.put_back(victims.iter().copied());
        fits
    }

    /// Books what a head without candidates would take of its quota, so that in this cycle no other takes it.
    fn reserve(&mut self, round: &mut Round, at: usize) -> bool {
        let entry = &round.entries[at];
        let queue = entry.queue as usize;
        if self.model.queues[queue].preemption.reclaim == Policy::Any {
            return false;
        }
        let reserved = entry.nomination.usage.iter().map(|&(cell, value)| {
            let (quota, usage) = (self.quotas.quota(queue, cell), self.quotas.usage(queue, cell));
            let limit = if entry.nomination.level > 0 { self.quotas.limit(queue, cell) } else { 0 };
            (cell, value.min(quota.saturating_add(limit).saturating_sub(usage)).max(0))
        });
        let reserved: Vec<(u32, i64)> = reserved.collect();
        self.quotas.add(queue, &reserved);
        round.booked.push((entry.queue, reserved));
        true
    }
}

fn overlaps(nomination: &Nomination, victims: &[(Target, u32)]) -> bool {
    let taken = |target: &Target| victims.iter().any(|(victim, _)| victim.workload == target.workload);
    nomination.targets.iter().any(taken)
}
