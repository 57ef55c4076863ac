//! Each limit of a record: one at the limit is read, and one that is a byte longer is skipped and counted.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::format::Format;
use super::golden::{Collected, Found as _};
use super::{
    TABLE_FORMATS, conf_xml, csv, google2019, gridengine, gwf, jhist, kubernetes, lsf, pbs, rumen, sacct, sls, spark,
    swf, swim, tables, text_history, topology, yarn_apps,
};
use resched_tables::Error;
use resched_tables::cause::Cause;

/// A record of this many bytes: `start`, `filling` as often as it takes, and `end`.
fn filled(start: &str, filling: &str, end: &str, bytes: usize) -> String {
    let record = format!("{start}{}{end}", filling.repeat(bytes - start.len() - end.len()));
    assert_eq!(record.len(), bytes);
    record
}

/// Reads a source with a record at the limit and a source with one beyond it, each after `head` and before `tail`. Returns how many jobs
/// each has, and what was skipped beyond the limit; at the limit, nothing is skipped but `always`.
fn at_and_beyond(
    format: &Format,
    (head, tail): (&str, &str),
    limit: usize,
    record: impl Fn(usize) -> String,
    always: &[&str],
) -> ([usize; 2], BTreeMap<String, u64>) {
    let found = [limit, limit + 1].map(|bytes| {
        let found = Collected::read(format, format!("{head}{}{tail}", record(bytes)).as_bytes()).unwrap();
        let mut skipped = found.skipped;
        skipped.retain(|cause, n| *n > 0 && !always.contains(&cause.as_str()));
        (found.jobs.len(), skipped)
    });
    let [(at, nothing), (beyond, skipped)] = found;
    assert_eq!(nothing, BTreeMap::new(), "at the limit of {limit} bytes");
    ([at, beyond], skipped)
}

fn once(cause: &str) -> BTreeMap<String, u64> {
    [(cause.to_owned(), 1)].into()
}

const HISTORY: (&str, &str) = ("Meta VERSION=\"1\" .\nJob JOBID=\"job_1_7\" SUBMIT_TIME=\"5\" .\n", "");

#[test]
fn the_line_of_a_text_history() {
    let line = |bytes| filled("Job JOBID=\"job_1_7\" JOBNAME=\"", "x", "\" .", bytes) + "\n";
    let ended = |bytes: usize| line(bytes - 1);
    // The line feed does not count.
    let (jobs, skipped) =
        at_and_beyond(&text_history::FORMAT, HISTORY, text_history::LONGEST + 1, ended, &["shortened-text"]);
    assert_eq!((jobs, skipped), ([1, 1], once("oversized-record")));
}

/// A record of several lines has the same limit, with the ends of its lines.
#[test]
fn the_lines_of_a_record_of_a_text_history() {
    let record = |bytes| {
        let text = filled("Job JOBID=\"job_1_7\" ERROR=\"", "x", "\n\" .", bytes);
        text + "\n"
    };
    let ended = |bytes: usize| record(bytes - 1);
    let (jobs, skipped) = at_and_beyond(&text_history::FORMAT, HISTORY, text_history::LONGEST + 1, ended, &[]);
    assert_eq!((jobs, skipped), ([1, 1], once("oversized-record")));
}

