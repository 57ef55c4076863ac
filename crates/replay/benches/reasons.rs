//! What it costs to keep why policies pass over jobs (`replay --decisions`), beside the replay.
//!
//! `cargo bench -p resched-replay --bench reasons`. Each replay writes a run, once without and once with decisions and reasons. With them
//! it should take at most 10 % longer. The trace of 19 jobs is read from the folder `$RESCHED_SHARED`; the million tasks are generated.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod traces;

use divan::Bencher;
use resched_policies::PolicySpec;
use resched_replay::{Files, Setup, Source, World};
use traces::Made;

/// Policies that pass over jobs often.
const POLICIES: [&str; 4] = ["fair", "delay", "capacity", "coupling"];

/// Policies for the small trace, those of YARN among them.
const ALL_KINDS: [&str; 7] = ["fifo", "fair", "capacity", "delay", "coupling", "yarn-capacity", "yarn-fair"];

fn main() {
    divan::main();
}

/// Replays a trace and writes the run.
fn replay(bencher: Bencher<'_, '_>, made: &Made, policy: &str, decisions: bool) {
    let source = Source::open(made.path("trace")).unwrap();
    let world = World::open(&source, Setup { assume: true, ..Setup::default() }).unwrap();
    let policy = PolicySpec::parse(policy).unwrap();
    let run = || world.replay(&policy, Files::to(made.path("run")).with_decisions(decisions)).unwrap();
    // What is loaded for the first replay is kept.
    run();
    bencher.bench_local(run);
}

#[divan::bench(args = ALL_KINDS, consts = [false, true])]
fn nineteen_jobs<const DECISIONS: bool>(bencher: Bencher<'_, '_>, policy: &str) {
    match Made::nineteen_jobs() {
        Some(made) => replay(bencher, &made, policy, DECISIONS),
        None => eprintln!("skipped: the trace of 19 jobs is not there"),
    }
}

#[divan::bench(args = POLICIES, consts = [false, true], sample_count = 3)]
fn million<const DECISIONS: bool>(bencher: Bencher<'_, '_>, policy: &str) {
    replay(bencher, &Made::million(), policy, DECISIONS);
}
