//! Small clusters, by hand.

use super::{Decision, Effect, NodeId, NodeSpec, PodId, PodSpec, Profile, Scheduler, Taint, Tie, Toleration};

fn node(name: &str, cpu: i64) -> NodeSpec {
    let allocatable = vec![("cpu".to_owned(), cpu), ("memory".to_owned(), 1 << 30)];
    NodeSpec { name: name.to_owned(), allocatable, pods: 110, ..NodeSpec::default() }
}

fn pod(cpu: i64, priority: i32) -> PodSpec {
    PodSpec { requests: vec![("cpu".to_owned(), cpu)], without_memory: 1, priority, ..PodSpec::default() }
}

/// A scheduler with nodes of this much cpu.
fn scheduler(nodes: &[i64]) -> Scheduler {
    let mut scheduler = Scheduler::new(Profile::default()).expect("few resources");
    for (place, &cpu) in nodes.iter().enumerate() {
        scheduler.add_node(node(&format!("n{place}"), cpu), 0).expect("few resources");
    }
    scheduler
}

fn submit(scheduler: &mut Scheduler, spec: PodSpec, now: i64) -> PodId {
    let kind = scheduler.kind(spec).expect("few resources");
    scheduler.submit(kind, now)
}

fn decide(scheduler: &mut Scheduler, now: i64) -> Option<Decision> {
    scheduler.decide(now, &mut |_: Tie, _: &[NodeId]| 0)
}

/// The pods in the order in which they are tried now.
fn tried(scheduler: &mut Scheduler, now: i64) -> Vec<u32> {
    std::iter::from_fn(|| decide(scheduler, now))
        .map(|decision| match decision {
            Decision::Bound { pod, .. } | Decision::Failed { pod, .. } => pod.0,
        })
        .collect()
}

#[test]
fn more_important_pods_come_first() {
    let mut scheduler = scheduler(&[8000]);
    for priority in [0, 5, 0, 7] {
        submit(&mut scheduler, pod(100, priority), 0);
    }
    assert_eq!(tried(&mut scheduler, 0), [3, 1, 0, 2]);
}

#[test]
fn a_pod_that_fails_waits_until_something_is_freed() {
    let mut scheduler = scheduler(&[1000]);
    let first = submit(&mut scheduler, pod(1000, 0), 0);
    submit(&mut scheduler, pod(500, 0), 0);
    assert_eq!(tried(&mut scheduler, 0), [0, 1]);
    assert_eq!(tried(&mut scheduler, 60_000), [], "nothing happened");
    scheduler.end(first, 61_000);
    let decision = decide(&mut scheduler, 61_000);
    let bound = Decision::Bound { pod: PodId(1), node: NodeId(0), feasible: 1, score: None };
    assert_eq!(decision, Some(bound));
}

#[test]
fn a_pod_is_tried_anyway_after_five_minutes() {
    let mut scheduler = scheduler(&[1000]);
    submit(&mut scheduler, pod(2000, 0), 0);
    assert_eq!(tried(&mut scheduler, 0), [0]);
    assert_eq!(scheduler.next_retry(), Some(300_000));
    scheduler.retry(300_000);
    assert_eq!(tried(&mut scheduler, 300_000), []);
    scheduler.retry(300_001);
    assert_eq!(tried(&mut scheduler, 300_001), [0]);
}

#[test]
fn a_pod_that_failed_often_comes_after_those_that_did_not() {
    let mut scheduler = scheduler(&[1000, 1000]);
    let blockers = [submit(&mut scheduler, pod(1000, 0), 0), submit(&mut scheduler, pod(1000, 0), 0)];
    submit(&mut scheduler, pod(2000, 0), 0);
    assert_eq!(tried(&mut scheduler, 0), [0, 1, 2]);
    scheduler.end(blockers[0], 500);
    submit(&mut scheduler, pod(3000, 0), 500);
    // Pod 2 backs off until 1000 ms, so that the new one is tried before it.
    assert_eq!(tried(&mut scheduler, 500), [3, 2]);
    scheduler.end(blockers[1], 20_000);
    assert_eq!(tried(&mut scheduler, 20_000), [3, 2], "pod 3 failed first");
}

#[test]
fn a_node_that_comes_takes_pods_that_it_could_hold() {
    let mut scheduler = scheduler(&[1000]);
    submit(&mut scheduler, pod(4000, 0), 0);
    submit(&mut scheduler, pod(9000, 0), 0);
    assert_eq!(tried(&mut scheduler, 0), [0, 1]);
    scheduler.add_node(node("large", 8000), 9000).expect("few resources");
    assert_eq!(tried(&mut scheduler, 9000), [0], "the other one is too large for it");
    assert_eq!(scheduler.node_of(PodId(0)), Some(NodeId(1)));
}

