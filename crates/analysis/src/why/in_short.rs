//! Each job in short: its time by phase, its phases in the order of time, and who is to blame for its waits.

use super::blame::Ledger;
use super::by::By;
use super::held::Why;
use super::phase::Phase;
use super::timeline::{Stretch, stretches};
use super::usage::{Shares, Usage};

/// Into how many parts the time of a job is divided to show its phases in their order.
pub const PARTS: i64 = 240;

/// Why a job took its time, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InShort {
    /// The row of the job in [`Why::jobs`].
    pub row: usize,
    /// How long it was in each phase, ms, in the order of [`Phase::ALL`]. They add up to its completion time.
    pub phases: [i64; Phase::ALL.len()],
    /// Its phases in the order of time, each with how many of the [`PARTS`] of its completion time it takes. A part belongs to the phase
    /// in which the job is for most of it. A job that took less than so many ms has a part for each ms.
    pub track: Vec<(Phase, u16)>,
    /// Which jobs are to blame for its waits, with or without tasks of it that ran meanwhile.
    pub jobs: Shares,
    /// Which users; `None` if there is one.
    pub users: Option<Shares>,
    /// Which queues or pools; `None` if there is one.
    pub queues: Option<Shares>,
}

impl Why {
    /// Explains the jobs in these rows.
    pub fn in_short<R>(&self, rows: R) -> impl Iterator<Item = InShort>
    where
        R: IntoIterator<Item = usize>,
    {
        let (mut usage, mut changes, mut of_job) = (Usage::new(self), Vec::new(), Vec::new());
        rows.into_iter().map(move |row| {
            let mut ledger = Ledger::new(self);
            of_job.clear();
            stretches(self, row, &mut changes, &mut |stretch| {
                // Of other time, nobody is to blame.
                if stretch.phase.is_wait() {
                    ledger.add(&stretch);
                }
                of_job.push(stretch);
            });
            ledger.settle();
            let mut several = |by| self.has_several(by).then(|| usage.shares(&ledger, by));
            let (users, queues) = (several(By::User), several(By::Queue));
            let jobs = usage.shares(&ledger, By::Job);
            InShort { row, phases: by_phase(&of_job), track: track(&of_job), jobs, users, queues }
        })
    }
}

/// The time in each phase.
pub(super) fn by_phase(stretches: &[Stretch]) -> [i64; Phase::ALL.len()] {
    let mut phases = [0; Phase::ALL.len()];
    for stretch in stretches {
        if let Some(sum) = phases.get_mut(stretch.phase as usize) {
            *sum += stretch.to - stretch.from;
        }
    }
    phases
}

/// The phases in the order of time, in equal parts.
fn track(stretches: &[Stretch]) -> Vec<(Phase, u16)> {
    let (Some(begin), Some(end)) =
        (stretches.first().map(|stretch| stretch.from), stretches.last().map(|stretch| stretch.to))
    else {
        return Vec::new();
    };
    let parts = PARTS.min(end - begin);
    if let [only] = stretches {
        return vec![(only.phase, parts as u16)];
    }
    let [whole, wide] = [end - begin, parts].map(i128::from);
    let edge = |part: i64| begin + (whole * i128::from(part) / wide) as i64;
    // How many parts end by a time.
    let ended = |at: i64| (((i128::from(at - begin) + 1) * wide - 1) / whole) as i64;
    let mut track: Vec<(Phase, u16)> = Vec::new();
    let (mut rest, mut part) = (stretches, 0);
    while part < parts {
        let (from, to) = (edge(part), edge(part + 1));
        while let Some((_, later)) = rest.split_first().filter(|(stretch, _)| stretch.to <= from) {
            rest = later;
        }
        let Some(first) = rest.first() else { break };
        // All parts within a stretch are in its phase.
        let (phase, next) = match first.to >= to {
            true => (first.phase, ended(first.to).clamp(part + 1, parts)),
            false => (longest(rest, from, to), part + 1),
        };
        let n = (next - part) as u16;
        match track.last_mut().filter(|last| last.0 == phase) {
            Some(last) => last.1 += n,
            None => track.push((phase, n)),
        }
        part = next;
    }
    track
}

/// The phase that takes most of the time from `from` to `to`; of equal ones the first in their order. No stretch ends before `from`.
fn longest(stretches: &[Stretch], from: i64, to: i64) -> Phase {
    let mut times = [0; Phase::ALL.len()];
    for stretch in stretches.iter().take_while(|stretch| stretch.from < to) {
        if let Some(time) = times.get_mut(stretch.phase as usize) {
            *time += stretch.to.min(to) - stretch.from.max(from);
        }
    }
    let most = Phase::ALL.into_iter().zip(times).max_by_key(|&(phase, time)| (time, std::cmp::Reverse(phase)));
    most.map_or(Phase::ALL[0], |(phase, _)| phase)
}
