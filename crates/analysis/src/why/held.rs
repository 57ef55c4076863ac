//! What the jobs of a run held, and why they were passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use resched_tables::clock::{Covered, Span, Zone};
use resched_tables::model::{Reason, TaskKind};
use resched_tables::run::{RunClock, RunInfo, RunWindow};
use resched_tables::standing::Standing;
use resched_tables::store::System;

use super::by::By;
use crate::runs::window;
use crate::{Error, JobList, JobMetrics, Origin};

/// What attempts hold and jobs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Resource {
    /// Map slots.
    MapSlots,
    /// Reduce slots.
    ReduceSlots,
    /// Processor, in thousandths of a core.
    Cpu,
    /// Memory: MB under YARN, else bytes.
    Memory,
    /// Containers of YARN, whose sizes a trace does not give.
    Containers,
    /// Another resource or a licence, by its place among the names.
    Named(u16),
}

impl Resource {
    const USUAL: [Self; 5] = [Self::MapSlots, Self::ReduceSlots, Self::Cpu, Self::Memory, Self::Containers];

    /// Its place among all.
    fn place(self) -> usize {
        match self {
            Self::MapSlots => 0,
            Self::ReduceSlots => 1,
            Self::Cpu => 2,
            Self::Memory => 3,
            Self::Containers => 4,
            Self::Named(name) => Self::USUAL.len() + usize::from(name),
        }
    }
}

/// What an attempt holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Amounts {
    /// Processor (1/1000 core) and memory.
    pub(super) main: [u64; 2],
    /// Other resources, by the places of their names, each once.
    pub(super) named: Vec<(u16, u64)>,
}

impl Amounts {
    /// What a task whose request nobody gives is taken to hold: one core.
    pub(super) const ONE_CORE: Self = Self::of([1_000, 0]);

    /// Processor and memory alone.
    pub(super) const fn of(main: [u64; 2]) -> Self {
        Self { main, named: Vec::new() }
    }
}

/// The time that an attempt, or the master of a job, held its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// The row of its job.
    pub(super) job: u32,
    /// The place of what it holds in the list of amounts.
    pub(super) amounts: u32,
    pub(super) kind: TaskKind,
    /// True if its task had been tried before.
    pub(super) again: bool,
    /// True if its machine was lost.
    pub(super) lost: bool,
    /// Since when it had waited; the least time if that is not known.
    pub(super) since: i64,
    pub(super) start: i64,
    /// When a reduce had its input; its start if that is not known.
    pub(super) shuffled: i64,
    pub(super) finish: i64,
}

/// From when on a job was passed over for a reason.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassedOver {
    pub(super) job: u32,
    pub(super) at: i64,
    pub(super) kind: TaskKind,
    pub(super) reason: Reason,
    pub(super) other: Option<u32>,
}

/// A run or a trace, ready to be explained. It keeps 48 bytes of each attempt.
#[derive(Debug)]
pub struct Why {
    /// The label of the run, or `observed`.
    pub label: String,
    /// Its jobs, in the order of their table. Only what the table itself has is filled in.
    pub jobs: JobList,
    /// True if it has the reasons for which the policy passed over jobs.
    pub has_reasons: bool,
    /// Values that could not be used, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// What ran its jobs: texts are in the words of this system.
    pub system: System,
    /// The part of its time that is looked at, if not all of it: jobs that were submitted in it are explained.
    window: Option<RunWindow>,
    origin: Origin,
    pub(super) attempts: Vec<Held>,
    first_attempt: Vec<usize>,
    passed_over: Vec<PassedOver>,
    first_passed_over: Vec<usize>,
    amounts: Vec<Amounts>,
    /// The names of the other resources.
    names: Vec<Arc<str>>,
    /// How much there is of each resource, the others behind the usual ones.
    capacity: Vec<u128>,
    users: Vec<u32>,
    queues: Vec<u32>,
    /// The row of the first job of each user and queue.
    first_of_user: Vec<u32>,
    first_of_queue: Vec<u32>,
    /// Why jobs waited last, as the log says it, by row.
    pub(super) logged_reasons: BTreeMap<u32, Arc<str>>,
    pub(super) in_containers: bool,
    /// True if the sizes of containers are known.
    are_sized: bool,
    /// The jobs with an attempt of which the log does not say when it ran.
    untimed: HashSet<u32>,
}

