//! The jobs of the lists of a cluster, held until the last one ends: only then is it known how jobs lay on their nodes, and which rows are
//! tries of one job.
//!
//! **Which rows are one job.** A job is known by its cluster, its id and its submission.
//!
//! - Rows with the same id, submission and user are copies of one try. A copy that has ended beats one that has not; of two that have
//!   not, the later counts. So the lists of two months may both have a job that ran from one into the other, in any order.
//! - A row with the same id and a later submission is the next try if Slurm gave the job back to the queue (`REQUEUED`, `PREEMPTED`,
//!   `NODE_FAIL`, `BOOT_FAIL`), had not ended it, or counts restarts; and if user, account and name agree.
//! - After a `RESIZING` row, it goes on with the same run (`resized-job`).
//! - Otherwise it is another job: numbers begin again after `MaxJobId` and when a controller is reset. It gets the id `12~2`, and is
//!   counted as `reused-job-id`.
//! - Rows of tasks without an id (`12_[3-5]`) are copies only if they fold the same tasks.
//!
//! A job takes some 300 bytes, and texts are kept once. A list of a million jobs fits into half a gigabyte.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::Sink;
use smallvec::{SmallVec, smallvec};

use super::dependency::Dependency;
use super::gpus;
use super::id::{Id, Part, pending_tasks};
use super::row::{Row, Times};
use super::state::{Standing, State};
use super::submit_line::{self, Asked, Line};
use super::values::Memory;
use crate::copies::later_counts;
use crate::texts::{TextId, Texts};
use resched_tables::model::Outcome;

/// The most jobs of a list.
pub(crate) const MOST_JOBS: usize = 10_000_000;
/// The most bytes of different texts in a list.
pub(crate) const MOST_TEXT: usize = 2 << 30;

/// The most ends of jobs that all jobs of a list wait for. A job may name an array with millions of tasks in a few bytes.
pub(crate) const MOST_ENDS: usize = 10_000_000;

/// The jobs of a list.
#[derive(Debug)]
pub(super) struct Jobs {
    pub(super) all: Vec<Job>,
    /// Where each stands, behind the hash of what makes rows copies, and in the end of its id: the table grows without a look at the jobs.
    places: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    pub(super) texts: Texts,
    /// Of how many tasks of an array at most may run at once, by its number. In JSON, one task alone says it.
    array_limits: BTreeMap<u64, u32>,
    /// Jobs with the tasks of folded arrays.
    unfolded: usize,
    /// The most of them, and the most bytes of texts.
    most: (usize, usize),
    /// The most ends of jobs that they wait for together.
    pub(super) most_ends: usize,
    /// When the backfill scheduler started a job first, ms.
    pub(super) first_backfill: Option<i64>,
    /// How many rows were taken.
    pub(super) rows: u64,
    /// The clusters of the rows, at most [`MOST_CLUSTERS`].
    pub(super) clusters: BTreeSet<String>,
    /// Rows of other clusters than the one that was asked for.
    pub(super) of_others: u64,
}

/// Further clusters are not named.
const MOST_CLUSTERS: usize = 100;

impl Default for Jobs {
    fn default() -> Self {
        Self::up_to(MOST_JOBS, MOST_TEXT, MOST_ENDS)
    }
}

/// The tries of a job: mostly one.
type Tries = SmallVec<[Try; 1]>;

/// A job: what its last row says, and its tries.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: Id,
    /// The ranges of tasks that have no id yet.
    pub(super) pending: TextId,
    pub(super) name: TextId,
    pub(super) user: TextId,
    pub(super) account: TextId,
    pub(super) partition: TextId,
    pub(super) qos: TextId,
    pub(super) reservation: TextId,
    pub(super) constraints: TextId,
    pub(super) priority: Option<i64>,
    /// ms.
    pub(super) limit: Option<i64>,
    /// Why it waited last.
    pub(super) reason: TextId,
    /// Whether Slurm counts restarts of it.
    pub(super) was_restarted: bool,
    pub(super) demand: Demand,
    /// What it takes off its priority.
    pub(super) nice: Option<i64>,
    /// What it asked to wait for.
    pub(super) waits_for: Option<Box<Dependency>>,
    /// The jobs of the list that it waits for, once the list has ended.
    pub(super) depends_on: Box<[Id]>,
    pub(super) tries: Tries,
}

