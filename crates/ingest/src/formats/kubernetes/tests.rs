#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::formats::golden::{Collected, Found as _, each_damage, read_shared};
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeChange, NodeRow, Outcome};
use resched_tables::sink::Kept;

/// Keeps what the reader keeps from one source to the next.
#[derive(Default)]
struct Sources {
    kept: Option<Box<dyn Kept>>,
    found: Collected,
}

impl Sink for Sources {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.found.job(job)
    }

    fn node(&mut self, node: NodeRow) {
        self.found.node(node);
    }

    fn skip(&mut self, cause: Cause, n: u64) {
        self.found.skip(cause, n);
    }

    fn kept(&mut self) -> Option<&mut Option<Box<dyn Kept>>> {
        Some(&mut self.kept)
    }
}

/// What all sources together say.
fn read_all(sources: &[&[u8]]) -> Collected {
    let mut all = Sources::default();
    for mut source in sources.iter().copied() {
        assert!(sniff(source.get(..64 << 10).unwrap_or(source)));
        (FORMAT.read)(&mut source, "source", &mut all).unwrap();
    }
    let kept = all.kept.take().unwrap();
    kept.hand_over(&mut all).unwrap();
    all.found
}

/// Minutes and seconds behind 2026-03-02T09:00:00Z.
fn at(seconds: i64) -> Value {
    json!(format!("2026-03-02T{:02}:{:02}:{:02}Z", 9 + seconds / 3600, seconds / 60 % 60, seconds % 60))
}

/// 2026-03-02T09:00:00Z, ms since the epoch.
const NINE: i64 = 1_772_442_000_000;

fn seconds(time: Option<i64>) -> Option<f64> {
    time.map(|time| (time - NINE) as f64 / 1_000.0)
}

fn condition(kind: &str, is: bool, time: i64, reason: &str, message: &str) -> Value {
    let status = if is { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at(time)})
}

/// A Workload of two pods, created at 0.
fn workload(name: &str, conditions: &[Value], more: Value) -> Value {
    let requests = json!({"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": 1});
    let template = json!({"spec": {"containers": [{"resources": {"requests": requests}}]}});
    let mut status = json!({"conditions": conditions});
    status.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": name, "namespace": "red", "uid": format!("u-{name}"), "creationTimestamp": at(0),
            "ownerReferences": [{"kind": "Job", "name": format!("{name}-job"), "uid": "j", "controller": true}]},
        "spec": {"queueName": "main", "priority": 10, "priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "low"},
            "active": true, "podSets": [{"name": "main", "count": 2, "template": template}]},
        "status": status,
    })
}

fn admission() -> Value {
    json!({"clusterQueue": "red", "podSetAssignments": [{"name": "main", "count": 2, "flavors": {"cpu": "a", "nvidia.com/gpu": "b"}}]})
}

fn list(items: &[Value]) -> Vec<u8> {
    // As kubectl has it.
    serde_json::to_vec_pretty(&json!({"apiVersion": "v1", "items": items, "kind": "List"})).unwrap()
}

/// The attempts of a job's first task: queued, start, finish, outcome.
type Tries = Vec<(Option<f64>, Option<f64>, Option<f64>, Outcome)>;

fn tries(record: &JobRecord) -> Tries {
    let attempts = record.tasks[0].attempts.iter();
    attempts.map(|one| (seconds(one.queued), seconds(one.start), seconds(one.finish), one.outcome)).collect()
}

fn counted(found: &Collected) -> Vec<(&str, u64)> {
    found.skipped.iter().map(|(cause, n)| (cause.as_str(), *n)).collect()
}

#[test]
fn a_workload_that_ran_through_has_all_its_fields() {
    let done = workload(
        "a",
        &[
            condition("QuotaReserved", true, 5, "QuotaReserved", ""),
            condition("Admitted", true, 6, "Admitted", ""),
            condition("Finished", true, 100, "Succeeded", ""),
        ],
        json!({"admission": admission()}),
    );
    let found = read_all(&[&list(&[done])]);
    let [record] = found.jobs.as_slice() else { panic!("{:?}", found.skipped) };
    let job = &record.job;
    let texts = [&job.name, &job.queue, &job.qos, &job.framework].map(|text| text.as_deref().unwrap_or_default());
    assert_eq!((job.job_id.as_str(), texts), ("red/a", ["a-job", "red/main", "low", "job"]));
    assert_eq!([job.submit, job.launch, job.finish].map(seconds), [Some(0.0), Some(6.0), Some(100.0)]);
    assert_eq!((job.priority_number, job.outcome), (Some(10), Outcome::Success));
    let task = &record.tasks[0].task;
    assert_eq!((task.task_id.as_str(), task.stage.as_deref()), ("red/a/main", Some("main")));
    assert_eq!((task.cpu_request, task.memory_request, task.instances), (Some(2_000), Some(1 << 30), Some(2)));
    assert_eq!((task.resources.as_deref(), task.gang), (Some("nvidia.com/gpu=1"), Some(true)));
    assert_eq!(tries(record), [(Some(0.0), Some(6.0), Some(100.0), Outcome::Success)]);
    assert_eq!(record.tasks[0].attempts[0].flavors.as_deref(), Some("cpu=a,nvidia.com/gpu=b"));
    assert_eq!(counted(&found), []);
}

