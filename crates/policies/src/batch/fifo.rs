//! First come, first served.
//!
//! **What it does.** Tasks start in the order in which their jobs were submitted, and within a job in the job's order.
//! The first task without room blocks all behind it. With `skip=true`, later tasks start if there is room for them.
//! This is first fit without a reservation, so a large task may wait for long.
//!
//! **Source.** FCFS as in batch schedulers (Feitelson et al., *Parallel job scheduling: a status report*, 2004).
//!
//! **Decisions.** A task of a later stage has the place of its job, before all tasks of later jobs. So has a task that
//! failed. With `priority=true`, the job's own priority comes first. With `skip=true`, at most `depth` tasks are passed
//! over at a time, as Slurm limits it (`bf_max_job_test`).

use resched_sim::batch::{Offer, Policy, View};
use resched_sim::{TaskId, Violation};

use super::queue::{Place, Queue};
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::settings::{parameter, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-fifo",
    title: "First come, first served, for tasks that request processor and memory",
    source: "Feitelson et al. 2004 (FCFS)",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(BatchFifo::new(&Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// tasks behind one that finds no room may start; false: they wait for it
        skip: bool = "skip" { default: false },
        depth: u32 = DEPTH,
        priority: bool = PRIORITY,
    }
}

parameter! {
    /// most tasks without room that are passed over at a time
    pub(super) DEPTH: u32 = "depth" { default: 500, range: 1..=1_000_000_000, unit: "tasks" }
}

parameter! {
    /// jobs of higher priority come first; false: only the time of submission counts
    pub(super) PRIORITY: bool = "priority" { default: false }
}

/// The policy.
#[derive(Debug)]
struct BatchFifo {
    queue: Queue,
    skip: bool,
    depth: u32,
    /// Room for the tasks of a pass of which nothing waits any more.
    started: Vec<Place>,
}

impl BatchFifo {
    fn new(settings: &Settings) -> Self {
        let &Settings { skip, depth, priority } = settings;
        Self { queue: Queue::new(priority), skip, depth, started: Vec::new() }
    }

    /// Starts what finds room behind the first task that finds none.
    fn look_behind(&mut self, first: Place, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.started.clear();
        let mut passed = 1;
        for place in self.queue.rest(first) {
            if passed > self.depth {
                break;
            }
            offer.start(place.task, u32::MAX)?;
            if offer.view().waiting(place.task) == 0 {
                self.started.push(place);
            } else {
                passed += 1;
            }
        }
        self.started.iter().for_each(|&place| self.queue.remove(place));
        Ok(())
    }
}

impl Policy for BatchFifo {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.queue.add(task, view);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        while let Some(first) = self.queue.first() {
            offer.start(first.task, u32::MAX)?;
            if offer.view().waiting(first.task) > 0 {
                return if self.skip { self.look_behind(first, offer) } else { Ok(()) };
            }
            self.queue.remove(first);
        }
        Ok(())
    }
}
