//! Two runs of the same jobs: who gains and who loses, and through which phase.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use resched_tables::store::System;
use resched_tables::words::{count, duration, name};
use serde::Serialize;

use super::held::Why;
use super::in_short::by_phase;
use super::phase::Phase;
use super::timeline::stretches;
use crate::metrics::classes::Class;
use crate::metrics::groups::UNKNOWN;
use crate::metrics::named::{SizeBy, Sizes};
use crate::statistics::distribution::mean;
use crate::statistics::estimate::Estimate;
use crate::statistics::practical::Matters;
use crate::statistics::repeats::t_interval;

/// The time of a job by phase.
#[derive(Debug, Clone)]
pub struct JobTime {
    job_id: String,
    user: Option<Arc<str>>,
    queue: Option<Arc<str>>,
    account: Option<Arc<str>>,
    qos: Option<Arc<str>>,
    /// By what [`SizeBy`] says.
    size: u64,
    /// What it asks for: CPUs, GPUs, machines and time.
    asks: [Option<Class>; 4],
    completion: i64,
    /// In the order of [`Phase::ALL`].
    phases: [i64; Phase::ALL.len()],
}

impl JobTime {
    /// The id of the job.
    pub fn job_id(&self) -> &str {
        &self.job_id
    }

    /// How long it was in a phase, ms.
    pub fn phase(&self, phase: Phase) -> i64 {
        self.phases.get(phase as usize).copied().unwrap_or(0)
    }
}

impl Why {
    /// The times of the jobs that count.
    pub fn times(&self) -> Vec<JobTime> {
        let mut changes = Vec::new();
        let by = SizeBy::of(Some(self.system), self.counted().filter_map(|row| self.jobs.get(row)));
        let mut time = |row: usize| {
            let job = self.jobs.get(row)?;
            let mut of_job = Vec::new();
            stretches(self, row, &mut changes, &mut |stretch| of_job.push(stretch));
            let count = |count: Option<i64>| count.map(|count| Class::of_count(count as f64));
            Some(JobTime {
                job_id: job.job_id.clone(),
                user: job.user.clone(),
                queue: job.queue.clone(),
                account: job.group.clone(),
                qos: job.qos.clone(),
                size: match by {
                    SizeBy::Tasks => self.attempts_of(row).iter().filter(|attempt| !attempt.again).count() as u64,
                    SizeBy::Cpus => by.size(job),
                },
                asks: [job.cpus.map(Class::of_count), count(job.gpus), count(job.nodes), job.limit.map(Class::of_time)],
                completion: self.completion(row)?,
                phases: by_phase(&of_job),
            })
        };
        self.counted().filter_map(&mut time).collect()
    }
}

/// How the jobs fare in a run, compared with another run of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The label of the run that is compared with.
    pub baseline: String,
    /// The label of the run.
    pub run: String,
    /// As [`Why::system`].
    #[serde(skip)]
    pub system: System,
    /// The number of pairs of runs, one for each seed. Times are means over them.
    pub seeds: u64,
    /// The relative change from which on a job counts as slower or faster.
    pub matters: Matters,
    /// The number of jobs that count in all runs. Others are not compared.
    pub jobs: u64,
    /// All jobs together.
    pub all: DiffGroup,
    /// The time in each phase, over all jobs; phases without time are left out.
    pub phases: Vec<Moved>,
    /// The groups of jobs by `user`, `queue` and `size`, those that lose most first. For Slurm and batch systems also by `account`, `QOS`,
    /// `CPUs`, `GPUs`, `nodes` and `time limit`, as far as these tell jobs apart; classes of numbers stand in their order.
    pub groups: BTreeMap<&'static str, Vec<DiffGroup>>,
    /// The jobs that get slower or faster, the largest change first.
    pub changed: Vec<Changed>,
    /// The comparison in words.
    pub sentences: Vec<String>,
}

/// A mean change, ms, with its 95 % interval over the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The mean change.
    pub value: f64,
    /// The lower end of the interval; null for one seed, which does not show the spread.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

impl Change {
    /// Of the changes of the seeds.
    fn of(changes: &[f64]) -> Self {
        let Some(Estimate { value, low, high }) = t_interval(changes) else {
            return Self { value: 0.0, low: None, high: None };
        };
        let end = |end: f64| (changes.len() > 1).then_some(end);
        Self { value, low: end(low), high: end(high) }
    }
}

