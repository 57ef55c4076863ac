//! Explanations of runs that are small enough to be checked by hand. Times are in s.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use resched_tables::cluster_file::{ClusterConfig, Containers, Size};
use resched_tables::model::{AttemptRow, JobRow, Outcome, Reason, ReasonRow, TaskKind};
use resched_tables::run::{RunCluster, RunInfo, RunTables};
use resched_tables::store::System;

use super::{BlameRow, Explanation, Phase, Why};

/// Rows of a run.
#[derive(Default)]
struct Rows(RunTables);

impl Rows {
    fn job(mut self, id: &str, user: &str, (submit, finish): (i64, i64)) -> Self {
        self.0.jobs.push(JobRow {
            job_id: id.to_owned(),
            user: Some(user.to_owned()),
            queue: Some("q".to_owned()),
            submit: Some(submit * 1_000),
            finish: Some(finish * 1_000),
            outcome: Outcome::Success,
            ..JobRow::default()
        });
        self
    }

    fn task(mut self, job: &str, kind: TaskKind, (start, finish): (i64, i64)) -> Self {
        let number = self.0.attempts.len();
        self.0.attempts.push(AttemptRow {
            job_id: job.to_owned(),
            task_id: format!("{job}_{number}"),
            kind,
            start: Some(start * 1_000),
            finish: Some(finish * 1_000),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        });
        self
    }

    fn map(self, job: &str, span: (i64, i64)) -> Self {
        self.task(job, TaskKind::Map, span)
    }

    /// Changes the last attempt.
    fn with(mut self, change: impl FnOnce(&mut AttemptRow)) -> Self {
        change(self.0.attempts.last_mut().unwrap());
        self
    }

    fn reason(mut self, at: i64, job: Option<&str>, kind: TaskKind, reason: Reason, other: Option<&str>) -> Self {
        let [job_id, other_job] = [job, other].map(|id| id.map(str::to_owned));
        self.0.reasons.push(ReasonRow { time: at * 1_000, job_id, kind, reason, other_job });
        self
    }

    /// Under YARN, with so many MB in all. A master takes 2 MB, a map 1 MB.
    fn in_containers(self, memory_mb: u64) -> Why {
        let cluster = RunCluster { map_slots: 1, memory_mb: Some(memory_mb), ..RunCluster::default() };
        let size = |memory_mb| Size { memory_mb, vcores: 1 };
        let containers = Containers { am: size(2), map: size(1), reduce: size(1), ..Containers::default() };
        let rules = ClusterConfig { containers, ..ClusterConfig::default() };
        Why::of_rows(
            RunInfo { label: "yarn-fifo".to_owned(), system: System::Yarn, cluster, rules, ..RunInfo::default() },
            &self.0,
        )
    }

    /// On a cluster with so many map and reduce slots, and so many cores for other tasks.
    fn on(self, map_slots: u64, reduce_slots: u64, cores: u64) -> Why {
        let cluster =
            RunCluster { map_slots, reduce_slots, vcores: (cores > 0).then_some(cores), ..RunCluster::default() };
        Why::of_rows(RunInfo { label: "fair".to_owned(), cluster, ..RunInfo::default() }, &self.0)
    }
}

fn explained(why: &Why, id: &str) -> Explanation {
    why.explain_job(why.job_of_id(id).unwrap())
}

/// The phases with their seconds.
fn phases(explanation: &Explanation) -> Vec<(Phase, bool, i64)> {
    explanation.phases.iter().map(|phase| (phase.phase, phase.while_running, phase.ms / 1_000)).collect()
}

/// Who is to blame for the phase, with ms.
fn blame(explanation: &Explanation, phase: Phase) -> Vec<(String, i64)> {
    let of_phase = explanation.blame.iter().filter(|row| row.phase == phase);
    of_phase.map(|row| (row.job_id.clone().unwrap_or_else(|| row.holder.to_owned()), row.ms)).collect()
}

