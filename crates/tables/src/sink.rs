//! Where jobs and machines go on their way to the tables: a trait, and a sink that keeps them in memory.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use crate::Error;
use crate::cause::Cause;
use crate::clock::Zone;
use crate::engine::{RunEngine, System};
use crate::model::{JobRecord, NodeRow, TaskRecord};

/// Takes the jobs and machines that a reader finds.
pub trait Sink {
    /// Takes a complete job.
    ///
    /// # Errors
    /// The error of the writer behind the sink. The reader passes it on.
    fn job(&mut self, job: JobRecord) -> Result<(), Error>;

    /// As [`Sink::job`], from a reader that writes its next job over this one. A sink that needs it only for a while leaves it there, so that
    /// its memory is used again.
    ///
    /// # Errors
    /// As [`Sink::job`].
    fn lent_job(&mut self, job: &mut JobRecord) -> Result<(), Error> {
        self.job(std::mem::take(job))
    }

    /// Takes a job without tasks and the tasks that are made for it. By default, they are all made and then taken with it.
    ///
    /// # Errors
    /// As [`Sink::job`].
    fn made_job(&mut self, mut job: JobRecord, tasks: &mut dyn Tasks) -> Result<(), Error> {
        job.tasks = tasks.all();
        self.job(job)
    }

    /// Takes a machine event. The same event may come more than once; the first counts.
    fn node(&mut self, node: NodeRow);

    /// Takes a machine that is as large as its use shows. If it comes more than once, the most processor counts.
    fn used_node(&mut self, node: NodeRow) {
        self.node(node);
    }

    /// Counts `n` things that the tables do not have as the source has them.
    fn skip(&mut self, cause: Cause, n: u64);

    /// Takes that the source has values of a column (`table.column`) under this name: a column, a key or a field of the source.
    fn filled_from(&mut self, _column: &'static str, _name: &str) {}

    /// Takes a number of the source that applies to all its jobs, for the manifest. The first value counts.
    fn parameter(&mut self, _name: &str, _value: serde_json::Value) {}

    /// Takes the settings of an application that scheduling depends on, by name. `id` is the application as in `jobs.group`. If one
    /// comes again, its further settings are added.
    fn application(&mut self, _id: &str, _settings: &BTreeMap<String, String>) {}

    /// Takes that a rule, not the source, filled `rows` rows of a column (`table.column`) of the next job.
    fn made(&mut self, _column: &'static str, _rule: &'static str, _rows: u64) {}

    /// Takes a file beside the source that was read for it: its path, its format for the manifest, its size (bytes), and the SHA-256 of
    /// its bytes, hexadecimal.
    fn companion(&mut self, _path: &str, _format: &str, _bytes: u64, _sha256: &str) {}

    /// Opens the file `name` beside the source at `path`, if the source is not a file of this machine, and returns its address, too. `None` if
    /// there is no such file, or if the reader finds it by itself.
    fn beside(&mut self, _path: &str, _name: &str) -> Option<(String, Box<dyn Read>)> {
        None
    }

    /// Takes what ran the jobs of the source, if its content shows that.
    fn system(&mut self, _system: System) {}

    /// Takes the engine that replays the jobs of the sources, after the last job.
    fn engine(&mut self, _engine: RunEngine) {}

    /// Takes what is damaged in a record that is left out. The first counts: it is in the error about a source without any job.
    fn damage(&mut self, _damage: &dyn Fn() -> Damage) {}

    /// What the reader of lists that continue each other keeps from one source of its format to the next. `None`: each source stands
    /// alone.
    fn kept(&mut self) -> Option<&mut Option<Box<dyn Kept>>> {
        None
    }

    /// Room for what the reader keeps.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Takes that the reader keeps so many jobs of the source.
    fn keeps(&mut self, _jobs: u64) {}

    /// The cluster whose jobs are wanted of a list that names several (`--cluster-name`).
    fn cluster_name(&self) -> Option<&str> {
        None
    }

    /// The columns of lists without a header, in their order, with commas between (`--fields`).
    fn fields(&self) -> Option<&str> {
        None
    }

    /// True if counters are wanted (`--counters`).
    fn wants_counters(&self) -> bool {
        false
    }

    /// The zone of the times that a source gives without one (`--timezone`); `None` if nobody gave it.
    fn zone(&self) -> Option<Zone> {
        None
    }
}

/// What a reader keeps from one source to the next.
pub trait Kept: Any {
    /// Hands over the jobs and machines of all sources, after the last.
    ///
    /// # Errors
    /// [`Error::Request`] if they do not belong together, and errors of the sink.
    fn hand_over(self: Box<Self>, sink: &mut dyn Sink) -> Result<(), Error>;
}

/// Room for what a reader keeps from one source to the next: memory, and a folder for the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The folder, which need not be there; `None`: one among the system's temporary files.
    pub folder: Option<PathBuf>,
    /// How much of one kind of records is kept in memory (bytes).
    pub memory: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { folder: None, memory: 64 << 20 }
    }
}

