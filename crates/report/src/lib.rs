//! Draws runs as charts, a page and a notebook.
//!
//! ```text
//! runs ──▶ Answer ──▶ charts::CHARTS ──▶ SVG ──▶ PNG (the same SVG, rendered)
//!            │                            └────▶ report.html (one file: sentences, tables, interactive charts, provenance)
//!            ├──▶ report.json, summary.csv, timelines.csv, jobs.parquet (all numbers, for programs)
//!            └──▶ report.ipynb (computes the same numbers from jobs.parquet)
//! ```
//!
//! * [`charts`] has one chart per file and the list of them. To add a chart, add its file and one line.
//! * [`Frame`], [`gallery`] and [`Figure`] are shared with the pages of sweeps and of the reproduction.
//! * [`write_report`] writes the formats you ask for. The folder appears whole or not at all, and the same runs give the same
//!   bytes.
//!
//! File names come from the charts, never from a trace, and all texts of a trace are escaped.

mod answer;
mod axis;
mod bars;
pub mod charts;
mod clock;
mod curves;
mod error;
mod figure;
mod files;
mod formats;
mod groups;
mod heat_map;
mod html;
mod intervals;
mod lines;
mod look;
mod notebook;
mod overview;
mod page;
mod page_data;
mod page_why;
mod panels;
mod pdf;
mod png;
mod provenance;
mod rendered;
mod rows;
mod scatter;
mod scene;
mod sentences;
mod style;
mod timelines;
mod title;
mod units;
mod why;

use std::path::PathBuf;

use resched_analysis::Run;
use resched_analysis::measure::Metric;
use resched_analysis::memory::Memory;
use resched_analysis::practical::Matters;
use resched_analysis::window::narrow_all;
use resched_trace::clock::{Period, Zone};
use resched_trace::limits::Limit;
use resched_trace::store::{Claim, Out, write_file};

use crate::answer::Answer;
use crate::charts::Only;
pub use crate::scene::Scene;
use crate::timelines::Timelines;
use crate::why::Reasons;
pub use error::Error;
pub use formats::Formats;
pub use heat_map::{HeatMap, HeatPanel, draw_heat_map};
pub use intervals::{Interval, Intervals, draw_intervals};
pub use lines::{Line, Lines, draw_lines};
pub use look::Look;
pub use page::{Figure, Frame, UNKNOWN, emphasised, escaped, gallery};
pub use scatter::{Cloud, Scatter, draw_scatter};
pub use style::is_known;
pub use units::alike;

/// The file that marks a folder as a report. It lists the other files.
pub const MARKER: &str = "report.json";

/// The most policies in a report. You could not tell more of them apart in a chart, and a picture of them would be too large.
const MOST_POLICIES: usize = 24;

/// The most runs in a report: all are in memory at once.
const MOST_RUNS: usize = 240;

/// The limits of a report.
pub const LIMITS: &[Limit] = &[
    Limit::number(
        "policies in a report",
        MOST_POLICIES as u64,
        "The request is refused: nobody could tell more of them apart.",
    ),
    Limit::number("runs in a report", MOST_RUNS as u64, "The request is refused."),
    Limit::number(
        "jobs × policies in a page",
        page_data::MOST_ROWS as u64,
        "The page has every second job, or every third and so on, and says so. All jobs are in `jobs.parquet`.",
    ),
];

/// What to write, and how to compare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The formats.
    pub formats: Formats,
    /// The charts.
    pub only: Only,
    /// The size of the charts.
    pub look: Look,
    /// A title above each chart.
    pub title: Option<String>,
    /// The label of the policy that the others are compared with; the first if there is none.
    pub baseline: Option<String>,
    /// The bound beyond which a difference matters.
    pub matters: Matters,
    /// Further metrics.
    pub metrics: Vec<Metric>,
    /// The most memory that the tables of the runs may take.
    pub memory: Memory,
    /// The part of the time that the report is about: jobs that were submitted in it count.
    pub window: Period,
    /// The zone of the times by the clock.
    pub zone: Zone,
}

