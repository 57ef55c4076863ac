//! Files and folders that appear under their final name only when whole.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// The folders under construction in this process, for [`remove_staged`].
static STAGED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes every folder under construction in this process; for a signal handler that ends it right after.
pub fn remove_staged() {
    for dir in STAGED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // The process ends: there is nobody left to tell.
        let _ = fs::remove_dir_all(dir);
    }
}

/// A folder under construction beside its final place; dropped without [`StagedDir::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct StagedDir {
    staging: PathBuf,
    target: PathBuf,
    /// Parent folders that did not exist before, the innermost first.
    made_parents: Vec<PathBuf>,
    committed: bool,
}

impl StagedDir {
    /// Starts a folder that will be `target`. `marker` is the file that every folder of this kind holds (`trace.json`):
    /// an existing `target` is replaced only if it is empty or holds it, so nothing of the user's is lost.
    ///
    /// # Errors
    /// [`Error::Request`] if `target` exists and is something else; [`Error::Io`] if the folder cannot be made.
    pub fn create(target: &Path, marker: &str) -> Result<Self, Error> {
        if target.exists() {
            let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
            if !target.is_dir() || !(target.join(marker).is_file() || empty()) {
                return Err(Error::Request(format!(
                    "{}: exists and is not an earlier result (no {marker} in it); name another --out, or remove it",
                    target.display()
                )));
            }
        }
        let name = target.file_name().ok_or_else(|| {
            Error::Request(format!("{}: expected the name of a folder to write; name another --out", target.display()))
        })?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let made_parents: Vec<PathBuf> = parent
            .ancestors()
            .take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists())
            .map(Path::to_path_buf)
            .collect();
        fs::create_dir_all(parent).map_err(Error::io(parent, "create the folder"))?;
        let prefix = format!(".{}.partial-", name.to_string_lossy());
        remove_left_over(parent, &prefix);
        let staging = parent.join(format!("{prefix}{}", std::process::id()));
        fs::create_dir(&staging).map_err(Error::io(&staging, "create the folder"))?;
        STAGED.lock().unwrap_or_else(PoisonError::into_inner).insert(staging.clone());
        Ok(Self { staging, target: target.to_path_buf(), made_parents, committed: false })
    }

    /// Where to write the files meanwhile.
    pub fn path(&self) -> &Path {
        &self.staging
    }

    /// Makes the folder durable and gives it its final name, in place of an earlier result.
    ///
    /// # Errors
    /// [`Error::Io`]; the earlier result then stays.
    pub fn commit(mut self) -> Result<(), Error> {
        sync_dir(&self.staging)?;
        let old = self.staging.with_extension("old");
        let replaces = self.target.exists();
        if replaces {
            fs::rename(&self.target, &old).map_err(Error::io(&self.target, "set the earlier result aside"))?;
        }
        if let Err(source) = fs::rename(&self.staging, &self.target) {
            if replaces {
                // Best effort: the error that is reported is the one that matters.
                let _ = fs::rename(&old, &self.target);
            }
            return Err(Error::io(&self.target, "give the result its name")(source));
        }
        self.committed = true;
        if let Some(parent) = self.target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_dir(parent)?;
        }
        if replaces {
            fs::remove_dir_all(&old).map_err(Error::io(&old, "remove the earlier result"))?;
        }
        Ok(())
    }
}

impl Drop for StagedDir {
    fn drop(&mut self) {
        STAGED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.staging);
        if !self.committed {
            // Nothing can be reported from here; a left-over has a name of its own and is removed by the next run.
            let _ = fs::remove_dir_all(&self.staging);
            for parent in &self.made_parents {
                // Fails, as it should, if something else was put there meanwhile.
                let _ = fs::remove_dir(parent);
            }
        }
    }
}

/// Removes what a process that is gone left half-written under this name; what cannot be removed stays.
fn remove_left_over(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let alive = |process: &str| !Path::new("/proc/self").exists() || Path::new("/proc").join(process).exists();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let own = std::process::id().to_string();
        if process
            .is_some_and(|process| process.bytes().all(|b| b.is_ascii_digit()) && (process == own || !alive(process)))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a small file whole or not at all: temporary name, fsync, rename.
///
/// # Errors
/// [`Error::Io`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.partial-{}", std::process::id()));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let result = written.and_then(|()| fs::rename(&temporary, path));
    result.map_err(|source| {
        let _ = fs::remove_file(&temporary);
        Error::io(path, "write the file")(source)
    })
}

fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io(dir, "make durable the folder"))
}
