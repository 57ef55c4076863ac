//! Jobs that wait at their end for a task that runs much longer than the others.

use resched_tables::model::TaskKind;

use super::{Advice, LEAST_WAIT, Seen, run_times, time};
use crate::runs::spans::Interval;

/// The fewest tasks of a kind.
const LEAST_TASKS: usize = 10;
/// How many times as long as the median such a task runs.
const LONGER: f64 = 3.0;
/// The share of the completion time of its job that is lost.
const LEAST_LOST: f64 = 0.2;

/// Jobs with at least ten maps, or ten reduces, whose last one runs at least three times as long as the median and ends at least a minute,
/// and a fifth of the completion time, after nine tenths of them.
pub(super) fn advise(seen: &Seen<'_>) -> Vec<Advice> {
    let kinds = [(TaskKind::Map, "map"), (TaskKind::Reduce, "reduce")];
    kinds.into_iter().flat_map(|(kind, what)| of_kind(seen, kind, what)).collect()
}

fn of_kind(seen: &Seen<'_>, kind: TaskKind, what: &str) -> Vec<Advice> {
    let of_job = |(job, attempts): (usize, Vec<&Interval>)| {
        let mut good: Vec<&Interval> = attempts.into_iter().filter(|attempt| attempt.succeeded).collect();
        if good.len() < LEAST_TASKS {
            return None;
        }
        let median = run_times(&good).median().filter(|median| *median > 0.0)?;
        good.sort_by_key(|attempt| (attempt.finish, attempt.start));
        let last = good.last()?;
        let most = good.get((good.len() * 9).div_ceil(10) - 1)?;
        let (lost, ran) = (last.finish - most.finish, last.finish - last.start);
        let completion = seen.run.jobs.get(job)?.completion?;
        if lost < LEAST_WAIT || (lost as f64) < LEAST_LOST * completion as f64 || (ran as f64) < LONGER * median {
            return None;
        }
        let node = last.node.and_then(|node| seen.run.nodes.get(node.place())).cloned();
        let on = node.as_deref().map(|node| format!(" on {}", resched_tables::words::name(node))).unwrap_or_default();
        Some(Advice {
            says: format!(
                "The last {what} of {} ran {}{on}, {:.1} times as long as the median, and ended {} after the first 90 % of its {what}s.",
                seen.job(job),
                time(ran),
                ran as f64 / median,
                time(lost)
            ),
            change: "Check whether its input is much larger than that of the others, or its node is slow. Backups help against slow nodes \
                     (replay with a speculator, such as --policy fair+late)."
                .to_owned(),
            node,
            ..Advice::of_job("stragglers", seen, job, lost)
        })
    };
    seen.attempts(kind).into_iter().enumerate().filter_map(of_job).collect()
}
