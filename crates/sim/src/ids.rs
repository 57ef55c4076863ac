//! Small dense integers that name the things of a replay and index its arrays.
//!
//! They cannot be made outside this crate: a policy has only the ids that it was given, so it cannot ask for a job of the future.

/// Milliseconds of the simulated clock.
pub type Ms = i64;

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
    /// A rack. Racks are numbered in the order in which their first nodes come.
    RackId
}

/// The two kinds of task of a MapReduce job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Reads a split of the input.
    Map,
    /// Fetches what the maps made, and combines it.
    Reduce,
}

impl Kind {
    /// Both kinds, maps first.
    pub const BOTH: [Kind; 2] = [Kind::Map, Kind::Reduce];

    /// Its place in a pair of values, one a kind.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// How near to its input a map runs; the discriminants are the levels 0, 1 and 2 of Hadoop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// On a node that holds its split.
    Node,
    /// In a rack that holds its split.
    Rack,
    /// Elsewhere.
    Off,
}

impl Level {
    /// Its place in an array of three.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}
