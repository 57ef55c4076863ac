//! Files and folders that appear under their final name only when whole, one command at a time.
//!
//! | type | use it for |
//! |---|---|
//! | [`StagedDir`] | a folder that replaces an earlier result as a whole: a trace, a run, a report |
//! | [`OwnFiles`] | some files of a folder that a command fills bit by bit: a sweep |
//! | [`StagedFile`] | a file that is written bit by bit |
//! | [`write_file`] | a small file inside a folder that is ours |
//! | [`Scratch`] | a folder for the time of the command |
//!
//! Each of them resolves its target once, by [`place`], before it moves anything.
//!
//! A [`FolderLock`] keeps other commands away. As long as it is held, hidden names that a killed command left are nobody's, and
//! are removed.

mod claim;
mod lock;
mod lock_file;
mod own_files;
mod place;
mod scratch;
mod staged_dir;
mod staged_file;
mod unfinished;

pub use claim::{Claim, Out, changed_files};
pub use lock::{FolderLock, is_hidden};
pub use own_files::OwnFiles;
pub use place::{is_same_place, place, refuse_link};
pub use scratch::Scratch;
pub use staged_dir::StagedDir;
pub use staged_file::{StagedFile, write_file};
pub use unfinished::remove_unfinished;

use std::fs::{self, File};
use std::path::Path;

use crate::Error;

/// The folder that `path` is in.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder durable.
///
/// # Errors
/// [`Error::Io`].
pub fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io(dir, "write the folder to the disk"))
}

/// Removes a file, a link, or a folder with all in it.
fn remove_any(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// What is in the way of writing into `folder`: a file on its path.
fn check_parents(folder: &Path) -> Result<(), Error> {
    match folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir()) {
        Some(file) => {
            let problem = "expected a folder to write into, found a file; name another --out";
            Err(Error::Request(format!("{}: {problem}", file.display())))
        }
        None => Ok(()),
    }
}
