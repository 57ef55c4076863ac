//! The machines of a trace of event tables.

use std::collections::BTreeSet;
use std::fs;

use super::super::far::Times;
use super::part::{KeyBuf, sorter};
use super::plan::Plan;
use super::spill::Index;
use super::work::{WorkFolder, partial};
use crate::formats::tables::{Fact, Machine};
use resched_tables::Error;
use resched_tables::model::{NodeChange, NodeRow};

/// What jobs and attempts show about the machines.
#[derive(Default)]
pub(super) struct Seen {
    /// The machines that attempts ran on.
    pub(super) hosts: BTreeSet<String>,
    /// The first and the last time of the jobs.
    pub(super) times: Times,
}

/// Passes on the rows of the nodes table, by machine and time. They come from the tables of machines. If there are
/// none, they are the machines that attempts ran on. Returns how many events were far from all jobs.
pub(super) fn rows(
    plan: &Plan,
    work: &WorkFolder,
    index: &Index,
    seen: Seen,
    see: &mut dyn FnMut(NodeRow) -> Result<(), Error>,
) -> Result<u64, Error> {
    if !index.has_machines(plan) {
        seen.hosts.into_iter().try_for_each(|host| see(NodeRow { host, ..NodeRow::default() }))?;
        return Ok(0);
    }
    let scratch = partial(&work.part(plan.partitions()));
    fs::create_dir_all(&scratch).map_err(Error::io(&scratch, "create the folder"))?;
    let sorter = sorter(plan, &scratch, index, plan.partitions(), &mut (), &mut || {})?;
    let mut state = State { times: seen.times, ..State::default() };
    sorter.visit(|fact| state.take(fact).map_or(Ok(()), &mut *see))?;
    Ok(state.far)
}

/// The state of the machine whose facts are being read.
#[derive(Default)]
struct State {
    host: KeyBuf,
    begun: bool,
    /// Its last offer; `None` while it is away.
    present: Option<Machine>,
    /// True if it had an event before.
    known: bool,
    /// The times of the jobs of the trace.
    times: Times,
    /// How many events of all machines were far from them.
    far: u64,
}

impl State {
    /// The row that a fact makes, unless it says nothing new.
    fn take(&mut self, fact: &Fact<'_>) -> Option<NodeRow> {
        if !self.begun || !self.host.is(&fact.job) {
            *self = Self { begun: true, times: self.times, far: self.far, ..Self::default() };
            self.host.set(&fact.job);
        }
        let mut machine: Machine = postcard::from_bytes(fact.value).ok()?;
        if self.times.is_far(machine.time) {
            self.far += 1;
            // As elsewhere, the time is damage: a machine that only comes then was there from the start, and another event is left out.
            if self.known || machine.left {
                return None;
            }
            machine.time = None;
        }
        let event = match (&self.present, machine.left) {
            (None, true) if self.known => return None,
            (_, true) => NodeChange::Remove,
            (None, false) => NodeChange::Add,
            (Some(before), false) if before.offers_as(&machine) => return None,
            (Some(_), false) => NodeChange::Update,
        };
        self.known = true;
        self.present = (!machine.left).then(|| machine.clone());
        Some(machine.into_row(fact.job.to_string(), event))
    }
}

impl Machine {
    fn offers_as(&self, other: &Machine) -> bool {
        (&self.rack, self.cpu, self.memory) == (&other.rack, other.cpu, other.memory)
    }
}