/// It was admitted at 10, ran 90 s until its pods were gone, was requeued at 100 and admitted again at 150. `Evicted` was overwritten.
fn evicted_once(more: &[Value], sum: i64) -> Value {
    let mut conditions = vec![
        condition("QuotaReserved", true, 150, "QuotaReserved", ""),
        condition("Admitted", true, 150, "Admitted", ""),
        condition("Evicted", false, 150, "QuotaReserved", "Previously: Preempted for u-b"),
        condition("Requeued", true, 100, "Preempted", ""),
    ];
    conditions.extend_from_slice(more);
    let stats = json!({"evictions": [{"reason": "Preempted", "count": 1}]});
    workload(
        "a",
        &conditions,
        json!({"admission": admission(), "accumulatedPastExecutionTimeSeconds": sum, "schedulingStats": stats}),
    )
}

#[test]
fn an_admission_before_one_eviction_follows_from_how_long_it_ran() {
    let finished = condition("Finished", true, 200, "Failed", "");
    let found = read_all(&[&list(&[evicted_once(&[finished], 90)])]);
    let expected: Tries = vec![
        (Some(0.0), Some(10.0), Some(100.0), Outcome::Evicted),
        (Some(100.0), Some(150.0), Some(200.0), Outcome::Failed),
    ];
    assert_eq!(tries(&found.jobs[0]), expected);
    assert_eq!(found.jobs[0].tasks[0].attempts[0].error.as_deref(), Some("Preempted for u-b"));
    assert_eq!(seconds(found.jobs[0].job.launch), Some(10.0));
    assert_eq!(counted(&found), [("admission-from-run-time", 1), ("eviction-at-requeue", 1)]);
}

/// It would have been admitted 20 s before it was there.
#[test]
fn an_admission_that_cannot_be_is_lost_with_its_run_time() {
    let found = read_all(&[&list(&[evicted_once(&[], 120)])]);
    let expected: Tries =
        vec![(Some(0.0), None, None, Outcome::Evicted), (Some(100.0), Some(150.0), None, Outcome::Incomplete)];
    assert_eq!(tries(&found.jobs[0]), expected);
    assert_eq!((found.jobs[0].tasks[0].attempts[0].run_time, found.jobs[0].job.launch), (Some(120_000), None));
    assert_eq!(counted(&found), [("earlier-admission-lost", 1), ("impossible-requeue", 1)]);
}

/// A snapshot saw the first admission, another one the eviction while its pods were ending. Order and repetition do not matter.
#[test]
fn several_snapshots_keep_each_admission_and_eviction() {
    let first = workload("a", &[condition("Admitted", true, 10, "Admitted", "")], json!({"admission": admission()}));
    let evicted = workload(
        "a",
        &[
            condition("Admitted", true, 10, "Admitted", ""),
            condition("Evicted", true, 96, "Preempted", "by u-b"),
            condition("Preempted", true, 96, "InClusterQueue", "for u-b"),
        ],
        json!({"admission": admission(), "schedulingStats": {"evictions": [{"count": 1}]}}),
    );
    let last = evicted_once(&[condition("Finished", true, 200, "Succeeded", "")], 90);
    let lists = [first, evicted, last].map(|one| list(&[one]));
    let expected: Tries = vec![
        (Some(0.0), Some(10.0), Some(96.0), Outcome::Evicted),
        (Some(100.0), Some(150.0), Some(200.0), Outcome::Success),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let sources: Vec<&[u8]> = order.iter().chain([&0]).map(|&at| lists[at].as_slice()).collect();
        let found = read_all(&sources);
        assert_eq!(found.jobs.len(), 1);
        assert_eq!(tries(&found.jobs[0]), expected);
        let attempts = &found.jobs[0].tasks[0].attempts;
        assert_eq!(attempts[0].error.as_deref(), Some("Preempted (InClusterQueue): for u-b"));
        assert!(attempts.iter().all(|one| one.flavors.is_some()));
        assert_eq!(counted(&found), []);
    }
}

/// 30 s, then 20 s more: requeued at 100 and 300. The list between shows the first sum, so both admissions follow.
#[test]
fn sums_of_several_evictions_give_each_admission() {
    let look = |evictions: u32, requeued: i64, sum: i64, admitted: i64| {
        let conditions = [
            condition("Admitted", true, admitted, "Admitted", ""),
            condition("Evicted", false, admitted, "QuotaReserved", "Previously: x"),
            condition("Requeued", true, requeued, "Preempted", ""),
        ];
        let stats = json!({"evictions": [{"count": evictions}]});
        workload("a", &conditions, json!({"accumulatedPastExecutionTimeSeconds": sum, "schedulingStats": stats}))
    };
    let found = read_all(&[&list(&[look(1, 100, 30, 280)]), &list(&[look(2, 300, 50, 400)])]);
    let expected: Tries = vec![
        (Some(0.0), Some(70.0), Some(100.0), Outcome::Evicted),
        (Some(100.0), Some(280.0), Some(300.0), Outcome::Evicted),
        (Some(300.0), Some(400.0), None, Outcome::Incomplete),
    ];
    assert_eq!(tries(&found.jobs[0]), expected);
    // Alone, the second list shows the sum of two admissions, and neither of them.
    let alone = read_all(&[&list(&[look(2, 300, 50, 400)])]);
    assert_eq!(tries(&alone.jobs[0]), [(Some(0.0), Some(400.0), None, Outcome::Incomplete)]);
    assert_eq!(counted(&alone), [("earlier-admission-lost", 2)]);
}

