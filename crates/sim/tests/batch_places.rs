//! Preferred machines of production tasks: from the log to run times, levels and the rows of a run.
#![allow(clippy::unwrap_used)]

use resched_sim::batch::{
    Ended, Fitted, Loaded, LocalityCost, Observer, Offer, Orders, Policy, View, load_records, replay,
};
use resched_sim::{ClusterConfig, Error, Ms, NodeId, Reports, Scope, TaskId, Violation};
use resched_tables::model::{
    AttemptRow, JobRecord, JobRow, Locality, NodeChange, NodeRow, Outcome, SplitRow, TaskRecord, TaskRow,
};
use resched_tables::sink::Collected;

/// A task that prefers a host, and ran so long on another.
fn task(job: &str, stage: &str, number: usize, prefers: &str, (host, run): (&str, Ms)) -> TaskRecord {
    let (job_id, task_id) = (job.to_owned(), format!("{job}.{stage}.{number}"));
    let depends_on = if stage == "2" { vec!["1".to_owned()] } else { Vec::new() };
    TaskRecord {
        splits: vec![SplitRow { task_id: task_id.clone(), host: Some(prefers.to_owned()), ..SplitRow::default() }],
        attempts: vec![AttemptRow {
            job_id: job_id.clone(),
            task_id: task_id.clone(),
            start: Some(0),
            finish: Some(run),
            host: Some(host.to_owned()),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        }],
        task: TaskRow {
            job_id,
            stage: Some(stage.to_owned()),
            depends_on,
            outcome: Outcome::Success,
            cpu_request: Some(1_000),
            task_id,
            ..TaskRow::default()
        },
    }
}

fn node(host: &str, group: Option<&str>, time: Option<Ms>, event: NodeChange) -> NodeRow {
    NodeRow {
        host: host.to_owned(),
        group: group.map(str::to_owned),
        time,
        event,
        cpu: Some(2_000),
        ..NodeRow::default()
    }
}

/// Three jobs, of which tasks took 100 ms on their host and 250 ms elsewhere.
fn log() -> Collected {
    let job = |number: i64| {
        let id = number.to_string();
        let runs = [("a", 100), ("a", 100), ("a", 100), ("b", 250), ("b", 250), ("b", 250)];
        let mut tasks: Vec<TaskRecord> =
            runs.into_iter().enumerate().map(|(number, ran)| task(&id, "1", number, "a", ran)).collect();
        tasks.push(task(&id, "2", 0, "b", ("a", 40)));
        JobRecord { job: JobRow { job_id: id, submit: Some(number), ..JobRow::default() }, tasks, counters: Vec::new() }
    };
    let nodes = ["a", "b"].map(|host| node(host, None, None, NodeChange::Add)).to_vec();
    Collected { jobs: (0..4).map(job).collect(), nodes, ..Collected::default() }
}

fn loaded(log: &Collected, locality: Option<[f64; 3]>) -> Loaded {
    load_records(log, &ClusterConfig::default(), &Scope { locality, ..Scope::default() }).unwrap()
}

/// Starts each task on the machine of this number as soon as that has room.
struct Always(usize, Vec<TaskId>);

impl Policy for Always {
    fn task_waits(&mut self, task: TaskId, _: View<'_>) {
        self.1.push(task);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let node: NodeId = offer.view().nodes().nth(self.0).unwrap().0;
        while let Some(&task) = self.1.first() {
            if !offer.free_of(node).holds(offer.view().task(task).unit()) {
                return Ok(());
            }
            self.1.remove(0);
            let run = offer.start_on(task, &[(node, 1)])?;
            assert!(offer.latest().eq([run]));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Seen(Vec<(String, Option<Locality>, Ms)>);

impl Reports for Seen {}

struct Sees<'a>(&'a Loaded, Seen);

impl Reports for Sees<'_> {}

impl Observer for Sees<'_> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let name = self.0.workload.task_name(ended.task).to_owned();
        (self.1).0.push((name, ended.locality, ended.finish - ended.start));
        Ok(())
    }
}

fn run_on(loaded: &Loaded, machine: usize) -> Vec<(String, Option<Locality>, Ms)> {
    let mut sees = Sees(loaded, Seen::default());
    let mut policy = Always(machine, Vec::new());
    replay(&loaded.workload, &loaded.machines, ("always", &mut policy), &mut sees, &mut |_| {}).unwrap();
    let mut ran = (sees.1).0;
    ran.sort();
    ran.truncate(7);
    ran
}

