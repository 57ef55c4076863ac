//! Reports of made-up runs: files, bytes, escaping, refusals.
#![allow(clippy::unwrap_used)]

mod runs;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use resched_report::charts::CHARTS;
use resched_report::tables::JobPhaseRow;
use resched_report::{Error, Formats, Look, MARKER, Options, write_report};
use resched_tables::model::{JobRecord, JobRow};
use resched_tables::store::{Inventory, Manifest, Rows, TraceWriter, read_table};
use runs::{Plan, write};

const LABELS: [&str; 4] = ["fair", "coupling:beta=0.5", "delay:D=24", "capacity"];

fn make_runs(dir: &Path, jobs: u64, n: usize) -> Vec<PathBuf> {
    let make = |(index, label): (usize, &&str)| {
        let folder = dir.join(format!("run-{index}"));
        let remote = 10 + 20 * index as u64;
        write(&folder, &Plan { label, jobs, small_first: index % 2 == 1, remote, prefix: "job", unfinished: &[] });
        folder
    };
    LABELS.iter().take(n).enumerate().map(make).collect()
}

fn report(runs: &[PathBuf], out: &Path, formats: Formats) -> Result<Vec<PathBuf>, Error> {
    write_report(runs, out, &Options { formats, ..Options::default() }, &mut |_| ()).map(|written| written.files)
}

/// Writes the charts of several sizes of runs; `RESCHED_GALLERY` names a folder to keep them in for a look.
#[test]
fn every_chart_is_drawn_for_few_and_many_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let gallery = std::env::var_os("RESCHED_GALLERY").map_or(dir.path().join("gallery"), PathBuf::from);
    for (jobs, n) in [(3, 2), (22, 2), (22, 4), (200, 3)] {
        let runs = make_runs(&gallery.join(format!("{jobs}-jobs-{n}-runs-tables")), jobs, n);
        let files = report(&runs, &gallery.join(format!("{jobs}-jobs-{n}-runs")), Formats::ALL).unwrap();
        // Of three jobs none starves, no policy has several seeds, and no sign was tested, so there is nothing to draw.
        let is_drawn =
            |name: &&str| !matches!(*name, "seeds" | "variants") && (jobs > 3 || !name.contains("starvation"));
        let expected: Vec<&str> = CHARTS.iter().map(|chart| chart.name).filter(is_drawn).collect();
        for name in &expected {
            let png = files.iter().find(|file| file.ends_with(format!("{name}.png"))).unwrap();
            assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"), "{name}");
            let pdf = files.iter().find(|file| file.ends_with(format!("{name}.pdf"))).unwrap();
            assert!(fs::read(pdf).unwrap().starts_with(b"%PDF"), "{name}");
        }
        // report.json, report.html, report.ipynb, summary.csv, timelines.csv and three tables.
        assert_eq!(files.len(), 8 + 3 * expected.len());
        assert!(files.iter().all(|file| file.is_file()));
    }
}

#[test]
fn a_report_written_twice_is_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 22, 2);
    let bytes = |out: &str| {
        let files = report(&runs, &dir.path().join(out), Formats::ALL).unwrap();
        files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bytes("first"), bytes("second"));
}

/// Names that would do harm if a page, a picture, a table or a notebook took them for more than texts.
const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>&\"\u{1}../../x",
    "=cmd|' /C calc'!A0",
    "</script></svg><img src=x onerror=alert(2)>",
    "\u{1b}[31m\u{202e}evil\u{7}",
    "\"\"\"; import os; os.abort() #😀",
];

