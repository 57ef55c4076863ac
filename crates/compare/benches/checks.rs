//! What all checks of a comparison cost beside the comparison itself: the test of the sign in variants, and the look at the log.
//!
//! `cargo bench -p resched-compare --bench checks`. Each row opens a world, replays two policies to disk and compares them, as `resched replay`
//! does: `false` with `--robust off`, `true` with `--robust quick`, the default. With it, the trace of 19 jobs may take 2.2 times as long,
//! and large traces 1.4 times. The traces of 19 jobs and of Facebook are read from the folder `$RESCHED_SHARED`; the million tasks are
//! generated.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../../replay/benches/traces/mod.rs"]
mod traces;

use std::path::Path;

use divan::Bencher;
use resched_analysis::Run;
use resched_analysis::statistics::sign::Level;
use resched_compare::replay::{How, replay};
use resched_replay::{ClusterConfig, PolicySpec, RunFolders, Setup, Source, Threads, World};
use traces::Made;

fn main() {
    divan::main();
}

/// Replays two policies and compares them, on one thread.
fn compare(bencher: Bencher<'_, '_>, made: Option<&Made>, cluster: &ClusterConfig, checks: bool) {
    let Some(made) = made else {
        eprintln!("skipped: the trace is not there");
        return;
    };
    let policies = ["fifo", "fair"].map(|policy| PolicySpec::parse(policy).unwrap());
    let sign = if checks { Level::Quick } else { Level::Off };
    bencher.bench_local(|| {
        let source = Source::open(made.path("trace")).unwrap();
        let setup = Setup { cluster: cluster.clone(), assume: true, ..Setup::default() };
        let world = World::open(&source, setup).unwrap();
        let ready: Vec<_> = policies.iter().map(|policy| world.ready(policy).unwrap()).collect();
        let folders = RunFolders::open(made.path("runs"), &policies, &world).unwrap();
        let how = How { sign, threads: Threads::ONE, ..How::default() };
        replay::<Run>(&world, &ready, &folders, how, &()).unwrap().validity
    });
}

#[divan::bench(consts = [false, true], sample_count = 11)]
fn nineteen_jobs<const CHECKS: bool>(bencher: Bencher<'_, '_>) {
    compare(bencher, Made::nineteen_jobs().as_ref(), &ClusterConfig::default(), CHECKS);
}

#[divan::bench(consts = [false, true], sample_count = 3)]
fn million<const CHECKS: bool>(bencher: Bencher<'_, '_>) {
    compare(bencher, Some(&Made::million()), &ClusterConfig::default(), CHECKS);
}

#[divan::bench(consts = [false, true], sample_count = 3)]
fn facebook<const CHECKS: bool>(bencher: Bencher<'_, '_>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/clusters/facebook-2010.toml");
    let mut cluster = ClusterConfig::read(&file).unwrap();
    cluster.resize(600);
    compare(bencher, Made::facebook().as_ref(), &cluster, CHECKS);
}
