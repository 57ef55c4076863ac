//! A job of a list, and what a log would say of it.

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, LONGEST, Outcome, TaskKind, TaskRecord, TaskRow};

use super::skip;

/// What ran the jobs, as in the jobs table.
const FRAMEWORK: &str = "slurm";

/// A thousandth of a core.
const CORE: i64 = 1_000;

/// A job as a list has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) user: String,
    pub(super) name: String,
    pub(super) queue: String,
    pub(super) account: String,
    pub(super) qos: String,
    pub(super) state: String,
    pub(super) reason: String,
    pub(super) priority: Option<i64>,
    pub(super) submit: Option<Ms>,
    pub(super) eligible: Option<Ms>,
    pub(super) start: Option<Ms>,
    /// For how long it has run, ms.
    pub(super) elapsed: Option<Ms>,
    pub(super) limit: Option<Ms>,
    pub(super) machines: Option<i64>,
    pub(super) cpus: Option<i64>,
    pub(super) exclusive: bool,
}

/// The parts of Slurm's reasons why a job waits for something else than machines (squeue(1), job reason codes).
const OTHER_REASONS: [&str; 9] =
    ["Dependency", "BeginTime", "Held", "QOS", "Assoc", "MaxJobs", "MaxCpu", "JobArrayTaskLimit", "Licenses"];

impl Listed {
    /// True if it waits for something else than machines.
    fn is_held(&self) -> bool {
        OTHER_REASONS.iter().any(|part| self.reason.contains(part)) || self.priority == Some(0)
    }

    /// The job as a log would have it that was written at that moment; `None` if it neither runs nor waits.
    pub(super) fn record(self, at: Ms, skipped: &mut BTreeMap<String, u64>) -> Option<JobRecord> {
        let state = self.state.split(['+', ' ', ',']).next().unwrap_or_default().to_ascii_uppercase();
        let runs = match state.as_str() {
            "RUNNING" | "R" => true,
            "PENDING" | "PD" => false,
            "" => {
                skip(skipped, "job-without-a-state", 1);
                return None;
            }
            _ => {
                skip(skipped, "job-in-another-state", 1);
                return None;
            }
        };
        let start = runs.then(|| {
            self.start.filter(|start| *start <= at).or_else(|| Some(at - self.elapsed?)).unwrap_or_else(|| {
                skip(skipped, "running-job-without-a-start", 1);
                at
            })
        });
        let submit = self.submit.filter(|submit| *submit <= at).unwrap_or_else(|| {
            skip(skipped, "job-without-submit-time", 1);
            start.unwrap_or(at)
        });
        if self.limit.is_none() {
            skip(skipped, "job-without-limit", 1);
        }
        if self.cpus.is_none() && self.machines.is_none() {
            skip(skipped, "job-of-one-core", 1);
        }
        let far = at.saturating_add(LONGEST / 2);
        let eligible = if !runs && self.is_held() {
            Some(far)
        } else {
            self.eligible.filter(|eligible| *eligible > submit && !runs)
        };
        Some(self.rows(submit, eligible, start))
    }

    fn rows(self, submit: Ms, eligible: Option<Ms>, start: Option<Ms>) -> JobRecord {
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let cpus = self.cpus.or(self.machines).unwrap_or(1).max(1);
        // A job for whole machines is one task on each; any other is as many tasks as processors, wherever there is room.
        let (instances, each) = match self.machines.filter(|machine| *machine > 0 && self.exclusive) {
            Some(machines) => (machines, CORE * (cpus / machines).max(1)),
            None => (cpus, CORE),
        };
        let job = JobRow {
            job_id: self.id.clone(),
            name: known(&self.name),
            user: known(&self.user),
            queue: known(&self.queue),
            group: known(&self.account),
            qos: known(&self.qos),
            framework: Some(FRAMEWORK.to_owned()),
            priority_number: self.priority,
            submit: Some(submit),
            launch: start,
            eligible,
            requested_time: self.limit,
            outcome: Outcome::Incomplete,
            ..JobRow::default()
        };
        let task = TaskRow {
            job_id: self.id.clone(),
            task_id: self.id.clone(),
            kind: TaskKind::Other,
            start,
            outcome: Outcome::Incomplete,
            cpu_request: Some(each),
            instances: Some(instances),
            gang: Some(true),
            machines: self.machines,
            exclusive: Some(self.exclusive),
            ..TaskRow::default()
        };
        let attempt = start.map(|start| AttemptRow {
            job_id: self.id.clone(),
            task_id: self.id,
            kind: TaskKind::Other,
            start: Some(start),
            outcome: Outcome::Incomplete,
            ..AttemptRow::default()
        });
        let attempts = attempt.into_iter().collect();
        JobRecord { job, tasks: vec![TaskRecord { task, splits: Vec::new(), attempts }], counters: Vec::new() }
    }
}

/// The ids of the tasks of an array that one line stands for, such as `7_[1-3,9%2]`, of which two may run at once: `7_1`, `7_2`, `7_3`,
/// `7_9`. An id of one job is itself.
pub(super) fn ids(id: &str, skipped: &mut BTreeMap<String, u64>) -> Vec<String> {
    /// The most tasks of an array.
    const MOST: usize = 100_000;
    let Some((whole, tasks)) = id.split_once("_[") else { return vec![id.to_owned()] };
    let tasks = tasks.split([']', '%']).next().unwrap_or_default();
    let mut all = Vec::new();
    for part in tasks.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (first.parse::<usize>(), last.parse::<usize>(), step.parse::<usize>()) {
            (Ok(first), Ok(last), Ok(step)) if step > 0 && first <= last => {
                let room = MOST.saturating_sub(all.len());
                let count = (last - first) / step + 1;
                if count > room {
                    skip(skipped, "array-task-beyond-the-most", (count - room) as u64);
                }
                all.extend((first..=last).step_by(step).take(room).map(|task| format!("{whole}_{task}")));
            }
            // squeue cuts long lists short: `7_[1,3,5,…`.
            _ => skip(skipped, "array-with-unread-tasks", 1),
        }
    }
    all
}
