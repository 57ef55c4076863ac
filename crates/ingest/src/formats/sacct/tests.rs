//! Lists of a few rows, for each trap.
#![allow(clippy::unwrap_used)]

use resched_tables::model::{AttemptRow, JobRecord, NO_LIMIT, Outcome, TaskRow};

use super::super::golden::{Collected, Found as _, each_damage, read_shared};
use super::*;

const HEADER: &str = "JobID|JobName|Submit|Eligible|Start|End|ElapsedRaw|State|ReqCPUS|AllocCPUS|AllocNodes|ReqTRES|AllocTRES|NodeList|SubmitLine";

fn read_list(text: &str) -> Collected {
    Collected::read(&FORMAT, text.as_bytes()).unwrap()
}

fn rows(rows: &[&str]) -> Collected {
    read_list(&format!("{HEADER}\n{}\n", rows.join("\n")))
}

/// A row: id, submit, start, run time, state and CPUs on node `n1`.
fn row(id: &str, submit: i64, start: i64, run: i64, state: &str, cpus: u32) -> String {
    let end = start + run;
    format!(
        "{id}|j|{submit}|{submit}|{start}|{end}|{run}|{state}|{cpus}|{cpus}|1|cpu={cpus},node=1|cpu={cpus},node=1|n1|"
    )
}

fn attempts(record: &JobRecord) -> Vec<(Option<i64>, Option<i64>, Outcome)> {
    let rows = record.tasks.iter().flat_map(|task| &task.attempts);
    rows.map(|AttemptRow { start, finish, outcome, .. }| (*start, *finish, *outcome)).collect()
}

fn ids(found: &Collected) -> Vec<&str> {
    found.jobs.iter().map(|record| record.job.job_id.as_str()).collect()
}

#[test]
fn requeued_jobs_are_one_job_with_a_try_for_each_row() {
    let lists = [
        row("7", 100, 110, 20, "REQUEUED", 2),
        row("8", 101, 105, 5, "COMPLETED", 1),
        row("7", 130, 260, 40, "COMPLETED", 2),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let found = rows(&order.map(|place: usize| lists[place].as_str()));
        assert_eq!(ids(&found), ["7", "8"]);
        let job = &found.jobs[0].job;
        assert_eq!((job.submit, job.launch, job.finish), (Some(100_000), Some(110_000), Some(300_000)));
        assert_eq!(job.outcome, Outcome::Success);
        let expected =
            [(Some(110_000), Some(130_000), Outcome::Evicted), (Some(260_000), Some(300_000), Outcome::Success)];
        assert_eq!(attempts(&found.jobs[0]), expected);
        assert_eq!(found.jobs[0].tasks[0].attempts[1].queued, Some(130_000));
    }
}

/// A job that is run again can start two minutes after its new submission: it waits from then on.
#[test]
fn a_requeued_job_waits_from_when_it_can_start_again() {
    let found = rows(&[
        "7|j|100|100|110|130|20|REQUEUED|2|2|1|cpu=2|cpu=2|n1|",
        "7|j|130|251|260|300|40|COMPLETED|2|2|1|cpu=2|cpu=2|n1|",
    ]);
    let queued: Vec<_> = found.jobs[0].tasks[0].attempts.iter().map(|attempt| attempt.queued).collect();
    assert_eq!(queued, [Some(100_000), Some(251_000)]);
    assert_eq!(found.jobs[0].job.eligible, None, "it could start at once when it was submitted first");
}

/// A row of a user: id, submit, run time, state.
fn of_user(user: &str, id: &str, submit: i64, run: i64, state: &str) -> String {
    let (start, end) = (submit + 10, submit + 10 + run);
    format!("{id}|{user}|acc|j|{submit}|{submit}|{start}|{end}|{run}|{state}|2|2|n1|")
}

fn with_users(rows: &[String]) -> Collected {
    let header =
        "JobID|User|Account|JobName|Submit|Eligible|Start|End|ElapsedRaw|State|ReqCPUS|AllocCPUS|NodeList|Reason";
    read_list(&format!("{header}\n{}\n", rows.join("\n")))
}

/// Numbers begin again after `MaxJobId`, and when a controller loses its state.
#[test]
fn a_number_that_is_given_again_is_another_job() {
    let all = [
        of_user("ann", "1", 100, 600, "COMPLETED"),
        of_user("ann", "2", 160, 600, "FAILED"),
        of_user("bob", "1", 9_000, 600, "COMPLETED"),
        of_user("ann", "2", 9_060, 600, "COMPLETED"),
        of_user("ann", "2", 20_000, 600, "TIMEOUT"),
    ];
    let mut turned = all.clone();
    turned.reverse();
    for rows in [all, turned] {
        let found = with_users(&rows);
        assert_eq!(ids(&found), ["1", "2", "1~2", "2~2", "2~3"]);
        let users: Vec<_> = found.jobs.iter().map(|record| record.job.user.as_deref().unwrap()).collect();
        assert_eq!(users, ["ann", "ann", "bob", "ann", "ann"]);
        assert!(found.jobs.iter().all(|record| attempts(record).len() == 1));
        assert!(found.jobs.iter().all(|record| record.tasks[0].attempts[0].task_id == record.job.job_id));
        assert_eq!(found.skipped["reused-job-id"], 3);
    }
}

/// A row of the same number and submission, but of another user, is of another cluster, or of a controller that began anew.
#[test]
fn a_row_of_another_user_is_no_copy() {
    let found = with_users(&[of_user("ann", "1", 100, 5, "COMPLETED"), of_user("bob", "1", 100, 50, "COMPLETED")]);
    assert_eq!((ids(&found), found.skipped["reused-job-id"]), (vec!["1", "1~2"], 1));
}