/// What is read of a run before it is put in order.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) jobs: JobList,
    pub(super) attempts: Vec<Held>,
    pub(super) passed_over: Vec<PassedOver>,
    pub(super) amounts: Vec<Amounts>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) has_reasons: bool,
    pub(super) skipped: BTreeMap<String, u64>,
    pub(super) untimed: HashSet<u32>,
    pub(super) logged_reasons: BTreeMap<u32, Arc<str>>,
}

impl Why {
    pub(super) fn of(label: String, origin: &Origin, raw: Raw) -> Self {
        let Raw { jobs, mut attempts, mut passed_over, amounts, names, has_reasons, skipped, untimed, logged_reasons } =
            raw;
        // The rest of the key only makes the order of equal ones certain.
        attempts.sort_unstable_by_key(|attempt| {
            (attempt.job, attempt.start, attempt.finish, attempt.kind, attempt.since, attempt.amounts)
        });
        passed_over.sort_by_key(|passed_over| (passed_over.job, passed_over.at));
        let first_attempt = firsts(jobs.len(), attempts.iter().map(|attempt| attempt.job));
        let first_passed_over = firsts(jobs.len(), passed_over.iter().map(|passed_over| passed_over.job));
        let numbers = |text: fn(&JobMetrics) -> &Option<Arc<str>>| numbered(jobs.iter().map(text));
        let (users, queues) = (numbers(|job| &job.user), numbers(|job| &job.queue));
        let [first_of_user, first_of_queue] = [&users, &queues].map(|numbers| first_rows(numbers));
        let replay = match origin {
            Origin::Replay(info) => Some(info.as_ref()),
            Origin::Observed(_) => None,
        };
        let in_containers = match replay {
            Some(info) => is_of_containers(info),
            None => origin.observed_system() == Some(System::Yarn),
        };
        let mut why = Self {
            label,
            jobs,
            has_reasons,
            skipped,
            system: origin.system().unwrap_or_default(),
            window: None,
            origin: origin.clone(),
            attempts,
            first_attempt,
            passed_over,
            first_passed_over,
            amounts,
            capacity: replay.map_or([0; Resource::USUAL.len()], capacity).to_vec(),
            names,
            users,
            queues,
            first_of_user,
            first_of_queue,
            in_containers,
            are_sized: replay.is_some(),
            logged_reasons,
            untimed,
        };
        why.fill_capacity();
        why
    }

    /// How its clock relates to that of the trace.
    pub fn clock(&self) -> RunClock {
        window::clock(&self.origin, &self.jobs)
    }

    /// The time that it covers, on the clock of the trace.
    pub fn covered(&self) -> Covered {
        window::covered(&self.origin, &self.jobs)
    }

    /// Explains only jobs that were submitted in this part of the time of the trace. Others still hold what these wait for.
    ///
    /// # Errors
    /// [`Error::Trace`], a wrong request, if no job counts in it.
    pub fn narrow(&mut self, span: Span, zone: Zone) -> Result<(), Error> {
        self.window = Some(window::narrow(&self.label, &self.origin, &mut self.jobs, span, zone)?);
        Ok(())
    }

    /// True if the job in that row was submitted in the part of the time that is looked at.
    pub(super) fn is_in_window(&self, row: usize) -> bool {
        let submit = self.jobs.get(row).and_then(|job| job.submit);
        self.window.is_none_or(|window| submit.is_some_and(|submit| (window.from..window.to).contains(&submit)))
    }

