//! What may be compared: runs of one trace under one engine. What else differs is allowed, and named.
//!
//! Jobs of different traces may have the same ids, so pairing them by id would compare what has nothing in common. A trace that
//! `resched scale` or `resched anonymise` made is another trace.

use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::cluster_file::ClusterConfig;
use resched_tables::run::{RunCluster, RunInfo, RunWindow, Unfinished};
use resched_tables::validity::{Fact, Grade};
use resched_tables::words::count;
use serde::Serialize;
use serde_json::Value;

use crate::runs::compared::Compared;
use crate::{Error, Origin};

/// The most rules of a cluster that a difference names.
const MOST_RULES: usize = 6;

/// A run or a trace that is to be compared with others.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The folder it is in.
    pub path: &'a Path,
    /// What its marker says.
    pub origin: &'a Origin,
}

/// Something in which two runs of one trace differ, beside their policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it is: `cluster`, `rules`, `site`, `unfinished`, `window`, `seed` or `version`.
    pub about: &'static str,
    /// The difference, as in `nodes.map_slots 2 → 4`.
    pub says: String,
    /// Measured if it is a question that you asked, such as a larger cluster; assumed if the comparison then rests on more than that.
    pub grade: Grade,
}

impl Side<'_> {
    /// What identifies the trace; and for a workload file, what all its seeds and sizes have in common.
    fn trace(&self) -> Result<(String, Option<&String>), Error> {
        Ok(match self.origin {
            Origin::Replay(info) => (info.trace.sha256.clone(), info.trace.workload.as_ref()),
            Origin::Observed(manifest) => (manifest.fingerprint()?, None),
        })
    }

    fn is_of_trace_of(&self, other: &Self) -> Result<bool, Error> {
        let ((sha256, workload), (of_other, workload_of_other)) = (self.trace()?, other.trace()?);
        Ok(sha256 == of_other || workload.is_some() && workload == workload_of_other)
    }

    /// The trace as an error names it.
    fn name(&self) -> String {
        let of = |path: &str, sha256: &str| format!("{path} ({})", sha256.get(..12).unwrap_or(sha256));
        match self.origin {
            Origin::Replay(info) => of(&info.trace.path, &info.trace.sha256),
            Origin::Observed(manifest) => {
                of(&self.path.display().to_string(), &manifest.fingerprint().unwrap_or_default())
            }
        }
    }
}

/// In what two runs, or a run and a trace, differ beside their policies. Of a trace, only its identity is known.
///
/// # Errors
/// [`Error::Trace`], a wrong request, if they are of different traces or engines; it names both sides.
pub fn compare(first: &Side<'_>, second: &Side<'_>) -> Result<Vec<Difference>, Error> {
    let paths = || format!("{} and {}", first.path.display(), second.path.display());
    if !first.is_of_trace_of(second)? {
        return Err(refused(format!(
            "{}: expected runs of one trace, found {} and {}; jobs of different traces are not compared, even if they have the same ids: \
             name runs of one trace, or replay both policies on one",
            paths(),
            first.name(),
            second.name()
        )));
    }
    let (Origin::Replay(one), Origin::Replay(two)) = (first.origin, second.origin) else { return Ok(Vec::new()) };
    let [engine, other] = [one, two].map(|info| info.engine);
    if engine != other {
        return Err(refused(format!(
            "{}: expected runs of one engine, found {} ({}) and {} ({}); compare policies of one engine, for example `fifo` with `fair`, or \
             `batch-fifo` with `batch-fair`",
            paths(),
            engine.in_words(),
            one.label,
            other.in_words(),
            two.label
        )));
    }
    Ok(differences(one, two))
}

fn refused(message: String) -> Error {
    Error::Trace(resched_tables::Error::Request(message))
}

/// The facts about what runs differ in, each with who it is about.
pub fn facts<'a>(differences: impl Iterator<Item = (String, &'a Difference)>) -> Vec<Fact> {
    let fact = |(who, difference): (String, &Difference)| {
        let fact = Fact::new("comparison", difference.grade, format!("{who} differ in {}.", difference.in_words()));
        match difference.grade {
            Grade::Measured => fact,
            _ => fact.with_remedy(
                "This may cause the difference in times, not the policy. Replay both under the same conditions.",
            ),
        }
    };
    differences.map(fact).collect()
}

