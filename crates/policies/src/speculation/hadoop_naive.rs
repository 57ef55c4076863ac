//! Hadoop's speculative execution of 0.20, before LATE (`docs/model/speculation.md`).
//!
//! **What it does.** A task is slow if it has run for a minute and its progress score is 0.2 or more behind the mean of
//! all tasks of its job and kind. A node runs a second attempt at the slow task that is nearest to its data. There is
//! no limit.
//!
//! **Source.** Hadoop MapReduce 0.20. The mean counts a waiting task as 0 and a finished task as 1, as the progress of
//! the job does. So the last tasks of a large job are slow until they reach 0.8.

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, TaskId};

use super::running::Running;
use super::when_asked::{Judge, WhenAsked};
use super::{MIN_RUN, SpeculatorInfo};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "hadoop-naive",
    title: "Speculation of Hadoop 0.20: tasks whose progress is behind the mean",
    source: "Hadoop MapReduce 0.20",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(HadoopNaive::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// how far a slow task's progress is behind the mean
        gap: f64 = "gap" { default: 0.2, range: 0..=1 },
        min_run: Ms = MIN_RUN,
    }
}

/// How it judges.
#[derive(Debug)]
struct HadoopNaive {
    gap: f64,
    min_run: Ms,
}

impl HadoopNaive {
    fn new(settings: Settings) -> WhenAsked<Self> {
        WhenAsked::new(Self { gap: settings.gap, min_run: settings.min_run })
    }
}

/// True if a progress score stays behind the mean by so much.
fn is_slow(score: f64, mean: f64, gap: f64) -> bool {
    mean - score >= gap
}

impl Judge for HadoopNaive {
    fn keep_slow(&mut self, view: View<'_>, (job, kind): (JobId, Kind), running: &mut Vec<Running>) {
        let seen = view.job(job);
        let scores: f64 = running.iter().map(|task| task.score).sum();
        let mean = (f64::from(seen.finished(kind)) + scores) / f64::from(seen.desired(kind).max(1));
        running.retain(|task| task.can_be_backed_up(self.min_run) && is_slow(task.score, mean, self.gap));
    }

    /// The one nearest to its data.
    fn choose(&self, offer: &Offer<'_, '_>, kind: Kind, slow: impl Iterator<Item = TaskId>) -> Option<TaskId> {
        match kind {
            Kind::Map => slow.min_by_key(|&task| (offer.level(task), task)),
            Kind::Reduce => slow.min(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_slow_from_a_fifth_behind_the_mean_on() {
        assert!(is_slow(0.5, 0.75, 0.2) && is_slow(0.0, 0.2, 0.2));
        assert!(!is_slow(0.6, 0.75, 0.2));
    }
}
