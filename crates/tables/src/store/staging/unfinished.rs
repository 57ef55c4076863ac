//! What this process has started and not finished, so that a signal can end it without a trace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lock_file::LockFile;
use super::remove_any;

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { things: BTreeSet::new(), locks: Vec::new() });

/// Everything to remove if the process ends now.
pub(super) struct Unfinished {
    /// Files and folders under construction.
    pub(super) things: BTreeSet<PathBuf>,
    /// The locks that are held, the last one last.
    pub(super) locks: Vec<LockFile>,
}

impl Unfinished {
    pub(super) fn lock() -> MutexGuard<'static, Self> {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes every file and folder under construction in this process, and its locks. It is for a signal handler that ends the
/// process right after. Other threads that start or finish a file from then on wait for the end of the process.
pub fn remove_unfinished() {
    let mut unfinished = Unfinished::lock();
    for thing in &unfinished.things {
        // Other threads may still add files to a folder, so that it is not empty at the first try. Nobody can receive an error
        // any more.
        let _ = (0..100).any(|_| remove_any(thing).is_ok() || !thing.exists());
    }
    for lock in unfinished.locks.drain(..).rev() {
        lock.remove();
    }
    std::mem::forget(unfinished);
}

/// A file or folder under construction. It is removed when this is dropped, unless it got its final name before.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Makes it by `make`, whose result is returned, too.
    pub(super) fn make<T>(path: PathBuf, make: impl FnOnce(&Path) -> std::io::Result<T>) -> std::io::Result<(Self, T)> {
        // Under the lock, so that a signal finds it registered if it exists.
        let mut unfinished = Unfinished::lock();
        let made = make(&path)?;
        unfinished.things.insert(path.clone());
        Ok((Self { path }, made))
    }

    /// Takes on something that exists.
    pub(super) fn adopt(unfinished: &mut Unfinished, path: PathBuf) -> Self {
        unfinished.things.insert(path.clone());
        Self { path }
    }

    /// Removes it, and says whether that worked. A signal waits for the end, so that not both remove it at once.
    pub(super) fn remove(self) -> std::io::Result<()> {
        let mut unfinished = Unfinished::lock();
        unfinished.things.remove(&self.path);
        remove_any(&self.path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = Unfinished::lock();
        unfinished.things.remove(&self.path);
        // It is gone if it got its name. What cannot be removed has a hidden name, and goes with the next command.
        let _ = remove_any(&self.path);
    }
}
