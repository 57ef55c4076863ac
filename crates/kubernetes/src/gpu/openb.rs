//! The lists of the FGD paper, and its experiment: pods arrive until they ask for more than there is, and none departs.
//!
//! The seed decides, in this order: how the pods are shuffled; which pods are drawn again, or left out, until all together ask for the
//! wanted share of the devices; and the rank of each node among equals.

use std::io::Read;

use serde::Deserialize;

use super::cluster::{Cluster, GpuNode, Wrong};
use super::demand::{Demand, Shape};
use super::fragments::Typical;
use super::go_rand::GoRand;
use super::policy::Policy;
use crate::kube_config::Error;

/// The most rows of a list.
pub const MOST_ROWS: usize = 10_000_000;
/// Typical pods make up this share of all pods, in %.
const TYPICAL: u32 = 95;
/// The simulator's ten watches draw a number each, for their time-outs, between the pods and the nodes.
const WATCHES: usize = 10;

/// A pod of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPod {
    /// Its name.
    pub name: String,
    /// What it asks for.
    pub demand: Demand,
}

#[derive(Deserialize)]
struct NodeRow {
    sn: String,
    cpu_milli: i64,
    memory_mib: i64,
    gpu: usize,
    #[serde(default)]
    model: String,
}

#[derive(Deserialize)]
struct PodRow {
    name: String,
    cpu_milli: i64,
    memory_mib: i64,
    num_gpu: usize,
    gpu_milli: u16,
    #[serde(default)]
    gpu_spec: String,
}

/// Reads a list of nodes (`sn`, `cpu_milli`, `memory_mib`, `gpu`, `model`).
///
/// # Errors
/// A row is not as the header says, or there are too many.
pub fn read_nodes(text: impl Read, file: &str) -> Result<Vec<GpuNode>, Error> {
    let node = |row: NodeRow| GpuNode {
        name: row.sn,
        cpu: row.cpu_milli,
        memory: row.memory_mib,
        devices: row.gpu,
        model: row.model,
    };
    Ok(rows(text, file)?.into_iter().map(node).collect())
}

/// Reads a list of pods (`name`, `cpu_milli`, `memory_mib`, `num_gpu`, `gpu_milli`, perhaps `gpu_spec`).
///
/// # Errors
/// A row is not as the header says, or there are too many.
pub fn read_pods(text: impl Read, file: &str) -> Result<Vec<ListedPod>, Error> {
    let pod = |row: PodRow| ListedPod {
        name: row.name,
        demand: Demand {
            cpu: row.cpu_milli,
            memory: row.memory_mib,
            devices: row.num_gpu,
            milli: row.gpu_milli,
            models: row.gpu_spec.split('|').filter(|model| !model.is_empty()).map(str::to_owned).collect(),
        },
    };
    Ok(rows(text, file)?.into_iter().map(pod).collect())
}

fn rows<T: for<'de> Deserialize<'de>>(text: impl Read, file: &str) -> Result<Vec<T>, Error> {
    let mut rows = Vec::new();
    for row in csv::Reader::from_reader(text).into_deserialize() {
        let row = row.map_err(|error: csv::Error| {
            let line = error.position().map_or(0, csv::Position::line);
            Error { file: file.to_owned(), line, column: 0, what: error.to_string() }
        })?;
        if rows.len() == MOST_ROWS {
            let what = format!("expected at most {MOST_ROWS} rows; split the list");
            return Err(Error { file: file.to_owned(), line: 0, column: 0, what });
        }
        rows.push(row);
    }
    Ok(rows)
}

/// What a seed makes of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The pods in the order of arrival, as places in the list.
    pub arrivals: Vec<usize>,
    /// The rank of each node.
    pub ranks: Vec<u32>,
}

impl Draw {
    /// Draws the pods so that they ask for `percentage` % of the devices. Lists are taken in the order of names.
    #[expect(clippy::cast_precision_loss)]
    pub fn new(nodes: &[GpuNode], pods: &[ListedPod], percentage: u32, seed: i64) -> Self {
        let mut rand = GoRand::new(seed);
        // The simulator writes one number to its log.
        rand.int63();
        let mut by_name: Vec<usize> = (0..pods.len()).collect();
        by_name.sort_by(|&a, &b| pods[a].name.cmp(&pods[b].name));
        let mut arrivals = by_name.clone();
        rand.shuffle(&mut arrivals);
        let devices: usize = nodes.iter().map(|node| node.devices).sum();
        let wanted = f64::from(percentage) / 100.0 * (devices * 1000) as f64;
        let of_each = |pod: usize| usize::from(if pods[pod].demand.devices == 0 { 0 } else { pods[pod].demand.milli });
        let all = |pod: usize| of_each(pod) * pods[pod].demand.devices;
        let mut asked: usize = arrivals.iter().map(|&pod| all(pod)).sum();
        if asked as f64 > wanted {
            while asked as f64 > wanted && !arrivals.is_empty() {
                asked -= all(arrivals.remove(rand.below(arrivals.len())));
            }
        } else if asked > 0 && (asked as f64) < wanted {
            loop {
                let pod = by_name[rand.below(by_name.len())];
                // As in the simulator, one device of the last pod counts, not all.
                if (asked + of_each(pod)) as f64 > wanted {
                    break;
                }
                asked += all(pod);
                arrivals.push(pod);
            }
        }
        (0..WATCHES).for_each(|_| {
            rand.int63();
        });
        let mut names: Vec<usize> = (0..nodes.len()).collect();
        names.sort_by(|&a, &b| nodes[a].name.cmp(&nodes[b].name));
        let mut ranks = vec![0; nodes.len()];
        for (rank, node) in rand.permutation(nodes.len()).into_iter().zip(names) {
            ranks[node] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
        Self { arrivals, ranks }
    }
}

/// A list with its nodes, ready for runs.
#[derive(Clone, Debug)]
pub struct Experiment {
    nodes: Vec<GpuNode>,
    pods: Vec<ListedPod>,
}

/// The share of devices that is allocated, in %, when the pods that have arrived ask for 0, 1, … % of all.
pub type Curve = Vec<f64>;

impl Experiment {
    /// An experiment on these nodes and pods.
    pub fn new(nodes: Vec<GpuNode>, pods: Vec<ListedPod>) -> Self {
        Self { nodes, pods }
    }

