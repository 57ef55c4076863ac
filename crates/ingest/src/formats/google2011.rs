//! Google's cluster trace of 2011 (clusterdata-2011-2, version 2.1): 29 days of a Borg cell of 12,500 machines.
//!
//! `<table>/part-NNNNN-of-MMMMM.csv.gz`, no header, no quotes; times in µs, 0 before the trace and 2^63−1 after it; resources
//! as parts of the largest machine's. `docs/formats/google2011.md` has its quirks. Constraints, attributes and usage are left out.

use std::io::BufRead;
use std::path::Path;

use super::csv::{Is, Piece, Record, Records, table_of};
use super::google::{About, Assembler, BEGIN, CPU_UNIT, Event, Facts, MEMORY_UNIT, Stored, TIME_ZERO, UNITS};
use super::tables::{Assemble, FactSink, Machine, Table, TableFormat, Use};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Priority;

/// The format `google2011`.
pub const FORMAT: TableFormat = TableFormat {
    name: "google2011",
    title: "table of Google's cluster trace of 2011",
    tables: &[
        Table {
            name: "job_events",
            used: Use::Jobs,
            absent: (
                "jobs",
                "no job_events: a job begins with its first task, and ends with its last task and with their outcome",
            ),
            reads: &[
                ("jobs.job_id", &["job ID"]),
                ("jobs.submit", &["time"]),
                ("jobs.launch", &["time"]),
                ("jobs.finish", &["time"]),
                ("jobs.outcome", &["event type"]),
                ("jobs.user", &["user"]),
                ("jobs.scheduling_class", &["scheduling class"]),
                ("jobs.name", &["logical job name", "job name"]),
            ],
        },
        Table {
            name: "task_events",
            used: Use::Jobs,
            absent: ("tasks", "no task_events: jobs are without tasks and attempts"),
            reads: &[
                ("jobs.job_id", &["job ID"]),
                ("jobs.submit", &["time"]),
                ("jobs.launch", &["time"]),
                ("jobs.finish", &["time"]),
                ("tasks.task_id", &["job ID", "task index"]),
                ("tasks.start", &["time"]),
                ("tasks.finish", &["time"]),
                ("tasks.outcome", &["event type"]),
                ("tasks.cpu_request", &["CPU request"]),
                ("tasks.memory_request", &["memory request"]),
                ("jobs.user", &["user"]),
                ("jobs.scheduling_class", &["scheduling class"]),
                ("jobs.priority_number", &["priority"]),
                ("jobs.priority", &["priority"]),
                ("attempts.queued", &["time"]),
                ("attempts.start", &["time"]),
                ("attempts.finish", &["time"]),
                ("attempts.outcome", &["event type"]),
                ("attempts.host", &["machine ID"]),
            ],
        },
        Table {
            name: "machine_events",
            used: Use::Machines,
            absent: (
                "nodes",
                "no machine_events: the machines that attempts ran on, without capacity; it is in gs://clusterdata-2011-2/machine_events",
            ),
            reads: &[
                ("nodes.host", &["machine ID"]),
                ("nodes.time", &["time"]),
                ("nodes.event", &["event type"]),
                ("nodes.cpu", &["CPUs"]),
                ("nodes.memory", &["memory"]),
            ],
        },
        Table { name: "machine_attributes", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "task_constraints", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "task_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
    ],
    amounts: resched_tables::store::Amounts::OfLargest,
    begin: Some(BEGIN),
    notes: &[
        UNITS,
        TIME_ZERO,
        ("priority", "0 and 1 (free) VERY_LOW, 2 to 8 NORMAL, 9 to 11 (production) HIGH, 12 (monitoring) VERY_HIGH"),
    ],
    sniff,
    read,
    assembler,
};

fn assembler() -> Box<dyn Assemble> {
    Box::new(Assembler::new(priority, true))
}

fn priority(number: i64) -> Priority {
    match number {
        ..=1 => Priority::VeryLow,
        2..=8 => Priority::Normal,
        9..=11 => Priority::High,
        12.. => Priority::VeryHigh,
    }
}

/// Columns and their types distinguish the tables; a hash has 44 characters and ends in `=`.
fn sniff(head: &[u8], _: &str) -> Option<&'static str> {
    let is: &[(&str, Is)] = &[
        ("task_events", |record| record.len() == 13 && TaskEvent::of(record).is_some()),
        ("job_events", |record| record.len() == 8 && job_event(record).is_some() && is_hash(record, 4)),
        ("machine_events", |record| machine(record).is_some() && (is_hash(record, 3) || record.field(3).is_empty())),
        ("task_constraints", |record| record.len() == 6 && all_whole(record, &[0, 1, 2, 3]) && is_hash(record, 4)),
        ("machine_attributes", |record| record.len() == 5 && all_whole(record, &[0, 1, 4]) && is_hash(record, 2)),
        ("task_usage", |record| {
            matches!(record.len(), 19 | 20) && all_whole(record, &[0, 1, 2, 3, 4]) && record.scaled(5, 1.0).is_some()
        }),
    ];
    table_of(head, is)
}

