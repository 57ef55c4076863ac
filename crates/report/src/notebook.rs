//! The report as a notebook (nbformat 4.5). It reads the tables of runs with polars and draws with matplotlib: a start for your own
//! analysis.

use std::path::{Path, PathBuf};

use resched_analysis::Run;
use serde_json::{Value, json};

use crate::Error;

const SETUP: &str = include_str!("../templates/notebook/setup.py");
const SUMMARY: &str = include_str!("../templates/notebook/summary.py");
const RUNNING: &str = include_str!("../templates/notebook/running_tasks.py");
const TIMES: &str = include_str!("../templates/notebook/job_times.py");
const CDF: &str = include_str!("../templates/notebook/cdf_jobs.py");

/// The notebook for `runs`, which are in `folders`.
///
/// # Errors
/// [`Error::Draw`] if the path of a folder cannot be made absolute.
pub(crate) fn notebook(runs: &[Run], folders: &[PathBuf]) -> Result<String, Error> {
    let mut list = String::from("RUNS = {\n");
    for (run, folder) in runs.iter().zip(folders) {
        list += &format!("    {}: {},\n", literal(&run.label), literal(&absolute(folder)?));
    }
    list += "}\n";
    let intro = "# resched: runs compared\n\nNeeds polars and matplotlib. Times are in ms of the simulated clock; \
                 the columns are described in the tables' schemas.";
    let cells: Vec<Value> = [
        ("intro", "markdown", intro.to_owned()),
        ("runs", "code", list),
        ("setup", "code", SETUP.to_owned()),
        ("summary", "code", SUMMARY.to_owned()),
        ("running-tasks", "code", RUNNING.to_owned()),
        ("job-times", "code", TIMES.to_owned()),
        ("cdf-jobs", "code", CDF.to_owned()),
    ]
    .into_iter()
    .map(|(id, kind, source)| cell(id, kind, &source))
    .collect();
    let notebook = json!({
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    Ok(format!("{notebook:#}\n"))
}

fn cell(id: &str, kind: &str, source: &str) -> Value {
    let lines: Vec<&str> = source.trim_end().split_inclusive('\n').collect();
    let mut cell = json!({"id": id, "cell_type": kind, "metadata": {}, "source": lines});
    if let (Value::Object(cell), "code") = (&mut cell, kind) {
        cell.insert("execution_count".to_owned(), Value::Null);
        cell.insert("outputs".to_owned(), json!([]));
    }
    cell
}

/// `text` as a Python string: JSON's escapes are Python's too.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

/// Makes a path absolute, because you may run the notebook from any folder.
fn absolute(folder: &Path) -> Result<String, Error> {
    let path = std::path::absolute(folder).map_err(Error::draw("report.ipynb"))?;
    Ok(path.to_string_lossy().into_owned())
}
