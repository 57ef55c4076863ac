//! The schedulers of YARN, which hand out containers.

pub(crate) mod capacity;
pub(crate) mod fair;
pub(crate) mod fifo;

pub use capacity::YarnCapacity;
pub use fair::YarnFair;
pub use fifo::YarnFifo;
