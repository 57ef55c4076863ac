//! Lists of jobs that do not fit into memory give the tables of those that do; so do many lists in any order.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::Error;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome};
use resched_tables::sink::{Collected, Room, Sink};
use resched_tables::store::{Manifest, Trace};

/// So little memory that each of these lists goes to the disk in many runs.
const LITTLE: u64 = 4_000;
const MONTHS: usize = 12;
/// A month of the made time, s.
const MONTH: i64 = 100_000;
const EPOCH: i64 = 1_700_000_000;

/// Numbers by chance (a multiplicative generator).
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % below
    }
}

/// A run of a job, s.
#[derive(Clone)]
struct Run {
    id: String,
    user: i64,
    submit: i64,
    start: i64,
    end: i64,
    state: &'static str,
    cpus: i64,
    node: i64,
}

/// Made runs: jobs, tasks of arrays, jobs that were given back to the queue, and numbers that were given again.
fn runs() -> Vec<Run> {
    let mut draw = Draw(7);
    let mut runs = Vec::new();
    for number in 0..3_000_i64 {
        let submit = EPOCH + number * MONTH * MONTHS as i64 / 3_000;
        let start = submit + draw.next(20_000);
        let end = start + 1 + draw.next(80_000);
        let id =
            if number % 10 == 3 { format!("{}_{}", number / 50 * 50 + 1, number % 50) } else { number.to_string() };
        // So late, the job that had the number before has ended.
        let id = if number % 97 == 11 && number > 480 { (number - 480).to_string() } else { id };
        let state = ["COMPLETED", "FAILED", "TIMEOUT"][draw.next(3) as usize];
        let (user, cpus, node) = (draw.next(30), 1 + draw.next(16), draw.next(40));
        let run = Run { id, user, submit, start, end, state, cpus, node };
        if number % 41 == 5 {
            let again = start + 1 + draw.next(500);
            runs.push(Run { end: again, state: "REQUEUED", ..run.clone() });
            runs.push(Run { submit: again, start: again + 60, end: again + 60 + draw.next(9_000), ..run });
        } else {
            runs.push(run);
        }
    }
    runs
}

/// A run as `sacct` lists it in Open XDMoD's form at a time, if it had been submitted then.
fn row(run: &Run, at: i64) -> Option<String> {
    let Run { id, user, submit, start, end, state, cpus, node } = run;
    if *submit > at {
        return None;
    }
    let (state, end) = match (*start > at, *end > at) {
        (true, _) => ("PENDING", "Unknown".to_owned()),
        (_, true) => ("RUNNING", "Unknown".to_owned()),
        _ => (*state, end.to_string()),
    };
    let (start, node) = if state == "PENDING" {
        ("Unknown".to_owned(), "None assigned".to_owned())
    } else {
        (start.to_string(), format!("n{node}"))
    };
    let ran = if end == "Unknown" { 0 } else { run.end - run.start };
    let elapsed = format!("{:02}:{:02}:{:02}", ran / 3_600, ran / 60 % 60, ran % 60);
    let tres = format!("cpu={cpus},mem={cpus}G,node=1");
    Some(format!(
        "{id}|{id}|made|batch|acc|grp|100|u{user}|{user}|{submit}|{submit}|{start}|{end}|{elapsed}|0:0|{state}|1|{cpus}|{cpus}|1Gc||{tres}|{}|2-00:00:00|\
         {node}|name {user}\n",
        if state == "PENDING" { "" } else { &tres }
    ))
}

/// All runs in one list.
fn one_list(runs: &[Run]) -> String {
    runs.iter().filter_map(|run| row(run, i64::MAX)).collect()
}

