//! Writes a made-up list of jobs in the form of `sacct -P`, of any size, to measure ingest and replay without a real one.
//!
//! `cargo run --release -p resched-ingest --example sacct_rows -- FILE JOBS [NODES] [SEED] [GPUS]`
//!
//! Jobs arrive as 200,000 a month do on 2,000 nodes (the default) of 64 CPUs, and keep nine tenths of the CPUs busy. They start first
//! come, first served, on nodes that are really free. Half of them take a part of a node, the others up to 32 whole nodes. Each has the
//! rows of two steps. With GPUs on each node, half of the jobs ask for some of a node's. One seed gives the same bytes. The bytes are printed at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, UNIX_EPOCH};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, LogNormal};
use resched_tables::draws::{Purpose, stream};

const CPUS: u64 = 64;
const MOST_NODES: u64 = 32;
/// The mean time between two jobs on 2,000 nodes (s): 200,000 jobs in 30 days.
const BETWEEN: f64 = 12.96;
const LOAD: f64 = 0.9;
/// The spread of run times.
const SIGMA: f64 = 1.3;
/// When the first job arrives (s).
const EPOCH: f64 = 1_790_000_000.0;
const HEADER: &str = "JobID|JobIDRaw|JobName|User|Account|Partition|QOS|Priority|Submit|Eligible|Start|End|ElapsedRaw|Suspended|Timelimit|\
State|ReqCPUS|AllocCPUS|AllocNodes|ReqTRES|AllocTRES|NodeList|Constraints|SubmitLine";

const EXPECTED: &str = "expected: sacct_rows FILE JOBS [NODES] [SEED] [GPUS]";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (file, numbers) = args.split_first().ok_or(EXPECTED)?;
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (jobs, nodes, seed, gpus) = match numbers[..] {
        [jobs] => (jobs, 2_000, 1, 0),
        [jobs, nodes] => (jobs, nodes, 1, 0),
        [jobs, nodes, seed] => (jobs, nodes, seed, 0),
        [jobs, nodes, seed, gpus] => (jobs, nodes, seed, gpus),
        _ => return Err(EXPECTED.into()),
    };
    let mut list = List { out: BufWriter::new(File::create(file)?), written: 0 };
    list.line(HEADER)?;
    let mut cluster = Cluster::new(nodes, gpus);
    let mean = mean_run_time(jobs.min(100_000), nodes, seed);
    let mut submit = EPOCH;
    for number in 1..=jobs {
        let mut rng = stream(seed, Purpose::JobArrival, &[number]);
        let wait: f64 = Exp1.sample(&mut rng);
        submit += wait * BETWEEN * 2_000.0 / nodes as f64;
        let size = Size::draw(&mut rng, nodes);
        let run =
            LogNormal::new(mean.ln() - SIGMA * SIGMA / 2.0, SIGMA)?.sample(&mut rng).clamp(1.0, 20.0 * mean) as u64;
        let gpus = gpus_each(&mut stream(seed, Purpose::JobArrival, &[number, 1]), gpus);
        list.job(number, submit as u64, (size, gpus, run), &mut cluster, &mut rng)?;
    }
    list.out.flush()?;
    Ok(writeln!(std::io::stdout(), "{}", list.written)?)
}

/// The run time at which jobs of these sizes make the load.
fn mean_run_time(jobs: u64, nodes: u64, seed: u64) -> f64 {
    let size = |number| {
        let mut rng = stream(seed, Purpose::JobArrival, &[number]);
        let _: f64 = Exp1.sample(&mut rng);
        Size::draw(&mut rng, nodes).cpus()
    };
    let cpus = (1..=jobs).map(size).sum::<u64>() as f64 / jobs.max(1) as f64;
    LOAD * 2_000.0 * CPUS as f64 * BETWEEN / cpus
}

/// What a job asks for: CPUs of a node, or whole nodes.
#[derive(Clone, Copy)]
enum Size {
    Part(u64),
    Whole(u64),
}

impl Size {
    fn draw(rng: &mut impl Rng, nodes: u64) -> Self {
        let widest = MOST_NODES.min(nodes / 4).max(1);
        match rng.random_range(0..10) {
            0..5 => Self::Part(1 << rng.random_range(0..6)),
            5..8 => Self::Whole(1),
            _ => Self::Whole((1_u64 << rng.random_range(1..=5)).min(widest)),
        }
    }

    fn cpus(self) -> u64 {
        match self {
            Self::Part(cpus) => cpus,
            Self::Whole(nodes) => nodes * CPUS,
        }
    }
}

/// The GPUs of each of its nodes that a job asks for.
fn gpus_each(rng: &mut impl Rng, of_node: u64) -> u64 {
    let asks = of_node > 0 && rng.random_range(0..2) == 0;
    if asks { (1 << rng.random_range(0..3)).min(of_node) } else { 0 }
}

/// A job that runs: its end, its nodes, and what it has of each.
type Running = (u64, Vec<usize>, [u64; 2]);

/// The free CPUs and GPUs of each node, and the jobs that run.
struct Cluster {
    free: Vec<[u64; 2]>,
    running: BinaryHeap<Reverse<Running>>,
    /// When the last job started.
    last: u64,
}

