//! One job of its rows.
//!
//! **Which rows are one job.** A job is known by its cluster, its id and its submission.
//!
//! - Rows with the same id, submission and user are copies of one try. The copy that has come farthest counts: one that has ended before
//!   one that has not, then the one that had run longer. If two are as far, the same one counts in any order of the lists.
//! - A row with the same id and a later submission is the next try if Slurm gave the job back to the queue (`REQUEUED`, `PREEMPTED`,
//!   `NODE_FAIL`, `BOOT_FAIL`), had not ended it, or counts restarts; and if user, account and name agree.
//! - After a `RESIZING` row, it goes on with the same run (`resized-job`).
//! - Otherwise it is another job: numbers begin again after `MaxJobId` and when a controller is reset. It gets the id `12~2`, and is
//!   counted as `reused-job-id`.
//! - Rows of tasks without an id (`12_[3-5]`) are copies only if they fold the same tasks.

use hashbrown::{HashMap, HashSet};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::{Room, Sink};

use super::dependency::Dependency;
use super::id::{Id, Part, pending_tasks};
use super::job::{Job, Next, Try};
use super::jobs::{Jobs, LIMIT};
use super::machines::OnNodes;
use super::shape::Census;
use super::waits::Waits;
use crate::codec::{Front, Sparse, SparseFront, put};
use crate::formats::tables::{Fact, Key};
use crate::sorted::{Sorter, in_order};

/// The most rows under one id, which are compared with each other.
pub(crate) const MOST_ROWS: usize = 10_000;
/// The most tasks without an id of all rows of an array. Slurm allows no array with more.
const MOST_WANTED: usize = 4_000_001;

/// All jobs of the lists.
pub(super) struct Joined {
    /// By submission.
    pub(super) jobs: Sorter,
    /// The tries on known nodes, by their start.
    pub(super) tries: Sorter,
    pub(super) census: Census,
    pub(super) waits: Waits,
}

/// A job as it stands among all.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Of how many tasks at most may run at once, if it is of an array.
    pub(super) array_limit: Option<u32>,
    /// Its number among those that wait for others.
    pub(super) asks: Option<u32>,
    /// The tasks that it folds and that have no row of their own, each with how often its id was given before. No others fold any.
    pub(super) tasks: Vec<(u64, u32)>,
}

impl Place {
    /// Writes it over `bytes`.
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        let mut to = Sparse::new(bytes);
        to.count(self.array_limit);
        to.count(self.asks);
        to.number(Some(self.tasks.len() as u64).filter(|&tasks| tasks > 0));
        to.end();
        for &(task, again) in &self.tasks {
            put(task, bytes);
            put(u64::from(again), bytes);
        }
    }

    /// A job and its place.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, Job<'_>)> {
        let mut front = Front(bytes);
        let mut from = SparseFront::new(&mut front)?;
        let (array_limit, asks, tasks) = (from.count()?, from.count()?, from.number()?);
        let tasks = (0..tasks.unwrap_or(0)).map(|_| Some((front.number()?, front.count()?))).collect::<Option<_>>()?;
        Some((Self { array_limit, asks, tasks }, Job::read(front.0)?))
    }
}

/// Joins the rows of all jobs. What is left out is counted.
///
/// # Errors
/// [`Error::Io`]; [`Error::Source`] if there are too many rows under one id.
pub(super) fn join(jobs: Jobs, sink: &mut dyn Sink) -> Result<Joined, Error> {
    let room = sink.room();
    let by_id = jobs.by_id.unwrap_or_else(|| Sorter::new(room.clone()));
    let mut join = Join::new(room, jobs.waits);
    by_id.visit(|fact| join.take(fact, sink))?;
    join.end_number(sink)?;
    sink.skip(cause::RESIZED_JOB, join.resized);
    sink.skip(cause::REUSED_JOB_ID, join.reused);
    sink.skip(cause::PREEMPTED_WITHOUT_NEXT_TRY, join.preempted);
    Ok(join.joined)
}

/// The rows of the number that is read.
struct Join {
    joined: Joined,
    number: u64,
    array_limit: Option<u32>,
    /// The rows of the id that is read, one behind the other, and where each ends.
    id: Option<Id>,
    rows: Vec<u8>,
    ends: Vec<usize>,
    folded: Folded,
    bytes: Vec<u8>,
    resized: u64,
    reused: u64,
    preempted: u64,
}

/// The rows of a number that fold tasks without an id.
#[derive(Default)]
struct Folded {
    jobs: Vec<Folds>,
    /// The tasks, with what is known of those that have a row of their own.
    tasks: HashMap<u64, Known>,
}

