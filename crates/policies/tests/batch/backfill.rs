//! EASY and conservative backfilling: by hand, against the naive simulator, and on the log of a real machine.

use proptest::prelude::*;
use resched_sim::Ms;
use resched_sim::batch::{Machines, Workload};
use resched_sim::cluster_file::Placement;

use crate::cases::cases;
use crate::naive::{self, Rigid};
use crate::support::{cores, job, machine, needing, seen, shared, starts, task, with_gpus, workload};
use crate::swf;

/// (submission, run time, said, width), in seconds.
fn rigid(jobs: &[(Ms, Ms, Ms, u64)]) -> Vec<Rigid> {
    let seconds = |&(submit, run, said, width): &(Ms, Ms, Ms, u64)| Rigid {
        submit: submit * 1000,
        run: run * 1000,
        said: said * 1000,
        width,
    };
    jobs.iter().map(seconds).collect()
}

fn as_workload(jobs: &[Rigid]) -> Workload {
    let gang = |rigid: &Rigid| task(cores(1), rigid.width as u32, rigid.width > 1, rigid.run);
    workload(jobs.iter().enumerate().map(|(n, one)| job(n, "", one.submit, Some(one.said), gang(one))).collect())
}

fn replayed(policy: &str, jobs: &[Rigid], width: u64) -> Vec<Ms> {
    starts(policy, &as_workload(jobs), &machine(width))
}

fn in_seconds(starts: Vec<Ms>) -> Vec<Ms> {
    starts.into_iter().map(|start| start / 1000).collect()
}

/// Of 10 processors 6 are taken until 10; the job of 8 is promised 10, when 2 are left over.
#[test]
fn what_does_not_delay_the_first_runs_ahead_under_easy() {
    let jobs = rigid(&[(0, 10, 10, 6), (1, 10, 10, 8), (2, 8, 8, 4), (2, 9, 9, 2), (3, 30, 30, 2), (3, 30, 30, 2)]);
    // At 2 the job of 4 would end at 10, not later: it runs. The others find no room until 10, when the one of 8 runs too, and two
    // processors are left for the next in order.
    assert_eq!(in_seconds(replayed("easy", &jobs, 10)), [0, 10, 2, 10, 19, 20]);
    // Without it the next two share the four that are free; what runs for 30 takes what is left over at 10.
    let jobs = rigid(&[(0, 10, 10, 6), (1, 10, 10, 8), (2, 9, 9, 3), (3, 30, 30, 2), (3, 30, 30, 2)]);
    assert_eq!(in_seconds(replayed("easy", &jobs, 10)), [0, 10, 20, 3, 20]);
    // First come, first served, makes all wait.
    assert_eq!(in_seconds(replayed("batch-fifo", &jobs, 10)), [0, 10, 20, 20, 20]);
}

/// The job that is behind two large ones delays the second under EASY, which promises nothing to it, but not under
/// conservative backfilling.
#[test]
fn conservative_keeps_every_promise_and_easy_the_first() {
    let jobs = rigid(&[(0, 10, 10, 6), (1, 10, 10, 8), (2, 10, 10, 10), (3, 40, 40, 2)]);
    assert_eq!(in_seconds(replayed("easy", &jobs, 10)), [0, 10, 43, 3]);
    assert_eq!(in_seconds(replayed("conservative", &jobs, 10)), [0, 10, 20, 30]);
}

/// The first waits for GPUs, which are free at 100 and not at 50, when its three cores would be. Until then, two cores are anybody's.
#[test]
fn a_promise_is_of_every_resource() {
    let of = |number: usize, submit: Ms, cpus: u64, gpus: u64, run: Ms| {
        job(number, "", submit, Some(run * 1_000), needing(task(cores(cpus), 1, false, run * 1_000), gpus))
    };
    let jobs = || vec![of(0, 0, 1, 0, 50), of(1, 0, 1, 2, 100), of(2, 1, 3, 2, 10), of(3, 2, 2, 0, 90)];
    for policy in ["easy", "conservative"] {
        assert_eq!(starts(policy, &workload(jobs()), &with_gpus(1, 4, 2)), [0, 0, 100_000, 2], "{policy}");
    }
    let mut longer = jobs();
    longer[3] = of(3, 2, 2, 0, 110);
    for policy in ["easy", "conservative"] {
        assert_eq!(
            starts(policy, &workload(longer.clone()), &with_gpus(1, 4, 2)),
            [0, 0, 100_000, 110_000],
            "{policy}"
        );
    }
}

/// A task with many instances that ask for GPUs takes all that are free at once.
#[test]
fn instances_with_gpus_start_together() {
    let four = |number: usize| job(number, "", 0, None, needing(task(cores(1), 5, false, 7), 1));
    let seen = seen("batch-fifo", &workload(vec![four(0)]), &with_gpus(2, 8, 2));
    let starts: Vec<Ms> = seen.ran.iter().map(|ran| ran.start).collect();
    assert_eq!(starts, [0, 0, 0, 0, 7]);
    assert_eq!((seen.tally.bound["gres/gpu"].bound_ms, seen.tally.bound["gres/gpu"].most), (7, Some(1_000)));
    assert_eq!(seen.tally.bound["cores"].bound_ms, 0, "cores were free");
}

