//! Workload files: the jobs of an experiment, written by hand as TOML.
//!
//! ```
//! use resched_trace::workload::Workload;
//!
//! let text = r#"
//!     name = "two-greps"
//!     about = "A large job, and a small one that comes while it runs."
//!
//!     [cluster]
//!     nodes = 7
//!     replication = 1
//!
//!     [classes.grep]
//!     map_mean_s = 36.0
//!     map_variation = 0.3
//!     map_selectivity = 0.1
//!     reduce_mean_s = 60.0
//!
//!     [[jobs]]
//!     class = "grep"
//!     submit_s = 0
//!     maps = 148
//!     reduces = 15
//!
//!     [[jobs]]
//!     class = "grep"
//!     submit_s = 60
//!     maps = 8
//!     reduces = 2
//! "#;
//! let workload = Workload::parse(text, "two-greps.toml")?;
//! assert_eq!(workload.cluster().map_slots, 2);
//! # Ok::<(), resched_trace::Error>(())
//! ```
//!
//! [`Workload::read`] checks a file whole and says what is wrong in which line; [`generate`] makes its jobs, with tasks
//! and splits as in a trace. Like a synthesised trace, all of it is made: no time in it was observed.

mod generate;
mod problem;
mod sample_run;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use serde::de::{Deserializer, Error as _, Unexpected};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::Error;
use crate::model::Priority;
use crate::synthesise::{Impossible, MAX_NODES, MAX_TASKS, Placement};
pub use generate::generate;
use problem::Problem;
pub use problem::explain_toml;
pub use sample_run::sample_run;
pub use write::{make_trace, write_trace};

/// The columns that [`generate`] fills beside [`crate::synthesise::MADE`], as `table.column`; a trace's manifest lists
/// both as made.
pub const MADE: &[&str] = &[
    "jobs.job_id",
    "jobs.name",
    "jobs.user",
    "jobs.queue",
    "jobs.priority",
    "jobs.framework",
    "jobs.submit",
    "jobs.outcome",
    "jobs.input_bytes",
    "jobs.shuffle_bytes",
    "jobs.output_bytes",
    "nodes.host",
    "nodes.rack",
    "nodes.event",
    "nodes.map_slots",
    "nodes.reduce_slots",
];
/// The most jobs of a workload.
pub const MAX_JOBS: u64 = 1_000_000;
/// The most slots of a workload's cluster.
pub const MAX_SLOTS: u64 = 10_000_000;

/// A workload file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// A short name, such as `coupling-table4`.
    pub name: String,
    /// What it is and where it comes from.
    #[serde(default)]
    pub about: String,
    /// The cluster that it is meant for and that holds its input.
    pub cluster: Spanned<Cluster>,
    /// Kinds of jobs, by name.
    #[serde(default)]
    pub classes: BTreeMap<String, Class>,
    /// Jobs with their times of submission.
    #[serde(default)]
    pub jobs: Vec<Jobs>,
    /// Jobs that arrive by chance.
    pub arrivals: Option<Spanned<Arrivals>>,
    /// How a sample history of it is logged (see [`sample_run`]); replays do not use it.
    pub history: Option<History>,
}

/// The cluster of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Machines, named by [`crate::synthesise::host_name`].
    pub nodes: u32,
    /// Racks that they fill, as [`crate::synthesise::rack_of`] says. Default 1.
    #[serde(default = "one")]
    pub racks: u32,
    /// Maps that a machine runs at once. Default 2, as in Hadoop (policies.md A.1).
    #[serde(default = "two")]
    pub map_slots: u32,
    /// Reduces that a machine runs at once. Default 2.
    #[serde(default = "two")]
    pub reduce_slots: u32,
    /// Numbers, from 0, of the machines that hold the input. Default: all.
    pub data_nodes: Option<Vec<u32>>,
    /// Replicas of each block of input. Default 3.
    #[serde(default = "three")]
    pub replication: u32,
    /// Bytes of input of each map. Default 64 MiB, the block size that explains the papers' map counts (policies.md
    /// C.0).
    #[serde(default = "split_bytes")]
    pub split_bytes: u64,
}