#[test]
fn a_workload_that_waits_again_was_evicted() {
    let conditions = [
        condition("Admitted", false, 100, "NoReservation", ""),
        condition("QuotaReserved", false, 100, "Pending", "no quota"),
        condition("Evicted", true, 95, "PodsReadyTimeout", "slow"),
        condition("Requeued", true, 100, "PodsReadyTimeout", ""),
    ];
    let more = json!({"accumulatedPastExecutionTimeSeconds": 60, "schedulingStats": {"evictions": [{"count": 1}]}});
    let found = read_all(&[&list(&[workload("a", &conditions, more)])]);
    assert_eq!(tries(&found.jobs[0]), [(Some(0.0), Some(40.0), Some(95.0), Outcome::Evicted)]);
    let attempt = &found.jobs[0].tasks[0].attempts[0];
    assert_eq!(attempt.error.as_deref(), Some("PodsReadyTimeout: slow"));
    assert_eq!(found.jobs[0].job.wait_reason.as_deref(), Some("no quota"));
    assert_eq!((found.jobs[0].job.outcome, found.jobs[0].job.finish), (Outcome::Incomplete, None));
}

/// A back-off that ends is no end of an eviction. Somebody stopped the second.
#[test]
fn other_requeues_and_stopped_workloads() {
    let conditions = [
        condition("Admitted", true, 300, "Admitted", ""),
        condition("Evicted", false, 300, "QuotaReserved", "Previously: x"),
        condition("Requeued", true, 200, "BackoffFinished", ""),
    ];
    let stats = json!({"accumulatedPastExecutionTimeSeconds": 60, "schedulingStats": {"evictions": [{"count": 1}]}});
    let mut stopped = workload(
        "b",
        &[condition("Admitted", true, 10, "Admitted", ""), condition("Evicted", true, 50, "Deactivated", "")],
        json!({}),
    );
    stopped["spec"]["active"] = json!(false);
    let found = read_all(&[&list(&[workload("a", &conditions, stats), stopped])]);
    let lost: Tries =
        vec![(Some(0.0), None, None, Outcome::Evicted), (Some(200.0), Some(300.0), None, Outcome::Incomplete)];
    assert_eq!(tries(&found.jobs[0]), lost);
    let job = &found.jobs[1].job;
    assert_eq!((job.outcome, seconds(job.finish)), (Outcome::Killed, Some(50.0)));
}

#[test]
fn older_names_other_lists_and_watches_mean_the_same() {
    let new = workload("a", &[condition("Admitted", true, 6, "Admitted", "")], json!({}));
    let mut old = new.clone();
    old["apiVersion"] = json!("kueue.x-k8s.io/v1beta1");
    let spec = old["spec"].as_object_mut().unwrap();
    spec.remove("priorityClassRef");
    spec.insert("priorityClassName".to_owned(), json!("low"));
    spec.insert("priorityClassSource".to_owned(), json!("kueue.x-k8s.io/workloadpriorityclass"));
    let expected = read_all(&[&list(std::slice::from_ref(&new))]);
    let mut bare = new.clone();
    bare.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
    let version = json!("kueue.x-k8s.io/v1beta2");
    // The kind first: items of such a list have none.
    let raw = format!("{{\"kind\":\"WorkloadList\",\"apiVersion\":{version},\"items\":[{bare}]}}");
    let sources = [
        format!("{old}\n"),
        format!("{new:#}\n{new:#}\n"),
        raw,
        format!("{{\"type\":\"ADDED\",\"object\":{new}}}\n{{\"type\":\"MODIFIED\",\"object\":{new}}}\n"),
        format!("[{new}]"),
    ];
    for source in sources {
        let found = read_all(&[source.as_bytes()]);
        assert_eq!(found.jobs, expected.jobs, "{source}");
        assert_eq!(counted(&found), [], "{source}");
    }
    let mut other = old.clone();
    other["spec"]["priorityClassSource"] = json!("scheduling.k8s.io/priorityclass");
    assert_eq!(read_all(&[other.to_string().as_bytes()]).jobs[0].job.qos, None);
}

#[test]
fn the_reason_of_the_end_is_the_outcome() {
    let outcome = |reason: &str, message: &str| {
        let ended = [condition("Finished", true, 9, reason, message)];
        let found = read_all(&[&list(&[workload("a", &ended, json!({}))])]);
        found.jobs[0].job.outcome
    };
    assert_eq!(outcome("Succeeded", ""), Outcome::Success);
    assert_eq!(outcome("Failed", ""), Outcome::Failed);
    assert_eq!(outcome("JobFinished", "Job finished successfully"), Outcome::Success);
    assert_eq!(outcome("JobFinished", "Job has reached the specified backoff limit"), Outcome::Failed);
    assert_eq!(outcome("OutOfSync", ""), Outcome::Killed);
    assert_eq!(outcome("Else", ""), Outcome::Unknown);
}

/// A pod of `red`, bound to `node` at `bound`.
fn pod(name: &str, owner: (&str, &str), node: &str, bound: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "red", "uid": format!("p-{name}"), "creationTimestamp": at(bound - 1),
            "ownerReferences": [{"kind": owner.0, "name": owner.1, "uid": "j", "controller": true}]},
        "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "500m"}}}]},
        "status": {"phase": "Running", "startTime": at(bound),
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": at(bound)}]},
    })
}

fn ended(mut pod: Value, end: i64, phase: &str, code: i64) -> Value {
    pod["status"]["phase"] = json!(phase);
    let reason = if code == 0 { "Completed" } else { "OOMKilled" };
    pod["status"]["containerStatuses"] =
        json!([{"state": {"terminated": {"exitCode": code, "reason": reason, "finishedAt": at(end)}}}]);
    pod
}

