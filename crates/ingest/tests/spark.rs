//! Spark's logs as they lie in a folder: packed, rolled over, of several applications; and logs of a real scheduler beside what it did.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::model::{JobRow, Locality, NodeChange, TaskRecord};
use resched_tables::records;
use resched_tables::sink::Collected;
use resched_tables::store::Manifest;

#[test]
fn a_log_that_rolls_over_is_one_application() {
    let Some(traces) = support::real_traces() else { return };
    let folder = traces.join("spark/rapids-tools/eventlog_v2_local-1623876083964");
    let mut found = Collected::default();
    let manifest = ingest_into(&[folder], &mut found, &Options::default(), &mut ()).unwrap();
    let attempts: Vec<usize> =
        found.jobs.iter().map(|record| record.tasks.iter().map(|task| task.attempts.len()).sum()).collect();
    assert_eq!(attempts, [2801]);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let sources: Vec<_> = manifest.sources.iter().map(|source| (source.bytes, source.format.as_str())).collect();
    assert_eq!(sources, [(496_917, "spark"), (48_700, "spark")]);
}

#[test]
fn a_folder_of_logs_is_read_whole() {
    let Some(traces) = support::real_traces() else { return };
    let mut found = Collected::default();
    let apart = ingest_into(&[traces.join("spark")], &mut found, &Options::default(), &mut ()).unwrap_err();
    assert!(apart.to_string().contains("expected the jobs of one cluster, found those of 14"), "{apart}");
    let mut found = Collected::default();
    let options = Options { merge: true, ..Options::default() };
    ingest_into(&[traces.join("spark")], &mut found, &options, &mut ()).unwrap();
    let mut applications: Vec<_> = found.jobs.iter().map(|record| record.job.group.clone().unwrap()).collect();
    applications.sort();
    applications.dedup();
    // Sixteen logs and a folder; two logs have no job.
    assert_eq!((found.jobs.len(), applications.len()), (62, 15));
}

/// The folder with what a real Spark scheduler did.
fn truth() -> Option<PathBuf> {
    let folder = support::real_traces()?.parent().unwrap().join("truth/spark");
    folder.is_dir().then_some(folder)
}

/// A row of `truth.csv.gz`, by column.
type Row = BTreeMap<String, String>;

