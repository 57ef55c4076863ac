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
//! * `plot` is the plotting kit, `render` turns SVG into other formats, `page` makes the page and the notebook. [`tables`] declares the
//!   tables of jobs.
//! * [`Frame`], [`gallery`] and [`Figure`] are shared with the pages of sweeps and of the reproduction.
//! * [`write_report`] writes the formats you ask for. The folder appears whole or not at all, and the same runs give the same
//!   bytes.
//!
//! File names come from the charts, never from a trace, and all texts of a trace are escaped.

mod answer;
mod cells;
pub mod charts;
mod compared;
mod error;
mod files;
mod page;
mod plot;
mod render;
mod scene;
pub mod tables;
mod timelines;
mod why;

use std::path::PathBuf;

use resched_analysis::metrics::named::Metric;
use resched_analysis::runs::identity::{self, Side};
use resched_analysis::runs::memory::Memory;
use resched_analysis::runs::window::narrow_all;
use resched_analysis::statistics::practical::Matters;
use resched_analysis::{Origin, Run};
use resched_tables::clock::{Period, Zone};
use resched_tables::limits::Limit;
use resched_tables::run::RunValidation;
use resched_tables::store::{Claim, Out, write_file};
use resched_tables::validity::Validity;

use crate::answer::{Answer, check_took_place};
use crate::charts::{Chart, Only};
use crate::page::{data, groups, html, notebook, sentences};
pub use crate::scene::Scene;
use crate::timelines::Timelines;
use crate::why::Reasons;
pub use error::Error;
pub use page::frame::{Figure, Frame, UNKNOWN, emphasised, escaped, gallery};
pub use page::units::alike;
pub use plot::heat_map::{HeatMap, HeatPanel, draw_heat_map};
pub use plot::intervals::{Interval, Intervals, draw_intervals};
pub use plot::lines::{Line, Lines, Shape, draw_lines};
pub use plot::look::Look;
pub use plot::scatter::{Cloud, Scatter, draw_scatter};
pub use plot::style::Order;
pub use render::formats::Formats;

/// The file that marks a folder as a report. It lists the other files.
pub const MARKER: &str = "report.json";

/// The most policies in a report. You could not say more of them apart in a chart, and a picture of them would be too large.
const MOST_POLICIES: usize = 24;

/// The most runs in a report: all are in memory at once.
const MOST_RUNS: usize = 240;

/// The limits of a report.
pub const LIMITS: &[Limit] = &[
    Limit::number(
        "policies in a report",
        MOST_POLICIES as u64,
        "The request is refused: a chart cannot show more of them distinctly.",
    ),
    Limit::number("runs in a report", MOST_RUNS as u64, "The request is refused."),
    Limit::number(
        "jobs × policies in a page",
        data::MOST_ROWS as u64,
        "The page has every second job, or every third and so on, and says so. All jobs are in `jobs.parquet`.",
    ),
    Limit::number(
        "users in `report.json`, or queues",
        groups::MOST_KEPT as u64,
        "Those with most jobs and those that the page shows are kept, and `left_out` is the number of the others. `resched replay --by user \
         --csv` prints all.",
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
    /// The validation of the trace, if there is one and the runs do not have it.
    pub validation: Option<RunValidation>,
    /// The most memory that the tables of the runs may take.
    pub memory: Memory,
    /// The part of the time that the report is about: jobs that were submitted in it count.
    pub window: Period,
    /// The zone of the times by the clock.
    pub zone: Zone,
}

/// What a report says, and its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The files. The first is `report.json`, with all numbers and the list of the others.
    pub files: Vec<PathBuf>,
    /// The answer in sentences, the headline first.
    pub sentences: Vec<String>,
    /// What decides the answer, and whether it was observed.
    pub validity: Validity,
    /// The names of the charts that were asked for and had nothing to show, each with the reason.
    pub empty: Vec<(&'static str, &'static str)>,
}

