//! Quantities of a run that several experiments compare. Jobs are numbered from 1, in order of submission, as the papers do.

use resched_analysis::runs::spans::Interval;
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

/// How unequally the jobs hold the reduce slots, as a share: half the sum of the distances of their shares of what runs from equal ones, in the
/// mean over the time in which some run. A job counts from the end of its first map to the end of its last reduce.
fn unfairness_of_reduces(intervals: &[Interval]) -> Option<f64> {
    let of = |kind: TaskKind, job: usize| {
        intervals.iter().filter(move |of| of.kind == kind && of.job == job && of.succeeded)
    };
    let (mut changes, mut jobs) = (Vec::new(), 0);
    for job in 0..=intervals.iter().map(|of| of.job).max()? {
        let from = of(TaskKind::Map, job).map(|map| map.finish).min();
        let until = of(TaskKind::Reduce, job).map(|reduce| reduce.finish).max();
        let (Some(from), Some(until)) = (from, until) else { continue };
        changes.extend([(from, jobs, 1, 0), (until, jobs, -1, 0)]);
        changes.extend(
            of(TaskKind::Reduce, job).flat_map(|attempt| [(attempt.start, jobs, 0, 1), (attempt.finish, jobs, 0, -1)]),
        );
        jobs += 1;
    }
    changes.sort_unstable();
    let (mut wants, mut holds) = (vec![0; jobs], vec![0; jobs]);
    let (mut distance, mut time) = (0.0, 0.0);
    for pair in changes.windows(2) {
        let &[(at, job, wanting, holding), (next, ..)] = pair else { continue };
        wants[job] += wanting;
        holds[job] += holding;
        let (wanting, held): (i32, i32) = (wants.iter().sum(), holds.iter().sum());
        if held > 0 && wanting > 0 {
            let shares = holds.iter().zip(&wants).map(|(hold, wants)| {
                (f64::from(*hold) / f64::from(held) - f64::from(*wants) / f64::from(wanting)).abs()
            });
            distance += 0.5 * shares.sum::<f64>() * (next - at) as f64;
            time += (next - at) as f64;
        }
    }
    (time > 0.0).then(|| distance / time)
}

/// By how much more unequally the jobs of the second run hold the reduce slots, as a share.
pub(super) fn less_fair(first: &Run, second: &Run) -> Option<f64> {
    Some(unfairness_of_reduces(&second.intervals)? - unfairness_of_reduces(&first.intervals)?)
}

/// By how much longer a job waits in the second run, s.
pub(super) fn longer_wait(first: &Run, second: &Run, number: usize) -> Option<f64> {
    Some((waiting(second, number)? - waiting(first, number)?) / 1e3)
}

/// Run times of the finished maps, ms.
pub(super) fn map_times(run: &Run) -> Vec<f64> {
    let maps = run.intervals.iter().filter(|interval| interval.kind == TaskKind::Map && interval.succeeded);
    maps.map(|interval| (interval.finish - interval.start) as f64).collect()
}

/// The pseudo-values of a measure of two means, one for each pair of values (the jackknife of Quenouille and Tukey): in their mean they are the
/// measure without most of its bias, and they vary as the measure does. One pair has the measure itself.
pub(super) fn pseudo_values(first: &[f64], second: &[f64], of: fn(f64, f64) -> f64) -> Vec<f64> {
    let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
    let count = pairs.len() as f64;
    let sums = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    let all = of(sums.0 / count, sums.1 / count);
    if pairs.len() < 2 {
        return pairs.iter().map(|_| all).collect();
    }
    let without = |pair: &(f64, f64)| of((sums.0 - pair.0) / (count - 1.0), (sums.1 - pair.1) / (count - 1.0));
    pairs.iter().map(|pair| count * all - (count - 1.0) * without(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: until 10 the first job holds both slots and the second, whose map has ended, none: 0.5. Then each holds one: 0.
    #[test]
    fn slots_that_one_job_holds_are_unequal() {
        let task = |job, kind, start, finish| Interval {
            job,
            kind,
            start,
            finish,
            succeeded: true,
            node: None,
            locality: None,
        };
        let (map, reduce) = (TaskKind::Map, TaskKind::Reduce);
        let maps = [task(0, map, -5, 0), task(1, map, -5, 0)];
        let reduces = [task(0, reduce, 0, 10), task(0, reduce, 0, 20), task(1, reduce, 10, 20)];
        assert_eq!(unfairness_of_reduces(&[&maps[..], &reduces[..]].concat()), Some(0.25));
        assert_eq!(unfairness_of_reduces(&[]), None);
    }

    #[test]
    fn pseudo_values_of_a_difference_are_the_differences() {
        let found = pseudo_values(&[1.0, 2.0, 6.0], &[4.0, 4.0, 7.0], |first, second| second - first);
        assert!(
            found.iter().zip([3.0, 2.0, 1.0]).all(|(found, expected)| (found - expected).abs() < 1e-9),
            "{found:?}"
        );
        assert!(pseudo_values(&[], &[], |first, _| first).is_empty());
        assert_eq!(pseudo_values(&[2.0], &[6.0], |first, second| second / first), [3.0]);
    }

    // By hand: the means are 2 and 3. Without the first pair the ratio is 4/3, without the second 2/1.
    #[test]
    fn pseudo_values_of_a_ratio_are_about_that_of_the_means() {
        let found = pseudo_values(&[1.0, 3.0], &[2.0, 4.0], |first, second| second / first);
        assert!((found[0] - (3.0 - 4.0 / 3.0)).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9, "{found:?}");
    }
}
