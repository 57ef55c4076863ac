//! What a change of the world must do to a schedule, whatever the schedule is: other units of time, other names, a pause, a machine more.

use proptest::prelude::*;
use resched_policies::POLICIES;
use resched_sim::batch::{JobSpec, Machines, Workload};
use resched_sim::cluster_file::Placement;
use resched_sim::{Ms, Resources};

use crate::cases::cases;
use crate::support::{Seen, cores, job, seen, task};
use crate::worlds::{World, world};

/// Every policy for production traces with its defaults; its times, if it has some, are multiplied by `factor`.
fn policies(factor: i64) -> Vec<String> {
    let scaled = |info: &resched_policies::PolicyInfo| {
        let times = info.parameters.iter().filter(|parameter| parameter.unit == "ms");
        let times = times.filter_map(|one| Some(format!("{}={}", one.key, factor * one.default.parse::<i64>().ok()?)));
        // What these come to by themselves, at whole intervals.
        let waits = [3_000, 1_000].map(|time| time * factor);
        let settings = match info.name {
            "spark" => Some(format!("wait={},revive={},phase=0", waits[0], waits[1])),
            // It draws within a second, whatever else is scaled.
            "kueue" => Some("same_second=listed".to_owned()),
            _ => None,
        };
        format!("{}:{}", info.name, times.chain(settings).collect::<Vec<_>>().join(","))
            .trim_end_matches(':')
            .to_owned()
    };
    POLICIES.iter().filter(|info| info.is_batch()).map(scaled).collect()
}

/// The schedule as rows of task, places, start and end, with every time changed.
fn rows(seen: &Seen, time: impl Fn(Ms) -> Ms) -> Vec<String> {
    let ran = seen.ran.iter().map(|ran| (ran.task, &ran.places, time(ran.start), time(ran.finish), ran.outcome));
    let ended = seen.jobs.iter().map(|ended| (ended.job, ended.launch.map(&time), time(ended.finish), ended.outcome));
    ran.map(|row| format!("{row:?}")).chain(ended.map(|row| format!("{row:?}"))).collect()
}

/// The world with every time multiplied.
fn slower(world: &World, factor: i64) -> World {
    let mut slower = world.clone();
    slower.changes.iter_mut().for_each(|change| change.0 *= factor);
    for spec in &mut slower.jobs {
        spec.job.submit *= factor;
        spec.job.requested_time = spec.job.requested_time.map(|time| time * factor);
        let tasks = spec.stages.iter_mut().flat_map(|stage| &mut stage.tasks);
        tasks.flat_map(|task| &mut task.tries).for_each(|one| one.run *= factor);
    }
    slower
}

/// The jobs with other ids, which sort the other way round, and with other names of users and queues, which sort as before.
fn renamed(jobs: &[JobSpec]) -> Vec<JobSpec> {
    let other = |id: &str| format!("other-{}", 1_000 - id.parse::<usize>().unwrap_or(0));
    let rename = |spec: &JobSpec| {
        let mut spec = spec.clone();
        spec.job.id = other(&spec.job.id);
        spec.job.user = format!("person-{}", spec.job.user).into();
        spec.job.queue = format!("line-{}", spec.job.queue).into();
        spec.after.iter_mut().for_each(|id| *id = other(id));
        spec
    };
    jobs.iter().map(rename).collect()
}

fn workload(jobs: Vec<JobSpec>) -> Workload {
    Workload::new(jobs, 0).unwrap().0
}

