//! A replay beside another real run of the same jobs, and how far two real runs differ.

use std::path::{Path, PathBuf};

use resched_analysis::Run;
use resched_analysis::validation::{Skip, Twins, Validation, rename_as, validate};
use serde::Serialize;

use crate::Error;

/// What was found of the other run.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// Its folder.
    pub path: String,
    /// Which jobs are in both runs, and by what they were recognised.
    #[serde(flatten)]
    pub twins: Twins,
}

/// How far a second run is from the first.
#[derive(Debug, Clone, Serialize)]
pub struct Noise {
    /// The error of the second run, taken as if it were a replay.
    #[serde(flatten)]
    pub validation: Validation,
    /// True if both really ran: only then is it noise.
    pub is_real: bool,
}

/// The truth, ready to be compared with.
#[derive(Debug)]
pub struct Against {
    /// What really ran.
    pub truth: Run,
    /// The jobs that are left out.
    pub skip: Skip,
    /// What was found of the other run, if the truth is not the trace itself.
    pub found: Option<Found>,
    /// How far a second run is from the truth, if one is named.
    pub noise: Option<Noise>,
}

impl Against {
    /// The other runs in these folders, with the ids of the jobs of `observed`; `observed` itself, if none is named.
    ///
    /// # Errors
    /// [`Error::Request`] if more than two are named, or one has no job of `observed`.
    pub fn open(others: &[PathBuf], skip: Skip, observed: Run) -> Result<Self, Error> {
        let mut others = others.iter();
        let Some(path) = others.next() else {
            return Ok(Self { truth: observed, skip, found: None, noise: None });
        };
        let (truth, found) = other(path, &observed)?;
        let second = others.next().map(|path| other(path, &observed)).transpose()?;
        if let Some(more) = others.next() {
            return Err(Error::Request(format!(
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

fn other(path: &Path, observed: &Run) -> Result<(Run, Found), Error> {
    let mut run = Run::open(path)?;
    if run.replay().is_none() {
        run.check_observed(path)?;
    }
    let twins = rename_as(&observed.jobs, &mut run.jobs);
    if twins.jobs == 0 {
        return Err(Error::Request(format!(
            "{}: expected jobs of the trace, by id or by name, found none; name another run of the same jobs",
            path.display()
        )));
    }
    Ok((run, Found { path: path.display().to_string(), twins }))
}
