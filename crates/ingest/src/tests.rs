#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use super::*;
use resched_tables::cause::{Cause, TOO_MANY_TASKS};
use resched_tables::model::{AttemptRow, JobRow, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::sink::{Collected, Tasks};
use resched_tables::store::{TimeZero, Trace};

/// What these tests ask of what was ingested.
trait Found {
    fn ids(&self) -> Vec<&str>;
    fn skipped(&self) -> Vec<(&str, u64)>;
}

impl Found for Collected {
    fn ids(&self) -> Vec<&str> {
        self.jobs.iter().map(|record| record.job.job_id.as_str()).collect()
    }

    fn skipped(&self) -> Vec<(&str, u64)> {
        self.skipped.iter().map(|(cause, n)| (cause.as_str(), *n)).collect()
    }
}

fn collect_with(paths: &[PathBuf], options: &Options) -> Result<(Collected, Manifest), Error> {
    let mut sink = Collected::default();
    let manifest = ingest_into(paths, &mut sink, options, &mut ())?;
    assert_eq!(manifest.skipped, sink.skipped);
    Ok((sink, manifest))
}

fn collect(paths: &[PathBuf]) -> Result<(Collected, Manifest), Error> {
    collect_with(paths, &Options::default())
}

/// A history of one map that ran on `h1` in rack `/r1`.
fn history(job: &str) -> String {
    format!(
        "Meta VERSION=\"1\" .\n\
         Job JOBID=\"job_{job}\" USER=\"u\" SUBMIT_TIME=\"1000\" .\n\
         Task TASKID=\"task_{job}_m_000000\" TASK_TYPE=\"MAP\" START_TIME=\"1100\" SPLITS=\"/r1/h1,/r2/h2\" .\n\
         MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_{job}_m_000000\" TASK_ATTEMPT_ID=\"attempt_{job}_m_000000_0\" \
         START_TIME=\"1100\" TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"1200\" HOSTNAME=\"h1\" .\n\
         Job JOBID=\"job_{job}\" JOB_STATUS=\"SUCCESS\" FINISH_TIME=\"1300\" .\n"
    )
}

fn conf(queue: &str) -> String {
    format!(
        "<configuration><property><name>mapred.job.queue.name</name><value>{queue}</value></property>\
         <property><name>mapred.job.map.memory.mb</name><value>512</value></property></configuration>"
    )
}

/// Files of these names and contents, in their own folder.
struct Files(tempfile::TempDir);

impl Files {
    fn new<B: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'static str, B)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Self(dir)
    }

    fn dir(&self) -> PathBuf {
        self.0.path().to_path_buf()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_history_folder_is_read_whole_and_in_order() {
    let files = Files::new([
        ("done/2018/05/17/000000/job_1_2_u", history("1_2").into_bytes()),
        ("done/2018/05/17/000000/job_1_2_conf.xml", conf("fast").into_bytes()),
        ("done/2018/05/17/000000/.job_1_2_u.crc", b"crc".to_vec()),
        ("done/2018/05/17/000000/job_1_2.summary", b"jobId=job_1_2".to_vec()),
        ("done/2018/05/16/000000/job_1_3_u.gz", gzip(&history("1_3"))),
        ("done_intermediate/u/job_1_1_u", history("1_1").into_bytes()),
        ("done_intermediate/u/notes.txt", b"not a history".to_vec()),
        ("done_intermediate/u/empty", Vec::new()),
    ]);
    let (found, manifest) = collect(&[files.dir()]).unwrap();
    assert_eq!(found.ids(), ["job_1_3", "job_1_2", "job_1_1"]);
    let queues: Vec<_> = found.jobs.iter().map(|record| record.job.queue.as_deref().unwrap()).collect();
    assert_eq!(queues, ["default", "fast", "default"]);
    assert_eq!(found.skipped(), [("empty-file", 1), ("unrecognised-file", 1)]);
    let formats: Vec<_> = manifest.sources.iter().map(|source| source.format.as_str()).collect();
    assert_eq!(formats, ["text-history", "text-history", "hadoop-conf", "text-history"]);
    let nodes: Vec<_> = found.nodes.iter().map(|node| (node.rack.as_deref(), node.host.as_str())).collect();
    assert_eq!(nodes, [(Some("/r1"), "h1"), (Some("/r2"), "h2")]);
}

#[test]
fn a_conf_fills_only_what_the_history_lacks() {
    let reported = history("1_2").replace("USER=\"u\"", "USER=\"u\" JOB_QUEUE=\"own\"");
    let files = Files::new([("job_1_2_u", reported), ("jt_1_job_1_2_conf.xml", conf("other"))]);
    let (found, _) = collect(&[files.path("job_1_2_u")]).unwrap();
    let record = found.jobs.first().unwrap();
    assert_eq!(record.job.queue.as_deref(), Some("own"));
    assert_eq!(record.job.requested_memory, Some(512 << 20));
    assert_eq!(record.tasks.first().unwrap().task.memory_request, Some(512 << 20));
}

#[test]
fn a_conf_may_be_named_or_stand_on_either_side_in_the_same_file() {
    let section = |name: &str, text: &str| format!("\u{c}!!FILE={name}!!\n{text}\n");
    let joined = [
        section("jt_1_job_1_1_conf.xml", &conf("before")),
        section("jt_1_job_1_1_u_x", &history("1_1")),
        section("jt_1_job_1_2_u_x", &history("1_2")),
        section("jt_1_job_1_3_u_x", &history("1_3")),
        section("jt_1_job_1_2_conf.xml", &conf("after")),
    ]
    .concat();
    let files = Files::new([("logs.gz", gzip(&joined)), ("confs/job_1_3_conf.xml", conf("named").into_bytes())]);
    let (found, manifest) = collect(&[files.path("logs.gz"), files.path("confs/job_1_3_conf.xml")]).unwrap();
    let queues: Vec<_> = found.jobs.iter().map(|record| record.job.queue.as_deref().unwrap()).collect();
    assert_eq!(queues, ["before", "after", "named"]);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let bytes = fs::metadata(files.path("logs.gz")).unwrap().len();
    assert_eq!(manifest.sources.first().unwrap().bytes, bytes);
}

#[test]
fn a_job_in_two_files_is_taken_once() {
    let files = Files::new([("a", history("1_1")), ("b", history("1_1") + &history("1_2"))]);
    let (found, _) = collect(&[files.path("a"), files.path("b"), files.path("a")]).unwrap();
    assert_eq!(found.ids(), ["job_1_1", "job_1_2"]);
    assert_eq!(found.skipped(), [("duplicate-job", 2)]);
}

/// A copy that was made while a job ran, and one of later.
#[test]
fn a_finished_copy_beats_an_unfinished_one_in_any_order_of_files() {
    let running = |job: &str| history(job).lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    let files = Files::new([("early", running("1_1")), ("late", history("1_1")), ("other", running("1_2"))]);
    for (order, counted) in [
        (["early", "late", "other"], ("unfinished-copy-replaced", 1)),
        (["late", "early", "other"], ("duplicate-job", 1)),
        (["other", "early", "late"], ("unfinished-copy-replaced", 1)),
    ] {
        let (found, _) = collect(&order.map(|name| files.path(name))).unwrap();
        let mut outcomes: Vec<_> =
            found.jobs.iter().map(|record| (record.job.job_id.as_str(), record.job.outcome)).collect();
        outcomes.sort_unstable();
        assert_eq!(outcomes, [("job_1_1", Outcome::Success), ("job_1_2", Outcome::Incomplete)], "{order:?}");
        assert_eq!(found.skipped(), [counted], "{order:?}");
    }
}

/// A list each day by `yarn application -list` or the REST address of the ResourceManager.
#[test]
fn lists_of_applications_of_two_days_hold_each_application_once_and_with_its_end() {
    let app = |id: &str, state: &str, end: &str| {
        format!(
            "{{\"id\":\"application_1_{id}\",\"user\":\"u\",\"name\":\"n\",\"queue\":\"q\",\"state\":\"{state}\",\"finalStatus\":\"{end}\",\
             \"startedTime\":1000,\"finishedTime\":{},\"elapsedTime\":500,\"memorySeconds\":1,\"vcoreSeconds\":1}}",
            if end == "SUCCEEDED" { 9_000 } else { 0 }
        )
    };
    let list = |apps: &[String]| format!("{{\"apps\":{{\"app\":[{}]}}}}", apps.join(","));
    let first = list(&[app("0001", "FINISHED", "SUCCEEDED"), app("0002", "RUNNING", "UNDEFINED")]);
    let second = list(&[app("0002", "FINISHED", "SUCCEEDED"), app("0003", "RUNNING", "UNDEFINED")]);
    let files = Files::new([("day-1.json", first), ("day-2.json", second)]);
    let (found, _) = collect(&[files.dir()]).unwrap();
    let ended = |record: &&JobRecord| record.job.outcome == Outcome::Success;
    assert_eq!((found.jobs.len(), found.jobs.iter().filter(ended).count()), (3, 2), "{:?}", found.skipped());
}

/// A format for tests: each line is the id of a job.
static LISTED: Format = Format {
    name: "listed",
    title: "list of ids",
    time_zero: Some(TimeZero::Relative),
    system: None,
    has_tasks: false,
    group: "listed",
    is_whole: false,
    has_times_of_tasks: false,
    folded: true,
    reads: &[],
    sniff: |_| false,
    read: |input, _, sink| {
        for line in input.lines() {
            let job_id = line.unwrap();
            let task = TaskRow { job_id: job_id.clone(), task_id: format!("task_{job_id}"), ..TaskRow::default() };
            let tasks = match job_id.strip_prefix("full-") {
                Some(_) => vec![TaskRecord { task, ..TaskRecord::default() }],
                None => Vec::new(),
            };
            sink.job(JobRecord { job: JobRow { job_id, ..JobRow::default() }, tasks, counters: Vec::new() })?;
        }
        Ok(())
    },
};

/// Reads files in a format that is not registered.
fn read_as(format: &'static Format, paths: &[PathBuf], options: &Options) -> Result<(Collected, Manifest), Error> {
    let mut sink = Collected::default();
    let plan = Plan { inputs: files::find(paths)?, format: Some(format), is_part: false, cluster: None };
    let manifest = carry_out(&plan, &mut sink, options, &mut ())?;
    Ok((sink, manifest))
}

#[test]
fn a_folded_trace_keeps_its_repeated_jobs_under_new_names() {
    let files = Files::new([("a", "full-x\ny\nfull-x\nfull-x\n"), ("b", "full-x\nfull-x\nz\n")]);
    let (found, _) = read_as(&LISTED, &[files.path("a"), files.path("b")], &Options::default()).unwrap();
    assert_eq!(found.ids(), ["full-x", "y", "full-x+2", "full-x+3", "z"]);
    let tasks: Vec<_> = found.jobs.iter().flat_map(|record| &record.tasks).map(|task| &task.task.task_id).collect();
    assert_eq!(tasks, ["task_full-x", "task_full-x+2", "task_full-x+3"]);
    assert_eq!(found.skipped(), [("duplicate-job", 2), ("repeated-job-renamed", 2)]);
}

/// Makes one task for each job, whose attempt has the number of the job.
struct OneTask;

struct Left(Option<u64>);

impl MakeTasks for OneTask {
    fn make(&self, job: &mut JobRow, ordinal: u64) -> Result<Box<dyn Tasks + '_>, Cause> {
        if job.job_id == "huge" { Err(TOO_MANY_TASKS) } else { Ok(Box::new(Left(Some(ordinal)))) }
    }
}

impl Tasks for Left {
    fn next(&mut self, record: &mut TaskRecord) -> bool {
        let Some(ordinal) = self.0.take() else { return false };
        let attempt =
            AttemptRow { attempt: i64::try_from(ordinal).unwrap(), outcome: Outcome::Success, ..AttemptRow::default() };
        let task = TaskRow { kind: TaskKind::Map, ..TaskRow::default() };
        *record = TaskRecord { task, attempts: vec![attempt], ..TaskRecord::default() };
        true
    }
}

#[test]
fn tasks_are_made_up_only_where_the_format_has_none() {
    let maker = || TaskMaker {
        make: Box::new(OneTask),
        made: BTreeMap::from([("tasks.start".to_owned(), "rates".to_owned())]),
        nodes: Vec::new(),
        parameters: BTreeMap::from([("split_bytes".to_owned(), serde_json::json!(1))]),
    };
    let options = Options { tasks: Some(maker()), ..Options::default() };
    let files = Files::new([("a", "x\nfull-y\nhuge\nz\n".to_owned()), ("b", history("1_1"))]);
    let (found, manifest) = read_as(&LISTED, &[files.path("a")], &options).unwrap();
    let attempts: Vec<Vec<i64>> = found
        .jobs
        .iter()
        .map(|record| record.tasks.iter().flat_map(|task| &task.attempts).map(|attempt| attempt.attempt).collect())
        .collect();
    assert_eq!(attempts, [vec![0], vec![], vec![], vec![3]]);
    assert_eq!(found.skipped(), [("too-many-tasks", 1)]);
    assert_eq!(manifest.time_zero, TimeZero::Relative);
    assert_eq!((manifest.made, manifest.parameters), (maker().made, maker().parameters));

    let (_, manifest) = collect_with(&[files.path("b")], &options).unwrap();
    assert!(manifest.made.is_empty() && manifest.parameters.is_empty());
}

#[test]
fn times_from_different_zeros_do_not_mix() {
    let files = Files::new([("a", history("1_1")), ("b", "x\n".to_owned())]);
    let inputs = files::find(&[files.path("a"), files.path("b")]).unwrap();
    let options = Options::default();
    let mut sink = Collected::default();
    let mut session = Session::new(&inputs, &mut sink, &options, false);
    let [text, listed] = inputs.files.as_slice() else { panic!("two files") };
    session.read(text, None, &mut ()).unwrap();
    let error = session.read(listed, Some(&LISTED), &mut ()).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("same zero"), "{error}");
}

