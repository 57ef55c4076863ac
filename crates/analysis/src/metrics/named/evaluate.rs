//! The value of a metric for a run.

use std::cell::OnceCell;

use resched_tables::standing::Standing;
use statrs::statistics::Statistics;

use super::attribute::OUTCOME;
use super::filter::{Filter, Subject};
use super::formula::{Aggregate, Formula, Statistic};
use crate::statistics::distribution::{Distribution, mean};
use crate::{Details, JobMetrics, Run, Summary};

/// A run, with numbers that several metrics need. They are computed once, when a metric first needs them.
pub struct Measured<'a> {
    run: &'a Run,
    summary: OnceCell<Summary>,
    details: OnceCell<Details>,
    sizes: OnceCell<Sizes>,
}

/// The bounds of the classes of size.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Jobs with at most this many tasks are small.
    small: u64,
    /// Jobs with at least this many tasks are large.
    large: u64,
}

impl Sizes {
    /// The bounds by the jobs of a run that count.
    pub fn of(run: &Run) -> Self {
        Self::of_counts(run.finished_jobs().map(|job| job.tasks_done).collect())
    }

    /// The bounds by the numbers of tasks of some jobs.
    pub(crate) fn of_counts(mut tasks: Vec<u64>) -> Self {
        tasks.sort_unstable();
        let at = |rank: usize| tasks.get(rank).copied().unwrap_or(0);
        Self { small: at(tasks.len().saturating_sub(1) / 2), large: at(tasks.len() - tasks.len().div_ceil(10)) }
    }

    /// The class of a job with so many tasks.
    pub(crate) fn class_of(self, tasks: u64) -> &'static str {
        match tasks {
            tasks if tasks <= self.small => "small",
            tasks if tasks >= self.large => "large",
            _ => "medium",
        }
    }

    /// Whether a job is among the smaller half.
    pub fn is_small(self, job: &JobMetrics) -> bool {
        job.tasks_done <= self.small
    }

    /// Whether a job is among the largest tenth.
    pub fn is_large(self, job: &JobMetrics) -> bool {
        job.tasks_done >= self.large
    }
}

impl<'a> Measured<'a> {
    /// A run to be measured.
    pub fn new(run: &'a Run) -> Self {
        Self { run, summary: OnceCell::new(), details: OnceCell::new(), sizes: OnceCell::new() }
    }

    pub(super) fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| Summary::of(self.run))
    }

    pub(super) fn details(&self) -> &Details {
        self.details.get_or_init(|| Details::of(self.run))
    }

    /// The jobs for which the filter holds: jobs that count, or all of the window if it names the outcome.
    fn jobs(&self, filter: Option<&Filter>) -> Vec<Subject<'a>> {
        let sizes = *self.sizes.get_or_init(|| Sizes::of(self.run));
        let every = filter.is_some_and(|filter| filter.names(OUTCOME));
        let candidates: Box<dyn Iterator<Item = &'a JobMetrics>> = if every {
            Box::new(self.run.jobs.iter().filter(|job| job.standing != Standing::OutsideWindow))
        } else {
            Box::new(self.run.finished_jobs())
        };
        let clock = self.run.clock();
        let submit = |job: &JobMetrics| job.submit.map(|submit| clock.date(submit).unwrap_or(submit));
        let subject =
            |job| Subject { job, submit: submit(job), is_small: sizes.is_small(job), is_large: sizes.is_large(job) };
        candidates
            .map(subject)
            .filter(|subject| filter.is_none_or(|filter| filter.holds(subject) == Some(true)))
            .collect()
    }
}

impl Formula {
    pub(super) fn of(&self, run: &Measured<'_>) -> Option<f64> {
        match self {
            Self::Run(known) => (known.of)(run),
            Self::Jobs(Aggregate::Count, filter) => Some(run.jobs(filter.as_ref()).len() as f64),
            Self::Jobs(Aggregate::Share(which), filter) => {
                let all = run.jobs(filter.as_ref());
                let own = all.iter().filter(|subject| which.holds(subject) == Some(true)).count();
                (!all.is_empty()).then(|| own as f64 / all.len() as f64)
            }
            Self::Jobs(Aggregate::Of(statistic, quantity), filter) => {
                let jobs = run.jobs(filter.as_ref());
                statistic.of(jobs.iter().filter_map(|subject| (quantity.of)(subject.job)).collect())
            }
        }
    }
}

impl Statistic {
    /// The statistic of a sample; `None` if it has too few values.
    fn of(self, sample: Vec<f64>) -> Option<f64> {
        if sample.is_empty() {
            return None;
        }
        match self {
            Self::Mean => mean(&sample),
            Self::Min => sample.into_iter().reduce(f64::min),
            Self::Max => sample.into_iter().reduce(f64::max),
            Self::Sum => Some(sample.into_iter().sum()),
            Self::Deviation => Some(sample.iter().std_dev()).filter(|deviation| deviation.is_finite()),
            Self::Quantile(share) => Distribution::new(sample).quantile(share),
        }
    }
}
