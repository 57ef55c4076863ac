//! Ingest of event tables: the facts of a job are brought together on disk.
//!
//! ```text
//! files ──▶ plan ──▶ shards (one per file, any order, anywhere)    ──▶ partitions (any order)      ──▶ trace
//!           (which    read, divide the facts by a hash of the job,     sort the facts of some jobs,     (the parts, side
//!            table)   write them to a file of facts                    assemble, write a part           by side)
//! ```
//!
//! Shards and partitions are written to a working folder beside the trace, under temporary names, and renamed when they
//! are whole. So an interrupted run continues where it stopped, and another process can do each step ([`shard`], then
//! [`finish`]). The output depends only on the plan, and so on the files. It does not depend on threads, order or
//! restarts.

mod machines;
mod parallel;
mod part;
mod plan;
mod spill;
mod work;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

pub(crate) use self::plan::LARGEST;
pub use self::plan::Plan;
pub use self::work::unfinished;

use self::machines::Seen;
use self::part::{Done, Jobs};
use self::spill::{Index, SpillWriter};
use self::work::WorkFolder;
use super::fault::Fault;
use super::origins::Origins;
use super::progress::Progress;
use super::source::SourceFile;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::engine::RunEngine;
use resched_tables::sink::Sink;
use resched_tables::store::parts::join_parts;
use resched_tables::store::{Claim, Inventory, MANIFEST, Manifest, Out, Scratch, System, TimeZero};

/// Carries out a whole plan. Work that an earlier run left in the working folder is not done again.
pub(super) fn ingest(
    plan: &Plan,
    out: &Out,
    threads: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    let claim = Claim::new(out, MANIFEST)?;
    let work = WorkFolder::enter(plan, claim.target())?;
    let result = shards(plan, &work, threads, progress).and_then(|()| join(plan, &work, claim, threads, progress));
    match result {
        // The disk may have room, or be there again, the next time.
        Err(error @ (Error::Io { .. } | Error::Table { .. })) => Err(error),
        result => {
            work.remove()?;
            result
        }
    }
}

/// Like [`ingest`], but into a sink. If the run is interrupted, nothing is kept.
pub(super) fn ingest_into(
    plan: &Plan,
    sink: &mut dyn Sink,
    threads: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    let folder = Scratch::new()?;
    let work = WorkFolder::enter(plan, &folder.path().join("trace"))?;
    shards(plan, &work, threads, progress)?;
    let index = Index::open(plan, &work)?;
    let mut rows = Jobs::new(sink);
    for partition in 0..plan.partitions() {
        part::assemble(plan, &work, &index, partition, &mut rows)?;
    }
    let Jobs { noted, jobs, .. } = rows;
    let done = Done { rows: BTreeMap::from([("jobs".to_owned(), jobs)]), ..Done::new(noted) };
    let (mut manifest, seen) = summary(plan, &index, [done])?;
    let far = machines::rows(plan, &work, &index, seen, &mut |row| {
        sink.node(row);
        Ok(())
    })?;
    count_far(&mut manifest, far);
    for (name, &n) in &manifest.skipped {
        Cause::named(name).into_iter().for_each(|cause| sink.skip(cause, n));
    }
    Ok(Manifest { rows: BTreeMap::new(), ..manifest })
}

/// Writes the plan for the trace `out` to a file, for other processes. Returns the file, which is in the working
/// folder.
///
/// # Errors
/// [`Error::Request`] if `out` is something other than a trace, or its parent folder cannot be written.
pub fn write_plan(plan: &Plan, out: &Path) -> Result<PathBuf, Error> {
    work::plan_file(plan, out)
}

/// Reads a plan and the trace that it is for. The paths in it are as they were given.
///
/// # Errors
/// [`Error::Request`] if the file was not written by [`write_plan`].
pub fn read_plan(file: &Path) -> Result<(Plan, PathBuf), Error> {
    work::read_plan(file)
}

/// Does shard `number` of the plan for the trace `out`, unless it is done. Any process may do it, at any time and
/// beside others.
///
/// # Errors
/// [`Error::Io`]; [`Error::Source`] if the file has changed since the plan was made; [`Error::Request`] if the plan has
/// no such shard.
pub fn shard(plan: &Plan, out: &Path, number: usize, progress: &mut dyn Progress) -> Result<(), Error> {
    read_shard(plan, &WorkFolder::visit(plan, out)?, number, progress)
}

/// Makes the trace `out` from the shards of the plan. Does those that are not done yet.
///
/// # Errors
/// As [`super::ingest`].
pub fn finish(
    plan: &Plan,
    out: impl Into<Out>,
    threads: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    ingest(plan, &out.into(), threads, progress)
}

