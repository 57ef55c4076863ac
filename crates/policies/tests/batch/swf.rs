//! Logs of parallel machines: each job a gang of processors.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use resched_sim::batch::{JobSpec, Machines, Workload};
use resched_sim::cluster_file::Placement;

use crate::support::{Seen, cores, job, seen, shared, task, workload};

/// The jobs of a log that ran, as the reader of such logs has them: submission, run time, processors, requested time.
pub(crate) fn jobs(path: &Path) -> Vec<JobSpec> {
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines().map(Result::unwrap);
    let rows = lines
        .filter(|line| !line.starts_with(';'))
        .map(|line| line.split_whitespace().map(|field| field.parse::<f64>().unwrap()).collect::<Vec<f64>>());
    let known = |seconds: f64| (seconds >= 0.0).then_some((seconds * 1000.0) as i64);
    rows.filter_map(|row| {
        let processors = if row[4] > 0.0 { row[4] } else { row[7] } as u32;
        let task = task(cores(1), processors, processors > 1, known(row[3])?);
        Some(job(row[0] as usize, &row[11].to_string(), known(row[1])?, known(row[8]), task))
    })
    .collect()
}

fn mean_wait(seen: &Seen, workload: &Workload) -> f64 {
    let waits = seen.jobs.iter().map(|ended| ended.launch.unwrap() - workload.job(ended.job).submit);
    waits.sum::<i64>() as f64 / seen.jobs.len() as f64 / 1000.0
}

/// The waits that an independent heap of slots gives; it was computed apart.
#[test]
fn fifo_on_a_bag_of_tasks_waits_as_a_heap_of_slots_does() {
    let Some(path) = shared("oracle/bag-of-tasks-10k.swf.gz") else { return };
    let bag = workload(jobs(&path));
    for (slots, wait) in [(2_000, "37.0489"), (2_500, "11.0444"), (3_000, "0.2142")] {
        let apart = Machines::alike(slots, cores(1), Placement::FirstFit);
        let together = Machines::alike(1, cores(slots.into()), Placement::BestFit);
        for machines in [apart, together] {
            let seen = seen("batch-fifo", &bag, &machines);
            assert_eq!(format!("{:.4}", mean_wait(&seen, &bag)), wait);
            assert_eq!((seen.ran.len(), seen.jobs.len()), (10_000, 10_000));
            assert_eq!(seen.tally.end, 1_880_000);
        }
    }
}
