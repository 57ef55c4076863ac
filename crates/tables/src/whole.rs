//! Files that are read whole: regular files only, and only up to a limit.
//!
//! A pipe may never end or never begin, and a device such as `/dev/zero` has no end. Whoever reads a file whole reads it through here.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use crate::limits::{Amount, Limit};

/// The most bytes of a file that people write: a cluster file, a sweep file, rules, queues, the output of `validate`, a key.
pub const MOST_TEXT: u64 = 16 << 20;
/// The most bytes of a workload file, which may list each of its jobs.
pub const MOST_WORKLOAD: u64 = 64 << 20;
/// The most bytes of the marker of a result, which may list each of its sources, or of another JSON file of a result.
pub const MOST_MARKER: u64 = 512 << 20;
/// The most commas in such a file: each stands for a value, and a value may take many times the bytes of its text.
pub const MOST_COMMAS: usize = 16_000_000;

/// The limits of files that are read whole.
pub const LIMITS: &[Limit] = &[
    Limit::bytes(
        "cluster, sweep, queue or allocation file, rules, key, or output of `validate`",
        MOST_TEXT,
        "The request is refused. A pipe or a device instead of such a file is refused, too.",
    ),
    Limit::bytes("workload file", MOST_WORKLOAD, "The request is refused. It may list each of its jobs."),
    Limit::bytes(
        "JSON file of a result, such as `trace.json` or `run.json`",
        MOST_MARKER,
        "The result cannot be read. An ingest that would write a larger one ends with an error.",
    ),
    Limit::number("commas in such a file", MOST_COMMAS as u64, "The result cannot be read."),
];

/// Opens a regular file for reading. Links are followed.
///
/// # Errors
/// That of the system; [`ErrorKind::InvalidInput`] if it is a pipe, a socket or a device.
pub fn open(path: &Path) -> Result<File> {
    // Looked at before it is opened: to open a pipe waits for somebody who writes to it.
    check_kind(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

fn check_kind(found: &fs::Metadata) -> Result<()> {
    // The system has an error of its own for folders.
    if found.is_file() || found.is_dir() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidInput, "expected a file, found a pipe or a device; save it to a file first"))
}

/// The bytes of a regular file, of which there may be at most `most`.
///
/// # Errors
/// As [`open`]; [`ErrorKind::FileTooLarge`] if there are more.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length <= most {
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

/// The text of a file that people write, of at most [`MOST_TEXT`].
///
/// # Errors
/// As [`bytes()`]; [`ErrorKind::InvalidData`] if it is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    text_up_to(path, MOST_TEXT)
}

/// The text of a file of at most `most` bytes.
///
/// # Errors
/// As [`text`].
pub fn text_up_to(path: &Path, most: u64) -> Result<String> {
    let not_a_text = |_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes(path, most)?).map_err(not_a_text)
}

/// The bytes of a JSON file of a result: at most [`MOST_MARKER`], and [`MOST_COMMAS`].
///
/// # Errors
/// As [`bytes()`].
pub fn marker(path: &Path) -> Result<Vec<u8>> {
    marker_up_to(path, MOST_MARKER, MOST_COMMAS)
}

fn marker_up_to(path: &Path, most: u64, commas: usize) -> Result<Vec<u8>> {
    let again = |error: Error| match error.kind() {
        ErrorKind::FileTooLarge => Error::new(error.kind(), format!("{error}; make its folder again")),
        _ => error,
    };
    let bytes = bytes(path, most).map_err(again)?;
    check_commas(&bytes, commas).map_err(again)?;
    Ok(bytes)
}

/// Checks that [`marker`] would read these bytes.
///
/// # Errors
/// [`ErrorKind::FileTooLarge`].
pub fn check_marker(bytes: &[u8]) -> Result<()> {
    if bytes.len() as u64 > MOST_MARKER {
        return Err(too_large(MOST_MARKER));
    }
    check_commas(bytes, MOST_COMMAS)
}

fn too_large(most: u64) -> Error {
    let problem = format!("expected a file of at most {}, found a larger one", Amount::Bytes(most));
    Error::new(ErrorKind::FileTooLarge, problem)
}

/// Refuses JSON of more than `most` commas.
fn check_commas(bytes: &[u8], most: usize) -> Result<()> {
    // A short text cannot have as many.
    if bytes.len() <= most || bytes.iter().filter(|&&byte| byte == b',').count() <= most {
        return Ok(());
    }
    let problem = format!("expected a file of at most {most} commas, found more");
    Err(Error::new(ErrorKind::FileTooLarge, problem))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(bytes(&path, 5).unwrap(), b"12345");
        let error = bytes(&path, 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "expected a file of at most 4 bytes, found a larger one");
        for (most, read) in [
            (MOST_TEXT, (|path| text(path).map(String::into_bytes)) as fn(&Path) -> Result<Vec<u8>>),
            (MOST_WORKLOAD, |path| text_up_to(path, MOST_WORKLOAD).map(String::into_bytes)),
        ] {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(most).unwrap();
            assert_eq!(read(&path).unwrap().len() as u64, most);
            file.set_len(most + 1).unwrap();
            assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
        }
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MOST_MARKER + 1).unwrap();
        let error = marker(&path).unwrap_err().to_string();
        assert_eq!(error, "expected a file of at most 512 MiB, found a larger one; make its folder again");
        assert!(check_commas(b"[1,2,3]", 2).is_ok());
        assert!(check_commas(b"[1,2,3,4]", 2).unwrap_err().to_string().contains("at most 2 commas"));
    }

    #[test]
    fn a_marker_is_read_up_to_its_bytes_and_commas_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        fs::write(&path, "[1,2,3]").unwrap();
        assert_eq!(marker_up_to(&path, 7, 2).unwrap(), b"[1,2,3]");
        let problem = |most, commas| marker_up_to(&path, most, commas).unwrap_err().to_string();
        assert_eq!(problem(6, 2), "expected a file of at most 6 bytes, found a larger one; make its folder again");
        assert_eq!(problem(7, 1), "expected a file of at most 1 commas, found more; make its folder again");
    }

    /// The largest marker takes half a gigabyte, so its bytes are no commas.
    #[test]
    fn as_many_commas_as_the_limit_are_written_and_not_one_more() {
        let mut marker = ",".repeat(MOST_COMMAS).into_bytes();
        assert!(check_marker(&marker).is_ok());
        marker.push(b',');
        let problem = check_marker(&marker).unwrap_err().to_string();
        assert_eq!(problem, "expected a file of at most 16000000 commas, found more");
    }

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link, Path::new("/dev/zero"), Path::new("/dev/null")] {
            let error = bytes(path, 5).unwrap_err();
            assert!(error.to_string().contains("expected a file, found a pipe or a device"), "{error}");
        }
        assert_eq!(bytes(&dir.path().join("missing"), 5).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(text(dir.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        fs::write(link.with_file_name("bad"), [0xff]).unwrap();
        assert_eq!(text(&dir.path().join("bad")).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
