//! The workload of a replay: the jobs of a trace as dense arrays.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Priority;
use resched_tables::names::{TASK_DIGITS, write_task_name};

use crate::hadoop::kind::Kind;
use crate::hadoop::logged::{Logged, LoggedMap, LoggedReduce, Packed};
use crate::hadoop::resources::FURTHER;
use crate::ids::{JobId, Ms, NodeId, TaskId, by_number};
use crate::loading::LONGEST;

/// What a job does before its first task and after its last. Unknown is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Edges {
    /// From its submission, or from the start of its application master, until it is initialised, ms.
    pub init: Option<Ms>,
    /// True if `init` counts from the start of the master. If not, it may hold a wait for the master's container.
    pub from_master: bool,
    /// How long its set-up task holds a slot, ms.
    pub setup: Option<Ms>,
    /// How long its clean-up task holds a slot, ms.
    pub cleanup: Option<Ms>,
    /// How long after its last attempt it ended, if it has no clean-up task, ms. What is longer than a heartbeat is a commit
    /// ([`Edges::commit`]).
    pub tail: Ms,
}

impl Edges {
    /// How long the job takes to end beyond the next heartbeat, ms, if nodes call every `interval` ms.
    pub fn commit(&self, interval: Ms) -> Ms {
        (self.tail - interval).max(0)
    }
}

/// A job: its submission, and the facts from its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id in the trace.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its user, `""` if unknown.
    pub user: String,
    /// Its queue, `""` if unknown.
    pub queue: String,
    /// Its priority.
    pub priority: Priority,
    /// When it is submitted, ms: by the trace's clock until [`Workload::arrange`], then by the simulated one.
    pub submit: Ms,
    /// Bytes its reduces fetch.
    pub shuffle_bytes: Option<i64>,
    /// How long after the last map the shuffle of a reduce of the first wave ended, ms (the mean over its log).
    pub first_shuffle: Option<Ms>,
    /// How long the shuffle of a later reduce took, ms (the mean over its log).
    pub typical_shuffle: Option<Ms>,
    /// What it does before and after its tasks.
    pub edges: Edges,
    /// True if it had not ended when its trace ended and counts in no metric.
    pub incomplete: bool,
    /// True if it succeeded in its trace.
    pub succeeded: bool,
    /// Its maps.
    pub maps: Range<u32>,
    /// Its reduces.
    pub reduces: Range<u32>,
    /// What the container of each of its maps, and of its reduces, takes beside memory and vcores.
    pub further: [[u64; FURTHER]; 2],
}

impl Job {
    /// Its tasks of a kind.
    #[inline]
    pub fn tasks(&self, kind: Kind) -> Range<u32> {
        match kind {
            Kind::Map => self.maps.clone(),
            Kind::Reduce => self.reduces.clone(),
        }
    }

    /// The kind of tasks with which it begins.
    pub(crate) fn first_kind(&self) -> Kind {
        if self.count(Kind::Map) > 0 { Kind::Map } else { Kind::Reduce }
    }

    /// How many tasks of a kind it has.
    #[inline]
    pub fn count(&self, kind: Kind) -> u32 {
        self.tasks(kind).len() as u32
    }

    /// The kind of a task of this job, and its number among those.
    #[inline]
    pub fn place(&self, task: TaskId) -> (Kind, u32) {
        if task.0 < self.maps.end {
            (Kind::Map, task.0 - self.maps.start)
        } else {
            (Kind::Reduce, task.0 - self.reduces.start)
        }
    }
}

/// A task. Its tries and replicas end where those of the next begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Task {
    job: u32,
    tries: u32,
    replicas: u32,
}

/// The jobs of a replay with the facts from their log. All replays of a trace on one cluster share it.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    jobs: Vec<Job>,
    tasks: Vec<Task>,
    /// The tries at all tasks, packed.
    tries: Vec<i64>,
    replicas: Vec<NodeId>,
    input_bytes: Sizes,
    output_bytes: Sizes,
    odd_names: BTreeMap<TaskId, String>,
    /// How long a master takes to start in its container, ms, as far as the log shows it.
    master_start: Ms,
}

/// How many bytes maps read, or write, by [`TaskId`]; no longer than to the last task of which that is known.
#[derive(Debug, Clone, Default)]
struct Sizes(Vec<u64>);

impl Sizes {
    /// No size is so large: those of a trace are signed. Half as much memory as an `Option`.
    const UNKNOWN: u64 = u64::MAX;

