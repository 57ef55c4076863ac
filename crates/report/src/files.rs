//! The files of a report for programs: `report.json`, `summary.csv` and tables of jobs.

use std::path::Path;

use crate::tables::ComparedJobRow;
use resched_analysis::runs::who::Who;
use resched_analysis::{Details, JobMetrics, Run, Summary};
use resched_tables::store::{FileEntry, Inventory, TableWriter, marker};
use resched_tables::words::{csv_cell, name};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::answer::Answer;
use crate::compared::Policy;
use crate::page::overview::means;
use crate::page::sentences::sentences;
use crate::why::Reasons;

/// The file with the numbers of each run.
pub(crate) const SUMMARY: &str = "summary.csv";
/// The file with a row for each run and job.
pub(crate) const JOBS: &str = "jobs.parquet";
/// The file with the phases of each job.
pub(crate) const PHASES: &str = "phases.parquet";
/// The file with who made each job wait.
pub(crate) const BLAME: &str = "blame.parquet";
/// The file with everything over time.
pub(crate) const TIMELINES: &str = "timelines.csv";

/// The version of the report that this build writes.
const FORMAT_VERSION: u32 = 1;

/// `report.json`: every number that the page shows, but those of single jobs, which are in `jobs.parquet`, `phases.parquet` and
/// `blame.parquet`, and those over time, which are in `timelines.csv`.
///
/// # Errors
/// [`Error::Draw`] if it cannot be encoded.
pub(crate) fn json(answer: &Answer, reasons: &Reasons, files: &Inventory) -> Result<Vec<u8>, Error> {
    let runs: Result<Vec<Value>, Error> = answer
        .runs
        .iter()
        .zip(&answer.summaries)
        .enumerate()
        .map(|(place, (run, found))| {
            let mut of_run = Map::new();
            of_run.insert("label".to_owned(), json!(run.label));
            of_run.insert("kind".to_owned(), json!(kind(run)));
            of_run.insert("trace".to_owned(), json!(run.replay().map(|info| &info.trace)));
            of_run.insert("engine".to_owned(), json!(run.replay().map(|info| info.engine)));
            of_run.insert("written_by".to_owned(), json!(run.replay().map(|info| &info.written_by)));
            of_run.insert("seed".to_owned(), json!(run.replay().map(|info| info.seed)));
            of_run.insert("window".to_owned(), json!(run.replay().and_then(|info| info.window)));
            of_run.insert("unfinished".to_owned(), json!(run.replay().map(|info| info.unfinished)));
            of_run.insert("validity".to_owned(), json!(run.replay().map(|info| &info.validity)));
            of_run.extend(numbers(found)?);
            if !answer.metrics.is_empty() {
                let values =
                    answer.metrics.iter().map(|(metric, values)| (metric.name.clone(), json!(values.get(place))));
                of_run.insert("metrics".to_owned(), Value::Object(values.collect()));
            }
            Ok(Value::Object(of_run))
        })
        .collect();
    let value = json!({
        "format_version": FORMAT_VERSION,
        "written_by": concat!("resched ", env!("CARGO_PKG_VERSION")),
        "runs": runs?,
        "policies": policies(answer),
        "baseline": answer.has_replays().then(|| answer.baseline_label()),
        "headline": sentences(answer).first,
        "differences": answer.differences,
        "model_error": answer.beside,
        "matters": answer.matters,
        "population": answer.population,
        "validity": {"grade": answer.validity.grade(), "facts": answer.validity},
        "comparisons": answer.compared,
        "groups": answer.groups,
        "most_slowed": answer.slowed,
        "advice": reasons.advice.iter().map(|(advice, runs)| json!({"runs": runs, "advice": advice})).collect::<Vec<_>>(),
        "files": files,
    });
    marker::encode(&value).map_err(Error::draw("report.json"))
}

/// What a run is: a replay, or what really ran, which nothing is tested against.
fn kind(run: &Run) -> &'static str {
    if run.replay().is_some() { "replay" } else { "observed" }
}

/// The policies with the means over their runs.
fn policies(answer: &Answer) -> Vec<Value> {
    let with_means = |(policy, means): (&Policy, Value)| json!({"label": policy.label, "runs": policy.runs, "sign": policy.sign, "means": means});
    answer.policies.iter().zip(means(answer)).map(with_means).collect()
}

/// The fields of a summary and of the details by name.
fn numbers((summary, details): &(Summary, Details)) -> Result<Map<String, Value>, Error> {
    let mut all = Map::new();
    for value in [serde_json::to_value(summary), serde_json::to_value(details)] {
        if let Value::Object(fields) = value.map_err(Error::draw("report.json"))? {
            all.extend(fields);
        }
    }
    Ok(all)
}

/// `summary.csv`: a row per run, with the numbers of its summary and details.
///
/// # Errors
/// [`Error::Draw`] if it cannot be encoded.
pub(crate) fn summary_csv(answer: &Answer) -> Result<Vec<u8>, Error> {
    let names = || Summary::MEASURES.iter().chain(Details::MEASURES).map(|measure| measure.name);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let further = answer.metrics.iter().map(|(metric, _)| metric.name.as_str());
    let heading: Vec<&str> = ["run", "kind"].into_iter().chain(names()).chain(further).collect();
    let mut rows: Vec<Vec<String>> = vec![heading.into_iter().map(str::to_owned).collect()];
    for (place, (run, found)) in answer.runs.iter().zip(&answer.summaries).enumerate() {
        let numbers = numbers(found)?;
        let cell = |name: &str| numbers.get(name).map_or_else(String::new, text);
        let further = answer.metrics.iter().map(|(_, values)| {
            values.get(place).copied().flatten().map_or_else(String::new, |value| value.to_string())
        });
        rows.push(
            [run.label.clone(), kind(run).to_owned()].into_iter().chain(names().map(cell)).chain(further).collect(),
        );
    }
    for row in rows {
        writer.write_record(row.iter().map(|cell| csv_cell(&name(cell)).into_owned())).map_err(Error::draw(SUMMARY))?;
    }
    writer.into_inner().map_err(Error::draw(SUMMARY))
}

/// A value in a cell: parts of a list or an object as `name: value`, null as nothing.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Writes `jobs.parquet` into `dir`: a row for each run and job, whether it counts or not. Returns its entry in the list of files.
///
/// # Errors
/// [`Error::Store`] if it cannot be written.
pub(crate) fn write_jobs(answer: &Answer, dir: &Path) -> Result<FileEntry, Error> {
    let mut table = TableWriter::<ComparedJobRow>::create(dir)?;
    for run in &answer.runs {
        for job in run.jobs.iter() {
            table.append(&job_row(run, job))?;
        }
    }
    Ok(table.finish()?.entry)
}

fn job_row(run: &Run, job: &JobMetrics) -> ComparedJobRow {
    let [node_local, rack_local, off_rack] = job.map_launches.map(i64::from);
    ComparedJobRow {
        run: run.label.clone(),
        job_id: job.job_id.clone(),
        name: job.name.as_deref().map(str::to_owned),
        standing: job.standing,
        started: Some(job.is_among(Who::Started)),
        submit: job.submit,
        finish: job.finish,
        completion: job.completion,
        waiting: job.waiting,
        execution: job.execution,
        slowdown: job.slowdown,
        user: job.user.as_deref().map(str::to_owned),
        queue: job.queue.as_deref().map(str::to_owned),
        starvation: job.starvation,
        queueing: job.queueing,
        node_local,
        rack_local,
        off_rack,
        evictions: job.evictions.into(),
        tasks_done: job.tasks_done.into(),
        slot_time: job.slot_time,
    }
}
