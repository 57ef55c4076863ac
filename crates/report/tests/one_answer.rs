//! The files of a report agree on every number that they share: page, JSON, CSV, Parquet tables and notebook.
#![allow(clippy::unwrap_used, dead_code)]

mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use resched_report::tables::{ComparedJobRow, JobBlameRow, JobPhaseRow};
use resched_report::{Formats, Options, write_report};
use resched_tables::standing::Standing;
use resched_tables::store::columns::Row;
use resched_tables::store::{Rows, read_table};
use resched_tables::words::count;
use runs::{Plan, write};
use serde_json::{Value, json};

/// Writes two policies, of which each leaves other jobs unfinished, and their report.
fn make_report(dir: &Path) -> PathBuf {
    let folders = ["fifo", "fair", "delay:D=24"].map(|label| dir.join(label.replace(':', "_")));
    let plans = [("fifo", &[2][..], false), ("fair", &[5, 21], true), ("delay:D=24", &[], false)];
    for (folder, (label, unfinished, small_first)) in folders.iter().zip(plans) {
        let remote = 10 + 20 * unfinished.len() as u64;
        write(folder, &Plan { label, jobs: 60, small_first, remote, prefix: "job", unfinished });
    }
    let out = dir.join("report");
    let options = Options { formats: Formats::ALL, ..Options::default() };
    write_report(&folders, &out, &options, &mut |_| ()).unwrap();
    out
}

fn parsed(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap()
}

fn rows(out: &Path) -> Vec<ComparedJobRow> {
    table(out)
}

/// A table of a report.
fn table<R: Row>(out: &Path) -> Vec<R> {
    let table = read_table::<R>(out, &resched_tables::store::Inventory::new()).unwrap();
    Rows::new(table.batches()).collect::<Result<_, _>>().unwrap()
}

/// The cells of the rows of a table of the page, headings of rows included, as text.
fn page_table(out: &Path, id: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let table = page.split(&format!("<table id=\"{id}\"")).nth(1).unwrap().split("</table>").next().unwrap();
    let body = table.split("<tbody>").nth(1).unwrap();
    let row = |row: &str| {
        let cells = row.replace("<th", "<td").replace("</th>", "</td>");
        let cells =
            cells.split("<td").skip(1).map(|cell| cell.split_once('>').unwrap().1.split("</td>").next().unwrap());
        cells.map(plain).collect()
    };
    body.split("<tr").skip(1).map(row).collect()
}

/// HTML without its marks. What is said of a cell beside its number is left out.
fn plain(html: &str) -> String {
    let number = html.split("<span class=\"mark\"").next().unwrap().split("<span class=\"hidden\"").next().unwrap();
    let parts = number.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace("&#39;", "'")
}

/// True if a cell shows a time, in whatever unit its row has.
fn shows(cell: &str, ms: f64) -> bool {
    let (number, unit) = cell.split_once(' ').unwrap();
    let length = match unit {
        "ms" => 1.0,
        "s" => 1e3,
        "min" => 60e3,
        "h" => 3_600e3,
        _ => panic!("{cell}"),
    };
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    number == format!("{:.decimals$}", ms / length)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

/// Three of 60 jobs are unfinished in some run: 57 count. All started in every run, so that waits are over all 60.
#[test]
fn the_population_is_the_same_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let report = parsed(&out);
    assert_eq!((&report["population"]["jobs"], &report["population"]["of"]), (&json!(57), &json!(60)));
    assert_eq!(report["population"]["left_out"], json!({"unfinished": 3}));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("57 of 60 jobs count; left out: 3 unfinished"), "{page}");
    let mut standings: BTreeMap<(String, Standing), usize> = BTreeMap::new();
    for row in rows(&out) {
        *standings.entry((row.run, row.standing)).or_default() += 1;
    }
    let count = |run: &str, standing| standings.get(&(run.to_owned(), standing)).copied().unwrap_or(0);
    for (run, unfinished) in [("fifo", 1), ("fair", 2), ("delay:D=24", 0)] {
        let found = [Standing::Counts, Standing::Unfinished, Standing::NotInAll].map(|standing| count(run, standing));
        assert_eq!(found, [57, unfinished, 3 - unfinished], "{run}");
    }
    let compared: BTreeSet<String> = page_table(&out, "comparisons").into_iter().map(|row| row[2].clone()).collect();
    assert_eq!(compared, BTreeSet::from(["57", "60"].map(str::to_owned)), "completion, and waiting");
    assert!(page.contains("; waiting and use cover the 60 that started"), "{page}");
    let counted = page_table(&out, "runs").into_iter().find(|row| row[0] == "Jobs that count").unwrap();
    assert_eq!(counted[1..], ["57", "57", "57"]);
}

