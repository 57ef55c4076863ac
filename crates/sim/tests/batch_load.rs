//! From the tables of a production trace to a workload: what is taken, made up and left out.
#![allow(clippy::unwrap_used)]

use resched_sim::Reports;
use resched_sim::batch::{Loaded, load, load_records};
use resched_sim::{ClusterConfig, Error, Resources, Scope};
use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeChange, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;
use resched_tables::store::{Trace, TraceParts, TraceWriter};

fn job(id: &str, submit: Option<i64>, tasks: Vec<TaskRecord>) -> JobRecord {
    let mut record =
        JobRecord { job: JobRow { job_id: id.to_owned(), submit, ..JobRow::default() }, ..JobRecord::default() };
    record.tasks = tasks;
    for (number, task) in record.tasks.iter_mut().enumerate() {
        task.task.job_id = id.to_owned();
        task.task.task_id = format!("{id}/{number}");
        for (number, attempt) in (0..).zip(&mut task.attempts) {
            attempt.job_id = id.to_owned();
            attempt.task_id.clone_from(&task.task.task_id);
            attempt.attempt = number;
        }
    }
    record
}

fn task(row: TaskRow, attempts: Vec<AttemptRow>) -> TaskRecord {
    TaskRecord { task: row, splits: Vec::new(), attempts }
}

fn asking(cpu: Option<i64>, memory: Option<i64>) -> TaskRow {
    TaskRow { cpu_request: cpu, memory_request: memory, ..TaskRow::default() }
}

fn attempt(outcome: Outcome, start: i64, finish: Option<i64>) -> AttemptRow {
    AttemptRow { start: Some(start), finish, outcome, ..AttemptRow::default() }
}

fn ran(row: TaskRow, run: i64) -> TaskRecord {
    task(row, vec![attempt(Outcome::Success, 100, Some(100 + run))])
}

fn machine(host: &str, time: Option<i64>, event: NodeChange, cpu: i64, memory: i64) -> NodeRow {
    NodeRow { host: host.to_owned(), time, event, cpu: Some(cpu), memory: Some(memory), ..NodeRow::default() }
}

/// Loads a trace, and checks that its jobs and machines in memory mean the same.
fn loaded(jobs: Vec<JobRecord>, nodes: &[NodeRow]) -> Result<Loaded, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    let mut writer = TraceWriter::create(&path).unwrap();
    jobs.iter().for_each(|job| writer.job(job).unwrap());
    nodes.iter().for_each(|node| writer.node(node).unwrap());
    writer.finish(TraceParts { engine: RunEngine::Batch, ..TraceParts::default() }).unwrap();
    let on_disk = load(&Trace::open(&path).unwrap(), &ClusterConfig::default(), &Scope::default());
    let records = Collected { jobs, nodes: nodes.to_vec(), engine: RunEngine::Batch, ..Collected::default() };
    let in_memory = load_records(&records, &ClusterConfig::default(), &Scope::default());
    match (&on_disk, &in_memory) {
        (Ok(on_disk), Ok(in_memory)) => assert_eq!(format!("{on_disk:?}"), format!("{in_memory:?}")),
        (Err(on_disk), Err(in_memory)) => {
            assert_eq!(on_disk.to_string().replace(&path.display().to_string(), "the workload"), in_memory.to_string());
        }
        _ => panic!("{on_disk:?} on disk, {in_memory:?} in memory"),
    }
    on_disk
}

fn big() -> NodeRow {
    machine("big", None, NodeChange::Add, 8_000, 100)
}

fn skipped(loaded: &Loaded) -> Vec<(&str, u64)> {
    loaded.skipped.iter().map(|(cause, &n)| (cause.as_str(), n)).collect()
}

#[test]
fn requests_are_those_of_the_task_else_of_its_job_else_a_core() {
    let jobs = vec![
        job(
            "a",
            Some(0),
            vec![
                ran(asking(Some(500), Some(7)), 1),
                ran(asking(None, None), 1),
                ran(asking(Some(1_500), Some(9)), 1),
                ran(asking(Some(700), None), 1),
            ],
        ),
        job("b", Some(0), vec![ran(asking(None, None), 1), ran(asking(Some(0), Some(0)), 1)]),
    ];
    let loaded = loaded(jobs, &[big()]).unwrap();
    let demands: Vec<_> = loaded.workload.tasks().iter().map(|task| (task.demand.cpu, task.demand.memory)).collect();
    // The median of the job's, of two the larger; in the second job that is nothing, so a thousandth of a core.
    assert_eq!(demands, [(500, 7), (700, 9), (1_500, 9), (700, 9), (1, 0), (1, 0)]);
    assert_eq!(skipped(&loaded), [("task-with-request-of-its-job", 2)]);
    let unknown = self::loaded(vec![job("a", Some(0), vec![ran(asking(None, None), 1)])], &[big()]).unwrap();
    assert_eq!(unknown.workload.tasks()[0].demand, Resources { cpu: 1_000, memory: 0 });
    assert_eq!(skipped(&unknown), [("task-of-one-core", 1)]);
}