/// A job that folds tasks, written: its number among those that wait for others, and its submission.
struct Folds {
    bytes: Vec<u8>,
    asks: Option<u32>,
    submit: i64,
}

/// The jobs that had the id of a task.
#[derive(Default)]
struct Known {
    submits: Vec<i64>,
    /// How often the id was given.
    again: Option<u32>,
}

impl Join {
    fn new(room: Room, waits: Waits) -> Self {
        let (jobs, tries) = (Sorter::new(room.clone()), Sorter::new(room));
        Self {
            joined: Joined { jobs, tries, census: Census::default(), waits },
            number: 0,
            array_limit: None,
            id: None,
            rows: Vec::new(),
            ends: Vec::new(),
            folded: Folded::default(),
            bytes: Vec::new(),
            resized: 0,
            reused: 0,
            preempted: 0,
        }
    }

    /// Takes the next row.
    fn take(&mut self, fact: &Fact<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let (Key::Number(number), Some((&kind, row))) = (fact.job, fact.value.split_first()) else { return Ok(()) };
        if number != self.number {
            self.end_number(sink)?;
            self.number = number;
        }
        if kind == LIMIT {
            self.array_limit = row.try_into().ok().map(u32::from_le_bytes);
            return Ok(());
        }
        let Some(id) = Id::read(&mut Front(row)) else { return Ok(()) };
        if self.id != Some(id) {
            self.end_id(sink)?;
            self.id = Some(id);
        }
        if self.ends.len() >= MOST_ROWS {
            return Err(too_many(id));
        }
        self.rows.extend_from_slice(row);
        self.ends.push(self.rows.len());
        Ok(())
    }

    /// Passes on the jobs of the rows of an id.
    fn end_id(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        let (rows, mut ends) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.ends));
        if let [_] = ends[..] {
            if let Some(job) = Job::read(&rows) {
                self.pass(job, sink)?;
            }
        } else {
            for job in self.joined_of(different(&rows, &ends, sink)) {
                self.pass(job, sink)?;
            }
        }
        // Their memory is used again.
        (self.rows, self.id) = (rows, None);
        self.rows.clear();
        ends.clear();
        self.ends = ends;
        Ok(())
    }

    /// Joins the rows that are tries of one job, and gives ids of their own to jobs whose id another one had before.
    fn joined_of<'r>(&mut self, rows: Vec<Job<'r>>) -> Vec<Job<'r>> {
        let mut jobs: Vec<Job<'r>> = Vec::with_capacity(1);
        for mut job in rows {
            let Some(before) = jobs.last_mut().filter(|before| before.id.part != Part::Pending) else {
                jobs.push(job);
                continue;
            };
            match before.next(&job) {
                Next::Try => before.try_again(job),
                Next::Part => {
                    before.go_on(&job);
                    self.resized += 1;
                }
                Next::Other => {
                    job.id.again = before.id.again.max(1) + 1;
                    self.reused += 1;
                    jobs.push(job);
                }
            }
        }
        jobs
    }

    /// Passes on a job.
    fn pass(&mut self, mut job: Job<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        job.count_options(sink);
        self.preempted += u64::from(job.end_by_preemption());
        self.joined.census.see(&job);
        let waits_for = job.dependency.and_then(|text| Dependency::parse(text, job.id));
        sink.skip(cause::DEPENDENCY_NOT_READ, u64::from(job.dependency.is_some() && waits_for.is_none()));
        let asks = self.joined.waits.see(&job, waits_for, sink);
        let submit = job.submit().unwrap_or_default();
        for one in job.tries.iter().filter(|one| one.ran && !one.hosts.is_empty()) {
            OnNodes::push(one, submit, &mut self.bytes, &mut self.joined.tries)?;
        }
        if job.id.part == Part::Pending {
            let mut bytes = Vec::new();
            job.write(&mut bytes);
            self.folded.add(job.pending, Folds { bytes, asks, submit });
            return Ok(());
        }
        self.folded.see(&job);
        let place = Place { array_limit: self.array_limit, asks, tasks: Vec::new() };
        place.write(&mut self.bytes);
        job.write(&mut self.bytes);
        self.end_job(submit)
    }

    /// Adds the job that is written, and was submitted then, to all.
    fn end_job(&mut self, submit: i64) -> Result<(), Error> {
        // Jobs of one number come in their order.
        let (job, task) = (Key::Number(in_order(submit)), Key::Number(self.number));
        self.joined.jobs.push(&Fact { job, task, time: 0, value: &self.bytes })
    }

    /// Passes on what stands under the number.
    fn end_number(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.end_id(sink)?;
        let Folded { jobs, tasks } = std::mem::take(&mut self.folded);
        let mut given = HashSet::new();
        for Folds { bytes, asks, submit } in jobs {
            let Some(folded) = Job::read(&bytes) else { continue };
            let (all, is_cut) = pending_tasks(folded.pending);
            let before = all.len();
            let mut left: Vec<(u64, u32)> = Vec::new();
            let mut beyond = 0;
            for task in all {
                match tasks.get(&task) {
                    None => beyond += 1,
                    Some(known) if known.submits.contains(&submit) || !given.insert(task) => {}
                    Some(Known { again: None, .. }) => left.push((task, 0)),
                    Some(Known { again: Some(again), .. }) => {
                        self.reused += 1;
                        left.push((task, again.max(&1) + 1));
                    }
                }
            }
            sink.skip(cause::PENDING_ARRAY_CUT, u64::from(is_cut || beyond > 0));
            sink.skip(cause::UNFINISHED_COPY_REPLACED, (before - left.len() - beyond) as u64);
            if !left.is_empty() {
                Place { array_limit: self.array_limit, asks, tasks: left }.write(&mut self.bytes);
                self.bytes.extend_from_slice(&bytes);
                self.end_job(submit)?;
            }
        }
        self.array_limit = None;
        Ok(())
    }
}

