//! Jobs by user, account, queue, width, limit, hour and so on: who waits, who gains and who loses.

use std::cell::OnceCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use resched_tables::clock::{Calendar, Zone};
use resched_tables::run::RunClock;
use resched_tables::words::count;
use serde::Serialize;

use crate::metrics::classes::Class;
use crate::metrics::named::{Sizes, hour_of_day};
use crate::runs::who::Who;
use crate::statistics::distribution::{mean, quantiles};
use crate::statistics::practical::Matters;
use crate::{JobMetrics, Run};
use resched_tables::standing::Standing;

/// How jobs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By the user who submitted them.
    User,
    /// By the account of Slurm, the application of Spark or the user group that they belong to.
    Account,
    /// By their queue, pool or partition.
    Queue,
    /// By the quality of service of Slurm.
    Qos,
    /// By their priority.
    Priority,
    /// By their size: the smaller half, the largest tenth, and the rest. The size is the number of tasks; for Slurm and batch systems,
    /// that of CPUs.
    Size,
    /// By the CPUs that they ask for.
    Cpus,
    /// By the GPUs that they ask for.
    Gpus,
    /// By the machines that they ask for.
    Nodes,
    /// By the memory that they ask for.
    Memory,
    /// By their time limit.
    Limit,
    /// By the hour of the day in which they were submitted: by the clock, or since the zero of a run whose trace has no dates.
    Hour,
    /// By the day in which they were submitted; of a run whose trace has no dates, the first is day 1.
    Day,
    /// By the week, which begins on Monday; without dates, the first is week 1.
    Week,
    /// By the month; unknown without dates.
    Month,
}

impl By {
    /// All of them, in the order in which tables show them.
    pub const ALL: [Self; 15] = [
        Self::User,
        Self::Account,
        Self::Queue,
        Self::Qos,
        Self::Priority,
        Self::Size,
        Self::Cpus,
        Self::Gpus,
        Self::Nodes,
        Self::Memory,
        Self::Limit,
        Self::Hour,
        Self::Day,
        Self::Week,
        Self::Month,
    ];

    /// The heading of such groups, in the usual words.
    pub fn heading(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Queue => "queue",
            Self::Qos => "QOS",
            Self::Priority => "priority",
            Self::Size => "size",
            Self::Cpus => "CPUs",
            Self::Gpus => "GPUs",
            Self::Nodes => "nodes",
            Self::Memory => "memory",
            Self::Limit => "time limit",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week from",
            Self::Month => "month",
        }
    }

    /// Its word, as users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Queue => "queue",
            Self::Qos => "qos",
            Self::Priority => "priority",
            Self::Size => "size",
            Self::Cpus => "cpus",
            Self::Gpus => "gpus",
            Self::Nodes => "nodes",
            Self::Memory => "memory",
            Self::Limit => "limit",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// True if groups have an order of their own. Others are ranked by what they lose.
    pub fn is_ordered(self) -> bool {
        !matches!(self, Self::User | Self::Account | Self::Queue | Self::Qos)
    }
}

/// The name of a group of which the trace or run does not say it.
pub const UNKNOWN: &str = "–";

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
    /// The mean change of the completion time against the baseline, over the jobs that finished in both; null for the baseline. Above 0, the
    /// group loses.
    pub change_ms: Option<f64>,
    /// The mean completion time divided by that in the baseline, less 1, over the jobs that finished in both; null for the
    /// baseline. Below 0, the group gains.
    pub change: Option<f64>,
    /// How many of these jobs completed sooner than in the baseline, by more than 5 % and more than a second: the rule of `diff`.
    pub sooner: Option<u64>,
    /// How many of these jobs completed later than in the baseline, by more than 5 % and more than a second.
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
    /// Its completion time divided by that in the baseline, or by 10 s if that is longer; null for the baseline itself.
    pub slowed: Option<f64>,
    /// Its bounded slowdown in this run.
    pub bounded_slowdown: Option<f64>,
}

/// The shortest completion time in the baseline that counts, ms. Ratios to shorter ones say little.
const SHORTEST_MS: i64 = 10_000;