/// Cores are free for all; what it waits for is what another holds.
#[test]
fn a_job_waits_for_the_named_resource_of_which_it_asks_for_the_largest_share() {
    let holds = |row: &mut AttemptRow, text: &str| {
        (row.cpu_request, row.resources) = (Some(1_000), Some(text.to_owned()));
    };
    let why = Rows::default()
        .job("g", "ann", (0, 50))
        .task("g", TaskKind::Other, (0, 50))
        .with(|row| holds(row, "gres/gpu=2,license/a=1"))
        .job("a", "bob", (10, 60))
        .task("a", TaskKind::Other, (50, 60))
        .with(|row| holds(row, "gres/gpu=2"))
        .on(0, 0, 100);
    let found = explained(&why, "a");
    assert_eq!(blame(&found, Phase::Resources), [("g".to_owned(), 40_000)]);
    assert_eq!(found.blame[0].of.as_deref(), Some("gres/gpu"));
    assert_eq!(found.blame[0].held, 80.0, "two for 40 s");
    assert!(
        found.sentences[1].starts_with("It waited 40.0 s for gres/gpu. To blame: g of ann"),
        "{:?}",
        found.sentences
    );
}

#[test]
fn a_job_is_in_one_phase_at_a_time() {
    let why = Rows::default()
        .job("a", "ann", (0, 100))
        .map("a", (10, 30))
        .map("a", (20, 40))
        .task("a", TaskKind::Reduce, (50, 90))
        .with(|row| row.shuffle_finish = Some(60_000))
        .on(2, 1, 0);
    let found = explained(&why, "a");
    let expected = [
        (Phase::MapSlot, false, 10),
        (Phase::MapSlot, true, 10),
        (Phase::ReduceSlot, false, 10),
        (Phase::Running, false, 50),
        (Phase::Shuffling, false, 10),
        (Phase::Ending, false, 10),
    ];
    assert_eq!(phases(&found), expected);
    let times: Vec<(i64, i64)> = found.timeline.iter().map(|row| (row.from / 1_000, row.to / 1_000)).collect();
    assert_eq!(times, [(0, 10), (10, 20), (20, 40), (40, 50), (50, 60), (60, 90), (90, 100)]);
}

/// A job that a limit or its size holds until a replay ends has no completion time. The last reason of its policy says what holds it.
#[test]
fn a_job_that_never_started_says_why() {
    let waiting = |mut rows: Rows| {
        rows.0.jobs.push(JobRow { job_id: "b".to_owned(), submit: Some(5_000), ..JobRow::default() });
        rows
    };
    let rows = || waiting(Rows::default().job("a", "ann", (0, 10)).task("a", TaskKind::Other, (0, 10)));
    let sentences = |rows: Rows| explained(&rows.on(0, 0, 4), "b").sentences;
    let held = rows()
        .reason(5, Some("b"), TaskKind::Other, Reason::Fit, None)
        .reason(6, Some("b"), TaskKind::Other, Reason::QueueLimit, None)
        .reason(7, Some("b"), TaskKind::Other, Reason::None, None);
    assert_eq!(sentences(held), ["It never started.", "At last, it waited because its queue was at its limit."]);
    assert_eq!(sentences(rows()), ["It never started."], "the run has reasons, but none of this job");
    let mut observed = rows().on(0, 0, 4);
    observed.has_reasons = false;
    let found = explained(&observed, "b");
    assert!(found.sentences[1].starts_with("Why is not known: replay --decisions"), "{found:?}");
    assert_eq!((found.jobs, found.left_out), (0, 1));
    assert!(!explained(&observed, "a").sentences[0].contains("never"));
}