#[test]
fn tasks_that_could_never_start_or_never_ran_are_left_out() {
    let gang = |instances| TaskRow { instances: Some(instances), gang: Some(true), ..asking(Some(1_000), Some(1)) };
    let of = |instances| TaskRow { instances: Some(instances), ..asking(Some(1), None) };
    let jobs = vec![
        job(
            "a",
            Some(0),
            vec![
                ran(asking(Some(8_001), None), 1),
                ran(asking(Some(8_000), Some(101)), 1),
                ran(gang(9), 1),
                ran(gang(8), 1),
            ],
        ),
        job("b", Some(0), vec![task(asking(Some(1), None), Vec::new()), ran(of(0), 1), ran(of(i64::MAX), 1)]),
        job("c", None, vec![ran(of(1), 1)]),
    ];
    let loaded = loaded(jobs, &[big()]).unwrap();
    assert_eq!(loaded.workload.jobs().len(), 1);
    assert_eq!(loaded.workload.tasks().iter().map(|task| task.instances).collect::<Vec<_>>(), [8]);
    let expected = [
        ("job-without-submit", 1),
        ("job-without-tasks", 1),
        ("task-larger-than-any-machine", 3),
        ("task-with-impossible-instances", 2),
        ("task-without-run-time", 1),
    ];
    assert_eq!(skipped(&loaded), expected);
}

#[test]
fn what_still_ran_at_the_end_holds_its_place_until_then_and_a_task_without_attempts_by_its_row() {
    let timed = TaskRow { start: Some(100), finish: Some(130), outcome: Outcome::Success, ..asking(Some(1), None) };
    let jobs = vec![job(
        "a",
        Some(90),
        vec![
            task(asking(Some(1), None), vec![attempt(Outcome::Incomplete, 100, None)]),
            task(TaskRow { instances: Some(3), ..timed.clone() }, Vec::new()),
            task(asking(Some(1), None), vec![attempt(Outcome::Success, 150, Some(180))]),
        ],
    )];
    let loaded = loaded(jobs, &[big()]).unwrap();
    let seen = run_at_once(&loaded);
    assert_eq!(
        seen,
        [
            // It was submitted 90 ms before the last instant of the log, and holds its place until then.
            (0, 90, Outcome::Incomplete),
            (1, 30, Outcome::Success),
            (1, 30, Outcome::Success),
            (1, 30, Outcome::Success),
            (2, 30, Outcome::Success)
        ]
    );
    assert_eq!(loaded.workload.jobs().get(0).unwrap().submit, 0);
    let made = skipped(&loaded);
    assert_eq!(made, [("instance-with-the-run-time-of-another", 2), ("task-timed-by-its-row", 1)]);
}

/// Task, run time and outcome of all that runs where there is room for all at once.
fn run_at_once(loaded: &Loaded) -> Vec<(usize, i64, Outcome)> {
    use resched_sim::batch::{Ended, Observer, Offer, Policy, View, replay};
    use resched_sim::{TaskId, Violation};

    #[derive(Default)]
    struct All(Vec<TaskId>);
    impl Policy for All {
        fn task_waits(&mut self, task: TaskId, _: View<'_>) {
            self.0.push(task);
        }
        fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
            self.0.drain(..).try_for_each(|task| offer.start(task, u32::MAX).map(|_| ()))
        }
    }
    #[derive(Default)]
    struct Seen(Vec<(usize, i64, Outcome)>);
    impl Reports for Seen {}

    impl Observer for Seen {
        fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
            self.0.push((ended.task.index(), ended.finish - ended.start, ended.outcome));
            Ok(())
        }
    }
    let mut seen = Seen::default();
    replay(&loaded.workload, &loaded.machines, ("all", &mut All::default()), &mut seen, &mut |_| {}).unwrap();
    seen.0.sort_by_key(|&(task, ..)| task);
    seen.0
}

#[test]
fn machines_follow_the_clock_of_the_jobs() {
    let jobs = vec![job("a", Some(1_000), vec![ran(asking(Some(1), Some(1)), 1)])];
    let nodes = [
        machine("x", Some(500), NodeChange::Add, 4_000, 10),
        machine("y", Some(1_500), NodeChange::Add, 2_000, 20),
        machine("x", Some(1_700), NodeChange::Remove, 4_000, 10),
    ];
    let loaded = loaded(jobs, &nodes).unwrap();
    assert_eq!(loaded.machines.total(), Resources { cpu: 4_000, memory: 10 });
    let changes: Vec<_> = loaded.machines.changes().iter().map(|change| (change.at, change.capacity.cpu)).collect();
    assert_eq!(changes, [(500, 2_000), (700, 0)]);
}

