//! The policies for production traces, which know tasks with requests of their own, stages and gangs, but neither heartbeats
//! nor places of input.

mod any;
pub(crate) mod conservative;
pub(crate) mod easy;
mod estimates;
pub(crate) mod fifo;
mod profile;
mod queue;

pub use any::AnyBatchPolicy;
pub use conservative::Conservative;
pub use easy::Easy;
pub use fifo::BatchFifo;
