//! Damaged tables: each damage costs at most the records that it hits, and none makes a reader panic.

use resched_ingest::{Options, ingest_into};
use resched_tables::sink::Collected;

use super::{Found, write};

const HASH: &str = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=";

/// A file of each table, of a dozen records.
fn tables() -> Vec<(&'static str, String)> {
    let twelve = |row: &dyn Fn(u32) -> String| (0..12).map(row).collect::<String>();
    vec![
        (
            "task_events",
            twelve(&|n| format!("{n}000,,7,{},55,{},{HASH},1,9,0.5,6e-05,0.1,0\n", n / 3, [0, 1, 4][n as usize % 3])),
        ),
        ("job_events", twelve(&|n| format!("{n}000,,{n},{},{HASH},1,{HASH},{HASH}\n", n % 6))),
        ("machine_events", twelve(&|n| format!("{n}000,{},{},{HASH},0.5,0.25\n", n / 3, n % 3))),
        (
            "collection_events.json",
            twelve(&|n| {
                format!("{{\"time\":\"{n}000\",\"type\":\"{}\",\"collection_id\":\"{n}\",\"user\":\"u\"}}\n", n % 9)
            }),
        ),
        (
            "instance_events.json",
            twelve(&|n| {
                format!(
                    "{{\"time\":\"{n}000\",\"type\":{},\"collection_id\":\"7\",\"instance_index\":\"{}\",\"machine_id\":\"5\",\
                     \"resource_request\":{{\"cpus\":0.5,\"memory\":0.25}}}}\n",
                    n % 9,
                    n / 3
                )
            }),
        ),
        (
            "slice.csv",
            ",time,collection_id,instance_index,machine_id,resource_request,event\n".to_owned()
                + &twelve(&|n| format!("{n},{n}000,7,{},5,\"{{'cpus': 0.5,\n 'memory': None}}\",SCHEDULE\n", n / 3)),
        ),
        ("batch_task17", twelve(&|n| format!("{n},2{n},3,{n},5,Terminated,50,0.0079\n"))),
        ("batch_instance17", twelve(&|n| format!("{n},2{n},3,{n},5,Failed,1,1,0.5,0.1,0.2,0.1\n"))),
        ("server_event", twelve(&|n| format!("{n},{n},add,,64,0.69,1\n"))),
        ("batch_task18", twelve(&|n| format!("J{}_{n},1.0,j_3,1,Terminated,{n},2{n},100.0,0.3\n", n + 1))),
        ("batch_instance18", twelve(&|n| format!("i{n},M1,j_3,1,Running,{n},0,m_7,1,1,5,6,0.1,0.2\n"))),
        ("machine_meta", twelve(&|n| format!("m_{n},{n},219,17,96,100,USING\n"))),
    ]
}

/// A key that is cut might be that of another job.
#[test]
fn an_id_at_the_limit_is_read_and_a_longer_one_is_skipped_and_counted() {
    let long = |bytes: usize| "x".repeat(bytes);
    let task = |job: &str, task: &str| format!("{task},2.0,{job},1,Terminated,157213,157295,100.0,0.3\n");
    let rows = [task(&long(1_024), &long(1_024)), task(&long(1_025), "M1"), task("j_3", &long(1_025))];
    let found = Found::in_files(&[("batch_task.csv", &rows.concat())]);
    let id = long(1_024);
    assert_eq!(found.tasks.keys().collect::<Vec<_>>(), [&format!("{id}/{id}")]);
    assert_eq!(found.skipped(), [("oversized-id", 2)]);
}

#[test]
fn no_damage_makes_a_reader_panic() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in tables() {
        let path = dir.path().join(name);
        let mut read = 0;
        for time in 0..120 {
            let at = (time * 7919 + time * text.len() / 120) % text.len();
            let mut bytes = text.clone().into_bytes();
            match time % 4 {
                0 => bytes[at] ^= 1 << (time / 4 % 8),
                1 => bytes[at] = b"{}[]\"\\,:\n\xff\0-9"[time / 4 % 13],
                2 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }
            write(&path, bytes);
            let mut sink = Collected::default();
            let options = Options::default();
            if ingest_into(std::slice::from_ref(&path), &mut sink, &options, &mut ()).is_ok() {
                read += 1;
                assert!(sink.jobs.len() + sink.nodes.len() > 0 && sink.jobs.len() <= 24, "{name}, damage {time}");
            }
        }
        assert!(read > 60, "{name}: only {read} of 120 were read");
    }
}
