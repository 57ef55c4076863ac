//! The machines of a trace of event tables.

use std::collections::BTreeSet;
use std::fs;

use super::part::{KeyBuf, sorter};
use super::plan::Plan;
use super::spill::Index;
use super::work::{WorkFolder, partial};
use crate::formats::tables::{Fact, Machine};
use resched_tables::Error;
use resched_tables::model::{NodeChange, NodeRow};

/// Passes on the rows of the nodes table, by machine and time. They come from the tables of machines. If there are
/// none, they are the machines that attempts ran on.
pub(super) fn rows(
    plan: &Plan,
    work: &WorkFolder,
    index: &Index,
    seen: BTreeSet<String>,
    see: &mut dyn FnMut(NodeRow) -> Result<(), Error>,
) -> Result<(), Error> {
    if !index.has_machines(plan) {
        return seen.into_iter().try_for_each(|host| see(NodeRow { host, ..NodeRow::default() }));
    }
    let scratch = partial(&work.part(plan.partitions()));
    fs::create_dir_all(&scratch).map_err(Error::io(&scratch, "create the folder"))?;
    let sorter = sorter(plan, &scratch, index, plan.partitions(), &mut (), &mut || {})?;
    let mut state = State::default();
    sorter.visit(|fact| state.take(fact).map_or(Ok(()), &mut *see))
}

/// The state of the machine whose facts are being read.
#[derive(Default)]
struct State {
    host: KeyBuf,
    begun: bool,
    /// Its last offer; `None` while it is away.
    present: Option<Machine>,
    /// Whether it had an event before.
    known: bool,
}

impl State {
    /// The row that a fact makes, unless it says nothing new.
    fn take(&mut self, fact: &Fact<'_>) -> Option<NodeRow> {
        if !self.begun || !self.host.is(&fact.job) {
            *self = Self { begun: true, ..Self::default() };
            self.host.set(&fact.job);
        }
        let machine: Machine = postcard::from_bytes(fact.value).ok()?;
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
