//! The formulas of a job's metrics. [`crate::JobMetrics`] lists the metrics, each with its formula, and describes them for users;
//! `docs/reference/metrics.md` is made from it.
//!
//! What the attempts of a job add up to (`first_start`, `longest_map`, `longest_reduce_tail`) is in `attempts.rs`. `None` is unknown.
//! All times are in ms. Sources: "Coupling" is Tan, Meng, Zhang 2013; "DRESS" is Mao et al. 2020.

/// Completion (processing) time: `finish − submit` (Coupling "job processing time", DRESS "completion").
pub fn completion_time(finish: Option<i64>, submit: Option<i64>) -> Option<i64> {
    Some(since(finish?, submit?))
}

/// Waiting time: `first_start − submit`. If no attempt is known, `first_start` is the launch in the table of jobs (DRESS).
pub fn waiting_time(first_start: Option<i64>, launch: Option<i64>, submit: Option<i64>) -> Option<i64> {
    Some(since(first_start.or(launch)?, submit?))
}

/// Execution time: `completion − waiting` (DRESS: completion = waiting + execution).
pub fn execution_time(completion: Option<i64>, waiting: Option<i64>) -> Option<i64> {
    Some(since(completion?, waiting?))
}

/// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is what the job would take alone on an
/// endless cluster with these very run times, so it is a lower bound of the completion and the slowdown is at least 1.
/// As the run times are the run's own, it measures waiting and not bad placement; null where the bound is 0.
pub fn slowdown(completion: Option<i64>, longest_map: Option<i64>, longest_reduce_tail: Option<i64>) -> Option<f64> {
    let bound = longest_map.unwrap_or(0).saturating_add(longest_reduce_tail.unwrap_or(0));
    (bound > 0).then_some(completion? as f64 / bound as f64)
}

/// Bounded slowdown: `max(1, completion / max(execution, 10 s))`. The bound keeps very short jobs, whose ratio says little,
/// from deciding a mean (Feitelson, Rudolph 1998).
pub fn bounded_slowdown(completion: Option<i64>, execution: Option<i64>) -> Option<f64> {
    Some((completion? as f64 / (execution? as f64).max(SHORTEST_MS)).max(1.0))
}

/// GPUs held, times run times. If a job asked for GPUs and ran, but its attempts name none, nobody counted them: no machine lists any, or
/// an older build wrote the run.
pub fn gpu_time(held: Option<f64>, gpus: Option<i64>, slot_time: i64) -> Option<f64> {
    let is_unknown = |held: f64| held <= 0.0 && slot_time > 0 && gpus.is_some_and(|gpus| gpus > 0);
    held.filter(|&held| !is_unknown(held))
}

/// The shortest execution time that counts in the bounded slowdown, ms.
const SHORTEST_MS: f64 = 10_000.0;

/// The time between two times, or 0 if it is negative: the clocks of two machines may differ a little.
fn since(later: i64, earlier: i64) -> i64 {
    later.saturating_sub(earlier).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_that_a_run_does_not_name_are_unknown() {
        let found =
            [(Some(8.0), Some(2), 4), (Some(0.0), Some(2), 4), (Some(0.0), Some(0), 4), (Some(0.0), Some(2), 0)]
                .map(|(held, gpus, slot_time)| gpu_time(held, gpus, slot_time));
        assert_eq!(found, [Some(8.0), None, Some(0.0), Some(0.0)]);
    }
}
