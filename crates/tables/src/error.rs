//! The errors of reading and writing traces and source files.

use std::path::{Path, PathBuf};

/// An error that names the file, the place in it, what was expected and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read, written, created or renamed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The action that failed, as in "cannot *open*".
        action: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The request itself is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// The content of a source file is not what resched expects.
    #[error("{path}: {place}expected {expected}, found {found}; {remedy}")]
    Source {
        /// The file. If the file holds several, also the part (`file::part`).
        path: String,
        /// The place in the file ("line 12, " or empty).
        place: String,
        /// What was expected there.
        expected: String,
        /// What was found instead.
        found: String,
        /// What you can do.
        remedy: String,
    },
    /// A folder is not a trace, or the trace is damaged or of another version.
    #[error("{}: {problem}; {remedy}", path.display())]
    Trace {
        /// The trace's folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What you can do.
        remedy: String,
    },
    /// A folder is not a run, or the run is damaged or of another version.
    #[error("{}: {problem}; {remedy}", path.display())]
    Run {
        /// The run's folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What you can do.
        remedy: String,
    },
    /// A table could not be encoded or decoded.
    #[error("{}: the table cannot be {action}: {message}; {}", path.display(), table_remedy(action))]
    Table {
        /// The Parquet file.
        path: PathBuf,
        /// "read" or "written".
        action: &'static str,
        /// The message of the Parquet or Arrow library.
        message: String,
    },
}

fn table_remedy(action: &str) -> &'static str {
    match action {
        "read" => "make its folder again",
        _ => "free some disk space, or name another --out",
    }
}

impl Error {
    /// An [`Error::Io`] about `path`; for use in `map_err`.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { path, action, source }
    }

    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        matches!(self, Error::Request(_))
    }
}
