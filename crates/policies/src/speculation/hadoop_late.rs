//! Hadoop's speculative execution of 2011, derived from LATE (policies A.7).
//!
//! **What it does.** A task is slow if it has run alone for a minute and its progress rate is more than a standard deviation
//! below the mean of its job and kind. The one with the longest time to end runs a second time on a node that is not slow, as
//! long as the job has few backups.
//!
//! **Source.** Hadoop MapReduce 1 (June 2011). The mean takes one sample of each task that has been launched: the best rate of
//! its attempts by the master's clock. A node is slow for a job if the mean run time of its tasks there, of maps or of
//! reduces, is more than a deviation above the mean of all such nodes. Decision: the launch of the JVM counts for
//! neither clock.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, View};
use resched_sim::{JobId, Ms, NodeId, TaskId};
use resched_trace::model::Outcome;

use super::node_tally::NodeTally;
use super::running::{Running, SlowTasks, list_running};
use super::{MIN_RUN, Speculator, SpeculatorInfo, first_of_jobs};
use crate::parts::by_job::ByJob;
use crate::parts::statistics::Moments;
use crate::parts::task_progress::{StageWeights, progress_rate};
use crate::settings::settings;

/// A job may always have so many backups of a kind.
const LEAST_CAP: u32 = 10;
/// Or so many for each slot of the kind.
const SLOTS_CAP: f64 = 0.01;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "hadoop-late",
    title: "Hadoop MapReduce 1 of 2011: after LATE, by deviations from the mean",
    source: "Hadoop MapReduce 1 (June 2011)",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(HadoopLate::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// how far below the mean rate a slow task is
        slow_task: f64 = "slow_task" { default: 1, range: 0..=1e6, unit: "deviations" },
        /// how far above the mean run time a slow node is
        slow_node: f64 = "slow_node" { default: 1, range: 0..=1e6, unit: "deviations" },
        /// backups for each running task of a job; 10, or 1 % of the slots, are always allowed
        cap: f64 = "cap" { default: 0.1, range: 0..=1 },
        min_run: Ms = MIN_RUN,
    }
}

/// The speculator.
#[derive(Debug)]
struct HadoopLate {
    slow_task: f64,
    slow_node: f64,
    cap: f64,
    min_run: Ms,
    /// Rates, and run times by node, of the attempts that succeeded.
    succeeded: ByJob<(Moments, NodeTally)>,
    slow_tasks: SlowTasks,
}

impl HadoopLate {
    fn new(settings: Settings) -> Self {
        Self {
            slow_task: settings.slow_task,
            slow_node: settings.slow_node,
            cap: settings.cap,
            min_run: settings.min_run,
            succeeded: ByJob::default(),
            slow_tasks: SlowTasks::default(),
        }
    }

    fn pick_of(&mut self, offer: &Offer<'_, '_>, of: (JobId, Kind)) -> Option<TaskId> {
        let (view, (job, kind)) = (offer.view(), of);
        let own = view.job(job);
        if !is_allowed(own.backups(kind), view.slots(kind), own.running(kind), self.cap) {
            return None;
        }
        let weights = StageWeights::fixed(kind);
        let done = self.succeeded.get(job, kind).map(|(rates, _)| *rates).unwrap_or_default();
        let judge = |list: &mut Vec<Running>| {
            list_running(view, of, |_| weights, list);
            let rates = done.with(list.iter().map(Running::rate));
            let slow = |task: &Running| is_slow_task(task.rate(), &rates, self.slow_task);
            list.retain(|task| task.can_be_backed_up(self.min_run) && slow(task));
            list.sort_unstable_by(|a, b| urgency(a).total_cmp(&urgency(b)).then(a.task.cmp(&b.task)));
        };
        let task = self.slow_tasks.of(offer, of, judge).next()?;
        (!self.is_slow(offer.node(), job)).then_some(task)
    }

    /// Whether tasks of a job take longer on a node than elsewhere.
    fn is_slow(&self, node: NodeId, job: JobId) -> bool {
        Kind::BOTH.iter().any(|&kind| {
            let times = self.succeeded.get(job, kind).map(|(_, times)| times);
            times.is_some_and(|times| is_slow_node(times, node, self.slow_node))
        })
    }
}

/// Whether a job that has so many backups of a kind may have one more.
fn is_allowed(backups: u32, slots: u32, running: u32, cap: f64) -> bool {
    let backed_up = f64::from(backups);
    backups < LEAST_CAP || backed_up < SLOTS_CAP * f64::from(slots) || backed_up < cap * f64::from(running)
}

fn is_slow_task(rate: f64, rates: &Moments, deviations: f64) -> bool {
    rates.mean().is_some_and(|mean| mean - rate > rates.std() * deviations)
}

fn is_slow_node(times: &NodeTally, node: NodeId, deviations: f64) -> bool {
    let all = Moments::default().with(times.means().map(|(_, mean)| mean));
    let own = times.get(node).and_then(Moments::mean);
    own.zip(all.mean()).is_some_and(|(own, mean)| own - mean > all.std() * deviations)
}

/// The smaller, the longer a task still takes, 1/ms.
fn urgency(task: &Running) -> f64 {
    task.rate() / (1.0 - task.score).max(1e-4)
}

impl Speculator for HadoopLate {
    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        if ended.outcome == Outcome::Success {
            let time = ended.finish - ended.start;
            let (rates, times) = self.succeeded.get_mut(ended.job, ended.kind);
            rates.add(progress_rate(1.0, time));
            times.add(ended.node, time as f64);
        }
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.succeeded.remove(job);
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
    fn a7_w_a_rate_more_than_a_deviation_below_the_mean_is_slow() {
        let rates = Moments::default().with([0.01, 0.01, 0.01, 0.002].into_iter());
        assert!(is_slow_task(0.002, &rates, 1.0));
        assert!(!is_slow_task(0.002, &rates, 2.0) && !is_slow_task(0.01, &rates, 1.0));
        assert!(!is_slow_task(0.01, &Moments::default().with([0.01; 3].into_iter()), 1.0), "all alike");
    }

    #[test]
    fn a7_the_cap_is_the_largest_of_three() {
        assert!(is_allowed(9, 4, 1, 0.1) && !is_allowed(10, 4, 1, 0.1));
        assert!(is_allowed(10, 1_001, 1, 0.1) && !is_allowed(10, 1_000, 1, 0.1));
        assert!(is_allowed(10, 4, 101, 0.1) && !is_allowed(10, 4, 100, 0.1));
    }
}