/// A kind of jobs: how long their tasks take and how much they pass on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Mean time of a map on a machine with its input, s.
    #[serde(deserialize_with = "not_negative")]
    pub map_mean_s: f64,
    /// Coefficient of variation of the times of maps (log-normal). Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub map_variation: f64,
    /// Whether maps read blocks of a file. Default true; a job that does not (RandomWriter) has no places to prefer.
    #[serde(default = "yes")]
    pub reads_input: bool,
    /// Bytes that a map hands to the reduces for each byte of its split. Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub map_selectivity: f64,
    /// Bytes that a reduce fetches in a second when all maps are over. Default 20 MB/s.
    #[serde(default = "shuffle_rate", deserialize_with = "positive")]
    pub shuffle_rate: f64,
    /// Mean time of a reduce after its last fetch, s. Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub reduce_mean_s: f64,
    /// Coefficient of variation of the times of reduces (log-normal). Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub reduce_variation: f64,
    /// Bytes of output for each byte that the reduces fetch, or for each byte of the splits if there are none. Default
    /// 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub output_selectivity: f64,
}

/// A job, or several of the same kind at equal distances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// Its class.
    pub class: Spanned<String>,
    /// When it is submitted, s from the start.
    #[serde(deserialize_with = "not_negative")]
    pub submit_s: f64,
    /// Maps.
    pub maps: NonZeroU32,
    /// Reduces. Default 0.
    #[serde(default)]
    pub reduces: u32,
    /// Its name. Default: that of the class.
    pub name: Option<String>,
    /// Who submits it.
    pub user: Option<String>,
    /// The queue or pool. Default `default`.
    pub queue: Option<String>,
    /// Its priority. Default `NORMAL`.
    #[serde(default, with = "priority")]
    pub priority: Priority,
    /// How many such jobs there are. Default 1.
    #[serde(default = "once")]
    pub repeat: NonZeroU32,
    /// The time from one to the next, s. Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub every_s: f64,
}

/// Batches of jobs that arrive by chance: exponential gaps between the heads of batches and between the jobs of a
/// batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// When the first batch starts, s. Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub start_s: f64,
    /// Batches.
    pub batches: NonZeroU32,
    /// Jobs of a batch.
    pub jobs_per_batch: NonZeroU32,
    /// Mean gap between the heads of two batches, s. Default 0.
    #[serde(default, deserialize_with = "not_negative")]
    pub batch_gap_mean_s: f64,
    /// Mean gap between two jobs of a batch, s.
    #[serde(deserialize_with = "not_negative")]
    pub gap_mean_s: f64,
    /// What the jobs are, in a random order; the counts add up to all jobs of all batches.
    pub mix: Vec<Mix>,
}

/// A share of the jobs that arrive by chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Their class.
    pub class: Spanned<String>,
    /// How many they are.
    pub jobs: u32,
    /// Sizes that are drawn with replacement, each as likely.
    pub sizes: Vec<Size>,
    /// Who submits them.
    pub user: Option<String>,
    /// The queue or pool. Default `default`.
    pub queue: Option<String>,
}

/// The size of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Maps.
    pub maps: NonZeroU32,
    /// Reduces. Default 0.
    #[serde(default)]
    pub reduces: u32,
}

/// How a sample history is logged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The seed of all draws.
    pub seed: u64,
    /// The host of the JobTracker.
    pub jobtracker: String,
    /// When the workload starts, ms since the epoch.
    pub start_ms: i64,
    /// What stands in job ids for the JobTracker's start: digits, as `yyyyMMddHHmm`.
    pub cluster_id: String,
    /// The time between two heartbeats of a machine, ms.
    pub heartbeat_ms: NonZeroU32,
    /// How much longer a map takes in the rack of its input than on its machine. At least 1.
    #[serde(deserialize_with = "positive")]
    pub rack_factor: f64,
    /// How much longer a map takes in another rack. At least 1.
    #[serde(deserialize_with = "positive")]
    pub off_factor: f64,
    /// The share of attempts that fail.
    #[serde(deserialize_with = "share")]
    pub failed_share: f64,
    /// The share of attempts that are killed.
    #[serde(deserialize_with = "share")]
    pub killed_share: f64,
}

/// The text of a workload file.
///
/// # Errors
/// [`Error::Request`] if it cannot be read.
pub fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| {
        Error::Request(format!("{}: cannot read the workload ({error}); check the path", path.display()))
    })
}