#[test]
fn what_a_trace_holds_is_escaped() {
    for evil in HOSTILE {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        write(&run, &Plan { label: evil, jobs: 3, small_first: false, remote: 10, prefix: evil, unfinished: &[] });
        let out = dir.path().join("out");
        let files = report(&[run], &out, Formats::ALL).unwrap();
        let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        for file in &files {
            assert_eq!(file.parent(), Some(out.as_path()));
            let kind = file.extension().unwrap().to_str().unwrap();
            let Some(text) = ["svg", "html", "csv", "ipynb"].contains(&kind).then(|| fs::read_to_string(file).unwrap())
            else {
                continue;
            };
            let place = format!("{evil:?} in {}", file.display());
            if kind == "svg" || kind == "html" {
                assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{place}");
                assert_eq!(text.matches("</svg>").count(), text.matches("<svg ").count(), "{place}");
            }
            if kind == "csv" {
                let mut table = csv::Reader::from_reader(text.as_bytes());
                for cell in
                    table.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
                {
                    assert!(!cell.starts_with('='), "{place}: {cell}");
                }
            }
            assert!(!text.contains(steers), "{place}");
        }
        let notebook: serde_json::Value = serde_json::from_slice(&fs::read(out.join("report.ipynb")).unwrap()).unwrap();
        assert_eq!(notebook.get("nbformat_minor"), Some(&serde_json::json!(5)));
    }
}

/// The files of charts must not grow with the jobs.
#[test]
fn charts_of_many_jobs_are_no_larger_than_their_pixels() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 3_000, 2);
    for chart in report(&runs, &dir.path().join("out"), "svg".parse().unwrap()).unwrap().iter().skip(1) {
        let length = fs::metadata(chart).unwrap().len();
        assert!(length < 400_000, "{}: {length} bytes", chart.display());
    }
}

#[test]
fn charts_can_be_chosen_sized_and_titled() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 22, 2);
    let options = Options {
        formats: "svg".parse().unwrap(),
        only: "ratio,gantt".parse().unwrap(),
        look: Look::new(960, 24).unwrap(),
        title: Some("A <title> of the figures".to_owned()),
        ..Options::default()
    };
    let files = write_report(&runs, dir.path().join("out"), &options, &mut |_| ()).unwrap().files;
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, [MARKER, "gantt.svg", "ratio.svg"]);
    for chart in files.iter().skip(1) {
        let svg = fs::read_to_string(chart).unwrap();
        assert!(svg.starts_with("<svg width=\"960\"") && svg.contains("A &lt;title&gt; of the figures"), "{svg}");
        assert!(svg.contains("font-size=\"24\"") && !svg.contains("font-size=\"16"), "{svg}");
        assert!(svg.contains("seed 1"), "{svg}");
    }
}

/// In a column of 85 mm, text must be at least 8 pt high.
#[test]
fn text_is_legible_in_print() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 22, 2);
    for chart in report(&runs, &dir.path().join("out"), "svg".parse().unwrap()).unwrap().iter().skip(1) {
        let svg = fs::read_to_string(chart).unwrap();
        let numbers = |attribute: &str| -> Vec<f64> {
            let after = svg.split(attribute).skip(1);
            after.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
        };
        let width = numbers("<svg width=\"")[0];
        let sizes = numbers("font-size=\"");
        assert!(sizes.len() > 5, "{}", chart.display());
        let points = |pixels: f64| pixels / width * 85.0 / 25.4 * 72.0;
        assert!(sizes.iter().all(|pixels| points(*pixels) >= 8.0), "{}: {sizes:?} of {width}", chart.display());
    }
}

/// The report of a run with three jobs, and of the trace with the one job `id` that it replays.
fn report_with_trace(dir: &Path, id: &str) -> (String, serde_json::Value) {
    let (trace, out) = (dir.join("trace"), dir.join("out"));
    let mut writer = TraceWriter::create(&trace).unwrap();
    let job = JobRow { job_id: id.to_owned(), submit: Some(0), finish: Some(90_000), ..JobRow::default() };
    writer.job(&JobRecord { job, ..JobRecord::default() }).unwrap();
    writer.finish(Manifest::default()).unwrap();
    let runs = make_runs(dir, 3, 2);
    for run in &runs {
        let mut info = resched_tables::run::read(run).unwrap();
        info.trace.sha256 = resched_tables::store::Trace::open(&trace).unwrap().fingerprint().unwrap();
        info.write(run).unwrap();
    }
    // What ran is named first, and is no baseline all the same.
    report(&[&[trace], runs.as_slice()].concat(), &out, Formats::ALL).unwrap();
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    (page, serde_json::from_slice(&fs::read(out.join(MARKER)).unwrap()).unwrap())
}

