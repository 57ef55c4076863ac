//! Forecasts in small worlds whose laws are known.
#![allow(clippy::unwrap_used)]

mod made;
mod now;

use resched_forecast::{Asked, Backtest, Report, Row, answer, asked, encode, validity_of};
use resched_replay::Threads;
use resched_tables::store::Trace;
use resched_tables::validity::Grade;

use made::{
    DAY, HOUR, Job, MACHINES, MINUTE, exponential, few, fixed, happen, jobs, prepared, records, test, threads, world,
    write,
};

/// Where each name always runs as long and later jobs cannot pass, nothing is left to chance: every draw is what happened.
#[test]
fn what_is_certain_is_forecast_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(12, 34.0, fixed, 1), "batch-fifo");
    let prepared = prepared(&trace, &["batch-fifo"]);
    let tested = test(prepared.model(0, few()).unwrap(), 30, Threads::ONE);
    assert!(tested.rows.len() > 30, "{} rows", tested.rows.len());
    for row in &tested.rows {
        assert!(row.raw.iter().all(|at| Some(*at) == row.start), "{row:?}");
    }
    assert_eq!(tested.misplaced, 0.0);
}

/// The right scheduler covers what it should; the wrong one does not, and the answer says so.
#[test]
fn a_wrong_scheduler_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(40, 14.5, exponential, 3), "easy");
    let prepared = prepared(&trace, &["easy", "batch-fifo"]);
    let of = |place: usize| test(prepared.model(place, few()).unwrap(), 80, threads("2"));
    let (right, wrong) = (of(0), of(1));
    let report = |backtest: &Backtest, other: &Backtest, labels: [&str; 2]| {
        Report::of(labels[0], backtest, &[(labels[1].to_owned(), other.clone())], prepared.past(), 1)
    };
    let (right_report, other) =
        (report(&right, &wrong, ["easy", "batch-fifo"]), report(&wrong, &right, ["batch-fifo", "easy"]));
    let covered = |report: &Report| report.coverage["raw"]["80"];
    assert!((0.68..0.92).contains(&covered(&right_report)), "{}", covered(&right_report));
    assert!(covered(&other) < covered(&right_report) - 0.15, "{} beside {}", covered(&other), covered(&right_report));
    let says = |report: &Report, tested: &Backtest| {
        let validity = report.validity(tested);
        (
            validity.facts.iter().any(|fact| fact.about == "scheduler"),
            validity.facts.iter().any(|fact| fact.about == "model"),
        )
    };
    assert_eq!(says(&right_report, &right), (false, false), "{:?}", right_report.validity(&right));
    assert_eq!(says(&other, &wrong), (true, true), "{:?}", other.validity(&wrong));
    let last = &right_report.baselines[0];
    assert!(last.times.unwrap().low > 1.0, "the last waits are worse: {last:?}");
}

/// Everything after a moment is another: no forecast up to then changes by a byte.
#[test]
fn nothing_that_comes_later_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let (mut all, trace) = world(dir.path(), jobs(20, 14.5, exponential, 5), "easy");
    // Some of those that wait are cancelled, which a forecast before must not know.
    let moment = 14 * DAY;
    let last = all.len() - 1;
    let of = |trace: &Trace| {
        let prepared = prepared(trace, &["easy"]);
        let model = prepared.model(0, few()).unwrap();
        let tested = test(model, 32, threads("2"));
        let rows: Vec<Row> = tested.rows.into_iter().filter(|row| row.asked_at <= moment).collect();
        let found = answer(model, moment, &Asked { groups: true, ..Asked::default() }, None, threads("2")).unwrap();
        (
            rows.iter()
                .map(|row| (row.place, row.asked_at, row.raw, row.corrected, row.last_waits, row.bound, row.at_limits))
                .collect::<Vec<_>>(),
            found,
        )
    };
    let before = of(&trace);
    for (number, job) in all.iter_mut().enumerate().filter(|(number, _)| *number != last) {
        let later = |at: Option<i64>| at.is_none_or(|at| at > moment);
        if job.submit > moment {
            (job.user, job.name, job.machines) = ("zoe", format!("x{}", number % 3), 1 + number as i64 % 5);
            (job.limit, job.start, job.end) = (5 * HOUR, Some(job.submit), Some(job.submit + 7 * MINUTE));
        } else if later(job.start) {
            (job.start, job.end) =
                if number % 3 == 0 { (None, Some(moment + 1)) } else { (Some(moment + 5), Some(moment + 9)) };
        } else if later(job.end) {
            job.end = if number % 4 == 0 { None } else { Some(moment + 1) };
        }
    }
    let changed = write(&dir.path().join("changed"), &records(&all));
    let after = of(&changed);
    assert!(before.0.len() > 20, "{} rows", before.0.len());
    assert!(!before.1.jobs.is_empty() && !before.1.groups.is_empty(), "{:?}", before.1);
    assert_eq!(before, after);
}