/// Of the first admission, no pod is left. Of the second, one was made again on another node: the first two count.
#[test]
fn pods_show_where_an_admission_ran() {
    let life = evicted_once(&[condition("Finished", true, 200, "Succeeded", "")], 90);
    let pods = [("x", "n2", 151), ("y", "n1", 152), ("z", "n3", 170)];
    let pods = pods.map(|(name, node, bound)| pod(name, ("Job", "a-job"), node, bound));
    let found = read_all(&[&list(&[&[life][..], &pods].concat())]);
    let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    let attempts = &record.tasks[0].attempts;
    let hosts: Vec<_> = attempts.iter().map(|one| (one.host.as_deref(), one.hosts.as_deref())).collect();
    assert_eq!(hosts, [(None, None), (None, Some("n[1-2]*1"))]);
    assert_eq!(found.skipped.get("evicted-pods-gone"), Some(&1));
}

#[test]
fn pods_without_a_workload_are_jobs_of_their_owners() {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "old", "namespace": "red", "uid": "j", "creationTimestamp": at(0)},
        "spec": {"parallelism": 2, "completions": 2},
        "status": {"startTime": at(1), "completionTime": at(60), "conditions": [condition("Complete", true, 60, "", "")]},
    });
    let mut first = ended(pod("old-0-a", ("Job", "old"), "n1", 10), 30, "Failed", 137);
    let mut again = ended(pod("old-0-b", ("Job", "old"), "n2", 35), 55, "Succeeded", 0);
    let mut other = ended(pod("old-1-c", ("Job", "old"), "n1", 10), 50, "Succeeded", 0);
    for (pod, index) in [(&mut first, "0"), (&mut again, "0"), (&mut other, "1")] {
        pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": index});
    }
    let mut alone = pod("alone", ("", ""), "", 70);
    alone["status"] = json!({"phase": "Pending", "conditions":
        [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes", "lastTransitionTime": at(70)}]});
    alone["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let found = read_all(&[&list(&[alone, again, other, first, job])]);
    let [old, alone] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    let ids: Vec<_> = old.tasks.iter().map(|task| task.task.task_id.as_str()).collect();
    assert_eq!((old.job.job_id.as_str(), ids), ("red/Job/old", vec!["red/Job/old/0", "red/Job/old/1"]));
    assert_eq!(
        (old.job.outcome, seconds(old.job.finish), seconds(old.job.launch)),
        (Outcome::Success, Some(60.0), Some(10.0))
    );
    let expected: Tries = vec![
        (Some(9.0), Some(10.0), Some(30.0), Outcome::Failed),
        (Some(34.0), Some(35.0), Some(55.0), Outcome::Success),
    ];
    assert_eq!(tries(old), expected);
    let attempts = &old.tasks[0].attempts;
    assert_eq!((attempts[0].host.as_deref(), attempts[0].error.as_deref()), (Some("n1"), Some("OOMKilled")));
    assert_eq!(old.tasks[0].task.cpu_request, Some(500));
    assert_eq!((alone.job.job_id.as_str(), alone.job.outcome), ("red/Pod/alone", Outcome::Incomplete));
    assert_eq!((alone.tasks.len(), alone.tasks[0].attempts.len()), (1, 0));
    assert_eq!(alone.job.wait_reason.as_deref(), Some("0/4 nodes"));
    assert_eq!(counted(&found), [("job-without-queue", 1)]);
}

/// Kueue marks the pods of a group and those of a JobSet; the others have an owner that has the Workload.
#[test]
fn pods_find_the_workload_of_the_object_at_the_top() {
    let mut group = workload("g", &[condition("Admitted", true, 10, "Admitted", "")], json!({}));
    group["metadata"]["annotations"] = json!({"kueue.x-k8s.io/is-group-workload": "true"});
    group["metadata"]["ownerReferences"] = json!([{"kind": "Pod", "name": "m1"}, {"kind": "Pod", "name": "m2"}]);
    let mut set = workload("s", &[condition("Admitted", true, 10, "Admitted", "")], json!({}));
    set["metadata"]["ownerReferences"] = json!([{"kind": "JobSet", "name": "s", "controller": true}]);
    let mut ray = workload("r", &[condition("Admitted", true, 10, "Admitted", "")], json!({}));
    ray["metadata"]["ownerReferences"] = json!([{"kind": "RayJob", "name": "r", "controller": true}]);
    let labelled = |mut pod: Value, labels: Value| {
        pod["metadata"]["labels"] = labels;
        pod
    };
    let pods = [
        labelled(pod("m1", ("", ""), "n1", 11), json!({"kueue.x-k8s.io/pod-group-name": "g"})),
        labelled(pod("s-w-0", ("Job", "s-w"), "n2", 11), json!({"jobset.sigs.k8s.io/jobset-name": "s"})),
        labelled(
            pod("r-head", ("RayCluster", "r-x"), "n3", 11),
            json!({"ray.io/originated-from-crd": "RayJob", "ray.io/originated-from-cr-name": "r"}),
        ),
    ];
    let found = read_all(&[&list(&[&[group, set, ray][..], &pods].concat())]);
    let hosts: Vec<_> = found
        .jobs
        .iter()
        .map(|record| (record.job.job_id.as_str(), record.tasks[0].attempts[0].host.as_deref().unwrap()))
        .collect();
    assert_eq!(hosts, [("red/g", "n1"), ("red/r", "n3"), ("red/s", "n2")]);
}

#[test]
fn machines_are_nodes_without_what_their_own_pods_take() {
    let node = |name: &str, created: i64| {
        json!({
            "kind": "Node", "apiVersion": "v1",
            "metadata": {"name": name, "creationTimestamp": at(created), "labels": {"zone": "z1", "gpu": "a100"}},
            "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], "unschedulable": name == "n2"},
            "status": {"allocatable": {"cpu": "7500m", "memory": "4Gi", "pods": "110", "nvidia.com/gpu": "8"}},
        })
    };
    let agent = pod("agent-x", ("DaemonSet", "agent"), "n1", 5);
    let done = ended(pod("agent-y", ("DaemonSet", "agent"), "n1", 5), 7, "Failed", 1);
    let job = pod("j", ("Job", "j"), "n2", 50);
    let found = read_all(&[&list(&[agent, done, job, node("n2", 60), node("n1", 0)])]);
    let [n1, n2] = found.nodes.as_slice() else { panic!("{:?}", found.nodes) };
    let expected = NodeRow {
        host: "n1".to_owned(),
        cpu: Some(7_000),
        memory: Some(4 << 30),
        resources: Some("nvidia.com/gpu=8,pods=110".to_owned()),
        features: Some("gpu=a100,zone=z1".to_owned()),
        taints: Some("gpu=yes:NoSchedule".to_owned()),
        event: NodeChange::Add,
        ..NodeRow::default()
    };
    assert_eq!(n1, &expected);
    assert_eq!((n2.cpu, seconds(n2.time)), (Some(7_500), Some(60.0)));
    assert_eq!(found.jobs.len(), 1);
    assert_eq!(counted(&found), [("cordoned-node", 1), ("pod-of-its-node", 2)]);
}

/// An event of an audit log, 0.2 s behind the second.
fn event(verb: &str, resource: &str, name: &str, time: i64, more: Value) -> Value {
    let stamp = at(time).as_str().unwrap().replace('Z', ".200300Z");
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "x", "stage": "ResponseComplete",
        "verb": verb, "user": {"username": "ann"}, "responseStatus": {"code": 200},
        "objectRef": {"resource": resource, "subresource": subresource, "namespace": "red", "name": name},
        "requestReceivedTimestamp": stamp, "stageTimestamp": stamp,
    });
    event.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    event
}

fn lines(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("{event}\n")).collect::<String>().into_bytes()
}

