//! ClusterQueue.

use super::error::{Error, Note, Place};
use super::fields::Fields;
use super::namespace::Selector;
use super::quotas::{ResourceGroup, groups};
use crate::kueue::{BorrowWithinCohort, Fungibility, Policy, Preemption};

/// A ClusterQueue, with the defaults of the API where it is silent.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterQueue {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// Its cohort (`cohortName`; `cohort` in v1beta1).
    pub cohort: Option<String>,
    /// True if it is `StrictFIFO`.
    pub strict: bool,
    /// The namespaces it takes; none if it has no selector.
    pub namespaces: Option<Selector>,
    /// Whom its workloads may preempt.
    pub preemption: Preemption,
    /// When the search for a flavour stops.
    pub fungibility: Fungibility,
    /// The weight of fair sharing.
    pub weight: f64,
    /// Its quotas.
    pub groups: Vec<ResourceGroup>,
}

impl ClusterQueue {
    pub(crate) fn read(top: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let name = top.need_map("metadata")?.need_text("name")?.to_owned();
        let spec = top.need_map("spec")?;
        let strategies = [("StrictFIFO", true), ("BestEffortFIFO", false)];
        let cohort = spec.text("cohortName")?.or(spec.text("cohort")?).map(str::to_owned);
        let namespaces = spec.map("namespaceSelector")?.map(|selector| Selector::read(&selector, notes)).transpose()?;
        let queue = Self {
            name,
            place: top.place(),
            cohort,
            strict: spec.word("queueingStrategy", &strategies)?.unwrap_or(false),
            namespaces,
            preemption: preemption(&spec, notes)?,
            fungibility: fungibility(&spec, notes)?,
            weight: weight(&spec, notes)?,
            groups: groups(&spec, notes)?,
        };
        spec.rest(notes);
        Ok(queue)
    }
}

pub(crate) fn weight(spec: &Fields<'_>, notes: &mut Vec<Note>) -> Result<f64, Error> {
    let Some(fields) = spec.map("fairSharing")? else { return Ok(1.0) };
    let weight = fields.weight("weight")?.unwrap_or(1.0);
    fields.rest(notes);
    Ok(weight)
}

fn preemption(spec: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Preemption, Error> {
    let Some(fields) = spec.map("preemption")? else { return Ok(Preemption::default()) };
    let (never, lower) = (("Never", Policy::Never), ("LowerPriority", Policy::LowerPriority));
    let newer = ("LowerOrNewerEqualPriority", Policy::LowerOrNewerEqualPriority);
    let preemption = Preemption {
        within: fields.word("withinClusterQueue", &[never, lower, newer])?.unwrap_or_default(),
        reclaim: fields.word("reclaimWithinCohort", &[never, lower, ("Any", Policy::Any)])?.unwrap_or_default(),
        borrow: borrow_within_cohort(&fields, notes)?,
    };
    fields.rest(notes);
    Ok(preemption)
}

fn borrow_within_cohort(preemption: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Option<BorrowWithinCohort>, Error> {
    let Some(fields) = preemption.map("borrowWithinCohort")? else { return Ok(None) };
    let on = fields.word("policy", &[("Never", false), ("LowerPriority", true)])?.unwrap_or(false);
    let threshold = fields.integer("maxPriorityThreshold")?;
    fields.rest(notes);
    Ok(on.then_some(BorrowWithinCohort { threshold }))
}

fn fungibility(spec: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Fungibility, Error> {
    let default = Fungibility::default();
    let Some(fields) = spec.map("flavorFungibility")? else { return Ok(default) };
    let (stop, next) = (("MayStopSearch", true), ("TryNextFlavor", false));
    let preferences = [("BorrowingOverPreemption", false), ("PreemptionOverBorrowing", true)];
    let fungibility = Fungibility {
        stop_to_borrow: fields
            .word("whenCanBorrow", &[stop, next, ("Borrow", true)])?
            .unwrap_or(default.stop_to_borrow),
        stop_to_preempt: fields
            .word("whenCanPreempt", &[stop, next, ("Preempt", true)])?
            .unwrap_or(default.stop_to_preempt),
        preempt_first: fields.word("preference", &preferences)?.unwrap_or(default.preempt_first),
    };
    fields.rest(notes);
    Ok(fungibility)
}
