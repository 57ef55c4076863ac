//! The running tasks of a job, for speculators.

use resched_sim::hadoop::{AttemptId, AttemptView, Kind, View};
use resched_sim::{JobId, Ms, NodeId, TaskId};

use crate::parts::by_id::ByJob;
use crate::parts::task_progress::{StageWeights, progress_rate, time_to_end};

/// A task that runs: how its best attempt does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) task: TaskId,
    /// How many attempts at it run.
    pub(super) copies: u32,
    /// The best attempt, and its number among the tries at the task.
    best: AttemptId,
    attempt: u32,
    /// For how long the best attempt has run, ms; not positive while it is being launched.
    pub(super) elapsed: Ms,
    /// The progress score of the best attempt, from 0 to 1.
    pub(super) score: f64,
    /// Its progress rate, 1/ms, and its time to end, ms: lists are sorted by them.
    rate: f64,
    time_to_end: f64,
}

impl Running {
    /// The progress rate of its best attempt, 1/ms.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// The time to end of its best attempt, ms.
    pub(super) fn time_to_end(&self) -> f64 {
        self.time_to_end
    }

    /// True if it has run alone for so long.
    pub(super) fn can_be_backed_up(&self, min_run: Ms) -> bool {
        self.copies == 1 && self.elapsed >= min_run
    }
}

/// Lists the running tasks of a job and kind by id. `weights` are those by which a node's attempts are scored. Attempts that
/// are to be killed do not count. Rates go by the master's clock, so that of an attempt whose node has fallen silent decays.
pub(super) fn list(
    view: View<'_>,
    (job, kind): (JobId, Kind),
    weights: impl Fn(NodeId) -> StageWeights,
    list: &mut Vec<Running>,
) {
    list.clear();
    list.extend(view.runs(job, kind).filter(|run| !run.dying).map(|run| {
        let elapsed = view.now() - run.start;
        let score = weights(run.node).score_of(&view.progress(&run));
        Running {
            task: run.task,
            copies: 1,
            best: run.id,
            attempt: run.attempt,
            elapsed,
            score,
            rate: progress_rate(score, elapsed),
            time_to_end: time_to_end(score, elapsed),
        }
    }));
    // The best attempt of each task first, then the others fold into it.
    list.sort_unstable_by(|a, b| {
        let by_rate = || b.rate.total_cmp(&a.rate).then(a.attempt.cmp(&b.attempt));
        a.task.cmp(&b.task).then_with(by_rate)
    });
    list.dedup_by(|other, best| {
        let same = other.task == best.task;
        best.copies += if same { other.copies } else { 0 };
        same
    });
}

/// Sorts by time to end, the longest first; by task among equals.
pub(super) fn longest_first(list: &mut [Running]) {
    list.sort_unstable_by(|a, b| b.time_to_end.total_cmp(&a.time_to_end).then_with(|| a.task.cmp(&b.task)));
}

/// The slow tasks of each job. A job is looked at once in a heartbeat interval, because no node reports more often.
#[derive(Debug, Default)]
pub(super) struct SlowTasks {
    jobs: ByJob<[Look; 2]>,
}

/// What was found when a job was looked at.
#[derive(Debug, Default)]
struct Look {
    /// When to look again.
    next: Ms,
    slow: Vec<Running>,
}

impl SlowTasks {
    /// Those of a job that have run alone since it was looked at, in the order in which `judge` lists them.
    pub(super) fn of<'a>(
        &'a mut self,
        view: View<'a>,
        (job, kind): (JobId, Kind),
        judge: impl FnOnce(&mut Vec<Running>),
    ) -> impl Iterator<Item = TaskId> + 'a {
        let look = &mut self.jobs[job][kind.index()];
        if view.now() >= look.next {
            judge(&mut look.slow);
            look.next = view.now() + view.heartbeat_interval();
        }
        let alone = move |slow: &&Running| {
            let best = |run: AttemptView| (run.task, run.attempt) == (slow.task, slow.attempt) && !run.dying;
            view.live_attempts(slow.task) == 1 && view.attempt(slow.best).is_some_and(best)
        };
        look.slow.iter().filter(alone).map(|slow| slow.task)
    }

    /// When a job is to be looked at again.
    pub(super) fn next_look(&self, (job, kind): (JobId, Kind)) -> Ms {
        self.jobs[job][kind.index()].next
    }

    /// Forgets a job that has ended.
    pub(super) fn remove(&mut self, job: JobId) {
        self.jobs.take(job);
    }
}
