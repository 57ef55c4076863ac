//! Demands and shares, computed every half second.

use std::collections::{BTreeMap, BTreeSet};

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, FURTHER, Resources, View};

use super::shares::{Claim, equal_share, fair_shares};
use super::{ROOT, YarnFair};
use crate::queues::yarn_fair::{FairQueue, SharePolicy};

/// The jobs that may not run yet, by the place of their queue, and the queues that have such jobs or stand above them.
pub(super) struct HeldBack {
    jobs: BTreeMap<usize, Vec<JobId>>,
    places: BTreeSet<usize>,
}

impl YarnFair {
    pub(super) fn update(&mut self, view: View<'_>) {
        if self.preemption.is_some() {
            self.note_starvation(view.now());
        }
        let held = self.held_back_by_queue();
        self.update_demand_of_queue(ROOT, &held, view);
        self.update_shares(view.yarn().total());
        if self.rules.jobs_have_shares() {
            self.update_shares_of_jobs(view);
        }
        self.seen_free = view.yarn().free_in_all();
    }

    /// The jobs that may not run yet, in the order of submission.
    fn held_back_by_queue(&self) -> HeldBack {
        let mut jobs: BTreeMap<usize, Vec<JobId>> = BTreeMap::new();
        for &job in &self.held_back {
            jobs.entry(self.apps[job].queue).or_default().push(job);
        }
        let places = jobs.keys().flat_map(|&queue| self.tree.with_ancestors(queue)).collect();
        HeldBack { jobs, places }
    }

    /// What a queue may have at most.
    pub(super) fn most(&self, place: usize) -> Resources {
        let settings = &self.tree.get(place).settings;
        let most = |most: Option<u32>, min: u32| most.map_or(u64::MAX, |most| most.max(min).into());
        Resources {
            cpu: most(settings.max_vcores, settings.min_vcores),
            memory: most(settings.max_memory_mb, settings.min_memory_mb),
            further: self.queues[place].further.most,
        }
    }

    /// What a queue could use, no more than it may (`FSLeafQueue.updateDemand`, `FSParentQueue.updateDemand`). In 2014, once that is all
    /// that it may use, of both resources, those after it in line keep the demand that they had.
    fn update_demand_of_queue(&mut self, place: usize, held: &HeldBack, view: View<'_>) -> Resources {
        let most = self.most(place);
        let children = std::mem::take(&mut self.queues[place].children);
        let jobs = std::mem::take(&mut self.queues[place].jobs);
        let ends_early = !self.rules.whole_demand;
        let by_rank = !children.is_empty() && (!ends_early || self.serves_by_rank(place));
        let busy = if by_rank { std::mem::take(&mut self.queues[place].busy) } else { BTreeSet::new() };
        let all_jobs = || jobs.iter().chain(held.jobs.get(&place).into_iter().flatten()).copied();
        let mut demand = Resources::NONE;
        for &child in children.iter().filter(|_| !by_rank).chain(&busy) {
            if ends_early && (demand.memory, demand.cpu) == (most.memory, most.cpu) {
                break;
            }
            demand = demand.plus(self.update_demand_of_queue(child, held, view)).min(most);
        }
        let is_busy = |child: &usize| {
            let queue = &self.queues[*child];
            queue.running_apps > 0 || queue.demand != Resources::NONE || held.places.contains(child)
        };
        let busy: BTreeSet<usize> = busy.into_iter().filter(is_busy).collect();
        for job in all_jobs() {
            if ends_early && (demand.memory, demand.cpu) == (most.memory, most.cpu) {
                break;
            }
            demand = demand.plus(self.update_demand(job, view)).min(most);
        }
        let has_guarantee = self.tree.get(place).settings.min_memory_mb > 0;
        let queue = &mut self.queues[place];
        let appears = (demand.memory == 0) != (queue.demand.memory == 0);
        if (has_guarantee || appears) && demand != queue.demand {
            self.moved.push(place);
        }
        (queue.children, queue.jobs, queue.demand) = (children, jobs, demand);
        if by_rank {
            queue.busy = busy;
        }
        demand
    }

    /// What a job holds and asks for (`FSAppAttempt.updateDemand`).
    fn update_demand(&mut self, job: JobId, view: View<'_>) -> Resources {
        let (yarn, app) = (view.yarn(), view.yarn().app(job));
        let asked = Ask::ALL.into_iter().map(|ask| yarn.demand_of(job, ask).times(app.asked(ask).into()));
        let at_places = if self.rules.demand_counts_places { app.placed_requests() } else { 0 };
        let demand = asked.fold(app.held(), Resources::plus).plus(yarn.demand_of(job, Ask::Map).times(at_places));
        self.apps[job].demand = demand;
        demand
    }

    /// Divides what each queue has among those below it in which jobs may run.
    pub(super) fn update_shares(&mut self, total: Resources) {
        for place in std::mem::take(&mut self.shared) {
            self.queues[place].fair_share = Resources::NONE;
        }
        self.queues[ROOT].fair_share = total;
        // Parents come before their children.
        let mut parents = BTreeSet::from([ROOT]);
        while let Some(parent) = parents.pop_first() {
            let is_active = |&child: &usize| self.queues[child].running_apps > 0;
            let active: Vec<usize> = self.queues[parent].busy.iter().copied().filter(is_active).collect();
            self.share_among_queues(parent, &active);
            for child in active {
                self.shared.push(child);
                if !self.tree.is_leaf(child) {
                    parents.insert(child);
                }
            }
        }
    }

