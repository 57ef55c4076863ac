//! Who is served first (rules F8 and F9).

use std::cmp::Ordering;
use std::sync::Arc;

use resched_sim::hadoop::{FURTHER, Resources, View};
use resched_sim::{JobId, Ms};

use smallvec::SmallVec;

use super::YarnFair;
use crate::parts::yarn_order::{Standing, Usage, drf_order, fair_order};
use crate::queues::yarn_fair::{FairQueue, SharePolicy};

/// How many resources there can be.
const PARTS: usize = 2 + FURTHER;

/// What a queue's place in line goes by, where its parent shares fairly: its standing, then its path.
pub(super) type Rank = (Key, Arc<str>);

/// A standing whose order is that of service; the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Key {
    /// True if it wants nothing.
    idle: bool,
    /// True if it has its guarantee.
    satisfied: bool,
    /// Its use by its guarantee, as bits; nothing if it has that.
    of_guarantee: u64,
    /// True if it has no weight.
    weightless: bool,
    /// Its use by what it goes by, as bits in the order of numbers; of DRF, for each resource, that of the dominant one first.
    shares: [u64; PARTS],
}

/// Bits of a share that is not negative, in the order of shares. 0 by 0 comes last.
fn bits(share: f64) -> u64 {
    if share.is_nan() { f64::INFINITY.to_bits() } else { share.to_bits() }
}

impl Key {
    /// By `FairSharePolicy.FairShareComparator` of Hadoop 3.4: memory that is used, guaranteed and wanted, MB.
    pub(super) fn fair(used: u64, min: u64, demand: u64, weight: f32) -> Self {
        let min = min.min(demand);
        let (satisfied, weightless) = (used >= min, weight <= 0.0);
        let of_guarantee = if satisfied { 0 } else { bits(used as f64 / min.max(1) as f64) };
        let share = used as f64 / if weightless { 1.0 } else { f64::from(weight) };
        Self { idle: demand == 0, satisfied, of_guarantee, weightless, shares: [bits(share), 0, 0, 0] }
    }

    /// By `DominantResourceFairnessPolicy.DominantResourceFairnessComparator2` of Hadoop 3.4, or `…ComparatorN` where more than memory and
    /// virtual cores count.
    pub(super) fn drf(used: Resources, min: Resources, weight: f32, cluster: Resources) -> Self {
        if cluster.further != [0; FURTHER] {
            return Self::drf_of_many(used, min, weight, cluster);
        }
        let by = |of: Resources| [used.memory as f64 / of.memory as f64, used.cpu as f64 / of.cpu as f64];
        let of_cluster = by(cluster);
        let by_cpu = of_cluster[1] > of_cluster[0];
        let satisfied = if by_cpu { used.cpu >= min.cpu } else { used.memory >= min.memory };
        let shares =
            if satisfied { of_cluster.map(|share| bits(share / f64::from(weight))) } else { by(min).map(bits) };
        let [memory, cpu] = shares;
        Self { satisfied, shares: if by_cpu { [cpu, memory, 0, 0] } else { [memory, cpu, 0, 0] }, ..Self::default() }
    }

    /// All resources, those of which it uses the larger part of the cluster first, in single precision.
    fn drf_of_many(used: Resources, min: Resources, weight: f32, cluster: Resources) -> Self {
        let by = |of: Resources| {
            let share = |(used, of): (u64, u64)| if of == 0 { 0.0 } else { used as f32 / of as f32 };
            used.parts().into_iter().zip(of.parts()).map(share).collect::<SmallVec<[f32; PARTS]>>()
        };
        let of_cluster = by(cluster);
        let mut order: SmallVec<[usize; PARTS]> = (0..PARTS).filter(|&part| cluster.parts()[part] > 0).collect();
        order.sort_by(|&a, &b| of_cluster[b].total_cmp(&of_cluster[a]));
        let satisfied = order.first().is_none_or(|&dominant| used.parts()[dominant] >= min.parts()[dominant]);
        let of_min = by(min);
        let mut shares = [0; PARTS];
        for (share, &part) in shares.iter_mut().zip(&order) {
            *share = bits(f64::from(if satisfied { of_cluster[part] / weight } else { of_min[part] }));
        }
        Self { satisfied, shares, ..Self::default() }
    }

