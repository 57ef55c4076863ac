//! kube-scheduler 1.34 as a state machine: a queue, filters, scores, a draw among the best, and preemption.
//!
//! The caller names nodes and pods once ([`NodeSpec`], [`PodSpec`]) and works with dense numbers from then on. It says to
//! the [`Scheduler`] what happens ([`Scheduler::submit`], [`Scheduler::end`], …) and takes its [`Decision`]s until there is none
//! ([`Scheduler::decide`]). Which nodes a kind of pod may use at all is worked out once per kind and node.
//!
//! Covered: resources, number of pods, taints, node selectors and affinity, priorities, preemption with nominations, the sample
//! of nodes of a large cluster, back-off. Not covered: topology spread, affinity among pods, volumes, images, disruption budgets.

mod explain;
mod filter;
mod kinds;
mod matching;
mod nodes;
mod numbers;
mod pods;
mod preempt;
mod profile;
mod queue;
mod resources;
mod sample;
mod scheduler;
mod score;
mod spec;
#[cfg(test)]
mod tests;

pub use numbers::{KindId, NodeId, PodId};
pub use profile::{Fit, Point, Profile, Strategy, Weights};
pub use resources::{CPU, MEMORY, MOST_RESOURCES, Resource, Resources, TooManyResources};
pub use scheduler::{Decision, Scheduler, Tie};
pub use score::Parts;
pub use spec::{Effect, NodeSpec, Operator, PodSpec, Requirement, Taint, Term, Toleration};