/// The jobs of a group in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffGroup {
    /// The name of the group; `–` if it is unknown.
    pub group: String,
    /// How many jobs there are.
    pub jobs: u64,
    /// How many of them get slower.
    pub slower: u64,
    /// How many of them get faster.
    pub faster: u64,
    /// The mean completion time in the run that is compared with, ms.
    pub before_ms: f64,
    /// The mean completion time in the run, ms.
    pub after_ms: f64,
    /// The mean change, ms.
    pub change_ms: Change,
    /// The phase through which most of the change comes; null if nothing changes.
    pub through: Option<Phase>,
    /// The mean change in that phase, ms.
    pub through_ms: f64,
}

/// The time of all jobs in a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// The phase.
    pub phase: Phase,
    /// The mean time of a job in the run that is compared with, ms.
    pub before_ms: f64,
    /// The mean time of a job in the run, ms.
    pub after_ms: f64,
    /// The mean change, ms.
    pub change_ms: Change,
}

/// A job that gets slower or faster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// Its id.
    pub job_id: String,
    /// Who submitted it.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// Its class: `small`, `medium` or `large`.
    pub size: &'static str,
    /// Its mean completion time in the run that is compared with, ms.
    pub before_ms: f64,
    /// Its mean completion time in the run, ms.
    pub after_ms: f64,
    /// The lower end of the 95 % interval of the mean change over the seeds, ms; null for one seed.
    pub change_from_ms: Option<f64>,
    /// The upper end of that interval, ms.
    pub change_to_ms: Option<f64>,
    /// The phase through which most of the change comes.
    pub through: Option<Phase>,
    /// The mean change in that phase, ms.
    pub through_ms: f64,
}

/// What a comparison must know of a run beside its times.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Its label.
    pub label: &'a str,
    /// As [`Why::has_reasons`].
    pub has_reasons: bool,
    /// True if it is what really ran. The difference of its replay from it is then the error of the model: nobody gains or loses, and
    /// phases that a log does not know are not compared.
    pub is_observed: bool,
    /// As [`Why::system`].
    pub system: System,
}

/// What is wrong with comparing the phases of these runs, if anything.
fn caveat(baseline: Side<'_>, run: Side<'_>) -> Option<String> {
    let (with, without) = match (baseline.has_reasons, run.has_reasons) {
        (true, false) => (baseline, run),
        (false, true) => (run, baseline),
        (true, true) | (false, false) => return None,
    };
    Some(format!(
        "Only {} has the reasons why jobs were passed over; in {}, every wait counts as a wait for free resources. Compare the \
         phases of waits with care, or replay both with --decisions.",
        name(with.label),
        name(without.label)
    ))
}

/// A job with its times over the seeds.
struct Pair<'a> {
    job: &'a JobTime,
    before: Vec<f64>,
    after: Vec<f64>,
    /// The change of each phase, summed over the seeds.
    moved: [i64; Phase::ALL.len()],
    verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Slower,
    Faster,
    Same,
}

