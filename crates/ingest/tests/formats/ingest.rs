//! The rules that complete a job, applied to real histories.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use resched_ingest::formats::conf_xml::{self, JobConf};
use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Locality, NodeRow, Outcome, TaskKind};
use resched_tables::sink::Collected;
use resched_tables::store::Trace;

/// Ingests `path`; no job may come twice.
fn collect(path: PathBuf) -> Collected {
    let mut found = Collected::default();
    ingest_into(&[path], &mut found, &Options::default(), &mut ()).unwrap();
    let ids: BTreeSet<_> = found.jobs.iter().map(|record| &record.job.job_id).collect();
    assert_eq!(ids.len(), found.jobs.len(), "a job came twice");
    found
}

fn job<'a>(found: &'a Collected, id: &str) -> &'a JobRecord {
    found.jobs.iter().find(|record| record.job.job_id == id).unwrap()
}

/// Map attempts of that outcome by locality: node, rack, off, unknown.
fn locality(record: &JobRecord, outcome: Outcome) -> [usize; 4] {
    let attempts = || record.tasks.iter().flat_map(|task| &task.attempts);
    let count = |level| {
        let here = |attempt: &&AttemptRow| attempt.outcome == outcome && attempt.locality == level;
        attempts().filter(|attempt| attempt.kind == TaskKind::Map).filter(here).count()
    };
    [count(Some(Locality::Node)), count(Some(Locality::Rack)), count(Some(Locality::Off)), count(None)]
}

#[test]
fn locality_agrees_with_the_counters_of_the_jobs() {
    let Some(traces) = crate::support::real_traces() else { return };
    let small = traces.join("hadoop-mapreduce-2011/rumen-small-trace");
    let found = collect(small.join("dispatch-sample-v20-jt-log.gz"));
    let of = |id: &str, outcome| locality(job(&found, &format!("job_200904211745_{id}")), outcome);
    assert_eq!(of("0002", Outcome::Success), [0, 4, 16, 0]);
    assert_eq!(of("0003", Outcome::Success), [0, 0, 3, 0]);
    assert_eq!(of("0004", Outcome::Success), [14, 92, 25, 0]);
    // Failed and killed attempts name no rack; most get one from the job's other rows.
    let (failed, killed) = (of("0004", Outcome::Failed), of("0004", Outcome::Killed));
    assert_eq!((failed[0], killed[0]), (1, 6));
    assert_eq!((failed.iter().sum::<usize>(), killed.iter().sum::<usize>()), (3, 66));
    // Its own counters: DATA_LOCAL_MAPS 21, RACK_LOCAL_MAPS 131 of 201 launched.
    assert_eq!(14 + failed[0] + killed[0], 21);
    assert!(92 + failed[1] + killed[1] <= 131, "{failed:?} {killed:?}");

    let chukwa = |file: &str| {
        let [record] = <[_; 1]>::try_from(collect(traces.join("chukwa").join(file)).jobs).unwrap();
        record
    };
    assert_eq!(locality(&chukwa("JobHistory.log"), Outcome::Success), [10, 0, 0, 0]);
    let old = chukwa("Hadoop18JobHistoryLog.txt");
    assert_eq!(locality(&old, Outcome::Success), [8, 1, 0, 0]);
    assert_eq!(old.job.input_bytes, Some(1_003_479));
}

#[test]
fn real_confs_are_read_under_old_and_new_names() {
    let Some(traces) = crate::support::real_traces() else { return };
    let conf = |path: &str| {
        let bytes = std::fs::read(traces.join(path)).unwrap();
        let (conf, whole) = conf_xml::parse(&mut bytes.as_slice());
        assert!(whole, "{path}");
        conf
    };
    let text = |text: &str| Some(text.to_owned());
    for (name, reduce_heap) in [("sample-conf.file.xml", 640 << 20), ("sample-conf.file.new.xml", 650 << 20)] {
        let conf = conf(&format!("hadoop-mapreduce-2011/rumen-small-trace/{name}"));
        assert_eq!((conf.queue, conf.name), (text("TheQueue"), text("MyMRJob")));
        assert_eq!((conf.map_heap, conf.reduce_heap), (Some(640 << 20), Some(reduce_heap)));
    }
    assert_eq!(
        conf("hadoop-common-2014/hs/job_1329348432655_0001_conf.xml"),
        JobConf {
            queue: text("default"),
            name: text("Sleep job"),
            maps: Some(10),
            reduces: Some(1),
            map_memory: Some(512 << 20),
            reduce_memory: Some(512 << 20),
            map_cpu: None,
            reduce_cpu: None,
            map_heap: Some(500 << 20),
            reduce_heap: Some(500 << 20),
            slow_start: Some(0.05),
            map_speculative: Some(false),
            reduce_speculative: Some(false),
            block_size: Some(64 << 20),
            resources: Default::default(),
            version: text("0.23.0"),
        }
    );
    let folder = "dr-elephant/history/done/2018/05/17/000000";
    let conf = conf(&format!("{folder}/job_1526555215992_0001_conf.xml"));
    assert_eq!((conf.map_memory, conf.reduce_cpu), (Some(1 << 30), Some(1000)));
}

