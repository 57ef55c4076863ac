//! Opening runs and traces: their jobs, which of them count, and what may be compared.

pub(crate) mod attempts;
pub mod beside;
pub(crate) mod column;
pub mod compared;
pub mod identity;
pub mod inspect;
pub mod jobs;
pub mod memory;
pub mod nodes;
pub mod origin;
pub mod outline;
pub(crate) mod peaks;
pub mod population;
pub mod run;
pub mod spans;
pub mod standing;
pub(crate) mod tables;
pub(crate) mod times;
pub mod who;
pub mod window;
