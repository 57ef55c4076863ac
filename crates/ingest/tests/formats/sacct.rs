//! Lists of jobs by `sacct` of a real Slurm, beside what it did.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use resched_ingest::export::export;
use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::model::{JobRecord, Outcome};
use resched_tables::named::amounts;
use resched_tables::sink::Collected;
use resched_tables::store::{BACKFILL_START, Manifest};
use serde_json::json;

use crate::support::{answers, fixture};

/// The folder with what a real Slurm did.
fn truth() -> Option<PathBuf> {
    let folder = crate::support::real_traces()?.parent().unwrap().join("truth/slurm");
    folder.is_dir().then_some(folder)
}

/// The runs of 22.05 and of 24.11, each with its folder.
fn runs() -> Vec<(PathBuf, &'static str)> {
    let Some(old) = truth() else { return Vec::new() };
    let new = old.with_file_name("slurm-24.11");
    let of = |folder: &PathBuf, runs: &[&'static str]| -> Vec<(PathBuf, &'static str)> {
        runs.iter().map(|&run| (folder.join(run), run)).filter(|(path, _)| path.is_dir()).collect()
    };
    let all =
        [of(&old, &["fifo", "backfill", "easy", "nodes", "mixed"]), of(&new, &["fifo", "backfill", "nodes", "mixed"])];
    all.concat()
}

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

fn read_in(path: &Path, timezone: &str) -> (Collected, Manifest) {
    read_with(path, &Options { timezone: Some(timezone.parse().unwrap()), ..Options::default() })
}

fn read_with(path: &Path, options: &Options) -> (Collected, Manifest) {
    let mut found = Collected::default();
    let manifest = ingest_into(&[path.to_path_buf()], &mut found, options, &mut ()).unwrap();
    (found, manifest)
}

fn read(path: &Path) -> Collected {
    read_in(path, "UTC").0
}

/// Reads a text as a file of its own.
fn read_text(text: &str) -> Collected {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs");
    std::fs::write(&path, text).unwrap();
    read(&path)
}

/// A row of `truth.csv.gz`, by column.
type Row = BTreeMap<String, String>;

/// The rows of each job, in the order of their submission.
fn rows(run: &Path) -> BTreeMap<String, Vec<Row>> {
    let text = unpacked(&run.join("truth.csv.gz"));
    let mut lines = text.lines();
    let names = cells(lines.next().unwrap());
    let mut jobs: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in lines {
        let row: Row = names.iter().cloned().zip(cells(line)).collect();
        jobs.entry(row["job"].clone()).or_default().push(row);
    }
    jobs.values_mut().for_each(|rows| rows.sort_by_key(|row| row["submit"].clone()));
    jobs
}

/// The cells of a line, of which some are in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

fn seconds(row: &Row, column: &str) -> Option<i64> {
    row[column].parse::<i64>().ok().map(|seconds| seconds * 1_000)
}

fn outcome(state: &str) -> Outcome {
    match state.split(' ').next().unwrap() {
        "COMPLETED" => Outcome::Success,
        "FAILED" | "DEADLINE" => Outcome::Failed,
        "CANCELLED" | "TIMEOUT" => Outcome::Killed,
        "NODE_FAIL" => Outcome::Lost,
        "PREEMPTED" | "REQUEUED" => Outcome::Evicted,
        other => panic!("{other}"),
    }
}

