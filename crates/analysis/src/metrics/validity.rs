//! What only the runs show about how far an answer can be trusted. What their loading knew is in `run.json`
//! ([`resched_tables::run::RunInfo::validity`]).

use std::collections::BTreeSet;

use resched_tables::run::{RunEngine, RunInfo};
use resched_tables::standing::Standing;
use resched_tables::store::System;
use resched_tables::validity::{Fact, Grade, Validity};

use crate::runs::compared::{Compared, row_pairs, rows_among};
use crate::runs::population::Population;
use crate::runs::who::Who;

/// The fact that no task waited is about this.
pub const WAITING: &str = "waiting";
/// If a larger share of the jobs is left out, the answer is about another workload than the trace's.
const MOST_LEFT_OUT: f64 = 0.05;

/// The facts about a comparison of `runs` on their `population`: those of each run, and what the runs themselves show.
pub fn of_runs<R: Compared>(runs: &[R], population: &Population) -> Validity {
    let mut all = Validity::default();
    for fact in runs.iter().filter_map(Compared::replay).flat_map(|info| &info.validity.facts) {
        all.add(fact.clone());
    }
    for fact in shown(runs, population) {
        all.add(fact);
    }
    all
}

/// What the runs themselves show: whether any job counts, and whether any task waited.
pub fn shown<R: Compared>(runs: &[R], population: &Population) -> Vec<Fact> {
    if population.jobs == 0 {
        let remedy = "Compare runs of the same trace, or runs in which jobs end well.";
        return vec![Fact::new("population", Grade::NotAnswerable, "No job counts in all runs.").with_remedy(remedy)];
    }
    // A window that was asked for, and the beginning of the trace, choose the jobs that the answer is about.
    let not_asked =
        [Standing::OutsideWindow, Standing::BeforeTrace].map(|standing| population.left_out.get(standing.as_str()));
    let asked = population.of.saturating_sub(not_asked.into_iter().flatten().sum());
    let left_out = 1.0 - population.jobs as f64 / asked.max(1) as f64;
    let grade = if left_out > MOST_LEFT_OUT { Grade::Assumed } else { Grade::Measured };
    let text = population.in_words();
    let fact = Fact::new(
        "population",
        grade,
        text.get(..1).map_or_else(String::new, str::to_uppercase) + text.get(1..).unwrap_or("") + ".",
    );
    let fact = if grade == Grade::Assumed {
        fact.with_remedy("The numbers cover only the jobs that count, and may not hold for the others.")
    } else {
        fact
    };
    [Some(fact), idle(runs)].into_iter().flatten().collect()
}

/// The fact that nothing ever waited for a place, if so.
///
/// Under Hadoop, a task that finds a free slot still waits for the heartbeat of its node, so a wait up to that counts as none; and
/// where slots are known, a job that waited for longer waited for something else (its set-up, or its data) if they were never all
/// taken. Where policies are compared, their jobs must also have ended alike: a policy that lets slots idle on purpose makes a
/// difference on any cluster.
fn idle<R: Compared>(runs: &[R]) -> Option<Fact> {
    let replays: Vec<(&R, &RunInfo)> = runs.iter().filter_map(|run| Some((run, run.replay()?))).collect();
    if replays.is_empty() || !replays.iter().all(|(run, info)| never_waited(*run, info)) {
        return None;
    }
    let policies: BTreeSet<&str> = replays.iter().map(|(_, info)| info.label.as_str()).collect();
    // Under Hadoop, another policy could still place tasks nearer to their input.
    let has_places = replays.iter().any(|(_, info)| info.engine == RunEngine::Hadoop);
    // Spark's stages may hold out for their hosts though each job has started at once.
    let holds_out = replays.iter().any(|(_, info)| info.system == System::Spark);
    let says = match policies.len() {
        1 if holds_out => return Some(Fact::new(WAITING, Grade::Measured, "No job waited for its first task.")),
        1 if has_places => return Some(Fact::new(WAITING, Grade::Measured, "No task waited for a slot.")),
        1 => "No task waited: another policy could not do better here.",
        _ if ended_alike(&replays) => "No task waited: these policies cannot differ here.",
        _ => return None,
    };
    let remedy = "Check the capacity (--cluster, --site-conf), or replay more work on fewer nodes (`resched scale`).";
    Some(Fact::new(WAITING, Grade::NotAnswerable, says).with_remedy(remedy))
}

fn never_waited<R: Compared>(run: &R, info: &RunInfo) -> bool {
    let limit = granularity(info) as f64;
    let slots = [info.cluster.map_slots, info.cluster.reduce_slots];
    // The number of slots counts under MapReduce 1 only: containers of other sizes may fill a cluster before.
    let known = info.system == System::MapReduce1;
    if known {
        // Where there are no slots of a kind, none of its tasks runs.
        return !run.ever_ran(slots.map(|slots| slots.max(1)));
    }
    let waiting = run.numbers("waiting");
    rows_among(run, Who::Started).all(|row| waiting.get(row).is_none_or(|waiting| waiting <= limit))
}