/// What a job asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand {
    pub(super) cpus: u32,
    /// The fewest nodes.
    pub(super) nodes: u32,
    /// In total, bytes.
    pub(super) memory: Option<i64>,
    pub(super) gres: TextId,
    pub(super) licenses: TextId,
    /// The options of its command.
    pub(super) asked: Asked,
}

/// A row of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Try {
    pub(super) times: Times,
    pub(super) state: State,
    /// Whether a later row of the job may be its next try.
    goes_on: bool,
    is_preempted: bool,
    /// Whether the next row goes on with the same run, at another size.
    is_resized: bool,
    pub(super) ran: bool,
    /// Whether the list has what it held by resource.
    pub(super) has_alloc_tres: bool,
    /// What it held; 0: unknown.
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    pub(super) memory: Option<i64>,
    pub(super) gres: TextId,
    /// Its nodes, as the list writes them.
    pub(super) hosts: TextId,
}

impl Try {
    /// When it ended, without the time in which it was suspended; `None` if it still runs. The flag says whether that differs from the
    /// time in the list.
    pub(super) fn finish(&self) -> (Option<i64>, bool) {
        let Times { start, end, elapsed, .. } = self.times;
        if !self.state.has_ended() {
            return (None, false);
        }
        let ran = start.zip(elapsed).map(|(start, elapsed)| start.saturating_add(elapsed));
        match (end, ran) {
            (Some(end), Some(ran)) if ran < end => (Some(ran), true),
            (end, ran) => (end.or(ran), false),
        }
    }

    /// When it started.
    pub(super) fn start(&self) -> Option<i64> {
        let Times { start, end, elapsed, .. } = self.times;
        start.or_else(|| end?.checked_sub(elapsed?))
    }

    /// From when on it could start.
    pub(super) fn queued(&self) -> i64 {
        self.times.eligible.map_or(self.times.submit, |eligible| eligible.max(self.times.submit))
    }
}

impl Jobs {
    /// No jobs yet, and at most so many, with at most so many bytes of texts, that wait for at most so many ends.
    pub(super) fn up_to(jobs: usize, bytes: usize, ends: usize) -> Self {
        Self {
            all: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            texts: Texts::default(),
            array_limits: BTreeMap::new(),
            unfolded: 0,
            most: (jobs, bytes),
            most_ends: ends,
            first_backfill: None,
            rows: 0,
            clusters: BTreeSet::new(),
            of_others: 0,
        }
    }

    /// Takes a row.
    ///
    /// # Errors
    /// [`Error::Source`] if the list is too long to be held.
    pub(super) fn take(&mut self, row: &Row<'_>, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.keep(row, sink);
        // So the memory may grow beyond the limit by one row.
        let (jobs, bytes) = self.most;
        if self.unfolded > jobs || self.texts.bytes() > bytes {
            return Err(too_long(path));
        }
        Ok(())
    }

    fn keep(&mut self, row: &Row<'_>, sink: &mut dyn Sink) {
        self.rows += 1;
        if !row.cluster.is_empty() && !self.clusters.contains(row.cluster) && self.clusters.len() < MOST_CLUSTERS {
            self.clusters.insert(row.cluster.to_owned());
        }
        if sink.cluster_name().is_some_and(|wanted| !row.cluster.is_empty() && wanted != row.cluster) {
            self.of_others += 1;
            return;
        }
        self.note_limit(row);
        let started = row.times.start.filter(|_| row.by_backfill && row.ran());
        self.first_backfill = self.first_backfill.into_iter().chain(started).min();
        let own = self.try_of(row);
        let hash = self.hasher.hash_one((row.id, row.times.submit, row.pending));
        let known = self.copy_of(row, &own, hash);
        let Some(job) = known.and_then(|place| self.all.get_mut(place)) else {
            return self.add(row, own, hash, sink);
        };
        let has_ended = job.tries.iter().all(|known| known.state.has_ended());
        if !later_counts(has_ended) {
            return sink.skip(cause::DUPLICATE_ROW, 1);
        }
        sink.skip(cause::UNFINISHED_COPY_REPLACED, 1);
        *job = new_job(row, own, &mut self.texts, sink);
    }