#[test]
fn a_job_that_slurm_gave_back_to_the_queue_has_its_tries_whatever_gave_it_back() {
    for (state, outcome) in [
        ("NODE_FAIL", Outcome::Lost),
        ("PREEMPTED", Outcome::Evicted),
        ("REQUEUED", Outcome::Evicted),
        ("PENDING,REQUEUED", Outcome::Evicted),
        ("BOOT_FAIL", Outcome::Failed),
    ] {
        let found = with_users(&[of_user("ann", "1", 100, 5, state), of_user("ann", "1", 200, 50, "COMPLETED")]);
        assert_eq!(ids(&found), ["1"], "{state}");
        let tries: Vec<Outcome> = attempts(&found.jobs[0]).into_iter().map(|(_, _, outcome)| outcome).collect();
        assert_eq!(tries, [outcome, Outcome::Success], "{state}");
        let other = with_users(&[of_user("ann", "1", 100, 5, state), of_user("bob", "1", 200, 50, "COMPLETED")]);
        assert_eq!(ids(&other), ["1", "1~2"], "{state}");
    }
}

/// `PreemptMode=CANCEL`, or `--no-requeue`: its work was done until then, and nobody did the rest.
#[test]
fn a_job_that_was_preempted_and_did_not_come_again_was_killed() {
    let found = with_users(&[of_user("ann", "1", 100, 5, "PREEMPTED"), of_user("ann", "2", 100, 5, "REQUEUED")]);
    let outcomes: Vec<Outcome> = found.jobs.iter().map(|record| record.job.outcome).collect();
    assert_eq!(outcomes, [Outcome::Killed, Outcome::Evicted]);
    assert_eq!(attempts(&found.jobs[0]), [(Some(110_000), Some(115_000), Outcome::Killed)]);
    assert_eq!(found.skipped["preempted-without-next-try"], 1);
}

/// Slurm's accounting has a row for each size. Versions differ in whether the later ones have a submission of their own.
#[test]
fn a_job_whose_size_was_changed_is_one_run() {
    for submit in [100, 420] {
        let found = rows(&[
            "7|j|100|100|110|420|310|RESIZING|8|8|2|cpu=8|cpu=8|n[1-2]|",
            &format!("7|j|{submit}|{submit}|420|720|300|COMPLETED|8|4|1|cpu=8|cpu=4|n1|"),
        ]);
        assert_eq!(ids(&found), ["7"]);
        assert_eq!(attempts(&found.jobs[0]), [(Some(110_000), Some(720_000), Outcome::Success)]);
        let job = &found.jobs[0].job;
        assert_eq!((job.submit, job.launch, job.outcome), (Some(100_000), Some(110_000), Outcome::Success));
        assert_eq!((job.requested_containers, found.skipped["resized-job"]), (Some(8), 1));
    }
}

/// Slurm prints the tasks of a waiting array in several rows if their records differ.
#[test]
fn the_tasks_of_a_waiting_array_may_stand_in_several_rows() {
    let waiting = |tasks: &str| format!("31_[{tasks}]|a|100|100|Unknown|Unknown|0|PENDING|1|1|0|cpu=1||None assigned|");
    let done = row("31_1", 100, 110, 5, "COMPLETED", 1);
    let found = rows(&[&done, &waiting("2-4"), &waiting("5,9-10%2")]);
    assert_eq!(ids(&found), ["31_1", "31_2", "31_3", "31_4", "31_5", "31_9", "31_10"]);
    assert!(found.skipped.is_empty() || !found.skipped.contains_key("duplicate-row"), "{:?}", found.skipped);
    // A list of an earlier day has tasks that have started since.
    let found = rows(&[&waiting("1-3"), &waiting("2-3"), &done]);
    assert_eq!(ids(&found), ["31_1", "31_2", "31_3"]);
    assert_eq!((found.jobs[0].job.outcome, found.skipped["unfinished-copy-replaced"]), (Outcome::Success, 3));
}

/// After numbers began again, a dependency is on the job that had the number then.
#[test]
fn a_dependency_is_on_the_job_that_had_the_number_at_that_time() {
    let asks = |id: &str, submit: i64| {
        format!(
            "{id}|a|{submit}|{submit}|{0}|{1}|10|COMPLETED|1|1|1|cpu=1|cpu=1|n1|sbatch -d afterok:5:6_1 x",
            submit + 60,
            submit + 70
        )
    };
    let found = rows(&[
        &row("5", 100, 110, 5, "COMPLETED", 1),
        &row("6_1", 100, 110, 5, "COMPLETED", 1),
        &asks("9", 120),
        &row("5", 9_000, 9_010, 5, "COMPLETED", 1),
        &row("6_1", 9_000, 9_010, 5, "COMPLETED", 1),
        &asks("9", 9_020),
    ]);
    let depends: Vec<String> = found.jobs.iter().map(|record| record.job.depends_on.join(",")).collect();
    assert_eq!(ids(&found), ["5", "6_1", "9", "5~2", "6_1~2", "9~2"]);
    assert_eq!(depends, ["", "", "5,6_1", "", "", "5~2,6_1~2"]);
}

#[test]
fn the_reason_for_which_a_job_waited_is_kept() {
    let row = |reason: &str| of_user("ann", "1", 100, 5, "COMPLETED") + reason;
    let of = |reason| with_users(&[row(reason)]).jobs[0].job.wait_reason.clone();
    assert_eq!(of("QOSMaxCpuPerUserLimit").as_deref(), Some("QOSMaxCpuPerUserLimit"));
    assert_eq!([of("None"), of("")], [None, None]);
}

/// Up to 20.11, `ReqMem` is for each node or CPU, and the nodes are in `NNodes`, or only in the list of nodes.
#[test]
fn memory_for_each_node_counts_on_all_nodes() {
    for (column, nodes) in [("AllocNodes", "2"), ("NNodes", "2"), ("Comment", "")] {
        let list = format!(
            "JobID|Submit|Start|End|State|NCPUS|{column}|ReqMem|NodeList\n1|100|110|120|COMPLETED|8|{nodes}|4000Mn|n[1-2]\n"
        );
        let task = read_list(&list).jobs[0].tasks[0].task.clone();
        let memory = task.memory_request.unwrap() * task.instances.unwrap();
        assert_eq!(memory, 8_000 << 20, "{column}");
    }
}

