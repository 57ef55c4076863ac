//! What a log says of each job: when it was submitted, when it started, when it ended.
//!
//! A forecast may use only what was known at its moment. So nothing else in this crate looks at the times of a [`Job`] directly: they ask
//! [`Job::seen`], which hides what came later.

use std::collections::BTreeMap;

use resched_sim::batch::Workload;
use resched_sim::{JobId, Ms};
use resched_tables::model::{JobRecord, LONGEST};
use resched_tables::reader::{JobReader, Wanted};
use resched_tables::store::Trace;

use crate::Error;

/// Jobs of one user and name belong to one campaign if each is submitted at most so long after the one before, ms.
pub(crate) const CAMPAIGN_GAP: Ms = 10 * 60_000;

/// The columns that are read.
const WANTED: Wanted<'_> = Wanted {
    jobs: &["job_id", "name", "user", "queue", "submit", "eligible", "finish", "requested_time", "demand_machines"],
    tasks: &["job_id", "task_id", "start", "machines"],
    splits: &[],
    attempts: &["task_id", "start", "finish", "run_time"],
};

/// A job of the past. Times are ms of the clock of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id in the trace.
    pub id: String,
    /// Its queue, by its place in [`Past::queues`].
    pub queue: u32,
    /// The number of machines that it asks for, if the log says it.
    pub machines: Option<u32>,
    /// When it was submitted.
    pub submit: Ms,
    /// The longest that it may run, if it has a limit. A log has the last one that was set.
    pub limit: Option<Ms>,
    /// Its place among the jobs of the world, which says what it asks for.
    pub like: JobId,
    /// Its user, by number.
    pub(crate) user: u32,
    /// Its user and name, by number.
    pub(crate) kind: u32,
    /// Its campaign, by number.
    pub(crate) campaign: u32,
    pub(crate) eligible: Option<Ms>,
    /// What came of it. Only [`Job::seen`] and the judgement of a back-test may look at these.
    pub(crate) start: Option<Ms>,
    pub(crate) run: Option<Ms>,
    pub(crate) end: Option<Ms>,
}

/// What is known of a job at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It has not been submitted.
    Nothing,
    /// It waits, or is held until an unknown instant.
    Waits { held: bool },
    /// It runs, for so long now, ms.
    Runs { start: Ms, elapsed: Ms },
    /// It has ended after so long, ms.
    Ran { run: Ms },
    /// It was cancelled while it waited.
    Left,
}

impl Job {
    /// What is known of it at a moment.
    pub(crate) fn seen(&self, at: Ms) -> Seen {
        if self.submit > at {
            return Seen::Nothing;
        }
        let has_ended = self.end.is_some_and(|end| end <= at);
        match self.start.filter(|start| *start <= at) {
            Some(_) if has_ended => Seen::Ran { run: self.run.unwrap_or(0) },
            Some(start) => Seen::Runs { start, elapsed: at - start },
            None if has_ended => Seen::Left,
            None => Seen::Waits { held: self.eligible.is_some_and(|eligible| eligible > at) },
        }
    }

    /// True if it waits for machines at a moment.
    pub fn waits(&self, at: Ms) -> bool {
        self.seen(at) == Seen::Waits { held: false }
    }

    /// When it really started, for the judgement of a forecast.
    pub fn started(&self) -> Option<Ms> {
        self.start
    }

    /// How long it waited before it started, if that was before a moment, ms.
    pub(crate) fn waited(&self, at: Ms) -> Option<Ms> {
        self.start.filter(|start| *start <= at).map(|start| start - self.submit)
    }
}

/// The jobs of a log, in the order of submission.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The names of the queues.
    pub queues: Vec<String>,
    /// What was left out or mended, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// The jobs that started, in the order of their starts: all, and those of each user, and of each user and name.
    pub(crate) all: Vec<u32>,
    pub(crate) of_user: Vec<Vec<u32>>,
    pub(crate) of_kind: Vec<Vec<u32>>,
    /// The jobs of each campaign.
    pub(crate) of_campaign: Vec<Vec<u32>>,
}

