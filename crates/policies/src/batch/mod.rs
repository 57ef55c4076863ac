//! The policies for production traces, which schedule tasks that request processor and memory, stages and gangs, without heartbeats.

pub(crate) mod capacity;
mod claims;
pub(crate) mod conservative;
pub(crate) mod dress;
pub(crate) mod drf;
pub(crate) mod easy;
mod estimates;
pub(crate) mod fair;
pub(crate) mod fifo;
pub(crate) mod kueue;
mod profile;
mod queue;
mod shares;
pub(crate) mod slurm;
pub(crate) mod spark;
