//! Which jobs stand for all of them in the quick test.

use std::ops::Range;

use resched_analysis::Compared;
use resched_tables::standing::Standing;

/// The fewest jobs that may stand for all.
const LEAST_JOBS: usize = 30;
/// Of fewer jobs than this, no part stands for all.
const LEAST_TO_SAMPLE: usize = 120;
/// How many places of the trace are tried.
const STARTS: usize = 256;

/// Consecutive jobs with at most `most` tasks, which compare as all jobs do: among the places tried, the ratios of the mean completion
/// times there are nearest to those of the whole. If no [`LEAST_JOBS`] jobs have so few tasks, those with the fewest. All of few jobs.
pub(crate) fn find<R: Compared>(runs: &[R], tasks: &[u64], most: u64) -> Range<usize> {
    let jobs = tasks.len();
    if jobs < LEAST_TO_SAMPLE {
        return 0..jobs;
    }
    let least = LEAST_JOBS.min(jobs);
    let step = (jobs / STARTS).max(1);
    let windows: Vec<Range<usize>> =
        (0..=jobs - least).step_by(step).map(|first| grow(tasks, first, least, most)).collect();
    let cost = |window: &Range<usize>| tasks.get(window.clone()).unwrap_or_default().iter().sum::<u64>();
    let affordable: Vec<&Range<usize>> = windows.iter().filter(|window| cost(window) <= most).collect();
    if affordable.is_empty() {
        return windows.iter().min_by_key(|window| cost(window)).cloned().unwrap_or(0..jobs);
    }
    let completions: Vec<Vec<Option<f64>>> = runs.iter().map(completions).collect();
    let whole = ratios(&completions, 0..jobs);
    let distance = |window: &Range<usize>| -> f64 {
        let part = ratios(&completions, window.clone());
        whole
            .iter()
            .zip(part)
            .map(|(whole, part)| if part.is_nan() { f64::INFINITY } else { (whole - part).abs() })
            .sum()
    };
    let nearest = affordable.into_iter().map(|window| (distance(window), window));
    let nearest = nearest.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.start.cmp(&other.1.start)));
    nearest.map_or(0..jobs, |(_, window)| window.clone())
}

/// As many jobs from `first` on as have at most so many tasks, but no fewer than `least`.
fn grow(tasks: &[u64], first: usize, least: usize, most: u64) -> Range<usize> {
    let mut sum = 0;
    let mut end = first;
    for (place, tasks) in tasks.iter().enumerate().skip(first) {
        sum += tasks;
        if sum > most && place >= first + least {
            break;
        }
        end = place + 1;
    }
    first..end
}

/// The completion times of the jobs of a run that count, by their rows.
fn completions<R: Compared>(run: &R) -> Vec<Option<f64>> {
    let all = run.numbers("completion");
    (0..run.count()).map(|row| all.get(row).filter(|_| run.standing(row) == Standing::Counts)).collect()
}

/// The logarithm of the mean completion time of each run, divided by that of the first, over some jobs.
fn ratios(completions: &[Vec<Option<f64>>], of: Range<usize>) -> Vec<f64> {
    let mean = |run: &Vec<Option<f64>>| {
        let times: Vec<f64> = run.get(of.clone()).unwrap_or_default().iter().copied().flatten().collect();
        resched_analysis::statistics::distribution::mean(&times).unwrap_or(f64::NAN)
    };
    let base = completions.first().map_or(f64::NAN, mean);
    completions.iter().skip(1).map(|run| (mean(run) / base).ln()).collect()
}
