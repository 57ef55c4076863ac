//! The log as the judge, on logs whose truth is known: a simulator of ten lines ran them.
#![allow(clippy::unwrap_used)]

use resched_analysis::Outline;
use resched_analysis::validation::log::{BesideLog, LOG, NoJudge};
use resched_compare::log::beside_log;
use resched_ingest::scale::{Scale, scale};
use resched_ingest::{Options, ingest};
use resched_replay::{PolicySpec, Setup, Source, Threads, World};
use resched_tables::validity::Grade;

/// A job of one processor: when it was submitted and how long it ran, s.
type Job = (u64, u64);

/// Jobs that 4 processors cannot serve as they come: the queue grows.
fn jobs() -> Vec<Job> {
    (0..200).map(|job: u64| (job * 60, 120 + job * 7_919 % 300)).collect()
}

/// When each job starts on so many processors, first come, first served.
fn starts(jobs: &[Job], processors: usize) -> Vec<u64> {
    let mut free = vec![0; processors];
    let start = |&(submit, run): &Job| {
        let first = free.iter_mut().min().unwrap();
        let at = submit.max(*first);
        *first = at + run;
        at
    };
    jobs.iter().map(start).collect()
}

/// The log of these jobs in the Standard Workload Format, for a cluster of 4 processors.
fn log(jobs: &[Job], starts: &[u64]) -> String {
    let line = |(place, ((submit, run), start)): (usize, (&Job, &u64))| {
        format!("{} {submit} {} {run} 1 -1 -1 1 1000 -1 1 1 1 1 1 -1 -1 -1\n", place + 1, start - submit)
    };
    "; MaxProcs: 4\n".to_owned() + &jobs.iter().zip(starts).enumerate().map(line).collect::<String>()
}

struct Asked {
    dir: tempfile::TempDir,
}

impl Asked {
    fn of(log: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.swf");
        std::fs::write(&path, log).unwrap();
        ingest(&[path], dir.path().join("T"), &Options::default(), &mut ()).unwrap();
        Self { dir }
    }

    fn world(&self, cluster: &str) -> World {
        let cluster = resched_replay::ClusterConfig::parse(cluster).unwrap();
        let setup = Setup { cluster, ..Setup::default() };
        World::open(&Source::open(self.dir.path().join("T")).unwrap(), setup).unwrap()
    }

    fn judged(&self, cluster: &str, policy: &str) -> BesideLog {
        let policies = [PolicySpec::parse(policy).unwrap()];
        beside_log::<Outline>(&self.world(cluster), &policies, &[], policy, Threads::ONE).unwrap().unwrap()
    }
}

#[test]
fn the_replay_of_what_ran_agrees_with_its_log() {
    let jobs = jobs();
    let found = Asked::of(&log(&jobs, &starts(&jobs, 4))).judged("", "batch-fifo");
    let nearest = found.nearest().unwrap();
    assert_eq!((nearest.policy.as_str(), nearest.distance(), nearest.jobs), ("batch-fifo", Some(0.0), 200));
    let fact = found.fact();
    assert_eq!((fact.about.as_str(), fact.grade), (LOG, Grade::Measured));
    assert_eq!(found.validation().unwrap().error("mean_waiting"), Some(0.0));
}

#[test]
fn what_an_operator_does_not_know_is_noticed() {
    let jobs = jobs();
    let whole = starts(&jobs, 4);
    // The second half of the log alone: its queue is there already.
    let (late, waited): (Vec<Job>, Vec<u64>) = jobs.iter().copied().zip(whole).skip(100).unzip();
    // Half of the processors were down, and nobody says so.
    let slow = starts(&jobs, 2);
    for (what, log) in [("a log that is cut", log(&late, &waited)), ("an outage", log(&jobs, &slow))] {
        let fact = Asked::of(&log).judged("", "batch-fifo").fact();
        assert_eq!(fact.grade, Grade::Assumed, "{what}: {}", fact.says);
        assert!(fact.says.contains("Something that made jobs wait is missing"), "{what}: {}", fact.says);
    }
}

#[test]
fn another_number_of_machines_is_a_question_and_no_error() {
    let jobs = jobs();
    let asked = Asked::of(&log(&jobs, &starts(&jobs, 4)));
    let found = asked.judged("[machines]\nclones = 8\n", "batch-fifo");
    let nearest = found.nearest().unwrap();
    assert!(nearest.unchanged && nearest.agrees(), "{found:?}");
}

#[test]
fn a_scaled_trace_has_the_waits_of_another_load() {
    let jobs = jobs();
    let asked = Asked::of(&log(&jobs, &starts(&jobs, 4)));
    let (trace, out) = (asked.dir.path().join("T"), asked.dir.path().join("busy"));
    let how = Scale { time: 0.5, ..Scale::default() };
    scale(&trace, out.clone(), &how).unwrap();
    let world = World::open(&Source::open(&out).unwrap(), Setup::default()).unwrap();
    let found = beside_log::<Outline>(&world, &[], &[], "", Threads::ONE).unwrap().unwrap();
    assert_eq!(found.no_judge, Some(NoJudge::Scaled));
    assert_eq!(found.fact().grade, Grade::Assumed);
}
