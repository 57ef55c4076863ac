//! Settings of queues and pools of which a 0 keeps jobs from running. A scheduler takes such a 0 as it is and holds the jobs, so the
//! values are no errors. But a replay of these jobs does not end (or under `slurm`, ends without them), and [`crate::Finding::Held`] says
//! why.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::queues::slurm::{JobLimits, Keys, Limits, MAX_WALL};
use crate::queues::{Allocations, CapacityQueue, FairQueue, PoolConfig, QueueTree, YarnQueue};

/// What a 0 keeps from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stops {
    /// The jobs.
    Jobs,
    /// All tasks of jobs that have started.
    Tasks,
    /// The maps.
    Maps,
    /// The reduces.
    Reduces,
}

impl Stops {
    /// What this many jobs cannot do.
    pub(crate) fn in_words(self, jobs: u64) -> String {
        let (jobs, number) = if jobs == 1 { ("job", "1".to_owned()) } else { ("jobs", jobs.to_string()) };
        match self {
            Self::Jobs => format!("{number} {jobs} can never start"),
            Self::Tasks => format!("no task of {number} {jobs} can start"),
            Self::Maps => format!("no map of {number} {jobs} can start"),
            Self::Reduces => format!("no reduce of {number} {jobs} can start"),
        }
    }

    /// Which of these jobs never end.
    pub(crate) fn held(self) -> &'static str {
        match self {
            Self::Jobs | Self::Tasks => "them",
            Self::Maps => "jobs with maps",
            Self::Reduces => "jobs with reduces",
        }
    }
}

/// A setting that is 0: its key in a file of queues or pools, and what the 0 stops.
pub(crate) type Zero = (&'static str, Stops);

/// The key of the most jobs of a pool.
pub(crate) const MAX_JOBS: &str = "max_jobs";
/// The key of the most jobs of users without a rule.
pub(crate) const USER_MAX_JOBS: &str = "user_max_jobs";
/// The key of the most jobs of a user, by name.
pub(crate) const USERS: &str = "users";

/// The settings of a queue.
pub(crate) trait Zeros {
    /// Those that are 0 and stop jobs. `own`: the jobs are in the queue itself, and not in one below it.
    fn zeros(&self, itself: bool) -> Vec<Zero>;
}

/// Those of these settings that apply and are 0.
fn zero<const N: usize>(settings: [(Zero, bool); N]) -> Vec<Zero> {
    settings.into_iter().filter(|(_, is_zero)| *is_zero).map(|(setting, _)| setting).collect()
}

impl Zeros for FairQueue {
    fn zeros(&self, itself: bool) -> Vec<Zero> {
        zero([
            (("max_apps", Stops::Jobs), self.max_apps == Some(0)),
            (("max_am_share", Stops::Jobs), itself && self.max_am_share == Some(0.0)),
            // The container that takes a queue over its limit is still granted: that of the first master.
            (("max_memory_mb", Stops::Tasks), self.max_memory_mb == Some(0)),
            (("max_vcores", Stops::Tasks), self.max_vcores == Some(0)),
        ])
    }
}

impl Zeros for YarnQueue {
    fn zeros(&self, itself: bool) -> Vec<Zero> {
        // With a `maximum_am_share` of 0, one application runs at a time. With a `capacity` of 0, the limit of a user is rounded up to
        // some containers, so whether there is one beside the master depends on their sizes.
        zero([
            (("maximum_capacity", Stops::Jobs), self.maximum_capacity == Some(0.0)),
            (("user_limit_factor", Stops::Tasks), itself && self.user_limit_factor == Some(0.0)),
        ])
    }
}

impl Zeros for CapacityQueue {
    /// A `maximum_capacity` of 0 is no limit there, and no other setting may be 0.
    fn zeros(&self, _: bool) -> Vec<Zero> {
        Vec::new()
    }
}

/// The settings of a pool that are 0 and stop jobs.
pub(crate) fn of_pool(pool: &PoolConfig) -> Vec<Zero> {
    zero([
        ((MAX_JOBS, Stops::Jobs), pool.max_jobs == Some(0)),
        (("max_maps", Stops::Maps), pool.max_maps == Some(0)),
        (("max_reduces", Stops::Reduces), pool.max_reduces == Some(0)),
    ])
}

/// The setting of 0 that stops the jobs of a user, if there is one.
pub(crate) fn of_user(allocations: &Allocations, user: &str) -> Option<Zero> {
    let key = if allocations.users.contains_key(user) { USERS } else { USER_MAX_JOBS };
    (allocations.jobs_of_user(user) == Some(0)).then_some((key, Stops::Jobs))
}

/// The limits of a quality of service or of an association of Slurm that are 0 and stop jobs. A limit on a named resource stops only jobs
/// that ask for it, and is left out.
pub(crate) fn of_limits(limits: &JobLimits) -> Vec<Zero> {
    let of_limit = |(limit, keys): (&Limits, Keys)| {
        let zeros = [limit.cpus, limit.nodes, limit.jobs].map(|most| most == Some(0));
        zeros.into_iter().zip([keys.cpus, keys.nodes, keys.jobs])
    };
    let zeros = limits.with_keys().into_iter().flat_map(of_limit);
    let zeros = zeros.chain([(limits.max_wall == Some(0), MAX_WALL)]);
    zeros.filter(|(is_zero, _)| *is_zero).map(|(_, key)| (key, Stops::Jobs)).collect()
}

/// The settings of 0 of the queues of a tree that stop jobs, with the place of the queue and the number of the jobs. `jobs` gives the
/// place that jobs go to, and how many they are.
pub(crate) fn of_tree<S: Zeros>(
    tree: &QueueTree<S>,
    jobs: impl IntoIterator<Item = (usize, u64)>,
) -> Vec<(usize, Zero, u64)> {
    let mut by_place: BTreeMap<usize, u64> = BTreeMap::new();
    jobs.into_iter().for_each(|(place, jobs)| *by_place.entry(place).or_default() += jobs);
    let mut held: BTreeMap<(usize, Zero), u64> = BTreeMap::new();
    for (place, jobs) in by_place {
        // The root is no queue of jobs: those without a rule get a queue below it.
        let is_leaf = place != QueueTree::<S>::ROOT && tree.is_leaf(place);
        for above in tree.with_ancestors(place) {
            for zero in tree.get(above).settings.zeros(is_leaf && above == place) {
                *held.entry((above, zero)).or_default() += jobs;
            }
        }
    }
    held.into_iter().map(|((place, zero), jobs)| (place, zero, jobs)).collect()
}
