//! One row of metrics per job.

use std::sync::Arc;

use polars::prelude::{Int64Chunked, NewChunkedArray, PlSmallStr};
use resched_tables::measures;
use resched_tables::model::MAPREDUCE;
use resched_tables::model::{Outcome, Priority};
use resched_tables::standing::Standing;

use crate::metrics::formulas as m;
use crate::runs::attempts::{OfJob, Sums};
use crate::runs::spans::Interval;
use crate::runs::tables::Jobs;

measures! {
    /// The metrics of a job. [`crate::metrics::formulas`] has their formulas.
    pub struct JobMetrics: Default {
        /// The id of the job.
        job_id: String;
        /// The name its user gave it.
        name: Option<Arc<str>>, null "unknown";
        /// Who submitted it.
        user: Option<Arc<str>>, null "unknown";
        /// The queue or pool it was submitted to.
        queue: Option<Arc<str>>, null "unknown";
        /// The larger work that it is a part of: a Spark application, the group of its user.
        group: Option<Arc<str>>, null "unknown";
        /// What ran it, such as `mapreduce` or `spark`.
        framework: Option<Arc<str>>, null "unknown";
        /// Its priority in Hadoop's five words.
        priority: Option<Priority>, null "unknown, or the source has numbers";
        /// Its priority as the source's own number; larger is served first.
        priority_number: Option<i64>, null "unknown, or the source has words";
        /// How much it minds waiting, as the source's own number.
        scheduling_class: Option<i64>, null "the source has none";
        /// The bytes that its maps read from the file system.
        input_bytes: Option<i64>, unit "bytes", null "unknown";
        /// When the job was submitted.
        submit: Option<i64>, unit "ms", null "unknown";
        /// When the job ended.
        finish: Option<i64>, unit "ms", null "unknown";
        /// How the job ended.
        outcome: Outcome;
        /// Whether the job counts in means, tables and figures, or why not. A job counts if it was submitted in the window of the
        /// run and ended well: its outcome is `SUCCESS`, or the source does not say but has its finish. If runs are compared, it
        /// must count in all of them.
        standing: Standing;
        /// Completion time: `finish − submit`.
        completion: Option<i64>, unit "ms", null "submission or finish is unknown",
            source "Coupling (job processing time), DRESS";
        /// Waiting time: `first_start − submit`. `first_start` is the earliest start of an attempt, set-up and clean-up apart.
        /// If no attempt is known, it is the launch in the table of jobs.
        waiting: Option<i64>, unit "ms", null "submission or first start is unknown", source "DRESS";
        /// Execution time: `completion − waiting`.
        execution: Option<i64>, unit "ms", null "completion or waiting is unknown", source "DRESS";
        /// Starvation time: the mean of `start(r) − last_map_finish` over the reduces `r` whose first launch was when the last map
        /// had completed, or later. It is 0 if all reduces were launched before.
        starvation: Option<f64>, unit "ms", null "the job launched no reduces of Hadoop, or completed no maps",
            source "Coupling §III-C";
        /// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is the time that the job would take alone on
        /// an endless cluster with these run times: its longest successful map, and the longest time that a reduce worked once
        /// its input was there. It measures waiting and not bad placement.
        slowdown: Option<f64>, null "completion is unknown, or the divisor is 0";
        /// Bounded slowdown: `max(1, completion / max(execution, 10 s))`.
        bounded_slowdown: Option<f64>, null "completion or waiting is unknown", source "Feitelson, Rudolph 1998";
        /// Queueing time of its tasks: the mean of `start − queued` over its attempts.
        queueing: Option<f64>, unit "ms", null "no attempt has both times";
        /// Launches of maps on a node with the input, in the rack of such a node, and elsewhere. Attempts that later failed or
        /// were killed count too.
        map_launches: [u64; 3], unit "maps", source "Coupling, Fig. 15";
        /// How many tasks were done: tasks with a successful attempt.
        tasks_done: u64, unit "tasks";
        /// How many of these were maps.
        maps_done: u64, unit "tasks";
        /// How many of these were reduces.
        reduces_done: u64, unit "tasks";
        /// How many of its attempts had to make room for others.
        evictions: u64, unit "attempts";
        /// The sum of the run times of all attempts.
        slot_time: i64, unit "ms";
        /// The processor that its attempts held, times their run times: ms of a core.
        cpu_time: Option<f64>, unit "ms", null "it is not a replay of a production trace";
        /// The memory that its attempts held, times their run times. An MB is 2^20 bytes.
        memory_time: Option<f64>, unit "MB·s", null "it is not a replay of a production trace, or memory is not limited";
    }
}

/// The metrics of every job, in the order of the jobs table, and the attempts over time. [`crate::runs::population::judge`] gives the jobs
/// their standing.
pub(crate) fn job_metrics(jobs: Jobs, sums: Sums) -> (Vec<JobMetrics>, Vec<Interval>) {
    let Jobs { mut rows, launches, .. } = jobs;
    let (of_jobs, intervals) = sums.finish(rows.len());
    by_formula(&mut rows, &launches, &of_jobs);
    for (row, of_job) in rows.iter_mut().zip(of_jobs) {
        // The reduces of other sources do not wait for maps: there, the word is a label.
        let has_hadoops_reduces = row.framework.as_deref().is_none_or(|framework| framework == MAPREDUCE);
        row.starvation = of_job.starvation.filter(|_| has_hadoops_reduces);
        row.queueing = of_job.queueing();
        row.map_launches = of_job.map_launches;
        row.tasks_done = of_job.tasks_done;
        row.maps_done = of_job.maps_done;
        row.reduces_done = of_job.reduces_done;
        row.evictions = of_job.evictions;
        row.slot_time = of_job.slot_time;
        row.cpu_time = of_job.cpu_held.map(|held| held / 1e3);
        row.memory_time = of_job.memory_held.map(|held| held / (1_048_576.0 * 1e3));
    }
    (rows, intervals)
}

/// Evaluates the formulas of [`crate::metrics::formulas`].
fn by_formula(rows: &mut [JobMetrics], launches: &[Option<i64>], of_jobs: &[OfJob]) {
    let submit = column(rows.iter().map(|row| row.submit));
    let completion = m::completion_time(&column(rows.iter().map(|row| row.finish)), &submit);
    let first_start = column(of_jobs.iter().map(|of_job| of_job.first_start));
    let waiting = m::waiting_time(&first_start, &column(launches.iter().copied()), &submit);
    let execution = m::execution_time(&completion, &waiting);
    let longest_map = column(of_jobs.iter().map(|of_job| of_job.longest_map));
    let longest_tail = column(of_jobs.iter().map(|of_job| of_job.longest_reduce_tail));
    let slowdown = m::slowdown(&completion, &longest_map, &longest_tail);
    let bounded = m::bounded_slowdown(&completion, &execution);
    let times = completion.iter().zip(waiting.iter()).zip(execution.iter());
    for ((row, ((completion, waiting), execution)), (slowdown, bounded)) in
        rows.iter_mut().zip(times).zip(slowdown.iter().zip(bounded.iter()))
    {
        (row.completion, row.waiting, row.execution) = (completion, waiting, execution);
        (row.slowdown, row.bounded_slowdown) = (slowdown, bounded);
    }
}

fn column(values: impl Iterator<Item = Option<i64>>) -> Int64Chunked {
    Int64Chunked::from_iter_options(PlSmallStr::EMPTY, values)
}
