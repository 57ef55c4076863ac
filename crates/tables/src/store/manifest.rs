//! `trace.json`: where a trace comes from and what it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::hash::sha256;
use super::inventory::{Inventory, inside};
use super::marker::{self, Layout};
use crate::engine::{Amounts, RunEngine, System, TimeZero};
use crate::{Error, whole};

/// The version of the layout.
pub const FORMAT_VERSION: u32 = 1;
pub(super) const LAYOUT: Layout =
    Layout { what: "trace", version: FORMAT_VERSION, by_others: true, again: "ingest the sources again" };

/// The file that makes a folder a trace.
pub const MANIFEST: &str = "trace.json";

/// The format of a source that is a workload file.
pub const WORKLOAD_FORMAT: &str = "workload";

/// The parameter of a manifest that holds [`Scaled`].
pub const SCALE_PARAMETER: &str = "scale";

/// The parameter of a manifest that holds when the backfill scheduler of Slurm started a job first, ms by the clock of the trace.
pub const BACKFILL_START: &str = "backfill_start";

/// The parameter of a manifest that holds the version of the scheduler that ran the jobs, as the sources write it (`22.05.8`, `3.4.1`).
pub const SCHEDULER_VERSION: &str = "scheduler_version";

/// The part of the original trace that `resched scale` kept, over all calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scaled {
    /// The share of the jobs.
    pub jobs: f64,
    /// The factor of the gaps between submissions.
    pub time: f64,
    /// The share of the machines.
    pub nodes: f64,
}

impl Scaled {
    /// What was kept of the trace with this manifest; `None` if it was never scaled.
    pub fn of(manifest: &Manifest) -> Option<Self> {
        serde_json::from_value(manifest.parameters.get(SCALE_PARAMETER)?.clone()).ok()
    }
}

/// A file that the trace was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    /// The path as it was given.
    pub path: String,
    /// Its size as stored, bytes.
    pub bytes: u64,
    /// SHA-256 of the stored bytes, hexadecimal.
    pub sha256: String,
    /// The format that was recognised.
    pub format: String,
}

/// The column with the starts of attempts, as [`Manifest::absent`] and [`Manifest::made`] name it.
pub const STARTS: &str = "attempts.start";

/// The rule that draws hosts that tasks prefer as often as the log lets expect (`made`, for `splits.host`): a guess that follows what the log
/// shows.
pub const LIKELY_HOSTS: &str = "likely-hosts";

/// The columns, keys or fields of a source that hold the values of a column, by `table.column`.
pub type ReadFrom = BTreeMap<String, BTreeSet<String>>;

/// The manifest of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The version of resched that wrote it.
    pub written_by: String,
    /// What times count from.
    pub time_zero: TimeZero,
    /// The engine that replays its jobs under policies of their own kind.
    pub engine: RunEngine,
    /// What ran the jobs, if the sources say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// What the amounts of processor and memory are.
    #[serde(default)]
    pub amounts: Amounts,
    /// The source files, in the order in which they were read.
    pub sources: Vec<Source>,
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// The files of the tables, with their hashes. Empty in memory, and if another tool made the trace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "inside")]
    pub files: Inventory,
    /// Files of the folders in no known format, which were left out: their paths, or the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecognised: Vec<String>,
    /// The settings of each application that scheduling depends on: the application as in `jobs.group`, the name of a setting, its
    /// value. Only what the source states; a setting that is not here has its default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub applications: BTreeMap<String, BTreeMap<String, String>>,
    /// What the columns were read from: a format, `table.column`, and the columns, keys or fields of the source that hold its values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read: BTreeMap<String, ReadFrom>,
    /// How many rows of a column have a value, by `table.column`. A column without any is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filled: BTreeMap<String, u64>,
    /// How often each [cause](crate::cause) was counted, by its name: what was left out, mended, assumed or merged.
    pub skipped: BTreeMap<String, u64>,
    /// Columns that a rule filled, not the source: `table.column` to the name of the rule. All others are observed.
    pub made: BTreeMap<String, String>,
    /// How many rows of such a column a rule filled, if not all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub made_rows: BTreeMap<String, u64>,
    /// The parameters of those rules, and the units of columns whose source has no absolute ones.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// When the trace begins, ms, if that is known and not the first submission. What happened before has an earlier time or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<i64>,
    /// What the sources lack, by table or column (`table.column`), and the rule that fills it or a note that it is left out.
    #[serde(default)]
    pub absent: BTreeMap<String, String>,
}

impl Manifest {
    /// The same with the version of this build as its writer's.
    pub fn stamped(self) -> Self {
        let written_by = concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { format_version: FORMAT_VERSION, written_by, ..self }
    }

    /// The bytes of the file; `path` is for errors.
    pub(super) fn encode(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let failed = |error: serde_json::Error| Error::Table {
            path: path.to_path_buf(),
            action: "written",
            message: error.to_string(),
        };
        let bytes = marker::encode(self).map_err(failed)?;
        whole::check_marker(&bytes).map_err(|error| {
            let remedy = "ingest fewer files into one trace, for example a month of them";
            Error::Request(format!("{}: {error}; {remedy}", path.display()))
        })?;
        Ok(bytes)
    }

    /// True if the trace was generated from a workload file, and nothing in it took place.
    pub fn is_of_workload(&self) -> bool {
        !self.sources.is_empty() && self.sources.iter().all(|source| source.format == WORKLOAD_FORMAT)
    }

    /// True if its attempts started when it says so: the sources gave the times, and no rule made them.
    pub fn has_observed_starts(&self) -> bool {
        self.made_whole(STARTS).is_none() && !self.absent.contains_key(STARTS)
    }

    /// The version of the scheduler that ran the jobs ([`SCHEDULER_VERSION`]), if the sources say it.
    pub fn scheduler_version(&self) -> Option<&str> {
        self.parameters.get(SCHEDULER_VERSION)?.as_str()
    }

    /// The rule that filled all rows of a column (`table.column`), if one did.
    pub fn made_whole(&self, column: &str) -> Option<&str> {
        self.made.get(column).filter(|_| !self.made_rows.contains_key(column)).map(String::as_str)
    }

    /// What identifies the trace: the SHA-256, hexadecimal, of all that decides its tables (hashes of the sources, rules, version).
    /// What is left out describes the tables: the list of files, so that a trace has one identity on disk and in memory, and what the columns
    /// were read from.
    ///
    /// # Errors
    /// [`Error::Table`] if it cannot be encoded.
    pub fn fingerprint(&self) -> Result<String, Error> {
        let described = Self { read: BTreeMap::new(), filled: BTreeMap::new(), ..self.clone() };
        let without = Self { files: Inventory::new(), ..described };
        Ok(sha256(&without.encode(Path::new(MANIFEST))?))
    }
}