/// Slurm counts GPUs only if the site lists them in `AccountingStorageTRES`.
#[test]
fn gpus_are_found_wherever_a_version_or_a_site_keeps_them() {
    let of = |columns: &str, values: &str| {
        let list = format!(
            "JobID|Submit|Start|End|State|NCPUS|AllocNodes|ReqTRES|AllocTRES|NodeList|{columns}\n1|100|110|120|COMPLETED|2|2|cpu=2,node=2|cpu=2,node=2|n[1-2]|{values}\n"
        );
        read_list(&list).jobs[0].tasks[0].task.resources.clone()
    };
    for (columns, values, each) in [
        ("SubmitLine", "sbatch --gpus 4 -N2 x", 2),
        ("SubmitLine", "sbatch --gpus-per-node=4 -N2 x", 4),
        ("SubmitLine", "sbatch --gres=gpu:a100:4 -N2 x", 4),
        ("SubmitLine", "sbatch --gpus-per-task=1 -n 8 x", 4),
        ("ReqGRES|AllocGRES", "gpu:4|gpu:4(IDX:0-3)", 4),
        ("ReqGRES|AllocGRES", "|gpu:4(IDX:0-3)", 4),
    ] {
        assert_eq!(of(columns, values).as_deref(), Some(format!("gres/gpu={each}").as_str()), "{values}");
    }
    assert_eq!(of("SubmitLine", "sbatch -N2 x"), None);
}

