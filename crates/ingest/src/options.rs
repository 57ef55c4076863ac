//! The options of an ingest.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use super::tables::LARGEST;
use crate::formats::mapped::Map;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::clock::Zone;
use resched_tables::model::{JobRow, NodeRow};
use resched_tables::sink::Tasks;
use resched_workload::synthesise::{MADE, MADE_NODES, Rules, Synthesiser, TooLarge};

/// The options of an ingest.
#[derive(Default)]
pub struct Options {
    /// The format of all files, by name. By default, each file's content decides.
    pub format: Option<String>,
    /// True if to keep the counters that have no column.
    pub counters: bool,
    /// True if to take the jobs of a folder for those of one cluster, whatever their masters and machines say.
    pub merge: bool,
    /// Makes the tasks of jobs whose format has none. Without it, these jobs have no tasks.
    pub tasks: Option<TaskMaker>,
    /// How many threads read event tables, each with some 100 MB of memory. By default, as many as the machine has
    /// cores. The trace does not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// The size of the facts that are put together at once (bytes), by default 16 MiB. Event tables with more than
    /// twice as many bytes of facts are written in parts of about this size. Of lists of jobs, four times as many bytes are in memory
    /// in each step, and the rest on the disk.
    pub partition_bytes: Option<NonZeroU64>,
    /// The zone of the times that a source gives without one (Slurm's `sacct`). `None`: it is taken to be UTC, and the trace counts that
    /// as assumed.
    pub timezone: Option<Zone>,
    /// The cluster whose jobs to take from lists that name several (the column `Cluster` of Slurm's `sacct`). Without it, such lists are
    /// refused.
    pub cluster_name: Option<String>,
    /// The columns of lists by Slurm's `sacct` that have no header, in their order, with commas between, as `sacct --format` takes them.
    /// All files are then such lists; one with a header keeps the columns that it names. [`split`](crate::split) does not take it.
    pub fields: Option<String>,
    /// Which column of a table is which field of a job: all files are such tables. It excludes a format.
    pub map: Option<Map>,
}

impl Options {
    pub(super) fn threads(&self) -> NonZeroUsize {
        self.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }

    /// How many bytes of a list of jobs are sorted in memory; `None`: as many as the sink says.
    pub(super) fn memory(&self) -> Option<usize> {
        let bytes = self.partition_bytes?.get().saturating_mul(LARGEST);
        Some(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// Makes the tasks of a job whose format has none (SWIM).
pub struct TaskMaker {
    /// Makes the tasks.
    pub make: Box<dyn MakeTasks>,
    /// The columns that it fills, as `table.column`, with the name of the rule: for the manifest.
    pub made: BTreeMap<String, String>,
    /// The machines of the cluster that the tasks are made for, all that the tasks name.
    pub nodes: Vec<NodeRow>,
    /// The parameters of its rules: for the manifest.
    pub parameters: BTreeMap<String, serde_json::Value>,
}

impl TaskMaker {
    /// Makes tasks by the rules of [`resched_workload::synthesise`].
    ///
    /// # Errors
    /// [`Error::Request`] if a rule is out of its range.
    pub fn synthesiser(rules: &Rules, seed: u64) -> Result<Self, Error> {
        let synthesiser = Synthesiser::new(rules, seed)?;
        let parameters = [("seed", Ok(seed.into())), ("synthesiser", serde_json::to_value(rules))];
        let parameters: Result<BTreeMap<_, _>, _> =
            parameters.into_iter().map(|(name, value)| Ok((name.to_owned(), value?))).collect();
        let parameters: BTreeMap<_, _> = parameters
            .map_err(|error: serde_json::Error| Error::Request(format!("the rules of the synthesiser: {error}")))?;
        Ok(Self {
            make: Box::new(synthesiser),
            made: MADE
                .iter()
                .chain(MADE_NODES)
                .map(|column| ((*column).to_owned(), "synthesiser".to_owned()))
                .collect(),
            nodes: (0..rules.nodes).map(|node| rules.node(node)).collect(),
            parameters,
        })
    }
}

/// Makes tasks for jobs that have only sizes.
pub trait MakeTasks {
    /// The tasks of a job, each with an id of its own, which begin when the job is submitted. Writes what the job announces into
    /// its row. `ordinal` is its place in the trace, from 0.
    ///
    /// # Errors
    /// The cause that counts the job, if it has to be left without tasks.
    fn make(&self, job: &mut JobRow, ordinal: u64) -> Result<Box<dyn Tasks + '_>, Cause>;
}

impl MakeTasks for Synthesiser {
    fn make(&self, job: &mut JobRow, ordinal: u64) -> Result<Box<dyn Tasks + '_>, Cause> {
        match self.tasks(job, ordinal) {
            Ok(tasks) => Ok(Box::new(tasks)),
            Err(TooLarge { .. }) => Err(cause::TOO_MANY_TASKS),
        }
    }
}
