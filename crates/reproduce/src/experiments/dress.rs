//! Shared by the experiments of the DRESS paper: its two schedulers on its testbed, its knobs, and changes of groups of jobs.

use resched_analysis::Run;
use resched_analysis::distribution::mean;
use resched_trace::workload::Workload;

use crate::Error;
use crate::case::{Bundled, Case, bundled};
use crate::experiment::Knob;

use super::measures::{change, completion};

/// The rules of its testbed.
pub(super) const CLUSTER: Bundled = bundled!("clusters/dress.toml");
/// Its baseline.
pub(super) const CAPACITY: &str = "yarn-capacity";

/// DRESS with a reserve that never falls below the share it starts with.
const FLOOR: &str = "dress:delta_min=0.1";
/// Why small jobs gain less here than published.
pub(super) const HELD: &str = "Two small jobs fill the reserve of 10 containers for as long as they run, here as long as the large ones of \
                               their time; the next must wait for them as before. How long the paper's small jobs ran is not given.";
/// Why small jobs gain less if there are few.
pub(super) const COLLAPSE: &str = "As Algorithm 3 has it, the reserve shrinks to nothing whenever no small job is there, large jobs take \
                                   all, and it can grow again only by what large jobs leave over; with a floor of 10 % small jobs gain.";

/// The knobs of the testbed, set once for all experiments of the paper.
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        place: "classes.first",
        value: "maps 300 s, reduces 50 s",
        fixed_by: "Table II (Capacity): makespan 1028.6 s, mean wait 310.1 s, mean completion 570.1 s, each to a tenth",
    },
    Knob { place: "classes.later", value: "maps 135 s, reduces 15 s", fixed_by: "the same three numbers" },
    Knob {
        place: "maps of the large jobs",
        value: "14 to 45",
        fixed_by: "the same three numbers (Capacity), and that the first six jobs take all containers; drawn once, then scaled",
    },
];

/// The assumptions of every experiment of the paper.
pub(super) const ASSUMPTIONS: &[&str] = &[
    "No job's containers, phases or times are given: jobs are drawn, so a single job's number is that of another job of its place and size.",
    "The engine knows two phases, maps and reduces; Spark's stages are taken for them.",
    "100 containers in all, masters included; θ = δ = 10 %, ts = te = 5 tasks, pw = 10 s, and the corrections of policies B.9.",
];

/// A workload under Capacity, DRESS, and DRESS with a floor.
pub(super) fn both(prefix: &str, workload: &Workload) -> Result<Vec<Case>, Error> {
    let rules = CLUSTER.cluster()?;
    [("capacity", CAPACITY), ("dress", "dress"), ("floor", FLOOR)]
        .iter()
        .map(|(label, policy)| Case::new(&format!("{prefix}{label}"), policy, workload.clone(), &rules))
        .collect()
}

/// The mean over some jobs of the change of their completion times, %.
pub(super) fn mean_change(a: &Run, b: &Run, jobs: &[usize]) -> Option<f64> {
    let changes: Vec<f64> = jobs.iter().filter_map(|job| change(completion(a, *job), completion(b, *job))).collect();
    mean(&changes)
}