fn check(record: &JobRecord, rows: &[Row]) {
    let JobRecord { job, tasks, .. } = record;
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let id = &job.job_id;
    assert_eq!(job.submit, seconds(first, "submit"), "{id}");
    let eligible = seconds(first, "eligible").filter(|_| first["eligible"] > first["submit"]);
    assert_eq!(job.eligible, eligible, "{id}");
    assert_eq!(job.launch, rows.iter().find_map(|row| seconds(row, "start")), "{id}");
    assert_eq!(job.finish, seconds(last, "end"), "{id}");
    assert_eq!(job.requested_containers.unwrap().to_string(), last["req_cpus"], "{id}");
    assert_eq!(
        job.requested_time.map_or(String::new(), |time| (time / 60_000).to_string()),
        last["limit_minutes"].replace("UNLIMITED", &(365 * 24 * 60).to_string()),
        "{id}"
    );
    assert_eq!(job.outcome, outcome(&last["state"]), "{id}");
    let texts = [&job.user, &job.queue, &job.qos].map(|text| text.as_deref().unwrap_or_default());
    assert_eq!(texts, ["user", "partition", "qos"].map(|column| last[column].as_str()), "{id}");
    assert_eq!(job.priority_number.unwrap().to_string(), last["priority"], "{id}");
    let ran: Vec<&Row> = rows.iter().filter(|row| seconds(row, "start").is_some()).collect();
    let attempts = &tasks[0].attempts;
    assert_eq!(attempts.len(), ran.len(), "{id}");
    for (attempt, row) in attempts.iter().zip(ran) {
        assert_eq!(attempt.start, seconds(row, "start"), "{id}");
        let suspended: i64 = row["suspended"].rsplit(':').next().unwrap().parse().unwrap();
        assert_eq!(attempt.finish, seconds(row, "end").map(|end| end - suspended * 1_000), "{id}");
        assert_eq!(attempt.queued, seconds(row, "eligible"), "{id}");
        assert_eq!(attempt.outcome, outcome(&row["state"]), "{id}");
        assert_eq!(attempt.host.as_deref(), Some(row["nodelist"].as_str()).filter(|_| row["nodes"] == "1"), "{id}");
    }
    let task = &tasks[0].task;
    let cpus = task.instances.unwrap() * task.cpu_request.unwrap() / 1_000;
    // A job that never ran has what it asked for in 22.05, and nothing in 24.11.
    if last["cpus"] != "0" {
        assert_eq!(cpus.to_string(), last["cpus"], "{id}: what it held");
    }
}

#[test]
fn every_run_agrees_with_what_slurm_did_job_by_job() {
    for (folder, run) in runs() {
        let found = read(&folder.join("sacct-all.txt.gz"));
        let rows = rows(&folder);
        let mut unseen: BTreeSet<&String> = rows.keys().collect();
        for record in &found.jobs {
            match rows.get(&record.job.job_id) {
                Some(rows) => check(record, rows),
                // The truth lacks a job whose name holds the delimiter, and those before the workload.
                None => {
                    let name = record.job.name.as_deref().unwrap();
                    assert!(run == "mixed" && ["odd | name ü", "t1", "t2"].contains(&name), "{run}: {name}");
                }
            }
            unseen.remove(&record.job.job_id);
        }
        assert!(unseen.is_empty(), "{run}: {unseen:?}");
        let cpus: BTreeSet<i64> = found.nodes.iter().map(|node| node.cpu.unwrap()).collect();
        let nodes = if run == "mixed" { 6 } else { 8 };
        assert_eq!((found.nodes.len(), cpus), (nodes, [16_000].into()), "{run}");
    }
}

#[test]
fn every_row_is_read_or_counted() {
    let Some(truth) = truth() else { return };
    for (file, counted) in [("sacct-all.txt.gz", 317), ("sacct-all-while-running.txt.gz", 0)] {
        let path = truth.join("mixed").join(file);
        let found = read(&path);
        let lines = unpacked(&path).lines().count() as u64 - 1;
        let attempts = |record: &JobRecord| record.tasks[0].attempts.len() as u64;
        let rows: u64 = found
            .jobs
            .iter()
            .map(|record| {
                let waits_again = record.job.outcome == Outcome::Incomplete
                    && record.tasks[0].attempts.last().is_some_and(|last| last.finish.is_some());
                attempts(record).max(1) + u64::from(waits_again)
            })
            .sum();
        let steps = found.skipped["step-of-a-job"];
        assert_eq!(rows + steps, lines, "{file}: {:?}", found.skipped);
        assert!(counted == 0 || counted == steps, "{steps}");
    }
}

#[test]
fn the_form_of_times_makes_no_difference() {
    for (folder, run) in runs() {
        let (utc, manifest) = read_in(&folder.join("sacct-all.txt.gz"), "UTC");
        assert_eq!(manifest.parameters["timezone"], "UTC");
        let (unix, manifest) = read_in(&folder.join("sacct-all-unix.txt.gz"), "Europe/Berlin");
        assert!(!manifest.parameters.contains_key("timezone"));
        let (york, manifest) = read_in(&folder.join("sacct-all-newyork.txt.gz"), "America/New_York");
        assert_eq!(manifest.parameters["timezone"], "America/New_York");
        // What nobody said is assumed, and counted.
        let (mut nobody_said, assumed) = read_with(&folder.join("sacct-all.txt.gz"), &Options::default());
        assert_eq!(
            (assumed.skipped.get("time-zone-assumed"), &assumed.parameters["timezone"]),
            (Some(&1), &"UTC".into())
        );
        assert!(!manifest.skipped.contains_key("time-zone-assumed"));
        assert_eq!(nobody_said.skipped.remove("time-zone-assumed"), Some(1), "nothing else differs");
        assert_eq!(utc, nobody_said, "{run}");
        assert_eq!(utc, unix, "{run}");
        assert_eq!(utc, york, "{run}");
    }
}

