//! Cycles until nothing changes, and what each of them does to workloads.

use super::cycle::{Entry, Outcome, Round};
use super::draw::mix;
use super::error::Error;
use super::machine::Kueue;
use super::nomination::{Nomination, Reason, Target};
use super::queue::Store;
use super::state::{Memory, State};
use super::workload::{PendingReason, WorkloadId};

/// Kueue's answer stands once the same outcome of a cycle has come up so many times.
const REPEATS: u32 = 4;
/// So many evictions of one workload by another within an instant are a loop without an end.
const MOST_EVICTIONS: u32 = 100;

/// Something that happened in a cycle, in the order of happening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// A workload was admitted; [`Kueue::assigned`] says on which flavours.
    Admitted(WorkloadId),
    /// A workload is evicted. It holds its quota until you report its pods [gone](Kueue::gone).
    Preempted {
        /// Who is evicted.
        victim: WorkloadId,
        /// For whom.
        by: WorkloadId,
        /// By which right.
        reason: Reason,
    },
}

/// Outcomes of the cycles since the last admission or eviction, and how often each came up.
#[derive(Debug, Default)]
struct Seen(Vec<((u64, usize, usize), u32)>);

impl Seen {
    fn count(&mut self, outcome: (u64, usize, usize)) -> u32 {
        match self.0.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.0.push((outcome, 1));
                1
            }
        }
    }
}

impl Kueue {
    /// Runs cycles until one outcome has come up four times, and says what they decided. Call it after all events of an instant, and again
    /// if the instant brings further ones, such as pods that are gone at once.
    ///
    /// Cycles that would repeat the last one are counted, not computed.
    ///
    /// # Errors
    ///
    /// If two workloads evict and follow each other for ever within the instant.
    pub fn settle(&mut self, now: i64, decisions: &mut Vec<Decision>) -> Result<(), Error> {
        let mut seen = Seen::default();
        while self.store.queued > 0 {
            let acted = self.cycle(now, decisions)?;
            if acted {
                seen.0.clear();
                continue;
            }
            let outcome = self.trees.iter().fold(0_u64, |sum, tree| sum.wrapping_add(tree.outcome));
            let times = seen.count((outcome, self.store.queued, self.store.parked));
            if times >= REPEATS || self.store.queued == 0 {
                break;
            }
            if self.restless.is_empty() {
                self.cycles += u64::from(REPEATS - times);
                break;
            }
        }
        Ok(())
    }

    /// One cycle over the trees that are not quiet; true if it admitted or evicted.
    fn cycle(&mut self, now: i64, decisions: &mut Vec<Decision>) -> Result<bool, Error> {
        self.cycles += 1;
        let before = decisions.len();
        for tree in std::mem::take(&mut self.restless) {
            let round = self.round(tree, now);
            self.trees[tree as usize].outcome = outcome(&round);
            let changed = self.apply(tree, round, now, decisions)?;
            if changed {
                self.restless.push(tree);
            } else {
                self.trees[tree as usize].quiet = true;
            }
        }
        Ok(decisions.len() > before)
    }

    /// Puts a round into effect; false if the next one would be the same.
    fn apply(&mut self, tree: u32, round: Round, now: i64, decisions: &mut Vec<Decision>) -> Result<bool, Error> {
        let before = decisions.len();
        let mut changed = !round.refused.is_empty();
        for entry in &round.entries {
            match entry.outcome {
                Outcome::Admitted => self.admit(entry, now, decisions),
                Outcome::Waits(reason) => {
                    let cycle = self.cycles;
                    changed |= self.store.wait(entry, reason, cycle);
                }
            }
        }
        for (target, by) in round.victims {
            self.evict(target, by, now, decisions)?;
        }
        for id in round.refused {
            self.store.workloads[id as usize].reason = Some(PendingReason::NamespaceMismatch);
            self.store.refuse(id);
        }
        if decisions.len() > before {
            self.trees[tree as usize].version += 1;
            changed = true;
        }
        Ok(changed)
    }

    /// The quota is booked already.
    fn admit(&mut self, entry: &Entry, now: i64, decisions: &mut Vec<Decision>) {
        let id = entry.id;
        self.store.leave(id);
        let nomination: &Nomination = &entry.nomination;
        let queue = &mut self.store.queues[entry.queue as usize];
        let workload = &mut self.store.workloads[id as usize];
        workload.state = State::Admitted;
        workload.admitted = now.div_euclid(1_000);
        workload.usage.clone_from(&nomination.usage);
        workload.assigned.clone_from(&nomination.assigned);
        workload.memory = Memory::default();
        workload.cache.found = Vec::new();
        workload.slot = queue.admit(id, workload.priority);
        decisions.push(Decision::Admitted(WorkloadId(id)));
    }

    /// One that is evicted already keeps its reason and its preemptor.
    fn evict(&mut self, target: Target, by: u32, now: i64, decisions: &mut Vec<Decision>) -> Result<(), Error> {
        let victim = target.workload;
        let workload = &mut self.store.workloads[victim as usize];
        if workload.state == State::Evicted {
            return Ok(());
        }
        workload.state = State::Evicted;
        self.store.queues[workload.queue as usize].generation += 1;
        if self.evictions_at != now {
            self.evictions_at = now;
            self.evictions.clear();
        }
        let times = self.evictions.entry((victim, by)).or_insert(0);
        *times += 1;
        if *times > MOST_EVICTIONS {
            return Err(Error::Loop { now, victim, by, times: *times });
        }
        decisions.push(Decision::Preempted { victim: WorkloadId(victim), by: WorkloadId(by), reason: target.reason });
        Ok(())
    }
}

impl Store {
    /// Notes what a head waits for, and parks it if nothing but a wake-up can help; false if all is as before.
    fn wait(&mut self, entry: &Entry, reason: PendingReason, cycle: u64) -> bool {
        let queue = &mut self.queues[entry.queue as usize];
        let (strict, generation) = (queue.strict, queue.generation);
        let mut changed = entry.outdated;
        if reason == PendingReason::PendingPreemption && !strict {
            changed |= queue.sticky != Some(entry.id);
            queue.sticky = Some(entry.id);
        }
        let workload = &mut self.workloads[entry.id as usize];
        workload.reason = Some(reason);
        let was_pending = workload.memory.pending();
        // Once victims are ending, all flavours are tried again.
        let ending = reason == PendingReason::PendingPreemption;
        let next = if ending { Vec::new() } else { entry.nomination.next.clone() };
        let memory = Memory { next, cycle, generation };
        changed |= (was_pending || memory.pending()) && workload.memory.next != memory.next;
        let left = memory.pending();
        workload.memory = memory;
        let hopeless = matches!(reason, PendingReason::NoFit | PendingReason::NoCandidates);
        if hopeless && !left && !strict {
            self.park(entry.id);
            changed = true;
        }
        changed
    }
}

/// A sum over the entries, so that their order plays no part.
fn outcome(round: &Round) -> u64 {
    let code = |outcome: Outcome| match outcome {
        Outcome::Admitted => 0,
        Outcome::Waits(reason) => 1 + reason as u64,
    };
    let entries = round.entries.iter().map(|entry| mix(u64::from(entry.id) << 8 | code(entry.outcome)));
    let refused = round.refused.iter().map(|&id| mix(u64::from(id) << 8 | 0xff));
    entries.chain(refused).fold(0, u64::wrapping_add)
}
