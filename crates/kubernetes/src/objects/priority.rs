//! WorkloadPriorityClass.

use super::error::{Error, Place};
use super::fields::Fields;

/// A WorkloadPriorityClass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadPriorityClass {
    /// Its name.
    pub name: String,
    /// The priority; higher goes first.
    pub value: i64,
    /// Where it stands.
    pub place: Place,
}

impl WorkloadPriorityClass {
    pub(crate) fn read(top: &Fields<'_>) -> Result<Self, Error> {
        top.ignore(&["description"]);
        let name = top.need_map("metadata")?.need_text("name")?.to_owned();
        let value = top.integer("value")?;
        let value = value.ok_or_else(|| top.wrong("value", "an integer", "nothing", "add it"))?;
        Ok(Self { name, value, place: top.place() })
    }
}
