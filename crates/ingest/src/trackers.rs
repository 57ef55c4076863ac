//! Distinguishes the clusters of a folder, for the formats of which a cluster has many files.
//!
//! **Hadoop.** The number behind `job_` is the start of the JobTracker or ResourceManager that gave the id. A restart gives another number, so two
//! numbers may be of one cluster. But only the newest master takes jobs: if submissions under two numbers overlap in time, there were
//! two masters at once, and so two clusters.
//!
//! **Spark.** Under YARN, the id of an application has the number of the ResourceManager that gave it. Any other application counts as
//! a master of its own.
//!
//! **Both.** A cluster keeps its machines: masters whose jobs ran on no common machine are of two clusters, too. So are masters whose
//! jobs ran on `localhost`, as that is another machine each time. Masters of which no job ran on a known machine may be of any cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::formats::{job_id_in_name, spark};
use resched_tables::model::{JobRecord, JobRow};

/// How many machines of a master are kept. So many of the jobs of two masters of one cluster, even of a large one, have some in common.
const MOST_HOSTS: usize = 256;

/// True if this name says which machine it is. Some names are the same on every machine.
pub(super) fn is_name_of_machine(host: &str) -> bool {
    !host.is_empty() && !is_local(host)
}

/// True if every machine calls itself by this name.
fn is_local(host: &str) -> bool {
    host == "localhost" || host.starts_with("localhost.") || host.starts_with("127.") || host == "::1"
}

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
    /// Machines on which its jobs ran.
    hosts: BTreeSet<String>,
    /// True if a job of it ran on a machine that calls itself local.
    is_local: bool,
}

impl Master {
    fn add_hosts(&mut self, record: &JobRecord) {
        let attempts = record.tasks.iter().flat_map(|task| &task.attempts);
        for host in attempts.filter_map(|attempt| attempt.host.as_deref()) {
            self.is_local |= is_local(host);
            if self.hosts.len() >= MOST_HOSTS {
                return;
            }
            if !is_name_of_machine(host) {
                continue;
            }
            if !self.hosts.contains(host) {
                self.hosts.insert(host.to_owned());
            }
        }
    }
}

/// The master that ran a job: the number of Hadoop's, or an application of Spark.
pub(super) fn master(job: &JobRow) -> Option<&str> {
    if job.framework.as_deref() == Some(spark::FORMAT.name) {
        let application = job.group.as_deref()?;
        let of_yarn = application.strip_prefix("application_").and_then(|rest| rest.split('_').next());
        return Some(of_yarn.unwrap_or(application));
    }
    number(&job.job_id)
}

/// The number of the master in the id of a job of Hadoop.
fn number(job_id: &str) -> Option<&str> {
    let is_named = job_id_in_name(job_id).is_some_and(|found| found == job_id);
    is_named.then(|| job_id.split('_').nth(1)).flatten()
}

impl Trackers {
    /// Takes a job of the file that is read. Returns the file of another cluster, if there is one.
    pub(super) fn see(&mut self, record: &JobRecord, (file, path): (u64, &Path)) -> Option<PathBuf> {
        let (number, submit) = (master(&record.job)?, record.job.submit?);
        let beside = || self.masters.iter().position(|master| master.file == file);
        let place = match self.by_number.get(number).copied().or_else(beside) {
            Some(place) => place,
            None => {
                let (path, hosts) = (path.to_path_buf(), BTreeSet::new());
                self.masters.push(Master { first: submit, last: submit, path, file, hosts, is_local: false });
                self.masters.len() - 1
            }
        };
        if !self.by_number.contains_key(number) {
            self.by_number.insert(number.to_owned(), place);
        }
        let known = self.masters.get_mut(place)?;
        known.add_hosts(record);
        (known.first, known.last) = (known.first.min(submit), known.last.max(submit));
        if known.file != file {
            known.file = file;
            known.path = path.to_path_buf();
        }
        if record.job.framework.as_deref() == Some(spark::FORMAT.name) {
            // A cluster runs many applications at once.
            return None;
        }
        let (first, last) = (known.first, known.last);
        let overlaps = |(other, master): (usize, &Master)| {
            (other != place && master.first < last && first < master.last).then(|| master.path.clone())
        };
        self.masters.iter().enumerate().find_map(overlaps)
    }

