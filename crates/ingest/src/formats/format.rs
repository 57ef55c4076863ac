//! The description of a source format.

use std::io::BufRead;

use resched_tables::Error;
use resched_tables::sink::Sink;
use resched_tables::store::{System, TimeZero};

/// A column of the tables (`table.column`), and the columns, keys or fields of a source that hold its values, by the source's names for them.
pub type ReadAs = (&'static str, &'static [&'static str]);

/// A source format.
pub struct Format {
    /// Its name on the command line and in the manifest.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The zero of its times; `None` if it has no times (a topology).
    pub time_zero: Option<TimeZero>,
    /// What ran its jobs; `None` if only the content of a file says it ([`Sink::system`]).
    pub system: Option<System>,
    /// True if its jobs come with their tasks. Otherwise the tasks are made on ingest.
    pub has_tasks: bool,
    /// The name of the formats whose files may be of one cluster, and of the folder of their trace: its own, or `hadoop`.
    pub group: &'static str,
    /// True if a file is a whole trace, so that another file of the format is another cluster.
    pub is_whole: bool,
    /// True if the times of a task stand in for those of its attempts where these have none.
    pub has_times_of_tasks: bool,
    /// True if a job id that occurs again in the same file is another job (a folded trace, `docs/formats/rumen.md`).
    /// Otherwise it is the same history twice.
    pub folded: bool,
    /// What its columns are read from. Empty if that differs from file to file: then the reader says it ([`Sink::filled_from`]).
    pub reads: &'static [ReadAs],
    /// Whether a file that starts with these bytes (up to 64 KiB, decompressed) has this format.
    pub sniff: fn(head: &[u8]) -> bool,
    /// Reads a file; `path` is its name for error messages.
    pub read: fn(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error>,
}
