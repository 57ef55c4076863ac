//! Files and folders that appear under their final name only when whole.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Error;

/// The extensions of the files of a result, beside its marker.
const RESULT_FILES: [&str; 6] = ["parquet", "svg", "png", "html", "ipynb", "md"];
/// The only table as CSV that a result holds. Other files with that ending are somebody's own.
const SUMMARY: &str = "summary.csv";

/// Tables that may be folders of parts.
pub(super) const TABLES_IN_PARTS: [&str; 3] = ["jobs", "tasks", "attempts"];

/// The results that this process has started and not finished.
static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { folders: BTreeSet::new(), parents: BTreeSet::new() });

struct Unfinished {
    /// Folders under construction.
    folders: BTreeSet<PathBuf>,
    /// Folders that were made to hold them, and hold no result yet.
    parents: BTreeSet<PathBuf>,
}

impl Unfinished {
    fn lock() -> MutexGuard<'static, Self> {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the parents that are empty, the innermost first.
    fn remove_parents(&mut self) {
        for parent in self.parents.iter().rev() {
            // Fails, as it should, if something else is there.
            let _ = fs::remove_dir(parent);
        }
        self.parents.retain(|parent| parent.exists());
    }
}

/// Removes every folder under construction in this process. It is for a signal handler that ends the process right
/// after. Other threads that start or finish a folder from then on wait for the end of the process.
pub fn remove_staged() {
    let mut unfinished = Unfinished::lock();
    for dir in &unfinished.folders {
        // Other threads may still add files, so that the folder is not empty at the first try. Nobody can receive an
        // error any more.
        let _ = (0..100).any(|_| fs::remove_dir_all(dir).is_ok() || !dir.exists());
    }
    unfinished.remove_parents();
    std::mem::forget(unfinished);
}

/// A folder under construction beside its final place. If you drop it without [`StagedDir::commit`], it leaves nothing
/// behind.
#[derive(Debug)]
pub struct StagedDir {
    staging: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl StagedDir {
    /// Starts a folder that will be `target`. `marker` is the file that every folder of this kind holds (`trace.json`).
    ///
    /// # Errors
    /// [`Error::Request`] if [`StagedDir::check`] fails, or the folder cannot be made.
    pub fn create(target: &Path, marker: &str) -> Result<Self, Error> {
        let mut unfinished = Unfinished::lock();
        clear_left_over(target);
        Self::check(target, marker)?;
        let parent = parent_of(target);
        if let Some(file) = parent.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir()) {
            let problem = "expected a folder to write into, found a file; name another --out";
            return Err(Error::Request(format!("{}: {problem}", file.display())));
        }
        let missing = parent.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        unfinished.parents.extend(missing);
        let staging = beside(target, "partial");
        fs::create_dir_all(parent).and_then(|()| fs::create_dir(&staging)).map_err(|error| {
            unfinished.remove_parents();
            Error::Request(format!("{}: cannot write into this folder ({error}); name another --out", parent.display()))
        })?;
        unfinished.folders.insert(staging.clone());
        Ok(Self { staging, target: target.to_path_buf(), committed: false })
    }

