//! Tables by user, account, queue, width, limit, hour and so on, for `resched replay --by`.

use std::collections::BTreeMap;

use resched_analysis::Run;
use resched_analysis::metrics::groups::{
    By, GroupRow, SlowedJob, UNKNOWN as GROUP_UNKNOWN, groups, most_slowed, shown as shown_groups,
};
use resched_analysis::metrics::named::{SizeBy, Sizes};
use resched_analysis::statistics::practical::Matters;
use resched_tables::clock::Zone;
use resched_tables::store::System;
use serde::Serialize;

use crate::output::{Text, TimeUnit, UNKNOWN, count, shown, table};

/// The number of the most slowed jobs.
const MOST_SLOWED: usize = 10;

/// How jobs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Grouping {
    User,
    #[value(alias = "group")]
    Account,
    #[value(alias = "partition", alias = "pool")]
    Queue,
    Qos,
    Priority,
    Size,
    Cpus,
    Gpus,
    Nodes,
    Memory,
    Limit,
    Hour,
    Day,
    Week,
    Month,
}

impl Grouping {
    fn by(self) -> By {
        match self {
            Self::User => By::User,
            Self::Account => By::Account,
            Self::Queue => By::Queue,
            Self::Qos => By::Qos,
            Self::Priority => By::Priority,
            Self::Size => By::Size,
            Self::Cpus => By::Cpus,
            Self::Gpus => By::Gpus,
            Self::Nodes => By::Nodes,
            Self::Memory => By::Memory,
            Self::Limit => By::Limit,
            Self::Hour => By::Hour,
            Self::Day => By::Day,
            Self::Week => By::Week,
            Self::Month => By::Month,
        }
    }
}

/// The groups of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Grouped {
    /// The groups, by what they are grouped by.
    groups: BTreeMap<By, Vec<GroupRow>>,
    /// The jobs that were slowed most.
    most_slowed: Vec<SlowedJob>,
    /// What ran the jobs: headings are in the words of this system.
    #[serde(skip)]
    system: System,
    /// What the size of a job is.
    #[serde(skip)]
    size_by: SizeBy,
}

