//! Files that are kept beside the runs that they are about, in the folder that holds these: the variants of a comparison, and its log.

use std::path::Path;

use resched_tables::run;
use resched_tables::store::marker::{self, Layout};
use resched_tables::store::{sha256, write_file};
use resched_tables::whole;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A run that such a file is about. After the run was replaced, the file is about another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariedRun {
    /// Its label.
    pub label: String,
    /// The SHA-256 of its `run.json`.
    pub sha256: String,
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// [`Error::Trace`] if it cannot be written.
pub(crate) fn write<T: Serialize>(path: &Path, found: &T) -> Result<(), Error> {
    let json =
        marker::encode(found).map_err(|error| resched_tables::Error::io(path, "write the file")(error.into()))?;
    Ok(write_file(path, &json)?)
}

/// Reads a file of this layout; `None` if there is none.
///
/// # Errors
/// [`Error::Trace`] if it is damaged or cannot be read.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, layout: &Layout) -> Result<Option<T>, Error> {
    let bytes = match whole::marker(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(resched_tables::Error::io(path, "read")(error).into()),
    };
    let unusable = |problem| resched_tables::Error::Request(format!("{}: {problem}", path.display()));
    Ok(Some(marker::decode(&bytes, layout).map_err(|problem| unusable(problem.to_string()))?))
}

/// What is kept about the runs in these folders, in a file of the folder that holds them all. `None` if they are not of one folder, or nothing
/// is kept of them as they are now. `read` reads the file, `runs` has the runs that it is about.
pub(crate) fn of_same_folder<T>(
    dirs: &[&Path],
    read: fn(&Path) -> Result<Option<T>, Error>,
    runs: fn(&T) -> &[VariedRun],
) -> Result<Option<T>, Error> {
    let mut parents = dirs.iter().map(|dir| dir.parent().unwrap_or(Path::new("")));
    let Some(parent) = parents.next().filter(|first| parents.all(|other| other == *first)) else {
        return Ok(None);
    };
    let Some(found) = read(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })? else {
        return Ok(None);
    };
    for dir in dirs {
        let sha256 = fingerprint(dir)?;
        if !runs(&found).iter().any(|run| run.sha256 == sha256) {
            return Ok(None);
        }
    }
    Ok(Some(found))
}

/// What identifies the run in a folder: the SHA-256 of its `run.json`.
///
/// # Errors
/// [`Error::Trace`] if it cannot be read.
pub fn fingerprint(dir: &Path) -> Result<String, Error> {
    let path = dir.join(run::MARKER);
    let bytes = whole::marker(&path).map_err(resched_tables::Error::io(&path, "read"))?;
    Ok(sha256(&bytes))
}
