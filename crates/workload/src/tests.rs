#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rand::RngExt;

use super::*;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{JobRecord, JobRow, NodeRow, TaskKind, TaskRecord};
use resched_tables::sink::Collected;
use resched_tables::store::columns::Row;

fn bundled(name: &str) -> Workload {
    Workload::read(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name)).unwrap()
}

fn made(workload: &Workload, seed: u64) -> Collected {
    let mut sink = Collected::default();
    generate(workload, seed, &mut sink).unwrap();
    assert!(sink.skipped.is_empty(), "nothing is skipped, found {:?}", sink.skipped);
    sink
}

fn numbers(record: &JobRecord) -> (i64, i64, i64) {
    let job = &record.job;
    (job.submit.unwrap(), job.declared_maps.unwrap(), job.declared_reduces.unwrap())
}

const SMALL: &str = r#"
name = "small"

[cluster]
nodes = 4
racks = 2

[classes.grep]
map_mean_s = 10
map_selectivity = 0.5
shuffle_rate = 1e6
reduce_mean_s = 7
output_selectivity = 0.1

[[jobs]]
class = "grep"
submit_s = 1.5
maps = 2
reduces = 1
user = "ann"
priority = "HIGH"
repeat = 2
every_s = 60

[[jobs]]
class = "grep"
submit_s = 30
maps = 1
name = "odd one"
queue = "night"
"#;

#[test]
fn a_workload_by_hand() {
    let made = made(&Workload::parse(SMALL, "small.toml").unwrap(), 1);
    let nodes: Vec<_> = made.nodes.iter().map(|node| (node.host.as_str(), node.rack.as_deref().unwrap())).collect();
    assert_eq!(
        nodes,
        [
            ("node-00000", "/rack-000"),
            ("node-00001", "/rack-000"),
            ("node-00002", "/rack-001"),
            ("node-00003", "/rack-001")
        ]
    );
    assert_eq!((made.nodes[0].map_slots, made.nodes[0].reduce_slots), (Some(2), Some(2)));
    let jobs: Vec<_> = made.jobs.iter().map(numbers).collect();
    assert_eq!(jobs, [(1_500, 2, 1), (30_000, 1, 0), (61_500, 2, 1)]);

    let job = &made.jobs[0].job;
    assert_eq!(
        (job.job_id.as_str(), job.name.as_deref(), job.user.as_deref()),
        ("job_0_0001", Some("grep"), Some("ann"))
    );
    assert_eq!((job.queue.as_deref(), job.priority), (Some("default"), Some(Priority::High)));
    // Two splits of 64 MiB; half of that is shuffled; a tenth of the half is written.
    assert_eq!(
        (job.input_bytes, job.shuffle_bytes, job.output_bytes),
        (Some(134_217_728), Some(67_108_864), Some(6_710_886))
    );
    let [map, _, reduce] = made.jobs[0].tasks.as_slice() else { panic!("{:?}", made.jobs[0].tasks) };
    assert_eq!((map.attempts[0].start, map.attempts[0].finish), (Some(1_500), Some(11_500)));
    assert_eq!(map.splits.len(), 3);
    // 67,108,864 B at 1 MB/s take 67,109 ms, then 7 s.
    let reduce = &reduce.attempts[0];
    assert_eq!((reduce.shuffle_finish, reduce.finish), (Some(1_500 + 67_109), Some(1_500 + 67_109 + 7_000)));

    // Without reduces the maps write: a tenth of 64 MiB.
    let job = &made.jobs[1].job;
    assert_eq!((job.name.as_deref(), job.queue.as_deref()), (Some("odd one"), Some("night")));
    assert_eq!((job.shuffle_bytes, job.output_bytes), (Some(0), Some(6_710_886)));
}

/// After its last fetch a reduce takes a time of its own, and one in proportion to what it has fetched.
#[test]
fn reduces_take_longer_with_more_input() {
    let text = SMALL.replace("reduce_mean_s = 7", "reduce_mean_s = 7\nreduce_rate = 2e6");
    let made = made(&Workload::parse(&text, "small.toml").unwrap(), 1);
    let reduce = &made.jobs[0].tasks.last().unwrap().attempts[0];
    // 67,108,864 B at 2 MB/s take 33,554 ms.
    assert_eq!(reduce.finish.unwrap() - reduce.shuffle_finish.unwrap(), 7_000 + 33_554);
}

