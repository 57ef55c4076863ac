#![allow(clippy::unwrap_used)]

use resched_tables::model::{AttemptRow, JobRow, Outcome, Reason, ReasonRow};
use resched_tables::run::{RunCluster, RunInfo, RunTables};

use super::*;

const MINUTE: i64 = 60_000;

/// A world that is made task by task.
struct Made {
    rows: RunTables,
    info: RunInfo,
}

impl Made {
    fn new(map_slots: u64, reduce_slots: u64) -> Self {
        let cluster = RunCluster { nodes: 4, racks: 1, map_slots, reduce_slots, ..RunCluster::default() };
        Self { rows: RunTables::default(), info: RunInfo { cluster, ..RunInfo::default() } }
    }

    /// A job that is submitted and ends then.
    fn job(&mut self, id: &str, submit: i64, finish: i64) {
        let [job_id, user, queue] = [id, "ann", "slow"].map(str::to_owned);
        let (submit, finish) = (Some(submit), Some(finish));
        let job = JobRow {
            job_id,
            user: Some(user),
            queue: Some(queue),
            submit,
            finish,
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        self.rows.jobs.push(job);
    }

    /// A task of it, on a node.
    fn task(&mut self, job: &str, kind: TaskKind, node: &str, (start, finish): (i64, i64)) {
        let task_id = format!("{job}_{}", self.rows.attempts.len());
        self.rows.attempts.push(AttemptRow {
            job_id: job.to_owned(),
            task_id,
            kind,
            host: Some(node.to_owned()),
            start: Some(start),
            finish: Some(finish),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        });
    }

    /// From then on, the policy passes over the job for this reason.
    fn reason(&mut self, job: &str, time: i64, reason: Reason) {
        let row = ReasonRow { time, job_id: Some(job.to_owned()), kind: TaskKind::Map, reason, ..ReasonRow::default() };
        self.rows.reasons.push(row);
    }

    fn advice(self) -> Vec<Advice> {
        let why = Why::of_rows(self.info.clone(), &self.rows);
        advise(&Run::of_rows(self.info, self.rows), &why)
    }
}

fn rules(advice: &[Advice]) -> Vec<&'static str> {
    advice.iter().map(|advice| advice.rule).collect()
}

/// One job runs on one of ten slots; another of its queue waits for `wait` at a limit.
fn at_limit(wait: i64, running: usize) -> Vec<Advice> {
    let mut made = Made::new(8, 2);
    made.job("first", 0, 20 * MINUTE);
    (0..running).for_each(|_| made.task("first", TaskKind::Map, "n1", (0, 20 * MINUTE)));
    made.job("second", 0, wait + MINUTE);
    made.task("second", TaskKind::Map, "n2", (wait, wait + MINUTE));
    made.reason("second", 0, Reason::QueueLimit);
    made.advice()
}

#[test]
fn a_queue_at_its_limit_while_slots_are_free() {
    let advice = at_limit(5 * MINUTE, 1);
    assert_eq!(rules(&advice), ["queue-limit"]);
    let first = &advice[0];
    assert_eq!(
        (first.job_id.as_deref(), first.queue.as_deref(), first.time_ms),
        (Some("second"), Some("slow"), 5 * MINUTE)
    );
    assert!(
        first.says.contains("1 job of queue slow waited 5.0 min") || first.says.contains("300.0 s"),
        "{}",
        first.says
    );
    assert!(
        first.says.contains("90 % of the slots were free") && first.change.contains("maximum-capacity"),
        "{first:?}"
    );
    assert!(at_limit(MINUTE / 2, 1).is_empty(), "less than a minute");
    assert!(at_limit(5 * MINUTE, 10).is_empty(), "nothing is free");
}

