//! What the holders of a resource are taken together by.

/// Whom holders are taken together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    Job,
    User,
    Queue,
    /// All together.
    Run,
}