#[test]
fn a_wait_is_blamed_on_those_who_hold_the_slots() {
    // `b` waits from 0 to 10 for 3 slots: `a` holds 2 of them for 6 s and 1 for 4 s, `c` one for 5 s: 16 and 5 of 30.
    let why = Rows::default()
        .job("a", "ann", (0, 10))
        .map("a", (0, 10))
        .map("a", (0, 6))
        .job("b", "bob", (0, 20))
        .map("b", (10, 20))
        .job("c", "cho", (5, 10))
        .map("c", (5, 10))
        .on(3, 1, 0);
    let found = explained(&why, "b");
    let expected = [("a".to_owned(), 5_333), ("idle".to_owned(), 3_000), ("c".to_owned(), 1_667)];
    assert_eq!(blame(&found, Phase::MapSlot), expected);
    assert_eq!(found.blame.iter().map(|row| row.ms).sum::<i64>(), 10_000);
    assert_eq!(found.blame.first().unwrap().held, 16.0, "slot seconds");
    let users: Vec<_> = found.users.iter().map(|user| (user.name.as_deref(), user.waited_ms)).collect();
    assert_eq!(users, [(Some("ann"), 5_333), (None, 3_000), (Some("cho"), 1_667)]);
    assert!(
        found
            .sentences
            .iter()
            .any(|sentence| sentence.contains("It waited 10.0 s for a map slot. To blame: a of ann, 5.3 s"))
    );
}

#[test]
fn the_worst_waits_and_the_worst_holders_are_found() {
    let why = Rows::default()
        .job("a", "ann", (0, 30))
        .map("a", (0, 30))
        .map("a", (30, 30))
        .job("b", "bob", (0, 40))
        .map("b", (30, 40))
        .job("c", "cho", (10, 60))
        .map("c", (40, 60))
        .on(1, 1, 0);
    let top = why.top(2);
    let waited: Vec<_> = top.waited.iter().map(|job| (job.job_id.as_str(), job.waited_ms, job.phase)).collect();
    assert_eq!(waited, [("b", 30_000, Some(Phase::MapSlot)), ("c", 30_000, Some(Phase::MapSlot))]);
    // `a` made `b` wait for 30 s and `c` for 20 s, `b` made `c` wait for 10 s; and `a` itself is no other.
    let made_wait: Vec<_> = top.made_wait.iter().map(|job| (job.job_id.as_str(), job.waited_ms)).collect();
    assert_eq!(made_wait, [("a", 50_000), ("b", 10_000)]);
    assert_eq!(top.made_wait.iter().map(|job| job.while_running_ms).sum::<i64>(), 0);
}

#[test]
fn a_limit_is_blamed_on_the_jobs_of_the_user() {
    let why = Rows::default()
        .job("a", "ann", (0, 20))
        .map("a", (0, 20))
        .job("b", "ann", (0, 30))
        .map("b", (20, 30))
        .job("c", "cho", (0, 30))
        .map("c", (0, 30))
        .reason(5, Some("b"), TaskKind::Map, Reason::UserLimit, None)
        .on(3, 1, 0);
    let found = explained(&why, "b");
    assert_eq!(phases(&found)[..2], [(Phase::MapSlot, false, 5), (Phase::Limit, false, 15)]);
    assert_eq!(blame(&found, Phase::Limit), [("a".to_owned(), 15_000)]);
    let words = "It waited 15.0 s because its user was at the limit for one user. To blame: a of ann, 15.0 s.";
    assert!(found.sentences.contains(&words.to_owned()), "{:?}", found.sentences);
}

#[test]
fn a_rule_is_nobodys_and_ends_when_all_is_full() {
    let why = Rows::default()
        .job("a", "ann", (0, 40))
        .map("a", (30, 40))
        .job("b", "bob", (0, 30))
        .map("b", (20, 30))
        .reason(5, Some("a"), TaskKind::Map, Reason::Locality, None)
        .reason(20, None, TaskKind::Map, Reason::None, None)
        .reason(20, None, TaskKind::Reduce, Reason::None, None)
        .on(1, 1, 0);
    let found = explained(&why, "a");
    let expected = [(Phase::MapSlot, false, 5), (Phase::MapSlot, false, 10), (Phase::Locality, false, 15)];
    let waits: Vec<_> = found.timeline.iter().map(|row| (row.phase, (row.to - row.from) / 1_000)).collect();
    assert_eq!(waits[..3], [(Phase::MapSlot, 5), (Phase::Locality, 15), (Phase::MapSlot, 10)]);
    assert_eq!(phases(&found).len(), 3, "{expected:?}");
    assert_eq!(blame(&found, Phase::Locality), [("rule".to_owned(), 15_000)]);
}

