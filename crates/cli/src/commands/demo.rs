//! `resched demo`: ingest, replay and report, on the bundled sample.

use std::path::{Path, PathBuf};

use include_dir::{Dir, File, include_dir};
use resched_ingest::ingest;
use resched_policies::PolicySpec;
use resched_replay::{Setup, Source, World};
use resched_report::Formats;
use resched_sim::ClusterConfig;
use resched_sim::cluster_file::keys_of;
use resched_tables::store::{Claim, MANIFEST, StagedDir};
use resched_tables::words::counted;

use super::replay::{Options, log_in_words, replay_all, signs_in_words, summary};
use super::report;
use crate::failure::Failure;
use crate::grade::caveats;
use crate::out::ForceArg;
use crate::output::{Text, print};
use crate::progress::IngestProgress;
use crate::written::Written;

/// The history of one morning on a small cluster. A test of `crates/ingest` made it from `traces/sample-history.toml`.
static SAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../traces/sample-history");
/// The cluster of the sample.
const CLUSTER: &str = include_str!("../../../../traces/clusters/sample.toml");
/// The policies that the demo compares.
const POLICIES: [&str; 4] = ["fifo", "naive-fair", "delay:D=12", "fair"];

/// Ingest the bundled sample history, replay it under four policies and write a report.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched demo\n  resched demo --out reports/first")]
pub(crate) struct Args {
    /// The folder to write the report to. The trace and the runs go to `<DIR>-data`.
    #[arg(long, value_name = "DIR", default_value = "reports/demo")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.force.out(&args.out, resched_report::MARKER);
    Claim::check(&out, resched_report::MARKER)?;
    let mut name = args.out.file_name().unwrap_or_default().to_owned();
    name.push("-data");
    let data = args.out.with_file_name(name);
    let (history, trace, runs) = (data.join("history"), data.join("trace"), data.join("runs"));

    write_sample(&history)?;
    let manifest = ingest(
        std::slice::from_ref(&history),
        args.force.out(&trace, MANIFEST),
        &resched_ingest::Options::default(),
        &mut IngestProgress::new(),
    )?;
    print(format!("1. ingest the sample history\n   {}", Written::of(&manifest, &trace).in_words(false)))?;

    let policies: Result<Vec<PolicySpec>, _> = POLICIES.iter().map(|text| PolicySpec::parse(text)).collect();
    let policies = policies.map_err(resched_replay::Error::from)?;
    let given = CLUSTER.parse().map(|settings| keys_of(&settings)).unwrap_or_default();
    let setup = Setup { cluster: ClusterConfig::parse(CLUSTER)?, given, ..Setup::default() };
    let world = World::open(&Source::open(&trace)?, setup)?;
    let done = replay_all(&world, &policies, &args.force.plain(&runs), &Options::default())?;
    let rests_on = done.first().map_or_else(String::new, |done| caveats(done.validity()));
    let answer = summary(&done, &[], 0) + signs_in_words(&done) + &log_in_words(&done) + rests_on;
    print(Text::from(format!("2. replay it under {} policies\n", POLICIES.len())) + answer.indented("   "))?;

    let runs: Vec<PathBuf> = done.into_iter().map(|done| done.dir).collect();
    let options = resched_report::Options {
        formats: Formats { pdf: false, ..Formats::ALL },
        ..resched_report::Options::default()
    };
    let files = counted(report::write(&runs, &out, &options)?.files.len() as u64, "file");
    let (dir, page) = (args.out.display(), args.out.join("report.html"));
    print(format!("3. report\n   {files} in {dir}\n\nOpen {} in a browser.", page.display()))
}

/// Writes the sample, unless an earlier demo wrote it.
fn write_sample(history: &Path) -> Result<(), Failure> {
    if is_sample(history) {
        return Ok(());
    }
    let staged = StagedDir::create(history, "the sample history")?;
    let failed = |error| Failure::work(format!("{}: cannot write the sample history: {error}", history.display()));
    SAMPLE.extract(staged.path()).map_err(failed)?;
    Ok(staged.commit()?)
}

fn is_sample(history: &Path) -> bool {
    let entries = std::fs::read_dir(history).map_or(0, Iterator::count);
    let same = |file: &File| std::fs::read(history.join(file.path())).is_ok_and(|bytes| bytes == file.contents());
    entries == SAMPLE.files().count() && SAMPLE.files().all(same)
}
