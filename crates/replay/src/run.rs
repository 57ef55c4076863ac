//! One replay that is about to start. Only this module calls the engines.

use resched_sim::hadoop::{Cluster, HadoopRows, Options, Workload};
use resched_sim::{Bottlenecks, Error, Files, Read, Recorder, RowSink, RowSource, batch, hadoop};
use resched_tables::run::{RowReader, RunInfo};
use resched_tables::store::Out;

use crate::times::{JobTimes, OfBatch, OfHadoop};

/// The counts of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// Events that the engine handled.
    pub events: u64,
    /// For how long each resource was the bottleneck.
    pub bound: Bottlenecks,
}

impl Counted {
    /// The content of `run.json` with these counts.
    pub(crate) fn noted_in(self, info: RunInfo) -> RunInfo {
        RunInfo { events: self.events, bound: self.bound, ..info }
    }
}

/// A replay under one of the engines, for a [`crate::Sink`] to start.
pub trait Recording {
    /// The source of the rows.
    type Rows: RowSource;

    /// Starts the files of a run in `out`, whose rows the reader gets, too.
    ///
    /// # Errors
    /// [`Error::Trace`] if something other than a run is there, or it cannot be written.
    fn files<R: RowReader>(&self, out: &Out, reader: R) -> Result<Recorder<Self::Rows, Files<R>>, Error>;

    /// Starts a run whose rows only the reader gets.
    fn read<R: RowReader>(&self, reader: R) -> Recorder<Self::Rows, Read<R>>;

    /// Replays, recording each row.
    ///
    /// # Errors
    /// Errors of the engine, the policy or the recorder.
    fn replay<K: RowSink>(self, to: &mut Recorder<Self::Rows, K>) -> Result<Counted, Error>;

    /// Replays and records only when each job was submitted, started and ended, in the order of the jobs.
    ///
    /// # Errors
    /// Errors of the engine or the policy.
    fn replay_times(self) -> Result<Vec<JobTimes>, Error>;

    /// Replays and records nothing. Returns the number of events.
    ///
    /// # Errors
    /// Errors of the engine or the policy.
    fn replay_unrecorded(self) -> Result<u64, Error>;
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
    /// Whether to check the rules of the engine.
    pub(crate) check: bool,
}

impl HadoopRun<'_> {
    fn start<O: hadoop::Observer>(self, observer: &mut O) -> Result<Counted, Error> {
        let Self { workload, cluster, policy, progress, name, seed, check } = self;
        let options = Options { seed, ..Options::default() };
        if !check {
            let hadoop::Tally { events, bound, .. } =
                hadoop::replay(workload, cluster, (name, policy), &options, observer, progress)?;
            return Ok(Counted { events, bound });
        }
        let mut checked = hadoop::Checked::new(workload, cluster, name, observer);
        let tally = hadoop::replay(workload, cluster, (name, policy), &options, &mut checked, progress)?;
        checked.close()?;
        Ok(Counted { events: tally.events, bound: tally.bound })
    }
}

impl<'a> Recording for HadoopRun<'a> {
    type Rows = HadoopRows<'a>;

    fn files<R: RowReader>(&self, out: &Out, reader: R) -> Result<Recorder<Self::Rows, Files<R>>, Error> {
        hadoop::RunWriter::create(out, self.workload, self.cluster, reader)
    }

    fn read<R: RowReader>(&self, reader: R) -> Recorder<Self::Rows, Read<R>> {
        hadoop::RunRows::new(self.workload, self.cluster, reader)
    }

    fn replay<K: RowSink>(self, to: &mut Recorder<Self::Rows, K>) -> Result<Counted, Error> {
        self.start(to)
    }

    fn replay_times(self) -> Result<Vec<JobTimes>, Error> {
        let mut times = OfHadoop::new(self.workload);
        self.start(&mut times)?;
        Ok(times.jobs)
    }

    fn replay_unrecorded(self) -> Result<u64, Error> {
        Ok(self.start(&mut ())?.events)
    }
}

/// A replay of batch tasks.
pub(crate) struct BatchRun<'a> {
    pub(crate) loaded: &'a batch::Loaded,
    pub(crate) policy: &'a mut dyn batch::Policy,
    pub(crate) progress: &'a mut dyn FnMut(u64),
    /// The policy's name.
    pub(crate) name: &'a str,
    /// Whether to check the rules of the engine.
    pub(crate) check: bool,
}

impl BatchRun<'_> {
    fn start<O: batch::Observer>(self, observer: &mut O) -> Result<Counted, Error> {
        let Self { loaded, policy, progress, name, check } = self;
        let (workload, machines) = (&loaded.workload, &loaded.machines);
        if !check {
            let batch::Tally { events, bound, .. } =
                batch::replay(workload, machines, (name, policy), observer, progress)?;
            return Ok(Counted { events, bound });
        }
        let mut checked = batch::Checked::new(workload, machines, name, observer);
        let tally = batch::replay(workload, machines, (name, policy), &mut checked, progress)?;
        checked.close()?;
        Ok(Counted { events: tally.events, bound: tally.bound })
    }
}

impl<'a> Recording for BatchRun<'a> {
    type Rows = batch::BatchRows<'a>;

    fn files<R: RowReader>(&self, out: &Out, reader: R) -> Result<Recorder<Self::Rows, Files<R>>, Error> {
        batch::RunWriter::create(out, &self.loaded.workload, &self.loaded.machines, reader)
    }

    fn read<R: RowReader>(&self, reader: R) -> Recorder<Self::Rows, Read<R>> {
        batch::RunRows::new(&self.loaded.workload, &self.loaded.machines, reader)
    }

    fn replay<K: RowSink>(self, to: &mut Recorder<Self::Rows, K>) -> Result<Counted, Error> {
        self.start(to)
    }

    fn replay_times(self) -> Result<Vec<JobTimes>, Error> {
        let mut times = OfBatch::new(&self.loaded.workload);
        self.start(&mut times)?;
        Ok(times.jobs)
    }

    fn replay_unrecorded(self) -> Result<u64, Error> {
        Ok(self.start(&mut ())?.events)
    }
}
