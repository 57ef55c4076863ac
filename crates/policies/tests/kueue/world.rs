//! From a table of workloads and a policy to the tables of a run.

use std::collections::BTreeMap;
use std::path::Path;

use resched_policies::PolicySpec;
use resched_sim::batch::{Checked, Policy, RunRows, load, replay_seeded};
use resched_sim::{ClusterConfig, Scope};
use resched_tables::run::RunTables;
use resched_tables::store::Trace;

/// The seed of draws: that of the tests of the decisions alone, so that both draw alike.
const SEED: u64 = 0;

/// A run, and what the clock of the trace shows when that of the run shows 0.
pub(crate) type Replayed = (RunTables, i64);

pub(crate) fn replayed(workloads: &Path, spec: &PolicySpec) -> Result<Replayed, resched_sim::Error> {
    replayed_on(workloads, &mut *spec.build_batch().unwrap(), &ClusterConfig::default())
}

/// As [`replayed`], on the machines of a cluster file.
pub(crate) fn replayed_on(
    workloads: &Path,
    policy: &mut dyn Policy,
    cluster: &ClusterConfig,
) -> Result<Replayed, resched_sim::Error> {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("trace");
    let sources = [workloads.to_owned()];
    let manifest = resched_ingest::ingest(&sources, &at, &resched_ingest::Options::default(), &mut ()).unwrap();
    assert_eq!(manifest.skipped, BTreeMap::new(), "{}", workloads.display());
    let loaded = load(&Trace::open(&at).unwrap(), cluster, &Scope { seed: SEED, ..Scope::default() })?;
    let mut tables = RunTables::default();
    let mut rows = RunRows::new(&loaded.workload, &loaded.machines, &mut tables);
    let mut checked = Checked::new(&loaded.workload, &loaded.machines, "kueue", &mut rows);
    replay_seeded(&loaded.workload, &loaded.machines, ("kueue", policy), SEED, &mut checked, &mut |_| {})?;
    rows.finish()?;
    Ok((tables, loaded.clock.zero))
}
