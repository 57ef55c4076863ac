//! Replays a thousand cells of the workload of Table IV, as a sweep on one and on two threads, and without the sweep.
//!
//! `cargo bench -p resched-sweep`; compare within one run. The time of `sweep` beyond that of `replays_alone` is the
//! overhead. Both make each world once for four cells.
#![allow(missing_docs, clippy::unwrap_used)]

use std::num::NonZeroUsize;
use std::path::Path;

use divan::Bencher;
use resched_replay::Threads;
use resched_sweep::{CellStore, Location, Plan, SweepFile, carry_out};

/// 50 seeds × 20 settings.
const SWEEP: &str = r#"
name = "bench"
workload = "coupling-table4.toml"
cluster = "clusters/coupling.toml"
seeds = 50
[variants.coupling]
beta = { from = 0.1, to = 1, steps = 20 }
"#;

fn main() {
    divan::main();
}

fn plan() -> Plan {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/bench.toml"));
    let plan = Plan::new(&SweepFile::parse(SWEEP, path).unwrap()).unwrap();
    assert_eq!(plan.cells.len(), 1_000);
    plan
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn thousand_cells(bencher: Bencher<'_, '_>, threads: usize) {
    let threads = NonZeroUsize::new(threads).unwrap();
    let plan = plan();
    bencher.with_inputs(|| tempfile::tempdir().unwrap()).bench_refs(|dir| {
        let store = CellStore::open(&Location::Folder(dir.path().to_path_buf())).unwrap();
        carry_out(&plan, &plan.cells.iter().collect::<Vec<_>>(), &store, Threads::from(threads).into(), &|_| {})
            .unwrap();
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn thousand_replays_alone(bencher: Bencher<'_, '_>) {
    let plan = plan();
    bencher.bench_local(|| resched_sweep::replay_alone(&plan).unwrap());
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn plan_a_thousand_cells(bencher: Bencher<'_, '_>) {
    bencher.bench_local(plan);
}
