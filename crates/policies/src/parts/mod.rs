//! What several policies share: parts that they call, not a base class.

pub mod allocations;
pub mod delay_formulas;
pub mod equal_order;
pub mod fair_share;
pub mod job_queue;
pub mod locality_wait;
pub mod map_output;
pub mod pools;
pub mod queue_tree;
