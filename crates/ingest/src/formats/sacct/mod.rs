//! The accounting of Slurm: lists of jobs by `sacct`, as text (`-P`, `-p`, with a header or without) or JSON (`--json`, slurmrestd, or a
//! job a line).
//!
//! A list has a row for each try at a job, and one for each step (`12.batch`, `12.0`), which is counted as `step-of-a-job`. Tasks of an
//! array (`12_5`) and components of a heterogeneous job (`12+1`) are jobs of their own; `together` names the components that start at once.
//! Tasks of an array that have no id yet (`12_[3-5]`) are as many jobs that never ran.
//!
//! | column | from |
//! |---|---|
//! | `jobs.queue`, `group`, `qos` | `Partition`, `Account`, `QOS` |
//! | `jobs.reservation`, `features` | `Reservation`, `Constraints` |
//! | `jobs.eligible` | `Eligible`, if it is later than `Submit` |
//! | `jobs.depends_on` | `--dependency` in `SubmitLine`, if it asks for ends of jobs of the list alone: see `waits.rs` |
//! | `jobs.array`, `array_limit` | the `%` of `--array` in `SubmitLine`, of a folded id, or the limit in JSON |
//! | `jobs.nice` | `--nice` in `SubmitLine` |
//! | `jobs.requested_time` | `Timelimit`; a year for `UNLIMITED`, none for `Partition_Limit` |
//! | `jobs.licenses`, `tasks.resources` | `license/…` and `gres/…` of `ReqTRES` and `AllocTRES` |
//! | `tasks.instances`, `machines`, `exclusive` | see `shape.rs` |
//! | `attempts` | a row each, if the job ran |
//! | `nodes` | the names in `NodeList`, with the CPUs that were in use at once: see `machines.rs` |
//!
//! **Requeued jobs** have several rows under one id (with `-D`), each with its own `Submit`. They are one job that was submitted at the
//! first; `join.rs` says which rows are one job. A try that was preempted or requeued is evicted, and one whose node failed is lost: a replay leaves out both, so that it runs
//! the last try. A try that failed by itself is run again for its time.
//!
//! **Time in suspension** is not run time: the attempt ends by `Elapsed` after its start, and is counted as `suspended-time-left-out`. The
//! end of the job is that of the list.
//!
//! **Times** without a zone are those of `--timezone`. JSON and `SLURM_TIME_FORMAT=%s` give seconds since the epoch.
//!
//! **The first start by backfill** (`SchedBackfill` in `Flags`) is the manifest's parameter `backfill_start`: a time at which backfill ran.
//!
//! **The version of Slurm** is the manifest's parameter `scheduler_version`: `meta.slurm.release` of JSON, and in text the one version that
//! has the fields of the header.
//!
//! **Memory** is left out if Slurm did not allocate it (`CR_CPU`, `CR_Core`): then no `AllocTRES` of the list has `mem`.
//!
//! The rows of all lists that are named together are sorted until the last one ends, see `jobs.rs`.

mod dependency;
mod fields;
mod gpus;
mod header;
mod headless;
mod hosts;
mod id;
mod job;
mod jobs;
mod join;
mod json;
mod machines;
mod record;
mod row;
mod shape;
mod state;
mod submit_line;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod tres;
mod values;
mod waits;

use std::any::Any;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::sink::{Kept, Sink};
use resched_tables::store::{BACKFILL_START, SCHEDULER_VERSION};

pub(crate) use self::headless::named_fields;
pub(crate) use self::hosts::MOST_HOSTS;
pub(crate) use self::id::MOST_PENDING;
pub(crate) use self::join::MOST_ROWS;
pub(crate) use self::json::MAX_OBJECT;
pub use self::record::FRAMEWORK;
pub(crate) use self::text::MAX_LINE;
pub(crate) use self::waits::MOST_ENDS;

use self::header::Header;
use self::jobs::Jobs;
use self::join::{Joined, Place};
use self::machines::Machines;
use self::record::Records;
use self::shape::World;
use self::times::Clock;
use super::format::Format;
use super::lines::head_lines;

/// Slurm's accounting.
pub const FORMAT: Format = Format {
    name: "sacct",
    title: "list of jobs by Slurm's sacct (-P, -p or --json)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Slurm),
    has_tasks: true,
    group: "sacct",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: &[],
    sniff,
    read,
};

/// The manifest's parameter with the zone of the times.
const TIMEZONE: &str = "timezone";

fn sniff(head: &[u8]) -> bool {
    json::sniff(head) || text_sniff(head)
}

