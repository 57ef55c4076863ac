//! Which resources were the bottleneck of replays ([`RunBound`]): what-ifs about the others change nothing.

use std::collections::BTreeMap;

use resched_tables::run::RunBound;

/// Resources by their name in `run.json`, with their name for people.
const NAMES: [(&str, &str); 7] = [
    ("map-slots", "the map slots"),
    ("reduce-slots", "the reduce slots"),
    ("memory", "the memory of the machines"),
    ("vcores", "the vcores"),
    ("cores", "the cores"),
    ("disk", "the disk"),
    ("network", "the network"),
];

/// The bounds of several replays together: times add up, and the most counts.
pub fn together<'a>(runs: impl IntoIterator<Item = &'a BTreeMap<String, RunBound>>) -> BTreeMap<String, RunBound> {
    let mut all: BTreeMap<String, RunBound> = BTreeMap::new();
    for (name, bound) in runs.into_iter().flatten() {
        let sum = all.entry(name.clone()).or_default();
        sum.of_ms = sum.of_ms.saturating_add(bound.of_ms);
        sum.bound_ms = sum.bound_ms.saturating_add(bound.bound_ms);
        sum.most = sum.most.max(bound.most);
    }
    all
}

/// A resource that was never the bottleneck, in words, with the most of it that was wanted; `None` if it was one.
pub fn idle(bounds: &BTreeMap<String, RunBound>, name: &str) -> Option<String> {
    let bound = bounds.get(name).filter(|bound| bound.bound_ms == 0)?;
    let words = NAMES.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words);
    Some(match bound.most {
        None => words.to_owned(),
        Some(0) => format!("{words} (unused)"),
        Some(most) if most > 1_000 => format!("{words} (scarce, but another resource was scarcer)"),
        Some(most) => format!("{words} (at most {} % in use)", round(most)),
    })
}

/// Thousandths as per cent, without a needless decimal.
fn round(thousandths: u32) -> String {
    if thousandths < 100 {
        format!("{:.1}", f64::from(thousandths) / 10.0)
    } else {
        (thousandths.div_ceil(10)).to_string()
    }
}

/// The resources that were never the bottleneck, as sentences. More slots, containers or machines shorten no wait then, although tasks may
/// run elsewhere; a faster disk or network changes nothing.
pub fn never_bound(bounds: &BTreeMap<String, RunBound>) -> Vec<String> {
    // Under the cost model `contention`, cores are shared by the tasks of a node; otherwise they are those of machines that tasks request.
    let is_hadoop = ["map-slots", "reduce-slots", "vcores"].iter().any(|name| bounds.contains_key(*name));
    let is_shared = |name: &str| ["disk", "network"].contains(&name) || name == "cores" && is_hadoop;
    let names = |shared: bool| -> Vec<String> {
        let known = NAMES.iter().map(|(name, _)| *name);
        // Named resources of machines, such as `gres/gpu`, have no other words.
        let others = bounds.keys().map(String::as_str).filter(|name| NAMES.iter().all(|(known, _)| known != name));
        known.chain(others).filter(|name| is_shared(name) == shared).filter_map(|name| idle(bounds, name)).collect()
    };
    let mut sentences = Vec::new();
    let taken = names(false);
    if !taken.is_empty() {
        sentences
            .push(format!("Never short while tasks waited: {}; more of them would shorten no wait.", taken.join(", ")));
    }
    let shared = names(true);
    if !shared.is_empty() {
        // What the disk does not explain of a task's time is processor time, so the speed of the disk counts where cores are scarce.
        let scarce = bounds.get("cores").is_some_and(|cores| cores.bound_ms > 0) && bounds.contains_key("disk");
        let so = if scarce { "" } else { "; faster ones would change nothing" };
        sentences.push(format!("Never the bottleneck: {}{so}.", shared.join(", ")));
    }
    sentences
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn bounds(all: &[(&str, u64, Option<u32>)]) -> BTreeMap<String, RunBound> {
        let bound = |&(name, bound_ms, most): &(&str, u64, Option<u32>)| {
            (name.to_owned(), RunBound { of_ms: 1_000, bound_ms, most })
        };
        all.iter().map(bound).collect()
    }

    #[test]
    fn what_never_bound_is_named_in_one_sentence() {
        let one = bounds(&[
            ("map-slots", 900, None),
            ("reduce-slots", 0, None),
            ("disk", 0, Some(337)),
            ("network", 0, Some(0)),
        ]);
        assert_eq!(
            never_bound(&one),
            [
                "Never short while tasks waited: the reduce slots; more of them would shorten no wait.",
                "Never the bottleneck: the disk (at most 34 % in use), the network (unused); faster ones would change nothing.",
            ]
        );
        let both = together([&one, &bounds(&[("reduce-slots", 5, None), ("disk", 0, Some(16))])]);
        assert_eq!((both["disk"].of_ms, both["disk"].most), (2_000, Some(337)));
        assert_eq!(idle(&both, "reduce-slots"), None);
        let scarcer = "the network (scarce, but another resource was scarcer)";
        assert_eq!(idle(&bounds(&[("network", 0, Some(8_640))]), "network").unwrap(), scarcer);
        assert_eq!(idle(&bounds(&[("disk", 0, Some(16))]), "disk").unwrap(), "the disk (at most 1.6 % in use)");
        assert!(never_bound(&bounds(&[("disk", 1, None)])).is_empty());
        let cores = bounds(&[("map-slots", 9, None), ("cores", 9, None), ("disk", 0, Some(0))]);
        assert_eq!(never_bound(&cores), ["Never the bottleneck: the disk (unused)."]);
        let machines = bounds(&[("cores", 9, Some(900)), ("memory", 0, Some(410))]);
        let reported = "Never short while tasks waited: the memory of the machines (at most 41 % in use); more of them would shorten no \
                        wait.";
        assert_eq!(never_bound(&machines), [reported]);
        let gpus = bounds(&[("cores", 9, None), ("gres/gpu", 0, Some(250)), ("license/a", 0, Some(1_000))]);
        let reported = "Never short while tasks waited: gres/gpu (at most 25 % in use), license/a (at most 100 % in use); more of them \
                        would shorten no wait.";
        assert_eq!(never_bound(&gpus), [reported]);
    }
}
