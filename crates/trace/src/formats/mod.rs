//! Source formats: one module each, found by content.
//!
//! A format is a pair of functions: `sniff` looks at the first bytes (after decompression) and `read` turns a stream of
//! bytes into jobs and machines. No reader panics: a damaged record is skipped and counted by cause.

pub mod swim;

use std::io::BufRead;

use crate::Error;
use crate::model::{JobRecord, NodeRow};

/// Where a reader puts what it finds.
pub trait Sink {
    /// Takes a job that is whole.
    ///
    /// # Errors
    /// What the writer behind it says; the reader passes it on.
    fn job(&mut self, job: JobRecord) -> Result<(), Error>;

    /// Takes a machine event. The same machine may be told more than once; the first telling counts.
    fn node(&mut self, node: NodeRow);

    /// Counts `n` things that were left out or mended, by cause (kebab-case, such as `damaged-record`).
    fn skip(&mut self, cause: &str, n: u64);

    /// Whether counters are wanted (`--counters`).
    fn wants_counters(&self) -> bool {
        false
    }
}

/// A source format.
pub struct Format {
    /// Its name on the command line and in the manifest.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Whether a file that starts with these bytes is one (up to 64 KiB, decompressed).
    pub sniff: fn(head: &[u8]) -> bool,
    /// Reads a file; `path` is its name for error messages.
    pub read: fn(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error>,
}
