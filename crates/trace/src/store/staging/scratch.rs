//! A folder for the time of a command.

use std::fs::{self, File};
use std::path::Path;

use super::remove_any;
use super::unfinished::Temporary;
use crate::Error;

/// What the names of these folders begin with.
const PREFIX: &str = "resched-scratch-";
/// The file in the folder that is locked while the folder is in use.
const LOCK: &str = ".lock";

/// A folder among the system's temporary files. It goes when this is dropped, or on a signal. If the process is killed, the next
/// one that needs such a folder removes it.
#[derive(Debug)]
pub struct Scratch {
    // Dropped before the lock.
    folder: Temporary,
    _lock: File,
}

impl Scratch {
    /// Makes a new folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new() -> Result<Self, Error> {
        let all = std::env::temp_dir();
        remove_abandoned(&all);
        Self::make(&all).map_err(Error::io(&all, "make a folder for temporary files in"))
    }

    fn make(all: &Path) -> std::io::Result<Self> {
        let random = getrandom::u64().map_err(std::io::Error::from)?;
        let (folder, lock) = Temporary::make(all.join(format!("{PREFIX}{random:016x}")), |path| {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)?;
            File::create_new(path.join(LOCK))
        })?;
        // Fails only where there are no locks, and then nobody removes it.
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of killed processes.
fn remove_abandoned(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok() && is_old(&lock))
        {
            // Another user's folder stays.
            let _ = remove_any(&entry.path());
        }
    }
}

/// Whether the lock was made some time ago: one that was made just now may be about to be taken.
fn is_old(lock: &File) -> bool {
    let age = lock.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age.as_secs() >= 2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_folder_goes_with_its_process() {
        let all = tempfile::tempdir().unwrap();
        let used = Scratch::make(all.path()).unwrap();
        let dead = all.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        let lock = File::create(dead.join(LOCK)).unwrap();
        lock.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        File::open(used.path().join(LOCK)).unwrap();
        drop(lock);
        remove_abandoned(all.path());
        assert!(used.path().is_dir() && !dead.exists());
        drop(used);
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 0);
    }
}