/// A job as the log has it, before its world says what it asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    id: String,
    user: String,
    name: String,
    queue: String,
    machines: Option<i64>,
    submit: Option<Ms>,
    eligible: Option<Ms>,
    limit: Option<Ms>,
    start: Option<Ms>,
    end: Option<Ms>,
    run: Option<Ms>,
    starts: u32,
}

impl Past {
    /// The jobs of a trace, as far as `workload`, which was made of the same trace, can simulate them.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be read.
    pub fn of_trace(trace: &Trace, workload: &Workload) -> Result<Self, Error> {
        Ok(Self::of_entries(entries(JobReader::of_trace(trace, WANTED)?)?, workload))
    }

    pub(crate) fn of_entries(entries: Vec<Entry>, workload: &Workload) -> Self {
        let mut past = Self::default();
        let places = places_of(workload);
        let mut numbers = Numbers::default();
        for entry in entries {
            if let Some(job) = past.job(entry, &places, &mut numbers) {
                past.jobs.push(job);
            }
        }
        past.queues = numbers.queues.names();
        past.jobs.sort_by_key(|job| (job.submit, job.like));
        past.index();
        past
    }

    fn skip(&mut self, cause: &str) {
        *self.skipped.entry(cause.to_owned()).or_default() += 1;
    }

    fn job(&mut self, entry: Entry, places: &BTreeMap<&str, Option<JobId>>, numbers: &mut Numbers) -> Option<Job> {
        let is_time = |at: &Ms| (-LONGEST..=LONGEST).contains(at);
        let Some(submit) = entry.submit.filter(is_time) else {
            self.skip("job-without-submit");
            return None;
        };
        let like = match places.get(entry.id.as_str()) {
            Some(Some(like)) => *like,
            Some(None) => {
                self.skip("job-of-several-tasks");
                return None;
            }
            None => {
                self.skip("job-that-no-machine-could-hold");
                return None;
            }
        };
        let start = entry.start.filter(is_time);
        let end = entry.end.filter(is_time);
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            self.skip("job-that-ends-before-it-starts");
            return None;
        }
        if entry.starts > 1 {
            self.skip("job-that-started-again");
        }
        if start.is_some_and(|start| start < submit) {
            self.skip("job-that-starts-before-its-submission");
        }
        let user = numbers.users.of(&entry.user);
        let run =
            entry.run.or(start.zip(end).map(|(start, end)| end - start)).filter(|run| (0..=LONGEST).contains(run));
        Some(Job {
            queue: numbers.queues.of(&entry.queue),
            machines: entry.machines.and_then(|machines| u32::try_from(machines).ok()),
            submit: start.map_or(submit, |start| submit.min(start)),
            limit: entry.limit.filter(|limit| (1..=LONGEST).contains(limit)),
            like,
            kind: numbers.kinds.of(&format!("{}\u{0}{}", entry.user, entry.name)),
            user,
            campaign: 0,
            eligible: entry.eligible.filter(is_time),
            start,
            run,
            end,
            id: entry.id,
        })
    }

    /// Finds the campaigns, and lists the jobs of each kind by their starts.
    fn index(&mut self) {
        let count = |of: fn(&Job) -> u32| self.jobs.iter().map(|job| of(job) as usize + 1).max().unwrap_or(0);
        let (users, kinds) = (count(|job| job.user), count(|job| job.kind));
        let mut last: Vec<Option<(Ms, u32)>> = vec![None; kinds];
        for (place, job) in (0_u32..).zip(&mut self.jobs) {
            let of_kind = &mut last[job.kind as usize];
            let joined =
                of_kind.filter(|(before, _)| job.submit - before <= CAMPAIGN_GAP).map(|(_, campaign)| campaign);
            job.campaign = joined.unwrap_or(self.of_campaign.len() as u32);
            if joined.is_none() {
                self.of_campaign.push(Vec::new());
            }
            self.of_campaign[job.campaign as usize].push(place);
            *of_kind = Some((job.submit, job.campaign));
        }
        let mut started: Vec<(Ms, u32)> =
            (0_u32..).zip(&self.jobs).filter_map(|(place, job)| Some((job.start?, place))).collect();
        started.sort_unstable();
        (self.of_user, self.of_kind) = (vec![Vec::new(); users], vec![Vec::new(); kinds]);
        for (_, place) in started {
            let job = &self.jobs[place as usize];
            self.all.push(place);
            self.of_user[job.user as usize].push(place);
            self.of_kind[job.kind as usize].push(place);
        }
    }

    /// The first and the last submission; `None` without jobs.
    pub fn span(&self) -> Option<(Ms, Ms)> {
        Some((self.jobs.first()?.submit, self.jobs.last()?.submit))
    }

    /// The jobs that were submitted by a moment.
    pub(crate) fn submitted(&self, at: Ms) -> &[Job] {
        let count = self.jobs.partition_point(|job| job.submit <= at);
        self.jobs.get(..count).unwrap_or_default()
    }

    /// Of jobs by their starts, the last `most` that had started by a moment.
    pub(crate) fn last_started<'l>(&self, list: &'l [u32], at: Ms, most: usize) -> &'l [u32] {
        let has_started =
            |place: &u32| self.jobs.get(*place as usize).is_some_and(|job| job.start.is_some_and(|start| start <= at));
        let count = list.partition_point(has_started);
        list.get(count.saturating_sub(most)..count).unwrap_or_default()
    }

    /// The name of a queue.
    pub fn queue(&self, job: &Job) -> &str {
        self.queues.get(job.queue as usize).map_or("", String::as_str)
    }
}

