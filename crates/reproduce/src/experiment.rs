//! The description of an experiment.

use resched_report::Figure;

use crate::case::Case;
use crate::replays::Replays;
use crate::{Error, Row};

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
    /// The figures to draw.
    pub(crate) figures: fn(&Replays<'_>) -> Result<Vec<Figure>, Error>,
}
