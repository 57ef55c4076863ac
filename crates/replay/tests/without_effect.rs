//! What a site, a cluster file or a trace says without an effect on a replay reaches its answer.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use resched_policies::SiteConf;
use resched_replay::{ClusterConfig, Memory, PolicySpec, RunTrace, Setup, Site, Source, World, unknown_hosts};
use resched_sim::cluster_file::keys_of;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::run::RunEngine;
use resched_tables::sink::Collected;
use resched_tables::validity::{Grade, Validity};

/// A job of Slurm in a partition, of so many processors on one machine, which runs for a minute.
fn job(id: &str, partition: &str, user: &str, cpus: i64, change: impl FnOnce(&mut TaskRow)) -> JobRecord {
    let outcome = Outcome::Success;
    let job = JobRow {
        job_id: id.to_owned(),
        framework: Some("slurm".to_owned()),
        queue: Some(partition.to_owned()),
        user: Some(user.to_owned()),
        submit: Some(id.len() as i64 * 1_000),
        requested_time: Some(600_000),
        outcome,
        ..JobRow::default()
    };
    let mut task = TaskRow {
        job_id: id.to_owned(),
        task_id: id.to_owned(),
        outcome,
        cpu_request: Some(1_000),
        instances: Some(cpus),
        gang: Some(true),
        ..TaskRow::default()
    };
    change(&mut task);
    let attempt = AttemptRow {
        job_id: id.to_owned(),
        task_id: id.to_owned(),
        run_time: Some(60_000),
        outcome,
        ..AttemptRow::default()
    };
    JobRecord {
        job,
        tasks: vec![TaskRecord { task, attempts: vec![attempt], splits: Vec::new() }],
        counters: Vec::new(),
    }
}

/// A log of four machines `n0` to `n3` with these jobs.
fn source(jobs: Vec<JobRecord>) -> Source {
    let node = |number| NodeRow { host: format!("n{number}"), cpu: Some(4_000), ..NodeRow::default() };
    let tables =
        Collected { engine: RunEngine::Batch, jobs, nodes: (0..4).map(node).collect(), ..Collected::default() };
    Source::tables(tables, RunTrace { path: "log".to_owned(), sha256: "0".to_owned(), ..RunTrace::default() })
}

fn plain() -> Source {
    source(vec![job("a", "p", "ann", 2, |_| {}), job("bb", "q", "bob", 2, |_| {})])
}

fn site(files: &[(&str, &str)]) -> SiteConf {
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
    SiteConf::read(dir.path()).unwrap()
}

/// What decides the answer of a policy in a world.
fn validity(source: &Source, cluster: ClusterConfig, site: Site, policy: &str) -> Validity {
    let world = World::open(source, Setup { cluster, site: Arc::new(site), ..Setup::default() }).unwrap();
    let policy = world.check(&PolicySpec::parse(policy).unwrap()).unwrap();
    world.replay(&policy, Memory).unwrap().info.validity
}

fn caveats(validity: &Validity) -> String {
    validity.caveats().into_iter().map(|fact| format!("{} {}\n", fact.says, fact.remedy)).collect()
}

/// The caveats of a policy at a site with this `slurm.conf`.
fn at_site(source: &Source, conf: &str, policy: &str) -> String {
    let SiteConf { site, cluster, .. } = site(&[("slurm.conf", conf)]);
    caveats(&validity(source, ClusterConfig::of_settings(cluster).unwrap(), site, policy))
}

const PARTITIONS: &str = "NodeName=n[0-3] CPUs=4\nPartitionName=p Nodes=n[0-1]\nPartitionName=q Nodes=n[2-3]\n";

#[test]
fn a_policy_without_partitions_is_not_measured_at_a_site_with_them() {
    let found = at_site(&plain(), PARTITIONS, "easy");
    assert!(found.contains("easy knows no partitions") && found.contains("is not the policy's alone"), "{found}");
    assert_eq!(at_site(&plain(), PARTITIONS, "slurm:version=24.11"), "");
    let open = "NodeName=n[0-3] CPUs=4\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL\n";
    assert!(!at_site(&plain(), open, "easy").contains("partitions"));
}

