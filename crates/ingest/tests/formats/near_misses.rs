//! Files that are nearly right, and files of which every record is damaged: each error names the cause and the remedy.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::formats::{FORMATS, TABLE_FORMATS};
use resched_ingest::{Options, ingest_into};
use resched_tables::sink::Collected;

/// What an ingest of a file says, or how many jobs it gives.
fn outcome(path: &Path, format: Option<&str>) -> Result<usize, String> {
    let mut found = Collected::default();
    let options = Options { format: format.map(str::to_owned), threads: 1.try_into().ok(), ..Options::default() };
    let done = ingest_into(&[path.to_path_buf()], &mut found, &options, &mut ());
    done.map(|_| found.jobs.len()).map_err(|error| error.to_string())
}

/// The files that users reported.
fn reported() -> Option<PathBuf> {
    Some(crate::support::real_traces()?.parent().unwrap().join("reports/errors-hide-cause"))
}

#[test]
fn each_reported_file_is_explained() {
    let Some(folder) = reported() else { return };
    for (file, parts) in [
        ("comma.csv", &["line 2: ", "between `,`", "--delimiter"][..]),
        ("relative.txt", &["line 2, Submit: ", "`Ystday 08:00:00`", "SLURM_TIME_FORMAT"]),
        ("noheader.txt", &["without its header", "--fields", "--noheader"]),
        ("utf16.txt", &["UTF-16", "iconv"]),
        ("empty.json", &["without a job", "sacct -a -D"]),
        ("cpus0.json", &["job 1 of `jobs`, required.CPUs: ", "found 0", "sacct -a -D --json"]),
        ("slurmrestd.json", &["squeue", "/slurmdb/"]),
        ("mrhistory.json", &["MapReduce's history server", "jhist"]),
        ("sparkrest.json", &["Spark's history server", "event logs"]),
        ("apps.xml", &["as XML", "Accept: application/json"]),
    ] {
        let error = outcome(&folder.join(file), None).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{file}: {error}");
        assert!(!error.contains("leave it out"), "{file}: {error}");
    }
    for (file, jobs) in [("ahs.json", 1), ("stringnumbers.json", 3), ("extra19.swf", 5), ("hashcomment.swf", 5)] {
        assert_eq!(outcome(&folder.join(file), None), Ok(jobs), "{file}");
    }
}

/// `--fields` reads the list that none of the formats knows.
#[test]
fn a_reported_list_without_its_header_opens_with_fields() {
    let Some(folder) = reported() else { return };
    let fields = "JobID,JobName,User,Account,Partition,Submit,Eligible,Start,End,Elapsed,State,AllocNodes,NCPUS,ReqCPUS,ReqTRES,\
                  AllocTRES,Timelimit,NodeList";
    let options = Options { fields: Some(fields.to_owned()), ..Options::default() };
    let mut found = Collected::default();
    ingest_into(&[folder.join("noheader.txt")], &mut found, &options, &mut ()).unwrap();
    let ids: Vec<&str> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "1~2", "2~2"]);
}

/// A command with a format that the file has not ends with an error, and never with an empty trace.
#[test]
fn no_file_gives_an_empty_trace_in_any_format() {
    let names = || FORMATS.iter().map(|format| format.name).chain(TABLE_FORMATS.iter().map(|format| format.name));
    let dir = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, text) in [
        ("words", "these are no jobs\nof any format\n"),
        ("numbers", "1 2 3\n4 5 6\n"),
        ("object", "{\"a\": 1}\n"),
        ("list", "[]\n"),
        ("rows", "a|b|c\n1|2|3\n"),
        ("columns", "a,b,c\n1,2,3\n"),
        ("page", "<!DOCTYPE html><html><body>Log in</body></html>\n"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        files.push(path);
    }
    let reported = reported().map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.extend(reported.into_iter().flatten());
    for file in &files {
        for name in names() {
            let done = outcome(file, Some(name));
            // A topology has machines alone.
            assert_ne!(done, Ok(0), "{} as {name}", file.display());
        }
    }
}

#[test]
fn what_a_file_is_instead_is_said_whatever_format_was_asked_for() {
    let Some(folder) = reported() else { return };
    for (file, format, parts) in [
        ("utf16.txt", "sacct", &["UTF-16", "iconv"][..]),
        ("utf16.txt", "swf", &["line 1: ", "as field 1", "UTF-16", "iconv"]),
        ("noheader.txt", "sacct", &["without its header", "--fields"]),
        ("slurmrestd.json", "sacct", &["squeue", "/slurmdb/"]),
        ("apps.xml", "yarn-apps", &["as XML", "Accept: application/json"]),
    ] {
        let error = outcome(&folder.join(file), Some(format)).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{file} as {format}: {error}");
    }
}

/// Each format with a file of which no record can be read: the place, the value, and what was expected or counted.
#[test]
fn the_first_damaged_record_is_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    for (format, text, parts) in [
        (
            "gwf",
            "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n0, 1, soon, 11, 2, 4,\n",
            &["line 2: ", "`soon` as SubmitTime"][..],
        ),
        (
            "gwf",
            "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n0, 1, 5\n",
            &["line 2: ", "3 columns"],
        ),
        (
            "kueue-workloads",
            "workload,submit,run,podset,count,cpu\na,1,2,main,1,lots\n",
            &["row 2, cpu: ", "such as `500m`", "lots"],
        ),
        ("swim", "job0\t49\t49\tmany\t1\t1\n", &["line 1: ", "`many` as input bytes"]),
        ("swim", "job0 49 49 1 1 1\n", &["line 1: ", "1 columns", "tabs"]),
        ("sls", "{\"am.type\": \"mapreduce\", \"job.start.ms\": \"x\"}\n", &["line 1: ", "invalid type: string \"x\""]),
        ("rumen", "{\"jobID\": 7, \"mapTasks\": []}\n", &["line 1: ", "invalid type: integer `7`"]),
        (
            "swf",
            "; MaxProcs: 4\n1 0 0 ten 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n",
            &["line 2: ", "`ten` as field 4 (run time)"],
        ),
        ("sacct", "JobID|State|Submit|Elapsed|NCPUS\n1|COMPLETED|noon|00:01:00|2\n", &["line 2, Submit: ", "`noon`"]),
        (
            "sacct",
            "{\"allocation_nodes\": 1, \"job_id\": {}, \"time\": 5}\n",
            &["job 1 (line 1): ", "invalid type: integer `5`"],
        ),
        ("jhist", "Avro-Json\n{}\n{\"type\": ]}\n", &["line 1 behind the schema, column 10: ", "expected value"]),
        ("jhist", "Avro-Json\n{}\n{\"type\": 7}\n", &["counted: 1 damaged-event"]),
        ("alibaba2018", "t,1,j,1,Terminated,x,y,1,2\n", &["counted: ", "damaged-record"]),
        ("alibaba2018", "t,1,j,1,Terminated,x,y\n", &["no table of a", "leave --format out"]),
        ("google2011", "<html>\n", &["a web page", "log in first"]),
    ] {
        let path = dir.path().join("batch_task.csv");
        fs::write(&path, text).unwrap();
        let error = outcome(&path, Some(format)).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{format}: {error}");
    }
}
