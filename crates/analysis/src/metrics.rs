//! The metrics of a job. Each is one formula over columns.
//!
//! A metric is an expression, so that a single replay, a sweep cell and a report all evaluate the same formula.
//! The first group is aggregated over the attempts of one job, the second over its reduces. The third is evaluated row by row
//! over the table of jobs, after the results of the first two are joined to it under the names that [`crate::jobs`] gives them.
//! All times are in ms. Sources: "Coupling" is Tan, Meng, Zhang 2013; "DRESS" is Mao et al. 2020; "spec" is section C of the policy
//! specification.
//!
//! [`crate::JobMetrics`] describes each metric for users; `docs/reference/metrics.md` is made from it.

use polars::prelude::{DataType, Expr, NULL, coalesce, col, lit, max_horizontal, when};
use resched_trace::formats::MAPREDUCE;
use resched_trace::model::{Locality, Outcome, TaskKind};

/// When the first task of the job started: the earliest start of its attempts, without set-up and clean-up (they are
/// Hadoop's bookkeeping, not the job's work).
pub fn first_start() -> Expr {
    let bookkeeping = is_kind(TaskKind::Setup).or(is_kind(TaskKind::Cleanup));
    col("start").filter(bookkeeping.not()).min()
}

/// When the last map of the job completed: the latest finish of its successful map attempts; null for none.
pub fn last_map_finish() -> Expr {
    col("finish").filter(is_kind(TaskKind::Map).and(succeeded())).max()
}

/// The longest run time of a successful map attempt of the job; null for none.
pub fn longest_map() -> Expr {
    run_time().filter(is_kind(TaskKind::Map).and(succeeded())).max()
}

/// How many maps of the job were *launched* at that distance from their input. Every launch is a decision of the
/// scheduler, so attempts that later failed or were killed count too (Coupling, Fig. 15). The inspection of a trace
/// counts successful attempts instead.
pub fn map_launches(locality: Locality) -> Expr {
    let launched = is_kind(TaskKind::Map).and(col("start").is_not_null());
    launched.and(col("locality").eq(lit(locality.as_str()))).sum().cast(DataType::Int64)
}

/// Slot time that the job used: the sum of the run times of all its attempts.
pub fn slot_time() -> Expr {
    run_time().sum()
}

/// Processor time that the job held: the sum of requested processor × run time over its attempts, ms of a core; null if none is
/// known.
pub fn cpu_time() -> Expr {
    held("cpu_request") / lit(1e3)
}

/// Memory time that the job held: the sum of requested memory × run time over its attempts, MB·s (an MB is 2^20 bytes, as YARN
/// counts); null if none is known.
pub fn memory_time() -> Expr {
    held("memory_request") / lit(1_048_576.0 * 1e3)
}

fn held(request: &str) -> Expr {
    let held = col(request).cast(DataType::Float64) * run_time().cast(DataType::Float64);
    when(held.clone().count().gt(lit(0))).then(held.sum()).otherwise(lit(NULL))
}

/// Tasks of the job that were done: distinct tasks with a successful attempt.
pub fn tasks_done() -> Expr {
    col("task_id").filter(succeeded()).n_unique().cast(DataType::Int64)
}

/// As [`tasks_done`], for the tasks of one kind.
pub fn tasks_done_of(kind: TaskKind) -> Expr {
    col("task_id").filter(is_kind(kind).and(succeeded())).n_unique().cast(DataType::Int64)
}

/// Attempts of the job that had to make room for others.
pub fn evictions() -> Expr {
    col("outcome").eq(lit(Outcome::Evicted.as_str())).sum().cast(DataType::Int64)
}

/// Queueing time of the job's tasks: the mean of `start − queued` over its attempts; null if none has both.
pub fn queueing_time() -> Expr {
    at_least_zero(col("start") - col("queued")).mean()
}

