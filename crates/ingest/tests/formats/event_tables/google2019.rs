//! Google's traces of 2019. Their tables were not available, so these are written after the published protocol
//! buffers of the trace. The Kaggle sample is real.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Float32Array, Int64Array, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use resched_tables::model::{NodeChange, Outcome, Priority};

use super::Found;
use crate::support;

/// As BigQuery exports it: 64-bit integers are texts, and null fields are left out.
const COLLECTIONS: &str = r#"
{"time":"0","type":"0","collection_id":"270501","scheduling_class":"2","collection_type":"0","priority":"200","user":"u","collection_name":"n","collection_logical_name":"l","parent_collection_id":"77","start_after_collection_ids":["5","6"],"vertical_scaling":"1","scheduler":"0"}
{"time":"600000000","type":"3","collection_id":"270501","scheduling_class":"2","collection_type":"0","priority":"200"}
{"time":"700000000","type":"6","collection_id":"270501","collection_type":"0"}
{"time":600000000,"type":0,"collection_id":42,"collection_type":0,"priority":103,"scheduling_class":0,"start_after_collection_ids":[]}
{"time":600000000,"type":0,"collection_id":43,"collection_type":1,"priority":103}
"#;

/// In no order of time; the same events nested and flattened, as numbers, texts and names.
const INSTANCES: &str = r#"
{"time":"650000000","type":"4","collection_id":"270501","collection_type":"0","instance_index":"3","machine_id":"9001"}
{"time":"650000000","type":"0","collection_id":"270501","collection_type":"0","instance_index":"3","machine_id":"0"}
{"time":"0","type":"3","collection_id":"270501","collection_type":"0","instance_index":"3","machine_id":"9001","resource_request":{"cpus":0.02,"memory":0.5}}
{"time":"0","type":"0","collection_id":"270501","collection_type":"0","instance_index":"3","priority":"200","resource_request":{"cpus":0.01,"memory":0.5}}
{"time":660000000.0,"type":"SCHEDULE","collection_id":270501,"collection_type":"JOB","instance_index":3,"machine_id":-1,"resource_request.cpus":"0.25"}
{"time":"655000000","type":"1","collection_id":"270501","instance_index":"3","machine_id":null,"resource_request_cpus":0.25}
{"time":"656000000","type":"2","collection_id":"270501","instance_index":"3"}
{"time":"665000000","type":"10","collection_id":"270501","instance_index":"3"}
{"time":"670000000","type":"6","collection_id":"270501","instance_index":"3"}
{"time":"9223372036854775807","type":"7","collection_id":"270501","instance_index":"3"}
{"time":"600000000","type":"0","collection_id":"43","collection_type":"1","instance_index":"0"}
{"time":"600000000","type":"0","collection_id":"42","collection_type":"0","instance_index":"10"}
{"time":"600000001","type":"7","collection_id":"42","collection_type":"0","instance_index":"10"}
{"time":"600000000","type":"11","collection_id":"42","collection_type":"0","instance_index":"2"}
{"time":"600000000","type":"0","collection_id":"42",
{"time":{"a":1},"type":[0],"collection_id":true,"instance_index":"1"}
"#;

const MACHINES: &str = r#"
{"time":"0","machine_id":"9001","type":"1","switch_id":"s1","capacity":{"cpus":0.5,"memory":0.25},"platform_id":"p"}
{"time":"900000000","machine_id":"9001","type":"2"}
{"time":"950000000","machine_id":"9001","type":"1","switch_id":"s1","capacity":{"cpus":1,"memory":0.25}}
"#;

const USAGE: &str = r#"{"start_time":"1","end_time":"2","collection_id":"1","instance_index":"1","machine_id":"1"}"#;

#[test]
fn tables_of_json_lines_are_read() {
    let found = Found::in_files(&[
        ("collection_events-000000000000.json", COLLECTIONS),
        ("instance_events-000000000000.json", INSTANCES),
        ("machine_events-000000000000.json", MACHINES),
        ("instance_usage-000000000000.json", USAGE),
        ("clusterdata_trace_format_v3.proto", "syntax = \"proto2\";\n"),
    ]);
    assert_eq!(
        found.tries("270501/3"),
        [
            (0, Some(0), Some(0), Some(650_000), Outcome::Evicted),
            (1, Some(650_000), Some(660_000), Some(670_000), Outcome::Success),
        ]
    );
    let hosts: Vec<_> = found.attempts.iter().map(|attempt| attempt.host.as_deref()).collect();
    assert_eq!(hosts, [Some("9001"), None], "0 is no machine, −1 one that is not reported");
    let task = &found.tasks["270501/3"];
    assert_eq!((task.cpu_request, task.memory_request), (Some(10_000), Some(500_000_000_000)));
    assert_eq!(found.tasks["42/10"].outcome, Outcome::Killed);
    assert_eq!(found.tasks.len(), 2);

    let job = &found.jobs["270501"];
    assert_eq!((job.submit, job.launch, job.finish), (Some(0), Some(600_000), Some(700_000)));
    assert_eq!((job.outcome, job.priority, job.priority_number), (Outcome::Success, Some(Priority::High), Some(200)));
    assert_eq!((job.user.as_deref(), job.name.as_deref(), job.group.as_deref()), (Some("u"), Some("l"), Some("77")));
    assert_eq!(job.depends_on, ["5", "6"]);
    let other = &found.jobs["42"];
    assert_eq!((other.priority, other.scheduling_class), (Some(Priority::Low), Some(0)));
    assert!(other.depends_on.is_empty());

    let nodes: Vec<_> = found.sink.nodes.iter().map(|node| (node.time, node.event, node.cpu)).collect();
    assert_eq!(
        nodes,
        [
            (None, NodeChange::Add, Some(500_000)),
            (Some(900_000), NodeChange::Remove, None),
            (Some(950_000), NodeChange::Add, Some(1_000_000)),
        ]
    );
    assert!(found.sink.nodes.iter().all(|node| node.event == NodeChange::Remove || node.rack.as_deref() == Some("s1")));
    assert_eq!(
        found.skipped(),
        [
            ("alloc-set-left-out", 2),
            ("damaged-record", 3),
            ("event-after-trace", 1),
            ("unrecognised-file", 1),
            ("usage-table-left-out", 1),
        ]
    );
}

fn parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn numbers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

#[test]
fn tables_of_parquet_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut after: ListBuilder<PrimitiveBuilder<Int64Type>> = ListBuilder::new(PrimitiveBuilder::new());
    for ids in [&[5, 6][..], &[]] {
        after.append_value(ids.iter().map(|id| Some(*id)));
    }
    parquet(
        &dir.path().join("collection_events-0.parquet"),
        vec![
            ("time", numbers(&[0, 700_000_000])),
            ("type", Arc::new(StringArray::from(vec!["SUBMIT", "6"]))),
            ("collection_id", numbers(&[7, 7])),
            ("priority", Arc::new(Int64Array::from(vec![Some(360), None]))),
            ("user", Arc::new(StringArray::from(vec![Some("u"), None]))),
            ("start_after_collection_ids", Arc::new(after.finish())),
        ],
    );
    let resources = StructArray::from(vec![
        (
            Arc::new(Field::new("cpus", DataType::Float32, true)),
            Arc::new(Float32Array::from(vec![0.5, 0.5, 0.5])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("memory", DataType::Float32, true)),
            Arc::new(Float32Array::from(vec![None, Some(0.25), None])),
        ),
    ]);
    parquet(
        &dir.path().join("instance_events-0.parquet"),
        vec![
            ("time", numbers(&[10_000, 20_000, 5_000])),
            ("type", numbers(&[3, 5, 0])),
            ("collection_id", numbers(&[7, 7, 7])),
            ("instance_index", numbers(&[0, 0, 0])),
            ("machine_id", numbers(&[11, 11, 0])),
            ("resource_request", Arc::new(resources)),
        ],
    );
    let found = Found::in_paths(&[dir.path().to_path_buf()]);
    assert_eq!(found.tries("7/0"), [(0, Some(5), Some(10), Some(20), Outcome::Failed)]);
    let task = &found.tasks["7/0"];
    assert_eq!((task.cpu_request, task.memory_request), (Some(500_000), Some(250_000_000_000)));
    let job = &found.jobs["7"];
    assert_eq!((job.submit, job.finish, job.outcome), (Some(0), Some(700_000), Outcome::Success));
    assert_eq!((job.priority, job.user.as_deref()), (Some(Priority::VeryHigh), Some("u")));
    assert_eq!(job.depends_on, ["5", "6"]);
    assert_eq!(found.skipped(), []);
    assert!(found.manifest.sources.iter().all(|source| source.bytes > 0 && source.sha256.len() == 64));
}

