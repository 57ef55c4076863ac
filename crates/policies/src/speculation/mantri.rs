//! Mantri: restarts and duplicates where they are likely to pay (`docs/model/baselines.md`).
//!
//! **What it does.** For each running task it compares the time that its best copy still takes with the time that a new
//! copy would take, estimated from the finished tasks of the job and kind. If a slot is free, a task with c copies gets
//! another one if a saving of slot time is likely: if `P(t_rem · c > t_new · (c + 1))` exceeds a threshold. While other
//! tasks wait, a single copy is killed if its remaining time is longer than that of a new copy by Δ; its task then
//! starts anew. Once the latest of several copies has run for Δ, only the fastest are kept.
//!
//! **Source.** Reining in the Outliers in Map-Reduce Clusters using Mantri (OSDI 2010), section 5.1. Decisions: the
//! distribution of `t_new` is that of the job's succeeded attempts of the kind, once there are a few. All decisions are
//! made every Δ. A duplicate starts on the first node with a spare slot. The policy places a task that starts anew. A
//! task that lost its duplicates gets no others, because they were no faster. Mantri's placement of reduces and its
//! protection of outputs are left out.

use resched_sim::hadoop::{AttemptEnd, AttemptId, AttemptView, Kind, Orders, View};
use resched_sim::{JobId, Ms, TaskId};

use super::SpeculatorInfo;
use super::on_schedule::{OnSchedule, Search};
use super::requests::Requests;
use crate::parts::by_id::{ByJob, ByTask};
use crate::parts::task_progress::{StageWeights, time_to_end};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "mantri",
    title: "Mantri: restarts and duplicates where they are likely to pay",
    source: "Reining in the Outliers in Map-Reduce Clusters using Mantri (OSDI 2010)",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(Mantri::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// probability of a saving above which a task gets a duplicate
        probability: f64 = "probability" { default: 0.25, range: 0..=1 },
        /// most copies of a task over its whole life
        copies: u32 = "copies" { default: 3, range: 1..=100, unit: "attempts" },
        /// number of fastest copies that are kept
        keep: usize = "keep" { default: 2, range: 1..=100, unit: "attempts" },
        /// how many times a task may be killed to start anew
        restarts: u32 = "restarts" { default: 3, range: 0..=100 },
        /// time between two checks; also the run time before which a copy is not judged, and the least gain of a
        /// restart
        delta: Ms = "delta" { default: 10000, range: 1..=3_600_000, unit: "ms" },
        /// tasks of a kind that must be done in a job before Mantri acts
        samples: usize = "samples" { default: 5, range: 1..=1_000_000, unit: "tasks" },
    }
}

/// The speculator.
#[derive(Debug)]
struct Mantri {
    probability: f64,
    copies: u32,
    keep: usize,
    restarts: u32,
    delta: Ms,
    samples: usize,
    new_times: ByJob<[NewTimes; 2]>,
    /// Its actions on each task.
    tasks: ByTask<Done>,
    list: Vec<Copy>,
    wanted: Vec<(f64, TaskId)>,
}

/// The actions on a task.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    duplicates: u32,
    restarts: u32,
}

/// How long a new copy of a task of a job may take: what those took that succeeded, ms, ascending.
#[derive(Debug, Default)]
struct NewTimes {
    times: Vec<f64>,
    sum: f64,
}

impl NewTimes {
    fn add(&mut self, time: f64) {
        self.times.insert(self.times.partition_point(|other| *other < time), time);
        self.sum += time;
    }

    /// `E(t_new)`, ms; `None` of nothing.
    fn mean(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.sum / self.times.len() as f64)
    }

    /// `P(t_rem · c > t_new · (c + 1))`: how likely one more copy saves slot time.
    fn saving(&self, remaining: f64, copies: u32) -> f64 {
        let copies = f64::from(copies);
        let shorter = self.times.partition_point(|time| time * (copies + 1.0) < remaining * copies);
        shorter as f64 / self.times.len().max(1) as f64
    }
}

/// A running copy of a task.
#[derive(Debug, Clone, Copy)]
struct Copy {
    task: TaskId,
    remaining: f64,
    attempt: u32,
    elapsed: Ms,
    run: AttemptId,
}

impl Mantri {
    fn new(settings: Settings) -> OnSchedule<Self> {
        OnSchedule::new(Self {
            probability: settings.probability,
            copies: settings.copies,
            keep: settings.keep,
            restarts: settings.restarts,
            delta: settings.delta,
            samples: settings.samples,
            new_times: ByJob::default(),
            tasks: ByTask::default(),
            list: Vec::new(),
            wanted: Vec::new(),
        })
    }

