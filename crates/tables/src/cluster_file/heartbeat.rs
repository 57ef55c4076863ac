//! `[heartbeat]`: when the machines of a Hadoop cluster call the master.

use crate::reference::{Bounded, Limits, Outside, Shape, Value, check_range};
use crate::{choices, keys};
use serde::{Deserialize, Serialize};

use super::DAY;
use crate::model::Ms;

keys! {
    /// When the machines of a Hadoop cluster send heartbeats to the master.
    pub struct Heartbeat: Default {
        /// The time between two heartbeats of a node: milliseconds, or Hadoop's rule of an era for a cluster of `N` nodes.
        interval: Interval = Interval::Era(Era::Mr1_2009), unit "ms", range 1..=DAY;
        /// How many heartbeats a second the master wants to receive. It is used only if `interval` is a rule.
        per_second: u32 = 100, unit "1/s", range 1..=1_000_000;
        /// The shortest interval that a rule gives. If you leave it out, it is that of the rule.
        least: Option<Ms> = None, unit "ms", range 1..=DAY;
        /// When the clock starts: no heartbeat comes earlier.
        first: Ms = 0, unit "ms", range 0..=DAY;
        /// How the nodes' first heartbeats lie within one interval.
        phase: Phase = Phase::Spread;
        /// By how much a heartbeat may come early or late.
        jitter: Ms = 0, unit "ms", rule "from 0 to less than half of the shortest interval";
        /// Whether a node also sends a heartbeat at once when an attempt ends.
        out_of_band: bool = false;
        /// The time without a heartbeat after which the master gives up a node.
        expiry: Ms = 600_000, unit "ms", range 1..=DAY;
    }
}

impl Heartbeat {
    /// The interval of a cluster of so many nodes, ms (`docs/model/heartbeats.md`).
    pub fn interval_of(&self, nodes: usize) -> Ms {
        let (nodes, per_second) = (nodes as Ms, Ms::from(self.per_second.max(1)));
        let of_era = match self.interval {
            Interval::Fixed(ms) => return ms,
            Interval::Era(Era::Mr1_2009) => 1000 * ((nodes + per_second - 1) / per_second),
            Interval::Era(Era::Mr1_2011) => 1000 * nodes / per_second,
        };
        of_era.max(self.shortest())
    }

    /// What is wrong with keys that depend on each other, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        check_range(&self.jitter, "heartbeat.jitter", 0..=(self.shortest() - 1) / 2)
    }

    /// The shortest interval that is possible, ms.
    fn shortest(&self) -> Ms {
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

impl Value for Interval {
    fn shape() -> Shape {
        Shape { kind: "integer or choice".to_owned(), ..Era::shape() }
    }
}

impl Bounded for Interval {
    type Number = Ms;

    fn outside(&self, limits: &Limits<Ms>) -> Option<Outside<Ms>> {
        match self {
            Self::Fixed(ms) => ms.outside(limits),
            Self::Era(_) => None,
        }
    }
}

choices! {
    /// Hadoop's rules for the heartbeat interval (`docs/model/heartbeats.md`).
    pub enum Era {
        /// `max(3000, 1000·ceil(N/100))` ms; `per_second` and `least` take the place of 100 and 3000.
        Mr1_2009 = "mr1-2009",
        /// `max(300, floor(1000·N/100))` ms; `per_second` and `least` take the place of 100 and 300.
        Mr1_2011 = "mr1-2011",
    }
}

choices! {
    /// How the nodes' first heartbeats lie within one interval.
    pub enum Phase {
        /// All nodes send their heartbeats at the same time, in the order of their names.
        Together = "together",
        /// Each node draws its own time, uniformly.
        Spread = "spread",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat(era: Era) -> Heartbeat {
        Heartbeat { interval: Interval::Era(era), ..Heartbeat::default() }
    }

    #[test]
    fn heartbeat_interval_of_both_eras() {
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
