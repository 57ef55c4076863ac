//! Workload files: the jobs of an experiment, written by hand as TOML.
//!
//! ```
//! use resched_workload::Workload;
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
//! # Ok::<(), resched_tables::Error>(())
//! ```
//!
//! [`Workload::read`] checks a whole file and names the line of an error. [`generate`] makes its jobs, with tasks and
//! splits as in a trace. As in a synthesised trace, no time was observed.

mod generate;
pub mod limits;
pub mod synthesise;
mod write;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use toml::Spanned;

use crate::synthesise::{Impossible, MAX_NODES, MAX_TASKS, Placement};
pub use generate::generate;
use resched_tables::Error;
use resched_tables::keys;
use resched_tables::model::Priority;
use resched_tables::reference::above;
use resched_tables::toml_file::Problem;
use resched_tables::whole;
pub use write::{make_trace, write_trace, write_trace_up_to};

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
/// The most tasks of a workload whose tables are held in memory: those of a replay that names the workload file. They take some
/// 1.5 kB each until the replay begins.
pub const MAX_HELD_TASKS: u64 = 2_000_000;
/// The most tasks that are written to a trace, unless `--most-tasks` allows more. They are made job by job, so only time and disk
/// bound them.
pub const MAX_WRITTEN_TASKS: u64 = 20_000_000;
/// The most slots of a workload's cluster.
pub const MAX_SLOTS: u64 = 10_000_000;

keys! {
    /// A workload file: the jobs of an experiment and the cluster they are meant for.
    pub struct Workload, checked as read {
        /// A short name, such as `coupling-table4`.
        name: String;
        /// What the workload is and where it comes from.
        about: String = String::new();
        /// The cluster that the workload is meant for, which holds its input.
        cluster: Spanned<Cluster>;
        /// Kinds of jobs, by name.
        classes: BTreeMap<String, Class> = BTreeMap::new();
        /// Jobs with their times of submission. A workload needs these or `arrivals`.
        jobs: Vec<Jobs> = Vec::new();
        /// Jobs that arrive at random times.
        arrivals: Option<Spanned<Arrivals>> = None;
        /// How a sample history of the workload is logged. Replays do not use it.
        history: Option<History> = None;
    }
}

keys! {
    /// The cluster of a workload. It has at most 10000000 slots.
    pub struct Cluster: Eq, checked as read {
        /// How many machines there are. They are called `node-00000`, `node-00001` and so on.
        nodes: u32, unit "nodes", rule format!("from 1 to {MAX_NODES}");
        /// How many racks the machines fill, in order and as evenly as possible.
        racks: u32 = 1, unit "racks", rule "from 1 to `nodes`";
        /// How many maps a machine runs at once.
        map_slots: u32 = 2, unit "slots";
        /// How many reduces a machine runs at once.
        reduce_slots: u32 = 2, unit "slots";
        /// The numbers of the machines that hold the input, from 0. If you leave it out, all machines hold input.
        data_nodes: Option<Vec<u32>> = None, rule "from 0 to `nodes` - 1";
        /// How many replicas each block of input has, at most one on each machine that holds input. They are placed as HDFS does.
        replication: u32 = 3, unit "replicas";
        /// The input of each map. The default is the block size that matches the papers' numbers of maps.
        split_bytes: u64 = 64 << 20, unit "bytes";
    }
}

keys! {
    /// A kind of jobs: how long their tasks take and how much data they pass on.
    pub struct Class, checked as read {
        /// The mean time of a map on a machine with its input.
        map_mean_s: f64, unit "s", range 0.0..;
        /// The coefficient of variation of the times of maps, which are log-normal.
        map_variation: f64 = 0.0, range 0.0..;
        /// Whether maps read blocks of a file. Jobs that do not, such as RandomWriter, prefer no machine.
        reads_input: bool = true;
        /// How many bytes a map passes to the reduces for each byte of its split.
        map_selectivity: f64 = 0.0, unit "bytes/byte", range 0.0..;
        /// How fast a reduce fetches its input when all maps are done.
        shuffle_rate: f64 = 20e6, unit "bytes/s", range above(0.0);
        /// The mean time of a reduce after its last fetch, whatever it has fetched.
        reduce_mean_s: f64 = 0.0, unit "s", range 0.0..;
        /// How fast a reduce works on what it has fetched, after the last fetch. If you leave it out, that takes no time.
        reduce_rate: Option<f64> = None, unit "bytes/s", range above(0.0);
        /// The coefficient of variation of the times of reduces, which are log-normal.
        reduce_variation: f64 = 0.0, range 0.0..;
        /// How many bytes a job writes for each byte that its reduces fetch. In a job without reduces: for each byte of its
        /// splits.
        output_selectivity: f64 = 0.0, unit "bytes/byte", range 0.0..;
    }
}

