//! Queues and shares of small clusters.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use resched_tables::model::Reason;

use super::*;
use crate::queues::tree::names_on;
use crate::spec::PolicySpec;
use crate::testing::{Scenario, job, map};

#[test]
fn a_limit_in_percent_is_one_of_the_cluster() {
    // Four nodes of five containers are 20,480 MB.
    let finishes = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("queues.toml");
        std::fs::write(&file, text).unwrap();
        let one = job("job_1_0001").queue("a").maps(20, map(20_000));
        Scenario::containers(4, 5).job(one).finishes(&format!("yarn-fair:rules=2014,queues={}", file.display()))
    };
    let of_share = finishes("[queues.a]\nmax_memory_share = 0.25\n");
    assert_eq!(of_share, finishes("[queues.a]\nmax_memory_mb = 5120\n"));
    assert_ne!(of_share, finishes("[queues.a]\n"));
}

fn with_queues(paths: &[&str]) -> YarnFair {
    let queues = paths.iter().map(|&path| (path.to_owned(), FairQueue::default())).collect();
    let tree = QueueTree::from_paths(FairQueue::default(), queues).unwrap();
    let site = Site { yarn_fair: Some(tree), ..Site::default() };
    let spec = PolicySpec::parse("yarn-fair:rules=2014").unwrap().at_site(&site.into()).unwrap();
    YarnFair::new(&Settings::read(spec.values()).unwrap(), spec.site()).unwrap()
}

#[test]
fn a_node_that_is_kept_for_a_job_is_kept_from_others() {
    // Five containers on one node. The reduce of the first job needs two, so that the node is kept for it when one is free.
    let world = Scenario::containers(1, 5)
        .large_reduces(2)
        .job(job("job_1_0001").maps(1, map(3_000)).reduces(1, 5_000))
        .job(job("job_1_0002").each_map((0..20).map(|late| map(10_000 + 1_700 * late)).collect()));
    let reasons = world.reasons("yarn-fair:rules=2014", "job_1_0002");
    let kept = |&(_, reason, ref other): &(_, _, Option<String>)| {
        reason == Reason::Reserve && other.as_deref() == Some("job_1_0001")
    };
    assert!(reasons.iter().any(kept), "{reasons:?}");
}

#[test]
fn active_queues_share_level_by_level() {
    let mut fair = with_queues(&["both", "both.a", "both.b", "other"]);
    let places = ["both", "both.a", "both.b", "other"].map(|path| fair.tree.find(path).unwrap());
    let [both, a, b, other] = places;
    fair.queues[ROOT].busy = BTreeSet::from([both, other]);
    fair.queues[both].busy = BTreeSet::from([a, b]);
    let mut shares = |active: [u32; 4]| {
        for (place, jobs) in places.into_iter().zip(active) {
            fair.queues[place].running_apps = jobs;
        }
        fair.update_shares(Resources::of(8, 12_288));
        places.map(|place| fair.queues[place].fair_share.memory)
    };
    assert_eq!(shares([2, 1, 1, 1]), [6_144, 3_072, 3_072, 6_144]);
    assert_eq!(shares([1, 1, 0, 1]), [6_144, 6_144, 0, 6_144]);
    assert_eq!(shares([1, 0, 1, 0]), [12_288, 0, 12_288, 0]);
}

#[test]
fn a_job_goes_to_the_queue_that_it_names() {
    let mut fair = with_queues(&["etl", "etl.daily", "adhoc"]);
    let mut path = |name: &str| {
        let place = fair.leaf(names_on(name), 0);
        fair.tree.get(place).path.clone()
    };
    assert_eq!(path("etl.daily"), "root.etl.daily");
    assert_eq!(path("etl.new"), "root.etl.new", "made, as its parent has queues below it");
    assert_eq!(path("adhoc.x"), "root.adhoc", "a queue of jobs gets none below it");
    assert_eq!(path("etl"), "root.etl.default", "a queue with others below it holds no jobs");
    assert_eq!(path("ann"), "root.ann");
    assert_eq!(path("."), "root.default");
    assert_eq!(path("root"), "root.default");
    assert_eq!(path("root.ml.train"), "root.ml.train", "made with the queue above it");
    assert_eq!(path("ml.serve.eu"), "root.ml.serve.eu");
    assert_eq!(path("ml.train.night"), "root.ml.train", "it may hold jobs");
    assert_eq!(path("ml"), "root.ml.default");
}

#[test]
fn queues_that_jobs_name_are_queues_of_a_tree_though_no_file_names_them() {
    let one = |id: &str, queue: &str| job(id).queue(queue).maps(30, map(3_000));
    let daily = ["job_1_0001", "job_1_0002", "job_1_0003"].map(|id| one(id, "root.etl.daily"));
    let world = daily.into_iter().fold(Scenario::containers(1, 16), Scenario::job);
    let world = world.job(one("job_1_0004", "root.etl.hourly"));
    let declared = || -> Box<dyn Policy> { Box::new(with_queues(&["etl", "etl.daily", "etl.hourly"])) };
    let (made, declared) =
        (world.launches("yarn-fair:rules=2014"), world.launches_under("yarn-fair:rules=2014", declared));
    assert_eq!(made, declared);
    let last = |id: &str| made.iter().filter(|launch| launch.job == id).map(|launch| launch.at).max();
    assert!(last("job_1_0004") < last("job_1_0001"), "half of the cluster is the hourly job's");
}
