//! The source of a sweep: a workload file or a trace, by its path.

use std::path::{Path, PathBuf};

use resched_replay::{Engine, Source};

use crate::Error;

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

    /// The engine that replays it. A trace is opened to find out.
    fn engine(&self) -> Result<Engine, Error> {
        match self {
            Self::Workload(_) => Ok(Engine::Hadoop),
            Self::Trace(path) => Ok(Source::open(path)?.engine()),
        }
    }
}

/// The engine of all sources of a sweep. It decides which policy a name means.
///
/// # Errors
/// [`Error::Request`] if a trace cannot be opened, or if the sources are of both kinds.
pub(crate) fn engine_of(sources: &[SourcePath]) -> Result<Engine, Error> {
    let engines = sources.iter().map(SourcePath::engine).collect::<Result<Vec<_>, _>>()?;
    let first =
        |engine| sources.iter().zip(&engines).find(|(_, source)| **source == engine).map(|(source, _)| source.path());
    match (first(Engine::Hadoop), first(Engine::Batch)) {
        (Some(hadoop), Some(batch)) => Err(Error::Request(format!(
            "expected sources of one kind, found jobs of Hadoop ({}) and a production trace ({}), which have other policies and \
             metrics; write a sweep for each",
            hadoop.display(),
            batch.display()
        ))),
        (None, Some(_)) => Ok(Engine::Batch),
        _ => Ok(Engine::Hadoop),
    }
}