/// A real daemon decides in steps. An algorithm that decides at each event gains by that alone, so the policy is not all of the change.
#[test]
fn a_textbook_algorithm_is_not_measured_on_the_log_of_a_daemon() {
    let ran_by = |framework: &str| {
        let job = |id: &str| {
            let mut record = job(id, "p", "ann", 1, |_| {});
            record.job.framework = Some(framework.to_owned());
            record
        };
        source(vec![job("a"), job("bb")])
    };
    let found =
        |framework, policy| caveats(&validity(&ran_by(framework), ClusterConfig::default(), Site::default(), policy));
    for policy in ["easy", "batch-fifo", "conservative"] {
        assert!(found("slurm", policy).contains(&format!("{policy} knows no cycles of Slurm's scheduler")));
        assert!(found("spark", policy).contains(&format!("{policy} knows no offers of Spark's scheduler")));
        assert_eq!(found("swf", policy), "");
    }
    assert!(!found("slurm", "slurm").contains("cycles") && !found("spark", "spark").contains("offers"));
}

#[test]
fn machines_of_the_log_that_the_configuration_lacks_are_said() {
    let conf = "NodeName=n[0-1] CPUs=4\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL\n";
    let found = at_site(&plain(), conf, "slurm");
    assert!(found.contains("ran on 4 machines of which the configuration lacks 2 (n[2-3])"), "{found}");
    let mut asked = ClusterConfig::of_settings(site(&[("slurm.conf", conf)]).cluster).unwrap();
    asked.resize(2);
    assert_eq!(unknown_hosts(&asked, &plain()).unwrap(), None, "two machines are what the question is about");
}

#[test]
fn keys_of_the_other_engine_are_said() {
    let cluster = ClusterConfig::parse("[heartbeat]\njitter = 7\n").unwrap();
    let found = validity(&plain(), cluster, Site::default(), "easy");
    assert!(caveats(&found).contains("`heartbeat.jitter`"), "{found:?}");
    assert_eq!(found.grade(), Grade::Assumed);
    let hadoop = Source::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history.toml")).unwrap();
    let cluster = ClusterConfig::parse("[machines]\ncores = 7.0\n").unwrap();
    assert!(caveats(&validity(&hadoop, cluster, Site::default(), "fifo")).contains("`machines.cores`"));
    assert_eq!(keys_of(&"[a]\nb = 1\n".parse().unwrap()), BTreeSet::from(["a.b".to_owned()]));
}

#[test]
fn resources_that_no_job_asks_for_are_said() {
    let conf = "NodeName=n[0-3] CPUs=4 Gres=gpu:2\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL\n";
    assert!(
        at_site(&plain(), conf, "slurm").contains("The machines have gres/gpu, but no job of the trace asks for any")
    );
    let asks = source(vec![
        job("a", "p", "ann", 1, |task| task.resources = Some("gres/gpu=1".to_owned())),
        job("bb", "q", "bob", 1, |_| {}),
    ]);
    assert_eq!(at_site(&asks, conf, "slurm:version=24.11"), "");
}

#[test]
fn jobs_that_ask_for_a_number_of_machines_are_said_of_policies_that_do_not_count_them() {
    let wide = source(vec![job("a", "p", "ann", 4, |task| task.machines = Some(2)), job("bb", "q", "bob", 1, |_| {})]);
    let found = caveats(&validity(&wide, ClusterConfig::default(), Site::default(), "easy"));
    assert!(found.contains("easy knows no numbers of machines that jobs ask for"), "{found}");
    assert_eq!(caveats(&validity(&wide, ClusterConfig::default(), Site::default(), "slurm:version=24.11")), "");
}
