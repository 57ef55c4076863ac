//! The longest that a job may run.
//!
//! **Source.** `select_nodes` of 22.05, and `acct_policy.c`: a job that names no limit gets the `MaxWall` of its quality of service or its
//! association, else the `DefaultTime` of its partition, else its `MaxTime`; and never more than the latter.

use resched_sim::Ms;
use resched_sim::batch::JobView;
use resched_tables::model::NO_LIMIT;

use super::FRAMEWORK;
use super::conf::Settings;
use crate::queues::slurm::SlurmConf;
use crate::submitters::Submitter;

/// The limit of a job before it is rounded, ms; `None`: nobody says one. Its partition has these default and largest limits.
pub(super) fn named(conf: &SlurmConf, job: JobView<'_>, [default, most]: [Option<Ms>; 2]) -> Option<Ms> {
    let asked = job.requested_time.or_else(|| longest(conf, job)).or(default).or(most);
    let known = asked.or_else(|| (job.framework == Some(FRAMEWORK)).then_some(NO_LIMIT));
    known.map(|limit| most.map_or(limit, |most| limit.min(most)))
}

/// The longest limit that the qualities of service and the associations of a job allow, ms.
fn longest(conf: &SlurmConf, job: JobView<'_>) -> Option<Ms> {
    let asks = Submitter { queue: job.queue, user: job.user, group: job.group, qos: job.qos };
    conf.limits_of(asks).into_iter().filter_map(|(_, limits)| limits.max_wall).min()
}

/// A limit rounded up, ms: Slurm counts in minutes.
pub(super) fn rounded(set: &Settings, limit: Ms) -> Ms {
    limit.max(1).saturating_add(set.limit_grain - 1) / set.limit_grain * set.limit_grain
}
