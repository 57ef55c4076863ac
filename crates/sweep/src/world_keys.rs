//! The keys of `[world]`: short names for keys of the cluster file and the workload file.

use crate::source::SourcePath;

/// A short name of a key.
#[derive(Debug)]
pub struct WorldKey {
    /// The name.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// True if it takes only whole numbers.
    pub integer: bool,
    /// Its path for a workload file, and its path for a trace; `None` if it cannot vary there.
    pub paths: [Option<&'static str>; 2],
}

const fn key(
    name: &'static str,
    meaning: &'static str,
    integer: bool,
    workload: Option<&'static str>,
    trace: Option<&'static str>,
) -> WorldKey {
    WorldKey { name, meaning, integer, paths: [workload, trace] }
}

/// The short names. Any other key of the cluster file or of a workload file has its path as its name, for example
/// `cluster.heartbeat.jitter` or `workload.cluster.racks`.
pub const WORLD_KEYS: &[WorldKey] = &[
    key(
        "nodes",
        "The number of machines. The machines of a trace, and those that the cluster file names, are cut or cloned \
         (`nodes.clones`, `machines.clones`).",
        true,
        Some("workload.cluster.nodes"),
        Some("cluster.nodes.clones"),
    ),
    key(
        "map_slots",
        "How many maps a machine runs at once. It replaces the number in the trace.",
        true,
        Some("workload.cluster.map_slots"),
        Some(MAP_SLOTS),
    ),
    key(
        "reduce_slots",
        "How many reduces a machine runs at once. It replaces the number in the trace.",
        true,
        Some("workload.cluster.reduce_slots"),
        Some(REDUCE_SLOTS),
    ),
    key("replication", "How many replicas each block of input has.", true, Some("workload.cluster.replication"), None),
    key(
        "heartbeat",
        "The time between two heartbeats of a machine, ms.",
        true,
        Some("cluster.heartbeat.interval"),
        Some("cluster.heartbeat.interval"),
    ),
    key(
        "slowstart",
        "The share of a job's maps that must be finished before its reduces may start.",
        false,
        Some("cluster.jobs.slowstart"),
        Some("cluster.jobs.slowstart"),
    ),
    key(
        "remote_penalty",
        "How many times as long a map takes on a machine without its input.",
        false,
        Some(PENALTY),
        Some(PENALTY),
    ),
    key(
        "speedup",
        "How many times as fast the jobs arrive. Production traces allow only 1.",
        false,
        Some(SPEEDUP),
        Some(SPEEDUP),
    ),
];

/// Sets factors of locality: 1 on a node with the data, the value in its rack and elsewhere.
const PENALTY: &str = "cluster.cost.locality";
/// Applied to the submissions.
const SPEEDUP: &str = "speedup";
/// The key that is applied to the machines once all else is set.
pub(crate) const NODES: &str = "nodes";
/// Slots of every machine.
pub(crate) const MAP_SLOTS: &str = "cluster.nodes.map_slots";
/// Slots of every machine.
pub(crate) const REDUCE_SLOTS: &str = "cluster.nodes.reduce_slots";

/// The path of a key of `[world]`: `cluster.…`, `workload.…` or `speedup`.
///
/// # Errors
/// If this source does not have the key.
pub(crate) fn world_path(key: &str, source: &SourcePath) -> Result<String, String> {
    let place = usize::from(matches!(source, SourcePath::Trace(_)));
    if let Some(known) = WORLD_KEYS.iter().find(|known| known.name == key) {
        let path = known.paths.get(place).copied().flatten();
        return path
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}` cannot vary for a trace, because a trace has its own"));
    }
    match (key.split_once('.'), place) {
        (Some(("cluster", _)), _) | (Some(("workload", _)), 0) => Ok(key.to_owned()),
        (Some(("workload", _)), _) => Err(format!("`{key}` cannot vary for a trace, only for a workload file")),
        (None, _) if ["cluster", "workload"].contains(&key) => Err(format!(
            "`{key}`: expected a whole path in quotes, for example \"cluster.jobs.slowstart\", found its first part"
        )),
        _ => {
            let known: Vec<&str> = WORLD_KEYS.iter().map(|known| known.name).collect();
            Err(format!("expected one of {}, `cluster.…` or `workload.…`, found `{key}`", known.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use resched_replay::{Engine, is_read_by};

    use super::*;

    /// By construction: a short name stands for a key that an engine reads, and that other engines report; or for one of the workload.
    #[test]
    fn each_short_name_stands_for_a_key_that_is_read_or_reported() {
        for WorldKey { name, paths, .. } in WORLD_KEYS {
            for path in paths.iter().flatten() {
                let is_of_cluster = path.strip_prefix("cluster.").is_some_and(|key| {
                    [Engine::Hadoop, Engine::Batch].into_iter().any(|engine| is_read_by(key, engine))
                });
                // Other gaps between arrivals are refused for production traces, and a workload file has no unknown keys.
                assert!(is_of_cluster || *path == SPEEDUP || path.starts_with("workload."), "{name}: {path}");
            }
        }
    }
}
