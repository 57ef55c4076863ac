//! Any of these policies, so that one replay loop serves all without a virtual call in it.

use resched_sim::batch::{Ended, Offer, Orders, Policy, View};
use resched_sim::{JobId, Ms, TaskId, Violation};

use super::{BatchCapacity, BatchDress, BatchDrf, BatchFair, BatchFifo, Conservative, Easy};

macro_rules! any_batch_policy {
    ($($variant:ident),+ $(,)?) => {
        /// One of the policies of the registry for production traces.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is named like the policy it holds")]
        #[allow(clippy::large_enum_variant, reason = "there is one a replay")]
        pub enum AnyBatchPolicy { $($variant($variant)),+ }

        $(impl From<$variant> for crate::any::AnyKind {
            fn from(policy: $variant) -> Self {
                Self::Batch(AnyBatchPolicy::$variant(policy))
            }
        })+

        impl Policy for AnyBatchPolicy {
            fn job_submitted(&mut self, job: JobId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.job_submitted(job, view)),+ }
            }
            fn job_finished(&mut self, job: JobId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.job_finished(job, view)),+ }
            }
            fn task_waits(&mut self, task: TaskId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.task_waits(task, view)),+ }
            }
            fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.task_finished(ended, view)),+ }
            }
            fn nodes_changed(&mut self, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.nodes_changed(view)),+ }
            }
            fn period(&self) -> Option<Ms> {
                match self { $(Self::$variant(policy) => policy.period()),+ }
            }
            fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
                match self { $(Self::$variant(policy) => policy.tick(view, orders)),+ }
            }
            fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
                match self { $(Self::$variant(policy) => policy.schedule(offer)),+ }
            }
        }
    };
}

#[rustfmt::skip] // one a line
any_batch_policy!(
    BatchFifo,
    BatchFair,
    BatchDrf,
    BatchCapacity,
    BatchDress,
    Easy,
    Conservative,
);
