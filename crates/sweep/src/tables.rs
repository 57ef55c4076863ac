//! The tables of a sweep. They are the same bytes for every engine.
//!
//! | file | a row is |
//! |---|---|
//! | `results.csv` | a cell: what varies, then its metrics (times in ms) |
//! | `summary.csv` | a setting and metric: mean over the seeds, 95 % interval over draws (empty if no draw changes it) |
//! | `comparisons.csv` | a setting against its baseline in a metric: difference, change and verdict with intervals over draws, sign and Wilcoxon tests, Holm's correction; on a trace, the interval of the change in per cent over other days like these |
//! | `dominance.csv` | a setting against its baseline: how far its CDF of completion times rises above and falls below |
//! | `measurements.parquet` | a number of a cell, or of one of its jobs: cell, metric, job_id, value |

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::estimate::Estimate;
use resched_tables::words::csv_cell;

use crate::Error;
use crate::cell::Cell;
use crate::merge::Merged;
use crate::results::{CellResult, Measurements};
use crate::statistics::{Group, differences, dominance};

/// All tables: the name and the content of each file.
///
/// # Errors
/// [`Error::Work`] if one cannot be made.
pub(crate) fn tables(merged: &Merged) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let tables = Tables::new(merged);
    let text = |error: csv::Error| error.to_string();
    let all = [
        ("results.csv", tables.results().map_err(text)),
        ("summary.csv", tables.summary().map_err(text)),
        ("comparisons.csv", tables.comparisons().map_err(text)),
        ("dominance.csv", tables.dominance().map_err(text)),
        ("measurements.parquet", measurements(merged)),
    ];
    let made = all.map(|(name, table)| match table {
        Ok(table) => Ok((name.to_owned(), table)),
        Err(problem) => Err(Error::Work(format!("{name} cannot be made: {problem}"))),
    });
    made.into_iter().collect()
}

fn measurements(merged: &Merged) -> Result<Vec<u8>, String> {
    let mut writer = Measurements::new(Vec::new())?;
    for (cell, result) in merged.plan.cells.iter().zip(&merged.results) {
        if let Some(result) = result {
            writer.add(&cell.id, result.rows())?;
        }
    }
    writer.finish()
}

/// Values that several tables need.
struct Tables<'a> {
    merged: &'a Merged,
    groups: Vec<Group<'a>>,
    metrics: Vec<Metric>,
    /// The keys that vary in any cell, in order. Each has a column.
    keys: Vec<String>,
}

impl<'a> Tables<'a> {
    fn new(merged: &'a Merged) -> Self {
        let keys: BTreeSet<String> = merged.plan.cells.iter().flat_map(|cell| cell.texts().into_keys()).collect();
        Self { merged, groups: merged.groups(), metrics: merged.file.metrics(), keys: keys.into_iter().collect() }
    }

    fn results(&self) -> Result<Vec<u8>, csv::Error> {
        let metrics: Vec<&str> = self.metrics.iter().map(|metric| metric.name.as_str()).collect();
        let heading = self.heading(["cell", "seed"].into_iter().chain(metrics.iter().copied()));
        let row = |(cell, result): (&Cell, &Option<CellResult>)| {
            let mut row = self.place((cell.source, cell.cluster), &cell.variant, &cell.policy, &cell.texts());
            row.extend([cell.id.clone(), cell.seed.to_string()]);
            row.extend(metrics.iter().map(|metric| {
                result.as_ref().and_then(|result| result.metrics.get(*metric)).map_or_else(String::new, f64::to_string)
            }));
            row
        };
        table(heading, self.merged.plan.cells.iter().zip(&self.merged.results).map(row))
    }

    fn summary(&self) -> Result<Vec<u8>, csv::Error> {
        let heading = self.heading(["metric", "seeds", "mean", "low", "high"]);
        let rows = self.groups.iter().flat_map(|group| {
            self.metrics.iter().filter_map(move |metric| {
                let found = group.estimate(metric)?;
                let mut row = self.of_group(group);
                row.extend([metric.name.clone(), group.values(metric).len().to_string(), found.value.to_string()]);
                row.extend(ends(group.shows_spread().then_some([found.low, found.high])));
                Some(row)
            })
        });
        table(heading, rows)
    }

