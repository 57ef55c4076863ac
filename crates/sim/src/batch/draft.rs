//! A [`Workload`] under construction: jobs in any order, already in the dense arrays of the end.

use std::collections::BTreeMap;

use resched_tables::model::Locality;

use super::arrays::Arrays;
use super::jobs::{JobView, Jobs, NewJobs};
use super::needs::Needs;
use super::order::Order;
use super::workload::{JobSpec, Task, TaskSpec, Try, Workload};
use crate::Error;
use crate::ids::{JobId, Ms, NodeId, by_number};
use crate::loading::{LONGEST, Skipped};
use crate::resources::Resources;

impl Workload {
    /// The workload of these jobs, the first of which is submitted at `first_submit`, ms. Also returns counts of what
    /// was left out: dependencies on jobs or stages that do not exist (`unknown-dependency`), and dependencies in
    /// cycles (`dependency-in-a-cycle`).
    ///
    /// # Errors
    /// [`Error::Config`] if there are more tasks than ids, or if a task has no try, no instance or an empty demand.
    pub fn new(specs: Vec<JobSpec>, first_submit: Ms) -> Result<(Self, Skipped), Error> {
        let mut draft = Draft::default();
        for JobSpec { job, after, stages } in specs {
            for stage in &stages {
                for TaskSpec { name, demand, instances, gang, tries, needs } in &stage.tasks {
                    draft.task(name, *demand, *instances, *gang, tries)?;
                    draft.last_needs(needs.clone());
                }
                draft.end_stage()?;
            }
            let names = stages.iter().map(|stage| (stage.name.as_str(), stage.after.as_slice()));
            draft.end_job(job.as_view(), after, names)?;
        }
        draft.finish(first_submit)
    }
}

/// The jobs so far. Give the tasks of a stage, end the stage, and after its last stage end the job.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The workload, but for its jobs.
    workload: Workload,
    jobs: NewJobs,
    /// The ids of the jobs that must end before a job, for the jobs that wait for others.
    after: Vec<(u32, Vec<String>)>,
    /// The jobs that are tasks of an array of which only so many may run at once, by array, with that limit.
    arrays: BTreeMap<String, (u32, Vec<u32>)>,
    /// The dependencies between stages, `(earlier, later)`.
    stages: Vec<(u32, u32)>,
    /// Dependencies on jobs or stages that do not exist.
    unknown: u64,
}

impl Draft {
    /// Adds a task to the current stage.
    ///
    /// # Errors
    /// [`Error::Config`] if there are more tasks than ids, or if the task has no try, no instance or an empty demand.
    pub(super) fn task(
        &mut self,
        name: &str,
        demand: Resources,
        instances: u32,
        gang: bool,
        tries: &[Try],
    ) -> Result<(), Error> {
        if tries.is_empty() || instances == 0 || demand == Resources::NONE || tries.iter().any(|one| one.run < 0) {
            return Err(Error::Config(format!("task `{name}`: expected tries, instances and a demand, found none")));
        }
        let workload = &mut self.workload;
        let (job, stage) = (JobId(id(workload.job_stages.len())?), id(workload.stage_tasks.len())?);
        let (start, try_count) = (id(workload.tries.len())?, id(tries.len())?);
        workload.tries.extend_from_slice(tries);
        workload.names.push(name)?;
        workload.tasks.push(Task { job, demand, instances, gang, stage, tries: start, try_count });
        Ok(())
    }

    /// The task that was added last needs this beside processor and memory.
    pub(super) fn last_needs(&mut self, needs: Needs) {
        let Workload { tasks, needs: all, .. } = &mut self.workload;
        all.set(tasks.len().saturating_sub(1), needs);
    }

    /// The task that was added last prefers these machines. Its tries ran at these levels.
    pub(super) fn last_prefers(&mut self, nodes: &[NodeId], levels: &[Option<Locality>]) {
        let Workload { tasks, places, .. } = &mut self.workload;
        if let Some(last) = tasks.last() {
            places.add(tasks.len() - 1, nodes, (last.tries as usize, levels));
        }
    }

    /// Ends the current stage, which has the tasks since the last end of a stage.
    ///
    /// # Errors
    /// [`Error::Config`] if there are more jobs than ids.
    pub(super) fn end_stage(&mut self) -> Result<(), Error> {
        let workload = &mut self.workload;
        let first = workload.stage_tasks.last().map_or(0, |before| before.end);
        workload.stage_tasks.push(first..id(workload.tasks.len())?);
        workload.stage_jobs.push(id(workload.job_stages.len())?);
        Ok(())
    }

