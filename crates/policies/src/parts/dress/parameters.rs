//! Parameters of DRESS on containers and on the machines of a production trace alike.

use resched_sim::Ms;

use super::phases::ReleaseMode;
use crate::error::Error;
use crate::parts::whole_requests::Next;
use crate::settings::{choices, parameter};

choices! {
    /// Which job of a category starts first.
    pub(crate) enum Order {
        /// While both categories are short, the one that asks for least; else the one that was submitted first.
        Smallest = "smallest",
        /// The one that was submitted first.
        Submission = "submission",
    }
}

impl Order {
    /// Which job of a category is next.
    pub(crate) fn next(self, both_are_short: bool) -> Next {
        if self == Self::Smallest && both_are_short { Next::Smallest } else { Next::Earliest }
    }
}

/// The least and the greatest δ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// What is kept at the start.
    delta: f64,
    least: Option<f64>,
    greatest: Option<f64>,
}

impl Bounds {
    /// Bounds as they are set.
    ///
    /// # Errors
    /// The least is more than the greatest.
    pub(crate) fn new(delta: f64, least: Option<f64>, greatest: Option<f64>) -> Result<Self, Error> {
        match (least, greatest) {
            (Some(least), Some(most)) if least > most => {
                Err(Error::Parameter(format!("delta_min: expected at most delta_max, {most}, found {least}")))
            }
            _ => Ok(Self { delta, least, greatest }),
        }
    }

    /// The least and the greatest δ. Where nothing is said, δ never falls below what is kept at the start, and each category
    /// always has a unit, which is such a share of all.
    pub(crate) fn of(self, unit: f64) -> (f64, f64) {
        let greatest = self.greatest.unwrap_or(1.0 - unit);
        (self.least.unwrap_or(self.delta.max(unit).min(greatest)), greatest)
    }
}

parameter! {
    /// share that is reserved for small jobs at the start (δ)
    pub(crate) DELTA: f64 = "delta" { default: 0.1, range: 0..=1 }
}

parameter! {
    /// the least δ; auto: delta, so that the share of the start stays reserved; 0: as printed
    pub(crate) DELTA_MIN: Option<f64> = "delta_min" { auto: Nothing, range: 0..=1 }
}

parameter! {
    /// the greatest δ; auto: all but one container, or all but 1 % of a production cluster
    pub(crate) DELTA_MAX: Option<f64> = "delta_max" { auto: Nothing, range: 0..=1 }
}

parameter! {
    /// a job starts with all that it first asks for or not at all; false: it gets its containers one by one
    pub(crate) WHOLE: bool = "whole" { default: true }
}

parameter! {
    /// the next job of a category while both lack containers: smallest or first (batch-dress: of whole requests)
    pub(crate) ORDER: Order = "order" { choice: Order::Smallest, of: [Order::Smallest, Order::Submission] }
}

parameter! {
    /// large jobs give small jobs no more than these lack; false: they give all that they do not need
    pub(crate) CAP_TRANSFER: bool = "cap_transfer" { default: false }
}

parameter! {
    /// window in which the starts or ends of a phase are counted
    pub(crate) PW: Ms = "pw" { default: 10000, range: 1..=86_400_000, unit: "ms" }
}

parameter! {
    /// more starts than this in the window begin a phase
    pub(crate) TS: u32 = "ts" { default: 5, range: 0..=1_000_000, unit: "tasks" }
}

parameter! {
    /// more ends than this in the window begin the release of a phase
    pub(crate) TE: u32 = "te" { default: 5, range: 0..=1_000_000, unit: "tasks" }
}

parameter! {
    /// expected releases: of tasks that still run, of the next tick alone, or as the paper prints it
    pub(crate) RELEASE: ReleaseMode = "release" {
        choice: ReleaseMode::Observed,
        of: [ReleaseMode::Observed, ReleaseMode::Incremental, ReleaseMode::Literal],
    }
}
