//! What a cluster file does to the machines: outages and slow hosts.
//!
//! **Decision.** A machine that is down offers nothing, from the first instant of its outage to the last. The scheduler knows that at
//! once, as after `scontrol update state=down`; what ran there is lost, and waits again. What the log says of the machine meanwhile
//! counts once it is back.

use std::collections::BTreeMap;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::reference::nearest;

use super::{Change, Machines};
use crate::cluster_file::{Cost, Outage, Slow};
use crate::ids::{Ms, NodeId};
use crate::resources::Resources;
use crate::{ClusterConfig, Error};

/// An outage of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Down {
    node: NodeId,
    from: Ms,
    to: Option<Ms>,
}

impl Down {
    fn is_on(self, at: Ms) -> bool {
        self.from <= at && self.to.is_none_or(|to| at < to)
    }
}

impl Machines {
    /// These machines with the outages and the slow hosts of a cluster file, by the clock of the replay.
    ///
    /// # Errors
    /// [`Error::Config`] if it names a machine that is not there, or two outages of a machine overlap.
    pub fn with_mishaps(mut self, config: &ClusterConfig) -> Result<Self, Error> {
        self.take_factors(&config.cost)?;
        let before = self.clone();
        self.take_outages(&config.outages, &before)?;
        self.take_off_for_good(config.jobs.first_submit);
        self.go_down();
        Ok(self)
    }

    /// Takes how many times as long everything takes on some hosts.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such host.
    pub(super) fn take_factors(&mut self, cost: &Cost) -> Result<(), Error> {
        self.slow = cost.slow_nodes;
        if cost.host_factors.is_empty() {
            return Ok(());
        }
        self.factors = vec![None; self.nodes.len()];
        for (host, &factor) in &cost.host_factors {
            let place = self.named_in("cost.host_factors", host)?;
            if let Some(of_node) = self.factors.get_mut(place) {
                *of_node = Some(factor);
            }
        }
        Ok(())
    }

    /// Takes when machines are down. Those of `before` that are not there any more stay away.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such host, or two outages of a host overlap.
    pub(super) fn take_outages(&mut self, outages: &[Outage], before: &Self) -> Result<(), Error> {
        for outage in outages {
            let node = match self.place_of(&outage.host) {
                Some(place) => NodeId::at(place),
                None => {
                    before.named_in("outages", &outage.host)?;
                    continue;
                }
            };
            self.downs.push(Down { node, from: outage.from, to: outage.to });
        }
        self.downs.sort_unstable();
        let overlap = |pair: &[Down]| pair[0].node == pair[1].node && pair[0].to.is_none_or(|to| to >= pair[1].from);
        match self.downs.windows(2).find(|pair| overlap(pair)) {
            Some(pair) => Err(Error::Config(format!(
                "outages: `{}` is down at {} already; expected an earlier `to`",
                self.name_of(pair[0].node),
                pair[1].from
            ))),
            None => Ok(()),
        }
    }

    fn name_of(&self, node: NodeId) -> &str {
        self.nodes.get(node.index()).map_or("", |node| node.name.as_str())
    }

    fn place_of(&self, host: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == host)
    }

    /// The place of the host that a key of the cluster file names.
    fn named_in(&self, key: &str, host: &str) -> Result<usize, Error> {
        self.place_of(host).ok_or_else(|| {
            let names = self.nodes.iter().map(|node| node.name.as_str());
            Error::Config(format!(
                "{key} of the cluster file names `{host}`, but the cluster has no such machine{}",
                nearest(host, names)
            ))
        })
    }

    /// Machines that are down from the start to the end are never there: nothing is kept for them, and what fits only on them can never
    /// start.
    pub(super) fn take_off_for_good(&mut self, start: Ms) {
        for down in &self.downs {
            if down.from <= start && down.to.is_none() {
                self.nodes[down.node.index()].capacity = Resources::NONE;
                self.changes.retain(|change| change.node != down.node);
            }
        }
    }

    /// Lets machines go down and come back, once their changes are on the clock of the replay.
    pub(super) fn go_down(&mut self) {
        if self.downs.is_empty() {
            return;
        }
        let (mut changes, mut of_node) =
            (Vec::with_capacity(self.changes.len()), BTreeMap::<NodeId, Vec<Change>>::new());
        for down in &self.downs {
            of_node.entry(down.node).or_default();
        }
        for &change in &self.changes {
            match of_node.get_mut(&change.node) {
                Some(changes) => changes.push(change),
                None => changes.push(change),
            }
        }
        for (node, of_it) in of_node {
            let first = self.nodes[node.index()].capacity;
            let downs: Vec<Down> = self.downs.iter().copied().filter(|down| down.node == node).collect();
            changes.extend(interrupted((node, first), &of_it, &downs));
        }
        changes.sort_by_key(|change| change.at);
        self.changes = changes;
    }

    /// How many times as long everything takes on each machine, with the draws of a seed; empty if all are as fast as the log.
    pub(in crate::batch) fn paces(&self, seed: u64) -> Vec<f64> {
        if self.factors.is_empty() && !self.draw_slow() {
            return Vec::new();
        }
        let Slow { share, factor } = self.slow;
        let is_slow = |node: usize| stream(seed, Purpose::SlowNode, &[node as u64]).random::<f64>() < share;
        let drawn = |node: usize| if share > 0.0 && is_slow(node) { factor } else { 1.0 };
        let pace = |node: usize| self.factors.get(node).copied().flatten().unwrap_or_else(|| drawn(node));
        (0..self.nodes.len()).map(pace).collect()
    }

    /// True if the cluster file lets any of them be down.
    pub fn have_outages(&self) -> bool {
        !self.downs.is_empty()
    }

    /// True if anything takes longer on any of them than in the log.
    pub fn slow_down(&self) -> bool {
        let given = self.factors.iter().flatten().any(|&factor| factor > 1.0);
        given || (self.draw_slow() && self.slow.factor > 1.0)
    }

    /// True if other seeds make other machines slow.
    pub fn draw_slow(&self) -> bool {
        self.slow.share > 0.0
    }
}

/// The changes of a machine that offers `first` at the beginning, with its outages.
fn interrupted((node, first): (NodeId, Resources), changes: &[Change], downs: &[Down]) -> Vec<Change> {
    let offered =
        |at: Ms| changes.iter().take_while(|change| change.at <= at).last().map_or(first, |change| change.capacity);
    let borders = downs.iter().flat_map(|down| [Some(down.from), down.to]).flatten();
    let mut times: Vec<Ms> = changes.iter().map(|change| change.at).chain(borders).collect();
    times.sort_unstable();
    times.dedup();
    let mut before = first;
    let change = |at: Ms| {
        let is_down = downs.iter().any(|down| down.is_on(at));
        let capacity = if is_down { Resources::NONE } else { offered(at) };
        let differs = std::mem::replace(&mut before, capacity) != capacity;
        differs.then_some(Change { at, node, capacity })
    };
    times.into_iter().filter_map(change).collect()
}
