//! The rows of the lists of a cluster, sorted until the last list ends: only then is it known how jobs lay on their nodes, and which rows
//! are tries of one job.
//!
//! ```text
//! rows ──▶ by id ──▶ join.rs: one job of its rows ──┬──▶ by submission ──────────────────▶ record.rs
//!                                                   └──▶ tries by start ──▶ machines.rs ─────▲
//! ```
//!
//! Each arrow is a [`Sorter`], which holds a part in memory and the rest on the disk. So the memory does not grow with the list.

use std::collections::BTreeSet;

use resched_tables::Error;
use resched_tables::sink::Sink;

use super::id::{Id, Part};
use super::job::Job;
use super::row::Row;
use super::submit_line;
use super::waits::Waits;
use crate::formats::tables::{Fact, Key};
use crate::sorted::Sorter;

/// The rows of lists.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// The rows by the id of their job, and before those of a number how many tasks of its array may run at once.
    pub(super) by_id: Option<Sorter>,
    /// What the jobs wait for.
    pub(super) waits: Waits,
    /// The last limit of an array that was noted: its number, and of how many tasks.
    last_limit: Option<(u64, u32)>,
    /// When the backfill scheduler started a job first, ms.
    pub(super) first_backfill: Option<i64>,
    /// The newest version of Slurm that a list shows, with its numbers.
    version: Option<(Vec<u32>, String)>,
    /// How many rows were taken.
    pub(super) rows: u64,
    /// The clusters of the rows, at most [`MOST_CLUSTERS`].
    pub(super) clusters: BTreeSet<String>,
    /// Rows of other clusters than the one that was asked for.
    pub(super) of_others: u64,
    /// The row that is taken.
    bytes: Vec<u8>,
}

/// Further clusters are not named.
const MOST_CLUSTERS: usize = 100;

/// The first byte of a row among the rows of a job.
pub(super) const ROW: u8 = 1;
/// The first byte of a limit of an array: four bytes follow.
pub(super) const LIMIT: u8 = 0;

impl Jobs {
    /// No rows yet, and jobs that wait for at most so many ends.
    #[cfg(test)]
    pub(super) fn up_to(ends: usize) -> Self {
        Self { waits: Waits::up_to(ends), ..Self::default() }
    }

    /// Notes the version of Slurm that wrote a list.
    pub(super) fn note_version(&mut self, version: &str) {
        let numbers: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
        if !numbers.is_empty() && self.version.as_ref().is_none_or(|(known, _)| *known < numbers) {
            self.version = Some((numbers, version.to_owned()));
        }
    }

    /// The newest version of Slurm that a list shows.
    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_ref().map(|(_, version)| version.as_str())
    }

    /// Takes a row.
    ///
    /// # Errors
    /// [`Error::Io`] if it has to go to the disk, and cannot.
    pub(super) fn take(&mut self, row: &Row<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        self.rows += 1;
        if !row.cluster.is_empty() && !self.clusters.contains(row.cluster) && self.clusters.len() < MOST_CLUSTERS {
            self.clusters.insert(row.cluster.to_owned());
        }
        if sink.cluster_name().is_some_and(|wanted| !row.cluster.is_empty() && wanted != row.cluster) {
            self.of_others += 1;
            return Ok(());
        }
        let started = row.times.start.filter(|_| row.by_backfill && row.ran());
        self.first_backfill = self.first_backfill.into_iter().chain(started).min();
        let line = submit_line::parse(row.submit_line);
        let by_id = self.by_id.get_or_insert_with(|| Sorter::new(sink.room()));
        let is_of_array = matches!(row.id.part, Part::Task(_) | Part::Pending);
        if let Some(limit) = row.array_limit.or(line.array_limit).filter(|_| is_of_array)
            && self.last_limit.replace((row.id.number, limit)) != Some((row.id.number, limit))
        {
            let value = [LIMIT].into_iter().chain(limit.to_le_bytes()).collect::<Vec<u8>>();
            by_id.push(&Fact { job: Key::Number(row.id.number), task: Key::None, time: i64::MIN, value: &value })?;
        }
        let mut gres = String::new();
        let job = Job::of(row, &line, &mut gres);
        self.waits.ask(&job);
        self.bytes.clear();
        self.bytes.push(ROW);
        job.write(&mut self.bytes);
        let (job, mut part) = (Key::Number(row.id.number), String::new());
        by_id.push(&Fact { job, task: key_of(row.id, &mut part), time: row.times.submit, value: &self.bytes })
    }
}

/// What sorts the parts of what was submitted under a number: tasks without an id come first, as their rows tell which tasks to look
/// out for; the others as [`Part`] has them.
fn key_of(id: Id, text: &mut String) -> Key<'_> {
    match id.part {
        Part::Pending => Key::None,
        Part::Whole => Key::Number(0),
        // No task has the largest number.
        Part::Task(task) => Key::Number(task.saturating_add(1)),
        Part::Component(component) => {
            *text = format!("{component:020}");
            Key::Text(text)
        }
    }
}