#[test]
fn a_requeued_try_in_json_is_a_try() {
    let job = |submit: i64, state: &str| {
        format!(
            r#"{{"job_id": 5, "allocation_nodes": 1, "nodes": "n1", "required": {{"CPUs": 1}}, "state": {{"current": {state}, "reason": "Priority"}},
            "time": {{"submission": {submit}, "eligible": {submit}, "start": {}, "end": {}, "elapsed": 20, "limit": 5}}}}"#,
            submit + 10,
            submit + 30
        )
    };
    let found = read_list(&format!(
        r#"{{"jobs": [{}, {}]}}"#,
        job(100, r#"["PENDING", "REQUEUED"]"#),
        job(200, r#"["COMPLETED"]"#)
    ));
    let expected = [(Some(110_000), Some(130_000), Outcome::Evicted), (Some(210_000), Some(230_000), Outcome::Success)];
    assert_eq!((ids(&found), attempts(&found.jobs[0])), (vec!["5"], expected.to_vec()));
    assert_eq!(found.jobs[0].job.wait_reason.as_deref(), Some("Priority"));
}

/// The names of the nodes say nothing about their sizes: the small ones were full again and again.
#[test]
fn nodes_of_one_name_may_be_of_two_sizes() {
    let on = |id: i64, node: &str, start: i64, cpus: u32| {
        row(&id.to_string(), 100, start, 10, "COMPLETED", cpus).replace("|n1|", &format!("|{node}|"))
    };
    let mut all = vec![on(1, "n9", 200, 64), on(2, "n8", 200, 4)];
    for n in 0..8 {
        let at = 200 + 20 * n;
        all.push(on(100 + n, "n1", at, 16));
        all.push(on(200 + n, "n2", at, 8));
        all.push(on(300 + n, "n2", at, 8));
        all.push(on(400 + n, "n2", at + 10, 16));
    }
    let found = rows(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let nodes: Vec<_> = found.nodes.iter().map(|node| (node.host.as_str(), node.cpu.unwrap() / 1_000)).collect();
    assert_eq!(
        nodes,
        [("n1", 64), ("n2", 16), ("n8", 64), ("n9", 64)],
        "one job alone on a node shows less than two at once"
    );
}

/// Slurm's own order of jobs that were submitted in one second: 9 comes before 10.
#[test]
fn jobs_of_one_second_come_in_the_order_of_their_numbers() {
    let all = ["10", "12_10", "9", "12_9", "12_2"].map(|id| row(id, 100, 110, 5, "COMPLETED", 1));
    let found = rows(&all.each_ref().map(String::as_str));
    assert_eq!(ids(&found), ["9", "10", "12_2", "12_9", "12_10"]);
}

/// Limits are times, or minutes without a unit. A job that may run without one has that of a year, which is what Slurm plans for it. That
/// is not a job that names none, for which the partition says it.
#[test]
fn limits_are_read_in_all_forms() {
    for (shown, minutes, expected) in [
        ("00:01:00", "1", Some(60_000)),
        ("00:01:00", "", Some(60_000)),
        ("2-03:00:00", "", Some(183_600_000)),
        ("", "90", Some(5_400_000)),
        ("UNLIMITED", "UNLIMITED", Some(NO_LIMIT)),
        ("UNLIMITED", "", Some(NO_LIMIT)),
        ("", "UNLIMITED", Some(NO_LIMIT)),
        ("Partition_Limit", "Partition_Limit", None),
        ("00:00:00", "0", None),
        ("", "", None),
    ] {
        let header = "JobID|Submit|State|Elapsed|NCPUS|Timelimit|TimelimitRaw";
        let found = read_list(&format!("{header}\n5|100|COMPLETED|00:01:00|4|{shown}|{minutes}\n"));
        assert_eq!(found.jobs[0].job.requested_time, expected, "{shown} {minutes}");
    }
}

/// `ReqTRES` has one node for `-n 20`, whatever the job got.
#[test]
fn what_was_asked_for_is_not_what_was_given() {
    let found = rows(&["1|a|100|100|110|120|10|COMPLETED|20|20|2|cpu=20,node=1|cpu=20,node=2|n[1-2]|sbatch -n 20 x"]);
    let TaskRow { instances, cpu_request, machines, .. } = &found.jobs[0].tasks[0].task;
    assert_eq!((*instances, *cpu_request, *machines), (Some(20), Some(1_000), None));
    assert_eq!(found.jobs[0].job.requested_containers, Some(20));
}

#[test]
fn a_row_that_comes_again_counts_once_and_its_end_counts() {
    let running = "7|j|100|100|110|Unknown|5|RUNNING|2|2|1|cpu=2|cpu=2|n1|";
    let ended = row("7", 100, 110, 20, "COMPLETED", 2);
    for (list, cause) in [
        ([running, &ended], "unfinished-copy-replaced"),
        ([&ended, running], "unfinished-copy-replaced"),
        ([&ended, &ended], "duplicate-row"),
        ([running, running], "unfinished-copy-replaced"),
    ] {
        let found = rows(&list);
        let outcome =
            if list == [running, running] { (None, Outcome::Incomplete) } else { (Some(130_000), Outcome::Success) };
        assert_eq!(attempts(&found.jobs[0]), [(Some(110_000), outcome.0, outcome.1)]);
        assert_eq!(found.skipped[cause], 1);
    }
    assert_eq!(attempts(&rows(&[running]).jobs[0]), [(Some(110_000), None, Outcome::Incomplete)]);
}

/// Rows of one id and one submission are compared with their neighbours only: all are jobs of their own if they are of different users.
#[test]
fn copies_are_found_among_many_rows_of_one_id_in_any_order() {
    let header = "JobID|User|Submit|Start|End|ElapsedRaw|State|ReqCPUS";
    let of = |user: usize, run: usize| {
        let user = if user > 0 { format!("u{user}") } else { String::new() };
        format!("7|{user}|100|110|{}|{run}|COMPLETED|1", 110 + run)
    };
    // Each of 300 users has three copies, of which the longest counts. That of an unknown user is one of the first.
    let mut lines: Vec<String> = (1..=300).flat_map(|user| [3, 1, 2].map(|run| of(user, run))).collect();
    lines.push(of(0, 9));
    for _ in 0..2 {
        let found = read_list(&format!("{header}\n{}\n", lines.join("\n")));
        assert_eq!((found.jobs.len(), found.skipped["duplicate-row"]), (300, 601));
        let ends = found.jobs.iter().map(|record| record.job.finish);
        assert_eq!(ends.filter(|&end| end == Some(113_000)).count(), 299);
        lines.reverse();
    }
}

#[test]
fn tasks_of_arrays_and_components_are_jobs() {
    let found = rows(&[
        &row("12_5", 100, 110, 5, "COMPLETED", 1),
        "12_[6-7,9%2]|a|100|100|Unknown|Unknown|0|PENDING|1|1|0|cpu=1||None assigned|",
        &row("13+0", 101, 110, 5, "COMPLETED", 1),
        &row("13+1", 101, 110, 5, "COMPLETED", 1),
        &row("13+0.batch", 101, 110, 5, "COMPLETED", 1),
    ]);
    assert_eq!(ids(&found), ["12_5", "12_6", "12_7", "12_9", "13+0", "13+1"]);
    assert!(attempts(&found.jobs[1]).is_empty() && found.jobs[1].job.outcome == Outcome::Incomplete);
    let together: Vec<_> = found.jobs.iter().map(|record| record.job.together.as_deref()).collect();
    assert_eq!(together, [None, None, None, None, Some("13"), Some("13")]);
    assert_eq!(found.skipped["step-of-a-job"], 1);
}

#[test]
fn a_job_that_never_ran_has_no_attempt() {
    let found = rows(&[
        "1|a|100|100|None|120|0|CANCELLED by 5|4|4|0|cpu=4||None assigned|",
        "2|a|100|100|120|120|0|CANCELLED|4|4|0|cpu=4||None assigned|",
        "3|a|100|Unknown|Unknown|Unknown|0|PENDING|4|0|0|cpu=4||None assigned|",
        "4|a|100|100|120|120|0|FAILED|4|4|1|cpu=4|cpu=4|n1|",
    ]);
    let outcomes: Vec<_> = found.jobs.iter().map(|record| (record.job.outcome, attempts(record).len())).collect();
    let expected = [(Outcome::Killed, 0), (Outcome::Killed, 0), (Outcome::Incomplete, 0), (Outcome::Failed, 1)];
    assert_eq!(outcomes, expected);
    assert_eq!(found.jobs[0].job.finish, Some(120_000));
}

#[test]
fn suspended_time_is_not_run_time() {
    let found = rows(&["1|a|100|100|110|150|20|COMPLETED|2|2|1|cpu=2|cpu=2|n1|"]);
    assert_eq!(attempts(&found.jobs[0]), [(Some(110_000), Some(130_000), Outcome::Success)]);
    assert_eq!(found.jobs[0].job.finish, Some(150_000));
    assert_eq!(found.skipped["suspended-time-left-out"], 1);
}

/// A row of a job that could start 50 s after its submission, with the options of its command.
fn asking(id: &str, options: &str) -> String {
    format!("{id}|a|100|150|160|170|10|COMPLETED|1|1|1|cpu=1|cpu=1|n1|sbatch {options} x")
}

/// The jobs that the last row waits for, and what is counted about dependencies.
fn waits_for(before: &[String], id: &str, dependency: &str) -> (String, Vec<(String, u64)>) {
    let last = asking(id, &format!("-d {dependency}"));
    let lines: Vec<&str> = before.iter().chain([&last]).map(String::as_str).collect();
    let found = rows(&lines);
    let job = &found.jobs.iter().find(|record| record.job.job_id == id).unwrap().job;
    assert_eq!(job.eligible, Some(150_000), "{dependency}");
    let counted = found.skipped.iter().filter(|(cause, _)| cause.starts_with("dependency"));
    (job.depends_on.join(","), counted.map(|(cause, n)| (cause.clone(), *n)).collect())
}

/// sbatch(1), `--dependency`: ends of jobs, of whole arrays, of their tasks, and of the tasks of the same number.
#[test]
fn jobs_wait_for_the_ends_that_their_dependency_names() {
    let before = [
        row("1", 90, 95, 50, "COMPLETED", 1),
        row("2", 90, 95, 50, "FAILED", 1),
        row("5_1", 90, 95, 50, "COMPLETED", 1),
        row("5_2", 90, 95, 50, "COMPLETED", 1),
        row("6_1", 90, 95, 50, "COMPLETED", 1),
        row("6_2", 90, 95, 50, "FAILED", 1),
    ];
    for (id, dependency, expected) in [
        ("9", "afterok:1", "1"),
        ("9", "afterany:1:2", "1,2"),
        ("9", "afternotok:2", "2"),
        ("9", "afterok:5", "5_1,5_2"),
        ("9", "afterany:6,afterok:5_2", "5_2,6_1,6_2"),
        ("9", "afternotok:6", "6_1,6_2"),
        ("9_1", "aftercorr:6", "6_1"),
        ("9", "aftercorr:5", "5_1,5_2"),
    ] {
        assert_eq!(waits_for(&before, id, dependency), (expected.to_owned(), Vec::new()), "{dependency}");
    }
    // A job that ran all the same had another dependency in the end.
    let counted = |cause: &str| (String::new(), vec![(cause.to_owned(), 1)]);
    for (id, dependency) in
        [("9", "afterok:2"), ("9", "afternotok:1"), ("9", "afterok:6"), ("9_2", "aftercorr:6"), ("9", "afternotok:5")]
    {
        assert_eq!(waits_for(&before, id, dependency), counted("dependency-never-satisfied"), "{dependency}");
    }
    for dependency in ["afterok:1:77", "afterany:5_3", "afterany:9"] {
        assert_eq!(waits_for(&before, "9", dependency), counted("dependency-on-unknown-job"), "{dependency}");
    }
    for dependency in ["after:1", "afterok:1?afterok:5", "afterok:1,after:1+5"] {
        assert_eq!(waits_for(&before, "9", dependency), counted("dependency-not-read"), "{dependency}");
    }
}

/// sbatch(1): `singleton` waits for all jobs of the same name and user that were submitted before.
#[test]
fn a_singleton_waits_for_the_earlier_jobs_of_its_name() {
    let other = row("2", 90, 95, 50, "COMPLETED", 1);
    let before = [asking("1", "-n1"), other, asking("3", "-d singleton"), asking("4", "-n1")];
    assert_eq!(waits_for(&before[..2], "3", "singleton").0, "1", "2 is named j");
    assert_eq!(waits_for(&before, "5", "singleton").0, "3,4", "3 waits for 1");
    assert_eq!(waits_for(&before, "5", "singleton,afterany:2").0, "2,3,4");
}

#[test]
fn jobs_wait_for_as_many_ends_as_the_limit_and_not_one_more() {
    let lines = [
        row("5_1", 90, 95, 50, "COMPLETED", 1),
        row("5_2", 90, 95, 50, "COMPLETED", 1),
        asking("8", "-d afterok:5"),
        asking("9", "-d afterok:5"),
    ];
    for (most, expected) in [(4, [2, 2]), (3, [2, 0])] {
        let mut found = Collected::default();
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        read_into(Jobs::up_to(most), &mut text.as_bytes(), "list", &mut found).unwrap();
        let ends: Vec<usize> = found.jobs.iter().skip(2).map(|record| record.job.depends_on.len()).collect();
        assert_eq!(ends, expected);
        assert_eq!(found.skipped.contains_key("dependency-on-too-many-jobs"), most == 3);
    }
}

/// One row of an array is enough to say how many of its tasks may run at once.
#[test]
fn tasks_of_an_array_may_be_limited() {
    let found = rows(&[
        &row("12_5", 100, 110, 5, "COMPLETED", 1),
        "12_[6-7%2]|a|100|100|Unknown|Unknown|0|PENDING|1|1|0|cpu=1||None assigned|",
        &asking("13_1", "-a 1-9%3"),
        &asking("14_1", "-a 1-9 --nice=7"),
        &asking("15", "--nice"),
    ]);
    let of = |record: &JobRecord| (record.job.array.clone(), record.job.array_limit, record.job.nice);
    let limited = |array: &str, limit| (Some(array.to_owned()), Some(limit), None);
    let found: Vec<_> = found.jobs.iter().map(of).collect();
    let expected = [
        limited("12", 2),
        limited("12", 2),
        limited("12", 2),
        limited("13", 3),
        (None, None, Some(7)),
        (None, None, Some(100)),
    ];
    assert_eq!(found, expected);
}

/// The tables have no place for them, so nobody should take a replay for one that keeps to them.
#[test]
fn options_without_a_place_are_counted() {
    let found = rows(&[&asking("1", "-w n1 --time-min=5"), &asking("2", "-x n1"), &asking("3", "-n1")]);
    assert_eq!((found.skipped["named-nodes-left-out"], found.skipped["shortest-limit-left-out"]), (2, 1));
}

/// Of forty jobs of two CPUs, two may be on two nodes (5 %), and three are too many.
#[test]
fn jobs_of_unknown_shape_are_packed_if_nearly_all_were() {
    let list = |spread: u32| {
        let one = |n: u32| match n < spread {
            true => format!("{n}|a|100|100|110|120|10|COMPLETED|2|2|2|cpu=2|cpu=2|n[1-2]|sbatch job.sh"),
            false => row(&n.to_string(), 100, 110 + 20 * i64::from(n), 10, "COMPLETED", 2),
        };
        let all: Vec<String> = (0..40).map(one).collect();
        rows(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let shape = |found: &Collected, place: usize| {
        let TaskRow { instances, cpu_request, machines, .. } = &found.jobs[place].tasks[0].task;
        (*instances, *cpu_request, *machines)
    };
    let packed = list(2);
    assert_eq!(shape(&packed, 0), (Some(2), Some(1_000), Some(2)));
    assert_eq!(shape(&packed, 39), (Some(1), Some(2_000), Some(1)));
    let spread = list(3);
    assert_eq!(shape(&spread, 0), (Some(2), Some(1_000), None));
    assert_eq!(shape(&spread, 39), (Some(2), Some(1_000), None));
}

#[test]
fn whole_nodes_and_cores_are_seen_by_what_was_allocated() {
    let found = rows(&[
        "1|a|100|100|110|120|10|COMPLETED|16|16|1|cpu=16|cpu=16|n1|sbatch -n16 x",
        "2|a|101|101|130|140|10|COMPLETED|1|16|1|cpu=1|cpu=16|n2|sbatch -n1 x",
        "3|a|102|102|150|160|10|COMPLETED|2|4|1|cpu=2|cpu=4|n1|sbatch -n2 x",
    ]);
    let shape = |place: usize| {
        let TaskRow { instances, cpu_request, machines, exclusive, .. } = &found.jobs[place].tasks[0].task;
        (instances.unwrap(), cpu_request.unwrap(), *machines, *exclusive)
    };
    assert_eq!(shape(0), (16, 1_000, None, None));
    assert_eq!(shape(1), (1, 16_000, Some(1), Some(true)), "it got a whole node");
    assert_eq!(shape(2), (2, 2_000, None, None), "two CPUs of each core");
}

#[test]
fn memory_counts_only_if_slurm_allocated_it() {
    let line =
        |alloc: &str| format!("1|a|100|100|110|120|10|COMPLETED|4|4|2|cpu=4,mem=8G|cpu=4{alloc}|n[1-2]|sbatch -n4 x");
    let request = |line: &str| rows(&[line]).jobs[0].tasks[0].task.memory_request;
    assert_eq!(request(&line(",mem=16G")), Some(4 << 30), "`--mem` is for each node");
    assert_eq!(request(&line("")), None);
    assert_eq!(rows(&[&line("")]).skipped["memory-not-allocated"], 1);
}

#[test]
fn generic_resources_are_those_of_a_node() {
    let found = rows(&[
        "1|a|100|100|110|120|10|COMPLETED|6|6|2|cpu=6,gres/gpu=1|cpu=6,gres/gpu=2,license/m=3|n[1-2]|sbatch -n6 --gres=gpu:1 x",
    ]);
    let record = &found.jobs[0];
    let TaskRow { instances, cpu_request, machines, resources, .. } = &record.tasks[0].task;
    assert_eq!((*instances, *cpu_request, *machines), (Some(2), Some(3_000), Some(2)));
    assert_eq!((resources.as_deref(), record.job.licenses.as_deref()), (Some("gres/gpu=1"), Some("license/m=3")));
}

#[test]
fn nodes_have_room_for_what_ran_on_them() {
    let found = rows(&[
        &row("1", 100, 110, 20, "COMPLETED", 3),
        &row("2", 100, 120, 20, "COMPLETED", 2),
        &row("3", 100, 130, 20, "COMPLETED", 3),
        "4|a|100|100|110|120|10|COMPLETED|8|8|2|cpu=8|cpu=8|big[1-2]|",
    ]);
    let nodes: Vec<_> = found.nodes.iter().map(|node| (node.host.as_str(), node.cpu)).collect();
    assert_eq!(nodes, [("big1", Some(4_000)), ("big2", Some(4_000)), ("n1", Some(5_000))]);
    assert_eq!(found.skipped["machine-sized-by-its-use"], 3);
}

#[test]
fn short_lists_are_enough() {
    let found = read_list("JobIDRaw,Submit,State,Elapsed,NCPUS\n5,100,COMPLETED,00:01:00,4\n");
    let record = &found.jobs[0];
    assert_eq!((record.job.job_id.as_str(), record.tasks[0].attempts[0].run_time), ("5", Some(60_000)));
    assert_eq!(found.skipped["file-without-machines"], 1);
}

#[test]
fn a_line_break_in_free_text_does_not_end_the_row() {
    let whole = row("2", 100, 110, 5, "COMPLETED", 1);
    let found = rows(&[&format!("{}sbatch -n1 --wrap a\nb|c\n", row("1", 100, 110, 5, "COMPLETED", 1)), &whole]);
    assert_eq!(ids(&found), ["1", "2"]);
    let named = row("1", 100, 110, 5, "COMPLETED", 1).replacen("|j|", "|a\nb|", 1);
    let found = rows(&[&named, &whole]);
    assert_eq!(found.jobs[0].job.name.as_deref(), Some("a\nb"));
    let found = rows(&["1|a|10", &whole]);
    assert_eq!((ids(&found), found.skipped["damaged-line"]), (vec!["2"], 1), "a row that was cut");
}

const NEWER: &str = r#"{"jobs":[{"job_id":20,"name":"a","array":{"job_id":18,"task_id":{"set":true,"infinite":false,"number":2},
 "task":""},"association":{"account":"x","user":"ann"},"allocation_nodes":2,"nodes":"n[1-2]","partition":"p","qos":"q",
 "priority":{"set":true,"infinite":false,"number":7},"required":{"CPUs":4},"state":{"current":["COMPLETED"],"reason":"None"},
 "steps":[{},{}],"submit_line":"sbatch -N2 x","time":{"submission":100,"eligible":100,"start":110,"end":130,"elapsed":20,
 "limit":{"set":true,"infinite":false,"number":5}},"tres":{"allocated":[{"type":"cpu","name":"","count":4},{"type":"gres","name":"gpu","count":2}],
 "requested":[]}},{"job_id":21},{"job_id":22,"array":{"job_id":22,"task_id":{"set":false,"infinite":false,"number":0},"task":"[3-4%1]"},
 "required":{"CPUs":1},"state":{"current":["PENDING"]},"allocation_nodes":0,"time":{"submission":100,"start":0,"end":0,"elapsed":0,
 "limit":{"set":false,"infinite":true,"number":0}}}],"meta":{"jobs":[{}]},"errors":[]}"#;

