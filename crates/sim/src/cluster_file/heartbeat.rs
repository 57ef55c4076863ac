//! `[heartbeat]`: when the machines of a Hadoop cluster call the master.

use serde::{Deserialize, Serialize};

use crate::ids::Ms;

/// The heartbeats of a cluster (policies A.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Heartbeat {
    /// Time between two heartbeats of a node.
    pub interval: Interval,
    /// How many heartbeats a second the master wants to get; for the rules of an era.
    pub per_second: u32,
    /// The shortest interval, ms; absent: the era's own. For the rules of an era.
    pub least: Option<Ms>,
    /// When the clock starts: the first heartbeats come from here on, ms.
    pub first: Ms,
    /// How the first heartbeats lie within one interval.
    pub phase: Phase,
    /// By how much a heartbeat may come early or late, ms; less than half an interval.
    pub jitter: Ms,
    /// Whether a node also calls at once when an attempt ends.
    pub out_of_band: bool,
    /// A node that the master has not heard of for so long is given up, ms.
    pub expiry: Ms,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            interval: Interval::Era(Era::Mr1_2009),
            per_second: 100,
            least: None,
            first: 0,
            phase: Phase::Spread,
            jitter: 0,
            out_of_band: false,
            expiry: 600_000,
        }
    }
}

impl Heartbeat {
    /// The interval of a cluster of so many nodes, ms (policies A.1).
    pub fn interval_of(&self, nodes: usize) -> Ms {
        let (nodes, per_second) = (nodes as Ms, Ms::from(self.per_second.max(1)));
        let of_era = match self.interval {
            Interval::Fixed(ms) => return ms,
            Interval::Era(Era::Mr1_2009) => 1000 * ((nodes + per_second - 1) / per_second),
            Interval::Era(Era::Mr1_2011) => 1000 * nodes / per_second,
        };
        of_era.max(self.shortest())
    }

    /// The shortest interval that may come of it, ms.
    pub(super) fn shortest(&self) -> Ms {
        match self.interval {
            Interval::Fixed(ms) => ms,
            Interval::Era(Era::Mr1_2009) => self.least.unwrap_or(3000),
            Interval::Era(Era::Mr1_2011) => self.least.unwrap_or(300),
        }
    }
}

/// The time between two heartbeats of a node: milliseconds, or Hadoop's rule of an era.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected milliseconds, or one of \"mr1-2009\" and \"mr1-2011\"")]
pub enum Interval {
    /// Milliseconds.
    Fixed(Ms),
    /// A rule that depends on the number of nodes.
    Era(Era),
}

/// Hadoop's rules for the heartbeat interval (policies A.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Era {
    /// `max(3000, 1000·ceil(N/100))` ms; 100 and 3000 are `per_second` and `least` of [`Heartbeat`].
    #[serde(rename = "mr1-2009")]
    Mr1_2009,
    /// `max(300, floor(1000·N/100))` ms, likewise.
    #[serde(rename = "mr1-2011")]
    Mr1_2011,
}

/// How the nodes' first heartbeats lie within one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// All at once, nodes in name order.
    Together,
    /// Uniformly, each node by a draw of its own.
    Spread,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat(era: Era) -> Heartbeat {
        Heartbeat { interval: Interval::Era(era), ..Heartbeat::default() }
    }

    #[test]
    fn a1_heartbeat_interval_of_both_eras() {
        assert_eq!(heartbeat(Era::Mr1_2009).interval_of(62), 3_000);
        assert_eq!(heartbeat(Era::Mr1_2009).interval_of(1_545), 16_000);
        assert_eq!(heartbeat(Era::Mr1_2011).interval_of(62), 620);
        assert_eq!(heartbeat(Era::Mr1_2011).interval_of(20), 300);
    }

    #[test]
    fn the_rules_of_an_era_take_another_rate_and_another_least() {
        let tuned = |era| Heartbeat { per_second: 40, least: Some(700), ..heartbeat(era) };
        assert_eq!(tuned(Era::Mr1_2009).interval_of(62), 2_000);
        assert_eq!(tuned(Era::Mr1_2011).interval_of(62), 1_550);
        assert_eq!(tuned(Era::Mr1_2011).interval_of(20), 700);
        let fixed = Heartbeat { interval: Interval::Fixed(50), ..tuned(Era::Mr1_2009) };
        assert_eq!(fixed.interval_of(62), 50);
    }
}
