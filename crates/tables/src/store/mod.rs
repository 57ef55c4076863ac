//! The trace store: a folder with `trace.json` and one Parquet file per table, or one folder of Parquet files
//! (`attempts/part-00000.parquet`) for each table of jobs in a large trace.
//!
//! The marker of a result (`trace.json`, `run.json`, …) lists its files with their hashes and is sealed itself ([`marker`]). Every
//! reader checks what it reads by them, and [`staging`] replaces only what they list.

mod batch;
pub mod build;
mod checked;
pub mod columns;
mod hash;
mod inventory;
mod manifest;
pub mod marker;
pub mod parts;
pub mod read;
mod reader;
pub mod staging;
mod table;
mod verify;
mod writer;

pub use crate::engine::{Amounts, System, TimeZero};
pub use batch::{BATCH_ROWS, Batch, Batches, Numbers, repeated};
pub use hash::{hex, sha256};
pub use inventory::{FileEntry, Inventory, inside};
pub use manifest::{
    BACKFILL_START, FORMAT_VERSION, LIKELY_HOSTS, MANIFEST, Manifest, ReadFrom, SCALE_PARAMETER, SCHEDULER_VERSION,
    STARTS, Scaled, Source, WORKLOAD_FORMAT,
};
pub use reader::{Rows, Trace};
pub use staging::{
    Claim, FolderLock, Out, OwnFiles, Scratch, StagedDir, StagedFile, changed_files, is_hidden, is_same_place, place,
    refuse_link, remove_unfinished, write_file,
};
pub use staging::{parent_of, sync_dir};
pub use table::{
    TableReader, TableWriter, WrittenTable, contents, decoding, filled, is_decoding, read_columns, read_table,
};
pub use verify::{Verified, verify};
pub use writer::{TraceParts, TraceWriter};
