//! Preemption: containers that are killed for queues or jobs that lack resources (rule F12).
//!
//! | rules | who lacks | whose containers |
//! |---|---|---|
//! | 2014 ([`warned`]) | queues | of the queue and the job that are served last, whatever their nodes |
//! | 3.4 ([`starved`], [`victims`]) | jobs | those that make room on one node for a request |

mod line;
mod starved;
mod victims;
mod warned;

pub(super) use starved::Needs;
pub(super) use victims::{Chosen, Killing};
pub(super) use warned::{Preemption, Starvation, Warned};