#[test]
fn a_named_file_that_gives_nothing_is_an_error_that_says_what_to_do() {
    let cut = gzip(&history("1_1"));
    let files = Files::new([
        ("empty", Vec::new()),
        ("empty.gz", gzip("")),
        ("noise", (0..100_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()),
        ("prose", b"Dear diary,\n".to_vec()),
        ("cut.gz", cut.get(..20).unwrap().to_vec()),
        ("meta", b"Meta VERSION=\"1\" .\n".to_vec()),
    ]);
    for (name, part) in [
        ("empty", "an empty file"),
        ("empty.gz", "an empty file"),
        ("noise", "the known formats are text-history"),
        ("prose", "the known formats are text-history"),
        ("cut.gz", "cut or damaged"),
        ("meta", "without a single job"),
    ] {
        let error = collect(&[files.path(name)]).unwrap_err().to_string();
        assert!(error.starts_with(&files.path(name).display().to_string()) && error.contains(part), "{name}: {error}");
    }
    let error = collect(&[files.dir()]).unwrap_err().to_string();
    assert!(error.contains("expected a folder with job histories, found 6 files"), "{error}");
    let error = collect_with(&[files.dir()], &Options { format: Some("nope".to_owned()), ..Options::default() });
    assert!(error.is_err_and(|error| error.is_request() && error.to_string().contains("text-history")));
}

#[test]
fn a_folder_without_histories_or_with_confs_only_is_an_error() {
    let files = Files::new([("job_1_1_conf.xml", conf("q"))]);
    assert!(collect(&[files.dir()]).unwrap_err().to_string().contains("found 0 files"));
    let error = collect(&[files.path("job_1_1_conf.xml")]).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("only configurations of jobs"), "{error}");
}

