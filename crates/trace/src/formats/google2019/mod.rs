//! Google's cluster traces of 2019 (clusterdata-2019, version 3): a month of eight Borg cells.
//!
//! Tables of BigQuery, exported as JSON lines (64-bit integers are texts or numbers, null fields are left out, structs nested
//! or flattened) or as Parquet. Times are in µs, 0 before the trace and 2^63−1 after it; resources as parts of the largest
//! machine's. Spec: formats.md section 8. The sample of Kaggle (`borg_traces_data.csv`, one row an event of an instance joined
//! with its usage) is read as far as it tells. Attributes and usage are left out.

mod columns;
mod kaggle;
mod lines;

use std::borrow::Cow;
use std::io::BufRead;

use super::csv::scaled_float;
use super::google::{About, Assembler, CPU_UNIT, Event, Facts, MEMORY_UNIT, TIME_ZERO, Told, UNITS};
use super::tables::{Assemble, FactSink, Machine, Table, TableFormat, Use};
use crate::Error;
use crate::model::Priority;

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
                "no collection_events: a job begins with its first task, and ends with its last and as they did",
            ),
        },
        Table {
            name: "instance_events",
            used: Use::Jobs,
            absent: ("tasks", "no instance_events: jobs are without tasks and attempts"),
        },
        Table {
            name: "machine_events",
            used: Use::Machines,
            absent: ("nodes", "no machine_events: the machines that attempts ran on, without capacity"),
        },
        Table { name: KAGGLE, used: Use::Jobs, absent: ("", "") },
        Table { name: "machine_attributes", used: Use::LeftOut, absent: ("", "") },
        Table { name: "instance_usage", used: Use::LeftOut, absent: ("", "") },
    ],
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

/// A Parquet file has its schema at its end, so its path must tell.
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

/// A row of one of the tables; a field that is null, absent or no such value is `None`.
#[derive(Debug, Default, PartialEq)]
struct Row<'a> {
    time: Option<i64>,
    event: Option<i64>,
    collection_id: Option<i64>,
    collection_type: Option<i64>,
    scheduling_class: Option<i64>,
    priority: Option<i64>,
    instance_index: Option<i64>,
    machine_id: Option<i64>,
    user: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    parent: Option<i64>,
    after: Vec<i64>,
    /// What an instance asks for, or a machine offers.
    cpus: Option<f64>,
    memory: Option<f64>,
    switch: Option<Cow<'a, str>>,
}

/// The type of collections that are no jobs.
const ALLOC_SET: i64 = 1;

impl Row<'_> {
    fn id(number: Option<i64>) -> Option<u64> {
        u64::try_from(number?).ok()
    }

    /// Hands over what it says; whether it is a row of that table.
    fn put(&self, table: &str, facts: &mut Facts<'_>) -> Result<bool, Error> {
        let Some(time) = self.time.filter(|time| *time >= 0) else { return Ok(false) };
        match table {
            "collection_events" => self.put_job(time, facts),
            "machine_events" => self.put_machine(time, facts),
            _ => self.put_task(time, facts),
        }
    }

    /// The job and the event, unless it is about a set of reservations.
    fn job(&self) -> Option<(u64, Event)> {
        Some((Self::id(self.collection_id)?, event(self.event?)?))
    }

    fn about(&self) -> About<'_> {
        About {
            user: self.user.as_deref(),
            name: self.name.as_deref(),
            class: self.scheduling_class,
            priority: self.priority,
            parent: Self::id(self.parent).filter(|parent| *parent > 0),
            after: self.after.iter().filter_map(|id| u64::try_from(*id).ok()).collect(),
        }
    }

    fn put_job(&self, time: i64, facts: &mut Facts<'_>) -> Result<bool, Error> {
        let Some((job, event)) = self.job() else { return Ok(false) };
        if self.collection_type == Some(ALLOC_SET) {
            facts.skip("alloc-set-left-out");
        } else {
            facts.job(job, time, event, self.about())?;
        }
        Ok(true)
    }

    fn put_task(&self, time: i64, facts: &mut Facts<'_>) -> Result<bool, Error> {
        let (Some((job, event)), Some(index)) = (self.job(), Self::id(self.instance_index)) else { return Ok(false) };
        if self.collection_type == Some(ALLOC_SET) {
            facts.skip("alloc-set-left-out");
            return Ok(true);
        }
        facts.aside(job, time, || self.about())?;
        // 0 is no machine, −1 one that is not told.
        let machine = Self::id(self.machine_id).filter(|machine| *machine > 0);
        let cpu = self.cpus.and_then(|cpus| scaled_float(cpus, CPU_UNIT));
        let memory = self.memory.and_then(|memory| scaled_float(memory, MEMORY_UNIT));
        facts.task(job, index, time, &Told::Task { event, machine, cpu, memory })?;
        Ok(true)
    }

    fn put_machine(&self, time: i64, facts: &mut Facts<'_>) -> Result<bool, Error> {
        let (Some(id), Some(kind @ 1..=3)) = (Self::id(self.machine_id), self.event) else { return Ok(false) };
        let machine = Machine {
            rack: self.switch.as_deref().map(str::to_owned),
            left: kind == 2,
            cpu: self.cpus.and_then(|cpus| scaled_float(cpus, CPU_UNIT)),
            memory: self.memory.and_then(|memory| scaled_float(memory, MEMORY_UNIT)),
            ..Machine::default()
        };
        facts.machine(id, time, machine)?;
        Ok(true)
    }
}

/// The names of events; the place of each is its number, which is another than in 2011.
const EVENTS: [(&str, Event); 11] = [
    ("SUBMIT", Event::Submit),
    ("QUEUE", Event::Queue),
    ("ENABLE", Event::Enable),
    ("SCHEDULE", Event::Schedule),
    ("EVICT", Event::Evict),
    ("FAIL", Event::Fail),
    ("FINISH", Event::Finish),
    ("KILL", Event::Kill),
    ("LOST", Event::Lost),
    ("UPDATE_PENDING", Event::Update),
    ("UPDATE_RUNNING", Event::Update),
];

fn event(number: i64) -> Option<Event> {
    EVENTS.get(usize::try_from(number).ok()?).map(|(_, event)| *event)
}

/// The number of an event, a machine's event or a type of collection by its name.
fn number_of(name: &str) -> Option<i64> {
    let of_machine = |name| match name {
        "ADD" => Some(1),
        "REMOVE" => Some(2),
        "UPDATE" => Some(3),
        "JOB" => Some(0),
        "ALLOC_SET" => Some(ALLOC_SET),
        _ => None,
    };
    let place = EVENTS.iter().position(|(event, _)| *event == name).and_then(|place| i64::try_from(place).ok());
    place.or_else(|| of_machine(name))
}
