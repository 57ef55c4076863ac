//! `resched report`: compares runs by charts, an HTML page and a notebook.

use std::path::{Path, PathBuf};

use resched_analysis::Origin;
use resched_analysis::runs::memory::Memory;
use resched_analysis::statistics::practical::Matters;
use resched_replay::runs_in;
use resched_report::charts::Only;
use resched_report::{Formats, Look, MARKER, Options, Written, write_report};
use resched_tables::run::RunValidation;
use resched_tables::store::Out;

use crate::failure::Failure;
use crate::grade::graded;
use crate::out::ForceArg;
use crate::output::print;
use crate::progress::spinner;
use crate::validation_file::Validation;
use crate::window_args::WindowArgs;

/// Compare runs side by side: charts as PNG and SVG, one HTML page and a notebook.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched report R --out reports/mine\n  resched report T R --out reports/mine     with the model error"
)]
pub(crate) struct Args {
    /// Runs or folders of runs (for example the `--out` folder of `replay`). Add the trace that they replay to see the model error.
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
    /// The label of the policy that the others are compared with [default: the first replay].
    #[arg(long, value_name = "LABEL")]
    baseline: Option<String>,
    /// The output of `resched validate --json` for the trace. It names the scheduler whose replay is compared with the observed run
    /// [default: that of `replay --validation`].
    #[arg(long, value_name = "VALIDATION.json")]
    validation: Option<PathBuf>,
    /// The relative difference above which a difference matters in practice.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    matters: Matters,
    /// A further metric: a name or an expression such as `p95(completion) where queue = 'adhoc'`. Repeat the option for more.
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    #[command(flatten)]
    window: WindowArgs,
    /// The largest amount of memory for the tables of the runs, estimated from their rows.
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
        validation: args.validation.as_deref().map(|path| of_runs(path, &runs)).transpose()?,
        window: args.window.period(),
        zone: args.window.zone(),
    };
    let written = write(&runs, &args.force.out(&args.out, MARKER), &options)?;
    // All charts are asked for by default, and many have nothing to show then.
    let empty = if args.only.is_some() { empty_in_words(&written) } else { String::new() };
    let answer = written.sentences.join("\n") + "\n" + &graded(&written.validity) + &empty;
    print(format!("{answer}\n{}", files(&written)))
}

/// A validation of the trace that these runs replay.
fn of_runs(path: &Path, runs: &[PathBuf]) -> Result<RunValidation, Failure> {
    let validation = Validation::read(path)?;
    for dir in runs {
        let (name, sha256) = match Origin::of(dir)? {
            Origin::Replay(info) => (info.trace.path, info.trace.sha256),
            Origin::Observed(manifest) => (dir.display().to_string(), manifest.fingerprint()?),
        };
        validation.check_trace(&name, &sha256)?;
    }
    Ok(validation.best)
}

/// The charts that have nothing to show, with the reasons.
fn empty_in_words(written: &Written) -> String {
    written.empty.iter().map(|(chart, why)| format!("no chart `{chart}`: {why}\n")).collect()
}

/// The paths of the files, one per line.
fn files(written: &Written) -> String {
    written.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join("\n")
}

/// Writes the report.
pub(super) fn write(runs: &[PathBuf], out: &Out, options: &Options) -> Result<Written, Failure> {
    let spinner = spinner("report");
    let written = write_report(runs, out, options, &mut |name| {
        spinner.set_message(name.to_owned());
        spinner.tick();
    })?;
    spinner.finish_and_clear();
    Ok(written)
}
