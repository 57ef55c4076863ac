//! What a replay reads of a log, in the tables of a trace or in memory.

use resched_tables::model::{AttemptRow, SplitRow, TaskKind, TaskRow};
use resched_tables::reader::{JobReader, Lazy, Wanted};
use resched_tables::store::Trace;
use resched_tables::store::columns::Row;

use crate::Error;
use crate::hadoop::kind::Kind;

/// An attempt of the log.
pub(super) type Attempt<'a> = Lazy<'a, AttemptRow>;

/// Rows for which room is made ahead: a damaged manifest may give any number.
const MOST_ROOM: u64 = 1 << 25;

const WANTED: Wanted<'_> = Wanted {
    jobs: &[
        "job_id",
        "name",
        "user",
        "queue",
        "priority",
        "submit",
        "launch",
        "finish",
        "outcome",
        "shuffle_bytes",
        "declared_maps",
        "declared_reduces",
    ],
    tasks: &[
        "job_id",
        "task_id",
        "kind",
        "stage",
        "start",
        "finish",
        "outcome",
        "input_bytes",
        "output_bytes",
        "resources",
    ],
    splits: &["task_id", "host", "bytes"],
    attempts: &[
        "task_id",
        "attempt",
        "start",
        "shuffle_finish",
        "sort_finish",
        "finish",
        "outcome",
        "locality",
        "host",
    ],
};

/// Opens the tables of a trace. `hosts_matter` if the host of an attempt must be known.
pub(super) fn of_trace(trace: &Trace, hosts_matter: bool) -> Result<JobReader<'_>, Error> {
    let without_host = &WANTED.attempts[..WANTED.attempts.len() - 1];
    let attempts = if hosts_matter { WANTED.attempts } else { without_host };
    Ok(JobReader::of_trace(trace, Wanted { attempts, ..WANTED })?)
}

/// How many tasks, attempts and splits of a trace to make room for.
pub(super) fn room(trace: &Trace) -> [usize; 3] {
    let rows = &trace.manifest().rows;
    [TaskRow::TABLE, AttemptRow::TABLE, SplitRow::TABLE]
        .map(|table| rows.get(table).map_or(0, |&rows| rows.min(MOST_ROOM) as usize))
}

/// What a task is to its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Map,
    Reduce,
    SetUp,
    CleanUp,
    /// The application masters of a job under YARN.
    Master,
    /// None of these, such as the clean-up of an attempt.
    Other,
}

impl Role {
    /// The kind of task whose container it runs in; `None` for what a replay does not put into one.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            Self::Map => Some(Kind::Map),
            Self::Reduce => Some(Kind::Reduce),
            Self::SetUp | Self::CleanUp | Self::Master | Self::Other => None,
        }
    }

    /// Rumen lists set-up and clean-up among other tasks; their stage says what they are.
    pub(super) fn of(kind: TaskKind, stage: Option<&str>) -> Self {
        match (kind, stage) {
            (TaskKind::Map, _) => Self::Map,
            (TaskKind::Reduce, _) => Self::Reduce,
            (TaskKind::Setup, _) | (TaskKind::Other, Some("setup" | "job_setup")) => Self::SetUp,
            (TaskKind::Cleanup, _) | (TaskKind::Other, Some("cleanup" | "job_cleanup")) => Self::CleanUp,
            (TaskKind::Master, _) => Self::Master,
            (TaskKind::Other, _) => Self::Other,
        }
    }
}