/// The groups of the jobs that count, by name, each in every run. The run at the place `baseline` is the baseline. Hours are those of `zone`.
pub fn groups(runs: &[&Run], baseline: usize, by: By, zone: Zone) -> Vec<GroupRow> {
    let of_baseline = runs.get(baseline).map(|run| Completions::of(run));
    let mut rows: Vec<(Key<'_>, usize, GroupRow)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let base = of_baseline.as_ref().filter(|_| place != baseline);
        let groups = of_run(run, by, zone, base).into_iter();
        rows.extend(groups.map(|(key, jobs)| (key, place, row(key.name(), run, &jobs, base.is_some()))));
    }
    rows.sort_by(|(key, place, _), (other, of_other, _)| (key, place).cmp(&(other, of_other)));
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// The times of a job, ms. Groups keep them instead of the rows of their jobs, which lie far apart.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// True if it counts. If not, only its waiting does.
    ended: bool,
    completion: Option<i64>,
    waiting: Option<i64>,
    /// Its completion time in the baseline.
    before: Option<i64>,
}

/// The groups of the jobs of a run that count, in order of their first jobs.
fn of_run<'a>(run: &'a Run, by: By, zone: Zone, base: Option<&Completions<'_>>) -> Vec<(Key<'a>, Vec<Times>)> {
    let keys = Keys::of(run, by, zone);
    let mut numbers: HashMap<Key<'_>, usize> = HashMap::new();
    let mut groups: Vec<(Key<'_>, Vec<Times>)> = Vec::new();
    for (row, job) in run.jobs.iter().enumerate() {
        let [ended, started] = [Who::Ended, Who::Started].map(|who| job.is_among(who));
        if !ended && !started {
            continue;
        }
        let key = keys.key(job);
        let number = *numbers.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        let before = base.filter(|_| ended).and_then(|base| base.before(row, job));
        let completion = job.completion.filter(|_| ended);
        let times = Times { ended, completion, waiting: job.waiting.filter(|_| started), before };
        groups.get_mut(number).into_iter().for_each(|(_, jobs)| jobs.push(times));
    }
    groups.retain(|(_, jobs)| ended(jobs) > 0);
    groups
}

/// The groups of some jobs of a run, in order, and the place of the group of each job. Hours are those of `zone`.
pub fn group_of_each(run: &Run, jobs: &[&JobMetrics], by: By, zone: Zone) -> (Vec<String>, Vec<usize>) {
    let keys = Keys::of(run, by, zone);
    let of_jobs: Vec<Key<'_>> = jobs.iter().map(|job| keys.key(job)).collect();
    let mut all = of_jobs.clone();
    all.sort_unstable();
    all.dedup();
    let places = of_jobs.iter().map(|key| all.partition_point(|other| other < key)).collect();
    (all.iter().map(Key::name).collect(), places)
}

/// How many of these jobs count.
fn ended(jobs: &[Times]) -> u64 {
    jobs.iter().filter(|job| job.ended).count() as u64
}

/// The completion times of a group in several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Largest {
    /// The name of the group; `–` if it is unknown.
    pub group: String,
    /// How many jobs it has in the first run.
    pub jobs: u64,
    /// For each run, the median and the 95th percentile of the completion time, ms; `None` if no job of the group has one.
    pub completion_ms: Vec<[Option<f64>; 2]>,
}

/// The `most` groups that have the most jobs of those that every run has, those with most jobs in the first run first; equal ones by
/// name. Hours are those since the start of a run or of its day in UTC.
pub fn largest(runs: &[&Run], by: By, most: usize) -> Vec<Largest> {
    let mut in_runs = runs.iter().map(|run| of_run(run, by, Zone::default(), None));
    let mut found = in_runs.next().unwrap_or_default();
    let others: Vec<HashMap<Key<'_>, Vec<Times>>> = in_runs.map(|groups| groups.into_iter().collect()).collect();
    found.retain(|(key, _)| others.iter().all(|groups| groups.contains_key(key)));
    found.sort_by_cached_key(|(key, jobs)| (Reverse(ended(jobs)), key.name()));
    found.truncate(most);
    let times = |jobs: &[Times]| {
        let completions = jobs.iter().filter_map(|job| job.completion).map(|ms| ms as f64);
        quantiles(completions, [0.5, 0.95])
    };
    let largest = |(key, jobs): (Key<'_>, Vec<Times>)| Largest {
        group: key.name(),
        jobs: ended(&jobs),
        completion_ms: std::iter::once(times(&jobs))
            .chain(others.iter().map(|groups| groups.get(&key).map_or([None; 2], |jobs| times(jobs))))
            .collect(),
    };
    found.into_iter().map(largest).collect()
}

