//! Named resources that nobody would write: many of them, with odd names and amounts at the limit.

use std::sync::Arc;

use resched_sim::Resources;
use resched_sim::batch::{Machine, Machines, Needs, TaskSpec, Workload};
use resched_sim::cluster_file::Placement;

use crate::support::{cores, job, seen, task, workload};
use crate::worlds::POLICIES;

const MANY: usize = 10_000;

fn machines(resources: &[(Arc<str>, u64)], count: usize) -> Machines {
    let machine = |number| Machine {
        name: format!("n{number}"),
        capacity: Resources { cpu: 8_000, memory: 1 << 30 },
        resources: resources.to_vec(),
        ..Machine::default()
    };
    Machines::new((0..count).map(machine).collect(), &[], Placement::FirstFit).unwrap()
}

fn of(number: usize, resources: Vec<(Arc<str>, u64)>) -> resched_sim::batch::JobSpec {
    let needs = Needs { resources, ..Needs::default() };
    job(number, "u", 0, Some(10), TaskSpec { needs, ..task(cores(1), 2, false, 10) })
}

/// Under each policy, the jobs that fit end, and the others wait.
fn all_but(waiting: u64, workload: &Workload, machines: &Machines) {
    for policy in POLICIES {
        let seen = seen(policy, workload, machines);
        assert_eq!(seen.tally.left_waiting, waiting, "{policy}");
    }
}

#[test]
fn ten_thousand_names_are_counted() {
    let names: Vec<Arc<str>> = (0..MANY).map(|name| format!("gres/{name}").into()).collect();
    let resources: Vec<(Arc<str>, u64)> = names.iter().map(|name| (Arc::clone(name), 2)).collect();
    let asks = |number: usize| {
        let asked = (0..50).map(|place| (Arc::clone(&names[(number * 97 + place * 13) % MANY]), 1 + place as u64 % 2));
        of(number, asked.collect())
    };
    all_but(0, &workload((0..60).map(asks).collect()), &machines(&resources, 4));
}

#[test]
fn odd_names_and_amounts_at_the_limit_are_counted() {
    let odd =
        ["", "=", "a,b", "\u{202e}\n", "gres/gpu:a100", "CPU", "cores", "memory", "ü".repeat(1_000).leak() as &str];
    let resources: Vec<(Arc<str>, u64)> = odd.iter().map(|&name| (name.into(), u64::MAX)).collect();
    // A machine lists a name twice, and a task asks for one twice.
    let twice = [resources.clone(), resources.clone()].concat();
    let asks = |(number, &name): (usize, &&str)| of(number, vec![(name.into(), u64::MAX / 2), (name.into(), 1)]);
    all_but(0, &workload(odd.iter().enumerate().map(asks).collect()), &machines(&twice, 2));
}

#[test]
fn nothing_asked_for_is_nothing_taken_and_what_no_machine_lists_is_not_counted() {
    let free = of(0, vec![("gres/gpu".into(), 0), ("gres/unknown".into(), 7)]);
    all_but(0, &workload(vec![free]), &machines(&[("gres/gpu".into(), 1)], 1));
}