#[test]
fn newer_json_has_numbers_as_objects_and_lists_of_states() {
    assert!(sniff(NEWER.as_bytes()));
    let found = read_list(NEWER);
    assert_eq!(ids(&found), ["18_2", "22_3", "22_4"]);
    let job = &found.jobs[0].job;
    assert_eq!((job.user.as_deref(), job.group.as_deref(), job.priority_number), (Some("ann"), Some("x"), Some(7)));
    assert_eq!((job.requested_time, found.jobs[1].job.requested_time), (Some(300_000), Some(NO_LIMIT)));
    let task = &found.jobs[0].tasks[0].task;
    assert_eq!((task.instances, task.resources.as_deref()), (Some(2), Some("gres/gpu=1")));
    assert_eq!((found.skipped["damaged-job"], found.skipped["step-of-a-job"]), (1, 2));
}

/// 24.11 numbers rows of its database beyond the range of a signed number, has fields between name and submit line, and lets a job ask for
/// several QOS.
#[test]
fn lists_of_24_11_have_new_fields() {
    let header =
        "DBIndex|Extra|JobID|JobName|Licenses|NCPUS|QOS|QOSREQ|SLUID|StdErr|StdOut|Submit|SubmitLine|Elapsed|State";
    let found = read_list(&format!(
        "{header}\n13152349774512867328||76|odd | name||1||high,low|sBD1|||100|sbatch --comment=a|b -n1|00:00:03|COMPLETED\n\
         13152349774466280448||77|plain||1|low|high,low|sBD2||/dev/null|100|sbatch -n1|00:00:03|COMPLETED\n"
    ));
    let names: Vec<_> = found.jobs.iter().map(|job| (job.job.name.as_deref(), job.job.qos.as_deref())).collect();
    assert_eq!(names, [(Some("odd | name"), Some("high")), (Some("plain"), Some("low"))]);
    assert_eq!(found.skipped.get("ambiguous-line"), None);
    let json = NEWER.replace(r#""qos":"q""#, r#""qos":"","qosreq":"b,a""#);
    assert_eq!(read_list(&json).jobs[0].job.qos.as_deref(), Some("b"));
}

/// Data parsers differ in how they write that there is no limit, and that none is given. Up to 0.0.39, `null` is both; but a job that ran has
/// got the limit of its partition, if it gave none.
#[test]
fn json_has_no_limit_in_many_forms() {
    let ran = (r#""COMPLETED""#, 110);
    let waits = (r#""PENDING""#, 0);
    for ((state, start), limit, expected, ambiguous) in [
        (ran, "null", Some(NO_LIMIT), 0),
        (waits, "null", None, 1),
        (waits, r#"{"set": false, "infinite": true, "number": 0}"#, Some(NO_LIMIT), 0),
        (waits, r#"{"set": true, "infinite": true, "number": 0}"#, Some(NO_LIMIT), 0),
        (ran, r#"{"set": false, "infinite": false, "number": 0}"#, None, 0),
        (waits, r#""Infinity""#, Some(NO_LIMIT), 0),
        (waits, "4294967295", Some(NO_LIMIT), 0),
        (waits, "4294967294", None, 0),
        (waits, "5", Some(300_000), 0),
        (ran, "0", None, 0),
    ] {
        let elapsed = if start > 0 { 20 } else { 0 };
        let found = read_list(&format!(
            r#"{{"jobs": [{{"job_id": 5, "allocation_nodes": 1, "required": {{"CPUs": 1}}, "state": {{"current": {state}}}, "time": {{
            "submission": 100, "eligible": 100, "start": {start}, "end": 0, "elapsed": {elapsed}, "limit": {limit}}}}}]}}"#
        ));
        assert_eq!(found.jobs[0].job.requested_time, expected, "{state} {limit}");
        assert_eq!(found.skipped.get("ambiguous-limit").copied().unwrap_or(0), ambiguous, "{state} {limit}");
    }
}