    /// Checks whether `target` may be written. It must not exist, or be an empty folder, or hold only an earlier result
    /// of the kind of `marker`. So none of your files is lost.
    ///
    /// # Errors
    /// [`Error::Request`] that names what is in the way.
    pub fn check(target: &Path, marker: &str) -> Result<(), Error> {
        let refuse = |problem: String| Err(Error::Request(format!("{}: {problem}", target.display())));
        if target.file_name().is_none() {
            return refuse("expected the name of a folder to write; name another --out".to_owned());
        }
        if fs::symlink_metadata(target).is_err() {
            return Ok(());
        }
        let Ok(entries) = fs::read_dir(target) else {
            return refuse("exists and is not a readable folder; name another --out, or remove it".to_owned());
        };
        let entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        if !entries.is_empty() && !target.join(marker).is_file() {
            return refuse(format!(
                "exists and is not an earlier result (no {marker} in it); name another --out, or remove it"
            ));
        }
        let is_own = |path: &&PathBuf| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            path.is_file()
                && (path.ends_with(marker)
                    || path.ends_with(SUMMARY)
                    || ending.is_some_and(|ending| RESULT_FILES.contains(&ending)))
                || is_table_in_parts(path)
        };
        match entries.iter().find(|path| !is_own(path)) {
            None => Ok(()),
            Some(other) => refuse(format!(
                "is an earlier result, but `{}` in it does not belong to it; move that away, or name another --out",
                other.file_name().unwrap_or_default().display()
            )),
        }
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
        // Held to the end, so that a signal cannot come between the two renames.
        let mut unfinished = Unfinished::lock();
        let old = beside(&self.target, "replaced");
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
        unfinished.parents.retain(|parent| !self.target.starts_with(parent));
        sync_dir(parent_of(&self.target))?;
        if replaces {
            remove_any(&old).map_err(Error::io(&old, "remove the earlier result"))?;
        }
        Ok(())
    }
}

impl Drop for StagedDir {
    fn drop(&mut self) {
        let mut unfinished = Unfinished::lock();
        unfinished.folders.remove(&self.staging);
        if !self.committed {
            // Nothing can be reported from here; a left-over has a name of its own and is removed by the next run.
            let _ = fs::remove_dir_all(&self.staging);
            unfinished.remove_parents();
        }
    }
}

/// A file under construction. If you drop it without [`StagedFile::commit`], it leaves nothing behind. Use it for a
/// file that is written bit by bit, and [`write_file`] for a small one.
#[derive(Debug)]
pub struct StagedFile {
    /// A hidden folder beside the target, in which the file is.
    staging: PathBuf,
    target: PathBuf,
    file: File,
}

impl StagedFile {
    /// Starts a file that will be `target`.
    ///
    /// # Errors
    /// [`Error::Request`] if `target` is a folder, or a file cannot be made beside it.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let mut unfinished = Unfinished::lock();
        clear_left_over(target);
        if target.is_dir() || target.file_name().is_none() {
            let problem = "expected the name of a file to write, found a folder; name another --out";
            return Err(Error::Request(format!("{}: {problem}", target.display())));
        }
        let staging = beside(target, "partial");
        let begun = fs::create_dir(&staging).and_then(|()| File::create(staging.join("file")));
        let file = begun.map_err(|error| {
            let _ = fs::remove_dir_all(&staging);
            let parent = parent_of(target).display().to_string();
            Error::Request(format!("{parent}: cannot write into this folder ({error}); name another --out"))
        })?;
        unfinished.folders.insert(staging.clone());
        Ok(Self { staging, target: target.to_path_buf(), file })
    }

    /// The file, for writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes the file durable and gives it its final name, in place of an earlier one.
    ///
    /// # Errors
    /// [`Error::Io`]; an earlier file then stays.
    pub fn commit(self) -> Result<(), Error> {
        self.file.sync_all().map_err(Error::io(&self.target, "write to the disk"))?;
        fs::rename(self.staging.join("file"), &self.target)
            .map_err(Error::io(&self.target, "give the file its name"))?;
        sync_dir(parent_of(&self.target))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let mut unfinished = Unfinished::lock();
        unfinished.folders.remove(&self.staging);
        let _ = fs::remove_dir_all(&self.staging);
    }
}

/// Whether a folder holds the parts of a table and nothing else.
fn is_table_in_parts(path: &Path) -> bool {
    let is_part = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file() && name.starts_with("part-") && name.ends_with(".parquet")
    };
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| TABLES_IN_PARTS.contains(&name))
        && path.is_dir()
        && !path.is_symlink()
        && fs::read_dir(path).is_ok_and(|entries| {
            let mut parts = entries.flatten().map(|entry| is_part(entry.path())).peekable();
            parts.peek().is_some() && parts.all(|part| part)
        })
}

/// The folder that `path` is in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The hidden name beside `target` that this process uses while it is `what`.
fn beside(target: &Path, what: &str) -> PathBuf {
    parent_of(target).join(format!("{}{}", hidden(target, what), std::process::id()))
}

