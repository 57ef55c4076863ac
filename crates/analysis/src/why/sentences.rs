//! An explanation in words.

use std::collections::BTreeSet;

use resched_tables::model::Reason;
use resched_tables::store::System;
use resched_tables::words::{count, duration, name};

use super::explanation::{About, BlameRow, Explanation, PhaseTime};
use super::phase::Phase;

/// What to know of a run without the table of reasons.
pub const WITHOUT_REASONS: &str = "A run without the reasons of its policy (replay --decisions keeps them) \
                                   counts every wait as one for free resources, even if the job waited for its data or \
                                   was at a limit. The jobs that held these resources are then to blame.";

/// The most holders that a sentence names.
const MOST_NAMED: usize = 3;

/// The words for what is explained.
#[derive(Clone, Copy)]
struct Who {
    it: &'static str,
    its: &'static str,
    capital: &'static str,
}

/// The words for one job.
const ONE: Who = Who { it: "it", its: "its", capital: "It" };
/// The words for several jobs.
const SEVERAL: Who = Who { it: "they", its: "their", capital: "They" };

/// The sentences of an explanation: what the time went to, then each wait with those who are to blame, the longest first.
pub(super) fn sentences(explanation: &Explanation) -> Vec<String> {
    let mut sentences = vec![in_all(explanation)];
    let mut waits: Vec<&PhaseTime> = explanation
        .phases
        .iter()
        .filter(|phase| phase.ms > 0 && (phase.phase.is_wait() || phase.phase == Phase::Lost))
        .collect();
    waits.sort_by_key(|wait| (wait.while_running, std::cmp::Reverse(wait.ms)));
    sentences.extend(waits.into_iter().map(|wait| of_wait(explanation, wait)));
    if !explanation.has_reasons && explanation.phases.iter().any(|phase| phase.ms > 0 && phase.phase.is_wait()) {
        sentences.push(WITHOUT_REASONS.to_owned());
    }
    sentences
}

/// The sentences about a job that never started: the wait that the policy gave a reason for last.
pub(super) fn of_never_started(last: Option<(Phase, Reason)>, has_reasons: bool, system: System) -> Vec<String> {
    let mut sentences = vec!["It never started.".to_owned()];
    match last {
        Some(wait) => {
            let why = system.says(because(wait)).replace("{its}", ONE.its);
            sentences.push(format!("At last, it waited {why}."));
        }
        None if has_reasons => {}
        None => sentences.push("Why is not known: replay --decisions keeps the reasons of the policy.".to_owned()),
    }
    sentences
}

/// The sentences about a job of a log that says why it waited last. Unless it waited for its turn or for machines, what the schedule shows
/// is no reason, and is left out.
pub(super) fn as_logged(mut sentences: Vec<String>, reason: &str) -> Vec<String> {
    let what = match reason {
        _ if reason.starts_with("QOS") => ": a limit of its QOS",
        _ if reason.starts_with("Assoc") => ": a limit of its association",
        _ => "",
    };
    if !matches!(reason, "Priority" | "Resources") {
        sentences.truncate(1);
    }
    let said = format!("The log gives `{reason}` as the last reason for which it waited{what}.");
    sentences.insert(sentences.len().min(1), said);
    sentences
}

/// How long it took, and how much of that it ran and waited.
fn in_all(explanation: &Explanation) -> String {
    let sum = |wanted: &dyn Fn(&PhaseTime) -> bool| {
        duration(explanation.phases.iter().filter(|phase| wanted(phase)).map(|phase| phase.ms).sum::<i64>() as f64)
    };
    let waited = sum(&|spent| spent.phase.is_wait() && !spent.while_running);
    let partly = sum(&|spent| spent.phase.is_wait() && spent.while_running);
    let ran = sum(&|spent| !spent.phase.is_wait() && spent.phase != Phase::Unknown);
    let unknown =
        explanation.phases.iter().filter(|phase| phase.phase == Phase::Unknown).map(|phase| phase.ms).sum::<i64>();
    let unknown = match unknown {
        0 => String::new(),
        ms => format!(" For {}, the log does not show what ran.", duration(ms as f64)),
    };
    let took = duration(explanation.completion_ms as f64);
    let who = match (&explanation.about, explanation.jobs) {
        (About::Job { .. }, 0) => {
            return "Its completion time is not known, so there is nothing to explain.".to_owned();
        }
        (_, 0) => return "No job has a known completion time, so there is nothing to explain.".to_owned(),
        (About::Job { .. }, _) => "It".to_owned(),
        (_, 1) => "The job".to_owned(),
        (_, jobs) => format!("The {} jobs together", count(jobs)),
    };
    format!("{who} took {took}: {waited} waiting, {partly} partly running, {ran} running.{unknown}")
}

