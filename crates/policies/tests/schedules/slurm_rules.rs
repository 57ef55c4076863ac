//! The rules of Slurm's scheduler, one by one, in small worlds. Times of jobs are a millisecond off whole seconds, so that nothing is drawn.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_policies::queues::slurm::{
    Association, JobLimits, Limits, NodeGroup, Partition, Qos, Reservation, Shares, SlurmConf,
};
use resched_policies::{PolicySpec, Site, SiteConf, in_words};
use resched_sim::batch::{Checked, Launched, Loaded, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, JobId, Ms, PassedOver, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NO_LIMIT, NodeRow, Outcome, Reason, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

const MINUTE: Ms = 60_000;

/// A job: its processors, its limit in minutes, and its run time in seconds.
#[derive(Clone)]
struct Job(JobRecord);

fn job(id: &str, submit: i64, cpus: i64, limit: i64, run: i64) -> Job {
    let id = id.to_owned();
    let outcome = Outcome::Success;
    let job = JobRow {
        job_id: id.clone(),
        user: Some("ann".to_owned()),
        framework: Some("slurm".to_owned()),
        submit: Some(submit * 1_000 + 1),
        requested_time: Some(limit * MINUTE),
        outcome,
        ..JobRow::default()
    };
    let task = TaskRow {
        job_id: id.clone(),
        task_id: id.clone(),
        outcome,
        cpu_request: Some(1_000),
        instances: Some(cpus),
        gang: Some(true),
        ..TaskRow::default()
    };
    let run_time = Some(run * 1_000 + 1);
    let attempt = AttemptRow { job_id: id.clone(), task_id: id, run_time, outcome, ..AttemptRow::default() };
    let task = TaskRecord { task, attempts: vec![attempt], splits: Vec::new() };
    Job(JobRecord { job, tasks: vec![task], counters: Vec::new() })
}

impl Job {
    fn with(mut self, change: impl FnOnce(&mut JobRow, &mut TaskRow)) -> Self {
        change(&mut self.0.job, &mut self.0.tasks[0].task);
        self
    }

    fn in_partition(self, name: &str) -> Self {
        self.with(|job, _| job.queue = Some(name.to_owned()))
    }

    fn of(self, user: &str) -> Self {
        self.with(|job, _| job.user = Some(user.to_owned()))
    }

    fn priority(self, priority: i64) -> Self {
        self.with(|job, _| job.priority_number = Some(priority))
    }

    /// With a limit in milliseconds.
    fn limited_to(self, limit: Ms) -> Self {
        self.with(|job, _| job.requested_time = Some(limit))
    }

    /// On so many machines, with all its processors on them.
    fn on(self, machines: i64) -> Self {
        self.with(|_, task| {
            let cpus = task.instances.unwrap();
            (task.machines, task.instances, task.cpu_request) =
                (Some(machines), Some(machines), Some(cpus / machines * 1_000));
        })
    }
}

/// Machines, jobs and what the site says.
#[derive(Default)]
struct World {
    nodes: Vec<NodeRow>,
    jobs: Vec<Job>,
    conf: SlurmConf,
    cluster: ClusterConfig,
}

/// When each job started, in seconds since the first submission, which is at the beginning of a minute; and on which machines.
type Starts = BTreeMap<String, (f64, Vec<String>)>;

#[derive(Default)]
struct Seen {
    starts: Vec<(usize, Ms, Vec<usize>)>,
    wants_reasons: bool,
    passed: Vec<PassedOver>,
}

impl Reports for Seen {
    fn wants_reasons(&self) -> bool {
        self.wants_reasons
    }

    fn passed_over(&mut self, passed: &PassedOver) -> Result<(), Error> {
        self.passed.push(*passed);
        Ok(())
    }
}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        let nodes = launched.places.iter().map(|(node, _)| node.index()).collect();
        self.starts.push((launched.task.index(), launched.at, nodes));
        Ok(())
    }
}

impl World {
    /// `count` machines `n0`, `n1`, … with so many processors.
    fn of(count: usize, cpus: i64, jobs: Vec<Job>) -> Self {
        let node = |number| NodeRow { host: format!("n{number}"), cpu: Some(cpus * 1_000), ..NodeRow::default() };
        Self { nodes: (0..count).map(node).collect(), jobs, ..Self::default() }
    }

    fn partition(mut self, name: &str, nodes: &[&str], change: impl FnOnce(&mut Partition)) -> Self {
        let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
        let mut partition = Partition { name: name.to_owned(), nodes, ..Partition::default() };
        change(&mut partition);
        self.conf.partitions.push(partition);
        self
    }

    fn qos(mut self, name: &str, qos: Qos) -> Self {
        self.conf.qos.insert(name.to_owned(), qos);
        self
    }

    /// The log as it is loaded.
    fn loaded(&self) -> Loaded {
        let tables = Collected {
            engine: resched_tables::run::RunEngine::Batch,
            jobs: self.jobs.iter().map(|job| job.0.clone()).collect(),
            nodes: self.nodes.clone(),
            ..Collected::default()
        };
        load_records(&tables, &self.cluster, &Scope::default()).unwrap()
    }

    /// The log as it was loaded, and what was seen of its replay.
    fn replayed(&self, set: &str, wants_reasons: bool) -> (Loaded, Seen) {
        let loaded = self.loaded();
        let (workload, machines) = (&loaded.workload, &loaded.machines);
        let site = Site { slurm: Some(self.conf.clone()), ..Site::default() };
        let phases = if set.contains("bf_ran_at") { "phase=999" } else { "phase=999,bf_phase=499" };
        let text = format!("slurm:{}", [phases, set].join(",").trim_end_matches(','));
        let policy = PolicySpec::parse(&text).unwrap().at_site(&Arc::new(site)).unwrap();
        let mut seen = Seen { wants_reasons, ..Seen::default() };
        let mut checked = Checked::new(workload, machines, "slurm", &mut seen);
        let mut made = policy.build_batch().unwrap();
        replay_seeded(workload, machines, ("slurm", &mut *made), 1, &mut checked, &mut |_| {}).unwrap();
        checked.close().unwrap();
        (loaded, seen)
    }

    fn starts(&self, set: &str) -> Starts {
        let (Loaded { workload, machines, .. }, seen) = self.replayed(set, false);
        let zero = workload.jobs().get(0).unwrap().submit - 1;
        let name = |&node: &usize| machines.nodes()[node].name.clone();
        let start = |(task, at, nodes): &(usize, Ms, Vec<usize>)| {
            let id = workload.jobs().get(*task).unwrap().id.to_owned();
            (id, ((at - zero) as f64 / 1e3, nodes.iter().map(name).collect()))
        };
        seen.starts.iter().map(start).collect()
    }

    /// Why jobs were passed over, in order: `b: Priority a`.
    fn reasons(&self, set: &str) -> Vec<String> {
        let (Loaded { workload, .. }, seen) = self.replayed(set, true);
        let id = |job: JobId| workload.jobs().get(job.index()).unwrap().id.to_owned();
        let text = |passed_over: &PassedOver| {
            let [job, other] = [passed_over.job, passed_over.other].map(|job| job.map(id).unwrap_or_default());
            format!("{job}: {:?} {other}", passed_over.reason).trim_end().to_owned()
        };
        seen.passed.iter().filter(|passed| passed.reason != Reason::None).map(text).collect()
    }

    /// When these jobs started, s.
    fn times<const N: usize>(&self, set: &str, jobs: [&str; N]) -> [f64; N] {
        let starts = self.starts(set);
        jobs.map(|job| starts.get(job).map_or(f64::INFINITY, |start| start.0))
    }
}

/// Seen: a lone event is handled at the next second; a busy queue every three.
#[test]
fn the_main_loop_runs_at_the_next_second_and_three_seconds_apart() {
    let world = World::of(1, 4, vec![job("a", 0, 1, 1, 30), job("b", 1, 1, 1, 30), job("c", 2, 1, 1, 30)]);
    assert_eq!(world.times("scheduler=builtin", ["a", "b", "c"]), [1.0, 4.0, 4.0]);
    assert_eq!(world.times("scheduler=builtin,batch_sched_delay=0", ["a", "b", "c"]), [1.0, 2.0, 3.0]);
}