fn text_sniff(head: &[u8]) -> bool {
    let all = head_lines(head);
    let mut lines = all.iter().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next().map(|line| line.trim_start_matches('\u{feff}').trim_end_matches('\r')) else {
        return false;
    };
    Header::parse(first).is_some()
        || header::is_fixed_width(first, lines.next().copied())
        || headless::recognise(&all).is_some()
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let kept = sink.kept().and_then(Option::take).map(|kept| (kept as Box<dyn Any>).downcast::<Jobs>());
    let jobs = if let Some(Ok(jobs)) = kept { *jobs } else { Jobs::default() };
    read_into(jobs, input, path, sink)
}

/// Reads a list into the jobs of those before it. They are handed over at once if the sink keeps nothing for the next list.
fn read_into(mut jobs: Jobs, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let before = jobs.rows;
    let result = read_rows(&mut jobs, input, path, sink);
    sink.keeps(jobs.rows - before);
    let Some(kept) = sink.kept() else {
        result?;
        return hand_over(jobs, sink);
    };
    *kept = Some(Box::new(jobs));
    result
}

impl Kept for Jobs {
    fn hand_over(self: Box<Self>, sink: &mut dyn Sink) -> Result<(), Error> {
        hand_over(*self, sink)
    }
}

fn read_rows(jobs: &mut Jobs, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let given = sink.zone();
    let mut clock = Clock::of(given.unwrap_or_default());
    let first = super::json::first_byte(input).map_err(Error::io(Path::new(path), "read"))?;
    match first {
        Some(b'{' | b'[') => json::read(input, path, sink, jobs)?,
        _ => text::read(input, path, (sink, jobs), &mut clock)?,
    }
    if clock.used {
        sink.parameter(TIMEZONE, clock.days.zone().to_string().into());
        sink.skip(cause::TIME_ZONE_ASSUMED, u64::from(given.is_none()));
    }
    sink.skip(cause::AMBIGUOUS_LOCAL_TIME, clock.ambiguous);
    Ok(())
}

/// Hands over the jobs and machines of all lists of a cluster.
fn hand_over(jobs: Jobs, sink: &mut dyn Sink) -> Result<(), Error> {
    check_cluster(&jobs, sink)?;
    sink.skip(cause::JOB_OF_ANOTHER_CLUSTER, jobs.of_others);
    if let Some(at) = jobs.first_backfill {
        sink.parameter(BACKFILL_START, at.into());
    }
    if let Some(version) = jobs.version() {
        sink.parameter(SCHEDULER_VERSION, version.into());
    }
    let Joined { jobs, tries, census, waits } = join::join(jobs, sink)?;
    let machines = Machines::of(tries, sink)?;
    let (world, ends) = (World::of(&census, &machines), waits.resolve(sink));
    let records = Records { machines: &machines, world, ends };
    let (mut any, mut record) = (false, JobRecord::default());
    jobs.visit(|fact| {
        let Some((place, job)) = Place::read(fact.value) else { return Ok(()) };
        any = true;
        for id in record::ids(&job, &place) {
            records.write_over(&mut record, (&job, id), &place, sink);
            sink.lent_job(&mut record)?;
        }
        Ok(())
    })?;
    if any {
        machines.report(sink);
    }
    Ok(())
}

/// The clusters that the rows of a list name. Damage ends the look; the ingest reports it.
pub(crate) fn clusters(input: &mut dyn BufRead, path: &str) -> BTreeSet<String> {
    let mut jobs = Jobs::default();
    let _ = read_rows(&mut jobs, input, path, &mut NoCluster);
    jobs.clusters
}

/// Takes the jobs of no cluster, so that none is held.
struct NoCluster;

impl Sink for NoCluster {
    fn job(&mut self, _: JobRecord) -> Result<(), Error> {
        Ok(())
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, _: Cause, _: u64) {}

    fn cluster_name(&self) -> Option<&str> {
        Some("")
    }
}

/// The rows must be of one cluster, or one must be asked for.
fn check_cluster(jobs: &Jobs, sink: &dyn Sink) -> Result<(), Error> {
    let names = jobs.clusters.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match sink.cluster_name() {
        Some(wanted) if !jobs.clusters.is_empty() && !jobs.clusters.contains(wanted) => Err(Error::Request(format!(
            "--cluster-name {wanted}: expected a cluster of the list by sacct, found jobs of {names} only; name one of them"
        ))),
        None if jobs.clusters.len() > 1 => Err(Error::Request(format!(
            "the list by sacct: expected the jobs of one cluster, found those of {}: {names}; write a list of each with `sacct -M`, \
             choose one with --cluster-name, or write a trace of each with --split",
            jobs.clusters.len()
        ))),
        _ => Ok(()),
    }
}
