//! `run.json`: what was replayed, under which policy and on which cluster.
//!
//! A run is a folder with this file and the tables `jobs`, `attempts` and, on request, `decisions` and `reasons` of [`crate::model`].
//! Times are ms of the simulated clock. A run holds nothing about the machine or the time of day, so the same replay
//! always gives the same bytes.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::cluster_file::ClusterConfig;
pub use crate::engine::RunEngine;
use crate::model::{AttemptRow, DecisionRow, JobRow, ReasonRow, ResourceRow};
use crate::store::columns::Row;
use crate::store::marker::{self, Layout};
use crate::store::{Inventory, System, inside, write_file};
use crate::validity::Validity;

mod attempts;

pub use self::attempts::{AttemptBatches, Attempts, Names, RunAttempt};

/// The file that makes a folder a run.
pub const MARKER: &str = "run.json";

/// The version of the layout.
pub const FORMAT_VERSION: u32 = 1;

const LAYOUT: Layout =
    Layout { what: "run", version: FORMAT_VERSION, by_others: false, again: "replay the trace again" };

/// The trace that was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTrace {
    /// Its path as it was given.
    pub path: String,
    /// The SHA-256 that identifies it, hexadecimal. That of a workload file differs by seed.
    pub sha256: String,
    /// The SHA-256 of the workload file without its machines, hexadecimal, if it was one: what all seeds and sizes have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// How many jobs it has, whether they were replayed or not, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// True if it is a log: its tasks really started when it says so, so that a replay of what ran can be held against it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_log: bool,
}

/// The error of a replay against what really ran, as `resched validate` found it and you gave it with `--validation`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunValidation {
    /// The label of the policy whose replay is most like what ran.
    pub policy: String,
    /// The relative errors of the quantities that are compared, such as `mean_completion`: `(replayed − observed) / observed`.
    pub errors: BTreeMap<String, serde_json::Number>,
}

impl RunValidation {
    /// The relative error of a quantity, if it is known.
    pub fn error(&self, quantity: &str) -> Option<f64> {
        self.errors.get(quantity)?.as_f64()
    }
}

/// A summary of the cluster on which it was replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunCluster {
    /// Nodes.
    pub nodes: u64,
    /// Racks.
    pub racks: u64,
    /// Map slots of all nodes together.
    pub map_slots: u64,
    /// Reduce slots of all nodes together.
    pub reduce_slots: u64,
    /// Under YARN, the memory of all nodes together, MB. The slots are then the numbers of containers for such tasks
    /// that would fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// Under YARN, the vcores of all nodes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcores: Option<u64>,
    /// The GPUs of all machines together; absent if none are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u64>,
    /// If the trace gives amounts as shares of its largest machine, the processor and the memory of all machines together, in
    /// thousandths of that machine. `vcores` and `memory_mb` are then absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_largest: Option<[u64; 2]>,
}

/// For how long a resource of the machines kept work back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunBound {
    /// The time that was looked at, ms: for what the tasks of a node share (`cost.contention`), the time of all tasks together; for
    /// slots, containers and machines, the time from the first job to the last.
    pub of_ms: u64,
    /// The part of it in which the resource was the bottleneck, ms: a task was slowed by it most; or tasks waited, and machines had
    /// none left.
    pub bound_ms: u64,
    /// The most that was wanted of it on a node at once, or taken of all machines together, in thousandths of what there is. Absent
    /// if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// The configuration of the site at which it was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunSite {
    /// The files that were read, by name, with their SHA-256 (hexadecimal).
    pub files: BTreeMap<String, String>,
    /// Settings in them that had no effect, one line each.
    pub warnings: Vec<String>,
}

impl RunSite {
    /// The file of Spark's pools. It is the only file of a site whose content the log of a Spark application lacks.
    pub const SPARK_POOLS: &str = "fairscheduler.xml";

    /// The part of it that the log of a Spark application lacks, if there is one.
    #[must_use]
    pub fn of_pools(&self) -> Option<Self> {
        let (name, hash) = self.files.get_key_value(Self::SPARK_POOLS)?;
        Some(Self { files: BTreeMap::from([(name.clone(), hash.clone())]), warnings: Vec::new() })
    }
}

/// What a replay does with work that had not ended when the trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// The task holds its place until the end of the window, and its job counts in no metric.
    #[default]
    Drop,
    /// The task runs for as long as it was seen to run, at most until the end of the window, and counts as done then. Times of its job
    /// are lower bounds.
    Cap,
    /// The task runs for a time that is drawn from the run times of the tasks of its class that were seen to run at least as long
    /// (the estimator of Kaplan and Meier 1958, which takes the cut times into account), and counts as done then. If none was seen to
    /// end that ran as long, it is dropped.
    Estimate,
}

impl Unfinished {
    /// Its word in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Cap => "cap",
            Self::Estimate => "estimate",
        }
    }
}

impl std::str::FromStr for Unfinished {
    type Err = String;