/// Seen: nothing is started at an end, unless the nodes report it by themselves (source, seen).
#[test]
fn an_end_is_handled_at_the_next_run() {
    let world = World::of(1, 4, vec![job("a", 0, 4, 1, 10), job("b", 0, 4, 1, 10)]);
    assert_eq!(world.times("scheduler=builtin", ["a", "b"]), [1.0, 12.0]);
    assert_eq!(world.times("scheduler=builtin,run_at_ends=true", ["a", "b"]), [1.0, 11.001]);
}

/// Source, seen: the run at an end comes within `batch_sched_delay`, and does not put off the run for a submission.
#[test]
fn a_run_at_an_end_is_one_more() {
    // The machine is full until a ends, just after the run at 4 s. c is submitted a second later.
    let jobs = vec![job("a", 0, 2, 1, 3), job("x", 0, 2, 1, 50), job("b", 1, 1, 1, 50), job("c", 5, 1, 1, 50)];
    let world = World::of(1, 4, jobs);
    assert_eq!(world.times("scheduler=builtin", ["b", "c"]), [7.0, 7.0]);
    assert_eq!(world.times("scheduler=builtin,run_at_ends=true", ["b", "c"]), [4.001, 7.0]);
}

/// Manual: a run looks at `default_queue_depth` jobs, one a minute at all.
#[test]
fn only_one_run_a_minute_looks_at_the_whole_queue() {
    // The first stops its partition; the other one is behind it in the queue.
    let jobs = vec![job("a", 0, 4, 9, 300), job("b", 1, 4, 9, 10), job("c", 2, 1, 1, 10).in_partition("other")];
    let world = World::of(2, 4, jobs).partition("", &["n0"], |partition| partition.is_default = true).partition(
        "other",
        &["n1"],
        |_| {},
    );
    assert_eq!(world.times("scheduler=builtin", ["c"]), [4.0]);
    assert_eq!(world.times("scheduler=builtin,default_queue_depth=1", ["c"]), [61.0]);
    assert_eq!(world.times("scheduler=builtin,default_queue_depth=1,sched_interval=20000", ["c"]), [21.0]);
}

/// Manual, seen: a run over the whole queue also puts off the next one by `batch_sched_delay`.
#[test]
fn a_run_over_the_whole_queue_puts_off_the_next() {
    // b waits, so that the whole queue is looked at at 61 s. c is submitted a millisecond later.
    let jobs = vec![job("a", 0, 4, 9, 300), job("b", 1, 4, 9, 10), job("c", 61, 1, 1, 10).in_partition("other")];
    let world = World::of(2, 4, jobs).partition("", &["n0"], |partition| partition.is_default = true).partition(
        "other",
        &["n1"],
        |_| {},
    );
    assert_eq!(world.times("scheduler=builtin", ["c"]), [64.0]);
    assert_eq!(world.times("scheduler=builtin,batch_sched_delay=0", ["c"]), [62.0]);
}

/// Seen: the backfill scheduler runs `bf_interval` after its last run.
#[test]
fn the_backfill_scheduler_has_a_period_of_its_own() {
    let jobs = vec![job("a", 0, 3, 9, 300), job("b", 0, 4, 9, 300), job("c", 3, 1, 1, 10)];
    let world = World::of(1, 4, jobs);
    assert_eq!(world.times("bf_interval=5000", ["c"]), [5.5], "b comes first and finds no room: c is backfilled");
    assert_eq!(world.times("bf_interval=30000", ["c"]), [30.5]);
    // It ran in that second of the log, or whole periods later.
    for at in [20_000_i64, 50_000, 1_000_000_010_000] {
        let [c] = world.times(&format!("bf_interval=30000,bf_ran_at={at}"), ["c"]);
        assert!((20.0..21.0).contains(&c), "{at}: {c}");
    }
    assert_eq!(world.times("scheduler=builtin", ["c"]), [605.0], "without backfill it waits behind b");
}

/// Manual (23.02): the tasks of an array that start one after another count as jobs that were looked at. In 22.05 they did not.
#[test]
fn tasks_of_an_array_count_as_jobs_that_backfill_looked_at() {
    let jobs = ["7_1", "7_2", "7_3"].map(|id| job(id, 0, 1, 1, 30)).to_vec();
    let world = World::of(1, 4, jobs);
    let set = "bf_max_job_test=1,default_queue_depth=1,bf_interval=5000";
    let starts = |more: &str| world.times(&format!("{set},{more}"), ["7_1", "7_2", "7_3"]);
    assert_eq!(starts("version=22.05"), [0.5; 3]);
    assert_eq!(starts("version=24.11"), [0.5, 1.0, 5.5], "the main loop takes the second");
    assert_eq!(starts("version=24.11,bf_count_tasks=false"), [0.5; 3]);
    assert_eq!(starts("version=22.05,bf_count_tasks=true"), [0.5, 1.0, 5.5]);
}

/// Manual, seen: the tier of the partition, then priority, then submission.
#[test]
fn the_order_is_tier_then_priority_then_submission() {
    let late = |id: &str| job(id, 3, 4, 1, 10);
    let jobs = vec![job("a", 0, 4, 1, 10), late("b"), late("c"), late("d").priority(9), late("e").in_partition("high")];
    let world = World::of(1, 4, jobs).partition("low", &[], |partition| partition.is_default = true).partition(
        "high",
        &[],
        |partition| partition.tier = 5,
    );
    let [b, c, d, e] = world.times("scheduler=builtin", ["b", "c", "d", "e"]);
    assert!(e < d && d < b && b < c);
    let [b, d] = world.times("scheduler=builtin,priority=basic", ["b", "d"]);
    assert!(b < d, "the numbers of the log do not count");
}

/// Seen: the record of a job that was held has priority 0 (`held` of `mixed`), also after its release. Slurm starts no job with it, so that
/// it is not the number with which it started: it started at once, as a job with the number of the others.
#[test]
fn a_held_job_has_another_priority_once_it_is_released() {
    let held = job("held", 2, 4, 1, 10).priority(0);
    let starts = |held: Job| {
        let of_user = |id: &str, submit: i64, priority: i64| job(id, submit, 4, 1, 10).priority(priority);
        let jobs = vec![of_user("a", 0, 5), of_user("low", 0, 4), of_user("b", 1, 5), held, of_user("high", 3, 6)];
        World::of(1, 4, jobs).times("scheduler=builtin", ["low", "b", "held", "high"])
    };
    let [low, b, at, high] = starts(held.clone());
    assert!(high < b && b < at && at < low, "as b, the last before it: {low} {b} {at} {high}");
    let [_, b, at, high] = starts(held.with(|job, _| job.eligible = Some(4_001)));
    assert!(at < high && high < b, "as the job that came before its release: {b} {at} {high}");
}

/// Manual, seen: of two jobs with the same priority, the one that was submitted first; at the same instant, the one with the lower number.
#[test]
fn submission_counts_before_the_number_of_a_job() {
    let jobs = vec![job("1", 0, 4, 1, 10), job("12", 2, 4, 1, 10), job("10", 3, 4, 1, 10), job("9", 3, 4, 1, 10)];
    let [late, ten, nine] = World::of(1, 4, jobs).times("scheduler=builtin", ["12", "10", "9"]);
    assert!(late < nine && nine < ten, "{late} {nine} {ten}");
}

/// Three machines, of which a partition has two. Its first job has three of their processors, and its second wants both.
fn stopped() -> World {
    let jobs = vec![
        job("a", 0, 3, 9, 100).in_partition("x"),
        job("b", 1, 8, 9, 100).in_partition("x"),
        job("c", 2, 1, 1, 10).in_partition("x"),
        job("d", 2, 1, 1, 10).in_partition("all"),
        job("e", 2, 1, 1, 10).in_partition("y"),
    ];
    World::of(3, 4, jobs).partition("x", &["n0", "n1"], |_| {}).partition("y", &["n2"], |_| {}).partition(
        "all",
        &[],
        |_| {},
    )
}

