//! `resched report`: compares runs by charts, an HTML page and a notebook.

use std::path::PathBuf;

use resched_analysis::memory::Memory;
use resched_analysis::practical::Matters;
use resched_replay::runs_in;
use resched_report::charts::Only;
use resched_report::{Formats, Look, MARKER, Options, write_report};
use resched_trace::store::Out;

use crate::failure::Failure;
use crate::out::ForceArg;
use crate::output::print;
use crate::progress::spinner;
use crate::window_args::WindowArgs;

/// Compare runs side by side: charts as PNG and SVG, one HTML page and a notebook.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched report R --out reports/mine\n  resched report T R --out reports/mine")]
pub(crate) struct Args {
    /// Runs, folders of runs (for example the `--out` folder of `replay`), or a trace, to compare with what really ran.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder to write the report to. An earlier report there is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// The formats to write, separated by commas: png, svg, pdf, html, notebook, tables.
    #[arg(long, default_value = "png,svg,html,notebook,tables")]
    format: String,
    /// Draw only these charts, separated by commas, such as `gantt,ratio`.
    #[arg(long, value_name = "CHARTS")]
    only: Option<String>,
    /// The width of the charts in pixels. 480 pixels are a column of 85 mm in print.
    #[arg(long, value_name = "PIXELS", default_value_t = 480)]
    width: u32,
    /// The size of the text in the charts, in pixels. 16 pixels are 8 points in print.
    #[arg(long, value_name = "PIXELS", default_value_t = 16)]
    font_size: u32,
    /// A title above each chart.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The label of the policy that the others are compared with [default: the first run].
    #[arg(long, value_name = "LABEL")]
    baseline: Option<String>,
    /// The relative difference beyond which a difference matters in practice.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    matters: Matters,
    /// A further metric: a name or an expression such as `p95(completion) where queue = 'adhoc'`. Repeat the option for more.
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    #[command(flatten)]
    window: WindowArgs,
    /// The most memory that the tables of the runs may take, estimated from their rows.
    #[arg(long, value_name = "AMOUNT", default_value_t)]
    most_memory: Memory,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let formats: Formats = args.format.parse()?;
    let mut runs = Vec::new();
    for path in &args.runs {
        runs.extend(runs_in(path)?);
    }
    let options = Options {
        formats,
        only: args.only.as_deref().map_or(Ok(Only::default()), str::parse)?,
        look: Look::new(args.width, args.font_size)?,
        title: args.title.clone(),
        baseline: args.baseline.clone(),
        matters: args.matters,
        metrics: super::replay::named(&args.metrics)?,
        memory: args.most_memory,
        window: args.window.period(),
        zone: args.window.zone(),
    };
    print(&write(&runs, &args.force.out(&args.out, MARKER), &options)?)
}

/// Writes the report and returns the paths of its files, one per line.
pub(super) fn write(runs: &[PathBuf], out: &Out, options: &Options) -> Result<String, Failure> {
    let spinner = spinner("report");
    let files = write_report(runs, out, options, &mut |name| {
        spinner.set_message(name.to_owned());
        spinner.tick();
    })?;
    spinner.finish_and_clear();
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Ok(names.join("\n"))
}
