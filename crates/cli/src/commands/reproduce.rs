//! `resched reproduce`: replays the papers' experiments and puts the paper's number beside the replay's.

use std::path::PathBuf;

use resched_reproduce::{MARKER, Progress, Row, find, in_one_sentence, reproduce, write};
use resched_tables::store::Claim;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::out::ForceArg;
use crate::output::{Text, print, table};
use crate::progress::ReproduceProgress;
use crate::threads::ThreadsArg;

/// Replay the papers' experiments and print the paper's number beside the replay's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched reproduce --list\n  resched reproduce coupling-fig10 dress-mixed --out R")]
pub(crate) struct Args {
    /// The experiments to replay [default: all].
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// The folder to write REPRODUCTION.md, index.html and the figures to. An earlier reproduction there is replaced.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// The number of seeds. Each case is replayed once with each seed. Cases that also draw their jobs use three times as many.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
    /// Only list the experiments.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let experiments = find(&args.experiments)?;
    let Some(out) = args.out.as_ref().filter(|_| !args.list) else {
        let row = |known: &&resched_reproduce::Experiment| {
            [known.name, known.paper.name(), known.source, known.title].map(str::to_owned).to_vec()
        };
        return print(table(
            &["experiment", "paper", "repeats", "what it is"],
            experiments.iter().map(row).collect(),
            0..0,
        ));
    };
    let claim = Claim::new(args.force.out(out, MARKER), MARKER)?;
    let progress = ReproduceProgress::new();
    let all = reproduce(&experiments, args.seeds, args.threads.get(), true, &|reported| match reported {
        Progress::Begin(replays) => progress.begin(replays),
        Progress::Done(experiment) => progress.done(experiment),
    })?;
    drop(progress);
    let files = write(&all, claim)?;
    let page = files.first().map(|page| format!("Open {} in a browser.\n", page.display())).unwrap_or_default();
    let rows: Vec<&Row> = all.iter().flat_map(|reproduced| &reproduced.rows).collect();
    args.format.print(&rows, &rows, || in_words(&rows) + format!("\n{}\n{page}", in_one_sentence(&all)))
}

/// The rows of all experiments as a table.
fn in_words(rows: &[&Row]) -> Text {
    let heading = ["experiment", "quantity", "unit", "", "paper", "replay", "95 % interval", "verdict"];
    table(&heading, rows.iter().map(|row| cells(row)).collect(), 4..7)
}

fn cells(row: &Row) -> Vec<String> {
    let [paper, replay, interval, _] = row.numbers();
    let words = [row.experiment, &row.quantity, row.unit, row.role.name()].map(str::to_owned);
    words.into_iter().chain([paper, replay, interval, row.verdict.name().to_owned()]).collect()
}