    /// The rows of the jobs in the window whose completion time is known.
    pub fn complete(&self) -> impl Iterator<Item = usize> + '_ {
        let complete = |job: &JobMetrics| job.submit.zip(job.finish).is_some_and(|(submit, finish)| submit <= finish);
        let rows = self.jobs.iter().enumerate().filter(move |(_, job)| complete(job)).map(|(row, _)| row);
        rows.filter(|&row| self.is_in_window(row))
    }

    /// The rows of the jobs that count ([`crate::runs::population`]).
    pub fn counted(&self) -> impl Iterator<Item = usize> + '_ {
        self.complete().filter(|&row| self.jobs.get(row).is_some_and(|job| job.standing == Standing::Counts))
    }

    /// The attempts of a job, in the order of their starts.
    pub(super) fn attempts_of(&self, job: usize) -> &[Held] {
        slice(&self.attempts, &self.first_attempt, job)
    }

    /// True if a job has an attempt of which the log does not say when it ran.
    pub(super) fn is_untimed(&self, job: usize) -> bool {
        u32::try_from(job).is_ok_and(|job| self.untimed.contains(&job))
    }

    /// Why a job was passed over, in the order of time.
    pub(super) fn passed_over(&self, job: usize) -> &[PassedOver] {
        slice(&self.passed_over, &self.first_passed_over, job)
    }

    /// Whom a job is taken together with: the row of the first job of its user or queue.
    pub(super) fn holder(&self, job: usize, by: By) -> u32 {
        let first = |firsts: &[u32], number: u32| firsts.get(number as usize).copied().unwrap_or(0);
        match by {
            By::Job => job as u32,
            By::User => first(&self.first_of_user, self.user(job)),
            By::Queue => first(&self.first_of_queue, self.queue(job)),
            By::Run => 0,
        }
    }

    /// True if there are several users or queues.
    pub(super) fn has_several(&self, by: By) -> bool {
        match by {
            By::Job => self.jobs.len() > 1,
            By::User => self.first_of_user.len() > 1,
            By::Queue => self.first_of_queue.len() > 1,
            By::Run => false,
        }
    }

    /// A number for the user of a job.
    pub(super) fn user(&self, job: usize) -> u32 {
        self.users.get(job).copied().unwrap_or(0)
    }

    /// A number for the queue of a job.
    pub(super) fn queue(&self, job: usize) -> u32 {
        self.queues.get(job).copied().unwrap_or(0)
    }

    /// How much there is of a resource. If nobody says, the most that was held at once.
    pub(super) fn capacity(&self, resource: Resource) -> u128 {
        self.capacity.get(resource.place()).copied().unwrap_or(0)
    }

    /// How much of a resource an attempt holds.
    pub(super) fn held(&self, attempt: &Held, resource: Resource) -> u64 {
        let amounts = self.amounts.get(attempt.amounts as usize);
        let [cpu, memory] = amounts.map_or(Amounts::ONE_CORE.main, |amounts| amounts.main);
        let of_slots = |kind| u64::from(attempt.kind == kind && !self.in_containers);
        match resource {
            Resource::MapSlots => of_slots(TaskKind::Map),
            Resource::ReduceSlots => of_slots(TaskKind::Reduce),
            Resource::Cpu if attempt.kind == TaskKind::Other => cpu,
            Resource::Memory if attempt.kind == TaskKind::Other || self.in_containers => memory,
            Resource::Cpu | Resource::Memory => 0,
            Resource::Containers => u64::from(self.in_containers && !self.are_sized),
            Resource::Named(name) => {
                let named = amounts.map_or(&[][..], |amounts| &amounts.named);
                named.iter().find(|(listed, _)| *listed == name).map_or(0, |(_, amount)| *amount)
            }
        }
    }

    /// The name of a resource in tables.
    pub(super) fn name(&self, resource: Resource) -> &str {
        match resource {
            Resource::MapSlots => "map-slots",
            Resource::ReduceSlots => "reduce-slots",
            Resource::Cpu => "cpu",
            Resource::Memory => "memory",
            Resource::Containers => "containers",
            Resource::Named(name) => self.names.get(usize::from(name)).map_or("", |name| &**name),
        }
    }

    /// What a job waits for whose tasks of this kind wait. Tasks with requests wait for their dominant resource, the one of which they
    /// request the larger share (Ghodsi et al. 2011).
    pub(super) fn wanted(&self, job: usize, kind: TaskKind) -> Resource {
        match kind {
            TaskKind::Map | TaskKind::Reduce if self.in_containers && !self.are_sized => Resource::Containers,
            TaskKind::Map | TaskKind::Reduce if self.in_containers => Resource::Memory,
            TaskKind::Map => Resource::MapSlots,
            TaskKind::Reduce => Resource::ReduceSlots,
            _ => self.dominant(job),
        }
    }

    fn dominant(&self, job: usize) -> Resource {
        let attempts = self.attempts_of(job);
        let most = |resource| attempts.iter().map(|attempt| self.held(attempt, resource)).max().unwrap_or(0);
        let amounts = attempts.iter().filter_map(|attempt| self.amounts.get(attempt.amounts as usize));
        let named: BTreeSet<u16> = amounts.flat_map(|amounts| &amounts.named).map(|(name, _)| *name).collect();
        let others = named.into_iter().map(Resource::Named);
        let (mut dominant, mut share) = (Resource::Cpu, (most(Resource::Cpu), self.capacity(Resource::Cpu)));
        for resource in [Resource::Memory].into_iter().chain(others) {
            let (held, all) = (most(resource), self.capacity(resource));
            // Shares are compared without division.
            if all > 0 && u128::from(held) * share.1 > u128::from(share.0) * all {
                (dominant, share) = (resource, (held, all));
            }
        }
        dominant
    }

    /// Takes the most that was held at once for the capacity that nobody says.
    fn fill_capacity(&mut self) {
        let names = (0..self.names.len()).filter_map(|name| u16::try_from(name).ok()).map(Resource::Named);
        let all: Vec<Resource> = Resource::USUAL.into_iter().chain(names).collect();
        self.capacity.resize(all.len(), 0);
        for resource in all {
            if self.capacity(resource) == 0 {
                self.capacity[resource.place()] = self.most_held(resource);
            }
        }
    }

    fn most_held(&self, resource: Resource) -> u128 {
        let mut changes: Vec<(i64, i128)> = Vec::new();
        for attempt in &self.attempts {
            let held = i128::from(self.held(attempt, resource));
            if held > 0 && attempt.start < attempt.finish {
                changes.extend([(attempt.start, held), (attempt.finish, -held)]);
            }
        }
        // What ends at an instant is free for what starts then.
        changes.sort_unstable();
        let sums = changes.iter().scan(0, |sum, change| {
            *sum += change.1;
            Some(*sum)
        });
        sums.max().map_or(0, i128::unsigned_abs)
    }
}