#[test]
fn run_times_follow_the_level_by_a_factor_that_the_log_shows() {
    let loaded = loaded(&log(), None);
    let Some(LocalityCost::Fitted(Fitted { factors, stages: [0, 4], .. })) = loaded.locality else {
        panic!("{:?}", loaded.locality)
    };
    assert_eq!(factors.map(|factor| (factor * 1e9).round()), [1e9, 2.5e9, 2.5e9]);
    let levels = |ran: &[(String, Option<Locality>, Ms)]| ran.iter().map(|ran| (ran.1, ran.2)).collect::<Vec<_>>();
    let near = levels(&run_on(&loaded, 0));
    assert_eq!(near[..6], [(Some(Locality::Node), 100); 6]);
    assert_eq!(near[6], (Some(Locality::Off), 40), "what reads another stage costs the same anywhere");
    let far = levels(&run_on(&loaded, 1));
    assert_eq!(far[..6], [(Some(Locality::Off), 250); 6]);
}

#[test]
fn a_given_factor_counts_and_too_few_tasks_show_none() {
    let given = loaded(&log(), Some([1.0, 2.0, 5.0]));
    assert_eq!(given.locality, Some(LocalityCost::Given([1.0, 2.0, 5.0])));
    assert_eq!(run_on(&given, 1)[0].2, 500);
    let mut short = log();
    short.jobs.truncate(2);
    assert_eq!(loaded(&short, None).locality, Some(LocalityCost::Assumed));
    let mut without = log();
    for job in &mut without.jobs {
        job.tasks.iter_mut().for_each(|task| task.splits.clear());
    }
    let without = loaded(&without, None);
    assert_eq!((without.locality, run_on(&without, 1)[0].1), (None, None));
}

/// In a log of Spark, tasks of a later stage prefer where their input is in the replay, not in the log.
#[test]
fn input_that_another_stage_wrote_is_where_that_ran() {
    let mut log = log();
    log.applications.insert("app".to_owned(), [].into());
    let loaded = loaded(&log, None);
    assert_eq!(run_on(&loaded, 0)[6].1, Some(Locality::Node));
    assert_eq!(run_on(&loaded, 1)[6].1, Some(Locality::Node));
    let part = loaded.part(1..2);
    assert_eq!(run_on(&part, 1)[0], ("1.1.0".to_owned(), Some(Locality::Off), 250));
}

/// The log shows whether stages look there: both hosts held half of the input, and no task of the later stage shows a level.
#[test]
fn a_stage_whose_tasks_preferred_no_host_in_the_log_prefers_none_in_a_replay() {
    let of_version = |shows_level: bool| {
        let mut log = log();
        log.applications.insert("app".to_owned(), [("spark.version".to_owned(), "3.5.6".to_owned())].into());
        for job in &mut log.jobs {
            job.job.group = Some("app".to_owned());
            job.tasks[6].attempts[0].locality = Some(Locality::Node).filter(|_| shows_level);
        }
        run_on(&loaded(&log, None), 0)[6].1
    };
    assert_eq!((of_version(true), of_version(false)), (Some(Locality::Node), None));
}

/// A storage beside the executors: nothing is near it, so a task takes as long anywhere, and a level says that it is away from its input.
#[test]
fn a_task_of_spark_that_prefers_hosts_outside_of_the_cluster_is_away_from_them_everywhere() {
    let run = |is_spark: bool| {
        let mut log = log();
        if is_spark {
            log.applications.insert("app".to_owned(), [].into());
        }
        for job in &mut log.jobs {
            job.tasks[0].splits[0].host = None;
            job.tasks[1].splits[0].host = Some("storage".to_owned());
            for task in &mut job.tasks[..2] {
                task.attempts[0].locality = Some(Locality::Rack);
            }
        }
        let ran = run_on(&loaded(&log, None), 0);
        [ran[0].1, ran[1].1, ran[2].1].map(|level| level.map(|level| format!("{level:?}")).unwrap_or_default())
    };
    assert_eq!(run(true), ["Off", "Off", "Node"]);
    assert_eq!(run(false), ["", "", "Node"]);
}

/// A speculative copy, or a stage that was tried again, may leave a task without a success in a job that succeeded.
#[test]
fn a_job_that_succeeded_in_its_log_is_not_failed_by_one_of_its_tasks() {
    struct Outcomes(Vec<Outcome>);
    impl Reports for Outcomes {
        fn job_ended(&mut self, ended: &resched_sim::JobEnded) -> Result<(), Error> {
            self.0.push(ended.outcome);
            Ok(())
        }
    }
    impl Observer for Outcomes {}
    let run = |of_job: Outcome, of_task: Outcome| {
        let mut log = log();
        log.jobs.truncate(1);
        log.jobs[0].job.outcome = of_job;
        log.jobs[0].tasks[1].attempts[0].outcome = of_task;
        let loaded = loaded(&log, None);
        let mut outcomes = Outcomes(Vec::new());
        let mut policy = Always(0, Vec::new());
        let ran = (&loaded.workload, &loaded.machines);
        let tally = replay(ran.0, ran.1, ("always", &mut policy), &mut outcomes, &mut |_| {}).unwrap();
        assert_eq!(tally.failed_unlike_log, 0);
        (outcomes.0[0], loaded.skipped.get("failed-task-of-successful-job").copied())
    };
    for of_task in [Outcome::Failed, Outcome::Killed] {
        assert_eq!(run(Outcome::Success, of_task), (Outcome::Success, Some(1)));
        assert_eq!(run(Outcome::Failed, of_task), (of_task, None));
    }
}

