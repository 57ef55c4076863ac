//! Speculative execution: a second attempt at a task that seems slow. Any policy combines with any speculator.
//!
//! **How they combine.** The policy has each heartbeat first. The speculator may use the slots that it leaves free for
//! backups, as Hadoop does once no task of a job waits. The first attempt to succeed wins (`docs/model/speculation.md`).
//!
//! A speculator sees what the master sees: the progress of each attempt at its node's latest heartbeat. Some
//! speculators judge tasks when a node has a free slot. They look at a job once per heartbeat interval, because no node
//! reports more often.

pub(crate) mod esamr;
pub(crate) mod hadoop_late;
pub(crate) mod hadoop_naive;
mod info;
pub(crate) mod late;
pub(crate) mod mantri;
mod node_tally;
mod on_schedule;
mod requests;
mod running;
pub(crate) mod samr;
mod speeds;
mod when_asked;
pub(crate) mod yarn_default;

pub use info::SpeculatorInfo;

use resched_sim::hadoop::{AttemptEnd, AttemptView, Kind, Offer, Orders, Policy, View, Wrapper};
use resched_sim::{JobId, Ms, TaskId, Violation};

use crate::parts::periods::is_due;
use crate::settings::parameter;

// Hadoop does not back up a task before it has run for this long. Speculators that were built into Hadoop do the same.
parameter! {
    /// run time before which an attempt is not judged
    pub(crate) MIN_RUN: Ms = "min_run" { default: 60000, range: 0..=86_400_000, unit: "ms" }
}

/// Decides which running tasks get another attempt, and where.
pub trait Speculator {
    /// An attempt was launched, as a backup or not.
    fn task_started(&mut self, _started: &AttemptView, _view: View<'_>) {}

    /// The master has learned how an attempt at a task ended.
    fn task_finished(&mut self, _ended: &AttemptEnd, _view: View<'_>) {}

    /// A job has succeeded or failed.
    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {}

    /// How often [`Speculator::tick`] is called, ms; `None`: never.
    fn period(&self) -> Option<Ms> {
        None
    }

    /// Called every [`Speculator::period`]. It must do nothing while no attempt runs, because such ticks are left out.
    fn tick(&mut self, _view: View<'_>, _orders: &mut Orders) {}

    /// True if a node with a free slot might get a backup at a later heartbeat, even if nothing else happens before. If
    /// it returns `false`, [`Speculator::pick`] must find none and change nothing.
    fn may_pick(&self, view: View<'_>) -> bool;

    /// True if [`Speculator::pick`] would now find none for any node and change nothing.
    fn declines(&self, view: View<'_>) -> bool {
        !self.may_pick(view)
    }

    /// The running task of this kind that the node should run as well. The node has room for it.
    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId>;
}

/// A policy and the speculator that uses the slots it leaves free.
pub struct WithSpeculation {
    base: Box<dyn Policy>,
    speculator: Box<dyn Speculator>,
    /// When the latest tick was, ms after the clock started.
    ticked: Ms,
}

impl WithSpeculation {
    /// Of this policy and this speculator.
    pub fn new(base: Box<dyn Policy>, speculator: Box<dyn Speculator>) -> Self {
        Self { base, speculator, ticked: 0 }
    }
}

fn greatest_common_divisor(a: Ms, b: Ms) -> Ms {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl Wrapper for WithSpeculation {
    type Inner = dyn Policy;

    fn inner(&self) -> &Self::Inner {
        &*self.base
    }

    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.base
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.base.job_finished(job, view);
        self.speculator.job_finished(job, view);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.base.task_started(started, view);
        self.speculator.task_started(started, view);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        self.base.task_finished(ended, view);
        self.speculator.task_finished(ended, view);
    }

    fn period(&self) -> Option<Ms> {
        match (self.base.period(), self.speculator.period()) {
            (Some(base), Some(other)) => Some(greatest_common_divisor(base, other)),
            (base, other) => base.or(other),
        }
    }

    /// The period is the greatest common divisor of two, which may be small: most of its multiples are due for neither.
    fn tick_from(&self, due: Ms) -> Ms {
        let periods = [self.base.period(), self.speculator.period()].into_iter().flatten();
        periods.map(|period| due + (-due).rem_euclid(period)).min().unwrap_or(due)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let now = view.now() - view.clock_start();
        let before = std::mem::replace(&mut self.ticked, now);
        let due = |period: Option<Ms>| period.is_some_and(|period| is_due(period, before, now));
        if due(self.base.period()) {
            self.base.tick(view, orders);
        }
        if due(self.speculator.period()) {
            self.speculator.tick(view, orders);
        }
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        // Only the last of a row of ticks is not left out, so each of them must be one of the base's.
        let base = match self.base.period() {
            None => true,
            period => period == Wrapper::period(self) && self.base.skips_idle_ticks(view),
        };
        let nothing_runs = Kind::BOTH.iter().all(|&kind| view.running(kind) == 0);
        base && (nothing_runs || self.speculator.period().is_none())
    }

    fn restless(&self, view: View<'_>) -> bool {
        self.base.restless(view) || self.speculator.may_pick(view)
    }

    fn declines(&self, view: View<'_>) -> bool {
        self.base.declines(view) && self.speculator.declines(view)
    }

    fn declines_where_nothing_fits(&self, view: View<'_>) -> bool {
        let base_sleeps = !self.base.restless(view) && !self.base.counts_heartbeats(view);
        base_sleeps && !view.wants_reasons() && self.speculator.declines(view)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        // Most nodes call for a backup alone.
        if !self.base.declines(offer.view()) {
            self.base.heartbeat(offer)?;
        }
        if offer.yarn().reservation().is_some() {
            return Ok(());
        }
        for kind in Kind::BOTH {
            while offer.free(kind) > 0 {
                let picked = self.speculator.pick(offer, kind);
                // The master of a job may be lost with its node.
                let Some(task) = picked.filter(|&task| offer.yarn().has_master(offer.view().job_of(task))) else {
                    break;
                };
                offer.launch_backup(task)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::PolicySpec;

    /// Periods of 500 and 1,721,335 ms have the divisor 5. Before, there was a tick every 5 ms.
    #[test]
    fn only_ticks_that_are_due_are_called() {
        #![allow(clippy::unwrap_used)]
        let policy = |spec: &str| PolicySpec::parse(spec).unwrap().build().unwrap();
        let both = policy("fair-deficit+yarn-default:retry=1721335");
        assert_eq!(both.period(), Some(5));
        for (due, next) in [(5, 500), (500, 500), (505, 1_000), (1_721_005, 1_721_335), (1_721_340, 1_721_500)] {
            assert_eq!(both.tick_from(due), next, "{due}");
        }
        assert_eq!(policy("fifo+yarn-default:retry=700").tick_from(700), 700);
        assert_eq!(policy("fair-deficit").tick_from(505), 505, "a policy alone has a tick each period");
    }
}
