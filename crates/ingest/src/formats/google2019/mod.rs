//! Google's cluster traces of 2019 (clusterdata-2019, version 3): a month of eight Borg cells.
//!
//! Tables of BigQuery, exported as JSON lines (64-bit integers are texts or numbers, null fields are left out, structs
//! nested or flattened) or as Parquet. Times are in µs, 0 before the trace and 2^63−1 after it. Resources are parts of
//! the largest machine's. `docs/formats/google2019.md` has its quirks. The Kaggle sample (`borg_traces_data.csv`, one row per event of
//! an instance joined with its usage) is read as far as it has these fields. Attributes and usage are left out.

mod casts;
mod columns;
mod kaggle;
mod lines;
mod row;

use std::io::BufRead;

pub(crate) use self::lines::MAX_LINE;
use super::format::ReadAs;
use super::google::{Assembler, BEGIN, Facts, TIME_ZERO, UNITS};
use super::tables::{Assemble, FactSink, Table, TableFormat, Use};
use resched_tables::Error;
use resched_tables::model::Priority;

/// What the columns of tasks and attempts are read from, and those of jobs that have no events of their own.
const INSTANCES: &[ReadAs] = &[
    ("jobs.job_id", &["collection_id"]),
    ("jobs.submit", &["time"]),
    ("jobs.launch", &["time"]),
    ("jobs.finish", &["time"]),
    ("tasks.task_id", &["collection_id", "instance_index"]),
    ("tasks.start", &["time"]),
    ("tasks.finish", &["time"]),
    ("tasks.outcome", &["type"]),
    ("tasks.cpu_request", &["resource_request.cpus"]),
    ("tasks.memory_request", &["resource_request.memory"]),
    ("jobs.user", &["user"]),
    ("jobs.scheduling_class", &["scheduling_class"]),
    ("jobs.priority_number", &["priority"]),
    ("jobs.priority", &["priority"]),
    ("jobs.name", &["collection_logical_name", "collection_name"]),
    ("jobs.depends_on", &["start_after_collection_ids"]),
    ("attempts.queued", &["time"]),
    ("attempts.start", &["time"]),
    ("attempts.finish", &["time"]),
    ("attempts.outcome", &["type"]),
    ("attempts.host", &["machine_id"]),
];

/// The format `google2019`.
pub const FORMAT: TableFormat = TableFormat {
    name: "google2019",
    title: "table of Google's cluster traces of 2019",
    tables: &[
        Table {
            name: "collection_events",
            used: Use::Jobs,
            absent: (
                "jobs",
                "no collection_events: a job begins with its first task, and ends with its last task and with their outcome",
            ),
            reads: &[
                ("jobs.job_id", &["collection_id"]),
                ("jobs.submit", &["time"]),
                ("jobs.launch", &["time"]),
                ("jobs.finish", &["time"]),
                ("jobs.outcome", &["type"]),
                ("jobs.user", &["user"]),
                ("jobs.scheduling_class", &["scheduling_class"]),
                ("jobs.priority_number", &["priority"]),
                ("jobs.priority", &["priority"]),
                ("jobs.name", &["collection_logical_name", "collection_name"]),
                ("jobs.group", &["parent_collection_id"]),
                ("jobs.depends_on", &["start_after_collection_ids"]),
            ],
        },
        Table {
            name: "instance_events",
            used: Use::Jobs,
            absent: ("tasks", "no instance_events: jobs are without tasks and attempts"),
            reads: INSTANCES,
        },
        Table {
            name: "machine_events",
            used: Use::Machines,
            absent: (
                "nodes",
                "no machine_events: the machines that attempts ran on, without capacity; each cell has it in its bucket, gs://clusterdata_2019_<cell>",
            ),
            reads: &[
                ("nodes.host", &["machine_id"]),
                ("nodes.rack", &["switch_id"]),
                ("nodes.time", &["time"]),
                ("nodes.event", &["type"]),
                ("nodes.cpu", &["capacity.cpus"]),
                ("nodes.memory", &["capacity.memory"]),
            ],
        },
        Table { name: KAGGLE, used: Use::Jobs, absent: ("", ""), reads: INSTANCES },
        Table { name: "machine_attributes", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "instance_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
    ],
    amounts: resched_tables::store::Amounts::OfLargest,
    begin: Some(BEGIN),
    notes: &[
        UNITS,
        TIME_ZERO,
        (
            "priority",
            "up to 99 (free) VERY_LOW, to 115 (best effort) LOW, to 119 (mid) NORMAL, to 359 (production) HIGH, from 360 \
             (monitoring) VERY_HIGH",
        ),
    ],
    sniff,
    read,
    assembler,
};

/// The table of Kaggle's sample.
const KAGGLE: &str = "kaggle_sample";

fn assembler() -> Box<dyn Assemble> {
    Box::new(Assembler::new(priority, false))
}

fn priority(number: i64) -> Priority {
    match number {
        ..=99 => Priority::VeryLow,
        100..=115 => Priority::Low,
        116..=119 => Priority::Normal,
        120..=359 => Priority::High,
        360.. => Priority::VeryHigh,
    }
}

/// A Parquet file has its schema at its end, so its path must name the table.
fn sniff(head: &[u8], path: &str) -> Option<&'static str> {
    if head.starts_with(columns::MAGIC) {
        let tables = FORMAT.tables.iter().map(|table| table.name);
        return tables.into_iter().find(|table| path.contains(table));
    }
    if kaggle::is_one(head) { Some(KAGGLE) } else { lines::table(head) }
}

fn read(table: &str, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error> {
    let mut facts = Facts::new(sink);
    let is_parquet = input.fill_buf().is_ok_and(|head| head.starts_with(columns::MAGIC));
    match table {
        KAGGLE => kaggle::read(input, path, &mut facts),
        _ if is_parquet => columns::read(table, path, &mut facts),
        _ => lines::read(table, input, path, &mut facts),
    }
}
