//! What it costs to check what is read and to hash what is written, beside the replay that does both.
//!
//! `cargo bench -p resched-replay --bench hashes`. `replay` opens a trace with hashes, replays it under `fifo` and writes the run. `hashes`
//! is that part of it: the XXH64 of the trace's files, and the SHA-256 and XXH64 of the run's. It should stay below 3 % of the
//! replay. The trace of 19 jobs is read from the folder `$RESCHED_SHARED`; the million tasks are generated.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod traces;

use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use resched_policies::PolicySpec;
use resched_replay::{Files, Setup, Source, World};
use resched_tables::store::{FileEntry, Trace};
use traces::Made;

fn replay(made: &Made) {
    let source = Source::trace(Trace::open(&made.path("trace")).unwrap()).unwrap();
    let setup = Setup { assume: true, ..Setup::default() };
    let world = World::open(&source, setup).unwrap();
    world.replay(&PolicySpec::parse("fifo").unwrap(), Files::to(made.path("run"))).unwrap();
}

/// The tables of a folder.
fn tables(made: &Made, folder: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(made.path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let is_table = |path: &PathBuf| path.extension() == Some(Path::new("parquet").as_os_str());
    entries.filter(is_table).map(|path| fs::read(path).unwrap()).collect()
}

fn bench_hashes(made: &Made, bencher: Bencher<'_, '_>) {
    replay(made);
    let (trace, run) = (tables(made, "trace"), tables(made, "run"));
    bencher.bench(|| {
        let read: u64 = trace.iter().map(|table| twox_hash::XxHash64::oneshot(0, table)).fold(0, u64::wrapping_add);
        let written: u64 = run.iter().map(|table| FileEntry::of(table).bytes).sum();
        (read, written)
    });
}

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 10)]
fn nineteen_jobs_replay(bencher: Bencher<'_, '_>) {
    let Some(made) = Made::nineteen_jobs() else { return eprintln!("skipped: the trace of 19 jobs is not found") };
    bencher.bench(|| replay(&made));
}

#[divan::bench(sample_count = 10)]
fn nineteen_jobs_hashes(bencher: Bencher<'_, '_>) {
    let Some(made) = Made::nineteen_jobs() else { return eprintln!("skipped: the trace of 19 jobs is not found") };
    bench_hashes(&made, bencher);
}

#[divan::bench(sample_count = 3)]
fn million_tasks_replay(bencher: Bencher<'_, '_>) {
    let made = Made::million();
    bencher.bench(|| replay(&made));
}

#[divan::bench(sample_count = 10)]
fn million_tasks_hashes(bencher: Bencher<'_, '_>) {
    bench_hashes(&Made::million(), bencher);
}
