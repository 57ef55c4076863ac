//! The results of all cells of a sweep, with nothing missing.

use std::path::Path;

use resched_analysis::compare::Estimate;

use crate::Error;
use crate::cell_store::CellStore;
use crate::file::SweepFile;
use crate::plan::Plan;
use crate::results::CellResult;
use crate::statistics::{Group, groups, ranking};

/// Cells that a message names at most.
const MOST_NAMED: usize = 3;

/// All results of a sweep.
#[derive(Debug)]
pub struct Merged {
    /// The plan.
    pub plan: Plan,
    /// The sweep file.
    pub file: SweepFile,
    /// By the plan's order.
    pub(crate) results: Vec<Option<CellResult>>,
}

impl Merged {
    /// Reads the results of every cell.
    ///
    /// # Errors
    /// [`Error::Work`] that names what is missing; [`Error::Damaged`].
    pub fn read(plan: Plan, store: &CellStore) -> Result<Self, Error> {
        let file = plan.sweep()?;
        let results = store.get_all(&plan.cells.iter().collect::<Vec<_>>())?;
        let missing: Vec<usize> =
            (0..results.len()).filter(|&place| results.get(place).is_some_and(Option::is_none)).collect();
        if !missing.is_empty() {
            let named: Vec<String> = missing.iter().take(MOST_NAMED).map(usize::to_string).collect();
            return Err(Error::Work(format!(
                "{} of {} cells are missing (number {}{}); run the sweep again, which makes these only",
                missing.len(),
                results.len(),
                named.join(", "),
                if missing.len() > MOST_NAMED { ", …" } else { "" },
            )));
        }
        Ok(Self { plan, file, results })
    }

    /// The groups of cells that differ in their seed only.
    pub fn groups(&self) -> Vec<Group<'_>> {
        groups(&self.plan, &self.results)
    }

    /// The groups by the sweep's metric, the best first, with its mean and interval.
    pub fn ranking(&self) -> Vec<(Group<'_>, Estimate)> {
        let groups = self.groups();
        let ranked = ranking(&groups, self.file.metric);
        let mut groups: Vec<Option<Group<'_>>> = groups.into_iter().map(Some).collect();
        ranked.into_iter().filter_map(|(place, found)| Some((groups.get_mut(place)?.take()?, found))).collect()
    }

    /// An estimate of how many seeds it takes until the 95 % interval of the sweep's metric reaches no further than `share` of the
    /// mean to either side, for every setting; `None` if it is that narrow already. The width falls with the root of the seeds.
    pub fn seeds_for(&self, share: f64) -> Option<usize> {
        let needed = |group: &Group<'_>| {
            let found = group.estimate(self.file.metric)?;
            let seeds = group.seeds() as f64;
            let half = (found.high - found.low) / 2.0;
            // A single seed says nothing of the spread.
            let ratio = if seeds < 2.0 { 2.0 } else { half / (found.value.abs() * share) };
            (ratio > 1.0).then(|| (seeds * ratio * ratio).ceil().max(seeds + 1.0) as usize)
        };
        self.groups().iter().filter_map(needed).max()
    }

    /// The names of what is replayed and of the cluster, for people.
    pub(crate) fn place_name(&self, (source, cluster): (usize, usize)) -> String {
        let names = [self.source_name(source), self.cluster_name(cluster)];
        names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" on ")
    }

    /// The name of what is replayed, by its place in the plan.
    pub(crate) fn source_name(&self, source: usize) -> String {
        self.plan.sources.get(source).map_or_else(String::new, |source| stem(source.path().path()))
    }

    /// The name of a cluster file, by its place in the plan; empty for default rules.
    pub(crate) fn cluster_name(&self, cluster: usize) -> String {
        self.plan.clusters.get(cluster).and_then(Option::as_deref).map_or_else(String::new, stem)
    }
}

/// A file's name without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
