//! Preemption of YARN's Fair Scheduler: containers are warned, and killed later if their resources are still needed
//! (`docs/model/yarn-policies.md`; rule F5 of `docs/yarn.md`).
//!
//! **Source.** `FairScheduler.preemptTasksIfNecessary`, `preemptResources` and `warnOrKillContainer`,
//! `FSAppAttempt.preemptContainer`.

use std::cmp::Ordering;

use resched_sim::hadoop::{Ask, AttemptView, Kind, Orders, Resources, View};
use resched_sim::{JobId, Ms};

use crate::hadoop::yarn::fair::{ROOT, Settings, YarnFair};

/// When a queue last had what it may claim.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::hadoop::yarn::fair) struct Starvation {
    /// Its guarantee, or all that it demanded, ms.
    at_min_share: Ms,
    /// Half its fair share, or all that it demanded, ms.
    at_half_fair_share: Ms,
}

impl Starvation {
    pub(in crate::hadoop::yarn::fair) fn since(now: Ms) -> Self {
        Self { at_min_share: now, at_half_fair_share: now }
    }

    /// Since when a queue has lacked a part of its guarantee, of which it is known whether it lacks it now, ms.
    pub(super) fn lacks_guarantee_since(&mut self, lacks: bool, now: Ms) -> Ms {
        if !lacks {
            self.at_min_share = now;
        }
        self.at_min_share
    }
}

#[derive(Debug)]
pub(in crate::hadoop::yarn::fair) struct Preemption {
    interval: Ms,
    wait: Ms,
    threshold: f32,
    checked: Option<Ms>,
    /// The containers that are wanted back, in the order of their warnings.
    wanted_back: Vec<Victim>,
}

/// A container that was warned, as its job remembers it: it is not chosen again.
#[derive(Debug, Clone, Copy)]
pub(in crate::hadoop::yarn::fair) struct Warned {
    /// Which container of the replay.
    pub(in crate::hadoop::yarn::fair) container: u64,
    at: Ms,
    size: Resources,
}

/// A container that is wanted back.
#[derive(Debug, Clone, Copy)]
struct Victim {
    job: JobId,
    kind: Kind,
    container: u64,
}

impl Preemption {
    pub(in crate::hadoop::yarn::fair) fn new(settings: &Settings) -> Self {
        let &Settings { preemption_interval, preemption_wait, preemption_threshold, .. } = settings;
        Self::every(preemption_interval, preemption_wait, preemption_threshold)
    }

    fn every(interval: Ms, wait: Ms, threshold: f64) -> Self {
        Self { interval, wait, threshold: threshold as f32, checked: None, wanted_back: Vec::new() }
    }

    /// True if so much of the cluster is in use, and the latest check so long ago, that a check is due.
    fn is_due(&self, used: Resources, total: Resources, now: Ms) -> bool {
        let in_use = |used: u64, total: u64| used as f32 / total.max(1) as f32;
        let in_use = in_use(used.cpu, total.cpu).max(in_use(used.memory, total.memory));
        self.threshold < in_use && self.checked.is_none_or(|at| now - at >= self.interval)
    }
}

/// What a queue lacks, MB.
#[derive(Debug, Clone, Copy)]
struct Lack {
    min_share: u64,
    fair_share: u64,
    demand: u64,
    used: u64,
}

impl Lack {
    fn below_min_share(&self) -> bool {
        self.used < self.min_share.min(self.demand)
    }

    fn below_half_fair_share(&self) -> bool {
        self.used < (self.fair_share / 2).min(self.demand)
    }

    /// How much to take from others for it, if its waits for the guarantee and for the fair share are over.
    fn memory(&self, min_share_due: bool, fair_share_due: bool) -> u64 {
        let min_share = if min_share_due { self.min_share.min(self.demand) } else { 0 };
        let fair_share = if fair_share_due { self.fair_share.min(self.demand) } else { 0 };
        min_share.max(fair_share).saturating_sub(self.used)
    }
}

impl YarnFair {
    fn lack(&self, leaf: usize) -> Lack {
        let queue = &self.queues[leaf];
        Lack {
            min_share: self.tree.get(leaf).settings.min_memory_mb.into(),
            fair_share: queue.fair_share.memory,
            demand: queue.demand.memory,
            used: queue.used.memory,
        }
    }

    /// Takes down which queues have what they may claim.
    pub(in crate::hadoop::yarn::fair) fn note_starvation(&mut self, now: Ms) {
        for leaf in 0..self.queues.len() {
            let lack = self.lack(leaf);
            let starvation = &mut self.queues[leaf].starvation;
            if !lack.below_min_share() {
                starvation.at_min_share = now;
            }
            if !lack.below_half_fair_share() {
                starvation.at_half_fair_share = now;
            }
        }
    }

    /// Memory that the starving queues are to be given, MB.
    fn wanted(&self, now: Ms) -> u64 {
        let of_leaf = |leaf: usize| {
            let due = |since: Ms, timeout: Option<Ms>| timeout.is_some_and(|timeout| now - since > timeout);
            let settings = || self.tree.with_ancestors(leaf).map(|place| &self.tree.get(place).settings);
            let starvation = self.queues[leaf].starvation;
            let min_share_due = due(starvation.at_min_share, settings().find_map(|queue| queue.min_share_timeout));
            let fair_share_due =
                due(starvation.at_half_fair_share, settings().find_map(|queue| queue.fair_share_timeout));
            self.lack(leaf).memory(min_share_due, fair_share_due)
        };
        self.tree.leaves().map(of_leaf).sum()
    }

