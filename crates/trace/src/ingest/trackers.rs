//! Tells apart the clusters of Hadoop by the ids of their jobs.
//!
//! The number behind `job_` is the start of the JobTracker or ResourceManager that gave the id. A restart gives another number, so two
//! numbers may be of one cluster. But only the newest master takes jobs: if submissions under two numbers overlap in time, there were
//! two masters at once, and so two clusters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::formats::job_id_in_name;

/// The masters so far.
#[derive(Debug, Default)]
pub(super) struct Trackers {
    masters: Vec<Master>,
    /// The place of the master of each number.
    by_number: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Master {
    /// The first and the last submission, ms.
    first: i64,
    last: i64,
    /// The file that named it last, with its number. Masters of one file are of one cluster.
    path: PathBuf,
    file: u64,
}

/// The number of the master in a job's id.
pub(super) fn master(job_id: &str) -> Option<&str> {
    let own = job_id_in_name(job_id).is_some_and(|found| found == job_id);
    own.then(|| job_id.split('_').nth(1)).flatten()
}

impl Trackers {
    /// Takes a job of the file that is read. Returns the file of another cluster, if there is one.
    pub(super) fn see(&mut self, job_id: &str, submit: i64, (file, path): (u64, &Path)) -> Option<PathBuf> {
        let number = master(job_id)?;
        let beside = || self.masters.iter().position(|master| master.file == file);
        let place = match self.by_number.get(number).copied().or_else(beside) {
            Some(place) => place,
            None => {
                self.masters.push(Master { first: submit, last: submit, path: path.to_path_buf(), file });
                self.masters.len() - 1
            }
        };
        if !self.by_number.contains_key(number) {
            self.by_number.insert(number.to_owned(), place);
        }
        let own = self.masters.get_mut(place)?;
        (own.first, own.last) = (own.first.min(submit), own.last.max(submit));
        if own.file != file {
            own.file = file;
            own.path = path.to_path_buf();
        }
        let (first, last) = (own.first, own.last);
        let overlaps = |(other, master): (usize, &Master)| {
            (other != place && master.first < last && first < master.last).then(|| master.path.clone())
        };
        self.masters.iter().enumerate().find_map(overlaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether these jobs (id, submission, file) are found to be of two clusters.
    fn two_clusters(jobs: &[(&str, i64, u64)]) -> bool {
        let mut trackers = Trackers::default();
        jobs.iter().any(|&(id, submit, file)| trackers.see(id, submit, (file, Path::new("f"))).is_some())
    }

    #[test]
    fn masters_that_take_jobs_at_once_are_of_two_clusters() {
        let restart = [("job_1_0001", 10, 1), ("job_1_0002", 20, 2), ("job_2_0001", 30, 3), ("job_2_0002", 40, 4)];
        assert!(!two_clusters(&restart), "one after the other");
        let at_once = [("job_1_0001", 10, 1), ("job_1_0002", 30, 2), ("job_2_0001", 20, 3)];
        assert!(two_clusters(&at_once));
        let in_one_file = at_once.map(|(id, submit, _)| (id, submit, 1));
        assert!(!two_clusters(&in_one_file), "a trace of several masters is one trace");
        assert!(!two_clusters(&[("17", 10, 1), ("18", 30, 2), ("app-3", 20, 3)]), "ids without a master");
    }

    #[test]
    fn the_master_of_a_job_is_the_number_behind_its_prefix() {
        assert_eq!(master("job_200904211745_0004"), Some("200904211745"));
        assert_eq!((master("job_local_0001"), master("x_job_1_2"), master("7")), (None, None, None));
    }
}