    /// As in 2014.
    fn of_2014(standing: &Standing) -> Self {
        let (satisfied, share) = standing.key();
        Self { satisfied, shares: [share, 0, 0, 0], ..Self::default() }
    }
}

/// Of what a queue is guaranteed and weighs.
fn guarantee(fair: &YarnFair, place: usize) -> (Resources, f32) {
    let FairQueue { min_memory_mb, min_vcores, weight, .. } = fair.tree.get(place).settings;
    let min = Resources::of(min_vcores.into(), min_memory_mb.into());
    (Resources { further: fair.queues[place].further.min, ..min }, weight as f32)
}

impl YarnFair {
    /// How a queue shares what it has.
    pub(super) fn share_of(&self, queue: usize) -> SharePolicy {
        match self.tree.get(queue).settings.policy.unwrap_or(self.share) {
            SharePolicy::Fifo if !self.tree.is_leaf(queue) => SharePolicy::Fair,
            policy => policy,
        }
    }

    /// Which of two queues with one parent is served first; under DRF of 2014 they may be equal.
    pub(super) fn order_queues(&self, share: SharePolicy, total: Resources, a: usize, b: usize) -> Ordering {
        let by_path = || self.queues[a].path.cmp(&self.queues[b].path);
        match share {
            SharePolicy::Drf if self.rules.drf_breaks_ties => {
                let key = |place: usize| {
                    let (min, weight) = guarantee(self, place);
                    Key::drf(self.queues[place].used, min, weight, total)
                };
                key(a).cmp(&key(b)).then_with(by_path)
            }
            SharePolicy::Drf => {
                let usage = |place: usize| {
                    let (min, weight) = guarantee(self, place);
                    Usage { used: self.queues[place].used, min, weight }
                };
                drf_order(&usage(a), &usage(b), total)
            }
            SharePolicy::Fair | SharePolicy::Fifo => self.key(a).cmp(&self.key(b)).then_with(by_path),
        }
    }

    /// Where a queue stands under fair sharing of memory.
    fn key(&self, place: usize) -> Key {
        let (queue, (min, weight)) = (&self.queues[place], guarantee(self, place));
        if self.rules.demand_first {
            return Key::fair(queue.used.memory, min.memory, queue.demand.memory, weight);
        }
        let min_share = min.memory.min(queue.demand.memory);
        Key::of_2014(&Standing { used: queue.used.memory, min_share, weight })
    }

    /// True if the queues below one can be kept in line by rank: none of them are equal, and nothing else goes by their order. There may be
    /// one for each of many users, so that to sort them at each heartbeat would take long. Under DRF, queues may be equal. Where a
    /// limit ends the count of demands early, or is reported, that goes by the order of service.
    pub(super) fn serves_by_rank(&self, place: usize) -> bool {
        let has_limit = |settings: &FairQueue| settings.max_memory_mb.is_some() || settings.max_vcores.is_some();
        let limited = || self.tree.with_ancestors(place).any(|above| has_limit(&self.tree.get(above).settings));
        self.share_of(place) != SharePolicy::Drf
            && (self.rules.whole_demand && self.rules.never_above_limit || !limited())
    }

