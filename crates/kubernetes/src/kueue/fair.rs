//! Fair sharing: the share of a node, and the tournament that orders a cycle.

use std::cmp::Ordering;

use super::draw;
use super::machine::Links;
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
    pub(crate) links: &'a Links,
    pub(crate) shares: &'a Shares,
    pub(crate) quotas: &'a mut Quotas,
    pub(crate) seed: u64,
    pub(crate) now: i64,
}

impl Tournament<'_> {
    /// The position of the winner among `players`; those that are gone are `None`.
    pub(crate) fn winner(&mut self, root: usize, players: &[Option<Player>]) -> Option<usize> {
        let mut of_queue = std::collections::BTreeMap::new();
        for (at, player) in players.iter().enumerate() {
            if let Some(player) = player {
                of_queue.insert(player.queue, (at, self.standings(player)));
            }
        }
        if let Some(&(at, _)) = of_queue.get(&root) {
            return Some(at);
        }
        self.best(root, players, &of_queue)
    }

    /// The standing at each node from the queue up to the one below the root, with the request counted.
    fn standings(&mut self, player: &Player) -> Vec<(usize, Standing)> {
        self.quotas.add(player.queue, &player.usage);
        let quotas = &*self.quotas;
        let path = quotas.path(player.queue).filter(|&node| quotas.parent[node] != NONE);
        let standings = path.map(|node| {
            let borrows = player.usage.iter().any(|&(cell, _)| !quotas.within(node, cell, 0));
            (node, Standing { borrows, share: self.shares.of(quotas, node) })
        });
        let standings = standings.collect();
        self.quotas.remove(player.queue, &player.usage);
        standings
    }

    fn best(
        &self,
        cohort: usize,
        players: &[Option<Player>],
        of_queue: &std::collections::BTreeMap<usize, (usize, Vec<(usize, Standing)>)>,
    ) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        let below = self.links.cohorts[cohort]
            .iter()
            .map(|&child| (child as usize, self.best(child as usize, players, of_queue)));
        let queues = self.links.queues[cohort].iter().map(|&queue| {
            let queue = queue as usize;
            (queue, of_queue.get(&queue).map(|&(at, _)| at))
        });
        for (node, at) in below.chain(queues) {
            let Some(at) = at else { continue };
            let standing = |node: usize, at: usize| {
                let player = players[at].as_ref()?;
                let (_, standings) = of_queue.get(&player.queue)?;
                let (_, standing) = standings.iter().find(|(other, _)| *other == node)?;
                Some((player, standing))
            };
            let wins = match best {
                None => true,
                Some((node_before, before)) => match (standing(node, at), standing(node_before, before)) {
                    (Some(new), Some(old)) => self.compare(new, old).is_lt(),
                    _ => false,
                },
            };
            if wins {
                best = Some((node, at));
            }
        }
        best.map(|(_, at)| at)
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
