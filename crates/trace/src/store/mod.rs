//! The trace store: a folder with `trace.json` and one Parquet file per table, or one folder of Parquet files
//! (`attempts/part-00000.parquet`) for each table of jobs in a large trace.

mod atomic;
pub mod columns;
mod manifest;
pub(crate) mod parts;
mod reader;
mod table;
mod writer;

pub use atomic::{StagedDir, StagedFile, remove_staged, write_file};
pub(crate) use atomic::{parent_of, sync_dir};
pub use manifest::{FORMAT_VERSION, Manifest, Source, TimeZero, sha256};
pub(crate) use manifest::{WORKLOAD_FORMAT, hex};
pub use reader::{Rows, Trace};
pub use table::{TableReader, TableWriter, read_columns, read_table};
pub(crate) use writer::MANIFEST;
pub use writer::{TraceParts, TraceWriter};
