//! The schedulers of YARN, which hand out containers.

pub(crate) mod capacity;
pub(crate) mod fair;
pub(crate) mod fifo;
