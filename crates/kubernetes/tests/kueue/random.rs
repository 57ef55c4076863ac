//! Random worlds: the machine against the naive one, row by row.

use resched_kubernetes::kueue::{
    BorrowWithinCohort, Cohort, FairSharing, Flavor, FlavorId, Fungibility, Group, Kueue, Model, PodSet, Policy,
    Preemption, Queue, QueueId, Quota, ResourceId, Settings, Strategy, Submission, Taint, Toleration,
};

use crate::driver::run;
use crate::naive::Naive;
use crate::world::{Job, World};

/// A generator of its own, so that worlds stay the same whatever library is used (xorshift64*, Vigna 2016).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.below(2);
        }
        random
    }

    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        (number % bound as u64) as i64
    }

    pub(crate) fn chance(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as i64) as usize].clone()
    }
}

fn flavor(random: &mut Random, at: u32) -> Flavor {
    let taint = Taint { key: "spot".to_owned(), value: "true".to_owned(), effect: "NoSchedule".to_owned() };
    Flavor {
        name: format!("f{at}"),
        labels: vec![("pool".to_owned(), format!("p{at}"))],
        taints: if random.chance(15) { vec![taint] } else { Vec::new() },
        tolerations: Vec::new(),
    }
}

fn quotas(random: &mut Random, flavors: &[u32], resources: &[u32], most: i64, limits: bool) -> Vec<Quota> {
    let mut quotas = Vec::new();
    for &flavor in flavors {
        for &resource in resources {
            let nominal = random.below(most + 1);
            let borrowing = (limits && random.chance(25)).then(|| random.below(6));
            let lending = (limits && random.chance(25)).then(|| random.below(nominal + 1));
            quotas.push(Quota {
                flavor: FlavorId(flavor),
                resource: ResourceId(resource),
                nominal,
                borrowing,
                lending,
            });
        }
    }
    quotas
}

fn queue(random: &mut Random, at: usize, cohorts: i64, flavors: u32, resources: u32) -> Queue {
    let mut queue = Queue::new(&format!("q{at}"));
    queue.cohort = (cohorts > 0 && random.chance(90)).then(|| random.below(cohorts) as u32);
    queue.strict = random.chance(25);
    let lower = [Policy::Never, Policy::LowerPriority, Policy::LowerPriority];
    queue.preemption = Preemption {
        within: random.pick(&[&lower[..], &[Policy::LowerOrNewerEqualPriority]].concat()),
        reclaim: random.pick(&[&lower[..], &[Policy::Any, Policy::Any]].concat()),
        borrow: None,
    };
    if queue.preemption.reclaim != Policy::Never && random.chance(35) {
        let threshold = random.chance(50).then(|| random.below(3) * 100);
        queue.preemption.borrow = Some(BorrowWithinCohort { threshold });
    }
    queue.fungibility = Fungibility {
        stop_to_borrow: random.chance(60),
        stop_to_preempt: random.chance(40),
        preempt_first: random.chance(25),
    };
    queue.weight = random.pick(&[1.0, 1.0, 2.0, 0.5, 0.0]);
    let all: Vec<u32> = (0..flavors).filter(|_| random.chance(85)).collect();
    let all = if all.is_empty() { vec![0] } else { all };
    // One group, or a group for each resource.
    let parts: Vec<Vec<u32>> = if random.chance(70) {
        vec![(0..resources).collect()]
    } else {
        (0..resources).map(|resource| vec![resource]).collect()
    };
    for part in parts {
        queue.quotas.extend(quotas(random, &all, &part, 8, queue.cohort.is_some()));
        queue.groups.push(Group {
            resources: part.into_iter().map(ResourceId).collect(),
            flavors: all.iter().copied().map(FlavorId).collect(),
        });
    }
    queue
}

