//! An anonymised trace holds none of the names of its source trace, but everything else.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::anonymise::{Key, anonymise};
use resched_ingest::{Options, ingest};
use resched_tables::model::JobRecord;
use resched_tables::records::Source;
use resched_tables::store::Trace;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history")
}

/// Ingests and anonymises; the folders of both traces.
fn anonymised(dir: &Path, paths: &[PathBuf]) -> (PathBuf, PathBuf) {
    let [before, after, key] = ["before", "after", "key"].map(|name| dir.join(name));
    ingest(paths, &before, &Options { counters: true, ..Options::default() }, &mut ()).unwrap();
    fs::write(&key, [7; 32]).unwrap();
    anonymise(&before, &after, &Key::read(&key).unwrap()).unwrap();
    (before, after)
}

fn records(trace: &Path) -> Vec<JobRecord> {
    Source::open(trace).unwrap().records().unwrap().collect::<Result<_, _>>().unwrap()
}

/// Every text of a trace, except words of resched and of Hadoop.
fn texts(trace: &Path) -> BTreeSet<String> {
    let mut texts: BTreeSet<Option<String>> = BTreeSet::new();
    for JobRecord { job, tasks, counters } in records(trace) {
        texts.extend([Some(job.job_id), job.name, job.user, job.queue, job.group]);
        texts.extend([job.qos, job.features, job.licenses, job.reservation, job.array, job.together]);
        texts.extend(job.depends_on.into_iter().map(Some));
        for task in tasks {
            texts.extend([Some(task.task.task_id), task.task.stage, task.task.resources]);
            texts.extend(task.splits.into_iter().flat_map(|row| [row.host, row.rack]));
            texts.extend(task.attempts.into_iter().flat_map(|row| [row.host, row.hosts, row.rack, row.error]));
        }
        texts.extend(counters.into_iter().flat_map(|row| [Some(row.id), Some(row.group), Some(row.name)]));
    }
    let trace = Trace::open(trace).unwrap();
    for row in trace.rows::<resched_tables::model::NodeRow>().unwrap() {
        let row = row.unwrap();
        texts.extend([Some(row.host), row.rack, row.resources, row.features]);
    }
    for source in &trace.manifest().sources {
        texts.extend([Some(source.path.clone()), Some(source.sha256.clone())]);
    }
    let kept = ["", "default", "/default-rack"];
    // A number of GPUs is no name; their model is.
    let is_name = |text: &String| !kept.contains(&text.as_str()) && !text.starts_with("gres/gpu=");
    texts.into_iter().flatten().filter(is_name).collect()
}

fn assert_without_names(before: &Path, after: &Path) {
    let names = texts(before);
    assert!(names.len() > 50, "only {} names", names.len());
    let left: Vec<_> = texts(after).intersection(&names).cloned().collect();
    assert!(left.is_empty(), "{left:?}");
    // As parts of other texts, and in the bytes of the files. Only some names, because each search takes its time.
    let mut said = texts(after).into_iter().collect::<Vec<_>>().join("\n");
    said += &format!("{:?}", Trace::open(after).unwrap().manifest());
    for entry in fs::read_dir(after).unwrap() {
        said += &String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap());
    }
    for name in names.iter().filter(|name| name.len() >= 6).step_by(names.len().div_ceil(100)) {
        assert!(!said.contains(name.as_str()), "{name}");
    }
}

/// A job without its names.
fn shape(mut record: JobRecord) -> JobRecord {
    let job = &mut record.job;
    (job.job_id, job.name, job.user, job.queue, job.group) = Default::default();
    (job.qos, job.features, job.licenses, job.reservation, job.demand_resources) = Default::default();
    job.array.iter_mut().chain(&mut job.together).for_each(String::clear);
    job.depends_on.iter_mut().for_each(String::clear);
    for task in &mut record.tasks {
        let row = &mut task.task;
        (row.job_id, row.task_id, row.stage, row.resources) = Default::default();
        row.depends_on.iter_mut().for_each(String::clear);
        for row in &mut task.splits {
            (row.task_id, row.host, row.rack) = Default::default();
        }
        for row in &mut task.attempts {
            (row.job_id, row.task_id, row.host, row.hosts, row.rack, row.error) = Default::default();
        }
    }
    for row in &mut record.counters {
        (row.id, row.group, row.name) = Default::default();
    }
    record
}