/// What really ran has no column, no test and no sentence: it stands beside its replays.
#[test]
fn what_really_ran_is_no_policy() {
    let dir = tempfile::tempdir().unwrap();
    let (page, list) = report_with_trace(dir.path(), "job_0000");
    assert_eq!(list["baseline"], "fair");
    assert_eq!(list["runs"][2]["kind"], "observed");
    let labels: Vec<&serde_json::Value> =
        list["policies"].as_array().unwrap().iter().map(|policy| &policy["label"]).collect();
    assert_eq!(labels, ["fair", "coupling:beta=0.5"]);
    let comparisons = list["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().all(|row| row["policy"] == "coupling:beta=0.5" && row["jobs"] == 3), "{comparisons:?}");
    let error = &list["model_error"]["policies"][0];
    assert_eq!((&error["policy"], &error["jobs"]), (&"fair".into(), &1.into()));
    assert_eq!(error["quantities"]["mean_completion"]["observed_ms"], 90_000.0);
    assert!(error["quantities"].get("mean_waiting").is_none(), "the trace does not show it");
    assert!(page.contains("id=\"model-error\"") && page.contains("<td>90.0 s</td>"));
    assert!(page.contains("Charts leave out the observed run"), "two of the three jobs are not in it");
    assert!(!page.contains(">observed</th>"), "no table has it among the policies");
}

#[test]
fn runs_of_other_traces_and_engines_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 3, 2);
    let change = |change: &dyn Fn(&mut resched_tables::run::RunInfo)| {
        let mut info = resched_tables::run::read(&runs[1]).unwrap();
        change(&mut info);
        info.write(&runs[1]).unwrap();
        report(&runs, &dir.path().join("out"), "tables".parse().unwrap())
    };
    let sha256 =
        |text: &'static str| move |info: &mut resched_tables::run::RunInfo| info.trace.sha256 = text.repeat(32);
    let error = change(&sha256("ab")).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("traces/made (abababababab)"), "{error}");
    // Another cluster is a question, which the report names.
    change(&sha256("5e")).unwrap();
    change(&|info| info.cluster.map_slots *= 2).unwrap();
    let list: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("out").join(MARKER)).unwrap()).unwrap();
    assert_eq!(list["differences"][0]["about"], "cluster");
    assert!(list["validity"]["facts"].to_string().contains("total map slots"), "{}", list["validity"]);
    let engine = |engine| move |info: &mut resched_tables::run::RunInfo| info.engine = engine;
    let mut first = resched_tables::run::read(&runs[0]).unwrap();
    engine(resched_tables::run::RunEngine::Hadoop)(&mut first);
    first.write(&runs[0]).unwrap();
    let error = change(&engine(resched_tables::run::RunEngine::Batch)).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("one engine"), "{error}");
}

#[test]
fn runs_without_a_common_job_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folders = ["fifo", "fair"].map(|label| {
        let folder = dir.path().join(label);
        write(&folder, &Plan { label, jobs: 3, small_first: false, remote: 10, prefix: label, unfinished: &[] });
        folder
    });
    let error = report(&folders, &dir.path().join("out"), "tables".parse().unwrap()).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("no job counts in all"), "{error}");
}

