//! Hadoop's speculative execution of 0.20, before LATE (policies A.7).
//!
//! **What it does.** A task is slow if it has run for a minute and its progress score is 0.2 or more behind the mean of all tasks of
//! its job and kind. Of the slow ones a node runs the one nearest to its data a second time. There is no limit.
//!
//! **Source.** Hadoop MapReduce 0.20. The mean counts a task that waits as 0 and one that is done as 1, as the job's own
//! progress does; so the last tasks of a large job are slow as long as they are below 0.8.

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, TaskId};

use super::running::{Running, SlowTasks, list_running};
use super::{MIN_RUN, Speculator, SpeculatorInfo, first_of_jobs};
use crate::parts::task_progress::StageWeights;
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "hadoop-naive",
    title: "Hadoop 0.20: tasks that stay behind the mean progress",
    source: "Hadoop MapReduce 0.20",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(HadoopNaive::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// by how much a slow task's progress stays behind the mean
        gap: f64 = "gap" { default: 0.2, range: 0..=1 },
        min_run: Ms = MIN_RUN,
    }
}

/// The speculator.
#[derive(Debug)]
struct HadoopNaive {
    gap: f64,
    min_run: Ms,
    slow_tasks: SlowTasks,
}

impl HadoopNaive {
    fn new(settings: Settings) -> Self {
        Self { gap: settings.gap, min_run: settings.min_run, slow_tasks: SlowTasks::default() }
    }

    fn pick_of(&mut self, offer: &Offer<'_, '_>, of: (JobId, Kind)) -> Option<TaskId> {
        let (view, (job, kind)) = (offer.view(), of);
        let weights = StageWeights::fixed(kind);
        let judge = |list: &mut Vec<Running>| {
            list_running(view, of, |_| weights, list);
            let own = view.job(job);
            let scores: f64 = list.iter().map(|task| task.score).sum();
            let mean = (f64::from(own.finished(kind)) + scores) / f64::from(own.desired(kind).max(1));
            list.retain(|task| task.can_be_backed_up(self.min_run) && is_slow(task.score, mean, self.gap));
        };
        let slow = self.slow_tasks.of(offer, of, judge);
        match kind {
            Kind::Map => slow.min_by_key(|&task| (offer.level(task), task)),
            Kind::Reduce => slow.min(),
        }
    }
}

/// Whether a progress score stays behind the mean by so much.
fn is_slow(score: f64, mean: f64, gap: f64) -> bool {
    mean - score >= gap
}

impl Speculator for HadoopNaive {
    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.slow_tasks.remove(job);
    }

    fn may_pick(&self, view: View<'_>) -> bool {
        Kind::BOTH.iter().any(|&kind| view.running(kind) > 0)
    }

    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        first_of_jobs(offer.view(), kind, |job| self.pick_of(offer, (job, kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a7_a_task_is_slow_from_a_fifth_behind_the_mean_on() {
        assert!(is_slow(0.5, 0.75, 0.2) && is_slow(0.0, 0.2, 0.2));
        assert!(!is_slow(0.6, 0.75, 0.2));
    }
}
