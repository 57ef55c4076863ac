//! The tables of a replay or of a trace, ready for metrics.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use resched_tables::model::{DecisionRow, JobRow, ResourceRow, TaskKind};
use resched_tables::run::{Attempts, Names, Optional, RowSink, RunInfo, RunTables};
use resched_tables::store::columns::Row;

use crate::Error;
use crate::runs::attempts::{Attempt, Spread, Where};
use crate::runs::jobs::{JobList, JobMetrics, job_metrics};
use crate::runs::nodes::Nodes;
use crate::runs::origin::{Origin, nothing_observed};
use crate::runs::peaks::most_open;
use crate::runs::spans::{Interval, NodeNumber};
use crate::runs::standing::set_standings;
use crate::runs::tables::{Tables, decisions, resources};
use crate::runs::who::Who;

/// A run with its jobs' metrics.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its label: the policy with its parameters, or `observed`.
    pub label: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The number of values that could not be used, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// The metrics of its jobs, in the order of the jobs table.
    pub jobs: JobList,
    /// Its attempts over time; their `job` is an index of `jobs`.
    pub intervals: Vec<Interval>,
    /// The names of the nodes that ran its attempts, in the order in which they first appear in the table of attempts.
    pub nodes: Vec<String>,
    /// The nodes of the attempts that ran on several, with the instances on each, by their places in `intervals`.
    pub spread: Spread,
    /// The most maps, and the most reduces, that ran at once.
    pub peaks: [f64; 2],
    /// The decisions that its policy reported, in order; empty if the run was not asked to keep them.
    pub decisions: Vec<DecisionRow>,
    /// The resources that its nodes used, in order of time; empty except under the cost model `contention`.
    pub resources: Vec<ResourceRow>,
}

impl Run {
    /// Opens the run or trace in `dir` and computes the metrics of its jobs.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is neither or it is damaged.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let origin = Origin::of(dir)?;
        let label = match &origin {
            Origin::Replay(info) => info.label.clone(),
            Origin::Observed(_) => "observed".to_owned(),
        };
        let tables = Tables::load(dir, &origin)?;
        let (decisions, resources) = (decisions(dir, &origin)?, resources(dir, &origin)?);
        Ok(Self::of(label, origin, tables, (decisions, resources)))
    }

    /// Checks that there are attempts, and that they took place ([`Origin::check_observed`]).
    ///
    /// # Errors
    /// [`Error::Trace`], a wrong request, if not; `dir` is the folder it was opened from.
    pub fn check_observed(&self, dir: &Path) -> Result<(), Error> {
        self.origin.check_observed(dir)?;
        if self.intervals.is_empty() { Err(nothing_observed(dir, "none has a start and a finish")) } else { Ok(()) }
    }

    /// Makes a run of a replay that is kept in memory. `info` describes it.
    pub fn of_rows(info: RunInfo, rows: RunTables) -> Self {
        let tables = Tables::of_rows(&rows.jobs, &rows.attempts);
        Self::of(info.label.clone(), Origin::Replay(Box::new(info)), tables, (rows.decisions, rows.resources))
    }

    /// Makes a run of a replay whose rows were gathered while it went on. `info` describes it.
    pub fn of_gathered(info: RunInfo, gathered: Gathered) -> Self {
        let Gathered { tables, decisions, resources } = gathered;
        Self::of(info.label.clone(), Origin::Replay(Box::new(info)), tables, (decisions, resources))
    }

    fn of(
        label: String,
        origin: Origin,
        tables: Tables,
        (decisions, resources): (Vec<DecisionRow>, Vec<ResourceRow>),
    ) -> Self {
        let Tables { jobs, mut sums, skipped } = tables;
        let nodes = std::mem::take(&mut sums.nodes).into_names();
        let spread = sums.take_spread();
        let (jobs, intervals) = job_metrics(jobs, sums);
        let jobs = JobList::from(judged(jobs, &origin));
        Self { label, origin, jobs, peaks: peaks(&intervals), intervals, nodes, spread, decisions, resources, skipped }
    }

    /// The description of the replay; `None` for a trace.
    pub fn replay(&self) -> Option<&RunInfo> {
        match &self.origin {
            Origin::Replay(info) => Some(info),
            Origin::Observed(_) => None,
        }
    }

    /// The run without decisions and the use of its nodes, which no metric needs and which may take most of the memory.
    #[must_use]
    pub fn without_decisions(self) -> Self {
        Self { decisions: Vec::new(), resources: Vec::new(), ..self }
    }

    /// The jobs that count: means, tables and figures are over these ([`crate::runs::population`]).
    pub fn finished_jobs(&self) -> impl Iterator<Item = &JobMetrics> {
        self.jobs.counting()
    }

    /// The jobs that numbers over these cover ([`Who`]).
    pub fn jobs_among(&self, who: Who) -> impl Iterator<Item = &JobMetrics> {
        self.jobs.iter().filter(move |job| job.is_among(who))
    }

    /// The attempts of the jobs that count on each of their nodes: the attempt, the place of the node in `nodes`, and the share of its
    /// instances there. Those on unknown nodes are left out.
    pub fn counted_on_nodes(&self) -> impl Iterator<Item = (&Interval, usize, f64)> {
        let counted = self.intervals.iter().enumerate().filter(|(_, interval)| self.jobs.counts(interval.job));
        counted.flat_map(|(place, interval)| {
            let several = self.spread.get(&place).map_or(&[][..], |places| &**places);
            let all: f64 = several.iter().map(|(_, instances)| f64::from(*instances)).sum();
            let share =
                move |(node, instances): &(NodeNumber, u32)| (interval, node.place(), f64::from(*instances) / all);
            interval.node.map(|node| (interval, node.place(), 1.0)).into_iter().chain(several.iter().map(share))
        })
    }

    /// The attempts of the jobs that count.
    pub fn counted_intervals(&self) -> impl Iterator<Item = &Interval> {
        self.jobs.attempts_that_count(&self.intervals)
    }
}