/// [`beside`] without the process.
fn hidden(target: &Path, what: &str) -> String {
    format!(".{}.{what}-", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes what an ended process left under the hidden names of `target`. If it had set an earlier result aside and not
/// named its own, the earlier one comes back. What cannot be removed stays.
fn clear_left_over(target: &Path) {
    let Ok(entries) = fs::read_dir(parent_of(target)) else { return };
    let (partial, replaced) = (hidden(target, "partial"), hidden(target, "replaced"));
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.strip_prefix(&replaced).is_some_and(is_gone) && fs::symlink_metadata(target).is_err() {
            let _ = fs::rename(entry.path(), target);
        } else if name.strip_prefix(&partial).or(name.strip_prefix(&replaced)).is_some_and(is_gone) {
            let _ = remove_any(&entry.path());
        }
    }
}

/// Whether the process of that number has ended, or is this one, which uses each name once.
fn is_gone(process: &str) -> bool {
    let number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    let alive = || !Path::new("/proc/self").exists() || Path::new("/proc").join(process).exists();
    number && (process == std::process::id().to_string() || !alive())
}

/// Removes a folder with all in it, or a link to one.
fn remove_any(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_symlink() { fs::remove_file(path) } else { fs::remove_dir_all(path) }
}

/// Writes a small file whole or not at all: temporary name, fsync, rename.
///
/// # Errors
/// [`Error::Io`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = beside(path, "partial");
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

pub(crate) fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io(dir, "write the folder to the disk"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(target: &Path, text: &str) -> Result<(), Error> {
        let staged = StagedDir::create(target, "marker")?;
        fs::write(staged.path().join("marker"), text).unwrap();
        staged.commit()
    }

    #[test]
    fn a_result_replaces_an_earlier_one_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a/b");
        write(&target, "one").unwrap();
        write(&target, "two").unwrap();
        assert_eq!(fs::read_to_string(target.join("marker")).unwrap(), "two");
        assert_eq!(names(target.parent().unwrap()), ["b"]);
        for name in ["notes.txt", "more"] {
            let other = target.join(name);
            fs::create_dir(&other).unwrap();
            let message = write(&target, "three").unwrap_err().to_string();
            assert!(message.contains(&format!("`{name}` in it does not belong to it")), "{message}");
            fs::remove_dir(other).unwrap();
        }
        assert_eq!(fs::read_to_string(target.join("marker")).unwrap(), "two");
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.json");
        drop(StagedFile::create(&target).unwrap());
        assert!(names(dir.path()).is_empty());
        for text in ["one", "two"] {
            let mut staged = StagedFile::create(&target).unwrap();
            staged.file().write_all(text.as_bytes()).unwrap();
            staged.commit().unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
        assert_eq!(names(dir.path()), ["out.json"]);
        assert!(StagedFile::create(dir.path()).unwrap_err().is_request());
        assert!(StagedFile::create(&dir.path().join("no/such")).unwrap_err().is_request());
    }

    #[test]
    fn parents_that_were_made_go_with_the_last_folder_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let first = StagedDir::create(&dir.path().join("a/b/first"), "marker").unwrap();
        let second = StagedDir::create(&dir.path().join("a/b/second"), "marker").unwrap();
        drop(first);
        assert!(second.path().exists());
        drop(second);
        assert!(names(dir.path()).is_empty());
    }

    /// No process has the number 4294967295.
    #[test]
    fn what_a_killed_process_set_aside_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        write(&target, "one").unwrap();
        fs::rename(&target, dir.path().join(".t.replaced-4294967295")).unwrap();
        fs::create_dir(dir.path().join(".t.partial-4294967295")).unwrap();
        drop(StagedDir::create(&target, "marker").unwrap());
        assert_eq!(names(dir.path()), ["t"]);
        fs::create_dir_all(dir.path().join(".t.replaced-4294967295/x")).unwrap();
        write(&target, "two").unwrap();
        write(&target, "three").unwrap();
        assert_eq!(names(dir.path()), ["t"]);
    }
}
