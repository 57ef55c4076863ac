//! ResourceFlavor.

use super::error::{Error, Note, Place};
use super::fields::Fields;
use crate::kueue::{Taint, Toleration};

/// A ResourceFlavor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFlavor {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// `nodeLabels`.
    pub labels: Vec<(String, String)>,
    /// `nodeTaints`.
    pub taints: Vec<Taint>,
    /// `tolerations`.
    pub tolerations: Vec<Toleration>,
    /// `topologyName`.
    pub topology: Option<String>,
}

impl ResourceFlavor {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let name = top.need_map("metadata")?.need_text("name")?.to_owned();
        let empty = (Vec::new(), Vec::new(), Vec::new());
        let mut flavor =
            Self { name, place: top.place(), labels: empty.0, taints: empty.1, tolerations: empty.2, topology: None };
        let Some(spec) = top.map("spec")? else { return Ok(flavor) };
        flavor.labels = spec.pairs("nodeLabels")?;
        for fields in spec.maps("nodeTaints")? {
            flavor.taints.push(taint(&fields)?);
            fields.rest(notes);
        }
        for fields in spec.maps("tolerations")? {
            flavor.tolerations.push(toleration(&fields)?);
            fields.rest(notes);
        }
        flavor.topology = spec.text("topologyName")?.map(str::to_owned);
        spec.rest(notes);
        Ok(flavor)
    }
}

const EFFECTS: [(&str, &str); 3] =
    [("NoSchedule", "NoSchedule"), ("NoExecute", "NoExecute"), ("PreferNoSchedule", "PreferNoSchedule")];

fn taint(fields: &Fields<'_>) -> Result<Taint, Error> {
    fields.ignore(&["timeAdded"]);
    let effect = fields.word("effect", &EFFECTS)?;
    let effect = effect.ok_or_else(|| fields.wrong("effect", "an effect", "nothing", "add NoSchedule, or another"))?;
    let value = fields.text("value")?.unwrap_or_default().to_owned();
    Ok(Taint { key: fields.need_text("key")?.to_owned(), value, effect: effect.to_owned() })
}

fn toleration(fields: &Fields<'_>) -> Result<Toleration, Error> {
    Ok(Toleration {
        key: fields.text("key")?.unwrap_or_default().to_owned(),
        exists: fields.word("operator", &[("Equal", false), ("Exists", true)])?.unwrap_or(false),
        value: fields.text("value")?.unwrap_or_default().to_owned(),
        effect: fields.word("effect", &EFFECTS)?.unwrap_or_default().to_owned(),
    })
}
