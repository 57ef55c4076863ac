//! A replay in outline: of its jobs only what a summary and a comparison need, column by column.
//!
//! It takes some tens of bytes a job, where a [`Run`] takes some hundreds, and it keeps no attempt.

use std::borrow::Cow;
use std::path::Path;

use arrow_array::RecordBatch;
use fixedbitset::FixedBitSet;
use resched_tables::engine::RunEngine;
use resched_tables::model::{JobRow, Outcome};
use resched_tables::run::{Attempts, Names, RowSink, RunInfo};
use resched_tables::standing::Standing;
use resched_tables::store::columns::Row;

use crate::Error;
use crate::metrics::list::{JobMetrics, Known, Quantity};
use crate::metrics::summary::quantities;
use crate::runs::attempts::{Attempt, Sums, Where};
use crate::runs::compared::{Compared, Numbers};
use crate::runs::origin::Origin;
use crate::runs::peaks::Peaks;
use crate::runs::run::Run;
use crate::runs::standing::{repeated, standing};
use crate::runs::tables::shared;
use crate::runs::who::Who;

/// A replay in outline.
#[derive(Debug, Clone)]
pub struct Outline {
    info: Box<RunInfo>,
    jobs: Jobs,
    standings: Vec<Standing>,
    /// The rows of jobs that started here, but not in every run that is compared.
    not_started_in_all: FixedBitSet,
    peaks: [Peaks; 2],
}

/// The jobs, in the order of their table.
#[derive(Debug, Clone)]
struct Jobs {
    ids: Ids,
    outcomes: Vec<Outcome>,
    columns: Vec<(&'static Quantity, Values)>,
}

impl Default for Jobs {
    fn default() -> Self {
        let columns = quantities().into_iter().map(|quantity| (quantity, Values::default())).collect();
        Self { ids: Ids::default(), outcomes: Vec::new(), columns }
    }
}

impl Jobs {
    fn push(&mut self, id: &str, job: &JobMetrics) {
        self.ids.push(id);
        self.outcomes.push(job.outcome);
        for (quantity, values) in &mut self.columns {
            values.push((quantity.of)(job).unwrap_or(f64::NAN));
        }
    }

    fn numbers(&self, word: &str) -> Numbers<'_> {
        let column = self.columns.iter().find(|(quantity, _)| quantity.name == word);
        column.map_or(Numbers::Same(f64::NAN), |(_, values)| values.numbers())
    }

    /// The standing of each in a run that is described so.
    fn standings(&self, info: &RunInfo) -> Vec<Standing> {
        let (submit, finish) = (self.numbers("submit"), self.numbers("finish"));
        let of_row = |(row, outcome): (usize, &Outcome)| {
            let [submit, finish] = [&submit, &finish].map(|times| times.get(row).map(|time| time as i64));
            let job = JobMetrics { submit, finish, outcome: *outcome, ..JobMetrics::default() };
            standing(&job, info.window, info.engine == RunEngine::Batch)
        };
        let mut standings: Vec<Standing> = self.outcomes.iter().enumerate().map(of_row).collect();
        for row in repeated((0..self.ids.len()).map(|row| self.ids.get(row))) {
            if let Some(standing) = standings.get_mut(row) {
                *standing = Standing::RepeatedId;
            }
        }
        standings
    }
}

/// The ids of jobs, one after the other.
#[derive(Debug, Clone, Default)]
struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(row).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or_default()
    }
}

/// A number of each job. As long as all are one, it is kept once: the jobs of a batch system have no maps, and many have one task.
#[derive(Debug, Clone)]
enum Values {
    Same(f64, usize),
    Each(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Same(f64::NAN, 0)
    }
}

impl Values {
    fn push(&mut self, number: f64) {
        match self {
            Self::Same(_, 0) => *self = Self::Same(number, 1),
            Self::Same(same, count) if same.to_bits() == number.to_bits() => *count += 1,
            Self::Same(same, count) => {
                let mut each = vec![*same; *count];
                each.push(number);
                *self = Self::Each(each);
            }
            Self::Each(numbers) => numbers.push(number),
        }
    }

    fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::Same(number, _) => Numbers::Same(*number),
            Self::Each(numbers) => Numbers::Each(Cow::Borrowed(numbers)),
        }
    }
}

