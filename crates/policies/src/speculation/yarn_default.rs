//! YARN's `DefaultSpeculator`, in the application master of a MapReduce job (`docs/model/speculation.md`).
//!
//! **What it does.** Each job looks at its running tasks every second. After it has requested a backup, it waits for 15
//! s. It requests at most one backup of each kind: for the task whose estimated end is farthest behind that of a new
//! attempt. At least 5 % of the tasks of the kind must be done, and none may wait. The backup starts on the first node
//! with room.
//!
//! **Source.** Hadoop YARN (August 2014). The estimated end extrapolates the run time so far by the progress. A new
//! attempt takes the mean run time of the finished tasks. Two parts of YARN's code are left out: its "slow task
//! threshold", which is never compared with anything, and its smoothed estimator, which gives old values more weight.

use resched_sim::hadoop::{AttemptEnd, Kind, Orders, View};
use resched_sim::{JobId, Ms, TaskId};

use super::SpeculatorInfo;
use super::on_schedule::{OnSchedule, Search};
use super::requests::Requests;
use crate::parts::by_id::ByJob;
use crate::parts::statistics::Moments;
use crate::parts::task_progress::StageWeights;
use crate::settings::settings;

/// The share of the tasks of a kind that must be done.
const LEAST_DONE: f64 = 0.05;
/// A job may always have this many backups of a kind.
const LEAST_CAP: f64 = 10.0;
/// Or this many for each task, done or not.
const TASKS_CAP: f64 = 0.01;
/// Or this many for each running task.
const RUNNING_CAP: f64 = 0.1;
/// Less progress than this counts as this.
const LEAST_PROGRESS: f64 = 1e-4;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "yarn-default",
    title: "YARN's DefaultSpeculator: the task that gains most from a new attempt",
    source: "Hadoop YARN (August 2014)",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(YarnDefault::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// time between two searches that find nothing
        retry: Ms = "retry" { default: 1000, range: 1..=3_600_000, unit: "ms" },
        /// time after a search that asked for a backup
        pause: Ms = "pause" { default: 15000, range: 0..=3_600_000, unit: "ms" },
    }
}

/// The speculator.
#[derive(Debug)]
struct YarnDefault {
    retry: Ms,
    pause: Ms,
    /// Run times of the attempts that succeeded, ms.
    succeeded: ByJob<[Moments; 2]>,
    /// When each job looks again.
    next_look: ByJob<Ms>,
}

impl YarnDefault {
    fn new(settings: Settings) -> OnSchedule<Self> {
        OnSchedule::new(Self {
            retry: settings.retry,
            pause: settings.pause,
            succeeded: ByJob::default(),
            next_look: ByJob::default(),
        })
    }

    /// The task of a job for which a backup is worth most, if one is worth anything and may run.
    fn find(&self, view: View<'_>, (job, kind): (JobId, Kind), requests: &Requests) -> Option<TaskId> {
        let seen = view.job(job);
        let waits = seen.ready(kind) > 0 || requests.hold(view, job, kind);
        if waits || seen.running(kind) == 0 {
            return None;
        }
        let (tasks, done) = (f64::from(seen.desired(kind)), f64::from(seen.finished(kind)));
        let cap = LEAST_CAP.max(TASKS_CAP * tasks).max(RUNNING_CAP * f64::from(seen.running(kind)));
        if done < 1.0 || done < LEAST_DONE * tasks || f64::from(seen.backups(kind)) >= cap {
            return None;
        }
        let mean = self.succeeded[job][kind.index()].mean()?;
        let weights = StageWeights::fixed(kind);
        let started = view.runs(job, kind).filter(|run| !run.dying && run.start < view.now());
        let alone = started.filter(|run| view.live_attempts(run.task) == 1);
        let values = alone.filter_map(|run| {
            let progress = view.progress(&run);
            let end = estimated_end(run.start, progress.at, weights.score_of(&progress));
            Some((value(end, view.now(), mean)?, run.task))
        });
        values.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, task)| task)
    }
}

/// When an attempt will end that had come so far at `at`, ms.
fn estimated_end(start: Ms, at: Ms, score: f64) -> f64 {
    start as f64 + (at - start) as f64 / score.max(LEAST_PROGRESS)
}

/// By how much sooner a new attempt that takes the mean run time would end, ms; `None` if that is nothing, or if the running
/// one should have ended.
fn value(estimated_end: f64, now: Ms, mean: f64) -> Option<f64> {
    let value = estimated_end - (now as f64 + mean);
    (estimated_end >= now as f64 && value > 0.0).then_some(value)
}

impl Search for YarnDefault {
    fn period(&self) -> Ms {
        self.retry
    }

    fn look(&mut self, view: View<'_>, requests: &mut Requests, _orders: &mut Orders) {
        for &job in view.jobs() {
            if view.now() < self.next_look[job] {
                continue;
            }
            for kind in Kind::BOTH {
                if let Some(task) = self.find(view, (job, kind), requests) {
                    requests.push(task, kind);
                    self.next_look[job] = view.now() + self.pause;
                }
            }
        }
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        self.succeeded[ended.job][ended.kind.index()].add((ended.finish - ended.start) as f64);
    }

    fn job_finished(&mut self, job: JobId) {
        self.succeeded.take(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_backup() {
        let end = estimated_end(0, 100_000, 0.2);
        assert_eq!(end, 500_000.0);
        assert_eq!(value(end, 100_000, 60_000.0), Some(340_000.0));
        assert_eq!(value(end, 500_001, 60_000.0), None, "it should have ended");
        assert_eq!(value(end, 440_000, 60_000.0), None, "a new attempt ends no sooner");
        assert_eq!(estimated_end(50, 150, 0.0), 1_000_050.0);
    }
}
