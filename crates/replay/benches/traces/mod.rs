//! Traces that benchmarks replay.

use std::fs;
use std::path::PathBuf;

use resched_ingest::{Options, ingest};
use resched_workload::write_trace;
use tempfile::TempDir;

/// 200 nodes, 500 times 20 jobs of 40 or 160 maps: a million tasks.
const MILLION: &str = r#"
name = "million"
[cluster]
nodes = 200
racks = 10
[classes.short]
map_mean_s = 20
map_variation = 0.4
[[jobs]]
class = "short"
submit_s = 0
maps = 40
repeat = 5000
every_s = 30
[[jobs]]
class = "short"
submit_s = 5
maps = 160
repeat = 5000
every_s = 30
"#;

/// A trace in a folder of its own.
pub(crate) struct Made {
    dir: TempDir,
}

impl Made {
    /// A million tasks.
    pub(crate) fn million() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("million.toml");
        fs::write(&file, MILLION).unwrap();
        write_trace(&file, 1, dir.path().join("trace")).unwrap();
        Self { dir }
    }

    /// The trace of 19 jobs; `None` without the shared files.
    pub(crate) fn nineteen_jobs() -> Option<Self> {
        let part = |part| format!("hadoop-mapreduce-2011/mumak/19-jobs.{part}.json.gz");
        Self::of_shared(&["trace", "topology"].map(part))
    }

    /// A day of Facebook's jobs of 2010, of 9.3 million attempts; `None` without the shared files.
    #[allow(dead_code, reason = "not all benchmarks replay so many")]
    pub(crate) fn facebook() -> Option<Self> {
        Self::of_shared(&["swim/FB-2010_samples_24_times_1hr_0.tsv".to_owned()])
    }

    fn of_shared(files: &[String]) -> Option<Self> {
        let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let shared = std::env::var_os("RESCHED_SHARED").map_or_else(beside, PathBuf::from);
        let sources: Vec<PathBuf> = files.iter().map(|file| shared.join("traces").join(file)).collect();
        let dir = sources.iter().all(|source| source.exists()).then(|| tempfile::tempdir().unwrap())?;
        ingest(&sources, dir.path().join("trace"), &Options::default(), &mut ()).unwrap();
        Some(Self { dir })
    }

    /// A folder or file beside the trace, which is `trace`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}
