//! The workload of a replay: the jobs of a trace as dense arrays.

use std::collections::BTreeMap;
use std::ops::Range;

use resched_tables::demand::Demand;
use resched_tables::model::Outcome;
use resched_tables::run::Unfinished;

use super::arrays::Arrays;
use super::jobs::{Job, JobView, Jobs};
use super::names::Names;
use super::needs::{AllNeeds, Needs};
use super::order::Order;
use super::places::Places;
use crate::ids::{JobId, Ms, TaskId};
use crate::resources::Resources;

/// A logged try at a task: how and after which time it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Try {
    /// How it ended: `Success`, `Failed`, `Killed` or `Incomplete`. After `Failed`, the task is tried again if there is
    /// another try.
    pub outcome: Outcome,
    /// How long it ran, ms; not negative.
    pub run: Ms,
}

/// A task handed to [`Workload::new`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskSpec {
    /// Its id in the trace.
    pub name: String,
    /// The resources that each of its instances requests.
    pub demand: Resources,
    /// How many instances it has, at least 1.
    pub instances: u32,
    /// Whether they start together or not at all, and end together.
    pub gang: bool,
    /// For a gang or a single instance: its tries in order, the last of which ends it. For several instances: one try
    /// each, in turn. If there are more instances than tries, they start again with the first try.
    pub tries: Vec<Try>,
    /// What it needs beside processor and memory.
    pub needs: Needs,
}

/// A stage handed to [`Workload::new`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageSpec {
    /// Its name in its job.
    pub name: String,
    /// The names of the stages that must end before it starts.
    pub after: Vec<String>,
    /// Its tasks.
    pub tasks: Vec<TaskSpec>,
}

/// A job handed to [`Workload::new`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobSpec {
    /// Its properties.
    pub job: Job,
    /// The ids of the jobs that must end before it starts.
    pub after: Vec<String>,
    /// Its stages.
    pub stages: Vec<StageSpec>,
}

/// The walltime limit of a job of which the log has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MissingLimit {
    /// So many times as long as its longest task runs.
    Times(f64),
    /// As long as the longest task of all jobs runs: one limit for all, as a partition has.
    Longest,
}

/// The end of a trace, which cuts off what has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The end of the trace, ms of the simulated clock.
    pub end: Ms,
    /// What becomes of tries with the outcome `Incomplete`.
    pub unfinished: Unfinished,
}

/// A task: one or more instances with the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Its job.
    pub job: JobId,
    /// The resources that each of its instances requests.
    pub demand: Resources,
    /// How many instances it has.
    pub instances: u32,
    /// Whether they start together or not at all.
    pub gang: bool,
    /// The number of its stage among all.
    pub(super) stage: u32,
    pub(super) tries: u32,
    pub(super) try_count: u32,
}

impl Task {
    /// The resources that must be free for it to start: the demand of an instance, or of the whole gang.
    #[inline]
    pub fn unit(&self) -> Resources {
        if self.gang { self.demand.times(u64::from(self.instances)) } else { self.demand }
    }

    /// How many times it starts if nothing fails: once per instance, or once for a gang.
    #[inline]
    pub fn units(&self) -> u32 {
        if self.gang { 1 } else { self.instances }
    }

    /// True if its tries follow each other in the order of the log. Otherwise each logged try belongs to one instance.
    #[inline]
    pub(super) fn is_sequence(&self) -> bool {
        self.units() == 1
    }
}

/// The jobs of a replay. Jobs are numbered by submission, then by id; tasks by their jobs, then as they stand in their stages.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    pub(super) jobs: Jobs,
    pub(super) tasks: Vec<Task>,
    pub(super) tries: Vec<Try>,
    /// The ids of the tasks.
    pub(super) names: Names,
    /// The stages of each job.
    pub(super) job_stages: Vec<Range<u32>>,
    /// The dependencies between jobs.
    pub(super) job_order: Order,
    /// The arrays of jobs of which only so many may run at once.
    pub(super) arrays: Arrays,
    /// The dependencies between stages, numbered over all jobs.
    pub(super) stage_order: Order,
    /// The tasks of each stage.
    pub(super) stage_tasks: Vec<Range<u32>>,
    /// The job of each stage.
    pub(super) stage_jobs: Vec<u32>,
    pub(super) cut: Option<Cut>,
    /// What tasks need beside processor and memory.
    pub(super) needs: AllNeeds,
    /// True if the log says when jobs could start. If not, nobody can compare that with a replay.
    pub(super) knows_eligible: bool,
    /// The time of the trace at 0 of the simulated clock, ms.
    pub(super) zero: Ms,
    /// The machines that tasks prefer.
    pub(super) places: Places,
    /// How many times as long a task takes that prefers machines, by how near it runs to one; `None`: nobody prefers any.
    pub(super) level_factors: Option<[f64; 3]>,
    /// True if tasks prefer the machines that hold much of what a stage wrote that they read.
    pub(super) shuffles_have_places: bool,
    /// Whether the tasks of each stage look there, as far as the log shows it. Empty, or an entry for each stage.
    pub(super) stage_looks: Vec<Option<bool>>,
    /// The settings of scheduling of each application, by the group of its jobs.
    pub(super) applications: BTreeMap<String, BTreeMap<String, String>>,
}