/// Starvation time of the job: the mean of `start(r) − last_map_finish` over its reduces `r` launched when its last map
/// had completed (at that instant counts: the completion comes first); 0 if all were launched before, null if none was
/// launched or no map completed. `start(r)` is the first launch of `r` (Coupling §III-C; spec).
pub fn starvation_time() -> Expr {
    let late_by = col("first_start") - col("last_map_finish");
    let late = late_by.clone().gt_eq(lit(0i64));
    let mean = coalesce(&[late_by.clone().filter(late).mean(), lit(0.0)]);
    when(late_by.count().gt(lit(0))).then(mean).otherwise(lit(NULL))
}

/// Whether reduces of the job are Hadoop's: they wait for its maps. Other sources use the word as a label.
pub fn has_hadoops_reduces() -> Expr {
    col("framework").is_null().or(col("framework").eq(lit(MAPREDUCE)))
}

/// The longest time that a reduce of the job had to work once its input was there: `finish − shuffle_finish`, or, where
/// the end of the shuffle is not known, `finish − max(start, last_map_finish)`.
pub fn longest_reduce_tail() -> Expr {
    let shuffled = coalesce(&[col("shuffle_finish"), latest(col("start"), col("last_map_finish"))]);
    at_least_zero(col("finish") - shuffled).filter(succeeded()).max()
}

/// Completion (processing) time: `finish − submit` (Coupling "job processing time", DRESS "completion"; spec).
pub fn completion_time() -> Expr {
    at_least_zero(col("finish") - col("submit"))
}

/// Waiting time: `first_start − submit`. If no attempt is known, `first_start` is the launch in the table of jobs (DRESS;
/// spec).
pub fn waiting_time() -> Expr {
    at_least_zero(coalesce(&[col("first_start"), col("launch")]) - col("submit"))
}

/// Execution time: `completion − waiting` (DRESS: completion = waiting + execution; spec).
pub fn execution_time() -> Expr {
    at_least_zero(completion_time() - waiting_time())
}

/// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is what the job would take alone on an
/// endless cluster with these very run times, so it is a lower bound of the completion and the slowdown is at least 1.
/// As the run times are the run's own, it measures waiting and not bad placement; null where the bound is 0.
pub fn slowdown() -> Expr {
    let or_zero = |part: &str| when(col(part).is_null()).then(lit(0i64)).otherwise(col(part));
    let bound = or_zero("longest_map") + or_zero("longest_reduce_tail");
    let ratio = completion_time().cast(DataType::Float64) / bound.clone().cast(DataType::Float64);
    when(bound.gt(lit(0i64))).then(ratio).otherwise(lit(NULL))
}

/// Bounded slowdown: `max(1, completion / max(execution, 10 s))`. The bound keeps very short jobs, whose ratio says little,
/// from deciding a mean (Feitelson, Rudolph 1998).
pub fn bounded_slowdown() -> Expr {
    let as_number = |time: Expr| time.cast(DataType::Float64);
    let execution = as_number(execution_time());
    let bounded = when(execution.clone().lt(lit(SHORTEST_MS))).then(lit(SHORTEST_MS)).otherwise(execution);
    let ratio = as_number(completion_time()) / bounded;
    when(ratio.clone().lt(lit(1.0))).then(lit(1.0)).otherwise(ratio)
}

/// The shortest execution time that counts in the bounded slowdown, ms.
const SHORTEST_MS: f64 = 10_000.0;

/// Whether the task of the attempt is of that kind.
pub fn is_kind(kind: TaskKind) -> Expr {
    col("kind").eq(lit(kind.as_str()))
}

fn succeeded() -> Expr {
    col("outcome").eq(lit(Outcome::Success.as_str()))
}

fn run_time() -> Expr {
    at_least_zero(col("finish") - col("start"))
}

/// The later of two times; an unknown one does not count. (Cannot fail: it fails only for an empty list.)
fn latest(one: Expr, other: Expr) -> Expr {
    max_horizontal([one.clone(), other]).unwrap_or(one)
}

/// `value`, or 0 if it is negative: the clocks of two machines may differ a little.
fn at_least_zero(value: Expr) -> Expr {
    when(value.clone().lt(lit(0i64))).then(lit(0i64)).otherwise(value)
}