    /// Runs a policy up to `percentage` % with a seed. The paper's own is 130 % with the seeds 42 to 51.
    ///
    /// # Errors
    /// A node or a pod is not as a [`Cluster`] takes it.
    pub fn run(&self, policy: Policy, percentage: u32, seed: i64) -> Result<Curve, Wrong> {
        let draw = Draw::new(&self.nodes, &self.pods, percentage, seed);
        let mut cluster = Cluster::new(&self.nodes, draw.ranks)?;
        let shapes = self.expect(&mut cluster)?;
        let mut rand = GoRand::new(seed);
        let mut below = |n: usize| rand.below(n);
        let all = cluster.free_gpu();
        let mut points = Points::new(percentage, all);
        let mut arrived = 0;
        for pod in draw.arrivals {
            let shape = &shapes[pod];
            arrived += shape.gpu();
            if let Some(place) = cluster.choose(policy, shape, &mut below) {
                cluster.book(shape, place);
            }
            points.add(arrived, all - cluster.free_gpu());
        }
        Ok(points.curve())
    }

    /// The shapes of the pods; the cluster expects pods like these.
    fn expect(&self, cluster: &mut Cluster) -> Result<Vec<Shape>, Wrong> {
        let shapes = |cluster: &mut Cluster| -> Result<Vec<Shape>, Wrong> {
            self.pods.iter().map(|pod| cluster.shape(&pod.demand)).collect()
        };
        let known = shapes(cluster)?;
        cluster.expect(Typical::of(&known.iter().collect::<Vec<_>>(), TYPICAL));
        shapes(cluster)
    }
}

/// What is allocated, by what has arrived.
struct Points {
    shares: Vec<Vec<f64>>,
    devices: f64,
}

impl Points {
    #[expect(clippy::cast_precision_loss)]
    fn new(percentage: u32, all: i64) -> Self {
        let points = usize::try_from(percentage).unwrap_or(0) + 1;
        Self { shares: vec![Vec::new(); points], devices: all as f64 / 1000.0 }
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn add(&mut self, arrived: i64, allocated: i64) {
        let share = |part: i64| part as f64 / self.devices / 10.0;
        let point = share(arrived).round_ties_even() as usize;
        // More than that has arrived if the last pod asks for several devices.
        if let Some(shares) = self.shares.get_mut(point) {
            shares.push(hundredths(share(allocated)));
        }
    }

    /// The means; a point without arrivals has that of its neighbours.
    fn curve(&self) -> Curve {
        let around = |point: usize| self.shares[point.saturating_sub(1)..(point + 2).min(self.shares.len())].concat();
        (0..self.shares.len())
            .map(|point| if self.shares[point].is_empty() { mean(&around(point)) } else { mean(&self.shares[point]) })
            .collect()
    }
}

/// The mean in hundredths, as numpy works it out: what lies between two hundredths depends on the last bit.
#[expect(clippy::cast_precision_loss)]
fn mean(shares: &[f64]) -> f64 {
    (numpy_sum(shares) / shares.len() as f64 * 100.0).round_ties_even() / 100.0
}

/// Eight sums side by side, then those in pairs, then the rest; of more than 128 numbers, both halves.
fn numpy_sum(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    if values.len() > 128 {
        let half = values.len() / 2 / LANES * LANES;
        return numpy_sum(&values[..half]) + numpy_sum(&values[half..]);
    }
    let (blocks, rest) = values.as_chunks::<LANES>();
    let start = blocks.iter().copied().reduce(|sums, next| std::array::from_fn(|lane| sums[lane] + next[lane]));
    let start = start.map_or(0.0, |[a, b, c, d, e, f, g, h]| ((a + b) + (c + d)) + ((e + f) + (g + h)));
    rest.iter().fold(start, |sum, value| sum + value)
}

/// Rounded to hundredths, as text is: what lies between two is the even one of its exact digits.
fn hundredths(value: f64) -> f64 {
    format!("{value:.2}").parse().unwrap_or(value)
}
