//! The reference page of cluster files is made from the code and must be as fresh as the code.

use resched_sim::ClusterConfig;
use resched_tables::reference::{Page, Value};

const CLUSTER: &str = r#"description = "600 nodes of 2010, four maps and two reduces each"

[nodes]
count = 600                # without it: the machines of the trace
racks = 30
map_slots = 4
reduce_slots = 2

[heartbeat]
interval = "mr1-2009"      # or "mr1-2011", or milliseconds
phase = "spread"           # or "together"

[jobs]
slowstart = 0.05

[cost]
locality = [1.0, 1.5, 3.0] # run time on a node with the data, in its rack, elsewhere
reduce = "r2"

[cost.contention]          # without it: tasks do not slow each other down
cores = 4.0
disk = 80e6
network = 117e6
"#;

#[test]
fn the_page_of_cluster_files_is_fresh() {
    ClusterConfig::parse(CLUSTER).unwrap();
    let about = "A cluster file (TOML) describes the machines and the rules of a replay: `resched replay T --cluster FILE`. \
                 Without one, a trace is replayed on its own machines under the defaults. An unknown key is an error that names \
                 the line and the nearest key. `traces/clusters/` holds examples, and `resched calibrate` fits a cluster file \
                 to a trace.";
    let page = Page::new("Cluster file", about, "--workspace --test workspace");
    super::fresh::assert_fresh("reference/cluster-file.md", &page.example(CLUSTER).keys(ClusterConfig::shape()).text());
}
