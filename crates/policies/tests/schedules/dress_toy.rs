//! The toy of DRESS, Fig. 1: four jobs on six containers (`docs/papers/dress.md`). A job starts when all its containers fit at once.
//!
//! The paper's toy has no masters and no heartbeats: here masters are tiny, and heartbeats come every millisecond.

use std::collections::BTreeMap;

use resched_sim::Reports;
use resched_sim::cluster_file::{Containers, Size};
use resched_sim::hadoop::{
    Ask, Cluster, Edges, Ended, Job, Kind, LoggedMap, Observer, Offer, Options, Policy, Reach, Resources, System,
    TaskSpec, Workload, replay,
};
use resched_sim::{ClusterConfig, Error, JobId, Ms, Violation};
use resched_tables::model::{Locality, Outcome, Priority};

const CONTAINERS: u32 = 6;
const SECOND: Ms = 1_000;
/// When the four jobs come, s.
const SUBMITS: [Ms; 4] = [0, 1, 2, 3];

/// What each job takes, and for how long, s.
#[derive(Debug, Clone, Copy)]
struct Toy {
    containers: [u32; 4],
    lengths: [Ms; 4],
}

/// The smallest numbers that fit what the paper says (`docs/papers/dress.md`).
const CANONICAL: Toy = Toy { containers: [3, 4, 3, 2], lengths: [10, 20, 8, 10] };

// The replay.

/// Starts jobs whole, in an order of its own; who cannot start yet holds up those behind.
struct Gang {
    /// The jobs by number, and the earliest second at which each may start.
    order: Vec<(usize, Ms)>,
}

impl Gang {
    fn of(order: [usize; 4]) -> Self {
        Self { order: order.map(|job| (job, 0)).to_vec() }
    }

    fn not_before(starts: [Ms; 4]) -> Self {
        let mut order: Vec<(usize, Ms)> = starts.into_iter().enumerate().collect();
        order.sort_by_key(|&(_, start)| start);
        Self { order }
    }
}

impl Policy for Gang {
    fn system(&self) -> System {
        System::Containers
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        for &job in &offer.view().jobs().to_vec() {
            if offer.view().yarn().app(job).asked(Ask::Am) > 0 {
                offer.grant(job, Ask::Am, Reach::Any)?;
            }
        }
        while let Some(&(job, earliest)) = self.order.first() {
            let there = offer.view().jobs().iter().copied().find(|there: &JobId| there.index() == job);
            let Some(job) = there.filter(|_| offer.view().now() >= earliest * SECOND) else { break };
            let wanted = offer.view().job(job).desired(Kind::Map);
            if offer.view().yarn().app(job).asked(Ask::Map) < wanted || offer.free(Kind::Map) < wanted {
                break;
            }
            while offer.launch_map(job, Reach::Any)?.is_some() {}
            self.order.remove(0);
        }
        Ok(())
    }
}

/// The first start and the last end of each job, ms.
#[derive(Default)]
struct Seen {
    jobs: BTreeMap<usize, (Ms, Ms)>,
    tasks: Vec<usize>,
}

impl Reports for Seen {}

impl Observer for Seen {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let finish = ended.finish.expect("all end");
        let (start, end) = self.jobs.entry(self.tasks[ended.task.index()]).or_insert((ended.start, finish));
        (*start, *end) = (ended.start.min(*start), finish.max(*end));
        Ok(())
    }
}

/// The starts and ends of the jobs, s.
fn run(toy: Toy, mut policy: Gang) -> Plan {
    let mut config = ClusterConfig::default();
    let tiny = Size { memory_mb: 1, vcores: 1 };
    config.containers = Containers {
        memory_mb: Some(CONTAINERS * 1_000 + 4),
        am: tiny,
        map: Size { memory_mb: 1_000, vcores: 1 },
        minimum: tiny,
        node_heartbeat: 1,
        am_heartbeat: 1,
        ..Containers::default()
    };
    let node = ("node".to_owned(), "/rack".to_owned(), Resources::slots(1, 0));
    let cluster = Cluster::new(config, [node]).and_then(|cluster| cluster.for_system(System::Containers));
    let cluster = cluster.expect("a cluster");
    let mut workload = Workload::default();
    let mut seen = Seen::default();
    for job in 0..4 {
        let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Off, run: toy.lengths[job] * SECOND };
        let map = TaskSpec { map_tries: vec![logged], ..TaskSpec::default() };
        let maps = vec![map; toy.containers[job] as usize];
        workload.push(named(job), &maps, &[]).expect("few tasks");
        seen.tasks.extend(maps.iter().map(|_| job));
    }
    workload.arrange(0);
    replay(&workload, &cluster, ("gang", &mut policy), &Options::default(), &mut seen, &mut |_| {}).expect("it ends");
    let of = |job: usize| seen.jobs[&job];
    Plan { starts: [0, 1, 2, 3].map(|job| of(job).0 / SECOND), ends: [0, 1, 2, 3].map(|job| of(job).1 / SECOND) }
}