#[test]
fn the_jobs_before_a_cut_are_kept() {
    let text: String = (0..400).map(|job| history(&format!("{}_{job}", job * 7919 % 1000))).collect();
    let whole = gzip(&text);
    let files = Files::new([("cut.gz", whole.get(..whole.len() / 2).unwrap())]);
    let (found, manifest) = collect(&[files.path("cut.gz")]).unwrap();
    assert!((100..300).contains(&found.jobs.len()), "{} jobs", found.jobs.len());
    assert_eq!(found.skipped.get("cut-file"), Some(&1));
    assert_eq!(manifest.sources.first().unwrap().bytes, (whole.len() / 2) as u64);
}

#[test]
fn a_packed_bomb_of_one_line_is_passed_over() {
    let bomb = "Job JOBID=\"".to_owned() + &"9".repeat(64 << 20) + "\n" + &history("1_1");
    let files = Files::new([("bomb.gz", gzip(&bomb))]);
    let (found, _) = collect(&[files.path("bomb.gz")]).unwrap();
    assert_eq!(found.ids(), ["job_1_1"]);
    assert_eq!(found.skipped(), [("oversized-record", 1)]);
}

#[test]
fn damaged_bytes_never_stop_an_ingest_otherwise_than_by_an_error() {
    let text = history("1_1") + &history("1_2");
    for (stored, most_jobs) in [(text.clone().into_bytes(), 2), (gzip(&text), usize::MAX)] {
        for at in 0..stored.len() {
            let mut damaged = stored.clone();
            if let Some(byte) = damaged.get_mut(at) {
                *byte ^= 0xa5;
            }
            let files = Files::new([("damaged", damaged)]);
            if let Ok((found, _)) = collect(&[files.path("damaged")]) {
                assert!(found.jobs.len() <= most_jobs, "byte {at}: {:?} {:?}", found.ids(), found.skipped());
            }
        }
    }
}

