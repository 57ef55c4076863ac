//! Scheduling policies that are written in Python.
//!
//! `resched._load` finds the class that a text such as `mine.py:MyPolicy` names. What the engine calls is a shell around an object of that
//! class; it calls only the methods that the class overrides.

mod arrays;
mod batch;
mod caller;
mod containers;
mod hadoop;
mod hooks;
mod known;
mod lent;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::{Rng, RngExt};
use resched_policies::Error;
use resched_policies::foreign::{Foreign, Loaded, LoadedParameter, LoadedRange};
use resched_sim::Ms;
use resched_sim::hadoop::System;
use resched_tables::model::{LONGEST, Reason};

use crate::errors;
pub(crate) use batch::{BatchOffer, RunEnded};
pub(crate) use containers::ContainerChanged;
pub(crate) use hadoop::{Attempt, AttemptEnded, HadoopOffer};
pub(crate) use hooks::{interrupt_hooks, interrupt_overdue};

/// A class of Python.
struct Class {
    class: Py<PyAny>,
    system: Option<System>,
    identity: BTreeMap<String, String>,
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class").field("system", &self.system).finish_non_exhaustive()
    }
}

impl Class {
    /// Makes an object with these values, and what makes a policy of it.
    fn make<P>(
        &self,
        values: &BTreeMap<String, String>,
        shell: impl FnOnce(Python<'_>, &Bound<'_, PyAny>, Py<PyDict>) -> PyResult<P>,
    ) -> Result<P, Error> {
        Python::attach(|py| {
            let made = || {
                let load = py.import("resched._load")?;
                let (object, methods): (Bound<'_, PyAny>, Bound<'_, PyDict>) =
                    load.call_method1("make", (self.class.bind(py), values.clone()))?.extract()?;
                shell(py, &object, methods.unbind())
            };
            made().map_err(|error: PyErr| Error::Parameter(errors::in_words(py, &error)))
        })
    }
}

impl Foreign for Class {
    fn system(&self) -> Option<System> {
        self.system
    }

    fn make_hadoop(&self, values: &BTreeMap<String, String>) -> Result<Box<dyn resched_sim::hadoop::Policy>, Error> {
        let system = self.system.unwrap_or(System::Slots);
        let shell = self.make(values, |py, object, methods| hadoop::Shell::new(py, object, methods, system))?;
        Ok(Box::new(shell))
    }

    fn make_batch(&self, values: &BTreeMap<String, String>) -> Result<Box<dyn resched_sim::batch::Policy>, Error> {
        Ok(Box::new(self.make(values, batch::Shell::new)?))
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.identity.clone()
    }
}

/// Loads the class of a name.
pub(crate) fn load(name: &str) -> Result<Loaded, String> {
    Python::attach(|py| {
        let found = || {
            let entry = py.import("resched._load")?.call_method1("entry", (name,))?;
            read(&entry)
        };
        found().map_err(|error: PyErr| errors::in_words(py, &error))
    })
}

/// What `resched._load.entry` says of a class.
fn read(entry: &Bound<'_, PyAny>) -> PyResult<Loaded> {
    let text = |key: &str| entry.get_item(key)?.extract::<String>();
    let system = match entry.get_item("system")?.extract::<Option<String>>()?.as_deref() {
        None => None,
        Some("slots") => Some(System::Slots),
        Some("yarn") => Some(System::Containers),
        Some(other) => {
            return Err(PyValueError::new_err(format!("system: expected \"slots\" or \"yarn\", found `{other}`")));
        }
    };
    let parameters =
        entry.get_item("parameters")?.try_iter()?.map(|declared| parameter(&declared?)).collect::<PyResult<_>>()?;
    let class = entry.get_item("class")?.unbind();
    let identity = entry.get_item("identity")?.extract()?;
    Ok(Loaded {
        version: entry.get_item("version")?.extract()?,
        title: text("title")?,
        source: text("source")?,
        oracle: entry.get_item("oracle")?.extract()?,
        parameters,
        policy: Box::new(Class { class, system, identity }),
    })
}

fn parameter(declared: &Bound<'_, PyAny>) -> PyResult<LoadedParameter> {
    let text = |key: &str| declared.get_item(key)?.extract::<String>();
    let end = |key: &str| declared.get_item(key);
    let range = match text("kind")?.as_str() {
        "integer" => LoadedRange::Integer(end("low")?.extract()?, end("high")?.extract()?),
        "number" => LoadedRange::Number(end("low")?.extract()?, end("high")?.extract()?),
        "boolean" => LoadedRange::Boolean,
        "choice" => LoadedRange::Choice(declared.get_item("words")?.extract()?),
        _ => LoadedRange::File,
    };
    Ok(LoadedParameter {
        key: text("key")?,
        range,
        auto: declared.get_item("auto")?.extract()?,
        default: text("default")?,
        unit: text("unit")?,
        meaning: text("meaning")?,
    })
}

/// The names under which policies report numbers. They live as long as the process, so there is a limit.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
const MOST_NAMES: usize = 1_000;

/// A name for as long as the process lives.
fn kept_name(name: &str) -> PyResult<&'static str> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() == MOST_NAMES {
        let problem = format!("report: expected at most {MOST_NAMES} names; name what is reported, and not each job");
        return Err(PyValueError::new_err(problem));
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    Ok(kept)
}

/// The numbers that identify a draw of a policy: what it is for, and the decision.
fn draw_key(purpose: &str, entity: &[u64]) -> Vec<u64> {
    // No letter has this number, so that no purpose and its numbers look like another.
    const END: u64 = u64::MAX;
    purpose.bytes().map(u64::from).chain([END]).chain(entity.iter().copied()).collect()
}

/// A random number from 0 up to 1.
fn draw(mut draws: impl Rng) -> f64 {
    draws.random()
}

/// How often the policy is to be called, ms. Without an upper end, the engine could not add to it.
fn period(object: &Bound<'_, PyAny>) -> PyResult<Option<Ms>> {
    let period: Option<Ms> = object.getattr("period")?.extract()?;
    match period {
        Some(found) if !(1..=LONGEST).contains(&found) => {
            Err(PyValueError::new_err(format!("period: expected None or 1..{LONGEST} ms, found {found}")))
        }
        _ => Ok(period),
    }
}

fn only_in(method: &str, hook: &str) -> PyErr {
    PyRuntimeError::new_err(format!("`{method}` can be called in `{hook}` only"))
}

/// Why a job is passed over.
fn reason(word: &str) -> PyResult<Reason> {
    Reason::from_name(word).ok_or_else(|| {
        let all: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        PyValueError::new_err(format!("reason: expected one of {}, found `{word}`", all.join(", ")))
    })
}
