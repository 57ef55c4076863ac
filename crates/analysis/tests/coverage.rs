//! How often intervals hold a difference that is known: made-up jobs whose times are heavy-tailed and depend on their neighbours, and logs
//! of queues with memory.
#![allow(clippy::unwrap_used)]

mod queues;

use rand::RngExt;
use resched_analysis::JobMetrics;
use resched_analysis::statistics::compare::{How, JOB_METRICS, compare, of_other_days};
use resched_analysis::statistics::practical::{Matters, Ratio};
use resched_tables::draws::{Purpose, stream};

use queues::{Arrivals, Policy, Process};

/// How a world is made. The logarithms of times are normal: `ln x = spread·z` in the first run, and `ln y = shift + spread₂·z'` in the
/// second, where `z` and `z'` are of a process of first order (its neighbour's share is `memory`) and resemble each other.
#[derive(Clone, Copy)]
struct World {
    jobs: usize,
    /// Time between arrivals, ms.
    gap: i64,
    memory: f64,
    /// The share of `z'` that is `z`.
    alike: f64,
    spread: [f64; 2],
    shift: f64,
}

impl World {
    /// The ratio of the means: that of two log-normal distributions.
    fn ratio_of_means(self) -> f64 {
        let [one, two] = self.spread;
        (self.shift + (two * two - one * one) / 2.0).exp()
    }

    /// The ratio of the quantiles at which a standard normal variable is `z`.
    fn ratio_of_quantiles(self, z: f64) -> f64 {
        let [one, two] = self.spread;
        (self.shift + z * (two - one)).exp()
    }

