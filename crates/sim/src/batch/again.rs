//! Jobs of a workload that are submitted again, at other times and for other run times: what may come, made of what was.

use resched_tables::model::Outcome;

use super::jobs::Again;
use super::workload::{Task, Try, Workload};
use crate::Error;
use crate::ids::JobId;

impl Workload {
    /// These jobs, which are sorted by submission, and then by the jobs that they are like. What a job waits for besides machines is left
    /// out: other jobs, and places of its array. All stages of a job start at once.
    ///
    /// # Errors
    /// [`Error::Config`] if a job does not exist, a run time is negative, or the jobs are not in that order.
    pub fn again(&self, jobs: &[Again]) -> Result<Self, Error> {
        if !jobs.is_sorted_by_key(|job| (job.submit, job.job)) {
            let problem = "jobs that are submitted again: expected them in the order of submission, found another";
            return Err(Error::Config(problem.to_owned()));
        }
        let applications = self.applications.clone();
        let mut made = Self { zero: self.zero, knows_eligible: true, applications, ..Self::default() };
        let mut old_tasks = Vec::with_capacity(jobs.len());
        for (job, number) in jobs.iter().zip(0_u32..) {
            let Some(stages) = self.job_stages.get(job.job.index()).filter(|_| job.run >= 0) else {
                let problem = format!("job {} cannot be submitted again to run for {} ms", job.job.0, job.run);
                return Err(Error::Config(problem));
            };
            let first_stage = made.stage_tasks.len() as u32;
            for old in stages.clone() {
                let (first, stage) = (made.tasks.len() as u32, made.stage_tasks.len() as u32);
                for task in self.stage_tasks.get(old as usize).cloned().unwrap_or_default() {
                    let Some(&like) = self.tasks.get(task as usize) else { continue };
                    let tries = made.tries.len() as u32;
                    made.tries.push(Try { outcome: Outcome::Success, run: job.run });
                    made.tasks.push(Task { job: JobId(number), stage, tries, try_count: 1, ..like });
                    made.names.copy(&self.names, task as usize);
                    old_tasks.push(task as usize);
                }
                made.stage_tasks.push(first..made.tasks.len() as u32);
                made.stage_jobs.push(number);
            }
            made.job_stages.push(first_stage..made.stage_tasks.len() as u32);
        }
        made.needs = self.needs.in_order(old_tasks.into_iter());
        made.jobs = self.jobs.again(jobs);
        Ok(made)
    }
}