#[test]
fn a_node_that_goes_takes_its_pods_along() {
    let mut scheduler = scheduler(&[1000, 4000]);
    let large = submit(&mut scheduler, pod(3000, 0), 0);
    assert_eq!(tried(&mut scheduler, 0), [0]);
    assert_eq!(scheduler.remove_node(NodeId(1)), [large]);
    assert_eq!(scheduler.remove_node(NodeId(1)), []);
    assert_eq!(scheduler.node_of(large), None);
    let again = submit(&mut scheduler, pod(3000, 0), 1000);
    assert_eq!(decide(&mut scheduler, 1000), Some(Decision::Failed { pod: again, nominated: None }));
    assert_eq!(scheduler.explain(again), "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn taints_keep_pods_away_and_are_named() {
    let mut scheduler = scheduler(&[]);
    let taint = Taint { key: "gpu".to_owned(), value: "yes".to_owned(), effect: Effect::NoExecute };
    scheduler.add_node(NodeSpec { taints: vec![taint], ..node("n", 8000) }, 0).expect("few resources");
    let away = submit(&mut scheduler, pod(100, 0), 0);
    let any = Toleration { key: String::new(), value: String::new(), any_value: true, effect: None };
    submit(&mut scheduler, PodSpec { tolerations: vec![any], ..pod(100, 0) }, 0);
    let keyless = Toleration { key: String::new(), value: "yes".to_owned(), any_value: false, effect: None };
    submit(&mut scheduler, PodSpec { tolerations: vec![keyless], ..pod(100, 0) }, 0);
    assert_eq!(tried(&mut scheduler, 0), [0, 1, 2]);
    let placed: Vec<Option<NodeId>> = (0..3).map(|pod| scheduler.node_of(PodId(pod))).collect();
    assert_eq!(placed, [None, Some(NodeId(0)), None]);
    assert_eq!(scheduler.explain(away), "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}.");
}

#[test]
fn a_pod_preempts_the_fewest_and_takes_their_place() {
    let mut scheduler = scheduler(&[1000, 1000]);
    for cpu in [1000, 500, 500] {
        submit(&mut scheduler, pod(cpu, 0), 0);
    }
    tried(&mut scheduler, 0);
    let high = submit(&mut scheduler, pod(1000, 10), 5000);
    let decision = decide(&mut scheduler, 5000);
    // The pod of 1000 alone on its node is one victim; the other node has two.
    let victim = PodId(0);
    let node = scheduler.node_of(victim).expect("it runs");
    assert_eq!(decision, Some(Decision::Failed { pod: high, nominated: Some(node) }));
    assert_eq!((scheduler.victims(), scheduler.evicted()), (&[victim][..], &[victim][..]));
    // What is promised is not given to others of at most this priority.
    scheduler.end(victim, 7000);
    submit(&mut scheduler, pod(1000, 10), 7000);
    let bound: Vec<u32> = tried(&mut scheduler, 7000);
    assert_eq!(bound[0], 3, "it failed before the other came");
    assert_eq!((scheduler.node_of(PodId(4)), scheduler.node_of(high)), (None, Some(node)));
}

#[test]
fn a_pod_that_never_preempts_waits() {
    let mut scheduler = scheduler(&[1000]);
    submit(&mut scheduler, pod(1000, 0), 0);
    tried(&mut scheduler, 0);
    let patient = submit(&mut scheduler, PodSpec { never_preempts: true, ..pod(1000, 10) }, 1000);
    assert_eq!(decide(&mut scheduler, 1000), Some(Decision::Failed { pod: patient, nominated: None }));
    assert_eq!(scheduler.evicted(), []);
}

#[test]
fn a_promise_that_is_withdrawn_wakes_the_others() {
    let mut scheduler = scheduler(&[1000]);
    let low = submit(&mut scheduler, pod(1000, 0), 0);
    tried(&mut scheduler, 0);
    let high = submit(&mut scheduler, pod(1000, 10), 1000);
    decide(&mut scheduler, 1000);
    scheduler.end(low, 2000);
    let other = submit(&mut scheduler, pod(600, 0), 2000);
    assert_eq!(decide(&mut scheduler, 2000), Some(Decision::Failed { pod: other, nominated: None }));
    scheduler.end(high, 2000);
    assert_eq!(tried(&mut scheduler, 2000), [other.0]);
    assert_eq!(scheduler.node_of(other), Some(NodeId(0)));
}

#[test]
fn nodes_of_zones_come_in_turn() {
    let mut scheduler = Scheduler::new(Profile { percentage: 1, ..Profile::default() }).expect("few resources");
    for place in 0..200 {
        let mut spec = node(&format!("n{place}"), 8000);
        let zone = if place < 150 { "a" } else { "b" };
        spec.labels.insert("topology.kubernetes.io/zone".to_owned(), zone.to_owned());
        scheduler.add_node(spec, 0).expect("few resources");
    }
    submit(&mut scheduler, pod(100, 0), 0);
    decide(&mut scheduler, 0);
    // 100 nodes are looked at: 50 of each zone.
    let of_b = scheduler.scores().filter(|(node, _)| node.0 >= 150).count();
    assert_eq!((scheduler.scores().count(), of_b), (100, 50));
}