impl Outline {
    /// Opens the run in `dir`.
    ///
    /// # Errors
    /// As [`Run::open`]; [`Error::Trace`], if it is a trace.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let run = Run::open(dir)?;
        let Origin::Replay(info) = run.origin else {
            let problem = format!("{}: expected a run, found a trace", dir.display());
            return Err(Error::Trace(resched_tables::Error::Request(problem)));
        };
        let mut jobs = Jobs::default();
        run.jobs.iter().for_each(|job| jobs.push(&job.job_id, job));
        let mut peaks: [Peaks; 2] = Default::default();
        for (peaks, kind) in
            peaks.iter_mut().zip([resched_tables::model::TaskKind::Map, resched_tables::model::TaskKind::Reduce])
        {
            let of_kind = run.intervals.iter().filter(|interval| interval.kind == kind);
            of_kind.for_each(|interval| peaks.add(interval.start, interval.finish));
        }
        let not_started_in_all = FixedBitSet::new();
        Ok(Self { standings: jobs.standings(&info), not_started_in_all, info, jobs, peaks })
    }

    /// Makes the outline of a replay that was traced while it went on. `info` describes it.
    pub fn of_traced(info: RunInfo, traced: Traced) -> Self {
        let Traced { mut sums, jobs, .. } = traced;
        let standings = jobs.standings(&info);
        let not_started_in_all = FixedBitSet::new();
        Self { standings, not_started_in_all, info: Box::new(info), jobs, peaks: sums.take_peaks() }
    }
}

impl Compared for Outline {
    fn label(&self) -> &str {
        &self.info.label
    }

    fn replay(&self) -> Option<&RunInfo> {
        Some(&self.info)
    }

    fn count(&self) -> usize {
        self.standings.len()
    }

    fn job_id(&self, row: usize) -> &str {
        self.jobs.ids.get(row)
    }

    fn standing(&self, row: usize) -> Standing {
        self.standings.get(row).copied().unwrap_or(Standing::Absent)
    }

    fn is_among(&self, row: usize, who: Who) -> bool {
        let Some(&standing) = self.standings.get(row) else { return false };
        let waiting = match who {
            Who::Ended => None,
            Who::Started => self.jobs.numbers("waiting").get(row).map(|waiting| waiting as i64),
        };
        let not_started_in_all = self.not_started_in_all.contains(row);
        JobMetrics { standing, waiting, not_started_in_all, ..JobMetrics::default() }.is_among(who)
    }

    fn leave_out(&mut self, row: usize, who: Who) {
        match who {
            Who::Ended => self.standings.get_mut(row).into_iter().for_each(|standing| *standing = Standing::NotInAll),
            Who::Started => {
                self.not_started_in_all.grow(row + 1);
                self.not_started_in_all.insert(row);
            }
        }
    }

    fn numbers(&self, word: &str) -> Numbers<'_> {
        self.jobs.numbers(word)
    }

    fn ever_ran(&self, least: [u64; 2]) -> bool {
        self.peaks.iter().zip(least).any(|(peaks, least)| peaks.reach(least))
    }

    fn run(&self) -> Option<&Run> {
        None
    }
}

/// What [`Outline`] needs of a replay, traced while it goes on.
#[derive(Debug)]
pub struct Traced {
    sums: Sums,
    jobs: Jobs,
    /// True if all attempts are there.
    is_closed: bool,
}

impl Default for Traced {
    fn default() -> Self {
        Self { sums: Sums::in_outline(), jobs: Jobs::default(), is_closed: false }
    }
}

impl RowSink for Traced {
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), resched_tables::Error> {
        rows.rows().for_each(|row| self.sums.add(row.job, &Attempt::of_replay(&row, names), |_| Where::Unknown));
        Ok(())
    }

    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), resched_tables::Error> {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.sums.close();
        }
        let columns = JobRow::read(rows);
        let mut job = JobMetrics::default();
        for (row, number) in (0..rows.num_rows()).zip(self.jobs.ids.len()..) {
            let row = JobRow::view(&columns, row);
            (job.submit, job.eligible) = (row.submit, row.eligible);
            (job.finish, job.outcome) = (row.finish, row.outcome);
            job.framework = shared(job.framework.take(), row.framework);
            let attempts = self.sums.of_job(u32::try_from(number).unwrap_or(u32::MAX));
            job.compute(&Known { attempts: &attempts, launch: row.launch });
            self.jobs.push(row.job_id, &job);
        }
        Ok(())
    }
}
