//! The report as a notebook (nbformat 4.5). It computes the numbers of the report with polars from `jobs.parquet`, and draws with
//! matplotlib: a start for your own analysis.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use resched_analysis::metrics::list::QUANTITIES;
use resched_analysis::runs::who::Who;
use resched_tables::store::columns::Row;
use resched_tables::words::visible;
use serde_json::{Value, json};

use crate::Error;
use crate::answer::Answer;
use crate::page::formula::covers;
use crate::page::overview::listed_rows;
use crate::page::sentences::{Sentences, sentences};
use crate::tables::ComparedJobRow;

const SETUP: &str = include_str!("../../templates/notebook/setup.py");
const COMPARED: &str = include_str!("../../templates/notebook/compared.py");
const RUNNING: &str = include_str!("../../templates/notebook/running_tasks.py");
const TIMES: &str = include_str!("../../templates/notebook/job_times.py");
const CDF: &str = include_str!("../../templates/notebook/cdf_jobs.py");

/// The tag of cells that draw. The others need no matplotlib.
const FIGURE: &str = "figure";

/// The notebook, in the folder `out`, for an answer about the runs in `folders`.
///
/// # Errors
/// [`Error::Draw`] if the path of a folder cannot be made absolute.
pub(crate) fn notebook(answer: &Answer, folders: &[PathBuf], out: &Path) -> Result<String, Error> {
    let mut list = String::from(
        "# The folders of the runs, from that of the report. If you move one of them, change this.\nRUNS = {\n",
    );
    for (run, folder) in answer.runs.iter().zip(folders) {
        list += &format!("    {}: {},\n", literal(&run.label), literal(&relative(folder, out)?));
    }
    list += "}\nPOLICIES = {\n";
    for policy in &answer.policies {
        let labels = policy.runs.iter().filter_map(|run| answer.runs.get(*run)).map(|run| literal(&run.label));
        list += &format!("    {}: [{}],\n", literal(&policy.label), labels.collect::<Vec<_>>().join(", "));
    }
    let baseline = if answer.has_replays() { literal(answer.baseline_label()) } else { "None".to_owned() };
    list += &format!("}}\nBASELINE = {baseline}\n");
    // What really ran is no policy: it is in the tables, and compared with none.
    let observed = answer.observed.as_ref().map_or_else(|| "None".to_owned(), |observed| literal(&observed.label));
    list += &format!("OBSERVED = {observed}\nTRACE = {}\n", trace(answer));
    let intro = "## The numbers\n\nNeeds polars, and matplotlib for the figures. Run it in the folder of the report. In the tables, times are \
                 in ms of the simulated clock, and their schemas describe the columns. `readable` shows them in larger units.";
    let cells: Vec<Value> = [
        ("answer", "markdown", in_sentences(answer)),
        ("validity", "markdown", validity(answer)),
        ("intro", "markdown", intro.to_owned()),
        ("runs", "code", list),
        ("setup", "code", SETUP.to_owned()),
        ("summary", "code", summary()),
        ("compared", "code", COMPARED.to_owned()),
        ("running-tasks", FIGURE, RUNNING.to_owned()),
        ("job-times", FIGURE, TIMES.to_owned()),
        ("cdf-jobs", FIGURE, CDF.to_owned()),
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
    Ok(visible(&format!("{notebook:#}\n")).into_owned())
}

/// The numbers of each run that follow from the columns of `jobs.parquet`, by their formulas in the list of metrics.
fn summary() -> String {
    let over = |who: Who| -> String {
        let numbers = listed_rows().filter_map(|(number, metric, _)| {
            let formula = metric.formula().filter(|formula| covers(formula) == who)?;
            Some(format!("    {}={},\n", number.field, python(&formula)?.0))
        });
        numbers.collect()
    };
    let (ended, waited) = (over(Who::Ended), over(Who::Started));
    format!(
        "summary = counted.group_by(\"run\", maintain_order=True).agg(\n{ended})\n\
         waits = started.group_by(\"run\", maintain_order=True).agg(\n{waited})\n\
         summary = summary.join(waits, on=\"run\", how=\"left\")\n\
         # In the order of the report.\n\
         summary = summary.sort(pl.col(\"run\").cast(pl.Enum(list(RUNS))))\nreadable(summary)\n"
    )
}

/// Whether the text of a formula is one term, which needs no parentheses as a part of another.
type IsTerm = bool;

/// A formula as an expression of polars in Python; `None` if it needs more than the columns of `jobs.parquet`.
fn python(formula: &Value) -> Option<(String, IsTerm)> {
    let Some((word, arguments)) = formula.as_array().and_then(|all| all.split_first()) else {
        return Some((formula.to_string(), true));
    };
    let column = || {
        let quantity =
            QUANTITIES.iter().find(|quantity| Some(quantity.name) == arguments.first().and_then(Value::as_str))?;
        ComparedJobRow::reference()
            .iter()
            .any(|column| column.name == quantity.field)
            .then(|| format!("pl.col(\"{}\")", quantity.field))
    };
    let term = |text: String| Some((text, true));
    match (word.as_str()?, arguments) {
        ("count", []) => term("pl.len()".to_owned()),
        (aggregate @ ("mean" | "min" | "max" | "sum"), _) => term(format!("{}.{aggregate}()", column()?)),
        ("quantile", [_, share]) if share.as_f64() == Some(0.5) => term(format!("{}.median()", column()?)),
        ("quantile", [_, share]) => term(format!("{}.quantile({share}, \"linear\")", column()?)),
        (sign @ ("+" | "-" | "*" | "/"), [one, other]) => {
            let [one, other] = [part(one)?, part(other)?];
            Some(match sign {
                // In Python, a division by zero is infinite; here it is unknown.
                "/" => (format!("pl.when({other} != 0).then({one} / {other})"), true),
                sign => (format!("{one} {sign} {other}"), false),
            })
        }
        _ => None,
    }
}

/// A part of a formula.
fn part(formula: &Value) -> Option<String> {
    let (text, is_term) = python(formula)?;
    Some(if is_term { text } else { format!("({text})") })
}

/// What identifies the traces of the replays, which `report.json` has, too.
fn trace(answer: &Answer) -> String {
    let hashes: BTreeSet<&str> =
        answer.runs.iter().filter_map(|run| Some(run.replay()?.trace.sha256.as_str())).collect();
    Value::from(hashes.into_iter().collect::<Vec<_>>()).to_string()
}

/// A text in Markdown: names in it are texts, whatever they hold.
fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_[]<>&$#|".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// The answer in sentences: the headline, and one for each policy but the baseline.
fn in_sentences(answer: &Answer) -> String {
    let Sentences { first, others } = sentences(answer);
    let mut text = format!("# resched: runs compared\n\n**{}**\n", markdown(&first));
    for other in others.into_iter().filter(|_| answer.is_answerable()) {
        text += &format!("\n- **{}**: {}", markdown(&other.label), markdown(&other.says));
    }
    text
}

/// How far to trust the answer, in Markdown.
fn validity(answer: &Answer) -> String {
    let mut text = format!(
        "## How far to trust this\n\nGrade: **{}**. {} Jobs of these runs: {}.\n",
        answer.validity.grade().in_words(),
        answer.validity.grade().as_sentence(),
        answer.population.in_words()
    );
    for fact in answer.validity.caveats() {
        let line = format!("\n- **{}**: {} {}", fact.grade.in_words(), markdown(&fact.says), markdown(&fact.remedy));
        text += line.trim_end();
    }
    text
}

fn cell(id: &str, kind: &str, source: &str) -> Value {
    let lines: Vec<&str> = source.trim_end().split_inclusive('\n').collect();
    let (kind, tags) = if kind == FIGURE { ("code", vec![FIGURE]) } else { (kind, Vec::new()) };
    let metadata = if tags.is_empty() { json!({}) } else { json!({ "tags": tags }) };
    let mut cell = json!({"id": id, "cell_type": kind, "metadata": metadata, "source": lines});
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

/// The way from the folder `from` to another, with slashes.
fn relative(folder: &Path, from: &Path) -> Result<String, Error> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(Error::draw("report.ipynb"));
    let (to, from) = (absolute(folder)?, absolute(from)?);
    let common = to.components().zip(from.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let way: Vec<String> = up.chain(down).collect();
    Ok(if way.is_empty() { ".".to_owned() } else { way.join("/") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_from_the_report_to_a_run() {
        let way = |to: &str, from: &str| relative(Path::new(to), Path::new(from)).ok();
        assert_eq!(way("/a/R/fair", "/a/reports/mine").as_deref(), Some("../../R/fair"));
        assert_eq!(way("R/fair", "R").as_deref(), Some("fair"));
        assert_eq!(way("R", "R").as_deref(), Some("."));
    }

    #[test]
    fn a_name_is_a_text_in_markdown() {
        assert_eq!(markdown("<b>*a_b*</b> [x](y) $1"), "\\<b\\>\\*a\\_b\\*\\</b\\> \\[x\\](y) \\$1");
    }

    #[test]
    fn the_numbers_of_a_run_are_expressions_of_polars() {
        let found = summary();
        for line in [
            "    mean_completion_ms=pl.col(\"completion\").mean(),",
            "    median_completion_ms=pl.col(\"completion\").median(),",
            "    p95_waiting_ms=pl.col(\"waiting\").quantile(0.95, \"linear\"),",
            "    makespan_ms=pl.col(\"finish\").max() - pl.col(\"submit\").min(),",
            "    jobs_per_hour=pl.when((pl.col(\"finish\").max() - pl.col(\"submit\").min()) != 0)\
             .then((pl.len() * 3600000.0) / (pl.col(\"finish\").max() - pl.col(\"submit\").min())),",
            "    tasks=pl.col(\"tasks_done\").sum(),",
        ] {
            assert!(found.lines().any(|found| found == line), "{line}\n{found}");
        }
        assert!(!found.contains("utilisation"), "{found}");
    }
}
