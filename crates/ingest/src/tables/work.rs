//! The working folder of an ingest: hidden, beside the trace, named after the plan.
//!
//! It survives an interrupt and a disk error, so the same request continues where it stopped. Another request for the
//! same trace removes it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::plan::Plan;
use resched_tables::Error;
use resched_tables::store::{Claim, MANIFEST, marker, parent_of, place, write_file};
use resched_tables::whole;

/// The working folders that this process has started and not finished.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The working folders of this process with work from which the same request would continue.
pub fn unfinished() -> Vec<PathBuf> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

/// The file of a working folder that holds the plan.
const PLAN: &str = "plan.json";

/// A working folder.
pub(super) struct WorkFolder {
    path: PathBuf,
    /// Held while the folder is used: the lock goes with the process.
    _lock: Option<File>,
}

impl WorkFolder {
    /// Makes or reuses the folder of `plan` for the trace `out`, for this process alone. Folders of other plans for it
    /// are removed.
    pub(super) fn enter(plan: &Plan, out: &Path) -> Result<Self, Error> {
        let path = folder(plan, out)?;
        remove_others(out, &path);
        let lock = lock(&path)?.ok_or_else(|| {
            Error::Request(format!(
                "{}: another ingest is writing it; wait for it, or name another --out",
                out.display()
            ))
        })?;
        for name in fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if name.to_string_lossy().contains(".partial-") {
                // Begun by a process that is gone; a new process uses another name.
                let _ = if name.is_dir() { fs::remove_dir_all(&name) } else { fs::remove_file(&name) };
            }
        }
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Ok(Self { path, _lock: Some(lock) })
    }

    /// Makes or reuses the folder, together with other processes.
    pub(super) fn visit(plan: &Plan, out: &Path) -> Result<Self, Error> {
        Ok(Self { path: folder(plan, out)?, _lock: None })
    }

    /// The file of facts of a shard.
    pub(super) fn shard(&self, number: usize) -> PathBuf {
        self.path.join(format!("shard-{number:05}.facts"))
    }

    /// The folder of a part.
    pub(super) fn part(&self, partition: u32) -> PathBuf {
        self.path.join(format!("part-{partition:05}"))
    }

    /// Removes it, at the end of all work.
    pub(super) fn remove(self) -> Result<(), Error> {
        fs::remove_dir_all(&self.path).map_err(Error::io(&self.path, "remove the folder"))?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
        Ok(())
    }
}

/// The temporary name of `target` while it is written.
pub(super) fn partial(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // Processes on several machines may have the same number.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    target.with_file_name(format!("{name}.partial-{}-{now}", std::process::id()))
}

/// The start of the names of all working folders for `out`.
fn prefix(out: &Path) -> String {
    format!(".{}.ingest-", out.file_name().unwrap_or_default().to_string_lossy())
}

/// The folder of `plan`, made if need be.
fn folder(plan: &Plan, out: &Path) -> Result<PathBuf, Error> {
    let parent = parent_of(out);
    let path = parent.join(format!("{}{}", prefix(out), plan.identity()));
    fs::create_dir_all(&path).map_err(|error| {
        Error::Request(format!("{}: cannot write into this folder ({error}); name another --out", parent.display()))
    })?;
    let json = marker::encode(plan)
        .map_err(|error| Error::Request(format!("the plan of the ingest cannot be written: {error}")))?;
    let file = path.join(PLAN);
    if whole::marker(&file).ok().as_ref() != Some(&json) {
        write_file(&file, &json)?;
    }
    Ok(path)
}

/// The file of the plan for the trace `out`, in its working folder, which is made if need be.
pub(super) fn plan_file(plan: &Plan, out: &Path) -> Result<PathBuf, Error> {
    Claim::check(out, MANIFEST)?;
    Ok(folder(plan, &place(out)?)?.join(PLAN))
}

/// The plan in the file `path`, and the trace that it is for. The name of the working folder holds the name of the
/// trace.
pub(super) fn read_plan(path: &Path) -> Result<(Plan, PathBuf), Error> {
    let refuse = |problem: &str| {
        Error::Request(format!("{}: {problem}; name the file that `resched ingest-plan` printed", path.display()))
    };
    let work = parent_of(path);
    let name = work.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let target = name.strip_prefix('.').and_then(|name| name.rsplit_once(".ingest-")).map(|(target, _)| target);
    let target = target.ok_or_else(|| refuse("expected a plan in the working folder of an ingest"))?;
    let bytes = whole::marker(path).map_err(|error| refuse(&format!("cannot read the plan ({error})")))?;
    if !marker::is_sealed(&bytes) {
        return Err(refuse("the plan is damaged, or was changed"));
    }
    let plan = serde_json::from_slice(&bytes).map_err(|error| refuse(&format!("the plan is damaged ({error})")))?;
    Ok((plan, parent_of(work).join(target)))
}

/// The lock of a working folder; `None` if another process has it. A file system without locks gives it to all.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    let name = path.join("lock");
    let file = File::create(&name).map_err(Error::io(&name, "create the file"))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// Removes the working folders of other plans for `out` that nobody uses. What cannot be removed stays.
fn remove_others(out: &Path, kept: &Path) {
    let prefix = prefix(out);
    for entry in fs::read_dir(parent_of(out)).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_other = entry.file_name().to_string_lossy().starts_with(&prefix) && path != kept && path.is_dir();
        if is_other && matches!(lock(&path), Ok(Some(_))) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
