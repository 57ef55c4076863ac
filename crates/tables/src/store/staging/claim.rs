//! The right to write a result: its place is locked, and nothing of yours is in the way.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::inventory::Inventory;
use super::super::marker::listed;
use super::{FolderLock, is_same_place, place};
use crate::{Error, whole};

/// Where a result goes, and what may be replaced there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// The folder or file.
    pub path: PathBuf,
    /// True if files that resched wrote may be replaced even if they were changed since (`--force`).
    pub force: bool,
}

impl Out {
    /// Checks that the result does not replace `source`, from which it is made, however either of them is written.
    ///
    /// # Errors
    /// [`Error::Request`] if they are the same.
    pub fn check_apart_from(&self, source: &Path) -> Result<(), Error> {
        if !is_same_place(&self.path, source) {
            return Ok(());
        }
        let problem = "expected a folder other than the one that is read, which would be lost; name another --out";
        Err(Error::Request(format!("{}: {problem}", self.path.display())))
    }
}

impl From<&Path> for Out {
    fn from(path: &Path) -> Self {
        Self { path: path.to_path_buf(), force: false }
    }
}

impl From<&PathBuf> for Out {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<PathBuf> for Out {
    fn from(path: PathBuf) -> Self {
        Self { path, force: false }
    }
}

impl From<&Out> for Out {
    fn from(out: &Out) -> Self {
        out.clone()
    }
}

/// A folder that this command alone may write, and in which it will replace only what resched wrote.
#[derive(Debug)]
pub struct Claim {
    pub(super) target: PathBuf,
    pub(super) lock: FolderLock,
}

impl Claim {
    /// Locks `out` and checks it. `marker` is the file that every folder of this kind holds (`trace.json`).
    ///
    /// # Errors
    /// [`Error::Request`] if another command writes it, or as [`Claim::check`].
    pub fn new(out: impl Into<Out>, marker: &str) -> Result<Self, Error> {
        let out = out.into();
        check_name(&out.path)?;
        let target = place(&out.path)?;
        check_name(&target)?;
        let lock = FolderLock::beside(&target)?;
        Self::check(&out, marker)?;
        Ok(Self { target, lock })
    }

    /// The folder that was claimed, in its real place.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Checks whether `out` may be written. It must not exist, or be an empty folder, or hold only the files of an earlier result of
    /// the kind of `marker`, as resched wrote them. So nothing of yours is lost.
    ///
    /// # Errors
    /// [`Error::Request`] that names what is in the way.
    pub fn check(out: impl Into<Out>, marker: &str) -> Result<(), Error> {
        let Out { path, force } = out.into();
        let refuse = |problem: &str| Err(Error::Request(format!("{}: {problem}", path.display())));
        check_name(&path)?;
        let real = place(&path)?;
        if fs::symlink_metadata(&real).is_err() {
            return Ok(());
        }
        let Ok(mut entries) = fs::read_dir(&real) else {
            return refuse("exists and is not a readable folder; name another --out, or remove it");
        };
        if entries.next().is_none() {
            return Ok(());
        }
        let Ok(bytes) = whole::marker(&real.join(marker)) else {
            return refuse(&format!(
                "exists and is not an earlier result (no {marker} in it); name another --out, or remove it"
            ));
        };
        let Some(files) = listed(&bytes) else {
            return refuse(&format!(
                "is an earlier result, but its {marker} does not say which files belong to it (it is damaged or \
                 changed); name another --out, or remove it"
            ));
        };
        if let Some(other) = foreign(&real, marker, &files) {
            return refuse(&format!(
                "is an earlier result, but `{other}` in it does not belong to it; move that away, or name another --out"
            ));
        }
        match changed(&real, &files).first().filter(|_| !force) {
            None => Ok(()),
            Some(name) => refuse(&format!(
                "is an earlier result, but `{name}` in it was changed since; move that away, name another --out, or replace it \
                 with --force"
            )),
        }
    }
}

fn check_name(target: &Path) -> Result<(), Error> {
    if target.file_name().is_some() {
        return Ok(());
    }
    let problem = "expected the name of a folder to write; name another --out";
    Err(Error::Request(format!("{}: {problem}", target.display())))
}

/// The files of the earlier result in `target` that were changed since resched wrote them: what `--force` replaces.
pub fn changed_files(target: &Path, marker: &str) -> Vec<String> {
    let files = whole::marker(&target.join(marker)).ok().and_then(|bytes| listed(&bytes));
    files.map_or_else(Vec::new, |files| changed(target, &files))
}

/// The listed files in `dir` whose content is another one. Missing files are not among them.
pub(super) fn changed(dir: &Path, files: &Inventory) -> Vec<String> {
    let is_changed = |(name, entry): &(&String, &super::super::FileEntry)| {
        let path = dir.join(name);
        fs::symlink_metadata(&path).is_ok() && !entry.is_content_of(&path)
    };
    files.iter().filter(is_changed).map(|(name, _)| name.clone()).collect()
}

/// The first thing in `dir`, by name, that is neither the marker nor listed.
fn foreign(dir: &Path, marker: &str, files: &Inventory) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(dir.join(&folder)).into_iter().flatten().flatten() {
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            let inside = format!("{name}/");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && files.keys().any(|file| file.starts_with(&inside)) {
                folders.push(inside);
            } else if is_folder || name != marker && !files.contains_key(&name) {
                found.push(name);
            }
        }
    }
    found.into_iter().min()
}
