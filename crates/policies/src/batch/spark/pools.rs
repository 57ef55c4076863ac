//! In which order task sets are offered executors (Spark's `Pool` and `SchedulingAlgorithm`).

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::queues::spark_pools::{Mode, PoolConf, SparkPools};

/// The pools of an application.
#[derive(Debug)]
pub(super) struct Pools {
    conf: SparkPools,
    /// True if pools are compared; else all sets stand in one.
    fair: bool,
    pools: Vec<Pool>,
}

/// A pool.
#[derive(Debug)]
struct Pool {
    name: String,
    conf: PoolConf,
    running: u32,
    /// The stages that wait, by number: earlier jobs first, then earlier stages.
    waiting: BTreeSet<u32>,
}

/// What the fair rule compares.
#[derive(Debug, Clone, Copy)]
struct Share<'a> {
    running: u32,
    min_share: u32,
    weight: f64,
    name: &'a str,
}

impl Share<'_> {
    /// Whether it comes before another: `FairSchedulingAlgorithm`.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let needs = |share: &Self| share.running < share.min_share;
        let by_min = |share: &Self| f64::from(share.running) / f64::from(share.min_share.max(1));
        let by_weight = |share: &Self| f64::from(share.running) / share.weight;
        let by_share = match (needs(self), needs(other)) {
            (true, false) => return std::cmp::Ordering::Less,
            (false, true) => return std::cmp::Ordering::Greater,
            (true, true) => by_min(self).total_cmp(&by_min(other)),
            (false, false) => by_weight(self).total_cmp(&by_weight(other)),
        };
        by_share.then_with(|| self.name.cmp(other.name))
    }
}

/// Stages that wait, in the order in which they are served in a round.
pub(super) enum Line {
    /// As they stand in the one pool, after the last that was served.
    Fifo(Option<u32>),
    /// As they stood at the start of the round.
    Fair(std::vec::IntoIter<u32>),
}

impl Pools {
    pub(super) fn new(conf: SparkPools, mode: Mode) -> Self {
        let mut pools = Self { conf, fair: mode == Mode::Fair, pools: Vec::new() };
        pools.of(SparkPools::DEFAULT);
        pools
    }

    /// The number of the pool of a job, by its name.
    pub(super) fn of(&mut self, name: &str) -> usize {
        let name = if name.is_empty() || !self.fair { SparkPools::DEFAULT } else { name };
        if let Some(known) = self.pools.iter().position(|pool| pool.name == name) {
            return known;
        }
        let conf = self.conf.of(name);
        self.pools.push(Pool { name: name.to_owned(), conf, running: 0, waiting: BTreeSet::new() });
        self.pools.len() - 1
    }

    /// True if anything waits.
    pub(super) fn have_waiting(&self) -> bool {
        self.pools.iter().any(|pool| !pool.waiting.is_empty())
    }

    /// Something of a stage waits.
    pub(super) fn wait(&mut self, pool: usize, stage: u32) {
        self.pools[pool].waiting.insert(stage);
    }

    /// Nothing of a stage waits any more.
    pub(super) fn served(&mut self, pool: usize, stage: u32) {
        self.pools[pool].waiting.remove(&stage);
    }

    /// A task of a pool has started.
    pub(super) fn started(&mut self, pool: usize) {
        self.pools[pool].running += 1;
    }

    /// A task of a pool has ended.
    pub(super) fn ended(&mut self, pool: usize) {
        self.pools[pool].running = self.pools[pool].running.saturating_sub(1);
    }

    /// The order of a round. `running` gives the running tasks of a stage.
    pub(super) fn line(&self, running: impl Fn(u32) -> u32) -> Line {
        if !self.fair {
            return Line::Fifo(None);
        }
        let mut pools: Vec<&Pool> = self.pools.iter().filter(|pool| !pool.waiting.is_empty()).collect();
        let share = |pool: &&Pool| (pool.running, pool.conf);
        pools.sort_by(|a, b| {
            let of = |(running, conf): (u32, PoolConf)| (running, conf.min_share, conf.weight);
            compare(of(share(a)), &a.name, of(share(b)), &b.name)
        });
        let stages: Vec<u32> = pools.into_iter().flat_map(|pool| pool.in_order(&running)).collect();
        Line::Fair(stages.into_iter())
    }

