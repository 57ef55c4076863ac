//! What it costs to run a map at a place, and to leave it waiting.

use resched_sim::Ms;
use resched_tables::model::Locality;

use super::network::Cost;

/// The costs of places and of waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    pub(super) psi: f64,
    pub(super) xi: f64,
    pub(super) omega: f64,
    pub(super) split_bytes: f64,
}

impl Costs {
    /// The cost of running a map that reads this many bytes at this level.
    pub(super) fn place(&self, bytes: Option<u64>, level: Locality) -> Cost {
        let per_gigabyte = match level {
            Locality::Node => 0.0,
            Locality::Rack => self.psi,
            Locality::Off => self.xi,
        };
        // Thousandths: a GB is 10⁹ bytes.
        (per_gigabyte * bytes.map_or(self.split_bytes, |bytes| bytes as f64) / 1e6) as Cost
    }

    /// The cost of leaving a map waiting that was submitted this long ago.
    pub(super) fn waiting(&self, time: Ms) -> Cost {
        (self.omega * time as f64) as Cost
    }
}