    /// Ends the current job, which has the stages since the last end of a job. `after` has the ids of the jobs that it waits for;
    /// `stages` the name of each of its stages, with the names of those that it waits for.
    ///
    /// # Errors
    /// [`Error::Config`] if there are more stages than ids.
    pub(super) fn end_job<'a>(
        &mut self,
        job: JobView<'_>,
        after: Vec<String>,
        stages: impl Iterator<Item = (&'a str, &'a [String])> + Clone,
    ) -> Result<(), Error> {
        let workload = &mut self.workload;
        let first = workload.job_stages.last().map_or(0, |before| before.end);
        self.unknown += numbered(stages, first, &mut self.stages);
        if !after.is_empty() {
            self.after.push((id(workload.job_stages.len())?, after));
        }
        workload.job_stages.push(first..id(workload.stage_tasks.len())?);
        self.jobs.push(job)
    }

    /// Whether the tasks of each stage of the next job look at where the stage ran that they read.
    pub(super) fn looks(&mut self, looks: Vec<Option<bool>>) {
        let Workload { stage_looks, stage_tasks, .. } = &mut self.workload;
        stage_looks.resize(stage_tasks.len(), None);
        stage_looks.extend(looks);
    }

    /// The job that was ended last is a task of an array of which only so many tasks may run at once. The first task says how many.
    pub(super) fn last_is_of_array(&mut self, array: &str, limit: u32) {
        let Some(job) = self.workload.job_stages.len().checked_sub(1) else { return };
        let (_, jobs) = self.arrays.entry(array.to_owned()).or_insert((limit, Vec::new()));
        // There are not more jobs than ids.
        jobs.push(job as u32);
    }

    /// The workload, as [`Workload::new`] returns it.
    ///
    /// # Errors
    /// [`Error::Config`] if the ids of the tasks take more than 4 GB.
    pub(super) fn finish(mut self, first_submit: Ms) -> Result<(Workload, Skipped), Error> {
        let jobs = std::mem::take(&mut self.jobs).jobs;
        let key = |&place: &u32| (jobs.at(place as usize).submit, jobs.at(place as usize).id);
        let mut order: Vec<u32> = (0..).take(jobs.len()).collect();
        order.sort_by(|a, b| key(a).0.cmp(&key(b).0).then_with(|| by_number(key(a).1, key(b).1)));
        self.workload.jobs = jobs;
        if !order.is_sorted() {
            self = self.in_order(&order)?;
        }
        let Self { mut workload, after, arrays, stages, mut unknown, .. } = self;
        let (pairs, unknown_jobs) = between_jobs(&workload.jobs, after);
        unknown += unknown_jobs;
        let (job_order, jobs_in_cycles) = Order::new(workload.jobs.len(), pairs);
        let (stage_order, stages_in_cycles) = Order::new(workload.stage_tasks.len(), stages);
        (workload.job_order, workload.stage_order) = (job_order, stage_order);
        workload.knows_eligible = workload.jobs.iter().any(|job| job.eligible.is_some());
        workload.arrays = Arrays::new(arrays.into_values());
        for jobs in workload.arrays.all() {
            // When a task could start that waited for others of its array is an outcome of the schedule of the log.
            workload.jobs.share_eligible(jobs);
        }
        for job in (0..workload.jobs.len()).filter(|&job| workload.job_order.needs(job) > 0) {
            workload.jobs.forget_eligible(job);
        }
        let zero = workload.jobs.submit(0).unwrap_or(0);
        workload.zero = zero.saturating_sub(first_submit);
        workload.jobs.set_submits(|submit| submit.saturating_sub(zero).min(LONGEST) + first_submit);
        let counts = [("unknown-dependency", unknown), ("dependency-in-a-cycle", jobs_in_cycles + stages_in_cycles)];
        let skipped = counts.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)).collect();
        Ok((workload, skipped))
    }

    /// The same jobs in that order.
    fn in_order(mut self, order: &[u32]) -> Result<Self, Error> {
        let from = &mut self.workload;
        let jobs = std::mem::take(&mut from.jobs).in_order(order);
        let mut to = Workload { jobs, tries: std::mem::take(&mut from.tries), ..Workload::default() };
        to.places.take_levels(&mut from.places);
        let mut old_tasks = Vec::with_capacity(from.tasks.len());
        let (mut job_numbers, mut stage_numbers) = (vec![0; order.len()], vec![0; from.stage_tasks.len()]);
        for &old in order {
            let number = id(to.job_stages.len())?;
            job_numbers[old as usize] = number;
            let first_stage = id(to.stage_tasks.len())?;
            for old_stage in from.job_stages[old as usize].clone() {
                let stage = id(to.stage_tasks.len())?;
                stage_numbers[old_stage as usize] = stage;
                let tasks = from.stage_tasks[old_stage as usize].clone();
                let first = id(to.tasks.len())?;
                for task in tasks.start as usize..tasks.end as usize {
                    old_tasks.push(task);
                    to.places.add(to.tasks.len(), from.places.of(task), (0, &[]));
                    to.tasks.push(Task { job: JobId(number), stage, ..from.tasks[task] });
                    to.names.push(from.names.get(task))?;
                }
                to.stage_tasks.push(first..id(to.tasks.len())?);
                to.stage_jobs.push(number);
                to.stage_looks.extend(from.stage_looks.get(old_stage as usize));
            }
            to.job_stages.push(first_stage..id(to.stage_tasks.len())?);
        }
        to.needs = from.needs.in_order(old_tasks.into_iter());
        let stages = self.stages.iter().map(|pair| (stage_numbers[pair.0 as usize], stage_numbers[pair.1 as usize]));
        Ok(Self {
            workload: to,
            jobs: NewJobs::default(),
            after: self.after.into_iter().map(|(job, after)| (job_numbers[job as usize], after)).collect(),
            arrays: renumbered(self.arrays, &job_numbers),
            stages: stages.collect(),
            unknown: self.unknown,
        })
    }
}

