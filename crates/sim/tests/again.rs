//! Jobs that are submitted again, and machines as they were.
#![allow(clippy::unwrap_used)]

use resched_sim::batch::{
    Again, Job, JobSpec, Launched, Machine, Machines, Needs, Observer, Offer, Policy, StageSpec, TaskSpec, Try, View,
    Workload, replay,
};
use resched_sim::cluster_file::Placement;
use resched_sim::{Error, Ms, Reports, Resources, TaskId, Violation};
use resched_tables::model::Outcome;

const CORE: Resources = Resources { cpu: 1_000, memory: 0 };

/// Three jobs, each with another user, limit and kind of needs.
fn past() -> Workload {
    let job = |number: u64| {
        let needs = Needs { machines: Some(number as u32), ..Needs::default() };
        let task = TaskSpec {
            name: format!("{number}/0"),
            demand: CORE,
            instances: number as u32,
            gang: number > 1,
            tries: vec![Try { outcome: Outcome::Failed, run: 5 }],
            needs,
        };
        let job = Job {
            id: format!("j{number}"),
            user: format!("user{number}").into(),
            submit: 100 * number as Ms,
            requested_time: Some(10 * number as Ms),
            before: number == 1,
            ..Job::default()
        };
        JobSpec { job, after: Vec::new(), stages: vec![StageSpec { tasks: vec![task], ..StageSpec::default() }] }
    };
    Workload::new((1..=3).map(job).collect(), 0).unwrap().0
}

fn jobs_of(workload: &Workload) -> Vec<resched_sim::JobId> {
    workload.tasks().iter().map(|task| task.job).collect()
}

/// Starts all that waits, in order.
#[derive(Default)]
struct Fifo(Vec<TaskId>);

impl Policy for Fifo {
    fn task_waits(&mut self, task: TaskId, _: View<'_>) {
        self.0.push(task);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        while let Some(&task) = self.0.first() {
            if offer.start(task, u32::MAX)? == 0 {
                return Ok(());
            }
            self.0.remove(0);
        }
        Ok(())
    }
}

/// Notes the starts, and has seen enough after so many.
struct Seen(Vec<(Ms, u32)>, usize);

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.0.push((launched.at, launched.places.iter().map(|place| place.1).sum()));
        Ok(())
    }

    fn is_satisfied(&self) -> bool {
        self.0.len() >= self.1
    }
}

#[test]
fn a_job_that_is_submitted_again_asks_for_the_same_at_another_time() {
    let past = past();
    let ids = jobs_of(&past);
    let again =
        |job: usize, submit: Ms, run: Ms| Again { job: ids[job], submit, eligible: None, requested_time: None, run };
    let waits = Again { eligible: Some(60), requested_time: Some(7), ..again(0, 20, 30) };
    let made = past.again(&[again(2, 10, 100), waits, again(2, 50, 40)]).unwrap();
    let rows: Vec<_> =
        made.jobs().iter().map(|job| (job.id, job.user, job.submit, job.requested_time, job.before)).collect();
    let expected = [
        ("j3", "user3", 10, Some(30), false),
        ("j1", "user1", 20, Some(7), false),
        ("j3", "user3", 50, Some(30), false),
    ];
    assert_eq!(rows, expected);
    let needs: Vec<_> = made.tasks_with_needs().map(|(task, needs)| (task.instances, needs.machines)).collect();
    assert_eq!(needs, [(3, Some(3)), (1, Some(1)), (3, Some(3))]);
    // Four cores: the second and the third wait for nothing but their times and the first.
    let machines = Machines::alike(1, Resources { cpu: 4_000, memory: 0 }, Placement::FirstFit);
    let mut seen = Seen(Vec::new(), 9);
    replay(&made, &machines, ("fifo", &mut Fifo::default()), &mut seen, &mut |_| {}).unwrap();
    assert_eq!(seen.0, [(10, 3), (110, 3), (110, 1)], "the third was submitted before the second may start");
    let mut seen = Seen(Vec::new(), 1);
    let tally = replay(&made, &machines, ("fifo", &mut Fifo::default()), &mut seen, &mut |_| {}).unwrap();
    assert_eq!((seen.0.len(), tally.end), (1, 10), "the replay ends when enough is seen");
}

#[test]
fn jobs_that_cannot_be_submitted_again_are_refused() {
    let past = past();
    let ids = jobs_of(&past);
    let again = |submit: Ms, run: Ms| Again { job: ids[0], submit, eligible: None, requested_time: None, run };
    assert!(past.again(&[again(5, 1), again(4, 1)]).is_err(), "out of order");
    assert!(past.again(&[again(5, -1)]).is_err(), "before its start");
    assert_eq!(past.again(&[]).unwrap().jobs().len(), 0);
}

#[test]
fn machines_are_as_they_were_and_stay_so() {
    let machine = |name: &str, capacity| Machine { name: name.to_owned(), capacity, ..Machine::default() };
    let changes = [(5, 1, CORE), (9, 1, Resources::NONE), (7, 0, Resources::NONE)];
    let all =
        Machines::new(vec![machine("a", CORE), machine("b", Resources::NONE)], &changes, Placement::FirstFit).unwrap();
    let there = |at: Ms| all.as_of(at).nodes().iter().map(|node| node.capacity == CORE).collect::<Vec<_>>();
    assert_eq!([there(4), there(5), there(8), there(9)], [[true, false], [true, true], [false, true], [false, false]]);
    assert!(all.as_of(6).changes().is_empty());
}
