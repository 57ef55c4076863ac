//! The result of a comparison.

use std::fmt;

use resched_analysis::Summary;
use resched_analysis::statistics::distribution::mean;
use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::practical::Ratio;
use resched_analysis::statistics::repeats::{log_ratio, t_interval};
use resched_tables::words::{TimeUnit, change_in_percent};

/// The numbers of one policy, each the mean over the seeds. Times are ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the policy.
    pub policy: String,
    /// How many jobs count in a seed: those that ended well under every policy.
    pub jobs: f64,
    /// The mean time from submission to end, with its 95 % interval over draws; without a width if no draw changes it.
    pub mean_completion: Option<Estimate>,
    /// The mean completion time as a share of that of the first policy, seed by seed, with its 95 % interval over draws.
    pub ratio: Option<Ratio>,
    /// The 95th percentile of the completion time.
    pub p95_completion: Option<f64>,
    /// The mean time from submission to the first start.
    pub mean_waiting: Option<f64>,
    /// The 95th percentile of the waiting time.
    pub p95_waiting: Option<f64>,
    /// The time from the first submission to the last end.
    pub makespan: Option<f64>,
}

/// A comparison: a row for each policy, in the order in which they were given. Displayed, it is a table with a line below that says what the
/// intervals mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// One for each policy. The first is the one that the others are compared with.
    pub rows: Vec<Row>,
}

impl Row {
    /// The numbers of a policy in each seed, beside those of the first policy.
    pub(crate) fn of(policy: &str, seeds: &[Summary], first: &[Summary]) -> Self {
        let all = |field: fn(&Summary) -> Option<f64>| seeds.iter().filter_map(field).collect::<Vec<f64>>();
        let completion = |summary: &Summary| summary.mean_completion_ms;
        let logs =
            seeds.iter().zip(first).filter_map(|(seed, first)| Some((completion(seed)? / completion(first)?).ln()));
        Self {
            policy: policy.to_owned(),
            jobs: mean(&all(|outcome| Some(outcome.jobs_counted as f64))).unwrap_or(0.0),
            mean_completion: t_interval(&all(completion)),
            ratio: log_ratio(&logs.collect::<Vec<f64>>()),
            p95_completion: mean(&all(|outcome| outcome.p95_completion_ms)),
            mean_waiting: mean(&all(|outcome| outcome.mean_waiting_ms)),
            p95_waiting: mean(&all(|outcome| outcome.p95_waiting_ms)),
            makespan: mean(&all(|outcome| outcome.makespan_ms.map(|ms| ms as f64))),
        }
    }

    /// The times that the table shows, in its order.
    fn times(&self) -> [Option<f64>; 4] {
        let completion = self.mean_completion.map(|mean| mean.value);
        [completion, self.p95_completion, self.mean_waiting, self.p95_waiting]
    }

    /// Its cells. Each column of times has one unit.
    fn cells(&self, first: &str, units: [TimeUnit; 4]) -> [String; 8] {
        let change = |ratio: f64| change_in_percent(ratio - 1.0);
        let known = |cell: Option<String>| cell.unwrap_or_else(|| UNKNOWN.to_owned());
        let ratio = self.ratio.filter(|_| self.policy != first);
        let interval = ratio.and_then(|ratio| ratio.interval).filter(|[low, high]| high > low);
        let mut times = self.times().into_iter().zip(units).map(|(ms, unit)| known(ms.map(|ms| unit.show(ms))));
        let mut time = || times.next().unwrap_or_default();
        [
            self.policy.clone(),
            format!("{:.0}", self.jobs),
            time(),
            known(ratio.map(|ratio| change(ratio.value))),
            known(interval.map(|ends| ends.map(change).join(" to "))),
            time(),
            time(),
            time(),
        ]
    }
}

/// An unknown value, and an interval where no draw changes a number.
const UNKNOWN: &str = "–";

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.rows.first().map_or("", |row| &row.policy);
        let heading =
            ["policy", "jobs", "mean completion", "change", "95 % over draws", "p95", "mean waiting", "p95 waiting"];
        let mut columns: [Vec<f64>; 4] = Default::default();
        for row in &self.rows {
            for (column, ms) in columns.iter_mut().zip(row.times()) {
                column.extend(ms);
            }
        }
        let units = columns.map(TimeUnit::of);
        let rows = self.rows.iter().map(|row| row.cells(first, units));
        let lines: Vec<[String; 8]> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
        let mut widths = [0; 8];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for line in &lines {
            for (place, (cell, width)) in line.iter().zip(widths).enumerate() {
                match place {
                    0 => write!(f, "{cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        write!(f, "Changes are against {first}. The intervals are over draws, for these jobs only.")
    }
}
