//! Writes made-up tables in the form of Google's trace of 2011, of any size, to measure ingest without the real trace.
//!
//! `cargo run --release -p resched-ingest --example google_events -- FOLDER GIGABYTES [SEED]`
//!
//! Jobs come by chance, with a few tasks or thousands; a task waits, runs, and ends well, or fails or is evicted and tries
//! again. As in the real trace, rows of both tables stand by time in 500 files each, so the events of a job are spread over
//! many. `FOLDER` gets `job_events`, `task_events` and `machine_events`, uncompressed. One seed gives the same bytes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, LogNormal};
use resched_tables::draws::{Purpose, stream};

const MACHINES: u64 = 12_500;
const PARTS: u64 = 500;
/// µs.
const SECOND: u64 = 1_000_000;
const FIRST: u64 = 600 * SECOND;
/// The most tasks of a job, as in the real trace.
const MOST_TASKS: f64 = 20_000.0;

/// What happens, under the numbers of the trace.
const SUBMIT: u8 = 0;
const SCHEDULE: u8 = 1;
const EVICT: u8 = 2;
const FAIL: u8 = 3;
const FINISH: u8 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (folder, gigabytes, seed) = match args.as_slice() {
        [folder, gigabytes] => (folder, gigabytes.parse::<f64>()?, 1),
        [folder, gigabytes, seed] => (folder, gigabytes.parse()?, seed.parse()?),
        _ => return Err("expected: google_events FOLDER GIGABYTES [SEED]".into()),
    };
    let folder = Path::new(folder);
    machines(folder)?;
    Generator::new(folder, (gigabytes * 1e9) as u64, seed)?.run()
}

fn machines(folder: &Path) -> Result<(), Box<dyn Error>> {
    let folder = folder.join("machine_events");
    fs::create_dir_all(&folder)?;
    let mut file = BufWriter::new(File::create(folder.join("part-00000-of-00001.csv"))?);
    for machine in 0..MACHINES {
        writeln!(file, "0,{machine},0,{},0.5,0.2493", hash(7))?;
    }
    Ok(file.flush()?)
}

/// A hash as the trace writes names: 44 characters that end in `=`.
fn hash(number: u64) -> String {
    let mut generator = stream(0, Purpose::JobChoice, &[number]);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |_| char::from(letters[(generator.next_u64() % 64) as usize]);
    (0..43).map(letter).chain(['=']).collect()
}

/// A table in parts of equal size.
struct Table {
    folder: PathBuf,
    part: u64,
    part_bytes: u64,
    written: u64,
    file: BufWriter<File>,
}

impl Table {
    fn create(folder: PathBuf, bytes: u64) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(&folder)?;
        let file = Self::part(&folder, 0)?;
        Ok(Self { folder, part: 0, part_bytes: bytes / PARTS + 1, written: 0, file })
    }

    fn part(folder: &Path, part: u64) -> std::io::Result<BufWriter<File>> {
        let file = File::create(folder.join(format!("part-{part:05}-of-{PARTS:05}.csv")))?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    }

    fn write(&mut self, row: &str) -> Result<(), Box<dyn Error>> {
        if self.written >= self.part_bytes * (self.part + 1) && self.part + 1 < PARTS {
            self.part += 1;
            self.file.flush()?;
            self.file = Self::part(&self.folder, self.part)?;
        }
        self.written += row.len() as u64;
        Ok(self.file.write_all(row.as_bytes())?)
    }
}

/// An event to come: time, order among equals, job, task, event and machine.
type Event = Reverse<(u64, u64, u64, u64, u8, u64)>;

struct Job {
    tasks: u64,
    left: u64,
    user: String,
    class: u64,
    priority: u64,
    request: String,
    scheduled: bool,
}

struct Generator {
    jobs: Table,
    tasks: Table,
    bytes: u64,
    seed: u64,
    events: BinaryHeap<Event>,
    running: BTreeMap<u64, Job>,
    made: u64,
    order: u64,
}

