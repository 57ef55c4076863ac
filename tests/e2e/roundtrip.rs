//! From records to Parquet and back: nothing is lost, table by table, row by row.

use std::fmt::Debug;
use std::path::PathBuf;

use resched_trace::Error;
use resched_trace::formats::Sink;
use resched_trace::ingest::{Options, TaskMaker, ingest_into};
use resched_trace::model::{AttemptRow, CounterRow, JobRecord, JobRow, NodeRow, SplitRow, TaskRow};
use resched_trace::store::Trace;
use resched_trace::store::columns::Row;
use resched_trace::synthesise::Rules;

use crate::support::{Dir, sample_history, shared};

/// The rows of the six tables, in the order in which they are handed over.
#[derive(Default)]
struct Collected {
    jobs: Vec<JobRow>,
    tasks: Vec<TaskRow>,
    attempts: Vec<AttemptRow>,
    splits: Vec<SplitRow>,
    nodes: Vec<NodeRow>,
    counters: Vec<CounterRow>,
}

impl Sink for Collected {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.jobs.push(job.job);
        for task in job.tasks {
            self.tasks.push(task.task);
            self.attempts.extend(task.attempts);
            self.splits.extend(task.splits);
        }
        self.counters.extend(job.counters);
        Ok(())
    }

    fn node(&mut self, node: NodeRow) {
        self.nodes.push(node);
    }

    fn skip(&mut self, _: &str, _: u64) {}
}

fn same<R: Row + PartialEq + Debug>(trace: &Trace, expected: &[R], file: &str) {
    let found: Vec<R> = trace.rows::<R>().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), expected.len(), "rows of {} of {file}", R::TABLE);
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "row {number} of {} of {file}", R::TABLE);
    }
}

/// `tables` are those that must not be empty.
fn check(file: &str, tables: &str) {
    let dir = Dir::new();
    dir.ok(&["ingest", file, "--out", "T", "--counters"]);
    let trace = Trace::open(&dir.path("T")).unwrap();
    let tasks = Some(TaskMaker::synthesiser(&Rules::default(), 1).unwrap());
    let mut collected = Collected::default();
    let options = Options { format: None, counters: true, tasks };
    ingest_into(&[PathBuf::from(file)], &mut collected, &options, &mut ()).unwrap();
    for table in tables.split(' ') {
        assert!(trace.manifest().rows[table] > 0, "no {table} in {file}");
    }
    same(&trace, &collected.jobs, file);
    same(&trace, &collected.tasks, file);
    same(&trace, &collected.attempts, file);
    same(&trace, &collected.splits, file);
    same(&trace, &collected.nodes, file);
    same(&trace, &collected.counters, file);
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
