//! `resched report`: compares runs by charts, an HTML page and a notebook.

use std::path::{Path, PathBuf};

use resched_report::{Formats, write_report};

use crate::failure::Failure;
use crate::output::print;
use crate::progress::spinner;

/// Compare runs side by side: charts as PNG and SVG, one HTML page and a notebook.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs, folders of runs (for example the `--out` folder of `replay`), or a trace, to compare with what really ran.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder to write the report to. An earlier report there is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The formats to write, separated by commas: png, svg, html, notebook.
    #[arg(long, default_value = "png,svg,html,notebook")]
    format: String,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let formats: Formats = args.format.parse()?;
    let mut runs = Vec::new();
    for path in &args.runs {
        runs.extend(runs_in(path)?);
    }
    print(&write(&runs, &args.out, formats)?)
}

/// Writes the report and returns the paths of its files, one per line.
pub(super) fn write(runs: &[PathBuf], out: &Path, formats: Formats) -> Result<String, Failure> {
    let spinner = spinner("report");
    let files = write_report(runs, out, formats, &mut |name| {
        spinner.set_message(name.to_owned());
        spinner.tick();
    })?;
    spinner.finish_and_clear();
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Ok(names.join("\n"))
}

/// The path itself if it is a run or a trace; otherwise the runs directly inside the folder, sorted by name.
fn runs_in(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_run = |dir: &Path| dir.join("run.json").is_file();
    if is_run(path) || path.join("trace.json").is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| {
        Failure::request(format!(
            "{}: cannot read the folder ({error}); name a run, or a folder of runs",
            path.display()
        ))
    })?;
    let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|dir| is_run(dir)).collect();
    runs.sort();
    if runs.is_empty() {
        let message =
            "expected a run (run.json) or a trace (trace.json), found neither; make runs with `resched replay`";
        return Err(Failure::request(format!("{}: {message}", path.display())));
    }
    Ok(runs)
}
