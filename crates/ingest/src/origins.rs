//! Where the bytes of a source come from: standard input, this machine, or an object store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use resched_objects::{self as objects, Object};

use super::paths::{is_standard_input, name_of};
use crate::formats::conf_xml::is_conf_name;
use resched_tables::Error;

/// The objects among the sources, by their addresses. Every other path is a file of this machine.
///
/// An address never leads to a file of this machine, whatever the keys of its objects are.
#[derive(Debug, Default)]
pub(super) struct Origins {
    objects: BTreeMap<PathBuf, Object>,
    /// The confs of jobs among them, by folder, in order.
    confs: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Origins {
    /// Notes that the bytes of `path` are those of an object.
    pub(super) fn add(&mut self, path: PathBuf, object: Object) {
        if let Some(folder) = path.parent().filter(|_| is_conf_name(&name_of(&path))) {
            self.confs.entry(folder.to_path_buf()).or_default().insert(path.clone());
        }
        self.objects.insert(path, object);
    }

    /// The object at this address; `None` if the path is a file of this machine.
    pub(super) fn object(&self, path: &Path) -> Option<&Object> {
        self.objects.get(path)
    }

    /// Opens a source for reading.
    pub(super) fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(match self.object(path) {
            Some(object) => Box::new(object.stream()),
            None if is_standard_input(path) => Box::new(io::stdin()),
            None => Box::new(File::open(path)?),
        })
    }

    /// The addresses of the confs in the same folder as this object, in order.
    pub(super) fn confs_beside(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        path.parent().and_then(|folder| self.confs.get(folder)).into_iter().flatten().cloned()
    }
}

/// An error of an object store in its own words. Readers pass it on as an error of reading.
pub(super) fn in_words_of_the_store(error: Error) -> Error {
    let Error::Io { source, .. } = &error else { return error };
    match source.get_ref().and_then(|source| source.downcast_ref::<objects::Error>()) {
        Some(objects::Error::Failed { address, deed, expected, found, remedy }) => Error::Source {
            path: address.clone(),
            place: format!("cannot {deed} it: "),
            expected: expected.clone(),
            found: found.clone(),
            remedy: remedy.clone(),
        },
        Some(objects::Error::Request(text)) => Error::Request(text.clone()),
        None => error,
    }
}

/// The same, for an error that no reader has seen.
pub(super) fn of_store(error: objects::Error) -> Error {
    in_words_of_the_store(Error::io(Path::new(""), "read")(io::Error::other(error)))
}