/// The fields of a list as text that a list as JSON has, too.
const IN_JSON: [&str; 21] = [
    "JobID",
    "Account",
    "Partition",
    "QOS",
    "JobName",
    "Priority",
    "Constraints",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ElapsedRaw",
    "Timelimit",
    "State",
    "ReqCPUS",
    "AllocNodes",
    "ReqTRES",
    "AllocTRES",
    "NodeList",
    "Suspended",
    "Reason",
];

#[test]
fn json_gives_the_tables_of_the_same_fields_as_text() {
    for (folder, run) in runs() {
        // The line whose name holds the delimiter has no fields to select from.
        let plain = |text: String| text.replace("odd | name", "odd / name").replace("a|b", "a/b");
        let text = plain(unpacked(&folder.join("sacct-all-unix.txt.gz")));
        let names: Vec<&str> = text.lines().next().unwrap().split('|').collect();
        // JSON of 22.05 has no command.
        let command = folder.parent().unwrap().ends_with("slurm-24.11").then_some("SubmitLine");
        let kept = IN_JSON.into_iter().chain(command);
        let kept: Vec<usize> = kept.map(|name| names.iter().position(|other| *other == name).unwrap()).collect();
        let reduce = |line: &str| {
            let fields: Vec<&str> = line.split('|').collect();
            kept.iter().map(|&column| fields[column]).collect::<Vec<_>>().join("|") + "\n"
        };
        let mut text = read_text(&text.lines().map(reduce).collect::<String>());
        let mut json = read_text(&plain(unpacked(&folder.join("sacct.json.gz"))));
        for JobRecord { job, .. } in text.jobs.iter_mut().chain(&mut json.jobs) {
            // Only jobs with an association have their user in JSON, and these fields have no limits of arrays in both versions.
            (job.user, job.array, job.array_limit) = (None, None, None);
        }
        for (text, json) in text.jobs.iter().zip(&json.jobs) {
            assert_eq!(text, json, "{run}");
        }
        assert_eq!(text, json, "{run}");
    }
}

/// JSON names its version, and text has fields of one version alone.
#[test]
fn lists_show_the_version_of_slurm_that_wrote_them() {
    for (folder, run) in runs() {
        let is_new = folder.parent().unwrap().ends_with("slurm-24.11");
        let expected = if is_new { ["24.11", "24.11.5"] } else { ["22.05", "22.05.8"] };
        let lists = ["sacct-all.txt.gz", "sacct.json.gz"];
        let found = lists.map(|list| read_in(&folder.join(list), "UTC").1.scheduler_version().map(str::to_owned));
        assert_eq!(found, expected.map(|version| Some(version.to_owned())), "{run}");
        if run == "mixed" {
            // All rows of both: the job whose name holds the delimiter, and the tries that were requeued.
            let attempts = |list: &str| -> (usize, usize, u64) {
                let (found, manifest) = read_in(&folder.join(list), "UTC");
                let tries = found.jobs.iter().map(|record| record.tasks[0].attempts.len()).sum();
                (found.jobs.len(), tries, manifest.skipped.get("ambiguous-line").copied().unwrap_or(0))
            };
            assert_eq!(attempts(lists[0]), attempts(lists[1]));
            assert!(!is_new || attempts(lists[0]) == (149, 154, 0));
        }
    }
}