#[test]
fn a_job_has_as_many_rows_as_the_limit_and_not_one_more() {
    let rows = |most: usize| -> Vec<String> {
        (0..most as i64).map(|n| row("1", 100 + n, 100 + n, 1, "REQUEUED", 1)).collect()
    };
    let read = |most: usize| {
        let rows = rows(most);
        let text = format!("{HEADER}\n{}\n", rows.join("\n"));
        Collected::read(&FORMAT, text.as_bytes()).map_err(|error| error.to_string())
    };
    let found = read(MOST_ROWS).unwrap();
    assert_eq!((found.jobs.len(), found.jobs[0].tasks[0].attempts.len()), (1, MOST_ROWS));
    let problem = read(MOST_ROWS + 1).unwrap_err();
    assert!(problem.contains("job 1: expected at most 10000 rows under one id"), "{problem}");
}

#[test]
fn a_job_has_as_many_nodes_as_the_limit_and_not_one_more() {
    let found = [MOST_HOSTS, MOST_HOSTS + 1].map(|nodes| {
        let list = format!("n[1-{nodes}]");
        let cpus = nodes as u32;
        let text = row("1", 100, 110, 20, "COMPLETED", cpus).replace("|n1|", &format!("|{list}|"));
        let found = rows(&[&text]);
        (found.jobs.len(), found.nodes.len(), found.skipped.get("damaged-node-list").copied())
    });
    assert_eq!(found, [(1, MOST_HOSTS, None), (1, 0, Some(1))]);
}

