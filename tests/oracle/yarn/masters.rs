//! What a site knows of a golden schedule: the histories of its application masters (`.jhist`). A replay of these histories under another
//! scheduler gives the golden schedule of that scheduler, and `calibrate` finds the nodes.
//!
//! Waiting for the master's container is a product of the scheduler that ran. A replay that takes it for a part of the job cannot give
//! shorter waits than the log has.

use std::collections::BTreeMap;
use std::path::Path;

use resched_analysis::calibration::{Maker, calibrate, cluster_file};
use resched_tables::model::{JobRecord, TaskKind};
use resched_tables::records::Source;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// When the clock of the golden schedules reads 0, ms since the epoch.
const ZERO: i64 = 1_400_000_000_000;

/// A golden schedule as histories in a folder, ingested as the trace `trace`.
struct Logged {
    dir: TempDir,
    trace: Trace,
}

impl Logged {
    fn of(world: &str, config: &str, root: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let histories = dir.path().join("history");
        std::fs::create_dir(&histories).unwrap_or_else(|error| panic!("{error}"));
        let schedule = Schedule::read(&root.join(format!("golden/{world}-{config}.csv.gz")));
        let base = dir.path().join("base");
        let sources = ["trace", "topology"].map(|part| root.join(format!("traces/{}.{part}.json.gz", twin(world))));
        ingest(&sources, &base, &resched_ingest::Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"));
        for record in Source::open(&base).and_then(|source| source.records()).unwrap_or_else(|error| panic!("{error}"))
        {
            let record = record.unwrap_or_else(|error| panic!("{error}"));
            let file = histories.join(format!("{}.jhist", record.job.job_id));
            let overhead = overhead(world, root);
            std::fs::write(file, schedule.history(&record, overhead)).unwrap_or_else(|error| panic!("{error}"));
        }
        let at = dir.path().join("trace");
        let options = resched_ingest::Options::default();
        ingest(&[histories], &at, &options, &mut ()).unwrap_or_else(|error| panic!("{error}"));
        let trace = Trace::open(&at).unwrap_or_else(|error| panic!("{error}"));
        Self { dir, trace }
    }

    /// The mean wait of a replay on the cluster of the world, ms.
    fn replayed(&self, world: &str, root: &Path, policy: &str) -> f64 {
        let mut config =
            ClusterConfig::read(&root.join(format!("clusters/{world}.toml"))).unwrap_or_else(|error| panic!("{error}"));
        config.am.withdraws = Withdraws::Grant;
        let cluster = Cluster::for_trace(config, &self.trace).unwrap_or_else(|error| panic!("{error}"));
        let scope = Scope { seed: 1, ..Scope::default() };
        let Loaded { workload, .. } = load(&self.trace, &cluster, &scope).unwrap_or_else(|error| panic!("{error}"));
        let world = World { cluster, workload };
        let mut built =
            PolicySpec::parse(policy).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"));
        mean_wait(&world.replay(policy, &mut *built, true).events)
    }
}

/// The world whose trace a world has: worlds p are worlds y with other phases.
fn twin(world: &str) -> String {
    world.replacen('p', "y", 1)
}

fn overhead(world: &str, root: &Path) -> i64 {
    let config =
        ClusterConfig::read(&root.join(format!("clusters/{world}.toml"))).unwrap_or_else(|error| panic!("{error}"));
    config.jobs.launch_overhead
}

/// An attempt: task, attempt, host, level, start, end, state.
type GoldenAttempt = (String, i64, String, i64, i64, i64, String);

/// The rows of a golden file by job.
#[derive(Default)]
struct Schedule {
    /// When the master was granted its container, and where.
    masters: BTreeMap<String, (i64, String)>,
    /// Submission and end.
    jobs: BTreeMap<String, (i64, i64)>,
    /// Attempts by job.
    attempts: BTreeMap<String, Vec<GoldenAttempt>>,
}

impl Schedule {
    fn read(file: &Path) -> Self {
        let (events, ends) = golden(file);
        let mut schedule = Self::default();
        let number = |text: &str| text.parse::<i64>().unwrap_or_else(|error| panic!("{text}: {error}"));
        for row in &events {
            let fields: Vec<&str> = row.split(',').collect();
            match fields[..] {
                [at, "A", job, "AM", host, ..] => {
                    schedule.masters.insert(job.to_owned(), (number(at), host.to_owned()));
                }
                [_, "J", job, submit, _, finish] => {
                    schedule.jobs.insert(job.to_owned(), (number(submit), number(finish)));
                }
                _ => {}
            }
        }
        for row in &ends {
            let fields: Vec<&str> = row.split(',').collect();
            let [finish, "F", job, task, host, level, attempt, start, state] = fields[..] else { panic!("{row}") };
            let ended = (
                task.to_owned(),
                number(attempt),
                host.to_owned(),
                number(level),
                number(start),
                number(finish),
                state.to_owned(),
            );
            schedule.attempts.entry(job.to_owned()).or_default().push(ended);
        }
        schedule
    }

