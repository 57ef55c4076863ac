//! The progress of an ingest.

use std::path::Path;

/// Receives the progress of an ingest. Files in no known format are not read to their end, so the bytes may add up to
/// less than the total.
pub trait Progress {
    /// The files are known; they have this many bytes as stored. Event tables take two passes. The second begins again,
    /// with the bytes that the first wrote.
    fn begin(&mut self, total_bytes: u64);
    /// This file is read from now on.
    fn file(&mut self, path: &Path);
    /// This many more stored bytes were read.
    fn advance(&mut self, bytes: u64);
}

/// Ignores the progress.
impl Progress for () {
    fn begin(&mut self, _: u64) {}
    fn file(&mut self, _: &Path) {}
    fn advance(&mut self, _: u64) {}
}
