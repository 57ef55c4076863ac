//! Some files of a folder that a command fills bit by bit, with the list that says which are ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::inventory::{FileEntry, Inventory, inside};
use super::super::marker::{self, Layout};
use super::lock::partial_of;
use super::{Out, refuse_link, write_file};
use crate::Error;

/// The files of a sweep or a search that are replaced together. `files.json` in the folder lists them, so that nothing else is
/// replaced or removed.
#[derive(Debug)]
pub struct OwnFiles {
    dir: PathBuf,
    force: bool,
    listed: Listed,
}

/// The content of the list.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Listed {
    format_version: u32,
    /// The files as they are, or will be.
    #[serde(deserialize_with = "inside")]
    files: Inventory,
    /// The files as they were, while they are being replaced.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "inside")]
    before: Inventory,
}

impl OwnFiles {
    /// The list in the folder.
    pub const LIST: &'static str = "files.json";

    const LAYOUT: Layout =
        Layout { what: "list of files", version: 1, by_others: false, again: "make the result again with --force" };

    /// Checks that the files in the folder `out` can be replaced. `expected` are names that will be written for sure.
    ///
    /// # Errors
    /// [`Error::Request`] if one of ours was changed, or one of these names is somebody else's, unless it may be replaced.
    pub fn open(out: impl Into<Out>, expected: &[&str]) -> Result<Self, Error> {
        let Out { path: dir, force } = out.into();
        let listed = match read(&dir) {
            Ok(listed) => listed,
            Err(_) if force => Listed::default(),
            Err(error) => return Err(error),
        };
        let files = Self { dir, force, listed };
        match files.in_the_way(expected.iter().copied()).first().filter(|_| !force) {
            None => Ok(files),
            Some(name) => Err(files.refuse(name)),
        }
    }

    /// The files that [`OwnFiles::replace`] would replace although resched did not write them so.
    pub fn in_the_way<'n>(&'n self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        let listed = self.listed.files.keys().chain(self.listed.before.keys()).map(String::as_str);
        let all: BTreeSet<&str> = listed.chain(names).collect();
        all.into_iter().filter(|name| self.is_foreign(name)).map(str::to_owned).collect()
    }

    /// True if there is a file of that name that resched did not write so.
    fn is_foreign(&self, name: &str) -> bool {
        let path = self.dir.join(name);
        let known = [&self.listed.files, &self.listed.before].into_iter().filter_map(|files| files.get(name));
        fs::symlink_metadata(&path).is_ok() && !known.into_iter().any(|entry| entry.is_content_of(&path))
    }

    fn refuse(&self, name: &str) -> Error {
        let problem = "was not written by resched, or was changed since; move it away, name another --out, or replace it with --force";
        Error::Request(format!("{}: {problem}", self.dir.join(name).display()))
    }

    /// Writes the files, by their path in the folder, in place of the earlier ones. Earlier ones without a successor are removed.
    /// If the command is killed meanwhile, the next one knows both.
    ///
    /// # Errors
    /// [`Error::Request`] if one of the names is somebody else's or a folder in it is a link, [`Error::Io`] if one cannot be written.
    pub fn replace(mut self, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
        let names = files.iter().map(|(name, _)| name.as_str());
        if let Some(name) = self.in_the_way(names).first().filter(|_| !self.force) {
            return Err(self.refuse(name));
        }
        let before = std::mem::take(&mut self.listed.files);
        self.listed.before.extend(before);
        self.listed.files = files.iter().map(|(name, bytes)| (name.clone(), FileEntry::of(bytes))).collect();
        self.write_list()?;
        self.remove_begun();
        for (name, bytes) in files {
            let path = self.dir.join(name);
            let folder = super::parent_of(&path);
            if folder != self.dir {
                refuse_link(folder)?;
            }
            fs::create_dir_all(folder).map_err(Error::io(folder, "make the folder"))?;
            write_file(&path, bytes)?;
        }
        for name in std::mem::take(&mut self.listed.before).keys() {
            if !self.listed.files.contains_key(name) {
                // It may be gone already.
                let _ = fs::remove_file(self.dir.join(name));
            }
        }
        self.write_list()
    }

    /// Removes what a killed command had begun of these files. The lock on the folder does not look into the folders in it.
    fn remove_begun(&self) {
        let names = || self.listed.files.keys().chain(self.listed.before.keys());
        let begun: BTreeSet<PathBuf> = names().map(|name| self.dir.join(name)).collect();
        let folders: BTreeSet<&Path> = begun.iter().map(|path| super::parent_of(path)).collect();
        for entry in folders.into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten()) {
            if partial_of(&entry.path()).is_some_and(|target| begun.contains(&target)) {
                // What cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn write_list(&mut self) -> Result<(), Error> {
        self.listed.format_version = Self::LAYOUT.version;
        let path = self.dir.join(Self::LIST);
        let bytes = marker::encode(&self.listed).map_err(|error| Error::io(&path, "write the file")(error.into()))?;
        write_file(&path, &bytes)
    }
}

