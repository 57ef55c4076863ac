//! The trace store: a folder with `trace.json` and one Parquet file per table.

mod atomic;
pub mod columns;
mod manifest;
mod reader;
mod table;
mod writer;

pub use atomic::{StagedDir, StagedFile, remove_staged, write_file};
pub(crate) use manifest::hex;
pub use manifest::{FORMAT_VERSION, Manifest, Source, TimeZero, sha256};
pub use reader::{Rows, Trace};
pub use table::{TableReader, TableWriter, read_columns, read_table};
pub use writer::{TraceParts, TraceWriter};