/// A job whose reduces start with its maps, and another that waits for a reduce slot from its last map on.
fn early_reduces(start: i64, slots: u64) -> Vec<Advice> {
    let mut made = Made::new(8, slots);
    made.job("long", 0, 12 * MINUTE);
    made.task("long", TaskKind::Map, "n1", (0, 10 * MINUTE));
    (0..2).for_each(|_| made.task("long", TaskKind::Reduce, "n1", (start, 12 * MINUTE)));
    made.job("short", 0, 13 * MINUTE);
    made.task("short", TaskKind::Map, "n2", (0, MINUTE));
    made.task("short", TaskKind::Reduce, "n2", (12 * MINUTE, 13 * MINUTE));
    made.advice()
}

#[test]
fn reduces_that_hold_slots_before_their_maps_are_done() {
    let advice = early_reduces(MINUTE, 2);
    assert_eq!(rules(&advice), ["slow-start"]);
    // From 1 to 10 min, both slots are held by reduces that wait for maps, and the other job waits.
    assert_eq!((advice[0].job_id.as_deref(), advice[0].time_ms), (Some("long"), 9 * MINUTE));
    assert!(advice[0].change.contains("slowstart.completedmaps"));
    assert!(early_reduces(10 * MINUTE, 2).is_empty(), "they start when the maps are done");
    assert!(early_reduces(MINUTE, 40).is_empty(), "they are a small part of the slots");
}

fn maps(number: usize, length: i64) -> Vec<Advice> {
    let mut made = Made::new(8, 2);
    made.job("many", 0, number as i64 * length);
    (0..number as i64).for_each(|map| made.task("many", TaskKind::Map, "n1", (map * length, (map + 1) * length)));
    made.advice()
}

#[test]
fn many_maps_of_a_few_seconds() {
    let advice = maps(50, 4_000);
    assert_eq!((rules(&advice), advice[0].job_id.as_deref()), (vec!["short-maps"], Some("many")));
    assert!(
        advice[0].says.contains("50 maps with a median run time of 4.0 s") && advice[0].change.contains("15 splits"),
        "{:?}",
        advice[0]
    );
    assert!(maps(49, 4_000).is_empty() && maps(50, 10_000).is_empty(), "few maps, and longer ones");
}

fn last_map(length: i64) -> Vec<Advice> {
    let mut made = Made::new(20, 2);
    made.job("skewed", 0, 2 * MINUTE + length);
    (0..10).for_each(|map| made.task("skewed", TaskKind::Map, "n1", (0, MINUTE + map)));
    made.task("skewed", TaskKind::Map, "n7", (0, length));
    made.advice()
}

#[test]
fn a_task_that_runs_much_longer_than_the_others() {
    let advice = last_map(5 * MINUTE);
    assert_eq!(rules(&advice), ["stragglers"]);
    let first = &advice[0];
    assert_eq!((first.job_id.as_deref(), first.node.as_deref()), (Some("skewed"), Some("n7")));
    assert!(first.says.contains("5.0 times as long") && first.change.contains("fair+late"), "{first:?}");
    assert!(last_map(2 * MINUTE).is_empty(), "twice as long");
}

/// Four jobs with six maps on each of four nodes; those on the last take so many times as long.
fn nodes(jobs: i64, factor: i64) -> Vec<Advice> {
    let mut made = Made::new(8, 2);
    for number in 0..jobs {
        let id = format!("job{number}");
        made.job(&id, 0, 60 * MINUTE);
        for node in ["n1", "n2", "n3", "n4"] {
            let length = if node == "n4" { factor * MINUTE / 10 } else { MINUTE };
            (0..6).for_each(|map| made.task(&id, TaskKind::Map, node, (map * length, (map + 1) * length)));
        }
    }
    made.advice()
}

#[test]
fn a_node_on_which_maps_take_longer() {
    let advice = nodes(4, 20);
    assert_eq!(rules(&advice), ["slow-node"]);
    assert_eq!((advice[0].node.as_deref(), advice[0].job_id.as_deref()), (Some("n4"), None));
    assert!(
        advice[0].says.contains("2.0 times as long") && advice[0].says.contains("24 maps of 4 jobs"),
        "{:?}",
        advice[0]
    );
    assert!(
        nodes(2, 20).is_empty() && nodes(4, 14).is_empty() && nodes(4, 10).is_empty(),
        "two jobs, and hardly slower"
    );
}