#[test]
fn json_names_its_version_before_its_jobs_or_behind_them() {
    let version = |parts: [&str; 2]| {
        let job = r#"{"job_id":5,"allocation_nodes":1,"required":{"CPUs":1},"state":{"current":["COMPLETED"]},
                      "time":{"submission":100,"start":110,"end":130,"elapsed":20}}"#;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.json");
        std::fs::write(&path, format!(r#"{{{}"jobs":[{job}]{}}}"#, parts[0], parts[1])).unwrap();
        let (found, manifest) = read_in(&path, "UTC");
        assert_eq!(found.jobs.len(), 1);
        manifest.scheduler_version().map(str::to_owned)
    };
    let meta = |about: &str| format!(r#""meta":{{"plugin":{{"type":"x"}},{about}}}"#);
    let release = r#"{"version":{"major":"24"},"release":"24.11.5"}"#;
    let new = meta(&format!(r#""slurm":{release},"client":{{"user":"root"}}"#));
    assert_eq!(version(["", &format!(r#","errors":[],{new},"warnings":[{{"a":1}}]"#)]).as_deref(), Some("24.11.5"));
    let old = meta(&format!(r#""Slurm":{release}"#));
    assert_eq!(version([&format!("{old},"), ""]).as_deref(), Some("24.11.5"), "as 22.05 writes it");
    for other in
        [meta(r#""slurm":{"release":5}"#), meta(r#""slurm":"x""#), meta(r#""slurm":{}"#), r#""meta":[1]"#.to_owned()]
    {
        assert_eq!(version(["", &format!(",{other}")]), None, "{other}");
    }
}

/// Both schedulers took a job of `mixed` (`stubborn`), and text has the flag of the main loop alone.
#[test]
fn the_first_start_by_backfill_is_the_same_in_every_form() {
    let Some(truth) = truth() else { return };
    for (run, expected) in [("fifo", None), ("mixed", Some(1_795_319_996_000_i64))] {
        let lists = [
            ("sacct-all.txt.gz", "UTC"),
            ("sacct-all-newyork.txt.gz", "America/New_York"),
            ("sacct-all-unix.txt.gz", "UTC"),
            ("sacct.json.gz", "UTC"),
        ];
        for (file, timezone) in lists {
            let (_, manifest) = read_in(&truth.join(run).join(file), timezone);
            let found = manifest.parameters.get(BACKFILL_START).map(|at| at.as_i64().unwrap());
            assert_eq!(found, expected, "{run}/{file}");
        }
    }
    for run in ["backfill", "easy", "nodes", "mixed"] {
        let starts = |file: &str| {
            let (_, manifest) = read_in(&truth.join(run).join(file), "UTC");
            manifest.parameters[BACKFILL_START].clone()
        };
        assert_eq!(starts("sacct-all.txt.gz"), starts("sacct.json.gz"), "{run}");
    }
}

#[test]
fn a_list_for_people_is_refused_with_the_command_that_works() {
    let Some(truth) = truth() else { return };
    let path = truth.join("fifo/sacct-default.txt");
    let error = ingest_into(&[path], &mut Collected::default(), &Options::default(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("columns of fixed width") && error.contains("sacct -a -P -D --format=ALL"), "{error}");
    let found = read(&truth.join("fifo/sacct-X-parsable.txt.gz"));
    assert_eq!(found.jobs.len(), 130, "`-p` ends lines with the delimiter");
}

#[test]
fn what_was_asked_for_gives_the_shape() {
    let Some(truth) = truth() else { return };
    let shapes = |run: &str| -> BTreeMap<String, (i64, i64, Option<i64>, Option<bool>)> {
        let found = read(&truth.join(run).join("sacct-all.txt.gz"));
        let of = |record: &JobRecord| {
            let task = &record.tasks[0].task;
            let shape = (task.instances.unwrap(), task.cpu_request.unwrap() / 1_000, task.machines, task.exclusive);
            (record.job.job_id.clone(), shape)
        };
        found.jobs.iter().map(of).collect()
    };
    let fifo = shapes("fifo");
    assert_eq!(fifo["8"], (32, 1, None, None), "-n 32");
    let nodes = shapes("nodes");
    assert_eq!(nodes["1"], (1, 8, Some(1), None), "-N1 -n1 -c8");
    assert_eq!(nodes["7"], (24, 1, None, None), "-n 24");
    assert_eq!(nodes["40"], (4, 16, Some(4), Some(true)), "-N 4 --exclusive");
    let mixed = shapes("mixed");
    assert_eq!(mixed["135"], (4, 1, Some(1), None), "-N1 -n4");
    assert_eq!(mixed["111"], (3, 8, Some(3), None), "-n 24 --gres=gpu:1 on three nodes");
}

#[test]
fn what_holds_jobs_back_is_read() {
    let Some(truth) = truth() else { return };
    let folder = truth.join("mixed");
    let limits = |found: &Collected| -> BTreeMap<String, i64> {
        let of = |record: &JobRecord| Some((record.job.array.clone()?, record.job.array_limit?));
        found.jobs.iter().filter_map(of).collect()
    };
    let text = read(&folder.join("sacct-all.txt.gz"));
    let expected = [("148".to_owned(), 2), ("15".to_owned(), 3)];
    assert_eq!(limits(&text), expected.clone().into());
    assert_eq!(limits(&read(&folder.join("sacct.json.gz"))), expected.into());
    let job = |id: &str| &text.jobs.iter().find(|record| record.job.job_id == id).unwrap().job;
    for (id, expected) in
        [("8", "7"), ("13", "11,12"), ("14", ""), ("25_2", "19_2"), ("41", "39"), ("66", ""), ("67", "66")]
    {
        assert_eq!(job(id).depends_on.join(","), expected, "{id}");
    }
    assert_eq!(text.skipped["dependency-not-read"], 1, "`after:13`");
    assert_eq!(job("77").nice, Some(500));
}

/// Another program made a file in the Standard Workload Format of each run.
#[test]
fn a_list_goes_to_swf_as_another_program_writes_it() {
    for (of_run, run) in runs() {
        let folder = tempfile::tempdir().unwrap();
        let [trace, file] = ["trace", "log.swf"].map(|name| folder.path().join(name));
        ingest(&[of_run.join("sacct-all.txt.gz")], &trace, &Options::default(), &mut ()).unwrap();
        export(&trace, "swf", &file).unwrap();
        // Wait, run time, processors, and those that were asked for with the time. `mixed` was converted with other rules.
        let jobs = |text: &str| -> Vec<Vec<String>> {
            let lines = text.lines().filter(|line| !line.starts_with(';'));
            lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
        };
        let theirs = jobs(&std::fs::read_to_string(of_run.join("pool.swf")).unwrap());
        let ours = jobs(&std::fs::read_to_string(&file).unwrap());
        let of = |job: &Vec<String>| [2, 3, 4, 7, 8].map(|field| job[field].clone());
        if run != "mixed" {
            assert_eq!(ours.iter().map(of).collect::<Vec<_>>(), theirs.iter().map(of).collect::<Vec<_>>(), "{run}");
        }
    }
}

/// Lists of these texts, ingested together in this order.
fn read_lists(lists: &[&str], options: &Options) -> Result<(Collected, Manifest), String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..lists.len()).map(|number| folder.path().join(format!("{number}.txt"))).collect();
    paths.iter().zip(lists).for_each(|(path, text)| std::fs::write(path, text).unwrap());
    let mut found = Collected::default();
    let manifest = ingest_into(&paths, &mut found, options, &mut ()).map_err(|error| error.to_string())?;
    Ok((found, manifest))
}

const SHORT: &str = "JobID|Cluster|User|Submit|Start|End|State|ReqCPUS|AllocCPUS|NodeList";

/// The lists of two months both have the jobs that ran or waited over the boundary.
#[test]
fn lists_of_two_months_hold_each_job_once_and_with_its_end_in_any_order() {
    let january = format!(
        "{SHORT}\n1|c|u|100|110|200|COMPLETED|1|1|n1\n2|c|u|100|110|Unknown|RUNNING|1|1|n2\n3|c|u|100|Unknown|Unknown|PENDING|1|0|None assigned\n\
         4_[1-3]|c|u|100|Unknown|Unknown|PENDING|1|0|None assigned\n5|c|u|100|110|190|REQUEUED|1|1|n3\n5|c|u|190|195|Unknown|RUNNING|1|1|n3\n"
    );
    let february = format!(
        "{SHORT}\n2|c|u|100|110|900|COMPLETED|1|1|n2\n3|c|u|100|300|400|COMPLETED|1|1|n1\n4_1|c|u|100|400|500|COMPLETED|1|1|n1\n\
         4_2|c|u|100|500|600|COMPLETED|1|1|n1\n4_3|c|u|100|600|700|FAILED|1|1|n1\n5|c|u|190|195|800|COMPLETED|1|1|n3\n"
    );
    for lists in [[&january, &february], [&february, &january]] {
        let (found, _) = read_lists(&lists.map(String::as_str), &Options::default()).unwrap();
        let ids: Vec<&str> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "3", "4_1", "4_2", "4_3", "5"]);
        let unfinished = found.jobs.iter().filter(|record| record.job.outcome == Outcome::Incomplete).count();
        assert_eq!(unfinished, 0, "{:?}", found.skipped);
        let ends: Vec<Option<i64>> = found.jobs.iter().map(|record| record.job.finish).collect();
        assert_eq!(ends, [200, 900, 400, 500, 600, 700, 800].map(|end| Some(end * 1_000)));
        let last = &found.jobs[6];
        assert_eq!(
            (last.job.submit, last.tasks[0].attempts.len()),
            (Some(100_000), 2),
            "the requeued job has both tries"
        );
    }
}

#[test]
fn the_clusters_of_a_list_are_named_and_one_can_be_chosen() {
    let two = format!(
        "{SHORT}\n1|alpha|ann|100|110|200|COMPLETED|16|16|n1\n1|beta|bob|100|110|900|COMPLETED|64|64|n1\n3|beta|bob|100|900|950|COMPLETED|64|64|n1\n"
    );
    let one = |name: &str| Options { cluster_name: Some(name.to_owned()), ..Options::default() };
    let refused = read_lists(&[&two], &Options::default()).unwrap_err();
    assert!(refused.contains("alpha, beta") && refused.contains("--cluster-name"), "{refused}");
    let (found, _) = read_lists(&[&two], &one("beta")).unwrap();
    assert_eq!((found.jobs.len(), found.skipped["job-of-another-cluster"]), (2, 1));
    assert_eq!(found.nodes[0].cpu, Some(64_000));
    let unknown = read_lists(&[&two], &one("gamma")).unwrap_err();
    assert!(unknown.contains("gamma") && unknown.contains("alpha, beta"), "{unknown}");
    // The same in two lists.
    let lines: Vec<&str> = two.lines().collect();
    let lists = [format!("{SHORT}\n{}\n", lines[1]), format!("{SHORT}\n{}\n", lines[2])];
    assert!(read_lists(&[&lists[0], &lists[1]], &Options::default()).unwrap_err().contains("alpha, beta"));
}

/// The first damage is in the error, with its line, its column, its value and what to do.
#[test]
fn a_list_of_which_no_line_can_be_read_says_what_is_wrong_with_the_first() {
    for (list, parts) in [
        (
            format!("{SHORT}\n1|c|u|Ystday 08:00|110|200|COMPLETED|1|1|n1\n"),
            ["line 2, Submit: ", "Ystday 08:00", "SLURM_TIME_FORMAT"],
        ),
        (format!("{SHORT}\n1|c|u|100|110|200|COMPLETED|0|0|n1\n"), ["line 2, ReqCPUS: ", "`0`", "ReqTRES"]),
        (format!("{SHORT}\nx|c|u|100|110|200|COMPLETED|1|1|n1\n"), ["line 2, JobID: ", "`x`", "sacct -a -P"]),
        (
            "JobID,Submit,Elapsed,State,NCPUS,ReqTRES\n1,100,00:01:00,COMPLETED,2,cpu=2,mem=2G,node=1\n".to_owned(),
            ["line 2: ", "6 fields between `,`", "--json"],
        ),
        (
            r#"{"jobs": [{"job_id": 4, "allocation_nodes": 0, "required": {"CPUs": 0}, "state": {"current": ["PENDING"]},
                "time": {"submission": 100}}]}"#
                .to_owned(),
            ["job 1 of `jobs`, required.CPUs: ", "no CPUs", "sacct -a -D --json"],
        ),
    ] {
        let error = read_lists(&[&list], &Options::default()).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

/// What another program counted in a list.
fn counted(found: &Collected) -> serde_json::Value {
    let jobs = || found.jobs.iter().map(|record| &record.job);
    let gpus = |record: &JobRecord| {
        let task = &record.tasks[0].task;
        let each: u64 = amounts(task.resources.as_deref().unwrap_or_default()).map(|(_, count)| count).sum();
        each * u64::try_from(task.instances.unwrap()).unwrap()
    };
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    jobs().for_each(|job| *outcomes.entry(job.outcome.to_string()).or_default() += 1);
    json!({
        "jobs": found.jobs.len(),
        "waits": jobs().map(|job| job.launch.unwrap() - job.submit.unwrap()).sum::<i64>(),
        "runs": jobs().map(|job| job.finish.unwrap() - job.launch.unwrap()).sum::<i64>(),
        "cpus": jobs().map(|job| job.requested_containers.unwrap()).sum::<i64>(),
        "gpus": found.jobs.iter().map(gpus).sum::<u64>(),
        "limits": jobs().map(|job| job.requested_time.unwrap()).sum::<i64>(),
        "outcomes": outcomes,
    })
}

/// The list that Open XDMoD asks for, in its order, in another order that `--fields` names, with a header, and as one object a line.
#[test]
fn a_list_without_a_header_is_read_as_one_with_it() {
    let expected = answers("xdmod");
    let text = std::fs::read_to_string(fixture("xdmod.txt")).unwrap();
    let plain = read(&fixture("xdmod.txt"));
    assert_eq!(counted(&plain), expected);
    let fields = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,\
                  State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName";
    let headed = read_text(&format!("{}\n{text}", fields.replace(',', "|")));
    assert_eq!(headed, plain);
    // The name first, behind a semicolon, and each line ends with one.
    let turned = |line: &str| {
        let columns: Vec<&str> = line.splitn(26, '|').collect();
        format!("{};{};\n", columns[25].replace('|', "/"), columns[..25].join(";"))
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs");
    std::fs::write(&path, text.lines().map(turned).collect::<String>()).unwrap();
    let mut names = fields.to_lowercase();
    names = format!("jobname%40,{}", names.trim_end_matches(",jobname"));
    let options = Options { fields: Some(names), timezone: Some("UTC".parse().unwrap()), ..Options::default() };
    assert_eq!(counted(&read_with(&path, &options).0), expected);
}

#[test]
fn jobs_in_json_need_no_document_around_them() {
    let expected = answers("xdmod");
    let lines = std::fs::read_to_string(fixture("lines.jsonl")).unwrap();
    let array = format!("[\n{}\n]", lines.trim_end().replace('\n', ",\n"));
    let document = format!("{{\"meta\": {{}}, \"errors\": [], \"jobs\": {array}, \"warnings\": []}}");
    let first = read(&fixture("lines.jsonl"));
    for text in [&lines, &array, &document] {
        let found = read_text(text);
        assert_eq!(counted(&found), expected);
        assert_eq!(found, first);
    }
    let damaged = lines.replacen("\"submission\":", "\"submitted\":", 1);
    assert_eq!(read_text(&damaged).skipped["damaged-job"], 1);
}

#[test]
fn fields_that_cannot_be_those_of_a_list_are_refused() {
    let with = |fields: &str, format: Option<&str>| Options {
        fields: Some(fields.to_owned()),
        format: format.map(str::to_owned),
        ..Options::default()
    };
    let list = "1|100|110|200|COMPLETED|2\n";
    let all = "JobID,Submit,Start,End,State,NCPUS";
    assert_eq!(read_lists(&[list], &with(all, None)).unwrap().0.jobs.len(), 1);
    assert_eq!(read_lists(&[list], &with(all, Some("sacct"))).unwrap().0.jobs.len(), 1);
    for (options, part) in [
        (with("JobID,Submit", None), "State"),
        (with(all, Some("swf")), "--format swf"),
        (with("JobID,Submit,Start,End,State,NCPUS,NodeList", None), "line 1: "),
    ] {
        let error = read_lists(&[list], &options).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

/// The numbers of the list were counted by a few lines of Python.
#[test]
fn a_real_list_of_open_xdmod_gives_its_golden_counts() {
    let Some(path) = crate::support::real_traces().map(|traces| traces.join("xdmod/phillips.log.gz")) else { return };
    let found = read(&path);
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let mut sums = [0; 3];
    for JobRecord { job, tasks, .. } in &found.jobs {
        *outcomes.entry(job.outcome.to_string()).or_default() += 1;
        let attempts = tasks[0].attempts.iter();
        for attempt in attempts {
            sums[0] += attempt.start.unwrap() - job.submit.unwrap();
            sums[1] += attempt.finish.unwrap() - attempt.start.unwrap();
        }
        sums[2] += job.requested_containers.unwrap();
    }
    assert_eq!(found.jobs.len(), 4_285);
    let expected = [("FAILED", 1_717), ("KILLED", 244), ("SUCCESS", 2_324)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!(outcomes, expected.into());
    assert_eq!(sums, [67_787_745_000, 1_579_753_000, 34_933]);
    let never = found.jobs.iter().filter(|record| record.tasks[0].attempts.is_empty()).count();
    assert_eq!(never, 239);
}
