//! The example of your own policy does what docs/developers/own-policy.md says.

use std::path::Path;

use crate::shortest_job::compare;
use crate::support::{Dir, repository};

#[test]
fn the_shortest_job_first_shortens_the_mean() {
    let workload = repository("traces/coupling-table3.toml");
    let [fifo, shortest] = compare(Path::new(&workload)).unwrap();
    assert_eq!((fifo.policy.as_str(), shortest.policy.as_str()), ("fifo", "shortest-job"));
    assert_eq!((shortest.jobs_finished, shortest.tasks), (10, fifo.tasks));
    assert!(shortest.mean_completion_ms < fifo.mean_completion_ms, "{shortest:?}");

    let dir = Dir::new();
    let replayed = dir.json(&["replay", &workload, "--assume", "--policy", "fifo", "--out", "R", "--json"]);
    assert_eq!(replayed["mean_completion_ms"].as_f64(), fifo.mean_completion_ms, "the same replay as the binary's");
}