fn shards(plan: &Plan, work: &WorkFolder, threads: NonZeroUsize, progress: &mut dyn Progress) -> Result<(), Error> {
    progress.begin(plan.shards().iter().fold(0, |sum, shard| sum.saturating_add(shard.bytes)));
    parallel::each(threads, plan.shards().len(), progress, |number, progress| read_shard(plan, work, number, progress))
}

/// Reads a file and writes its facts, divided by job.
fn read_shard(plan: &Plan, work: &WorkFolder, number: usize, progress: &mut dyn Progress) -> Result<(), Error> {
    let shard = plan.shard(number)?;
    progress.file(&shard.path);
    let target = work.shard(number);
    if target.exists() {
        if spill::is_whole(&target) {
            progress.advance(shard.bytes);
            return Ok(());
        }
        std::fs::remove_file(&target).map_err(Error::io(&target, "remove the damaged facts"))?;
    }
    let format = plan.format()?;
    // Tables lie on disks.
    let origins = Origins::default();
    let mut spill = SpillWriter::create(&target, plan.partitions())?;
    let mut source = SourceFile::open(&shard.path, &[], &origins, progress)?;
    (format.read)(&shard.table, &mut source.content(), &shard.path.display().to_string(), &mut spill)?;
    let (sources, cut) = source.close(&shard.path, format.name)?;
    // A shard is one file.
    let source = sources.into_iter().next().unwrap_or_default();
    if source.bytes != shard.bytes {
        let found = format!("{} bytes", source.bytes);
        let expected = format!("{} bytes, as when the ingest began", shard.bytes);
        return Err(Fault::changed(&shard.path, expected, found));
    }
    spill.finish(source, cut)
}

/// Makes the parts, and the trace from them.
fn join(
    plan: &Plan,
    work: &WorkFolder,
    claim: Claim,
    threads: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<Manifest, Error> {
    let index = Index::open(plan, work)?;
    progress.begin(index.bytes());
    let partitions = plan.partitions();
    parallel::each(threads, partitions as usize, progress, |number, progress| {
        part::write(plan, work, &index, number as u32, progress)
    })?;
    let mut done = Vec::new();
    for partition in 0..partitions {
        done.push(Done::read(&work.part(partition))?);
    }
    let files: Vec<Inventory> = done.iter().map(|done| done.files.clone()).collect();
    let (manifest, seen) = summary(plan, &index, done)?;
    let parts: Vec<_> = (0..partitions).map(|partition| work.part(partition)).zip(files).collect();
    join_parts(
        claim,
        parts.iter().map(|(part, files)| (part.as_path(), files)),
        |nodes, manifest| {
            let far = machines::rows(plan, work, &index, seen, &mut |row| nodes.append(&row))?;
            count_far(manifest, far);
            Ok(())
        },
        manifest,
    )
}

/// Counts far times of events of machines, which are known last.
fn count_far(manifest: &mut Manifest, far: u64) {
    if far > 0 {
        let count = manifest.skipped.entry(cause::FAR_TIME.name().to_owned()).or_default();
        *count = count.saturating_add(far);
    }
}

/// The manifest as far as shards and parts give it, and what attempts and jobs show about the machines.
fn summary(plan: &Plan, index: &Index, done: impl IntoIterator<Item = Done>) -> Result<(Manifest, Seen), Error> {
    let format = plan.format()?;
    let mut manifest = Manifest {
        time_zero: TimeZero::Relative,
        engine: RunEngine::Batch,
        system: Some(System::Batch),
        amounts: format.amounts,
        skipped: plan.skipped().clone(),
        unrecognised: plan.unrecognised().to_vec(),
        parameters: format.notes.iter().map(|(name, note)| ((*name).to_owned(), (*note).into())).collect(),
        absent: plan.absent(format),
        read: BTreeMap::from([(format.name.to_owned(), plan.read_from(format))]),
        begin: format.begin,
        ..Manifest::default()
    };
    let add = |total: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>| {
        for (name, n) in more {
            let count = total.entry(name).or_default();
            *count = count.saturating_add(n);
        }
    };
    for report in index.reports() {
        manifest.sources.push(report.source.clone());
        add(&mut manifest.skipped, report.skipped.clone());
    }
    let mut seen = Seen::default();
    for part in done {
        add(&mut manifest.skipped, part.skipped);
        add(&mut manifest.rows, part.rows);
        add(&mut manifest.filled, part.filled);
        seen.hosts.extend(part.hosts);
        seen.times.add(part.times);
    }
    if manifest.rows.get("jobs").is_none_or(|jobs| *jobs == 0) && !index.has_machines(plan) {
        let first = plan.shards().first().map(|shard| shard.path.as_path());
        return Err(Fault::without_facts(format.title, first, &manifest.skipped));
    }
    Ok((manifest, seen))
}