proptest! {
    #![proptest_config(cases(100))]

    /// Nobody knows what a millisecond is: if all takes seven times as long, so does the schedule. It does not
    /// hold for `conservative`, which puts a task off by a millisecond if no single machine has room for it as planned. For `easy`, it does
    /// not hold if a task is longer than estimated: it counts as ending in the next millisecond.
    #[test]
    fn times_k_gives_times_k(mut world in world()) {
        const K: i64 = 7;
        for spec in &mut world.jobs {
            spec.job.requested_time = Some(spec.job.requested_time.unwrap_or(0) + 200);
            let tasks = spec.stages.iter_mut().flat_map(|stage| &mut stage.tasks);
            tasks.flat_map(|task| &mut task.tries).for_each(|one| one.run += 1);
        }
        let slow = slower(&world, K);
        let exact = policies(1).into_iter().zip(policies(K)).filter(|(policy, _)| policy != "conservative" && !policy.starts_with(LOOKS));
        for (policy, slow_policy) in exact {
            let plain = seen(&policy, &world.workload(), &world.machines());
            let found = seen(&slow_policy, &slow.workload(), &slow.machines());
            prop_assert_eq!(rows(&plain, |at| at * K), rows(&found, |at| at), "{}", policy);
        }
    }

    /// Ids decide only between jobs that are submitted at one instant.
    #[test]
    fn names_do_not_matter(mut world in world()) {
        for (number, spec) in (0..).zip(&mut world.jobs) {
            spec.job.submit = spec.job.submit * 8 + number;
        }
        for policy in policies(1) {
            let plain = seen(&policy, &world.workload(), &world.machines());
            let found = seen(&policy, &workload(renamed(&world.jobs)), &world.machines());
            prop_assert_eq!(rows(&plain, |at| at), rows(&found, |at| at), "{}", policy);
        }
    }

    /// After a pause in which all is done, a policy goes on as if it had just begun. Others come then: between equals, the sharing
    /// policies serve the one first that they have known longer.
    #[test]
    fn a_trace_may_be_split_where_nothing_runs(mut first in world(), second in world()) {
        // A whole number of every policy's periods, and longer than anything takes.
        const PAUSE: Ms = 100_000_000;
        first.changes.clear();
        let machines = first.machines();
        let fits = |spec: &JobSpec| {
            let mut tasks = spec.stages.iter().flat_map(|stage| &stage.tasks);
            tasks.all(|task| !task.gang && first.capacities.iter().any(|capacity| capacity.holds(task.demand)))
        };
        let later: Vec<JobSpec> = second.jobs.into_iter().filter(fits).map(|spec| JobSpec { after: Vec::new(), ..spec }).collect();
        let begin = later.iter().map(|spec| spec.job.submit).min().unwrap_or(0);
        let mut all = first.jobs.clone();
        all.extend(later.iter().cloned().map(|mut spec| {
            spec.job.id = format!("later-{}", spec.job.id);
            spec.job.submit += PAUSE - begin;
            spec.job.user = format!("later-{}", spec.job.user).into();
            spec.job.queue = format!("later-{}", spec.job.queue).into();
            spec
        }));
        let tasks = first.workload().tasks().len();
        for policy in policies(1).iter().filter(|policy| !REMEMBER.iter().any(|name| policy.starts_with(name))) {
            let whole = seen(policy, &workload(all.clone()), &machines);
            let parts = [seen(policy, &first.workload(), &machines), seen(policy, &workload(later.clone()), &machines)];
            let starts = |seen: &Seen, task: usize, time: Ms| {
                seen.ran.iter().map(|ran| (ran.task + task, ran.places.clone(), ran.start + time, ran.finish + time)).collect::<Vec<_>>()
            };
            let expected = [starts(&parts[0], 0, 0), starts(&parts[1], tasks, PAUSE)].concat();
            prop_assert_eq!(starts(&whole, 0, 0), expected, "{}", policy);
        }
    }

    /// Independent equal tasks end no later on one machine more. With unequal tasks they may (Graham 1969).
    #[test]
    fn a_machine_more_delays_no_equal_tasks(submits in prop::collection::vec(0..50_i64, 1..20), machines in 1..5_u32, run in 1..30_i64) {
        let one = |(number, &submit): (usize, &Ms)| job(number, "u", submit, Some(run), task(cores(1), 1, false, run));
        let jobs: Vec<JobSpec> = submits.iter().enumerate().map(one).collect();
        let on = |policy: &str, count: u32| {
            let machines = Machines::alike(count, Resources { cpu: 1_000, memory: 1 }, Placement::FirstFit);
            let mut ends: Vec<Ms> = seen(policy, &workload(jobs.clone()), &machines).ran.iter().map(|ran| ran.finish).collect();
            ends.sort_unstable();
            ends
        };
        for policy in policies(1) {
            let (few, more) = (on(&policy, machines), on(&policy, machines + 1));
            prop_assert!(more.iter().zip(&few).all(|(more, few)| more <= few), "{policy}: {few:?}, then {more:?}");
        }
    }
}

/// Looks for work once a second, whatever the unit of time is.
const LOOKS: &str = "slurm";
/// Policies that remember what has been: the second part of a trace is not new to them. Spark counts its offers, and draws by the count.
/// Slurm's runs over the whole queue go on, and its draws are those of the task.
const REMEMBER: [&str; 3] = ["batch-dress", "spark", LOOKS];
