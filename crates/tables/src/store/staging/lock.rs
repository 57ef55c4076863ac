//! Locks that let only one command at a time write a folder.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::lock_file::LockFile;
use super::unfinished::Unfinished;
use super::{check_parents, parent_of, place, remove_any};
use crate::Error;

/// The lock file in a folder of results.
const LOCK: &str = ".resched-lock";
/// What the names of files and folders under construction hold.
const PARTIAL: &str = ".resched-partial-";
/// What ends the name of an earlier result that is about to be replaced.
const REPLACED: &str = ".resched-replaced";

/// True if a file of that name is a lock or under construction, and not a result.
pub fn is_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && [LOCK, PARTIAL, REPLACED].iter().any(|part| name.contains(part))
}

/// The hidden name of an earlier result while `target` gets its new one. Only the command that holds the lock uses it.
pub(super) fn replaced(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    parent_of(target).join(format!(".{name}{REPLACED}"))
}

/// A hidden name beside `target` that nobody else uses.
pub(super) fn partial(target: &Path) -> PathBuf {
    // Processes on several machines, or in several containers, may have the same number.
    let random = getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    parent_of(target).join(format!(".{name}{PARTIAL}{random:016x}"))
}

/// The file for which `path` is such a hidden name, if it is one.
pub(super) fn partial_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let (target, _) = name.strip_prefix('.')?.rsplit_once(PARTIAL)?;
    Some(path.with_file_name(target))
}

/// Keeps other commands from writing a folder until it is dropped. The system releases the lock however the process
/// ends. So a lock file that is left behind blocks nobody.
#[derive(Debug)]
pub struct FolderLock {
    file: Option<File>,
    path: PathBuf,
    /// True if the file system knows locks.
    exclusive: bool,
}

impl FolderLock {
    /// Locks a folder whose files this command will write one by one. The folder is made if it is missing, and removed again if
    /// nothing is written to it. Files that a killed command had begun in it are removed.
    ///
    /// # Errors
    /// [`Error::Request`] if another command holds it, or it cannot be written to.
    pub fn inside(dir: &Path) -> Result<Self, Error> {
        let lock = Self::take(dir, dir, LOCK)?;
        lock.clear(dir, |name| name.starts_with('.') && name.contains(PARTIAL));
        Ok(lock)
    }

    /// Locks a file or folder that will appear whole and replace an earlier one: the lock file stands beside it. What a killed
    /// command had begun is removed.
    ///
    /// # Errors
    /// As [`FolderLock::inside`].
    pub fn beside(target: &Path) -> Result<Self, Error> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let lock = Self::take(target, parent_of(target), &format!(".{name}{LOCK}"))?;
        let ours = format!(".{name}{PARTIAL}");
        lock.clear(parent_of(target), |name| name.starts_with(&ours));
        if lock.exclusive {
            restore(target);
        }
        Ok(lock)
    }

    /// Removes what killed commands left in a folder under names like these. Where there are no locks, somebody may be at work.
    fn clear(&self, folder: &Path, is_left: impl Fn(&str) -> bool) {
        if !self.exclusive {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if is_left(&entry.file_name().to_string_lossy()) {
                // What cannot be removed does no harm.
                let _ = remove_any(&entry.path());
            }
        }
    }

    fn take(what: &Path, folder: &Path, name: &str) -> Result<Self, Error> {
        let folder = &place(folder)?;
        check_parents(folder)?;
        let missing = folder.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists());
        let lock = LockFile { path: folder.join(name), folders: missing.map(Path::to_path_buf).collect() };
        let cannot = |error: std::io::Error| {
            lock.remove();
            let problem = format!("cannot write into this folder ({error}); name another --out");
            Error::Request(format!("{}: {problem}", folder.display()))
        };
        let mut unfinished = Unfinished::lock();
        loop {
            fs::create_dir_all(folder).map_err(cannot)?;
            let open = OpenOptions::new().write(true).create(true).truncate(false).open(&lock.path);
            let file = open.map_err(cannot)?;
            let exclusive = match file.try_lock() {
                Ok(()) if is_removed(&file) => continue,
                Ok(()) => true,
                // Some network file systems know no locks; there you must take care.
                Err(TryLockError::Error(_)) => false,
                Err(TryLockError::WouldBlock) => {
                    let problem = "another resched command is writing it; wait until it ends, or name another --out";
                    return Err(Error::Request(format!("{}: {problem}", what.display())));
                }
            };
            let path = lock.path.clone();
            unfinished.locks.push(lock);
            return Ok(Self { file: Some(file), path, exclusive });
        }
    }
}

/// Brings an earlier result back that a killed command had set aside, unless the new one got its name.
fn restore(target: &Path) {
    let replaced = replaced(target);
    if fs::symlink_metadata(target).is_err() {
        // There is usually nothing to bring back.
        let _ = fs::rename(&replaced, target);
    }
    let _ = remove_any(&replaced);
}

/// True if the file was removed after it was opened: its owner has just ended, and the next lock is another file.
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
        let mut unfinished = Unfinished::lock();
        if let Some(place) = unfinished.locks.iter().position(|lock| lock.path == self.path) {
            // Removed before it is unlocked: whoever has it open sees that it is gone.
            unfinished.locks.remove(place).remove();
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
    fn what_was_written_stays_and_what_was_begun_goes() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        drop({
            let lock = FolderLock::inside(&out).unwrap();
            fs::write(out.join("result"), "").unwrap();
            fs::write(partial(&out.join("other")), "").unwrap();
            lock
        });
        drop(FolderLock::inside(&out).unwrap());
        assert_eq!(fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["result"]);
    }

    /// As a killed process leaves it: the file is there, and nobody holds the lock.
    #[test]
    fn a_stale_lock_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(LOCK), "").unwrap();
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
