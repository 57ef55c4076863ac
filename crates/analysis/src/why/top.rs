//! The jobs that waited longest, and the jobs that made others wait most.

use std::collections::BTreeMap;

use resched_tables::store::System;
use serde::Serialize;

use super::blame::{Divided, Holder, Kind, Ledger};
use super::held::{Held, Why};
use super::phase::Phase;
use super::timeline::{Scope, stretches};

/// The jobs that waited longest, and those that made others wait most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Top {
    /// The label of the run.
    pub run: String,
    /// As [`Why::system`].
    #[serde(skip)]
    pub system: System,
    /// How many jobs there are whose completion time is known.
    pub jobs: u64,
    /// As [`Why::has_reasons`].
    pub has_reasons: bool,
    /// The jobs that waited longest, the longest wait first.
    pub waited: Vec<Waited>,
    /// The jobs that made others wait most, the most first.
    pub made_wait: Vec<Culprit>,
}

/// A job that waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waited {
    /// Its id.
    pub job_id: String,
    /// Who submitted it.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// Its completion time, ms.
    pub completion_ms: i64,
    /// How long it waited while nothing of it ran, ms.
    pub waited_ms: i64,
    /// How long some of its tasks waited while others ran, ms.
    pub while_running_ms: i64,
    /// The phase in which it waited longest while nothing of it ran, or, if it always ran, while others ran.
    pub phase: Option<Phase>,
}

/// A job that made others wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// Its id.
    pub job_id: String,
    /// Who submitted it.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// How long others waited for what it held while nothing of them ran, ms; rounded down.
    pub waited_ms: i64,
    /// How long tasks of others waited for what it held while some of these jobs ran, ms; rounded down.
    pub while_running_ms: i64,
}

/// A row of both lists as CSV.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopRow {
    /// `waited` or `made-wait`.
    pub list: &'static str,
    /// The id of the job.
    pub job_id: String,
    /// Who submitted it.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// As in the list.
    pub waited_ms: i64,
    /// As in the list.
    pub while_running_ms: i64,
    /// The phase in which it waited longest.
    pub phase: Option<Phase>,
}

impl Top {
    /// The rows of both lists as CSV.
    pub fn csv_rows(&self) -> Vec<TopRow> {
        let waited = self.waited.iter().cloned().map(|job| TopRow {
            list: "waited",
            job_id: job.job_id,
            user: job.user,
            queue: job.queue,
            waited_ms: job.waited_ms,
            while_running_ms: job.while_running_ms,
            phase: job.phase,
        });
        let made_wait = self.made_wait.iter().cloned().map(|job| TopRow {
            list: "made-wait",
            job_id: job.job_id,
            user: job.user,
            queue: job.queue,
            waited_ms: job.waited_ms,
            while_running_ms: job.while_running_ms,
            phase: None,
        });
        waited.chain(made_wait).collect()
    }
}

impl Why {
    /// The jobs that waited longest and those that made others wait most, up to `most` of each. Equal ones stand in the order of the
    /// table of jobs.
    pub fn top(&self, most: usize) -> Top {
        let (mut all, mut changes) = (Ledger::new(self), Vec::new());
        let mut waits: Vec<(usize, [i64; 2])> = Vec::new();
        let mut held_alone = Own::default();
        for row in self.complete() {
            let mut ledger = Ledger::new(self);
            let mut waited = [0; 2];
            stretches(self, row, &mut changes, &mut |stretch| {
                all.add(&stretch);
                ledger.add(&stretch);
                if stretch.phase.is_wait() {
                    waited[usize::from(stretch.partly)] += stretch.to - stretch.from;
                }
            });
            waits.push((row, waited));
            // What a job held while it waited itself delays no other.
            ledger.settle();
            held_alone.add(&ledger, self.attempts_of(row));
        }
        all.settle();
        let jobs = waits.len() as u64;
        waits.sort_by_key(|&(row, [waited, partly])| (std::cmp::Reverse((waited, partly)), row));
        waits.truncate(most);
        waits.retain(|(_, waited)| *waited != [0; 2]);
        let waited = waits.into_iter().filter_map(|(row, waited)| self.waited(row, waited)).collect();
        let made_wait = self.culprits(&all, &held_alone, most);
        Top { run: self.label.clone(), system: self.system, jobs, has_reasons: self.has_reasons, waited, made_wait }
    }

