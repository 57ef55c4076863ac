//! When each node sends its heartbeats, in closed form: a parked node wakes at the instant at which it would have sent one.

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};

use crate::cluster_file::Phase;
use crate::hadoop::cluster::Cluster;
use crate::ids::{Ms, NodeId};

/// When each node sends its first heartbeat, by [`NodeId`], ms: drawn from the seed if the phases are spread.
pub fn first_heartbeats(cluster: &Cluster, seed: u64) -> Vec<Ms> {
    Beats::new(cluster, seed).starts
}

/// The heartbeats of all nodes: number k of a node comes at `first + phase + k · interval`, give or take its jitter.
pub(crate) struct Beats {
    first: Ms,
    starts: Vec<Ms>,
    interval: Ms,
    jitter: Ms,
    seed: u64,
}

impl Beats {
    pub(crate) fn new(cluster: &Cluster, seed: u64) -> Self {
        let rules = &cluster.config.heartbeat;
        let interval = cluster.interval();
        let phase = |node: u64| match rules.phase {
            Phase::Together => 0,
            Phase::Spread => stream(seed, Purpose::HeartbeatPhase, &[node]).random_range(0..interval),
        };
        let starts = (0..cluster.nodes().len() as u64).map(|node| rules.first + phase(node)).collect();
        let jitter = rules.jitter.min((interval - 1) / 2);
        Self { first: rules.first, starts, interval, jitter, seed }
    }

    /// Of nodes that call first at these instants, and then every `interval`.
    #[cfg(test)]
    pub(crate) fn regular(starts: Vec<Ms>, interval: Ms) -> Self {
        Self { first: starts.iter().copied().min().unwrap_or(0), starts, interval, jitter: 0, seed: 0 }
    }

    /// True if each heartbeat of a node comes exactly one interval after the one before.
    pub(crate) fn are_regular(&self) -> bool {
        self.jitter == 0
    }

    /// When each node calls first, by [`NodeId`]: within one interval.
    pub(crate) fn starts(&self) -> &[Ms] {
        &self.starts
    }

    /// The first heartbeat of a node at `at` or later.
    #[inline]
    pub(crate) fn from(&self, node: NodeId, at: Ms) -> Ms {
        let start = self.starts[node.index()];
        if self.jitter == 0 {
            let late = (at - start).max(0) as u64;
            return start + late.next_multiple_of(self.interval as u64) as Ms;
        }
        let mut number = (at - start - self.jitter).max(0) / self.interval;
        loop {
            let beat = self.beat(node, start, number);
            if beat >= at {
                return beat;
            }
            number += 1;
        }
    }

    /// The last heartbeat of a node before `at`; when the clock started if there was none, as if all were known then.
    #[inline]
    pub(crate) fn last_before(&self, node: NodeId, at: Ms) -> Ms {
        let start = self.starts[node.index()];
        if self.jitter == 0 {
            let passed = at - 1 - start;
            return if passed < 0 { self.first } else { at - 1 - passed % self.interval };
        }
        let latest = (at - start + self.jitter).max(0) / self.interval;
        let beats = (0..=latest).rev().map(|number| self.beat(node, start, number));
        beats.into_iter().find(|&beat| beat < at).unwrap_or(self.first)
    }

    fn beat(&self, node: NodeId, start: Ms, number: Ms) -> Ms {
        let nominal = start + number * self.interval;
        if self.jitter == 0 || number == 0 {
            return nominal;
        }
        let mut draws = stream(self.seed, Purpose::HeartbeatJitter, &[u64::from(node.0), number as u64]);
        nominal + draws.random_range(-self.jitter..=self.jitter)
    }
}
