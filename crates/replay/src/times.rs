//! When each job of a replay was submitted, started and ended. Nothing else is kept, so this is the cheapest way to compare replays.

use resched_sim::{Error, JobEnded, JobId, Ms, batch, hadoop};
use resched_tables::model::Outcome;
use resched_tables::run::RunWindow;

/// The times of a job in a replay, ms of the simulated clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTimes {
    /// When it was submitted; `None` if it was there before the trace began.
    pub submit: Option<Ms>,
    /// When the first attempt at one of its tasks started, set-up and clean-up apart; `None` if none did.
    pub start: Option<Ms>,
    /// When it ended; `None` if it did not.
    pub finish: Option<Ms>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The times of all jobs of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// Those of each job, in the order of submission.
    pub jobs: Vec<JobTimes>,
    /// The time in which jobs must be submitted to count; `None` if all do.
    pub window: Option<RunWindow>,
}

fn unfinished(submit: Option<Ms>) -> JobTimes {
    JobTimes { submit, start: None, finish: None, outcome: Outcome::Incomplete }
}

fn starts(times: &mut [JobTimes], job: JobId, start: Ms) {
    if let Some(time) = times.get_mut(job.index()) {
        time.start = Some(time.start.map_or(start, |before| before.min(start)));
    }
}

/// The job ends. What is left out of one that had not ended with its trace is not known, so it has not ended here, either.
fn ends(times: &mut [JobTimes], ended: &JobEnded, incomplete: bool) {
    if let Some(time) = times.get_mut(ended.job.index()) {
        time.finish = Some(ended.finish);
        let cut_off = incomplete && ended.outcome == Outcome::Success;
        time.outcome = if cut_off { Outcome::Incomplete } else { ended.outcome };
    }
}

/// Takes note of the times of Hadoop's jobs.
pub(crate) struct OfHadoop<'w> {
    workload: &'w hadoop::Workload,
    pub(crate) jobs: Vec<JobTimes>,
}

impl<'w> OfHadoop<'w> {
    pub(crate) fn new(workload: &'w hadoop::Workload) -> Self {
        Self { workload, jobs: workload.jobs().iter().map(|job| unfinished(Some(job.submit))).collect() }
    }
}

impl resched_sim::Reports for OfHadoop<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        ends(&mut self.jobs, ended, self.workload.job(ended.job).incomplete);
        Ok(())
    }
}

impl hadoop::Observer for OfHadoop<'_> {
    fn ended(&mut self, ended: &hadoop::Ended) -> Result<(), Error> {
        starts(&mut self.jobs, self.workload.job_of(ended.task), ended.start);
        Ok(())
    }
}

/// Takes note of the times of batch jobs.
pub(crate) struct OfBatch<'w> {
    workload: &'w batch::Workload,
    pub(crate) jobs: Vec<JobTimes>,
}

impl<'w> OfBatch<'w> {
    pub(crate) fn new(workload: &'w batch::Workload) -> Self {
        Self {
            workload,
            jobs: workload.jobs().iter().map(|job| unfinished((!job.before).then_some(job.submit))).collect(),
        }
    }
}

impl resched_sim::Reports for OfBatch<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        ends(&mut self.jobs, ended, self.workload.is_incomplete(ended.job));
        Ok(())
    }
}

impl batch::Observer for OfBatch<'_> {
    fn launched(&mut self, launched: &batch::Launched<'_>) -> Result<(), Error> {
        starts(&mut self.jobs, self.workload.task(launched.task).job, launched.at);
        Ok(())
    }
}
