//! Any of the speculators, so that one replay loop serves all without a virtual call in it.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Orders, RunView, View};
use resched_sim::{JobId, Ms, TaskId};

use super::{Mantri, Speculator, WhenAsked, YarnDefault};

type Late = WhenAsked<super::Late>;
type Samr = WhenAsked<super::Samr>;
type Esamr = WhenAsked<super::Esamr>;
type HadoopNaive = WhenAsked<super::HadoopNaive>;
type HadoopLate = WhenAsked<super::HadoopLate>;

macro_rules! any_speculator {
    ($($variant:ident),+ $(,)?) => {
        /// One of the speculators of the registry.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is named like the speculator it holds")]
        pub enum AnySpeculator { $($variant($variant)),+ }

        $(impl From<$variant> for AnySpeculator {
            fn from(speculator: $variant) -> Self {
                AnySpeculator::$variant(speculator)
            }
        })+

        impl Speculator for AnySpeculator {
            fn task_started(&mut self, started: &RunView, view: View<'_>) {
                match self { $(Self::$variant(speculator) => speculator.task_started(started, view)),+ }
            }
            fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
                match self { $(Self::$variant(speculator) => speculator.task_finished(ended, view)),+ }
            }
            fn job_finished(&mut self, job: JobId, view: View<'_>) {
                match self { $(Self::$variant(speculator) => speculator.job_finished(job, view)),+ }
            }
            fn period(&self) -> Option<Ms> {
                match self { $(Self::$variant(speculator) => speculator.period()),+ }
            }
            fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
                match self { $(Self::$variant(speculator) => speculator.tick(view, orders)),+ }
            }
            fn may_pick(&self, view: View<'_>) -> bool {
                match self { $(Self::$variant(speculator) => speculator.may_pick(view)),+ }
            }
            fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
                match self { $(Self::$variant(speculator) => speculator.pick(offer, kind)),+ }
            }
        }
    };
}

any_speculator!(Late, Samr, Esamr, HadoopNaive, HadoopLate, YarnDefault, Mantri);
