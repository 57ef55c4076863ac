//! A toy scheduler with quotas in a tree, gangs over several tasks, and preemption: what a scheduler of that kind needs of the engine is
//! there. Its schedules are those of a naive twin on random worlds.
//!
//! **Rules.** Jobs wait by priority, then by submission. All tasks of a job that wait start together or not at all. A job is admitted if the
//! quotas of its queue and of those above it allow it, and all its tasks find room. If the quotas do not allow it, but the queue would hold
//! no more than its own, jobs of queues that borrow are evicted, those that started last first, until they would. What is evicted waits
//! until a later instant. It gives its quota back at once and its machines some time later, and its work is lost, kept, or kept up to a
//! checkpoint. What was admitted in the same pass is left alone. Quota is not room: a job may still wait then.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;
use resched_policies::parts::quotas::{Quota, Quotas};
use resched_policies::queues::QueueTree;
use resched_sim::batch::{
    Amounts, Checked, Ended, Eviction, JobSpec, Machines, Offer, Policy, StageSpec, Then, View, Work, replay,
};
use resched_sim::cluster_file::Placement;
use resched_sim::{JobId, Ms, Resources, TaskId, Violation};

use crate::cases::cases;
use crate::quotas_naive::{self, Job};
use crate::support::{Seen, job, needing, task, with_gpus, workload};

