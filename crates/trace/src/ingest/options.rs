//! What to do with the sources.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use crate::Error;
use crate::model::{JobRecord, NodeRow};
use crate::synthesise::{MADE, Rules, Synthesiser, TooLarge};

/// What to do with the sources.
#[derive(Default)]
pub struct Options {
    /// The format of all files, by name; without it each file's content decides.
    pub format: Option<String>,
    /// Whether to keep the counters that are no columns.
    pub counters: bool,
    /// Makes up the tasks of jobs whose format has none; without it they stay without.
    pub tasks: Option<TaskMaker>,
    /// How many threads read event tables, each with some 100 MB of memory; without it, as many as the machine has cores.
    /// The trace does not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// What the facts of the jobs take that are put together at once (bytes); without it 16 MiB. Event tables with more than
    /// twice as many are written in parts of about this size.
    pub partition_bytes: Option<NonZeroU64>,
}

impl Options {
    pub(super) fn threads(&self) -> NonZeroUsize {
        self.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Makes up the tasks of a job whose format has none (SWIM).
pub struct TaskMaker {
    /// Adds tasks to the job; the number is the job's place in the trace, from 0. `Err` is the cause under which a job
    /// that had to be left without tasks is counted.
    pub make: Box<MakeTasks>,
    /// The columns that it fills, as `table.column`, with the name of the rule: for the manifest.
    pub made: BTreeMap<String, String>,
    /// The machines of the cluster that the tasks are made for.
    pub nodes: Vec<NodeRow>,
    /// The parameters of its rules: for the manifest.
    pub parameters: BTreeMap<String, serde_json::Value>,
}

impl TaskMaker {
    /// Makes tasks by the rules of [`crate::synthesise`].
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
            make: Box::new(move |record, ordinal| synthesiser.synthesise(record, ordinal).map_err(|_| TooLarge::CAUSE)),
            made: MADE.iter().map(|column| ((*column).to_owned(), "synthesiser".to_owned())).collect(),
            nodes: (0..rules.nodes).map(|node| rules.node(node)).collect(),
            parameters,
        })
    }
}

/// The function of a [`TaskMaker`].
pub type MakeTasks = dyn Fn(&mut JobRecord, u64) -> Result<(), &'static str>;