    /// Sets the size of a task, which comes after all that have one.
    #[inline]
    fn set(&mut self, task: usize, size: Option<u64>) {
        if let Some(size) = size {
            self.0.resize(task, Self::UNKNOWN);
            self.0.push(size);
        }
    }

    #[inline]
    fn get(&self, task: TaskId) -> Option<u64> {
        self.0.get(task.index()).copied().filter(|&size| size != Self::UNKNOWN)
    }
}

/// A task handed to [`Workload::push`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskSpec {
    /// Its id in the trace, if that is not the usual id for its job and number.
    pub odd_name: Option<String>,
    /// The nodes that hold its split.
    pub replicas: Vec<NodeId>,
    /// Bytes of its split, if it is a map.
    pub input_bytes: Option<u64>,
    /// Bytes it writes, if it is a map. They go to the reduces if its job has any.
    pub output_bytes: Option<u64>,
    /// Its logged tries, if it is a map.
    pub map_tries: Vec<LoggedMap>,
    /// Its logged tries, if it is a reduce.
    pub reduce_tries: Vec<LoggedReduce>,
}

impl TaskSpec {
    fn as_task(&self, kind: Kind) -> NewTask<'_> {
        NewTask {
            odd_name: self.odd_name.as_deref(),
            replicas: &self.replicas,
            input_bytes: self.input_bytes,
            output_bytes: self.output_bytes,
            tries: match kind {
                Kind::Map => Tries::Map(&self.map_tries),
                Kind::Reduce => Tries::Reduce(&self.reduce_tries),
            },
        }
    }
}

/// A task to be added, as in [`TaskSpec`].
#[derive(Debug, Clone, Copy)]
pub(super) struct NewTask<'a> {
    pub(super) odd_name: Option<&'a str>,
    pub(super) replicas: &'a [NodeId],
    pub(super) input_bytes: Option<u64>,
    pub(super) output_bytes: Option<u64>,
    pub(super) tries: Tries<'a>,
}