/// What the replays of one command differ in so that their comparison rests on more than their policies: other engines, or slots beside
/// containers.
pub fn of_replays<R: Compared>(runs: &[R]) -> Vec<Fact> {
    let Some((first, base)) = runs.first().and_then(|run| Some((run, run.replay()?))) else { return Vec::new() };
    let of_run = |run: &R| {
        let info = run.replay()?;
        let who = format!("{} and {}", run.label(), first.label());
        let [engine, other] = [info, base].map(|info| info.engine);
        if engine != other {
            let says =
                format!("{who} were replayed by different engines, {} and {}.", engine.in_words(), other.in_words());
            let fact = Fact::new("comparison", Grade::Assumed, says);
            return Some(vec![fact.with_remedy("Do not compare them: their clocks and costs are not the same.")]);
        }
        let differ = differences(base, info);
        let assumed = differ.iter().filter(|difference| difference.grade > Grade::Measured);
        Some(facts(assumed.map(|difference| (who.clone(), difference))))
    };
    runs.iter().skip(1).filter_map(of_run).flatten().collect()
}

impl Difference {
    fn of(about: &'static str, says: String) -> Self {
        Self { about, says, grade: Grade::Measured }
    }

    fn assumed(about: &'static str, says: String) -> Self {
        Self { about, says, grade: Grade::Assumed }
    }

    /// The difference with what it is about, as in `cluster: nodes 20 → 40`.
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.about, self.says)
    }
}

/// That two single runs have different seeds, so that their times and places are drawn anew.
pub fn seeds(one: &RunInfo, two: &RunInfo) -> Option<Difference> {
    (one.seed != two.seed).then(|| Difference::assumed("seed", format!("{} → {}", one.seed, two.seed)))
}

/// In what two replays of one trace differ.
fn differences(one: &RunInfo, two: &RunInfo) -> Vec<Difference> {
    let mut found = Vec::new();
    found.extend(match one.system == two.system {
        true => clusters(one.cluster, two.cluster),
        false => Some(other_systems(one.cluster, two.cluster)),
    });
    found.extend(rules(&one.rules, &two.rules).map(|says| Difference::of("rules", says)));
    if one.site != two.site {
        found.push(Difference::of("site", sites(one, two)));
    }
    if one.unfinished != two.unfinished {
        let [before, after] = [one, two].map(|info| unfinished(info.unfinished));
        found.push(Difference::assumed("unfinished", format!("{before} → {after}")));
    }
    if one.window != two.window {
        let [before, after] = [one, two].map(|info| window(info.window));
        found.push(Difference::of("window", format!("{before} → {after}")));
    }
    if one.written_by != two.written_by {
        found.push(Difference::assumed("version", format!("{} → {}", one.written_by, two.written_by)));
    }
    found
}

fn unfinished(rule: Unfinished) -> &'static str {
    match rule {
        Unfinished::Drop => "drop",
        Unfinished::Cap => "cap",
        Unfinished::Estimate => "estimate",
    }
}

fn window(window: Option<RunWindow>) -> String {
    window.map_or_else(|| "all jobs".to_owned(), |window| format!("{} to {} ms", window.from, window.to))
}

/// Slots beside containers: how many tasks run at once is then no longer the same number, so the comparison rests on the sizes of
/// containers, too.
fn other_systems(one: RunCluster, two: RunCluster) -> Difference {
    Difference::assumed("cluster", format!("{} → {}", capacity(one), capacity(two)))
}

/// The totals of two clusters of one system.
fn clusters(one: RunCluster, two: RunCluster) -> Option<Difference> {
    if one == two {
        return None;
    }
    let optional = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), count);
    let largest = |cluster: RunCluster| {
        cluster.of_largest.map(|[cpu, memory]| format!("{:.1} × {:.1}", cpu as f64 / 1e3, memory as f64 / 1e3))
    };
    let parts = [
        ("nodes", count(one.nodes), count(two.nodes)),
        ("racks", count(one.racks), count(two.racks)),
        ("total map slots", count(one.map_slots), count(two.map_slots)),
        ("total reduce slots", count(one.reduce_slots), count(two.reduce_slots)),
        ("total memory (MB)", optional(one.memory_mb), optional(two.memory_mb)),
        ("total vcores", optional(one.vcores), optional(two.vcores)),
        ("total in largest machines", largest(one).unwrap_or_default(), largest(two).unwrap_or_default()),
    ];
    let differ = parts.into_iter().filter(|(_, before, after)| before != after);
    let says: Vec<String> = differ.map(|(what, before, after)| format!("{what} {before} → {after}")).collect();
    Some(Difference::of("cluster", says.join(", ")))
}

fn capacity(cluster: RunCluster) -> String {
    match (cluster.memory_mb, cluster.vcores) {
        (Some(memory), vcores) => {
            format!("containers in {} MB and {} vcores", count(memory), vcores.map_or("any".to_owned(), count))
        }
        (None, _) => format!("{} map and {} reduce slots", count(cluster.map_slots), count(cluster.reduce_slots)),
    }
}

