//! Another real run of the same jobs: which of its jobs is which.
//!
//! A second run of a workload gives its jobs other ids. So jobs are recognised by id if at least half of the ids are in both runs and no
//! name contradicts them, and else by name: the first job of a name in one run is the first of that name in the other, in the order of
//! submission.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::runs::jobs::JobMetrics;

/// How jobs of another run were recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecognisedBy {
    /// By their ids.
    Id,
    /// By their names, and by the order of submission among jobs of one name.
    Name,
}

/// How many jobs of two runs are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Twins {
    /// What they were recognised by.
    pub by: RecognisedBy,
    /// Jobs in both runs.
    pub jobs: u64,
    /// Jobs in the first run alone.
    pub only_first: u64,
    /// Jobs in the other run alone.
    pub only_other: u64,
}

/// Gives the jobs of `other` the ids that the same jobs have in `first`. A job that `first` lacks gets an id that no job has.
pub fn rename_as(first: &[JobMetrics], other: &mut [JobMetrics]) -> Twins {
    let (by, twins) = match by_id(first, other) {
        Some(twins) => (RecognisedBy::Id, twins),
        None => (RecognisedBy::Name, by_name(first, other)),
    };
    let jobs = twins.iter().flatten().count();
    for (job, twin) in other.iter_mut().zip(twins) {
        job.job_id = match twin.and_then(|row| first.get(row)) {
            Some(twin) => twin.job_id.clone(),
            // No id has a line break.
            None => format!("{}\n", job.job_id),
        };
    }
    let left = |all: usize| all.saturating_sub(jobs) as u64;
    Twins { by, jobs: jobs as u64, only_first: left(first.len()), only_other: left(other.len()) }
}

/// The row in `first` of each job of `other` with its id; `None` if ids mean nothing.
fn by_id(first: &[JobMetrics], other: &[JobMetrics]) -> Option<Vec<Option<usize>>> {
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for (row, job) in first.iter().enumerate() {
        rows.entry(&job.job_id).or_insert(row);
    }
    let twins: Vec<Option<usize>> = other.iter().map(|job| rows.get(job.job_id.as_str()).copied()).collect();
    let agrees = |(job, twin): (&JobMetrics, &Option<usize>)| match twin.and_then(|row| first.get(row)) {
        Some(twin) => job.name.is_none() || twin.name.is_none() || job.name == twin.name,
        None => true,
    };
    let enough = 2 * twins.iter().flatten().count() >= first.len().min(other.len());
    (enough && other.iter().zip(&twins).all(agrees)).then_some(twins)
}

/// The row in `first` of each job of `other` with its name.
fn by_name(first: &[JobMetrics], other: &[JobMetrics]) -> Vec<Option<usize>> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for row in in_order(first) {
        if let Some(name) = first.get(row).and_then(|job| job.name.as_deref()) {
            named.entry(name).or_default().push(row);
        }
    }
    // The earliest is taken first.
    named.values_mut().for_each(|rows| rows.reverse());
    let mut twins = vec![None; other.len()];
    for row in in_order(other) {
        let name = other.get(row).and_then(|job| job.name.as_deref());
        if let (Some(twin), Some(rows)) = (twins.get_mut(row), name.and_then(|name| named.get_mut(name))) {
            *twin = rows.pop();
        }
    }
    twins
}

/// The rows of the jobs in the order of submission.
fn in_order(jobs: &[JobMetrics]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..jobs.len()).collect();
    rows.sort_by_key(|&row| jobs.get(row).and_then(|job| job.submit));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: &str, name: &str, submit: i64) -> JobMetrics {
        JobMetrics { job_id: id.to_owned(), name: Some(name.into()), submit: Some(submit), ..JobMetrics::default() }
    }

    fn ids(jobs: &[JobMetrics]) -> Vec<&str> {
        jobs.iter().map(|job| job.job_id.as_str()).collect()
    }

    #[test]
    fn jobs_of_other_ids_are_recognised_by_name_and_order() {
        let first = [job("a1", "sort", 0), job("a2", "sort", 5), job("a3", "grep", 7)];
        let mut other = [job("b1", "sort", 9), job("b2", "grep", 3), job("b3", "sort", 2), job("b4", "new", 1)];
        let twins = rename_as(&first, &mut other);
        assert_eq!(ids(&other), ["a2", "a3", "a1", "b4\n"]);
        assert_eq!(twins, Twins { by: RecognisedBy::Name, jobs: 3, only_first: 0, only_other: 1 });
    }

    #[test]
    fn ids_count_unless_a_name_contradicts_them() {
        let first = [job("1", "sort", 0), job("2", "grep", 5)];
        let mut same = [job("2", "grep", 9), job("3", "new", 9)];
        assert_eq!(rename_as(&first, &mut same).by, RecognisedBy::Id);
        assert_eq!(ids(&same), ["2", "3\n"]);
        // A second run of the same system numbers its jobs from 1, too.
        let mut shifted = [job("1", "warm-up", 0), job("2", "sort", 1), job("3", "grep", 2)];
        assert_eq!(rename_as(&first, &mut shifted).by, RecognisedBy::Name);
        assert_eq!(ids(&shifted), ["1\n", "1", "2"]);
    }
}