/// What [`Run`] needs of a replay, gathered while it goes on. It keeps no row of an attempt.
#[derive(Debug, Default)]
pub struct Gathered {
    tables: Tables,
    decisions: Vec<DecisionRow>,
    resources: Vec<ResourceRow>,
}

impl RowSink for Gathered {
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), resched_tables::Error> {
        for (place, row) in rows.rows().enumerate() {
            let node = |nodes: &mut Nodes| {
                let mut number = |node: u32| nodes.number_of(node, || names.node(node).0);
                if let Some(node) = row.node {
                    return number(node).map_or(Where::Unknown, Where::One);
                }
                let places = rows.places(place).iter().map(|&(node, instances)| Some((number(node)?, instances)));
                let places: Vec<_> = places.flatten().collect();
                if places.is_empty() { Where::Unknown } else { Where::Several(places.into()) }
            };
            self.tables.sums.add(row.job, &Attempt::of_replay(&row, names), node);
        }
        Ok(())
    }

    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), resched_tables::Error> {
        let columns = JobRow::read(rows);
        (0..rows.num_rows()).for_each(|row| self.tables.jobs.push(&JobRow::view(&columns, row), &mut 0));
        Ok(())
    }

    fn keeps(&self, table: Optional) -> bool {
        matches!(table, Optional::Decisions | Optional::Resources)
    }

    fn keeps_places(&self) -> bool {
        true
    }

    fn decision(&mut self, row: &DecisionRow) -> Result<(), resched_tables::Error> {
        self.decisions.push(row.clone());
        Ok(())
    }

    fn resource(&mut self, row: &ResourceRow) -> Result<(), resched_tables::Error> {
        self.resources.push(row.clone());
        Ok(())
    }
}

/// The most maps, and the most reduces, that ran at once.
pub(crate) fn peaks(intervals: &[Interval]) -> [f64; 2] {
    [TaskKind::Map, TaskKind::Reduce].map(|kind| {
        let of_kind = intervals.iter().filter(|interval| interval.kind == kind);
        let (starts, finishes) = of_kind.map(|interval| (interval.start, interval.finish)).unzip();
        most_open(starts, finishes)
    })
}

/// These jobs with their standing in the run of that origin.
fn judged(mut jobs: Vec<JobMetrics>, origin: &Origin) -> Vec<JobMetrics> {
    set_standings(&mut jobs, origin, origin.window());
    jobs
}
