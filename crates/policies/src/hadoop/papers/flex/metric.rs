//! The metric that FLEX minimises, and the order of jobs that is best for it.

use std::collections::BinaryHeap;

use resched_sim::{JobId, Ms};

use crate::settings::choices;

choices! {
    /// What is kept low.
    pub(super) enum Metric {
        Mean = "mean",
        Weighted = "weighted",
        Stretch = "stretch",
        Lateness = "lateness",
        Tardy = "tardy",
        Makespan = "makespan",
    }
}

/// A job as its metric sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) job: JobId,
    /// All that is left, one task after the other, ms.
    pub(super) work: f64,
    /// How long that takes alone on the cluster, ms.
    pub(super) length: f64,
    pub(super) weight: f64,
    pub(super) deadline: Ms,
}

impl Metric {
    /// True if its order depends on deadlines.
    pub(super) fn needs_deadlines(self) -> bool {
        matches!(self, Metric::Lateness | Metric::Tardy)
    }

    /// Puts jobs, given by submission, in the order of the metric.
    pub(super) fn sort(self, jobs: &mut [Ranked], now: Ms) {
        match self {
            Metric::Mean => jobs.sort_by(|a, b| a.work.total_cmp(&b.work)),
            Metric::Weighted | Metric::Stretch => {
                jobs.sort_by(|a, b| (a.work / a.weight).total_cmp(&(b.work / b.weight)));
            }
            Metric::Lateness => jobs.sort_by_key(|job| job.deadline),
            Metric::Tardy => {
                jobs.sort_by_key(|job| job.deadline);
                late_last(jobs, now);
            }
            Metric::Makespan => {}
        }
    }
}

/// Moore and Hodgson's rule: of jobs by deadline, whenever one would be late if they ran one after the other from `now`, the longest so
/// far is given up and comes last. It leaves the fewest late jobs.
fn late_last(jobs: &mut [Ranked], now: Ms) {
    let mut clock = now as f64;
    let mut kept: BinaryHeap<(Ms, usize)> = BinaryHeap::new();
    for (place, job) in jobs.iter().enumerate() {
        clock += job.length;
        kept.push((job.length as Ms, place));
        if clock > job.deadline as f64 {
            let longest = kept.pop().map_or(place, |(_, longest)| longest);
            clock -= jobs[longest].length;
        }
    }
    let mut late = vec![true; jobs.len()];
    kept.into_iter().for_each(|(_, place)| late[place] = false);
    let mut order: Vec<(bool, Ranked)> = late.into_iter().zip(jobs.iter().copied()).collect();
    order.sort_by_key(|&(late, _)| late);
    for (place, (_, job)) in jobs.iter_mut().zip(order) {
        *place = job;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cases::cases;
    use crate::testing::some_job;
    use proptest::prelude::*;

    /// What the metric sums up if jobs run in this order, one after the other.
    fn cost(metric: Metric, jobs: &[Ranked]) -> f64 {
        let mut clock = 0.0;
        let ends = jobs.iter().map(|job| {
            clock += job.length;
            (clock, job)
        });
        match metric {
            Metric::Mean => ends.map(|(end, _)| end).sum(),
            Metric::Weighted | Metric::Stretch => ends.map(|(end, job)| job.weight * end).sum(),
            Metric::Lateness => ends.map(|(end, job)| end - job.deadline as f64).fold(f64::NEG_INFINITY, f64::max),
            Metric::Tardy => ends.filter(|(end, job)| *end > job.deadline as f64).count() as f64,
            Metric::Makespan => ends.map(|(end, _)| end).fold(0.0, f64::max),
        }
    }

    /// The least cost over all orders of `jobs` after those of `first`.
    fn least(metric: Metric, first: &mut Vec<Ranked>, jobs: &[Ranked]) -> f64 {
        if jobs.is_empty() {
            return cost(metric, first);
        }
        let mut best = f64::INFINITY;
        for place in 0..jobs.len() {
            let mut others = jobs.to_vec();
            first.push(others.remove(place));
            best = best.min(least(metric, first, &others));
            first.pop();
        }
        best
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn no_order_is_better_for_the_metric(
            jobs in prop::collection::vec((1..=20_u32, 1..=4_u32, 1..=60_i64), 1..=5)
        ) {
            let ranked = |&(length, weight, deadline): &(u32, u32, Ms)| {
                let (length, weight) = (f64::from(length), f64::from(weight));
                Ranked { job: some_job(), work: length, length, weight, deadline }
            };
            let jobs: Vec<Ranked> = jobs.iter().map(ranked).collect();
            use Metric::{Lateness, Makespan, Mean, Stretch, Tardy, Weighted};
            for metric in [Mean, Weighted, Stretch, Lateness, Tardy, Makespan] {
                let mut sorted = jobs.clone();
                metric.sort(&mut sorted, 0);
                let (cost, least) = (cost(metric, &sorted), least(metric, &mut Vec::new(), &jobs));
                prop_assert!(cost <= least + 1e-9, "{metric:?}: {cost} and not {least} in {jobs:?}");
            }
        }
    }
}
