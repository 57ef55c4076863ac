//! The error of completion times by phase and by size of the job, so that you see what the model lacks.

use std::collections::BTreeMap;

use resched_tables::model::TaskKind;
use resched_tables::store::System;
use serde::Serialize;

use super::{Compared, RelativeError, relative_error, signed_error};
use crate::metrics::named::SizeBy;
use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::runs::spans::Interval;
use crate::statistics::distribution::mean;

/// The phases of a job; together they are its completion time.
pub const PHASES: [&str; 4] = ["launch", "map", "reduce", "end"];

/// The phases that tables show for these jobs of a system, each with its heading. Jobs without maps wait and run; phases without time are
/// left out.
pub fn phases_of(system: System, classes: &[SizeClass]) -> Vec<(&'static str, &'static str)> {
    if system.is_hadoop() {
        return PHASES.map(|phase| (phase, phase)).to_vec();
    }
    let takes_time = |(phase, _): &(&str, &str)| {
        let found = classes.iter().filter_map(|class| class.phases.get(phase));
        found.map(|error| error.observed_ms.max(error.replayed_ms)).any(|ms| ms > 0.0)
    };
    [("launch", "waiting"), ("reduce", "running"), ("end", "end")].into_iter().filter(takes_time).collect()
}

/// The upper bounds of the size classes: tasks, or CPUs.
const BOUNDS: [u64; 3] = [10, 100, 1_000];
const BOUNDS_OF_CPUS: [u64; 3] = [4, 16, 64];

/// The error of one phase. With `s` replayed, `o` observed and `c` the observed completion time, a job has the error `(s − o) / c`.
/// So the signed errors of the four phases add up to that of the completion time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct PhaseError {
    /// The mean of `o`, ms.
    pub observed_ms: f64,
    /// The mean of `s`, ms.
    pub replayed_ms: f64,
    /// The mean of `|s − o| / c`.
    pub mean: f64,
    /// The mean of `(s − o) / c`: above 0, the replay is too slow.
    pub mean_signed: f64,
}

/// The errors of jobs of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeClass {
    /// What the size of a job is: `tasks` or `CPUs`.
    pub size: &'static str,
    /// Its jobs have at least this size.
    pub from: u64,
    /// Its jobs have at most this size; null in the last class.
    pub to: Option<u64>,
    /// How many jobs were compared.
    pub jobs: u64,
    /// The error of their completion times.
    pub completion: Option<RelativeError>,
    /// The error of each of [`PHASES`].
    pub phases: BTreeMap<&'static str, PhaseError>,
}

/// How long a job spent in each of [`PHASES`], ms: from its submission to the first start of a task, to the end of its last map, to
/// the end of its last task, and to its own end. Without maps, all of its tasks count as the third; likewise if the replay knows no
/// maps, as that of a production trace. Set-up and clean-up tasks belong to the first and the last phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phases([i64; 4]);

/// The errors of these jobs in all, then by size.
pub(super) fn by_size(observed: &Run, replayed: &Run, compared: &[Compared]) -> Vec<SizeClass> {
    let has_maps = |run: &Run| run.intervals.iter().any(|interval| interval.kind == TaskKind::Map);
    let maps_count = has_maps(observed) && has_maps(replayed);
    let rows = |run: &Run| -> BTreeMap<String, Phases> {
        let spans = spans(&run.intervals, maps_count);
        let jobs = run.jobs.iter().enumerate();
        jobs.filter_map(|(row, job)| Some((job.job_id.clone(), phases(job, spans.get(&row)?)?))).collect()
    };
    let (real, simulated) = (rows(observed), rows(replayed));
    let all: Vec<(&Compared, Phases, Phases)> = compared
        .iter()
        .filter_map(|pair| Some((pair, *real.get(&pair.0.job_id)?, *simulated.get(&pair.0.job_id)?)))
        .collect();
    let by = SizeBy::of_run(observed);
    let bounds = if by == SizeBy::Cpus { BOUNDS_OF_CPUS } else { BOUNDS };
    let lower = std::iter::once(1).chain(bounds.map(|bound| bound + 1));
    let upper = bounds.into_iter().map(Some).chain([None]);
    std::iter::once((1, None))
        .chain(lower.zip(upper))
        .map(|(from, to)| {
            // A part of a CPU counts as a whole one.
            let size = |job: &JobMetrics| by.amount(by.size(job)).ceil().max(1.0) as u64;
            let inside = |size: u64| size >= from && to.is_none_or(|to| size <= to);
            class((by, from, to), all.iter().filter(|job| inside(size(job.0.0))))
        })
        .filter(|class| class.jobs > 0)
        .collect()
}