fn rows(run: &Path) -> Vec<Row> {
    let packed = std::fs::File::open(run.join("truth.csv.gz")).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| names.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

fn read(paths: &[PathBuf]) -> (Collected, Manifest) {
    let mut found = Collected::default();
    let options = Options { merge: true, ..Options::default() };
    let manifest = ingest_into(paths, &mut found, &options, &mut ()).unwrap();
    assert_eq!(found.applications, manifest.applications);
    (found, manifest)
}

/// How many tasks had preferred hosts, how many of them have a place, how many places are right, and the same of the drawn ones.
#[derive(Debug, Default, Clone, Copy)]
struct Places {
    tasks: usize,
    seen: [usize; 2],
    drawn: [usize; 2],
    of_all: [usize; 2],
}

#[allow(clippy::print_stderr, reason = "a test says what it compared")]
#[test]
fn the_tables_hold_what_a_real_scheduler_did() {
    let Some(truth) = truth() else { return };
    let mut runs: Vec<PathBuf> = std::fs::read_dir(&truth).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.retain(|run| run.is_dir());
    runs.sort();
    assert!(!runs.is_empty());
    let mut all = Places::default();
    for run in &runs {
        let (found, manifest) = read(&[run.join("eventlog.json.gz")]);
        let places = compare(&rows(run), &found);
        let made = manifest.made_rows.get("splits.host").copied().unwrap_or(0);
        assert_eq!(made as usize, places.drawn[1], "{}", run.display());
        eprintln!("{}: {places:?}", run.file_name().unwrap().display());
        all.tasks += places.tasks;
        for n in [0, 1] {
            all.seen[n] += places.seen[n];
            all.drawn[n] += places.drawn[n];
            all.of_all[n] += places.of_all[n];
        }
    }
    eprintln!("all: {all:?}");
    assert_eq!(all.seen[0], all.seen[1], "a host under NODE_LOCAL is always preferred");
    assert!(all.drawn[0] * 100 >= all.drawn[1] * 40, "{all:?}");
}

/// Compares the tables of a log with what happened.
fn compare(rows: &[Row], found: &Collected) -> Places {
    let mut places = Places::default();
    let tasks: BTreeMap<&str, (&TaskRecord, &JobRow)> = (found.jobs.iter())
        .flat_map(|record| record.tasks.iter().map(|task| (task.task.task_id.as_str(), (task, &record.job))))
        .collect();
    assert_eq!(tasks.len(), rows.len());
    for row in rows {
        let of = |name: &str| row[name].as_str();
        let number = |name: &str| of(name).parse::<i64>().ok();
        let id = format!("{}_job_{}_s{}_{}", of("app"), of("job"), of("stage"), of("index"));
        let (record, job) = tasks[id.as_str()];
        let pool = Some(of("pool")).filter(|pool| !pool.is_empty()).unwrap_or("default");
        let expected = (Some(pool), number("job_submit_ms"), number("job_end_ms"));
        assert_eq!((job.queue.as_deref(), job.submit, job.finish), expected, "{id}");
        let [attempt] = record.attempts.as_slice() else { panic!("{id}: {:?}", record.attempts) };
        let times = (attempt.queued, attempt.start, attempt.finish);
        assert_eq!(times, (number("stage_submit_ms"), number("launch_ms"), number("finish_ms")), "{id}");
        assert_eq!(attempt.host.as_deref(), Some(of("host")), "{id}");
        let level = match of("locality") {
            "NODE_LOCAL" => Some(Locality::Node),
            "ANY" => Some(Locality::Off),
            _ => None,
        };
        assert_eq!(attempt.locality, level, "{id}");
        places.count(record, of("preferred"), level);
    }
    places
}

impl Places {
    /// Counts the places of a task, which truly prefers these hosts.
    fn count(&mut self, record: &TaskRecord, preferred: &str, level: Option<Locality>) {
        let preferred: BTreeSet<&str> = preferred.split_whitespace().collect();
        if !record.task.depends_on.is_empty() {
            assert!(record.splits.is_empty(), "{record:?}");
            return;
        }
        self.tasks += usize::from(!preferred.is_empty());
        let of = match level {
            Some(Locality::Node) => &mut self.seen,
            _ => &mut self.drawn,
        };
        for split in &record.splits {
            let is_right = preferred.contains(split.host.as_deref().unwrap());
            for counts in [&mut *of, &mut self.of_all] {
                counts[0] += usize::from(is_right);
                counts[1] += 1;
            }
        }
    }
}

#[test]
fn logs_of_one_cluster_give_the_executors_of_each_application() {
    let Some(truth) = truth() else { return };
    let logs: Vec<PathBuf> =
        ["a", "b", "c", "d"].map(|name| truth.join(format!("multi-{name}/eventlog.json.gz"))).into();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("T");
    let options = Options { merge: true, ..Options::default() };
    let manifest = ingest(&logs, trace.clone(), &options, &mut ()).unwrap();
    let cores: Vec<&str> = manifest.applications.values().map(|own| own["spark.cores.max"].as_str()).collect();
    assert_eq!(cores, ["8", "8", "12", "4"]);
    assert!(manifest.applications.values().all(|own| own["spark.version"] == "3.5.6"));
    let nodes = records::Source::open(&trace).unwrap().nodes().unwrap();
    assert_eq!(nodes, read(&logs).0.nodes);
    // No host ever has more than its two cores, whoever holds them.
    let mut held: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let mut by_time: Vec<_> = nodes.iter().collect();
    by_time.sort_by_key(|row| (row.time, row.event != NodeChange::Remove));
    let mut most = BTreeMap::new();
    for row in by_time {
        let group = row.group.as_deref().unwrap();
        assert!(manifest.applications.contains_key(group));
        held.insert((&row.host, group), row.cpu.unwrap_or(0));
        let sum: i64 = held.iter().filter(|((host, _), _)| *host == row.host).map(|(_, cpu)| cpu).sum();
        let of_host = most.entry(row.host.as_str()).or_insert(0);
        *of_host = sum.max(*of_host);
    }
    assert_eq!(most.values().copied().collect::<BTreeSet<i64>>(), BTreeSet::from([2_000]));
    assert_eq!(most.len(), 8);
    assert!(held.values().all(|&cpu| cpu == 0), "each application has ended");
}

#[test]
fn standard_input_stands_alone_and_needs_its_format() {
    let refused = |paths: &[&str], format: Option<&str>| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let options = Options { format: format.map(str::to_owned), ..Options::default() };
        let error = ingest_into(&paths, &mut Collected::default(), &options, &mut ()).unwrap_err();
        assert!(error.is_request(), "{error}");
        error.to_string()
    };
    for (paths, format) in [(&["-"][..], None), (&["-", "-"], Some("spark")), (&["-"], Some("google2011"))] {
        let error = refused(paths, format);
        assert!(error.contains("name it with --format"), "{error}");
    }
}
