#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use resched_tables::model::Outcome;
use resched_tables::sink::Collected;

use super::*;

static SYSTEM: System = System { framework: "test", logs: "logs" };

fn entry(id: &str, submit: i64, start: Option<i64>, end: Option<i64>, stage: Stage) -> Entry<'_> {
    let hosts = if start.is_some() { vec![(Cow::Borrowed("n1"), 4)] } else { Vec::new() };
    Entry { id: Cow::Borrowed(id), submit: Some(submit), is_exact: true, start, end, stage, hosts, ..Entry::default() }
}

fn jobs(entries: &[Entry<'_>]) -> Collected {
    let mut found = Collected::default();
    let mut jobs = Jobs::of(&SYSTEM);
    entries.iter().for_each(|entry| jobs.take(entry, &mut found).unwrap());
    jobs.hand_over(&mut found).unwrap();
    found
}

/// The start, the end and the outcome of a try.
type Shown = (Option<i64>, Option<i64>, Outcome);

/// The tries of each job.
fn tries(found: &Collected) -> Vec<Vec<Shown>> {
    let of = |attempt: &resched_tables::model::AttemptRow| (attempt.start, attempt.finish, attempt.outcome);
    found.jobs.iter().map(|record| record.tasks[0].attempts.iter().map(of).collect()).collect()
}

#[test]
fn an_end_beats_a_start_in_any_order() {
    let start = entry("7", 10, Some(20), None, Stage::Running);
    let end = entry("7", 10, Some(20), Some(90), Stage::Ended(Outcome::Success));
    let waits = entry("7", 10, None, None, Stage::Waiting);
    for order in [[&waits, &start, &end], [&end, &start, &waits], [&start, &waits, &end]] {
        let found = jobs(&order.map(Clone::clone));
        assert_eq!(tries(&found), [vec![(Some(20), Some(90), Outcome::Success)]]);
        assert_eq!((found.jobs[0].job.finish, found.skipped.get("duplicate-row")), (Some(90), None));
    }
    let twice = jobs(&[end.clone(), end]);
    assert_eq!((twice.jobs.len(), twice.skipped["duplicate-row"]), (1, 1));
}

#[test]
fn a_try_before_another_was_given_back() {
    let first = entry("7", 10, Some(20), None, Stage::Running);
    let back = Entry { is_exact: false, ..entry("7", 50, None, Some(50), Stage::GivenBack) };
    let second = entry("7", 10, Some(60), Some(90), Stage::Ended(Outcome::Failed));
    let found = jobs(&[second.clone(), first.clone(), back]);
    let evicted = |end| (Some(20), end, Outcome::Evicted);
    assert_eq!(tries(&found), [vec![evicted(Some(50)), (Some(60), Some(90), Outcome::Failed)]]);
    assert_eq!(found.jobs[0].tasks[0].attempts[1].queued, Some(50));
    assert_eq!(tries(&jobs(&[first, second]))[0][0], evicted(None), "no record says when");
}

#[test]
fn the_record_of_a_submission_may_be_late() {
    let late = Entry { is_exact: false, ..entry("7", 10_000, None, None, Stage::Waiting) };
    let end = entry("7", 9_000, Some(20_000), Some(90_000), Stage::Ended(Outcome::Success));
    let found = jobs(&[late, end]);
    assert_eq!((found.jobs.len(), found.jobs[0].job.submit), (1, Some(9_000)));
    let other = entry("7", 500_000, Some(600_000), Some(700_000), Stage::Ended(Outcome::Success));
    let first = entry("7", 9_000, Some(20_000), Some(90_000), Stage::Ended(Outcome::Success));
    assert_eq!(jobs(&[other, first]).jobs.len(), 2, "numbers begin again");
}

#[test]
fn ids_are_in_the_order_of_their_numbers() {
    let ids = ["100[2]", "9", "100[10]", "100"].map(|id| entry(id, 10, None, None, Stage::Waiting));
    let found = jobs(&ids);
    assert_eq!(
        found.jobs.iter().map(|record| record.job.job_id.as_str()).collect::<Vec<_>>(),
        ["9", "100", "100[2]", "100[10]"]
    );
}

#[test]
fn machines_are_as_large_as_their_use() {
    let on = |number: i64, host: &'static str, cpus: u32, start: i64| Entry {
        id: Cow::Owned(number.to_string()),
        hosts: vec![(Cow::Borrowed(host), cpus)],
        ..entry("", start, Some(start), Some(start + 10), Stage::Ended(Outcome::Success))
    };
    let found = jobs(&[
        on(1, "n1", 4, 0),
        on(2, "n1", 12, 5),
        on(3, "n1", 8, 15),
        on(4, "n2", 1, 0),
        on(5, "m1", 2, 0),
        on(6, "a[1-99999999]", 2, 0),
    ]);
    let nodes: Vec<(&str, Option<i64>)> = found.nodes.iter().map(|node| (node.host.as_str(), node.cpu)).collect();
    assert_eq!(nodes, [("m1", Some(2_000)), ("n1", Some(16_000)), ("n2", Some(16_000))]);
    assert_eq!((found.skipped["machine-sized-by-its-use"], found.skipped["damaged-node-list"]), (3, 1));
    assert_eq!(jobs(&[entry("7", 1, None, None, Stage::Waiting)]).skipped["file-without-machines"], 1);
}

#[test]
fn a_job_has_as_many_records_as_the_limit_and_not_one_more() {
    let read = |most: usize| {
        let (mut found, mut jobs) = (Collected::default(), Jobs::of(&SYSTEM));
        for start in 0..most as i64 {
            jobs.take(&entry("7", 10, Some(20 + start), Some(90 + start), Stage::GivenBack), &mut found).unwrap();
        }
        jobs.hand_over(&mut found).map(|()| tries(&found)[0].len()).map_err(|error| error.to_string())
    };
    assert_eq!(read(MOST_RECORDS), Ok(MOST_RECORDS));
    let problem = read(MOST_RECORDS + 1).unwrap_err();
    assert!(problem.contains("the logs: job 7: expected at most 100000 records of one job"), "{problem}");
}

#[test]
fn jobs_of_one_id_that_may_be_copies_count_once() {
    let end = |submit: Option<i64>, start: i64| Entry {
        submit,
        ..entry("7", 0, Some(start), Some(start + 5), Stage::Ended(Outcome::Success))
    };
    let found = jobs(&[end(Some(10), 20), end(Some(1_000_000), 1_000_020), end(Some(2_000_000), 2_000_020)]);
    let ids: Vec<&str> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(ids, ["7", "7~2", "7~3"]);
    assert_eq!((found.jobs[1].tasks[0].task.task_id.as_str(), found.skipped["reused-job-id"]), ("7~2", 2));
}

#[test]
fn a_job_has_as_many_hosts_as_the_limit_and_not_one_more() {
    let hosts = |most: usize| machines::hosts_of(&format!("n[1-{most}]*1")).map(|hosts| hosts.len());
    assert_eq!([hosts(MOST_HOSTS), hosts(MOST_HOSTS + 1)], [Some(MOST_HOSTS), None]);
}