/// A queue of the worlds: its path, its own cores and GPUs, and the most that it may hold.
pub(crate) type Row = (&'static str, [u64; 2], Option<[u64; 2]>);

#[derive(Debug)]
struct Toy {
    rows: Vec<Row>,
    eviction: Eviction,
    quotas: Option<Quotas>,
    /// The tasks of each job that wait.
    waiting: BTreeMap<JobId, Vec<TaskId>>,
    /// What runs of each job, and since when.
    running: BTreeMap<JobId, (Ms, Vec<TaskId>)>,
    /// What was admitted in this pass.
    fresh: Vec<JobId>,
    /// When jobs were evicted last.
    evicted: BTreeMap<JobId, Ms>,
}

impl Toy {
    fn new(rows: &[Row], eviction: Eviction) -> Self {
        Self {
            rows: rows.to_vec(),
            eviction,
            quotas: None,
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            fresh: Vec::new(),
            evicted: BTreeMap::new(),
        }
    }

    /// The quotas, which need the dimensions of the world.
    fn quotas(&mut self, view: View<'_>) -> &mut Quotas {
        let rows = &self.rows;
        self.quotas.get_or_insert_with(|| {
            let amounts = |[cpus, gpus]: [u64; 2]| {
                let mut amounts = Amounts::of(Resources { cpu: cpus * 1_000, memory: 0 });
                view.dimensions().of_machine("gres/gpu").into_iter().for_each(|dim| amounts.set(dim, gpus));
                amounts
            };
            let quota = |&(_, nominal, most): &Row| Quota { nominal: amounts(nominal), most: most.map(amounts) };
            let below = rows[1..].iter().map(|row| (row.0.to_owned(), quota(row))).collect();
            Quotas::new(QueueTree::from_paths(quota(&rows[0]), below).unwrap())
        })
    }

    fn queue(&mut self, job: JobId, view: View<'_>) -> usize {
        self.quotas(view).tree().find(view.job(job).queue).unwrap()
    }

    /// What tasks take together.
    fn together(tasks: &[TaskId], view: View<'_>) -> Amounts {
        tasks.iter().fold(Amounts::default(), |mut sum, &task| {
            sum.add(&view.unit(task));
            sum
        })
    }

    /// The jobs that must make room in the quotas, if that is possible.
    fn victims(&mut self, queue: usize, wanted: &Amounts, view: View<'_>) -> Option<Vec<JobId>> {
        let mut left = self.quotas(view).clone();
        let mut running: Vec<(Ms, JobId)> = self.running.iter().map(|(&job, &(since, _))| (since, job)).collect();
        running.sort_unstable_by_key(|&key| Reverse(key));
        let mut victims = Vec::new();
        for (_, job) in running {
            if left.can_admit(queue, wanted) {
                break;
            }
            let of = self.queue(job, view);
            if of != queue && !self.fresh.contains(&job) && !left.borrowed(of).is_none() {
                left.release(of, &Self::together(&self.running[&job].1, view));
                victims.push(job);
            }
        }
        left.can_admit(queue, wanted).then_some(victims)
    }

    fn evict(&mut self, job: JobId, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let queue = self.queue(job, offer.view());
        let Some((_, tasks)) = self.running.remove(&job) else { return Ok(()) };
        let amounts = Self::together(&tasks, offer.view());
        self.quotas(offer.view()).release(queue, &amounts);
        self.evicted.insert(job, offer.view().now());
        let runs: Vec<_> = offer.view().runs().into_iter().filter(|(_, task, _)| tasks.contains(task)).collect();
        runs.into_iter().try_for_each(|(run, ..)| offer.evict(run, self.eviction))
    }

    /// Admits a job, if it finds room.
    fn admit(&mut self, job: JobId, queue: usize, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let tasks = self.waiting[&job].clone();
        let units: Vec<(TaskId, u32)> = tasks.iter().map(|&task| (task, 1)).collect();
        let Some(placed) = offer.try_place(&units) else { return Ok(()) };
        offer.commit(&placed)?;
        let (view, amounts) = (offer.view(), Self::together(&tasks, offer.view()));
        self.quotas(view).admit(queue, &amounts);
        self.waiting.remove(&job);
        self.fresh.push(job);
        self.running.insert(job, (view.now(), tasks));
        Ok(())
    }
}

impl Policy for Toy {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.waiting.entry(view.task(task).job).or_default().push(task);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        let job = view.task(ended.task).job;
        let queue = self.queue(job, view);
        self.quotas(view).release(queue, &view.unit(ended.task));
        let tasks = self.running.get_mut(&job).map(|(_, tasks)| tasks);
        tasks.into_iter().for_each(|tasks| tasks.retain(|&task| task != ended.task));
        self.running.retain(|_, (_, tasks)| !tasks.is_empty());
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.fresh.clear();
        let mut jobs: Vec<JobId> = self.waiting.keys().copied().collect();
        jobs.sort_by_key(|&job| (Reverse(offer.view().job(job).priority), job));
        let now = offer.view().now();
        jobs.retain(|job| self.evicted.get(job) != Some(&now));
        for job in jobs {
            let queue = self.queue(job, offer.view());
            let wanted = Self::together(&self.waiting[&job], offer.view());
            if !self.quotas(offer.view()).can_admit(queue, &wanted) {
                if !self.quotas(offer.view()).is_nominal(queue, &wanted) {
                    continue;
                }
                let Some(victims) = self.victims(queue, &wanted, offer.view()) else { continue };
                victims.into_iter().try_for_each(|victim| self.evict(victim, offer))?;
            }
            self.admit(job, queue, offer)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone)]
struct World {
    rows: Vec<Row>,
    machines: u32,
    each: [u64; 2],
    eviction: Eviction,
    jobs: Vec<Job>,
}

fn world() -> impl Strategy<Value = World> {
    let task = (1..=4_u64, 0..=2_u64, 1..=3_u32, 1..40_i64);
    let job = (0..60_i64, 0..3_i64, prop::sample::select(&["a.x", "a.y", "b"][..]), prop::collection::vec(task, 1..4));
    let pair = || prop::array::uniform2(0..=6_u64);
    let quotas = (pair(), pair(), pair(), prop::option::of(pair()), prop::option::of(pair()));
    // Jobs that hold their machines for a while after they were evicted, and lose their work, may evict each other for ever.
    let work = prop_oneof![Just(Work::Lost), Just(Work::Kept), (1..10_i64).prop_map(Work::Checkpoints)];
    let eviction = prop_oneof![(work, Just(0)), (Just(Work::Kept), 1..8_i64)];
    let eviction = eviction.prop_map(|(work, holds)| Eviction { then: Then::Again, work, holds });
    (1..4_u32, prop::array::uniform2(2..=8_u64), quotas, eviction, prop::collection::vec(job, 1..10)).prop_map(
        |(machines, each, (x, y, b, most_x, most_a), eviction, jobs)| {
            let all = each.map(|amount| amount * u64::from(machines));
            let rows = vec![
                ("root", all, None),
                ("a", [x[0] + y[0], x[1] + y[1]], most_a),
                ("a.x", x, most_x),
                ("a.y", y, None),
                ("b", b, None),
            ];
            let mut jobs: Vec<Job> = jobs
                .into_iter()
                .map(|(submit, priority, queue, tasks)| Job { submit, priority, queue, tasks })
                .collect();
            jobs.sort_by_key(|job| job.submit);
            World { rows, machines, each, eviction, jobs }
        },
    )
}

/// What ran of each task, as (task, start, end, whether it was evicted), in order.
fn of_the_engine(world: &World) -> Vec<(usize, Ms, Ms, bool)> {
    let spec = |(number, of): (usize, &Job)| -> JobSpec {
        let tasks = of.tasks.iter().map(|&(cpus, gpus, instances, run)| {
            let demand = Resources { cpu: cpus * 1_000, memory: 0 };
            needing(task(demand, instances, instances > 1, run), gpus)
        });
        let mut spec = job(number, "u", of.submit, None, task(Resources { cpu: 1, memory: 0 }, 1, false, 1));
        spec.stages = vec![StageSpec { tasks: tasks.collect(), ..StageSpec::default() }];
        (spec.job.queue, spec.job.priority) = (of.queue.into(), of.priority);
        spec
    };
    let workload = workload(world.jobs.iter().enumerate().map(spec).collect());
    let machines = with_gpus(world.machines, world.each[0], world.each[1]);
    let mut toy = Toy::new(&world.rows, world.eviction);
    let mut seen = Seen::default();
    let mut checked = Checked::new(&workload, &machines, "toy", &mut seen);
    replay(&workload, &machines, ("toy", &mut toy), &mut checked, &mut |_| {}).unwrap();
    checked.close().unwrap();
    let evicted = resched_tables::model::Outcome::Evicted;
    let mut ran: Vec<_> =
        seen.ran.iter().map(|ran| (ran.task, ran.start, ran.finish, ran.outcome == evicted)).collect();
    ran.sort_unstable();
    ran
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn the_toy_decides_as_its_naive_twin(world in world()) {
        let zero = world.jobs[0].submit;
        let naive = quotas_naive::ran(&world.rows, (world.machines, world.each), world.eviction, &world.jobs, zero);
        prop_assert_eq!(of_the_engine(&world), naive);
    }
}

/// Gives the machine to the other of two tasks, again and again.
#[derive(Default)]
struct Restless(Vec<TaskId>);

impl Policy for Restless {
    fn task_waits(&mut self, task: TaskId, _: View<'_>) {
        self.0.push(task);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let runs = offer.view().runs();
        runs.into_iter().try_for_each(|(run, ..)| offer.evict(run, Then::Again))?;
        let next = self.0.remove(0);
        offer.start(next, 1).map(|_| ())
    }
}

#[test]
fn a_policy_that_evicts_without_end_is_an_error() {
    let of = |number: usize| job(number, "u", number as Ms, None, task(Resources { cpu: 1, memory: 0 }, 1, false, 9));
    let workload = workload(vec![of(0), of(1)]);
    let machines = Machines::alike(1, Resources { cpu: 1, memory: 0 }, Placement::FirstFit);
    let ended = replay(&workload, &machines, ("restless", &mut Restless::default()), &mut (), &mut |_| {});
    let problem = ended.unwrap_err().to_string();
    assert!(
        problem.contains("policy `restless` at 1 ms: evicts and starts tasks 10000 times at one instant"),
        "{problem}"
    );
}
