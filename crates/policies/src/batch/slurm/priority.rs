//! The priorities of jobs.
//!
//! **Source.** Slurm's *Multifactor Priority Plugin* (`docs/slurm.md`, the order). Factors are from 0 to 1: age, up to `max_age`; size, the
//! mean of the shares of all machines and of all processors; fair share; the partition's and the QOS's number beside the largest. What a
//! user took off (`--nice`) is subtracted.
//!
//! **Decisions.** If the site's weight of the QOS counts and nobody says which priority each has (`qos.txt` of the site), the numbers of the
//! log stand. A weight that you set yourself, or `priority=multifactor`, always acts; without `qos.txt`, all QOS are then alike.
//!
//! A job of Slurm with the number 0 was held when its record was last written, and started with another number, which the log does not have.
//! It gets that of the job of its partition that came last before it. Its release is the instant from which it is eligible.

use resched_sim::Ms;
use resched_sim::batch::{JobView, View};

use super::FRAMEWORK;
use super::conf::{PriorityFrom, Settings};
use super::fair_share::FairShares;
use super::partitions::Partition;
use crate::queues::slurm::SlurmConf;

/// What the priority of a job depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    /// The weighted factors that stay, less what its user took off.
    fixed: f64,
    /// The place of its user among the fair shares.
    user: usize,
    /// By how much the usage of its QOS counts.
    usage: f64,
    /// The number in the log.
    logged: i64,
}

/// How priorities are computed.
#[derive(Debug)]
pub(super) struct Priorities {
    from: PriorityFrom,
    weights: Weights,
    max_age: Ms,
    /// The machines and the processor of the cluster.
    total: [f64; 2],
    /// The largest numbers of a partition and of a QOS.
    largest: [f64; 2],
    shares: FairShares,
    /// The fair-share factors when priorities were computed last.
    factors: Vec<f64>,
    by_tree: bool,
    dampening: u32,
    period: Ms,
    computed: Option<Ms>,
    /// The last number of the log that is none of a held job, by the place of the partition.
    last: Vec<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Weights {
    age: f64,
    fair_share: f64,
    size: f64,
    favor_small: bool,
    partition: f64,
    qos: f64,
}

impl Priorities {
    pub(super) fn new(set: &Settings, conf: &SlurmConf, cpu: u64, view: View<'_>) -> Self {
        Self {
            from: set.priority.unwrap_or(PriorityFrom::Logged),
            weights: Weights {
                age: set.weight_age.into(),
                fair_share: set.weight_fair_share.into(),
                size: set.weight_job_size.into(),
                favor_small: set.favor_small,
                partition: set.weight_partition.into(),
                qos: set.weight_qos.into(),
            },
            max_age: set.max_age,
            total: [view.nodes().len() as f64, cpu as f64],
            largest: [
                conf.partitions.iter().map(|partition| partition.job_factor).max().unwrap_or(1).max(1).into(),
                conf.qos.values().map(|qo| qo.priority).max().unwrap_or(1).max(1).into(),
            ],
            shares: FairShares::new(&conf.associations, set.half_life),
            factors: Vec::new(),
            by_tree: set.fair_tree,
            dampening: set.dampening,
            period: set.calc_period,
            computed: None,
            last: Vec::new(),
        }
    }

    /// The number in the log with which a job started that comes now, by the place of its partition.
    pub(super) fn logged(&mut self, partition: usize, job: JobView<'_>) -> i64 {
        if job.framework != Some(FRAMEWORK) {
            return job.priority;
        }
        if self.last.len() <= partition {
            self.last.resize(partition + 1, 0);
        }
        let last = &mut self.last[partition];
        if job.priority != 0 {
            *last = job.priority;
        }
        *last
    }

    /// What the priority of a job depends on that has this number in the log, and asks for so many machines and so much processor.
    pub(super) fn standing(
        &mut self,
        (job, logged): (JobView<'_>, i64),
        partition: &Partition,
        conf: &SlurmConf,
        (machines, cpu): (u32, u64),
    ) -> Standing {
        let Weights { size, favor_small, partition: of_partition, qos: of_qos, .. } = self.weights;
        let part = (f64::from(machines) / self.total[0].max(1.0) + cpu as f64 / self.total[1].max(1.0)) / 2.0;
        let part = if favor_small { 1.0 - part } else { part };
        let known = conf.qos.get(job.qos);
        let qos = known.map_or(0.0, |qos| qos.priority.into());
        Standing {
            fixed: size * part
                + of_partition * f64::from(partition.job_factor) / self.largest[0]
                + of_qos * qos / self.largest[1]
                - job.nice as f64,
            user: self.shares.of(job.group, job.user),
            usage: known.map_or(1.0, |qos| qos.usage_factor),
            logged,
        }
    }

    /// The priority of a job that waits.
    pub(super) fn of(&self, standing: &Standing, since: Ms, now: Ms) -> i64 {
        match self.from {
            PriorityFrom::Basic => 0,
            PriorityFrom::Logged => standing.logged,
            PriorityFrom::Multifactor => {
                let age = (now.saturating_sub(since) as f64 / self.max_age as f64).clamp(0.0, 1.0);
                let fair = self.factors.get(standing.user).copied().unwrap_or(1.0);
                // A priority of 0 would mean that the job is held.
                (self.weights.age * age + self.weights.fair_share * fair + standing.fixed).max(1.0) as i64
            }
        }
    }

    /// True if priorities are to be computed anew now. If so, the fair shares are.
    pub(super) fn is_time(&mut self, now: Ms) -> bool {
        let is_due = self.computed.is_none_or(|last| now.saturating_sub(last) >= self.period);
        if self.from != PriorityFrom::Multifactor || !is_due {
            return false;
        }
        self.computed = Some(now);
        if self.weights.fair_share > 0.0 {
            self.shares.advance(now);
            self.factors = if self.by_tree { self.shares.by_tree() } else { self.shares.classic(self.dampening) };
        }
        true
    }

    /// A user has so much processor more, or less, from now on.
    pub(super) fn change(&mut self, of: &Standing, cpu: f64, now: Ms) {
        if self.weights.fair_share > 0.0 && self.from == PriorityFrom::Multifactor {
            self.shares.change(of.user, cpu * of.usage / 1e3, now);
        }
    }
}
