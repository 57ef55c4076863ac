//! Parts of both forms of DRESS: phases of jobs, and the moves of δ.

pub(crate) mod delta;
pub(crate) mod parameters;
pub(crate) mod phases;