impl Generator {
    fn new(folder: &Path, bytes: u64, seed: u64) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            // Job events are some 4 % of the real tables.
            jobs: Table::create(folder.join("job_events"), bytes / 25)?,
            tasks: Table::create(folder.join("task_events"), bytes)?,
            bytes,
            seed,
            events: BinaryHeap::new(),
            running: BTreeMap::new(),
            made: 0,
            order: 0,
        })
    }

    fn run(mut self) -> Result<(), Box<dyn Error>> {
        let mut arrival = FIRST;
        while self.tasks.written + self.jobs.written < self.bytes {
            // The next job comes when nothing is left to happen before.
            if self.events.peek().is_none_or(|Reverse(next)| next.0 > arrival) {
                arrival = self.arrive(arrival)?;
            } else if let Some(Reverse((time, _, job, task, event, machine))) = self.events.pop() {
                self.happen(time, job, task, event, machine)?;
            }
        }
        self.jobs.file.flush()?;
        Ok(self.tasks.file.flush()?)
    }

    /// A job comes; returns when the next one does.
    fn arrive(&mut self, time: u64) -> Result<u64, Box<dyn Error>> {
        let id = 6_250_000_000 + 7 * self.made;
        self.made += 1;
        let mut draws = stream(self.seed, Purpose::JobArrival, &[id]);
        let tasks: f64 = LogNormal::new(1.0, 2.0)?.sample(&mut draws);
        let tasks = tasks.clamp(1.0, MOST_TASKS) as u64;
        let (cpu, memory) = (draws.random_range(1..5_000_u32), draws.random_range(1..9_000_u32));
        let job = Job {
            tasks,
            left: tasks,
            user: hash(draws.random_range(0..900)),
            class: draws.random_range(0..4),
            priority: [0, 0, 1, 2, 4, 9, 10][draws.random_range(0..7_usize)],
            request: format!("0.{cpu:05},0.{memory:05},0.0004244,0"),
            scheduled: false,
        };
        self.job_row(time, id, SUBMIT, &job)?;
        self.running.insert(id, job);
        for task in 0..tasks {
            self.plan(time + task, id, task, SUBMIT, 0);
        }
        Ok(time + draws.random_range(0..2 * SECOND))
    }

    fn plan(&mut self, time: u64, job: u64, task: u64, event: u8, machine: u64) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, job, task, event, machine)));
    }

    /// Writes an event of a task, and plans its consequences.
    fn happen(&mut self, time: u64, id: u64, task: u64, event: u8, machine: u64) -> Result<(), Box<dyn Error>> {
        let Some(mut job) = self.running.remove(&id) else { return Ok(()) };
        let Job { user, class, priority, request, .. } = &job;
        let place = if event == SUBMIT { String::new() } else { machine.to_string() };
        self.tasks.write(&format!("{time},,{id},{task},{place},{event},{user},{class},{priority},{request}\n"))?;
        let mut draws = stream(self.seed, Purpose::TaskDuration, &[id, task, time]);
        match event {
            SUBMIT => {
                let seconds: f64 = LogNormal::new(0.0, 1.5)?.sample(&mut draws);
                let wait = seconds * SECOND as f64;
                self.plan(time + wait as u64, id, task, SCHEDULE, draws.random_range(0..MACHINES));
            }
            SCHEDULE => {
                if !std::mem::replace(&mut job.scheduled, true) {
                    self.job_row(time, id, SCHEDULE, &job)?;
                }
                let seconds: f64 = LogNormal::new(5.0, 1.5)?.sample(&mut draws);
                let length = seconds.min(1e6) * SECOND as f64;
                let end = match draws.random_range(0..100) {
                    0..12 => EVICT,
                    12..16 => FAIL,
                    _ => FINISH,
                };
                self.plan(time + length as u64, id, task, end, machine);
            }
            EVICT | FAIL => self.plan(time + 9, id, task, SUBMIT, 0),
            _ => job.left -= 1,
        }
        if job.left == 0 {
            return self.job_row(time, id, FINISH, &job);
        }
        self.running.insert(id, job);
        Ok(())
    }

    fn job_row(&mut self, time: u64, id: u64, event: u8, job: &Job) -> Result<(), Box<dyn Error>> {
        let Job { user, class, tasks, .. } = job;
        let row =
            format!("{time},,{id},{event},{user},{class},{},{}\n", hash(1_000 + id % 997), hash(2_000 + tasks % 97));
        self.jobs.write(&row)
    }
}