fn read(dir: &Path) -> Result<Listed, Error> {
    let path = dir.join(OwnFiles::LIST);
    match crate::whole::marker(&path) {
        Ok(bytes) => marker::decode(&bytes, &OwnFiles::LAYOUT)
            .map_err(|unusable| Error::Request(format!("{}: {unusable}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Listed::default()),
        Err(error) => Err(Error::io(&path, "read")(error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn write(out: impl Into<Out>, files: &[(&str, &str)]) -> Result<(), Error> {
        let files: Vec<(String, Vec<u8>)> =
            files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        OwnFiles::open(out, &["a.csv"])?.replace(&files)
    }

    #[test]
    fn only_our_own_files_are_replaced_or_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        write(dir.path(), &[("a.csv", "1"), ("figures/x.svg", "1")]).unwrap();
        fs::write(path("figures/mine.svg"), "mine").unwrap();
        write(dir.path(), &[("a.csv", "2"), ("figures/y.svg", "2")]).unwrap();
        assert!(!path("figures/x.svg").exists() && path("figures/mine.svg").exists());
        fs::write(path("a.csv"), "edited").unwrap();
        let message = write(dir.path(), &[("a.csv", "3")]).unwrap_err().to_string();
        assert!(message.contains("a.csv: was not written by resched"), "{message}");
        assert_eq!(fs::read_to_string(path("a.csv")).unwrap(), "edited");
        write(&Out { path: dir.path().to_path_buf(), force: true }, &[("a.csv", "3")]).unwrap();
        fs::write(path("b.csv"), "mine").unwrap();
        assert!(write(dir.path(), &[("a.csv", "4"), ("b.csv", "4")]).is_err());
        assert_eq!(fs::read_to_string(path("b.csv")).unwrap(), "mine");
    }

    #[test]
    fn what_a_killed_command_had_begun_goes() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("a.csv", "1"), ("figures/x.svg", "1")];
        write(dir.path(), &files).unwrap();
        let begun = |name: &str| super::super::lock::partial(&dir.path().join(name));
        let (ours, others) = (begun("figures/x.svg"), begun("figures/mine.svg"));
        fs::write(&ours, "half").unwrap();
        fs::write(&others, "half").unwrap();
        write(dir.path(), &files).unwrap();
        assert!(!ours.exists() && others.exists(), "another file may be under construction");
    }

    /// As a killed command leaves it: the list knows both contents, and only some files are new.
    #[test]
    fn a_killed_command_is_no_obstacle() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[("a.csv", "1"), ("b.csv", "1")]).unwrap();
        let entries = |text: &str| -> Inventory {
            ["a.csv", "b.csv"].map(|name| (name.to_owned(), FileEntry::of(text.as_bytes()))).into()
        };
        let listed = Listed { format_version: 1, files: entries("2"), before: entries("1") };
        fs::write(dir.path().join(OwnFiles::LIST), marker::encode(&listed).unwrap()).unwrap();
        fs::write(dir.path().join("a.csv"), "2").unwrap();
        write(dir.path(), &[("a.csv", "3")]).unwrap();
        assert!(!dir.path().join("b.csv").exists());
    }
}
