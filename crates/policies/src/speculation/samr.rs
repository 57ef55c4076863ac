//! SAMR: LATE with stage weights that each node learns (policies B.11).
//!
//! **What it does.** Each node remembers which share of a task's time its stages took there, and scores its attempts by that.
//! A task is slow if its progress rate is well below the mean of its job and kind. The slow task with the longest time to end runs a
//! second time on a node that is no slow tracker of that kind, unless too many backups run.
//!
//! **Source.** SAMR (CIT 2010). Decisions: a map is all M1, because a log does not tell when it began to sort. The mean rate is
//! that of the job's running and succeeded tasks of the kind. The rate of a tracker is the mean over the attempts of the job and
//! kind that run or succeeded there; one that had none is not slow. At most STrP of the trackers are slow: the slowest. BP
//! bounds the backups of a kind against all its running attempts. A task is not judged before it has run for a minute.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, View};
use resched_sim::{JobId, Ms, NodeId, TaskId};
use resched_trace::model::Outcome;

use super::node_tally::NodeTally;
use super::running::{Running, SlowTasks, list_running, longest_first};
use super::{MIN_RUN, Speculator, SpeculatorInfo, first_of_jobs};
use crate::parts::by_job::ByJob;
use crate::parts::statistics::Moments;
use crate::parts::task_progress::{StageWeights, progress_rate};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "samr",
    title: "SAMR: LATE with learned stage weights",
    source: "SAMR: A Self-adaptive MapReduce Scheduling Algorithm in Heterogeneous Environment (CIT 2010)",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(Samr::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// weight of the history when a task's stages are learned (HISTORY_PRO)
        history: f64 = "HP" { default: 0.2, range: 0..=0.9999 },
        /// by how much of the mean rate a slow task stays behind (SLOW_TASK_CAP)
        slow_task: f64 = "STaC" { default: 0.3, range: 0..=0.9999 },
        /// by how much of the mean rate a slow tracker stays behind (SLOW_TRACKER_CAP)
        slow_tracker: f64 = "STrC" { default: 0.2, range: 0..=0.9999 },
        /// share of the trackers that are slow at most (SLOW_TRACKER_PRO)
        slow_trackers: f64 = "STrP" { default: 0.3, range: 0..=0.9999 },
        /// most backups of a kind for each running attempt (BACKUP_PRO)
        backups: f64 = "BP" { default: 0.2, range: 0..=0.9999 },
        min_run: Ms = MIN_RUN,
    }
}

/// The speculator.
#[derive(Debug)]
struct Samr {
    slow_task: f64,
    slow_trackers: SlowTrackers,
    backups: f64,
    min_run: Ms,
    learned: Learned,
    /// The rates of the attempts that succeeded.
    succeeded: ByJob<(Moments, NodeTally)>,
    slow_tasks: SlowTasks,
}

impl Samr {
    fn new(settings: Settings) -> Self {
        Self {
            slow_task: settings.slow_task,
            slow_trackers: SlowTrackers::new(settings.slow_tracker, settings.slow_trackers),
            backups: settings.backups,
            min_run: settings.min_run,
            learned: Learned { history: settings.history, nodes: Default::default() },
            succeeded: ByJob::default(),
            slow_tasks: SlowTasks::default(),
        }
    }

    fn pick_of(&mut self, offer: &Offer<'_, '_>, of: (JobId, Kind)) -> Option<TaskId> {
        let (view, min_run) = (offer.view(), self.min_run);
        let weights = |node| self.learned.weights(node, of.1);
        let succeeded = self.succeeded.get(of.0, of.1);
        let judge = |list: &mut Vec<Running>| {
            list_running(view, of, weights, list);
            let done = succeeded.map(|(rates, _)| *rates).unwrap_or_default();
            let mean = done.with(list.iter().map(Running::rate)).mean().unwrap_or(0.0);
            list.retain(|task| task.can_be_backed_up(min_run) && is_slow(task.rate(), mean, self.slow_task));
            longest_first(list);
        };
        let task = self.slow_tasks.of(offer, of, judge).next()?;
        let nodes = succeeded.map(|(_, nodes)| nodes);
        (!self.slow_trackers.contain(view, offer.node(), of, nodes, weights)).then_some(task)
    }
}

