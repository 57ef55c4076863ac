//! The limits of sweeps.

use resched_tables::limits::Limit;

use crate::design::MOST_SETTINGS;
use crate::file::MOST_SEEDS;
use crate::location::MOST_BYTES;
use crate::plan::MOST_CELLS;
use crate::values::MOST_STEPS;

const REFUSED: &str = "The file is refused.";

/// The limits of sweeps and searches.
pub const LIMITS: &[Limit] = &[
    Limit::number(
        "cells",
        MOST_CELLS,
        "The request is refused before any cell is made. The error names the number needed.",
    )
    .set_by("--most-cells"),
    Limit::number("seeds", MOST_SEEDS, REFUSED),
    Limit::number("samples, or combinations of a grid", MOST_SETTINGS as u64, REFUSED),
    Limit::number("steps of a range", MOST_STEPS as u64, REFUSED),
    Limit::bytes(
        "plan, or file with the results of cells",
        MOST_BYTES,
        "The file is refused, also in an object store.",
    ),
];