fn assert_same_shape(before: &Path, after: &Path) {
    let shapes = |trace: &Path| {
        let mut shapes: Vec<_> = records(trace).into_iter().map(|record| format!("{:?}", shape(record))).collect();
        shapes.sort();
        shapes
    };
    assert!(shapes(before) == shapes(after), "more than names differs");
    let rows = |trace: &Path| Trace::open(trace).unwrap().manifest().rows.clone();
    assert_eq!(rows(before), rows(after));
    let submits: Vec<_> = records(after).into_iter().map(|record| record.job.submit).collect();
    assert!(submits.is_sorted());
}

/// Jobs of Slurm have features, licences, resources and a quality of service besides.
#[test]
fn jobs_of_slurm_keep_their_shape_and_none_of_their_names() {
    let Some(traces) = crate::support::real_traces() else { return };
    let list = traces.join("../truth/slurm/mixed/sacct-all.txt.gz");
    if !list.is_file() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = anonymised(dir.path(), &[list]);
    let has = |word: &str| texts(&before).iter().any(|text| text.contains(word));
    assert!(has("license/lic=1") && has("normal"));
    assert_without_names(&before, &after);
    assert_same_shape(&before, &after);
}

#[test]
fn the_sample_keeps_its_shape_and_none_of_its_names() {
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = anonymised(dir.path(), &[sample()]);
    assert_without_names(&before, &after);
    assert_same_shape(&before, &after);
    let mut jobs = records(&after);
    let map =
        jobs.iter_mut().flat_map(|record| &record.tasks).find(|task| task.task.task_id.ends_with("_m_000000")).unwrap();
    assert!(map.task.task_id.starts_with(&format!("task_{}", map.task.job_id.strip_prefix("job_").unwrap())));
}

#[test]
fn real_traces_keep_their_shape_and_none_of_their_names() {
    let Some(traces) = crate::support::real_traces() else { return };
    for paths in [
        &["hadoop-mapreduce-2011/mumak/19-jobs.trace.json.gz", "hadoop-mapreduce-2011/mumak/19-jobs.topology.json.gz"]
            [..],
        &["spark/rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.zstd", "spark/delight/example_spark_event_log.txt"],
        &["dr-elephant/history"],
        &["hadoop-mapreduce-2011/rumen-small-trace/dispatch-sample-v20-jt-log.gz"],
    ] {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = paths.iter().map(|path| traces.join(path)).collect();
        let (before, after) = anonymised(dir.path(), &paths);
        assert_without_names(&before, &after);
        assert_same_shape(&before, &after);
    }
}

#[test]
fn references_still_meet() {
    let Some(traces) = crate::support::real_traces() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (before, after) =
        anonymised(dir.path(), &[traces.join("spark/rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.zstd")]);
    let (old, new) = (records(&before), records(&after));
    // Locality, stages and dependencies follow from names that match.
    let meets = |records: &[JobRecord]| {
        let tasks = records.iter().flat_map(|record| &record.tasks);
        let hosts: BTreeSet<_> =
            tasks.clone().flat_map(|task| &task.attempts).filter_map(|row| row.host.clone()).collect();
        let stages: BTreeSet<_> = tasks.filter_map(|task| task.task.stage.clone()).collect();
        let parents = records.iter().flat_map(|record| &record.tasks).filter(|task| {
            task.task.depends_on.iter().all(|stage| stages.contains(stage)) && !task.task.depends_on.is_empty()
        });
        (hosts.len(), stages.len(), parents.count())
    };
    assert_eq!(meets(&old), meets(&new));
    let machines = |trace: &Path| -> BTreeSet<String> {
        let rows = Trace::open(trace).unwrap().rows::<resched_tables::model::NodeRow>().unwrap();
        rows.map(|row| row.unwrap().host).collect()
    };
    let ran_on = |records: &[JobRecord]| -> BTreeSet<String> {
        let attempts = records.iter().flat_map(|record| &record.tasks).flat_map(|task| &task.attempts);
        attempts.filter_map(|row| row.host.clone()).collect()
    };
    assert_eq!(ran_on(&old).difference(&machines(&before)).count(), 0);
    assert_eq!(ran_on(&new).difference(&machines(&after)).count(), 0);
}

#[test]
fn a_run_is_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("key"), [1; 16]).unwrap();
    let key = Key::read(&dir.path().join("key")).unwrap();
    let error = anonymise(dir.path(), dir.path().join("out"), &key).unwrap_err();
    assert!(error.is_request(), "{error}");
    assert!(!dir.path().join("out").exists());
}
