//! The lists of jobs and the workloads that other tools read, with the numbers by hand.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMillisecondType};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{Exported, export};
use crate::{Options, ingest};

/// Four jobs on eight processors: one succeeds, one is killed at its limit, one never runs, and one runs for no time.
const FOUR_JOBS: &str = "; MaxNodes: 2\n; MaxProcs: 8\n\
    1 10  5 100 4 90 -1 4 300   -1 1 1 1 1 1 -1 -1 -1\n\
    2 20  0  50 6 -1 -1 6  40 2048 5 2 1 2 1 -1 -1 -1\n\
    3 30 -1  -1 1 -1 -1 1  -1   -1 5 3 1 3 1 -1 -1 -1\n\
    4 40 75   0 1 -1 -1 1  -1   -1 1 3 1 3 1 -1 -1 -1\n";

/// Exports the four jobs as `format` to `name`. The folder, and what was left out.
fn four_jobs(format: &str, name: &str) -> (tempfile::TempDir, PathBuf, Exported) {
    let dir = tempfile::tempdir().unwrap();
    let (file, trace, out) = (dir.path().join("four.swf"), dir.path().join("trace"), dir.path().join(name));
    fs::write(&file, FOUR_JOBS).unwrap();
    ingest(&[file], trace.as_path(), &Options::default(), &mut ()).unwrap();
    let exported = export(&trace, format, &out).unwrap();
    (dir, out, exported)
}

fn count(exported: &Exported, what: &str) -> u64 {
    exported.left_out.get(what).copied().unwrap_or(0)
}

/// By hand. Job 1 holds 0–3 from 15 to 115, job 2 holds 4–9 from 20 to 70, and job 4 gets what job 1 gives back at 115.
#[test]
fn jobs_of_batsim_have_its_columns_and_processors_of_their_own() {
    let (_dir, out, exported) = four_jobs("batsim-jobs", "jobs.csv");
    let expected = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,\
                    starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources\n\
                    1,resched,1,10,4,300,1,COMPLETED_SUCCESSFULLY,15,100,115,5,105,1.05,0-3\n\
                    2,resched,2,20,6,40,0,COMPLETED_WALLTIME_REACHED,20,50,70,0,50,1,4-9\n\
                    4,resched,3,40,1,-1,1,COMPLETED_SUCCESSFULLY,115,0,115,75,75,,0\n";
    assert_eq!(fs::read_to_string(out).unwrap(), expected);
    assert_eq!((exported.written, count(&exported, "job-without-run-time")), (3, 1));
    // Users of four jobs, the memory that one asked for, and the processor time of one.
    let lost =
        ["jobs.user", "jobs.requested_memory", "attempts.cpu_ms", "jobs.submit"].map(|code| count(&exported, code));
    assert_eq!(lost, [4, 1, 1, 0], "{:?}", exported.left_out);
}

/// By hand, at 0, 60 and 120 s. Job 1 runs from 15 to 115, job 2 from 20 to 70; job 3 never starts, and job 4 waits from 40 to 115.
#[test]
fn time_lines_have_the_state_at_each_minute() {
    let (_dir, out, exported) = four_jobs("openmetrics", "lines.txt");
    let text = fs::read_to_string(out).unwrap();
    let samples = |name: &str| -> Vec<&str> { text.lines().filter(|line| line.starts_with(name)).collect() };
    let series = |name: &str, queue: u32, value: &str, time: u32| {
        format!("resched_queue_{name}{{origin=\"observed\",queue=\"{queue}\"}} {value} {time}")
    };
    assert_eq!(
        samples("resched_queue_jobs_pending"),
        [series("jobs_pending", 1, "2", 60), series("jobs_pending", 1, "1", 120)]
    );
    assert_eq!(
        samples("resched_queue_jobs_running"),
        [series("jobs_running", 1, "2", 60), series("jobs_running", 1, "0", 120)]
    );
    assert_eq!(samples("resched_queue_cores_held")[0], series("cores_held", 1, "10", 60));
    assert!(
        text.starts_with("# TYPE resched_queue_jobs_pending gauge\n# HELP ") && text.ends_with("\n# EOF\n"),
        "{text}"
    );
    assert_eq!((exported.written, count(&exported, "times-without-dates")), (4, 1));
}

