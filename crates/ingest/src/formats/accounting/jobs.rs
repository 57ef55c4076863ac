//! The entries of all logs of a cluster, sorted until the last log ends.
//!
//! ```text
//! entries ──▶ by id ──▶ join.rs: one job of its entries ──┬──▶ by submission ───────────────▶ records.rs
//!                                                         └──▶ tries by start ──▶ machines.rs
//! ```
//!
//! Each arrow is a [`Sorter`], which holds a part in memory and the rest on the disk. So the memory does not grow with the logs, and the
//! order of the entries does not matter.

use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::placed;
use resched_tables::sink::Sink;

use super::entry::Entry;
use super::job::{Details, Job, System, Try};
use super::join::{Asked, Held, Joined, join, numbers};
use super::machines::{self, Machines};
use super::records::Records;
use crate::formats::tables::{Fact, Key};
use crate::packed::encoding;
use crate::sorted::Sorter;

/// The entries of the logs of a cluster.
#[derive(Debug)]
pub(crate) struct Jobs {
    system: &'static System,
    by_id: Option<Sorter>,
    asked: Asked,
    entries: u64,
    /// True if the machines are those that the jobs show.
    shows_machines: bool,
    /// The entry that is taken.
    bytes: Vec<u8>,
}

impl Jobs {
    /// No entries yet.
    pub(crate) fn of(system: &'static System) -> Self {
        Self { system, by_id: None, asked: Asked::default(), entries: 0, shows_machines: true, bytes: Vec::new() }
    }

    /// Notes that the machines are known from elsewhere, or not at all.
    pub(crate) fn without_machines(&mut self) {
        self.shows_machines = false;
    }

    /// How many entries were taken.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// [`Error::Io`] if it has to go to the disk, and cannot.
    pub(crate) fn take(&mut self, entry: &Entry<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        self.entries += 1;
        let hosts = hosts(entry, sink);
        let waits: Vec<String> =
            entry.waits_for.iter().map(|wait| [if wait.must_succeed { "+" } else { "" }, wait.id].concat()).collect();
        entry.waits_for.iter().for_each(|wait| self.asked.ask(wait.id));
        let waits = waits.join(" ");
        let held = held(entry, &waits, &hosts);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.bytes = postcard::to_extend(&held, bytes).map_err(encoding(Path::new("an entry")))?;
        let mut text = String::new();
        let (job, task) = keys_of(held.id, &mut text);
        let fact = Fact { job, task, time: held.submit.unwrap_or(i64::MIN), value: &self.bytes };
        self.by_id.get_or_insert_with(|| Sorter::new(sink.room())).push(&fact)
    }

    /// Hands over the jobs and machines of all logs.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Source`] if there are too many entries of one job; the errors of the sink.
    pub(crate) fn hand_over(self, sink: &mut dyn Sink) -> Result<(), Error> {
        let Self { system, by_id, asked, shows_machines, .. } = self;
        let by_id = by_id.unwrap_or_else(|| Sorter::new(sink.room()));
        let Joined { jobs, tries, asked } = join(by_id, asked, system, sink)?;
        let machines = if shows_machines { Some(Machines::of(tries, sink)?) } else { None };
        let records = Records { asked: &asked, system };
        let mut any = false;
        jobs.visit(|fact| {
            let Some(job) = Job::read(fact.value) else { return Ok(()) };
            any = true;
            let mut record = records.of(&job, sink);
            sink.lent_job(&mut record)
        })?;
        if let Some(machines) = machines.filter(|_| any) {
            machines.report(sink);
        }
        Ok(())
    }
}

/// What is kept of an entry.
fn held<'e>(entry: &'e Entry<'_>, waits_for: &'e str, hosts: &'e str) -> Held<'e> {
    Held {
        id: &entry.id,
        submit: entry.submit,
        is_exact: entry.is_exact,
        details: Details {
            name: entry.name,
            user: entry.user,
            queue: entry.queue,
            account: entry.account,
            qos: entry.qos,
            features: entry.features,
            reservation: entry.reservation,
            priority: entry.priority,
            limit: entry.limit,
            shape: entry.shape.clone(),
            waits_for,
        },
        one: Try {
            eligible: entry.eligible,
            start: entry.start,
            end: entry.end,
            run: entry.run,
            stage: entry.stage,
            hosts,
            cpu_ms: entry.cpu_ms,
            used_memory: entry.used_memory,
        },
    }
}

/// The hosts of an entry as one text. Names that are none, or too many, are counted and unknown.
fn hosts(entry: &Entry<'_>, sink: &mut dyn Sink) -> String {
    if entry.hosts.is_empty() {
        return String::new();
    }
    if entry.hosts.len() > machines::MOST_HOSTS || entry.hosts.iter().any(|(host, _)| !machines::is_name(host)) {
        sink.skip(cause::DAMAGED_NODE_LIST, 1);
        return String::new();
    }
    placed::as_text(entry.hosts.iter().map(|(host, cpus)| (host.as_ref(), *cpus)))
}

/// What sorts ids: their first two numbers, then the text.
fn keys_of<'k>(id: &'k str, text: &'k mut String) -> (Key<'k>, Key<'k>) {
    let digits = id.bytes().take_while(u8::is_ascii_digit).count();
    let (first, rest) = id.split_at_checked(digits).unwrap_or((id, ""));
    match first.parse() {
        Ok(number) if !first.starts_with('0') || first.len() == 1 => {
            if rest.is_empty() {
                return (Key::Number(number), Key::None);
            }
            let (_, second) = numbers(id);
            *text = format!("{second:020}{rest}");
            (Key::Number(number), Key::Text(text))
        }
        _ => (Key::Text(id), Key::None),
    }
}
