//! Event tables: source formats in which the records of a job are spread over several tables of many files.
//!
//! A reader turns each record into a [`Fact`]: its job and task, its time, and its content. `crate::tables`
//! brings the facts of a job together on disk. An [`Assemble`] then turns them into rows, one fact at a time. So
//! neither a job of millions of tasks nor a task of millions of events is held in memory. [`super::TABLE_FORMATS`]
//! lists the formats.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::format::ReadAs;
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{AttemptRow, JobRow, NodeChange, NodeRow, Outcome, TaskRow};
use resched_tables::store::Amounts;

/// The longest key (bytes). A longer key is not cut, because a cut key might be that of another job.
pub const LONGEST_KEY: usize = 1 << 10;

/// Names a job, a task of it, or a machine. Keys are ordered: first none, then numbers by value, then texts by their
/// bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key<'a> {
    /// No task: the fact is about the job itself.
    None,
    /// A number.
    Number(u64),
    /// A text.
    Text(&'a str),
}

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::None => Ok(()),
            Key::Number(number) => number.fmt(f),
            Key::Text(text) => f.write_str(text),
        }
    }
}

/// The content of one record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fact<'a> {
    /// The job, or the machine.
    #[serde(borrow)]
    pub job: Key<'a>,
    /// The task; [`Key::None`] for a fact about the job.
    pub task: Key<'a>,
    /// Its place among the facts of its task: its time, in the source's unit.
    pub time: i64,
    /// The value, in the format's own encoding.
    pub value: &'a [u8],
}

/// The value of a fact about a machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Its rack.
    pub rack: Option<String>,
    /// Its time, ms; `None` if it was before the trace.
    pub time: Option<i64>,
    /// True if the machine left; otherwise it joined or changed.
    pub left: bool,
    /// Processor it offers, in thousandths of a core or of the source's unit.
    pub cpu: Option<i64>,
    /// Memory it offers, bytes or the source's unit.
    pub memory: Option<i64>,
}

impl Machine {
    /// The row of the machine `host`.
    pub fn into_row(self, host: String, event: NodeChange) -> NodeRow {
        let Self { rack, time, cpu, memory, .. } = self;
        NodeRow { host, rack, time, event, cpu, memory, ..NodeRow::default() }
    }
}

/// Takes the facts that a reader finds.
pub trait FactSink {
    /// Takes a fact about a job or a task.
    ///
    /// # Errors
    /// The error of the disk. The reader passes it on.
    fn fact(&mut self, fact: &Fact<'_>) -> Result<(), Error>;

    /// Takes a fact about a machine: an encoded [`Machine`].
    ///
    /// # Errors
    /// As [`FactSink::fact`].
    fn machine(&mut self, fact: &Fact<'_>) -> Result<(), Error>;

    /// Counts something that the tables do not have as the source has it.
    fn skip(&mut self, cause: Cause);
}

/// Takes the rows of an assembler. The attempts of a task come before the task, and tasks before their job.
pub trait RowSink {
    /// Takes an attempt at the next task.
    ///
    /// # Errors
    /// The error of the writer behind it. The assembler passes it on.
    fn attempt(&mut self, row: AttemptRow) -> Result<(), Error>;

    /// Takes a task of the next job.
    ///
    /// # Errors
    /// As [`RowSink::attempt`].
    fn task(&mut self, row: TaskRow) -> Result<(), Error>;

    /// Takes a job.
    ///
    /// # Errors
    /// As [`RowSink::attempt`].
    fn job(&mut self, row: JobRow) -> Result<(), Error>;

    /// Counts something that the tables do not have as the source has it.
    fn skip(&mut self, cause: Cause);
}

/// Turns the facts of one job after another into rows. The facts are sorted by job, task and time. Facts that are equal
/// in all three keep the order of the sources.
pub trait Assemble: Send {
    /// Takes the next fact of the task.
    ///
    /// # Errors
    /// The error of `rows`.
    fn fact(&mut self, fact: &Fact<'_>, rows: &mut dyn RowSink) -> Result<(), Error>;

    /// Ends the task: it has no more facts. Also called after the facts of the job itself, which have [`Key::None`].
    ///
    /// # Errors
    /// The error of `rows`.
    fn end_task(&mut self, rows: &mut dyn RowSink) -> Result<(), Error>;

    /// Ends the job: it has no more facts.
    ///
    /// # Errors
    /// The error of `rows`.
    fn end_job(&mut self, rows: &mut dyn RowSink) -> Result<(), Error>;
}

/// What a table is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It holds jobs, tasks or attempts.
    Jobs,
    /// It holds machines.
    Machines,
    /// It holds usage, containers or constraints, for which the trace has no table.
    LeftOut,
}

/// A table of a format.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What it is used for.
    pub used: Use,
    /// The table of the trace that suffers if this one is missing, and what is done about it. Empty if none suffers.
    pub absent: (&'static str, &'static str),
    /// What the columns are read from.
    pub reads: &'static [ReadAs],
}

/// The function that reads a file of a table.
pub type ReadTable = fn(table: &str, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error>;

/// A source format of event tables.
pub struct TableFormat {
    /// Its name on the command line and in the manifest.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Its tables.
    pub tables: &'static [Table],
    /// Its units and rules, which the manifest holds as `parameters`.
    pub notes: &'static [(&'static str, &'static str)],
    /// What its amounts of processor and memory are.
    pub amounts: Amounts,
    /// When its traces begin, ms, if the format says so. What happened before has an earlier time.
    pub begin: Option<i64>,
    /// The name of the table to which a file that starts with these bytes (up to 64 KiB, decompressed) belongs. Its
    /// path is used only if the content does not suffice.
    pub sniff: fn(head: &[u8], path: &str) -> Option<&'static str>,
    /// Reads a file of that table; `path` is its name for error messages.
    pub read: ReadTable,
    /// Makes an assembler.
    pub assembler: fn() -> Box<dyn Assemble>,
}

impl TableFormat {
    /// Its table of that name.
    pub fn table(&self, name: &str) -> Option<&'static Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Encodes the value of a fact.
pub(super) fn encode(value: &impl Serialize, buffer: &mut Vec<u8>) -> bool {
    buffer.clear();
    match postcard::to_extend(value, std::mem::take(buffer)) {
        Ok(encoded) => {
            *buffer = encoded;
            true
        }
        Err(_) => false,
    }
}

/// The outcome of a job whose tasks end with these outcomes: the worst. A task that has not ended is worse than a
/// failed one.
pub(super) fn worse(first: Option<Outcome>, second: Outcome) -> Outcome {
    const FROM_BAD: [Outcome; 7] = [
        Outcome::Incomplete,
        Outcome::Failed,
        Outcome::Killed,
        Outcome::Lost,
        Outcome::Evicted,
        Outcome::Unknown,
        Outcome::Success,
    ];
    let Some(first) = first else { return second };
    FROM_BAD.into_iter().find(|outcome| *outcome == first || *outcome == second).unwrap_or_default()
}
