//! The worlds of the golden schedules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use resched_ingest::{Options, ingest};
use resched_sim::hadoop::{Cluster, Kind, Loaded, Script, Workload, load};
use resched_sim::{ClusterConfig, TaskId};
use resched_tables::model::Outcome;
use resched_tables::store::Trace;

use crate::golden::{Golden, Row};

/// A file of the shared folder. Without the folder, prints that the test is skipped and returns `None`.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("RESCHED_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let path = shared.join(file);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("RESCHED_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "{} is missing", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}

/// A trace on its cluster under the rules of `traces/clusters/mumak.toml`.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) workload: Workload,
}

impl World {
    pub(crate) fn load(name: &str) -> Option<Self> {
        let folder = if name == "19-jobs" { "traces/hadoop-mapreduce-2011/mumak" } else { "oracle" };
        let sources = ["trace", "topology"].map(|part| shared(&format!("{folder}/{name}.{part}.json.gz")));
        let sources: Option<Vec<PathBuf>> = sources.into_iter().collect();
        let sources = sources?;
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let at = dir.path().join("trace");
        ingest(&sources, &at, &Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"));
        let trace = Trace::open(&at).unwrap_or_else(|error| panic!("{error}"));
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/clusters/mumak.toml");
        let config = ClusterConfig::read(&rules).unwrap_or_else(|error| panic!("{error}"));
        let cluster = Cluster::for_trace(config, &trace).unwrap_or_else(|error| panic!("{error}"));
        let scope = resched_sim::Scope { seed: 1, ..resched_sim::Scope::default() };
        let Loaded { workload, .. } = load(&trace, &cluster, &scope).unwrap_or_else(|error| panic!("{error}"));
        Some(Self { cluster, workload })
    }

    /// The id of an attempt in the golden files.
    pub(crate) fn attempt_name(&self, task: TaskId, attempt: u32) -> String {
        format!("{}_{attempt}", self.workload.task_name(task)).replacen("task_", "attempt_", 1)
    }

    /// The task and number of an attempt.
    fn attempt(&self, name: &str) -> (TaskId, u32) {
        let parts: Vec<&str> = name.split('_').collect();
        let [_, cluster, job, kind, number, attempt] = parts[..] else { panic!("{name} is no attempt") };
        let job = self.workload.find(&format!("job_{cluster}_{job}")).unwrap_or_else(|| panic!("{name}: no such job"));
        let kind = if kind == "m" { Kind::Map } else { Kind::Reduce };
        let number = number.parse().unwrap_or_else(|_| panic!("{name} is no attempt"));
        let task = self.workload.task(job, kind, number).unwrap_or_else(|| panic!("{name}: no such task"));
        (task, attempt.parse().unwrap_or_else(|_| panic!("{name} is no attempt")))
    }

    /// Run times and outcomes of all attempts, for those that the trace does not hold.
    pub(crate) fn script(&self, golden: &Golden) -> Script {
        let outcome = |state: &str| if state == "SUCCEEDED" { Outcome::Success } else { Outcome::Failed };
        let courses = golden.courses.iter();
        courses.map(|(name, course)| (self.attempt(name), (course.run, outcome(&course.state)))).collect()
    }

    /// The attempts that were preempted: killed, or tried again although they succeeded: an ordered kill outlives success.
    pub(crate) fn victims(&self, golden: &Golden) -> BTreeSet<(TaskId, u32)> {
        let ends = golden.rows.iter().filter_map(|row| match row {
            Row::Ended { attempt, state, .. } => Some((self.attempt(attempt), state.as_str())),
            _ => None,
        });
        let tried: BTreeSet<(TaskId, u32)> = golden.courses.keys().map(|name| self.attempt(name)).collect();
        ends.filter(|((task, attempt), state)| {
            *state == "KILLED" || *state == "SUCCEEDED" && tried.contains(&(*task, attempt + 1))
        })
        .map(|(attempt, _)| attempt)
        .collect()
    }
}
