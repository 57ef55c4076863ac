//! Jobs that a program gives, under the rules of an ingest.

use resched_tables::Error;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::store::{Manifest, Out, Source, System, TimeZero, TraceWriter};

use super::TraceSink;
use super::inputs::Inputs;
use super::options::Options;
use super::session::Session;
use crate::formats::Format;

/// What is known of jobs that a program gives, beside the jobs.
#[derive(Debug, Clone)]
pub struct Given {
    /// Where they come from, for the manifest.
    pub source: Source,
    /// What ran them; `None` if that is not known.
    pub system: Option<System>,
    /// The zero of their times.
    pub time_zero: TimeZero,
    /// Columns (`table.column`) that were filled by a rule, with the rule and the number of rows.
    pub made: Vec<(&'static str, &'static str, u64)>,
}

/// The format of such jobs. No file has it.
const FORMAT: Format = Format {
    name: "frames",
    title: "tables of a program",
    time_zero: None,
    system: None,
    has_tasks: true,
    group: "frames",
    is_whole: true,
    has_times_of_tasks: true,
    folded: false,
    sniff: |_| false,
    read: |_, _, _| Ok(()),
};

/// Writes the trace of jobs and machines that a program gives, as [`crate::ingest`] does that of files.
///
/// # Errors
/// An error of `jobs`; [`Error::Request`] if there are none, or `out` is something other than a trace; [`Error::Io`] and
/// [`Error::Table`] if it cannot be written. Then `out` stays as it was.
pub fn ingest_given(
    jobs: impl IntoIterator<Item = Result<JobRecord, Error>>,
    nodes: impl IntoIterator<Item = NodeRow>,
    given: Given,
    out: impl Into<Out>,
) -> Result<Manifest, Error> {
    let (inputs, options) = (Inputs::default(), Options::default());
    let mut sink = TraceSink { writer: TraceWriter::create(out)?, nodes: Vec::new() };
    let mut session = Session::new(&inputs, &mut sink, &options, true);
    for job in jobs {
        session.give_job(job?, &FORMAT)?;
    }
    nodes.into_iter().for_each(|node| session.give_node(node));
    let Given { source, system, time_zero, made } = given;
    let manifest = session.finish_given((source, system), time_zero, made)?;
    let TraceSink { mut writer, nodes } = sink;
    for node in &nodes {
        writer.node(node)?;
    }
    writer.finish(manifest)
}
