//! Topology.

use super::error::{Error, Note, Place};
use super::fields::Fields;

/// A Topology. Kueue's placement on it is not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Its name.
    pub name: String,
    /// The node labels of its levels, from the widest.
    pub levels: Vec<String>,
    /// Where it stands.
    pub place: Place,
}

impl Topology {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let name = top.need_map("metadata")?.need_text("name")?.to_owned();
        let spec = top.need_map("spec")?;
        let mut levels = Vec::new();
        for level in spec.maps("levels")? {
            levels.push(level.need_text("nodeLabel")?.to_owned());
            level.rest(notes);
        }
        spec.rest(notes);
        Ok(Self { name, levels, place: top.place() })
    }
}
