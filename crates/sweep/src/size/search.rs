//! The sizes to try.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Probe;

/// Whether there is a size within the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// There is a smallest one: the next smaller size is not.
    Smallest,
    /// The smallest size to try is, so smaller ones may be, too.
    Always,
    /// The largest size to try is not.
    Never,
}

/// What a search found: the verdict, the smallest size within the bound, and all probes by size.
type Found = (Verdict, Option<u32>, Vec<Probe>);

/// Finds the smallest size from `from` to `to` whose probe holds, if larger sizes hold once a size does. The distance from `from`
/// doubles until a size holds; bisection then finds the smallest. So no size is tried that is more than about twice the answer, as
/// large clusters take long.
///
/// # Errors
/// The errors of `probe`.
pub(super) fn search<E>(from: u32, to: u32, mut probe: impl FnMut(u32) -> Result<Probe, E>) -> Result<Found, E> {
    let mut probes = BTreeMap::new();
    let mut holds = |size: u32| -> Result<bool, E> {
        let found = probe(size)?;
        let holds = found.holds;
        probes.insert(size, found);
        Ok(holds)
    };
    // The largest size that is known not to hold, and the smallest that is known to.
    let (mut fails, mut good) = (None, None);
    let mut size = from.max(1);
    loop {
        if holds(size)? {
            good = Some(size);
            break;
        }
        fails = Some(size);
        if size >= to {
            break;
        }
        size = size.saturating_mul(2).min(to);
    }
    while let (Some(low), Some(high)) = (fails, good) {
        if high - low < 2 {
            break;
        }
        let middle = low + (high - low) / 2;
        if holds(middle)? { good = Some(middle) } else { fails = Some(middle) }
    }
    let verdict = match (fails, good) {
        (_, None) => Verdict::Never,
        (None, Some(_)) => Verdict::Always,
        (Some(_), Some(_)) => Verdict::Smallest,
    };
    Ok((verdict, good, probes.into_values().collect()))
}
