//! Resource groups, as ClusterQueues and Cohorts have them.

use std::collections::BTreeSet;

use super::error::{Error, Note};
use super::fields::Fields;

/// Resources that are always given by the same flavour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceGroup {
    /// `coveredResources`.
    pub resources: Vec<String>,
    /// The flavours, in the order in which they are tried.
    pub flavors: Vec<FlavorQuotas>,
}

/// The quotas of one flavour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlavorQuotas {
    /// The name of the ResourceFlavor.
    pub name: String,
    /// One quota for each covered resource.
    pub resources: Vec<ResourceQuota>,
}

/// One quota, in the unit of its resource (thousandths of `cpu`, bytes, pieces).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceQuota {
    /// The resource.
    pub name: String,
    /// `nominalQuota`.
    pub nominal: i64,
    /// `borrowingLimit`.
    pub borrowing: Option<i64>,
    /// `lendingLimit`.
    pub lending: Option<i64>,
}

/// The groups of a `spec`.
pub(crate) fn groups(spec: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Vec<ResourceGroup>, Error> {
    let mut groups = Vec::new();
    let mut resources = BTreeSet::new();
    for fields in spec.maps("resourceGroups")? {
        let group = group(&fields, notes)?;
        for name in &group.resources {
            if !resources.insert(name.clone()) {
                return Err(fields.wrong(
                    "coveredResources",
                    "each resource in one group",
                    &format!("{name:?} again"),
                    "remove it",
                ));
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

fn group(fields: &Fields<'_>, notes: &mut Vec<Note>) -> Result<ResourceGroup, Error> {
    let resources = fields.texts("coveredResources")?;
    let mut flavors = Vec::new();
    for flavor in fields.maps("flavors")? {
        let name = flavor.need_text("name")?.to_owned();
        if flavors.iter().any(|known: &FlavorQuotas| known.name == name) {
            return Err(flavor.wrong("name", "each flavor once in a group", &format!("{name:?} again"), "remove it"));
        }
        let mut quotas = Vec::new();
        for quota in flavor.maps("resources")? {
            quotas.push(self::quota(&quota)?);
            quota.rest(notes);
        }
        let named: BTreeSet<&str> = quotas.iter().map(|quota| quota.name.as_str()).collect();
        let covered: BTreeSet<&str> = resources.iter().map(String::as_str).collect();
        if named != covered || quotas.len() != resources.len() {
            let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
            let expected = format!("a quota for each of coveredResources, once: {}", list(&covered));
            return Err(flavor.wrong("resources", &expected, &list(&named), "make the two lists equal"));
        }
        flavor.rest(notes);
        flavors.push(FlavorQuotas { name, resources: quotas });
    }
    fields.rest(notes);
    Ok(ResourceGroup { resources, flavors })
}

fn quota(fields: &Fields<'_>) -> Result<ResourceQuota, Error> {
    let name = fields.need_text("name")?.to_owned();
    let nominal = fields.amount("nominalQuota", &name)?;
    let nominal =
        nominal.ok_or_else(|| fields.wrong("nominalQuota", "an amount", "nothing", "add it; 0 is one, too"))?;
    let borrowing = fields.amount("borrowingLimit", &name)?;
    let lending = fields.amount("lendingLimit", &name)?;
    Ok(ResourceQuota { name, nominal, borrowing, lending })
}
