//! `trace.json`: where a trace comes from and what it holds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::inventory::{Inventory, inside};
use super::marker::{self, Layout};
use crate::Error;

/// The versions of the layout. Version 2 has no list of files and no seal.
pub(super) const LAYOUT: Layout =
    Layout { what: "trace", oldest: 2, newest: FORMAT_VERSION, sealed: 3, again: "ingest the sources again" };
/// The version of the layout that this build writes.
pub const FORMAT_VERSION: u32 = 3;

/// The SHA-256 of some bytes, hexadecimal, as manifests have it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes))
}

/// A hash in hexadecimal, as manifests have it.
pub(crate) fn hex(hash: impl AsRef<[u8]>) -> String {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The format of a source that is a workload file.
pub(crate) const WORKLOAD_FORMAT: &str = "workload";

/// The zero of a trace's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeZero {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[default]
    Epoch,
    /// Milliseconds since the trace's own zero.
    Relative,
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

/// The manifest of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The version of resched that wrote it.
    pub written_by: String,
    /// What times count from.
    pub time_zero: TimeZero,
    /// The source files, in the order in which they were read.
    pub sources: Vec<Source>,
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// The files of the tables, with their hashes. Empty in memory, and in a layout before version 3.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "inside")]
    pub files: Inventory,
    /// What was left out or mended, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// Columns that a rule filled, not the source: `table.column` to the name of the rule. All others are observed.
    pub made: BTreeMap<String, String>,
    /// The parameters of those rules, and the units of columns whose source has no absolute ones.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// When the trace begins, ms, if that is known and not the first submission. What happened before has an earlier time or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<i64>,
    /// What the sources lack, by table, and the rule that fills it or a note that it is left out.
    #[serde(default)]
    pub absent: BTreeMap<String, String>,
}

impl Manifest {
    /// The same with the version of this build as its writer's.
    pub(crate) fn stamped(self) -> Self {
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
        marker::encode(self).map_err(failed)
    }

    /// Whether the trace was generated from a workload file, and nothing in it took place.
    pub fn is_of_workload(&self) -> bool {
        !self.sources.is_empty() && self.sources.iter().all(|source| source.format == WORKLOAD_FORMAT)
    }

    /// What identifies the trace: the SHA-256, hexadecimal, of all that decides its tables (hashes of the sources, rules, version).
    /// The list of files is left out, so that a trace has one identity on disk and in memory.
    ///
    /// # Errors
    /// [`Error::Table`] if it cannot be encoded.
    pub fn fingerprint(&self) -> Result<String, Error> {
        let without = Self { files: Inventory::new(), ..self.clone() };
        Ok(sha256(&without.encode(Path::new(super::MANIFEST))?))
    }
}
