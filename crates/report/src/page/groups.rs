//! Who gains and who loses: tables by user, queue, size and hour, and the jobs that were slowed most.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::Run;
use resched_analysis::metrics::groups::{By, GroupRow, SlowedJob, groups, most_slowed, shown};
use resched_tables::clock::Zone;
use resched_tables::store::System;
use resched_tables::words::count;
use serde::Serialize;

use crate::page::frame::UNKNOWN;
use crate::page::units::{percent_change, signed_times, times};

/// The ways to group jobs, with the headings of their tables. Those that no job of a trace has, or all in the same way, make no table.
const WAYS: [(By, &str); 10] = [
    (By::User, "User"),
    (By::Account, "Account"),
    (By::Queue, "Queue"),
    (By::Qos, "QOS"),
    (By::Size, "Size"),
    (By::Cpus, "CPUs"),
    (By::Gpus, "GPUs"),
    (By::Nodes, "Nodes asked for"),
    (By::Limit, "Time limit"),
    (By::Hour, "Hour"),
];
/// The number of the most slowed jobs.
const MOST_SLOWED: usize = 10;
/// The most groups of a way that a report keeps beside those that its tables show.
pub(crate) const MOST_KEPT: usize = 1_000;

/// The jobs of each policy in groups.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Grouped {
    /// How they are grouped.
    pub(crate) by: By,
    #[serde(skip)]
    heading: &'static str,
    /// A row for each group and policy.
    pub(crate) rows: Vec<GroupRow>,
    /// How many further groups there are, with fewer jobs.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) left_out: usize,
    /// The groups of the table, in its order.
    #[serde(skip)]
    shown: Vec<String>,
    /// The groups that the table leaves out, in words.
    #[serde(skip)]
    not_shown: String,
}

fn is_none(number: &usize) -> bool {
    *number == 0
}

/// The groups of these runs, one for each policy, in each way that says jobs apart.
pub(crate) fn grouped(runs: &[&Run], baseline: usize, zone: Zone) -> Vec<Grouped> {
    let table = |(by, heading)| Grouped::of(by, heading, groups(runs, baseline, by, zone));
    WAYS.into_iter().filter_map(table).collect()
}

/// The jobs that a policy slowed most against the baseline, the worst first.
pub(crate) fn slowed(runs: &[&Run], baseline: usize) -> Vec<SlowedJob> {
    let others = runs.iter().enumerate().filter(|(place, _)| *place != baseline);
    let mut all: Vec<SlowedJob> =
        others.flat_map(|(_, run)| most_slowed(run, runs.get(baseline).copied(), MOST_SLOWED)).collect();
    let times = |job: &SlowedJob| job.slowed.unwrap_or(0.0);
    all.sort_by(|a, b| times(b).total_cmp(&times(a)));
    all.truncate(MOST_SLOWED);
    all
}

/// A table of the page.
pub(crate) struct Table {
    /// How jobs are grouped, for the script of the page.
    pub(crate) by: &'static str,
    pub(crate) heading: &'static str,
    /// Group, policy, and the cells of both.
    pub(crate) rows: Vec<(String, String, Vec<String>)>,
    /// The groups that the table leaves out, in words.
    pub(crate) left_out: String,
}

impl Grouped {
    /// `None` if there is only one group.
    fn of(by: By, heading: &'static str, mut rows: Vec<GroupRow>) -> Option<Self> {
        let mut jobs: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &rows {
            let most = jobs.entry(&row.group).or_default();
            *most = row.jobs.max(*most);
        }
        if jobs.len() < 2 {
            return None;
        }
        let (shown, not_shown) = shown(by, &rows);
        let shown: Vec<String> = shown.into_iter().map(str::to_owned).collect();
        let mut left_out = 0;
        if jobs.len() > MOST_KEPT {
            let mut largest: Vec<(u64, &str)> = jobs.iter().map(|(name, jobs)| (*jobs, *name)).collect();
            largest.sort_by_key(|(jobs, _)| std::cmp::Reverse(*jobs));
            let kept = largest.iter().take(MOST_KEPT).map(|(_, name)| *name);
            let kept: BTreeSet<String> = kept.map(str::to_owned).chain(shown.iter().cloned()).collect();
            left_out = jobs.len() - kept.len();
            rows.retain(|row| kept.contains(&row.group));
            rows.shrink_to_fit();
        }
        Some(Self { by, heading, rows, left_out, shown, not_shown })
    }

