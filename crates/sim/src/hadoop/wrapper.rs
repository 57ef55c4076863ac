//! Policies that wrap another policy: a speculator beside it, or a watcher.

use crate::cluster_file::Calculator;
use crate::error::Violation;
use crate::hadoop::containers::Container;
use crate::hadoop::offer::Offer;
use crate::hadoop::policy::{Orders, Policy};
use crate::hadoop::system::System;
use crate::hadoop::view::{AttemptEnd, AttemptView, View};
use crate::ids::{JobId, Ms, NodeId, TaskId};

/// Declares [`Wrapper`] and makes each wrapper a policy, from one list of the policy's methods.
macro_rules! wrapper {
    (
        asks { $(fn $ask:ident($($ask_arg:ident: $ask_type:ty),*) -> $answer:ty;)+ }
        reports { $(fn $report:ident($($tell_arg:ident: $tell_type:ty),*) $(-> $result:ty)?;)+ }
    ) => {
        /// A policy that wraps another one. Return the inner policy, and override the methods that you change. Every
        /// other call goes through to the inner policy. A wrapper is a [`Policy`]. One that does more at a heartbeat must also
        /// override [`Policy::restless`], [`Policy::declines`] and [`Policy::declines_where_nothing_fits`].
        pub trait Wrapper {
            /// The policy within.
            type Inner: Policy + ?Sized;

            /// The policy within.
            fn inner(&self) -> &Self::Inner;

            /// The policy within, to be called.
            fn inner_mut(&mut self) -> &mut Self::Inner;

            $(
                #[doc = concat!("[`Policy::", stringify!($ask), "`]; by default the inner policy's.")]
                fn $ask(&self, $($ask_arg: $ask_type),*) -> $answer {
                    self.inner().$ask($($ask_arg),*)
                }
            )+

            $(
                #[doc = concat!("[`Policy::", stringify!($report), "`]; by default the inner policy's.")]
                #[allow(clippy::missing_errors_doc, reason = "as the method that it stands for")]
                fn $report(&mut self, $($tell_arg: $tell_type),*) $(-> $result)? {
                    self.inner_mut().$report($($tell_arg),*)
                }
            )+
        }

        impl<W: Wrapper> Policy for W {
            $(
                fn $ask(&self, $($ask_arg: $ask_type),*) -> $answer {
                    Wrapper::$ask(self, $($ask_arg),*)
                }
            )+

            $(
                fn $report(&mut self, $($tell_arg: $tell_type),*) $(-> $result)? {
                    Wrapper::$report(self, $($tell_arg),*)
                }
            )+
        }

        /// The names of the methods that go through, for the test that none is forgotten.
        #[cfg(test)]
        const FORWARDED: &[&str] = &[$(stringify!($ask),)+ $(stringify!($report),)+];
    };
}

wrapper! {
    asks {
        fn system() -> System;
        fn is_oracle() -> bool;
        fn ramps_reduces() -> bool;
        fn follows_output() -> bool;
        fn headroom(job: JobId, view: View<'_>) -> u64;
        fn calculator(of_cluster: Calculator) -> Calculator;
        fn may_use(node: NodeId, view: View<'_>) -> bool;
        fn period() -> Option<Ms>;
        fn tick_from(due: Ms) -> Ms;
        fn skips_idle_ticks(view: View<'_>) -> bool;
        fn restless(view: View<'_>) -> bool;
        fn counts_heartbeats(view: View<'_>) -> bool;
        fn declines(view: View<'_>) -> bool;
        fn declines_where_nothing_fits(view: View<'_>) -> bool;
    }
    reports {
        fn job_submitted(job: JobId, view: View<'_>);
        fn job_finished(job: JobId, view: View<'_>);
        fn task_started(started: &AttemptView, view: View<'_>);
        fn task_finished(ended: &AttemptEnd, view: View<'_>);
        fn task_waits(task: TaskId, view: View<'_>);
        fn node_lost(node: NodeId, view: View<'_>);
        fn container_changed(container: &Container, view: View<'_>);
        fn before_tick(view: View<'_>, orders: &mut Orders);
        fn tick(view: View<'_>, orders: &mut Orders);
        fn check(view: View<'_>, over: bool) -> Result<(), Violation>;
        fn heartbeat(offer: &mut Offer<'_, '_>) -> Result<(), Violation>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the methods of the trait, from its source.
    fn methods() -> Vec<&'static str> {
        let source = include_str!("policy.rs");
        let of_trait = source.split("pub trait Policy {").nth(1).and_then(|rest| rest.split("\n}").next());
        let lines = of_trait.unwrap_or_default().lines().map(str::trim_start);
        lines.filter_map(|line| line.strip_prefix("fn ")?.split('(').next()).collect()
    }

    #[test]
    fn every_method_of_a_policy_goes_through() {
        let (mut methods, mut forwarded) = (methods(), FORWARDED.to_vec());
        methods.sort_unstable();
        forwarded.sort_unstable();
        assert!(methods.len() > 10, "the trait was found: {methods:?}");
        assert_eq!(methods, forwarded, "name every method of Policy in the list of wrapper!");
    }
}
