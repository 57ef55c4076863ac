//! Quantities of a run that several experiments compare. Jobs are numbered from 1, in order of submission, as the papers do.

use resched_analysis::statistics::distribution::mean;
use resched_analysis::time::timeline::{Steps, running_tasks};
use resched_analysis::{JobMetrics, Run};
use resched_tables::model::TaskKind;

/// Milliseconds of a minute.
pub(super) const MINUTE: f64 = 60_000.0;

/// A job of a run.
pub(super) fn job(run: &Run, number: usize) -> Option<&JobMetrics> {
    run.jobs.get(number.checked_sub(1)?)
}

/// Processing time of a job, ms.
pub(super) fn completion(run: &Run, number: usize) -> Option<f64> {
    job(run, number)?.completion.map(|ms| ms as f64)
}

/// Waiting time of a job, ms.
pub(super) fn waiting(run: &Run, number: usize) -> Option<f64> {
    job(run, number)?.waiting.map(|ms| ms as f64)
}

/// The mean processing time of all jobs, ms.
pub(super) fn mean_completion(run: &Run) -> Option<f64> {
    mean(&run.finished_jobs().filter_map(|job| job.completion).map(|ms| ms as f64).collect::<Vec<_>>())
}

/// The change from `first` to `second`, in per cent of the first.
pub(super) fn change(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    let first = first.filter(|first| *first > 0.0)?;
    Some(100.0 * (second? / first - 1.0))
}

/// Running tasks of a kind over time; of one job, or of all.
pub(super) fn running(run: &Run, kind: TaskKind, number: Option<usize>) -> Steps {
    let wanted = |job: usize| number.is_none_or(|number| job + 1 == number);
    running_tasks(run.intervals.iter().filter(|interval| wanted(interval.job)), kind)
}

/// The first and the last instant at which a task of that kind of a job started and ended, ms.
pub(super) fn span(run: &Run, kind: TaskKind, number: usize) -> Option<(f64, f64)> {
    let of_job = || run.intervals.iter().filter(|interval| interval.kind == kind && interval.job + 1 == number);
    let first = of_job().map(|interval| interval.start).min()?;
    let last = of_job().map(|interval| interval.finish).max()?;
    Some((first as f64, last as f64))
}

/// The time at which `steps` first reach `value`, ms.
pub(super) fn first_at_least(steps: &Steps, value: f64) -> Option<f64> {
    steps.points.iter().find(|point| point.1 >= value).map(|point| point.0 as f64)
}

/// Run times of the finished maps, ms.
pub(super) fn map_times(run: &Run) -> Vec<f64> {
    let maps = run.intervals.iter().filter(|interval| interval.kind == TaskKind::Map && interval.succeeded);
    maps.map(|interval| (interval.finish - interval.start) as f64).collect()
}