    /// Where the job stands of which this row is another copy.
    fn copy_of(&self, row: &Row<'_>, own: &Try, hash: u64) -> Option<usize> {
        let user = self.texts.find(row.user);
        let is_copy = |job: &Job| {
            let is_same_user = row.user.is_empty() || job.user.is_none() || Some(job.user) == user;
            let is_same_part = |known: &Try| {
                known.times.submit == own.times.submit
                    && known.is_resized == own.is_resized
                    && (!own.is_resized || known.times.start == own.times.start)
            };
            job.id == row.id
                && is_same_user
                && self.texts.text(job.pending) == row.pending
                && job.tries.iter().any(is_same_part)
        };
        let is_it = |&(own, place): &(u64, u32)| own == hash && self.all.get(place as usize).is_some_and(is_copy);
        self.places.find(hash, is_it).map(|&(_, place)| place as usize)
    }

    /// Notes how many tasks of an array may run at once, if a row says it.
    fn note_limit(&mut self, row: &Row<'_>) {
        if matches!(row.id.part, Part::Task(_) | Part::Pending)
            && let Some(limit) = row.array_limit.or_else(|| submit_line::parse(row.submit_line).array_limit)
        {
            self.array_limits.insert(row.id.number, limit);
        }
    }

    /// How many tasks of the array of a job may run at once; `None`: it is of no array, or all may.
    pub(super) fn array_limit(&self, job: &Job) -> Option<u32> {
        self.array_limits.get(&job.id.number).copied()
    }

    /// Adds a job that is not in the list, with the hash of its id.
    fn add(&mut self, row: &Row<'_>, own: Try, hash: u64, sink: &mut dyn Sink) {
        // There are not more than `MOST_JOBS`.
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.places.insert_unique(hash, (hash, place), |&(hash, _)| hash);
        let job = new_job(row, own, &mut self.texts, sink);
        self.unfolded += if row.id.part == Part::Pending { pending_tasks(row.pending).0.len() } else { 1 };
        self.all.push(job);
    }

    /// Where the job with this id stands, once rows are joined.
    pub(super) fn place(&self, id: Id) -> Option<usize> {
        self.place_of(id, self.hasher.hash_one(id))
    }

    fn place_of(&self, id: Id, hash: u64) -> Option<usize> {
        let is_it =
            |&(own, place): &(u64, u32)| own == hash && self.all.get(place as usize).is_some_and(|job| job.id == id);
        self.places.find(hash, is_it).map(|&(_, place)| place as usize)
    }

    /// Joins the rows that are tries of one job, and gives ids of their own to jobs whose id another one had before.
    pub(super) fn join(&mut self, sink: &mut dyn Sink) {
        let start = |job: &Job| job.tries.first().map(|one| (one.times.submit, one.times.start));
        self.all.sort_by_key(|job| (job.id, start(job)));
        let (mut reused, mut resized) = (0, 0);
        self.all.dedup_by(|job, before| {
            if job.id != before.id.listed() || job.id.part == Part::Pending {
                return false;
            }
            match before.next(job) {
                Next::Try => {
                    before.try_again(job);
                    true
                }
                Next::Part => {
                    before.go_on(job);
                    resized += 1;
                    true
                }
                Next::Other => {
                    job.id.again = before.id.again.max(1) + 1;
                    reused += 1;
                    false
                }
            }
        });
        sink.skip(cause::RESIZED_JOB, resized);
        sink.skip(cause::REUSED_JOB_ID, reused);
        sink.skip(
            cause::PREEMPTED_WITHOUT_NEXT_TRY,
            self.all.iter_mut().map(|job| u64::from(job.end_by_preemption())).sum(),
        );
        self.find_places();
    }

    /// Notes where the job of each id stands.
    fn find_places(&mut self) {
        self.places.clear();
        for (place, job) in self.all.iter().enumerate() {
            let hash = self.hasher.hash_one(job.id);
            self.places.insert_unique(hash, (hash, u32::try_from(place).unwrap_or(u32::MAX)), |&(hash, _)| hash);
        }
    }

