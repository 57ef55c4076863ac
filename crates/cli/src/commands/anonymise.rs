//! `resched anonymise`: a trace under other names, to be given away.

use std::path::{Path, PathBuf};

use resched_trace::anonymise::{Key, anonymise};

use super::ingest::told;
use crate::failure::Failure;
use crate::output::print;

/// Write a trace under other names, to be given away.
///
/// Names of jobs, users, queues, groups, hosts, racks, stages and counters become keyed hashes (HMAC-SHA-256), the same for the
/// same name and key; what failed attempts said is dropped, and paths of sources with their hashes are replaced. Times, sizes,
/// counts, outcomes, requests and dependencies stay: who knows when jobs ran can find them again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The trace.
    trace: PathBuf,
    /// The folder to write the new trace to; an earlier trace there is replaced.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    /// A file with the key, at least 16 bytes; without it a new key is made in `<TRACE>.key`, for its owner only. Keep it
    /// secret, and apart from the trace.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(path) = &args.key else {
        let path = key_file(&args.out)?;
        let key = Key::make(&path)?;
        let manifest = anonymise(&args.trace, &args.out, &key).inspect_err(|_| {
            // A key that was used for nothing would be in the way of the next try.
            let _ = std::fs::remove_file(&path);
        })?;
        return print(&format!("{}{}: the key; keep it secret\n", told(&manifest, &args.out), path.display()));
    };
    let manifest = anonymise(&args.trace, &args.out, &Key::read(path)?)?;
    print(&told(&manifest, &args.out))
}

/// The file for a new key: beside the trace, so that it is not given away with it.
fn key_file(out: &Path) -> Result<PathBuf, Failure> {
    let mut name = out
        .file_name()
        .ok_or_else(|| {
            Failure::request(format!("{}: expected the name of a folder to write; name another --out", out.display()))
        })?
        .to_owned();
    name.push(".key");
    Ok(out.with_file_name(name))
}
