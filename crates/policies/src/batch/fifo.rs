//! First come, first served.
//!
//! **What it does.** Tasks start in the order in which their jobs were submitted, and within a job as they stand in it. The first
//! that finds no room blocks all behind it; with `skip=true` those behind it that do find room start (first fit, without a
//! reservation, so that a large task may wait for long).
//!
//! **Source.** FCFS as in batch schedulers (Feitelson et al., *Parallel job scheduling: a status report*, 2004).
//!
//! **Decisions.** A task of a later stage stands where its job stands, before all tasks of later jobs; one that failed too. With
//! `priority=true` the job's own priority comes first. With `skip=true` no more than `depth` tasks are passed over at a time, as
//! Slurm bounds it (`bf_max_job_test`).

use resched_sim::batch::{Offer, Policy, View};
use resched_sim::{TaskId, Violation};

use super::queue::Queue;
use crate::registry::{Parameter, PolicyInfo};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-fifo",
    title: "First come, first served, for tasks with requests of their own",
    source: "Feitelson et al. 2004 (FCFS)",
    parameters: &[
        Parameter::boolean("skip", "false", "tasks behind one that finds no room may start; false: they wait for it"),
        DEPTH,
        PRIORITY,
    ],
    build: |values, _| {
        Ok(BatchFifo::new(values.boolean("skip"), values.integer("depth") as u32, values.boolean("priority")).into())
    },
};

/// How far a policy looks for tasks that fit.
pub(super) const DEPTH: Parameter = Parameter::integer(
    "depth",
    "500",
    1,
    1_000_000_000,
    "tasks",
    "how many tasks that find no room are passed over at a time",
);

/// Whether priorities count.
pub(super) const PRIORITY: Parameter =
    Parameter::boolean("priority", "false", "jobs of higher priority come first; false: only their submission counts");

/// The policy.
#[derive(Debug)]
pub struct BatchFifo {
    queue: Queue,
    skip: bool,
    depth: u32,
}

impl BatchFifo {
    pub(super) fn new(skip: bool, depth: u32, by_priority: bool) -> Self {
        Self { queue: Queue::new(by_priority), skip, depth }
    }
}

impl Policy for BatchFifo {
    fn queued(&mut self, task: TaskId, view: View<'_>) {
        self.queue.add(task, view);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut passed = 0;
        let mut next = self.queue.first();
        while let Some(place) = next {
            offer.start(place.task, u32::MAX)?;
            next = self.queue.after(place);
            if offer.view().waiting(place.task) == 0 {
                self.queue.remove(place);
                continue;
            }
            passed += 1;
            if !self.skip || passed > self.depth {
                break;
            }
        }
        Ok(())
    }
}
