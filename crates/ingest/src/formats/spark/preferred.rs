//! The hosts that the tasks of a stage prefer: given by a file beside the log, or else inferred from where tasks ran.
//!
//! Spark's log does not have them. The file `preferred.csv` beside the log may: a line `stage,index,hosts` for each task, with its
//! hosts separated by spaces, under a header of these words. If logs of several applications share the folder, the column
//! `application` stands first. `index` is the task's `Partition ID`, or its `Index` in logs before Spark 3.3.
//!
//! Without this file, they are inferred for stages without parents, which read their input from storage. A task that ran under
//! `NODE_LOCAL` prefers its host. What further hosts it prefers, and which hosts one prefers that ran under `ANY` or `RACK_LOCAL`, is
//! estimated and drawn (`likely.rs`). In applications with too many hosts for that, a task that ran under `NODE_LOCAL` gets no further host, and
//! another gets one of those that the `NODE_LOCAL` tasks of its stage prefer, as likely as they prefer each. It is none on which it ran
//! under such a level, and none on which a task with a higher index was launched under `NODE_LOCAL` while it waited: of the tasks that prefer
//! a host, Spark launches the one with the lowest index first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rand::RngExt;
use sha2::{Digest, Sha256};

use crate::formats::lines::{Line, Lines};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::SplitRow;
use resched_tables::sink::Sink;
use resched_tables::store::hex;

/// The file beside a log.
pub(crate) const FILE: &str = "preferred.csv";
/// Its format in the manifest.
const FORMAT: &str = "spark-preferred";
/// About how many bytes of it are held, enough for a million tasks of three hosts; more rows are left out and counted.
pub(crate) const MOST_BYTES: usize = 256 << 20;
/// The longest line of it (bytes).
const MAX_LINE: usize = 64 << 10;
/// The rule that draws hosts, for the manifest.
const RULE: &str = "hosts-of-stage";
/// The seed of those draws. They are a part of the trace, as everything that an ingest writes.
pub(super) const SEED: u64 = 1;

/// A task of an application: its stage, and its place in the stage.
type Task = (i64, i64);

/// A task: its stage, the attempt at the stage, and its place. If the place is that in the stage, the attempt is 0,
/// because the task is then the same in all attempts at the stage.
pub(super) type Key = (i64, i64, i64);

/// The hosts that a file gives, by application (empty if the file does not name it) and task.
#[derive(Debug, Default)]
pub(super) struct Preferred {
    /// By application, or under the empty name if the file does not name it.
    given: BTreeMap<String, BTreeMap<Task, Vec<String>>>,
    held: usize,
}

impl Preferred {
    /// The file beside the log at `path`; `None` if there is none.
    pub(super) fn beside(path: &str, sink: &mut dyn Sink) -> Result<Option<Self>, Error> {
        let (path, file): (String, Box<dyn Read>) = match sink.beside(path, FILE) {
            Some(found) => found,
            None => {
                let Some(path) = companion(Path::new(path)) else { return Ok(None) };
                let file = File::open(&path).map_err(Error::io(&path, "read"))?;
                (path.display().to_string(), Box::new(file))
            }
        };
        let mut stored = Hashed { file, hash: Sha256::new(), bytes: 0 };
        let found = Self::read(&mut BufReader::new(&mut stored), sink).map_err(Error::io(Path::new(&path), "read"))?;
        let Hashed { hash, bytes, .. } = stored;
        sink.companion(&path, FORMAT, bytes, &hex(hash.finalize()));
        Ok(found)
    }

    /// The rows of a file; `None` if its header is another one.
    fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> io::Result<Option<Self>> {
        let mut lines = Lines::new(input, MAX_LINE);
        let mut found = Self::default();
        let mut names_application = None;
        while let Some(line) = lines.next()? {
            let Line::Text(line) = line else {
                sink.skip(cause::DAMAGED_PREFERRED_ROW, 1);
                continue;
            };
            let line = line.trim();
            match names_application {
                _ if line.is_empty() => {}
                Some(named) => found.take(line, named, sink),
                None => match line.trim_start_matches('\u{feff}') {
                    "stage,index,hosts" => names_application = Some(false),
                    "application,stage,index,hosts" => names_application = Some(true),
                    _ => {
                        sink.skip(cause::PREFERRED_FILE_WITHOUT_HEADER, 1);
                        io::copy(input, &mut io::sink())?;
                        return Ok(None);
                    }
                },
            }
        }
        Ok(names_application.map(|_| found))
    }

