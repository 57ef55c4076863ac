//! Settings that changed nothing: all values of a key gave the same numbers in every world, with every seed.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::metrics::bound::{idle, together};

use crate::cell::Cell;
use crate::results::CellResult;

/// The keys that changed nothing, each as a sentence, with the reason if a replay shows one.
pub(crate) fn without_effect(cells: &[Cell], results: &[Option<CellResult>]) -> Vec<String> {
    let cells: Vec<(&Cell, &CellResult)> = cells.iter().zip(results).filter_map(with_result).collect();
    let bounds = together(cells.iter().map(|(_, result)| &result.bound));
    let keys: BTreeSet<String> = cells.iter().flat_map(|(cell, _)| cell.texts().into_keys()).collect();
    let keys = keys.into_iter().filter(|key| changed_nothing(key, &cells));
    keys.map(|key| {
        let why = resource_of(&key).and_then(|name| idle(&bounds, name));
        let why = why.map_or_else(String::new, |words| format!("; never the bottleneck: {words}"));
        format!("`{key}` had no effect, whatever its value{why}.")
    })
    .collect()
}

fn with_result<'a>((cell, result): (&'a Cell, &'a Option<CellResult>)) -> Option<(&'a Cell, &'a CellResult)> {
    Some((cell, result.as_ref()?))
}

/// The resource that a key of the world sets.
fn resource_of(key: &str) -> Option<&'static str> {
    Some(match key.strip_prefix("cluster.").unwrap_or(key) {
        "map_slots" | "nodes.map_slots" => "map-slots",
        "reduce_slots" | "nodes.reduce_slots" => "reduce-slots",
        "containers.vcores" => "vcores",
        "containers.memory_mb" | "machines.memory" => "memory",
        "machines.cores" | "cost.contention.cores" => "cores",
        "cost.contention.disk" | "cost.contention.stream" | "cost.contention.seek" => "disk",
        "cost.contention.network" => "network",
        _ => return None,
    })
}

/// What cells have in common that differ only in one key: source, cluster, variant, seed, and the other settings.
type Rest<'a> = (usize, usize, &'a str, u64, BTreeMap<String, String>);

/// True if the key has several values, and cells that differ only in it never differ in a number.
fn changed_nothing(key: &str, cells: &[(&Cell, &CellResult)]) -> bool {
    let mut first: BTreeMap<Rest<'_>, &CellResult> = BTreeMap::new();
    let mut values = BTreeSet::new();
    for (cell, result) in cells {
        let mut settings = cell.texts();
        values.extend(settings.remove(key));
        let rest = (cell.source, cell.cluster, cell.variant.as_str(), cell.seed, settings);
        let known = first.entry(rest).or_insert(result);
        if known.metrics != result.metrics || known.completions != result.completions {
            return false;
        }
    }
    // Each value stands beside another one, or nothing was compared.
    values.len() > 1
        && first.len() * values.len() == cells.iter().filter(|(cell, _)| cell.texts().contains_key(key)).count()
}
