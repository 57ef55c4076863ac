//! The place of a sweep's plan and cells: a folder, or an address of an object store.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use resched_objects::{Address, Objects, Url};
use resched_tables::store::{is_hidden, refuse_link, write_file};
use resched_tables::whole;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The most bytes of a plan, which lists each cell, or of a file with results of cells.
pub(crate) const MOST_BYTES: u64 = 2 << 30;

/// A place that several machines can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Location {
    /// A folder.
    Folder(PathBuf),
    /// A prefix in an object store: `s3://bucket/prefix`.
    Objects(Url),
}

impl Location {
    /// Makes a location of a folder's path, which becomes absolute, or of an address with a scheme. `file://` is a folder.
    ///
    /// # Errors
    /// A text about the problem of the address.
    pub fn new(path: PathBuf) -> Result<Self, String> {
        Ok(match Address::new(path)? {
            Address::Path(path) => Self::Folder(std::path::absolute(&path).unwrap_or(path)),
            Address::Objects(url) => Self::Objects(url),
        })
    }

    /// Opens it. A folder need not exist yet.
    pub(crate) fn open(&self) -> Result<Place, Error> {
        Ok(match self {
            Self::Folder(path) => Place::Folder(path.clone()),
            Self::Objects(url) => Place::Objects(Objects::open(url)?),
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Objects(url) => url.fmt(f),
        }
    }
}

impl From<Location> for String {
    fn from(location: Location) -> Self {
        location.to_string()
    }
}

impl TryFrom<String> for Location {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(text.into())
    }
}

/// An open [`Location`]. Files are named by their path in it, with `/`. A file appears whole or not at all.
#[derive(Debug)]
pub(crate) enum Place {
    Folder(PathBuf),
    Objects(Objects),
}

impl Place {
    /// The bytes of a file; `None` if it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        match self {
            Self::Folder(folder) => read_file(&folder.join(name), MOST_BYTES),
            Self::Objects(objects) => Ok(objects.read(name, MOST_BYTES)?),
        }
    }

    /// The bytes of several files, in the order of `names`.
    pub(crate) fn read_all(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        match self {
            Self::Folder(folder) => names.iter().map(|name| read_file(&folder.join(name), MOST_BYTES)).collect(),
            Self::Objects(objects) => Ok(objects.read_all(names, MOST_BYTES)?),
        }
    }

    /// Writes a file, and makes its folder if needed.
    pub(crate) fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
                    refuse_link(parent)?;
                    fs::create_dir_all(parent).map_err(resched_tables::Error::io(parent, "make"))?;
                }
                Ok(write_file(&path, &bytes)?)
            }
            Self::Objects(objects) => Ok(objects.write(name, bytes)?),
        }
    }

    /// Removes the half-written files of killed processes from a folder of this place. Their names begin with a dot.
    pub(crate) fn sweep_up(&self, folder: &str) -> Result<(), Error> {
        // An object store has no half-written objects.
        let Self::Folder(path) = self else { return Ok(()) };
        let path = path.join(folder);
        refuse_link(&path)?;
        if !path.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&path).map_err(resched_tables::Error::io(&path, "list"))?.flatten() {
            if is_hidden(&entry.file_name()) {
                // A file that cannot be removed stays; it does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// A file's path or address, for messages.
    pub(crate) fn shown(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Objects(objects) => objects.shown(name),
        }
    }
}

fn read_file(path: &Path, most: u64) -> Result<Option<Vec<u8>>, Error> {
    match whole::bytes(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(resched_tables::Error::io(path, "read")(error).into()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The real limit needs gigabytes, so only the file beyond it is real: it has no bytes on the disk.
    #[test]
    fn a_file_of_cells_is_read_up_to_the_limit_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cells.json");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_file(&path, 5).unwrap(), Some(b"12345".to_vec()));
        let problem = read_file(&path, 4).unwrap_err().to_string();
        assert!(problem.contains("cells.json") && problem.contains("at most 4 bytes, found a larger one"), "{problem}");
        fs::File::options().write(true).open(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let problem = Place::Folder(dir.path().to_owned()).read("cells.json").unwrap_err().to_string();
        assert!(problem.contains("at most 2 GiB, found a larger one"), "{problem}");
    }

    #[test]
    fn a_location_is_a_folder_or_an_address() {
        let text = |given: &str| Location::new(given.into()).map(String::from);
        assert_eq!(text("/a/b").unwrap(), "/a/b");
        assert_eq!(text("file:///a/b").unwrap(), "/a/b");
        assert_eq!(text("s3://bucket/a/b").unwrap(), "s3://bucket/a/b");
        assert!(Path::new(&text("a").unwrap()).is_absolute());
        assert!(text("ftp://a/b").unwrap_err().contains("found the scheme `ftp`"));
        assert!(text("s3://").unwrap_err().contains("for example s3://bucket/prefix"));
    }
}
