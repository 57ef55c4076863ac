//! Draws runs as charts, a page and a notebook.
//!
//! ```text
//! runs ──▶ charts::CHARTS ──▶ SVG ──▶ PNG (the same SVG, rendered)
//!  │                           └────▶ report.html (one file: tables, charts, provenance)
//!  └────────────────────────────────▶ report.ipynb (reads the runs' tables itself)
//! ```
//!
//! * [`charts`] has one chart per file and the list of them. To add a chart, add its file and one line.
//! * [`Frame`], [`gallery`] and [`Figure`] are shared with the pages of sweeps and of the reproduction.
//! * [`write_report`] writes the formats you ask for. The folder appears whole or not at all, and the same runs give the same
//!   bytes.
//!
//! File names come from the charts, never from a trace, and all texts of a trace are escaped.

mod axis;
mod bars;
pub mod charts;
mod curves;
mod error;
mod figure;
mod formats;
mod heat_map;
mod html;
mod lines;
mod notebook;
mod page;
mod png;
mod roster;
mod scatter;
mod style;

use std::path::{Path, PathBuf};

use resched_analysis::Run;
use resched_trace::store::{StagedDir, write_file};

pub use error::Error;
pub use formats::Formats;
pub use heat_map::{HeatMap, HeatPanel, draw_heat_map};
pub use lines::{Line, Lines, draw_lines};
pub use page::{Figure, Frame, Style, UNKNOWN, escaped, gallery};
pub use scatter::{Cloud, Scatter, draw_scatter};

/// The file that marks a folder as a report. It lists the other files.
pub const MARKER: &str = "report.json";

/// The version of the report that this build writes.
const FORMAT_VERSION: u32 = 1;

/// The most runs in a report. You could not tell more of them apart in a chart, and a picture of them would be too large.
const MOST_RUNS: usize = 24;

/// Writes a report of `runs` (folders of runs, or traces for what really ran) to the folder `out`. `progress` receives the name of
/// each file before it is made. Returns the files; the first is the list of all.
///
/// # Errors
/// [`Error::Request`] if there are no formats, no runs or too many; [`Error::Analysis`] if a run cannot be
/// read; [`Error::Store`] if `out` is not an earlier report or cannot be written; [`Error::Draw`]. An error leaves no files
/// behind.
pub fn write_report(
    runs: &[PathBuf],
    out: &Path,
    formats: Formats,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, Error> {
    if runs.is_empty() {
        return Err(Error::Request("there is nothing to report; name a run or a trace".to_owned()));
    }
    if runs.len() > MOST_RUNS {
        let found = runs.len();
        return Err(Error::Request(format!(
            "expected at most {MOST_RUNS} runs in a report, found {found}; name fewer"
        )));
    }
    if formats == Formats::NONE {
        return Err(Error::Request(format!("no format is named; expected some of {}", Formats::NAMES.join(", "))));
    }
    let mut opened = runs.iter().map(|dir| Run::open(dir)).collect::<Result<Vec<Run>, _>>()?;
    number_alike_labels(&mut opened);
    let staged = StagedDir::create(out, MARKER)?;
    let mut files = Vec::new();
    let mut write = |name: &str, bytes: &[u8]| -> Result<(), Error> {
        write_file(&staged.path().join(name), bytes)?;
        files.push(name.to_owned());
        Ok(())
    };
    let mut drawn = Vec::new();
    for chart in charts::CHARTS.iter().filter(|_| formats.charts()) {
        progress(chart.name);
        let Some(svg) = (chart.draw)(&opened)? else { continue };
        let [name, title, caption] = [chart.name, chart.title, chart.caption].map(str::to_owned);
        let figure = Figure { name, title, caption, svg };
        if formats.svg {
            write(&figure.svg_name(), figure.svg.as_bytes())?;
        }
        if formats.png {
            write(&figure.png_name(), &figure.png()?)?;
        }
        drawn.push(figure);
    }
    if formats.html {
        progress("report.html");
        write("report.html", html::page(&opened, &drawn)?.as_bytes())?;
    }
    if formats.notebook {
        progress("report.ipynb");
        write("report.ipynb", notebook::notebook(&opened, runs)?.as_bytes())?;
    }
    write_file(&staged.path().join(MARKER), list(&opened, &files).as_bytes())?;
    staged.commit()?;
    Ok(std::iter::once(MARKER).chain(files.iter().map(String::as_str)).map(|name| out.join(name)).collect())
}

/// Numbers runs with equal labels, so that a legend can name each.
fn number_alike_labels(runs: &mut [Run]) {
    let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        let alike = |label: &&String| **label == run.label;
        if labels.iter().filter(alike).count() > 1 {
            let number = labels.iter().take(index + 1).filter(alike).count();
            run.label = format!("{} ({number})", run.label);
        }
    }
}

/// `report.json`.
fn list(runs: &[Run], files: &[String]) -> String {
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let value = serde_json::json!({
        "format_version": FORMAT_VERSION,
        "written_by": concat!("resched ", env!("CARGO_PKG_VERSION")),
        "runs": labels,
        "files": files,
    });
    format!("{value:#}\n")
}