/// Reads the jobs of a log in memory.
///
/// # Errors
/// [`Error::Trace`] if its rows are out of order.
pub(crate) fn entries_of(jobs: &[JobRecord]) -> Result<Vec<Entry>, Error> {
    entries(JobReader::of_records(jobs))
}

fn entries(mut log: JobReader<'_>) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    while log.next_job()? {
        entries.push(entry(&mut log)?);
    }
    log.check_end()?;
    Ok(entries)
}

/// Reads the current job of a log.
fn entry(log: &mut JobReader<'_>) -> Result<Entry, Error> {
    let mut entry = {
        let job = log.job();
        Entry {
            id: job.job_id().to_owned(),
            user: job.user().unwrap_or_default().to_owned(),
            name: job.name().unwrap_or_default().to_owned(),
            queue: job.queue().unwrap_or_default().to_owned(),
            machines: job.demand_machines(),
            submit: job.submit(),
            eligible: job.eligible(),
            limit: job.requested_time(),
            end: job.finish(),
            ..Entry::default()
        }
    };
    let mut last: Option<(Option<Ms>, Option<Ms>)> = None;
    while log.next_task()? {
        let of_task = log.task().start();
        entry.machines = entry.machines.or(log.task().machines());
        let mut tried = false;
        while let Some(attempt) = log.next_attempt()? {
            tried = true;
            if let Some(start) = attempt.start() {
                entry.start = Some(entry.start.map_or(start, |before| before.min(start)));
                entry.starts += 1;
                last = Some((attempt.finish().map(|finish| finish - start), attempt.finish()));
            }
        }
        if !tried && let Some(start) = of_task {
            entry.start = Some(entry.start.map_or(start, |before| before.min(start)));
            entry.starts += 1;
        }
    }
    if let Some((run, finish)) = last {
        (entry.run, entry.end) = (run, finish.or(entry.end));
    }
    Ok(entry)
}

/// The places of the jobs of a world by id; `None` of one with several tasks, whose starts are many.
fn places_of(workload: &Workload) -> BTreeMap<&str, Option<JobId>> {
    let mut places: BTreeMap<&str, Option<JobId>> = BTreeMap::new();
    for task in workload.tasks() {
        let id = workload.jobs().get(task.job.index()).map_or("", |job| job.id);
        places.entry(id).and_modify(|place| *place = None).or_insert(Some(task.job));
    }
    places
}

