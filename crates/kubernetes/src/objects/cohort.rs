//! Cohort.

use super::cluster_queue::weight;
use super::error::{Error, Note, Place};
use super::fields::Fields;
use super::quotas::{ResourceGroup, groups};

/// A Cohort. One that is only named needs no object.
#[derive(Debug, Clone, PartialEq)]
pub struct Cohort {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// The cohort above it (`parentName`; `parent` in v1alpha1).
    pub parent: Option<String>,
    /// The weight of fair sharing.
    pub weight: f64,
    /// Quotas beside those of its members.
    pub groups: Vec<ResourceGroup>,
}

impl Cohort {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let name = top.need_map("metadata")?.need_text("name")?.to_owned();
        let mut cohort = Self { name, place: top.place(), parent: None, weight: 1.0, groups: Vec::new() };
        if let Some(spec) = top.map("spec")? {
            cohort.parent = spec.text("parentName")?.or(spec.text("parent")?).map(str::to_owned);
            cohort.weight = weight(&spec, notes)?;
            cohort.groups = groups(&spec, notes)?;
            spec.rest(notes);
        }
        Ok(cohort)
    }
}
