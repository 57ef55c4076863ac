//! A folder for the time of a command.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::path::Path;

use super::remove_any;
use super::unfinished::Temporary;
use crate::Error;

/// What the names of these folders begin with.
const PREFIX: &str = "resched-scratch-";

/// A folder among the system's temporary files. It goes when this is dropped, or on a signal. If the process is killed, the next
/// one that needs such a folder removes it.
#[derive(Debug)]
pub struct Scratch {
    // Dropped before the lock.
    folder: Temporary,
    /// Shows other processes that the folder is in use. The system unlocks it however this process ends.
    _lock: File,
}

impl Scratch {
    /// Makes a new folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new() -> Result<Self, Error> {
        let all = std::env::temp_dir();
        remove_left(&all);
        Self::make(&all).map_err(Error::io(&all, "make a folder for temporary files in"))
    }

    fn make(all: &Path) -> std::io::Result<Self> {
        loop {
            let random = getrandom::u64().map_err(std::io::Error::from)?;
            let (folder, lock) = Temporary::make(all.join(format!("{PREFIX}{random:016x}")), |path| {
                let mut builder = DirBuilder::new();
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(path)?;
                // Until it is locked, another process may take the new folder for one that was left, and remove it.
                match File::open(path) {
                    Err(gone) if gone.kind() == ErrorKind::NotFound => Ok(None),
                    lock => lock.map(Some),
                }
            })?;
            if let Some(lock) = lock.filter(|lock| lock.try_lock().is_ok() && folder.path().exists()) {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of processes that were killed. What cannot be removed stays.
fn remove_left(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(lock) = File::open(entry.path()) else { continue };
        if lock.try_lock().is_ok() {
            let _ = remove_any(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_goes_with_its_process() {
        let all = tempfile::tempdir().unwrap();
        let used = Scratch::make(all.path()).unwrap();
        let left = all.path().join(format!("{PREFIX}left"));
        fs::create_dir_all(left.join("sub")).unwrap();
        remove_left(all.path());
        assert!(used.path().is_dir() && !left.exists());
        drop(used);
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_that_are_made_at_once_survive_each_other() {
        let all = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        remove_left(all.path());
                        assert!(Scratch::make(all.path()).unwrap().path().is_dir());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 0);
    }
}
