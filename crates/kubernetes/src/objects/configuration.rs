//! Kueue's own `Configuration`.

use super::error::{Error, Note, Place};
use super::fields::Fields;
use crate::kueue::{FairSharing, Strategy};

/// What of Kueue's `Configuration` has an effect here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Fair sharing, if it is on.
    pub fair_sharing: Option<FairSharing>,
    /// True if a resource that a queue does not cover is ignored (`quotaCheckStrategy: IgnoreUndeclared`).
    pub ignore_undeclared: bool,
    /// Where it stands.
    pub place: Place,
}

impl Configuration {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let strategies = [("IgnoreUndeclared", true), ("BlockUndeclared", false)];
        let mut ignore_undeclared = top.word("quotaCheckStrategy", &strategies)?;
        if let Some(resources) = top.map("resources")? {
            ignore_undeclared = resources.word("quotaCheckStrategy", &strategies)?.or(ignore_undeclared);
            resources.rest(notes);
        }
        let fair_sharing = top.map("fairSharing")?.map(|fields| fair_sharing(&fields, notes)).transpose()?.flatten();
        Ok(Self { fair_sharing, ignore_undeclared: ignore_undeclared.unwrap_or(false), place: top.place() })
    }
}

/// On by being there, unless v1beta1's `enable` is false.
fn fair_sharing(fields: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Option<FairSharing>, Error> {
    let on = fields.flag("enable")?.unwrap_or(true);
    let names = fields.texts("preemptionStrategies")?;
    fields.rest(notes);
    let (last, initial) = ("LessThanOrEqualToFinalShare", "LessThanInitialShare");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let strategies = match names.as_slice() {
        [] => FairSharing::default(),
        [one] if *one == last => FairSharing { first: Strategy::FinalShare, then_initial: false },
        [one] if *one == initial => FairSharing { first: Strategy::InitialShare, then_initial: false },
        [one, two] if *one == last && *two == initial => FairSharing::default(),
        _ => {
            let expected = format!("{last}, {initial}, or both in this order");
            return Err(fields.wrong("preemptionStrategies", &expected, &names.join(", "), "correct the list"));
        }
    };
    Ok(on.then_some(strategies))
}