#[test]
fn batch_tasks_wait_for_dependencies_backfilling_and_lost_machines() {
    let queued = |at: i64| {
        move |row: &mut AttemptRow| {
            row.queued = Some(at * 1_000);
            row.cpu_request = Some(1_000);
        }
    };
    let other = TaskKind::Other;
    let why = Rows::default()
        .job("a", "ann", (0, 60))
        .task("a", other, (20, 30))
        .with(|row| {
            queued(10)(row);
            row.outcome = Outcome::Lost;
        })
        .task("a", other, (40, 60))
        .with(queued(30))
        .job("k", "kim", (0, 40))
        .task("k", other, (0, 40))
        .with(queued(0))
        .reason(30, Some("a"), other, Reason::Backfill, Some("k"))
        .on(0, 0, 1);
    let found = explained(&why, "a");
    let expected = [
        (Phase::Dependency, false, 10),
        (Phase::Resources, false, 10),
        (Phase::Reserve, false, 10),
        (Phase::Lost, false, 10),
        (Phase::Running, false, 20),
    ];
    assert_eq!(phases(&found), expected);
    assert_eq!(blame(&found, Phase::Reserve), [("k".to_owned(), 10_000)]);
    assert_eq!(blame(&found, Phase::Resources), [("k".to_owned(), 10_000)]);
}

#[test]
fn a_master_holds_a_container_until_its_job_ends() {
    // The master of `a` runs from 2 to 20, is lost, and starts again at 25; that of `b` has no room before 40.
    let map = TaskKind::Map;
    let why = Rows::default()
        .job("a", "ann", (0, 40))
        .reason(0, Some("a"), map, Reason::Master, None)
        .reason(2, Some("a"), map, Reason::Starting, None)
        .reason(3, Some("a"), map, Reason::None, None)
        .reason(20, Some("a"), map, Reason::Master, None)
        .reason(25, Some("a"), map, Reason::Starting, None)
        .task("a", TaskKind::Master, (2, 20))
        .with(|row| row.outcome = Outcome::Lost)
        .task("a", TaskKind::Master, (25, 40))
        .map("a", (10, 20))
        .map("a", (30, 40))
        .job("b", "bob", (0, 60))
        .reason(0, Some("b"), map, Reason::Master, None)
        .reason(40, Some("b"), map, Reason::Starting, None)
        .task("b", TaskKind::Master, (40, 60))
        .map("b", (50, 60))
        .in_containers(3);
    let found = explained(&why, "b");
    assert_eq!(phases(&found)[..2], [(Phase::Starting, false, 10), (Phase::Master, false, 40)]);
    // Of 120 MB s, the masters held 66 and the maps 20.
    assert_eq!(blame(&found, Phase::Master), [("a".to_owned(), 28_667), ("idle".to_owned(), 11_333)]);
}

#[test]
fn a_node_that_is_kept_is_blamed_on_the_job_that_it_is_kept_for() {
    let why = Rows::default()
        .job("a", "ann", (0, 30))
        .map("a", (10, 30))
        .job("b", "bob", (0, 20))
        .map("b", (10, 20))
        .reason(0, Some("b"), TaskKind::Map, Reason::Reserve, Some("a"))
        .on(2, 1, 0);
    assert_eq!(blame(&explained(&why, "b"), Phase::Reserve), [("a".to_owned(), 10_000)]);
}

#[test]
fn odd_rows_do_no_harm() {
    let (low, high) = (i64::MIN / 4_000, i64::MAX / 4_000);
    let why = Rows::default()
        .job("a", "ann", (5, 3))
        .job("b", "bob", (0, 10))
        .map("b", (-100, 1_000))
        .map("b", (9, 2))
        .map("nobody", (1, 2))
        .job("c", "cho", (0, 10))
        .job("d", "dan", (low, high))
        .map("d", (low, high))
        .on(0, 0, 0);
    assert_eq!(phases(&explained(&why, "b")), [(Phase::Running, false, 10)]);
    assert_eq!(phases(&explained(&why, "c")), [(Phase::Ending, false, 10)]);
    let all = why.explain_all();
    assert_eq!((all.jobs, all.left_out), (2, 2));
    assert_eq!(all.phases.iter().map(|phase| phase.ms).sum::<i64>(), all.completion_ms);
    assert_eq!(explained(&why, "a").jobs, 0);
    assert!(why.explain_user("nobody").is_none());
    assert_eq!(why.top(5).jobs, 2);
}

