//! Whatever the world is: what must hold of every schedule.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use resched_sim::batch::{Job, JobSpec, Machine, Machines, Needs, StageSpec, TaskSpec, Try, Workload};
use resched_sim::cluster_file::Placement;
use resched_sim::{Ms, Resources};
use resched_tables::model::Outcome;

use crate::cases::cases;
use crate::support::{self, Ran, Seen, cores, machine, seen, seen_with_every_tick};

/// Every policy, some with parameters that matter here.
pub(crate) const POLICIES: [&str; 18] = [
    "batch-fifo",
    "batch-fifo:skip=true,depth=1000000",
    "batch-fifo:skip=true,depth=1,priority=true",
    "batch-fair:depth=1000000",
    "batch-fair:by=job,depth=1",
    "batch-drf:depth=1000000",
    "batch-drf:by=queue",
    "batch-capacity",
    "batch-capacity:by=user,elastic=false,depth=3",
    "batch-dress:tick=7,pw=20,ts=1,te=1",
    "batch-dress:theta=0.5,release=literal,tick=1000",
    "spark",
    "spark:mode=fair,revive=7,legacy_reset=true",
    "slurm",
    "slurm:reservations=1,bf_interval=1000,limit_grain=1",
    "slurm:scheduler=builtin,batch_sched_delay=0",
    "easy",
    "conservative:depth=5",
];
/// Those that leave nothing free that something waiting could use.
const CONSERVING: [&str; 3] =
    ["batch-fifo:skip=true,depth=1000000", "batch-fair:depth=1000000", "batch-drf:depth=1000000"];

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) capacities: Vec<Resources>,
    /// What each machine has of the named resources [`NAMES`].
    pub(crate) named: Vec<[u64; 2]>,
    /// When a machine offers something else; in the end all are back.
    pub(crate) changes: Vec<(Ms, usize, Resources)>,
    pub(crate) placement: Placement,
    pub(crate) jobs: Vec<JobSpec>,
}

impl World {
    pub(crate) fn machines(&self) -> Machines {
        let machine = |(number, &capacity): (usize, &Resources)| Machine {
            name: format!("n{number}"),
            capacity,
            // Tests add machines.
            resources: listed(self.named.get(number).copied().unwrap_or([1, 1])),
            ..Machine::default()
        };
        let nodes = self.capacities.iter().enumerate().map(machine).collect();
        Machines::new(nodes, &self.changes, self.placement).unwrap()
    }

    pub(crate) fn workload(&self) -> Workload {
        let (workload, skipped) = Workload::new(self.jobs.clone(), 0).unwrap();
        assert!(skipped.is_empty());
        workload
    }

    /// The tasks, by number.
    fn specs(&self) -> Vec<&TaskSpec> {
        self.jobs.iter().flat_map(|job| &job.stages).flat_map(|stage| &stage.tasks).collect()
    }

    /// What a machine offers after all that happens at an instant.
    fn capacity(&self, node: usize, at: Ms) -> Resources {
        let last =
            self.changes.iter().filter(|(when, which, _)| *when <= at && *which == node).max_by_key(|(when, ..)| *when);
        last.map_or(self.capacities[node], |&(.., capacity)| capacity)
    }
}

fn amount(
    cpu: std::ops::RangeInclusive<u64>,
    memory: std::ops::RangeInclusive<u64>,
) -> impl Strategy<Value = Resources> {
    (cpu, memory).prop_map(|(cpu, memory)| Resources { cpu, memory })
}

/// The resources beside processor and memory.
const NAMES: [&str; 2] = ["fpga", "gres/gpu"];

/// Amounts of [`NAMES`], as the source lists them.
fn listed(amounts: [u64; 2]) -> Vec<(Arc<str>, u64)> {
    NAMES.map(Arc::from).into_iter().zip(amounts).filter(|&(_, amount)| amount > 0).collect()
}

/// What is asked for of [`NAMES`].
fn asked(needs: &Needs) -> [u64; 2] {
    let amount = |name: &str| needs.resources.iter().find(|(listed, _)| &**listed == name).map_or(0, |(_, n)| *n);
    NAMES.map(amount)
}

