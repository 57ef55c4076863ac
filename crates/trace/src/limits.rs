//! The limits of resched. Each crate lists its own, from the constants that it enforces; `docs/limits.md` is made of the lists.

use crate::formats::{
    conf_xml, csv, google2019, gwf, jhist, rumen, sls, spark, swf, swim, tables, text_history, topology, yarn_apps,
};
use crate::ingest::{FAR_SLACK, LONGEST_ID, LONGEST_RUN, LONGEST_TEXT};
use crate::synthesise::{MAX_NODES, MAX_TASKS};
use crate::words::{LONGEST_LINE, count, counted};
use crate::workload::{MAX_HELD_TASKS, MAX_JOBS, MAX_SLOTS, MAX_WRITTEN_TASKS};

/// A limit, for people.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The thing that is limited.
    pub what: &'static str,
    /// How much of it there may be.
    pub most: Amount,
    /// The option that sets it; empty if there is none.
    pub option: &'static str,
    /// What happens beyond it, and why there is a limit.
    pub beyond: &'static str,
}

/// An amount with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Milliseconds.
    Ms(i64),
    /// A number of things.
    Number(u64),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Number(number) => f.write_str(&count(number)),
            Self::Ms(ms) => f.write_str(&counted(ms.unsigned_abs() / 86_400_000, "day")),
            Self::Bytes(bytes) => {
                let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1_000_000_000, "GB")];
                match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
                    Some((unit, name)) => write!(f, "{} {name}", bytes / unit),
                    None => write!(f, "{} bytes", count(bytes)),
                }
            }
        }
    }
}

impl Limit {
    /// A limit of bytes that no option changes.
    pub const fn bytes(what: &'static str, most: u64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Bytes(most), option: "", beyond }
    }

    /// A limit of a number of things that no option changes.
    pub const fn number(what: &'static str, most: u64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Number(most), option: "", beyond }
    }

    /// A limit of a time that no option changes.
    pub const fn ms(what: &'static str, most: i64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Ms(most), option: "", beyond }
    }

    /// The same limit, which this option sets.
    #[must_use]
    pub const fn set_by(self, option: &'static str) -> Self {
        Self { option, ..self }
    }
}

const SKIPPED: &str = "The record is skipped and counted.";
const NO_FILE: &str = "The file is refused.";

/// The limits of what is read from sources.
pub const SOURCES: &[Limit] = &[
    Limit::bytes("line of a Hadoop text history", text_history::LONGEST as u64, SKIPPED),
    Limit::bytes("event of a `.jhist` file", jhist::MAX_EVENT_BYTES as u64, SKIPPED),
    Limit::bytes(
        "configuration of a job (XML)",
        conf_xml::LONGEST,
        "The rest is not read; the conf counts as damaged.",
    ),
    Limit::bytes(
        "job of a Rumen trace",
        rumen::MAX_JOB_BYTES as u64,
        "The job is skipped and counted. Enough for some 150,000 tasks.",
    ),
    Limit::number(
        "objects in a job of a Rumen trace",
        rumen::MAX_JOB_OBJECTS as u64,
        "The job is skipped and counted.",
    ),
    Limit::number("commas in a job of a Rumen trace", rumen::MAX_JOB_COMMAS as u64, "The job is skipped and counted."),
    Limit::bytes("Rumen topology", topology::MAX_BYTES as u64, NO_FILE),
    Limit::bytes("line of a SWIM workload", swim::MAX_LINE, SKIPPED),
    Limit::bytes("line of an SWF log", swf::MAX_LINE as u64, SKIPPED),
    Limit::bytes("line of a grid workflow", gwf::MAX_LINE as u64, SKIPPED),
    Limit::bytes("event of a Spark log", spark::MAX_LINE as u64, SKIPPED),
    Limit::bytes("job of the Scheduler Load Simulator", sls::MAX_OBJECT as u64, SKIPPED),
    Limit::number("parts of such a job", sls::MAX_PARTS as u64, SKIPPED),
    Limit::number("tasks of such a job", sls::MAX_TASKS.unsigned_abs(), SKIPPED),
    Limit::bytes("line of a log of YARN's applications", yarn_apps::MAX_LINE as u64, SKIPPED),
    Limit::bytes("application in a REST list", yarn_apps::MAX_OBJECT as u64, SKIPPED),
    Limit::bytes("record of a table of Google or Alibaba (CSV)", csv::MAX_RECORD as u64, SKIPPED),
    Limit::number("fields of such a record", csv::MAX_FIELDS as u64, SKIPPED),
    Limit::bytes("line of a table of Google 2019 (JSON)", google2019::MAX_LINE, SKIPPED),
    Limit::bytes("id of a job or task in tables", tables::LONGEST_KEY as u64, SKIPPED),
    Limit::bytes(
        "id of a job or task elsewhere",
        LONGEST_ID as u64,
        "The job is skipped: a cut id might be that of another job.",
    ),
    Limit::bytes("name, host or error text", LONGEST_TEXT as u64, "The text is cut and counted."),
    Limit::ms(
        "run of a job, a task or an attempt",
        LONGEST_RUN,
        "The end is unknown and counted as `far-time`: it is damage.",
    ),
    Limit::ms(
        "time of a task before or after its job",
        FAR_SLACK,
        "The time is unknown and counted as `far-time`: it is damage.",
    ),
];

/// The limits of workload files.
pub const WORKLOADS: &[Limit] = &[
    Limit::number("jobs", MAX_JOBS, "The file is refused."),
    Limit::number(
        "tasks of one job",
        MAX_TASKS,
        "The file is refused. A job is held as a whole, in some 1.5 kB a task.",
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

/// The limits of messages.
pub const MESSAGES: &[Limit] = &[Limit::number(
    "characters of a line of an error or a warning",
    LONGEST_LINE as u64,
    "The middle of the line is left out, and the message says how much.",
)];