mod of_two_runs {
    use super::*;
    use crate::statistics::practical::Matters;
    use crate::why::{Diff, Side};

    const SIDES: [Side<'_>; 2] = [
        Side { label: "a", has_reasons: true, is_observed: false, system: System::MapReduce1 },
        Side { label: "b", has_reasons: true, is_observed: false, system: System::MapReduce1 },
    ];

    /// Three jobs of cho and two of ann; those of cho start so many s later.
    fn run(later: i64, reason: Reason) -> Why {
        let mut rows = Rows::default();
        for number in 0..5 {
            let (id, user) = (format!("j{number}"), if number < 3 { "cho" } else { "ann" });
            let start = if number < 3 { later } else { 0 };
            rows = rows.job(&id, user, (0, start + 10)).map(&id, (start, start + 10));
            rows = rows.reason(0, Some(id.as_str()), TaskKind::Map, reason, None);
        }
        rows.on(9, 1, 0)
    }

    #[test]
    fn who_loses_and_how_is_said() {
        let (before, after) = (run(0, Reason::None), run(20, Reason::Locality));
        let diff = Diff::of(SIDES, &[(before.times(), after.times())], Matters::default());
        assert_eq!(
            diff.sentences,
            ["3 of 5 jobs get slower, all of user cho, by holding out for locality (20.0 s on average)."]
        );
        assert_eq!((diff.all.jobs, diff.all.slower, diff.all.faster), (5, 3, 0));
        let users: Vec<_> =
            diff.groups["user"].iter().map(|group| (group.group.as_str(), group.slower, group.through)).collect();
        assert_eq!(users, [("cho", 3, Some(Phase::Locality)), ("ann", 0, None)], "who loses most comes first");
        let back = Diff::of(SIDES, &[(after.times(), before.times())], Matters::default());
        assert!(back.sentences[0].contains("3 of 5 jobs get faster, all of user cho, by less time holding out"));
    }

    #[test]
    fn seeds_give_intervals_and_doubt() {
        let pair = |later| (run(0, Reason::None).times(), run(later, Reason::None).times());
        let sure = Diff::of(SIDES, &[pair(20), pair(22), pair(21)], Matters::default());
        assert_eq!((sure.seeds, sure.all.slower), (3, 3));
        assert!(sure.all.change_ms.low.is_some_and(|low| low < sure.all.change_ms.value));
        let doubtful = Diff::of(SIDES, &[pair(20), pair(0)], Matters::default());
        assert_eq!(doubtful.all.slower, 0);
        assert_eq!(doubtful.sentences, ["No job gets slower or faster by more than 5 %."]);
    }
}

/// A run of so many jobs whose tasks, and reasons, are drawn.
fn drawn(seed: u64, jobs: usize) -> Why {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |most: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as i64
    };
    let mut rows = Rows::default();
    for number in 0..jobs {
        let (id, user) = (format!("j{number}"), ["ann", "bob", "cho"][draw(3) as usize]);
        let submit = draw(40);
        let tasks: Vec<(i64, i64)> = (0..1 + draw(5)).map(|_| (submit + draw(30), 1 + draw(20))).collect();
        let last = tasks.iter().map(|(start, takes)| start + takes).max().unwrap_or(submit);
        rows = rows.job(&id, user, (submit, last + draw(3)));
        for (start, takes) in tasks {
            let kind = [TaskKind::Map, TaskKind::Map, TaskKind::Reduce][draw(3) as usize];
            rows = rows.task(&id, kind, (start, start + takes));
        }
        let reason = [Reason::None, Reason::UserLimit, Reason::Locality, Reason::Backfill][draw(4) as usize];
        rows = rows.reason(submit + draw(10), Some(&id), TaskKind::Map, reason, Some("j0"));
    }
    rows.on(1 + draw(8) as u64, 1 + draw(4) as u64, 0)
}

