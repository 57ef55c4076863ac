//! What a folder holds, and metrics of runs.

use std::path::PathBuf;

use pyo3::prelude::*;
use resched_analysis::metrics::named::{Measured, Metric};
use resched_analysis::{Population, Run};
use resched_tables::run;
use resched_tables::store::Trace;

use crate::calls::long;
use crate::errors;

/// The marker of a trace as JSON.
#[pyfunction]
pub(crate) fn trace_info(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let trace = Trace::open(&folder).map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    serde_json::to_string(trace.manifest()).map_err(|error| errors::of_library(py, false, &error))
}

/// The marker of a run as JSON.
#[pyfunction]
pub(crate) fn run_info(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let info = run::read(&folder).map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    serde_json::to_string(&info).map_err(|error| errors::of_library(py, false, &error))
}

/// The runs in a folder, in the order in which they were asked for.
#[pyfunction]
pub(crate) fn runs_in(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    resched_replay::runs_in(&folder).map_err(|error| errors::of_library(py, error.is_request(), &error))
}

/// A list for each run, with a value for each metric; `None` where it is not known.
type Values = Vec<Vec<Option<f64>>>;

/// Metrics of runs, on the jobs that count in all of them: a list for each run, `None` where a metric is not known. Then their units.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>, folders: Vec<PathBuf>, names: Vec<String>) -> PyResult<(Values, Vec<String>)> {
    let named = |name: &String| Metric::named(name);
    let metrics: Vec<Metric> = names
        .iter()
        .map(named)
        .collect::<Result<_, _>>()
        .map_err(|problem| errors::of_library(py, true, &format!("metric: {problem}")))?;
    let units = metrics.iter().map(|metric| metric.unit.to_string()).collect();
    let work = move || {
        let mut runs = folders.iter().map(|folder| Run::open(folder)).collect::<Result<Vec<_>, _>>()?;
        Population::share(&mut runs);
        let of = |run: &Run| {
            let measured = Measured::of(run);
            metrics.iter().map(|metric| metric.of(&measured)).collect::<Vec<_>>()
        };
        Ok::<_, resched_analysis::Error>(runs.iter().map(of).collect::<Vec<_>>())
    };
    let values = long(py, work)?.map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    Ok((values, units))
}
