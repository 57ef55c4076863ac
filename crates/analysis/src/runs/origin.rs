//! Where a run comes from: a replay, or what really ran.

use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::model::TaskKind;
use resched_tables::run::{self, RunInfo, RunWindow};
use resched_tables::store::{Inventory, MANIFEST, Manifest, System, Trace};
use resched_tables::validity::{Fact, Grade, Validity};

use crate::Error;

/// The columns with the times of a trace.
const TIMES: [&str; 8] = [
    "jobs.submit",
    "jobs.launch",
    "jobs.finish",
    "tasks.start",
    "tasks.finish",
    "attempts.start",
    "attempts.finish",
    "attempts.shuffle_finish",
];

/// The origin of the tables.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// A replay.
    Replay(Box<RunInfo>),
    /// A trace, which holds what really ran.
    Observed(Box<Manifest>),
}

impl Origin {
    /// Reads the marker file of the run or trace in `dir`.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is neither or it is damaged.
    pub fn of(dir: &Path) -> Result<Self, Error> {
        if dir.join(MANIFEST).is_file() && !dir.join(run::MARKER).is_file() {
            return Ok(Self::Observed(Box::new(Trace::open(dir)?.manifest().clone())));
        }
        Ok(Self::Replay(Box::new(run::read(dir)?)))
    }

    /// Rows of each table.
    pub fn rows(&self) -> &BTreeMap<String, u64> {
        match self {
            Self::Replay(info) => &info.rows,
            Self::Observed(manifest) => &manifest.rows,
        }
    }

    /// The files of the tables; empty if another tool made the trace.
    pub fn files(&self) -> &Inventory {
        match self {
            Self::Replay(info) => &info.files,
            Self::Observed(manifest) => &manifest.files,
        }
    }

    /// The window of a replay, and of a trace the time since its beginning; `None` for all jobs.
    pub(crate) fn window(&self) -> Option<RunWindow> {
        match self {
            Self::Replay(info) => info.window,
            Self::Observed(manifest) => manifest.begin.map(|from| RunWindow { from, to: i64::MAX }),
        }
    }

    /// True if a column (`table.column`) holds what took place: a rule filled no column of a replay, and perhaps all rows of one of a
    /// trace.
    pub(crate) fn observes(&self, column: &str) -> bool {
        match self {
            Self::Replay(_) => true,
            Self::Observed(manifest) => manifest.made_whole(column).is_none(),
        }
    }

    /// What a task is to its job: what a trace of Hadoop lists among others is set-up or clean-up.
    pub(crate) fn role(&self, kind: TaskKind) -> TaskKind {
        match (self.observed_system(), kind) {
            (Some(System::MapReduce1 | System::Yarn), TaskKind::Other) => TaskKind::Setup,
            (_, kind) => kind,
        }
    }

    /// What ran the jobs of a trace, or is simulated in a run, if that is known.
    pub fn system(&self) -> Option<System> {
        match self {
            Self::Replay(info) => Some(info.system),
            Self::Observed(manifest) => manifest.system,
        }
    }

    /// What ran the jobs of a trace, if that is known.
    pub(crate) fn observed_system(&self) -> Option<System> {
        match self {
            Self::Replay(_) => None,
            Self::Observed(manifest) => manifest.system,
        }
    }

    /// Checks that the attempts in `dir` took place, really or in a replay. The attempts of a workload's trace did not: a rule made
    /// them.
    ///
    /// # Errors
    /// [`Error::Trace`], a wrong request, if a rule made them.
    pub fn check_observed(&self, dir: &Path) -> Result<(), Error> {
        let Self::Observed(manifest) = self else { return Ok(()) };
        let Some(rule) = manifest.made_whole("attempts.start") else { return Ok(()) };
        Err(nothing_observed(dir, &format!("they were made by the rule `{rule}`")))
    }

    /// The facts about its numbers by themselves: what the replay rested on, or what times of a trace a rule made.
    pub fn validity(&self) -> Validity {
        match self {
            Self::Replay(info) => info.validity.clone(),
            Self::Observed(manifest) => {
                let is_made = |column: &str| TIMES.contains(&column) && manifest.made_whole(column).is_some();
                let made = manifest.made.iter().filter(|(column, _)| is_made(column));
                let fact = |(column, rule): (&String, &String)| {
                    let says = format!("`{column}` is made by the rule `{rule}`, not observed.");
                    let remedy = "Do not take these times for times of the cluster.";
                    Fact::new("made", Grade::Assumed, says).with_remedy(remedy)
                };
                Validity { facts: made.map(fact).collect() }
            }
        }
    }
}

/// The error that `dir` holds no observed attempts.
pub(crate) fn nothing_observed(dir: &Path, why: &str) -> Error {
    Error::Trace(resched_tables::Error::Request(format!(
        "{}: the trace holds no observed attempts: {why}; expected a trace of job histories, .jhist or Rumen files",
        dir.display()
    )))
}