/// Manual: the first job of a partition that finds no room stops the rest of it; other partitions go on, but not on its machines.
#[test]
fn a_partition_is_stopped_by_its_first_job_without_room() {
    let world = stopped();
    let starts = world.starts("scheduler=builtin");
    assert!(starts["c"].0 > 100.0, "c is of the same partition");
    assert_eq!(starts["e"].0, 4.0);
    assert_eq!(starts["d"], (4.0, vec!["n2".to_owned()]), "n0 and n1 are kept from d");
}

/// Manual, seen: that job waits for `Resources`, and those behind it because of its `Priority`. A limit and a reservation are reasons of
/// their own.
#[test]
fn reasons_say_what_stops_a_job() {
    assert_eq!(stopped().reasons("scheduler=builtin")[..2], ["b: Fit", "c: Priority b"]);
    let q = |other: Job| other.with(|job, _| job.qos = Some("q".to_owned()));
    let limited = World::of(1, 8, vec![q(job("a", 0, 2, 1, 20)), q(job("b", 1, 2, 1, 20))]).qos("q", at_most(3));
    assert_eq!(limited.reasons("scheduler=builtin")[..1], ["b: UserLimit"]);
    let mut reserved = World::of(2, 4, vec![job("a", 0, 5, 3, 10)]);
    let nodes = vec!["n1".to_owned()];
    reserved.conf.reservations = vec![Reservation { name: "r".to_owned(), start: 120_000, end: 240_000, nodes }];
    assert_eq!(reserved.reasons("scheduler=builtin")[..1], ["a: Reserve"]);
}

/// Manual: a job that no choice of machines could hold is passed over. Two of these machines have no room for five processors, all three
/// have.
#[test]
fn a_job_that_no_choice_of_machines_holds_stops_nobody() {
    let on_two = job("a", 0, 5, 9, 100).with(|_, task| task.machines = Some(2));
    let mut world = World::of(3, 1, vec![on_two, job("b", 1, 1, 9, 10)]);
    world.nodes[0].cpu = Some(3_000);
    let [a, b] = world.times("scheduler=builtin", ["a", "b"]);
    assert_eq!((a, b), (f64::INFINITY, 4.0));
    world.nodes[1].cpu = Some(2_000);
    assert_eq!(world.times("scheduler=builtin", ["a"]), [1.0]);
}

/// A wait as long as a job's: the scheduler is asked all the time, although nothing can start.
#[test]
fn a_job_behind_a_long_one_starts_in_the_end() {
    let days = 6;
    let jobs = vec![job("a", 0, 1, days * 1_440, days * 86_400), job("b", 600, 1, 60, 60)];
    let [b] = World::of(1, 1, jobs).times("", ["b"]);
    let end = f64::from(days as i32) * 86_400.0;
    assert!((end..end + 70.0).contains(&b), "{b}");
}

/// Two jobs of partition `low` on a machine, and one of partition `high` that needs as much as the second has.
fn contested(change: impl FnOnce(&mut Partition)) -> World {
    let jobs = vec![
        job("a", 0, 4, 9, 300).in_partition("low"),
        job("b", 1, 12, 9, 300).in_partition("low"),
        job("c", 60, 12, 1, 10).in_partition("high"),
    ];
    World::of(1, 16, jobs).partition("low", &[], change).partition("high", &[], |partition| partition.tier = 9)
}

/// Seen: a job of a higher tier takes the place of others at once. They wait for 121 s from then on, and run again from their beginning.
#[test]
fn a_higher_tier_takes_the_place_of_a_lower_one() {
    let world = contested(|_| {});
    assert_eq!(world.times("", ["a", "b", "c"]), [0.5, 4.0, 305.0]);
    let set = "preempt=partition_prio,preempt_mode=requeue,scheduler=builtin";
    assert_eq!(
        world.times(set, ["a", "b", "c"]),
        [1.0, 184.0, 61.0],
        "b leaves at 61, and may start from 182 on: the whole queue was looked at at 181"
    );
    assert_eq!(world.times(&format!("{set},requeue_delay=0"), ["b"]), [72.0], "when c has ended");
    let set = "preempt=partition_prio,preempt_mode=requeue,bf_interval=30000";
    assert_eq!(world.times(set, ["a", "c"]), [0.5, 60.5], "backfill does so, too");
}

/// Manual: jobs may be cancelled rather than run again, and keep their place for some time, or in some partitions.
#[test]
fn what_becomes_of_a_job_that_loses_its_place_can_be_set() {
    let set = "preempt=partition_prio,preempt_mode=cancel,scheduler=builtin";
    let starts = contested(|_| {}).times(set, ["b", "c"]);
    assert_eq!(starts, [4.0, 61.0], "b has ended");
    assert_eq!(contested(|_| {}).times(&format!("{set},requeue=false"), ["b"]), [4.0]);
    let mode = |mode: &str| contested(|partition| partition.preempt_mode = Some(mode.to_owned()));
    assert_eq!(mode("requeue").times(set, ["b", "c"]), [184.0, 61.0], "the mode of the partition counts");
    assert_eq!(mode("off").times(set, ["c"]), [307.0]);
    assert_eq!(mode("suspend").times(set, ["c"]), [307.0], "jobs are not suspended");
    assert_eq!(
        contested(|_| {}).times(&format!("{set},preempt_exempt_time=120000"), ["c"]),
        [181.0],
        "of the runs over the whole queue"
    );
}

/// Manual: a partition or a QOS may let a job run on for its `GraceTime`. The job that takes its place waits meanwhile.
#[test]
fn a_job_that_loses_its_place_may_have_a_grace_time() {
    let grace = |ms: Ms| contested(|partition| partition.grace_time = ms);
    let set = "preempt=partition_prio,preempt_mode=requeue,scheduler=builtin";
    assert_eq!(
        grace(30_000).times(set, ["a", "b", "c"]),
        [1.0, 212.0, 91.0],
        "b leaves at 91, 121 s before it starts again"
    );
    assert_eq!(grace(600_000).times(set, ["b", "c"]), [4.0, 307.0], "b ends by itself before");
    let set = "preempt=partition_prio,preempt_mode=cancel,scheduler=builtin";
    assert_eq!(grace(30_000).times(set, ["b", "c"]), [4.0, 91.0], "b has ended");
    let of = |name: &'static str| move |job: &mut JobRow, _: &mut TaskRow| job.qos = Some(name.to_owned());
    let jobs = vec![job("a", 0, 4, 9, 300).with(of("low")), job("b", 60, 4, 1, 10).with(of("high"))];
    let high = Qos { preempt: vec!["low".to_owned()], ..Qos::default() };
    let world = World::of(1, 4, jobs).qos("low", Qos { grace_time: 20_000, ..Qos::default() }).qos("high", high);
    assert_eq!(world.times("preempt=qos,preempt_mode=requeue,scheduler=builtin", ["b"]), [81.0]);
}

/// Manual: the time in which a job keeps its place may be that of its QOS, or of the QOS of its partition.
#[test]
fn a_quality_of_service_may_say_how_long_a_job_keeps_its_place() {
    let exempt = |time: Option<Ms>| Qos { preempt_exempt_time: time, ..Qos::default() };
    let set = "preempt=partition_prio,preempt_mode=cancel,scheduler=builtin";
    let world = |time| contested(|partition| partition.qos = Some("q".to_owned())).qos("q", exempt(time));
    assert_eq!(world(Some(120_000)).times(set, ["c"]), [181.0], "of the runs over the whole queue");
    let global = format!("{set},preempt_exempt_time=120000");
    assert_eq!(world(Some(0)).times(&global, ["c"]), [61.0], "it takes precedence");
    assert_eq!(world(None).times(&global, ["c"]), [181.0]);
    let mut of_jobs = contested(|_| {}).qos("q", exempt(Some(120_000)));
    of_jobs.jobs = of_jobs.jobs.into_iter().map(|other| other.with(|job, _| job.qos = Some("q".to_owned()))).collect();
    assert_eq!(of_jobs.times(set, ["c"]), [181.0]);
}

/// Source: as few jobs as possible lose their place, unless the order is strict.
#[test]
fn few_jobs_lose_their_place() {
    let set = "preempt=partition_prio,preempt_mode=requeue,scheduler=builtin";
    let both = contested(|_| {}).times(&format!("{set},preempt_reorder_count=0"), ["a", "b"]);
    assert_eq!(both, [184.0, 184.0], "a came first, and did not give enough room");
    let youngest = format!("{set},preempt_reorder_count=0,preempt_youngest_first=true");
    assert_eq!(contested(|_| {}).times(&youngest, ["a", "b"]), [1.0, 184.0]);
}

