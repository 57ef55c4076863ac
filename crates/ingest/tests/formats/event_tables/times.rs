//! Times at the far end of time, and ends before their beginnings: they are damage, which is counted, and null in the tables.

use resched_ingest::{Options, ingest};
use resched_tables::model::{NodeChange, NodeRow};
use resched_tables::store::Trace;

use super::{Found, write};

const HASH: &str = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=";
/// The last instant that is not "after the trace" in Google's traces, µs.
const LAST: i64 = i64::MAX - 1;

/// Host, time and change of each row of the nodes table.
fn nodes(found: &Found) -> Vec<(&str, Option<i64>, NodeChange)> {
    found.sink.nodes.iter().map(|node| (node.host.as_str(), node.time, node.event)).collect()
}

/// The two machines of each test: one leaves at the end of time, the other comes then.
fn both<'a>(first: &'a str, second: &'a str) -> Vec<(&'a str, Option<i64>, NodeChange)> {
    vec![(first, None, NodeChange::Add), (second, None, NodeChange::Add)]
}

/// Job 1 ends before its task is submitted, job 2 ends at the end of time, and job 3 after the trace.
fn google2011() -> [(&'static str, String); 3] {
    let task = format!("900000000,,1,0,,0,{HASH},1,9,0.5,0.1,0.1,0\n");
    let job = |time: i64, job: u32, event: u8| format!("{time},,{job},{event},{HASH},1,{HASH},{HASH}\n");
    let jobs =
        [job(700_000_000, 1, 4), job(600_000_000, 2, 0), job(LAST, 2, 4), job(600_000_000, 3, 0), job(i64::MAX, 3, 4)];
    let machines = format!(
        "0,5,0,{HASH},0.5,0.25\n{LAST},5,1,{HASH},,\n{LAST},6,0,{HASH},0.5,0.25\n{},5,2,{HASH},1,1\n",
        i64::MAX
    );
    [("task_events/p", task), ("job_events/p", jobs.concat()), ("machine_events/p", machines)]
}

#[test]
fn of_google_2011() {
    let files = google2011();
    let found = Found::in_files(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    assert_eq!(nodes(&found), both("5", "6"));
    let ends = ["1", "2", "3"].map(|job| (found.jobs[job].submit, found.jobs[job].finish));
    assert_eq!(ends, [(Some(900_000), None), (Some(600_000), None), (Some(600_000), None)]);
    assert_eq!(found.skipped(), [("event-after-trace", 2), ("far-time", 3), ("finish-before-start", 1)]);
}

/// A trace on disk is put together in another way than one in memory.
#[test]
fn a_trace_on_disk_counts_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let files = google2011();
    files.iter().for_each(|(name, text)| write(&dir.path().join("in").join(name), text));
    let out = dir.path().join("T");
    let manifest = ingest(&[dir.path().join("in")], &out, &Options::default(), &mut ()).unwrap();
    let found = Found::in_paths(&[dir.path().join("in")]);
    assert_eq!(manifest.skipped, found.manifest.skipped);
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.manifest().skipped, manifest.skipped);
    let rows: Vec<NodeRow> = trace.rows::<NodeRow>().unwrap().map(Result::unwrap).collect();
    assert_eq!(rows, found.sink.nodes);
}

