//! Which jobs a number is over.

/// Which jobs a number is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// Those that count: they ended well. Completion and slowdown say nothing about a job that failed or was ended.
    Ended,
    /// Those that started, whatever became of them: they have waited, and they took a share of the cluster.
    Started,
}
