//! Classes of jobs by size.

use resched_tables::store::System;

use crate::{JobMetrics, Run};

/// What the size of a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeBy {
    /// How many of its tasks were done.
    Tasks,
    /// How many CPUs it asks for, in thousandths.
    Cpus,
}

impl SizeBy {
    /// The size of jobs of that system. A job of Slurm or of a batch system is mostly one task, so that its CPUs say how large it is;
    /// where these are unknown for all jobs, tasks are what is left.
    pub(crate) fn of<'a>(system: Option<System>, jobs: impl IntoIterator<Item = &'a JobMetrics>) -> Self {
        let by_cpus = system.is_some_and(System::asks_for_cpus);
        match by_cpus && jobs.into_iter().any(|job| job.cpus.is_some()) {
            true => Self::Cpus,
            false => Self::Tasks,
        }
    }

    /// The size of the jobs of a run that count.
    pub fn of_run(run: &Run) -> Self {
        Self::of(run.origin.system(), run.finished_jobs())
    }

    /// Its name in texts.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Cpus => "CPUs",
        }
    }

    /// The size of a job; 0 if it is unknown.
    pub fn size(self, job: &JobMetrics) -> u64 {
        match self {
            Self::Tasks => job.tasks_done.into(),
            // The conversion saturates, and below 0 is 0.
            Self::Cpus => job.cpus.map_or(0, |cpus| (cpus * 1e3).round() as u64),
        }
    }

    /// The number of tasks or CPUs of a size.
    pub fn amount(self, size: u64) -> f64 {
        match self {
            Self::Tasks => size as f64,
            Self::Cpus => size as f64 / 1e3,
        }
    }
}

/// The bounds of the classes of size.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    by: SizeBy,
    /// Jobs of at most this size are small.
    small: u64,
    /// Jobs of at least this size are large.
    large: u64,
}

impl Sizes {
    /// The bounds by the jobs of a run that count.
    pub fn of(run: &Run) -> Self {
        let by = SizeBy::of_run(run);
        Self::of_sizes(by, run.finished_jobs().map(|job| by.size(job)).collect())
    }

    /// The bounds by the sizes of some jobs.
    pub(crate) fn of_sizes(by: SizeBy, mut sizes: Vec<u64>) -> Self {
        sizes.sort_unstable();
        let at = |rank: usize| sizes.get(rank).copied().unwrap_or(0);
        Self { by, small: at(sizes.len().saturating_sub(1) / 2), large: at(sizes.len() - sizes.len().div_ceil(10)) }
    }

    /// What the size of a job is.
    pub fn by(self) -> SizeBy {
        self.by
    }

    /// The class of a size.
    pub(crate) fn class_of(self, size: u64) -> &'static str {
        match size {
            size if size <= self.small => "small",
            size if size >= self.large => "large",
            _ => "medium",
        }
    }

    /// The class of a job.
    pub(crate) fn class(self, job: &JobMetrics) -> &'static str {
        self.class_of(self.by.size(job))
    }

    /// True if a job is among the smaller half.
    pub fn is_small(self, job: &JobMetrics) -> bool {
        self.by.size(job) <= self.small
    }

    /// True if a job is among the largest tenth.
    pub fn is_large(self, job: &JobMetrics) -> bool {
        self.by.size(job) >= self.large
    }
}