    /// If a check is due, warns as many containers as starving queues lack, and kills those that were warned long ago. If
    /// nothing is wanted, those that were warned stay so, and their time runs on.
    pub(in crate::hadoop::yarn::fair) fn preempt(&mut self, view: View<'_>, orders: &mut Orders) {
        let (used, now) = (self.queues[ROOT].used, view.now());
        let Some(preemption) = &mut self.preemption else { return };
        if !preemption.is_due(used, view.yarn().total(), now) {
            return;
        }
        preemption.checked = Some(now);
        let wanted = self.wanted(now);
        if wanted > 0 {
            self.preempt_memory(wanted, view, orders);
        }
    }

    fn preempt_memory(&mut self, mut wanted: u64, view: View<'_>, orders: &mut Orders) {
        let Some(preemption) = &mut self.preemption else { return };
        let (warned, wait) = (std::mem::take(&mut preemption.wanted_back), preemption.wait);
        let mut wanted_back: Vec<Victim> = Vec::new();
        for victim in warned {
            let run = view.runs(victim.job, victim.kind).find(|run| run.container == victim.container);
            // One that its master has taken over, but that does not run yet, falls off, and so does one for which nothing is wanted.
            let run = run.filter(|run| !run.taken_back && (run.reported || !run.taken_over));
            let Some(run) = run.filter(|_| wanted > 0) else { continue };
            let mine = self.apps[victim.job].warned.iter().find(|warned| warned.container == victim.container);
            if mine.is_some_and(|warned| warned.at + wait < view.now()) {
                orders.kill(run.id);
            }
            wanted = wanted.saturating_sub(size(victim.kind, view).memory);
            wanted_back.push(victim);
        }
        self.count_warned_as_gone(view);
        while wanted > 0 {
            let Some(victim) = self.choose(view) else { break };
            let size = size(victim.kind, view);
            let warned = Warned { container: victim.container, at: view.now(), size };
            self.apps[victim.job].warned.push(warned);
            self.count_as_gone(victim.job, size);
            wanted = wanted.saturating_sub(size.memory);
            wanted_back.push(victim);
        }
        self.count_all_again(view);
        if let Some(preemption) = &mut self.preemption {
            preemption.wanted_back = wanted_back;
        }
    }

    /// For the rest of a round, all containers that were ever warned count as given back.
    fn count_warned_as_gone(&mut self, view: View<'_>) {
        for &job in view.jobs() {
            let sizes = self.apps[job].warned.iter().map(|warned| warned.size);
            let all = sizes.fold(Resources::NONE, Resources::plus);
            self.count_as_gone(job, all);
        }
    }

    fn count_as_gone(&mut self, job: JobId, size: Resources) {
        let app = &mut self.apps[job];
        app.preempted = app.preempted.plus(size);
        let queue = app.queue;
        self.change_used(queue, |used| used.minus(size));
    }

    /// The round is over.
    fn count_all_again(&mut self, view: View<'_>) {
        for &job in view.jobs() {
            let gone = std::mem::take(&mut self.apps[job].preempted);
            self.change_used(self.apps[job].queue, |used| used.plus(gone));
        }
    }

    /// The container to take next: that of the queue, and in it of the job, that is served last; there a map before a reduce, the
    /// newest first. None if that queue is not above its fair share.
    fn choose(&self, view: View<'_>) -> Option<Victim> {
        let mut place = ROOT;
        while !self.tree.is_leaf(place) {
            let share = self.share_of(place);
            let order = |a: usize, b: usize| self.order_queues(share, view.yarn().total(), a, b);
            place = last(self.queues[place].children.iter().copied(), order)?;
        }
        let queue = &self.queues[place];
        let above = self.tree.get(place).parent.unwrap_or(ROOT);
        if !Self::is_more(self.share_of(above), queue.used, queue.fair_share) {
            return None;
        }
        let share = self.share_of(place);
        let job = last(queue.jobs.iter().copied(), |a, b| self.order_jobs(share, view, a, b))?;
        Kind::BOTH.into_iter().find_map(|kind| {
            let is_new = |run: &AttemptView| {
                !run.taken_back && self.apps[job].warned.iter().all(|warned| warned.container != run.container)
            };
            let newest = view.runs(job, kind).filter(is_new).max_by_key(|run| run.container)?;
            Some(Victim { job, kind, container: newest.container })
        })
    }
}

/// The one that comes last; of several that are equal, the first.
fn last<T: Copy>(all: impl Iterator<Item = T>, order: impl Fn(T, T) -> Ordering) -> Option<T> {
    all.reduce(|last, next| if order(next, last).is_gt() { next } else { last })
}

/// What the container of a task takes.
fn size(kind: Kind, view: View<'_>) -> Resources {
    view.yarn().demand(match kind {
        Kind::Map => Ask::Map,
        Kind::Reduce => Ask::Reduce,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_to_preempt() {
        let lack = Lack { min_share: 4_096, fair_share: 8_192, demand: 10_240, used: 1_024 };
        assert_eq!(lack.memory(true, true), 7_168);
        assert_eq!(lack.memory(true, false), 3_072);
        assert_eq!(lack.memory(false, false), 0);
        assert!(lack.below_min_share() && lack.below_half_fair_share());
    }

    #[test]
    fn preemption_waits_for_a_busy_cluster_and_for_its_interval() {
        let mut preemption = Preemption::every(5_000, 15_000, 0.8);
        let total = Resources::of(10, 100);
        let due = |preemption: &Preemption, memory, now| preemption.is_due(Resources::of(0, memory), total, now);
        assert!(!due(&preemption, 80, 0) && due(&preemption, 81, 0));
        preemption.checked = Some(1_000);
        assert!(!due(&preemption, 81, 5_999) && due(&preemption, 81, 6_000));
    }
}
