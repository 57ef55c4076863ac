//! What a workload takes from a trace.
#![allow(clippy::unwrap_used)]

use resched_sim::ClusterConfig;
use resched_sim::hadoop::{Cluster, Kind, Workload, load};
use resched_trace::store::Trace;
use resched_trace::workload::write_trace;

const WORKLOAD: &str = r#"
name = "two"
about = "a job that reads splits, and one that reads nothing"

[cluster]
nodes = 3
replication = 2
split_bytes = 5_000_000

[classes.reads]
map_mean_s = 3.0

[classes.makes]
map_mean_s = 3.0
reads_input = false

[[jobs]]
name = "1"
class = "reads"
submit_s = 0
maps = 4
reduces = 1

[[jobs]]
name = "2"
class = "makes"
submit_s = 1
maps = 2
"#;

fn loaded() -> Workload {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("two.toml"), dir.path().join("trace"));
    std::fs::write(&file, WORKLOAD).unwrap();
    write_trace(&file, 1, &out).unwrap();
    let trace = Trace::open(&out).unwrap();
    let cluster = Cluster::for_trace(ClusterConfig::default(), &trace).unwrap();
    load(&trace, &cluster, 1).unwrap().0
}

#[test]
fn maps_know_their_hosts_and_how_much_they_read() {
    let workload = loaded();
    let splits = |job: usize| -> Vec<(Option<u64>, usize)> {
        let job = workload.find(&workload.jobs()[job].id).unwrap();
        let maps = (0..workload.job(job).count(Kind::Map)).map(|number| workload.task(job, Kind::Map, number).unwrap());
        maps.map(|map| (workload.input_bytes(map), workload.replicas(map).len())).collect()
    };
    assert_eq!(splits(0), [(Some(5_000_000), 2); 4]);
    assert_eq!(splits(1), [(Some(0), 0); 2]);
}