    /// A file of each cluster, by the machines that masters have in common. Masters of unknown machines may be of any of them.
    pub(super) fn clusters(&self) -> Vec<&Path> {
        let mut clusters: Vec<(BTreeSet<&str>, &Path)> = Vec::new();
        for master in self.masters.iter().filter(|master| !master.hosts.is_empty() || master.is_local) {
            let mut b_tree_set: BTreeSet<&str> = master.hosts.iter().map(String::as_str).collect();
            let mut path = master.path.as_path();
            let (same, others) =
                clusters.into_iter().partition::<Vec<_>, _>(|(hosts, _)| !hosts.is_disjoint(&b_tree_set));
            clusters = others;
            for (mut hosts, first) in same {
                b_tree_set.append(&mut hosts);
                path = path.min(first);
            }
            clusters.push((b_tree_set, path));
        }
        clusters.into_iter().map(|(_, path)| path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::model::{AttemptRow, TaskRecord};

    fn job(id: &str, submit: i64, hosts: &[&str]) -> JobRecord {
        let attempt = |host: &&str| AttemptRow { host: Some((*host).to_owned()), ..AttemptRow::default() };
        let attempts = hosts.iter().map(attempt).collect();
        JobRecord {
            job: JobRow { job_id: id.to_owned(), submit: Some(submit), ..JobRow::default() },
            tasks: vec![TaskRecord { attempts, ..TaskRecord::default() }],
            ..JobRecord::default()
        }
    }

    #[test]
    fn masters_without_a_common_machine_are_of_two_clusters() {
        let clusters = |jobs: &[(&str, i64, &[&str])]| {
            let mut trackers = Trackers::default();
            for (file, &(id, submit, hosts)) in jobs.iter().enumerate() {
                assert!(trackers.see(&job(id, submit, hosts), (file as u64, Path::new(id))).is_none());
            }
            trackers.clusters().iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let restarted: [(&str, i64, &[&str]); 3] =
            [("job_1_1", 10, &["a", "b"]), ("job_2_1", 20, &["c"]), ("job_3_1", 30, &["b", "c"])];
        assert_eq!(clusters(&restarted).len(), 1, "the third has a machine of each");
        assert_eq!(clusters(&[("job_1_1", 10, &["a"]), ("job_2_1", 20, &["x"])]), ["job_1_1", "job_2_1"]);
        assert_eq!(clusters(&[("job_1_1", 10, &["a"]), ("job_2_1", 20, &[])]).len(), 1);
        assert_eq!(clusters(&[("job_1_1", 10, &["a"]), ("job_2_1", 20, &["localhost"])]).len(), 2);
        assert_eq!(clusters(&[("job_1_1", 10, &["localhost"]), ("job_2_1", 20, &["127.0.0.1"])]).len(), 2);
    }

    /// True if these jobs (id, submission, file) are found to be of two clusters.
    fn two_clusters(jobs: &[(&str, i64, u64)]) -> bool {
        let mut trackers = Trackers::default();
        jobs.iter().any(|&(id, submit, file)| trackers.see(&job(id, submit, &[]), (file, Path::new("f"))).is_some())
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
        assert_eq!(number("job_200904211745_0004"), Some("200904211745"));
        assert_eq!((number("job_local_0001"), number("x_job_1_2"), number("7")), (None, None, None));
    }

    #[test]
    fn applications_of_spark_are_of_one_cluster_if_they_share_its_master_or_a_machine() {
        let application = |id: &str, submit, hosts: &[&str]| {
            let mut record = job(id, submit, hosts);
            (record.job.framework, record.job.group) = (Some("spark".to_owned()), Some(id.to_owned()));
            record
        };
        let clusters = |jobs: &[(&str, i64, &[&str])]| {
            let mut trackers = Trackers::default();
            for (file, &(id, submit, hosts)) in jobs.iter().enumerate() {
                assert!(trackers.see(&application(id, submit, hosts), (file as u64, Path::new(id))).is_none());
            }
            trackers.clusters().len()
        };
        assert_eq!(clusters(&[("app-1", 10, &["a"]), ("app-2", 5, &["a", "b"]), ("app-3", 20, &["b"])]), 1);
        assert_eq!(clusters(&[("app-1", 10, &["a"]), ("local-7", 5, &["x"]), ("app-3", 20, &["b"])]), 3);
        let of_yarn = [("application_7_0001", 10, &["a"][..]), ("application_7_0002", 30, &["b"])];
        assert_eq!(clusters(&of_yarn), 1, "one ResourceManager started both");
    }
}