/// The groups of each run, if any are asked for.
pub(super) fn grouped(runs: &[Run], baseline: usize, by: &[Grouping], zone: Zone) -> Vec<Option<Grouped>> {
    let runs: Vec<&Run> = runs.iter().collect();
    let all: Vec<(By, Vec<GroupRow>)> = by.iter().map(|by| (by.by(), groups(&runs, baseline, by.by(), zone))).collect();
    let of_run = |(place, run): (usize, &&Run)| {
        let of_run = |rows: &[GroupRow]| rows.iter().filter(|row| row.run == run.label).cloned().collect();
        let base = if place == baseline { None } else { runs.get(baseline).copied() };
        (!all.is_empty()).then(|| Grouped {
            groups: all.iter().map(|(by, rows)| (*by, of_run(rows))).collect(),
            most_slowed: most_slowed(run, base, MOST_SLOWED),
            system: run.origin.system().unwrap_or_default(),
            size_by: Sizes::of(run).by(),
        })
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// The tables of all groups.
pub(super) fn groups_reported(grouped: &[&Grouped]) -> Text {
    let Some(first) = grouped.first() else { return Text::default() };
    let mut text = Text::default();
    for &by in first.groups.keys() {
        text += table_of(by, grouped);
    }
    text + table_of_slowed(grouped)
}

/// The table of one grouping: the groups that lose and gain most, each with all its runs.
fn table_of(by: By, grouped: &[&Grouped]) -> Text {
    let all: Vec<GroupRow> = grouped.iter().filter_map(|grouped| grouped.groups.get(&by)).flatten().cloned().collect();
    let system = System::of_all(grouped.iter().map(|grouped| grouped.system));
    let name = match by {
        By::Size => {
            grouped.first().map_or_else(String::new, |grouped| format!("size by {}", grouped.size_by.in_words()))
        }
        by => system.says(by.heading()).to_owned(),
    };
    if all.iter().all(|row| row.group == GROUP_UNKNOWN) {
        return Text::from(format!(
            "\nby {name}: unknown for every job. The trace does not say it, or the runs were written before resched kept it; replay them again\n"
        ));
    }
    let (shown, left_out) = shown_groups(by, &all);
    let rows: Vec<&GroupRow> =
        shown.iter().flat_map(|group| all.iter().filter(move |row| row.group == *group)).collect();
    // Percentiles of one time share a unit, so that you can compare them at a glance. Changes have that of the completion times.
    let (completion, waiting) = TIMES.split_at(TIMES.len() / 2);
    let [completion, waiting] = [completion, waiting]
        .map(|times| TimeUnit::of(rows.iter().flat_map(|row| times.iter().filter_map(|time| time(row)))));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| cells(row, [completion, waiting])).collect();
    let heading = [
        name.as_str(),
        "policy",
        "jobs",
        "completion p50",
        "p95",
        "p99",
        "waiting p50",
        "p95",
        "p99",
        "change",
        "in %",
        "sooner",
        "later",
    ];
    let more = if left_out.is_empty() { left_out } else { format!("{left_out}; `--json` prints all\n") };
    let is_compared = grouped.len() > 1;
    let rule =
        format!("sooner and later: jobs whose completion time changes by more than {} and 1 s\n", Matters::default());
    Text::from("\n") + table(&heading, rows, 2..heading.len()) + more + if is_compared { rule } else { String::new() }
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

/// The cells of a group; the units are those of its completion times, with their change, and of its waiting times.
fn cells(row: &GroupRow, [completion, waiting]: [TimeUnit; 2]) -> Vec<String> {
    let number = |n: Option<u64>| n.map_or_else(|| UNKNOWN.to_owned(), count);
    let change = row.change.map_or_else(|| UNKNOWN.to_owned(), |change| format!("{:+.1} %", 100.0 * change));
    let mut cells = vec![row.group.clone(), row.run.clone(), count(row.jobs)];
    let unit = |place: usize| if place < TIMES.len() / 2 { completion } else { waiting };
    cells.extend(TIMES.iter().enumerate().map(|(place, time)| shown(unit(place), time(row))));
    let sign = if row.change_ms.is_some_and(|ms| ms > 0.0) { "+" } else { "" };
    let in_time = if row.change_ms.is_some() {
        format!("{sign}{}", shown(completion, row.change_ms))
    } else {
        UNKNOWN.to_owned()
    };
    cells.extend([in_time, change, number(row.sooner), number(row.later)]);
    cells
}

fn table_of_slowed(grouped: &[&Grouped]) -> Text {
    let jobs: Vec<&SlowedJob> = grouped.iter().flat_map(|grouped| &grouped.most_slowed).collect();
    if jobs.is_empty() {
        return Text::from("\nno job was slowed\n");
    }
    let of_job = |job: &SlowedJob| [Some(job.completion_ms as f64), job.baseline_completion_ms.map(|ms| ms as f64)];
    let unit = TimeUnit::of(jobs.iter().flat_map(|job| of_job(job)).flatten());
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let row = |job: &&SlowedJob| {
        let [completion, before] = of_job(job).map(|time| shown(unit, time));
        vec![
            job.job_id.clone(),
            job.run.clone(),
            text(&job.user),
            text(&job.queue),
            completion,
            before,
            job.slowed.map_or_else(|| UNKNOWN.to_owned(), |times| format!("{times:.2}")),
            job.bounded_slowdown.map_or_else(|| UNKNOWN.to_owned(), |slowdown| format!("{slowdown:.1}")),
        ]
    };
    let queue = System::of_all(grouped.iter().map(|grouped| grouped.system)).says("queue");
    let heading =
        ["most slowed", "policy", "user", queue, "completion", "in the baseline", "times as long", "bounded slowdown"];
    Text::from("\n") + table(&heading, jobs.iter().map(row).collect(), 4..heading.len())
}