impl Workload {
    /// Some of the jobs by themselves, with their tasks. Their times stay as they are; what waits for a job of another part does not.
    pub fn part(&self, jobs: Range<usize>) -> Self {
        let jobs = jobs.start.min(self.jobs.len())..jobs.end.min(self.jobs.len());
        let stages = span(&self.job_stages, jobs.clone());
        let tasks = span(&self.stage_tasks, stages.clone());
        let back = |range: &Range<u32>, first: usize| range.start - first as u32..range.end - first as u32;
        let mut part = Self {
            cut: self.cut,
            level_factors: self.level_factors,
            shuffles_have_places: self.shuffles_have_places,
            applications: self.applications.clone(),
            needs: self.needs.part(tasks.clone()),
            knows_eligible: self.knows_eligible,
            zero: self.zero,
            ..Self::default()
        };
        for (old, task) in tasks.clone().zip(&self.tasks[tasks.clone()]) {
            let tries = part.tries.len() as u32;
            let logged = task.tries as usize..(task.tries + task.try_count) as usize;
            part.tries.extend_from_slice(&self.tries[logged.clone()]);
            part.places.copy(old - tasks.start, tries as usize, &self.places, (old, logged));
            let (job, stage) = (JobId(task.job.0 - jobs.start as u32), task.stage - stages.start as u32);
            part.tasks.push(Task { job, stage, tries, ..*task });
        }
        for task in tasks.clone() {
            part.names.copy(&self.names, task);
        }
        part.stage_tasks.extend(self.stage_tasks[stages.clone()].iter().map(|range| back(range, tasks.start)));
        part.stage_looks.extend(self.stage_looks.get(stages.clone()).unwrap_or_default());
        part.stage_jobs.extend(self.stage_jobs[stages.clone()].iter().map(|job| job - jobs.start as u32));
        part.job_stages.extend(self.job_stages[jobs.clone()].iter().map(|range| back(range, stages.start)));
        (part.job_order, part.stage_order) = (self.job_order.part(jobs.clone()), self.stage_order.part(stages));
        part.arrays = self.arrays.part(&jobs);
        part.jobs = self.jobs.part(jobs);
        part
    }

    /// The same jobs, of which those without a walltime limit get one.
    pub fn limit_unlimited(&mut self, limit: MissingLimit) {
        let mut longest: Vec<Ms> = vec![0; self.jobs.len()];
        for task in &self.tasks {
            let tries = &self.tries[task.tries as usize..(task.tries + task.try_count) as usize];
            let of_job = &mut longest[task.job.index()];
            *of_job = tries.iter().fold(*of_job, |longest, logged| longest.max(logged.run));
        }
        let of_all = longest.iter().copied().max().unwrap_or(0);
        self.jobs.set_unrequested(|job| match limit {
            MissingLimit::Times(factor) => (longest[job] as f64 * factor).ceil() as Ms,
            MissingLimit::Longest => of_all,
        });
    }

    /// The same jobs, cut off by the end of a trace.
    #[must_use]
    pub fn cut_off(self, cut: Cut) -> Self {
        Self { cut: Some(cut), ..self }
    }

    /// How a try goes if it starts at `now`: how it ends and how long it runs. Work that had not ended with the trace holds its place
    /// until that end, or runs for as long as it was seen to run, but not beyond that end.
    pub(super) fn course(&self, logged: Try, now: Ms) -> Try {
        let Some(Cut { end, unfinished }) = self.cut.filter(|_| logged.outcome == Outcome::Incomplete) else {
            return logged;
        };
        let left = end.saturating_sub(now).max(0);
        match unfinished {
            // What could not be estimated is still incomplete.
            Unfinished::Drop | Unfinished::Estimate => Try { run: left, ..logged },
            Unfinished::Cap => Try { outcome: Outcome::Success, run: logged.run.min(left) },
        }
    }

    /// True if a task of the job is left out that had not ended when the trace ended, and that counts.
    pub fn is_incomplete(&self, job: JobId) -> bool {
        self.job(job).incomplete && self.cut.is_none_or(|cut| cut.unfinished != Unfinished::Cap)
    }