impl Diff {
    /// Compares runs by pairs, one for each seed: first the run that is compared with, then the run.
    pub fn of([baseline, run]: [Side<'_>; 2], pairs: &[(Vec<JobTime>, Vec<JobTime>)], matters: Matters) -> Self {
        let mut jobs = paired(pairs, matters);
        if baseline.is_observed {
            jobs.iter_mut().for_each(|pair| pair.moved = [0; Phase::ALL.len()]);
        }
        let jobs = jobs;
        let system = System::of_all([baseline.system, run.system]);
        let sizes = Sizes::of_sizes(SizeBy::Tasks, jobs.iter().map(|pair| pair.job.size).collect());
        let all: Vec<&Pair<'_>> = jobs.iter().collect();
        let text = |text: &Option<Arc<str>>| text.as_deref().unwrap_or("–").to_owned();
        let by = |name: &dyn Fn(&JobTime) -> String| {
            let mut groups: BTreeMap<String, Vec<&Pair<'_>>> = BTreeMap::new();
            for pair in &jobs {
                groups.entry(name(pair.job)).or_default().push(pair);
            }
            let mut groups: Vec<DiffGroup> = groups.into_iter().map(|(name, jobs)| group(name, &jobs)).collect();
            // Those that lose most come first; equal ones stand in the order of their names.
            groups.sort_by(|one, other| other.change_ms.value.total_cmp(&one.change_ms.value));
            groups
        };
        let mut groups = BTreeMap::from([
            ("user", by(&|job| text(&job.user))),
            ("queue", by(&|job| text(&job.queue))),
            ("size", by(&|job| sizes.class_of(job.size).to_owned())),
        ]);
        // What only some systems have is a table only where it distinguishes jobs.
        let mut add = |heading, rows: Vec<DiffGroup>| {
            if rows.iter().filter(|row| row.group != UNKNOWN).count() > 1 {
                groups.insert(heading, rows);
            }
        };
        if system.asks_for_cpus() {
            add("account", by(&|job| text(&job.account)));
            add("QOS", by(&|job| text(&job.qos)));
            for (place, heading) in ["CPUs", "GPUs", "nodes", "time limit"].into_iter().enumerate() {
                let class = |job: &JobTime| job.asks.get(place).copied().flatten();
                let mut rows = by(&|job| class(job).map_or_else(|| UNKNOWN.to_owned(), |class| class.to_string()));
                // Classes stand in the order of their numbers.
                let mut order: Vec<Class> = jobs.iter().filter_map(|pair| class(pair.job)).collect();
                order.sort_unstable();
                order.dedup();
                let names: Vec<String> = order.iter().map(Class::to_string).collect();
                rows.sort_by_key(|row| names.iter().position(|name| *name == row.group).unwrap_or(names.len()));
                add(heading, rows);
            }
        }
        let mut changed: Vec<Changed> =
            jobs.iter().filter(|pair| pair.verdict != Verdict::Same).map(|pair| pair.changed(sizes)).collect();
        changed.sort_by(|a, b| (b.after_ms - b.before_ms).abs().total_cmp(&(a.after_ms - a.before_ms).abs()));
        Self {
            baseline: baseline.label.to_owned(),
            run: run.label.to_owned(),
            system,
            seeds: pairs.len() as u64,
            matters,
            jobs: jobs.len() as u64,
            all: group("all".to_owned(), &all),
            phases: if baseline.is_observed { Vec::new() } else { phases(pairs, &jobs) },
            groups,
            changed,
            sentences: match baseline.is_observed {
                true => vec![beside(&jobs, matters)],
                false => sentences(&jobs, matters, system).into_iter().chain(caveat(baseline, run)).collect(),
            },
        }
    }
}

/// The jobs that every run has, in the order of the first.
fn paired(pairs: &[(Vec<JobTime>, Vec<JobTime>)], matters: Matters) -> Vec<Pair<'_>> {
    let index = |jobs: &'_ [JobTime]| -> HashMap<String, usize> {
        jobs.iter().enumerate().map(|(place, job)| (job.job_id.clone(), place)).collect()
    };
    let indices: Vec<[HashMap<String, usize>; 2]> =
        pairs.iter().map(|(before, after)| [index(before), index(after)]).collect();
    let Some((first, _)) = pairs.first() else { return Vec::new() };
    let pair = |job| {
        let mut pair =
            Pair { job, before: Vec::new(), after: Vec::new(), moved: [0; Phase::ALL.len()], verdict: Verdict::Same };
        for ((before, after), [in_before, in_after]) in pairs.iter().zip(&indices) {
            let before = before.get(*in_before.get(&job.job_id)?)?;
            let after = after.get(*in_after.get(&job.job_id)?)?;
            pair.before.push(before.completion as f64);
            pair.after.push(after.completion as f64);
            for ((moved, before), after) in pair.moved.iter_mut().zip(before.phases).zip(after.phases) {
                *moved += after - before;
            }
        }
        pair.verdict = pair.judge(matters);
        Some(pair)
    };
    first.iter().filter_map(pair).collect()
}

