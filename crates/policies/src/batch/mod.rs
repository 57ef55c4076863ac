//! The policies for production traces, which know tasks with requests of their own, stages and gangs, but neither heartbeats
//! nor places of input.

pub(crate) mod capacity;
pub(crate) mod conservative;
pub(crate) mod dress;
pub(crate) mod drf;
pub(crate) mod easy;
mod estimates;
pub(crate) mod fair;
pub(crate) mod fifo;
mod profile;
mod queue;
mod shares;

pub use capacity::BatchCapacity;
pub use conservative::Conservative;
pub use dress::BatchDress;
pub use drf::BatchDrf;
pub use easy::Easy;
pub use fair::BatchFair;
pub use fifo::BatchFifo;