    /// The jobs, by [`JobId`].
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// A job. As [`Jobs::get`].
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn job(&self, job: JobId) -> JobView<'_> {
        self.jobs.at(job.index())
    }

    /// The tasks, by [`TaskId`].
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// A task.
    #[inline]
    pub fn task(&self, task: TaskId) -> &Task {
        &self.tasks[task.index()]
    }

    /// What a task needs beside processor and memory.
    pub fn needs(&self, task: TaskId) -> &Needs {
        self.needs.of(task.index())
    }

    /// The tasks, by [`TaskId`], each with what it needs beside processor and memory.
    pub fn tasks_with_needs(&self) -> impl Iterator<Item = (&Task, &Needs)> {
        self.tasks.iter().enumerate().map(|(place, task)| (task, self.needs.of(place)))
    }

    /// The id of a task in the trace.
    pub fn task_name(&self, task: TaskId) -> &str {
        self.names.get(task.index())
    }

    /// The place of the stage of a task among those of its job.
    pub fn stage_of(&self, task: TaskId) -> usize {
        let task = self.task(task);
        (task.stage - self.job_stages[task.job.index()].start) as usize
    }

    /// The settings of scheduling of each application, by the group of its jobs; empty if the trace gives none.
    pub fn applications(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.applications
    }

    /// What the tasks of a job ask for together: those of one stage, the largest over its stages.
    pub fn demand(&self, job: JobId) -> Demand {
        let mut all = Demand::default();
        let mut tasks = 0..0;
        for stage in self.job_stages.get(job.index()).cloned().unwrap_or_default() {
            let mut together = Demand::default();
            tasks = self.stage_tasks.get(stage as usize).cloned().unwrap_or_default();
            for task in tasks.clone().map(TaskId) {
                let (entry, needs) = (self.task(task), self.needs(task));
                let amounts = [entry.demand.cpu, entry.demand.memory].map(|amount| i64::try_from(amount).ok());
                let resources = needs.resources.iter().map(|(name, amount)| (&**name, *amount));
                together.add(entry.instances.into(), amounts, needs.machines.map(i64::from), resources);
            }
            all.raise(together);
        }
        // One instance runs on one machine, also if the trace does not say so.
        let is_single = self.job_stages.get(job.index()).is_some_and(|stages| stages.len() == 1)
            && tasks.len() == 1
            && self.tasks.get(tasks.start as usize).is_some_and(|task| task.instances == 1);
        all.machines = all.machines.or(is_single.then_some(1));
        all
    }

    /// The logged tries at a task.
    #[inline]
    pub fn tries(&self, task: TaskId) -> &[Try] {
        let task = self.task(task);
        &self.tries[task.tries as usize..(task.tries + task.try_count) as usize]
    }

    /// How many times tasks start if nothing fails.
    pub fn units(&self) -> u64 {
        self.tasks.iter().map(|task| u64::from(task.units())).sum()
    }
}

/// What these consecutive ranges cover together.
fn span(ranges: &[Range<u32>], of: Range<usize>) -> Range<usize> {
    let within = &ranges[of];
    let start = within.first().map_or(0, |first| first.start as usize);
    start..within.last().map_or(start, |last| last.end as usize)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::loading::Skipped;

    fn task(name: &str) -> TaskSpec {
        let tries = vec![Try { outcome: Outcome::Success, run: 1 }];
        let demand = Resources { cpu: 1, memory: 0 };
        TaskSpec { name: name.to_owned(), demand, instances: 1, tries, ..TaskSpec::default() }
    }

    fn stage(name: &str, after: &[&str]) -> StageSpec {
        let after = after.iter().map(|&name| name.to_owned()).collect();
        StageSpec { name: name.to_owned(), after, tasks: vec![task(name)] }
    }

    fn job(id: &str, submit: Ms, after: &[&str], stages: Vec<StageSpec>) -> JobSpec {
        let after = after.iter().map(|&name| name.to_owned()).collect();
        JobSpec { job: Job { id: id.to_owned(), submit, ..Job::default() }, after, stages }
    }

    #[test]
    fn jobs_are_numbered_by_submission_then_as_numbers_and_dependencies_follow() {
        let specs = vec![
            job("10", 7, &["2", "x"], vec![stage("M2", &["M1"]), stage("M1", &[])]),
            job("9", 7, &[], vec![stage("M1", &["M1"])]),
            job("2", 5, &["10"], Vec::new()),
        ];
        let (workload, skipped) = Workload::new(specs, 100).unwrap();
        let jobs: Vec<_> = workload.jobs().iter().map(|job| (job.id, job.submit)).collect();
        assert_eq!(jobs, [("2", 100), ("9", 102), ("10", 102)]);
        assert_eq!(
            [0, 1, 2].map(|job| workload.job_order.needs(job)),
            [0, 0, 1],
            "2 and 10 wait for each other: the first waits no more"
        );
        assert_eq!([0, 1, 2].map(|stage| workload.stage_order.needs(stage)), [0, 1, 0]);
        assert_eq!(workload.task_name(TaskId(2)), "M1");
        assert_eq!(workload.task(TaskId(2)).job, JobId(2));
        let expected = [("dependency-in-a-cycle".to_owned(), 2), ("unknown-dependency".to_owned(), 1)];
        assert_eq!(skipped, Skipped::from(expected));
    }

    #[test]
    fn a_task_that_cannot_be_is_an_error() {
        let of = |task: TaskSpec| {
            Workload::new(vec![job("1", 0, &[], vec![StageSpec { tasks: vec![task], ..StageSpec::default() }])], 0)
                .is_err()
        };
        assert!(of(TaskSpec { tries: Vec::new(), ..task("a") }));
        assert!(of(TaskSpec { instances: 0, ..task("a") }));
        assert!(of(TaskSpec { demand: Resources::NONE, ..task("a") }));
        assert!(!of(task("a")));
    }
}
