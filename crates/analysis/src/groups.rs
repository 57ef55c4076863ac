//! Jobs by user, queue, priority, size and hour: who waits, who gains and who loses.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::distribution::{Distribution, mean};
use crate::measure::{Sizes, hour_of_day};
use crate::{JobMetrics, Run};

/// How jobs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By the user who submitted them.
    User,
    /// By their queue or pool.
    Queue,
    /// By their priority.
    Priority,
    /// By their number of tasks: the smaller half, the largest tenth, and the rest.
    Size,
    /// By the hour of the day in which they were submitted (UTC, or since the zero of the trace).
    Hour,
}

/// The jobs of a group in a run. Times are in ms; unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// The name of the group; `–` if it is unknown.
    pub group: String,
    /// The label of the run.
    pub run: String,
    /// How many jobs there are.
    pub jobs: u64,
    /// The median completion time.
    pub completion_p50_ms: Option<f64>,
    /// The 95th percentile of the completion time.
    pub completion_p95_ms: Option<f64>,
    /// The 99th percentile of the completion time.
    pub completion_p99_ms: Option<f64>,
    /// The median waiting time.
    pub waiting_p50_ms: Option<f64>,
    /// The 95th percentile of the waiting time.
    pub waiting_p95_ms: Option<f64>,
    /// The 99th percentile of the waiting time.
    pub waiting_p99_ms: Option<f64>,
    /// The mean completion time divided by that in the baseline, less 1, over the jobs that finished in both; null for the
    /// baseline. Below 0, the group gains.
    pub change: Option<f64>,
    /// How many of these jobs completed sooner than in the baseline.
    pub sooner: Option<u64>,
    /// How many of these jobs completed later than in the baseline.
    pub later: Option<u64>,
}

/// A job that was slowed down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowedJob {
    /// Its id.
    pub job_id: String,
    /// The name its user gave it.
    pub name: Option<String>,
    /// Who submitted it.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// The label of the run.
    pub run: String,
    /// Its completion time, ms.
    pub completion_ms: i64,
    /// Its completion time in the baseline, ms; null for the baseline itself.
    pub baseline_completion_ms: Option<i64>,
    /// Its completion time divided by that in the baseline, or by 10 s if that is longer. In the baseline itself, its bounded
    /// slowdown.
    pub slowed: f64,
}

/// The shortest completion time in the baseline that counts, ms. Ratios to shorter ones say little.
const SHORTEST_MS: i64 = 10_000;

/// The groups of the jobs that count, by name, each in every run. The run at the place `baseline` is the baseline.
pub fn groups(runs: &[&Run], baseline: usize, by: By) -> Vec<GroupRow> {
    let of_baseline = completions(runs.get(baseline).copied());
    let mut rows: Vec<(Key, usize, GroupRow)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let sizes = Sizes::of(run);
        let mut members: BTreeMap<Key, Vec<&JobMetrics>> = BTreeMap::new();
        for job in run.finished_jobs() {
            members.entry(Key::of(job, by, sizes)).or_default().push(job);
        }
        let base = (place != baseline).then_some(&of_baseline);
        rows.extend(members.into_iter().map(|(key, jobs)| {
            let row = row(key.name(), run, &jobs, base);
            (key, place, row)
        }));
    }
    rows.sort_by(|(key, place, _), (other, of_other, _)| (key, place).cmp(&(other, of_other)));
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// The jobs of `run` that were slowed most, by a factor above 1, the worst first. Equal ones stand in the order of the jobs table.
pub fn most_slowed(run: &Run, baseline: Option<&Run>, count: usize) -> Vec<SlowedJob> {
    let base = completions(baseline);
    let slowed = |job: &JobMetrics| {
        let completion_ms = job.completion?;
        let before = base.get(job.job_id.as_str()).copied();
        let slowed = match baseline {
            Some(_) => completion_ms as f64 / before?.max(SHORTEST_MS) as f64,
            None => job.bounded_slowdown?,
        };
        Some(SlowedJob {
            job_id: job.job_id.clone(),
            name: job.name.as_deref().map(str::to_owned),
            user: job.user.as_deref().map(str::to_owned),
            queue: job.queue.as_deref().map(str::to_owned),
            run: run.label.clone(),
            completion_ms,
            baseline_completion_ms: before,
            slowed,
        })
    };
    let mut all: Vec<SlowedJob> = run.finished_jobs().filter_map(slowed).collect();
    all.retain(|job| job.slowed > 1.0);
    all.sort_by(|a, b| b.slowed.total_cmp(&a.slowed));
    all.truncate(count);
    all
}

/// The name of a group; unknown groups are last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(i64),
    Text(String),
    Unknown,
}

impl Key {
    fn of(job: &JobMetrics, by: By, sizes: Sizes) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_deref().map_or(Self::Unknown, |text| Self::Text(text.to_owned()));
        match by {
            By::User => text(&job.user),
            By::Queue => text(&job.queue),
            By::Priority => match (job.priority_number, job.priority) {
                (Some(number), _) => Self::Number(number),
                (None, Some(word)) => Self::Text(word.as_str().to_owned()),
                (None, None) => Self::Unknown,
            },
            By::Size => Self::Text(sizes.class_of(job.tasks_done).to_owned()),
            By::Hour => job.submit.map_or(Self::Unknown, |submit| Self::Number(hour_of_day(submit))),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Unknown => "–".to_owned(),
        }
    }
}

