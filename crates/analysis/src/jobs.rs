//! One row of metrics per job.

use polars::prelude::{DataFrame, Int64Chunked, IntoLazy, LazyFrame, col};
use resched_trace::comparison::Standing;
use resched_trace::measures;
use resched_trace::model::{Locality, Outcome, TaskKind};

use crate::metrics as m;
use crate::{Error, Tables};

measures! {
    /// The metrics of a job. [`crate::metrics`] has their formulas.
    pub struct JobMetrics: Default {
        /// The id of the job.
        job_id: String;
        /// The name its user gave it.
        name: Option<String>, null "unknown";
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
        /// had completed, or later. It is 0 for a job without such reduces.
        starvation: f64, unit "ms", source "Coupling §III-C";
        /// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is the time that the job would take alone on
        /// an endless cluster with these run times: its longest successful map, and the longest time that a reduce worked once
        /// its input was there. It measures waiting and not bad placement.
        slowdown: Option<f64>, null "completion is unknown, or the divisor is 0";
        /// Launches of maps on a node with the input, in the rack of such a node, and elsewhere. Attempts that later failed or
        /// were killed count too.
        map_launches: [u64; 3], unit "maps", source "Coupling, Fig. 15";
        /// How many tasks were done: tasks with a successful attempt.
        tasks_done: u64, unit "tasks";
        /// The sum of the run times of all attempts.
        slot_time: i64, unit "ms";
    }
}

/// The metrics of every job, in the order of the jobs table. [`crate::population::judge`] gives them their standing.
///
/// # Errors
/// [`Error::Frame`] if polars cannot evaluate a formula.
pub fn job_metrics(tables: &Tables) -> Result<Vec<JobMetrics>, Error> {
    let attempts = tables.attempts.clone().lazy();
    let per_job = attempts.clone().group_by([col("job")]).agg([
        m::first_start().alias("first_start"),
        m::last_map_finish().alias("last_map_finish"),
        m::longest_map().alias("longest_map"),
        m::map_launches(Locality::Node).alias("node"),
        m::map_launches(Locality::Rack).alias("rack"),
        m::map_launches(Locality::Off).alias("off"),
        m::tasks_done().alias("tasks_done"),
        m::slot_time().alias("slot_time"),
    ]);
    let reduces = attempts.filter(m::is_kind(TaskKind::Reduce)).left_join(
        per_job.clone().select([col("job"), col("last_map_finish")]),
        col("job"),
        col("job"),
    );
    let frame = tables
        .jobs
        .clone()
        .lazy()
        .left_join(per_job, col("job"), col("job"))
        .left_join(starvation(reduces.clone()), col("job"), col("job"))
        .left_join(
            reduces.group_by([col("job")]).agg([m::longest_reduce_tail().alias("longest_reduce_tail")]),
            col("job"),
            col("job"),
        )
        .with_columns([
            m::completion_time().alias("completion"),
            m::waiting_time().alias("waiting"),
            m::execution_time().alias("execution"),
            m::slowdown().alias("slowdown"),
        ])
        .sort(["job"], Default::default())
        .collect()
        .map_err(Error::frame("jobs"))?;
    rows(&frame).map_err(Error::frame("jobs"))
}

/// Starvation by job: a reduce that was tried again counts with its first launch.
fn starvation(reduces: LazyFrame) -> LazyFrame {
    reduces
        .group_by([col("job"), col("task_id")])
        .agg([col("start").min().alias("first_start"), col("last_map_finish").first()])
        .group_by([col("job")])
        .agg([m::starvation_time().alias("starvation")])
}

fn rows(frame: &DataFrame) -> Result<Vec<JobMetrics>, polars::error::PolarsError> {
    let integers = |name: &str| -> Result<&Int64Chunked, _> { frame.column(name)?.i64() };
    let count = |column: &Int64Chunked, row: usize| column.get(row).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let (id, name) = (frame.column("job_id")?.str()?, frame.column("name")?.str()?);
    let (submit, finish) = (integers("submit")?, integers("finish")?);
    let (completion, waiting, execution) = (integers("completion")?, integers("waiting")?, integers("execution")?);
    let (starvation, slowdown) = (frame.column("starvation")?.f64()?, frame.column("slowdown")?.f64()?);
    let (node, rack, off) = (integers("node")?, integers("rack")?, integers("off")?);
    let (tasks_done, slot_time) = (integers("tasks_done")?, integers("slot_time")?);
    let outcome = frame.column("outcome")?.str()?;
    let row = |row: usize| JobMetrics {
        job_id: id.get(row).unwrap_or_default().to_owned(),
        name: name.get(row).map(str::to_owned),
        submit: submit.get(row),
        finish: finish.get(row),
        outcome: outcome.get(row).and_then(Outcome::from_name).unwrap_or_default(),
        standing: Standing::default(),
        completion: completion.get(row),
        waiting: waiting.get(row),
        execution: execution.get(row),
        starvation: starvation.get(row).unwrap_or(0.0),
        slowdown: slowdown.get(row),
        map_launches: [count(node, row), count(rack, row), count(off, row)],
        tasks_done: count(tasks_done, row),
        slot_time: slot_time.get(row).unwrap_or(0),
    };
    Ok((0..frame.height()).map(row).collect())
}
