//! Where a job ran (`exec_host`): a part for each chunk, with the processors behind a slash.
//!
//! | written as | by | processors |
//! |---|---|---|
//! | `n1/0+n1/1+n2/0` | Torque up to 4 | one for each part |
//! | `n1/0-15+n2/0,2` | Torque since 5 | those in the ranges |
//! | `n1/0*16+n2/3` | PBS Professional | those behind the star; one without it |

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The most processors of a part.
const MOST_CPUS: u32 = 1 << 20;

/// The hosts with their processors, in their order. A part that cannot be read is one processor.
pub(in super::super) fn of(text: &str) -> Vec<(Cow<'_, str>, u32)> {
    let mut all: Vec<(Cow<'_, str>, u32)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for part in text.split('+').map(|part| part.trim_matches(['(', ')'])).filter(|part| !part.is_empty()) {
        let (host, cpus) = part.split_once('/').unwrap_or((part, ""));
        let cpus = cpus_of(cpus);
        let place = *places.entry(host).or_insert(all.len());
        match all.get_mut(place) {
            Some((_, known)) => *known = known.saturating_add(cpus),
            None => all.push((Cow::Borrowed(host), cpus)),
        }
    }
    all
}

/// How many processors `0`, `0*16` or `0-7,9` are.
fn cpus_of(text: &str) -> u32 {
    if let Some((_, number)) = text.split_once('*') {
        return number.parse().unwrap_or(1).min(MOST_CPUS);
    }
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-')?;
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.checked_sub(first)?.saturating_add(1))
    };
    let sum = text.split(',').map(|range| of_range(range).unwrap_or(1)).fold(0, u32::saturating_add);
    sum.min(MOST_CPUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_as_each_version_writes_them() {
        let shown = |text| {
            let parts: Vec<String> = of(text).iter().map(|(host, cpus)| format!("{host}:{cpus}")).collect();
            parts.join(" ")
        };
        assert_eq!(shown("n1/0+n1/1+n2/0"), "n1:2 n2:1");
        assert_eq!(shown("n1/0-15+n2/0,2,4-5"), "n1:16 n2:4");
        assert_eq!(shown("n1/0*16+n2/3"), "n1:16 n2:1");
        assert_eq!(shown("(n1/0*2+n1/1*2)"), "n1:4");
        assert_eq!(shown("n1"), "n1:1");
        assert_eq!(shown("n1/5-2+n1/0-4294967295"), "n1:1048577");
        assert_eq!(shown(""), "");
    }
}
