//! Event tables: Google's and Alibaba's traces, whose jobs are spread over many files.
#![allow(clippy::unwrap_used)]

mod alibaba;
mod damage;
mod google2011;
mod google2019;
mod resume;
mod times;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::{Options, ingest_into};
use resched_tables::model::{AttemptRow, JobRow, Outcome, TaskRow};
use resched_tables::sink::Collected;
use resched_tables::store::Manifest;

/// Number, queued, start, finish and outcome of an attempt.
type Try = (i64, Option<i64>, Option<i64>, Option<i64>, Outcome);

/// What is in some files or folders.
struct Found {
    jobs: BTreeMap<String, JobRow>,
    tasks: BTreeMap<String, TaskRow>,
    attempts: Vec<AttemptRow>,
    sink: Collected,
    manifest: Manifest,
}

impl Found {
    fn in_paths(paths: &[PathBuf]) -> Self {
        let mut sink = Collected::default();
        let manifest = ingest_into(paths, &mut sink, &Options::default(), &mut ()).unwrap();
        let jobs = sink.jobs.iter().map(|record| (record.job.job_id.clone(), record.job.clone())).collect();
        let tasks = || sink.jobs.iter().flat_map(|record| &record.tasks);
        let attempts = tasks().flat_map(|task| &task.attempts).cloned().collect();
        let tasks = tasks().map(|task| (task.task.task_id.clone(), task.task.clone())).collect();
        Self { jobs, tasks, attempts, sink, manifest }
    }

    /// What is in files of these names and contents.
    fn in_files(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(&dir.path().join(name), text);
        }
        Self::in_paths(&[dir.path().to_path_buf()])
    }

    fn outcomes(&self) -> Vec<(&'static str, usize)> {
        tally(self.attempts.iter().map(|attempt| attempt.outcome))
    }

    fn job_outcomes(&self) -> Vec<(&'static str, usize)> {
        tally(self.jobs.values().map(|job| job.outcome))
    }

    fn skipped(&self) -> Vec<(&str, u64)> {
        self.manifest.skipped.iter().map(|(cause, n)| (cause.as_str(), *n)).collect()
    }

    fn skip(&self, cause: &str) -> u64 {
        self.manifest.skipped.get(cause).copied().unwrap_or(0)
    }

    /// Number, queued, start, finish and outcome of the attempts at a task.
    fn tries(&self, task: &str) -> Vec<Try> {
        let of_task = self.attempts.iter().filter(|attempt| attempt.task_id == task);
        of_task.map(|a| (a.attempt, a.queued, a.start, a.finish, a.outcome)).collect()
    }
}

/// How often each outcome occurs, by name.
fn tally(outcomes: impl Iterator<Item = Outcome>) -> Vec<(&'static str, usize)> {
    let mut counts = BTreeMap::new();
    for outcome in outcomes {
        *counts.entry(outcome.as_str()).or_default() += 1;
    }
    counts.into_iter().collect()
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
