//! Turns source files into a trace.
//!
//! ```text
//! paths ──▶ files ──▶ groups ──▶ source ──▶ formats::* ──▶ session ──▶ complete ──▶ TraceWriter (or any Sink)
//!           (walk,    (of one    (unpack,   (one per file) (same job    (racks, locality,
//!           or list)  cluster?)  hash)                     once, conf)  totals, queue)
//! ```
//!
//! [`split`] makes several traces of a tree with the files of several clusters.
//!
//! [`ingest_given`] takes jobs that a program gives, such as data frames of Python.
//!
//! [`tables`] ingests the formats that spread a job over several tables.
//!
//! Everything streams. Only one job, the ids of the jobs so far, the machines, and the list of files are held. Formats of which a job may
//! be in several files, or that list no machines, are sorted (`sorted.rs`), in memory or on the disk; of them, no ids are held.
//! Files are read in the order given, those of a folder sorted by path, so the same input gives the same trace.

pub mod anonymise;
mod applications;
mod backwards;
mod begun;
mod blocks;
mod codec;
mod complete;
mod confs;
mod copies;
pub mod explained;
pub mod export;
mod far;
mod fault;
mod files;
pub mod formats;
mod given;
mod groups;
mod inputs;
pub mod limits;
mod machines;
mod near_misses;
mod options;
mod origins;
mod packed;
mod paths;
mod progress;
mod remote;
mod rolled;
pub mod scale;
mod session;
mod sorted;
mod source;
mod split;
pub mod tables;
mod texts;
mod timed;
mod trackers;

use std::path::{Path, PathBuf};

use self::fault::format_names;
use self::origins::in_words_of_the_store;
use self::session::Session;
use crate::formats::sacct::{self, named_fields};
use crate::formats::tables::TableFormat;
use crate::formats::{FORMATS, Format, TABLE_FORMATS};
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::sink::{Room, Sink, Tasks};
use resched_tables::store::{Manifest, Out, TraceWriter};

pub(crate) use self::applications::{LONGEST_SETTING, MOST_APPLICATIONS, MOST_SETTINGS};
pub(crate) use self::complete::{LONGEST_ID, LONGEST_TEXT};
pub(crate) use self::copies::MOST_HELD;
pub(crate) use self::far::{LONGEST_RUN, SLACK as FAR_SLACK};
pub use self::given::{Given, Made, ingest_given};
pub use self::options::{MakeTasks, Options, TaskMaker};
pub use self::progress::Progress;
pub use self::split::{Part, split};

/// Turns the files and folders `paths` into the trace `out`, and returns its manifest. The path `-` is standard input; it stands alone
/// and needs [`Options::format`]. An address `s3://bucket/prefix` is an object or, as a folder, the objects below it.
///
/// # Errors
/// [`Error::Request`] if a path, the format or `out` is wrong, [`Error::Source`] if a file that was named is in no known
/// format or holds nothing, [`Error::Io`] and [`Error::Table`] if reading or writing fails. Then `out` stays as it was.
pub fn ingest(
    paths: &[PathBuf],
    out: impl Into<Out>,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    let plan = match plan(paths, options)? {
        Work::Tables(plan) => return tables::ingest(&plan, &out.into(), options.threads(), progress),
        Work::Files(plan) => plan,
    };
    write(&plan, &out.into(), options, progress).map_err(in_words_of_the_store)
}

/// Writes the trace of files that are read one by one.
fn write(plan: &Plan, out: &Out, options: &Options, progress: &mut dyn Progress) -> Result<Manifest, Error> {
    let mut sink = TraceSink { writer: TraceWriter::create(out)?, nodes: Vec::new() };
    let manifest = carry_out(plan, &mut sink, options, progress)?;
    let TraceSink { mut writer, nodes } = sink;
    let unsorted = writer.folder().join(UNSORTED);
    if unsorted.exists() {
        std::fs::remove_dir(&unsorted).map_err(Error::io(&unsorted, "remove the folder"))?;
    }
    for node in &nodes {
        writer.node(node)?;
    }
    writer.finish(manifest)
}

/// Like [`ingest`], but passes everything to `sink`: the jobs as they come, and at the end the machines and the counts
/// of what was left out or mended. [`Options::counters`] decides about counters. The returned manifest lacks the values
/// that [`TraceWriter::finish`] fills in.
///
/// # Errors
/// As [`ingest`], and the errors of `sink`.
pub fn ingest_into(
    paths: &[PathBuf],
    sink: &mut dyn Sink,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    match plan(paths, options)? {
        Work::Tables(plan) => tables::ingest_into(&plan, sink, options.threads(), progress),
        Work::Files(plan) => carry_out(&plan, sink, options, progress).map_err(in_words_of_the_store),
    }
}

/// A first map for the table at `path`, as TOML: which of its columns is which field of a job, as far as names and first rows show it.
///
/// # Errors
/// [`Error::Request`] if there is no such file, [`Error::Source`] if it is no table, [`Error::Io`] if it cannot be read.
pub fn suggest_map(path: &Path) -> Result<String, Error> {
    let inputs = files::find(&[path.to_path_buf()])?;
    let [file] = inputs.files.as_slice() else {
        return Err(Error::Request(format!(
            "{}: expected one table, found {} files; name one",
            path.display(),
            inputs.files.len()
        )));
    };
    let mut silent = ();
    let mut source = source::SourceFile::open(&file.path, &[], &inputs.origins, &mut silent)?;
    formats::mapped::suggest(&mut source.content(), &file.path.display().to_string())
}

