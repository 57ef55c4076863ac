//! Fair sharing: the share of a node, and the tournament that orders a cycle.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::draw;
use super::links::Links;
use super::model::Model;
use super::quota::{NONE, Quotas};

/// The share of a queue or cohort: what it borrows of its dominant resource, of 1,000 that its parent could have, by its weight.
///
/// The numbers are doubles, as in Kueue, so that equal shares are equal there and here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    raw: f64,
    weight: f64,
    borrows: bool,
}

impl Share {
    pub(crate) fn borrows(self) -> bool {
        self.borrows
    }

    fn endless(self) -> bool {
        self.weight == 0.0 && self.raw > 0.0
    }

    fn value(self) -> f64 {
        if self.raw == 0.0 { 0.0 } else { self.raw / self.weight }
    }

    /// A weight of 0 is above all others; two such compare by what they borrow.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        if self.endless() && other.endless() {
            return self.raw.total_cmp(&other.raw);
        }
        self.value().total_cmp(&other.value())
    }
}

/// What shares are computed from.
#[derive(Debug)]
pub(crate) struct Shares {
    weights: Vec<f64>,
    /// The cells of each resource.
    cells: Vec<Vec<u32>>,
    /// For each node and resource, all that its parent could ever have.
    lendable: Vec<i64>,
}

impl Shares {
    pub(crate) fn new(model: &Model, quotas: &Quotas) -> Self {
        let mut cells = vec![Vec::new(); model.resources.len()];
        for (cell, &resource) in quotas.resource_of.iter().enumerate() {
            cells[resource as usize].push(cell as u32);
        }
        let weights = model.queues.iter().map(|queue| queue.weight);
        let weights: Vec<f64> = weights.chain(model.cohorts.iter().map(|cohort| cohort.weight)).collect();
        let mut lendable = Vec::with_capacity(weights.len() * cells.len());
        for node in 0..weights.len() {
            for cells in &cells {
                let sum = |above: usize| {
                    cells.iter().fold(0_i64, |sum, &cell| sum.saturating_add(quotas.potential(above, cell)))
                };
                lendable.push(quotas.above(node).map_or(0, sum));
            }
        }
        Self { weights, cells, lendable }
    }

    pub(crate) fn of(&self, quotas: &Quotas, node: usize) -> Share {
        let mut share = Share { raw: 0.0, weight: self.weights[node], borrows: false };
        if quotas.parent[node] == NONE {
            return share;
        }
        for (resource, cells) in self.cells.iter().enumerate() {
            let above = |&cell: &u32| (quotas.usage(node, cell) - quotas.quota(node, cell)).max(0);
            let borrowed = cells.iter().map(above).fold(0, i64::saturating_add);
            let lendable = self.lendable[node * self.cells.len() + resource];
            share.borrows |= borrowed > 0;
            if borrowed > 0 && lendable > 0 {
                share.raw = share.raw.max(borrowed as f64 * 1000.0 / lendable as f64);
            }
        }
        share
    }
}

/// An entry of the tournament.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) queue: usize,
    pub(crate) usage: Vec<(u32, i64)>,
    pub(crate) priority: i64,
    /// Whole seconds.
    pub(crate) created: i64,
    pub(crate) uid: u64,
}

/// How a player stands at one node on its way to the root.
struct Standing {
    borrows: bool,
    share: Share,
}

/// The tournament of one tree.
pub(crate) struct Tournament<'a> {
    links: &'a Links,
    shares: &'a Shares,
    seed: u64,
    now: i64,
    /// Those that are still in.
    players: Vec<Option<Player>>,
    /// Of each player, at each node from its queue up to the one below the root.
    standings: Vec<Vec<(usize, Standing)>>,
    of_queue: BTreeMap<usize, usize>,
}

impl<'a> Tournament<'a> {
    pub(crate) fn new(links: &'a Links, shares: &'a Shares, seed: u64, now: i64, players: Vec<Player>) -> Self {
        let of_queue = players.iter().enumerate().map(|(at, player)| (player.queue, at)).collect();
        let players: Vec<Option<Player>> = players.into_iter().map(Some).collect();
        Self { links, shares, seed, now, players, standings: Vec::new(), of_queue }
    }

    /// Computes the standings anew, after something was booked.
    pub(crate) fn refresh(&mut self, quotas: &mut Quotas) {
        let shares = self.shares;
        let standings =
            |player: &Option<Player>| player.as_ref().map_or_else(Vec::new, |player| standings(player, shares, quotas));
        self.standings = self.players.iter().map(standings).collect();
    }

    /// The position of the winner, which leaves.
    pub(crate) fn take_winner(&mut self, root: usize) -> Option<usize> {
        let alone = self.of_queue.get(&root).copied().filter(|&at| self.players[at].is_some());
        let winner = alone.or_else(|| self.best(root))?;
        self.players[winner] = None;
        Some(winner)
    }

    fn best(&self, cohort: usize) -> Option<usize> {
        let below = self.links.cohorts[cohort].iter().map(|&child| (child as usize, self.best(child as usize)));
        let in_play = |queue: usize| self.of_queue.get(&queue).copied().filter(|&at| self.players[at].is_some());
        let queues = self.links.queues[cohort].iter().map(|&queue| (queue as usize, in_play(queue as usize)));
        let mut best: Option<(&Player, &Standing, usize)> = None;
        for (node, at) in below.chain(queues) {
            let Some(at) = at else { continue };
            let standing = self.standings[at].iter().find(|(other, _)| *other == node);
            let (Some(player), Some((_, standing))) = (&self.players[at], standing) else { continue };
            if best.is_none_or(|(other, theirs, _)| self.compare((player, standing), (other, theirs)).is_lt()) {
                best = Some((player, standing, at));
            }
        }
        best.map(|(_, _, at)| at)
    }

    fn compare(&self, a: (&Player, &Standing), b: (&Player, &Standing)) -> Ordering {
        let drawn = |player: &Player| draw::key(self.seed, player.uid, self.now as u64);
        a.1.borrows
            .cmp(&b.1.borrows)
            .then_with(|| a.1.share.cmp(&b.1.share))
            .then_with(|| b.0.priority.cmp(&a.0.priority))
            .then_with(|| a.0.created.cmp(&b.0.created))
            .then_with(|| drawn(a.0).cmp(&drawn(b.0)))
    }
}

/// The standing at each node, with the request counted.
fn standings(player: &Player, shares: &Shares, quotas: &mut Quotas) -> Vec<(usize, Standing)> {
    quotas.add(player.queue, &player.usage);
    let path = quotas.path(player.queue).filter(|&node| quotas.parent[node] != NONE);
    let standings = path.map(|node| {
        let borrows = player.usage.iter().any(|&(cell, _)| !quotas.within(node, cell, 0));
        (node, Standing { borrows, share: shares.of(quotas, node) })
    });
    let standings = standings.collect();
    quotas.remove(player.queue, &player.usage);
    standings
}
