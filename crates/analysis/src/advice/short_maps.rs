//! Jobs with many maps of a few seconds.

use resched_tables::model::TaskKind;
use resched_tables::words::count;

use super::{Advice, Seen, run_times, time};

/// The fewest maps of a job.
const LEAST_MAPS: usize = 50;
/// The median run time below which maps are short, ms: a map starts only at a heartbeat, and Hadoop takes seconds to start one.
const SHORT: f64 = 10_000.0;
/// How long a map should run, ms.
const GOOD: f64 = 60_000.0;

/// Jobs with at least fifty maps of which half take less than ten seconds. Advice about all of them names the one with most maps.
pub(super) fn advise(seen: &Seen<'_>) -> Vec<Advice> {
    let mut found: Vec<(usize, usize, f64, i64)> = Vec::new();
    for (job, maps) in seen.attempts(TaskKind::Map).iter().enumerate().filter(|(_, maps)| maps.len() >= LEAST_MAPS) {
        let times = run_times(maps);
        let (good, median) = (maps.iter().filter(|map| map.succeeded).count(), times.median().unwrap_or(GOOD));
        if good >= LEAST_MAPS && median < SHORT {
            let sum = maps.iter().map(|map| map.finish - map.start).sum();
            found.push((job, good, median, sum));
        }
    }
    let Some(&(job, maps, median, _)) = found.iter().max_by_key(|job| (job.1, std::cmp::Reverse(job.0))) else {
        return Vec::new();
    };
    let (of_job, each) =
        (seen.job(job), format!("{} maps with a median run time of {}", count(maps as u64), time(median as i64)));
    let says = match found.len() {
        1 => {
            format!("{} has {each}; maps below {} are short.", of_job.replacen("job", "Job", 1), time(SHORT as i64))
        }
        jobs => format!(
            "{} jobs have at least {LEAST_MAPS} maps with a median run time below {}; {of_job} has the most: {each}.",
            count(jobs as u64),
            time(SHORT as i64)
        ),
    };
    let together = (GOOD / median.max(1.0)).ceil().max(2.0);
    vec![Advice {
        says,
        change: format!(
            "Combine their splits (CombineFileInputFormat, or a larger mapreduce.input.fileinputformat.split.minsize): {} splits in one \
             map take about a minute.",
            count(together as u64)
        ),
        ..Advice::of_job("short-maps", seen, job, found.iter().map(|job| job.3).sum())
    }]
}
