#![allow(clippy::unwrap_used)]

use super::super::golden::{Collected, Found as _, each_damage};
use super::*;
use resched_tables::model::JobRecord;

fn found(text: &str) -> Collected {
    Collected::read(&FORMAT, text.as_bytes()).unwrap()
}

fn job(text: &str) -> JobRecord {
    let [record] = found(text).jobs.try_into().unwrap();
    record
}

/// A line: its times, `failed` and status, environment and slots, category and task of a parallel job.
fn line(
    (submit, start, end): (i64, i64, i64),
    (failed, status): (&str, i64),
    (pe, slots): (&str, i64),
    category: &str,
    step: &str,
) -> String {
    let used = "0:".repeat(17);
    format!(
        "all.q:h1:users:ann:name:7:sge:0:{submit}:{start}:{end}:{failed}:{status}:300:{used}lab:dept:{pe}:{slots}:0:1.5:\
         0.0:0.0:{category}:0.000000:{step}:1048576.000000:0:0\n"
    )
}

const TIMES: (i64, i64, i64) = (1_795_838_400, 1_795_838_500, 1_795_838_800);

#[test]
fn times_have_the_unit_of_their_version() {
    for unit in [1, 1_000] {
        let times = (TIMES.0 * unit, TIMES.1 * unit, TIMES.2 * unit);
        let record = job(&line(times, ("0", 0), ("NONE", 1), "NONE", "NONE"));
        let row = record.job;
        assert_eq!(
            (row.submit, row.launch, row.finish),
            (Some(1_795_838_400_000), Some(1_795_838_500_000), Some(1_795_838_800_000))
        );
        assert_eq!((row.group.as_deref(), row.outcome), (Some("lab"), Outcome::Success));
        assert_eq!(record.tasks[0].attempts[0].cpu_ms, Some(1_500));
    }
}

/// Colons in a category move the fields behind it.
#[test]
fn requests_are_for_each_slot() {
    let shape = |pe, slots, category| {
        let record = job(&line(TIMES, ("0", 0), (pe, slots), category, "NONE"));
        let task = &record.tasks[0].task;
        (
            task.instances,
            task.cpu_request,
            task.memory_request.map(|bytes| bytes >> 30),
            record.job.requested_time,
            task.machines,
        )
    };
    assert_eq!(
        shape("smp", 4, "-l h_rt=3600,h_vmem=2G -pe smp 4"),
        (Some(1), Some(4_000), Some(8), Some(3_600_000), Some(1))
    );
    assert_eq!(
        shape("orte", 8, "-l h_rt=1:30:00,h_vmem=2G -pe orte 8"),
        (Some(8), Some(1_000), Some(2), Some(5_400_000), None)
    );
    assert_eq!(shape("NONE", 1, ""), (Some(1), Some(1_000), None, None, Some(1)));
    let several = found(&line(TIMES, ("0", 0), ("orte", 8), "-l a=1:2:3", "NONE"));
    assert_eq!(several.skipped["hosts-not-in-source"], 1, "the line has the first host alone");
}

#[test]
fn failures_are_outcomes() {
    for (failed, status, outcome) in [
        ("0", 0, Outcome::Success),
        ("0", 1, Outcome::Failed),
        ("0", 137, Outcome::Killed),
        ("0", 139, Outcome::Failed),
        ("100", 137, Outcome::Killed),
        ("37", 0, Outcome::Killed),
        ("26", 0, Outcome::Failed),
        ("25", 0, Outcome::Incomplete),
        ("0", 99, Outcome::Incomplete),
    ] {
        assert_eq!(
            job(&line(TIMES, (failed, status), ("NONE", 1), "", "NONE")).job.outcome,
            outcome,
            "{failed} {status}"
        );
    }
    let waiting = job(&line((TIMES.0, 0, 0), ("100", 137), ("NONE", 1), "", "NONE"));
    assert_eq!((waiting.job.outcome, waiting.job.finish, waiting.tasks[0].attempts.len()), (Outcome::Killed, None, 0));
}

#[test]
fn tasks_of_parallel_jobs_are_counted() {
    let whole = line(TIMES, ("0", 0), ("smp", 2), "NONE", "NONE");
    let found = found(&format!("# Version\n{whole}{}\n", line(TIMES, ("0", 0), ("smp", 2), "NONE", "1.h2")));
    assert_eq!((found.jobs.len(), found.skipped["step-of-a-job"]), (1, 1));
}

#[test]
fn damage_is_counted() {
    let whole = line(TIMES, ("0", 0), ("NONE", 1), "NONE", "NONE");
    let found = found(&format!("{whole}a:b:c\n{}{{\"job_number\":1}}\n", whole.replace(":7:sge:", ":x:sge:")));
    assert_eq!((found.jobs.len(), found.skipped["damaged-line"]), (1, 3));
    for log in [
        &include_bytes!("../../../tests/formats/accounting/uge")[..],
        &include_bytes!("../../../tests/formats/accounting/ocs.jsonl")[..],
    ] {
        assert!(sniff(log));
        each_damage(log, 200, |damaged| {
            sniff(damaged);
            Collected::read(&FORMAT, damaged).unwrap();
        });
    }
    assert!(!sniff(b"a:b\n") && !sniff(b""));
}