    fn comparisons(&self) -> Result<Vec<u8>, csv::Error> {
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
            "verdict",
            "sign_p",
            "wilcoxon_p",
            "wilcoxon_p_holm",
            "least_p",
            "other_days_low",
            "other_days_high",
            "other_days_over",
        ]);
        let rows = differences(&self.groups, &self.merged.file).into_iter().filter_map(|found| {
            let (group, base) = (self.groups.get(found.group)?, self.groups.get(found.baseline)?);
            let mut row = self.of_group(group);
            row.extend([base.label(), found.metric.clone(), found.seeds.to_string()]);
            let Estimate { value, low, high } = found.difference;
            row.push(value.to_string());
            row.extend(ends(found.tests.filter(|_| found.seeds > 1).map(|_| [low, high])));
            let percent = |ratio: f64| (100.0 * (ratio - 1.0)).to_string();
            row.push(found.ratio.map_or_else(String::new, |ratio| percent(ratio.value)));
            let interval = found.ratio.and_then(|ratio| ratio.interval);
            row.extend(ends(interval.map(|ends| ends.map(|ratio| 100.0 * (ratio - 1.0)))));
            row.push(found.verdict.in_words(self.merged.file.matters));
            let tests = found.tests.map(|tests| [tests.sign, tests.signed_rank, tests.holm, tests.least]);
            row.extend(tests.map_or_else(|| [const { String::new() }; 4], |tests| tests.map(|p| p.to_string())));
            let days = found.other_days;
            row.extend(ends(
                days.and_then(|days| days.ratio.interval).map(|ends| ends.map(|ratio| 100.0 * (ratio - 1.0))),
            ));
            row.push(days.map_or_else(String::new, |days| days.basis.in_words()));
            Some(row)
        });
        table(heading, rows)
    }

    fn dominance(&self) -> Result<Vec<u8>, csv::Error> {
        let heading = self.heading(["baseline", "above", "below"]);
        let rows = dominance(&self.groups, &self.merged.file).into_iter().filter_map(|found| {
            let (group, base) = (self.groups.get(found.group)?, self.groups.get(found.baseline)?);
            let mut row = self.of_group(group);
            row.push(base.label());
            row.extend([found.above, found.below].map(|side| side.map_or_else(String::new, |by| by.to_string())));
            Some(row)
        });
        table(heading, rows)
    }

    /// The names of the columns before the numbers, and `more`.
    fn heading<'n>(&self, more: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let names = ["variant", "policy", "source", "cluster"].map(str::to_owned);
        names.into_iter().chain(self.keys.iter().cloned()).chain(more.into_iter().map(str::to_owned)).collect()
    }

    /// The columns before the numbers, of a group.
    fn of_group(&self, group: &Group<'_>) -> Vec<String> {
        self.place(group.place, group.variant, group.policy, &group.settings)
    }

    /// The columns before the numbers.
    fn place(
        &self,
        (source, cluster): (usize, usize),
        variant: &str,
        policy: &str,
        settings: &BTreeMap<String, String>,
    ) -> Vec<String> {
        let (source, cluster) = (self.merged.source_name(source), self.merged.cluster_name(cluster));
        let names = [variant.to_owned(), policy.to_owned(), source, cluster];
        let values = self.keys.iter().map(|key| settings.get(key).cloned().unwrap_or_default());
        names.into_iter().chain(values).collect()
    }
}

/// The ends of an interval; empty without one.
fn ends(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(|| [const { String::new() }; 2], |ends| ends.map(|end| end.to_string()))
}

fn table(heading: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(heading).chain(rows) {
        writer.write_record(row.iter().map(|cell| csv_cell(cell).into_owned()))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