/// Numbers for texts, in the order in which they first come.
#[derive(Debug, Default)]
struct Numbered(BTreeMap<String, u32>);

impl Numbered {
    fn of(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.0.get(text) {
            return known;
        }
        let new = self.0.len() as u32;
        self.0.insert(text.to_owned(), new);
        new
    }

    fn names(self) -> Vec<String> {
        let mut names = vec![String::new(); self.0.len()];
        for (name, number) in self.0 {
            names[number as usize] = name;
        }
        names
    }
}

#[derive(Debug, Default)]
struct Numbers {
    users: Numbered,
    kinds: Numbered,
    queues: Numbered,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use resched_sim::Resources;
    use resched_sim::batch::{Job as Submitted, JobSpec, StageSpec, TaskSpec, Try};
    use resched_tables::model::Outcome;

    use super::*;

    /// Jobs with a limit of 100 ms: user, name, submission, start and run time. Without a run time, they have not ended.
    pub(crate) fn past(jobs: &[(&str, &str, Ms, Ms, Option<Ms>)]) -> Past {
        let spec = |(number, job): (usize, &(&str, &str, Ms, Ms, Option<Ms>))| {
            let tries = vec![Try { outcome: Outcome::Success, run: 0 }];
            let demand = Resources { cpu: 1, memory: 0 };
            let task = TaskSpec { name: number.to_string(), demand, instances: 1, tries, ..TaskSpec::default() };
            let stages = vec![StageSpec { tasks: vec![task], ..StageSpec::default() }];
            JobSpec {
                job: Submitted { id: number.to_string(), submit: job.2, ..Submitted::default() },
                stages,
                ..JobSpec::default()
            }
        };
        let (workload, _) = Workload::new(jobs.iter().enumerate().map(spec).collect(), 0).unwrap();
        let entry = |(number, job): (usize, &(&str, &str, Ms, Ms, Option<Ms>))| Entry {
            id: number.to_string(),
            user: job.0.to_owned(),
            name: job.1.to_owned(),
            submit: Some(job.2),
            start: Some(job.3),
            end: job.4.map(|run| job.3 + run),
            limit: Some(100),
            starts: 1,
            ..Entry::default()
        };
        Past::of_entries(jobs.iter().enumerate().map(entry).collect(), &workload)
    }

    #[test]
    fn what_comes_later_is_not_seen() {
        let past = past(&[("ann", "a", 10, 20, Some(30)), ("ann", "a", 15, 70, Some(5))]);
        let seen = |at: Ms| [past.jobs[0].seen(at), past.jobs[1].seen(at)];
        let waits = Seen::Waits { held: false };
        assert_eq!(seen(9), [Seen::Nothing, Seen::Nothing]);
        assert_eq!(seen(10), [waits, Seen::Nothing]);
        assert_eq!(seen(20), [Seen::Runs { start: 20, elapsed: 0 }, waits]);
        assert_eq!(seen(49), [Seen::Runs { start: 20, elapsed: 29 }, waits]);
        assert_eq!(seen(50), [Seen::Ran { run: 30 }, waits]);
        assert_eq!(past.last_started(&past.all, 69, 9), [0]);
        assert_eq!(past.last_started(&past.all, 70, 1), [1]);
    }

    #[test]
    fn campaigns_are_jobs_of_one_name_in_a_row() {
        let minute = 60_000;
        let past = past(&[
            ("ann", "a", 0, 0, Some(1)),
            ("ben", "a", minute, minute, Some(1)),
            ("ann", "a", 9 * minute, 9 * minute, Some(1)),
            ("ann", "b", 10 * minute, 10 * minute, Some(1)),
            ("ann", "a", 19 * minute, 19 * minute, Some(1)),
            ("ann", "a", 30 * minute, 30 * minute, Some(1)),
        ]);
        let campaigns: Vec<u32> = past.jobs.iter().map(|job| job.campaign).collect();
        assert_eq!(campaigns, [0, 1, 0, 2, 0, 3]);
        assert_eq!(past.of_campaign[0], [0, 2, 4]);
    }
}
