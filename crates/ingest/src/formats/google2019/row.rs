//! A row of the tables, however it is written.

use std::borrow::Cow;

use crate::formats::csv::scaled_float;
use crate::formats::google::{About, CPU_UNIT, Event, Facts, MEMORY_UNIT, Stored};
use crate::formats::tables::Machine;
use resched_tables::Error;
use resched_tables::cause;

/// A row of one of the tables. A field that is null, absent or of a wrong type is `None`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) time: Option<i64>,
    pub(super) event: Option<i64>,
    pub(super) collection_id: Option<i64>,
    pub(super) collection_type: Option<i64>,
    pub(super) scheduling_class: Option<i64>,
    pub(super) priority: Option<i64>,
    pub(super) instance_index: Option<i64>,
    pub(super) machine_id: Option<i64>,
    pub(super) user: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) parent: Option<i64>,
    pub(super) after: Vec<i64>,
    /// The resources that an instance asks for, or a machine offers.
    pub(super) cpus: Option<f64>,
    pub(super) memory: Option<f64>,
    pub(super) switch: Option<Cow<'a, str>>,
}

/// The type of collections that are not jobs.
const ALLOC_SET: i64 = 1;

impl Row<'_> {
    fn id(number: Option<i64>) -> Option<u64> {
        u64::try_from(number?).ok()
    }

    /// Passes on its content. Returns whether it is a row of that table.
    pub(super) fn put(&self, table: &str, facts: &mut Facts<'_>) -> Result<bool, Error> {
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
            facts.skip(cause::ALLOC_SET_LEFT_OUT);
        } else {
            facts.job(job, time, event, self.about())?;
        }
        Ok(true)
    }

    fn put_task(&self, time: i64, facts: &mut Facts<'_>) -> Result<bool, Error> {
        let (Some((job, event)), Some(index)) = (self.job(), Self::id(self.instance_index)) else { return Ok(false) };
        if self.collection_type == Some(ALLOC_SET) {
            facts.skip(cause::ALLOC_SET_LEFT_OUT);
            return Ok(true);
        }
        facts.aside(job, time, || self.about())?;
        // 0 stands for no machine, −1 for an unknown one.
        let machine = Self::id(self.machine_id).filter(|machine| *machine > 0);
        let cpu = self.cpus.and_then(|cpus| scaled_float(cpus, CPU_UNIT));
        let memory = self.memory.and_then(|memory| scaled_float(memory, MEMORY_UNIT));
        facts.task(job, index, time, &Stored::Task { event, machine, cpu, memory })?;
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

/// The names of events. The place of each is its number. The numbers differ from those of 2011.
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
pub(super) fn number_of(name: &str) -> Option<i64> {
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
