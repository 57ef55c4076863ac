//! Metrics over time: step functions of running tasks, queue length and fairness, and numbers that follow from them.

use resched_tables::model::TaskKind;
use resched_tables::standing::Standing;

use crate::runs::jobs::{JobList, JobMetrics};
use crate::runs::spans::Interval;
use crate::runs::standing::counting;

/// A step function of time: 0 before the first step, then each step's value until the next step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steps {
    /// (time in ms, value from then on), times ascending and distinct, neighbouring values different.
    pub points: Vec<(i64, f64)>,
}

impl Steps {
    /// The sum of `changes`. Each adds its value from its time on.
    pub fn from_changes(changes: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut at: Vec<(i64, i64)> = changes.into_iter().collect();
        at.sort_unstable();
        let mut total = 0i64;
        let mut steps = Self::default();
        for instant in at.chunk_by(|a, b| a.0 == b.0) {
            total = instant.iter().fold(total, |total, change| total.saturating_add(change.1));
            if let Some(&(time, _)) = instant.first() {
                steps.push(time, total as f64);
            }
        }
        steps
    }

    /// How many spans are open, of which these are the starts and the ends, both ascending.
    fn of_spans(starts: &[i64], ends: &[i64]) -> Self {
        let (mut starts, mut ends) = (Ascending(starts), Ascending(ends));
        let mut open = 0i64;
        let mut steps = Self::default();
        while let Some(time) = starts.first().into_iter().chain(ends.first()).min() {
            open += starts.take(time) as i64 - ends.take(time) as i64;
            steps.push(time, open as f64);
        }
        steps
    }

    /// Adds a step after the last; one that changes nothing is left out.
    fn push(&mut self, time: i64, value: f64) {
        if self.points.last().map_or(0.0, |last| last.1) != value {
            self.points.push((time, value));
        }
    }

    /// The mean over each cell between neighbouring `edges` (ascending, ms). If the edges include all steps, these are the
    /// exact values of the function. If they are coarser, areas are kept.
    pub fn cell_means(&self, edges: &[i64]) -> Vec<f64> {
        let mut next = 0;
        let mut value = 0.0;
        let mut means = Vec::with_capacity(edges.len().saturating_sub(1));
        for cell in edges.windows(2) {
            let &[from, to] = cell else { continue };
            let (mut area, mut since) = (0.0, from);
            while let Some(&(time, step)) = self.points.get(next).filter(|point| point.0 < to) {
                let until = time.max(from);
                area += value * (until - since) as f64;
                (since, value) = (until, step);
                next += 1;
            }
            area += value * (to - since) as f64;
            means.push(if to > from { area / (to - from) as f64 } else { value });
        }
        means
    }

    /// The mean of `|self − other|` from `from` to `to` (ms); 0 for an empty span.
    pub fn mean_difference(&self, other: &Self, from: i64, to: i64) -> f64 {
        if from >= to {
            return 0.0;
        }
        let times = self.points.iter().chain(&other.points).map(|point| point.0);
        let mut edges: Vec<i64> = times.filter(|time| (from..to).contains(time)).chain([from, to]).collect();
        edges.sort_unstable();
        edges.dedup();
        let values = self.cell_means(&edges).into_iter().zip(other.cell_means(&edges));
        let area: f64 = values.zip(edges.windows(2)).map(|((one, two), cell)| (one - two).abs() * width(cell)).sum();
        area / (to - from) as f64
    }

    /// The largest value, 0 for a function without steps.
    pub fn max(&self) -> f64 {
        self.points.iter().fold(0.0, |max, point| max.max(point.1))
    }

    /// The mean from `from` to `to` (ms); 0 for an empty span.
    pub fn mean(&self, from: i64, to: i64) -> f64 {
        if from < to { self.cell_means(&[from, to]).first().copied().unwrap_or(0.0) } else { 0.0 }
    }
}

/// Times that are taken in ascending order.
struct Ascending<'a>(&'a [i64]);

impl Ascending<'_> {
    fn first(&self) -> Option<i64> {
        self.0.first().copied()
    }

    /// Takes those at `time`, if they are next. Returns how many there were.
    fn take(&mut self, time: i64) -> usize {
        let count = self.0.iter().take_while(|at| **at == time).count();
        self.0 = self.0.get(count..).unwrap_or_default();
        count
    }
}

/// The time between two edges, ms.
fn width(cell: &[i64]) -> f64 {
    if let &[from, to] = cell { (to - from) as f64 } else { 0.0 }
}

/// Tasks of `kind` running over time (Coupling, Figs. 1, 2, 5, 6): attempts with `start ≤ t < finish`.
pub fn running_tasks<'a>(intervals: impl IntoIterator<Item = &'a Interval>, kind: TaskKind) -> Steps {
    let (mut starts, mut finishes) = (Vec::new(), Vec::new());
    for interval in intervals.into_iter().filter(|interval| interval.kind == kind) {
        starts.push(interval.start);
        finishes.push(interval.finish);
    }
    // A run has its attempts in the order of their ends, so that one of the sorts is a look.
    starts.sort_unstable();
    finishes.sort_unstable();
    Steps::of_spans(&starts, &finishes)
}

