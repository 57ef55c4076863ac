//! The reader against real files, their re-encodings, and damage.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::golden::{Collected, Found as _, check_counts, each_damage, golden_rows, read_shared};
use super::FORMAT;
use resched_tables::model::{JobRecord, Locality, Outcome, TaskKind, TaskRow};

const FAILED: &str = "hadoop-common-2014/hs/job_0.23.9-FAILED.jhist";
const TERAGEN: &str =
    "job_1416424547277_0002-1416424775281-root-TeraGen-1416424785433-2-0-SUCCEEDED-default-1416424779349";
const MONTE_CARLO: &str =
    "job_1526555215992_0001-1526555642677-user-QuasiMonteCarlo-1526555658299-1-1-SUCCEEDED-default-1526555648931";

/// The files of `derived-avro-binary` with those they were made from.
fn pairs() -> [(String, String); 3] {
    let binary = |name| format!("derived-avro-binary/{name}.avro-binary.jhist");
    [
        (binary("job_0.23.9-FAILED"), FAILED.to_owned()),
        (binary(TERAGEN), format!("hadoop-3x/hs/{TERAGEN}.jhist")),
        (binary(MONTE_CARLO), format!("dr-elephant/history/done/2018/05/17/000000/{MONTE_CARLO}.jhist")),
    ]
}

/// The only job in `bytes`, of which nothing may be left out.
fn job(bytes: &[u8]) -> JobRecord {
    let mut found = Collected::read_with_counters(&FORMAT, bytes).unwrap();
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    assert_eq!(found.jobs.len(), 1);
    found.jobs.remove(0)
}

/// A history in JSON with these events, each `TYPE {"field": value, …}`.
fn history(events: &[&str]) -> Vec<u8> {
    let mut text = "Avro-Json\n{\"type\":\"record\"}\n".to_owned();
    for event in events {
        let (kind, fields) = event.split_once(' ').unwrap();
        text += &format!("{{\"type\":\"{kind}\",\"event\":{{\"org.apache.hadoop.X\":{fields}}}}}\n\n");
    }
    text.into_bytes()
}

fn skipped(cause: &str) -> BTreeMap<String, u64> {
    [(cause.to_owned(), 1)].into()
}

#[test]
fn every_real_file_gives_its_golden_counts() {
    let Some(rows) = golden_rows("Avro-Json") else { return };
    assert!(rows.len() >= 10, "only {} files", rows.len());
    for (file, expected) in rows {
        let Some(bytes) = read_shared(&file) else { return };
        assert!((FORMAT.sniff)(&bytes[..bytes.len().min(1 << 16)]), "{file}");
        let found = Collected::read(&FORMAT, &bytes).unwrap();
        assert!(found.skipped.is_empty(), "{file}: {:?}", found.skipped);
        let names = [
            "jobs",
            "job_outcome",
            "tasks",
            "task_status",
            "attempts",
            "min_submit",
            "max_finish",
            "map_hdfs_bytes_read_successful_attempts",
            "map_tasks_with_splits",
        ];
        check_counts(&found, &expected, &names, &file);
    }
}

#[test]
fn both_encodings_give_the_same_tables() {
    for (binary, json) in pairs() {
        let (Some(binary_bytes), Some(json_bytes)) = (read_shared(&binary), read_shared(&json)) else { return };
        assert!((FORMAT.sniff)(&binary_bytes), "{binary}");
        let (of_binary, of_json) = (job(&binary_bytes), job(&json_bytes));
        assert!(!of_json.tasks.is_empty());
        assert_eq!(of_binary, of_json, "{binary}");
    }
}