/// Lists of the runs that waited, ran or ended in each month, as they stood at its end.
fn monthly(runs: &[Run]) -> Vec<String> {
    let list = |month: usize| {
        let from = EPOCH + month as i64 * MONTH;
        let at = if month + 1 == MONTHS { i64::MAX } else { from + MONTH - 1 };
        runs.iter().filter(|run| run.end >= from || month == 0).filter_map(|run| row(run, at)).collect()
    };
    (0..MONTHS).map(list).collect()
}

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// The tables of a trace of these files, and its manifest.
    fn ingest(&self, files: &[PathBuf], memory: Option<u64>) -> (BTreeMap<String, Vec<u8>>, Manifest) {
        let out = self.path("T");
        let options = Options { partition_bytes: memory.and_then(NonZeroU64::new), ..Options::default() };
        let before = names(self.0.path());
        let manifest = ingest(files, out.as_path(), &options, &mut ()).unwrap();
        let mut tables = BTreeMap::new();
        for name in names(&out) {
            assert!(out.join(&name).is_file(), "{name} is left in the trace");
            if name.ends_with(".parquet") {
                tables.insert(name.clone(), fs::read(out.join(&name)).unwrap());
            }
        }
        assert!(tables.len() > 3, "{:?}", tables.keys());
        let after = names(self.0.path());
        assert!(after.difference(&before).all(|name| name == "T"), "{after:?}");
        (tables, manifest)
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Lists in an order by chance.
fn shuffled(mut files: Vec<PathBuf>, seed: u64) -> Vec<PathBuf> {
    let mut draw = Draw(seed);
    for last in (1..files.len()).rev() {
        files.swap(last, draw.next(last as i64 + 1) as usize);
    }
    files
}

#[test]
fn one_list_and_twelve_in_any_order_give_the_same_tables() {
    let (dir, runs) = (Dir::new(), runs());
    let (whole, manifest) = dir.ingest(&[dir.write("all.txt", &one_list(&runs))], None);
    let lists = monthly(&runs);
    let files: Vec<PathBuf> =
        lists.iter().enumerate().map(|(month, list)| dir.write(&format!("month-{month:02}.txt"), list)).collect();
    let rows: usize = lists.iter().map(|list| list.lines().count()).sum();
    assert!(rows > runs.len() + 500, "{rows} rows: many runs are in several lists");
    for (seed, memory) in [(1, None), (2, None), (3, Some(LITTLE)), (4, Some(LITTLE))] {
        let (tables, again) = dir.ingest(&shuffled(files.clone(), seed), memory);
        assert!(tables == whole, "order {seed}, {memory:?}");
        // Each further row of a run is counted once, under one cause or the other.
        let copies =
            ["duplicate-row", "unfinished-copy-replaced"].map(|cause| again.skipped.get(cause).copied().unwrap_or(0));
        assert_eq!(copies.iter().sum::<u64>(), (rows - runs.len()) as u64);
        assert_eq!(again.rows, manifest.rows);
        assert_eq!(again.skipped.get("reused-job-id"), manifest.skipped.get("reused-job-id"));
    }
}

#[test]
fn little_memory_changes_no_byte() {
    let (dir, runs) = (Dir::new(), runs());
    let file = [dir.write("all.txt", &one_list(&runs))];
    let (whole, manifest) = dir.ingest(&file, None);
    for memory in [LITTLE, 700] {
        let (tables, again) = dir.ingest(&file, Some(memory));
        assert!(tables == whole, "{memory} bytes");
        assert_eq!((again.rows, again.skipped), (manifest.rows.clone(), manifest.skipped.clone()));
    }
}

/// The jobs of the runs by a rule of its own: runs of one id are one job if each but the last was given back to the queue.
#[test]
fn jobs_tries_and_reused_numbers_are_as_many_as_were_made() {
    let (dir, runs) = (Dir::new(), runs());
    let (_, manifest) = dir.ingest(&[dir.write("all.txt", &one_list(&runs))], Some(LITTLE));
    let mut by_id: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    runs.iter().for_each(|run| by_id.entry(&run.id).or_default().push(run));
    let (mut jobs, mut expected) = (0, BTreeMap::new());
    for (id, runs) in by_id {
        let mut tries: Vec<&Run> = Vec::new();
        let mut again = 0;
        for run in runs {
            tries.push(run);
            if run.state != "REQUEUED" {
                jobs += 1;
                again += 1;
                let name = if again > 1 { format!("{id}~{again}") } else { id.to_owned() };
                expected.insert(name, (tries[0].submit, tries.len(), run.end));
                tries.clear();
            }
        }
        assert!(tries.is_empty());
    }
    assert_eq!((manifest.rows["jobs"], manifest.rows["attempts"]), (jobs, runs.len() as u64));
    let reused = expected.keys().filter(|id| id.contains('~')).count() as u64;
    assert!(reused > 10 && manifest.skipped["reused-job-id"] == reused);
    let trace = Trace::open(&dir.path("T")).unwrap();
    let mut tries: BTreeMap<String, usize> = BTreeMap::new();
    for row in trace.rows::<AttemptRow>().unwrap() {
        *tries.entry(row.unwrap().job_id).or_default() += 1;
    }
    let mut last = (i64::MIN, 0);
    for row in trace.rows::<JobRow>().unwrap() {
        let row = row.unwrap();
        let (submit, n, end) = expected[&row.job_id];
        assert_eq!(
            (row.submit, row.finish, tries[&row.job_id]),
            (Some(submit * 1_000), Some(end * 1_000), n),
            "{}",
            row.job_id
        );
        let number = row.job_id.split(['_', '~']).next().unwrap().parse::<i64>().unwrap();
        assert!((submit, number) >= last, "{} stands by submission and number", row.job_id);
        last = (submit, number);
    }
}

/// The log of PBS about the runs: a start and an end of each.
fn pbs(runs: &[Run]) -> Vec<String> {
    let stamp = |at: i64| {
        let day = (at - EPOCH) / 86_400;
        format!("11/{:02}/2026 04:00:{:02}", day % 28 + 1, at % 60)
    };
    let mut lines = Vec::new();
    for run in runs {
        let Run { id, user, submit, start, end, cpus, node, .. } = run;
        let (id, what) =
            (id.replace('_', "["), format!("user=u{user} queue=q ctime={submit} qtime={submit} etime={submit}"));
        let id = if id.contains('[') { format!("{id}].s") } else { format!("{id}.s") };
        let hosts = format!("exec_host=n{node}/0*{cpus} Resource_List.ncpus={cpus}");
        lines.push(format!("{};S;{id};{what} start={start} {hosts}\n", stamp(*start)));
        lines.push(format!("{};E;{id};{what} start={start} end={end} {hosts} Exit_status=0\n", stamp(*end)));
    }
    lines
}

#[test]
fn accounting_logs_give_the_same_tables_in_any_order_and_memory() {
    let dir = Dir::new();
    // A run that is given back has a record of its own kind in PBS; here each run is a job.
    let runs: Vec<Run> = runs().into_iter().filter(|run| run.state != "REQUEUED").collect();
    let lines = pbs(&runs);
    let (whole, manifest) = dir.ingest(&[dir.write("all", &lines.concat())], None);
    assert_eq!(manifest.rows["jobs"], runs.len() as u64);
    let distinct = runs.iter().map(|run| &run.id).collect::<BTreeSet<_>>().len();
    assert_eq!(manifest.skipped["reused-job-id"], (runs.len() - distinct) as u64);
    let pieces = lines.chunks(lines.len() / MONTHS + 1).enumerate();
    let files: Vec<PathBuf> = pieces.map(|(n, lines)| dir.write(&format!("log-{n:02}"), &lines.concat())).collect();
    for (seed, memory) in [(1, None), (2, Some(LITTLE)), (3, Some(700))] {
        let (tables, again) = dir.ingest(&shuffled(files.clone(), seed), memory);
        assert!(tables == whole, "order {seed}, {memory:?}");
        assert_eq!(again.skipped, manifest.skipped);
    }
}

#[test]
fn tables_under_a_map_give_the_same_tables_in_any_memory() {
    let dir = Dir::new();
    let mut table = "id,submit,start,end,cores,host\n".to_owned();
    for Run { id, submit, start, end, cpus, node, .. } in runs().into_iter().filter(|run| run.state != "REQUEUED") {
        writeln!(table, "{id},{submit},{start},{end},{cpus},n{node}").unwrap();
    }
    let file = [dir.write("table.csv", &table)];
    for hosts in ["", "hosts = \"host\"\n"] {
        let map = format!(
            "[fields]\nid = \"id\"\nsubmit = \"submit\"\nstart = \"start\"\nend = \"end\"\ncpus = \"cores\"\n{hosts}"
        );
        let read = |memory: Option<u64>| {
            let map = Some(resched_ingest::formats::mapped::Map::parse(&map, "map").unwrap());
            let options = Options { map, partition_bytes: memory.and_then(NonZeroU64::new), ..Options::default() };
            let mut found = Collected::default();
            let manifest = ingest_into(&file, &mut found, &options, &mut ()).unwrap();
            (found, manifest.skipped)
        };
        let whole = read(None);
        assert_eq!(whole.0.jobs.len(), table.lines().count() - 1);
        assert!(read(Some(LITTLE)) == whole);
    }
}

/// Logs in SWF of the runs that were submitted in each month, with times from the zero of the log, and the first runs of the next month.
fn swf(runs: &[Run], months: usize) -> Vec<String> {
    let length = MONTH * (MONTHS / months) as i64;
    let log = |month: usize| {
        let zero = EPOCH + month as i64 * length;
        let mut text = format!("; UnixStartTime: {zero}\n; MaxNodes: 40\n; Queue: 3 batch\n");
        let overlap = if month + 1 < months { length + 2_000 } else { length };
        for run in runs.iter().filter(|run| (zero..zero + overlap).contains(&run.submit)) {
            let Run { id, user, submit, start, end, cpus, .. } = run;
            let (after, wait, run) = (submit - zero, start - submit, end - start);
            writeln!(text, "{id} {after} {wait} {run} {cpus} -1 -1 {cpus} -1 -1 1 {user} -1 -1 3 -1 -1 -1").unwrap();
        }
        text
    };
    (0..months).map(log).collect()
}

/// Runs without arrays and tries: jobs whose ids are numbers.
fn plain_runs() -> Vec<Run> {
    runs().into_iter().filter(|run| run.state != "REQUEUED" && !run.id.contains('_')).collect()
}

#[test]
fn swf_logs_of_twelve_months_give_the_tables_of_one_in_any_order_and_memory() {
    let (dir, runs) = (Dir::new(), plain_runs());
    let (whole, manifest) = dir.ingest(&[dir.write("all.swf", &swf(&runs, 1)[0])], None);
    assert_eq!(manifest.rows["jobs"], runs.len() as u64);
    assert_eq!(manifest.parameters["unix_start_time"], EPOCH);
    let distinct = runs.iter().map(|run| &run.id).collect::<BTreeSet<_>>().len();
    assert!(distinct < runs.len() && manifest.skipped["reused-job-id"] == (runs.len() - distinct) as u64);
    let logs = swf(&runs, MONTHS);
    let lines = logs.iter().flat_map(|log| log.lines()).filter(|line| !line.starts_with(';')).count();
    let files: Vec<PathBuf> =
        logs.iter().enumerate().map(|(month, log)| dir.write(&format!("{month:02}.swf"), log)).collect();
    for (seed, memory) in [(1, None), (2, Some(LITTLE)), (3, Some(700))] {
        let (tables, again) = dir.ingest(&shuffled(files.clone(), seed), memory);
        assert!(tables == whole, "order {seed}, {memory:?}");
        assert_eq!(again.parameters["unix_start_time"], EPOCH);
        assert!(lines > runs.len() && again.skipped["duplicate-job"] == (lines - runs.len()) as u64);
        assert_eq!(again.skipped["reused-job-id"], manifest.skipped["reused-job-id"]);
    }
    let times: BTreeMap<String, (Option<i64>, Option<i64>)> = Trace::open(&dir.path("T"))
        .unwrap()
        .rows::<JobRow>()
        .unwrap()
        .map(|row| row.map(|row| (row.job_id, (row.submit, row.finish))).unwrap())
        .collect();
    let ms = |at: i64| Some((at - EPOCH) * 1_000);
    assert!(runs.iter().all(|run| times.values().any(|time| *time == (ms(run.submit), ms(run.end)))));
}

#[test]
fn swf_logs_of_which_only_some_have_a_zero_are_refused() {
    let dir = Dir::new();
    let line = "1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n";
    let files = [dir.write("a.swf", &format!("; UnixStartTime: 5\n{line}")), dir.write("b.swf", line)];
    let read = |files: &[PathBuf]| ingest_into(files, &mut Collected::default(), &Options::default(), &mut ());
    let problem = read(&files).unwrap_err();
    assert!(problem.is_request() && problem.to_string().contains("`UnixStartTime`"), "{problem}");
    assert!(files.iter().all(|file| read(std::slice::from_ref(file)).is_ok()));
}

#[test]
fn grid_workflows_give_the_same_tables_in_any_order_and_memory() {
    let (dir, runs) = (Dir::new(), plain_runs());
    const HEADER: &str = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n";
    let rows: Vec<String> = runs
        .iter()
        .map(|Run { id, user, submit, start, end, cpus, .. }| {
            let workflow = if user % 7 == 0 { format!("w{user}") } else { user.to_string() };
            format!("{workflow}, {id}, {}, {}, {cpus}, {cpus}, {}\n", submit - EPOCH, end - start, id)
        })
        .collect();
    let list = |rows: &[String]| [HEADER, &rows.concat()].concat();
    let (whole, manifest) = dir.ingest(&[dir.write("all.gwf", &list(&rows))], None);
    assert_eq!(manifest.rows["jobs"], runs.len() as u64);
    // Each list has the last rows of the one before.
    let length = rows.len() / MONTHS + 1;
    let pieces = (0..MONTHS).map(|n| &rows[(n * length).saturating_sub(20)..rows.len().min((n + 1) * length)]);
    let files: Vec<PathBuf> =
        pieces.enumerate().map(|(n, rows)| dir.write(&format!("{n:02}.gwf"), &list(rows))).collect();
    for (seed, memory) in [(1, None), (2, Some(LITTLE)), (3, Some(700))] {
        let (tables, manifest) = dir.ingest(&shuffled(files.clone(), seed), memory);
        assert!(tables == whole, "order {seed}, {memory:?}");
        assert_eq!(manifest.skipped["duplicate-job"], 20 * (MONTHS as u64 - 1));
    }
}

/// A sink whose room is this folder.
struct In(PathBuf, Collected);

impl Sink for In {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.1.job(job)
    }

    fn node(&mut self, node: NodeRow) {
        self.1.node(node);
    }

    fn skip(&mut self, cause: resched_tables::cause::Cause, n: u64) {
        self.1.skip(cause, n);
    }

    fn room(&self) -> Room {
        Room { folder: Some(self.0.clone()), ..Room::default() }
    }
}