fn of_wait(explanation: &Explanation, spent: &PhaseTime) -> String {
    let time = duration(spent.ms as f64);
    let who = if explanation.jobs == 1 { ONE } else { SEVERAL };
    let Who { it, its, .. } = who;
    let system = explanation.system;
    let is_own = |row: &&BlameRow| {
        (row.phase, row.reason, row.while_running) == (spent.phase, spent.reason, spent.while_running) && row.ms > 0
    };
    let rows: Vec<&BlameRow> = explanation.blame.iter().filter(is_own).collect();
    let named = named_resources(spent, &rows);
    let why = match &named {
        Some(names) => format!("for {names}"),
        None => system.says(because((spent.phase, spent.reason))).replace("{its}", its),
    };
    let text = match (spent.phase, spent.while_running) {
        (Phase::Lost, _) => {
            let on = system.says("machines");
            return format!("For {time}, {it} ran only on {on} that were lost, so that work was repeated.");
        }
        (Phase::Ending, _) => return format!("At {its} end, clean-up and reporting took {time}."),
        (_, false) => format!("{} waited {time} {why}", who.capital),
        (_, true) => format!("While some tasks ran, others waited {time} {why}"),
    };
    if rows.iter().all(|row| row.holder == "rule") {
        return text + ".";
    }
    let own_id = match &explanation.about {
        About::Job { job_id, .. } => Some(job_id.as_str()),
        About::User(_) | About::Queue(_) | About::All => None,
    };
    // That nobody held it is no blame.
    let (idle, rows): (Vec<&BlameRow>, Vec<&BlameRow>) = rows.into_iter().partition(|row| row.holder == "idle");
    let idle = match idle.iter().map(|row| row.ms).sum::<i64>() {
        0 => String::new(),
        ms => {
            let was_free = match &named {
                Some(names) => format!("some {names} was free, or its node was down"),
                None => system.says("a slot was free or its node was down").to_owned(),
            };
            format!(" For {}, {was_free}.", duration(ms as f64))
        }
    };
    if rows.is_empty() {
        return format!("{text}.{idle}");
    }
    let named: Vec<String> = rows.iter().take(MOST_NAMED).map(|row| holder(row, own_id, system)).collect();
    let rest: i64 = rows.iter().skip(MOST_NAMED).map(|row| row.ms).sum();
    let rest = match rows.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        1 => format!("; another, {}", duration(rest as f64)),
        others => format!("; {} others, {}", count(others as u64), duration(rest as f64)),
    };
    format!("{text}. To blame: {}{rest}.{idle}", named.join("; "))
}

/// The names of what was waited for, if a wait for resources was for named ones alone, such as `gres/gpu`.
fn named_resources(wait: &PhaseTime, rows: &[&BlameRow]) -> Option<String> {
    if (wait.phase, wait.reason) != (Phase::Resources, Reason::None) {
        return None;
    }
    let of: BTreeSet<&str> = rows.iter().filter_map(|row| row.of.as_deref()).collect();
    let are_named = !of.is_empty() && !of.iter().any(|of| ["cpu", "memory"].contains(of));
    are_named.then(|| of.into_iter().map(name).collect::<Vec<_>>().join(" or "))
}

/// Why something waits, after "it waited 3 s"; `{its}` stands for whose.
fn because(wait: (Phase, Reason)) -> &'static str {
    match wait {
        (_, Reason::NodeLost) => "for another place, after a machine with its tasks was lost",
        (_, Reason::Mismatch) => "for a better machine than those that were free",
        (_, Reason::NotNearest) => "for one of the machines nearest to {its} input, although others were free",
        (_, Reason::UserLimit) => "because {its} user was at the limit for one user",
        (_, Reason::QueueLimit) => "because {its} queue was at its limit",
        (_, Reason::JobLimit) => "because {its} queue was at its limit of running jobs",
        (_, Reason::Backfill) => "because {its} start would have delayed a job ahead of it",
        (_, Reason::NoFit) => "because no flavor of {its} ClusterQueue had quota enough (NoFit)",
        (_, Reason::NoCandidates) => {
            "because {its} start would have needed a preemption, and there was nobody to preempt (PreemptionNoCandidates)"
        }
        (_, Reason::PendingPreemption) => "for {its} victims to end (PendingPreemption)",
        (_, Reason::Skipped) => "because others took {its} quota within the same cycle (FailedAfterNomination)",
        (_, Reason::NoQueue) => "because no ClusterQueue takes {its} namespace and queue",
        (_, Reason::Equivalent) => "untried, because one of the same shape had found no quota",
        (Phase::Dependency, _) => "for jobs or stages that must end first",
        (Phase::Starting, _) => "to be initialised and set up",
        (Phase::Master, _) => "for {its} application master",
        (Phase::MapSlot, _) => "for a map slot",
        (Phase::ReduceSlot, _) => "for a reduce slot",
        (Phase::Container, _) => "for a container",
        (Phase::Resources, _) => "for free resources",
        (Phase::Fit, _) => "for a machine with enough room; the free resources were spread over several",
        (Phase::Locality, _) => "for a machine nearer to {its} input, although others were free",
        (Phase::Ramp, _) => "because too few of {its} maps were done to start more reduces",
        (Phase::Limit, _) => "because of a limit",
        (Phase::Reserve, _) => "because the free resources were reserved for other jobs",
        (Phase::Priority, _) => "behind a job ahead of it that found no room",
        (Phase::Lost | Phase::Running | Phase::Shuffling | Phase::Ending | Phase::Unknown, _) => "",
    }
}

/// What a job waits for in a phase.
fn place(phase: Phase) -> &'static str {
    match phase {
        Phase::Container => "a container",
        Phase::Resources => "what it needs",
        _ => "a slot",
    }
}

/// A holder with its part.
fn holder(row: &BlameRow, own_id: Option<&str>, system: System) -> String {
    let time = duration(row.ms as f64);
    let by = |text: &Option<String>| text.as_deref().map(|user| format!(" of {}", name(user))).unwrap_or_default();
    match (row.holder, &row.job_id) {
        ("job", Some(job_id)) if own_id == Some(job_id) => format!("the job itself, {time}"),
        ("job", Some(job_id)) => format!("{}{}, {time}", name(job_id), by(&row.user)),
        ("idle", _) => {
            format!("{} was free or {}, {time}", system.says(place(row.phase)), system.says("its node was down"))
        }
        _ => format!("the limit itself, {time}"),
    }
}