/// The most groups that a table shows.
const MOST_SHOWN: usize = 24;
/// How many jobs a group must have for a line of its own, if there are more groups than a table shows: the first of these that leaves at
/// least two groups.
const FLOORS: [u64; 3] = [10, 5, 2];

/// A group as it is ranked: how many jobs it has, and their mean change, if it is known.
type Group = (u64, Option<f64>);

/// Which of many groups a table shows, in its order: those that lose most first, those that gain most last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranked {
    /// The places of the groups that are shown.
    pub shown: Vec<usize>,
    /// The fewest jobs of a group that is shown.
    pub floor: u64,
    /// The places of the groups with fewer jobs.
    pub small: Vec<usize>,
    /// How many other groups lie between those that lose and those that gain most.
    pub between: usize,
}

/// Ranks groups by their mean change, each a number of jobs and the change, if it is known. Equal ones keep their order. If no change is
/// known, those with most jobs come first.
pub fn ranked(groups: &[(u64, Option<f64>)]) -> Ranked {
    let large = |floor: u64| groups.iter().filter(move |(jobs, _)| *jobs >= floor).count();
    let floor = match groups.len() > MOST_SHOWN {
        true => FLOORS.into_iter().find(|&floor| large(floor) >= 2).unwrap_or(1),
        false => 1,
    };
    let (mut shown, small): (Vec<(usize, &Group)>, Vec<_>) =
        groups.iter().enumerate().partition(|(_, (jobs, _))| *jobs >= floor);
    let is_known = shown.iter().any(|(_, (_, change))| change.is_some());
    let gain = |change: Option<f64>| change.map_or(f64::INFINITY, |change| -change);
    match is_known {
        true => shown.sort_by(|(_, (_, one)), (_, (_, other))| gain(*one).total_cmp(&gain(*other))),
        false => shown.sort_by_key(|(_, (jobs, _))| Reverse(*jobs)),
    }
    let between = shown.len().saturating_sub(MOST_SHOWN);
    let first = if is_known { MOST_SHOWN / 2 } else { MOST_SHOWN };
    if between > 0 {
        shown.drain(first..first + between);
    }
    let places = |groups: Vec<(usize, &Group)>| groups.into_iter().map(|(place, _)| place).collect();
    Ranked { shown: places(shown), floor, small: places(small), between }
}

impl Ranked {
    /// What a table leaves out, in words; empty if nothing.
    pub fn left_out(&self) -> String {
        let of = |groups: usize| match groups {
            1 => "1 group".to_owned(),
            groups => format!("{} groups", count(groups as u64)),
        };
        let small = match self.small.len() {
            0 => None,
            1 => Some(format!("1 group has fewer than {} jobs", self.floor)),
            small => Some(format!("{} have fewer than {} jobs", of(small), self.floor)),
        };
        let between = (self.between > 0)
            .then(|| format!("{} are not shown", of(self.between)).replace("1 group are", "1 group is"));
        small.into_iter().chain(between).collect::<Vec<_>>().join("; ")
    }
}

/// The groups that a table shows, by name, and what it leaves out in words. Users, accounts and queues are ranked, the group with the
/// largest loss under any policy first. Priorities, sizes, classes, hours and days keep their order.
pub fn shown(by: By, rows: &[GroupRow]) -> (Vec<&str>, String) {
    let mut names: Vec<&str> = Vec::new();
    let mut found: BTreeMap<&str, (u64, Option<f64>)> = BTreeMap::new();
    for row in rows {
        let (jobs, loss) = found.entry(&row.group).or_insert_with(|| {
            names.push(&row.group);
            (0, None)
        });
        *jobs = row.jobs.max(*jobs);
        *loss = [*loss, row.change_ms].into_iter().flatten().reduce(f64::max);
    }
    let groups: Vec<(u64, Option<f64>)> = names.iter().filter_map(|name| found.get(name).copied()).collect();
    let ranked = ranked(&groups);
    let mut places = ranked.shown.clone();
    if by.is_ordered() {
        places.sort_unstable();
    }
    (places.into_iter().filter_map(|place| names.get(place).copied()).collect(), ranked.left_out())
}

