//! From the tables of a trace to a [`Workload`].
//!
//! Tasks, attempts and splits stand grouped in the same order in their tables, so one pass over each is enough: no index
//! by name is built, and only the workload itself is held.

use rand::RngExt;
use resched_trace::draws::{Purpose, stream};
use resched_trace::model::{AttemptRow, JobRow, Locality, Outcome, Priority, SplitRow, TaskKind, TaskRow};
use resched_trace::store::Trace;
use resched_trace::store::columns::Row;

use crate::Error;
use crate::cluster_file::Splits;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::workload::{Job, LoggedMap, LoggedReduce, TaskSpec, Workload, usual_task_name};
use crate::ids::{Ms, NodeId};
use crate::tables::{Cursor, LONGEST, Skipped, check_end};

/// The most tasks a job may declare beyond those that are listed: a larger number is damage.
const MOST_UNLISTED: i64 = 1_000_000;

/// Rows for which room is made ahead: what a manifest says is not to be trusted without bound.
const MOST_ROOM: u64 = 1 << 25;

/// Loads a trace for a replay on `cluster`. `seed` places the blocks whose hosts a generated cluster does not have.
///
/// # Errors
/// [`Error::Trace`] if the trace cannot be read or its rows are out of order; [`Error::Config`] if no job is left.
pub fn load(trace: &Trace, cluster: &Cluster, seed: u64) -> Result<(Workload, Skipped), Error> {
    let mut attempts =
        &["task_id", "attempt", "start", "shuffle_finish", "sort_finish", "finish", "outcome", "locality", "host"][..];
    if cluster.config.cost.host_factors.is_empty() {
        // Where an attempt ran matters only where hosts are known to differ.
        attempts = attempts.split_last().map_or(attempts, |(_, others)| others);
    }
    let mut loader = Loader {
        trace,
        cluster,
        seed,
        tasks: Cursor::new::<TaskRow>(trace, &["job_id", "task_id", "kind", "outcome", "input_bytes", "output_bytes"])?,
        attempts: Cursor::new::<AttemptRow>(trace, attempts)?,
        splits: Cursor::new::<SplitRow>(trace, &["task_id", "host", "bytes"])?,
        skipped: Skipped::new(),
    };
    let rows = |table: &str| trace.manifest().rows.get(table).map_or(0, |&rows| rows.min(MOST_ROOM) as usize);
    let mut workload = Workload::with_room(rows(TaskRow::TABLE), rows(AttemptRow::TABLE), rows(SplitRow::TABLE));
    for row in trace.rows::<JobRow>()? {
        if let Some(Loaded { job, maps, reduces }) = loader.job(row?)? {
            workload.push(job, &maps, &reduces).ok_or_else(|| {
                Error::Config(format!("{}: more than 4 billion tasks; cut the trace", trace.dir().display()))
            })?;
        }
    }
    loader.check_end()?;
    let skipped = loader.skipped;
    if workload.jobs().is_empty() {
        return Err(Error::Config(format!(
            "{}: no job is left to replay ({skipped:?}); expected jobs with a submission time and tasks",
            trace.dir().display()
        )));
    }
    workload.arrange(cluster.config.jobs.first_submit);
    Ok((workload, skipped))
}

/// A job with its tasks.
struct Loaded {
    job: Job,
    maps: Vec<TaskSpec>,
    reduces: Vec<TaskSpec>,
}

/// A task as listed, before it has its place among the job's.
struct Listed {
    name: String,
    spec: TaskSpec,
}

/// What is known of the shuffles of a job.
#[derive(Default)]
struct Shuffles {
    last_map: Option<Ms>,
    reduces: Vec<(Ms, Ms)>,
}

struct Loader<'a> {
    trace: &'a Trace,
    cluster: &'a Cluster,
    seed: u64,
    tasks: Cursor,
    attempts: Cursor,
    splits: Cursor,
    skipped: Skipped,
}

