//! How the time per task of each Hadoop policy and speculator grows with the number of tasks, of nodes and of concurrent jobs.
//!
//! `cargo bench -p resched-policies --bench scaling`. Compare the items (tasks) per second of a policy over the four worlds. The
//! load per node is the same in all of them, so a policy whose cost follows what changes takes as long for a task in each:
//!
//! * `base`: 100 nodes of 4 map slots, about seven jobs of 50 maps at a time.
//! * `tasks`: ten times as many jobs, one after the other.
//! * `nodes`: ten times as many nodes, and jobs ten times as large.
//! * `jobs`: ten times as many jobs at a time, each a tenth as large.
//!
//! `coupling` stands on 100, 1,000 and 10,000 nodes, with reduces, of which it places one at a time. `docs/costs.md` says what
//! grows, and why; `benches/suite figure` draws it.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "each benchmark uses a part")]
mod bag;

use bag::{Bag, run};
use divan::Bencher;
use divan::counter::ItemsCount;
use resched_policies::{POLICIES, PolicySpec, SPECULATORS};
use resched_sim::hadoop::Options;

const BASE: Bag = Bag { nodes: 100, slots: 4, jobs: 40, maps: 50, reduces: 0, load: 0.85 };

fn main() {
    divan::main();
}

fn policies() -> impl Iterator<Item = String> {
    let speculators = SPECULATORS.iter().map(|info| format!("fifo+{}", info.name));
    POLICIES.iter().filter(|info| !info.is_batch()).map(|info| info.name.to_owned()).chain(speculators)
}

fn replays(bencher: Bencher<'_, '_>, name: &str, bag: Bag) {
    let (policy, (cluster, workload)) = (PolicySpec::parse(name).unwrap(), bag.make());
    let world = (cluster.for_policy(&*policy.build().unwrap()).unwrap(), workload);
    let tasks = ItemsCount::new(world.1.task_count());
    bencher.counter(tasks).bench(|| run(&policy, &world, &Options::default()));
}

#[divan::bench(sample_count = 3, args = policies())]
fn base(bencher: Bencher<'_, '_>, name: &str) {
    replays(bencher, name, BASE);
}

#[divan::bench(sample_count = 1, args = policies())]
fn tasks(bencher: Bencher<'_, '_>, name: &str) {
    replays(bencher, name, Bag { jobs: 10 * BASE.jobs, ..BASE });
}

#[divan::bench(sample_count = 1, args = policies())]
fn nodes(bencher: Bencher<'_, '_>, name: &str) {
    replays(bencher, name, Bag { nodes: 10 * BASE.nodes, maps: 10 * BASE.maps, ..BASE });
}

#[divan::bench(sample_count = 1, args = policies())]
fn jobs(bencher: Bencher<'_, '_>, name: &str) {
    replays(bencher, name, Bag { jobs: 10 * BASE.jobs, maps: BASE.maps / 10, ..BASE });
}

#[divan::bench(sample_count = 1, args = [100, 1_000, 10_000])]
fn coupling(bencher: Bencher<'_, '_>, nodes: u32) {
    let larger = nodes / BASE.nodes;
    replays(bencher, "coupling", Bag { nodes, jobs: 10, maps: larger * BASE.maps, reduces: 5 * larger, ..BASE });
}