/// The CPUs that attempts hold over time, each those of an attempt of its job ([`JobMetrics::cpus_of_attempt`]).
pub fn cpus_held<'a>(jobs: &JobList, intervals: impl IntoIterator<Item = &'a Interval>) -> Steps {
    // Whole thousandths add up to 0 again.
    let thousandths = |job: &JobMetrics| job.cpus_of_attempt().map_or(0, |cpus| (cpus * 1e3).round() as i64);
    let of_jobs: Vec<i64> = jobs.iter().map(thousandths).collect();
    let of = |job: usize| of_jobs.get(job).copied().unwrap_or(0);
    let changes = intervals
        .into_iter()
        .flat_map(|interval| [(interval.start, of(interval.job)), (interval.finish, -of(interval.job))]);
    let mut steps = Steps::from_changes(changes);
    steps.points.iter_mut().for_each(|(_, held)| *held /= 1e3);
    steps
}

/// Queue length over time: the jobs that count, could start and have started no task.
pub fn queue_length(jobs: &[JobMetrics]) -> Steps {
    Steps::from_changes(counting(jobs).filter_map(waiting_span).flat_map(|(from, to)| [(from, 1), (to, -1)]))
}

fn waiting_span(job: &JobMetrics) -> Option<(i64, i64)> {
    let begin = job.begin()?;
    let end = job.waiting.map(|waiting| begin.saturating_add(waiting)).or(job.finish)?;
    (begin < end).then_some((begin, end))
}

/// Jain's fairness index over time, `(Σx)² / (n·Σx²)` (Jain, Chiu, Hawe 1984), where `x` is the number of running tasks
/// (maps and reduces together) of each of the `n` jobs that count and are in the system (`submit ≤ t < finish`): 1 if all hold equally many
/// slots, 1/n if one holds all. It is 0 while no task runs or no job is in the system.
pub fn jain_index(jobs: &JobList, intervals: &[Interval]) -> Steps {
    let tasks = || jobs.attempts_that_count(intervals).filter(|i| matches!(i.kind, TaskKind::Map | TaskKind::Reduce));
    if tasks().next().is_none() {
        return Steps::default();
    }
    let in_system =
        |job: &&JobMetrics| job.standing == Standing::Counts && job.submit.is_some() && job.finish.is_some();
    let mut submits: Vec<i64> = jobs.iter().filter(in_system).filter_map(|job| job.submit).collect();
    let mut ends: Vec<i64> = jobs.iter().filter(in_system).filter_map(|job| job.finish).collect();
    submits.sort_unstable();
    ends.sort_unstable();
    let mut starts: Vec<(i64, usize)> = tasks().map(|task| (task.start, task.job)).collect();
    let mut finishes: Vec<(i64, usize)> = tasks().map(|task| (task.finish, task.job)).collect();
    // Of one instant, they come in any order. Mostly the finishes are in order.
    starts.sort_unstable_by_key(|start| start.0);
    finishes.sort_unstable_by_key(|finish| finish.0);
    let (mut submits, mut ends) = (Ascending(&submits), Ascending(&ends));
    let (mut starts, mut finishes) = (starts.into_iter().peekable(), finishes.into_iter().peekable());
    let mut running = Running { of_jobs: vec![0; jobs.len()], sum: 0, squares: 0 };
    let mut n = 0i64;
    let mut steps = Steps::default();
    loop {
        let of_jobs = submits.first().into_iter().chain(ends.first());
        let of_tasks = starts.peek().into_iter().chain(finishes.peek()).map(|change| change.0);
        let Some(time) = of_jobs.chain(of_tasks).min() else { break };
        n += submits.take(time) as i64 - ends.take(time) as i64;
        while let Some((_, job)) = starts.next_if(|change| change.0 == time) {
            running.add(job, 1);
        }
        while let Some((_, job)) = finishes.next_if(|change| change.0 == time) {
            running.add(job, -1);
        }
        let fair = n > 0 && running.sum > 0 && running.squares > 0;
        let index = (running.sum as f64).powi(2) / (n as f64 * running.squares as f64);
        // A task that outlives its job's finish could push the index over 1.
        steps.push(time, if fair { index.min(1.0) } else { 0.0 });
    }
    steps
}

/// The running tasks of each job, their sum and the sum of their squares.
struct Running {
    of_jobs: Vec<i64>,
    sum: i64,
    squares: i64,
}

impl Running {
    fn add(&mut self, job: usize, change: i64) {
        let Some(tasks) = self.of_jobs.get_mut(job) else { return };
        self.squares = self.squares.saturating_add(change * (2 * *tasks + change));
        self.sum += change;
        *tasks += change;
    }
}

/// The mean of Jain's index over the time in which it is defined, `None` if it never is.
pub fn mean_jain_index(index: &Steps) -> Option<f64> {
    let spans = index.points.windows(2).filter_map(|pair| match pair {
        &[(from, value), (to, _)] if value > 0.0 => Some((value, (to - from) as f64)),
        _ => None,
    });
    let (area, time) = spans.fold((0.0, 0.0), |(area, time), (value, span)| (area + value * span, time + span));
    (time > 0.0).then(|| area / time)
}

