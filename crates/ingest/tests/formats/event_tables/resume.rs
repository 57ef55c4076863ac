//! An interrupted ingest continues where it stopped, and its output depends only on its files.

use std::collections::BTreeSet;
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;

use resched_ingest::{Options, ingest, plan_tables, tables};
use resched_tables::model::{AttemptRow, JobRow, TaskRow};
use resched_tables::store::Trace;

use super::write;

/// Task events of many jobs, in several files, of which some are large enough for several partitions.
fn input(dir: &Path) {
    let hash = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=";
    for part in 0..4_u64 {
        let mut text = String::new();
        for row in 0..3_000_u64 {
            let (job, index) = (row * 7919 % 101, row % 13);
            let (time, event) = (1_000_000 * (part * 3_000 + row), [0, 1, 4][part as usize % 3]);
            text += &format!("{time},,{job},{index},{},{event},{hash},1,9,0.125,0.1,0.1,0\n", row % 50);
        }
        write(&dir.join(format!("in/part-{part}")), text);
    }
}

fn bytes(trace: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut waiting = vec![trace.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                files.push((path.strip_prefix(trace).unwrap().display().to_string(), fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn threads_steps_and_order_change_no_byte() {
    let dir = tempfile::tempdir().unwrap();
    input(dir.path());
    let paths = [dir.path().join("in")];
    let mut traces = Vec::new();
    for threads in [1, 2, 5] {
        let out = dir.path().join(format!("T{threads}"));
        let options = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
        ingest(&paths, &out, &options, &mut ()).unwrap();
        traces.push(bytes(&out));
    }
    let plan = plan_tables(&paths, &Options::default()).unwrap();
    let out = dir.path().join("steps");
    for number in [3, 0, 0] {
        tables::shard(&plan, &out, number, &mut ()).unwrap();
    }
    assert!(tables::shard(&plan, &out, 4, &mut ()).is_err_and(|error| error.is_request()));
    tables::finish(&plan, &out, NonZeroUsize::MIN, &mut ()).unwrap();
    traces.push(bytes(&out));
    assert!(traces[0].iter().any(|(name, _)| name == "attempts.parquet"));
    assert!(traces.iter().all(|trace| *trace == traces[0]), "each way gives the same bytes");
    assert_eq!(names(dir.path()), ["T1", "T2", "T5", "in", "steps"], "the working folders are gone");
}

/// Small partitions give a table in parts, and a partition that is too large for memory is sorted on disk.
#[test]
fn a_trace_in_parts_holds_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    input(dir.path());
    let paths = [dir.path().join("in")];
    let rows = |name: &str, partition_bytes: Option<u64>| {
        let out = dir.path().join(name);
        let partition_bytes = partition_bytes.and_then(NonZeroU64::new);
        let options = Options { partition_bytes, ..Options::default() };
        let manifest = ingest(&paths, &out, &options, &mut ()).unwrap();
        // An earlier result in parts is replaced like any other.
        ingest(&paths, &out, &options, &mut ()).unwrap();
        let trace = Trace::open(&out).unwrap();
        assert_eq!(trace.manifest(), &manifest);
        let jobs: Vec<JobRow> = trace.rows().unwrap().collect::<Result<_, _>>().unwrap();
        let tasks: Vec<TaskRow> = trace.rows().unwrap().collect::<Result<_, _>>().unwrap();
        let attempts: Vec<AttemptRow> = trace.rows().unwrap().collect::<Result<_, _>>().unwrap();
        let order = |ids: Vec<&String>| {
            let mut ids = ids;
            ids.dedup();
            ids.into_iter().cloned().collect::<Vec<String>>()
        };
        let of_jobs = order(jobs.iter().map(|job| &job.job_id).collect());
        assert_eq!(of_jobs, order(tasks.iter().map(|task| &task.job_id).collect()), "tasks in the order of jobs");
        let tries: BTreeSet<_> = attempts.iter().map(|row| (row.task_id.clone(), row.attempt, row.start)).collect();
        let names: BTreeSet<_> = of_jobs.iter().cloned().collect();
        ((names, tries, manifest.rows, manifest.skipped), bytes(&out))
    };
    let (whole, files) = rows("whole", None);
    assert!(files.iter().any(|(name, _)| name == "jobs.parquet"));
    for (partition_bytes, least) in [(100_000, 2), (20_000, 10), (1, 1_000)] {
        let (parts, files) = rows("parts", Some(partition_bytes));
        assert!(files.iter().filter(|(name, _)| name.starts_with("attempts/part-")).count() >= least);
        assert!(parts == whole, "partitions of {partition_bytes} bytes");
    }
}

/// Work that is done is not done again. The work of another plan is removed.
#[test]
fn an_ingest_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    input(dir.path());
    let paths = [dir.path().join("in")];
    let out = dir.path().join("T");
    let plan = plan_tables(&paths, &Options::default()).unwrap();
    tables::shard(&plan, &out, 1, &mut ()).unwrap();
    let work = names(dir.path()).into_iter().find(|name| name.starts_with(".T.ingest-")).unwrap();
    let shard = dir.path().join(&work).join("shard-00001.facts");
    let before = fs::metadata(&shard).unwrap().modified().unwrap();
    tables::shard(&plan, &out, 1, &mut ()).unwrap();
    assert_eq!(fs::metadata(&shard).unwrap().modified().unwrap(), before);

    // Facts that were damaged are read again.
    let whole = fs::read(&shard).unwrap();
    fs::write(&shard, &whole[..whole.len() / 2]).unwrap();
    tables::shard(&plan, &out, 1, &mut ()).unwrap();
    assert_eq!(fs::read(&shard).unwrap(), whole);
    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    fs::write(&shard, &flipped).unwrap();
    let other = ingest(&paths, dir.path().join("other"), &Options::default(), &mut ()).unwrap();
    assert_eq!(ingest(&paths, &out, &Options::default(), &mut ()).unwrap(), other);
    fs::remove_dir_all(dir.path().join("other")).unwrap();
    fs::remove_dir_all(&out).unwrap();
    tables::shard(&plan, &out, 1, &mut ()).unwrap();

    write(&dir.path().join("in/part-9"), fs::read(dir.path().join("in/part-0")).unwrap());
    ingest(&paths, &out, &Options::default(), &mut ()).unwrap();
    assert_eq!(names(dir.path()), ["T", "in"]);
}

#[test]
fn a_file_that_changed_after_the_plan_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    input(dir.path());
    let plan = plan_tables(&[dir.path().join("in")], &Options::default()).unwrap();
    let mut text = fs::read(dir.path().join("in/part-2")).unwrap();
    text.truncate(1_000);
    write(&dir.path().join("in/part-2"), text);
    let error = tables::finish(&plan, dir.path().join("T"), NonZeroUsize::MIN, &mut ()).unwrap_err().to_string();
    assert!(error.contains("part-2") && error.contains("as when the ingest began"), "{error}");
    assert_eq!(names(dir.path()), ["in"], "an error of the input leaves nothing behind");
}
