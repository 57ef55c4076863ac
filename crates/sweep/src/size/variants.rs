//! Whether the answer of a search holds under what the data leave open.

use resched_analysis::Gathered;
use resched_analysis::Run;
use resched_analysis::metrics::named::Measured;
use resched_analysis::statistics::sign::{Level, SIGN, remedy_for};
use resched_replay::{ReadBy, ReadyPolicy, Variant, World};
use resched_tables::validity::{Fact, Grade};
use serde::Serialize;

use super::probe::Search;
use super::{Sized, Sizing, sized};
use crate::Error;

/// The metric at the size of the answer, if something that the data leave open has another value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InVariant {
    /// The name of the unknown.
    pub unknown: &'static str,
    /// What is different.
    pub says: String,
    /// The metric; null if it was not tried, or could not be replayed.
    pub value: Option<f64>,
    /// True if the metric is within the bound.
    pub holds: bool,
}

/// How many other seeds are tried, beside those of the probes.
const OTHER_DRAWS: u64 = 2;

/// Replays the answer in variants: all of them, or, in the quick test, as many as there were replays in the search. Each is replayed with the first
/// seed.
pub(super) fn variants(search: &Search<'_>, found: &Sized) -> Result<Vec<InVariant>, Error> {
    let asked = search.asked;
    let Some(size) = found.size.filter(|_| asked.robust != Level::Off) else { return Ok(Vec::new()) };
    let (world, policy) = search.world(size)?;
    let variants = world.variants(std::slice::from_ref(&asked.policy), OTHER_DRAWS)?;
    let most = match asked.robust {
        Level::Quick => found.probes.iter().map(|probe| probe.values.len()).sum(),
        Level::Full | Level::Off => variants.len(),
    };
    let places: Vec<(usize, &Variant)> = variants.iter().enumerate().collect();
    let tried = |&(place, variant): &(usize, &Variant)| {
        let value = if place < most { value(asked, (&world, &policy), variant) } else { None };
        let holds = value.is_some_and(|value| asked.bound.holds(value));
        Ok::<_, Error>(InVariant { unknown: variant.unknown.name, says: variant.says.clone(), value, holds })
    };
    search.threads.in_order(&places, tried)
}

/// The metric in a variant; `None` if it cannot be replayed.
fn value(asked: &Sizing, (world, policy): (&World, &ReadyPolicy), variant: &Variant) -> Option<f64> {
    let engine = policy.spec().info.engine();
    let mut gathered = Gathered::default();
    let info = world.variant(engine, variant).ok()?.replay(policy, ReadBy(&mut gathered)).ok()?;
    asked.metric.of(&Measured::new(&Run::of_gathered(info, gathered)))
}

/// What the variants say about the answer; `None` if there is none.
pub(super) fn fact(asked: &Sizing, found: &Sized) -> Option<Fact> {
    let size = sized(found.size?, asked);
    if asked.robust == Level::Off {
        let says = format!("It was not tested whether {size} suffice if unknown values vary.");
        return Some(Fact::new(SIGN, Grade::Assumed, says).with_remedy("Leave out --robust off."));
    }
    let tried: Vec<_> = found.variants.iter().filter(|variant| variant.value.is_some()).collect();
    let against: Vec<String> = tried
        .iter()
        .filter(|variant| !variant.holds)
        .map(|variant| {
            format!(
                "{} ({})",
                variant.says,
                variant.value.map_or_else(String::new, |value| asked.metric.in_words(value))
            )
        })
        .collect();
    let holds = tried.len() - against.len();
    let untried = found.variants.len() - tried.len();
    let says = match (tried.len(), against.is_empty()) {
        (0, _) if untried == 0 => return None,
        (0, _) => format!("No variant of the unknown values was tried with {size}."),
        (1, true) => format!("With {size}, the bound also holds in the one variant of the unknown values."),
        (all, true) => format!("With {size}, the bound holds in all {all} variants of the unknown values."),
        (all, false) => {
            format!("With {size}, the bound holds in {holds} of {all} variants, but not {}.", against.join("; not "))
        }
    };
    let is_measured = against.is_empty() && untried == 0;
    let says = if untried > 0 { format!("{says} Not tried: {untried} more.") } else { says };
    let fact = Fact::new(SIGN, if is_measured { Grade::Measured } else { Grade::Assumed }, says);
    let remedy = match against.is_empty() {
        true => "`--robust full` tries every variant.",
        false => remedy_for(
            &tried.iter().filter(|variant| !variant.holds).map(|variant| variant.unknown).collect::<Vec<_>>(),
        ),
    };
    Some(if is_measured { fact } else { fact.with_remedy(remedy) })
}
