//! The jobs of a list, held until its end: only then is it known how its jobs lay on their nodes, and which rows are tries of one job.
//!
//! A job takes some 300 bytes, and texts are kept once. A list of a million jobs fits into half a gigabyte.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use resched_tables::Error;
use resched_tables::sink::Sink;
use smallvec::{SmallVec, smallvec};

use super::dependency::Dependency;
use super::id::{Id, Part, pending_tasks};
use super::row::{Row, Times};
use super::state::State;
use super::submit_line::{self, Asked, Line};
use super::values::Memory;
use crate::texts::{TextId, Texts};

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
    /// Where each stands, behind the hash of its id: the table grows without a look at the jobs.
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
}

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
        self.note_limit(row);
        let started = row.times.start.filter(|_| row.by_backfill && row.ran());
        self.first_backfill = self.first_backfill.into_iter().chain(started).min();
        let own = self.try_of(row);
        let hash = self.hasher.hash_one(row.id);
        let known = self.place_of(row.id, hash);
        let Some(job) = known.and_then(|place| self.all.get_mut(place)) else {
            return self.add(row, own, hash, sink);
        };
        let is_newer = job.tries.iter().all(|known| known.times.submit <= row.times.submit);
        match job.tries.iter_mut().find(|known| known.times.submit == row.times.submit) {
            Some(known) => {
                sink.skip("duplicate-row", 1);
                if known.state.has_ended() {
                    return;
                }
                // It was listed while it ran, and again later.
                *known = own;
            }
            None => job.tries.push(own),
        }
        if is_newer {
            let tries = std::mem::take(&mut job.tries);
            *job = Job { tries, ..new_job(row, own, &mut self.texts, sink) };
        }
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

    /// Where the job with this id stands.
    pub(super) fn place(&self, id: Id) -> Option<usize> {
        self.place_of(id, self.hasher.hash_one(id))
    }

    fn place_of(&self, id: Id, hash: u64) -> Option<usize> {
        let is_it =
            |&(own, place): &(u64, u32)| own == hash && self.all.get(place as usize).is_some_and(|job| job.id == id);
        self.places.find(hash, is_it).map(|&(_, place)| place as usize)
    }

    /// Gives the tries of each job the order of their submission.
    pub(super) fn sort_tries(&mut self) {
        for job in &mut self.all {
            job.tries.sort_by_key(|one| (one.times.submit, one.times.start));
        }
    }

    /// Ends the list: jobs wait for those that are given by their places, and get the order of their submission.
    pub(super) fn end(&mut self, waits: BTreeMap<usize, Vec<Id>>) {
        for (place, ids) in waits {
            if let Some(job) = self.all.get_mut(place) {
                job.depends_on = ids.into_boxed_slice();
            }
        }
        self.places = HashTable::new();
        // No two have one id.
        self.all.sort_unstable_by_key(|job| (job.tries.first().map(|one| one.times.submit), job.id));
    }

    fn try_of(&mut self, row: &Row<'_>) -> Try {
        Try {
            times: row.times,
            state: row.state,
            ran: row.ran(),
            has_alloc_tres: row.alloc.cpus.is_some(),
            cpus: row.alloc_cpus.or(row.alloc.cpus).unwrap_or(0),
            nodes: row.alloc_nodes.or(row.alloc.nodes).unwrap_or(0),
            memory: row.alloc.memory,
            gres: self.texts.keep(row.alloc.gres.as_deref().unwrap_or_default()),
            hosts: self.texts.keep(row.hosts().unwrap_or_default()),
        }
    }
}

fn new_job(row: &Row<'_>, own: Try, texts: &mut Texts, sink: &mut dyn Sink) -> Job {
    // The command of a heterogeneous job has the options of its components one after the other.
    let is_component = matches!(row.id.part, Part::Component(component) if component > 0);
    let line = if is_component { "" } else { row.submit_line };
    let Line { asked, dependency, nice, names_nodes, has_time_min, .. } = submit_line::parse(line);
    let waits_for = dependency.and_then(|text| Dependency::parse(text, row.id));
    sink.skip("dependency-not-read", u64::from(dependency.is_some() && waits_for.is_none()));
    sink.skip("named-nodes-left-out", names_nodes.into());
    sink.skip("shortest-limit-left-out", has_time_min.into());
    let cpus = row.cpus().unwrap_or(0);
    let nodes = row.req_nodes.or(row.req.nodes).unwrap_or(1);
    let licenses = row.req.licenses.as_deref().or(row.alloc.licenses.as_deref()).unwrap_or_default();
    let of_memory = |memory: Memory| memory.total(nodes, cpus);
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
        demand: Demand {
            cpus,
            nodes,
            memory: row.req.memory.or_else(|| row.req_mem.and_then(of_memory)).filter(|&bytes| bytes > 0),
            gres: texts.keep(row.req.gres.as_deref().unwrap_or_default()),
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
        remedy: "write a list for each period with -S and -E, and ingest each into its own trace".to_owned(),
    }
}