#[test]
fn the_page_the_json_and_the_tables_agree() {
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let report = parsed(&out);
    let runs = report["runs"].as_array().unwrap();
    let shown = page_table(&out, "runs");
    let cell = |name: &str, run: usize| shown.iter().find(|row| row[0] == name).unwrap()[run + 1].clone();
    let mut summary = csv::Reader::from_path(out.join("summary.csv")).unwrap();
    let heading = summary.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = summary.records().collect::<Result<_, _>>().unwrap();
    let all = rows(&out);
    for (place, run) in runs.iter().enumerate() {
        for (name, field) in [
            ("Makespan", "makespan_ms"),
            ("Completion time, mean", "mean_completion_ms"),
            ("Completion time, median", "median_completion_ms"),
            ("Completion time, p95", "p95_completion_ms"),
            ("Waiting time, mean", "mean_waiting_ms"),
            ("Waiting time, p95", "p95_waiting_ms"),
        ] {
            assert!(shows(&cell(name, place), number(&run[field])), "{name}: {}", run[field]);
        }
        for (name, field, decimals) in [
            ("Slowdown, mean", "mean_slowdown", 2),
            ("Jain's index, mean", "mean_jain_index", 3),
            ("Jobs per hour", "jobs_per_hour", 1),
            ("Jobs waiting, mean", "mean_queue_length", 2),
        ] {
            assert_eq!(cell(name, place), format!("{:.decimals$}", number(&run[field])), "{name}");
        }
        for (name, field) in [("Map slots used", "map_utilisation"), ("Reduce slots used", "reduce_utilisation")] {
            assert_eq!(cell(name, place), format!("{:.1} %", 100.0 * number(&run[field])), "{name}");
        }
        for (name, field) in [("Jobs that count", "jobs_counted"), ("Tasks done", "tasks")] {
            assert_eq!(cell(name, place), count(run[field].as_u64().unwrap()), "{name}");
        }
        // Every number of summary.csv is in the JSON.
        for (column, text) in heading.iter().zip(records[place].iter()).filter(|(_, text)| text.parse::<f64>().is_ok())
        {
            assert!(near(text.parse().unwrap(), number(&run[column])), "{column}: {text}, {}", run[column]);
        }
        let rows_of_run: Vec<&ComparedJobRow> =
            all.iter().filter(|row| run["label"] == row.run.as_str() && row.standing == Standing::Counts).collect();
        let mean = |of: fn(&ComparedJobRow) -> f64| {
            rows_of_run.iter().map(|row| of(row)).sum::<f64>() / rows_of_run.len() as f64
        };
        let last = rows_of_run.iter().filter_map(|row| row.finish).max().unwrap();
        let makespan = last - rows_of_run.iter().filter_map(|row| row.submit).min().unwrap();
        assert!(near(mean(|row| row.completion.unwrap() as f64), number(&run["mean_completion_ms"])));
        // Those that did not end have waited, too.
        let with_waits = all.iter().filter(|row| run["label"] == row.run.as_str());
        let waits: Vec<f64> = with_waits.filter_map(|row| row.waiting).map(|waiting| waiting as f64).collect();
        assert!(near(waits.iter().sum::<f64>() / waits.len() as f64, number(&run["mean_waiting_ms"])));
        assert!(near(mean(|row| row.slowdown.unwrap()), number(&run["mean_slowdown"])));
        assert_eq!(run["makespan_ms"], makespan);
        assert_eq!(run["tasks"], rows_of_run.iter().map(|row| row.tasks_done).sum::<i64>());
    }
    // The page shows the means of policies, which have one run each here.
    for (policy, run) in report["policies"].as_array().unwrap().iter().zip(runs) {
        let means = policy["means"].as_object().unwrap();
        assert_eq!(means["mean_completion_ms"], run["mean_completion_ms"]);
        let locality = ["node_local", "rack_local", "off_rack"].map(|name| number(&means[name]));
        assert!(near(locality.iter().sum(), 1.0), "{locality:?}");
    }
    let comparisons = report["comparisons"].as_array().unwrap();
    let shown = page_table(&out, "comparisons");
    assert_eq!((comparisons.len(), shown.len()), (4, 4));
    for (row, found) in shown.iter().zip(comparisons) {
        let percent = |ratio: &Value| format!("{:+.1}", 100.0 * (number(ratio) - 1.0)).replace('-', "−");
        let change = |name: &str| match &found[name] {
            Value::Null => "–".to_owned(),
            ratio => match &ratio["interval"] {
                Value::Null => format!("{} %", percent(&ratio["value"])),
                ends => format!("{} % [{}, {}]", percent(&ratio["value"]), percent(&ends[0]), percent(&ends[1])),
            },
        };
        for (cell, name) in [
            (3, "ratio_of_means"),
            (4, "ratio_of_p50"),
            (5, "ratio_of_p95"),
            (6, "ratio_of_p99"),
            (7, "mean_of_ratios"),
        ] {
            assert_eq!(row[cell], change(name), "{name} of {found}");
        }
        assert_eq!(row[1], found["policy"].as_str().unwrap());
    }
    assert!(comparisons.iter().all(|found| (found["metric"] == "completion") == found["mean_of_ratios"].is_object()));
}

