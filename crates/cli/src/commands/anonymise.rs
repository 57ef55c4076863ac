//! `resched anonymise`: a trace with its names replaced, so that you can share it.

use std::path::{Path, PathBuf};

use resched_ingest::anonymise::{Key, anonymise};
use resched_tables::store::MANIFEST;

use crate::failure::Failure;
use crate::out::ForceArg;
use crate::output::print;
use crate::written::Written;

/// Replace the names in a trace by keyed hashes, so that you can share it.
///
/// Names of jobs, users, queues, groups, hosts, racks, stages and counters become keyed hashes (HMAC-SHA-256). The same name and
/// key always give the same hash. Error texts of failed attempts are removed; the paths and hashes of source files are replaced.
/// Times, sizes, counts, outcomes, requests and dependencies stay, so anyone who knows when a job ran can still recognise it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched anonymise T --out shared")]
pub(crate) struct Args {
    /// The trace folder.
    trace: PathBuf,
    /// The folder to write the new trace to. An earlier trace there is replaced.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// A file with your own key, at least 16 bytes. Without it, a new key is written to `<TRACE>.key`, which only its owner can
    /// read. Keep the key secret, and never ship it with the trace.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.force.out(&args.out, MANIFEST);
    let Some(path) = &args.key else {
        let path = key_file(&args.out)?;
        let (key, file) = Key::make(&path)?;
        let manifest = anonymise(&args.trace, &out, &key)?;
        // If the command is killed before this, nothing is in the way of the next attempt.
        file.commit()?;
        return print(format!(
            "{}{}: the key; keep it secret\n",
            Written::of(&manifest, &args.out).in_words(false),
            path.display()
        ));
    };
    let manifest = anonymise(&args.trace, &out, &Key::read(path)?)?;
    print(Written::of(&manifest, &args.out).in_words(false))
}

/// Where to write a new key: beside the trace, not in it, so that nobody shares it by accident.
fn key_file(out: &Path) -> Result<PathBuf, Failure> {
    let mut name = out
        .file_name()
        .ok_or_else(|| {
            Failure::request(format!("{}: expected a folder to write the trace to; name another --out", out.display()))
        })?
        .to_owned();
    name.push(".key");
    Ok(out.with_file_name(name))
}
