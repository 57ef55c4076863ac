#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, ListArray, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, types::Int32Type,
};
use resched_tables::model::Outcome;
use resched_tables::sink::Collected;

use super::super::golden::each_damage;
use super::*;

const FIELDS: &str = "[fields]\nid = \"id\"\nsubmit = \"submit\"\nstart = \"start\"\nend = \"end\"\n";

fn read(map: &str, table: &str) -> Collected {
    let mut found = Collected::default();
    Map::parse(map, "map").unwrap().read_table(&mut table.as_bytes(), "table", &mut found).unwrap();
    found
}

#[test]
fn rows_are_filtered_and_damage_is_counted() {
    let map = format!("{FIELDS}state = \"state\"\n[[filter]]\ncolumn = \"q\"\nis = [\"a*\"]\nnot = [\"ab\"]\n");
    let table = "id,submit,start,end,state,q\n1,100,200,300,COMPLETED,a\n2,100,200,300,COMPLETED,ab\n3,soon,200,300,FAILED,a\n\
                 4,100,200,300,WEIRD,A1\n5,100,,,PENDING,a\n,100,200,300,FAILED,a\n6,100,200,,RUNNING,a\n\
                 7,100,200,300,\"CANCELLED by 5\",a\n";
    let found = read(&map, table);
    let shown: Vec<(&str, Outcome, usize)> = found
        .jobs
        .iter()
        .map(|record| (record.job.job_id.as_str(), record.job.outcome, record.tasks[0].attempts.len()))
        .collect();
    use Outcome::{Incomplete, Killed, Success, Unknown};
    assert_eq!(
        shown,
        [("1", Success, 1), ("4", Unknown, 1), ("5", Incomplete, 0), ("6", Incomplete, 1), ("7", Killed, 1)]
    );
    let counted = ["row-filtered-out", "damaged-row", "unknown-state"].map(|cause| found.skipped[cause]);
    assert_eq!(counted, [1, 2, 1]);
}

#[test]
fn run_times_take_the_place_of_starts_and_ends() {
    let map = "[fields]\nsubmit = { column = \"s\", unit = \"ms\" }\nwait = { column = \"w\", unit = \"s\" }\n\
               run = { column = \"r\", unit = \"min\" }\n\
               cpus = { column = \"c\", of = \"task\" }\ntasks = \"t\"\nmemory = { column = \"m\", unit = \"GiB\", of = \"cpu\" }\n";
    let found = read(
        map,
        "{\"s\": 1000, \"w\": 2.5, \"r\": 1, \"c\": 2, \"t\": 3, \"m\": 1}\n{\"s\": 5000, \"r\": 2, \"t\": 3}\nnonsense\n",
    );
    let times: Vec<_> =
        found.jobs.iter().map(|record| (record.job.job_id.as_str(), record.job.launch, record.job.finish)).collect();
    assert_eq!(times, [("1", Some(3_500), Some(63_500)), ("2", None, None)]);
    assert_eq!(found.jobs[1].tasks[0].attempts[0].run_time, Some(120_000));
    let task = &found.jobs[0].tasks[0].task;
    assert_eq!((task.instances, task.cpu_request, task.memory_request), (Some(3), Some(2_000), Some(2 << 30)));
    assert_eq!(found.skipped["damaged-row"], 1);
}

/// A table with another mark between its columns, without a header, and with times of another zero.
#[test]
fn a_table_may_have_no_header() {
    let map =
        format!("delimiter = \";\"\ncolumns = [\"id\", \"submit\", \"start\", \"end\"]\nzero = \"relative\"\n{FIELDS}");
    let found = read(&map, "a;0;1;2\nb;\"3\";4;5\n");
    assert_eq!(found.jobs.iter().map(|record| record.job.submit).collect::<Vec<_>>(), [Some(0), Some(3_000)]);
    let map = Map::parse(&map, "map").unwrap();
    assert_eq!(map.table().time_zero, Some(TimeZero::Relative));
}