impl Loader<'_> {
    fn skip(&mut self, cause: &str, n: u64) {
        if n > 0 {
            *self.skipped.entry(cause.to_owned()).or_insert(0) += n;
        }
    }

    fn job(&mut self, row: JobRow) -> Result<Option<Loaded>, Error> {
        let mut shuffles = Shuffles::default();
        let (maps, reduces) = self.listed(&row.job_id, &mut shuffles)?;
        if row.outcome == Outcome::Killed && self.cluster.config.jobs.skip_killed {
            self.skip("killed-job", 1);
            return Ok(None);
        }
        let Some(submit) = row.submit else {
            self.skip("job-without-submit", 1);
            return Ok(None);
        };
        let maps = self.placed(&row, Kind::Map, maps);
        let reduces = self.placed(&row, Kind::Reduce, reduces);
        if maps.is_empty() && reduces.is_empty() {
            self.skip("job-without-tasks", 1);
            return Ok(None);
        }
        let (first_shuffle, typical_shuffle) = shuffles.means();
        let job = Job {
            id: row.job_id,
            name: row.name,
            user: row.user.unwrap_or_default(),
            queue: row.queue.unwrap_or_default(),
            priority: row.priority.unwrap_or(Priority::Normal),
            submit,
            shuffle_bytes: row.shuffle_bytes,
            first_shuffle,
            typical_shuffle,
            maps: 0..0,
            reduces: 0..0,
        };
        Ok(Some(Loaded { job, maps, reduces }))
    }

    /// The maps and reduces that the trace lists for a job, in its order.
    fn listed(&mut self, job: &str, shuffles: &mut Shuffles) -> Result<(Vec<Listed>, Vec<Listed>), Error> {
        let (mut maps, mut reduces) = (Vec::new(), Vec::new());
        while self.tasks.ready()? && self.tasks.text(0) == Some(job) {
            let name = self.tasks.text(1).unwrap_or_default().to_owned();
            let kind = self.tasks.text(2).and_then(TaskKind::from_name);
            // A task without a status was never seen to end: nothing of its log is taken (oracle F9).
            let logged = self.tasks.text(3) != Some(Outcome::Incomplete.as_str());
            let (logged_input, output_bytes) = (size(self.tasks.int(4)), size(self.tasks.int(5)));
            let (replicas, split_bytes) = self.split(&name)?;
            let input_bytes = logged_input.or(split_bytes);
            let mut spec = TaskSpec { replicas, ..TaskSpec::default() };
            match kind {
                Some(TaskKind::Map) => {
                    (spec.input_bytes, spec.output_bytes) = (input_bytes, output_bytes);
                    spec.map_tries = self.map_tries(&name, logged, shuffles)?;
                }
                Some(TaskKind::Reduce) => spec.reduce_tries = self.reduce_tries(&name, logged, shuffles)?,
                _ => {
                    while self.attempts.ready()? && self.attempts.text(0) == Some(name.as_str()) {
                        self.attempts.advance();
                    }
                }
            }
            match kind {
                Some(TaskKind::Map) => maps.push(Listed { name, spec }),
                Some(TaskKind::Reduce) => reduces.push(Listed { name, spec }),
                _ => self.skip("task-neither-map-nor-reduce", 1),
            }
            self.tasks.advance();
        }
        Ok((maps, reduces))
    }

    /// The nodes that hold a task's input, and its size: the largest of what they hold, for they hold the same.
    fn split(&mut self, task: &str) -> Result<(Vec<NodeId>, Option<u64>), Error> {
        let mut nodes = Vec::new();
        let mut bytes = None;
        let mut outside = 0;
        while self.splits.ready()? && self.splits.text(0) == Some(task) {
            match self.splits.text(1).and_then(|host| self.cluster.find(host)) {
                Some(node) if !nodes.contains(&node) => nodes.push(node),
                Some(_) => self.skip("split-host-twice", 1),
                None => outside += 1,
            }
            bytes = bytes.max(size(self.splits.int(2)));
            self.splits.advance();
        }
        if outside > 0 && self.cluster.config.nodes.count.is_some() {
            self.skip("split-host-drawn-anew", outside);
            self.draw_replicas(task, outside, &mut nodes);
        } else {
            self.skip("split-host-outside-cluster", outside);
        }
        Ok((nodes, bytes))
    }

    /// Places blocks of another cluster on this one: distinct nodes, uniformly.
    fn draw_replicas(&self, task: &str, count: u64, nodes: &mut Vec<NodeId>) {
        let entity: Vec<u64> = task.bytes().map(u64::from).collect();
        let mut draws = stream(self.seed, Purpose::BlockPlacement, &entity);
        let all = self.cluster.nodes().len();
        for _ in 0..count {
            if nodes.len() == all {
                return;
            }
            loop {
                let node = NodeId::at(draws.random_range(0..all));
                if !nodes.contains(&node) {
                    nodes.push(node);
                    break;
                }
            }
        }
    }

    fn map_tries(&mut self, task: &str, logged: bool, shuffles: &mut Shuffles) -> Result<Vec<LoggedMap>, Error> {
        let mut tries = Vec::new();
        while self.attempts.ready()? && self.attempts.text(0) == Some(task) {
            let outcome = self.attempt_outcome();
            let (start, finish) = (self.attempts.int(2), self.attempts.int(5));
            if outcome == Outcome::Success {
                shuffles.last_map = shuffles.last_map.max(finish);
            }
            if logged {
                let level = self.attempts.text(7).and_then(Locality::from_name).unwrap_or(Locality::Off);
                let (outcome, run) = match (outcome, length(start, finish)) {
                    (outcome, Some(run)) => (outcome, self.at_usual_speed(run)),
                    (_, None) => {
                        self.skip("attempt-without-run-time", 1);
                        (Outcome::Unknown, 0)
                    }
                };
                self.place_try(&mut tries, LoggedMap { outcome, level, run }, LOST_MAP);
            }
            self.attempts.advance();
        }
        Ok(tries)
    }

    fn reduce_tries(&mut self, task: &str, logged: bool, shuffles: &mut Shuffles) -> Result<Vec<LoggedReduce>, Error> {
        let mut tries = Vec::new();
        while self.attempts.ready()? && self.attempts.text(0) == Some(task) {
            let outcome = self.attempt_outcome();
            let (start, finish) = (self.attempts.int(2), self.attempts.int(5));
            let (shuffled, sorted) = (self.attempts.int(3), self.attempts.int(4));
            if let (Outcome::Success, Some(start), Some(shuffled)) = (outcome, start, shuffled) {
                shuffles.reduces.push((start, shuffled));
            }
            if logged {
                let phases = phases(start, shuffled, sorted, finish);
                if phases.is_none() {
                    self.skip("attempt-without-run-time", 1);
                }
                let logged = match phases {
                    Some([shuffle, sort, reduce]) => {
                        let (sort, reduce) = (self.at_usual_speed(sort), self.at_usual_speed(reduce));
                        LoggedReduce { outcome, shuffle, sort, reduce: Some(reduce) }
                    }
                    None => LoggedReduce { outcome, ..LOST_REDUCE },
                };
                self.place_try(&mut tries, logged, LOST_REDUCE);
            }
            self.attempts.advance();
        }
        Ok(tries)
    }

    /// Puts the current attempt at its number; tries that the trace lacks before it count as lost.
    fn place_try<T: Copy>(&mut self, tries: &mut Vec<T>, logged: T, lost: T) {
        let number = self.attempts.int(1).and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX);
        if number < tries.len() || number > 10_000 {
            self.skip("attempt-number-out-of-place", 1);
            return;
        }
        tries.resize(number, lost);
        tries.push(logged);
    }

    /// How long the current attempt's work takes on a host of factor 1: what a slow host logged holds its factor already, and a
    /// replay gives it that of the host where it runs (as A.5 does with localities).
    fn at_usual_speed(&self, run: Ms) -> Ms {
        let factors = &self.cluster.config.cost.host_factors;
        match self.attempts.text(8).and_then(|host| factors.get(host)) {
            Some(factor) => ((run as f64 / factor).round() as Ms).clamp(-LONGEST, LONGEST),
            None => run,
        }
    }

    fn attempt_outcome(&self) -> Outcome {
        self.attempts.text(6).and_then(Outcome::from_name).unwrap_or(Outcome::Unknown)
    }

    /// The listed tasks at their numbers, with empty ones for those that were declared only.
    fn placed(&mut self, row: &JobRow, kind: Kind, mut listed: Vec<Listed>) -> Vec<TaskSpec> {
        let declared = match kind {
            Kind::Map => row.declared_maps,
            Kind::Reduce => row.declared_reduces,
        };
        let unlisted = declared.unwrap_or(0).saturating_sub(listed.len() as i64).max(0);
        let unlisted = if unlisted > MOST_UNLISTED {
            self.skip("declared-tasks-out-of-range", 1);
            0
        } else {
            unlisted as usize
        };
        let count = listed.len() + unlisted;
        let split = |task: &mut Listed| (std::mem::take(&mut task.spec.replicas), task.spec.input_bytes.take());
        let mut splits: Vec<Option<(Vec<NodeId>, Option<u64>)>> =
            listed.iter_mut().map(|task| Some(split(task))).collect();
        let mut places: Vec<Option<usize>> = vec![None; count];
        let numbers: Vec<Option<usize>> = listed.iter().map(|task| task_number(&task.name)).collect();
        let numbered = numbers.iter().enumerate().all(|(position, number)| {
            number.and_then(|number| places.get_mut(number)).is_some_and(|place| place.replace(position).is_none())
        });
        if !numbered {
            places = (0..count).map(|position| (position < listed.len()).then_some(position)).collect();
        }
        let by_position = self.cluster.config.jobs.splits == Splits::ByPosition;
        let mut listed: Vec<Option<Listed>> = listed.into_iter().map(Some).collect();
        let mut specs = Vec::with_capacity(count);
        for (number, place) in places.into_iter().enumerate() {
            let mut spec = TaskSpec::default();
            if let Some(task) = place.and_then(|place| listed[place].take()) {
                spec = task.spec;
                let usual = usual_task_name(&row.job_id, kind, number as u32);
                spec.odd_name = (task.name != usual).then_some(task.name);
            }
            let split = if by_position { Some(number) } else { place };
            if let Some(own) = split.and_then(|split| splits.get_mut(split)) {
                (spec.replicas, spec.input_bytes) = own.take().unwrap_or_default();
            }
            specs.push(spec);
        }
        specs
    }

    /// All rows must have been taken by a job.
    fn check_end(&mut self) -> Result<(), Error> {
        for (table, left) in [
            (TaskRow::TABLE, self.tasks.ready()?),
            (AttemptRow::TABLE, self.attempts.ready()?),
            (SplitRow::TABLE, self.splits.ready()?),
        ] {
            check_end(self.trace, table, left)?;
        }
        Ok(())
    }
}

