//! One row of metrics per job.

use polars::error::PolarsError;
use polars::prelude::{
    DataFrame, Float64Chunked, Int64Chunked, IntoLazy, LazyFrame, NULL, StringChunked, col, lit, when,
};
use resched_trace::comparison::Standing;
use resched_trace::measures;
use resched_trace::model::{Locality, Outcome, Priority, TaskKind};

use crate::metrics as m;
use crate::{Error, Tables};

measures! {
    /// The metrics of a job. [`crate::metrics`] has their formulas.
    pub struct JobMetrics: Default {
        /// The id of the job.
        job_id: String;
        /// The name its user gave it.
        name: Option<String>, null "unknown";
        /// Who submitted it.
        user: Option<String>, null "unknown";
        /// The queue or pool it was submitted to.
        queue: Option<String>, null "unknown";
        /// The larger work that it is a part of: a Spark application, the group of its user.
        group: Option<String>, null "unknown";
        /// What ran it, such as `mapreduce` or `spark`.
        framework: Option<String>, null "unknown";
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
        m::tasks_done_of(TaskKind::Map).alias("maps_done"),
        m::tasks_done_of(TaskKind::Reduce).alias("reduces_done"),
        m::evictions().alias("evictions"),
        m::queueing_time().alias("queueing"),
        m::slot_time().alias("slot_time"),
        m::cpu_time().alias("cpu_time"),
        m::memory_time().alias("memory_time"),
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
            m::bounded_slowdown().alias("bounded_slowdown"),
            when(m::has_hadoops_reduces()).then(col("starvation")).otherwise(lit(NULL)).alias("starvation"),
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

fn rows(frame: &DataFrame) -> Result<Vec<JobMetrics>, PolarsError> {
    let of = Columns { frame };
    let (id, name, user, queue) = (of.texts("job_id")?, of.texts("name")?, of.texts("user")?, of.texts("queue")?);
    let (group, framework, priority) = (of.texts("group")?, of.texts("framework")?, of.texts("priority")?);
    let (priority_number, class) = (of.integers("priority_number")?, of.integers("scheduling_class")?);
    let (submit, finish, input) = (of.integers("submit")?, of.integers("finish")?, of.integers("input_bytes")?);
    let [completion, waiting, execution] =
        [of.integers("completion")?, of.integers("waiting")?, of.integers("execution")?];
    let (starvation, queueing) = (of.numbers("starvation")?, of.numbers("queueing")?);
    let (slowdown, bounded) = (of.numbers("slowdown")?, of.numbers("bounded_slowdown")?);
    let launches = [of.integers("node")?, of.integers("rack")?, of.integers("off")?];
    let tasks = [of.integers("tasks_done")?, of.integers("maps_done")?, of.integers("reduces_done")?];
    let (evictions, slot_time) = (of.integers("evictions")?, of.integers("slot_time")?);
    let (cpu_time, memory_time) = (of.numbers("cpu_time")?, of.numbers("memory_time")?);
    let outcome = of.texts("outcome")?;
    let text = |column: &StringChunked, row: usize| column.get(row).map(str::to_owned);
    let count = |column: &Int64Chunked, row: usize| column.get(row).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let row = |row: usize| JobMetrics {
        job_id: text(id, row).unwrap_or_default(),
        name: text(name, row),
        user: text(user, row),
        queue: text(queue, row),
        group: text(group, row),
        framework: text(framework, row),
        priority: priority.get(row).and_then(Priority::from_name),
        priority_number: priority_number.get(row),
        scheduling_class: class.get(row),
        input_bytes: input.get(row),
        submit: submit.get(row),
        finish: finish.get(row),
        outcome: outcome.get(row).and_then(Outcome::from_name).unwrap_or_default(),
        standing: Standing::default(),
        completion: completion.get(row),
        waiting: waiting.get(row),
        execution: execution.get(row),
        starvation: starvation.get(row),
        slowdown: slowdown.get(row),
        bounded_slowdown: bounded.get(row),
        queueing: queueing.get(row),
        map_launches: launches.map(|level| count(level, row)),
        tasks_done: count(tasks[0], row),
        maps_done: count(tasks[1], row),
        reduces_done: count(tasks[2], row),
        evictions: count(evictions, row),
        slot_time: slot_time.get(row).unwrap_or(0),
        cpu_time: cpu_time.get(row),
        memory_time: memory_time.get(row),
    };
    Ok((0..frame.height()).map(row).collect())
}

/// The columns of a frame by name.
struct Columns<'a> {
    frame: &'a DataFrame,
}

impl<'a> Columns<'a> {
    fn texts(&self, name: &str) -> Result<&'a StringChunked, PolarsError> {
        self.frame.column(name)?.str()
    }

    fn integers(&self, name: &str) -> Result<&'a Int64Chunked, PolarsError> {
        self.frame.column(name)?.i64()
    }

    fn numbers(&self, name: &str) -> Result<&'a Float64Chunked, PolarsError> {
        self.frame.column(name)?.f64()
    }
}
