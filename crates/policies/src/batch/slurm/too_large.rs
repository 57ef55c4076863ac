//! The jobs that alone ask for more than a limit allows. Slurm never starts them.
//!
//! **Decision.** With a what-if of better limits (`limit_accuracy`), nobody knows how long a job asks for before it starts. Then only its
//! amounts are looked at.

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_sim::batch::{JobView, Workload};

use super::conf::Settings;
use super::limits::exceeded;
use super::{amounts, time_limit};
use crate::error::Error;
use crate::queues::slurm::{Holder, JobLimits, SlurmConf};
use crate::settings::Values;
use crate::submitters::Submitter;

/// Jobs that alone exceed one limit.
#[derive(Debug)]
pub(crate) struct TooLarge<'a> {
    /// Whose limit it is.
    pub(crate) holder: Holder<'a>,
    /// What is limited.
    pub(crate) limits: &'a JobLimits,
    /// The key of the limit.
    pub(crate) key: &'static str,
    /// The ids of the jobs, in the order of submission.
    pub(crate) jobs: Vec<&'a str>,
}

/// The limits that jobs of a workload exceed alone, in the order of their names. `values` are those of the parameters of `slurm`.
///
/// # Errors
/// Values that are not those of `slurm`.
pub(crate) fn too_large<'a>(
    values: &Values,
    conf: &'a SlurmConf,
    workload: &'a Workload,
) -> Result<Vec<TooLarge<'a>>, Error> {
    let set = Settings::read(values)?;
    let mut found: BTreeMap<(String, &'static str), TooLarge<'a>> = BTreeMap::new();
    // Many jobs have the same limits.
    let mut known: BTreeMap<[&str; 4], Vec<(Holder<'a>, &'a JobLimits)>> = BTreeMap::new();
    for (task, needs) in workload.tasks_with_needs() {
        let job = workload.job(task.job);
        let JobView { id, queue, user, group, qos, .. } = job;
        let limits = known
            .entry([queue, user, group, qos])
            .or_insert_with(|| conf.limits_of(Submitter { queue, user, group, qos }));
        if limits.is_empty() {
            continue;
        }
        let instances = if task.gang { task.instances } else { 1 };
        let asked = amounts(task.demand.times(instances.into()), instances, needs);
        let time = time_of(&set, conf, job);
        for &(holder, limits) in &*limits {
            for key in exceeded(limits, (&asked, time)) {
                let entry = found.entry((holder.to_string(), key));
                let too_large = entry.or_insert_with(|| TooLarge { holder, limits, key, jobs: Vec::new() });
                if too_large.jobs.last() != Some(&id) {
                    too_large.jobs.push(id);
                }
            }
        }
    }
    Ok(found.into_values().collect())
}

/// How long a job asks for, ms; `None`: it is not known.
fn time_of(set: &Settings, conf: &SlurmConf, job: JobView<'_>) -> Option<Ms> {
    if set.limit_accuracy > 0.0 {
        return None;
    }
    let is_it = |name: &str, is_default: bool| name == job.queue || job.queue.is_empty() && is_default;
    let partition = conf.partitions.iter().find(|partition| is_it(&partition.name, partition.is_default));
    let [default, most] = partition.map_or([None; 2], |partition| [partition.default_time, partition.max_time]);
    time_limit::named(conf, job, [default, most]).map(|limit| time_limit::rounded(set, limit))
}
