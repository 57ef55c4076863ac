//! The policies for production traces, which know tasks with requests of their own, stages and gangs, but neither heartbeats
//! nor places of input.

mod any;
pub(crate) mod fifo;
mod queue;

pub use any::AnyBatchPolicy;
pub use fifo::BatchFifo;