    fn waited(&self, row: usize, [waited_ms, while_running_ms]: [i64; 2]) -> Option<Waited> {
        let job = self.jobs.get(row)?;
        let mut by_phase: BTreeMap<(bool, Phase), i64> = BTreeMap::new();
        stretches(self, row, &mut Vec::new(), &mut |stretch| {
            if stretch.phase.is_wait() {
                *by_phase.entry((!stretch.partly, stretch.phase)).or_default() += stretch.to - stretch.from;
            }
        });
        let longest = by_phase.into_iter().max_by_key(|&((whole, phase), ms)| (whole, ms, std::cmp::Reverse(phase)));
        Some(Waited {
            job_id: job.job_id.clone(),
            user: job.user.as_deref().map(str::to_owned),
            queue: job.queue.as_deref().map(str::to_owned),
            completion_ms: self.completion(row)?,
            waited_ms,
            while_running_ms,
            phase: longest.map(|((_, phase), _)| phase),
        })
    }

    fn culprits(&self, all: &Ledger<'_>, alone: &Own, most: usize) -> Vec<Culprit> {
        let mut caused = vec![[0i64; 2]; self.jobs.len()];
        let mut blame = |row: usize, partly: bool, ms: i64| {
            if let Some(caused) = caused.get_mut(row) {
                caused[usize::from(partly)] += ms;
            }
        };
        for (kind, holder, ms) in all.whole() {
            if let Holder::Job(row) = holder {
                blame(row, kind.partly, ms);
            }
        }
        for (Divided { kind, scope, total, resource }, held) in all.divided().zip(all.held_by(&self.attempts)) {
            let sum = held.iter().fold(0u128, |sum, holder| sum.saturating_add(holder.1));
            let whole = all.all_of(resource, total).unwrap_or(0).max(sum).max(1);
            let mut held_alone = alone.held.get(&(kind, scope)).into_iter().flatten().peekable();
            for (job, amount) in held {
                let alone = held_alone.next_if(|alone| alone.0 == job).map_or(0, |alone| alone.1);
                // A ratio of sums: their products would not fit in whole numbers.
                let part = amount.saturating_sub(alone) as f64 / whole as f64 * total as f64;
                blame(job as usize, kind.partly, part as i64);
            }
        }
        let mut rows: Vec<(usize, [i64; 2])> = caused.into_iter().enumerate().filter(|job| job.1 != [0; 2]).collect();
        rows.sort_by_key(|&(row, [waited, partly])| (std::cmp::Reverse((waited, partly)), row));
        rows.truncate(most);
        let culprit = |(row, [waited_ms, while_running_ms]): (usize, [i64; 2])| {
            let job = self.jobs.get(row)?;
            Some(Culprit {
                job_id: job.job_id.clone(),
                user: job.user.as_deref().map(str::to_owned),
                queue: job.queue.as_deref().map(str::to_owned),
                waited_ms,
                while_running_ms,
            })
        };
        rows.into_iter().filter_map(culprit).collect()
    }
}

/// What each job held while it waited itself, by wait, in the order of jobs.
#[derive(Default)]
struct Own {
    held: BTreeMap<(Kind, Scope), Vec<(u32, u128)>>,
}

impl Own {
    fn add(&mut self, of_job: &Ledger<'_>, attempts: &[Held]) {
        for (Divided { kind, scope, .. }, held) in of_job.divided().zip(of_job.held_by(attempts)) {
            if !held.is_empty() {
                self.held.entry((kind, scope)).or_default().extend(held);
            }
        }
    }
}