/// Writes a report of `runs` (folders of runs, or a trace for what really ran) to the folder `out`. Runs that differ only in their seed
/// are runs of one policy. What really ran is no policy: it stands beside the replays, without a test. `progress` receives the name of
/// each file before it is made.
///
/// # Errors
/// [`Error::Request`] if there are no formats, no runs or too many, or no run has the label of the baseline; [`Error::Analysis`] if a
/// run cannot be read, the runs are of several traces or engines, or they take too much memory; [`Error::Store`] if `out` is not an earlier report or cannot be written; [`Error::Draw`]. An error leaves no
/// files behind.
pub fn write_report(
    runs: &[PathBuf],
    out: impl Into<Out>,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Written, Error> {
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
    let place = claim.target().to_path_buf();
    let runs = &in_order(runs)?;
    options.memory.check(runs)?;
    let mut opened = runs.iter().map(|dir| Run::open(dir)).collect::<Result<Vec<Run>, _>>()?;
    for (dir, run) in runs.iter().zip(&opened).filter(|(_, run)| run.replay().is_none()) {
        check_took_place(run, dir)?;
        // The times of jobs are enough: a log may have no attempts.
        if run.jobs.iter().all(|job| job.completion.is_none()) {
            run.check_observed(dir)?;
        }
    }
    narrow_all(&mut opened, &options.window, options.zone)?;
    let answer = Answer::new(opened, runs, options)?;
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
        .tested(answer.variants.as_ref())
        .answering(page::slide::slide(&answer))
        .at(options.zone);
    let (figures, empty) = if formats.charts() { draw_charts(&scene, options, progress)? } else { Default::default() };
    let has_numbers = formats.html || formats.tables();
    let timelines = if has_numbers { Timelines::new(&scene) } else { Timelines::default() };
    for (_, figure) in &figures {
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
    let every = data::every(&scene);
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
        write("report.ipynb", notebook::notebook(&answer, runs, &place)?.as_bytes())?;
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
    let sentences = sentences::in_lines(&answer);
    let files = names.iter().map(|name| out.path.join(name)).collect();
    Ok(Written { files, sentences, validity: answer.validity, empty })
}

/// The runs, and then the trace, after a check that they may be compared.
fn in_order(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut opened = folders.iter().map(|dir| Ok((dir, Origin::of(dir)?))).collect::<Result<Vec<_>, Error>>()?;
    opened.sort_by_key(|(_, origin)| matches!(origin, Origin::Observed(_)));
    let traces: Vec<&PathBuf> =
        opened.iter().filter(|(_, origin)| matches!(origin, Origin::Observed(_))).map(|(dir, _)| *dir).collect();
    if let [one, other, ..] = traces.as_slice() {
        return Err(Error::Request(format!(
            "{} and {}: expected one trace, found two; name the one that the runs replay",
            one.display(),
            other.display()
        )));
    }
    if let Some((first, others)) = opened.split_first() {
        for other in others {
            let [one, two] = [first, other].map(|(path, origin)| Side { path, origin });
            identity::compare(&one, &two)?;
        }
    }
    Ok(opened.into_iter().map(|(dir, _)| dir.clone()).collect())
}

fn check_number(of: &str, found: usize, most: usize) -> Result<(), Error> {
    if found <= most {
        return Ok(());
    }
    Err(Error::Request(format!("expected at most {most} {of} in a report, found {found}; name fewer")))
}

/// The charts that are asked for and have something to show, and the names of the others, with the reasons.
type Drawn = (Vec<(&'static Chart, Figure)>, Vec<(&'static str, &'static str)>);

fn draw_charts(scene: &Scene<'_>, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Drawn, Error> {
    let (mut figures, mut empty) = (Vec::new(), Vec::new());
    for chart in options.only.charts() {
        progress(chart.name);
        if let Some(svg) = (chart.draw)(scene)? {
            let [name, title] = [chart.name, scene.system().says(chart.title)].map(str::to_owned);
            let caption = scene.system().caption(chart.caption);
            figures.push((chart, Figure { name, title, caption, svg }));
        } else {
            empty.push((chart.name, charts::why_empty(chart.name)));
        }
    }
    Ok((figures, empty))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn as_many_runs_as_the_limit_are_reported_and_not_one_more() {
        // The runs are opened, and the first is missing.
        let written = |runs: usize| {
            let runs: Vec<PathBuf> = (0..runs).map(|run| PathBuf::from(format!("/nowhere/{run}"))).collect();
            let options = Options { formats: Formats::ALL, ..Options::default() };
            write_report(&runs, std::env::temp_dir().join("no-report"), &options, &mut |_| {}).unwrap_err().to_string()
        };
        let at = written(MOST_RUNS);
        assert!(at.contains("/nowhere/0") && !at.contains("at most"), "{at}");
        assert_eq!(written(MOST_RUNS + 1), "expected at most 240 runs in a report, found 241; name fewer");
    }

    #[test]
    fn as_many_policies_as_the_limit_are_compared_and_not_one_more() {
        assert!(check_number("policies", MOST_POLICIES, MOST_POLICIES).is_ok());
        let problem = check_number("policies", MOST_POLICIES + 1, MOST_POLICIES).unwrap_err().to_string();
        assert_eq!(problem, "expected at most 24 policies in a report, found 25; name fewer");
    }
}