/// Copies of the run with other seeds are runs of one policy.
#[test]
fn runs_with_other_seeds_are_one_policy() {
    let dir = tempfile::tempdir().unwrap();
    let mut folders = Vec::new();
    for (policy, small_first) in [("fifo", false), ("fair", true)] {
        for seed in 1..=3 {
            let folder = dir.path().join(format!("{policy}-{seed}"));
            write(
                &folder,
                &Plan { label: policy, jobs: 30, small_first, remote: 30 * seed, prefix: "job", unfinished: &[] },
            );
            let mut info = resched_tables::run::read(&folder).unwrap();
            info.seed = seed;
            info.write(&folder).unwrap();
            folders.push(folder);
        }
    }
    let out = dir.path().join("out");
    let options =
        Options { formats: "html,tables".parse().unwrap(), baseline: Some("fair".to_owned()), ..Options::default() };
    write_report(&folders, &out, &options, &mut |_| ()).unwrap();
    let phases = read_table::<JobPhaseRow>(&out, &Inventory::new()).unwrap();
    let phases = Rows::new(phases.batches());
    let labels: BTreeSet<String> = phases.map(|row: Result<JobPhaseRow, _>| row.unwrap().run).collect();
    assert!(
        labels.iter().eq(["fair, seed 1", "fifo, seed 1"]),
        "the first runs, as jobs.parquet names them: {labels:?}"
    );
    let list: serde_json::Value = serde_json::from_slice(&fs::read(out.join(MARKER)).unwrap()).unwrap();
    let policy = &list["policies"][1];
    assert_eq!((&policy["label"], &policy["runs"]), (&"fair".into(), &serde_json::json!([3, 4, 5])));
    let of_run = |run: usize| list["runs"][run]["mean_completion_ms"].as_f64().unwrap();
    let mean = (of_run(3) + of_run(4) + of_run(5)) / 3.0;
    assert!((policy["means"]["mean_completion_ms"].as_f64().unwrap() - mean).abs() < 1e-6 * mean);
    assert_eq!(list["baseline"], "fair");
    let first = &list["comparisons"][0];
    assert_eq!((&first["policy"], &first["jobs"]), (&"fifo".into(), &90.into()));
    assert_eq!(first["basis"], serde_json::json!({"kind": "seeds", "parts": 3}));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("seeds 1, 2, 3"), "a figure shows the spread over the seeds");
    assert!(page.contains(">fair, seed 2</th>") && page.contains("Compared with fair"));
    assert!(
        page.contains("With 3 seeds no test can reach p &lt; 0.05")
            || page.contains("With 3 seeds no test can reach p &#60; 0.05")
    );
    let missing = Options { baseline: Some("none".to_owned()), ..options };
    let error = write_report(&folders, &out, &missing, &mut |_| ()).map(|written| written.files).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("the labels are fifo, fair"), "{error}");
}

#[test]
fn runs_with_one_label_are_distinguished() {
    let dir = tempfile::tempdir().unwrap();
    let run = make_runs(dir.path(), 3, 1).remove(0);
    report(&[run.clone(), run], &dir.path().join("out"), "html".parse().unwrap()).unwrap();
    let page = fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    assert!(page.contains("fair (1)") && page.contains("fair (2)"));
}

#[test]
fn an_impossible_request_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let runs = make_runs(dir.path(), 3, 1);
    let out = dir.path().join("out");
    assert!(report(&[], &out, Formats::ALL).unwrap_err().is_request());
    assert!(report(&vec![runs[0].clone(); 241], &out, Formats::ALL).unwrap_err().is_request());
    assert!(report(&runs, &out, Formats::NONE).unwrap_err().is_request());
    assert!("png,gif".parse::<Formats>().unwrap_err().to_string().contains("found `gif`"));
    let error = report(&[dir.path().join("none")], &out, Formats::ALL).unwrap_err();
    assert!(error.to_string().contains("no such run"), "{error}");
    assert!(!out.exists());
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "mine").unwrap();
    assert!(report(&runs, &out, Formats::ALL).unwrap_err().to_string().contains(MARKER));
    assert!(out.join("thesis.txt").is_file());
}