impl Cluster {
    fn new(nodes: u64, gpus: u64) -> Self {
        Self { free: (0..nodes).map(|_| [CPUS, gpus]).collect(), running: BinaryHeap::new(), last: 0 }
    }

    /// Starts a job as soon as there is room. Returns when, and where.
    fn start(&mut self, submit: u64, (size, gpus): (Size, u64), run: u64) -> (u64, Vec<usize>) {
        let mut now = submit.max(self.last);
        let (wanted, each) = match size {
            Size::Part(cpus) => (1, [cpus, gpus]),
            Size::Whole(nodes) => (nodes as usize, [CPUS, gpus]),
        };
        loop {
            while self.running.peek().is_some_and(|Reverse((end, ..))| *end <= now) {
                let Some(Reverse((_, nodes, each))) = self.running.pop() else { break };
                nodes.iter().for_each(|&node| (0..2).for_each(|part| self.free[node][part] += each[part]));
            }
            let has_room = |node: &usize| (0..2).all(|part| self.free[*node][part] >= each[part]);
            let room = (0..self.free.len()).filter(has_room);
            let nodes: Vec<usize> = room.take(wanted).collect();
            if nodes.len() == wanted {
                nodes.iter().for_each(|&node| (0..2).for_each(|part| self.free[node][part] -= each[part]));
                self.running.push(Reverse((now + run, nodes.clone(), each)));
                self.last = now;
                return (now, nodes);
            }
            now = self.running.peek().map_or(now + 1, |Reverse((end, ..))| *end);
        }
    }
}

struct List {
    out: BufWriter<File>,
    written: usize,
}

impl List {
    fn line(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        self.written += line.len() + 1;
        Ok(writeln!(self.out, "{line}")?)
    }

    fn job(
        &mut self,
        number: u64,
        submit: u64,
        (size, gpus, run): (Size, u64, u64),
        cluster: &mut Cluster,
        rng: &mut impl Rng,
    ) -> Result<(), Box<dyn Error>> {
        let user = rng.random_range(0..20_u64) * rng.random_range(0..20_u64);
        let (limit, cpus) = (run / 60 * rng.random_range(1..4) + 1, size.cpus());
        let state =
            ["COMPLETED", "FAILED", "CANCELLED by 1000"][[0, 0, 0, 0, 0, 0, 0, 0, 1, 2][rng.random_range(0..10)]];
        let nodes = match size {
            Size::Part(_) => 1,
            Size::Whole(nodes) => nodes,
        };
        let (start, places) = cluster.start(submit, (size, gpus), run);
        let mut asked = match size {
            Size::Part(cpus) if cpus % 2 == 0 => format!("-n1 -c{cpus}"),
            Size::Part(cpus) => format!("-n{cpus}"),
            Size::Whole(nodes) => format!("-N{nodes} --ntasks-per-node={CPUS}"),
        };
        let mut gres = String::new();
        if gpus > 0 {
            asked.push_str(&format!(" --gres=gpu:{gpus}"));
            gres = format!(",gres/gpu={}", gpus * nodes);
        }
        let days = limit / 1_440;
        let (hours, minutes) = (limit / 60 % 24, limit % 60);
        let hosts = host_list(&places);
        let (submit, start, end) = (time(submit), time(start), time(start + run));
        let mem = cpus * 2;
        self.line(&format!(
            "{number}|{number}|sim_{}|user{user:03}|acc{:02}|{}|normal|{}|{submit}|{submit}|{start}|{end}|{run}|00:00:00|\
             {days}-{hours:02}:{minutes:02}:00|{state}|{cpus}|{cpus}|{nodes}|billing={cpus},cpu={cpus}{gres},mem={mem}G,node={nodes}|\
             billing={cpus},cpu={cpus}{gres},mem={mem}G,node={nodes}|{hosts}||sbatch -A acc{:02} {asked} -t {limit} --mem-per-cpu=2G \
             /home/user{user:03}/run_{}.sh",
            number % 5_000,
            user % 40,
            ["batch", "long"][usize::from(run > 20_000)],
            4_294_901_759 - number,
            user % 40,
            number % 5_000,
        ))?;
        for step in ["batch", "extern"] {
            self.line(&format!(
                "{number}.{step}|{number}.{step}|{step}||acc{:02}||||{start}|{start}|{start}|{end}|{run}|00:00:00||COMPLETED|{cpus}|{cpus}|\
                 {nodes}||cpu={cpus}{gres},mem={mem}G,node={nodes}|{hosts}||",
                user % 40,
            ))?;
        }
        Ok(())
    }
}

/// A time as `sacct` prints it, in UTC.
fn time(seconds: u64) -> String {
    let shown = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
    shown.trim_end_matches('Z').to_owned()
}

/// Nodes as Slurm writes them: `n[0001-0003,0007]`. They are in order.
fn host_list(places: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &place in places {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => ranges.push((place, place)),
        }
    }
    let range = |&(first, last): &(usize, usize)| match first == last {
        true => format!("{first:04}"),
        false => format!("{first:04}-{last:04}"),
    };
    let list: Vec<String> = ranges.iter().map(range).collect();
    if places.len() == 1 { format!("n{}", list[0]) } else { format!("n[{}]", list.join(",")) }
}
