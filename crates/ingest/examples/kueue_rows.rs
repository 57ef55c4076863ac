//! Writes a made-up table of workloads of Kueue (`docs/formats/kueue-workloads.md`), of any size.
//!
//! `cargo run --release -p resched-ingest --example kueue_rows -- FILE WORKLOADS [SEED]`
//!
//! Three teams share GPUs. Most workloads come between 8 and 18 o'clock; `batch` submits at night, too. A fifth of them have a launcher
//! beside their workers. One seed gives the same bytes.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, LogNormal};
use resched_tables::draws::{Purpose, stream};

const HEADER: &str =
    "workload,namespace,queue,priority_class,submit,run,podset,count,cpu,memory,gpu,node_selector,tolerations";
const EXPECTED: &str = "expected: kueue_rows FILE WORKLOADS [SEED]";
/// A day, s.
const DAY: f64 = 86_400.0;
/// The mean time between two workloads in the day, s, and how many times as long it is at night.
const BETWEEN: f64 = 210.0;
const AT_NIGHT: f64 = 4.0;

/// A team: its namespace and queue, its share of the workloads, the median of its run times (s), and the GPUs of a pod.
struct Team {
    name: &'static str,
    queue: &'static str,
    share: f64,
    run: f64,
    gpus: &'static [u32],
}

const TEAMS: [Team; 3] = [
    Team { name: "research", queue: "train", share: 0.45, run: 2_400.0, gpus: &[1, 2, 4, 8] },
    Team { name: "product", queue: "tune", share: 0.35, run: 900.0, gpus: &[1, 1, 2] },
    Team { name: "batch", queue: "nightly", share: 0.20, run: 1_500.0, gpus: &[0, 1] },
];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (file, numbers) = args.split_first().ok_or(EXPECTED)?;
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (workloads, seed) = match numbers[..] {
        [workloads] => (workloads, 1),
        [workloads, seed] => (workloads, seed),
        _ => return Err(EXPECTED.into()),
    };
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "{HEADER}")?;
    let mut submit = 6.0 * 3_600.0;
    for number in 1..=workloads {
        let mut rng = stream(seed, Purpose::JobArrival, &[number]);
        let wait: f64 = Exp1.sample(&mut rng);
        let hour = (submit % DAY) / 3_600.0;
        let slower = if (8.0..18.0).contains(&hour) { 1.0 } else { AT_NIGHT };
        submit += wait * BETWEEN * slower;
        write_workload(&mut out, number, submit as u64, &mut rng)?;
    }
    Ok(out.flush()?)
}

fn write_workload(out: &mut impl Write, number: u64, submit: u64, rng: &mut impl Rng) -> Result<(), Box<dyn Error>> {
    let mut left = rng.random::<f64>();
    let team = TEAMS.iter().find(|team| {
        left -= team.share;
        left < 0.0
    });
    let team = team.unwrap_or(&TEAMS[0]);
    let class = ["low", "normal", "normal", "normal", "high"][rng.random_range(0..5)];
    let run = LogNormal::new(team.run.ln(), 1.0)?.sample(rng).clamp(20.0, 40_000.0) as u64;
    let gpus = team.gpus[rng.random_range(0..team.gpus.len())];
    let pods = if gpus >= 4 { rng.random_range(1..3) } else { rng.random_range(1..5) };
    let model = ["", "", "gpu=a100"][rng.random_range(0..3)];
    let name = format!("{}-{number:04}", team.queue);
    let shared = format!("{name},{},{},{class},{submit},{run}", team.name, team.queue);
    if rng.random_range(0..5) == 0 {
        writeln!(out, "{shared},launcher,1,1,2Gi,,,")?;
    }
    match gpus {
        0 => writeln!(out, "{shared},workers,{pods},4,8Gi,,,")?,
        gpus => {
            writeln!(out, "{shared},workers,{pods},{},{}Gi,{gpus},{model},nvidia.com/gpu=present", 4 * gpus, 32 * gpus)?
        }
    }
    Ok(())
}
