//! The results of all cells of a sweep, with nothing missing.

use std::path::Path;

use resched_analysis::statistics::estimate::Estimate;
use resched_replay::Threads;
use resched_tables::validity::{Fact, Validity};

use crate::Error;
use crate::cell_store::CellStore;
use crate::file::SweepFile;
use crate::idle::without_effect;
use crate::logs;
use crate::plan::Plan;
use crate::results::CellResult;
use crate::sign::{self, untested_sweep};
use crate::statistics::{Group, groups, numbered, ranking, validity};

/// The largest number of cells that a message names.
const MOST_NAMED: usize = 3;

/// All results of a sweep.
#[derive(Debug)]
pub struct Merged {
    /// The plan.
    pub plan: Plan,
    /// The sweep file.
    pub file: SweepFile,
    /// The results, in the order of the plan.
    pub(crate) results: Vec<Option<CellResult>>,
    /// What the test of the sign found; empty if there is nothing to compare.
    pub(crate) signs: Vec<Fact>,
}

impl Merged {
    /// Reads the results of every cell.
    ///
    /// # Errors
    /// [`Error::Work`], with the missing cells, if there are any; [`Error::Damaged`].
    pub fn read(plan: Plan, store: &CellStore) -> Result<Self, Error> {
        let file = plan.sweep()?;
        let mut results = store.get_all(&plan.cells.iter().collect::<Vec<_>>())?;
        let missing: Vec<usize> =
            (0..results.len()).filter(|&place| results.get(place).is_some_and(Option::is_none)).collect();
        if !missing.is_empty() {
            let named: Vec<String> = missing.iter().take(MOST_NAMED).map(usize::to_string).collect();
            return Err(Error::Work(format!(
                "{}: {} of {} cells are missing (number {}{}); run the sweep again; it makes only these",
                store.shown(),
                missing.len(),
                results.len(),
                named.join(", "),
                if missing.len() > MOST_NAMED { ", …" } else { "" },
            )));
        }
        let logs = logs::facts(&plan, &file);
        for (cell, result) in plan.cells.iter().zip(&mut results) {
            let Some(result) = result else { continue };
            let of_place = logs.iter().filter(|(place, _)| *place == (cell.source, cell.cluster));
            of_place.for_each(|(_, fact)| result.validity.add(fact.clone()));
        }
        let mut merged = Self { plan, file, results, signs: Vec::new() };
        merged.signs = if merged.groups().len() > 1 { vec![untested_sweep()] } else { Vec::new() };
        Ok(merged)
    }

    /// The same with a test of the sign, if the sweep asks for one. It replays the settings in variants of their worlds, so it needs the
    /// sources.
    ///
    /// # Errors
    /// If a source or a cluster file has changed since the plan, or a replay fails.
    pub fn tested(mut self, threads: Threads) -> Result<Self, Error> {
        self.signs = sign::facts(&self.plan, &self.groups(), self.file.robust, threads)?;
        Ok(self)
    }

    /// The groups of cells that differ only in their seed.
    pub fn groups(&self) -> Vec<Group<'_>> {
        groups(&self.plan, &self.results)
    }

    /// The groups, by source and then by the metric of the sweep, the best first. Each has its rank among those of its source, its mean
    /// and the interval of the mean.
    pub fn ranking(&self) -> Vec<(usize, Group<'_>, Estimate)> {
        let groups = self.groups();
        let ranked = ranking(&groups, &self.file.metric);
        let ranked: Vec<(usize, usize, Estimate)> = numbered(&groups, &ranked).collect();
        let mut groups: Vec<Option<Group<'_>>> = groups.into_iter().map(Some).collect();
        let taken =
            |(rank, place, found): (usize, usize, Estimate)| Some((rank, groups.get_mut(place)?.take()?, found));
        ranked.into_iter().filter_map(taken).collect()
    }

    /// Settings of the world that changed nothing, each as a sentence with the reason if there is one.
    pub fn without_effect(&self) -> Vec<String> {
        without_effect(&self.plan.cells, &self.results)
    }

    /// What decides the answer, over all cells, and was not observed.
    pub fn validity(&self) -> Validity {
        validity(&self.groups(), &self.file, &self.signs).0
    }

    /// Estimates how many seeds are needed until, for every setting, the 95 % interval of the sweep's metric reaches no further than
    /// `share` of the mean to either side. `None` if it does not now. The width falls with the square root of the seeds.
    pub fn seeds_for(&self, share: f64) -> Option<usize> {
        let needed = |group: &Group<'_>| {
            let found = group.estimate(&self.file.metric)?;
            let seeds = group.seeds() as f64;
            let half = (found.high - found.low) / 2.0;
            // A single seed does not show the spread.
            let ratio = if seeds < 2.0 { 2.0 } else { half / (found.value.abs() * share) };
            (ratio > 1.0).then(|| (seeds * ratio * ratio).ceil().max(seeds + 1.0) as usize)
        };
        self.groups().iter().filter_map(needed).max()
    }

    /// The number of pairs of a source and a cluster.
    pub fn places(&self) -> usize {
        self.plan.sources.len() * self.plan.clusters.len()
    }

    /// The names of the source and the cluster, for people.
    pub fn place_name(&self, (source, cluster): (usize, usize)) -> String {
        let names = [self.source_name(source), self.cluster_name(cluster)];
        names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" on ")
    }

    /// The name of a source, by its index in the plan.
    pub(crate) fn source_name(&self, source: usize) -> String {
        self.plan.sources.get(source).map_or_else(String::new, |source| stem(source.path().path()))
    }

    /// The name of a cluster file, by its index in the plan; empty for default rules.
    pub(crate) fn cluster_name(&self, cluster: usize) -> String {
        self.plan.clusters.get(cluster).and_then(Option::as_deref).map_or_else(String::new, stem)
    }
}

/// A file's name without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