/// Manual: a QOS goes over those that it names.
#[test]
fn a_quality_of_service_takes_the_place_of_those_that_it_names() {
    let of = |name: &'static str| move |job: &mut JobRow, _: &mut TaskRow| job.qos = Some(name.to_owned());
    let jobs = vec![job("a", 0, 4, 9, 300).with(of("low")), job("b", 60, 4, 1, 10).with(of("high"))];
    let over = |names: &[&str]| Qos { preempt: names.iter().map(|&name| name.to_owned()).collect(), ..Qos::default() };
    let world = |names: &[&str]| World::of(1, 4, jobs.clone()).qos("low", over(&[])).qos("high", over(names));
    let set = "preempt=qos,preempt_mode=requeue,scheduler=builtin";
    assert_eq!(world(&["low"]).times(set, ["a", "b"]), [184.0, 61.0]);
    assert_eq!(world(&["other"]).times(set, ["b"]), [304.0]);
}

/// Manual: machines of less weight are taken first.
#[test]
fn the_lightest_machines_are_taken() {
    let jobs = vec![job("a", 0, 4, 1, 300), job("b", 1, 6, 1, 300)];
    let mut world = World::of(3, 4, jobs);
    let group =
        |hosts: &[&str], weight| NodeGroup { hosts: hosts.iter().map(|&host| host.to_owned()).collect(), weight };
    world.conf.nodes = vec![group(&["n0"], 9), group(&["n1", "n2"], 2)];
    let starts = world.starts("scheduler=builtin");
    assert_eq!(starts["a"].1, ["n1"]);
    assert_eq!(starts["b"].1, ["n0", "n2"]);
}

fn at_most(cpus: u64) -> Qos {
    let per_user = Limits { cpus: Some(cpus), ..Limits::default() };
    Qos { limits: JobLimits { per_user, ..JobLimits::default() }, ..Qos::default() }
}

/// Seen: a job that a limit stops does not stop those behind it, unless `assoc_limit_stop`.
#[test]
fn a_limit_stops_its_job_alone() {
    let q = |other: Job| other.with(|job, _| job.qos = Some("q".to_owned()));
    let jobs = vec![
        q(job("a", 0, 2, 1, 20)),
        q(job("b", 1, 2, 1, 20)),
        job("c", 1, 1, 1, 10),
        q(job("d", 1, 2, 1, 20)).of("bob"),
    ];
    let world = World::of(1, 8, jobs).qos("q", at_most(3));
    assert_eq!(world.times("scheduler=builtin", ["a", "b", "c", "d"]), [1.0, 22.0, 4.0, 4.0]);
    assert_eq!(world.times("scheduler=builtin,assoc_limit_stop=true", ["c", "d"]), [22.0, 22.0]);
}

/// As a limit of 0, a limit that a job alone exceeds holds it for ever. Nobody would know why.
#[test]
fn a_job_that_alone_exceeds_a_limit_is_named_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let conf = "PartitionName=batch Nodes=ALL Default=YES\nNodeName=n[0-1] CPUs=8\nAccountingStorageEnforce=limits\n";
    std::fs::write(dir.path().join("slurm.conf"), conf).unwrap();
    let qos = "Name|MaxTRESPU|GrpTRES|MaxWall\nlow|cpu=4|gres/gpu=0|00:02:00\nfree|||\n";
    std::fs::write(dir.path().join("qos.txt"), qos).unwrap();
    let of = |other: Job, qos: &str| other.with(|job, _| job.qos = Some(qos.to_owned()));
    let gpu = job("gpu", 4, 1, 1, 10).on(1).with(|_, task| task.resources = Some("gres/gpu=1".to_owned()));
    let jobs = vec![
        of(job("fits", 0, 4, 2, 10), "low"),
        of(job("wide", 1, 5, 1, 10), "low"),
        of(job("wider", 2, 8, 1, 10), "low"),
        of(job("long", 3, 1, 3, 10), "low"),
        of(gpu, "low"),
        of(job("other", 5, 8, 3, 10), "free"),
    ];
    let mut world = World::of(2, 8, jobs);
    world.nodes.iter_mut().for_each(|node| node.resources = Some("gres/gpu=2".to_owned()));
    let site = Arc::new(SiteConf::read(dir.path()).unwrap().site);
    let policy = |text: &str| PolicySpec::parse(text).unwrap().at_site(&site).unwrap();
    let named = |text: &str| in_words("slurm", &policy(text).too_large(&world.loaded().workload).unwrap());
    let line = |what: &str, setting: &str, ids: &str| {
        format!("slurm: {what} alone exceeds `{setting}` of quality of service `low` (qos.txt: line 2): {ids}")
    };
    let expected = [
        line("1 job can never start, because it", "GrpTRES", "`gpu`"),
        line("1 job can never start, because it", "MaxWall", "`long`"),
        line("2 jobs can never start, because each", "MaxTRESPU", "`wide`, `wider`"),
    ];
    assert_eq!(named("slurm"), expected);
    assert_eq!(named("slurm:limit_accuracy=0.5").len(), 2, "how long a job asks for then is not known");
    assert_eq!(named("easy"), [""; 0], "it has no such limits");
    world.conf = site.slurm.clone().unwrap();
    let starts = world.starts("");
    assert_eq!(starts.keys().collect::<Vec<_>>(), ["fits", "other"]);
}

/// Manual: a job without a free licence does not stop those behind it, even with `assoc_limit_stop`.
#[test]
fn a_missing_licence_stops_its_job_alone() {
    let licensed = |other: Job| other.with(|job, _| job.licenses = Some("license/lic=1".to_owned()));
    let jobs = vec![licensed(job("a", 0, 1, 1, 20)), licensed(job("b", 1, 1, 1, 20)), job("c", 1, 1, 1, 10)];
    let mut world = World::of(1, 8, jobs);
    for (count, b) in [(1, 22.0), (2, 4.0)] {
        world.cluster.machines.licenses = Some(format!("license/lic={count}"));
        for set in ["scheduler=builtin", "scheduler=builtin,assoc_limit_stop=true"] {
            assert_eq!(world.times(set, ["a", "b", "c"]), [1.0, b, 4.0], "{count} {set}");
        }
    }
}

/// Manual: limits of the QOS of the partition, of accounts with those below them, of jobs, and on a single job.
#[test]
fn limits_of_partitions_and_associations_hold_as_well() {
    let jobs = || vec![job("a", 0, 2, 1, 20), job("b", 1, 2, 1, 20)];
    let group = |limits: Limits| JobLimits { group: limits, ..JobLimits::default() };
    let one_job = Limits { jobs: Some(1), ..Limits::default() };
    let in_account = |other: Job| other.with(|job, _| job.group = Some("lab".to_owned()));
    let of_partition = World::of(1, 8, jobs())
        .partition("p", &[], |partition| (partition.is_default, partition.qos) = (true, Some("q".to_owned())))
        .qos("q", Qos { limits: group(one_job.clone()), ..Qos::default() });
    let mut of_account = World::of(1, 8, jobs().into_iter().map(in_account).collect());
    of_account.conf.associations = vec![
        Association { account: "root".to_owned(), limits: group(one_job), ..Association::default() },
        Association { account: "lab".to_owned(), parent: Some("root".to_owned()), ..Association::default() },
    ];
    of_account.jobs.push(job("c", 1, 1, 1, 10));
    // The limit of the default partition is found by the name that its jobs give.
    let named = World { jobs: jobs().into_iter().map(|job| job.in_partition("p")).collect(), ..of_partition };
    assert_eq!(named.times("scheduler=builtin", ["a", "b"]), [1.0, 22.0]);
    assert_eq!(of_account.times("scheduler=builtin", ["a", "b", "c"]), [1.0, 22.0, 4.0], "c is of no account");
    let per_job = Limits { cpus: Some(1), ..Limits::default() };
    let q = |other: Job| other.with(|job, _| job.qos = Some("q".to_owned()));
    let never = World::of(1, 8, vec![q(job("a", 0, 2, 1, 20)), job("b", 0, 2, 1, 20)])
        .qos("q", Qos { limits: JobLimits { per_job, ..JobLimits::default() }, ..Qos::default() });
    assert_eq!(never.times("", ["a", "b"]), [f64::INFINITY, 0.5]);
}