#[test]
fn an_audit_log_has_each_admission_to_the_millisecond() {
    let of = |conditions: &[Value]| workload("a", conditions, json!({"admission": admission()}));
    let admitted = condition("Admitted", true, 10, "Admitted", "");
    let evicted = condition("Evicted", true, 96, "Preempted", "for u-b");
    let again =
        [condition("Admitted", true, 150, "Admitted", ""), condition("Evicted", false, 150, "QuotaReserved", "")];
    let patch = |conditions: Value| json!({"requestObject": {"status": {"conditions": conditions}}});
    let delete =
        json!({"responseObject": {"kind": "Status", "status": "Success"}, "requestObject": {"kind": "DeleteOptions"}});
    let events = [
        event("create", "jobs", "a-job", 0, json!({"level": "Metadata"})),
        event("create", "workloads", "a", 0, json!({"responseObject": of(&[])})),
        event("patch", "workloads/status", "a", 10, json!({"responseObject": of(std::slice::from_ref(&admitted))})),
        event("patch", "workloads/status", "a", 96, patch(json!([admitted, evicted]))),
        event("patch", "workloads/status", "a", 150, json!({"responseObject": of(&again)})),
        // It failed, so it changed nothing.
        event(
            "patch",
            "workloads/status",
            "a",
            160,
            json!({"responseStatus": {"code": 409}, "responseObject": {"status": "Failure"}}),
        ),
        event("patch", "workloads/status", "a", 170, json!({"level": "Metadata"})),
        event("delete", "workloads", "a", 180, delete),
        event("get", "configmaps", "c", 190, json!({})),
    ];
    let expected: Tries = vec![
        (Some(0.0), Some(10.2), Some(96.2), Outcome::Evicted),
        (Some(96.2), Some(150.2), Some(180.2), Outcome::Killed),
    ];
    let (one, other) = (lines(&events[..4]), lines(&events[4..]));
    for sources in [[one.as_slice(), other.as_slice()], [other.as_slice(), one.as_slice()]] {
        let found = read_all(&sources);
        let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
        assert_eq!(tries(record), expected);
        assert_eq!((record.job.user.as_deref(), record.job.outcome), (Some("ann"), Outcome::Killed));
        assert_eq!(counted(&found), [("audit-without-object", 1), ("other-record", 2)]);
    }
    // A list of later shows the same admissions to the second: they are the same.
    let list = list(&[of(&again)]);
    assert_eq!(tries(&read_all(&[&one, &list, &other]).jobs[0]), expected);
}