/// The rules that differ, the first few of them.
fn rules(one: &ClusterConfig, two: &ClusterConfig) -> Option<String> {
    let values = |rules| serde_json::to_value(rules).map(|rules| leaves(&rules)).unwrap_or_default();
    let (before, after) = (values(one), values(two));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let value =
        |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned().unwrap_or_else(|| "default".to_owned());
    let differ = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let differ: Vec<String> =
        differ.map(|name| format!("{name} {} → {}", value(&before, name), value(&after, name))).collect();
    let more = match differ.len().saturating_sub(MOST_RULES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let shown: Vec<String> = differ.into_iter().take(MOST_RULES).collect();
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}

/// The values in a tree of rules, by their paths. What is null keeps its default, as if it were not there.
fn leaves(of: &Value) -> BTreeMap<String, String> {
    fn gather(path: &str, of: &Value, found: &mut BTreeMap<String, String>) {
        match of {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                gather(&path, value, found);
            }),
            Value::Null => {}
            Value::String(text) => drop(found.insert(path.to_owned(), text.clone())),
            other => drop(found.insert(path.to_owned(), other.to_string())),
        }
    }
    let mut found = BTreeMap::new();
    gather("", of, &mut found);
    found
}

/// The files of two sites that differ.
fn sites(one: &RunInfo, two: &RunInfo) -> String {
    let files = |info: &RunInfo| info.site.clone().unwrap_or_default().files;
    let (before, after) = (files(one), files(two));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| before.get(*name) != after.get(*name));
    match (one.site.is_some(), two.site.is_some()) {
        (true, false) => "a configuration of the site → none".to_owned(),
        (false, true) => "none → a configuration of the site".to_owned(),
        _ => names.into_iter().cloned().collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::run::{RunEngine, RunTrace};

    use super::*;

    fn with_map_slots(slots: u32) -> ClusterConfig {
        let mut rules = ClusterConfig::default();
        rules.nodes.map_slots = Some(slots);
        rules
    }

    fn run(sha256: &str) -> RunInfo {
        let trace = RunTrace { path: format!("T-{sha256}"), sha256: sha256.to_owned(), ..RunTrace::default() };
        let cluster = RunCluster { nodes: 2, racks: 1, map_slots: 4, reduce_slots: 4, ..RunCluster::default() };
        let rules = with_map_slots(2);
        RunInfo { trace, cluster, rules, engine: RunEngine::Hadoop, label: "fifo".to_owned(), ..RunInfo::default() }
    }

    fn found(one: RunInfo, two: RunInfo) -> Result<Vec<String>, String> {
        let [one, two] = [one, two].map(|info| Origin::Replay(Box::new(info)));
        let [first, second] =
            [(&one, "R/one"), (&two, "R/two")].map(|(origin, path)| Side { path: Path::new(path), origin });
        let differences = compare(&first, &second).map_err(|error| {
            assert!(error.is_request());
            error.to_string()
        })?;
        Ok(differences.iter().map(Difference::in_words).collect())
    }

    #[test]
    fn other_traces_and_engines_are_refused_by_name() {
        assert_eq!(found(run("a"), run("a")), Ok(Vec::new()));
        let error = found(run("a"), run("b")).unwrap_err();
        for part in ["R/one and R/two", "T-a (a)", "T-b (b)", "one trace"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        let batch = RunInfo { engine: RunEngine::Batch, label: "batch-fifo".to_owned(), ..run("a") };
        let error = found(run("a"), batch).unwrap_err();
        assert!(error.contains("(fifo)") && error.contains("(batch-fifo)") && error.contains("one engine"), "{error}");
    }

    #[test]
    fn seeds_and_sizes_of_a_workload_are_one_trace() {
        let of_workload = |sha256: &str, nodes| {
            let info = run(sha256);
            let trace = RunTrace { workload: Some("w".to_owned()), ..info.trace };
            RunInfo { trace, cluster: RunCluster { nodes, ..info.cluster }, ..info }
        };
        assert_eq!(found(of_workload("a", 2), of_workload("b", 3)), Ok(vec!["cluster: nodes 2 → 3".to_owned()]));
    }

    #[test]
    fn what_else_differs_is_named() {
        let info = run("a");
        let other = RunInfo {
            cluster: RunCluster { map_slots: 8, ..info.cluster },
            rules: with_map_slots(4),
            unfinished: Unfinished::Cap,
            written_by: "resched 9".to_owned(),
            ..info.clone()
        };
        let expected = [
            "cluster: total map slots 4 → 8",
            "rules: nodes.map_slots 2 → 4",
            "unfinished: drop → cap",
            "version:  → resched 9",
        ];
        assert_eq!(found(info.clone(), other).unwrap(), expected);
        let yarn = RunCluster { memory_mb: Some(64_000), vcores: Some(16), ..info.cluster };
        let [one, two] = [info.cluster, yarn];
        let found = other_systems(one, two);
        assert_eq!(found.in_words(), "cluster: 4 map and 4 reduce slots → containers in 64,000 MB and 16 vcores");
        assert_eq!(found.grade, Grade::Assumed);
    }
}