/// The logged tries at a task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tries<'a> {
    Map(&'a [LoggedMap]),
    Reduce(&'a [LoggedReduce]),
    Packed(&'a [i64]),
}

impl Tries<'_> {
    #[inline]
    fn pack(self, words: &mut Vec<i64>) {
        match self {
            Self::Map(tries) => tries.iter().for_each(|logged| logged.pack(words)),
            Self::Reduce(tries) => tries.iter().for_each(|logged| logged.pack(words)),
            Self::Packed(words_of_it) => words.extend_from_slice(words_of_it),
        }
    }
}

impl Workload {
    /// A workload with room for this many tasks, logged tries and replicas.
    pub(crate) fn with_room(tasks: usize, tries: usize, replicas: usize) -> Self {
        Self {
            tasks: Vec::with_capacity(tasks),
            tries: Vec::with_capacity(tries),
            replicas: Vec::with_capacity(replicas),
            // Memory that is never written to is never taken.
            input_bytes: Sizes(Vec::with_capacity(tasks)),
            output_bytes: Sizes(Vec::with_capacity(tasks)),
            ..Self::default()
        }
    }

    /// Adds a job with its maps and reduces; `job.maps` and `job.reduces` are filled in. Once all are added,
    /// [`Workload::arrange`] numbers them. Returns `None` if there are more tasks than ids.
    pub fn push(&mut self, job: Job, maps: &[TaskSpec], reduces: &[TaskSpec]) -> Option<()> {
        maps.iter().try_for_each(|spec| self.push_task(&spec.as_task(Kind::Map)))?;
        reduces.iter().try_for_each(|spec| self.push_task(&spec.as_task(Kind::Reduce)))?;
        self.end_job(job, maps.len())
    }

    /// Ends a job: its tasks are those added since the last end, first that many maps, then reduces. As [`Workload::push`] otherwise.
    pub(super) fn end_job(&mut self, mut job: Job, maps: usize) -> Option<()> {
        let first = self.jobs.last().map_or(0, |before| before.reduces.end);
        let between = first.checked_add(u32::try_from(maps).ok()?)?;
        (job.maps, job.reduces) = (first..between, between..u32::try_from(self.tasks.len()).ok()?);
        self.jobs.push(job);
        Some(())
    }

    /// Numbers the jobs by submission, then by id, and moves the first submission to `first_submit`, ms.
    pub fn arrange(&mut self, first_submit: Ms) {
        let mut order: Vec<u32> = (0..self.jobs.len() as u32).collect();
        let job = |&place: &u32| &self.jobs[place as usize];
        order.sort_by(|a, b| job(a).submit.cmp(&job(b).submit).then_with(|| by_number(&job(a).id, &job(b).id)));
        let zero = order.first().map_or(0, |&job| self.jobs[job as usize].submit);
        let mut number = vec![0; order.len()];
        for (place, &job) in order.iter().enumerate() {
            number[job as usize] = place as u32;
        }
        for task in &mut self.tasks {
            task.job = number[task.job as usize];
        }
        let mut jobs: Vec<Option<Job>> = std::mem::take(&mut self.jobs).into_iter().map(Some).collect();
        self.jobs = order.iter().filter_map(|&job| jobs[job as usize].take()).collect();
        for job in &mut self.jobs {
            job.submit = job.submit.saturating_sub(zero).min(LONGEST) + first_submit;
        }
    }

    /// How long a master takes to start in its container, ms, as far as the log shows it.
    pub fn master_start(&self) -> Ms {
        self.master_start
    }

    /// Sets how long a master takes to start in its container, ms.
    pub(super) fn set_master_start(&mut self, time: Ms) {
        self.master_start = time;
    }

    /// No job waits longer than `most` from its submission until it is initialised.
    pub(super) fn initialise_within(&mut self, most: Ms) {
        let from_submission = self.jobs.iter_mut().map(|job| &mut job.edges).filter(|edges| !edges.from_master);
        from_submission.for_each(|edges| edges.init = edges.init.map(|init| init.min(most)));
    }

    /// Some of the jobs by themselves, with their tasks. Their times stay as they are.
    pub fn part(&self, jobs: Range<usize>) -> Self {
        let mut part = Self { master_start: self.master_start, ..Self::default() };
        for job in self.jobs.get(jobs).unwrap_or_default() {
            let [maps, reduces] = Kind::BOTH.map(|kind| {
                let first = part.tasks.len() as u32;
                // There is room: the whole has at least as many.
                let _ = job.tasks(kind).try_for_each(|task| part.push_task(&self.as_new(TaskId(task))));
                first..part.tasks.len() as u32
            });
            part.jobs.push(Job { maps, reduces, ..job.clone() });
        }
        part
    }

    /// A task, to be added to another workload.
    fn as_new(&self, task: TaskId) -> NewTask<'_> {
        NewTask {
            odd_name: self.odd_names.get(&task).map(String::as_str),
            replicas: self.replicas(task),
            input_bytes: self.input_bytes(task),
            output_bytes: self.output_bytes.get(task),
            tries: Tries::Packed(self.words(task)),
        }
    }

    /// The same jobs with other places of input, drawn from the seed: each split keeps the pattern of its replicas (those in one rack
    /// stay in one rack), but on other machines. `racks` has the machines of each rack, and no machine twice.
    pub fn move_input(&mut self, racks: &[Vec<NodeId>], seed: u64) {
        let rack_of: BTreeMap<NodeId, usize> =
            racks.iter().enumerate().flat_map(|(rack, nodes)| nodes.iter().map(move |&node| (node, rack))).collect();
        for number in 0..self.tasks.len() {
            let range = self.range(TaskId::at(number), self.replicas.len(), |task| task.replicas);
            let Some(replicas) = self.replicas.get_mut(range) else { continue };
            let mut draws = stream(seed, Purpose::MovedInput, &[number as u64]);
            move_replicas(replicas, racks, &rack_of, &mut draws);
        }
    }

    /// Moves the jobs together: the time from the first submission to each other is divided by `factor`, rounded down.
    pub fn hasten(&mut self, factor: f64) {
        let first = self.jobs.first().map_or(0, |job| job.submit);
        for job in self.jobs.iter_mut().filter(|_| factor != 1.0) {
            job.submit = first + ((job.submit - first) as f64 / factor) as Ms;
        }
    }

    /// Adds a task of the job that is ended next.
    #[inline]
    pub(super) fn push_task(&mut self, task: &NewTask<'_>) -> Option<()> {
        let job = u32::try_from(self.jobs.len()).ok()?;
        if let Some(name) = task.odd_name {
            self.odd_names.insert(TaskId(u32::try_from(self.tasks.len()).ok()?), name.to_owned());
        }
        self.input_bytes.set(self.tasks.len(), task.input_bytes);
        self.output_bytes.set(self.tasks.len(), task.output_bytes);
        let [tries, replicas] = [self.tries.len(), self.replicas.len()].map(u32::try_from);
        self.tasks.push(Task { job, tries: tries.ok()?, replicas: replicas.ok()? });
        task.tries.pack(&mut self.tries);
        self.replicas.extend_from_slice(task.replicas);
        Some(())
    }

    /// The part of an array of that length that is a task's, given where it starts.
    #[inline]
    fn range(&self, task: TaskId, length: usize, start: impl Fn(&Task) -> u32) -> Range<usize> {
        let end = self.tasks.get(task.index() + 1).map_or(length, |next| start(next) as usize);
        start(&self.tasks[task.index()]) as usize..end
    }

    /// The packed tries at a task.
    #[inline]
    fn words(&self, task: TaskId) -> &[i64] {
        &self.tries[self.range(task, self.tries.len(), |task| task.tries)]
    }

    /// The jobs, by [`JobId`].
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// A job.
    #[inline]
    pub fn job(&self, job: JobId) -> &Job {
        &self.jobs[job.index()]
    }

    /// How many tasks all jobs have.
    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// The job of a task.
    #[inline]
    pub fn job_of(&self, task: TaskId) -> JobId {
        JobId(self.tasks[task.index()].job)
    }

    /// Task `number` of a kind of a job.
    pub fn task(&self, job: JobId, kind: Kind, number: u32) -> Option<TaskId> {
        let tasks = self.job(job).tasks(kind);
        let task = tasks.start.checked_add(number)?;
        tasks.contains(&task).then_some(TaskId(task))
    }

    /// The job of that id in the trace.
    pub fn find(&self, id: &str) -> Option<JobId> {
        self.jobs.iter().position(|job| job.id == id).map(JobId::at)
    }

    /// True if the place of any input is known.
    pub fn has_places(&self) -> bool {
        !self.replicas.is_empty()
    }

    /// The nodes that hold the split of a map.
    #[inline]
    pub fn replicas(&self, task: TaskId) -> &[NodeId] {
        &self.replicas[self.range(task, self.replicas.len(), |task| task.replicas)]
    }

    /// Bytes that a map reads; `None` if unknown.
    pub fn input_bytes(&self, task: TaskId) -> Option<u64> {
        self.input_bytes.get(task)
    }

    /// Bytes that a map writes: its logged number, else an even part of the bytes that the job's reduces fetch, rounded
    /// down. `None` if neither is known. The bytes go to the reduces if its job has any.
    pub fn output_bytes(&self, task: TaskId) -> Option<u64> {
        self.output_bytes.get(task).or_else(|| {
            let job = self.job(self.job_of(task));
            let shuffled = job.shuffle_bytes.filter(|_| job.count(Kind::Reduce) > 0)?;
            u64::try_from(shuffled).ok()?.checked_div(u64::from(job.count(Kind::Map)))
        })
    }

    /// True if the bytes that a map reads or writes are known for any map.
    pub fn has_sizes(&self) -> bool {
        let maps = self.jobs().iter().flat_map(|job| job.maps.clone().map(TaskId));
        maps.into_iter().any(|map| self.input_bytes(map).is_some() || self.output_bytes(map).is_some())
    }

    /// The logged tries at a map.
    #[inline]
    pub fn logged_maps(&self, task: TaskId) -> Logged<'_, LoggedMap> {
        Logged::new(self.words(task))
    }

    /// The logged tries at a reduce.
    #[inline]
    pub fn logged_reduces(&self, task: TaskId) -> Logged<'_, LoggedReduce> {
        Logged::new(self.words(task))
    }

    /// The id of a task in the trace.
    pub fn task_name(&self, task: TaskId) -> String {
        let mut name = String::new();
        self.write_task_name(task, &mut name);
        name
    }

    /// As [`Workload::task_name`], at the end of `text`.
    pub fn write_task_name(&self, task: TaskId, text: &mut String) {
        if let Some(name) = self.odd_names.get(&task) {
            text.push_str(name);
            return;
        }
        let job = self.job(self.job_of(task));
        let (kind, number) = job.place(task);
        write_usual_task_name(&job.id, kind, number, text);
    }
}

