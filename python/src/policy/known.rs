//! What a policy in Python may name: the jobs, tasks, nodes and runs that it was given.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use resched_sim::{JobId, NodeId, TaskId};

use crate::errors;

/// The ids that a policy may use, by their numbers; `R` is that of a run. A number that the policy was not given stands for nothing.
pub(super) struct Known<R>(Mutex<Ids<R>>);

struct Ids<R> {
    jobs: Vec<Option<JobId>>,
    tasks: Vec<Option<TaskId>>,
    nodes: Vec<NodeId>,
    runs: Vec<Option<R>>,
    /// What the policy asked for and may not have.
    violation: Option<String>,
}

impl<R> Default for Known<R> {
    fn default() -> Self {
        let ids = Ids { jobs: Vec::new(), tasks: Vec::new(), nodes: Vec::new(), runs: Vec::new(), violation: None };
        Self(Mutex::new(ids))
    }
}

impl<R: Copy> Known<R> {
    fn ids(&self) -> MutexGuard<'_, Ids<R>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the policy a job. Returns whether it did not have it.
    pub(super) fn add_job(&self, job: JobId) -> bool {
        put(&mut self.ids().jobs, job.index(), job)
    }

    /// Gives the policy tasks.
    pub(super) fn add_tasks(&self, tasks: impl Iterator<Item = TaskId>) {
        let mut ids = self.ids();
        for task in tasks {
            put(&mut ids.tasks, task.index(), task);
        }
    }

    /// Gives the policy a run, in the place of one with the same number that has ended.
    pub(super) fn add_run(&self, number: usize, run: R) {
        put(&mut self.ids().runs, number, run);
    }

    /// The tasks that it was given.
    pub(super) fn tasks(&self) -> Vec<TaskId> {
        self.ids().tasks.iter().copied().flatten().collect()
    }

    pub(super) fn job(&self, py: Python<'_>, number: usize) -> PyResult<JobId> {
        let found = self.ids().jobs.get(number).copied().flatten();
        found.ok_or_else(|| self.unknown(py, "job", number))
    }

    pub(super) fn task(&self, py: Python<'_>, number: usize) -> PyResult<TaskId> {
        let found = self.ids().tasks.get(number).copied().flatten();
        found.ok_or_else(|| self.unknown(py, "task", number))
    }

    pub(super) fn run(&self, py: Python<'_>, number: usize) -> PyResult<R> {
        let found = self.ids().runs.get(number).copied().flatten();
        found.ok_or_else(|| self.unknown(py, "run", number))
    }

    /// A node; `all` of them are read once.
    pub(super) fn node(
        &self,
        py: Python<'_>,
        number: usize,
        all: impl FnOnce() -> PyResult<Vec<NodeId>>,
    ) -> PyResult<NodeId> {
        if self.ids().nodes.is_empty() {
            let nodes = all()?;
            self.ids().nodes = nodes;
        }
        let found = self.ids().nodes.get(number).copied();
        found.ok_or_else(|| self.unknown(py, "node", number))
    }

    /// The exception for what the engine does not allow. It ends the replay, also if the policy catches it.
    pub(super) fn refused(&self, py: Python<'_>, problem: String) -> PyErr {
        let error = errors::error(py, "PolicyViolation", &problem);
        self.ids().violation.get_or_insert(problem);
        error
    }

    /// What the policy asked for and may not have, once.
    pub(super) fn take_violation(&self) -> Option<String> {
        self.ids().violation.take()
    }

    fn unknown(&self, py: Python<'_>, what: &str, number: usize) -> PyErr {
        self.refused(py, format!("names {what} {number}, which it was not given"))
    }
}

/// Puts an id at its place in a list. Returns whether the place was empty.
fn put<T: Copy>(list: &mut Vec<Option<T>>, place: usize, id: T) -> bool {
    if list.len() <= place {
        list.resize(place + 1, None);
    }
    list[place].replace(id).is_none()
}