/// For how many instances a machine with so much free has room.
fn fits(capacity: Resources, named: [u64; 2], task: &TaskSpec) -> u64 {
    let of_named = named.into_iter().zip(asked(&task.needs)).filter_map(|(free, asked)| free.checked_div(asked)).min();
    capacity.fits(task.demand).min(of_named.unwrap_or(u64::MAX))
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Success),
        2 => Just(Outcome::Failed),
        1 => Just(Outcome::Killed),
        1 => Just(Outcome::Incomplete),
    ];
    prop::collection::vec((outcome, 0..40_i64).prop_map(|(outcome, run)| Try { outcome, run }), 1..4)
}

fn task() -> impl Strategy<Value = TaskSpec> {
    // Most tasks need nothing else.
    let named = prop_oneof![3 => Just([0, 0]), 1 => prop::array::uniform2(0..3_u64)];
    let task = (amount(1..=4, 0..=4), 1..6_u32, any::<bool>(), tries(), named);
    task.prop_map(|(demand, instances, gang, tries, named)| TaskSpec {
        name: String::new(),
        demand,
        instances,
        gang: gang && instances > 1,
        tries,
        needs: Needs { resources: listed(named), ..Needs::default() },
    })
}

fn job() -> impl Strategy<Value = JobSpec> {
    let stages = prop::collection::vec((prop::collection::vec(task(), 0..4), any::<u8>()), 1..4);
    (0..60_i64, 0..3_u8, 0..3_i64, stages, prop::option::of(0..40_i64), any::<u8>()).prop_map(
        |(submit, user, priority, stages, requested_time, after)| {
            // Bit i of a stage's number says whether it waits for stage i before it; likewise of jobs.
            let stages = stages.into_iter().enumerate().map(|(number, (tasks, before))| StageSpec {
                name: number.to_string(),
                after: (0..number).filter(|n| before >> n & 1 == 1).map(|n| n.to_string()).collect(),
                tasks,
            });
            let job = Job {
                user: format!("u{user}").into(),
                queue: format!("q{}", user % 2).into(),
                priority,
                submit,
                requested_time,
                ..Job::default()
            };
            JobSpec {
                job,
                after: (0..8).filter(|n| after & after >> 4 >> n & 1 == 1).map(|n: u8| n.to_string()).collect(),
                stages: stages.collect(),
            }
        },
    )
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let capacities = prop::collection::vec(amount(1..=6, 1..=6), 1..6);
    let changes = prop::collection::vec((1..80_i64, any::<prop::sample::Index>(), amount(0..=6, 0..=6)), 0..6);
    let placement = prop_oneof![Just(Placement::FirstFit), Just(Placement::BestFit)];
    let named = prop::collection::vec(prop::array::uniform2(0..4_u64), 6);
    (capacities, named, changes, placement, prop::collection::vec(job(), 1..8)).prop_map(
        |(capacities, named, changes, placement, mut jobs)| {
            let mut changes: Vec<_> = changes
                .into_iter()
                .map(|(at, node, capacity)| {
                    let node = node.index(capacities.len());
                    // A machine that offers nothing of one resource has left.
                    let some = if capacity.cpu == 0 || capacity.memory == 0 { Resources::NONE } else { capacity };
                    (at, node, some)
                })
                .collect();
            changes.sort_by_key(|change| change.0);
            changes.dedup_by_key(|change| (change.0, change.1));
            changes.extend(capacities.iter().enumerate().map(|(node, &capacity)| (100, node, capacity)));
            let zero = jobs.iter().map(|spec| spec.job.submit).min().unwrap();
            jobs.sort_by_key(|spec| spec.job.submit);
            for (number, spec) in jobs.iter_mut().enumerate() {
                spec.job.id = number.to_string();
                spec.job.submit -= zero;
                spec.after.retain(|after| after.parse::<usize>().unwrap() < number);
                for task in spec.stages.iter_mut().flat_map(|stage| &mut stage.tasks) {
                    fit(task, &capacities, &named);
                }
            }
            World { capacities, named, changes, placement, jobs }
        },
    )
}

