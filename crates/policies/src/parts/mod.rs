//! Parts that several policies share. Policies call them; there is no base class.

pub mod by_id;
pub mod centrality;
pub mod delay_formulas;
pub(crate) mod dress;
pub mod equal_order;
pub mod fair_share;
pub mod job_queue;
pub mod job_times;
pub mod k_means;
pub mod launch;
pub mod locality_wait;
pub mod periods;
pub mod pools;
pub mod predict;
pub mod profile;
pub mod quotas;
pub mod ranking;
pub(crate) mod spark_time;
pub mod statistics;
pub mod task_progress;
pub(crate) mod whole_requests;
pub(crate) mod yarn_order;
