#![allow(clippy::unwrap_used)]

use super::super::golden::{Collected, Found as _, each_damage};
use super::*;
use resched_tables::model::JobRecord;

/// A record of the made log: 04:00:00 on 28 November 2026 is 1,795,838,400 s.
const AT: &str = "11/28/2026 04:00:00";

fn found(text: &str) -> Collected {
    Collected::read(&FORMAT, text.as_bytes()).unwrap()
}

fn job(text: &str) -> JobRecord {
    let [record] = found(text).jobs.try_into().unwrap();
    record
}

/// The end of a job with these fields.
fn end(fields: &str) -> String {
    format!("{AT};E;7.s;user=u queue=q ctime=100 etime=130 start=200 end=500 Exit_status=0 {fields}\n")
}

/// Instances, cores, GiB and GPUs of each, and machines.
fn shape(fields: &str) -> (i64, i64, Option<i64>, Option<String>, Option<i64>) {
    let record = job(&end(fields));
    let task = &record.tasks[0].task;
    let gib = task.memory_request.map(|bytes| bytes >> 30);
    (task.instances.unwrap(), task.cpu_request.unwrap() / 1_000, gib, task.resources.clone(), task.machines)
}

#[test]
fn requests_are_read_in_the_forms_of_all_versions() {
    let gpus = |number: u64| Some(format!("gres/gpu={number}"));
    let request = |text: &str| shape(&format!("Resource_List.{text}"));
    assert_eq!(request("select=2:ncpus=16:mem=4gb:ngpus=1:mpiprocs=16"), (2, 16, Some(4), gpus(1), None));
    assert_eq!(request("select=2:ncpus=16 Resource_List.place=scatter:excl"), (2, 16, None, None, Some(2)));
    assert_eq!(request("select=4:ncpus=2 Resource_List.place=pack"), (4, 2, None, None, Some(1)));
    assert_eq!(request("select=ncpus=8"), (1, 8, None, None, Some(1)));
    assert_eq!(request("select=1:ncpus=16+3:ncpus=4"), (4, 7, None, None, None), "28 cores on 4 chunks");
    assert_eq!(request("nodes=2:ppn=8:gpus=1:bigmem"), (2, 8, None, gpus(1), None));
    assert_eq!(request("nodes=n17:ppn=4"), (1, 4, None, None, Some(1)));
    assert_eq!(request("nodes=1 Resource_List.ncpus=8 Resource_List.mem=16gb"), (1, 8, Some(16), None, Some(1)));
    assert_eq!(request("nodes=2:ppn=8 Resource_List.pmem=1gb"), (2, 8, Some(8), None, None));
    assert_eq!(request("procs=12"), (12, 1, None, None, None));
    assert_eq!(request("ncpus=12"), (1, 12, None, None, Some(1)));
    assert_eq!(shape("exec_host=n1/0*4+n2/0*4"), (8, 1, None, None, None), "it got so many");
    assert!(job(&end("Resource_List.nodes=2:ppn=8#excl")).tasks[0].task.exclusive.unwrap());
    let unknown = found(&end(""));
    assert_eq!((unknown.jobs[0].tasks[0].task.instances, unknown.skipped["request-not-read"]), (None, 1));
}

#[test]
fn statuses_are_outcomes() {
    for (status, outcome) in [
        ("0", Outcome::Success),
        ("1", Outcome::Failed),
        ("139", Outcome::Failed),
        ("271", Outcome::Killed),
        ("265", Outcome::Killed),
        ("267", Outcome::Failed),
        ("-29", Outcome::Killed),
        ("-11", Outcome::Killed),
        ("-2", Outcome::Failed),
        ("x", Outcome::Unknown),
    ] {
        let text = format!("{AT};E;7.s;ctime=100 start=200 end=500 Exit_status={status}\n");
        assert_eq!(job(&text).job.outcome, outcome, "{status}");
    }
}

