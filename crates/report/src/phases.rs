//! The time of each job by phase, with which the page of a report explains a job.

use std::collections::BTreeMap;
use std::path::PathBuf;

use resched_analysis::why::{JobTime, Phase, Why};

use crate::Error;
use crate::answer::Answer;
use crate::scene::Scene;

/// The most attempts of all policies together. The tables are read once more for it, so beyond this a page leaves phases to
/// `resched explain`.
const MOST_ATTEMPTS: u64 = 4_000_000;

/// A phase, and for each policy how long each job of the scene was in it, ms; `None` if that is unknown.
pub(crate) type PhaseOfJobs = (Phase, Vec<Vec<Option<i64>>>);

/// The phases of the jobs.
#[derive(Debug)]
pub(crate) struct Phases {
    /// Those in which some job was, in their order. None if there are too many attempts.
    pub(crate) of_jobs: Vec<PhaseOfJobs>,
    /// Whether all runs keep why their policy passed over jobs.
    pub(crate) have_reasons: bool,
}

/// Finds the phases of the jobs of the scene.
///
/// # Errors
/// [`Error::Analysis`] if a run cannot be read.
pub(crate) fn phases(answer: &Answer, scene: &Scene<'_>, folders: &[PathBuf]) -> Result<Phases, Error> {
    let firsts = || answer.policies.iter().filter_map(|policy| policy.runs.first().copied());
    let attempts = |run: usize| answer.runs.get(run).and_then(|run| run.origin.rows().get("attempts")).copied();
    if firsts().filter_map(attempts).sum::<u64>() > MOST_ATTEMPTS {
        return Ok(Phases { of_jobs: Vec::new(), have_reasons: true });
    }
    let mut have_reasons = true;
    let mut found: Vec<PhaseOfJobs> = Phase::ALL.iter().map(|&phase| (phase, Vec::new())).collect();
    for (run, jobs) in firsts().zip(&scene.jobs) {
        let Some(folder) = folders.get(run) else { continue };
        let why = Why::open(folder)?;
        have_reasons &= why.has_reasons;
        let times = why.times();
        let by_id: BTreeMap<&str, &JobTime> = times.iter().map(|time| (time.job_id(), time)).collect();
        for (phase, runs) in &mut found {
            runs.push(jobs.iter().map(|job| Some(by_id.get(job.job_id.as_str())?.phase(*phase))).collect());
        }
    }
    found.retain(|(_, runs)| runs.iter().flatten().flatten().any(|&ms| ms > 0));
    Ok(Phases { of_jobs: found, have_reasons })
}
