//! The words by which Python names what Rust has types for.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use resched_sim::hadoop::{Ask, Kind, Reach};

fn unknown<T>(what: &str, words: &[&str], found: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("{what}: expected one of {}, found `{found}`", words.join(", "))))
}

/// A kind of task.
pub(super) fn kind(word: &str) -> PyResult<Kind> {
    match word {
        "map" => Ok(Kind::Map),
        "reduce" => Ok(Kind::Reduce),
        _ => unknown("kind", &["map", "reduce"], word),
    }
}

/// The word for a kind of task.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Map => "map",
        Kind::Reduce => "reduce",
    }
}

/// How far from its input a map may run.
pub(super) fn reach(word: &str) -> PyResult<Reach> {
    match word {
        "node" => Ok(Reach::Node),
        "rack" => Ok(Reach::Rack),
        "any" => Ok(Reach::Any),
        "off-rack" => Ok(Reach::OffRack),
        _ => unknown("reach", &["node", "rack", "any", "off-rack"], word),
    }
}

/// A request to YARN.
pub(super) fn ask(word: &str) -> PyResult<Ask> {
    match word {
        "am" => Ok(Ask::Am),
        "failed-map" => Ok(Ask::FailedMap),
        "reduce" => Ok(Ask::Reduce),
        "map" => Ok(Ask::Map),
        _ => unknown("ask", &["am", "failed-map", "reduce", "map"], word),
    }
}
