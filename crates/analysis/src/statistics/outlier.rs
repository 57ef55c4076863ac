//! One job that moves a mean: a mean of heavy-tailed times may be that of a single job.

use resched_tables::words::{TimeUnit, name};
use serde::Serialize;

use crate::runs::jobs::JobMetrics;
use crate::runs::standing::counting;

/// A job is named if it moves the mean by this share or more.
const MOVES: f64 = 0.1;
/// With fewer jobs, each moves the mean.
const LEAST_JOBS: usize = 30;

/// A job that moves the mean completion time of its run by a tenth or more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Its id.
    pub job_id: String,
    /// Its completion time, ms.
    pub completion: f64,
    /// The mean of all jobs, ms.
    pub mean: f64,
    /// The mean of the others, ms.
    pub without: f64,
}

impl Outlier {
    /// The job among those that count that moves their mean completion time most, if it does so by a tenth or more.
    pub fn of(jobs: &[JobMetrics]) -> Option<Self> {
        let times = || counting(jobs).filter_map(|job| Some((job, job.completion? as f64)));
        let (longest, completion) = times().max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (jobs, sum) = times().fold((0, 0.0), |(jobs, sum), (_, time)| (jobs + 1, sum + time));
        if jobs < LEAST_JOBS {
            return None;
        }
        let (mean, without) = (sum / jobs as f64, (sum - completion) / (jobs as f64 - 1.0));
        let found = Self { job_id: longest.job_id.clone(), completion, mean, without };
        (mean - without >= MOVES * without).then_some(found)
    }

    /// The hint, as a sentence; `policy` is the run's label.
    pub fn in_words(&self, policy: &str) -> String {
        let unit = TimeUnit::of([self.mean, self.without]);
        format!(
            "Job {} alone moves the mean completion time under {policy} from {} to {}: it takes {}.",
            name(&self.job_id),
            unit.show(self.without),
            unit.show(self.mean),
            TimeUnit::for_axis(self.completion).show(self.completion)
        )
    }
}

/// The hints of several runs, each job once: the labels of the runs and their jobs.
pub fn hints<'a>(runs: impl IntoIterator<Item = (&'a str, &'a [JobMetrics])>) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    let mut hints = Vec::new();
    for (label, jobs) in runs {
        let Some(found) = Outlier::of(jobs).filter(|found| !named.contains(&found.job_id)) else { continue };
        hints.push(found.in_words(label));
        named.push(found.job_id);
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(hours: &[i64]) -> Vec<JobMetrics> {
        let job = |(at, hours): (usize, &i64)| JobMetrics {
            job_id: at.to_string(),
            completion: Some(hours * 3_600_000),
            ..JobMetrics::default()
        };
        hours.iter().enumerate().map(job).collect()
    }

    // By hand: 40 jobs of 30 h and one of 7,200 h: 1,200 + 7,200 of 41 jobs are 204.9 h.
    #[test]
    fn a_job_that_moves_the_mean_by_a_tenth_is_named_once() {
        let mut hours = vec![30; 40];
        hours.push(7_200);
        let jobs_of_hours = jobs(&hours);
        let found = hints([("fifo", jobs_of_hours.as_slice()), ("easy", jobs_of_hours.as_slice())]);
        assert_eq!(
            found,
            ["Job 40 alone moves the mean completion time under fifo from 30.0 h to 204.9 h: it takes 300.0 d."]
        );
    }

    #[test]
    fn no_job_is_named_among_few_or_where_none_stands_out() {
        assert_eq!(Outlier::of(&jobs(&[30; 100])), None);
        assert_eq!(Outlier::of(&jobs(&[1, 1, 1, 500])), None);
        assert_eq!(Outlier::of(&[]), None);
    }
}
