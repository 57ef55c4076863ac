//! Which jobs a number is over: those that ended well, or all that started.
#![allow(clippy::unwrap_used)]

use resched_analysis::metrics::named::{Measured, Metric};
use resched_analysis::statistics::compare::{How, JOB_METRICS, compare};
use resched_analysis::statistics::practical::Matters;
use resched_analysis::{Population, Run};
use resched_tables::model::{JobRow, Outcome};
use resched_tables::run::{RunInfo, RunTables};

/// A job that is submitted at 0: when it starts and ends, and how.
fn job(id: &str, launch: Option<i64>, finish: Option<i64>, outcome: Outcome) -> JobRow {
    let user = Some(if id.starts_with('a') { "ann" } else { "bob" }.to_owned());
    JobRow { job_id: id.to_owned(), user, submit: Some(0), launch, finish, outcome, ..JobRow::default() }
}

fn run(label: &str, jobs: Vec<JobRow>) -> Run {
    let info = RunInfo { label: label.to_owned(), ..RunInfo::default() };
    Run::of_rows(info, RunTables { jobs, ..RunTables::default() })
}

fn value(run: &Run, text: &str) -> Option<f64> {
    Metric::named(text).unwrap().of(&Measured::new(run))
}

/// Of four jobs of a site, one ends well, one fails, one is ended by its limit, and one never starts.
fn four() -> Run {
    use Outcome::{Failed, Incomplete, Killed, Success};
    run(
        "fifo",
        vec![
            job("a1", Some(10), Some(110), Success),
            job("a2", Some(20), Some(30), Failed),
            job("b3", Some(60), Some(660), Killed),
            job("b4", None, None, Incomplete),
        ],
    )
}

#[test]
fn a_job_that_started_has_waited_whatever_became_of_it() {
    let run = four();
    assert_eq!(value(&run, "mean(waiting)"), Some(30.0), "10, 20 and 60");
    assert_eq!(value(&run, "mean_waiting"), Some(30.0));
    assert_eq!(value(&run, "mean(completion)"), Some(110.0), "of the one that ended well");
    assert_eq!(value(&run, "count()"), Some(1.0));
    assert_eq!(value(&run, "max(waiting) where user = 'bob'"), Some(60.0));
    assert_eq!(value(&run, "max(completion) where user = 'bob'"), None);
}

/// Waiting is compared on the jobs that started in both, completion on those that ended well in both.
#[test]
fn runs_are_compared_on_the_jobs_that_started_in_all_of_them() {
    use Outcome::{Failed, Incomplete, Success};
    let other = run(
        "fair",
        vec![
            job("a1", Some(40), Some(140), Success),
            job("a2", Some(80), Some(90), Failed),
            job("b3", None, None, Incomplete),
            job("b4", Some(5), Some(9), Success),
        ],
    );
    let mut runs = vec![four(), other];
    let population = Population::share(&mut runs);
    assert_eq!((population.jobs, population.started, population.of), (1, 2, 4));
    assert!(population.in_words().ends_with("; waiting and use cover the 2 that started"), "{}", population.in_words());
    assert_eq!(runs.iter().map(|run| value(run, "mean(waiting)")).collect::<Vec<_>>(), [Some(15.0), Some(60.0)]);
    assert_eq!(runs.iter().map(|run| value(run, "mean(completion)")).collect::<Vec<_>>(), [Some(110.0), Some(140.0)]);
    let waiting = JOB_METRICS.iter().find(|metric| metric.name == "waiting").unwrap();
    let how = How { matters: Matters::default(), seed: 1, answerable: true };
    let compared = compare(&[(&runs[0].jobs, &runs[1].jobs)], waiting, &how);
    assert_eq!((compared.jobs, compared.means), (2, Some([15.0, 60.0])));
}

#[test]
fn without_jobs_that_ended_otherwise_the_sets_are_one() {
    let mut runs = vec![run("fifo", vec![job("a1", Some(10), Some(110), Outcome::Success)])];
    let population = Population::share(&mut runs);
    assert_eq!((population.jobs, population.started), (1, 1));
    assert_eq!((population.starts_in_words(), population.in_words()), (None, "all 1 job counts".to_owned()));
}