    fn runs(self, seed: u64) -> [Vec<JobMetrics>; 2] {
        let mut draws = stream(seed, Purpose::TaskDuration, &[77]);
        let mut normal = || {
            let (u, v): (f64, f64) = (draws.random(), draws.random());
            (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let (mut common, mut private) = (normal(), normal());
        let fresh = (1.0 - self.memory * self.memory).sqrt();
        let times = (0..self.jobs).map(|_| {
            common = self.memory * common + fresh * normal();
            private = self.memory * private + fresh * normal();
            let second = self.alike * common + (1.0 - self.alike * self.alike).sqrt() * private;
            let ms = |log: f64| (600_000.0 * log.exp()).round() as i64;
            (ms(self.spread[0] * common), ms(self.shift + self.spread[1] * second))
        });
        let (first, second): (Vec<i64>, Vec<i64>) = times.unzip();
        let job = |(at, completion): (usize, i64)| JobMetrics {
            job_id: format!("{at:06}"),
            submit: Some(at as i64 * self.gap),
            completion: Some(completion),
            ..JobMetrics::default()
        };
        [first, second].map(|times| times.into_iter().enumerate().map(job).collect())
    }
}

/// The share of 95 % intervals that hold the truth: of the ratio of means, of p50 and of p95.
fn coverage(world: World, seeds: u64, worlds: u64) -> [f64; 3] {
    let truth = [world.ratio_of_means(), world.ratio_of_quantiles(0.0), world.ratio_of_quantiles(1.644_853_6)];
    let (mut held, mut printed) = ([0u64; 3], 0);
    for number in 0..worlds {
        let runs: Vec<[Vec<JobMetrics>; 2]> = (0..seeds).map(|seed| world.runs(number * seeds + seed)).collect();
        let pairs: Vec<_> = runs.iter().map(|[first, second]| (first.as_slice(), second.as_slice())).collect();
        let how = How { matters: Matters::default(), seed: number, answerable: true };
        let found = compare(&pairs, &JOB_METRICS[0], &how);
        if found.basis.is_these_jobs_only() {
            continue;
        }
        printed += 1;
        let ratios = [found.ratio_of_means, found.ratio_of_p50, found.ratio_of_p95];
        for ((held, ratio), truth) in held.iter_mut().zip(ratios).zip(truth) {
            let holds = |ratio: Ratio| ratio.interval.is_some_and(|[low, high]| (low..=high).contains(&truth));
            *held += u64::from(ratio.is_some_and(holds));
        }
    }
    assert!(10 * printed > 8 * worlds, "{printed} of {worlds} have an interval");
    held.map(|held| held as f64 / printed as f64)
}

/// A day's worth of arrivals, three weeks of them, and 5 seeds.
fn cases() -> [(&'static str, World, u64); 3] {
    let world = World { jobs: 2_000, gap: 40_000, memory: 0.6, alike: 0.7, spread: [1.0, 0.9], shift: -0.2 };
    [
        ("arrivals", world, 1),
        ("days", World { jobs: 4_000, gap: 600_000, memory: 0.8, ..world }, 1),
        ("seeds", World { jobs: 400, ..world }, 5),
    ]
}

#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn check(worlds: u64, least: f64, most: f64) {
    for (name, world, seeds) in cases() {
        let found = coverage(world, seeds, worlds);
        eprintln!("{name}: {worlds} worlds, 95 % intervals of means, p50, p95 hold {found:.3?}");
        for (what, share) in ["means", "p50", "p95"].into_iter().zip(found) {
            assert!((least..=most).contains(&share), "{name}: {what}: {share} of {worlds}");
        }
    }
}

/// Of 40 worlds, 38 intervals hold it on average; fewer than 33 happen once in 70 such tests of nine, if 95 % is true.
#[test]
fn most_intervals_hold_a_known_difference() {
    check(40, 0.8, 1.0);
}

/// The full count takes minutes: `cargo test --workspace --test coverage -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn of_500_worlds_at_least_93_of_100_intervals_hold_a_known_difference() {
    check(500, 0.93, 0.995);
}

/// What the logs of a process say about a policy against FIFO.
struct Held {
    /// The ratio of means over all logs.
    truth: f64,
    logs: usize,
    /// How many logs have an interval, and how many of these hold the truth.
    printed: usize,
    held: usize,
}

impl Held {
    /// The share of the intervals that hold the truth.
    fn share(&self) -> f64 {
        self.held as f64 / self.printed as f64
    }
}

/// How often the interval of one log holds the ratio over all logs of the process, under EASY and a fair share against FIFO.
fn of_queue(process: Process, logs: u64) -> [Held; 2] {
    let made: Vec<[Vec<JobMetrics>; 3]> =
        (0..logs).map(|seed| process.log(seed, [Policy::Fifo, Policy::Easy, Policy::Fair])).collect();
    [1, 2].map(|policy| {
        let total = |of: usize| -> f64 {
            made.iter().flat_map(|log| &log[of]).filter_map(|job| job.completion).map(|ms| ms as f64).sum()
        };
        let truth = total(policy) / total(0);
        let found: Vec<[f64; 2]> = made
            .iter()
            .zip(0..)
            .filter_map(|(log, seed)| of_other_days(&log[0], &log[policy], &JOB_METRICS[0], seed).1?.interval)
            .collect();
        let held = found.iter().filter(|[low, high]| (*low..=*high).contains(&truth)).count();
        Held { truth, logs: made.len(), printed: found.len(), held }
    })
}

/// Thirty blocks of arrivals, as they were once, hold the truth in half of these logs.
#[test]
fn intervals_of_a_queue_with_memory_hold_what_other_logs_bring() {
    for arrivals in [Arrivals::Poisson, Arrivals::Daily] {
        for (policy, found) in of_queue(Process { cpus: 128, load: 0.5, arrivals, days: 15.0 }, 60).iter().enumerate() {
            assert!(found.printed > 20, "{arrivals:?} {policy}: {} of {} logs", found.printed, found.logs);
            assert!(found.share() > 0.85, "{arrivals:?} {policy}: {} of {}", found.held, found.printed);
        }
    }
}

/// At this load FIFO has no long run: a queue that begins to grow does not end.
#[test]
fn an_overloaded_queue_has_no_interval() {
    for found in of_queue(Process { cpus: 128, load: 0.9, arrivals: Arrivals::Poisson, days: 15.0 }, 20) {
        assert!(found.printed <= 1, "{} of {}", found.printed, found.logs);
    }
}

/// The table of docs/intervals.md. With these crates optimised, it takes some minutes:
/// `cargo test --workspace --test coverage -- --ignored --nocapture table`.
#[test]
#[ignore = "takes minutes"]
#[allow(clippy::print_stdout, reason = "it prints a table")]
fn the_table_of_queues() {
    const SPANS: [f64; 3] = [15.0, 30.0, 60.0];
    println!("| jobs arrive | load | against FIFO | change | 15 days | 30 days | 60 days |");
    println!("|---|---|---|---|---|---|---|");
    let (mut printed, mut held) = ([0u32; SPANS.len()], [0u32; SPANS.len()]);
    for (arrivals, title) in [(Arrivals::Poisson, "at random"), (Arrivals::Daily, "mostly by day")] {
        for load in [0.5, 0.7, 0.9] {
            let found = SPANS.map(|days| of_queue(Process { cpus: 256, load, arrivals, days }, 200));
            for (policy, name) in ["EASY", "fair share"].into_iter().enumerate() {
                let of = found.iter().map(|both| &both[policy]);
                let cells: Vec<String> = of.clone().map(cell).collect();
                for ((printed, held), found) in printed.iter_mut().zip(&mut held).zip(of) {
                    (*printed, *held) = (*printed + found.printed as u32, *held + found.held as u32);
                }
                let changes: Vec<String> = found.iter().map(|both| percent(both[policy].truth - 1.0)).collect();
                let changes = changes.join(", ");
                println!("| {title} | {load} | {name} | {changes} % | {} |", cells.join(" | "));
            }
        }
    }
    let shares = held
        .iter()
        .zip(printed)
        .map(|(held, printed)| format!("{:.1} %", 100.0 * f64::from(*held) / f64::from(printed)));
    println!("| all | | | | {} |", shares.collect::<Vec<_>>().join(" | "));
}

/// A change as a whole number of per cent, with its sign.
fn percent(change: f64) -> String {
    match (100.0 * change).round() {
        0.0 => "0".to_owned(),
        percent => format!("{percent:+.0}").replace('-', "−"),
    }
}

/// The share of intervals that hold the truth, and how many logs have one.
fn cell(found: &Held) -> String {
    let printed = 100 * found.printed / found.logs;
    if found.printed * 20 < found.logs {
        return format!("none ({printed} %)");
    }
    format!("{:.1} % ({printed} %)", 100.0 * found.share())
}
