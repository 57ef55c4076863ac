//! LocalQueue.

use super::error::{Error, Note, Place};
use super::fields::Fields;

/// A LocalQueue: the name under which a namespace knows its ClusterQueue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalQueue {
    /// Its name.
    pub name: String,
    /// Its namespace; `default` if none is given.
    pub namespace: String,
    /// The ClusterQueue.
    pub queue: String,
    /// Where it stands.
    pub place: Place,
}

impl LocalQueue {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let metadata = top.need_map("metadata")?;
        let spec = top.need_map("spec")?;
        let queue = Self {
            name: metadata.need_text("name")?.to_owned(),
            namespace: metadata.text("namespace")?.unwrap_or("default").to_owned(),
            queue: spec.need_text("clusterQueue")?.to_owned(),
            place: top.place(),
        };
        spec.rest(notes);
        Ok(queue)
    }
}
