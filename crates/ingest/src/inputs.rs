//! The sources that were found.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::origins::Origins;

/// The files to read, in order.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Files that may be histories.
    pub(super) files: Vec<InputFile>,
    /// Confs that were named directly, by job id.
    pub(super) confs: BTreeMap<String, PathBuf>,
    /// The folders that were named.
    pub(super) folders: Vec<PathBuf>,
    /// Where their bytes come from.
    pub(super) origins: Arc<Origins>,
    /// The number of entries of folders that are neither file nor folder, or links that lead nowhere.
    pub(super) unreadable: u64,
    /// The number of links in folders that lead out of them. They are not followed.
    pub(super) outside: u64,
}

/// A file to read.
#[derive(Debug, Clone)]
pub(super) struct InputFile {
    pub(super) path: PathBuf,
    /// The files that continue it, in order, if it is a log that rolls over.
    pub(super) rest: Vec<PathBuf>,
    /// Its size as stored, with that of `rest`.
    pub(super) bytes: u64,
    /// The folder of [`Inputs::folders`] that it was found in; `None` if it was named directly.
    pub(super) folder: Option<usize>,
}