/// Seen: a job starts before a reservation if it ends by its limit before the reservation begins.
#[test]
fn a_job_is_backfilled_if_its_limit_is_over_before_the_reservation() {
    // a ends by its limit after five minutes; then b gets both machines.
    let jobs = vec![job("a", 0, 4, 5, 290), job("b", 1, 8, 5, 60), job("c", 2, 4, 4, 200), job("d", 2, 4, 6, 200)];
    let world = World::of(2, 4, jobs);
    let [b, c, d] = world.times("bf_interval=5000", ["b", "c", "d"]);
    assert_eq!(c, 5.5);
    assert!(b > 290.0 && b < 297.0 && d > b, "{b} {d}");
}

/// Seen: a reservation closes whole machines, also if its job needs a part of them.
#[test]
fn a_reservation_closes_whole_machines() {
    // b needs three processors of a machine that has two free until a ends.
    let jobs = vec![job("a", 0, 2, 5, 290), job("b", 1, 3, 5, 60), job("c", 2, 1, 9, 30)];
    let world = World::of(1, 4, jobs);
    let [b, c] = world.times("bf_interval=5000", ["b", "c"]);
    assert!(b > 290.0 && c > 290.0, "c needs one of the processors that b leaves: {b} {c}");
}

/// Seen: planned starts are rounded down to `bf_resolution`.
#[test]
fn planned_starts_are_rounded_down() {
    // By its limit, a ends at 5:20, and b is planned then; rounded, at 5:00. By its limit, c ends at 5:07.
    let jobs = vec![
        job("z", 0, 1, 1, 1),
        job("a", 20, 4, 5, 290),
        job("b", 21, 8, 5, 60),
        job("c", 22, 4, 5, 200).limited_to(285_000),
    ];
    let world = World::of(2, 4, jobs);
    let [rounded, exact] = ["60000", "1000"]
        .map(|grain| world.times(&format!("bf_interval=1000,limit_grain=1,bf_resolution={grain}"), ["c"])[0]);
    assert!(rounded > 300.0 && exact == 22.5, "{rounded} {exact}");
}

/// A machine that a has until 5:00 by its limit, and b from then on; both machines are for c behind that. d finds room beside a and b.
fn one_behind_the_other(b: Ms, d: Ms) -> World {
    let jobs = vec![
        job("a", 0, 4, 5, 290).in_partition("x"),
        job("b", 1, 4, 5, 60).in_partition("x").limited_to(b),
        job("c", 2, 8, 5, 60),
        job("d", 3, 2, 5, 10).limited_to(d),
    ];
    World::of(2, 4, jobs).partition("x", &["n0"], |_| {})
}

/// Manual: a job that finds no room before an earlier plan ends is tried again from there.
#[test]
fn a_job_is_planned_behind_an_earlier_plan() {
    // b is planned from 5:00 to 10:00, so c at 10:00.
    let d = |limit| one_behind_the_other(5 * MINUTE, limit).times("bf_interval=5000", ["d"])[0];
    assert_eq!(d(9 * MINUTE), 5.5, "it ends before c");
    assert!(d(10 * MINUTE) > 290.0, "c would have to wait for it");
}

/// Seen: planned ends are rounded down, too; in 24.11, up.
#[test]
fn planned_ends_are_rounded_as_the_version_does() {
    // By its limit, b ends at 10:50, and c is planned then; rounded, at 10:00 or 11:00.
    let d = |limit, set: &str| {
        let set = format!("bf_interval=5000,limit_grain=1,{set}");
        one_behind_the_other(350_000, limit).times(&set, ["d"])[0]
    };
    for down in ["version=22.05", "version=24.11,bf_round_up=false"] {
        assert_eq!(d(590_000, down), 5.5);
        assert!(d(610_000, down) > 290.0, "it ends at 10:15");
    }
    for up in ["version=24.11", "version=22.05,bf_round_up=true"] {
        assert_eq!(d(650_000, up), 5.5, "it ends at 10:55");
        assert!(d(670_000, up) > 290.0, "it ends at 11:15");
    }
    for exact in ["version=22.05,bf_resolution=1000", "version=24.11,bf_resolution=1000"] {
        assert_eq!(d(610_000, exact), 5.5);
        assert!(d(650_000, exact) > 290.0, "it ends at 10:55");
    }
}

/// Manual: running jobs are taken away in bundles, so that a plan may begin at the end of the last of a bundle.
#[test]
fn plans_begin_at_the_ends_of_bundles() {
    // By their limits, a ends at 60 s and x at 80 s. b could start at 60 s, and is planned at 80 s: c with 75 s fits before it.
    let jobs = vec![
        job("a", 0, 4, 1, 59).limited_to(59_000),
        job("x", 0, 2, 1, 79).limited_to(79_000),
        job("b", 1, 6, 1, 10).limited_to(60_000),
        job("c", 2, 2, 1, 30).limited_to(70_000),
    ];
    let world = World::of(2, 4, jobs);
    let set = "bf_interval=1000,limit_grain=1,bf_resolution=1000";
    assert!(world.times(set, ["c"])[0] < 10.0);
    assert!(world.times(&format!("{set},bf_window_linear=1000"), ["c"])[0] < 10.0, "the first bundle is as wide");
}

/// Seen: the tasks of an array are submitted at once, although the part of the second is drawn.
#[test]
fn the_tasks_of_an_array_are_one_submission() {
    let in_second = |id: String| job(&id, 10, 1, 1, 5).with(|job, _| job.submit = Some(10_000));
    let mut jobs = vec![job("z", 0, 1, 1, 1)];
    jobs.extend((0..20).map(|task| in_second(format!("7_{task}"))));
    // Only backfill looks for them, in the middle of each second.
    let starts = World::of(1, 32, jobs).starts("bf_interval=1000,batch_sched_delay=3600000,sched_interval=86400000");
    let first = starts["7_0"].0;
    assert!(starts.iter().filter(|(id, _)| id.starts_with("7_")).all(|(_, start)| start.0 == first), "{starts:?}");
}

/// Source, seen: the first bundle of ends reaches 30 s beyond the next whole half minute of the clock, whenever in it the first end is.
#[test]
fn bundles_are_counted_from_a_half_minute_of_the_clock() {
    // By their limits, a ends at 31 s, and x later. b could start at 31 s; c has a limit of 50 s.
    let c = |end: i64| {
        let jobs = vec![
            job("a", 0, 4, 1, 31).limited_to(31_000),
            job("x", 0, 2, 2, end).limited_to(end * 1_000),
            job("b", 1, 6, 1, 10).limited_to(60_000),
            job("c", 2, 2, 1, 30).limited_to(50_000),
        ];
        World::of(2, 4, jobs).times("bf_interval=1000,limit_grain=1,bf_resolution=1000", ["c"])[0]
    };
    assert!(c(90) < 10.0, "the bundle reaches up to 90 s, where b is planned");
    assert!(c(91) > 31.0, "b is planned at 31 s");
}

/// Source, seen: the second bundle reaches 60 s beyond the same half minute, or one second more than the first with `bf_window_linear=1`.
#[test]
fn all_bundles_are_counted_from_one_instant() {
    // By their limits, a ends at 31 s, x at 95 s, and y later. b could start at 95 s; c has a limit of 110 s.
    let c = |end: i64, set: &str| {
        let jobs = vec![
            job("a", 0, 4, 1, 31).limited_to(31_000),
            job("x", 0, 4, 2, 95).limited_to(95_000),
            job("y", 0, 2, 2, end).limited_to(end * 1_000),
            job("b", 1, 10, 1, 10).limited_to(60_000),
            job("c", 2, 2, 2, 30).limited_to(110_000),
        ];
        World::of(3, 4, jobs).times(&format!("bf_interval=1000,limit_grain=1,bf_resolution=1000{set}"), ["c"])[0]
    };
    assert!(c(120, "") < 10.0, "b is planned at 120 s");
    assert!(c(121, "") > 90.0, "b is planned at 95 s");
    assert!(c(120, ",bf_window_linear=1000") > 90.0);
}