/// The plan to ingest event tables in steps ([`tables::shard`], [`tables::finish`]).
///
/// # Errors
/// As [`ingest`]; [`Error::Request`] if the files are of a format that is read in one step.
pub fn plan_tables(paths: &[PathBuf], options: &Options) -> Result<tables::Plan, Error> {
    match plan(paths, options)? {
        Work::Tables(plan) => Ok(plan),
        Work::Files(_) => Err(Error::Request(
            "expected event tables (of Google's or Alibaba's traces), found files of another format; use `resched ingest`"
                .to_owned(),
        )),
    }
}

/// The work to do. Finding it out touches no output.
enum Work {
    Files(Plan),
    Tables(tables::Plan),
}

/// Files to be read one by one.
struct Plan {
    inputs: inputs::Inputs,
    /// The format that was asked for.
    format: Option<&'static Format>,
    /// True if its files are known to be of one cluster.
    is_part: bool,
    /// The cluster of which it is, if its files name several.
    cluster: Option<String>,
}

fn plan(paths: &[PathBuf], options: &Options) -> Result<Work, Error> {
    find_work(paths, options).map_err(in_words_of_the_store)
}

fn find_work(paths: &[PathBuf], options: &Options) -> Result<Work, Error> {
    let forced = forced(options)?;
    let is_table = options.map.is_some();
    if is_table && forced.is_some() {
        return Err(Error::Request(
            "--map: expected no --format or --fields beside it, found one; leave it out".to_owned(),
        ));
    }
    if paths.iter().any(|path| paths::is_standard_input(path))
        && (paths.len() > 1 || !(is_table || matches!(forced, Some(Forced::File(_)))))
    {
        return Err(Error::Request(
            "-: expected standard input alone, with the format of a file; name it with --format, such as `--format spark`".to_owned(),
        ));
    }
    let inputs = files::find(paths)?;
    if let Some(map) = &options.map {
        return work(inputs, None, Some(map.table()), options);
    }
    match forced {
        Some(Forced::Table(format)) => work(inputs, Some(format), None, options),
        Some(Forced::File(format)) => work(inputs, None, Some(format), options),
        None => {
            groups::check(&inputs)?;
            work(inputs, None, None, options)
        }
    }
}

/// The work on these files, of which a table or a format of files may be forced.
fn work(
    inputs: inputs::Inputs,
    table: Option<&'static TableFormat>,
    format: Option<&'static Format>,
    options: &Options,
) -> Result<Work, Error> {
    let tables = match format {
        Some(_) => None,
        None => tables::Plan::make(&inputs, table, options.partition_bytes)?,
    };
    Ok(tables.map_or_else(|| Work::Files(Plan { inputs, format, is_part: false, cluster: None }), Work::Tables))
}

/// The format that was asked for. Columns are those of a list by sacct.
fn forced(options: &Options) -> Result<Option<Forced>, Error> {
    let format = options.format.as_deref();
    let Some(fields) = &options.fields else { return format.map(Forced::of).transpose() };
    named_fields(fields)?;
    match format {
        Some(other) if other != sacct::FORMAT.name => Err(Error::Request(format!(
            "--fields: expected lists by sacct, whose columns it names, found --format {other}; leave one of them out"
        ))),
        _ => Ok(Some(Forced::File(&sacct::FORMAT))),
    }
}

/// A format that was asked for.
enum Forced {
    File(&'static Format),
    Table(&'static TableFormat),
}

impl Forced {
    fn of(name: &str) -> Result<Self, Error> {
        let file = FORMATS.iter().find(|format| format.name == name).map(Self::File);
        let table = || TABLE_FORMATS.iter().find(|format| format.name == name).map(Self::Table);
        file.or_else(table).ok_or_else(|| {
            let known = format_names();
            Error::Request(format!("{name}: expected the name of a format; use one of {known}, or leave it out"))
        })
    }
}

fn carry_out(
    plan: &Plan,
    sink: &mut dyn Sink,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    progress.begin(plan.inputs.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes)));
    let mut session = Session::new(&plan.inputs, sink, options, plan.is_part);
    session.of_cluster(plan.cluster.as_deref());
    let last = plan.inputs.files.len();
    for (place, file) in (1..).zip(&plan.inputs.files) {
        progress.file(&file.path);
        session.more_follow(place < last);
        session.read(file, plan.format, progress)?;
    }
    session.finish()
}

/// The folder in that of a trace for what does not fit into memory while it is built.
const UNSORTED: &str = "unsorted";

/// A sink that writes a trace.
struct TraceSink {
    writer: TraceWriter,
    nodes: Vec<NodeRow>,
}

impl Sink for TraceSink {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.writer.job(&job)
    }

    fn lent_job(&mut self, job: &mut JobRecord) -> Result<(), Error> {
        self.writer.job(job)
    }

    fn made_job(&mut self, job: JobRecord, tasks: &mut dyn Tasks) -> Result<(), Error> {
        self.writer.made_job(&job, tasks)
    }

    fn node(&mut self, node: NodeRow) {
        self.nodes.push(node);
    }

    fn room(&self) -> Room {
        Room { folder: Some(self.writer.folder().join(UNSORTED)), ..Room::default() }
    }

    /// The counts are in the manifest that the session returns.
    fn skip(&mut self, _: Cause, _: u64) {}
}

#[cfg(test)]
mod tests;
