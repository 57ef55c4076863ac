//! Algorithms that were published as papers, with references and bounds to compare with.

pub(crate) mod aria;
pub(crate) mod cogrs;
pub(crate) mod coupling;
pub(crate) mod delay;
pub(crate) mod delay_time;
pub(crate) mod dress;
pub(crate) mod flex;
pub(crate) mod naive_fair;
pub(crate) mod quincy;
pub(crate) mod srpt;
pub(crate) mod triple_queue;