/// NEWS of 24.11: a job that gains no machines before the slot behind its limit is tried at the end of the next one, too.
#[test]
fn a_job_is_also_tried_at_the_end_of_the_next_slot() {
    // a gets n0 from 2:00 to 7:00, and b n1 from 4:00 to 7:00, so that j gains nothing by the slots until then. By the limits, it has room
    // at 9:00, which is one bundle with 10:25 if bundles are counted from 2:00 on. By its limit, k ends at 9:40 on a machine of j.
    let jobs = vec![
        job("1", 0, 4, 2, 119).on(1),
        job("2", 0, 4, 4, 239).on(1),
        job("3", 0, 3, 9, 539).on(1),
        job("4", 0, 4, 11, 624).on(1).limited_to(625_000),
        job("a", 0, 4, 5, 290).on(1),
        job("b", 0, 4, 3, 170).on(1),
        job("j", 0, 12, 1, 50),
        job("k", 0, 1, 10, 60).limited_to(580_000),
    ];
    let world = World::of(4, 4, jobs);
    let k = |set: &str| world.times(&format!("bf_interval=30000,limit_grain=1,bf_resolution=1000,{set}"), ["k"])[0];
    assert!(k("version=24.11") > 60.0, "j is planned at 9:00");
    assert_eq!(k("version=24.11,bf_next_slot=false"), 0.5, "j is planned at 10:25");
    assert_eq!(k("version=22.05"), 0.5);
}

/// Seen: every job that waits has a reservation, or so many in each partition.
#[test]
fn one_reservation_is_easy_and_all_are_conservative() {
    // By its limit, a ends at 5:00. Then b gets the machines of a until 10:00, and c all three. By its limit, d ends at 12:05.
    let world = |partition: &str| {
        let c = job("c", 2, 12, 5, 60).in_partition(partition);
        World::of(3, 4, vec![job("a", 0, 8, 5, 290), job("b", 1, 8, 5, 60), c, job("d", 3, 4, 12, 10)])
    };
    let d = |partition: &str, reservations: u32| {
        world(partition).times(&format!("bf_interval=5000,reservations={reservations}"), ["d"])[0]
    };
    assert_eq!(d("", 1), 5.5, "it delays c, but not b");
    assert!(d("", 0) > 290.0 && d("", 2) > 290.0, "c has a reservation, too");
    assert!(d("other", 1) > 290.0, "c has that of its partition");
}

/// Seen: no promise is kept. The plan of the next cycle is made without that of the last.
#[test]
fn a_plan_is_no_promise() {
    // b is planned at 5:00 from the first cycle on.
    let jobs = vec![job("a", 0, 4, 5, 290), job("b", 1, 4, 5, 60), job("c", 20, 4, 5, 60).priority(9)];
    let [b, c] = World::of(1, 4, jobs).times("bf_interval=5000", ["b", "c"]);
    assert!(c < 300.0 && b > c + 60.0, "{b} {c}");
}

/// Manual: only jobs of some age or priority get reservations, and none beyond the window.
#[test]
fn reservations_need_age_priority_and_the_window() {
    let world =
        World::of(2, 4, vec![job("a", 0, 4, 5, 290), job("b", 1, 8, 5, 60).priority(5), job("c", 2, 4, 6, 100)]);
    let c = |set: &str| world.times(&format!("bf_interval=5000,priority=logged,{set}"), ["c"])[0];
    assert!(c("") > 290.0);
    assert_eq!(c("bf_min_age_reserve=60000"), 5.5, "b is not old enough to be protected");
    assert_eq!(c("bf_min_prio_reserve=6"), 5.5);
    assert!(c("bf_min_prio_reserve=5") > 290.0);
    assert_eq!(c("bf_window=60000"), 5.5, "b would start in five minutes");
}

/// Seen: limits are whole minutes.
#[test]
fn limits_are_rounded_up_to_minutes() {
    let half = |other: Job| other.with(|job, _| job.requested_time = Some(4 * MINUTE + 30_000));
    let world = World::of(2, 4, vec![job("a", 0, 4, 5, 290), job("b", 1, 8, 5, 60), half(job("c", 2, 4, 0, 100))]);
    assert!(world.times("bf_interval=5000", ["c"])[0] > 290.0, "five minutes do not fit before b");
    assert_eq!(world.times("bf_interval=5000,limit_grain=1000", ["c"]), [5.5]);
}

/// A what-if: with limits nearer to the run times, more jobs fit before a reservation.
#[test]
fn limits_may_be_nearer_to_the_run_times() {
    let world = World::of(2, 4, vec![job("a", 0, 4, 5, 290), job("b", 1, 8, 5, 60), job("c", 2, 4, 6, 100)]);
    assert!(world.times("bf_interval=5000", ["c"])[0] > 290.0, "six minutes do not fit before b");
    assert_eq!(
        world.times("bf_interval=5000,limit_accuracy=0.5", ["c"]),
        [5.5],
        "230 s, rounded up to four minutes, do"
    );
    assert_eq!(world.times("bf_interval=5000,limit_accuracy=1", ["c"]), [5.5]);
}

/// Seen: a job that names no limit has that of its partition, and never more than the partition allows. Source: `MaxWall` goes before it.
/// A job that may run without a limit (`-t 0`) is planned for a year, and so does not get the limit of the others.
#[test]
fn partitions_have_default_and_largest_limits() {
    let no_limit = |other: Job| other.with(|job, _| job.requested_time = None);
    let c = |other: Job| other.in_partition("short").with(|job, _| job.qos = Some("low".to_owned()));
    let start = |other: Job, default: Option<Ms>, most: Option<Ms>, max_wall: Option<Ms>| {
        let world = World::of(2, 4, vec![job("a", 0, 4, 5, 290), job("b", 1, 8, 5, 60), c(other)]);
        let world = world
            .partition("p", &[], |partition| partition.is_default = true)
            .partition("short", &[], |partition| (partition.default_time, partition.max_time) = (default, most))
            .qos("low", Qos { limits: JobLimits { max_wall, ..JobLimits::default() }, ..Qos::default() });
        world.times("bf_interval=5000", ["c"])[0]
    };
    let of = |default: Option<Ms>, most: Option<Ms>, max_wall: Option<Ms>| {
        start(no_limit(job("c", 2, 4, 0, 100)), default, most, max_wall)
    };
    assert!(of(None, None, None) > 290.0, "a year");
    assert_eq!(of(Some(2 * MINUTE), None, None), 5.5);
    assert_eq!(of(None, Some(3 * MINUTE), None), 5.5);
    assert!(of(Some(9 * MINUTE), None, None) > 290.0);
    assert_eq!(of(Some(9 * MINUTE), None, Some(2 * MINUTE)), 5.5, "the quality of service gives it two minutes");
    assert!((290.0..1e3).contains(&of(None, None, Some(9 * MINUTE))), "nine minutes are not too much for itself");
    let unlimited =
        |default: Option<Ms>, most: Option<Ms>| start(job("c", 2, 4, 0, 100).limited_to(NO_LIMIT), default, most, None);
    assert!(unlimited(Some(2 * MINUTE), None) > 290.0, "not the limit of those that name none");
    assert_eq!(unlimited(Some(2 * MINUTE), Some(3 * MINUTE)), 5.5, "a partition allows no more than its limit");
}

/// Manual: memory, whole nodes, numbers of nodes, features, other resources and licences.
#[test]
fn jobs_get_machines_that_have_what_they_ask_for() {
    let mut world = World::of(3, 4, Vec::new());
    for (place, node) in world.nodes.iter_mut().enumerate() {
        node.memory = Some(8 << 30);
        node.features = (place == 2).then(|| "fast".to_owned());
        node.resources = (place == 1).then(|| "gres/gpu=2".to_owned());
    }
    let gpu = |job: Job, count: u32| job.with(|_, task| task.resources = Some(format!("gres/gpu={count}")));
    world.jobs = vec![
        job("feature", 0, 1, 1, 10).with(|job, _| job.features = Some("fast".to_owned())),
        gpu(job("gpu", 0, 1, 1, 30).on(1), 2),
        job("memory", 0, 1, 1, 30).with(|_, task| task.memory_request = Some(7 << 30)),
        gpu(job("second", 1, 1, 1, 10).on(1), 1),
    ];
    let starts = world.starts("bf_interval=5000");
    assert_eq!(starts["feature"], (0.5, vec!["n2".to_owned()]));
    assert_eq!(starts["gpu"], (0.5, vec!["n1".to_owned()]));
    assert_eq!(starts["memory"].0, 0.5);
    assert!(starts["second"].0 > 30.5, "both GPUs are taken");
}