/// Makes a task one that fits on the idle machines.
fn fit(task: &mut TaskSpec, capacities: &[Resources], named: &[[u64; 2]]) {
    let room =
        |task: &TaskSpec| capacities.iter().zip(named).map(|(&capacity, &named)| fits(capacity, named, task)).sum();
    if room(task) == 0 {
        task.needs = Needs::default();
    }
    if room(task) == 0 {
        task.demand = Resources { cpu: 1, memory: 0 };
    }
    if task.gang {
        let room: u64 = room(task);
        task.instances = task.instances.min(room as u32);
        task.gang = task.instances > 1;
    }
}

/// What a machine holds at an instant, after what ends and starts then.
fn used(workload: &Workload, seen: &Seen, node: usize, at: Ms) -> Resources {
    let holds = seen.ran.iter().filter(|ran| ran.start <= at && at < ran.finish);
    let places = holds.flat_map(|ran| ran.places.iter().map(move |place| (ran.task, place)));
    let on_node = places.filter(|(_, (place, _))| place.index() == node);
    on_node
        .fold(Resources::NONE, |sum, (task, &(_, count))| sum.plus(workload.tasks()[task].demand.times(count.into())))
}

/// What a machine holds of [`NAMES`] then.
fn used_named(world: &World, seen: &Seen, node: usize, at: Ms) -> [u64; 2] {
    let specs = world.specs();
    let holds = seen.ran.iter().filter(|ran| ran.start <= at && at < ran.finish);
    let places = holds.flat_map(|ran| ran.places.iter().map(move |place| (ran.task, place)));
    let here = places.filter(|(_, (place, _))| place.index() == node);
    here.fold([0; 2], |[fpga, gpu], (task, &(_, count))| {
        let [more_fpga, more_gpu] = asked(&specs[task].needs).map(|amount| amount * u64::from(count));
        [fpga + more_fpga, gpu + more_gpu]
    })
}

fn check(world: &World, workload: &Workload, seen: &Seen) {
    check_places(seen);
    check_tries(workload, seen);
    check_launches(workload, seen);
    assert_eq!(seen.tally.left_waiting, 0);
    assert_eq!(seen.jobs.len(), world.jobs.len());
    assert_eq!(seen.tally.starts, seen.ran.len() as u64);
    check_named(world, seen);
}

/// No machine gives more of a named resource than it has.
fn check_named(world: &World, seen: &Seen) {
    for ran in &seen.ran {
        for &(node, _) in &ran.places {
            let used = used_named(world, seen, node.index(), ran.start);
            let has = world.named[node.index()];
            assert!(used.iter().zip(has).all(|(used, has)| *used <= has), "{used:?} of {has:?} for {ran:?}");
        }
    }
}

/// A gang runs on different machines.
fn check_places(seen: &Seen) {
    for ran in &seen.ran {
        let nodes: BTreeSet<_> = ran.places.iter().map(|(node, _)| node).collect();
        assert_eq!(nodes.len(), ran.places.len());
    }
}

/// Every task runs just as its log says, but for what was lost.
pub(crate) fn check_tries(workload: &Workload, seen: &Seen) {
    for (number, task) in workload.tasks().iter().enumerate() {
        let tries: Vec<&Ran> =
            seen.ran.iter().filter(|ran| ran.task == number && ran.outcome != Outcome::Lost).collect();
        let mut ran: Vec<(Outcome, Ms)> = tries.iter().map(|ran| (ran.outcome, ran.finish - ran.start)).collect();
        let id = tries.first().map(|ran| ran.id);
        let logged: Vec<(Outcome, Ms)> =
            id.map(|id| workload.tries(id).iter().map(|one| (one.outcome, one.run)).collect()).unwrap_or_default();
        let mut expected: Vec<(Outcome, Ms)> = if task.units() == 1 {
            let end = logged.iter().position(|(outcome, _)| *outcome != Outcome::Failed).unwrap_or(logged.len() - 1);
            logged[..=end.min(logged.len() - 1)].to_vec()
        } else {
            (0..task.instances as usize).map(|instance| logged[instance % logged.len()]).collect()
        };
        if task.units() > 1 {
            ran.sort_unstable_by_key(|one| (one.1, one.0.as_str()));
            expected.sort_unstable_by_key(|one| (one.1, one.0.as_str()));
        }
        assert_eq!(ran, expected, "task {number}");
    }
}

