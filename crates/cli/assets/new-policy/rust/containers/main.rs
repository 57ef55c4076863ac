//! Replays the policy beside published ones: `cargo run`, or `cargo run -- SOURCE CLUSTER.toml` for a trace or a workload file of your own.

mod policy;

use std::path::Path;
use std::process::ExitCode;

use policy::MyPolicy;
use resched_kit::prelude::*;

/// Each seed draws other run times.
const SEEDS: u64 = 10;
/// The values of the patience that are tried, in seconds.
const PATIENCE: [u32; 3] = [60, 120, 300];

fn main() -> ExitCode {
    match compared() {
        Ok(table) => println!("{table}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The published policies and yours, with each value of its parameter, on the same jobs. The first is the one that the others are compared with.
fn compared() -> Result<Table, Error> {
    let mut arguments = std::env::args().skip(1);
    let source = Source::open(arguments.next().unwrap_or_else(|| "workload.toml".to_owned()))?;
    let cluster = ClusterConfig::read(Path::new(&arguments.next().unwrap_or_else(|| "cluster.toml".to_owned())))?;
    let setup = Setup { cluster, ..Setup::default() };
    let mut policies = vec![Candidate::listed("yarn-fifo"), Candidate::listed("yarn-fair")];
    for patience in PATIENCE {
        let label = format!("my-policy:patience={patience}");
        policies.push(Candidate::hadoop(label, move || MyPolicy::new(patience)));
    }
    compare(&source, &setup, SEEDS, &policies)
}