#[test]
fn a_real_job_has_its_columns() {
    let Some(bytes) = read_shared(&pairs()[2].1) else { return };
    let job = job(&bytes);
    assert_eq!(job.job.queue.as_deref(), Some("default"));
    assert_eq!((job.job.declared_maps, job.job.declared_reduces), (Some(1), Some(1)));
    assert_eq!(job.job.launch, Some(1526555648931));
    let map = &job.tasks[0];
    assert_eq!((map.task.kind, map.task.input_bytes), (TaskKind::Map, Some(268)));
    let attempt = &map.attempts[0];
    assert_eq!((attempt.locality, attempt.speculative), (Some(Locality::Node), Some(false)));
    assert_eq!(attempt.rack.as_deref(), Some("/default-rack"));
    assert_eq!(attempt.host, map.splits[0].host);
    assert!(attempt.cpu_ms.is_some() && attempt.spilled_records.is_some());
    let reduce = &job.tasks[1].attempts[0];
    assert_eq!((reduce.kind, reduce.locality), (TaskKind::Reduce, None));
    assert!(reduce.start < reduce.shuffle_finish && reduce.shuffle_finish <= reduce.sort_finish);
    assert!(job.counters.iter().any(|counter| counter.name == "MAP_INPUT_RECORDS"));
}

#[test]
fn junk_before_the_magic_line_and_a_broken_event_are_counted() {
    let Some(bytes) = read_shared(&pairs()[1].1) else { return };
    let text = String::from_utf8(bytes).unwrap();
    let broken = text.replacen("\"trackerName\":\"mfs137.qa.lab\"", "\"trackerName\":\"mfs137.qa.lab\":80", 1);
    assert_ne!(text, broken);
    let file = format!("<!--\nsome comment\n-->\n{broken}");
    assert!((FORMAT.sniff)(file.as_bytes()));
    let found = Collected::read(&FORMAT, file.as_bytes()).unwrap();
    assert_eq!(found.skipped, [("damaged-event".to_owned(), 1), ("prefix-bytes".to_owned(), 22)].into());
    let attempt = &found.jobs[0].tasks[0].attempts[0];
    assert_eq!((attempt.start, attempt.finish), (None, Some(1416424784542)));
    assert_eq!(attempt.outcome, Outcome::Success);
}

#[test]
fn a_cut_file_is_an_incomplete_job() {
    for file in pairs().map(|(binary, json)| [binary, json]).as_flattened() {
        let Some(bytes) = read_shared(file) else { return };
        let found =
            Collected::read(&FORMAT, bytes.trim_ascii_end().split_at(bytes.trim_ascii_end().len() - 5).0).unwrap();
        assert_eq!(found.skipped, skipped("cut-event"), "{file}");
        assert_eq!(found.jobs[0].job.outcome, Outcome::Incomplete, "{file}");
        assert_eq!(found.jobs[0].job.finish, None);
    }
}

