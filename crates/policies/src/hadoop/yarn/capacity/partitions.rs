//! Partitions of a queue: each job is in one of two partitions, and each partition has its own limit. DRESS moves the
//! limits.

use resched_sim::JobId;
use resched_sim::hadoop::{AmState, Ask, Kind, Resources, View};

use super::calculator::counted;
use crate::parts::by_id::ByJob;

/// How many partitions there are.
pub(crate) const PARTITIONS: usize = 2;

/// What the jobs of each partition use and may use, reservations included.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    of_job: ByJob<usize>,
    used: [Resources; PARTITIONS],
    /// The share of all containers that the first partition may use; the rest is the other's.
    share: f64,
}

impl Partitions {
    /// Puts a job that has arrived into a partition.
    pub(crate) fn put(&mut self, job: JobId, partition: usize) {
        self.of_job[job] = partition;
    }

    /// Gives the first partition a share of all containers from now on. A partition that uses more than its own keeps it.
    pub(crate) fn set_share(&mut self, share: f64) {
        self.share = share;
    }

    /// The partition of a job.
    pub(crate) fn of(&self, job: JobId) -> usize {
        self.of_job[job]
    }

    /// What a partition uses.
    pub(crate) fn used(&self, partition: usize) -> Resources {
        self.used[partition]
    }

    /// What the partition of a job may use now.
    pub(super) fn limit_of(&self, job: JobId, view: View<'_>) -> Resources {
        self.limit(self.of(job), view)
    }

    /// What a partition may use now: its share in whole containers of maps, of the nodes that work.
    pub(super) fn limit(&self, partition: usize, view: View<'_>) -> Resources {
        let all = counted(view.yarn().total(), view.yarn().smallest());
        let first = view.yarn().demand(Ask::Map).scaled((self.share * all_containers(view)).round()).min(all);
        if partition == 0 { first } else { all.minus(first) }
    }

    pub(super) fn change_use(&mut self, job: JobId, change: impl Fn(Resources) -> Resources) {
        let used = &mut self.used[self.of_job[job]];
        *used = change(*used);
    }

    /// True if a partition may have one more container. However small its limit, it may have one master and run one task, so that
    /// it cannot stand still with masters alone.
    pub(super) fn admits(&self, partition: usize, ask: Ask, size: Resources, jobs: &[JobId], view: View<'_>) -> bool {
        if self.limit(partition, view).holds(self.used[partition].plus(size)) {
            return true;
        }
        let mut jobs = jobs.iter().copied().filter(|&job| self.of(job) == partition);
        let app = |job: JobId| view.yarn().app(job);
        if ask == Ask::Am {
            jobs.all(|job| app(job).am() == AmState::Waiting && app(job).reserved(Ask::Am) == 0)
        } else {
            let tasks = [Ask::FailedMap, Ask::Reduce, Ask::Map];
            let runs_any = |job: JobId| Kind::BOTH.into_iter().any(|kind| view.job(job).running(kind) > 0);
            jobs.all(|job| !runs_any(job) && tasks.into_iter().all(|ask| app(job).reserved(ask) == 0))
        }
    }
}

/// How many containers of maps the cluster has room for, at least one.
pub(crate) fn all_containers(view: View<'_>) -> f64 {
    view.yarn().total().fits(view.yarn().demand(Ask::Map)).max(1) as f64
}
