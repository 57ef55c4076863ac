//! All results of a sweep in a few tables: nothing missing, and the same bytes whatever engine made the cells.
//!
//! | file | a row is |
//! |---|---|
//! | `results.csv` | a cell: what varies, then its metrics (times in ms) |
//! | `summary.csv` | a setting and metric: mean over the seeds, 95 % interval |
//! | `comparisons.csv` | a setting against its baseline in a metric: difference, interval, sign and Wilcoxon tests, Holm's correction |
//! | `dominance.csv` | a setting against its baseline: how far its CDF of completion times rises above and falls below |
//! | `measurements.parquet` | a number of a cell, or of a job of it: cell, metric, job_id, value |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use resched_analysis::compare::Estimate;
use resched_trace::store::write_file;

use crate::Error;
use crate::cell_store::CellStore;
use crate::figures::figures;
use crate::file::SweepFile;
use crate::metrics::METRICS;
use crate::page::page;
use crate::plan::{Cell, Plan};
use crate::results::{CellResult, Measurements};
use crate::statistics::{Group, differences, dominance, groups, ranking};

/// The folder of the figures.
const FIGURES: &str = "figures";
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
    results: Vec<Option<CellResult>>,
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

    /// How many seeds it takes, as far as can be told, until the 95 % interval of the sweep's metric is no wider than `share` of
    /// its mean to either side, for every setting; `None` if it is that narrow already. The width falls with the root of the seeds.
    pub fn seeds_for(&self, share: f64) -> Option<usize> {
        let needed = |group: &Group<'_>| {
            let found = group.estimate(self.file.metric)?;
            let seeds = group.seeds() as f64;
            let half = (found.high - found.low) / 2.0;
            // Of a single seed nothing is known of the spread.
            let ratio = if seeds < 2.0 { 2.0 } else { half / (found.value.abs() * share) };
            (ratio > 1.0).then(|| (seeds * ratio * ratio).ceil().max(seeds + 1.0) as usize)
        };
        self.groups().iter().filter_map(needed).max()
    }

    /// What is replayed and on what, for people.
    pub(crate) fn place_name(&self, (source, cluster): (usize, usize)) -> String {
        let names = [self.source(source), self.cluster(cluster)];
        names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" on ")
    }

    /// Writes the tables, the figures (PNG and SVG, in `figures/`) and the page `index.html` into the folder `dir`.
    ///
    /// # Errors
    /// [`Error::Store`] if they cannot be written; [`Error::Report`] if a figure cannot be drawn.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        self.write_tables(dir)?;
        let figures = figures(self)?;
        let folder = dir.join(FIGURES);
        if folder.is_dir() {
            // Those of an earlier form of the sweep; the folder is ours.
            fs::remove_dir_all(&folder).map_err(resched_trace::Error::io(&folder, "remove"))?;
        }
        fs::create_dir_all(&folder).map_err(resched_trace::Error::io(&folder, "make"))?;
        for figure in &figures {
            write_file(&folder.join(format!("{}.svg", figure.name)), figure.svg.as_bytes())?;
            write_file(&folder.join(format!("{}.png", figure.name)), &resched_report::png(&figure.name, &figure.svg)?)?;
        }
        Ok(write_file(&dir.join("index.html"), page(self, &figures)?.as_bytes())?)
    }

    fn write_tables(&self, dir: &Path) -> Result<(), Error> {
        let groups = self.groups();
        for (name, table) in [
            ("results.csv", self.results_table()),
            ("summary.csv", self.summary_table(&groups)),
            ("comparisons.csv", self.comparisons_table(&groups)),
            ("dominance.csv", self.dominance_table(&groups)),
        ] {
            write_file(
                &dir.join(name),
                &table.map_err(|error| Error::Work(format!("{name} cannot be made: {error}")))?,
            )?;
        }
        let parquet = self
            .measurements()
            .map_err(|problem| Error::Work(format!("measurements.parquet cannot be made: {problem}")))?;
        Ok(write_file(&dir.join("measurements.parquet"), &parquet)?)
    }

    fn measurements(&self) -> Result<Vec<u8>, String> {
        let mut writer = Measurements::new(Vec::new())?;
        for (cell, result) in self.plan.cells.iter().zip(&self.results) {
            if let Some(result) = result {
                writer.add(&cell.id, result.rows())?;
            }
        }
        writer.finish()
    }

    /// What varies in any cell, in order.
    fn keys(&self) -> Vec<String> {
        let keys: BTreeSet<String> = self.plan.cells.iter().flat_map(|cell| cell.texts().into_keys()).collect();
        keys.into_iter().collect()
    }

    fn source(&self, place: usize) -> String {
        self.plan.sources.get(place).map_or_else(String::new, |source| stem(source.path().path()))
    }

    fn cluster(&self, place: usize) -> String {
        self.plan.clusters.get(place).and_then(Option::as_deref).map_or_else(String::new, stem)
    }

    /// What stands before the numbers of a row.
    fn place(
        &self,
        place: (usize, usize),
        variant: &str,
        policy: &str,
        settings: &BTreeMap<String, String>,
    ) -> Vec<String> {
        let names = [variant.to_owned(), policy.to_owned(), self.source(place.0), self.cluster(place.1)];
        let values = self.keys().into_iter().map(|key| settings.get(&key).cloned().unwrap_or_default());
        names.into_iter().chain(values).collect()
    }

    fn heading<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let names = ["variant", "policy", "source", "cluster"].map(str::to_owned);
        names.into_iter().chain(self.keys()).chain(more.into_iter().map(str::to_owned)).collect()
    }

    fn results_table(&self) -> Result<Vec<u8>, csv::Error> {
        let metrics: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        let heading = self.heading(["cell", "seed"].into_iter().chain(metrics.iter().copied()));
        let row = |(cell, result): (&Cell, &Option<CellResult>)| {
            let mut row = self.place((cell.source, cell.cluster), &cell.variant, &cell.policy, &cell.texts());
            row.extend([cell.id.clone(), cell.seed.to_string()]);
            row.extend(metrics.iter().map(|metric| {
                result.as_ref().and_then(|result| result.metrics.get(*metric)).map_or_else(String::new, f64::to_string)
            }));
            row
        };
        table(heading, self.plan.cells.iter().zip(&self.results).map(row))
    }

    fn summary_table(&self, groups: &[Group<'_>]) -> Result<Vec<u8>, csv::Error> {
        let heading = self.heading(["metric", "seeds", "mean", "low", "high"]);
        let rows = groups.iter().flat_map(|group| {
            METRICS.iter().filter_map(move |metric| {
                let found = group.estimate(metric)?;
                let mut row = self.place(group.place, group.variant, group.policy, &group.settings);
                row.extend([metric.name.to_owned(), group.values(metric).len().to_string()]);
                row.extend(numbers(found));
                Some(row)
            })
        });
        table(heading, rows)
    }

    fn comparisons_table(&self, groups: &[Group<'_>]) -> Result<Vec<u8>, csv::Error> {
        let heading = self.heading([
            "baseline",
            "metric",
            "seeds",
            "difference",
            "low",
            "high",
            "change_percent",
            "change_low",
            "change_high",
            "sign_p",
            "wilcoxon_p",
            "wilcoxon_p_holm",
        ]);
        let rows = differences(groups, &self.file).into_iter().filter_map(|found| {
            let (group, base) = (groups.get(found.group)?, groups.get(found.baseline)?);
            let mut row = self.place(group.place, group.variant, group.policy, &group.settings);
            row.extend([base.label(), found.metric.to_owned(), found.seeds.to_string()]);
            row.extend(numbers(found.difference));
            row.extend(found.change.map_or_else(|| [const { String::new() }; 3], numbers));
            row.extend([found.sign, found.signed_rank, found.holm].map(|p| p.to_string()));
            Some(row)
        });
        table(heading, rows)
    }

    fn dominance_table(&self, groups: &[Group<'_>]) -> Result<Vec<u8>, csv::Error> {
        let heading = self.heading(["baseline", "above", "above_p", "below", "below_p"]);
        let rows = dominance(groups, &self.file).into_iter().filter_map(|found| {
            let (group, base) = (groups.get(found.group)?, groups.get(found.baseline)?);
            let mut row = self.place(group.place, group.variant, group.policy, &group.settings);
            row.push(base.label());
            for side in [found.above, found.below] {
                row.extend(
                    side.map_or_else(|| [const { String::new() }; 2], |(by, p)| [by.to_string(), p.to_string()]),
                );
            }
            Some(row)
        });
        table(heading, rows)
    }
}

fn numbers(found: Estimate) -> [String; 3] {
    [found.value, found.low, found.high].map(|number| number.to_string())
}

fn table(heading: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heading)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// A file's name without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