/// The jobs of arrays by their new numbers, in order.
fn renumbered(arrays: BTreeMap<String, (u32, Vec<u32>)>, numbers: &[u32]) -> BTreeMap<String, (u32, Vec<u32>)> {
    let of_array = |(array, (limit, jobs)): (String, (u32, Vec<u32>))| {
        let mut jobs: Vec<u32> = jobs.into_iter().map(|job| numbers[job as usize]).collect();
        jobs.sort_unstable();
        (array, (limit, jobs))
    };
    arrays.into_iter().map(of_array).collect()
}

/// A length as an id.
fn id(length: usize) -> Result<u32, Error> {
    u32::try_from(length).map_err(|_| Error::Config("more than 4 billion tasks or tries; cut the trace".to_owned()))
}

/// Dependencies between jobs by numbers, and how many name a job that does not exist. Of two jobs with one id, the first is meant.
fn between_jobs(jobs: &Jobs, after: Vec<(u32, Vec<String>)>) -> (Vec<(u32, u32)>, u64) {
    if after.is_empty() {
        return (Vec::new(), 0);
    }
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for (job, number) in jobs.iter().zip(0..) {
        numbers.entry(job.id).or_insert(number);
    }
    let mut pairs = Vec::new();
    let mut unknown = 0;
    for (number, after) in after {
        unknown += add_pairs(&numbers, &after, number, &mut pairs);
    }
    (pairs, unknown)
}

/// Adds dependencies by numbers, counted from `first`. Returns how many name something that does not exist.
fn numbered<'a>(
    named: impl Iterator<Item = (&'a str, &'a [String])> + Clone,
    first: u32,
    pairs: &mut Vec<(u32, u32)>,
) -> u64 {
    if named.clone().all(|(_, after)| after.is_empty()) {
        return 0;
    }
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for ((name, _), number) in named.clone().zip(first..) {
        numbers.entry(name).or_insert(number);
    }
    named.zip(first..).map(|((_, after), number)| add_pairs(&numbers, after, number, pairs)).sum()
}

fn add_pairs(numbers: &BTreeMap<&str, u32>, after: &[String], number: u32, pairs: &mut Vec<(u32, u32)>) -> u64 {
    let before = pairs.len();
    pairs.extend(after.iter().filter_map(|name| Some((*numbers.get(name.as_str())?, number))));
    (after.len() - (pairs.len() - before)) as u64
}
