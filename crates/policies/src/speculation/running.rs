//! The running tasks of a job, as a speculator judges them.

use resched_sim::{JobId, Kind, Ms, NodeId, TaskId, View};

use crate::parts::task_progress::{StageWeights, progress_rate, time_to_end};

/// A task that runs: how its best attempt does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) task: TaskId,
    /// How many attempts at it run.
    pub(super) copies: u32,
    /// Whether the node that calls holds an attempt at it, even one that is to be killed.
    pub(super) here: bool,
    /// For how long the best attempt has run, ms; not positive while it is being launched.
    pub(super) elapsed: Ms,
    /// The progress score of the best attempt, from 0 to 1.
    pub(super) score: f64,
}

impl Running {
    /// The progress rate of its best attempt, 1/ms.
    pub(super) fn rate(&self) -> f64 {
        progress_rate(self.score, self.elapsed)
    }

    /// The time to end of its best attempt, ms.
    pub(super) fn time_to_end(&self) -> f64 {
        time_to_end(self.score, self.elapsed)
    }

    /// Whether it may have its one backup on the node that calls: it has run alone for so long, and elsewhere.
    pub(super) fn can_be_backed_up(&self, min_run: Ms) -> bool {
        self.copies == 1 && !self.here && self.elapsed >= min_run
    }
}

/// Lists the running tasks of a job and kind by id. `here` is the node that calls, if one does; `weights` are those by which
/// a node's attempts are scored. Attempts that are to be killed do not count. Rates go by the master's clock, so that of an
/// attempt whose node has fallen silent decays.
pub(super) fn list_running(
    view: View<'_>,
    (job, kind): (JobId, Kind),
    here: Option<NodeId>,
    weights: impl Fn(NodeId) -> StageWeights,
    list: &mut Vec<Running>,
) {
    list.clear();
    list.extend(view.runs(job, kind).map(|run| Running {
        task: run.task,
        copies: u32::from(!run.dying),
        here: Some(run.node) == here,
        elapsed: view.now() - run.start,
        score: if run.dying { 0.0 } else { weights(run.node).score_of(&view.progress(&run)) },
    }));
    // The best attempt of each task first, then the others fold into it.
    list.sort_unstable_by(|a, b| {
        a.task
            .cmp(&b.task)
            .then(b.copies.cmp(&a.copies))
            .then(b.rate().total_cmp(&a.rate()))
            .then(b.elapsed.cmp(&a.elapsed))
    });
    list.dedup_by(|other, best| {
        let same = other.task == best.task;
        if same {
            best.copies += other.copies;
            best.here |= other.here;
        }
        same
    });
    list.retain(|task| task.copies > 0);
}

/// The one with the longest time to end; the first of equals.
pub(super) fn longest<'a>(tasks: impl Iterator<Item = &'a Running>) -> Option<TaskId> {
    let longer = |a: &&Running, b: &&Running| a.time_to_end().total_cmp(&b.time_to_end()).then(b.task.cmp(&a.task));
    tasks.max_by(longer).map(|running| running.task)
}
