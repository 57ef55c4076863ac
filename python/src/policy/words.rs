//! The words by which Python names what Rust has types for.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use resched_sim::hadoop::{AmState, Ask, ContainerState, Kind, Part, Reach};
use resched_tables::cluster_file::Calculator;

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

/// The word for a part of the work of an attempt.
pub(super) fn part_name(part: Part) -> &'static str {
    match part {
        Part::Map => "map",
        Part::Copy => "copy",
        Part::Sort => "sort",
        Part::Reduce => "reduce",
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

/// The word for a request to YARN.
pub(super) fn ask_name(ask: Ask) -> &'static str {
    match ask {
        Ask::Am => "am",
        Ask::FailedMap => "failed-map",
        Ask::Reduce => "reduce",
        Ask::Map => "map",
    }
}

/// The word for how far from its input a map may run.
pub(super) fn reach_name(reach: Reach) -> &'static str {
    match reach {
        Reach::Node => "node",
        Reach::Rack => "rack",
        Reach::Any => "any",
        Reach::OffRack => "off-rack",
    }
}

/// The word for the state of an application master.
pub(super) fn am_name(state: AmState) -> &'static str {
    match state {
        AmState::Waiting => "waiting",
        AmState::Allocated => "allocated",
        AmState::Running => "running",
        AmState::Finished => "finished",
    }
}

/// The word for the state of a container.
pub(super) fn container_name(state: ContainerState) -> &'static str {
    match state {
        ContainerState::Allocated => "allocated",
        ContainerState::Running => "running",
        ContainerState::Completed => "completed",
    }
}

/// Which resources a policy counts.
pub(super) fn calculator(word: &str) -> PyResult<Calculator> {
    match word {
        "memory" => Ok(Calculator::Memory),
        "dominant" => Ok(Calculator::Dominant),
        _ => unknown("calculator", &["memory", "dominant"], word),
    }
}
