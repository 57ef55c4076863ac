//! From jobs in memory to a [`Workload`], for those that a workload file has just made.

use resched_trace::model::{JobRecord, Locality, Priority, TaskKind};

use crate::Error;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::workload::{Job, LoggedMap, LoggedReduce, TaskSpec, Workload};

/// What [`crate::load`] makes of the trace of these jobs, whose machines `cluster` has, without the way over the disk.
///
/// # Errors
/// [`Error::Config`] if there are more tasks than ids.
pub fn load_records(jobs: &[JobRecord], cluster: &Cluster) -> Result<Workload, Error> {
    let mut workload = Workload::default();
    for record in jobs {
        let (mut maps, mut reduces) = (Vec::new(), Vec::new());
        let (mut last_map, mut tails) = (i64::MIN, Vec::new());
        for task in &record.tasks {
            let mut spec = TaskSpec {
                replicas: task.splits.iter().filter_map(|split| cluster.find(split.host.as_deref()?)).collect(),
                ..TaskSpec::default()
            };
            for own in &task.attempts {
                let (Some(start), Some(finish)) = (own.start, own.finish) else { continue };
                if task.task.kind == TaskKind::Map {
                    let level = own.locality.map_or(Locality::Off, |_| Locality::Node);
                    spec.map_tries.push(LoggedMap { outcome: own.outcome, level, run: finish - start });
                    last_map = last_map.max(finish);
                } else {
                    let shuffled = own.shuffle_finish.unwrap_or(start);
                    let sorted = own.sort_finish.unwrap_or(shuffled);
                    spec.reduce_tries.push(LoggedReduce {
                        outcome: own.outcome,
                        shuffle: shuffled - start,
                        sort: sorted - shuffled,
                        reduce: Some(finish - sorted),
                    });
                    tails.push((start, shuffled));
                }
            }
            let bytes = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok());
            match task.task.kind {
                TaskKind::Map => {
                    let read = task.splits.iter().filter_map(|split| bytes(split.bytes)).max();
                    (spec.input_bytes, spec.output_bytes) =
                        (bytes(task.task.input_bytes).or(read), bytes(task.task.output_bytes));
                    maps.push(spec);
                }
                _ => reduces.push(spec),
            }
        }
        let mean = |times: Vec<i64>| (!times.is_empty()).then(|| times.iter().sum::<i64>() / times.len() as i64);
        let (first, later): (Vec<_>, Vec<_>) = tails.iter().partition(|(start, _)| *start < last_map);
        let row = &record.job;
        let job = Job {
            id: row.job_id.clone(),
            name: row.name.clone(),
            user: row.user.clone().unwrap_or_default(),
            queue: row.queue.clone().unwrap_or_default(),
            priority: row.priority.unwrap_or(Priority::Normal),
            submit: row.submit.unwrap_or(0),
            shuffle_bytes: row.shuffle_bytes,
            first_shuffle: mean(first.iter().map(|(_, end)| (end - last_map).max(0)).collect()),
            typical_shuffle: mean(later.iter().map(|(start, end)| (end - start).max(0)).collect()),
            maps: 0..0,
            reduces: 0..0,
        };
        let many = || Error::Config(format!("{}: more than 4 billion tasks; make the workload smaller", row.job_id));
        workload.push(job, &maps, &reduces).ok_or_else(many)?;
    }
    workload.arrange(cluster.config.jobs.first_submit);
    Ok(workload)
}
