//! A folder under construction.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{FileEntry, Inventory};
use super::lock::{partial, replaced};
use super::unfinished::{Temporary, Unfinished};
use super::{Claim, FolderLock, Out, parent_of, sync_dir, write_file};
use crate::Error;

/// A folder under construction beside its final place, which no other command can write meanwhile. If you drop it without
/// [`StagedDir::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct StagedDir {
    // Dropped before the lock, as another command may clear the place after that.
    staging: Temporary,
    target: PathBuf,
    files: Inventory,
    _lock: FolderLock,
}

impl Claim {
    /// Starts the folder under a hidden name.
    ///
    /// # Errors
    /// As [`StagedDir::create`].
    pub fn stage(self) -> Result<StagedDir, Error> {
        StagedDir::of(self)
    }
}

impl StagedDir {
    /// Starts a folder that will be `out`. `marker` is the file that every folder of this kind holds (`trace.json`).
    ///
    /// # Errors
    /// [`Error::Request`] as [`Claim::new`], or if the folder cannot be made.
    pub fn create(out: impl Into<Out>, marker: &str) -> Result<Self, Error> {
        Self::of(Claim::new(out, marker)?)
    }

    fn of(Claim { target, lock }: Claim) -> Result<Self, Error> {
        let made = Temporary::make(partial(&target), |path| fs::create_dir(path));
        let (staging, ()) = made.map_err(|error| {
            let parent = parent_of(&target).display();
            Error::Request(format!("{parent}: cannot write into this folder ({error}); name another --out"))
        })?;
        Ok(Self { staging, target, files: Inventory::new(), _lock: lock })
    }

