//! From which share on something decides an answer.

/// Below this share, something that is made, left out or unfinished does not decide an answer.
pub(crate) const SMALL: f64 = 0.05;
