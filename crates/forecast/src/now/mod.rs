//! The state of a cluster now: the jobs that run and wait, as Slurm lists them.
//!
//! ```text
//! squeue --json ─────────────────────▶ json ─┐
//! squeue -o with names, sacct -s R,PD ▶ text ┴─▶ Listed ──▶ JobRecord, as a log would have it
//! ```
//!
//! **Decisions.** A job that waits for something else than machines (its dependency, its time, a hold, a limit) is held, and not asked. The
//! waiting tasks of an array are one line: each becomes a job. What is missing is counted: a running job without a start is taken to have
//! started now.

mod json;
mod listed;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use resched_sim::Ms;
use resched_tables::clock::Zone;
use resched_tables::model::JobRecord;
use resched_tables::whole;

use crate::Error;

/// The most bytes of a list of jobs.
const MOST_BYTES: u64 = 256 << 20;

/// The most jobs of a list, with the tasks of arrays.
const MOST_JOBS: usize = 1_000_000;

/// The jobs of a cluster at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Now {
    /// When it was, ms since the epoch; `None`: the list does not say it.
    pub at: Option<Ms>,
    /// The jobs as a log would have them.
    pub jobs: Vec<JobRecord>,
    /// What was left out or assumed, by cause.
    pub skipped: BTreeMap<String, u64>,
}

impl Now {
    /// Reads a list of jobs. Times without a zone are of `zone`. `at` is when the list was made, if you know it.
    ///
    /// # Errors
    /// [`Error::Request`] that names the place, what was expected there, and what to do.
    pub fn read(path: &Path, zone: Zone, at: Option<Ms>) -> Result<Self, Error> {
        let named = |problem: String| Error::Request(format!("{}: {problem}", path.display()));
        let text = whole::text_up_to(path, MOST_BYTES).map_err(|error| named(format!("cannot be read ({error})")))?;
        Self::parse(&text, zone, at).map_err(named)
    }

    /// As [`Now::read`], from the text of a list.
    ///
    /// # Errors
    /// A text that names the line, what was expected there, and what to do.
    pub fn parse(text: &str, zone: Zone, at: Option<Ms>) -> Result<Self, String> {
        let mut made = Self::default();
        let (listed, said) = if text.trim_start().starts_with('{') {
            json::parse(text, &mut made.skipped)?
        } else {
            text::parse(text, zone, &mut made.skipped)?
        };
        // A job that runs says by its start and its time how late it is.
        let of_jobs = || listed.iter().filter_map(|job| Some(job.start? + job.elapsed?)).max();
        let at = at.or(said).or_else(of_jobs);
        made.at = at;
        let Some(at) = at else {
            return Err("expected the time of the list, found none; give it with --at".to_owned());
        };
        for job in listed {
            if made.jobs.len() >= MOST_JOBS {
                skip(&mut made.skipped, "job-beyond-the-most", 1);
                continue;
            }
            if let Some(record) = job.record(at, &mut made.skipped) {
                made.jobs.push(record);
            }
        }
        Ok(made)
    }
}

fn skip(skipped: &mut BTreeMap<String, u64>, cause: &str, count: u64) {
    *skipped.entry(cause.to_owned()).or_default() += count;
}