keys! {
    /// A job, or several of the same kind at equal intervals.
    pub struct Jobs, checked as read {
        /// The class of the job.
        class: Spanned<String>, rule "a name below `classes`";
        /// When the job is submitted, from the start of the workload.
        submit_s: f64, unit "s", range 0.0..;
        /// How many maps it has. Maps and reduces together are at most 1000000.
        maps: NonZeroU32, unit "maps";
        /// How many reduces it has.
        reduces: u32 = 0, unit "reduces";
        /// Its name. If you leave it out, it is that of the class.
        name: Option<String> = None;
        /// The file that its maps read. Jobs with the same file read the same blocks, from the first one on. If you leave it out, each
        /// job has a file of its own.
        input: Option<String> = None;
        /// Who submits it. If you leave it out, the job has no user.
        user: Option<String> = None;
        /// The queue or pool. If you leave it out, it is `default`.
        queue: Option<String> = None;
        /// Its priority.
        priority: Priority = Priority::Normal;
        /// How many such jobs there are.
        repeat: NonZeroU32 = NonZeroU32::MIN, unit "jobs";
        /// The time from one of them to the next.
        every_s: f64 = 0.0, unit "s", range 0.0..;
    }
}

keys! {
    /// Batches of jobs that arrive at random times. The gaps between the first jobs of batches and the gaps between the jobs of a
    /// batch are exponential.
    pub struct Arrivals, checked as read {
        /// When the first batch starts.
        start_s: f64 = 0.0, unit "s", range 0.0..;
        /// How many batches there are.
        batches: NonZeroU32, unit "batches";
        /// How many jobs a batch has.
        jobs_per_batch: NonZeroU32, unit "jobs";
        /// The mean gap between the first jobs of two batches.
        batch_gap_mean_s: f64 = 0.0, unit "s", range 0.0..;
        /// The mean gap between two jobs of a batch.
        gap_mean_s: f64, unit "s", range 0.0..;
        /// The kinds of jobs, which arrive in random order. Their numbers add up to `batches` times `jobs_per_batch`.
        mix: Vec<Mix>;
    }
}

keys! {
    /// A part of the jobs that arrive at random times.
    pub struct Mix, checked as read {
        /// The class of these jobs.
        class: Spanned<String>, rule "a name below `classes`";
        /// How many there are.
        jobs: u32, unit "jobs";
        /// Their sizes. Each job draws one of them with equal probability, and several jobs may draw the same.
        sizes: Vec<Size>, rule "at least one";
        /// Who submits them. If you leave it out, the jobs have no user.
        user: Option<String> = None;
        /// The queue or pool. If you leave it out, it is `default`.
        queue: Option<String> = None;
    }
}

keys! {
    /// The size of a job.
    pub struct Size: Copy + Eq, checked as read {
        /// How many maps it has. Maps and reduces together are at most 1000000.
        maps: NonZeroU32, unit "maps";
        /// How many reduces it has.
        reduces: u32 = 0, unit "reduces";
    }
}

keys! {
    /// How a sample history is logged (a test of `crates/ingest`).
    pub struct History, checked as read {
        /// The seed of all draws.
        seed: u64;
        /// The host of the JobTracker.
        jobtracker: String;
        /// When the workload starts, since 1970.
        start_ms: i64, unit "ms";
        /// The part of job ids after `job_`: the start of the JobTracker, as `yyyyMMddHHmm`.
        cluster_id: String;
        /// The time between two heartbeats of a machine.
        heartbeat_ms: NonZeroU32, unit "ms";
        /// The time of a map in the rack of its input, divided by that on a machine with its input. Give at least 1.
        rack_factor: f64, range above(0.0);
        /// The time of a map in another rack, divided by that on a machine with its input. Give at least 1.
        off_factor: f64, range above(0.0);
        /// The share of attempts that fail.
        failed_share: f64, range 0.0..=1.0;
        /// The share of attempts that are killed.
        killed_share: f64, range 0.0..=1.0;
    }
}

/// The text of a workload file.
///
/// # Errors
/// [`Error::Request`] if it cannot be read.
pub fn read_text(path: &Path) -> Result<String, Error> {
    whole::text_up_to(path, whole::MOST_WORKLOAD).map_err(|error| {
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

    /// Checks that need several fields.
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
    /// The placement of the input.
    pub(crate) fn placement(&self) -> Result<Placement, Impossible> {
        let all = || (0..self.nodes.min(MAX_NODES)).collect();
        Placement::new(self.nodes, self.racks, &self.data_nodes.clone().unwrap_or_else(all), self.replication)
    }
}

#[cfg(test)]
mod tests;