/// What the script of the page reads: the data of its packed element.
fn page_data(out: &Path) -> Value {
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let packed = page.split("id=\"data\">").nth(1).unwrap().split('<').next().unwrap();
    let bytes = BASE64_STANDARD.decode(packed).unwrap();
    serde_json::from_reader(GzDecoder::new(bytes.as_slice())).unwrap()
}

/// The numbers of a measure, as the script of the page finds them.
fn numbers(data: &Value, name: &str, policy: usize) -> Vec<Option<i64>> {
    let list = |value: &'static str| data[value].as_array().unwrap();
    let measure = list("measures").iter().find(|measure| measure["name"] == name).unwrap();
    let Some(rest) = list("rests").iter().find(|rest| rest["name"] == name) else {
        return measure["runs"][policy].as_array().unwrap().iter().map(Value::as_i64).collect();
    };
    assert_eq!(measure["runs"], json!([]), "{name} is a rest");
    rest["less"].as_array().unwrap().iter().fold(numbers(data, "completion", policy), |left, part| {
        let part = numbers(data, part.as_str().unwrap(), policy);
        left.into_iter().zip(part).map(|(left, part)| Some(left? - part?)).collect()
    })
}

/// The tables have the same phases and the same blame as the page, and they add up.
#[test]
fn phases_and_blame_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let data = page_data(&out);
    let phases: Vec<JobPhaseRow> = table(&out);
    let blame: Vec<JobBlameRow> = table(&out);
    let waits: Vec<&str> = data["why"]["waits"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let ids: Vec<&str> = data["jobs"]["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let mut named = 0;
    for job in rows(&out).into_iter().filter(|row| row.standing == Standing::Counts) {
        let place = (&job.run, &job.job_id);
        let in_phases: Vec<&JobPhaseRow> = phases.iter().filter(|row| (&row.run, &row.job_id) == place).collect();
        assert_eq!(in_phases.iter().map(|row| row.time).sum::<i64>(), job.completion.unwrap(), "{place:?}");
        let waited: i64 = in_phases.iter().filter(|row| waits.contains(&row.phase.as_str())).map(|row| row.time).sum();
        // All jobs are of one user and one queue, about which there is nothing to say.
        let of_job = || blame.iter().filter(|row| (&row.run, &row.job_id) == place && row.by == "job");
        assert_eq!(of_job().map(|row| row.time).sum::<i64>(), waited, "{place:?}");
        named += of_job().filter(|row| row.holder == "job").count();
        let policies = data["policies"].as_array().unwrap();
        let policy = policies.iter().position(|look| look["label"] == job.run.as_str()).unwrap();
        let number = ids.iter().position(|id| *id == job.job_id).unwrap();
        for row in in_phases {
            assert_eq!(numbers(&data, &row.phase, policy)[number], Some(row.time), "{place:?}");
        }
        let of_page = &data["why"]["blame"]["jobs"]["times"][policy][number];
        let of_table: Vec<i64> = of_job().filter(|row| row.holder != "others").map(|row| row.time).collect();
        assert_eq!(*of_page, json!(of_table), "{place:?}");
    }
    assert!(named > 100, "{named}");
}

/// The jobs that the page explains have the numbers of `jobs.parquet`.
#[test]
fn the_jobs_of_the_page_are_those_of_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let data = page_data(&out);
    let ids: Vec<&str> = data["jobs"]["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!((ids.len(), &data["jobs"]["every"]), (57, &json!(1)));
    let table = rows(&out);
    let of = |label: &str, id: &str| table.iter().find(|row| row.run == label && row.job_id == id).unwrap();
    let values = |name: &str, policy: usize| numbers(&data, name, policy);
    for (policy, look) in data["policies"].as_array().unwrap().iter().enumerate() {
        let label = look["label"].as_str().unwrap();
        let of_run: Vec<&ComparedJobRow> = ids.iter().map(|id| of(label, id)).collect();
        let column = |of: fn(&ComparedJobRow) -> Option<i64>| of_run.iter().map(|row| of(row)).collect::<Vec<_>>();
        assert_eq!(values("completion", policy), column(|row| row.completion), "{label}");
        assert_eq!(values("waiting", policy), column(|row| row.waiting), "{label}");
        assert_eq!(values("node_local", policy), column(|row| Some(row.node_local)), "{label}");
    }
    let submits = data["jobs"]["submits"].as_array().unwrap().iter().map(|since| since.as_i64().unwrap());
    let first = of("fifo", ids[0]).submit.unwrap();
    let sums = submits.scan(first, |sum, since| {
        *sum += since;
        Some(Some(*sum))
    });
    assert!(sums.eq(ids.iter().map(|id| of("fifo", id).submit)));
}

/// `timelines.csv` has the means of running tasks, so their areas are the run times of the tasks.
#[test]
fn timelines_have_the_areas_of_the_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let mut table = csv::Reader::from_path(out.join("timelines.csv")).unwrap();
    let mut areas: BTreeMap<(String, bool), f64> = BTreeMap::new();
    for record in table.records().map(Result::unwrap).filter(|record| record[0].starts_with("running_")) {
        let number = |place: usize| record[place].parse::<f64>().unwrap();
        *areas.entry((record[1].to_owned(), record[2].is_empty())).or_default() += (number(4) - number(3)) * number(5);
    }
    for label in ["fifo", "fair", "delay:D=24"] {
        let counting = rows(&out).into_iter().filter(|row| row.run == label && row.standing == Standing::Counts);
        let slot_time: i64 = counting.map(|row| row.slot_time).sum();
        for all in [true, false] {
            let area = areas[&(label.to_owned(), all)];
            assert!((area - slot_time as f64).abs() < 1e-6 * area, "{label}: {area}, {slot_time}");
        }
    }
}