/// Writes a report of `runs` (folders of runs, or traces for what really ran) to the folder `out`. Runs that differ only in their seed
/// are runs of one policy. `progress` receives the name of each file before it is made. Returns the files; the first is
/// `report.json`, with all numbers and the list of the others.
///
/// # Errors
/// [`Error::Request`] if there are no formats, no runs or too many, or no run has the label of the baseline; [`Error::Analysis`] if a
/// run cannot be read, or the runs take too much memory; [`Error::Store`] if `out` is not an earlier report or cannot be written; [`Error::Draw`]. An error leaves no
/// files behind.
pub fn write_report(
    runs: &[PathBuf],
    out: impl Into<Out>,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, Error> {
    let formats = options.formats;
    if runs.is_empty() {
        return Err(Error::Request("there is nothing to report; name a run or a trace".to_owned()));
    }
    check_number("runs", runs.len(), MOST_RUNS)?;
    if formats == Formats::NONE {
        return Err(Error::Request(format!("no format is named; expected some of {}", Formats::NAMES.join(", "))));
    }
    let out = out.into();
    let claim = Claim::new(&out, MARKER)?;
    options.memory.check(runs)?;
    let mut opened = runs.iter().map(|dir| Run::open(dir)).collect::<Result<Vec<Run>, _>>()?;
    narrow_all(&mut opened, &options.window, options.zone)?;
    let answer = Answer::new(opened, options)?;
    check_number("policies", answer.policies.len(), MOST_POLICIES)?;
    let mut staged = claim.stage()?;
    let mut names = vec![MARKER.to_owned()];
    let mut write = |name: &str, bytes: &[u8]| -> Result<(), Error> {
        staged.write(name, bytes)?;
        names.push(name.to_owned());
        Ok(())
    };
    let title = options.title.as_deref().unwrap_or_default();
    let chosen = answer.chosen();
    let scene = Scene::new(&answer.runs, &answer.population, &chosen)
        .with(answer.baseline, options.look, title)
        .at(options.zone);
    let figures = if formats.charts() { draw_charts(&scene, options, progress)? } else { Vec::new() };
    let has_numbers = formats.html || formats.tables();
    let timelines = if has_numbers { Timelines::new(&scene) } else { Timelines::default() };
    for figure in &figures {
        if formats.svg {
            write(&figure.svg_name(), figure.described().as_bytes())?;
        }
        if formats.png {
            progress(&figure.png_name());
            write(&figure.png_name(), &figure.png()?)?;
        }
        if formats.pdf {
            write(&figure.pdf_name(), &figure.pdf()?)?;
        }
    }
    let every = page_data::every(&scene);
    let mut reasons = Reasons::default();
    if has_numbers {
        progress("why jobs waited");
        reasons = Reasons::new(&answer, &scene, every, runs)?;
    }
    if formats.html {
        progress("report.html");
        let content = html::Content {
            answer: &answer,
            scene: &scene,
            timelines: &timelines,
            reasons: &reasons,
            charts: &figures,
        };
        write("report.html", html::page(&content, runs, options)?.as_bytes())?;
    }
    if formats.notebook {
        progress("report.ipynb");
        write("report.ipynb", notebook::notebook(&answer, runs, &out.path)?.as_bytes())?;
    }
    if formats.tables() {
        progress(files::JOBS);
        write(files::SUMMARY, &files::summary_csv(&answer)?)?;
        write(files::TIMELINES, &timelines.csv(&scene.labels())?)?;
        names.push(files::JOBS.to_owned());
        let jobs = files::write_jobs(&answer, staged.path())?;
        staged.list(files::JOBS, jobs);
        for (name, entry) in
            [files::PHASES, files::BLAME].into_iter().zip(reasons.write(&scene, every, staged.path())?)
        {
            names.push(name.to_owned());
            staged.list(name, entry);
        }
    }
    write_file(&staged.path().join(MARKER), &files::json(&answer, &reasons, staged.files())?)?;
    staged.commit()?;
    Ok(names.iter().map(|name| out.path.join(name)).collect())
}

fn check_number(of: &str, found: usize, most: usize) -> Result<(), Error> {
    if found <= most {
        return Ok(());
    }
    Err(Error::Request(format!("expected at most {most} {of} in a report, found {found}; name fewer")))
}

/// The charts that are asked for and have something to show.
fn draw_charts(scene: &Scene<'_>, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    for chart in options.only.charts() {
        progress(chart.name);
        if let Some(svg) = (chart.draw)(scene)? {
            let [name, title, caption] = [chart.name, chart.title, chart.caption].map(str::to_owned);
            figures.push(Figure { name, title, caption, svg });
        }
    }
    Ok(figures)
}
