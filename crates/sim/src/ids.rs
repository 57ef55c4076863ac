//! Small dense integers that name the things of a replay and index its arrays.
//!
//! They cannot be made outside this crate: a policy has only the ids that the engine gave it, so it cannot ask for a
//! future job.

use std::cmp::Ordering;

pub use resched_tables::model::Ms;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The place in an array.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of a place in an array.
            #[inline]
            #[allow(dead_code)]
            pub(crate) fn at(index: usize) -> Self {
                Self(index as u32)
            }
        }
    };
}

id! {
    /// A job. Jobs are numbered by submission time, then by id.
    JobId
}
id! {
    /// A task. The tasks of a job are consecutive: its maps by number, then its reduces.
    TaskId
}
id! {
    /// A node. Nodes are numbered by host name.
    NodeId
}
id! {
    /// Something that runs now: an attempt at a task on a node, or an instance or a gang of a production trace. After
    /// it has ended, its number is used again. So the largest number is below the most that ever ran at once.
    AttemptId
}
id! {
    /// A rack. Racks are numbered in the order of their first nodes.
    RackId
}

impl NodeId {
    /// Stands for machines that are not of the cluster, such as those of a separate storage, among those that a task prefers.
    pub const OUTSIDE: Self = Self(u32::MAX);
}

/// The order of two job ids: `job_1_9999` before `job_1_10000`, and Slurm's `7+1` before `9`.
pub(crate) fn by_number(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other)).then_with(|| one.cmp(other))
}

fn parts(id: &str) -> impl Iterator<Item = (usize, &str)> {
    id.split(['_', '+']).map(|part| (part.len(), part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_by_their_numbers() {
        let mut ids = ["10", "7+10", "9", "7+1", "7", "7+2", "job_1_10000", "job_1_9999", "7_10", "7_9"];
        ids.sort_by(|one, other| by_number(one, other));
        assert_eq!(ids, ["7", "7+1", "7+2", "7_9", "7+10", "7_10", "9", "10", "job_1_9999", "job_1_10000"]);
    }
}