/// Compares shares with the rows of the whole explanation. `of_row` and `named` name who is to blame.
fn agrees(
    shares: &super::Shares,
    whole: &Explanation,
    of_row: fn(&BlameRow) -> Option<String>,
    named: impl Fn(usize) -> Option<String>,
    place: &str,
) {
    let sum = |wanted: &dyn Fn(&BlameRow) -> bool| -> i64 {
        whole.blame.iter().filter(|row| wanted(row)).map(|row| row.ms).sum()
    };
    // A part is rounded down for each kind of wait, and the first one gets what that leaves.
    let check = |found: i64, expected: i64| {
        let near = (found - expected).abs() <= 4 * whole.phases.len() as i64;
        assert!(near, "{place}: {shares:?} {:?}", whole.blame);
    };
    let all = shares.named.iter().map(|share| share.1).sum::<i64>() + shares.others + shares.idle + shares.rule;
    assert_eq!(all, sum(&|_| true), "{place}: {shares:?}");
    check(shares.idle, sum(&|row| row.holder == "idle"));
    check(shares.rule, sum(&|row| row.holder == "rule"));
    for &(row, ms) in &shares.named {
        check(ms, sum(&|blamed| blamed.holder == "job" && of_row(blamed) == named(row)));
    }
    let least = match shares.named.get(2) {
        Some(least) => least.1,
        None => {
            check(shares.others, 0);
            0
        }
    };
    let waits: BTreeSet<_> = whole.blame.iter().map(|row| (row.phase, row.reason, row.while_running)).collect();
    // With several waits, one that is among the first three of none is not named.
    if waits.len() == 1 {
        let names: Vec<Option<String>> = shares.named.iter().map(|share| named(share.0)).collect();
        for row in whole.blame.iter().filter(|row| row.holder == "job" && !names.contains(&of_row(row))) {
            let all = sum(&|other| other.holder == "job" && of_row(other) == of_row(row));
            assert!(all <= least + 4, "{place}: {shares:?} {:?}", whole.blame);
        }
    }
}

#[test]
fn in_short_is_the_explanation_in_short() {
    // More jobs than a block of holders has, too.
    for (seed, jobs) in (1..300).map(|seed| (seed, 9)).chain((1..5).map(|seed| (seed, 200))) {
        let why = drawn(seed, jobs);
        let rows: Vec<usize> = why.counted().collect();
        for found in why.in_short(rows) {
            let whole = why.explain_job(found.row);
            let place = format!("seed {seed}, {}", why.jobs[found.row].job_id);
            for phase in Phase::ALL {
                let time: i64 = whole.phases.iter().filter(|time| time.phase == phase).map(|time| time.ms).sum();
                assert_eq!(found.phases[phase as usize], time, "{place}: {}", phase.name());
            }
            let job = |row: usize| Some(why.jobs[row].job_id.clone());
            let user = |row: usize| why.jobs[row].user.as_deref().map(str::to_owned);
            agrees(&found.jobs, &whole, |blamed| blamed.job_id.clone(), job, &place);
            agrees(found.users.as_ref().unwrap(), &whole, |blamed| blamed.user.clone(), user, &place);
            let parts: u16 = found.track.iter().map(|stretch| stretch.1).sum();
            assert_eq!(i64::from(parts), super::PARTS, "{place}");
        }
    }
}

#[test]
fn the_track_has_the_phases_in_the_order_of_time() {
    let why =
        Rows::default().job("a", "ann", (0, 24)).map("a", (6, 12)).task("a", TaskKind::Reduce, (18, 24)).on(1, 1, 0);
    let found: Vec<_> = why.in_short([0]).collect();
    let expected = [(Phase::MapSlot, 60), (Phase::Running, 60), (Phase::ReduceSlot, 60), (Phase::Running, 60)];
    assert_eq!(found[0].track, expected);
}
