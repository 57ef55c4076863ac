//! `resched reproduce` in a build without the feature `papers`: it says so.

use std::ffi::OsString;

use crate::failure::Failure;

/// Replay the papers' experiments: not in this build, which has no feature `papers`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    ignored: Vec<OsString>,
}

pub(crate) fn run(_: &Args) -> Result<(), Failure> {
    Err(Failure::request(
        "this build has no `reproduce`: build resched with its feature `papers`, as `cargo install` does",
    ))
}