    /// The history of a job, with the facts of the job that the schedule does not hold: its user, queue and input.
    fn history(&self, record: &JobRecord, overhead: i64) -> String {
        let id = record.job.job_id.as_str();
        let number = id.strip_prefix("job_").unwrap_or(id);
        let (granted, host) = &self.masters[id];
        let (submit, finish) = self.jobs[id];
        let at = |time: i64| ZERO + time;
        let mut events = vec![
            event(
                "AM_STARTED",
                json!({"applicationAttemptId": format!("appattempt_{number}_000001"),
                "startTime": at(granted + overhead), "containerId": format!("container_{number}_01_000001"),
                "nodeManagerHost": host, "nodeManagerPort": 8041, "nodeManagerHttpPort": 8042}),
            ),
            event(
                "JOB_SUBMITTED",
                json!({"jobid": id, "jobName": "j", "userName": record.job.user, "submitTime": at(submit),
                "jobQueueName": record.job.queue}),
            ),
            event(
                "JOB_INITED",
                json!({"jobid": id, "launchTime": at(granted + overhead + 1),
                "totalMaps": record.job.declared_maps, "totalReduces": record.job.declared_reduces, "jobStatus": "INITED"}),
            ),
        ];
        for reported in &record.tasks {
            events.extend(self.task(number, id, reported));
        }
        events.push(event("JOB_FINISHED", json!({"jobid": id, "finishTime": at(finish)})));
        format!("Avro-Json\n{{\"type\":\"record\"}}\n{}", events.concat())
    }

