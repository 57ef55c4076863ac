//! A file under construction.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::lock::partial;
use super::unfinished::Temporary;
use super::{FolderLock, Out, parent_of, place, sync_dir};
use crate::{Error, whole};

/// A file under construction, which no other command can write meanwhile. If you drop it without [`StagedFile::commit`], it leaves
/// nothing behind. Use it for a file that you asked for by name, and [`write_file`] inside a folder that is ours.
#[derive(Debug)]
pub struct StagedFile {
    // Dropped before the lock, as another command may clear the place after that.
    staging: Temporary,
    file: File,
    target: PathBuf,
    _lock: FolderLock,
}

impl StagedFile {
    /// Starts a file that will be `out`.
    ///
    /// # Errors
    /// [`Error::Request`] if something is there (a file, unless `out` may be replaced), or a file cannot be made beside it. Missing folders are made.
    pub fn create(out: impl Into<Out>) -> Result<Self, Error> {
        Self::with(out, OpenOptions::new())
    }

    /// Like [`StagedFile::create`], but only you may read the file.
    ///
    /// # Errors
    /// As [`StagedFile::create`].
    pub fn create_private(out: impl Into<Out>) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::with(out, options)
    }

    fn with(out: impl Into<Out>, mut options: OpenOptions) -> Result<Self, Error> {
        let out = out.into();
        Self::check(&out)?;
        let target = place(&out.path)?;
        let folder = parent_of(&target);
        let lock = FolderLock::beside(&target)?;
        let made = Temporary::make(partial(&target), |path| options.write(true).create_new(true).open(path));
        let (staging, file) = made.map_err(|error| {
            let folder = folder.display();
            Error::Request(format!("{folder}: cannot write into this folder ({error}); name another --out"))
        })?;
        Ok(Self { staging, file, target, _lock: lock })
    }

    /// Checks whether `out` may be written. Without `--force`, no file may be there. A file of a result is never replaced.
    ///
    /// # Errors
    /// [`Error::Request`] that names what is in the way.
    pub fn check(out: impl Into<Out>) -> Result<(), Error> {
        let Out { path, force } = out.into();
        let refuse = |problem: &str| Err(Error::Request(format!("{}: {problem}", path.display())));
        if path.is_dir() || path.file_name().is_none() {
            return refuse("expected the name of a file to write, found a folder; name another --out");
        }
        let real = place(&path)?;
        if fs::symlink_metadata(&real).is_err() {
            return Ok(());
        }
        if !real.is_file() {
            // A file that is renamed over a device, a pipe or a link to nothing would take its place.
            return refuse("expected a new file or an earlier one, found something else; name another --out");
        }
        if let Some(marker) = marker_beside(&real) {
            return refuse(&format!("belongs to the result that {marker} describes; name another --out"));
        }
        if force { Ok(()) } else { refuse("exists; name another --out, or replace it with --force") }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io(&self.target, "write the file"))
    }

    /// The file, for writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes the file durable and gives it its final name.
    ///
    /// # Errors
    /// [`Error::Io`]; an earlier file then stays.
    pub fn commit(self) -> Result<(), Error> {
        self.file.sync_all().map_err(Error::io(&self.target, "write to the disk"))?;
        fs::rename(self.staging.path(), &self.target).map_err(Error::io(&self.target, "give the file its name"))?;
        sync_dir(parent_of(&self.target))
    }
}

/// The name of the sealed marker in the folder of `path` that lists the file, or that the file is.
fn marker_beside(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    fs::read_dir(parent_of(path)).ok()?.flatten().find_map(|entry| {
        let marker = entry.file_name().to_string_lossy().into_owned();
        let files = marker.ends_with(".json").then(|| whole::marker(&entry.path()).ok()).flatten();
        let files = super::super::marker::listed(&files?)?;
        (marker == name || files.contains_key(&*name)).then_some(marker)
    })
}

/// Writes a small file whole or not at all: temporary name, fsync, rename.
///
/// # Errors
/// [`Error::Io`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let (temporary, mut file) = Temporary::make(partial(path), |path| File::create_new(path))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(temporary.path(), path)
    };
    write().map_err(Error::io(path, "write the file"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use super::super::super::{FileEntry, marker};
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all_and_replaces_nothing_of_yours() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.json");
        drop(StagedFile::create(&target).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        for (text, force) in [("one", false), ("two", true)] {
            let mut staged = StagedFile::create(&Out { path: target.clone(), force }).unwrap();
            staged.file().write_all(text.as_bytes()).unwrap();
            staged.commit().unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let message = StagedFile::create(&target).unwrap_err().to_string();
        assert!(message.contains("exists; name another --out, or replace it with --force"), "{message}");
        assert!(StagedFile::create(dir.path()).unwrap_err().is_request());
        assert!(StagedFile::create(target.join("below")).unwrap_err().is_request());
    }

    #[test]
    fn a_file_of_a_result_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let files = BTreeMap::from([("jobs.parquet", FileEntry::default())]);
        fs::write(dir.path().join("trace.json"), marker::encode(&BTreeMap::from([("files", files)])).unwrap()).unwrap();
        for name in ["trace.json", "jobs.parquet"] {
            let path = dir.path().join(name);
            fs::write(&path, fs::read(&path).unwrap_or_default()).unwrap();
            let message = StagedFile::create(&Out { path, force: true }).unwrap_err().to_string();
            assert!(message.contains("belongs to the result that trace.json describes"), "{message}");
        }
    }
}