    /// The next stage of an order.
    pub(super) fn next(&self, line: &mut Line) -> Option<u32> {
        match line {
            Line::Fair(stages) => stages.next(),
            Line::Fifo(last) => {
                let after = last.map_or(Bound::Unbounded, Bound::Excluded);
                let waiting = &self.pools.first()?.waiting;
                *last = waiting.range((after, Bound::Unbounded)).next().copied();
                *last
            }
        }
    }
}

impl Pool {
    /// Its stages that wait, in order.
    fn in_order(&self, running: &impl Fn(u32) -> u32) -> Vec<u32> {
        if self.conf.mode == Mode::Fifo {
            return self.waiting.iter().copied().collect();
        }
        let mut stages: Vec<(u32, u32, String)> =
            self.waiting.iter().map(|&stage| (stage, running(stage), format!("TaskSet_{stage}.0"))).collect();
        stages.sort_by(|a, b| compare((a.1, 0, 1.0), &a.2, (b.1, 0, 1.0), &b.2));
        stages.into_iter().map(|(stage, ..)| stage).collect()
    }
}

/// The order of two by the fair rule, given what runs of each, its least share and its weight.
fn compare(a: (u32, u32, f64), a_name: &str, b: (u32, u32, f64), b_name: &str) -> std::cmp::Ordering {
    let share = |(running, min_share, weight), name| Share { running, min_share, weight, name };
    share(a, a_name).compare(&share(b, b_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools(mode: Mode, all: &[(&str, Mode, f64, u32)]) -> Pools {
        let conf = |&(name, mode, weight, min_share): &(&str, Mode, f64, u32)| {
            (name.to_owned(), PoolConf { mode, weight, min_share })
        };
        Pools::new(SparkPools { pools: all.iter().map(conf).collect() }, mode)
    }

    fn order(pools: &Pools, running: &[u32]) -> Vec<u32> {
        let mut line = pools.line(|stage| running[stage as usize]);
        std::iter::from_fn(|| pools.next(&mut line)).collect()
    }

    #[test]
    fn fifo_looks_at_no_pools() {
        let mut pools_of_it = pools(Mode::Fifo, &[("a", Mode::Fair, 9.0, 9)]);
        for (name, stage) in [("a", 3), ("", 1), ("b", 2)] {
            let pool = pools_of_it.of(name);
            pools_of_it.wait(pool, stage);
        }
        assert_eq!(order(&pools_of_it, &[0; 4]), [1, 2, 3]);
        pools_of_it.served(0, 2);
        assert_eq!(order(&pools_of_it, &[0; 4]), [1, 3]);
    }

    #[test]
    fn pools_below_their_minimum_come_first_then_by_weight_then_by_name() {
        let mut pools_of_it =
            pools(Mode::Fair, &[("a", Mode::Fifo, 1.0, 0), ("b", Mode::Fifo, 2.0, 0), ("c", Mode::Fifo, 1.0, 4)]);
        let places = ["a", "b", "c", "new"].map(|name| pools_of_it.of(name));
        for (stage, &pool) in (0..).zip(&places) {
            pools_of_it.wait(pool, stage);
        }
        assert_eq!(order(&pools_of_it, &[0; 4]), [2, 0, 1, 3], "c needs; all others have nothing, so by name");
        for (&pool, count) in places.iter().zip([2, 3, 4, 1]) {
            (0..count).for_each(|_| pools_of_it.started(pool));
        }
        assert_eq!(order(&pools_of_it, &[0; 4]), [3, 1, 0, 2], "1/1, 3/2, 2/1, 4/1");
        pools_of_it.ended(places[2]);
        assert_eq!(order(&pools_of_it, &[0; 4]), [2, 3, 1, 0], "c has 3 of 4");
    }

    #[test]
    fn inside_a_fair_pool_the_stage_with_the_fewest_running_comes_first_and_names_are_texts() {
        let mut pools_of_it = pools(Mode::Fair, &[("default", Mode::Fair, 1.0, 0)]);
        for stage in [2, 9, 10] {
            pools_of_it.wait(0, stage);
        }
        let mut running = [0; 11];
        assert_eq!(order(&pools_of_it, &running), [10, 2, 9]);
        running[10] = 1;
        assert_eq!(order(&pools_of_it, &running), [2, 9, 10]);
    }

    #[test]
    fn fair_without_a_file_and_pools_is_fifo() {
        let mut pools_of_it = pools(Mode::Fair, &[]);
        for stage in [10, 9] {
            let pool = pools_of_it.of("");
            pools_of_it.wait(pool, stage);
        }
        assert_eq!(order(&pools_of_it, &[9; 11]), [9, 10]);
    }
}