/// The jobs of `run` that were slowed most, by a factor above 1, the worst first: against the baseline, or without one, by their bounded
/// slowdown. Equal ones stand in the order of the jobs table.
pub fn most_slowed<'a>(run: &'a Run, baseline: Option<&'a Run>, count: usize) -> Vec<SlowedJob> {
    let base = baseline.map(Completions::of);
    let factor = |(row, job): (usize, &'a JobMetrics)| {
        let before = base.as_ref().and_then(|base| base.before(row, job));
        let slowed = match baseline {
            Some(_) => job.completion? as f64 / before?.max(SHORTEST_MS) as f64,
            None => job.bounded_slowdown?,
        };
        (slowed > 1.0).then_some((slowed, job, job.completion?, before))
    };
    let counting = run.jobs.iter().enumerate().filter(|(_, job)| job.standing == Standing::Counts);
    let mut all: Vec<(f64, &JobMetrics, i64, Option<i64>)> = counting.filter_map(factor).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let slowed =
        |(slowed, job, completion_ms, baseline_completion_ms): (f64, &JobMetrics, i64, Option<i64>)| SlowedJob {
            job_id: job.job_id.clone(),
            name: job.name.as_deref().map(str::to_owned),
            user: job.user.as_deref().map(str::to_owned),
            queue: job.queue.as_deref().map(str::to_owned),
            run: run.label.clone(),
            completion_ms,
            baseline_completion_ms,
            slowed: baseline.is_some().then_some(slowed),
            bounded_slowdown: job.bounded_slowdown,
        };
    all.into_iter().take(count).map(slowed).collect()
}

/// The name of a group; unknown groups are last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key<'a> {
    Number(i64),
    Text(&'a str),
    Class(Class),
    /// A part of the calendar, by its first day.
    Period(i64, Calendar),
    Unknown,
}

/// How the jobs of a run are put in groups.
struct Keys {
    by: By,
    sizes: Option<Sizes>,
    clock: RunClock,
    zone: Zone,
}

impl Keys {
    fn of(run: &Run, by: By, zone: Zone) -> Self {
        Self { by, sizes: (by == By::Size).then(|| Sizes::of(run)), clock: run.clock(), zone }
    }

    fn hour(&self, submit: i64) -> i64 {
        match self.clock.date(submit) {
            Some(date) => hour_of_day(date.saturating_add(i64::from(self.zone.ahead(date)) * 60_000)),
            None => hour_of_day(submit),
        }
    }

    /// The part of the calendar of a submission; of a trace without dates, the number of days or weeks since its zero, from 1.
    fn period(&self, submit: i64, calendar: Calendar) -> Key<'static> {
        let Some(date) = self.clock.date(submit) else {
            let days = submit.div_euclid(86_400_000);
            return match calendar {
                Calendar::Day => Key::Number(days + 1),
                Calendar::Week => Key::Number(days.div_euclid(7) + 1),
                Calendar::Month => Key::Unknown,
            };
        };
        calendar.first_day(date, self.zone).map_or(Key::Unknown, |first| Key::Period(first, calendar))
    }

    fn key<'a>(&self, job: &'a JobMetrics) -> Key<'a> {
        let text = |text: &'a Option<Arc<str>>| text.as_deref().map_or(Key::Unknown, Key::Text);
        let class = |class: Option<Class>| class.map_or(Key::Unknown, Key::Class);
        let count = |count: Option<i64>| class(count.map(|count| Class::of_count(count as f64)));
        let period = |calendar| job.submit.map_or(Key::Unknown, |submit| self.period(submit, calendar));
        match self.by {
            By::User => text(&job.user),
            By::Account => text(&job.group),
            By::Queue => text(&job.queue),
            By::Qos => text(&job.qos),
            By::Cpus => class(job.cpus.map(Class::of_count)),
            By::Gpus => count(job.gpus),
            By::Nodes => count(job.nodes),
            By::Memory => class(job.memory.map(Class::of_bytes)),
            By::Limit => class(job.limit.map(Class::of_time)),
            By::Priority => match (job.priority_number, job.priority) {
                (Some(number), _) => Key::Number(number),
                (None, Some(word)) => Key::Text(word.as_str()),
                (None, None) => Key::Unknown,
            },
            By::Size => self.sizes.map_or(Key::Unknown, |sizes| Key::Text(sizes.class(job))),
            By::Hour => job.submit.map_or(Key::Unknown, |submit| Key::Number(self.hour(submit))),
            By::Day => period(Calendar::Day),
            By::Week => period(Calendar::Week),
            By::Month => period(Calendar::Month),
        }
    }
}

