//! LATE: longest approximate time to end (`docs/model/speculators.md`).
//!
//! **What it does.** A task's progress rate is its progress score divided by its run time. Its time to end is the
//! remaining score divided by that rate. A node with a spare slot runs a backup if the node is not slow and the backups
//! use no more than a share of all slots. It backs up the task with the longest time to end among the tasks with the
//! lowest rates.
//!
//! **Source.** Improving MapReduce Performance in Heterogeneous Environments (OSDI 2008), section 4. Decisions:
//! percentiles are by nearest rank on the ascending list, and "below" is strictly below. Rates are compared within a
//! job and kind, with those of its tasks that succeeded, so that the last task of a job can be slow, too. The speed of
//! a node is the sum of the scores of all its attempts of the kind that run or have succeeded since the replay began; a
//! node without any has no speed. Jobs are asked in the order of submission. The place of the data does not matter.

use resched_sim::hadoop::{AttemptEnd, Kind, View};
use resched_sim::{JobId, Ms, NodeId};

use super::running::{Running, longest_first};
use super::speeds::Speeds;
use super::when_asked::{Judge, WhenAsked};
use super::{MIN_RUN, SpeculatorInfo};
use crate::parts::by_id::ByJob;
use crate::parts::statistics::{nearest_rank, whole_share};
use crate::parts::task_progress::progress_rate;
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "late",
    title: "LATE: longest approximate time to end",
    source: "Improving MapReduce Performance in Heterogeneous Environments (OSDI 2008), section 4",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(Late::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// share of the slots of a kind that may run backups (SpeculativeCap)
        cap: f64 = "cap" { default: 0.1, range: 0..=1 },
        /// percentile of node speed below which a node gets no backups (SlowNodeThreshold)
        slow_node: f64 = "slow_node" { default: 25, range: 0..=100, unit: "%" },
        /// percentile of progress rate below which a task is slow (SlowTaskThreshold)
        slow_task: f64 = "slow_task" { default: 25, range: 0..=100, unit: "%" },
        min_run: Ms = MIN_RUN,
    }
}

/// How it judges.
#[derive(Debug)]
struct Late {
    cap: f64,
    slow_node: f64,
    slow_task: f64,
    min_run: Ms,
    /// The rates of the tasks that succeeded, ascending.
    succeeded: ByJob<[Vec<f64>; 2]>,
    rates: Vec<f64>,
    speeds: [Speeds; 2],
}

impl Late {
    fn new(settings: Settings) -> WhenAsked<Self> {
        WhenAsked::new(Self {
            cap: settings.cap,
            slow_node: settings.slow_node,
            slow_task: settings.slow_task,
            min_run: settings.min_run,
            succeeded: ByJob::default(),
            rates: Vec::new(),
            speeds: Default::default(),
        })
    }
}

/// True if a value lies below a percentile of the values of two ascending lists together.
fn is_below(lists: [&[f64]; 2], percentile: f64, value: f64) -> bool {
    let count = lists.iter().map(|list| list.len()).sum();
    let up_to_it: usize = lists.iter().map(|list| list.partition_point(|other| *other <= value)).sum();
    up_to_it < nearest_rank(count, percentile)
}

impl Judge for Late {
    fn has_room(&self, view: View<'_>, kind: Kind) -> bool {
        view.backups(kind) < whole_share(self.cap, view.slots(kind))
    }

    fn keep_slow(&mut self, _view: View<'_>, (job, kind): (JobId, Kind), running: &mut Vec<Running>) {
        if !running.iter().any(|task| task.can_be_backed_up(self.min_run)) {
            running.clear();
            return;
        }
        self.rates.clear();
        self.rates.extend(running.iter().map(Running::rate));
        self.rates.sort_unstable_by(f64::total_cmp);
        let succeeded = &self.succeeded[job][kind.index()];
        let slow = |task: &Running| is_below([&self.rates, succeeded], self.slow_task, task.rate());
        running.retain(|task| task.can_be_backed_up(self.min_run) && slow(task));
        longest_first(running);
    }

    fn may_serve(&mut self, view: View<'_>, node: NodeId, kind: Kind) -> bool {
        !self.speeds[kind.index()].is_slow(view, (node, kind), self.slow_node)
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        let rate = progress_rate(1.0, ended.finish - ended.start);
        let rates = &mut self.succeeded[ended.job][ended.kind.index()];
        rates.insert(rates.partition_point(|other| *other < rate), rate);
        self.speeds[ended.kind.index()].add_success(ended.node);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.succeeded.take(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rates_of_the_lowest_quartile_are_slow() {
        let (running, succeeded) = ([1.0 / 300.0, 0.005, 0.015], [0.010, 0.012]);
        let below = |percentile, rate| is_below([&running, &succeeded], percentile, rate);
        assert!(below(25.0, 1.0 / 300.0), "the second of five is 0.005");
        assert!(!below(25.0, 0.005));
        assert!(below(60.0, 0.005) && !below(60.0, 0.010));
        assert!(!below(0.0, 1.0 / 300.0) && below(100.0, 0.012) && !below(100.0, 0.015));
        assert!(!is_below([&[0.1], &[]], 25.0, 0.1), "one alone is not below itself");
    }
}