    /// Takes `drop`, `cap` or `estimate`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "drop" => Ok(Self::Drop),
            "cap" => Ok(Self::Cap),
            "estimate" => Ok(Self::Estimate),
            _ => Err(format!("`{text}`: expected drop, cap or estimate")),
        }
    }
}

/// The time in which jobs must be submitted to count in a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunWindow {
    /// Its start, ms of the clock of the run.
    pub from: i64,
    /// Its end, ms of the clock of the run. A job submitted then is outside.
    pub to: i64,
}

/// How the clock of a run relates to that of its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunClock {
    /// What the clock of the trace shows when that of the run shows 0, ms.
    pub zero: i64,
    /// When the trace begins, ms of its own clock: at its first submission, or later if it says so.
    pub start: i64,
    /// True if the clock of the trace counts from 1970-01-01T00:00:00Z, so that its times have dates.
    pub dated: bool,
}

impl RunClock {
    /// The date of a time of the run, ms since the epoch; `None` if its trace has no dates.
    pub fn date(self, at: i64) -> Option<i64> {
        if self.dated { self.zero.checked_add(at) } else { None }
    }
}

/// The rows of a run that is kept in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunTables {
    /// Its jobs.
    pub jobs: Vec<JobRow>,
    /// Their attempts.
    pub attempts: Vec<AttemptRow>,
    /// The decisions that its policy reported.
    pub decisions: Vec<DecisionRow>,
    /// Why its policy passed over jobs.
    pub reasons: Vec<ReasonRow>,
    /// The usage of its nodes, under the cost model `contention`.
    pub resources: Vec<ResourceRow>,
}

/// Takes the rows of a run while it is replayed: files, memory, sums of metrics, or nothing (`()`).
///
/// # Errors
/// Each method returns the error of keeping the rows. The replay ends with it.
pub trait RowSink {
    /// The next attempts, at most a batch. `names` has their texts.
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), Error>;

    /// The next jobs, a batch of their table. Jobs come after all attempts.
    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), Error>;

    /// True if it keeps decisions and the use of nodes; otherwise no such rows are made.
    fn keeps(&self, _table: Optional) -> bool {
        false
    }

    /// True if it wants the nodes of attempts on several; otherwise [`Attempts::places`] has none.
    fn keeps_places(&self) -> bool {
        false
    }

    /// The next decision of the policy.
    fn decision(&mut self, _row: &DecisionRow) -> Result<(), Error> {
        Ok(())
    }

    /// From when on a job was passed over for another reason than before.
    fn reason(&mut self, _row: &ReasonRow) -> Result<(), Error> {
        Ok(())
    }

    /// The next use of a node.
    fn resource(&mut self, _row: &ResourceRow) -> Result<(), Error> {
        Ok(())
    }
}

/// A table that a run has only on request, or under one cost model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optional {
    /// `decisions`.
    Decisions,
    /// `reasons`.
    Reasons,
    /// `resources`.
    Resources,
}

impl<S: RowSink + ?Sized> RowSink for &mut S {
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), Error> {
        (**self).attempts(rows, names)
    }

    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        (**self).jobs(rows)
    }

    fn keeps(&self, table: Optional) -> bool {
        (**self).keeps(table)
    }

    fn keeps_places(&self) -> bool {
        (**self).keeps_places()
    }

    fn decision(&mut self, row: &DecisionRow) -> Result<(), Error> {
        (**self).decision(row)
    }

    fn reason(&mut self, row: &ReasonRow) -> Result<(), Error> {
        (**self).reason(row)
    }

    fn resource(&mut self, row: &ResourceRow) -> Result<(), Error> {
        (**self).resource(row)
    }
}

/// Keeps nothing.
impl RowSink for () {
    fn attempts(&mut self, _: &Attempts, _: &dyn Names) -> Result<(), Error> {
        Ok(())
    }

    fn jobs(&mut self, _: &RecordBatch) -> Result<(), Error> {
        Ok(())
    }
}

/// Keeps all rows. Their size grows with the attempts.
impl RowSink for RunTables {
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), Error> {
        let unlike = |error: ArrowError| Error::Table {
            path: AttemptRow::TABLE.into(),
            action: "kept",
            message: error.to_string(),
        };
        add_rows(&mut self.attempts, &AttemptBatches::default().batch(rows, names).map_err(unlike)?);
        Ok(())
    }

    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        add_rows(&mut self.jobs, rows);
        Ok(())
    }

    fn keeps(&self, _: Optional) -> bool {
        true
    }

    fn keeps_places(&self) -> bool {
        true
    }

    fn decision(&mut self, row: &DecisionRow) -> Result<(), Error> {
        self.decisions.push(row.clone());
        Ok(())
    }

    fn reason(&mut self, row: &ReasonRow) -> Result<(), Error> {
        self.reasons.push(row.clone());
        Ok(())
    }

    fn resource(&mut self, row: &ResourceRow) -> Result<(), Error> {
        self.resources.push(row.clone());
        Ok(())
    }
}

/// Adds the rows of a batch.
fn add_rows<R: Row>(rows: &mut Vec<R>, batch: &RecordBatch) {
    let columns = R::read(batch);
    rows.extend((0..batch.num_rows()).map(|row| R::get(&columns, row)));
}