/// Manual: what is free counts machine by machine for memory and for tasks of several processors. A pool would start these jobs.
#[test]
fn a_job_needs_room_on_each_of_its_machines() {
    let memory = |job: Job| job.with(|_, task| task.memory_request = Some(6 << 30));
    let jobs = ["a", "b", "c"].map(|id| memory(job(id, 0, 1, 1, 20)));
    let mut world = World::of(2, 4, jobs.to_vec());
    world.nodes.iter_mut().for_each(|node| node.memory = Some(9 << 30));
    let starts = world.starts("scheduler=builtin");
    assert_eq!(["a", "b", "c"].map(|id| starts[id].0), [1.0, 1.0, 22.0], "6 GB are free, 3 on each");
    assert_ne!(starts["a"].1, starts["b"].1);
    let two_of_three =
        job("b", 1, 6, 1, 20).with(|_, task| (task.instances, task.cpu_request) = (Some(2), Some(3_000)));
    let world = World::of(2, 4, vec![job("a", 0, 2, 1, 20), two_of_three]);
    assert_eq!(world.times("scheduler=builtin", ["a", "b"]), [1.0, 22.0], "6 processors are free, 2 of them on n0");
}

/// A job that its partition could never hold does not stop those behind it.
#[test]
fn a_job_that_can_never_start_stops_nobody() {
    let mut world = World::of(2, 4, Vec::new());
    world.nodes[0].resources = Some("gres/gpu=2".to_owned());
    let gpu = |job: Job| job.with(|_, task| task.resources = Some("gres/gpu=1".to_owned()));
    world.jobs = vec![gpu(job("a", 0, 1, 1, 30).in_partition("p")), job("b", 1, 1, 1, 30).in_partition("p")];
    let world = world.partition("p", &["n1"], |_| {});
    assert_eq!(world.times("scheduler=builtin", ["a", "b"]), [f64::INFINITY, 4.0]);
}

#[test]
fn a_job_may_have_its_machines_for_itself() {
    let whole = |job: Job| job.on(1).with(|_, task| task.exclusive = Some(true));
    let jobs = vec![job("a", 0, 1, 1, 20), whole(job("b", 1, 1, 1, 20)), job("c", 5, 4, 1, 20)];
    let world = World::of(2, 4, jobs);
    let starts = world.starts("");
    assert_eq!(starts["b"], (4.0, vec!["n1".to_owned()]), "n0 runs a");
    assert!(starts["c"].0 > 20.0, "n1 has three processors free and is closed, n0 has three");
    let world = World::of(2, 4, vec![job("a", 0, 1, 1, 20), job("b", 1, 4, 1, 20).on(2), job("c", 1, 6, 1, 20).on(3)]);
    let starts = world.starts("");
    assert_eq!(starts["b"].1.len(), 2);
    assert!(!starts.contains_key("c"), "there are no three machines");
}

/// Manual: a partition may give its jobs whole machines.
#[test]
fn partitions_may_be_exclusive() {
    let jobs = vec![job("a", 0, 1, 1, 20), job("b", 0, 1, 1, 20)];
    let world = World::of(2, 4, jobs)
        .partition("p", &[], |partition| (partition.is_default, partition.exclusive) = (true, true));
    let starts = world.starts("");
    assert_ne!(starts["a"].1, starts["b"].1);
}

/// Seen: waits count from when a job is eligible; dependencies and begin times hold a job back without stopping others.
#[test]
fn a_job_is_looked_at_once_it_is_eligible() {
    let later = |other: Job, at: i64| other.with(|job, _| job.eligible = Some(at * 1_000 + 1));
    let after = |later: Job, other: &str| later.with(|job, _| job.depends_on = vec![other.to_owned()]);
    let jobs = vec![
        job("a", 0, 4, 1, 20),
        later(job("b", 0, 4, 1, 20), 40),
        after(job("c", 1, 4, 1, 5), "a"),
        job("d", 2, 1, 1, 5),
    ];
    let world = World::of(1, 8, jobs);
    assert_eq!(world.times("scheduler=builtin", ["a", "b", "c", "d"]), [1.0, 41.0, 22.0, 4.0]);
}

/// Seen: so many tasks of an array run at once. The others are not eligible and stop nobody; when the log says that they were does not
/// count.
#[test]
fn so_many_tasks_of_an_array_run_at_once() {
    let task = |id: &str, eligible: Option<i64>| {
        job(id, 0, 1, 1, 20).with(|job, _| {
            (job.array, job.array_limit) = (Some("9".to_owned()), Some(2));
            job.eligible = eligible.map(|at| at * 1_000 + 1);
        })
    };
    let jobs =
        vec![task("9_0", None), task("9_1", None), task("9_2", Some(15)), task("9_3", Some(40)), job("b", 0, 1, 1, 5)];
    let world = World::of(1, 8, jobs);
    assert_eq!(world.times("scheduler=builtin", ["9_0", "9_1", "9_2", "9_3", "b"]), [1.0, 1.0, 22.0, 22.0, 1.0]);
}

/// Seen: a reservation closes its machines to jobs that could still run when it begins, by their limits; its own jobs get them alone.
#[test]
fn machines_may_be_reserved() {
    let reserved = |other: Job| other.with(|job, _| job.reservation = Some("r".to_owned()));
    // From two minutes to four on.
    let jobs = vec![
        job("short", 0, 1, 1, 10),
        job("long", 0, 8, 3, 10),
        job("behind", 1, 1, 1, 10),
        reserved(job("own", 1, 4, 9, 10)),
        reserved(job("late", 250, 4, 9, 10)),
    ];
    let mut world = World::of(2, 4, jobs);
    world.conf.reservations =
        vec![Reservation { name: "r".to_owned(), start: 120_000, end: 240_000, nodes: vec!["n1".to_owned()] }];
    for set in ["scheduler=builtin", "bf_interval=1000"] {
        let starts = world.starts(set);
        let at = |id: &str| starts[id].0;
        assert!(at("short") <= 1.0 && at("behind") <= 4.0, "{set}: nobody is stopped by a reservation");
        assert!((240.0..=242.0).contains(&at("long")), "{set}: its three minutes are not over before: {}", at("long"));
        assert!((120.0..=122.0).contains(&at("own")), "{set}: {}", at("own"));
        assert_eq!(starts["own"].1, ["n1"], "{set}");
        assert!(at("late") >= 250.0 && at("late") <= 256.0, "{set}: its reservation is over");
    }
    // Those of a reservation come first, and one that finds no room there stops no other partition.
    let jobs = vec![
        reserved(job("first", 0, 3, 2, 60)),
        reserved(job("second", 1, 4, 2, 60)),
        reserved(job("third", 2, 1, 2, 10)),
        job("other", 2, 4, 9, 10),
    ];
    let busy = World { jobs, ..World::of(2, 4, Vec::new()) };
    let mut busy = World { conf: world.conf.clone(), ..busy };
    busy.conf.reservations[0].start = 0;
    assert_eq!(
        busy.times("scheduler=builtin", ["first", "second", "third", "other"]),
        [1.0, 64.0, 125.0, 4.0],
        "third is stopped by second"
    );
    // Without the reservation, only one of them waits for the other.
    world.conf.reservations.clear();
    assert!(world.starts("scheduler=builtin")["own"].0 < 30.0);
}

