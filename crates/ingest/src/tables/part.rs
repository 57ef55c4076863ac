//! A part of the trace: the jobs of one partition, assembled.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use super::super::progress::Progress;
use super::super::{backwards, far};
use super::plan::Plan;
use super::spill::Index;
use super::work::{WorkFolder, partial};
use crate::formats::tables::{Assemble, Fact, Key, RowSink};
use crate::sorted::Sorter;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, TaskRecord, TaskRow};
use resched_tables::sink::{Room, Sink};
use resched_tables::store::marker::{self, Layout, Unusable};
use resched_tables::store::parts::PartWriter;
use resched_tables::store::{Inventory, contents, filled, inside, sync_dir, write_file};

/// The layout of the file that describes a part.
const LAYOUT: Layout = Layout { what: "part", version: 3, by_others: false, again: "ingest again" };
/// The file that describes a part.
const DONE: &str = "part.json";
/// The most machines that are remembered per part; no cluster has as many.
const MOST_HOSTS: usize = 1 << 20;

/// The content of a part.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) format_version: u32,
    /// The rows of each table.
    pub(super) rows: BTreeMap<String, u64>,
    /// How many rows of each column have a value.
    pub(super) filled: BTreeMap<String, u64>,
    /// The files of the tables.
    #[serde(deserialize_with = "inside")]
    pub(super) files: Inventory,
    /// What was left out or mended.
    pub(super) skipped: BTreeMap<String, u64>,
    /// The machines that attempts ran on, sorted.
    pub(super) hosts: Vec<String>,
    /// The first and the last time of its jobs.
    pub(super) times: far::Times,
}

impl Done {
    /// A part whose tables are not written.
    pub(super) fn new(noted: Noted) -> Self {
        let Noted { skipped, hosts, times } = noted;
        let skipped = skipped.into_iter().map(|(cause, n)| (cause.name().to_owned(), n)).collect();
        Self { format_version: LAYOUT.version, skipped, hosts: hosts.into_sorted(), times, ..Self::default() }
    }

    pub(super) fn read(part: &Path) -> Result<Self, Error> {
        let path = part.join(DONE);
        let bytes = fs::read(&path).map_err(Error::io(&path, "read"))?;
        let unusable = |unusable: Unusable| Error::Io { path, action: "read", source: std::io::Error::other(unusable) };
        marker::decode(&bytes, &LAYOUT).map_err(unusable)
    }

    /// True if the part is there and all its files are as they were written.
    fn is_whole(part: &Path) -> bool {
        Self::read(part).is_ok_and(|done| done.files.iter().all(|(name, entry)| entry.is_content_of(&part.join(name))))
    }
}

/// Writes a part, unless an earlier run did. One that was damaged since is written again.
pub(super) fn write(
    plan: &Plan,
    work: &WorkFolder,
    index: &Index,
    partition: u32,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let target = work.part(partition);
    progress.file(&target);
    if target.exists() {
        if Done::is_whole(&target) {
            return Ok(());
        }
        fs::remove_dir_all(&target).map_err(Error::io(&target, "remove the damaged part"))?;
    }
    let staging = partial(&target);
    fs::create_dir(&staging).map_err(Error::io(&staging, "create the folder"))?;
    let mut rows = PartRows { writer: PartWriter::create(&staging)?, noted: Noted::default() };
    assemble_with(plan, &staging, index, partition, &mut rows, progress)?;
    let PartRows { writer, noted } = rows;
    let tables = writer.finish()?;
    let filled = filled(&tables);
    let (rows, files) = contents(tables);
    let done = Done { rows, files, filled, ..Done::new(noted) };
    let json = marker::encode(&done).map_err(|error| Error::Io {
        path: staging.clone(),
        action: "describe",
        source: error.into(),
    })?;
    write_file(&staging.join(DONE), &json)?;
    sync_dir(&staging)?;
    fs::rename(&staging, &target).map_err(Error::io(&target, "give the folder its name"))
}

/// Assembles the jobs of a partition into `rows`.
pub(super) fn assemble(
    plan: &Plan,
    work: &WorkFolder,
    index: &Index,
    partition: u32,
    rows: &mut dyn RowSink,
) -> Result<(), Error> {
    let scratch = partial(&work.part(partition));
    fs::create_dir(&scratch).map_err(Error::io(&scratch, "create the folder"))?;
    assemble_with(plan, &scratch, index, partition, rows, &mut ())
}

fn assemble_with(
    plan: &Plan,
    scratch: &Path,
    index: &Index,
    partition: u32,
    rows: &mut dyn RowSink,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let sorter = sorter(plan, scratch, index, partition, progress, &mut || rows.skip(cause::DAMAGED_FACT))?;
    let mut assembler = (plan.format()?.assembler)();
    let mut current = Current::default();
    sorter.visit(|fact| {
        current.step(fact, assembler.as_mut(), rows)?;
        assembler.fact(fact, rows)
    })?;
    current.end(assembler.as_mut(), rows)
}

/// The facts of a partition, ready to be sorted.
pub(super) fn sorter(
    plan: &Plan,
    scratch: &Path,
    index: &Index,
    partition: u32,
    progress: &mut dyn Progress,
    damaged: &mut dyn FnMut(),
) -> Result<Sorter, Error> {
    let mut sorter = Sorter::new(Room { folder: Some(scratch.to_path_buf()), memory: plan.memory() });
    let (facts, bytes) = index.size(partition);
    sorter.reserve(facts, bytes);
    index.visit(partition, |block, stored| {
        progress.advance(stored);
        if !sorter.add(block)? {
            damaged();
        }
        Ok(())
    })?;
    Ok(sorter)
}

