//! How long the tasks of each job take: from the log, or learnt from those that have ended.

use resched_sim::hadoop::{AttemptEnd, Kind, View};
use resched_sim::{JobId, Ms};
use resched_tables::model::Outcome;

use crate::parts::by_id::ByJob;
use crate::parts::profile::{Profile, Stage};
use crate::settings::choices;

choices! {
    /// Where a policy takes its run times from.
    pub enum Source {
        /// From the log of the job itself, as if an earlier run of it had been the same. Only an oracle may.
        Logged = "logged",
        /// From the tasks of the job that have ended; before the first one, from those of all jobs.
        Learnt = "learnt",
    }
}

/// What a task counts of which nothing is known, ms: so little that it decides only between jobs of which nothing is known, by the
/// number of their tasks.
const UNKNOWN: f64 = 1.0;

/// Some run times of one kind of task, in sum.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    count: u32,
    total: Ms,
    longest: Ms,
}

impl Times {
    fn add(&mut self, time: Ms) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(time);
        self.longest = self.longest.max(time);
    }

    /// So many tasks like these.
    fn stage(&self, tasks: u32) -> Stage {
        if self.count == 0 {
            return Stage { tasks, mean: UNKNOWN, longest: UNKNOWN };
        }
        Stage { tasks, mean: self.total as f64 / f64::from(self.count), longest: self.longest as f64 }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    times: [Times; 2],
    first_shuffle: Ms,
    /// When the master learned that the last map was done.
    maps_done: Option<Ms>,
}

/// The run times of all jobs.
#[derive(Debug)]
pub struct JobTimes {
    source: Source,
    jobs: ByJob<Known>,
    all: [Times; 2],
}

impl JobTimes {
    /// No jobs yet.
    pub fn new(source: Source) -> Self {
        Self { source, jobs: ByJob::default(), all: Default::default() }
    }

    /// A job has arrived.
    pub fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let logged = view.oracle().filter(|_| self.source == Source::Logged);
        if let Some(oracle) = logged {
            let known = &mut self.jobs[job];
            known.first_shuffle = oracle.first_wave_shuffle(job);
            for kind in Kind::BOTH {
                oracle.run_times(job, kind).flatten().for_each(|time| known.times[kind.index()].add(time));
            }
        }
    }

    /// The master has learned how an attempt ended. A reduce's time counts from the end of its job's last map.
    pub fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if self.source == Source::Logged || ended.outcome != Outcome::Success {
            return;
        }
        let known = &mut self.jobs[ended.job];
        let job = view.job(ended.job);
        let from = match ended.kind {
            Kind::Map => ended.start,
            Kind::Reduce => ended.start.max(known.maps_done.unwrap_or(ended.start)),
        };
        if ended.kind == Kind::Map && job.finished(Kind::Map) == job.desired(Kind::Map) {
            known.maps_done = Some(view.now());
        }
        let time = (ended.finish - from).max(0);
        known.times[ended.kind.index()].add(time);
        self.all[ended.kind.index()].add(time);
    }

    /// True if anything is known of tasks of a kind of a job.
    pub fn knows(&self, job: JobId, kind: Kind) -> bool {
        self.times(job, kind).count > 0
    }

    /// The profile of a job with so many tasks of each kind: all, or those that are left.
    pub fn profile(&self, job: JobId, tasks: impl Fn(Kind) -> u32) -> Profile {
        let stage = |kind| self.times(job, kind).stage(tasks(kind));
        let reduces = stage(Kind::Reduce);
        let first_shuffle = if reduces.tasks > 0 { self.jobs[job].first_shuffle as f64 } else { 0.0 };
        Profile { maps: stage(Kind::Map), reduces, first_shuffle }
    }

    fn times(&self, job: JobId, kind: Kind) -> &Times {
        let times = &self.jobs[job].times[kind.index()];
        if times.count > 0 { times } else { &self.all[kind.index()] }
    }
}