    fn task(&self, number: &str, job: &str, reported: &resched_tables::model::TaskRecord) -> Vec<String> {
        let at = |time: i64| ZERO + time;
        let (kind, letter) = match reported.task.kind {
            TaskKind::Map => ("MAP", 'm'),
            _ => ("REDUCE", 'r'),
        };
        let place =
            reported.task.task_id.rsplit('_').next().and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
        let id = format!("task_{number}_{letter}_{place:06}");
        let hosts: Vec<&str> = reported.splits.iter().filter_map(|split| split.host.as_deref()).collect();
        let racks: BTreeMap<&str, &str> =
            reported.splits.iter().filter_map(|split| Some((split.host.as_deref()?, split.rack.as_deref()?))).collect();
        let of_task = self.attempts[job].iter().filter(|attempt| attempt.0 == format!("{letter}{place}"));
        let first = of_task.clone().map(|attempt| attempt.4).min().unwrap_or_default();
        let last = of_task.clone().map(|attempt| attempt.5).max().unwrap_or_default();
        let mut events = vec![event(
            "TASK_STARTED",
            json!({"taskid": id, "taskType": kind, "startTime": at(first),
            "splitLocations": hosts.join(",")}),
        )];
        for (_, attempt, host, level, start, finish, state) in of_task {
            let name = format!("attempt_{number}_{letter}_{place:06}_{attempt}");
            let locality = ["NODE_LOCAL", "RACK_LOCAL", "OFF_SWITCH"].get(usize::try_from(*level).unwrap_or(2));
            events.push(event(
                &format!("{kind}_ATTEMPT_STARTED"),
                json!({"taskid": id, "taskType": kind, "attemptId": name,
                "startTime": at(*start), "trackerName": host, "httpPort": 8080, "shufflePort": 13562,
                "containerId": "", "locality": locality, "avataar": "VIRGIN"}),
            ));
            let rack = format!("/{}", host.split('-').next().unwrap_or_default());
            assert!(racks.get(host.as_str()).is_none_or(|known| *known == rack), "{host} is in {rack}");
            let mut end = json!({"taskid": id, "taskType": kind, "attemptId": name, "finishTime": at(*finish), "hostname": host,
                "rackname": rack});
            if state != "SUCCEEDED" {
                end["status"] = json!("KILLED");
                events.push(event(&format!("{kind}_ATTEMPT_KILLED"), end));
                continue;
            }
            end["taskStatus"] = json!("SUCCEEDED");
            if kind == "REDUCE" {
                // Under `reduce = "r0"` there is no shuffle: what is left after it is the logged reduce phase.
                let phase = reported
                    .attempts
                    .iter()
                    .find_map(|attempt| attempt.finish?.checked_sub(attempt.sort_finish?))
                    .unwrap_or_default();
                end["shuffleFinishTime"] = json!(at(finish - phase));
                end["sortFinishTime"] = json!(at(finish - phase));
            }
            events.push(event(&format!("{kind}_ATTEMPT_FINISHED"), end));
        }
        events.push(event(
            "TASK_FINISHED",
            json!({"taskid": id, "taskType": kind, "finishTime": at(last), "status": "SUCCEEDED"}),
        ));
        events
    }
}

fn event(kind: &str, fields: Value) -> String {
    format!("{}\n\n", json!({"type": kind, "event": {"org.apache.hadoop.mapreduce.jobhistory.X": fields}}))
}

/// The mean time from the submission of a job to the grant of its first task, of rows J, ms.
fn mean_wait(events: &[String]) -> f64 {
    let waits = events.iter().filter_map(|row| match row.split(',').collect::<Vec<_>>()[..] {
        [_, "J", _, submit, launch, _] => launch.parse::<f64>().ok().zip(submit.parse::<f64>().ok()),
        _ => None,
    });
    let waits: Vec<f64> = waits.map(|(launch, submit)| launch - submit).collect();
    waits.iter().sum::<f64>() / waits.len() as f64
}

/// The log of one scheduler, replayed under the other, gives the waits of the other. While the wait for the master's container was taken
/// for initialisation, the replays of logs of the Capacity Scheduler waited several times as long as the Fair Scheduler's jobs do.
#[test]
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn the_log_of_one_scheduler_gives_the_waits_of_another() {
    let Some(root) = shared("oracle-yarn") else { return };
    let configurations = configurations(&root);
    let mut errors = Vec::new();
    for (world, ran, other) in [
        ("y7", "capq", "fair"),
        ("y7", "fair", "capq"),
        ("p5", "capq", "fair"),
        ("p5", "fair", "capq"),
        ("y6", "capr", "fairq"),
        ("p1", "cap0", "fair"),
        ("p2", "fifo", "fair"),
        ("p2", "fair", "cap40"),
        ("y4", "fifo", "fair"),
    ] {
        let logged = Logged::of(world, ran, &root);
        let log = mean_wait(&golden(&root.join(format!("golden/{world}-{ran}.csv.gz"))).0);
        let truth = mean_wait(&golden(&root.join(format!("golden/{world}-{other}.csv.gz"))).0);
        let found = logged.replayed(world, &root, &configurations[other].policy);
        let error = found / truth - 1.0;
        eprintln!("{world}: {ran} {log:.0} ms; {other} {truth:.0} ms, replayed {found:.0} ms, {:+.1} %", error * 100.0);
        errors.push(error.abs());
    }
    assert!(errors.iter().all(|&error| error < 0.05), "{errors:?}");
}

/// Nodes of 8,192 MB and 8 vcores stay what they are, although most tasks at once and a master would need more.
#[test]
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn calibrate_finds_the_nodes_of_a_golden_schedule() {
    let Some(root) = shared("oracle-yarn") else { return };
    for (world, config, memory, vcores) in [
        ("y1", "cap40", 8_192, 8),
        ("p1", "fair", 8_192, 8),
        ("y2", "fifo", 8_192, 8),
        ("p2", "cap0", 8_192, 8),
        ("y3", "fair", 8_192, 8),
        ("y5", "capq", 8_192, 8),
    ] {
        let logged = Logged::of(world, config, &root);
        let found = calibrate(logged.dir.path().join("trace").as_path()).unwrap_or_else(|error| panic!("{error}"));
        let maker = Maker { version: String::new(), path: String::new(), sha256: String::new() };
        let file = cluster_file(&found, &maker);
        let lines: Vec<&str> =
            file.lines().filter(|line| line.starts_with("memory_mb") || line.starts_with("vcores")).collect();
        eprintln!("{world}-{config}: {lines:?}");
        let expected = [format!("memory_mb = {memory} "), format!("vcores = {vcores} ")];
        let agree = lines.iter().zip(&expected).all(|(line, expected)| line.starts_with(expected.as_str()));
        assert!(agree && lines.len() == 2, "{world}-{config}: {lines:?}");
        let containers = file.split_once("[containers]").and_then(|(_, rest)| rest.split("\n[").next());
        assert!(containers.is_some_and(|part| !part.contains("at_least")), "{file}");
    }
}