/// What is damaged in a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// Where it is, with the punctuation that ends it: `line 2, Submit: `.
    pub place: String,
    /// What was expected there.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

impl Damage {
    /// Damage at a place.
    pub fn new(place: &str, expected: &str, found: &str, remedy: &str) -> Self {
        let [place, expected, found, remedy] = [place, expected, found, remedy].map(str::to_owned);
        Self { place, expected, found, remedy }
    }
}

/// The tasks of a job, made one after the other.
pub trait Tasks {
    /// Writes the next task over `task`, whose memory is used again. Returns `false` after the last.
    fn next(&mut self, task: &mut TaskRecord) -> bool;

    /// All tasks that are left.
    fn all(&mut self) -> Vec<TaskRecord> {
        let next = || {
            let mut task = TaskRecord::default();
            self.next(&mut task).then_some(task)
        };
        std::iter::from_fn(next).collect()
    }
}

/// The settings of applications that scheduling depends on: the application as in `jobs.group`, the name of a setting, its value.
pub type Applications = BTreeMap<String, BTreeMap<String, String>>;

/// Adds settings of an application to those of others. A setting that is there already stays.
pub fn add_settings(applications: &mut Applications, id: &str, settings: &BTreeMap<String, String>) {
    let of_application = applications.entry(id.to_owned()).or_default();
    for (name, value) in settings {
        of_application.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// A sink that keeps everything in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// The jobs, in the order in which they came.
    pub jobs: Vec<JobRecord>,
    /// The machine events, in the order in which they came; a machine that came twice is here twice.
    pub nodes: Vec<NodeRow>,
    /// How many things were left out or mended, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// The engine that replays the jobs.
    pub engine: RunEngine,
    /// The settings of each application that scheduling depends on, by application and name.
    pub applications: Applications,
    /// True if it asks for counters.
    pub counters: bool,
}

impl Collected {
    /// The number of rows of each table of a trace with this content.
    pub fn rows(&self) -> BTreeMap<String, u64> {
        let tasks = || self.jobs.iter().flat_map(|job| &job.tasks);
        let rows = [
            ("jobs", self.jobs.len()),
            ("tasks", tasks().count()),
            ("attempts", tasks().map(|task| task.attempts.len()).sum()),
            ("splits", tasks().map(|task| task.splits.len()).sum()),
            ("nodes", self.nodes.len()),
            ("counters", self.jobs.iter().map(|job| job.counters.len()).sum()),
        ];
        rows.map(|(table, rows)| (table.to_owned(), rows as u64)).into()
    }
}

impl Sink for Collected {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.jobs.push(job);
        Ok(())
    }

    fn node(&mut self, node: NodeRow) {
        self.nodes.push(node);
    }

    fn skip(&mut self, cause: Cause, n: u64) {
        if n == 0 {
            return;
        }
        let count = self.skipped.entry(cause.name().to_owned()).or_default();
        *count = count.saturating_add(n);
    }

    fn application(&mut self, id: &str, settings: &BTreeMap<String, String>) {
        add_settings(&mut self.applications, id, settings);
    }

    fn engine(&mut self, engine: RunEngine) {
        self.engine = engine;
    }

    fn wants_counters(&self) -> bool {
        self.counters
    }
}
