//! Objects as a site keeps them, and what is wrong with them.

#![allow(clippy::unwrap_used, reason = "a test may end where it fails")]

use super::quantity::{LARGEST, Quantity, amount};
use super::site::Site;
use super::yaml;
use crate::kueue::{BorrowWithinCohort, FairSharing, Policy, QueueId, Strategy};

fn site(text: &str) -> Site {
    Site::read([("site.yaml", text)]).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    Site::read([("site.yaml", text)]).map(|_| ()).unwrap_err().to_string()
}

const FLAVOR: &str = "{kind: ResourceFlavor, metadata: {name: default}}";

fn queue(name: &str, spec: &str) -> String {
    format!("---\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec:\n  {spec}\n")
}

fn quota(nominal: &str) -> String {
    let quota = format!("{{name: cpu, nominalQuota: {nominal}}}");
    format!("resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: default, resources: [{quota}]}}]}}]")
}

#[test]
fn a_silent_queue_has_the_defaults_of_the_api() {
    let site = site(&format!("{FLAVOR}\n{}", queue("a", &quota("4"))));
    let queue = &site.queues[0];
    assert!(!queue.strict && queue.cohort.is_none() && queue.namespaces.is_none());
    assert_eq!(
        (queue.preemption.within, queue.preemption.reclaim, queue.preemption.borrow),
        (Policy::Never, Policy::Never, None)
    );
    assert!(queue.fungibility.stop_to_borrow && !queue.fungibility.stop_to_preempt && !queue.fungibility.preempt_first);
    assert_eq!(queue.weight, 1.0);
    assert_eq!(queue.groups[0].flavors[0].resources[0].nominal, 4_000);
    // No selector selects nothing.
    assert!(!site.takes(QueueId(0), "team"));
}

#[test]
fn older_names_mean_the_same() {
    let new = "cohortName: all, flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}";
    let old = "cohort: all, flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}";
    let read = |version: &str, spec: &str| {
        let text = format!(
            "apiVersion: kueue.x-k8s.io/{version}\nkind: ClusterQueue\nmetadata: {{name: a}}\nspec: {{{spec}}}"
        );
        let site = site(&text);
        assert!(site.notes.is_empty(), "{:?}", site.notes);
        (site.queues[0].cohort.clone(), site.queues[0].fungibility)
    };
    assert_eq!(read("v1beta1", old), read("v1beta2", new));
    assert_eq!(read("v1beta1", old).0.as_deref(), Some("all"));
}

#[test]
fn preemption_is_read_word_by_word() {
    let borrow = "borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}";
    let spec =
        format!("preemption: {{withinClusterQueue: LowerOrNewerEqualPriority, reclaimWithinCohort: Any, {borrow}}}");
    let preemption = site(&queue("a", &spec)).queues[0].preemption;
    assert_eq!((preemption.within, preemption.reclaim), (Policy::LowerOrNewerEqualPriority, Policy::Any));
    assert_eq!(preemption.borrow, Some(BorrowWithinCohort { threshold: Some(100) }));
    let error = refused(&queue("a", "preemption: {withinClusterQueue: Any}"));
    let expected = "expected one of Never, LowerPriority, LowerOrNewerEqualPriority, found \"Any\"";
    assert_eq!(
        error,
        format!("site.yaml:5:36: ClusterQueue a: spec.preemption.withinClusterQueue: {expected}; correct the word")
    );
}

#[test]
fn amounts_are_those_of_kubernetes() {
    // By hand, from the definition of quantities: cpu in thousandths, the rest whole, both rounded up.
    let cpu = [
        ("4", 4_000),
        ("100m", 100),
        ("1e3", 1_000_000),
        ("0.5", 500),
        ("1u", 1),
        ("+2", 2_000),
        (".25", 250),
        ("0", 0),
    ];
    for (text, expected) in cpu {
        assert_eq!(amount("cpu", text), Ok(expected), "{text}");
    }
    let rest = [
        ("2Gi", 2 << 30),
        ("1500m", 2),
        ("1.5Ki", 1_536),
        ("3k", 3_000),
        ("1E", 1_000_000_000_000_000_000),
        ("12e-1", 2),
    ];
    for (text, expected) in rest {
        assert_eq!(amount("memory", text), Ok(expected), "{text}");
    }
    assert_eq!(amount("memory", "1Ei"), Ok(LARGEST));
    assert_eq!(
        amount("memory", "0000000000000000000000000000000000000001.00000000000000000000000000000000000000"),
        Ok(1)
    );
    for text in [
        "-1",
        "2Ei",
        "1e40",
        "99999999999999999999",
        "1e99999999999",
        "",
        "x",
        "1.2.3",
        "1 Gi",
        "1ki",
        "--1",
        "e3",
        "1e",
        "NaN",
    ] {
        assert!(amount("memory", text).is_err(), "{text}");
    }
    assert_eq!(Quantity::parse("1103m").map(Quantity::to_f64), Ok(1.103));
}