fn model(random: &mut Random) -> Model {
    let (flavors, resources) = (1 + random.below(3) as u32, 1 + random.below(2) as u32);
    let cohorts = random.below(5);
    let mut model = Model {
        resources: (0..resources).map(|at| format!("r{at}")).collect(),
        flavors: (0..flavors).map(|at| flavor(random, at)).collect(),
        settings: Settings { requeue_ms: random.pick(&[1_000, 1_000, 0, 3_000]), ..Settings::default() },
        ..Model::default()
    };
    if random.chance(40) {
        let first = random.pick(&[Strategy::FinalShare, Strategy::FinalShare, Strategy::InitialShare]);
        model.settings.fair_sharing =
            Some(FairSharing { first, then_initial: first == Strategy::FinalShare && random.chance(60) });
    }
    for at in 0..cohorts {
        let mut cohort = Cohort::new(&format!("c{at}"));
        cohort.parent = (at > 0 && random.chance(75)).then(|| random.below(at) as u32);
        // No two siblings have a like share.
        cohort.weight = [1.103, 2.309, 0.557, 1.747, 3.163][at as usize];
        if random.chance(30) {
            let named: Vec<u32> = (0..flavors).collect();
            let resources: Vec<u32> = (0..resources).collect();
            cohort.quotas = quotas(random, &named, &resources, 4, cohort.parent.is_some());
        }
        model.cohorts.push(cohort);
    }
    let queues = 1 + random.below(5) as usize;
    model.queues = (0..queues).map(|at| queue(random, at, cohorts, flavors, resources)).collect();
    model
}

fn pod_set(random: &mut Random, at: usize, model: &Model) -> PodSet {
    let mut set = PodSet { name: format!("s{at}"), count: 1 + random.below(3) as u32, ..PodSet::default() };
    for resource in 0..model.resources.len() as u32 {
        set.requests.push((ResourceId(resource), random.below(4)));
    }
    if random.chance(60) {
        set.tolerations.push(Toleration { key: "spot".to_owned(), value: "true".to_owned(), ..Toleration::default() });
    }
    if random.chance(15) {
        let flavor = random.below(model.flavors.len() as i64);
        set.node_selector.push(("pool".to_owned(), format!("p{flavor}")));
    }
    set
}

/// A world of a few workloads, each created in a second of its own, so that nothing is left to chance.
fn world(seed: u64) -> World {
    let mut random = Random::new(seed);
    let model = model(&mut random);
    let mut jobs = Vec::new();
    let mut submit = 0;
    for at in 0..6 + random.below(14) as usize {
        submit += 1 + random.below(6);
        let sets = if random.chance(20) { 2 } else { 1 };
        let submission = Submission {
            queue: QueueId(random.below(model.queues.len() as i64) as u32),
            priority: random.below(4) * 100,
            created: submit * 1_000,
            uid: at as u64,
            namespace_matches: random.chance(97),
            pod_sets: (0..sets).map(|at| pod_set(&mut random, at, &model)).collect(),
        };
        jobs.push(Job { name: format!("w{at}"), submission, submit, run: 1 + random.below(40) });
    }
    let (eviction, keep) = (1 + random.below(6), random.chance(30));
    World { model, jobs, strays: Vec::new(), eviction, keep, unit: 1_000, horizon: 160, ends: None }
}

#[test]
fn a_naive_second_implementation_decides_the_same_in_random_worlds() {
    let worlds: u64 = std::env::var("RESCHED_RANDOM_WORLDS").ok().map_or(10_000, |count| count.parse().unwrap());
    let (mut admitted, mut preempted) = (0, 0);
    for seed in 0..worlds {
        let world = world(seed);
        let (ours, machine) = run(&world, Kueue::new(world.model.clone()).unwrap(), true).unwrap();
        let (theirs, _) = run(&world, Naive::new(world.model.clone()), true).unwrap();
        let key = |rows: &[crate::driver::Row]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        let (ours, theirs) = (key(&ours), key(&theirs));
        if let Some(at) = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at)) {
            panic!(
                "world {seed} after {} cycles:\n{:#?}\n{:#?}\n{:#?}",
                machine.cycles(),
                ours.get(at),
                theirs.get(at),
                world.model
            );
        }
        admitted += ours.iter().filter(|row| row.event == 'A').count();
        preempted += ours.iter().filter(|row| row.event == 'P').count();
    }
    // Worlds in which nothing happens would prove nothing.
    assert!(admitted as u64 > 8 * worlds, "{admitted} admissions");
    assert!(2 * preempted as u64 > worlds, "{preempted} preemptions");
}