impl Workload {
    /// Reads and checks a workload file.
    ///
    /// # Errors
    /// [`Error::Request`] if it cannot be read, or, with the line and the nearest known key, if it is no workload.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&read_text(path)?, &path.display().to_string())
    }

    /// Reads and checks the text of a workload file; `path` is its name for error messages.
    ///
    /// # Errors
    /// [`Error::Request`].
    pub fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let workload: Self = toml::from_str(text).map_err(|error| Problem::from_toml(&error).locate(text, path))?;
        workload.check().map_err(|problem| problem.locate(text, path))?;
        Ok(workload)
    }

    /// The cluster that it is meant for.
    pub fn cluster(&self) -> &Cluster {
        self.cluster.get_ref()
    }

    /// What the fields cannot tell one by one.
    fn check(&self) -> Result<(), Problem> {
        let cluster = self.cluster();
        cluster.placement().map_err(|Impossible { expected, found }| {
            Problem::at(self.cluster.span(), &expected, &found.to_string())
        })?;
        let slots =
            u64::from(cluster.nodes).saturating_mul(u64::from(cluster.map_slots) + u64::from(cluster.reduce_slots));
        if slots > MAX_SLOTS {
            let expected = format!("a cluster of at most {MAX_SLOTS} slots");
            return Err(Problem::at(self.cluster.span(), &expected, &slots.to_string()));
        }
        for jobs in &self.jobs {
            self.check_job(&jobs.class, Size { maps: jobs.maps, reduces: jobs.reduces })?;
        }
        let mut total: u64 = self.jobs.iter().map(|jobs| u64::from(jobs.repeat.get())).sum();
        if let Some(arrivals) = &self.arrivals {
            total = total.saturating_add(self.check_arrivals(arrivals)?);
        }
        match total {
            0 => Err(Problem::new("a job", "none").remedy("add [[jobs]] or [arrivals]")),
            1..=MAX_JOBS => Ok(()),
            _ => Err(Problem::new(&format!("at most {MAX_JOBS} jobs"), &total.to_string()).remedy("repeat fewer")),
        }
    }

    /// How many jobs arrive.
    fn check_arrivals(&self, arrivals: &Spanned<Arrivals>) -> Result<u64, Problem> {
        let span = arrivals.span();
        let arrivals = arrivals.get_ref();
        for mix in &arrivals.mix {
            if mix.sizes.is_empty() {
                return Err(Problem::at(mix.class.span(), "a size in `sizes`", "none"));
            }
            for &size in &mix.sizes {
                self.check_job(&mix.class, size)?;
            }
        }
        let mixed: u64 = arrivals.mix.iter().map(|mix| u64::from(mix.jobs)).sum();
        let all = u64::from(arrivals.batches.get()).saturating_mul(u64::from(arrivals.jobs_per_batch.get()));
        if mixed != all {
            let expected = format!("counts in `mix` that add up to {all} (batches times jobs_per_batch)");
            return Err(Problem::at(span, &expected, &mixed.to_string()));
        }
        Ok(all)
    }

    fn check_job(&self, class: &Spanned<String>, size: Size) -> Result<(), Problem> {
        let tasks = u64::from(size.maps.get()) + u64::from(size.reduces);
        if tasks > MAX_TASKS {
            let expected = format!("a job of at most {MAX_TASKS} tasks");
            return Err(Problem::at(class.span(), &expected, &tasks.to_string()));
        }
        let name = class.get_ref();
        if !self.classes.contains_key(name) {
            let known = self.classes.keys().map(String::as_str);
            return Err(Problem::at(class.span(), "a class of this file", &format!("`{name}`")).nearest(name, known));
        }
        Ok(())
    }
}

impl Cluster {
    /// Where the input lies.
    pub(crate) fn placement(&self) -> Result<Placement, Impossible> {
        let all = || (0..self.nodes.min(MAX_NODES)).collect();
        Placement::new(self.nodes, self.racks, &self.data_nodes.clone().unwrap_or_else(all), self.replication)
    }
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

fn three() -> u32 {
    3
}

fn once() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn yes() -> bool {
    true
}

fn split_bytes() -> u64 {
    64 << 20
}

fn shuffle_rate() -> f64 {
    20e6
}

fn not_negative<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number(from, "a number from 0", |number| number >= 0.0)
}

fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number(from, "a number above 0", |number| number > 0.0)
}

fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number(from, "a number from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

fn number<'de, D: Deserializer<'de>>(from: D, expected: &str, holds: fn(f64) -> bool) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    if number.is_finite() && holds(number) {
        Ok(number)
    } else {
        Err(D::Error::invalid_value(Unexpected::Float(number), &expected))
    }
}

/// Priorities by Hadoop's names.
mod priority {
    use serde::de::{Deserialize, Deserializer, Error as _};
    use serde::ser::Serializer;

    use crate::model::Priority;

    pub(super) fn serialize<S: Serializer>(priority: &Priority, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(priority.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Priority, D::Error> {
        let name = String::deserialize(from)?;
        Priority::from_name(&name)
            .ok_or_else(|| D::Error::unknown_variant(&name, &["VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"]))
    }
}

#[cfg(test)]
mod tests;
