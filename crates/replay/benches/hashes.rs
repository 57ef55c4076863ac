//! What it costs to check what is read and to hash what is written, beside the replay that does both.
//!
//! `cargo bench -p resched-replay --bench hashes`. `replay` opens a trace with hashes, replays it under `fifo` and writes the run. `hashes`
//! is that part of it: the XXH64 of the trace's files, and the SHA-256 and XXH64 of the run's. It should stay below 3 % of the
//! replay. The trace of 19 jobs is read from the folder `$RESCHED_SHARED`; the million tasks are generated.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use resched_policies::PolicySpec;
use resched_replay::{Files, Setup, Source, World};
use resched_trace::ingest::{self, ingest};
use resched_trace::store::{FileEntry, Trace};
use resched_trace::workload::write_trace;
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
struct Made {
    dir: TempDir,
}

impl Made {
    fn million() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("million.toml");
        fs::write(&file, MILLION).unwrap();
        write_trace(&file, 1, dir.path().join("trace")).unwrap();
        Self { dir }
    }

    /// `None` without the shared files.
    fn nineteen_jobs() -> Option<Self> {
        let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let shared = std::env::var_os("RESCHED_SHARED").map_or_else(beside, PathBuf::from);
        let source = |part| shared.join(format!("traces/hadoop-mapreduce-2011/mumak/19-jobs.{part}.json.gz"));
        let sources = ["trace", "topology"].map(source);
        let dir = sources.iter().all(|source| source.exists()).then(|| tempfile::tempdir().unwrap())?;
        ingest(&sources, dir.path().join("trace"), &ingest::Options::default(), &mut ()).unwrap();
        Some(Self { dir })
    }

    fn replay(&self) {
        let source = Source::trace(Trace::open(&self.dir.path().join("trace")).unwrap()).unwrap();
        let setup = Setup { assume: true, ..Setup::default() };
        let world = World::open(&source, setup).unwrap();
        world.replay(&PolicySpec::parse("fifo").unwrap(), Files::to(self.dir.path().join("run"))).unwrap();
    }

    /// The tables of a folder.
    fn tables(&self, folder: &str) -> Vec<Vec<u8>> {
        let entries = fs::read_dir(self.dir.path().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let is_table = |path: &PathBuf| path.extension() == Some(Path::new("parquet").as_os_str());
        entries.filter(is_table).map(|path| fs::read(path).unwrap()).collect()
    }

    fn bench_hashes(&self, bencher: Bencher<'_, '_>) {
        self.replay();
        let (trace, run) = (self.tables("trace"), self.tables("run"));
        bencher.bench(|| {
            let read: u64 = trace.iter().map(|table| twox_hash::XxHash64::oneshot(0, table)).fold(0, u64::wrapping_add);
            let written: u64 = run.iter().map(|table| FileEntry::of(table).bytes).sum();
            (read, written)
        });
    }
}

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 10)]
fn nineteen_jobs_replay(bencher: Bencher<'_, '_>) {
    let Some(made) = Made::nineteen_jobs() else { return eprintln!("skipped: the trace of 19 jobs is not found") };
    bencher.bench(|| made.replay());
}

#[divan::bench(sample_count = 10)]
fn nineteen_jobs_hashes(bencher: Bencher<'_, '_>) {
    let Some(made) = Made::nineteen_jobs() else { return eprintln!("skipped: the trace of 19 jobs is not found") };
    made.bench_hashes(bencher);
}

#[divan::bench(sample_count = 3)]
fn million_tasks_replay(bencher: Bencher<'_, '_>) {
    let made = Made::million();
    bencher.bench(|| made.replay());
}

#[divan::bench(sample_count = 10)]
fn million_tasks_hashes(bencher: Bencher<'_, '_>) {
    Made::million().bench_hashes(bencher);
}