#[test]
fn an_audit_log_has_where_pods_went_and_when_they_ended() {
    let bind = |node: &str| json!({"requestObject": {"kind": "Binding", "target": {"kind": "Node", "name": node}}});
    let mut created = pod("p", ("Job", "j"), "", 10);
    created["status"] = json!({"phase": "Pending"});
    let events = [
        event("create", "pods", "p", 9, json!({"responseObject": created})),
        event("create", "pods/binding", "p", 10, bind("n1")),
        event("delete", "pods", "p", 30, json!({})),
        event("create", "pods", "q", 40, json!({"level": "Metadata"})),
        event("create", "pods/binding", "q", 41, bind("n2")),
        event("create", "pods/eviction", "q", 50, json!({})),
        event("create", "pods", "q", 60, json!({"level": "Metadata"})),
    ];
    let found = read_all(&[&lines(&events)]);
    let shown: Vec<_> = found.jobs.iter().map(|record| (record.job.job_id.as_str(), tries(record))).collect();
    let expected = [
        ("red/Job/j", vec![(Some(9.0), Some(10.2), Some(30.2), Outcome::Killed)]),
        ("red/Pod/q", vec![(Some(40.2), Some(41.2), Some(50.2), Outcome::Evicted)]),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found.jobs[1].tasks.len(), 1);
}

#[test]
fn events_count_where_no_object_has_what_they_say() {
    let event = |reason: &str, time: i64| {
        json!({"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Workload", "name": "a", "namespace": "red"},
            "reason": reason, "message": "for u-b", "firstTimestamp": at(time), "lastTimestamp": at(time)})
    };
    let admitted = workload("a", &[condition("Admitted", true, 150, "Admitted", "")], json!({}));
    let events =
        [event("Admitted", 10), event("EvictedDueToPreempted", 96), event("Admitted", 151), event("Pending", 5)];
    let found = read_all(&[&list(&events), &list(&[admitted])]);
    let expected: Tries = vec![
        (Some(0.0), Some(10.0), Some(96.0), Outcome::Evicted),
        (Some(96.0), Some(150.0), None, Outcome::Incomplete),
    ];
    assert_eq!(tries(&found.jobs[0]), expected);
    assert_eq!(counted(&found), [("other-record", 1)]);
}

#[test]
fn metrics_are_pods_without_workloads() {
    let labels = "namespace=\"red\",pod=\"p\",uid=\"u\"";
    let time = |seconds: i64| NINE / 1_000 + seconds;
    let text = format!(
        "# TYPE kube_pod_created gauge\n\
         kube_pod_created{{{labels}}} {}\n\
         kube_pod_status_scheduled_time{{{labels}}} {} 1772442099.5\n\
         kube_pod_status_scheduled_time{{{labels}}} {} 1772442129.5\n\
         kube_pod_completion_time{{{labels}}} {}\n\
         kube_pod_info{{{labels},node=\"n1\",created_by_kind=\"Job\",created_by_name=\"j\"}} 1\n\
         kube_pod_container_resource_requests{{{labels},container=\"a\",resource=\"cpu\",unit=\"core\"}} 0.5\n\
         kube_pod_container_resource_requests{{{labels},container=\"b\",resource=\"cpu\",unit=\"core\"}} 1.5\n\
         kube_pod_container_resource_requests{{{labels},container=\"b\",resource=\"nvidia_com_gpu\",unit=\"integer\"}} 2\n\
         kube_pod_status_phase{{{labels},phase=\"Succeeded\"}} 1\n\
         kube_pod_status_phase{{{labels},phase=\"Failed\"}} 0\n\
         kube_job_created{{namespace=\"red\",job_name=\"j\"}} {}\n\
         kube_node_status_allocatable{{node=\"n1\",resource=\"cpu\",unit=\"core\"}} 95.5\n\
         up 1\n",
        time(1),
        time(3),
        time(3),
        time(50),
        time(0),
    );
    let found = read_all(&[text.as_bytes()]);
    let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    assert_eq!((record.job.job_id.as_str(), seconds(record.job.submit)), ("red/Job/j", Some(0.0)));
    assert_eq!(tries(record), [(Some(1.0), Some(3.0), Some(50.0), Outcome::Success)]);
    let task = &record.tasks[0].task;
    assert_eq!((task.cpu_request, task.resources.as_deref()), (Some(2_000), Some("nvidia.com/gpu=2")));
    assert_eq!((found.nodes[0].host.as_str(), found.nodes[0].cpu), ("n1", Some(95_500)));
    // Metrics do not show the labels of a Job.
    assert_eq!(counted(&found), []);
}

#[test]
fn what_expired_is_counted_by_those_that_outlived_it() {
    let one = |name: &str, created: i64, end: Option<i64>| {
        let ended = end.map(|end| condition("Finished", true, end, "Succeeded", ""));
        let mut one = workload(name, &ended.into_iter().collect::<Vec<_>>(), json!({}));
        one["metadata"]["creationTimestamp"] = at(created);
        one
    };
    // The first end is at 100: `stuck` and `long` were there before it, `late` was not, and `first` has that end.
    let items =
        [one("stuck", 0, None), one("long", 5, Some(900)), one("first", 50, Some(100)), one("late", 120, Some(130))];
    assert_eq!(counted(&read_all(&[&list(&items)])), [("outlived-expired-jobs", 2)]);
}

#[test]
fn a_name_that_is_used_again_is_another_job() {
    let mut first = workload("a", &[condition("Finished", true, 9, "Succeeded", "")], json!({}));
    first["metadata"]["uid"] = json!("z");
    let mut second = workload("a", &[], json!({}));
    second["metadata"]["creationTimestamp"] = at(20);
    let found = read_all(&[&list(&[second, first])]);
    let shown: Vec<_> = found.jobs.iter().map(|one| (one.job.job_id.as_str(), one.job.outcome)).collect();
    assert_eq!(shown, [("red/a", Outcome::Success), ("red/a~2", Outcome::Incomplete)]);
}

