//! A folder for the temporary files of a program.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// The beginning of the names of these folders.
const PREFIX: &str = "resched-scratch-";

/// A folder that is removed when it is dropped. If its process is killed before, the next one of its kind removes it.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: TempDir,
    /// Shows other processes that the folder is in use. The system unlocks it however this process ends.
    _lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        remove_left(&std::env::temp_dir());
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            // Another process may take the new folder for one that was left, until it is locked.
            let Ok(lock) = File::open(folder.path()) else { continue };
            if lock.try_lock().is_ok() && folder.path().exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of processes that were killed. What cannot be removed stays.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(lock) = File::open(entry.path()) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_left_is_removed_and_one_in_use_is_not() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["resched-scratch-left", "resched-scratch-used", "other"] {
            fs::create_dir_all(parent.path().join(name).join("below")).unwrap();
        }
        let used = File::open(parent.path().join("resched-scratch-used")).unwrap();
        used.try_lock().unwrap();
        remove_left(parent.path());
        let mut names: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["other", "resched-scratch-used"]);
    }
}