/// Runs the cells of the notebook that do not draw, and prints what they found.
const RUN: &str = "
import json
cells = json.load(open('report.ipynb'))['cells']
names = {}
for cell in cells:
    if cell['cell_type'] == 'code' and 'figure' not in cell['metadata'].get('tags', []):
        exec(''.join(cell['source']), names)
print(json.dumps({'summary': names['summary'].to_dicts(), 'compared': names['compared'].to_dicts()}))
";

#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
#[test]
fn the_notebook_computes_the_numbers_of_the_report() {
    let Some(python) = std::env::var_os("RESCHED_PYTHON") else {
        assert!(std::env::var_os("RESCHED_REQUIRE_PYTHON").is_none(), "RESCHED_PYTHON is not set");
        eprintln!("skipped: RESCHED_PYTHON is not set");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = make_report(dir.path());
    let ran = Command::new(python).args(["-c", RUN]).current_dir(&out).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let report = parsed(&out);
    // The report has the number of maps at each distance, of which the notebook has the share.
    let expected = |run: &Value, field: &str| -> Value {
        let maps = |level: &str| number(&run["locality"][level]);
        let share = |level: &str| Value::from(maps(level) / (maps("node") + maps("rack") + maps("off")));
        match field {
            "node_local" => share("node"),
            "rack_local" => share("rack"),
            "off_rack" => share("off"),
            _ => run[field].clone(),
        }
    };
    let summaries = found["summary"].as_array().unwrap();
    assert_eq!(summaries.len(), 3);
    for summary in summaries {
        let run = report["runs"].as_array().unwrap().iter().find(|run| run["label"] == summary["run"]).unwrap();
        let fields: Vec<&str> =
            summary.as_object().unwrap().keys().map(String::as_str).filter(|name| *name != "run").collect();
        assert!(fields.len() >= 8, "{fields:?}");
        for field in fields {
            let (of_summary, other) = (number(&summary[field]), number(&expected(run, field)));
            assert!(near(of_summary, other), "{field}: {summary}, {run}");
        }
    }
    let compared = found["compared"].as_array().unwrap();
    assert_eq!(compared.len(), 4);
    for (found, expected) in compared.iter().zip(report["comparisons"].as_array().unwrap()) {
        assert_eq!((&found["policy"], &found["metric"]), (&expected["policy"], &expected["metric"]));
        for name in ["ratio_of_means", "ratio_of_p50", "ratio_of_p95", "ratio_of_p99"] {
            // No ratio to nothing.
            match (&found[name], &expected[name]) {
                (Value::Null, Value::Null) => {}
                (found, expected) => {
                    assert!(near(number(found), number(&expected["value"])), "{name}: {found}, {expected}")
                }
            }
        }
    }
}