/// Utilisation of `slots` slots by tasks of `kind` of the jobs that count: slot time used / slot time offered over the makespan, both
/// within the span of the run. `None` without such slots or such tasks.
pub fn utilisation(jobs: &JobList, intervals: &[Interval], kind: TaskKind, slots: u64) -> Option<f64> {
    let (first, last) = jobs.span().filter(|(first, last)| first < last)?;
    let of_kind = || jobs.attempts_that_count(intervals).filter(|interval| interval.kind == kind);
    let used = |interval: &Interval| (interval.finish.min(last) - interval.start.max(first)).max(0) as f64;
    let any = of_kind().next().is_some();
    (slots > 0 && any).then(|| of_kind().map(used).sum::<f64>() / (last - first) as f64 / slots as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(job: usize, start: i64, finish: i64) -> Interval {
        Interval { job, kind: TaskKind::Map, start, finish, succeeded: true, ..Interval::default() }
    }

    fn job(submit: i64, waiting: i64, finish: i64) -> JobMetrics {
        JobMetrics { submit: Some(submit), waiting: Some(waiting), finish: Some(finish), ..JobMetrics::default() }
    }

    #[test]
    fn a_slot_that_changes_hands_does_not_flicker() {
        let steps = running_tasks(&[map(0, 0, 10), map(1, 10, 20), map(1, 5, 20)], TaskKind::Map);
        assert_eq!(steps.points, [(0, 1.0), (5, 2.0), (20, 0.0)]);
        assert_eq!(steps.max(), 2.0);
    }

    #[test]
    fn cells_keep_values_and_areas() {
        let steps = Steps { points: vec![(0, 1.0), (5, 2.0), (20, 0.0)] };
        assert_eq!(steps.cell_means(&[0, 5, 20, 30]), [1.0, 2.0, 0.0]);
        assert_eq!(steps.cell_means(&[-10, 10, 30]), [0.75, 1.0]);
        assert_eq!(steps.mean(10, 15), 2.0);
        assert_eq!(steps.mean(10, 10), 0.0);
    }

    #[test]
    fn a_job_of_many_cpus_holds_them_all() {
        let wide = |cpus| JobMetrics { cpus: Some(cpus), ..job(0, 0, 40) };
        let jobs = JobList::from(vec![wide(64.0), wide(0.5), job(0, 0, 40)]);
        let held = cpus_held(&jobs, &[map(0, 0, 10), map(1, 5, 20), map(2, 0, 40)]);
        assert_eq!(held.points, [(0, 64.0), (5, 64.5), (10, 0.5), (20, 0.0)], "what is unknown holds nothing");
    }

    /// 1 against 0, then 2 against 1, then 2 against 3, for 5, 5 and 10 ms.
    #[test]
    fn differences_do_not_cancel_out() {
        let one = Steps { points: vec![(0, 1.0), (5, 2.0), (20, 0.0)] };
        let other = Steps { points: vec![(5, 1.0), (10, 3.0), (20, 0.0)] };
        assert_eq!(one.mean_difference(&other, 0, 20), 1.0);
        assert_eq!(one.mean_difference(&other, 15, 40), 5.0 / 25.0);
        assert_eq!(one.mean_difference(&one, 0, 20), 0.0);
        assert_eq!(one.mean_difference(&other, 20, 20), 0.0);
    }

    #[test]
    fn a_job_queues_until_its_first_task() {
        let queue = queue_length(&[job(0, 10, 50), job(5, 15, 60), job(7, 0, 9)]);
        assert_eq!(queue.points, [(0, 1.0), (5, 2.0), (10, 1.0), (20, 0.0)]);
    }

    /// Two jobs: alone 1; together with 2 and 0 tasks (2)²/(2·4) = 0.5; with 2 and 1 tasks 9/(2·5) = 0.9.
    #[test]
    fn jain_index_of_two_jobs() {
        let jobs = JobList::from(vec![job(0, 0, 40), job(10, 10, 40)]);
        let index = jain_index(&jobs, &[map(0, 0, 30), map(0, 0, 30), map(1, 20, 40)]);
        assert_eq!(index.points, [(0, 1.0), (10, 0.5), (20, 0.9), (30, 0.5), (40, 0.0)]);
        let mean = mean_jain_index(&index);
        assert!((mean.unwrap_or(0.0) - (10.0 + 5.0 + 9.0 + 5.0) / 40.0).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn utilisation_is_used_over_offered() {
        let jobs = JobList::from(vec![job(0, 0, 40), job(10, 0, 100)]);
        let used = utilisation(&jobs, &[map(0, 0, 40), map(1, 50, 110)], TaskKind::Map, 2);
        assert_eq!(used, Some(0.45));
        assert_eq!(utilisation(&jobs, &[], TaskKind::Map, 0), None);
    }
}
