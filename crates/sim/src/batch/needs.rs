//! What tasks need of machines beside processor and memory.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

/// What a task needs beside processor and memory. Every policy is held to resources and licences; the rest is for policies that look
/// at it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Needs {
    /// Other resources that each of its instances takes of a machine, by name, such as `gres/gpu`.
    pub resources: Vec<(Arc<str>, u64)>,
    /// What it takes of the whole cluster while it runs, by name.
    pub licenses: Vec<(Arc<str>, u64)>,
    /// The features that its machines must have, as the source writes them; `""` for none.
    pub features: Arc<str>,
    /// On how many machines its instances must lie.
    pub machines: Option<u32>,
    /// True if its machines run nothing else meanwhile.
    pub exclusive: bool,
    /// What its pods ask of nodes (Kubernetes).
    pub pods: Option<Arc<Pods>>,
}

/// What pods ask of nodes, as the tables have it (`resched_tables::pods`); `""` for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Pods {
    /// Labels that a node must have.
    pub node_selector: String,
    /// Taints that it may have.
    pub tolerations: String,
    /// Required node affinity.
    pub affinity: String,
}

/// The needs of the tasks of a workload, each kind once.
#[derive(Debug, Clone, Default)]
pub(super) struct AllNeeds {
    /// The first is nothing, if there is any. Shared with what is made of a part of the tasks.
    kinds: Arc<Vec<Needs>>,
    /// The place of each kind.
    places: Arc<HashMap<Needs, u32>>,
    /// The kind of each task; empty as long as no task needs anything.
    of_tasks: Vec<u32>,
}

impl AllNeeds {
    /// The kinds.
    pub(super) fn kinds(&self) -> &[Needs] {
        &self.kinds
    }

    /// The place of the kind of a task.
    #[inline]
    pub(super) fn kind(&self, task: usize) -> u32 {
        self.of_tasks.get(task).copied().unwrap_or(0)
    }

    /// The places of the kinds that tasks have.
    pub(super) fn in_use(&self) -> BTreeSet<u32> {
        self.of_tasks.iter().copied().collect()
    }

    /// What a task needs.
    pub(super) fn of(&self, task: usize) -> &Needs {
        static NOTHING: std::sync::LazyLock<Needs> = std::sync::LazyLock::new(Needs::default);
        self.kinds.get(self.kind(task) as usize).unwrap_or(&NOTHING)
    }

    /// Sets the needs of the task at a place, behind all that have any.
    pub(super) fn set(&mut self, task: usize, needs: Needs) {
        if needs == Needs::default() {
            return;
        }
        if self.kinds.is_empty() {
            Arc::make_mut(&mut self.kinds).push(Needs::default());
        }
        let Self { kinds, places, of_tasks } = self;
        let kinds = Arc::make_mut(kinds);
        let kind = *Arc::make_mut(places).entry(needs).or_insert_with_key(|needs| {
            kinds.push(needs.clone());
            kinds.len() as u32 - 1
        });
        of_tasks.resize(task, 0);
        of_tasks.push(kind);
    }

    /// Those of some tasks by themselves.
    pub(super) fn part(&self, tasks: Range<usize>) -> Self {
        self.in_order(tasks)
    }

    /// Those of these tasks, in that order.
    pub(super) fn in_order(&self, tasks: impl Iterator<Item = usize>) -> Self {
        if self.of_tasks.is_empty() {
            return Self::default();
        }
        let of_tasks = tasks.map(|task| self.kind(task)).collect();
        Self { kinds: Arc::clone(&self.kinds), places: Arc::clone(&self.places), of_tasks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_keep_what_they_need_through_every_order() {
        let two = |machines| Needs { machines: Some(machines), ..Needs::default() };
        let mut needs = AllNeeds::default();
        needs.set(0, Needs::default());
        assert!(needs.of_tasks.is_empty());
        needs.set(2, two(3));
        needs.set(3, two(4));
        needs.set(6, two(3));
        let all = |needs: &AllNeeds| (0..8).map(|task| needs.of(task).machines.unwrap_or(0)).collect::<Vec<_>>();
        assert_eq!(all(&needs), [0, 0, 3, 4, 0, 0, 3, 0]);
        assert_eq!(needs.kinds.len(), 3);
        assert_eq!(all(&needs.in_order([6, 0, 3].into_iter())), [3, 0, 4, 0, 0, 0, 0, 0]);
        assert_eq!(all(&needs.part(3..5)), [4, 0, 0, 0, 0, 0, 0, 0]);
    }
}
