//! A wrapper of a policy forwards every call.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::worlds::{Wanted, policies, world};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use resched_sim::cluster_file::Calculator;
use resched_sim::hadoop::{AttemptEnd, AttemptView, Container, Offer, Orders, Policy, System, View, Wrapper};
use resched_sim::{JobId, Ms, NodeId, TaskId, Violation};

/// A policy, and the names of the methods that were called, in order.
struct Recorder {
    below: Box<dyn Policy>,
    calls: RefCell<Vec<&'static str>>,
}

/// Makes it record these methods, each written out: it must not rest on what it tests.
macro_rules! recorder {
    (
        asks { $(fn $ask:ident($($ask_arg:ident: $ask_type:ty),*) -> $answer:ty;)+ }
        reports { $(fn $report:ident($($tell_arg:ident: $tell_type:ty),*) $(-> $result:ty)?;)+ }
    ) => {
        impl Policy for Recorder {
            $(fn $ask(&self, $($ask_arg: $ask_type),*) -> $answer {
                self.calls.borrow_mut().push(stringify!($ask));
                self.below.$ask($($ask_arg),*)
            })+
            $(fn $report(&mut self, $($tell_arg: $tell_type),*) $(-> $result)? {
                self.calls.borrow_mut().push(stringify!($report));
                self.below.$report($($tell_arg),*)
            })+
        }
    };
}

recorder! {
    asks {
        fn system() -> System;
        fn is_oracle() -> bool;
        fn ramps_reduces() -> bool;
        fn follows_output() -> bool;
        fn headroom(job: JobId, view: View<'_>) -> u64;
        fn calculator(of_cluster: Calculator) -> Calculator;
        fn may_use(node: NodeId, view: View<'_>) -> bool;
        fn period() -> Option<Ms>;
        fn skips_idle_ticks(view: View<'_>) -> bool;
        fn tick_from(due: Ms) -> Ms;
        fn restless(view: View<'_>) -> bool;
        fn counts_heartbeats(view: View<'_>) -> bool;
        fn declines(view: View<'_>) -> bool;
        fn declines_where_nothing_fits(view: View<'_>) -> bool;
    }
    reports {
        fn job_submitted(job: JobId, view: View<'_>);
        fn job_finished(job: JobId, view: View<'_>);
        fn task_started(started: &AttemptView, view: View<'_>);
        fn task_finished(ended: &AttemptEnd, view: View<'_>);
        fn task_waits(task: TaskId, view: View<'_>);
        fn node_lost(node: NodeId, view: View<'_>);
        fn container_changed(container: &Container, view: View<'_>);
        fn before_tick(view: View<'_>, orders: &mut Orders);
        fn tick(view: View<'_>, orders: &mut Orders);
        fn check(view: View<'_>, over: bool) -> Result<(), Violation>;
        fn heartbeat(offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
    }
}

/// A wrapper that changes nothing.
struct Through(Recorder);

impl Wrapper for Through {
    type Inner = Recorder;
    fn inner(&self) -> &Recorder {
        &self.0
    }
    fn inner_mut(&mut self) -> &mut Recorder {
        &mut self.0
    }
}

/// The methods of the trait, from its source.
fn methods() -> BTreeSet<&'static str> {
    let source = include_str!("../../../sim/src/hadoop/policy.rs");
    let of_trait = source.split("pub trait Policy {").nth(1).and_then(|rest| rest.split("\n}").next());
    let lines = of_trait.expect("the trait").lines().map(str::trim_start);
    lines.filter_map(|line| line.strip_prefix("fn ")?.split('(').next()).collect()
}

#[test]
fn a_wrapper_forwards_every_call_in_order() {
    let mut runner = TestRunner::deterministic();
    let worlds = world(Wanted { every_rule: true, finishes: true });
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let world = worlds.new_tree(&mut runner).expect("a world").current();
        for ((label, direct), (_, wrapped)) in policies(&world).into_iter().zip(policies(&world)) {
            let record = |below| Recorder { below, calls: RefCell::default() };
            let (mut direct, mut wrapped) = (record(direct), Through(record(wrapped)));
            let schedules = [world.replay(&label, &mut direct, true), world.replay(&label, &mut wrapped, true)];
            let [direct_schedule, wrapped_schedule] = schedules.map(|schedule| schedule.expect("the world finishes"));
            assert_eq!(direct_schedule, wrapped_schedule, "{label}");
            let (direct, wrapped) = (direct.calls.into_inner(), wrapped.0.calls.into_inner());
            assert!(direct == wrapped, "{label}: a call did not come through");
            seen.extend(direct);
        }
    }
    assert_eq!(seen, methods(), "every method of Policy must be recorded here, and called by these worlds");
}