/// The id that Hadoop gives a task: `task_200904211745_0001_m_000003` for map 3 of `job_200904211745_0001`.
pub fn usual_task_name(job: &str, kind: Kind, number: u32) -> String {
    let mut name = String::new();
    write_usual_task_name(job, kind, number, &mut name);
    name
}

/// As [`usual_task_name`], at the end of `name`.
pub(super) fn write_usual_task_name(job: &str, kind: Kind, number: u32, text: &mut String) {
    let letter = match kind {
        Kind::Map => 'm',
        Kind::Reduce => 'r',
    };
    write_task_name(job, letter, number.into(), text);
}

/// The usual ids of the tasks of a kind of a job, one after the other.
#[derive(Debug, Default)]
pub(super) struct UsualNames {
    name: String,
    /// Where its number begins.
    number: usize,
}

impl UsualNames {
    /// Begins with the id of task 0.
    pub(super) fn begin(&mut self, job: &str, kind: Kind) {
        self.name.clear();
        write_usual_task_name(job, kind, 0, &mut self.name);
        self.number = self.name.len() - TASK_DIGITS;
    }

    /// The current id.
    #[inline]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Goes on to the next.
    #[inline]
    pub(super) fn advance(&mut self) {
        let digits = self.name.get(self.number..).unwrap_or_default();
        let kept = digits.trim_end_matches('9').len();
        let nines = digits.len() - kept;
        match digits.as_bytes().get(kept.wrapping_sub(1)) {
            Some(&digit) => {
                self.name.truncate(self.number + kept - 1);
                self.name.push(char::from(digit + 1));
            }
            None => {
                self.name.truncate(self.number);
                self.name.push('1');
            }
        }
        self.name.extend(std::iter::repeat_n('0', nines));
    }
}

