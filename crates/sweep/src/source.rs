//! The source of a sweep: a workload file or a trace, by its path.

use std::path::{Path, PathBuf};

/// A workload file or a trace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourcePath {
    Workload(PathBuf),
    Trace(PathBuf),
}

impl SourcePath {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Workload(path) | Self::Trace(path) => path,
        }
    }
}