#[test]
fn a_damaged_parquet_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("instance_events.parquet");
    parquet(&path, vec![("time", numbers(&[1; 100])), ("type", numbers(&[0; 100]))]);
    let whole = std::fs::read(&path).unwrap();
    for length in [10, whole.len() / 2, whole.len() - 9] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let options = resched_ingest::Options::default();
        let mut sink = resched_tables::sink::Collected::default();
        let error = resched_ingest::ingest_into(std::slice::from_ref(&path), &mut sink, &options, &mut ()).unwrap_err();
        assert!(error.to_string().contains("instance_events.parquet"), "{error}");
    }
}

/// The Kaggle sample: 99 events of 97 instances, 11 of them of sets of reservations.
#[test]
fn the_sample_of_kaggle_is_read_by_the_names_of_events() {
    let Some(traces) = support::real_traces() else { return };
    let found = Found::in_paths(&[traces.join("google2019")]);
    assert_eq!(found.skip("alloc-set-left-out"), 11);
    assert_eq!(found.skip("damaged-record") + found.skip("oversized-record"), 0);
    let jobs = found.jobs.len();
    assert!((70..=83).contains(&jobs), "{jobs} jobs");
    assert!(found.tasks.values().all(|task| task.cpu_request.is_some()));
    assert!(found.jobs.values().all(|job| job.user.is_some() && job.name.is_some() && job.priority.is_some()));
    // A row of the file says SCHEDULE, although its number is that of FINISH in the trace itself.
    let running = found.attempts.iter().find(|attempt| attempt.task_id == "276227177776/376").unwrap();
    assert_eq!((running.start, running.outcome), (Some(195_684_022), Outcome::Incomplete));
    assert_eq!(running.host.as_deref(), Some("169321752432"));
    assert_eq!(found.tasks["276227177776/376"].cpu_request, Some(48_584));
}
