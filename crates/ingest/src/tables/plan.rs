//! The plan of an ingest: its files, the table of each, and the number of partitions for their facts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::super::fault::{Fault, MOST_NAMED, no_history};
use super::super::inputs::{InputFile, Inputs};
use super::super::origins::Origins;
use super::super::source::SourceFile;
use crate::formats::tables::{TableFormat, Use};
use crate::formats::{FORMATS, TABLE_FORMATS};
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::store::ReadFrom;
use resched_tables::store::sha256;

/// The version of the files in a working folder.
const VERSION: u32 = 1;
/// The target size of a partition's facts (bytes, encoded), unless [`Options`](super::super::options::Options) sets
/// another. With their index and rows, they take a small part of the memory of any machine.
const PARTITION_BYTES: u64 = 16 << 20;
/// A partition that is this many times as large as its target is sorted on disk.
pub(crate) const LARGEST: u64 = 4;
/// The most partitions: each takes a buffer while a file is read. Partitions that are then too large are sorted on
/// disk.
const MOST_PARTITIONS: u64 = 1_000;

/// The plan of an ingest of event tables.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    program: String,
    format: String,
    shards: Vec<Shard>,
    partitions: u32,
    partition_bytes: u64,
    skipped: BTreeMap<String, u64>,
    /// Files in no known format: the first of them.
    unrecognised: Vec<String>,
}

/// A file of a table that is used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shard {
    /// The file.
    pub path: PathBuf,
    /// The name of its table.
    pub table: String,
    /// Its size as stored.
    pub bytes: u64,
    /// When it was last changed: seconds since the epoch, and nanoseconds.
    pub modified: (u64, u32),
}

impl Plan {
    /// The plan for these files. `None` if their format is read file by file. The first file of a known format decides.
    pub(crate) fn make(
        inputs: &Inputs,
        forced: Option<&'static TableFormat>,
        partition_bytes: Option<NonZeroU64>,
    ) -> Result<Option<Self>, Error> {
        let mut classifier = Classifier::new(inputs, forced);
        for file in &inputs.files {
            if !classifier.take(file, &inputs.origins)? {
                return Ok(None);
            }
        }
        classifier.finish(inputs, partition_bytes.map_or(PARTITION_BYTES, NonZeroU64::get))
    }

    /// The name that identifies the plan. Another plan, or one of another version, has another name.
    pub(super) fn identity(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        sha256(&json).chars().take(16).collect()
    }

    /// How many partitions of jobs there are.
    pub(super) fn partitions(&self) -> u32 {
        self.partitions
    }

    /// The memory in which the facts of a partition and their index are sorted, bytes.
    pub(super) fn memory(&self) -> usize {
        let bytes = self.partition_bytes.saturating_mul(LARGEST).min(u64::from(u32::MAX));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    pub(super) fn format(&self) -> Result<&'static TableFormat, Error> {
        let known = TABLE_FORMATS.iter().find(|format| format.name == self.format);
        known.filter(|_| self.version == VERSION).ok_or_else(|| {
            Error::Request(format!("a plan for {}: expected one of this version; plan the ingest again", self.format))
        })
    }

    /// The files that it reads, in the order of their paths.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    pub(super) fn shard(&self, number: usize) -> Result<&Shard, Error> {
        self.shards.get(number).ok_or_else(|| {
            let last = self.shards.len().saturating_sub(1);
            Error::Request(format!("shard {number}: expected a number from 0 to {last}; name one of them"))
        })
    }

    /// Files in no known format: the first of them.
    pub(super) fn unrecognised(&self) -> &[String] {
        &self.unrecognised
    }

    pub(super) fn skipped(&self) -> &BTreeMap<String, u64> {
        &self.skipped
    }

    /// What the input lacks, by table of the trace.
    pub(super) fn absent(&self, format: &TableFormat) -> BTreeMap<String, String> {
        let present: BTreeSet<&str> = self.shards.iter().map(|shard| shard.table.as_str()).collect();
        let absent = format.tables.iter().filter(|table| !present.contains(table.name) && !table.absent.0.is_empty());
        let splits = ("splits".to_owned(), "the format has no places of input: left out".to_owned());
        absent.map(|table| (table.absent.0.to_owned(), table.absent.1.to_owned())).chain([splits]).collect()
    }

    /// What the columns are read from, of the tables that are there.
    pub(super) fn read_from(&self, format: &TableFormat) -> ReadFrom {
        let present: BTreeSet<&str> = self.shards.iter().map(|shard| shard.table.as_str()).collect();
        let mut found = ReadFrom::new();
        for table in format.tables.iter().filter(|table| present.contains(table.name)) {
            for (column, names) in table.reads {
                let names = names.iter().map(|name| format!("{}.{name}", table.name));
                found.entry((*column).to_owned()).or_default().extend(names);
            }
        }
        found
    }
}

/// Looks at one file after the other.
struct Classifier {
    format: Option<&'static TableFormat>,
    forced: bool,
    shards: Vec<Shard>,
    skipped: BTreeMap<String, u64>,
    /// Files in no known format.
    unrecognised: Vec<String>,
    /// Files by their real paths, so that none is read twice.
    real: BTreeSet<PathBuf>,
    /// Bytes of all shards, unpacked by estimate.
    unpacked: u64,
    /// Faults of files that were found before the format was known.
    faults: Vec<Error>,
}