/// A job starts with its first task.
fn check_launches(workload: &Workload, seen: &Seen) {
    for ended in &seen.jobs {
        let of_job = seen.ran.iter().filter(|ran| workload.tasks()[ran.task].job == ended.job);
        assert_eq!(ended.launch, of_job.map(|ran| ran.start).min());
    }
}

/// At no instant something waits that finds room.
fn check_conserving(world: &World, workload: &Workload, seen: &Seen) {
    let instants: BTreeSet<Ms> = seen.ran.iter().flat_map(|ran| [ran.start, ran.finish]).collect();
    for ran in &seen.ran {
        let task = &workload.tasks()[ran.task];
        for &at in instants.range(ran.queued..ran.start) {
            let spec = &world.specs()[ran.task];
            let free = (0..world.capacities.len()).map(|node| {
                let named = used_named(world, seen, node, at);
                let named = std::array::from_fn(|name| world.named[node][name] - named[name]);
                fits(world.capacity(node, at).minus(used(workload, seen, node, at)), named, spec)
            });
            let needed = if task.gang { task.instances.into() } else { 1 };
            assert!(free.sum::<u64>() < needed, "at {at} there is room for {ran:?}");
        }
    }
}

/// A tick that would do what the last one did is left out, and nothing else changes.
#[test]
fn ticks_of_dress_that_do_nothing_are_left_out() {
    const DAY: Ms = 86_400_000;
    let jobs = [(0, 1), (5, 3), (DAY, 2)]
        .map(|(at, count)| support::job(at as usize, "u", at, None, support::task(cores(1), count, false, DAY)));
    let (workload, skipped) = Workload::new(jobs.to_vec(), 0).unwrap();
    assert!(skipped.is_empty());
    let policy = "batch-dress:tick=1000";
    let (every, ticks) = seen_with_every_tick(policy, &workload, &machine(2));
    assert_eq!(seen(policy, &workload, &machine(2)), every);
    assert!(ticks > 100_000, "{ticks}");
    // Before, these were 170 million ticks, and the test did not end.
    assert_eq!(seen("batch-dress:tick=1", &workload, &machine(2)).jobs.len(), 3);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn ticks_that_are_left_out_make_no_difference(world in world()) {
        let (workload, machines) = (world.workload(), world.machines());
        for policy in POLICIES.into_iter().filter(|policy| policy.starts_with("batch-dress")) {
            let (every, _) = seen_with_every_tick(policy, &workload, &machines);
            prop_assert_eq!(&seen(policy, &workload, &machines), &every, "{}", policy);
        }
    }

    #[test]
    fn every_schedule_holds_to_the_world(world in world()) {
        let (workload, machines) = (world.workload(), world.machines());
        for policy in POLICIES {
            let first = seen(policy, &workload, &machines);
            check(&world, &workload, &first);
            prop_assert_eq!(&first, &seen(policy, &workload, &machines), "{} twice", policy);
        }
    }

    #[test]
    fn nothing_is_left_free_that_something_could_use(mut world in world()) {
        world.changes.clear();
        let (workload, machines) = (world.workload(), world.machines());
        for policy in CONSERVING {
            check_conserving(&world, &workload, &seen(policy, &workload, &machines));
        }
    }

    /// Strictly: nothing starts while something waits that stands before it.
    #[test]
    fn fifo_starts_in_order(world in world()) {
        let workload = world.workload();
        let seen = seen("batch-fifo", &workload, &world.machines());
        for ran in &seen.ran {
            let passed = |other: &&Ran| other.task < ran.task && other.queued < ran.start && ran.start < other.start;
            prop_assert_eq!(seen.ran.iter().find(passed), None, "{:?} runs ahead", ran);
        }
    }
}