    /// The table of the groups that lose and gain most.
    pub(crate) fn table(&self, system: System) -> Table {
        let of_group = |name: &String| self.rows.iter().filter(|row| row.group == *name).collect::<Vec<_>>();
        let rows: Vec<&GroupRow> = self.shown.iter().flat_map(of_group).collect();
        // Percentiles of one time share a unit, so that you can compare them at a glance.
        let column = |time: &fn(&GroupRow) -> Option<f64>| rows.iter().map(|row| time(row)).collect::<Vec<_>>();
        let alike = |of: &[fn(&GroupRow) -> Option<f64>]| {
            let texts = times(&of.iter().flat_map(column).collect::<Vec<_>>());
            texts.chunks(rows.len().max(1)).map(<[String]>::to_vec).collect::<Vec<_>>()
        };
        let (completion, waiting) = TIMES.split_at(TIMES.len() / 2);
        let columns = [alike(completion), alike(waiting)].concat();
        let changes = signed_times(&rows.iter().map(|row| row.change_ms).collect::<Vec<_>>());
        let cells = |(place, row): (usize, &&GroupRow)| {
            let times = columns.iter().chain([&changes]).filter_map(|column| column.get(place).cloned()).collect();
            (row.group.clone(), row.run.clone(), cells(row, times))
        };
        Table {
            by: self.by.word(),
            heading: system.says(self.heading),
            rows: rows.iter().enumerate().map(cells).collect(),
            left_out: self.not_shown.clone(),
        }
    }
}

/// The times of a group, in the order of their columns.
const TIMES: [fn(&GroupRow) -> Option<f64>; 6] = [
    |row| row.completion_p50_ms,
    |row| row.completion_p95_ms,
    |row| row.completion_p99_ms,
    |row| row.waiting_p50_ms,
    |row| row.waiting_p95_ms,
    |row| row.waiting_p99_ms,
];

/// The cells of a group; `times` are those of its times and of their change.
fn cells(row: &GroupRow, times: Vec<String>) -> Vec<String> {
    let number = |number: Option<u64>| number.map_or_else(|| UNKNOWN.to_owned(), count);
    let mut cells = vec![count(row.jobs)];
    cells.extend(times);
    cells.push(percent_change(row.change));
    cells.extend([number(row.sooner), number(row.later)]);
    cells
}

/// The cells of the jobs that were slowed.
pub(crate) fn slowed_cells(jobs: &[SlowedJob]) -> Vec<Vec<String>> {
    let of_jobs = |time: fn(&SlowedJob) -> Option<i64>| jobs.iter().map(move |job| time(job).map(|ms| ms as f64));
    let both: Vec<Option<f64>> =
        of_jobs(|job| job.baseline_completion_ms).chain(of_jobs(|job| Some(job.completion_ms))).collect();
    let texts = times(&both);
    let (before, after) = texts.split_at(jobs.len());
    let times = before.iter().zip(after).map(|(before, after)| [before.clone(), after.clone()]);
    jobs.iter().zip(times).map(|(job, times)| of_slowed(job, times)).collect()
}

fn of_slowed(job: &SlowedJob, both: [String; 2]) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let about = [job.job_id.clone(), text(&job.name), text(&job.user), text(&job.queue), job.run.clone()];
    about
        .into_iter()
        .chain(both)
        .chain([job.slowed.map_or_else(String::new, |times| format!("{times:.1} ×"))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_users_those_with_most_jobs_are_kept() {
        let row = |user: usize, run: &str| GroupRow {
            group: format!("user{user:06}"),
            run: run.to_owned(),
            jobs: if user.is_multiple_of(2) { 20 } else { 10 },
            completion_p50_ms: None,
            completion_p95_ms: None,
            completion_p99_ms: None,
            waiting_p50_ms: None,
            waiting_p95_ms: None,
            waiting_p99_ms: None,
            change_ms: (run == "fair").then_some(if user == 1_001 { 1e6 } else { user as f64 }),
            change: None,
            sooner: None,
            later: None,
        };
        let of = |users: usize| {
            let rows = (0..users).flat_map(|user| [row(user, "fifo"), row(user, "fair")]).collect();
            Grouped::of(By::User, "User", rows)
        };
        assert!(of(1).is_none());
        let whole = of(MOST_KEPT).map(|kept| (kept.rows.len(), kept.left_out));
        assert_eq!(whole, Some((2 * MOST_KEPT, 0)));
        let Some(cut) = of(2 * MOST_KEPT + 100) else { panic!("expected groups") };
        let large = |row: &&GroupRow| row.jobs == 20;
        assert_eq!(
            cut.rows.iter().filter(large).count(),
            2 * (MOST_KEPT + cut.shown.iter().filter(|name| is_late_and_even(name)).count())
        );
        assert_eq!(cut.rows.len() / 2 + cut.left_out, 2 * MOST_KEPT + 100);
        assert_eq!(
            cut.shown.first().map(String::as_str),
            Some("user001001"),
            "who loses most is shown, with few jobs, too"
        );
        assert!(cut.table(System::default()).rows.iter().any(|(group, ..)| group == "user001001"));
    }

    /// True if it is a user with many jobs, beyond those that are kept for them.
    fn is_late_and_even(name: &str) -> bool {
        let user: usize = name.trim_start_matches("user").parse().unwrap_or(0);
        user.is_multiple_of(2) && user / 2 >= MOST_KEPT
    }
}
