//! The order of policies, from which figures take their styles.

use crate::registry::POLICIES;

/// Those that are often compared come first, so that they look different from each other. All others follow in the order of
/// [`POLICIES`].
const FIRST: [&str; 21] = [
    "fifo",
    "fair",
    "capacity",
    "naive-fair",
    "delay",
    "coupling",
    "dress",
    "yarn-fifo",
    "yarn-fair",
    "yarn-capacity",
    "easy",
    "conservative",
    "drf",
    "triple-queue",
    "srpt",
    "fair-deficit",
    "flex",
    "aria",
    "delay-time",
    "quincy",
    "cogrs",
];

/// The place of the policy that a label begins with (`delay` in `delay:D=4`); `None` if that is no policy. Policies of one name have one
/// place, whether they are for Hadoop or for production traces (`fifo` and `batch-fifo`).
pub fn order_of(label: &str) -> Option<u32> {
    let name = label.split([':', '+', ' ', ',']).next().unwrap_or_default();
    let short = |name| str::strip_prefix(name, "batch-").unwrap_or(name);
    let others = || POLICIES.iter().position(|info| short(info.name) == short(name)).map(|place| FIRST.len() + place);
    let place = FIRST.iter().position(|first| *first == short(name)).or_else(others)?;
    u32::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_a_place_of_its_own() {
        let mut places: Vec<(Option<u32>, &str)> = POLICIES
            .iter()
            .map(|info| (order_of(info.name), info.name.strip_prefix("batch-").unwrap_or(info.name)))
            .collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.iter().all(|(place, _)| place.is_some()), "{places:?}");
        assert!(places.windows(2).all(|pair| pair[0].0 != pair[1].0), "{places:?}");
        assert_eq!(
            [order_of("delay:D=4"), order_of("batch-fifo+late"), order_of("observed")],
            [Some(4), Some(0), None]
        );
    }
}