impl Pair<'_> {
    fn means(&self) -> (f64, f64) {
        (mean(&self.before).unwrap_or(0.0), mean(&self.after).unwrap_or(0.0))
    }

    fn change(&self) -> Change {
        let changes: Vec<f64> = self.after.iter().zip(&self.before).map(|(after, before)| after - before).collect();
        Change::of(&changes)
    }

    /// Slower or faster is a job whose completion time changes by more than matters, for certain where there are several seeds.
    fn judge(&self, matters: Matters) -> Verdict {
        let ((before, after), change) = (self.means(), self.change());
        match matters.change(before, after) {
            Ordering::Greater if change.low.is_none_or(|low| low > 0.0) => Verdict::Slower,
            Ordering::Less if change.high.is_none_or(|high| high < 0.0) => Verdict::Faster,
            _ => Verdict::Same,
        }
    }

    fn changed(&self, sizes: Sizes) -> Changed {
        let ((before_ms, after_ms), change) = (self.means(), self.change());
        let (through, through_ms) = through(&[self]);
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        Changed {
            job_id: self.job.job_id.clone(),
            user: text(&self.job.user),
            queue: text(&self.job.queue),
            size: sizes.class_of(self.job.size),
            before_ms,
            after_ms,
            change_from_ms: change.low,
            change_to_ms: change.high,
            through,
            through_ms,
        }
    }
}

