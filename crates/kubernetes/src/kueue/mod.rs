//! Kueue's queues as a state machine: who is admitted, on which flavours, and who is evicted for whom.
//!
//! The rules are those of Kueue's scheduler of August 2026 with its feature gates at their defaults. A [`Model`] holds what a site set up,
//! a [`Kueue`] what happens:
//!
//! | you call | when |
//! |---|---|
//! | [`Kueue::submit`] | a workload is created |
//! | [`Kueue::ended`] | an admitted workload finished; its quota is free at once |
//! | [`Kueue::gone`] | the pods of an evicted workload are gone: it frees its quota and queues again |
//! | [`Kueue::withdrawn`] | a pending workload is deleted |
//! | [`Kueue::wake`] | the time [`Kueue::next_wake`] has come |
//! | [`Kueue::settle`] | after all events of an instant: cycles run until nothing changes |
//!
//! Within an instant Kueue sees ends first, then pods that are gone, then wake-ups, then submissions.
//!
//! Not covered: admission checks, `waitForPodsReady`, partial admission, pod groups, elastic jobs, admission fair sharing, and the
//! placement on topologies.

mod cycle;
mod draw;
mod error;
mod fair;
mod fit;
mod flavors;
mod links;
mod machine;
mod model;
mod nomination;
mod preemption;
mod queue;
mod quota;
mod settle;
mod state;
mod workload;

pub use self::error::Error;
pub use self::machine::Kueue;
pub use self::model::{
    BorrowWithinCohort, Cohort, Expression, FairSharing, Flavor, FlavorId, Fungibility, Group, Model, Operator, Policy,
    Preemption, Queue, QueueId, Quota, ResourceId, Settings, Strategy, Taint, Toleration,
};
pub use self::nomination::Reason;
pub use self::settle::Decision;
pub use self::workload::{Assigned, PendingReason, Place, PodSet, Submission, WorkloadId};
