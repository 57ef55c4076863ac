//! Checks a result as a whole: its marker, and each of its files against length and hashes.

use std::fs;
use std::path::Path;

use super::inventory::{BLOCK, FileEntry, Inventory};
use super::marker::{Sealed, listed, sealed};
use crate::{Error, whole};

/// What was found in the folder of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// The files that were compared, the marker included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong, by file: its path in the folder, and the problem.
    pub damaged: Vec<(String, String)>,
    /// True if the marker lists no hashes, so that only the marker itself could be looked at.
    pub unlisted: bool,
}

/// Reads every file of the result in `dir` whose marker has that name.
///
/// # Errors
/// [`Error::Io`] if the marker cannot be read.
pub fn verify(dir: &Path, marker: &str) -> Result<Verified, Error> {
    let path = dir.join(marker);
    let bytes = whole::marker(&path).map_err(Error::io(&path, "read"))?;
    let mut verified = Verified { files: 1, bytes: bytes.len() as u64, ..Verified::default() };
    match sealed(&bytes) {
        Sealed::Whole => match listed(&bytes) {
            Some(files) => verified.compare(dir, &files),
            None => verified.unlisted = true,
        },
        Sealed::Absent if serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() => verified.unlisted = true,
        Sealed::Absent | Sealed::Broken => {
            let problem = "it is damaged, or was changed after resched wrote it".to_owned();
            verified.damaged.push((marker.to_owned(), problem));
        }
    }
    Ok(verified)
}

impl Verified {
    fn compare(&mut self, dir: &Path, files: &Inventory) {
        for (name, entry) in files {
            self.files += 1;
            self.bytes = self.bytes.saturating_add(entry.bytes);
            if let Some(problem) = problem_of(&dir.join(name), entry) {
                self.damaged.push((name.clone(), problem));
            }
        }
    }
}

/// What is wrong with the file at `path`, if anything is.
fn problem_of(path: &Path, expected: &FileEntry) -> Option<String> {
    // First what costs nothing: a pipe in the place of a file would never end.
    let found = match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Some("expected a file, found something else".to_owned()),
        Ok(found) if found.len() != expected.bytes => {
            return Some(format!("expected {} bytes, found {}", expected.bytes, found.len()));
        }
        Ok(_) => FileEntry::of_file(path),
        Err(error) => Err(error),
    };
    let found = match found {
        Ok(found) if found == *expected => return None,
        Ok(found) => found,
        Err(error) => return Some(format!("it cannot be read ({error})")),
    };
    let first = found.xxh64.iter().zip(&expected.xxh64).position(|(found, expected)| found != expected);
    Some(match first {
        Some(block) => {
            let from = block as u64 * BLOCK as u64;
            let to = (from + BLOCK as u64).min(found.bytes) - 1;
            format!("bytes {from} to {to} are not those that resched wrote")
        }
        None => "its SHA-256 is not that of the file that resched wrote".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use super::super::marker;
    use super::*;

    #[test]
    fn each_damage_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let files: Inventory = ["a", "b", "c"].map(|name| (name.to_owned(), FileEntry::of(name.as_bytes()))).into();
        for name in files.keys() {
            fs::write(dir.path().join(name), name).unwrap();
        }
        fs::write(dir.path().join("m.json"), marker::encode(&BTreeMap::from([("files", &files)])).unwrap()).unwrap();
        let whole = verify(dir.path(), "m.json").unwrap();
        assert_eq!((whole.files, whole.damaged.len(), whole.unlisted), (4, 0, false));
        fs::remove_file(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("b"), "bb").unwrap();
        fs::write(dir.path().join("c"), "x").unwrap();
        let found = verify(dir.path(), "m.json").unwrap().damaged;
        let has = |place: usize, name: &str, part: &str| found[place].0 == name && found[place].1.contains(part);
        assert!(has(0, "a", "cannot be read") && has(1, "b", "expected 1 bytes, found 2"), "{found:?}");
        assert!(has(2, "c", "bytes 0 to 0 are not those"), "{found:?}");
        fs::write(dir.path().join("m.json"), "{}").unwrap();
        assert!(verify(dir.path(), "m.json").unwrap().unlisted);
        fs::write(dir.path().join("m.json"), "{").unwrap();
        assert_eq!(verify(dir.path(), "m.json").unwrap().damaged[0].0, "m.json");
    }
}
