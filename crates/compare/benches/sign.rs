//! What the quick test of the sign costs beside the comparison that it tests.
//!
//! `cargo bench -p resched-compare --bench sign`. Each row opens a world and replays two policies to disk, as `resched replay` does, without
//! the test and with it. With it, the trace of 19 jobs may take twice as long, and a large trace 1.3 times as long. The trace of 19 jobs is read from
//! the folder `$RESCHED_SHARED`; the million tasks are generated.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../../replay/benches/traces/mod.rs"]
mod traces;

use divan::Bencher;
use resched_analysis::runs::beside::VariedRun;
use resched_analysis::statistics::sign::Level;
use resched_analysis::{Gathered, Population, Run};
use resched_compare::{Asked, Plan};
use resched_replay::{Files, PolicySpec, Setup, Source, Threads, World};
use traces::Made;

fn main() {
    divan::main();
}

/// Replays two policies, and tests the sign of their comparison.
fn compare(bencher: Bencher<'_, '_>, made: &Made, is_tested: bool) {
    let policies = ["fifo", "fair"].map(|policy| PolicySpec::parse(policy).unwrap());
    let level = if is_tested { Level::Quick } else { Level::Off };
    bencher.bench_local(|| {
        let source = Source::open(made.path("trace")).unwrap();
        let world = World::open(&source, Setup { assume: true, ..Setup::default() }).unwrap();
        let mut runs = policies.each_ref().map(|policy| {
            let mut gathered = Gathered::default();
            let files = Files::to(made.path(policy.info.name)).read_by(&mut gathered);
            let info = world.replay(policy, files).unwrap().info;
            Run::of_gathered(info, gathered)
        });
        Population::share(&mut runs);
        let named = |run: &Run| VariedRun { label: run.label.clone(), sha256: String::new() };
        let asked = Asked { world: &world, policies: &policies, runs: &runs, level, seeds: None };
        Plan::of(asked).unwrap().run(runs.iter().map(named).collect(), Threads::ONE, &|| {}).unwrap()
    });
}

#[divan::bench(consts = [false, true])]
fn nineteen_jobs<const TESTED: bool>(bencher: Bencher<'_, '_>) {
    match Made::nineteen_jobs() {
        Some(made) => compare(bencher, &made, TESTED),
        None => eprintln!("skipped: the trace of 19 jobs is not there"),
    }
}

#[divan::bench(consts = [false, true], sample_count = 3)]
fn million<const TESTED: bool>(bencher: Bencher<'_, '_>) {
    compare(bencher, &Made::million(), TESTED);
}