    fn take(&mut self, line: &str, names_application: bool, sink: &mut dyn Sink) {
        let Some((application, task, hosts)) = row(line, names_application) else {
            return sink.skip(cause::DAMAGED_PREFERRED_ROW, 1);
        };
        let size = line.len() + (2 + hosts.len()) * size_of::<String>() + size_of::<Task>();
        if self.held.saturating_add(size) > MOST_BYTES {
            return sink.skip(cause::TOO_MANY_PREFERRED_ROWS, 1);
        }
        self.held += size;
        let of_application = match self.given.get_mut(application) {
            Some(hosts) => hosts,
            None => self.given.entry(application.to_owned()).or_default(),
        };
        of_application.insert(task, hosts);
    }

    /// The hosts of a task; `None` if the file does not have it.
    fn of(&self, application: &str, task: Task) -> Option<&[String]> {
        let hosts = self.given.get(application).or_else(|| self.given.get(""))?;
        hosts.get(&task).map(Vec::as_slice)
    }
}

/// The parts of a row.
fn row(line: &str, names_application: bool) -> Option<(&str, Task, Vec<String>)> {
    let (application, line) = if names_application { line.split_once(',')? } else { ("", line) };
    let mut cells = line.splitn(3, ',');
    let mut number = || cells.next()?.trim().parse::<i64>().ok().filter(|&number| number >= 0);
    let task = (number()?, number()?);
    let mut hosts: Vec<String> = Vec::new();
    for host in cells.next()?.trim_matches(['"', ' ']).split_whitespace() {
        if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }
    Some((application.trim(), task, hosts))
}

/// The file beside a log on this machine, if there is one. Nothing is beside standard input or an address of an object store.
fn companion(log: &Path) -> Option<PathBuf> {
    if log.to_str().is_some_and(|log| log.contains("://")) {
        return None;
    }
    let path = log.parent()?.join(FILE);
    (path != log && log != Path::new("-") && path.is_file()).then_some(path)
}

/// The bytes of a file, hashed while they are read.
struct Hashed {
    file: Box<dyn Read>,
    hash: Sha256,
    bytes: u64,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        self.bytes = self.bytes.saturating_add(read as u64);
        Ok(read)
    }
}

/// What the level of an attempt says about its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// The task prefers it.
    Preferred,
    /// The task prefers others.
    NotPreferred,
    /// Nothing: the task prefers none, or has its input in the memory of its executor.
    Nothing,
}

/// What Spark's word for the level of an attempt says about its host.
fn said(level: Option<&str>) -> Said {
    match level {
        Some("NODE_LOCAL") => Said::Preferred,
        // A task that prefers nothing is launched under `PROCESS_LOCAL` before this level is reached.
        Some("ANY" | "RACK_LOCAL") => Said::NotPreferred,
        _ => Said::Nothing,
    }
}

/// An attempt, as far as it shows what its task prefers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen<'a> {
    /// Spark's word for its level.
    pub(super) level: Option<&'a str>,
    pub(super) host: Option<&'a str>,
    pub(super) launch: Option<i64>,
    /// True if it is the first at its task, so that it waited in the order of the indices.
    pub(super) is_first: bool,
}

/// What the attempts at a task show about the hosts that it prefers.
#[derive(Debug, Default)]
pub(super) struct Shown<'a> {
    /// Those that it prefers, in the order of its attempts.
    preferred: Vec<&'a str>,
    /// Those that it does not prefer, although it prefers some.
    others: BTreeSet<&'a str>,
    /// The host of its first attempt, and when that was launched.
    first: Option<(&'a str, i64)>,
}

impl<'a> Shown<'a> {
    /// What these attempts show.
    pub(super) fn by(attempts: impl Iterator<Item = Seen<'a>>) -> Self {
        let mut shown = Self::default();
        for Seen { level, host, launch, is_first } in attempts {
            let Some(host) = host.filter(|host| !host.is_empty()) else { continue };
            let said = said(level);
            if is_first && said != Said::Nothing {
                shown.first = launch.map(|launch| (host, launch));
            }
            match said {
                Said::Preferred if !shown.preferred.contains(&host) => shown.preferred.push(host),
                Said::NotPreferred => {
                    shown.others.insert(host);
                }
                _ => {}
            }
        }
        shown
    }

    /// True if nothing says that the task prefers hosts.
    pub(super) fn shows_nothing(&self) -> bool {
        self.preferred.is_empty() && self.others.is_empty()
    }