/// Puts replicas on other machines. Racks of the old places are replaced by as many drawn ones, while there are any left; within its new
/// rack, each replica takes a drawn machine that has none, or any such machine of the cluster if the rack is full.
fn move_replicas(
    replicas: &mut [NodeId],
    racks: &[Vec<NodeId>],
    rack_of: &BTreeMap<NodeId, usize>,
    draws: &mut impl rand::Rng,
) {
    let mut new_racks: Vec<(usize, usize)> = Vec::new();
    let mut taken: Vec<NodeId> = Vec::new();
    for replica in replicas {
        let Some(&old) = rack_of.get(replica) else { continue };
        let new = new_racks.iter().find(|(rack, _)| *rack == old).map(|&(_, new)| new);
        let new = new.unwrap_or_else(|| {
            let free: Vec<usize> =
                (0..racks.len()).filter(|rack| new_racks.iter().all(|(_, used)| used != rack)).collect();
            let new = free.get(draws.random_range(0..free.len().max(1))).copied().unwrap_or(old);
            new_racks.push((old, new));
            new
        });
        let mut free: Vec<NodeId> = racks[new].iter().filter(|node| !taken.contains(node)).copied().collect();
        if free.is_empty() {
            free = racks.iter().flatten().filter(|node| !taken.contains(node)).copied().collect();
        }
        if let Some(&node) = free.get(draws.random_range(0..free.len().max(1))) {
            *replica = node;
            taken.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(shuffle_bytes: Option<i64>) -> Job {
        Job {
            id: "job_1_0001".to_owned(),
            name: None,
            user: String::new(),
            queue: String::new(),
            priority: Priority::Normal,
            submit: 0,
            shuffle_bytes,
            first_shuffle: None,
            typical_shuffle: None,
            edges: Edges::default(),
            incomplete: false,
            succeeded: false,
            maps: 0..0,
            reduces: 0..0,
            further: Default::default(),
        }
    }

    #[test]
    fn usual_names_follow_each_other() {
        let mut names = UsualNames::default();
        for kind in Kind::BOTH {
            names.begin("job_9_0001", kind);
            for number in 0..1_000_200 {
                if number % 1_000 < 120 {
                    assert_eq!(names.name(), usual_task_name("job_9_0001", kind, number));
                }
                names.advance();
            }
        }
    }

    #[test]
    fn sizes_are_a_maps_own_else_its_part_of_the_shuffle_else_unknown() {
        let sized = TaskSpec { input_bytes: Some(64), output_bytes: Some(0), ..TaskSpec::default() };
        let maps = [TaskSpec::default(), sized, TaskSpec::default()];
        let sizes = |shuffle_bytes, reduces: &[TaskSpec]| -> Vec<(Option<u64>, Option<u64>)> {
            let mut workload = Workload::default();
            assert!(workload.push(job(shuffle_bytes), &maps, reduces).is_some());
            (0..3).map(TaskId).map(|map| (workload.input_bytes(map), workload.output_bytes(map))).collect()
        };
        let reduce = [TaskSpec::default()];
        let unknown = (None, None);
        assert_eq!(sizes(Some(11), &reduce), [(None, Some(3)), (Some(64), Some(0)), (None, Some(3))]);
        assert_eq!(sizes(None, &reduce), [unknown, (Some(64), Some(0)), unknown]);
        assert_eq!(sizes(Some(-11), &reduce), [unknown, (Some(64), Some(0)), unknown]);
        assert_eq!(sizes(Some(11), &[]), [unknown, (Some(64), Some(0)), unknown], "nothing fetches from these maps");
    }
}
