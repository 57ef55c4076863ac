//! SAMR: LATE with stage weights that each node learns (`docs/model/speculators.md`).
//!
//! **What it does.** Each node remembers which share of a task's time its stages took there, and scores its attempts by
//! that. A task is slow if its progress rate is well below the mean of its job and kind. The slow task with the longest
//! time to end gets a second attempt on a node that is not a slow tracker for that kind, unless too many backups run.
//!
//! **Source.** SAMR (CIT 2010). Decisions: a map is all M1, because a log does not show when it began to sort. The mean
//! rate is that of the job's running and succeeded tasks of the kind. The rate of a tracker is the mean over the
//! attempts of the job and kind that run or succeeded there. A tracker without any is not slow. At most a share STrP of
//! the trackers, the slowest, count as slow. BP limits the backups of a kind as a share of its running attempts. A task
//! is not judged before it has run for a minute.

use resched_sim::hadoop::{AttemptEnd, Kind, View};
use resched_sim::{JobId, Ms, NodeId};

use super::node_tally::NodeTally;
use super::running::{Running, longest_first};
use super::when_asked::{Judge, WhenAsked};
use super::{MIN_RUN, SpeculatorInfo};
use crate::parts::by_id::{ByJob, ByNode};
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
        /// how far a slow task's rate is below the mean, as a share of the mean (SLOW_TASK_CAP)
        slow_task: f64 = "STaC" { default: 0.3, range: 0..=0.9999 },
        /// how far a slow tracker's rate is below the mean, as a share of the mean (SLOW_TRACKER_CAP)
        slow_tracker: f64 = "STrC" { default: 0.2, range: 0..=0.9999 },
        /// largest share of the trackers that count as slow (SLOW_TRACKER_PRO)
        slow_trackers: f64 = "STrP" { default: 0.3, range: 0..=0.9999 },
        /// most backups of a kind, as a share of its running attempts (BACKUP_PRO)
        backups: f64 = "BP" { default: 0.2, range: 0..=0.9999 },
        min_run: Ms = MIN_RUN,
    }
}

/// How it judges.
#[derive(Debug)]
struct Samr {
    slow_task: f64,
    slow_trackers: SlowTrackers,
    backups: f64,
    min_run: Ms,
    learned: Learned,
    /// The rates of the attempts that succeeded.
    succeeded: ByJob<[(Moments, NodeTally); 2]>,
}

impl Samr {
    fn new(settings: Settings) -> WhenAsked<Self> {
        WhenAsked::new(Self {
            slow_task: settings.slow_task,
            slow_trackers: SlowTrackers::new(settings.slow_tracker, settings.slow_trackers),
            backups: settings.backups,
            min_run: settings.min_run,
            learned: Learned { history: settings.history, nodes: Default::default() },
            succeeded: ByJob::default(),
        })
    }
}

/// The weights that each node has learned.
#[derive(Debug)]
struct Learned {
    /// What the old ones count for.
    history: f64,
    nodes: [ByNode<Option<StageWeights>>; 2],
}

impl Learned {
    /// By which weights a node's attempts are scored.
    fn weights(&self, node: NodeId, kind: Kind) -> StageWeights {
        self.nodes[kind.index()][node].unwrap_or(StageWeights::fixed(kind))
    }

    fn learn(&mut self, ended: &AttemptEnd) {
        let Some(observed) = StageWeights::observed(ended) else { return };
        let learned = self.weights(ended.node, ended.kind).mixed(self.history, &observed);
        self.nodes[ended.kind.index()][ended.node] = Some(learned);
    }
}

/// True if a rate stays behind the mean by more than such a share of it.
fn is_slow(rate: f64, mean: f64, share: f64) -> bool {
    rate < (1.0 - share) * mean
}

/// True if one more backup of a kind may run: so many for each running attempt.
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
        succeeded: &NodeTally,
        weights: impl Fn(NodeId) -> StageWeights,
    ) -> bool {
        self.rates.clone_from(succeeded);
        for run in view.runs(job, kind).filter(|run| !run.dying) {
            let score = weights(run.node).score_of(&view.progress(&run));
            self.rates.add(run.node, progress_rate(score, view.now() - run.start));
        }
        let Some(of_node) = self.rates.get(node).and_then(Moments::mean) else { return false };
        let mean = Moments::default().with(self.rates.means().map(|(_, mean)| mean)).mean().unwrap_or(0.0);
        let slower = self.rates.means().filter(|&(other, rate)| (rate, other) < (of_node, node.index())).count();
        is_slow(of_node, mean, self.share) && (slower as f64) < self.most * view.live_nodes() as f64
    }
}

impl Judge for Samr {
    fn has_room(&self, view: View<'_>, kind: Kind) -> bool {
        has_room(view, kind, self.backups)
    }

    fn weights(&self, _view: View<'_>, node: NodeId, (_, kind): (JobId, Kind)) -> StageWeights {
        self.learned.weights(node, kind)
    }

    fn keep_slow(&mut self, _view: View<'_>, (job, kind): (JobId, Kind), running: &mut Vec<Running>) {
        let (done, _) = &self.succeeded[job][kind.index()];
        let mean = done.with(running.iter().map(Running::rate)).mean().unwrap_or(0.0);
        running.retain(|task| task.can_be_backed_up(self.min_run) && is_slow(task.rate(), mean, self.slow_task));
        longest_first(running);
    }

    fn may_serve_job(&mut self, view: View<'_>, node: NodeId, of: (JobId, Kind)) -> bool {
        let (_, nodes) = &self.succeeded[of.0][of.1.index()];
        !self.slow_trackers.contain(view, node, of, nodes, |node| self.learned.weights(node, of.1))
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        self.learned.learn(ended);
        let rate = progress_rate(1.0, ended.finish - ended.start);
        let (rates, nodes) = &mut self.succeeded[ended.job][ended.kind.index()];
        rates.add(rate);
        nodes.add(ended.node, rate);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.succeeded.take(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_task_stays_behind_by_more_than_the_cap() {
        assert!(is_slow(0.0069, 0.010, 0.3));
        assert!(!is_slow(0.0071, 0.010, 0.3));
    }
}
