//! Runs of the FGD paper beside its stored results, point by point.
//!
//! The lists are read from `$RESCHED_SHARED/traces/openb`. All 1,020 runs are those of `examples/openb.rs`, which takes a release build;
//! here are some of them. Without the folder the test reports itself as skipped.

mod shared;

use std::fs::File;

use flate2::read::GzDecoder;
use resched_kubernetes::gpu::Policy;
use resched_kubernetes::gpu::openb::{Experiment, read_nodes, read_pods};

const POLICIES: [(Policy, &str); 6] = [
    (Policy::Random, "01-Random"),
    (Policy::DotProduct, "02-DotProd"),
    (Policy::GpuClustering, "03-GpuClustering"),
    (Policy::GpuPacking, "04-GpuPacking"),
    (Policy::BestFit, "05-BestFit"),
    (Policy::Fgd, "06-FGD"),
];

#[test]
fn curves_are_those_of_the_paper() {
    let Some(folder) = shared::shared("traces/openb") else { return };
    let open = |name: &str| GzDecoder::new(File::open(folder.join(name)).expect("the file is there"));
    let nodes = read_nodes(open("openb_node_list_gpu_node.csv.gz"), "nodes").expect("the list is valid");
    let mut expected = Vec::new();
    for row in csv::Reader::from_reader(open("expected_allo_discrete.csv.gz")).into_records() {
        expected.push(row.expect("the row is as wide as the header"));
    }
    // Lists without models, with models, and with so many GPUs asked for that pods are left out; each with its seed.
    for (list, seed) in
        [("openb_pod_list_default", 42), ("openb_pod_list_gpuspec33", 47), ("openb_pod_list_multigpu50", 51)]
    {
        let pods = read_pods(open(&format!("{list}.csv.gz")), list).expect("the list is valid");
        let experiment = Experiment::new(nodes.clone(), pods);
        for (policy, name) in POLICIES {
            let of_run = |row: &&csv::StringRecord| row[0] == *list && row[1] == *name && row[3] == seed.to_string();
            let theirs = expected.iter().find(of_run).expect("the run is stored");
            let theirs: Vec<f64> = theirs.iter().skip(5).map(|value| value.parse().expect("a share")).collect();
            let ours = experiment.run(policy, 130, seed).expect("the list is valid");
            assert_eq!(ours.len(), theirs.len());
            // Draws of random differ; all else is equal up to the last digit of a mean.
            let apart = if policy == Policy::Random { 1.5 } else { 0.0151 };
            for (point, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                assert!((ours - theirs).abs() <= apart, "{list} {name} at {point} %: {ours}, stored {theirs}");
            }
        }
    }
}
