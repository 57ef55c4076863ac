//! Hadoop's speculative execution of 2011, derived from LATE (`docs/model/speculation.md`).
//!
//! **What it does.** A task is slow if it has run alone for a minute and its progress rate is more than a standard
//! deviation below the mean of its job and kind. The slow task with the longest time to end gets a second attempt on a
//! node that is not slow, while the job has few backups.
//!
//! **Source.** Hadoop MapReduce 1 (June 2011). The mean takes one sample of each task that has been launched: the best
//! rate of its attempts by the master's clock. A node is slow for a job if the mean run time of its tasks there, of
//! maps or of reduces, is more than a deviation above the mean of all such nodes. Decision: neither clock counts the
//! launch of the JVM.

use resched_sim::hadoop::{AttemptEnd, Kind, View};
use resched_sim::{JobId, Ms, NodeId};

use super::node_tally::NodeTally;
use super::running::Running;
use super::when_asked::{Judge, WhenAsked};
use super::{MIN_RUN, SpeculatorInfo};
use crate::parts::by_id::ByJob;
use crate::parts::statistics::Moments;
use crate::parts::task_progress::progress_rate;
use crate::settings::settings;

/// A job may always have this many backups of a kind.
const LEAST_CAP: u32 = 10;
/// Or this many for each slot of the kind.
const SLOTS_CAP: f64 = 0.01;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "hadoop-late",
    title: "Speculation of Hadoop MapReduce 1 in 2011: LATE with deviations from the mean",
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
        /// most backups, as a share of the running tasks of a job; 10, or 1 % of the slots, are always allowed
        cap: f64 = "cap" { default: 0.1, range: 0..=1 },
        min_run: Ms = MIN_RUN,
    }
}

/// How it judges.
#[derive(Debug)]
struct HadoopLate {
    slow_task: f64,
    slow_node: f64,
    cap: f64,
    min_run: Ms,
    /// Rates, and run times by node, of the attempts that succeeded.
    succeeded: ByJob<[(Moments, NodeTally); 2]>,
}

impl HadoopLate {
    fn new(settings: Settings) -> WhenAsked<Self> {
        WhenAsked::new(Self {
            slow_task: settings.slow_task,
            slow_node: settings.slow_node,
            cap: settings.cap,
            min_run: settings.min_run,
            succeeded: ByJob::default(),
        })
    }

    /// True if tasks of a job take longer on a node than elsewhere.
    fn is_slow(&self, node: NodeId, job: JobId) -> bool {
        Kind::BOTH.iter().any(|&kind| {
            let (_, times) = &self.succeeded[job][kind.index()];
            is_slow_node(times, node, self.slow_node)
        })
    }
}

/// True if a job that has so many backups of a kind may have one more.
fn is_allowed(backups: u32, slots: u32, running: u32, cap: f64) -> bool {
    let backed_up = f64::from(backups);
    backups < LEAST_CAP || backed_up < SLOTS_CAP * f64::from(slots) || backed_up < cap * f64::from(running)
}

fn is_slow_task(rate: f64, rates: &Moments, deviations: f64) -> bool {
    rates.mean().is_some_and(|mean| mean - rate > rates.std() * deviations)
}

fn is_slow_node(times: &NodeTally, node: NodeId, deviations: f64) -> bool {
    let all = Moments::default().with(times.means().map(|(_, mean)| mean));
    let of_this = times.get(node).and_then(Moments::mean);
    of_this.zip(all.mean()).is_some_and(|(of_node, mean)| of_node - mean > all.std() * deviations)
}

/// The smaller, the longer a task still takes, 1/ms.
fn urgency(task: &Running) -> f64 {
    task.rate() / (1.0 - task.score).max(1e-4)
}

impl Judge for HadoopLate {
    fn job_has_room(&self, view: View<'_>, (job, kind): (JobId, Kind)) -> bool {
        let seen = view.job(job);
        is_allowed(seen.backups(kind), view.slots(kind), seen.running(kind), self.cap)
    }

    fn keep_slow(&mut self, _view: View<'_>, (job, kind): (JobId, Kind), running: &mut Vec<Running>) {
        let (done, _) = &self.succeeded[job][kind.index()];
        let rates = done.with(running.iter().map(Running::rate));
        let slow = |task: &Running| is_slow_task(task.rate(), &rates, self.slow_task);
        running.retain(|task| task.can_be_backed_up(self.min_run) && slow(task));
        running.sort_unstable_by(|a, b| urgency(a).total_cmp(&urgency(b)).then(a.task.cmp(&b.task)));
    }

    fn may_serve_job(&mut self, _view: View<'_>, node: NodeId, (job, _): (JobId, Kind)) -> bool {
        !self.is_slow(node, job)
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        let time = ended.finish - ended.start;
        let (rates, times) = &mut self.succeeded[ended.job][ended.kind.index()];
        rates.add(progress_rate(1.0, time));
        times.add(ended.node, time as f64);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.succeeded.take(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_more_than_a_deviation_below_the_mean_is_slow() {
        let rates = Moments::default().with([0.01, 0.01, 0.01, 0.002].into_iter());
        assert!(is_slow_task(0.002, &rates, 1.0));
        assert!(!is_slow_task(0.002, &rates, 2.0) && !is_slow_task(0.01, &rates, 1.0));
        assert!(!is_slow_task(0.01, &Moments::default().with([0.01; 3].into_iter()), 1.0), "all alike");
    }

    #[test]
    fn the_cap_is_the_largest_of_three() {
        assert!(is_allowed(9, 4, 1, 0.1) && !is_allowed(10, 4, 1, 0.1));
        assert!(is_allowed(10, 1_001, 1, 0.1) && !is_allowed(10, 1_000, 1, 0.1));
        assert!(is_allowed(10, 4, 101, 0.1) && !is_allowed(10, 4, 100, 0.1));
    }
}