/// The first becomes eligible when the second is submitted, and keeps its place before it.
#[test]
fn jobs_wait_in_the_order_of_submission_if_they_become_eligible_at_one_instant() {
    let whole = |number: usize, submit: Ms| job(number, "", submit, Some(5_000), task(cores(4), 1, false, 5_000));
    let mut jobs = vec![whole(0, 0), whole(1, 10_000)];
    jobs[0].job.eligible = Some(10_000);
    for policy in ["batch-fifo", "easy", "conservative"] {
        assert_eq!(starts(policy, &workload(jobs.clone()), &machine(4)), [10_000, 15_000], "{policy}");
    }
}

/// The first ends at 4 instead of 10: what was promised 10 starts then, and what runs ahead of it is found anew.
#[test]
fn an_early_end_compresses_the_plan() {
    let jobs = rigid(&[(0, 4, 10, 6), (1, 10, 10, 8), (2, 10, 10, 10), (3, 40, 40, 2)]);
    assert_eq!(in_seconds(replayed("easy", &jobs, 10)), [0, 4, 43, 3]);
    assert_eq!(in_seconds(replayed("conservative", &jobs, 10)), [0, 4, 14, 24]);
}

/// Requests are upper bounds mostly, but logs hold jobs that ran longer.
fn worlds() -> impl Strategy<Value = (u64, Vec<Rigid>)> {
    let job = |most: u64| {
        (0..60_i64, 0..40_i64, 1..=most, prop_oneof![Just(0), 0..30_i64, -5..0_i64])
            .prop_map(|(submit, run, width, slack)| Rigid { submit, run, said: (run + slack).max(0), width })
    };
    (1..12_u64).prop_flat_map(move |width| (Just(width), prop::collection::vec(job(width), 1..40))).prop_map(
        |(width, mut jobs)| {
            jobs.sort_by_key(|job| job.submit);
            let zero = jobs[0].submit;
            jobs.iter_mut().for_each(|job| job.submit -= zero);
            (width, jobs)
        },
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn easy_starts_as_the_naive_simulator_says((width, jobs) in worlds()) {
        prop_assert_eq!(replayed("easy:depth=1000000", &jobs, width), naive::easy(&jobs, width));
    }

    #[test]
    fn conservative_starts_as_the_naive_simulator_says((width, jobs) in worlds()) {
        prop_assert_eq!(replayed("conservative:depth=1000000", &jobs, width), naive::conservative(&jobs, width));
    }

    /// With exact estimates a plan that is not full never keeps a job from an earlier start than one that holds few.
    #[test]
    fn a_plan_of_one_is_first_come_first_served_without_holes((width, jobs) in worlds()) {
        prop_assert_eq!(replayed("conservative:depth=1", &jobs, width), replayed("batch-fifo", &jobs, width));
    }
}

/// The log of 1993: 18,239 jobs on 128 processors. It has run times only, so estimates are exact; at the load that it had
/// few wait, so submissions come faster by a third.
#[test]
fn a_real_log_starts_as_the_naive_simulator_says() {
    let Some(path) = shared("traces/swf/NASA-iPSC-1993-3.1-cln.swf.gz") else { return };
    let mut jobs = swf::jobs(&path);
    assert_eq!(jobs.len(), 18_239);
    jobs.iter_mut().for_each(|job| job.job.submit = job.job.submit * 3 / 4);
    let rigid: Vec<Rigid> = jobs
        .iter()
        .map(|spec| {
            let task = &spec.stages[0].tasks[0];
            let run = task.tries[0].run;
            Rigid { submit: spec.job.submit, run, said: run, width: task.instances.into() }
        })
        .collect();
    let zero = rigid[0].submit;
    let rigid: Vec<Rigid> = rigid.into_iter().map(|job| Rigid { submit: job.submit - zero, ..job }).collect();
    let log = workload(jobs);
    let of_nodes = Machines::alike(128, cores(1), Placement::FirstFit);
    for (policy, naive) in
        [("easy", naive::easy as fn(&[Rigid], u64) -> Vec<Ms>), ("conservative", naive::conservative)]
    {
        let expected = naive(&rigid, 128);
        let waiting = expected.iter().zip(&rigid).filter(|(start, job)| **start > job.submit).count();
        assert!(waiting > 1_000, "{policy}: {waiting} wait");
        for machines in [&machine(128), &of_nodes] {
            let found = starts(&format!("{policy}:depth=1000000"), &log, machines);
            let differs = (0..expected.len()).find(|&job| found[job] != expected[job]);
            assert_eq!(differs.map(|job| (job, found[job], expected[job])), None, "{policy}");
        }
    }
}