    fn share_among_queues(&mut self, parent: usize, active: &[usize]) {
        let claims = |claim: fn(&FairQueue) -> (u32, Option<u32>)| -> Vec<Claim> {
            let settings = active.iter().map(|&child| &self.tree.get(child).settings);
            let claim = |settings: &FairQueue| {
                let (min, max) = claim(settings);
                Claim { weight: f64::from(settings.weight as f32), min, max: max.unwrap_or(u32::MAX) }
            };
            settings.map(claim).collect()
        };
        let shared = self.queues[parent].fair_share;
        let memory = fair_shares(&claims(|queue| (queue.min_memory_mb, queue.max_memory_mb)), shared.memory);
        let cpu = match self.share_of(parent) {
            SharePolicy::Drf => fair_shares(&claims(|queue| (queue.min_vcores, queue.max_vcores)), shared.cpu),
            SharePolicy::Fair | SharePolicy::Fifo => vec![0; active.len()],
        };
        for (&child, (memory, cpu)) in active.iter().zip(memory.into_iter().zip(cpu)) {
            self.queues[child].fair_share = Resources::of(cpu, memory);
        }
        if self.share_of(parent) == SharePolicy::Drf && shared.further != [0; FURTHER] {
            self.share_further_among_queues(active, shared.further);
        }
    }

    /// The shares of the resources beside memory and virtual cores.
    fn share_further_among_queues(&mut self, active: &[usize], shared: [u64; FURTHER]) {
        for (at, &units) in shared.iter().enumerate().filter(|(_, units)| **units > 0) {
            let bounded = |amount: u64| u32::try_from(amount).unwrap_or(u32::MAX);
            let claim = |&child: &usize| {
                let further = self.queues[child].further;
                let weight = f64::from(self.tree.get(child).settings.weight as f32);
                Claim { weight, min: bounded(further.min[at]), max: bounded(further.most[at]) }
            };
            let shares = fair_shares(&active.iter().map(claim).collect::<Vec<_>>(), units);
            active.iter().zip(shares).for_each(|(&child, share)| self.queues[child].fair_share.further[at] = share);
        }
    }

    fn update_shares_of_jobs(&mut self, view: View<'_>) {
        for place in 0..self.shared.len() {
            self.share_among_jobs(self.shared[place], view);
        }
    }

    /// Divides the share of a queue among its jobs that may run (`FSLeafQueue.updateInternal`). In a queue that serves by submission, the
    /// first one has it all, and the others keep what they had: nothing.
    fn share_among_jobs(&mut self, leaf: usize, view: View<'_>) {
        let (share, jobs) = (self.queues[leaf].fair_share, std::mem::take(&mut self.queues[leaf].jobs));
        match self.share_of(leaf) {
            SharePolicy::Fifo => {
                if let Some(&first) = jobs.iter().min_by_key(|&&job| (self.start(job, view), job)) {
                    self.apps[first].fair_share = share;
                }
            }
            policy => {
                let memory = self.shares_of_jobs(&jobs, share.memory);
                let cpu =
                    if policy == SharePolicy::Drf { self.shares_of_jobs(&jobs, share.cpu) } else { Shares::Equal(0) };
                for (place, &job) in jobs.iter().enumerate() {
                    self.apps[job].fair_share = Resources::of(cpu.of(place), memory.of(place));
                }
                if policy == SharePolicy::Drf {
                    for (at, &units) in share.further.iter().enumerate().filter(|(_, units)| **units > 0) {
                        let shares = self.shares_of_jobs(&jobs, units);
                        for (place, &job) in jobs.iter().enumerate() {
                            self.apps[job].fair_share.further[at] = shares.of(place);
                        }
                    }
                }
            }
        }
        self.queues[leaf].jobs = jobs;
    }

    fn shares_of_jobs(&self, jobs: &[JobId], units: u64) -> Shares {
        if !self.size_weight {
            return Shares::Equal(equal_share(jobs.len(), units));
        }
        let claim = |&job: &JobId| Claim { weight: f64::from(self.weight(job)), min: 0, max: u32::MAX };
        Shares::Each(fair_shares(&jobs.iter().map(claim).collect::<Vec<_>>(), units))
    }

    /// True if more than an amount is used, as a way to share sees it: virtual cores count with DRF alone
    /// (`SchedulingPolicy.checkIfUsageOverFairShare`, `checkIfAMResourceUsageOverLimit`).
    pub(super) fn is_more(share: SharePolicy, used: Resources, most: Resources) -> bool {
        used.memory > most.memory || share == SharePolicy::Drf && used.cpu > most.cpu
    }
}

/// Shares of several jobs.
enum Shares {
    /// All have so much.
    Equal(u64),
    /// By place.
    Each(Vec<u64>),
}

impl Shares {
    fn of(&self, place: usize) -> u64 {
        match self {
            Self::Equal(share) => *share,
            Self::Each(shares) => shares.get(place).copied().unwrap_or(0),
        }
    }
}