impl Classifier {
    fn new(inputs: &Inputs, forced: Option<&'static TableFormat>) -> Self {
        let mut skipped = BTreeMap::new();
        if inputs.unreadable > 0 {
            skipped.insert(cause::UNREADABLE_ENTRY.name().to_owned(), inputs.unreadable);
        }
        if inputs.outside > 0 {
            skipped.insert(cause::LINK_OUT_OF_FOLDER.name().to_owned(), inputs.outside);
        }
        let (shards, faults) = (Vec::new(), Vec::new());
        let (real, unrecognised) = (BTreeSet::new(), Vec::new());
        Self { format: forced, forced: forced.is_some(), shards, skipped, unrecognised, real, unpacked: 0, faults }
    }

    fn skip(&mut self, cause: Cause) {
        *self.skipped.entry(cause.name().to_owned()).or_default() += 1;
    }

    /// Takes a file; `false` if it shows that the input is to be read file by file.
    fn take(&mut self, file: &InputFile, origins: &Origins) -> Result<bool, Error> {
        let mut silent = ();
        let source = SourceFile::open(&file.path, &[], origins, &mut silent)?;
        let (head, path) = (source.head(), file.path.display().to_string());
        if head.is_empty() {
            let fault = if source.is_cut() { Fault::cut(&file.path) } else { Fault::empty(&file.path) };
            return Ok(self.fault(file, fault));
        }
        let sniff = |format: &'static TableFormat| (format.sniff)(head, &path).map(|table| (format, table));
        let found = match self.format {
            Some(format) => sniff(format),
            None => TABLE_FORMATS.iter().find_map(sniff),
        };
        match found.and_then(|(format, name)| format.table(name).map(|table| (format, table))) {
            Some((format, table)) => {
                self.format = Some(format);
                if table.used == Use::LeftOut {
                    self.skip(cause::USAGE_TABLE_LEFT_OUT);
                } else if origins.object(&file.path).is_some() {
                    return Err(in_a_store(&file.path, format));
                } else {
                    self.add(file, table.name)?;
                }
                Ok(true)
            }
            None if !self.forced && FORMATS.iter().any(|format| (format.sniff)(head)) => match self.format {
                None => Ok(false),
                Some(format) => Err(Fault::mixed(&file.path, format.title)),
            },
            None => {
                let forced = self.format.filter(|_| self.forced).map(|format| format.title);
                Ok(self.fault(file, Fault::unrecognised(&file.path, head, forced)))
            }
        }
    }

    /// A file that is none of the tables. In a folder, it is counted. If you named it, it is an error.
    fn fault(&mut self, file: &InputFile, fault: Fault) -> bool {
        self.skip(fault.cause);
        if fault.cause == cause::UNRECOGNISED_FILE && self.unrecognised.len() < MOST_NAMED {
            self.unrecognised.push(file.path.display().to_string());
        }
        if file.folder.is_none() {
            self.faults.push(fault.error);
        }
        true
    }

    fn add(&mut self, file: &InputFile, table: &str) -> Result<(), Error> {
        let path = &file.path;
        let real = fs::canonicalize(path).map_err(Error::io(path, "resolve"))?;
        if !self.real.insert(real) {
            self.skip(cause::DUPLICATE_FILE);
            return Ok(());
        }
        if path.to_str().is_none() {
            return Err(Error::Request(format!("{}: expected a path in UTF-8; rename it", path.display())));
        }
        let metadata = fs::metadata(path).map_err(Error::io(path, "look at"))?;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let modified = (modified.as_secs(), modified.subsec_nanos());
        // In traces, packed files have about six times as many bytes unpacked.
        let ratio = if is_packed(path)? { 6 } else { 1 };
        self.unpacked = self.unpacked.saturating_add(metadata.len().saturating_mul(ratio));
        self.shards.push(Shard { path: path.clone(), table: table.to_owned(), bytes: metadata.len(), modified });
        Ok(())
    }

    fn finish(mut self, inputs: &Inputs, partition_bytes: u64) -> Result<Option<Plan>, Error> {
        let Some(format) = self.format.filter(|_| self.forced || !self.shards.is_empty() || !self.skipped.is_empty())
        else {
            return Ok(None);
        };
        if let Some(error) = self.faults.into_iter().next() {
            return Err(error);
        }
        if self.shards.is_empty() {
            let path = inputs.folders.first().or(inputs.files.first().map(|file| &file.path));
            let path = path.map_or(Path::new("."), PathBuf::as_path);
            return Err(no_history(path, format!("{} files without a table of jobs", inputs.files.len())));
        }
        self.shards.sort_by(|one, other| one.path.cmp(&other.path));
        // Facts have about a third of the bytes of their records.
        let facts = self.unpacked / 3;
        let few = facts / 2 <= partition_bytes;
        let partitions = if few { 1 } else { facts.div_ceil(partition_bytes) };
        Ok(Some(Plan {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            format: format.name.to_owned(),
            shards: self.shards,
            partitions: u32::try_from(partitions.min(MOST_PARTITIONS)).unwrap_or(1),
            partition_bytes,
            skipped: self.skipped,
            unrecognised: self.unrecognised,
        }))
    }
}

/// Tables are read twice, and by other processes, so they must lie on a disk.
fn in_a_store(path: &Path, format: &TableFormat) -> Error {
    Error::Request(format!(
        "{}: expected histories, found a {}; copy its tables to a folder, and name that",
        path.display(),
        format.title
    ))
}

/// Whether a file is packed with gzip or zstd.
fn is_packed(path: &Path) -> Result<bool, Error> {
    let mut magic = Vec::new();
    let file = fs::File::open(path).map_err(Error::io(path, "open"))?;
    file.take(4).read_to_end(&mut magic).map_err(Error::io(path, "read"))?;
    Ok(magic.starts_with(&[0x1f, 0x8b]) || magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]))
}