#[test]
fn of_google_2019() {
    let jobs = format!(
        "{{\"time\":\"700000000\",\"type\":\"6\",\"collection_id\":\"1\"}}\n\
         {{\"time\":\"600000000\",\"type\":\"0\",\"collection_id\":\"2\"}}\n\
         {{\"time\":\"{LAST}\",\"type\":\"6\",\"collection_id\":\"2\"}}\n"
    );
    let tasks = "{\"time\":\"900000000\",\"type\":\"0\",\"collection_id\":\"1\",\"instance_index\":\"0\"}\n";
    let machines = format!(
        "{{\"time\":\"0\",\"machine_id\":\"5\",\"type\":\"1\",\"capacity\":{{\"cpus\":0.5,\"memory\":0.25}}}}\n\
         {{\"time\":\"{LAST}\",\"machine_id\":\"5\",\"type\":\"2\"}}\n\
         {{\"time\":\"{LAST}\",\"machine_id\":\"6\",\"type\":\"1\",\"capacity\":{{\"cpus\":0.5,\"memory\":0.25}}}}\n"
    );
    let found = Found::in_files(&[
        ("collection_events-0.json", &jobs),
        ("instance_events-0.json", tasks),
        ("machine_events-0.json", &machines),
    ]);
    assert_eq!(nodes(&found), both("5", "6"));
    assert_eq!((found.jobs["1"].finish, found.jobs["2"].finish), (None, None));
    assert_eq!(found.skipped(), [("far-time", 3), ("finish-before-start", 1)]);
}

/// Of a task, and of its job. A time that does not fit into ms is as far as one that does.
#[test]
fn of_alibaba_2017() {
    let fits = i64::MAX / 1_000;
    let tasks = format!(
        "10,5,3,1,2,Terminated,50,0.25\n10,{},4,1,1,Terminated,50,0.25\n10,{fits},5,1,1,Terminated,50,0.25\n\
         {},20,6,1,1,Terminated,50,0.25\n",
        i64::MAX,
        i64::MAX
    );
    let instances = format!("12,11,3,1,77,Terminated,1,1,0.5,0.1,0.2,0.1\n12,{fits},5,1,77,Terminated,1,1,,,,\n");
    let machines = format!("0,77,add,,64,0.69,1\n{},77,harderror,disk,0,0,0\n{fits},78,add,,64,0.69,1\n", i64::MAX);
    let found = Found::in_files(&[("a", &tasks), ("b", &instances), ("server_event.csv", &machines)]);
    assert_eq!(nodes(&found), both("77", "78"));
    let times = ["3/1", "4/1", "5/1", "6/1"].map(|task| (found.tasks[task].start, found.tasks[task].finish));
    let start = (Some(10_000), None);
    assert_eq!(times, [start, start, start, (None, Some(20_000))]);
    let tries: Vec<_> = found.attempts.iter().map(|attempt| (attempt.start, attempt.finish)).collect();
    assert_eq!(tries, [(Some(12_000), None); 2]);
    assert_eq!(found.skipped(), [("far-time", 7), ("finish-before-start", 3)]);
}

#[test]
fn of_alibaba_2018() {
    let tasks = "M1,2.0,j_3,1,Terminated,157213,157200,100.0,0.3\n";
    let instances = "ins_1,M1,j_3,1,Terminated,157214,157205,m_1,1,1,50,60,0.1,0.2\n";
    let last = i64::MAX;
    let machines =
        format!("m_1,0,219,17,96,100,USING\nm_1,{last},219,17,96,100,OFFLINE\nm_2,{last},219,17,96,100,USING\n");
    let found = Found::in_files(&[
        ("batch_task.csv", tasks),
        ("batch_instance.csv", instances),
        ("machine_meta.csv", &machines),
    ]);
    assert_eq!(nodes(&found), both("m_1", "m_2"));
    assert_eq!(found.tries("j_3/M1")[0].3, None);
    assert_eq!((found.tasks["j_3/M1"].finish, found.jobs["j_3"].finish), (None, None));
    assert_eq!(found.skipped(), [("far-time", 2), ("finish-before-start", 3)]);
}

/// Without jobs, nobody knows which times are far.
#[test]
fn machines_alone_are_as_they_are() {
    let machines = format!("0,5,0,{HASH},0.5,0.25\n{LAST},5,1,{HASH},,\n");
    let found = Found::in_files(&[("machine_events/p", &machines)]);
    assert_eq!(nodes(&found), [("5", None, NodeChange::Add), ("5", Some(LAST / 1_000), NodeChange::Remove)]);
    assert_eq!(found.skipped(), []);
}
