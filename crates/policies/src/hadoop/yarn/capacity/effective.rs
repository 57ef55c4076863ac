//! The guarantees and maxima of queues as whole amounts, which follow the size of the cluster (rule K7).

use std::collections::BTreeMap;

use resched_sim::hadoop::{FURTHER, View};

use super::YarnCapacity;
use super::amounts::{Amounts, PARTS};
use super::calculator::Calculator;
use super::serve::Limits;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::{Total, YarnQueue, shares};

impl YarnCapacity {
    /// Gives the queues whose guarantees are amounts their shares of the cluster, once it is known, and all queues their amounts whenever
    /// the cluster has changed (`AbstractCSQueue.updateEffectiveResources`).
    pub(super) fn settle(&mut self, view: View<'_>) {
        let all = Calculator::of(view).cluster;
        if all == self.cluster {
            return;
        }
        self.cluster = all;
        self.further = view.yarn().further().to_vec();
        self.count_labels(view);
        let by = self.by(0, view);
        if std::mem::take(&mut self.is_unsettled) {
            let (total, counts_cores) = (view.yarn().total(), by.smallest.cpu > 0);
            let total = Total { memory_mb: total.memory, vcores: counts_cores.then_some(total.cpu) };
            // The tree was checked before.
            let settled = shares(&self.tree, Some(total)).unwrap_or_default();
            self.queues.iter_mut().zip(settled).for_each(|(queue, shares)| queue.shares = shares);
        }
        self.settle_amounts(by);
        self.settle_parts(view);
        for queue in &mut self.queues {
            queue.changes += 1;
        }
        self.settle_limits(QueueTree::<YarnQueue>::ROOT, Limits::new(by.all()), by);
        if self.rules.masters_by_memory {
            for place in 0..self.queues.len() {
                self.activate(place, view);
            }
        }
    }

    /// What each queue is guaranteed, and what it may have at most.
    fn settle_amounts(&mut self, by: Calculator) {
        let root = &mut self.queues[QueueTree::<YarnQueue>::ROOT];
        (root.guarantee, root.most) = (by.all(), by.all());
        let has_vectors = self.tree.get(QueueTree::<YarnQueue>::ROOT).settings.vectors == Some(true);
        for parent in 0..self.queues.len() {
            let children = &self.tree.get(parent).children;
            let cut = self.cut(parent, by);
            for &child in children {
                let queue = &self.queues[child];
                let guarantee = match self.configured(child) {
                    Some(amounts) => cut.map_or(amounts, |cut| amounts.times_each(cut)),
                    None => {
                        let [memory, cpu] = [queue.shares.capacity, queue.shares.vcores];
                        by.all().times_each([memory, cpu, memory, memory])
                    }
                };
                let most = match self.configured_limit(child) {
                    Some(amounts) => by.least(amounts, self.queues[parent].most),
                    None if self.tree.get(child).settings.is_absolute() => self.queues[parent].most,
                    None => by.all().times(queue.shares.limit.into()),
                };
                (self.queues[child].guarantee, self.queues[child].most) = (guarantee, most);
            }
            if has_vectors {
                self.settle_vectors(parent);
            }
        }
    }

    /// By how much the amounts of the queues below one are cut, for each resource, if they are more than it is guaranteed
    /// (`getEffectiveMinRatio`).
    fn cut(&self, parent: usize, by: Calculator) -> Option<[f32; PARTS]> {
        let children = self.tree.get(parent).children.iter();
        let sum = children.filter_map(|&child| self.configured(child)).fold(Amounts::NONE, |sum, child| sum + child);
        let has = self.queues[parent].guarantee;
        let of = |has: i64, sum: i64| if sum == 0 { 1.0 } else { has as f32 / sum as f32 };
        by.compare(has, sum).is_lt().then(|| has.each(sum, of))
    }

    /// Vectors of capacities: percentages of the parent rounded down, then weights of what is left, rounded to the nearest unit
    /// (`WeightQueueCapacityCalculator`, `DefaultQueueResourceRoundingStrategy`).
    fn settle_vectors(&mut self, parent: usize) {
        let children = self.tree.get(parent).children.clone();
        let has = self.queues[parent].guarantee;
        let mut left = has;
        let percent = |value: i64, percent: f64| (value as f64 * percent / 100.0).floor() as i64;
        for &child in &children {
            let settings = &self.tree.get(child).settings;
            if let Some(amounts) = self.configured(child) {
                left -= amounts;
            } else if let Some(of_memory) = settings.capacity {
                let of_vcores = settings.vcores_capacity.unwrap_or(of_memory);
                let part = Amounts {
                    memory: percent(has.memory, of_memory),
                    cpu: percent(has.cpu, of_vcores),
                    further: has.further.map(|value| percent(value, of_memory)),
                };
                self.queues[child].guarantee = part;
                left -= part;
            }
        }
        let weights = |place: &usize| {
            let settings = &self.tree.get(*place).settings;
            settings.weight.map(|weight| (*place, weight, settings.vcores_weight.unwrap_or(weight)))
        };
        let weighted: Vec<(usize, f64, f64)> = children.iter().filter_map(weights).collect();
        let sums = weighted.iter().fold([0.0, 0.0], |[a, b], (_, memory, cpu)| [a + memory, b + cpu]);
        let part = |left: i64, weight: f64, sum: f64| (left as f64 * (weight / sum.max(1e-9))).round() as i64;
        for (child, memory, cpu) in weighted {
            self.queues[child].guarantee = Amounts {
                memory: part(left.memory, memory, sums[0]),
                cpu: part(left.cpu, cpu, sums[1]),
                further: left.further.map(|value| part(value, memory, sums[0])),
            };
        }
    }

    /// What each queue could have now.
    fn settle_limits(&mut self, place: usize, mut limits: Limits, by: Calculator) {
        self.queues[place].limit = by.least(by.down(self.queues[place].most), limits.limit);
        for at in 0..self.tree.get(place).children.len() {
            let child = self.tree.get(place).children[at];
            let below = self.limits_of(child, &mut limits, by);
            self.settle_limits(child, below, by);
        }
    }

    /// What the whole cluster offers at a heartbeat.
    pub(super) fn limits_of_all(&self, by: Calculator) -> Limits {
        Limits::new(if self.rules.follow_limits() { by.all() } else { Amounts::NONE })
    }

    /// An amount that a queue is guaranteed, if it is set as such.
    fn configured(&self, place: usize) -> Option<Amounts> {
        let settings = &self.tree.get(place).settings;
        settings.is_absolute().then(|| self.amounts(settings.memory_mb, settings.vcores, &settings.resources))
    }

    /// An amount that a queue may have at most, if it is set as such.
    fn configured_limit(&self, place: usize) -> Option<Amounts> {
        let settings = &self.tree.get(place).settings;
        let set = || self.amounts(settings.maximum_memory_mb, settings.maximum_vcores, &settings.maximum_resources);
        settings.has_absolute_limit().then(set)
    }

    fn amounts(&self, memory_mb: Option<u64>, vcores: Option<u64>, others: &BTreeMap<String, u64>) -> Amounts {
        let signed = |amount: Option<u64>| amount.and_then(|amount| i64::try_from(amount).ok()).unwrap_or_default();
        let mut further = [0; FURTHER];
        further.iter_mut().zip(&self.further).for_each(|(value, name)| *value = signed(others.get(name).copied()));
        Amounts { memory: signed(memory_mb), cpu: signed(vcores), further }
    }
}
