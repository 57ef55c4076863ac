//! Any of the policies, so that one replay loop serves all without a virtual call in it.

use resched_sim::hadoop::{AttemptEnd, Container, Offer, Orders, Policy, RunView, System, View};
use resched_sim::{JobId, Ms, NodeId, Resources, TaskId, Violation};

use crate::batch::AnyBatchPolicy;
use crate::hadoop::mr1::Capacity;
use crate::hadoop::mr1::Fair;
use crate::hadoop::mr1::FairDeficit;
use crate::hadoop::mr1::Fifo;
use crate::hadoop::papers::Aria;
use crate::hadoop::papers::CoGrs;
use crate::hadoop::papers::Coupling;
use crate::hadoop::papers::Delay;
use crate::hadoop::papers::DelayTime;
use crate::hadoop::papers::Dress;
use crate::hadoop::papers::Flex;
use crate::hadoop::papers::NaiveFair;
use crate::hadoop::papers::Quincy;
use crate::hadoop::papers::Srpt;
use crate::hadoop::papers::TripleQueue;
use crate::hadoop::yarn::YarnCapacity;
use crate::hadoop::yarn::YarnFair;
use crate::hadoop::yarn::YarnFifo;
use crate::speculation::WithSpeculation;

/// A policy of either engine.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a replay")]
pub(crate) enum AnyKind {
    /// For Hadoop's: maps and reduces, heartbeats, slots or containers.
    Hadoop(AnyPolicy),
    /// For production traces.
    Batch(AnyBatchPolicy),
}

macro_rules! any_policy {
    ($($variant:ident),+ $(,)?) => {
        /// One of the policies of the registry, or one with a speculator.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is named like the policy it holds")]
        #[allow(clippy::large_enum_variant, reason = "there is one a replay")]
        pub enum AnyPolicy { $($variant($variant)),+ }

        $(impl From<$variant> for AnyPolicy {
            fn from(policy: $variant) -> Self {
                AnyPolicy::$variant(policy)
            }
        })+

        $(impl From<$variant> for AnyKind {
            fn from(policy: $variant) -> Self {
                AnyKind::Hadoop(policy.into())
            }
        })+

        impl Policy for AnyPolicy {
            fn system(&self) -> System {
                match self { $(Self::$variant(policy) => policy.system()),+ }
            }
            fn job_submitted(&mut self, job: JobId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.job_submitted(job, view)),+ }
            }
            fn job_finished(&mut self, job: JobId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.job_finished(job, view)),+ }
            }
            fn task_started(&mut self, started: &RunView, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.task_started(started, view)),+ }
            }
            fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.task_finished(ended, view)),+ }
            }
            fn is_oracle(&self) -> bool {
                match self { $(Self::$variant(policy) => policy.is_oracle()),+ }
            }
            fn task_waits(&mut self, task: TaskId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.task_waits(task, view)),+ }
            }
            fn node_lost(&mut self, node: NodeId, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.node_lost(node, view)),+ }
            }
            fn container_changed(&mut self, container: &Container, view: View<'_>) {
                match self { $(Self::$variant(policy) => policy.container_changed(container, view)),+ }
            }
            fn headroom(&self, job: JobId, view: View<'_>) -> Resources {
                match self { $(Self::$variant(policy) => policy.headroom(job, view)),+ }
            }
            fn period(&self) -> Option<Ms> {
                match self { $(Self::$variant(policy) => policy.period()),+ }
            }
            fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
                match self { $(Self::$variant(policy) => policy.tick(view, orders)),+ }
            }
            fn skips_idle_ticks(&self, view: View<'_>) -> bool {
                match self { $(Self::$variant(policy) => policy.skips_idle_ticks(view)),+ }
            }
            fn restless(&self, view: View<'_>) -> bool {
                match self { $(Self::$variant(policy) => policy.restless(view)),+ }
            }
            fn counts_heartbeats(&self, view: View<'_>) -> bool {
                match self { $(Self::$variant(policy) => policy.counts_heartbeats(view)),+ }
            }
            fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
                match self { $(Self::$variant(policy) => policy.heartbeat(offer)),+ }
            }
        }
    };
}

#[rustfmt::skip] // one a line
any_policy!(
    Fifo,
    NaiveFair,
    Delay,
    DelayTime,
    Fair,
    FairDeficit,
    Capacity,
    Coupling,
    TripleQueue,
    Dress,
    CoGrs,
    YarnFifo,
    YarnCapacity,
    YarnFair,
    Srpt,
    Aria,
    Flex,
    Quincy,
    WithSpeculation,
);
