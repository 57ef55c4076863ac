//! Locks that let only one command at a time write a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// The lock file in a folder of results.
const NAME: &str = ".resched-lock";

/// The locks of this process, for [`release_locks`].
static HELD: Mutex<Vec<Cleanup>> = Mutex::new(Vec::new());

/// Whether a file of that name is a lock, not a result.
pub fn is_lock(name: &std::ffi::OsStr) -> bool {
    name == NAME
}

/// Removes the lock files of this process, for a signal handler that ends it right after.
pub fn release_locks() {
    for cleanup in HELD.lock().unwrap_or_else(PoisonError::into_inner).drain(..).rev() {
        cleanup.run();
    }
}

/// Keeps other commands from writing a folder until it is dropped. The system releases the lock however the process
/// ends. So a lock file that is left behind blocks nobody.
#[derive(Debug)]
pub struct FolderLock {
    file: Option<File>,
    path: PathBuf,
}

/// The files and folders to remove when a lock is released.
#[derive(Debug)]
struct Cleanup {
    path: PathBuf,
    /// The folders that were made to hold it, the innermost first. They are removed if nothing was written to them.
    folders: Vec<PathBuf>,
}

impl Cleanup {
    fn run(&self) {
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

impl FolderLock {
    /// Locks a folder whose files this command will write one by one. The folder is made if it is missing, and removed again if
    /// nothing is written to it.
    ///
    /// # Errors
    /// [`Error::Request`] if another command holds it, or it cannot be written to.
    pub fn inside(dir: &Path) -> Result<Self, Error> {
        Self::take(dir, dir, NAME)
    }

    /// Locks a folder that will appear whole and replace an earlier one: the lock file stands beside it.
    ///
    /// # Errors
    /// As [`FolderLock::inside`].
    pub fn beside(dir: &Path) -> Result<Self, Error> {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        Self::take(dir, parent, &format!(".{name}{NAME}"))
    }

    fn take(dir: &Path, folder: &Path, name: &str) -> Result<Self, Error> {
        let another = "name another --out";
        if let Some(file) = folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir()) {
            let problem = "expected a folder to write into, found a file";
            return Err(Error::Request(format!("{}: {problem}; {another}", file.display())));
        }
        let missing = folder.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists());
        let cleanup = Cleanup { path: folder.join(name), folders: missing.map(Path::to_path_buf).collect() };
        let cannot = |error: std::io::Error| {
            cleanup.run();
            Error::Request(format!("{}: cannot write into this folder ({error}); {another}", folder.display()))
        };
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            fs::create_dir_all(folder).map_err(cannot)?;
            let open = OpenOptions::new().write(true).create(true).truncate(false).open(&cleanup.path);
            let file = open.map_err(cannot)?;
            match file.try_lock() {
                Ok(()) if is_removed(&file) => continue,
                Ok(()) => {}
                // Some network file systems know no locks; there the user must take care.
                Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Request(format!(
                        "{}: another resched command is writing this folder; wait until it has ended, or {another}",
                        dir.display()
                    )));
                }
            }
            let path = cleanup.path.clone();
            held.push(cleanup);
            return Ok(Self { file: Some(file), path });
        }
    }
}

/// Whether the file was removed after it was opened: its owner has just ended, and the next lock is another file.
fn is_removed(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = held.iter().position(|cleanup| cleanup.path == self.path) {
            // Removed before it is unlocked: whoever has it open sees that it is gone.
            held.remove(place).run();
        }
        drop(self.file.take());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        for lock in [FolderLock::inside, FolderLock::beside] {
            let first = lock(&out).unwrap();
            let error = lock(&out).unwrap_err();
            assert!(error.is_request());
            let message = error.to_string();
            assert!(message.contains("a/b: another resched command") && message.contains("--out"), "{message}");
            drop(first);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
            drop(lock(&out).unwrap());
        }
    }

    #[test]
    fn what_was_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        let lock = FolderLock::inside(&out).unwrap();
        fs::write(out.join("result"), "").unwrap();
        drop(lock);
        assert_eq!(fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["result"]);
    }

    /// As a killed process leaves it: the file is there, and nobody holds the lock.
    #[test]
    fn a_stale_lock_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), "").unwrap();
        drop(FolderLock::inside(dir.path()).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_is_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let message = FolderLock::inside(&dir.path().join("file/below")).unwrap_err().to_string();
        assert!(message.contains("found a file"), "{message}");
    }
}