/// The weights that each node has learned.
#[derive(Debug)]
struct Learned {
    /// What the old ones count for.
    history: f64,
    nodes: [Vec<StageWeights>; 2],
}

impl Learned {
    /// By which weights a node's attempts are scored.
    fn weights(&self, node: NodeId, kind: Kind) -> StageWeights {
        self.nodes[kind as usize].get(node.index()).copied().unwrap_or(StageWeights::fixed(kind))
    }

    fn learn(&mut self, ended: &AttemptEnd) {
        let Some(observed) = StageWeights::observed(ended) else { return };
        let learned = self.weights(ended.node, ended.kind).mixed(self.history, &observed);
        let nodes = &mut self.nodes[ended.kind as usize];
        nodes.resize(nodes.len().max(ended.node.index() + 1), StageWeights::fixed(ended.kind));
        nodes[ended.node.index()] = learned;
    }
}

/// Whether a rate stays behind the mean by more than such a share of it.
fn is_slow(rate: f64, mean: f64, share: f64) -> bool {
    rate < (1.0 - share) * mean
}

/// Whether one more backup of a kind may run: so many for each running attempt.
pub(super) fn has_room(view: View<'_>, kind: Kind, share: f64) -> bool {
    (view.backups(kind) as f64) < share * view.running(kind) as f64
}

/// The rule by which trackers are slow for a job and kind, and memory to find it out.
#[derive(Debug)]
pub(super) struct SlowTrackers {
    /// By how much of the mean a slow one stays behind.
    share: f64,
    /// Which share of all trackers is slow at most.
    most: f64,
    rates: NodeTally,
}

impl SlowTrackers {
    pub(super) fn new(share: f64, most: f64) -> Self {
        Self { share, most, rates: NodeTally::default() }
    }

    /// Whether a node is one of them. `succeeded` holds the rates of the attempts of the job and kind that succeeded.
    pub(super) fn contain(
        &mut self,
        view: View<'_>,
        node: NodeId,
        (job, kind): (JobId, Kind),
        succeeded: Option<&NodeTally>,
        weights: impl Fn(NodeId) -> StageWeights,
    ) -> bool {
        match succeeded {
            Some(succeeded) => self.rates.clone_from(succeeded),
            None => self.rates = NodeTally::default(),
        }
        for run in view.runs(job, kind).filter(|run| !run.dying) {
            let score = weights(run.node).score_of(&view.progress(&run));
            self.rates.add(run.node, progress_rate(score, view.now() - run.start));
        }
        let Some(own) = self.rates.get(node).and_then(Moments::mean) else { return false };
        let mean = Moments::default().with(self.rates.means().map(|(_, mean)| mean)).mean().unwrap_or(0.0);
        let slower = self.rates.means().filter(|&(other, rate)| (rate, other) < (own, node.index())).count();
        is_slow(own, mean, self.share) && (slower as f64) < self.most * view.live_nodes() as f64
    }
}

impl Speculator for Samr {
    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        if ended.outcome == Outcome::Success {
            self.learned.learn(ended);
            let rate = progress_rate(1.0, ended.finish - ended.start);
            let (rates, nodes) = self.succeeded.get_mut(ended.job, ended.kind);
            rates.add(rate);
            nodes.add(ended.node, rate);
        }
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.succeeded.remove(job);
        self.slow_tasks.remove(job);
    }

    fn may_pick(&self, view: View<'_>) -> bool {
        Kind::BOTH.iter().any(|&kind| has_room(view, kind, self.backups))
    }

    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        let view = offer.view();
        if !has_room(view, kind, self.backups) {
            return None;
        }
        first_of_jobs(view, kind, |job| self.pick_of(offer, (job, kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b11_w3_a_slow_task_stays_behind_by_more_than_the_cap() {
        assert!(is_slow(0.0069, 0.010, 0.3));
        assert!(!is_slow(0.0071, 0.010, 0.3));
    }
}
