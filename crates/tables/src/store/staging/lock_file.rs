//! The file of a lock.

use std::fs;
use std::path::PathBuf;

/// The files and folders to remove when a lock is released.
#[derive(Debug)]
pub(super) struct LockFile {
    pub(super) path: PathBuf,
    /// The folders that were made to hold it, the innermost first. They are removed if nothing was written to them.
    pub(super) folders: Vec<PathBuf>,
}

impl LockFile {
    pub(super) fn remove(&self) {
        // What cannot be removed blocks nobody.
        let _ = fs::remove_file(&self.path);
        for folder in &self.folders {
            // Fails, as it should, if something is in it.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