fn class<'a>(
    (by, from, to): (SizeBy, u64, Option<u64>),
    jobs: impl Iterator<Item = &'a (&'a Compared<'a>, Phases, Phases)>,
) -> SizeClass {
    let (mut completion, mut by_phase) = (Vec::new(), PHASES.map(|_| Vec::new()));
    for (pair, Phases(real), Phases(simulated)) in jobs {
        let (Some(one), Some(other)) = (pair.0.completion, pair.1.completion) else { continue };
        completion.extend(signed_error(other as f64, one as f64));
        for ((errors, &o), &s) in by_phase.iter_mut().zip(real).zip(simulated) {
            errors.push((o as f64, s as f64, (s - o) as f64 / one as f64));
        }
    }
    let error = |errors: &[(f64, f64, f64)]| {
        let of = |pick: fn(&(f64, f64, f64)) -> f64| mean(&errors.iter().map(pick).collect::<Vec<f64>>());
        PhaseError {
            observed_ms: of(|times| times.0).unwrap_or(0.0),
            replayed_ms: of(|times| times.1).unwrap_or(0.0),
            mean: of(|times| times.2.abs()).unwrap_or(0.0),
            mean_signed: of(|times| times.2).unwrap_or(0.0),
        }
    };
    SizeClass {
        size: by.in_words(),
        from,
        to,
        jobs: completion.len() as u64,
        completion: relative_error(&completion),
        phases: PHASES.into_iter().zip(by_phase.iter().map(|errors| error(errors))).collect(),
    }
}

/// When the tasks of a job started and ended.
#[derive(Debug, Clone, Copy)]
struct Span {
    first_start: i64,
    last_map: Option<i64>,
    last_task: Option<i64>,
}

/// The spans by row of the job. Maps and reduces count; of a job that has neither, all tasks.
fn spans(intervals: &[Interval], maps_count: bool) -> BTreeMap<usize, Span> {
    let of_kind = |is_of_kind: fn(TaskKind) -> bool| {
        let mut spans: BTreeMap<usize, Span> = BTreeMap::new();
        for attempt in intervals.iter().filter(|attempt| is_of_kind(attempt.kind)) {
            let start = attempt.start;
            let span = spans.entry(attempt.job).or_insert(Span { first_start: start, last_map: None, last_task: None });
            span.first_start = span.first_start.min(start);
            if attempt.succeeded {
                span.last_task = span.last_task.max(Some(attempt.finish));
                if maps_count && attempt.kind == TaskKind::Map {
                    span.last_map = span.last_map.max(Some(attempt.finish));
                }
            }
        }
        spans
    };
    let mut all = of_kind(|kind| kind == TaskKind::Other);
    all.extend(of_kind(|kind| matches!(kind, TaskKind::Map | TaskKind::Reduce)));
    all
}

fn phases(job: &JobMetrics, span: &Span) -> Option<Phases> {
    let (submit, finish) = (job.submit?, job.finish?);
    let maps = span.last_map.unwrap_or(span.first_start);
    let tasks = span.last_task.unwrap_or(finish).max(maps);
    Some(Phases([span.first_start - submit, maps - span.first_start, tasks - maps, finish - tasks]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::runs::origin::Origin;

    fn run(submit: i64, tasks: &[(TaskKind, i64, i64)], finish: i64) -> Run {
        let job = JobMetrics {
            job_id: "a".to_owned(),
            submit: Some(submit),
            finish: Some(finish),
            completion: Some(finish - submit),
            tasks_done: tasks.len() as u32,
            ..JobMetrics::default()
        };
        let interval =
            |&(kind, start, finish)| Interval { kind, start, finish, succeeded: true, ..Interval::default() };
        Run {
            label: String::new(),
            origin: Origin::Replay(Box::default()),
            skipped: BTreeMap::new(),
            jobs: vec![job].into(),
            intervals: tasks.iter().map(interval).collect(),
            nodes: Vec::new(),
            spread: std::collections::BTreeMap::new(),
            peaks: [0.0; 2],
            decisions: Vec::new(),
            resources: Vec::new(),
        }
    }

    fn signed(observed: &Run, replayed: &Run) -> [f64; 4] {
        let compared = [(observed.jobs.first().unwrap(), replayed.jobs.first().unwrap())];
        let classes = by_size(observed, replayed, &compared);
        assert_eq!(classes.iter().map(|class| class.jobs).collect::<Vec<_>>(), [1, 1], "in all, and in one size");
        PHASES.map(|phase| classes.first().unwrap().phases.get(phase).unwrap().mean_signed)
    }

    /// Observed: 20 to the first map, 50 of maps, 20 of reduces, 10 until the end. Replayed on another clock: 10, 60, 20, 0. The set-up
    /// task belongs to the launch.
    #[test]
    fn a_job_is_split_into_phases() {
        let (map, reduce) = (TaskKind::Map, TaskKind::Reduce);
        let observed =
            run(1_000, &[(TaskKind::Setup, 1_005, 1_015), (map, 1_020, 1_070), (reduce, 1_030, 1_090)], 1_100);
        let replayed = run(0, &[(map, 10, 70), (reduce, 20, 90)], 90);
        let found = signed(&observed, &replayed);
        let expected = [-0.1, 0.1, 0.0, -0.1];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
    }

    /// The replay of a production trace has tasks and no maps, so all tasks of both count as one phase.
    #[test]
    fn maps_that_the_replay_does_not_know_are_tasks() {
        let observed = run(0, &[(TaskKind::Map, 20, 50), (TaskKind::Reduce, 50, 100)], 100);
        let replayed = run(0, &[(TaskKind::Other, 20, 50), (TaskKind::Other, 50, 110)], 110);
        assert_eq!(signed(&observed, &replayed), [0.0, 0.0, 0.1, 0.0]);
    }
}