#[test]
fn amounts_that_cannot_be_are_refused_with_their_line() {
    let text = |nominal: &str| format!("{FLAVOR}\n{}", queue("a", &quota(nominal)));
    let found = |nominal: &str| refused(&text(nominal));
    let negative = found("-4");
    assert!(negative.starts_with("site.yaml:6:"), "{negative}");
    let field = "ClusterQueue a: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: expected an amount";
    assert!(negative.contains(field) && negative.contains("\"-4\", which is negative"), "{negative}");
    assert!(found("9Q").contains("suffix is unknown"), "{}", found("9Q"));
    assert!(found("7Ei").contains("too large"), "{}", found("7Ei"));
    assert!(found("").contains("expected an amount, found nothing"), "{}", found(""));
}

#[test]
fn names_that_no_object_defines_are_refused() {
    let flavor = refused(&queue("a", &quota("4")));
    assert!(flavor.contains("ClusterQueue a") && flavor.contains("\"default\", which no object defines"), "{flavor}");
    let topology = refused("{kind: ResourceFlavor, metadata: {name: x}, spec: {topologyName: dc}}");
    assert!(topology.contains("ResourceFlavor x: spec.topologyName: expected the name of a Topology"), "{topology}");
}

/// Kueue keeps such a LocalQueue, too; its workloads wait for ever.
#[test]
fn a_local_queue_that_leads_nowhere_is_noted_with_its_line() {
    let site = site("\n{kind: LocalQueue, metadata: {name: main, namespace: t}, spec: {clusterQueue: gone}}");
    let error = site.lost_queues[0].to_string();
    assert!(
        error.starts_with("site.yaml:2:1: LocalQueue t/main: spec.clusterQueue: expected the name of a ClusterQueue"),
        "{error}"
    );
    assert_eq!(site.queue("t", "main"), None);
}

#[test]
fn objects_come_once() {
    let error = refused(&format!("{FLAVOR}\n---\n{FLAVOR}"));
    let expected = "site.yaml:3:1: ResourceFlavor default: metadata.name: expected each object once, found the one of site.yaml:1:1 again";
    assert!(error.starts_with(expected), "{error}");
    // The same name in two namespaces is another LocalQueue.
    let local = |namespace: &str| {
        format!(
            "---\n{{kind: LocalQueue, metadata: {{name: main, namespace: {namespace}}}, spec: {{clusterQueue: a}}}}\n"
        )
    };
    assert_eq!(site(&(local("t") + &local("u"))).local_queues.len(), 2);
}

#[test]
fn cohorts_in_a_circle_are_refused_with_the_circle() {
    let cohort = |name: &str, parent: &str| {
        format!("---\n{{kind: Cohort, metadata: {{name: {name}}}, spec: {{parentName: {parent}}}}}\n")
    };
    let error = refused(&(cohort("x", "a") + &cohort("a", "b") + &cohort("b", "c") + &cohort("c", "a")));
    assert!(error.contains("found the circle a → b → c → a; let one of them have no parent"), "{error}");
    let itself = refused(&cohort("a", "a"));
    assert!(itself.contains("the circle a → a"), "{itself}");
    assert_eq!(site(&(cohort("a", "b") + &cohort("x", "b"))).cohorts.len(), 2);
}

#[test]
fn lists_of_resources_must_agree() {
    let flavors = "flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1}]}]";
    let error = refused(&queue("a", &format!("resourceGroups: [{{coveredResources: [cpu, memory], {flavors}}}]")));
    assert!(error.contains("expected a quota for each of coveredResources, once: cpu, memory, found cpu"), "{error}");
    let twice = "resourceGroups: [{coveredResources: [cpu], flavors: []}, {coveredResources: [cpu], flavors: []}]";
    assert!(refused(&queue("a", twice)).contains("each resource in one group"), "{twice}");
}

