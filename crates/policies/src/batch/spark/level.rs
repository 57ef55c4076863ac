//! Spark's levels of locality (`TaskLocality`).

/// How near an executor is, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// On the executor that holds the data. Only tasks without preference run so.
    Process,
    /// On a preferred machine.
    Node,
    /// For tasks that prefer no machine.
    NoPref,
    /// In the rack of a preferred machine.
    Rack,
    /// Anywhere.
    Any,
}
