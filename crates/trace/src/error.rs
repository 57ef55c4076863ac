//! What can go wrong with a trace or a source file.

use std::path::{Path, PathBuf};

/// An error that names the file, the place in it, what was expected and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read, written, created or renamed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as in "cannot *open*".
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The request cannot be carried out as it was made (exit status 2).
    #[error("{0}")]
    Request(String),
    /// A source file does not hold what it should.
    #[error("{path}: {place}expected {expected}, found {found}; {remedy}")]
    Source {
        /// The file, with the part of it for a file that holds several (`file::part`).
        path: String,
        /// Where in it ("line 12, " or empty).
        place: String,
        /// What was expected there.
        expected: String,
        /// What stood there instead.
        found: String,
        /// What the user can do.
        remedy: String,
    },
    /// A folder is no trace, or a trace that is damaged or of another version.
    #[error("{}: {problem}; {remedy}", path.display())]
    Trace {
        /// The trace's folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// A folder is no run, or a run that is damaged or of another version.
    #[error("{}: {problem}; {remedy}", path.display())]
    Run {
        /// The run's folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// A table could not be encoded or decoded.
    #[error("{}: the table cannot be {action}: {message}; {}", path.display(), table_remedy(action))]
    Table {
        /// The Parquet file.
        path: PathBuf,
        /// "read" or "written".
        action: &'static str,
        /// What the Parquet or Arrow library said.
        message: String,
    },
}

fn table_remedy(action: &str) -> &'static str {
    match action {
        "read" => "make the folder that it is in again",
        _ => "make room, or name another --out",
    }
}

impl Error {
    /// An [`Error::Io`] about `path`; for use in `map_err`.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { path, action, source }
    }

    /// Whether the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        matches!(self, Error::Request(_))
    }
}
