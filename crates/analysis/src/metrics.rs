//! The metrics of a job. Each is one formula over columns.
//!
//! A metric is an expression, so that a single replay, a sweep cell and a report all evaluate the same formula, row by row over the
//! table of jobs. What the attempts of a job add up to stands in it as columns (`first_start`, `longest_map`,
//! `longest_reduce_tail`); the formulas of these are in `attempts.rs`.
//! All times are in ms. Sources: "Coupling" is Tan, Meng, Zhang 2013; "DRESS" is Mao et al. 2020; "spec" is section C of the policy
//! specification.
//!
//! [`crate::JobMetrics`] describes each metric for users; `docs/reference/metrics.md` is made from it.

use polars::prelude::{DataType, Expr, NULL, coalesce, col, lit, when};

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

/// `value`, or 0 if it is negative: the clocks of two machines may differ a little.
fn at_least_zero(value: Expr) -> Expr {
    when(value.clone().lt(lit(0i64))).then(lit(0i64)).otherwise(value)
}
