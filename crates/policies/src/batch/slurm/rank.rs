//! How a job stands if another one wants its place ([`super::preempt`]).

use resched_sim::Ms;
use resched_sim::batch::Then;

/// How a job stands beside others that want its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    /// The tier of its partition.
    pub(super) tier: u32,
    /// The number of its QOS.
    pub(super) qos: u32,
    /// The less, the sooner it loses its place.
    pub(super) order: u32,
    /// What becomes of it then; `None`: it keeps its place.
    pub(super) then: Option<Then>,
    /// How long it keeps its place at least, ms.
    pub(super) exempt: Ms,
    /// How long it may run on once it has lost its place, ms.
    pub(super) grace: Ms,
}