fn slice<'a, T>(all: &'a [T], firsts: &[usize], place: usize) -> &'a [T] {
    let ends = firsts.get(place).copied().zip(firsts.get(place + 1).copied());
    ends.and_then(|(from, to)| all.get(from..to)).unwrap_or_default()
}

/// Where the entries of each job begin, and where the last ones end. The entries are in the order of the jobs.
fn firsts(jobs: usize, of_entries: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut firsts = vec![0; jobs + 1];
    for job in of_entries {
        if let Some(count) = firsts.get_mut(job as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for first in &mut firsts {
        sum += *first;
        *first = sum;
    }
    firsts
}

/// A number for each text, in the order in which texts first appear.
fn numbered<'a>(texts: impl Iterator<Item = &'a Option<Arc<str>>>) -> Vec<u32> {
    let mut numbers: HashMap<Option<&str>, u32> = HashMap::new();
    let number = |text: &'a Option<Arc<str>>| {
        let next = numbers.len() as u32;
        *numbers.entry(text.as_deref()).or_insert(next)
    };
    texts.map(number).collect()
}

/// The row at which each number first stands. Numbers first stand in their order.
fn first_rows(numbers: &[u32]) -> Vec<u32> {
    let mut firsts = Vec::new();
    for (row, &number) in numbers.iter().enumerate() {
        if number as usize == firsts.len() {
            firsts.push(row as u32);
        }
    }
    firsts
}

/// True if a replay ran on containers: then its cluster has slots and memory.
pub(super) fn is_of_containers(info: &RunInfo) -> bool {
    info.system == System::Yarn
}

/// How much of each resource the cluster of a replay has; 0 is unknown.
fn capacity(info: &RunInfo) -> [u128; Resource::USUAL.len()] {
    let cluster = &info.cluster;
    let memory_mb = u128::from(cluster.memory_mb.unwrap_or(0));
    let memory = if is_of_containers(info) { memory_mb } else { memory_mb << 20 };
    let cpu = u128::from(cluster.vcores.unwrap_or(0)) * 1_000;
    [u128::from(cluster.map_slots), u128::from(cluster.reduce_slots), cpu, memory, 0]
}