/// The job and the task whose facts are being taken.
#[derive(Default)]
struct Current {
    begun: bool,
    job: KeyBuf,
    task: KeyBuf,
}

impl Current {
    /// Ends the task and the job that `fact` does not belong to.
    fn step(&mut self, fact: &Fact<'_>, assembler: &mut dyn Assemble, rows: &mut dyn RowSink) -> Result<(), Error> {
        let same_job = self.begun && self.job.is(&fact.job);
        if same_job && self.task.is(&fact.task) {
            return Ok(());
        }
        if self.begun {
            assembler.end_task(rows)?;
        }
        if self.begun && !same_job {
            assembler.end_job(rows)?;
        }
        self.begun = true;
        self.job.set(&fact.job);
        self.task.set(&fact.task);
        Ok(())
    }

    fn end(&self, assembler: &mut dyn Assemble, rows: &mut dyn RowSink) -> Result<(), Error> {
        if !self.begun {
            return Ok(());
        }
        assembler.end_task(rows)?;
        assembler.end_job(rows)
    }
}

/// A key that is kept; the text is empty for numbers.
#[derive(Default)]
pub(super) struct KeyBuf {
    number: Option<u64>,
    text: String,
}

impl KeyBuf {
    pub(super) fn is(&self, key: &Key<'_>) -> bool {
        match key {
            Key::None => self.number.is_none() && self.text.is_empty(),
            Key::Number(number) => self.number == Some(*number),
            Key::Text(text) => self.number.is_none() && self.text == *text,
        }
    }

    pub(super) fn set(&mut self, key: &Key<'_>) {
        self.text.clear();
        self.number = None;
        match key {
            Key::None => {}
            Key::Number(number) => self.number = Some(*number),
            Key::Text(text) => self.text.push_str(text),
        }
    }
}

/// The machines that attempts ran on.
#[derive(Default)]
struct Hosts(HashSet<String>);

impl Hosts {
    /// Notes a host. Returns true if it is one more than can be remembered.
    fn see(&mut self, host: Option<&String>) -> bool {
        let Some(host) = host.filter(|host| !self.0.contains(*host)) else { return false };
        if self.0.len() == MOST_HOSTS {
            return true;
        }
        self.0.insert(host.clone());
        false
    }

    fn into_sorted(self) -> Vec<String> {
        let mut hosts: Vec<String> = self.0.into_iter().collect();
        hosts.sort_unstable();
        hosts
    }
}

/// What is noted about the rows of a part while they are mended.
#[derive(Default)]
pub(super) struct Noted {
    skipped: BTreeMap<Cause, u64>,
    hosts: Hosts,
    times: far::Times,
}

impl Noted {
    fn count(&mut self, cause: Cause, n: u64) {
        if n > 0 {
            *self.skipped.entry(cause).or_default() += n;
        }
    }

    fn attempt(&mut self, row: &mut AttemptRow) {
        if self.hosts.see(row.host.as_ref()) {
            self.count(cause::MACHINE_BEYOND_LIMIT, 1);
        }
        self.count(cause::FAR_TIME, far::mend_attempt(row));
        self.count(cause::FINISH_BEFORE_START, backwards::mend_attempt(row));
        self.times.see([row.start, row.finish]);
    }

    fn task(&mut self, row: &mut TaskRow) {
        self.count(cause::FAR_TIME, far::mend_task(row));
        self.count(cause::FINISH_BEFORE_START, backwards::mend_task(row));
    }

    fn job(&mut self, row: &mut JobRow) {
        self.count(cause::FAR_TIME, far::mend_job(row));
        self.count(cause::FINISH_BEFORE_START, backwards::mend_job(row));
        self.times.see([row.submit, row.launch, row.finish]);
    }
}

/// Writes rows to a part.
struct PartRows {
    writer: PartWriter,
    noted: Noted,
}

impl RowSink for PartRows {
    fn attempt(&mut self, mut row: AttemptRow) -> Result<(), Error> {
        self.noted.attempt(&mut row);
        self.writer.attempt(&row)
    }

    fn task(&mut self, mut row: TaskRow) -> Result<(), Error> {
        self.noted.task(&mut row);
        self.writer.task(&row)
    }

    fn job(&mut self, mut row: JobRow) -> Result<(), Error> {
        self.noted.job(&mut row);
        self.writer.job(&row)
    }

    fn skip(&mut self, cause: Cause) {
        self.noted.count(cause, 1);
    }
}

/// Hands whole jobs to a sink.
pub(super) struct Jobs<'s> {
    sink: &'s mut dyn Sink,
    pub(super) noted: Noted,
    pub(super) jobs: u64,
    attempts: Vec<AttemptRow>,
    tasks: Vec<TaskRecord>,
}

impl<'s> Jobs<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, noted: Noted::default(), jobs: 0, attempts: Vec::new(), tasks: Vec::new() }
    }
}

impl RowSink for Jobs<'_> {
    fn attempt(&mut self, mut row: AttemptRow) -> Result<(), Error> {
        self.noted.attempt(&mut row);
        self.attempts.push(row);
        Ok(())
    }

    fn task(&mut self, mut task: TaskRow) -> Result<(), Error> {
        self.noted.task(&mut task);
        let attempts = std::mem::take(&mut self.attempts);
        self.tasks.push(TaskRecord { task, splits: Vec::new(), attempts });
        Ok(())
    }

    fn job(&mut self, mut job: JobRow) -> Result<(), Error> {
        self.noted.job(&mut job);
        self.jobs += 1;
        self.sink.job(JobRecord { job, tasks: std::mem::take(&mut self.tasks), counters: Vec::new() })
    }

    fn skip(&mut self, cause: Cause) {
        self.noted.count(cause, 1);
    }
}
