//! The two kinds of task.

/// The two kinds of task of a MapReduce job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Reads a split of the input.
    Map,
    /// Fetches the output of the maps, and combines it.
    Reduce,
}

impl Kind {
    /// Both kinds, maps first.
    pub const BOTH: [Kind; 2] = [Kind::Map, Kind::Reduce];

    /// Its place in a pair of values, one for each kind.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}