    /// Whether there is a job of this id that was submitted then, once rows are joined.
    pub(super) fn has(&self, id: Id, submit: Option<i64>) -> bool {
        self.all_of(id).any(|place| self.submit(place) == submit)
    }

    /// The places of the jobs that had this id one after the other, once rows are joined.
    fn all_of(&self, id: Id) -> impl Iterator<Item = usize> {
        let again = std::iter::successors(Some(0), |again: &u32| Some((*again).max(1) + 1));
        again.map_while(move |again| self.place(Id { again, ..id }))
    }

    /// When the job at a place was submitted first.
    pub(super) fn submit(&self, place: usize) -> Option<i64> {
        self.all.get(place)?.tries.first().map(|one| one.times.submit)
    }

    /// Where the job stands that had this id at a time: the last one that was submitted before.
    pub(super) fn place_at(&self, id: Id, time: i64) -> Option<usize> {
        let first = self.place(id);
        self.all_of(id).take_while(|&place| self.submit(place).is_none_or(|submit| submit <= time)).last().or(first)
    }

    /// Ends the list: jobs wait for those that are given by their places, and get the order of their submission.
    pub(super) fn end(&mut self, waits: BTreeMap<usize, Vec<Id>>) {
        for (place, ids) in waits {
            if let Some(job) = self.all.get_mut(place) {
                job.depends_on = ids.into_boxed_slice();
            }
        }
        self.places = HashTable::new();
        // No two have one id, except for rows that fold different tasks of one array.
        self.all.sort_by_key(|job| (job.tries.first().map(|one| one.times.submit), job.id));
        if self.all.iter().any(|job| job.id.part == Part::Pending) {
            self.find_places();
        }
    }

    fn try_of(&mut self, row: &Row<'_>) -> Try {
        let Standing { state, goes_on, is_preempted, is_resized } = row.standing;
        Try {
            times: row.times,
            state,
            goes_on,
            is_preempted,
            is_resized,
            ran: row.ran(),
            has_alloc_tres: row.alloc.cpus.is_some(),
            cpus: row.alloc_cpus.or(row.alloc.cpus).unwrap_or(0),
            nodes: row.nodes(),
            memory: row.alloc.memory,
            gres: self.texts.keep(row.alloc.gres.as_deref().unwrap_or_default()),
            hosts: self.texts.keep(row.hosts().unwrap_or_default()),
        }
    }
}

/// What the row of a later submission under the id of a job is.
enum Next {
    /// The next try.
    Try,
    /// The rest of the run, at another size.
    Part,
    /// Another job.
    Other,
}

impl Job {
    /// What `job` is, whose row has the same id and comes later.
    fn next(&self, job: &Self) -> Next {
        let agree = |one: TextId, other: TextId| one.is_none() || other.is_none() || one == other;
        let is_same = agree(self.user, job.user) && agree(self.account, job.account) && agree(self.name, job.name);
        match self.tries.last() {
            Some(last) if is_same && last.is_resized => Next::Part,
            Some(last) if is_same && (last.goes_on || job.was_restarted || !last.state.has_ended()) => Next::Try,
            _ => Next::Other,
        }
    }

    /// Takes the next try: what the job asked for is as in its last row.
    fn try_again(&mut self, next: &mut Self) {
        let again = next.tries.first().map(|one| one.times.submit);
        std::mem::swap(self, next);
        let mut tries = std::mem::take(&mut next.tries);
        // A list of that time saw it wait or run. It was given back when it was submitted again.
        if let Some(last) = tries.last_mut().filter(|last| !last.state.has_ended()) {
            last.state = State::Ended(Outcome::Evicted);
            (last.times.end, last.times.elapsed) = (again.filter(|_| last.ran), None);
        }
        tries.append(&mut self.tries);
        (self.tries, self.id) = (tries, next.id);
    }