#[test]
fn an_error_leaves_nothing_behind_and_an_earlier_trace_as_it_was() {
    let files = Files::new([("good", history("1_1")), ("bad", "Dear diary,\n".to_owned())]);
    let out = files.path("trace");
    let run = |names: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| files.path(name)).collect();
        ingest(&paths, &out, &Options::default(), &mut ())
    };
    assert!(run(&["good", "bad"]).is_err());
    assert!(run(&["good", "missing"]).is_err());
    let mut left = files.entries();
    left.sort();
    assert_eq!(left, ["bad", "good"]);

    let manifest = run(&["good"]).unwrap();
    assert!(run(&["good", "bad"]).is_err());
    assert_eq!(Trace::open(&out).unwrap().manifest(), &manifest);
    assert_eq!(files.entries().len(), 3);
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let files = Files::new([("in/b", history("1_1")), ("in/a", history("1_2")), ("in/job_1_1_conf.xml", conf("q"))]);
    let [one, two] = ["one", "two"].map(|name| {
        let manifest = ingest(&[files.path("in")], files.path(name), &Options::default(), &mut ()).unwrap();
        assert_eq!(manifest.rows.get("jobs"), Some(&2));
        files.path(name)
    });
    let mut names: Vec<_> = fs::read_dir(&one).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 7);
    for name in names {
        assert!(fs::read(one.join(&name)).unwrap() == fs::read(two.join(&name)).unwrap(), "{name:?}");
    }
}

#[test]
fn progress_ends_at_the_total() {
    #[derive(Default)]
    struct Seen(u64, u64, Vec<PathBuf>);
    impl Progress for Seen {
        fn begin(&mut self, total_bytes: u64) {
            self.0 = total_bytes;
        }
        fn file(&mut self, path: &Path) {
            self.2.push(path.to_path_buf());
        }
        fn advance(&mut self, bytes: u64) {
            self.1 += bytes;
        }
    }
    let files = Files::new([("a", gzip(&history("1_1"))), ("b", history("1_2").into_bytes())]);
    let mut seen = Seen::default();
    let paths = [files.path("a"), files.path("b")];
    ingest_into(&paths, &mut Collected::default(), &Options::default(), &mut seen).unwrap();
    assert!(seen.0 > 0);
    assert_eq!((seen.1, seen.2.as_slice()), (seen.0, paths.as_slice()));
}