/// Seen: backfill alone starts heterogeneous jobs, with all components at once, on different machines.
#[test]
fn the_components_of_a_heterogeneous_job_start_at_once() {
    let of = |other: Job, whole: &str| other.with(|job, _| job.together = Some(whole.to_owned()));
    let jobs = vec![
        job("a", 0, 4, 1, 50),
        of(job("9+0", 1, 1, 1, 10), "9"),
        of(job("9+1", 1, 1, 1, 10), "9"),
        of(job("8+0", 1, 4, 9, 10), "8"),
        of(job("8+1", 1, 4, 9, 10), "8"),
    ];
    let world = World::of(3, 4, jobs);
    let starts = world.starts("bf_interval=5000");
    let at = |id: &str| (starts[id].0, starts[id].1.clone());
    assert_eq!([at("8+0").0, at("8+1").0], [5.5; 2], "of the two, the first by number has the machines that are free");
    let [one, two] = [at("9+0"), at("9+1")];
    assert!(one.0 == two.0 && one.0 > 10.0 && one.1 != two.1, "{one:?} {two:?}");
    // One component alone could start from the beginning on.
    let small = World { jobs: world.jobs[..3].to_vec(), ..World::of(2, 4, Vec::new()) };
    let [one, two] = small.times("bf_interval=5000", ["9+0", "9+1"]);
    assert!(one == two && one > 50.0, "the second machine is busy: {one} {two}");
    // Limits below the grain of a plan round to nothing.
    let brief = world.starts("bf_interval=5000,limit_accuracy=1,limit_grain=1");
    assert!(brief["8+0"].0 == 5.5 && brief["8+0"].1 != brief["8+1"].1, "{brief:?}");
    let one_by_one = world.times("scheduler=builtin", ["8+0", "8+1"]);
    assert!(one_by_one.iter().all(|at| at.is_finite()), "without backfill, they are jobs of their own");
    // A licence is there for one of them.
    let mut licensed = World { jobs: world.jobs[3..].to_vec(), ..World::of(3, 4, Vec::new()) };
    for job in &mut licensed.jobs {
        job.0.job.qos = Some("q".to_owned());
    }
    let licensed = licensed.qos("q", at_most(7));
    assert_eq!(licensed.times("bf_interval=5000", ["8+0", "8+1"]), [f64::INFINITY; 2], "together they need 8");
}

/// Manual: age, size, partition, QOS and fair share with their weights, less what the user took off.
#[test]
fn priorities_are_weighted_sums_of_factors() {
    // a runs while the others come; of two, the one with the higher priority is first.
    let first = |set: &str, one: Job, two: Job| {
        let jobs = vec![
            job("a", 0, 8, 1, 30),
            one.with(|job, _| job.job_id = "one".to_owned()),
            two.with(|job, _| job.job_id = "two".to_owned()),
        ];
        let mut world = World::of(2, 4, jobs)
            .partition("p", &[], |partition| partition.is_default = true)
            .partition("urgent", &[], |partition| partition.job_factor = 10)
            .qos("normal", Qos::default())
            .qos("high", Qos { priority: 100, ..Qos::default() });
        world.conf.associations = ["ann", "bob"]
            .map(|user| Association {
                account: "lab".to_owned(),
                parent: Some("root".to_owned()),
                user: Some(user.to_owned()),
                shares: Shares::Own(1),
                ..Association::default()
            })
            .to_vec();
        for record in &mut world.jobs {
            record.0.job.group = Some("lab".to_owned());
            let task = &mut record.0.tasks[0];
            task.task.task_id.clone_from(&record.0.job.job_id);
            task.task.job_id.clone_from(&record.0.job.job_id);
            for attempt in &mut task.attempts {
                attempt.task_id.clone_from(&record.0.job.job_id);
                attempt.job_id.clone_from(&record.0.job.job_id);
            }
        }
        let set = format!("scheduler=builtin,priority=multifactor,calc_period=1000,{set}");
        let [one, two] = world.times(&set, ["one", "two"]);
        if one < two { "one" } else { "two" }
    };
    let plain = |at: i64| job("x", at, 8, 1, 10);
    assert_eq!(first("weight_age=1000", plain(2), plain(3)), "one");
    assert_eq!(first("weight_qos=1000", plain(2), plain(3).with(|job, _| job.qos = Some("high".to_owned()))), "two");
    assert_eq!(first("weight_partition=1000", plain(2), plain(3).in_partition("urgent")), "two");
    let nice = |other: Job, nice: i64| other.with(|job, _| job.nice = Some(nice));
    assert_eq!(first("weight_age=1000,max_age=100000", nice(plain(2), 1), plain(3)), "one");
    assert_eq!(
        first("weight_age=1000,max_age=10000", nice(plain(2), 1), plain(3)),
        "two",
        "no age counts more than 10 s"
    );
    assert_eq!(first("weight_partition=1000", nice(plain(2), 50), plain(3)), "two");
    assert_eq!(first("weight_partition=1000", plain(2), nice(plain(3), -50)), "two");
    let five = |at: i64| job("x", at, 5, 1, 10);
    assert_eq!(first("weight_job_size=1000", five(2), plain(3)), "two");
    assert_eq!(first("weight_job_size=1000,favor_small=true", plain(2), five(3)), "two");
    assert_eq!(first("weight_fair_share=1000", plain(2), plain(3).of("bob")), "two", "ann has used the cluster");
    assert_eq!(first("weight_fair_share=1000,fair_tree=false", plain(2), plain(3).of("bob")), "two");
}

/// Manual: priorities are computed anew every `PriorityCalcPeriod`.
#[test]
fn priorities_change_once_in_each_period() {
    // When they are computed first, nobody has used anything. Then a runs, which is of the same user as one.
    let jobs = vec![job("a", 0, 4, 1, 30), job("one", 2, 4, 1, 10), job("two", 3, 4, 1, 10).of("bob")];
    let world = World::of(1, 4, jobs);
    let of = |period: Ms| {
        let set = format!("scheduler=builtin,priority=multifactor,weight_fair_share=1000,calc_period={period}");
        world.times(&set, ["one", "two"])
    };
    let [one, two] = of(1_000);
    assert!(two < one, "{one} {two}");
    let [one, two] = of(86_400_000);
    assert!(one < two, "{one} {two}");
}

/// Manual: bounds on the jobs that a backfill run looks at and starts.
#[test]
fn a_backfill_run_has_bounds() {
    let mut jobs = vec![job("a", 0, 7, 60, 300), job("b", 0, 8, 60, 300)];
    jobs.extend(["c", "d"].map(|id| job(id, 3, 1, 1, 5).of("bob")));
    let world = World::of(1, 8, jobs);
    let of = |set: &str| world.times(&format!("bf_interval=5000,{set}"), ["c", "d"]);
    let [c, d] = of("");
    assert_eq!(c, 5.5);
    assert!(d < 20.0);
    assert!(of("bf_max_job_test=1")[0] > 290.0, "it looks at b alone");
    assert!(of("bf_max_job_part=1")[0] > 290.0);
    let two = World::of(1, 9, world.jobs.clone());
    let of = |set: &str| two.times(&format!("bf_interval=5000,{set}"), ["c", "d"]);
    assert_eq!(of(""), [5.5, 5.5]);
    assert_eq!(of("bf_max_job_start=1"), [5.5, 10.5]);
    assert_eq!(of("bf_max_job_user=1"), [5.5, 10.5]);
}

/// Issue: a weight that you set acts, also if no file gives the priorities of QOS.
#[test]
fn weights_act_without_the_priorities_of_qos() {
    // c is larger than b, which came before it; the log has both with one number.
    let jobs = vec![job("a", 0, 8, 9, 60), job("b", 1, 1, 9, 600).priority(5), job("c", 2, 8, 9, 60).priority(5)];
    let world = World::of(2, 4, jobs);
    let first = |set: &str| {
        let [b, c] = world.times(&format!("scheduler=builtin,{set}"), ["b", "c"]);
        if b < c { "b" } else { "c" }
    };
    assert_eq!(first(""), "b");
    for set in [
        "weight_job_size=5000",
        "weight_job_size=5000,weight_qos=10",
        "priority=multifactor,weight_job_size=5000,weight_qos=10",
    ] {
        assert_eq!(first(set.trim_end_matches(',')), "c", "{set}");
    }
    assert_eq!(first("priority=logged,weight_job_size=5000"), "b", "you ask for the numbers of the log");
}
