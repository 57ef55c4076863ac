//! `validate --against`: a replay beside another real run of the same jobs, and how far two real runs differ.

use std::path::{Path, PathBuf};

use resched_analysis::Run;
use resched_analysis::validation::{RecognisedBy, Skip, Twins, Validation, rename_as, validate};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::count;

/// What a replay is compared with.
#[derive(Debug, clap::Args)]
pub(super) struct AgainstArgs {
    /// Compare with another run of the same jobs: an observed trace, for example under other settings, or a run of `replay`. Jobs are
    /// matched by id, or else by name. Given twice, it also shows how far the two runs differ. For two observed runs, this is their noise.
    #[arg(long, value_name = "RUN|TRACE")]
    against: Vec<PathBuf>,
    /// Leave out jobs with this id or name. A `*` at the end matches any ending. Repeat the option for more.
    #[arg(long, value_name = "JOB")]
    skip: Vec<String>,
}

/// What was found of the other run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Found {
    /// Its folder.
    path: String,
    #[serde(flatten)]
    twins: Twins,
}

/// How far a second run is from the first.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Noise {
    #[serde(flatten)]
    pub(super) validation: Validation,
    /// Whether both really ran: only then is it noise.
    pub(super) is_real: bool,
}

/// The truth, ready to be compared with.
pub(super) struct Against {
    pub(super) truth: Run,
    pub(super) skip: Skip,
    pub(super) found: Option<Found>,
    pub(super) noise: Option<Noise>,
}

impl Against {
    /// The other runs, with the ids of the jobs of `observed`; `observed` itself, if none is named.
    pub(super) fn open(args: &AgainstArgs, observed: Run) -> Result<Self, Failure> {
        let skip = Skip(args.skip.clone());
        let mut others = args.against.iter();
        let Some(path) = others.next() else {
            return Ok(Self { truth: observed, skip, found: None, noise: None });
        };
        let (truth, found) = other(path, &observed)?;
        let second = others.next().map(|path| other(path, &observed)).transpose()?;
        if let Some(more) = others.next() {
            return Err(Failure::request(format!(
                "{}: expected at most two runs after --against, the truth and a second run of the same; found a third",
                more.display()
            )));
        }
        let noise = second.map(|(second, _)| Noise {
            validation: validate(&truth, &second, &skip),
            is_real: truth.replay().is_none() && second.replay().is_none(),
        });
        Ok(Self { truth, skip, found: Some(found), noise })
    }
}

fn other(path: &Path, observed: &Run) -> Result<(Run, Found), Failure> {
    let mut run = Run::open(path)?;
    if run.replay().is_none() {
        run.check_observed(path)?;
    }
    let twins = rename_as(&observed.jobs, &mut run.jobs);
    if twins.jobs == 0 {
        return Err(Failure::request(format!(
            "{}: expected jobs of the trace, by id or by name, found none; name another run of the same jobs",
            path.display()
        )));
    }
    Ok((run, Found { path: path.display().to_string(), twins }))
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