#[test]
fn threads_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(12, 20.0, exponential, 7), "easy");
    let prepared = prepared(&trace, &["easy"]);
    let model = prepared.model(0, few()).unwrap();
    let table = |count: &str| encode(&test(model, 12, threads(count)).rows, prepared.past()).unwrap();
    assert!(table("1") == table("3"));
    let one = |count: &str| answer(model, 8 * DAY, &Asked::default(), None, threads(count)).unwrap();
    assert_eq!(one("1"), one("3"));
    assert!(asked((0..50).collect(), 5, 5, 1) != asked((0..50).collect(), 6, 5, 1), "each moment asks others");
}

/// What is damaged or missing is counted and said, and the rest is forecast.
#[test]
fn half_a_state_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = jobs(6, 20.0, exponential, 9);
    happen(dir.path(), &mut all, "batch-fifo");
    let moment = 5 * DAY;
    let mut damaged = records(&all);
    // A job that ends before it starts; one that never was submitted; one without a limit; one for more machines than there are.
    let number = |wanted: &dyn Fn(&Job) -> bool| all.iter().position(wanted).unwrap();
    let waits = |job: &Job| job.submit < moment && job.start.is_some_and(|start| start > moment);
    let ended = number(&|job| job.end.is_some_and(|end| end < moment));
    damaged[ended].tasks[0].attempts[0].finish = Some(damaged[ended].job.submit.unwrap() - 1);
    damaged[ended + 1].job.submit = None;
    let unlimited = number(&waits);
    damaged[unlimited].job.requested_time = None;
    damaged[ended + 2].tasks[0].task.instances = Some(MACHINES as i64 + 1);
    let trace = write(&dir.path().join("damaged"), &damaged);
    let prepared = prepared(&trace, &["batch-fifo"]);
    let skipped = &prepared.past().skipped;
    assert_eq!(skipped["job-that-ends-before-it-starts"], 1);
    assert_eq!(skipped["job-without-submit"], 1);
    assert_eq!(skipped["job-that-no-machine-could-hold"], 1);
    let model = prepared.model(0, few()).unwrap();
    let found = answer(model, moment, &Asked::default(), None, Threads::ONE).unwrap();
    assert!(found.jobs.iter().any(|job| job.job_id == unlimited.to_string()));
    let validity = validity_of(None, Some(&found));
    assert_eq!(validity.grade(), Grade::Assumed);
    let about = |word: &str| validity.facts.iter().any(|fact| fact.about == word);
    assert!(about("back-test") && about("limits"), "{validity:?}");
    let missing =
        answer(model, moment, &Asked { jobs: vec![ended.to_string()], ..Asked::default() }, None, Threads::ONE);
    assert!(missing.unwrap_err().is_request());
}

/// A lower limit lets a job pass the first in the line.
#[test]
fn another_limit_brings_a_job_sooner() {
    let dir = tempfile::tempdir().unwrap();
    let job = |submit: i64, machines: i64, limit: i64, run: i64| Job {
        user: "ann",
        name: format!("n{machines}"),
        machines,
        submit,
        limit,
        run,
        start: None,
        end: None,
    };
    // For a day, jobs of each kind alone. Then four machines are held for two hours, six are wanted, and a third job would fit beside.
    let mut all: Vec<Job> =
        (0..12).map(|number| job(number * 2 * HOUR, [2, 4, 6][number as usize % 3], 3 * HOUR, HOUR)).collect();
    all.push(job(40 * HOUR, 4, 2 * HOUR, 2 * HOUR));
    all.push(job(40 * HOUR + MINUTE, 6, 3 * HOUR, HOUR));
    all.push(job(40 * HOUR + 2 * MINUTE, 2, 3 * HOUR, HOUR));
    all.push(job(80 * HOUR, 1, HOUR, HOUR));
    let (all, trace) = world(dir.path(), all, "easy");
    assert!(all[14].start > all[13].start, "with three hours, it would delay the first");
    let prepared = prepared(&trace, &["easy"]);
    let ask = Asked { jobs: vec!["14".to_owned()], limit: Some(HOUR), ..Asked::default() };
    let at = 40 * HOUR + 3 * MINUTE;
    let found = answer(prepared.model(0, few()).unwrap(), at, &ask, None, Threads::ONE).unwrap();
    let job = &found.jobs[0];
    assert_eq!(job.what_if, Some([at; 3]), "it starts at once");
    assert!(job.raw_start[0] > at);
    assert_eq!(found.jobs.len(), 1);
}
