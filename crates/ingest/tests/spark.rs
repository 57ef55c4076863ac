//! Spark's logs as they lie in a folder: packed, rolled over, of several applications.
#![allow(clippy::unwrap_used)]

mod support;

use resched_ingest::{Options, ingest_into};
use resched_tables::sink::Collected;

#[test]
fn a_log_that_rolls_over_is_one_application() {
    let Some(traces) = support::real_traces() else { return };
    let folder = traces.join("spark/rapids-tools/eventlog_v2_local-1623876083964");
    let mut found = Collected::default();
    let manifest = ingest_into(&[folder], &mut found, &Options::default(), &mut ()).unwrap();
    let attempts: Vec<usize> =
        found.jobs.iter().map(|record| record.tasks.iter().map(|task| task.attempts.len()).sum()).collect();
    assert_eq!(attempts, [2801]);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let sources: Vec<_> = manifest.sources.iter().map(|source| (source.bytes, source.format.as_str())).collect();
    assert_eq!(sources, [(496_917, "spark"), (48_700, "spark")]);
}

#[test]
fn a_folder_of_logs_is_read_whole() {
    let Some(traces) = support::real_traces() else { return };
    let mut found = Collected::default();
    let apart = ingest_into(&[traces.join("spark")], &mut found, &Options::default(), &mut ()).unwrap_err();
    assert!(apart.to_string().contains("expected the jobs of one cluster, found those of 14"), "{apart}");
    let mut found = Collected::default();
    let options = Options { merge: true, ..Options::default() };
    ingest_into(&[traces.join("spark")], &mut found, &options, &mut ()).unwrap();
    let mut applications: Vec<_> = found.jobs.iter().map(|record| record.job.group.clone().unwrap()).collect();
    applications.sort();
    applications.dedup();
    // Sixteen logs and a folder; two logs have no job.
    assert_eq!((found.jobs.len(), applications.len()), (62, 15));
}