/// Each panel of the dashboard asks for a series that the export of the same trace has.
#[test]
fn a_dashboard_asks_for_the_series_of_the_export() {
    let (_dir, out, _) = four_jobs("grafana", "board.json");
    let board: serde_json::Value = serde_json::from_str(&fs::read_to_string(out).unwrap()).unwrap();
    let (_dir, out, _) = four_jobs("openmetrics", "lines.txt");
    let lines = fs::read_to_string(out).unwrap();
    let panels = board["panels"].as_array().unwrap();
    for panel in panels {
        let expression = panel["targets"][0]["expr"].as_str().unwrap();
        let name = expression.split(['(', '{']).find(|part| part.starts_with("resched_queue_")).unwrap();
        assert!(lines.contains(&format!("# TYPE {name} gauge")), "{expression}");
    }
    assert_eq!(panels.len(), 4);
}

fn parquet(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let mut batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    batches.next().unwrap().unwrap()
}

/// By hand: 4 + 6 + 1 tasks of one core each. Job 1 used 90 s of 100 s of each processor; 2,048 KiB are 2,097 kB.
#[test]
fn a_workload_of_opendc_has_a_task_for_each_part_of_a_job() {
    let (dir, out, exported) = four_jobs("opendc", "workload");
    let (tasks, fragments) = (parquet(&out.join("tasks.parquet")), parquet(&out.join("fragments.parquet")));
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let (text, long, int, double) = (DataType::Utf8, DataType::Int64, DataType::Int32, DataType::Float64);
    let columns = |batch: &RecordBatch| -> Vec<(String, DataType, bool)> {
        let schema = batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| (field.name().clone(), field.data_type().clone(), field.is_nullable()))
            .collect()
    };
    let named = |columns: &[(&str, &DataType)]| -> Vec<(String, DataType, bool)> {
        columns.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).clone(), false)).collect()
    };
    let id_and_time = |time_name| [("id", &text), (time_name, &time), ("duration", &long), ("cpu_count", &int)];
    let of_tasks =
        [&id_and_time("submission_time")[..], &[("cpu_capacity", &double), ("mem_capacity", &long)]].concat();
    assert_eq!(columns(&tasks), named(&of_tasks));
    assert_eq!(columns(&fragments), named(&[&id_and_time("timestamp")[..], &[("cpu_usage", &double)]].concat()));
    let ids: Vec<&str> = tasks.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(ids, ["1#1", "1#2", "1#3", "1#4", "2#1", "2#2", "2#3", "2#4", "2#5", "2#6", "4"]);
    let row = |row: usize| {
        let submit = tasks.column(1).as_primitive::<TimestampMillisecondType>().value(row);
        let [run, memory] = [2, 5].map(|place| tasks.column(place).as_primitive::<Int64Type>().value(row));
        let cores = tasks.column(3).as_primitive::<Int32Type>().value(row);
        let speeds =
            [tasks.column(4), fragments.column(4)].map(|column| column.as_primitive::<Float64Type>().value(row));
        (submit, run, cores, memory, speeds)
    };
    assert_eq!(row(0), (10_000, 100_000, 1, 0, [1_000.0, 900.0]));
    assert_eq!(row(4), (20_000, 50_000, 1, 2_097, [1_000.0, 1_000.0]));
    assert_eq!(row(10), (40_000, 0, 1, 0, [1_000.0, 1_000.0]));
    assert_eq!(fragments.num_rows(), 11);
    let counts = ["task-without-run-time", "gang-divided", "speed-of-cores-assumed"].map(|code| count(&exported, code));
    assert_eq!((exported.written, counts), (3, [1, 2, 1]));
    // A second export replaces the first, and nothing else.
    let trace = dir.path().join("trace");
    assert_eq!(export(&trace, "opendc", &out).unwrap(), exported);
    fs::write(out.join("mine.txt"), "x").unwrap();
    assert!(export(&trace, "opendc", &out).unwrap_err().to_string().contains("mine.txt"));
}