#[test]
fn what_cannot_be_read_is_counted() {
    let mut odd = workload("a", &[], json!({}));
    odd["spec"]["podSets"][0]["template"]["spec"] = json!({"containers": [{"resources": {"requests": {"cpu": "-1", "memory": "1e99"}}}],
        "affinity": {"podAffinity": {"x": []}}});
    let mut bad = workload("b", &[], json!({}));
    bad["spec"]["podSets"] = json!("none");
    let mut named = workload("c", &[], json!({}));
    named["metadata"]["name"] = json!("a/b");
    let moved = workload("d", &[condition("Admitted", true, 5, "", "")], json!({"admission": admission()}));
    let queue = json!({"kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta2",
        "metadata": {"name": "main", "namespace": "red"}, "spec": {"clusterQueue": "blue"}});
    let site = json!({"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "red"}});
    let map = json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {}});
    let found = read_all(&[&list(&[odd, bad, named, moved, queue, site, map])]);
    let expected = [
        ("damaged-record", 2),
        ("local-queue-moved", 1),
        ("object-of-site", 1),
        ("other-record", 1),
        ("placement-request-not-read", 1),
        ("request-not-read", 2),
    ];
    assert_eq!(counted(&found), expected);
    assert_eq!(found.jobs.len(), 2);
}

#[test]
fn more_states_than_the_limit_are_left_out() {
    let text: String = (0..=MOST_SEEN)
        .map(|number| format!("kube_pod_created{{namespace=\"red\",pod=\"p\"}} {}\n", 1_000_000_000 + number))
        .collect();
    let found = read_all(&[text.as_bytes()]);
    assert_eq!(counted(&found), [("too-many-states", 1)]);
}

#[test]
fn as_many_pod_sets_as_the_limit_and_not_one_more() {
    let sets = |number: usize| {
        let mut one = workload("a", &[], json!({}));
        let set = one["spec"]["podSets"][0].clone();
        let named = |number: usize| {
            let mut set = set.clone();
            set["name"] = json!(format!("s{number}"));
            set
        };
        one["spec"]["podSets"] = (0..number).map(named).collect();
        let found = read_all(&[&list(&[one])]);
        (found.jobs[0].tasks.len(), found.skipped.get("request-not-read").copied())
    };
    assert_eq!([sets(MOST_SETS), sets(MOST_SETS + 1)], [(MOST_SETS, None), (MOST_SETS, Some(1))]);
}

/// Through all of ingest: a folder with a list, the rotated part of an audit log that is packed, and the site's queues.
#[test]
fn a_folder_has_lists_logs_and_the_queues_of_the_site() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let admitted =
        workload("a", &[condition("Admitted", true, 150, "Admitted", "")], json!({"admission": admission()}));
    let first = workload("a", &[condition("Admitted", true, 10, "Admitted", "")], json!({"admission": admission()}));
    let site =
        list(&[json!({"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "red"}})]);
    std::fs::write(folder.path().join("list.json"), list(&[admitted])).unwrap();
    std::fs::write(folder.path().join("queues.json"), &site).unwrap();
    let log = std::fs::File::create(folder.path().join("audit-1.log.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(log, flate2::Compression::fast());
    packed.write_all(&lines(&[event("patch", "workloads/status", "a", 10, json!({"responseObject": first}))])).unwrap();
    packed.finish().unwrap();
    let options = crate::Options { threads: 1.try_into().ok(), ..crate::Options::default() };
    let mut found = Collected::default();
    let manifest = crate::ingest_into(&[folder.path().to_path_buf()], &mut found, &options, &mut ()).unwrap();
    let starts: Vec<_> = tries(&found.jobs[0]).into_iter().map(|(_, start, ..)| start).collect();
    assert_eq!(starts, [Some(10.2), Some(150.0)]);
    assert_eq!(found.skipped.get("object-of-site"), Some(&1));
    let read = &manifest.read["kubernetes"];
    assert!(read["attempts.flavors"].contains("podSetAssignments"), "{read:?}");
    let alone = folder.path().join("queues.json");
    let error = crate::ingest_into(&[alone], &mut Collected::default(), &options, &mut ()).unwrap_err().to_string();
    assert!(error.contains("configuration of a site") && error.contains("--site-conf"), "{error}");
}

/// A list of so many Workloads, which is made while it is read.
struct LongList {
    items: usize,
    made: Vec<u8>,
    used: usize,
    item: String,
}

impl std::io::Read for LongList {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("only lines are read"))
    }
}

impl BufRead for LongList {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.used == self.made.len() && self.items > 0 {
            self.items -= 1;
            let comma = if self.items > 0 { ",\n" } else { "\n]}\n" };
            self.made = (self.item.replace("NUMBER", &self.items.to_string()) + comma).into_bytes();
            self.used = 0;
        }
        Ok(&self.made[self.used..])
    }

    fn consume(&mut self, used: usize) {
        self.used += used;
    }
}

fn read_long(items: usize) {
    let item =
        workload("w-NUMBER", &[condition("Admitted", true, 6, "Admitted", "")], json!({"admission": admission()}));
    let head = b"{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n".to_vec();
    let mut list = LongList { items, made: head, used: 0, item: item.to_string() };
    let mut found = Counted(0);
    read(&mut list, "list", &mut found).unwrap();
    assert_eq!(found.0, items);
}

/// Counts jobs.
struct Counted(usize);

impl Sink for Counted {
    fn job(&mut self, _: JobRecord) -> Result<(), Error> {
        self.0 += 1;
        Ok(())
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, cause: Cause, n: u64) {
        assert_eq!(n, 0, "{cause}");
    }
}

#[test]
fn a_list_is_never_held() {
    read_long(500);
}

#[test]
#[ignore = "reads 1 GB: cargo test -p resched-ingest --lib a_list_of_a_million -- --ignored"]
fn a_list_of_a_million_is_never_held() {
    read_long(1_000_000);
}

/// The seeds of the fuzz target have each form and each field.
#[test]
fn no_damage_makes_it_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/kubernetes");
    let mut seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 4);
    for seed in seeds {
        let bytes = std::fs::read(&seed).unwrap();
        let found = Collected::read(&FORMAT, &bytes).unwrap();
        assert!(sniff(&bytes) && !found.jobs.is_empty(), "{}", seed.display());
        each_damage(&bytes, 300, |damaged| _ = Collected::read(&FORMAT, damaged));
    }
}

