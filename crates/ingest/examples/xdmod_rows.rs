//! Writes a made-up list of jobs in the form of Open XDMoD (`sacct` without a header, 26 fields), of any size, to measure ingest without a
//! real one.
//!
//! `cargo run --release -p resched-ingest --example xdmod_rows -- OUT JOBS [MONTHS] [SEED]`
//!
//! OUT is a file, or `-` for standard output, so that a list of 44 million jobs (9 GB) needs no disk:
//!
//! ```text
//! xdmod_rows - 44000000 | resched ingest - --format sacct --out trace
//! ```
//!
//! With MONTHS, OUT is a folder, which gets that many lists `month-01.txt`, …: each has the jobs that waited, ran or ended in its part of the
//! time. A job that goes on beyond the end of a list is in it as it stood then, and in the next one again. All lists together give the
//! tables of the one list.
//!
//! Ten jobs a minute arrive on 2,000 nodes of 64 CPUs. Most of them take up to 16 CPUs of a node, the others up to 16 whole nodes. A
//! tenth are tasks of arrays, and one of a hundred was given back to the queue once. One seed gives the same bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const EXPECTED: &str = "expected: xdmod_rows OUT JOBS [MONTHS] [SEED]";
/// When the first job arrives (s).
const EPOCH: u64 = 1_700_000_000;
/// How many jobs are submitted within a minute.
const A_MINUTE: u64 = 10;
/// Nodes whose CPUs are shared, in parts of 16, and nodes that are given as a whole.
const NODES: (u64, u64) = (1_200, 800);
const CPUS: u64 = 64;
const PARTS: u64 = 4;
/// The tasks of an array.
const TASKS: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (out, numbers) = args.split_first().ok_or(EXPECTED)?;
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (jobs, months, seed) = match numbers[..] {
        [jobs] => (jobs, 0, 1),
        [jobs, months] => (jobs, months, 1),
        [jobs, months, seed] => (jobs, months, seed),
        _ => return Err(EXPECTED.into()),
    };
    let mut lists = Lists::create(out, jobs, months)?;
    let mut cluster = Cluster::new();
    let mut draw = Draw(seed);
    for number in 1..=jobs {
        let job = Job::draw(number, &mut draw, &mut cluster);
        lists.write(&job)?;
    }
    lists.finish()
}

/// Numbers by chance (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below.max(1)
    }
}

/// When each part of the shared nodes, and each whole node, is free.
struct Cluster {
    parts: BinaryHeap<Reverse<(u64, u64)>>,
    whole: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Cluster {
    fn new() -> Self {
        let free = |numbers: std::ops::Range<u64>| numbers.map(|number| Reverse((0, number))).collect();
        Self { parts: free(0..NODES.0 * PARTS), whole: free(NODES.0..NODES.0 + NODES.1) }
    }

    /// Starts a job on the nodes that are free first. Returns when, and where.
    fn start(&mut self, submit: u64, whole_nodes: u64, run: u64) -> (u64, Vec<u64>) {
        let (heap, n) = if whole_nodes == 0 { (&mut self.parts, 1) } else { (&mut self.whole, whole_nodes) };
        let taken: Vec<(u64, u64)> = (0..n).filter_map(|_| heap.pop()).map(|Reverse(free)| free).collect();
        let start = taken.iter().map(|&(at, _)| at).max().unwrap_or(0).max(submit);
        heap.extend(taken.iter().map(|&(_, number)| Reverse((start + run, number))));
        let node = |number: u64| if whole_nodes == 0 { number / PARTS } else { number };
        let mut nodes: Vec<u64> = taken.into_iter().map(|(_, number)| node(number)).collect();
        nodes.sort_unstable();
        (start, nodes)
    }
}

/// A run of a job. Times are seconds.
struct Job {
    number: u64,
    id: String,
    submit: u64,
    start: u64,
    end: u64,
    state: &'static str,
    cpus: u64,
    limit: u64,
    nodes: Vec<u64>,
    user: u64,
    /// When it was given back to the queue, after it had run for a while.
    requeued: Option<u64>,
}

impl Job {
    fn draw(number: u64, draw: &mut Draw, cluster: &mut Cluster) -> Self {
        let group = number / TASKS;
        let is_task = group % 10 == 3;
        // The tasks of an array are submitted at once.
        let at = if is_task { group * TASKS } else { number };
        let submit = EPOCH + at * 60 / A_MINUTE;
        let whole_nodes = if draw.next(100) < 3 { 1 << draw.next(5) } else { 0 };
        let run = match draw.next(10) {
            0..4 => 10 + draw.next(600),
            4..8 => 600 + draw.next(20_000),
            _ => 20_000 + draw.next(100_000),
        };
        let requeued = (!is_task && draw.next(100) == 0).then(|| submit + 300 + draw.next(600));
        let (start, nodes) = cluster.start(requeued.unwrap_or(submit), whole_nodes, run);
        let cpus = if whole_nodes == 0 { 1 << draw.next(5) } else { whole_nodes * CPUS };
        let state = ["COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 4711"];
        let user = draw.next(40) * draw.next(40);
        let limit = run / 60 * (1 + draw.next(3)) + 1;
        let id = if is_task { format!("{}_{}", group * TASKS, number % TASKS) } else { number.to_string() };
        let state = state[draw.next(6) as usize];
        Self { number, id, submit, start, end: start + run, state, cpus, limit, nodes, user, requeued }
    }

