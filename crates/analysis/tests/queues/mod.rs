//! Queues with memory, to see how often intervals hold what other logs of the same process bring: jobs of several CPUs on one pool,
//! under FIFO, EASY and a fair share. It is a simulator of its own, so that a fault of the engine cannot hide one of the statistics.
#![allow(clippy::indexing_slicing, reason = "a simulator of a test may panic")]

use rand::RngExt;
use resched_analysis::JobMetrics;
use resched_tables::draws::{Purpose, stream};

/// A day, ms.
pub(crate) const DAY: f64 = 86_400_000.0;
const USERS: usize = 6;
const WIDTHS: [u32; 8] = [1, 1, 2, 4, 8, 16, 32, 64];
/// The run times of jobs are log-normal, ms: this is the median, and this the spread.
const MEDIAN: f64 = 2_000_000.0;
const SPREAD: f64 = 1.3;
/// Longer jobs are cut.
const LONGEST: f64 = DAY;

/// How jobs arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// At any time alike (M/G/n).
    Poisson,
    /// Four times as many by day as by night.
    Daily,
}

/// Who starts next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The first that was submitted.
    Fifo,
    /// The same, and others that do not delay the first by their limits.
    Easy,
    /// The user with the fewest CPUs.
    Fair,
}

/// A process that makes logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    pub(crate) cpus: u32,
    /// The share of the CPUs that jobs need.
    pub(crate) load: f64,
    pub(crate) arrivals: Arrivals,
    pub(crate) days: f64,
}

struct Job {
    submit: i64,
    cpus: u32,
    run: i64,
    limit: i64,
    user: usize,
}

impl Process {
    fn jobs(self, seed: u64) -> Vec<Job> {
        let mut draws = stream(seed, Purpose::TaskDuration, &[self.days as u64]);
        let mut uniform = || draws.random::<f64>();
        let mean_width = f64::from(WIDTHS.iter().sum::<u32>()) / WIDTHS.len() as f64;
        // Cutting the longest jobs takes some 7 % of the work.
        let work = mean_width * MEDIAN * (SPREAD * SPREAD / 2.0).exp() * 0.93;
        let gap = work / (self.load * f64::from(self.cpus));
        let peak = 1.6;
        let (mut at, mut jobs) = (0.0, Vec::new());
        loop {
            let rate = if self.arrivals == Arrivals::Daily { peak } else { 1.0 };
            at -= (1.0 - uniform()).ln() * gap / rate;
            if at >= self.days * DAY {
                return jobs;
            }
            let by_day = (8.0 / 24.0..20.0 / 24.0).contains(&(at / DAY).fract());
            if self.arrivals == Arrivals::Daily && !by_day && uniform() > 0.4 / peak {
                continue;
            }
            let normal = (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            let run = (MEDIAN * (SPREAD * normal).exp()).clamp(30_000.0, LONGEST);
            let times = [1.1, 1.5, 2.0, 5.0, 10.0][(uniform() * 5.0) as usize];
            jobs.push(Job {
                submit: at as i64,
                cpus: WIDTHS[(uniform() * WIDTHS.len() as f64) as usize],
                run: run as i64,
                limit: (run * times).min(2.0 * DAY) as i64 + 60_000,
                user: (uniform() * USERS as f64) as usize,
            });
        }
    }

    /// The jobs of one log under each of these policies.
    pub(crate) fn log<const N: usize>(self, seed: u64, policies: [Policy; N]) -> [Vec<JobMetrics>; N] {
        let jobs = self.jobs(seed);
        policies.map(|policy| {
            let starts = starts(&jobs, self.cpus, policy);
            let metrics = |(row, (job, start)): (usize, (&Job, i64))| JobMetrics {
                job_id: format!("{row:07}"),
                submit: Some(job.submit),
                waiting: Some(start - job.submit),
                completion: Some(start + job.run - job.submit),
                ..JobMetrics::default()
            };
            jobs.iter().zip(starts).enumerate().map(metrics).collect()
        })
    }
}

/// What waits and runs.
struct Pool<'a> {
    jobs: &'a [Job],
    free: u32,
    held: [u32; USERS],
    /// The ends of running jobs, the next one last.
    running: Vec<(i64, usize)>,
    waiting: Vec<usize>,
    starts: Vec<i64>,
    now: i64,
}

/// When each job starts.
fn starts(jobs: &[Job], cpus: u32, policy: Policy) -> Vec<i64> {
    let mut pool = Pool {
        jobs,
        free: cpus,
        held: [0; USERS],
        running: Vec::new(),
        waiting: Vec::new(),
        starts: vec![0; jobs.len()],
        now: 0,
    };
    let mut arrived = 0;
    loop {
        let next = [jobs.get(arrived).map(|job| job.submit), pool.running.last().map(|end| end.0)];
        let Some(now) = next.into_iter().flatten().min() else { return pool.starts };
        pool.now = now;
        while let Some((_, job)) = pool.running.pop_if(|end| end.0 <= now) {
            pool.free += jobs[job].cpus;
            pool.held[jobs[job].user] -= jobs[job].cpus;
        }
        while jobs.get(arrived).is_some_and(|job| job.submit <= now) {
            pool.waiting.push(arrived);
            arrived += 1;
        }
        match policy {
            Policy::Fifo => pool.fifo(),
            Policy::Easy => pool.easy(),
            Policy::Fair => pool.fair(),
        }
    }
}

impl Pool<'_> {
    /// Starts the job at this place of the queue.
    fn start(&mut self, place: usize) {
        let job = self.waiting.remove(place);
        self.free -= self.jobs[job].cpus;
        self.held[self.jobs[job].user] += self.jobs[job].cpus;
        self.starts[job] = self.now;
        let end = self.now + self.jobs[job].run;
        let place = self.running.partition_point(|other| other.0 > end);
        self.running.insert(place, (end, job));
    }

    fn fits(&self, place: usize) -> bool {
        self.waiting.get(place).is_some_and(|&job| self.jobs[job].cpus <= self.free)
    }

    fn fifo(&mut self) {
        while self.fits(0) {
            self.start(0);
        }
    }

    fn easy(&mut self) {
        self.fifo();
        let Some(&first) = self.waiting.first() else { return };
        // When the first can start by the limits of what runs, and how many CPUs it leaves then.
        let limit = |&(_, job): &(i64, usize)| (self.starts[job] + self.jobs[job].limit, self.jobs[job].cpus);
        let mut limits: Vec<(i64, u32)> = self.running.iter().map(limit).collect();
        limits.sort_unstable();
        let (mut free, mut shadow, mut extra) = (self.free, i64::MAX, 0);
        for (end, cpus) in limits {
            free += cpus;
            if free >= self.jobs[first].cpus {
                (shadow, extra) = (end, free - self.jobs[first].cpus);
                break;
            }
        }
        let mut place = 1;
        while place < self.waiting.len() && self.free > 0 {
            let job = &self.jobs[self.waiting[place]];
            let in_time = self.now + job.limit <= shadow;
            if self.fits(place) && (in_time || job.cpus <= extra) {
                extra -= if in_time { 0 } else { job.cpus };
                self.start(place);
            } else {
                place += 1;
            }
        }
    }

    fn fair(&mut self) {
        loop {
            let firsts = (0..USERS).filter_map(|user| {
                let place = self.waiting.iter().position(|&job| self.jobs[job].user == user)?;
                Some((self.held[user], place))
            });
            match firsts.min() {
                Some((_, place)) if self.fits(place) => self.start(place),
                _ => return,
            }
        }
    }
}