    /// The hosts that the task was seen to prefer.
    pub(super) fn preferred(&self) -> impl Iterator<Item = &'a str> {
        self.preferred.iter().copied()
    }

    /// True if the task was seen to prefer a host.
    pub(super) fn prefers(&self, host: &str) -> bool {
        self.preferred.contains(&host)
    }

    /// The hosts that it was seen not to prefer.
    pub(super) fn others(&self) -> impl Iterator<Item = &'a str> {
        self.others.iter().copied()
    }

    /// The host of its first attempt, and when that was launched.
    pub(super) fn first(&self) -> Option<(&'a str, i64)> {
        self.first
    }

    /// True if the task prefers hosts of which none was seen.
    fn is_elsewhere(&self) -> bool {
        self.preferred.is_empty() && !self.others.is_empty()
    }
}

/// What the tasks of a stage were seen to prefer.
#[derive(Debug, Default)]
struct Stage<'a> {
    /// How many tasks were seen to prefer each host.
    tasks: BTreeMap<&'a str, u64>,
    /// The first attempts on each host that it was preferred by: the place of the task in the stage, in order, and the earliest launch of
    /// this task and those after it.
    served: BTreeMap<&'a str, Vec<(i64, i64)>>,
    /// After the last task: each host, with the sum of `tasks` up to it.
    sums: Vec<(&'a str, u64)>,
}

/// How often a host is drawn that a task cannot prefer, before those that it can are looked up.
const MOST_DRAWS: u32 = 16;

impl<'a> Stage<'a> {
    /// Notes a task that was seen on hosts that it prefers. Tasks come in the order of their places.
    fn see(&mut self, place: i64, shown: &Shown<'a>) {
        for host in &shown.preferred {
            *self.tasks.entry(host).or_default() += 1;
        }
        if let Some((host, launch)) = shown.first.filter(|(host, _)| shown.preferred.contains(host)) {
            self.served.entry(host).or_default().push((place, launch));
        }
    }

    /// After the last task: makes each launch the earliest of those that follow.
    fn close(&mut self) {
        let mut sum = 0;
        let up_to = |(host, tasks): (&&'a str, &u64)| {
            sum += tasks;
            (*host, sum)
        };
        self.sums = self.tasks.iter().map(up_to).collect();
        for served in self.served.values_mut() {
            let mut earliest = i64::MAX;
            for (_, launch) in served.iter_mut().rev() {
                earliest = earliest.min(*launch);
                *launch = earliest;
            }
        }
    }

    /// True if the task in this place cannot prefer the host, because a task behind it was served there while it waited. Of the tasks that
    /// prefer a host, Spark launches the one with the lowest index.
    fn passed_over(&self, place: i64, launch: Option<i64>, host: &str) -> bool {
        let (Some(launch), Some(served)) = (launch, self.served.get(host)) else { return false };
        let behind = served.partition_point(|(other, _)| *other <= place);
        served.get(behind).is_some_and(|(_, earliest)| *earliest < launch)
    }

    /// A host that `task` may prefer, as likely as tasks of its stage were seen to prefer each.
    fn draw(&self, task: Task, shown: &Shown<'_>) -> Option<&'a str> {
        let launch = shown.first.map(|(_, launch)| launch);
        let may = |host: &str| !shown.others.contains(host) && !self.passed_over(task.1, launch, host);
        let entity = [task.0, task.1].map(i64::unsigned_abs);
        let mut draws = stream(SEED, Purpose::PreferredHost, &entity);
        let all = self.sums.last().map_or(0, |&(_, sum)| sum);
        for _ in 0..MOST_DRAWS.min(u32::try_from(all).unwrap_or(u32::MAX)) {
            let drawn = draws.random_range(0..all);
            let place = self.sums.partition_point(|&(_, sum)| sum <= drawn);
            if let Some(&(host, _)) = self.sums.get(place).filter(|(host, _)| may(host)) {
                return Some(host);
            }
        }
        let left: Vec<(&'a str, u64)> =
            self.tasks.iter().map(|(host, tasks)| (*host, *tasks)).filter(|(host, _)| may(host)).collect();
        let total: u64 = left.iter().map(|(_, tasks)| tasks).sum();
        if total == 0 {
            return None;
        }
        let mut drawn = draws.random_range(0..total);
        for (host, tasks) in left {
            match drawn.checked_sub(tasks) {
                Some(rest) => drawn = rest,
                None => return Some(host),
            }
        }
        None
    }
}

/// The hosts that the tasks of a job prefer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The hosts of each task of which something is known. None: it prefers no place.
    pub(super) hosts: BTreeMap<Key, Vec<String>>,
    /// How many hosts were drawn, and the rule by which.
    pub(super) drawn: u64,
    pub(super) rule: &'static str,
    /// The tasks that prefer hosts of which none can be one of the executors: they are outside of them.
    pub(super) outside: BTreeSet<Key>,
}

impl Places {
    /// Those that a file gives.
    pub(super) fn given(tasks: impl Iterator<Item = Key>, given: &Preferred, application: &str) -> Self {
        let of_task = |key: Key| Some((key, given.of(application, (key.0, key.2))?.to_vec()));
        Self { hosts: tasks.filter_map(of_task).collect(), ..Self::default() }
    }

