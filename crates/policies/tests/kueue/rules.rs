//! Each parameter in a small world in which it decides, worked out by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use resched_policies::{PolicySpec, SiteConf};
use resched_sim::ClusterConfig;
use resched_tables::run::RunTables;

use crate::world::{replayed, replayed_on};

/// A ClusterQueue: its name, further lines of its `spec`, and the quota of `cpu` of each of its flavours.
type Queue<'a> = (&'a str, &'a str, &'a [(&'a str, u32)]);

/// The objects of a site with one cohort, the flavours `a` and `b`, and a LocalQueue `main` in a namespace with the name of each queue.
fn yaml(queues: &[Queue<'_>]) -> String {
    let mut text = String::new();
    for flavor in ["a", "b"] {
        write!(text, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {flavor}}}\n---\n")
            .unwrap();
    }
    for (class, value) in [("low", 1), ("high", 9)] {
        write!(text, "kind: WorkloadPriorityClass\nmetadata: {{name: {class}}}\nvalue: {value}\n---\n").unwrap();
    }
    for (name, more, quotas) in queues {
        write!(
            text,
            "kind: ClusterQueue\nmetadata: {{name: {name}}}\nspec:\n  cohortName: all\n  namespaceSelector: {{}}\n{more}  resourceGroups:\n  \
             - coveredResources: [cpu]\n    flavors:\n"
        )
        .unwrap();
        for (flavor, cpu) in *quotas {
            write!(text, "    - name: {flavor}\n      resources: [{{name: cpu, nominalQuota: {cpu}}}]\n").unwrap();
        }
        write!(
            text,
            "---\nkind: LocalQueue\nmetadata: {{name: main, namespace: {name}}}\nspec: {{clusterQueue: {name}}}\n---\n"
        )
        .unwrap();
    }
    text
}

/// A workload: name, queue, class, second of submission, run time, cpu.
type Work<'a> = (&'a str, &'a str, &'a str, u32, u32, u32);

fn write_world(dir: &Path, queues: &[Queue<'_>], work: &[Work<'_>]) {
    std::fs::write(dir.join("kueue.yaml"), yaml(queues)).unwrap();
    let mut csv = "workload,namespace,queue,priority_class,submit,run,podset,count,cpu\n".to_owned();
    for (name, queue, class, submit, run, cpu) in work {
        writeln!(csv, "{name},{queue},main,{class},{submit},{run},main,1,{cpu}").unwrap();
    }
    std::fs::write(dir.join("workloads.csv"), csv).unwrap();
}

/// A world in a folder.
fn world(queues: &[Queue<'_>], work: &[Work<'_>]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write_world(dir.path(), queues, work);
    dir
}

fn at_site(dir: &Path, policy: &str) -> PolicySpec {
    let site = Arc::new(SiteConf::read(dir).unwrap().site);
    PolicySpec::parse(policy).unwrap().at_site(&site).unwrap()
}

/// The admissions of each workload: second, flavours.
fn admissions((tables, zero): &(RunTables, i64)) -> BTreeMap<String, Vec<(i64, String)>> {
    let mut all: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    for table in &tables.attempts {
        let at = (table.start.unwrap() + zero) / 1_000;
        all.entry(table.job_id.clone()).or_default().push((at, table.flavors.clone().unwrap_or_default()));
    }
    all
}

fn run(dir: &Path, policy: &str) -> BTreeMap<String, Vec<(i64, String)>> {
    admissions(&replayed(&dir.join("workloads.csv"), &at_site(dir, policy)).unwrap())
}

/// The seconds at which a workload is admitted under a policy, with its flavour of cpu: `12a`.
fn of(dir: &Path, policy: &str, name: &str) -> Vec<String> {
    let all = run(dir, policy).remove(name).unwrap_or_default();
    all.into_iter().map(|(at, flavors)| format!("{at}{}", flavors.strip_prefix("cpu=").unwrap_or(&flavors))).collect()
}

const PREEMPT: &str = "  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n";
const HALF: [Work<'static>; 2] = [("old", "x", "low", 0, 100, 4), ("new", "x", "high", 50, 100, 4)];

/// At second 50, `new` evicts `old`, which has worked for 50 of 100 s, and runs for 100 s when the pods of `old` are gone. A second after its
/// end, `old` is looked at again.
#[test]
fn what_becomes_of_an_evicted_workload() {
    let dir = world(&[("x", PREEMPT, &[("a", 4)])], &HALF);
    let second = |policy: &str, name: &str| of(dir.path(), &format!("kueue:{policy}"), name).pop().unwrap();
    assert_eq!(of(dir.path(), "kueue", "new"), ["80a"]);
    assert_eq!(second("eviction_seconds=5", "new"), "55a");
    assert_eq!(of(dir.path(), "kueue:eviction_seconds=5", "old"), ["0a", "156a"]);
    let end = |policy: &str| {
        let (tables, zero) = replayed(&dir.path().join("workloads.csv"), &at_site(dir.path(), policy)).unwrap();
        let old = tables.jobs.iter().find(|job| job.job_id == "old").unwrap();
        (old.finish.unwrap() + zero) / 1_000
    };
    assert_eq!(end("kueue:eviction_seconds=5"), 256);
    assert_eq!(end("kueue:eviction_seconds=5,on_eviction=keep"), 206);
    assert_eq!(end("kueue:eviction_seconds=5,on_eviction=checkpoint,checkpoint_seconds=40"), 216);
    assert_eq!(end("kueue:eviction_seconds=5,on_eviction=checkpoint,checkpoint_seconds=15"), 211);
    let (tables, _) = replayed(&dir.path().join("workloads.csv"), &at_site(dir.path(), "kueue")).unwrap();
    let decided = tables.decisions.iter().find(|decision| decision.name.starts_with("preempted")).unwrap();
    assert_eq!((decided.name.as_str(), decided.value), ("preempted:InClusterQueue", 50_000.0));
    assert_eq!((decided.job_id.as_deref(), decided.other_job.as_deref()), (Some("old"), Some("new")));
    let reasons: BTreeSet<&str> = tables.reasons.iter().map(|reason| reason.reason.as_str()).collect();
    assert!(
        reasons.contains("pending-preemption") && reasons.contains("no-fit") | reasons.contains("no-candidates"),
        "{reasons:?}"
    );
}

#[test]
fn whom_a_workload_may_preempt() {
    let dir = world(&[("x", PREEMPT, &[("a", 4)])], &HALF);
    assert_eq!(of(dir.path(), "kueue:within_cluster_queue=Never,requeue_seconds=0", "new"), ["100a"]);
    // The low one has borrowed what the other queue takes back.
    let borrowed = [("guest", "y", "low", 0, 100, 4), ("owner", "x", "low", 10, 10, 4)];
    let dir = world(&[("x", PREEMPT, &[("a", 4)]), ("y", "", &[("a", 0)])], &borrowed);
    assert_eq!(of(dir.path(), "kueue:eviction_seconds=5", "owner"), ["15a"]);
    assert_eq!(of(dir.path(), "kueue:reclaim_within_cohort=Never", "owner"), ["101a"]);
    // The preemptor itself would borrow.
    let both = [("guest", "y", "low", 0, 100, 4), ("big", "x", "high", 10, 10, 4)];
    let dir = world(&[("x", PREEMPT, &[("a", 2)]), ("y", "", &[("a", 2)])], &both);
    assert_eq!(of(dir.path(), "kueue:eviction_seconds=5", "big"), ["101a"]);
    assert_eq!(of(dir.path(), "kueue:eviction_seconds=5,borrow_within_cohort=LowerPriority", "big"), ["15a"]);
}

#[test]
fn which_flavor_is_taken() {
    // Of `a`, it would have to borrow.
    let queues: [Queue<'_>; 2] = [("x", "", &[("a", 0), ("b", 4)]), ("y", "", &[("a", 4), ("b", 0)])];
    let dir = world(&queues, &[("one", "x", "low", 0, 10, 4)]);
    assert_eq!(of(dir.path(), "kueue", "one"), ["0a"]);
    assert_eq!(of(dir.path(), "kueue:when_can_borrow=TryNextFlavor", "one"), ["0b"]);
    // Of `a`, it would have to preempt.
    let dir = world(&[("x", PREEMPT, &[("a", 4), ("b", 4)])], &HALF);
    assert_eq!(of(dir.path(), "kueue", "new"), ["50b"]);
    assert_eq!(of(dir.path(), "kueue:when_can_preempt=MayStopSearch", "new"), ["80a"]);
    // Of `a`, it would have to preempt; of `b`, to borrow.
    let queues: [Queue<'_>; 2] = [("x", PREEMPT, &[("a", 4), ("b", 0)]), ("y", "", &[("b", 4), ("a", 0)])];
    let dir = world(&queues, &HALF);
    let policy = |preference: &str| format!("kueue:when_can_borrow=TryNextFlavor,preference={preference}");
    assert_eq!(of(dir.path(), &policy("BorrowingOverPreemption"), "new"), ["50b"]);
    assert_eq!(of(dir.path(), &policy("PreemptionOverBorrowing"), "new"), ["80a"]);
}

#[test]
fn how_a_queue_takes_its_workloads() {
    let work = [("first", "x", "low", 0, 100, 3), ("big", "x", "low", 10, 10, 4), ("small", "x", "low", 20, 10, 1)];
    let dir = world(&[("x", "", &[("a", 4)])], &work);
    assert_eq!(of(dir.path(), "kueue", "small"), ["20a"]);
    assert_eq!(of(dir.path(), "kueue:queueing_strategy=StrictFIFO", "small"), ["110a"]);
    // A wake-up comes a second after `first` has ended.
    assert_eq!(of(dir.path(), "kueue", "big"), ["101a"]);
    assert_eq!(of(dir.path(), "kueue:requeue_seconds=7", "big"), ["107a"]);
    assert_eq!(of(dir.path(), "kueue:quota=x/a/cpu=7", "big"), ["10a"]);
    let other = world(&[("x", "", &[("a", 8)])], &[]);
    assert_eq!(of(dir.path(), &format!("kueue:site={}", other.path().display()), "big"), ["10a"]);
}

#[test]
fn how_queues_share() {
    // All quota is that of `z`. `x` has borrowed half of it; then `x`, with a higher priority, and `y` want the other half.
    let queues: [Queue<'_>; 3] = [("x", "", &[("a", 0)]), ("y", "", &[("a", 0)]), ("z", "", &[("a", 8)])];
    let work = [("held", "x", "low", 0, 100, 4), ("more", "x", "high", 10, 10, 4), ("other", "y", "low", 10, 10, 4)];
    let dir = world(&queues, &work);
    assert_eq!(of(dir.path(), "kueue", "more"), ["10a"]);
    assert_eq!(of(dir.path(), "kueue:fair_sharing=true", "other"), ["10a"]);
    // `y` holds five sixths and a sixth. `x` wants four sixths: more than `y` has without the larger, and less than it has with it.
    let queues: [Queue<'_>; 3] = [("x", PREEMPT, &[("a", 0)]), ("y", "", &[("a", 0)]), ("z", "", &[("a", 6)])];
    let work = [("large", "y", "low", 0, 100, 5), ("small", "y", "high", 0, 100, 1), ("own", "x", "low", 10, 10, 4)];
    let dir = world(&queues, &work);
    let policy = |strategy: &str| format!("kueue:eviction_seconds=5,fair_sharing=true,strategy={strategy}");
    assert_eq!(of(dir.path(), &policy("final"), "own"), ["101a"]);
    assert_eq!(of(dir.path(), &policy("initial"), "own"), ["15a"]);
    assert_eq!(of(dir.path(), &policy("both"), "own"), ["15a"]);
}

#[test]
fn equals_of_one_second_come_as_listed_or_as_drawn() {
    let names: Vec<String> = (0..8).map(|number| format!("w{number}")).collect();
    let work: Vec<Work<'_>> = names.iter().map(|name| (name.as_str(), "x", "low", 0, 10, 4)).collect();
    let dir = world(&[("x", "", &[("a", 4)])], &work);
    let order = |policy: &str| {
        let all = run(dir.path(), policy);
        let mut starts: Vec<(i64, &str)> = all.iter().map(|(name, starts)| (starts[0].0, name.as_str())).collect();
        starts.sort_unstable();
        starts.into_iter().map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order("kueue:same_second=listed"), names);
    let drawn = order("kueue");
    assert_ne!(drawn, names);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>(), names.iter().collect());
}

/// What the tests above set.
const TRIED: [&str; 16] = [
    "borrow_within_cohort",
    "checkpoint_seconds",
    "eviction_seconds",
    "fair_sharing",
    "on_eviction",
    "preference",
    "queueing_strategy",
    "quota",
    "reclaim_within_cohort",
    "requeue_seconds",
    "same_second",
    "site",
    "strategy",
    "when_can_borrow",
    "when_can_preempt",
    "within_cluster_queue",
];

#[test]
fn each_parameter_is_tried() {
    let parameters = PolicySpec::parse("kueue").unwrap().parameters();
    assert_eq!(parameters.keys().collect::<Vec<_>>(), TRIED);
}

#[test]
fn wrong_quotas_are_named() {
    let dir = world(&[("x", "", &[("a", 4)])], &[]);
    let site = Arc::new(SiteConf::read(dir.path()).unwrap().site);
    let error = |quota: &str| {
        let spec = PolicySpec::parse(&format!("kueue:quota={quota}"));
        spec.and_then(|spec| spec.at_site(&site)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(error("x/a=4").contains("expected QUEUE/FLAVOR/RESOURCE=AMOUNT, found `x/a=4`"));
    assert!(error("y/a/cpu=4").contains("no ClusterQueue or Cohort `y` has cpu of the flavor `a`"));
    assert!(error("x/a/cpu=lots").contains("expected an amount, found \"lots\""));
}

/// On one node of four cores, quota for eight does not help: the second waits for the first, although it is admitted at once.
#[test]
fn on_nodes_an_admitted_workload_waits_for_its_place() {
    let work = [("one", "x", "low", 0, 100, 3), ("two", "x", "low", 10, 10, 3)];
    let dir = world(&[("x", "", &[("a", 8)])], &work);
    let cluster = ClusterConfig::parse("[machines]\ncount = 1\ncores = 4.0\n").unwrap();
    let at = |policy: &str| {
        let mut policy = at_site(dir.path(), policy).build_batch().unwrap();
        replayed_on(&dir.path().join("workloads.csv"), &mut *policy, &cluster).unwrap()
    };
    let done = at("kueue");
    let admitted: Vec<i64> = done.0.decisions.iter().map(|decision| (decision.time + done.1) / 1_000).collect();
    assert_eq!(admitted, [0, 10]);
    assert_eq!(admissions(&done)["two"], [(100, "cpu=a".to_owned())]);
    assert!(done.0.attempts.iter().all(|attempt| attempt.host.is_some()));
}

/// Without quotas, a world of quotas is not a world.
#[test]
fn without_queues_and_nodes_nothing_can_be_replayed() {
    let dir = world(&[("x", "", &[("a", 8)])], &[("one", "x", "low", 0, 10, 3)]);
    let error =
        replayed(&dir.path().join("workloads.csv"), &PolicySpec::parse("kueue").unwrap()).unwrap_err().to_string();
    assert!(error.contains("expected ClusterQueues") && error.contains("--site-conf DIR"), "{error}");
}

/// The bundled sample shows each thing that Kueue does, and a change of its rules changes who waits.
#[test]
fn the_bundled_sample_shows_what_kueue_does() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-kueue");
    let site = Arc::new(SiteConf::read(&dir.join("conf")).unwrap().site);
    let done = |policy: &str| {
        let spec = PolicySpec::parse(policy).unwrap().at_site(&site).unwrap();
        replayed(&dir.join("workloads.csv"), &spec).unwrap().0
    };
    let usual = done("kueue");
    assert!(usual.jobs.len() == 240 && usual.jobs.iter().all(|job| job.finish.is_some()));
    let names: BTreeSet<&str> = usual.decisions.iter().map(|decision| decision.name.as_str()).collect();
    assert!(names.contains("preempted:InClusterQueue") && names.contains("preempted:InCohortReclamation"), "{names:?}");
    let reasons: BTreeSet<&str> = usual.reasons.iter().map(|reason| reason.reason.as_str()).collect();
    assert!(reasons.len() > 3, "{reasons:?}");
    let flavors: BTreeSet<&str> = usual.attempts.iter().filter_map(|attempt| attempt.flavors.as_deref()).collect();
    assert!(["a100", "l4"].iter().all(|model| flavors.iter().any(|flavor| flavor.ends_with(model))), "{flavors:?}");
    assert!(usual.attempts.iter().any(|attempt| attempt.resources.is_some()), "GPUs are held");
    for other in
        ["kueue:fair_sharing=true", "kueue:quota=batch/l4/nvidia.com/gpu=8", "kueue:when_can_borrow=TryNextFlavor"]
    {
        assert_ne!(done(other).attempts, usual.attempts, "{other}");
    }
}