fn shared(name: &str) -> Option<Vec<u8>> {
    read_shared(&format!("../truth/k8s/{name}"))
}

/// What the files say was read off them by eye: `INPUTS.md` has the story.
#[test]
fn the_shared_story_of_five_jobs() {
    let names =
        ["workloads.json", "jobs.json", "pods.json", "nodes.json", "localqueues.json", "audit.jsonl", "events.json"];
    let files: Option<Vec<Vec<u8>>> = names.iter().map(|name| shared(&format!("fixtures/{name}"))).collect();
    let Some(files) = files else { return };
    let sources: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let found = read_all(&sources);
    let all: BTreeMap<&str, &JobRecord> =
        found.jobs.iter().map(|record| (record.job.job_id.as_str(), record)).collect();
    let of = |id: &str| (tries(all[id]), all[id].job.outcome);
    let minutes = |minutes: i64, seconds: i64| Some((60 * minutes + seconds) as f64);
    let a = (minutes(0, 0), minutes(0, 1), minutes(40, 12), Outcome::Success);
    assert_eq!(of("team-red/job-train-a-11aa1"), (vec![a], Outcome::Success));
    // The audit log has this workload's first admission and its eviction to the millisecond.
    let b = vec![
        (minutes(2, 0), Some(121.104), Some(1221.104), Outcome::Evicted),
        (minutes(20, 31), minutes(41, 14), minutes(65, 14), Outcome::Success),
    ];
    assert_eq!(of("team-red/job-train-b-22bb2"), (b, Outcome::Success));
    assert_eq!(all["team-red/job-train-b-22bb2"].job.user.as_deref(), Some("alice@example.com"));
    let c = (minutes(5, 0), minutes(5, 2), minutes(50, 3), Outcome::Evicted);
    assert_eq!(of("team-blue/job-train-c-33cc3"), (vec![c], Outcome::Incomplete));
    let d = all["team-blue/job-train-d-44dd4"];
    assert_eq!((d.tasks.len(), d.tasks[1].task.instances, d.tasks[1].attempts.len()), (2, Some(8), 0));
    assert_eq!(d.tasks[1].task.node_selector.as_deref(), Some("gpu=a100"));
    let e = all["team-blue/job-train-e-55ee5"];
    assert_eq!(e.tasks[0].attempts[0].host.as_deref(), Some("node-3"));
    assert_eq!(all["team-red/job-train-a-11aa1"].tasks[0].attempts[0].hosts.as_deref(), Some("node-[1-2]*1"));
    let legacy = (minutes(10, 0), minutes(10, 0), minutes(14, 59), Outcome::Failed);
    assert_eq!(of("team-blue/Job/legacy"), (vec![legacy], Outcome::Success));
    assert_eq!((all.len(), found.nodes.len()), (6, 4));
    // Of a pod of the evicted admission, the log has the deletion alone.
    assert_eq!(found.skipped.get("pod-without-object"), Some(&1));
}

/// The real code's objects of 16 workloads, against its decisions: each has its last admission and its end.
#[test]
fn the_objects_that_the_real_code_left() {
    let files = [shared("fixtures/workloads-from-priority-a.json"), shared("kueue/priority-a/truth/decisions.csv")];
    let [Some(objects), Some(decisions)] = files else { return };
    let decisions = String::from_utf8(decisions).unwrap();
    const START: i64 = 1_767_571_200_000;
    let last = |name: &str, event: &str| {
        let of_it = |line: &&str| {
            let fields: Vec<&str> = line.split(',').collect();
            fields[1] == event && fields[2].rsplit('/').next() == Some(name)
        };
        let line = decisions.lines().rfind(of_it)?;
        Some(START + 1_000 * line.split(',').next()?.parse::<i64>().unwrap())
    };
    let found = read_all(&[&objects]);
    assert_eq!(found.jobs.len(), 16);
    let mut evicted = 0;
    for record in &found.jobs {
        let name = record.job.job_id.rsplit('/').next().unwrap();
        let attempt = record.tasks[0].attempts.last();
        assert_eq!(attempt.and_then(|one| one.start), last(name, "A"), "{name}");
        assert_eq!(record.job.finish, last(name, "F"), "{name}");
        assert_eq!(record.job.submit, last(name, "S"), "{name}");
        evicted += decisions
            .lines()
            .filter(|line| line.split(',').nth(2) == Some(name) && line.split(',').nth(1) == Some("P"))
            .count();
    }
    // The clock of its requeues is another one, so no earlier admission is known.
    assert_eq!(found.skipped.get("earlier-admission-lost").copied().unwrap_or(0) as usize, evicted);
}
