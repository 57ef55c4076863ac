//! The description of an experiment.

use resched_report::Figure;

use crate::case::Case;
use crate::replays::Replays;
use crate::{Band, Error, Row};

/// A paper whose experiments are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// Tan, Meng, Zhang: Coupling Task Progress for MapReduce Resource-Aware Scheduling (INFOCOM 2013).
    Coupling,
    /// Tian, Zhou, He, Zha: A Dynamic MapReduce Scheduler for Heterogeneous Workloads (GCC 2009).
    TripleQueue,
    /// Mao et al.: DRESS.
    Dress,
    /// Zaharia et al.: Delay Scheduling (EuroSys 2010).
    Delay,
}

impl Paper {
    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coupling => "Coupling",
            Self::TripleQueue => "Triple-Queue",
            Self::Dress => "DRESS",
            Self::Delay => "Delay Scheduling",
        }
    }

    /// Its name in links.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Coupling => "coupling",
            Self::TripleQueue => "triple-queue-paper",
            Self::Dress => "dress",
            Self::Delay => "delay-scheduling",
        }
    }

    /// What it claims, in one sentence that the paper would say.
    pub(crate) fn claim(self) -> &'static str {
        match self {
            Self::Coupling => {
                "Starting reduces with the progress of their maps, near their input, and placing maps by chance \
                 ends the starvation of small jobs and shortens the mean processing time by 21.3 % on a cluster of 62 nodes."
            }
            Self::TripleQueue => {
                "Running jobs bound by the processor beside jobs bound by the disk raises the throughput of maps \
                 by 30 % and shortens the makespan by 20 %."
            }
            Self::Dress => {
                "A reserve of changing size shortens the completion of jobs with small demands by 22 to 76 %, \
                 and leaves the makespan as it is."
            }
            Self::Delay => {
                "Waiting a few seconds for data makes nearly all maps local, small jobs up to five times faster \
                 and a load bound by the disk twice as fast."
            }
        }
    }

    /// What it does not say and a replay needs, in one sentence.
    pub(crate) fn missing(self) -> &'static str {
        match self {
            Self::Coupling => {
                "The paper gives no run times of tasks, no sizes of map output, no rack layout and no configuration of Fair's pools."
            }
            Self::TripleQueue => {
                "The paper gives no number of reduces, no slots of the queues, no unit of throughput and no run times of reduces."
            }
            Self::Dress => "The paper gives no job's containers or run times, and not how often the reserve is moved.",
            Self::Delay => "The paper that we have states these claims without the load they were measured under.",
        }
    }
}

/// A number that a paper does not give. It was set from the published numbers of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// File and key.
    pub place: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The published number of the baseline that it was set from, or the reason for the choice.
    pub fixed_by: &'static str,
}

/// An experiment of a paper.
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// The figures and tables that it reproduces.
    pub source: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The numbers that were set from the baseline.
    pub knobs: &'static [Knob],
    /// The other assumptions.
    pub assumptions: &'static [&'static str],
    /// The workloads and policies to replay with every seed.
    pub(crate) cases: fn() -> Result<Vec<Case>, Error>,
    /// The numbers to compare.
    pub(crate) rows: fn(&Replays<'_>) -> Vec<Row>,
    /// The claims that hang on a number that the paper does not give, over the plausible range of that number.
    pub(crate) bands: fn(&Replays<'_>) -> Vec<Band>,
    /// The figures to draw.
    pub(crate) figures: fn(&Replays<'_>) -> Result<Vec<Figure>, Error>,
}