impl Folded {
    /// Notes the tasks of a row that folds them, as far as there is room.
    fn add(&mut self, pending: &str, job: Folds) {
        let (tasks, _) = pending_tasks(pending);
        for task in tasks {
            if self.tasks.len() < MOST_WANTED || self.tasks.contains_key(&task) {
                self.tasks.entry(task).or_default();
            }
        }
        self.jobs.push(job);
    }

    /// Notes a job that has a row of its own.
    fn see(&mut self, job: &Job<'_>) {
        if let Part::Task(task) = job.id.part
            && let Some(known) = self.tasks.get_mut(&task)
        {
            known.submits.extend(job.submit());
            known.again = Some(job.id.again);
        }
    }
}

/// The rows of an id without copies, by submission and start. Copies of a try are neighbours once the rows are sorted, those that had come
/// less far before the others.
fn different<'r>(rows: &'r [u8], ends: &[usize], sink: &mut dyn Sink) -> Vec<Job<'r>> {
    let begins = std::iter::once(&0).chain(ends);
    let written = begins.zip(ends).filter_map(|(&from, &end)| rows.get(from..end));
    let mut all: Vec<(Job<'r>, &'r [u8])> = written.filter_map(|bytes| Some((Job::read(bytes)?, bytes))).collect();
    let progress = |job: &Job<'_>| job.tries.first().map(Try::progress);
    all.sort_unstable_by(|(one, bytes), (other, others)| {
        let of = |job: &Job<'r>, bytes| (job.copies(), progress(job), bytes);
        of(one, *bytes).cmp(&of(other, *others))
    });
    let mut known: Vec<(Job<'r>, &'r [u8])> = Vec::with_capacity(1);
    // Of whom the last one is, if any of its copies says it.
    let mut user = "";
    for seen in all {
        let is_of_user = user.is_empty() || seen.0.user.is_empty() || user == seen.0.user;
        let Some(copy) = known.last_mut().filter(|(other, _)| is_of_user && seen.0.is_same_row(other)) else {
            user = seen.0.user;
            known.push(seen);
            continue;
        };
        user = if user.is_empty() { seen.0.user } else { user };
        let has_ended = copy.0.tries.iter().all(|known| known.state.has_ended());
        sink.skip(if has_ended { cause::DUPLICATE_ROW } else { cause::UNFINISHED_COPY_REPLACED }, 1);
        if (progress(&seen.0), seen.1) > (progress(&copy.0), copy.1) {
            *copy = seen;
        }
    }
    let start = |job: &Job<'_>| job.tries.first().map(|one| (one.times.submit, one.times.start));
    known.sort_by(|(one, bytes), (other, others)| (start(one), bytes).cmp(&(start(other), others)));
    known.into_iter().map(|(job, _)| job).collect()
}

fn too_many(id: Id) -> Error {
    Error::Source {
        path: "the list by sacct".to_owned(),
        place: format!("job {id}: "),
        expected: format!("at most {MOST_ROWS} rows under one id"),
        found: "more".to_owned(),
        remedy: "write a list for each period with -S and -E, and ingest each into a trace of its own".to_owned(),
    }
}
