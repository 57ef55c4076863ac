//! Sharing between users and queues, by hand.

use std::io::Write;

use resched_sim::Resources;
use resched_sim::batch::{JobSpec, Machines, Workload};
use resched_sim::cluster_file::Placement;

use crate::support::{Seen, cores, job, machine, needing, seen, task, with_gpus, workload};

const LONG: i64 = 1_000_000;

/// How many instances of each job run at first.
fn at_first(seen: &Seen, workload: &Workload) -> Vec<usize> {
    let of = |number: usize| {
        seen.ran.iter().filter(|ran| ran.start == 0 && workload.tasks()[ran.task].job.index() == number).count()
    };
    (0..workload.jobs().len()).map(of).collect()
}

fn shared_by(policy: &str, jobs: Vec<JobSpec>, machines: &Machines) -> Vec<usize> {
    let workload = workload(jobs);
    at_first(&seen(policy, &workload, machines), &workload)
}

fn demand(cores: u64, memory: u64) -> Resources {
    Resources { cpu: 1_000 * cores, memory: memory << 30 }
}

/// The example of the paper: 9 CPUs and 18 GB; A's tasks ask for 1 CPU and 4 GB, B's for 3 CPUs and 1 GB. A gets 3 tasks, 3 CPUs
/// and 12 GB, B 2 tasks, 6 CPUs and 2 GB: both have two thirds of their dominant resource.
fn example() -> Vec<JobSpec> {
    vec![
        job(0, "a", 0, None, task(demand(1, 4), 20, false, LONG)),
        job(1, "b", 0, None, task(demand(3, 1), 20, false, LONG)),
    ]
}

#[test]
fn drf_shares_as_in_its_papers_example() {
    let machines = Machines::alike(1, demand(9, 18), Placement::FirstFit);
    assert_eq!(shared_by("batch-drf", example(), &machines), [3, 2]);
    // First come, first served, gives A all the memory that it can use; the second in line finds a task that fits.
    assert_eq!(shared_by("batch-fifo", example(), &machines), [4, 0]);
    // By processor alone A gets as many CPUs as B, as far as memory goes: 4 and 3, and what is left is of no use.
    assert_eq!(shared_by("batch-fair", example(), &machines), [4, 1]);
}

/// The same example with GPUs in the place of memory: what is shared may have any name.
#[test]
fn drf_shares_named_resources_as_any_other() {
    let of = |user: &str, cpus: u64, gpus: u64| {
        let number = usize::from(user == "b");
        job(number, user, 0, None, needing(task(cores(cpus), 20, false, LONG), gpus))
    };
    let machines = with_gpus(1, 9, 18);
    assert_eq!(shared_by("batch-drf", vec![of("a", 1, 4), of("b", 3, 1)], &machines), [3, 2]);
    // One after the other, as many as have room.
    assert_eq!(shared_by("batch-fifo", vec![of("a", 1, 4), of("b", 3, 1)], &machines), [4, 0]);
}

fn weights(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn of_users(users: &[&str], instances: u32) -> Vec<JobSpec> {
    let of_user = |(number, user): (usize, &&str)| job(number, user, 0, None, task(cores(1), instances, false, LONG));
    users.iter().enumerate().map(of_user).collect()
}

#[test]
fn fair_shares_are_those_of_users_or_of_jobs_and_follow_weights() {
    let jobs = || of_users(&["a", "a", "b"], 20);
    assert_eq!(shared_by("batch-fair", jobs(), &machine(12)), [6, 0, 6]);
    assert_eq!(shared_by("batch-fair:by=job", jobs(), &machine(12)), [4, 4, 4]);
    let file = weights("[b]\nweight = 3\n");
    let weighted = format!("batch-fair:weights={}", file.path().display());
    assert_eq!(shared_by(&weighted, jobs(), &machine(12)), [3, 0, 9]);
    // What one leaves the others take.
    let mut little = jobs();
    little[2] = of_users(&["", "", "b"], 2).remove(2);
    assert_eq!(shared_by("batch-fair:by=job", little, &machine(12)), [5, 5, 2]);
}

#[test]
fn queues_have_their_guarantees_and_take_what_others_leave() {
    let file = weights("[a]\nweight = 3\nmax = 0.8\n[b]\nweight = 1\n");
    let policy = |rest: &str| format!("batch-capacity:by=user,weights={}{rest}", file.path().display());
    let both = || of_users(&["a", "b"], 40);
    assert_eq!(shared_by(&policy(""), both(), &machine(20)), [15, 5]);
    let alone = || of_users(&["a"], 40);
    assert_eq!(shared_by(&policy(""), alone(), &machine(20)), [16], "up to its max");
    assert_eq!(shared_by(&policy(",elastic=false"), alone(), &machine(20)), [15]);
    assert_eq!(shared_by("batch-capacity:by=user", both(), &machine(20)), [10, 10]);
}

#[test]
fn a_wrong_file_of_weights_is_an_error() {
    let error = |text: &str| {
        let file = weights(text);
        let policy = format!("batch-drf:weights={}", file.path().display());
        resched_policies::PolicySpec::parse(&policy).unwrap_err().to_string()
    };
    assert!(error("[a]\nweight = -1\n").contains("weight: expected a number from 0.000001"));
    assert!(error("[a]\nwieght = 1\n").contains("wieght"));
    assert!(error("[a]\nmax = 2\n").contains("max: expected a share from 0 to 1"));
}

/// A job of half the machine is large; small ones have their tenth of it though many large tasks came before.
#[test]
fn dress_keeps_room_for_small_jobs() {
    let large = job(0, "a", 0, None, task(cores(1), 100, false, LONG));
    let small = job(1, "b", 5, None, task(cores(1), 2, false, LONG));
    let workload = workload(vec![large, small]);
    let first = |policy: &str| {
        let seen = seen(policy, &workload, &machine(20));
        seen.jobs.iter().find(|ended| ended.job.index() == 1).and_then(|ended| ended.launch)
    };
    assert_eq!(first("batch-fifo"), Some(5 * LONG));
    assert_eq!(first("batch-dress"), Some(5));
    // The floor of δ is what is kept while no small job is there.
    assert_eq!(at_first(&seen("batch-dress", &workload, &machine(20)), &workload), [18, 0]);
}

/// Of 18 cores for large jobs the first job holds 12. The second asks for 10 and waits, and nobody overtakes it.
#[test]
fn dress_starts_a_job_with_all_that_it_asks_for_or_not_at_all() {
    let jobs = [(0, 12), (5, 10), (6, 4)];
    let job = |(number, (submit, tasks))| job(number, "a", submit, None, task(cores(1), tasks, false, LONG));
    let workload = workload((0..).zip(jobs).map(job).collect());
    let launch = |policy: &str| {
        let seen = seen(policy, &workload, &machine(20));
        let of_job =
            |job: usize| seen.jobs.iter().find(|ended| ended.job.index() == job).and_then(|ended| ended.launch);
        [0, 1, 2].map(of_job)
    };
    assert_eq!(launch("batch-dress:theta=0"), [Some(0), Some(LONG), Some(LONG)]);
    assert_eq!(launch("batch-dress:theta=0,whole=false")[1], Some(5));
}