#[test]
fn a_host_of_executors_is_one_machine() {
    let mut log = log();
    log.nodes = vec![
        node("a", Some("x"), Some(-50), NodeChange::Add),
        node("a", Some("y"), Some(10), NodeChange::Add),
        node("a", Some("x"), Some(20), NodeChange::Remove),
        node("b", Some("x"), Some(5), NodeChange::Add),
    ];
    let Loaded { machines, .. } = loaded(&log, None);
    let capacity: Vec<u64> = machines.nodes().iter().map(|node| node.capacity.cpu).collect();
    assert_eq!((capacity, machines.changes().len()), (vec![4_000, 0], 1), "b comes later");
    let executors: Vec<_> = machines
        .executors()
        .iter()
        .map(|executor| (executor.node.index(), executor.group.as_str(), executor.capacity.cpu))
        .collect();
    assert_eq!(executors, [(0, "x", 2_000), (0, "y", 2_000), (1, "x", 2_000)]);
    assert_eq!(machines.executors()[0].added, None);
    assert!(machines.executors()[1].added < machines.changes().first().map(|_| Ms::MAX));
}

/// Starts a task in a way that is not allowed.
struct Wrong(u32, Option<TaskId>);

impl Policy for Wrong {
    fn task_waits(&mut self, task: TaskId, _: View<'_>) {
        self.1.get_or_insert(task);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let node = offer.view().nodes().next().unwrap().0;
        let task = self.1.unwrap();
        match self.0 {
            0 => offer.start_on(task, &[(node, 2)]).map(drop),
            1 => offer.start_on(task, &[]).map(drop),
            2 => {
                offer.start_on(task, &[(node, 1)])?;
                offer.start_on(task, &[(node, 1)]).map(drop)
            }
            _ => {
                offer.start(task, 1)?;
                Ok(())
            }
        }
    }
}

#[test]
fn a_start_on_a_machine_is_checked() {
    let loaded = loaded(&log(), None);
    let run = |how| {
        let mut policy = Wrong(how, None);
        let tally = replay(&loaded.workload, &loaded.machines, ("wrong", &mut policy), &mut (), &mut |_| {});
        tally.map_err(|error| error.to_string()).err()
    };
    for (how, expected) in
        [(0, "another number of instances"), (1, "another number of instances"), (2, "does not wait")]
    {
        assert!(run(how).unwrap().contains(expected), "{how}");
    }
}

/// Starts what waits at its ticks alone, and counts them.
#[derive(Default)]
struct Ticks(Vec<TaskId>, Vec<Ms>, bool);

impl Policy for Ticks {
    fn task_waits(&mut self, task: TaskId, _: View<'_>) {
        self.0.push(task);
    }

    fn period(&self) -> Option<Ms> {
        Some(1_000)
    }

    fn phase(&self) -> Ms {
        1_300
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        view.all_waiting() == 0
    }

    fn tick(&mut self, view: View<'_>, _: &mut Orders) {
        self.1.push(view.now());
        self.2 = view.all_waiting() > 0;
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if std::mem::take(&mut self.2) {
            self.0.drain(..).try_for_each(|task| offer.start(task, 1).map(drop))?;
        }
        Ok(())
    }
}

#[test]
fn ticks_come_in_their_phase_and_only_while_something_waits() {
    let mut log = log();
    log.jobs.truncate(2);
    for (job, submit) in log.jobs.iter_mut().zip([0, 50_000_000]) {
        job.job.submit = Some(submit);
        job.tasks = vec![task(&job.job.job_id, "1", 0, "a", ("a", 10_000_000))];
    }
    let loaded = loaded(&log, None);
    let zero = loaded.workload.jobs().get(0).unwrap().submit;
    let mut policy = Ticks::default();
    replay(&loaded.workload, &loaded.machines, ("ticks", &mut policy), &mut (), &mut |_| {}).unwrap();
    let first = |after: Ms| (after - 300).div_euclid(1_000) * 1_000 + 1_300;
    // While a job runs and nothing waits, all ticks before its end are left out, and without a job, all.
    let due = [0, 10_000_000, 50_000_000, 60_000_000].map(|after| first(zero + after));
    assert_eq!(policy.1, due);
}