#[test]
fn a_job_has_its_times_and_texts() {
    let record =
        job(&end("account=\"the lab\" jobname=a b c exec_host=n1/3 Resource_List.walltime=01:30:00 resvID=R9.s"));
    let row = &record.job;
    assert_eq!(
        (row.submit, row.eligible, row.launch, row.finish),
        (Some(100_000), Some(130_000), Some(200_000), Some(500_000))
    );
    assert_eq!((row.group.as_deref(), row.name.as_deref()), (Some("the lab"), Some("a b c")));
    assert_eq!((row.requested_time, row.reservation.as_deref()), (Some(5_400_000), Some("R9.s")));
    assert_eq!(record.tasks[0].attempts[0].host.as_deref(), Some("n1"));
    assert_eq!(record.tasks[0].attempts[0].queued, Some(130_000));
    assert_eq!(row.framework.as_deref(), Some(FRAMEWORK));
}

/// The time of a line counts only where no field has one.
#[test]
fn the_time_of_a_line_is_that_of_the_zone() {
    let queued = found(&format!("{AT};Q;7.s;queue=q\n"));
    assert_eq!((queued.jobs[0].job.submit, queued.jobs[0].job.outcome), (Some(1_795_838_400_000), Outcome::Incomplete));
    assert_eq!(queued.skipped.get("time-zone-assumed"), Some(&1));
    assert_eq!(found(&end("exec_host=n1/0")).skipped.get("time-zone-assumed"), None);
}

#[test]
fn a_job_that_is_deleted_ends_then() {
    let deleted = "11/28/2026 04:10:00;D;7.s;requestor=u@h\n";
    let waiting = job(&format!("{AT};Q;7.s;queue=q\n{deleted}"));
    assert_eq!((waiting.job.outcome, waiting.job.finish), (Outcome::Killed, Some(1_795_839_000_000)));
    assert!(waiting.tasks[0].attempts.is_empty());
    let start = format!("{AT};S;7.s;ctime=1795838000 start=1795838400 exec_host=n1/0\n");
    let running = job(&format!("{start}{deleted}"));
    assert_eq!((running.job.outcome, running.job.finish), (Outcome::Killed, Some(1_795_839_000_000)));
    let end = "11/28/2026 04:10:03;E;7.s;ctime=1795838000 start=1795838400 end=1795839003 Exit_status=271\n";
    assert_eq!(job(&format!("{start}{deleted}{end}")).job.finish, Some(1_795_839_003_000), "its end counts");
}

#[test]
fn a_number_that_comes_again_is_another_job() {
    let other = "11/29/2027 04:00:00;E;7.s;ctime=9000 start=9100 end=9200 Exit_status=0\n";
    let found = found(&format!("{}{other}", end("")));
    assert_eq!(found.jobs.iter().map(|record| record.job.submit).collect::<Vec<_>>(), [Some(100_000), Some(9_000_000)]);
}

#[test]
fn a_job_waits_for_jobs_of_the_log_that_can_end_so() {
    let one = |id: u32, status: u32, depend: &str| {
        format!("{AT};E;{id}.s;ctime={id}00 start={id}10 end={id}90 depend={depend} Exit_status={status}\n")
    };
    let text = [
        one(1, 0, ""),
        one(2, 1, ""),
        one(3, 0, "afterok:1.s,afterany:2.s@s"),
        one(4, 0, "afterok:2.s"),
        one(5, 0, "afterok:9.s"),
        one(6, 0, "on:2"),
    ];
    let found = found(&text.concat());
    let waits: Vec<Vec<String>> = found.jobs.iter().map(|record| record.job.depends_on.clone()).collect();
    assert_eq!(waits[2], ["1.s", "2.s"]);
    assert!(waits.iter().enumerate().all(|(place, ids)| place == 2 || ids.is_empty()));
    for cause in ["dependency-never-satisfied", "dependency-on-unknown-job", "dependency-not-read"] {
        assert_eq!(found.skipped.get(cause), Some(&1), "{cause}");
    }
}

#[test]
fn no_damage_breaks_the_reader() {
    let log = include_bytes!("../../../tests/formats/accounting/pbspro");
    assert!(sniff(log) && !sniff(b"1 2 3\n") && !sniff(b""));
    each_damage(log, 300, |damaged| {
        sniff(damaged);
        Collected::read(&FORMAT, damaged).unwrap();
    });
    let found = found(&format!("{}nonsense\n\n{AT};E\n{AT};E;;user=u\n", end("")));
    assert_eq!((found.skipped["damaged-line"], found.skipped["record-without-id"], found.jobs.len()), (2, 1, 1));
}
