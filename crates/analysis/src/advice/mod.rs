//! Advice where the tables of a run show it: with the job, the queue or the node, and what to change.
//!
//! Each rule is a file. It gives advice only beyond its thresholds, which stand in `docs/why.md`, too.

mod integral;
mod queue_limit;
mod short_maps;
mod slow_node;
mod slowstart;
mod stragglers;

use resched_tables::model::TaskKind;
use resched_tables::words::duration;
use serde::Serialize;

use crate::Run;
use crate::runs::spans::Interval;
use crate::statistics::distribution::Distribution;
use crate::why::{Wait, Why};

/// The most pieces of advice of one rule.
const MOST_OF_A_RULE: usize = 3;
/// A wait that costs less in all is not worth a change, ms.
const LEAST_WAIT: i64 = 60_000;
/// A wait matters from this share of what it is a part of.
const LEAST_SHARE: f64 = 0.1;

/// A piece of advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The rule: `queue-limit`, `slow-start`, `short-maps`, `stragglers` or `slow-node`.
    pub rule: &'static str,
    /// The job that it is about, or that shows it most; null if it is about no job.
    pub job_id: Option<String>,
    /// The user of that job.
    pub user: Option<String>,
    /// The queue that it is about, or that of the job.
    pub queue: Option<String>,
    /// The node that it is about.
    pub node: Option<String>,
    /// The time that it is worth, ms: of waits, or of tasks for `slow-node` and `short-maps`.
    pub time_ms: i64,
    /// What the data show, as a sentence.
    pub says: String,
    /// What to change, as a sentence.
    pub change: String,
}

impl Advice {
    /// Advice about a job.
    fn of_job(rule: &'static str, seen: &Seen<'_>, job: usize, time_ms: i64) -> Self {
        let metrics = seen.run.jobs.get(job);
        let text = |text: Option<&std::sync::Arc<str>>| text.map(|text| text.as_ref().to_owned());
        Self {
            rule,
            job_id: metrics.map(|job| job.job_id.clone()),
            user: text(metrics.and_then(|job| job.user.as_ref())),
            queue: text(metrics.and_then(|job| job.queue.as_ref())),
            node: None,
            time_ms,
            says: String::new(),
            change: String::new(),
        }
    }

    /// It in words.
    pub fn in_words(&self) -> String {
        format!("{} {}", self.says, self.change)
    }
}

/// What rules look at.
struct Seen<'a> {
    run: &'a Run,
    /// The waits of the jobs that count, while nothing of them ran.
    waits: Vec<Wait>,
    in_containers: bool,
}

impl Seen<'_> {
    /// The attempts of that kind of each job that counts, by row.
    fn attempts(&self, kind: TaskKind) -> Vec<Vec<&Interval>> {
        let mut of_jobs: Vec<Vec<&Interval>> = vec![Vec::new(); self.run.jobs.len()];
        for attempt in self.run.counted_intervals().filter(|attempt| attempt.kind == kind) {
            if let Some(of_job) = of_jobs.get_mut(attempt.job) {
                of_job.push(attempt);
            }
        }
        of_jobs
    }

    /// The name of a job in a sentence, with its user.
    fn job(&self, row: usize) -> String {
        let job = self.run.jobs.get(row);
        let id = job.map_or_else(String::new, |job| resched_tables::words::name(&job.job_id).into_owned());
        let user =
            job.and_then(|job| job.user.as_deref()).map(|user| format!(" of {}", resched_tables::words::name(user)));
        format!("job {id}{}", user.unwrap_or_default())
    }
}

/// The advice that a run shows, what costs most first. `why` explains the same run.
pub fn advise(run: &Run, why: &Why) -> Vec<Advice> {
    let seen = Seen { run, waits: why.waits(), in_containers: why.is_in_containers() };
    let rules = [queue_limit::advise, slowstart::advise, short_maps::advise, stragglers::advise, slow_node::advise];
    let of_rule = |rule: fn(&Seen<'_>) -> Vec<Advice>| {
        let mut found = rule(&seen);
        found.sort_by_key(|advice| std::cmp::Reverse(advice.time_ms));
        found.truncate(MOST_OF_A_RULE);
        found
    };
    let mut all: Vec<Advice> = rules.into_iter().flat_map(of_rule).collect();
    // Equal ones keep the order of the rules.
    all.sort_by_key(|advice| std::cmp::Reverse(advice.time_ms));
    all
}

/// The run times of attempts that ended well, ms.
fn run_times<'a>(attempts: impl IntoIterator<Item = &'a &'a Interval>) -> Distribution {
    let good = attempts.into_iter().filter(|attempt| attempt.succeeded);
    Distribution::new(good.map(|attempt| (attempt.finish - attempt.start) as f64))
}

fn time(ms: i64) -> String {
    duration(ms as f64)
}

#[cfg(test)]
mod tests;
