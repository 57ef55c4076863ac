//! The limits of workload files.

use resched_tables::limits::Limit;

use crate::synthesise::{MAX_NODES, MAX_TASKS};
use crate::{MAX_HELD_TASKS, MAX_JOBS, MAX_SLOTS, MAX_WRITTEN_TASKS};

/// The limits of workload files.
pub const WORKLOADS: &[Limit] = &[
    Limit::number("jobs", MAX_JOBS, "The file is refused."),
    Limit::number(
        "tasks of one job",
        MAX_TASKS,
        "The file is refused. A job is held in memory as a whole, with about 1.5 kB for each task.",
    ),
    Limit::number(
        "tasks of all jobs, if a command replays the file itself",
        MAX_HELD_TASKS,
        "The request is refused. All tasks are held in memory; `resched generate` writes them to a trace job by job.",
    ),
    Limit::number(
        "tasks of all jobs, in `generate`",
        MAX_WRITTEN_TASKS,
        "The request is refused before anything is written.",
    )
    .set_by("--most-tasks"),
    Limit::number("machines", MAX_NODES as u64, "The file is refused."),
    Limit::number("slots", MAX_SLOTS, "The file is refused."),
];