#[test]
fn errors_say_what_to_do() {
    let jobs = || vec![job("a", Some(0), vec![ran(asking(Some(1), None), 1)])];
    let error = |jobs: Vec<JobRecord>, nodes: &[NodeRow]| loaded(jobs, nodes).unwrap_err().to_string();
    let unknown = NodeRow { host: "x".to_owned(), ..NodeRow::default() };
    assert!(error(jobs(), &[]).contains("names no machine"));
    assert!(error(jobs(), &[unknown]).contains("`cores = <of each>`"));
    let too_large = vec![job("a", Some(0), vec![ran(asking(Some(9_000), None), 1)])];
    assert!(error(too_large, &[big()]).contains("task-larger-than-any-machine"));
}

fn on(host: Option<&str>, run: i64) -> TaskRecord {
    let attempt = AttemptRow { host: host.map(str::to_owned), ..attempt(Outcome::Success, 100, Some(100 + run)) };
    task(asking(Some(1_000), None), vec![attempt])
}

fn loaded_on(config: &ClusterConfig, jobs: Vec<JobRecord>, nodes: &[NodeRow]) -> Result<Loaded, Error> {
    let records = Collected { jobs, nodes: nodes.to_vec(), engine: RunEngine::Batch, ..Collected::default() };
    load_records(&records, config, &Scope::default())
}

#[test]
fn what_a_slow_host_logged_is_taken_at_usual_speed() {
    let mut config = ClusterConfig::default();
    config.cost.host_factors = [("slow".to_owned(), 2.0)].into();
    let tasks = vec![on(Some("slow"), 1_000), on(Some("big"), 1_000), on(None, 1_000)];
    let nodes = [big(), machine("slow", None, NodeChange::Add, 8_000, 100)];
    let loaded = loaded_on(&config, vec![job("a", Some(0), tasks)], &nodes).unwrap();
    let ids: Vec<_> = (0..3).map(|place| loaded.workload.tasks()[place]).collect();
    assert_eq!(ids.len(), 3);
    let shown = format!("{:?}", loaded.workload);
    assert!(shown.contains("run: 500"), "half of what the slow host took: {shown}");
    assert_eq!(skipped(&loaded), [("attempt-of-unknown-pace", 1)]);
}

/// Three machines of the log, of which the cluster keeps two. What was dropped may have outages, and what was never there may not.
#[test]
fn outages_follow_the_machines_of_the_log() {
    use resched_sim::cluster_file::Outage;
    let outage = |host: &str, from, to| Outage { host: host.to_owned(), from, to };
    let nodes = ["n1", "n2", "n10"].map(|host| machine(host, None, NodeChange::Add, 1_000, 8));
    let jobs = || vec![job("a", Some(5_000), vec![ran(asking(Some(1_000), None), 10)])];
    let mut config = ClusterConfig::default();
    config.jobs.first_submit = 0;
    config.machines.clones = Some(2);
    config.outages = vec![outage("n2", 100, Some(300)), outage("n10", 0, None)];
    let loaded = loaded_on(&config, jobs(), &nodes).unwrap();
    let names: Vec<&str> = loaded.machines.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["n1", "n2"], "numbers in names are numbers");
    let changes: Vec<_> = loaded.machines.changes().iter().map(|change| (change.at, change.capacity.cpu)).collect();
    assert_eq!(changes, [(100, 0), (300, 1_000)], "by the clock of the replay");
    config.outages = vec![outage("n3", 0, None)];
    let error = loaded_on(&config, jobs(), &nodes).unwrap_err().to_string();
    assert!(error.contains("names `n3`") && error.contains("did you mean `n1`"), "{error}");
    config.machines.clones = None;
    config.outages = ["n1", "n2", "n10"].map(|host| outage(host, 0, None)).into();
    let error = loaded_on(&config, jobs(), &nodes).unwrap_err().to_string();
    assert!(error.contains("no job is left"), "{error}");
}

/// While a machine is down, what the log says of it does not count; it counts once the machine is back.
#[test]
fn an_outage_interrupts_what_the_log_says_of_a_machine() {
    use resched_sim::cluster_file::Outage;
    let nodes = [
        big(),
        machine("m", None, NodeChange::Add, 4_000, 8),
        machine("m", Some(5_200), NodeChange::Update, 2_000, 8),
        machine("m", Some(5_900), NodeChange::Remove, 0, 0),
    ];
    let mut config = ClusterConfig::default();
    config.jobs.first_submit = 0;
    config.outages = vec![Outage { host: "m".to_owned(), from: 100, to: Some(400) }];
    let jobs = vec![job("a", Some(5_000), vec![ran(asking(Some(1_000), None), 10)])];
    let loaded = loaded_on(&config, jobs, &nodes).unwrap();
    let changes: Vec<_> = loaded.machines.changes().iter().map(|change| (change.at, change.capacity.cpu)).collect();
    assert_eq!(changes, [(100, 0), (400, 2_000), (900, 0)]);
}
