//! Scores of the nodes that are feasible.

use super::kinds::Kind;
use super::nodes::Nodes;
use super::numbers::NodeId;
use super::profile::{Point, Profile, Strategy, Weights};
use super::resources::{CPU, MEMORY, Resource, Resources, TooManyResources};

const MOST: i64 = 100;

/// The parts of a node's score, each with its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// `NodeResourcesFit`.
    pub fit: i64,
    /// `NodeResourcesBalancedAllocation`.
    pub balanced: i64,
    /// `TaintToleration`.
    pub taints: i64,
    /// `NodeAffinity`.
    pub affinity: i64,
}

impl Parts {
    /// Their sum.
    pub fn total(&self) -> i64 {
        self.fit + self.balanced + self.taints + self.affinity
    }
}

/// A profile with numbers for names.
#[derive(Clone, Debug)]
pub(super) struct Scoring {
    strategy: Strategy,
    resources: Vec<(Resource, i64)>,
    balanced: Vec<Resource>,
    weights: Weights,
}

impl Scoring {
    pub(super) fn new(profile: &Profile, names: &mut Resources) -> Result<Self, TooManyResources> {
        let mut resources = Vec::new();
        for (name, weight) in &profile.fit.resources {
            resources.push((names.number(name)?, *weight));
        }
        let balanced = profile.balanced.iter().map(|name| names.number(name)).collect::<Result<_, _>>()?;
        Ok(Self { strategy: profile.fit.strategy.clone(), resources, balanced, weights: profile.weights })
    }

    /// Scores `feasible` into `parts`.
    pub(super) fn score(&self, nodes: &Nodes, kind: &Kind, feasible: &[NodeId], parts: &mut Vec<Parts>) {
        parts.clear();
        let most = |table: &[i64]| feasible.iter().map(|node| table[node.place()]).max().unwrap_or(0);
        let most_taints = most(&kind.discouraged);
        let most_preferred = if kind.preferred.is_empty() { 0 } else { most(&kind.preferred) };
        for &node in feasible {
            let taints = share(kind.discouraged[node.place()], most_taints);
            let affinity = if most_preferred > 0 { share(kind.preferred[node.place()], most_preferred) } else { 0 };
            parts.push(Parts {
                fit: self.weights.fit * self.fit(nodes, kind, node),
                balanced: self.weights.balanced * self.balance(nodes, kind, node),
                taints: self.weights.taints * (MOST - taints),
                affinity: self.weights.affinity * affinity,
            });
        }
    }

    fn fit(&self, nodes: &Nodes, kind: &Kind, node: NodeId) -> i64 {
        let (mut sum, mut weights) = (0, 0);
        for &(resource, weight) in &self.resources {
            let capacity = nodes.capacity(node, resource);
            let asked = asked(kind, resource);
            if capacity == 0 || is_extended(resource) && asked == 0 {
                continue;
            }
            let score = self.strategy.score(nodes.scored(node, resource) + asked, capacity);
            // What scores 0 on the broken line drops out of the mean.
            if score > 0 || !matches!(self.strategy, Strategy::RequestedToCapacityRatio(_)) {
                sum += score * weight;
                weights += weight;
            }
        }
        match (&self.strategy, weights) {
            (_, 0) => 0,
            (Strategy::RequestedToCapacityRatio(_), _) => (2 * sum + weights) / (2 * weights),
            _ => sum / weights,
        }
    }

    /// How even the resources would be used.
    // The scheduler works in floating point here, and its roundings show in the score.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn balance(&self, nodes: &Nodes, kind: &Kind, node: NodeId) -> i64 {
        if self.balanced.iter().all(|&resource| requested(kind, resource) == 0) {
            return 0;
        }
        let (mut count, mut sum, mut first, mut last) = (0_u32, 0.0_f64, 0.0_f64, 0.0_f64);
        let fraction = |resource| -> Option<f64> {
            let (capacity, asked) = (nodes.capacity(node, resource), requested(kind, resource));
            if capacity == 0 || is_extended(resource) && asked == 0 {
                return None;
            }
            Some(((nodes.used(node, resource) + asked) as f64 / capacity as f64).min(1.0))
        };
        for part in self.balanced.iter().filter_map(|&resource| fraction(resource)) {
            first = if count == 0 { part } else { first };
            (count, sum, last) = (count + 1, sum + part, part);
        }
        let deviation = match count {
            0 | 1 => 0.0,
            2 => ((first - last) / 2.0).abs(),
            _ => {
                let mean = sum / f64::from(count);
                let parts = self.balanced.iter().filter_map(|&resource| fraction(resource));
                let squares: f64 = parts.map(|part| (part - mean) * (part - mean)).sum();
                (squares / f64::from(count)).sqrt()
            }
        };
        ((1.0 - deviation) * MOST as f64) as i64
    }
}

impl Strategy {
    fn score(&self, used: i64, capacity: i64) -> i64 {
        // Bytes times 100 stay below 2^63 up to 80 PiB; beyond, the ratio is taken first.
        let share = |part: i64| part.checked_mul(MOST).map_or(part / (capacity / MOST).max(1), |part| part / capacity);
        match self {
            Self::LeastAllocated => share((capacity - used).max(0)),
            Self::MostAllocated => share(used.min(capacity)),
            Self::RequestedToCapacityRatio(line) if used > capacity => at(line, MOST),
            Self::RequestedToCapacityRatio(line) => at(line, share(used)),
        }
    }
}

/// The broken line at a utilisation, scaled to 100 and cut towards zero.
fn at(line: &[Point], utilization: i64) -> i64 {
    const SCALE: i64 = 10;
    let above = line.iter().position(|point| utilization <= point.utilization);
    match above {
        None => line.last().map_or(0, |point| point.score * SCALE),
        Some(0) => line[0].score * SCALE,
        Some(place) => {
            let (from, to) = (line[place - 1], line[place]);
            let rise = (to.score - from.score) * SCALE * (utilization - from.utilization);
            from.score * SCALE + rise / (to.utilization - from.utilization)
        }
    }
}

fn share(part: i64, most: i64) -> i64 {
    if most == 0 { 0 } else { MOST * part / most }
}

fn is_extended(resource: Resource) -> bool {
    resource != CPU && resource != MEMORY
}

/// What a pod asks for, as scores count it.
fn asked(kind: &Kind, resource: Resource) -> i64 {
    match resource {
        CPU => kind.amounts.scored[0],
        MEMORY => kind.amounts.scored[1],
        other => requested(kind, other),
    }
}

fn requested(kind: &Kind, resource: Resource) -> i64 {
    kind.amounts.requests.iter().find(|(asked, _)| *asked == resource).map_or(0, |&(_, amount)| amount)
}
