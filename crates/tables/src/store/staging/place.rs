//! The real place of a result: resolved once, before anything is moved.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::parent_of;
use crate::Error;

/// The place that `path` names, for a result that will be moved there. It has no `..` in it, and no link: a link to a folder or a file is
/// followed, so that the result goes where the link leads. `path` itself is returned, without a `.` at its end, if nothing is to
/// be resolved. Else a folder on the way, which is set aside while it is replaced, could take the rest of the path with it.
///
/// # Errors
/// [`Error::Request`] if a link leads nowhere, or `..` stands behind a folder that does not exist.
pub fn place(path: &Path) -> Result<PathBuf, Error> {
    let refuse =
        |at: &Path, problem: &str| Err(Error::Request(format!("{}: {problem}; name another --out", at.display())));
    let plain: PathBuf = path.components().collect();
    if !plain.components().any(|part| part == Component::ParentDir) && !plain.ancestors().any(is_link) {
        return Ok(plain);
    }
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = plain.as_path();
    loop {
        if let Ok(real) = fs::canonicalize(existing) {
            return Ok(missing.iter().rev().fold(real, |place, name| place.join(name)));
        }
        if is_link(existing) {
            return refuse(existing, "expected a folder or a file, found a link that leads nowhere");
        }
        let Some(name) = existing.file_name() else {
            return refuse(path, "expected `..` only after folders that exist");
        };
        missing.push(name);
        existing = parent_of(existing);
    }
}

/// True if two paths lead to the same thing, which exists.
pub fn is_same_place(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).ok().zip(fs::canonicalize(other).ok()).is_some_and(|(one, other)| one == other)
}

/// Refuses a folder inside a result that is a link: whoever made the result decides where it leads, and not you.
///
/// # Errors
/// [`Error::Request`].
pub fn refuse_link(inside: &Path) -> Result<(), Error> {
    if !is_link(inside) {
        return Ok(());
    }
    let problem = "expected a folder or nothing, found a link; links inside a folder of results are not followed: remove it, or name \
                   another --out";
    Err(Error::Request(format!("{}: {problem}", inside.display())))
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_place_has_neither_parents_nor_links_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(real.join("R/fifo")).unwrap();
        std::os::unix::fs::symlink("R/fifo", real.join("L")).unwrap();
        std::os::unix::fs::symlink("nowhere", real.join("broken")).unwrap();
        for (given, expected) in [
            ("R/fifo", "R/fifo"),
            ("R/fifo/.", "R/fifo"),
            ("R/./fifo/", "R/fifo"),
            ("new/below/it", "new/below/it"),
            ("R/../R", "R"),
            ("R/fifo/..", "R"),
            ("R/fifo/../../T", "T"),
            ("R/../new/below", "new/below"),
            ("L", "R/fifo"),
            ("L/", "R/fifo"),
            ("L/new", "R/fifo/new"),
            ("L/..", "R"),
        ] {
            assert_eq!(place(&real.join(given)).unwrap(), real.join(expected), "{given}");
        }
        for (given, problem) in [
            ("new/../T", "`..` only after folders that exist"),
            ("new/..", "`..` only after folders that exist"),
            ("broken", "broken: expected a folder or a file, found a link that leads nowhere"),
            ("broken/T", "found a link that leads nowhere"),
        ] {
            let error = place(&real.join(given)).unwrap_err();
            assert!(error.is_request() && error.to_string().contains(problem), "{given}: {error}");
        }
        assert_eq!(place(Path::new(".")).unwrap(), Path::new("."));
        assert_eq!(place(Path::new("surely/new")).unwrap(), Path::new("surely/new"));
    }

    #[test]
    fn one_place_has_many_names() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("T")).unwrap();
        std::os::unix::fs::symlink("T", dir.path().join("L")).unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(is_same_place(&at("T"), &at("L")) && is_same_place(&at("T/../T/."), &at("T")));
        assert!(!is_same_place(&at("T"), &at("U")) && !is_same_place(&at("U"), &at("U")));
        assert!(refuse_link(&at("T")).is_ok() && refuse_link(&at("U")).is_ok());
        assert!(refuse_link(&at("L")).unwrap_err().to_string().contains("found a link"));
    }
}