#[test]
fn an_array_has_as_many_tasks_without_an_id_as_the_limit_and_not_one_more() {
    let found = [MOST_PENDING - 1, MOST_PENDING].map(|last| {
        let found = rows(&[&format!("9_[0-{last}]|j|100|100|Unknown|Unknown|0|PENDING|1|0|0|cpu=1||None assigned|")]);
        let counted = found.skipped.iter().filter(|(cause, _)| cause.contains("array") || cause.contains("pending"));
        (found.jobs.len(), counted.map(|(_, n)| n).sum::<u64>())
    });
    assert_eq!(found, [(MOST_PENDING, 0), (MOST_PENDING, 1)]);
}

#[test]
fn only_lists_of_sacct_are_recognised() {
    assert!(sniff(format!("{HEADER}\n").as_bytes()) && sniff(b"JobIDRaw,State\n"));
    assert!(sniff(b"JobID           JobName\n------------ ----------\n"));
    for other in [
        "",
        "JobID|Name\n1|a\n",
        "{\"jobs\":[{\"job_id\":1,\"job_state\":\"PENDING\"}]}",
        "JobID State\n1 a\n",
        "; JobID|State\n",
    ] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
}

/// The seeds of the fuzz target, which have a row for each trap.
const SEEDS: [&[u8]; 3] = [
    include_bytes!("../../../../../fuzz/seeds/sacct/text"),
    include_bytes!("../../../../../fuzz/seeds/sacct/older.json"),
    include_bytes!("../../../../../fuzz/seeds/sacct/newer.json"),
];