    /// How long new copies take, once enough is known of it.
    fn known(&self, (job, kind): (JobId, Kind)) -> Option<&NewTimes> {
        Some(&self.new_times[job][kind.index()]).filter(|known| known.times.len() >= self.samples)
    }

    /// Kills copies of a job that do not pay (the slower ones of several, and lone ones that should start anew), and asks for
    /// those that do.
    fn check(&mut self, view: View<'_>, of: (JobId, Kind), requests: &mut Requests, orders: &mut Orders) {
        let Some(new_time) = self.known(of).and_then(NewTimes::mean) else { return };
        let mut list = std::mem::take(&mut self.list);
        list_copies(view, of, &mut list);
        self.wanted.clear();
        let (delta, too_long) = (self.delta, new_time + self.delta as f64);
        let judged = |copies: &&[Copy]| copies.iter().all(|copy| copy.elapsed >= delta);
        for copies in list.chunk_by(|a, b| a.task == b.task).filter(judged) {
            let Copy { task, remaining, .. } = copies[0];
            if copies.len() == 1 && view.ready(of.1) > 0 && remaining > too_long && self.may_restart(task) {
                orders.kill(copies[0].run);
                continue;
            }
            copies.iter().skip(self.keep).for_each(|copy| orders.kill(copy.run));
            if self.pays(of, task, remaining, copies.len() as u32) {
                self.wanted.push((remaining, task));
            }
        }
        self.list = list;
        self.wanted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.wanted.iter().for_each(|&(_, task)| requests.push(task, of.1));
    }

    /// True if another copy of a task is likely to pay.
    fn pays(&self, of: (JobId, Kind), task: TaskId, remaining: f64, copies: u32) -> bool {
        let duplicates = self.tasks[task].duplicates;
        let saving = self.known(of).map_or(0.0, |known| known.saving(remaining, copies));
        duplicates + 1 < self.copies && saving > self.probability
    }

    /// True if a task may be killed to start anew; counts it if so.
    fn may_restart(&mut self, task: TaskId) -> bool {
        let most = self.restarts;
        let done = &mut self.tasks[task];
        let may = done.restarts < most;
        done.restarts += u32::from(may);
        may
    }
}

/// Lists the running copies of the tasks of a job and kind: by task, the fastest first.
fn list_copies(view: View<'_>, (job, kind): (JobId, Kind), list: &mut Vec<Copy>) {
    let weights = StageWeights::fixed(kind);
    list.clear();
    list.extend(view.runs(job, kind).filter(|run| !run.dying).map(|run| {
        let elapsed = view.now() - run.start;
        let remaining = time_to_end(weights.score_of(&view.progress(&run)), elapsed);
        Copy { task: run.task, remaining, attempt: run.attempt, elapsed, run: run.id }
    }));
    list.sort_unstable_by(|a, b| {
        a.task.cmp(&b.task).then(a.remaining.total_cmp(&b.remaining)).then(a.attempt.cmp(&b.attempt))
    });
}

impl Search for Mantri {
    fn period(&self) -> Ms {
        self.delta
    }

    fn look(&mut self, view: View<'_>, requests: &mut Requests, orders: &mut Orders) {
        requests.clear();
        for &job in view.jobs() {
            for kind in Kind::BOTH {
                self.check(view, (job, kind), requests, orders);
            }
        }
    }

    fn task_started(&mut self, started: &AttemptView) {
        self.tasks[started.task].duplicates += u32::from(started.backup);
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        self.new_times[ended.job][ended.kind.index()].add((ended.finish - ended.start) as f64);
    }

    fn job_finished(&mut self, job: JobId) {
        self.new_times.take(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_pays_if_it_is_likely_to_save_slot_time() {
        let mut known = NewTimes::default();
        [40.0, 10.0, 30.0, 20.0].into_iter().for_each(|time| known.add(time));
        assert_eq!(known.mean(), Some(25.0));
        // One copy that takes 50 more: two of 25 are as much, and half of the new ones take less.
        assert_eq!(known.saving(50.0, 1), 0.5);
        // Two copies: 50 · 2 against three new ones of 33.
        assert_eq!(known.saving(50.0, 2), 0.75);
        assert_eq!(known.saving(20.0, 1), 0.0, "10 twice is no saving");
        assert_eq!(known.saving(20.1, 1), 0.25);
        assert_eq!(known.saving(f64::INFINITY, 1), 1.0);
        assert_eq!(NewTimes::default().mean(), None);
    }
}