    /// Takes the rest of a run whose size was changed. The job counts as large as it was first: so much it waited for.
    fn go_on(&mut self, rest: &mut Self) {
        let (Some(last), Some(rest)) = (self.tries.last_mut(), rest.tries.first()) else { return };
        let elapsed = last.times.elapsed.zip(rest.times.elapsed).map(|(one, other)| one.saturating_add(other));
        (last.times.end, last.times.elapsed) = (rest.times.end, elapsed);
        (last.state, last.goes_on, last.is_preempted) = (rest.state, rest.goes_on, rest.is_preempted);
        last.is_resized = rest.is_resized;
    }

    /// Whether a job that was preempted did not come again, so that it ended then (`PreemptMode=CANCEL`).
    fn end_by_preemption(&mut self) -> bool {
        let last = self.tries.last_mut().filter(|last| last.is_preempted && last.ran);
        let Some(last) = last.filter(|last| last.state == State::Ended(Outcome::Evicted)) else { return false };
        last.state = State::Ended(Outcome::Killed);
        true
    }
}

fn new_job(row: &Row<'_>, own: Try, texts: &mut Texts, sink: &mut dyn Sink) -> Job {
    // The command of a heterogeneous job has the options of its components one after the other.
    let is_component = matches!(row.id.part, Part::Component(component) if component > 0);
    let line = if is_component { "" } else { row.submit_line };
    let Line { asked, dependency, nice, names_nodes, has_time_min, .. } = submit_line::parse(line);
    let waits_for = dependency.and_then(|text| Dependency::parse(text, row.id));
    sink.skip(cause::DEPENDENCY_NOT_READ, u64::from(dependency.is_some() && waits_for.is_none()));
    sink.skip(cause::NAMED_NODES_LEFT_OUT, names_nodes.into());
    sink.skip(cause::SHORTEST_LIMIT_LEFT_OUT, has_time_min.into());
    let cpus = row.cpus().unwrap_or(0);
    let got = Some(row.nodes()).filter(|&nodes| nodes > 0).or(row.any_nodes);
    let nodes = row.req_nodes.or(row.req.nodes).unwrap_or(1);
    // `ReqMem` and options are for each node. What a job got is at least what it asked for.
    let of_each = row.req_nodes.or(row.req.nodes).max(got).unwrap_or(1);
    let licenses = row.req.licenses.as_deref().or(row.alloc.licenses.as_deref()).unwrap_or_default();
    let of_memory = |memory: Memory| memory.total(of_each, cpus);
    let gres = match row.req.gres.as_deref() {
        Some(gres) => gres.to_owned(),
        None if row.alloc.gres.is_some() => String::new(),
        None => {
            let tasks = asked.tasks.or_else(|| Some(cpus / asked.cpus_per_task?)).unwrap_or(1);
            let gpus = gpus::in_all(asked.gpus, row.old_gres, of_each, tasks);
            sink.skip(cause::GPUS_BY_SUBMIT_LINE, gpus.is_some().into());
            gpus.map(|gpus| format!("gres/gpu={gpus}")).unwrap_or_default()
        }
    };
    Job {
        id: row.id,
        pending: texts.keep(row.pending),
        name: texts.keep(row.name),
        user: texts.keep(row.user),
        account: texts.keep(row.account),
        partition: texts.keep(row.partition),
        qos: texts.keep(row.qos),
        reservation: texts.keep(row.reservation),
        constraints: texts.keep(row.constraints),
        priority: row.priority,
        limit: row.limit,
        reason: texts.keep(row.reason),
        was_restarted: row.restarts > 0,
        demand: Demand {
            cpus,
            nodes,
            memory: row.req.memory.or_else(|| row.req_mem.and_then(of_memory)).filter(|&bytes| bytes > 0),
            gres: texts.keep(&gres),
            licenses: texts.keep(licenses),
            asked,
        },
        nice,
        waits_for: waits_for.map(Box::new),
        depends_on: Box::default(),
        tries: smallvec![own],
    }
}

fn too_long(path: &str) -> Error {
    Error::Source {
        path: path.to_owned(),
        place: String::new(),
        expected: format!("at most {MOST_JOBS} jobs, with at most {} GiB of different texts", MOST_TEXT >> 30),
        found: "more".to_owned(),
        remedy: "write a list for each period with -S and -E, and ingest each into a trace of its own".to_owned(),
    }
}