    /// Those that follow from where the tasks of stages ran, and a drawn one for each task that preferred hosts on which no task of
    /// it was seen. The tasks come in the order of their keys.
    pub(super) fn inferred<'a>(tasks: impl Iterator<Item = (Key, Shown<'a>)>) -> Self {
        let mut stages: BTreeMap<i64, Stage<'a>> = BTreeMap::new();
        let mut elsewhere = Vec::new();
        let mut places = Self { rule: RULE, ..Self::default() };
        for (key, shown) in tasks {
            if shown.is_elsewhere() {
                elsewhere.push((key, shown));
            } else if !shown.preferred.is_empty() {
                stages.entry(key.0).or_default().see(key.2, &shown);
                let hosts = shown.preferred.into_iter().map(str::to_owned).collect();
                places.hosts.insert(key, hosts);
            }
        }
        stages.values_mut().for_each(Stage::close);
        for (key, shown) in elsewhere {
            match stages.get(&key.0).and_then(|stage| stage.draw((key.0, key.2), &shown)) {
                Some(host) => {
                    places.hosts.insert(key, vec![host.to_owned()]);
                    places.drawn += 1;
                }
                None => _ = places.outside.insert(key),
            }
        }
        places
    }
}

/// The row of the splits table of a task that prefers hosts without executors.
pub(super) fn outside(task_id: &str) -> Vec<SplitRow> {
    vec![SplitRow { task_id: task_id.to_owned(), ordinal: 0, ..SplitRow::default() }]
}

