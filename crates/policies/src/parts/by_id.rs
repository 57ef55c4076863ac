//! A value that a policy keeps for each job, task, node or run.
//!
//! Ids are small dense numbers, so the values stand in a vector, which grows when a value is changed. A policy need not
//! make room for a job that arrives.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use resched_sim::{JobId, NodeId, TaskId, batch};

/// An id that numbers things from 0 without gaps.
pub trait Id: Copy {
    /// The place of its value.
    fn place(self) -> usize;
}

macro_rules! ids {
    ($($id:ty),+ $(,)?) => {
        $(impl Id for $id {
            #[inline]
            fn place(self) -> usize {
                self.index()
            }
        })+
    };
}

ids!(JobId, TaskId, NodeId, batch::AttemptId);

/// A value for each id; the default where nothing was kept.
#[derive(Debug)]
pub struct ById<I, T> {
    values: Vec<T>,
    default: T,
    ids: PhantomData<I>,
}

/// A value for each job.
pub type ByJob<T> = ById<JobId, T>;
/// A value for each task.
pub type ByTask<T> = ById<TaskId, T>;
/// A value for each node.
pub type ByNode<T> = ById<NodeId, T>;
/// A value for each run of a task on a production cluster.
pub type ByRun<T> = ById<batch::AttemptId, T>;

impl<I, T: Default> Default for ById<I, T> {
    fn default() -> Self {
        Self { values: Vec::new(), default: T::default(), ids: PhantomData }
    }
}

impl<I: Id, T: Default> ById<I, T> {
    /// The values by id, up to the last one that was ever changed.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Takes the value out and leaves the default, for something that has ended.
    pub fn take(&mut self, id: I) -> T {
        self.values.get_mut(id.place()).map(std::mem::take).unwrap_or_default()
    }
}

impl<I: Id, T: Default> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        self.values.get(id.place()).unwrap_or(&self.default)
    }
}

impl<I: Id, T: Default> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        if self.values.len() <= id.place() {
            self.values.resize_with(id.place() + 1, T::default);
        }
        &mut self.values[id.place()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_job;

    #[test]
    fn what_was_not_kept_is_the_default() {
        let (mut values, job) = (ByJob::<u32>::default(), some_job());
        assert_eq!((values[job], values.take(job)), (0, 0));
        values[job] += 2;
        assert_eq!((values[job], values.take(job), values[job]), (2, 2, 0));
    }
}