    /// Where to write the files meanwhile.
    pub fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Writes a file and lists it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write_file(&self.path().join(name), bytes)?;
        self.list(name, FileEntry::of(bytes));
        Ok(())
    }

    /// Lists a file that was written in another way.
    pub fn list(&mut self, name: &str, entry: FileEntry) {
        self.files.insert(name.to_owned(), entry);
    }

    /// The files that are listed, for the marker.
    pub fn files(&self) -> &Inventory {
        &self.files
    }

    /// Makes the folder durable and gives it its final name, in place of an earlier result.
    ///
    /// # Errors
    /// [`Error::Io`]; the earlier result then stays.
    pub fn commit(self) -> Result<(), Error> {
        sync_dir(self.path())?;
        let old = self.swap()?;
        sync_dir(parent_of(&self.target))?;
        if let Some(old) = old {
            let path = old.path().to_path_buf();
            old.remove().map_err(Error::io(&path, "remove the earlier result"))?;
        }
        Ok(())
    }

    /// Gives the folder its final name, and returns the earlier result, which was set aside. It is unfinished from the moment at which the
    /// new one has its name, so a signal removes it.
    fn swap(&self) -> Result<Option<Temporary>, Error> {
        let old = replaced(&self.target);
        // So that a signal cannot come between the two renames. After a SIGKILL there, the next command brings it back.
        let mut unfinished = Unfinished::lock();
        let replaces = self.target.exists();
        if replaces {
            fs::rename(&self.target, &old).map_err(Error::io(&self.target, "set the earlier result aside"))?;
        }
        if let Err(source) = fs::rename(self.path(), &self.target) {
            if replaces {
                // Best effort: the error that is reported is the one that matters.
                let _ = fs::rename(&old, &self.target);
            }
            return Err(Error::io(&self.target, "give the result its name")(source));
        }
        Ok(replaces.then(|| Temporary::adopt(&mut unfinished, old)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use super::super::super::marker;
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes a result with the files `page.md` and `parts/1.parquet`.
    fn write(out: impl Into<Out>, text: &str) -> Result<(), Error> {
        let staged = StagedDir::create(out, "marker")?;
        fs::create_dir(staged.path().join("parts")).unwrap();
        let names = ["page.md", "parts/1.parquet"];
        for name in names {
            fs::write(staged.path().join(name), text).unwrap();
        }
        let files: BTreeMap<&str, FileEntry> = names.map(|name| (name, FileEntry::of(text.as_bytes()))).into();
        let marker = marker::encode(&BTreeMap::from([("files", files)])).unwrap();
        fs::write(staged.path().join("marker"), marker).unwrap();
        staged.commit()
    }

    /// What a signal finds in the window between the second rename and the removal of the earlier result.
    #[test]
    fn an_earlier_result_that_was_set_aside_goes_with_a_signal() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        write(&target, "one").unwrap();
        let old = replaced(&target);
        let staged = StagedDir::create(&target, "marker").unwrap();
        assert!(!Unfinished::lock().things.contains(&old));
        let aside = staged.swap().unwrap().unwrap();
        assert!(old.is_dir() && target.is_dir(), "both are there");
        assert!(Unfinished::lock().things.contains(&old), "a signal removes the earlier one");
        drop((aside, staged));
        assert!(!Unfinished::lock().things.contains(&old));
        assert_eq!(names(dir.path()), ["t"]);
    }

    #[test]
    fn a_target_that_leads_through_itself_is_resolved_before_it_is_moved() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        write(&target, "one").unwrap();
        fs::create_dir(dir.path().join("u")).unwrap();
        std::os::unix::fs::symlink("t", dir.path().join("link")).unwrap();
        for (text, path) in
            [("two", "t/../t"), ("three", "t/."), ("four", "t/parts/../../t"), ("five", "link"), ("six", "u/../link/")]
        {
            write(dir.path().join(path), text).unwrap();
            assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), text, "{path}");
            assert_eq!(names(dir.path()), ["link", "t", "u"], "{path}");
            assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_symlink());
        }
        for path in ["t/..", "t/parts/..", "new/../t"] {
            let problem = write(dir.path().join(path), "no").unwrap_err();
            assert!(problem.is_request(), "{path}: {problem}");
            assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "six", "{path}");
        }
    }

    #[test]
    fn a_result_replaces_an_earlier_one_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a/b");
        write(&target, "one").unwrap();
        write(&target, "two").unwrap();
        assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "two");
        assert_eq!(names(target.parent().unwrap()), ["b"]);
        for name in ["notes.md", "jobs.parquet", "parts/2.parquet", "my.ipynb", "figure.png"] {
            let other = target.join(name);
            fs::write(&other, "mine").unwrap();
            for force in [false, true] {
                let message = write(&Out { path: target.clone(), force }, "three").unwrap_err().to_string();
                assert!(message.contains(&format!("`{name}` in it does not belong to it")), "{message}");
            }
            assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
            fs::remove_file(other).unwrap();
        }
        fs::create_dir(target.join("more")).unwrap();
        assert!(write(&target, "three").is_err());
        assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "two");
    }

    #[test]
    fn a_changed_file_is_replaced_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        write(&target, "one").unwrap();
        fs::write(target.join("page.md"), "own").unwrap();
        assert_eq!(super::super::changed_files(&target, "marker"), ["page.md"]);
        let message = write(&target, "two").unwrap_err().to_string();
        assert!(message.contains("`page.md` in it was changed since") && message.contains("--force"), "{message}");
        assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "own");
        write(&Out { path: target.clone(), force: true }, "two").unwrap();
        assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "two");
        // A file that you removed is nothing to lose.
        fs::remove_file(target.join("page.md")).unwrap();
        write(&target, "three").unwrap();
        fs::write(target.join("marker"), "{}").unwrap();
        assert!(write(&target, "four").unwrap_err().to_string().contains("does not say which files belong to it"));
    }

    #[test]
    fn parents_that_were_made_go_with_the_last_folder_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let first = StagedDir::create(dir.path().join("a/b/first"), "marker").unwrap();
        let second = StagedDir::create(dir.path().join("a/b/second"), "marker").unwrap();
        drop(second);
        assert!(first.path().exists());
        drop(first);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn one_command_at_a_time_writes_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        let first = StagedDir::create(&target, "marker").unwrap();
        let message = write(&target, "two").unwrap_err().to_string();
        assert!(message.contains("t: another resched command is writing it"), "{message}");
        assert!(first.path().exists(), "the other one lost nothing");
        drop(first);
        write(&target, "two").unwrap();
    }

    #[test]
    fn what_a_killed_process_set_aside_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("t");
        write(&target, "one").unwrap();
        fs::rename(&target, replaced(&target)).unwrap();
        fs::create_dir(partial(&target)).unwrap();
        drop(StagedDir::create(&target, "marker").unwrap());
        assert_eq!(names(dir.path()), ["t"]);
        fs::create_dir_all(replaced(&target).join("x")).unwrap();
        write(&target, "two").unwrap();
        assert_eq!(names(dir.path()), ["t"]);
        assert_eq!(fs::read_to_string(target.join("page.md")).unwrap(), "two");
    }
}