/// The phase that changes most in the direction in which the completion time changes, and its mean change.
fn through(jobs: &[&Pair<'_>]) -> (Option<Phase>, f64) {
    let sums = Phase::ALL.map(|phase| {
        let moved = |pair: &&Pair<'_>| pair.moved.get(phase as usize).copied().unwrap_or(0);
        (jobs.iter().map(moved).sum::<i64>(), phase)
    });
    let all: i64 = sums.iter().map(|(moved, _)| moved).sum();
    let most = sums.into_iter().max_by_key(|&(moved, phase)| (moved * all.signum(), Reverse(phase)));
    let seeds = jobs.first().map_or(1, |pair| pair.before.len()).max(1);
    match most {
        Some((moved, phase)) if all != 0 => (Some(phase), moved as f64 / (seeds * jobs.len().max(1)) as f64),
        _ => (None, 0.0),
    }
}

fn group(name: String, jobs: &[&Pair<'_>]) -> DiffGroup {
    let of = |verdict| jobs.iter().filter(|pair| pair.verdict == verdict).count() as u64;
    let over =
        |pick: fn(&Pair<'_>) -> f64| mean(&jobs.iter().map(|pair| pick(pair)).collect::<Vec<f64>>()).unwrap_or(0.0);
    let seeds = jobs.first().map_or(0, |pair| pair.before.len());
    let of_seed = |seed: usize| {
        let change = |pair: &&Pair<'_>| Some(pair.after.get(seed)? - pair.before.get(seed)?);
        mean(&jobs.iter().filter_map(change).collect::<Vec<f64>>()).unwrap_or(0.0)
    };
    let changes: Vec<f64> = (0..seeds).map(of_seed).collect();
    let (through, through_ms) = through(jobs);
    DiffGroup {
        group: name,
        jobs: jobs.len() as u64,
        slower: of(Verdict::Slower),
        faster: of(Verdict::Faster),
        before_ms: over(|pair| pair.means().0),
        after_ms: over(|pair| pair.means().1),
        change_ms: Change::of(&changes),
        through,
        through_ms,
    }
}

fn phases(pairs: &[(Vec<JobTime>, Vec<JobTime>)], jobs: &[Pair<'_>]) -> Vec<Moved> {
    let compared: hashbrown::HashSet<&str> = jobs.iter().map(|pair| pair.job.job_id.as_str()).collect();
    let mean_of = |times: &[JobTime], phase: Phase| {
        let counting = times.iter().filter(|job| compared.contains(job.job_id.as_str()));
        let sum: i64 = counting.filter_map(|job| job.phases.get(phase as usize)).sum();
        sum as f64 / jobs.len().max(1) as f64
    };
    let moved = |&phase: &Phase| {
        let times: Vec<(f64, f64)> =
            pairs.iter().map(|(before, after)| (mean_of(before, phase), mean_of(after, phase))).collect();
        let changes: Vec<f64> = times.iter().map(|(before, after)| after - before).collect();
        Some(Moved {
            phase,
            before_ms: mean(&times.iter().map(|time| time.0).collect::<Vec<f64>>())?,
            after_ms: mean(&times.iter().map(|time| time.1).collect::<Vec<f64>>())?,
            change_ms: Change::of(&changes),
        })
    };
    Phase::ALL.iter().filter_map(moved).filter(|moved| moved.before_ms > 0.0 || moved.after_ms > 0.0).collect()
}

/// Sentences such as "3 of 22 jobs get slower, all of user cho, by holding out for locality".
fn sentences(jobs: &[Pair<'_>], matters: Matters, system: System) -> Vec<String> {
    let mut sentences = Vec::new();
    for (verdict, word) in [(Verdict::Slower, "slower"), (Verdict::Faster, "faster")] {
        let mut by_phase: BTreeMap<Option<Phase>, Vec<&Pair<'_>>> = BTreeMap::new();
        for pair in jobs.iter().filter(|pair| pair.verdict == verdict) {
            by_phase.entry(through(&[pair]).0).or_default().push(pair);
        }
        let mut causes: Vec<(Option<Phase>, Vec<&Pair<'_>>)> = by_phase.into_iter().collect();
        causes.sort_by_key(|(phase, pairs)| (Reverse(pairs.len()), *phase));
        for (phase, pairs) in causes {
            let noun = if jobs.len() == 1 { "job" } else { "jobs" };
            let verb = if pairs.len() == 1 { "gets" } else { "get" };
            let by = phase.map_or_else(String::new, |phase| format!(", {}", by(phase, verdict, system)));
            let change = mean(&pairs.iter().map(|pair| pair.change().value.abs()).collect::<Vec<f64>>());
            let change = change.map_or_else(String::new, |ms| format!(" ({} on average)", duration(ms)));
            let (few, all) = (count(pairs.len() as u64), count(jobs.len() as u64));
            sentences.push(format!("{few} of {all} {noun} {verb} {word}{}{by}{change}.", whose(&pairs, jobs, system)));
        }
    }
    if sentences.is_empty() {
        sentences.push(format!("No job gets slower or faster by more than {matters}."));
    }
    sentences
}

/// How many jobs end later or sooner in the replay than they did.
fn beside(jobs: &[Pair<'_>], matters: Matters) -> String {
    let of = |verdict| jobs.iter().filter(|pair| pair.verdict == verdict).count() as u64;
    let [later, sooner, all] = [of(Verdict::Slower), of(Verdict::Faster), jobs.len() as u64].map(count);
    format!(
        "In the replay, {later} of {all} jobs end later than observed by more than {matters}, and {sooner} end sooner."
    )
}

/// How a phase makes a job slower or faster.
fn by(phase: Phase, verdict: Verdict, system: System) -> String {
    let words = match phase {
        Phase::Running => "running longer",
        other => other.in_words(system),
    };
    match (verdict, phase) {
        (Verdict::Faster, Phase::Running) => "by running for less time".to_owned(),
        (Verdict::Faster, _) => format!("by less time {words}"),
        (Verdict::Slower | Verdict::Same, _) => format!("by {words}"),
    }
}

/// The user, or else the queue, that all or most of these jobs have in common, unless all that are compared have it.
fn whose(jobs: &[&Pair<'_>], all: &[Pair<'_>], system: System) -> String {
    let common = |what: &str, text: fn(&JobTime) -> Option<&str>| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in jobs {
            *counts.entry(text(pair.job)?).or_default() += 1;
        }
        let (most, with_text) = counts.into_iter().max_by_key(|&(text, count)| (count, Reverse(text)))?;
        if all.iter().all(|pair| text(pair.job) == Some(most)) {
            return None;
        }
        let most = name(most);
        match (with_text == jobs.len(), with_text) {
            (true, 1) => Some(format!(", of {what} {most}")),
            (true, _) => Some(format!(", all of {what} {most}")),
            (false, with_text) if 2 * with_text > jobs.len() => {
                Some(format!(", {} of them of {what} {most}", count(with_text as u64)))
            }
            (false, _) => None,
        }
    };
    let by_user = common("user", |job| job.user.as_deref());
    by_user.or_else(|| common(system.says("queue"), |job| job.queue.as_deref())).unwrap_or_default()
}
