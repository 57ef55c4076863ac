//! The jobs that wait, in the order in which both schedulers look at them.
//!
//! **Source.** slurm.conf(5), `sort_job_queue2` of 22.05, and runs of a real Slurm (`docs/slurm.md`, the order): jobs that name a
//! reservation, then the tier of the partition, then priority, then submission, then the job's number.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use resched_sim::{JobId, Ms, TaskId};

use super::cluster::Request;
use super::limits::{Amounts, Claims};
use super::priority::Standing;
use super::rank::Rank;
use super::reservations::Name;

/// A job that waits. A task of a trace of another system is such a job.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) task: TaskId,
    pub(super) job: JobId,
    pub(super) request: Rc<Request>,
    /// The place of its partition.
    pub(super) partition: usize,
    /// The machines of its partition that have the features that it asks for.
    pub(super) machines: Rc<FixedBitSet>,
    /// True if these machines could hold it if nothing else ran.
    pub(super) has_machines: bool,
    /// The longest that it may run, ms.
    pub(super) limit: Ms,
    /// Since when it is eligible, as far as the controller knows, ms.
    pub(super) since: Ms,
    /// The tier of its partition; the higher is served first.
    pub(super) tier: u32,
    pub(super) priority: i64,
    pub(super) standing: Standing,
    pub(super) rank: Rank,
    /// The number of its user.
    pub(super) user: u32,
    /// The number of the array that it is a task of.
    pub(super) array: Option<u32>,
    /// The number of the heterogeneous job that it is a component of.
    pub(super) together: Option<u32>,
    /// The reservation that it names, if the site knows it.
    pub(super) reservation: Option<Name>,
    /// What it takes of limits, and which.
    pub(super) taken: Rc<Taken>,
}

/// What a job takes of limits, and of which.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    pub(super) claims: Claims,
    pub(super) amounts: Amounts,
}

impl Waiting {
    /// True if its machines are closed to all that is planned behind it in the cycle that starts it (`_bf_reserve_running`). Those of a job
    /// that may lose its place are not.
    pub(super) fn closes_its_machines(&self) -> bool {
        self.request.exclusive && self.rank.then.is_none()
    }

    fn key(&self) -> (bool, u32, i64, JobId, TaskId) {
        // Tier and priority turned round: the higher comes first.
        (self.reservation.is_none(), !self.tier, !self.priority, self.job, self.task)
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    jobs: Vec<Waiting>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(super) fn jobs(&self) -> &[Waiting] {
        &self.jobs
    }

    /// The jobs that the controller knows at an instant.
    pub(super) fn known(&self, at: Ms) -> impl Iterator<Item = &Waiting> {
        self.jobs.iter().filter(move |job| job.since <= at)
    }

    /// Takes a job in, unless it is there.
    pub(super) fn add(&mut self, job: Waiting) {
        let key = job.key();
        let place = self.jobs.partition_point(|other| other.key() < key);
        if self.jobs.get(place).is_none_or(|other| other.key() != key) {
            self.jobs.insert(place, job);
        }
    }

    /// Keeps the jobs of which something still waits.
    pub(super) fn keep(&mut self, waits: impl Fn(TaskId) -> bool) {
        self.jobs.retain(|job| waits(job.task));
    }

    /// Looks anew at whether each job has machines that could hold it.
    pub(super) fn set_machines(&mut self, mut could_hold: impl FnMut(&Waiting) -> bool) {
        for job in &mut self.jobs {
            job.has_machines = could_hold(job);
        }
    }

    /// Gives each job its priority anew.
    pub(super) fn set_priorities(&mut self, priority: impl Fn(&Waiting) -> i64) {
        for job in &mut self.jobs {
            job.priority = priority(job);
        }
        self.jobs.sort_by_key(Waiting::key);
    }
}