#[test]
fn the_seeds_of_the_fuzz_target_are_read() {
    let [text, older, newer] = SEEDS.map(|seed| {
        assert!(sniff(seed));
        Collected::read(&FORMAT, seed).unwrap()
    });
    assert_eq!(ids(&text), ["9+1", "7", "8_5", "8_6", "8_7", "8_8", "8_11"]);
    assert_eq!((ids(&older), ids(&newer)), (vec!["8_5"], vec!["22_3", "22_4", "22_5", "22_9"]));
}

#[test]
fn damage_costs_only_what_it_hits() {
    for seed in SEEDS {
        each_damage(seed, 600, |damaged| drop(Collected::read(&FORMAT, damaged)));
    }
    each_damage(NEWER.as_bytes(), 600, |damaged| drop(Collected::read(&FORMAT, damaged)));
    for file in ["sacct-all.txt.gz", "sacct.json.gz"] {
        let Some(bytes) = read_shared(&format!("../truth/slurm/mixed/{file}")) else { return };
        each_damage(&bytes, 40, |damaged| drop(Collected::read(&FORMAT, damaged)));
    }
}

/// Rows as Open XDMoD asks for them.
const HEADLESS: &str = "5|5|c|p|normal|a|g|100|u|200|2026-05-01T08:00:00|2026-05-01T08:00:00|2026-05-01T08:01:00|\
    2026-05-01T09:01:00|01:00:00|0:0|COMPLETED|2|8|8|4Gn|cpu=8|cpu=8,node=2|1-00:00:00|n[1-2]|one\n\
    6|6|c|p|normal|a|g|100|u|200|2026-05-01T08:00:00|2026-05-01T08:00:00|2026-05-01T08:01:00|\
    2026-05-01T09:01:00|01:00:00|0:0|FAILED|1|4|4|4Gn|cpu=4|cpu=4,node=1|1-00:00:00|n1|a|b\n";

#[test]
fn every_row_of_a_list_without_a_header_counts() {
    for text in [HEADLESS.to_owned(), format!("\n\n\u{feff}{}", HEADLESS.replace('\n', "\r\n"))] {
        assert!(sniff(text.as_bytes()), "{text}");
        let found = read_list(&text);
        assert_eq!(ids(&found), ["5", "6"]);
        let names: Vec<_> = found.jobs.iter().map(|record| record.job.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["one", "a|b"]);
        assert_eq!(found.jobs[0].job.requested_time, Some(86_400_000));
    }
    // A first line that was cut hides nothing.
    let found = read_list(&format!("T08:00:00|COMPLETED|rest\n{HEADLESS}{HEADLESS}"));
    assert_eq!((ids(&found), found.skipped["damaged-line"]), (vec!["5", "6"], 1));
}

#[test]
fn no_damage_of_a_list_without_a_header_makes_it_panic() {
    each_damage(HEADLESS.as_bytes(), 400, |damaged| {
        sniff(damaged);
        let _ = Collected::read(&FORMAT, damaged);
    });
}

#[test]
fn a_job_in_json_is_known_by_its_keys() {
    let job = r#"{"account": "a", "allocation_nodes": 1, "job_id": 5, "nodes": "n1", "required": {"CPUs": 1},
        "state": {"current": ["COMPLETED"]}, "time": {"submission": 100, "start": 110, "end": 120, "elapsed": 10}}"#;
    for text in [format!("{job}\n{job}"), format!("[{job}, {job}]"), format!(" \n{job}")] {
        assert!(sniff(text.as_bytes()), "{text}");
        assert_eq!(ids(&read_list(&text)), ["5"], "{text}");
    }
    // Those of `squeue`, and other lists.
    for other in [r#"{"job_id": 5, "job_state": ["RUNNING"]}"#, r#"[{"id": 5}]"#, "[]", "[", r#"{"a": "job_id"}"#] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
    // A job is looked for no further than this.
    let far = job.replace("\"a\"", &format!("\"{}\"", "a".repeat(1 << 20)));
    assert_eq!((read_list(&far).jobs.len(), read_list(job).jobs.len()), (0, 1));
    let value = r#"{"name": "job_id", "jobs": [JOB]}"#.replace("JOB", job);
    assert_eq!(ids(&read_list(&value)), ["5"], "a value is no key");
}