#[test]
fn what_has_no_effect_is_noted_and_other_kinds_are_counted() {
    let text =
        "kind: ClusterQueue\nmetadata: {name: a}\nspec:\n  stopPolicy: Hold\n---\n{kind: Pod}\n---\n{kind: Pod}\n";
    let site = site(text);
    assert_eq!(site.notes[0].to_string(), "site.yaml:4:3: ClusterQueue a: spec.stopPolicy has no effect here");
    assert_eq!(site.notes.len(), 1);
    assert_eq!(site.skipped["Pod"], 2);
}

#[test]
fn lists_hold_objects_and_json_is_yaml() {
    let text =
        "{\"kind\": \"List\", \"items\": [\n {\"kind\": \"ResourceFlavor\",\n  \"metadata\": {\"name\": \"a\"}}]}";
    assert_eq!(site(text).flavors[0].place.line, 2);
    assert_eq!(site(&text.replace("\"List\"", "\"ResourceFlavorList\"")).flavors.len(), 1);
}

#[test]
fn fair_sharing_is_on_by_being_there() {
    let read = |rest: &str| {
        let text = format!("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{rest}");
        Site::read([("c", text.as_str())]).map(|site| site.configuration.unwrap_or_default().fair_sharing)
    };
    assert_eq!(read(""), Ok(None));
    assert_eq!(read("fairSharing: {}"), Ok(Some(FairSharing { first: Strategy::FinalShare, then_initial: true })));
    assert_eq!(read("fairSharing: {enable: false}"), Ok(None));
    let initial = "fairSharing: {preemptionStrategies: [LessThanInitialShare]}";
    assert_eq!(read(initial), Ok(Some(FairSharing { first: Strategy::InitialShare, then_initial: false })));
    assert!(read("fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}").is_err());
}

#[test]
fn selectors_choose_namespaces() {
    let spec = "namespaceSelector: {matchLabels: {dept: x}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [u]}]}";
    let namespace = |name: &str, dept: &str| {
        format!("---\n{{kind: Namespace, metadata: {{name: {name}, labels: {{dept: {dept}}}}}}}\n")
    };
    let site = site(&(queue("a", spec) + &namespace("t", "x") + &namespace("u", "x") + &namespace("v", "y")));
    let taken: Vec<bool> = ["t", "u", "v", "unknown"].iter().map(|name| site.takes(QueueId(0), name)).collect();
    assert_eq!(taken, [true, false, false, false]);
}

#[test]
fn hostile_yaml_ends_in_an_error() {
    let bomb = (1..12).fold("a0: &a0 [x]\n".to_owned(), |text, at| {
        let before = format!("*a{}, ", at - 1).repeat(9);
        text + &format!("a{at}: &a{at} [{before}x]\n")
    });
    let deep = "[".repeat(100_000);
    let nested = "[".repeat(70) + &"]".repeat(70);
    let cases = [
        (bomb.as_str(), "at most 4 Mi values"),
        (nested.as_str(), "at most 64 lists and maps"),
        ("a: &x [*x]", "expected"),
        ("a: 1\na: 2", "each key once"),
        ("? [a]\n: 1", "a name as key"),
        ("a: [1", "expected YAML"),
        ("a: *unknown", "expected"),
        ("a: \"\\q\"", "expected YAML"),
    ];
    for (text, expected) in cases {
        let error = yaml::read("x.yaml", text).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("x.yaml:") && error.contains(expected), "{error}");
    }
    assert!(yaml::read("x.yaml", &deep).is_err());
    assert!(refused("just text").contains("expected a map with kind and metadata"));
    assert!(refused("a: b").contains("kind: expected a name, found nothing"));
}

/// The last digit of a large file is read, too, and a file of one byte more is refused.
#[test]
fn a_file_is_read_up_to_its_limit_and_not_beyond() {
    let mut text = " ".repeat(yaml::LARGEST_FILE - 1) + "x";
    assert_eq!(yaml::read("x.yaml", &text).map(|documents| documents.len()), Ok(1));
    text.push(' ');
    assert!(yaml::read("x.yaml", &text).is_err());
}
