//! One replay that is about to start. Only this module calls the engines.

use std::collections::BTreeMap;

use resched_sim::hadoop::{Cluster, Options, Workload};
use resched_sim::{Bottlenecks, Error, batch, hadoop};
use resched_tables::run::{RowSink, RunInfo};
use resched_tables::validity::{Fact, Validity};

use crate::facts;
use crate::times::{JobTimes, OfBatch, OfHadoop};

/// How many jobs are named that can never start.
const MOST_NAMED: usize = 3;

/// The counts of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    /// Events that the engine handled.
    pub(crate) events: u64,
    /// For how long each resource was the bottleneck.
    pub(crate) bound: Bottlenecks,
    /// Jobs that failed although they succeeded in the trace.
    failed_unlike_log: u64,
    /// The number of rows of each table.
    rows: BTreeMap<String, u64>,
    /// What the replay itself showed about the answer.
    shown: Vec<Fact>,
}

impl Counted {
    /// The content of `run.json` with these counts.
    pub(crate) fn noted_in(self, info: RunInfo) -> RunInfo {
        let jobs = self.rows.get("jobs").copied().unwrap_or(0);
        let mut validity = info.validity.and(&Validity { facts: self.shown });
        facts::failed_unlike_log(self.failed_unlike_log, jobs).into_iter().for_each(|fact| validity.add(fact));
        RunInfo { events: self.events, bound: self.bound, rows: self.rows, validity, ..info }
    }
}

/// A replay under one of the engines that is about to start, for a [`crate::Sink`].
pub struct Pending<'a>(pub(crate) Engine<'a>);

pub(crate) enum Engine<'a> {
    Hadoop(HadoopRun<'a>),
    Batch(BatchRun<'a>),
}

impl Pending<'_> {
    /// Replays, and gives each row to the sink. The counts include the rows of each table.
    pub(crate) fn record(self, sink: &mut dyn RowSink) -> Result<Counted, Error> {
        match self.0 {
            Engine::Hadoop(run) => {
                let mut rows = hadoop::RunRows::new(run.workload, run.cluster, sink);
                let counted = run.start(&mut rows)?;
                Ok(Counted { rows: rows.finish()?, ..counted })
            }
            Engine::Batch(run) => {
                let mut rows = batch::RunRows::new(&run.loaded.workload, &run.loaded.machines, sink);
                let counted = run.start(&mut rows)?;
                Ok(Counted { rows: rows.finish()?, ..counted })
            }
        }
    }

    /// Replays and records only when each job was submitted, started and ended, in the order of the jobs.
    pub(crate) fn times(self) -> Result<Vec<JobTimes>, Error> {
        match self.0 {
            Engine::Hadoop(run) => {
                let mut times = OfHadoop::new(run.workload);
                run.start(&mut times)?;
                Ok(times.jobs)
            }
            Engine::Batch(run) => {
                let mut times = OfBatch::new(&run.loaded.workload);
                run.start(&mut times)?;
                Ok(times.jobs)
            }
        }
    }

    /// Replays and records nothing.
    pub(crate) fn count(self) -> Result<Counted, Error> {
        match self.0 {
            Engine::Hadoop(run) => run.start(&mut ()),
            Engine::Batch(run) => run.start(&mut ()),
        }
    }
}

/// A replay of Hadoop's maps and reduces.
pub(crate) struct HadoopRun<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) cluster: &'a Cluster,
    pub(crate) policy: &'a mut dyn hadoop::Policy,
    pub(crate) progress: &'a mut dyn FnMut(u64),
    /// The policy's name.
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
    /// True if to check the rules of the engine.
    pub(crate) check: bool,
}

impl HadoopRun<'_> {
    fn start(self, observer: &mut dyn hadoop::Observer) -> Result<Counted, Error> {
        let Self { workload, cluster, policy, progress, name, seed, check } = self;
        let options = Options { seed, ..Options::default() };
        if !check {
            let hadoop::Tally { events, bound, failed_unlike_log, .. } =
                hadoop::replay(workload, cluster, (name, policy), &options, observer, progress)?;
            return Ok(Counted { events, bound, failed_unlike_log, ..Counted::default() });
        }
        let mut checked = hadoop::Checked::new(workload, cluster, name, observer);
        let tally = hadoop::replay(workload, cluster, (name, policy), &options, &mut checked, progress)?;
        checked.close()?;
        let (events, bound, failed_unlike_log) = (tally.events, tally.bound, tally.failed_unlike_log);
        Ok(Counted { events, bound, failed_unlike_log, ..Counted::default() })
    }
}

/// A replay of batch tasks.
pub(crate) struct BatchRun<'a> {
    pub(crate) loaded: &'a batch::Loaded,
    pub(crate) policy: &'a mut dyn batch::Policy,
    pub(crate) progress: &'a mut dyn FnMut(u64),
    /// The policy's name.
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
    /// True if to check the rules of the engine.
    pub(crate) check: bool,
}

impl BatchRun<'_> {
    fn start(self, observer: &mut dyn batch::Observer) -> Result<Counted, Error> {
        let Self { loaded, policy, progress, name, seed, check } = self;
        let (workload, machines) = (&loaded.workload, &loaded.machines);
        if !check {
            let tally = batch::replay_seeded(workload, machines, (name, policy), seed, observer, progress)?;
            return Ok(Self::counted(workload, tally));
        }
        let mut checked = batch::Checked::new(workload, machines, name, observer);
        let tally = batch::replay_seeded(workload, machines, (name, policy), seed, &mut checked, progress)?;
        checked.close()?;
        Ok(Self::counted(workload, tally))
    }

    fn counted(workload: &batch::Workload, tally: batch::Tally) -> Counted {
        let batch::Tally { events, bound, never_ended, failed_unlike_log, .. } = tally;
        let first: Vec<&str> = never_ended.iter().take(MOST_NAMED).map(|&job| workload.job(job).id).collect();
        let fact = facts::never_ended(&first, never_ended.len() as u64, workload.jobs().len() as u64);
        Counted { events, bound, failed_unlike_log, shown: fact.into_iter().collect(), ..Counted::default() }
    }
}
