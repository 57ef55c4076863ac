//! `validate --against`: its options, and its line of text.

use std::path::PathBuf;

use resched_analysis::validation::RecognisedBy;
use resched_compare::validate::Found;

use crate::output::count;

/// What a replay is compared with.
#[derive(Debug, clap::Args)]
pub(super) struct AgainstArgs {
    /// Compare with another run of the same jobs: an observed trace, for example under other settings, or a run of `replay`. Jobs are
    /// matched by id, or else by name. Given twice, it also shows how far the two runs differ. For two observed runs, this is their noise.
    #[arg(long, value_name = "RUN|TRACE")]
    pub(super) against: Vec<PathBuf>,
    /// Leave out jobs with this id or name. A `*` at the end matches any ending. Repeat the option for more.
    #[arg(long, value_name = "JOB")]
    pub(super) skip: Vec<String>,
}

/// Which jobs were found in the other run.
pub(super) fn in_words(found: Option<&Found>) -> String {
    let Some(Found { path, twins }) = found else { return String::new() };
    let by = match twins.by {
        RecognisedBy::Id => "id",
        RecognisedBy::Name => "name",
    };
    format!(
        "Compared with {path}, not with the trace itself: {} jobs are matched by {by}; {} are only in the trace, {} only in the other \
         run.\n",
        count(twins.jobs),
        count(twins.only_first),
        count(twins.only_other)
    )
}