/// With its line feed.
#[test]
fn the_event_of_a_jhist_file() {
    let head = "Avro-Json\n{\"type\":\"record\"}\n";
    let event = |bytes| {
        let start =
            "{\"type\":\"JOB_SUBMITTED\",\"event\":{\"org.apache.hadoop.X\":{\"jobid\":\"job_1_1\",\"submitTime\":5}}";
        filled(start, " ", "}\n", bytes)
    };
    let (jobs, skipped) = at_and_beyond(&jhist::FORMAT, (head, ""), jhist::MAX_EVENT_BYTES, event, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-event")));
}

#[test]
fn the_configuration_of_a_job() {
    let conf = |bytes| {
        let start = "<configuration><property><name>mapred.reduce.tasks</name><value>7</value></property><!--";
        filled(start, "x", "--></configuration>", bytes)
    };
    let limit = conf_xml::LONGEST as usize;
    let read = [limit, limit + 1].map(|bytes| conf_xml::parse(&mut conf(bytes).as_bytes()));
    let [(at, at_is_whole), (beyond, beyond_is_whole)] = read;
    assert_eq!((at_is_whole, beyond_is_whole), (true, false));
    assert_eq!(at, beyond, "what stands before the limit counts");
    assert_ne!(at, conf_xml::JobConf::default());
}

/// The limit of bytes is that of the part that splits a trace into jobs; a real one would need gigabytes.
#[test]
fn the_job_of_a_rumen_trace() {
    let job = |bytes| filled("{\"jobID\":\"job_1_1\",\"jobName\":\"", "x", "\"}", bytes);
    for (bytes, expected) in [(100, (1, BTreeMap::new())), (101, (0, once("damaged-job")))] {
        let mut found = Collected::default();
        rumen::read_up_to(100, &mut job(bytes).as_bytes(), "test", &mut found).unwrap();
        assert_eq!((found.jobs.len(), found.skipped), expected);
    }
}

#[test]
fn the_objects_of_a_job_of_a_rumen_trace() {
    let job = |objects: usize| format!("{{\"jobID\":\"job_1_1\",\"x\":[{}{{}}]}}", "{},".repeat(objects - 2));
    let (jobs, skipped) = at_and_beyond(&rumen::FORMAT, ("", ""), rumen::MAX_JOB_OBJECTS, job, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-job")));
}

#[test]
fn the_commas_of_a_job_of_a_rumen_trace() {
    let job = |commas: usize| format!("{{\"jobID\":\"job_1_1\",\"x\":\"{}\"}}", ",".repeat(commas - 1));
    let (jobs, skipped) = at_and_beyond(&rumen::FORMAT, ("", ""), rumen::MAX_JOB_COMMAS, job, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-job")));
}

/// A real one would need gigabytes.
#[test]
fn a_rumen_topology() {
    let tree = |bytes| filled("{\"name\":\"root\",\"children\":[{\"name\":\"/r1/h1\"}]", " ", "}", bytes);
    for (bytes, expected) in [(100, (1, BTreeMap::new())), (101, (0, once("damaged-topology")))] {
        let mut found = Collected::default();
        topology::read_up_to(100, &mut tree(bytes).as_bytes(), "test", &mut found).unwrap();
        assert_eq!((found.nodes.len(), found.skipped), expected);
    }
}

/// With its line feed.
#[test]
fn the_line_of_a_swim_workload() {
    let line = |bytes| filled("job", "0", "\t1\t1\t2\t3\t4\n", bytes);
    let (jobs, skipped) = at_and_beyond(&swim::FORMAT, ("", ""), swim::MAX_LINE as usize, line, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-line")));
}

#[test]
fn the_line_of_an_swf_log() {
    let line = |bytes| filled("1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1", " ", "", bytes);
    let (jobs, skipped) =
        at_and_beyond(&swf::FORMAT, ("; MaxProcs: 4\n", "\n"), swf::MAX_LINE, line, &["file-without-machines"]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-line")));
}

#[test]
fn the_line_of_a_grid_workflow() {
    let head = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n";
    let line = |bytes| filled("0, 6, 1, 1, 1, 1,", " ", "", bytes);
    let (jobs, skipped) = at_and_beyond(&gwf::FORMAT, (head, "\n"), gwf::MAX_LINE, line, &["file-without-machines"]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-line")));
}

#[test]
fn the_row_of_a_list_by_sacct() {
    let head = "JobID|JobName|Submit|Start|End|State|ReqCPUS|AllocCPUS\n";
    let row = |bytes| filled("1|", "x", "|100|110|120|COMPLETED|1|1", bytes);
    let always = ["file-without-machines", "machine-sized-by-its-use"];
    let (jobs, skipped) = at_and_beyond(&sacct::FORMAT, (head, "\n"), sacct::MAX_LINE, row, &always);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}

#[test]
fn the_job_of_a_list_by_sacct_in_json() {
    let job = |bytes| {
        let start = concat!(
            "{\"job_id\":1,\"required\":{\"CPUs\":1},\"state\":{\"current\":[\"PENDING\"]},\"allocation_nodes\":0,",
            "\"time\":{\"submission\":100,\"start\":0,\"end\":0,\"elapsed\":0}"
        );
        filled(start, " ", "}", bytes)
    };
    let (jobs, skipped) =
        at_and_beyond(&sacct::FORMAT, ("{\"jobs\":[", "]}\n"), sacct::MAX_OBJECT, job, &["file-without-machines"]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-job")));
}

#[test]
fn the_event_of_a_spark_log() {
    let job = r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":5,"Stage IDs":[]}"#;
    let head = format!(
        "{{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"x\",\"App ID\":\"a\",\"Timestamp\":1}}\n{job}\n"
    );
    let end = |bytes| {
        let start =
            r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":9,"Job Result":{"Result":"JobSucceeded"}"#;
        filled(start, " ", "}", bytes)
    };
    let found = [0, 1].map(|more| {
        let text = format!("{head}{}\n", end(spark::MAX_LINE + more));
        let found = Collected::read(&spark::FORMAT, text.as_bytes()).unwrap();
        (found.jobs[0].job.finish, found.skipped.get("oversized-line").copied())
    });
    assert_eq!(found, [(Some(9), None), (None, Some(1))]);
}

#[test]
fn the_job_of_the_scheduler_load_simulator() {
    let job = |bytes| filled("{\"job.start.ms\":1,\"job.tasks\":[]", " ", "}", bytes);
    let (jobs, skipped) = at_and_beyond(&sls::FORMAT, ("", ""), sls::MAX_OBJECT, job, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-job")));
}

/// Its own object is one of them. The tasks are none, so that none is made.
#[test]
fn the_parts_of_a_job_of_the_scheduler_load_simulator() {
    let job = |parts: usize| format!("{{\"job.start.ms\":1,\"job.tasks\":[],\"x\":[{}{{}}]}}", "{},".repeat(parts - 2));
    let (jobs, skipped) = at_and_beyond(&sls::FORMAT, ("", ""), sls::MAX_PARTS, job, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-job")));
}

/// The job runs no times, so that its tasks are not made.
#[test]
fn the_tasks_of_a_job_of_the_scheduler_load_simulator() {
    let job = |tasks: usize| format!("{{\"job.count\":0,\"job.tasks\":[{{\"count\":7}},{{\"count\":{}}}]}}", tasks - 7);
    let (_, skipped) = at_and_beyond(&sls::FORMAT, ("", ""), sls::MAX_TASKS as usize, job, &[]);
    assert_eq!(skipped, once("too-many-tasks"));
}

#[test]
fn the_line_of_a_log_of_yarns_applications() {
    let line = |bytes| {
        let start = "2015 INFO resourcemanager.RMAppManager$ApplicationSummary: appId=application_1_1,name=";
        filled(start, "x", ",user=u,queue=q", bytes)
    };
    let always = ["job-without-tasks-in-source"];
    let (jobs, skipped) = at_and_beyond(&yarn_apps::FORMAT, ("", "\n"), yarn_apps::MAX_LINE, line, &always);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}

#[test]
fn the_application_of_a_rest_list() {
    let application = |bytes| filled("{\"id\":\"application_1_1\",\"name\":\"", "x", "\"}", bytes);
    let (jobs, skipped) = at_and_beyond(
        &yarn_apps::FORMAT,
        ("{\"apps\":{\"app\":[", "]}}"),
        yarn_apps::MAX_OBJECT,
        application,
        &["job-without-tasks-in-source"],
    );
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-application")));
}

#[test]
fn the_object_of_kubernetes() {
    let pod = |bytes| {
        let start = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"x":""#;
        filled(start, "x", "\"}}}", bytes)
    };
    let list = (r#"{"kind":"List","apiVersion":"v1","items":["#, "]}");
    let (jobs, skipped) = at_and_beyond(&kubernetes::FORMAT, list, kubernetes::MAX_OBJECT, pod, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-record")));
}

#[test]
fn the_line_of_metrics_of_kubernetes() {
    let line = |bytes| filled("kube_pod_created{pod=\"p\",x=\"", "x", "\"} 1000", bytes);
    let (jobs, skipped) = at_and_beyond(&kubernetes::FORMAT, ("", "\n"), kubernetes::MAX_LINE, line, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}

#[test]
fn the_name_of_an_object_of_kubernetes() {
    let name = |bytes| filled("", "n", "", bytes);
    let pod =
        (r#"{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","name":""#, "\"}}");
    let (jobs, skipped) = at_and_beyond(&kubernetes::FORMAT, pod, kubernetes::LONGEST_NAME, name, &[]);
    assert_eq!((jobs, skipped), ([1, 0], once("damaged-record")));
}

/// Counts the facts of a table, and what is skipped.
#[derive(Default)]
struct Counted {
    facts: usize,
    skipped: BTreeMap<String, u64>,
}

impl tables::FactSink for Counted {
    fn fact(&mut self, _: &tables::Fact<'_>) -> Result<(), Error> {
        self.facts += 1;
        Ok(())
    }

    fn machine(&mut self, fact: &tables::Fact<'_>) -> Result<(), Error> {
        self.fact(fact)
    }

    fn skip(&mut self, cause: Cause) {
        *self.skipped.entry(cause.name().to_owned()).or_default() += 1;
    }
}

/// The facts in a file of a table, and what is skipped.
fn facts(format: &str, table: &str, text: &str) -> (usize, BTreeMap<String, u64>) {
    let format = TABLE_FORMATS.iter().find(|table_format| table_format.name == format).unwrap();
    let mut found = Counted::default();
    (format.read)(table, &mut text.as_bytes(), "test", &mut found).unwrap();
    (found.facts, found.skipped)
}

/// The commas of a record are none of its bytes.
#[test]
fn the_record_of_a_csv_table() {
    let record = |bytes| filled("M1", "x", ",1,j_3,1,Terminated,1,2,100,0.3\n", bytes);
    let of = |bytes: usize| facts("alibaba2018", "batch_task", &record(bytes + 9));
    assert_eq!(of(csv::MAX_RECORD), (1, BTreeMap::new()));
    assert_eq!(of(csv::MAX_RECORD + 1), (0, once("oversized-record")));
}

/// A table with more columns than its format has is another table, so these records are damaged and not too wide.
#[test]
fn the_fields_of_a_csv_record() {
    let of = |fields: usize| facts("alibaba2018", "batch_task", &(",".repeat(fields - 1) + "7\n"));
    assert_eq!(of(csv::MAX_FIELDS), (0, once("damaged-record")));
    assert_eq!(of(csv::MAX_FIELDS + 1), (0, once("oversized-record")));
}

/// With its line feed.
#[test]
fn the_line_of_a_table_of_google_2019() {
    let line =
        |bytes| filled("{\"time\":\"5\",\"type\":\"0\",\"collection_id\":\"1\",\"user\":\"", "x", "\"}\n", bytes);
    let of = |bytes: usize| facts("google2019", "collection_events", &line(bytes));
    assert_eq!(of(google2019::MAX_LINE as usize), (1, BTreeMap::new()));
    assert_eq!(of(google2019::MAX_LINE as usize + 1), (0, once("oversized-record")));
}

/// What is always counted of a log without hosts.
const NO_HOSTS: [&str; 2] = ["file-without-machines", "request-not-read"];

#[test]
fn the_record_of_pbs() {
    let record = |bytes| {
        let start = "11/28/2026 04:00:00;E;7.s;ctime=100 start=200 end=300 Exit_status=0 jobname=";
        filled(start, "x", "", bytes)
    };
    let (jobs, skipped) = at_and_beyond(&pbs::FORMAT, ("", "\n"), pbs::MAX_LINE, record, &NO_HOSTS);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}

#[test]
fn the_record_of_lsf() {
    let record = |bytes| {
        let start =
            r#""JOB_FINISH" "5.1" 300 7 1 2 1 100 0 0 200 "u" "q" "" "" "" "h" "" "" "" "" "" 0 0 64 1.0 "n" ""#;
        let end = format!("\" {}\"\" \"p\" 0 1 \"\" \"\" 0 1 1", "1 ".repeat(19));
        filled(start, "x", &end, bytes)
    };
    let (jobs, skipped) = at_and_beyond(&lsf::FORMAT, ("", "\n"), lsf::MAX_LINE, record, &NO_HOSTS[..1]);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}

#[test]
fn the_record_of_grid_engine() {
    let record = |bytes| {
        let start = "q:UNKNOWN:g:u:";
        let end = format!(":7:sge:0:100:200:300:0:0:1:{}p:d:NONE:1:0:0:0:0:NONE:0:NONE:0", "0:".repeat(17));
        filled(start, "x", &end, bytes)
    };
    let always = ["file-without-machines", "hosts-not-in-source"];
    let (jobs, skipped) = at_and_beyond(&gridengine::FORMAT, ("", "\n"), gridengine::MAX_LINE, record, &always);
    assert_eq!((jobs, skipped), ([1, 0], once("oversized-line")));
}
