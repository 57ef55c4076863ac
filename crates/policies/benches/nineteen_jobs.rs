//! How long each policy and each speculator takes for Mumak's trace of 19 jobs: 11,869 tasks on 1,545 nodes.
//!
//! `cargo bench -p resched-policies --bench nineteen_jobs`. `fifo` stands first in the same run, so the ratio to it holds on a
//! busy machine too. None may take longer than 10 s of processor time. The trace is read from the folder `$RESCHED_SHARED`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use resched_ingest::ingest;
use resched_policies::{POLICIES, PolicySpec, SPECULATORS};
use resched_sim::hadoop::{Cluster, Loaded, Options, Workload, load, replay};
use resched_sim::{ClusterConfig, Scope};
use resched_tables::store::Trace;

/// The machines of the trace with the slots that are taken if nobody says how many there are, and its jobs.
static WORLD: LazyLock<(Cluster, Workload)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("trace");
    ingest(&sources(), &at, &resched_ingest::Options::default(), &mut ()).unwrap();
    let trace = Trace::open(&at).unwrap();
    let cluster = Cluster::for_trace(ClusterConfig::default(), &trace).unwrap();
    let Loaded { workload, .. } = load(&trace, &cluster, &Scope { seed: 1, ..Scope::default() }).unwrap();
    (cluster, workload)
});

/// The files of the trace.
fn sources() -> [PathBuf; 2] {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("RESCHED_SHARED").map_or_else(beside, PathBuf::from);
    ["trace", "topology"].map(|part| shared.join(format!("traces/hadoop-mapreduce-2011/mumak/19-jobs.{part}.json.gz")))
}

fn main() {
    if sources().iter().all(|file| file.exists()) {
        divan::main();
    } else {
        eprintln!("skipped: {:?} not found", sources());
    }
}

fn run(bencher: Bencher<'_, '_>, policy: &str) {
    let (spec, (cluster, workload)) = (PolicySpec::parse(policy).unwrap(), &*WORLD);
    let cluster = cluster.for_policy(&*spec.build().unwrap()).unwrap();
    bencher.bench(|| {
        let mut built = spec.build().unwrap();
        replay(workload, &cluster, (policy, &mut *built), &Options::default(), &mut (), &mut |_| {}).unwrap()
    });
}

fn hadoop_policies() -> impl Iterator<Item = String> {
    POLICIES.iter().filter(|info| !info.is_batch()).map(|info| info.name.to_owned())
}

fn speculators_beside_fifo() -> impl Iterator<Item = String> {
    SPECULATORS.iter().map(|info| format!("fifo+{}", info.name))
}

#[divan::bench(sample_count = 1, args = hadoop_policies())]
fn policy(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}

#[divan::bench(sample_count = 1, args = speculators_beside_fifo())]
fn speculator(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}
