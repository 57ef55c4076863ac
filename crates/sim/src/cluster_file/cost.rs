//! `[cost]`: how long tasks take.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::Ms;

/// How long tasks take (policies A.5, A.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// By how much a map takes longer on a node with its split, in such a rack, elsewhere.
    pub locality: [f64; 3],
    /// How a reduce gets its input.
    pub reduce: ReduceModel,
    /// Bytes per second that a reduce fetches; only for the fluid model.
    pub shuffle_rate: f64,
    /// Nodes on which everything takes longer, drawn from the seed.
    pub slow_nodes: Slow,
    /// By how much everything takes longer on nodes that are known to be slow (or less than 1: fast), by host name. What such a
    /// host logged in the trace holds its factor already and is divided by it.
    pub host_factors: BTreeMap<String, f64>,
    /// Attempts that take longer than their tasks should, drawn from the seed.
    pub stragglers: Slow,
    /// How long another attempt at a running task takes.
    pub backup: Backup,
    /// What the tasks of a node share (model `contention`); without it they do not hinder each other (model `logged`).
    pub contention: Option<Contention>,
}

/// What a node has for its tasks to share; what is not set does not run short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// Cores.
    pub cores: Option<f64>,
    /// What its disks read and write, bytes per second.
    pub disk: Option<f64>,
    /// What its network takes in, and also what it gives out, bytes per second.
    pub network: Option<f64>,
    /// How often what nodes use is noted, ms.
    #[serde(default = "minute")]
    pub sample: Ms,
}

fn minute() -> Ms {
    60_000
}

/// Which share of some things takes so many times as long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// The share, from 0 to 1.
    pub share: f64,
    /// How many times as long.
    pub factor: f64,
}

impl Slow {
    /// None is slow.
    pub const NONE: Slow = Slow { share: 0.0, factor: 1.0 };
}

/// How long a backup takes: a log cannot tell whether a slow attempt was slow by its task or by its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backup {
    /// As long as the task's own logged attempt: it was slow by its task. Only `slow_nodes`, `host_factors` and `stragglers`
    /// let a backup win.
    Task,
    /// A time drawn from the job's attempts: it was slow by its node.
    Job,
}

impl Cost {
    /// The name of the cost model: `contention` or `logged`.
    pub fn model(&self) -> &'static str {
        if self.contention.is_some() { "contention" } else { "logged" }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            locality: [1.0, 1.5, 3.0],
            reduce: ReduceModel::R1,
            shuffle_rate: 10e6,
            slow_nodes: Slow::NONE,
            host_factors: BTreeMap::new(),
            stragglers: Slow::NONE,
            backup: Backup::Task,
            contention: None,
        }
    }
}

/// How a reduce gets its input (policies A.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReduceModel {
    /// Mumak's: no shuffle and no sort; the reduce phase starts when the node is told that all maps are done.
    R0,
    /// Template: the job's logged shuffle times. A reduce that started before the master learned of the last map has its input
    /// one mean shuffle tail later; another one mean shuffle after its start. Then it sorts and reduces as logged.
    R1,
    /// Fluid: a reduce fetches at a fixed rate what the finished maps have made, as [`crate::hadoop::Fluid`] says; then as R1.
    R2,
}

impl ReduceModel {
    /// Its name in cluster files.
    pub fn name(self) -> &'static str {
        match self {
            ReduceModel::R0 => "r0",
            ReduceModel::R1 => "r1",
            ReduceModel::R2 => "r2",
        }
    }
}
