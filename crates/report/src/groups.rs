//! Who gains and who loses: tables by user, queue, size and hour, and the jobs that were slowed most.

use std::collections::BTreeSet;

use resched_analysis::Run;
use resched_analysis::groups::{By, GroupRow, SlowedJob, groups, most_slowed, shown};
use resched_trace::clock::Zone;
use serde::Serialize;

use crate::page::UNKNOWN;
use crate::units::{percent_change, signed_time, times};

/// The ways to group jobs, with the headings of their tables.
const WAYS: [(By, &str); 4] = [(By::User, "User"), (By::Queue, "Queue"), (By::Size, "Size"), (By::Hour, "Hour")];
/// The number of the most slowed jobs.
const MOST_SLOWED: usize = 10;

/// The jobs of each policy in groups.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Grouped {
    /// How they are grouped.
    pub(crate) by: By,
    #[serde(skip)]
    heading: &'static str,
    /// A row for each group and policy.
    pub(crate) rows: Vec<GroupRow>,
}

/// The groups of these runs, one for each policy, in each way that tells jobs apart.
pub(crate) fn grouped(runs: &[&Run], baseline: usize, zone: Zone) -> Vec<Grouped> {
    let table = |(by, heading)| Grouped { by, heading, rows: groups(runs, baseline, by, zone) };
    WAYS.into_iter().map(table).filter(|table| table.names().len() > 1).collect()
}

/// The jobs that a policy slowed most against the baseline, the worst first.
pub(crate) fn slowed(runs: &[&Run], baseline: usize) -> Vec<SlowedJob> {
    let others = runs.iter().enumerate().filter(|(place, _)| *place != baseline);
    let mut all: Vec<SlowedJob> =
        others.flat_map(|(_, run)| most_slowed(run, runs.get(baseline).copied(), MOST_SLOWED)).collect();
    all.sort_by(|a, b| b.slowed.total_cmp(&a.slowed));
    all.truncate(MOST_SLOWED);
    all
}

/// A table of the page.
pub(crate) struct Table {
    pub(crate) heading: &'static str,
    /// Group, policy, and the cells of both.
    pub(crate) rows: Vec<(String, String, Vec<String>)>,
    /// The groups that the table leaves out, in words.
    pub(crate) left_out: String,
}

impl Grouped {
    fn names(&self) -> BTreeSet<&str> {
        self.rows.iter().map(|row| row.group.as_str()).collect()
    }

    /// The table of the groups that lose and gain most.
    pub(crate) fn table(&self) -> Table {
        let (names, left_out) = shown(self.by, &self.rows);
        let of_group = |name: &&str| self.rows.iter().filter(|row| row.group == *name).collect::<Vec<_>>();
        let rows = names.iter().flat_map(of_group);
        Table {
            heading: self.heading,
            rows: rows.map(|row| (row.group.clone(), row.run.clone(), cells(row))).collect(),
            left_out,
        }
    }
}

fn cells(row: &GroupRow) -> Vec<String> {
    let number = |count: Option<u64>| count.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string());
    let mut cells = vec![row.jobs.to_string()];
    cells.extend(times(&[
        row.completion_p50_ms,
        row.completion_p95_ms,
        row.completion_p99_ms,
        row.waiting_p50_ms,
        row.waiting_p95_ms,
        row.waiting_p99_ms,
    ]));
    cells.push(signed_time(row.change_ms));
    cells.push(percent_change(row.change));
    cells.extend([number(row.sooner), number(row.later)]);
    cells
}

/// The cells of a job that was slowed.
pub(crate) fn slowed_cells(job: &SlowedJob) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let own = [job.job_id.clone(), text(&job.name), text(&job.user), text(&job.queue), job.run.clone()];
    let both = times(&[job.baseline_completion_ms, Some(job.completion_ms)].map(|ms| ms.map(|ms| ms as f64)));
    own.into_iter().chain(both).chain([format!("{:.1} ×", job.slowed)]).collect()
}