    /// Its rows as they stood at a time, as far as it had been submitted then.
    fn rows(&self, until: u64, from: u64, text: &mut String) {
        if let Some(again) = self.requeued.filter(|&again| again >= from && again <= until) {
            self.row((self.submit, Some(self.submit + 100), Some(again)), "REQUEUED", text);
        }
        let submit = self.requeued.unwrap_or(self.submit);
        if submit > until || self.end < from {
            return;
        }
        match (self.start <= until, self.end <= until) {
            (_, true) => self.row((submit, Some(self.start), Some(self.end)), self.state, text),
            (true, false) => self.row((submit, Some(self.start), None), "RUNNING", text),
            (false, false) => self.row((submit, None, None), "PENDING", text),
        }
    }

    fn row(&self, (submit, start, end): (u64, Option<u64>, Option<u64>), state: &str, text: &mut String) {
        let Self { number, id, cpus, limit, nodes, user, .. } = self;
        let known = |at: Option<u64>| at.map_or_else(|| "Unknown".to_owned(), time);
        let run = start.zip(end).map_or(0, |(start, end)| end - start);
        let (days, clock) = (run / 86_400, run % 86_400);
        let (hours, minutes, seconds) = (clock / 3_600, clock / 60 % 60, clock % 60);
        let days = if days > 0 { format!("{days}-") } else { String::new() };
        let n = nodes.len();
        let tres = format!("cpu={cpus},mem={}G,node={n}", cpus * 2);
        let (submit, start, end) = (time(submit), known(start), known(end));
        let hosts = if start == "Unknown" { "None assigned".to_owned() } else { host_list(nodes) };
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{id}|{number}|made|batch|acc{:02}|g{:02}|{}|user{user:04}|{}|{submit}|{submit}|{start}|{end}|{days}{hours:02}:{minutes:02}:{seconds:02}|\
             0:0|{state}|{n}|{cpus}|{cpus}|2Gc||{tres}|{}|{:02}:{:02}:00|{hosts}|sim_{}",
            user % 40,
            user % 20,
            5_000 + user % 20,
            10_000 + user,
            if start == "Unknown" { "" } else { &tres },
            limit / 60,
            limit % 60,
            number % 5_000,
        );
    }
}

/// A time as `sacct` prints it, in UTC.
fn time(seconds: u64) -> String {
    let shown = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
    shown.trim_end_matches('Z').to_owned()
}

/// Nodes as Slurm writes them: `n[0001-0003,0007]`. They are in order.
fn host_list(nodes: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &node in nodes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == node => *last = node,
            _ => ranges.push((node, node)),
        }
    }
    let range = |&(first, last): &(u64, u64)| match first == last {
        true => format!("{first:04}"),
        false => format!("{first:04}-{last:04}"),
    };
    let list: Vec<String> = ranges.iter().map(range).collect();
    if nodes.len() == 1 { format!("n{}", list[0]) } else { format!("n[{}]", list.join(",")) }
}

/// The lists that are written: each with its end (s).
struct Lists {
    all: Vec<(Box<dyn Write>, u64)>,
    text: String,
    written: u64,
}

impl Lists {
    fn create(out: &str, jobs: u64, months: u64) -> Result<Self, Box<dyn Error>> {
        let whole = |out: Box<dyn Write>| vec![(Box::new(BufWriter::new(out)) as Box<dyn Write>, u64::MAX)];
        let all = match (out, months) {
            ("-", 0) => whole(Box::new(io::stdout())),
            (_, 0) => whole(Box::new(File::create(out)?)),
            _ => {
                std::fs::create_dir_all(out)?;
                let span = jobs * 60 / A_MINUTE / months + 1;
                let list = |month: u64| -> io::Result<(Box<dyn Write>, u64)> {
                    let file = File::create(Path::new(out).join(format!("month-{month:02}.txt")))?;
                    let until = if month == months { u64::MAX } else { EPOCH + month * span };
                    Ok((Box::new(BufWriter::new(file)), until))
                };
                (1..=months).map(list).collect::<Result<_, _>>()?
            }
        };
        Ok(Self { all, text: String::new(), written: 0 })
    }

    fn write(&mut self, job: &Job) -> io::Result<()> {
        let mut from = 0;
        for (out, until) in &mut self.all {
            self.text.clear();
            job.rows(*until, from, &mut self.text);
            out.write_all(self.text.as_bytes())?;
            self.written += self.text.len() as u64;
            from = until.saturating_add(1);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Box<dyn Error>> {
        self.all.iter_mut().try_for_each(|(out, _)| out.flush())?;
        Ok(writeln!(io::stderr(), "{} bytes", self.written)?)
    }
}