const LOST_MAP: LoggedMap = LoggedMap { outcome: Outcome::Unknown, level: Locality::Off, run: 0 };
const LOST_REDUCE: LoggedReduce = LoggedReduce { outcome: Outcome::Unknown, shuffle: 0, sort: 0, reduce: None };

/// A number of bytes; a negative one is damage.
fn size(bytes: Option<i64>) -> Option<u64> {
    bytes.and_then(|bytes| u64::try_from(bytes).ok())
}

/// The number at the end of a task's id.
fn task_number(name: &str) -> Option<usize> {
    name.rsplit('_').next()?.parse().ok()
}

/// From start to finish, if both are known and it is a time that can be.
fn length(start: Option<Ms>, finish: Option<Ms>) -> Option<Ms> {
    let length = finish?.checked_sub(start?)?;
    (-LONGEST..=LONGEST).contains(&length).then_some(length)
}

/// A reduce's shuffle, sort and reduce times, by Rumen's rules for what is missing (policies A.5).
fn phases(start: Option<Ms>, shuffled: Option<Ms>, sorted: Option<Ms>, finish: Option<Ms>) -> Option<[Ms; 3]> {
    if length(start, finish)? <= 0 {
        return None;
    }
    let start_sort = shuffled.or(start);
    let start_reduce = sorted.or(finish);
    Some([length(start, start_sort)?, length(start_sort, start_reduce)?, length(start_reduce, finish)?])
}