/// Jobs of one file read the same blocks, and the places of other jobs' blocks do not change.
#[test]
fn jobs_with_the_same_input_read_the_same_blocks() {
    let workload = bundled("coupling-table4.toml");
    let places = |made: &Collected, job: usize| -> Vec<Vec<Option<String>>> {
        let hosts = |task: &TaskRecord| task.splits.iter().map(|split| split.host.clone()).collect();
        made.jobs[job].tasks.iter().take(8).map(hosts).collect()
    };
    let shared = made(&workload, 1);
    // Jobs 5 and 12 read randomInput05, as job 4 does; job 1 reads another file.
    assert_eq!((places(&shared, 4), places(&shared, 11)), (places(&shared, 3), places(&shared, 3)));
    let mut apart = workload.clone();
    apart.jobs.iter_mut().for_each(|jobs| jobs.input = None);
    let apart = made(&apart, 1);
    assert_ne!(places(&apart, 4), places(&apart, 3));
    assert_eq!((places(&apart, 3), places(&apart, 0)), (places(&shared, 3), places(&shared, 0)));
}

#[test]
fn one_seed_gives_one_trace() {
    let workload = bundled("coupling-fig16.toml");
    let first = made(&workload, 1);
    assert_eq!(first, made(&workload, 1));
    assert_ne!(first, made(&workload, 2));
}

/// Coupling, Table IV.
#[test]
fn table_4_is_as_printed() {
    let made = made(&bundled("coupling-table4.toml"), 1);
    assert_eq!(made.nodes.len(), 15);
    assert!(made.nodes.iter().all(|node| (node.map_slots, node.reduce_slots) == (Some(4), Some(2))));
    let expected = [
        (0, 148, 15),
        (30, 148, 15),
        (150, 5, 1),
        (170, 8, 1),
        (190, 8, 2),
        (210, 8, 2),
        (230, 8, 3),
        (470, 427, 15),
        (500, 427, 15),
        (800, 224, 27),
        (860, 15, 5),
        (880, 8, 3),
        (900, 8, 2),
        (1020, 64, 27),
        (1140, 30, 2),
        (1440, 15, 1),
        (1710, 352, 27),
        (2110, 15, 1),
        (2125, 8, 3),
        (2245, 64, 27),
        (2365, 150, 0),
        (2485, 10, 1),
    ]
    .map(|(submit, maps, reduces)| (submit * 1_000, maps, reduces));
    assert_eq!(made.jobs.iter().map(numbers).collect::<Vec<_>>(), expected);
    let names: Vec<_> = made.jobs.iter().map(|job| job.job.name.clone().unwrap()).collect();
    assert_eq!(names, (1..=22).map(|row| row.to_string()).collect::<Vec<_>>());
    for record in &made.jobs {
        let reads = record.job.name.as_deref() != Some("21");
        for map in record.tasks.iter().filter(|task| task.task.kind == TaskKind::Map) {
            assert_eq!(map.splits.len(), usize::from(reads), "one replica, and none for RandomWriter");
            assert_eq!(map.attempts[0].locality.is_some(), reads);
        }
    }
}

/// Coupling, Table III.
#[test]
fn table_3_keeps_data_on_7_of_15_machines() {
    let made = made(&bundled("coupling-table3.toml"), 1);
    assert_eq!((made.nodes.len(), made.jobs.len()), (15, 10));
    let maps: Vec<_> = made.jobs.iter().map(|job| job.tasks.len()).collect();
    assert_eq!(maps, [427, 15, 23, 45, 427, 15, 23, 30, 427, 45]);
    let splits = made.jobs.iter().flat_map(|job| &job.tasks).flat_map(|task| &task.splits);
    let hosts: BTreeSet<_> = splits.map(|split| split.host.clone().unwrap()).collect();
    assert_eq!(hosts, (8..15).map(resched_tables::names::host_name).collect());
}

/// Coupling, Fig. 16.
#[test]
fn fig_16_arrives_in_batches() {
    let workload = bundled("coupling-fig16.toml");
    let (mut within, mut between) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let arrivals = workload.arrivals.as_ref().unwrap().get_ref();
        let submits = generate::submissions(arrivals, seed).collect::<Vec<_>>();
        assert_eq!(submits.len(), 200);
        let heads: Vec<_> = submits.iter().step_by(20).collect();
        between.extend(heads.windows(2).map(|pair| pair[1] - pair[0]));
        within.extend(submits.chunks(20).flat_map(|batch| batch.windows(2).map(|pair| pair[1] - pair[0])));
    }
    let mean = |gaps: &[i64]| gaps.iter().sum::<i64>() as f64 / gaps.len() as f64;
    assert_eq!((within.len(), between.len()), (20 * 190, 20 * 9));
    // An exponential gap's deviation is its mean: four standard errors are 4/√3,800 and 4/√180 of it.
    assert!((mean(&within) / 25_000.0 - 1.0).abs() < 0.065, "{}", mean(&within));
    assert!((mean(&between) / 1_200_000.0 - 1.0).abs() < 0.3, "{}", mean(&between));

    let made = made(&workload, 1);
    let mut classes = BTreeMap::new();
    for record in &made.jobs {
        *classes.entry(record.job.name.clone().unwrap()).or_insert(0) += 1;
    }
    // The 148 Greps of the paper are of two files, and of one class.
    let expected = [("grep", 148), ("qmc", 13), ("sort", 21), ("wordcount", 18)];
    assert_eq!(classes, expected.map(|(class, jobs)| (class.to_owned(), jobs)).into());
    assert!(made.jobs.is_sorted_by_key(|job| job.job.submit));
}