#[test]
fn the_last_event_decides_the_outcome() {
    for (event, outcome) in [
        (r#"JOB_FINISHED {"jobid":"job_1_1","finishTime":9}"#, Outcome::Success),
        (r#"JOB_FAILED {"jobid":"job_1_1","jobStatus":"FAILED"}"#, Outcome::Failed),
        (r#"JOB_KILLED {"jobid":"job_1_1","jobStatus":"KILLED"}"#, Outcome::Killed),
        (r#"JOB_ERROR {"jobid":"job_1_1","jobStatus":"ERROR"}"#, Outcome::Failed),
        (r#"JOB_STATUS_CHANGED {"jobid":"job_1_1","jobStatus":"SUCCEEDED"}"#, Outcome::Incomplete),
    ] {
        let bytes = history(&[r#"JOB_INITED {"jobid":"job_1_1","jobStatus":"INITED","totalMaps":-1}"#, event]);
        let job = job(&bytes).job;
        assert_eq!((job.outcome, job.declared_maps), (outcome, None), "{event}");
    }
}

#[test]
fn jobs_whose_tasks_ran_in_their_master_are_counted() {
    let uber = |value: &str| {
        let event = format!(r#"JOB_INITED {{"jobid":"job_1_1","jobStatus":"INITED","uberized":{value}}}"#);
        Collected::read(&FORMAT, &history(&[&event])).unwrap().skipped.get("uber-job").copied()
    };
    assert_eq!(["true", r#"{"boolean":true}"#, "false", "null"].map(uber), [Some(1), Some(1), None, None]);
}

#[test]
fn events_reported_again_are_merged() {
    let start = |at| {
        format!(
            r#"TASK_STARTED {{"taskid":"task_1_1_m_0","taskType":"MAP","startTime":{at},"splitLocations":"a,/r/b"}}"#
        )
    };
    let attempt = r#"MAP_ATTEMPT_STARTED {"taskid":"task_1_1_m_0","taskType":"MAP","attemptId":"attempt_1_1_m_0_1000",
        "startTime":20,"trackerName":"tracker_a:localhost/127.0.0.1:80","locality":"RACK_LOCAL","avataar":"SPECULATIVE"}"#
        .replace('\n', " ");
    let end =
        r#"MAP_ATTEMPT_FINISHED {"attemptId":"attempt_1_1_m_0_1000","finishTime":30,"hostname":"a","rackname":"r"}"#;
    let lost =
        r#"MAP_ATTEMPT_KILLED {"attemptId":"attempt_1_1_m_0_1000","finishTime":40,"status":"KILLED","error":"gone"}"#;
    let job = job(&history(&[&start(10), &attempt, end, &start(50), &attempt, lost]));
    assert_eq!(job.tasks.len(), 1);
    let task = &job.tasks[0];
    assert_eq!((task.task.start, task.task.outcome, task.splits.len()), (Some(10), Outcome::Incomplete, 2));
    assert_eq!((task.splits[1].host.as_deref(), task.splits[1].rack.as_deref()), (Some("b"), Some("/r")));
    let [attempt] = &task.attempts[..] else { panic!("{:?}", task.attempts) };
    assert_eq!((attempt.attempt, attempt.start, attempt.finish), (1000, Some(20), Some(40)));
    assert_eq!((attempt.outcome, attempt.error.as_deref()), (Outcome::Killed, Some("gone")));
    assert_eq!((attempt.host.as_deref(), attempt.rack.as_deref()), (Some("a"), Some("/r")));
    assert_eq!((attempt.locality, attempt.speculative), (Some(Locality::Rack), Some(true)));
}

/// The second master reports the first one again. When the first was lost, nobody wrote down.
#[test]
fn each_application_master_is_an_attempt_at_one_task() {
    let master = |number: u32, start: i64| {
        format!(
            "AM_STARTED {{\"applicationAttemptId\":\"appattempt_1_0002_00000{number}\",\"startTime\":{start},\"nodeManagerHost\":\"h{number}\"}}"
        )
    };
    let submitted = r#"JOB_SUBMITTED {"jobid":"job_1_0002","submitTime":50}"#;
    let ended = r#"JOB_FINISHED {"jobid":"job_1_0002","finishTime":900}"#;
    let [first, second] = [master(1, 100), master(2, 400)];
    let job = job(&history(&[&first, submitted, &first, &second, ended]));
    let record = job.tasks.last().unwrap();
    let TaskRow { task_id, kind, start, finish, outcome, .. } = &record.task;
    assert_eq!((task_id.as_str(), *kind), ("job_1_0002_master", TaskKind::Master));
    assert_eq!((*start, *finish, *outcome), (Some(100), Some(900), Outcome::Success));
    let of = |number: usize| {
        let attempt = &record.attempts[number];
        (attempt.attempt, attempt.start, attempt.finish, attempt.outcome, attempt.host.as_deref())
    };
    assert_eq!(of(0), (0, Some(100), None, Outcome::Unknown, Some("h1")));
    assert_eq!(of(1), (1, Some(400), Some(900), Outcome::Success, Some("h2")));
    let foreign = master(1, 100).replace("_0002_", "_0003_");
    let found = Collected::read(&FORMAT, &history(&[submitted, &foreign, ended])).unwrap();
    assert_eq!(found.skipped, skipped("foreign-event"));
}

#[test]
fn a_task_may_be_of_any_kind_and_without_events_of_its_own() {
    let job = job(&history(&[
        r#"JOB_FINISHED {"jobid":"job_1_1","finishTime":9}"#,
        r#"SETUP_ATTEMPT_FINISHED {"attemptId":"attempt_1_1_m_2_0","taskType":"JOB_SETUP"}"#,
        r#"CLEANUP_ATTEMPT_FAILED {"attemptId":"attempt_1_1_m_3_0"}"#,
        r#"MAP_ATTEMPT_KILLED {"attemptId":"attempt_1_1_m_4_0","taskType":"TASK_CLEANUP","finishTime":0}"#,
        r#"TASK_FAILED {"taskid":"task_1_1_r_0","taskType":"REDUCE","status":"KILLED","error":"","finishTime":10}"#,
    ]));
    let kinds: Vec<_> = job.tasks.iter().map(|task| (task.task.kind, task.task.stage.as_deref())).collect();
    assert_eq!(
        kinds,
        [
            (TaskKind::Setup, None),
            (TaskKind::Cleanup, None),
            (TaskKind::Other, Some("task_cleanup")),
            (TaskKind::Reduce, None)
        ]
    );
    assert_eq!(job.tasks[2].attempts[0].finish, None);
    assert_eq!((job.tasks[3].task.outcome, job.tasks[3].attempts.len()), (Outcome::Killed, 0));
}

#[test]
fn events_that_do_not_belong_are_left_out() {
    for (event, cause) in [
        (r#"TASK_STARTED {"taskid":"task_1_2_m_0"}"#, "foreign-event"),
        (r#"JOB_FINISHED {"jobid":"job_2_1"}"#, "foreign-event"),
        (r#"TASK_STARTED {"startTime":1}"#, "damaged-event"),
        (r#"MAP_ATTEMPT_STARTED {"attemptId":"attempt_1_1_m_0_x"}"#, "damaged-event"),
        (r#"MAP_ATTEMPT_STARTED {"attemptId":"attempt_1_1_m_0_0","taskid":"task_1_1_m_1"}"#, "damaged-event"),
        (r#"TASK_FINISHEE {"taskid":"task_1_1_m_0"}"#, "unknown-event"),
        (r#"JOB_KILLED null"#, "damaged-event"),
    ] {
        let found = Collected::read(&FORMAT, &history(&[r#"JOB_SUBMITTED {"jobid":"job_1_1"}"#, event])).unwrap();
        assert_eq!(found.skipped, skipped(cause), "{event}");
        assert!(found.jobs[0].tasks.is_empty());
        assert_eq!(found.jobs[0].job.outcome, Outcome::Incomplete);
    }
}

/// The error for a binary history with this schema and these events.
fn with_schema(schema: &str, events: &[u8]) -> Result<Collected, String> {
    let bytes = [b"Avro-Binary\n", schema.as_bytes(), b"\n", events].concat();
    Collected::read(&FORMAT, &bytes).map_err(|error| error.to_string())
}

#[test]
fn a_schema_that_cannot_be_decoded_safely_is_an_error() {
    let record = |fields: &str| format!(r#"{{"type":"record","name":"Event","namespace":"n","fields":[{fields}]}}"#);
    let field = |of: &str| record(&format!(r#"{{"name":"event","type":{of}}}"#));
    let deep = |levels: usize| {
        field(&format!("{}\"int\"{}", r#"{"type":"array","items":"#.repeat(levels), "}".repeat(levels)))
    };
    for (schema, problem) in [
        ("{".to_owned(), "the line after Avro-Binary"),
        ("\"int\"".to_owned(), "not a record"),
        (field(r#"["null","Event"]"#), "within or before its definition"),
        (field(r#"{"type":"array","items":"null"}"#), "type Null"),
        (field(r#"{"type":"fixed","name":"F","size":4611686018427387904}"#), "type Fixed"),
        (record(""), "without fields"),
        (deep(20), "levels deep"),
        (deep(120), "levels deep"),
        (deep(100_000), "recursion limit"),
    ] {
        let error = with_schema(&schema, &[2; 100]).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    assert!(with_schema(&deep(10), &[0]).is_ok());
}

#[test]
fn a_count_without_end_is_damage() {
    let schema = r#"{"type":"record","name":"E","fields":[{"name":"type","type":{"type":"array","items":"boolean"}}]}"#;
    // 2^40 booleans.
    let found = with_schema(schema, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]).unwrap();
    assert_eq!(found.skipped, skipped("damaged-event"));
    // A thousand booleans, of which two are there.
    let found = with_schema(schema, &[0xd0, 0x0f, 1, 0]).unwrap();
    assert_eq!(found.skipped, skipped("cut-event"));
}

#[test]
fn no_damage_makes_it_panic() {
    for file in pairs().map(|(binary, json)| [binary, json]).as_flattened() {
        let Some(bytes) = read_shared(file) else { return };
        each_damage(&bytes, 300, |damaged| {
            (FORMAT.sniff)(damaged);
            // A broken magic line or schema is an error, anything else is counted.
            let _ = Collected::read_with_counters(&FORMAT, damaged);
        });
    }
}

#[test]
fn other_files_are_not_taken_for_a_history() {
    for text in ["", "Meta VERSION=\"1\" .\n", "{\"jobID\": \"job_1\"}", "Avro-Json\nis a word", "Avro-Jso"] {
        assert!(!(FORMAT.sniff)(text.as_bytes()), "{text}");
    }
    let error = Collected::read(&FORMAT, b"Meta\n").unwrap_err().to_string();
    assert!(error.contains("Avro-Binary"), "{error}");
}

/// Puts the definitions of named types where `schema` first refers to them, as a history's schema line has them.
fn inline(schema: &mut Value, types: &mut BTreeMap<String, Value>) {
    match schema {
        Value::String(name) => {
            if let Some(mut definition) = types.remove(name.as_str()) {
                inline(&mut definition, types);
                *schema = definition;
            }
        }
        Value::Array(branches) => branches.iter_mut().for_each(|branch| inline(branch, types)),
        Value::Object(fields) => {
            for key in ["fields", "type", "items", "values"] {
                fields.get_mut(key).into_iter().for_each(|value| inline(value, types));
            }
        }
        _ => {}
    }
}

/// The place of `name` in a list of names or of types.
fn index_of(list: &Value, name: &str) -> u8 {
    let found = list.as_array().unwrap().iter().position(|entry| entry == name || entry["name"] == name);
    u8::try_from(found.unwrap_or_else(|| panic!("{name} in {list}"))).unwrap()
}

#[test]
fn a_binary_event_is_read_by_its_own_schema() {
    let mut codes = std::collections::BTreeSet::new();
    for version in ["2011-06", "2014-08", "2.7-naver", "3.x-hops"] {
        let Some(bytes) = read_shared(&format!("schemas/Events-{version}.avpr")) else { return };
        let start = bytes.iter().position(|&byte| byte == b'{').unwrap();
        let protocol: Value = serde_json::from_slice(&bytes[start..]).unwrap();
        let types = protocol["types"].as_array().unwrap().iter();
        let mut types: BTreeMap<_, _> = types.map(|of| (of["name"].as_str().unwrap().to_owned(), of.clone())).collect();
        let mut schema = types.remove("Event").unwrap();
        inline(&mut schema, &mut types);
        // Avro's numbers are zigzag: small ones are doubled.
        let record = 2 * index_of(&schema["fields"][1]["type"], "JobInfoChange");
        let kind = 2 * index_of(&schema["fields"][0]["type"]["symbols"], "JOB_INFO_CHANGED");
        let event = [&[kind, record, 14][..], b"job_1_1", &[10, 14]].concat();
        let found = with_schema(&schema.to_string(), &event).unwrap();
        assert!(found.skipped.is_empty(), "{version}: {:?}", found.skipped);
        let job = &found.jobs[0].job;
        assert_eq!((job.job_id.as_str(), job.submit, job.launch), ("job_1_1", Some(5), Some(7)), "{version}");
        codes.insert(kind);
    }
    assert!(codes.len() > 1, "the versions number their events differently, or this proves nothing");
}
