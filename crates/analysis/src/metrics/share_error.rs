//! How far the running tasks are from fair shares.

use std::collections::BTreeSet;

use resched_tables::model::TaskKind;
use resched_tables::standing::Standing;

use crate::metrics::cells::Cells;
use crate::runs::run::Run;

/// What a job has at a moment, in tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Held {
    running: i64,
    /// Those that it could run: the running ones and those that it starts later.
    demand: i64,
}

/// What becomes of a job or of one of its tasks.
#[derive(Debug, Clone, Copy)]
enum Change {
    Comes,
    Goes,
    Starts,
    Ends,
}

/// The share error at the middle of each cell: the share of the running tasks of the jobs that count that would have to belong to other
/// jobs for all jobs to have their max-min fair share (Bertsekas, Gallager 1992). 0 is fair; `None` where no task runs.
///
/// What a job could use is what it runs and what it starts later, so that a small job is not said to lack what it cannot use. Reduces
/// count from the start of their job on, even if they have to wait for maps. Set-up and clean-up are left out.
pub fn share_error(run: &Run, cells: Cells) -> Vec<Option<f64>> {
    let mut held = initial(run);
    let mut jobs: BTreeSet<usize> = BTreeSet::new();
    let at_moment = |changes: Vec<(usize, Change)>| {
        for (job, change) in changes {
            let Some(held) = held.get_mut(job) else { continue };
            match change {
                Change::Comes => _ = jobs.insert(job),
                Change::Goes => _ = jobs.remove(&job),
                Change::Starts => held.running += 1,
                Change::Ends => {
                    held.running -= 1;
                    held.demand -= 1;
                }
            }
        }
        error(jobs.iter().filter_map(|job| held.get(*job).copied()).collect())
    };
    changes(run, &cells.middles()).into_iter().map(at_moment).collect()
}

/// The jobs before anything runs: each could run all its tasks.
fn initial(run: &Run) -> Vec<Held> {
    let mut held = vec![Held::default(); run.jobs.len()];
    for task in run.counted_intervals().filter(|task| is_work(task.kind)) {
        if let Some(job) = held.get_mut(task.job) {
            job.demand += 1;
        }
    }
    held
}

fn is_work(kind: TaskKind) -> bool {
    !matches!(kind, TaskKind::Setup | TaskKind::Cleanup)
}

/// What changes for which job until each of the `moments`, since the one before it. What comes goes later.
fn changes(run: &Run, moments: &[i64]) -> Vec<Vec<(usize, Change)>> {
    let mut changes = vec![Vec::new(); moments.len()];
    let mut note = |job: usize, time: i64, change: Change| {
        let until = moments.partition_point(|moment| *moment < time);
        if let Some(changes) = changes.get_mut(until) {
            changes.push((job, change));
        }
    };
    for task in run.counted_intervals().filter(|task| is_work(task.kind)) {
        note(task.job, task.start, Change::Starts);
        note(task.job, task.finish, Change::Ends);
    }
    let counts = run.jobs.iter().enumerate().filter(|(_, job)| job.standing == Standing::Counts);
    let spans = counts.filter_map(|(row, job)| Some((row, job.submit?, job.finish?)));
    for (row, submit, finish) in spans.filter(|(_, submit, finish)| submit < finish) {
        note(row, submit, Change::Comes);
        note(row, finish, Change::Goes);
    }
    changes
}

/// The share error of some jobs.
fn error(mut jobs: Vec<Held>) -> Option<f64> {
    let running: i64 = jobs.iter().map(|job| job.running).sum();
    if running <= 0 {
        return None;
    }
    jobs.retain(|job| job.demand > 0);
    jobs.sort_unstable_by_key(|job| job.demand);
    let (mut left, mut others, mut lacking) = (running as f64, jobs.len() as f64, 0.0);
    for job in jobs {
        let fair = (left / others).min(job.demand as f64);
        (left, others) = (left - fair, others - 1.0);
        lacking += (fair - job.running as f64).max(0.0);
    }
    Some((lacking / running as f64).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, Outcome};
    use resched_tables::run::{RunInfo, RunTables};

    use super::*;

    fn held(running: i64, demand: i64) -> Held {
        Held { running, demand }
    }

    /// Of 12 tasks, the fair shares of jobs that could use 2, 20 and 20 are 2, 5 and 5.
    #[test]
    fn a_small_job_lacks_no_more_than_it_can_use() {
        assert_eq!(error(vec![held(2, 2), held(5, 20), held(5, 20)]), Some(0.0));
        assert_eq!(error(vec![held(0, 2), held(2, 20), held(10, 20)]), Some((2.0 + 3.0) / 12.0));
        assert_eq!(error(vec![held(12, 12)]), Some(0.0));
        assert_eq!((error(vec![held(0, 5)]), error(Vec::new())), (None, None));
    }

    #[test]
    fn jobs_count_while_they_are_in_the_system() {
        let job = |id: &str, submit| JobRow {
            job_id: id.to_owned(),
            submit: Some(submit),
            finish: Some(60),
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        let map = |job: &str, start, finish| AttemptRow {
            job_id: job.to_owned(),
            task_id: format!("{start}-{finish}"),
            kind: TaskKind::Map,
            start: Some(start),
            finish: Some(finish),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let attempts = vec![map("a", 0, 40), map("a", 0, 41), map("b", 41, 60)];
        let rows = RunTables { jobs: vec![job("a", 0), job("b", 20)], attempts, ..RunTables::default() };
        let run = Run::of_rows(RunInfo::default(), rows);
        // The middles are 5, 15, 25, 35, 45 and 55. From 20 on, b lacks one of two tasks.
        let expected = [Some(0.0), Some(0.0), Some(0.5), Some(0.5), Some(0.0), Some(0.0)];
        assert_eq!(share_error(&run, Cells::new((0, 60), 6)), expected);
    }
}
