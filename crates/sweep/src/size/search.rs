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

/// Finds the smallest size from `from` to `to` whose probe holds, if larger sizes hold once a size does. The search begins at `start`,
/// the size that the source has. From there, sizes double until one holds, or halve until one does not; bisection then finds the
/// smallest. So the first probe takes as long as a replay of the source, and no size is tried that is more than about twice the answer
/// or the start.
///
/// # Errors
/// The errors of `probe`.
pub(super) fn search<E>(
    (from, to): (u32, u32),
    start: u32,
    mut probe: impl FnMut(u32) -> Result<Probe, E>,
) -> Result<Found, E> {
    let mut probes = BTreeMap::new();
    let mut holds = |size: u32| -> Result<bool, E> {
        let found = probe(size)?;
        let holds = found.holds;
        probes.insert(size, found);
        Ok(holds)
    };
    // The largest size that is known not to hold, and the smallest that is known to.
    let (mut fails, mut good) = (None, None);
    let mut size = start.max(from).min(to);
    if holds(size)? {
        good = Some(size)
    } else {
        fails = Some(size)
    }
    while good.is_none() && size < to {
        size = size.saturating_mul(2).min(to);
        if holds(size)? { good = Some(size) } else { fails = Some(size) }
    }
    while fails.is_none() && size > from {
        size = (size / 2).max(from);
        if holds(size)? { good = Some(size) } else { fails = Some(size) }
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
