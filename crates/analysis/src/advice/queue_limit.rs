//! A queue or a user at its limit while slots are free.

use std::collections::BTreeMap;

use resched_tables::model::Reason;
use resched_tables::words::{count, name};

use super::integral::Integral;
use super::{Advice, LEAST_SHARE, LEAST_WAIT, Seen, time};
use crate::why::{Phase, Wait};

/// The least share of the slots that is free meanwhile.
const LEAST_FREE: f64 = 0.1;

/// A queue, if it has a name, and what is limited.
type Limit<'a> = (Option<&'a str>, Reason);

/// Jobs that waited at a limit of their queue or user: together at least a minute and a tenth of their completion times, while at least a
/// tenth of the slots was free on average. It needs the reasons of the policy.
pub(super) fn advise(seen: &Seen<'_>) -> Vec<Advice> {
    let Some(slots) = slots(seen).filter(|slots| *slots > 0) else { return Vec::new() };
    let mut waits: BTreeMap<Limit<'_>, Vec<&Wait>> = BTreeMap::new();
    for wait in seen.waits.iter().filter(|wait| wait.phase == Phase::Limit) {
        let queue = seen.run.jobs.get(wait.row).and_then(|job| job.queue.as_deref());
        waits.entry((queue, wait.reason)).or_default().push(wait);
    }
    let running = Integral::of_spans(seen.run.intervals.iter().map(|attempt| (attempt.start, attempt.finish)));
    let of_queue = |((queue, reason), waits): (Limit<'_>, Vec<&Wait>)| {
        let mut of_jobs: BTreeMap<usize, i64> = BTreeMap::new();
        waits.iter().for_each(|wait| *of_jobs.entry(wait.row).or_default() += wait.to - wait.from);
        let waited: i64 = of_jobs.values().sum();
        let completion = |row: &usize| seen.run.jobs.get(*row).and_then(|job| job.completion).unwrap_or(0);
        let completions: i64 = of_jobs.keys().map(completion).sum();
        let busy: i128 = waits.iter().map(|wait| running.between(wait.from, wait.to)).sum();
        let free = 1.0 - busy as f64 / (waited.max(1) as f64 * slots as f64);
        if waited < LEAST_WAIT || (waited as f64) < LEAST_SHARE * completions as f64 || free < LEAST_FREE {
            return None;
        }
        let (&longest, _) = of_jobs.iter().max_by_key(|(row, ms)| (**ms, std::cmp::Reverse(**row)))?;
        let jobs =
            if of_jobs.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", count(of_jobs.len() as u64)) };
        let whose = queue.map_or_else(|| "the queue".to_owned(), |queue| format!("queue {}", name(queue)));
        let (limit, change) = limit(reason);
        Some(Advice {
            says: format!(
                "{jobs} of {whose} waited {} in total {limit}, {} the longest, while {:.0} % of the slots were free.",
                time(waited),
                seen.job(longest),
                100.0 * free
            ),
            change: format!("Raise {change} of {whose}, and replay with the changed configuration."),
            queue: queue.map(str::to_owned),
            ..Advice::of_job("queue-limit", seen, longest, waited)
        })
    };
    waits.into_iter().filter_map(of_queue).collect()
}

/// The slots, or containers, of the cluster; `None` if nobody says.
fn slots(seen: &Seen<'_>) -> Option<u64> {
    let cluster = seen.run.replay()?.cluster;
    Some(match seen.in_containers {
        true => cluster.map_slots.max(cluster.reduce_slots),
        false => cluster.map_slots + cluster.reduce_slots,
    })
}

/// A limit in words, and the settings that raise it.
fn limit(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::UserLimit => (
            "because their users were at the limit for one user",
            "the user limit (minimum-user-limit-percent, user-limit-factor)",
        ),
        Reason::JobLimit => (
            "because it was at its limit of running jobs",
            "the number of jobs that may run (maxRunningJobs, maximum-applications)",
        ),
        _ => ("because it was at its limit", "the limit (maxMaps, maxReduces, maxResources, maximum-capacity)"),
    }
}
