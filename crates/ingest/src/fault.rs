//! The faults of the files of an ingest, and their remedies.

use std::path::Path;

use super::near_misses::NearMiss;
use crate::formats::{FORMATS, Format, TABLE_FORMATS};
use resched_tables::Error;
use resched_tables::sink::Damage;

/// A fault in a file's content. In a folder, it is counted. If you named the file and it gives nothing, it is an error.
pub(super) struct Fault {
    pub(super) cause: &'static str,
    pub(super) error: Error,
}

impl Fault {
    /// The cause of a file without jobs.
    pub(super) const WITHOUT_JOBS: &str = "file-without-jobs";
    /// The cause of a file in no known format.
    pub(super) const UNRECOGNISED: &str = "unrecognised-file";

    fn new(cause: &'static str, path: &Path, found: &str, remedy: String) -> Self {
        let error = Error::Source {
            path: path.display().to_string(),
            place: String::new(),
            expected: "job history".to_owned(),
            found: found.to_owned(),
            remedy,
        };
        Self { cause, error }
    }

    pub(super) fn empty(path: &Path) -> Self {
        Self::new("empty-file", path, "an empty file", "copy it from the cluster again, or leave it out".to_owned())
    }

    pub(super) fn unrecognised(path: &Path) -> Self {
        let remedy = format!("the known formats are {}; force one with --format, or leave it out", format_names());
        Self::new(Self::UNRECOGNISED, path, "content in none of the known formats", remedy)
    }

    /// A file in no known format that is almost one.
    pub(super) fn near_miss(path: &Path, known: &NearMiss) -> Self {
        Self::new(Self::UNRECOGNISED, path, known.found, known.remedy.to_owned())
    }

    pub(super) fn cut(path: &Path) -> Self {
        let found = "a packed file that is cut or damaged before its first job";
        Self::new("cut-file", path, found, "copy it from the cluster again, or leave it out".to_owned())
    }

    /// A table among files that are read one by one.
    pub(super) fn mixed(path: &Path, other: &str) -> Error {
        Error::Request(format!(
            "{}: expected files of one format, found this one beside a {other}; ingest it into another trace",
            path.display()
        ))
    }

    /// A file that has changed.
    pub(super) fn changed(path: &Path, expected: String, found: String) -> Error {
        let remedy = "ingest again when no other program writes it".to_owned();
        Error::Source { path: path.display().to_string(), place: String::new(), expected, found, remedy }
    }

    /// Tables that hold no job and no machine.
    pub(super) fn without_facts(title: &str, path: Option<&Path>) -> Error {
        let path = path.unwrap_or(Path::new("."));
        Self::new(Self::WITHOUT_JOBS, path, &format!("a {title} without a single job"), "leave it out".to_owned()).error
    }

    /// A file of which no record could be read, with the first that could not.
    pub(super) fn without_jobs(path: &Path, format: &Format, damage: Option<Damage>) -> Self {
        let Some(Damage { place, expected, found, remedy }) = damage else {
            let found = format!("a {} without a single job", format.title);
            return Self::new(Self::WITHOUT_JOBS, path, &found, "leave it out".to_owned());
        };
        let found = format!("{found} (a {} of which no job can be read)", format.title);
        Self {
            cause: Self::WITHOUT_JOBS,
            error: Error::Source { path: path.display().to_string(), place, expected, found, remedy },
        }
    }
}

pub(super) fn no_history(folder: &Path, found: String) -> Error {
    Error::Source {
        path: folder.display().to_string(),
        place: String::new(),
        expected: "a folder with job histories".to_owned(),
        found,
        remedy: format!("the known formats are {}; name another folder", format_names()),
    }
}

/// The names of all formats, for messages.
pub(super) fn format_names() -> String {
    let names = FORMATS.iter().map(|format| format.name).chain(TABLE_FORMATS.iter().map(|format| format.name));
    names.collect::<Vec<_>>().join(", ")
}
