//! The metrics of a job. Each is one formula over columns.
//!
//! A metric is a formula over whole columns of the table of jobs, so that a single replay, a sweep cell and a report all evaluate the
//! same one. What the attempts of a job add up to stands in that table as columns (`first_start`, `longest_map`,
//! `longest_reduce_tail`); the formulas of these are in `attempts.rs`. Null is unknown.
//! All times are in ms. Sources: "Coupling" is Tan, Meng, Zhang 2013; "DRESS" is Mao et al. 2020; "spec" is section C of the policy
//! specification.
//!
//! [`crate::JobMetrics`] describes each metric for users; `docs/reference/metrics.md` is made from it.

use polars::prelude::arity::{binary_elementwise, unary_elementwise};
use polars::prelude::{Float64Chunked, Int64Chunked};

/// Completion (processing) time: `finish − submit` (Coupling "job processing time", DRESS "completion"; spec).
pub fn completion_time(finish: &Int64Chunked, submit: &Int64Chunked) -> Int64Chunked {
    at_least_zero(&(finish - submit))
}

/// Waiting time: `first_start − submit`. If no attempt is known, `first_start` is the launch in the table of jobs (DRESS;
/// spec).
pub fn waiting_time(first_start: &Int64Chunked, launch: &Int64Chunked, submit: &Int64Chunked) -> Int64Chunked {
    let started: Int64Chunked = binary_elementwise(first_start, launch, |start, launch| start.or(launch));
    at_least_zero(&(&started - submit))
}

/// Execution time: `completion − waiting` (DRESS: completion = waiting + execution; spec).
pub fn execution_time(completion: &Int64Chunked, waiting: &Int64Chunked) -> Int64Chunked {
    at_least_zero(&(completion - waiting))
}

/// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is what the job would take alone on an
/// endless cluster with these very run times, so it is a lower bound of the completion and the slowdown is at least 1.
/// As the run times are the run's own, it measures waiting and not bad placement; null where the bound is 0.
pub fn slowdown(
    completion: &Int64Chunked,
    longest_map: &Int64Chunked,
    longest_reduce_tail: &Int64Chunked,
) -> Float64Chunked {
    let bound: Int64Chunked = binary_elementwise(longest_map, longest_reduce_tail, |map, tail| {
        Some(map.unwrap_or(0) + tail.unwrap_or(0)).filter(|bound| *bound > 0)
    });
    binary_elementwise(completion, &bound, |completion, bound| Some(completion? as f64 / bound? as f64))
}

/// Bounded slowdown: `max(1, completion / max(execution, 10 s))`. The bound keeps very short jobs, whose ratio says little,
/// from deciding a mean (Feitelson, Rudolph 1998).
pub fn bounded_slowdown(completion: &Int64Chunked, execution: &Int64Chunked) -> Float64Chunked {
    binary_elementwise(completion, execution, |completion, execution| {
        Some((completion? as f64 / (execution? as f64).max(SHORTEST_MS)).max(1.0))
    })
}

/// The shortest execution time that counts in the bounded slowdown, ms.
const SHORTEST_MS: f64 = 10_000.0;

/// Each value, or 0 if it is negative: the clocks of two machines may differ a little.
fn at_least_zero(values: &Int64Chunked) -> Int64Chunked {
    unary_elementwise(values, |value| value.map(|value: i64| value.max(0)))
}
