//! A replay says the same, whether its rows are kept, added up while they come, or kept in outline.

#![allow(clippy::unwrap_used)]

use resched_analysis::metrics::named::Measured;
use resched_analysis::metrics::validity;
use resched_analysis::validation::doubts;
use resched_analysis::{Compared, Gathered, Outline, Population, Run, Summary, Traced};
use resched_replay::{Memory, PolicySpec, ReadBy, Replayed, Setup, Source, World};

/// Whether so many maps, and whether so many reduces, ever ran at once.
fn ever_ran<R: Compared>(run: &R, least: u64) -> [bool; 2] {
    [[least, u64::MAX], [u64::MAX, least]].map(|least| run.ever_ran(least))
}

/// All that the command prints of these runs.
fn said<R: Compared>(mut runs: Vec<R>) -> String {
    let population = Population::share(&mut runs);
    let summaries: Vec<String> =
        runs.iter().map(|run| format!("{:?}", Summary::measured(&Measured::of(run)))).collect();
    let peaks: Vec<Vec<[bool; 2]>> =
        runs.iter().map(|run| (0..100).map(|least| ever_ran(run, least)).collect()).collect();
    let facts = (validity::of_runs(&runs, &population), doubts(&runs, 0, None));
    format!("{summaries:#?}\n{peaks:?}\n{}\n{facts:?}", population.in_words())
}

fn check(workload: &str, policies: &[&str]) {
    let path = format!("{}/../../traces/{workload}", env!("CARGO_MANIFEST_DIR"));
    let world = World::open(&Source::open(path).unwrap(), Setup::default()).unwrap();
    let (mut rows, mut gathered, mut outlines) = (Vec::new(), Vec::new(), Vec::new());
    for policy in policies {
        let policy = PolicySpec::parse(policy).unwrap();
        let Replayed { info, tables } = world.replay(&policy, Memory).unwrap();
        rows.push(Run::of_rows(info, tables));
        let mut rows = Gathered::default();
        let info = world.replay(&policy, ReadBy(&mut rows)).unwrap();
        gathered.push(Run::of_gathered(info, rows));
        let mut traced = Traced::default();
        let info = world.replay(&policy, ReadBy(&mut traced)).unwrap();
        outlines.push(Outline::of_traced(info, traced));
    }
    for (one, other) in rows.iter().zip(&gathered) {
        assert_eq!(
            format!("{:?}", (&one.jobs, &one.intervals, &one.nodes)),
            format!("{:?}", (&other.jobs, &other.intervals, &other.nodes))
        );
    }
    let of_rows = said(rows);
    assert!(of_rows.contains("tasks: ") && !of_rows.contains("tasks: 0"), "{of_rows}");
    assert_eq!(said(gathered), of_rows);
    assert_eq!(said(outlines), of_rows);
}

#[test]
fn hadoops_jobs_in_outline_are_those_of_the_tables() {
    check("sample-history.toml", &["fifo", "fair+late", "delay:D=4", "yarn-fair", "yarn-capacity+late"]);
}

#[test]
fn jobs_with_many_reduces_are_those_of_the_tables() {
    check("coupling-table4.toml", &["fifo", "fair+hadoop-naive", "coupling:beta=0.5"]);
}

#[test]
fn tasks_of_production_traces_are_those_of_the_tables() {
    check("sample-history.toml", &["batch-fifo", "easy", "batch-drf"]);
}

#[test]
fn draws_have_one_name() {
    assert!(resched_replay::UNKNOWNS.iter().any(|unknown| unknown.name == resched_analysis::statistics::sign::DRAWS));
}