/// The version of Hadoop that the manifest of these files says.
fn version_of(files: &[(&str, &str)]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| dir.path().join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        std::fs::write(path, text).unwrap();
    }
    let manifest = ingest(&paths, dir.path().join("trace"), &Options::default(), &mut ()).unwrap();
    manifest.scheduler_version().map(str::to_owned)
}

#[test]
fn the_version_of_hadoop_is_kept_if_a_source_shows_it() {
    let history = |schema: &str| {
        let submitted = r#"{"type":"JOB_SUBMITTED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobSubmitted":{"jobid":"job_1416424547277_0002","jobName":"a","userName":"u","submitTime":1416424775281,"jobConfPath":""}}}"#;
        format!("Avro-Json\n{schema}\n{submitted}\n")
    };
    let (old, new) = (history(r#"{"fields":["failedMaps"]}"#), history(r#"{"fields":["failedMaps","killedMaps"]}"#));
    let conf = |version: &str| {
        format!(
            "<configuration><property><name>hadoop.common.configuration.version</name><value>{version}</value></property></configuration>"
        )
    };
    let (name, conf_name) = ("job_1416424547277_0002.jhist", "job_1416424547277_0002_conf.xml");
    assert_eq!(version_of(&[(name, &old)]), None);
    assert_eq!(version_of(&[(name, &new)]).as_deref(), Some("3"));
    assert_eq!(version_of(&[(name, &old), (conf_name, &conf("0.23.0"))]).as_deref(), Some("0.23.0"));
    assert_eq!(version_of(&[(name, &old), (conf_name, &conf("3.0.0"))]).as_deref(), Some("3.0.0"));
    let list = |more: &str| {
        format!(
            r#"{{"apps":{{"app":[{{"id":"application_1_1","user":"u","state":"FINISHED","startedTime":9,"finishedTime":10{more}}}]}}}}"#
        )
    };
    assert_eq!(version_of(&[("apps.json", &list(""))]), None);
    assert_eq!(version_of(&[("apps.json", &list(r#","resourceSecondsMap":{}"#))]).as_deref(), Some("3"));
}

#[test]
fn a_conf_says_which_other_resources_tasks_take() {
    let settings = [
        ("mapreduce.map.resource.yarn.io/gpu", "2"),
        ("mapreduce.map.resource.memory-mb", "2048"),
        ("mapreduce.map.resource.fpga", "1"),
        ("mapreduce.reduce.resource.yarn.io/gpu", "0"),
        ("mapreduce.reduce.resource.fpga", "-1"),
    ];
    let property = |(name, value)| format!("<property><name>{name}</name><value>{value}</value></property>");
    let text = format!("<configuration>{}</configuration>", settings.map(property).concat());
    let (conf, whole) = conf_xml::parse(&mut text.as_bytes());
    assert!(whole);
    let [maps, reduces] = &conf.resources;
    assert_eq!(maps.iter().map(|(name, &n)| (name.as_str(), n)).collect::<Vec<_>>(), [("fpga", 1), ("yarn.io/gpu", 2)]);
    assert!(reduces.is_empty());
}

#[test]
fn mended_records_are_counted() {
    let Some(traces) = crate::support::real_traces() else { return };
    let small = traces.join("hadoop-mapreduce-2011/rumen-small-trace");
    let skipped = |file: &str| collect(small.join(file)).skipped.into_iter().collect::<Vec<_>>();
    assert_eq!(skipped("truncated-job-tracker-log"), [("damaged-record".to_owned(), 1)]);
    assert_eq!(skipped("dispatch-sample-v20-jt-log.gz"), []);
    assert_eq!(skipped("sample-job-tracker-logs.gz"), []);
}

#[test]
fn a_trace_on_disk_holds_the_same() {
    let Some(traces) = crate::support::real_traces() else { return };
    let out = tempfile::tempdir().unwrap();
    let path = traces.join("hadoop-mapreduce-2011/rumen-small-trace/dispatch-sample-v20-jt-log.gz");
    let options = Options { counters: true, ..Options::default() };
    let manifest = ingest(&[path], out.path().join("trace"), &options, &mut ()).unwrap();
    let trace = Trace::open(&out.path().join("trace")).unwrap();
    assert_eq!(trace.manifest(), &manifest);
    let rows = |table: &str| manifest.rows.get(table).copied().unwrap();
    assert_eq!((rows("jobs"), rows("tasks"), rows("attempts")), (4, 154 + 49 + 3 + 4, 158 + 66 + 49 + 3 + 3 + 4));
    let nodes: Result<Vec<NodeRow>, _> = trace.rows().unwrap().collect();
    let racks: Vec<_> = nodes.unwrap().into_iter().filter_map(|node| node.rack).collect();
    // What Rumen's topology of the same log holds; it leaves out hosts without a rack.
    assert_eq!((racks.len(), racks.iter().collect::<BTreeSet<_>>().len()), (547, 41));
    assert!(rows("counters") > 0);
    let jobs: Result<Vec<_>, _> = trace.rows::<JobRow>().unwrap().collect();
    let input: Vec<_> = jobs.unwrap().into_iter().map(|job| job.input_bytes).collect();
    assert_eq!(input, [None, Some(2_019_250), Some(105), Some(4_431_391_494)]);
}