/// True if each job took the same time under all policies, but for heartbeats.
fn ended_alike<R: Compared>(replays: &[(&R, &RunInfo)]) -> bool {
    let Some((&(first, info), others)) = replays.split_first() else { return true };
    let limit = granularity(info) as f64;
    let base = first.numbers("completion");
    others.iter().all(|(run, _)| {
        let times = run.numbers("completion");
        let alike = |(one, two): (usize, usize)| match (base.get(one), times.get(two)) {
            (Some(one), Some(two)) => (one - two).abs() <= limit,
            _ => true,
        };
        row_pairs(first, *run).into_iter().all(alike)
    })
}

/// How long a task may wait on an empty cluster, ms: for a heartbeat. Production traces are replayed without them.
pub(crate) fn granularity(info: &RunInfo) -> i64 {
    let (heartbeat, containers) = (&info.rules.heartbeat, &info.rules.containers);
    match info.system {
        System::MapReduce1 => heartbeat.interval_of(usize::try_from(info.cluster.nodes).unwrap_or(usize::MAX)),
        // The master's container waits for a node, and the first task for the master and a node again.
        System::Yarn => 2 * containers.node_heartbeat + containers.am_heartbeat,
        System::Spark | System::Slurm | System::Kubernetes | System::Batch => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, Outcome, TaskKind};
    use resched_tables::run::{RunCluster, RunTables};

    use super::*;
    use crate::Run;

    /// A run whose jobs are submitted every 100 s, wait `waits` and then run one map for 50 s.
    fn run(label: &str, slots: u64, waits: &[i64]) -> Run {
        let job_id = |job: usize| format!("job_{job}");
        let start = |(job, wait): (usize, &i64)| (job as i64 * 100_000, job as i64 * 100_000 + wait);
        let jobs = waits.iter().enumerate().map(|(job, wait)| {
            let (submit, start) = start((job, wait));
            let (submit, finish) = (Some(submit), Some(start + 50_000));
            JobRow { job_id: job_id(job), submit, finish, outcome: Outcome::Success, ..JobRow::default() }
        });
        let attempts = waits.iter().enumerate().map(|(job, wait)| {
            let (_, start) = start((job, wait));
            let (start, finish) = (Some(start), Some(start + 50_000));
            AttemptRow { job_id: job_id(job), kind: TaskKind::Map, start, finish, ..AttemptRow::default() }
        });
        let tables = RunTables { jobs: jobs.collect(), attempts: attempts.collect(), ..RunTables::default() };
        let info = RunInfo {
            label: label.to_owned(),
            cluster: RunCluster { map_slots: slots, reduce_slots: slots, ..RunCluster::default() },
            system: if slots > 0 { System::MapReduce1 } else { System::Batch },
            engine: if slots > 0 { RunEngine::Hadoop } else { RunEngine::Batch },
            ..RunInfo::default()
        };
        Run::of_rows(info, tables)
    }

    fn grade(mut runs: Vec<Run>) -> Grade {
        let population = Population::share(&mut runs);
        of_runs(&runs, &population).grade()
    }

    #[test]
    fn policies_that_no_task_waited_under_cannot_differ() {
        // Production traces have no heartbeats.
        assert_eq!(grade(vec![run("fifo", 0, &[0, 0]), run("fair", 0, &[0, 0])]), Grade::NotAnswerable);
        assert_eq!(grade(vec![run("fifo", 0, &[0, 0]), run("fair", 0, &[0, 1])]), Grade::Measured);
        assert_eq!(grade(vec![run("fifo", 0, &[0, 0])]), Grade::NotAnswerable);
        // With slots, waits for heartbeats are none, nor is a wait while slots are free.
        assert_eq!(grade(vec![run("fifo", 2, &[100, 2_000]), run("fair", 2, &[3_000, 500])]), Grade::NotAnswerable);
        // One policy of Hadoop alone shows nothing about others, which may place tasks nearer to their input.
        assert_eq!(grade(vec![run("fifo", 2, &[40_000, 40_000])]), Grade::Measured);
        // The only slot was taken, so others could have waited for it.
        assert_eq!(grade(vec![run("fifo", 1, &[100, 2_000]), run("fair", 1, &[3_000, 500])]), Grade::Measured);
        // A policy that waits on purpose differs on an empty cluster, too.
        assert_eq!(grade(vec![run("fifo", 2, &[100, 100]), run("delay", 2, &[100, 15_000])]), Grade::Measured);
    }

    #[test]
    fn without_common_jobs_nothing_can_be_said() {
        assert_eq!(grade(vec![run("fifo", 1, &[]), run("fair", 1, &[100])]), Grade::NotAnswerable);
        let mut runs = vec![run("fifo", 1, &[9_000; 10]), run("fair", 1, &[9_000; 9])];
        let population = Population::share(&mut runs);
        let found = of_runs(&runs, &population);
        assert_eq!(found.grade(), Grade::Assumed);
        assert_eq!(found.caveats()[0].says, "9 of 10 jobs count; left out: 1 not in the run.");
    }
}
