//! Running maps that the cheapest flow leaves where they are, and that it will leave there while nothing but time passes.
//!
//! In a millisecond it becomes dearer by 1 to take a running map off its machine, and by ω to leave a map waiting. Every other flow differs
//! from the cheapest one by cycles through the network, each of which saves nothing. A cycle that takes running maps off their machines
//! lets at most one more map of one job go, so while ω < 1 it has only become dearer, and the next flow moves no running map either.
//!
//! Costs are whole numbers, so what is added to them may be off by 2. Absurd costs are cut: they grow no more. And if it cost less to
//! move input between racks than inside one, a map could be on its machine by chance, on the way through the whole cluster.

use resched_sim::Ms;
use resched_sim::hadoop::View;

use super::costs::Costs;
use super::network::Cost;

/// A flow that moved no running map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    at: Ms,
    /// The version of the attempts.
    version: u64,
    /// By how much its costs can grow before they are cut.
    spare: Cost,
}

impl Settled {
    /// After a flow for the present costs; `None` if attempts change all the time.
    pub(super) fn now(view: View<'_>, spare: Cost) -> Option<Self> {
        view.attempts_version().map(|version| Self { at: view.now(), version, spare })
    }

    /// True if a flow for the present costs would move no running map either.
    pub(super) fn holds(self, view: View<'_>, costs: &Costs) -> bool {
        let time = view.now() - self.at;
        view.attempts_version() == Some(self.version)
            && costs.psi <= costs.xi
            && costs.waiting(time) + 2 < Cost::from(time)
            && Cost::from(time) <= self.spare
    }
}