impl Shuffles {
    /// The mean shuffle tail of the reduces that were running when the last map ended, and the mean shuffle of the others.
    fn means(&self) -> (Option<Ms>, Option<Ms>) {
        let mean = |times: Vec<Ms>| {
            let count = times.len() as Ms;
            (count > 0).then(|| times.iter().fold(0, |sum: Ms, &time| sum.saturating_add(time)) / count)
        };
        let last_map = self.last_map.unwrap_or(Ms::MIN);
        let (first, later): (Vec<_>, Vec<_>) = self.reduces.iter().partition(|&&(start, _)| start < last_map);
        let tail = first.iter().filter_map(|&&(_, end)| length(Some(last_map), Some(end))).map(|tail| tail.max(0));
        let whole = later.iter().filter_map(|&&(start, end)| length(Some(start), Some(end))).map(|time| time.max(0));
        (mean(tail.collect()), mean(whole.collect()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cluster_file::ClusterConfig;
    use crate::ids::TaskId;
    use resched_trace::model::{JobRecord, TaskRecord};
    use resched_trace::store::{TraceParts, TraceWriter};

    /// A map whose own input is logged as `logged`, with one replica of its split for each of `held`.
    fn map(number: u32, logged: Option<i64>, held: &[Option<i64>]) -> TaskRecord {
        let task_id = usual_task_name("job_1_0001", Kind::Map, number);
        let split = |(ordinal, &bytes): (usize, &Option<i64>)| SplitRow {
            task_id: task_id.clone(),
            ordinal: ordinal as i64,
            host: Some(resched_trace::synthesise::host_name(ordinal as u32)),
            rack: None,
            bytes,
        };
        let task = TaskRow {
            job_id: "job_1_0001".to_owned(),
            task_id: task_id.clone(),
            kind: TaskKind::Map,
            input_bytes: logged,
            output_bytes: logged.map(|bytes| bytes + 1),
            ..TaskRow::default()
        };
        TaskRecord { task, splits: held.iter().enumerate().map(split).collect(), attempts: Vec::new() }
    }

    /// Input and output bytes of the maps of a trace that lists these.
    fn sizes(tasks: Vec<TaskRecord>, splits: Splits) -> Vec<(Option<u64>, Option<u64>)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        let maps = tasks.len() as u32;
        let job = JobRow { job_id: "job_1_0001".to_owned(), submit: Some(0), ..JobRow::default() };
        let mut writer = TraceWriter::create(&path).unwrap();
        writer.job(&JobRecord { job, tasks, counters: Vec::new() }).unwrap();
        writer.finish(TraceParts::default()).unwrap();
        let mut config = ClusterConfig::default();
        config.nodes.count = Some(3);
        config.jobs.splits = splits;
        let cluster = Cluster::generated(config).unwrap();
        let (workload, _) = load(&Trace::open(&path).unwrap(), &cluster, 1).unwrap();
        (0..maps).map(TaskId).map(|map| (workload.input_bytes(map), workload.output_bytes(map))).collect()
    }

    #[test]
    fn a_map_reads_what_its_counters_say_else_its_split_else_nobody_knows_what() {
        let tasks = vec![
            map(0, Some(70), &[Some(64)]),
            map(1, None, &[None, Some(64), Some(63)]),
            map(2, None, &[None]),
            map(3, Some(-5), &[Some(-64)]),
        ];
        let expected = [(Some(70), Some(71)), (Some(64), None), (None, None), (None, None)];
        assert_eq!(sizes(tasks, Splits::ByNumber), expected);
    }

    #[test]
    fn the_size_of_a_split_goes_where_the_split_goes() {
        let tasks = || vec![map(1, Some(10), &[]), map(0, Some(20), &[])];
        assert_eq!(sizes(tasks(), Splits::ByNumber), [(Some(20), Some(21)), (Some(10), Some(11))]);
        assert_eq!(sizes(tasks(), Splits::ByPosition), [(Some(10), Some(21)), (Some(20), Some(11))]);
    }

    /// Two maps and a reduce that a host of factor 2 logged, and a map of another host.
    #[test]
    fn what_a_slow_host_logged_is_taken_at_usual_speed() {
        let attempt = |task: &TaskRow, host: &str, sorted: Option<i64>| AttemptRow {
            task_id: task.task_id.clone(),
            job_id: task.job_id.clone(),
            start: Some(1_000),
            shuffle_finish: sorted.map(|_| 2_000),
            sort_finish: sorted,
            finish: Some(11_000),
            outcome: Outcome::Success,
            host: Some(host.to_owned()),
            ..AttemptRow::default()
        };
        let tried = |mut record: TaskRecord, host: &str| {
            record.task.outcome = Outcome::Success;
            record.attempts = vec![attempt(&record.task, host, None)];
            record
        };
        let mut reduce = map(2, None, &[]);
        reduce.task.task_id = usual_task_name("job_1_0001", Kind::Reduce, 0);
        (reduce.task.kind, reduce.task.outcome) = (TaskKind::Reduce, Outcome::Success);
        reduce.attempts = vec![attempt(&reduce.task, "slow", Some(5_000))];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        let job = JobRow { job_id: "job_1_0001".to_owned(), submit: Some(0), ..JobRow::default() };
        let tasks = vec![tried(map(0, None, &[]), "slow"), tried(map(1, None, &[]), "usual"), reduce];
        let mut writer = TraceWriter::create(&path).unwrap();
        writer.job(&JobRecord { job, tasks, counters: Vec::new() }).unwrap();
        writer.finish(TraceParts::default()).unwrap();
        let run_times = |factor: Option<f64>| {
            let mut config = ClusterConfig::default();
            config.cost.host_factors = factor.map(|factor| ("slow".to_owned(), factor)).into_iter().collect();
            let machine = |name: &str| (name.to_owned(), "/r".to_owned(), crate::resources::Resources::slots(1, 1));
            let cluster = Cluster::new(config, [machine("slow"), machine("usual")]).unwrap();
            let (workload, _) = load(&Trace::open(&path).unwrap(), &cluster, 1).unwrap();
            let maps = [0, 1].map(|task| workload.logged_maps(TaskId(task))[0].run);
            let LoggedReduce { shuffle, sort, reduce, .. } = workload.logged_reduces(TaskId(2))[0];
            (maps, [shuffle, sort, reduce.unwrap()])
        };
        assert_eq!(run_times(None), ([10_000, 10_000], [1_000, 3_000, 6_000]));
        assert_eq!(run_times(Some(2.0)), ([5_000, 10_000], [1_000, 1_500, 3_000]));
    }
}