#[test]
fn errors_name_the_line_and_the_nearest_key() {
    let cases = [
        (
            "maps = 2",
            "mapz = 2",
            "small.toml: line 18, expected one of",
            "found unknown field `mapz`; did you mean `maps`?",
        ),
        ("nodes = 4", "node = 4", "line 5, ", "did you mean `nodes`?"),
        ("class = \"grep\"\nsubmit_s = 30", "class = \"grap\"\nsubmit_s = 30", "line 26, ", "did you mean `grep`?"),
        ("priority = \"HIGH\"", "priority = \"HIHG\"", "line 21, ", "did you mean `HIGH`?"),
        ("map_mean_s = 10", "map_mean_s = -10", "line 9, ", "expected a number from 0, found floating point `-10.0`"),
        ("shuffle_rate = 1e6", "shuffle_rate = nan", "line 11, ", "a number above 0"),
        ("maps = 2", "maps = 0", "line 18, ", "nonzero"),
        ("maps = 2", "maps = \"two\"", "line 18, ", "string \"two\""),
        ("maps = 2", "", "line 15, ", "expected the key `maps`, found none"),
        ("maps = 2", "maps = 2000000", "line 16, expected a job of at most 1000000 tasks", "2000001"),
        ("racks = 2", "racks = 5", "line 4, ", "expected racks from 1 to 4, the number of nodes, found 5; correct"),
        ("racks = 2", "map_slots = 4000000000", "line 4, ", "10000000 slots"),
        ("racks = 2", "data_nodes = [0, 4]", "line 4, ", "found 4"),
        ("repeat = 2", "repeat = 1000000", "at most 1000000 jobs", "found 1000001"),
        ("[cluster]", "[cluster", "line 4, ", "expected"),
    ];
    for (from, to, place, says) in cases {
        assert!(SMALL.contains(from), "{from}");
        let error = Workload::parse(&SMALL.replacen(from, to, 1), "small.toml").unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(says), "{to}: {error}");
    }
    let jobless = SMALL.split("[[jobs]]").next().unwrap();
    let error = Workload::parse(jobless, "small.toml").unwrap_err().to_string();
    assert_eq!(error, "small.toml: expected a job, found none; add [[jobs]] or [arrivals]");
}

#[test]
fn arrivals_must_add_up() {
    let arrivals = "[arrivals]\nbatches = 2\njobs_per_batch = 3\ngap_mean_s = 1\n\
                    mix = [{ class = \"grep\", jobs = 5, sizes = [{ maps = 1 }] }]\n";
    let error = Workload::parse(&format!("{SMALL}\n{arrivals}"), "small.toml").unwrap_err().to_string();
    assert!(error.contains("add up to 6") && error.contains("found 5"), "{error}");
    let sizeless = arrivals.replace("jobs = 5, sizes = [{ maps = 1 }]", "jobs = 6, sizes = []");
    let error = Workload::parse(&format!("{SMALL}\n{sizeless}"), "small.toml").unwrap_err().to_string();
    assert!(error.contains("a size in `sizes`"), "{error}");
}

#[test]
fn hostile_numbers_do_not_overflow() {
    let text = SMALL.replace("map_mean_s = 10", "map_mean_s = 1e300").replace("submit_s = 30", "submit_s = 1e300");
    let text = text.replace("racks = 2", "racks = 2\nsplit_bytes = 9223372036854775807");
    let made = made(&Workload::parse(&text, "small.toml").unwrap(), 1);
    assert_eq!(made.jobs.last().unwrap().job.submit, Some(i64::MAX));
}

/// A workload of one line of jobs on a cluster, both with these settings.
fn sized(cluster: &str, jobs: &str) -> Result<Workload, String> {
    let text = format!(
        "name = 'x'\n[cluster]\n{cluster}\n[classes.c]\nmap_mean_s = 1\n[[jobs]]\nclass = 'c'\nsubmit_s = 0\n{jobs}\n"
    );
    Workload::parse(&text, "x.toml").map_err(|error| error.to_string())
}

