#![allow(clippy::unwrap_used)]

use super::super::golden::{Collected, Found as _, each_damage};
use super::*;
use resched_tables::model::JobRecord;

fn found(text: &str) -> Collected {
    Collected::read(&FORMAT, text.as_bytes()).unwrap()
}

/// A line of version 10.1: of a job, with its begin, start and end, hosts, state and reason, condition, and ineligible time.
fn line(
    begin: i64,
    start: i64,
    hosts: &[&str],
    (state, reason): (i64, i64),
    condition: &str,
    ineligible: i64,
) -> String {
    let listed = hosts.iter().map(|host| format!("\"{host}\" ")).collect::<String>();
    let use_ = "-1 ".repeat(17);
    let number = hosts.len();
    // Up to the hosts, up to the description, and the fields behind it.
    [
        format!(r#""JOB_FINISH" "10.1" 1500 7 500 66 4 1000 {begin} 0 {start} "ann" "normal" "rusage[mem=100]" "{condition}""#),
        format!(r#""" "login" "/h" "" "" "" "job" 0 {number} {listed}{state} 60.0 "n" "echo ""x y""" 1.5 0.5 {use_}"" "proj""#),
        format!(r#"0 4 "" "" 0 2048 0 "" "" "res" "gold" 0 "" {reason} "" -1 "" "" "" "" -1 "" "" 16 "" 0 "" """#),
        r#"0 1 "h" 1 2 3 4 0 3600 9 "select[a] rusage[mem=200] span[hosts=1]" "" -1 "" -1 0 "" 0 0 "" 1 "" 1 "net" 2 """#.to_owned(),
        format!("0.0 0.0 0.0 0.0 0.0 {number} {listed}{ineligible} 0 0 0\n"),
    ]
    .join(" ")
}

fn job(text: &str) -> JobRecord {
    let [record] = found(text).jobs.try_into().unwrap();
    record
}

#[test]
fn a_job_is_mapped_field_by_field() {
    let record = job(&line(0, 1_100, &["3*h1", "h2"], (64, 0), "", 40));
    let row = &record.job;
    assert_eq!((row.job_id.as_str(), row.user.as_deref(), row.queue.as_deref()), ("7", Some("ann"), Some("normal")));
    assert_eq!(
        (row.group.as_deref(), row.qos.as_deref(), row.reservation.as_deref()),
        (Some("proj"), Some("gold"), Some("res"))
    );
    assert_eq!(
        (row.submit, row.eligible, row.launch, row.finish),
        (Some(1_000_000), Some(1_040_000), Some(1_100_000), Some(1_500_000))
    );
    assert_eq!((row.requested_time, row.outcome), (Some(3_600_000), Outcome::Success));
    let task = &record.tasks[0].task;
    // The effective request counts: 200 MB on one host, of four slots with `-x`.
    assert_eq!((task.instances, task.cpu_request, task.memory_request), (Some(1), Some(4_000), Some(200 << 20)));
    assert_eq!((task.machines, task.exclusive), (Some(1), Some(true)));
    let attempt = &record.tasks[0].attempts[0];
    assert_eq!((attempt.cpu_ms, attempt.physical_memory), (Some(2_000), Some(2 << 20)));
    assert_eq!(attempt.hosts.as_deref(), Some("h[1-2]"), "three and one of four are no whole instances");
    assert_eq!(job(&line(1_050, 1_100, &["h1"], (64, 0), "", 40)).job.eligible, Some(1_050_000));
}

#[test]
fn states_and_reasons_are_outcomes() {
    for (start, state, reason, outcome) in [
        (1_100, 64, 0, Outcome::Success),
        (1_100, 32, 0, Outcome::Failed),
        (1_100, 32, 16, Outcome::Failed),
        (1_100, 32, 5, Outcome::Killed),
        (1_100, 32, 14, Outcome::Killed),
        (0, 32, 0, Outcome::Killed),
        (1_100, 4, 0, Outcome::Unknown),
        (1_100, 32, 10, Outcome::Incomplete),
    ] {
        let record = job(&line(0, start, &["h1"], (state, reason), "", -1));
        assert_eq!(record.job.outcome, outcome, "{start} {state} {reason}");
    }
    let preempted = job(&line(0, 1_100, &["h1"], (32, 1), "", -1));
    assert_eq!(preempted.tasks[0].attempts[0].outcome, Outcome::Evicted);
}

#[test]
fn conditions_of_other_kinds_are_counted() {
    let counted =
        |condition| found(&line(0, 1_100, &[], (64, 0), condition, -1)).skipped.get("dependency-not-read").copied();
    assert_eq!(["", "done(5)", "5 && ended(6)"].map(counted), [None; 3]);
    assert_eq!(["done(\"\"name\"\")", "done(5) || ended(6)", "exit(5)", "numdone(5, > 2)"].map(counted), [Some(1); 4]);
}

#[test]
fn damage_is_counted_and_named() {
    let whole = line(0, 1_100, &["h1", "h2"], (64, 0), "", -1);
    let other = "\"JOB_RESIZE\" \"10.1\" 1 2\n\"EVENT_ADRSV_FINISH\" \"10.1\" 1\n# comment\n\n";
    let cut = &whole[..200];
    let lying = whole.replacen(" 2 \"h1\"", " 9999999 \"h1\"", 1);
    let found = found(&format!("{whole}{other}{cut}\n{lying}"));
    assert_eq!((found.jobs.len(), found.skipped["other-record"], found.skipped["damaged-line"]), (1, 2, 2));
    for log in [
        &include_bytes!("../../../tests/formats/accounting/lsf-10.1")[..],
        &include_bytes!("../../../tests/formats/accounting/lsf-7.06")[..],
    ] {
        assert!(sniff(log));
        each_damage(log, 200, |damaged| {
            sniff(damaged);
            Collected::read(&FORMAT, damaged).unwrap();
        });
    }
    assert!(!sniff(b"\"JOB_NEW\" \"10.1\" 1 2\n") && !sniff(b""));
}

/// A number of networks that no line has room for. Found by fuzzing.
#[test]
fn a_number_of_fields_may_be_any() {
    let whole = line(0, 1_100, &["h1"], (64, 0), "", 40);
    let lying = whole.replace(" 1 \"net\" 2 ", &format!(" {} \"net\" 2 ", u64::MAX / 2));
    assert_ne!(whole, lying);
    assert_eq!(job(&lying).job.eligible, None);
    assert_eq!(job(&whole).job.eligible, Some(1_040_000));
}

/// What a version does not write is unknown, and the rest is read.
#[test]
fn older_versions_have_fewer_fields() {
    let whole = line(0, 1_100, &["h1"], (64, 0), "", -1);
    let oldest = whole.split(" \"res\"").next().unwrap();
    let record = job(oldest);
    assert_eq!((record.job.requested_time, record.job.outcome), (None, Outcome::Success));
    assert_eq!(record.tasks[0].task.memory_request, Some((100 << 20) / 4), "100 MB of one host");
}