/// The completion times of the jobs that count, by id.
fn completions(run: Option<&Run>) -> BTreeMap<&str, i64> {
    let jobs = run.into_iter().flat_map(Run::finished_jobs);
    jobs.filter_map(|job| Some((job.job_id.as_str(), job.completion?))).collect()
}

fn row(group: String, run: &Run, jobs: &[&JobMetrics], base: Option<&BTreeMap<&str, i64>>) -> GroupRow {
    let times = |of: fn(&JobMetrics) -> Option<i64>| {
        let sample = Distribution::new(jobs.iter().filter_map(|job| of(job)).map(|ms| ms as f64));
        [0.5, 0.95, 0.99].map(|share| sample.quantile(share))
    };
    let [completion_p50_ms, completion_p95_ms, completion_p99_ms] = times(|job| job.completion);
    let [waiting_p50_ms, waiting_p95_ms, waiting_p99_ms] = times(|job| job.waiting);
    let pairs = base.map(|base| {
        let pair = |job: &&JobMetrics| Some((*base.get(job.job_id.as_str())?, job.completion?));
        jobs.iter().filter_map(pair).collect::<Vec<(i64, i64)>>()
    });
    let count = |sooner: bool| {
        let is = |(before, now): &&(i64, i64)| if sooner { now < before } else { now > before };
        pairs.as_ref().map(|pairs| pairs.iter().filter(is).count() as u64)
    };
    let change = pairs.as_ref().and_then(|pairs| {
        let before = mean(&pairs.iter().map(|pair| pair.0 as f64).collect::<Vec<_>>()).filter(|&ms| ms > 0.0)?;
        Some(mean(&pairs.iter().map(|pair| pair.1 as f64).collect::<Vec<_>>())? / before - 1.0)
    });
    GroupRow {
        group,
        run: run.label.clone(),
        jobs: jobs.len() as u64,
        completion_p50_ms,
        completion_p95_ms,
        completion_p99_ms,
        waiting_p50_ms,
        waiting_p95_ms,
        waiting_p99_ms,
        change,
        sooner: count(true),
        later: count(false),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Origin;

    /// Jobs with a user, a completion time (s) and an hour of submission.
    fn run(label: &str, jobs: &[(&str, i64, i64)]) -> Run {
        let job = |(number, &(user, completion, hour)): (u64, &(&str, i64, i64))| JobMetrics {
            job_id: format!("j{number}"),
            user: (!user.is_empty()).then(|| user.into()),
            submit: Some(hour * 3_600_000 + 5),
            completion: Some(completion * 1_000),
            bounded_slowdown: Some(completion as f64),
            tasks_done: number,
            ..JobMetrics::default()
        };
        Run {
            label: label.to_owned(),
            origin: Origin::Replay(Box::default()),
            skipped: BTreeMap::new(),
            jobs: (1..).zip(jobs).map(job).collect(),
            intervals: Vec::new(),
            nodes: Vec::new(),
            peaks: [0.0; 2],
            decisions: Vec::new(),
            resources: Vec::new(),
        }
    }

    fn pair() -> (Run, Run) {
        let first = run("fifo", &[("bob", 10, 23), ("ann", 20, 9), ("ann", 40, 10), ("", 5, 33)]);
        let second = run("fair", &[("bob", 30, 23), ("ann", 10, 9), ("ann", 20, 10), ("", 5, 33)]);
        (first, second)
    }

    #[test]
    fn groups_show_who_gains_and_who_loses() {
        let (first, second) = pair();
        let rows = groups(&[&first, &second], 0, By::User);
        let told: Vec<_> =
            rows.iter().map(|row| (row.group.as_str(), row.run.as_str(), row.jobs, row.change)).collect();
        // ann: (10 + 20) / (20 + 40) − 1; bob: 30 / 10 − 1.
        let expected = [
            ("ann", "fifo", 2, None),
            ("ann", "fair", 2, Some(-0.5)),
            ("bob", "fifo", 1, None),
            ("bob", "fair", 1, Some(2.0)),
            ("–", "fifo", 1, None),
            ("–", "fair", 1, Some(0.0)),
        ];
        assert_eq!(told, expected);
        let ann = rows.get(1).unwrap();
        assert_eq!((ann.completion_p50_ms, ann.sooner, ann.later), (Some(15_000.0), Some(2), Some(0)));
        assert_eq!(ann.waiting_p99_ms, None, "no waiting time is known");
    }

    #[test]
    fn hours_are_in_order_and_sizes_have_three_classes() {
        let (first, _) = pair();
        let names = |by| groups(&[&first], 0, by).into_iter().map(|row| (row.group, row.jobs)).collect::<Vec<_>>();
        assert_eq!(names(By::Hour), [("9".to_owned(), 2), ("10".to_owned(), 1), ("23".to_owned(), 1)]);
        assert_eq!(names(By::Size), [("large".to_owned(), 1), ("medium".to_owned(), 1), ("small".to_owned(), 2)]);
        assert_eq!(names(By::Queue), [("–".to_owned(), 4)]);
    }

    #[test]
    fn the_most_slowed_jobs_are_the_worst_first() {
        let (first, second) = pair();
        let ids = |jobs: Vec<SlowedJob>| jobs.into_iter().map(|job| (job.job_id, job.slowed)).collect::<Vec<_>>();
        // 30 s after 10 s. The others take no longer, and 5 s would count as 10 s.
        let worst = most_slowed(&second, Some(&first), 2);
        assert_eq!(ids(worst), [("j1".to_owned(), 3.0)]);
        assert_eq!(ids(most_slowed(&first, None, 1)), [("j3".to_owned(), 40.0)]);
    }
}