#[test]
fn as_many_jobs_as_the_limit_and_not_one_more() {
    let of = |jobs: u64| sized("nodes = 3", &format!("maps = 1\nrepeat = {jobs}"));
    assert!(of(MAX_JOBS).is_ok());
    let problem = of(MAX_JOBS + 1).unwrap_err();
    assert!(problem.contains("expected at most 1000000 jobs, found 1000001"), "{problem}");
}

#[test]
fn a_job_has_as_many_tasks_as_the_limit_and_not_one_more() {
    let of = |maps: u64, reduces: u64| sized("nodes = 3", &format!("maps = {maps}\nreduces = {reduces}"));
    assert!(of(MAX_TASKS, 0).is_ok() && of(MAX_TASKS - 7, 7).is_ok());
    for problem in [of(MAX_TASKS + 1, 0), of(MAX_TASKS - 7, 8)] {
        let problem = problem.unwrap_err();
        assert!(problem.contains("expected a job of at most 1000000 tasks, found 1000001"), "{problem}");
    }
}

#[test]
fn a_cluster_has_as_many_machines_as_the_limit_and_not_one_more() {
    let of =
        |nodes: u32| sized(&format!("nodes = {nodes}\ndata_nodes = [0]\nmap_slots = 1\nreduce_slots = 1"), "maps = 1");
    assert!(of(MAX_NODES).is_ok());
    let problem = of(MAX_NODES + 1).unwrap_err();
    assert!(problem.contains("expected nodes from 1 to 1000000, found 1000001"), "{problem}");
}

#[test]
fn a_cluster_has_as_many_slots_as_the_limit_and_not_one_more() {
    let of = |slots: u64| sized(&format!("nodes = 1\nmap_slots = {slots}\nreduce_slots = 1"), "maps = 1");
    assert!(of(MAX_SLOTS - 1).is_ok());
    let problem = of(MAX_SLOTS).unwrap_err();
    assert!(problem.contains("expected a cluster of at most 10000000 slots, found 10000001"), "{problem}");
}

/// As many tasks take gigabytes, so they are only counted.
#[test]
fn all_jobs_have_as_many_tasks_as_the_limit_and_not_one_more() {
    for most in [MAX_HELD_TASKS, MAX_WRITTEN_TASKS] {
        let all = |jobs: &str| {
            let workload = sized("nodes = 3", &format!("maps = {}\nrepeat = 100\n{jobs}", most / 100)).unwrap();
            generate::check_tasks(&workload, 1, "x.toml", most, |tasks| format!("allow {tasks}"))
        };
        assert!(all("").is_ok());
        let problem = all("[[jobs]]\nclass = 'c'\nsubmit_s = 0\nmaps = 1").unwrap_err().to_string();
        let beyond = most + 1;
        assert_eq!(
            problem,
            format!("x.toml: expected at most {most} tasks in all jobs, found {beyond}; allow {beyond}")
        );
    }
}

/// The description of the format shows every key; a key that was renamed or added would fail here.
#[test]
fn the_readme_describes_every_key() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/README.md")).unwrap();
    let example = readme.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let workload = Workload::parse(example, "README.md").unwrap();
    let full = toml::Table::try_from(&workload).unwrap();
    let shown: toml::Table = toml::from_str(example).unwrap();
    assert_eq!(keys(&full, ""), keys(&shown, ""));
}

fn keys(table: &toml::Table, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        let tables = match value {
            toml::Value::Table(table) => vec![table],
            toml::Value::Array(items) => items.iter().filter_map(toml::Value::as_table).collect(),
            _ => vec![],
        };
        found.extend(tables.into_iter().flat_map(|table| keys(table, &format!("{path}."))));
        found.insert(path);
    }
    found
}

#[test]
fn made_columns_exist() {
    let tables = [(JobRow::TABLE, JobRow::schema()), (NodeRow::TABLE, NodeRow::schema())];
    for made in MADE {
        let (table, column) = made.split_once('.').unwrap();
        assert!(tables.iter().any(|(name, schema)| *name == table && schema.field_with_name(column).is_ok()), "{made}");
    }
}

/// Whatever stands in the file, it is read or refused.
#[test]
fn damaged_files_do_not_panic() {
    let mut refused = 0;
    for round in 0..500 {
        let mut rng = stream(1, Purpose::JobChoice, &[round]);
        let mut bytes = SMALL.as_bytes().to_vec();
        let place = rng.random_range(0..bytes.len());
        bytes[place] = rng.random_range(b' '..b'~');
        refused += usize::from(Workload::parse(&String::from_utf8(bytes).unwrap(), "small.toml").is_err());
    }
    assert!((100..500).contains(&refused), "{refused} of 500 files are refused");
}
