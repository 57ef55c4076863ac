//! Source formats: one module each, found by content.
//!
//! A format is a pair of functions: `sniff` looks at the first bytes (after decompression) and `read` turns a stream of
//! bytes into jobs and machines. No reader panics: a damaged record is skipped and counted by cause.
//!
//! Formats in which a job stands in one place are in [`FORMATS`]; those that spread it over tables are in
//! [`tables::TABLE_FORMATS`].

mod alibaba;
pub mod alibaba2017;
pub mod alibaba2018;
pub mod conf_xml;
mod csv;
#[cfg(test)]
mod golden;
mod google;
pub mod google2011;
pub mod google2019;
pub mod gwf;
pub mod jhist;
mod json;
mod lines;
mod names;
pub mod rumen;
pub mod sls;
pub mod spark;
pub mod swf;
pub mod swim;
pub mod tables;
pub mod text_history;
pub mod topology;
pub mod yarn_apps;

use std::collections::BTreeMap;
use std::io::BufRead;

pub use self::names::{MAPREDUCE, job_id_in_name, split_rack_and_host};
use crate::Error;
use crate::model::{JobRecord, NodeRow};
use crate::store::TimeZero;

/// Every format, in the order in which they are tried: a new format is one module and one line here.
pub const FORMATS: &[Format] = &[
    text_history::FORMAT,
    jhist::FORMAT,
    rumen::FORMAT,
    topology::FORMAT,
    swim::FORMAT,
    swf::FORMAT,
    gwf::FORMAT,
    spark::FORMAT,
    sls::FORMAT,
    sls::NODES,
    yarn_apps::FORMAT,
];

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

    /// Takes a number of the source that stands for all of its jobs, for the manifest. The first telling counts.
    fn parameter(&mut self, _name: &str, _value: serde_json::Value) {}

    /// Whether counters are wanted (`--counters`).
    fn wants_counters(&self) -> bool {
        false
    }
}

/// A sink that keeps all it is given, for what fits in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// The jobs, in the order in which they came.
    pub jobs: Vec<JobRecord>,
    /// The machine events, in the order in which they came; a machine that was told twice is here twice.
    pub nodes: Vec<NodeRow>,
    /// How many things were left out or mended, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// Whether it asks for counters.
    pub counters: bool,
}

impl Collected {
    /// The rows of each table that a trace of this has.
    pub fn rows(&self) -> BTreeMap<String, u64> {
        let tasks = || self.jobs.iter().flat_map(|job| &job.tasks);
        let rows = [
            ("jobs", self.jobs.len()),
            ("tasks", tasks().count()),
            ("attempts", tasks().map(|task| task.attempts.len()).sum()),
            ("splits", tasks().map(|task| task.splits.len()).sum()),
            ("nodes", self.nodes.len()),
            ("counters", self.jobs.iter().map(|job| job.counters.len()).sum()),
        ];
        rows.map(|(table, rows)| (table.to_owned(), rows as u64)).into()
    }
}

impl Sink for Collected {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.jobs.push(job);
        Ok(())
    }

    fn node(&mut self, node: NodeRow) {
        self.nodes.push(node);
    }

    fn skip(&mut self, cause: &str, n: u64) {
        let count = self.skipped.entry(cause.to_owned()).or_default();
        *count = count.saturating_add(n);
    }

    fn wants_counters(&self) -> bool {
        self.counters
    }
}

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