/// Rows that pass through in pieces give the same jobs as rows that are held.
#[test]
fn machines_are_sized_by_use_if_the_map_lists_none() {
    let held = format!("{FIELDS}cpus = \"c\"\nhosts = \"h\"\n");
    let table = "id,submit,start,end,c,h\n1,0,1,9,4,\"n[1-2]\"\n2,0,5,9,3,n1\n3,0,9,10,1,n[\n";
    let found = read(&held, table);
    let sizes: Vec<_> = found.nodes.iter().map(|node| (node.host.as_str(), node.cpu)).collect();
    assert_eq!(sizes, [("n1", Some(5_000)), ("n2", Some(5_000))]);
    assert_eq!((found.jobs.len(), found.skipped["damaged-node-list"]), (3, 1));
    let listed = read(&format!("{held}[[machines]]\nhosts = \"n[1-2]\"\ncores = 8\nmemory = \"1.5 GiB\"\n"), table);
    assert_eq!(listed.jobs, found.jobs);
    assert_eq!((listed.nodes.len(), listed.nodes[0].cpu, listed.nodes[0].memory), (2, Some(8_000), Some(1_536 << 20)));
}

/// Times with and without a zone, lists, numbers and texts, each as Parquet has them.
#[test]
fn parquet_is_read_as_its_types_say() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let at = 1_795_838_400_000_i64;
    let nodes = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![Some(3)])]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int32Array::from(vec![7, 8]))),
        ("submit", Arc::new(TimestampNanosecondArray::from(vec![at * 1_000_000, at * 1_000_000]).with_timezone("UTC"))),
        ("start", Arc::new(TimestampMicrosecondArray::from(vec![Some((at + 3_600_250) * 1_000), None]))),
        ("run", Arc::new(Float64Array::from(vec![Some(90.0), None]))),
        ("state", Arc::new(StringArray::from(vec!["COMPLETED", "PENDING"]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
        ("nodes", Arc::new(nodes)),
        ("cores", Arc::new(Float64Array::from(vec![8.0, 4.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let map = "zone = \"+01:00\"\n[fields]\nid = \"id\"\nsubmit = \"submit\"\nstart = \"start\"\nrun = \"run\"\nstate = \"state\"\n\
               cpus = \"cores\"\nexclusive = \"flag\"\nhosts = { column = \"nodes\", prefix = \"n\" }\n";
    let mut found = Collected::default();
    let bytes = std::fs::read(&path).unwrap();
    let map = Map::parse(map, "map").unwrap();
    map.read_table(&mut &bytes[..], &path.display().to_string(), &mut found).unwrap();
    let first = &found.jobs[0];
    // An hour of the zone before what the clock shows.
    assert_eq!((first.job.submit, first.job.launch, first.job.finish), (Some(at), Some(at + 250), Some(at + 90_250)));
    assert_eq!((first.tasks[0].task.instances, first.tasks[0].task.cpu_request), (Some(2), Some(4_000)));
    assert_eq!(first.tasks[0].task.exclusive, Some(true));
    assert_eq!(first.tasks[0].attempts[0].hosts.as_deref(), Some("n[1-2]*1"));
    assert_eq!((found.jobs[1].job.outcome, found.jobs[1].tasks[0].attempts.len()), (Outcome::Incomplete, 0));
    let text = suggest(&mut &bytes[..], &path.display().to_string()).unwrap();
    assert!(
        text.contains("submit = \"submit\"") && text.contains("hosts = { column = \"nodes\", syntax = \"list\" }"),
        "{text}"
    );
    each_damage(&bytes, 100, |damaged| {
        std::fs::write(&path, damaged).unwrap();
        let _ = map.read_table(&mut &damaged[..], &path.display().to_string(), &mut Collected::default());
    });
}

#[test]
fn no_damage_breaks_the_reader() {
    let csv = "id,submit,start,end\n1,100,200,300\n\"2\",2026-01-01 00:00:00,200,\n".repeat(3);
    let json =
        "[{\"id\": 1, \"submit\": 100, \"start\": [1, {}], \"end\": \"x\"},\n{\"id\": \"2\", \"submit\": 1e3}]\n";
    let map = Map::parse(FIELDS, "map").unwrap();
    for table in [csv.as_bytes(), json.as_bytes()] {
        each_damage(table, 300, |damaged| {
            let _ = map.read_table(&mut &damaged[..], "table", &mut Collected::default());
            let _ = suggest(&mut &damaged[..], "table");
        });
    }
    let mut texts = Vec::new();
    each_damage(FIELDS.as_bytes(), 300, |damaged| texts.push(String::from_utf8_lossy(damaged).into_owned()));
    for text in texts {
        if let Ok(map) = Map::parse(&text, "map") {
            let _ = map.read_table(&mut csv.as_bytes(), "table", &mut Collected::default());
        }
    }
}

#[test]
fn a_row_beyond_the_limit_is_counted() {
    let row = |bytes: usize| format!("id,submit,start,end\n1,100,200,300,{}\n", "x".repeat(bytes - "1100200300".len()));
    let found = [MAX_ROW, MAX_ROW + 1].map(|bytes| {
        let found = read(FIELDS, &row(bytes));
        (found.jobs.len(), found.skipped.get("oversized-row").copied())
    });
    assert_eq!(found, [(1, None), (0, Some(1))]);
}

#[test]
fn a_row_has_as_many_columns_as_the_limit_and_not_one_more() {
    let found = [MAX_COLUMNS, MAX_COLUMNS + 1].map(|columns| {
        let rest = "x,".repeat(columns - 5);
        read(FIELDS, &format!("id,submit,start,end\n1,100,200,300,{rest}\n")).jobs.len()
    });
    assert_eq!(found, [1, 0]);
}

/// True if a map with this at its end is one.
fn is_map(more: &str) -> bool {
    Map::parse(&format!("{FIELDS}{more}"), "map").is_ok()
}

#[test]
fn lists_of_a_map_have_as_many_entries_as_the_limit_and_not_one_more() {
    let filters = |count: usize| "[[filter]]\ncolumn = \"a\"\nis = [\"b\"]\n".repeat(count);
    assert_eq!([MOST_PARTS, MOST_PARTS + 1].map(|count| is_map(&filters(count))), [true, false]);
}

#[test]
fn a_field_has_as_many_columns_as_the_limit_and_not_one_more() {
    let user = |count: usize| format!("user = {{ column = [{}] }}\n", "\"u\",".repeat(count));
    assert_eq!([MOST_COLUMNS, MOST_COLUMNS + 1].map(|count| is_map(&user(count))), [true, false]);
}

#[test]
fn a_name_of_a_map_is_as_long_as_the_limit_and_not_longer() {
    let user = |bytes: usize| format!("user = \"{}\"\n", "u".repeat(bytes));
    assert_eq!([LONGEST_NAME, LONGEST_NAME + 1].map(|bytes| is_map(&user(bytes))), [true, false]);
}

#[test]
fn a_map_lists_as_many_machines_as_the_limit_and_not_one_more() {
    let machines = |count: usize| format!("[[machines]]\nhosts = \"n[1-{count}]\"\ncores = 4\n");
    assert_eq!([MOST_MACHINES, MOST_MACHINES + 1].map(|count| is_map(&machines(count))), [true, false]);
}

#[test]
fn a_map_is_read_up_to_its_limit_and_not_beyond() {
    let folder = tempfile::tempdir().unwrap();
    let of = |bytes: u64| {
        let path = folder.path().join(format!("{bytes}.toml"));
        let rest = bytes as usize - FIELDS.len() - 1;
        std::fs::write(&path, format!("{FIELDS}#{}", "x".repeat(rest))).unwrap();
        Map::read(&path).is_ok()
    };
    assert_eq!([of(MAX_MAP), of(MAX_MAP + 1)], [true, false]);
}