/// The rows of the splits table of a task that prefers these hosts.
pub(super) fn rows<'a>(task_id: &str, hosts: impl IntoIterator<Item = &'a str>) -> Vec<SplitRow> {
    let row = |(ordinal, host): (i64, &str)| SplitRow {
        task_id: task_id.to_owned(),
        ordinal,
        host: Some(host.to_owned()),
        ..SplitRow::default()
    };
    (0..).zip(hosts).map(row).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use resched_tables::sink::Collected;

    fn read(text: &str) -> (Option<Preferred>, BTreeMap<String, u64>) {
        let mut sink = Collected::default();
        let found = Preferred::read(&mut text.as_bytes(), &mut sink).unwrap();
        (found, sink.skipped)
    }

    fn of<'a>(found: &'a Preferred, application: &str, task: Task) -> Option<Vec<&'a str>> {
        found.of(application, task).map(|hosts| hosts.iter().map(String::as_str).collect())
    }

    #[test]
    fn a_file_gives_the_hosts_of_each_task() {
        let (found, skipped) = read("stage,index,hosts\r\n0,1,a b a\r\n\n2,3,\n2,4,\"c\"\n");
        let found = found.unwrap();
        assert_eq!(of(&found, "any", (0, 1)), Some(vec!["a", "b"]));
        assert_eq!(of(&found, "any", (2, 3)), Some(vec![]));
        assert_eq!(of(&found, "any", (2, 4)), Some(vec!["c"]));
        assert_eq!((of(&found, "any", (2, 5)), skipped), (None, BTreeMap::new()));
    }

    #[test]
    fn a_file_may_be_of_several_applications() {
        let (found, _) = read("application,stage,index,hosts\nx,0,1,a\ny,0,1,b\n");
        let found = found.unwrap();
        assert_eq!(of(&found, "x", (0, 1)), Some(vec!["a"]));
        assert_eq!(of(&found, "y", (0, 1)), Some(vec!["b"]));
        assert_eq!(of(&found, "z", (0, 1)), None);
    }

    /// Real rows of this size would need as much memory.
    #[test]
    fn rows_are_held_up_to_the_limit_and_not_beyond() {
        let line = "0,1,a";
        let size = line.len() + 3 * size_of::<String>() + size_of::<Task>();
        for (held, expected) in [(MOST_BYTES - size, (1, None)), (MOST_BYTES - size + 1, (0, Some(1)))] {
            let mut preferred = Preferred { held, ..Preferred::default() };
            let mut sink = Collected::default();
            preferred.take(line, false, &mut sink);
            let rows = preferred.given.values().map(|hosts| hosts.len()).sum::<usize>();
            assert_eq!((rows, sink.skipped.get("too-many-preferred-rows").copied()), expected);
        }
    }

    #[test]
    fn damage_is_counted() {
        let rows = "stage,index,hosts\n0\n0,x,a\n-1,0,a\n0,0\n0,0,a\n";
        let long = format!("{rows}0,1,{}\n", "h".repeat(MAX_LINE));
        let (found, skipped) = read(&long);
        assert_eq!(of(&found.unwrap(), "", (0, 0)), Some(vec!["a"]));
        assert_eq!(skipped, BTreeMap::from([("damaged-preferred-row".to_owned(), 5)]));
        let (found, skipped) = read("host,weight\na,1\n");
        assert!(found.is_none());
        assert_eq!(skipped, BTreeMap::from([("preferred-file-without-header".to_owned(), 1)]));
        assert!(read("").0.is_none());
    }

    /// A task with one attempt, the first, in the stage 3.
    fn ran<'a>(place: i64, level: &'a str, host: &'a str, launch: i64) -> (Key, Shown<'a>) {
        let seen = Seen { level: Some(level), host: Some(host), launch: Some(launch), is_first: true };
        ((3, 0, place), Shown::by([seen].into_iter()))
    }

    #[test]
    fn draws_follow_the_tasks_of_the_stage_and_avoid_where_it_ran() {
        let drawn = |host: &str| -> BTreeMap<Option<String>, u64> {
            let near = (0..10).map(|place| ran(place, "NODE_LOCAL", if place < 9 { "a" } else { "b" }, 5));
            let far = (10..1_010).map(|place| ran(place, "ANY", host, 9));
            let places = Places::inferred(near.chain(far));
            assert_eq!(places.drawn + places.outside.len() as u64, 1_000);
            let mut counts = BTreeMap::new();
            for place in 10..1_010 {
                let hosts = places.hosts.get(&(3, 0, place)).map(|hosts| hosts.join(" "));
                *counts.entry(hosts).or_default() += 1;
            }
            counts
        };
        let both = drawn("c");
        assert!((850..950).contains(&both[&Some("a".to_owned())]), "{both:?}");
        assert_eq!(drawn("a"), BTreeMap::from([(Some("b".to_owned()), 1_000)]));
    }

    #[test]
    fn a_task_that_was_passed_over_on_a_host_does_not_prefer_it() {
        let places = |launch_behind: i64, place_behind: i64| {
            let tasks = [
                ran(2, "NODE_LOCAL", "b", 8),
                ran(5, "ANY", "c", 7),
                ran(place_behind, "NODE_LOCAL", "a", launch_behind),
            ];
            let places = Places::inferred(tasks.into_iter());
            places.hosts.get(&(3, 0, 5)).cloned()
        };
        let drawn: BTreeSet<Option<Vec<String>>> = (6..40).map(|place| places(6, place)).collect();
        assert_eq!(drawn, BTreeSet::from([Some(vec!["b".to_owned()])]), "those behind it got `a` first");
        let late = Places::inferred([ran(5, "ANY", "c", 7), ran(6, "NODE_LOCAL", "a", 7)].into_iter());
        assert_eq!((late.drawn, late.outside.len()), (1, 0));
        let passed = Places::inferred([ran(5, "ANY", "c", 7), ran(6, "NODE_LOCAL", "a", 6)].into_iter());
        assert_eq!((passed.drawn, passed.outside.len()), (0, 1));
    }

    #[test]
    fn attempts_show_what_their_task_prefers() {
        let seen = |level, host| Seen { level: Some(level), host: Some(host), ..Seen::default() };
        let attempts =
            [("ANY", "c"), ("NODE_LOCAL", "b"), ("PROCESS_LOCAL", "d"), ("NODE_LOCAL", "b"), ("NODE_LOCAL", "a")];
        let shown = Shown::by(attempts.into_iter().map(|(level, host)| seen(level, host)));
        assert_eq!((shown.preferred.as_slice(), shown.others.len(), shown.is_elsewhere()), (&["b", "a"][..], 1, false));
        assert!(Shown::by([seen("RACK_LOCAL", "c")].into_iter()).is_elsewhere());
        assert!(!Shown::by([seen("PROCESS_LOCAL", "c"), Seen::default()].into_iter()).is_elsewhere());
    }
}
