//! The error of completion times by phase and by size of the job, so that you see what the model lacks.

use std::collections::BTreeMap;

use resched_trace::model::TaskKind;
use serde::Serialize;

use super::{Compared, RelativeError, relative_error, signed_error};
use crate::distribution::mean;
use crate::intervals::Interval;
use crate::jobs::JobMetrics;
use crate::run::Run;

/// The phases of a job; together they are its completion time.
pub const PHASES: [&str; 4] = ["launch", "map", "reduce", "end"];

/// The upper bounds of the size classes, in tasks.
const BOUNDS: [u64; 3] = [10, 100, 1_000];

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
    /// Its jobs have at least this many tasks.
    pub tasks_from: u64,
    /// Its jobs have at most this many tasks; null in the last class.
    pub tasks_to: Option<u64>,
    /// How many jobs were compared.
    pub jobs: u64,
    /// The error of their completion times.
    pub completion: Option<RelativeError>,
    /// The error of each of [`PHASES`].
    pub phases: BTreeMap<&'static str, PhaseError>,
}

/// How long a job spent in each of [`PHASES`], ms: from its submission to the first start of a task, to the end of its last map, to
/// the end of its last task, and to its own end. Without maps, all of its tasks count as the third. Set-up and clean-up tasks
/// belong to the first and the last phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phases([i64; 4]);

/// The errors of these jobs in all, then by size.
pub(super) fn by_size(observed: &Run, replayed: &Run, compared: &[Compared]) -> Vec<SizeClass> {
    let rows = |run: &Run| -> BTreeMap<String, Phases> {
        let spans = spans(&run.intervals);
        let jobs = run.jobs.iter().enumerate();
        jobs.filter_map(|(row, job)| Some((job.job_id.clone(), phases(job, spans.get(&row)?)?))).collect()
    };
    let (real, simulated) = (rows(observed), rows(replayed));
    let all: Vec<(&Compared, Phases, Phases)> = compared
        .iter()
        .filter_map(|pair| Some((pair, *real.get(&pair.0.job_id)?, *simulated.get(&pair.0.job_id)?)))
        .collect();
    let lower = std::iter::once(1).chain(BOUNDS.map(|bound| bound + 1));
    let upper = BOUNDS.into_iter().map(Some).chain([None]);
    std::iter::once((1, None))
        .chain(lower.zip(upper))
        .map(|(from, to)| {
            let inside = |tasks: u64| tasks.max(1) >= from && to.is_none_or(|to| tasks <= to);
            class(from, to, all.iter().filter(|own| inside(own.0.0.tasks_done)))
        })
        .filter(|class| class.jobs > 0)
        .collect()
}

fn class<'a>(
    tasks_from: u64,
    tasks_to: Option<u64>,
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
            observed_ms: of(|own| own.0).unwrap_or(0.0),
            replayed_ms: of(|own| own.1).unwrap_or(0.0),
            mean: of(|own| own.2.abs()).unwrap_or(0.0),
            mean_signed: of(|own| own.2).unwrap_or(0.0),
        }
    };
    SizeClass {
        tasks_from,
        tasks_to,
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
fn spans(intervals: &[Interval]) -> BTreeMap<usize, Span> {
    let of_kind = |own: fn(TaskKind) -> bool| {
        let mut spans: BTreeMap<usize, Span> = BTreeMap::new();
        for attempt in intervals.iter().filter(|attempt| own(attempt.kind)) {
            let start = attempt.start;
            let span = spans.entry(attempt.job).or_insert(Span { first_start: start, last_map: None, last_task: None });
            span.first_start = span.first_start.min(start);
            if attempt.succeeded {
                span.last_task = span.last_task.max(Some(attempt.finish));
                if attempt.kind == TaskKind::Map {
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