impl Key<'_> {
    fn name(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => (*text).to_owned(),
            Self::Class(class) => class.to_string(),
            Self::Period(first, calendar) => calendar.name(*first).unwrap_or_else(|| first.to_string()),
            Self::Unknown => UNKNOWN.to_owned(),
        }
    }
}

/// The completion times of the jobs of a run that count.
struct Completions<'a> {
    run: &'a Run,
    /// By id, from when the rows do not say it.
    by_id: OnceCell<HashMap<&'a str, i64>>,
}

impl<'a> Completions<'a> {
    fn of(run: &'a Run) -> Self {
        Self { run, by_id: OnceCell::new() }
    }

    /// The time of the job with the id of `job`, which is in this row of another run. Most runs have the same jobs in the same rows.
    fn before(&self, row: usize, job: &JobMetrics) -> Option<i64> {
        match self.run.jobs.get(row).filter(|other| other.job_id == job.job_id) {
            Some(before) => before.completion.filter(|_| before.standing == Standing::Counts),
            None => {
                let all = || self.run.finished_jobs().filter_map(|job| Some((job.job_id.as_str(), job.completion?)));
                self.by_id.get_or_init(|| all().collect()).get(job.job_id.as_str()).copied()
            }
        }
    }
}

/// The row of a group of jobs of `run`.
fn row(group: String, run: &Run, jobs: &[Times], is_compared: bool) -> GroupRow {
    let times =
        |of: fn(&Times) -> Option<i64>| quantiles(jobs.iter().filter_map(of).map(|ms| ms as f64), [0.5, 0.95, 0.99]);
    let [completion_p50_ms, completion_p95_ms, completion_p99_ms] = times(|job| job.completion);
    let [waiting_p50_ms, waiting_p95_ms, waiting_p99_ms] = times(|job| job.waiting);
    let pair = |job: &Times| job.before.zip(job.completion);
    let pairs = is_compared.then(|| jobs.iter().filter_map(pair).collect::<Vec<(i64, i64)>>());
    let count = |way: Ordering| {
        let is = |(before, now): &&(i64, i64)| Matters::default().change(*before as f64, *now as f64) == way;
        pairs.as_ref().map(|pairs| pairs.iter().filter(is).count() as u64)
    };
    let change = pairs.as_ref().and_then(|pairs| {
        let before = mean(&pairs.iter().map(|pair| pair.0 as f64).collect::<Vec<_>>()).filter(|&ms| ms > 0.0)?;
        Some(mean(&pairs.iter().map(|pair| pair.1 as f64).collect::<Vec<_>>())? / before - 1.0)
    });
    let change_ms = pairs.as_ref().and_then(|pairs| {
        mean(&pairs.iter().map(|(before, now)| now.saturating_sub(*before) as f64).collect::<Vec<_>>())
    });
    GroupRow {
        group,
        run: run.label.clone(),
        jobs: ended(jobs),
        completion_p50_ms,
        completion_p95_ms,
        completion_p99_ms,
        waiting_p50_ms,
        waiting_p95_ms,
        waiting_p99_ms,
        change_ms,
        change,
        sooner: count(Ordering::Less),
        later: count(Ordering::Greater),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Origin;

    /// Jobs with a user, a completion time (s) and an hour of submission.
    fn run(label: &str, jobs: &[(&str, i64, i64)]) -> Run {
        let job = |(number, &(user, completion, hour)): (u32, &(&str, i64, i64))| JobMetrics {
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
            spread: std::collections::BTreeMap::new(),
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
        let rows = groups(&[&first, &second], 0, By::User, Zone::default());
        let reported: Vec<_> =
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
        assert_eq!(reported, expected);
        let ann = rows.get(1).unwrap();
        assert_eq!((ann.completion_p50_ms, ann.sooner, ann.later), (Some(15_000.0), Some(2), Some(0)));
        assert_eq!(ann.waiting_p99_ms, None, "no waiting time is known");
    }

    #[test]
    fn of_the_largest_groups_only_those_of_every_run_count() {
        let jobs =
            |of: &[(&'static str, i64)]| of.iter().map(|&(user, seconds)| (user, seconds, 9)).collect::<Vec<_>>();
        let first = run(
            "fifo",
            &jobs(&[("e", 4), ("d", 3), ("c", 2), ("b", 1), ("b", 3), ("only", 9), ("only", 9), ("only", 9)]),
        );
        let second = run("fair", &jobs(&[("b", 6), ("c", 5), ("d", 7), ("e", 8)]));
        let found = largest(&[&first, &second], By::User, 3);
        let names: Vec<(&str, u64)> = found.iter().map(|group| (group.group.as_str(), group.jobs)).collect();
        assert_eq!(names, [("b", 2), ("c", 1), ("d", 1)], "equal ones are ordered by name");
        assert_eq!(found[0].completion_ms, [[Some(2e3), Some(2.9e3)], [Some(6e3), Some(6e3)]]);
        assert_eq!(largest(&[], By::User, 3), []);
    }

    #[test]
    fn hours_are_those_of_the_clock() {
        let (mut run, _) = pair();
        let clock = resched_tables::run::RunClock { zero: 30 * 60_000, start: 0, dated: true };
        run.origin =
            Origin::Replay(Box::new(resched_tables::run::RunInfo { clock: Some(clock), ..Default::default() }));
        let hours = |zone: &str| -> Vec<String> {
            groups(&[&run], 0, By::Hour, zone.parse().unwrap()).into_iter().map(|row| row.group).collect()
        };
        assert_eq!(hours("UTC"), ["9", "10", "23"], "half an hour after the hour");
        assert_eq!(hours("+02:30"), ["2", "12", "13"]);
    }

    /// 30 hours apart, from a Sunday evening before a new month in a zone where it is Monday, the first, already.
    #[test]
    fn days_weeks_and_months_are_those_of_the_zone() {
        let mut run = run("fifo", &[("ann", 1, 0), ("ann", 1, 30), ("ann", 1, 24 * 31)]);
        let names = |run: &Run, by: By, zone: &str| -> Vec<String> {
            groups(&[run], 0, by, zone.parse().unwrap()).into_iter().map(|row| row.group).collect()
        };
        assert_eq!(
            [By::Day, By::Week, By::Month].map(|by| names(&run, by, "UTC")),
            [
                vec!["1".to_owned(), "2".to_owned(), "32".to_owned()],
                vec!["1".to_owned(), "5".to_owned()],
                vec!["–".to_owned()]
            ]
        );
        // 2026-05-31T23:00Z is a Sunday.
        let clock = resched_tables::run::RunClock { zero: 1_780_268_400_000, start: 0, dated: true };
        run.origin =
            Origin::Replay(Box::new(resched_tables::run::RunInfo { clock: Some(clock), ..Default::default() }));
        assert_eq!(names(&run, By::Day, "UTC"), ["2026-05-31", "2026-06-02", "2026-07-01"]);
        assert_eq!(names(&run, By::Week, "UTC"), ["2026-05-25", "2026-06-01", "2026-06-29"]);
        assert_eq!(names(&run, By::Month, "UTC"), ["2026-05", "2026-06", "2026-07"]);
        assert_eq!(names(&run, By::Day, "+02:00"), ["2026-06-01", "2026-06-02", "2026-07-02"]);
        assert_eq!(names(&run, By::Month, "+02:00"), ["2026-06", "2026-07"]);
    }

    #[test]
    fn hours_are_in_order_and_sizes_have_three_classes() {
        let (first, _) = pair();
        let names = |by| {
            groups(&[&first], 0, by, Zone::default()).into_iter().map(|row| (row.group, row.jobs)).collect::<Vec<_>>()
        };
        assert_eq!(names(By::Hour), [("9".to_owned(), 2), ("10".to_owned(), 1), ("23".to_owned(), 1)]);
        assert_eq!(names(By::Size), [("large".to_owned(), 1), ("medium".to_owned(), 1), ("small".to_owned(), 2)]);
        assert_eq!(names(By::Queue), [("–".to_owned(), 4)]);
    }

    /// 3 % later, and half a second of a second later: neither is a job that gets slower in `diff`.
    #[test]
    fn jobs_count_as_later_from_the_change_on_that_matters() {
        let times = |all: [i64; 4]| all.map(|ms| ("ann", ms, 9));
        let run = |label: &str, all: [i64; 4]| {
            let mut run = run(label, &times(all));
            for row in 0..4 {
                let completion = run.jobs[row].completion;
                run.jobs[row].completion = completion.map(|ms| ms / 1_000);
            }
            run
        };
        let (first, second) =
            (run("fifo", [100_000, 1_000, 100_000, 100_000]), run("fair", [103_000, 1_500, 106_000, 94_000]));
        let rows = groups(&[&first, &second], 0, By::User, Zone::default());
        assert_eq!(rows.get(1).map(|row| (row.sooner, row.later)), Some((Some(1), Some(1))));
    }

    #[test]
    fn jobs_stand_in_classes_of_what_they_ask_for() {
        let (mut run, _) = pair();
        for (row, (cpus, gpus, limit)) in
            [(1.0, 0, 5), (40.0, 2, 60), (64.0, 0, 600), (3.0, 8, 61)].into_iter().enumerate()
        {
            let job = &mut run.jobs[row];
            (job.cpus, job.gpus, job.limit) = (Some(cpus), Some(gpus), Some(limit * 60_000));
            job.qos = (row > 0).then(|| "long".into());
        }
        let names = |by| {
            groups(&[&run], 0, by, Zone::default()).into_iter().map(|row| (row.group, row.jobs)).collect::<Vec<_>>()
        };
        let expected =
            |all: &[(&str, u64)]| all.iter().map(|(name, jobs)| ((*name).to_owned(), *jobs)).collect::<Vec<_>>();
        assert_eq!(names(By::Cpus), expected(&[("1", 1), ("2–4", 1), ("17–64", 2)]));
        assert_eq!(names(By::Gpus), expected(&[("0", 2), ("2–4", 1), ("5–16", 1)]));
        assert_eq!(names(By::Limit), expected(&[("up to 15 min", 1), ("15–60 min", 1), ("1–4 h", 1), ("4–12 h", 1)]));
        assert_eq!(names(By::Qos), expected(&[("long", 3), ("–", 1)]));
        assert_eq!(names(By::Nodes), expected(&[("–", 4)]), "unknown is no class of 0");
    }

    #[test]
    fn of_many_groups_those_that_lose_and_gain_most_are_shown() {
        // 216 users: each loses or gains its number in seconds; every third has too few jobs.
        let groups: Vec<(u64, Option<f64>)> =
            (0..216u32).map(|user| (if user % 3 == 0 { 1 } else { 50 }, Some(f64::from(user) * 1e3 - 100e3))).collect();
        let found = ranked(&groups);
        assert_eq!((found.floor, found.small.len(), found.between, found.shown.len()), (10, 72, 120, 24));
        assert_eq!((found.shown[..3].to_vec(), found.shown[21..].to_vec()), (vec![215, 214, 212], vec![4, 2, 1]));
        assert_eq!(found.left_out(), "72 groups have fewer than 10 jobs; 120 groups are not shown");
        let few = ranked(&[(1, Some(-1.0)), (7, None), (2, Some(5.0))]);
        assert_eq!((few.shown, few.floor, few.between), (vec![2, 0, 1], 1, 0));
        let alone: Vec<(u64, Option<f64>)> = (0..30).map(|jobs| (jobs + 10, None)).collect();
        assert_eq!(ranked(&alone).shown[..2], [29, 28], "without a baseline, the largest come first");
    }

    #[test]
    fn the_group_that_loses_most_is_the_first() {
        let (first, second) = pair();
        let rows = groups(&[&first, &second], 0, By::User, Zone::default());
        assert_eq!(shown(By::User, &rows), (vec!["bob", "–", "ann"], String::new()));
        assert_eq!(rows.get(1).unwrap().change_ms, Some(-15_000.0));
        let rows = groups(&[&first, &second], 0, By::Hour, Zone::default());
        assert_eq!(shown(By::Hour, &rows).0, ["9", "10", "23"]);
    }

    #[test]
    fn the_most_slowed_jobs_are_the_worst_first() {
        let (first, second) = pair();
        let ids = |jobs: Vec<SlowedJob>| {
            jobs.into_iter().map(|job| (job.job_id, job.slowed, job.bounded_slowdown)).collect::<Vec<_>>()
        };
        // 30 s after 10 s. The others take no longer, and 5 s would count as 10 s.
        let worst = most_slowed(&second, Some(&first), 2);
        assert_eq!(ids(worst), [("j1".to_owned(), Some(3.0), Some(30.0))]);
        assert_eq!(
            ids(most_slowed(&first, None, 1)),
            [("j3".to_owned(), None, Some(40.0))],
            "nothing to compare it with"
        );
    }
}
