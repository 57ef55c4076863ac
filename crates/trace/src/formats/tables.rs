//! Event tables: source formats in which the records of a job are spread over several tables of many files.
//!
//! A reader turns each record into a [`Fact`]: whose job and task it is about, when it was, and what it says. The facts of a
//! job are brought together outside of memory (`crate::ingest::tables`), and an [`Assemble`] turns them into rows, one fact at a
//! time, so that neither a job of millions of tasks nor a task of millions of events need be held. The formats are listed in
//! [`super::TABLE_FORMATS`].

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::model::{AttemptRow, JobRow, NodeChange, NodeRow, Outcome, TaskRow};

/// The longest key (bytes): a cut one might be that of another job.
pub const LONGEST_KEY: usize = 1 << 10;

/// Names a job, a task of it, or a machine. Keys stand in this order: none, numbers by value, texts by their bytes.
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

/// What one record says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fact<'a> {
    /// The job, or the machine.
    #[serde(borrow)]
    pub job: Key<'a>,
    /// The task; [`Key::None`] for a fact about the job.
    pub task: Key<'a>,
    /// Where it stands among the facts of its task: its time, in the source's unit.
    pub time: i64,
    /// What it says, in the format's own encoding.
    pub value: &'a [u8],
}

/// What a record of a table of machines says: the value of its fact.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Its rack.
    pub rack: Option<String>,
    /// When it was, ms; `None`: before the trace.
    pub time: Option<i64>,
    /// Whether it left; otherwise it joined or changed.
    pub left: bool,
    /// Processor it offers, in thousandths of a core or of the source's unit.
    pub cpu: Option<i64>,
    /// Memory it offers, bytes or the source's unit.
    pub memory: Option<i64>,
}

impl Machine {
    /// The row that it makes of `host`.
    pub fn into_row(self, host: String, event: NodeChange) -> NodeRow {
        let Self { rack, time, cpu, memory, .. } = self;
        NodeRow { host, rack, time, event, cpu, memory, ..NodeRow::default() }
    }
}

/// Where a reader puts what it finds.
pub trait FactSink {
    /// Takes a fact about a job or a task.
    ///
    /// # Errors
    /// What the disk says; the reader passes it on.
    fn fact(&mut self, fact: &Fact<'_>) -> Result<(), Error>;

    /// Takes a fact about a machine: an encoded [`Machine`].
    ///
    /// # Errors
    /// As [`FactSink::fact`].
    fn machine(&mut self, fact: &Fact<'_>) -> Result<(), Error>;

    /// Counts something that was left out or mended, by cause (kebab-case).
    fn skip(&mut self, cause: &'static str);
}

/// Where an assembler puts its rows. The attempts of a task come before the task, and tasks before their job.
pub trait RowSink {
    /// Takes a try at the task that comes next.
    ///
    /// # Errors
    /// What the writer behind it says; the assembler passes it on.
    fn attempt(&mut self, row: AttemptRow) -> Result<(), Error>;

    /// Takes a task of the job that comes next.
    ///
    /// # Errors
    /// As [`RowSink::attempt`].
    fn task(&mut self, row: TaskRow) -> Result<(), Error>;

    /// Takes a job.
    ///
    /// # Errors
    /// As [`RowSink::attempt`].
    fn job(&mut self, row: JobRow) -> Result<(), Error>;

    /// Counts something that was left out or mended, by cause (kebab-case).
    fn skip(&mut self, cause: &'static str);
}

/// Turns the facts of one job after the other into rows. They come by job, task and time; what is equal in all three comes as
/// it stood in the sources.
pub trait Assemble: Send {
    /// Takes the next fact of the task.
    ///
    /// # Errors
    /// What `rows` says.
    fn fact(&mut self, fact: &Fact<'_>, rows: &mut dyn RowSink) -> Result<(), Error>;

    /// The facts of the task are at an end; also called after those of the job itself, which have [`Key::None`].
    ///
    /// # Errors
    /// What `rows` says.
    fn end_task(&mut self, rows: &mut dyn RowSink) -> Result<(), Error>;

    /// The facts of the job are at an end.
    ///
    /// # Errors
    /// What `rows` says.
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
    /// The table of the trace that suffers where it is absent, and what is done about it; empty where nothing does.
    pub absent: (&'static str, &'static str),
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
    /// What the manifest says of its units and rules, as `parameters`.
    pub notes: &'static [(&'static str, &'static str)],
    /// The name of the table that a file is which starts with these bytes (up to 64 KiB, decompressed); its path is asked
    /// only where the content cannot tell.
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

/// How a job of such tasks ended: well if all did, not at all if one did not, else as the worst.
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