fn is_hash(record: &Record<'_>, field: usize) -> bool {
    let field = record.field(field);
    field.is_empty() || field.len() == 44 && field.ends_with(b"=")
}

fn all_whole(record: &Record<'_>, fields: &[usize]) -> bool {
    fields.iter().all(|field| record.whole(*field).is_some())
}

fn read(table: &str, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error> {
    let mut reader = Reader(Facts::new(sink));
    let mut records = Records::new(input, false);
    let mut is_first = true;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        match piece {
            Piece::Record(record) => {
                let known = match table {
                    "task_events" => reader.task(&record)?,
                    "job_events" => reader.job(&record)?,
                    _ => reader.machine(&record)?,
                };
                let is_heading = is_first && record.is_header();
                if !known && !is_heading {
                    reader.0.skip(cause::DAMAGED_RECORD);
                }
            }
            Piece::Oversized => reader.0.skip(cause::OVERSIZED_RECORD),
        }
        is_first = false;
    }
    Ok(())
}

struct Reader<'s>(Facts<'s>);

impl Reader<'_> {
    /// Takes a record of job_events. Returns whether it is one.
    fn job(&mut self, record: &Record<'_>) -> Result<bool, Error> {
        let Some((time, job, event)) = job_event(record).filter(|_| record.len() == 8) else { return Ok(false) };
        let (user, name) = (record.text(4), record.text(7).or(record.text(6)));
        let about = About { user, name, class: record.whole(5), ..About::default() };
        self.0.job(job, time, event, about)?;
        Ok(true)
    }

    /// Takes a record of task_events. Returns whether it is one.
    fn task(&mut self, record: &Record<'_>) -> Result<bool, Error> {
        let Some(task) = TaskEvent::of(record).filter(|_| record.len() == 13) else { return Ok(false) };
        let TaskEvent { time, job, index, event, machine } = task;
        self.0.aside(job, time, || About {
            user: record.text(6),
            class: record.whole(7),
            priority: record.whole(8),
            ..About::default()
        })?;
        let (cpu, memory) = (record.scaled(9, CPU_UNIT), record.scaled(10, MEMORY_UNIT));
        self.0.task(job, index, time, &Stored::Task { event, machine, cpu, memory })?;
        Ok(true)
    }

    /// Takes a record of machine_events. Returns whether it is one.
    fn machine(&mut self, record: &Record<'_>) -> Result<bool, Error> {
        let Some((time, id, left)) = machine(record) else { return Ok(false) };
        let (cpu, memory) = (record.scaled(4, CPU_UNIT), record.scaled(5, MEMORY_UNIT));
        self.0.machine(id, time, Machine { left, cpu, memory, ..Machine::default() })?;
        Ok(true)
    }
}

/// Time, job and event of a record of job_events.
fn job_event(record: &Record<'_>) -> Option<(i64, u64, Event)> {
    Some((time(record)?, id(record, 2)?, event(record, 3)?))
}

/// The required fields of a record of task_events, and its machine if it has one.
struct TaskEvent {
    time: i64,
    job: u64,
    index: u64,
    event: Event,
    machine: Option<u64>,
}

impl TaskEvent {
    fn of(record: &Record<'_>) -> Option<Self> {
        let machine = if record.field(4).is_empty() { None } else { Some(id(record, 4)?) };
        Some(Self {
            time: time(record)?,
            job: id(record, 2)?,
            index: id(record, 3)?,
            event: event(record, 5)?,
            machine,
        })
    }
}

/// Time and machine of a record of machine_events, and whether the machine left.
fn machine(record: &Record<'_>) -> Option<(i64, u64, bool)> {
    let left = match record.whole(2)? {
        0 | 2 => false,
        1 => true,
        _ => return None,
    };
    (record.len() == 6).then_some((time(record)?, id(record, 1)?, left))
}

fn time(record: &Record<'_>) -> Option<i64> {
    record.whole(0).filter(|time| *time >= 0)
}

fn id(record: &Record<'_>, field: usize) -> Option<u64> {
    u64::try_from(record.whole(field)?).ok()
}

fn event(record: &Record<'_>, field: usize) -> Option<Event> {
    Some(match record.whole(field)? {
        0 => Event::Submit,
        1 => Event::Schedule,
        2 => Event::Evict,
        3 => Event::Fail,
        4 => Event::Finish,
        5 => Event::Kill,
        6 => Event::Lost,
        7 | 8 => Event::Update,
        _ => return None,
    })
}