fn named(job: usize) -> Job {
    Job {
        id: format!("job_1_{:04}", job + 1),
        name: None,
        user: "user".to_owned(),
        queue: String::new(),
        priority: Priority::Normal,
        submit: SUBMITS[job] * SECOND,
        shuffle_bytes: None,
        first_shuffle: None,
        typical_shuffle: None,
        edges: Edges::default(),
        incomplete: false,
        succeeded: false,
        maps: 0..0,
        reduces: 0..0,
        further: Default::default(),
    }
}

/// When each job starts and ends, s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    starts: [Ms; 4],
    ends: [Ms; 4],
}

impl Plan {
    fn makespan(&self) -> Ms {
        self.ends.into_iter().max().unwrap_or(0)
    }

    /// The sum of the four waits; a quarter of it is their mean.
    fn waits(&self) -> Ms {
        self.starts.iter().zip(SUBMITS).map(|(start, submit)| start - submit).sum()
    }
}

#[test]
fn first_come_first_served_ends_at_40_with_a_mean_wait_of_16() {
    let plan = run(CANONICAL, Gang::of([0, 1, 2, 3]));
    assert_eq!(plan.starts, [0, 10, 30, 30]);
    assert_eq!((plan.makespan(), plan.waits()), (40, 4 * 16));
}

#[test]
fn packed_the_jobs_end_at_30_with_a_mean_wait_of_4() {
    let plan = run(CANONICAL, Gang::of([0, 2, 1, 3]));
    assert_eq!(plan.starts, [0, 10, 2, 10]);
    assert_eq!((plan.makespan(), plan.waits()), (30, 4 * 4));
}

#[test]
fn the_published_mean_wait_of_5_75_is_that_of_a_late_first_start() {
    let plan = run(CANONICAL, Gang::not_before([2, 12, 3, 12]));
    assert_eq!(plan.starts, [2, 12, 3, 12]);
    assert_eq!((plan.makespan(), plan.waits()), (32, 23));
    assert_eq!(plan.makespan() - plan.starts[0], 30, "the published makespan, from the first start on");
}

// What no schedule can do.

/// All toys that the paper's account of first-come-first-served allows.
fn toys() -> Vec<Toy> {
    let mut toys = Vec::new();
    for containers in (0..216).map(|n| [3, 1 + n / 36, 1 + n / 6 % 6, 1 + n % 6]) {
        let [first, second, third, fourth] = containers;
        let waits = first + second > CONTAINERS && second + third > CONTAINERS;
        let packs = [(first, third), (second, fourth), (third, fourth)].iter().all(|(a, b)| a + b <= CONTAINERS);
        if waits && packs {
            let lengths = (1..=10).flat_map(|length| [[10, 20, length, 10], [10, 20, 10, length]]);
            toys.extend(lengths.map(|lengths| Toy { containers, lengths }));
        }
    }
    toys
}

/// Every plan that starts jobs only when one comes or ends, and is over by 32 s.
fn plans(toy: &Toy, now: Ms, starts: [Option<Ms>; 4], found: &mut Vec<Plan>) {
    let end = |job: usize| starts[job].map(|start| start + toy.lengths[job]);
    if (0..4).all(|job| starts[job].is_some()) {
        let ends = [0, 1, 2, 3].map(|job| end(job).unwrap_or(0));
        let plan = Plan { starts: starts.map(|start| start.unwrap_or(0)), ends };
        found.extend((plan.makespan() <= 32).then_some(plan));
        return;
    }
    let events = SUBMITS.into_iter().chain((0..4).filter_map(end));
    if let Some(next) = events.filter(|&event| event > now).min() {
        plans_at(toy, next, starts, found);
    }
}

/// As [`plans`], with any of the jobs that have come and fit started at `now`.
fn plans_at(toy: &Toy, now: Ms, starts: [Option<Ms>; 4], found: &mut Vec<Plan>) {
    let runs = |job: usize, starts: [Option<Ms>; 4]| {
        starts[job].is_some_and(|start| start <= now && now < start + toy.lengths[job])
    };
    for chosen in 0..16_u32 {
        let mut next = starts;
        let chosen = (0..4).filter(|job| chosen & (1 << job) != 0).collect::<Vec<usize>>();
        if chosen.iter().any(|&job| starts[job].is_some() || SUBMITS[job] > now) {
            continue;
        }
        chosen.iter().for_each(|&job| next[job] = Some(now));
        let used: u32 = (0..4).filter(|&job| runs(job, next)).map(|job| toy.containers[job]).sum();
        if used <= CONTAINERS {
            plans(toy, now, next, found);
        }
    }
}

#[test]
fn no_schedule_has_both_of_the_published_numbers() {
    let mut waits_by_makespan: BTreeMap<Ms, Vec<Ms>> = BTreeMap::new();
    for toy in toys() {
        let mut found = Vec::new();
        plans_at(&toy, 0, [None; 4], &mut found);
        for plan in found {
            waits_by_makespan.entry(plan.makespan()).or_default().push(plan.waits());
            if plan.waits() == 23 {
                assert_eq!((plan.starts, plan.makespan()), ([2, 12, 3, 12], 32), "{toy:?}");
            }
        }
    }
    let waits = &waits_by_makespan[&30];
    let range = (waits.iter().min().copied(), waits.iter().max().copied());
    assert_eq!(range, (Some(9), Some(17)), "mean waits from 2.25 to 4.25; 5.75 is impossible");
    assert!(waits_by_makespan[&32].contains(&23));
}
