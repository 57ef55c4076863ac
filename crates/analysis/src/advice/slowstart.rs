//! Reduces that hold slots or containers before the maps of their job are done, while others wait for one.

use resched_tables::model::TaskKind;

use super::integral::Integral;
use super::{Advice, LEAST_SHARE, LEAST_WAIT, Seen, time};
use crate::why::Phase;

/// Jobs whose reduces started before their last map ended, and so are to blame for at least a minute and a tenth of the waits of all jobs
/// for a reduce slot or a container. What they are to blame for is their share of all slots while others waited.
pub(super) fn advise(seen: &Seen<'_>) -> Vec<Advice> {
    let waited_for = if seen.in_containers { Phase::Container } else { Phase::ReduceSlot };
    let waits = || seen.waits.iter().filter(|wait| wait.phase == waited_for);
    let all: i64 = waits().map(|wait| wait.to - wait.from).sum();
    let slots = seen.run.replay().map_or(0, |info| info.cluster.reduce_slots).max(seen.run.peaks[1] as u64);
    if all < LEAST_WAIT || slots == 0 {
        return Vec::new();
    }
    let waiting = Integral::of_spans(waits().map(|wait| (wait.from, wait.to)));
    let maps = seen.attempts(TaskKind::Map);
    let of_job = |(job, reduces): (usize, Vec<&crate::runs::spans::Interval>)| {
        let last_map = maps.get(job)?.iter().filter(|map| map.succeeded).map(|map| map.finish).max()?;
        let early: Vec<(i64, i64)> = reduces
            .iter()
            .map(|reduce| (reduce.start, reduce.finish.min(last_map)))
            .filter(|(start, end)| start < end)
            .collect();
        let held: i64 = early.iter().map(|(start, end)| end - start).sum();
        let blamed: i128 = early.iter().map(|&(start, end)| waiting.between(start, end)).sum();
        let blamed = (blamed / i128::from(slots)) as i64;
        if blamed < LEAST_WAIT || (blamed as f64) < LEAST_SHARE * all as f64 {
            return None;
        }
        let [what, held_what] =
            if seen.in_containers { ["container", "containers"] } else { ["reduce slot", "reduce slots"] };
        Some(Advice {
            says: format!(
                "The {} reduces of {} that started before its last map ended held {held_what} until then: {}, summed over the {what}s. \
                 Meanwhile, other jobs waited for a {what}: {}, summed over the jobs. These reduces caused {} of this sum.",
                early.len(),
                seen.job(job),
                time(held),
                time(all),
                time(blamed)
            ),
            change: "Start its reduces later: raise mapreduce.job.reduce.slowstart.completedmaps (mapred.reduce.slowstart.completed.maps), \
                     which is jobs.slowstart in a cluster file."
                .to_owned(),
            ..Advice::of_job("slow-start", seen, job, blamed)
        })
    };
    seen.attempts(TaskKind::Reduce).into_iter().enumerate().filter_map(of_job).collect()
}
