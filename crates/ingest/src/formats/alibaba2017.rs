//! Alibaba's cluster trace of 2017 (cluster-trace-v2017): twelve hours of 1,300 machines.
//!
//! `batch_task.csv`, `batch_instance.csv` and `server_event.csv` without headers (copies may have one); an empty field is
//! missing, and so is a capacity of 0. `docs/formats/alibaba2017.md` has its quirks. Containers and usage are left out.

use std::io::BufRead;

use super::alibaba::{self, Assembler, CORE_UNIT, Facts, PLAN_CPU_UNIT, Status, Stored, TaskName, machine_ms};
use super::csv::{Is, Record, mostly, table_of};
use super::tables::{Assemble, FactSink, Key, Machine, Table, TableFormat, Use};
use resched_tables::Error;
use resched_tables::cause;

/// The format `alibaba2017`.
pub const FORMAT: TableFormat = TableFormat {
    name: "alibaba2017",
    title: "table of Alibaba's cluster trace of 2017",
    tables: &[
        Table {
            name: "batch_task",
            used: Use::Jobs,
            absent: ("tasks", "no batch_task: tasks are those of the instances, without requests"),
            reads: &[
                ("jobs.job_id", &["job_id"]),
                ("jobs.submit", &["create_timestamp"]),
                ("jobs.launch", &["create_timestamp"]),
                ("jobs.finish", &["modify_timestamp"]),
                ("jobs.outcome", &["status"]),
                ("tasks.task_id", &["job_id", "task_id"]),
                ("tasks.start", &["create_timestamp"]),
                ("tasks.finish", &["modify_timestamp"]),
                ("tasks.outcome", &["status"]),
                ("tasks.instances", &["instance_num"]),
                ("tasks.cpu_request", &["plan_cpu"]),
                ("tasks.memory_request", &["plan_mem"]),
            ],
        },
        Table {
            name: "batch_instance",
            used: Use::Jobs,
            absent: ("attempts", "no batch_instance: tasks have a number of instances, but no rows for them"),
            reads: &[
                ("jobs.submit", &["start_timestamp"]),
                ("jobs.launch", &["start_timestamp"]),
                ("jobs.finish", &["end_timestamp"]),
                ("tasks.start", &["start_timestamp"]),
                ("tasks.finish", &["end_timestamp"]),
                ("attempts.start", &["start_timestamp"]),
                ("attempts.finish", &["end_timestamp"]),
                ("attempts.outcome", &["status"]),
                ("attempts.host", &["machineID"]),
            ],
        },
        Table {
            name: "server_event",
            used: Use::Machines,
            absent: ("nodes", "no server_event: the machines that attempts ran on, without capacity"),
            reads: &[
                ("nodes.host", &["machineID"]),
                ("nodes.time", &["timestamp"]),
                ("nodes.event", &["event type"]),
                ("nodes.cpu", &["capacity: CPU"]),
                ("nodes.memory", &["capacity: memory"]),
            ],
        },
        Table { name: "server_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "container_event", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "container_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
    ],
    amounts: resched_tables::store::Amounts::MemoryOfLargest,
    begin: None,
    notes: &[
        (
            "units",
            "cpu columns: thousandths of a core; memory is normalised, and 1.0 is 1,000,000,000,000 in memory columns",
        ),
        ("time 0", "the start of the trace; earlier starts have a time of 0 or less"),
    ],
    sniff,
    read,
    assembler,
};

/// Memory of 1.0 in the tables' units.
const MEMORY_UNIT: f64 = 1e12;

fn assembler() -> Box<dyn Assemble> {
    Box::new(Assembler::new(|_| TaskName::default()))
}

fn sniff(head: &[u8], path: &str) -> Option<&'static str> {
    let is: &[(&str, Is)] = &[
        ("batch_task", |record| {
            record.len() == 8 && Status::of(record.field(5)).is_some() && record.whole(2).is_some()
        }),
        ("batch_instance", |record| record.len() == 12 && Status::of(record.field(5)).is_some()),
        ("server_event", |record| record.len() == 7 && event(record).is_some() && record.whole(1).is_some()),
    ];
    if let Some(table) = table_of(head, is) {
        return Some(table);
    }
    // The tables of usage hold only numbers, so their names must decide.
    let numbers = |record: &Record<'_>| record.len() >= 8 && record.whole(0).is_some();
    let named = |table: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with(*table));
    ["server_usage", "container_event", "container_usage"].into_iter().find(named).filter(|_| mostly(head, numbers))
}

fn read(table: &str, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error> {
    let take = match table {
        "batch_task" => task,
        "batch_instance" => instance,
        _ => machine,
    };
    alibaba::read(take, input, path, sink)
}

fn task(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(start), Some(end), Some(job), Some(task), Some(status)) =
        (record.whole(0), record.whole(1), id(record, 2), id(record, 3), Status::of(record.field(5)))
    else {
        return Ok(false);
    };
    if record.len() != 8 {
        return Ok(false);
    }
    let reported = Stored::Task {
        status,
        start,
        end,
        instances: record.whole(4),
        cpu: record.scaled(6, PLAN_CPU_UNIT),
        memory: record.scaled(7, MEMORY_UNIT),
    };
    facts.task(job, task, &reported)?;
    Ok(true)
}

fn instance(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(start), Some(status)) = (record.whole(0), Status::of(record.field(5))) else { return Ok(false) };
    if record.len() != 12 {
        return Ok(false);
    }
    let (Some(job), Some(task)) = (id(record, 2), id(record, 3)) else {
        facts.skip(cause::INSTANCE_OF_NO_TASK);
        return Ok(true);
    };
    facts.task(job, task, &Stored::Instance { status, start, end: record.whole(1), machine: record.text(4) })?;
    Ok(true)
}

/// An event of a machine.
enum Event {
    Add,
    /// The machine takes no new jobs for an unknown time.
    SoftError,
    HardError,
}

fn event(record: &Record<'_>) -> Option<Event> {
    Some(match record.field(2) {
        b"add" => Event::Add,
        b"softerror" => Event::SoftError,
        b"harderror" => Event::HardError,
        _ => return None,
    })
}

fn machine(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(time), Some(id), Some(event)) = (record.whole(0), id(record, 1), event(record)) else { return Ok(false) };
    let left = match event {
        Event::Add => false,
        Event::HardError => true,
        Event::SoftError => {
            facts.skip(cause::MACHINE_SOFTERROR_LEFT_OUT);
            return Ok(true);
        }
    };
    let given = |value: i64| value != 0;
    let machine = Machine {
        rack: None,
        time: machine_ms(time),
        left,
        cpu: record.scaled(4, CORE_UNIT).filter(|cpu| given(*cpu)),
        memory: record.scaled(5, MEMORY_UNIT).filter(|memory| given(*memory)),
    };
    facts.machine(id, time, &machine)?;
    Ok(true)
}

fn id<'t>(record: &Record<'t>, field: usize) -> Option<Key<'t>> {
    Some(Key::Number(u64::try_from(record.whole(field)?).ok()?))
}
