//! The schedulers of MapReduce 1, which hand out slots.

pub(crate) mod capacity;
pub(crate) mod fair;
pub(crate) mod fair_deficit;
pub(crate) mod fifo;

pub use capacity::Capacity;
pub use fair::Fair;
