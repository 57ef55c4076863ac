//! What a source format is.

use std::io::BufRead;

use super::sink::Sink;
use crate::Error;
use crate::store::TimeZero;

/// A source format.
pub struct Format {
    /// Its name on the command line and in the manifest.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What its times count from; `None` if it has none (a topology).
    pub time_zero: Option<TimeZero>,
    /// Whether its jobs come with their tasks; otherwise the tasks are made up on ingest.
    pub has_tasks: bool,
    /// Whether a job id that comes again in the same file is another job (a folded trace, `spec/formats.md` 4), not the
    /// same history twice.
    pub folded: bool,
    /// Whether a file that starts with these bytes is one (up to 64 KiB, decompressed).
    pub sniff: fn(head: &[u8]) -> bool,
    /// Reads a file; `path` is its name for error messages.
    pub read: fn(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error>,
}