    /// Puts the queues that have moved where they belong.
    pub(super) fn keep_in_line(&mut self) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        moved.dedup();
        for &place in &moved {
            let parent = self.tree.get(place).parent;
            let Some(parent) = parent.filter(|&parent| self.serves_by_rank(parent)) else { continue };
            let is_active = self.queues[place].running_apps > 0;
            let rank: Option<Rank> = is_active.then(|| (self.key(place), Arc::clone(&self.queues[place].path)));
            if self.queues[place].rank == rank {
                continue;
            }
            let before = std::mem::replace(&mut self.queues[place].rank, rank.clone());
            let line = &mut self.queues[parent].line;
            if let Some(before) = before {
                line.remove(&(before, place));
            }
            if let Some(rank) = rank {
                line.insert((rank, place));
            }
        }
        moved.clear();
        self.moved = moved;
    }

    /// Which of two jobs of one queue is served first; under DRF of 2014, those that came at the same instant may be equal.
    pub(super) fn order_jobs(&self, share: SharePolicy, view: View<'_>, a: JobId, b: JobId) -> Ordering {
        let used = |job: JobId| view.yarn().app(job).held().minus(self.apps[job].preempted);
        let start = |job: JobId| self.start(job, view);
        match share {
            SharePolicy::Fifo if self.rules.demand_first => start(a).cmp(&start(b)).then(a.cmp(&b)),
            SharePolicy::Fifo => a.cmp(&b),
            SharePolicy::Drf if self.rules.drf_breaks_ties => {
                let key = |job| Key::drf(used(job), Resources::NONE, self.weight(job), view.yarn().total());
                key(a).cmp(&key(b)).then_with(|| start(a).cmp(&start(b))).then(a.cmp(&b))
            }
            SharePolicy::Drf => {
                let usage = |job| Usage { used: used(job), min: Resources::NONE, weight: self.weight(job) };
                drf_order(&usage(a), &usage(b), view.yarn().total()).then_with(|| start(a).cmp(&start(b)))
            }
            SharePolicy::Fair if self.rules.demand_first => {
                let key = |job| Key::fair(used(job).memory, 0, self.apps[job].demand.memory, self.weight(job));
                key(a).cmp(&key(b)).then_with(|| start(a).cmp(&start(b))).then(a.cmp(&b))
            }
            SharePolicy::Fair => {
                let standing = |job| Standing { used: used(job).memory, min_share: 0, weight: self.weight(job) };
                fair_order(&standing(a), &standing(b)).then(a.cmp(&b))
            }
        }
    }

    /// When the latest attempt at a job came, ms.
    pub(super) fn start(&self, job: JobId, view: View<'_>) -> Ms {
        self.apps[job].restarted.unwrap_or_else(|| view.job(job).submit())
    }

    /// The weight of a job. If it goes by size, it is 0 until the first update after the job's arrival.
    pub(super) fn weight(&self, job: JobId) -> f32 {
        let demand = self.apps[job].demand.memory as f64;
        if self.size_weight { (demand.ln_1p() / std::f64::consts::LN_2) as f32 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_nothing_comes_after_all_others() {
        let idle = Key::fair(0, 0, 0, 1.0);
        assert!(Key::fair(9_000, 0, 9_000, 1.0) < idle, "though it uses more");
        assert!(Key::fair(1_000, 2_000, 4_000, 1.0) < Key::fair(0, 0, 4_000, 1.0), "below its guarantee");
        assert!(Key::fair(1_000, 2_000, 1_000, 1.0) > Key::fair(0, 0, 4_000, 1.0), "it wants no more than it has");
        assert!(
            Key::fair(1_000, 2_000, 4_000, 1.0) < Key::fair(2_000, 4_000, 4_000, 1.0),
            "half of both guarantees: use by weight"
        );
        assert!(Key::fair(3_000, 0, 9_000, 2.0) < Key::fair(2_000, 0, 9_000, 1.0), "use by weight");
        assert!(Key::fair(3_000, 0, 9_000, 0.0) > Key::fair(8_000, 0, 9_000, 0.1), "weightless");
        assert!(Key::fair(3_000, 0, 9_000, 0.0) < Key::fair(4_000, 0, 9_000, 0.0), "of the weightless, who uses less");
    }

    #[test]
    fn the_dominant_share_decides_then_the_other() {
        let cluster = Resources::of(10, 100);
        let key = |cpu, memory, min: [u64; 2], weight| {
            Key::drf(Resources::of(cpu, memory), Resources::of(min[0], min[1]), weight, cluster)
        };
        let none = [0, 0];
        assert!(key(1, 40, none, 1.0) < key(5, 10, none, 1.0), "0.4 of the memory against half of the cores");
        assert!(key(5, 10, none, 2.0) < key(1, 40, none, 1.0), "0.25 against 0.4");
        assert!(key(1, 50, none, 1.0) < key(5, 20, none, 1.0), "equal, but for the other resource");
        assert!(key(5, 10, [6, 0], 1.0) < key(0, 1, none, 1.0), "it lacks cores, of which it uses most");
        assert!(key(5, 10, [0, 20], 1.0) > key(0, 1, none, 1.0), "a guarantee of the other resource does not count");
    }
}