#[test]
fn a_disk_that_takes_nothing_is_an_error_that_names_the_place() {
    let dir = Dir::new();
    let file = [dir.write("all.txt", &one_list(&runs()))];
    let little = Options { partition_bytes: NonZeroU64::new(LITTLE), ..Options::default() };
    let read = |folder: PathBuf, options: &Options| {
        let mut sink = In(folder, Collected::default());
        let read = ingest_into(&file, &mut sink, options, &mut ());
        read.map(|_| sink.1.jobs.len()).map_err(|error| error.to_string())
    };
    let no_folder = dir.path("all.txt").join("room");
    let problem = read(no_folder.clone(), &little).unwrap_err();
    assert!(problem.contains(&no_folder.display().to_string()) && problem.contains("create the folder"), "{problem}");
    assert!(read(no_folder, &Options::default()).is_ok(), "a list that fits needs no folder");
    #[cfg(target_os = "linux")]
    {
        let full = dir.path("full");
        fs::create_dir(&full).unwrap();
        // Other tests take numbers, too.
        (0..20_000).for_each(|n| std::os::unix::fs::symlink("/dev/full", full.join(format!("run-{n:05}"))).unwrap());
        let problem = read(full.clone(), &little).unwrap_err();
        let place = full.join("run-").display().to_string();
        assert!(problem.contains(&place) && problem.contains("No space left on device"), "{problem}");
    }
    let room = dir.path("room");
    assert!(read(room.clone(), &little).is_ok_and(|jobs| jobs > 2_000));
    assert!(names(&room).is_empty(), "nothing is left there");
}

#[test]
fn of_copies_that_have_not_ended_the_one_that_ran_longer_counts_in_any_order() {
    let dir = Dir::new();
    let list = |name: &str, elapsed: &str, node: &str| {
        let text = format!(
            "JobID|User|Submit|Start|End|Elapsed|State|ReqCPUS|AllocCPUS|NodeList\n7|u|100|110|Unknown|{elapsed}|RUNNING|1|1|{node}\n"
        );
        dir.write(name, &text)
    };
    let (early, late) = (list("1.txt", "01:00:00", "n1"), list("2.txt", "30:00:00", "n2"));
    for files in [[early.clone(), late.clone()], [late, early]] {
        let mut found = Collected::default();
        ingest_into(&files, &mut found, &Options::default(), &mut ()).unwrap();
        let attempt = &found.jobs[0].tasks[0].attempts[0];
        assert_eq!((attempt.host.as_deref(), attempt.outcome), (Some("n2"), Outcome::Incomplete));
        assert_eq!(found.skipped["unfinished-copy-replaced"], 1);
    }
}
