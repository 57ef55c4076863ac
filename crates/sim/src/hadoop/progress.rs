//! The progress of a running attempt, as its node reports it (`docs/model/phases.md`).

use crate::hadoop::contention::Stage;
use crate::hadoop::kind::Kind;
use crate::hadoop::world::{Health, World};
use crate::ids::{AttemptId, Ms};

/// A part of an attempt's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A map reads its input.
    Map,
    /// A reduce fetches the output of the maps.
    Copy,
    /// A reduce sorts that output.
    Sort,
    /// A reduce reduces that output.
    Reduce,
}

/// The progress of an attempt at its node's latest heartbeat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The part of its work that it was doing.
    pub part: Part,
    /// The share of that part that was done, from 0 to 1.
    pub fraction: f64,
    /// The time of that heartbeat, ms; no earlier than the attempt's start.
    pub at: Ms,
}

impl Progress {
    pub(crate) fn of(world: &World<'_>, id: AttemptId) -> Self {
        let run = &world.runs[id.index()];
        // A node that is silent said nothing since.
        let until = match world.nodes[run.node.index()].health {
            Health::Silent(since) => since.min(world.now + 1),
            Health::Up | Health::Lost => world.now + 1,
        };
        let at = world.beats.last_before(run.node, until).max(run.start);
        if let Some((part, fraction)) = Self::at_work(world, id, at) {
            return Self { part, fraction, at };
        }
        let share = |from: Ms, to: Ms| if to > from { ((at - from) as f64 / (to - from) as f64).min(1.0) } else { 1.0 };
        let (part, fraction) = match (run.kind, run.shuffle_finish) {
            (Kind::Map, _) => (Part::Map, share(run.start, run.start + run.course.run)),
            // While maps run, as much as they have made has been fetched.
            (Kind::Reduce, None) => {
                let maps = world.workload.job(run.job).count(Kind::Map).max(1);
                (Part::Copy, f64::from(world.jobs[run.job.index()].finished[0]) / f64::from(maps))
            }
            (Kind::Reduce, Some(shuffled)) => {
                let computes = run.compute.unwrap_or(shuffled);
                let sorted = computes + run.course.sort;
                if at < shuffled {
                    (Part::Copy, share(run.start, shuffled))
                } else if at < sorted {
                    (Part::Sort, share(computes, sorted).max(0.0))
                } else {
                    (Part::Reduce, share(sorted, sorted + run.course.run))
                }
            }
        };
        let fraction = if at <= run.start { 0.0 } else { fraction };
        Self { part, fraction, at }
    }

    /// The same under the model `contention`.
    fn at_work(world: &World<'_>, id: AttemptId, at: Ms) -> Option<(Part, f64)> {
        let run = &world.runs[id.index()];
        let (stage, share) = world.bench.as_ref()?.progress(id, at)?;
        Some(match stage {
            Stage::Launch if run.kind == Kind::Map => (Part::Map, 0.0),
            Stage::Launch => (Part::Copy, 0.0),
            Stage::Map => (Part::Map, share),
            Stage::Fetch => {
                let maps = world.workload.job(run.job).count(Kind::Map).max(1);
                (Part::Copy, share * f64::from(world.jobs[run.job.index()].finished[0]) / f64::from(maps))
            }
            Stage::Compute if run.shuffle_finish.is_some_and(|fetched| at < fetched) => (Part::Copy, 1.0),
            Stage::Compute => {
                let (sort, reduce) = (run.course.sort as f64, run.course.run as f64);
                let done = share * (sort + reduce);
                if done < sort {
                    (Part::Sort, done / sort)
                } else {
                    (Part::Reduce, ((done - sort) / reduce.max(1.0)).min(1.0))
                }
            }
        })
    }
}
