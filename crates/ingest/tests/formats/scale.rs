//! Parts of the bundled sample.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use resched_ingest::scale::{Scale, scale};
use resched_ingest::{Options, ingest};
use resched_tables::clock::Instant;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::records::Source;
use resched_tables::store::{BACKFILL_START, Manifest, Trace};

struct Dir(tempfile::TempDir);

impl Dir {
    /// A folder with the sample as the trace `T`.
    fn new() -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history");
        ingest(&[sample], dir.path("T"), &Options::default(), &mut ()).unwrap();
        dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn scaled(&self, part: Scale) -> (Manifest, Vec<JobRecord>) {
        let manifest = scale(&self.path("T"), self.path("S"), &part).unwrap();
        (manifest, self.records("S"))
    }

    fn records(&self, trace: &str) -> Vec<JobRecord> {
        Source::open(&self.path(trace)).unwrap().records().unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn machines(&self, trace: &str) -> Vec<NodeRow> {
        let trace = Trace::open(&self.path(trace)).unwrap();
        trace.rows::<NodeRow>().unwrap().collect::<Result<_, _>>().unwrap()
    }
}

#[test]
fn the_whole_is_the_whole() {
    let dir = Dir::new();
    let (manifest, records) = dir.scaled(Scale::default());
    assert_eq!(records, dir.records("T"));
    assert_eq!(dir.machines("S"), dir.machines("T"));
    let before = Trace::open(&dir.path("T")).unwrap();
    assert_eq!((&manifest.skipped, &manifest.sources), (&before.manifest().skipped, &before.manifest().sources));
    assert_eq!(manifest.parameters["scale"]["jobs"], 1.0);
}

/// Slurm's backfill did not run at that time of a trace whose times are others.
#[test]
fn changed_times_have_no_start_by_backfill() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let rows = "JobID|Submit|Start|End|State|NCPUS|Flags\n\
                1|100|110|120|COMPLETED|1|SchedBackfill,StartRecieved\n\
                2|130|140|150|COMPLETED|1|SchedMain,StartRecieved\n";
    std::fs::write(path("jobs"), rows).unwrap();
    ingest(&[path("jobs")], path("T"), &Options::default(), &mut ()).unwrap();
    for (time, expected) in [(1.0, Some(110_000)), (2.0, None)] {
        let manifest = scale(&path("T"), path(&format!("S{time}")), &Scale { time, ..Scale::default() }).unwrap();
        let found = manifest.parameters.get(BACKFILL_START).and_then(serde_json::Value::as_i64);
        assert_eq!(found, expected, "{time}");
    }
}

#[test]
fn a_window_holds_the_jobs_that_were_submitted_in_it_and_those_that_were_there_at_its_start() {
    let dir = Dir::new();
    let all = dir.records("T");
    let first = all.iter().filter_map(|record| record.job.submit).min().unwrap();
    let (from, to) = (first + 60_000, first + 180_000);
    let over = |edge: i64| move |record: &&JobRecord| record.job.finish.unwrap() > edge;
    let is_there = |record: &&JobRecord| record.job.submit.unwrap() >= from || over(from)(record);
    let expected: Vec<&JobRecord> =
        all.iter().filter(|record| record.job.submit.unwrap() < to).filter(is_there).collect();
    let running = expected.iter().filter(|record| record.job.submit.unwrap() < from).count();
    let ends_later = expected.iter().copied().filter(over(to)).count();
    assert!(expected.len() > 2 && running > 0 && ends_later > 0, "the sample has jobs on both edges");
    for (from, to) in [
        (Instant::At(from), Instant::At(to)),
        (Instant::AfterFirst(60_000), Instant::AfterFirst(180_000)),
        (Instant::Date(from), Instant::Date(to)),
    ] {
        let (manifest, records) = dir.scaled(Scale { from: Some(from), to: Some(to), ..Scale::default() });
        assert_eq!(records.iter().collect::<Vec<_>>(), expected);
        assert_eq!(manifest.skipped["job-outside-window"], (all.len() - expected.len()) as u64);
        let at_start = |what: &str| manifest.parameters["scale"][what].as_u64().unwrap();
        assert_eq!(at_start("running_at_start") + at_start("waiting_at_start"), running as u64);
        assert_eq!(manifest.begin, Some(first + 60_000), "what was there before counts in no metric");
        assert_eq!(manifest.skipped["job-running-at-end"], ends_later as u64);
    }
}

#[test]
fn a_share_of_the_jobs_is_drawn_by_the_seed() {
    let dir = Dir::new();
    let all = dir.records("T");
    let part = |seed| dir.scaled(Scale { jobs: 0.4, seed, ..Scale::default() });
    let (manifest, one) = part(1);
    assert!(!one.is_empty() && one.len() < all.len());
    assert!(one.iter().all(|record| all.contains(record)));
    assert_eq!(manifest.skipped["job-not-drawn"], (all.len() - one.len()) as u64);
    assert_eq!(one, part(1).1);
    assert!((2..10).any(|seed| part(seed).1 != one));
}

#[test]
fn gaps_are_stretched_and_jobs_are_not() {
    let dir = Dir::new();
    let all = dir.records("T");
    let first = all.iter().filter_map(|record| record.job.submit).min().unwrap();
    let (_, records) = dir.scaled(Scale { time: 0.5, ..Scale::default() });
    for (old, new) in all.iter().zip(&records) {
        let gap = old.job.submit.unwrap() - first;
        assert_eq!(new.job.submit.unwrap() - first, (gap as f64 / 2.0).round() as i64);
        let ran = |record: &JobRecord| record.job.finish.unwrap() - record.job.submit.unwrap();
        assert_eq!(ran(old), ran(new));
    }
}

#[test]
fn fewer_machines_hold_all_places() {
    let dir = Dir::new();
    let (manifest, records) = dir.scaled(Scale { nodes: 0.5, ..Scale::default() });
    let machines = dir.machines("S");
    assert_eq!(machines.len(), dir.machines("T").len() / 2);
    let is_there = |host: &Option<String>, rack: &Option<String>| {
        machines.iter().any(|node| host.as_ref().is_none_or(|host| *host == node.host && *rack == node.rack))
    };
    let tasks = || records.iter().flat_map(|record| &record.tasks);
    assert!(tasks().flat_map(|task| &task.splits).all(|row| is_there(&row.host, &row.rack)));
    assert!(tasks().flat_map(|task| &task.attempts).all(|row| is_there(&row.host, &row.rack)));
    assert_eq!(manifest.rows["nodes"], machines.len() as u64);
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let dir = Dir::new();
    for (part, word) in [
        (Scale { jobs: 0.0, ..Scale::default() }, "share"),
        (Scale { jobs: 1.5, ..Scale::default() }, "share"),
        (Scale { nodes: f64::NAN, ..Scale::default() }, "share"),
        (Scale { time: -1.0, ..Scale::default() }, "factor"),
        (Scale { from: Some(Instant::At(5)), to: Some(Instant::At(5)), ..Scale::default() }, "give a later end"),
        (Scale { to: Some(Instant::At(0)), ..Scale::default() }, "outside of the trace"),
    ] {
        let error = scale(&dir.path("T"), dir.path("S"), &part).unwrap_err();
        assert!(error.is_request() && error.to_string().contains(word), "{error}");
        assert!(!dir.path("S").exists());
    }
}