/// The content of `run.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The version of resched that wrote it.
    pub written_by: String,
    /// The policy and its parameters as you gave them, such as `delay:D=24`.
    pub label: String,
    /// The policy's name.
    pub policy: String,
    /// Its place in the order of policies, from which figures take its style; absent if it is none that resched lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_order: Option<u32>,
    /// The policy's parameters.
    pub params: BTreeMap<String, String>,
    /// The trace that was replayed.
    pub trace: RunTrace,
    /// The engine that replayed it.
    pub engine: RunEngine,
    /// The system that was simulated: slots of MapReduce 1, containers of YARN, or a batch system's cores and memory.
    pub system: System,
    /// The cluster.
    pub cluster: RunCluster,
    /// The rules of the cluster file, including those of the site and the defaults.
    pub rules: ClusterConfig,
    /// The configuration of the site, if you gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<RunSite>,
    /// How run times of tasks were found.
    pub cost_model: String,
    /// How reduces were modelled.
    pub reduce_model: String,
    /// The seed of all draws.
    pub seed: u64,
    /// The number of events that the engine processed.
    pub events: u64,
    /// What was left out of the trace, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// For how long each resource was the bottleneck: `map-slots` and `reduce-slots`; `memory` and `vcores` of containers; `memory` and
    /// `cores` of a production trace; `cores`, `disk` and `network` of `cost.contention`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<String, RunBound>,
    /// What became of work that had not ended when the trace ended.
    #[serde(default)]
    pub unfinished: Unfinished,
    /// The time in which jobs must be submitted to count in a metric; absent: any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<RunWindow>,
    /// How its clock relates to that of the trace; absent if the times between arrivals were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<RunClock>,
    /// What decides the answer, and whether it was observed.
    #[serde(default, skip_serializing_if = "Validity::is_empty")]
    pub validity: Validity,
    /// The validation of the same trace, if you gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<RunValidation>,
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// The files of the tables, with their hashes. Empty in memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "inside")]
    pub files: Inventory,
}

impl RunInfo {
    /// Writes `run.json` into the folder `dir`, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Run`] if it cannot be encoded.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(MARKER);
        let json = marker::encode(self).map_err(|error| {
            run_error(&path, &format!("cannot be encoded ({error})"), "this is a defect of resched, please report it")
        })?;
        write_file(&path, &json)
    }
}

/// Reads the `run.json` of the run in `dir`.
///
/// # Errors
/// [`Error::Request`] if there is none; [`Error::Run`] if it is damaged or of another version; [`Error::Io`] if it cannot be read.
pub fn read(dir: &Path) -> Result<RunInfo, Error> {
    let path = dir.join(MARKER);
    if !path.is_file() {
        let problem = if dir.exists() { "is not a run: it holds no run.json" } else { "no such run" };
        let remedy = "make one with `resched replay <TRACE> --policy <P> --out <DIR>`";
        return Err(Error::Request(format!("{}: {problem}; {remedy}", dir.display())));
    }
    let bytes = crate::whole::marker(&path).map_err(Error::io(&path, "read"))?;
    marker::decode(&bytes, &LAYOUT).map_err(|unusable| run_error(&path, &unusable.problem, &unusable.remedy))
}

fn run_error(path: &Path, problem: &str, remedy: &str) -> Error {
    Error::Run { path: path.to_path_buf(), problem: problem.to_owned(), remedy: remedy.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    fn info() -> RunInfo {
        RunInfo {
            format_version: FORMAT_VERSION,
            written_by: "resched 0.1.0".to_owned(),
            label: "delay:D=24".to_owned(),
            policy: "delay".to_owned(),
            params: BTreeMap::from([("D".to_owned(), "24".to_owned())]),
            cluster: RunCluster { nodes: 20, racks: 4, map_slots: 40, reduce_slots: 40, ..RunCluster::default() },
            seed: 1,
            events: 12_345,
            ..RunInfo::default()
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        info().write(dir.path()).unwrap();
        assert_eq!(read(dir.path()).unwrap(), info());
    }

    #[test]
    fn a_missing_foreign_or_damaged_run_is_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let message = |dir: &Path| read(dir).unwrap_err().to_string();
        assert!(message(&dir.path().join("none")).contains("no such run"));
        assert!(message(dir.path()).contains("holds no run.json"));
        fs::write(dir.path().join(MARKER), "{").unwrap();
        assert!(message(dir.path()).contains("damaged"));
        fs::write(dir.path().join(MARKER), r#"{"format_version": 2}"#).unwrap();
        assert!(message(dir.path()).contains("expected a run of version 1, found version 2"));
        fs::write(dir.path().join(MARKER), r#"{"format_version": 1}"#).unwrap();
        assert!(message(dir.path()).contains("seal is missing"));
        fs::write(dir.path().join(MARKER), marker::encode(&BTreeMap::from([("format_version", 1)])).unwrap()).unwrap();
        assert!(message(dir.path()).contains("missing field"));
    }
}
