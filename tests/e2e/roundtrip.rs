//! From records to Parquet and back: nothing is lost, table by table, row by row.

use std::fmt::Debug;
use std::path::PathBuf;

use resched_ingest::{Options, TaskMaker, ingest_into};
use resched_tables::sink::Collected;
use resched_tables::store::Trace;
use resched_tables::store::columns::Row;
use resched_workload::synthesise::Rules;

use crate::support::{Dir, sample_history, shared};

fn same<'a, R: Row + PartialEq + Debug + 'a>(trace: &Trace, expected: impl IntoIterator<Item = &'a R>, file: &str) {
    let expected: Vec<&R> = expected.into_iter().collect();
    let found: Vec<R> = trace.rows::<R>().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), expected.len(), "rows of {} of {file}", R::TABLE);
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "row {number} of {} of {file}", R::TABLE);
    }
}

/// `tables` are those that must not be empty.
fn check(file: &str, tables: &str) {
    let dir = Dir::new();
    dir.ok(&["ingest", file, "--merge", "--out", "T", "--counters"]);
    let trace = Trace::open(&dir.path("T")).unwrap();
    let tasks = Some(TaskMaker::synthesiser(&Rules::default(), 1).unwrap());
    let mut collected = Collected::default();
    let options = Options { counters: true, merge: true, tasks, ..Options::default() };
    ingest_into(&[PathBuf::from(file)], &mut collected, &options, &mut ()).unwrap();
    for table in tables.split(' ') {
        assert!(trace.manifest().rows[table] > 0, "no {table} in {file}");
    }
    let records = &collected.jobs;
    let tasks = || records.iter().flat_map(|record| &record.tasks);
    same(&trace, records.iter().map(|record| &record.job), file);
    same(&trace, tasks().map(|task| &task.task), file);
    same(&trace, tasks().flat_map(|task| &task.attempts), file);
    same(&trace, tasks().flat_map(|task| &task.splits), file);
    same(&trace, &collected.nodes, file);
    same(&trace, records.iter().flat_map(|record| &record.counters), file);
}

#[test]
fn the_sample_comes_back() {
    check(&sample_history(), "jobs tasks attempts splits nodes");
}

#[test]
fn real_files_come_back() {
    for (file, tables) in [
        ("traces/hadoop-mapreduce-2011/rumen-small-trace/sample-job-tracker-logs.gz", "tasks attempts splits counters"),
        ("traces/chukwa/Hadoop18JobHistoryLog.txt", "tasks attempts splits counters"),
        ("traces/chukwa/JobHistory.log", "tasks attempts splits counters"),
        ("traces/hadoop-common-2014/hs", "tasks attempts splits counters"),
        ("traces/dr-elephant/history", "tasks attempts splits counters"),
        ("traces/hadoop-mapreduce-2011/mumak/19-jobs.trace.json.gz", "tasks attempts splits counters nodes"),
        ("traces/hadoop-mapreduce-2011/mumak/19-jobs.topology.json.gz", "nodes"),
        ("traces/swim/FB-2009_samples_24_times_1hr_0_first50jobs.tsv", "jobs tasks attempts splits nodes"),
    ] {
        if let Some(file) = shared(file) {
            check(&file, tables);
        }
    }
}
